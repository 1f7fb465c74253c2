/*
 * duplicates.c
 *		Sorts the keys of rows, and looks them up in the target, before rows are inserted.
 *
 * An INSERT that finds a duplicate only in the index has written its row already.  Here
 * rows with duplicates are known before, so that nothing is written for them.  Whether
 * the target has a key is PostgreSQL's own check of ON CONFLICT, in the order of keys: most
 * neighbours are in the same page.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/nbtree.h"
#include "access/table.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "compat.h"
#include "load/duplicates.h"

/* ---- verdicts ---- */

struct CsvVerdicts
{
	Tuplesortstate *sort;
	TupleTableSlot *added;
	TupleTableSlot *slot;		/* of the next one */
	int64		place;			/* of the next one; PG_INT64_MAX: there is none */
	int			verdict;
};

CsvVerdicts *
csv_verdicts_create(void)
{
	CsvVerdicts *verdicts = palloc0(sizeof(CsvVerdicts));
	TupleDesc	tupdesc = CreateTemplateTupleDesc(2);
	AttrNumber	key = 1;
	Oid			less = Int8LessOperator;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;

	TupleDescInitEntry(tupdesc, 1, "place", INT8OID, -1, 0);
	TupleDescInitEntry(tupdesc, 2, "verdict", INT4OID, -1, 0);
	TupleDescFinalize(tupdesc);
	verdicts->added = MakeSingleTupleTableSlot(tupdesc, &TTSOpsVirtual);
	memset(verdicts->added->tts_isnull, false, sizeof(bool) * 2);
	verdicts->slot = MakeSingleTupleTableSlot(tupdesc, &TTSOpsMinimalTuple);
	verdicts->sort = tuplesort_begin_heap(tupdesc, 1, &key, &less, &collation, &nulls_first,
										  work_mem, NULL, TUPLESORT_RANDOMACCESS);
	return verdicts;
}

void
csv_verdicts_add(CsvVerdicts *verdicts, int64 place, int verdict)
{
	ExecClearTuple(verdicts->added);
	verdicts->added->tts_values[0] = Int64GetDatum(place);
	verdicts->added->tts_values[1] = Int32GetDatum(verdict);
	tuplesort_puttupleslot(verdicts->sort, ExecStoreVirtualTuple(verdicts->added));
}

static void
advance(CsvVerdicts *verdicts)
{
	TupleTableSlot *slot = verdicts->slot;

	verdicts->place = PG_INT64_MAX;
	if (!tuplesort_gettupleslot(verdicts->sort, true, false, slot, NULL))
		return;
	slot_getallattrs(slot);
	verdicts->place = DatumGetInt64(slot->tts_values[0]);
	verdicts->verdict = DatumGetInt32(slot->tts_values[1]);
}

void
csv_verdicts_end(CsvVerdicts *verdicts)
{
	tuplesort_performsort(verdicts->sort);
	advance(verdicts);
}

void
csv_verdicts_rewind(CsvVerdicts *verdicts)
{
	tuplesort_rescan(verdicts->sort);
	advance(verdicts);
}

int
csv_verdicts_at(CsvVerdicts *verdicts, int64 place)
{
	while (verdicts->place < place)
		advance(verdicts);
	return verdicts->place == place ? verdicts->verdict : CSV_INSERTED;
}

int64
csv_verdicts_free(const CsvVerdicts *verdicts, int64 place)
{
	return verdicts->place - place - 1;
}

/* ---- keys ---- */

struct CsvKeys
{
	Relation	index;
	int			nkeys;
	bool		nulls_differ;	/* a row with a NULL has no duplicate */
	FmgrInfo	compare[INDEX_MAX_KEYS];
	Tuplesortstate *sort;
	TupleTableSlot *slot;		/* of the sort: keys, and the place */

	/* to look keys up in the target */
	EState	   *estate;			/* of which the per-tuple memory is used */
	ResultRelInfo *target;		/* NULL: its rows do not count */
	TupleTableSlot *row;
};

/* the attributes that the argument "key" names */
static Bitmapset *
named_attributes(Relation target, ArrayType *columns)
{
	Bitmapset  *attnums = NULL;
	Datum	   *values;
	bool	   *isnull;
	int			n;

	deconstruct_array(columns, TEXTOID, -1, false, TYPALIGN_INT, &values, &isnull, &n);
	for (int i = 0; i < n; i++)
	{
		char	   *name = isnull[i] ? pstrdup("") : TextDatumGetCString(values[i]);
		AttrNumber	attnum = get_attnum(RelationGetRelid(target), name);

		if (attnum <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
							RelationGetRelationName(target))));
		attnums = bms_add_member(attnums, attnum);
	}
	return attnums;
}

/* the attributes of an index that can arbitrate, or NULL */
static Bitmapset *
attributes_of(Relation index)
{
	Form_pg_index form = index->rd_index;
	Bitmapset  *attnums = NULL;

	if (!form->indisunique || !form->indisvalid || !form->indimmediate ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL) ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return NULL;
	for (int i = 0; i < form->indnkeyatts; i++)
		attnums = bms_add_member(attnums, form->indkey.values[i]);
	return attnums;
}

Oid
csv_key_index(Relation target, ArrayType *columns, Bitmapset **attnums)
{
	Bitmapset  *named = columns == NULL ? NULL : named_attributes(target, columns);
	Oid			found = InvalidOid;
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(target))
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);

		*attnums = attributes_of(index);
		if (*attnums != NULL &&
			(columns == NULL ? index->rd_index->indisprimary : bms_equal(*attnums, named)))
			found = RelationGetRelid(index);
		index_close(index, NoLock);
		if (OidIsValid(found))
			return found;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
			 columns == NULL ?
			 errmsg("\"%s\" has no primary key that can tell duplicates",
					RelationGetRelationName(target)) :
			 errmsg("\"%s\" has no unique index on just the columns of \"key\"",
					RelationGetRelationName(target)),
			 errdetail("The index must be valid, not deferrable, and without WHERE and expressions.")));
}

CsvKeys *
csv_keys_begin(Relation target, Oid indexid, bool looks)
{
	CsvKeys    *keys = palloc0(sizeof(CsvKeys));
	Relation	index = index_open(indexid, RowExclusiveLock);
	int			n = IndexRelationGetNumberOfKeyAttributes(index);
	TupleDesc	tupdesc = CreateTemplateTupleDesc(n + 1);
	AttrNumber	attnums[INDEX_MAX_KEYS + 1];
	Oid			less[INDEX_MAX_KEYS + 1];
	Oid			collations[INDEX_MAX_KEYS + 1] = {InvalidOid};
	bool		nulls_first[INDEX_MAX_KEYS + 1] = {false};

	keys->index = index;
	keys->nkeys = n;
	keys->nulls_differ = !index->rd_index->indnullsnotdistinct;
	for (int i = 0; i < n; i++)
	{
		Oid			type = index->rd_opcintype[i];
		Oid			family = index->rd_opfamily[i];

		TupleDescCopyEntry(tupdesc, i + 1, RelationGetDescr(target),
						   index->rd_index->indkey.values[i]);
		attnums[i] = (AttrNumber) (i + 1);
		less[i] = get_opfamily_member(family, type, type, BTLessStrategyNumber);
		collations[i] = index->rd_indcollation[i];
		fmgr_info(get_opfamily_proc(family, type, type, BTORDER_PROC), &keys->compare[i]);
	}
	TupleDescInitEntry(tupdesc, n + 1, "place", INT8OID, -1, 0);
	TupleDescFinalize(tupdesc);
	attnums[n] = (AttrNumber) (n + 1);
	less[n] = Int8LessOperator;
	collations[n] = InvalidOid;
	keys->slot = MakeSingleTupleTableSlot(tupdesc, &TTSOpsVirtual);
	keys->sort = tuplesort_begin_heap(tupdesc, n + 1, attnums, less, collations, nulls_first,
									  maintenance_work_mem, NULL, TUPLESORT_NONE);
	keys->estate = CreateExecutorState();
	if (looks && RelationGetNumberOfBlocks(target) > 0)
	{
		keys->target = makeNode(ResultRelInfo);
		InitResultRelInfo(keys->target, target, 0, NULL, 0);
		ExecOpenIndices(keys->target, true);
		keys->row = MakeSingleTupleTableSlot(RelationGetDescr(target), &TTSOpsVirtual);
		memset(keys->row->tts_isnull, true, RelationGetNumberOfAttributes(target));
	}
	return keys;
}

void
csv_keys_add(CsvKeys *keys, TupleTableSlot *row, int64 place)
{
	TupleTableSlot *slot = keys->slot;

	ExecClearTuple(slot);
	for (int i = 0; i < keys->nkeys; i++)
	{
		int			att = keys->index->rd_index->indkey.values[i] - 1;

		if (row->tts_isnull[att] && keys->nulls_differ)
			return;
		slot->tts_values[i] = row->tts_values[att];
		slot->tts_isnull[i] = row->tts_isnull[att];
	}
	slot->tts_values[keys->nkeys] = Int64GetDatum(place);
	slot->tts_isnull[keys->nkeys] = false;
	tuplesort_puttupleslot(keys->sort, ExecStoreVirtualTuple(slot));
}

static bool
are_equal(CsvKeys *keys, TupleTableSlot *one, TupleTableSlot *other)
{
	for (int i = 0; i < keys->nkeys; i++)
	{
		if (one->tts_isnull[i] != other->tts_isnull[i])
			return false;
		if (!one->tts_isnull[i] &&
			DatumGetInt32(FunctionCall2Coll(&keys->compare[i],
											keys->index->rd_indcollation[i],
											one->tts_values[i], other->tts_values[i])) != 0)
			return false;
	}
	return true;
}

/* has the target a row with the key?  Waits for transactions that insert or delete it. */
static bool
target_has(CsvKeys *keys, TupleTableSlot *key)
{
	ItemPointerData conflict;

	if (keys->target == NULL)
		return false;
	ExecClearTuple(keys->row);
	for (int i = 0; i < keys->nkeys; i++)
	{
		int			att = keys->index->rd_index->indkey.values[i] - 1;

		keys->row->tts_values[att] = key->tts_values[i];
		keys->row->tts_isnull[att] = key->tts_isnull[i];
	}
	return !csv_check_index_constraints(keys->target, ExecStoreVirtualTuple(keys->row),
										keys->estate, &conflict,
										list_make1_oid(RelationGetRelid(keys->index)));
}

int64
csv_keys_end(CsvKeys *keys, bool last, int of_target, int of_file, CsvVerdicts *verdicts)
{
	TupleTableSlot *kept = MakeSingleTupleTableSlot(keys->slot->tts_tupleDescriptor,
													&TTSOpsMinimalTuple);
	TupleTableSlot *next = MakeSingleTupleTableSlot(keys->slot->tts_tupleDescriptor,
													&TTSOpsMinimalTuple);
	int			place = keys->nkeys;
	int64		nfound = 0;
	bool		any = true;

	tuplesort_performsort(keys->sort);
	while (any)
	{
		MemoryContext outer;
		bool		same;
		bool		is_found;

		CHECK_FOR_INTERRUPTS();
		/* a copy, since the sort may free the one before */
		any = tuplesort_gettupleslot(keys->sort, true, true, next, NULL);
		if (any)
			slot_getallattrs(next);
		ResetPerTupleExprContext(keys->estate);
		outer = MemoryContextSwitchTo(GetPerTupleMemoryContext(keys->estate));
		same = any && !TTS_EMPTY(kept) && are_equal(keys, kept, next);
		is_found = !same && !TTS_EMPTY(kept) && target_has(keys, kept);
		MemoryContextSwitchTo(outer);
		if (same && !last)
			csv_verdicts_add(verdicts, DatumGetInt64(next->tts_values[place]), of_file);
		else if (same)
			csv_verdicts_add(verdicts, DatumGetInt64(kept->tts_values[place]), of_file);
		else if (is_found)
			csv_verdicts_add(verdicts, DatumGetInt64(kept->tts_values[place]), of_target);
		nfound += is_found;
		if (!same || last)
		{
			TupleTableSlot *free = kept;

			kept = next;
			next = free;
		}
	}
	tuplesort_end(keys->sort);
	ExecDropSingleTupleTableSlot(kept);
	ExecDropSingleTupleTableSlot(next);
	ExecDropSingleTupleTableSlot(keys->slot);
	if (keys->target != NULL)
	{
		ExecDropSingleTupleTableSlot(keys->row);
		ExecCloseIndices(keys->target);
	}
	FreeExecutorState(keys->estate);
	index_close(keys->index, NoLock);
	return nfound;
}
