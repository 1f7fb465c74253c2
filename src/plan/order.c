/*
 * order.c
 *		ORDER BY with LIMIT n: rows that are certainly not among the first n stay
 *		in the engine.
 *
 * The plan is the executor's own, Sort and Limit over the scan, and so is the result.
 * The scan leaves out a row only if n other rows of the file come before it.  The scan
 * still reads all records, and returns rows that the engine is not sure about.
 *
 * This is right only if each row of the scan gets to the Sort, and if expressions that
 * are computed on the way raise no ERROR, except for rows that come out.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "optimizer/subselect.h"
#include "optimizer/tlist.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "plan/plan_state.h"
#include "plan/shippable.h"
#include "scan/execute.h"

/* for costs, if the limit is known only when the query runs */
#define CSV_GUESSED_LIMIT	1000

/* has the query, besides WHERE, only ORDER BY and LIMIT? */
static bool
only_sorts(const PlannerInfo *root)
{
	const Query *parse = root->parse;

	return parse->commandType == CMD_SELECT && parse->sortClause != NIL &&
		parse->limitCount != NULL &&
		parse->limitOption == LIMIT_OPTION_COUNT &&
		parse->groupClause == NIL && parse->groupingSets == NIL &&
		parse->distinctClause == NIL && parse->setOperations == NULL &&
		parse->rowMarks == NIL && parse->havingQual == NULL &&
		!parse->hasAggs && !parse->hasWindowFuncs && !parse->hasTargetSRFs &&
		bms_membership(root->all_baserels) == BMS_SINGLETON;
}

/* may the scan evaluate it, in addition to the executor? */
static bool
is_repeatable(Node *expr)
{
	return !contain_volatile_functions(expr) && !contain_subplans(expr);
}

/*
 * Does the executor evaluate it only for the rows that are left in the end?  Decided
 * as in planner.c (make_sort_input_target).
 */
static bool
is_postponed(PlannerInfo *root, const TargetEntry *entry)
{
	QualCost	cost;

	if (entry->ressortgroupref != 0)
		return false;
	if (contain_volatile_functions((Node *) entry->expr))
		return true;
	cost_qual_eval_node(&cost, (Node *) entry->expr, root);
	return cost.per_tuple > 10 * cpu_operator_cost;
}

bool
csv_push_order(PlannerInfo *root, RelOptInfo *baserel, CsvPlanState *state)
{
	const Query *parse = root->parse;
	Node	   *offset = parse->limitOffset;
	CsvProgram *program;
	List	   *keys = NIL;
	List	   *flags = NIL;
	ListCell   *cell;

	if (!only_sorts(root) || root->limit_tuples > CSV_MOST_ORDERED ||
		(IsA(parse->limitCount, Const) &&
		 ((Const *) parse->limitCount)->constisnull) ||
		!is_repeatable(parse->limitCount) ||
		(offset != NULL && !is_repeatable(offset)))
		return false;

	/* state->program stays as it is, in case the engine cannot have the order */
	program = csv_program_create(state->table, baserel->relid, parse,
								 state->pushed);
	program->reason = state->refusal != NULL ? state->refusal :
		list_length(state->pushed) != list_length(state->restrictinfo) ?
		"a WHERE clause stays" : NULL;
	foreach(cell, parse->sortClause)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, cell);
		Node	   *key = get_sortgroupclause_expr(clause,
												   root->processed_tlist);
		CsvOrderKey *added;

		key = csv_adjust_to_child(root, key, baserel);
		if (program->reason != NULL ||
			!csv_program_add_order(program, (Expr *) key, clause->sortop,
								   clause->nulls_first))
		{
			csv_note_left(state, key, program->reason);
			return false;
		}
		program->reason = NULL;
		added = &program->order[program->query.norder - 1];
		keys = lappend(keys, key);
		flags = lappend_int(flags,
							(added->descending ? CSV_ORDER_DESCENDING : 0) |
							(added->nulls_first ? CSV_ORDER_NULLS_FIRST : 0));
	}
	foreach(cell, root->processed_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);
		Expr	   *expr = (Expr *) csv_adjust_to_child(root,
														(Node *) entry->expr, baserel);

		if (!is_postponed(root, entry) && !csv_program_check(program, expr))
		{
			csv_note_left(state, linitial(keys),
						  "an expression beside it may raise an error");
			return false;
		}
	}

	/* in a part of a UNION ALL, these may be more than columns */
	foreach(cell, baserel->reltarget->exprs)
		if (!csv_program_check(program, lfirst(cell)))
			return false;

	state->program = program;
	state->order = list_make2(keys, flags);
	state->limit = list_make2(parse->limitCount, offset != NULL ? offset :
							  (Node *) makeConst(INT8OID, -1, InvalidOid,
												 sizeof(int64),
												 Int64GetDatum(0), false,
												 FLOAT8PASSBYVAL));
	return true;
}

double
csv_rows_in_order(const PlannerInfo *root, double nrows)
{
	double		limit = root->limit_tuples > 0 ? root->limit_tuples :
		CSV_GUESSED_LIMIT;

	/* row i of rows in no order is among the first n with probability n / i */
	return nrows <= limit ? nrows :
		Min(nrows, clamp_row_est(limit * (1 + log(nrows / limit))));
}
