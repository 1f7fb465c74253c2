/*
 * aggregate.h
 *		Aggregates that the engine computes: from groups to rows.
 */
#ifndef CSV_AGGREGATE_H
#define CSV_AGGREGATE_H

#include "batches/batches.h"
#include "executor/tuptable.h"

typedef struct CsvAggregation CsvAggregation;

/*
 * For a plan whose scan tuple has a column for each of `results`, made of the
 * expressions in plan->fdw_scan_tlist.  `quals` are the WHERE clauses, all of
 * which the engine has; `sources` says for each aggregate of the query which
 * result it was made for.  Lives in the current memory context.
 */
extern CsvAggregation *csv_aggregation_create(ForeignScanState *node,
											  const CsvProgram *program,
											  TupleDesc row_desc, List *quals,
											  List *results, List *sources);

/*
 * Groups are kept in this evaluator from now on, as many as hash_mem allows;
 * rows of others go to temporary files, and are grouped after that.
 */
extern void csv_aggregation_attach(CsvAggregation *aggregation,
								   CsvEvaluator *evaluator);

/* likewise, without those that are in it */
extern void csv_aggregation_renew(CsvAggregation *aggregation,
								  CsvEvaluator *evaluator);

/*
 * Rows that the engine could not decide: put each of them into the slot, in which
 * attributes that are not wanted stay NULL, and add it.  False: the filter drops
 * it.
 */
extern TupleTableSlot *csv_aggregation_row(CsvAggregation *aggregation);
extern bool csv_aggregation_add_row(CsvAggregation *aggregation);

/* all batches, which were made with the program, are taken */
extern void csv_aggregation_finish(CsvAggregation *aggregation,
								   CsvBatches *batches);

/* the next group, into a scan tuple; false at the end */
extern bool csv_aggregation_next(CsvAggregation *aggregation, Datum *values,
								 bool *isnull);

/* from the first group again; false: the scan must be read again for that */
extern bool csv_aggregation_rewind(CsvAggregation *aggregation);

/* let go of what has gone to temporary files, where not all groups were wanted */
extern void csv_aggregation_end(CsvAggregation *aggregation);

/* how often groups were made from a part of the rows, for EXPLAIN ANALYZE */
extern int64 csv_aggregation_batches(const CsvAggregation *aggregation);

#endif							/* CSV_AGGREGATE_H */
