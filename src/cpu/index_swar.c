/*
 * index_swar.c
 *		The index by portable C: eight bytes at a time in a 64-bit word.
 *
 * A byte of (word ^ cccccccc) is zero where the byte equals c.  Adding 0x7F to
 * the low seven bits of each byte carries into its high bit unless they are
 * zero, and never into the next byte; so the high bits tell the bytes apart
 * exactly (unlike the shorter subtract-and-borrow test, which may mark a byte
 * after a match).  One multiplication then gathers the eight high bits.
 *
 * This follows the broadword technique for parsing (Knuth, The Art of Computer
 * Programming, vol. 4A, 7.1.3; applied to CSV with rank-select bit-strings).
 */
#include "index.h"

#include <string.h>

#define ONES	UINT64_C(0x0101010101010101)
#define LOWS	UINT64_C(0x7F7F7F7F7F7F7F7F)
#define HIGHS	UINT64_C(0x8080808080808080)

typedef struct CsvBlock
{
	uint64_t	words[8];
} CsvBlock;

static inline CsvBlock
block_load(const uint8_t *p)
{
	CsvBlock	block;

	memcpy(block.words, p, sizeof(block.words));
	return block;
}

/* the high bit of each byte that is zero */
static inline uint64_t
zero_bytes(uint64_t word)
{
	return ~(((word & LOWS) + LOWS) | word) & HIGHS;
}

/* the high bits of the bytes, as the low eight bits */
static inline uint64_t
gather_high_bits(uint64_t word)
{
	return ((word >> 7) * UINT64_C(0x0102040810204080)) >> 56;
}

static inline uint64_t
block_equal(CsvBlock block, uint8_t byte)
{
	uint64_t	pattern = ONES * byte;
	uint64_t	bits = 0;

	for (int i = 0; i < 8; i++)
		bits |= gather_high_bits(zero_bytes(block.words[i] ^ pattern)) << (8 * i);
	return bits;
}

static inline bool
block_unplain(CsvBlock block)
{
	uint64_t	found = 0;

	for (int i = 0; i < 8; i++)
		found |= (block.words[i] & HIGHS) | zero_bytes(block.words[i]);
	return found != 0;
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
