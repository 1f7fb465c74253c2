/*
 * rescan.h
 *		Plans of scans that are repeated for other values of their parameters
 *		(scan/lookup.h).
 */
#ifndef CSV_RESCAN_H
#define CSV_RESCAN_H

#include "plan/plan_state.h"

/*
 * Returns the equalities by which such a scan can look its rows up, as in CsvPlanItem.
 * clauses: RestrictInfos in the executor's order.  allowed: clauses that may serve;
 * while their values are not known, all rows must come out undecided.
 */
extern List *csv_find_equalities(PlannerInfo *root, const CsvPlanState *state,
								 List *clauses, const List *allowed);

/* estimates how often a scan is repeated for rows of these relations; at least 1 */
extern double csv_loop_count(PlannerInfo *root, Relids outer);

/*
 * Returns the average cost of nloops scans that look their rows up.  read_cost: to
 * read all rows.  nrows: rows that are kept.  nfound: rows that a scan finds.
 */
extern Cost csv_lookup_cost(const RelOptInfo *baserel,
							const CsvPlanState *state, Cost read_cost,
							double nloops, double nrows, double nfound);

#endif							/* CSV_RESCAN_H */
