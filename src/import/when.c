/*
 * when.c
 *		Dates and times in other forms than ISO's.
 *
 * Numbers of days and months have one or two digits, as do hours; years have four, or
 * two where the values leave no doubt of the order, or points or a month's name do; all
 * other numbers have two.  Names of months are English, of three letters or in full.
 */
#include "postgres.h"

#include <ctype.h>

#include "import/forms.h"
#include "reader/patterns.h"

/* the years of dates without separators */
#define FIRST_YEAR	1900
#define LAST_YEAR	2100

/* the years of four digits in other dates, and two that stand for "never" */
#define FIRST_PLAUSIBLE_YEAR	1000
#define LAST_PLAUSIBLE_YEAR		2200
#define NEVER					9999
#define ALSO_NEVER				2999

/* to_date() takes 69 for 2069; few dates are of those years, and many of 1969 */
#define FIRST_DISPUTED_YEAR		30
#define LAST_DISPUTED_YEAR		69

#define MOST_ODD_BYTES		40	/* of a date in a form that no pattern reads */

/* the rest of a value */
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

/* up to `most` digits as a number; returns how many there were */
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

/* a month's name, whole or of three letters, as its number; how many letters there were */
static uint32
take_month(Rest *rest, uint32 *facts, int *number)
{
	uint32_t	month = 0;
	uint32		n = csv_scan_month(rest->text, rest->nbytes, true, &month);

	*facts |= n > 3 ? CSV_FACT_FULL_NAME : n == 0 ? CSV_FACT_SHORT_NAME : 0;
	if (n == 0)
		n = csv_scan_month(rest->text, rest->nbytes, false, &month);
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

/* AM or PM, after a blank or not; 0: neither */
static uint32
take_half(Rest *rest)
{
	uint32		fact = peek(rest) == ' ' ? CSV_FACT_BLANK_AM : CSV_FACT_AM;
	char		half;

	if (fact == CSV_FACT_BLANK_AM)
		(void) take(rest);
	half = (char) toupper((unsigned char) take(rest));
	return (half == 'A' || half == 'P') && toupper((unsigned char) take(rest)) == 'M' ?
		fact : 0;
}

/* a time, which must be all of the rest */
static bool
take_time(Rest rest, uint32 *facts)
{
	uint32		half = CSV_FACT_24_HOURS;
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
		*facts |= CSV_FACT_SECONDS;
		if (peek(&rest) == '.' || peek(&rest) == ',')
		{
			*facts |= take(&rest) == '.' ? CSV_FACT_FRACTION_POINT : CSV_FACT_FRACTION_COMMA;
			if (take_number(&rest, 6, &number) == 0)
				return false;
		}
	}
	if (rest.nbytes > 0)
		half = take_half(&rest);
	*facts |= half;
	return half != 0 && rest.nbytes == 0 &&
		(half == CSV_FACT_24_HOURS ? hour <= 23 : hour >= 1 && hour <= 12);
}

/* in the order of the facts from CSV_FACT_HYPHEN on; the end of the string is CSV_FACT_TIGHT */
static const char separators[] = "-/. ";

/* a date's three numbers; *second is the month if that is a name */
static bool
take_date(Rest *rest, uint32 *facts, int *first, int *second, int *year)
{
	const bool	name_first = isalpha((unsigned char) peek(rest));
	const uint32 nfirst = name_first ? take_month(rest, facts, second) :
		take_number(rest, 4, first);
	const char	separator = isalpha((unsigned char) peek(rest)) ? '\0' : take(rest);
	const char *which = strchr(separators, separator);
	uint32		ndigits;

	if (nfirst == 0 || which == NULL || (nfirst == 3 && !name_first))
		return false;
	*facts |= CSV_FACT_HYPHEN << (which - separators);
	if (nfirst == 4 && !name_first)
	{
		*facts |= CSV_FACT_YEAR_FIRST | CSV_FACT_LONG_YEAR;
		*year = *first;
		return separator != ' ' && take_number(rest, 2, first) > 0 &&
			take(rest) == separator && take_number(rest, 2, second) > 0;
	}
	*facts |= name_first ? CSV_FACT_NAME_FIRST :
		isalpha((unsigned char) peek(rest)) ? CSV_FACT_MONTH_NAME : CSV_FACT_YEAR_LAST;
	ndigits = (*facts & CSV_FACT_MONTH_NAME) != 0 ? take_month(rest, facts, second) :
		separator == ' ' && !name_first ? 0 : take_number(rest, 2, name_first ? first : second);
	*facts |= nfirst == 1 || ndigits == 1 ? CSV_FACT_UNPADDED : 0;
	if (separator == ' ' && peek(rest) == ',')
	{
		*facts ^= CSV_FACT_BLANK | CSV_FACT_COMMA;
		(void) take(rest);
	}
	if (ndigits == 0 || (separator != '\0' && take(rest) != separator))
		return false;
	ndigits = take_number(rest, 4, year);
	*facts |= ndigits == 2 ? CSV_FACT_SHORT_YEAR : CSV_FACT_LONG_YEAR;
	return ndigits == 4 || ndigits == 2;
}

/* does the name of a month stand there as a word, and a digit? */
static bool
has_month(Rest rest)
{
	bool		any_digit = false;
	bool		any_month = false;
	bool		in_word = false;
	uint32		facts = 0;
	int			month;

	for (; rest.nbytes > 0; in_word = isalpha((unsigned char) take(&rest)))
	{
		const bool	is_month = !in_word && take_month(&rest, &facts, &month) > 0;

		if (is_month && month == 9 && toupper((unsigned char) peek(&rest)) == 'T')
			(void) take(&rest); /* Sept */
		any_month |= is_month && !isalpha((unsigned char) peek(&rest));
		any_digit |= isdigit((unsigned char) peek(&rest));
	}
	return any_digit && any_month;
}

CsvForm
csv_read_when(const uint8_t *text, uint32 nbytes, CsvFigures *figures)
{
	Rest		rest = {text, nbytes};
	const CsvForm other = nbytes <= MOST_ODD_BYTES && has_month(rest) ?
		CSV_FORM_ODD_DATE : CSV_FORM_TEXT;
	uint32		facts = 0;
	int			first = 0;
	int			second = 0;
	int			year = 0;
	int			full_year;
	bool		day_first;
	bool		month_first;

	if (nbytes < 6 || !take_date(&rest, &facts, &first, &second, &year))
		return other;
	if ((facts & CSV_FACT_LONG_YEAR) != 0 && year != NEVER && year != ALSO_NEVER &&
		(year < FIRST_PLAUSIBLE_YEAR || year > LAST_PLAUSIBLE_YEAR))
		return other;
	if (rest.nbytes == 0)
		facts |= CSV_FACT_DATE_ALONE;
	else if (take(&rest) != ' ' || !take_time(rest, &facts))
		return other;
	if ((facts & CSV_FACT_SHORT_YEAR) != 0)
	{
		if (year >= FIRST_DISPUTED_YEAR && year <= LAST_DISPUTED_YEAR)
			facts |= CSV_FACT_DISPUTED;
		if (!is_date(first + 2000, second, year))
			facts |= CSV_FACT_NOT_YEAR_FIRST;
	}

	/* leap years are the same in both centuries */
	full_year = (facts & CSV_FACT_SHORT_YEAR) != 0 ? year + 2000 : year;
	day_first = (facts & CSV_FACT_YEAR_FIRST) == 0 && is_date(full_year, second, first);
	month_first = (facts & (CSV_FACT_MONTH_NAME | CSV_FACT_NAME_FIRST)) == 0 &&
		is_date(full_year, first, second);
	if (!day_first && !month_first)
		return other;
	figures->facts = facts;
	figures->most[CSV_MOST_FIRST] = (uint32) first;
	figures->most[CSV_LEAST_FIRST] = ~(uint32) first;
	figures->most[CSV_MOST_SECOND] = (uint32) second;
	figures->most[CSV_LEAST_SECOND] = ~(uint32) second;
	figures->most[CSV_MOST_YEAR] = (uint32) year;
	figures->most[CSV_LEAST_YEAR] = ~(uint32) year;
	return (facts & CSV_FACT_YEAR_LAST) == 0 ? CSV_FORM_ORDERED :
		!month_first ? CSV_FORM_DAY_FIRST :
		!day_first ? CSV_FORM_MONTH_FIRST : CSV_FORM_DAY_OR_MONTH_FIRST;
}

/* is one of these facts true at most? */
static bool
is_one(uint32 facts, uint32 first, uint32 last)
{
	uint32		some = facts & ((last << 1) - first);

	return (some & (some - 1)) == 0;
}

bool
csv_when_is_one(uint32 facts)
{
	/* midnight may be left out, except for a clock of twelve hours */
	return is_one(facts, CSV_FACT_YEAR_LAST, CSV_FACT_NAME_FIRST) &&
		is_one(facts, CSV_FACT_HYPHEN, CSV_FACT_COMMA) &&
		is_one(facts, CSV_FACT_SHORT_NAME, CSV_FACT_FULL_NAME) &&
		is_one(facts, CSV_FACT_SHORT_YEAR, CSV_FACT_LONG_YEAR) &&
		is_one(facts, CSV_FACT_24_HOURS, CSV_FACT_BLANK_AM) &&
		is_one(facts, CSV_FACT_FRACTION_POINT, CSV_FACT_FRACTION_COMMA) &&
		((facts & CSV_FACT_DATE_ALONE) == 0 ||
		 (facts & (CSV_FACT_AM | CSV_FACT_BLANK_AM)) == 0);
}

bool
csv_when_is_doubtful(const CsvFigures *figures)
{
	return (figures->facts & CSV_FACT_YEAR_LAST) != 0 &&
		(figures->facts & CSV_FACT_SHORT_YEAR) != 0 &&
		(figures->facts & CSV_FACT_NOT_YEAR_FIRST) == 0 &&
		figures->most[CSV_MOST_FIRST] - ~figures->most[CSV_LEAST_FIRST] <=
		figures->most[CSV_MOST_YEAR] - ~figures->most[CSV_LEAST_YEAR];
}

char *
csv_when_pattern(uint32 facts, bool day_first)
{
	const char *year = (facts & CSV_FACT_SHORT_YEAR) != 0 ? "YY" : "YYYY";
	const char *month = (facts & CSV_FACT_FULL_NAME) != 0 ? "Month" : "Mon";
	const bool	name_first = (facts & CSV_FACT_NAME_FIRST) != 0;
	const bool	comma = (facts & CSV_FACT_COMMA) != 0;
	char		separator[] = {comma ? ' ' : '\0', '\0'};
	const char *date;

	for (int i = 0; separators[i] != '\0'; i++)
		if ((facts & (CSV_FACT_HYPHEN << i)) != 0)
			separator[0] = separators[i];
	if ((facts & CSV_FACT_YEAR_FIRST) != 0)
		date = psprintf("%s%sMM%sDD", year, separator, separator);
	else
		date = psprintf("%s%s%s%s%s%s", name_first ? month : day_first ? "DD" : "MM", separator,
						(facts & CSV_FACT_MONTH_NAME) != 0 ? month :
						day_first && !name_first ? "MM" : "DD", comma ? "," : "", separator, year);
	if (!csv_when_has_time(facts))
		return pstrdup(date);
	return psprintf("%s %s:MI%s%s%s", date,
					(facts & CSV_FACT_24_HOURS) != 0 ? "HH24" : "HH12",
					(facts & CSV_FACT_SECONDS) != 0 ? ":SS" : "",
					(facts & CSV_FACT_FRACTION_POINT) != 0 ? ".US" :
					(facts & CSV_FACT_FRACTION_COMMA) != 0 ? ",US" : "",
					(facts & CSV_FACT_BLANK_AM) != 0 ? " AM" :
					(facts & CSV_FACT_AM) != 0 ? "AM" : "");
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
