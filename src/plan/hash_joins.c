/*
 * hash_joins.c
 *		Plans joins that are not slow if more rows come than are expected.
 *
 * The planner multiplies the selectivities of all clauses.  So a join by two columns, or a
 * join of joins, is often estimated at one row, where millions come.  A nested loop over all
 * rows of the inner relation then costs less than a hash join by next to nothing, but can
 * take many times as long.  Files have neither keys nor extended statistics that would
 * correct the estimate.  So such loops are planned only where no hash join is possible.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"

#include "compat.h"
#include "plan/plan_state.h"

static set_join_pathlist_hook_type next_hook = NULL;

/* are there foreign tables of ours among the relations (or anywhere, without relids)? */
static bool
has_tables(const PlannerInfo *root, Relids relids)
{
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		const RelOptInfo *rel = root->simple_rel_array[i];

		if (rel == NULL ||
			(relids != NULL && !bms_overlap(rel->relids, relids) &&
			 !bms_overlap(rel->top_parent_relids, relids)))
			continue;
		if (csv_is_own(rel))
			return true;
		if (rel->subroot != NULL && has_tables(rel->subroot, NULL))
			return true;
	}
	return false;
}

static bool
can_hash(const RelOptInfo *joinrel, const RelOptInfo *outer, const RelOptInfo *inner,
		 JoinType jointype, const List *clauses)
{
	ListCell   *cell;

	foreach(cell, clauses)
	{
		const RestrictInfo *clause = lfirst_node(RestrictInfo, cell);

		if (!clause->can_join || !OidIsValid(clause->hashjoinoperator) ||
			!csv_hashes_alike((const OpExpr *) clause->clause) ||
			(IS_OUTER_JOIN(jointype) && RINFO_IS_PUSHED_DOWN(clause, joinrel->relids)))
			continue;
		if ((bms_is_subset(clause->left_relids, outer->relids) &&
			 bms_is_subset(clause->right_relids, inner->relids)) ||
			(bms_is_subset(clause->right_relids, outer->relids) &&
			 bms_is_subset(clause->left_relids, inner->relids)))
			return true;
	}
	return false;
}

/* is it a nested loop that goes through all rows of `inner` for each of `outer`? */
static bool
is_loop(const JoinPath *path, const RelOptInfo *outer, const RelOptInfo *inner)
{
	return IsA(path, NestPath) && path->outerjoinpath->parent == outer &&
		path->innerjoinpath->parent == inner &&
		!bms_overlap(PATH_REQ_OUTER(path->innerjoinpath), outer->relids);
}

static List *
without_loops(List *paths, const RelOptInfo *outer, const RelOptInfo *inner)
{
	ListCell   *cell;

	foreach(cell, paths)
		if (is_loop(lfirst(cell), outer, inner))
			paths = foreach_delete_current(paths, cell);
	return paths;
}

/* nested loops keep the rows of their inner side, instead of reading files for each outer row */
static void
materialize_inner(List *paths, RelOptInfo *outer, RelOptInfo *inner)
{
	ListCell   *cell;

	foreach(cell, paths)
	{
		JoinPath   *path = lfirst(cell);

		if (is_loop(path, outer, inner) && PATH_REQ_OUTER(path->innerjoinpath) == NULL &&
			!ExecMaterializesOutput(path->innerjoinpath->pathtype))
			path->innerjoinpath = (Path *) create_material_path(inner, path->innerjoinpath);
	}
}

static void
replace_loops(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner,
			  JoinType jointype, JoinPathExtraData *extra)
{
	int			npaths;
	uint64		saved;

	if (next_hook != NULL)
		next_hook(root, joinrel, outer, inner, jointype, extra);
	if (!csv_nestloops_allowed(joinrel) || !has_tables(root, joinrel->relids))
		return;
	if (!enable_hashjoin ||
		!can_hash(joinrel, outer, inner, jointype, extra->restrictlist))
	{
		if (enable_material && has_tables(root, inner->relids))
			materialize_inner(joinrel->pathlist, outer, inner);
		return;
	}
	npaths = list_length(joinrel->pathlist) + list_length(joinrel->partial_pathlist);
	joinrel->pathlist = without_loops(joinrel->pathlist, outer, inner);
	joinrel->partial_pathlist = without_loops(joinrel->partial_pathlist, outer, inner);
	if (list_length(joinrel->pathlist) + list_length(joinrel->partial_pathlist) == npaths)
		return;

	/* other paths are no longer there, because they cost more than a nested loop */
	saved = csv_forbid_nestloops(joinrel);
	PG_TRY();
	{
		add_paths_to_joinrel(root, joinrel, outer, inner, jointype, extra->sjinfo,
							 extra->restrictlist);
		if (jointype == JOIN_INNER)
			add_paths_to_joinrel(root, joinrel, inner, outer, jointype, extra->sjinfo,
								 extra->restrictlist);
	}
	PG_FINALLY();
	{
		csv_allow_nestloops(joinrel, saved);
	}
	PG_END_TRY();
}

void
csv_hash_joins_init(void)
{
	next_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = replace_loops;
}
