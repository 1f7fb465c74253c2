/*
 * test_packed.c
 *		Batches on their way to another process: they arrive as they were sent,
 *		and whatever arrives, nothing outside of the blocks is read.
 *
 * Each part of a batch is in a block of its own, as long as the part: so
 * AddressSanitizer sees what goes beyond.
 */
#include "unit.h"
#include "host_answer.h"
#include "random_query.h"
#include "reading.h"
#include "../../src/query/operate.h"
#include "../../src/reader/field.h"
#include "../../src/wire/packed.h"

/* ---- blocks, and a message about them ---- */

#define MOST_BLOCKS		5000

typedef struct Sent
{
	CsvBlock	blocks[MOST_BLOCKS];
	CsvBlocks	table;
	uint32_t	most_blocks;	/* that there is room for */
	CsvPacker	packer;
	uint8_t    *message;
	size_t		nbytes;
} Sent;

static Sent sent;

/* in a block that has the bytes, or in a new block */
static void *
pack_bytes(void *arg, const void *bytes, size_t nbytes)
{
	CsvBlock   *block = &sent.blocks[sent.table.nblocks];

	(void) arg;
	for (uint32_t i = 0; i < sent.table.nblocks; i++)
	{
		uintptr_t	at = (uintptr_t) bytes - (uintptr_t) sent.blocks[i].bytes;

		if ((uintptr_t) bytes >= (uintptr_t) sent.blocks[i].bytes &&
			at + nbytes <= sent.blocks[i].nbytes)
			return csv_packed_pointer(i, at);
	}
	if (sent.table.nblocks == sent.most_blocks)
		return NULL;
	block->bytes = memcpy(malloc(nbytes), bytes, nbytes);
	block->nbytes = nbytes;
	return csv_packed_pointer(sent.table.nblocks++, 0);
}

static void
forget_sent(void)
{
	for (uint32_t i = 0; i < sent.table.nblocks; i++)
		free(sent.blocks[i].bytes);
	free(sent.message);
	memset(&sent, 0, sizeof(sent));
	sent.table.blocks = sent.blocks;
	sent.most_blocks = MOST_BLOCKS;
	sent.packer = (CsvPacker) {pack_bytes, NULL};
}

static bool
send_batch(const CsvBatch *batch, const CsvLayout *layout,
		   const CsvQuery *query)
{
	free(sent.message);
	sent.nbytes = csv_packed_bytes(layout->ncolumns);
	sent.message = malloc(sent.nbytes);
	return csv_pack(batch, layout->ncolumns, query, &sent.packer,
					(CsvPacked *) sent.message);
}

typedef struct Arrived
{
	CsvArray	arrays[CASE_MAX_COLUMNS];
	CsvAnswer	answer;
	CsvBatch	batch;
} Arrived;

static Arrived arrived;

static bool
receive(const uint8_t *message, size_t nbytes, const CsvLayout *layout,
		const CsvQuery *query)
{
	return csv_unpack(message, nbytes, &sent.table, layout, query, arrived.arrays,
					  &arrived.answer, &arrived.batch);
}

static bool
arrives(const CsvBatch *batch, const CsvLayout *layout, const CsvQuery *query)
{
	forget_sent();
	return send_batch(batch, layout, query) &&
		receive(sent.message, sent.nbytes, layout, query);
}

/* ---- what arrives ---- */

static void
expect_bytes(const void *found, const void *expected, size_t nbytes)
{
	if (nbytes == 0)
		return;
	assert_int_equal(found == NULL, expected == NULL);
	if (expected != NULL)
	{
		assert_ptr_not_equal(found, expected);
		assert_memory_equal(found, expected, nbytes);
	}
}

static void
expect_groups_arrived(const CsvPartialGroups *found,
					  const CsvPartialGroups *expected, const CsvQuery *query)
{
	size_t		n = expected->ngroups;
	CsvPartialLayout layout;

	csv_partial_lay_out(query, &layout);
	assert_int_equal(found->ngroups, n);
	assert_null(found->made);
	expect_bytes(found->keys, expected->keys, n * query->nkeys * 16);
	expect_bytes(found->nulls, expected->nulls, query->nkeys == 0 ? 0 : n * 4);
	expect_bytes(found->words, expected->words, n * layout.nwords * 8);
	expect_bytes(found->held, expected->held, n * 4);
	for (uint32_t g = 0; g < n; g++)
		for (uint32_t i = 0; i < query->nkeys + query->naggregates; i++)
		{
			CsvAggregateValue value[2];
			CsvValue   *texts[2] = {&value[0].extreme, &value[1].extreme};

			for (int k = 0; k < 2; k++)
				if (i < query->nkeys)
					csv_partial_key(query, k == 0 ? found : expected, g, i,
									texts[k]);
				else
					csv_partial_aggregate(query, &layout, k == 0 ? found : expected,
										  g, i - query->nkeys, &value[k]);
			assert_int_equal(texts[0]->length, texts[1]->length);
			expect_bytes(texts[0]->bytes, texts[1]->bytes, texts[1]->length);
		}
}

static void
expect_arrived(const CsvBatch *expected, const CsvLayout *layout,
			   const CsvQuery *query)
{
	const CsvBatch *found = &arrived.batch;
	const CsvAnswer *answer = expected->answer;
	size_t		n = answer == NULL ? expected->nrows : answer->selection.nrows;
	CsvBatch	bare[2] = {*found, *expected};

	/* all but pointers */
	for (int i = 0; i < 2; i++)
	{
		bare[i].arrays = NULL;
		bare[i].errors = NULL;
		bare[i].row_offsets = NULL;
		bare[i].row_lines = NULL;
		bare[i].bytes = NULL;
		bare[i].answer = NULL;
	}
	assert_memory_equal(&bare[0], &bare[1], sizeof(bare[0]));
	expect_bytes(found->bytes, expected->bytes, expected->nbytes);
	expect_bytes(found->errors, expected->errors,
				 expected->nerrors * sizeof(CsvError));
	expect_bytes(found->row_offsets, expected->row_offsets, n * 4);
	expect_bytes(found->row_lines, expected->row_lines, n * 4);
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		const CsvArray *array = &expected->arrays[i];

		assert_int_equal(found->arrays[i].stride, array->stride);
		assert_int_equal(found->arrays[i].all_ok, array->all_ok);
		assert_int_equal(found->arrays[i].any_slow, array->any_slow);
		expect_bytes(found->arrays[i].values, array->values, n * array->stride);
		expect_bytes(found->arrays[i].status, array->status, n);
	}
	assert_true(csv_check_values(found, layout));
	assert_int_equal(found->answer == NULL, answer == NULL);
	if (answer == NULL)
		return;
	assert_int_equal(found->answer->held, answer->held);
	assert_false(found->answer->is_whole);
	assert_int_equal(found->answer->selection.nrows, n);
	assert_int_equal(found->answer->selection.any_careful,
					 answer->selection.any_careful);
	assert_int_equal(found->answer->selection.ndropped,
					 answer->selection.ndropped);
	assert_int_equal(found->answer->selection.nbeyond,
					 answer->selection.nbeyond);
	expect_bytes(found->answer->selection.rows, answer->selection.rows, n * 4);
	expect_bytes(found->answer->selection.careful, answer->selection.careful,
				 n);
	expect_groups_arrived(&found->answer->groups, &answer->groups, query);
}

/* ---- all of it is looked at ---- */

/* what was looked at, so that it is */
static volatile uint64_t seen;

static void
look_at(const void *bytes, size_t nbytes)
{
	uint64_t	sum = 0;

	for (size_t i = 0; i < nbytes; i++)
		sum += ((const uint8_t *) bytes)[i];
	seen += sum;
}

static void
walk_record(const CsvBatch *batch, const CsvLayout *layout,
			const CsvDialect *dialect, uint32_t entry)
{
	CsvMeasure	measure;
	CsvScan		scan;

	memset(&scan, 0, sizeof(scan));
	if (csv_scan_row(&scan, &csv_thread_memory, dialect, batch, entry) != CSV_OK)
	{
		free(scan.separators);
		return;
	}
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		CsvSpan		span;

		if (layout->columns[i].field >= scan.nfields)
			continue;
		span = csv_scan_field(&scan, dialect, batch->bytes, batch->consumed,
							  layout->columns[i].field);
		csv_fast_measure(dialect, batch->bytes + span.offset, span.length, false,
						 NULL, &measure);
		look_at(batch->bytes + span.offset, span.length);
	}
	free(scan.separators);
}

static void
walk_errors(const CsvBatch *batch, const CsvLayout *layout,
			const CsvDialect *dialect)
{
	for (uint32_t i = 0; i < batch->nerrors; i++)
	{
		const CsvError *error = &batch->errors[i];

		/* a reader looks up the offsets of a kept batch */
		if (batch->is_resident)
			continue;
		look_at(batch->bytes + error->offset, error->length);
		if (error->code <= CSV_ERROR_COLUMN_COUNT)
			continue;
		look_at(&layout->columns[error->where], sizeof(CsvColumn));
		walk_record(batch, layout, dialect, (uint32_t) error->offset);
	}
}

static void
walk_value(const CsvColumn *column, const uint8_t *entry, uint32_t stride)
{
	CsvInt128	decimal = 0;
	uint32_t	header;

	switch (column->kind)
	{
		case CSV_KIND_TEXT:
			memcpy(&header, entry, 4);
			look_at(entry + 4, (header >> 2) - 4);
			break;
		case CSV_KIND_CSTRING:
			look_at(entry + 4, strlen((const char *) entry + 4));
			break;
		case CSV_KIND_NUMERIC:
			memcpy(&header, entry, 4);
			look_at(entry, header >> 2);
			(void) csv_decimal_from_numeric(entry, column->scale, &decimal);
			look_at(&decimal, sizeof(decimal));
			break;
		default:
			look_at(entry, stride);
			break;
	}
}

static void
walk_arrays(const CsvBatch *batch, const CsvLayout *layout,
			const CsvDialect *dialect, uint32_t n)
{
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		const CsvArray *array = &batch->arrays[i];
		const uint8_t *entry = array->values;

		if (array->status != NULL)
			look_at(array->status, n);
		if (array->values == NULL)
			continue;
		for (uint32_t row = 0; row < n; row++, entry += array->stride)
		{
			uint8_t		status = array->all_ok ? CSV_VALUE_OK :
				array->status[row];

			if (status == CSV_VALUE_OK)
				walk_value(&layout->columns[i], entry, array->stride);
			else if (status != CSV_VALUE_NULL)
				walk_record(batch, layout, dialect, batch->row_offsets[row]);
		}
	}
}

static void
walk_groups(const CsvPartialGroups *groups, const CsvQuery *query)
{
	CsvEvaluator *evaluator = csv_evaluator_create(&csv_thread_memory, query);
	CsvPartialLayout layout;

	csv_partial_lay_out(query, &layout);
	for (uint32_t g = 0; g < groups->ngroups; g++)
	{
		for (uint32_t i = 0; i < query->nkeys; i++)
		{
			CsvValue	key;

			csv_partial_key(query, groups, g, i, &key);
			look_at(&key, sizeof(key));
			look_at(key.bytes, key.length);
		}
		for (uint32_t i = 0; i < query->naggregates; i++)
		{
			CsvAggregateValue value;

			csv_partial_aggregate(query, &layout, groups, g, i, &value);
			look_at(value.extreme.bytes, value.extreme.length);
		}
	}
	if (groups->ngroups > 0)
		csv_evaluator_merge(evaluator, groups);
	csv_evaluator_free(evaluator);
}

/* as where no engine has answered */
static void
evaluate(const CsvBatch *batch, const CsvLayout *layout, const CsvQuery *query)
{
	CsvEvaluator *evaluator = csv_evaluator_create(&csv_thread_memory, query);
	CsvSelection selection;

	if (csv_evaluator_run(evaluator, layout, batch, NULL, NULL, NULL,
						  &selection) == CSV_OK)
		look_at(selection.rows, selection.nrows * sizeof(uint32_t));
	csv_evaluator_free(evaluator);
}

/* as those do who take a batch; `query`: what was asked, or could be; NULL: nothing */
static void
walk_batch(const CsvBatch *batch, const CsvLayout *layout,
		   const CsvDialect *dialect, const CsvQuery *query)
{
	const CsvAnswer *answer = batch->answer;
	uint32_t	n = batch->nrows;

	if (batch->bytes != NULL)
		look_at(batch->bytes, batch->nbytes);
	walk_errors(batch, layout, dialect);
	if (answer != NULL)
	{
		const CsvSelection *selection = &answer->selection;

		n = selection->nrows;
		look_at(selection->careful, n);
		for (uint32_t i = 0; i < n; i++)
			if (selection->rows[i] >= batch->nrows)
				abort();
		walk_groups(&answer->groups, query);
	}
	for (uint32_t i = 0; i < n && batch->row_offsets != NULL; i++)
	{
		look_at(&batch->row_lines[i], sizeof(uint32_t));
		if (batch->bytes != NULL)
			walk_record(batch, layout, dialect, batch->row_offsets[i]);
	}
	if (!csv_check_values(batch, layout))
		return;
	walk_arrays(batch, layout, dialect, n);
	if (answer == NULL && query != NULL)
		evaluate(batch, layout, query);
}

/* ---- what becomes of it on the way ---- */

/* many a damage to the message that was sent, and to what it tells of */
static void
damage_what_was_sent(const CsvLayout *layout, const CsvDialect *dialect,
					 const CsvQuery *query, uint32_t times)
{
	uint8_t    *message = malloc(sent.nbytes);

	for (uint32_t i = 0; i < times; i++)
	{
		CsvBlock   *block = &sent.blocks[random_below(sent.table.nblocks + 1)];
		uint8_t    *saved = NULL;

		memcpy(message, sent.message, sent.nbytes);
		for (uint32_t n = random_below(3); n > 0; n--)
			damage(message, sent.nbytes);
		if (one_in(2) && block < sent.blocks + sent.table.nblocks)
		{
			saved = memcpy(malloc(block->nbytes), block->bytes, block->nbytes);
			for (uint32_t n = 1 + random_below(3); n > 0; n--)
				damage(block->bytes, block->nbytes);
		}
		if (receive(message, sent.nbytes, layout, query))
			walk_batch(&arrived.batch, layout, dialect, query);
		if (saved != NULL)
			memcpy(block->bytes, saved, block->nbytes);
		free(saved);
	}
	free(message);
}

static void
expect_cut_to_be_refused(const CsvLayout *layout, const CsvQuery *query)
{
	uint8_t    *longer = malloc(sent.nbytes + 8);

	for (size_t n = 0; n < sent.nbytes; n += 1 + random_below(4))
	{
		uint8_t    *cut = memcpy(malloc(n + 1), sent.message, n);

		assert_false(receive(cut, n, layout, query));
		free(cut);
	}
	memcpy(longer, sent.message, sent.nbytes);
	memset(longer + sent.nbytes, 0, 8);
	for (size_t n = 1; n <= 8; n++)
		assert_false(receive(longer, sent.nbytes + n, layout, query));
	free(longer);
}

/* ---- batches of files ---- */

/* each batch of a file is sent, and damaged so many times */
static void
send_file(const Case *test_case, const Content *file, uint32_t times)
{
	CsvLayout	layout = case_layout(test_case);
	CsvReaderOptions options = {
		.dialect = test_case->dialect,
		.header_rows = test_case->header_rows,
		.max_record_bytes = test_case->max_record_bytes,
		.chunk_bytes = test_case->chunk_bytes
	};
	ContentSource		source = {file, 0};
	void	   *engine = csv_cpu_open(&csv_thread_memory, &(CsvCpuOptions) {
		.part_bytes = 1
	});
	CsvReader  *reader = csv_reader_create(&csv_thread_memory, &options);
	CsvBatch	batch;
	CsvStatus	status;

	csv_reader_set_engine(reader, &csv_cpu_engine, engine);
	assert_int_equal(csv_reader_open(reader, content_read, &source), CSV_OK);
	assert_int_equal(csv_reader_set_layout(reader, &layout), CSV_OK);
	for (int n = 0; n < 20 &&
		 (status = csv_reader_next(reader, &batch)) != CSV_END; n++)
	{
		assert_int_equal(status, CSV_OK);
		assert_true(arrives(&batch, &layout, NULL));
		expect_arrived(&batch, &layout, NULL);
		damage_what_was_sent(&layout, csv_reader_dialect(reader), NULL, times);
		if (n == 0 && sent.nbytes < 4000)
			expect_cut_to_be_refused(&layout, NULL);
	}
	csv_reader_free(reader);
	csv_cpu_engine.close(engine);
	forget_sent();
}

TEST(batches_of_files_arrive_or_are_refused)
{
	static Case test_case;
	uint64_t	seed = first_seed();

	for (uint32_t n = rounds(300); n > 0; n--, seed++)
	{
		Choices		choices = {.state = seed * UINT64_C(0x9E3779B97F4A7C15)};
		Content		file = {NULL, 0, 0};

		start_seed(seed);
		case_make(&test_case, &choices);
		content_make(&file, &test_case, &choices);
		if (test_case.layout.ncolumns < 200 && file.nbytes < 100000)
			send_file(&test_case, &file, 30);
		content_free(&file);
	}
	end_seeds();
}

/* ---- answers ---- */

/* the entries of the selected rows, in place of those of all */
static void
gather(Fixture *fixture, const CsvSelection *selection)
{
	for (uint32_t c = 0; c < fixture->layout.ncolumns; c++)
	{
		CsvArray   *array = &fixture->arrays[c];

		for (uint32_t i = 0; i < selection->nrows; i++)
		{
			memmove(array->values + (size_t) i * array->stride,
					array->values + (size_t) selection->rows[i] * array->stride,
					array->stride);
			array->status[i] = array->status[selection->rows[i]];
		}
	}
}

/* a batch has bytes, and places in them */
static void
add_places(CsvBatch *batch)
{
	batch->nbytes = batch->nrows * 2 + 1;
	batch->bytes = memset(malloc(batch->nbytes), '\n', batch->nbytes);
	batch->consumed = batch->nbytes - 1;
	batch->nlines = batch->nrows;
	batch->nrecords = batch->nrows;
	batch->row_offsets = calloc(batch->nrows + 1, 4);
	batch->row_lines = calloc(batch->nrows + 1, 4);
	for (uint32_t i = 0; i < batch->nrows; i++)
		batch->row_offsets[i] = random_below((uint32_t) batch->consumed);
	batch->file_offset = random_below(1000);
	batch->skip_line = one_in(2);
	batch->device_seconds = 0.5;
}

/* of an engine that answers, and holds a group now and then */
TEST(answers_arrive_or_are_refused)
{
	static Program program;
	CsvDialect	dialect;
	CsvDialectOptions options = {.delimiter = ',', .quote = '"'};
	uint64_t	seed = first_seed();

	csv_dialect_compile(&dialect, &options);
	for (uint32_t n = rounds(400); n > 0; n--, seed++)
	{
		Fixture		fixture;
		CsvBatch   *batch = &fixture.batch;
		CsvQuery   *query = &program.query;
		CsvAnswer  *answer;
		CsvPlan		plan;
		uint32_t   *held = NULL;
		uint8_t    *values[MAX_COLUMNS];

		start_seed(seed);
		memset(&fixture, 0, sizeof(fixture));
		random_columns(&fixture);
		fixture.null_in = one_in(2) ? 0 : 5;
		fixture.doubtful_in = one_in(2) ? 0 : 50;
		make_batch(&fixture, random_below(200));
		for (uint32_t c = 0; c < fixture.layout.ncolumns; c++)
			fixture.arrays[c].any_slow = !fixture.arrays[c].all_ok;
		random_program(&program, &fixture);
		if (!csv_plan_make(&plan, &csv_thread_memory, query, &fixture.layout,
						   CSV_MAX_REGISTERS, false))
		{
			free_batch(&fixture);
			continue;
		}
		answer = host_answer(&plan, &fixture.layout, batch);
		add_places(batch);
		gather(&fixture, &answer->selection);
		for (uint32_t c = 0; c < fixture.layout.ncolumns; c++)
		{
			values[c] = fixture.arrays[c].values;
			if (!answer->selection.any_careful && one_in(4))
				fixture.arrays[c].values = NULL;
		}
		if (query->aggregates && query->nkeys > 0 && one_in(2))
		{
			uint32_t	ngroups = answer->groups.ngroups;

			answer->held = true;
			held = malloc(ngroups * 4 + 4);
			for (uint32_t g = 0; g < ngroups; g++)
				held[g] = one_in(3) ? g : CSV_NOT_HELD;
			answer->groups.held = held;
		}
		batch->answer = answer;

		assert_true(arrives(batch, &fixture.layout, query));
		expect_arrived(batch, &fixture.layout, query);
		assert_false(receive(sent.message, sent.nbytes, &fixture.layout, NULL));
		damage_what_was_sent(&fixture.layout, &dialect, query, 50);
		if (n % 8 == 0)
			expect_cut_to_be_refused(&fixture.layout, query);

		for (uint32_t c = 0; c < fixture.layout.ncolumns; c++)
			fixture.arrays[c].values = values[c];
		free((uint8_t *) (uintptr_t) batch->bytes);
		free(batch->row_offsets);
		free(batch->row_lines);
		free(held);
		host_answer_free(answer);
		csv_plan_free(&plan, &csv_thread_memory);
		free_batch(&fixture);
	}
	forget_sent();
	end_seeds();
}

/* ---- a small batch, to be spoilt ---- */

typedef struct Small
{
	Program		program;
	CsvColumn	columns[2];
	CsvLayout	layout;
	CsvArray	arrays[2];
	int32_t		numbers[3];
	uint32_t	texts[3][3];
	uint8_t		status[3];
	uint32_t	offsets[3];
	uint32_t	lines[3];
	CsvError	errors[2];
	uint8_t		bytes[40];
	CsvBatch	batch;

	/* an answer by which two of the rows come out, */
	uint32_t	rows[2];
	uint8_t		careful[2];
	CsvAnswer	answer;

	/* and groups of a text and its lowest text */
	uint64_t	keys[2][2];
	uint32_t	nulls[2];
	int64_t		words[2][3];
	uint8_t		group_texts[8];
	uint32_t	held[2];
} Small;

/* three rows: "ab", "", NULL; a bad record before the first and after the last */
static void
make_small(Small *small)
{
	CsvAnswer  *answer = &small->answer;
	CsvBatch   *batch = &small->batch;

	memset(small, 0, sizeof(*small));
	small->columns[0] = column_of(CSV_KIND_INT4, 0);
	small->columns[1] = column_of(CSV_KIND_TEXT, 1);
	small->layout.nfields = 2;
	small->layout.ncolumns = 2;
	small->layout.columns = small->columns;
	small->layout.want_positions = true;
	small->arrays[0] = (CsvArray) {
		(uint8_t *) small->numbers, small->status, 4, false, false
	};
	small->arrays[1] = (CsvArray) {
		(uint8_t *) small->texts, small->status, 12, false, true
	};
	small->texts[0][0] = 6 << 2;
	small->texts[1][0] = 4 << 2;
	small->status[2] = CSV_VALUE_NULL;
	small->errors[0] = (CsvError) {
		.length = 3, .code = CSV_ERROR_COLUMN_COUNT, .where = 9
	};
	small->errors[1] = (CsvError) {
		.offset = 30, .length = 10, .record = 4, .before_row = 3,
		.code = CSV_ERROR_INVALID_UTF8, .where = 1
	};
	*batch = (CsvBatch) {
		.nrows = 3, .nrecords = 5, .nerrors = 2, .nlines = 4,
		.arrays = small->arrays, .errors = small->errors,
		.row_offsets = small->offsets, .row_lines = small->lines,
		.bytes = small->bytes, .nbytes = 40, .consumed = 35
	};
	small->offsets[2] = 20;

	start_program(&small->program);
	group_by_column(&small->program, CSV_LANE_TEXT, 1);
	add_aggregate(&small->program, CSV_AGGREGATE_MIN, CSV_LANE_TEXT, 0,
				  CSV_NO_REGISTER);
	small->rows[1] = 2;
	answer->selection.nrows = 2;
	answer->selection.rows = small->rows;
	answer->selection.careful = small->careful;
	answer->selection.ndropped = 1;
	answer->held = true;
	answer->groups = (CsvPartialGroups) {
		.ngroups = 2, .keys = small->keys[0], .nulls = small->nulls,
		.words = small->words[0], .texts = small->group_texts,
		.held = small->held
	};
	small->keys[0][1] = 5;
	small->nulls[1] = 1;
	small->words[0][0] = 1;
	small->words[0][1] = 5;
	small->words[0][2] = 3;
	small->words[1][1] = 1000;	/* which counts for nothing */
}

/* does it arrive? */
static bool
small_arrives(const Small *small)
{
	return arrives(&small->batch, &small->layout,
				   small->batch.answer == NULL ? NULL : &small->program.query);
}

#define REFUSED(change) \
	do \
	{ \
		make_small(&small); \
		change; \
		assert_false(small_arrives(&small)); \
	} while (0)

#define ACCEPTED(change) \
	do \
	{ \
		make_small(&small); \
		change; \
		assert_true(small_arrives(&small)); \
	} while (0)

TEST(what_contradicts_itself_is_refused)
{
	static Small small;

	ACCEPTED();
	REFUSED(small.batch.nrecords = 6);
	REFUSED(small.batch.consumed = 41);
	REFUSED(small.batch.bytes = NULL);
	REFUSED(small.batch.errors = NULL);

	/* errors */
	REFUSED(small.errors[0].code = CSV_ERROR_NONE);
	REFUSED(small.errors[0].code = CSV_ERROR_BAD_VALUE);
	REFUSED(small.errors[0].mode = CSV_NUM_MODES);
	REFUSED(small.errors[0].record = 1);
	REFUSED(small.errors[0].before_row = 1);
	REFUSED(small.errors[1].before_row = 4);
	REFUSED(small.errors[1].where = 2);
	REFUSED(small.errors[1].length = 11);
	REFUSED(small.errors[1].length = UINT64_MAX);
	REFUSED(small.errors[1].offset = 36; small.errors[1].length = 1);

	/* arrays */
	REFUSED(small.arrays[0].values = NULL);
	REFUSED(small.arrays[0].stride = 8);
	REFUSED(small.arrays[1].stride = 0);
	REFUSED(small.arrays[1].stride = 10);
	REFUSED(small.arrays[0].status = NULL);
	ACCEPTED(small.arrays[0].status = NULL; small.arrays[0].all_ok = true);
	REFUSED(small.arrays[0].all_ok = true; small.arrays[0].any_slow = true);

	/* places of rows */
	REFUSED(small.offsets[1] = 36);
	REFUSED(small.batch.row_lines = NULL);
	REFUSED(small.batch.row_offsets = NULL);
	REFUSED(small.batch.row_offsets = NULL; small.batch.row_lines = NULL);
	REFUSED(small.batch.row_offsets = NULL; small.batch.row_lines = NULL;
			small.layout.want_positions = false);
	ACCEPTED(small.batch.row_offsets = NULL; small.batch.row_lines = NULL;
			 small.layout.want_positions = false;
			 small.arrays[1].any_slow = false);
	forget_sent();
}

TEST(an_answer_that_contradicts_itself_is_refused)
{
	static Small small;

	ACCEPTED(small.batch.answer = &small.answer);
	ACCEPTED(small.batch.answer = &small.answer; small.arrays[1].values = NULL);
	REFUSED(small.batch.answer = &small.answer; small.arrays[1].values = NULL;
			small.answer.selection.any_careful = true);

	/* rows */
	REFUSED(small.batch.answer = &small.answer; small.rows[1] = 3);
	REFUSED(small.batch.answer = &small.answer; small.rows[1] = 0);
	REFUSED(small.batch.answer = &small.answer;
			small.answer.selection.rows = NULL);
	REFUSED(small.batch.answer = &small.answer;
			small.answer.selection.careful = NULL);
	REFUSED(small.batch.answer = &small.answer;
			small.answer.selection.nbeyond = 1);

	/* groups */
	REFUSED(small.batch.answer = &small.answer;
			small.program.query.aggregates = false);
	REFUSED(small.batch.answer = &small.answer;
			small.program.aggregates[0].kind = CSV_AGGREGATE_COUNT_DISTINCT);
	REFUSED(small.batch.answer = &small.answer; small.answer.held = false);
	ACCEPTED(small.batch.answer = &small.answer; small.answer.held = false;
			 small.answer.groups.held = NULL);
	REFUSED(small.batch.answer = &small.answer; small.words[0][0] = -1);
	REFUSED(small.batch.answer = &small.answer; small.words[0][0] = INT64_MAX);
	REFUSED(small.batch.answer = &small.answer;
			small.keys[0][0] = UINT64_MAX);
	REFUSED(small.batch.answer = &small.answer;
			small.answer.groups.texts = NULL);

	/* those of threads are not sent */
	REFUSED(small.batch.answer = &small.answer; small.answer.is_whole = true);
	forget_sent();
}

/* what is behind a text that a group has belongs to another one */
TEST(texts_of_groups_end_where_all_texts_do)
{
	static Small small;
	CsvPartialGroups groups;

	for (uint32_t length = 3; length < 6; length++)
	{
		make_small(&small);
		small.batch.answer = &small.answer;
		assert_true(small_arrives(&small));
		groups = arrived.answer.groups;
		for (uint32_t i = 0; i < sent.table.nblocks; i++)
			if (sent.blocks[i].bytes == (const uint8_t *) groups.words)
				((int64_t *) sent.blocks[i].bytes)[2] = length;
		assert_int_equal(receive(sent.message, sent.nbytes, &small.layout,
								 &small.program.query), length == 3);
	}
	forget_sent();
}

#define EXPECT_VALUES(good, change) \
	do \
	{ \
		ACCEPTED(change); \
		assert_int_equal(csv_check_values(&arrived.batch, &small.layout), good); \
	} while (0)

TEST(statuses_are_checked)
{
	static Small small;

	/* both columns have the same ones; only those of text may be long */
	EXPECT_VALUES(true,);
	EXPECT_VALUES(false, small.status[0] = CSV_VALUE_LONG);
	EXPECT_VALUES(true, small.status[0] = CSV_VALUE_LONG;
				  small.arrays[0].any_slow = true);
	EXPECT_VALUES(false, small.status[0] = CSV_VALUE_LONG + 1;
				  small.arrays[0].any_slow = true);
	EXPECT_VALUES(false, small.arrays[0].all_ok = true);
	forget_sent();
}

TEST(texts_are_checked)
{
	static Small small;

	EXPECT_VALUES(true, small.texts[0][0] = 12 << 2);
	EXPECT_VALUES(false, small.texts[0][0] = 13 << 2);
	EXPECT_VALUES(false, small.texts[0][0] = 3 << 2);
	EXPECT_VALUES(false, small.texts[0][0] = 6 << 2 | 2);
	EXPECT_VALUES(true, small.texts[2][0] = UINT32_MAX);	/* is NULL */

	/* there is a zero byte behind a string */
	EXPECT_VALUES(true, small.columns[1].kind = CSV_KIND_CSTRING);
	EXPECT_VALUES(false, small.columns[1].kind = CSV_KIND_CSTRING;
				  small.texts[0][1] = 0xffffff);
	EXPECT_VALUES(false, small.columns[1].kind = CSV_KIND_CSTRING;
				  small.texts[0][0] = 12 << 2);
	forget_sent();
}

TEST(numerics_are_checked)
{
	static const struct
	{
		uint32_t	nbytes;
		uint32_t	header;
		bool		good;
	}			entries[] = {
		{6, 0x8000, true}, {12, 0xA001, true}, {4, 0x8000, false},
		{7, 0x8000, false}, {14, 0x8000, false}, {6, 0x4000, false},
		{6, 0xC000, false}
	};
	static Small small;

	for (size_t i = 0; i < LENGTH(entries); i++)
		EXPECT_VALUES(entries[i].good, small.columns[1].kind = CSV_KIND_NUMERIC;
					  small.columns[1].precision = 12;
					  small.texts[0][0] = entries[i].nbytes << 2;
					  small.texts[0][1] = entries[i].header;
					  small.texts[1][0] = 6 << 2; small.texts[1][1] = 0x8000);
	forget_sent();
}

TEST(what_is_in_a_block_stays_there)
{
	static Small small;
	uint32_t	nblocks;

	make_small(&small);
	assert_true(small_arrives(&small));
	nblocks = sent.table.nblocks;
	assert_true(nblocks > 2);

	/* all of it is in one block */
	forget_sent();
	sent.blocks[0] = (CsvBlock) {(uint8_t *) &small, sizeof(small)};
	sent.table.nblocks = 1;
	sent.most_blocks = 1;
	small.batch.answer = &small.answer;
	assert_true(send_batch(&small.batch, &small.layout, &small.program.query));
	assert_true(receive(sent.message, sent.nbytes, &small.layout,
						&small.program.query));
	assert_ptr_equal(arrived.arrays[1].values, small.texts);
	assert_ptr_equal(arrived.batch.errors, small.errors);
	assert_ptr_equal(arrived.answer.groups.texts, small.group_texts);

	/* where the other side has it; a block that is not there is of no use */
	sent.table.nblocks = 0;
	assert_false(receive(sent.message, sent.nbytes, &small.layout,
						 &small.program.query));
	sent.table.nblocks = 1;
	sent.blocks[0].nbytes = offsetof(Small, held) + 7;
	assert_false(receive(sent.message, sent.nbytes, &small.layout,
						 &small.program.query));
	sent.blocks[0].nbytes++;
	assert_true(receive(sent.message, sent.nbytes, &small.layout,
						&small.program.query));
	sent.blocks[0].bytes++;
	assert_false(receive(sent.message, sent.nbytes, &small.layout,
						 &small.program.query));
	sent.table.nblocks = 0;
	forget_sent();

	/* there is no room for some of it */
	for (uint32_t most = 0; most < nblocks; most++)
	{
		make_small(&small);
		forget_sent();
		sent.most_blocks = most;
		assert_false(send_batch(&small.batch, &small.layout, NULL));
	}
	forget_sent();
}

TEST(groups_arrive_or_are_refused)
{
	static Small small;
	CsvPartialGroups *groups = &small.answer.groups;
	const CsvQuery *query = &small.program.query;
	const CsvLayout layout = {0};
	CsvAnswer	answer = {0};
	CsvBatch	batch = {.answer = &answer};

	for (uint32_t ngroups = 0; ngroups < 3; ngroups++)
		for (int held = 0; held < 2; held++)
		{
			bool		good;

			make_small(&small);
			groups->ngroups = ngroups;
			groups->held = held ? small.held : NULL;
			small.words[0][0] = INT64_C(1) << 40;
			answer.groups = *groups;
			forget_sent();
			assert_true(send_batch(&batch, &layout, query));
			good = receive(sent.message, sent.nbytes, &layout, query);
			assert_int_equal(good, !held || ngroups == 0);
			if (good)
				expect_groups_arrived(&arrived.answer.groups, groups, query);
			assert_false(receive(sent.message, sent.nbytes - 1, &layout, query));
			for (int i = 0; i < 2000; i++)
			{
				uint8_t    *message = memcpy(malloc(sent.nbytes), sent.message,
											 sent.nbytes);

				for (uint32_t n = 1 + random_below(3); n > 0; n--)
					damage(message, sent.nbytes);
				if (receive(message, sent.nbytes, &layout, query) &&
					arrived.batch.answer != NULL)
					walk_groups(&arrived.answer.groups, query);
				free(message);
			}
		}

	/* more rows than any file has */
	make_small(&small);
	answer.groups = *groups;
	small.words[0][0] = INT64_MAX;
	assert_false(send_batch(&batch, &layout, query));

	/* texts that are here and there, as those of threads */
	make_small(&small);
	answer.groups.texts = NULL;
	assert_false(send_batch(&batch, &layout, query));
	forget_sent();
}

/*
 * A kept batch has few records.  Offsets of rows and errors are looked up, whatever they
 * are.
 */
TEST(records_of_kept_batches_are_found)
{
	static Small small;
	CsvDialectOptions options = {.delimiter = ',', .quote = '"'};
	CsvKeptRecord records[] = {{20, 1}, {30, 5}, {UINT32_C(0x7fffffff), 40}};
	CsvDialect	dialect;
	CsvScan		scan = {0};

	csv_dialect_compile(&dialect, &options);
	make_small(&small);
	small.batch.is_resident = true;
	small.batch.records = records;
	small.batch.nkept = LENGTH(records);
	memcpy(small.bytes, "\0a,b\0c,d,e\n", 11);
	small.offsets[1] = 1000;
	small.errors[1].length = UINT64_MAX;
	assert_true(small_arrives(&small));
	assert_int_equal(csv_scan_row(&scan, &csv_thread_memory, &dialect, &arrived.batch, 30),
					 CSV_OK);
	assert_int_equal(scan.start, 5);
	assert_int_equal(scan.nfields, 3);
	for (uint32_t offset = 0; offset < 40; offset++)
		if (offset != 20 && offset != 30)
			assert_int_equal(csv_scan_row(&scan, &csv_thread_memory, &dialect,
										  &arrived.batch, offset), CSV_END);
	/* beyond the bytes */
	assert_int_equal(csv_scan_row(&scan, &csv_thread_memory, &dialect, &arrived.batch,
								  INT32_MAX), CSV_END);
	free(scan.separators);
	small.batch.records = NULL;
	assert_false(small_arrives(&small));
	forget_sent();
}
