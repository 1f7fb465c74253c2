/*
 * warm.cu
 *		Starts a session in a thread of its own, and has CUDA load the kernels
 *		there, before a scan waits for them.
 */
#include "call.h"

#include <stdlib.h>
#include <string.h>

/* a column of every kind */
static void
make_layout(CsvLayout *layout, CsvColumn *columns)
{
	for (int kind = 0; kind < CSV_NUM_KINDS; kind++)
	{
		CsvColumn  *column = &columns[kind];

		column->field = (uint32_t) kind;
		column->attnum = (uint32_t) kind + 1;
		column->kind = (uint8_t) kind;
		column->max_chars = -1;
		column->byte_width = -1;
		column->type_chars = -1;
		column->precision = kind == CSV_KIND_DECIMAL64 ||
			kind == CSV_KIND_DECIMAL128 ? 15 : -1;
		column->scale = column->precision < 0 ? 0 : 2;
	}
	layout->nfields = CSV_NUM_KINDS;
	layout->decimal_separator = '.';
	layout->null_bytes = (const uint8_t *) "";
	layout->default_bytes = (const uint8_t *) "";
	layout->ncolumns = CSV_NUM_KINDS;
	layout->columns = columns;
}

/* parse without a query; with a group per INT8; and with BOOL as a filter */
static void
parse_all_ways(CsvCuda *cuda, const CsvDialect *dialect,
			   const CsvLayout *layout, const CsvInput *input)
{
	const CsvEngine *engine = &csv_cuda_engine;
	CsvInstruction instruction = {};
	CsvKey		key = {CSV_LANE_INT, 0};
	uint16_t	filter = 0;
	CsvQuery	query = {};
	bool		hidden[CSV_NUM_KINDS] = {};
	CsvRequest	request = {};
	CsvBatch	batch;

	instruction.operation = CSV_OP_COLUMN;
	instruction.operand = CSV_KIND_INT8;
	query.nregisters = 1;
	query.ninstructions = 1;
	query.instructions = &instruction;
	query.aggregates = true;
	query.nkeys = 1;
	query.keys = &key;
	request.query = &query;
	request.hidden = hidden;
	if (engine->configure(cuda, dialect, layout) != CSV_OK ||
		engine->parse(cuda, input, &batch) != CSV_OK ||
		!engine->set_query(cuda, &request) ||
		engine->parse(cuda, input, &batch) != CSV_OK)
		return;
	instruction.operand = CSV_KIND_BOOL;
	query.aggregates = false;
	query.nkeys = 0;
	query.nfilter_instructions = 1;
	query.nfilters = 1;
	query.filters = &filter;
	if (engine->set_query(cuda, &request))
		engine->parse(cuda, input, &batch);
}

/*
 * CUDA loads a kernel at its first launch, which takes a millisecond.  So read a few
 * records: a column of every kind, a value for each column, a field for warps, and a
 * record with an error; and evaluate two queries over them.
 */
static void
warm(CsvSession *session)
{
	static const char good[] = "x,x,t,1,1,1,1.5,1.5,1.5,2000-01-01,"
		"2000-01-01 00:00:00,2000-01-01 00:00:00,"
		"00000000-0000-0000-0000-000000000000,1.5,1.5\n";
	const size_t good_bytes = sizeof(good) - 1;
	const size_t long_bytes = 2 * CSV_LONG_FIELD_BYTES;
	const size_t nbytes = 2 + good_bytes + long_bytes + good_bytes;
	const CsvCudaOptions options = {};
	CsvDialectOptions dialect_options = {};
	CsvDialect	dialect;
	CsvLayout	layout = {};
	CsvColumn	columns[CSV_NUM_KINDS] = {};
	CsvInput	input = {};
	CsvCuda    *cuda = csv_cuda_make(session, &options, &csv_thread_memory);
	uint8_t    *bytes = (uint8_t *) calloc(1, nbytes + 128);

	if (cuda != NULL && bytes != NULL)
	{
		dialect_options.delimiter = ',';
		dialect_options.quote = '"';
		dialect_options.escape = '"';
		dialect_options.boundary = CSV_BOUNDARY_AUTO;
		dialect_options.multiline = true;
		csv_dialect_compile(&dialect, &dialect_options);
		make_layout(&layout, columns);
		input.bytes = bytes + 64;
		input.nbytes = nbytes;
		input.at_end = true;
		input.max_record_bytes = nbytes;
		memcpy(bytes + 64, "x\n", 2);
		memcpy(bytes + 66, good, good_bytes);
		memset(bytes + 66 + good_bytes, 'x', long_bytes);
		memcpy(bytes + 66 + good_bytes + long_bytes, good, good_bytes);
		parse_all_ways(cuda, &dialect, &layout, &input);
		csv_table_warm();
	}
	if (cuda != NULL)
		csv_cuda_engine.close(cuda);
	free(bytes);
}

bool
csv_cuda_start(CsvSession *session)
{
	return csv_session_start(session, warm);
}
