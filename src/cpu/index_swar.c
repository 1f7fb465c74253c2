/*
 * index_swar.c
 *		The index by portable C: the bytes of 64-bit words side by side.
 *
 * A byte of (word ^ cccccccc) is zero where the byte equals c.  Adding 0x7F to
 * the low seven bits of each byte carries into its high bit unless they are
 * zero, and never into the next byte; so the high bits tell the bytes apart
 * exactly (unlike the shorter subtract-and-borrow test, which may mark a byte
 * after a match).  Where all of a block is ASCII, and so is c, the high bits
 * are free, and need not be set aside for that.
 *
 * The high bits of eight words are moved into one, bit i of byte j for byte j
 * of word i.  As a matrix of 8 by 8 bits, transposed, that is a bit per byte in
 * their order.
 *
 * Words go in pairs, of which compilers make one register where there are such,
 * and two else.
 *
 * This follows the broadword technique for parsing (Knuth, The Art of Computer
 * Programming, vol. 4A, 7.1.3; applied to CSV with rank-select bit-strings);
 * transposing is from Warren, Hacker's Delight, 7-3.
 */
#include "index.h"

#include <string.h>

#define ONES	UINT64_C(0x0101010101010101)
#define LOWS	UINT64_C(0x7F7F7F7F7F7F7F7F)
#define HIGHS	UINT64_C(0x8080808080808080)

typedef uint64_t CsvPair __attribute__((vector_size(16)));

typedef struct CsvBlock
{
	const uint8_t *bytes;
	bool		plain;			/* none has the value 0 or the high bit */
} CsvBlock;

/* words 2 * i and 2 * i + 1 of a block */
static inline CsvPair
load_pair(const uint8_t *bytes, int i)
{
	CsvPair		pair;

	memcpy(&pair, bytes + 16 * i, 16);
	return pair;
}

static inline __attribute__((always_inline)) CsvBlock
block_load(const uint8_t *p)
{
	CsvBlock	block = {p, false};
	CsvPair		found = {0, 0};

	/* the lowest zero byte, if there is one, borrows its high bit */
	for (int i = 0; i < 4; i++)
		found |= load_pair(p, i) | (load_pair(p, i) - ONES);
	block.plain = ((found[0] | found[1]) & HIGHS) == 0;
	return block;
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

static inline __attribute__((always_inline)) uint64_t
block_equal(CsvBlock block, uint8_t byte)
{
	const uint64_t pattern = ONES * byte;
	CsvPair		others = {0, 0};	/* in the end, every second bit */

	if (__builtin_expect(block.plain && byte < 0x80, 1))
		for (int i = 0; i < 4; i++)
		{
			CsvPair		pair = load_pair(block.bytes, i) ^ pattern;

			others = others >> 2 | ((pair + LOWS) & HIGHS);
		}
	else
		for (int i = 0; i < 4; i++)
		{
			CsvPair		pair = load_pair(block.bytes, i) ^ pattern;

			others = others >> 2 | ((((pair & LOWS) + LOWS) | pair) & HIGHS);
		}
	return transpose_bits(~(others[0] >> 1 | others[1]));
}

static inline bool
block_unplain(CsvBlock block)
{
	return !block.plain;
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
