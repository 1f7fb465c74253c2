/*
 * foreignscan.c
 *		Plans and runs scans of one foreign table.
 *
 * The plan carries the attribute numbers that the scan must deliver (those in
 * the target list and in the WHERE clauses), and the table where the scan
 * stands for aggregates on it.  Everything else is read from the catalogs again
 * when the scan begins, so that a prepared statement sees options as they are
 * then.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "commands/explain.h"
#include "commands/vacuum.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/sampling.h"

#include "batches/choose.h"
#include "batches/resident.h"
#include "compat.h"
#include "groups/aggregate.h"
#include "import/import.h"
#include "plan/foreignscan.h"
#include "plan/order.h"
#include "plan/shippable.h"
#include "scan/scan.h"
#include "table/source.h"

/*
 * Cost of finding the records, by page of the file, and of making one value of
 * one row, in units of cpu_operator_cost.
 */
#define CSV_COST_PER_PAGE	40
#define CSV_COST_PER_VALUE	0.7

/* likewise, of one operation of the engine on one row */
#define CSV_COST_PER_OPERATION	0.1

/* and of beginning a scan, once more perhaps */
#define CSV_COST_PER_SCAN	20

/* what an execution keeps */
typedef struct CsvScanState
{
	CsvTable   *table;
	CsvTableScan *scan;
	List	   *constants;		/* ExprStates */
	ExprState  *limit[2];		/* LIMIT and OFFSET; NULL: all rows are wanted */
	CsvPushdown pushdown;		/* program NULL: none */
	CsvAggregation *aggregation;	/* NULL: rows */
	bool		aggregated;		/* all rows are read */
} CsvScanState;

/* ---- planning ---- */

/*
 * The attributes that the query uses; a whole-row reference uses them all.
 */
static Bitmapset *
wanted_attributes(RelOptInfo *baserel, const CsvTable *table)
{
	Bitmapset  *used = NULL;
	Bitmapset  *wanted = NULL;
	int			member = -1;
	ListCell   *cell;

	pull_varattnos((Node *) baserel->reltarget->exprs, baserel->relid, &used);
	foreach(cell, baserel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);

		pull_varattnos((Node *) rinfo->clause, baserel->relid, &used);
	}
	while ((member = bms_next_member(used, member)) >= 0)
	{
		AttrNumber	attnum = member + FirstLowInvalidHeapAttributeNumber;

		if (attnum > 0)
			wanted = bms_add_member(wanted, attnum);
		else if (attnum == 0)
			wanted = bms_add_members(wanted, csv_table_attributes(table));
	}
	return wanted;
}

/*
 * Values of some types can be refused in a subtransaction only (value.c), and
 * before 17 a query that uses parallel workers can have none.  So keep them
 * away from what is not planned yet of this query and those around it.
 */
static void
avoid_parallel_plans(PlannerInfo *root, const CsvPlanState *state)
{
	int			attnum = -1;
	bool		needed = false;

	while ((attnum = bms_next_member(state->wanted, attnum)) >= 0)
		needed |= csv_needs_subtransaction(state->table->columns[attnum - 1].type);
	if (!needed || CSV_HAVE_PARALLEL_SUBTRANSACTIONS)
		return;

	root->glob->parallelModeOK = false;
	for (; root != NULL; root = root->parent_root)
		for (int i = 1; i < root->simple_rel_array_size; i++)
			if (root->simple_rel_array[i] != NULL)
				root->simple_rel_array[i]->consider_parallel = false;
}

/* a WHERE clause, and what decides when the executor gets to it */
typedef struct OrderedClause
{
	RestrictInfo *rinfo;
	Index		security_level;
	bool		joins;			/* it uses other tables, too */
	Cost		cost;			/* of one row */
	int			number;
} OrderedClause;

static int
compare_clauses(const void *a, const void *b)
{
	const OrderedClause *left = a;
	const OrderedClause *right = b;

	if (left->security_level != right->security_level)
		return left->security_level < right->security_level ? -1 : 1;
	if (left->joins != right->joins)
		return left->joins ? 1 : -1;
	if (left->cost != right->cost)
		return left->cost < right->cost ? -1 : 1;
	return left->number - right->number;
}

/*
 * Clauses in the order in which the executor evaluates them, as createplan.c
 * has it (order_qual_clauses): which of several raises an ERROR hangs on it.
 * Those of a join come last, as they do where a scan does not have them.
 */
static List *
order_clauses(PlannerInfo *root, List *clauses)
{
	int			n = list_length(clauses);
	OrderedClause *ordered = palloc(sizeof(OrderedClause) * Max(n, 1));
	List	   *result = NIL;

	for (int i = 0; i < n; i++)
	{
		RestrictInfo *rinfo = list_nth_node(RestrictInfo, clauses, i);
		QualCost	cost;

		cost_qual_eval_node(&cost, (Node *) rinfo, root);
		ordered[i].rinfo = rinfo;
		ordered[i].joins = bms_membership(rinfo->clause_relids) == BMS_MULTIPLE;
		ordered[i].cost = cost.per_tuple;
		ordered[i].number = i;
		ordered[i].security_level = rinfo->leakproof &&
			cost.per_tuple < 10 * cpu_operator_cost ? 0 :
			rinfo->security_level;
	}
	qsort(ordered, n, sizeof(OrderedClause), compare_clauses);
	for (int i = 0; i < n; i++)
		result = lappend(result, ordered[i].rinfo);
	return result;
}

/*
 * Give the engine the clauses that it can have, up to one that it cannot have
 * and that may raise an ERROR: rows that a later one drops would not get there.
 * A leakproof clause raises none; so an engine's filter, which raises none
 * either, never stands in front of one of a lower security level that might
 * tell of the row.  The clauses are in the executor's order; *pushed are those
 * that the program has.  NULL where it can have nothing at all.
 */
static CsvProgram *
push_filters(const CsvPlanState *state, List *clauses, List **pushed)
{
	CsvProgram *program;
	ListCell   *cell;

	*pushed = NIL;
	if (!state->table->settings.enable_pushdown ||
		!csv_columns_shippable(state->table, state->wanted))
		return NULL;
	program = csv_program_create(state->table, state->relid);
	foreach(cell, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);
		Node	   *clause = (Node *) rinfo->clause;

		if (!rinfo->pseudoconstant &&
			csv_program_add_filter(program, rinfo->clause,
								   cell == list_head(clauses)))
			*pushed = lappend(*pushed, rinfo);
		else if (!rinfo->pseudoconstant &&
				 (contain_leaked_vars(clause) ||
				  contain_volatile_functions(clause)))
			break;
	}
	return program;
}

/* the wanted attributes that only the engine's filters use */
static Bitmapset *
hidden_attributes(RelOptInfo *baserel, const CsvPlanState *state, List *quals)
{
	Bitmapset  *used = NULL;
	Bitmapset  *hidden = NULL;
	int			attnum = -1;

	pull_varattnos((Node *) baserel->reltarget->exprs, baserel->relid, &used);
	pull_varattnos((Node *) quals, baserel->relid, &used);
	if (bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, used))
		return NULL;
	while ((attnum = bms_next_member(state->wanted, attnum)) >= 0)
		if (!bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber, used))
			hidden = bms_add_member(hidden, attnum);
	return hidden;
}

/* does the session have the columns?  Then *nrows is their number of rows. */
static bool
find_resident_columns(RelOptInfo *baserel, const CsvPlanState *state,
					  int64 *nrows)
{
	List	   *local = list_difference_ptr(state->restrictinfo, state->pushed);
	int			ncolumns;

	if (!csv_resident_enabled() || state->wanted == NULL)
		return false;
	return csv_batches_are_kept(state->table, state->wanted,
								hidden_attributes(baserel, state,
												  extract_actual_clauses(local,
																		 false)),
								false, &ncolumns, nrows);
}

static void
csv_get_rel_size(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	CsvPlanState *state = palloc0(sizeof(CsvPlanState));
	int64		nbytes;
	int64		nrows;
	double		ntuples;

	state->table = csv_table_get(foreigntableid);
	csv_table_check(state->table);
	state->wanted = wanted_attributes(baserel, state->table);
	state->relid = baserel->relid;
	state->first_relid = (int) baserel->relid;
	state->restrictinfo = order_clauses(root, baserel->baserestrictinfo);
	baserel->fdw_private = state;
	avoid_parallel_plans(root, state);
	state->program = push_filters(state, state->restrictinfo, &state->pushed);
	state->resident = find_resident_columns(baserel, state, &nrows);

	/* as file_fdw: ten pages where the size is not known */
	nbytes = csv_source_data_size(state->table, NULL);
	if (nbytes < 0)
		nbytes = 10 * (int64) BLCKSZ;
	state->pages = (BlockNumber) Min((nbytes + BLCKSZ - 1) / BLCKSZ,
									 (int64) MaxBlockNumber);
	if (state->pages < 1)
		state->pages = 1;
	state->read_speed = csv_engine_speed(&state->table->settings, nbytes,
										 bms_num_members(state->wanted));

	if (state->resident)
		ntuples = clamp_row_est((double) nrows);
	else if (baserel->tuples >= 0 && baserel->pages > 0)
	{
		/* ANALYZE has been here: its density, the size of now */
		ntuples = clamp_row_est(baserel->tuples / (double) baserel->pages *
								(double) state->pages);
	}
	else
	{
		int			width = MAXALIGN(baserel->reltarget->width) +
			MAXALIGN(SizeofHeapTupleHeader);

		ntuples = clamp_row_est((double) nbytes / (double) width);
	}
	baserel->tuples = ntuples;
	baserel->rows = clamp_row_est(ntuples *
								  clauselist_selectivity(root,
														 baserel->baserestrictinfo,
														 0, JOIN_INNER, NULL));
}

Cost
csv_read_cost(const CsvPlanState *state, const CsvProgram *program,
			  double ntuples, double nrows)
{
	double		noperations = CSV_COST_PER_SCAN;
	Cost		cost = 0;

	if (!state->resident)
	{
		cost += state->pages * seq_page_cost;
		noperations += (state->pages * CSV_COST_PER_PAGE +
						ntuples * CSV_COST_PER_VALUE *
						bms_num_members(state->wanted)) / state->read_speed;
	}
	if (program != NULL)
	{
		const CsvProgramCounts *n = &program->n;

		noperations += ntuples * CSV_COST_PER_OPERATION *
			n->nfilter_instructions;
		noperations += nrows * CSV_COST_PER_OPERATION *
			(n->ninstructions - n->nfilter_instructions + n->nkeys +
			 n->naggregates);
	}
	return cost + noperations * cpu_operator_cost;
}

/*
 * A path of so many rows, with these clauses, some of which the program has.
 */
static void
add_scan_path(PlannerInfo *root, RelOptInfo *baserel, List *clauses,
			  List *pushed, const CsvProgram *program, double nrows,
			  Relids required_outer)
{
	CsvPlanState *state = baserel->fdw_private;
	double		nemitted = nrows;
	QualCost	cost;
	Cost		total_cost;

	if (list_length(pushed) < list_length(clauses))
		nemitted = baserel->tuples *
			clauselist_selectivity(root, pushed, (int) baserel->relid,
								   JOIN_INNER, NULL);
	cost_qual_eval(&cost, list_difference_ptr(clauses, pushed), root);
	total_cost = cost.startup +
		csv_read_cost(state, program, baserel->tuples, baserel->rows) +
		nemitted * (cpu_tuple_cost + cost.per_tuple);
	add_path(baserel, (Path *)
			 csv_create_foreignscan_path(root, baserel, nrows, cost.startup,
										 total_cost, required_outer));
}

/* is it the column of that number, as it stands in a clause? */
static bool
is_column_member(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *ec,
				 EquivalenceMember *member, void *arg)
{
	Expr	   *expr = member->em_expr;

	while (IsA(expr, RelabelType))
		expr = ((RelabelType *) expr)->arg;
	return IsA(expr, Var) && ((Var *) expr)->varno == rel->relid &&
		((Var *) expr)->varattno == *(AttrNumber *) arg;
}

/*
 * The clauses that join the table with others, and that a scan can evaluate if
 * it gets the others' values.
 */
static List *
join_clauses(PlannerInfo *root, RelOptInfo *baserel, const CsvPlanState *state)
{
	List	   *candidates = list_copy(baserel->joininfo);
	List	   *movable = NIL;
	int			attnum = -1;
	ListCell   *cell;

	while (baserel->has_eclass_joins &&
		   (attnum = bms_next_member(state->wanted, attnum)) >= 0)
	{
		AttrNumber	number = (AttrNumber) attnum;
		List	   *implied =
			generate_implied_equalities_for_column(root, baserel,
												   is_column_member, &number,
												   baserel->lateral_referencers);

		candidates = list_concat(candidates, implied);
	}
	foreach(cell, candidates)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);

		if (join_clause_is_movable_to(rinfo, baserel))
			movable = lappend(movable, rinfo);
	}
	return movable;
}

/*
 * Paths for the inner side of a nested loop: the engine filters by values of
 * the outer row, each time anew.
 */
static void
add_parameterized_paths(PlannerInfo *root, RelOptInfo *baserel)
{
	CsvPlanState *state = baserel->fdw_private;
	List	   *done = NIL;
	ListCell   *cell;

	if (state->program == NULL)
		return;
	foreach(cell, join_clauses(root, baserel, state))
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);
		Relids		outer = bms_union(rinfo->clause_relids,
									  baserel->lateral_relids);
		ParamPathInfo *param_info;
		CsvProgram *program;
		List	   *clauses;
		List	   *pushed;

		outer = bms_del_member(outer, (int) baserel->relid);
		if (bms_is_empty(outer))
			continue;
		param_info = get_baserel_parampathinfo(root, baserel, outer);
		if (list_member_ptr(done, param_info))
			continue;
		done = lappend(done, param_info);
		clauses = order_clauses(root,
								list_concat_copy(baserel->baserestrictinfo,
												 param_info->ppi_clauses));
		program = push_filters(state, clauses, &pushed);
		if (list_length(pushed) > list_length(state->pushed))
			add_scan_path(root, baserel, clauses, pushed, program,
						  param_info->ppi_rows, param_info->ppi_req_outer);
	}
}

static void
csv_get_paths(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	CsvPlanState *state = baserel->fdw_private;
	double		nrows = baserel->rows;

	if (csv_push_order(root, baserel, state))
		nrows = csv_rows_in_order(root, nrows);
	add_scan_path(root, baserel, state->restrictinfo, state->pushed,
				  state->program, nrows, baserel->lateral_relids);
	add_parameterized_paths(root, baserel);
}

static List *
list_of_set(const Bitmapset *set)
{
	List	   *list = NIL;
	int			member = -1;

	while ((member = bms_next_member(set, member)) >= 0)
		list = lappend_int(list, member);
	return list;
}

static ForeignScan *
csv_get_plan(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid,
			 ForeignPath *best_path, List *tlist, List *scan_clauses,
			 Plan *outer_plan)
{
	CsvPlanState *state = baserel->fdw_private;
	CsvProgram *query = state->program;
	List	   *pushed = state->pushed;
	List	   *program = NIL;
	List	   *constants = NIL;
	List	   *private;
	Bitmapset  *hidden = state->wanted;
	List	   *quals = state->having;
	List	   *recheck = NIL;

	/* with those that join it with the outer side of a nested loop */
	if (best_path->path.param_info != NULL)
	{
		scan_clauses = order_clauses(root, scan_clauses);
		query = push_filters(state, scan_clauses, &pushed);
	}
	if (!state->upper)
	{
		quals = extract_actual_clauses(list_difference_ptr(scan_clauses,
														   pushed),
									   false);
		hidden = hidden_attributes(baserel, state, quals);
	}
	pushed = extract_actual_clauses(pushed, false);

	/*
	 * What the engine could not decide is decided in the executor's order,
	 * among all clauses: one that is false keeps those after it from raising
	 * an ERROR.
	 */
	if (!state->upper && pushed != NIL)
		recheck = contain_volatile_functions((Node *) quals) ? pushed :
			extract_actual_clauses(scan_clauses, false);
	if (state->upper || pushed != NIL || state->order != NIL)
	{
		program = list_make1(csv_program_to_node(query));
		constants = list_concat_copy(csv_program_constants(query),
									 state->limit);
	}

	/* in the order of CsvPlanItem */
	private = list_make3(list_of_set(state->wanted),
						 list_make1_oid(state->table->relid),
						 list_make1_int(state->first_relid));
	private = lappend(private, program);
	private = lappend(private, pushed);
	private = lappend(private, list_make2(state->results, state->sources));
	private = lappend(private, list_of_set(hidden));
	private = lappend(private, state->order);
	return make_foreignscan(tlist, quals, state->upper ? 0 : baserel->relid,
							constants,
							private,
							state->scan_tlist, recheck, outer_plan);
}

/* ---- execution ---- */

static Bitmapset *
plan_set(const ForeignScan *plan, CsvPlanItem item)
{
	Bitmapset  *set = NULL;
	ListCell   *cell;

	foreach(cell, (List *) list_nth(plan->fdw_private, item))
		set = bms_add_member(set, lfirst_int(cell));
	return set;
}

static bool
has_order(const ForeignScan *plan)
{
	return list_nth(plan->fdw_private, CSV_PLAN_ORDER) != NIL;
}

/* the query of a scan that begins; as CsvPushdown has it */
static CsvQuery *
prepare_query(void *arg, bool has_rows, CsvDecidable *decidable)
{
	ForeignScanState *node = arg;
	CsvScanState *state = node->fdw_state;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	CsvQuery   *query = csv_program_query(state->pushdown.program,
										  state->constants, econtext, has_rows,
										  decidable);

	if (state->limit[0] != NULL && has_rows)
		csv_order_limit(query, state->limit[0], state->limit[1], econtext);
	return query;
}

static bool
query_is_ready(void *arg)
{
	ForeignScanState *node = arg;
	CsvScanState *state = node->fdw_state;

	return csv_program_is_ready(state->pushdown.program, state->constants,
								node->ss.ps.ps_ExprContext);
}

/* likewise, when it is ready */
static void
attach_evaluator(void *arg, CsvEvaluator *evaluator)
{
	CsvScanState *state = ((ForeignScanState *) arg)->fdw_state;

	if (state->aggregation != NULL)
		csv_aggregation_attach(state->aggregation, evaluator);
}

static void
begin_aggregation(ForeignScanState *node)
{
	CsvScanState *state = node->fdw_state;
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	List	   *lists = list_nth(plan->fdw_private, CSV_PLAN_RESULTS);
	Relation	relation = table_open(state->table->relid, NoLock);

	state->aggregation =
		csv_aggregation_create(node, state->pushdown.program,
							   CreateTupleDescCopy(RelationGetDescr(relation)),
							   copyObject(list_nth(plan->fdw_private,
												   CSV_PLAN_QUALS)),
							   linitial(lists), lsecond(lists));
	table_close(relation, NoLock);
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

static void
csv_begin_scan(ForeignScanState *node, int eflags)
{
	CsvScanState *state = palloc0(sizeof(CsvScanState));
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	List	   *relation = list_nth(plan->fdw_private, CSV_PLAN_RELATION);
	List	   *program = list_nth(plan->fdw_private, CSV_PLAN_PROGRAM);

	state->table = csv_table_get(linitial_oid(relation));
	csv_table_check(state->table);
	node->fdw_state = state;
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	if (program != NIL)
	{
		state->pushdown.program = csv_program_from_node(linitial(program));
		state->pushdown.prepare = prepare_query;
		state->pushdown.is_ready = query_is_ready;
		state->pushdown.prepared = attach_evaluator;
		state->pushdown.hidden = plan_set(plan, CSV_PLAN_HIDDEN);
		state->pushdown.few_rows = has_order(plan);
		state->pushdown.is_literal = all_literal(plan->fdw_exprs);
		state->pushdown.arg = node;
		state->constants = ExecInitExprList(plan->fdw_exprs, &node->ss.ps);
		if (has_order(plan))
		{
			int			n = list_length(state->constants);

			state->limit[0] = list_nth(state->constants, n - 2);
			state->limit[1] = list_nth(state->constants, n - 1);
		}
	}
	if (plan->scan.scanrelid == 0)
		begin_aggregation(node);
	state->scan = csv_table_scan_begin(state->table, plan_set(plan, CSV_PLAN_WANTED),
									   program != NIL ? &state->pushdown :
									   NULL, true, NULL, NULL);
	csv_table_scan_show_progress(state->scan, state->table->relid);
	/* attributes that are not wanted stay NULL */
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts);
}

/* the next row that passes the filters */
static bool
next_row(ForeignScanState *node, TupleTableSlot *slot)
{
	CsvScanState *state = node->fdw_state;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;

	while (csv_table_scan_next(state->scan, slot->tts_values,
							   slot->tts_isnull))
	{
		ExecStoreVirtualTuple(slot);
		if (state->pushdown.program == NULL ||
			!csv_table_scan_undecided(state->scan))
			return true;
		ResetExprContext(econtext);
		econtext->ecxt_scantuple = slot;
		if (ExecQual(node->fdw_recheck_quals, econtext))
			return true;
		InstrCountFiltered1(node, 1);
		ExecClearTuple(slot);
	}
	return false;
}

/* take all batches, and the rows that the engine could not decide */
static void
aggregate_rows(CsvScanState *state)
{
	TupleTableSlot *row = csv_aggregation_row(state->aggregation);

	for (;;)
	{
		ExecClearTuple(row);
		if (!csv_table_scan_next(state->scan, row->tts_values,
								 row->tts_isnull))
			break;
		ExecStoreVirtualTuple(row);
		csv_aggregation_add_row(state->aggregation);
	}
	csv_aggregation_finish(state->aggregation,
						   csv_table_scan_batches(state->scan));
}

static TupleTableSlot *
csv_iterate_scan(ForeignScanState *node)
{
	CsvScanState *state = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	ExecClearTuple(slot);
	if (state->aggregation == NULL)
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

static void
csv_rescan(ForeignScanState *node)
{
	CsvScanState *state = node->fdw_state;

	/* groups stay what they are as long as no parameter changes */
	if (state->aggregated && node->ss.ps.chgParam == NULL &&
		csv_aggregation_rewind(state->aggregation))
		return;
	csv_table_scan_rewind(state->scan);
	state->aggregated = false;
}

static void
csv_end_scan(ForeignScanState *node)
{
	CsvScanState *state = node->fdw_state;

	if (state == NULL)
		return;
	if (state->aggregation != NULL)
		csv_aggregation_end(state->aggregation);
	if (state->scan != NULL)
		csv_table_scan_end(state->scan);
}

/* ---- EXPLAIN ---- */

/* the number of the table in the finished plan, or of the one it is a part of */
static int
plan_relid(const ForeignScan *plan)
{
	return plan->scan.scanrelid != 0 ? (int) plan->scan.scanrelid :
		bms_next_member(plan->fs_relids, -1);
}

/*
 * Let the Vars of an expression that setrefs.c has not seen refer to the
 * relation as it is numbered in the finished plan.
 */
static void
adopt_relation(Node *node, const ForeignScan *plan)
{
	int			moved;
	List	   *vars = pull_var_clause(node, PVC_RECURSE_AGGREGATES);
	ListCell   *cell;

	/* all relations of a query are moved by as much */
	moved = plan_relid(plan) -
		linitial_int(list_nth(plan->fdw_private, CSV_PLAN_FIRST_RELID));

	/* pull_var_clause returns the nodes themselves */
	foreach(cell, vars)
	{
		Var		   *var = lfirst_node(Var, cell);

		var->varno += moved;
	}
}

/* the WHERE clauses that the engine has */
static List *
engine_quals(const ForeignScan *plan)
{
	return list_nth(plan->fdw_private, CSV_PLAN_QUALS);
}

static bool
has_engine_filter(const ForeignScan *plan)
{
	return engine_quals(plan) != NIL;
}

/* EXPLAIN names no relation of an aggregate's scan: as postgres_fdw does it */
static void
explain_relation(const ForeignScan *plan, Oid relid, ExplainState *es)
{
	int			number = plan_relid(plan);
	const char *name = get_rel_name(relid);
	const char *alias = list_nth(es->rtable_names, number - 1);
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, "Aggregate on (");
	if (es->verbose)
		appendStringInfo(&text, "%s.",
						 quote_identifier(get_namespace_name_or_temp(get_rel_namespace(relid))));
	appendStringInfoString(&text, quote_identifier(name));
	if (alias == NULL)
		alias = rt_fetch(number, es->rtable)->eref->aliasname;
	if (strcmp(alias, name) != 0)
		appendStringInfo(&text, " %s", quote_identifier(alias));
	appendStringInfoChar(&text, ')');
	ExplainPropertyText("Relations", text.data, es);
}

/*
 * What the engine does beyond finding rows.
 */
static void
explain_pushdown(ForeignScanState *node, ExplainState *es)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   (Plan *) plan, NIL);
	bool		prefix = csv_explain_prefix(es);
	List	   *keys = NIL;
	List	   *aggregates = NIL;
	ListCell   *cell;

	if (has_engine_filter(plan))
	{
		Node	   *filter = (Node *)
			make_ands_explicit(copyObject(engine_quals(plan)));

		adopt_relation(filter, plan);
		ExplainPropertyText("Engine Filter",
							deparse_expression(filter, context, prefix, false),
							es);
	}
	if (has_order(plan))
	{
		List	   *order = copyObject(list_nth(plan->fdw_private,
											   CSV_PLAN_ORDER));
		int			n = list_length(plan->fdw_exprs);

		adopt_relation(linitial(order), plan);
		csv_explain_order(order, list_nth(plan->fdw_exprs, n - 2),
						  list_nth(plan->fdw_exprs, n - 1), context, prefix, es);
	}
	if (plan->scan.scanrelid != 0)
		return;
	foreach(cell, plan->fdw_scan_tlist)
	{
		Expr	   *expr = lfirst_node(TargetEntry, cell)->expr;
		char	   *text = deparse_expression((Node *) expr, context, prefix,
											  false);

		if (IsA(expr, Aggref))
			aggregates = lappend(aggregates, text);
		else
			keys = lappend(keys, text);
	}
	if (keys != NIL)
		ExplainPropertyList("Engine Group Key", keys, es);
	if (aggregates != NIL)
		ExplainPropertyList("Engine Aggregates", aggregates, es);
}

/*
 * Were, or would be, all of the wanted columns taken from those that the session
 * keeps?  *ncolumns of them are in the file.
 */
static bool
find_resident(const CsvScanState *state, const ForeignScan *plan,
			  int *ncolumns)
{
	bool		pushes = list_nth(plan->fdw_private, CSV_PLAN_PROGRAM) != NIL;
	int64		nrows;

	if (state->scan != NULL)
	{
		const CsvBatches *batches = csv_table_scan_batches(state->scan);

		*ncolumns = csv_batches_layout(batches)->ncolumns;
		return csv_batches_all_kept(batches);
	}
	return csv_batches_are_kept(state->table, plan_set(plan, CSV_PLAN_WANTED),
								pushes ? plan_set(plan, CSV_PLAN_HIDDEN) :
								NULL, has_order(plan), ncolumns, &nrows);
}

static void
csv_explain_scan(ForeignScanState *node, ExplainState *es)
{
	CsvScanState *state = node->fdw_state;
	const CsvTable *table = state->table;
	const ForeignScan *plan = (const ForeignScan *) node->ss.ps.plan;
	int64		nbytes = csv_source_size(table, NULL);
	int			nattributes = bms_num_members(csv_table_attributes(table));
	int			nwanted = list_length(list_nth(plan->fdw_private,
											   CSV_PLAN_WANTED));
	int			ncolumns = 0;
	bool		resident = csv_resident_enabled() &&
		find_resident(state, plan, &ncolumns);
	const char *engine = state->scan != NULL ?
		csv_batches_engine(csv_table_scan_batches(state->scan)) : NULL;

	if (plan->scan.scanrelid == 0)
		explain_relation(plan, table->relid, es);
	if (table->filename != NULL)
	{
		ExplainPropertyText("CSV File", table->filename, es);
		if (es->costs && nbytes >= 0)
			ExplainPropertyInteger("CSV File Size", "b", nbytes, es);
	}
	else
		ExplainPropertyText("CSV Program", table->program, es);
	/* rows of what is resident come from the CPU's memory */
	if (engine == NULL)
	{
		CsvSettings settings = table->settings;

		if (resident && state->pushdown.program == NULL)
			settings.engine = CSV_ENGINE_CPU;
		engine = csv_engine_describe(&settings,
									 csv_source_data_size(table, NULL), nwanted);
	}
	ExplainPropertyText("Engine", engine, es);
	ExplainPropertyText("Columns",
						psprintf("%d of %d", nwanted, nattributes), es);
	if (csv_resident_enabled() && table->filename != NULL)
		ExplainPropertyText("Resident Columns",
							psprintf("%d of %d", resident ? ncolumns : 0,
									 ncolumns), es);
	explain_pushdown(node, es);

	if (es->analyze && state->scan != NULL)
	{
		CsvScanStatistics statistics;

		csv_table_scan_statistics(state->scan, &statistics);
		ExplainPropertyInteger("Records", NULL, statistics.records, es);
		ExplainPropertyInteger("Skipped Records", NULL, statistics.skipped, es);
		if (has_engine_filter(plan))
			ExplainPropertyInteger("Rows Removed by Engine Filter", NULL,
								   statistics.evaluation.filtered, es);
		if (has_order(plan))
			ExplainPropertyInteger("Rows Removed by Engine Limit", NULL,
								   statistics.evaluation.beyond, es);
		ExplainPropertyInteger("Chunks", NULL, statistics.reading.chunks, es);
		if (statistics.evaluation.answered > 0)
			ExplainPropertyInteger("Chunks Evaluated by GPU", NULL,
								   statistics.evaluation.answered, es);
		if (statistics.evaluation.held > 0)
			ExplainPropertyInteger("Chunks Grouped on GPU", NULL,
								   statistics.evaluation.held, es);
		if (state->aggregation != NULL &&
			csv_aggregation_batches(state->aggregation) > 1)
			ExplainPropertyInteger("Engine Group Batches", NULL,
								   csv_aggregation_batches(state->aggregation),
								   es);
		if (es->timing)
		{
			ExplainPropertyFloat("Read Time", "ms",
								 statistics.reading.read_seconds * 1000, 3, es);
			ExplainPropertyFloat("Copy To Device Time", "ms",
								 statistics.reading.copy_in_seconds * 1000, 3, es);
			ExplainPropertyFloat("Parse Time", "ms",
								 statistics.reading.parse_seconds * 1000, 3, es);
			ExplainPropertyFloat("Copy Back Time", "ms",
								 statistics.reading.copy_out_seconds * 1000, 3, es);
		}
	}
}

/* ---- ANALYZE ---- */

/*
 * A random sample of the rows (Vitter's algorithm Z, as for plain tables).
 */
static int
csv_acquire_sample(Relation relation, int elevel, HeapTuple *rows,
				   int targrows, double *totalrows, double *totaldeadrows)
{
	TupleDesc	tupdesc = RelationGetDescr(relation);
	CsvTable   *table = csv_table_get(RelationGetRelid(relation));
	Datum	   *values = palloc(sizeof(Datum) * tupdesc->natts);
	bool	   *isnull = palloc(sizeof(bool) * tupdesc->natts);
	CsvScanStatistics statistics;
	CsvTableScan *scan;
	ReservoirStateData reservoir;
	double		nseen = 0;
	double		nskip = -1;
	int			nrows = 0;

	csv_table_check(table);
	memset(values, 0, sizeof(Datum) * tupdesc->natts);
	memset(isnull, true, sizeof(bool) * tupdesc->natts);
	reservoir_init_selection_state(&reservoir, targrows);

	scan = csv_table_scan_begin(table, csv_table_attributes(table), NULL, false,
								NULL, NULL);
	while (csv_table_scan_next(scan, values, isnull))
	{
		csv_vacuum_delay_point();
		if (nrows < targrows)
			rows[nrows++] = heap_form_tuple(tupdesc, values, isnull);
		else
		{
			if (nskip < 0)
				nskip = reservoir_get_next_S(&reservoir, nseen, targrows);
			if (nskip <= 0)
			{
				int			k = (int) (targrows *
									   sampler_random_fract(&reservoir.randstate));

				heap_freetuple(rows[k]);
				rows[k] = heap_form_tuple(tupdesc, values, isnull);
			}
			nskip -= 1;
		}
		nseen += 1;
	}
	csv_table_scan_statistics(scan, &statistics);
	csv_table_scan_end(scan);

	*totalrows = nseen;
	*totaldeadrows = 0;
	ereport(elevel,
			(errmsg("\"%s\": file contains %.0f rows; %lld records skipped; %d rows in sample",
					RelationGetRelationName(relation), nseen,
					(long long) statistics.skipped, nrows)));
	return nrows;
}

static bool
csv_analyze_table(Relation relation, AcquireSampleRowsFunc *func,
				  BlockNumber *totalpages)
{
	CsvTable   *table = csv_table_get(RelationGetRelid(relation));
	int64		nbytes = csv_source_data_size(table, NULL);

	/* a program is not run for the sake of statistics, as in file_fdw */
	if (table->filename == NULL)
		return false;
	*totalpages = (BlockNumber) Min((Max(nbytes, 0) + BLCKSZ - 1) / BLCKSZ,
									(int64) MaxBlockNumber);
	if (*totalpages < 1)
		*totalpages = 1;
	*func = csv_acquire_sample;
	return true;
}

void
csv_foreign_scan_callbacks(FdwRoutine *routine)
{
	routine->GetForeignRelSize = csv_get_rel_size;
	routine->GetForeignPaths = csv_get_paths;
	routine->GetForeignPlan = csv_get_plan;
	routine->BeginForeignScan = csv_begin_scan;
	routine->IterateForeignScan = csv_iterate_scan;
	routine->ReScanForeignScan = csv_rescan;
	routine->EndForeignScan = csv_end_scan;
	routine->ExplainForeignScan = csv_explain_scan;
	routine->AnalyzeForeignTable = csv_analyze_table;
	routine->GetForeignUpperPaths = csv_get_upper_paths;
	routine->ImportForeignSchema = csv_import_foreign_schema;
}
