/*
 * aggregate.h
 *		Aggregates that the engine computes: from groups to rows.
 */
#ifndef CSV_AGGREGATE_H
#define CSV_AGGREGATE_H

#include "batches/evaluation.h"
#include "executor/tuptable.h"

typedef struct CsvAggregation CsvAggregation;

/*
 * For a plan whose scan tuple has a column for each of `results`, made of the
 * expressions in plan->fdw_scan_tlist.  `quals` are the WHERE clauses; the engine has
 * all of them.  `sources` tells, for each aggregate of the query, the number of the
 * result that it was made for.  Lives in the current memory context.
 */
extern CsvAggregation *csv_aggregation_create(ForeignScanState *node,
											  const CsvProgram *program,
											  TupleDesc row_desc, List *quals,
											  List *results, List *sources);

/*
 * From now on, this evaluator keeps the groups, as many as hash_mem allows.  Rows of
 * other groups go to temporary files, and are grouped later.
 */
extern void csv_aggregation_attach(CsvAggregation *aggregation,
								   CsvEvaluator *evaluator);

/* the same, after the evaluator's groups are dropped */
extern void csv_aggregation_renew(CsvAggregation *aggregation,
								  CsvEvaluator *evaluator);

/*
 * For rows that the engine could not decide: put each row into the slot, and add it.
 * Attributes that are not wanted stay NULL in the slot.  False: the filter drops the
 * row.
 */
extern TupleTableSlot *csv_aggregation_row(CsvAggregation *aggregation);
extern bool csv_aggregation_add_row(CsvAggregation *aggregation);

/* all batches, which were made with the program, are taken */
extern void csv_aggregation_finish(CsvAggregation *aggregation,
								   CsvEvaluation *evaluation);

/* the next group, into a scan tuple; false at the end */
extern bool csv_aggregation_next(CsvAggregation *aggregation, Datum *values,
								 bool *isnull);

/* start from the first group again; false: the scan must be read again */
extern bool csv_aggregation_rewind(CsvAggregation *aggregation);

/* drop temporary files, if not all groups were taken */
extern void csv_aggregation_end(CsvAggregation *aggregation);

/* how often groups were made from a part of the rows, for EXPLAIN ANALYZE */
extern int64 csv_aggregation_batches(const CsvAggregation *aggregation);

#endif							/* CSV_AGGREGATE_H */
