/*
 * stand_in_query.h
 *		Queries that the stand-in for a GPU answers, by the CPU's evaluator.
 *
 * All memory is malloc()'s; where there is none, the program ends.
 */
#ifndef CSV_STAND_IN_QUERY_H
#define CSV_STAND_IN_QUERY_H

#include "query/query.h"

/* is it one for a device? */
extern bool csv_stand_in_takes(const CsvQuery *query, const CsvLayout *layout);

/*
 * Answer for the rows of a batch, of which there is at least one.  CSV_OK or
 * CSV_INTERRUPTED; *answer is NULL where a device would have none.
 */
extern CsvStatus csv_stand_in_answer(const CsvRequest *request,
									 const CsvLayout *layout,
									 const CsvBatch *batch,
									 bool (*interrupted) (void *arg),
									 void *interrupted_arg,
									 CsvAnswer **answer);
extern void csv_stand_in_free_answer(CsvAnswer *answer);

/* would a device send so many groups of so many rows? */
extern bool csv_stand_in_may_travel(uint32_t ngroups, uint32_t nrows);

/* ---- groups that are held ---- */

/* an evaluator for them */
extern CsvEvaluator *csv_stand_in_make_held(const CsvQuery *query);

/*
 * Have them held, as far as limit_bytes (0: no limit) have room.  The others stay in the
 * answer, which says which these are.
 */
extern void csv_stand_in_hold(CsvEvaluator *held, size_t limit_bytes,
							  CsvAnswer *answer);

/* groups from `first` on, some at a time */
extern void csv_stand_in_copy_held(const CsvEvaluator *held, uint32_t first,
								   CsvPartialGroups *copy);
extern void csv_stand_in_free_groups(CsvPartialGroups *groups);

#endif							/* CSV_STAND_IN_QUERY_H */
