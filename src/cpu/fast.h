/*
 * fast.h
 *		Conversions of the commonest spellings, only for the CPU engine.
 *
 * These functions accept fewer texts than convert.h (short unsigned or negative
 * numbers), with the same results.  They are fast because they load whole words: the
 * input has a margin, so the last eight bytes of a value can always be loaded, and the
 * bytes before the value are masked to '0'.  Without AVX2, this saves up to a quarter
 * of a query's time.
 */
#ifndef CSV_FAST_H
#define CSV_FAST_H

#include "../reader/numbers.h"

/* the last n (1 to 8) characters before `end`, with the character '0' before them */
static inline uint64_t
csv_last_digits(const uint8_t *end, uint32_t n)
{
	uint32_t	shift = 64 - 8 * n;
	uint64_t	keep = UINT64_MAX << shift;

	return (csv_load8(end - 8) & keep) | (CSV_EACH_BYTE('0') & ~keep);
}

/*
 * The same for n characters before `end` that have one or two separators between groups
 * of three digits.  They have *ndigits digits, 8 at most.  Returns false if the
 * characters have another form.
 */
CSV_ALWAYS_INLINE bool
csv_last_groups(const uint8_t *end, uint32_t n, uint8_t separator,
				uint64_t *digits, uint32_t *ndigits)
{
	uint64_t	word = csv_load8(end - 8);
	uint32_t	shift;

	/* ?????,123: remove the fifth byte of the word */
	if (n < 5 || n > 10 || n == 8 || (uint8_t) (word >> 32) != separator)
		return false;
	*digits = (word & UINT64_C(0xffffff0000000000)) | (word & 0xffffffff) << 8;
	*ndigits = n - 1;
	if (n > 8)
	{
		/* and the separator before 123,123, which is the word's first byte */
		if ((uint8_t) word != separator)
			return false;
		*digits = (*digits & ~UINT64_C(0xffff)) | end[-10] | (uint64_t) end[-9] << 8;
		*ndigits = n - 2;
	}
	shift = 64 - 8 * *ndigits;
	*digits = *digits >> shift << shift | (CSV_EACH_BYTE('0') & ~(UINT64_MAX << shift));
	return true;
}

/*
 * [-]digits, 16 at most.  If `thousands` is not 0, digits must be in groups with this
 * separator, 8 at most.
 */
CSV_ALWAYS_INLINE bool
csv_fast_int(const uint8_t *p, uint32_t n, uint8_t thousands, int64_t *value)
{
	const uint8_t *end = p + n;
	bool		negative = *p == '-';
	uint64_t	low;
	uint64_t	number;

	n -= negative;
	if (thousands != 0)
	{
		if (!csv_last_groups(end, n, thousands, &low, &n) || csv_not_digits(low) != 0)
			return false;
		number = csv_eight_digits(low);
	}
	else if (n - 1 < 8)
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
 * [-]digits[.digits] with exactly `scale` digits after a point, and up to 8 digits on
 * each side of it.  `thousands` is as in csv_fast_int().
 */
CSV_ALWAYS_INLINE bool
csv_fast_decimal(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				 uint8_t thousands, uint32_t scale, CsvShortDecimal *decimal,
				 bool *negative)
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
	if (thousands != 0)
	{
		if (!csv_last_groups(end, n, thousands, &decimal->whole, &n))
			return false;
	}
	else if (n - 1 < 8)
		decimal->whole = csv_last_digits(end, n);
	else
		return false;
	decimal->whole_length = n;
	return csv_not_digits(decimal->whole) == 0;
}

/* such a decimal as numeric(precision, scale) */
CSV_ALWAYS_INLINE bool
csv_fast_numeric(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				 uint8_t thousands, int32_t precision, int32_t scale, uint8_t *entry,
				 uint32_t stride)
{
	CsvNumericDigits digits = {{0, 0, 0}, CSV_NUMERIC_DIGITS, 0, 0};
	CsvShortDecimal decimal;
	bool		negative;

	return csv_fast_decimal(p, n, decimal_separator, thousands, (uint32_t) scale,
							&decimal, &negative) &&
		csv_numeric_of_short(&decimal, &digits) &&
		csv_store_numeric(&digits, negative, precision, scale,
						  (uint32_t) scale, entry, stride);
}

/* such a decimal as the integer that stands for numeric(precision, scale) */
CSV_ALWAYS_INLINE bool
csv_fast_decimal64(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				   uint8_t thousands, int32_t precision, int32_t scale, int64_t *value)
{
	CsvShortDecimal decimal;
	bool		negative;
	uint64_t	number;

	if (!csv_fast_decimal(p, n, decimal_separator, thousands, (uint32_t) scale,
						  &decimal, &negative))
		return false;
	number = csv_eight_digits(decimal.whole) * csv_powers_on_host[scale] +
		csv_eight_digits(csv_align_right(decimal.fraction,
										 decimal.fraction_length));
	if (precision < 18 && number >= csv_powers_on_host[precision])
		return false;
	*value = negative ? -(int64_t) number : (int64_t) number;
	return true;
}

/*
 * Remove the separator from a word, if it has one; then *nbehind is the number of
 * characters behind it, otherwise 8.  The characters before it move up, and `before`
 * becomes the first.
 */
CSV_ALWAYS_INLINE uint64_t
csv_drop_separator(uint64_t word, uint8_t before, uint8_t separator,
				   uint32_t *nbehind)
{
	uint64_t	others = word ^ CSV_EACH_BYTE(1) * separator;
	uint64_t	found = (others - CSV_EACH_BYTE(1)) & ~others & CSV_EACH_BYTE(0x80);
	uint64_t	low;

	*nbehind = 8;
	if (found == 0)
		return word;
	/* all bits below the first byte that is the separator */
	found &= -found;
	low = (found >> 7) - 1;
	*nbehind = (uint32_t) __builtin_clzll(found) / 8;
	return (word & ~(low << 8 | 0xff)) | (word & low) << 8 | before;
}

/* [-]digits[.digits], with up to 16 characters behind the sign, as SCALED */
CSV_ALWAYS_INLINE bool
csv_fast_scaled(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				int64_t *entry)
{
	const uint8_t *end = p + n;
	bool		negative = *p == '-';
	uint64_t	high = CSV_EACH_BYTE('0');
	uint64_t	low;
	uint32_t	scale;
	uint32_t	rest = 8;
	int64_t		number;

	n -= negative;
	if (n - 1 >= 16 || (n == 1 && end[-1] == decimal_separator))
		return false;
	low = csv_last_digits(end, n < 8 ? n : 8);
	if (n > 8)
		high = csv_last_digits(end - 8, n - 8);
	low = csv_drop_separator(low, (uint8_t) (high >> 56), decimal_separator, &scale);
	if (scale < 8)
		high = high << 8 | '0';
	else
		high = csv_drop_separator(high, '0', decimal_separator, &rest);
	scale = scale < 8 ? scale : rest < 8 ? 8 + rest : 0;
	if ((csv_not_digits(low) | csv_not_digits(high)) != 0)
		return false;
	number = (int64_t) (csv_eight_digits(high) * UINT64_C(100000000) +
						csv_eight_digits(low));
	entry[0] = negative ? -number : number;
	entry[1] = (int64_t) ((uint64_t) (entry[0] >> 63) << 6 | scale);
	return true;
}

#endif							/* CSV_FAST_H */
