/*
 * carry_out.c
 *		Does what a request asks for: see carry_out.h.
 */
#include "carry_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/query/plan.h"
#include "../../src/query/team.h"
#include "host_answer.h"
#include "one_group.h"

#define MOST_BYTES		((size_t) 64 * 1024 * 1024)
#define FILE_BYTES		(256 * 1024)
#define NRECORDS		40
#define VALUES_OF_KIND	6
#define MARGIN			64		/* see CsvInput */

static void *
alloc_some(void *owner, size_t nbytes)
{
	(void) owner;
	return nbytes > MOST_BYTES ? NULL : malloc(nbytes);
}

static void
free_some(void *owner, void *memory)
{
	(void) owner;
	free(memory);
}

const CsvMemory some_memory = {alloc_some, free_some, NULL};

static void
demand(bool holds, const char *what)
{
	if (holds)
		return;
	printf("not so: %s\n", what);
	fflush(stdout);
	abort();
}

#define DEMAND(condition)	demand(condition, #condition)

/* ---- a file ---- */

/* the last of each may be doubtful */
static const char *const values_of_kind[CSV_NUM_KINDS][VALUES_OF_KIND] = {
	[CSV_KIND_TEXT] = {"a", "b ", "", "a b a", "a longer text", "\xC3\xA9"},
	[CSV_KIND_CSTRING] = {"a", "b", "", "{}", "(1)", "x"},
	[CSV_KIND_BOOL] = {"t", "f", "", "true", "0", "?"},
	[CSV_KIND_INT2] = {"0", "1", "", "32767", "-32768", "x"},
	[CSV_KIND_INT4] = {"0", "1", "", "2147483647", "-2147483648", "x"},
	[CSV_KIND_INT8] = {"0", "1", "", "9223372036854775807", "-7", "x"},
	[CSV_KIND_FLOAT4] = {"0", "1.5", "", "3.4e38", "-0", "NaN"},
	[CSV_KIND_FLOAT8] = {"0", "-2.5", "", "1.7e308", "-0", "1e-310"},
	[CSV_KIND_NUMERIC] = {"0", "0.25", "", "0.1", "-0.4", "99999999999999999"},
	[CSV_KIND_DATE] = {"2000-01-01", "1999-12-31", "", "0044-03-15",
	"9999-12-31", "infinity"},
	[CSV_KIND_TIMESTAMP] = {"2000-01-01 00:00:00", "1970-01-01 01:02:03", "",
	"2001-02-03 04:05:06", "9999-12-31 23:59:59", "-infinity"},
	[CSV_KIND_TIMESTAMPTZ] = {"2000-01-01 00:00:00+00",
	"2001-02-03 04:05:06+01", "", "1970-01-01 00:00:00+00",
	"9999-12-31 23:59:59+00", "infinity"},
	[CSV_KIND_UUID] = {"00000000-0000-0000-0000-000000000001",
	"ffffffff-ffff-ffff-ffff-ffffffffffff", "",
	"00000000-0000-0000-0000-000000000000",
	"0123456789abcdef0123456789abcdef", "?"},
	[CSV_KIND_DECIMAL64] = {"0", "0.25", "", "0.1", "-0.4", "99999999"},
	[CSV_KIND_DECIMAL128] = {"0", "0.25", "", "0.1", "-0.4",
	"99999999999999999999"},
	[CSV_KIND_SCALED] = {"0", "0.250", "", "10", "-0.4", "1e3"}
};

/* as many records as there is room for; its length */
static size_t
write_file(const CsvWireRequest *wire, char *file)
{
	const CsvLayout *layout = wire->layout;
	const char *line_break = wire->dialect.boundary == CSV_BOUNDARY_CR ? "\r" :
		wire->dialect.boundary == CSV_BOUNDARY_CRLF ? "\r\n" : "\n";
	size_t		nbytes = 0;

	for (uint32_t record = 0; record < NRECORDS; record++)
	{
		uint32_t	nvalues = VALUES_OF_KIND - (record % 4 != 0);
		uint32_t	column = 0;

		for (uint32_t field = 0; field < layout->nfields; field++)
		{
			const char *value = "x";

			while (column < layout->ncolumns &&
				   layout->columns[column].field < field)
				column++;
			if (column < layout->ncolumns &&
				layout->columns[column].field == field)
				value = values_of_kind[layout->columns[column].kind]
					[(record + record / VALUES_OF_KIND * field + field) %
					 nvalues];
			if (nbytes + 64 > FILE_BYTES)
				return nbytes;
			if (field > 0)
				file[nbytes++] = (char) wire->dialect.delimiter;
			nbytes += (size_t) sprintf(file + nbytes, "%s", value);
		}
		nbytes += (size_t) sprintf(file + nbytes, "%s", line_break);
	}
	return nbytes;
}

/* ---- a query ---- */

/* whatever can be asked of groups */
static void
look_at_groups(const CsvEvaluator *evaluator, const CsvQuery *query)
{
	CsvValue	value;
	CsvAggregateValue aggregate;

	for (uint32_t g = 0; g < csv_evaluator_ngroups(evaluator); g++)
	{
		for (uint32_t i = 0; i < query->nkeys; i++)
			get_key(evaluator, g, i, &value);
		for (uint32_t i = 0; i < query->naggregates; i++)
			get_aggregate(evaluator, g, i, &aggregate);
	}
}

static void
expect_same_rows(const CsvSelection *a, const CsvSelection *b)
{
	DEMAND(a->nrows == b->nrows && a->ndropped == b->ndropped);
	DEMAND(a->any_careful == b->any_careful);
	for (uint32_t i = 0; i < a->nrows; i++)
		DEMAND(a->rows[i] == b->rows[i] && a->careful[i] == b->careful[i]);
}

/* an evaluator that has seen the batch; NULL: no memory */
static CsvEvaluator *
evaluate(const CsvWireRequest *wire, const CsvBatch *batch,
		 const uint8_t *wanted, CsvSelection *selection)
{
	const CsvQuery *query = wire->request->query;
	CsvEvaluator *evaluator = csv_evaluator_create(&some_memory, query);

	if (evaluator == NULL)
		return NULL;
	if (csv_evaluator_run(evaluator, wire->layout, batch, wanted, NULL, NULL,
						  selection) != CSV_OK)
	{
		csv_evaluator_free(evaluator);
		return NULL;
	}
	if (query->aggregates)
		look_at_groups(evaluator, query);
	return evaluator;
}

/* as a device does it: what comes to this evaluator, and to this selection */
static void
compare_plan(const CsvWireRequest *wire, const CsvBatch *batch,
			 const CsvEvaluator *evaluator, const CsvSelection *selection)
{
	const CsvQuery *query = wire->request->query;
	CsvEvaluator *merged = csv_evaluator_create(&some_memory, query);
	CsvAnswer  *answer;
	CsvPlan		plan;

	if (merged != NULL &&
		csv_plan_make(&plan, &some_memory, query, wire->layout,
					  CSV_MAX_REGISTERS, false))
	{
		answer = host_answer(&plan, wire->layout, batch);
		expect_same_rows(&answer->selection, selection);
		if (query->aggregates &&
			csv_evaluator_merge(merged, &answer->groups) == CSV_OK)
		{
			DEMAND(csv_evaluator_ngroups(merged) ==
				   csv_evaluator_ngroups(evaluator));
			look_at_groups(merged, query);
		}
		host_answer_free(answer);
		csv_plan_free(&plan, &some_memory);
	}
	if (merged != NULL)
		csv_evaluator_free(merged);
}

/* with doubtful values, and without */
static void
evaluate_and_compare(const CsvWireRequest *wire, const CsvBatch *batch)
{
	uint8_t    *doubtful = calloc(batch->nrows + 1, 1);
	CsvSelection selection;
	CsvEvaluator *evaluator = evaluate(wire, batch, NULL, &selection);

	if (evaluator != NULL)
		csv_evaluator_free(evaluator);
	csv_find_doubtful(batch, wire->layout->ncolumns, doubtful);
	evaluator = evaluate(wire, batch, doubtful, &selection);
	if (evaluator != NULL)
	{
		compare_plan(wire, batch, evaluator, &selection);
		csv_evaluator_free(evaluator);
	}
	free(doubtful);
}

void
carry_out(const CsvWireRequest *wire)
{
	static const CsvCpuOptions options = {.isa = CSV_ISA_BEST};
	static uint8_t room[MARGIN + FILE_BYTES + MARGIN];
	static void *engine = NULL;
	CsvDialect	dialect;
	CsvInput	input;
	CsvBatch	batch;

	if (engine == NULL)
		engine = csv_cpu_open(&some_memory, &options);
	DEMAND(engine != NULL);
	csv_dialect_compile(&dialect, &wire->dialect);
	memset(&input, 0, sizeof(input));
	memset(&batch, 0, sizeof(batch));
	input.bytes = room + MARGIN;
	input.nbytes = write_file(wire, (char *) room + MARGIN);
	input.max_record_bytes = wire->max_record_bytes;
	input.at_end = true;
	if (csv_cpu_engine.configure(engine, &dialect, wire->layout) != CSV_OK ||
		csv_cpu_engine.parse(engine, &input, &batch) != CSV_OK)
		return;
	if (wire->request != NULL)
		evaluate_and_compare(wire, &batch);
}

/* ---- bytes ---- */

uint8_t *
bytes_alone(const uint8_t *bytes, size_t nbytes)
{
	uint8_t    *copy = malloc(nbytes + (nbytes == 0));

	DEMAND(copy != NULL);
	if (nbytes > 0)
		memcpy(copy, bytes, nbytes);
	return copy;
}

CsvWireRequest *
decode_again(const uint8_t *bytes, size_t nbytes)
{
	uint8_t    *copy = bytes_alone(bytes, nbytes);
	CsvWireRequest *decoded;
	CsvWireRequest *second;
	uint8_t    *again;
	uint8_t    *third;
	size_t		again_nbytes;
	bool		good = csv_wire_decode_request(copy, nbytes, &some_memory,
											   &decoded);

	free(copy);
	DEMAND(good == (decoded != NULL));
	if (!good)
		return NULL;

	/* addresses in the bytes do not count; nothing else is lost */
	again = csv_wire_encode_request(decoded, &some_memory, &again_nbytes);
	DEMAND(again != NULL && again_nbytes == nbytes);
	DEMAND(csv_wire_decode_request(again, nbytes, &some_memory, &second));
	third = csv_wire_encode_request(second, &some_memory, &again_nbytes);
	DEMAND(third != NULL && again_nbytes == nbytes);
	DEMAND(memcmp(third, again, nbytes) == 0);
	csv_wire_free_request(second, &some_memory);
	free(third);
	free(again);
	return decoded;
}
