/*
 * pair.h
 *		Sixteen bytes side by side, as two words of 64 bits.  gcc and clang have
 *		such vectors on every processor.
 */
#ifndef CSV_PAIR_H
#define CSV_PAIR_H

#include <stdint.h>
#include <string.h>

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

/*
 * The high bits are 0 if all bytes are ASCII and none is zero; otherwise some of
 * them are 1, the lowest zero byte having borrowed its own.
 */
static inline CsvPair
csv_pair_unplain(CsvPair pair)
{
	return (pair | (pair - CSV_ONES)) & CSV_HIGHS;
}

#endif							/* CSV_PAIR_H */
