/*
 * resident.c
 *		Uses and keeps columns of files.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "batches/resident.h"
#include "client/connection.h"
#include "table/declaration.h"
#include "table/fingerprint.h"
#include "table/memory.h"

StaticAssertDecl(CSV_END_HASH_BYTES == PG_SHA256_DIGEST_LENGTH,
				 "hashes of a stretch are fingerprints'");

/* sets the wanted columns */
static void
set_columns(CsvWanted *wanted, const CsvFileLayout *layout)
{
	wanted->positions = layout->layout.want_positions;
	wanted->ncolumns = (uint32) layout->ncolumns;
	for (int i = 0; i < layout->ncolumns; i++)
	{
		int			kind = layout->columns[i].kind;

		wanted->columns[i].attnum = layout->columns[i].column->attnum;
		wanted->columns[i].decimal = kind == CSV_KIND_DECIMAL64 ||
			kind == CSV_KIND_DECIMAL128 || kind == CSV_KIND_SCALED;
	}
}

bool
csv_resident_exist(const CsvTable *table, const Bitmapset *wanted,
				   const Bitmapset *hidden, bool few_rows, int *ncolumns,
				   int64 *nrows)
{
	CsvFileLayout *layout = csv_file_layout_create(table, wanted, hidden,
												   few_rows);
	CsvLookMessage message;
	CsvMessage	answer;
	char	  **names;
	CsvFileIdentity *identities;
	int			nfiles;

	*ncolumns = layout->ncolumns;
	*nrows = 0;
	if (layout->wants_surplus ||
		!csv_source_identities(table, &names, &identities, &nfiles) ||
		nfiles == 0 || !csv_service_connect(false))
		return false;
	memset(&message, 0, offsetof(CsvLookMessage, wanted));
	message.kind = CSV_MESSAGE_LOOK;
	csv_hash_declaration(message.wanted.declaration, table);
	set_columns(&message.wanted, layout);
	for (int first = 0; first < nfiles; first += CSV_MOST_IDENTITIES)
	{
		message.nfiles = (uint32) Min(nfiles - first, CSV_MOST_IDENTITIES);
		memcpy(message.files, identities + first,
			   sizeof(CsvFileIdentity) * message.nfiles);
		if (!csv_service_ask(&message, CSV_WANTED_BYTES(CsvLookMessage,
														message.wanted.ncolumns),
							 NULL, &answer, NULL) || !answer.found.found)
			return false;
		*nrows += (int64) answer.found.nrows;
	}
	return true;
}

/* ---- begin and end ---- */

static Size
grouping_bytes(const CsvResident *resident)
{
	return offsetof(CsvResidentGrouping, classes) +
		sizeof(uint32) * csv_store_nrows(resident->store);
}

static void
drop_grouping(CsvResident *resident)
{
	if (resident->grouping != NULL)
		munmap(resident->grouping, grouping_bytes(resident));
	resident->grouping = NULL;
	csv_wire_close(&resident->offered);
}

/* releases the pin of columns that were found */
static void
leave_found(CsvResident *resident)
{
	CsvSetMessage message;

	drop_grouping(resident);
	csv_store_close(resident->store);
	if (resident->batches != NULL)
		pfree(resident->batches);
	resident->batches = NULL;
	resident->store = NULL;
	resident->batch = NULL;
	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_RELEASE;
	message.set = resident->set;
	if (resident->connection == csv_service_connection())
		csv_service_tell(&message, sizeof(message));
}

/* drops columns that are being made, unless they were handed over */
static void
leave_made(CsvResident *resident)
{
	CsvRoomMessage message;

	csv_store_free(resident->writer);
	resident->writer = NULL;
	close(resident->file);
	ReleaseExternalFD();
	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_ROOM;
	message.before = resident->key.promised;
	resident->key.promised = 0;
	if (message.before > 0 && resident->connection == csv_service_connection())
		csv_service_tell(&message, sizeof(message));
}

void
csv_resident_leave(CsvResident *resident)
{
	if (resident->store != NULL)
		leave_found(resident);
	if (resident->writer != NULL)
		leave_made(resident);
}

void
csv_resident_rest(CsvResident *resident)
{
	drop_grouping(resident);
	resident->batch = NULL;
	resident->rests = true;
	if (resident->writer != NULL)
		leave_made(resident);
}

/* the reset callback */
static void
release_resident(void *arg)
{
	csv_resident_leave(arg);
}

CsvResident *
csv_resident_create(CsvFileLayout *layout)
{
	CsvResident *resident = palloc0(sizeof(CsvResident));

	resident->layout = layout;
	resident->context = CurrentMemoryContext;
	resident->key.user.database = MyDatabaseId;
	resident->key.user.table = layout->table->relid;
	csv_hash_declaration(resident->key.wanted.declaration, layout->table);
	resident->arrays = palloc(sizeof(CsvArray) * Max(layout->ncolumns, 1));
	resident->places = palloc(sizeof(uint32_t) * Max(layout->ncolumns, 1));
	resident->callback.func = release_resident;
	resident->callback.arg = resident;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &resident->callback);
	return resident;
}

/* sends the key, to find columns, or with columns to keep */
static bool
send_key(CsvResident *resident, uint32 kind, const CsvDescriptors *with,
		 CsvMessage *answer, CsvDescriptors *came)
{
	resident->key.kind = kind;
	return csv_service_ask(&resident->key,
						   CSV_WANTED_BYTES(CsvFindMessage,
											resident->key.wanted.ncolumns),
						   with, answer, came);
}

/* ---- columns that were found ---- */

/* finds the places of the layout's columns, and their specs */
static void
find_columns(CsvResident *resident)
{
	const CsvLayout *found = csv_store_layout(resident->store);

	for (int i = 0; i < resident->layout->ncolumns; i++)
	{
		CsvFileColumn *column = &resident->layout->columns[i];
		CsvColumn	wanted = column->spec;
		uint32_t	place = 0;

		while (place < found->ncolumns &&
			   found->columns[place].attnum != wanted.attnum)
			place++;
		if (place == found->ncolumns)
			elog(ERROR, "resident columns are not those that were asked for");
		column->spec = found->columns[place];

		/* these columns have their NULLs already, but the next file may be read */
		column->spec.nulls_from = wanted.nulls_from;
		column->spec.nulls_to = wanted.nulls_to;
		resident->places[i] = place;
	}
}

/* lays out the columns that were found, of the source's open file */
static bool
begin_found(CsvResident *resident)
{
	resident->rests = false;
	resident->next = 0;
	find_columns(resident);
	csv_file_layout_set(resident->layout,
						csv_store_layout(resident->store)->nfields);
	find_columns(resident);		/* csv_file_layout_set() has changed their order */
	return true;
}

/* does the file still have the bytes of the stretch? */
static bool
is_stretch_of(const CsvSource *source, const CsvStretch *stretch)
{
	CsvFingerprint fingerprint = {.nbytes = stretch->to.offset};

	memcpy(fingerprint.first, stretch->first, sizeof(stretch->first));
	memcpy(fingerprint.last, stretch->last, sizeof(stretch->last));
	return csv_fingerprint_fits_ends(csv_source_file(source), csv_source_name(source),
									 &fingerprint);
}

/*
 * Sets the key for columns from this place on, or of the whole file (NULL).  Returns
 * whether such columns may be kept.
 */
static bool
set_stretch(CsvResident *resident, const CsvSource *source,
			const CsvFilePlace *from)
{
	CsvFileIdentity listed;
	bool		seekable;

	memset(&resident->key.stretch, 0, sizeof(resident->key.stretch));
	resident->key.grows = from != NULL;
	if (from == NULL)
		return csv_has_settled(resident->key.file.changed);
	resident->key.stretch.from = *from;

	/* of other files, the place says nothing of the file's bytes */
	return csv_source_look_at(source, csv_source_number(source), &listed, &seekable) &&
		seekable;
}

bool
csv_resident_find(CsvResident *resident, const CsvSource *source,
				  const CsvFilePlace *from, uint64 set, bool *may_keep)
{
	CsvMemory	memory = csv_context_memory(resident->context);
	CsvDescriptors with = {1, {csv_source_file(source)}};
	CsvDescriptors came;
	CsvMessage	answer;
	CsvFileIdentity before = resident->key.file;

	*may_keep = false;
	if (!csv_source_identity(source, &resident->key.file))
		return false;
	if (resident->store != NULL && from == NULL && !resident->key.grows &&
		(set == 0 || set == resident->set) &&
		csv_same_file(&before, &resident->key.file))
		return begin_found(resident);
	csv_resident_leave(resident);
	*may_keep = set_stretch(resident, source, from);
	if (from != NULL && !*may_keep)
		return false;
	strlcpy(resident->key.user.filename, csv_source_name(source), CSV_NAME_BYTES);
	set_columns(&resident->key.wanted, resident->layout);
	resident->key.set = set;
	if (!csv_service_connect(false) ||
		!send_key(resident, CSV_MESSAGE_FIND, &with, &answer, &came))
		return false;
	if (!answer.found.found || came.n != 1)
	{
		csv_wire_close(&came);
		return false;
	}
	resident->connection = csv_service_connection();
	resident->set = answer.found.set;
	resident->store = csv_store_open(&memory, came.files[0],
									 &resident->layout->table->reader.dialect);
	csv_wire_close(&came);
	if (resident->store == NULL)
		elog(ERROR, "could not map resident columns: %m");
	if (from != NULL && !is_stretch_of(source, &answer.found.stretch))
	{
		leave_found(resident);
		return false;
	}
	*may_keep = false;
	resident->end = answer.found.stretch.to;
	resident->batches =
		MemoryContextAllocZero(resident->context, sizeof(CsvResidentBatch) *
							   Max(csv_store_nbatches(resident->store), 1));
	return begin_found(resident);
}

const CsvResidentBatch *
csv_resident_batch(const CsvResident *resident, uint32 number, CsvBatch *batch,
				   CsvArray *arrays)
{
	const CsvStore *store = resident->store;
	CsvResidentBatch *from = &resident->batches[number];

	if (number == csv_store_nbatches(store))
		return NULL;
	if (from->batch.arrays == NULL &&
		!csv_store_batch(store, number,
						 MemoryContextAlloc(resident->context, sizeof(CsvArray) *
											csv_store_layout(store)->ncolumns),
						 from))
		elog(ERROR, "resident columns are not as they should be");
	*batch = from->batch;
	batch->arrays = arrays;
	for (int i = 0; i < resident->layout->ncolumns; i++)
		arrays[i] = from->batch.arrays[resident->places[i]];
	return from;
}

bool
csv_resident_next(CsvResident *resident, CsvBatch *batch)
{
	resident->batch = csv_resident_batch(resident, resident->next, batch,
										 resident->arrays);
	if (resident->batch == NULL)
		return false;
	csv_store_pass(resident->store, resident->next++);
	return true;
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

void
csv_resident_find_grouping(CsvResident *resident, const CsvGroupingKey *keys,
						   int nkeys)
{
	CsvGroupingMessage message;
	CsvDescriptors *offered = &resident->offered;
	CsvDescriptors came;
	CsvMessage	answer;

	drop_grouping(resident);
	if (nkeys > CSV_MOST_GROUPING_KEYS ||
		resident->connection != csv_service_connection())
		return;
	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_GROUPING;
	message.nkeys = (uint32) nkeys;
	message.set = resident->set;
	memcpy(message.keys, keys, sizeof(CsvGroupingKey) * nkeys);
	if (!csv_service_ask(&message, sizeof(message), NULL, &answer, &came))
		return;
	if (came.n == 0 && answer.done.count > 0 &&
		(offered->files[0] = make_grouping(resident)) >= 0)
	{
		bool		good;

		offered->n = 1;
		good = csv_service_ask(&message, sizeof(message), offered, &answer, &came);
		csv_wire_close(offered);
		if (!good)
			return;
	}
	if (came.n == 1)
		resident->grouping = map_grouping(resident, &came);
}

/* ---- keeping columns ---- */

bool
csv_resident_begin(CsvResident *resident, const CsvDialect *dialect)
{
	CsvMemory	memory = csv_context_memory(resident->context);

	if (!csv_service_connect(true) || !AcquireExternalFD())
		return false;
	resident->file = csv_memory_file_create("csv_gpu_fdw columns");
	if (resident->file < 0)
	{
		ReleaseExternalFD();
		return false;
	}
	/* the file's header may have changed the order of columns */
	set_columns(&resident->key.wanted, resident->layout);
	resident->connection = csv_service_connection();
	resident->writer = csv_store_begin(&memory, resident->file, dialect,
									   &resident->layout->layout);
	return resident->writer != NULL;
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
	message.before = resident->key.promised;
	message.nbytes = nbytes;
	message.read_bytes = csv_store_bytes_read(resident->writer);
	message.file_bytes = (uint64) resident->key.file.size -
		resident->key.stretch.from.offset;
	if (!csv_service_ask(&message, sizeof(message), NULL, &answer, NULL) ||
		answer.done.count == 0)
		return false;
	resident->key.promised = Max(resident->key.promised, nbytes);
	return true;
}

bool
csv_resident_add(CsvResident *resident, const CsvBatch *batch)
{
	if (csv_store_add(resident->writer, batch, may_take, resident))
		return true;
	csv_resident_leave(resident);
	return false;
}

/*
 * Sets the end of the columns.  False: they have no records, or the file is not the same
 * any more.
 */
static bool
end_stretch(CsvResident *resident, const CsvSource *source,
			const CsvFilePlace *to)
{
	CsvStretch *stretch = &resident->key.stretch;
	int			file = csv_source_file(source);
	const char *name = csv_source_name(source);
	CsvFileIdentity now;

	if (!resident->key.grows)
		return csv_source_identity(source, &now) &&
			csv_same_file(&now, &resident->key.file);
	csv_source_check_same(source);
	stretch->to = *to;
	return to->offset > stretch->from.offset &&
		csv_fingerprint_first(file, name, to->offset, stretch->first) &&
		csv_fingerprint_last(file, name, to->offset, stretch->last);
}

void
csv_resident_finish(CsvResident *resident, const CsvSource *source,
					const CsvFilePlace *to)
{
	CsvDescriptors with = {2, {csv_source_file(source), resident->file}};
	CsvStoreSummary summary;
	CsvMessage	answer;

	/* if the file was changed while it was read, its version is unknown */
	if (end_stretch(resident, source, to) &&
		resident->connection == csv_service_connection() &&
		csv_store_finish(resident->writer, may_take, resident, &summary))
	{
		resident->key.nrows = summary.nrows;
		resident->key.has_bad_values = summary.has_bad_values;
		if (send_key(resident, CSV_MESSAGE_KEEP, &with, &answer, NULL))
			resident->key.promised = 0;
	}
	csv_resident_leave(resident);
}
