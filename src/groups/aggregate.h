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

/* from now on, this evaluator keeps the groups */
extern void csv_aggregation_attach(CsvAggregation *aggregation,
								   CsvEvaluation *evaluation,
								   CsvEvaluator *evaluator);

/* start again with the same evaluator, and no groups */
extern void csv_aggregation_renew(CsvAggregation *aggregation,
								  CsvEvaluation *evaluation);

/* the evaluator's groups are about to go to a file (CsvPushdown.spills) */
extern void csv_aggregation_spill(CsvAggregation *aggregation);

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

/*
 * For EXPLAIN ANALYZE: groups have come from so many parts of the temporary file, which
 * has *disk_bytes; 0: there is no file.
 */
extern int64 csv_aggregation_batches(const CsvAggregation *aggregation,
									 int64 *disk_bytes);

#endif							/* CSV_AGGREGATE_H */
