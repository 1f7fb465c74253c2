/*
 * parallel_path.h
 *		Plans scans that the processes of a parallel query share.
 */
#ifndef CSV_PARALLEL_PATH_H
#define CSV_PARALLEL_PATH_H

#include "plan/plan_state.h"

/* IsForeignScanParallelSafe: may parts of the table be scanned by workers? */
extern bool csv_is_parallel_safe(PlannerInfo *root, RelOptInfo *rel,
								 RangeTblEntry *rte);

/* the number of workers for a shared scan; 0: do not share it */
extern int	csv_parallel_workers(PlannerInfo *root, RelOptInfo *baserel,
								 const CsvPlanState *state);

extern double csv_parallel_divisor(int nworkers);

#endif							/* CSV_PARALLEL_PATH_H */
