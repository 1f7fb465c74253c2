/*
 * upper.c
 *		Aggregates that the engine answers: count(*) over a whole table.
 *
 * An engine knows how many good records a batch has without a look at any
 * column.  So where a query asks for nothing but count(*), no row is handed to
 * the executor: the plan is a foreign scan that returns one row of counts.
 */
#include "postgres.h"

#include "compat.h"
#include "foreignscan.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/fmgroids.h"

/* is this count(*), of all rows? */
static bool
is_count_star(const Node *node)
{
	const Aggref *aggref = (const Aggref *) node;

	return IsA(node, Aggref) && aggref->aggfnoid == F_COUNT_ &&
		aggref->aggstar && aggref->aggfilter == NULL &&
		aggref->aggsplit == AGGSPLIT_SIMPLE && aggref->agglevelsup == 0;
}

void
csv_get_upper_paths(PlannerInfo *root, UpperRelationKind stage,
					RelOptInfo *input_rel, RelOptInfo *output_rel, void *extra)
{
	CsvPlanState *input = input_rel->fdw_private;
	Query	   *parse = root->parse;
	PathTarget *target = root->upper_targets[UPPERREL_GROUP_AGG];
	CsvPlanState *state;
	List	   *needed;
	ListCell   *cell;
	Cost		cost;

	if (stage != UPPERREL_GROUP_AGG || output_rel->fdw_private != NULL ||
		input == NULL || input->upper ||
		input_rel->reloptkind != RELOPT_BASEREL)
		return;
	if (parse->groupClause != NIL || parse->groupingSets != NIL ||
		parse->havingQual != NULL || !parse->hasAggs ||
		input_rel->baserestrictinfo != NIL || parse->hasTargetSRFs ||
		!bms_is_empty(input->wanted))
		return;

	needed = pull_var_clause((Node *) target->exprs,
							 PVC_INCLUDE_AGGREGATES |
							 PVC_RECURSE_WINDOWFUNCS |
							 PVC_INCLUDE_PLACEHOLDERS);
	if (needed == NIL)
		return;
	foreach(cell, needed)
		if (!is_count_star(lfirst(cell)))
			return;

	state = palloc0(sizeof(CsvPlanState));
	*state = *input;
	state->upper = true;
	output_rel->fdw_private = state;
	cost = csv_structure_cost(input);
	add_path(output_rel, (Path *)
			 csv_create_foreign_upper_path(root, output_rel, target, 1, cost,
										   cost));
}
