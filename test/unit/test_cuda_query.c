/*
 * test_cuda_query.c
 *		Queries that the CUDA engine answers itself, against the CPU's evaluation
 *		of the same engine's arrays.
 *
 * Each input is read twice: without a query, and evaluated then (evaluate.c); and
 * with it.  The selection, the columns of the rows that come out, and the groups
 * must be the same.  Groups that stay with the engine are those of several inputs,
 * put together with what came out of some.
 *
 * Skipped where there is no GPU.  EFFORT and SEED as rounds.h has them
 * (compute-sanitizer wants few random queries).
 */
#include <math.h>

#include "unit.h"
#include "../../cuda/policy.h"
#include "../../src/query/operate.h"
#include "../../src/query/row.h"
#include "../inject/inject.h"
#include "compare_query.h"
#include "cuda_device.h"

/* a value of a column as it may stand in a file */
static void
put_value(Content *text, const CsvColumn *column, const CsvValue *value)
{
	char		decimal[64];

	switch (column->kind)
	{
		case CSV_KIND_BOOL:
			content_format(text, value->value.integer != 0 ? "t" : "f");
			break;
		case CSV_KIND_INT2:
		case CSV_KIND_INT4:
		case CSV_KIND_INT8:
			content_format(text, "%lld", (long long) value->value.integer);
			break;
		case CSV_KIND_FLOAT4:
			content_format(text, "%.9g", value->value.real);
			break;
		case CSV_KIND_FLOAT8:
			content_format(text, "%.17g", value->value.real);
			break;
		case CSV_KIND_NUMERIC:
		case CSV_KIND_DECIMAL64:
		case CSV_KIND_DECIMAL128:
			content_put(text, decimal,
						decimal_text(value->value.decimal, column->scale,
									 decimal));
			break;
		case CSV_KIND_SCALED:
			content_put(text, decimal, scaled_text(column, value, decimal));
			break;
		case CSV_KIND_DATE:
			content_format(text, "2000-01-%02d",
					   (int) (value->value.integer & 15) + 1);
			break;
		case CSV_KIND_TIMESTAMP:
			content_format(text, "1999-12-%02d 01:02:03",
					   (int) (value->value.integer & 15) + 1);
			break;
		case CSV_KIND_TIMESTAMPTZ:
			content_format(text, "2001-12-%02d 01:02:03+01",
					   (int) (value->value.integer & 15) + 1);
			break;
		case CSV_KIND_TIME:
			content_format(text, "01:02:%02d.5", (int) (value->value.integer & 15));
			break;
		case CSV_KIND_UUID:
			content_format(text, "%016llx%016llx",
					   (unsigned long long) (value->value.uuid >> 64),
					   (unsigned long long) value->value.uuid);
			break;
		default:
			content_put(text, "\"", 1);
			if (value->length > 0 && value->bytes[0] == 0xc3)
				content_put(text, "\xc3\xa4", 2);
			else
				content_put(text, value->bytes, value->length);
			content_put(text, "\"", 1);
			break;
	}
}

/* the fixture's batch as a file, with some records that are none */
static Content
file_of(const Fixture *fixture)
{
	Content		text = {NULL, 0, 0};
	uint32_t	ncolumns = fixture->layout.ncolumns;

	content_put(&text, "", 0);
	for (uint32_t row = 0; row < fixture->batch.nrows; row++)
	{
		for (uint32_t c = 0; c < ncolumns; c++)
		{
			const CsvValue *value =
				&fixture->values[(size_t) row * ncolumns + c];

			if (c > 0)
				content_put(&text, ",", 1);
			/* what is left to an input function makes its row careful */
			if (fixture->columns[c].kind == CSV_KIND_CSTRING && !one_in(100))
				continue;
			if (value->state == CSV_LANE_VALUE)
				put_value(&text, &fixture->columns[c], value);
			else if (value->state == CSV_LANE_UNDECIDED)
				content_put(&text, "default", 7);
		}
		content_put(&text, "\n", 1);
		if (one_in(100))
			content_format(&text, "too,few\n");
	}
	return text;
}

/* ---- reading ---- */

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
			fixture->columns[c].kind == CSV_KIND_TIMESTAMPTZ ||
			fixture->columns[c].kind == CSV_KIND_TIME)
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
parse(void *cuda, const Content *text, uint32_t output, CsvBatch *batch)
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

static Content
with_margins(Content text)
{
	Content		wide = {NULL, 0, 0};
	static const uint8_t zeros[64];

	content_put(&wide, zeros, 64);
	content_put(&wide, text.bytes, text.nbytes);
	content_put(&wide, zeros, 64);
	free(text.bytes);
	return wide;
}

/* ---- comparing ---- */

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
	CsvCudaColumns *columns =
		csv_cuda_columns_create(test_session(), layout->ncolumns, batch->nrows);

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

/*
 * What they answer of rows [first_row, first_row + n), against a selection;
 * false if they do not.
 */
static bool
ask_columns(CsvCudaColumns *columns, const CsvCudaQuestion *question,
			uint32_t first_row, uint32_t n, const CsvSelection *selection,
			CsvEvaluator *found)
{
	CsvAnswer  *answer;
	uint32_t	nrows = n;
	uint32_t	position = 0;
	char		reason[256];

	assert_int_equal(csv_cuda_columns_answer(columns, question, first_row,
											 &nrows, &answer, reason,
											 sizeof(reason)), CSV_OK);
	if (answer == NULL)
		return false;
	assert_int_equal(nrows, n);
	while (position < selection->nrows &&
		   selection->rows[position] < first_row)
		position++;
	for (uint32_t i = 0; i < answer->selection.nrows; i++, position++)
	{
		assert_true(position < selection->nrows);
		assert_int_equal(answer->selection.rows[i] + first_row,
						 selection->rows[position]);
		assert_int_equal(answer->selection.careful[i],
						 selection->careful[position]);
	}
	assert_true(position == selection->nrows ||
				selection->rows[position] >= first_row + n);
	if (question->request->query->aggregates)
		assert_int_equal(csv_evaluator_merge(found, &answer->groups), CSV_OK);
	csv_cuda_answer_free(test_session(), answer);
	return true;
}

/*
 * They answer as the batch does: at once, once more, and in two parts, of which
 * one may have too many groups for its rows.
 */
static void
compare_columns(const Fixture *fixture, const CsvRequest *request,
				const CsvBatch *batch, const CsvSelection *selection,
				const CsvEvaluator *expected)
{
	const CsvLayout *layout = &fixture->layout;
	const CsvQuery *query = request->query;
	uint8_t		seen[MAX_COLUMNS];
	uint32_t	places[MAX_COLUMNS];
	CsvCudaColumns *columns = keep_columns(layout, batch, seen);
	CsvCudaQuestion question = {request, layout, places, seen, 0, NULL, NULL};

	for (uint32_t c = 0; c < layout->ncolumns; c++)
		places[c] = c;
	assert_true(csv_cuda_question_fits(test_session(), &question, 0));
	for (int turn = 0; turn < 3; turn++)
	{
		CsvEvaluator *found = evaluator_of(query);
		uint32_t	n = turn < 2 ? batch->nrows :
			1 + random_below(batch->nrows);
		bool		answered;

		answered = ask_columns(columns, &question, 0, n, selection, found) &&
			(n == batch->nrows ||
			 ask_columns(columns, &question, n, batch->nrows - n, selection,
						 found));
		if (!answered)
		{
			assert_true(n < batch->nrows);
			assert_true(csv_evaluator_ngroups(expected) >
						CSV_QUERY_FEW_GROUPS);
		}
		else if (query->aggregates && query->nkeys == 0)
			expect_groups(query, found, expected);
		else if (query->aggregates)
			expect_set(query, found, expected, true);
		csv_evaluator_free(found);
	}
	csv_cuda_columns_free(columns);
}

/* one input, both ways; whether the engine has answered */
static bool
compare(void *cuda, Fixture *fixture, const CsvQuery *query, Content *text)
{
	static bool hidden[MAX_COLUMNS];
	CsvDialect	dialect;
	CsvRequest	request = {query, hidden, false};
	CsvEvaluator *expected = evaluator_of(query);
	CsvEvaluator *found = evaluator_of(query);
	CsvSelection selection;
	const CsvSelection *answer;
	CsvBatch	whole;
	CsvBatch	batch;
	Content		inside;
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
		selection = run_certain(expected, &fixture->layout, &whole);
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
			expect_groups(query, found, expected);
		}
		compare_columns(fixture, &request, &whole, &selection, expected);
	}
	csv_evaluator_free(expected);
	csv_evaluator_free(found);
	free(text->bytes);
	return answered;
}

/* ---- groups that stay with the engine ---- */

/* what became of several inputs */
typedef struct Tally
{
	uint32_t	nheld;			/* inputs of which groups were held, */
	uint32_t	npartly;		/* of these, some came out */
	uint32_t	nelsewhere;		/* inputs with groups that came out, or unanswered */
} Tally;

static bool
give_up_soon(void *arg)
{
	int		   *countdown = arg;

	return (*countdown)-- == 0;
}

/*
 * Parse with the query; now and then it is interrupted at first, which is to be
 * without effect.
 */
static void
parse_interrupted(void *cuda, const Content *text, CsvBatch *batch)
{
	int			countdown = (int) random_below(12);
	CsvInput	input;

	memset(&input, 0, sizeof(input));
	input.bytes = text->bytes;
	input.nbytes = text->nbytes;
	input.max_record_bytes = 1 << 20;
	input.at_end = true;
	input.output = 1;
	input.interrupted = give_up_soon;
	input.interrupted_arg = &countdown;
	if (one_in(2))
	{
		CsvStatus	status = csv_cuda_engine.parse(cuda, &input, batch);

		if (status == CSV_OK)
			return;				/* it has added its groups */
		assert_int_equal(status, CSV_INTERRUPTED);
	}
	parse(cuda, text, 1, batch);
}

/* the groups that are held, as they are and merged */
static void
take_held(void *cuda, const CsvQuery *query, CsvEvaluator *found,
		  const CsvEvaluator *expected, bool all)
{
	CsvPartialGroups piece;
	uint32_t	first = 0;

	for (;; first += piece.ngroups)
	{
		assert_int_equal(csv_cuda_engine.held_groups(cuda, first, &piece),
						 CSV_OK);
		if (piece.ngroups == 0)
			break;
		for (uint32_t g = 0; all && g < piece.ngroups; g++)
			expect_partial_group(query, &piece, g, expected, first + g);
		assert_int_equal(csv_evaluator_merge(found, &piece), CSV_OK);
	}
	if (all)
		assert_int_equal(first, csv_evaluator_ngroups(expected));
}

/* the text in so many inputs, one after the other, as those of a scan */
static Tally
compare_held(void *cuda, Fixture *fixture, const CsvQuery *query, Content *text,
			 uint32_t ninputs)
{
	static bool hidden[MAX_COLUMNS];
	CsvDialect	dialect;
	CsvRequest	request = {query, hidden, true};
	CsvEvaluator *expected = evaluator_of(query);
	CsvEvaluator *found = evaluator_of(query);
	Tally		tally = {0, 0, 0};
	size_t		begin = 64;
	size_t		end;

	compile(&dialect);
	*text = with_margins(*text);
	for (uint32_t i = 0; i < ninputs; i++, begin = end)
	{
		Content		part = {text->bytes + begin, 0, 0};
		CsvBatch	batch;

		end = 64 + (text->nbytes - 128) / ninputs * (i + 1);
		while (i < ninputs - 1 && end > begin && text->bytes[end - 1] != '\n')
			end--;
		if (i == ninputs - 1)
			end = text->nbytes - 64;
		part.nbytes = end - begin;
		if (part.nbytes == 0)
			continue;

		/* as for a file, so that groups outlive one */
		assert_int_equal(csv_cuda_engine.configure(cuda, &dialect,
												   &fixture->layout), CSV_OK);
		parse(cuda, &part, 0, &batch);
		run_certain(expected, &fixture->layout, &batch);
		if (!csv_cuda_engine.set_query(cuda, &request))
		{
			tally.nelsewhere++;
			run_certain(found, &fixture->layout, &batch);
			continue;
		}
		parse_interrupted(cuda, &part, &batch);
		if (batch.answer == NULL)
		{
			tally.nelsewhere++;
			run_certain(found, &fixture->layout, &batch);
			continue;
		}
		tally.nheld += batch.answer->held;
		tally.npartly += batch.answer->groups.held != NULL;
		tally.nelsewhere += batch.answer->groups.ngroups > 0;
		assert_int_equal(csv_evaluator_merge(found, &batch.answer->groups),
						 CSV_OK);
	}
	take_held(cuda, query, found, expected, tally.nelsewhere == 0);
	if (tally.nelsewhere == 0)
		expect_groups(query, found, expected);
	else
		expect_set(query, found, expected, false);
	csv_evaluator_free(expected);
	csv_evaluator_free(found);
	free(text->bytes);
	return tally;
}

/* ---- tests ---- */

/* random columns, and a query over them that may be one for a device */
static void
start_round(Fixture *fixture, Program *program, uint64_t seed)
{
	start_seed(seed);
	memset(fixture, 0, sizeof(*fixture));
	random_columns(fixture);
	random_program(program, fixture);
	for (uint32_t i = 0; i < program->query.naggregates; i++)
		if (program->aggregates[i].kind == CSV_AGGREGATE_COUNT_DISTINCT)
			program->aggregates[i].kind = CSV_AGGREGATE_MAX;
}

TEST(random_queries_are_answered_as_on_the_cpu)
{
	static const uint32_t sizes[] = {1, 31, 33, 100, 500, 1000, 2500, 6000};
	static Program program;
	uint64_t	seed = first_seed();
	const uint32_t nrounds = rounds(1500);
	uint32_t	nanswered = 0;
	void	   *cuda;

	NEED_DEVICE();
	cuda = open_cuda((CsvCudaOptions) {0});
	for (uint32_t round = 0; round < nrounds; round++, seed++)
	{
		Fixture		fixture;
		Content		text;

		start_round(&fixture, &program, seed);
		make_batch(&fixture, sizes[random_below(LENGTH(sizes))]);
		text = file_of(&fixture);
		lay_out(&fixture);
		nanswered += compare(cuda, &fixture, &program.query, &text);
		free_batch(&fixture);
	}
	end_seeds();
	print_message("%u of %u queries were answered\n", nanswered, nrounds);
	assert_true(nanswered >= nrounds / 2);
	csv_cuda_engine.close(cuda);
}

/*
 * Sums, counts and extremes by a key of so many values, over so many rows:
 * integers, decimals and floats, whose sums are to be exact.
 */
static void
make_groups(Fixture *fixture, Program *program, Content *text, uint32_t nrows,
			uint32_t nvalues, bool text_key)
{
	static const struct
	{
		uint8_t		kind;
		uint8_t		lane;
		uint16_t	column;
	}			aggregates[] = {
		{CSV_AGGREGATE_COUNT_ROWS, 0, CSV_NO_REGISTER},
		{CSV_AGGREGATE_SUM, CSV_LANE_INT, 1},
		{CSV_AGGREGATE_SUM_SQUARES, CSV_LANE_INT, 1},
		{CSV_AGGREGATE_MAX, CSV_LANE_INT, 1},
		{CSV_AGGREGATE_SUM, CSV_LANE_FLOAT, 2},
		{CSV_AGGREGATE_SUM_SQUARES, CSV_LANE_FLOAT, 2},
		{CSV_AGGREGATE_SUM, CSV_LANE_DECIMAL, 3},
		{CSV_AGGREGATE_MIN, CSV_LANE_DECIMAL, 3},
		{CSV_AGGREGATE_MIN, CSV_LANE_TEXT, 4}
	};

	memset(fixture, 0, sizeof(*fixture));
	memset(text, 0, sizeof(*text));
	add_column(fixture, CSV_KIND_INT4, -1, 0);
	add_column(fixture, CSV_KIND_INT8, -1, 0);
	add_column(fixture, CSV_KIND_FLOAT8, -1, 0);
	add_column(fixture, CSV_KIND_DECIMAL64, 15, 2);
	add_column(fixture, CSV_KIND_TEXT, -1, 0);
	random_state = 77;
	for (uint32_t row = 0; row < nrows; row++)
	{
		/* most rows are of one group */
		uint32_t	value = nvalues > 2 && one_in(2) ? 1 :
			random_below(nvalues);

		content_format(text, "%u,%lld,%.17g,%d.%02u,key%u%s\n", value,
					   (long long) next_random(),
					   ldexp((double) random_below(1000000) - 5e5,
							 (int) random_below(120) - 60),
					   (int) random_below(1000000) - 500000,
					   random_below(100),
					   text_key ? value : random_below(1000),
					   one_in(3) ? " of some length" : "");
	}
	lay_out(fixture);
	start_program(program);
	program->query.aggregates = true;

	/* a column's register has its number */
	add_load(program, CSV_LANE_INT, 0);
	add_load(program, CSV_LANE_INT, 1);
	add_load(program, CSV_LANE_FLOAT, 2);
	add_load(program, CSV_LANE_DECIMAL, 3);
	add_load(program, CSV_LANE_TEXT, 4);
	if (nvalues > 1)
	{
		program->query.nkeys = 1;
		program->keys[0].lane = text_key ? CSV_LANE_TEXT : CSV_LANE_INT;
		program->keys[0].value = text_key ? 4 : 0;
	}
	for (size_t i = 0; i < LENGTH(aggregates); i++)
		add_aggregate(program, aggregates[i].kind, aggregates[i].lane,
					  aggregates[i].column, CSV_NO_REGISTER);
}

static void
group_by(void *cuda, uint32_t nrows, uint32_t nvalues, bool answered)
{
	static Program program;
	Fixture		fixture;
	Content		text;

	make_groups(&fixture, &program, &text, nrows, nvalues, false);
	assert_int_equal(compare(cuda, &fixture, &program.query, &text), answered);
}

TEST(groups_few_and_many)
{
	/* compute-sanitizer wants little */
	uint32_t	nrows = rounds(1000) < 1000 ? 20000 : 600000;
	void	   *cuda;

	NEED_DEVICE();
	cuda = open_cuda((CsvCudaOptions) {0});
	group_by(cuda, nrows, 1, true);
	group_by(cuda, nrows, 4, true);
	group_by(cuda, nrows, 70, true);
	group_by(cuda, nrows, 3000, true);
	group_by(cuda, nrows, nrows / 6, true);
	group_by(cuda, nrows, 2 * nrows, false);
	csv_cuda_engine.close(cuda);
}

TEST(with_little_memory_there_is_no_answer)
{
	void	   *cuda;

	NEED_DEVICE();
	test_forget_session();
	cuda = open_cuda((CsvCudaOptions) {.memory_limit = UINT64_C(48) << 20});
	group_by(cuda, 200000, 4, false);
	csv_cuda_engine.close(cuda);
	cuda = open_cuda((CsvCudaOptions) {0});
	group_by(cuda, 200000, 4, true);
	csv_cuda_engine.close(cuda);
}

/* an engine that holds groups from the first on, in little room */
static void *
open_holding(uint64_t memory_limit)
{
	return open_cuda((CsvCudaOptions) {.memory_limit = memory_limit,
									   .hold_from = 1});
}

TEST(random_queries_whose_groups_stay)
{
	static Program program;
	uint64_t	seed = first_seed();
	const uint32_t nrounds = rounds(1000);
	Tally		sum = {0, 0, 0};

	NEED_DEVICE();
	for (uint32_t round = 0; round < nrounds; round++, seed++)
	{
		Fixture		fixture;
		Content		text;
		Tally		tally;
		void	   *cuda;

		start_round(&fixture, &program, seed);
		if (!program.query.aggregates || program.query.nkeys == 0)
			continue;
		make_batch(&fixture, 1 + random_below(4000));
		text = file_of(&fixture);
		lay_out(&fixture);
		cuda = open_holding(0);
		tally = compare_held(cuda, &fixture, &program.query, &text,
							 1 + random_below(5));
		sum.nheld += tally.nheld;
		sum.nelsewhere += tally.nelsewhere;
		csv_cuda_engine.close(cuda);
		free_batch(&fixture);
	}
	end_seeds();
	print_message("%u inputs were held, %u not\n", sum.nheld, sum.nelsewhere);
	assert_true(sum.nheld > sum.nelsewhere);
}

static uint64_t
memory_held(void)
{
	uint64_t	output;
	uint64_t	others;

	csv_cuda_memory_held(test_session(), &output, &others);
	return others;
}

static Tally
hold(uint64_t memory_limit, uint32_t nrows, uint32_t nvalues, bool text_key,
	 uint32_t ninputs)
{
	static Program program;
	void	   *cuda = open_holding(memory_limit);
	Fixture		fixture;
	Content		text;
	Tally		tally;
	uint64_t	before;

	make_groups(&fixture, &program, &text, nrows, nvalues, text_key);
	tally = compare_held(cuda, &fixture, &program.query, &text, ninputs);
	before = memory_held();
	csv_cuda_engine.close(cuda);
	if (tally.nheld > 0)
		assert_true(memory_held() < before);
	return tally;
}

TEST(many_groups_stay)
{
	/* compute-sanitizer wants little */
	uint32_t	nrows = rounds(1000) < 1000 ? 20000 : 400000;
	Tally		tally;

	NEED_DEVICE();
	test_forget_session();
	for (int text_key = 0; text_key < 2; text_key++)
	{
		tally = hold(0, nrows, 2, text_key != 0, 3);
		assert_int_equal(tally.nheld, 3);
		tally = hold(0, nrows, nrows / 6, text_key != 0, 7);
		assert_int_equal(tally.nheld, 7);
		tally = hold(0, nrows, 4 * nrows, text_key != 0, 5);
		assert_int_equal(tally.nheld, 5);
		assert_int_equal(tally.nelsewhere, 0);
	}
}

/* groups and rows come out where there is no room for them */
TEST(groups_without_room_come_out)
{
	uint32_t	npartly = 0;
	uint32_t	nelsewhere = 0;

	NEED_DEVICE();
	if (rounds(1000) < 1000)
		skip();
	for (uint64_t limit = 200; limit <= 1600; limit *= 2)
		for (int text_key = 0; text_key < 2; text_key++)
		{
			Tally		tally;

			test_forget_session();
			tally = hold(limit << 20, 400000, 80000, text_key != 0, 8);
			npartly += tally.npartly;
			nelsewhere += tally.nelsewhere;
			test_forget_session();
			tally = hold(limit << 20, 400000, 4000000, text_key != 0, 8);
			npartly += tally.npartly;
			nelsewhere += tally.nelsewhere;
		}
	print_message("%u inputs partly held, %u not\n", npartly, nelsewhere);
	assert_true(npartly > 0);
	assert_true(nelsewhere > npartly);
	test_forget_session();
}

/*
 * Keys whose hashes lead to one slot of a batch's table, for its hash begins with
 * nothing secret.  It is given up, and does not take long.
 */
TEST(groups_of_one_slot_come_out)
{
	static Program program;
	Fixture		fixture;
	Content		text = {NULL, 0, 0};
	void	   *cuda;
	uint64_t	word = 0;

	NEED_DEVICE();
	memset(&fixture, 0, sizeof(fixture));
	add_column(&fixture, CSV_KIND_INT8, -1, 0);
	for (uint32_t row = 0; row < 3000; row++)
	{
		uint64_t	hash;

		do
		{
			hash = csv_hash_word(CSV_BATCH_SEED, CSV_BATCH_SEED, ++word);
		}
		while (((hash ^ hash >> 32) & 0x1fff) != 0);
		content_format(&text, "%llu\n", (unsigned long long) word);
	}
	lay_out(&fixture);
	start_program(&program);
	group_by_column(&program, CSV_LANE_INT, 0);
	add_aggregate(&program, CSV_AGGREGATE_COUNT_ROWS, 0, CSV_NO_REGISTER,
				  CSV_NO_REGISTER);
	cuda = open_holding(0);
	assert_int_equal(compare_held(cuda, &fixture, &program.query, &text,
								  1).nelsewhere, 1);
	csv_cuda_engine.close(cuda);
}

/* where a call fails, the groups of those before it are still there */
TEST(a_failure_leaves_what_was_held)
{
	static Program program;
	static bool hidden[MAX_COLUMNS];
	CsvRequest	request = {&program.query, hidden, true};
	Fixture		fixture;
	CsvDialect	dialect;
	Content		text;
	Content		inside;
	CsvInput	input;
	CsvBatch	batch;
	CsvPartialGroups piece;
	uint32_t	ngroups;
	void	   *cuda;

	NEED_DEVICE();
	csv_injected.gpu_fault = -2;
	cuda = open_cuda((CsvCudaOptions) {.hold_from = 1});
	csv_injected.gpu_fault = 0;
	make_groups(&fixture, &program, &text, 5000, 100, false);
	text = with_margins(text);
	inside.bytes = text.bytes + 64;
	inside.nbytes = text.nbytes - 128;
	compile(&dialect);
	assert_int_equal(csv_cuda_engine.configure(cuda, &dialect,
											   &fixture.layout), CSV_OK);
	assert_true(csv_cuda_engine.set_query(cuda, &request));
	parse(cuda, &inside, 0, &batch);
	assert_non_null(batch.answer);
	assert_true(batch.answer->held);
	assert_int_equal(batch.answer->groups.ngroups, 0);
	assert_int_equal(csv_cuda_engine.held_groups(cuda, 0, &piece), CSV_OK);
	ngroups = piece.ngroups;
	assert_true(ngroups > 50);

	memset(&input, 0, sizeof(input));
	input.bytes = inside.bytes;
	input.nbytes = inside.nbytes;
	input.max_record_bytes = 1 << 20;
	input.at_end = true;
	assert_int_equal(csv_cuda_engine.parse(cuda, &input, &batch),
					 CSV_DEVICE_FAILED);
	assert_int_equal(csv_cuda_engine.held_groups(cuda, 0, &piece), CSV_OK);
	assert_int_equal(piece.ngroups, ngroups);
	assert_int_equal(csv_cuda_engine.held_groups(cuda, ngroups, &piece),
					 CSV_OK);
	assert_int_equal(piece.ngroups, 0);
	csv_cuda_engine.close(cuda);
	free(text.bytes);
}

/* queries that are not for a device, and the end of one */
TEST(some_queries_are_declined)
{
	static Program program;
	Fixture		fixture;
	CsvDialect	dialect;
	bool		hidden[1] = {false};
	CsvRequest	request = {&program.query, hidden, false};
	Content		text = {NULL, 0, 0};
	Content		inside;
	CsvBatch	batch;
	void	   *cuda;

	NEED_DEVICE();
	cuda = open_cuda((CsvCudaOptions) {0});
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

	content_format(&text, "1\n2\ndefault\n");
	text = with_margins(text);
	inside.bytes = text.bytes + 64;
	inside.nbytes = 4;
	parse(cuda, &inside, 0, &batch);
	assert_non_null(batch.answer);
	assert_int_equal(batch.answer->groups.words[0], 2);

	/* with a value that is not certain */
	inside.nbytes = 12;
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
TEST(columns_give_way)
{
	const uint32_t nrows = UINT32_C(40) << 20;
	CsvCudaColumns *columns;
	uint64_t	output;
	uint64_t	others;
	char		reason[256];
	void	   *cuda;

	NEED_DEVICE();
	test_forget_session();
	cuda = open_cuda((CsvCudaOptions) {.memory_limit = UINT64_C(48) << 20});
	columns = csv_cuda_columns_create(test_session(), 1, nrows);
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
		csv_cuda_memory_held(test_session(), &output, &others);
		assert_true(others >= nrows);
		if (turn == 0)
			group_by(cuda, 200000, 4, false);
		else
		{
			csv_cuda_engine.close(cuda);
			csv_cuda_trim(test_session(), 1);
		}
		assert_int_equal(csv_cuda_columns_filled(columns, CSV_CUDA_STATUSES(0)),
						 0);
	}
	csv_cuda_columns_free(columns);
}
