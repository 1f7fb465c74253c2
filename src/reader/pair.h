/*
 * pair.h
 *		Sixteen bytes as a vector of two 64-bit words, which gcc and clang have on
 *		every processor.
 */
#ifndef CSV_PAIR_H
#define CSV_PAIR_H

#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef uint64_t CsvPair __attribute__((vector_size(16)));
typedef uint8_t CsvBytes __attribute__((vector_size(16)));

/* one bit of each byte of a word: the lowest, the highest */
#define CSV_ONES	UINT64_C(0x0101010101010101)
#define CSV_HIGHS	UINT64_C(0x8080808080808080)

static inline CsvPair
csv_load_pair(const uint8_t *p)
{
	CsvPair		pair;

	memcpy(&pair, p, sizeof(pair));
	return pair;
}

#ifdef __aarch64__
/* of each byte, which is 0 or 0xFF, the bit of its place among eight */
static inline uint8x16_t
csv_place_bits(uint8x16_t bytes)
{
	return vandq_u8(bytes, (uint8x16_t) vdupq_n_u64(UINT64_C(0x8040201008040201)));
}
#endif

/* the low bit of each of the sixteen bytes, which are 0 or 0xFF */
static inline uint32_t
csv_pair_bits(CsvPair pair)
{
#if defined(__SSE2__)
	return (uint32_t) _mm_movemask_epi8((__m128i) pair);
#elif defined(__aarch64__)
	uint8x16_t	sums = csv_place_bits((uint8x16_t) pair);

	/* of neighbours, three times: a byte has the bits of eight */
	sums = vpaddq_u8(sums, sums);
	sums = vpaddq_u8(sums, sums);
	sums = vpaddq_u8(sums, sums);
	return vgetq_lane_u16((uint16x8_t) sums, 0);
#else
	/* each byte's bit moves to the product's highest byte */
	pair = (pair & CSV_ONES) * UINT64_C(0x0102040810204080);
	return (uint32_t) (pair[0] >> 56 | pair[1] >> 56 << 8);
#endif
}

/*
 * All high bits are 0 if all bytes are ASCII and not zero.  Otherwise some high bits
 * are
 * 1: the subtraction sets the high bit of the lowest zero byte by a borrow.
 */
static inline CsvPair
csv_pair_unplain(CsvPair pair)
{
	return (pair | (pair - CSV_ONES)) & CSV_HIGHS;
}

#endif							/* CSV_PAIR_H */
