/*
 * rescan.h
 *		Plans of scans that are repeated for other values of their parameters
 *		(scan/lookup.h).
 */
#ifndef CSV_RESCAN_H
#define CSV_RESCAN_H

#include "plan/plan_state.h"

/*
 * The equalities by which such a scan can look its rows up, as CsvPlanItem has
 * them, of clauses (RestrictInfos) in the executor's order.  allowed: those that
 * come into question; all rows must come out undecided where they are not known.
 */
extern List *csv_find_equalities(PlannerInfo *root, const CsvPlanState *state,
								 List *clauses, const List *allowed);

/* how often a scan is repeated for rows of these relations, about; at least 1 */
extern double csv_loop_count(PlannerInfo *root, Relids outer);

/*
 * What each of so many scans costs on average, if it looks its rows up, and reading
 * all of them read_cost: nrows of them are kept, of which nfound are found.
 */
extern Cost csv_lookup_cost(const RelOptInfo *baserel,
							const CsvPlanState *state, Cost read_cost,
							double nloops, double nrows, double nfound);

#endif							/* CSV_RESCAN_H */
