/*
 * numbers.h
 *		Integers, and decimal numbers without an exponent: numeric, and integers
 *		that stand for a numeric.
 *
 * convert.h lists the accepted texts.  This header is C and CUDA C++.
 */
#ifndef CSV_NUMBERS_H
#define CSV_NUMBERS_H

#include "words.h"

/* most base-10000 digits of a numeric, enough for any value of up to 38 digits */
#define CSV_NUMERIC_DIGITS	11

/* the powers of ten that fit into 64 bits */
#define CSV_POWERS_OF_TEN \
	UINT64_C(1), UINT64_C(10), UINT64_C(100), UINT64_C(1000), \
	UINT64_C(10000), UINT64_C(100000), UINT64_C(1000000), \
	UINT64_C(10000000), UINT64_C(100000000), UINT64_C(1000000000), \
	UINT64_C(10000000000), UINT64_C(100000000000), \
	UINT64_C(1000000000000), UINT64_C(10000000000000), \
	UINT64_C(100000000000000), UINT64_C(1000000000000000), \
	UINT64_C(10000000000000000), UINT64_C(100000000000000000), \
	UINT64_C(1000000000000000000), UINT64_C(10000000000000000000)

#ifdef __CUDACC__
static __device__ const uint64_t csv_powers_on_device[20] = {CSV_POWERS_OF_TEN};
#endif
#ifndef __CUDA_ARCH__
static const uint64_t csv_powers_on_host[20] = {CSV_POWERS_OF_TEN};
#endif

/* 10^exponent, for 0 <= exponent <= 38 */
CSV_INLINE unsigned __int128
csv_power_of_ten(uint32_t exponent)
{
#ifdef __CUDA_ARCH__
	const uint64_t *powers = csv_powers_on_device;
#else
	const uint64_t *powers = csv_powers_on_host;
#endif

	if (exponent < 20)
		return powers[exponent];
	return (unsigned __int128) powers[19] * powers[exponent - 19];
}

/* ---- integers ---- */

/* an integer between min and max, min <= 0 <= max */
CSV_INLINE bool
csv_parse_int(const uint8_t *p, uint32_t n, int64_t min, int64_t max,
			  int64_t *value)
{
	bool		negative;
	uint64_t	word;
	uint64_t	magnitude;
	uint32_t	head;

	if (n == 0)
		return false;
	negative = csv_take_sign(&p, &n);
	while (n > 19 && p[0] == '0')
	{
		p++;
		n--;
	}
	/* 19 digits never overflow 64 bits */
	if (n == 0 || n > 19)
		return false;

	/* one to eight digits, then groups of eight */
	head = ((n - 1) & 7) + 1;
	word = csv_load_some(p, head) << (64 - 8 * head);
	/* leading zeros; in two shifts, because head may be 8 */
	word |= (CSV_EACH_BYTE('0') >> 4 * head) >> 4 * head;
	if (csv_not_digits(word) != 0)
		return false;
	magnitude = csv_eight_digits(word);
	for (uint32_t i = head; i < n; i += 8)
	{
		word = csv_load8(p + i);
		if (csv_not_digits(word) != 0)
			return false;
		magnitude = magnitude * 100000000 + csv_eight_digits(word);
	}

	if (negative)
	{
		if (magnitude > 0 - (uint64_t) min)
			return false;
		magnitude = 0 - magnitude;
	}
	else if (magnitude > (uint64_t) max)
		return false;
	*value = (int64_t) magnitude;
	return true;
}

/* ---- decimal numbers ---- */

/*
 * Eight decimal digits as two base-10000 digits of 16 bits, the first in the lower
 * half.  Zero bytes count as zeros.
 */
CSV_INLINE uint32_t
csv_two_groups(uint64_t word)
{
#ifdef __CUDA_ARCH__
	return csv_four_digits((uint32_t) word) |
		csv_four_digits((uint32_t) (word >> 32)) << 16;
#else
	word &= CSV_EACH_BYTE(0x0f);
	word = (word * (10 * 0x100 + 1)) >> 8 & UINT64_C(0x00ff00ff00ff00ff);
	word = (word * (100 * 0x10000 + 1)) >> 16 & UINT64_C(0x0000ffff0000ffff);
	return (uint32_t) (word | word >> 16);
#endif
}

/*
 * A decimal number without sign and exponent, with up to eight digits on either side
 * of the separator, as most numbers in files are.  `whole` ends with the digits before
 * the separator, and `fraction` starts with the digits after it.  The other bytes of
 * both are zero.
 */
typedef struct CsvShortDecimal
{
	uint64_t	whole;
	uint64_t	fraction;
	uint32_t	whole_length;
	uint32_t	fraction_length;
} CsvShortDecimal;

CSV_INLINE bool
csv_scan_short_decimal(const uint8_t *p, uint32_t n, uint8_t separator,
					   CsvShortDecimal *decimal)
{
	uint64_t	word;
	uint32_t	length;

	if (n == 0 || n > 17)
		return false;
	word = csv_load_some(p, n < 8 ? n : 8);
	length = csv_leading_digits(word);
	decimal->whole = csv_align_right(word, length);
	decimal->whole_length = length;
	decimal->fraction = 0;
	decimal->fraction_length = 0;
	if (length == n)
		return true;
	if (p[length] != separator || n < 2)
		return false;
	p += length + 1;
	n -= length + 1;
	if (n > 8)
		return false;
	decimal->fraction = csv_load_some(p, n);
	decimal->fraction_length = n;
	return csv_leading_digits(decimal->fraction) == n;
}

/* a decimal number of any length: the digits before and after the separator */
typedef struct CsvLongDecimal
{
	const uint8_t *whole;
	const uint8_t *fraction;
	uint32_t	whole_length;
	uint32_t	fraction_length;
} CsvLongDecimal;

CSV_INLINE bool
csv_scan_long_decimal(const uint8_t *p, uint32_t n, uint8_t separator,
					  CsvLongDecimal *decimal)
{
	decimal->whole = p;
	decimal->whole_length = csv_digit_run(p, n);
	decimal->fraction = p + decimal->whole_length;
	decimal->fraction_length = 0;
	if (decimal->whole_length < n)
	{
		if (*decimal->fraction != separator)
			return false;
		decimal->fraction++;
		decimal->fraction_length = n - decimal->whole_length - 1;
		if (csv_digit_run(decimal->fraction, decimal->fraction_length) !=
			decimal->fraction_length)
			return false;
	}
	return decimal->whole_length + decimal->fraction_length > 0;
}

/* does the number round up, if only `kept` digits of the fraction are kept? */
CSV_INLINE bool
csv_rounds_up(const CsvLongDecimal *decimal, uint32_t kept)
{
	return kept < decimal->fraction_length && decimal->fraction[kept] >= '5';
}

/* ---- numeric ---- */

/*
 * Bytes of an array entry of numeric(precision, scale), or of numeric if precision is
 * -1: header and digits, a multiple of 4, 28 at most.  That is enough for any value of
 * up to 38 digits; longer values are doubtful.
 */
CSV_INLINE uint32_t
csv_numeric_stride(int32_t precision, int32_t scale)
{
	int32_t		ndigits;

	if (precision < 0)
		ndigits = CSV_NUMERIC_DIGITS;
	else
	{
		ndigits = (precision - scale + 3) / 4 + (scale + 3) / 4;
		if (ndigits > CSV_NUMERIC_DIGITS)
			ndigits = CSV_NUMERIC_DIGITS;
	}
	return (uint32_t) (4 + 2 + 2 * ndigits + 3) & ~3u;
}

/*
 * Up to 11 base-10000 digits of 16 bits, the first in the lowest place.  Functions use
 * only constant indexes into `words`, so that these stay in registers on the device.
 */
typedef struct CsvNumericDigits
{
	uint64_t	words[3];
	uint32_t	max_digits;
	uint32_t	ndigits;		/* up to the last digit that is not zero */
	int32_t		top;			/* weight of the first digit */
} CsvNumericDigits;

CSV_INLINE void
csv_numeric_add(CsvNumericDigits *digits, uint32_t index, uint64_t addend)
{
	addend <<= 16 * (index & 3);
	if (index < 4)
		digits->words[0] += addend;
	else if (index < 8)
		digits->words[1] += addend;
	else
		digits->words[2] += addend;
}

CSV_INLINE uint32_t
csv_numeric_digit(const CsvNumericDigits *digits, uint32_t index)
{
	uint64_t	word = index < 4 ? digits->words[0] :
		index < 8 ? digits->words[1] : digits->words[2];

	return (uint32_t) (word >> 16 * (index & 3)) & 0xffff;
}

/* append a digit of this weight; false if there is no room */
CSV_INLINE bool
csv_numeric_append(CsvNumericDigits *digits, int32_t weight, uint32_t digit)
{
	if (digit == 0)
		return true;
	if (digits->ndigits == 0)
		digits->top = weight;
	digits->ndigits = (uint32_t) (digits->top - weight) + 1;
	if (digits->ndigits > digits->max_digits)
		return false;
	csv_numeric_add(digits, digits->ndigits - 1, digit);
	return true;
}

/* from a short decimal, with up to two base-10000 digits on each side of the point */
CSV_ALWAYS_INLINE bool
csv_numeric_of_short(const CsvShortDecimal *decimal, CsvNumericDigits *digits)
{
	uint64_t	word = csv_two_groups(decimal->whole) |
		(uint64_t) csv_two_groups(decimal->fraction) << 32;
	uint32_t	zeros;

	if (word == 0)
		return true;
	zeros = csv_trailing_zeros(word) / 16;
	word >>= 16 * zeros;
	digits->words[0] = word;
	digits->top = 1 - (int32_t) zeros;
	digits->ndigits = 4 - csv_leading_zeros(word) / 16;
	return digits->ndigits <= digits->max_digits;
}

/* add one unit in the last of `kept` decimal places; false if there is no room */
CSV_INLINE bool
csv_numeric_round_up(CsvNumericDigits *digits, uint32_t kept)
{
	int32_t		weight = -(int32_t) ((kept + 3) / 4);
	uint32_t	unit = 1;

	for (uint32_t i = kept; (i & 3) != 0; i++)
		unit *= 10;
	if (digits->ndigits == 0)
		digits->top = weight;
	if (digits->top - weight >= (int32_t) digits->max_digits)
		return false;
	for (;; weight++, unit = 1)
	{
		uint32_t	index = (uint32_t) (digits->top - weight);

		if (weight > digits->top)
		{
			/* all digits were nines: the result is a one above them */
			digits->top = weight;
			digits->ndigits = 1;
			digits->words[0] = 1;
			return true;
		}
		if (csv_numeric_digit(digits, index) + unit < 10000)
		{
			csv_numeric_add(digits, index, unit);
			digits->ndigits = index + 1;
			return true;
		}
		/* to zero, and carry */
		csv_numeric_add(digits, index,
						0 - (uint64_t) csv_numeric_digit(digits, index));
	}
}

/* with `kept` digits of the fraction, rounded half away from zero */
CSV_INLINE bool
csv_numeric_of_long(const CsvLongDecimal *decimal, uint32_t kept,
					CsvNumericDigits *digits)
{
	int32_t		weight = (int32_t) ((decimal->whole_length + 3) / 4) - 1;

	/* before the point; the first group may have fewer than four digits */
	for (uint32_t pos = 0; pos < decimal->whole_length; weight--)
	{
		uint32_t	length = ((decimal->whole_length - pos - 1) & 3) + 1;
		uint32_t	word = csv_load_some4(decimal->whole + pos, length);

		if (!csv_numeric_append(digits, weight,
								csv_four_digits(word << (32 - 8 * length))))
			return false;
		pos += length;
	}
	/* after the point; the last group is filled with zeros */
	for (uint32_t pos = 0; pos < kept; pos += 4, weight--)
	{
		uint32_t	length = kept - pos < 4 ? kept - pos : 4;
		uint32_t	word = csv_load_some4(decimal->fraction + pos, length);

		if (!csv_numeric_append(digits, weight, csv_four_digits(word)))
			return false;
	}
	return !csv_rounds_up(decimal, kept) || csv_numeric_round_up(digits, kept);
}

/*
 * The header of a stored numeric, NumericShort: the bits 10, the sign, dscale in 6
 * bits, weight in 7.  Base-10000 digits follow, without zeros at either end.
 */
CSV_INLINE uint32_t
csv_numeric_header(bool negative, uint32_t dscale, int32_t weight)
{
	return 0x8000 | (uint32_t) negative << 13 | dscale << 7 |
		((uint32_t) weight & 0x7f);
}

/*
 * Write an entry; false if the number does not fit the type, or NumericShort.  See
 * csv_parse_numeric().
 */
CSV_ALWAYS_INLINE bool
csv_store_numeric(const CsvNumericDigits *digits, bool negative,
				  int32_t precision, int32_t scale, uint32_t dscale,
				  uint8_t *entry, uint32_t stride)
{
	int32_t		weight = digits->ndigits == 0 ? 0 : digits->top;
	uint32_t	words[7];

	if (precision >= 0 && digits->ndigits > 0 && weight >= 0)
	{
		uint32_t	first = (uint32_t) digits->words[0] & 0xffff;
		int32_t		length = weight * 4 + 1 + (first >= 10) + (first >= 100) +
			(first >= 1000);

		if (length > precision - scale)
			return false;
	}
	if (weight < -64 || weight > 63)
		return false;

	words[0] = (6 + 2 * digits->ndigits) << 2;
	words[1] = csv_numeric_header(negative && digits->ndigits > 0, dscale,
								  weight) |
		(uint32_t) digits->words[0] << 16;
	words[2] = (uint32_t) (digits->words[0] >> 16);
	words[3] = (uint32_t) (digits->words[0] >> 48 | digits->words[1] << 16);
	words[4] = (uint32_t) (digits->words[1] >> 16);
	words[5] = (uint32_t) (digits->words[1] >> 48 | digits->words[2] << 16);
	words[6] = (uint32_t) (digits->words[2] >> 16);
	csv_store_words(entry, stride, words);
	return true;
}

/*
 * Write a numeric as numeric_in would: digits are grouped by four from the point,
 * groups of zeros at either end are dropped, and zero has no sign.  `entry` is aligned
 * to 4 bytes.  All its `stride` bytes are written; see csv_numeric_stride().
 */
CSV_INLINE bool
csv_parse_numeric(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				  int32_t precision, int32_t scale, uint8_t *entry,
				  uint32_t stride)
{
	CsvNumericDigits digits = {{0, 0, 0}, CSV_NUMERIC_DIGITS, 0, 0};
	CsvShortDecimal brief;
	CsvLongDecimal decimal;
	bool		negative;
	uint32_t	dscale = (uint32_t) scale;

	if (n == 0)
		return false;
	negative = csv_take_sign(&p, &n);
	if ((stride - 6) / 2 < CSV_NUMERIC_DIGITS)
		digits.max_digits = (stride - 6) / 2;

	if (csv_scan_short_decimal(p, n, decimal_separator, &brief) &&
		(precision < 0 || brief.fraction_length <= (uint32_t) scale))
	{
		if (precision < 0)
			dscale = brief.fraction_length;
		if (dscale > 63 || !csv_numeric_of_short(&brief, &digits))
			return false;
	}
	else
	{
		if (!csv_scan_long_decimal(p, n, decimal_separator, &decimal))
			return false;
		if (precision < 0)
			dscale = decimal.fraction_length;
		if (dscale > 63 ||
			!csv_numeric_of_long(&decimal, decimal.fraction_length < dscale ?
								 decimal.fraction_length : dscale, &digits))
			return false;
	}
	return csv_store_numeric(&digits, negative, precision, scale, dscale,
							 entry, stride);
}

/* ---- integers that stand for a numeric ---- */

/* most digits of an entry of SCALED: 10^36 < 2^120 */
#define CSV_SCALED_DIGITS	36

/* decimal = decimal * 10^n + the number written as the n digits at p */
CSV_INLINE unsigned __int128
csv_append_digits(unsigned __int128 decimal, const uint8_t *p, uint32_t n)
{
	for (uint32_t pos = 0; pos < n; pos += 8)
	{
		uint32_t	length = n - pos < 8 ? n - pos : 8;

		decimal = decimal * (uint64_t) csv_power_of_ten(length) +
			csv_eight_digits(csv_align_right(csv_load_some(p + pos, length),
											 length));
	}
	return decimal;
}

/*
 * A numeric(precision, scale), 1 <= precision <= 38, as the integer numeric * 10^scale.
 * Accepts the same texts as csv_parse_numeric(), and also rounds half away from zero.
 */
CSV_INLINE bool
csv_parse_decimal(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				  int32_t precision, int32_t scale, __int128 *value)
{
	uint32_t	most_whole = (uint32_t) (precision - scale);
	CsvShortDecimal brief;
	unsigned __int128 decimal;
	bool		negative;

	if (n == 0)
		return false;
	negative = csv_take_sign(&p, &n);
	if (csv_scan_short_decimal(p, n, decimal_separator, &brief) &&
		brief.fraction_length <= (uint32_t) scale)
	{
		uint32_t	length = brief.fraction_length;
		uint32_t	whole = csv_eight_digits(brief.whole);

		if (most_whole < 8 && whole >= csv_power_of_ten(most_whole))
			return false;
		decimal = whole * csv_power_of_ten(scale) +
			csv_eight_digits(csv_align_right(brief.fraction, length)) *
			csv_power_of_ten(scale - length);
	}
	else
	{
		CsvLongDecimal text;
		uint32_t	kept;		/* digits of the fraction that are kept */

		if (!csv_scan_long_decimal(p, n, decimal_separator, &text))
			return false;
		kept = text.fraction_length < (uint32_t) scale ?
			text.fraction_length : (uint32_t) scale;
		while (text.whole_length > 0 && *text.whole == '0')
		{
			text.whole++;
			text.whole_length--;
		}
		if (text.whole_length > most_whole)
			return false;
		decimal = csv_append_digits(0, text.whole, text.whole_length);
		decimal = csv_append_digits(decimal, text.fraction, kept);
		decimal *= csv_power_of_ten(scale - kept);
		decimal += csv_rounds_up(&text, kept);
	}
	if (decimal >= csv_power_of_ten(precision))
		return false;
	*value = negative ? -(__int128) decimal : (__int128) decimal;
	return true;
}

/*
 * Write an entry of SCALED: a numeric with its own scale.  Accepts the same texts as
 * csv_parse_numeric() with precision -1, up to 36 digits.  `entry` is aligned to 8
 * bytes.
 */
CSV_INLINE bool
csv_parse_scaled(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				 uint8_t *entry)
{
	CsvShortDecimal brief;
	CsvLongDecimal text;
	unsigned __int128 decimal;
	uint64_t	words[2];
	uint32_t	scale;
	bool		negative;

	if (n == 0)
		return false;
	negative = csv_take_sign(&p, &n);
	if (csv_scan_short_decimal(p, n, decimal_separator, &brief))
	{
		scale = brief.fraction_length;
		decimal = csv_eight_digits(brief.whole) * csv_power_of_ten(scale) +
			csv_eight_digits(csv_align_right(brief.fraction, scale));
	}
	else
	{
		if (!csv_scan_long_decimal(p, n, decimal_separator, &text) ||
			text.whole_length + text.fraction_length > CSV_SCALED_DIGITS)
			return false;
		scale = text.fraction_length;
		decimal = csv_append_digits(0, text.whole, text.whole_length);
		decimal = csv_append_digits(decimal, text.fraction, scale);
	}
	if (negative)
		decimal = -decimal;
	words[0] = (uint64_t) decimal;
	words[1] = (uint64_t) (decimal >> 64) << 6 | scale;
	memcpy(__builtin_assume_aligned(entry, 8), words, 16);
	return true;
}

/* the number in an entry of SCALED, times 10^*scale */
CSV_INLINE __int128
csv_load_scaled(const uint8_t *entry, uint32_t *scale)
{
	uint64_t	words[2];

	memcpy(words, __builtin_assume_aligned(entry, 8), 16);
	*scale = (uint32_t) words[1] & 63;
	return (__int128) ((unsigned __int128) (uint64_t)
					   ((int64_t) words[1] >> 6) << 64 | words[0]);
}

#endif							/* CSV_NUMBERS_H */
