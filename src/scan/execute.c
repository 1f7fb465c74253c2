/*
 * execute.c
 *		Runs scans of one foreign table, and of aggregates on it.
 *
 * A plan carries the attribute numbers that the scan must deliver, and the engine's
 * program.  Everything else is read from the catalogs again when the scan begins, so
 * that a prepared statement sees the options of that time.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/table.h"
#include "common/int.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/rel.h"

#include "query/best.h"
#include "scan/execute.h"
#include "table/release.h"
#include "table/source.h"

CsvAwaitedScan *csv_awaited_scan = NULL;

/* ---- plans ---- */

Bitmapset *
csv_plan_set(const ForeignScan *plan, CsvPlanItem item)
{
	Bitmapset  *set = NULL;
	ListCell   *cell;

	foreach(cell, (List *) list_nth(plan->fdw_private, item))
		set = bms_add_member(set, lfirst_int(cell));
	return set;
}

bool
csv_plan_has_order(const ForeignScan *plan)
{
	return list_nth(plan->fdw_private, CSV_PLAN_ORDER) != NIL;
}

double
csv_plan_rows_out(const ForeignScan *plan)
{
	return linitial_int(list_nth(plan->fdw_private, CSV_PLAN_ROWS_OUT)) / 100.0;
}

/* of a finished plan: clauses on the table, as the executor evaluates them */
static List *
plan_clauses(const ForeignScan *plan)
{
	if (plan->scan.scanrelid == 0)
		return list_concat_copy(list_nth(plan->fdw_private, CSV_PLAN_QUALS),
								list_nth(plan->fdw_private,
										 CSV_PLAN_FILE_QUALS));
	return plan->fdw_recheck_quals != NIL ? plan->fdw_recheck_quals :
		plan->scan.plan.qual;
}

/* ---- the query ---- */

/* 0 for NULL, and for a number for which Limit raises an ERROR */
static int64
evaluate(ExprState *expr, ExprContext *econtext, bool *isnull)
{
	Datum		datum = ExecEvalExprSwitchContext(expr, econtext, isnull);

	return *isnull ? 0 : Max(DatumGetInt64(datum), 0);
}

/* Set the query's limit, as the executor's Limit node computes it. */
static void
set_limit(CsvQuery *query, ExprState *count, ExprState *offset,
		  ExprContext *econtext)
{
	bool		no_limit;
	bool		no_offset;
	int64		nrows = evaluate(count, econtext, &no_limit);
	int64		nskipped = evaluate(offset, econtext, &no_offset);
	int64		limit;

	query->limit = 0;
	query->limit_bytes = (size_t) work_mem * 1024;
	if (no_limit || pg_add_s64_overflow(nrows, nskipped, &limit) ||
		limit > CSV_MOST_ORDERED ||
		(size_t) limit * query->norder * sizeof(CsvBestKey) >
		query->limit_bytes)
		return;
	query->limit = (uint32_t) limit;
}

static bool
is_filling(const CsvScanState *state)
{
	return state->lookup != NULL && state->lookup->state == CSV_LOOKUP_FILLS;
}

/* CsvPushdown.prepare: the query of a scan that begins, or that has come this far */
static const CsvQuery *
prepare_query(void *arg, bool has_rows, bool again, CsvDecidable *decidable)
{
	ForeignScanState *node = arg;
	CsvScanState *state = node->fdw_state;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	CsvKnown	known = !has_rows ? CSV_KNOWS_NONE :
		is_filling(state) ? CSV_KNOWS_LASTING : CSV_KNOWS_ALL;
	CsvQuery   *query;

	if (again && (is_filling(state) ||
				  !csv_program_is_ready(state->pushdown.program,
										state->constants, econtext)))
		return NULL;
	query = csv_program_query(state->pushdown.program, state->constants,
							  econtext, known, decidable);
	if (state->limit[0] != NULL && known == CSV_KNOWS_ALL)
		set_limit(query, state->limit[0], state->limit[1], econtext);
	return query;
}

/* CsvPushdown.prepared: the query is ready */
static void
attach_evaluator(void *arg, CsvEvaluation *evaluation, CsvEvaluator *evaluator)
{
	CsvScanState *state = ((ForeignScanState *) arg)->fdw_state;

	if (state->aggregation != NULL)
		csv_aggregation_attach(state->aggregation, evaluation, evaluator);
}

/* CsvPushdown.file_value */
static void
get_file_value(void *arg, AttrNumber attnum, CsvValue *value)
{
	CsvScanState *state = ((ForeignScanState *) arg)->fdw_state;
	CsvRegister reg = {.type = state->table->columns[attnum - 1].type};
	Datum		datum;
	bool		isnull;

	memset(value, 0, sizeof(*value));
	if (!csv_scan_file_value(state->scan, attnum, &datum, &isnull))
		value->state = CSV_LANE_UNDECIDED;
	else if (isnull)
		value->state = CSV_LANE_NULL;
	else
		(void) csv_value_of_datum(&reg, datum, value);
}

/* CsvPushdown.spills: the evaluator's groups are about to go to a file */
static void
spill_aggregation(void *arg)
{
	CsvScanState *state = ((ForeignScanState *) arg)->fdw_state;

	csv_aggregation_spill(state->aggregation);
}

/* ---- files ---- */

/*
 * Leave out files by clauses that hold in all scans, so that the engine is chosen for
 * the other files.  If the plan is only explained, Params have no values.
 */
static void
begin_files(ForeignScanState *node, bool only_explain)
{
	CsvScanState *state = node->fdw_state;
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	List	   *quals = list_nth(plan->fdw_private, CSV_PLAN_FILE_QUALS);

	if (quals == NIL ||
		(only_explain && csv_expression_params((Node *) quals) != NIL))
		return;
	state->files = csv_file_filter_create(state->table, quals, &node->ss.ps,
										  only_explain);
	if (state->files == NULL)
		return;
	csv_file_filter_leave_out(state->files, node->ss.ps.ps_ExprContext, false);
	state->files_decided = !state->files->varies;
	if (state->files_decided)
		return;
	state->all_bytes = Max(csv_source_size(state->table).data_bytes, 0);
	/* processes that share the scan leave out files only once (parallel_path.c) */
	state->table->left_out_varies = !plan->scan.plan.parallel_aware;
}

void
csv_decide_files(ForeignScanState *node)
{
	CsvScanState *state = node->fdw_state;

	if (state->files == NULL || state->files_decided)
		return;
	csv_file_filter_leave_out(state->files, node->ss.ps.ps_ExprContext, true);
	csv_batches_choose_files(state->scan->batches);
	state->files_decided = true;
}

/* ---- execution ---- */

static void
begin_aggregation(ForeignScanState *node)
{
	CsvScanState *state = node->fdw_state;
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	List	   *lists = list_nth(plan->fdw_private, CSV_PLAN_RESULTS);
	List	   *scanned = list_nth(plan->fdw_private, CSV_PLAN_RELATION);
	Relation	relation = table_open(linitial_oid(scanned), NoLock);

	state->aggregation =
		csv_aggregation_create(node, state->pushdown.program,
							   CreateTupleDescCopy(RelationGetDescr(relation)),
							   copyObject(plan_clauses(plan)),
							   linitial(lists), lsecond(lists));
	table_close(relation, NoLock);
}

/*
 * Prepare to look rows up, if the scan may be repeated.  Not if processes share the
 * scan, because each process has only a part of the rows.
 */
static void
begin_lookup(ForeignScanState *node)
{
	CsvScanState *state = node->fdw_state;
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	List	   *equalities = list_nth(plan->fdw_private, CSV_PLAN_EQUALITIES);
	List	   *clauses;
	TupleTableSlot *row = state->aggregation != NULL ?
		csv_aggregation_row(state->aggregation) : node->ss.ss_ScanTupleSlot;

	if (equalities == NIL || plan->scan.plan.parallel_aware)
		return;
	clauses = copyObject(plan_clauses(plan));
	fix_opfuncids((Node *) clauses);
	state->lookup = csv_lookup_create(&node->ss.ps, row->tts_tupleDescriptor,
									  csv_plan_set(plan, CSV_PLAN_WANTED), clauses,
									  equalities);
}

static bool
all_literal(const List *exprs)
{
	ListCell   *cell;

	foreach(cell, exprs)
		if (!IsA(lfirst(cell), Const))
			return false;
	return true;
}

static bool
is_awaited(const ForeignScanState *node)
{
	return csv_awaited_scan != NULL && csv_awaited_scan->node == node &&
		!csv_awaited_scan->has_ended;
}

/* does the awaited scan begin here? */
static bool
begins_awaited(const ForeignScanState *node, Oid relid, int eflags)
{
	const CsvAwaitedScan *awaited = csv_awaited_scan;
	const char *sql = node->ss.ps.state->es_sourceText;

	return awaited != NULL && awaited->node == NULL &&
		awaited->table->relid == relid &&
		(awaited->sql == NULL ||
		 (sql != NULL && strcmp(awaited->sql, sql) == 0)) &&
		(eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0;
}

/* the table of an awaited scan's caller, or the table as in the catalogs */
static CsvTable *
get_table(ForeignScanState *node, Oid relid, int eflags)
{
	CsvTable   *table;

	if (begins_awaited(node, relid, eflags))
	{
		csv_awaited_scan->node = node;
		return csv_awaited_scan->table;
	}
	table = csv_table_get(relid);
	csv_table_check(table);
	return table;
}

void
csv_open_scan(ForeignScanState *node)
{
	CsvScanState *state = node->fdw_state;
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	CsvSkippedFn skipped = is_awaited(node) ? csv_awaited_scan->skipped : NULL;
	MemoryContext outer =
		MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);

	/* resident columns have no bytes for it */
	state->scan = csv_table_scan_begin(state->table,
									   csv_plan_set(plan, CSV_PLAN_WANTED),
									   state->pushdown.program != NULL ?
									   &state->pushdown : NULL,
									   skipped == NULL ? CSV_SCAN_RESIDENT :
									   csv_awaited_scan->places ?
									   CSV_SCAN_PLACES : 0,
									   skipped,
									   skipped != NULL ? csv_awaited_scan->arg : NULL);
	state->scan->shows_progress = !IsParallelWorker();
	state->scan->progress_relid = is_awaited(node) ?
		csv_awaited_scan->shown_relid : state->table->relid;
	MemoryContextSwitchTo(outer);
}

void
csv_begin_scan(ForeignScanState *node, int eflags)
{
	CsvScanState *state = palloc0(sizeof(CsvScanState));
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	List	   *relation = list_nth(plan->fdw_private, CSV_PLAN_RELATION);
	List	   *program = list_nth(plan->fdw_private, CSV_PLAN_PROGRAM);
	/* the leader tells a worker about the table and its files */
	bool		is_told = plan->scan.plan.parallel_aware && IsParallelWorker();

	csv_check_build(list_nth(plan->fdw_private, CSV_PLAN_BUILD));
	node->fdw_state = state;
	if (!is_told)
	{
		state->table = get_table(node, linitial_oid(relation), eflags);
		begin_files(node, (eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0);
		csv_source_decide_resident(state->table);
	}
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	if (program != NIL)
	{
		state->pushdown.program = csv_program_from_node(linitial(program));
		state->pushdown.prepare = prepare_query;
		state->pushdown.prepared = attach_evaluator;
		state->pushdown.spills = spill_aggregation;
		state->pushdown.file_value = get_file_value;
		state->pushdown.hidden = csv_plan_set(plan, CSV_PLAN_HIDDEN);
		state->pushdown.few_rows = csv_plan_has_order(plan);
		state->pushdown.rows_out = csv_plan_rows_out(plan);
		state->pushdown.is_literal = all_literal(plan->fdw_exprs);
		state->pushdown.arg = node;
		state->constants = ExecInitExprList(plan->fdw_exprs, &node->ss.ps);
		if (csv_plan_has_order(plan))
		{
			int			n = list_length(state->constants);

			state->limit[0] = list_nth(state->constants, n - 2);
			state->limit[1] = list_nth(state->constants, n - 1);
		}
	}
	if (plan->scan.scanrelid == 0)
		begin_aggregation(node);
	if (!is_told)
		csv_open_scan(node);
	begin_lookup(node);
	/* attributes that are not wanted stay NULL */
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts);
}

/* the next row, from the lookup or the scan; it may be undecided */
static bool
fetch_row(CsvScanState *state, TupleTableSlot *slot)
{
	return state->looks_up ?
		csv_lookup_next(state->lookup, slot->tts_values, slot->tts_isnull) :
		csv_table_scan_next(state->scan, slot->tts_values, slot->tts_isnull);
}

/* the next row that passes the filters */
static bool
next_row(ForeignScanState *node, TupleTableSlot *slot)
{
	CsvScanState *state = node->fdw_state;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;

	while (fetch_row(state, slot))
	{
		ExecStoreVirtualTuple(slot);
		if (!state->looks_up && !state->scan->undecided)
			return true;
		ResetExprContext(econtext);
		econtext->ecxt_scantuple = slot;
		if (ExecQual(node->fdw_recheck_quals, econtext))
			return true;
		state->scan->batches->statistics.filtered++;
		CHECK_FOR_INTERRUPTS();
		ExecClearTuple(slot);
	}
	return false;
}

/* the next row that the caller of an awaited scan takes */
static void
next_awaited_row(ForeignScanState *node, TupleTableSlot *slot)
{
	void	   *arg = csv_awaited_scan->arg;

	do
	{
		CHECK_FOR_INTERRUPTS();
		ExecClearTuple(slot);
		(void) csv_awaited_scan->takes(arg, node, false);
	} while (next_row(node, slot) && !csv_awaited_scan->takes(arg, node, true));
}

/* take all batches, and add the rows that the engine could not decide */
static void
aggregate_rows(CsvScanState *state)
{
	TupleTableSlot *row = csv_aggregation_row(state->aggregation);

	for (;;)
	{
		ExecClearTuple(row);
		if (!fetch_row(state, row))
			break;
		CHECK_FOR_INTERRUPTS();
		ExecStoreVirtualTuple(row);
		if (!csv_aggregation_add_row(state->aggregation))
			state->scan->batches->statistics.filtered++;
	}
	csv_aggregation_finish(state->aggregation,
						   state->scan->batches->evaluation);
}

void
csv_begin_shared(CsvScanState *state)
{
	state->has_begun = true;
	state->scan->join_filters = state->join_filters;
	if (state->shared == NULL || state->dsa == NULL ||
		(state->pcxt != NULL && state->pcxt->nworkers_launched == 0))
		return;
	csv_table_scan_share(state->scan, state->shared, state->dsa);
	state->is_shared = true;
}

TupleTableSlot *
csv_iterate_scan(ForeignScanState *node)
{
	CsvScanState *state = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	ExecClearTuple(slot);
	if (!state->has_begun)
		csv_begin_shared(state);
	if (!state->looks_up)
		csv_decide_files(node);
	if (state->aggregation == NULL && is_awaited(node) &&
		csv_awaited_scan->takes != NULL)
		next_awaited_row(node, slot);
	else if (state->aggregation == NULL)
		next_row(node, slot);
	else
	{
		if (!state->aggregated)
			aggregate_rows(state);
		state->aggregated = true;
		if (csv_aggregation_next(state->aggregation, slot->tts_values,
								 slot->tts_isnull))
			ExecStoreVirtualTuple(slot);
	}
	return slot;
}

void
csv_rescan(ForeignScanState *node)
{
	CsvScanState *state = node->fdw_state;

	/* groups do not change as long as no parameter changes */
	if (state->aggregated && node->ss.ps.chgParam == NULL &&
		csv_aggregation_rewind(state->aggregation))
		return;
	state->aggregated = false;
	if (state->files != NULL && state->files->varies)
	{
		csv_file_filter_leave_out(state->files, node->ss.ps.ps_ExprContext, false);
		state->files_decided = false;
	}
	state->looks_up = state->lookup != NULL &&
		csv_lookup_rescan(state->lookup, state->scan, state->all_bytes);
	if (!state->looks_up)
		csv_table_scan_rewind(state->scan);
	else if (state->aggregation != NULL)
		csv_aggregation_renew(state->aggregation, state->scan->batches->evaluation);
}

void
csv_end_scan(ForeignScanState *node)
{
	CsvScanState *state = node->fdw_state;

	if (state == NULL)
		return;
	if (state->lookup != NULL)
		csv_lookup_end(state->lookup);
	if (is_awaited(node))
	{
		csv_table_scan_statistics(state->scan, &csv_awaited_scan->statistics);
		csv_awaited_scan->has_ended = true;
	}
	if (state->scan != NULL)
		csv_table_scan_end(state->scan);
}
