/*
 * resident.c
 *		Finds and makes columns that are kept.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "storage/fd.h"
#include "utils/memutils.h"

#include "batches/resident.h"
#include "client/connection.h"
#include "table/memory.h"

struct CsvResident
{
	uint64		connection;		/* on which it was found or begun */
	int64		file_size;

	/* columns that were found */
	uint64		set;
	CsvStore   *store;			/* NULL: columns are being made */
	CsvResidentBatch **batches; /* an entry is NULL until it is used */
	CsvResidentGrouping *grouping;	/* mapped; NULL: none */

	/* columns that are being made */
	CsvResidentKey key;
	uint32		making;
	int			file;
	CsvStoreWriter *writer;
};

/* a mapped batch with its number */
typedef struct MappedBatch
{
	CsvResidentBatch resident;
	uint32		number;
} MappedBatch;

static Size
grouping_bytes(const CsvResident *resident)
{
	return offsetof(CsvResidentGrouping, classes) +
		sizeof(uint32) * csv_store_nrows(resident->store);
}

/* ---- releasing ---- */

static void
release_found(CsvResident *resident)
{
	CsvSetMessage message;

	if (resident->grouping != NULL)
		munmap(resident->grouping, grouping_bytes(resident));
	csv_store_close(resident->store);
	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_RELEASE;
	message.set = resident->set;
	if (resident->connection == csv_service_connection())
		csv_service_tell(&message, sizeof(message));
}

static void
release_made(CsvResident *resident)
{
	CsvRoomMessage message;

	csv_store_free(resident->writer);
	close(resident->file);
	ReleaseExternalFD();
	if (resident->making == 0 ||
		resident->connection != csv_service_connection())
		return;
	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_ROOM;
	message.making = resident->making;
	csv_service_tell(&message, sizeof(message));
}

void
csv_resident_release(CsvResident *resident)
{
	if (resident->store != NULL)
		release_found(resident);
	else
		release_made(resident);
	pfree(resident);
}

/* ---- finding ---- */

static bool
has_columns(const CsvStore *store, const CsvWanted *wanted)
{
	const CsvLayout *layout = csv_store_layout(store);

	for (uint32 i = 0; i < wanted->ncolumns; i++)
	{
		uint32		place = 0;

		while (place < layout->ncolumns &&
			   layout->columns[place].attnum != (uint32) wanted->columns[i].attnum)
			place++;
		if (place == layout->ncolumns)
			return false;
	}
	return true;
}

/* sets the message to find or keep columns; returns its size in bytes */
static size_t
set_find_message(CsvFindMessage *message, uint32 kind,
				 const CsvResidentKey *key)
{
	size_t		nbytes = CSV_WANTED_BYTES(CsvFindMessage, key->wanted.ncolumns);

	memset(message, 0, offsetof(CsvFindMessage, wanted));
	message->kind = kind;
	message->user = key->user;
	message->file = key->file;
	memcpy(&message->wanted, &key->wanted,
		   nbytes - offsetof(CsvFindMessage, wanted));
	return nbytes;
}

CsvResident *
csv_resident_find(const CsvResidentKey *key, int file)
{
	CsvMemory	memory = csv_context_memory(CurrentMemoryContext);
	CsvDescriptors with = {1, {file}};
	CsvDescriptors came;
	CsvFindMessage message;
	CsvMessage	answer;
	CsvResident *resident;

	if (!csv_service_connect(false) ||
		!csv_service_ask(&message, set_find_message(&message, CSV_MESSAGE_FIND,
													key),
						 &with, &answer, &came))
		return NULL;
	if (!answer.found.found || came.n != 1)
	{
		csv_wire_close(&came);
		return NULL;
	}
	resident = palloc0(sizeof(CsvResident));
	resident->connection = csv_service_connection();
	resident->set = answer.found.set;
	resident->file_size = key->file.size;
	resident->store = csv_store_open(&memory, came.files[0]);
	csv_wire_close(&came);
	if (resident->store == NULL)
		elog(ERROR, "could not map resident columns: %m");
	if (!has_columns(resident->store, &key->wanted))
	{
		csv_resident_release(resident);
		elog(ERROR, "resident columns are not those that were asked for");
	}
	resident->batches = palloc0(sizeof(CsvResidentBatch *) *
								Max(csv_store_nbatches(resident->store), 1));
	return resident;
}

bool
csv_resident_exist(const CsvWanted *wanted, const CsvFileIdentity *files,
				   int nfiles, int64 *nrows)
{
	CsvLookMessage message;
	CsvMessage	answer;

	*nrows = 0;
	if (!csv_service_connect(false))
		return false;
	memset(&message, 0, offsetof(CsvLookMessage, wanted));
	message.kind = CSV_MESSAGE_LOOK;
	memcpy(&message.wanted, wanted, offsetof(CsvWanted, columns) +
		   sizeof(CsvKeyColumn) * wanted->ncolumns);
	for (int first = 0; first < nfiles; first += CSV_MOST_IDENTITIES)
	{
		message.nfiles = (uint32) Min(nfiles - first, CSV_MOST_IDENTITIES);
		memcpy(message.files, files + first,
			   sizeof(CsvFileIdentity) * message.nfiles);
		if (!csv_service_ask(&message, CSV_WANTED_BYTES(CsvLookMessage,
														wanted->ncolumns),
							 NULL, &answer, NULL) || !answer.found.found)
			return false;
		*nrows += (int64) answer.found.nrows;
	}
	return true;
}

const CsvLayout *
csv_resident_layout(const CsvResident *resident)
{
	return csv_store_layout(resident->store);
}

const CsvDialect *
csv_resident_dialect(const CsvResident *resident)
{
	return csv_store_dialect(resident->store);
}

bool
csv_resident_number(const CsvResident *resident, uint64_t *number)
{
	*number = resident->set;
	return resident->connection == csv_service_connection();
}

int64
csv_resident_nrows(const CsvResident *resident)
{
	return (int64) csv_store_nrows(resident->store);
}

int64
csv_resident_file_size(const CsvResident *resident)
{
	return resident->file_size;
}

const CsvResidentBatch *
csv_resident_batch(CsvResident *resident, const CsvResidentBatch *previous)
{
	uint32		ncolumns = csv_store_layout(resident->store)->ncolumns;
	uint32		number = previous == NULL ? 0 :
		((const MappedBatch *) previous)->number + 1;
	MappedBatch *batch;

	if (number == csv_store_nbatches(resident->store))
		return NULL;
	if (resident->batches[number] != NULL)
		return resident->batches[number];
	batch = MemoryContextAlloc(GetMemoryChunkContext(resident),
							   MAXALIGN(sizeof(MappedBatch)) +
							   sizeof(CsvArray) * ncolumns);
	batch->number = number;
	if (!csv_store_batch(resident->store, number,
						 (CsvArray *) ((char *) batch +
									   MAXALIGN(sizeof(MappedBatch))),
						 &batch->resident))
		elog(ERROR, "resident columns are not as they should be");
	resident->batches[number] = &batch->resident;
	return &batch->resident;
}

void
csv_resident_pass(CsvResident *resident, const CsvResidentBatch *batch)
{
	csv_store_pass(resident->store, ((const MappedBatch *) batch)->number);
}

/* ---- groups ---- */

/* makes a memory file of unknown classes; -1: no memory */
static int
make_grouping(const CsvResident *resident)
{
	Size		nbytes = grouping_bytes(resident);
	int			file = csv_memory_file_create("csv_gpu_fdw grouping");
	void	   *bytes;

	if (file < 0)
		return -1;
	if (csv_memory_file_reserve(file, nbytes) &&
		csv_memory_file_seal(file, false) &&
		(bytes = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
					  0)) != MAP_FAILED)
	{
		CsvResidentGrouping *grouping = bytes;

		memset(grouping->classes, 0xff,
			   nbytes - offsetof(CsvResidentGrouping, classes));
		munmap(bytes, nbytes);
		return file;
	}
	close(file);
	return -1;
}

/* maps the file that csv_gpu_service sent; NULL if it is wrong */
static CsvResidentGrouping *
map_grouping(const CsvResident *resident, CsvDescriptors *came)
{
	Size		nbytes = grouping_bytes(resident);
	void	   *bytes = MAP_FAILED;

	if (csv_memory_file_size(came->files[0], false) == (int64) nbytes)
		bytes = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED,
					 came->files[0], 0);
	csv_wire_close(came);
	return bytes == MAP_FAILED ? NULL : bytes;
}

/* like csv_service_ask(); closes the descriptor, also after an ERROR */
static bool
offer_grouping(const CsvGroupingMessage *message, CsvDescriptors *with,
			   CsvMessage *answer, CsvDescriptors *came)
{
	volatile bool good = false;

	PG_TRY();
	{
		good = csv_service_ask(message, sizeof(*message), with, answer, came);
	}
	PG_CATCH();
	{
		csv_wire_close(with);
		PG_RE_THROW();
	}
	PG_END_TRY();
	csv_wire_close(with);
	return good;
}

CsvResidentGrouping *
csv_resident_grouping(CsvResident *resident, const CsvGroupingKey *keys,
					  int nkeys)
{
	CsvGroupingMessage message;
	CsvDescriptors with = {0};
	CsvDescriptors came;
	CsvMessage	answer;

	if (nkeys > CSV_MOST_GROUPING_KEYS ||
		resident->connection != csv_service_connection())
		return NULL;
	if (resident->grouping != NULL)
		munmap(resident->grouping, grouping_bytes(resident));
	resident->grouping = NULL;
	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_GROUPING;
	message.nkeys = (uint32) nkeys;
	message.set = resident->set;
	memcpy(message.keys, keys, sizeof(CsvGroupingKey) * nkeys);
	if (!csv_service_ask(&message, sizeof(message), NULL, &answer, &came))
		return NULL;
	if (came.n == 0 && answer.done.count > 0 &&
		(with.files[0] = make_grouping(resident)) >= 0)
	{
		with.n = 1;
		if (!offer_grouping(&message, &with, &answer, &came))
			return NULL;
	}
	if (came.n == 1)
		resident->grouping = map_grouping(resident, &came);
	return resident->grouping;
}

/* ---- keeping ---- */

CsvResident *
csv_resident_begin(const CsvResidentKey *key, const CsvDialect *dialect,
				   const CsvLayout *layout)
{
	static uint32 makings = 0;
	CsvMemory	memory = csv_context_memory(CurrentMemoryContext);
	CsvResident *resident;
	int			file;

	if (!csv_service_connect(true) || !AcquireExternalFD())
		return NULL;
	file = csv_memory_file_create("csv_gpu_fdw columns");
	if (file < 0)
	{
		ReleaseExternalFD();
		return NULL;
	}
	resident = palloc0(sizeof(CsvResident));
	resident->connection = csv_service_connection();
	resident->file_size = key->file.size;
	resident->key = *key;
	resident->file = file;
	resident->making = ++makings == 0 ? ++makings : makings;
	resident->writer = csv_store_begin(&memory, file, dialect, layout);
	return resident;
}

/* for csv_store_add() */
static bool
may_take(void *arg, uint64_t nbytes)
{
	CsvResident *resident = arg;
	CsvRoomMessage message;
	CsvMessage	answer;

	if (resident->connection != csv_service_connection())
		return false;
	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_ROOM;
	message.making = resident->making;
	message.nbytes = nbytes;
	message.read_bytes = csv_store_bytes_read(resident->writer);
	message.file_bytes = (uint64) resident->file_size;
	return csv_service_ask(&message, sizeof(message), NULL, &answer, NULL) &&
		answer.done.count > 0;
}

bool
csv_resident_add(CsvResident *resident, const CsvBatch *batch)
{
	return csv_store_add(resident->writer, batch, may_take, resident);
}

void
csv_resident_keep(CsvResident *resident, int file)
{
	CsvDescriptors with = {2, {file, resident->file}};
	CsvStoreSummary summary;
	CsvFindMessage message;
	CsvMessage	answer;
	size_t		nbytes;

	if (resident->connection != csv_service_connection() ||
		!csv_store_finish(resident->writer, may_take, resident, &summary))
		return;
	nbytes = set_find_message(&message, CSV_MESSAGE_KEEP, &resident->key);
	message.making = resident->making;
	message.nrows = summary.nrows;
	message.has_bad_values = summary.has_bad_values;
	if (csv_service_ask(&message, nbytes, &with, &answer, NULL))
		resident->making = 0;
}
