/*
 * aggregate.h
 *		Aggregates that the engine computes: from groups to rows.
 */
#ifndef CSV_AGGREGATE_H
#define CSV_AGGREGATE_H

#include "batches/batches.h"
#include "program/program.h"

/* files that rows go to at a time, whose groups have no room in memory */
#define CSV_SPILL_BITS	6
#define CSV_SPILL_FILES	(1 << CSV_SPILL_BITS)

/* how a result column comes from what a group holds */
typedef enum CsvResultKind
{
	CSV_RESULT_KEY,				/* a group key */
	CSV_RESULT_COUNT,
	CSV_RESULT_SUM,
	CSV_RESULT_AVERAGE,
	CSV_RESULT_EXTREME,			/* min, max, bool_and, bool_or */
	CSV_RESULT_VARIANCE			/* and stddev */
} CsvResultKind;

/*
 * A result column, as an integer list in a plan: kind, register of its
 * argument or key (-1: none), and the numbers of up to two aggregates of the
 * query (of a key: which one it is).
 */
typedef struct CsvResult
{
	int			kind;			/* CsvResultKind */
	int			argument;
	int			first;
	int			second;
} CsvResult;

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

/*
 * Rows that the engine could not decide: put each of them into the slot, in which
 * attributes that are not wanted stay NULL, and add it.
 */
extern TupleTableSlot *csv_aggregation_row(CsvAggregation *aggregation);
extern void csv_aggregation_add_row(CsvAggregation *aggregation);

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
