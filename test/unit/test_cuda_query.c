/*
 * test_cuda_query.c
 *		Queries that the CUDA engine answers itself, against the CPU's evaluation
 *		of the same engine's arrays.
 *
 * Each input is read twice: without a query, and evaluated then (evaluate.c); and
 * with it.  The selection, the columns of the rows that come out, and the groups
 * must be the same.
 *
 * Skipped where there is no GPU.  CSV_TEST_ROUNDS sets how many random queries
 * are tried (compute-sanitizer wants few), CSV_TEST_SEED the first of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../cuda/engine.h"
#include "../../src/query/operate.h"
#include "random_query.h"
#include "reading.h"

static bool have_device;

#define NEED_DEVICE() \
	do { \
		if (!have_device) \
			skip(); \
	} while (0)

/* ---- text of random values ---- */

typedef struct Text
{
	uint8_t    *bytes;
	size_t		nbytes;
	size_t		capacity;
} Text;

static void
put(Text *text, const void *bytes, size_t nbytes)
{
	if (text->nbytes + nbytes + 128 > text->capacity)
	{
		text->capacity = (text->nbytes + nbytes + 128) * 2;
		text->bytes = realloc(text->bytes, text->capacity);
		assert_non_null(text->bytes);
	}
	if (nbytes > 0)
		memcpy(text->bytes + text->nbytes, bytes, nbytes);
	text->nbytes += nbytes;
}

static void put_format(Text *text, const char *format,...)
			__attribute__((format(printf, 2, 3)));

static void
put_format(Text *text, const char *format,...)
{
	char		line[128];
	va_list		args;

	va_start(args, format);
	put(text, line, (size_t) vsnprintf(line, sizeof(line), format, args));
	va_end(args);
}

/* a value of a column as it may stand in a file */
static void
put_value(Text *text, const CsvColumn *column, const CsvValue *value)
{
	char		decimal[64];

	switch (column->kind)
	{
		case CSV_KIND_BOOL:
			put_format(text, value->value.integer != 0 ? "t" : "f");
			break;
		case CSV_KIND_INT2:
		case CSV_KIND_INT4:
		case CSV_KIND_INT8:
			put_format(text, "%lld", (long long) value->value.integer);
			break;
		case CSV_KIND_FLOAT4:
			put_format(text, "%.9g", value->value.real);
			break;
		case CSV_KIND_FLOAT8:
			put_format(text, "%.17g", value->value.real);
			break;
		case CSV_KIND_NUMERIC:
		case CSV_KIND_DECIMAL64:
		case CSV_KIND_DECIMAL128:
			put(text, decimal, decimal_text(value->value.decimal,
											column->scale, decimal));
			break;
		case CSV_KIND_DATE:
			put_format(text, "2000-01-%02d",
					   (int) (value->value.integer & 15) + 1);
			break;
		case CSV_KIND_TIMESTAMP:
			put_format(text, "1999-12-%02d 01:02:03",
					   (int) (value->value.integer & 15) + 1);
			break;
		case CSV_KIND_TIMESTAMPTZ:
			put_format(text, "2001-12-%02d 01:02:03+01",
					   (int) (value->value.integer & 15) + 1);
			break;
		case CSV_KIND_UUID:
			put_format(text, "%016llx%016llx",
					   (unsigned long long) (value->value.uuid >> 64),
					   (unsigned long long) value->value.uuid);
			break;
		default:
			put(text, "\"", 1);
			if (value->length > 0 && value->bytes[0] == 0xc3)
				put(text, "\xc3\xa4", 2);
			else
				put(text, value->bytes, value->length);
			put(text, "\"", 1);
			break;
	}
}

/* the fixture's batch as a file, with some records that are none */
static Text
file_of(const Fixture *fixture)
{
	Text		text = {NULL, 0, 0};
	uint32_t	ncolumns = fixture->layout.ncolumns;

	put(&text, "", 0);
	for (uint32_t row = 0; row < fixture->batch.nrows; row++)
	{
		for (uint32_t c = 0; c < ncolumns; c++)
		{
			const CsvValue *value =
				&fixture->values[(size_t) row * ncolumns + c];

			if (c > 0)
				put(&text, ",", 1);
			if (value->state == CSV_LANE_VALUE)
				put_value(&text, &fixture->columns[c], value);
			else if (value->state == CSV_LANE_UNDECIDED)
				put(&text, "default", 7);
		}
		put(&text, "\n", 1);
		if (one_in(100))
			put_format(&text, "too,few\n");
	}
	return text;
}

/* ---- reading ---- */

static void *
open_cuda(uint64_t memory_limit)
{
	CsvCudaOptions options;
	char		reason[256];
	void	   *cuda;

	memset(&options, 0, sizeof(options));
	options.memory_limit = memory_limit;
	cuda = csv_cuda_open(&options, &reading_memory, reason, sizeof(reason));
	if (cuda == NULL)
		print_error("%s\n", reason);
	assert_non_null(cuda);
	return cuda;
}

/* the layout of a file of these columns, a field each */
static void
lay_out(Fixture *fixture)
{
	CsvLayout  *layout = &fixture->layout;

	for (uint32_t c = 0; c < layout->ncolumns; c++)
	{
		fixture->columns[c].field = c;
		fixture->columns[c].attnum = c + 1;
		fixture->columns[c].max_chars = -1;
		fixture->columns[c].byte_width = -1;
		if (fixture->columns[c].kind == CSV_KIND_TIMESTAMP ||
			fixture->columns[c].kind == CSV_KIND_TIMESTAMPTZ)
			fixture->columns[c].precision = -1;
	}
	layout->columns = fixture->columns;
	layout->nfields = layout->ncolumns;
	layout->decimal_separator = '.';
	layout->null_bytes = (const uint8_t *) "";
	layout->has_default = true;
	layout->default_bytes = (const uint8_t *) "default";
	layout->default_length = 7;
}

static void
compile(CsvDialect *dialect)
{
	CsvDialectOptions options;

	memset(&options, 0, sizeof(options));
	options.delimiter = ',';
	options.quote = '"';
	options.escape = '"';
	options.boundary = CSV_BOUNDARY_LF;
	options.multiline = true;
	csv_dialect_compile(dialect, &options);
}

/* one call of parse over all of the text, which has margins */
static void
parse(void *cuda, const Text *text, uint32_t output, CsvBatch *batch)
{
	CsvInput	input;

	memset(&input, 0, sizeof(input));
	input.bytes = text->bytes;
	input.nbytes = text->nbytes;
	input.max_record_bytes = 1 << 20;
	input.at_end = true;
	input.output = output;
	memset(batch, 0, sizeof(*batch));
	assert_int_equal(csv_cuda_engine.parse(cuda, &input, batch), CSV_OK);
	assert_int_equal(batch->consumed, text->nbytes);
}

static Text
with_margins(Text text)
{
	Text		wide = {NULL, 0, 0};
	static const uint8_t zeros[64];

	put(&wide, zeros, 64);
	put(&wide, text.bytes, text.nbytes);
	put(&wide, zeros, 64);
	free(text.bytes);
	return wide;
}

/* ---- comparing ---- */

static bool
equal_values(uint8_t lane, const CsvValue *a, const CsvValue *b)
{
	if (a->state != b->state || a->state == CSV_LANE_NULL)
		return a->state == b->state;
	if (lane == CSV_LANE_FLOAT && !isnan(a->value.real))
		return memcmp(&a->value.real, &b->value.real, 8) == 0;
	return csv_value_compare(lane, a, b) == 0;
}

/* the same groups, in the same order or in any */
static void
compare_groups(const CsvQuery *query, CsvEvaluator *found,
			   const CsvEvaluator *expected, bool in_order)
{
	uint32_t	ngroups = csv_evaluator_ngroups(expected);

	assert_int_equal(csv_evaluator_ngroups(found), ngroups);
	for (uint32_t g = 0; g < ngroups; g++)
	{
		CsvValue	keys[CSV_MAX_KEYS];
		uint32_t	there = g;

		for (uint32_t i = 0; i < query->nkeys; i++)
			csv_evaluator_key(expected, g, i, &keys[i]);
		if (!in_order && query->nkeys > 0)
			there = csv_evaluator_find_group(found, keys, NULL);
		assert_true(there < ngroups);
		for (uint32_t i = 0; i < query->nkeys; i++)
		{
			CsvValue	key;

			csv_evaluator_key(found, there, i, &key);
			assert_true(equal_values(query->keys[i].lane, &key, &keys[i]));
		}
		for (uint32_t i = 0; i < query->naggregates; i++)
		{
			const CsvAggregate *aggregate = &query->aggregate[i];
			CsvAggregateValue a;
			CsvAggregateValue b;

			csv_evaluator_aggregate(found, there, i, &a);
			csv_evaluator_aggregate(expected, g, i, &b);
			assert_int_equal(a.count, b.count);
			assert_memory_equal(&a.wide, &b.wide, sizeof(a.wide));
			assert_int_equal(a.overflow, b.overflow);
			if (!isnan(a.real) || !isnan(b.real))
				assert_memory_equal(&a.real, &b.real, 8);
			if (aggregate->kind == CSV_AGGREGATE_MIN ||
				aggregate->kind == CSV_AGGREGATE_MAX)
				assert_true(equal_values(aggregate->lane, &a.extreme,
										 &b.extreme));
		}
	}
}

/* the entries of rows that come out are those of the whole arrays */
static void
compare_entries(const CsvLayout *layout, const CsvBatch *found,
				const CsvBatch *whole, const bool *hidden)
{
	const CsvSelection *selection = &found->answer->selection;

	for (uint32_t c = 0; c < layout->ncolumns; c++)
	{
		const CsvArray *array = &found->arrays[c];
		const CsvArray *expected = &whole->arrays[c];

		if (array->values == NULL)
		{
			assert_true(selection->nrows == 0 ||
						(hidden[c] && !selection->any_careful));
			continue;
		}
		for (uint32_t i = 0; i < selection->nrows; i++)
		{
			uint32_t	row = selection->rows[i];
			const uint8_t *entry = array->values + (size_t) i * array->stride;
			const uint8_t *whole_entry = expected->values +
				(size_t) row * expected->stride;
			uint32_t	nbytes = array->stride;

			assert_int_equal(array->status[i], expected->status[row]);
			if (array->status[i] != CSV_VALUE_OK)
				continue;
			if (layout->columns[c].kind == CSV_KIND_TEXT ||
				layout->columns[c].kind == CSV_KIND_CSTRING ||
				layout->columns[c].kind == CSV_KIND_NUMERIC)
				nbytes = csv_load4(entry) >> 2;
			assert_memory_equal(entry, whole_entry, nbytes);
		}
	}
	if (found->row_offsets != NULL)
		for (uint32_t i = 0; i < selection->nrows; i++)
		{
			assert_int_equal(found->row_offsets[i],
							 whole->row_offsets[selection->rows[i]]);
			assert_int_equal(found->row_lines[i],
							 whole->row_lines[selection->rows[i]]);
		}
}


/* ---- columns that stay ---- */

static bool
add_part(CsvCudaColumns *columns, uint32_t part, uint32_t first_row,
		 uint32_t width, const uint8_t *source, uint32_t source_width,
		 uint32_t nrows)
{
	char		reason[256];
	bool		good = csv_cuda_columns_add(columns, part, first_row, width,
											source, source_width, nrows, 0,
											reason, sizeof(reason));

	assert_string_equal(reason, "");
	return good;
}

/* a batch's columns in pieces, as if they came from several batches */
static CsvCudaColumns *
keep_columns(const CsvLayout *layout, const CsvBatch *batch, uint8_t *seen)
{
	CsvCudaColumns *columns = csv_cuda_columns_create(layout->ncolumns,
													  batch->nrows);

	assert_non_null(columns);
	for (uint32_t c = 0; c < layout->ncolumns; c++)
	{
		const CsvArray *array = &batch->arrays[c];
		uint32_t	width = array->stride +
			(layout->columns[c].kind == CSV_KIND_TEXT ? 4 * random_below(3) : 0);

		seen[c] = (uint8_t) ((array->all_ok ? 0 : CSV_CUDA_SEEN_NOT_OK) |
							 (array->any_slow ? CSV_CUDA_SEEN_SLOW : 0));
		for (uint32_t row = 0, n; row < batch->nrows; row += n)
		{
			n = 1 + random_below(batch->nrows - row);
			assert_int_equal(csv_cuda_columns_filled(columns,
													 CSV_CUDA_VALUES(c)), row);
			assert_true(add_part(columns, CSV_CUDA_VALUES(c), row, width,
								 array->values + (size_t) row * array->stride,
								 array->stride, n));
			assert_true(add_part(columns, CSV_CUDA_STATUSES(c), row, 1,
								 array->all_ok ? NULL : array->status + row, 1,
								 n));
			assert_false(add_part(columns, CSV_CUDA_STATUSES(c), row, 1, NULL,
								  1, 1));
		}
	}
	return columns;
}

/* they answer as the batch does */
static void
compare_columns(const Fixture *fixture, const CsvRequest *request,
				const CsvBatch *batch, const CsvSelection *selection,
				const CsvEvaluator *expected)
{
	const CsvLayout *layout = &fixture->layout;
	uint8_t		seen[MAX_COLUMNS];
	uint32_t	places[MAX_COLUMNS];
	CsvEvaluator *found = csv_evaluator_create(&reading_memory, request->query);
	CsvCudaColumns *columns = keep_columns(layout, batch, seen);
	CsvCudaQuestion question = {request, layout, places, seen, 0, NULL, NULL};
	CsvAnswer  *answer;
	uint32_t	nrows = batch->nrows;
	char		reason[256];

	for (uint32_t c = 0; c < layout->ncolumns; c++)
		places[c] = c;
	assert_true(csv_cuda_question_fits(&question));
	/* once more: nothing is changed by it */
	for (int turn = 0; turn < 2; turn++)
	{
		assert_int_equal(csv_cuda_columns_answer(columns, &question, 0, &nrows,
												 &answer, reason,
												 sizeof(reason)), CSV_OK);
		assert_non_null(answer);
		assert_int_equal(nrows, batch->nrows);
		assert_int_equal(answer->selection.nrows, selection->nrows);
		if (selection->nrows > 0)
		{
			assert_memory_equal(answer->selection.rows, selection->rows,
								selection->nrows * 4);
			assert_memory_equal(answer->selection.careful, selection->careful,
								selection->nrows);
		}
		assert_int_equal(answer->selection.ndropped, selection->ndropped);
		if (request->query->aggregates && turn == 1)
		{
			assert_int_equal(csv_evaluator_merge(found, &answer->groups),
							 CSV_OK);
			compare_groups(request->query, found, expected, false);
		}
		csv_cuda_answer_free(answer);
	}
	csv_cuda_columns_free(columns);
	csv_evaluator_free(found);
}

/* one input, both ways; whether the engine has answered */
static bool
compare(void *cuda, Fixture *fixture, const CsvQuery *query, Text *text)
{
	static bool hidden[MAX_COLUMNS];
	static uint8_t *wanted;
	CsvDialect	dialect;
	CsvRequest	request = {query, hidden, false};
	CsvEvaluator *expected = csv_evaluator_create(&reading_memory, query);
	CsvEvaluator *found = csv_evaluator_create(&reading_memory, query);
	CsvSelection selection;
	const CsvSelection *answer;
	CsvBatch	whole;
	CsvBatch	batch;
	Text		inside;
	bool		answered = false;

	compile(&dialect);
	*text = with_margins(*text);
	inside.bytes = text->bytes + 64;
	inside.nbytes = text->nbytes - 128;
	assert_int_equal(csv_cuda_engine.configure(cuda, &dialect,
											   &fixture->layout), CSV_OK);
	parse(cuda, &inside, 0, &whole);
	assert_null(whole.answer);
	for (uint32_t c = 0; c < fixture->layout.ncolumns; c++)
		hidden[c] = one_in(2);
	if (csv_cuda_engine.set_query(cuda, &request))
	{
		parse(cuda, &inside, 1, &batch);
		assert_int_equal(batch.nrows, whole.nrows);
		assert_int_equal(batch.nerrors, whole.nerrors);
		answered = batch.answer != NULL;
	}
	if (answered)
	{
		wanted = realloc(wanted, whole.nrows + 1);
		memset(wanted, 0, whole.nrows + 1);
		for (uint32_t c = 0; c < fixture->layout.ncolumns; c++)
			for (uint32_t row = 0; row < whole.nrows; row++)
				wanted[row] |= whole.arrays[c].status[row] ==
					CSV_VALUE_DOUBTFUL;
		assert_int_equal(csv_evaluator_run(expected, &fixture->layout, &whole,
										   wanted, NULL, NULL, &selection),
						 CSV_OK);
		answer = &batch.answer->selection;
		assert_int_equal(answer->nrows, selection.nrows);
		if (selection.nrows > 0)
		{
			assert_memory_equal(answer->rows, selection.rows,
								selection.nrows * 4);
			assert_memory_equal(answer->careful, selection.careful,
								selection.nrows);
		}
		assert_int_equal(answer->any_careful, selection.any_careful);
		assert_int_equal(answer->ndropped, selection.ndropped);
		compare_entries(&fixture->layout, &batch, &whole, hidden);
		if (query->aggregates)
		{
			assert_int_equal(csv_evaluator_merge(found,
												 &batch.answer->groups),
							 CSV_OK);
			compare_groups(query, found, expected, true);
		}
		compare_columns(fixture, &request, &whole, &selection, expected);
	}
	csv_evaluator_free(expected);
	csv_evaluator_free(found);
	free(text->bytes);
	return answered;
}

/* ---- tests ---- */

static uint64_t failing_seed;

/* CSV_TEST_SEED and CSV_TEST_ROUNDS=1 repeat it */
static int
say_failing_seed(void **state)
{
	(void) state;
	if (failing_seed != 0)
		print_message("random query of seed %llu\n",
					  (unsigned long long) failing_seed);
	return 0;
}

static int
rounds(int otherwise)
{
	const char *text = getenv("CSV_TEST_ROUNDS");

	return text != NULL ? atoi(text) : otherwise;
}

static void
random_queries_are_answered_as_on_the_cpu(void **state)
{
	static const uint32_t sizes[] = {1, 31, 33, 100, 500, 1000, 2500, 6000};
	static Program program;
	const char *seed_text = getenv("CSV_TEST_SEED");
	uint64_t	seed = seed_text != NULL ? strtoull(seed_text, NULL, 10) : 1;
	int			nrounds = rounds(1500);
	int			nanswered = 0;
	void	   *cuda;

	(void) state;
	NEED_DEVICE();
	cuda = open_cuda(0);
	for (int round = 0; round < nrounds; round++, seed++)
	{
		Fixture		fixture;
		Text		text;

		failing_seed = seed;
		random_state = seed * UINT64_C(0x9E3779B97F4A7C15);
		memset(&fixture, 0, sizeof(fixture));
		random_columns(&fixture);
		random_program(&program, &fixture);
		for (uint32_t i = 0; i < program.query.naggregates; i++)
			if (program.aggregates[i].kind == CSV_AGGREGATE_COUNT_DISTINCT)
				program.aggregates[i].kind = CSV_AGGREGATE_MAX;
		make_batch(&fixture, sizes[random_below(sizeof(sizes) /
												sizeof(sizes[0]))]);
		text = file_of(&fixture);
		lay_out(&fixture);
		nanswered += compare(cuda, &fixture, &program.query, &text);
		free_batch(&fixture);
	}
	failing_seed = 0;
	print_message("%d of %d queries were answered\n", nanswered, nrounds);
	assert_true(nanswered >= nrounds / 2);
	csv_cuda_engine.close(cuda);
}

/*
 * Sums, counts and extremes by a key of so many values, over so many rows:
 * integers, decimals and floats, whose sums are to be exact.
 */
static void
group_by(void *cuda, uint32_t nrows, uint32_t nvalues, bool answered)
{
	static Program program;
	Fixture		fixture;
	Text		text = {NULL, 0, 0};
	uint16_t	key;
	uint16_t	integer;
	uint16_t	real;
	uint16_t	decimal;
	uint16_t	string;

	memset(&fixture, 0, sizeof(fixture));
	add_column(&fixture, CSV_KIND_INT4, -1, 0);
	add_column(&fixture, CSV_KIND_INT8, -1, 0);
	add_column(&fixture, CSV_KIND_FLOAT8, -1, 0);
	add_column(&fixture, CSV_KIND_DECIMAL64, 15, 2);
	add_column(&fixture, CSV_KIND_TEXT, -1, 0);
	random_state = 77;
	for (uint32_t row = 0; row < nrows; row++)
	{
		/* most rows are of one group */
		uint32_t	value = nvalues > 2 && one_in(2) ? 1 :
			random_below(nvalues);

		put_format(&text, "%u,%lld,%.17g,%d.%02u,key%u\n", value,
				   (long long) next_random(),
				   ldexp((double) random_below(1000000) - 5e5,
						 (int) random_below(120) - 60),
				   (int) random_below(1000000) - 500000, random_below(100),
				   random_below(1000));
	}
	lay_out(&fixture);
	start_program(&program);
	program.query.aggregates = true;
	key = add_load(&program, CSV_LANE_INT, 0);
	integer = add_load(&program, CSV_LANE_INT, 1);
	real = add_load(&program, CSV_LANE_FLOAT, 2);
	decimal = add_load(&program, CSV_LANE_DECIMAL, 3);
	string = add_load(&program, CSV_LANE_TEXT, 4);
	if (nvalues > 1)
	{
		program.query.nkeys = 1;
		program.keys[0].lane = CSV_LANE_INT;
		program.keys[0].value = key;
	}
	add_aggregate(&program, CSV_AGGREGATE_COUNT_ROWS, 0, CSV_NO_REGISTER,
				  CSV_NO_REGISTER);
	add_aggregate(&program, CSV_AGGREGATE_SUM, CSV_LANE_INT, integer,
				  CSV_NO_REGISTER);
	add_aggregate(&program, CSV_AGGREGATE_SUM_SQUARES, CSV_LANE_INT, integer,
				  CSV_NO_REGISTER);
	add_aggregate(&program, CSV_AGGREGATE_MAX, CSV_LANE_INT, integer,
				  CSV_NO_REGISTER);
	add_aggregate(&program, CSV_AGGREGATE_SUM, CSV_LANE_FLOAT, real,
				  CSV_NO_REGISTER);
	add_aggregate(&program, CSV_AGGREGATE_SUM_SQUARES, CSV_LANE_FLOAT, real,
				  CSV_NO_REGISTER);
	add_aggregate(&program, CSV_AGGREGATE_SUM, CSV_LANE_DECIMAL, decimal,
				  CSV_NO_REGISTER);
	add_aggregate(&program, CSV_AGGREGATE_MIN, CSV_LANE_DECIMAL, decimal,
				  CSV_NO_REGISTER);
	add_aggregate(&program, CSV_AGGREGATE_MIN, CSV_LANE_TEXT, string,
				  CSV_NO_REGISTER);
	assert_int_equal(compare(cuda, &fixture, &program.query, &text), answered);
}

static void
groups_few_and_many(void **state)
{
	/* compute-sanitizer wants little */
	uint32_t	nrows = rounds(1000) < 1000 ? 20000 : 600000;
	void	   *cuda;

	(void) state;
	NEED_DEVICE();
	cuda = open_cuda(0);
	group_by(cuda, nrows, 1, true);
	group_by(cuda, nrows, 4, true);
	group_by(cuda, nrows, 70, true);
	group_by(cuda, nrows, 3000, true);
	group_by(cuda, nrows, nrows / 6, true);
	group_by(cuda, nrows, 2 * nrows, false);
	csv_cuda_engine.close(cuda);
}

static void
with_little_memory_there_is_no_answer(void **state)
{
	void	   *cuda;

	(void) state;
	NEED_DEVICE();
	csv_cuda_shutdown();
	cuda = open_cuda(UINT64_C(48) << 20);
	group_by(cuda, 200000, 4, false);
	csv_cuda_engine.close(cuda);
	cuda = open_cuda(0);
	group_by(cuda, 200000, 4, true);
	csv_cuda_engine.close(cuda);
}

/* queries that are not for a device, and the end of one */
static void
some_queries_are_declined(void **state)
{
	static Program program;
	Fixture		fixture;
	CsvDialect	dialect;
	bool		hidden[1] = {false};
	CsvRequest	request = {&program.query, hidden, true};
	Text		text = {NULL, 0, 0};
	Text		inside;
	CsvBatch	batch;
	void	   *cuda;

	(void) state;
	NEED_DEVICE();
	cuda = open_cuda(0);
	memset(&fixture, 0, sizeof(fixture));
	add_column(&fixture, CSV_KIND_INT4, -1, 0);
	lay_out(&fixture);
	compile(&dialect);
	assert_int_equal(csv_cuda_engine.configure(cuda, &dialect,
											   &fixture.layout), CSV_OK);
	start_program(&program);
	program.query.aggregates = true;
	add_aggregate(&program, CSV_AGGREGATE_COUNT_ROWS, 0, CSV_NO_REGISTER,
				  CSV_NO_REGISTER);
	assert_false(csv_cuda_engine.set_query(cuda, &request));
	add_aggregate(&program, CSV_AGGREGATE_COUNT_DISTINCT, CSV_LANE_INT,
				  add_load(&program, CSV_LANE_INT, 0), CSV_NO_REGISTER);
	assert_false(csv_cuda_engine.set_query(cuda, &request));
	program.aggregates[1].kind = CSV_AGGREGATE_SUM;
	assert_true(csv_cuda_engine.set_query(cuda, &request));

	put_format(&text, "1\n2\ndefault\n");
	text = with_margins(text);
	inside.bytes = text.bytes + 64;
	inside.nbytes = 4;
	parse(cuda, &inside, 0, &batch);
	assert_non_null(batch.answer);
	assert_int_equal(batch.answer->groups.words[0], 2);

	/* not with a value that is not certain, where all are to be */
	inside.nbytes = 12;
	parse(cuda, &inside, 0, &batch);
	assert_null(batch.answer);
	request.all_certain = false;
	assert_true(csv_cuda_engine.set_query(cuda, &request));
	parse(cuda, &inside, 0, &batch);
	assert_non_null(batch.answer);
	assert_int_equal(batch.answer->selection.nrows, 1);
	assert_int_equal(batch.answer->selection.rows[0], 2);
	assert_int_equal(batch.row_offsets[0], 4);
	assert_int_equal(batch.row_lines[0], 2);

	assert_false(csv_cuda_engine.set_query(cuda, NULL));
	parse(cuda, &inside, 0, &batch);
	assert_null(batch.answer);
	csv_cuda_engine.close(cuda);
	free(text.bytes);
}

/* they take no memory away from a call of parse, and can be filled again */
static void
columns_give_way(void **state)
{
	const uint32_t nrows = UINT32_C(40) << 20;
	CsvCudaColumns *columns;
	uint64_t	output;
	uint64_t	others;
	char		reason[256];
	void	   *cuda;

	(void) state;
	NEED_DEVICE();
	csv_cuda_shutdown();
	cuda = open_cuda(UINT64_C(48) << 20);
	columns = csv_cuda_columns_create(1, nrows);
	assert_non_null(columns);
	assert_false(csv_cuda_columns_add(columns, CSV_CUDA_STATUSES(0), 0, 1, NULL,
									  1, nrows, UINT64_C(48) << 20, reason,
									  sizeof(reason)));
	assert_string_equal(reason, "");
	for (int turn = 0; turn < 2; turn++)
	{
		assert_int_equal(csv_cuda_columns_bytes(columns), 0);
		assert_true(add_part(columns, CSV_CUDA_STATUSES(0), 0, 1, NULL, 1,
							 nrows));
		assert_int_equal(csv_cuda_columns_bytes(columns), nrows);
		csv_cuda_memory_held(&output, &others);
		assert_true(others >= nrows);
		if (turn == 0)
			group_by(cuda, 200000, 4, false);
		else
		{
			csv_cuda_engine.close(cuda);
			csv_cuda_shutdown();
		}
		assert_int_equal(csv_cuda_columns_filled(columns, CSV_CUDA_STATUSES(0)),
						 0);
	}
	csv_cuda_columns_free(columns);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(some_queries_are_declined),
		cmocka_unit_test(groups_few_and_many),
		cmocka_unit_test(with_little_memory_there_is_no_answer),
		cmocka_unit_test(columns_give_way),
		cmocka_unit_test_teardown(random_queries_are_answered_as_on_the_cpu,
								  say_failing_seed)
	};
	CsvCudaDevice device;

	have_device = csv_cuda_list_devices(&device, 1) > 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
