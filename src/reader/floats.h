/*
 * floats.h
 *		Floating point.
 *
 * convert.h lists the accepted texts.  This header is C and CUDA C++.
 */
#ifndef CSV_FLOATS_H
#define CSV_FLOATS_H

#include "pow5.h"
#include "words.h"

typedef struct CsvPow5
{
	uint64_t	high;
	uint64_t	low;
} CsvPow5;

#ifdef __CUDACC__
static __device__ const CsvPow5 csv_pow5_on_device[CSV_POW5_COUNT] = {
	CSV_POW5_TABLE
};
#endif
#ifndef __CUDA_ARCH__
static const CsvPow5 csv_pow5_on_host[CSV_POW5_COUNT] = {
	CSV_POW5_TABLE
};
#endif

/* a decimal number: digits x 10^exponent */
typedef struct CsvDecimal
{
	uint64_t	digits;
	int32_t		exponent;
	bool		negative;
	bool		truncated;		/* the number is larger, by less than one unit of
								 * the last digit */
} CsvDecimal;

CSV_INLINE CsvPow5
csv_pow5_entry(int32_t number)
{
#ifdef __CUDA_ARCH__
	return csv_pow5_on_device[number];
#else
	return csv_pow5_on_host[number];
#endif
}

/*
 * 5^exponent, scaled so that its top bit is set.  Large powers are products of two
 * entries: they are exact up to 5^55, and beyond that less than 3 too small.
 */
CSV_INLINE CsvPow5
csv_pow5(int32_t exponent)
{
	int32_t		steps;
	uint64_t	factor;
	uint64_t	middle;
	uint64_t	last;
	CsvPow5		power;

	if (exponent >= -CSV_POW5_NEAR && exponent < CSV_POW5_STEP)
		return csv_pow5_entry(exponent + CSV_POW5_NEAR);
	exponent -= CSV_POW5_FIRST * CSV_POW5_STEP;
	steps = exponent / CSV_POW5_STEP;
	factor = csv_pow5_entry(exponent % CSV_POW5_STEP + CSV_POW5_NEAR).high;
	power = csv_pow5_entry(CSV_POW5_NEAR + CSV_POW5_STEP + steps);
	middle = csv_multiply(factor, power.low, &last);
	power.high = csv_multiply(factor, power.high, &power.low);
	power.low += middle;
	power.high += power.low < middle;
	if (power.high >> 63 == 0)
	{
		power.high = power.high << 1 | power.low >> 63;
		power.low = power.low << 1 | last >> 63;
	}
	return power;
}

/* floor(log2(10^exponent)), for |exponent| <= 350 */
CSV_INLINE int32_t
csv_log2_pow10(int32_t exponent)
{
	return (exponent * 217706) >> 16;
}

/*
 * The bits of the double nearest to digits x 10^exponent, ties to even; false
 * if that is not a normal number, or 128 bits do not decide it.
 *
 * Small numbers and small powers of ten are exact doubles, so one division or
 * multiplication rounds correctly (Clinger, "How to read floating point numbers
 * accurately", PLDI 1990).  For other numbers, the 128-bit product with the power
 * of five is used (Eisel-Lemire; Lemire, "Number parsing at a gigabyte per second",
 * 2021).  The device does that for all numbers: the lanes of a warp stay together,
 * and a division costs as much.
 */
CSV_INLINE bool
csv_decimal_to_double(uint64_t digits, int32_t exponent, uint64_t *bits)
{
	CsvPow5		power;
	uint64_t	high;
	uint64_t	low;
	uint64_t	mantissa;
	uint32_t	shift;
	uint32_t	top_bit;
	int32_t		binary_exponent;

	if (digits == 0)
	{
		*bits = 0;
		return true;
	}
	if (exponent < CSV_POW5_MIN || exponent > CSV_POW5_MAX)
		return false;
	power = csv_pow5(exponent);

#ifndef __CUDA_ARCH__
	if (digits <= UINT64_C(1) << 53 && exponent >= -22 && exponent <= 22)
	{
		int32_t		positive = exponent < 0 ? -exponent : exponent;
		double		power10;

		/* 5^22 has fewer than 53 bits: the table's entry is exact */
		power10 = csv_bits_double((csv_pow5(positive).high << 1) >> 12 |
								  (uint64_t) (csv_log2_pow10(positive) + 1023)
								  << 52);
		*bits = csv_double_bits(exponent < 0 ? (double) digits / power10 :
								(double) digits * power10);
		return true;
	}
#endif

	shift = csv_leading_zeros(digits);
	digits <<= shift;
	high = csv_multiply(digits, power.high, &low);

	/* 55 bits are needed: 53, one to round, and one because the first may be 0 */
	if ((high & 0x1ff) == 0x1ff)
	{
		uint64_t	low_low;
		uint64_t	middle = csv_multiply(digits, power.low, &low_low);

		low += middle;
		if (low < middle)
			high++;
		if (low > UINT64_MAX - 4 && (exponent < -27 || exponent > 55))
			return false;
	}
	top_bit = (uint32_t) (high >> 63);
	mantissa = high >> (top_bit + 9);
	binary_exponent = csv_log2_pow10(exponent) + 63 + (int32_t) top_bit -
		(int32_t) shift + 1023;
	if (binary_exponent <= 0)
		return false;

	/*
	 * The number may be exactly between two doubles, but only for few powers.  Then
	 * round to the even double: do not round up from an even double.
	 */
	if (low <= 1 && exponent >= -4 && exponent <= 23 && (mantissa & 3) == 1 &&
		mantissa << (top_bit + 9) == high)
		mantissa &= ~UINT64_C(1);
	mantissa += mantissa & 1;
	mantissa >>= 1;
	if (mantissa >= UINT64_C(1) << 53)
	{
		mantissa = UINT64_C(1) << 52;
		binary_exponent++;
	}
	if (binary_exponent >= 0x7ff)
		return false;
	*bits = (mantissa & ((UINT64_C(1) << 52) - 1)) |
		(uint64_t) binary_exponent << 52;
	return true;
}

/*
 * Append the digits from p[pos] on to the number *digits, modulo 2^64.  Returns the
 * position after them.
 */
CSV_INLINE uint32_t
csv_take_digits(const uint8_t *p, uint32_t n, uint32_t pos, uint64_t *digits)
{
#ifndef __CUDA_ARCH__
	while (n - pos >= 8)
	{
		uint64_t	word = csv_load8(p + pos);

		if (csv_not_digits(word) != 0)
			break;
		*digits = *digits * 100000000 + csv_eight_digits(word);
		pos += 8;
	}
#endif
	for (; pos < n; pos++)
	{
		uint32_t	digit = (uint32_t) p[pos] - '0';

		if (digit > 9)
			break;
		*digits = *digits * 10 + digit;
	}
	return pos;
}

/* read [+-] digits [separator digits] [e [+-] digits] */
CSV_INLINE bool
csv_scan_decimal(const uint8_t *p, uint32_t n, uint8_t separator,
				 CsvDecimal *decimal)
{
	uint64_t	digits = 0;
	uint32_t	pos = 0;
	uint32_t	first;			/* where the digits start */
	uint32_t	end;			/* and end */
	uint32_t	point;			/* position of the separator, or end */
	uint32_t	ndigits;
	int32_t		exponent = 0;

	if (n == 0)
		return false;
	decimal->negative = p[0] == '-';
	decimal->truncated = false;
	if (p[0] == '-' || p[0] == '+')
		pos++;
	first = pos;
	pos = csv_take_digits(p, n, pos, &digits);
	point = pos;
	ndigits = pos - first;
	if (pos < n && p[pos] == separator)
	{
		pos = csv_take_digits(p, n, pos + 1, &digits);
		exponent = -(int32_t) (pos - point - 1);
		ndigits += pos - point - 1;
	}
	end = pos;
	if (ndigits == 0)
		return false;

	if (pos < n)
	{
		bool		negative = false;
		int32_t		given = 0;

		if ((p[pos] | 0x20) != 'e')
			return false;
		pos++;
		if (pos < n && (p[pos] == '-' || p[pos] == '+'))
		{
			negative = p[pos] == '-';
			pos++;
		}
		/* an exponent of more than four digits has leading zeros, or is too large */
		if (pos == n || n - pos > 4)
			return false;
		for (; pos < n; pos++)
		{
			uint32_t	digit = (uint32_t) p[pos] - '0';

			if (digit > 9)
				return false;
			given = given * 10 + (int32_t) digit;
		}
		exponent += negative ? -given : given;
	}

	if (ndigits > 19)
	{
		/* take 19 digits, without leading zeros; a far longer text is doubtful */
		uint32_t	taken = 0;

		if (ndigits > 1000)
			return false;
		digits = 0;
		for (pos = first; pos < end; pos++)
		{
			uint32_t	digit = (uint32_t) p[pos] - '0';

			if (pos == point)
				continue;
			if (taken < 19)
			{
				digits = digits * 10 + digit;
				if (digits != 0)
					taken++;
			}
			else
			{
				exponent++;
				if (digit != 0)
					decimal->truncated = true;
			}
		}
	}
	decimal->digits = digits;
	decimal->exponent = exponent;
	return true;
}

/* the bits of NaN, without a sign, and of Inf and Infinity, with or without one */
CSV_INLINE bool
csv_scan_special(const uint8_t *p, uint32_t n, uint64_t *bits)
{
	uint64_t	sign = 0;

	if (n == 3 &&
		(p[0] | 0x20) == 'n' && (p[1] | 0x20) == 'a' && (p[2] | 0x20) == 'n')
	{
		*bits = UINT64_C(0x7ff8) << 48;
		return true;
	}
	if (n > 0 && (p[0] == '-' || p[0] == '+'))
	{
		sign = p[0] == '-';
		p++;
		n--;
	}
	if (n != 3 && n != 8)
		return false;
	if ((p[0] | 0x20) != 'i' || (p[1] | 0x20) != 'n' || (p[2] | 0x20) != 'f')
		return false;
	if (n == 8 &&
		((p[3] | 0x20) != 'i' || (p[4] | 0x20) != 'n' ||
		 (p[5] | 0x20) != 'i' || (p[6] | 0x20) != 't' ||
		 (p[7] | 0x20) != 'y'))
		return false;
	*bits = sign << 63 | UINT64_C(0x7ff0) << 48;
	return true;
}

/*
 * The bits of the double that strtod() returns, rounding to nearest.  If it is finite,
 * *decimal is the number as written.
 */
CSV_INLINE bool
csv_scan_double(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				CsvDecimal *decimal, uint64_t *bits)
{
	uint64_t	above;

	if (!csv_scan_decimal(p, n, decimal_separator, decimal))
		return csv_scan_special(p, n, bits);
	if (!csv_decimal_to_double(decimal->digits, decimal->exponent, bits))
		return false;

	/* the number is between two decimals; if both round alike, so does the number */
	if (decimal->truncated &&
		(!csv_decimal_to_double(decimal->digits + 1, decimal->exponent,
								&above) ||
		 above != *bits))
		return false;
	*bits |= (uint64_t) decimal->negative << 63;
	return true;
}

CSV_INLINE bool
csv_parse_float8(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				 double *value)
{
	CsvDecimal	decimal;
	uint64_t	bits;

	if (!csv_scan_double(p, n, decimal_separator, &decimal, &bits))
		return false;
	*value = csv_bits_double(bits);
	return true;
}

/*
 * The float that strtof() returns, which is rounded once.  A double rounded to a float
 * is rounded twice; the result differs only if the double is exactly between two
 * floats and the number is not.
 */
CSV_INLINE bool
csv_parse_float4(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				 float *value)
{
	CsvDecimal	decimal;
	uint64_t	bits;
	uint64_t	magnitude;

	if (!csv_scan_double(p, n, decimal_separator, &decimal, &bits))
		return false;
	magnitude = bits & ~(UINT64_C(1) << 63);
	if (magnitude != 0 && magnitude < UINT64_C(0x7ff) << 52)
	{
		/* a normal float, which does not round up to infinity */
		if (magnitude < (uint64_t) (1023 - 126) << 52 ||
			magnitude >= UINT64_C(0x47effffff0000000))
			return false;

		if ((magnitude & 0x1fffffff) == 0x10000000)
		{
			uint64_t	digits = decimal.digits;

			/*
			 * Is the number exactly the double?  Yes, if the fives of the power of
			 * ten divide the digits: the quotient, below 2^53, is then exact.
			 */
			if (decimal.truncated || decimal.exponent > 0 ||
				decimal.exponent < -22 || digits > UINT64_C(1) << 53)
				return false;
			for (int32_t i = decimal.exponent; i < 0; i++)
			{
				if (digits % 5 != 0)
					return false;
				digits /= 5;
			}
		}
	}
	*value = (float) csv_bits_double(bits);
	return true;
}

#endif							/* CSV_FLOATS_H */
