/*
 * test_query.c
 *		Queries over batches: groups, failures, and random programs over random
 *		batches against naive_query.c.
 */
#include <float.h>
#include <math.h>

#include "unit.h"
#include "../../src/query/evaluator.h"
#include "../../src/query/groups.h"
#include "../../src/query/operate.h"
#include "compare_query.h"
#include "host_answer.h"
#include "one_group.h"
#include "reading.h"

#define MAX_ROWS	4000

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
	CsvSelection selection = run_batch(evaluator, &fixture->layout,
									   &fixture->batch, wanted);

	compare_rows(query, fixture, &selection, wanted, groups);
}

/*
 * Groups of an answer as they are say what they say when merged, and what an
 * evaluator says that has seen the rows; and of those that are held elsewhere,
 * none is merged.
 */
static void
compare_partial(const CsvQuery *query, const CsvPartialGroups *groups,
				const CsvEvaluator *expected)
{
	CsvEvaluator *merged = evaluator_of(query);
	CsvPartialGroups some = *groups;
	CsvPartialLayout layout;
	CsvValue	keys[CSV_MAX_KEYS];
	uint32_t   *held = malloc(groups->ngroups * sizeof(uint32_t) + 1);

	csv_partial_lay_out(query, &layout);
	assert_int_equal(csv_evaluator_merge(merged, groups), CSV_OK);
	expect_groups(query, merged, expected);
	if (query->nkeys > 0)
		expect_set(query, merged, expected, true);
	for (uint32_t g = 0; g < groups->ngroups; g++)
	{
		expect_partial_group(query, groups, g, merged, g);
		for (uint32_t key = 0; key < query->nkeys; key++)
			csv_partial_key(query, groups, g, key, &keys[key]);
		if (query->nkeys > 0)
			assert_int_equal(csv_evaluator_seek_group(merged, keys), g);
		for (uint32_t i = 0; i < query->naggregates; i++)
		{
			const CsvAggregate *aggregate = &query->aggregate[i];
			CsvAggregateValue a;

			csv_partial_aggregate(query, &layout, groups, g, i, &a);
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
				y = get_spread(merged, g, i, k, (uint64_t) a.count);
				if (!isnan(x) || !isnan(y))
					assert_memory_equal(&x, &y, 8);
			}
		}
		held[g] = g % 3 == 0 ? g : CSV_NOT_HELD;
	}
	csv_evaluator_free(merged);

	merged = evaluator_of(query);
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
				   NaiveGroups *groups)
{
	CsvAnswer  *answer = host_answer(plan, &fixture->layout, &fixture->batch);
	uint8_t    *wanted = doubtful_rows(&fixture->layout, &fixture->batch);

	compare_rows(query, fixture, &answer->selection, wanted, groups);
	if (query->aggregates)
	{
		CsvEvaluator *own = evaluator_of(query);

		assert_int_equal(csv_evaluator_merge(evaluator, &answer->groups),
						 CSV_OK);
		run_certain(own, &fixture->layout, &fixture->batch);
		compare_partial(query, &answer->groups, own);
		csv_evaluator_free(own);
	}
	free(wanted);
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

/* start anew from a seed, with a column of each kind, decimals of 17 digits */
static void
begin_seed(uint64_t seed, Fixture *fixture)
{
	start_seed(seed);
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

TEST(first_rows_in_an_order_come_out)
{
	static const uint32_t sizes[] = {0, 1, 50, 1024, 1025, 3000};
	static Program program;
	static FirstRows first;
	static uint8_t expected[MAX_ROWS];

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
		evaluator = evaluator_of(query);
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
			selection = run_batch(evaluator, &fixture.layout, &fixture.batch,
								  NULL);
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
	end_seeds();
}

/* ---- groups that are remembered ---- */

TEST(remembered_groups_are_the_same)
{
	static Program program;
	static uint8_t wanted[MAX_ROWS];
	static uint32_t numbers[MAX_ROWS];

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
			evaluator = evaluator_of(&program.query);
			csv_evaluator_remember(evaluator, &classes);
			run_and_compare(evaluator, &program.query, &fixture, wanted,
							&groups);
			expect_naive_groups(evaluator, &program.query, &groups);
			csv_evaluator_free(evaluator);
			naive_free(&program.query, &groups);
		}
		assert_true(nclasses <= nrows);
		free_batch(&fixture);
	}
	end_seeds();
}

/* ---- all of it ---- */

/* with plans, as an engine's answers; without, by the evaluator */
static void
compare_random_programs(bool plans)
{
	static const uint32_t sizes[] = {0, 1, 2, 5, 100, 700, 1023, 1024, 1025,
	2048, 2500};
	const uint32_t nrounds = rounds(150);
	uint64_t	seed = first_seed();
	static Program program;
	static uint8_t wanted[MAX_ROWS];
	uint32_t	nplans = 0;

	for (uint32_t round = 0; round < nrounds; round++, seed++)
	{
		Fixture		fixture;
		CsvEvaluator *evaluator;
		CsvPlan		plan;
		NaiveGroups groups = {NULL, 0, 0};
		uint8_t   **texts = malloc(sizeof(uint8_t *) * 1000000);
		size_t		ntexts = 0;
		uint32_t	nbatches;

		start_seed(seed);
		memset(&fixture, 0, sizeof(fixture));
		random_columns(&fixture);
		random_program(&program, &fixture);
		for (uint32_t i = 0; plans && i < program.query.naggregates; i++)
			if (program.aggregates[i].kind == CSV_AGGREGATE_COUNT_DISTINCT)
				program.aggregates[i].kind = CSV_AGGREGATE_COUNT;
		evaluator = evaluator_of(&program.query);
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
			if (plans && csv_plan_make(&plan, &csv_thread_memory, &program.query,
									   &fixture.layout, CSV_MAX_REGISTERS,
									   one_in(2)))
			{
				answer_and_compare(evaluator, &plan, &program.query, &fixture,
								   &groups);
				csv_plan_free(&plan, &csv_thread_memory);
				nplans++;
			}
			else
				run_and_compare(evaluator, &program.query, &fixture,
								want ? wanted : NULL, &groups);
			keep_texts(&program.query, &groups, texts, &ntexts);
			free_batch(&fixture);
			if (program.query.aggregates)
				expect_naive_groups(evaluator, &program.query, &groups);
		}
		csv_evaluator_free(evaluator);
		naive_free(&program.query, &groups);
		while (ntexts > 0)
			free(texts[--ntexts]);
		free(texts);
	}
	end_seeds();
	assert_true(!plans || nplans > nrounds / 2);
}

TEST(random_programs_agree_with_a_row_at_a_time)
{
	compare_random_programs(false);
}

TEST(answers_agree_with_a_row_at_a_time)
{
	compare_random_programs(true);
}

/* ---- groups ---- */

TEST(counters_and_sums_carry)
{
	static CsvGroups groups;
	static CsvQuery query;
	static CsvEvaluator evaluator = {.groups = &groups, .query = &query};
	CsvAggregate aggregates[2];
	CsvKey		key = {CSV_LANE_INT, 0};
	CsvLanes	lanes[2];
	int64_t		keys[4] = {5, 5, 5, 5};
	int64_t		values[4] = {INT64_MAX, INT64_MAX, INT64_MAX, 7};
	uint16_t	numbers[4] = {0, 1, 2, 3};
	CsvRows		rows = {numbers, 4};
	CsvAggregateValue value;
	uint32_t	count = UINT32_MAX - 2;

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
	assert_true(csv_groups_init(&groups, &csv_thread_memory, &query, 1));
	assert_true(csv_groups_add(&groups, lanes, rows, 0));
	assert_int_equal(groups.accumulators[1].nbytes, 8);
	get_aggregate(&evaluator, 0, 0, &value);
	assert_int_equal(value.count, 4);
	get_aggregate(&evaluator, 0, 1, &value);
	assert_true(value.wide.low == (CsvUint128) INT64_MAX * 3 + 7);
	assert_int_equal(value.wide.high, 0);

	/* as if so many rows had been there */
	memcpy(csv_keyed_row(&groups.table, 0) + groups.counters[0], &count, 4);
	for (int i = 0; i < 3; i++)
		assert_true(csv_groups_add(&groups, lanes, rows, 0));
	get_aggregate(&evaluator, 0, 0, &value);
	assert_true(value.count == (int64_t) count + 12);
	csv_groups_free(&groups);
}

/* a column of values of our own; all statuses are 0 */
static void
add_integers(Fixture *fixture, int64_t *values, uint8_t *status, uint32_t n)
{
	CsvArray   *array = &fixture->arrays[fixture->layout.ncolumns];

	add_column(fixture, CSV_KIND_INT8, -1, 0);
	fixture->layout.columns = fixture->columns;
	fixture->batch.nrows = n;
	fixture->batch.arrays = fixture->arrays;
	array->values = (uint8_t *) values;
	array->status = status;
	array->stride = 8;
	array->all_ok = true;
}

TEST(many_groups_keep_their_sums)
{
	enum {NGROUPS = 200000};
	static Program program;
	Fixture		fixture;
	CsvEvaluator *evaluator;
	int64_t    *keys = malloc(NGROUPS * sizeof(int64_t));
	uint8_t    *status = calloc(NGROUPS, 1);

	memset(&fixture, 0, sizeof(fixture));
	add_integers(&fixture, keys, status, NGROUPS);
	start_program(&program);
	group_by_column(&program, CSV_LANE_INT, 0);
	add_aggregate(&program, CSV_AGGREGATE_COUNT_ROWS, 0, CSV_NO_REGISTER,
				  CSV_NO_REGISTER);
	add_aggregate(&program, CSV_AGGREGATE_SUM, CSV_LANE_INT, 0,
				  CSV_NO_REGISTER);
	evaluator = evaluator_of(&program.query);
	for (uint32_t i = 0; i < NGROUPS; i++)
		keys[i] = (int64_t) i * 7919 % NGROUPS - 50;
	for (int i = 0; i < 3; i++)
		run_batch(evaluator, &fixture.layout, &fixture.batch, NULL);
	assert_int_equal(csv_evaluator_ngroups(evaluator), NGROUPS);
	for (uint32_t g = 0; g < NGROUPS; g++)
	{
		CsvValue	key;
		CsvAggregateValue value;

		get_key(evaluator, g, 0, &key);
		assert_true(key.value.integer == keys[g]);
		get_aggregate(evaluator, g, 1, &value);
		assert_true(value.count == 3 &&
					(int64_t) value.wide.low == 3 * keys[g]);
	}
	/* key, NULLs and counters, sum, and 13 bytes of the hash table */
	assert_true(csv_evaluator_group_bytes(evaluator) < NGROUPS * 56);
	assert_true(csv_evaluator_reset(evaluator));
	assert_int_equal(csv_evaluator_ngroups(evaluator), 0);

	csv_evaluator_free(evaluator);
	free(keys);
	free(status);
}

/* ---- failures ---- */

typedef struct Meter
{
	int64_t		live;
	int64_t		left;			/* allocations that succeed */
	size_t		nbytes;			/* of all allocations */
} Meter;

static void *
metered_alloc(void *owner, size_t nbytes)
{
	Meter	   *meter = owner;

	if (meter->left-- <= 0)
		return NULL;
	meter->live++;
	meter->nbytes += nbytes;
	return malloc(nbytes);
}

static void
metered_free(void *owner, void *memory)
{
	((Meter *) owner)->live--;
	free(memory);
}

TEST(memory_that_fails_is_given_back)
{
	static Program program;
	Fixture		fixture;
	bool		done = false;

	random_state = 5;
	memset(&fixture, 0, sizeof(fixture));
	add_column(&fixture, CSV_KIND_TEXT, -1, 0);
	add_column(&fixture, CSV_KIND_FLOAT8, -1, 0);
	fixture.spreads[0] = SPREAD_DISTINCT;
	fixture.spreads[1] = SPREAD_WIDE;
	make_batch(&fixture, 1500);
	start_program(&program);
	group_by_column(&program, CSV_LANE_TEXT, 0);
	add_load(&program, CSV_LANE_FLOAT, 1);
	add_aggregate(&program, CSV_AGGREGATE_SUM, CSV_LANE_FLOAT, 1,
				  CSV_NO_REGISTER);
	add_aggregate(&program, CSV_AGGREGATE_MAX, CSV_LANE_TEXT, 0,
				  CSV_NO_REGISTER);
	add_aggregate(&program, CSV_AGGREGATE_COUNT_DISTINCT, CSV_LANE_TEXT, 0,
				  CSV_NO_REGISTER);
	for (int64_t allowed = 0; !done; allowed++)
	{
		Meter		meter = {0, allowed, 0};
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

/* small files are queried by the hundred: each query must not cost a quarter of a MB */
TEST(few_rows_take_little_memory)
{
	static Program program;
	Fixture		fixture;
	Meter		meter = {0, INT64_MAX, 0};
	CsvMemory	memory = {metered_alloc, metered_free, &meter};
	CsvEvaluator *evaluator;

	random_state = 7;
	memset(&fixture, 0, sizeof(fixture));
	add_column(&fixture, CSV_KIND_TEXT, -1, 0);
	add_column(&fixture, CSV_KIND_FLOAT8, -1, 0);
	start_program(&program);
	group_by_column(&program, CSV_LANE_TEXT, 0);
	add_load(&program, CSV_LANE_FLOAT, 1);
	add_aggregate(&program, CSV_AGGREGATE_MAX, CSV_LANE_FLOAT, 1, CSV_NO_REGISTER);
	evaluator = csv_evaluator_create(&memory, &program.query);
	assert_non_null(evaluator);
	make_batch(&fixture, 3);
	run_batch(evaluator, &fixture.layout, &fixture.batch, NULL);
	assert_in_range(meter.nbytes, 1, 32 * 1024);
	csv_evaluator_free(evaluator);
	assert_int_equal(meter.live, 0);
	free_batch(&fixture);
}

TEST(numbers_beyond_a_lane_are_undecided)
{
	static Program program;
	Fixture		fixture;
	CsvEvaluator *evaluator;
	CsvSelection selection;
	CsvInt128	huge = (CsvInt128) csv_power_of_ten(38);
	const char *digits = "9999999999999999999999999999999999999999";
	uint32_t	stride = csv_numeric_stride(40, 0);

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
		evaluator = evaluator_of(&program.query);
		selection = run_batch(evaluator, &fixture.layout, &fixture.batch, NULL);
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

TEST(an_interrupt_ends_the_run)
{
	static Program program;
	Fixture		fixture;
	CsvEvaluator *evaluator;
	CsvSelection selection;
	int			calls = 0;

	memset(&fixture, 0, sizeof(fixture));
	add_column(&fixture, CSV_KIND_BOOL, -1, 0);
	make_batch(&fixture, 3 * CSV_BLOCK_ROWS);
	start_program(&program);
	program.filters[program.query.nfilters++] = add_load(&program,
														 CSV_LANE_INT, 0);
	program.query.nfilter_instructions = 1;
	evaluator = evaluator_of(&program.query);
	assert_int_equal(csv_evaluator_run(evaluator, &fixture.layout,
									   &fixture.batch, NULL,
									   interrupt_at_second, &calls,
									   &selection), CSV_INTERRUPTED);
	assert_int_equal(calls, 2);
	csv_evaluator_free(evaluator);
	free_batch(&fixture);
}

TEST(distinct_values_can_be_added_one_by_one)
{
	static Program program;
	CsvEvaluator *evaluator;
	CsvValue	key;
	CsvValue	value;
	CsvAggregateValue count;

	memset(&key, 0, sizeof(key));
	memset(&value, 0, sizeof(value));
	start_program(&program);
	group_by_column(&program, CSV_LANE_TEXT, 0);
	add_load(&program, CSV_LANE_FLOAT, 1);
	add_aggregate(&program, CSV_AGGREGATE_COUNT_DISTINCT, CSV_LANE_FLOAT, 1,
				  CSV_NO_REGISTER);
	evaluator = evaluator_of(&program.query);
	for (uint32_t g = 0; g < 3; g++)
	{
		static const double values[] = {0, -0.0, NAN, 1, -NAN, 1};

		key.bytes = (const uint8_t *) "a key of more than twelve bytes";
		key.length = 13 + g;
		assert_int_equal(csv_evaluator_find_group(evaluator, &key), g);
		for (size_t i = 0; i < LENGTH(values); i++)
		{
			value.value.real = values[i];
			assert_true(csv_evaluator_add_row(evaluator, g, &value));
		}
		value.state = CSV_LANE_NULL;
		assert_true(csv_evaluator_add_row(evaluator, g, &value));
		value.state = CSV_LANE_VALUE;
		get_aggregate(evaluator, g, 0, &count);
		assert_int_equal(count.count, 3);
	}
	key.state = CSV_LANE_NULL;
	assert_int_equal(csv_evaluator_find_group(evaluator, &key), 3);
	get_key(evaluator, 3, 0, &value);
	assert_int_equal(value.state, CSV_LANE_NULL);
	csv_evaluator_free(evaluator);
}

TEST(rows_can_be_added_one_by_one)
{
	static const CsvAggregateKind kinds[] = {
		CSV_AGGREGATE_COUNT_ROWS, CSV_AGGREGATE_COUNT, CSV_AGGREGATE_SUM,
		CSV_AGGREGATE_SUM_SQUARES, CSV_AGGREGATE_MIN, CSV_AGGREGATE_MAX
	};
	static Program program;
	CsvEvaluator *evaluator;
	CsvValue	values[LENGTH(kinds)];
	CsvAggregateValue found;

	start_program(&program);
	program.query.aggregates = true;
	add_load(&program, CSV_LANE_INT, 0);
	for (size_t i = 0; i < LENGTH(kinds); i++)
		add_aggregate(&program, kinds[i], CSV_LANE_INT,
					  i == 0 ? CSV_NO_REGISTER : 0, CSV_NO_REGISTER);
	evaluator = evaluator_of(&program.query);
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

	get_aggregate(evaluator, 0, 0, &found);
	assert_int_equal(found.count, 9);
	get_aggregate(evaluator, 0, 1, &found);
	assert_int_equal(found.count, 8);
	get_aggregate(evaluator, 0, 2, &found);
	assert_int_equal(found.count, 8);
	assert_int_equal(found.wide.low, 4);
	assert_int_equal(found.wide.high, 0);
	get_aggregate(evaluator, 0, 3, &found);
	assert_int_equal(found.wide.low, 44);
	get_aggregate(evaluator, 0, 4, &found);
	assert_int_equal(found.extreme.value.integer, -3);
	get_aggregate(evaluator, 0, 5, &found);
	assert_int_equal(found.extreme.value.integer, 7);
	csv_evaluator_free(evaluator);
}
