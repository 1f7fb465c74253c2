/*
 * order.h
 *		ORDER BY with LIMIT n: rows that are certainly not among the first n stay
 *		in the engine.
 */
#ifndef CSV_ORDER_H
#define CSV_ORDER_H

#include "compat.h"
#include "plan/plan_state.h"

/*
 * Add the query's order to the program of a table's scan, if the executor only sorts
 * the rows and takes the first n.  Returns false if it does more, or if the engine
 * cannot have the order.
 */
extern bool csv_push_order(PlannerInfo *root, RelOptInfo *baserel,
						   CsvPlanState *state);

/* estimates how many of nrows rows come out of the engine */
extern double csv_rows_in_order(const PlannerInfo *root, double nrows);

#endif							/* CSV_ORDER_H */
