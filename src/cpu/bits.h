/*
 * bits.h
 *		Bit-strings with select.
 *
 * Bit i of a bit-string stands for byte i of the input, and is bit i % 64 of word
 * i / 64.  The rank of a bit is the number of bits that are set before it; select finds
 * the position of a rank.  The functions are portable C.  Files that are compiled for
 * processors with POPCNT (index_avx2.c and others) use that instruction, and those for
 * 64-bit ARM its vectors' counts of bits.
 */
#ifndef CSV_BITS_H
#define CSV_BITS_H

#include <stdint.h>

#define CSV_WORD_BITS		64
#define CSV_WORD(pos)		((pos) / CSV_WORD_BITS)
#define CSV_BIT(pos)		((uint64_t) 1 << ((pos) % CSV_WORD_BITS))

/* all bits below the bit of a position */
#define CSV_BITS_BELOW(pos) (CSV_BIT(pos) - 1)

static inline uint32_t
csv_popcount(uint64_t word)
{
#if defined(__POPCNT__) || defined(__aarch64__)
	return (uint32_t) __builtin_popcountll(word);
#else
	/* sums of 2, 4 and 8 bits side by side, then one multiplication */
	word -= (word >> 1) & UINT64_C(0x5555555555555555);
	word = (word & UINT64_C(0x3333333333333333)) +
		((word >> 2) & UINT64_C(0x3333333333333333));
	word = (word + (word >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
	return (uint32_t) ((word * UINT64_C(0x0101010101010101)) >> 56);
#endif
}

/* the same, for words that usually have at most one bit set */
static inline uint32_t
csv_popcount_few(uint64_t word)
{
#ifndef __POPCNT__
	if ((word & (word - 1)) == 0)
		return word != 0;
#endif
	return csv_popcount(word);
}

/* number of the lowest bit that is set; the word must not be zero */
static inline uint32_t
csv_lowest_bit(uint64_t word)
{
	return (uint32_t) __builtin_ctzll(word);
}

/*
 * Write base + the number of each bit that is set, eight numbers at a time; numbers
 * after the last bit have no meaning.  The processor could not predict the end of a
 * loop that wrote no further numbers.
 */
static inline void
csv_list_bits(uint64_t word, uint32_t base, uint32_t *numbers)
{
	uint32_t	count = csv_popcount(word);

	for (uint32_t done = 0; done < count; done += 8)
		for (uint32_t k = 0; k < 8; k++)
		{
			numbers[done + k] = base + csv_lowest_bit(word | CSV_BIT(63));
			word &= word - 1;
		}
}

/* number of the n-th (from 0) bit that is set; it must exist */
static inline uint32_t
csv_select_in_word(uint64_t word, uint32_t n)
{
	while (n-- > 0)
		word &= word - 1;
	return csv_lowest_bit(word);
}

/* position of the n-th (from 0) bit that is set at or after `from`; it must exist */
static inline uint64_t
csv_select_from(const uint64_t *words, uint64_t from, uint64_t n)
{
	uint64_t	index = CSV_WORD(from);
	uint64_t	word = words[index] & ~CSV_BITS_BELOW(from);

	for (;;)
	{
		uint32_t	count = csv_popcount(word);

		if (n < count)
			return index * CSV_WORD_BITS + csv_select_in_word(word, (uint32_t) n);
		n -= count;
		word = words[++index];
	}
}

/*
 * Is any bit set in [from, to)?  There must be one more word behind the word of `to`:
 * most ranges are short, and are checked without a branch on whether they span two
 * words.
 */
static inline int
csv_any_between(const uint64_t *words, uint64_t from, uint64_t to)
{
	uint64_t	first = CSV_WORD(from);
	uint64_t	last = CSV_WORD(to);

	if (from >= to)
		return 0;
	if (to - from <= CSV_WORD_BITS)
	{
		uint32_t	shift = from % CSV_WORD_BITS;
		uint64_t	bits = words[first] >> shift |
			words[first + 1] << 1 << (CSV_WORD_BITS - 1 - shift);

		return bits << (CSV_WORD_BITS - (to - from)) != 0;
	}
	if (first == last)
		return (words[first] & CSV_BITS_BELOW(to) & ~CSV_BITS_BELOW(from)) != 0;
	if ((words[first] & ~CSV_BITS_BELOW(from)) != 0)
		return 1;
	for (uint64_t i = first + 1; i < last; i++)
		if (words[i] != 0)
			return 1;
	return CSV_BITS_BELOW(to) != 0 && (words[last] & CSV_BITS_BELOW(to)) != 0;
}

/* clear the bits in [from, to) */
static inline void
csv_clear_between(uint64_t *words, uint64_t from, uint64_t to)
{
	uint64_t	first = CSV_WORD(from);
	uint64_t	last = CSV_WORD(to);

	if (from >= to)
		return;
	if (first == last)
	{
		words[first] &= CSV_BITS_BELOW(from) | ~CSV_BITS_BELOW(to);
		return;
	}
	words[first] &= CSV_BITS_BELOW(from);
	for (uint64_t i = first + 1; i < last; i++)
		words[i] = 0;
	if (CSV_BITS_BELOW(to) != 0)
		words[last] &= ~CSV_BITS_BELOW(to);
}

#endif							/* CSV_BITS_H */
