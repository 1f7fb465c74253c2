/*
 * order.h
 *		ORDER BY with LIMIT n: rows that are certainly not among the first n
 *		ones stay in the engine.
 */
#ifndef CSV_ORDER_H
#define CSV_ORDER_H

#include "compat.h"
#include "plan/plan_state.h"

/*
 * Add the query's order to the program of a table's scan, if the executor does
 * nothing with the rows but sort them and take the first ones.  False where it
 * does, or where the engine cannot have the order.
 */
extern bool csv_push_order(PlannerInfo *root, RelOptInfo *baserel,
						   CsvPlanState *state);

/* about how many of so many rows come out */
extern double csv_rows_in_order(const PlannerInfo *root, double nrows);

#endif							/* CSV_ORDER_H */
