/*
 * query.c
 *		Times queries over a file of generate's lineitem shapes, without a server.
 *
 *	query FILE
 *
 * The file is read into memory first.  TPC-H's Q1 (4 groups of 8 aggregates)
 * and Q6 (4 comparisons, the sum of a product), a sum of floats, and groups by
 * order (one for about 4 rows) and by part and supplier (nearly one a row) run
 * REPEAT (7) times each over the CPU engine's batches.  Prints nanoseconds a
 * row, minimum and median: "engine" from bytes to columns, "query" from columns
 * to groups.
 *
 * Where there is a GPU, the file's first CHUNK (512) MB are then read there at
 * once: "device" is its time, in milliseconds, without the query and with it,
 * copies aside; "resident" that of the query alone, over columns that stay
 * there, as the host sees it.  0: there is no answer.  ENGINES=cuda does nothing
 * else.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/query/query.h"
#include "content.h"
#ifdef CSV_WITH_CUDA
#include "../../cuda/csv_cuda.h"
#endif

#define MAX_REPEAT	101

/* ---- a query and the columns that it reads ---- */

typedef struct Program
{
	CsvQuery	query;
	CsvInstruction instructions[64];
	CsvConstant constants[16];
	uint16_t	filters[8];
	CsvKey		keys[4];
	CsvAggregate aggregates[16];
	CsvColumn	columns[16];
	uint32_t	ncolumns;
} Program;

/* of lineitem */
enum
{
	ORDERKEY, PARTKEY, SUPPKEY, LINENUMBER, QUANTITY, EXTENDEDPRICE, DISCOUNT,
	TAX, RETURNFLAG, LINESTATUS, SHIPDATE, NFIELDS = 16
};

static CsvInstruction *
add(Program *program, CsvOperation operation, CsvLane lane)
{
	CsvInstruction *instruction =
		&program->instructions[program->query.ninstructions++];

	instruction->operation = (uint8_t) operation;
	instruction->lane = (uint8_t) lane;
	instruction->bits = 64;
	instruction->result = (uint16_t) program->query.nregisters++;
	return instruction;
}

/* columns are asked for in the order of fields */
static uint16_t
column(Program *program, uint32_t field, CsvKind kind)
{
	CsvColumn  *wanted = &program->columns[program->ncolumns];
	CsvInstruction *load = add(program, CSV_OP_COLUMN,
							   kind == CSV_KIND_TEXT ? CSV_LANE_TEXT :
							   kind == CSV_KIND_FLOAT8 ? CSV_LANE_FLOAT :
							   kind == CSV_KIND_DECIMAL64 ? CSV_LANE_DECIMAL :
							   CSV_LANE_INT);

	wanted->field = field;
	wanted->attnum = field + 1;
	wanted->kind = (uint8_t) kind;
	wanted->max_chars = -1;
	wanted->byte_width = -1;
	wanted->type_chars = kind == CSV_KIND_TEXT ? 1 : -1;
	wanted->pad_blanks = kind == CSV_KIND_TEXT;
	wanted->precision = 15;
	wanted->scale = 2;
	if (kind == CSV_KIND_TEXT)
		load->flags = CSV_FLAG_TRIM;
	load->operand = program->ncolumns++;
	return load->result;
}

static uint16_t
constant(Program *program, CsvLane lane, int64_t value)
{
	CsvInstruction *load = add(program, CSV_OP_CONSTANT, lane);
	CsvConstant *made = &program->constants[program->query.nconstants];

	load->operand = program->query.nconstants++;
	made->lane = (uint8_t) lane;
	if (lane == CSV_LANE_DECIMAL)
		made->value.decimal = value;
	else
		made->value.integer = value;
	return load->result;
}

static uint16_t
operation(Program *program, CsvOperation operation, CsvLane lane, uint16_t a,
		  uint16_t b)
{
	CsvInstruction *instruction = add(program, operation, lane);

	instruction->a = a;
	instruction->b = b;
	return instruction->result;
}

/* rows whose value compares so with a constant */
static void
filter(Program *program, CsvOperation compare, CsvLane lane, uint16_t value,
	   int64_t with)
{
	program->filters[program->query.nfilters++] =
		operation(program, compare, lane, value, constant(program, lane, with));
	program->query.nfilter_instructions = program->query.ninstructions;
}

static void
key(Program *program, CsvLane lane, uint16_t value)
{
	program->keys[program->query.nkeys].lane = (uint8_t) lane;
	program->keys[program->query.nkeys++].value = value;
}

static void
aggregate(Program *program, CsvAggregateKind kind, CsvLane lane,
		  uint16_t argument)
{
	CsvAggregate *made = &program->aggregates[program->query.naggregates++];

	made->kind = (uint8_t) kind;
	made->lane = (uint8_t) lane;
	made->argument = argument;
	made->filter = CSV_NO_REGISTER;
}

/* days since 2000-01-01 */
#define DAY_1994_01_01	(-2191)
#define DAY_1995_01_01	(-1826)
#define DAY_1998_09_02	(-486)

static void
make_q1(Program *program)
{
	uint16_t	quantity = column(program, QUANTITY, CSV_KIND_DECIMAL64);
	uint16_t	price = column(program, EXTENDEDPRICE, CSV_KIND_DECIMAL64);
	uint16_t	discount = column(program, DISCOUNT, CSV_KIND_DECIMAL64);
	uint16_t	tax = column(program, TAX, CSV_KIND_DECIMAL64);
	uint16_t	flag = column(program, RETURNFLAG, CSV_KIND_TEXT);
	uint16_t	status = column(program, LINESTATUS, CSV_KIND_TEXT);
	uint16_t	date = column(program, SHIPDATE, CSV_KIND_DATE);
	uint16_t	one = constant(program, CSV_LANE_DECIMAL, 100);
	uint16_t	left;
	uint16_t	net;
	uint16_t	charge;

	filter(program, CSV_OP_LESS_EQUAL, CSV_LANE_INT, date, DAY_1998_09_02);
	left = operation(program, CSV_OP_SUBTRACT, CSV_LANE_DECIMAL, one, discount);
	net = operation(program, CSV_OP_MULTIPLY, CSV_LANE_DECIMAL, price, left);
	charge = operation(program, CSV_OP_MULTIPLY, CSV_LANE_DECIMAL, net,
					   operation(program, CSV_OP_ADD, CSV_LANE_DECIMAL, one,
								 tax));
	key(program, CSV_LANE_TEXT, flag);
	key(program, CSV_LANE_TEXT, status);

	/* averages are of these sums */
	aggregate(program, CSV_AGGREGATE_SUM, CSV_LANE_DECIMAL, quantity);
	aggregate(program, CSV_AGGREGATE_SUM, CSV_LANE_DECIMAL, price);
	aggregate(program, CSV_AGGREGATE_SUM, CSV_LANE_DECIMAL, net);
	aggregate(program, CSV_AGGREGATE_SUM, CSV_LANE_DECIMAL, charge);
	aggregate(program, CSV_AGGREGATE_SUM, CSV_LANE_DECIMAL, quantity);
	aggregate(program, CSV_AGGREGATE_SUM, CSV_LANE_DECIMAL, price);
	aggregate(program, CSV_AGGREGATE_SUM, CSV_LANE_DECIMAL, discount);
	aggregate(program, CSV_AGGREGATE_COUNT_ROWS, CSV_LANE_INT, CSV_NO_REGISTER);
}

static void
make_q6(Program *program)
{
	uint16_t	quantity = column(program, QUANTITY, CSV_KIND_DECIMAL64);
	uint16_t	price = column(program, EXTENDEDPRICE, CSV_KIND_DECIMAL64);
	uint16_t	discount = column(program, DISCOUNT, CSV_KIND_DECIMAL64);
	uint16_t	date = column(program, SHIPDATE, CSV_KIND_DATE);

	filter(program, CSV_OP_GREATER_EQUAL, CSV_LANE_INT, date, DAY_1994_01_01);
	filter(program, CSV_OP_LESS, CSV_LANE_INT, date, DAY_1995_01_01);
	filter(program, CSV_OP_GREATER_EQUAL, CSV_LANE_DECIMAL, discount, 5);
	filter(program, CSV_OP_LESS_EQUAL, CSV_LANE_DECIMAL, discount, 7);
	filter(program, CSV_OP_LESS, CSV_LANE_DECIMAL, quantity, 2400);
	aggregate(program, CSV_AGGREGATE_SUM, CSV_LANE_DECIMAL,
			  operation(program, CSV_OP_MULTIPLY, CSV_LANE_DECIMAL, price,
						discount));
}

static void
make_floats(Program *program)
{
	uint16_t	quantity = column(program, QUANTITY, CSV_KIND_FLOAT8);
	uint16_t	price = column(program, EXTENDEDPRICE, CSV_KIND_FLOAT8);
	uint16_t	flag = column(program, RETURNFLAG, CSV_KIND_TEXT);

	key(program, CSV_LANE_TEXT, flag);
	aggregate(program, CSV_AGGREGATE_SUM, CSV_LANE_FLOAT, quantity);
	aggregate(program, CSV_AGGREGATE_SUM, CSV_LANE_FLOAT, price);
}

static void
make_orders(Program *program)
{
	uint16_t	order = column(program, ORDERKEY, CSV_KIND_INT8);
	uint16_t	price = column(program, EXTENDEDPRICE, CSV_KIND_DECIMAL64);

	key(program, CSV_LANE_INT, order);
	aggregate(program, CSV_AGGREGATE_COUNT_ROWS, CSV_LANE_INT, CSV_NO_REGISTER);
	aggregate(program, CSV_AGGREGATE_SUM, CSV_LANE_DECIMAL, price);
}

static void
make_parts(Program *program)
{
	uint16_t	part = column(program, PARTKEY, CSV_KIND_INT4);
	uint16_t	supplier = column(program, SUPPKEY, CSV_KIND_INT4);
	uint16_t	price = column(program, EXTENDEDPRICE, CSV_KIND_DECIMAL64);

	key(program, CSV_LANE_INT, part);
	key(program, CSV_LANE_INT, supplier);
	aggregate(program, CSV_AGGREGATE_COUNT_ROWS, CSV_LANE_INT, CSV_NO_REGISTER);
	aggregate(program, CSV_AGGREGATE_SUM, CSV_LANE_DECIMAL, price);
}

/* ---- measuring ---- */

static int
repeats(void)
{
	const char *text = getenv("REPEAT");
	int			repeat = text != NULL ? atoi(text) : 7;

	return repeat < 1 || repeat > MAX_REPEAT ? 7 : repeat;
}

#ifdef CSV_WITH_CUDA
static CsvSession *session;

/* the least time of the device for a chunk, in seconds; 0: it does not answer */
static double
device_time(void *cuda, const CsvInput *input, bool answered, uint32_t *ngroups)
{
	double		least = 0;

	for (int i = -1; i < repeats(); i++)
	{
		CsvBatch	batch;

		memset(&batch, 0, sizeof(batch));
		if (csv_cuda_engine.parse(cuda, input, &batch) != CSV_OK)
			exit(1);
		if (answered && batch.answer == NULL)
			return 0;
		if (answered)
			*ngroups = batch.answer->groups.ngroups;
		if (i >= 0 && (least == 0 || batch.device_seconds < least))
			least = batch.device_seconds;
	}
	return least;
}

/*
 * The least time of an answer over the chunk's columns once they stay on the
 * device, in seconds, with all that the host waits for; 0: there is none.
 */
static double
resident_time(void *cuda, const CsvInput *input, const CsvRequest *request,
			  const CsvLayout *layout)
{
	uint32_t	places[16];
	uint8_t		seen[16] = {0};
	const CsvCudaQuestion question = {request, layout, places, seen, 0, NULL,
	NULL};
	CsvCudaColumns *columns;
	CsvBatch	batch;
	char		reason[256];
	double		least = 0;

	memset(&batch, 0, sizeof(batch));
	if (csv_cuda_engine.parse(cuda, input, &batch) != CSV_OK)
		exit(1);
	columns = csv_cuda_columns_create(session, layout->ncolumns, batch.nrows);
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		const CsvArray *array = &batch.arrays[i];

		places[i] = i;
		if (!array->all_ok || columns == NULL ||
			!csv_cuda_columns_add(columns, CSV_CUDA_VALUES(i), 0, array->stride,
								  array->values, array->stride, batch.nrows, 0,
								  reason, sizeof(reason)))
			exit(1);
	}
	for (int i = -1; i < repeats(); i++)
	{
		uint32_t	nrows = batch.nrows;
		double		began = csv_bench_now();
		double		seconds;
		CsvAnswer  *answer;

		if (csv_cuda_columns_answer(columns, &question, 0, &nrows, &answer,
									reason, sizeof(reason)) != CSV_OK)
			exit(1);
		if (answer == NULL)
			break;
		csv_cuda_answer_free(session, answer);
		seconds = csv_bench_now() - began;
		if (i >= 0 && (least == 0 || seconds < least))
			least = seconds;
	}
	csv_cuda_columns_free(columns);
	return least;
}

static void
measure_device(const char *name, const CsvQuery *query,
			   const CsvLayout *layout, const CsvBenchContent *content)
{
	const char *chunk_text = getenv("CHUNK");
	uint64_t	chunk = (uint64_t) (chunk_text != NULL ? atoi(chunk_text) :
									512) << 20;
	const bool	hidden[16] = {false};
	const CsvRequest request = {query, hidden, false};
	CsvCudaOptions options;
	CsvDialectOptions dialect_options;
	CsvDialect	dialect;
	CsvInput	input;
	CsvMemory	memory = csv_cuda_pinned(session);
	uint8_t    *bytes;
	char		reason[256];
	void	   *cuda;
	uint32_t	ngroups = 0;
	double		without;
	double		with;
	double		resident;

	memset(&options, 0, sizeof(options));
	cuda = csv_cuda_open(session, &options, &csv_thread_memory, reason,
						 sizeof(reason));
	if (cuda == NULL)
		return;
	memset(&dialect_options, 0, sizeof(dialect_options));
	dialect_options.delimiter = ',';
	dialect_options.quote = '"';
	dialect_options.multiline = true;
	csv_dialect_compile(&dialect, &dialect_options);
	memset(&input, 0, sizeof(input));
	input.nbytes = content->nbytes < chunk ? content->nbytes : chunk;
	bytes = memory.alloc(memory.owner, input.nbytes + 128);
	if (bytes == NULL)
		exit(1);
	memset(bytes, 0, 64);
	memcpy(bytes + 64, content->bytes, input.nbytes);
	memset(bytes + 64 + input.nbytes, 0, 64);
	input.bytes = bytes + 64;
	input.max_record_bytes = 16 * 1024 * 1024;
	if (csv_cuda_engine.configure(cuda, &dialect, layout) != CSV_OK)
		exit(1);
	without = device_time(cuda, &input, false, &ngroups);
	resident = resident_time(cuda, &input, &request, layout);
	if (!csv_cuda_engine.set_query(cuda, &request))
		exit(1);
	with = device_time(cuda, &input, true, &ngroups);
	printf("%-8s %9llu bytes %8u groups  device %6.2f %6.2f resident %6.2f ms\n",
		   name, (unsigned long long) input.nbytes, ngroups, without * 1e3,
		   with * 1e3, resident * 1e3);
	memory.free(memory.owner, bytes);
	csv_cuda_engine.close(cuda);
}
#endif

static void
measure(const char *name, void (*make) (Program *program),
		CsvBenchContent *content)
{
	static const uint8_t nothing[1];
	const char *engines = getenv("ENGINES");
	int			repeat = repeats();
	double		engine_times[MAX_REPEAT] = {0};
	double		query_times[MAX_REPEAT] = {0};
	const CsvCpuOptions cpu = {.isa = CSV_ISA_BEST, .threads = 1};
	CsvReaderOptions options;
	CsvLayout	layout;
	Program		program;

	memset(&program, 0, sizeof(program));
	make(&program);
	program.query.instructions = program.instructions;
	program.query.constants = program.constants;
	program.query.filters = program.filters;
	program.query.aggregates = true;
	program.query.keys = program.keys;
	program.query.aggregate = program.aggregates;
	memset(&options, 0, sizeof(options));
	options.dialect.delimiter = ',';
	options.dialect.quote = '"';
	options.dialect.multiline = true;
	options.max_record_bytes = 16 * 1024 * 1024;
	memset(&layout, 0, sizeof(layout));
	layout.nfields = NFIELDS;
	layout.decimal_separator = '.';
	layout.null_bytes = nothing;
	layout.ncolumns = program.ncolumns;
	layout.columns = program.columns;

#ifdef CSV_WITH_CUDA
	measure_device(name, &program.query, &layout, content);
#endif
	if (engines != NULL && strcmp(engines, "cuda") == 0)
		return;
	for (int i = -1; i < repeat; i++)	/* once to warm up */
	{
		CsvEvaluator *evaluator = csv_evaluator_create(&csv_thread_memory,
													   &program.query);
		void	   *state = csv_cpu_open(&csv_thread_memory, &cpu);
		CsvReader  *reader = csv_reader_create(&csv_thread_memory, &options);
		CsvBatch	batch;
		CsvSelection selection;
		uint64_t	nrows = 0;
		uint64_t	ncareful = 0;
		double		engine = 0;
		double		query = 0;

		content->position = 0;
		if (evaluator == NULL || state == NULL || reader == NULL ||
			csv_reader_set_engine(reader, &csv_cpu_engine, state) != CSV_OK ||
			csv_reader_open(reader, csv_bench_read, content) != CSV_OK ||
			csv_reader_set_layout(reader, &layout) != CSV_OK)
			exit(1);
		while (csv_reader_next(reader, &batch) == CSV_OK)
		{
			double		began = csv_bench_now();

			if (csv_evaluator_run(evaluator, &layout, &batch, NULL, NULL, NULL,
								  &selection) != CSV_OK)
				exit(1);
			query += csv_bench_now() - began;
			engine += batch.parse_seconds;
			nrows += batch.nrows;
			ncareful += selection.nrows;
		}
		if (i < 0)
			printf("%-8s %9llu rows %8llu careful %8u groups of %6.1f bytes",
				   name, (unsigned long long) nrows,
				   (unsigned long long) ncareful,
				   csv_evaluator_ngroups(evaluator),
				   (double) csv_evaluator_group_bytes(evaluator) /
				   csv_evaluator_ngroups(evaluator));
		else
		{
			engine_times[i] = engine / (double) nrows * 1e9;
			query_times[i] = query / (double) nrows * 1e9;
		}
		csv_reader_free(reader);
		csv_cpu_engine.close(state);
		csv_evaluator_free(evaluator);
	}
	qsort(engine_times, (size_t) repeat, sizeof(double), csv_bench_compare);
	qsort(query_times, (size_t) repeat, sizeof(double), csv_bench_compare);
	printf("  engine %6.1f %6.1f  query %6.1f %6.1f ns/row\n",
		   engine_times[0], engine_times[repeat / 2], query_times[0],
		   query_times[repeat / 2]);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	CsvBenchContent content;

	if (argc != 2 || !csv_bench_load(argv[1], &content))
	{
		fprintf(stderr, "usage: query FILE\n");
		return 2;
	}
#ifdef CSV_WITH_CUDA
	session = csv_cuda_session_create(0);
	if (session == NULL)
		return 1;
#endif
	measure("Q1", make_q1, &content);
	measure("Q6", make_q6, &content);
	measure("floats", make_floats, &content);
	measure("orders", make_orders, &content);
	measure("parts", make_parts, &content);
	free(content.bytes);
	return 0;
}
