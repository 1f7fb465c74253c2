/*
 * regroup.h
 *		Merges groups that are on disk (spilled.h), part by part.
 *
 * Threads take parts.  If the groups of a part take more than a thread's share of
 * memory, they are written again, in smaller parts.  Values of COUNT_DISTINCT are
 * merged first; their counts are written as groups.
 */
#ifndef CSV_REGROUP_H
#define CSV_REGROUP_H

#include "query.h"

typedef struct CsvRegroup CsvRegroup;

/*
 * All groups are in the file of the limit of `like`, an evaluator of the query, which
 * must outlive this.  maker: as for csv_team_finish().  Any thread must be able to use
 * `memory`.  NULL: no memory.
 */
extern CsvRegroup *csv_regroup_create(const CsvMemory *memory,
									  const CsvEvaluator *like,
									  uint32_t nthreads,
									  const CsvGroupsMaker *maker);
extern void csv_regroup_free(CsvRegroup *regroup);

/*
 * The groups of the next part, which live until the next call; none at the end.
 * Returns CSV_OK, CSV_INTERRUPTED, or CSV_NO_MEMORY, also if the file failed.
 */
extern CsvStatus csv_regroup_next(CsvRegroup *regroup, CsvPartialGroups *groups,
								  bool (*interrupted) (void *arg),
								  void *interrupted_arg);

/*
 * The bytes that were attached to groups of this part (csv_evaluator_attach()), one
 * after the other: number i; false: there are no more.
 */
extern bool csv_regroup_attached(const CsvRegroup *regroup, uint32_t i,
								 uint32_t *group, const uint8_t **bytes);

#endif							/* CSV_REGROUP_H */
