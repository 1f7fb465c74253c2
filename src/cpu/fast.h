/*
 * fast.h
 *		Conversions of the commonest spellings, for the CPU engine alone.
 *
 * These take less than convert.h does (short unsigned or negative numbers) and
 * give the same for what they take.  They are fast because they load whole
 * words: the input has a margin that may be read without meaning, so the eight
 * bytes that end a value are always there, and the bytes before it are masked
 * to '0'.  Without AVX2 that saves up to a quarter of a query's time.
 */
#ifndef CSV_FAST_H
#define CSV_FAST_H

#include "../reader/numbers.h"

/* the last n (1 to 8) characters before `end`, with zeros before them */
static inline uint64_t
csv_last_digits(const uint8_t *end, uint32_t n)
{
	uint32_t	shift = 64 - 8 * n;
	uint64_t	keep = UINT64_MAX << shift;

	return (csv_load8(end - 8) & keep) | (CSV_EACH_BYTE('0') & ~keep);
}

/* [-]digits, 16 of them at most */
CSV_ALWAYS_INLINE bool
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

/*
 * [-]digits.digits with `scale` digits after the point, or none and no point:
 * up to 8 on each side of it.
 */
CSV_ALWAYS_INLINE bool
csv_fast_decimal(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				 uint32_t scale, CsvShortDecimal *decimal, bool *negative)
{
	const uint8_t *end = p + n;

	*negative = *p == '-';
	n -= *negative;
	decimal->fraction = 0;
	decimal->fraction_length = 0;
	if (scale > 0 && n > scale + 1 && end[-1 - (int) scale] == decimal_separator)
	{
		uint64_t	word = csv_last_digits(end, scale);

		if (csv_not_digits(word) != 0)
			return false;
		decimal->fraction = word >> (64 - 8 * scale);
		decimal->fraction_length = scale;
		end -= scale + 1;
		n -= scale + 1;
	}
	if (n - 1 >= 8)
		return false;
	decimal->whole = csv_last_digits(end, n);
	decimal->whole_length = n;
	return csv_not_digits(decimal->whole) == 0;
}

/* such a one as numeric(precision, scale) */
CSV_ALWAYS_INLINE bool
csv_fast_numeric(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				 int32_t precision, int32_t scale, uint8_t *entry,
				 uint32_t stride)
{
	CsvNumericDigits digits = {{0, 0, 0}, CSV_NUMERIC_DIGITS, 0, 0};
	CsvShortDecimal decimal;
	bool		negative;

	return csv_fast_decimal(p, n, decimal_separator, (uint32_t) scale,
							&decimal, &negative) &&
		csv_numeric_of_short(&decimal, &digits) &&
		csv_store_numeric(&digits, negative, precision, scale,
						  (uint32_t) scale, entry, stride);
}

/* and as an integer that stands for it */
CSV_ALWAYS_INLINE bool
csv_fast_decimal64(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				   int32_t precision, int32_t scale, int64_t *value)
{
	CsvShortDecimal decimal;
	bool		negative;
	uint64_t	number;

	if (!csv_fast_decimal(p, n, decimal_separator, (uint32_t) scale, &decimal,
						  &negative))
		return false;
	number = csv_eight_digits(decimal.whole) * csv_powers_on_host[scale] +
		csv_eight_digits(csv_align_right(decimal.fraction,
										 decimal.fraction_length));
	if (precision < 18 && number >= csv_powers_on_host[precision])
		return false;
	*value = negative ? -(int64_t) number : (int64_t) number;
	return true;
}

#endif							/* CSV_FAST_H */
