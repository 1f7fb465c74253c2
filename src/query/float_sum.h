/*
 * float_sum.h
 *		Sums of doubles without error.
 *
 * A sum is kept as a few doubles whose bits do not overlap, and which add up to it: an
 * expansion (J. R. Shewchuk, "Adaptive precision floating-point arithmetic and fast
 * robust geometric predicates", Discrete & Computational Geometry 18, 1997).  Values
 * of one magnitude need two or three doubles.  A sum that needs more, or comes near
 * the largest double, moves to an accumulator as wide as the range of doubles, in
 * words of 32 bits with delayed carries (R. M. Neal, "Fast exact summation using small
 * and large superaccumulators", 2015, arXiv:1505.05571).
 *
 * A result is rounded once, to nearest, ties to even.  So it does not depend on the
 * order in which values were added.  NaN and infinities give the results of
 * PostgreSQL's sums.
 */
#ifndef CSV_FLOAT_SUM_H
#define CSV_FLOAT_SUM_H

#include "query.h"

#define CSV_FLOAT_PARTS		3

/* kinds of values that were seen */
#define CSV_SEEN_NAN			1
#define CSV_SEEN_INFINITY		2
#define CSV_SEEN_MINUS_INFINITY	4
#define CSV_SEEN_NO_MINUS_ZERO	8	/* a value other than -0 */

/*
 * Words of an accumulator.  Bit i has the weight 2^(i - 1074).  The largest double has
 * its highest bit at 2097; 69 words of 32 bits leave room for 2^64 times as much, and
 * the sign.
 */
#define CSV_FLOAT_SUM_WORDS		69

/* words of a sum in a CsvPartial; for FLOAT, a word of CSV_SEEN_... follows */
CSV_INLINE uint32_t
csv_sum_words(uint8_t kind, uint8_t lane)
{
	return lane == CSV_LANE_FLOAT ? CSV_FLOAT_SUM_WORDS :
		lane == CSV_LANE_INT && kind == CSV_AGGREGATE_SUM ? 2 : 4;
}

/* all zero: nothing was added */
typedef struct CsvFloatSum
{
	double		parts[CSV_FLOAT_PARTS]; /* the smallest first */
	uint8_t		nparts;
	uint8_t		seen;			/* CSV_SEEN_... */
	uint32_t	wide;			/* index + 1 of its accumulator; 0: it has none */
} CsvFloatSum;

/* the accumulators of all sums that need one */
typedef struct CsvWideFloat CsvWideFloat;

typedef struct CsvWideFloats
{
	const CsvMemory *memory;
	CsvWideFloat **sums;
	uint32_t	nsums;
	uint32_t	capacity;
} CsvWideFloats;

/* add a value; false: no memory */
extern bool csv_float_sum_add(CsvFloatSum *sum, CsvWideFloats *wides,
							  double value);

/* add values[rows[i]], for n <= CSV_FLOAT_SUM_ROWS of them */
#define CSV_FLOAT_SUM_ROWS	1024
extern bool csv_float_sum_add_rows(CsvFloatSum *sum, CsvWideFloats *wides,
								   const double *values, const uint16_t *rows,
								   uint32_t n);

/* add a sum that has no accumulator; false: no memory */
extern bool csv_float_sum_merge(CsvFloatSum *sum, CsvWideFloats *wides,
								const CsvFloatSum *other);

/*
 * Sums in words: CSV_FLOAT_SUM_WORDS of a sum, which are signed, each with 2^32 times
 * the weight of the word before; the first has the weight 2^-1074.  A word of
 * CSV_SEEN_... follows.
 *
 * Add a sum in words; false: no memory.  And the opposite: add a sum to words.
 */
extern bool csv_float_sum_add_words(CsvFloatSum *sum, CsvWideFloats *wides,
									const int64_t *words);
extern void csv_float_sum_to_words(const CsvFloatSum *sum,
								   const CsvWideFloats *wides,
								   int64_t *words);

/* The rounded sum.  *overflow: all values were finite, and the rounded sum is not. */
extern double csv_float_words_round(const int64_t *words, bool *overflow);

/*
 * For variances: the sum of squared deviations from the mean of `count` values, whose
 * sum and sum of squares are given.  It is rounded once, from an exact number.
 * Infinite if it is too large; NaN if a value was not finite.
 */
extern double csv_float_words_spread(const int64_t *sum,
									 const int64_t *squares, uint64_t count);
extern void csv_wide_floats_free(CsvWideFloats *wides);
extern size_t csv_wide_floats_bytes(const CsvWideFloats *wides);

#endif							/* CSV_FLOAT_SUM_H */
