/*
 * one_group.h
 *		For the unit tests: keys and aggregates of single groups of an evaluator.
 */
#ifndef CSV_TEST_ONE_GROUP_H
#define CSV_TEST_ONE_GROUP_H

#include <stdlib.h>

#include "../../src/query/query.h"

static inline CsvPartialGroups
one_group(const CsvEvaluator *evaluator, uint32_t group)
{
	CsvPartialGroups one;

	if (csv_evaluator_groups(evaluator, group, 1, &one) != CSV_OK)
		abort();
	return one;
}

static inline void
get_key(const CsvEvaluator *evaluator, uint32_t group, uint32_t key,
		CsvValue *value)
{
	CsvPartialGroups one = one_group(evaluator, group);

	csv_partial_key(csv_evaluator_query(evaluator), &one, 0, key, value);
}

static inline void
get_aggregate(const CsvEvaluator *evaluator, uint32_t group,
			  uint32_t aggregate, CsvAggregateValue *value)
{
	const CsvQuery *query = csv_evaluator_query(evaluator);
	CsvPartialGroups one = one_group(evaluator, group);
	CsvPartialLayout layout;

	csv_partial_lay_out(query, &layout);
	csv_partial_aggregate(query, &layout, &one, 0, aggregate, value);
}

static inline double
get_spread(const CsvEvaluator *evaluator, uint32_t group, uint32_t sum,
		   uint32_t squares, uint64_t count)
{
	CsvPartialGroups one = one_group(evaluator, group);
	CsvPartialLayout layout;

	csv_partial_lay_out(csv_evaluator_query(evaluator), &layout);
	return csv_partial_spread(&layout, &one, 0, sum, squares, count);
}

#endif							/* CSV_TEST_ONE_GROUP_H */
