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
#include "common/int.h"
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
#include "scan/report.h"
#include "scan/value.h"
#include "table/decompress.h"
#include "table/encoding.h"
#include "table/memory.h"

/* microseconds from 1970 to 2000 */
#define CSV_EPOCH_MICROSECONDS \
	((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

/* a column that has a field */
typedef struct WrittenColumn
{
	const CsvTableColumn *column;
	CsvFormatted formatted;
	CsvValueInput input;		/* which reads it; for a domain, its base type */
	int32		typmod;
	bool		is_grouped;		/* by the thousands separator */
	struct WrittenColumn *next; /* of the same field */

	/* of the current row: the text, as the reader must find it */
	bool		is_null;
	size_t		start;			/* in the writer's texts */
	size_t		length;
} WrittenColumn;

struct CsvRowWriter
{
	const CsvTable *table;
	const CsvFileForm *form;
	CsvDialect	dialect;		/* for the bytes that the reader gets */
	CsvOutputFormat format;
	const char *delimiter;		/* in the file's encoding */
	size_t		ndelimiter;
	WrittenColumn **fields;		/* NULL: no column has the field */
	bool		is_checked;		/* every record is read again */
	bool		quotes;			/* all values */
	bool		may_begin_file; /* there is no header */
	StringInfoData texts;
	const CsvTableColumn *refused;	/* the column that would be read otherwise ... */
	int			sqlstate;		/* ... and why */
	CsvScan		scan;
	MemoryContext context;		/* of the writer ... */
	MemoryContext row_context;	/* ... and of a row */
};

/* ---- set-up ---- */

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
	csv_dialect_delimiter(dialect, delimiter);
	/* the dialect's is of the bytes that the reader gets */
	writer->delimiter = pstrdup(table->encoding == table->file_encoding ? delimiter :
								pg_server_to_any(delimiter, (int) strlen(delimiter),
												 table->file_encoding));
	writer->ndelimiter = strlen(writer->delimiter);
}

/* do COPY's rules not suffice? */
static bool
is_odd(const CsvRowWriter *writer)
{
	const CsvTable *table = writer->table;
	const CsvDialectOptions *dialect = &writer->dialect.opt;
	bool		is_odd = writer->format.is_bare ||
		(writer->format.is_text && strcmp(table->null_string, "\\N") != 0) ||
		writer->format.converts || dialect->trim || dialect->comment_length > 0 ||
		dialect->delimiter_rest_length > 0 || !dialect->multiline ||
		table->default_string != NULL || table->null_values != NIL ||
		table->file_encoding != table->encoding || writer->form->nfields == 1 ||
		(table->reader.dialect.boundary == CSV_BOUNDARY_AUTO &&
		 writer->form->boundary == CSV_BOUNDARY_CR);

	for (int i = 0; i < table->natts; i++)
	{
		const CsvTableColumn *column = &table->columns[i];

		is_odd |= column->force_null || column->force_not_null ||
			column->null_values != NIL || column->max_chars >= 0 ||
			column->byte_width >= 0;
	}
	return is_odd;
}

static WrittenColumn *
make_column(const CsvRowWriter *writer, const CsvTableColumn *column)
{
	const CsvTable *table = writer->table;
	WrittenColumn *made = palloc0(sizeof(WrittenColumn));
	Oid			type;
	Oid			function;

	made->column = column;
	made->formatted.att = column->attnum - 1;
	csv_format_begin(&made->formatted, column->type);
	csv_value_init(&made->input, table, column, writer->context);
	made->typmod = column->typmod;
	type = getBaseTypeAndTypmod(column->type, &made->typmod);
	if (type != column->type)
	{
		/* the value has passed the domain's checks */
		getTypeInputInfo(type, &function, &made->input.ioparam);
		fmgr_info_cxt(function, &made->input.function, writer->context);
	}
	made->is_grouped = made->input.has_thousands &&
		!(writer->format.is_bare && strchr(table->delimiter, *table->thousands_separator));
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
	/* otherwise it is the table's; AUTO drops CRs before a LF */
	if (form->boundary == CSV_BOUNDARY_CR)
		dialect.boundary = CSV_BOUNDARY_CR;
	dialect.blank_is_record = form->nfields == 1;
	csv_dialect_compile(&writer->dialect, &dialect);
	begin_format(writer);
	initStringInfo(&writer->texts);
	writer->is_checked = is_odd(writer);
	writer->may_begin_file = table->reader.header_rows == 0;
	writer->fields = palloc0(sizeof(WrittenColumn *) * form->nfields);
	for (int i = table->natts - 1; i >= 0; i--)
	{
		int32		field = form->fields[i];
		WrittenColumn *column;

		if (field < 0)
			continue;
		column = make_column(writer, &table->columns[i]);
		column->next = writer->fields[field];
		writer->fields[field] = column;
		writer->is_checked |= column->next != NULL;
	}
	return writer;
}

/* ---- ERRORs ---- */

/* column NULL: it is the whole record */
static void __attribute__((noreturn))
refuse(const CsvRowWriter *writer, const CsvTableColumn *column, const char *text)
{
	ereport(ERROR,
			(errcode(writer->sqlstate),
			 column == NULL ?
			 errmsg("cannot write a row of foreign table \"%s\"", writer->table->name) :
			 errmsg("cannot write column \"%s\" of foreign table \"%s\"", column->name,
					writer->table->name),
			 errdetail_internal("%s", text)));
}

/* ---- texts of values ---- */

static void
add_epoch(const CsvRowWriter *writer, const WrittenColumn *column, Timestamp timestamp,
		  StringInfo output)
{
	static const int64 units[] = {1000000, 1000, 1};	/* microseconds */
	int64		unit = units[column->column->pattern->epoch - CSV_STEP_EPOCH];
	int			ndigits = unit == 1000000 ? 6 : 3;
	int64		since;
	uint64		positive;

	if (pg_add_s64_overflow(timestamp, CSV_EPOCH_MICROSECONDS, &since))
		refuse(writer, column->column, "The time is out of range.");
	positive = since < 0 ? 0 - (uint64) since : (uint64) since;
	appendStringInfo(output, "%s" UINT64_FORMAT, since < 0 ? "-" : "",
					 positive / (uint64) unit);
	if (positive % (uint64) unit != 0)
		appendStringInfo(output, ".%0*d", ndigits, (int) (positive % (uint64) unit));
}

/* a date or timestamp in the form that the table's options give */
static void
add_by_pattern(const CsvRowWriter *writer, const WrittenColumn *column, Datum value,
			   StringInfo output)
{
	const CsvPattern *pattern = column->column->pattern;
	Oid			type = column->column->type;
	size_t		start = output->len;
	Datum		again;
	Datum		timestamp = value;
	char	   *shown;

	if (type == DATEOID ? DATE_NOT_FINITE(DatumGetDateADT(value)) :
		TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value)))
		refuse(writer, column->column, "Infinity has no form by the pattern.");
	if (type == DATEOID)
		timestamp = DirectFunctionCall1(date_timestamp, value);
	if (pattern->epoch != 0)
		add_epoch(writer, column, DatumGetTimestamp(timestamp), output);
	else
	{
		bool		with_zone = type == TIMESTAMPTZOID;
		const char *month = strcasestr(pattern->text, "month");
		const char *format = month == NULL ? pattern->text :
			psprintf("%.*sFM%s", (int) (month - pattern->text), pattern->text, month);

		/* it is read as the time in the table's zone, or the session's */
		if (type == TIMESTAMPOID && pattern->has_zone)
		{
			timestamp = DirectFunctionCall1(timestamp_timestamptz, value);
			with_zone = true;
		}
		timestamp = DirectFunctionCall2Coll(with_zone ? timestamptz_to_char :
											timestamp_to_char, C_COLLATION_OID, timestamp,
											CStringGetTextDatum(format));
		shown = TextDatumGetCString(timestamp);
		appendStringInfoString(output, shown);
	}
	shown = pnstrdup(output->data + start, output->len - start);
	again = csv_date_by_pattern(pattern, type, column->column->typmod, shown);
	if (type == DATEOID ? DatumGetDateADT(again) != DatumGetDateADT(value) :
		DatumGetTimestamp(again) != DatumGetTimestamp(value))
		refuse(writer, column->column,
					 psprintf("By the pattern \"%s\" it would be read from \"%s\" as another time.",
							  pattern->text, shown));
}

/* the decimal comma, and a separator behind each thousand */
static void
localize(const CsvRowWriter *writer, const WrittenColumn *column, StringInfo output,
		 size_t start)
{
	size_t		n = output->len - start;
	char	   *text = pnstrdup(output->data + start, n);
	size_t		first = *text == '-';
	size_t		ndigits = strspn(text + first, "0123456789");
	const char *separator = writer->table->thousands_separator;

	if (column->input.comma_decimal)
		for (size_t i = 0; i < n; i++)
			if (text[i] == '.')
				text[i] = ',';
	output->len = start;
	appendBinaryStringInfo(output, text, first);
	for (size_t i = 0; i < ndigits; i++)
	{
		if (i > 0 && (ndigits - i) % 3 == 0 && column->is_grouped)
			appendStringInfoString(output, separator);
		appendStringInfoChar(output, text[first + i]);
	}
	appendBinaryStringInfo(output, text + first + ndigits, n - first - ndigits);
}

static const char *
other_text(const char *found, const char *wanted)
{
	return psprintf("It would be read as \"%s\", not as \"%s\".", found, wanted);
}

/* ERROR if the input function would make another value of the text */
static void
read_again(const CsvRowWriter *writer, WrittenColumn *column, char *text)
{
	Datum		value = InputFunctionCall(&column->input.function, text,
										  column->input.ioparam, column->typmod);
	char	   *again = OutputFunctionCall(&column->formatted.function, value);

	if (strcmp(text, again) != 0)
		refuse(writer, column->column, other_text(again, text));
}

/* append the text of a value that is not NULL */
static void
add_text(const CsvRowWriter *writer, WrittenColumn *column, Datum value, StringInfo output)
{
	size_t		start = output->len;

	if (column->column->pattern != NULL)
		add_by_pattern(writer, column, value, output);
	else
		csv_format_unquoted(&column->formatted, value, output);
	if (column->formatted.way == CSV_FORMAT_BY_FUNCTION && column->column->pattern == NULL)
		read_again(writer, column,
				   pnstrdup(output->data + start, output->len - start));
	if (column->input.comma_decimal || column->is_grouped)
		localize(writer, column, output, start);
}

/* ---- records are read again ---- */

/* is it read as a byte-order mark, or as the beginning of a compressed file? */
static bool
begins_badly(const char *bytes, size_t n)
{
	return csv_marked_utf16((const uint8_t *) bytes, n) != CSV_UTF16_NO ||
		csv_begins_compressed((const uint8_t *) bytes, n);
}

/* the line is not a record with these fields: why */
static const char *
find_culprit(CsvRowWriter *writer)
{
	for (uint32_t i = 0; i < writer->form->nfields; i++)
	{
		const WrittenColumn *column = writer->fields[i];
		const char *text;

		if (column == NULL || column->is_null)
			continue;
		text = pnstrdup(writer->texts.data + column->start, column->length);
		if (strpbrk(text, "\r\n") == NULL && strchr(text, writer->table->delimiter[0]) == NULL)
			continue;
		writer->refused = column->column;
		return "It has a line break, or a part of the delimiter, which cannot be quoted.";
	}
	return "Its line would not be read as a record.";
}

/* as the header's names are read */
static char *
read_name(const CsvRowWriter *writer, const uint8_t *bytes, uint64_t length, uint64_t *n)
{
	char	   *name = palloc(length + 1);
	bool		is_quoted;

	*n = csv_field_value(&writer->dialect, bytes, length, (uint8_t *) name, length,
						 &is_quoted);
	name[*n] = '\0';
	name = pg_any_to_server(name, (int) *n, writer->table->encoding);
	*n = strlen(name);
	return name;
}

/*
 * Why the bytes of a field are not read as the column's value, or as its name in the
 * header; NULL: they are.
 */
static const char *
check_field(CsvRowWriter *writer, WrittenColumn *column, const uint8_t *bytes,
			uint64_t length, bool is_header)
{
	const char *wanted = writer->texts.data + column->start;
	char	   *text;
	uint64_t	n;
	bool		is_default = false;
	CsvValueError error;

	writer->refused = column->column;
	if (is_header)
		text = read_name(writer, bytes, length, &n);
	else if (!csv_value_text(&column->input, &writer->dialect, bytes, length, &text, &n,
							 &is_default, &error))
	{
		writer->sqlstate = csv_error_sqlstate(error.code, error.sqlerrcode);
		return psprintf("It would be refused: %s.",
						csv_error_message(writer->table, error.code, 0, 0,
										  column->column->name, &error));
	}
	if (is_default)
		return "It would be read as the default.";
	if (text == NULL)
		return column->is_null ? NULL : "It would be read as NULL.";
	if (column->is_null)
		return psprintf("NULL would be read as \"%s\".", text);
	if (n != column->length || memcmp(text, wanted, n) != 0)
		return other_text(text, pnstrdup(wanted, column->length));
	return NULL;
}

/* why the reader that looks for the file's line breaks would find others; NULL: it does not */
static const char *
find_other_break(const CsvRowWriter *writer, const uint8_t *bytes, size_t n)
{
	bool		finds_crs = writer->form->boundary == CSV_BOUNDARY_CR;
	CsvDialect	dialect;
	CsvBoundaryLook look = {0};

	/* a break at the end is the record's */
	if (writer->table->reader.dialect.boundary != CSV_BOUNDARY_AUTO ||
		memchr(bytes, finds_crs ? '\n' : '\r', n - Min(n, 2)) == NULL)
		return NULL;
	csv_dialect_compile(&dialect, &writer->table->reader.dialect);
	csv_look_for_breaks(&look, &dialect, bytes, finds_crs ? n : Min(n, CSV_BOUNDARY_BYTES),
						n, true);
	if (finds_crs && look.lfs.n > 0)
		return "Its line feed would be taken for the line break of the file, whose lines end in carriage returns.";
	if (!finds_crs && csv_look_finds_crs(&look, n <= CSV_BOUNDARY_BYTES))
		return "Its carriage return would be taken for the line break of a file that begins with it.";
	return NULL;
}

/* why a record, with its break, is not read as the columns' values; NULL: it is */
static const char *
check_record(CsvRowWriter *writer, const char *record, size_t n, bool is_header)
{
	const CsvTable *table = writer->table;
	CsvMemory	memory = csv_context_memory(writer->context);
	const uint8_t *bytes = (const uint8_t *) record;
	CsvScan    *scan = &writer->scan;
	size_t		nbreak = strlen(csv_line_break(writer->form->boundary));
	const char *reason;

	writer->refused = NULL;
	writer->sqlstate = ERRCODE_DATA_EXCEPTION;
	if (table->encoding != table->file_encoding)
	{
		bytes = (uint8_t *) pg_any_to_server(record, (int) n, table->file_encoding);
		if (bytes != (const uint8_t *) record)
			n = strlen((const char *) bytes);
	}
	if (n - nbreak > table->reader.max_record_bytes)
	{
		writer->sqlstate = ERRCODE_PROGRAM_LIMIT_EXCEEDED;
		return psprintf("Its record has %zu bytes, more than max_record_size.", n - nbreak);
	}
	reason = find_other_break(writer, bytes, n);
	if (reason == NULL && (writer->may_begin_file || is_header) &&
		(begins_badly(record, n) || begins_badly((const char *) bytes, n)))
		reason = "At the beginning of a file it would be taken for a mark.";
	if (reason != NULL)
		return reason;
	if (csv_scan_record(scan, &memory, &writer->dialect, CSV_NORMAL, bytes, 0, n,
						true) != CSV_OK ||
		!scan->is_record || scan->bad || scan->start != 0 || scan->next != n ||
		scan->nfields != writer->form->nfields ||
		csv_says_end_of_data(&writer->dialect, bytes, scan->end))
		return find_culprit(writer);
	for (uint32_t i = 0; i < scan->nfields; i++)
	{
		CsvSpan		span = csv_scan_field(scan, &writer->dialect, bytes, n, i);

		for (WrittenColumn *column = writer->fields[i]; column != NULL; column = column->next)
		{
			reason = check_field(writer, column, bytes + span.offset, span.length, is_header);
			/* all columns have one name in the header */
			if (reason != NULL || is_header)
				break;
		}
		if (reason != NULL)
			break;
	}
	return reason;
}

/* ---- records ---- */

/* append the field of the text at the end of the writer's texts */
static void
add_field(CsvRowWriter *writer, WrittenColumn *column, size_t start, StringInfo output)
{
	column->is_null = false;
	column->start = start;
	column->length = writer->texts.len - start;
	if (output != NULL)
		csv_output_field(output, &writer->format, writer->texts.data + start,
						 column->length, writer->quotes);
}

/* rounding may lead beyond the last time that can be read */
static bool
is_invalid_time(const WrittenColumn *column, Datum value)
{
	Timestamp	timestamp;

	if (column->formatted.way != CSV_FORMAT_TIMESTAMP &&
		column->formatted.way != CSV_FORMAT_TIMESTAMPTZ)
		return false;
	timestamp = DatumGetTimestamp(value);
	return !TIMESTAMP_NOT_FINITE(timestamp) && !IS_VALID_TIMESTAMP(timestamp);
}

/* output NULL: the field is there already, by another column */
static void
add_column(CsvRowWriter *writer, WrittenColumn *column, const TupleTableSlot *slot,
		   StringInfo output)
{
	int			att = column->formatted.att;
	size_t		start = writer->texts.len;

	if (slot->tts_isnull[att])
	{
		column->is_null = true;
		if (output != NULL)
			csv_output_null(output, &writer->format);
	}
	else if (is_invalid_time(column, slot->tts_values[att]))
		refuse(writer, column->column, "The time is out of range.");
	else
	{
		add_text(writer, column, slot->tts_values[att], &writer->texts);
		add_field(writer, column, start, output);
	}
	if (column->next != NULL)
		add_column(writer, column->next, slot, NULL);
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
		refuse(writer, column,
			   column->virtual_kind != CSV_VIRTUAL_NONE ?
			   "A virtual column is not written, and must be NULL." :
			   "The file has no such field, and the value would be read as NULL.");
	}
}

/* types' output functions must write what every session reads alike; 0: they do */
static int
begin_settings(const CsvTable *table)
{
	pg_tz	   *timezone = table->timezone != NULL ? table->timezone : session_timezone;
	const char *const settings[][2] = {
		{"datestyle", "ISO"}, {"intervalstyle", "postgres"}, {"extra_float_digits", "1"},
		{"timezone", pg_get_timezone_name(timezone)}
	};
	int			level;

	if (DateStyle == USE_ISO_DATES && IntervalStyle == INTSTYLE_POSTGRES &&
		extra_float_digits >= 1 && timezone == session_timezone)
		return 0;
	level = NewGUCNestLevel();
	for (int i = 0; i < lengthof(settings); i++)
		csv_set_in_level(settings[i][0], settings[i][1]);
	return level;
}

static void
add_name(CsvRowWriter *writer, WrittenColumn *column, StringInfo output)
{
	const CsvTableColumn *of = column->column;
	const char *name = of->header_name != NULL ? of->header_name : of->name;
	size_t		start = writer->texts.len;

	appendStringInfoString(&writer->texts, name);
	add_field(writer, column, start, output);
}

/* append a record, or the header if slot is NULL; returns why it is not read so */
static const char *
add_record(CsvRowWriter *writer, const TupleTableSlot *slot, StringInfo output)
{
	size_t		start = output->len;
	bool		is_long;

	writer->texts.len = 0;
	for (uint32_t i = 0; i < writer->form->nfields; i++)
	{
		if (i > 0)
			appendBinaryStringInfo(output, writer->delimiter, writer->ndelimiter);
		if (writer->fields[i] != NULL && slot != NULL)
			add_column(writer, writer->fields[i], slot, output);
		else if (writer->fields[i] != NULL)
			add_name(writer, writer->fields[i], output);
	}
	is_long = output->len - start > writer->table->reader.max_record_bytes;
	appendStringInfoString(output, csv_line_break(writer->form->boundary));
	if (slot == NULL || writer->is_checked || writer->quotes || is_long ||
		(writer->may_begin_file &&
		 begins_badly(output->data + start, output->len - start)))
		return check_record(writer, output->data + start, output->len - start,
							slot == NULL);
	return NULL;
}

static void
write_record(CsvRowWriter *writer, const TupleTableSlot *slot, StringInfo output)
{
	size_t		start = output->len;
	const char *reason;

	/* an ERROR may have left it */
	writer->quotes = false;
	reason = add_record(writer, slot, output);
	if (reason != NULL && !writer->format.is_text && !writer->format.is_bare)
	{
		/* values in quotes are not trimmed, nor NULL, nor a comment */
		output->len = start;
		writer->quotes = true;
		reason = add_record(writer, slot, output);
	}
	if (reason != NULL)
		refuse(writer, writer->refused, reason);
}

void
csv_row_writer_add(CsvRowWriter *writer, TupleTableSlot *slot, StringInfo output)
{
	MemoryContext outer = MemoryContextSwitchTo(writer->row_context);
	int			level = begin_settings(writer->table);

	MemoryContextReset(writer->row_context);
	writer->sqlstate = ERRCODE_DATA_EXCEPTION;
	slot_getallattrs(slot);
	check_without_field(writer, slot);
	write_record(writer, slot, output);
	if (level > 0)
		AtEOXact_GUC(true, level);
	MemoryContextSwitchTo(outer);
}

void
csv_row_writer_header(CsvRowWriter *writer, StringInfo output)
{
	uint32_t	nrows = writer->table->reader.header_rows;

	for (uint32_t i = 1; i < nrows; i++)
		appendStringInfoString(output, csv_line_break(writer->form->boundary));
	if (nrows > 0)
		write_record(writer, NULL, output);
}
