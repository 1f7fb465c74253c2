/*
 * insert.c
 *		Inserts rows into a relation as COPY FROM does.
 *
 * Rows go in in one of two ways:
 *
 *	- By pages (heap_pages.c), if no trigger needs the row, and no index does,
 *	unless
 *	  index entries can come after all rows (indexes.c).  A row that must be
 *	  toasted goes in by itself.
 *	- Through PostgreSQL's COPY in all other cases.  COPY reads an empty line
 *	for each
 *	  row, and takes the row's values for defaults of the columns.  So
 *	  partitions, triggers, foreign tables and frozen rows are COPY's.
 *
 * Memory: a context of its own, a child of the context in which the relation
 * was opened; for each row, the executor state's per-tuple context.  After an
 * ERROR, these contexts and the resource owner free everything, as they do for
 * COPY.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "commands/copyfrom_internal.h"
#include "commands/progress.h"
#include "commands/trigger.h"
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "executor/nodeModifyTable.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_relation.h"
#include "rewrite/rewriteHandler.h"
#include "utils/backend_status.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "load/heap_pages.h"
#include "load/indexes.h"
#include "load/insert.h"

/* COPY keeps fewer rows waiting before it inserts them */
#define CSV_WAITING_ROWS	1024

/* where a row comes from; file NULL: not known */
typedef struct CsvRecordPlace
{
	const char *file;
	int64		record;
} CsvRecordPlace;

/* a column that is not given, and has a default */
typedef struct CsvDefault
{
	int			att;			/* attribute number - 1 */
	ExprState  *expr;
	bool		differs;		/* from row to row */
} CsvDefault;

/* a column that is given: COPY takes its value for a default */
typedef struct CsvGivenColumn
{
	ExprState	state;
	CsvInsert  *insert;
	int			att;
} CsvGivenColumn;

/* what CONTEXT tells about the current row */
typedef enum CsvTelling
{
	CSV_TELL_NOTHING,			/* the row is being read */
	CSV_TELL_TABLE,				/* it is not about a row */
	CSV_TELL_ROW,				/* it is about the row that came last */
	CSV_TELL_LINE				/* it is about the row of COPY's line */
} CsvTelling;

struct CsvInsert
{
	Relation	relation;
	MemoryContext context;
	ParseState *pstate;			/* its range table is the relation */
	const Bitmapset *given;
	CsvDefault *defaults;
	int			ndefaults;
	bool		is_volatile;	/* a default is, not only nextval(); or as if */
	List	   *quals;			/* rows must pass them */
	TupleTableSlot *slot;		/* of the row */
	int64		nrows;

	/* rows that go in by pages */
	CsvHeapPages *pages;		/* NULL: they go through COPY */
	EState	   *estate;
	ResultRelInfo *root;		/* of the relation */
	ModifyTableState *router;	/* if rows are tested for a partitioned table */
	struct PartitionTupleRouting *routing;
	ExprState  *filter;
	CommandId	cid;
	int			options;		/* TABLE_INSERT_... */
	BulkInsertState bulk;		/* for rows that go in by themselves */
	CsvIndexing indexing;		/* BUILT: indexes are not open */
	CsvIndexEntries *entries;	/* SORTED: entries that wait */
	CsvRowTemplate template;	/* of rows that go in many at a time */
	int			nthreads;		/* for such rows */

	/* rows that go through COPY */
	CopyFromState copy;
	CsvNextRowFn next;
	void	   *next_arg;
	uint64		nread;			/* rows; each row is a line */
	CsvRecordPlace places[CSV_WAITING_ROWS];	/* by line */

	CsvTelling	telling;
	CsvRecordPlace place;		/* of the current row */
	int64		header_lines;	/* of a COPY statement; -1: there is none */
	ErrorContextCallback callback;
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
					 errmsg("cannot load into materialized view \"%s\"",
							name)));
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
	if (insert->routing != NULL)
	{
		ExecCleanupTupleRouting(insert->router, insert->routing);
		ExecResetTupleTable(insert->estate->es_tupleTable, false);
		FreeExecutorState(insert->estate);
	}
	if (insert->slot != NULL)
		ExecDropSingleTupleTableSlot(insert->slot);
	relation_close(insert->relation, NoLock);
	MemoryContextDelete(insert->context);
}

Relation
csv_insert_relation(const CsvInsert *insert)
{
	return insert->relation;
}

AttrNumber
csv_target_column(Relation relation, const char *name)
{
	int			attnum = attnameAttNum(relation, name, false);

	if (attnum == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						name, RelationGetRelationName(relation))));
	return (AttrNumber) attnum;
}

void
csv_insert_for_copy(CsvInsert *insert, int64 header_lines, List *quals)
{
	insert->header_lines = header_lines;
	insert->quals = quals;
}

void
csv_insert_one_by_one(CsvInsert *insert)
{
	insert->is_volatile = true;
}

void
csv_insert_give(CsvInsert *insert, const Bitmapset *given)
{
	MemoryContext outer = MemoryContextSwitchTo(insert->context);
	ParseNamespaceItem *item;

	insert->given = bms_copy(given);
	insert->pstate = make_parsestate(NULL);
	item = addRangeTableEntryForRelation(insert->pstate, insert->relation,
										 RowExclusiveLock, NULL, false, false);
	insert->pstate->p_namespace = list_make1(item);
	csv_ask_permissions(item, ACL_INSERT, given);
	MemoryContextSwitchTo(outer);
}

void
csv_insert_resolve(CsvInsert *insert, const Bitmapset *key,
				   const Bitmapset *updated)
{
	MemoryContext outer = MemoryContextSwitchTo(insert->context);

	csv_ask_conflict_permissions(linitial(insert->pstate->p_namespace), key,
								 updated);
	MemoryContextSwitchTo(outer);
}

void
csv_insert_check(const CsvInsert *insert, bool obeys_security)
{
	ResultRelInfo *root = makeNode(ResultRelInfo);

	csv_check_permissions(insert->pstate);
	if (!obeys_security &&
		check_enable_rls(RelationGetRelid(insert->relation), InvalidOid,
						 false) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("csv_gpu_load() is not supported with row-level security"),
				 errdetail("Row-level security is enabled for table \"%s\".",
						   RelationGetRelationName(insert->relation)),
				 errhint("Use INSERT statements instead.")));
	InitResultRelInfo(root, insert->relation, 1, NULL, 0);
	csv_check_insert_target(root);
}

/* ---- begin ---- */

/*
 * Check that rows may be frozen, as COPY does: this very subtransaction must
 * have made or emptied the table, and no snapshot may see the rows too early.
 * The calling query holds one snapshot, which is allowed.
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

/* prepare the defaults of columns that are not given */
static void
prepare_defaults(CsvInsert *insert)
{
	TupleDesc	tupdesc = RelationGetDescr(insert->relation);

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
		insert->is_volatile |= contain_volatile_functions_not_nextval((Node *) expr);
		insert->defaults[insert->ndefaults].att = i;
		insert->defaults[insert->ndefaults].expr = ExecInitExpr(expr, NULL);
		insert->defaults[insert->ndefaults].differs =
			contain_volatile_functions((Node *) expr);
		insert->ndefaults++;
	}
}

void
csv_insert_prepare(CsvInsert *insert)
{
	MemoryContext outer = MemoryContextSwitchTo(insert->context);

	if (insert->slot == NULL)
	{
		prepare_defaults(insert);
		insert->slot = MakeSingleTupleTableSlot(RelationGetDescr(insert->relation),
												&TTSOpsVirtual);
		memset(insert->slot->tts_isnull, true,
			   insert->slot->tts_tupleDescriptor->natts);
	}
	MemoryContextSwitchTo(outer);
}

bool
csv_insert_varies(const CsvInsert *insert, const Bitmapset *attnums)
{
	for (int i = 0; i < insert->ndefaults; i++)
		if (insert->defaults[i].differs &&
			bms_is_member(insert->defaults[i].att + 1, attnums))
			return true;
	return false;
}

static bool
can_go_by_pages(const CsvInsert *insert, CsvIndexing indexing)
{
	return !insert->is_volatile &&
		(insert->options & TABLE_INSERT_FROZEN) == 0 &&
		(indexing != CSV_INDEX_AT_ONCE ||
		 RelationGetIndexList(insert->relation) == NIL) &&
		csv_heap_takes_pages(insert->relation);
}

/* returns the place of the row in COPY's current line, or NULL */
static const CsvRecordPlace *
place_of_line(const CsvInsert *insert)
{
	uint64		line = insert->copy->cur_lineno;

	if (line == 0 || line > insert->nread ||
		insert->nread - line >= CSV_WAITING_ROWS)
		return NULL;

	/*
	 * COPY inserts rows that waited.  If it is at the last line, it is about
	 * any of these rows, except that an index or a trigger refuses just this
	 * row.
	 */
	if (line == insert->nread && !insert->copy->line_buf_valid &&
		ERRCODE_TO_CATEGORY(geterrcode()) !=
		ERRCODE_TO_CATEGORY(ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION))
		return NULL;
	return &insert->places[line % CSV_WAITING_ROWS];
}

/* the error context callback: tells where the current row comes from */
static void
tell_place(void *arg)
{
	const CsvInsert *insert = arg;
	const char *name = RelationGetRelationName(insert->relation);
	const CsvRecordPlace *place = insert->telling == CSV_TELL_ROW ?
		&insert->place :
		insert->telling == CSV_TELL_LINE ? place_of_line(insert) : NULL;

	if (insert->telling == CSV_TELL_NOTHING)
		return;
	if (place != NULL && place->file == NULL)
		place = NULL;
	if (insert->header_lines >= 0 && place == NULL)
		errcontext("COPY %s", name);
	else if (insert->header_lines >= 0)
		errcontext("COPY %s, line %lld", name,
				   (long long) insert->header_lines + place->record);
	else if (place == NULL)
		errcontext("csv_gpu_load into \"%s\"", name);
	else
		errcontext("csv_gpu_load into \"%s\", record %lld of \"%s\"", name,
				   (long long) place->record, place->file);
}

void
csv_insert_place(CsvInsert *insert, const char *file, int64 record)
{
	insert->place.file = file;
	insert->place.record = record;
	insert->telling = CSV_TELL_ROW;
}

void
csv_insert_tell(CsvInsert *insert, bool tells)
{
	insert->telling = CSV_TELL_NOTHING;
	if (tells)
	{
		insert->callback.callback = tell_place;
		insert->callback.arg = insert;
		insert->callback.previous = error_context_stack;
	}
	error_context_stack = tells ? &insert->callback : insert->callback.previous;
}

static void
begin_pages(CsvInsert *insert, CsvIndexing indexing)
{
	Relation	relation = insert->relation;
	EState	   *estate = CreateExecutorState();
	ResultRelInfo *root = makeNode(ResultRelInfo);

	csv_init_range_table(estate, insert->pstate);
	ExecInitResultRelation(estate, root, 1);
	insert->estate = estate;
	insert->root = root;
	insert->cid = GetCurrentCommandId(true);
	insert->filter = ExecInitQual(insert->quals, NULL);
	insert->bulk = GetBulkInsertState();
	insert->indexing = indexing;
	if (indexing != CSV_INDEX_BUILT)
		ExecOpenIndices(root, false);
	if (root->ri_NumIndices > 0)
		insert->entries = csv_index_entries_begin(root, estate);
	AfterTriggerBeginQuery();
	insert->pages = csv_heap_pages_begin(relation, insert->cid, insert->options,
										 insert->entries);
	ExecBSInsertTriggers(estate, root);
}

bool
csv_insert_begin(CsvInsert *insert, bool freeze, bool may_go_by_pages,
				 CsvIndexing indexing)
{
	MemoryContext outer = MemoryContextSwitchTo(insert->context);

	if (csv_storage_is_new(insert->relation))
		insert->options |= TABLE_INSERT_SKIP_FSM;
	if (freeze)
	{
		check_freeze(insert->relation);
		insert->options |= TABLE_INSERT_FROZEN;
	}
	csv_insert_prepare(insert);
	csv_insert_tell(insert, true);
	insert->telling = CSV_TELL_TABLE;
	if (may_go_by_pages && can_go_by_pages(insert, indexing))
		begin_pages(insert, indexing);
	insert->telling = CSV_TELL_NOTHING;
	MemoryContextSwitchTo(outer);
	return insert->pages != NULL;
}

TupleTableSlot *
csv_insert_slot(CsvInsert *insert)
{
	return insert->slot;
}

/* ---- through COPY ---- */

/* the callback of COPY's error context, since ours tells the place */
static void
tell_nothing(void *arg)
{
}

/*
 * A copy_data_source_cb: read the next row, as an empty line.  Such a callback
 * has no argument, but COPY calls it while COPY's error context is on top of
 * ours.
 */
static int
read_line(void *buffer, int least, int most)
{
	ErrorContextCallback *of_copy = error_context_stack;
	CsvInsert  *insert = of_copy->previous->arg;
	MemoryContext outer = MemoryContextSwitchTo(insert->context);
	bool		any;

	of_copy->callback = tell_nothing;
	insert->telling = CSV_TELL_NOTHING;
	any = insert->next(insert->next_arg);
	insert->telling = CSV_TELL_LINE;
	MemoryContextSwitchTo(outer);
	if (!any)
		return 0;
	insert->nread++;
	insert->places[insert->nread % CSV_WAITING_ROWS] = insert->place;

	/*
	 * COPY adds this line's byte, and shows the sum; the scan has shown its
	 * bytes
	 */
	if (MyBEEntry != NULL)
		insert->copy->bytes_processed =
			(uint64) MyBEEntry->st_progress_param[PROGRESS_COPY_BYTES_PROCESSED] - 1;
	*(char *) buffer = '\n';
	return 1;
}

/* an ExprStateEvalFunc */
static Datum
given_value(ExprState *state, ExprContext *econtext, bool *isnull)
{
	const CsvGivenColumn *given = (const CsvGivenColumn *) state;

	*isnull = given->insert->slot->tts_isnull[given->att];
	return given->insert->slot->tts_values[given->att];
}

/*
 * for the first column: COPY adds up the bytes of lines, to limit the rows that
 * wait
 */
static Datum
first_value(ExprState *state, ExprContext *econtext, bool *isnull)
{
	const CsvInsert *insert = ((const CsvGivenColumn *) state)->insert;
	const TupleTableSlot *slot = insert->slot;

	insert->copy->line_buf.len =
		(int) Min(heap_compute_data_size(slot->tts_tupleDescriptor,
										 slot->tts_values,
										 slot->tts_isnull), PG_INT32_MAX / 2);
	return given_value(state, econtext, isnull);
}

/*
 * let COPY read no column, but compute each column that is given or has a
 * default
 */
static void
set_columns(CsvInsert *insert)
{
	CopyFromState copy = insert->copy;
	int			natts = RelationGetNumberOfAttributes(insert->relation);
	CsvGivenColumn *given = palloc0(sizeof(CsvGivenColumn) * Max(natts, 1));
	int			next_default = 0;

	copy->attnumlist = NIL;
	copy->max_fields = 0;
	copy->num_defaults = 0;
	copy->volatile_defexprs = insert->is_volatile;
	for (int i = 0; i < natts; i++)
	{
		ExprState  *expr = &given[i].state;

		if (bms_is_member(i + 1, insert->given))
		{
			NodeSetTag(expr, T_ExprState);
			expr->evalfunc = copy->num_defaults == 0 ? first_value :
				given_value;
			given[i].insert = insert;
			given[i].att = i;
		}
		else if (next_default < insert->ndefaults &&
				 insert->defaults[next_default].att == i)
			expr = insert->defaults[next_default++].expr;
		else
			continue;
		csv_copy_default(copy, i) = expr;
		copy->defmap[copy->num_defaults++] = i;
	}
}

int64
csv_insert_all(CsvInsert *insert, CsvNextRowFn next, void *arg)
{
	MemoryContext outer = MemoryContextSwitchTo(insert->context);
	char	   *encoding = pstrdup(GetDatabaseEncodingName());
	int64		nrows;

	insert->next = next;
	insert->next_arg = arg;
	insert->copy =
		BeginCopyFrom(insert->pstate, insert->relation, (Node *) insert->quals,
					  NULL,
					  false, read_line, NIL,
					  list_make1(makeDefElem("encoding",
											 (Node *) makeString(encoding), -1)));
	insert->copy->opts.freeze = (insert->options & TABLE_INSERT_FROZEN) != 0;
	set_columns(insert);
	insert->telling = CSV_TELL_LINE;
	nrows = (int64) CopyFrom(insert->copy);
	EndCopyFrom(insert->copy);
	error_context_stack = insert->callback.previous;
	MemoryContextSwitchTo(outer);
	csv_insert_close(insert);
	return nrows;
}

/* ---- by pages ---- */

static void
fill_defaults(CsvInsert *insert, TupleTableSlot *slot, ExprContext *econtext)
{
	for (int i = 0; i < insert->ndefaults; i++)
	{
		int			att = insert->defaults[i].att;

		slot->tts_values[att] =
			ExecEvalExprSwitchContext(insert->defaults[i].expr, econtext,
									  &slot->tts_isnull[att]);
	}
}

static void
start_executor(CsvInsert *insert)
{
	MemoryContext outer = MemoryContextSwitchTo(insert->context);

	if (insert->estate == NULL)
	{
		insert->estate = CreateExecutorState();
		insert->root = makeNode(ResultRelInfo);
		InitResultRelInfo(insert->root, insert->relation, 0, NULL, 0);
	}
	MemoryContextSwitchTo(outer);
	ResetPerTupleExprContext(insert->estate);
}

void
csv_insert_fill(CsvInsert *insert, const Bitmapset *needed,
				ExprContext *econtext)
{
	TupleTableSlot *slot = insert->slot;
	int			attnum = -1;

	fill_defaults(insert, slot, econtext);
	while ((attnum = bms_next_member(needed, attnum)) >= 0)
	{
		if (!TupleDescAttr(slot->tts_tupleDescriptor,
						   attnum - 1)->attgenerated)
			continue;
		start_executor(insert);
		ExecStoreVirtualTuple(slot);
		ExecComputeStoredGenerated(insert->root, insert->estate, slot,
								   CMD_INSERT);
		return;
	}
}

/* compute generated columns, and check the relation's constraints */
static void
check_row(CsvInsert *insert)
{
	Relation	relation = insert->relation;
	const TupleConstr *constraints = RelationGetDescr(relation)->constr;

	if (constraints != NULL && constraints->has_generated_stored)
		ExecComputeStoredGenerated(insert->root, insert->estate, insert->slot,
								   CMD_INSERT);
	if (constraints != NULL)
		ExecConstraints(insert->root, insert->slot, insert->estate);
	if (relation->rd_rel->relispartition)
		ExecPartitionCheck(insert->root, insert->slot, insert->estate, true);
}

bool
csv_insert_test(CsvInsert *insert, ExprContext *econtext)
{
	Relation	relation = insert->relation;
	TupleTableSlot *slot = insert->slot;

	start_executor(insert);
	fill_defaults(insert, slot, econtext);
	ExecStoreVirtualTuple(slot);
	slot->tts_tableOid = RelationGetRelid(relation);
	if (relation->trigdesc != NULL &&
		relation->trigdesc->trig_insert_before_row &&
		!ExecBRInsertTriggers(insert->estate, insert->root, slot))
		return false;
	check_row(insert);
	return true;
}

void
csv_insert_test_partition(CsvInsert *insert)
{
	if (insert->relation->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		return;
	if (insert->router == NULL)
	{
		MemoryContext outer = MemoryContextSwitchTo(insert->context);

		/* as COPY does */
		insert->router = makeNode(ModifyTableState);
		insert->router->ps.state = insert->estate;
		insert->router->operation = CMD_INSERT;
		insert->router->mt_nrels = 1;
		insert->router->resultRelInfo = insert->root;
		insert->router->rootResultRelInfo = insert->root;
		insert->routing = ExecSetupPartitionTupleRouting(insert->estate,
														 insert->relation);
		MemoryContextSwitchTo(outer);
	}
	(void) ExecFindPartition(insert->router, insert->root, insert->routing,
							 insert->slot,
							 insert->estate);
}

Oid
csv_insert_conflict(CsvInsert *insert, Oid preferred)
{
	ResultRelInfo *root = makeNode(ResultRelInfo);
	ItemPointerData conflict;
	Oid			found = InvalidOid;

	/* indexes of a partitioned table have no entries */
	if (insert->relation->rd_rel->relkind != RELKIND_RELATION)
		return InvalidOid;
	InitResultRelInfo(root, insert->relation, 0, NULL, 0);
	ExecOpenIndices(root, true);
	for (int i = 0; i < root->ri_NumIndices; i++)
	{
		Relation	index = root->ri_IndexRelationDescs[i];

		if ((!OidIsValid(found) || RelationGetRelid(index) == preferred) &&
			(index->rd_index->indisunique || index->rd_index->indisexclusion) &&
			index->rd_index->indimmediate &&
			root->ri_IndexRelationInfo[i]->ii_ReadyForInserts &&
			!csv_check_index_constraints(root, insert->slot, insert->estate,
										 &conflict,
										 list_make1_oid(RelationGetRelid(index))))
			found = RelationGetRelid(index);
	}
	ExecCloseIndices(root);
	return found;
}

/* does the filter let the row in? */
static bool
passes(CsvInsert *insert)
{
	ExprContext *econtext = GetPerTupleExprContext(insert->estate);

	econtext->ecxt_scantuple = insert->slot;
	return ExecQual(insert->filter, econtext);
}

bool
csv_insert_row(CsvInsert *insert)
{
	TupleTableSlot *slot = insert->slot;
	bool		is_in;

	ResetPerTupleExprContext(insert->estate);
	fill_defaults(insert, slot, GetPerTupleExprContext(insert->estate));
	ExecStoreVirtualTuple(slot);
	slot->tts_tableOid = RelationGetRelid(insert->relation);
	is_in = passes(insert);
	if (is_in)
	{
		check_row(insert);
		if (!csv_heap_pages_add(insert->pages, slot->tts_values,
								slot->tts_isnull))
		{
			table_tuple_insert(insert->relation, slot, insert->cid,
							   insert->options,
							   insert->bulk);
			if (insert->entries != NULL)
				csv_index_entries_add_row(insert->entries, slot);
		}
		insert->nrows++;
	}
	ExecClearTuple(slot);
	insert->telling = CSV_TELL_NOTHING;
	return is_in;
}

/* ---- many rows ---- */

bool
csv_insert_takes_runs(CsvInsert *insert, const int *places, int nthreads)
{
	TupleDesc	tupdesc = RelationGetDescr(insert->relation);
	const TupleConstr *constraints = tupdesc->constr;

	if (insert->filter != NULL || insert->relation->rd_rel->relispartition)
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

	insert->telling = CSV_TELL_TABLE;
	if (insert->template.values == NULL)
		fill_template(insert);
	nrows = csv_heap_pages_add_run(insert->pages, run, &insert->template,
								   insert->nthreads, stopped);
	insert->telling = CSV_TELL_NOTHING;
	insert->nrows += nrows;
	return nrows;
}

/* ---- end ---- */

int64
csv_insert_end(CsvInsert *insert)
{
	MemoryContext outer = MemoryContextSwitchTo(insert->context);
	EState	   *estate = insert->estate;
	int64		nrows = insert->nrows;

	insert->telling = CSV_TELL_TABLE;
	csv_heap_pages_end(insert->pages);
	FreeBulkInsertState(insert->bulk);
	if (insert->indexing == CSV_INDEX_BUILT)
		csv_indexes_build(insert->relation);
	else if (insert->entries != NULL)
		csv_index_entries_end(insert->entries);

	ExecASInsertTriggers(estate, insert->root, NULL);
	AfterTriggerEndQuery(estate);
	ExecResetTupleTable(estate->es_tupleTable, false);
	ExecCloseResultRelations(estate);
	ExecCloseRangeTableRelations(estate);
	error_context_stack = insert->callback.previous;
	FreeExecutorState(estate);
	MemoryContextSwitchTo(outer);
	csv_insert_close(insert);
	return nrows;
}
