/*
 * file_form.c
 *		How records are written to a file of a table: where its fields and breaks are.
 *
 * A header tells in which fields columns are, bytes tell UTF-16, and the first line break
 * tells the others.  The reader that scans use finds all of this out.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "table/layout.h"
#include "output/fields.h"
#include "output/file_form.h"
#include "output/sink.h"
#include "reader/place.h"
#include "table/interrupts.h"
#include "table/memory.h"
#include "table/source.h"

#define CSV_READ_BYTES	(64 * 1024)

/* the factor by which reads of a file's end grow until the last line is complete */
#define CSV_LONGER		16

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

/* a NOTICE that rows are written by place; one for a table in a session */
static void
tell_of_other_names(const CsvTable *table, const char *filename)
{
	static List *told = NIL;
	MemoryContext outer = MemoryContextSwitchTo(TopMemoryContext);

	if (!list_member_oid(told, table->relid))
		ereport(NOTICE,
				(errmsg("header of \"%s\" has no name of a column of foreign table \"%s\"",
						filename, table->name),
				 errdetail("Rows are written in the order of the columns.")));
	told = list_append_unique_oid(told, table->relid);
	MemoryContextSwitchTo(outer);
}

/* no bytes, or those of a line break of any kind */
static bool
is_line_break(const uint8_t *bytes, uint64_t nbytes)
{
	return nbytes == 0 || (nbytes == 1 && (bytes[0] == '\r' || bytes[0] == '\n')) ||
		(nbytes == 2 && bytes[0] == '\r' && bytes[1] == '\n');
}

static void __attribute__((noreturn))
refuse_to_append(const CsvTable *table, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot append to file \"%s\"", table->filename),
			 errdetail_internal("%s", detail)));
}

/* form->has_bytes stays false if the file has neither records nor a header */
static void
read_form(const CsvTable *table, CsvFileForm *form)
{
	CsvRecord	header;
	bool		has_header;
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
	has_header = csv_reader_header(reader, &header);
	(void) csv_reader_rest(reader, &nbytes);
	form->is_blank = has_header && nbytes == 0 && csv_reader_place(reader)->lines <= 1 &&
		is_line_break(header.bytes, header.length);
	if (form->is_blank || (options.header_rows > 0 && !has_header))
	{
		if (!has_header && (csv_reader_place(reader)->lines > 0 || nbytes > 0))
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("the header of file \"%s\" is not complete",
							csv_source_name(source))));
		csv_source_close(source);
		return;
	}
	/* a further line may change which of them end the records that are there */
	if (options.dialect.boundary == CSV_BOUNDARY_AUTO && csv_reader_mixes_breaks(reader))
		refuse_to_append(table, "It has lines that end in carriage returns, and lines that end in line feeds. The option \"record_boundary\" must say which of them end records.");
	csv_file_layout_read(layout, reader, csv_source_name(source));
	if (has_header && !table->header_match &&
		!csv_file_layout_names(layout, reader, csv_source_name(source)))
		tell_of_other_names(table, csv_source_name(source));
	form->has_bytes = true;
	form->boundary = csv_reader_dialect(reader)->opt.boundary;
	if (form->boundary == CSV_BOUNDARY_AUTO)
		form->boundary = csv_reader_has_crlf(reader) ? CSV_BOUNDARY_CRLF : CSV_BOUNDARY_LF;
	form->nfields = layout->layout.nfields;
	for (int i = 0; i < layout->ncolumns; i++)
	{
		uint32_t	field = layout->columns[i].spec.field;

		form->fields[layout->columns[i].column->attnum - 1] =
			field == CSV_ABSENT_FIELD ? -1 : (int32) field;
	}
	csv_source_close(source);
}

CsvFileForm
csv_file_form_read(const CsvTable *table)
{
	CsvFileForm form = {.utf16 = CSV_UTF16_NO};
	CsvFileForm found;
	MemoryContext context;
	MemoryContext outer;
	struct stat st;

	if (csv_table_stat(table, table->filename, &st) != 0 ||
		 (S_ISREG(st.st_mode) && st.st_size == 0))
		return csv_file_form_new(table);
	csv_check_regular(table->filename, st.st_mode);
	form.fields = palloc(sizeof(int32) * Max(table->natts, 1));
	memset(form.fields, -1, sizeof(int32) * (size_t) table->natts);
	context = AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_fdw form",
									ALLOCSET_DEFAULT_SIZES);
	outer = MemoryContextSwitchTo(context);
	read_form(table, &form);
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(context);
	if (form.has_bytes)
		return form;
	found = form;
	form = csv_file_form_new(table);
	form.is_blank = found.is_blank;
	if (found.utf16 != CSV_UTF16_NO)
		form.utf16 = found.utf16;
	return form;
}

bool
csv_file_forms_equal(const CsvTable *table, const CsvFileForm *a, const CsvFileForm *b)
{
	return csv_break_byte(a->boundary) == csv_break_byte(b->boundary) && a->utf16 == b->utf16 &&
		a->nfields == b->nfields &&
		memcmp(a->fields, b->fields, sizeof(int32) * (size_t) table->natts) == 0;
}

const char *
csv_line_break(uint8_t boundary)
{
	return boundary == CSV_BOUNDARY_CRLF ? "\r\n" : boundary == CSV_BOUNDARY_CR ? "\r" : "\n";
}

/* ---- the end of a file ---- */

/*
 * Read the file's last bytes, or all if there are fewer than `most`.  Returns how many.
 * Behind them there is room for a line break.
 */
static size_t
read_end(const CsvTable *table, size_t most, uint8_t **end)
{
	uint8_t    *bytes = palloc_extended(2 * most + CSV_READ_BYTES, MCXT_ALLOC_HUGE);
	CsvSource  *source = csv_source_create(table);
	size_t		n = 0;
	size_t		nread;
	CsvReadAhead ahead;

	(void) csv_source_open_next(source, NULL);
	nread = csv_source_read(source, bytes, CSV_READ_BYTES);
	if (csv_source_read_ahead(source, &ahead) && ahead.file_bytes > most + CSV_READ_BYTES)
	{
		ahead.seek(ahead.arg, ahead.file_bytes - most);
		nread = csv_source_read(source, bytes, CSV_READ_BYTES);
	}
	for (; nread > 0; nread = csv_source_read(source, bytes + n, CSV_READ_BYTES))
	{
		csv_check_interrupts();
		n += nread;
		if (n < 2 * most)
			continue;
		memmove(bytes, bytes + n - most, most);
		n = most;
	}
	csv_source_close(source);
	*end = bytes + n - Min(n, most);
	return Min(n, most);
}

static size_t
without_breaks(const uint8_t *bytes, size_t n)
{
	while (n > 0 && (bytes[n - 1] == '\n' || bytes[n - 1] == '\r'))
		n--;
	return n;
}

/*
 * The last line that is not empty, with all that follows.  Returns its length.  A line
 * that is longer than a record may be cut.
 */
static size_t
read_last_line(const CsvTable *table, uint8_t break_byte, uint8_t **line)
{
	for (size_t most = CSV_READ_BYTES;; most *= CSV_LONGER)
	{
		uint8_t    *end;
		size_t		n = read_end(table, most, &end);
		size_t		start = without_breaks(end, n);

		while (start > 0 && end[start - 1] != break_byte)
			start--;
		*line = end + start;
		if (start > 0 || n < most || most > table->reader.max_record_bytes + CSV_READ_BYTES)
			return n - start;
	}
}

bool
csv_file_lacks_break(const CsvTable *table, const CsvFileForm *form)
{
	CsvDialectOptions options = table->reader.dialect;
	bool		is_text = options.quoting == CSV_QUOTING_TEXT;
	const char *line_break = csv_line_break(form->boundary);
	size_t		nbreak = strlen(line_break);
	CsvDialect	dialect;
	uint8_t    *line;
	size_t		nbytes = read_last_line(table, csv_break_byte(form->boundary), &line);
	size_t		n = without_breaks(line, nbytes);
	size_t		nmark = nbytes >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	bool		lacks_break;

	if ((n == 1 && line[0] == CSV_CTRL_Z) ||
		(is_text && n == 2 && memcmp(line, "\\.", 2) == 0))
		refuse_to_append(table, "Its last line marks the end of the data.");
	if (nbytes == nmark)
		return false;
	if (form->boundary == CSV_BOUNDARY_CR && line[nbytes - 1] == '\n')
		refuse_to_append(table, "It ends in a line feed, and its records end in carriage returns.");
	lacks_break = options.boundary == CSV_BOUNDARY_AUTO ?
		line[nbytes - 1] != csv_break_byte(form->boundary) :
		nbytes < nbreak || memcmp(line + nbytes - nbreak, line_break, nbreak) != 0;
	if (lacks_break && line[nbytes - 1] == '\r' && options.boundary == CSV_BOUNDARY_AUTO)
		refuse_to_append(table, "Its last line has no line break, and ends in a carriage return, which would become a part of the line break.");
	if (!lacks_break && !(is_text && n > 0 && line[n - 1] == '\\'))
		return false;
	if (n > table->reader.max_record_bytes)
		refuse_to_append(table, "Its last line is longer than max_record_size.");

	/* the line break must not be, or become, a part of the record */
	if (lacks_break)
	{
		memcpy(line + nbytes, line_break, nbreak);
		nbytes += nbreak;
	}
	/* otherwise it is the table's; AUTO drops CRs before a LF */
	if (form->boundary == CSV_BOUNDARY_CR)
		options.boundary = CSV_BOUNDARY_CR;
	csv_dialect_compile(&dialect, &options);
	if (csv_pass_bytes(&dialect, CSV_STATE_RECORD_START, line, nmark, nbytes,
					   nbytes) != CSV_STATE_RECORD_START)
		refuse_to_append(table, "Its last record is not complete.");
	return lacks_break;
}

/* ---- UTF-16 ---- */

static void
add_unit(uint32 unit, CsvUtf16 utf16, StringInfo output)
{
	char		high = (char) (unit >> 8);
	char		low = (char) unit;

	appendStringInfoChar(output, utf16 == CSV_UTF16_BIG ? high : low);
	appendStringInfoChar(output, utf16 == CSV_UTF16_BIG ? low : high);
}

void
csv_utf8_to_utf16(const char *bytes, size_t n, CsvUtf16 utf16, StringInfo output)
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
