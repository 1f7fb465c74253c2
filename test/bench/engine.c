/*
 * engine.c
 *		Times the engines by themselves, without a server.
 *
 *	engine LAYOUT FILE [RESULTS.csv]
 *
 * LAYOUT says what FILE holds: lineitem, tiny or wide (see generate.c).  The
 * file is read into memory first.  Each engine and instruction set there is
 * reads it REPEAT (7) times for each set of columns in FIELDS: "none" (the
 * structure only), "all", or fields such as "0" or "4+5+8", counted from 0; by
 * default "none 0 all".  CHUNK_MB (0: the engine's choice) is the size of
 * chunks, THREADS (1) how many the CPU engine has; ENGINE (cpu or cuda) leaves
 * the other one out.
 *
 * Beside the CPU engine's structure stand two loops over single bytes that
 * count fields and records, and nothing else: by a switch over states, and by
 * the dialect's table.
 *
 * Prints medians: "GB/s" is input bytes over the time in the engine without
 * its copies to and from a device, "loops" is how many times as fast as the
 * first loop that is, and "with copies" includes the copies.  For a device
 * also the memory it took beside input and output, per input byte of a chunk;
 * and over the device's own time, GB/s of the structure and of all kernels.
 * To RESULTS.csv, lines are added; MACHINE is their first value.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "reader.h"
#ifdef CSV_WITH_CUDA
#include "../../cuda/csv_cuda.h"
#endif

#define MAX_COLUMNS	1000
#define MAX_REPEAT	101

/* ---- what is read, and times ---- */

/* a file's bytes, and how many of them were delivered */
typedef struct Content
{
	uint8_t    *bytes;
	size_t		nbytes;
	size_t		position;
} Content;

/* a CsvReadFn */
static size_t
read_content(void *arg, uint8_t *buffer, size_t nbytes)
{
	Content *content = arg;
	size_t		left = content->nbytes - content->position;

	if (nbytes > left)
		nbytes = left;
	memcpy(buffer, content->bytes + content->position, nbytes);
	content->position += nbytes;
	return nbytes;
}

/* false, and a message in errno, if it cannot be had; bytes are malloc()ed */
static bool
load(const char *filename, Content *content)
{
	FILE	   *file = fopen(filename, "rb");
	long		nbytes;
	bool		loaded = false;

	if (file == NULL)
		return false;
	if (fseek(file, 0, SEEK_END) == 0 && (nbytes = ftell(file)) >= 0)
	{
		rewind(file);
		content->nbytes = (size_t) nbytes;
		content->position = 0;
		content->bytes = malloc(content->nbytes + 1);
		loaded = content->bytes != NULL &&
			fread(content->bytes, 1, content->nbytes, file) == content->nbytes;
	}
	fclose(file);
	return loaded;
}

/* for qsort() */
static int
compare_doubles(const void *a, const void *b)
{
	double		left = *(const double *) a;
	double		right = *(const double *) b;

	return left < right ? -1 : left > right;
}

/* ---- layouts ---- */

static CsvColumn columns[MAX_COLUMNS];	/* a column for each field */
static uint32_t ncolumns;
static CsvColumn wanted[MAX_COLUMNS];

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

/*
 * Fill `wanted` from a set of FIELDS, of nbytes bytes; returns how many there
 * are, or -1 where this is no such set.
 */
static int
set_wanted(const char *set, size_t nbytes)
{
	const char *end = set + nbytes;
	int			nwanted = 0;
	uint64_t	fields[(MAX_COLUMNS + 63) / 64] = {0};

	if (nbytes == 4 && memcmp(set, "none", 4) == 0)
		return 0;
	if (nbytes == 3 && memcmp(set, "all", 3) == 0)
		memset(fields, 0xFF, sizeof(fields));
	else
		for (const char *at = set; at < end; at++)
		{
			char	   *after;
			unsigned long field = strtoul(at, &after, 10);

			if (after == at || field >= ncolumns ||
				(after < end && *after != '+'))
				return -1;
			fields[field / 64] |= UINT64_C(1) << field % 64;
			at = after;
		}
	for (uint32_t i = 0; i < ncolumns; i++)
		if (fields[i / 64] >> i % 64 & 1)
			wanted[nwanted++] = columns[i];
	return nwanted;
}

/* ---- measuring ---- */

static const CsvDialectOptions dialect_options = {
	.delimiter = ',', .quote = '"', .multiline = true
};
static FILE *results;
static const char *shape;
static const char *machine;
static int	repeat;
static uint64_t chunk_bytes;	/* 0: the engine's choice */
static const CsvMemory *reader_memory = &csv_thread_memory;
#ifdef CSV_WITH_CUDA
static CsvSession *session;
#endif

typedef struct Times
{
	double		engine;
	double		copies;
	double		structure;
	double		device;
	uint64_t	rows;
	uint64_t	errors;
} Times;

static uint64_t
size_of_chunks(const CsvEngine *engine)
{
	return chunk_bytes != 0 ? chunk_bytes : engine->default_chunk_bytes;
}

static bool
run_once(const CsvEngine *engine, void *state, Content *content,
		 const CsvLayout *layout, Times *times)
{
	CsvReaderOptions options;
	CsvReader  *reader;
	CsvBatch	batch;
	CsvStatus	status;

	memset(&options, 0, sizeof(options));
	options.dialect = dialect_options;
	options.max_record_bytes = 16 * 1024 * 1024;
	options.chunk_bytes = size_of_chunks(engine);
	memset(times, 0, sizeof(*times));
	content->position = 0;
	reader = csv_reader_create(reader_memory, &options);
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
		times->structure += batch.structure_seconds;
		times->device += batch.device_seconds;
		times->rows += batch.nrows;
		times->errors += batch.nerrors;
	}
	if (status != CSV_END)
		fprintf(stderr, "engine: %s\n", csv_reader_message(reader));
	csv_reader_free(reader);
	return status == CSV_END;
}

/* all must find as many records, good and bad, as the first one does */
static void
check_records(const char *detail, uint64_t nrecords)
{
	static uint64_t expected;

	if (expected == 0)
		expected = nrecords;
	if (nrecords != expected)
	{
		fprintf(stderr, "engine: %s finds %llu records, not %llu\n", detail,
				(unsigned long long) nrecords, (unsigned long long) expected);
		exit(1);
	}
}

/*
 * A line of the table, and of the results: gigabytes a second from the median,
 * the most and the least of the sorted seconds.
 */
static void
print_line(const char *engine, const char *detail, uint64_t chunk, int nset,
		   const char *set, const Times *times, uint64_t nbytes,
		   const double *seconds, double copies)
{
	double		gigabytes = (double) nbytes * 1e-9;
	double		median = seconds[repeat / 2];
	static double first_loop;

	if (strcmp(engine, "loop") == 0 && first_loop == 0)
		first_loop = median;
	printf("%-10s %-6s %-14s %-8.*s %10llu %9llu %10.2f", shape, engine,
		   detail, nset, set, (unsigned long long) times->rows,
		   (unsigned long long) times->errors, gigabytes / median);
	if (first_loop > 0)
		printf(" %6.1f", first_loop / median);
	else
		printf(" %6s", "");
	fprintf(results, "%s,%s,%llu,%llu,%s,%s,%.*s,%llu,%llu,%d,%.3f,%.3f,%.3f,",
			machine, shape, (unsigned long long) nbytes,
			(unsigned long long) chunk, engine, detail, nset, set,
			(unsigned long long) times->rows,
			(unsigned long long) times->errors, repeat, gigabytes / median,
			gigabytes / seconds[repeat - 1], gigabytes / seconds[0]);
	if (copies > 0)
	{
		printf(" %12.2f", gigabytes / copies);
		fprintf(results, "%.3f", gigabytes / copies);
	}
	fprintf(results, ",");
}

static void
end_line(void)
{
	printf("\n");
	fprintf(results, "\n");
	fflush(stdout);
}

/* ---- loops over single bytes, to compare with ---- */

typedef struct Counts
{
	uint64_t	fields;
	uint64_t	records;
} Counts;

/* rfc4180, as anyone would write it who knows the file is good */
static Counts
count_by_switch(const uint8_t *bytes, size_t nbytes)
{
	enum
	{
		FIELD_START, UNQUOTED, QUOTED, QUOTE_SEEN
	}			state = FIELD_START;
	Counts		counts = {0, 0};

	for (size_t i = 0; i < nbytes; i++)
	{
		uint8_t		byte = bytes[i];

		switch (state)
		{
			case FIELD_START:
				if (byte == '"')
				{
					state = QUOTED;
					break;
				}
				state = UNQUOTED;
				/* FALLTHROUGH */
			case UNQUOTED:
			case QUOTE_SEEN:
				if (byte == ',')
				{
					counts.fields++;
					state = FIELD_START;
				}
				else if (byte == '\n')
				{
					counts.fields++;
					counts.records++;
					state = FIELD_START;
				}
				else if (state == QUOTE_SEEN)
					state = QUOTED;
				break;
			case QUOTED:
				if (byte == '"')
					state = QUOTE_SEEN;
				break;
		}
	}
	return counts;
}

static Counts
count_by_table(const uint8_t *bytes, size_t nbytes)
{
	CsvDialect	dialect;
	int			state = CSV_STATE_RECORD_START;
	Counts		counts = {0, 0};

	csv_dialect_compile(&dialect, &dialect_options);
	for (size_t i = 0; i < nbytes; i++)
	{
		int			class = csv_class_at(&dialect, bytes, i, nbytes);
		int			entry = dialect.table[CSV_NORMAL][state][class];

		counts.fields += (entry & CSV_FIELD) != 0;
		counts.records += (entry & CSV_RECORD) != 0;
		state = entry & CSV_STATE_MASK;
	}
	return counts;
}

static void
measure_loop(const char *detail, Counts (*count) (const uint8_t *, size_t),
			 const Content *content)
{
	double		seconds[MAX_REPEAT] = {0};
	Times		times;

	memset(&times, 0, sizeof(times));
	for (int i = 0; i < repeat; i++)
	{
		double		start = csv_now_seconds();
		Counts		counts = count(content->bytes, content->nbytes);

		seconds[i] = csv_now_seconds() - start;
		times.rows = counts.records;
		check_records(detail, counts.records);
		if (counts.fields < counts.records * ncolumns)
		{
			fprintf(stderr, "engine: %s finds %llu fields only\n", detail,
					(unsigned long long) counts.fields);
			exit(1);
		}
	}
	qsort(seconds, (size_t) repeat, sizeof(double), compare_doubles);
	print_line("loop", detail, 0, 4, "none", &times, content->nbytes, seconds, 0);
	end_line();
}

/* ---- the engines ---- */

static void
measure(const CsvEngine *engine, void *state, Content *content,
		const char *set, int nset)
{
	double		seconds[MAX_REPEAT];
	double		with_copies[MAX_REPEAT];
	double		structure[MAX_REPEAT];
	double		device[MAX_REPEAT];
	bool		copies = false;
	uint64_t	chunk = size_of_chunks(engine);
	int			nwanted = set_wanted(set, (size_t) nset);
	CsvLayout	layout;
	Times		times;
	static const uint8_t nothing[1];

	if (nwanted < 0)
	{
		fprintf(stderr, "engine: no fields \"%.*s\"\n", nset, set);
		exit(2);
	}
	memset(&layout, 0, sizeof(layout));
	layout.nfields = ncolumns;
	layout.decimal_separator = '.';
	layout.null_bytes = nothing;
	layout.ncolumns = (uint32_t) nwanted;
	layout.columns = wanted;
	for (int i = -1; i < repeat; i++)
	{
		if (!run_once(engine, state, content, &layout, &times))
			exit(1);
		check_records(engine->detail(state), times.rows + times.errors);
		if (i < 0)
			continue;			/* warms up */
		seconds[i] = times.engine;
		with_copies[i] = times.engine + times.copies;
		structure[i] = times.structure;
		device[i] = times.device;
		copies = copies || times.copies > 0;
	}
	qsort(seconds, (size_t) repeat, sizeof(double), compare_doubles);
	qsort(with_copies, (size_t) repeat, sizeof(double), compare_doubles);
	qsort(structure, (size_t) repeat, sizeof(double), compare_doubles);
	qsort(device, (size_t) repeat, sizeof(double), compare_doubles);
	print_line(engine->name, engine->detail(state), chunk, nset, set, &times,
			   content->nbytes, seconds, copies ? with_copies[repeat / 2] : 0);
#ifdef CSV_WITH_CUDA
	if (engine == &csv_cuda_engine)
	{
		uint64_t	output;
		uint64_t	others;
		double		input = (double) (chunk < content->nbytes ? chunk :
									  content->nbytes);

		double		gigabytes = (double) content->nbytes * 1e-9;
		double		structure_gbs = gigabytes / structure[repeat / 2];
		double		kernels_gbs = gigabytes / device[repeat / 2];

		csv_cuda_memory_held(session, &output, &others);
		printf("   %.2f B/B, structure %.0f, kernels %.0f GB/s",
			   ((double) others - input) / input, structure_gbs, kernels_gbs);
		fprintf(results, "%.2f,%.0f,%.0f", ((double) others - input) / input,
				structure_gbs, kernels_gbs);
	}
#endif
	end_line();
}

/* all sets of FIELDS */
static void
measure_sets(const CsvEngine *engine, void *state, Content *content)
{
	const char *sets = getenv("FIELDS");

	if (sets == NULL)
		sets = "none 0 all";
	while (*(sets += strspn(sets, " ")) != '\0')
	{
		size_t		nset = strcspn(sets, " ");

		measure(engine, state, content, sets, (int) nset);
		sets += nset;
	}
}

static bool
wants(const char *engine)
{
	const char *only = getenv("ENGINE");

	return only == NULL || strcmp(only, engine) == 0;
}

/* a number from the environment */
static uint64_t
number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

int
main(int argc, char **argv)
{
	static const CsvIsa isas[] = {CSV_ISA_SWAR, CSV_ISA_AVX2, CSV_ISA_AVX512};
	const char *threads_text = getenv("THREADS");
	uint32_t	nthreads = threads_text != NULL ?
		(uint32_t) atoi(threads_text) : 1;
	Content content;

	if (argc < 3 || !set_layout(argv[1]) || !load(argv[2], &content))
	{
		fprintf(stderr, "usage: engine lineitem|tiny|wide FILE [RESULTS.csv]\n");
		return 2;
	}
	shape = strrchr(argv[2], '/') != NULL ? strrchr(argv[2], '/') + 1 : argv[2];
	machine = getenv("MACHINE") != NULL ? getenv("MACHINE") : "";
	repeat = (int) number("REPEAT", 7);
	repeat = repeat < 1 ? 1 : repeat > MAX_REPEAT ? MAX_REPEAT : repeat;
	chunk_bytes = number("CHUNK_MB", 0) << 20;
	results = fopen(argc > 3 ? argv[3] : "/dev/null", "a");
	if (results == NULL)
	{
		perror(argv[3]);
		return 1;
	}
	if (ftell(results) == 0)
		fprintf(results, "machine,shape,bytes,chunk_bytes,engine,detail,fields,rows,errors,runs,"
				"median_gbs,least_gbs,greatest_gbs,with_copies_gbs,device_bytes_a_byte,"
				"structure_kernel_gbs,kernels_gbs\n");
	printf("%-10s %-6s %-14s %-8s %10s %9s %10s %6s %12s\n", "file",
		   "engine", "detail", "fields", "rows", "errors", "GB/s", "loops",
		   "with copies");
	if (wants("cpu"))
	{
		measure_loop("switch", count_by_switch, &content);
		measure_loop("table", count_by_table, &content);
	}
	for (size_t i = 0; wants("cpu") && i < sizeof(isas) / sizeof(isas[0]); i++)
	{
		void	   *state = csv_cpu_open(&csv_thread_memory, &(CsvCpuOptions) {
			.isa = isas[i], .threads = nthreads
		});

		if (state == NULL)
			continue;
		measure_sets(&csv_cpu_engine, state, &content);
		csv_cpu_engine.close(state);
	}
#ifdef CSV_WITH_CUDA
	if (wants("cuda"))
	{
		CsvCudaOptions options;
		CsvMemory	pinned;
		char		reason[256];
		void	   *state;

		memset(&options, 0, sizeof(options));
		session = csv_cuda_session_create(0);
		if (session == NULL)
			return 1;
		pinned = csv_cuda_pinned(session);
		reader_memory = &pinned;
		state = csv_cuda_open(session, &options, &csv_thread_memory, reason,
							  sizeof(reason));
		if (state == NULL)
			printf("no CUDA engine: %s\n", reason);
		else
		{
			measure_sets(&csv_cuda_engine, state, &content);
			csv_cuda_engine.close(state);
		}
	}
#endif
	fclose(results);
	free(content.bytes);
	return 0;
}
