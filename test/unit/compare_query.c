/*
 * compare_query.c
 *		Comparisons of values, aggregates and groups: see compare_query.h.
 */
#include <math.h>

#include "unit.h"
#include "compare_query.h"
#include "one_group.h"
#include "reading.h"

CsvEvaluator *
evaluator_of(const CsvQuery *query)
{
	CsvEvaluator *evaluator = csv_evaluator_create(&csv_thread_memory, query);

	assert_non_null(evaluator);
	return evaluator;
}

CsvSelection
run_batch(CsvEvaluator *evaluator, const CsvLayout *layout,
		  const CsvBatch *batch, const uint8_t *wanted)
{
	CsvSelection selection;

	assert_int_equal(csv_evaluator_run(evaluator, layout, batch, wanted, NULL,
									   NULL, &selection), CSV_OK);
	return selection;
}

uint8_t *
doubtful_rows(const CsvLayout *layout, const CsvBatch *batch)
{
	uint8_t    *doubtful = calloc(batch->nrows + 1, 1);

	assert_non_null(doubtful);
	for (uint32_t c = 0; c < layout->ncolumns; c++)
		for (uint32_t row = 0; row < batch->nrows; row++)
			doubtful[row] |= batch->arrays[c].status[row] ==
				CSV_VALUE_DOUBTFUL;
	return doubtful;
}

CsvSelection
run_certain(CsvEvaluator *evaluator, const CsvLayout *layout,
			const CsvBatch *batch)
{
	uint8_t    *doubtful = doubtful_rows(layout, batch);
	CsvSelection selection = run_batch(evaluator, layout, batch, doubtful);

	free(doubtful);
	return selection;
}

/* ---- values ---- */

static void
expect_real(double found, double expected)
{
	if (!isnan(found) || !isnan(expected))
		assert_memory_equal(&found, &expected, 8);
}

/* -0 is told from 0, and NaNs are one */
static void
expect_equal_value(uint8_t lane, const CsvValue *found, const CsvValue *expected)
{
	assert_true(naive_equal(lane, found, expected));
	if (lane == CSV_LANE_FLOAT && found->state == CSV_LANE_VALUE)
		expect_real(found->value.real, expected->value.real);
}

static bool
is_extreme(const CsvAggregate *aggregate)
{
	return aggregate->kind == CSV_AGGREGATE_MIN ||
		aggregate->kind == CSV_AGGREGATE_MAX;
}

/* exact: also which of two equal extremes */
static void
expect_aggregate(const CsvAggregate *aggregate, const CsvAggregateValue *found,
				 const CsvAggregateValue *expected, bool exact)
{
	assert_int_equal(found->count, expected->count);
	assert_memory_equal(&found->wide, &expected->wide, sizeof(found->wide));
	assert_int_equal(found->overflow, expected->overflow);
	expect_real(found->real, expected->real);
	if (!is_extreme(aggregate))
		return;
	if (exact)
		expect_equal_value(aggregate->lane, &found->extreme, &expected->extreme);
	else
		assert_true(naive_equal(aggregate->lane, &found->extreme,
								&expected->extreme));
}

void
expect_naive_aggregate(const CsvAggregate *aggregate,
					   const CsvAggregateValue *found,
					   const NaiveAggregate *expected)
{
	assert_int_equal(found->count, expected->count);
	if (is_extreme(aggregate))
	{
		if (expected->count == 0)
			assert_int_equal(found->extreme.state, CSV_LANE_NULL);
		else
			expect_equal_value(aggregate->lane, &found->extreme, &expected->extreme);
	}
	if (expected->count == 0 ||
		(aggregate->kind != CSV_AGGREGATE_SUM &&
		 aggregate->kind != CSV_AGGREGATE_SUM_SQUARES))
		return;
	if (aggregate->lane != CSV_LANE_FLOAT)
	{
		assert_memory_equal(&found->wide,
							expected->sum.words + -NAIVE_LOWEST / 32, 24);
		return;
	}
	if (expected->nan || (expected->infinity[0] && expected->infinity[1]))
		assert_true(isnan(found->real));
	else if (expected->infinity[0] || expected->infinity[1])
	{
		assert_true(isinf(found->real));
		assert_int_equal(found->real < 0, expected->infinity[1]);
		assert_false(found->overflow);
	}
	else
	{
		assert_int_equal(isinf(found->real) != 0, found->overflow);
		assert_true(naive_is_rounded(&expected->sum, found->real));
		if (found->real == 0)
			assert_int_equal(signbit(found->real) != 0,
							 expected->only_minus_zeros);
	}
}

/* ---- groups ---- */

void
expect_naive_groups(CsvEvaluator *found, const CsvQuery *query,
					const NaiveGroups *expected)
{
	uint32_t	ngroups = csv_evaluator_ngroups(found);

	assert_int_equal(ngroups, query->nkeys == 0 ? 1 : expected->ngroups);
	for (uint32_t g = 0; g < expected->ngroups; g++)
	{
		const NaiveGroup *group = &expected->groups[g];

		assert_int_equal(csv_evaluator_find_group(found, group->keys), g);
		for (uint32_t i = 0; i < query->nkeys; i++)
		{
			CsvValue	key;

			get_key(found, g, i, &key);
			expect_equal_value(query->keys[i].lane, &key, &group->keys[i]);
		}
		for (uint32_t i = 0; i < query->naggregates; i++)
		{
			CsvAggregateValue value;

			get_aggregate(found, g, i, &value);
			expect_naive_aggregate(&query->aggregate[i], &value,
								   &group->aggregates[i]);
		}
	}
	assert_int_equal(csv_evaluator_ngroups(found), ngroups);
}

static void
expect_aggregates(const CsvQuery *query, const CsvEvaluator *found,
				  uint32_t group, const CsvEvaluator *expected,
				  uint32_t expected_group, bool exact)
{
	for (uint32_t i = 0; i < query->naggregates; i++)
	{
		CsvAggregateValue a;
		CsvAggregateValue b;

		get_aggregate(found, group, i, &a);
		get_aggregate(expected, expected_group, i, &b);
		expect_aggregate(&query->aggregate[i], &a, &b, exact);
	}
}

void
expect_groups(const CsvQuery *query, const CsvEvaluator *found,
			  const CsvEvaluator *expected)
{
	uint32_t	ngroups = csv_evaluator_ngroups(expected);

	assert_int_equal(csv_evaluator_ngroups(found), ngroups);
	for (uint32_t g = 0; g < ngroups; g++)
	{
		for (uint32_t i = 0; i < query->nkeys; i++)
		{
			CsvValue	a;
			CsvValue	b;

			get_key(found, g, i, &a);
			get_key(expected, g, i, &b);
			expect_equal_value(query->keys[i].lane, &a, &b);
		}
		expect_aggregates(query, found, g, expected, g, true);
	}
}

void
expect_set(const CsvQuery *query, const CsvEvaluator *found,
		   const CsvEvaluator *expected, bool exact)
{
	uint32_t	ngroups = csv_evaluator_ngroups(expected);

	assert_int_equal(csv_evaluator_ngroups(found), ngroups);
	for (uint32_t g = 0; g < ngroups; g++)
	{
		CsvValue	keys[CSV_MAX_KEYS];
		uint32_t	place;

		for (uint32_t i = 0; i < query->nkeys; i++)
			get_key(expected, g, i, &keys[i]);
		place = csv_evaluator_seek_group(found, keys);
		assert_int_not_equal(place, CSV_NO_GROUP);
		expect_aggregates(query, found, place, expected, g, exact);
	}
}

void
expect_partial_group(const CsvQuery *query, const CsvPartialGroups *found,
					 uint32_t group, const CsvEvaluator *expected,
					 uint32_t expected_group)
{
	CsvPartialLayout layout;

	csv_partial_lay_out(query, &layout);
	for (uint32_t i = 0; i < query->nkeys; i++)
	{
		CsvValue	a;
		CsvValue	b;

		csv_partial_key(query, found, group, i, &a);
		get_key(expected, expected_group, i, &b);
		expect_equal_value(query->keys[i].lane, &a, &b);
	}
	for (uint32_t i = 0; i < query->naggregates; i++)
	{
		CsvAggregateValue a;
		CsvAggregateValue b;

		csv_partial_aggregate(query, &layout, found, group, i, &a);
		get_aggregate(expected, expected_group, i, &b);
		expect_aggregate(&query->aggregate[i], &a, &b, true);
	}
}
