/*
 * case.c
 *		Chooses dialects and layouts, the usual ones often and odd ones too.
 */
#include "case.h"

#include <stdlib.h>
#include <string.h>

/* splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom generators") */
uint64_t
choices_next(Choices *choices)
{
	uint64_t	z;

	if (choices->bytes != NULL)
	{
		if (choices->nbytes == 0)
			return 0;
		choices->nbytes--;
		return *choices->bytes++;
	}
	z = choices->state += UINT64_C(0x9E3779B97F4A7C15);
	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

uint32_t
choose(Choices *choices, uint32_t n)
{
	return (uint32_t) (choices_next(choices) % n);
}

bool
chance(Choices *choices, uint32_t n)
{
	/* zero, where a fuzzer's bytes are used up, is the usual choice */
	return choose(choices, n) == n - 1;
}

static void
choose_dialect(CsvDialectOptions *dialect, Choices *choices)
{
	static const uint8_t delimiters[] = {
		',', ',', ',', ',', '\t', ';', '|', ' ', 'a', '1', ':', '.', '-', 0x7F, 1
	};
	static const uint8_t quotes[] = {
		'"', '"', '"', '"', '"', '"', '\'', 0, 0, '1', 'a', '-', '\\', ' ', 0x7F
	};
	static const uint8_t escapes[] = {
		0, 0, 0, '\\', '\\', '"', '\'', 'b', '5', ' '
	};

	memset(dialect, 0, sizeof(*dialect));
	dialect->delimiter = PICK(choices, delimiters);
	if (chance(choices, 4))
	{
		static const uint8_t text_delimiters[] = {'\t', '\t', '\t', ',', '|', ' ', 1, 'A'};

		dialect->delimiter = PICK(choices, text_delimiters);
		dialect->quoting = CSV_QUOTING_TEXT;
		dialect->escape = '\\';
		dialect->boundary = (uint8_t) (chance(choices, 2) ? choose(choices, 4) :
									   CSV_BOUNDARY_AUTO);
		dialect->multiline = true;
		return;
	}
	dialect->quote = PICK(choices, quotes);
	if (dialect->quote == dialect->delimiter)
		dialect->quote = dialect->delimiter == '"' ? '\'' : '"';
	if (dialect->quote != 0)
	{
		dialect->escape = PICK(choices, escapes);
		if (chance(choices, 12))
			dialect->escape = dialect->delimiter;
	}
	dialect->quoting = (uint8_t) choose(choices, 2);
	dialect->lenient = dialect->quoting == CSV_QUOTING_RFC4180 && chance(choices, 2);
	dialect->boundary = (uint8_t) (chance(choices, 2) ? choose(choices, 4) :
								   CSV_BOUNDARY_AUTO);
	dialect->multiline = !chance(choices, 4);
}

/* a delimiter of several bytes, of which some overlap with themselves */
static void
choose_long_delimiter(CsvDialectOptions *dialect, Choices *choices)
{
	static const char *strings[] = {
		"||", "||", "::", "|~|", "aba", ", ", " | ", "\t\t", "|||", "\xC2\xA7", "--->",
		"ababab", "aabaa", "12345678", ";;;;;;;;", "\x01\x02"
	};
	const char *string = PICK(choices, strings);

	if (!chance(choices, 3))
		return;
	for (const char *p = string; *p != '\0'; p++)
		if ((uint8_t) *p == dialect->quote || (uint8_t) *p == dialect->escape)
			return;
	if (dialect->quoting == CSV_QUOTING_TEXT &&
		strchr("abcdefghijklmnopqrstuvwxyz0123456789", *string) != NULL)
		return;
	csv_dialect_set_delimiter(dialect, string);
}

static void
choose_comment(CsvDialectOptions *dialect, Choices *choices)
{
	static const char *strings[] = {"#", "#", "//", "a", "1", "-- ", "\xC2\xA7", "01234567"};
	const char *string = PICK(choices, strings);

	if (!chance(choices, 3) || (uint8_t) *string == dialect->delimiter ||
		(uint8_t) *string == dialect->quote || (uint8_t) *string == dialect->escape)
		return;
	dialect->comment_length = (uint8_t) strlen(string);
	memcpy(dialect->comment, string, dialect->comment_length);
}

/* has a string for NULL what cannot be in one? */
static bool
is_taken_apart(const Case *test_case, const char *string)
{
	return strchr(string, test_case->dialect.delimiter) != NULL ||
		(test_case->dialect.quote != 0 &&
		 strchr(string, test_case->dialect.quote) != NULL);
}

/* a null or default string: quote, delimiter and breaks cannot be in it */
static uint32_t
choose_string(const Case *test_case, Choices *choices, uint8_t *bytes)
{
	static const char *strings[] = {
		"", "", "", "NULL", "\\N", "0", "a", "b", "x y", "\xC3\xA9", "1", " "
	};
	const char *string = PICK(choices, strings);

	if (is_taken_apart(test_case, string))
		return 0;
	memcpy(bytes, string, strlen(string));
	return (uint32_t) strlen(string);
}

static void
choose_column(CsvColumn *column, Choices *choices)
{
	memset(column, 0, sizeof(*column));
	column->kind = (uint8_t) (chance(choices, 3) ?
							  choose(choices, CSV_NUM_KINDS) : CSV_KIND_TEXT);
	column->force_null = chance(choices, 8);
	column->force_not_null = chance(choices, 8);
	column->max_chars = chance(choices, 5) ? (int32_t) choose(choices, 8) : -1;
	column->byte_width = chance(choices, 5) ?
		(int32_t) choose(choices, 5) * 4 : -1;
	if (chance(choices, 20))
	{
		column->max_chars = (int32_t) choose(choices, 1200);
		column->byte_width = 4 * column->max_chars;
	}
	column->type_chars = -1;
	if (column->kind == CSV_KIND_TEXT && chance(choices, 4))
	{
		column->type_chars = (int32_t) (chance(choices, 8) ?
										choose(choices, 700) :
										choose(choices, 6)) + 1;
		column->pad_blanks = chance(choices, 2);
	}
	column->precision = -1;
	column->scale = 0;
	if (column->kind == CSV_KIND_NUMERIC && chance(choices, 2))
	{
		column->precision = (int16_t) (choose(choices, 38) + 1);
		column->scale = (int16_t) choose(choices,
										 (uint32_t) column->precision + 1);
	}
	if (column->kind == CSV_KIND_DECIMAL64 ||
		column->kind == CSV_KIND_DECIMAL128)
	{
		column->precision = (int16_t) (choose(choices, column->kind ==
											  CSV_KIND_DECIMAL64 ? 18 : 38) + 1);
		column->scale = (int16_t) choose(choices,
										 (uint32_t) column->precision + 1);
	}
	if ((column->kind == CSV_KIND_TIMESTAMP ||
		 column->kind == CSV_KIND_TIMESTAMPTZ || column->kind == CSV_KIND_TIME) &&
		chance(choices, 2))
		column->precision = (int16_t) choose(choices, 7);
}

static bool
is_number(uint8_t kind)
{
	return (kind >= CSV_KIND_INT2 && kind <= CSV_KIND_NUMERIC) ||
		(kind >= CSV_KIND_DECIMAL64 && kind <= CSV_KIND_SCALED);
}

/* numbers with thousands separators, dates and times by a pattern */
static void
choose_form(const Case *test_case, CsvColumn *column, Choices *choices)
{
	static const char thousands[] = ",. '_";
	static const uint8_t of_dates[][CSV_PATTERN_STEPS] = {
		{CSV_STEP_DAY, '/', CSV_STEP_MONTH, '/', CSV_STEP_YEAR},
		{CSV_STEP_MONTH, '/', CSV_STEP_DAY, '/', CSV_STEP_SHORT_YEAR},
		{CSV_STEP_YEAR, CSV_STEP_MONTH, CSV_STEP_DAY},
		{CSV_STEP_DAY, '-', CSV_STEP_SHORT_MONTH_NAME, '-', CSV_STEP_YEAR},
		{CSV_STEP_MONTH_NAME, ' ', CSV_STEP_DAY, ',', ' ', CSV_STEP_YEAR}
	};
	static const uint8_t of_times[][CSV_PATTERN_STEPS] = {
		{CSV_STEP_DAY, '.', CSV_STEP_MONTH, '.', CSV_STEP_YEAR, ' ', CSV_STEP_HOUR, ':', CSV_STEP_MINUTE},
		{CSV_STEP_YEAR, CSV_STEP_MONTH, CSV_STEP_DAY, 'T', CSV_STEP_HOUR, CSV_STEP_MINUTE, CSV_STEP_SECOND, CSV_STEP_FRACTION_1 + 2},
		{CSV_STEP_MONTH, '/', CSV_STEP_DAY, '/', CSV_STEP_YEAR, ' ', CSV_STEP_HOUR_OF_12, ':', CSV_STEP_MINUTE, ':', CSV_STEP_SECOND, ' ', CSV_STEP_AM_PM},
		{CSV_STEP_YEAR, '-', CSV_STEP_MONTH, '-', CSV_STEP_DAY, ' ', CSV_STEP_HOUR, ':', CSV_STEP_MINUTE, ':', CSV_STEP_SECOND, '.', CSV_STEP_FRACTION_6, ' ', CSV_STEP_ZONE_HOUR, ':', CSV_STEP_ZONE_MINUTE}
	};
	const uint8_t epoch[] = {(uint8_t) (CSV_STEP_EPOCH + choose(choices, 3)), 0};

	if (!chance(choices, 3))
		return;
	if (is_number(column->kind))
	{
		column->thousands = (uint8_t) thousands[choose(choices, 5)];
		if (column->thousands == test_case->layout.decimal_separator)
			column->thousands = 0;
	}
	else if (column->kind == CSV_KIND_DATE || column->kind == CSV_KIND_TIMESTAMP ||
			 column->kind == CSV_KIND_TIMESTAMPTZ)
	{
		if (chance(choices, 4))
			memcpy(column->pattern, epoch, sizeof(epoch));
		else if (column->kind == CSV_KIND_TIMESTAMPTZ)
			memcpy(column->pattern, of_times[3], CSV_PATTERN_STEPS);
		else if (column->kind == CSV_KIND_TIMESTAMP || chance(choices, 3))
			memcpy(column->pattern, of_times[choose(choices, 3)], CSV_PATTERN_STEPS);
		else
			memcpy(column->pattern, of_dates[choose(choices, 5)], CSV_PATTERN_STEPS);
	}
}

/* what else stands for NULL: in each column some of a few values, the last ones of all */
static void
choose_null_values(Case *test_case, Choices *choices)
{
	static const char *strings[] = {
		"NA", "-999", "0", "", "n/a", "a", "1", "b", "~", "2024-02-29",
		"12345678901234567890123456789012345678"
	};
	CsvLayout  *layout = &test_case->layout;
	uint32_t	starts[4];
	uint32_t	n = chance(choices, 3) ? choose(choices, 3) + 1 : 0;

	for (uint32_t i = 0; i < n; i++)
	{
		const char *string = PICK(choices, strings);
		uint8_t		length;

		if (is_taken_apart(test_case, string))
			string = "~~";
		length = (uint8_t) strlen(string);
		starts[i] = layout->null_values_length;
		test_case->null_values[starts[i]] = length;
		memcpy(test_case->null_values + starts[i] + 1, string, length);
		layout->null_values_length += 1 + (uint32_t) length;
	}
	for (uint32_t c = 0; c < layout->ncolumns && n > 0; c++)
		if (!chance(choices, 4))
		{
			test_case->columns[c].nulls_from = starts[choose(choices, n)];
			test_case->columns[c].nulls_to = layout->null_values_length;
		}
}

void
case_make(Case *test_case, Choices *choices)
{
	static const uint64_t chunks[] = {
		0, 0, 1, 2, 3, 7, 16, 31, 63, 64, 65, 100, 129, 1000, 5000
	};
	static const uint64_t maxima[] = {
		1, 2, 3, 5, 10, 20, 62, 63, 64, 65, 100, 128, 300, 1000, 4096
	};
	CsvLayout  *layout = &test_case->layout;
	uint32_t	nfields;

	/* not all of it: there are many columns */
	memset(test_case, 0, offsetof(Case, columns));
	memset(test_case->null_bytes, 0, sizeof(*test_case) -
		   offsetof(Case, null_bytes));

	choose_dialect(&test_case->dialect, choices);
	choose_long_delimiter(&test_case->dialect, choices);
	test_case->dialect.trim = chance(choices, 3) &&
		!csv_is_blank(test_case->dialect.quote) && !csv_is_blank(test_case->dialect.escape);
	choose_comment(&test_case->dialect, choices);
	test_case->header_rows = chance(choices, 3) ? choose(choices, 4) : 0;
	test_case->max_record_bytes = chance(choices, 3) ? PICK(choices, maxima) :
		16777216;
	test_case->chunk_bytes = PICK(choices, chunks);

	nfields = chance(choices, 6) ? choose(choices, 40) + 1 :
		choose(choices, 5) + 1;
	if (chance(choices, 250))
		nfields = choose(choices, 1600) + 1;
	layout->nfields = nfields;
	layout->pad = chance(choices, 4);
	layout->encoding = chance(choices, 5) ? CSV_ENCODING_OTHER :
		CSV_ENCODING_UTF8;
	layout->decimal_separator = chance(choices, 5) ? ',' : '.';
	layout->want_positions = chance(choices, 2);
	layout->bad_is_doubtful = chance(choices, 4);
	layout->null_length = choose_string(test_case, choices,
										test_case->null_bytes);
	if (chance(choices, 6))
	{
		layout->default_length = choose_string(test_case, choices,
											   test_case->default_bytes);
		layout->has_default = layout->default_length != layout->null_length ||
			memcmp(test_case->default_bytes, test_case->null_bytes,
				   layout->null_length) != 0;
	}

	/* all fields, or some; now and then a field feeds several columns */
	if (!chance(choices, 12))
	{
		uint32_t	every = chance(choices, 2) ? choose(choices, 4) + 1 : 1;
		uint32_t	attnum = 1;

		for (uint32_t field = 0; field < nfields; field++)
			while (layout->ncolumns < CASE_MAX_COLUMNS &&
				   (every == 1 || chance(choices, every)))
			{
				CsvColumn  *column = &test_case->columns[layout->ncolumns++];

				choose_column(column, choices);
				choose_form(test_case, column, choices);
				column->field = field;
				column->attnum = attnum++;
				if (!chance(choices, 10))
					break;
			}

		/* and columns that the file lacks */
		while (layout->ncolumns < CASE_MAX_COLUMNS && chance(choices, 8))
		{
			CsvColumn  *column = &test_case->columns[layout->ncolumns++];

			choose_column(column, choices);
			column->field = CSV_ABSENT_FIELD;
			column->attnum = attnum++;
		}
	}

	choose_null_values(test_case, choices);

	/* a batch costs something per column: few small ones of many columns */
	if (layout->ncolumns > 20 && test_case->chunk_bytes != 0 &&
		test_case->chunk_bytes < 1000 && !chance(choices, 20))
		test_case->chunk_bytes += 1000;

	test_case->seed = choices_next(choices);
	test_case->max_read_bytes = chance(choices, 4) ? choose(choices, 70) + 1 :
		1 << 30;
	test_case->interruptions = chance(choices, 6) ? choose(choices, 5) + 1 : 0;
	test_case->failures = chance(choices, 6) ? choose(choices, 8) + 1 : 0;
	test_case->switch_engines = chance(choices, 6);
	if (chance(choices, 3))
		test_case->dialect.footer_rows = choose(choices, 5) + 1;
	if (chance(choices, 50))
		test_case->dialect.footer_rows = choose(choices, 300);
}

CsvLayout
case_layout(const Case *test_case)
{
	CsvLayout	layout = test_case->layout;

	layout.columns = test_case->columns;
	layout.null_bytes = test_case->null_bytes;
	layout.default_bytes = test_case->default_bytes;
	layout.null_values = test_case->null_values;
	return layout;
}

/* ---- printing ---- */

void
case_print_bytes(FILE *out, const uint8_t *bytes, size_t nbytes)
{
	fputc('"', out);
	for (size_t i = 0; i < nbytes; i++)
	{
		uint8_t		byte = bytes[i];

		if (byte == '"' || byte == '\\')
			fprintf(out, "\\%c", byte);
		else if (byte == '\n')
			fputs("\\n", out);
		else if (byte == '\r')
			fputs("\\r", out);
		else if (byte < ' ' || byte >= 0x7F)
			fprintf(out, "\\%03o", byte);
		else
			fputc(byte, out);
	}
	fputc('"', out);
}

void
case_print(FILE *out, const Case *test_case)
{
	static const char *boundaries[] = {"auto", "lf", "crlf", "cr"};
	static const char *kinds[CSV_NUM_KINDS] = {
		"text", "cstring", "bool", "int2", "int4", "int8", "float4", "float8",
		"numeric", "date", "timestamp", "timestamptz", "time", "uuid", "decimal64",
		"decimal128", "scaled"
	};
	const CsvDialectOptions *dialect = &test_case->dialect;
	const CsvLayout *layout = &test_case->layout;

	fprintf(out, "dialect: delimiter 0x%02x", dialect->delimiter);
	if (dialect->delimiter_rest_length > 0)
	{
		fputc(' ', out);
		case_print_bytes(out, dialect->delimiter_rest, dialect->delimiter_rest_length);
	}
	fprintf(out, " quote 0x%02x escape 0x%02x %s %s%s%s\n", dialect->quote, dialect->escape,
			dialect->quoting == CSV_QUOTING_TEXT ? "text" :
			dialect->quoting == CSV_QUOTING_POSTGRES ? "postgres" :
			dialect->lenient ? "lenient" : "rfc4180",
			boundaries[dialect->boundary],
			dialect->multiline ? "" : " one-line", dialect->trim ? " trim" : "");
	if (dialect->comment_length > 0)
	{
		fprintf(out, "comment ");
		case_print_bytes(out, dialect->comment, dialect->comment_length);
		fputc('\n', out);
	}
	fprintf(out, "reader: header_rows %u footer_rows %u max_record_bytes %llu chunk_bytes %llu"
			" max_read_bytes %u interruptions %u failures %u%s seed %llu\n",
			test_case->header_rows, dialect->footer_rows,
			(unsigned long long) test_case->max_record_bytes,
			(unsigned long long) test_case->chunk_bytes,
			test_case->max_read_bytes, test_case->interruptions,
			test_case->failures,
			test_case->switch_engines ? " switch_engines" : "",
			(unsigned long long) test_case->seed);
	fprintf(out, "layout: nfields %u%s%s%s%s decimal '%c' null ",
			layout->nfields, layout->pad ? " pad" : "",
			layout->encoding == CSV_ENCODING_UTF8 ? "" : " other-encoding",
			layout->want_positions ? " want_positions" : "",
			layout->bad_is_doubtful ? " bad_is_doubtful" : "",
			layout->decimal_separator);
	case_print_bytes(out, test_case->null_bytes, layout->null_length);
	if (layout->has_default)
	{
		fprintf(out, " default ");
		case_print_bytes(out, test_case->default_bytes, layout->default_length);
	}
	if (layout->null_values_length > 0)
	{
		fprintf(out, " null values ");
		case_print_bytes(out, test_case->null_values, layout->null_values_length);
	}
	fputc('\n', out);
	for (uint32_t c = 0; c < layout->ncolumns && c < 40; c++)
	{
		const CsvColumn *column = &test_case->columns[c];

		fprintf(out, "column %u: field %u %s%s%s%s max_chars %d byte_width %d"
				" type_chars %d precision %d scale %d thousands %d nulls %u to %u"
				" pattern ", c, column->field,
				kinds[column->kind], column->force_null ? " force_null" : "",
				column->force_not_null ? " force_not_null" : "",
				column->pad_blanks ? " pad_blanks" : "", column->max_chars,
				column->byte_width, column->type_chars, column->precision,
				column->scale, column->thousands, column->nulls_from,
				column->nulls_to);
		case_print_bytes(out, column->pattern,
						 strlen((const char *) column->pattern));
		fputc('\n', out);
	}
}
