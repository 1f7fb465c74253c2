/*
 * index_swar.c
 *		The index in portable C, with all bytes of a 64-bit word at a time.
 *
 * A byte of (word ^ cccccccc) is zero if the byte of the word equals c.  Adding 0x7F
 * to the low seven bits of each byte carries into its high bit, unless they are zero,
 * and never into the next byte.  So the high bits are exact, unlike in the shorter
 * subtract-and-borrow test, which may mark a byte after a match.
 *
 * The high bits of eight words are moved into one word: bit i of byte j is for byte j
 * of word i.  This is a matrix of 8 by 8 bits.  Transposed, it has a bit per byte, in
 * the order of the bytes.
 *
 * Words are in pairs.  Compilers put a pair into one register of 128 bits if there are
 * such registers, otherwise into two.  If every processor of the architecture can
 * compare bytes in such a register (64-bit x86, ARM), this replaces the arithmetic.
 * 64-bit ARM also adds neighbours there, which replaces the transposition.
 *
 * This follows the broadword technique for parsing (Knuth, The Art of Computer
 * Programming, vol. 4A, 7.1.3; applied to CSV with rank-select bit-strings).  The
 * transposition is from Warren, Hacker's Delight, 7-3.
 */
#include "index.h"

#include "../reader/pair.h"

#define LOWS	UINT64_C(0x7F7F7F7F7F7F7F7F)

typedef const uint8_t *CsvIndexBlock;

static inline CsvIndexBlock
block_load(const uint8_t *p)
{
	return p;
}

/* words 2 * i and 2 * i + 1 */
static inline CsvPair
load_pair(CsvIndexBlock block, int i)
{
	return csv_load_pair(block + 16 * i);
}

#ifdef __aarch64__
/* of each byte that equals the pattern's, the bit of its place among eight */
static inline uint8x16_t
equal_places(CsvIndexBlock block, int i, uint8x16_t pattern)
{
	return csv_place_bits(vceqq_u8(vld1q_u8(block + 16 * i), pattern));
}

static inline uint64_t
block_equal(CsvIndexBlock block, uint8_t byte)
{
	const uint8x16_t pattern = vdupq_n_u8(byte);
	uint8x16_t	sums = vpaddq_u8(vpaddq_u8(equal_places(block, 0, pattern),
										   equal_places(block, 1, pattern)),
								 vpaddq_u8(equal_places(block, 2, pattern),
										   equal_places(block, 3, pattern)));

	return vgetq_lane_u64((uint64x2_t) vpaddq_u8(sums, sums), 0);
}
#else
/* the high bit of each byte of a pair that equals the byte of the pattern */
static inline CsvPair
equal_bytes(CsvIndexBlock block, int i, CsvPair pattern)
{
	CsvPair		pair = load_pair(block, i);

#if defined(__SSE2__) || defined(__ARM_NEON)
	return (CsvPair) ((CsvBytes) pair == (CsvBytes) pattern) & CSV_HIGHS;
#else
	pair ^= pattern;
	return ~(((pair & LOWS) + LOWS) | pair) & CSV_HIGHS;
#endif
}

/* exchange bit i of byte j with bit j of byte i */
static inline uint64_t
transpose_bits(uint64_t word)
{
	uint64_t	differ;

	differ = (word ^ word >> 7) & UINT64_C(0x00AA00AA00AA00AA);
	word ^= differ ^ differ << 7;
	differ = (word ^ word >> 14) & UINT64_C(0x0000CCCC0000CCCC);
	word ^= differ ^ differ << 14;
	differ = (word ^ word >> 28) & UINT64_C(0x00000000F0F0F0F0);
	return word ^ differ ^ differ << 28;
}

static inline uint64_t
block_equal(CsvIndexBlock block, uint8_t byte)
{
	const CsvPair pattern = {CSV_ONES * byte, CSV_ONES * byte};
	CsvPair		found = equal_bytes(block, 0, pattern) >> 6 |
		equal_bytes(block, 1, pattern) >> 4 |
		equal_bytes(block, 2, pattern) >> 2 |
		equal_bytes(block, 3, pattern);

	/* bits 1, 3, 5, 7 of each byte; found[0] is of words 0, 2, 4, 6 */
	return transpose_bits(found[0] >> 1 | found[1]);
}
#endif

static inline bool
block_unplain(CsvIndexBlock block)
{
	CsvPair		found = {0, 0};

	for (int i = 0; i < 4; i++)
		found |= csv_pair_unplain(load_pair(block, i));
	return (found[0] | found[1]) != 0;
}

static inline uint64_t
prefix_xor(uint64_t word)
{
	word ^= word << 1;
	word ^= word << 2;
	word ^= word << 4;
	word ^= word << 8;
	word ^= word << 16;
	word ^= word << 32;
	return word;
}

#define word_positions csv_list_bits
#define CSV_INDEX_FUNCTIONS csv_index_swar
#include "index_loop.h"
