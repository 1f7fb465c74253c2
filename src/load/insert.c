/*
 * insert.c
 *		Inserts rows into a relation as COPY FROM does.
 *
 * A row goes in in one of three ways, the fastest first:
 *
 *	- By pages (heap_pages.c), if no trigger needs the row, and no index does, unless
 *	  index entries can come after all rows (indexes.c).
 *	- By buffers: rows wait in slots of the relation they are routed to, and go
 *	  through table_multi_insert() many at a time.  Index entries and AFTER
 *	  triggers follow, row by row.  Foreign tables get them in batches, if their
 *	  wrapper takes batches.
 *	- One by one, if something might look at the rows before: BEFORE and
 *	  INSTEAD OF triggers, volatile defaults.  Also for foreign tables of other
 *	  wrappers, and for transition tables of partitioned tables, which capture
 *	  rows in their order.
 *
 * Except for pages, the choice is COPY's.  If a row does not go by pages because it
 * must be toasted, it goes by buffers.
 *
 * Memory: a context of its own, a child of the context in which the relation was
 * opened; for each row, the executor state's per-tuple context.  After an ERROR, these
 * contexts and the resource owner free everything, as they do for COPY.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "commands/trigger.h"
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "executor/nodeModifyTable.h"
#include "foreign/fdwapi.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "parser/parse_relation.h"
#include "rewrite/rewriteHandler.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "load/heap_pages.h"
#include "load/indexes.h"
#include "load/insert.h"
#include "scan/errors.h"

/*
 * Rows and bytes that wait in all buffers together.  More would not be faster, and
 * would not leave the slots in the processor's cache.
 */
#define CSV_BUFFER_ROWS		1000
#define CSV_BUFFER_BYTES	65536

/* buffers to keep after they have been emptied */
#define CSV_KEPT_BUFFERS	32


/* rows that wait for one relation */
typedef struct CsvInsertBuffer
{
	ResultRelInfo *relation;
	BulkInsertState bulk;
	int			nrows;
	TupleTableSlot *slots[CSV_BUFFER_ROWS]; /* made when needed, in order */
	CsvRecordPlace places[CSV_BUFFER_ROWS];
} CsvInsertBuffer;

/* a column that is not given, and has a default */
typedef struct CsvDefault
{
	int			att;			/* attribute number - 1 */
	ExprState  *expr;
	bool		differs;		/* from row to row */
} CsvDefault;

struct CsvInsert
{
	Relation	relation;
	MemoryContext context;
	ParseState *pstate;			/* its range table is the relation */
	const Bitmapset *given;
	bool		all_given;		/* every attribute has a value in each row */

	CsvDefault *defaults;
	int			ndefaults;
	List	   *quals;			/* rows must pass them */
	ExprState  *filter;
	EState	   *estate;
	ModifyTableState *mtstate;
	ResultRelInfo *root;		/* of the relation */
	PartitionTupleRouting *routing; /* NULL: it is not partitioned */
	TransitionCaptureState *capture;	/* NULL: no transition tables */
	CommandId	cid;
	int			options;		/* TABLE_INSERT_... */

	bool		may_wait;		/* rows may wait, in buffers */
	CsvHeapPages *pages;		/* NULL: not by pages */
	CsvIndexing indexing;		/* BUILT: indexes are not open */
	CsvIndexEntries *entries;	/* SORTED: entries that wait */
	CsvPagesHook hook;
	CsvRowTemplate template;	/* of rows that go in many at a time */
	int			nthreads;		/* for such rows */
	TupleTableSlot *slot;		/* of the row, if it is not a buffer's */
	BulkInsertState bulk;		/* for rows that go in one by one */

	ResultRelInfo *last;		/* the relation of the row before */
	bool		last_may_wait;
	List	   *buffers;
	int			nwaiting;
	size_t		waiting_bytes;

	CsvRecordPlace place;		/* of the current row */
	int64		header_lines;	/* of a COPY; -1: not a COPY */
	ErrorContextCallback callback;
	int64		nrows;
};

/* ---- open ---- */

static void
refuse_relation(Relation relation)
{
	const char *name = RelationGetRelationName(relation);

	switch (relation->rd_rel->relkind)
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_FOREIGN_TABLE:
			return;
		case RELKIND_VIEW:
			if (relation->trigdesc != NULL &&
				relation->trigdesc->trig_insert_instead_row)
				return;
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("cannot load into view \"%s\"", name),
					 errhint("To enable loading into a view, provide an INSTEAD OF INSERT trigger.")));
			break;
		case RELKIND_MATVIEW:
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("cannot load into materialized view \"%s\"", name)));
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("cannot load into \"%s\": it is not a table",
							name)));
	}
}

CsvInsert *
csv_insert_open(Oid relid)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "csv_gpu_fdw insert",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext outer = MemoryContextSwitchTo(context);
	CsvInsert  *insert = palloc0(sizeof(CsvInsert));

	PreventCommandIfParallelMode("csv_gpu_load()");
	insert->context = context;
	insert->header_lines = -1;
	insert->relation = csv_open_relation(relid, RowExclusiveLock);
	refuse_relation(insert->relation);
	if (!insert->relation->rd_islocaltemp)
		PreventCommandIfReadOnly("csv_gpu_load()");
	MemoryContextSwitchTo(outer);
	return insert;
}

void
csv_insert_close(CsvInsert *insert)
{
	relation_close(insert->relation, NoLock);
	MemoryContextDelete(insert->context);
}

Relation
csv_insert_relation(const CsvInsert *insert)
{
	return insert->relation;
}

void
csv_insert_tell_lines(CsvInsert *insert, int64 header_lines)
{
	insert->header_lines = header_lines;
}

void
csv_insert_filter(CsvInsert *insert, List *quals)
{
	insert->quals = quals;
}

void
csv_insert_give(CsvInsert *insert, const Bitmapset *given)
{
	MemoryContext outer = MemoryContextSwitchTo(insert->context);
	ParseNamespaceItem *item;

	insert->given = bms_copy(given);
	insert->all_given = bms_num_members(given) ==
		RelationGetNumberOfAttributes(insert->relation);
	insert->pstate = make_parsestate(NULL);
	item = addRangeTableEntryForRelation(insert->pstate, insert->relation,
										 RowExclusiveLock, NULL, false, false);
	csv_ask_permissions(item, ACL_INSERT, given);
	MemoryContextSwitchTo(outer);
}

void
csv_insert_check(const CsvInsert *insert)
{
	csv_check_permissions(insert->pstate);
	if (check_enable_rls(RelationGetRelid(insert->relation), InvalidOid,
						 false) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("csv_gpu_load() is not supported with row-level security"),
				 errdetail("Row-level security is enabled for table \"%s\".",
						   RelationGetRelationName(insert->relation)),
				 errhint("Use INSERT statements instead.")));
}

/* ---- begin ---- */

/*
 * Check that rows may be frozen, as COPY does: this very subtransaction must have made
 * or emptied the table, and no snapshot may see the rows too early.  The calling query
 * holds one snapshot, which is allowed.
 */
static void
check_freeze(Relation relation)
{
	if (relation->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot freeze the rows of \"%s\"",
						RelationGetRelationName(relation)),
				 errdetail("Only those of a plain table can be.")));
	InvalidateCatalogSnapshot();
	if (!ThereAreNoPriorRegisteredSnapshots() || !ThereAreNoReadyPortals())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("cannot freeze rows because of prior transaction activity")));
	if (relation->rd_createSubid != GetCurrentSubTransactionId() &&
		csv_new_storage_subid(relation) != GetCurrentSubTransactionId())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot freeze rows because the table was not created or truncated in the current subtransaction")));
}

/*
 * Prepare the defaults of columns that are not given.  Returns true if one of them is
 * volatile, except nextval(): it may look at the table.
 */
static bool
prepare_defaults(CsvInsert *insert)
{
	TupleDesc	tupdesc = RelationGetDescr(insert->relation);
	bool		is_volatile = false;

	insert->defaults = palloc(sizeof(CsvDefault) * Max(tupdesc->natts, 1));
	for (int i = 0; i < tupdesc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(tupdesc, i);
		Expr	   *expr;

		if (att->attisdropped || att->attgenerated ||
			bms_is_member(i + 1, insert->given))
			continue;
		expr = (Expr *) build_column_default(insert->relation, i + 1);
		if (expr == NULL)
			continue;
		expr = expression_planner(expr);
		is_volatile |= contain_volatile_functions_not_nextval((Node *) expr);
		insert->defaults[insert->ndefaults].att = i;
		insert->defaults[insert->ndefaults].expr = ExecInitExpr(expr, NULL);
		insert->defaults[insert->ndefaults].differs =
			contain_volatile_functions((Node *) expr);
		insert->ndefaults++;
	}
	return is_volatile;
}

static bool
has_trigger_before(const ResultRelInfo *relation)
{
	return relation->ri_TrigDesc != NULL &&
		relation->ri_TrigDesc->trig_insert_before_row;
}

static bool
has_trigger_instead(const ResultRelInfo *relation)
{
	return relation->ri_TrigDesc != NULL &&
		relation->ri_TrigDesc->trig_insert_instead_row;
}

/* may rows wait before they go into this relation? */
static bool
relation_may_wait(const ResultRelInfo *relation)
{
	return !has_trigger_before(relation) && !has_trigger_instead(relation) &&
		(relation->ri_FdwRoutine == NULL || relation->ri_BatchSize > 1);
}

/* as the executor does for partitions */
static void
begin_foreign(ModifyTableState *mtstate, ResultRelInfo *root)
{
	FdwRoutine *routine = root->ri_FdwRoutine;

	if (routine != NULL && routine->BeginForeignInsert != NULL)
		routine->BeginForeignInsert(mtstate, root);
	if (routine != NULL && routine->GetForeignModifyBatchSize != NULL &&
		routine->ExecForeignBatchInsert != NULL)
		root->ri_BatchSize = routine->GetForeignModifyBatchSize(root);
	else
		root->ri_BatchSize = 1;
}

/* returns why rows cannot go in by pages, or NULL */
static const char *
find_obstacle(const CsvInsert *insert)
{
	if (!insert->may_wait)
		return "its rows have to go in one by one";
	if (insert->routing != NULL)
		return "it is partitioned";
	if (insert->options & TABLE_INSERT_FROZEN)
		return "its rows are frozen";
	if (insert->root->ri_NumIndices > 0 && insert->entries == NULL)
		return "it has indexes";
	return csv_heap_pages_obstacle(insert->root);
}

/* for CsvPagesHook */
static void
index_page(void *arg, Page page)
{
	CsvInsert  *insert = arg;
	CsvRecordPlace place = insert->place;

	/* the page's rows come from other places than the current row */
	insert->place.file = NULL;
	csv_index_entries_add(insert->entries, page);
	insert->place = place;
}

static void
index_row(void *arg, TupleTableSlot *slot)
{
	CsvInsert  *insert = arg;

	list_free(csv_insert_index_tuples(insert->root, slot, insert->estate));
}

/* open the indexes, unless they are built at the end; `indexing` is only for pages */
static void
open_indexes(CsvInsert *insert, CsvIndexing indexing)
{
	if (find_obstacle(insert) == NULL)
		insert->indexing = indexing;
	if (insert->indexing == CSV_INDEX_BUILT)
		return;
	ExecOpenIndices(insert->root, false);
	if (insert->indexing != CSV_INDEX_SORTED || insert->root->ri_NumIndices == 0)
		return;
	insert->entries = csv_index_entries_begin(insert->root, insert->estate);
	insert->hook.page = index_page;
	insert->hook.row = index_row;
	insert->hook.arg = insert;
}

static void
choose_way(CsvInsert *insert, CsvLoadMethod method)
{
	const char *obstacle;

	if (method == CSV_LOAD_INSERT)
		return;
	obstacle = find_obstacle(insert);
	if (obstacle == NULL)
		insert->pages = csv_heap_pages_begin(insert->relation, insert->cid,
											 insert->options,
											 insert->entries != NULL ?
											 &insert->hook : NULL);
	else if (method == CSV_LOAD_PAGES)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("\"%s\" cannot be loaded by pages: %s",
						RelationGetRelationName(insert->relation), obstacle)));
}

/* the error context callback: tells where the current row comes from */
static void
tell_place(void *arg)
{
	const CsvInsert *insert = arg;
	const char *name = RelationGetRelationName(insert->relation);

	if (insert->header_lines >= 0 && insert->place.file == NULL)
		errcontext("COPY %s", name);
	else if (insert->header_lines >= 0)
		errcontext("COPY %s, line %lld", name,
				   (long long) insert->header_lines + insert->place.record);
	else if (insert->place.file == NULL)
		errcontext("csv_gpu_load into \"%s\"", name);
	else
		errcontext("csv_gpu_load into \"%s\", record %lld of \"%s\"", name,
				   (long long) insert->place.record, insert->place.file);
}

static void
enter(CsvInsert *insert)
{
	insert->callback.callback = tell_place;
	insert->callback.arg = insert;
	insert->callback.previous = error_context_stack;
	error_context_stack = &insert->callback;
}

static void
leave(CsvInsert *insert)
{
	error_context_stack = insert->callback.previous;
}

void
csv_insert_begin(CsvInsert *insert, bool freeze, CsvLoadMethod method,
				 CsvIndexing indexing)
{
	MemoryContext outer = MemoryContextSwitchTo(insert->context);
	Relation	relation = insert->relation;
	ResultRelInfo *root;
	bool		has_volatile_default;

	insert->cid = GetCurrentCommandId(true);
	if (csv_storage_is_new(relation))
		insert->options |= TABLE_INSERT_SKIP_FSM;
	if (freeze)
	{
		check_freeze(relation);
		insert->options |= TABLE_INSERT_FROZEN;
	}

	insert->estate = CreateExecutorState();
	csv_init_range_table(insert->estate, insert->pstate);
	root = makeNode(ResultRelInfo);
	ExecInitResultRelation(insert->estate, root, 1);
	csv_check_insert_target(root);
	insert->root = root;

	/* foreign tables and tuple routing need a plan node */
	insert->mtstate = makeNode(ModifyTableState);
	insert->mtstate->ps.state = insert->estate;
	insert->mtstate->operation = CMD_INSERT;
	insert->mtstate->mt_nrels = 1;
	insert->mtstate->resultRelInfo = root;
	insert->mtstate->rootResultRelInfo = root;
	begin_foreign(insert->mtstate, root);

	AfterTriggerBeginQuery();
	insert->capture = MakeTransitionCaptureState(relation->trigdesc,
												 RelationGetRelid(relation),
												 CMD_INSERT);
	insert->mtstate->mt_transition_capture = insert->capture;
	if (relation->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		insert->routing = ExecSetupPartitionTupleRouting(insert->estate,
														 relation);

	has_volatile_default = prepare_defaults(insert);
	insert->filter = ExecInitQual(insert->quals, &insert->mtstate->ps);
	insert->may_wait = relation_may_wait(root) && !has_volatile_default &&
		!(insert->routing != NULL && root->ri_TrigDesc != NULL &&
		  root->ri_TrigDesc->trig_insert_new_table);
	insert->slot = table_slot_create(relation, &insert->estate->es_tupleTable);
	insert->bulk = GetBulkInsertState();
	open_indexes(insert, indexing);
	choose_way(insert, method);

	enter(insert);
	ExecBSInsertTriggers(insert->estate, root);
	leave(insert);
	MemoryContextSwitchTo(outer);
}

ExprContext *
csv_insert_context(CsvInsert *insert)
{
	return GetPerTupleExprContext(insert->estate);
}

/* ---- buffers ---- */

static CsvInsertBuffer *
buffer_of(CsvInsert *insert, ResultRelInfo *relation)
{
	CsvInsertBuffer *buffer =
		(CsvInsertBuffer *) relation->ri_CopyMultiInsertBuffer;

	if (buffer == NULL)
	{
		MemoryContext outer = MemoryContextSwitchTo(insert->context);

		buffer = palloc0(sizeof(CsvInsertBuffer));
		buffer->relation = relation;
		buffer->bulk = GetBulkInsertState();
		insert->buffers = lappend(insert->buffers, buffer);
		/* the executor has this place for COPY's buffer, and does not look into it */
		relation->ri_CopyMultiInsertBuffer =
			(struct CopyMultiInsertBuffer *) buffer;
		MemoryContextSwitchTo(outer);
	}
	return buffer;
}

static TupleTableSlot *
buffer_slot(CsvInsert *insert, CsvInsertBuffer *buffer)
{
	TupleTableSlot **slot = &buffer->slots[buffer->nrows];

	if (*slot == NULL)
	{
		MemoryContext outer = MemoryContextSwitchTo(insert->context);

		*slot = table_slot_create(buffer->relation->ri_RelationDesc, NULL);
		MemoryContextSwitchTo(outer);
	}
	return ExecClearTuple(*slot);
}

/* insert index entries and fire AFTER triggers for a row that is in the table */
static void
follow_row(CsvInsert *insert, ResultRelInfo *relation, TupleTableSlot *slot)
{
	List	   *recheck = NIL;

	if (relation->ri_NumIndices > 0)
		recheck = csv_insert_index_tuples(relation, slot, insert->estate);
	ExecARInsertTriggers(insert->estate, relation, slot, recheck,
						 insert->capture);
	list_free(recheck);
}

/* are there index entries or AFTER triggers? */
static bool
is_followed(const ResultRelInfo *relation)
{
	return relation->ri_NumIndices > 0 ||
		(relation->ri_TrigDesc != NULL &&
		 (relation->ri_TrigDesc->trig_insert_after_row ||
		  relation->ri_TrigDesc->trig_insert_new_table));
}

/* insert a buffer's rows into a foreign table, a batch of its wrapper at a time */
static void
insert_batches(CsvInsert *insert, CsvInsertBuffer *buffer)
{
	ResultRelInfo *relation = buffer->relation;
	int			nbatch;

	for (int first = 0; first < buffer->nrows; first += nbatch)
	{
		TupleTableSlot **slots;
		int			ninserted;

		CHECK_FOR_INTERRUPTS();
		nbatch = Min(buffer->nrows - first, relation->ri_BatchSize);
		ninserted = nbatch;
		slots = relation->ri_FdwRoutine->ExecForeignBatchInsert(insert->estate, relation,
																&buffer->slots[first],
																NULL, &ninserted);

		/* the wrapper may have left out some of them */
		for (int i = 0; i < ninserted && is_followed(relation); i++)
		{
			slots[i]->tts_tableOid = RelationGetRelid(relation->ri_RelationDesc);
			follow_row(insert, relation, slots[i]);
		}
		insert->nrows += ninserted;
	}
}

static void
insert_many(CsvInsert *insert, CsvInsertBuffer *buffer)
{
	ResultRelInfo *relation = buffer->relation;

	/* access methods may leave memory behind */
	MemoryContext outer = MemoryContextSwitchTo(GetPerTupleMemoryContext(insert->estate));

	table_multi_insert(relation->ri_RelationDesc, buffer->slots, buffer->nrows,
					   insert->cid, insert->options, buffer->bulk);
	MemoryContextSwitchTo(outer);

	if (is_followed(relation))
		for (int i = 0; i < buffer->nrows; i++)
		{
			insert->place = buffer->places[i];
			follow_row(insert, relation, buffer->slots[i]);
		}
	insert->nrows += buffer->nrows;
}

/* put the rows of a buffer into its relation */
static void
empty_buffer(CsvInsert *insert, CsvInsertBuffer *buffer)
{
	CsvRecordPlace place = insert->place;

	if (buffer->nrows == 0)
		return;
	insert->place.file = NULL;
	if (buffer->relation->ri_FdwRoutine != NULL)
		insert_batches(insert, buffer);
	else
		insert_many(insert, buffer);
	for (int i = 0; i < buffer->nrows; i++)
		ExecClearTuple(buffer->slots[i]);
	buffer->nrows = 0;
	insert->place = place;
}

static void
free_buffer(CsvInsert *insert, CsvInsertBuffer *buffer)
{
	buffer->relation->ri_CopyMultiInsertBuffer = NULL;
	FreeBulkInsertState(buffer->bulk);
	for (int i = 0; i < CSV_BUFFER_ROWS && buffer->slots[i] != NULL; i++)
		ExecDropSingleTupleTableSlot(buffer->slots[i]);
	table_finish_bulk_insert(buffer->relation->ri_RelationDesc,
							 insert->options);
	pfree(buffer);
}

/*
 * Insert all rows that wait.  If there are too many buffers, free the oldest, except
 * the buffer of `current`.
 */
static void
empty_buffers(CsvInsert *insert, const ResultRelInfo *current)
{
	int			pins_left = csv_pin_limit();
	ListCell   *cell;

	foreach(cell, insert->buffers)
	{
		CsvInsertBuffer *buffer = lfirst(cell);

		/* each buffer keeps its last page pinned */
		empty_buffer(insert, buffer);
		if (pins_left-- <= 0)
			ReleaseBulkInsertStatePin(buffer->bulk);
	}
	insert->nwaiting = 0;
	insert->waiting_bytes = 0;

	for (int i = 0; list_length(insert->buffers) > CSV_KEPT_BUFFERS;)
	{
		CsvInsertBuffer *buffer = list_nth(insert->buffers, i);

		if (buffer->relation == current)
			i++;
		else
		{
			insert->buffers = list_delete_nth_cell(insert->buffers, i);
			free_buffer(insert, buffer);
		}
	}
}

/* bytes of a row that waits, roughly */
static size_t
slot_bytes(TupleTableSlot *slot)
{
	if (TTS_IS_HEAPTUPLE(slot) || TTS_IS_BUFFERTUPLE(slot))
		return ((HeapTupleTableSlot *) slot)->tuple->t_len;
	return heap_compute_data_size(slot->tts_tupleDescriptor, slot->tts_values,
								  slot->tts_isnull);
}

/* let the row in the buffer's next slot wait */
static void
let_wait(CsvInsert *insert, CsvInsertBuffer *buffer, TupleTableSlot *slot)
{
	/* its values may be gone later */
	ExecMaterializeSlot(slot);
	buffer->places[buffer->nrows] = insert->place;
	buffer->nrows++;
	insert->nwaiting++;
	insert->waiting_bytes += slot_bytes(slot);
	if (insert->nwaiting >= CSV_BUFFER_ROWS ||
		insert->waiting_bytes >= CSV_BUFFER_BYTES)
		empty_buffers(insert, buffer->relation);
}

/* ---- rows ---- */

TupleTableSlot *
csv_insert_slot(CsvInsert *insert, CsvRecordPlace place)
{
	TupleTableSlot *slot = insert->slot;

	insert->place = place;
	enter(insert);
	ResetPerTupleExprContext(insert->estate);
	if (insert->may_wait && insert->routing == NULL && insert->pages == NULL)
		slot = buffer_slot(insert, buffer_of(insert, insert->root));
	else
		ExecClearTuple(slot);
	if (!insert->all_given)
		memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts);
	return slot;
}

TupleTableSlot *
csv_insert_fixed_slot(CsvInsert *insert)
{
	return insert->pages != NULL && insert->all_given ? insert->slot : NULL;
}

static void
fill_defaults(CsvInsert *insert, TupleTableSlot *slot)
{
	ExprContext *econtext = GetPerTupleExprContext(insert->estate);

	for (int i = 0; i < insert->ndefaults; i++)
	{
		int			att = insert->defaults[i].att;

		slot->tts_values[att] =
			ExecEvalExprSwitchContext(insert->defaults[i].expr, econtext,
									  &slot->tts_isnull[att]);
	}
}

/*
 * Returns the partition for the row.  *slot becomes the row in the partition's form,
 * in a slot of its buffer if it may wait.
 */
static ResultRelInfo *
route(CsvInsert *insert, TupleTableSlot **slot)
{
	ResultRelInfo *relation = ExecFindPartition(insert->mtstate, insert->root,
												insert->routing, *slot,
												insert->estate);
	TupleConversionMap *map;
	TupleTableSlot *row = *slot;

	if (relation != insert->last)
	{
		insert->last = relation;
		insert->last_may_wait = insert->may_wait && relation_may_wait(relation);
		/* triggers of this partition may look at rows that wait */
		if (!insert->last_may_wait && insert->nwaiting > 0)
			empty_buffers(insert, relation);
		ReleaseBulkInsertStatePin(insert->bulk);
	}

	/* saves converting the row back, if no trigger changes it */
	if (insert->capture != NULL)
		insert->capture->tcs_original_insert_tuple =
			has_trigger_before(relation) ? NULL : row;

	map = csv_root_to_partition_map(relation, insert->estate);
	if (insert->last_may_wait)
		*slot = buffer_slot(insert, buffer_of(insert, relation));
	else if (map != NULL)
		*slot = relation->ri_PartitionTupleSlot;
	if (map != NULL)
		*slot = execute_attr_map_slot(map->attrMap, row, *slot);
	else if (*slot != row)
		ExecCopySlot(*slot, row);
	(*slot)->tts_tableOid = RelationGetRelid(relation->ri_RelationDesc);
	return relation;
}

/* compute generated columns, and check the relation's constraints */
static void
check_row(CsvInsert *insert, ResultRelInfo *relation, TupleTableSlot *slot)
{
	const TupleConstr *constraints = RelationGetDescr(relation->ri_RelationDesc)->constr;

	if (constraints != NULL && constraints->has_generated_stored)
		ExecComputeStoredGenerated(relation, insert->estate, slot, CMD_INSERT);
	if (constraints != NULL && relation->ri_FdwRoutine == NULL)
		ExecConstraints(relation, slot, insert->estate);

	/* routing has checked this, if no trigger has changed the row since */
	if (relation->ri_RelationDesc->rd_rel->relispartition &&
		(insert->routing == NULL || has_trigger_before(relation)))
		ExecPartitionCheck(relation, slot, insert->estate, true);
}

static void
insert_at_once(CsvInsert *insert, ResultRelInfo *relation,
			   TupleTableSlot *slot)
{
	if (relation->ri_FdwRoutine != NULL)
	{
		slot = relation->ri_FdwRoutine->ExecForeignInsert(insert->estate,
														  relation, slot,
														  NULL);
		if (slot == NULL)
			return;				/* not inserted */
		slot->tts_tableOid = RelationGetRelid(relation->ri_RelationDesc);
	}
	else
		table_tuple_insert(relation->ri_RelationDesc, slot, insert->cid,
						   insert->options, insert->bulk);
	follow_row(insert, relation, slot);
	insert->nrows++;
}

/* does the filter let a row in? */
static bool
passes(CsvInsert *insert, TupleTableSlot *slot)
{
	ExprContext *econtext = GetPerTupleExprContext(insert->estate);

	econtext->ecxt_scantuple = slot;
	return ExecQual(insert->filter, econtext);
}

static void
insert_row(CsvInsert *insert, TupleTableSlot *slot)
{
	ResultRelInfo *relation = insert->root;
	bool		may_wait = insert->may_wait;

	if (insert->routing != NULL)
	{
		relation = route(insert, &slot);
		may_wait = insert->last_may_wait;
	}
	if (has_trigger_before(relation) &&
		!ExecBRInsertTriggers(insert->estate, relation, slot))
		return;
	if (has_trigger_instead(relation))
	{
		ExecIRInsertTriggers(insert->estate, relation, slot);
		insert->nrows++;
		return;
	}
	check_row(insert, relation, slot);

	if (insert->pages != NULL)
	{
		CsvInsertBuffer *buffer;
		TupleTableSlot *waiting;

		/* computing a generated column has made the slot's values a tuple */
		slot_getallattrs(slot);
		if (csv_heap_pages_add(insert->pages, slot->tts_values,
							   slot->tts_isnull))
		{
			insert->nrows++;
			return;
		}
		buffer = buffer_of(insert, relation);
		waiting = buffer_slot(insert, buffer);
		ExecCopySlot(waiting, slot);
		let_wait(insert, buffer, waiting);
	}
	else if (may_wait)
		let_wait(insert, buffer_of(insert, relation), slot);
	else
		insert_at_once(insert, relation, slot);
}

bool
csv_insert_row(CsvInsert *insert, TupleTableSlot *slot)
{
	bool		is_in;

	fill_defaults(insert, slot);
	ExecStoreVirtualTuple(slot);
	slot->tts_tableOid = RelationGetRelid(insert->relation);
	is_in = passes(insert, slot);
	if (is_in)
		insert_row(insert, slot);
	leave(insert);
	return is_in;
}

/* ---- many rows ---- */

bool
csv_insert_takes_runs(CsvInsert *insert, const int *places, int nthreads)
{
	TupleDesc	tupdesc = RelationGetDescr(insert->relation);
	const TupleConstr *constraints = tupdesc->constr;

	if (insert->pages == NULL || insert->filter != NULL ||
		insert->relation->rd_rel->relispartition)
		return false;
	if (constraints != NULL &&
		(constraints->num_check > 0 || constraints->has_generated_stored))
		return false;
	for (int i = 0; i < insert->ndefaults; i++)
		if (insert->defaults[i].differs)
			return false;

	insert->template.places = places;
	insert->nthreads = nthreads;
	return true;
}

/* fill in attributes that are not given, and are the same in all rows */
static void
fill_template(CsvInsert *insert)
{
	int			natts = RelationGetNumberOfAttributes(insert->relation);
	MemoryContext outer = MemoryContextSwitchTo(insert->context);
	Datum	   *values = palloc0(sizeof(Datum) * natts);
	bool	   *isnull = palloc(sizeof(bool) * natts);

	memset(isnull, true, natts);
	for (int i = 0; i < insert->ndefaults; i++)
	{
		int			att = insert->defaults[i].att;

		values[att] = ExecEvalExpr(insert->defaults[i].expr,
								   GetPerTupleExprContext(insert->estate),
								   &isnull[att]);
	}
	insert->template.values = values;
	insert->template.isnull = isnull;
	MemoryContextSwitchTo(outer);
}

uint32
csv_insert_run(CsvInsert *insert, const CsvRowRun *run, bool *stopped)
{
	uint32		nrows;

	insert->place.file = NULL;
	enter(insert);
	if (insert->template.values == NULL)
		fill_template(insert);
	nrows = csv_heap_pages_add_run(insert->pages, run, &insert->template,
								   insert->nthreads, stopped);
	leave(insert);
	insert->nrows += nrows;
	return nrows;
}

/* ---- end ---- */

int64
csv_insert_end(CsvInsert *insert)
{
	MemoryContext outer = MemoryContextSwitchTo(insert->context);
	ResultRelInfo *root = insert->root;
	EState	   *estate = insert->estate;
	int64		nrows;
	ListCell   *cell;

	insert->place.file = NULL;
	enter(insert);
	empty_buffers(insert, NULL);
	if (insert->pages != NULL)
		csv_heap_pages_end(insert->pages);
	FreeBulkInsertState(insert->bulk);
	if (insert->indexing == CSV_INDEX_BUILT)
		csv_indexes_build(insert->relation);
	else if (insert->entries != NULL)
		csv_index_entries_end(insert->entries);

	ExecASInsertTriggers(estate, root, insert->capture);
	AfterTriggerEndQuery(estate);
	ExecResetTupleTable(estate->es_tupleTable, false);
	if (root->ri_FdwRoutine != NULL &&
		root->ri_FdwRoutine->EndForeignInsert != NULL)
		root->ri_FdwRoutine->EndForeignInsert(estate, root);
	foreach(cell, insert->buffers)
		free_buffer(insert, lfirst(cell));
	if (insert->routing != NULL)
		ExecCleanupTupleRouting(insert->mtstate, insert->routing);
	ExecCloseResultRelations(estate);
	ExecCloseRangeTableRelations(estate);
	leave(insert);

	nrows = insert->nrows;
	FreeExecutorState(estate);
	MemoryContextSwitchTo(outer);
	csv_insert_close(insert);
	return nrows;
}
