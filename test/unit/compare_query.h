/*
 * compare_query.h
 *		For the unit tests: what evaluators, partial groups and the naive
 *		evaluation say of a query, compared.  What differs fails the test.
 */
#ifndef CSV_TEST_COMPARE_QUERY_H
#define CSV_TEST_COMPARE_QUERY_H

#include "random_query.h"

/* an evaluator that is there; csv_evaluator_free() it */
extern CsvEvaluator *evaluator_of(const CsvQuery *query);

/* run a batch; the selection is the evaluator's.  `wanted` may be NULL. */
extern CsvSelection run_batch(CsvEvaluator *evaluator, const CsvLayout *layout,
							  const CsvBatch *batch, const uint8_t *wanted);

/* the same without the rows that have a doubtful value: an engine leaves them */
extern CsvSelection run_certain(CsvEvaluator *evaluator,
								const CsvLayout *layout,
								const CsvBatch *batch);

/* which rows these are: bytes, for free() */
extern uint8_t *doubtful_rows(const CsvLayout *layout, const CsvBatch *batch);

extern void expect_naive_aggregate(const CsvAggregate *aggregate,
								   const CsvAggregateValue *found,
								   const NaiveAggregate *expected);

/* the groups of an evaluator, in their order */
extern void expect_naive_groups(CsvEvaluator *found, const CsvQuery *query,
								const NaiveGroups *expected);
extern void expect_groups(const CsvQuery *query, const CsvEvaluator *found,
						  const CsvEvaluator *expected);

/* the same groups, whatever their order */
extern void expect_set(const CsvQuery *query, const CsvEvaluator *found,
					   const CsvEvaluator *expected, bool exact);

/* a partial group, and the evaluator's that it has come to */
extern void expect_partial_group(const CsvQuery *query,
								 const CsvPartialGroups *found, uint32_t group,
								 const CsvEvaluator *expected,
								 uint32_t expected_group);

#endif							/* CSV_TEST_COMPARE_QUERY_H */
