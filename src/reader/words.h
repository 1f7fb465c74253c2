/*
 * words.h
 *		Text as 64-bit words, and the digits in them.
 *
 * Text is processed eight bytes at a time, as a 64-bit word in which byte i of the
 * text has the weight 2^(8i) (Lamport, "Multiple byte processing with full-word
 * instructions", CACM 18, 1975).  The device loads only aligned words of 32 bits; a
 * 64-bit word is made of two or three of them.
 *
 * This header is C and CUDA C++.
 */
#ifndef CSV_WORDS_H
#define CSV_WORDS_H

#include <string.h>

#include "reader.h"

/* a byte in each of the eight places of a word */
#define CSV_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

#ifdef __CUDA_ARCH__
/*
 * The n bytes at p, 1 <= n <= 8, in the low bytes of the result; the bytes above have
 * no meaning.  Only aligned words that contain one of the n bytes are read.
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
	/* two loads that overlap, if there is no load of that size */
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
/* store four bytes at an address aligned to 4 */
CSV_INLINE void
csv_store4(uint8_t *p, uint32_t value)
{
	memcpy(__builtin_assume_aligned(p, 4), &value, 4);
}

/*
 * Store an entry of `stride` bytes, 8 to 28 and a multiple of 4.
 *
 * There is no loop over the stride: its counter would be the same in all lanes of a
 * warp, and ptxas 13.0 kept it in a uniform register that other lanes still needed.
 */
CSV_INLINE void
csv_store_words(uint8_t *entry, uint32_t stride, const uint32_t words[7])
{
	csv_store4(entry, words[0]);
	csv_store4(entry + 4, words[1]);
	if (stride > 8)
		csv_store4(entry + 8, words[2]);
	if (stride > 12)
		csv_store4(entry + 12, words[3]);
	if (stride > 16)
		csv_store4(entry + 16, words[4]);
	if (stride > 20)
		csv_store4(entry + 20, words[5]);
	if (stride > 24)
		csv_store4(entry + 24, words[6]);
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

/* the number of digits at the start of the word */
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
 * The number of eight digits, the first in the lowest byte.  Zero bytes count as
 * zeros, so a shorter number must be shifted up.
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

/* the number of digits at the start of the text */
CSV_INLINE uint32_t
csv_digit_run(const uint8_t *p, uint32_t n)
{
	uint32_t	run = 0;

	for (;;)
	{
		uint32_t	rest = n - run;
		uint32_t	count;

		/* a short rest ends with zero bytes, which are not digits */
		count = csv_leading_digits(csv_load_some(p + run, rest < 8 ? rest : 8));
		run += count;
		if (count < 8)
			return run;
	}
}

/* does a number, of n >= 1 bytes, start with a minus?  Skips its sign. */
CSV_INLINE bool
csv_take_sign(const uint8_t **p, uint32_t *n)
{
	bool		negative = **p == '-';

	if (negative || **p == '+')
	{
		(*p)++;
		(*n)--;
	}
	return negative;
}

/* ---- bits of numbers ---- */

/* the 128-bit product of two 64-bit numbers; returns the high half */
CSV_INLINE uint64_t
csv_multiply(uint64_t a, uint64_t b, uint64_t *low)
{
#ifdef __CUDA_ARCH__
	*low = a * b;
	return __umul64hi(a, b);
#else
	unsigned __int128 product = (unsigned __int128) a * b;

	*low = (uint64_t) product;
	return (uint64_t) (product >> 64);
#endif
}

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

#endif							/* CSV_WORDS_H */
