/*
 * reading.c
 *		Reads a file and writes down what came, as text.
 */
#include "unit.h"
#include "reading.h"

void
reading_init(Reading *reading, uint32_t nfields)
{
	memset(reading, 0, sizeof(*reading));
	reading->options.dialect.delimiter = ',';
	reading->options.dialect.quote = '"';
	reading->options.dialect.multiline = true;
	reading->options.max_record_bytes = 16 * 1024 * 1024;
	reading->layout.nfields = nfields;
	reading->layout.decimal_separator = '.';
	reading->layout.null_bytes = (const uint8_t *) "";
	reading->layout.default_bytes = (const uint8_t *) "";
	reading->keep_text = true;
}

CsvColumn
column_of(CsvKind kind, uint32_t field)
{
	CsvColumn	column;

	memset(&column, 0, sizeof(column));
	column.field = field;
	column.attnum = field + 1;
	column.kind = (uint8_t) kind;
	column.max_chars = -1;
	column.byte_width = -1;
	column.type_chars = -1;
	column.precision = -1;
	return column;
}

bool
reading_has_isa(CsvIsa isa)
{
	void	   *engine = csv_cpu_open(&csv_thread_memory, &(CsvCpuOptions) {.isa = isa});

	if (engine == NULL)
		return false;
	csv_cpu_engine.close(engine);
	return true;
}

/* ---- the source ---- */

typedef struct Source
{
	const uint8_t *bytes;
	size_t		nbytes;
	size_t		pos;
	size_t		most;
	uint64_t	nreads;
} Source;

static size_t
read_source(void *arg, uint8_t *buffer, size_t nbytes)
{
	Source	   *source = arg;
	size_t		n = source->nbytes - source->pos;

	if (n > nbytes)
		n = nbytes;
	if (source->most > 0 && n > source->most)
		n = source->most;
	memcpy(buffer, source->bytes + source->pos, n);
	source->pos += n;
	source->nreads++;
	return n;
}

static ssize_t
read_source_at(void *arg, uint8_t *buffer, size_t nbytes, uint64_t offset)
{
	const Source *source = arg;

	if (offset >= source->nbytes)
		return 0;
	if (nbytes > source->nbytes - offset)
		nbytes = source->nbytes - offset;
	memcpy(buffer, source->bytes + offset, nbytes);
	return (ssize_t) nbytes;
}

static void
seek_source(void *arg, uint64_t offset)
{
	((Source *) arg)->pos = offset;
}

/* ---- the text ---- */

static void
print_bytes(FILE *out, const uint8_t *bytes, size_t nbytes)
{
	fputc('<', out);
	for (size_t i = 0; i < nbytes; i++)
		fputc(bytes[i], out);
	fputc('>', out);
}

static void
print_long(FILE *out, const CsvReader *reader, const CsvBatch *batch,
		   uint32_t row, uint32_t field)
{
	const CsvDialect *dialect = csv_reader_dialect(reader);
	CsvScan		scan;
	CsvSpan		span;
	uint8_t    *value;
	uint64_t	nbytes;
	bool		quoted;

	memset(&scan, 0, sizeof(scan));
	assert_int_equal(CSV_OK, csv_scan_row(&scan, &csv_thread_memory, dialect, batch,
										  batch->row_offsets[row]));
	span = csv_scan_field(&scan, dialect, batch->bytes, batch->nbytes, field);
	value = malloc(span.length + 1);
	assert_non_null(value);
	nbytes = csv_field_value(dialect, batch->bytes + span.offset, span.length,
							 value, span.length, &quoted);
	print_bytes(out, value, nbytes);
	free(value);
	free(scan.separators);
}

static void
print_value(FILE *out, Reading *reading, const CsvReader *reader,
			const CsvBatch *batch, uint32_t row, const CsvColumn *column,
			const CsvArray *array)
{
	const uint8_t *entry = array->values + (size_t) row * array->stride;
	uint32_t	header;
	int16_t		int2;
	int32_t		int4;
	int64_t		int8;

	switch (array->status[row])
	{
		case CSV_VALUE_NULL:
			fputc('-', out);
			return;
		case CSV_VALUE_DOUBTFUL:
			fputc('?', out);
			return;
		case CSV_VALUE_LONG:
			print_long(out, reader, batch, row, column->field);
			return;
	}
	switch (column->kind)
	{
		case CSV_KIND_TEXT:
		case CSV_KIND_CSTRING:
			memcpy(&header, entry, 4);
			reading->last_text_bytes = (header >> 2) - 4;
			print_bytes(out, entry + 4, (header >> 2) - 4);
			break;
		case CSV_KIND_BOOL:
			fprintf(out, "<%d>", *entry);
			break;
		case CSV_KIND_NUMERIC:
			memcpy(&header, entry, 4);
			fputc('<', out);
			for (uint32_t i = 4; i < header >> 2; i++)
				fprintf(out, "%02x", entry[i]);
			fputc('>', out);
			break;
		case CSV_KIND_INT2:
			memcpy(&int2, entry, 2);
			fprintf(out, "<%d>", int2);
			break;
		case CSV_KIND_INT4:
		case CSV_KIND_DATE:
			memcpy(&int4, entry, 4);
			fprintf(out, "<%ld>", (long) int4);
			break;
		case CSV_KIND_INT8:
		case CSV_KIND_TIMESTAMP:
		case CSV_KIND_TIME:
			memcpy(&int8, entry, 8);
			fprintf(out, "<%lld>", (long long) int8);
			break;
		default:
			fputs("<ok>", out);
			break;
	}
}

static void
print_record_error(FILE *out, const CsvError *error)
{
	static const char *names[CSV_NUM_ERRORS] = {
		"none", "record_too_long", "text_after_quote", "unterminated_quote",
		"column_count", "nul_byte", "invalid_utf8", "too_many_chars",
		"too_many_bytes", "bad_value"
	};

	fprintf(out, "!%s %u record %u line %u offset %llu length %llu\n",
			names[error->code], error->where, error->record, error->line,
			(unsigned long long) error->offset,
			(unsigned long long) error->length);
}

static void
take_batch(Reading *reading, FILE *out, const CsvReader *reader,
		   const CsvLayout *layout, const CsvBatch *batch)
{
	uint32_t	row = 0;
	uint32_t	next_error = 0;

	reading->nbatches++;
	assert_int_equal(batch->nrecords, batch->nrows + batch->nerrors);
	assert_int_equal(batch->file_records, reading->nrows + reading->nerrors);
	for (uint32_t i = 0; i < batch->nrecords; i++)
	{
		if (next_error < batch->nerrors &&
			batch->errors[next_error].before_row == row)
		{
			CsvError	error = batch->errors[next_error++];

			assert_int_equal(error.record, i);
			error.record += (uint32_t) batch->file_records;
			error.line += (uint32_t) batch->file_lines;
			error.offset += batch->file_offset;
			reading->last_error = error;
			if (out != NULL)
				print_record_error(out, &error);
			continue;
		}
		assert_true(row < batch->nrows);
		for (uint32_t c = 0; c < layout->ncolumns; c++)
		{
			const CsvArray *array = &batch->arrays[c];
			uint32_t	header;

			if (out != NULL)
				print_value(out, reading, reader, batch, row,
							&layout->columns[c], array);
			else if (array->status[row] == CSV_VALUE_OK &&
					 layout->columns[c].kind == CSV_KIND_TEXT)
			{
				memcpy(&header, array->values + (size_t) row * array->stride, 4);
				reading->last_text_bytes = (header >> 2) - 4;
			}
		}
		if (out != NULL)
			fputc('\n', out);
		row++;
	}
	reading->nrows += batch->nrows;
	reading->nerrors += batch->nerrors;
}

CsvStatus
reading_try(Reading *reading, const uint8_t *file, size_t nbytes)
{
	Source		source = {file, nbytes, 0, reading->most_per_read, 0};
	CsvLayout	layout = reading->layout;
	CsvColumn  *columns = NULL;
	const CsvEngine *engine = reading->engine;
	void	   *state = reading->engine_state;
	CsvReader  *reader;
	CsvRecord	header;
	CsvBatch	batch;
	CsvStatus	status;
	FILE	   *out = NULL;
	size_t		text_bytes;

	reading->nrows = 0;
	reading->nerrors = 0;
	reading->nbatches = 0;
	reading->last_text_bytes = 0;
	reading->header[0] = '\0';
	reading->text = NULL;
	if (reading->keep_text)
	{
		out = open_memstream(&reading->text, &text_bytes);
		assert_non_null(out);
	}

	if (layout.columns == NULL)
	{
		columns = malloc(layout.nfields * sizeof(CsvColumn));
		assert_non_null(columns);
		for (uint32_t i = 0; i < layout.nfields; i++)
			columns[i] = column_of(CSV_KIND_TEXT, i);
		layout.columns = columns;
		layout.ncolumns = layout.nfields;
	}
	if (engine == NULL)
	{
		engine = &csv_cpu_engine;
		/* with any input there is, however small */
		state = csv_cpu_open(&csv_thread_memory, &(CsvCpuOptions) {
			.isa = reading->isa, .threads = reading->threads,
			.part_bytes = reading->part_bytes != 0 ? reading->part_bytes : 1
		});
		assert_non_null(state);
	}

	reader = csv_reader_create(&csv_thread_memory, &reading->options);
	assert_non_null(reader);
	assert_int_equal(csv_reader_set_engine(reader, engine, state), CSV_OK);
	assert_int_equal(csv_reader_open(reader, read_source, &source), CSV_OK);
	reading->nreads_to_open = source.nreads;
	reading->nbytes_to_open = source.pos;
	if (reading->nthreads > 0)
	{
		CsvReadAhead ahead = {read_source_at, seek_source, &source, nbytes};

		csv_reader_read_ahead(reader, &ahead);
	}
	if (csv_reader_header(reader, &header))
	{
		size_t		used = 0;
		uint32_t	start = 0;

		for (uint32_t i = 0; i < header.nfields && used < 200; i++)
		{
			used += (size_t) snprintf(reading->header + used,
									  sizeof(reading->header) - used, "<%.*s>",
									  (int) (header.separators[i] - start),
									  header.bytes + start);
			start = header.separators[i] + 1;
		}
	}
	assert_int_equal(csv_reader_set_layout(reader, &layout), CSV_OK);
	while ((status = csv_reader_next(reader, &batch)) == CSV_OK)
		take_batch(reading, out, reader, &layout, &batch);
	csv_reader_free(reader);
	if (reading->engine == NULL)
		engine->close(state);
	free(columns);
	if (out != NULL)
		fclose(out);
	return status;
}

void
reading_run(Reading *reading, const uint8_t *file, size_t nbytes)
{
	assert_int_equal(reading_try(reading, file, nbytes), CSV_END);
}

int
reading_engines(TestEngine **engines)
{
	static TestEngine all[MAX_TEST_ENGINES];
	static int	nengines;

	if (nengines == 0)
		nengines = test_engines_open(all, "all");
	*engines = all;
	return nengines;
}

void
plain_case(Case *test_case, uint32_t nfields, const CsvKind *kinds,
		   uint32_t nkinds)
{
	memset(test_case, 0, sizeof(*test_case));
	test_case->dialect.delimiter = ',';
	test_case->dialect.quote = '"';
	test_case->dialect.boundary = CSV_BOUNDARY_LF;
	test_case->dialect.multiline = true;
	test_case->layout.nfields = nfields;
	test_case->layout.decimal_separator = '.';
	test_case->layout.want_positions = true;
	test_case->layout.ncolumns = nkinds;
	for (uint32_t i = 0; i < nkinds; i++)
		test_case->columns[i] = column_of(kinds[i], i % nfields);
	test_case->max_record_bytes = 16 * 1024 * 1024;
	test_case->max_read_bytes = 1 << 30;
}

void
expect_as_reference(const Case *test_case, const Content *file,
					TestEngine *engines, int nengines)
{
	TestCounts	counts;
	char		message[512];

	memset(&counts, 0, sizeof(counts));
	if (compare_case(test_case, file->bytes, file->nbytes, engines, nengines,
					 &counts, message, sizeof(message)))
		return;
	case_print(stderr, test_case);
	if (file->nbytes <= 4000)
		case_print_bytes(stderr, file->bytes, file->nbytes);
	fail_msg("%s", message);
}

void
expect_reading_(const Reading *reading, const void *file, size_t nbytes,
				const char *lines, const char *source, int line)
{
	static const uint64_t chunks[] = {1, 2, 7, 64, 0};
	TestEngine *engines;
	int			nengines = reading_engines(&engines);

	for (int e = 0; e < nengines; e++)
		for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++)
		{
			Reading		trial = *reading;

			trial.engine = engines[e].engine;
			trial.engine_state = engines[e].state;
			if (trial.options.chunk_bytes == 0)
				trial.options.chunk_bytes = chunks[i];
			reading_run(&trial, file, nbytes);
			if (strcmp(trial.text, lines) != 0)
				print_error("with %s, chunks of %llu bytes\n", engines[e].name,
							(unsigned long long) trial.options.chunk_bytes);
			_assert_string_equal(trial.text, lines, source, line);
			free(trial.text);
		}
}
