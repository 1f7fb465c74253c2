/*
 * order.h
 *		ORDER BY with LIMIT n: rows that are certainly not among the first n
 *		ones stay in the engine.
 */
#ifndef CSV_ORDER_H
#define CSV_ORDER_H

#include "compat.h"
#include "plan/foreignscan.h"

/*
 * Add the query's order to the program of a table's scan, if the executor does
 * nothing with the rows but sort them and take the first ones.  False where it
 * does, or where the engine cannot have the order.
 */
extern bool csv_push_order(PlannerInfo *root, RelOptInfo *baserel,
						   CsvPlanState *state);

/* about how many of so many rows come out */
extern double csv_rows_in_order(const PlannerInfo *root, double nrows);

/*
 * Let the query have the limit, as the executor's Limit node computes it, by
 * the expressions in state->limit.
 */
extern void csv_order_limit(CsvQuery *query, ExprState *count,
							ExprState *offset, ExprContext *econtext);

/*
 * For EXPLAIN: `order` as csv_push_order() made it, with the relation as it is
 * numbered in the plan, and the expressions of the limit.
 */
extern void csv_explain_order(List *order, Node *count, Node *offset,
							  List *context, bool prefix, ExplainState *es);

#endif							/* CSV_ORDER_H */
