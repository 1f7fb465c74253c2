/*
 * recognize.c
 *		The form of a value.
 */
#include "postgres.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "import/forms.h"
#include "reader/patterns.h"

/* numbers with an exponent, and numbers with a sign in an odd place, have no more bytes */
#define MOST_BYTES	64

const char *const csv_missing_words[CSV_MISSING_WORDS] = {
	"NA", "N/A", "n/a", "n.a.", "-", "--", "---", ".", "..", "...", ":", "?",
	"*", "null", "NULL", "Null", "None", "#N/A", "\\N", "N.A.", "na", "N/D", "n/d", "ND",

	/* CSV_FIRST_MISSING_NUMBER */
	"-999", "-9999", "-99999", "-999.0", "-9999.0", "-999.00", "-9999.00"
};

const char *const csv_separators[CSV_NUM_SEPARATORS] = {
	",", ".", " ", "'", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89", "\xe2\x80\x99", NULL
};

static bool
is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

int8
csv_missing_word(const CsvReadingRules *rules, const char *text, uint32 nbytes)
{
	if (rules->missing == 0 || nbytes == 0 || nbytes > 8 || is_digit((uint8_t) text[0]) ||
		(isalpha((unsigned char) text[0]) && ((text[0] | 0x20) != 'n' || nbytes > 4)))
		return -1;
	for (int i = 0; i < CSV_MISSING_WORDS; i++)
		if (strlen(csv_missing_words[i]) == nbytes &&
			memcmp(csv_missing_words[i], text, nbytes) == 0)
			return (rules->missing & (UINT32_C(1) << i)) != 0 ? (int8) i : -1;
	return -1;
}

void
csv_reading_rules_init(CsvReadingRules *rules, const CsvTable *table)
{
	const CsvDialectOptions *dialect = &table->reader.dialect;

	memset(rules, 0, sizeof(*rules));
	rules->empty_is_null = table->null_string[0] == '\0';
	rules->date_pattern = table->date_pattern;
	rules->timestamp_pattern = table->timestamp_pattern;
	rules->thousands = table->thousands_separator;
	rules->nthousands = rules->thousands == NULL ? 0 : strlen(rules->thousands);

	/* all but those that the table gives another meaning */
	if (table->null_values != NIL || dialect->quoting == CSV_QUOTING_TEXT)
		return;
	for (int i = 0; i < CSV_MISSING_WORDS; i++)
	{
		const char *word = csv_missing_words[i];

		if (strchr(word, dialect->delimiter) == NULL &&
			(dialect->quote == 0 || strchr(word, dialect->quote) == NULL) &&
			(table->default_string == NULL || strcmp(word, table->default_string) != 0))
			rules->missing |= UINT32_C(1) << i;
	}
}

static uint32
count_digits(const uint8_t *text, uint32 nbytes)
{
	uint32		n = 0;

	while (n < nbytes && is_digit(text[n]))
		n++;
	return n;
}

static bool
begins_with(const uint8_t *text, uint32 nbytes, const char *bytes)
{
	size_t		length = strlen(bytes);

	return nbytes >= length && memcmp(text, bytes, length) == 0;
}

/* is the text spelt so, in any case? */
static bool
is_word(const uint8_t *text, uint32 nbytes, const char *word)
{
	return nbytes == strlen(word) &&
		pg_strncasecmp((const char *) text, word, nbytes) == 0;
}

/* ---- numbers ---- */

/* the separator of thousands that may stand there, between digits: its bytes, or 0 */
static uint32
scan_separator(const CsvReadingRules *rules, const uint8_t *text, uint32 nbytes,
			   CsvSeparator *separator)
{
	if (nbytes == 0)
		return 0;
	if (rules->nthousands > 0 && nbytes >= rules->nthousands &&
		memcmp(text, rules->thousands, rules->nthousands) == 0)
	{
		*separator = CSV_SEPARATOR_GIVEN;
		return (uint32) rules->nthousands;
	}
	for (int i = 0; i < CSV_SEPARATOR_GIVEN; i++)
		if (begins_with(text, nbytes, csv_separators[i]))
		{
			*separator = (CsvSeparator) i;
			return (uint32) strlen(csv_separators[i]);
		}

	/* in LATIN1 and WIN1252; UTF-8 has neither byte behind a digit */
	if (*text == 0xa0 || *text == 0x92)
	{
		*separator = *text == 0xa0 ? CSV_SEPARATOR_NO_BREAK : CSV_SEPARATOR_TYPOGRAPHIC;
		return 1;
	}
	return 0;
}

/* groups of three digits there, each behind the same separator: their bytes, and how many */
static uint32
scan_groups(const CsvReadingRules *rules, const uint8_t *text, uint32 nbytes,
			CsvSeparator *separator, uint32 *ngroups)
{
	uint32		pos = 0;
	CsvSeparator next;
	uint32		length;

	while ((length = scan_separator(rules, text + pos, nbytes - pos, &next)) > 0 &&
		   count_digits(text + pos + length, Min(nbytes - pos - length, 4)) == 3 &&
		   (pos == 0 || next == *separator))
	{
		*separator = next;
		pos += length + 3;
		(*ngroups)++;
	}
	return pos;
}

/* of a whole number: facts of its size */
static uint32
measure_integer(const uint8_t *text, uint32 nbytes, uint32 whole)
{
	uint8_t		digits[20];
	uint32		ndigits = 0;
	int64_t		integer;

	if (whole < 10)
		return 0;
	if (whole >= sizeof(digits))
		return CSV_FACT_BEYOND_INT8;
	if (text[0] == '-')
		digits[ndigits++] = '-';
	for (uint32 i = 0; i < nbytes; i++)
		if (is_digit(text[i]))
			digits[ndigits++] = text[i];
	return !csv_parse_int(digits, ndigits, PG_INT64_MIN, PG_INT64_MAX, &integer) ?
		CSV_FACT_BEYOND_INT8 :
		integer < PG_INT32_MIN || integer > PG_INT32_MAX ? CSV_FACT_BEYOND_INT4 : 0;
}

/* does double precision take the number?  As its input function, which uses strtod() */
static bool
is_float8(const uint8_t *text, uint32 nbytes)
{
	char		number[MOST_BYTES + 1];
	double		result;

	if (nbytes > MOST_BYTES)
		return false;
	memcpy(number, text, nbytes);
	number[nbytes] = '\0';
	for (char *comma = number; *comma != '\0'; comma++)
		if (*comma == ',')
			*comma = '.';
	errno = 0;
	result = strtod(number, NULL);
	return errno != ERANGE || (result != 0.0 && !isinf(result));
}

/* the form of a number that has [e [+-] digits] at its end, by signs and mark */
static CsvForm
read_exponent(const uint8_t *text, uint32 nbytes, uint32 pos, uint8_t mark)
{
	const uint32 e = pos++;
	bool		any_sign = pos < nbytes && (text[pos] == '-' || text[pos] == '+');

	pos += any_sign;
	if ((text[e] != 'e' && text[e] != 'E') || pos == nbytes ||
		pos + count_digits(text + pos, nbytes - pos) != nbytes ||
		!is_float8(text, nbytes))
		return CSV_FORM_TEXT;
	return mark == '.' ? CSV_FORM_EXPONENT :
		mark == ',' ? CSV_FORM_EXPONENT_COMMA :
		any_sign || text[0] == '-' ? CSV_FORM_EXPONENT_SIGNED : CSV_FORM_EXPONENT_BARE;
}

/* what a number is made of */
typedef struct NumberParts
{
	uint32		whole;			/* digits before the mark */
	bool		zero;			/* the first of them */
	uint32		ngroups;		/* groups behind separators */
	CsvSeparator separator;
	uint8_t		mark;			/* 0: none */
	uint32		fraction;		/* digits behind it */
	uint32		length;			/* bytes of all that, and a sign */
} NumberParts;

/* [-] digits, perhaps in groups, [mark digits] */
static void
scan_parts(const CsvReadingRules *rules, const uint8_t *text, uint32 nbytes, NumberParts *parts)
{
	uint32		pos = text[0] == '-' ? 1 : 0;
	const uint32 lead = count_digits(text + pos, nbytes - pos);

	memset(parts, 0, sizeof(*parts));
	parts->zero = lead > 0 && text[pos] == '0';
	if (lead >= 1 && lead <= 3 && !parts->zero)
		parts->length = scan_groups(rules, text + pos + lead, nbytes - pos - lead,
									&parts->separator, &parts->ngroups);
	parts->whole = lead + 3 * parts->ngroups;
	pos += lead + parts->length;
	if (parts->ngroups == 1 && parts->separator <= CSV_SEPARATOR_POINT &&
		pos < nbytes && (text[pos] | 0x20) == 'e')
	{
		/* 1.000e3 */
		parts->ngroups = 0;
		parts->whole = lead;
		parts->fraction = 3;
		parts->mark = text[pos - 4];
	}
	else if (pos < nbytes && (text[pos] == '.' || text[pos] == ',') &&
			 !(parts->ngroups > 0 && parts->separator <= CSV_SEPARATOR_POINT &&
			   text[pos] == (uint8_t) *csv_separators[parts->separator]))
	{
		parts->mark = text[pos++];
		parts->fraction = count_digits(text + pos, nbytes - pos);
		pos += parts->fraction;
	}
	parts->length = pos;
}

/* the figures of a number in a form that is not an exponent's */
static void
measure_number(const uint8_t *text, const NumberParts *parts, CsvForm form, CsvFigures *figures)
{
	const bool	is_either = form == CSV_FORM_EITHER || form == CSV_FORM_EITHER_COMMA;
	const bool	negative = text[0] == '-';
	uint32	   *most = figures->most;

	figures->facts |= negative && parts->whole > 2 ? CSV_FACT_BELOW : 0;
	if (is_either)
	{
		most[CSV_MOST_EITHER_WHOLE] = parts->whole - 3;
		figures->facts |= text[parts->length - 1] == '0' ? CSV_FACT_ZERO_AT_END : 0;
	}
	else
	{
		most[CSV_MOST_WHOLE] = parts->whole;
		most[CSV_MOST_FRACTION] = parts->fraction;
		figures->facts |= negative && parts->ngroups > 0 ? CSV_FACT_NEGATIVE_GROUP : 0;
	}
	if (parts->mark != 0)
		return;
	most[CSV_MOST_DIGITS] = parts->whole;
	most[CSV_LEAST_DIGITS] = ~parts->whole;
	if (parts->whole > 0 && (parts->whole <= 3 || parts->ngroups > 0))
		most[CSV_LEAST_LEAD] = ~(parts->whole - 3 * parts->ngroups);
	most[CSV_MOST_SEPARATORS] = parts->ngroups;
	most[CSV_LEAST_SEPARATORS] = ~parts->ngroups;
	figures->facts |= measure_integer(text, parts->length, parts->whole) |
		(parts->ngroups == 0 && parts->whole > 3 ? CSV_FACT_LONG_UNGROUPED : 0);
}

/* a number, with [e [+-] digits] perhaps */
static CsvForm
read_number(const CsvReadingRules *rules, const uint8_t *text, uint32 nbytes,
			CsvFigures *figures)
{
	uint32		zeros = 0;
	bool		is_padded;
	NumberParts parts;
	CsvForm		form;

	scan_parts(rules, text, nbytes, &parts);

	/* a comma behind it ends a list */
	if (parts.whole + parts.fraction == 0 || (parts.mark == ',' && parts.fraction == 0))
		return CSV_FORM_TEXT;
	is_padded = parts.zero && parts.whole > 1;
	if (parts.length < nbytes)
	{
		form = parts.ngroups > 0 || is_padded ? CSV_FORM_TEXT :
			read_exponent(text, nbytes, parts.length, parts.mark);
		if (form == CSV_FORM_TEXT)
			return form;
		figures->facts = text[parts.length] == 'E' ? CSV_FACT_CAPITAL_E : 0;
	}
	else if (is_padded)
		return CSV_FORM_ZEROS;
	else if (parts.ngroups > 0)
		form = parts.mark == '.' ? CSV_FORM_GROUPED_DECIMAL + parts.separator :
			parts.mark == ',' ? CSV_FORM_GROUPED_DECIMAL_COMMA + parts.separator :
			parts.ngroups > 1 || parts.separator > CSV_SEPARATOR_POINT ?
			CSV_FORM_GROUPED + parts.separator :
			parts.separator == CSV_SEPARATOR_POINT ? CSV_FORM_EITHER : CSV_FORM_EITHER_COMMA;
	else
		form = parts.mark == '.' ? CSV_FORM_DECIMAL :
			parts.mark == ',' ? CSV_FORM_DECIMAL_COMMA :
			csv_is_days(text, nbytes) ? CSV_FORM_DAYS : CSV_FORM_INTEGER;

	/* a lone 0 does not count for a precision, and zeros in front are not significant */
	if (parts.zero)
		parts.whole = 0;
	while (parts.whole == 0 && zeros < parts.fraction &&
		   text[parts.length - parts.fraction + zeros] == '0')
		zeros++;
	figures->most[CSV_MOST_SIGNIFICANT] = parts.whole + parts.fraction - zeros;
	if (parts.length == nbytes)
		measure_number(text, &parts, form, figures);
	return form;
}

/* a sign or the like that a number may have, and that no input function takes */
typedef struct Oddity
{
	const char *bytes;
	bool		in_front;
	bool		behind;
	CsvForm		form;
} Oddity;

static const Oddity oddities[] = {
	{"\xe2\x88\x92", true, false, CSV_FORM_MINUS_SIGN},
	{"-", false, true, CSV_FORM_MINUS_BEHIND},
	{"%", false, true, CSV_FORM_PERCENT},
	{"'", true, false, CSV_FORM_QUOTED},
	{"$", true, true, CSV_FORM_CURRENCY},
	{"\xe2\x82\xac", true, true, CSV_FORM_CURRENCY},	/* euro */
	{"\x80", true, true, CSV_FORM_CURRENCY},	/* the same in WIN1252 */
	{"\xc2\xa3", true, true, CSV_FORM_CURRENCY},	/* pound */
	{"\xa3", true, true, CSV_FORM_CURRENCY},
	{"\xc2\xa5", true, true, CSV_FORM_CURRENCY},	/* yen */
	{"\xa5", true, true, CSV_FORM_CURRENCY},
	{"+", true, false, CSV_FORM_ZEROS},
};

/* take one of them off either end, and blanks there; TEXT: there is none */
static CsvForm
take_oddity(const uint8_t **text, uint32 *nbytes)
{
	const uint8_t *p = *text;
	CsvForm		form = CSV_FORM_TEXT;

	if (*nbytes > 2 && p[0] == '(' && p[*nbytes - 1] == ')')
	{
		*text += 1;
		*nbytes -= 2;
		return CSV_FORM_PARENTHESES;
	}
	for (size_t i = 0; i < lengthof(oddities) && form == CSV_FORM_TEXT; i++)
	{
		const char *bytes = oddities[i].bytes;
		uint32		length = (uint32) strlen(bytes);

		if (*nbytes <= length)
			continue;
		if (oddities[i].in_front && memcmp(p, bytes, length) == 0)
			*text += length;
		else if (!oddities[i].behind || memcmp(p + *nbytes - length, bytes, length) != 0)
			continue;
		*nbytes -= length;
		form = oddities[i].form;
	}
	if (form != CSV_FORM_TEXT)
		csv_trim_spaces(text, nbytes);
	return form;
}

/* a number with signs in odd places */
static CsvForm
read_odd_number(const CsvReadingRules *rules, const uint8_t *text, uint32 nbytes)
{
	CsvForm		form = CSV_FORM_TEXT;
	CsvForm		next;
	bool		minus = false;
	CsvFigures	ignored;

	if (nbytes > MOST_BYTES || nbytes < 2)
		return CSV_FORM_TEXT;
	if (nbytes > 3 && begins_with(text, nbytes, "=\"") && text[nbytes - 1] == '"')
		return memchr(text + 2, '"', nbytes - 3) == NULL ? CSV_FORM_FORMULA : CSV_FORM_TEXT;
	while ((next = take_oddity(&text, &nbytes)) != CSV_FORM_TEXT ||
		   (!minus && nbytes > 1 && text[0] == '-' && !is_digit(text[1])))
	{
		/* -$5 */
		if (next == CSV_FORM_TEXT)
		{
			minus = true;
			text++;
			nbytes--;
		}
		else if (form == CSV_FORM_TEXT || form == CSV_FORM_ZEROS)
			form = next;
	}
	if (form == CSV_FORM_TEXT || nbytes == 0)
		return CSV_FORM_TEXT;
	next = read_number(rules, text, nbytes, &ignored);
	return next == CSV_FORM_TEXT ? CSV_FORM_TEXT : form;
}

/* ---- dates and times ---- */

/* in the form of a pattern that is given, not an epoch, and known to engines? */
static bool
is_in_form(const CsvPattern *pattern, CsvKind kind, const uint8_t *text, uint32 nbytes)
{
	CsvColumn	column = {.kind = (uint8_t) kind, .precision = -1};
	int64_t		microseconds;

	if (pattern == NULL || pattern->epoch != 0 || pattern->steps[0] == CSV_STEP_END)
		return false;
	memcpy(column.pattern, pattern->steps, sizeof(column.pattern));
	return csv_parse_by_pattern(&column, text, nbytes, &microseconds);
}

static CsvForm
read_given(const CsvReadingRules *rules, const uint8_t *text, uint32 nbytes)
{
	if (is_in_form(rules->date_pattern, CSV_KIND_DATE, text, nbytes))
		return CSV_FORM_DATE;
	if (is_in_form(rules->timestamp_pattern, CSV_KIND_TIMESTAMPTZ, text, nbytes))
		return rules->timestamp_pattern->has_zone ? CSV_FORM_TIMESTAMPTZ : CSV_FORM_TIMESTAMP;
	return CSV_FORM_TEXT;
}

/* a timestamp, less the name of UTC at its end, as PostgreSQL's own log has it */
static bool
is_in_utc(const uint8_t *text, uint32 nbytes)
{
	int64_t		microseconds;

	return nbytes >= 20 &&
		(is_word(text + nbytes - 4, 4, " UTC") || is_word(text + nbytes - 4, 4, " GMT")) &&
		csv_parse_timestamp(text, nbytes - 4, -1, &microseconds);
}

/* as the types' input functions read it */
static CsvForm
read_iso(const CsvReadingRules *rules, const uint8_t *text, uint32 nbytes, uint32 *facts)
{
	int32_t		days;
	int64_t		microseconds;
	bool		may_be_time = nbytes > 10 && rules->timestamp_pattern == NULL;

	if (nbytes < 10 || text[4] != '-')
		return CSV_FORM_TEXT;
	*facts = CSV_FACT_YEAR_FIRST | CSV_FACT_HYPHEN | CSV_FACT_LONG_YEAR;
	if (nbytes == 10 && rules->date_pattern == NULL && csv_parse_date(text, nbytes, &days))
	{
		*facts |= CSV_FACT_DATE_ALONE;
		return CSV_FORM_DATE;
	}
	if (may_be_time && csv_parse_timestamp(text, nbytes, -1, &microseconds))
	{
		*facts |= CSV_FACT_24_HOURS | (text[10] == 'T' ? CSV_FACT_T : 0) |
			(nbytes > 16 ? CSV_FACT_SECONDS : 0) |
			(nbytes > 19 ? CSV_FACT_FRACTION_POINT : 0);
		return CSV_FORM_TIMESTAMP;
	}
	*facts = 0;
	return may_be_time && (csv_parse_timestamptz(text, nbytes, -1, &microseconds) ||
						   is_in_utc(text, nbytes)) ?
		CSV_FORM_TIMESTAMPTZ : CSV_FORM_TEXT;
}

/* HH:MM:SS[.f] */
static bool
is_time_of_day(const uint8_t *text, uint32 nbytes)
{
	uint32		nfraction = nbytes > 9 ? count_digits(text + 9, nbytes - 9) : 0;

	return nbytes >= 8 && text[2] == ':' && text[5] == ':' &&
		csv_two_digits(text) < 24 && csv_two_digits(text + 3) < 60 &&
		csv_two_digits(text + 6) < 60 &&
		(nbytes == 8 || (text[8] == '.' && nfraction >= 1 && nfraction <= 6 &&
						 nbytes == 9 + nfraction));
}

static CsvForm
read_time(const CsvReadingRules *rules, const uint8_t *text, uint32 nbytes,
		  CsvFigures *figures)
{
	CsvForm		form = read_iso(rules, text, nbytes, &figures->facts);

	if (form != CSV_FORM_TEXT)
		return form;
	if (is_time_of_day(text, nbytes))
		return CSV_FORM_TIME_OF_DAY;
	return rules->date_pattern != NULL || rules->timestamp_pattern != NULL ? CSV_FORM_TEXT :
		csv_read_when(text, nbytes, figures);
}

/* ---- any value ---- */

static bool
is_not_finite(const uint8_t *text, uint32 nbytes)
{
	uint32		sign = text[0] == '-' ? 1 : 0;

	return is_word(text, nbytes, "NaN") ||
		is_word(text + sign, nbytes - sign, "Infinity") ||
		is_word(text + sign, nbytes - sign, "Inf");
}

/* the form of a value that has at least a byte, and no blanks around it */
static CsvForm
read_form(const CsvReadingRules *rules, const uint8_t *text, uint32 nbytes,
		  CsvFigures *figures)
{
	const uint8_t first = text[0];
	CsvForm		form;
	bool		truth;
	uint8		uuid[16];

	if (nbytes == 36 && csv_parse_uuid(text, nbytes, uuid))
		return CSV_FORM_UUID;
	if (isalpha(first))
	{
		/* 0 and 1 are numbers */
		if (csv_parse_bool(text, nbytes, &truth))
		{
			figures->facts = (truth ? CSV_FACT_TRUE : CSV_FACT_FALSE) |
				(nbytes >= 4 ? CSV_FACT_SPELT_OUT : 0);
			return CSV_FORM_BOOLEAN;
		}
		return is_not_finite(text, nbytes) ? CSV_FORM_NOT_FINITE :
			read_time(rules, text, nbytes, figures);
	}
	if (is_digit(first) || first == '-' || first == '.' || first == ',')
	{
		form = read_number(rules, text, nbytes, figures);
		if (form == CSV_FORM_TEXT && is_digit(first))
			form = read_time(rules, text, nbytes, figures);
		if (form == CSV_FORM_TEXT && is_not_finite(text, nbytes))
			form = CSV_FORM_NOT_FINITE;
		if (form != CSV_FORM_TEXT)
			return form;
	}
	return read_odd_number(rules, text, nbytes);
}

void
csv_read_value(const CsvReadingRules *rules, const char *text, uint32 nbytes,
			   CsvReadValue *value)
{
	const uint8_t *start = (const uint8_t *) text;
	uint32		length = nbytes;

	memset(value, 0, sizeof(*value));
	value->missing = csv_missing_word(rules, text, nbytes);
	if (value->missing >= 0)
		return;
	csv_trim_spaces(&start, &length);
	if (length == 0)
		return;
	if (rules->date_pattern != NULL || rules->timestamp_pattern != NULL)
		value->form = (uint8) read_given(rules, start, length);
	if (value->form == CSV_FORM_TEXT)
		value->form = (uint8) read_form(rules, start, length, &value->figures);

	/* uuid's input function wants no blanks */
	if (value->form == CSV_FORM_UUID && length < nbytes)
		value->form = CSV_FORM_TEXT;
}

/* ---- at a glance ---- */

/* groups of digits, or a month's name, parted as in dates and times */
static bool
looks_like_time(const char *text, uint32 nbytes)
{
	uint32		ngroups = 0;
	uint32		nmarks = 0;		/* - / : and points */
	uint32		npoints = 0;
	uint32		nwords = 0;
	uint32_t	month;

	for (uint32 pos = 0; pos < nbytes;)
	{
		const uint8_t *word = (const uint8_t *) text + pos;
		char		c = text[pos];
		uint32		from = pos;

		if (is_digit((uint8_t) c))
		{
			pos += count_digits(word, nbytes - pos);
			if (pos - from > 8)
				return false;
			ngroups++;
		}
		else if (isalpha((unsigned char) c))
		{
			while (pos < nbytes && isalpha((unsigned char) text[pos]))
				pos++;
			if (csv_scan_month(word, pos - from, false, &month) > 0 && ++nwords == 1)
				ngroups++;
			else if (from == 8 && pos == 9 && c == 'T')
				nmarks++;		/* 20240501T1000 */
			else if (!(pos - from == 1 && (c == 'T' || c == 'Z')) &&
					 !is_word(word, pos - from, "am") && !is_word(word, pos - from, "pm") &&
					 !is_word(word, pos - from, "UTC") && !is_word(word, pos - from, "GMT"))
				return false;
		}
		else
		{
			if (c != ' ')
			{
				if (strchr("-/:.+", c) == NULL || c == '\0')
					return false;
				nmarks++;
				npoints += c == '.';
			}
			pos++;
		}
	}

	/* an address has three points, and no other mark */
	return is_digit((uint8_t) text[0]) && ngroups >= 2 && ngroups <= 8 &&
		nmarks + nwords >= 1 && (npoints < 3 || npoints < nmarks);
}

CsvCellKind
csv_cell_kind(const char *text, uint32 nbytes)
{
	static const CsvReadingRules rules = {
		.missing = (UINT32_C(1) << CSV_FIRST_MISSING_NUMBER) - 1
	};
	CsvReadValue value;
	bool		any_digit = false;

	csv_trim_spaces((const uint8_t **) &text, &nbytes);
	csv_read_value(&rules, text, nbytes, &value);

	/* nan and inf fit numbers, and may be names */
	if (nbytes == 0 || value.missing >= 0 || value.form == CSV_FORM_NOT_FINITE)
		return CSV_CELL_EMPTY;
	if (value.form >= CSV_FORM_DATE && value.form <= CSV_LAST_WHEN)
		return CSV_CELL_TIME;
	if (value.form == CSV_FORM_BOOLEAN && nbytes >= 2)
		return CSV_CELL_BOOLEAN;

	/* (1), (2), (3) count columns, and notes */
	if (value.form == CSV_FORM_PARENTHESES &&
		count_digits((const uint8_t *) text + 1, nbytes - 1) == nbytes - 2)
		return CSV_CELL_CODE;
	if (value.form >= CSV_FIRST_NUMBER && value.form != CSV_FORM_FORMULA &&
		value.form != CSV_FORM_ODD_DATE)
		return CSV_CELL_NUMBER;
	if (nbytes > MOST_BYTES)
		return CSV_CELL_TEXT;
	if (looks_like_time(text, nbytes))
		return CSV_CELL_TIME;
	for (uint32 i = 0; i < nbytes; i++)
	{
		if (text[i] == ' ')
			return CSV_CELL_TEXT;
		any_digit |= is_digit((uint8_t) text[i]);
	}
	return any_digit ? CSV_CELL_CODE : CSV_CELL_TEXT;
}
