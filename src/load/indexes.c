/*
 * indexes.c
 *		Index entries after the rows.
 *
 * Indexes are built anew if the table's storage was made in this transaction.
 * No other process sees the table then, so the locks of a build make no process
 * wait, and it cannot deadlock with another load.
 *
 * Otherwise, entries wait in a sort for each index, which is PostgreSQL's own
 * sort for builds.  They go into the index in the order of keys: all that a
 * leaf page has room for at a time.  An entry that needs more than room goes in
 * by itself, as for any row: if it splits the page, or if its key is there, so
 * that uniqueness must be checked.
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/generic_xlog.h"
#include "access/itup.h"
#include "access/nbtree.h"
#include "access/transam.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodes.h"
#include "nodes/pg_list.h"
#include "optimizer/optimizer.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplesort.h"

#include "compat.h"
#include "load/indexes.h"
#include "plan/plan_state.h"

/* does a build call only functions that came with the server? */
static bool
is_plain(Relation index)
{
	int			nfunctions = IndexRelationGetNumberOfKeyAttributes(index) *
		index->rd_indam->amsupport;

	for (int i = 0; i < nfunctions; i++)
		if (index->rd_support[i] >= FirstNormalObjectId)
			return false;
	return heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL) &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);
}

/* how may this index get its entries? */
static CsvIndexing
indexing_of(Relation relation, Oid indexid, bool is_new)
{
	Relation	index = index_open(indexid, RowExclusiveLock);
	Form_pg_index form = index->rd_index;
	CsvIndexing indexing = CSV_INDEX_AT_ONCE;

	if (form->indisvalid && form->indisready && form->indislive &&
		form->indimmediate && !form->indisexclusion)
	{
		/*
		 * A cursor may use the index.  And a build runs as the table's owner,
		 * whose functions must not be called with another user's search_path.
		 */
		if (is_new && index->rd_refcnt == 1 &&
			(relation->rd_rel->relowner == GetUserId() || is_plain(index)))
			indexing = CSV_INDEX_BUILT;
		else if (index->rd_rel->relam == BTREE_AM_OID)
			indexing = CSV_INDEX_SORTED;
	}
	index_close(index, NoLock);
	return indexing;
}

/*
 * A volatile function in a check may look at the table through an index that
 * lacks rows.  Other functions do not see rows of this command.
 */
bool
csv_has_volatile_check(TupleDesc tupdesc)
{
	const TupleConstr *constraints = tupdesc->constr;

	for (int i = 0; constraints != NULL && i < constraints->num_check; i++)
		if (contain_volatile_functions(stringToNode(constraints->check[i].ccbin)))
			return true;
	for (int i = 0; i < tupdesc->natts; i++)
		if (!TupleDescAttr(tupdesc, i)->attisdropped &&
			csv_type_has(TupleDescAttr(tupdesc, i)->atttypid, NULL,
						 contain_volatile_functions))
			return true;
	return false;
}

static CsvIndexing
indexing_of_all(Relation relation, bool is_new)
{
	CsvIndexing indexing = CSV_INDEX_BUILT;
	List	   *indexes = RelationGetIndexList(relation);
	ListCell   *cell;

	foreach(cell, indexes)
		indexing = Min(indexing,
					   indexing_of(relation, lfirst_oid(cell), is_new));
	list_free(indexes);
	return indexing;
}

CsvIndexing
csv_indexes_choose(Relation relation, Relation source, int64 nbytes)
{
	bool		is_new = csv_storage_is_new(relation) &&
		nbytes >= (int64) RelationGetNumberOfBlocks(relation) * BLCKSZ;
	CsvIndexing indexing;

	if (nbytes < CSV_INDEX_LEAST_BYTES ||
		csv_has_volatile_check(RelationGetDescr(relation)) ||
		csv_has_volatile_check(RelationGetDescr(source)))
		return CSV_INDEX_AT_ONCE;
	indexing = indexing_of_all(relation, is_new);

	/* an index that can be built cannot always be sorted */
	if (indexing == CSV_INDEX_SORTED && is_new)
		indexing = indexing_of_all(relation, false);
	return indexing;
}

/* ---- built anew ---- */

void
csv_indexes_build(Relation relation)
{
	List	   *indexes = RelationGetIndexList(relation);
	ListCell   *cell;

	foreach(cell, indexes)
	{
		CHECK_FOR_INTERRUPTS();
		csv_reindex(lfirst_oid(cell), relation->rd_rel->relpersistence);
	}
	list_free(indexes);
}

/* ---- sorted ---- */

/*
 * if fewer entries come to a leaf page, its WAL is more than a record for each
 */
#define CSV_LEAF_ENTRIES	8

typedef struct IndexSort
{
	Relation	index;
	IndexInfo  *info;
	Tuplesortstate *sort;
	int64		nentries;
} IndexSort;

struct CsvIndexEntries
{
	Relation	relation;
	EState	   *estate;
	TupleTableSlot *slot;		/* for a row of a page */
	int			nsorts;
	IndexSort  *sorts;
};

CsvIndexEntries *
csv_index_entries_begin(ResultRelInfo *relation, EState *estate)
{
	CsvIndexEntries *entries = palloc0(sizeof(CsvIndexEntries));
	int			n = relation->ri_NumIndices;

	entries->relation = relation->ri_RelationDesc;
	entries->estate = estate;
	entries->slot = MakeSingleTupleTableSlot(RelationGetDescr(entries->relation),
											 &TTSOpsHeapTuple);
	entries->sorts = palloc0(sizeof(IndexSort) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		IndexSort  *sort = &entries->sorts[entries->nsorts];

		/* an index that is being created wants no entries yet */
		if (!relation->ri_IndexRelationInfo[i]->ii_ReadyForInserts)
			continue;
		entries->nsorts++;
		sort->index = relation->ri_IndexRelationDescs[i];
		sort->info = relation->ri_IndexRelationInfo[i];
		if (sort->info->ii_Predicate != NIL)
			sort->info->ii_PredicateState =
				ExecPrepareQual(sort->info->ii_Predicate, estate);
		sort->sort = tuplesort_begin_index_btree(entries->relation, sort->index,
												 false, false,
												 maintenance_work_mem / n, NULL,
												 TUPLESORT_NONE);
	}
	return entries;
}

void
csv_index_entries_add_row(CsvIndexEntries *entries, TupleTableSlot *slot)
{
	ExprContext *econtext = GetPerTupleExprContext(entries->estate);
	MemoryContext outer = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);

	econtext->ecxt_scantuple = slot;
	for (int i = 0; i < entries->nsorts; i++)
	{
		IndexSort  *sort = &entries->sorts[i];
		Datum		values[INDEX_MAX_KEYS];
		bool		isnull[INDEX_MAX_KEYS];

		if (sort->info->ii_Predicate != NIL &&
			!ExecQual(sort->info->ii_PredicateState, econtext))
			continue;
		FormIndexDatum(sort->info, slot, entries->estate, values, isnull);
		tuplesort_putindextuplevalues(sort->sort, sort->index, &slot->tts_tid,
									  values, isnull);
		sort->nentries++;
	}
	MemoryContextSwitchTo(outer);
	MemoryContextReset(econtext->ecxt_per_tuple_memory);
}

void
csv_index_entries_add(CsvIndexEntries *entries, Page page)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		ItemId		item = PageGetItemId(page, offset);
		HeapTupleData tuple;

		tuple.t_len = ItemIdGetLength(item);
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_self = tuple.t_data->t_ctid;
		tuple.t_tableOid = RelationGetRelid(entries->relation);
		ExecStoreHeapTuple(&tuple, entries->slot, false);
		csv_index_entries_add_row(entries, entries->slot);
		ExecClearTuple(entries->slot);
	}
}

/* insert an entry as for any row */
static void
insert_entry(const CsvIndexEntries *entries, const IndexSort *sort,
			 IndexTuple entry)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	index_deform_tuple(entry, RelationGetDescr(sort->index), values, isnull);
	index_insert(sort->index, values, isnull, &entry->t_tid, entries->relation,
				 sort->index->rd_index->indisunique ? UNIQUE_CHECK_YES :
				 UNIQUE_CHECK_NO,
				 false, sort->info);
}

/* a key for set_key() */
static BTScanInsert
make_key(Relation index)
{
	BTScanInsert key = _bt_mkscankey(index, NULL);

	/* a partitioned index has no pages */
	if (RELKIND_HAS_STORAGE(index->rd_rel->relkind))
		_bt_metaversion(index, &key->heapkeyspace, &key->allequalimage);
	key->keysz = IndexRelationGetNumberOfKeyAttributes(index);
	return key;
}

/*
 * Prepare a key for an entry.  Without scantid, an equal key is one that the
 * index must not have twice.
 */
static void
set_key(BTScanInsert key, Relation index, IndexTuple entry)
{
	bool		has_null = false;

	for (int i = 0; i < key->keysz; i++)
	{
		bool		isnull;

		key->scankeys[i].sk_argument = index_getattr(entry, i + 1,
													 RelationGetDescr(index), &isnull);
		key->scankeys[i].sk_flags &= ~SK_ISNULL;
		if (isnull)
			key->scankeys[i].sk_flags |= SK_ISNULL;
		has_null |= isnull;
	}
	key->scantid = index->rd_index->indisunique &&
		(!has_null || index->rd_index->indnullsnotdistinct) ? NULL :
		&entry->t_tid;
}

/*
 * The place of a key in a leaf page, from `low` on; 0 if the page is not the
 * key's, or if an equal key is there or may be in the next page.
 */
static OffsetNumber
find_place(Relation index, BTScanInsert key, Page page, OffsetNumber low)
{
	const OffsetNumber end = OffsetNumberNext(PageGetMaxOffsetNumber(page));
	const int	beyond = key->scantid == NULL ? 0 : 1;
	OffsetNumber high = end;
	int			step = 1;

	if (!P_RIGHTMOST(BTPageGetOpaque(page)) &&
		_bt_compare(index, key, page, P_HIKEY) >= beyond)
		return InvalidOffsetNumber;

	/* most places are close to the one before */
	while (low < high)
	{
		OffsetNumber middle = Min(low + step, high) - 1;
		int32		order = _bt_compare(index, key, page, middle);

		if (order == 0)
			return InvalidOffsetNumber;
		if (order < 0)
		{
			high = middle;
			step = Max((high - low) / 2, 1);
		}
		else
		{
			low = OffsetNumberNext(middle);
			step = high == end ? step * 2 : Max((high - low) / 2, 1);
		}
	}
	return low;
}

/*
 * Insert entries, *entry first, into the leaf page to which it belongs, as long
 * as they belong there and have room.  *entry is the first that does not; NULL:
 * there are no more. Returns false if there was none.
 */
static bool
fill_leaf(const CsvIndexEntries *entries, IndexSort *sort, BTScanInsert key,
		  IndexTuple *entry)
{
	OffsetNumber place;
	bool		any = false;
	Buffer		buffer;
	GenericXLogState *wal;
	Page		page;

	set_key(key, sort->index, *entry);
	csv_bt_search(sort->index, entries->relation, key, &buffer);
	CheckForSerializableConflictIn(sort->index, NULL,
								   BufferGetBlockNumber(buffer));
	wal = GenericXLogStart(sort->index);
	page = GenericXLogRegisterBuffer(wal, buffer, 0);
	place = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	while (*entry != NULL && !P_INCOMPLETE_SPLIT(BTPageGetOpaque(page)))
	{
		Size		size = IndexTupleSize(*entry);

		/* PostgreSQL refuses a large entry, or has more to do for it */
		if (size > BLCKSZ / 4 || PageGetFreeSpace(page) < size)
			break;
		if (any)
			set_key(key, sort->index, *entry);
		place = find_place(sort->index, key, page, place);
		if (place == InvalidOffsetNumber)
			break;
		if (PageAddItem(page, (char *) *entry, size, place, false, false) !=
			place)
			elog(ERROR, "could not add an entry to index \"%s\"",
				 RelationGetRelationName(sort->index));
		any = true;
		*entry = tuplesort_getindextuple(sort->sort, true);
	}
	if (any)
		(void) GenericXLogFinish(wal);
	else
		GenericXLogAbort(wal);
	_bt_relbuf(sort->index, buffer);
	return any;
}

static void
insert_sorted(const CsvIndexEntries *entries, IndexSort *sort)
{
	BTScanInsert key = make_key(sort->index);
	MemoryContext context = GetPerTupleMemoryContext(entries->estate);
	bool		by_pages = key->heapkeyspace &&
		sort->nentries / CSV_LEAF_ENTRIES >= RelationGetNumberOfBlocks(sort->index);
	IndexTuple	entry;

	tuplesort_performsort(sort->sort);
	entry = tuplesort_getindextuple(sort->sort, true);
	while (entry != NULL)
	{
		MemoryContext outer = MemoryContextSwitchTo(context);

		CHECK_FOR_INTERRUPTS();
		if (!by_pages || !fill_leaf(entries, sort, key, &entry))
		{
			insert_entry(entries, sort, entry);
			entry = tuplesort_getindextuple(sort->sort, true);
		}
		MemoryContextSwitchTo(outer);
		MemoryContextReset(context);
	}
	pfree(key);
	tuplesort_end(sort->sort);
}

void
csv_index_entries_end(CsvIndexEntries *entries)
{
	for (int i = 0; i < entries->nsorts; i++)
		insert_sorted(entries, &entries->sorts[i]);
	ExecDropSingleTupleTableSlot(entries->slot);
	entries->nsorts = 0;
}

/* ---- keys of rows that are not inserted yet ---- */

struct CsvIndexKeys
{
	Relation	relation;
	Relation	index;
	BTScanInsert key;
	Tuplesortstate *sort;
	IndexTuple	last;			/* the last new one; NULL: none yet */
	Buffer		buffer;			/* the leaf page of the last one, pinned */
	EState	   *estate;
	ResultRelInfo *opened;		/* NULL: keys were not looked up yet */
	TupleTableSlot *row;
};

CsvIndexKeys *
csv_index_keys_begin(Relation relation, Relation index)
{
	CsvIndexKeys *keys = palloc0(sizeof(CsvIndexKeys));

	keys->relation = relation;
	keys->index = index;
	keys->key = make_key(index);
	keys->estate = CreateExecutorState();
	keys->row = MakeSingleTupleTableSlot(RelationGetDescr(relation),
										 &TTSOpsVirtual);
	memset(keys->row->tts_isnull, true,
		   RelationGetNumberOfAttributes(relation));
	return keys;
}

void
csv_index_keys_add(CsvIndexKeys *keys, Datum *values, bool *isnull, int64 place)
{
	ItemPointerData tid;

	if (keys->sort == NULL)
		keys->sort = tuplesort_begin_index_btree(keys->relation, keys->index,
												 false, false,
												 maintenance_work_mem, NULL, TUPLESORT_NONE);
	/* equal keys are sorted by it */
	ItemPointerSet(&tid, (BlockNumber) (place >> 15),
				   (OffsetNumber) (place & 0x7FFF) + 1);
	tuplesort_putindextuplevalues(keys->sort, keys->index, &tid, values,
								  isnull);
}

static bool
are_equal(const CsvIndexKeys *keys, IndexTuple one, IndexTuple other)
{
	for (int i = 0; i < keys->key->keysz; i++)
	{
		ScanKey		column = &keys->key->scankeys[i];
		bool		nulls[2];
		Datum		first = index_getattr(one, i + 1,
										  RelationGetDescr(keys->index), &nulls[0]);
		Datum		second = index_getattr(other, i + 1,
										   RelationGetDescr(keys->index), &nulls[1]);

		if (nulls[0] != nulls[1] ||
			(!nulls[0] &&
			 DatumGetInt32(FunctionCall2Coll(&column->sk_func,
											 column->sk_collation,
											 first, second)) != 0))
			return false;
	}
	return true;
}

/*
 * May the index have the key?  If not, this is found in the leaf page of the
 * key before, or of this key.  A page that is pinned gives keys only to its
 * right neighbour.
 */
static bool
may_have(CsvIndexKeys *keys)
{
	for (bool is_found = false; !is_found;)
	{
		OffsetNumber place = InvalidOffsetNumber;
		Page		page;

		is_found = !BufferIsValid(keys->buffer);
		if (is_found)
			csv_bt_search(keys->index, keys->relation, keys->key,
						  &keys->buffer);
		else
			LockBuffer(keys->buffer, BT_READ);
		page = BufferGetPage(keys->buffer);
		if (!P_IGNORE(BTPageGetOpaque(page)))
			place = find_place(keys->index, keys->key, page,
							   P_FIRSTDATAKEY(BTPageGetOpaque(page)));
		LockBuffer(keys->buffer, BUFFER_LOCK_UNLOCK);
		if (place != InvalidOffsetNumber)
			return false;
		ReleaseBuffer(keys->buffer);
		keys->buffer = InvalidBuffer;
	}
	return true;
}

/* has a row of the relation the key?  As ON CONFLICT sees it. */
static bool
has_row(CsvIndexKeys *keys, IndexTuple entry)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	ItemPointerData conflict;

	if (keys->opened == NULL)
	{
		MemoryContext outer = MemoryContextSwitchTo(keys->estate->es_query_cxt);

		keys->opened = makeNode(ResultRelInfo);
		InitResultRelInfo(keys->opened, keys->relation, 0, NULL, 0);
		ExecOpenIndices(keys->opened, true);
		MemoryContextSwitchTo(outer);
	}
	index_deform_tuple(entry, RelationGetDescr(keys->index), values, isnull);
	ExecClearTuple(keys->row);
	for (int i = 0; i < keys->key->keysz; i++)
	{
		int			att = keys->index->rd_index->indkey.values[i] - 1;

		keys->row->tts_values[att] = values[i];
		keys->row->tts_isnull[att] = isnull[i];
	}
	return !csv_check_index_constraints(keys->opened,
										ExecStoreVirtualTuple(keys->row),
										keys->estate, &conflict,
										list_make1_oid(RelationGetRelid(keys->index)));
}

bool
csv_index_keys_next(CsvIndexKeys *keys, bool looks, int64 *place,
					CsvKeyMatch *match)
{
	MemoryContext outer;
	IndexTuple	entry;

	CHECK_FOR_INTERRUPTS();
	if (keys->sort != NULL && keys->last == NULL)
		tuplesort_performsort(keys->sort);
	entry = keys->sort == NULL ? NULL :
		tuplesort_getindextuple(keys->sort, true);
	if (entry == NULL)
		return false;
	*place = ((int64) ItemPointerGetBlockNumber(&entry->t_tid) << 15) +
		ItemPointerGetOffsetNumber(&entry->t_tid) - 1;
	ResetPerTupleExprContext(keys->estate);
	outer = MemoryContextSwitchTo(GetPerTupleMemoryContext(keys->estate));
	if (keys->last != NULL && are_equal(keys, keys->last, entry))
		*match = CSV_KEY_BEFORE;
	else
	{
		set_key(keys->key, keys->index, entry);
		*match = looks && may_have(keys) && has_row(keys, entry) ? CSV_KEY_HELD : CSV_KEY_NEW;
	}
	MemoryContextSwitchTo(outer);
	if (*match != CSV_KEY_BEFORE)
	{
		if (keys->last != NULL)
			pfree(keys->last);
		keys->last = CopyIndexTuple(entry);
	}
	return true;
}

void
csv_index_keys_end(CsvIndexKeys *keys)
{
	if (BufferIsValid(keys->buffer))
		ReleaseBuffer(keys->buffer);
	if (keys->sort != NULL)
		tuplesort_end(keys->sort);
	if (keys->opened != NULL)
		ExecCloseIndices(keys->opened);
	ExecDropSingleTupleTableSlot(keys->row);
	FreeExecutorState(keys->estate);
}
