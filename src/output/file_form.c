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

/* the file's last bytes, as the reader gets them; returns how many */
static size_t
read_tail(const CsvTable *table, uint8_t *tail)
{
	CsvSource  *source = csv_source_create(table);
	uint8_t    *bytes = palloc(CSV_TAIL_BYTES + CSV_READ_BYTES);
	CsvReadAhead ahead;
	size_t		n = 0;
	size_t		nread;

	(void) csv_source_open_next(source, NULL);
	n = csv_source_read(source, bytes, CSV_TAIL_BYTES);
	if (csv_source_read_ahead(source, &ahead) && ahead.file_bytes > 2 * CSV_TAIL_BYTES)
	{
		ahead.seek(ahead.arg, ahead.file_bytes - CSV_TAIL_BYTES);
		n = 0;
	}
	while ((nread = csv_source_read(source, bytes + n, CSV_READ_BYTES)) > 0)
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

/* does the line at the end mark the end of the data? */
static bool
ends_data(const CsvTable *table, const uint8_t *tail, size_t n)
{
	size_t		start;

	while (n > 0 && (tail[n - 1] == '\n' || tail[n - 1] == '\r'))
		n--;
	start = n;
	while (start > 0 && tail[start - 1] != '\n' && tail[start - 1] != '\r')
		start--;
	return (n - start == 1 && tail[start] == CSV_CTRL_Z) ||
		(n - start == 2 && table->reader.dialect.quoting == CSV_QUOTING_TEXT &&
		 memcmp(tail + start, "\\.", 2) == 0);
}

bool
csv_file_lacks_break(const CsvTable *table, const CsvFileForm *form)
{
	uint8_t		tail[CSV_TAIL_BYTES];
	size_t		n = read_tail(table, tail);

	if (ends_data(table, tail, n))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot append to file \"%s\"", table->filename),
				 errdetail("Its last line marks the end of the data.")));
	if (n == 0)
		return false;
	if (tail[n - 1] != csv_break_byte(form->boundary))
		return true;
	return form->boundary == CSV_BOUNDARY_CRLF && (n < 2 || tail[n - 2] != '\r');
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
