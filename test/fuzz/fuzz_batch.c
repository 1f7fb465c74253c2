/*
 * fuzz_batch.c
 *		libFuzzer: messages about batches, and what they tell of.
 *
 * The input's first byte chooses a sound message; the rest changes it, or the
 * blocks that it is about.  A change is two bytes that say where, counting through
 * the message and then the blocks, one whose low bits say how long it is, and the
 * bytes that come there.  What is decoded is looked at, all of it.
 */
#include <stdlib.h>
#include <string.h>

#include "../unit/host_answer.h"
#include "../unit/walk.h"
#include "../../src/wire/packed.h"

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

#define MOST_BLOCKS		64
#define NCOLUMNS		6
#define NO				CSV_NO_REGISTER

/* ---- what is read, and asked ---- */

static const char file[] =
	"a,b,1.50,1,1.5,2.25\n"
	"a long text,c,,2,x,3\n"
	"bad\n"
	"\"q\"\"q\",,-7,,1e300,\n"
	",d,0.01,\xC3,4,4\n"
	"a,\"e\nf\",12345678.90,5,-0,1.00\n"
	"\"open,1\n"
	"b,g,99,6,nan,-8.5\n";

static const CsvColumn columns[NCOLUMNS] = {
#define COLUMN(number, of_kind, of_precision, of_scale) \
	{.field = number, .attnum = number + 1, .kind = of_kind, .max_chars = -1, \
	 .byte_width = -1, .type_chars = -1, .precision = of_precision, \
	 .scale = of_scale}
	COLUMN(0, CSV_KIND_TEXT, -1, 0),
	COLUMN(1, CSV_KIND_CSTRING, -1, 0),
	COLUMN(2, CSV_KIND_NUMERIC, 10, 2),
	COLUMN(3, CSV_KIND_INT4, -1, 0),
	COLUMN(4, CSV_KIND_FLOAT8, -1, 0),
	COLUMN(5, CSV_KIND_DECIMAL64, 10, 2)
};

static const CsvLayout layout = {
	.nfields = NCOLUMNS, .decimal_separator = '.', .want_positions = true,
	.null_bytes = (const uint8_t *) "", .default_bytes = (const uint8_t *) "",
	.ncolumns = NCOLUMNS, .columns = columns
};

static const CsvLayout no_columns = {0};

static const CsvInstruction instructions[] = {
#define LOAD(column, of_lane, to) \
	{.operation = CSV_OP_COLUMN, .lane = of_lane, .bits = 64, .result = to, \
	 .operand = column}
	LOAD(3, CSV_LANE_INT, 0),
	{.operation = CSV_OP_IS_NULL, .lane = CSV_LANE_INT, .result = 1, .a = 0},
	{.operation = CSV_OP_NOT, .lane = CSV_LANE_INT, .result = 2, .a = 1},
	LOAD(0, CSV_LANE_TEXT, 3),
	LOAD(2, CSV_LANE_DECIMAL, 4),
	LOAD(4, CSV_LANE_FLOAT, 5),
	LOAD(5, CSV_LANE_DECIMAL, 6)
};

static const uint16_t filters[] = {2};
static const CsvKey keys[] = {{CSV_LANE_TEXT, 3}, {CSV_LANE_INT, 1}};
static const CsvAggregate aggregates[] = {
	{CSV_AGGREGATE_COUNT_ROWS, CSV_LANE_INT, NO, NO},
	{CSV_AGGREGATE_SUM, CSV_LANE_INT, 0, NO},
	{CSV_AGGREGATE_MIN, CSV_LANE_TEXT, 3, NO},
	{CSV_AGGREGATE_MAX, CSV_LANE_FLOAT, 5, 1},
	{CSV_AGGREGATE_SUM, CSV_LANE_DECIMAL, 4, NO},
	{CSV_AGGREGATE_MAX, CSV_LANE_DECIMAL, 6, NO}
};

static const CsvQuery queries[2] = {
	{.nregisters = 7, .ninstructions = 7, .instructions = instructions,
		.aggregates = true, .nkeys = 2, .keys = keys, .naggregates = 6,
	.aggregate = aggregates},
	{.nregisters = 3, .ninstructions = 3, .nfilter_instructions = 3,
	.instructions = instructions, .nfilters = 1, .filters = filters}
};

/* ---- sound messages ---- */

typedef struct Message
{
	const CsvQuery *query;
	const CsvLayout *layout;	/* groups alone are of no columns */
	uint8_t    *bytes;
	size_t		nbytes;
	CsvBlock	blocks[MOST_BLOCKS];
	uint32_t	nblocks;
} Message;

typedef enum Choice
{
	CHOOSE_ROWS,
	CHOOSE_GROUPS_OF_ROWS,
	CHOOSE_SELECTED_ROWS,
	CHOOSE_GROUPS,
	NUM_CHOICES
} Choice;

static Message messages[NUM_CHOICES];
static CsvDialect dialect;

/* each part in a block of its own */
static void *
pack_bytes(void *arg, const void *bytes, size_t nbytes)
{
	Message    *message = arg;
	CsvBlock   *block = &message->blocks[message->nblocks];

	if (message->nblocks == MOST_BLOCKS)
		abort();
	block->bytes = memcpy(malloc(nbytes), bytes, nbytes);
	block->nbytes = nbytes;
	return csv_packed_pointer(message->nblocks++, 0);
}

/* the entries of the selected rows, as an engine that answers has them */
static void
gather(CsvBatch *batch, const CsvSelection *selection)
{
	for (uint32_t c = 0; c < NCOLUMNS; c++)
	{
		CsvArray   *array = &batch->arrays[c];

		for (uint32_t i = 0; i < selection->nrows; i++)
		{
			memmove(array->values + (size_t) i * array->stride,
					array->values + (size_t) selection->rows[i] * array->stride,
					array->stride);
			array->status[i] = array->status[selection->rows[i]];
		}
	}
	for (uint32_t i = 0; i < selection->nrows; i++)
	{
		batch->row_offsets[i] = batch->row_offsets[selection->rows[i]];
		batch->row_lines[i] = batch->row_lines[selection->rows[i]];
	}
}

static void
make_message(Choice choice)
{
	Message    *message = &messages[choice];
	CsvPacker	packer = {pack_bytes, message};
	void	   *engine = csv_cpu_open(&csv_thread_memory, &(CsvCpuOptions) {0});
	CsvInput	input = {
		.bytes = (const uint8_t *) file, .nbytes = sizeof(file) - 1,
		.max_record_bytes = 1000, .at_end = true
	};
	uint8_t    *bytes = calloc(1, 64 + sizeof(file) + 64);
	CsvAnswer  *answer;
	CsvBatch	batch;
	CsvPlan		plan;

	/* with margins */
	input.bytes = memcpy(bytes + 64, file, sizeof(file) - 1);
	memset(&batch, 0, sizeof(batch));
	message->query = &queries[choice == CHOOSE_SELECTED_ROWS];
	if (csv_cpu_engine.configure(engine, &dialect, &layout) != CSV_OK ||
		csv_cpu_engine.parse(engine, &input, &batch) != CSV_OK ||
		!csv_plan_make(&plan, &csv_thread_memory, message->query, &layout,
					   CSV_MAX_REGISTERS, false))
		abort();
	answer = host_answer(&plan, &layout, &batch);
	message->layout = choice == CHOOSE_GROUPS ? &no_columns : &layout;
	message->nbytes = csv_packed_bytes(message->layout->ncolumns);
	message->bytes = malloc(message->nbytes);
	if (choice == CHOOSE_GROUPS)
	{
		memset(&batch, 0, sizeof(batch));
		memset(&answer->selection, 0, sizeof(answer->selection));
	}
	else if (choice != CHOOSE_ROWS)
		gather(&batch, &answer->selection);
	if (choice != CHOOSE_ROWS)
		batch.answer = answer;
	if (!csv_pack(&batch, message->layout->ncolumns, message->query, &packer,
				  (CsvPacked *) message->bytes))
		abort();
	host_answer_free(answer);
	csv_plan_free(&plan, &csv_thread_memory);
	csv_cpu_engine.close(engine);
	free(bytes);
}

/* ---- changes ---- */

/* bytes that come at a place of the message, or of a block */
static void
change(Message *message, size_t place, const uint8_t *bytes, size_t nbytes)
{
	uint8_t    *part = message->bytes;
	size_t		part_bytes = message->nbytes;

	for (uint32_t i = 0; place >= part_bytes; i++)
	{
		place -= part_bytes;
		if (i == message->nblocks)
			return;
		part = message->blocks[i].bytes;
		part_bytes = message->blocks[i].nbytes;
	}
	if (nbytes > part_bytes - place)
		nbytes = part_bytes - place;
	memcpy(part + place, bytes, nbytes);
}

static void *
copy_of(const void *bytes, size_t nbytes)
{
	return memcpy(malloc(nbytes), bytes, nbytes);
}

static void
receive(const Message *message)
{
	CsvBlocks	blocks = {message->blocks, message->nblocks};
	CsvArray	arrays[NCOLUMNS];
	CsvAnswer	answer;
	CsvBatch	batch;

	if (csv_unpack(message->bytes, message->nbytes, &blocks, message->layout,
				   message->query, arrays, &answer, &batch) &&
		(message->layout == &layout || batch.answer != NULL))
		walk_batch(&batch, message->layout, &dialect, message->query);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	CsvDialectOptions options = {
		.delimiter = ',', .quote = '"', .multiline = true
	};
	const uint8_t *end = data + nbytes;
	Message		message;

	if (messages[0].bytes == NULL)
	{
		csv_dialect_compile(&dialect, &options);
		for (int i = 0; i < NUM_CHOICES; i++)
			make_message((Choice) i);
	}
	if (nbytes == 0)
		return 0;
	message = messages[*data++ % NUM_CHOICES];
	message.bytes = copy_of(message.bytes, message.nbytes);
	for (uint32_t i = 0; i < message.nblocks; i++)
		message.blocks[i].bytes = copy_of(message.blocks[i].bytes,
										  message.blocks[i].nbytes);
	while (end - data >= 3)
	{
		size_t		place = data[0] | (size_t) data[1] << 8;
		size_t		width = (size_t) 1 << (data[2] & 3);

		data += 3;
		if (width > (size_t) (end - data))
			break;
		change(&message, place, data, width);
		data += width;
	}
	receive(&message);
	for (uint32_t i = 0; i < message.nblocks; i++)
		free(message.blocks[i].bytes);
	free(message.bytes);
	return 0;
}
