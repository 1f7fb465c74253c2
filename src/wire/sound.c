/*
 * sound.c
 *		Checks what the library takes for granted: see sound.h.
 */
#include "sound.h"

#include "../query/plan.h"
#include "../reader/footer.h"

/* as in PostgreSQL's results */
#define MOST_COLUMNS		1664

/* of a value, in bytes or characters */
#define MOST_VALUE_BYTES	(1024 * 1024 * 1024)

/* of char(n) and varchar(n) */
#define MOST_TYPE_CHARS		(10 * 1024 * 1024)

/* of numeric(n) and timestamp(n) */
#define MOST_NUMERIC_DIGITS	1000
#define MOST_TIME_DIGITS	6

static bool
is_within(int64_t value, int64_t least, int64_t most)
{
	return value >= least && value <= most;
}

/* ---- dialects and layouts ---- */

/* may the byte be part of a delimiter? */
static bool
may_delimit(uint8_t byte)
{
	return byte != 0 && byte != '\n' && byte != '\r';
}

/* does the byte mean something by itself?  Blanks do not, if they are trimmed. */
static bool
is_special(const CsvDialectOptions *options, uint8_t byte)
{
	return may_delimit(byte) && byte < 0x80 && !(options->trim && csv_is_blank(byte));
}

/* as csv_dialect_compile() requires */
static bool
delimiter_is_sound(const CsvDialectOptions *options)
{
	const uint8_t escape = options->quoting == CSV_QUOTING_TEXT ? '\\' :
		options->escape;

	if (!may_delimit(options->delimiter) ||
		options->delimiter_rest_length > CSV_DELIMITER_REST_BYTES ||
		(options->delimiter == escape && options->delimiter_rest_length > 0))
		return false;
	for (int i = 0; i < options->delimiter_rest_length; i++)
	{
		uint8_t		byte = options->delimiter_rest[i];

		if (!may_delimit(byte) || byte == options->quote || byte == escape)
			return false;
	}
	return true;
}

/* does a comment begin with a byte that has no other meaning? */
static bool
comment_is_sound(const CsvDialectOptions *options)
{
	uint8_t		first = options->comment[0];

	if (options->comment_length == 0)
		return true;
	return options->comment_length <= CSV_COMMENT_BYTES && first != 0 &&
		first != '\r' && first != '\n' && first != options->delimiter &&
		first != options->quote && first != options->escape &&
		!(options->trim && csv_is_blank(first)) &&
		(first != '\\' || options->quoting != CSV_QUOTING_TEXT);
}

bool
csv_dialect_is_sound(const CsvDialectOptions *options)
{
	if (!csv_is_bool(&options->multiline) || !csv_is_bool(&options->lenient) ||
		!csv_is_bool(&options->blank_is_record) || !csv_is_bool(&options->trim) ||
		!csv_is_bool(&options->growing) ||
		!delimiter_is_sound(options) || options->boundary > CSV_BOUNDARY_CR ||
		!comment_is_sound(options) || options->footer_rows > CSV_MAX_FOOTER_ROWS ||
		(options->lenient && options->quoting != CSV_QUOTING_RFC4180))
		return false;
	if (options->quoting == CSV_QUOTING_TEXT)
		return options->quote == 0 && options->delimiter != '\\' &&
			(options->escape == 0 || options->escape == '\\');
	return (options->quote == 0 ? options->escape == 0 :
			is_special(options, options->quote) &&
			(options->escape == 0 || is_special(options, options->escape))) &&
		options->quote != options->delimiter &&
		options->quoting <= CSV_QUOTING_POSTGRES;
}

static bool
is_precision(uint8_t kind, int16_t precision)
{
	switch (kind)
	{
		case CSV_KIND_NUMERIC:
			return precision == -1 ||
				is_within(precision, 1, MOST_NUMERIC_DIGITS);
		case CSV_KIND_SCALED:
			return precision == -1;
		case CSV_KIND_DECIMAL64:
			return is_within(precision, 1, CSV_MAX_SQUARED_DIGITS);
		case CSV_KIND_DECIMAL128:
			return is_within(precision, 1, CSV_MAX_DECIMAL_DIGITS);
		case CSV_KIND_TIMESTAMP:
		case CSV_KIND_TIMESTAMPTZ:
			return is_within(precision, -1, MOST_TIME_DIGITS);
		default:
			return precision == -1;
	}
}

/* does the pattern suit the kind, and does it end? */
static bool
pattern_is_sound(uint8_t kind, const uint8_t *pattern)
{
	int			n = 0;

	while (n < CSV_PATTERN_STEPS && pattern[n] != CSV_STEP_END)
	{
		if (pattern[n] >= CSV_NUM_PATTERN_STEPS &&
			(pattern[n] < ' ' || pattern[n] > '~'))
			return false;
		n++;
	}
	return n == 0 ||
		(n < CSV_PATTERN_STEPS &&
		 (kind == CSV_KIND_DATE || kind == CSV_KIND_TIMESTAMP ||
		  kind == CSV_KIND_TIMESTAMPTZ));
}

/* are the column's null_values whole values? */
static bool
nulls_are_sound(const CsvLayout *layout, const CsvColumn *column)
{
	uint32_t	i = column->nulls_from;

	if (column->nulls_to > layout->null_values_length)
		return false;
	while (i < column->nulls_to)
		i += 1 + (uint32_t) layout->null_values[i];
	return i == column->nulls_to;
}

static bool
column_is_sound(const CsvColumn *column)
{
	bool		is_text = column->kind == CSV_KIND_TEXT ||
		column->kind == CSV_KIND_CSTRING;
	int16_t		most_scale = csv_lane_of_kind(column->kind) !=
		CSV_LANE_DECIMAL || column->precision < 0 ? 0 : column->precision;

	return csv_is_bool(&column->force_null) &&
		csv_is_bool(&column->force_not_null) &&
		csv_is_bool(&column->pad_blanks) && column->kind < CSV_NUM_KINDS &&
		is_within(column->max_chars, -1, MOST_VALUE_BYTES) &&
		is_within(column->byte_width, -1, MOST_VALUE_BYTES) &&
		is_within(column->type_chars, column->pad_blanks ? 1 : -1,
				  is_text ? MOST_TYPE_CHARS : -1) &&
		is_precision(column->kind, column->precision) &&
		is_within(column->scale, 0, most_scale) &&
		pattern_is_sound(column->kind, column->pattern);
}

/* the order of columns */
static bool
is_before(const CsvColumn *a, const CsvColumn *b)
{
	return a->field != b->field ? a->field < b->field : a->attnum < b->attnum;
}

bool
csv_layout_is_sound(const CsvLayout *layout)
{
	const CsvColumn *columns = layout->columns;

	if (!csv_is_bool(&layout->pad) || !csv_is_bool(&layout->has_default) ||
		!csv_is_bool(&layout->want_positions) ||
		!csv_is_bool(&layout->bad_is_doubtful) ||
		layout->nfields < 1 || layout->nfields > CSV_MAX_FIELDS ||
		layout->ncolumns > MOST_COLUMNS ||
		layout->encoding > CSV_ENCODING_OTHER ||
		(layout->decimal_separator != '.' &&
		 layout->decimal_separator != ',') ||
		(!layout->has_default && layout->default_length > 0))
		return false;
	for (uint32_t i = 0; i < layout->ncolumns; i++)
		if (!column_is_sound(&columns[i]) || !nulls_are_sound(layout, &columns[i]) ||
			(columns[i].field >= layout->nfields &&
			 columns[i].field != CSV_ABSENT_FIELD) ||
			(i > 0 && !is_before(&columns[i - 1], &columns[i])))
			return false;
	return true;
}
