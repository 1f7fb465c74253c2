/*
 * fast.h
 *		Conversions of the commonest spellings, for the CPU engine alone.
 *
 * These take less than convert.h does (short unsigned or negative numbers, ISO
 * dates) and give the same for what they take.  They are fast because they load
 * whole words: the input has a margin that may be read without meaning, so the
 * eight bytes that end a value are always there, and the bytes before it are
 * masked to '0'.
 *
 * Eight digits are checked and summed up in one word, by pairs, then fours.
 */
#ifndef CSV_FAST_H
#define CSV_FAST_H

#include "../reader/numbers.h"

#define CSV_EIGHT_ZEROS	UINT64_C(0x3030303030303030)

/* the last n (1 to 8) characters before `end`, with zeros before them */
static inline uint64_t
csv_last_digits(const uint8_t *end, uint32_t n)
{
	uint32_t	shift = 64 - 8 * n;
	uint64_t	keep = UINT64_MAX << shift;

	return (csv_load8(end - 8) & keep) | (CSV_EIGHT_ZEROS & ~keep);
}

/* four lanes of 16 bits: the numbers of two digits each */
static inline uint64_t
csv_digit_pairs(uint64_t word)
{
	word -= CSV_EIGHT_ZEROS;
	return (word * 10 + (word >> 8)) & UINT64_C(0x00FF00FF00FF00FF);
}

/* two lanes of 32 bits: the numbers of four digits each */
static inline uint64_t
csv_digit_fours(uint64_t word)
{
	word = csv_digit_pairs(word);
	return (word * 100 + (word >> 16)) & UINT64_C(0x0000FFFF0000FFFF);
}

/* [-]digits, 16 of them at most */
static inline bool
csv_fast_int(const uint8_t *p, uint32_t n, int64_t *value)
{
	const uint8_t *end = p + n;
	bool		negative = *p == '-';
	uint64_t	low;
	uint64_t	number;

	n -= negative;
	if (n - 1 < 8)
	{
		low = csv_last_digits(end, n);
		if (csv_not_digits(low) != 0)
			return false;
		number = csv_eight_digits(low);
	}
	else if (n - 1 < 16)
	{
		uint64_t	high = csv_last_digits(end - 8, n - 8);

		low = csv_load8(end - 8);
		if ((csv_not_digits(low) | csv_not_digits(high)) != 0)
			return false;
		number = csv_eight_digits(high) * UINT64_C(100000000) +
			csv_eight_digits(low);
	}
	else
		return false;
	*value = negative ? -(int64_t) number : (int64_t) number;
	return true;
}

/* YYYY-MM-DD as days since 2000-01-01 */
static inline bool
csv_fast_date(const uint8_t *p, uint32_t n, int32_t *days)
{
	static const uint8_t month_days[16] = {
		0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
	};
	uint64_t	front;
	uint64_t	pairs;
	uint32_t	year;
	uint32_t	month;
	uint32_t	day;
	uint32_t	since_march;
	uint64_t	digits;

	if (n != 10)
		return false;
	front = csv_load8(p);
	if ((front & UINT64_C(0xFF0000FF00000000)) != UINT64_C(0x2D00002D00000000))
		return false;
	/* YYYY, then MM, then the DD that ends the word two bytes on */
	digits = (front & UINT64_C(0xFFFFFFFF)) |
		(front >> 8 & UINT64_C(0x0000FFFF00000000)) |
		(csv_load8(p + 2) & UINT64_C(0xFFFF000000000000));
	if (csv_not_digits(digits) != 0)
		return false;
	pairs = csv_digit_pairs(digits);
	year = (uint32_t) (pairs & 0xFF) * 100 + (uint32_t) (pairs >> 16 & 0xFF);
	month = (uint32_t) (pairs >> 32 & 0xFF);
	day = (uint32_t) (pairs >> 48 & 0xFF);
	if (year == 0 || month - 1 >= 12 || day == 0 ||
		(day > month_days[month] &&
		 !(month == 2 && day == 29 && year % 4 == 0 &&
		   (year % 100 != 0 || year % 400 == 0))))
		return false;

	/* years that begin in March end with the leap day */
	since_march = (month + 9) % 12;
	year -= month <= 2;
	*days = (int32_t) (year * 365 + year / 4 - year / 100 + year / 400 +
					   (since_march * 153 + 2) / 5 + day - 1) - 730425;
	return true;
}

/*
 * [-]digits.digits with `scale` digits after the point, or none and no point:
 * up to 8 on each side of it, as an integer of `precision` digits at most.
 */
static inline bool
csv_fast_decimal(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				 int32_t precision, int32_t scale, int64_t *value)
{
	const uint8_t *end = p + n;
	bool		negative = *p == '-';
	uint64_t	fraction = 0;
	uint64_t	number;
	uint64_t	word;

	n -= negative;
	if (scale > 0 && n > (uint32_t) scale + 1 &&
		end[-1 - scale] == decimal_separator)
	{
		word = csv_last_digits(end, (uint32_t) scale);
		if (csv_not_digits(word) != 0)
			return false;
		fraction = csv_eight_digits(word);
		end -= scale + 1;
		n -= (uint32_t) scale + 1;
	}
	if (n - 1 >= 8)
		return false;
	word = csv_last_digits(end, n);
	if (csv_not_digits(word) != 0)
		return false;
	number = csv_eight_digits(word) * csv_powers_on_host[scale] + fraction;
	if (precision < 18 && number >= csv_powers_on_host[precision])
		return false;
	*value = negative ? -(int64_t) number : (int64_t) number;
	return true;
}

/*
 * [-]digits.digits with `scale` digits after the point, or none and no point:
 * up to 8 before it, scale up to 4, as numeric(precision, scale).
 */
static inline bool
csv_fast_numeric(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				 int32_t precision, int32_t scale, uint8_t *entry)
{
	static const uint32_t powers[9] = {
		1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000
	};
	const uint8_t *end = p + n;
	bool		negative = *p == '-';
	uint64_t	word;
	uint64_t	fours;
	uint64_t	groups;
	uint32_t	fraction = 0;
	uint32_t	ndigits;
	uint32_t	header;
	uint64_t	whole;
	int32_t		weight;

	n -= negative;
	if (scale > 0 && n > (uint32_t) scale + 1 &&
		end[-1 - scale] == decimal_separator)
	{
		word = csv_last_digits(end, (uint32_t) scale);
		if (csv_not_digits(word) != 0)
			return false;
		fraction = csv_eight_digits(word) * powers[4 - scale];
		end -= scale + 1;
		n -= (uint32_t) scale + 1;
	}
	if (n - 1 >= 8)
		return false;
	word = csv_last_digits(end, n);
	if (csv_not_digits(word) != 0)
		return false;
	fours = csv_digit_fours(word);
	whole = (fours & 0xFFFF) * 10000 + (fours >> 32);
	if (precision - scale < 8 && whole >= powers[precision - scale])
		return false;

	/* groups of 10,000, the highest in the low bits; outer zeros go */
	groups = (fours & 0xFFFF) | (fours >> 32) << 16 | (uint64_t) fraction << 32;
	if (groups == 0)
	{
		weight = 0;
		ndigits = 0;
		negative = false;
	}
	else
	{
		uint32_t	outer = (uint32_t) __builtin_ctzll(groups) / 16;

		groups >>= 16 * outer;
		weight = 1 - (int32_t) outer;
		ndigits = 4 - (uint32_t) __builtin_clzll(groups) / 16;
	}
	header = (6 + 2 * ndigits) << 2;
	memcpy(entry, &header, 4);
	word = 0x8000 | (uint64_t) negative << 13 | (uint64_t) scale << 7 |
		((uint32_t) weight & 0x7F) | groups << 16;
	memcpy(entry + 4, &word, 8);
	return true;
}

#endif							/* CSV_FAST_H */
