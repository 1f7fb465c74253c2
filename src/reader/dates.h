/*
 * dates.h
 *		Dates and times, as ISO 8601 writes them.
 *
 * convert.h lists the accepted texts.  This header is C and CUDA C++.
 */
#ifndef CSV_DATES_H
#define CSV_DATES_H

#include "words.h"

/* the number of two digits; 100 if they are not digits */
CSV_INLINE uint32_t
csv_two_digits(const uint8_t *p)
{
	uint32_t	tens = (uint32_t) p[0] - '0';
	uint32_t	ones = (uint32_t) p[1] - '0';

	return tens > 9 || ones > 9 ? 100 : tens * 10 + ones;
}

/* days since 2000-01-01; false if there is no such day in years from 1 on */
CSV_ALWAYS_INLINE bool
csv_days(uint32_t year, uint32_t month, uint32_t day, int32_t *days)
{
	uint32_t	month_days;

	if (year < 1 || month < 1 || month > 12 || day < 1)
		return false;
	if (month == 2)
		month_days = 28 + ((year & 3) == 0 &&
						   (year % 25 != 0 || (year & 15) == 0));
	else
		month_days = 30 + ((month + (month >> 3)) & 1);
	if (day > month_days)
		return false;

	/* count from March, so that the leap day is the last day of a year */
	if (month <= 2)
	{
		year--;
		month += 12;
	}
	*days = (int32_t) (year * 365 + year / 4 - year / 100 + year / 400 +
					   ((month - 3) * 153 + 2) / 5 + day - 1) - 730425;
	return true;
}

/*
 * Days since 2000-01-01 of YYYY-MM-DD.  The form has the same meaning under every
 * DateStyle, because a first part of three or more digits is the year.
 */
CSV_ALWAYS_INLINE bool
csv_parse_date(const uint8_t *p, uint32_t n, int32_t *days)
{
	const uint64_t pattern = UINT64_C(0x2d30302d30303030);	/* 0000-00- */
	uint64_t	word;
	uint32_t	year;
	uint32_t	month;
	uint32_t	day;

	if (n != 10)
		return false;
	word = csv_load8(p) ^ pattern;
	day = csv_two_digits(p + 8);
	/* now digits must be 0 to 9, and hyphens 0 */
	if ((((word & CSV_EACH_BYTE(0x7f)) + UINT64_C(0x7f76767f76767676)) | word) &
		CSV_EACH_BYTE(0x80))
		return false;
	year = csv_four_digits((uint32_t) word);
	month = ((uint32_t) (word >> 40) & 0xf) * 10 +
		((uint32_t) (word >> 48) & 0xf);
	return csv_days(year, month, day, days);
}

/*
 * Read a time of day from the start of the text.  Returns the number of bytes
 * read; 0 if the value is doubtful.
 */
CSV_INLINE uint32_t
csv_scan_time(const uint8_t *p, uint32_t n, int32_t precision,
			  int64_t *microseconds)
{
	uint32_t	hour;
	uint32_t	minute;
	uint32_t	second = 0;
	uint32_t	fraction = 0;
	uint32_t	used = 5;

	if (n < 5 || p[2] != ':')
		return 0;
	hour = csv_two_digits(p);
	minute = csv_two_digits(p + 3);
	if (n >= 8 && p[5] == ':')
	{
		second = csv_two_digits(p + 6);
		used = 8;
	}
	if (hour > 23 || minute > 59 || second > 59)
		return 0;

	if (used == 8 && n > 8 && p[8] == '.')
	{
		uint32_t	rest = n - 9 < 8 ? n - 9 : 8;
		uint64_t	word = csv_load_some(p + 9, rest);
		uint32_t	length = csv_leading_digits(word);

		if (length < 1 || length > 6 ||
			(precision >= 0 && length > (uint32_t) precision))
			return 0;
		/* two leading zeros, then the digits and trailing zeros */
		word &= (UINT64_C(1) << 8 * length) - 1;
		fraction = csv_eight_digits(word << 16);
		used = 9 + length;
	}
	*microseconds = (int64_t) (hour * 3600 + minute * 60 + second) * 1000000 +
		fraction;
	return used;
}

/* a date, and a time of day if the text is longer; as csv_scan_time() */
CSV_INLINE uint32_t
csv_scan_timestamp(const uint8_t *p, uint32_t n, int32_t precision,
				   int64_t *microseconds)
{
	int32_t		days;
	int64_t		time = 0;
	uint32_t	used = 10;

	if (n < 10 || !csv_parse_date(p, 10, &days))
		return 0;
	if (n > 10)
	{
		if (n < 16 || (p[10] != ' ' && p[10] != 'T'))
			return 0;
		used = csv_scan_time(p + 11, n - 11, precision, &time);
		if (used == 0)
			return 0;
		used += 11;
	}
	*microseconds = days * INT64_C(86400000000) + time;
	return used;
}

/*
 * Microseconds since 2000-01-01 00:00.  `precision` is the most digits that the
 * fraction may have, or -1.
 */
CSV_INLINE bool
csv_parse_timestamp(const uint8_t *p, uint32_t n, int32_t precision,
					int64_t *microseconds)
{
	int64_t		local;

	if (n < 10 || csv_scan_timestamp(p, n, precision, &local) != n)
		return false;
	*microseconds = local;
	return true;
}

/*
 * Microseconds since 2000-01-01 00:00 UTC.  The text must have a zone, Z or an offset
 * (up to 15:59, as in PostgreSQL): without a zone, the session's zone applies.
 */
CSV_INLINE bool
csv_parse_timestamptz(const uint8_t *p, uint32_t n, int32_t precision,
					  int64_t *microseconds)
{
	int64_t		local;
	uint32_t	used;
	uint32_t	hour;
	uint32_t	minute;
	int32_t		offset = 0;		/* minutes */

	used = csv_scan_timestamp(p, n, precision, &local);
	/* a date without a time has ten bytes */
	if (used <= 10 || used >= n)
		return false;
	p += used;
	n -= used;

	if (n != 1 || p[0] != 'Z')
	{
		if (p[0] == ' ')
		{
			p++;
			n--;
		}
		/* +HH, +HHMM, +HH:MM */
		if (n < 3 || n > 6 || n == 4 || (n == 6 && p[3] != ':') ||
			(p[0] != '-' && p[0] != '+'))
			return false;
		hour = csv_two_digits(p + 1);
		minute = n > 3 ? csv_two_digits(p + n - 2) : 0;
		if (hour > 15 || minute > 59)
			return false;
		offset = (int32_t) (hour * 60 + minute);
		if (p[0] == '-')
			offset = -offset;
	}
	*microseconds = local - offset * INT64_C(60000000);
	return true;
}

#endif							/* CSV_DATES_H */
