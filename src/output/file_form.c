/*
 * file_form.c
 *		How records are written to a file of a table: where its fields and breaks are.
 *
 * A header tells in which fields columns are, bytes tell UTF-16, and lone CRs tell that
 * they end the records.  The reader that scans use finds all of this out.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "batches/layout.h"
#include "output/fields.h"
#include "output/file_form.h"
#include "reader/place.h"
#include "table/interrupts.h"
#include "table/memory.h"
#include "table/source.h"

/* bytes at the end of a file that tell how it ends */
#define CSV_TAIL_BYTES	(CSV_END_OF_DATA_BYTES + 8)

#define CSV_READ_BYTES	(64 * 1024)

/* a byte-order mark, as the reader gets it */
#define CSV_MARK_BYTES	3

/* ---- forms ---- */

/* the number of the first field that no attribute has */
static int32
free_field(const CsvFileForm *form, int natts)
{
	for (int32 field = 0;; field++)
	{
		bool		is_free = true;

		for (int i = 0; i < natts; i++)
			is_free &= form->fields[i] != field;
		if (is_free)
			return field;
	}
}

/* the field of an earlier column of this name; -1: none */
static int32
named_field(const CsvTable *table, const CsvFileForm *form, int att)
{
	for (int i = 0; i < att; i++)
		if (table->columns[i].header_name != NULL && form->fields[i] >= 0 &&
			strcmp(table->columns[i].header_name, table->columns[att].header_name) == 0)
			return form->fields[i];
	return -1;
}

CsvFileForm
csv_file_form_new(const CsvTable *table)
{
	CsvFileForm form = {
		.boundary = table->reader.dialect.boundary,
		.utf16 = table->utf16 == CSV_UTF16_BY_MARK ? CSV_UTF16_NO :
		table->utf16 == CSV_UTF16_ANY ? CSV_UTF16_LITTLE : table->utf16,
		.nfields = table->nfields,
		.fields = palloc(sizeof(int32) * Max(table->natts, 1))
	};
	int32		most = -1;

	if (form.boundary == CSV_BOUNDARY_AUTO)
		form.boundary = CSV_BOUNDARY_LF;
	for (int i = 0; i < table->natts; i++)
		form.fields[i] = table->columns[i].field;
	for (int i = 0; i < table->natts; i++)
	{
		if (table->columns[i].header_name != NULL)
		{
			int32		named = named_field(table, &form, i);

			form.fields[i] = named >= 0 ? named : free_field(&form, table->natts);
		}
		most = Max(most, form.fields[i]);
	}
	if (form.nfields == 0)
		form.nfields = (uint32_t) most + 1;
	if ((int64) most >= (int64) form.nfields)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
				 errmsg("foreign table \"%s\" has more columns than the %u fields of a record",
						table->name, form.nfields)));
	return form;
}

/* false: the file has neither records nor a header */
static bool
read_form(const CsvTable *table, CsvFileForm *form)
{
	CsvRecord	header;
	uint64_t	nbytes;
	CsvMemory	memory = csv_context_memory(CurrentMemoryContext);
	CsvReaderOptions options = table->reader;
	CsvFileLayout *layout = csv_file_layout_create(table, csv_table_attributes(table),
												   NULL, false);
	CsvSource  *source = csv_source_create(table);
	CsvReader  *reader;

	options.interrupted = csv_process_interrupts;
	reader = csv_reader_create(&memory, &options);
	(void) csv_source_open_next(source, NULL);
	if (csv_reader_open(reader, csv_source_read, source) != CSV_OK)
		elog(ERROR, "could not read the beginning of file \"%s\"", csv_source_name(source));
	form->utf16 = csv_source_found_utf16(source);
	if (options.header_rows > 0 && !csv_reader_header(reader, &header))
	{
		(void) csv_reader_rest(reader, &nbytes);
		if (csv_reader_place(reader)->lines > 0 || nbytes > 0)
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("the header of file \"%s\" is not complete",
							csv_source_name(source))));
		csv_source_close(source);
		return false;
	}
	csv_file_layout_read(layout, reader, csv_source_name(source));
	form->has_bytes = true;
	form->boundary = csv_reader_dialect(reader)->opt.boundary;
	if (form->boundary == CSV_BOUNDARY_AUTO)
		form->boundary = CSV_BOUNDARY_LF;
	form->nfields = layout->layout.nfields;
	for (int i = 0; i < layout->ncolumns; i++)
	{
		uint32_t	field = layout->columns[i].spec.field;

		form->fields[layout->columns[i].column->attnum - 1] =
			field == CSV_ABSENT_FIELD ? -1 : (int32) field;
	}
	csv_source_close(source);
	return true;
}

CsvFileForm
csv_file_form_read(const CsvTable *table)
{
	CsvFileForm form;
	MemoryContext context;
	MemoryContext outer;
	bool		has_form;
	struct stat st;

	if (stat(table->filename, &st) != 0 || (S_ISREG(st.st_mode) && st.st_size == 0))
		return csv_file_form_new(table);
	if (!S_ISREG(st.st_mode))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a regular file", table->filename)));
	form.fields = palloc(sizeof(int32) * Max(table->natts, 1));
	memset(form.fields, -1, sizeof(int32) * (size_t) table->natts);
	context = AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_fdw form",
									ALLOCSET_DEFAULT_SIZES);
	outer = MemoryContextSwitchTo(context);
	has_form = read_form(table, &form);
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(context);
	if (!has_form)
	{
		CsvUtf16	utf16 = form.utf16;

		form = csv_file_form_new(table);
		form.utf16 = utf16 != CSV_UTF16_NO ? utf16 : form.utf16;
	}
	return form;
}

bool
csv_file_forms_equal(const CsvTable *table, const CsvFileForm *a, const CsvFileForm *b)
{
	return a->boundary == b->boundary && a->utf16 == b->utf16 &&
		a->nfields == b->nfields &&
		memcmp(a->fields, b->fields, sizeof(int32) * (size_t) table->natts) == 0;
}

/* ---- the end of a file ---- */

/*
 * Open the file near its end: nbytes bytes follow, or more.  Reads the first of them;
 * *bytes has room for CSV_READ_BYTES.
 */
static CsvSource *
open_end(const CsvTable *table, uint64 nbytes, uint8_t *bytes, size_t *nread)
{
	CsvSource  *source = csv_source_create(table);
	CsvReadAhead ahead;

	(void) csv_source_open_next(source, NULL);
	*nread = csv_source_read(source, bytes, CSV_READ_BYTES);
	if (csv_source_read_ahead(source, &ahead) && ahead.file_bytes > nbytes + CSV_READ_BYTES)
	{
		ahead.seek(ahead.arg, ahead.file_bytes - nbytes);
		*nread = csv_source_read(source, bytes, CSV_READ_BYTES);
	}
	return source;
}

/* the file's last bytes, as the reader gets them; returns how many */
static size_t
read_tail(const CsvTable *table, uint8_t *tail)
{
	uint8_t    *bytes = palloc(CSV_TAIL_BYTES + CSV_READ_BYTES);
	size_t		n = 0;
	size_t		nread;
	CsvSource  *source = open_end(table, CSV_TAIL_BYTES, bytes, &nread);

	for (; nread > 0; nread = csv_source_read(source, bytes + n, CSV_READ_BYTES))
	{
		size_t		nkept = Min(n + nread, CSV_TAIL_BYTES);

		csv_check_interrupts();
		memmove(bytes, bytes + n + nread - nkept, nkept);
		n = nkept;
	}
	memcpy(tail, bytes, n);
	csv_source_close(source);
	pfree(bytes);
	return n;
}

/* the last line, with its break.  A line that is longer than a record may be cut. */
static void
read_last_line(const CsvTable *table, char break_byte, CsvOutputBytes *line)
{
	uint64		most = table->reader.max_record_bytes + CSV_BREAK_CRS + 1;
	char	   *bytes = palloc(CSV_READ_BYTES);
	size_t		nread;
	CsvSource  *source = open_end(table, most + 1, (uint8_t *) bytes, &nread);

	for (; nread > 0; nread = csv_source_read(source, (uint8_t *) bytes, CSV_READ_BYTES))
	{
		size_t		start = nread - 1;

		csv_check_interrupts();
		while (start > 0 && bytes[start - 1] != break_byte)
			start--;
		if (start > 0 || (line->length > 0 && line->bytes[line->length - 1] == break_byte))
			line->length = 0;
		if (line->length <= most)
			csv_output_bytes(line, bytes + start, nread - start);
	}
	csv_source_close(source);
	pfree(bytes);
}

static bool
has_mark(const char *bytes, size_t n)
{
	return n >= CSV_MARK_BYTES && memcmp(bytes, "\xef\xbb\xbf", CSV_MARK_BYTES) == 0;
}

static size_t
without_breaks(const uint8_t *tail, size_t n)
{
	while (n > 0 && (tail[n - 1] == '\n' || tail[n - 1] == '\r'))
		n--;
	return n;
}

/* does the line at the end mark the end of the data? */
static bool
ends_data(const CsvTable *table, const uint8_t *tail, size_t n)
{
	size_t		start;

	n = without_breaks(tail, n);
	start = n;
	while (start > 0 && tail[start - 1] != '\n' && tail[start - 1] != '\r')
		start--;
	return (n - start == 1 && tail[start] == CSV_CTRL_Z) ||
		(n - start == 2 && table->reader.dialect.quoting == CSV_QUOTING_TEXT &&
		 memcmp(tail + start, "\\.", 2) == 0);
}

static void __attribute__((noreturn))
refuse_to_append(const CsvTable *table, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot append to file \"%s\"", table->filename),
			 errdetail_internal("%s", detail)));
}

/* ERROR if the line break behind the last line is, or would be, a part of its record */
static void
check_last_line(const CsvTable *table, const CsvFileForm *form, bool lacks_break)
{
	CsvDialectOptions options = table->reader.dialect;
	CsvDialect	dialect;
	CsvOutputBytes line;
	size_t		start;

	/* otherwise it is the table's; AUTO drops CRs before a LF */
	if (form->boundary == CSV_BOUNDARY_CR)
		options.boundary = CSV_BOUNDARY_CR;
	csv_dialect_compile(&dialect, &options);
	csv_output_begin(&line, CSV_READ_BYTES);
	read_last_line(table, (char) dialect.break_byte, &line);
	if (line.length > table->reader.max_record_bytes + CSV_BREAK_CRS + 1)
		refuse_to_append(table, "Its last line is longer than max_record_size.");
	if (lacks_break && form->boundary == CSV_BOUNDARY_CRLF)
		csv_output_byte(&line, '\r');
	if (lacks_break)
		csv_output_byte(&line, (char) dialect.break_byte);
	start = has_mark(line.bytes, line.length) ? CSV_MARK_BYTES : 0;
	if (csv_pass_bytes(&dialect, CSV_STATE_RECORD_START, (const uint8_t *) line.bytes, start,
					   line.length, line.length) != CSV_STATE_RECORD_START)
		refuse_to_append(table, "Its last record is not complete.");
}

bool
csv_file_lacks_break(const CsvTable *table, const CsvFileForm *form)
{
	uint8_t		tail[CSV_TAIL_BYTES];
	size_t		n = read_tail(table, tail);
	const CsvDialectOptions *options = &table->reader.dialect;
	bool		lacks_break;

	if (ends_data(table, tail, n))
		refuse_to_append(table, "Its last line marks the end of the data.");
	if (n == 0 || (n == CSV_MARK_BYTES && has_mark((const char *) tail, n)))
		return false;
	lacks_break = tail[n - 1] != csv_break_byte(form->boundary) ||
		(form->boundary == CSV_BOUNDARY_CRLF && (n < 2 || tail[n - 2] != '\r'));
	if (lacks_break && tail[n - 1] == '\r' && options->boundary == CSV_BOUNDARY_AUTO)
		refuse_to_append(table, "Its last line has no line break, and ends in a carriage return, which would become a part of the line break.");
	n = without_breaks(tail, n);
	if (lacks_break ||
		(options->quoting == CSV_QUOTING_TEXT && n > 0 && tail[n - 1] == '\\'))
		check_last_line(table, form, lacks_break);
	return lacks_break;
}

/* ---- UTF-16 ---- */

static void
add_unit(uint32 unit, CsvUtf16 utf16, CsvOutputBytes *output)
{
	char		high = (char) (unit >> 8);
	char		low = (char) unit;

	csv_output_byte(output, utf16 == CSV_UTF16_BIG ? high : low);
	csv_output_byte(output, utf16 == CSV_UTF16_BIG ? low : high);
}

void
csv_utf8_to_utf16(const char *bytes, size_t n, CsvUtf16 utf16, CsvOutputBytes *output)
{
	const unsigned char *at = (const unsigned char *) bytes;
	const unsigned char *end = at + n;

	for (; at < end; at += pg_utf_mblen(at))
	{
		uint32		code = utf8_to_unicode(at);

		if (code >= 0x10000)
		{
			add_unit(0xd800 + ((code - 0x10000) >> 10), utf16, output);
			add_unit(0xdc00 + ((code - 0x10000) & 0x3ff), utf16, output);
		}
		else
			add_unit(code, utf16, output);
	}
}
