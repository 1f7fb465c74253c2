/*
 * cell.c
 *		What a cell of a table looks like, at a glance.
 */
#include "postgres.h"

#include <ctype.h>

#include "import/cell.h"
#include "reader/convert.h"
#include "table/text.h"

/* longer ones are text, or numbers */
#define MOST_BYTES	64

const char *const csv_missing_words[CSV_MISSING_WORDS] = {
	"NA", "N/A", "n/a", "n.a.", "-", "--", "---", ".", "..", "...", ":", "?",
	"*", "null", "NULL", "Null", "None", "#N/A", "\\N", "N.A.", "na", "N/D", "n/d", "ND",

	/* CSV_FIRST_MISSING_NUMBER */
	"-999", "-9999", "-99999", "-999.0", "-9999.0", "-999.00", "-9999.00"
};

static const char *const months[] = {
	"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"
};

int
csv_missing_word(const char *text, uint32 nbytes)
{
	if (nbytes == 0 || nbytes > 8 || (text[0] >= '0' && text[0] <= '9'))
		return -1;
	for (int i = 0; i < CSV_MISSING_WORDS; i++)
		if (strlen(csv_missing_words[i]) == nbytes &&
			memcmp(csv_missing_words[i], text, nbytes) == 0)
			return i;
	return -1;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* digits with points, commas, and what parts thousands; a sign, an exponent, a percent sign */
static bool
is_number(const char *text, uint32 nbytes)
{
	uint32		pos = 0;
	uint32		ndigits = 0;
	uint32		npoints = 0;
	uint32		ncommas = 0;

	if (text[nbytes - 1] == '%')
		nbytes--;
	while (nbytes > 0 && text[nbytes - 1] == ' ')
		nbytes--;
	if (pos < nbytes && (text[pos] == '-' || text[pos] == '+'))
		pos++;
	if (pos < nbytes && text[pos] == '$')
		pos++;
	for (; pos < nbytes; pos++)
	{
		char		c = text[pos];
		bool		between = pos > 0 && is_digit(text[pos - 1]) &&
			pos + 3 < nbytes && is_digit(text[pos + 1]) &&
			is_digit(text[pos + 2]) && is_digit(text[pos + 3]) &&
			(pos + 4 == nbytes || !is_digit(text[pos + 4]));

		if (is_digit(c))
			ndigits++;
		else if (c == '.')
			npoints += between ? 0 : 1;
		else if (c == ',')
			ncommas += between ? 0 : 1;
		else if (!((c == ' ' || c == '\'') && between))
			break;
	}
	if (ndigits > 0 && pos < nbytes && (text[pos] == 'e' || text[pos] == 'E'))
	{
		pos++;
		if (pos < nbytes && (text[pos] == '-' || text[pos] == '+'))
			pos++;
		if (pos == nbytes)
			return false;
		while (pos < nbytes && is_digit(text[pos]))
			pos++;
	}
	return pos == nbytes && ndigits > 0 && npoints + ncommas <= 1;
}

/* groups of digits, or a month's name, parted as in dates and times */
static bool
is_time(const char *text, uint32 nbytes)
{
	uint32		ngroups = 0;
	uint32		nmarks = 0;		/* - / : and points */
	uint32		nwords = 0;

	for (uint32 pos = 0; pos < nbytes;)
	{
		char		c = text[pos];
		uint32		from = pos;

		if (is_digit(c))
		{
			while (pos < nbytes && is_digit(text[pos]))
				pos++;
			if (pos - from > 8)
				return false;
			ngroups++;
		}
		else if (isalpha((unsigned char) c))
		{
			uint32		month = 0;

			while (pos < nbytes && isalpha((unsigned char) text[pos]))
				pos++;
			while (month < lengthof(months) &&
				   (pos - from < 3 || pg_strncasecmp(text + from, months[month], 3) != 0))
				month++;
			if (month < lengthof(months) && ++nwords == 1)
				ngroups++;
			else if (from == 8 && pos == 9 && c == 'T')
				nmarks++;		/* 20240501T1000 */
			else if (!(pos - from == 1 && (c == 'T' || c == 'Z')) &&
					 !(pos - from == 2 && (pg_strncasecmp(text + from, "am", 2) == 0 ||
										   pg_strncasecmp(text + from, "pm", 2) == 0)))
				return false;
		}
		else
		{
			if (c != ' ')
			{
				if (strchr("-/:.+", c) == NULL || c == '\0')
					return false;
				nmarks++;
			}
			pos++;
		}
	}
	return is_digit(text[0]) && ngroups >= 2 && ngroups <= 8 && nmarks + nwords >= 1;
}

/*
 * A value with ASCII in place of blanks and apostrophes beyond it that part digits, in UTF-8
 * or 8-bit encodings.  In *plain, which has room for MOST_BYTES; its length.
 */
static uint32
make_plain(const char *text, uint32 nbytes, char *plain)
{
	static const struct
	{
		const char *bytes;
		char		ascii;
	}			parts[] = {
		{"\xc2\xa0", ' '}, {"\xe2\x80\xaf", ' '}, {"\xe2\x80\x89", ' '},
		{"\xe2\x80\x99", '\''}, {"\xa0", ' '}, {"\x92", '\''}
	};
	uint32		n = 0;

	for (uint32 i = 0; i < nbytes; n++)
	{
		size_t		length = 0;

		plain[n] = text[i];
		for (size_t part = 0; part < lengthof(parts) && length == 0 && i > 0 &&
			 IS_HIGHBIT_SET(text[i]) && is_digit(text[i - 1]); part++)
		{
			length = strlen(parts[part].bytes);
			if (nbytes - i > length && memcmp(text + i, parts[part].bytes, length) == 0 &&
				is_digit(text[i + length]))
				plain[n] = parts[part].ascii;
			else
				length = 0;
		}
		i += (uint32) Max(length, 1);
	}
	return n;
}

CsvCellKind
csv_cell_kind(const char *text, uint32 nbytes)
{
	char		plain[MOST_BYTES];
	bool		value;
	bool		any_digit = false;
	int			missing;

	while (nbytes > 0 && csv_is_blank((uint8) *text))
	{
		text++;
		nbytes--;
	}
	while (nbytes > 0 && csv_is_blank((uint8) text[nbytes - 1]))
		nbytes--;
	if (nbytes == 0)
		return CSV_CELL_EMPTY;
	missing = csv_missing_word(text, nbytes);
	if (missing >= 0 && missing < CSV_FIRST_MISSING_NUMBER)
		return CSV_CELL_EMPTY;
	if (nbytes <= MOST_BYTES && !csv_is_ascii(text, nbytes))
	{
		nbytes = make_plain(text, nbytes, plain);
		text = plain;
	}
	if (is_number(text, nbytes))
		return CSV_CELL_NUMBER;
	if (nbytes > MOST_BYTES)
		return CSV_CELL_TEXT;
	if (is_time(text, nbytes))
		return CSV_CELL_TIME;
	if (csv_parse_bool((const uint8_t *) text, nbytes, &value) && nbytes >= 2)
		return CSV_CELL_BOOLEAN;
	if ((nbytes == 3 && pg_strncasecmp(text, "nan", 3) == 0) ||
		(nbytes == 3 && pg_strncasecmp(text, "inf", 3) == 0) ||
		(nbytes == 4 && pg_strncasecmp(text, "-inf", 4) == 0))
		return CSV_CELL_EMPTY;	/* fits numbers, and may be a name */
	for (uint32 i = 0; i < nbytes; i++)
	{
		if (text[i] == ' ')
			return CSV_CELL_TEXT;
		any_digit |= is_digit(text[i]);
	}
	return any_digit ? CSV_CELL_CODE : CSV_CELL_TEXT;
}
