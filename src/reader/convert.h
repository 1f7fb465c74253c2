/*
 * convert.h
 *		From the text of a field to the value of its type, without PostgreSQL.
 *
 * Each csv_parse_ function takes the text of a value, (p, n), quotes and
 * escapes removed, not NUL terminated; only bytes in [p, p + n) are read.  It
 * returns true, and stores the value, only where the type's input function of
 * PostgreSQL 15 to 18 takes this text and gives exactly this value, whatever
 * the session's settings.  Otherwise it returns false and stores nothing: the
 * value is doubtful, and the real input function has the word, be it on an
 * unusual spelling or on an error.
 *
 *	type			what is taken
 *	int2/4/8		[+-] digits, any number of leading zeros, in range
 *	bool			t f y n 1 0 true false yes no on off, in any case
 *	float4/8		[+-] digits [point digits] [e [+-] digits], a digit on at
 *					least one side of the point; NaN, Inf, Infinity.  Not:
 *					overflow, subnormal results, and the rare ones that 128
 *					bits of the power of five do not decide
 *	numeric			[+-] digits [point digits], a scale of up to 63; what has
 *					more digits than the type's scale is rounded
 *	decimal			a numeric of up to 38 digits as an integer, times 10^scale;
 *					takes what numeric takes
 *	date			YYYY-MM-DD, years 0001 to 9999
 *	timestamp		a date, or a date, a blank or T, HH:MM[:SS[.f]] with f of
 *					one to six digits, no more than the type's precision
 *	timestamptz		the same with a time, and Z, or [blank] +-HH[[:]MM]
 *	uuid			32 hexadecimal digits, with hyphens as 8-4-4-4-12 or without
 *
 * These take no blanks around a value.  csv_convert_value(), which puts them
 * together, passes over what isspace() knows in ASCII (blank, \t, \n, \v, \f,
 * \r), as all of the types' input functions do but uuid's.  To it, what has
 * more than CSV_MOST_SCALAR_BYTES bytes is doubtful.
 *
 * One exception to "whatever the settings": T and Z are what ISO 8601 says.
 * PostgreSQL looks for a time zone abbreviation first, so that a server whose
 * administrator has written a set of abbreviations with one named T or Z, or
 * without Z, reads them otherwise (and 18 where TimeZone is such as '<Z>5').
 *
 * The same code runs on the host and on the device.  Text is looked at eight
 * bytes at a time, as the 64-bit word in which byte i of the text has the
 * weight 2^(8i) (Lamport, "Multiple byte processing with full-word
 * instructions", CACM 18, 1975).  On the device, which loads aligned words
 * only, it is put together from two or three of them.
 *
 * This header is C and CUDA C++; it includes neither postgres.h nor CUDA's.
 */
#ifndef CSV_CONVERT_H
#define CSV_CONVERT_H

#include <string.h>

#include "pow5.h"
#include "reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* most base-10000 digits of a numeric: any value of up to 38 digits fits */
#define CSV_NUMERIC_DIGITS	11

/* most bytes of a text to convert: longer ones are nobody's */
#define CSV_MOST_SCALAR_BYTES	1024

/* a byte in each of the eight places of a word */
#define CSV_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

typedef struct CsvPow5
{
	uint64_t	high;
	uint64_t	low;
} CsvPow5;

/* the powers of ten of 64 bits */
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

/* ---- words of text ---- */

#ifdef __CUDA_ARCH__
/*
 * The n bytes at p, 1 <= n <= 8, in the low bytes of the result; those above
 * have no meaning.  Only aligned words with a byte of these are read.
 */
static __device__ __forceinline__ uint64_t
csv_load_words(const uint8_t *p, uint32_t n)
{
	uint32_t	offset = (uint32_t) (uintptr_t) p & 3;
	const uint32_t *words = (const uint32_t *) (p - offset);
	uint32_t	last = (offset + n - 1) / 4;
	uint32_t	first = words[0];
	uint32_t	second = words[last < 1 ? last : 1];
	uint32_t	third = words[last];

	return __funnelshift_r(first, second, 8 * offset) |
		(uint64_t) __funnelshift_r(second, third, 8 * offset) << 32;
}
#endif

/* the 8 bytes at p */
CSV_INLINE uint64_t
csv_load8(const uint8_t *p)
{
#ifdef __CUDA_ARCH__
	return csv_load_words(p, 8);
#else
	uint64_t	word;

	memcpy(&word, p, 8);
	return word;
#endif
}

/* the n <= 8 bytes at p; zero bytes above them */
CSV_INLINE uint64_t
csv_load_some(const uint8_t *p, uint32_t n)
{
	uint64_t	word = 0;

#ifdef __CUDA_ARCH__
	if (n > 0)
		word = csv_load_words(p, n) & (~UINT64_C(0) >> (64 - 8 * n));
#else
	/* two loads that overlap, where there is no load of that size */
	if (n >= 8)
		memcpy(&word, p, 8);
	else if (n >= 4)
	{
		uint32_t	first;
		uint32_t	last;

		memcpy(&first, p, 4);
		memcpy(&last, p + n - 4, 4);
		word = first | (uint64_t) last << (8 * (n - 4));
	}
	else if (n > 0)
		word = p[0] | (uint32_t) p[n >> 1] << (8 * (n >> 1)) |
			(uint32_t) p[n - 1] << (8 * (n - 1));
#endif
	return word;
}

/* the 4 bytes at p */
CSV_INLINE uint32_t
csv_load4(const uint8_t *p)
{
#ifdef __CUDA_ARCH__
	uint32_t	offset = (uint32_t) (uintptr_t) p & 3;
	const uint32_t *words = (const uint32_t *) (p - offset);

	return __funnelshift_r(words[0], words[(offset + 3) / 4], 8 * offset);
#else
	uint32_t	word;

	memcpy(&word, p, 4);
	return word;
#endif
}

/* the 1 <= n <= 4 bytes at p; zero bytes above them */
CSV_INLINE uint32_t
csv_load_some4(const uint8_t *p, uint32_t n)
{
	if (n == 4)
		return csv_load4(p);
	return p[0] | (uint32_t) p[n >> 1] << (8 * (n >> 1)) |
		(uint32_t) p[n - 1] << (8 * (n - 1));
}

/* the top bit of each byte that is not a decimal digit */
CSV_INLINE uint64_t
csv_not_digits(uint64_t word)
{
	uint64_t	digits = word ^ CSV_EACH_BYTE('0');

	return (((digits & CSV_EACH_BYTE(0x7f)) + CSV_EACH_BYTE(0x76)) | digits) &
		CSV_EACH_BYTE(0x80);
}

/*
 * Store four bytes at an address aligned to 4.
 *
 * Entries are stored without a loop over their stride: such a loop's counter
 * is the same in all lanes of a warp, and ptxas 13.0 was seen to keep it in a
 * uniform register that other lanes, still busy elsewhere, needed.
 */
CSV_INLINE void
csv_store4(uint8_t *p, uint32_t value)
{
	memcpy(__builtin_assume_aligned(p, 4), &value, 4);
}

/* zero bits below the lowest one bit; mask is not zero */
CSV_INLINE uint32_t
csv_trailing_zeros(uint64_t mask)
{
#ifdef __CUDA_ARCH__
	return __ffsll((long long) mask) - 1;
#else
	return __builtin_ctzll(mask);
#endif
}

/* how many digits the word starts with */
CSV_INLINE uint32_t
csv_leading_digits(uint64_t word)
{
	uint64_t	stop = csv_not_digits(word);

	return stop == 0 ? 8 : csv_trailing_zeros(stop) / 8;
}

/* the first n of a word's bytes, moved to its end; zero bytes before them */
CSV_INLINE uint64_t
csv_align_right(uint64_t word, uint32_t n)
{
	return n == 0 ? 0 : word << (64 - 8 * n);
}

/* zero bits above the highest one bit; word is not zero */
CSV_INLINE uint32_t
csv_leading_zeros(uint64_t word)
{
#ifdef __CUDA_ARCH__
	return __clzll((long long) word);
#else
	return __builtin_clzll(word);
#endif
}

/*
 * The number written as eight digits, the first of them in the lowest byte.
 * Zero bytes count as zeros: a shorter number is shifted up.
 */
CSV_INLINE uint32_t
csv_eight_digits(uint64_t word)
{
#ifdef __CUDA_ARCH__
	/* in halves: the device has no 64-bit multiplication */
	uint32_t	high = (uint32_t) word & 0x0f0f0f0f;
	uint32_t	low = (uint32_t) (word >> 32) & 0x0f0f0f0f;

	high = (high * 10 + (high >> 8)) & 0x00ff00ff;
	low = (low * 10 + (low >> 8)) & 0x00ff00ff;
	return ((high & 0xff) * 100 + (high >> 16)) * 10000 +
		(low & 0xff) * 100 + (low >> 16);
#else
	word &= CSV_EACH_BYTE(0x0f);
	word = (word * (10 * 0x100 + 1)) >> 8 & UINT64_C(0x00ff00ff00ff00ff);
	word = (word * (100 * 0x10000 + 1)) >> 16 & UINT64_C(0x0000ffff0000ffff);
	return (uint32_t) ((word * (UINT64_C(10000) * 0x100000000 + 1)) >> 32);
#endif
}

/* the same for four digits */
CSV_INLINE uint32_t
csv_four_digits(uint32_t word)
{
	word &= 0x0f0f0f0f;
	word = (word * 10 + (word >> 8)) & 0x00ff00ff;
	return (word & 0xff) * 100 + (word >> 16);
}

/* how many digits the text starts with */
CSV_INLINE uint32_t
csv_digit_run(const uint8_t *p, uint32_t n)
{
	uint32_t	run = 0;

	for (;;)
	{
		uint32_t	rest = n - run;
		uint32_t	count;

		/* the zero bytes above a short rest stop it, too */
		count = csv_leading_digits(csv_load_some(p + run, rest < 8 ? rest : 8));
		run += count;
		if (count < 8)
			return run;
	}
}

/*
 * Two base-10000 digits of 16 bits, the first in the lower half, from eight
 * decimal digits; zero bytes count as zeros.
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
 * A decimal number without sign and exponent, of up to eight digits on either
 * side of the separator: what most numbers in files are.  The digits before
 * it stand at the end of whole, those after it at the start of fraction, and
 * zero bytes fill both.
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

/* ---- integers ---- */

/*
 * An integer between min and max, min <= 0 <= max.
 */
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
	negative = p[0] == '-';
	if (negative || p[0] == '+')
	{
		p++;
		n--;
	}
	while (n > 19 && p[0] == '0')
	{
		p++;
		n--;
	}
	/* 19 digits never overflow 64 bits */
	if (n == 0 || n > 19)
		return false;

	/* one to eight digits, and eights */
	head = ((n - 1) & 7) + 1;
	word = csv_load_some(p, head) << (64 - 8 * head);
	/* fill up with digits from below; in two shifts, as head may be 8 */
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

/* ---- boolean ---- */

CSV_INLINE bool
csv_parse_bool(const uint8_t *p, uint32_t n, bool *value)
{
	uint64_t	word;

	if (n == 0 || n > 5)
		return false;
	word = csv_load_some(p, n);
	if (n == 1 && (word == '0' || word == '1'))
	{
		*value = word == '1';
		return true;
	}
	/* a letter comes of nothing but itself and its capital */
	word |= CSV_EACH_BYTE(0x20) >> (64 - 8 * n);
	switch (word)
	{
		case 't':
		case 'y':
		case 'o' | 'n' << 8:
		case 'y' | 'e' << 8 | 's' << 16:
		case 't' | 'r' << 8 | 'u' << 16 | 'e' << 24:
			*value = true;
			return true;
		case 'f':
		case 'n':
		case 'n' | 'o' << 8:
		case 'o' | 'f' << 8 | 'f' << 16:
		case 'f' | 'a' << 8 | 'l' << 16 | 's' << 24 | (uint64_t) 'e' << 32:
			*value = false;
			return true;
		default:
			return false;
	}
}

/* ---- floating point ---- */

/* a decimal number: digits x 10^exponent */
typedef struct CsvDecimal
{
	uint64_t	digits;
	int32_t		exponent;
	bool		negative;
	bool		truncated;		/* the number is a bit above, by less than one
								 * unit of the last digit */
} CsvDecimal;

CSV_INLINE uint64_t
csv_double_bits(double value)
{
	uint64_t	bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

CSV_INLINE double
csv_bits_double(uint64_t bits)
{
	double		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* the 128-bit product of two 64-bit numbers */
CSV_INLINE uint64_t
csv_multiply(uint64_t a, uint64_t b, uint64_t *low)
{
#if defined(__CUDA_ARCH__)
	*low = a * b;
	return __umul64hi(a, b);
#elif defined(__SIZEOF_INT128__)
	unsigned __int128 product = (unsigned __int128) a * b;

	*low = (uint64_t) product;
	return (uint64_t) (product >> 64);
#else
	uint64_t	low_low = (a & 0xffffffff) * (b & 0xffffffff);
	uint64_t	high_low = (a >> 32) * (b & 0xffffffff);
	uint64_t	low_high = (a & 0xffffffff) * (b >> 32);
	uint64_t	middle = (low_low >> 32) + (high_low & 0xffffffff) + low_high;

	*low = a * b;
	return (a >> 32) * (b >> 32) + (high_low >> 32) + (middle >> 32);
#endif
}

CSV_INLINE CsvPow5
csv_pow5(int32_t exponent)
{
#ifdef __CUDA_ARCH__
	return csv_pow5_on_device[exponent - CSV_POW5_MIN];
#else
	return csv_pow5_on_host[exponent - CSV_POW5_MIN];
#endif
}

/* floor(log2(10^exponent)), for |exponent| <= 350 */
CSV_INLINE int32_t
csv_log2_pow10(int32_t exponent)
{
	return (exponent * 217706) >> 16;
}

/*
 * The bits of the double nearest to digits x 10^exponent, ties to even; false
 * where it is not a normal number, or not decided.
 *
 * Small numbers and small powers of ten are exact doubles, and one division or
 * multiplication rounds right (Clinger, "How to read floating point numbers
 * accurately", PLDI 1990).  The others go by the 128-bit product with the
 * power of five (Eisel-Lemire; Lemire, "Number parsing at a gigabyte per
 * second", 2021).  On the device this is all of them: the lanes of a warp stay
 * together, and a division costs as much.
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

	/* where double arithmetic keeps more bits than a double has, not this */
#if !defined(__CUDA_ARCH__) && (!defined(__i386__) || defined(__SSE2_MATH__))
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

	/* 55 bits are needed: 53, one to round, one that may be a leading zero */
	if ((high & 0x1ff) == 0x1ff)
	{
		uint64_t	low_low;
		uint64_t	middle = csv_multiply(digits, power.low, &low_low);

		low += middle;
		if (low < middle)
			high++;
		if (low == UINT64_MAX && (exponent < -27 || exponent > 55))
			return false;
	}
	top_bit = (uint32_t) (high >> 63);
	mantissa = high >> (top_bit + 9);
	binary_exponent = csv_log2_pow10(exponent) + 63 + (int32_t) top_bit -
		(int32_t) shift + 1023;
	if (binary_exponent <= 0)
		return false;

	/*
	 * Exactly between two doubles, which is possible for few powers only: to
	 * the even one, that is, not up from an even one.
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
 * Append the digits from p[pos] on to *digits, modulo 2^64.  Returns the
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

/*
 * Read [+-] digits [separator digits] [e [+-] digits].
 */
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
		/* more than four digits are for those with many leading zeros */
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
		/* take the first 19 that count; far longer texts are nobody's */
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

/* NaN, Inf and Infinity, with the sign that makes sense; bits of a double */
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
 * The double that strtod() gives, rounding to nearest.
 */
CSV_INLINE bool
csv_parse_float8(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				 double *value)
{
	CsvDecimal	decimal;
	uint64_t	bits;

	if (!csv_scan_decimal(p, n, decimal_separator, &decimal))
	{
		if (!csv_scan_special(p, n, &bits))
			return false;
		*value = csv_bits_double(bits);
		return true;
	}
	if (!csv_decimal_to_double(decimal.digits, decimal.exponent, &bits))
		return false;
	if (decimal.truncated)
	{
		uint64_t	above;

		/* what lies between two that round alike rounds so, too */
		if (!csv_decimal_to_double(decimal.digits + 1, decimal.exponent,
								   &above) ||
			above != bits)
			return false;
	}
	*value = csv_bits_double(bits | (uint64_t) decimal.negative << 63);
	return true;
}

/*
 * The float that strtof() gives: rounded once.  A double rounded to a float is
 * rounded twice, which differs only where the double is exactly between two
 * floats and the number is not.
 */
CSV_INLINE bool
csv_parse_float4(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				 float *value)
{
	CsvDecimal	decimal;
	uint64_t	bits;
	int32_t		binary_exponent;

	if (!csv_scan_decimal(p, n, decimal_separator, &decimal))
	{
		if (!csv_scan_special(p, n, &bits))
			return false;
		*value = (float) csv_bits_double(bits);
		return true;
	}
	if (!csv_decimal_to_double(decimal.digits, decimal.exponent, &bits))
		return false;
	if (decimal.truncated)
	{
		uint64_t	above;

		if (!csv_decimal_to_double(decimal.digits + 1, decimal.exponent,
								   &above) ||
			above != bits)
			return false;
	}
	if (bits != 0)
	{
		/* a normal float, and one that does not round up to infinity */
		binary_exponent = (int32_t) (bits >> 52) - 1023;
		if (binary_exponent < -126 ||
			bits >= UINT64_C(0x47effffff0000000))
			return false;

		if ((bits & 0x1fffffff) == 0x10000000)
		{
			uint64_t	digits = decimal.digits;

			/*
			 * Is the number itself the double?  Where a power of ten divides
			 * it, that takes all its fives; then the quotient, below 2^53, is
			 * exact.
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
	*value = (float) csv_bits_double(bits | (uint64_t) decimal.negative << 63);
	return true;
}

/* ---- numeric ---- */

/*
 * Bytes of an array entry of numeric(precision, scale), or with precision -1
 * of numeric: header and digits, a multiple of 4, 28 at most.  That is enough
 * for every value with up to 38 digits; larger ones are doubtful.
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

/* up to 11 base-10000 digits, 16 bits each, the first in the lowest place */
typedef struct CsvNumericDigits
{
	uint64_t	words[3];
} CsvNumericDigits;

/*
 * Add to a digit.  Spelt out, with constant indexes: on the device the
 * words stay in registers.
 */
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

/*
 * Write a numeric as numeric_in would: its digits are grouped by four from the
 * point, groups of zeros at either end dropped, and a zero has no sign.
 * `entry` is aligned to 4 bytes; all of its stride bytes, those of
 * csv_numeric_stride(), are written.
 */
CSV_INLINE bool
csv_parse_numeric(const uint8_t *p, uint32_t n, uint8_t decimal_separator,
				  int32_t precision, int32_t scale, uint8_t *entry,
				  uint32_t stride)
{
	CsvNumericDigits digits = {{0, 0, 0}};
	CsvShortDecimal brief;
	uint32_t	max_digits = (stride - 6) / 2;
	uint32_t	ndigits = 0;	/* up to the last that is not zero */
	int32_t		top = 0;		/* weight of the first */
	bool		negative;
	uint32_t	dscale;
	uint32_t	header;
	uint64_t	rest;

	if (n == 0)
		return false;
	negative = p[0] == '-';
	if (negative || p[0] == '+')
	{
		p++;
		n--;
	}
	if (max_digits > CSV_NUMERIC_DIGITS)
		max_digits = CSV_NUMERIC_DIGITS;

	if (csv_scan_short_decimal(p, n, decimal_separator, &brief) &&
		(precision < 0 || brief.fraction_length <= (uint32_t) scale))
	{
		/* at most two groups before the point and two after it */
		digits.words[0] = csv_two_groups(brief.whole) |
			(uint64_t) csv_two_groups(brief.fraction) << 32;
		dscale = precision < 0 ? brief.fraction_length : (uint32_t) scale;
		if (dscale > 63)
			return false;
		if (digits.words[0] != 0)
		{
			uint32_t	zeros = csv_trailing_zeros(digits.words[0]) / 16;

			digits.words[0] >>= 16 * zeros;
			top = 1 - (int32_t) zeros;
			ndigits = 4 - csv_leading_zeros(digits.words[0]) / 16;
			if (ndigits > max_digits)
				return false;
		}
	}
	else
	{
		uint32_t	whole_length = csv_digit_run(p, n);
		const uint8_t *fraction = p + whole_length;
		uint32_t	fraction_length = 0;
		uint32_t	kept;		/* digits of the fraction that are kept */
		int32_t		weight;

		if (whole_length < n)
		{
			if (*fraction != decimal_separator)
				return false;
			fraction++;
			fraction_length = n - whole_length - 1;
			if (csv_digit_run(fraction, fraction_length) != fraction_length)
				return false;
		}
		if (whole_length + fraction_length == 0)
			return false;
		dscale = precision < 0 ? fraction_length : (uint32_t) scale;
		if (dscale > 63)
			return false;
		kept = fraction_length < dscale ? fraction_length : dscale;

		/* the groups before the point, the first of them perhaps a short one */
		weight = (int32_t) ((whole_length + 3) / 4) - 1;
		for (uint32_t pos = 0; pos < whole_length; weight--)
		{
			uint32_t	length = ((whole_length - pos - 1) & 3) + 1;
			uint32_t	group = csv_four_digits(csv_load_some4(p + pos, length)
												<< (32 - 8 * length));

			pos += length;
			if (group != 0)
			{
				if (ndigits == 0)
					top = weight;
				ndigits = (uint32_t) (top - weight) + 1;
				if (ndigits > max_digits)
					return false;
				csv_numeric_add(&digits, ndigits - 1, group);
			}
		}
		/* those after it, the last of them filled up with zeros */
		for (uint32_t pos = 0; pos < kept; pos += 4, weight--)
		{
			uint32_t	length = kept - pos < 4 ? kept - pos : 4;
			uint32_t	group = csv_four_digits(csv_load_some4(fraction + pos,
															   length));

			if (group != 0)
			{
				if (ndigits == 0)
					top = weight;
				ndigits = (uint32_t) (top - weight) + 1;
				if (ndigits > max_digits)
					return false;
				csv_numeric_add(&digits, ndigits - 1, group);
			}
		}

		/* round half away from zero: add one unit in the last place */
		if (kept < fraction_length && fraction[kept] >= '5')
		{
			uint32_t	unit = 1;

			for (uint32_t i = kept; (i & 3) != 0; i++)
				unit *= 10;
			weight = -(int32_t) ((kept + 3) / 4);
			if (ndigits == 0)
				top = weight;
			if (top - weight >= (int32_t) max_digits)
				return false;
			for (;; weight++, unit = 1)
			{
				uint32_t	index = (uint32_t) (top - weight);

				if (weight > top)
				{
					/* all were nines: what is left is a one above them */
					top = weight;
					ndigits = 1;
					digits.words[0] = 1;
					break;
				}
				if (csv_numeric_digit(&digits, index) + unit < 10000)
				{
					csv_numeric_add(&digits, index, unit);
					ndigits = index + 1;
					break;
				}
				/* to zero, and carry */
				csv_numeric_add(&digits, index,
								0 - (uint64_t) csv_numeric_digit(&digits, index));
			}
		}
	}

	if (precision >= 0 && ndigits > 0 && top >= 0)
	{
		uint32_t	first = (uint32_t) digits.words[0] & 0xffff;
		int32_t		length = top * 4 + 1 + (first >= 10) + (first >= 100) +
			(first >= 1000);

		if (length > precision - scale)
			return false;
	}
	if (ndigits == 0)
	{
		top = 0;
		negative = false;
	}
	if (top < -64 || top > 63)
		return false;

	/* NumericShort: 10, sign, dscale in 6 bits, weight in 7 */
	header = 0x8000 | (uint32_t) negative << 13 | dscale << 7 |
		((uint32_t) top & 0x7f);
	csv_store4(entry, (6 + 2 * ndigits) << 2);
	csv_store4(entry + 4, header | (uint32_t) digits.words[0] << 16);
	/* one by one: see csv_store4 */
	rest = digits.words[0] >> 16 | digits.words[1] << 48;
	if (stride > 8)
		csv_store4(entry + 8, (uint32_t) rest);
	if (stride > 12)
		csv_store4(entry + 12, (uint32_t) (rest >> 32));
	rest = digits.words[1] >> 16 | digits.words[2] << 48;
	if (stride > 16)
		csv_store4(entry + 16, (uint32_t) rest);
	if (stride > 20)
		csv_store4(entry + 20, (uint32_t) (rest >> 32));
	if (stride > 24)
		csv_store4(entry + 24, (uint32_t) (digits.words[2] >> 16));
	return true;
}

/* ---- decimal ---- */

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
 * A numeric(precision, scale), 1 <= precision <= 38, as an integer times
 * 10^scale.  Takes and refuses the same as csv_parse_numeric(), and rounds as
 * it does: half away from zero.
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
	negative = p[0] == '-';
	if (negative || p[0] == '+')
	{
		p++;
		n--;
	}
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
		uint32_t	whole_length = csv_digit_run(p, n);
		const uint8_t *fraction = p + whole_length;
		uint32_t	fraction_length = 0;
		uint32_t	kept;		/* digits of the fraction that are kept */

		if (whole_length < n)
		{
			if (*fraction != decimal_separator)
				return false;
			fraction++;
			fraction_length = n - whole_length - 1;
			if (csv_digit_run(fraction, fraction_length) != fraction_length)
				return false;
		}
		if (whole_length + fraction_length == 0)
			return false;
		kept = fraction_length < (uint32_t) scale ? fraction_length :
			(uint32_t) scale;
		while (whole_length > 0 && *p == '0')
		{
			p++;
			whole_length--;
		}
		if (whole_length > most_whole)
			return false;
		decimal = csv_append_digits(0, p, whole_length);
		decimal = csv_append_digits(decimal, fraction, kept);
		decimal *= csv_power_of_ten(scale - kept);
		if (kept < fraction_length && fraction[kept] >= '5')
			decimal++;
	}
	if (decimal >= csv_power_of_ten(precision))
		return false;
	*value = negative ? -(__int128) decimal : (__int128) decimal;
	return true;
}

/* ---- dates and times ---- */

/*
 * Days since 2000-01-01 of YYYY-MM-DD, which is read so under every DateStyle:
 * a first part of three or more digits is the year.
 */
CSV_INLINE bool
csv_parse_date(const uint8_t *p, uint32_t n, int32_t *days)
{
	const uint64_t pattern = UINT64_C(0x2d30302d30303030);	/* 0000-00- */
	uint64_t	word;
	uint32_t	year;
	uint32_t	month;
	uint32_t	day;
	uint32_t	ten;
	uint32_t	one;
	uint32_t	month_days;

	if (n != 10)
		return false;
	word = csv_load8(p) ^ pattern;
	ten = (uint32_t) p[8] - '0';
	one = (uint32_t) p[9] - '0';
	/* 0 to 9 in the places of digits, 0 in those of hyphens */
	if (((((word & CSV_EACH_BYTE(0x7f)) + UINT64_C(0x7f76767f76767676)) | word) &
		 CSV_EACH_BYTE(0x80)) != 0 || ten > 9 || one > 9)
		return false;
	year = csv_four_digits((uint32_t) word);
	month = ((uint32_t) (word >> 40) & 0xf) * 10 +
		((uint32_t) (word >> 48) & 0xf);
	day = ten * 10 + one;

	if (year < 1 || month < 1 || month > 12 || day < 1)
		return false;
	if (month == 2)
		month_days = 28 + ((year & 3) == 0 &&
						   (year % 25 != 0 || (year & 15) == 0));
	else
		month_days = 30 + ((month + (month >> 3)) & 1);
	if (day > month_days)
		return false;

	/* count from March, which puts the leap day at the end of the year */
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
 * Read a date and, where there is more, a time of day, from the start of the
 * text.  Returns the length of what was read, 0 where it is doubtful.
 */
CSV_INLINE uint32_t
csv_scan_timestamp(const uint8_t *p, uint32_t n, int32_t precision,
				   int64_t *microseconds)
{
	int32_t		days;
	uint32_t	hour;
	uint32_t	minute;
	uint32_t	second = 0;
	uint32_t	fraction = 0;
	uint32_t	used;
	uint32_t	tens;

	if (n < 10 || !csv_parse_date(p, 10, &days))
		return 0;
	if (n == 10)
	{
		*microseconds = days * INT64_C(86400000000);
		return 10;
	}
	if (n < 16 || (p[10] != ' ' && p[10] != 'T') || p[13] != ':')
		return 0;
	tens = (uint32_t) p[11] - '0';
	hour = (uint32_t) p[12] - '0';
	if (tens > 2 || hour > 9)
		return 0;
	hour += tens * 10;
	tens = (uint32_t) p[14] - '0';
	minute = (uint32_t) p[15] - '0';
	if (hour > 23 || tens > 5 || minute > 9)
		return 0;
	minute += tens * 10;
	used = 16;

	if (n >= 19 && p[16] == ':')
	{
		tens = (uint32_t) p[17] - '0';
		second = (uint32_t) p[18] - '0';
		if (tens > 5 || second > 9)
			return 0;
		second += tens * 10;
		used = 19;
		if (n > 19 && p[19] == '.')
		{
			uint32_t	rest = n - 20 < 8 ? n - 20 : 8;
			uint64_t	word = csv_load_some(p + 20, rest);
			uint64_t	stop = csv_not_digits(word);
			uint32_t	length;

			if (stop == 0)
				return 0;
			length = csv_trailing_zeros(stop) / 8;
			if (length < 1 || length > 6 ||
				(precision >= 0 && length > (uint32_t) precision))
				return 0;
			/* two leading zeros, then the digits and trailing zeros */
			word &= (UINT64_C(1) << 8 * length) - 1;
			fraction = csv_eight_digits(word << 16);
			used = 20 + length;
		}
	}
	*microseconds = days * INT64_C(86400000000) +
		(int64_t) (hour * 3600 + minute * 60 + second) * 1000000 + fraction;
	return used;
}

/*
 * Microseconds since 2000-01-01 00:00.  precision: most digits the fraction
 * may have, or -1.
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
 * Microseconds since 2000-01-01 00:00 UTC.  Only where the text has a zone, as
 * an offset (up to 15:59, as PostgreSQL) or Z: without one, the session's
 * applies.
 */
CSV_INLINE bool
csv_parse_timestamptz(const uint8_t *p, uint32_t n, int32_t precision,
					  int64_t *microseconds)
{
	int64_t		local;
	uint32_t	used;
	int32_t		offset = 0;		/* minutes */

	used = csv_scan_timestamp(p, n, precision, &local);
	/* a date alone has its end at 10 */
	if (used <= 10 || used >= n)
		return false;
	p += used;
	n -= used;

	if (n != 1 || p[0] != 'Z')
	{
		bool		west;
		uint32_t	hour;
		uint32_t	minute = 0;
		uint32_t	digit;

		if (p[0] == ' ')
		{
			p++;
			n--;
		}
		/* +HH, +HHMM, +HH:MM */
		if (n < 3 || n > 6 || n == 4 || (n == 6 && p[3] != ':'))
			return false;
		west = p[0] == '-';
		if (!west && p[0] != '+')
			return false;
		hour = (uint32_t) p[1] - '0';
		digit = (uint32_t) p[2] - '0';
		if (hour > 1 || digit > 9)
			return false;
		hour = hour * 10 + digit;
		if (n > 3)
		{
			minute = (uint32_t) p[n - 2] - '0';
			digit = (uint32_t) p[n - 1] - '0';
			if (minute > 5 || digit > 9)
				return false;
			minute = minute * 10 + digit;
		}
		if (hour > 15)
			return false;
		offset = (int32_t) (hour * 60 + minute);
		if (west)
			offset = -offset;
	}
	*microseconds = local - offset * INT64_C(60000000);
	return true;
}

/* ---- uuid ---- */

/*
 * The four bytes that eight hexadecimal digits stand for, the first of them
 * the lowest.  *bad gets bits where a byte is no such digit.
 */
CSV_INLINE uint32_t
csv_eight_hex_digits(uint64_t word, uint64_t *bad)
{
	uint64_t	low7 = word & CSV_EACH_BYTE(0x7f);
	uint64_t	lower = low7 | CSV_EACH_BYTE(0x20);
	uint64_t	digits;			/* the top bit of bytes that are 0 to 9 */
	uint64_t	letters;		/* and A to F */
	uint64_t	nibbles;

	digits = (low7 + CSV_EACH_BYTE(0x80 - '0')) &
		~(low7 + CSV_EACH_BYTE(0x7f - '9'));
	letters = (lower + CSV_EACH_BYTE(0x80 - 'a')) &
		~(lower + CSV_EACH_BYTE(0x7f - 'f')) & CSV_EACH_BYTE(0x80);
	*bad |= (word | ~(digits | letters)) & CSV_EACH_BYTE(0x80);

	nibbles = (word & CSV_EACH_BYTE(0x0f)) + (letters >> 7) * 9;
	nibbles = (nibbles << 4 | nibbles >> 8) & UINT64_C(0x00ff00ff00ff00ff);
	nibbles = (nibbles | nibbles >> 8) & UINT64_C(0x0000ffff0000ffff);
	return (uint32_t) (nibbles | nibbles >> 16);
}

/*
 * 16 bytes, in the order of the text; `uuid` is aligned to 4 bytes.
 */
CSV_INLINE bool
csv_parse_uuid(const uint8_t *p, uint32_t n, uint8_t *uuid)
{
	uint64_t	bad = 0;
	uint64_t	second;
	uint64_t	third;
	uint32_t	words[4];

	if (n == 36)
	{
		if (p[8] != '-' || p[13] != '-' || p[18] != '-' || p[23] != '-')
			return false;
		second = csv_load4(p + 9) | (uint64_t) csv_load4(p + 14) << 32;
		third = csv_load4(p + 19) | (uint64_t) csv_load4(p + 24) << 32;
	}
	else if (n == 32)
	{
		second = csv_load8(p + 8);
		third = csv_load8(p + 16);
	}
	else
		return false;
	words[0] = csv_eight_hex_digits(csv_load8(p), &bad);
	words[1] = csv_eight_hex_digits(second, &bad);
	words[2] = csv_eight_hex_digits(third, &bad);
	words[3] = csv_eight_hex_digits(csv_load8(p + n - 8), &bad);
	if (bad != 0)
		return false;
	memcpy(__builtin_assume_aligned(uuid, 4), words, 16);
	return true;
}

/* ---- by kind ---- */

/* is it what isspace() knows in ASCII? */
CSV_INLINE bool
csv_is_space(uint8_t byte)
{
	return byte == ' ' || (uint8_t) (byte - '\t') <= '\r' - '\t';
}

/* the text without the blanks around it; may be empty */
CSV_INLINE void
csv_trim_spaces(const uint8_t **p, uint32_t *n)
{
	while (*n > 0 && csv_is_space((*p)[*n - 1]))
		(*n)--;
	while (*n > 0 && csv_is_space((*p)[0]))
	{
		(*p)++;
		(*n)--;
	}
}

/*
 * Bytes of an array entry; 0 for TEXT and CSTRING, whose width depends on the
 * data.
 */
CSV_INLINE uint32_t
csv_value_stride(const CsvColumn *column)
{
	switch (column->kind)
	{
		case CSV_KIND_BOOL:
			return 1;
		case CSV_KIND_INT2:
			return 2;
		case CSV_KIND_INT4:
		case CSV_KIND_FLOAT4:
		case CSV_KIND_DATE:
			return 4;
		case CSV_KIND_INT8:
		case CSV_KIND_FLOAT8:
		case CSV_KIND_TIMESTAMP:
		case CSV_KIND_TIMESTAMPTZ:
		case CSV_KIND_DECIMAL64:
			return 8;
		case CSV_KIND_UUID:
		case CSV_KIND_DECIMAL128:
			return 16;
		case CSV_KIND_NUMERIC:
			return csv_numeric_stride(column->precision, column->scale);
		default:
			return 0;
	}
}

/*
 * Convert the text of a value of any kind but TEXT and CSTRING, with blanks
 * around it where its input function takes them.  `entry` has
 * stride bytes, csv_value_stride() of them, and is aligned as its kind asks: to
 * its size up to 8 bytes, a numeric to 4.  Where the result is false, the
 * value is doubtful and the entry is zero.
 */
CSV_INLINE bool
csv_convert_value(const CsvColumn *column, uint8_t decimal_separator,
				  const uint8_t *p, uint32_t n, uint8_t *entry,
				  uint32_t stride)
{
	uint64_t	value8 = 0;
	uint32_t	value4 = 0;
	int64_t		integer = 0;
	bool		ok = false;

	/* one thread reads all of it, which must not take long */
	if (n > CSV_MOST_SCALAR_BYTES)
		n = 0;
	if (column->kind != CSV_KIND_UUID)
		csv_trim_spaces(&p, &n);
	switch (column->kind)
	{
		case CSV_KIND_BOOL:
			{
				bool		value = false;

				ok = csv_parse_bool(p, n, &value);
				*entry = value;
				return ok;
			}
		case CSV_KIND_INT2:
			{
				int16_t		value2;

				ok = csv_parse_int(p, n, INT16_MIN, INT16_MAX, &integer);
				value2 = (int16_t) integer;
				memcpy(__builtin_assume_aligned(entry, 2), &value2, 2);
				return ok;
			}
		case CSV_KIND_INT4:
			ok = csv_parse_int(p, n, INT32_MIN, INT32_MAX, &integer);
			value4 = (uint32_t) integer;
			break;
		case CSV_KIND_INT8:
			ok = csv_parse_int(p, n, INT64_MIN, INT64_MAX, &integer);
			value8 = (uint64_t) integer;
			break;
		case CSV_KIND_FLOAT4:
			{
				float		value = 0;

				ok = csv_parse_float4(p, n, decimal_separator, &value);
				memcpy(&value4, &value, 4);
				break;
			}
		case CSV_KIND_FLOAT8:
			{
				double		value = 0;

				ok = csv_parse_float8(p, n, decimal_separator, &value);
				value8 = csv_double_bits(value);
				break;
			}
		case CSV_KIND_DATE:
			{
				int32_t		value = 0;

				ok = csv_parse_date(p, n, &value);
				value4 = (uint32_t) value;
				break;
			}
		case CSV_KIND_TIMESTAMP:
			ok = csv_parse_timestamp(p, n, column->precision, &integer);
			value8 = (uint64_t) integer;
			break;
		case CSV_KIND_TIMESTAMPTZ:
			ok = csv_parse_timestamptz(p, n, column->precision, &integer);
			value8 = (uint64_t) integer;
			break;
		case CSV_KIND_UUID:
			ok = csv_parse_uuid(p, n, entry);
			break;
		case CSV_KIND_NUMERIC:
			ok = csv_parse_numeric(p, n, decimal_separator, column->precision,
								   column->scale, entry, stride);
			break;
		case CSV_KIND_DECIMAL64:
		case CSV_KIND_DECIMAL128:
			{
				__int128	value = 0;

				ok = csv_parse_decimal(p, n, decimal_separator,
									   column->precision, column->scale,
									   &value);
				value8 = (uint64_t) value;
				if (column->kind == CSV_KIND_DECIMAL128)
				{
					uint64_t	high8 = (uint64_t) (value >> 64);

					memcpy(__builtin_assume_aligned(entry, 8), &value8, 8);
					memcpy(__builtin_assume_aligned(entry + 8, 8), &high8, 8);
				}
				break;
			}
		default:
			break;
	}

	if (stride == 4)
		csv_store4(entry, value4);
	else if (stride == 8 && column->kind != CSV_KIND_NUMERIC)
		memcpy(__builtin_assume_aligned(entry, 8), &value8, 8);
	else if (!ok && stride >= 8)
	{
		csv_store4(entry, 0);
		csv_store4(entry + 4, 0);
		if (stride > 8)
			csv_store4(entry + 8, 0);
		if (stride > 12)
			csv_store4(entry + 12, 0);
		if (stride > 16)
			csv_store4(entry + 16, 0);
		if (stride > 20)
			csv_store4(entry + 20, 0);
		if (stride > 24)
			csv_store4(entry + 24, 0);
	}
	return ok;
}

#ifdef __cplusplus
}
#endif

#endif							/* CSV_CONVERT_H */
