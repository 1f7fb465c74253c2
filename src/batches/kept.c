/*
 * kept.c
 *		Uses and keeps columns of files.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "batches/kept.h"
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
csv_kept_exist(const CsvTable *table, const Bitmapset *wanted,
			   const Bitmapset *hidden, bool few_rows, int *ncolumns, int64 *nrows)
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
grouping_bytes(const CsvKept *kept)
{
	return offsetof(CsvResidentGrouping, classes) +
		sizeof(uint32) * csv_store_nrows(kept->store);
}

static void
drop_grouping(CsvKept *kept)
{
	if (kept->grouping != NULL)
		munmap(kept->grouping, grouping_bytes(kept));
	kept->grouping = NULL;
	csv_wire_close(&kept->offered);
}

/* releases the pin of columns that were found */
static void
leave_found(CsvKept *kept)
{
	CsvSetMessage message;

	drop_grouping(kept);
	csv_store_close(kept->store);
	if (kept->batches != NULL)
		pfree(kept->batches);
	kept->batches = NULL;
	kept->store = NULL;
	kept->batch = NULL;
	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_RELEASE;
	message.set = kept->set;
	if (kept->connection == csv_service_connection())
		csv_service_tell(&message, sizeof(message));
}

/* drops columns that are being made, unless they were handed over */
static void
leave_made(CsvKept *kept)
{
	CsvRoomMessage message;

	csv_store_free(kept->writer);
	kept->writer = NULL;
	close(kept->file);
	ReleaseExternalFD();
	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_ROOM;
	message.before = kept->key.promised;
	kept->key.promised = 0;
	if (message.before > 0 && kept->connection == csv_service_connection())
		csv_service_tell(&message, sizeof(message));
}

void
csv_kept_leave(CsvKept *kept)
{
	if (kept->store != NULL)
		leave_found(kept);
	if (kept->writer != NULL)
		leave_made(kept);
}

/* the reset callback */
static void
release_kept(void *arg)
{
	csv_kept_leave(arg);
}

CsvKept *
csv_kept_create(CsvFileLayout *layout)
{
	CsvKept    *kept = palloc0(sizeof(CsvKept));

	kept->layout = layout;
	kept->context = CurrentMemoryContext;
	kept->key.user.database = MyDatabaseId;
	kept->key.user.table = layout->table->relid;
	csv_hash_declaration(kept->key.wanted.declaration, layout->table);
	kept->arrays = palloc(sizeof(CsvArray) * Max(layout->ncolumns, 1));
	kept->places = palloc(sizeof(uint32_t) * Max(layout->ncolumns, 1));
	kept->callback.func = release_kept;
	kept->callback.arg = kept;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &kept->callback);
	return kept;
}

/* sends the key, to find columns, or with columns to keep */
static bool
send_key(CsvKept *kept, uint32 kind, const CsvDescriptors *with,
		 CsvMessage *answer, CsvDescriptors *came)
{
	kept->key.kind = kind;
	return csv_service_ask(&kept->key, CSV_WANTED_BYTES(CsvFindMessage,
														kept->key.wanted.ncolumns),
						   with, answer, came);
}

/* ---- columns that are kept ---- */

/* finds the places of the layout's columns, and their specs */
static void
find_columns(CsvKept *kept)
{
	const CsvLayout *found = csv_store_layout(kept->store);

	for (int i = 0; i < kept->layout->ncolumns; i++)
	{
		CsvFileColumn *column = &kept->layout->columns[i];
		CsvColumn	wanted = column->spec;
		uint32_t	place = 0;

		while (place < found->ncolumns &&
			   found->columns[place].attnum != wanted.attnum)
			place++;
		if (place == found->ncolumns)
			elog(ERROR, "resident columns are not those that were asked for");
		column->spec = found->columns[place];

		/* kept columns have their NULLs already, but the next file may be read */
		column->spec.nulls_from = wanted.nulls_from;
		column->spec.nulls_to = wanted.nulls_to;
		kept->places[i] = place;
	}
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
set_stretch(CsvKept *kept, const CsvSource *source, const CsvFilePlace *from)
{
	CsvFileIdentity listed;
	bool		seekable;

	memset(&kept->key.stretch, 0, sizeof(kept->key.stretch));
	kept->key.grows = from != NULL;
	if (from == NULL)
		return csv_has_settled(kept->key.file.changed);
	kept->key.stretch.from = *from;

	/* of other files, the place says nothing of the file's bytes */
	return csv_source_look_at(source, csv_source_number(source), &listed, &seekable) &&
		seekable;
}

bool
csv_kept_find(CsvKept *kept, const CsvSource *source, const CsvFilePlace *from,
			  bool *may_keep)
{
	CsvMemory	memory = csv_context_memory(kept->context);
	CsvDescriptors with = {1, {csv_source_file(source)}};
	CsvDescriptors came;
	CsvMessage	answer;

	*may_keep = false;
	if (!csv_source_identity(source, &kept->key.file))
		return false;
	*may_keep = set_stretch(kept, source, from);
	if (from != NULL && !*may_keep)
		return false;
	strlcpy(kept->key.user.filename, csv_source_name(source), CSV_NAME_BYTES);
	set_columns(&kept->key.wanted, kept->layout);
	if (!csv_service_connect(false) ||
		!send_key(kept, CSV_MESSAGE_FIND, &with, &answer, &came))
		return false;
	if (!answer.found.found || came.n != 1)
	{
		csv_wire_close(&came);
		return false;
	}
	kept->connection = csv_service_connection();
	kept->set = answer.found.set;
	kept->store = csv_store_open(&memory, came.files[0],
								 &kept->layout->table->reader.dialect);
	csv_wire_close(&came);
	if (kept->store == NULL)
		elog(ERROR, "could not map resident columns: %m");
	if (from != NULL && !is_stretch_of(source, &answer.found.stretch))
	{
		leave_found(kept);
		return false;
	}
	*may_keep = false;
	kept->end = answer.found.stretch.to;
	kept->batches =
		MemoryContextAllocZero(kept->context, sizeof(CsvResidentBatch) *
							   Max(csv_store_nbatches(kept->store), 1));
	kept->next = 0;
	find_columns(kept);
	csv_file_layout_set(kept->layout, csv_store_layout(kept->store)->nfields);
	find_columns(kept);			/* csv_file_layout_set() has changed their order */
	return true;
}

const CsvResidentBatch *
csv_kept_batch(const CsvKept *kept, uint32 number, CsvBatch *batch,
			   CsvArray *arrays)
{
	CsvResidentBatch *from = &kept->batches[number];

	if (number == csv_store_nbatches(kept->store))
		return NULL;
	if (from->batch.arrays == NULL &&
		!csv_store_batch(kept->store, number,
						 MemoryContextAlloc(kept->context, sizeof(CsvArray) *
											csv_store_layout(kept->store)->ncolumns),
						 from))
		elog(ERROR, "resident columns are not as they should be");
	*batch = from->batch;
	batch->arrays = arrays;
	for (int i = 0; i < kept->layout->ncolumns; i++)
		arrays[i] = from->batch.arrays[kept->places[i]];
	return from;
}

bool
csv_kept_next(CsvKept *kept, CsvBatch *batch)
{
	kept->batch = csv_kept_batch(kept, kept->next, batch, kept->arrays);
	if (kept->batch == NULL)
		return false;
	csv_store_pass(kept->store, kept->next++);
	return true;
}

/* ---- groups ---- */

/* makes a memory file of unknown classes; -1: no memory */
static int
make_grouping(const CsvKept *kept)
{
	Size		nbytes = grouping_bytes(kept);
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
map_grouping(const CsvKept *kept, CsvDescriptors *came)
{
	Size		nbytes = grouping_bytes(kept);
	void	   *bytes = MAP_FAILED;

	if (csv_memory_file_size(came->files[0], false) == (int64) nbytes)
		bytes = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED,
					 came->files[0], 0);
	csv_wire_close(came);
	return bytes == MAP_FAILED ? NULL : bytes;
}

void
csv_kept_find_grouping(CsvKept *kept, const CsvGroupingKey *keys, int nkeys)
{
	CsvGroupingMessage message;
	CsvDescriptors *offered = &kept->offered;
	CsvDescriptors came;
	CsvMessage	answer;

	drop_grouping(kept);
	if (nkeys > CSV_MOST_GROUPING_KEYS ||
		kept->connection != csv_service_connection())
		return;
	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_GROUPING;
	message.nkeys = (uint32) nkeys;
	message.set = kept->set;
	memcpy(message.keys, keys, sizeof(CsvGroupingKey) * nkeys);
	if (!csv_service_ask(&message, sizeof(message), NULL, &answer, &came))
		return;
	if (came.n == 0 && answer.done.count > 0 &&
		(offered->files[0] = make_grouping(kept)) >= 0)
	{
		bool		good;

		offered->n = 1;
		good = csv_service_ask(&message, sizeof(message), offered, &answer, &came);
		csv_wire_close(offered);
		if (!good)
			return;
	}
	if (came.n == 1)
		kept->grouping = map_grouping(kept, &came);
}

/* ---- keeping columns ---- */

bool
csv_kept_begin(CsvKept *kept, const CsvDialect *dialect)
{
	CsvMemory	memory = csv_context_memory(kept->context);

	if (!csv_service_connect(true) || !AcquireExternalFD())
		return false;
	kept->file = csv_memory_file_create("csv_gpu_fdw columns");
	if (kept->file < 0)
	{
		ReleaseExternalFD();
		return false;
	}
	/* the file's header may have changed the order of columns */
	set_columns(&kept->key.wanted, kept->layout);
	kept->connection = csv_service_connection();
	kept->writer = csv_store_begin(&memory, kept->file, dialect,
								   &kept->layout->layout);
	return kept->writer != NULL;
}

/* for csv_store_add() */
static bool
may_take(void *arg, uint64_t nbytes)
{
	CsvKept    *kept = arg;
	CsvRoomMessage message;
	CsvMessage	answer;

	if (kept->connection != csv_service_connection())
		return false;
	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_ROOM;
	message.before = kept->key.promised;
	message.nbytes = nbytes;
	message.read_bytes = csv_store_bytes_read(kept->writer);
	message.file_bytes = (uint64) kept->key.file.size - kept->key.stretch.from.offset;
	if (!csv_service_ask(&message, sizeof(message), NULL, &answer, NULL) ||
		answer.done.count == 0)
		return false;
	kept->key.promised = Max(kept->key.promised, nbytes);
	return true;
}

bool
csv_kept_add(CsvKept *kept, const CsvBatch *batch)
{
	if (csv_store_add(kept->writer, batch, may_take, kept))
		return true;
	csv_kept_leave(kept);
	return false;
}

/*
 * Sets the end of the columns.  False: they have no records, or the file is not the same
 * any more.
 */
static bool
end_stretch(CsvKept *kept, const CsvSource *source, const CsvFilePlace *to)
{
	CsvStretch *stretch = &kept->key.stretch;
	int			file = csv_source_file(source);
	const char *name = csv_source_name(source);
	CsvFileIdentity now;

	if (!kept->key.grows)
		return csv_source_identity(source, &now) && csv_same_file(&now, &kept->key.file);
	csv_source_check_same(source);
	stretch->to = *to;
	return to->offset > stretch->from.offset &&
		csv_fingerprint_first(file, name, to->offset, stretch->first) &&
		csv_fingerprint_last(file, name, to->offset, stretch->last);
}

void
csv_kept_finish(CsvKept *kept, const CsvSource *source, const CsvFilePlace *to)
{
	CsvDescriptors with = {2, {csv_source_file(source), kept->file}};
	CsvStoreSummary summary;
	CsvMessage	answer;

	/* if the file was changed while it was read, its version is unknown */
	if (end_stretch(kept, source, to) &&
		kept->connection == csv_service_connection() &&
		csv_store_finish(kept->writer, may_take, kept, &summary))
	{
		kept->key.nrows = summary.nrows;
		kept->key.has_bad_values = summary.has_bad_values;
		if (send_key(kept, CSV_MESSAGE_KEEP, &with, &answer, NULL))
			kept->key.promised = 0;
	}
	csv_kept_leave(kept);
}
