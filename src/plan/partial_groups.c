/*
 * partial_groups.c
 *		Plans groups that the processes of a parallel query form in part.
 *
 * The planner takes each worker to have all groups, if it has as many rows.  So groups by
 * values of one table seem to cost too much to send, if they are many.  But if processes
 * share the scan of this table, they have no more groups together than it has rows.
 */
#include "postgres.h"

#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/selfuncs.h"

#include "plan/plan_state.h"

static create_upper_paths_hook_type next_hook = NULL;

/* the shared scan of a file, each of whose rows goes through only one process, or NULL */
static const Path *
shared_scan(const Path *path)
{
	for (;;)
		switch (nodeTag(path))
		{
			case T_HashPath:
			case T_MergePath:
			case T_NestPath:
				switch (((const JoinPath *) path)->jointype)
				{
					case JOIN_INNER:
					case JOIN_LEFT:
					case JOIN_SEMI:
					case JOIN_ANTI:
						path = ((const JoinPath *) path)->outerjoinpath;
						break;
					default:
						return NULL;
				}
				break;
			case T_ProjectionPath:
				path = ((const ProjectionPath *) path)->subpath;
				break;
			case T_ForeignPath:
				return path->parallel_aware && csv_is_own(path->parent) ? path : NULL;
			default:
				return NULL;
		}
}

static void
add_path_of(PlannerInfo *root, RelOptInfo *grouped, RelOptInfo *partly_grouped,
			const AggPath *agg, const GroupPathExtraData *extra)
{
	const Path *scan = shared_scan(agg->subpath);
	List	   *keys = get_sortgrouplist_exprs(agg->groupClause, extra->targetList);
	double		nrows;
	Path	   *path;
	ListCell   *cell;

	if (scan == NULL || scan->rows >= agg->path.rows)
		return;
	foreach(cell, keys)
		if (!bms_equal(pull_varnos(root, lfirst(cell)), scan->parent->relids))
			return;
	path = (Path *) create_agg_path(root, partly_grouped, agg->subpath,
									partly_grouped->reltarget, AGG_HASHED,
									AGGSPLIT_INITIAL_SERIAL, agg->groupClause, NIL,
									&extra->agg_partial_costs, scan->rows);
	nrows = path->rows * path->parallel_workers;
	path = (Path *) create_gather_path(root, partly_grouped, path, partly_grouped->reltarget,
									   NULL, &nrows);
	add_path(grouped, (Path *)
			 create_agg_path(root, grouped, path, grouped->reltarget, AGG_HASHED,
							 AGGSPLIT_FINAL_DESERIAL, agg->groupClause,
							 (List *) extra->havingQual, &extra->agg_final_costs,
							 estimate_num_groups(root, keys, nrows, NULL, NULL)));
}

static void
add_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input,
		  RelOptInfo *grouped, void *extra)
{
	RelOptInfo *partly_grouped;
	ListCell   *cell;

	if (next_hook != NULL)
		next_hook(root, stage, input, grouped, extra);
	if (stage != UPPERREL_GROUP_AGG || !grouped->consider_parallel)
		return;
	partly_grouped = fetch_upper_rel(root, UPPERREL_PARTIAL_GROUP_AGG, grouped->relids);
	foreach(cell, partly_grouped->partial_pathlist)
	{
		const AggPath *agg = lfirst(cell);

		if (IsA(agg, AggPath) && agg->aggstrategy == AGG_HASHED)
			add_path_of(root, grouped, partly_grouped, agg, extra);
	}
}

bool
csv_is_grouping_hooked(void)
{
	return next_hook != NULL || create_upper_paths_hook != add_paths;
}

void
csv_partial_groups_init(void)
{
	next_hook = create_upper_paths_hook;
	create_upper_paths_hook = add_paths;
}
