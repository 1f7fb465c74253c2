/*
 * record_scan.c
 *		The processes of a parallel plan make records of its rows, or write files.
 *
 * A custom scan is put below the Gather or Gather Merge node on top of a finished plan,
 * where each process has the rows that it would send to the leader.  So the leader gets
 * bytes that it only has to write, or no more than a list of files.
 *
 * A piece is a row of the custom scan: columns to merge by, the lengths of records, and
 * their bytes.  A worker's bytes are in the query's shared memory, since the queue of its
 * rows has 64 kB.  Each worker has two parcels there, and fills one while the leader has
 * not taken the other.
 *
 * Below a Gather Merge, a piece is one record, with the columns that rows are sorted by.
 *
 * A Gather of a plain table's scan becomes a Gather Merge by the numbers of the table's
 * blocks, since each worker gets runs of blocks in rising order.  The numbers count from
 * the block where the scan begins, because synchronize_seqscans lets it begin anywhere.
 * A piece has a run of blocks without a gap: then no other process has blocks between
 * them.  A process waits until the runs before its own were fetched.  So it gets runs for
 * whose records a parcel has room.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/execParallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "port/atomics.h"
#include "storage/bufmgr.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/dsa.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "output/record_scan.h"
#include "scan/value.h"
#include "table/release.h"

/*
 * Bytes of a parcel, bytes that complete a piece, and blocks of a run at most.  Shared
 * memory may be short: Docker gives 64 MB to all sessions.
 */
#define CSV_PARCEL_BYTES	(512 * 1024)
#define CSV_PIECE_BYTES		(CSV_PARCEL_BYTES - 64 * 1024)
#define CSV_RUN_BLOCKS		(CSV_PARCEL_BYTES / 2 / BLCKSZ)

/*
 * A piece that is too long for a parcel, because of its last record, goes through the
 * queue of rows.  So does a short one: the leader does not hear of a row until a quarter
 * of the queue is full (shm_mq.c), so rows with a parcel are made that long, too.
 */
#define CSV_QUEUE_BYTES		(16 * 1024)
#define CSV_PARCEL_MS		1000

/* the number of the custom scan in its plan, which no other node has */
#define CSV_PLAN_NODE_ID	PG_INT32_MAX

typedef enum RecordMode
{
	MODE_FILES,
	MODE_PIECES,
	MODE_RUNS,					/* of a table's blocks */
	MODE_SORTED					/* a record each */
} RecordMode;

/* the elements of custom_private: integers, csv_build() first */
enum
{
	PRIVATE_JOB = 2,			/* its handle */
	PRIVATE_MODE,
	PRIVATE_KEYS				/* attribute numbers of the columns to merge by */
};

/* bytes of a piece, in shared memory */
typedef struct CsvParcel
{
	pg_atomic_uint32 is_full;	/* until the leader has read it */
	Latch	   *sender;			/* waits for that */
	int			nbytes;
	char		bytes[CSV_PARCEL_BYTES];
} CsvParcel;

typedef struct RecordScan
{
	CustomScanState css;
	RecordMode	mode;
	List	   *keys;
	CsvWriter  *writer;			/* NULL: no row so far */
	List	   *files;			/* CsvWritten, once all rows are written */
	TupleTableSlot *next;		/* a row that belongs to the next piece, or NULL */
	bool		is_at_end;
	BlockNumber first_block;	/* of a piece */
	BlockNumber last_block;
	StringInfoData bytes;		/* of a piece; both begin with room for a varlena's header */
	StringInfoData lengths;
	dsa_pointer parcels[2];
	int			parcel;			/* that was filled last */
	MemoryContext row_context;
} RecordScan;

static const CustomScanMethods scan_methods;

/* ---- planning ---- */

/* a Gather or Gather Merge that only passes the columns of the plan below it */
static bool
is_passing(const Plan *plan)
{
	ListCell   *cell;

	if (!IsA(plan, GatherMerge) &&
		!(IsA(plan, Gather) && !((const Gather *) plan)->single_copy))
		return false;
	foreach(cell, plan->targetlist)
	{
		const Var  *var = (const Var *) lfirst_node(TargetEntry, cell)->expr;

		if (!IsA(var, Var) || var->varno != OUTER_VAR ||
			var->varattno != foreach_current_index(cell) + 1)
			return false;
	}
	return list_length(plan->targetlist) == list_length(outerPlan(plan)->targetlist);
}

/* is the top a Gather of the parallel scan of a plain table? */
static bool
scans_heap(const PlannedStmt *stmt)
{
	const Plan *scan = outerPlan(stmt->planTree);
	Relation	relation;
	bool		is_heap;

	if (!IsA(stmt->planTree, Gather) || !IsA(scan, SeqScan) || !scan->parallel_aware)
		return false;
	relation = table_open(rt_fetch(((const Scan *) scan)->scanrelid, stmt->rtable)->relid,
						  NoLock);
	is_heap = relation->rd_rel->relam == HEAP_TABLE_AM_OID;
	table_close(relation, NoLock);
	return is_heap;
}

/* may workers call the output functions of all columns? */
static bool
is_safe(const Query *query)
{
	ListCell   *cell;

	foreach(cell, query->targetList)
	{
		const TargetEntry *target = lfirst_node(TargetEntry, cell);
		Oid			function;
		bool		is_varlena;

		if (target->resjunk)
			continue;
		getTypeOutputInfo(exprType((Node *) target->expr), &function, &is_varlena);
		if (func_parallel(function) != PROPARALLEL_SAFE)
			return false;
	}
	return true;
}

/* rows_travel: one by one, from processes to the leader */
static PlannedStmt *
plan_query(const Query *query, const char *text, bool may_be_parallel, bool rows_travel)
{
	int			level = NewGUCNestLevel();
	PlannedStmt *plan;

	if (!rows_travel)
		csv_set_in_level("parallel_tuple_cost", "0");
	plan = pg_plan_query(copyObject(unconstify(Query *, query)), text,
						 may_be_parallel ? CURSOR_OPT_PARALLEL_OK : 0, NULL);
	AtEOXact_GUC(true, level);
	return plan;
}

PlannedStmt *
csv_record_scan_plan(const Query *query, const char *text, CsvRowOrder order)
{
	PlannedStmt *plan;
	PlannedStmt *usual;
	bool		is_merged;
	bool		has_runs;

	if (csv_library_is_replaced(true) || !is_safe(query))
		return plan_query(query, text, false, true);
	plan = plan_query(query, text, true, false);
	if (order == CSV_ORDER_ANY || !plan->parallelModeNeeded)
		return plan;
	is_merged = is_passing(plan->planTree) && IsA(plan->planTree, GatherMerge);
	has_runs = is_passing(plan->planTree) && scans_heap(plan);
	if (is_merged || (has_runs && order == CSV_ORDER_OF_QUERY))
		return plan;
	if (order == CSV_ORDER_OF_QUERY)
		return query->sortClause != NIL ? plan :
			plan_query(query, text, false, true);

	/* rows may come in the order of an index with the user's costs */
	usual = plan_query(query, text, true, true);
	return has_runs && !IsA(usual->planTree, IndexScan) &&
		!IsA(usual->planTree, IndexOnlyScan) ? plan : usual;
}

/* of the scan's rows; only the type counts */
static List *
add_column(List *columns, Oid type, int32 typmod, Oid collation)
{
	return lappend(columns, makeTargetEntry((Expr *) makeNullConst(type, typmod, collation),
											(AttrNumber) (list_length(columns) + 1), NULL,
											false));
}

/* variables for the columns */
static List *
variables_of(const List *columns, int varno)
{
	List	   *variables = NIL;
	ListCell   *cell;

	foreach(cell, columns)
	{
		TargetEntry *column = lfirst_node(TargetEntry, cell);

		variables = lappend(variables,
							makeTargetEntry((Expr *) makeVarFromTargetEntry(varno, column),
											column->resno, NULL, false));
	}
	return variables;
}

/* the scan comes below a Gather or Gather Merge on top of the plan; otherwise on top */
static CustomScan *
put_scan(PlannedStmt *stmt, RecordMode mode, List *columns, List *keys)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *plan = &scan->scan.plan;
	Plan	   *top = stmt->planTree;
	bool		is_below = is_passing(top);
	Plan	   *child = is_below ? outerPlan(top) : top;

	plan->startup_cost = child->startup_cost;
	plan->total_cost = child->total_cost;
	plan->plan_rows = child->plan_rows;
	plan->parallel_safe = child->parallel_safe;
	plan->plan_node_id = CSV_PLAN_NODE_ID;
	plan->targetlist = variables_of(columns, INDEX_VAR);
	plan->extParam = bms_copy(child->extParam);
	plan->allParam = bms_copy(child->allParam);
	scan->methods = &scan_methods;
	scan->custom_plans = list_make1(child);
	scan->custom_private = list_concat(csv_build(), lcons_int(0, lcons_int((int) mode, keys)));
	scan->custom_scan_tlist = columns;
	if (is_below)
	{
		outerPlan(top) = plan;
		top->targetlist = variables_of(columns, OUTER_VAR);
	}
	else
		stmt->planTree = plan;
	return scan;
}

/* the Gather becomes a Gather Merge by the number of the block */
static Plan *
merge_runs(const Gather *gather)
{
	GatherMerge *merge = makeNode(GatherMerge);

	merge->plan = gather->plan;
	merge->plan.type = T_GatherMerge;
	merge->num_workers = gather->num_workers;
	merge->rescan_param = gather->rescan_param;
	merge->initParam = gather->initParam;
	merge->numCols = 1;
	merge->sortColIdx = palloc(sizeof(AttrNumber));
	merge->sortColIdx[0] = 1;
	merge->sortOperators = palloc(sizeof(Oid));
	merge->sortOperators[0] = Int8LessOperator;
	merge->collations = palloc0(sizeof(Oid));
	merge->nullsFirst = palloc0(sizeof(bool));
	return &merge->plan;
}

CustomScan *
csv_record_scan_pieces(PlannedStmt *plan)
{
	Plan	   *top = plan->planTree;
	List	   *columns = NIL;
	List	   *keys = NIL;
	RecordMode	mode = MODE_PIECES;

	if (!is_passing(top))
		return NULL;
	if (IsA(top, GatherMerge))
	{
		GatherMerge *merge = (GatherMerge *) top;

		mode = MODE_SORTED;
		for (int i = 0; i < merge->numCols; i++)
		{
			const TargetEntry *target = list_nth_node(TargetEntry, top->targetlist,
													  merge->sortColIdx[i] - 1);
			const Node *expr = (const Node *) target->expr;

			keys = lappend_int(keys, merge->sortColIdx[i]);
			columns = add_column(columns, exprType(expr), exprTypmod(expr), exprCollation(expr));
			merge->sortColIdx[i] = (AttrNumber) (i + 1);
		}
	}
	else if (scans_heap(plan))
	{
		mode = MODE_RUNS;
		columns = add_column(columns, INT8OID, -1, InvalidOid);
		plan->planTree = merge_runs((const Gather *) top);
	}
	/* after the columns to merge by: lengths, bytes, and the parcel that has the bytes instead */
	columns = add_column(columns, BYTEAOID, -1, InvalidOid);
	columns = add_column(columns, BYTEAOID, -1, InvalidOid);
	return put_scan(plan, mode, add_column(columns, INT8OID, -1, InvalidOid), keys);
}

CustomScan *
csv_record_scan_files(PlannedStmt *plan)
{
	List	   *columns = add_column(NIL, TEXTOID, -1, InvalidOid);

	columns = add_column(columns, INT4OID, -1, InvalidOid);
	columns = add_column(columns, INT8OID, -1, InvalidOid);
	/* the files' rows are merged in any order */
	if (is_passing(plan->planTree) && IsA(plan->planTree, GatherMerge))
		((GatherMerge *) plan->planTree)->numCols = 0;
	return put_scan(plan, MODE_FILES, columns, NIL);
}

void
csv_record_scan_set_job(CustomScan *scan, const CsvJob *job)
{
	lfirst_int(list_nth_cell(scan->custom_private, PRIVATE_JOB)) = (int) csv_job_handle(job);
}

/* ---- execution ---- */

static PlanState *
child_of(RecordScan *scan)
{
	return linitial(scan->css.custom_ps);
}

static void
begin_scan(CustomScanState *css, EState *estate, int eflags)
{
	RecordScan *scan = (RecordScan *) css;
	const CustomScan *plan = (const CustomScan *) css->ss.ps.plan;

	css->custom_ps = list_make1(ExecInitNode(linitial(plan->custom_plans), estate, eflags));
	scan->row_context = AllocSetContextCreate(estate->es_query_cxt, "csv_gpu_fdw row",
											  ALLOCSET_DEFAULT_SIZES);
	initStringInfo(&scan->bytes);
	initStringInfo(&scan->lengths);
}

/*
 * At the first row, when it is known whether other processes have the other cores.  The
 * current memory context is the query's.
 */
static void
begin_writer(RecordScan *scan)
{
	const CustomScan *plan = (const CustomScan *) scan->css.ss.ps.plan;

	scan->writer =
		csv_writer_begin(csv_job_open((uint32) list_nth_int(plan->custom_private, PRIVATE_JOB)));
}

/* bound the runs that this process will get: if records do not fit, by half of today's */
static void
limit_runs(RecordScan *scan, bool do_not_fit)
{
	const ScanState *child = (const ScanState *) child_of(scan);
	ParallelBlockTableScanWorkerData *blocks =
		((const HeapScanDescData *) child->ss_currentScanDesc)->rs_parallelworkerdata;

	if (blocks != NULL)
		blocks->phsw_chunk_size = do_not_fit ? Max(blocks->phsw_chunk_size / 2, 1) :
			Min(blocks->phsw_chunk_size, CSV_RUN_BLOCKS);
}

/* the next row; NULL: there are no more */
static TupleTableSlot *
next_row(RecordScan *scan)
{
	TupleTableSlot *row = scan->next;

	scan->next = NULL;
	if (row == NULL && !scan->is_at_end)
		row = ExecProcNode(child_of(scan));
	if (TupIsNull(row))
	{
		scan->is_at_end = true;
		return NULL;
	}
	if (scan->writer == NULL)
	{
		begin_writer(scan);
		if (scan->mode == MODE_RUNS)
			limit_runs(scan, false);
	}
	slot_getallattrs(row);
	return row;
}

/* the current row's block, from where the scan begins */
static BlockNumber
current_block(const ScanState *scan)
{
	const TupleTableSlot *tuple = scan->ss_ScanTupleSlot;
	BlockNumber block = ItemPointerGetBlockNumberNoCheck(&tuple->tts_tid);
	const ParallelBlockTableScanDescData *blocks =
		(const ParallelBlockTableScanDescData *) scan->ss_currentScanDesc->rs_parallel;

	if (blocks == NULL)
		return block;
	return block - blocks->phs_startblock +
		(block < blocks->phs_startblock ? blocks->phs_nblocks : 0);
}

/* does the current row belong to the piece?  The first one does. */
static bool
continues_run(RecordScan *scan, bool is_first)
{
	BlockNumber block = current_block((const ScanState *) child_of(scan));

	if (is_first)
		scan->first_block = scan->last_block = block;
	if (block - scan->last_block > 1)
		return false;
	scan->last_block = block;
	return true;
}

/* bytes of a varlena; the caller's memory context is the query's */
static void
begin_bytes(StringInfo bytes)
{
	/* one long record may have made it large */
	if (bytes->maxlen > 4 * CSV_PIECE_BYTES)
	{
		pfree(bytes->data);
		initStringInfo(bytes);
	}
	bytes->len = VARHDRSZ;
}

static Datum
end_bytes(StringInfo bytes)
{
	SET_VARSIZE(bytes->data, bytes->len);
	return PointerGetDatum(bytes->data);
}

/*
 * The parcel that is next, empty.  NULL: it has been full for a while, and the queue of
 * rows is a better place to wait.
 */
static CsvParcel *
find_parcel(RecordScan *scan, dsa_area *area)
{
	dsa_pointer *at = &scan->parcels[scan->parcel ^= 1];
	CsvParcel  *parcel = dsa_get_address(area, *at);

	if (parcel == NULL)
	{
		*at = dsa_allocate(area, sizeof(CsvParcel));
		parcel = dsa_get_address(area, *at);
		pg_atomic_init_u32(&parcel->is_full, 0);
		parcel->sender = MyLatch;
	}
	while (pg_atomic_read_u32(&parcel->is_full) != 0)
	{
		if (WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					  CSV_PARCEL_MS, PG_WAIT_EXTENSION) & WL_TIMEOUT)
			return NULL;
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return parcel;
}

/* put the piece's bytes into a parcel, if that is better; otherwise returns 0 */
static dsa_pointer
fill_parcel(RecordScan *scan)
{
	int			n = scan->bytes.len - VARHDRSZ;
	CsvParcel  *parcel;

	if (!IsParallelWorker() || n <= CSV_QUEUE_BYTES || n > CSV_PARCEL_BYTES)
		return InvalidDsaPointer;
	parcel = find_parcel(scan, scan->css.ss.ps.state->es_query_dsa);
	if (parcel == NULL)
		return InvalidDsaPointer;
	memcpy(parcel->bytes, scan->bytes.data + VARHDRSZ, (size_t) n);
	parcel->nbytes = n;
	pg_atomic_write_u32(&parcel->is_full, 1);
	scan->bytes.len = VARHDRSZ + CSV_QUEUE_BYTES;
	return scan->parcels[scan->parcel];
}

static void
add_record(RecordScan *scan, const TupleTableSlot *row)
{
	MemoryContext outer = MemoryContextSwitchTo(scan->row_context);
	int			length = -scan->bytes.len;

	MemoryContextReset(scan->row_context);
	csv_writer_format(scan->writer, row->tts_values, row->tts_isnull, &scan->bytes);
	length += scan->bytes.len;
	appendBinaryStringInfoNT(&scan->lengths, (const char *) &length, sizeof(length));
	MemoryContextSwitchTo(outer);
}

static bool
next_piece(RecordScan *scan, TupleTableSlot *piece)
{
	int			most = scan->mode == MODE_SORTED ? 1 : CSV_PIECE_BYTES;
	int			n = 0;
	TupleTableSlot *row;
	ListCell   *cell;

	begin_bytes(&scan->bytes);
	begin_bytes(&scan->lengths);
	while (scan->bytes.len - VARHDRSZ < most && (row = next_row(scan)) != NULL)
	{
		if (scan->mode == MODE_RUNS && !continues_run(scan, scan->lengths.len == VARHDRSZ))
		{
			scan->next = row;
			break;
		}
		add_record(scan, row);
		foreach(cell, scan->keys)
		{
			piece->tts_values[n] = row->tts_values[lfirst_int(cell) - 1];
			piece->tts_isnull[n++] = row->tts_isnull[lfirst_int(cell) - 1];
		}
	}
	if (scan->lengths.len == VARHDRSZ)
		return false;
	if (scan->mode == MODE_RUNS)
	{
		if (scan->bytes.len - VARHDRSZ >= most)
			limit_runs(scan, true);
		piece->tts_isnull[n] = false;
		piece->tts_values[n++] = Int64GetDatum(scan->first_block);
	}
	piece->tts_isnull[n] = piece->tts_isnull[n + 1] = piece->tts_isnull[n + 2] = false;
	piece->tts_values[n + 2] = Int64GetDatum((int64) fill_parcel(scan));
	piece->tts_values[n] = end_bytes(&scan->lengths);
	piece->tts_values[n + 1] = end_bytes(&scan->bytes);
	return true;
}

/* after the last row: a file that the process has left; false: no more */
static bool
next_file(RecordScan *scan, TupleTableSlot *slot)
{
	MemoryContext outer;
	const CsvWritten *file;
	TupleTableSlot *row;

	while ((row = next_row(scan)) != NULL)
	{
		outer = MemoryContextSwitchTo(scan->row_context);
		MemoryContextReset(scan->row_context);
		csv_writer_add(scan->writer, row->tts_values, row->tts_isnull);
		MemoryContextSwitchTo(outer);
	}
	if (scan->writer != NULL)
		scan->files = csv_writer_end(scan->writer, false);
	scan->writer = NULL;
	if (scan->files == NIL)
		return false;
	file = llast(scan->files);
	scan->files = list_delete_last(scan->files);
	MemoryContextReset(scan->row_context);
	outer = MemoryContextSwitchTo(scan->row_context);
	slot->tts_isnull[0] = slot->tts_isnull[1] = slot->tts_isnull[2] = false;
	slot->tts_values[0] = CStringGetTextDatum(file->stream);
	slot->tts_values[1] = Int32GetDatum(file->number);
	slot->tts_values[2] = Int64GetDatum(file->nrecords);
	MemoryContextSwitchTo(outer);
	return true;
}

static TupleTableSlot *
execute_scan(CustomScanState *css)
{
	RecordScan *scan = (RecordScan *) css;
	TupleTableSlot *slot = ExecClearTuple(css->ss.ss_ScanTupleSlot);
	MemoryContext outer = MemoryContextSwitchTo(css->ss.ps.state->es_query_cxt);

	if (scan->mode == MODE_FILES ? next_file(scan, slot) : next_piece(scan, slot))
		ExecStoreVirtualTuple(slot);
	MemoryContextSwitchTo(outer);
	return slot;
}

static void
end_scan(CustomScanState *css)
{
	ExecEndNode(linitial(css->custom_ps));
}

static void
rescan(CustomScanState *css)
{
	elog(ERROR, "rows of output cannot be scanned again");
}

static const CustomExecMethods exec_methods = {
	.CustomName = "csv_gpu_fdw records",
	.BeginCustomScan = begin_scan,
	.ExecCustomScan = execute_scan,
	.EndCustomScan = end_scan,
	.ReScanCustomScan = rescan
};

static Node *
create_state(CustomScan *scan)
{
	RecordScan *state = palloc0(sizeof(RecordScan));

	csv_check_build(scan->custom_private);
	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &exec_methods;
	state->mode = (RecordMode) list_nth_int(scan->custom_private, PRIVATE_MODE);
	state->keys = list_copy_tail(scan->custom_private, PRIVATE_KEYS);
	return (Node *) state;
}

static const CustomScanMethods scan_methods = {
	.CustomName = "csv_gpu_fdw records",
	.CreateCustomScanState = create_state
};

/* workers look the methods up */
void
csv_record_scan_init(void)
{
	RegisterCustomScanMethods(&scan_methods);
}

/* ---- pieces ---- */

/* the shared memory of a plan; NULL: there are no workers */
static dsa_area *
area_of(const PlanState *top)
{
	const ParallelExecutorInfo *workers =
		IsA(top, GatherMergeState) ? ((const GatherMergeState *) top)->pei :
		((const GatherState *) top)->pei;

	return workers == NULL ? NULL : workers->area;
}

void
csv_records_take(TupleTableSlot *slot, const PlanState *top, CsvRecords *piece)
{
	int			n = slot->tts_tupleDescriptor->natts;
	dsa_pointer at;
	const bytea *lengths;
	const bytea *bytes;

	slot_getallattrs(slot);
	lengths = DatumGetByteaPP(slot->tts_values[n - 3]);
	bytes = DatumGetByteaPP(slot->tts_values[n - 2]);
	at = (dsa_pointer) DatumGetInt64(slot->tts_values[n - 1]);
	piece->nrecords = (int) (VARSIZE_ANY_EXHDR(lengths) / sizeof(int));
	piece->lengths = VARDATA_ANY(lengths);
	piece->nbytes = (int) VARSIZE_ANY_EXHDR(bytes);
	piece->bytes = VARDATA_ANY(bytes);
	piece->parcel = NULL;
	if (at == InvalidDsaPointer)
		return;
	piece->parcel = dsa_get_address(area_of(top), at);
	piece->nbytes = piece->parcel->nbytes;
	piece->bytes = piece->parcel->bytes;
}

int
csv_records_next(CsvRecords *piece, const char **record)
{
	int			length;

	memcpy(&length, piece->lengths, sizeof(length));
	*record = piece->bytes;
	piece->lengths += sizeof(length);
	piece->bytes += length;
	piece->nbytes -= length;
	piece->nrecords--;
	return length;
}

void
csv_records_release(CsvRecords *piece)
{
	CsvParcel  *parcel = piece->parcel;
	Latch	   *sender;

	if (parcel == NULL)
		return;
	/* all has been read before the sender may write */
	sender = parcel->sender;
	pg_memory_barrier();
	pg_atomic_write_u32(&parcel->is_full, 0);
	SetLatch(sender);
}
