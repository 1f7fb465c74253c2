/*
 * engine.c
 *		Times the engines by themselves, without a server.
 *
 *	engine LAYOUT FILE [RESULTS.csv]
 *
 * LAYOUT says what FILE holds: lineitem, tiny or wide (see generate.c).  The
 * file is read into memory first.  Each engine and instruction set there is
 * reads it REPEAT (7) times: no columns (structure only), one column, and all
 * columns.  CHUNK_MB (0: the engine's choice) is the size of chunks; ENGINE
 * (cpu or cuda) leaves the other one out.
 *
 * Prints medians: "engine GB/s" is input bytes over the time in the engine
 * without its copies to and from a device, "with copies" includes those.  For a
 * device also the memory it took beside input and output, per input byte of a
 * chunk.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#ifdef CSV_WITH_CUDA
#include "../../cuda/engine.h"
#endif

#define MAX_COLUMNS	1000
#define MAX_REPEAT	101

static void *
take_memory(void *owner, size_t nbytes)
{
	(void) owner;
	return malloc(nbytes);
}

static void
give_memory(void *owner, void *memory)
{
	(void) owner;
	free(memory);
}

static const CsvMemory memory = {take_memory, give_memory, NULL};

typedef struct Content
{
	uint8_t    *bytes;
	size_t		nbytes;
	size_t		position;
} Content;

static size_t
read_content(void *arg, uint8_t *buffer, size_t nbytes)
{
	Content    *content = arg;
	size_t		left = content->nbytes - content->position;

	if (nbytes > left)
		nbytes = left;
	memcpy(buffer, content->bytes + content->position, nbytes);
	content->position += nbytes;
	return nbytes;
}

static bool
load_file(const char *name, Content *content)
{
	FILE	   *file = fopen(name, "rb");
	long		nbytes;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0 ||
		(nbytes = ftell(file)) < 0)
		return false;
	rewind(file);
	content->nbytes = (size_t) nbytes;
	content->bytes = malloc(content->nbytes + 1);
	if (content->bytes == NULL ||
		fread(content->bytes, 1, content->nbytes, file) != content->nbytes)
		return false;
	fclose(file);
	return true;
}

/* ---- layouts ---- */

static CsvColumn columns[MAX_COLUMNS];
static uint32_t ncolumns;

static void
add_column(CsvKind kind, int32_t type_chars, bool pad_blanks)
{
	CsvColumn  *column = &columns[ncolumns];

	memset(column, 0, sizeof(*column));
	column->field = ncolumns++;
	column->attnum = ncolumns;
	column->kind = (uint8_t) kind;
	column->max_chars = -1;
	column->byte_width = -1;
	column->type_chars = type_chars;
	column->pad_blanks = pad_blanks;
	column->precision = kind == CSV_KIND_NUMERIC ? 15 : -1;
	column->scale = kind == CSV_KIND_NUMERIC ? 2 : 0;
}

static bool
set_layout(const char *name)
{
	if (strcmp(name, "lineitem") == 0)
	{
		add_column(CSV_KIND_INT8, -1, false);
		for (int i = 0; i < 3; i++)
			add_column(CSV_KIND_INT4, -1, false);
		for (int i = 0; i < 4; i++)
			add_column(CSV_KIND_NUMERIC, -1, false);
		add_column(CSV_KIND_TEXT, 1, true);
		add_column(CSV_KIND_TEXT, 1, true);
		for (int i = 0; i < 3; i++)
			add_column(CSV_KIND_DATE, -1, false);
		add_column(CSV_KIND_TEXT, 25, true);
		add_column(CSV_KIND_TEXT, 10, true);
		add_column(CSV_KIND_TEXT, -1, false);
		return true;
	}
	if (strcmp(name, "tiny") != 0 && strcmp(name, "wide") != 0)
		return false;
	for (int i = 0; i < (*name == 't' ? 16 : MAX_COLUMNS); i++)
		add_column(CSV_KIND_INT4, -1, false);
	return true;
}

/* ---- measuring ---- */

typedef struct Times
{
	double		engine;
	double		copies;
	uint64_t	rows;
	uint64_t	errors;
} Times;

static bool
run_once(const CsvEngine *engine, void *state, Content *content,
		 const CsvLayout *layout, uint64_t chunk_bytes, Times *times)
{
	CsvReaderOptions options;
	CsvReader  *reader;
	CsvBatch	batch;
	CsvStatus	status;

	memset(&options, 0, sizeof(options));
	options.dialect.delimiter = ',';
	options.dialect.quote = '"';
	options.dialect.multiline = true;
	options.max_record_bytes = 16 * 1024 * 1024;
	options.chunk_bytes = chunk_bytes != 0 ? chunk_bytes :
		engine->default_chunk_bytes;
	memset(times, 0, sizeof(*times));
	content->position = 0;
	reader = csv_reader_create(&memory, &options);
	status = csv_reader_set_engine(reader, engine, state);
	if (status == CSV_OK)
		status = csv_reader_open(reader, read_content, content);
	if (status == CSV_OK)
		status = csv_reader_set_layout(reader, layout);
	while (status == CSV_OK &&
		   (status = csv_reader_next(reader, &batch)) == CSV_OK)
	{
		times->engine += batch.parse_seconds;
		times->copies += batch.copy_in_seconds + batch.copy_out_seconds;
		times->rows += batch.nrows;
		times->errors += batch.nerrors;
	}
	if (status != CSV_END)
		fprintf(stderr, "engine: %s\n", csv_reader_message(reader));
	csv_reader_free(reader);
	return status == CSV_END;
}

static int
compare(const void *a, const void *b)
{
	double		left = *(const double *) a;
	double		right = *(const double *) b;

	return left < right ? -1 : left > right;
}

static void
measure(const char *shape, const CsvEngine *engine, void *state,
		Content *content, FILE *results)
{
	const char *repeat_text = getenv("REPEAT");
	const char *chunk_text = getenv("CHUNK_MB");
	int			repeat = repeat_text != NULL ? atoi(repeat_text) : 7;
	uint64_t	chunk_bytes = chunk_text != NULL ?
		strtoull(chunk_text, NULL, 10) << 20 : 0;
	const uint32_t wanted[] = {0, 1, ncolumns};
	static const uint8_t nothing[1];

	if (repeat > MAX_REPEAT)
		repeat = MAX_REPEAT;
	for (int w = 0; w < 3; w++)
	{
		double		seconds[MAX_REPEAT];
		double		with_copies[MAX_REPEAT];
		CsvLayout	layout;
		Times		times;
		double		gigabytes = (double) content->nbytes * 1e-9;

		memset(&layout, 0, sizeof(layout));
		layout.nfields = ncolumns;
		layout.decimal_separator = '.';
		layout.null_bytes = nothing;
		layout.ncolumns = wanted[w];
		layout.columns = columns;
		for (int i = -1; i < repeat; i++)
		{
			if (!run_once(engine, state, content, &layout, chunk_bytes, &times))
				exit(1);
			if (i < 0)
				continue;		/* warms up */
			seconds[i] = times.engine;
			with_copies[i] = times.engine + times.copies;
		}
		qsort(seconds, (size_t) repeat, sizeof(double), compare);
		qsort(with_copies, (size_t) repeat, sizeof(double), compare);
		printf("%-10s %-5s %-12s %7u %12llu %9llu %12.2f %12.2f",
			   shape, engine->name, engine->detail(state), wanted[w],
			   (unsigned long long) times.rows,
			   (unsigned long long) times.errors,
			   gigabytes / seconds[repeat / 2],
			   gigabytes / with_copies[repeat / 2]);
		fprintf(results, "%s,%s,%s,%u,%llu,%llu,%.3f,%.3f,%.3f,%.3f\n", shape,
				engine->name, engine->detail(state), wanted[w],
				(unsigned long long) times.rows,
				(unsigned long long) times.errors,
				gigabytes / seconds[repeat / 2],
				gigabytes / seconds[repeat - 1], gigabytes / seconds[0],
				gigabytes / with_copies[repeat / 2]);
#ifdef CSV_WITH_CUDA
		if (engine == &csv_cuda_engine)
		{
			uint64_t	output;
			uint64_t	others;
			double		chunk = (double) (chunk_bytes != 0 ? chunk_bytes :
										  engine->default_chunk_bytes);

			csv_cuda_memory_held(&output, &others);
			if (chunk > (double) content->nbytes)
				chunk = (double) content->nbytes;
			printf("   %.2f B/B", ((double) others - chunk) / chunk);
		}
#endif
		printf("\n");
		fflush(stdout);
	}
}

static bool
wants(const char *engine)
{
	const char *only = getenv("ENGINE");

	return only == NULL || strcmp(only, engine) == 0;
}

int
main(int argc, char **argv)
{
	static const CsvIsa isas[] = {CSV_ISA_SWAR, CSV_ISA_AVX2, CSV_ISA_AVX512};
	Content		content;
	FILE	   *results;
	const char *shape;

	if (argc < 3 || !set_layout(argv[1]) || !load_file(argv[2], &content))
	{
		fprintf(stderr, "usage: engine lineitem|tiny|wide FILE [RESULTS.csv]\n");
		return 2;
	}
	shape = strrchr(argv[2], '/') != NULL ? strrchr(argv[2], '/') + 1 : argv[2];
	results = fopen(argc > 3 ? argv[3] : "/dev/null", "a");
	if (results == NULL)
	{
		perror(argv[3]);
		return 1;
	}
	printf("%-10s %-5s %-12s %7s %12s %9s %12s %12s\n", "file", "engine",
		   "detail", "columns", "rows", "errors", "engine GB/s", "with copies");
	for (size_t i = 0; wants("cpu") && i < sizeof(isas) / sizeof(isas[0]); i++)
	{
		void	   *state = csv_cpu_open(&memory, isas[i]);

		if (state == NULL)
			continue;
		measure(shape, &csv_cpu_engine, state, &content, results);
		csv_cpu_engine.close(state);
	}
#ifdef CSV_WITH_CUDA
	if (wants("cuda"))
	{
		CsvCudaOptions options;
		char		reason[256];
		void	   *state;

		memset(&options, 0, sizeof(options));
		state = csv_cuda_open(&options, &memory, reason, sizeof(reason));
		if (state == NULL)
			printf("no CUDA engine: %s\n", reason);
		else
		{
			measure(shape, &csv_cuda_engine, state, &content, results);
			csv_cuda_engine.close(state);
			csv_cuda_shutdown();
		}
	}
#endif
	fclose(results);
	free(content.bytes);
	return 0;
}
