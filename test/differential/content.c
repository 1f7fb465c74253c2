/*
 * content.c
 *		Makes a file for a dialect, in one of several ways.
 */
#include "content.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/reader/patterns.h"

/* ---- bytes that grow ---- */

void
content_put(Content *content, const void *bytes, size_t nbytes)
{
	if (nbytes >= content->capacity - content->nbytes)
	{
		content->capacity = 2 * (content->nbytes + nbytes) + 4096;
		content->bytes = realloc(content->bytes, content->capacity);
		if (content->bytes == NULL)
			abort();
	}
	if (nbytes > 0)
		memcpy(content->bytes + content->nbytes, bytes, nbytes);
	content->nbytes += nbytes;
}

void
content_byte(Content *content, uint8_t byte)
{
	content_put(content, &byte, 1);
}

void
content_string(Content *content, const char *string)
{
	content_put(content, string, strlen(string));
}

void
content_repeat(Content *content, const char *string, size_t times)
{
	while (times-- > 0)
		content_string(content, string);
}

void
content_format(Content *content, const char *format, ...)
{
	char		line[512];
	va_list		args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	content_string(content, line);
}

void
content_free(Content *content)
{
	free(content->bytes);
	memset(content, 0, sizeof(*content));
}

/* ---- files ---- */

static void
put_break(Content *content, const Case *test_case, Choices *choices)
{
	uint8_t		boundary = test_case->dialect.boundary;

	if (chance(choices, 60))
		boundary = (uint8_t) choose(choices, 4);
	if (boundary == CSV_BOUNDARY_AUTO && chance(choices, 5))
		content_string(content, chance(choices, 6) ? "\r\r\r\n" : "\r\r\n");
	else if (boundary == CSV_BOUNDARY_CRLF ||
		(boundary == CSV_BOUNDARY_AUTO && chance(choices, 3)))
		content_string(content, "\r\n");
	else if (boundary == CSV_BOUNDARY_CR)
		content_byte(content, '\r');
	else
		content_byte(content, '\n');
}

static void
put_delimiter(Content *content, const Case *test_case)
{
	const CsvDialectOptions *dialect = &test_case->dialect;

	content_byte(content, dialect->delimiter);
	content_put(content, dialect->delimiter_rest, dialect->delimiter_rest_length);
}

/* some byte of the delimiter */
static uint8_t
delimiter_byte(const CsvDialectOptions *dialect, Choices *choices)
{
	uint32_t	i = dialect->delimiter_rest_length == 0 ? 0 :
		choose(choices, 1 + (uint32_t) dialect->delimiter_rest_length);

	return i == 0 ? dialect->delimiter : dialect->delimiter_rest[i - 1];
}

/* a byte that means something, or might */
static uint8_t
hostile_byte(const Case *test_case, Choices *choices)
{
	const CsvDialectOptions *dialect = &test_case->dialect;

	switch (choose(choices, 16))
	{
		case 0:
		case 1:
			return delimiter_byte(dialect, choices);
		case 2:
		case 3:
		case 4:
			return dialect->quote != 0 ? dialect->quote :
				dialect->quoting != CSV_QUOTING_TEXT ? '"' :
				(uint8_t) "\\\\\\\\0127x9FN.bnt"[choose(choices, 16)];
		case 5:
			return dialect->escape != 0 ? dialect->escape : '\\';
		case 6:
		case 7:
			return '\n';
		case 8:
			return '\r';
		case 9:
			return chance(choices, 3) ? 0 : chance(choices, 3) ? '\t' : ' ';
		case 10:
			return chance(choices, 3) ? (uint8_t) choices_next(choices) : '1';
		case 11:
			return dialect->trim && chance(choices, 3) ? '\t' : ' ';
		default:
			return (uint8_t) ('a' + choose(choices, 3));
	}
}

/* characters of one to four bytes, and what only looks like them */
static void
put_utf8(Content *content, Choices *choices)
{
	static const char *good[] = {
		"\xC2\x80", "\xC3\xA9", "\xDF\xBF", "\xE0\xA0\x80", "\xE2\x82\xAC",
		"\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80",
		"\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF", "\xEF\xBB\xBF", "z", "~"
	};
	static const char *bad[] = {
		"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3", "\xE0\x80\x80",
		"\xE0\x9F\xBF", "\xE2\x82", "\xED\xA0\x80", "\xED\xBF\xBF",
		"\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF0\x9F\x98", "\xF4\x90\x80\x80",
		"\xF5\x80\x80\x80", "\xFE", "\xFF", "\xE2\x28\xA1", "\xC3\x28"
	};

	if (chance(choices, 8))
		content_string(content, bad[choose(choices, sizeof(bad) / sizeof(bad[0]))]);
	else
		content_string(content,
				   good[choose(choices, sizeof(good) / sizeof(good[0]))]);
}

/* the text of a value that its kind takes, or nearly */
static void
put_scalar(Content *content, int kind, Choices *choices)
{
	static const char *texts[CSV_NUM_KINDS][8] = {
		{"a", "bc", "def", "ghij", "k l", "  ", "NULL", ""},
		{"a", "bc", "def", "ghij", "k l", "b", "\\N", ""},
		{"t", "false", "YES", "no", "1", "off", "tru", "x"},
		{"0", "-32768", "32767", "32768", "+5", "007", "1 ", "1a"},
		{"0", "-2147483648", "2147483647", "2147483648", "12", "0012", " 3", "-"},
		{"0", "-9223372036854775808", "9223372036854775807",
		"9223372036854775808", "42", "123456789012", "1e3", ""},
		{"1.5", "-0", "NaN", "inf", "3.4e38", "1e-45", "1,5", ".5"},
		{"1.5", "0.1", "-Infinity", "1e308", "1e309", "123456789.123456789",
		"2,25", "5."},
		{"1.50", "-12345678901234567890.123", "0", "99999", "1e5", "1,25", "NaN",
		".001"},
		{"2024-02-29", "1999-12-31", "2023-02-29", "0001-01-01", "9999-12-31",
		"24-1-1", "2000-13-01", "yesterday"},
		{"2024-02-29 12:34:56", "2024-02-29", "1999-12-31T23:59:59.999999",
		"2000-01-01 24:00:00", "2000-01-01 00:00:60", "2000-01-01 00:00:00.5",
		"now", "2000-01-01 1:2:3"},
		{"2024-02-29 12:34:56Z", "2024-02-29 00:00:00+01", "2024-02-29",
		"1999-12-31 23:59:59.123-05:30", "2000-01-01 00:00:00 +0100",
		"2000-01-01 00:00:00 UTC", "2000-01-01 00:00:00+15:59:59", "epoch"},
		{"12:34:56", "00:00", "23:59:59.999999", "24:00:00", "01:02:60", "1:02:03",
		"12:34:56.1234567", "04:05 PM"},
		{"123e4567-e89b-12d3-a456-426614174000",
		"123E4567E89B12D3A456426614174000", "{123e4567e89b12d3a456426614174000}",
		"123e4567-e89b-12d3-a456-42661417400", "0", "", "a", "zz"},
		{"1.50", "-123456789.12", "0", "99.995", "+0001", "1,25", "-.5",
		"12345678901234567890"},
		{"1.50", "-12345678901234567890.123", "0", "99.995",
		"99999999999999999999999999999999999999", "1,25", "1e5", "-.0049"},
		{"1.50", "-12345678901234567890.123", "0", "00099.9950", "5.", "1,25",
		"-1234567.12345678", "."}
	};

	content_string(content, texts[kind][choose(choices, 8)]);
}

/* the text of a column that has a form of its own, or nearly */
static void
put_form(Content *content, const CsvColumn *column, Choices *choices)
{
	static const char *const months[] = {
		"January", "february", "MARCH", "April", "may", "June", "July",
		"Augustus", "September", "October", "Nov", "December"
	};

	if (column->thousands != 0)
	{
		content_format(content, "%s%u", chance(choices, 4) ? "-" : "", choose(choices, 1200));
		for (uint32_t n = choose(choices, 4); n > 0; n--)
			content_format(content, "%c%0*u", column->thousands, chance(choices, 10) ? 2 : 3,
						   choose(choices, 1000));
		if (chance(choices, 3))
			content_format(content, "%c%u", chance(choices, 5) ? ',' : '.', choose(choices, 100));
		return;
	}
	if (column->pattern[0] >= CSV_STEP_EPOCH && column->pattern[0] <= CSV_STEP_EPOCH_US)
	{
		for (uint32_t n = choose(choices, 20) + 1; n > 0; n--)
			content_byte(content, (uint8_t) ('0' + choose(choices, 10)));
		if (chance(choices, 3))
			content_format(content, ".%0*u", choose(choices, 7) + 1, choose(choices, 100));
		return;
	}
	for (const uint8_t *step = column->pattern; *step != CSV_STEP_END; step++)
		switch (*step)
		{
			case CSV_STEP_YEAR:
				content_format(content, "%04u", 1900 + choose(choices, 200));
				break;
			case CSV_STEP_MONTH:
				content_format(content, "%0*u", chance(choices, 8) ? 1 : 2, choose(choices, 14));
				break;
			case CSV_STEP_DAY:
				content_format(content, "%0*u", chance(choices, 8) ? 1 : 2, choose(choices, 33));
				break;
			case CSV_STEP_SHORT_MONTH_NAME:
				content_format(content, "%.3s", PICK(choices, months));
				break;
			case CSV_STEP_MONTH_NAME:
				content_string(content, PICK(choices, months));
				break;
			case CSV_STEP_AM_PM:
				content_string(content, chance(choices, 2) ? "pm" : "AM");
				break;
			case CSV_STEP_ZONE_HOUR:
				content_format(content, "%s%02u", chance(choices, 2) ? "+" : "-", choose(choices, 17));
				break;
			default:
				if (*step >= ' ')
					content_byte(content, chance(choices, 40) ? '-' : *step);
				else
					content_format(content, "%02u", choose(choices, chance(choices, 3) ? 14 : 61));
				break;
		}
}

typedef enum ValueStyle
{
	STYLE_SHORT,
	STYLE_UTF8,
	STYLE_LONG,
	STYLE_HOSTILE
} ValueStyle;

/* append a value's text, without regard to structure */
static void
put_value(Content *content, const Case *test_case, uint32_t field,
		  ValueStyle style, Choices *choices)
{
	const CsvLayout *layout = &test_case->layout;
	uint32_t	n;

	if (chance(choices, 10))
	{
		for (uint32_t i = 0; i < layout->null_length; i++)
			content_byte(content, test_case->null_bytes[i]);
		return;
	}
	if (layout->null_values_length > 0 && layout->ncolumns > 0 && chance(choices, 10))
	{
		uint32_t	at = test_case->columns[choose(choices, layout->ncolumns)].nulls_from;

		content_put(content, test_case->null_values + at + 1, test_case->null_values[at]);
		return;
	}
	if (layout->has_default && chance(choices, 10))
	{
		for (uint32_t i = 0; i < layout->default_length; i++)
			content_byte(content, test_case->default_bytes[i]);
		return;
	}
	if (!chance(choices, 4) && layout->ncolumns > 0)
	{
		/* a column of this field, where the fields are all wanted */
		const CsvColumn *column =
			&test_case->columns[field < layout->ncolumns ? field : 0];

		if (column->kind != CSV_KIND_TEXT || style == STYLE_SHORT)
		{
			/* a pattern, or a thousands separator */
			bool		has_form = column->pattern[0] != CSV_STEP_END ||
				column->thousands != 0;

			if (!chance(choices, 6) && has_form)
				put_form(content, column, choices);
			else
				put_scalar(content, column->kind, choices);
			if (column->kind == CSV_KIND_TEXT && chance(choices, 4))
				for (n = choose(choices, 6); n > 0; n--)
					content_byte(content, ' ');
			return;
		}
	}
	switch (style)
	{
		case STYLE_LONG:
			n = chance(choices, 20) ? choose(choices, 6000) :
				choose(choices, 150);
			for (; n > 0; n--)
				content_byte(content, chance(choices, 40) ?
					hostile_byte(test_case, choices) :
					(uint8_t) ('a' + choose(choices, 26)));
			if (chance(choices, 4))
				for (n = choose(choices, 700); n > 0; n--)
					content_byte(content, ' ');
			break;
		case STYLE_UTF8:
			for (n = choose(choices, 7); n > 0; n--)
				put_utf8(content, choices);
			break;
		case STYLE_HOSTILE:
			for (n = choose(choices, 12); n > 0; n--)
				content_byte(content, hostile_byte(test_case, choices));
			break;
		default:
			for (n = choose(choices, 10); n > 0; n--)
				content_byte(content, (uint8_t) ('0' + choose(choices, 75)));
			break;
	}
}

/* a value's byte in one of the ways that the text format has for it */
static void
put_text_byte(Content *content, const CsvDialectOptions *dialect, uint8_t byte,
			  Choices *choices)
{
	static const char *const controls = "\b\f\n\r\t\v";
	static const char *const letters = "bfnrtv";
	const char *control = byte == 0 ? NULL : strchr(controls, byte);

	if (chance(choices, 30))
		content_format(content, "\\%03o", byte);
	else if (chance(choices, 30))
		content_format(content, chance(choices, 2) ? "\\x%02x" : "\\x%02X", byte);
	else if (control != NULL && !chance(choices, 4))
		content_format(content, "\\%c", letters[control - controls]);
	else
	{
		if (byte == dialect->delimiter || byte == '\\' || byte == '\n' ||
			byte == '\r' || chance(choices, 100))
			content_byte(content, '\\');
		content_byte(content, byte);
	}
}

/*
 * A field that reads as the value it is made from; or, where quoting is lenient, as whoever
 * does not double quotes writes it.
 */
static void
put_field(Content *content, const Case *test_case, uint32_t field,
		  ValueStyle style, Choices *choices)
{
	const CsvDialectOptions *dialect = &test_case->dialect;
	uint8_t		escape = dialect->escape != 0 ? dialect->escape :
		dialect->quote;
	Content		value = {NULL, 0, 0};
	bool		quoted = dialect->quote != 0 && chance(choices, 3);
	bool		careless = dialect->lenient && chance(choices, 4);

	put_value(&value, test_case, field, style, choices);
	if (dialect->quoting == CSV_QUOTING_TEXT)
	{
		if (value.nbytes == test_case->layout.null_length && value.nbytes > 0 &&
			memcmp(value.bytes, test_case->null_bytes, value.nbytes) == 0)
			content_put(content, value.bytes, value.nbytes);
		else
			for (size_t i = 0; i < value.nbytes; i++)
				put_text_byte(content, dialect, value.bytes[i], choices);
		free(value.bytes);
		return;
	}
	for (size_t i = 0; i < value.nbytes && !quoted; i++)
	{
		uint8_t		byte = value.bytes[i];

		if ((byte == dialect->delimiter &&
			 (dialect->delimiter_rest_length == 0 || chance(choices, 2))) ||
			byte == '\n' || byte == '\r' ||
			(byte == dialect->quote && dialect->quote != 0))
		{
			if (dialect->quote != 0)
				quoted = true;
			else
				value.bytes[i] = '_';
		}
	}
	if (quoted)
		content_byte(content, dialect->quote);
	for (size_t i = 0; i < value.nbytes; i++)
	{
		uint8_t		byte = value.bytes[i];

		if (quoted && !dialect->multiline && (byte == '\n' || byte == '\r'))
			byte = '_';
		if (quoted && (byte == dialect->quote || byte == escape) && !careless)
			content_byte(content, escape);
		content_byte(content, byte);
	}
	if (quoted)
		content_byte(content, dialect->quote);
	for (uint32_t n = quoted && careless ? choose(choices, 3) : 0; n > 0; n--)
		content_byte(content, chance(choices, 3) ? '\t' : ' ');
	free(value.bytes);
}

/* blanks, mostly where they are trimmed */
static void
put_blanks(Content *content, const Case *test_case, Choices *choices)
{
	if (!chance(choices, test_case->dialect.trim ? 3 : 100))
		return;
	for (uint32_t n = choose(choices, chance(choices, 20) ? 150 : 3) + 1; n > 0; n--)
		content_byte(content, chance(choices, 4) ? '\t' : ' ');
}

/* a line that begins as comments do, or nearly */
static void
put_comment(Content *content, const Case *test_case, Choices *choices)
{
	const CsvDialectOptions *dialect = &test_case->dialect;
	uint32_t	length = dialect->comment_length;

	content_put(content, dialect->comment,
				chance(choices, 8) ? choose(choices, length + 1) : length);
	for (uint32_t n = choose(choices, chance(choices, 10) ? 300 : 12); n > 0; n--)
		content_byte(content, hostile_byte(test_case, choices));
	put_break(content, test_case, choices);
}

static void
put_records(Content *content, const Case *test_case, ValueStyle style,
			Choices *choices)
{
	uint32_t	nfields = test_case->layout.nfields;
	uint32_t	nrecords = chance(choices, 30) ? choose(choices, 200) :
		choose(choices, 12);

	/* CRs, with a few breaks of other kinds */
	Case		by_cr = *test_case;

	by_cr.dialect.boundary = CSV_BOUNDARY_CR;
	if (test_case->dialect.boundary == CSV_BOUNDARY_AUTO && chance(choices, 6))
		test_case = &by_cr;
	if (nfields > 100 && nrecords > 4)
		nrecords = 4;
	nrecords += test_case->header_rows;
	for (uint32_t r = 0; r < nrecords; r++)
	{
		uint32_t	n = nfields;

		while (test_case->dialect.comment_length > 0 && chance(choices, 3))
			put_comment(content, test_case, choices);
		if (chance(choices, 10))
			n = choose(choices, nfields + 3);
		for (uint32_t f = 0; f < n; f++)
		{
			if (f > 0)
				put_delimiter(content, test_case);
			put_blanks(content, test_case, choices);
			put_field(content, test_case, f, style, choices);
			put_blanks(content, test_case, choices);
		}
		if (r + 1 < nrecords || !chance(choices, 3))
			put_break(content, test_case, choices);
		if (chance(choices, 20))
			put_break(content, test_case, choices);
	}
	if (test_case->dialect.boundary == CSV_BOUNDARY_CR && chance(choices, 4))
		content_byte(content, '\n');
}

/* insert, remove or replace one byte */
static void
corrupt(Content *content, const Case *test_case, Choices *choices)
{
	size_t		pos;

	if (content->nbytes == 0)
		return;
	pos = choices_next(choices) % content->nbytes;
	switch (choose(choices, 3))
	{
		case 0:
			content->bytes[pos] = hostile_byte(test_case, choices);
			break;
		case 1:
			memmove(content->bytes + pos, content->bytes + pos + 1,
					content->nbytes - pos - 1);
			content->nbytes--;
			break;
		default:
			content_byte(content, 0);
			memmove(content->bytes + pos + 1, content->bytes + pos,
					content->nbytes - pos - 1);
			content->bytes[pos] = hostile_byte(test_case, choices);
			break;
	}
}

/* the length of some line, less one, or more one: for the record limit */
static uint64_t
near_line_length(const Content *content, Choices *choices)
{
	size_t		pos = content->nbytes == 0 ? 0 :
		choices_next(choices) % content->nbytes;
	size_t		start = pos;
	uint64_t	length;

	while (start > 0 && content->bytes[start - 1] != '\n' &&
		   content->bytes[start - 1] != '\r')
		start--;
	while (pos < content->nbytes && content->bytes[pos] != '\n' &&
		   content->bytes[pos] != '\r')
		pos++;
	length = pos - start + choose(choices, 3);
	return length < 2 ? 1 : length - 1;
}

void
content_make(Content *content, Case *test_case, Choices *choices)
{
	uint32_t	n;

	content->nbytes = 0;
	if (chance(choices, 12))
		content_string(content, chance(choices, 4) ? "\xEF\xBB" : "\xEF\xBB\xBF");
	switch (choose(choices, 11))
	{
		case 0:
		case 1:
			put_records(content, test_case, STYLE_SHORT, choices);
			break;
		case 2:
			put_records(content, test_case, STYLE_SHORT, choices);
			for (n = choose(choices, 3) + 1; n > 0; n--)
				corrupt(content, test_case, choices);
			break;
		case 3:
			put_records(content, test_case, STYLE_UTF8, choices);
			if (chance(choices, 3))
				corrupt(content, test_case, choices);
			break;
		case 4:
			put_records(content, test_case, STYLE_LONG, choices);
			if (chance(choices, 3))
				corrupt(content, test_case, choices);
			break;
		case 5:
			put_records(content, test_case, STYLE_HOSTILE, choices);
			if (chance(choices, 3))
				corrupt(content, test_case, choices);
			break;
		case 6:
			/* runs */
			for (n = choose(choices, 12); n > 0; n--)
			{
				uint8_t		byte = hostile_byte(test_case, choices);

				for (uint32_t run = choose(choices, chance(choices, 3) ? 140 : 4);
					 run > 0; run--)
					content_byte(content, byte);
			}
			break;
		case 7:
			/* lines of raw values: quotes stand anywhere */
			for (n = choose(choices, 40); n > 0; n--)
			{
				put_value(content, test_case, n % test_case->layout.nfields,
						  STYLE_HOSTILE, choices);
				if (chance(choices, 3))
					put_break(content, test_case, choices);
				else
					put_delimiter(content, test_case);
			}
			break;
		case 8:
			for (n = choose(choices, 300); n > 0; n--)
				content_byte(content, (uint8_t) choices_next(choices));
			break;
		default:
			for (n = choose(choices, chance(choices, 20) ? 3000 : 200); n > 0; n--)
				if (test_case->dialect.delimiter_rest_length > 0 && chance(choices, 6))
					put_delimiter(content, test_case);
				else
					content_byte(content, hostile_byte(test_case, choices));
			break;
	}
	/* longer than one piece of the reader's first look */
	if (chance(choices, 2000) && content->nbytes > 0)
	{
		size_t		nbytes = content->nbytes;

		for (n = (uint32_t) (choose(choices, 200000) / nbytes); n > 0; n--)
			for (size_t i = 0; i < nbytes; i++)
				content_byte(content, content->bytes[i]);
	}

	/* pieces of a byte each would all be looked at up to the next line break */
	if (content->nbytes > 50000 && test_case->chunk_bytes != 0 &&
		test_case->chunk_bytes < 1000)
		test_case->chunk_bytes += 1000;
	if (chance(choices, 6))
	{
		content_string(content, chance(choices, 3) ? "\x1a" : "\\.");
		for (n = choose(choices, chance(choices, 4) ? 18 : 4); n > 0; n--)
			content_string(content, chance(choices, 6) ? "\r" : "\n");
	}
	if (chance(choices, 8) && content->nbytes > 0)
		content->nbytes -= choices_next(choices) % content->nbytes;
	if (chance(choices, 6))
		test_case->max_record_bytes = near_line_length(content, choices);
}

size_t
content_read(void *source, uint8_t *buffer, size_t nbytes)
{
	ContentSource *from = source;

	if (nbytes > from->file->nbytes - from->position)
		nbytes = from->file->nbytes - from->position;
	if (nbytes > 0)
		memcpy(buffer, from->file->bytes + from->position, nbytes);
	from->position += nbytes;
	return nbytes;
}
