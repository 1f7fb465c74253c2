/*
 * test_cuda_engine.c
 *		The CUDA engine against the CPU engine, and against the dialect's table
 *		read one byte at a time.
 *
 * Every input is read three ways, with the same layout: by the plain reader
 * below, which knows nothing but the table and field.h; by the CPU engine; and
 * by the CUDA engine, in chunks of some size.  What each finds is written down
 * as one string, records and errors in order, and the strings must be equal.
 *
 * Skipped where there is no GPU.  CSV_TEST_ROUNDS sets how many random inputs
 * are tried (compute-sanitizer wants few), CSV_TEST_SEED the first of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../cuda/csv_cuda.h"
#include "../../src/reader/field.h"

/* ---- memory, text, random numbers ---- */

static void *
plain_alloc(void *owner, size_t nbytes)
{
	(void) owner;
	return malloc(nbytes == 0 ? 1 : nbytes);
}

static void
plain_free(void *owner, void *memory)
{
	(void) owner;
	free(memory);
}

static const CsvMemory plain_memory = {plain_alloc, plain_free, NULL};

typedef struct Text
{
	uint8_t    *bytes;
	size_t		nbytes;
	size_t		capacity;
} Text;

static void
put(Text *text, const void *bytes, size_t nbytes)
{
	if (text->nbytes + nbytes + 1 > text->capacity)
	{
		text->capacity = (text->nbytes + nbytes + 1) * 2;
		text->bytes = realloc(text->bytes, text->capacity);
		assert_non_null(text->bytes);
	}
	if (nbytes > 0)
		memcpy(text->bytes + text->nbytes, bytes, nbytes);
	text->nbytes += nbytes;
	text->bytes[text->nbytes] = 0;
}

static void
put_string(Text *text, const char *string)
{
	put(text, string, strlen(string));
}

static void
put_repeated(Text *text, const char *string, size_t times)
{
	size_t		length = strlen(string);

	for (size_t i = 0; i < times; i++)
		put(text, string, length);
}

static void put_format(Text *text, const char *format,...)
			__attribute__((format(printf, 2, 3)));

static void
put_format(Text *text, const char *format,...)
{
	char		line[512];
	va_list		args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	put_string(text, line);
}

static uint64_t random_state = 88172645463325252u;

static uint32_t
random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t) (random_state >> 32) % n;
}

/* ---- a case ---- */

typedef struct Case
{
	Text		input;
	CsvDialectOptions dialect;
	CsvLayout	layout;
	CsvColumn	columns[24];
	uint64_t	max_record_bytes;
	uint64_t	chunk_bytes;
} Case;

static CsvColumn
column_of(uint32_t field, uint32_t attnum, CsvKind kind)
{
	CsvColumn	column;

	memset(&column, 0, sizeof(column));
	column.field = field;
	column.attnum = attnum;
	column.kind = (uint8_t) kind;
	column.max_chars = -1;
	column.byte_width = -1;
	column.type_chars = -1;
	column.precision = -1;
	return column;
}

/* a layout of n fields, one column of each kind in `kinds` per field */
static void
start_case(Case *c, uint32_t nfields, const CsvKind *kinds, uint32_t nkinds)
{
	memset(c, 0, sizeof(*c));
	c->dialect.delimiter = ',';
	c->dialect.quote = '"';
	c->dialect.quoting = CSV_QUOTING_RFC4180;
	c->dialect.boundary = CSV_BOUNDARY_LF;
	c->dialect.multiline = true;
	c->layout.nfields = nfields;
	c->layout.decimal_separator = '.';
	c->layout.null_bytes = (const uint8_t *) "";
	c->layout.default_bytes = (const uint8_t *) "";
	for (uint32_t i = 0; i < nkinds; i++)
		c->columns[i] = column_of(i % nfields, i + 1, kinds[i]);
	c->layout.ncolumns = nkinds;
	c->layout.columns = c->columns;
	c->layout.want_positions = true;
	c->max_record_bytes = 16 * 1024 * 1024;
	c->chunk_bytes = 0;
}

static void
end_case(Case *c)
{
	free(c->input.bytes);
}

/* ---- writing down what was read ---- */

static void
put_error(Text *log, uint64_t record, uint64_t line, uint64_t offset,
		  uint64_t length, uint64_t before_row, int code, int mode,
		  uint32_t where)
{
	/*
	 * The mode matters where it was the table that found the error; of a line
	 * that is too long, the length is only what was there.
	 */
	put_format(log, "error %d record %llu line %llu offset %llu+%llu after %llu rows mode %d where %u\n",
			   code, (unsigned long long) record, (unsigned long long) line,
			   (unsigned long long) offset,
			   (unsigned long long) (code == CSV_ERROR_RECORD_TOO_LONG ? 0 :
									 length),
			   (unsigned long long) before_row,
			   code < CSV_ERROR_COLUMN_COUNT ? mode : CSV_NORMAL, where);
}

/* a text value of a field: unquoted, cut and padded as its column wants */
static void
put_text_value(Text *log, const CsvDialect *dialect, const CsvColumn *column,
			   const uint8_t *field, uint64_t length)
{
	uint8_t    *value = malloc(length + 1);
	bool		quoted;
	uint64_t	nbytes = csv_unquote(dialect, field, length, value, &quoted);
	uint64_t	nchars = 0;
	uint64_t	cut = nbytes;

	for (uint64_t i = 0; i < nbytes; i++)
		if (csv_utf8_begins(value[i]) && nchars++ == (uint64_t) column->type_chars)
			cut = i;
	put_format(log, " text ");
	put(log, value, cut);
	if (column->pad_blanks && column->kind == CSV_KIND_TEXT)
		for (; nchars < (uint64_t) column->type_chars; nchars++)
			put(log, " ", 1);
	free(value);
}

static void
put_scalar(Text *log, const CsvColumn *column, const uint8_t *entry,
		   uint32_t stride)
{
	uint32_t	nbytes = stride;

	if (column->kind == CSV_KIND_NUMERIC)
	{
		uint32_t	header;

		memcpy(&header, entry, 4);
		nbytes = header >> 2;
		assert_true(nbytes >= 6 && nbytes <= stride);
	}
	put_string(log, " value ");
	for (uint32_t i = 0; i < nbytes; i++)
		put_format(log, "%02x", entry[i]);
}

/* ---- the plain reader ---- */

typedef struct Plain
{
	const Case *c;
	const CsvDialect *dialect;
	Text	   *log;
	CsvScan		scan;
	uint64_t	records;
	uint64_t	rows;
	uint64_t	lines;
} Plain;

/* is everything beyond the type's characters blank? */
static bool
plain_blanks_beyond(const CsvDialect *dialect, const CsvColumn *column,
					const uint8_t *field, uint64_t length)
{
	uint8_t    *value = malloc(length + 1);
	bool		quoted;
	uint64_t	nbytes = csv_unquote(dialect, field, length, value, &quoted);
	int64_t		nchars = 0;
	bool		blank = true;

	for (uint64_t i = 0; i < nbytes; i++)
	{
		if (csv_utf8_begins(value[i]))
			nchars++;
		if (nchars > column->type_chars && value[i] != ' ')
			blank = false;
	}
	free(value);
	return blank;
}

/* one value of a good record; returns its error */
static int
plain_value(Plain *plain, Text *log, const CsvColumn *column)
{
	const CsvLayout *layout = &plain->c->layout;
	const uint8_t *bytes = plain->c->input.bytes;
	CsvMeasure	measure;
	CsvSpan		span;
	const uint8_t *field;
	uint64_t	start;
	uint64_t	end;
	uint64_t	cut_chars;
	bool		quoted;
	bool		doubtful;
	bool		blanks = false;
	int			code;

	if (column->field >= plain->scan.nfields)
	{
		put_string(log, " null");
		return CSV_ERROR_NONE;
	}
	span = csv_scan_field(&plain->scan, plain->dialect, bytes,
						  plain->c->input.nbytes, column->field);
	field = bytes + span.offset;
	if (!column->force_not_null &&
		csv_bytes_equal(field, span.length, layout->null_bytes,
						layout->null_length))
	{
		put_string(log, " null");
		return CSV_ERROR_NONE;
	}
	if (layout->has_default &&
		csv_bytes_equal(field, span.length, layout->default_bytes,
						layout->default_length))
	{
		put_string(log, " doubtful");
		return CSV_ERROR_NONE;
	}
	csv_field_measure(plain->dialect, field, span.length, &measure);
	if (column->force_null && measure.quoted)
	{
		uint8_t    *value = malloc(span.length + 1);
		uint64_t	nbytes = csv_unquote(plain->dialect, field, span.length,
										 value, &quoted);
		bool		is_null = csv_bytes_equal(value, nbytes, layout->null_bytes,
											  layout->null_length);

		free(value);
		if (is_null)
		{
			put_string(log, " null");
			return CSV_ERROR_NONE;
		}
	}
	if (CSV_NEEDS_BLANKS(column, measure.nchars) && !measure.invalid_utf8)
		blanks = plain_blanks_beyond(plain->dialect, column, field, span.length);
	code = csv_field_verdict(column, layout->encoding, &measure, blanks,
							 &doubtful, &cut_chars);
	if (code != CSV_ERROR_NONE)
		return code;
	if (doubtful)
		put_string(log, " doubtful");
	else if (column->kind == CSV_KIND_TEXT || column->kind == CSV_KIND_CSTRING)
		put_text_value(log, plain->dialect, column, field, span.length);
	else
	{
		uint64_t	entry[8];
		uint32_t	stride = csv_value_stride(column);

		if (csv_field_plain(plain->dialect, field, span.length, &start, &end,
							&quoted) &&
			csv_convert_value(column, layout->decimal_separator, field + start,
							  (uint32_t) (end - start), (uint8_t *) entry,
							  stride))
			put_scalar(log, column, (uint8_t *) entry, stride);
		else
			put_string(log, " doubtful");
	}
	return CSV_ERROR_NONE;
}

static void
plain_good_record(Plain *plain, uint64_t line, CsvMode mode)
{
	const CsvLayout *layout = &plain->c->layout;
	const CsvScan *scan = &plain->scan;
	Text		row = {0};
	int			worst = CSV_ERROR_NONE;
	uint32_t	where = 0;

	if (!layout->pad && scan->nfields != layout->nfields)
	{
		worst = CSV_ERROR_COLUMN_COUNT;
		where = scan->nfields;
	}
	else
		for (uint32_t i = 0; i < layout->ncolumns; i++)
		{
			const CsvColumn *column = &layout->columns[i];
			int			code;

			if (worst != CSV_ERROR_NONE &&
				column->field != layout->columns[where].field)
				break;
			code = plain_value(plain, &row, column);
			if (code != CSV_ERROR_NONE &&
				(worst == CSV_ERROR_NONE || code < worst))
			{
				worst = code;
				where = i;
			}
		}
	if (worst != CSV_ERROR_NONE)
		put_error(plain->log, plain->records, line, scan->start,
				  scan->end - scan->start, plain->rows, worst, (int) mode,
				  where);
	else
	{
		put_format(plain->log, "row at %llu line %llu",
				   (unsigned long long) scan->start, (unsigned long long) line);
		put(plain->log, row.bytes, row.nbytes);
		put_string(plain->log, "\n");
		plain->rows++;
	}
	plain->records++;
	free(row.bytes);
}

/* the end of the line at `from`, without its boundary, and what comes next */
static void
plain_line(Plain *plain, uint64_t from, uint64_t *end, uint64_t *next)
{
	const uint8_t *bytes = plain->c->input.bytes;
	uint64_t	nbytes = plain->c->input.nbytes;

	for (uint64_t pos = from; pos < nbytes; pos++)
		if (csv_class_at(plain->dialect, bytes, pos, nbytes) == CSV_CLASS_BREAK)
		{
			*end = csv_content_end(plain->dialect, bytes, from, pos, nbytes);
			*next = pos + 1;
			plain->lines++;
			return;
		}
	*end = *next = nbytes;
}

static void
plain_read(const Case *c, const CsvDialect *dialect, Text *log)
{
	Plain		plain;
	uint64_t	nbytes = c->input.nbytes;
	uint64_t	pos = 0;
	uint64_t	alone_until = 0;

	memset(&plain, 0, sizeof(plain));
	plain.c = c;
	plain.dialect = dialect;
	plain.log = log;
	while (pos < nbytes)
	{
		CsvScan    *scan = &plain.scan;
		CsvMode		mode = pos < alone_until ? CSV_ALONE : CSV_NORMAL;
		uint64_t	line = plain.lines;
		uint64_t	before;

		/* blank lines are passed one by one: they may change the mode */
		before = pos;
		if (!dialect->opt.blank_is_record)
		{
			uint64_t	i = pos;

			if (csv_class_at(dialect, c->input.bytes, i, nbytes) ==
				CSV_CLASS_PRE_BREAK)
				i++;
			if (csv_class_at(dialect, c->input.bytes, i, nbytes) ==
				CSV_CLASS_BREAK)
			{
				pos = i + 1;
				plain.lines++;
			}
		}
		if (pos != before)
			continue;

		assert_int_equal(CSV_OK, csv_scan_record(scan, &plain_memory, dialect, mode,
									c->input.bytes, pos, nbytes, true));
		if (!scan->is_record)
			break;

		if (!scan->bad && scan->end - scan->start <= c->max_record_bytes)
		{
			for (uint64_t i = scan->start; i < scan->next; i++)
				if (csv_class_at(dialect, c->input.bytes, i, nbytes) ==
					CSV_CLASS_BREAK)
					plain.lines++;
			pos = scan->next;
			plain_good_record(&plain, line, mode);
		}
		else
		{
			bool		too_long = scan->end - scan->start > c->max_record_bytes;
			int			code = too_long ? CSV_ERROR_RECORD_TOO_LONG :
				scan->last_state == CSV_STATE_SKIP_LINE ?
				CSV_ERROR_TEXT_AFTER_QUOTE : CSV_ERROR_UNTERMINATED_QUOTE;
			uint64_t	start = scan->start;
			uint64_t	end;

			if (mode == CSV_NORMAL)
				alone_until = too_long ? start + c->max_record_bytes :
					scan->next;
			plain_line(&plain, start, &end, &pos);
			put_error(log, plain.records++, line, start, end - start,
					  plain.rows, code, (int) mode,
					  too_long ? 0 : scan->nfields - 1);
		}
	}
	free(plain.scan.separators);
}

/* ---- the engines ---- */

typedef struct Source
{
	const Text *input;
	size_t		pos;
} Source;

static size_t
read_source(void *arg, uint8_t *buffer, size_t nbytes)
{
	Source	   *source = arg;
	size_t		left = source->input->nbytes - source->pos;

	if (nbytes > left)
		nbytes = left;
	memcpy(buffer, source->input->bytes + source->pos, nbytes);
	source->pos += nbytes;
	return nbytes;
}

static void
put_batch(Text *log, const Case *c, const CsvDialect *dialect,
		  const CsvBatch *batch, uint64_t rows_before)
{
	const CsvLayout *layout = &c->layout;
	CsvScan		scan;
	uint32_t	e = 0;

	memset(&scan, 0, sizeof(scan));
	assert_int_equal(batch->nrecords, batch->nrows + batch->nerrors);
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		const CsvArray *array = &batch->arrays[i];

		for (uint32_t row = 0; row < batch->nrows; row++)
		{
			if (array->all_ok)
				assert_int_equal(array->status[row], CSV_VALUE_OK);
			if (array->status[row] >= CSV_VALUE_DOUBTFUL)
				assert_true(array->any_slow);
		}
		if (array->any_slow || layout->want_positions)
			assert_true(batch->nrows == 0 || (batch->row_offsets != NULL &&
											  batch->row_lines != NULL));
	}
	for (uint32_t row = 0; row <= batch->nrows; row++)
	{
		for (; e < batch->nerrors && batch->errors[e].before_row <= row; e++)
		{
			const CsvError *error = &batch->errors[e];

			put_error(log, batch->file_records + error->record,
					  batch->file_lines + error->line,
					  batch->file_offset + error->offset, error->length,
					  rows_before + error->before_row, error->code,
					  error->mode, error->where);
		}
		if (row == batch->nrows)
			break;
		put_format(log, "row at %llu line %llu",
				   (unsigned long long) (batch->file_offset +
										 batch->row_offsets[row]),
				   (unsigned long long) (batch->file_lines +
										 batch->row_lines[row]));
		for (uint32_t i = 0; i < layout->ncolumns; i++)
		{
			const CsvColumn *column = &layout->columns[i];
			const CsvArray *array = &batch->arrays[i];
			const uint8_t *entry = array->values + (size_t) row * array->stride;
			bool		text = column->kind == CSV_KIND_TEXT ||
				column->kind == CSV_KIND_CSTRING;

			switch (array->status[row])
			{
				case CSV_VALUE_NULL:
					put_string(log, " null");
					break;
				case CSV_VALUE_DOUBTFUL:
					put_string(log, " doubtful");
					break;
				case CSV_VALUE_LONG:
					{
						CsvSpan		span;

						assert_true(text);
						assert_int_equal(CSV_OK, csv_scan_record(&scan, &plain_memory,
													dialect, CSV_NORMAL,
													batch->bytes,
													batch->row_offsets[row],
													batch->nbytes, true));
						span = csv_scan_field(&scan, dialect, batch->bytes,
											  batch->nbytes, column->field);
						put_text_value(log, dialect, column,
									   batch->bytes + span.offset, span.length);
						break;
					}
				default:
					assert_int_equal(array->status[row], CSV_VALUE_OK);
					if (text)
					{
						uint32_t	header;

						memcpy(&header, entry, 4);
						assert_true((header >> 2) >= 4 &&
									(header >> 2) <= array->stride);
						if (column->kind == CSV_KIND_CSTRING)
						{
							assert_true((header >> 2) < array->stride);
							assert_int_equal(entry[header >> 2], 0);
						}
						put_string(log, " text ");
						put(log, entry + 4, (header >> 2) - 4);
					}
					else
						put_scalar(log, column, entry, array->stride);
			}
		}
		put_string(log, "\n");
	}
	free(scan.separators);
}

static CsvStatus
engine_read(const Case *c, const CsvEngine *engine, void *state, Text *log,
			CsvDialect *dialect)
{
	CsvReaderOptions options;
	CsvReader  *reader;
	CsvBatch	batch;
	CsvStatus	status;
	Source		source = {&c->input, 0};
	uint64_t	rows = 0;
	uint64_t	nbatches = 0;

	memset(&options, 0, sizeof(options));
	options.dialect = c->dialect;
	options.max_record_bytes = c->max_record_bytes;
	options.chunk_bytes = c->chunk_bytes;
	reader = csv_reader_create(&plain_memory, &options);
	assert_non_null(reader);
	assert_int_equal(csv_reader_set_engine(reader, engine, state), CSV_OK);
	assert_int_equal(csv_reader_open(reader, read_source, &source), CSV_OK);
	assert_int_equal(csv_reader_set_layout(reader, &c->layout), CSV_OK);
	*dialect = *csv_reader_dialect(reader);
	while ((status = csv_reader_next(reader, &batch)) == CSV_OK)
	{
		put_batch(log, c, dialect, &batch, rows);
		rows += batch.nrows;
		assert_true(++nbatches < 1000000);
	}
	csv_reader_free(reader);
	return status;
}

static CsvSession *session;
static bool have_device;
static CsvCudaOptions cuda_options;

/* show where two logs part */
static void
compare_logs(const Case *c, const char *name, const Text *expected,
			 const Text *found)
{
	size_t		i = 0;
	size_t		from;

	if (expected->nbytes == found->nbytes &&
		memcmp(expected->bytes, found->bytes, found->nbytes) == 0)
		return;
	while (i < expected->nbytes && i < found->nbytes &&
		   expected->bytes[i] == found->bytes[i])
		i++;
	from = i;
	while (from > 0 && expected->bytes[from - 1] != '\n')
		from--;
	print_error("%s differs at %zu: input of %zu bytes, chunks of %llu, quote %c escape %c quoting %d boundary %d multiline %d, max %llu, %u columns\n",
				name, i, c->input.nbytes, (unsigned long long) c->chunk_bytes,
				c->dialect.quote ? c->dialect.quote : '-',
				c->dialect.escape ? c->dialect.escape : '-',
				c->dialect.quoting, c->dialect.boundary, c->dialect.multiline,
				(unsigned long long) c->max_record_bytes, c->layout.ncolumns);
	print_error("expected: %.300s\n", expected->bytes == NULL ? "" :
				(const char *) expected->bytes + from);
	print_error("found:    %.300s\n", found->bytes == NULL ? "" :
				(const char *) found->bytes + from);
	if (c->input.nbytes < 3000)
	{
		FILE	   *file = fopen("/tmp/cuda_case.csv", "wb");

		if (file != NULL)
		{
			fwrite(c->input.bytes, 1, c->input.nbytes, file);
			fclose(file);
		}
	}
	fail();
}

static void
check_case(Case *c)
{
	Text		expected = {0};
	Text		by_cpu = {0};
	Text		by_cuda = {0};
	CsvDialect	dialect;
	char		reason[256];
	void	   *cpu;
	void	   *cuda;

	put(&c->input, "", 0);
	cpu = csv_cpu_open(&plain_memory, &(CsvCpuOptions) {.isa = CSV_ISA_BEST});
	assert_non_null(cpu);
	assert_int_equal(engine_read(c, &csv_cpu_engine, cpu, &by_cpu, &dialect),
					 CSV_END);
	csv_cpu_engine.close(cpu);
	plain_read(c, &dialect, &expected);
	put(&expected, "", 0);
	compare_logs(c, "cpu", &expected, &by_cpu);

	if (have_device)
	{
		CsvStatus	status;

		cuda = csv_cuda_open(session, &cuda_options, &plain_memory, reason,
							 sizeof(reason));
		if (cuda == NULL)
			fail_msg("%s", reason);
		status = engine_read(c, &csv_cuda_engine, cuda, &by_cuda, &dialect);
		if (status != CSV_END)
			fail_msg("status %d: %s", status, csv_cuda_engine.message(cuda));
		csv_cuda_engine.close(cuda);
		compare_logs(c, "cuda", &expected, &by_cuda);
	}
	free(expected.bytes);
	free(by_cpu.bytes);
	free(by_cuda.bytes);
}

#define NEED_DEVICE() \
	do { \
		if (!have_device) \
			skip(); \
	} while (0)

/* ---- tests ---- */

static void
reads_every_kind_of_value(void **unused)
{
	static const CsvKind kinds[] = {
		CSV_KIND_BOOL, CSV_KIND_INT2, CSV_KIND_INT4, CSV_KIND_INT8,
		CSV_KIND_FLOAT4, CSV_KIND_FLOAT8, CSV_KIND_NUMERIC, CSV_KIND_DATE,
		CSV_KIND_TIMESTAMP, CSV_KIND_TIMESTAMPTZ, CSV_KIND_UUID,
		CSV_KIND_TEXT, CSV_KIND_CSTRING};
	Case		c;

	(void) unused;
	NEED_DEVICE();
	start_case(&c, 13, kinds, 13);
	c.columns[6].precision = 12;
	c.columns[6].scale = 2;
	put_string(&c.input,
			   "t,1,-2,3,1.5,-2.25e3,12.345,2024-02-29,2024-02-29 12:34:56.789,2024-02-29 12:34:56+02,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,text,cstring\n"
			   "\"f\",\"1\",\"-2\",\"3\",\"1.5\",\"1e5\",\"7\",\"2000-01-01\",\"2000-01-01 00:00\",\"2000-01-01 00:00Z\",\"a0eebc999c0b4ef8bb6d6bb9bd380a11\",\"te\"\"xt\",\"c\"\n"
			   ",,,,,,,,,,,,\n"
			   "x,99999,x,1e3,nan,inf,NaN,infinity,now,now,1,,\"\"\n"
			   "yes, 1,1 ,0x10,1e-400,1e400,1e10,1999-2-3,epoch,today,{},\xc3\xa9,\xe2\x82\xac\n"
			   "1,2\n"
			   "t,1,2,3,4,5,6,2020-01-01,2020-01-01,2020-01-01,x,a\xff,b\n"
			   "t,1,2,3,4,5,6,2020-01-01,2020-01-01,2020-01-01,x,b,c");
	check_case(&c);
	c.layout.pad = true;
	check_case(&c);
	c.layout.encoding = CSV_ENCODING_OTHER;
	c.layout.has_default = true;
	c.layout.default_bytes = (const uint8_t *) "1";
	c.layout.default_length = 1;
	check_case(&c);
	end_case(&c);
}

static void
keeps_to_limits_and_types(void **unused)
{
	static const CsvKind kinds[] = {CSV_KIND_TEXT, CSV_KIND_TEXT,
		CSV_KIND_TEXT, CSV_KIND_INT4, CSV_KIND_CSTRING, CSV_KIND_TEXT};
	Case		c;

	(void) unused;
	NEED_DEVICE();
	start_case(&c, 3, kinds, 6);
	c.columns[0] = column_of(0, 1, CSV_KIND_TEXT);
	c.columns[0].type_chars = 4;
	c.columns[0].pad_blanks = true;
	c.columns[1] = column_of(0, 2, CSV_KIND_CSTRING);
	c.columns[1].byte_width = 8;
	c.columns[2] = column_of(1, 3, CSV_KIND_TEXT);
	c.columns[2].type_chars = 3;
	c.columns[3] = column_of(1, 4, CSV_KIND_INT4);
	c.columns[3].max_chars = 5;
	c.columns[4] = column_of(2, 5, CSV_KIND_TEXT);
	c.columns[4].type_chars = 2;
	c.columns[4].max_chars = 4;
	c.columns[5] = column_of(2, 6, CSV_KIND_TEXT);
	c.columns[5].force_null = true;
	put_string(&c.input,
			   "ab,12,xy\n"
			   "abcd    ,123,xy  \n"
			   "abcd     ,123,xy\n"
			   "abcde,12,xy\n"
			   "\xc3\xa9\xc3\xa9,\"1  \",xyz\n"
			   "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9  ,1,xyzab\n"
			   "a,000001,\"\"\n"
			   "a,1234,a\n"
			   "a,\"a\"\"b\",\"a \"\" \"\n"
			   "\"\"\"\"\"\"\"\",\"\"\"\"\"\"\"\",\"\"\"\"\"\"\"\"\n");
	put(&c.input, "a\0b,1,2\n", 8);
	put_string(&c.input, "\xf0\x9f\x98\x80,1\xf0\x9f\x98,2\n");
	check_case(&c);
	end_case(&c);
}

/* bytes that make trouble, more or less often */
static const char *const pieces[] = {
	"\"", "\"", "\"\"", ",", ",", ",", "\n", "\n", "\r\n", "\r", "\\", "\\\"",
	" ", "  ", "a", "b", "cde", "12", "3.5", "-7", "NULL", "t", "2024-01-31",
	"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xff", "\xe2\x82", ";",
	"00000000", "longer text without anything special in it",
"2024-01-31 01:02:03"};

static void
random_columns(Case *c)
{
	uint32_t	n = random_below(9);
	uint32_t	field = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		CsvColumn  *column = &c->columns[i];

		field += random_below(2);
		if (field >= c->layout.nfields)
			field = c->layout.nfields - 1;
		*column = column_of(field, i + 1, random_below(2) ? CSV_KIND_TEXT :
							(CsvKind) random_below(CSV_NUM_KINDS));
		if (random_below(4) == 0)
			column->max_chars = (int32_t) random_below(12);
		if (random_below(4) == 0)
			column->byte_width = (int32_t) (4 * (1 + random_below(4)));
		if (random_below(4) == 0)
			column->force_null = true;
		if (random_below(4) == 0)
			column->force_not_null = true;
		if (column->kind == CSV_KIND_TEXT && random_below(4) == 0)
		{
			column->type_chars = (int32_t) (1 + random_below(12));
			column->pad_blanks = random_below(2);
		}
		if (column->kind == CSV_KIND_NUMERIC && random_below(2))
		{
			column->precision = (int16_t) (1 + random_below(30));
			column->scale = (int16_t) random_below((uint32_t) column->precision + 1);
		}
		if (column->kind == CSV_KIND_DECIMAL64 ||
			column->kind == CSV_KIND_DECIMAL128)
		{
			column->precision = (int16_t) (1 + random_below(18));
			column->scale = (int16_t) random_below((uint32_t) column->precision + 1);
		}
		if (column->kind == CSV_KIND_TIMESTAMP && random_below(2))
			column->precision = (int16_t) random_below(7);
	}
	c->layout.ncolumns = n;
}

static void
random_case(Case *c, uint32_t max_bytes)
{
	static const char *const nulls[] = {"", "", "NULL", "b"};
	const char *null = nulls[random_below(4)];
	uint32_t	nbytes = 1 + random_below(1 + random_below(max_bytes));
	bool		wild = random_below(3) == 0;

	start_case(c, 1 + random_below(4), NULL, 0);
	c->dialect.delimiter = random_below(8) ? ',' : ';';
	if (random_below(8) == 0)
		c->dialect.quote = 0;
	else if (random_below(8) == 0)
		c->dialect.quote = 'b';
	if (random_below(4) == 0)
		c->dialect.escape = random_below(2) ? '\\' : ' ';
	if (random_below(16) == 0)
		c->dialect.escape = c->dialect.delimiter;
	if (c->dialect.quote == 0)
		c->dialect.escape = 0;
	c->dialect.quoting = random_below(2);
	c->dialect.boundary = (uint8_t) random_below(4);
	c->dialect.multiline = random_below(4) != 0;
	c->layout.pad = random_below(3) == 0;
	c->layout.encoding = random_below(4) == 0;
	c->layout.decimal_separator = random_below(4) ? '.' : ',';
	c->layout.null_bytes = (const uint8_t *) null;
	c->layout.null_length = (uint32_t) strlen(null);
	if (strchr(null, c->dialect.quote) != NULL && c->dialect.quote != 0)
		c->layout.null_length = 0;
	if (random_below(4) == 0)
	{
		c->layout.has_default = true;
		c->layout.default_bytes = (const uint8_t *) "12";
		c->layout.default_length = 2;
	}
	if (random_below(4) == 0)
		c->max_record_bytes = 20 + random_below(200);
	random_columns(c);

	while (c->input.nbytes < nbytes)
	{
		if (wild)
			put_string(&c->input, pieces[random_below(sizeof(pieces) / sizeof(pieces[0]))]);
		else
		{
			/* mostly a record as it should be */
			for (uint32_t i = 0; i < c->layout.nfields; i++)
			{
				bool		quoted = c->dialect.quote != 0 && random_below(3) == 0;
				char		quote[2] = {(char) c->dialect.quote, 0};
				char		delimiter[2] = {(char) c->dialect.delimiter, 0};

				if (i > 0)
					put_string(&c->input, delimiter);
				if (quoted)
					put_string(&c->input, quote);
				for (uint32_t j = random_below(4); j > 0; j--)
					put_string(&c->input, pieces[random_below(200) == 0 ?
												 random_below(32) :
												 12 + random_below(14)]);
				if (quoted && random_below(4) == 0)
					put_string(&c->input, random_below(2) ? "\n" : ",");
				if (quoted && random_below(4) == 0)
				{
					put_string(&c->input, quote);
					put_string(&c->input, quote);
				}
				if (quoted)
					put_string(&c->input, quote);
			}
			if (random_below(300) == 0)
				put(&c->input, "\0", 1);
			put_string(&c->input, c->dialect.boundary == CSV_BOUNDARY_CR ? "\r" :
					   c->dialect.boundary == CSV_BOUNDARY_CRLF ? "\r\n" :
					   random_below(8) ? "\n" : "\r\n");
			if (random_below(50) == 0)
				put_string(&c->input, "\n\n");
		}
	}
	c->chunk_bytes = random_below(2) ? 1 << 20 : 1 + random_below(2 * nbytes);
}

static uint32_t
rounds(uint32_t usual)
{
	const char *value = getenv("CSV_TEST_ROUNDS");
	uint32_t	most = value == NULL ? UINT32_MAX : (uint32_t) atoi(value);

	return usual < most ? usual : most;
}

static void
agrees_on_random_short_inputs(void **unused)
{
	uint32_t	n = rounds(1500);

	(void) unused;
	NEED_DEVICE();
	for (uint32_t i = 0; i < n; i++)
	{
		Case		c;

		random_case(&c, 300);
		check_case(&c);
		end_case(&c);
	}
}

static void
agrees_on_random_longer_inputs(void **unused)
{
	uint32_t	n = rounds(300);

	(void) unused;
	NEED_DEVICE();
	for (uint32_t i = 0; i < n; i++)
	{
		Case		c;

		random_case(&c, 100000);
		check_case(&c);
		end_case(&c);
	}
}

/* long fields in each of their shapes, measured in pieces */
static void
agrees_on_long_fields(void **unused)
{
	uint32_t	n = rounds(60);

	(void) unused;
	NEED_DEVICE();
	for (uint32_t i = 0; i < n; i++)
	{
		static const CsvKind kinds[] = {CSV_KIND_TEXT, CSV_KIND_TEXT,
		CSV_KIND_TEXT};
		Case		c;

		start_case(&c, 3, kinds, 3);
		c.dialect.quoting = random_below(2);
		if (random_below(3) == 0)
			c.dialect.escape = '\\';
		if (random_below(3) == 0)
			c.columns[0].type_chars = 100 + (int32_t) random_below(60000);
		if (random_below(3) == 0)
			c.columns[1].max_chars = 100 + (int32_t) random_below(60000);
		if (random_below(3) == 0)
			c.columns[2] = column_of(2, 3, CSV_KIND_INT4);
		else if (random_below(3) == 0)
			c.columns[2] = column_of(2, 3, CSV_KIND_CSTRING);
		if (random_below(3) == 0)
			c.layout.encoding = CSV_ENCODING_OTHER;
		for (uint32_t record = 0; record < 40; record++)
		{
			for (uint32_t field = 0; field < 3; field++)
			{
				uint32_t	length = random_below(3) ? random_below(20) :
					random_below(random_below(3) ? 2000 : 60000);
				uint32_t	shape = random_below(8);
				bool		quoted = random_below(2);
				size_t		until;

				if (field > 0)
					put_string(&c.input, ",");
				if (quoted)
					put_string(&c.input, "\"");
				until = c.input.nbytes + length;
				while (c.input.nbytes < until)
				{
					uint32_t	r = random_below(1000);

					if (shape == 0)
						put_string(&c.input, "0");
					else if (shape == 1)
						put_string(&c.input, " ");
					else if (shape == 2)
						put_string(&c.input, "\xe2\x82\xac");
					else if (shape == 3 && quoted)
						put_string(&c.input, "\"\"");
					else if (shape == 4 && quoted && r < 100)
						put_string(&c.input, r < 50 ? "\\\"" : "\\\\");
					else if (r < 4)
						put_string(&c.input, pieces[12 + random_below(16)]);
					else if (r == 5 && random_below(20) == 0)
						put(&c.input, "\0", 1);
					else if (r == 6 && random_below(20) == 0)
						put_string(&c.input, "\xed\xa0\x80");
					else
						put_string(&c.input, "x");
				}
				if (random_below(4) == 0)
					put_repeated(&c.input, " ", random_below(100));
				if (quoted)
					put_string(&c.input, "\"");
			}
			put_string(&c.input, "\n");
		}
		c.chunk_bytes = random_below(2) ? 1 << 24 :
			1000 + random_below(300000);
		check_case(&c);
		end_case(&c);
	}
}

static void
reads_one_giant_field_among_short_ones(void **unused)
{
	static const CsvKind kinds[] = {CSV_KIND_INT4, CSV_KIND_TEXT};
	Case		c;
	size_t		giant = rounds(100) < 100 ? 200000 : 10000000;

	(void) unused;
	NEED_DEVICE();
	start_case(&c, 2, kinds, 2);
	put_repeated(&c.input, "17,short\n", 5000);
	put_string(&c.input, "18,\"");
	put_repeated(&c.input, "giant \"\"quoted\"\" \xc3\xa9\n", giant / 20);
	put_string(&c.input, "\"\n");
	put_repeated(&c.input, "19,short\n", 5000);
	check_case(&c);
	end_case(&c);
}

static void
reads_records_of_many_fields(void **unused)
{
	static const CsvKind kinds[] = {CSV_KIND_INT4, CSV_KIND_TEXT,
	CSV_KIND_NUMERIC};
	Case		c;

	(void) unused;
	NEED_DEVICE();
	start_case(&c, 3000, kinds, 3);
	c.columns[1].field = 1500;
	c.columns[2].field = 2999;
	for (uint32_t record = 0; record < 300; record++)
	{
		for (uint32_t field = 0; field < 3000; field++)
			put_format(&c.input, "%s%u", field > 0 ? "," : "",
					   random_below(100));
		put_string(&c.input, record % 50 == 7 ? ",1\n" : "\n");
	}
	check_case(&c);
	end_case(&c);
}

/* a break as the dialect has it */
static const char *
some_break(const Case *c)
{
	switch (c->dialect.boundary)
	{
		case CSV_BOUNDARY_CR:
			return "\r";
		case CSV_BOUNDARY_CRLF:
			return "\r\n";
		case CSV_BOUNDARY_LF:
			return "\n";
		default:
			return random_below(2) ? "\n" : "\r\n";
	}
}

/* a well-formed field of some length; empty ones, and those of quotes alone too */
static void
put_well_formed_field(Case *c, size_t length)
{
	bool		quoted = c->dialect.quote != 0 && random_below(2);
	size_t		until;

	if (quoted)
		put_string(&c->input, "\"");
	until = c->input.nbytes + length;
	while (c->input.nbytes < until)
	{
		uint32_t	r = random_below(200);

		if (quoted && r < 20)
			put_string(&c->input, "\"\"");
		else if (quoted && r < 40)
			put_string(&c->input, ",");
		else if (quoted && r < 50 && c->dialect.multiline)
			put_string(&c->input, r < 42 ? "\r" : some_break(c));
		else
			put_string(&c->input, "x");
	}
	if (quoted)
		put_string(&c->input, "\"");
}

/*
 * What the one-pass kernel takes, over a few of its tiles (of 16 kB), with all
 * that may stand at a tile's or a thread's edge; and what it nearly takes.
 */
static void
reads_well_formed_input_over_several_tiles(void **unused)
{
	static const CsvKind kinds[] = {CSV_KIND_TEXT, CSV_KIND_INT4};
	uint32_t	n = rounds(400);

	(void) unused;
	NEED_DEVICE();
	for (uint32_t i = 0; i < n; i++)
	{
		const uint32_t tile = 16 * 1024;
		uint32_t	nfields = random_below(3) == 0 ? 1 : 2;
		uint32_t	mean = random_below(3) == 0 ? 2 : random_below(2) ? 30 : 3000;
		size_t		until = random_below(4) == 0 ? 1 + random_below(200) :
			tile * (1 + random_below(4)) - 3 + random_below(6);
		Case		c;

		start_case(&c, nfields, kinds, nfields);
		c.dialect.boundary = random_below(4);
		c.dialect.quoting = random_below(2);
		c.dialect.multiline = random_below(3) != 0;
		c.dialect.blank_is_record = nfields == 1;
		if (random_below(5) == 0)
			c.dialect.quote = 0;
		while (c.input.nbytes < until)
		{
			for (uint32_t field = 0; field < nfields; field++)
			{
				if (field > 0)
					put_string(&c.input, ",");
				put_well_formed_field(&c, random_below(4) == 0 ? 0 :
									  random_below(2 * mean));
			}
			put_string(&c.input, some_break(&c));
			while (random_below(10) == 0)
				put_string(&c.input, some_break(&c));
			if (random_below(300) == 0)
				put_repeated(&c.input, some_break(&c), random_below(3 * tile));
		}

		/* any byte may be the last, with a record or a quote left open */
		if (random_below(4) != 0)
			c.input.nbytes = until;
		if (random_below(3) == 0)
		{
			static const char hostile[] = "\",\r\nx";

			c.input.bytes[random_below((uint32_t) c.input.nbytes)] =
				(uint8_t) hostile[random_below(5)];
		}
		c.max_record_bytes = random_below(8) == 0 ? 2000 : 1 << 24;
		c.chunk_bytes = random_below(3) == 0 ? tile + random_below(3) - 1 :
			1 << 24;
		check_case(&c);
		end_case(&c);
	}
}

/* the shortest fields and records there are: several windows to a chunk */
static void
reads_very_short_records_in_windows(void **unused)
{
	static const CsvKind kinds[] = {CSV_KIND_INT4};
	static const CsvKind two[] = {CSV_KIND_INT2, CSV_KIND_TEXT};
	size_t		scale = rounds(100) < 100 ? 20 : 1;
	Case		c;

	(void) unused;
	NEED_DEVICE();

	start_case(&c, 1, kinds, 1);
	for (size_t i = 0; i < 3000000 / scale; i++)
		put_string(&c.input, i % 1000 == 7 ? "x\n" : i % 1001 == 3 ? "1,2\n" :
				   i % 3 == 0 ? "\n" : "7\n");
	c.chunk_bytes = 1 << 26;
	check_case(&c);
	end_case(&c);

	start_case(&c, 2, two, 2);
	for (size_t i = 0; i < 2000000 / scale; i++)
		put_string(&c.input, i % 100000 == 70 ? "1,\xff\n" :
				   i % 100001 == 3 ? "\n\n" : i % 4 ? ",\n" : "1,abc\n");
	c.chunk_bytes = 1 << 26;
	check_case(&c);
	end_case(&c);

	/* one record of commas alone */
	start_case(&c, 2, two, 2);
	put_repeated(&c.input, ",", 6000000 / scale);
	put_string(&c.input, "\n1,b\n");
	c.chunk_bytes = 1 << 26;
	check_case(&c);
	end_case(&c);

	/* nothing but bad records */
	start_case(&c, 2, two, 2);
	put_repeated(&c.input, "\"x\"y\n1\n", 700000 / scale);
	c.chunk_bytes = 1 << 26;
	check_case(&c);
	end_case(&c);

	/* nothing but blank lines */
	start_case(&c, 2, two, 2);
	put_repeated(&c.input, "\n", 3000000 / scale);
	c.chunk_bytes = 1 << 22;
	check_case(&c);
	end_case(&c);
}

/* a quote gone astray in many a place: regular and irregular stretches */
static void
hands_irregular_stretches_to_the_cpu(void **unused)
{
	static const CsvKind kinds[] = {CSV_KIND_INT4, CSV_KIND_TEXT};
	size_t		n = rounds(100) < 100 ? 2000 : 200000;
	Case		c;

	(void) unused;
	NEED_DEVICE();
	for (int i = 0; i < 2; i++)
	{
		start_case(&c, 2, kinds, 2);
		for (size_t record = 0; record < n; record++)
		{
			if (record % (n / 4) == n / 8)
				put_string(&c.input, "1,\"stray\n");
			else if (record % (n / 5) == 0)
				put_string(&c.input, "2,\"two\nlines\"\n");
			else if (record % 1000 == 1)
				put_string(&c.input, "3,\"text\" after\n");
			else
				put_string(&c.input, "4,regular\n");
		}
		c.max_record_bytes = i == 0 ? 16 * 1024 * 1024 : 1000;
		c.chunk_bytes = i == 0 ? 1 << 26 : 100000;
		check_case(&c);
		end_case(&c);
	}
}

static bool
say_yes(void *arg)
{
	(void) arg;
	return true;
}

static void
can_be_interrupted_and_called_again(void **unused)
{
	static const CsvKind kinds[] = {CSV_KIND_INT4, CSV_KIND_TEXT};
	Case		c;
	CsvDialect	dialect;
	CsvInput	input;
	CsvBatch	batch;
	CsvStatus	status;
	char		reason[256];
	uint8_t    *bytes;
	void	   *cuda;

	(void) unused;
	NEED_DEVICE();
	start_case(&c, 2, kinds, 2);
	put_repeated(&c.input, "1,abc\n", 1000000);
	csv_dialect_compile(&dialect, &c.dialect);
	cuda = csv_cuda_open(session, &cuda_options, &plain_memory, reason,
						 sizeof(reason));
	assert_non_null(cuda);
	bytes = csv_cuda_engine.alloc_input(cuda, c.input.nbytes + 128);
	assert_non_null(bytes);
	memcpy(bytes + 64, c.input.bytes, c.input.nbytes);
	assert_int_equal(csv_cuda_engine.configure(cuda, &dialect, &c.layout),
					 CSV_OK);
	memset(&input, 0, sizeof(input));
	input.bytes = bytes + 64;
	input.nbytes = c.input.nbytes;
	input.at_end = true;
	input.max_record_bytes = 1000000;
	input.interrupted = say_yes;
	assert_int_equal(csv_cuda_engine.parse(cuda, &input, &batch),
					 CSV_INTERRUPTED);
	input.interrupted = NULL;
	status = csv_cuda_engine.parse(cuda, &input, &batch);
	assert_int_equal(status, CSV_OK);
	assert_int_equal(batch.nrows, 1000000);
	assert_int_equal(batch.consumed, c.input.nbytes);
	csv_cuda_engine.free_input(cuda, bytes);
	csv_cuda_engine.close(cuda);
	end_case(&c);
}

static void
keeps_to_a_memory_limit(void **unused)
{
	static const CsvKind kinds[] = {CSV_KIND_INT4, CSV_KIND_TEXT};
	CsvCudaOptions saved = cuda_options;
	Case		c;

	(void) unused;
	NEED_DEVICE();
	csv_cuda_shutdown(session);
	cuda_options.memory_limit = 24 * 1024 * 1024;
	start_case(&c, 2, kinds, 2);
	put_repeated(&c.input, "12345678,some text in a field\n",
				 rounds(100) < 100 ? 300000 : 1000000);
	c.chunk_bytes = 1 << 26;
	check_case(&c);

	/* a record that is too much for it */
	{
		Text		log = {0};
		CsvDialect	dialect;
		char		reason[256];
		void	   *cuda;

		c.input.nbytes = 0;
		put_string(&c.input, "1,\"");
		put_repeated(&c.input, "x", 15000000);
		put_string(&c.input, "\"\n");
		cuda = csv_cuda_open(session, &cuda_options, &plain_memory, reason,
							 sizeof(reason));
		assert_non_null(cuda);
		assert_int_equal(engine_read(&c, &csv_cuda_engine, cuda, &log,
									 &dialect), CSV_DEVICE_FAILED);
		assert_non_null(strstr(csv_cuda_engine.message(cuda), "limit"));
		csv_cuda_engine.close(cuda);
		free(log.bytes);
	}
	end_case(&c);
	cuda_options = saved;
}

static void
lists_the_devices(void **unused)
{
	CsvCudaDevice devices[16];
	char		name[CSV_CUDA_NAME_SIZE];
	int			n;

	(void) unused;
	NEED_DEVICE();
	n = csv_cuda_list_devices(session, devices, 16);
	assert_true(n >= 1);
	assert_true(devices[0].usable);
	assert_true(devices[0].memory_total > 0);
	assert_true(devices[0].memory_free != 0);
	assert_true(csv_cuda_device_name(session, 0, name, sizeof(name)));
	assert_string_equal(name, devices[0].name);
	print_message("device 0: %s, %d.%d, %llu MB, %lld MB free\n",
				  devices[0].name, devices[0].capability_major,
				  devices[0].capability_minor,
				  (unsigned long long) devices[0].memory_total >> 20,
				  (long long) devices[0].memory_free >> 20);
	assert_null(csv_cuda_open(session, &(CsvCudaOptions){.device = 77},
							  &plain_memory, name, sizeof(name)));
	print_message("device 77: %s\n", name);
}

static void
survives_running_out_of_memory(void **unused)
{
	static const CsvKind kinds[] = {CSV_KIND_INT4, CSV_KIND_TEXT};
	CsvCudaOptions options = cuda_options;
	CsvDialect	dialect;
	Text		log = {0};
	Case		c;
	char		reason[256];
	void	   *cuda;

	(void) unused;
	NEED_DEVICE();
	options.fault = CSV_CUDA_FAULT_NO_MEMORY;
	options.fault_at_chunk = 2;
	start_case(&c, 2, kinds, 2);
	put_repeated(&c.input, "1,abc\n", 1000);
	c.chunk_bytes = 1000;
	cuda = csv_cuda_open(session, &options, &plain_memory, reason,
						 sizeof(reason));
	assert_non_null(cuda);
	assert_int_equal(engine_read(&c, &csv_cuda_engine, cuda, &log, &dialect),
					 CSV_DEVICE_FAILED);
	assert_non_null(strstr(csv_cuda_engine.message(cuda), "memory"));
	csv_cuda_engine.close(cuda);
	free(log.bytes);
	check_case(&c);
	end_case(&c);
}

/* the last test: the context is gone after it */
static void
says_why_after_a_trap(void **unused)
{
	static const CsvKind kinds[] = {CSV_KIND_INT4, CSV_KIND_TEXT};
	CsvCudaOptions options = cuda_options;
	CsvDialect	dialect;
	Text		log = {0};
	Case		c;
	char		reason[256];
	void	   *cuda;

	(void) unused;
	NEED_DEVICE();
	if (getenv("CSV_TEST_NO_TRAP") != NULL)
	{
		csv_cuda_shutdown(session);
		skip();
	}
	options.fault = CSV_CUDA_FAULT_TRAP;
	options.fault_at_chunk = 2;
	start_case(&c, 2, kinds, 2);
	put_repeated(&c.input, "1,abc\n", 1000);
	c.chunk_bytes = 1000;
	cuda = csv_cuda_open(session, &options, &plain_memory, reason,
						 sizeof(reason));
	assert_non_null(cuda);
	assert_int_equal(engine_read(&c, &csv_cuda_engine, cuda, &log, &dialect),
					 CSV_DEVICE_FAILED);
	print_message("after a trap: %s\n", csv_cuda_engine.message(cuda));
	csv_cuda_engine.close(cuda);
	assert_null(csv_cuda_open(session, &cuda_options, &plain_memory, reason,
							  sizeof(reason)));
	print_message("opened again: %s\n", reason);
	free(log.bytes);
	end_case(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_kind_of_value),
		cmocka_unit_test(keeps_to_limits_and_types),
		cmocka_unit_test(agrees_on_random_short_inputs),
		cmocka_unit_test(agrees_on_random_longer_inputs),
		cmocka_unit_test(agrees_on_long_fields),
		cmocka_unit_test(reads_one_giant_field_among_short_ones),
		cmocka_unit_test(reads_records_of_many_fields),
		cmocka_unit_test(reads_well_formed_input_over_several_tiles),
		cmocka_unit_test(reads_very_short_records_in_windows),
		cmocka_unit_test(hands_irregular_stretches_to_the_cpu),
		cmocka_unit_test(can_be_interrupted_and_called_again),
		cmocka_unit_test(keeps_to_a_memory_limit),
		cmocka_unit_test(lists_the_devices),
		cmocka_unit_test(survives_running_out_of_memory),
		cmocka_unit_test(says_why_after_a_trap),
	};
	CsvCudaDevice device;
	int			result;
	const char *seed = getenv("CSV_TEST_SEED");

	if (seed != NULL)
		random_state += (uint64_t) atoll(seed) * 0x9e3779b97f4a7c15u;
	session = csv_cuda_session_create();
	if (session == NULL)
		return 1;
	have_device = csv_cuda_list_devices(session, &device, 1) > 0;
	result = cmocka_run_group_tests(tests, NULL, NULL);
	csv_cuda_session_free(session);
	return result;
}
