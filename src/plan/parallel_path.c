/*
 * parallel_path.c
 *		Plans scans that the processes of a parallel query share.
 *
 * Only such a partial path is parallel-safe.  The complete path is not: in a join or a
 * subplan, each worker would read all of the file for itself, and would report the
 * skipped records.
 */
#include "postgres.h"

#include <math.h>

#include "access/relation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "compat.h"
#include "plan/plan_state.h"
#include "scan/execute.h"
#include "scan/value.h"
#include "table/release.h"
#include "table/source.h"

/*
 * A process may have to keep its messages of skipped records until the messages of
 * earlier records are there.  A scan that may have more than this many is not shared.
 */
#define MOST_MESSAGES	100000

static bool
is_unsafe_function(Oid function, void *context)
{
	return func_parallel(function) != PROPARALLEL_SAFE;
}

/*
 * Does an expression contain something that a worker must not evaluate?  PostgreSQL's
 * is_parallel_safe() does not look if the query contains nothing of the kind.
 */
static bool
is_unsafe(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, NextValueExpr) || IsA(node, CoerceToDomain) ||
		check_functions_in_node(node, is_unsafe_function, NULL) ||
		expression_tree_walker(node, is_unsafe, NULL);
}

static bool
is_unsafe_check(Node *check)
{
	return is_unsafe(check, NULL);
}

static bool
has_unsafe_input(Oid type)
{
	Oid			function;
	Oid			ioparam;

	getTypeInputInfo(type, &function, &ioparam);
	return (!csv_is_pure_input(type) && !CSV_HAVE_PARALLEL_SUBTRANSACTIONS) ||
		func_parallel(function) != PROPARALLEL_SAFE;
}

static bool
has_check(Oid domain, bool (*in_check) (Node *check))
{
	/* not on the stack: a callback of the memory context uses it */
	DomainConstraintRef *ref = palloc0(sizeof(DomainConstraintRef));
	ListCell   *cell;

	InitDomainConstraintRef(domain, ref, CurrentMemoryContext, false);
	foreach(cell, ref->constraints)
		if (in_check((Node *) ((const DomainConstraintState *) lfirst(cell))->check_expr))
			return true;
	return false;
}

/* no type contains itself */
bool
csv_type_has(Oid type, bool (*is_found) (Oid type), bool (*in_check) (Node *check))
{
	TupleDesc	tupdesc;
	Oid			part;

	check_stack_depth();
	if (is_found != NULL && is_found(type))
		return true;
	switch (get_typtype(type))
	{
		case TYPTYPE_DOMAIN:
			if (has_check(type, in_check))
				return true;
			part = getBaseType(type);
			break;
		case TYPTYPE_COMPOSITE:
			tupdesc = lookup_rowtype_tupdesc_copy(type, -1);
			for (int i = 0; i < tupdesc->natts; i++)
				if (!TupleDescAttr(tupdesc, i)->attisdropped &&
					csv_type_has(TupleDescAttr(tupdesc, i)->atttypid, is_found, in_check))
					return true;
			return false;
		case TYPTYPE_RANGE:
			part = get_range_subtype(type);
			break;
		case TYPTYPE_MULTIRANGE:
			part = get_multirange_range(type);
			break;
		default:
			part = get_element_type(type);
			break;
	}
	return OidIsValid(part) && csv_type_has(part, is_found, in_check);
}

/* can processes share a file?  Otherwise each file is read by one of them. */
static bool
are_shared_files(const CsvPlanState *state)
{
	return state->is_exact &&
		state->table->encoding == state->table->file_encoding;
}

/* if columns are not resident yet, csv_get_rel_size() decides once more */
bool
csv_is_parallel_safe(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	const CsvPlanState *state = csv_plan_state(root, rel, rte->relid);
	const CsvTable *table = state->table;
	int			attnum = -1;

	/* this process itself needs the scan's rows and bad records */
	if (csv_awaited_scan != NULL && csv_awaited_scan->table->relid == rte->relid)
		return false;
	if (csv_library_is_replaced(true) || table->program != NULL ||
		table->verbosity == CSV_VERBOSITY_VERBOSE ||
		table->reject_count > MOST_MESSAGES ||
		table->notice_limit > MOST_MESSAGES ||
		state->nbytes < 0 || (state->nfiles <= 1 && !are_shared_files(state)))
		return false;

	/*
	 * The planner does not know that a scan calls input functions, and evaluates the
	 * checks of domains.
	 */
	while ((attnum = bms_next_member(state->wanted, attnum)) >= 0)
		if (csv_type_has(table->columns[attnum - 1].type, has_unsafe_input,
						 is_unsafe_check))
			return false;
	return true;
}

/*
 * Returns the number of workers by the option or the size of the files.  The bytes of
 * a CSV file take several times as long as the bytes of a plain table.  n workers take
 * n times as long to start as one, and need an nth of its time.  The sum is least at
 * the square root of the work.  min_parallel_table_scan_size is worth one worker.
 */
static int
count_workers(RelOptInfo *baserel, const CsvPlanState *state)
{
	int			nworkers = compute_parallel_worker(baserel, state->pages, -1,
												   max_parallel_workers_per_gather);

	if (nworkers == 0 || baserel->rel_parallel_workers >= 0)
		return nworkers;
	nworkers = Max(nworkers, (int) sqrt((double) state->pages /
										Max(min_parallel_table_scan_size, 1)));
	if (!are_shared_files(state))
		nworkers = Min(nworkers, state->nfiles);
	return Min(nworkers, max_parallel_workers_per_gather);
}

/*
 * A parallel join has the workers of the table on its outer side.  So a small table gets
 * as many as the largest table of the query.  It gets one at least: each worker may read
 * all of a small plain table, if it shares a table of ours.
 */
static int
count_join_workers(PlannerInfo *root, RelOptInfo *baserel)
{
	int			most = 1;

	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *rel = root->simple_rel_array[i];

		if (rel != NULL && rel->fdwroutine != NULL && rel->consider_parallel &&
			rel->fdwroutine->GetForeignPaths == baserel->fdwroutine->GetForeignPaths)
			most = Max(most, count_workers(rel, rel->fdw_private));
	}
	return most;
}

int
csv_parallel_workers(PlannerInfo *root, RelOptInfo *baserel,
					 const CsvPlanState *state)
{
	int			nworkers;

	if (!baserel->consider_parallel || max_parallel_workers_per_gather == 0 ||
		!bms_is_empty(baserel->lateral_relids))
		return 0;

	/*
	 * A shared scan leaves out files only once.  In a query inside another query, a
	 * subquery may have another value in the next scan.
	 */
	if (root->parent_root != NULL && csv_files_vary(state->file_clauses))
		return 0;
	nworkers = count_workers(baserel, state);

	if (baserel->rel_parallel_workers < 0 &&
		bms_membership(root->all_baserels) == BMS_MULTIPLE)
		nworkers = Max(nworkers, count_join_workers(root, baserel));
	return nworkers;
}

/* the number of processes that share the rows, as costsize.c reckons */
double
csv_parallel_divisor(int nworkers)
{
	double		leader = parallel_leader_participation ?
		1.0 - 0.3 * nworkers : 0;

	return nworkers + Max(leader, 0);
}
