/*
 * joins.c
 *		Finds hash joins whose keys can filter the rows of scans (join_filter.h).
 *
 * A scan does not know its parent nodes, so that a hook of ExecutorStart() walks
 * through the plan when it is set up: in the leader, in each worker, and for EXPLAIN.
 * The hook adds a filter to each scan whose rows reach the outer side of a hash join.
 * To collect the keys, it puts a function of ours before the function of the node that
 * delivers the rows of the hash table.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "scan/execute.h"
#include "scan/join_filter.h"

static bool join_filter = true;
static ExecutorStart_hook_type next_start;

/* the filters of all plans that this process runs */
static CsvJoinFilter *filters = NULL;

/* ---- keys ---- */

/* of the hash table's rows, instead of their node's function */
static TupleTableSlot *
collect_key(PlanState *node)
{
	CsvJoinFilter *filter = filters;
	TupleTableSlot *slot;

	while (filter->child != node)
		filter = filter->next;
	slot = filter->next_row(node);
	csv_join_filter_collect(filter, slot);
	return slot;
}

/* a reset callback */
static void
forget_filter(void *arg)
{
	CsvJoinFilter **link = &filters;

	while (*link != NULL && *link != arg)
		link = &(*link)->next;
	if (*link != NULL)
		*link = (*link)->next;
}

static bool
has_filter(const HashJoinState *join)
{
	const CsvJoinFilter *filter = filters;

	while (filter != NULL && filter->join != join)
		filter = filter->next;
	return filter != NULL;
}

/* in the memory of a plan, until it ends */
static void
remember_filter(CsvJoinFilter *filter)
{
	MemoryContextCallback *callback = palloc(sizeof(MemoryContextCallback));

	callback->func = forget_filter;
	callback->arg = filter;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, callback);
	filter->next = filters;
	filters = filter;
}

static void
collect_keys(CsvJoinFilter *filter)
{
	if (filter->child->ExecProcNodeReal == collect_key)
		return;
	filter->next_row = filter->child->ExecProcNodeReal;
	ExecSetExecProcNode(filter->child, collect_key);
}

/*
 * A join with a shared hash table sets its function once more when it gets its shared
 * memory.  The scans below it get theirs afterwards.
 */
static bool
sets_function(const PlanState *node)
{
	return IsA(node, HashJoinState) && node->plan->parallel_aware;
}

static bool
has_shared_scan(PlanState *node)
{
	if (node == NULL)
		return false;
	if (IsA(node, ForeignScanState))
		return node->plan->parallel_aware &&
			((ForeignScanState *) node)->fdwroutine->IterateForeignScan ==
			csv_iterate_scan;
	return has_shared_scan(outerPlanState(node)) ||
		has_shared_scan(innerPlanState(node));
}

void
csv_joins_have_memory(void)
{
	for (CsvJoinFilter *filter = filters; filter != NULL; filter = filter->next)
		if (sets_function(filter->child))
			collect_keys(filter);
}

/* the column of a node's input that an expression is, or NULL */
static Var *
column_of(Expr *expr, int varno)
{
	while (IsA(expr, RelabelType))
		expr = ((RelabelType *) expr)->arg;
	return IsA(expr, Var) && ((Var *) expr)->varno == varno &&
		((Var *) expr)->varattno > 0 ? (Var *) expr : NULL;
}

/* for a column of a plan's rows (0: not known), the column of its input, or NULL */
static Var *
input_column(const Plan *plan, AttrNumber att, int varno)
{
	return att == 0 ? NULL :
		column_of(list_nth_node(TargetEntry, plan->targetlist, att - 1)->expr, varno);
}

/*
 * Add a key, if equal values have equal hashes: the operator is PostgreSQL's for these
 * types, and so means equality of their bytes or numbers.  *outer becomes the key's
 * column in the rows of the outer side.
 */
static void
add_key(CsvJoinFilter *filter, Expr *outer_key, Expr *inner_key, Oid opno,
		Oid collation, AttrNumber *outer)
{
	const Var  *outer_column = column_of(outer_key, OUTER_VAR);
	const Var  *inner_column = column_of(inner_key, OUTER_VAR);
	Oid			left;
	Oid			right;

	if (outer_column == NULL || inner_column == NULL || opno >= FirstGenbkiObjectId ||
		(OidIsValid(collation) && !get_collation_isdeterministic(collation)))
		return;
	op_input_types(opno, &left, &right);
	if (left != exprType((Node *) outer_key) || right != exprType((Node *) inner_key) ||
		!csv_join_type_allowed(left) || !csv_join_type_allowed(right))
		return;
	filter->outer_types[filter->nkeys] = left;
	filter->inner_types[filter->nkeys] = right;
	filter->inner_atts[filter->nkeys++] = inner_column->varattno;
	*outer = outer_column->varattno;
}

static int
add_keys(CsvJoinFilter *filter, const HashJoin *plan, const Hash *hash,
		 AttrNumber *outer)
{
	for (int i = 0; i < list_length(plan->hashkeys) &&
		 filter->nkeys < CSV_MAX_JOIN_KEYS; i++)
		add_key(filter, list_nth(plan->hashkeys, i), list_nth(hash->hashkeys, i),
				list_nth_oid(plan->hashoperators, i),
				list_nth_oid(plan->hashcollations, i), &outer[filter->nkeys]);
	return filter->nkeys;
}

/* ---- scans ---- */

/* scans whose rows reach one side of a join, and their filters */
typedef struct CsvReached
{
	CsvJoinFilter *filter;
	List	   *scans;			/* ForeignScanStates */
	List	   *scan_filters;
} CsvReached;

static void reach_scans(CsvReached *reached, PlanState *node,
						const AttrNumber *atts);

/* to the rows of a node's input: the keys are its columns, or not known (0) */
static void
reach_input(CsvReached *reached, const Plan *plan, PlanState *input, int varno,
			const AttrNumber *atts)
{
	AttrNumber	below[CSV_MAX_JOIN_KEYS] = {0};

	for (int i = 0; i < reached->filter->nkeys; i++)
	{
		const Var  *column = input_column(plan, atts[i], varno);

		below[i] = column != NULL ? column->varattno : 0;
	}
	reach_scans(reached, input, below);
}

static void
reach_scan(CsvReached *reached, ForeignScanState *node, const AttrNumber *atts)
{
	const ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	CsvJoinFilter *filter = reached->filter;
	CsvScanFilter *scan_filter;
	uint32		known = 0;

	if (node->fdwroutine->IterateForeignScan != csv_iterate_scan ||
		plan->scan.scanrelid == 0 || csv_plan_has_order(plan) ||
		contain_volatile_functions((Node *) plan->fdw_recheck_quals) ||
		/* the rows of a repeated scan may be found by other values next time */
		(list_nth(plan->fdw_private, CSV_PLAN_EQUALITIES) != NIL &&
		 !plan->scan.plan.parallel_aware))
		return;
	scan_filter = palloc0(sizeof(CsvScanFilter));
	scan_filter->filter = filter;
	for (int i = 0; i < filter->nkeys; i++)
	{
		scan_filter->columns[i] = input_column(&plan->scan.plan, atts[i],
											   (int) plan->scan.scanrelid);
		if (scan_filter->columns[i] != NULL)
			known |= 1U << i;
	}
	/* the hash is made of the keys of the first scan */
	if (known == 0 || (filter->used & ~known) != 0)
		return;
	if (filter->used == 0)
		filter->used = known;
	if (filter->owner == NULL && plan->scan.plan.parallel_aware)
		filter->owner = node;
	reached->scans = lappend(reached->scans, node);
	reached->scan_filters = lappend(reached->scan_filters, scan_filter);
}

/*
 * Go down to scans.  Each row of a node here comes from one row of the node below, so
 * that nothing changes if a row without a partner is missing there.
 */
static void
reach_scans(CsvReached *reached, PlanState *node, const AttrNumber *atts)
{
	Plan	   *plan = node->plan;

	check_stack_depth();
	if (contain_volatile_functions((Node *) plan->targetlist) ||
		contain_volatile_functions((Node *) plan->qual))
		return;
	switch (nodeTag(node))
	{
		case T_ForeignScanState:
			reach_scan(reached, castNode(ForeignScanState, node), atts);
			break;
		case T_AppendState:
			for (int i = 0; i < ((AppendState *) node)->as_nplans; i++)
				reach_scans(reached, ((AppendState *) node)->appendplans[i], atts);
			break;
		case T_ResultState:
			if (outerPlanState(node) != NULL)
				reach_input(reached, plan, outerPlanState(node), OUTER_VAR, atts);
			break;
		case T_SubqueryScanState:
			reach_input(reached, plan, ((SubqueryScanState *) node)->subplan,
						(int) ((SubqueryScan *) plan)->scan.scanrelid, atts);
			break;
		case T_HashJoinState:
		case T_NestLoopState:
			if (contain_volatile_functions((Node *) ((Join *) plan)->joinqual))
				break;
			switch (((Join *) plan)->jointype)
			{
				case JOIN_INNER:
				case JOIN_LEFT:
				case JOIN_SEMI:
				case JOIN_ANTI:
					reach_input(reached, plan, outerPlanState(node), OUTER_VAR, atts);
					break;
				default:
					break;
			}
			break;
		default:
			break;
	}
}

/* ---- joins ---- */

/* does a row of the outer side that has no partner never come out? */
static bool
needs_partner(JoinType type)
{
	switch (type)
	{
		case JOIN_INNER:
		case JOIN_SEMI:
		case JOIN_RIGHT:
#if PG_VERSION_NUM >= 160000
		case JOIN_RIGHT_ANTI:
#endif
#if PG_VERSION_NUM >= 180000
		case JOIN_RIGHT_SEMI:
#endif
			return true;
		default:
			return false;
	}
}

static void
add_filter(HashJoinState *join, int eflags)
{
	const HashJoin *plan = (HashJoin *) join->js.ps.plan;
	PlanState  *hash = innerPlanState(join);
	CsvReached	reached = {palloc0(sizeof(CsvJoinFilter)), NIL, NIL};
	CsvJoinFilter *filter = reached.filter;
	AttrNumber	outer[CSV_MAX_JOIN_KEYS] = {0};
	bool		shares = hash->plan->parallel_aware;
	ListCell   *scan;
	ListCell   *scan_filter;

	/* the leader decides whether a filter in shared memory is used */
	if (!needs_partner(plan->join.jointype) ||
		(sets_function(outerPlanState(hash)) &&
		 !has_shared_scan(outerPlanState(hash))) ||
		!(join_filter || (shares && IsParallelWorker())) ||
		add_keys(filter, plan, (Hash *) hash->plan, outer) == 0)
		return;
	filter->join = join;
	filter->child = outerPlanState(hash);
	filter->nwords = csv_join_filter_words(outerPlan(hash->plan)->plan_rows);
	reach_scans(&reached, outerPlanState(join), outer);
	if (reached.scans == NIL || (shares && filter->owner == NULL))
		return;
	if (!shares)
		filter->owner = NULL;
	forboth(scan, reached.scans, scan_filter, reached.scan_filters)
	{
		CsvScanState *state = lfirst_node(ForeignScanState, scan)->fdw_state;

		state->join_filters = lappend(state->join_filters, lfirst(scan_filter));
	}
	remember_filter(filter);
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0)
		return;
	collect_keys(filter);
	/* otherwise it may read a row of the outer side before it has the keys */
	join->hj_OuterNotEmpty = true;
}

static bool
visit(PlanState *node, void *arg)
{
	/* a plan may be the subplan of several expressions */
	if (IsA(node, HashJoinState) && !has_filter((HashJoinState *) node))
		add_filter((HashJoinState *) node, *(const int *) arg);
	return planstate_tree_walker(node, visit, arg);
}

/* ExecutorStart_hook */
static void
start(QueryDesc *query, int eflags)
{
	MemoryContext outer;

	if (next_start != NULL)
		next_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if (query->planstate == NULL)
		return;
	outer = MemoryContextSwitchTo(query->estate->es_query_cxt);
	(void) visit(query->planstate, &eflags);
	MemoryContextSwitchTo(outer);
}

void
csv_joins_init(void)
{
	DefineCustomBoolVariable("csv_gpu_fdw.join_filter",
							 "Leaves out rows that have no partner in a hash join above the scan.",
							 "Results are the same.",
							 &join_filter, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	next_start = ExecutorStart_hook;
	ExecutorStart_hook = start;
}
