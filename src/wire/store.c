/*
 * store.c
 *		Writes and reads converted columns in a memory file.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* memfd_create */
#endif
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packed.h"
#include "reader/arrays.h"
#include "store.h"

/* arrays begin at multiples of a cache line */
#define ALIGNMENT	64

/* memory of passed batches is released in pieces of this size */
#define PASSED_BYTES	(UINT64_C(64) << 20)

/* missing in older headers */
#define CSV_SEAL_FUTURE_WRITE	0x0010

#define STORE_MAGIC		UINT64_C(0x31305f7473767363)

/* ---- the contents of the file; offsets are from its beginning ---- */

typedef struct StoredHeader
{
	uint64_t	magic;
	uint64_t	nrows;
	uint64_t	directory;		/* an entry for each batch */
	uint64_t	columns;		/* a CsvColumn each */
	uint32_t	nbatches;
	uint32_t	ncolumns;
	uint32_t	nfields;
	uint32_t	boundary;		/* of the dialect: what the reader of the file found */
	uint32_t	blank_is_record;
	uint32_t	unused[19];
} StoredHeader;

/*
 * Of a batch.  Queries that a GPU answers look at all entries and at no values, so
 * entries stand together: pages of the file are expensive to touch.
 */
typedef struct StoredEntry
{
	uint64_t	offset;			/* of its data */
	uint64_t	first_row;
	CsvPacked	packed;			/* with the arrays of all columns */
} StoredEntry;

/* ---- memory files ---- */

int
csv_memory_file_create(const char *name)
{
	return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

bool
csv_memory_file_reserve(int file, uint64_t nbytes)
{
	int			error;

	do
		error = posix_fallocate(file, 0, (off_t) nbytes);
	while (error == EINTR);
	errno = error;
	return error == 0;
}

bool
csv_memory_file_seal(int file, bool is_constant)
{
	return fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL |
				 (is_constant ? F_SEAL_WRITE : 0)) == 0;
}

/*
 * Has the file all these seals?  A file that can still grow could take more memory
 * than was counted.  Another seal could make it impossible to map the file.
 */
static bool
is_sealed(int file, bool is_constant)
{
	int			wanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	int			seals = fcntl(file, F_GET_SEALS);
	int			mode = fcntl(file, F_GETFL);

	if (seals < 0 || mode < 0 || (seals & wanted) != wanted)
		return false;
	if (is_constant)
		return (seals & F_SEAL_WRITE) != 0 && (mode & O_ACCMODE) != O_WRONLY;
	return (seals & (F_SEAL_WRITE | CSV_SEAL_FUTURE_WRITE)) == 0 &&
		(mode & O_ACCMODE) == O_RDWR;
}

int64_t
csv_memory_file_size(int file, bool is_constant)
{
	struct stat st;

	return is_sealed(file, is_constant) && fstat(file, &st) == 0 ?
		(int64_t) st.st_size : -1;
}

int64_t
csv_memory_file_held(int file, bool is_constant)
{
	struct stat st;
	int64_t		there;

	if (!is_sealed(file, is_constant) || fstat(file, &st) != 0)
		return -1;
	there = (int64_t) st.st_blocks * 512;
	return there > (int64_t) st.st_size ? there : (int64_t) st.st_size;
}

/* ---- writing ---- */

/* bytes that become more; a batch has no more than INT32_MAX */
typedef struct Buffer
{
	uint8_t    *bytes;
	size_t		nbytes;
	uint32_t	capacity;
} Buffer;

struct CsvStoreWriter
{
	CsvMemory	memory;
	int			file;
	CsvDialect	dialect;
	uint32_t	nfields;
	uint32_t	ncolumns;
	CsvColumn  *columns;
	uint64_t	nbytes;			/* of the file so far */
	uint64_t	read_bytes;
	uint64_t	nrows;
	bool		has_bad_values;
	Buffer		directory;

	/* of the current batch */
	CsvScan		record;
	CsvArray   *arrays;
	StoredEntry *entry;
	Buffer		records;		/* of CsvKeptRecord */
	Buffer		bytes;			/* of these records */
	bool		is_writing;		/* otherwise only places for its parts are found */
};

static size_t
entry_bytes(uint32_t ncolumns)
{
	return offsetof(StoredEntry, packed) + csv_packed_bytes(ncolumns);
}

/* false: there is no memory, or there are too many bytes */
static bool
append(const CsvMemory *memory, Buffer *buffer, const void *bytes, size_t nbytes)
{
	if (nbytes > INT32_MAX - buffer->nbytes ||
		!csv_grow(memory, &buffer->bytes, &buffer->capacity,
				  buffer->nbytes + nbytes, 4096, 1))
		return false;
	memcpy(buffer->bytes + buffer->nbytes, bytes, nbytes);
	buffer->nbytes += nbytes;
	return true;
}

CsvStoreWriter *
csv_store_begin(const CsvMemory *memory, int file, const CsvDialect *dialect,
				const CsvLayout *layout)
{
	CsvStoreWriter *writer = csv_alloc_zeros(memory, sizeof(*writer));
	uint32_t	n = layout->ncolumns;

	if (writer == NULL)
		return NULL;
	writer->record.most = 1;	/* only the end of a record is needed */
	writer->memory = *memory;
	writer->file = file;
	writer->dialect = *dialect;
	writer->nfields = layout->nfields;
	writer->ncolumns = n;
	writer->nbytes = sizeof(StoredHeader);
	writer->columns = csv_alloc_zeros(memory, sizeof(CsvColumn) * n + 1);
	writer->arrays = csv_alloc_zeros(memory, sizeof(CsvArray) * n + 1);
	writer->entry = csv_alloc_zeros(memory, entry_bytes(n));
	if (writer->columns == NULL || writer->arrays == NULL || writer->entry == NULL)
	{
		csv_store_free(writer);
		return NULL;
	}
	if (n > 0)
		memcpy(writer->columns, layout->columns, sizeof(CsvColumn) * n);

	/* NULL values were found already */
	for (uint32_t i = 0; i < n; i++)
		writer->columns[i].nulls_from = writer->columns[i].nulls_to = 0;
	return writer;
}

void
csv_store_free(CsvStoreWriter *writer)
{
	CsvMemory	memory = writer->memory;

	csv_free(&memory, writer->columns);
	csv_free(&memory, writer->directory.bytes);
	csv_free(&memory, writer->record.separators);
	csv_free(&memory, writer->arrays);
	csv_free(&memory, writer->entry);
	csv_free(&memory, writer->records.bytes);
	csv_free(&memory, writer->bytes.bytes);
	csv_free(&memory, writer);
}

uint64_t
csv_store_bytes_read(const CsvStoreWriter *writer)
{
	return writer->read_bytes;
}

static bool
write_at(const CsvStoreWriter *writer, uint64_t offset, const void *bytes,
		 size_t nbytes)
{
	const uint8_t *from = bytes;

	while (nbytes > 0)
	{
		ssize_t		n = pwrite(writer->file, from, nbytes, (off_t) offset);

		if (n <= 0)
			return false;
		from += n;
		offset += (uint64_t) n;
		nbytes -= (size_t) n;
	}
	return true;
}

/* a place for nbytes after the last */
static uint64_t
reserve(CsvStoreWriter *writer, uint64_t nbytes)
{
	uint64_t	place = (writer->nbytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

	writer->nbytes = place + nbytes;
	return place;
}

/* ---- records that a reader may look into ---- */

static bool
is_slow_row(const CsvBatch *batch, uint32_t ncolumns, uint32_t row)
{
	for (uint32_t i = 0; i < ncolumns; i++)
		if (batch->arrays[i].any_slow &&
			batch->arrays[i].status[row] > CSV_VALUE_NULL)
			return true;
	return false;
}

/*
 * Add the record of a row or error, with its boundary; the last record may have none,
 * and ends with the batch.  A zero byte before each record hides the record before it.
 */
static bool
add_record(CsvStoreWriter *writer, const CsvBatch *batch, uint32_t entry)
{
	CsvKeptRecord record = {
		CSV_ROW_OFFSET(entry), (uint32_t) writer->bytes.nbytes + 1
	};

	return csv_scan_row(&writer->record, &writer->memory, &writer->dialect, batch,
						entry) == CSV_OK &&
		record.place < CSV_ROW_LENIENT &&
		append(&writer->memory, &writer->records, &record, sizeof(record)) &&
		append(&writer->memory, &writer->bytes, "", 1) &&
		append(&writer->memory, &writer->bytes, batch->bytes + record.offset,
			   writer->record.next - record.offset);
}

/* add all records in the order of the file */
static bool
add_records(CsvStoreWriter *writer, const CsvBatch *batch)
{
	uint32_t	error = 0;
	bool		any_slow = false;

	writer->records.nbytes = writer->bytes.nbytes = 0;
	for (uint32_t i = 0; i < writer->ncolumns; i++)
		any_slow |= batch->arrays[i].any_slow;
	for (uint32_t row = any_slow ? 0 : batch->nrows; row <= batch->nrows; row++)
	{
		for (; error < batch->nerrors && batch->errors[error].before_row <= row;
			 error++)
		{
			if (batch->errors[error].code <= CSV_ERROR_COLUMN_COUNT)
				continue;
			writer->has_bad_values = true;
			if (!add_record(writer, batch, (uint32_t) batch->errors[error].offset))
				return false;
		}
		if (row < batch->nrows && is_slow_row(batch, writer->ncolumns, row) &&
			!add_record(writer, batch, batch->row_offsets[row]))
			return false;
	}
	return true;
}

/* ---- batches ---- */

/* for CsvPacker: the file is one block */
static void *
pack_part(void *arg, const void *bytes, size_t nbytes)
{
	CsvStoreWriter *writer = arg;
	uint64_t	place = reserve(writer, nbytes);

	return !writer->is_writing || write_at(writer, place, bytes, nbytes) ?
		csv_packed_pointer(0, place) : NULL;
}

/* pack a batch into the file; or, unless is_writing, only count its bytes */
static bool
pack_batch(CsvStoreWriter *writer, const CsvBatch *batch, bool is_writing)
{
	const CsvPacker packer = {pack_part, writer};
	StoredEntry *entry = writer->entry;

	writer->is_writing = is_writing;
	entry->offset = writer->nbytes;
	entry->first_row = writer->nrows;
	return csv_pack(batch, writer->ncolumns, NULL, &packer, &entry->packed) &&
		(!is_writing || append(&writer->memory, &writer->directory, entry,
							   entry_bytes(writer->ncolumns)));
}

bool
csv_store_add(CsvStoreWriter *writer, const CsvBatch *batch,
			  bool (*may_take) (void *arg, uint64_t nbytes), void *arg)
{
	CsvBatch	kept = *batch;
	uint64_t	before = writer->nbytes;
	uint64_t	end;

	writer->read_bytes += batch->consumed;
	if (batch->nrecords == 0)
		return true;
	if (!add_records(writer, batch))
		return false;
	kept.is_resident = true;
	kept.read_bytes = batch->consumed;
	kept.answer = NULL;
	kept.records = (CsvKeptRecord *) writer->records.bytes;
	kept.nkept = (uint32_t) (writer->records.nbytes / sizeof(CsvKeptRecord));
	kept.bytes = writer->bytes.bytes;
	kept.nbytes = kept.consumed = writer->bytes.nbytes;
	kept.arrays = writer->arrays;
	for (uint32_t i = 0; i < writer->ncolumns; i++)
	{
		CsvArray   *array = &writer->arrays[i];

		*array = batch->arrays[i];
		if (array->all_ok)
			array->status = NULL;
		/* the slow value may be of a record that became no row */
		array->any_slow &= batch->nrows > 0;
	}
	if (!pack_batch(writer, &kept, false))
		return false;
	end = writer->nbytes;
	writer->nbytes = before;
	if (!may_take(arg, end) || !pack_batch(writer, &kept, true))
		return false;
	writer->nrows += batch->nrows;
	return true;
}

bool
csv_store_finish(CsvStoreWriter *writer,
				 bool (*may_take) (void *arg, uint64_t nbytes), void *arg,
				 CsvStoreSummary *summary)
{
	StoredHeader header;

	memset(&header, 0, sizeof(header));
	header.magic = STORE_MAGIC;
	header.nrows = writer->nrows;
	header.nbatches = (uint32_t) (writer->directory.nbytes /
								  entry_bytes(writer->ncolumns));
	header.ncolumns = writer->ncolumns;
	header.nfields = writer->nfields;
	header.boundary = writer->dialect.opt.boundary;
	header.blank_is_record = writer->dialect.opt.blank_is_record;
	header.directory = reserve(writer, writer->directory.nbytes);
	header.columns = reserve(writer, sizeof(CsvColumn) * writer->ncolumns);
	summary->nrows = writer->nrows;
	summary->ncolumns = writer->ncolumns;
	summary->has_bad_values = writer->has_bad_values;
	return may_take(arg, writer->nbytes) &&
		write_at(writer, header.directory, writer->directory.bytes,
				 writer->directory.nbytes) &&
		write_at(writer, header.columns, writer->columns,
				 sizeof(CsvColumn) * writer->ncolumns) &&
		write_at(writer, 0, &header, sizeof(header)) &&
		ftruncate(writer->file, (off_t) writer->nbytes) == 0 &&
		csv_memory_file_seal(writer->file, true);
}

/* ---- reading ---- */

struct CsvStore
{
	CsvMemory	memory;
	uint8_t    *bytes;			/* the mapping */
	uint64_t	nbytes;
	uint64_t	passed;			/* released */
	const StoredHeader *header;
	const uint8_t *directory;
	CsvLayout	layout;
	CsvDialect	dialect;
};

/* the address of n entries; NULL: not all are in the file */
static void *
entries_at(const CsvStore *store, uint64_t offset, uint64_t n, size_t size)
{
	if (offset % sizeof(uint64_t) != 0 || offset > store->nbytes ||
		n > (store->nbytes - offset) / size)
		return NULL;
	return store->bytes + offset;
}

static bool
check_header(CsvStore *store, CsvDialectOptions dialect)
{
	const StoredHeader *header = entries_at(store, 0, 1, sizeof(StoredHeader));

	if (header == NULL || header->magic != STORE_MAGIC ||
		header->nrows > CSV_MOST_KEPT_ROWS)
		return false;
	store->header = header;
	store->directory = entries_at(store, header->directory, header->nbatches,
								  entry_bytes(header->ncolumns));
	store->layout.columns = entries_at(store, header->columns,
									   header->ncolumns, sizeof(CsvColumn));
	if (store->directory == NULL || store->layout.columns == NULL)
		return false;
	store->layout.nfields = header->nfields;
	store->layout.ncolumns = header->ncolumns;
	store->layout.decimal_separator = '.';
	dialect.boundary = (uint8_t) header->boundary;
	dialect.blank_is_record = header->blank_is_record != 0;
	if (!csv_are_bounded(&dialect, &store->layout))
		return false;
	csv_dialect_compile(&store->dialect, &dialect);
	return true;
}

CsvStore *
csv_store_open(const CsvMemory *memory, int file, const CsvDialectOptions *dialect)
{
	int64_t		nbytes = csv_memory_file_size(file, true);
	CsvStore   *store;
	void	   *bytes;

	if (nbytes < (int64_t) sizeof(StoredHeader))
		return NULL;
	store = csv_alloc_zeros(memory, sizeof(*store));
	if (store == NULL)
		return NULL;
	bytes = mmap(NULL, (size_t) nbytes, PROT_READ, MAP_SHARED, file, 0);
	if (bytes == MAP_FAILED)
	{
		csv_free(memory, store);
		return NULL;
	}
	store->memory = *memory;
	store->bytes = bytes;
	store->nbytes = (uint64_t) nbytes;
	if (!check_header(store, *dialect))
	{
		csv_store_close(store);
		return NULL;
	}
	return store;
}

void
csv_store_close(CsvStore *store)
{
	munmap(store->bytes, (size_t) store->nbytes);
	csv_free(&store->memory, store);
}

uint32_t
csv_store_nbatches(const CsvStore *store)
{
	return store->header->nbatches;
}

uint64_t
csv_store_nrows(const CsvStore *store)
{
	return store->header->nrows;
}

const CsvDialect *
csv_store_dialect(const CsvStore *store)
{
	return &store->dialect;
}

const CsvLayout *
csv_store_layout(const CsvStore *store)
{
	return &store->layout;
}

static const StoredEntry *
entry_of(const CsvStore *store, uint32_t number)
{
	return (const StoredEntry *) (store->directory +
								  number * entry_bytes(store->layout.ncolumns));
}

bool
csv_store_batch(const CsvStore *store, uint32_t number, CsvArray *arrays,
				CsvResidentBatch *resident)
{
	const StoredEntry *entry = entry_of(store, number);
	const CsvBlock file = {store->bytes, store->nbytes};
	const CsvBlocks blocks = {&file, 1};
	const CsvBatch *batch = &resident->batch;
	CsvAnswer	none;

	resident->first_row = (int64_t) entry->first_row;
	return csv_unpack(&entry->packed, csv_packed_bytes(store->layout.ncolumns),
					  &blocks, &store->layout, NULL, arrays, &none,
					  &resident->batch) &&
		batch->is_resident && batch->nrows <= store->header->nrows &&
		entry->first_row <= store->header->nrows - batch->nrows;
}

void
csv_store_pass(CsvStore *store, uint32_t number)
{
	uint64_t	place = entry_of(store, number)->offset / PASSED_BYTES * PASSED_BYTES;

	/* reading began again */
	if (place < store->passed)
		store->passed = place;
	if (place > store->passed && place < store->nbytes)
	{
		(void) madvise(store->bytes + store->passed,
					   (size_t) (place - store->passed), MADV_DONTNEED);
		store->passed = place;
	}
}
