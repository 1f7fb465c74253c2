/*
 * row_writer.c
 *		Rows of a table become records in the table's dialect.
 *
 * COPY's rules for quotes and backslashes make fields that the plain dialects read as
 * the same values.  In every other dialect each record is read again right away, field
 * by field, by the table that scans go by.  What a type's input function would make of
 * the text is tested, too, unless it is known.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "output/format.h"
#include "output/row_writer.h"
#include "reader/field.h"
#include "scan/value.h"
#include "table/memory.h"
#include "table/text.h"

/* microseconds from 1970 to 2000 */
#define CSV_EPOCH_MICROSECONDS \
	((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

/* room for the texts of a row, at first */
#define CSV_TEXTS_BYTES		1024

/* a column that has a field */
typedef struct WrittenColumn
{
	const CsvTableColumn *column;
	CsvFormatted formatted;
	CsvColumn	spec;
	bool		is_direct;		/* its text needs no look */
	bool		is_read_again;	/* by the type's input function */
	bool		has_comma;		/* as the decimal separator */
	bool		is_grouped;		/* by the thousands separator */
	FmgrInfo	input;
	Oid			ioparam;
	struct WrittenColumn *next; /* of the same field */
} WrittenColumn;

/* the text of a field, as the reader must find it */
typedef struct WrittenField
{
	WrittenColumn *column;			/* the first; NULL: none */
	bool		is_null;
	size_t		start;			/* in the writer's texts */
	size_t		length;
} WrittenField;

struct CsvRowWriter
{
	const CsvTable *table;
	const CsvFileForm *form;
	CsvDialect	dialect;		/* of the file's bytes, as the reader gets them */
	CsvOutputFormat format;
	const char *delimiter;		/* in the file's encoding */
	size_t		ndelimiter;
	WrittenField	   *fields;
	bool		is_checked;		/* every record is read again */
	bool		may_begin_file; /* there is no header */
	CsvOutputBytes texts;
	CsvScan		scan;
	MemoryContext context;		/* of the writer ... */
	MemoryContext row_context;	/* ... and of a row */
};

/* ---- set-up ---- */

/* text in the encoding of the reader's bytes becomes text in the file's encoding */
static const char *
to_file(const CsvTable *table, const char *text)
{
	return table->encoding == table->file_encoding ? text :
		pg_server_to_any(text, (int) strlen(text), table->file_encoding);
}

static void
begin_format(CsvRowWriter *writer)
{
	const CsvTable *table = writer->table;
	const CsvDialectOptions *dialect = &writer->dialect.opt;
	CsvOutputFormat *format = &writer->format;
	char		delimiter[CSV_DELIMITER_BYTES + 1];

	format->is_text = dialect->quoting == CSV_QUOTING_TEXT;
	format->is_bare = !format->is_text && dialect->quote == 0;
	format->delimiter = (char) dialect->delimiter;
	format->quote = (char) dialect->quote;
	format->escape = (char) dialect->escape;
	format->null = pg_any_to_server(table->null_string, (int) strlen(table->null_string),
									table->encoding);
	format->null_length = strlen(format->null);
	format->encoding = table->file_encoding;
	format->is_alone = writer->form->nfields == 1;
	csv_output_format_finish(format);
	csv_output_format_null(format);
	csv_dialect_delimiter(dialect, delimiter);
	writer->delimiter = pstrdup(to_file(table, delimiter));
	writer->ndelimiter = strlen(writer->delimiter);
}

/* do COPY's rules not suffice? */
static bool
is_odd(const CsvRowWriter *writer)
{
	const CsvTable *table = writer->table;
	const CsvDialectOptions *dialect = &writer->dialect.opt;
	bool		is_odd = writer->format.is_text || writer->format.is_bare ||
		writer->format.converts || dialect->trim || dialect->comment_length > 0 ||
		dialect->delimiter_rest_length > 0 || !dialect->multiline ||
		table->default_string != NULL || table->null_values != NIL ||
		table->file_encoding != table->encoding || writer->form->nfields == 1;

	for (int i = 0; i < table->natts; i++)
	{
		const CsvTableColumn *column = &table->columns[i];

		is_odd |= column->force_null || column->force_not_null ||
			column->null_values != NIL;
	}
	return is_odd;
}

static WrittenColumn *
make_column(const CsvRowWriter *writer, const CsvTableColumn *column)
{
	const CsvTable *table = writer->table;
	WrittenColumn *made = palloc0(sizeof(WrittenColumn));
	bool		is_number = csv_table_is_number(column->type);
	Oid			function;

	made->column = column;
	made->formatted.att = column->attnum - 1;
	csv_format_begin(&made->formatted, column->type);
	csv_table_kind(column, &made->spec);
	/* as CsvValueInput has it */
	made->has_comma = table->decimal_separator == ',' &&
		(column->type == NUMERICOID || column->type == FLOAT4OID ||
		 column->type == FLOAT8OID);
	made->is_grouped = is_number && table->thousands_separator != NULL &&
		!(writer->format.is_bare && strchr(table->delimiter, *table->thousands_separator));
	made->is_read_again = made->formatted.way == CSV_FORMAT_BY_FUNCTION;
	getTypeInputInfo(column->type, &function, &made->ioparam);
	fmgr_info(function, &made->input);
	made->is_direct = !made->has_comma && !made->is_grouped && !made->is_read_again &&
		column->pattern == NULL && made->spec.max_chars < 0 && made->spec.byte_width < 0;
	return made;
}

CsvRowWriter *
csv_row_writer_create(const CsvTable *table, const CsvFileForm *form)
{
	CsvRowWriter *writer = palloc0(sizeof(CsvRowWriter));
	CsvDialectOptions dialect = table->reader.dialect;

	writer->table = table;
	writer->form = form;
	writer->context = CurrentMemoryContext;
	writer->row_context = AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_fdw row",
												ALLOCSET_DEFAULT_SIZES);
	/* AUTO drops CRs before a LF */
	if (dialect.boundary != CSV_BOUNDARY_AUTO || form->boundary != CSV_BOUNDARY_LF)
		dialect.boundary = form->boundary;
	dialect.blank_is_record = form->nfields == 1;
	csv_dialect_compile(&writer->dialect, &dialect);
	begin_format(writer);
	csv_output_begin(&writer->texts, CSV_TEXTS_BYTES);
	writer->is_checked = is_odd(writer);
	writer->may_begin_file = table->reader.header_rows == 0;
	writer->fields = palloc0(sizeof(WrittenField) * form->nfields);
	for (int i = table->natts - 1; i >= 0; i--)
	{
		WrittenField	   *field = form->fields[i] >= 0 ? &writer->fields[form->fields[i]] : NULL;
		WrittenColumn	   *column;

		if (field == NULL)
			continue;
		column = make_column(writer, &table->columns[i]);
		column->next = field->column;
		field->column = column;
		writer->is_checked |= column->next != NULL;
	}
	return writer;
}

/* ---- ERRORs ---- */

static void __attribute__((noreturn))
refuse(const CsvRowWriter *writer, const char *column, int code, const char *detail)
{
	ereport(ERROR,
			(errcode(code),
			 errmsg("cannot write column \"%s\" of foreign table \"%s\"", column,
					writer->table->name),
			 errdetail_internal("%s", detail)));
}

static void __attribute__((noreturn))
refuse_value(const CsvRowWriter *writer, const WrittenColumn *column, const char *detail)
{
	refuse(writer, column->column->name, ERRCODE_DATA_EXCEPTION, detail);
}

/* ---- texts of values ---- */

static void
add_epoch(const CsvRowWriter *writer, const WrittenColumn *column, Timestamp timestamp,
		  CsvOutputBytes *output)
{
	static const int64 units[] = {1000000, 1000, 1};	/* microseconds */
	int64		unit = units[column->column->pattern->epoch - CSV_STEP_EPOCH];
	int			ndigits = unit == 1000000 ? 6 : 3;
	int64		since;
	uint64		positive;
	char	   *text;

	if (pg_add_s64_overflow(timestamp, CSV_EPOCH_MICROSECONDS, &since))
		refuse_value(writer, column, "The time is out of range.");
	positive = since < 0 ? 0 - (uint64) since : (uint64) since;
	text = psprintf("%s" UINT64_FORMAT, since < 0 ? "-" : "", positive / (uint64) unit);
	csv_output_bytes(output, text, strlen(text));
	if (positive % (uint64) unit == 0)
		return;
	text = psprintf(".%0*d", ndigits, (int) (positive % (uint64) unit));
	csv_output_bytes(output, text, strlen(text));
}

/* a date or timestamp in the form that the table's options give */
static void
add_by_pattern(const CsvRowWriter *writer, const WrittenColumn *column, Datum value,
			   CsvOutputBytes *output)
{
	const CsvPattern *pattern = column->column->pattern;
	Oid			type = column->column->type;
	size_t		start = output->length;
	Datum		again;
	Datum		timestamp = value;
	char	   *shown;

	if (type == DATEOID ? DATE_NOT_FINITE(DatumGetDateADT(value)) :
		TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value)))
		refuse_value(writer, column, "Infinity has no form by the pattern.");
	if (type == DATEOID)
		timestamp = DirectFunctionCall1(date_timestamp, value);
	if (pattern->epoch != 0)
		add_epoch(writer, column, DatumGetTimestamp(timestamp), output);
	else
	{
		bool		with_zone = type == TIMESTAMPTZOID;

		/* it is read as the time in the session's zone */
		if (type == TIMESTAMPOID && pattern->has_zone)
		{
			timestamp = DirectFunctionCall1(timestamp_timestamptz, value);
			with_zone = true;
		}
		timestamp = DirectFunctionCall2Coll(with_zone ? timestamptz_to_char :
											timestamp_to_char, C_COLLATION_OID, timestamp,
											CStringGetTextDatum(pattern->text));
		shown = TextDatumGetCString(timestamp);
		csv_output_bytes(output, shown, strlen(shown));
	}
	shown = pnstrdup(output->bytes + start, output->length - start);
	again = csv_date_by_pattern(pattern, type, column->column->typmod, shown);
	if (type == DATEOID ? DatumGetDateADT(again) != DatumGetDateADT(value) :
		DatumGetTimestamp(again) != DatumGetTimestamp(value))
		refuse_value(writer, column,
					 psprintf("By the pattern \"%s\" it would be read from \"%s\" as another time.",
							  pattern->text, shown));
}

/* the decimal comma, and a separator behind each thousand */
static void
localize(const CsvRowWriter *writer, const WrittenColumn *column, CsvOutputBytes *output,
		 size_t start)
{
	size_t		n = output->length - start;
	char	   *text = pnstrdup(output->bytes + start, n);
	size_t		first = *text == '-';
	size_t		ndigits = strspn(text + first, "0123456789");
	const char *separator = writer->table->thousands_separator;

	if (column->has_comma)
		for (size_t i = 0; i < n; i++)
			if (text[i] == '.')
				text[i] = ',';
	output->length = start;
	csv_output_bytes(output, text, first);
	for (size_t i = 0; i < ndigits; i++)
	{
		if (i > 0 && (ndigits - i) % 3 == 0 && column->is_grouped)
			csv_output_bytes(output, separator, strlen(separator));
		csv_output_byte(output, text[first + i]);
	}
	csv_output_bytes(output, text + first + ndigits, n - first - ndigits);
}

/* ERROR if the input function would make another value of the text */
static void
read_again(const CsvRowWriter *writer, WrittenColumn *column, char *text)
{
	Datum		value = InputFunctionCall(&column->input, text, column->ioparam,
										  column->column->typmod);
	char	   *again = OutputFunctionCall(&column->formatted.function, value);

	if (strcmp(text, again) != 0)
		refuse_value(writer, column,
					 psprintf("It would be read as \"%s\", not as \"%s\".", again, text));
}

static void
check_limits(const CsvRowWriter *writer, const WrittenColumn *column, const char *text, size_t n)
{
	int			nchars = pg_mbstrlen_with_len(text, (int) n);

	if (column->spec.max_chars >= 0 && nchars > column->spec.max_chars)
		refuse(writer, column->column->name, ERRCODE_STRING_DATA_RIGHT_TRUNCATION,
			   psprintf("It has %d characters, and the limit is %d.", nchars,
						column->spec.max_chars));
	if (column->spec.byte_width >= 0 && n > (size_t) column->spec.byte_width)
		refuse(writer, column->column->name, ERRCODE_STRING_DATA_RIGHT_TRUNCATION,
			   psprintf("It has %zu bytes, and the limit is %d.", n,
						column->spec.byte_width));
}

/* append the text of a value that is not NULL */
static void
add_text(const CsvRowWriter *writer, WrittenColumn *column, Datum value, CsvOutputBytes *output)
{
	size_t		start = output->length;

	if (column->column->pattern != NULL)
		add_by_pattern(writer, column, value, output);
	else
		csv_format_unquoted(&column->formatted, value, output);
	if (column->is_read_again)
		read_again(writer, column,
				   pnstrdup(output->bytes + start, output->length - start));
	if (column->has_comma || column->is_grouped)
		localize(writer, column, output, start);
	check_limits(writer, column, output->bytes + start, output->length - start);
}

/* ---- quotes that COPY does not need ---- */

/* text in the encoding of the reader's bytes */
static bool
is_marker(const CsvRowWriter *writer, const char *text, size_t n, const char *marker)
{
	const char *server = pg_any_to_server(marker, (int) strlen(marker),
										  writer->table->encoding);

	return strlen(server) == n && memcmp(server, text, n) == 0;
}

/* is it read as a byte-order mark, or as the beginning of a compressed file? */
static bool
begins_badly(const char *text, size_t n)
{
	static const char *const marks[] = {
		"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff", "\x1f\x8b", "\x28\xb5\x2f\xfd",
		"\x04\x22\x4d\x18"
	};

	for (size_t i = 0; i < lengthof(marks); i++)
		if (n >= strlen(marks[i]) && memcmp(text, marks[i], strlen(marks[i])) == 0)
			return true;
	return false;
}

static bool
needs_quotes(const CsvRowWriter *writer, uint32_t field, const char *text, size_t n)
{
	const CsvTable *table = writer->table;
	const CsvDialectOptions *dialect = &writer->dialect.opt;
	const WrittenColumn *column = writer->fields[field].column;
	ListCell   *cell;

	if (dialect->trim && n > 0 &&
		(csv_is_blank((uint8_t) text[0]) || csv_is_blank((uint8_t) text[n - 1])))
		return true;
	if (field == 0 && dialect->comment_length > 0 &&
		(n == 0 || (uint8_t) text[0] == dialect->comment[0] || IS_HIGHBIT_SET(text[0])))
		return true;
	if (field == 0 && writer->may_begin_file && n > 0 && begins_badly(text, n))
		return true;
	if (writer->format.is_alone && n == 1 && *text == CSV_CTRL_Z)
		return true;
	if (table->default_string != NULL && is_marker(writer, text, n, table->default_string))
		return true;
	foreach(cell, column != NULL ? column->column->null_values : NIL)
		if (is_marker(writer, text, n, lfirst(cell)))
			return true;
	return false;
}

/* ---- records are read again ---- */

/* what may end the field too early; NULL: nothing */
static const char *
find_end(const CsvRowWriter *writer, const WrittenField *field)
{
	const char *text = pnstrdup(writer->texts.bytes + field->start, field->length);

	if (strpbrk(text, "\r\n") != NULL)
		return "The value has a line break, which would end the record.";
	if (strchr(text, writer->table->delimiter[0]) != NULL)
		return "The value has the delimiter, or a part of it, which would end the field.";
	return NULL;
}

/* ERROR: a field is not read as its text */
static void __attribute__((noreturn))
refuse_field(const CsvRowWriter *writer, const WrittenField *field)
{
	const char *text = writer->texts.bytes + field->start;
	const char *reason = find_end(writer, field);

	if (reason == NULL && writer->dialect.opt.trim && field->length > 0 &&
		(csv_is_blank((uint8_t) text[0]) ||
		 csv_is_blank((uint8_t) text[field->length - 1])))
		reason = "Blanks at the ends of the value would not be read.";
	refuse_value(writer, field->column,
				 reason != NULL ? reason : "The value would be read as another one.");
}

/* ERROR: the line is not read as a record with these fields */
static void __attribute__((noreturn))
refuse_record(const CsvRowWriter *writer)
{
	for (uint32_t i = 0; i < writer->form->nfields; i++)
	{
		const WrittenField *field = &writer->fields[i];

		if (field->column != NULL && !field->is_null && find_end(writer, field) != NULL)
			refuse_field(writer, field);
	}
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("cannot write a row of foreign table \"%s\"", writer->table->name),
			 errdetail("Its line would not be read as a record.")));
}

/* bytes as the reader gets them */
static bool
is_null_field(const CsvTable *table, const CsvTableColumn *column, const uint8_t *bytes,
			  uint64_t n)
{
	ListCell   *cell;

	if (csv_bytes_equal(bytes, n, (const uint8_t *) table->null_string,
						strlen(table->null_string)))
		return true;
	foreach(cell, column->null_values)
		if (csv_bytes_equal(bytes, n, lfirst(cell), strlen(lfirst(cell))))
			return true;
	return false;
}

/* ERROR if the bytes of a field are not read as its text; as csv_value_from_field() */
static void
check_field(const CsvRowWriter *writer, const WrittenField *field, const uint8_t *bytes,
			uint64_t length, bool is_header)
{
	const CsvTable *table = writer->table;
	const CsvTableColumn *column = field->column->column;
	const char *text = writer->texts.bytes + field->start;
	const char *raw = (const char *) bytes;
	char	   *value;
	uint64_t	n;
	bool		is_quoted;
	bool		is_null = false;

	/* the text format's escapes are replaced in the server's encoding */
	if (writer->format.is_text)
	{
		raw = pg_any_to_server(raw, (int) length, table->encoding);
		value = palloc(raw == (const char *) bytes ? length + 1 : strlen(raw) + 1);
		n = csv_field_value(&writer->dialect, (const uint8_t *) raw,
							raw == (const char *) bytes ? length : strlen(raw),
							(uint8_t *) value, length, &is_quoted);
		value[n] = '\0';
	}
	else
	{
		value = palloc(length + 1);
		n = csv_field_value(&writer->dialect, bytes, length, (uint8_t *) value, length,
							&is_quoted);
		value[n] = '\0';
	}
	if (!is_header)
		is_null = is_quoted ? column->force_null &&
			is_null_field(table, column, (uint8_t *) value, n) :
			!column->force_not_null && is_null_field(table, column, bytes, length);
	if (!writer->format.is_text)
	{
		char	   *server = pg_any_to_server(value, (int) n, table->encoding);

		if (server != value)
			n = strlen(server);
		value = server;
	}
	if (is_null && field->is_null)
		return;
	if (is_null)
		refuse_value(writer, field->column, "The value would be read as NULL.");
	if (field->is_null)
		refuse_value(writer, field->column, "NULL would be read as a value.");
	if (!is_header && !is_quoted && table->default_string != NULL &&
		csv_bytes_equal(bytes, length, (const uint8_t *) table->default_string,
						strlen(table->default_string)))
		refuse_value(writer, field->column, "The value would be read as the default.");
	if (n != field->length || memcmp(value, text, n) != 0)
		refuse_field(writer, field);
}

/* ERROR if the bytes, a record with its break, are not read as the fields' texts */
static void
check_record(CsvRowWriter *writer, const char *record, size_t n, bool is_header)
{
	const CsvTable *table = writer->table;
	CsvMemory	memory = csv_context_memory(writer->context);
	const uint8_t *bytes = (const uint8_t *) record;
	CsvScan    *scan = &writer->scan;

	if (table->encoding != table->file_encoding)
	{
		bytes = (uint8_t *) pg_any_to_server(record, (int) n, table->file_encoding);
		if (bytes != (const uint8_t *) record)
			n = strlen((const char *) bytes);
	}
	if (!is_header && writer->may_begin_file && begins_badly((const char *) bytes, n))
		refuse_record(writer);
	if (csv_scan_record(scan, &memory, &writer->dialect, CSV_NORMAL, bytes, 0, n,
						true) != CSV_OK ||
		!scan->is_record || scan->bad || scan->start != 0 || scan->next != n ||
		scan->nfields != writer->form->nfields ||
		csv_says_end_of_data(&writer->dialect, bytes, scan->end))
		refuse_record(writer);
	for (uint32_t i = 0; i < scan->nfields; i++)
	{
		CsvSpan		span = csv_scan_field(scan, &writer->dialect, bytes, n, i);

		if (writer->fields[i].column != NULL)
			check_field(writer, &writer->fields[i], bytes + span.offset, span.length,
						is_header);
	}
}

/* ---- records ---- */

static void
add_delimiter(const CsvRowWriter *writer, CsvOutputBytes *output)
{
	csv_output_bytes(output, writer->delimiter, writer->ndelimiter);
}

void
csv_row_writer_break(const CsvRowWriter *writer, CsvOutputBytes *output)
{
	if (writer->form->boundary == CSV_BOUNDARY_CRLF)
		csv_output_byte(output, '\r');
	csv_output_byte(output, (char) csv_break_byte(writer->form->boundary));
}

/* append the field of a text at the end of the writer's texts */
static void
add_field(CsvRowWriter *writer, uint32_t number, size_t start, CsvOutputBytes *output)
{
	WrittenField	   *field = &writer->fields[number];
	const char *text = writer->texts.bytes + start;

	field->is_null = false;
	field->start = start;
	field->length = writer->texts.length - start;
	csv_output_field(output, &writer->format, text, field->length,
					 needs_quotes(writer, number, text, field->length));
}

/* ERROR if a further column of the field has another value */
static void
check_same(CsvRowWriter *writer, const WrittenField *field, WrittenColumn *column,
		   const TupleTableSlot *slot)
{
	int			att = column->formatted.att;
	bool		is_same = slot->tts_isnull[att] == field->is_null;
	size_t		start = writer->texts.length;

	if (is_same && !field->is_null)
	{
		add_text(writer, column, slot->tts_values[att], &writer->texts);
		is_same = writer->texts.length - start == field->length &&
			memcmp(writer->texts.bytes + start, writer->texts.bytes + field->start,
				   field->length) == 0;
		writer->texts.length = start;
	}
	if (!is_same)
		refuse_value(writer, column,
					 psprintf("It is read from the same field as column \"%s\", which has another value.",
							  field->column->column->name));
}

static void
add_column(CsvRowWriter *writer, uint32_t number, const TupleTableSlot *slot,
		   CsvOutputBytes *output)
{
	WrittenField	   *field = &writer->fields[number];
	WrittenColumn *column = field->column;
	int			att = column->formatted.att;
	size_t		start = writer->texts.length;

	if (slot->tts_isnull[att])
	{
		field->is_null = true;
		csv_output_null(output, &writer->format);
	}
	else if (column->is_direct && !writer->is_checked &&
			 !(number == 0 && writer->may_begin_file))
	{
		csv_format_value(&column->formatted, slot->tts_values[att], output,
						 &writer->format);
		return;
	}
	else
	{
		add_text(writer, column, slot->tts_values[att], &writer->texts);
		add_field(writer, number, start, output);
	}
	for (column = column->next; column != NULL; column = column->next)
		check_same(writer, field, column, slot);
}

/* ERROR for values that no field has */
static void
check_without_field(const CsvRowWriter *writer, const TupleTableSlot *slot)
{
	const CsvTable *table = writer->table;

	for (int i = 0; i < table->natts; i++)
	{
		const CsvTableColumn *column = &table->columns[i];

		if (writer->form->fields[i] >= 0 || column->dropped || slot->tts_isnull[i])
			continue;
		refuse(writer, column->name, ERRCODE_DATA_EXCEPTION,
			   column->virtual_kind != CSV_VIRTUAL_NONE ?
			   "A virtual column is not written, and must be NULL." :
			   column->generated ?
			   "A generated column is not written, and would be read as NULL." :
			   "The file has no such field, and the value would be read as NULL.");
	}
}

/* types' output functions must write what every session reads alike; 0: they do */
static int
begin_settings(void)
{
	int			level;

	if (DateStyle == USE_ISO_DATES && IntervalStyle == INTSTYLE_POSTGRES &&
		extra_float_digits >= 1)
		return 0;
	level = NewGUCNestLevel();
	(void) set_config_option("datestyle", "ISO", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	(void) set_config_option("intervalstyle", "postgres", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	(void) set_config_option("extra_float_digits", "1", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	return level;
}

void
csv_row_writer_add(CsvRowWriter *writer, TupleTableSlot *slot, CsvOutputBytes *output)
{
	MemoryContext outer = MemoryContextSwitchTo(writer->row_context);
	int			level = begin_settings();
	size_t		start = output->length;

	MemoryContextReset(writer->row_context);
	slot_getallattrs(slot);
	check_without_field(writer, slot);
	writer->texts.length = 0;
	for (uint32_t i = 0; i < writer->form->nfields; i++)
	{
		if (i > 0)
			add_delimiter(writer, output);
		if (writer->fields[i].column != NULL)
			add_column(writer, i, slot, output);
	}
	if (output->length - start > writer->table->reader.max_record_bytes)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot write a row of foreign table \"%s\"", writer->table->name),
				 errdetail("Its record is longer than " UINT64_FORMAT " bytes, the table's max_record_size.",
						   (uint64) writer->table->reader.max_record_bytes)));
	csv_row_writer_break(writer, output);
	if (writer->may_begin_file && writer->fields[0].column != NULL &&
		begins_badly(output->bytes + start, output->length - start))
		refuse_value(writer, writer->fields[0].column,
					 "At the beginning of a file it would be taken for a mark.");
	if (writer->is_checked)
		check_record(writer, output->bytes + start, output->length - start, false);
	if (level > 0)
		AtEOXact_GUC(true, level);
	MemoryContextSwitchTo(outer);
}

void
csv_row_writer_header(CsvRowWriter *writer, CsvOutputBytes *output)
{
	uint32_t	nrows = writer->table->reader.header_rows;
	size_t		start;

	for (uint32_t i = 1; i < nrows; i++)
		csv_row_writer_break(writer, output);
	if (nrows == 0)
		return;
	writer->texts.length = 0;
	start = output->length;
	for (uint32_t i = 0; i < writer->form->nfields; i++)
	{
		const WrittenColumn *column = writer->fields[i].column;
		const char *name = column == NULL ? "" : column->column->header_name != NULL ?
			column->column->header_name : column->column->name;
		size_t		from = writer->texts.length;

		if (i > 0)
			add_delimiter(writer, output);
		csv_output_bytes(&writer->texts, name, strlen(name));
		add_field(writer, i, from, output);
	}
	csv_row_writer_break(writer, output);
	check_record(writer, output->bytes + start, output->length - start, true);
}
