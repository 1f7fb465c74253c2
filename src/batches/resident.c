/*
 * resident.c
 *		Keeps converted columns in the server's memory, and lists them.
 *
 * Sets of columns are in one list, the one used last in front, and those of a
 * file in a shorter one, by a hash of its name: a table may have many files.
 * Each set has a memory context, and each batch is one piece of it, so that what
 * is counted is what was allocated.
 *
 * When does a set answer a query?  Which records are bad depends on the columns
 * that are looked at.  But where no value was bad, any of the columns give the
 * same rows and errors as all of them; otherwise, it takes the same columns.
 */
#include "postgres.h"

#include <limits.h>
#include <time.h>
#include <unistd.h>

#include "access/parallel.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "nodes/value.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "batches/device_copy.h"
#include "batches/resident.h"
#include "query/query.h"

/* arrays begin at multiples of a cache line */
#define CSV_ALIGNMENT	64

/* 'auto': this part of the machine's memory */
#define CSV_AUTO_SHARE	8

typedef struct BatchNode
{
	CsvResidentBatch resident;	/* first, as what is handed out */
	struct BatchNode *next;
} BatchNode;

/*
 * So many groupings of one set of columns at most; they go with it, and not
 * before, for a scan may be at work on one.
 */
#define CSV_MOST_GROUPINGS	8

typedef struct KeptGrouping
{
	CsvResidentGrouping grouping;
	int			nkeys;
	CsvGroupingKey *keys;
} KeptGrouping;

struct CsvResident
{
	dlist_node	node;			/* of residents, when kept, */
	dlist_node	file_node;		/* and of sets_of_file() */
	MemoryContext context;
	CsvResidentKey key;
	CsvLayout	layout;			/* see csv_resident_layout() */
	CsvDialect	dialect;
	bool		bad_values;		/* some record was bad for a column's value */
	BatchNode  *first;
	BatchNode  *last;
	int64		nrows;
	int64		read_bytes;		/* of the file, that batches were made of */
	int64		nbytes;			/* of memory */
	KeptGrouping groupings[CSV_MOST_GROUPINGS];
	int			ngroupings;
	void	   *gpu;			/* see csv_resident_gpu() */
	int			npins;
	bool		kept;			/* is in the list */
	TimestampTz last_used;

	/* while batches are added */
	CsvMemory	memory;
	CsvScan		record;
};

static dlist_head residents = DLIST_STATIC_INIT(residents);

#define CSV_FILE_LISTS	4096	/* a power of two */
static dlist_head file_lists[CSV_FILE_LISTS];
static int64 resident_limit = 0;
static int64 resident_bytes = 0;	/* of all there are, kept or not */

/* ---- letting go ---- */

static void
free_resident(CsvResident *resident)
{
	resident_bytes -= resident->nbytes;
	csv_device_copy_free(resident->gpu);
	MemoryContextDelete(resident->context);
}

/* the list of a file's sets, and of some other files' */
static dlist_head *
sets_of_file(const CsvResidentKey *key)
{
	uint32		hash = hash_bytes((const unsigned char *) key->filename,
								  (int) strlen(key->filename));

	return &file_lists[hash % CSV_FILE_LISTS];
}

/* out of the lists; whoever has pinned it frees it */
static void
drop_resident(CsvResident *resident)
{
	dlist_delete(&resident->node);
	dlist_delete(&resident->file_node);
	resident->kept = false;
	if (resident->npins == 0)
		free_resident(resident);
}

void
csv_resident_release(CsvResident *resident)
{
	resident->npins--;
	if (resident->npins == 0 && !resident->kept)
		free_resident(resident);
}

/* down to this much memory, as far as nobody is at work on it */
static void
shrink_to(int64 limit)
{
	dlist_node *node = residents.head.prev;

	while (resident_bytes > limit && node != NULL && node != &residents.head)
	{
		CsvResident *resident = dlist_container(CsvResident, node, node);

		node = node->prev;
		if (resident->npins == 0)
			drop_resident(resident);
	}
}

/* ---- the setting ---- */

/* bytes; -1 if it is not a value of the setting */
static int64
parse_limit(const char *value, const char **hint)
{
	int			megabytes;

	if (pg_strcasecmp(value, "off") == 0)
		return 0;
	if (pg_strcasecmp(value, "auto") == 0)
	{
		long		npages = sysconf(_SC_PHYS_PAGES);
		long		page = sysconf(_SC_PAGESIZE);

		return npages > 0 && page > 0 ?
			(int64) npages / CSV_AUTO_SHARE * page : 0;
	}
	if (!parse_int(value, &megabytes, GUC_UNIT_MB, hint) || megabytes < 0)
		return -1;
	return (int64) megabytes * 1024 * 1024;
}

bool
csv_resident_memory_check(char **value, void **extra, GucSource source)
{
	const char *hint = NULL;

	if (parse_limit(*value, &hint) >= 0)
		return true;
	GUC_check_errdetail("It is \"off\", \"auto\", or an amount of memory, in megabytes unless it has a unit.");
	if (hint != NULL)
		GUC_check_errhint("%s", _(hint));
	return false;
}

void
csv_resident_memory_assign(const char *value, void *extra)
{
	const char *hint;

	resident_limit = Max(parse_limit(value, &hint), 0);
	shrink_to(resident_limit);
}

bool
csv_resident_enabled(void)
{
	/* a worker's memory is gone with the query */
	return resident_limit > 0 && !IsParallelWorker();
}

/* ---- finding ---- */

static bool
has_column(const CsvResidentKey *key, const CsvResidentColumn *column)
{
	for (int i = 0; i < key->ncolumns; i++)
		if (key->columns[i].attnum == column->attnum)
			return key->columns[i].decimal || !column->decimal;
	return false;
}

/* does the set answer all that the query asks? */
static bool
answers(const CsvResident *resident, const CsvResidentKey *query)
{
	const CsvResidentKey *key = &resident->key;

	if (key->relid != query->relid || !csv_same_file(&key->file, &query->file) ||
		strcmp(key->filename, query->filename) != 0 ||
		key->meaning_bytes != query->meaning_bytes ||
		memcmp(key->meaning, query->meaning, key->meaning_bytes) != 0 ||
		(query->positions && !key->positions) ||
		(resident->bad_values && key->ncolumns != query->ncolumns))
		return false;
	for (int i = 0; i < query->ncolumns; i++)
		if (!has_column(key, &query->columns[i]))
			return false;
	return true;
}

CsvResident *
csv_resident_find(const CsvResidentKey *key)
{
	dlist_mutable_iter iter;
	CsvResident *found = NULL;

	dlist_foreach_modify(iter, sets_of_file(key))
	{
		CsvResident *resident = dlist_container(CsvResident, file_node,
												iter.cur);

		if (found == NULL && answers(resident, key))
			found = resident;
		else if (resident->key.relid == key->relid &&
				 !csv_same_file(&resident->key.file, &key->file) &&
				 strcmp(resident->key.filename, key->filename) == 0)
			drop_resident(resident);
	}
	if (found == NULL)
		return NULL;
	found->npins++;
	found->last_used = GetCurrentTimestamp();
	dlist_move_head(&residents, &found->node);
	return found;
}

bool
csv_resident_exists(const CsvResidentKey *key, int64 *nrows)
{
	dlist_iter	iter;

	dlist_foreach(iter, sets_of_file(key))
	{
		CsvResident *resident = dlist_container(CsvResident, file_node,
												iter.cur);

		if (answers(resident, key))
		{
			*nrows = resident->nrows;
			return true;
		}
	}
	return false;
}

const CsvLayout *
csv_resident_layout(const CsvResident *resident)
{
	return &resident->layout;
}

const CsvDialect *
csv_resident_dialect(const CsvResident *resident)
{
	return &resident->dialect;
}

int64
csv_resident_nrows(const CsvResident *resident)
{
	return resident->nrows;
}

int64
csv_resident_file_size(const CsvResident *resident)
{
	return resident->key.file.size;
}

void **
csv_resident_gpu(CsvResident *resident)
{
	return &resident->gpu;
}

const CsvResidentBatch *
csv_resident_batch(const CsvResident *resident,
				   const CsvResidentBatch *previous)
{
	const BatchNode *node = previous == NULL ? resident->first :
		((const BatchNode *) previous)->next;

	return node == NULL ? NULL : &node->resident;
}

/* ---- keeping ---- */

static void *
record_alloc(void *owner, size_t nbytes)
{
	return MemoryContextAllocExtended(owner, nbytes,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
}

static void
record_free(void *owner, void *memory)
{
	pfree(memory);
}

static void
count_memory(CsvResident *resident)
{
	int64		nbytes = (int64) MemoryContextMemAllocated(resident->context,
														   true);

	resident_bytes += nbytes - resident->nbytes;
	resident->nbytes = nbytes;
}

/* in the current memory context */
static void *
copy_bytes(const void *bytes, size_t nbytes)
{
	return memcpy(palloc(nbytes), bytes, nbytes);
}

CsvResident *
csv_resident_begin(const CsvResidentKey *key, const CsvDialect *dialect,
				   const CsvLayout *layout)
{
	MemoryContext context;
	MemoryContext outer;
	CsvResident *resident;

	context = AllocSetContextCreate(CurrentMemoryContext,
									"csv_gpu_fdw resident",
									ALLOCSET_SMALL_SIZES);
	outer = MemoryContextSwitchTo(context);
	resident = palloc0(sizeof(CsvResident));
	resident->context = context;
	resident->key = *key;
	resident->key.filename = pstrdup(key->filename);
	resident->key.meaning = copy_bytes(key->meaning, key->meaning_bytes);
	resident->key.columns = copy_bytes(key->columns,
									   sizeof(CsvResidentColumn) *
									   key->ncolumns);
	resident->layout.columns = copy_bytes(layout->columns, sizeof(CsvColumn) *
										  layout->ncolumns);
	MemoryContextSwitchTo(outer);

	/* no ERROR can come any more */
	MemoryContextSetParent(context, TopMemoryContext);
	resident->layout.nfields = layout->nfields;
	resident->layout.ncolumns = layout->ncolumns;
	resident->dialect = *dialect;
	resident->memory.alloc = record_alloc;
	resident->memory.free = record_free;
	resident->memory.owner = context;
	resident->npins = 1;
	count_memory(resident);
	shrink_to(resident_limit);
	if (resident_bytes > resident_limit)
	{
		csv_resident_release(resident);
		return NULL;
	}
	return resident;
}

/*
 * Is there room for so many bytes more?  Others go for it, unless what was read
 * so far tells that the file is too large anyway.
 */
static bool
make_room(CsvResident *resident, int64 nbytes)
{
	int64		whole = resident->nbytes + nbytes;

	if (whole > resident_limit)
		return false;
	if (resident_bytes + nbytes <= resident_limit)
		return true;
	if ((double) whole / (double) Max(resident->read_bytes, 1) *
		(double) resident->key.file.size > (double) resident_limit)
		return false;
	shrink_to(resident_limit - nbytes);
	return resident_bytes + nbytes <= resident_limit;
}

/* a place in the piece of memory that a batch is copied to */
static size_t
reserve(size_t *size, size_t nbytes)
{
	size_t		place = *size;

	*size = TYPEALIGN(CSV_ALIGNMENT, place + nbytes);
	return place;
}

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
 * Bytes of the record at this offset, with its boundary; 0 if there is no
 * memory.  It has no quoting error.
 */
static uint64_t
record_length(CsvResident *resident, const CsvBatch *batch, uint64_t offset)
{
	if (csv_scan_record(&resident->record, &resident->memory,
						&resident->dialect, CSV_NORMAL, batch->bytes, offset,
						batch->consumed, true) != CSV_OK)
		return 0;
	return resident->record.next - offset;
}

/*
 * Copy the bytes of the records that may be looked into, in the order of the
 * file: the last one may have no boundary, and ends with the bytes.  A zero
 * byte stands before each, so that none sees the one before.  With copy NULL
 * only their number is found.  False if there is no memory.
 */
static bool
copy_records(CsvResident *resident, const CsvBatch *batch,
			 CsvResidentBatch *copy, uint8_t *to, uint64_t *nbytes)
{
	uint32_t	ncolumns = (uint32_t) resident->key.ncolumns;
	uint32_t	error = 0;
	uint32_t	row = 0;
	bool		any_slow = false;

	for (uint32_t i = 0; i < ncolumns; i++)
		any_slow |= batch->arrays[i].any_slow;
	*nbytes = 0;
	while (error < batch->nerrors || (any_slow && row < batch->nrows))
	{
		bool		is_error = error < batch->nerrors &&
			(!any_slow || batch->errors[error].before_row <= row);
		bool		looked_into = is_error ?
			batch->errors[error].code > CSV_ERROR_COLUMN_COUNT :
			is_slow_row(batch, ncolumns, row);

		if (looked_into)
		{
			uint64_t	offset = is_error ? batch->errors[error].offset :
				batch->row_offsets[row];
			uint64_t	length = record_length(resident, batch, offset);

			if (length == 0)
				return false;
			if (copy != NULL)
			{
				to[*nbytes] = 0;
				memcpy(to + *nbytes + 1, batch->bytes + offset, length);
				if (is_error)
					copy->batch.errors[error].offset = *nbytes + 1;
				else
					copy->batch.row_offsets[row] = (uint32_t) (*nbytes + 1);
			}
			*nbytes += 1 + length;
		}
		if (is_error)
			error++;
		else
			row++;
	}
	return true;
}

bool
csv_resident_add(CsvResident *resident, const CsvBatch *batch)
{
	uint32_t	ncolumns = (uint32_t) resident->key.ncolumns;
	size_t		nrows = batch->nrows;
	size_t		size = 0;
	size_t		node_place = reserve(&size, sizeof(BatchNode));
	size_t		arrays_place = reserve(&size, sizeof(CsvArray) * ncolumns);
	size_t		values_place = size;
	size_t		lines_place = 0;
	size_t		offsets_place = 0;
	size_t		places_place = 0;
	size_t		errors_place;
	size_t		error_places_place;
	size_t		bytes_place;
	uint64_t	nbytes;
	uint8_t    *piece;
	BatchNode  *node;
	CsvBatch   *copy;
	uint64_t   *error_places;

	resident->read_bytes += (int64) batch->consumed;
	if (batch->nrecords == 0)
		return true;
	if (!copy_records(resident, batch, NULL, NULL, &nbytes) || nbytes > UINT32_MAX)
		return false;
	for (uint32_t i = 0; i < ncolumns; i++)
	{
		(void) reserve(&size, nrows * batch->arrays[i].stride);
		if (!batch->arrays[i].all_ok)
			(void) reserve(&size, nrows);
	}
	if (batch->row_offsets != NULL)
	{
		lines_place = reserve(&size, sizeof(uint32_t) * nrows);
		places_place = reserve(&size, sizeof(uint32_t) * nrows);
		if (nbytes > 0)
			offsets_place = reserve(&size, sizeof(uint32_t) * nrows);
	}
	errors_place = reserve(&size, sizeof(CsvError) * batch->nerrors);
	error_places_place = reserve(&size, sizeof(uint64_t) * batch->nerrors);
	bytes_place = reserve(&size, nbytes + 1);

	/* the piece begins where it can, not where it should */
	size += CSV_ALIGNMENT;
	count_memory(resident);
	if (!make_room(resident, (int64) size + ALLOCSET_SMALL_MAXSIZE))
		return false;
	piece = MemoryContextAllocExtended(resident->context, size,
									   MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
	count_memory(resident);
	if (piece == NULL)
		return false;
	piece = (uint8_t *) TYPEALIGN(CSV_ALIGNMENT, piece);

	node = (BatchNode *) (piece + node_place);
	memset(node, 0, sizeof(*node));
	copy = &node->resident.batch;
	copy->nrows = batch->nrows;
	copy->nrecords = batch->nrecords;
	copy->nerrors = batch->nerrors;
	copy->nlines = batch->nlines;
	copy->file_offset = batch->file_offset;
	copy->file_records = batch->file_records;
	copy->file_lines = batch->file_lines;
	copy->arrays = (CsvArray *) (piece + arrays_place);
	for (uint32_t i = 0; i < ncolumns; i++)
	{
		const CsvArray *array = &batch->arrays[i];

		copy->arrays[i] = *array;
		copy->arrays[i].status = NULL;
		copy->arrays[i].values = piece +
			reserve(&values_place, nrows * array->stride);
		memcpy(copy->arrays[i].values, array->values, nrows * array->stride);
		if (array->all_ok)
			continue;
		copy->arrays[i].status = piece + reserve(&values_place, nrows);
		memcpy(copy->arrays[i].status, array->status, nrows);
	}
	if (batch->row_offsets != NULL)
	{
		copy->row_lines = (uint32_t *) (piece + lines_place);
		memcpy(copy->row_lines, batch->row_lines, sizeof(uint32_t) * nrows);
		node->resident.row_places = (uint32_t *) (piece + places_place);
		memcpy(piece + places_place, batch->row_offsets,
			   sizeof(uint32_t) * nrows);
		if (nbytes > 0)
		{
			copy->row_offsets = (uint32_t *) (piece + offsets_place);
			memset(copy->row_offsets, 0, sizeof(uint32_t) * nrows);
		}
	}
	node->resident.first_row = resident->nrows;
	copy->errors = (CsvError *) (piece + errors_place);
	error_places = (uint64_t *) (piece + error_places_place);
	node->resident.error_places = error_places;
	for (uint32_t i = 0; i < batch->nerrors; i++)
	{
		copy->errors[i] = batch->errors[i];
		copy->errors[i].offset = 0;
		error_places[i] = batch->errors[i].offset;
		resident->bad_values |= batch->errors[i].code > CSV_ERROR_COLUMN_COUNT;
	}
	copy->bytes = piece + bytes_place;
	if (!copy_records(resident, batch, &node->resident, piece + bytes_place,
					  &nbytes))
		return false;
	copy->nbytes = nbytes;
	copy->consumed = nbytes;

	if (resident->last != NULL)
		resident->last->next = node;
	else
		resident->first = node;
	resident->last = node;
	resident->nrows += batch->nrows;
	return true;
}

void
csv_resident_keep(CsvResident *resident)
{
	dlist_mutable_iter iter;

	if (resident->record.separators != NULL)
		pfree(resident->record.separators);
	memset(&resident->record, 0, sizeof(resident->record));
	count_memory(resident);

	/* others that it can stand for */
	dlist_foreach_modify(iter, sets_of_file(&resident->key))
	{
		CsvResident *other = dlist_container(CsvResident, file_node, iter.cur);

		if (answers(resident, &other->key))
			drop_resident(other);
	}
	dlist_push_head(&residents, &resident->node);
	dlist_push_head(sets_of_file(&resident->key), &resident->file_node);
	resident->kept = true;
	resident->last_used = GetCurrentTimestamp();

	/* the setting may have changed meanwhile */
	if (resident_bytes > resident_limit)
		drop_resident(resident);
}

static bool
is_grouping_by(const KeptGrouping *grouping, const CsvGroupingKey *keys, int nkeys)
{
	if (grouping->nkeys != nkeys)
		return false;
	for (int i = 0; i < nkeys; i++)
		if (grouping->keys[i].attnum != keys[i].attnum ||
			grouping->keys[i].trim != keys[i].trim)
			return false;
	return true;
}

CsvResidentGrouping *
csv_resident_grouping(CsvResident *resident, const CsvGroupingKey *keys,
					  int nkeys)
{
	size_t		key_bytes = sizeof(CsvGroupingKey) * nkeys;
	size_t		nbytes = sizeof(uint32_t) * (size_t) Max(resident->nrows, 1);
	KeptGrouping *grouping;
	uint32_t   *classes;
	CsvGroupingKey *copy;

	for (int i = 0; i < resident->ngroupings; i++)
		if (is_grouping_by(&resident->groupings[i], keys, nkeys))
			return &resident->groupings[i].grouping;
	if (resident->ngroupings == CSV_MOST_GROUPINGS ||
		!make_room(resident, (int64) (nbytes + key_bytes) +
				   2 * ALLOCSET_SMALL_MAXSIZE))
		return NULL;
	copy = MemoryContextAllocExtended(resident->context, key_bytes,
									  MCXT_ALLOC_NO_OOM);
	classes = MemoryContextAllocExtended(resident->context, nbytes,
										 MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
	count_memory(resident);
	if (copy == NULL || classes == NULL)
		return NULL;
	memcpy(copy, keys, key_bytes);
	memset(classes, 0xff, nbytes);
	grouping = &resident->groupings[resident->ngroupings++];
	grouping->nkeys = nkeys;
	grouping->keys = copy;
	grouping->grouping.classes = classes;
	grouping->grouping.nclasses = 0;
	return &grouping->grouping;
}

/* ---- SQL ---- */

static const char *
column_name(const CsvResident *resident, AttrNumber attnum)
{
	const char *name = get_attname(resident->key.relid, attnum, true);

	return name != NULL ? name : "";
}

static Datum
text_array(Datum *texts, int n)
{
	return PointerGetDatum(construct_array(texts, n, TEXTOID, -1, false,
										   TYPALIGN_INT));
}

static Datum
column_names(const CsvResident *resident)
{
	int			n = resident->key.ncolumns;
	Datum	   *names = palloc(sizeof(Datum) * Max(n, 1));

	for (int i = 0; i < n; i++)
		names[i] = CStringGetTextDatum(column_name(resident,
												   resident->key.columns[i].attnum));
	return text_array(names, n);
}

/* a list of columns, as in a GROUP BY, if it is not among the names */
static List *
add_grouping(List *names, const CsvResident *resident,
			 const AttrNumber *attnums, int n)
{
	StringInfoData name;

	initStringInfo(&name);
	for (int i = 0; i < n; i++)
		appendStringInfo(&name, "%s%s", i > 0 ? ", " : "",
						 quote_identifier(column_name(resident, attnums[i])));
	return list_append_unique(names, makeString(name.data));
}

/* those in the server's memory, and others on the device */
static Datum
grouping_names(const CsvResident *resident)
{
	List	   *names = NIL;
	AttrNumber	attnums[CSV_MAX_KEYS];
	uint32_t	places[CSV_MAX_KEYS];
	Datum	   *texts;
	ListCell   *cell;
	int			n;

	for (int i = 0; i < resident->ngroupings; i++)
	{
		const KeptGrouping *grouping = &resident->groupings[i];

		for (int k = 0; k < grouping->nkeys; k++)
			attnums[k] = grouping->keys[k].attnum;
		names = add_grouping(names, resident, attnums, grouping->nkeys);
	}
	for (int i = 0; (n = csv_device_copy_grouping(resident->gpu, i,
												  places)) > 0; i++)
	{
		for (int k = 0; k < n; k++)
			attnums[k] = resident->key.columns[places[k]].attnum;
		names = add_grouping(names, resident, attnums, n);
	}
	texts = palloc(sizeof(Datum) * Max(list_length(names), 1));
	n = 0;
	foreach(cell, names)
		texts[n++] = CStringGetTextDatum(strVal(lfirst(cell)));
	return text_array(texts, n);
}

PG_FUNCTION_INFO_V1(csv_gpu_resident);

/*
 * A row for each file and set of columns, the one used last first.  Of tables
 * that the user may read; what is held of dropped ones goes.
 */
Datum
csv_gpu_resident(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	dlist_mutable_iter iter;

	InitMaterializedSRF(fcinfo, 0);
	dlist_foreach_modify(iter, &residents)
	{
		CsvResident *resident = dlist_container(CsvResident, node, iter.cur);
		const CsvResidentKey *key = &resident->key;
		Datum		values[8];
		bool		nulls[8] = {false};
		bool		is_missing = false;
		AclResult	allowed = pg_class_aclcheck_ext(key->relid, GetUserId(),
													ACL_SELECT, &is_missing);

		if (is_missing)
			drop_resident(resident);
		if (is_missing || allowed != ACLCHECK_OK)
			continue;
		values[0] = CStringGetTextDatum(key->filename);
		values[1] = ObjectIdGetDatum(key->relid);
		values[2] = column_names(resident);
		values[3] = Int64GetDatum(resident->nrows);
		values[4] = Int64GetDatum(resident->nbytes);
		values[5] = CStringGetTextDatum(csv_device_copy_exists(resident->gpu) ?
										"host, device" : "host");
		values[6] = TimestampTzGetDatum(resident->last_used);
		values[7] = grouping_names(resident);
		tuplestore_putvalues(result->setResult, result->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(csv_gpu_forget);

/* how many files and sets of columns the session has let go of */
Datum
csv_gpu_forget(PG_FUNCTION_ARGS)
{
	dlist_mutable_iter iter;
	int32		n = 0;

	dlist_foreach_modify(iter, &residents)
	{
		drop_resident(dlist_container(CsvResident, node, iter.cur));
		n++;
	}
	PG_RETURN_INT32(n);
}
