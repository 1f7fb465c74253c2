/*
 * lookup.c
 *		Rows of a scan that is repeated for other values of its parameters.
 *
 *	1. Rows are stored as tuples, one after another in blocks, in file order.
 *	   A tuple begins with a key, which has the row's hash and number.
 *	2. When all rows are there, the rows of each bucket are chained, in file order.
 *	3. If rows take too much memory, they are sorted by the keys, and written
 *	   to a temporary file, bucket after bucket.  A scan reads one bucket.
 *
 * Storing all rows takes longer than a scan that returns few of them.  It should
 * take little time beside the earlier scans, so it waits until these have read as much as
 * the whole file, and for some more scans if they are quick.
 * It does not report skipped records (csv_skipping_look_ahead): if there are any to
 * report, scans go on until one of them has reported them.
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "compat.h"
#include "scan/lookup.h"

/* bytes of a block of tuples */
#define BLOCK_BYTES		(32 * 1024)

/* bytes of a bucket in a file, about */
#define BUCKET_BYTES	4096

/* a column, and the value that it must be equal to */
typedef struct CsvLookupKey
{
	AttrNumber	attnum;
	ExprState  *value;
	Oid			collation;
	FmgrInfo	hash_column;
	FmgrInfo	hash_value;
} Key;

/* a row in memory; its tuple follows */
typedef struct CsvLookupRow
{
	struct CsvLookupRow *next;			/* of its bucket; before chaining: the row before it */
} Row;

#define ROW_BYTES		MAXALIGN(sizeof(Row))
#define ROW_TUPLE(row)	((MinimalTuple) ((char *) (row) + ROW_BYTES))

/* the hash in a tuple's key, which is its first attribute and never NULL */
static uint32
hash_of(MinimalTuple tuple)
{
	int64		key;

	memcpy(&key, (char *) tuple + tuple->t_hoff - MINIMAL_TUPLE_OFFSET,
		   sizeof(key));
	return (uint32) (key >> 31);
}

static void
init_key(Key *key, PlanState *parent, OpExpr *op, int side)
{
	Expr	   *column = list_nth(op->args, side);
	RegProcedure hashes[2];

	while (IsA(column, RelabelType))
		column = ((RelabelType *) column)->arg;
	key->attnum = castNode(Var, column)->varattno;
	key->value = ExecInitExpr(list_nth(op->args, 1 - side), parent);
	key->collation = op->inputcollid;
	if (!get_op_hash_functions(op->opno, &hashes[0], &hashes[1]))
		elog(ERROR, "could not find hash function for hash operator %u",
			 op->opno);
	fmgr_info(hashes[side], &key->hash_column);
	fmgr_info(hashes[1 - side], &key->hash_value);
}

/* tuples have no place for attributes that are always NULL */
static void
set_attributes(CsvLookup *lookup, TupleDesc row_desc, const Bitmapset *wanted)
{
	int			attnum = -1;
	TupleDesc	desc;

	lookup->row_natts = row_desc->natts;
	lookup->nwanted = bms_num_members(wanted);
	lookup->attnums = palloc(sizeof(AttrNumber) * (size_t) lookup->nwanted);
	desc = CreateTemplateTupleDesc(1 + lookup->nwanted);
	TupleDescInitEntry(desc, 1, NULL, INT8OID, -1, 0);
	for (int i = 0; i < lookup->nwanted; i++)
	{
		attnum = bms_next_member(wanted, attnum);
		lookup->attnums[i] = (AttrNumber) attnum;
		TupleDescCopyEntry(desc, (AttrNumber) (i + 2), row_desc,
						   (AttrNumber) attnum);
	}
	TupleDescFinalize(desc);
	lookup->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
}

CsvLookup *
csv_lookup_create(PlanState *parent, TupleDesc row_desc, const Bitmapset *wanted,
				  List *clauses, List *equalities)
{
	CsvLookup  *lookup = palloc0(sizeof(CsvLookup));
	ListCell   *cell;

	lookup->context = CurrentMemoryContext;
	lookup->econtext = parent->ps_ExprContext;
	set_attributes(lookup, row_desc, wanted);
	lookup->keys = palloc0(sizeof(Key) * list_length(equalities));
	foreach(cell, equalities)
	{
		OpExpr	   *op = list_nth_node(OpExpr, clauses,
									   CSV_EQUALITY_CLAUSE(lfirst_int(cell)));

		init_key(&lookup->keys[lookup->nkeys++], parent, op,
				 CSV_EQUALITY_SIDE(lfirst_int(cell)));
	}
	lookup->rows_context = AllocSetContextCreate(CurrentMemoryContext,
												 "csv_gpu_fdw rescans",
												 ALLOCSET_DEFAULT_SIZES);
	return lookup;
}

/* ---- hashes ---- */

/*
 * Hash a row, or (values NULL) the values that are looked for; false: a NULL is equal
 * to nothing.
 */
static bool
hash_keys(CsvLookup *lookup, const Datum *values, const bool *isnull, uint32 *hash)
{
	*hash = 0;
	for (int i = 0; i < lookup->nkeys; i++)
	{
		Key		   *key = &lookup->keys[i];
		FmgrInfo   *function = values != NULL ? &key->hash_column : &key->hash_value;
		bool		is_null = values != NULL && isnull[key->attnum - 1];
		Datum		datum = values != NULL ? values[key->attnum - 1] :
			ExecEvalExpr(key->value, lookup->econtext, &is_null);

		if (is_null)
			return false;
		datum = FunctionCall1Coll(function, key->collation, datum);
		*hash = hash_combine(*hash, DatumGetUInt32(datum));
	}
	*hash = murmurhash32(*hash);
	return true;
}

/* ---- rows in memory ---- */

static void
drop_rows(CsvLookup *lookup)
{
	MemoryContextReset(lookup->rows_context);
	lookup->last = NULL;
	lookup->room_bytes = 0;
	lookup->nrows = 0;
	lookup->buckets = NULL;
	lookup->starts = NULL;
	lookup->read = NULL;
	lookup->read_bytes = 0;
}

/* bytes of the rows, with buckets for them */
static size_t
memory_bytes(const CsvLookup *lookup)
{
	return MemoryContextMemAllocated(lookup->rows_context, false) +
		(lookup->buckets != NULL ? 0 :
		 pg_nextpower2_64(Max(lookup->nrows, 1)) * sizeof(Row *));
}

static void
note_memory(CsvLookup *lookup)
{
	lookup->most_bytes = Max(lookup->most_bytes, (int64) memory_bytes(lookup));
}

/* store a row; false if it is beyond the limit */
static bool
store_in_memory(CsvLookup *lookup, MinimalTuple tuple)
{
	size_t		nbytes = ROW_BYTES + MAXALIGN(tuple->t_len);
	Row		   *row;

	if (nbytes > lookup->room_bytes)
	{
		size_t		block_bytes = Max(nbytes, BLOCK_BYTES);

		if (memory_bytes(lookup) + block_bytes > get_hash_memory_limit())
			return false;
		lookup->room = MemoryContextAllocHuge(lookup->rows_context,
											  block_bytes);
		lookup->room_bytes = block_bytes;
	}
	row = (Row *) lookup->room;
	lookup->room += nbytes;
	lookup->room_bytes -= nbytes;
	row->next = lookup->last;
	memcpy(ROW_TUPLE(row), tuple, tuple->t_len);
	lookup->last = row;
	return true;
}

/* chain rows from the last to the first, so that chains are in file order */
static void
chain_rows(CsvLookup *lookup, int64 nbuckets)
{
	Row		   *row = lookup->last;

	lookup->nbuckets = (uint32)
		Min(pg_nextpower2_64(Max(nbuckets, 1)), UINT64CONST(1) << 31);
	lookup->buckets =
		MemoryContextAllocExtended(lookup->rows_context,
								   sizeof(Row *) * lookup->nbuckets,
								   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	while (row != NULL)
	{
		Row		   *before = row->next;
		Row		  **bucket = &lookup->buckets[hash_of(ROW_TUPLE(row)) &
											  (lookup->nbuckets - 1)];

		row->next = *bucket;
		*bucket = row;
		row = before;
	}
	lookup->last = NULL;
}

/* ---- rows in a file ---- */

static void
begin_sort(CsvLookup *lookup)
{
	MemoryContext outer = MemoryContextSwitchTo(lookup->context);
	AttrNumber	key = 1;
	Oid			less = Int8LessOperator;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;
	int			kilobytes = (int) Min(get_hash_memory_limit() / 1024, MAX_KILOBYTES);

	lookup->sort = tuplesort_begin_heap(lookup->slot->tts_tupleDescriptor, 1, &key,
										&less, &collation, &nulls_first,
										kilobytes, NULL, TUPLESORT_NONE);
	MemoryContextSwitchTo(outer);
}

static void
end_sort(CsvLookup *lookup)
{
	if (lookup->sort != NULL)
		tuplesort_end(lookup->sort);
	lookup->sort = NULL;
}

static void
sort_row(CsvLookup *lookup, MinimalTuple tuple)
{
	ExecStoreMinimalTuple(tuple, lookup->slot, false);
	tuplesort_puttupleslot(lookup->sort, lookup->slot);
	lookup->disk_bytes += tuple->t_len;
}

static void
move_to_sort(CsvLookup *lookup)
{
	int64		nrows = lookup->nrows;

	note_memory(lookup);
	begin_sort(lookup);
	for (Row *row = lookup->last; row != NULL; row = row->next)
	{
		CHECK_FOR_INTERRUPTS();
		sort_row(lookup, ROW_TUPLE(row));
	}
	drop_rows(lookup);
	lookup->nrows = nrows;
}

static uint32
bucket_of(const CsvLookup *lookup, uint32 hash)
{
	return (uint32) ((uint64) hash * lookup->nbuckets >> 32);
}

/* write the sorted rows, bucket after bucket */
static void
write_rows(CsvLookup *lookup)
{
	TupleTableSlot *slot = lookup->slot;
	/* the starts of buckets take at most a quarter of the memory */
	int64		memory = (int64) get_hash_memory_limit();
	int64		bucket_bytes = Max(BUCKET_BYTES, lookup->disk_bytes * 32 / memory);
	int64		offset = 0;
	uint32		nstarted = 0;
	MemoryContext outer = MemoryContextSwitchTo(lookup->context);

	tuplesort_performsort(lookup->sort);
	lookup->nbuckets = (uint32)
		Min(lookup->disk_bytes / bucket_bytes + 1, PG_INT32_MAX);
	lookup->starts = MemoryContextAllocHuge(lookup->rows_context, sizeof(int64) *
											((Size) lookup->nbuckets + 1));
	lookup->file = BufFileCreateTemp(false);
	MemoryContextSwitchTo(outer);
	while (tuplesort_gettupleslot(lookup->sort, true, false, slot, NULL))
	{
		bool		should_free;
		MinimalTuple tuple = ExecFetchSlotMinimalTuple(slot, &should_free);

		CHECK_FOR_INTERRUPTS();
		while (nstarted <= bucket_of(lookup, hash_of(tuple)))
			lookup->starts[nstarted++] = offset;
		BufFileWrite(lookup->file, tuple, tuple->t_len);
		offset += tuple->t_len;
	}
	while (nstarted <= lookup->nbuckets)
		lookup->starts[nstarted++] = offset;
	end_sort(lookup);
}

/* go to the bucket of the hash */
static void
seek_rows(CsvLookup *lookup)
{
	const int64 *start = &lookup->starts[bucket_of(lookup, lookup->hash)];

	lookup->left = start[1] - start[0];
	if (BufFileSeek(lookup->file, 0, start[0], SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file: %m")));
}

static void
read_bytes(BufFile *file, void *to, size_t nbytes)
{
	if (BufFileRead(file, to, nbytes) != nbytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from temporary file: %m")));
}

/* the next row of the bucket; NULL if none is left */
static MinimalTuple
read_row(CsvLookup *lookup)
{
	uint32		nbytes;

	if (lookup->left == 0)
		return NULL;
	CHECK_FOR_INTERRUPTS();
	/* a tuple begins with its length */
	read_bytes(lookup->file, &nbytes, sizeof(nbytes));
	if (nbytes > lookup->read_bytes)
	{
		if (lookup->read != NULL)
			pfree(lookup->read);
		lookup->read_bytes = 0;
		lookup->read = MemoryContextAllocHuge(lookup->rows_context, nbytes);
		lookup->read_bytes = nbytes;
	}
	lookup->read->t_len = nbytes;
	read_bytes(lookup->file, (char *) lookup->read + sizeof(nbytes),
			   nbytes - sizeof(nbytes));
	lookup->left -= nbytes;
	return lookup->read;
}

/* ---- store all rows ---- */

/* store a row; false if it does not fit */
static bool
store_row(CsvLookup *lookup, const Datum *values, const bool *isnull)
{
	TupleTableSlot *slot = lookup->slot;
	MinimalTuple tuple;
	uint32		hash;

	if (!hash_keys(lookup, values, isnull, &hash))
		return true;
	ExecClearTuple(slot);
	slot->tts_values[0] = Int64GetDatum((int64) hash << 31 |
										(lookup->nrows & PG_INT32_MAX));
	slot->tts_isnull[0] = false;
	for (int i = 0; i < lookup->nwanted; i++)
	{
		slot->tts_values[i + 1] = values[lookup->attnums[i] - 1];
		slot->tts_isnull[i + 1] = isnull[lookup->attnums[i] - 1];
	}
	tuple = csv_form_minimal_tuple(slot->tts_tupleDescriptor, slot->tts_values,
								   slot->tts_isnull);
	if (lookup->sort == NULL && !store_in_memory(lookup, tuple))
	{
		/* a limit is for what a query cannot do without */
		if (temp_file_limit >= 0)
			return false;
		move_to_sort(lookup);
	}
	if (lookup->sort != NULL)
		sort_row(lookup, tuple);
	lookup->nrows++;
	pfree(tuple);
	return true;
}

/* have all rows of the scan come out? */
static bool
is_complete(const CsvTableScan *scan)
{
	return scan->finished && !scan->stopped;
}

/*
 * store all rows; false if they do not fit, or if a skipped record is not
 * reported yet
 */
static bool
store_rows(CsvLookup *lookup, CsvTableScan *scan)
{
	Datum	   *values = palloc0(sizeof(Datum) * lookup->row_natts);
	bool	   *isnull = palloc(sizeof(bool) * lookup->row_natts);
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext,
													  "csv_gpu_fdw hashes",
													  ALLOCSET_SMALL_SIZES);
	MemoryContext outer = MemoryContextSwitchTo(row_context);
	bool		fits = true;

	/* attributes that are not wanted stay NULL */
	memset(isnull, true, lookup->row_natts);
	while (fits && csv_table_scan_next(scan, values, isnull))
	{
		CHECK_FOR_INTERRUPTS();
		fits = store_row(lookup, values, isnull);
		MemoryContextReset(row_context);
	}
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(row_context);
	pfree(values);
	pfree(isnull);
	if (!fits)
		lookup->state = CSV_LOOKUP_FAILED;
	else if (!is_complete(scan))
		lookup->awaits_end = true;
	return fits && is_complete(scan);
}

static void
fill(CsvLookup *lookup, CsvTableScan *scan)
{
	bool		filled;

	lookup->state = CSV_LOOKUP_FILLS;
	csv_table_scan_rewind(scan);
	csv_skipping_look_ahead(scan->skipping, true);
	filled = store_rows(lookup, scan);
	if (filled)
	{
		if (lookup->sort == NULL)
			chain_rows(lookup, lookup->nrows);
		else
			write_rows(lookup);
		note_memory(lookup);
		lookup->state = CSV_LOOKUP_READY;
		csv_batches_close_engine(scan->batches);
	}
	else
	{
		note_memory(lookup);
		drop_rows(lookup);
		end_sort(lookup);
		lookup->disk_bytes = 0;
		if (lookup->state == CSV_LOOKUP_FILLS)
			lookup->state = CSV_LOOKUP_WAITS;
		csv_table_scan_rewind(scan);
	}
	csv_skipping_look_ahead(scan->skipping, false);
}

/* have scans read enough, so that it is worth storing all rows? */
static bool
is_due(CsvLookup *lookup, const CsvTableScan *scan, int64 all_bytes)
{
	const CsvBatches *batches = scan->batches;
	bool		at_end = is_complete(scan);
	int64		size = csv_batches_certain_size(batches);
	CsvBatchesStatistics statistics = csv_batches_statistics(batches);

	/* a subquery's scan is restarted before it has begun */
	lookup->nbytes += statistics.bytes;
	lookup->nscans += at_end || statistics.bytes > 0;
	if (lookup->nbytes < all_bytes)
		return false;
	if (batches->all_resident && lookup->nscans < CSV_SCANS_OF_RESIDENT)
		return false;
	return at_end ||
		(!lookup->awaits_end && size > 0 && lookup->nbytes >= size);
}

bool
csv_lookup_rescan(CsvLookup *lookup, CsvTableScan *scan, int64 all_bytes)
{
	if (lookup->state == CSV_LOOKUP_WAITS && is_due(lookup, scan, all_bytes))
	{
		fill(lookup, scan);
		/* if that failed, wait until as much has been read again */
		if (all_bytes > 0)
			lookup->nbytes = 0;
	}
	lookup->has_hash = false;
	return lookup->state == CSV_LOOKUP_READY;
}

/* ---- rows come out ---- */

/* find the rows with the hash of the current parameters */
static void
look_up(CsvLookup *lookup)
{
	MemoryContext outer;
	bool		any;

	lookup->nlookups++;
	lookup->has_hash = true;
	lookup->next = NULL;
	lookup->left = 0;
	/* if there are no rows, do not evaluate the values */
	if (lookup->nrows == 0)
		return;
	outer = MemoryContextSwitchTo(lookup->econtext->ecxt_per_tuple_memory);
	any = hash_keys(lookup, NULL, NULL, &lookup->hash);
	MemoryContextSwitchTo(outer);
	if (!any)
		return;
	if (lookup->file == NULL)
		lookup->next = lookup->buckets[lookup->hash & (lookup->nbuckets - 1)];
	else
		seek_rows(lookup);
}

/* the next row, in memory or in the file, that may have the hash; NULL if there is none */
static MinimalTuple
next_row(CsvLookup *lookup)
{
	Row		   *row = lookup->next;

	if (row == NULL)
		return read_row(lookup);
	lookup->next = row->next;
	return ROW_TUPLE(row);
}

bool
csv_lookup_next(CsvLookup *lookup, Datum *values, bool *isnull)
{
	TupleTableSlot *slot = lookup->slot;
	MinimalTuple tuple;

	if (!lookup->has_hash)
		look_up(lookup);
	do
	{
		tuple = next_row(lookup);
		if (tuple == NULL)
			return false;
	} while (hash_of(tuple) != lookup->hash);
	ExecStoreMinimalTuple(tuple, slot, false);
	slot_getallattrs(slot);
	for (int i = 0; i < lookup->nwanted; i++)
	{
		values[lookup->attnums[i] - 1] = slot->tts_values[i + 1];
		isnull[lookup->attnums[i] - 1] = slot->tts_isnull[i + 1];
	}
	return true;
}

void
csv_lookup_end(CsvLookup *lookup)
{
	end_sort(lookup);
	if (lookup->file != NULL)
		BufFileClose(lookup->file);
	lookup->file = NULL;
	drop_rows(lookup);
}
