/*
 * patterns.h
 *		Dates and times by a pattern, and numbers with thousands separators.
 *
 * As in convert.h, only texts that PostgreSQL reads with the same result are converted,
 * and all others are doubtful.  Patterns are as for to_date() and to_timestamp(), but
 * these functions are more lenient.  Here, a separator must be as in the pattern.  YYYY
 * has four digits, and YY two.  Other numbers have two digits, and FF1 to FF6 as many
 * as they say; they may have fewer digits if no digits follow in the pattern.  Blanks
 * may stand only around the whole value.
 *
 *	grouped number	[+-] one to three digits, groups of a separator and three
 *					digits, then a fraction or exponent, if the type has it
 *	epoch			[-] up to 12 digits (15 of milliseconds, 18 of microseconds) and a
 *					fraction down to microseconds
 *
 * This header is C and CUDA C++.
 */
#ifndef CSV_PATTERNS_H
#define CSV_PATTERNS_H

#include "convert.h"

/* most bytes of a number with separators that is converted */
#define CSV_GROUPED_BYTES	64

#define CSV_MICROSECONDS_A_DAY	INT64_C(86400000000)

/* 2000-01-01, in microseconds since 1970 */
#define CSV_EPOCH_MICROSECONDS	INT64_C(946684800000000)

/* 0001-01-01, since 2000 */
#define CSV_YEAR_ONE_MICROSECONDS	(-730119 * CSV_MICROSECONDS_A_DAY)

/* ---- thousands ---- */

/*
 * Copy the text of a number without its thousands separators to `out`, which may be
 * `p`.  Returns its length; 0 if there is no separator, or one is not between groups of
 * three digits.
 */
CSV_INLINE uint32_t
csv_ungroup(const uint8_t *p, uint32_t n, uint8_t separator, uint8_t *out)
{
	uint32_t	nout = 0;
	uint32_t	ndigits = 0;	/* of the group */
	bool		any = false;
	uint32_t	i = 0;

	if (n == 0)
		return 0;
	if (p[0] == '-' || p[0] == '+')
		out[nout++] = p[i++];
	for (; i < n; i++)
	{
		if (p[i] == separator)
		{
			if (any ? ndigits != 3 : ndigits < 1 || ndigits > 3)
				return 0;
			any = true;
			ndigits = 0;
			continue;
		}
		if (p[i] < '0' || p[i] > '9')
			break;
		ndigits++;
		out[nout++] = p[i];
	}
	if (!any || ndigits != 3)
		return 0;
	for (; i < n; i++)
	{
		if (p[i] == separator)
			return 0;
		out[nout++] = p[i];
	}
	return nout;
}

/* ---- dates and times ---- */

/* the numbers that were read */
typedef struct CsvClock
{
	uint32_t	year;
	uint32_t	month;
	uint32_t	day;
	uint32_t	hour;
	uint32_t	minute;
	uint32_t	second;
	uint32_t	microsecond;
	uint32_t	nfraction;		/* digits */
	uint32_t	zone;			/* minutes */
	bool		west;			/* the zone is west of Greenwich */
	bool		is_12_hours;
	bool		pm;
} CsvClock;

/* does this step of the pattern stand for digits, without a sign? */
CSV_INLINE bool
csv_step_is_digits(uint8_t step)
{
	return (step >= '0' && step <= '9') ||
		step == CSV_STEP_YEAR || step == CSV_STEP_SHORT_YEAR ||
		step == CSV_STEP_MONTH || step == CSV_STEP_DAY ||
		(step >= CSV_STEP_HOUR && step <= CSV_STEP_FRACTION_6) ||
		step == CSV_STEP_ZONE_MINUTE;
}

/*
 * Read a number of one or two digits at the start of the text; two, if the next step
 * stands for digits as well.  Returns the number of digits; 0 if it is doubtful.
 */
CSV_ALWAYS_INLINE uint32_t
csv_scan_pair(const uint8_t *p, uint32_t n, uint8_t next, uint32_t *number)
{
	uint32_t	tens = (uint32_t) p[0] - '0';
	uint32_t	ones = n > 1 ? (uint32_t) p[1] - '0' : 10;

	if (tens > 9)
		return 0;
	if (ones <= 9)
	{
		*number = tens * 10 + ones;
		return 2;
	}
	*number = tens;
	return csv_step_is_digits(next) ? 0 : 1;
}

/* the same for a year, which must have four digits */
CSV_ALWAYS_INLINE uint32_t
csv_scan_year(const uint8_t *p, uint32_t n, uint32_t *year)
{
	uint32_t	high = n < 4 ? 100 : csv_two_digits(p);
	uint32_t	low = n < 4 ? 100 : csv_two_digits(p + 2);

	*year = high * 100 + low;
	return high > 99 || low > 99 ? 0 : 4;
}

/* the same for a fraction; it must have `most` digits if the next step is digits */
CSV_INLINE uint32_t
csv_scan_fraction(const uint8_t *p, uint32_t n, uint32_t most, uint8_t next,
				  uint32_t *microseconds)
{
	uint32_t	ndigits = 0;
	uint32_t	value = 0;

	while (ndigits < n && ndigits < most &&
		   p[ndigits] >= '0' && p[ndigits] <= '9')
		value = value * 10 + (uint32_t) (p[ndigits++] - '0');
	for (uint32_t i = ndigits; i < 6; i++)
		value *= 10;
	*microseconds = value;
	return ndigits != most && csv_step_is_digits(next) ? 0 : ndigits;
}

/* three letters as a number; the caller makes them small */
#define CSV_THREE_LETTERS(a, b, c) \
	((uint32_t) (a) | (uint32_t) (b) << 8 | (uint32_t) (c) << 16)

/*
 * Read the name of a month at the start of the text, in upper or lower case.  Returns
 * its length, or 0.
 */
CSV_INLINE uint32_t
csv_scan_month(const uint8_t *p, uint32_t n, bool whole, uint32_t *month)
{
	const char *rest;			/* of the name */
	uint32_t	length = 3;

	if (n < 3)
		return 0;
	switch (CSV_THREE_LETTERS(p[0] | 0x20, p[1] | 0x20, p[2] | 0x20))
	{
#define CSV_MONTH(number, a, b, c, name) \
		case CSV_THREE_LETTERS(a, b, c): \
			*month = number; \
			rest = name; \
			break
			CSV_MONTH(1, 'j', 'a', 'n', "uary");
			CSV_MONTH(2, 'f', 'e', 'b', "ruary");
			CSV_MONTH(3, 'm', 'a', 'r', "ch");
			CSV_MONTH(4, 'a', 'p', 'r', "il");
			CSV_MONTH(5, 'm', 'a', 'y', "");
			CSV_MONTH(6, 'j', 'u', 'n', "e");
			CSV_MONTH(7, 'j', 'u', 'l', "y");
			CSV_MONTH(8, 'a', 'u', 'g', "ust");
			CSV_MONTH(9, 's', 'e', 'p', "tember");
			CSV_MONTH(10, 'o', 'c', 't', "ober");
			CSV_MONTH(11, 'n', 'o', 'v', "ember");
			CSV_MONTH(12, 'd', 'e', 'c', "ember");
#undef CSV_MONTH
		default:
			return 0;
	}
	for (; whole && *rest != '\0'; rest++, length++)
		if (length == n || (p[length] | 0x20) != *rest)
			return 0;
	return length;
}

/* read AM or PM, in upper or lower case; returns its length, or 0 */
CSV_INLINE uint32_t
csv_scan_am_pm(const uint8_t *p, uint32_t n, bool dots, bool *pm)
{
	uint32_t	length = dots ? 4 : 2;
	uint32_t	m = dots ? 2 : 1;

	if (n < length || (p[m] | 0x20) != 'm' || (dots && (p[1] != '.' || p[3] != '.')))
		return 0;
	*pm = (p[0] | 0x20) == 'p';
	return *pm || (p[0] | 0x20) == 'a' ? length : 0;
}

/*
 * Read the number or name of a step at the start of the text; `next` is the next step.
 * Returns the number of bytes read; 0 if it is doubtful.
 */
CSV_INLINE uint32_t
csv_take_number(uint8_t step, uint8_t next, const uint8_t *p, uint32_t n,
			  CsvClock *clock)
{
	uint32_t	length = 0;

	switch (step)
	{
		case CSV_STEP_YEAR:
			return csv_scan_year(p, n, &clock->year);
		case CSV_STEP_SHORT_YEAR:
			length = csv_scan_pair(p, n, CSV_STEP_YEAR, &clock->year);
			clock->year += clock->year < 70 ? 2000 : 1900;
			return length;
		case CSV_STEP_MONTH:
			return csv_scan_pair(p, n, next, &clock->month);
		case CSV_STEP_SHORT_MONTH_NAME:
			return csv_scan_month(p, n, false, &clock->month);
		case CSV_STEP_MONTH_NAME:
			return csv_scan_month(p, n, true, &clock->month);
		case CSV_STEP_DAY:
			return csv_scan_pair(p, n, next, &clock->day);
		case CSV_STEP_HOUR_OF_12:
			clock->is_12_hours = true;
			return csv_scan_pair(p, n, next, &clock->hour);
		case CSV_STEP_HOUR:
			return csv_scan_pair(p, n, next, &clock->hour);
		case CSV_STEP_MINUTE:
			return csv_scan_pair(p, n, next, &clock->minute);
		case CSV_STEP_SECOND:
			return csv_scan_pair(p, n, next, &clock->second);
		case CSV_STEP_AM_PM:
		case CSV_STEP_AM_PM_DOTS:
			clock->is_12_hours = true;
			return csv_scan_am_pm(p, n, step == CSV_STEP_AM_PM_DOTS, &clock->pm);
		case CSV_STEP_ZONE_HOUR:
			if (n < 2 || (p[0] != '+' && p[0] != '-'))
				return 0;
			clock->west = p[0] == '-';
			length = csv_scan_pair(p + 1, n - 1, next, &clock->zone);
			if (clock->zone > 15)
				return 0;
			clock->zone *= 60;
			return length == 0 ? 0 : length + 1;
		case CSV_STEP_ZONE_MINUTE:
			{
				uint32_t	minutes = 0;

				length = csv_scan_pair(p, n, next, &minutes);
				clock->zone += minutes;
				return minutes > 59 ? 0 : length;
			}
		default:
			clock->nfraction =
				csv_scan_fraction(p, n, (uint32_t) (step - CSV_STEP_FRACTION_1) + 1,
								  next, &clock->microsecond);
			return clock->nfraction;
	}
}

/* read the whole text by the pattern; false if it is doubtful */
CSV_INLINE bool
csv_scan_pattern(const uint8_t *pattern, const uint8_t *p, uint32_t n,
				 CsvClock *clock)
{
	for (; *pattern != CSV_STEP_END; pattern++)
	{
		uint32_t	length = 1;

		if (n == 0)
			return false;
		if (*pattern >= ' ')
		{
			if (*p != *pattern)
				return false;
		}
		else if ((length = csv_take_number(pattern[0], pattern[1], p, n, clock)) == 0)
			return false;
		p += length;
		n -= length;
	}
	return n == 0;
}

/* microseconds since 2000-01-01, in UTC if there is a zone */
CSV_INLINE bool
csv_clock_time(CsvClock clock, int64_t *microseconds)
{
	int32_t		days;
	int64_t		zone = clock.west ? -(int64_t) clock.zone : (int64_t) clock.zone;

	if (clock.is_12_hours)
	{
		if (clock.hour < 1 || clock.hour > 12)
			return false;
		clock.hour = clock.hour % 12 + (clock.pm ? 12 : 0);
	}
	if (clock.hour > 23 || clock.minute > 59 || clock.second > 59 ||
		!csv_days(clock.year, clock.month, clock.day, &days))
		return false;
	*microseconds = days * CSV_MICROSECONDS_A_DAY +
		(((int64_t) clock.hour * 60 + clock.minute - zone) * 60 + clock.second) *
		INT64_C(1000000) + clock.microsecond;
	return true;
}

/*
 * Convert a number of seconds, milliseconds or microseconds since 1970 to microseconds
 * since 2000-01-01.  most_fraction tells the unit: 6, 3 or 0 digits of a fraction.
 */
CSV_INLINE bool
csv_parse_epoch(const uint8_t *p, uint32_t n, uint32_t most_fraction,
				int64_t *microseconds)
{
	const uint32_t most_digits = 12 + 6 - most_fraction;
	bool		negative = n > 0 && p[0] == '-';
	uint32_t	i = negative;
	uint32_t	ndigits = 0;
	uint32_t	nfraction = 0;
	int64_t		value = 0;

	for (; i < n && p[i] >= '0' && p[i] <= '9'; i++)
	{
		if (ndigits++ == most_digits)
			return false;
		value = value * 10 + (p[i] - '0');
	}
	if (ndigits == 0)
		return false;
	if (i < n && p[i] == '.')
		for (i++; i < n && p[i] >= '0' && p[i] <= '9'; i++)
		{
			if (nfraction++ == most_fraction)
				return false;
			value = value * 10 + (p[i] - '0');
		}
	if (i < n)
		return false;
	for (; nfraction < most_fraction; nfraction++)
		value *= 10;
	*microseconds = (negative ? -value : value) - CSV_EPOCH_MICROSECONDS;
	return *microseconds >= CSV_YEAR_ONE_MICROSECONDS;
}

/*
 * Read a date or timestamp by the column's pattern.  For a date, *microseconds may be
 * any time of that day.  Returns false also if the fraction has more digits than the
 * type.
 */
CSV_INLINE bool
csv_parse_by_pattern(const CsvColumn *column, const uint8_t *p, uint32_t n,
					 int64_t *microseconds)
{
	bool		is_epoch = column->pattern[0] >= CSV_STEP_EPOCH &&
		column->pattern[0] <= CSV_STEP_EPOCH_US;
	uint32_t	nfraction = 0;

	if (is_epoch)
	{
		uint32_t	most = 6 - 3 * (uint32_t) (column->pattern[0] - CSV_STEP_EPOCH);

		if (!csv_parse_epoch(p, n, most, microseconds))
			return false;

		/* digits of a fraction, without zeros at the end */
		nfraction = 6;
		for (int64_t part = *microseconds; nfraction > 0 && part % 10 == 0; part /= 10)
			nfraction--;
	}
	else
	{
		CsvClock	clock;

		memset(&clock, 0, sizeof(clock));
		if (!csv_scan_pattern(column->pattern, p, n, &clock))
			return false;
		if (column->kind == CSV_KIND_DATE)
			clock.zone = 0;
		if (!csv_clock_time(clock, microseconds))
			return false;
		nfraction = clock.nfraction;
	}
	return column->kind == CSV_KIND_DATE || column->precision < 0 ||
		nfraction <= (uint32_t) column->precision;
}

/* ---- by column ---- */

/*
 * csv_convert_value() for a column with its own form, and a text in that form: by its
 * pattern, or with separators.
 */
CSV_INLINE bool
csv_convert_form(const CsvColumn *column, uint8_t decimal_separator,
				 const uint8_t *p, uint32_t n, uint8_t *entry, uint32_t stride)
{
	int64_t		microseconds = 0;
	bool		ok;

	if (n > CSV_MOST_SCALAR_BYTES)
		n = 0;
	csv_trim_spaces(&p, &n);
	if (column->pattern[0] == CSV_STEP_END)
	{
		uint8_t		number[CSV_GROUPED_BYTES];
		uint32_t	nbytes = n > CSV_GROUPED_BYTES ? 0 :
			csv_ungroup(p, n, column->thousands, number);

		return nbytes > 0 &&
			csv_convert_value(column, decimal_separator, number, nbytes, entry, stride);
	}
	ok = csv_parse_by_pattern(column, p, n, &microseconds);
	if (!ok)
		microseconds = 0;
	if (column->kind == CSV_KIND_DATE)
	{
		/* round down, also before 2000 */
		int64_t		days = (microseconds -
							(microseconds < 0 ? CSV_MICROSECONDS_A_DAY - 1 : 0)) /
			CSV_MICROSECONDS_A_DAY;

		csv_store4(entry, (uint32_t) (int32_t) days);
	}
	else
		memcpy(__builtin_assume_aligned(entry, 8), &microseconds, 8);
	return ok;
}

/*
 * csv_convert_value() for any column.  With a pattern, the text must have that form;
 * with a thousands separator, it may have the column's form or the type's.
 */
CSV_INLINE bool
csv_convert_any(const CsvColumn *column, uint8_t decimal_separator,
				const uint8_t *p, uint32_t n, uint8_t *entry, uint32_t stride)
{
	if (column->pattern[0] != CSV_STEP_END)
		return csv_convert_form(column, decimal_separator, p, n, entry, stride);
	return csv_convert_value(column, decimal_separator, p, n, entry, stride) ||
		(column->thousands != 0 &&
		 csv_convert_form(column, decimal_separator, p, n, entry, stride));
}

#endif							/* CSV_PATTERNS_H */
