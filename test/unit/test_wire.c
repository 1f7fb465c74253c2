/*
 * test_wire.c
 *		Requests as bytes: there and back; lengths and bounds that are wrong.
 */
#include "unit.h"
#include "../../src/query/operate.h"
#include "../../src/query/plan.h"
#include "../differential/case.h"
#include "../../src/reader/arrays.h"
#include "../../src/reader/footer.h"
#include "../../src/wire/request.h"
#include "compare_query.h"

/* a request of one's own */
typedef struct Made
{
	Fixture		fixture;
	Program		program;
	bool		hidden[MAX_COLUMNS];
	CsvRequest	request;
	CsvWireRequest wire;
} Made;

static const CsvDialectOptions usual_dialect = {
	.delimiter = ',', .quote = '"', .multiline = true
};

static void *
alloc_some(void *owner, size_t nbytes)
{
	(void) owner;
	return nbytes > CSV_WIRE_MOST_BYTES ? NULL : malloc(nbytes);
}

static void
free_some(void *owner, void *memory)
{
	(void) owner;
	free(memory);
}

static const CsvMemory some_memory = {alloc_some, free_some, NULL};

/* as a decoder should find them: a copy with nothing behind it; free() it */
static uint8_t *
bytes_alone(const uint8_t *bytes, size_t nbytes)
{
	uint8_t    *copy = malloc(nbytes + (nbytes == 0));

	assert_true(copy != NULL);
	if (nbytes > 0)
		memcpy(copy, bytes, nbytes);
	return copy;
}

/* decode, and demand that encoding gives the same bytes; NULL: refused */
static CsvWireRequest *
decode_again(const uint8_t *bytes, size_t nbytes)
{
	uint8_t    *copy = bytes_alone(bytes, nbytes);
	CsvWireRequest *decoded = csv_wire_decode_request(copy, nbytes, &some_memory);
	CsvWireRequest *second;
	uint8_t    *again;
	uint8_t    *third;
	size_t		again_nbytes;

	free(copy);
	if (decoded == NULL)
		return NULL;

	/* addresses in the bytes do not count; nothing else is lost */
	again = csv_wire_encode_request(decoded, &some_memory, &again_nbytes);
	assert_true(again != NULL && again_nbytes == nbytes);
	second = csv_wire_decode_request(again, nbytes, &some_memory);
	assert_non_null(second);
	third = csv_wire_encode_request(second, &some_memory, &again_nbytes);
	assert_true(third != NULL && again_nbytes == nbytes);
	assert_true(memcmp(third, again, nbytes) == 0);
	csv_free(&some_memory, second);
	free(third);
	free(again);
	return decoded;
}

/* the layout that a server would have for the fixture's columns */
static void
complete_layout(Fixture *fixture)
{
	CsvLayout  *layout = &fixture->layout;

	layout->columns = fixture->columns;
	layout->nfields = layout->ncolumns + random_below(3);
	layout->encoding = CSV_ENCODING_UTF8;
	layout->decimal_separator = '.';
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		CsvColumn  *column = &fixture->columns[i];

		column->field = i;
		column->attnum = i + 1;
		column->max_chars = -1;
		column->byte_width = -1;
		if (csv_lane_of_kind(column->kind) == CSV_LANE_DECIMAL &&
			column->kind != CSV_KIND_SCALED)
			continue;
		column->precision = -1;
		column->scale = 0;
	}
}

static void
add_random_order(Program *program, const Fixture *fixture)
{
	CsvQuery   *query = &program->query;

	query->limit = random_below(60);
	query->limit_bytes = SIZE_MAX;
	for (uint32_t n = 1 + random_below(4); n > 0; n--)
	{
		CsvOrderKey *key = &program->order[query->norder++];

		key->lane = (uint8_t) random_below(5);
		key->descending = one_in(2);
		key->nulls_first = one_in(2);
		key->value = random_expression(program, fixture, key->lane, false,
									   (int) random_below(3));
	}
	if (one_in(3))
		program->checked[query->nchecked++] =
			random_expression(program, fixture, CSV_LANE_INT, false, 2);
}

static void
make_request(Made *made)
{
	memset(made, 0, sizeof(*made));
	random_columns(&made->fixture);
	random_program(&made->program, &made->fixture);
	if (!made->program.query.aggregates && one_in(2))
		add_random_order(&made->program, &made->fixture);
	complete_layout(&made->fixture);
	for (uint32_t i = 0; i < made->fixture.layout.ncolumns; i++)
		made->hidden[i] = one_in(2);
	made->request.query = &made->program.query;
	made->request.hidden = made->hidden;
	made->request.may_hold = one_in(2);
	made->wire.dialect = usual_dialect;
	made->wire.max_record_bytes = 1 + random_below(1000000);
	made->wire.chunk_bytes = random_below(1000000);
	made->wire.layout = &made->fixture.layout;
	made->wire.request = &made->request;
}

/* encoded twice, since nothing but the request may count; free() it */
static uint8_t *
encode(const CsvWireRequest *wire, size_t *nbytes)
{
	uint8_t    *bytes = csv_wire_encode_request(wire, &some_memory, nbytes);
	size_t		again_nbytes;
	uint8_t    *again = csv_wire_encode_request(wire, &some_memory,
												&again_nbytes);

	assert_non_null(bytes);
	assert_non_null(again);
	assert_int_equal(again_nbytes, *nbytes);
	assert_memory_equal(again, bytes, *nbytes);
	free(again);
	return bytes;
}

/* ---- there and back ---- */

static void
expect_bytes(const void *found, const void *expected, size_t nbytes)
{
	if (nbytes > 0)
		assert_memory_equal(found, expected, nbytes);
}

/* all but pointers, as bytes; then what they point to */
static void
expect_layout(const CsvLayout *found, const CsvLayout *expected)
{
	CsvLayout	bare[2] = {*found, *expected};

	for (int i = 0; i < 2; i++)
	{
		bare[i].null_bytes = bare[i].default_bytes = bare[i].null_values = NULL;
		bare[i].columns = NULL;
	}
	assert_memory_equal(&bare[0], &bare[1], sizeof(bare[0]));
	expect_bytes(found->null_bytes, expected->null_bytes,
				 expected->null_length);
	expect_bytes(found->default_bytes, expected->default_bytes,
				 expected->default_length);
	expect_bytes(found->null_values, expected->null_values,
				 expected->null_values_length);
	expect_bytes(found->columns, expected->columns,
				 expected->ncolumns * sizeof(CsvColumn));
}

static void
expect_query(const CsvQuery *found, const CsvQuery *expected)
{
	CsvQuery	bare[2] = {*found, *expected};

	for (int i = 0; i < 2; i++)
	{
		bare[i].instructions = NULL;
		bare[i].constants = NULL;
		bare[i].text = NULL;
		bare[i].filters = bare[i].checked = NULL;
		bare[i].keys = NULL;
		bare[i].aggregate = NULL;
		bare[i].order = NULL;
	}
	assert_memory_equal(&bare[0], &bare[1], sizeof(bare[0]));
	expect_bytes(found->instructions, expected->instructions,
				 expected->ninstructions * sizeof(CsvInstruction));
	expect_bytes(found->constants, expected->constants,
				 expected->nconstants * sizeof(CsvConstant));
	expect_bytes(found->text, expected->text, expected->text_length);
	expect_bytes(found->filters, expected->filters,
				 expected->nfilters * sizeof(uint16_t));
	expect_bytes(found->keys, expected->keys, expected->nkeys * sizeof(CsvKey));
	expect_bytes(found->aggregate, expected->aggregate,
				 expected->naggregates * sizeof(CsvAggregate));
	expect_bytes(found->order, expected->order, expected->norder * sizeof(CsvOrderKey));
	expect_bytes(found->checked, expected->checked,
				 expected->nchecked * sizeof(uint16_t));
}

static void
expect_request(const CsvWireRequest *found, const CsvWireRequest *expected)
{
	assert_memory_equal(&found->dialect, &expected->dialect, sizeof(found->dialect));
	assert_int_equal(found->max_record_bytes, expected->max_record_bytes);
	assert_int_equal(found->chunk_bytes, expected->chunk_bytes);
	expect_layout(found->layout, expected->layout);
	assert_int_equal(found->request == NULL, expected->request == NULL);
	if (expected->request == NULL)
		return;
	assert_int_equal(found->request->may_hold, expected->request->may_hold);
	expect_bytes(found->request->hidden, expected->request->hidden,
				 expected->layout->ncolumns * sizeof(bool));
	expect_query(found->request->query, expected->request->query);
}

static CsvWireRequest *
there_and_back(const CsvWireRequest *wire)
{
	size_t		nbytes;
	uint8_t    *bytes = encode(wire, &nbytes);
	CsvWireRequest *decoded = decode_again(bytes, nbytes);

	assert_non_null(decoded);
	expect_request(decoded, wire);
	free(bytes);
	return decoded;
}

TEST(layouts_come_back)
{
	static Case test_case;
	const uint32_t nrounds = rounds(2000);
	uint64_t	seed = first_seed();

	for (uint32_t round = 0; round < nrounds; round++, seed++)
	{
		Choices		choices = {.state = seed};
		CsvWireRequest wire;
		CsvWireRequest *decoded;
		CsvLayout	layout;

		start_seed(seed);
		case_make(&test_case, &choices);
		layout = case_layout(&test_case);
		if (!layout.has_default)
			layout.default_length = 0;
		if (layout.ncolumns > 1600)
			layout.ncolumns = 1600;
		wire.dialect = test_case.dialect;
		wire.max_record_bytes = test_case.max_record_bytes;
		wire.chunk_bytes = test_case.chunk_bytes;
		wire.layout = &layout;
		wire.request = NULL;
		decoded = there_and_back(&wire);
		csv_free(&some_memory, decoded);
	}
	end_seeds();
}

/* and mean the same */
TEST(queries_come_back)
{
	static Made made;
	const uint32_t nrounds = rounds(1500);
	uint64_t	seed = first_seed();

	for (uint32_t round = 0; round < nrounds; round++, seed++)
	{
		const CsvQuery *query = &made.program.query;
		CsvWireRequest *decoded;
		CsvEvaluator *expected;
		CsvEvaluator *found;
		CsvSelection a;
		CsvSelection b;

		start_seed(seed);
		make_request(&made);
		decoded = there_and_back(&made.wire);
		make_batch(&made.fixture, random_below(200));
		expected = evaluator_of(query);
		found = evaluator_of(decoded->request->query);
		a = run_batch(expected, &made.fixture.layout, &made.fixture.batch, NULL);
		b = run_batch(found, decoded->layout, &made.fixture.batch, NULL);
		assert_int_equal(a.nrows, b.nrows);
		assert_int_equal(a.ndropped, b.ndropped);
		expect_bytes(a.rows, b.rows, a.nrows * sizeof(uint32_t));
		expect_bytes(a.careful, b.careful, a.nrows);
		if (query->aggregates)
			expect_groups(query, found, expected);
		csv_evaluator_free(expected);
		csv_evaluator_free(found);
		csv_free(&some_memory, decoded);
		free_batch(&made.fixture);
	}
	end_seeds();
}

/* ---- what nobody has made ---- */

/* with a text that is no longer than it must be: most bytes count */
static uint8_t *
encode_random(uint64_t seed, Made *made, size_t *nbytes)
{
	start_seed(seed);
	make_request(made);
	made->program.query.text_length = made->program.query.nconstants * 32;
	return encode(&made->wire, nbytes);
}

TEST(what_is_cut_off_is_refused)
{
	static Made made;

	for (uint64_t seed = 1; seed <= 20; seed++)
	{
		size_t		nbytes;
		uint8_t    *bytes = encode_random(seed, &made, &nbytes);
		uint8_t    *longer = malloc(nbytes + 1);

		for (size_t n = 0; n < nbytes; n++)
			assert_null(decode_again(bytes, n));
		memcpy(longer, bytes, nbytes);
		longer[nbytes] = 0;
		assert_null(decode_again(longer, nbytes + 1));
		free(longer);
		free(bytes);
	}
	end_seeds();
}

TEST(what_is_changed_stays_within_itself)
{
	static Made made;
	const uint32_t nrounds = rounds(300);
	uint64_t	seed = first_seed();
	uint32_t	nrefused = 0;
	uint32_t	nsound = 0;

	for (uint32_t round = 0; round < nrounds; round++, seed++)
	{
		size_t		nbytes;
		uint8_t    *bytes = encode_random(seed, &made, &nbytes);

		for (int i = 0; i < 100; i++)
		{
			uint8_t    *changed = bytes_alone(bytes, nbytes);
			CsvWireRequest *decoded;

			for (uint32_t n = 1 + random_below(3); n > 0; n--)
				damage(changed, nbytes);
			decoded = decode_again(changed, nbytes);
			nrefused += decoded == NULL;
			nsound += decoded != NULL;
			if (decoded != NULL)
				csv_free(&some_memory, decoded);
			free(changed);
		}
		free(bytes);
	}
	end_seeds();
	assert_true(nrefused > nrounds && nsound > nrounds);
}

static void
make_simple(Made *made)
{
	Program    *program = &made->program;

	memset(made, 0, sizeof(*made));
	for (int kind = 0; kind < CSV_NUM_KINDS; kind++)
		add_column(&made->fixture, (CsvKind) kind, 10, 2);
	start_program(program);
	for (uint32_t kind = 0; kind < CSV_NUM_KINDS; kind++)
		add_load(program, csv_lane_of_kind((uint8_t) kind), kind);
	random_state = 1;
	complete_layout(&made->fixture);
	made->request.query = &program->query;
	made->request.hidden = made->hidden;
	made->wire.dialect = usual_dialect;
	made->wire.max_record_bytes = 1000;
	made->wire.layout = &made->fixture.layout;
	made->wire.request = &made->request;
}

static bool
is_accepted(const Made *made)
{
	size_t		nbytes;
	uint8_t    *bytes = encode(&made->wire, &nbytes);
	CsvWireRequest *decoded = decode_again(bytes, nbytes);

	free(bytes);
	if (decoded == NULL)
		return false;
	csv_free(&some_memory, decoded);
	return true;
}

/* the simple request, after a change */
#define AFTER(change, accepted) \
	do \
	{ \
		make_simple(&made); \
		change; \
		if (is_accepted(&made) != (accepted)) \
			fail_msg("%s", #change); \
	} while (0)
#define REFUSED(change)		AFTER(change, false)
#define ACCEPTED(change)	AFTER(change, true)

TEST(bounds_are_kept)
{
	static Made made;
	CsvDialectOptions *dialect = &made.wire.dialect;
	CsvLayout  *layout = &made.fixture.layout;
	CsvColumn  *columns = made.fixture.columns;

	ACCEPTED((void) 0);
	ACCEPTED(made.wire.request = NULL);
	ACCEPTED((dialect->delimiter_rest_length = 7, memcpy(dialect->delimiter_rest, ",,; \t#\xff", 7)));
	REFUSED((dialect->delimiter_rest_length = 8, memset(dialect->delimiter_rest, ';', 7)));
	REFUSED(dialect->quoting = CSV_QUOTING_LENIENT);
	ACCEPTED((dialect->comment_length = 8, memcpy(dialect->comment, "#,\"\n4567", 8)));
	REFUSED((dialect->comment_length = 9, dialect->comment[0] = '#'));
	ACCEPTED(dialect->footer_rows = CSV_MAX_FOOTER_ROWS);
	REFUSED(dialect->footer_rows = CSV_MAX_FOOTER_ROWS + 1);
	ACCEPTED(dialect->boundary = CSV_BOUNDARY_CR);
	REFUSED(dialect->boundary = 4);
	REFUSED(made.wire.max_record_bytes = 0);
	REFUSED(made.wire.max_record_bytes = UINT32_MAX);
	REFUSED(made.wire.chunk_bytes = UINT64_MAX);

	REFUSED(layout->nfields = CSV_NUM_KINDS - 1);
	REFUSED(layout->nfields = CSV_MAX_FIELDS + 1);
	REFUSED(columns[3].kind = CSV_NUM_KINDS);
	ACCEPTED(columns[CSV_KIND_NUMERIC].precision = 1000);
	REFUSED(columns[CSV_KIND_NUMERIC].precision = 1001);
	REFUSED(columns[CSV_KIND_NUMERIC].scale = -1);
	REFUSED(memset(columns[CSV_KIND_DATE].pattern, '-', CSV_PATTERN_STEPS));
	ACCEPTED(memset(columns[CSV_KIND_DATE].pattern, '-', CSV_PATTERN_STEPS - 1));
	REFUSED((columns[3].nulls_from = 1, columns[3].nulls_to = 1));
	ACCEPTED((layout->null_values = (const uint8_t *) "\2NA\0",
			  layout->null_values_length = 4, columns[3].nulls_to = 3,
			  columns[4].nulls_from = 3, columns[4].nulls_to = 4));
}

TEST(what_is_too_large_is_not_made)
{
	static Made made;
	size_t		nbytes;
	uint8_t    *text = calloc(CSV_WIRE_MOST_BYTES, 1);

	make_simple(&made);
	made.program.query.text = text;
	made.program.query.text_length = CSV_WIRE_MOST_BYTES;
	assert_null(csv_wire_encode_request(&made.wire, &some_memory, &nbytes));
	free(text);
}
