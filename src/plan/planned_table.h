/*
 * planned_table.h
 *		A table in a query that is planned.
 */
#ifndef CSV_PLANNED_TABLE_H
#define CSV_PLANNED_TABLE_H

#include "plan/plan_state.h"

/*
 * Returns the state of a table in a query, in the planner's memory, with `table`,
 * `wanted`, `nbytes`, `is_exact` and everything about clauses filled in.  Looks at the
 * catalogs and the files only once.
 */
extern CsvPlanState *csv_plan_state(PlannerInfo *root, RelOptInfo *baserel,
									Oid foreigntableid);

/*
 * Returns clauses in the order in which the executor evaluates them
 * (order_qual_clauses in createplan.c).  The order decides which of several clauses
 * raises an ERROR.  Join clauses come last, where they also are if a scan does not
 * have them.
 */
extern List *csv_order_clauses(PlannerInfo *root, List *clauses);

#endif							/* CSV_PLANNED_TABLE_H */
