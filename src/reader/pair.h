/*
 * pair.h
 *		Sixteen bytes as a vector of two 64-bit words, which gcc and clang have on
 *		every processor.
 */
#ifndef CSV_PAIR_H
#define CSV_PAIR_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
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

/* the low bit of each of the sixteen bytes, which are 0 or 0xFF */
static inline uint32_t
csv_pair_bits(CsvPair pair)
{
#ifdef __SSE2__
	return (uint32_t) _mm_movemask_epi8((__m128i) pair);
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
