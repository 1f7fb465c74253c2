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

#include "../reader/convert.h"
#include "sound.h"
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
	uint64_t	directory;		/* where batches begin: a uint64_t each */
	uint64_t	columns;		/* a CsvColumn each */
	uint32_t	nbatches;
	uint32_t	ncolumns;
	uint32_t	nfields;
	CsvDialectOptions dialect;
	uint8_t		unused[128 - 4 * 8 - 3 * 4 - sizeof(CsvDialectOptions)];
} StoredHeader;

typedef struct StoredArray
{
	uint64_t	values;
	uint64_t	status;			/* 0: all are OK */
	uint32_t	stride;
	uint32_t	any_slow;
} StoredArray;

/* followed by a StoredArray for each column */
typedef struct StoredBatch
{
	uint64_t	first_row;
	uint64_t	nlines;
	uint64_t	file_offset;
	uint64_t	file_records;
	uint64_t	file_lines;
	uint64_t	row_lines;		/* 0: no row_lines, and no row_places */
	uint64_t	row_places;
	uint64_t	row_offsets;	/* 0: no row_offsets */
	uint64_t	errors;
	uint64_t	error_places;
	uint64_t	bytes;
	uint64_t	nbytes;
	uint32_t	nrows;
	uint32_t	nrecords;
	uint32_t	nerrors;
	uint32_t	unused;
} StoredBatch;

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

struct CsvStoreWriter
{
	CsvMemory	memory;
	int			file;
	CsvDialect	dialect;
	uint32_t	nfields;
	uint32_t	ncolumns;
	CsvColumn  *columns;
	uint64_t	nbytes;			/* written so far */
	uint64_t	read_bytes;
	uint64_t	nrows;
	bool		has_bad_values;

	uint64_t   *directory;
	uint32_t	nbatches;
	uint32_t	capacity;

	/* of the current batch */
	CsvScan		record;
	StoredBatch head;
	StoredArray *arrays;
	CsvError   *errors;
	uint64_t   *error_places;
	uint32_t	nerrors;		/* capacity of the two arrays above */
	uint32_t   *offsets;
	uint32_t	nrows_room;
	uint8_t    *bytes;			/* of records that a reader may look into */
	uint64_t	nbytes_room;
};

/* room for nbytes; loses the contents; false: there is no memory */
static bool
make_room(CsvStoreWriter *writer, void *room, size_t nbytes)
{
	void	  **place = room;

	if (*place != NULL)
		writer->memory.free(writer->memory.owner, *place);
	*place = writer->memory.alloc(writer->memory.owner, nbytes);
	return *place != NULL;
}

static void
free_room(CsvStoreWriter *writer, void *memory)
{
	if (memory != NULL)
		writer->memory.free(writer->memory.owner, memory);
}

CsvStoreWriter *
csv_store_begin(const CsvMemory *memory, int file, const CsvDialect *dialect,
				const CsvLayout *layout)
{
	CsvStoreWriter *writer = memory->alloc(memory->owner, sizeof(*writer));

	if (writer == NULL)
		return NULL;
	memset(writer, 0, sizeof(*writer));
	writer->record.most = 1;	/* only the end of a record is needed */
	writer->memory = *memory;
	writer->file = file;
	writer->dialect = *dialect;
	writer->nfields = layout->nfields;
	writer->ncolumns = layout->ncolumns;
	writer->nbytes = sizeof(StoredHeader);
	if (!make_room(writer, &writer->columns,
				   sizeof(CsvColumn) * layout->ncolumns + 1) ||
		!make_room(writer, &writer->arrays,
				   sizeof(StoredArray) * layout->ncolumns + 1))
	{
		csv_store_free(writer);
		return NULL;
	}
	if (layout->ncolumns > 0)
		memcpy(writer->columns, layout->columns,
			   sizeof(CsvColumn) * layout->ncolumns);

	/* NULL values were found already */
	for (uint32_t i = 0; i < layout->ncolumns; i++)
		writer->columns[i].nulls_from = writer->columns[i].nulls_to = 0;
	return writer;
}

void
csv_store_free(CsvStoreWriter *writer)
{
	free_room(writer, writer->columns);
	free_room(writer, writer->directory);
	free_room(writer, writer->record.separators);
	free_room(writer, writer->arrays);
	free_room(writer, writer->errors);
	free_room(writer, writer->error_places);
	free_room(writer, writer->offsets);
	free_room(writer, writer->bytes);
	writer->memory.free(writer->memory.owner, writer);
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
reserve(uint64_t *size, uint64_t nbytes)
{
	uint64_t	place = (*size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

	*size = place + nbytes;
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
 * Add the record at this entry of row_offsets, with its boundary; the last record may
 * have none, and ends with the batch.  A zero byte before each record hides the record
 * before it.  A record with a quoting error is read leniently.  Returns the new entry
 * of row_offsets; 0: no memory.
 */
static uint32_t
add_record(CsvStoreWriter *writer, const CsvBatch *batch, uint32_t entry)
{
	uint64_t	before = writer->head.nbytes;
	uint64_t	offset = CSV_ROW_OFFSET(entry);
	uint64_t	length;

	if (csv_scan_row(&writer->record, &writer->memory, &writer->dialect, batch->bytes,
					 entry, batch->consumed) != CSV_OK)
		return 0;
	length = writer->record.next - offset;
	if (before + 1 >= CSV_ROW_LENIENT)
		return 0;
	if (before + length + 1 > writer->nbytes_room)
	{
		uint64_t	room = 2 * (before + length + 1);
		uint8_t    *bytes = writer->memory.alloc(writer->memory.owner, room);

		if (bytes == NULL)
			return 0;
		if (before > 0)
			memcpy(bytes, writer->bytes, before);
		free_room(writer, writer->bytes);
		writer->bytes = bytes;
		writer->nbytes_room = room;
	}
	writer->bytes[before] = 0;
	memcpy(writer->bytes + before + 1, batch->bytes + offset, length);
	writer->head.nbytes += length + 1;
	return (uint32_t) (before + 1) | (entry & CSV_ROW_LENIENT);
}

/* add all records in the order of the file, and the errors, with offsets into them */
static bool
collect_records(CsvStoreWriter *writer, const CsvBatch *batch)
{
	uint32_t	error = 0;
	uint32_t	row = 0;
	bool		any_slow = false;

	for (uint32_t i = 0; i < writer->ncolumns; i++)
		any_slow |= batch->arrays[i].any_slow;
	if (batch->nerrors > writer->nerrors)
	{
		writer->nerrors = 0;
		if (!make_room(writer, &writer->errors,
					   sizeof(CsvError) * batch->nerrors) ||
			!make_room(writer, &writer->error_places,
					   sizeof(uint64_t) * batch->nerrors))
			return false;
		writer->nerrors = batch->nerrors;
	}
	if (any_slow && batch->nrows > writer->nrows_room)
	{
		writer->nrows_room = 0;
		if (!make_room(writer, &writer->offsets,
					   sizeof(uint32_t) * batch->nrows))
			return false;
		writer->nrows_room = batch->nrows;
	}
	if (any_slow && batch->nrows > 0)
		memset(writer->offsets, 0, sizeof(uint32_t) * batch->nrows);
	while (error < batch->nerrors || (any_slow && row < batch->nrows))
	{
		bool		is_error = error < batch->nerrors &&
			(!any_slow || batch->errors[error].before_row <= row);
		bool		looked_into = is_error ?
			batch->errors[error].code > CSV_ERROR_COLUMN_COUNT :
			is_slow_row(batch, writer->ncolumns, row);
		uint32_t	place = 0;

		if (looked_into)
		{
			place = add_record(writer, batch, is_error ?
							   (uint32_t) batch->errors[error].offset :
							   batch->row_offsets[row]);
			if (place == 0)
				return false;
		}
		if (is_error)
		{
			writer->errors[error] = batch->errors[error];
			writer->errors[error].offset = place;
			writer->error_places[error] = batch->errors[error].offset;
			writer->has_bad_values |= looked_into;
			error++;
		}
		else
			writer->offsets[row++] = place;
	}
	return true;
}

/* ---- batches ---- */

/* find places for the batch's parts; returns the end */
static uint64_t
place_parts(CsvStoreWriter *writer, const CsvBatch *batch, uint64_t *place)
{
	StoredBatch *head = &writer->head;
	uint64_t	size = writer->nbytes;
	uint64_t	nrows = batch->nrows;
	bool		any_slow = false;

	*place = reserve(&size, sizeof(StoredBatch) +
					 sizeof(StoredArray) * writer->ncolumns);
	for (uint32_t i = 0; i < writer->ncolumns; i++)
	{
		const CsvArray *array = &batch->arrays[i];
		StoredArray *stored = &writer->arrays[i];

		stored->values = reserve(&size, nrows * array->stride);
		stored->status = array->all_ok ? 0 : reserve(&size, nrows);
		stored->stride = array->stride;
		/* the slow value may be of a record that became no row */
		stored->any_slow = array->any_slow && nrows > 0;
		any_slow |= stored->any_slow;
	}
	if (batch->row_offsets != NULL)
	{
		head->row_lines = reserve(&size, sizeof(uint32_t) * nrows);
		head->row_places = reserve(&size, sizeof(uint32_t) * nrows);
		if (any_slow)
			head->row_offsets = reserve(&size, sizeof(uint32_t) * nrows);
	}
	head->errors = reserve(&size, sizeof(CsvError) * batch->nerrors);
	head->error_places = reserve(&size, sizeof(uint64_t) * batch->nerrors);
	head->bytes = reserve(&size, head->nbytes);
	return size;
}

static bool
write_parts(const CsvStoreWriter *writer, const CsvBatch *batch,
			uint64_t place)
{
	const StoredBatch *head = &writer->head;
	size_t		nrows = batch->nrows;
	bool		good;

	good = write_at(writer, place, head, sizeof(*head)) &&
		write_at(writer, place + sizeof(*head), writer->arrays,
				 sizeof(StoredArray) * writer->ncolumns) &&
		write_at(writer, head->errors, writer->errors,
				 sizeof(CsvError) * batch->nerrors) &&
		write_at(writer, head->error_places, writer->error_places,
				 sizeof(uint64_t) * batch->nerrors) &&
		write_at(writer, head->bytes, writer->bytes, head->nbytes);
	if (head->row_lines != 0)
		good = good && write_at(writer, head->row_lines, batch->row_lines,
								sizeof(uint32_t) * nrows) &&
			write_at(writer, head->row_places, batch->row_offsets,
					 sizeof(uint32_t) * nrows);
	if (head->row_offsets != 0)
		good = good && write_at(writer, head->row_offsets, writer->offsets,
								sizeof(uint32_t) * nrows);
	for (uint32_t i = 0; good && i < writer->ncolumns; i++)
	{
		const CsvArray *array = &batch->arrays[i];

		good = write_at(writer, writer->arrays[i].values, array->values,
						nrows * array->stride) &&
			(array->all_ok ||
			 write_at(writer, writer->arrays[i].status, array->status, nrows));
	}
	return good;
}

static bool
add_to_directory(CsvStoreWriter *writer, uint64_t place)
{
	if (writer->nbatches == writer->capacity)
	{
		uint32_t	capacity = writer->capacity == 0 ? 64 :
			2 * writer->capacity;
		uint64_t   *directory = writer->memory.alloc(writer->memory.owner,
													 sizeof(uint64_t) *
													 capacity);

		if (directory == NULL)
			return false;
		if (writer->nbatches > 0)
			memcpy(directory, writer->directory,
				   sizeof(uint64_t) * writer->nbatches);
		free_room(writer, writer->directory);
		writer->directory = directory;
		writer->capacity = capacity;
	}
	writer->directory[writer->nbatches++] = place;
	return true;
}

bool
csv_store_add(CsvStoreWriter *writer, const CsvBatch *batch,
			  bool (*may_take) (void *arg, uint64_t nbytes), void *arg)
{
	StoredBatch *head = &writer->head;
	uint64_t	place;
	uint64_t	end;

	writer->read_bytes += batch->consumed;
	if (batch->nrecords == 0)
		return true;
	memset(head, 0, sizeof(*head));
	head->first_row = writer->nrows;
	head->nlines = batch->nlines;
	head->file_offset = batch->file_offset;
	head->file_records = batch->file_records;
	head->file_lines = batch->file_lines;
	head->nrows = batch->nrows;
	head->nrecords = batch->nrecords;
	head->nerrors = batch->nerrors;
	if (!collect_records(writer, batch))
		return false;
	end = place_parts(writer, batch, &place);
	if (!may_take(arg, end) || !write_parts(writer, batch, place) ||
		!add_to_directory(writer, place))
		return false;
	writer->nbytes = end;
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
	header.nbatches = writer->nbatches;
	header.ncolumns = writer->ncolumns;
	header.nfields = writer->nfields;
	header.dialect = writer->dialect.opt;
	header.directory = reserve(&writer->nbytes, sizeof(uint64_t) *
							   writer->nbatches);
	header.columns = reserve(&writer->nbytes, sizeof(CsvColumn) *
							 writer->ncolumns);
	summary->nrows = writer->nrows;
	summary->ncolumns = writer->ncolumns;
	summary->has_bad_values = writer->has_bad_values;
	return may_take(arg, writer->nbytes) &&
		write_at(writer, header.directory, writer->directory,
					sizeof(uint64_t) * writer->nbatches) &&
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
	const uint64_t *directory;
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

/* a bool must be checked before it is used as a bool */
static bool
is_bool(const bool *value)
{
	uint8_t		byte;

	memcpy(&byte, value, 1);
	return byte <= 1;
}

static bool
is_dialect(const CsvDialectOptions *options)
{
	return is_bool(&options->multiline) && is_bool(&options->lenient) &&
		is_bool(&options->blank_is_record) && is_bool(&options->trim) &&
		csv_dialect_is_sound(options);
}

static bool
is_layout(const CsvLayout *layout)
{
	CsvLayout	whole = *layout;

	for (uint32_t i = 0; i < layout->ncolumns; i++)
		if (!is_bool(&layout->columns[i].force_null) ||
			!is_bool(&layout->columns[i].force_not_null) ||
			!is_bool(&layout->columns[i].pad_blanks))
			return false;
	whole.decimal_separator = '.';
	return csv_layout_is_sound(&whole);
}

static bool
check_header(CsvStore *store)
{
	const StoredHeader *header = entries_at(store, 0, 1, sizeof(StoredHeader));

	if (header == NULL || header->magic != STORE_MAGIC ||
		header->nrows > CSV_MOST_KEPT_ROWS || !is_dialect(&header->dialect))
		return false;
	store->header = header;
	store->directory = entries_at(store, header->directory, header->nbatches,
								  sizeof(uint64_t));
	store->layout.columns = entries_at(store, header->columns,
									   header->ncolumns, sizeof(CsvColumn));
	if (store->directory == NULL || store->layout.columns == NULL)
		return false;
	store->layout.nfields = header->nfields;
	store->layout.ncolumns = header->ncolumns;
	if (!is_layout(&store->layout))
		return false;
	csv_dialect_compile(&store->dialect, &header->dialect);
	return true;
}

CsvStore *
csv_store_open(const CsvMemory *memory, int file)
{
	int64_t		nbytes = csv_memory_file_size(file, true);
	CsvStore   *store;
	void	   *bytes;

	if (nbytes < (int64_t) sizeof(StoredHeader))
		return NULL;
	store = memory->alloc(memory->owner, sizeof(*store));
	if (store == NULL)
		return NULL;
	memset(store, 0, sizeof(*store));
	bytes = mmap(NULL, (size_t) nbytes, PROT_READ, MAP_SHARED, file, 0);
	if (bytes == MAP_FAILED)
	{
		memory->free(memory->owner, store);
		return NULL;
	}
	store->memory = *memory;
	store->bytes = bytes;
	store->nbytes = (uint64_t) nbytes;
	if (!check_header(store))
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
	store->memory.free(store->memory.owner, store);
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

static bool
is_stride(uint32_t stride, const CsvColumn *column)
{
	uint32_t	only = csv_value_stride(column);

	return only != 0 ? stride == only : stride >= 4 && stride % 4 == 0;
}

static bool
map_arrays(const CsvStore *store, const StoredBatch *head,
		   const StoredArray *stored, CsvArray *arrays)
{
	for (uint32_t i = 0; i < store->layout.ncolumns; i++)
	{
		CsvArray   *array = &arrays[i];

		array->stride = stored[i].stride;
		array->any_slow = stored[i].any_slow != 0;
		array->all_ok = stored[i].status == 0;
		if (!is_stride(array->stride, &store->layout.columns[i]) ||
			stored[i].values % ALIGNMENT != 0 ||
			(array->any_slow && head->row_offsets == 0))
			return false;
		array->values = entries_at(store, stored[i].values, head->nrows,
								   array->stride);
		array->status = array->all_ok ? NULL :
			entries_at(store, stored[i].status, head->nrows, 1);
		if (array->values == NULL ||
			(array->status == NULL && (!array->all_ok || array->any_slow)))
			return false;
	}
	return true;
}

/*
 * Errors must be in the order of the file, between two rows of the batch, and of a
 * column of the layout; and at bytes of the batch, if a reader may look into them.
 */
static bool
are_errors(const CsvStore *store, const StoredBatch *head,
		   const CsvError *errors)
{
	uint32_t	row = 0;

	if (head->nrecords != (uint64_t) head->nrows + head->nerrors)
		return false;
	for (uint32_t i = 0; i < head->nerrors; i++)
	{
		const CsvError *error = &errors[i];

		if (error->before_row < row || error->before_row > head->nrows ||
			error->record != error->before_row + i ||
			error->code == CSV_ERROR_NONE || error->code >= CSV_ERROR_BAD_VALUE ||
			error->mode >= CSV_NUM_MODES)
			return false;
		if (error->code > CSV_ERROR_COLUMN_COUNT &&
			(error->where >= store->layout.ncolumns ||
			 error->offset >= head->nbytes))
			return false;
		row = error->before_row;
	}
	return true;
}

/* rows that no reader looks into have offset 0, which is valid */
static bool
are_offsets(const StoredBatch *head, const uint32_t *offsets)
{
	uint32_t	most = 0;

	for (uint32_t i = 0; i < head->nrows; i++)
		most = CSV_ROW_OFFSET(offsets[i]) > most ? CSV_ROW_OFFSET(offsets[i]) : most;
	return most == 0 || most < head->nbytes;
}

bool
csv_store_batch(const CsvStore *store, uint32_t number, CsvArray *arrays,
				CsvResidentBatch *resident)
{
	uint64_t	place = store->directory[number];
	const StoredBatch *head = entries_at(store, place, 1, sizeof(StoredBatch));
	const StoredArray *stored;
	CsvBatch   *batch = &resident->batch;

	if (head == NULL || head->nrows > store->header->nrows ||
		head->first_row > store->header->nrows - head->nrows)
		return false;
	stored = entries_at(store, place + sizeof(StoredBatch),
						store->layout.ncolumns, sizeof(StoredArray));
	memset(resident, 0, sizeof(*resident));
	batch->nrows = head->nrows;
	batch->nrecords = head->nrecords;
	batch->nerrors = head->nerrors;
	batch->nlines = head->nlines;
	batch->file_offset = head->file_offset;
	batch->file_records = head->file_records;
	batch->file_lines = head->file_lines;
	batch->nbytes = head->nbytes;
	batch->consumed = head->nbytes;
	batch->arrays = arrays;
	batch->errors = entries_at(store, head->errors, head->nerrors,
							   sizeof(CsvError));
	batch->bytes = entries_at(store, head->bytes, head->nbytes, 1);
	resident->first_row = (int64_t) head->first_row;
	resident->error_places = entries_at(store, head->error_places,
										head->nerrors, sizeof(uint64_t));
	if (stored == NULL || batch->errors == NULL || batch->bytes == NULL ||
		resident->error_places == NULL ||
		!are_errors(store, head, batch->errors))
		return false;
	if (head->row_lines != 0)
	{
		batch->row_lines = entries_at(store, head->row_lines, head->nrows,
									  sizeof(uint32_t));
		resident->row_places = entries_at(store, head->row_places, head->nrows,
										  sizeof(uint32_t));
		if (batch->row_lines == NULL || resident->row_places == NULL)
			return false;
	}
	if (head->row_offsets != 0)
	{
		batch->row_offsets = entries_at(store, head->row_offsets, head->nrows,
										sizeof(uint32_t));
		if (batch->row_offsets == NULL || batch->row_lines == NULL ||
			!are_offsets(head, batch->row_offsets))
			return false;
	}
	return map_arrays(store, head, stored, arrays);
}

void
csv_store_pass(CsvStore *store, uint32_t number)
{
	uint64_t	place = store->directory[number] / PASSED_BYTES * PASSED_BYTES;

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
