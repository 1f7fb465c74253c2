/*
 * test_query.c
 *		Queries over batches: single operations, sums, groups; and random
 *		programs over random batches against naive_query.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../src/query/groups.h"
#include "../../src/query/operate.h"
#include "../../src/query/row.h"
#include "../../src/query/evaluator.h"
#include "host_answer.h"
#include "naive_query.h"
#include "random_query.h"
#include "reading.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define MAX_ROWS	4000

/* ---- comparing ---- */

static void
check_value(uint8_t lane, const CsvValue *value, const CsvValue *expected)
{
	assert_int_equal(value->state, expected->state);
	if (value->state != CSV_LANE_VALUE)
		return;
	assert_true(naive_equal(lane, value, expected));
	/* -0 is told from 0 */
	if (lane == CSV_LANE_FLOAT && !isnan(value->value.real))
		assert_memory_equal(&value->value.real, &expected->value.real, 8);
}

static void
check_aggregate(const CsvAggregate *aggregate, const CsvAggregateValue *value,
				 const NaiveAggregate *expected)
{
	assert_int_equal(value->count, expected->count);
	if (aggregate->kind == CSV_AGGREGATE_MIN ||
		aggregate->kind == CSV_AGGREGATE_MAX)
	{
		if (expected->count == 0)
			assert_int_equal(value->extreme.state, CSV_LANE_NULL);
		else
			check_value(aggregate->lane, &value->extreme, &expected->extreme);
	}
	if (expected->count == 0 ||
		(aggregate->kind != CSV_AGGREGATE_SUM &&
		 aggregate->kind != CSV_AGGREGATE_SUM_SQUARES))
		return;
	if (aggregate->lane != CSV_LANE_FLOAT)
	{
		assert_memory_equal(&value->wide,
							expected->sum.words + -NAIVE_LOWEST / 32, 24);
		return;
	}
	if (expected->nan || (expected->infinity[0] && expected->infinity[1]))
		assert_true(isnan(value->real));
	else if (expected->infinity[0] || expected->infinity[1])
	{
		assert_true(isinf(value->real));
		assert_int_equal(value->real < 0, expected->infinity[1]);
		assert_false(value->overflow);
	}
	else
	{
		assert_int_equal(isinf(value->real) != 0, value->overflow);
		assert_true(naive_is_rounded(&expected->sum, value->real));
		if (value->real == 0)
			assert_int_equal(signbit(value->real) != 0,
							 expected->only_minus_zeros);
	}
}

static void
check_groups(CsvEvaluator *evaluator, const CsvQuery *query,
			  const NaiveGroups *expected)
{
	uint32_t	ngroups = csv_evaluator_ngroups(evaluator);

	assert_int_equal(ngroups, query->nkeys == 0 ? 1 : expected->ngroups);
	for (uint32_t g = 0; g < expected->ngroups; g++)
	{
		const NaiveGroup *group = &expected->groups[g];

		assert_int_equal(csv_evaluator_find_group(evaluator, group->keys, NULL), g);
		for (uint32_t i = 0; i < query->nkeys; i++)
		{
			CsvValue	key;

			csv_evaluator_key(evaluator, g, i, &key);
			check_value(query->keys[i].lane, &key, &group->keys[i]);
		}
		for (uint32_t i = 0; i < query->naggregates; i++)
		{
			CsvAggregateValue value;

			csv_evaluator_aggregate(evaluator, g, i, &value);
			check_aggregate(&query->aggregate[i], &value,
							 &group->aggregates[i]);
		}
	}
	assert_int_equal(csv_evaluator_ngroups(evaluator), ngroups);
}

/* a batch's selection, and the naive groups after it */
static void
compare_rows(const CsvQuery *query, const Fixture *fixture,
			 const CsvSelection *found, const uint8_t *wanted,
			 NaiveGroups *groups)
{
	const CsvSelection selection = *found;
	uint32_t	next = 0;
	uint32_t	ndropped = 0;
	bool		any_careful = false;

	for (uint32_t row = 0; row < fixture->batch.nrows; row++)
	{
		NaiveFate	fate = wanted != NULL && wanted[row] != 0 ? NAIVE_CAREFUL :
			naive_row(query, &fixture->table, row, groups);

		ndropped += fate == NAIVE_DROPPED;
		if (fate == NAIVE_DROPPED ||
			(fate == NAIVE_PASSES && query->aggregates))
			continue;
		any_careful |= fate == NAIVE_CAREFUL;
		if (next >= selection.nrows || selection.rows[next] != row ||
			selection.careful[next] != (fate == NAIVE_CAREFUL))
			fail_msg("row %u is %s", row, fate == NAIVE_CAREFUL ?
					 "careful" : "passing");
		next++;
	}
	assert_int_equal(selection.nrows, next);
	assert_int_equal(selection.ndropped, ndropped);
	assert_int_equal(selection.any_careful, any_careful);
}

/* run one batch through both; texts of groups must stay: they are copied */
static void
run_and_compare(CsvEvaluator *evaluator, const CsvQuery *query,
				const Fixture *fixture, const uint8_t *wanted,
				NaiveGroups *groups)
{
	CsvSelection selection;

	assert_int_equal(csv_evaluator_run(evaluator, &fixture->layout,
									   &fixture->batch, wanted, NULL, NULL,
									   &selection), CSV_OK);
	compare_rows(query, fixture, &selection, wanted, groups);
}

/*
 * Groups of an answer as they are say what they say when merged; and of those that
 * are held elsewhere, none is.
 */
static void
compare_partial(const CsvQuery *query, const CsvPartialGroups *groups)
{
	CsvEvaluator *merged = csv_evaluator_create(&reading_memory, query);
	CsvPartialGroups some = *groups;
	CsvPartialLayout layout;
	CsvValue	keys[CSV_MAX_KEYS];
	uint32_t   *held = malloc(groups->ngroups * sizeof(uint32_t) + 1);

	csv_partial_lay_out(query, &layout);
	assert_int_equal(csv_evaluator_merge(merged, groups), CSV_OK);
	for (uint32_t g = 0; g < groups->ngroups; g++)
	{
		for (uint32_t key = 0; key < query->nkeys; key++)
		{
			CsvValue	expected;

			csv_partial_key(query, groups, g, key, &keys[key]);
			csv_evaluator_key(merged, g, key, &expected);
			check_value(query->keys[key].lane, &keys[key], &expected);
		}
		if (query->nkeys > 0)
			assert_int_equal(csv_evaluator_seek_group(merged, keys), g);
		for (uint32_t i = 0; i < query->naggregates; i++)
		{
			const CsvAggregate *aggregate = &query->aggregate[i];
			CsvAggregateValue a;
			CsvAggregateValue b;

			csv_partial_aggregate(query, &layout, groups, g, i, &a);
			csv_evaluator_aggregate(merged, g, i, &b);
			assert_int_equal(a.count, b.count);
			assert_memory_equal(&a.wide, &b.wide, sizeof(a.wide));
			assert_int_equal(a.overflow, b.overflow);
			if (!isnan(a.real) || !isnan(b.real))
				assert_memory_equal(&a.real, &b.real, 8);
			check_value(aggregate->lane, &a.extreme, &b.extreme);
			for (uint32_t k = 0; k < query->naggregates; k++)
			{
				const CsvAggregate *squares = &query->aggregate[k];
				double		x;
				double		y;

				if (aggregate->kind != CSV_AGGREGATE_SUM ||
					squares->kind != CSV_AGGREGATE_SUM_SQUARES ||
					squares->lane != CSV_LANE_FLOAT || a.count == 0 ||
					squares->argument != aggregate->argument ||
					squares->filter != aggregate->filter)
					continue;
				x = csv_partial_spread(&layout, groups, g, i, k,
									   (uint64_t) a.count);
				y = csv_evaluator_spread(merged, g, i, k, (uint64_t) a.count);
				if (!isnan(x) || !isnan(y))
					assert_memory_equal(&x, &y, 8);
			}
		}
		held[g] = g % 3 == 0 ? g : CSV_NOT_HELD;
	}
	csv_evaluator_free(merged);

	merged = csv_evaluator_create(&reading_memory, query);
	some.held = held;
	assert_int_equal(csv_evaluator_merge(merged, &some), CSV_OK);
	for (uint32_t g = 0; query->nkeys > 0 && g < groups->ngroups; g++)
	{
		for (uint32_t key = 0; key < query->nkeys; key++)
			csv_partial_key(query, groups, g, key, &keys[key]);
		if (g % 3 == 0)
			assert_int_equal(csv_evaluator_seek_group(merged, keys),
							 CSV_NO_GROUP);
		else
			assert_int_not_equal(csv_evaluator_seek_group(merged, keys),
								 CSV_NO_GROUP);
	}
	csv_evaluator_free(merged);
	free(held);
}

/* as a device does it */
static void
answer_and_compare(CsvEvaluator *evaluator, const CsvPlan *plan,
				   const CsvQuery *query, const Fixture *fixture,
				   uint8_t *wanted, NaiveGroups *groups)
{
	CsvAnswer  *answer = host_answer(plan, &fixture->layout, &fixture->batch);

	memset(wanted, 0, fixture->batch.nrows);
	for (uint32_t c = 0; c < fixture->layout.ncolumns; c++)
		for (uint32_t row = 0; row < fixture->batch.nrows; row++)
			wanted[row] |= fixture->arrays[c].status[row] ==
				CSV_VALUE_DOUBTFUL;
	compare_rows(query, fixture, &answer->selection, wanted, groups);
	if (query->aggregates)
	{
		assert_int_equal(csv_evaluator_merge(evaluator, &answer->groups),
						 CSV_OK);
		compare_partial(query, &answer->groups);
	}
	host_answer_free(answer);
}

/* keys and extremes of the naive groups, before the batch goes */
static void
keep_texts(const CsvQuery *query, NaiveGroups *groups, uint8_t **texts,
		   size_t *ntexts)
{
	for (uint32_t g = 0; g < groups->ngroups; g++)
	{
		NaiveGroup *group = &groups->groups[g];

		for (uint32_t i = 0; i < query->nkeys + query->naggregates; i++)
		{
			bool		is_key = i < query->nkeys;
			NaiveAggregate *aggregate = is_key ? NULL :
				&group->aggregates[i - query->nkeys];
			CsvValue   *value = is_key ? &group->keys[i] : &aggregate->extreme;
			int64_t		n = !is_key && aggregate->distinct != NULL ?
				aggregate->count : 1;

			if (n > 0 && !is_key && aggregate->distinct != NULL)
				value = aggregate->distinct;
			for (; n > 0; n--, value++)
			{
				if (value->bytes == NULL)
					continue;
				texts[*ntexts] = malloc(value->length + 1);
				memcpy(texts[*ntexts], value->bytes, value->length);
				value->bytes = texts[(*ntexts)++];
			}
		}
	}
}

static uint64_t failing_seed;

/* CSV_TEST_SEED and CSV_TEST_ROUNDS=1 repeat it */
static int
say_failing_seed(void **state)
{
	(void) state;
	if (failing_seed != 0)
		print_message("random program of seed %llu\n",
					  (unsigned long long) failing_seed);
	return 0;
}

/* start anew from a seed, with a column of each kind, decimals of 17 digits */
static void
begin_seed(uint64_t seed, Fixture *fixture)
{
	failing_seed = seed;
	random_state = seed * UINT64_C(0x9E3779B97F4A7C15);
	memset(fixture, 0, sizeof(*fixture));
	for (int kind = 0; kind < CSV_NUM_KINDS; kind++)
		add_column(fixture, (CsvKind) kind, 17, (int) random_below(5));
	fixture->null_in = one_in(2) ? 0 : 5;
	fixture->doubtful_in = one_in(2) ? 0 : 50;
	for (uint32_t c = 0; c < fixture->layout.ncolumns; c++)
		fixture->spreads[c] = one_in(2) ? random_spread() : SPREAD_SMALL;
}

/* ---- the first rows in an order ---- */

#define MOST_LIMIT	60

/* the keys of the first rows so far, in their order */
typedef struct FirstRows
{
	uint32_t	n;
	struct
	{
		CsvValue	keys[8];
		uint8_t    *texts[8];
		uint32_t	batch;
		uint32_t	row;
	}			rows[MOST_LIMIT + 1];
} FirstRows;

static int
compare_in_order(const CsvOrderKey *key, const CsvValue *a, const CsvValue *b)
{
	if (a->state == CSV_LANE_NULL || b->state == CSV_LANE_NULL)
		return a->state == b->state ? 0 :
			(a->state == CSV_LANE_NULL) == key->nulls_first ? -1 : 1;
	return key->descending ? naive_compare(key->lane, b, a) :
		naive_compare(key->lane, a, b);
}

static void
free_first_row(const CsvQuery *query, FirstRows *first, uint32_t i)
{
	for (uint32_t k = 0; k < query->norder; k++)
		free(first->rows[i].texts[k]);
}

/* insert a row behind its equals; false if one of its values is undecided */
static bool
insert_row(const CsvQuery *query, const NaiveTable *table, uint32_t batch,
		   uint32_t row, FirstRows *first)
{
	CsvValue	keys[8];
	uint32_t	at = first->n;

	for (uint32_t k = 0; k < query->norder; k++)
	{
		keys[k] = naive_value(query, table, row, query->order[k].value);
		if (keys[k].state == CSV_LANE_UNDECIDED)
			return false;
	}
	for (uint32_t k = 0; k < query->nchecked; k++)
		if (naive_value(query, table, row, query->checked[k]).state ==
			CSV_LANE_UNDECIDED)
			return false;
	for (; at > 0; at--)
	{
		int			order = 0;

		for (uint32_t k = 0; k < query->norder && order == 0; k++)
			order = compare_in_order(&query->order[k], &keys[k],
									 &first->rows[at - 1].keys[k]);
		if (order >= 0)
			break;
		first->rows[at] = first->rows[at - 1];
	}
	for (uint32_t k = 0; k < query->norder; k++)
	{
		uint8_t    *text = NULL;

		first->rows[at].keys[k] = keys[k];
		if (keys[k].bytes != NULL)
		{
			text = malloc(keys[k].length + 1);
			memcpy(text, keys[k].bytes, keys[k].length);
			first->rows[at].keys[k].bytes = text;
		}
		first->rows[at].texts[k] = text;
	}
	first->rows[at].batch = batch;
	first->rows[at].row = row;
	if (first->n < query->limit)
		first->n++;
	else
		free_first_row(query, first, first->n);
	return true;
}

static void
first_rows_in_an_order_come_out(void **state)
{
	static const uint32_t sizes[] = {0, 1, 50, 1024, 1025, 3000};
	static Program program;
	static FirstRows first;
	static uint8_t expected[MAX_ROWS];

	(void) state;
	for (uint64_t seed = 1; seed <= 300; seed++)
	{
		Fixture		fixture;
		CsvEvaluator *evaluator;
		CsvQuery   *query = &program.query;

		begin_seed(seed, &fixture);
		start_program(&program);
		if (one_in(2))
			program.filters[query->nfilters++] =
				random_expression(&program, &fixture, CSV_LANE_INT, true, 2);
		query->nfilter_instructions = query->ninstructions;
		query->limit = 1 + random_below(MOST_LIMIT);
		query->limit_bytes = SIZE_MAX;
		for (uint32_t n = 1 + random_below(4); n > 0; n--)
		{
			CsvOrderKey *key = &program.order[query->norder++];

			key->lane = (uint8_t) random_below(5);
			key->descending = one_in(2);
			key->nulls_first = one_in(2);
			key->value = random_expression(&program, &fixture, key->lane,
										   false, (int) random_below(3));
		}
		if (one_in(3))
			program.checked[query->nchecked++] =
				random_expression(&program, &fixture, CSV_LANE_INT, false, 2);
		evaluator = csv_evaluator_create(&reading_memory, query);
		assert_non_null(evaluator);
		first.n = 0;
		for (uint32_t batch = 0; batch < 4; batch++)
		{
			NaiveGroups none = {NULL, 0, 0};
			CsvSelection selection;
			uint32_t	nrows = 0;

			make_batch(&fixture, sizes[random_below(LENGTH(sizes))]);
			memset(expected, NAIVE_DROPPED, sizeof(expected));
			for (uint32_t row = 0; row < fixture.batch.nrows; row++)
			{
				expected[row] = naive_row(query, &fixture.table, row, &none);
				if (expected[row] == NAIVE_PASSES)
					expected[row] = insert_row(query, &fixture.table, batch,
											   row, &first) ?
						NAIVE_DROPPED : NAIVE_CAREFUL;
			}
			for (uint32_t i = 0; i < first.n; i++)
				if (first.rows[i].batch == batch)
					expected[first.rows[i].row] = NAIVE_PASSES;
			assert_int_equal(csv_evaluator_run(evaluator, &fixture.layout,
											   &fixture.batch, NULL, NULL, NULL,
											   &selection), CSV_OK);
			for (uint32_t row = 0; row < fixture.batch.nrows; row++)
			{
				if (expected[row] == NAIVE_DROPPED)
					continue;
				assert_true(nrows < selection.nrows);
				assert_int_equal(selection.rows[nrows], row);
				assert_int_equal(selection.careful[nrows],
								 expected[row] == NAIVE_CAREFUL);
				nrows++;
			}
			assert_int_equal(selection.nrows, nrows);
			assert_int_equal(selection.nrows + selection.ndropped +
							 selection.nbeyond, fixture.batch.nrows);
			free_batch(&fixture);
		}
		csv_evaluator_free(evaluator);
		while (first.n > 0)
			free_first_row(query, &first, --first.n);
	}
	failing_seed = 0;
}

/* ---- groups that are remembered ---- */

static void
remembered_groups_are_the_same(void **state)
{
	static Program program;
	static uint8_t wanted[MAX_ROWS];
	static uint32_t numbers[MAX_ROWS];

	(void) state;
	for (uint64_t seed = 1; seed <= 150; seed++)
	{
		Fixture		fixture;
		uint32_t	nclasses = 0;
		CsvRowClasses classes = {numbers, &nclasses};
		uint32_t	nfilters;
		uint32_t	nrows;

		begin_seed(seed, &fixture);
		do
			random_program(&program, &fixture);
		while (program.query.nkeys == 0);
		nfilters = program.query.nfilters;
		nrows = 1 + random_below(3000);
		make_batch(&fixture, nrows);
		memset(numbers, 0xff, sizeof(numbers));

		/* other rows come to the groups each time */
		for (int round = 0; round < 5; round++)
		{
			CsvEvaluator *evaluator;
			NaiveGroups groups = {NULL, 0, 0};

			program.query.nfilters = one_in(2) ? nfilters : 0;
			for (uint32_t row = 0; row < nrows; row++)
				wanted[row] = round < 2 ? !one_in(4) : one_in(10);
			evaluator = csv_evaluator_create(&reading_memory, &program.query);
			assert_non_null(evaluator);
			csv_evaluator_remember(evaluator, &classes);
			run_and_compare(evaluator, &program.query, &fixture, wanted,
							&groups);
			check_groups(evaluator, &program.query, &groups);
			csv_evaluator_free(evaluator);
			naive_free(&program.query, &groups);
		}
		assert_true(nclasses <= nrows);
		free_batch(&fixture);
	}
	failing_seed = 0;
}

/* ---- all of it ---- */

/* with plans, as an engine's answers; without, by the evaluator */
static void
compare_random_programs(bool plans)
{
	static const uint32_t sizes[] = {0, 1, 2, 5, 100, 700, 1023, 1024, 1025,
	2048, 2500};
	const char *rounds_text = getenv("CSV_TEST_ROUNDS");
	const char *seed_text = getenv("CSV_TEST_SEED");
	int			rounds = rounds_text != NULL ? atoi(rounds_text) : 400;
	uint64_t	seed = seed_text != NULL ? strtoull(seed_text, NULL, 10) : 1;
	static Program program;
	static uint8_t wanted[MAX_ROWS];
	int			nplans = 0;

	for (int round = 0; round < rounds; round++, seed++)
	{
		Fixture		fixture;
		CsvEvaluator *evaluator;
		CsvPlan		plan;
		NaiveGroups groups = {NULL, 0, 0};
		uint8_t   **texts = malloc(sizeof(uint8_t *) * 1000000);
		size_t		ntexts = 0;
		uint32_t	nbatches;

		failing_seed = seed;
		random_state = seed * UINT64_C(0x9E3779B97F4A7C15);
		memset(&fixture, 0, sizeof(fixture));
		random_columns(&fixture);
		random_program(&program, &fixture);
		for (uint32_t i = 0; plans && i < program.query.naggregates; i++)
			if (program.aggregates[i].kind == CSV_AGGREGATE_COUNT_DISTINCT)
				program.aggregates[i].kind = CSV_AGGREGATE_COUNT;
		evaluator = csv_evaluator_create(&reading_memory, &program.query);
		assert_non_null(evaluator);
		nbatches = 1 + random_below(3);
		for (uint32_t i = 0; i < nbatches; i++)
		{
			bool		want = one_in(4);

			make_batch(&fixture, sizes[random_below(LENGTH(sizes))]);
			for (uint32_t row = 0; row < fixture.batch.nrows; row++)
				wanted[row] = one_in(30);
			/* constants may change between runs, but for sorted lists */
			if (i > 0 && one_in(2))
				for (uint32_t k = 0; k < program.query.ninstructions; k++)
					if (program.instructions[k].operation == CSV_OP_CONSTANT &&
						program.instructions[k].lane == CSV_LANE_DECIMAL)
						program.constants[program.instructions[k].operand].value.decimal =
							random_decimal(SPREAD_WIDE, 20);
			if (plans && csv_plan_make(&plan, &reading_memory, &program.query,
									   &fixture.layout, CSV_MAX_REGISTERS,
									   one_in(2)))
			{
				answer_and_compare(evaluator, &plan, &program.query, &fixture,
								   wanted, &groups);
				csv_plan_free(&plan, &reading_memory);
				nplans++;
			}
			else
				run_and_compare(evaluator, &program.query, &fixture,
								want ? wanted : NULL, &groups);
			keep_texts(&program.query, &groups, texts, &ntexts);
			free_batch(&fixture);
			if (program.query.aggregates)
				check_groups(evaluator, &program.query, &groups);
		}
		csv_evaluator_free(evaluator);
		naive_free(&program.query, &groups);
		while (ntexts > 0)
			free(texts[--ntexts]);
		free(texts);
	}
	failing_seed = 0;
	assert_true(!plans || nplans > rounds / 2);
}

static void
random_programs_agree_with_a_row_at_a_time(void **state)
{
	(void) state;
	compare_random_programs(false);
}

static void
answers_agree_with_a_row_at_a_time(void **state)
{
	(void) state;
	compare_random_programs(true);
}

/* ---- operations ---- */

static void
integers_overflow_at_their_range(void **state)
{
	int64_t		result;

	(void) state;
	assert_true(csv_int_add(32766, 1, 16, &result));
	assert_int_equal(result, 32767);
	assert_false(csv_int_add(32767, 1, 16, &result));
	assert_false(csv_int_subtract(-32768, 1, 16, &result));
	assert_false(csv_int_multiply(65536, 32768, 32, &result));
	assert_true(csv_int_multiply(-65536, 32768, 32, &result));
	assert_false(csv_int_add(INT64_MAX, 1, 64, &result));
	assert_false(csv_int_subtract(INT64_MIN, 1, 64, &result));
	assert_false(csv_int_multiply(INT64_MIN, -1, 64, &result));
	assert_true(csv_int_multiply(INT64_MIN, 1, 64, &result));
	assert_false(csv_int_negate(INT64_MIN, 64, &result));
	assert_false(csv_int_negate(-32768, 16, &result));
}

static void
decimals_end_at_38_digits(void **state)
{
	CsvInt128	most = (CsvInt128) csv_power_of_ten(38) - 1;
	CsvInt128	result;

	(void) state;
	assert_true(csv_decimal_add(most, 0, &result));
	assert_false(csv_decimal_add(most, 1, &result));
	assert_false(csv_decimal_subtract(-most, 1, &result));
	assert_true(csv_decimal_multiply((CsvInt128) csv_power_of_ten(19) - 1,
									 -(CsvInt128) csv_power_of_ten(19),
									 &result));
	assert_true(result == -((CsvInt128) csv_power_of_ten(38) -
							(CsvInt128) csv_power_of_ten(19)));
	assert_false(csv_decimal_multiply((CsvInt128) csv_power_of_ten(19),
									  (CsvInt128) csv_power_of_ten(19),
									  &result));
	assert_false(csv_decimal_multiply(most, most, &result));
	assert_true(csv_decimal_rescale(7, 37, &result));
	assert_false(csv_decimal_rescale(7, 38, &result));
	assert_false(csv_decimal_rescale(7, 1000, &result));
	assert_true(csv_decimal_rescale(0, 1000, &result));
}

static void
floats_raise_what_postgresqls_do(void **state)
{
	double		result;

	(void) state;
	assert_false(csv_float_add(DBL_MAX, DBL_MAX, 64, &result));
	assert_true(csv_float_add(INFINITY, DBL_MAX, 64, &result));
	assert_true(csv_float_subtract(INFINITY, INFINITY, 64, &result));
	assert_true(isnan(result));
	assert_false(csv_float_multiply(1e-200, 1e-200, 64, &result));
	assert_true(csv_float_multiply(0, 1e-200, 64, &result));
	assert_false(csv_float_multiply(1e200, 1e200, 64, &result));
	assert_true(csv_float_multiply(INFINITY, 0, 64, &result));
	/* float4 */
	assert_false(csv_float_multiply(1e30f, 1e30f, 32, &result));
	assert_true(csv_float_add(16777216, 1, 32, &result));
	assert_true(result == 16777216);

	assert_int_equal(csv_float_compare(NAN, INFINITY), 1);
	assert_int_equal(csv_float_compare(NAN, -NAN), 0);
	assert_int_equal(csv_float_compare(-0.0, 0), 0);
	assert_int_equal(csv_float_compare(-1, NAN), -1);
}

static void
decimals_keep_their_digits_or_are_undecided(void **state)
{
	static const struct
	{
		const char *text;
		int			scale;
		bool		fits;
		int64_t		expected;
	}			cases[] = {
		{"0", 0, true, 0}, {"0.000", 0, true, 0}, {"1.5", 2, true, 150},
		{"1.50000", 2, true, 150}, {"-1.505", 2, false, 0},
		{"1.505", 3, true, 1505}, {"0.0001", 3, false, 0},
		{"0.00010000", 4, true, 1}, {"0.00000001", 4, false, 0},
		{"12345678", 5, true, INT64_C(1234567800000)},
		{"-20000", 0, true, -20000}, {"0.000000001", 12, true, 1000},
		{"123456.7891", 4, true, 1234567891}, {"123456.7891", 3, false, 0},
		{"99999999999999999999999999999999999999", 1, false, 0}
	};

	(void) state;
	for (size_t i = 0; i < LENGTH(cases); i++)
	{
		_Alignas(8) uint8_t entry[64];
		CsvInt128	result = 0;

		assert_true(csv_parse_numeric((const uint8_t *) cases[i].text,
									  (uint32_t) strlen(cases[i].text), '.',
									  -1, 0, entry, sizeof(entry)));
		assert_int_equal(csv_decimal_from_scaled(entry, cases[i].scale,
												 &result), cases[i].fits);
		if (cases[i].fits)
			assert_true(result == cases[i].expected);
	}
}

static void
dates_become_timestamps(void **state)
{
	int64_t		result;

	(void) state;
	assert_true(csv_date_to_timestamp(INT32_MIN, &result));
	assert_true(result == INT64_MIN);
	assert_true(csv_date_to_timestamp(INT32_MAX, &result));
	assert_true(result == INT64_MAX);
	assert_true(csv_date_to_timestamp(106751982, &result));
	assert_true(result == INT64_C(106751982) * 86400000000);
	assert_false(csv_date_to_timestamp(106751983, &result));
}

/* ---- sums of floats ---- */

/* also in one call, and in the opposite order */
static double
sum_of(const double *values, uint32_t n, bool *overflow)
{
	static uint16_t rows[CSV_FLOAT_SUM_ROWS];
	double		results[3];
	bool		overflows[3];

	for (int way = 0; way < 3; way++)
	{
		CsvFloatSum sum;
		CsvWideFloats wides = {&reading_memory, NULL, 0, 0};

		memset(&sum, 0, sizeof(sum));
		for (uint32_t i = 0; i < n; i++)
		{
			uint32_t	row = way == 2 ? n - 1 - i : i;

			rows[i] = (uint16_t) row;
			if (way == 0)
				assert_true(csv_float_sum_add(&sum, &wides, values[row]));
		}
		if (way > 0)
			assert_true(csv_float_sum_add_rows(&sum, &wides, values, rows, n));
		results[way] = csv_float_sum_round(&sum, &wides, &overflows[way]);
		csv_wide_floats_free(&wides);
		assert_memory_equal(&results[way], &results[0], 8);
		assert_int_equal(overflows[way], overflows[0]);
	}
	*overflow = overflows[0];
	return results[0];
}

#define expect_sum(expected, ...) \
	do \
	{ \
		const double values_[] = {__VA_ARGS__}; \
		const double expected_ = (expected); \
		bool		overflow_; \
		const double sum_ = sum_of(values_, LENGTH(values_), &overflow_); \
 \
		assert_memory_equal(&sum_, &expected_, 8); \
		assert_false(overflow_); \
	} while (0)

static void
sums_of_floats_are_rounded_once(void **state)
{
	const double huge[] = {DBL_MAX, 0x1p970, DBL_MAX, -DBL_MAX};
	bool		overflow;

	(void) state;
	expect_sum(1, 1e300, 1, -1e300);
	expect_sum(0x1.0000000000001p0, 1, 0x1p-53, 0x1p-1074);
	expect_sum(1, 1, 0x1p-53, -0x1p-1074);
	expect_sum(1, 1, 0x1p-53);
	expect_sum(0x1.0000000000002p0, 0x1.0000000000001p0, 0x1p-53);
	expect_sum(DBL_MAX, DBL_MAX, DBL_MAX, -DBL_MAX, 1, -1);
	expect_sum(0x1p-1074, 0x1p-1074, 1e308, -1e308);
	expect_sum(0x1p-1022, 0x1p-1023, 0x1p-1023);
	expect_sum(0x0.fffffffffffffp-1022, 0x1p-1022, -0x1p-1074);
	expect_sum(-0.0, -0.0, -0.0);
	expect_sum(0.0, -0.0, 0.0);
	expect_sum(0.0, 1.5, -1.5);
	expect_sum(INFINITY, INFINITY, DBL_MAX, DBL_MAX);
	expect_sum(-INFINITY, 1, -INFINITY);

	assert_true(isinf(sum_of(huge, 3, &overflow)));
	assert_true(overflow);
	/* half a unit beyond the largest rounds up */
	assert_true(isinf(sum_of(huge, 2, &overflow)));
	assert_true(overflow);
	assert_true(sum_of(huge, 4, &overflow) == HUGE_VAL);
	assert_true(overflow);
}

static void
random_sums_of_floats_are_exact(void **state)
{
	(void) state;
	random_state = 77;
	for (int round = 0; round < 3000; round++)
	{
		double		values[64];
		uint32_t	n = random_below(64) + 1;
		int			base = (int) random_below(2000);
		int			range = (int) random_below(one_in(2) ? 2046 : 70) + 1;
		CsvQuery	query;
		CsvAggregate aggregate;
		NaiveTable	table;
		NaiveGroups groups = {NULL, 0, 0};
		CsvInstruction instruction;
		CsvValue	rows[64];
		CsvAggregateValue value;

		memset(&query, 0, sizeof(query));
		memset(&aggregate, 0, sizeof(aggregate));
		memset(&instruction, 0, sizeof(instruction));
		memset(rows, 0, sizeof(rows));
		memset(&value, 0, sizeof(value));
		aggregate.kind = CSV_AGGREGATE_SUM;
		aggregate.lane = CSV_LANE_FLOAT;
		aggregate.filter = CSV_NO_REGISTER;
		instruction.operation = CSV_OP_COLUMN;
		instruction.lane = CSV_LANE_FLOAT;
		query.ninstructions = 1;
		query.instructions = &instruction;
		query.aggregates = true;
		query.naggregates = 1;
		query.aggregate = &aggregate;
		table.nrows = n;
		table.ncolumns = 1;
		table.values = rows;
		for (uint32_t i = 0; i < n; i++)
		{
			uint64_t	exponent = (uint64_t) base + random_below((uint32_t) range);
			uint64_t	bits = (next_random() & ~(UINT64_C(0x7ff) << 52)) |
				(exponent > 2046 ? 2046 : exponent) << 52;

			if (one_in(3))
				bits &= UINT64_MAX << 40;
			if (i > 0 && one_in(3))
			{
				/* the opposite of another one */
				memcpy(&bits, &values[random_below(i)], 8);
				bits ^= UINT64_C(1) << 63;
			}
			memcpy(&values[i], &bits, 8);
			rows[i].value.real = values[i];
			naive_row(&query, &table, i, &groups);
		}
		value.count = n;
		value.real = sum_of(values, n, &value.overflow);
		check_aggregate(&aggregate, &value, &groups.groups[0].aggregates[0]);
		naive_free(&query, &groups);
	}
}

/* ---- groups ---- */

static void
counters_and_sums_carry(void **state)
{
	static CsvGroups groups;
	static CsvEvaluator evaluator = {.groups = &groups};
	CsvQuery	query;
	CsvAggregate aggregates[2];
	CsvKey		key = {CSV_LANE_INT, 0};
	CsvLanes	lanes[2];
	int64_t		keys[4] = {5, 5, 5, 5};
	int64_t		values[4] = {INT64_MAX, INT64_MAX, INT64_MAX, 7};
	uint16_t	numbers[4] = {0, 1, 2, 3};
	CsvRows		rows = {numbers, 4};
	CsvAggregateValue value;
	uint32_t	count = UINT32_MAX - 2;

	(void) state;
	memset(&query, 0, sizeof(query));
	memset(aggregates, 0, sizeof(aggregates));
	memset(lanes, 0, sizeof(lanes));
	query.aggregates = true;
	query.nkeys = 1;
	query.keys = &key;
	query.naggregates = 2;
	query.aggregate = aggregates;
	aggregates[0].kind = CSV_AGGREGATE_COUNT_ROWS;
	aggregates[0].argument = aggregates[0].filter = CSV_NO_REGISTER;
	aggregates[1].kind = CSV_AGGREGATE_SUM;
	aggregates[1].lane = CSV_LANE_INT;
	aggregates[1].argument = 1;
	aggregates[1].filter = CSV_NO_REGISTER;
	lanes[0].plain = lanes[1].plain = true;
	lanes[0].integers = keys;
	lanes[1].integers = values;
	assert_true(csv_groups_init(&groups, &reading_memory, &query));
	assert_true(csv_groups_add(&groups, lanes, rows, 0));
	assert_int_equal(groups.accumulators[1].nbytes, 8);
	csv_evaluator_aggregate(&evaluator, 0, 0, &value);
	assert_int_equal(value.count, 4);
	csv_evaluator_aggregate(&evaluator, 0, 1, &value);
	assert_true(value.wide.low == (CsvUint128) INT64_MAX * 3 + 7);
	assert_int_equal(value.wide.high, 0);

	/* as if so many rows had been there */
	memcpy(csv_keyed_row(&groups.table, 0) + groups.counters[0], &count, 4);
	for (int i = 0; i < 3; i++)
		assert_true(csv_groups_add(&groups, lanes, rows, 0));
	csv_evaluator_aggregate(&evaluator, 0, 0, &value);
	assert_true(value.count == (int64_t) count + 12);
	csv_groups_free(&groups);
}

typedef struct Spilled
{
	uint32_t	nrows;
	int64_t		sum;
} Spilled;

/* of groups of one key, which is summed up as well */
static bool
count_spilled(void *arg, uint64_t hash, const CsvValue *keys,
			  const CsvValue *values, const CsvPartial *partial)
{
	Spilled    *spilled = arg;

	(void) hash;
	assert_null(partial);
	assert_int_equal(keys[0].state, CSV_LANE_VALUE);
	assert_int_equal(values[0].state, CSV_LANE_VALUE);
	assert_true(keys[0].value.integer == values[1].value.integer);
	spilled->nrows++;
	spilled->sum += values[1].value.integer;
	return true;
}

static void
many_groups_keep_their_sums(void **state)
{
	enum {NGROUPS = 200000};
	static Program program;
	Fixture		fixture;
	CsvEvaluator *evaluator;
	Spilled		spilled;
	uint32_t	ngroups;
	int64_t    *keys = malloc(NGROUPS * sizeof(int64_t));
	uint8_t    *status = calloc(NGROUPS, 1);
	CsvSelection selection;

	(void) state;
	memset(&fixture, 0, sizeof(fixture));
	add_column(&fixture, CSV_KIND_INT8, -1, 0);
	fixture.layout.columns = fixture.columns;
	start_program(&program);
	program.query.aggregates = true;
	program.query.nkeys = 1;
	program.keys[0].lane = CSV_LANE_INT;
	program.keys[0].value = add_load(&program, CSV_LANE_INT, 0);
	add_aggregate(&program, CSV_AGGREGATE_COUNT_ROWS, 0, CSV_NO_REGISTER,
				  CSV_NO_REGISTER);
	add_aggregate(&program, CSV_AGGREGATE_SUM, CSV_LANE_INT, 0,
				  CSV_NO_REGISTER);
	evaluator = csv_evaluator_create(&reading_memory, &program.query);
	assert_non_null(evaluator);
	for (uint32_t i = 0; i < NGROUPS; i++)
		keys[i] = (int64_t) i * 7919 % NGROUPS - 50;
	fixture.batch.nrows = NGROUPS;
	fixture.batch.arrays = fixture.arrays;
	fixture.arrays[0].values = (uint8_t *) keys;
	fixture.arrays[0].status = status;
	fixture.arrays[0].stride = 8;
	fixture.arrays[0].all_ok = true;
	for (int i = 0; i < 3; i++)
		assert_int_equal(csv_evaluator_run(evaluator, &fixture.layout,
										   &fixture.batch, NULL, NULL, NULL,
										   &selection), CSV_OK);
	assert_int_equal(csv_evaluator_ngroups(evaluator), NGROUPS);
	for (uint32_t g = 0; g < NGROUPS; g++)
	{
		CsvValue	key;
		CsvAggregateValue value;

		csv_evaluator_key(evaluator, g, 0, &key);
		assert_true(key.value.integer == keys[g]);
		csv_evaluator_aggregate(evaluator, g, 1, &value);
		assert_true(value.count == 3 &&
					(int64_t) value.wide.low == 3 * keys[g]);
	}
	/* key, NULLs and counters, sum, and 13 bytes of the hash table */
	assert_true(csv_evaluator_group_bytes(evaluator) < NGROUPS * 56);
	assert_true(csv_evaluator_reset(evaluator));
	assert_int_equal(csv_evaluator_ngroups(evaluator), 0);

	/* with little room, each row is in a group or handed over, never both */
	memset(&spilled, 0, sizeof(spilled));
	csv_evaluator_limit(evaluator, 512 * 1024, count_spilled, NULL, &spilled);
	for (int i = 0; i < 3; i++)
		assert_int_equal(csv_evaluator_run(evaluator, &fixture.layout,
										   &fixture.batch, NULL, NULL, NULL,
										   &selection), CSV_OK);
	ngroups = csv_evaluator_ngroups(evaluator);
	assert_true(ngroups > 1000 && ngroups < NGROUPS / 2);
	assert_int_equal(spilled.nrows, 3 * (NGROUPS - ngroups));
	for (uint32_t g = 0; g < ngroups; g++)
	{
		CsvAggregateValue value;

		csv_evaluator_aggregate(evaluator, g, 1, &value);
		assert_true(value.count == 3 &&
					(int64_t) value.wide.low == 3 * keys[g]);
		spilled.sum += 3 * keys[g];
	}
	assert_true(spilled.sum == (int64_t) 3 * NGROUPS * (NGROUPS - 101) / 2);
	csv_evaluator_free(evaluator);
	free(keys);
	free(status);
}

/* distinct values for which there was no room */
enum
{
	DISTINCT_ROWS = 60000,
	DISTINCT_VALUES = 20000
};

typedef struct SpilledValues
{
	uint32_t	n;
	uint64_t	hashes[DISTINCT_ROWS];
	uint32_t	groups[DISTINCT_ROWS];
	int64_t		values[DISTINCT_ROWS];
} SpilledValues;

static bool
keep_value(void *arg, uint64_t hash, uint32_t aggregate, uint32_t group,
		   const CsvValue *value)
{
	SpilledValues *spilled = arg;

	assert_int_equal(aggregate, 1);
	assert_int_equal(value->state, CSV_LANE_VALUE);
	assert_true(spilled->n < DISTINCT_ROWS);
	spilled->hashes[spilled->n] = hash;
	spilled->groups[spilled->n] = group;
	spilled->values[spilled->n++] = value->value.integer;
	return true;
}

static void
distinct_values_are_counted_or_handed_over(void **state)
{
	static Program program;
	static SpilledValues spilled;
	static SpilledValues again;
	static int64_t values[DISTINCT_ROWS];
	static int64_t keys[DISTINCT_ROWS];
	static uint8_t status[DISTINCT_ROWS];
	Fixture		fixture;
	CsvEvaluator *evaluator;
	CsvSelection selection;
	CsvAggregateValue value;
	size_t		limit_bytes = 256 * 1024;
	int64_t		counted = 0;

	(void) state;
	memset(&fixture, 0, sizeof(fixture));
	add_column(&fixture, CSV_KIND_INT8, -1, 0);
	add_column(&fixture, CSV_KIND_INT8, -1, 0);
	fixture.layout.columns = fixture.columns;
	start_program(&program);
	program.query.aggregates = true;
	program.query.nkeys = 1;
	program.keys[0].lane = CSV_LANE_INT;
	program.keys[0].value = add_load(&program, CSV_LANE_INT, 0);
	add_aggregate(&program, CSV_AGGREGATE_COUNT_ROWS, 0, CSV_NO_REGISTER,
				  CSV_NO_REGISTER);
	add_aggregate(&program, CSV_AGGREGATE_COUNT_DISTINCT, CSV_LANE_INT,
				  add_load(&program, CSV_LANE_INT, 1), CSV_NO_REGISTER);
	evaluator = csv_evaluator_create(&reading_memory, &program.query);
	assert_non_null(evaluator);
	for (uint32_t i = 0; i < DISTINCT_ROWS; i++)
	{
		values[i] = i % DISTINCT_VALUES;
		keys[i] = values[i] % 3;
	}
	fixture.batch.nrows = DISTINCT_ROWS;
	fixture.batch.arrays = fixture.arrays;
	for (int i = 0; i < 2; i++)
	{
		fixture.arrays[i].values = (uint8_t *) (i == 0 ? keys : values);
		fixture.arrays[i].status = status;
		fixture.arrays[i].stride = 8;
		fixture.arrays[i].all_ok = true;
	}
	csv_evaluator_limit(evaluator, limit_bytes, NULL, keep_value, &spilled);
	assert_int_equal(csv_evaluator_run(evaluator, &fixture.layout,
									   &fixture.batch, NULL, NULL, NULL,
									   &selection), CSV_OK);
	assert_int_equal(csv_evaluator_ngroups(evaluator), 3);
	/* a block's values may come on top, and slots are doubled */
	assert_true(csv_evaluator_group_bytes(evaluator) < 2 * limit_bytes);
	for (uint32_t g = 0; g < 3; g++)
	{
		csv_evaluator_aggregate(evaluator, g, 1, &value);
		counted += value.count;
	}
	assert_true(counted > 2000 && counted < DISTINCT_VALUES);
	/* each of the others as often as it is there */
	assert_int_equal(spilled.n, 3 * (DISTINCT_VALUES - counted));

	/* by parts of their hash, they find room, and each is counted once */
	csv_evaluator_limit(evaluator, limit_bytes, NULL, keep_value, &again);
	for (uint32_t part = 0; part < 16; part++)
	{
		csv_evaluator_forget_values(evaluator);
		for (uint32_t i = 0; i < spilled.n; i++)
		{
			CsvValue	one;

			if (spilled.hashes[i] >> 60 != part)
				continue;
			memset(&one, 0, sizeof(one));
			one.value.integer = spilled.values[i];
			assert_true(csv_evaluator_count_value(evaluator, 1,
												  spilled.groups[i], &one));
		}
	}
	assert_int_equal(again.n, 0);
	for (uint32_t g = 0; g < 3; g++)
	{
		int64_t		key;
		CsvValue	found;

		csv_evaluator_key(evaluator, g, 0, &found);
		key = found.value.integer;
		csv_evaluator_aggregate(evaluator, g, 1, &value);
		assert_int_equal(value.count, (DISTINCT_VALUES - key + 2) / 3);
		csv_evaluator_aggregate(evaluator, g, 0, &value);
		assert_int_equal(value.count, (DISTINCT_VALUES - key + 2) / 3 * 3);
	}
	csv_evaluator_free(evaluator);
}

/* partial groups for which there was no room: of one key and these words */
enum
{
	PARTIAL_GROUPS = 2500,
	/* two inputs, a sum of floats, a greatest text */
	PARTIAL_TEXT = 2 + CSV_FLOAT_SUM_WORDS + 1,
	PARTIAL_WORDS = PARTIAL_TEXT + 2
};

typedef struct SpilledPartials
{
	uint32_t	n;
	int64_t		keys[PARTIAL_GROUPS];
	int64_t		words[PARTIAL_GROUPS][PARTIAL_WORDS];
	uint8_t		texts[PARTIAL_GROUPS][32];
} SpilledPartials;

static bool
keep_partial(void *arg, uint64_t hash, const CsvValue *keys,
			 const CsvValue *values, const CsvPartial *partial)
{
	SpilledPartials *spilled = arg;
	const int64_t *text = partial->words + PARTIAL_TEXT;

	(void) hash;
	assert_null(values);
	assert_true(spilled->n < PARTIAL_GROUPS && text[1] <= 32);
	spilled->keys[spilled->n] = keys[0].value.integer;
	memcpy(spilled->words[spilled->n], partial->words,
		   PARTIAL_WORDS * sizeof(int64_t));
	memcpy(spilled->texts[spilled->n], partial->texts + text[0],
		   (size_t) text[1]);
	spilled->words[spilled->n++][PARTIAL_TEXT] = 0;
	return true;
}

static void
partial_groups_are_merged_or_handed_over(void **state)
{
	static Program program;
	static SpilledPartials spilled;
	Fixture		fixture;
	CsvEvaluator *evaluator;
	CsvPlan		plan;
	CsvAnswer  *answer;
	NaiveGroups groups = {NULL, 0, 0};
	uint32_t	ngroups;

	(void) state;
	random_state = 11;
	memset(&fixture, 0, sizeof(fixture));
	add_column(&fixture, CSV_KIND_INT8, -1, 0);
	add_column(&fixture, CSV_KIND_FLOAT8, -1, 0);
	add_column(&fixture, CSV_KIND_TEXT, -1, 0);
	fixture.spreads[0] = SPREAD_DISTINCT;
	fixture.spreads[2] = SPREAD_DISTINCT;
	make_batch(&fixture, PARTIAL_GROUPS);
	start_program(&program);
	program.query.aggregates = true;
	program.query.nkeys = 1;
	program.keys[0].lane = CSV_LANE_INT;
	program.keys[0].value = add_load(&program, CSV_LANE_INT, 0);
	add_aggregate(&program, CSV_AGGREGATE_SUM, CSV_LANE_FLOAT,
				  add_load(&program, CSV_LANE_FLOAT, 1), CSV_NO_REGISTER);
	add_aggregate(&program, CSV_AGGREGATE_MAX, CSV_LANE_TEXT,
				  add_load(&program, CSV_LANE_TEXT, 2), CSV_NO_REGISTER);
	for (uint32_t row = 0; row < PARTIAL_GROUPS; row++)
		naive_row(&program.query, &fixture.table, row, &groups);
	assert_true(csv_plan_make(&plan, &reading_memory, &program.query,
							  &fixture.layout, CSV_MAX_REGISTERS, false));
	assert_int_equal(plan.nwords, PARTIAL_WORDS);
	answer = host_answer(&plan, &fixture.layout, &fixture.batch);
	evaluator = csv_evaluator_create(&reading_memory, &program.query);
	assert_non_null(evaluator);

	/* the first groups find room; no other does */
	csv_evaluator_limit(evaluator, 128 * 1024, keep_partial, NULL, &spilled);
	assert_int_equal(csv_evaluator_merge(evaluator, &answer->groups), CSV_OK);
	ngroups = csv_evaluator_ngroups(evaluator);
	assert_true(ngroups > 100 && ngroups < PARTIAL_GROUPS / 2);
	assert_int_equal(spilled.n, PARTIAL_GROUPS - ngroups);

	/* with those that were handed over, they are all there */
	csv_evaluator_limit(evaluator, 0, NULL, NULL, NULL);
	for (uint32_t i = 0; i < spilled.n; i++)
	{
		CsvPartial	partial = {spilled.words[i], spilled.texts[i]};
		CsvValue	key;
		uint32_t	group;

		memset(&key, 0, sizeof(key));
		key.value.integer = spilled.keys[i];
		group = csv_evaluator_find_group(evaluator, &key, NULL);
		assert_int_equal(group, ngroups + i);
		assert_true(csv_evaluator_add_partial(evaluator, group, &partial));
	}
	check_groups(evaluator, &program.query, &groups);
	csv_plan_free(&plan, &reading_memory);
	host_answer_free(answer);
	csv_evaluator_free(evaluator);
	naive_free(&program.query, &groups);
	free_batch(&fixture);
}

/* ---- failures ---- */

typedef struct Meter
{
	int64_t		live;
	int64_t		left;			/* allocations that succeed */
} Meter;

static void *
metered_alloc(void *owner, size_t nbytes)
{
	Meter	   *meter = owner;

	if (meter->left-- <= 0)
		return NULL;
	meter->live++;
	return malloc(nbytes);
}

static void
metered_free(void *owner, void *memory)
{
	((Meter *) owner)->live--;
	free(memory);
}

static void
memory_that_fails_is_given_back(void **state)
{
	static Program program;
	Fixture		fixture;
	bool		done = false;

	(void) state;
	random_state = 5;
	memset(&fixture, 0, sizeof(fixture));
	add_column(&fixture, CSV_KIND_TEXT, -1, 0);
	add_column(&fixture, CSV_KIND_FLOAT8, -1, 0);
	fixture.spreads[0] = SPREAD_DISTINCT;
	fixture.spreads[1] = SPREAD_WIDE;
	make_batch(&fixture, 1500);
	start_program(&program);
	program.query.aggregates = true;
	program.query.nkeys = 1;
	program.keys[0].lane = CSV_LANE_TEXT;
	program.keys[0].value = add_load(&program, CSV_LANE_TEXT, 0);
	add_load(&program, CSV_LANE_FLOAT, 1);
	add_aggregate(&program, CSV_AGGREGATE_SUM, CSV_LANE_FLOAT, 1,
				  CSV_NO_REGISTER);
	add_aggregate(&program, CSV_AGGREGATE_MAX, CSV_LANE_TEXT, 0,
				  CSV_NO_REGISTER);
	add_aggregate(&program, CSV_AGGREGATE_COUNT_DISTINCT, CSV_LANE_TEXT, 0,
				  CSV_NO_REGISTER);
	for (int64_t allowed = 0; !done; allowed++)
	{
		Meter		meter = {0, allowed};
		CsvMemory	memory = {metered_alloc, metered_free, &meter};
		CsvEvaluator *evaluator = csv_evaluator_create(&memory,
													   &program.query);
		CsvSelection selection;

		if (evaluator != NULL)
		{
			CsvStatus	status = csv_evaluator_run(evaluator, &fixture.layout,
												   &fixture.batch, NULL, NULL,
												   NULL, &selection);

			done = status == CSV_OK;
			if (!done)
				assert_int_equal(status, CSV_NO_MEMORY);
			csv_evaluator_free(evaluator);
		}
		assert_int_equal(meter.live, 0);
	}
	free_batch(&fixture);
}

static void
numbers_beyond_a_lane_are_undecided(void **state)
{
	static Program program;
	Fixture		fixture;
	CsvEvaluator *evaluator;
	CsvSelection selection;
	CsvInt128	huge = (CsvInt128) csv_power_of_ten(38);
	const char *digits = "9999999999999999999999999999999999999999";
	uint32_t	stride = csv_numeric_stride(40, 0);

	(void) state;
	memset(&fixture, 0, sizeof(fixture));
	add_column(&fixture, CSV_KIND_NUMERIC, 10, 2);
	add_column(&fixture, CSV_KIND_NUMERIC, 40, 0);
	add_column(&fixture, CSV_KIND_DECIMAL128, 38, 0);
	make_batch(&fixture, 3);

	/* no scale at all; 40 digits in row 1; 39 in row 2 */
	fixture.columns[0].precision = -1;
	assert_true(csv_parse_numeric((const uint8_t *) digits, 40, '.', 40, 0,
								  fixture.arrays[1].values + stride, stride));
	memcpy(fixture.arrays[2].values + 32, &huge, 16);
	for (uint32_t c = 0; c < 3; c++)
	{
		start_program(&program);
		add_load(&program, CSV_LANE_DECIMAL, c);
		program.filters[program.query.nfilters++] =
			add_operation(&program, CSV_OP_IS_NULL, CSV_LANE_DECIMAL, 0, 0);
		program.query.nfilter_instructions = 2;
		evaluator = csv_evaluator_create(&reading_memory, &program.query);
		assert_non_null(evaluator);
		assert_int_equal(csv_evaluator_run(evaluator, &fixture.layout,
										   &fixture.batch, NULL, NULL, NULL,
										   &selection), CSV_OK);
		assert_int_equal(selection.nrows, c == 0 ? 3 : 1);
		assert_true(selection.any_careful);
		if (c > 0)
			assert_int_equal(selection.rows[0], c);
		csv_evaluator_free(evaluator);
	}
	free_batch(&fixture);
}

static bool
interrupt_at_second(void *arg)
{
	return ++*(int *) arg == 2;
}

static void
an_interrupt_ends_the_run(void **state)
{
	static Program program;
	Fixture		fixture;
	CsvEvaluator *evaluator;
	CsvSelection selection;
	int			calls = 0;

	(void) state;
	memset(&fixture, 0, sizeof(fixture));
	add_column(&fixture, CSV_KIND_BOOL, -1, 0);
	make_batch(&fixture, 3 * CSV_BLOCK_ROWS);
	start_program(&program);
	program.filters[program.query.nfilters++] = add_load(&program,
														 CSV_LANE_INT, 0);
	program.query.nfilter_instructions = 1;
	evaluator = csv_evaluator_create(&reading_memory, &program.query);
	assert_non_null(evaluator);
	assert_int_equal(csv_evaluator_run(evaluator, &fixture.layout,
									   &fixture.batch, NULL,
									   interrupt_at_second, &calls,
									   &selection), CSV_INTERRUPTED);
	assert_int_equal(calls, 2);
	csv_evaluator_free(evaluator);
	free_batch(&fixture);
}

static void
distinct_values_can_be_added_one_by_one(void **state)
{
	static Program program;
	CsvEvaluator *evaluator;
	CsvValue	key;
	CsvValue	value;
	CsvAggregateValue count;

	(void) state;
	memset(&key, 0, sizeof(key));
	memset(&value, 0, sizeof(value));
	start_program(&program);
	program.query.aggregates = true;
	program.query.nkeys = 1;
	program.keys[0].lane = CSV_LANE_TEXT;
	program.keys[0].value = add_load(&program, CSV_LANE_TEXT, 0);
	add_load(&program, CSV_LANE_FLOAT, 1);
	add_aggregate(&program, CSV_AGGREGATE_COUNT_DISTINCT, CSV_LANE_FLOAT, 1,
				  CSV_NO_REGISTER);
	evaluator = csv_evaluator_create(&reading_memory, &program.query);
	assert_non_null(evaluator);
	for (uint32_t g = 0; g < 3; g++)
	{
		static const double values[] = {0, -0.0, NAN, 1, -NAN, 1};

		key.bytes = (const uint8_t *) "a key of more than twelve bytes";
		key.length = 13 + g;
		assert_int_equal(csv_evaluator_find_group(evaluator, &key, NULL), g);
		for (size_t i = 0; i < LENGTH(values); i++)
		{
			value.value.real = values[i];
			assert_true(csv_evaluator_add_row(evaluator, g, &value));
		}
		value.state = CSV_LANE_NULL;
		assert_true(csv_evaluator_add_row(evaluator, g, &value));
		value.state = CSV_LANE_VALUE;
		csv_evaluator_aggregate(evaluator, g, 0, &count);
		assert_int_equal(count.count, 3);
	}
	key.state = CSV_LANE_NULL;
	assert_int_equal(csv_evaluator_find_group(evaluator, &key, NULL), 3);
	csv_evaluator_key(evaluator, 3, 0, &value);
	assert_int_equal(value.state, CSV_LANE_NULL);
	csv_evaluator_free(evaluator);
}

/* aggregates of one argument count a row once */
/* integers / 2^shift, for which 128 bits hold what is exact */
static void
spreads_are_rounded_once(void **state)
{
	(void) state;
	random_state = 7;
	for (int round = 0; round < 2000; round++)
	{
		CsvWideFloats wides = {&reading_memory, NULL, 0, 0};
		CsvFloatSum sum;
		CsvFloatSum squares;
		uint32_t	count = 1 + random_below(50);
		int			shift = (int) random_below(600) - 300;
		int			nbits = 1 + (int) random_below(40);
		int64_t		offset = one_in(2) ? 0 : INT64_C(1) << random_below(45);
		CsvInt128	total = 0;
		CsvInt128	total_squares = 0;
		CsvInt128	exact;
		double		spread;

		memset(&sum, 0, sizeof(sum));
		memset(&squares, 0, sizeof(squares));
		for (uint32_t i = 0; i < count; i++)
		{
			int64_t		value = offset +
				(int64_t) (next_random() >> (64 - nbits)) -
				(one_in(2) ? 0 : INT64_C(1) << nbits);
			double		real = ldexp((double) value, shift);
			double		high;
			double		low;

			total += value;
			total_squares += (CsvInt128) value * value;
			assert_true(csv_float_square(real, &high, &low));
			assert_true(csv_float_sum_add(&sum, &wides, real));
			assert_true(csv_float_sum_add(&squares, &wides, high));
			assert_true(csv_float_sum_add(&squares, &wides, low));
		}
		exact = total_squares * count - total * total;
		spread = csv_float_sum_spread(&sum, &squares, count, &wides);

		/*
		 * spread x count is exact / 2^(2 shift) but for rounding: half a unit in
		 * the last place of spread, times count.
		 */
		if (exact == 0)
			assert_true(spread == 0);
		else
		{
			CsvInt128	twice;
			CsvInt128	unit;
			int			exponent;
			double		digits = frexp(spread, &exponent);
			CsvInt128	whole = (CsvInt128) ldexp(digits, 53);

			/* spread = whole x 2^exponent, in units of 2^(2 shift) */
			exponent -= 53 + 2 * shift;
			if (exponent < 0)
			{
				/* compare x 2^-exponent, where that fits */
				if (-exponent > 20 || exact >> 100 != 0)
				{
					csv_wide_floats_free(&wides);
					continue;
				}
				exact <<= -exponent;
				unit = 1;
			}
			else
				unit = (CsvInt128) 1 << exponent;
			twice = 2 * (whole * unit * count - exact);
			assert_true((twice < 0 ? -twice : twice) <= unit * count);
		}
		csv_wide_floats_free(&wides);
	}
}

static void
spreads_know_their_limits(void **state)
{
	static const double sets[][3] = {
		{1e150, -1e150, 0}, {0x1p-400, 0x1p-401, 0}, {NAN, 1, 2},
		{INFINITY, 1, 2}, {5, 5, 5}, {0x1p-480, 0, 0}
	};
	static const double expected[] = {
		2e300, (0x1p-800 + 0x1p-802) - 9.0 / 3 * 0x1p-802, NAN, NAN, 0,
		0x1p-960 - 0x1p-960 / 3
	};

	(void) state;
	for (size_t i = 0; i < LENGTH(sets); i++)
	{
		CsvWideFloats wides = {&reading_memory, NULL, 0, 0};
		CsvFloatSum sum;
		CsvFloatSum squares;
		double		spread;

		memset(&sum, 0, sizeof(sum));
		memset(&squares, 0, sizeof(squares));
		for (int k = 0; k < 3; k++)
		{
			double		high;
			double		low;

			assert_true(csv_float_square(sets[i][k], &high, &low));
			assert_true(csv_float_sum_add(&sum, &wides, sets[i][k]));
			assert_true(csv_float_sum_add(&squares, &wides, high));
			assert_true(csv_float_sum_add(&squares, &wides, low));
		}
		spread = csv_float_sum_spread(&sum, &squares, 3, &wides);
		if (isnan(expected[i]))
			assert_true(isnan(spread));
		else
			assert_true(fabs(spread - expected[i]) <= expected[i] * 1e-15);
		csv_wide_floats_free(&wides);
	}
}

static void
rows_can_be_added_one_by_one(void **state)
{
	static const CsvAggregateKind kinds[] = {
		CSV_AGGREGATE_COUNT_ROWS, CSV_AGGREGATE_COUNT, CSV_AGGREGATE_SUM,
		CSV_AGGREGATE_SUM_SQUARES, CSV_AGGREGATE_MIN, CSV_AGGREGATE_MAX
	};
	static Program program;
	CsvEvaluator *evaluator;
	CsvValue	values[LENGTH(kinds)];
	CsvAggregateValue found;

	(void) state;
	start_program(&program);
	program.query.aggregates = true;
	add_load(&program, CSV_LANE_INT, 0);
	for (size_t i = 0; i < LENGTH(kinds); i++)
		add_aggregate(&program, kinds[i], CSV_LANE_INT,
					  i == 0 ? CSV_NO_REGISTER : 0, CSV_NO_REGISTER);
	evaluator = csv_evaluator_create(&reading_memory, &program.query);
	assert_non_null(evaluator);
	memset(values, 0, sizeof(values));
	for (int row = -3; row <= 4; row++)
	{
		for (size_t i = 0; i < LENGTH(kinds); i++)
		{
			values[i].state = row == 0 && i > 0 ? CSV_LANE_NULL :
				CSV_LANE_VALUE;
			values[i].value.integer = row;
		}
		assert_true(csv_evaluator_add_row(evaluator, 0, values));
	}

	/* a value that no lane holds counts, and adds nothing */
	values[2].state = CSV_LANE_UNDECIDED;
	values[3].state = CSV_LANE_UNDECIDED;
	values[4].value.integer = 7;
	values[5].value.integer = 7;
	assert_true(csv_evaluator_add_row(evaluator, 0, values));

	csv_evaluator_aggregate(evaluator, 0, 0, &found);
	assert_int_equal(found.count, 9);
	csv_evaluator_aggregate(evaluator, 0, 1, &found);
	assert_int_equal(found.count, 8);
	csv_evaluator_aggregate(evaluator, 0, 2, &found);
	assert_int_equal(found.count, 8);
	assert_int_equal(found.wide.low, 4);
	assert_int_equal(found.wide.high, 0);
	csv_evaluator_aggregate(evaluator, 0, 3, &found);
	assert_int_equal(found.wide.low, 44);
	csv_evaluator_aggregate(evaluator, 0, 4, &found);
	assert_int_equal(found.extreme.value.integer, -3);
	csv_evaluator_aggregate(evaluator, 0, 5, &found);
	assert_int_equal(found.extreme.value.integer, 7);
	csv_evaluator_free(evaluator);
}

/*
 * Words that hash functions have as constants, what takes them away, and such
 * that products are known of, with all xors of two.
 */
enum
{
	BASIC_WORDS = 14,
	HASH_WORDS = BASIC_WORDS * BASIC_WORDS
};

static void
make_hash_words(uint64_t *words)
{
	static const uint64_t basic[BASIC_WORDS] = {
		0, 1, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 32,
		UINT64_C(0xffffffff), UINT64_C(0x5555555555555555),
		UINT64_C(0x0000ffff0000ffff), UINT64_C(0x9e3779b97f4a7c15),
		UINT64_C(0xe7037ed1a0b428db), UINT64_C(0xa0761d6478bd642f),
		CSV_BATCH_SEED, CSV_BATCH_SEED - 1, CSV_BATCH_SEED >> 1
	};

	for (uint32_t i = 0; i < BASIC_WORDS; i++)
		for (uint32_t j = 0; j < BASIC_WORDS; j++)
			words[i * BASIC_WORDS + j] = i == j ? basic[i] :
				i < j ? basic[i] ^ basic[j] : ~(basic[i] ^ basic[j]);
}

/* the hash before, made from the one after: by the inverse modulo 2^64 - 1 */
static uint64_t
hash_before(uint64_t seed, uint64_t hash, uint64_t word)
{
	CsvInt128	a = UINT64_MAX;
	CsvInt128	b = seed;
	CsvInt128	of_a = 0;
	CsvInt128	of_b = 1;

	while (b != 0)
	{
		CsvInt128	times = a / b;
		CsvInt128	rest = a - times * b;
		CsvInt128	of_rest = of_a - times * of_b;

		a = b;
		b = rest;
		of_a = of_b;
		of_b = of_rest;
	}
	assert_true(a == 1);
	if (of_a < 0)
		of_a += UINT64_MAX;
	hash ^= hash >> 32;
	if (hash != 0)
	{
		hash = (uint64_t) ((CsvUint128) hash * (CsvUint128) of_a % UINT64_MAX);
		hash = hash == 0 ? UINT64_MAX : hash;
	}
	return hash ^ word;
}

/* each hash comes from one hash alone, whatever the word and the seed */
static void
no_word_makes_a_hash_forget(void **state)
{
	uint64_t	words[HASH_WORDS];

	(void) state;
	make_hash_words(words);
	for (uint32_t s = 0; s < 2 * HASH_WORDS; s++)
	{
		uint64_t	seed = s < HASH_WORDS ? csv_hash_seed(words[s]) :
			csv_random_seed(words);

		for (uint32_t i = 0; i < HASH_WORDS; i++)
			for (uint32_t j = 0; j < HASH_WORDS; j += 5)
			{
				uint64_t	hash = words[j] ^ (s % 2 == 0 ? 0 : words[i]);

				assert_true(hash_before(seed, csv_hash_word(seed, hash,
															words[i]),
										words[i]) == hash);
			}
	}
}

/* what is in no file is in no two tables, either */
static void
seeds_differ(void **state)
{
	uint64_t	first = csv_random_seed(state);

	for (int i = 0; i < 100; i++)
		assert_true(csv_random_seed(state) != first);
}

/* ---- keys that a file could hold to make their hashes meet ---- */

enum
{
	SPREAD_ROWS = 2048,
	SPREAD_KEYS = 24
};

typedef void (*MakeKeysFn) (uint32_t row, uint64_t word, CsvValue *keys);

/* columns of a number and of the word */
static void
make_integers(uint32_t row, uint64_t word, CsvValue *keys)
{
	keys[0].value.integer = row;
	keys[1].value.integer = (int64_t) word;
}

static void
make_uuids(uint32_t row, uint64_t word, CsvValue *keys)
{
	keys[0].value.uuid = (CsvUint128) word << 64 | row;
	keys[1].value.uuid = (CsvUint128) row << 64 | word;
}

static void
make_texts(uint32_t row, uint64_t word, CsvValue *keys)
{
	static uint64_t text[4];

	text[0] = text[2] = row;
	text[1] = text[3] = word;
	keys[0].bytes = (uint8_t *) text;
	keys[0].length = 32;
	keys[1].bytes = (uint8_t *) text;
	keys[1].length = 16;
}

/* each column is the word, or NULL */
static void
make_nulls(uint32_t row, uint64_t word, CsvValue *keys)
{
	for (uint32_t i = 0; i < SPREAD_KEYS; i++)
	{
		keys[i].value.integer = (int64_t) word;
		if ((row >> i & 1) != 0)
			keys[i].state = CSV_LANE_NULL;
	}
}

/* of each two columns, one has a number of two of the other's words */
static void
make_decimals(uint32_t row, uint64_t word, CsvValue *keys)
{
	uint64_t	part = word >> 2 | 1;

	for (uint32_t i = 0; i < SPREAD_KEYS; i++)
		keys[i].value.decimal = (row >> i / 2 & 1) == i % 2 ? part :
			(CsvInt128) part << 64 | part;
}

/* of each two columns, both have their top bit, or none */
static void
make_top_bits(uint32_t row, uint64_t word, CsvValue *keys)
{
	for (uint32_t i = 0; i < SPREAD_KEYS; i++)
		keys[i].value.integer = (int64_t)
			(word ^ (uint64_t) (row >> i / 2 & 1) << 63);
}

/* a row is looked for in few slots: by chance, 1.5 of them */
static void
check_spread(const CsvKeyed *table)
{
	uint64_t	passed = 0;

	for (uint32_t at = 0; at <= table->slot_mask; at++)
		if (table->slots[at].row != CSV_NO_ROW)
			passed += (at - table->slots[at].tag) & table->slot_mask;
	assert_in_range(passed, 0, SPREAD_ROWS * 8);
}

static void
no_keys_meet_in_one_slot(void **state)
{
	static const struct
	{
		MakeKeysFn	make;
		uint8_t		lane;
		uint32_t	nkeys;
	}			cases[] = {
		{make_integers, CSV_LANE_INT, 2}, {make_uuids, CSV_LANE_UUID, 2},
		{make_texts, CSV_LANE_TEXT, 2}, {make_nulls, CSV_LANE_INT, SPREAD_KEYS},
		{make_decimals, CSV_LANE_DECIMAL, SPREAD_KEYS},
		{make_top_bits, CSV_LANE_INT, SPREAD_KEYS}
	};
	uint64_t	words[HASH_WORDS];
	uint8_t		lanes[SPREAD_KEYS];

	(void) state;
	make_hash_words(words);
	for (uint32_t i = 0; i < LENGTH(cases) * HASH_WORDS; i++)
	{
		uint32_t	chosen = i % LENGTH(cases);
		CsvKeyed	table;
		uint32_t	offset;

		memset(lanes, cases[chosen].lane, sizeof(lanes));
		csv_keyed_init(&table, &reading_memory, lanes, cases[chosen].nkeys, 0,
					   &offset);
		for (uint32_t row = 0; row < SPREAD_ROWS; row++)
		{
			CsvValue	keys[SPREAD_KEYS];
			uint64_t	hash = table.seed;
			bool		made;

			memset(keys, 0, sizeof(keys));
			cases[chosen].make(row, words[i / LENGTH(cases)], keys);
			for (uint32_t key = 0; key < cases[chosen].nkeys; key++)
				hash = csv_keyed_hash(&table, hash, lanes[key], &keys[key]);
			assert_int_equal(csv_keyed_find(&table, hash, keys, &made), row);
		}
		check_spread(&table);
		csv_keyed_free(&table);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_word_makes_a_hash_forget),
		cmocka_unit_test(seeds_differ),
		cmocka_unit_test(no_keys_meet_in_one_slot),
		cmocka_unit_test(integers_overflow_at_their_range),
		cmocka_unit_test(decimals_end_at_38_digits),
		cmocka_unit_test(floats_raise_what_postgresqls_do),
		cmocka_unit_test(decimals_keep_their_digits_or_are_undecided),
		cmocka_unit_test(dates_become_timestamps),
		cmocka_unit_test(sums_of_floats_are_rounded_once),
		cmocka_unit_test(random_sums_of_floats_are_exact),
		cmocka_unit_test(counters_and_sums_carry),
		cmocka_unit_test(many_groups_keep_their_sums),
		cmocka_unit_test(distinct_values_are_counted_or_handed_over),
		cmocka_unit_test(partial_groups_are_merged_or_handed_over),
		cmocka_unit_test(memory_that_fails_is_given_back),
		cmocka_unit_test(numbers_beyond_a_lane_are_undecided),
		cmocka_unit_test(an_interrupt_ends_the_run),
		cmocka_unit_test(distinct_values_can_be_added_one_by_one),
		cmocka_unit_test(rows_can_be_added_one_by_one),
		cmocka_unit_test(spreads_are_rounded_once),
		cmocka_unit_test(spreads_know_their_limits),
		cmocka_unit_test_teardown(remembered_groups_are_the_same,
								  say_failing_seed),
		cmocka_unit_test_teardown(first_rows_in_an_order_come_out,
								  say_failing_seed),
		cmocka_unit_test_teardown(random_programs_agree_with_a_row_at_a_time,
								  say_failing_seed),
		cmocka_unit_test_teardown(answers_agree_with_a_row_at_a_time,
								  say_failing_seed)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
