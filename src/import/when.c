/*
 * when.c
 *		Dates and times in other forms than ISO's.
 *
 * Numbers of days and months have one or two digits, as do hours; years have four, or
 * two where the values leave no doubt of the order, or points or a month's name do; all
 * other numbers have two.
 */
#include "postgres.h"

#include <ctype.h>

#include "import/when.h"
#include "reader/patterns.h"

/* the years of dates without separators */
#define FIRST_YEAR	1900
#define LAST_YEAR	2100

/* what is left of a value */
typedef struct Rest
{
	const uint8_t *text;
	uint32		nbytes;
} Rest;

/* the next byte; 0: there is none */
static char
peek(const Rest *rest)
{
	return rest->nbytes > 0 ? (char) rest->text[0] : 0;
}

static char
take(Rest *rest)
{
	char		c = peek(rest);

	if (rest->nbytes > 0)
	{
		rest->text++;
		rest->nbytes--;
	}
	return c;
}

/* digits, so many at most, as a number; how many there were */
static uint32
take_number(Rest *rest, uint32 most, int *number)
{
	uint32		n = 0;

	*number = 0;
	while (n < most && peek(rest) >= '0' && peek(rest) <= '9')
	{
		*number = *number * 10 + (take(rest) - '0');
		n++;
	}
	return n;
}

/* a month's name of three letters, as its number; how many letters there were */
static uint32
take_month(Rest *rest, int *number)
{
	uint32_t	month = 0;
	uint32		n = csv_scan_month(rest->text, rest->nbytes, false, &month);

	*number = (int) month;
	rest->text += n;
	rest->nbytes -= n;
	return n;
}

static bool
is_date(int year, int month, int day)
{
	int32_t		days;

	return csv_days((uint32_t) year, (uint32_t) month, (uint32_t) day, &days);
}

/* AM or PM, after a blank or not */
static bool
take_half(Rest *rest, uint8 *halves)
{
	bool		blank = peek(rest) == ' ';
	char		half;

	if (blank)
		(void) take(rest);
	half = (char) toupper((unsigned char) take(rest));
	*halves = blank ? 3 : 2;
	return (half == 'A' || half == 'P') && toupper((unsigned char) take(rest)) == 'M';
}

/* a time, which must be all of the rest */
static bool
add_time(CsvWhen *when, Rest rest)
{
	uint8		halves = 1;
	int			hour;
	int			number;

	if (take_number(&rest, 2, &hour) == 0 || take(&rest) != ':' ||
		take_number(&rest, 2, &number) != 2 || number > 59)
		return false;
	if (peek(&rest) == ':')
	{
		(void) take(&rest);
		if (take_number(&rest, 2, &number) != 2 || number > 59)
			return false;
		when->any_seconds = true;
		if (peek(&rest) == '.' || peek(&rest) == ',')
		{
			char		mark = take(&rest);

			if ((when->fraction != 0 && when->fraction != mark) ||
				take_number(&rest, 6, &number) == 0)
				return false;
			when->fraction = mark;
		}
	}
	if (rest.nbytes > 0 && !take_half(&rest, &halves))
		return false;
	if (rest.nbytes > 0 || (halves == 1 ? hour > 23 : hour < 1 || hour > 12) ||
		(when->halves != 0 && when->halves != halves))
		return false;
	when->halves = halves;
	return true;
}

/* a date's three parts */
typedef struct DateParts
{
	uint8		form;
	char		separator;
	uint8		year_digits;
	int			year;
	int			first;			/* of day and month, as they stand */
	int			second;
} DateParts;

static bool
take_date(Rest *rest, DateParts *parts)
{
	uint32		ndigits = take_number(rest, 4, &parts->first);

	parts->separator = take(rest);
	if (strchr("-/. ", parts->separator) == NULL || parts->separator == '\0')
		return false;
	if (ndigits == 4)
	{
		parts->form = CSV_DATE_YEAR_FIRST;
		parts->year = parts->first;
		parts->year_digits = 4;
		return parts->separator != ' ' &&
			take_number(rest, 2, &parts->first) > 0 &&
			take(rest) == parts->separator &&
			take_number(rest, 2, &parts->second) > 0;
	}
	if (ndigits == 0 || ndigits > 2)
		return false;
	if (isalpha((unsigned char) peek(rest)))
	{
		parts->form = CSV_DATE_MONTH_NAME;
		if (take_month(rest, &parts->second) == 0)
			return false;
	}
	else
	{
		parts->form = CSV_DATE_YEAR_LAST;
		if (parts->separator == ' ' || take_number(rest, 2, &parts->second) == 0)
			return false;
	}
	if (take(rest) != parts->separator)
		return false;
	parts->year_digits = (uint8) take_number(rest, 4, &parts->year);
	return parts->year_digits == 4 || parts->year_digits == 2;
}

/* a date of which the year, by its two digits, might be the first number */
static void
add_short_year(CsvWhen *when, const DateParts *parts, bool is_new)
{
	if (is_new)
	{
		when->least_first = when->most_first = (uint8) parts->first;
		when->least_year = when->most_year = (uint8) parts->year;
	}
	when->least_first = Min(when->least_first, parts->first);
	when->most_first = Max(when->most_first, parts->first);
	when->least_year = Min(when->least_year, parts->year);
	when->most_year = Max(when->most_year, parts->year);
	when->not_year_first |= !is_date(parts->first + 2000, parts->second, parts->year);
}

bool
csv_when_is_doubtful(const CsvWhen *when)
{
	return when->form == CSV_DATE_YEAR_LAST && when->year_digits == 2 &&
		when->separator != '.' && !when->not_year_first &&
		when->most_first - when->least_first <= when->most_year - when->least_year;
}

bool
csv_when_add(CsvWhen *when, const uint8_t *text, uint32 nbytes)
{
	Rest		rest = {text, nbytes};
	DateParts	parts;
	bool		is_new = when->form == CSV_DATE_NONE;
	int			year;

	if (!take_date(&rest, &parts))
		return false;
	if (is_new)
	{
		when->form = parts.form;
		when->separator = parts.separator;
		when->year_digits = parts.year_digits;
		when->first = (uint8) parts.first;
		when->second = (uint8) parts.second;
	}
	if (when->form != parts.form || when->separator != parts.separator ||
		when->year_digits != parts.year_digits)
		return false;
	if (parts.form == CSV_DATE_YEAR_LAST && parts.year_digits == 2)
		add_short_year(when, &parts, is_new);
	when->first_varies |= parts.first != when->first;
	when->second_varies |= parts.second != when->second;

	/* that of 29 February in years of two digits: any leap year */
	year = parts.year_digits == 2 ? parts.year + 2000 : parts.year;
	if (parts.form == CSV_DATE_YEAR_FIRST)
		when->not_month_first |= !is_date(year, parts.first, parts.second);
	else
		when->not_month_first |= parts.form == CSV_DATE_MONTH_NAME ||
			!is_date(year, parts.first, parts.second);
	when->not_day_first |= parts.form == CSV_DATE_YEAR_FIRST ||
		!is_date(year, parts.second, parts.first);
	if (when->not_day_first && when->not_month_first)
		return false;

	if (rest.nbytes == 0)
		when->any_date = true;
	else if (take(&rest) != ' ' || !add_time(when, rest))
		return false;
	else
		when->any_time = true;

	/* midnight may be left out, but for a clock of twelve hours */
	return !(when->any_date && when->halves > 1);
}

char *
csv_when_pattern(const CsvWhen *when, bool day_first)
{
	const char *year = when->year_digits == 2 ? "YY" : "YYYY";
	const char *date;
	char		fraction[4] = {when->fraction, 'U', 'S', '\0'};

	if (when->form == CSV_DATE_YEAR_FIRST)
		date = psprintf("%s%cMM%cDD", year, when->separator, when->separator);
	else
		date = psprintf("%s%c%s%c%s", day_first ? "DD" : "MM", when->separator,
						when->form == CSV_DATE_MONTH_NAME ? "Mon" :
						day_first ? "MM" : "DD", when->separator, year);
	if (!when->any_time)
		return pstrdup(date);
	return psprintf("%s %s:MI%s%s%s", date, when->halves > 1 ? "HH12" : "HH24",
					when->any_seconds ? ":SS" : "",
					when->fraction != 0 ? fraction : "",
					when->halves == 3 ? " AM" : when->halves == 2 ? "AM" : "");
}

bool
csv_is_days(const uint8_t *text, uint32 nbytes)
{
	Rest		rest = {text, nbytes};
	int			year;
	int			month;
	int			day;

	return nbytes == 8 && take_number(&rest, 4, &year) == 4 &&
		take_number(&rest, 2, &month) == 2 && take_number(&rest, 2, &day) == 2 &&
		year >= FIRST_YEAR && year <= LAST_YEAR && is_date(year, month, day);
}
