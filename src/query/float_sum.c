/*
 * float_sum.c
 *		Sums of doubles without error: see float_sum.h.
 *
 * If many values are added to one sum, and their exponents are not too far apart, they
 * are first converted to integers of 128 bits.  This is exact, too, and takes one
 * addition a value.
 */
#include "float_sum.h"

#include "../reader/arrays.h"
#include "operate.h"

#define MINUS_ZERO		(UINT64_C(1) << 63)
#define DIGITS			52		/* of a double's fraction */
#define DIGITS_MASK		((UINT64_C(1) << DIGITS) - 1)

/* parts of an expansion stay below this, so that no sum of them overflows */
#define MOST_OF_PARTS	0x1p1000

/* if no higher word is set, words are below MOST_OF_PARTS: 32 x 64 + 32 - 1074 < 1000 */
#define TOP_OF_PARTS	62

#define NWORDS			CSV_FLOAT_SUM_WORDS
#define LOWEST_EXPONENT	(-1074)

/* words take this many additions of 32 bits before carries must move on */
#define MOST_ADDITIONS	(1u << 30)

struct CsvWideFloat
{
	int64_t		words[NWORDS];
	uint32_t	nadditions;		/* since carries moved on */
};

/* ---- the accumulator ---- */

/* move carries on: each word becomes 0 to 2^32 - 1, but the last has the sign */
static void
wide_carry(CsvWideFloat *wide)
{
	for (int i = 0; i < NWORDS - 1; i++)
	{
		int64_t		carry = wide->words[i] >> 32;

		wide->words[i] -= carry * (INT64_C(1) << 32);
		wide->words[i + 1] += carry;
	}
	wide->nadditions = 0;
}

/* leave the magnitude of a sum; was it below 0? */
static bool
wide_make_positive(CsvWideFloat *wide)
{
	bool		negative;

	wide_carry(wide);
	negative = wide->words[NWORDS - 1] < 0;
	if (negative)
	{
		for (int i = 0; i < NWORDS; i++)
			wide->words[i] = -wide->words[i];
		wide_carry(wide);
	}
	return negative;
}

/* add a finite value to words without moving carries on */
static void
add_to_words(int64_t *words, double value)
{
	uint64_t	bits = csv_double_bits(value);
	uint64_t	digits = bits & DIGITS_MASK;
	uint32_t	exponent = (uint32_t) (bits >> DIGITS) & 0x7ff;
	bool		negative = bits >> 63 != 0;
	uint32_t	place;
	CsvUint128	shifted;

	if (exponent != 0)
	{
		digits |= UINT64_C(1) << DIGITS;
		exponent--;
	}
	place = exponent / 32;
	shifted = (CsvUint128) digits << exponent % 32;
	for (int i = 0; i < 3; i++)
	{
		int64_t		word = (int64_t) (shifted >> 32 * i & 0xffffffff);

		words[place + i] += negative ? -word : word;
	}
}

static void
wide_add(CsvWideFloat *wide, double value)
{
	add_to_words(wide->words, value);
	if (++wide->nadditions == MOST_ADDITIONS)
		wide_carry(wide);
}

/* bits [place, place + 64) of a sum after wide_carry(), without the sign */
static uint64_t
wide_bits(const CsvWideFloat *wide, int place)
{
	int			word = place / 32;
	CsvUint128	bits = 0;

	for (int i = 2; i >= 0; i--)
		bits = bits << 32 |
			(word + i < NWORDS ? (uint64_t) wide->words[word + i] : 0);
	return (uint64_t) (bits >> place % 32);
}

/* the highest word that is not 0; -1: all words are 0 */
static int
top_of(const int64_t *words)
{
	int			top = NWORDS;

	/* the words of most sums are 0, except for a few */
	for (int64_t any = 0; top >= 8; top -= 8)
	{
		for (int i = 1; i <= 8; i++)
			any |= words[top - i];
		if (any != 0)
			break;
	}
	while (top > 0 && words[top - 1] == 0)
		top--;
	return top - 1;
}

static double
wide_round(const CsvWideFloat *wide, bool *overflow)
{
	CsvWideFloat sum = *wide;
	bool		negative = wide_make_positive(&sum);
	int			top = top_of(sum.words);
	int			high;			/* place of the highest bit */
	int			low;			/* place of the lowest bit that is kept */
	uint64_t	bits;

	if (top < 0)
		return 0;
	high = top * 32 + 63 - (int) csv_leading_zeros((uint64_t) sum.words[top]);
	low = high - DIGITS;
	if (low <= 0)
		bits = wide_bits(&sum, 0);	/* as they are: bit 52 makes the exponent 1 */
	else
	{
		uint64_t	half = wide_bits(&sum, low - 1) & 1;
		bool		rest = false;

		for (int i = 0; i < (low - 1) / 32; i++)
			rest |= sum.words[i] != 0;
		rest |= (sum.words[(low - 1) / 32] &
				 ((INT64_C(1) << (low - 1) % 32) - 1)) != 0;
		bits = wide_bits(&sum, low) & DIGITS_MASK;
		bits |= (uint64_t) (low + 1) << DIGITS;
		/* a carry out of the digits correctly goes to the exponent */
		bits += half & ((uint64_t) rest | (bits & 1));
		if (low + 1 >= 0x7ff || bits >= CSV_FLOAT_INFINITY)
		{
			*overflow = true;
			bits = CSV_FLOAT_INFINITY;
		}
	}
	return csv_bits_double(bits | (negative ? MINUS_ZERO : 0));
}

/* move a sum to an accumulator, and add a value; false: no memory */
static bool
widen(CsvFloatSum *sum, CsvWideFloats *wides, double value)
{
	const CsvMemory *memory = wides->memory;
	CsvWideFloat *wide;

	if (!csv_grow(memory, &wides->sums, &wides->capacity,
				  (size_t) wides->nsums + 1, 16, sizeof(void *)))
		return false;
	wide = csv_alloc_zeros(memory, sizeof(*wide));
	if (wide == NULL)
		return false;
	for (uint32_t i = 0; i < sum->nparts; i++)
		wide_add(wide, sum->parts[i]);
	wide_add(wide, value);
	sum->nparts = 0;
	wides->sums[wides->nsums++] = wide;
	sum->wide = wides->nsums;
	return true;
}

/* ---- the expansion ---- */

/* add a finite value; false: no memory */
static bool
add_finite(CsvFloatSum *sum, CsvWideFloats *wides, double value)
{
	uint32_t	nparts = 0;
	double		parts[CSV_FLOAT_PARTS];
	double		rest = value;

	if (sum->wide != 0)
	{
		wide_add(wides->sums[sum->wide - 1], value);
		return true;
	}
	if (!(value > -MOST_OF_PARTS && value < MOST_OF_PARTS))
		return widen(sum, wides, value);

	/* Grow-Expansion, leaving out zeros */
	for (uint32_t i = 0; i < sum->nparts; i++)
	{
		/* Two-Sum: total + error is part + rest */
		double		part = sum->parts[i];
		double		total = part + rest;
		double		virtual_rest = total - part;
		double		error = (part - (total - virtual_rest)) +
			(rest - virtual_rest);

		if (error != 0)
			parts[nparts++] = error;
		rest = total;
	}
	if (nparts == CSV_FLOAT_PARTS ||
		!(rest > -MOST_OF_PARTS && rest < MOST_OF_PARTS))
		return widen(sum, wides, value);
	if (rest != 0)
		parts[nparts++] = rest;
	for (uint32_t i = 0; i < nparts; i++)
		sum->parts[i] = parts[i];
	sum->nparts = (uint8_t) nparts;
	return true;
}

bool
csv_float_sum_add(CsvFloatSum *sum, CsvWideFloats *wides, double value)
{
	uint64_t	bits = csv_double_bits(value);
	uint64_t	magnitude = bits & CSV_FLOAT_MAGNITUDE;

	if (magnitude >= CSV_FLOAT_INFINITY)
	{
		sum->seen |= magnitude > CSV_FLOAT_INFINITY ? CSV_SEEN_NAN :
			bits == magnitude ? CSV_SEEN_INFINITY : CSV_SEEN_MINUS_INFINITY;
		return true;
	}
	if (bits != MINUS_ZERO)
		sum->seen |= CSV_SEEN_NO_MINUS_ZERO;
	return magnitude == 0 || add_finite(sum, wides, value);
}

bool
csv_float_sum_merge(CsvFloatSum *sum, CsvWideFloats *wides,
					const CsvFloatSum *other)
{
	sum->seen |= other->seen;
	for (uint32_t i = 0; i < other->nparts; i++)
		if (!add_finite(sum, wides, other->parts[i]))
			return false;
	return true;
}

bool
csv_float_sum_add_rows(CsvFloatSum *sum, CsvWideFloats *wides,
					   const double *values, const uint16_t *rows, uint32_t n)
{
	uint64_t	smallest = UINT64_MAX;	/* magnitude that is not zero */
	uint64_t	largest = 0;
	uint64_t	not_minus_zero = 0;
	int32_t		lowest;
	int32_t		highest;
	CsvInt128	total = 0;
	CsvUint128	rest;

	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t	bits = csv_double_bits(values[rows[i]]);
		uint64_t	magnitude = bits & CSV_FLOAT_MAGNITUDE;

		not_minus_zero |= bits ^ MINUS_ZERO;
		largest = magnitude > largest ? magnitude : largest;
		/* zero becomes the largest number */
		smallest = magnitude - 1 < smallest ? magnitude - 1 : smallest;
	}
	lowest = (int32_t) ((smallest + 1) >> DIGITS);
	highest = (int32_t) (largest >> DIGITS);
	lowest = lowest == 0 ? 1 : lowest;

	/*
	 * 2^10 values of 53 bits, shifted by up to 62, need 125 bits.  The powers below
	 * must be doubles.
	 */
	if (n < 4 || highest - lowest > 62 || highest > 1900)
	{
		for (uint32_t i = 0; i < n; i++)
			if (!csv_float_sum_add(sum, wides, values[rows[i]]))
				return false;
		return true;
	}
	if (not_minus_zero != 0)
		sum->seen |= CSV_SEEN_NO_MINUS_ZERO;
	if (largest == 0)
		return true;
	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t	bits = csv_double_bits(values[rows[i]]);
		uint64_t	digits = bits & DIGITS_MASK;
		int32_t		exponent = (int32_t) (bits >> DIGITS & 0x7ff);
		CsvInt128	shifted;

		digits |= (uint64_t) (exponent != 0) << DIGITS;
		exponent += exponent == 0;
		/* the exponent of zeros may be below the lowest */
		shifted = digits == 0 ? 0 : (CsvInt128) digits << (exponent - lowest);
		total += bits >> 63 != 0 ? -shifted : shifted;
	}
	rest = csv_decimal_magnitude(total);
	for (int32_t exponent = lowest - 1 + LOWEST_EXPONENT; rest != 0;
		 exponent += 42)
	{
		double		part = (double) (int64_t) ((uint64_t) rest &
											   ((UINT64_C(1) << 42) - 1)) *
			csv_power_of_two(exponent);

		if (part != 0 && !add_finite(sum, wides, total < 0 ? -part : part))
			return false;
		rest >>= 42;
	}
	return true;
}

bool
csv_float_sum_add_words(CsvFloatSum *sum, CsvWideFloats *wides,
						const int64_t *words)
{
	CsvWideFloat total;
	CsvWideFloat *wide;
	int			top = top_of(words);

	sum->seen |= (uint8_t) words[NWORDS];
	if (sum->wide == 0 && top <= TOP_OF_PARTS)
	{
		for (int i = 0; i <= top; i++)
		{
			/* two doubles; the high part is nearly always 0 */
			int64_t		high;
			int64_t		low;
			int			exponent = 32 * i + LOWEST_EXPONENT;

			if (words[i] == 0)
				continue;
			high = words[i] / (INT64_C(1) << 53);
			low = words[i] % (INT64_C(1) << 53);
			if ((low != 0 &&
				 !add_finite(sum, wides, (double) low *
							 csv_power_of_two(exponent))) ||
				(high != 0 &&
				 !add_finite(sum, wides, (double) high *
							 csv_power_of_two(exponent + 53))))
				return false;
		}
		return true;
	}
	if (sum->wide == 0 && !widen(sum, wides, 0))
		return false;

	/* without carries, at most what a value adds to a word, except to the last */
	wide = wides->sums[sum->wide - 1];
	memcpy(total.words, words, sizeof(total.words));
	wide_carry(&total);
	for (int i = 0; i < NWORDS; i++)
		wide->words[i] += total.words[i];
	if (++wide->nadditions == MOST_ADDITIONS)
		wide_carry(wide);
	return true;
}

void
csv_float_sum_to_words(const CsvFloatSum *sum, const CsvWideFloats *wides,
					   int64_t *words)
{
	words[NWORDS] |= sum->seen;
	for (uint32_t i = 0; i < sum->nparts; i++)
		add_to_words(words, sum->parts[i]);
	if (sum->wide != 0)
	{
		CsvWideFloat wide = *wides->sums[sum->wide - 1];

		wide_carry(&wide);
		for (int i = 0; i < NWORDS; i++)
			words[i] += wide.words[i];
	}
}

/* is the magnitude of a word below 2^bits? */
static bool
is_below(int64_t word, int bits)
{
	return word > -(INT64_C(1) << bits) && word < INT64_C(1) << bits;
}

/* the rounded sum of words, except 0, that fit into 128 bits; false: they do not fit */
static bool
round_few(const int64_t *words, double *rounded)
{
	int			top = top_of(words);
	int			low;
	int64_t		rest = 0;
	CsvInt128	total = 0;

	/* a rounded sum from 2^-978 on is not denormal */
	if (top < 6 || top > TOP_OF_PARTS ||
		!is_below(words[top], 60) || !is_below(words[top - 1], 60))
		return false;
	low = is_below(words[top], 29) ? top - 3 : top - 2;
	for (int i = 0; i < low; i++)
		rest |= words[i];
	if (rest != 0)
		return false;
	for (int i = top; i >= low; i--)
		total = total * (INT64_C(1) << 32) + words[i];
	*rounded = (double) total * csv_power_of_two(32 * low + LOWEST_EXPONENT);
	return true;
}

double
csv_float_words_round(const int64_t *words, bool *overflow)
{
	uint64_t	seen = (uint64_t) words[NWORDS];
	CsvWideFloat wide;
	double		rounded;

	*overflow = false;
	if ((seen & CSV_SEEN_NAN) != 0 ||
		(seen & (CSV_SEEN_INFINITY | CSV_SEEN_MINUS_INFINITY)) ==
		(CSV_SEEN_INFINITY | CSV_SEEN_MINUS_INFINITY))
		return csv_bits_double(UINT64_C(0x7ff8) << 48);
	if ((seen & CSV_SEEN_INFINITY) != 0)
		return csv_bits_double(CSV_FLOAT_INFINITY);
	if ((seen & CSV_SEEN_MINUS_INFINITY) != 0)
		return csv_bits_double(CSV_FLOAT_INFINITY | MINUS_ZERO);
	if ((seen & CSV_SEEN_NO_MINUS_ZERO) == 0)
		return -0.0;

	if (round_few(words, &rounded))
		return rounded;
	memcpy(wide.words, words, sizeof(wide.words));
	return wide_round(&wide, overflow);
}

/* ---- the sum of squared deviations ---- */

/*
 * Words of 32 bits.  Bit 0 of word SPREAD_REST has the weight 2^(2 * LOWEST_EXPONENT),
 * the lowest in a product of two sums.  Below it is room for the digits of a quotient,
 * above for a factor of 64 bits.
 */
#define SPREAD_REST		8
#define SPREAD_WORDS	(SPREAD_REST + 2 * NWORDS + 4)

/* the magnitude of a sum: words [*first, *last]; *last < *first if it is 0 */
static void
magnitude_of(const int64_t *sum, uint32_t *words, int *first, int *last)
{
	CsvWideFloat wide;

	memcpy(wide.words, sum, sizeof(wide.words));
	(void) wide_make_positive(&wide);
	*first = 0;
	*last = top_of(wide.words);
	for (int i = 0; i < NWORDS; i++)
		words[i] = (uint32_t) wide.words[i];
	while (*first <= *last && words[*first] == 0)
		(*first)++;
}

/* add or subtract value x 2^(32 place), modulo 2^(32 SPREAD_WORDS) */
static void
add_word(uint32_t *words, int place, uint64_t value, bool subtract)
{
	for (; value != 0 && place < SPREAD_WORDS; place++)
	{
		uint64_t	word = words[place];
		uint64_t	part = value & 0xffffffff;

		words[place] = (uint32_t) (subtract ? word - part : word + part);
		value = (value >> 32) +
			(subtract ? word < part : (word + part) >> 32);
	}
}

/* the double nearest to bits x 2^exponent, ties to even; rest: plus a bit more */
static double
round_bits(uint64_t bits, bool rest, int exponent)
{
	int			nbits = 64 - (int) csv_leading_zeros(bits);
	int			excess = nbits - (DIGITS + 1);

	if (exponent + excess < LOWEST_EXPONENT)
		excess = LOWEST_EXPONENT - exponent;
	if (excess > 63)
		return 0;
	if (excess > 0)
	{
		uint64_t	half = UINT64_C(1) << (excess - 1);

		rest |= (bits & (half - 1)) != 0;
		half &= bits;
		bits >>= excess;
		bits += half != 0 && (rest || (bits & 1) != 0);
		exponent += excess;
	}
	if (bits == 0)
		return 0;
	if (64 - (int) csv_leading_zeros(bits) + exponent > 1024)
		return csv_bits_double(CSV_FLOAT_INFINITY);
	return (double) bits * csv_power_of_two(exponent);
}

double
csv_float_words_spread(const int64_t *sum, const int64_t *squares,
					   uint64_t count)
{
	const int	shift = -LOWEST_EXPONENT % 32;
	uint32_t	words[NWORDS];
	uint32_t	all[SPREAD_WORDS];
	int			first;
	int			last;
	int			at = SPREAD_WORDS - 1;
	int			exponent;
	CsvUint128	rest = 0;
	CsvUint128	quotient = 0;
	bool		inexact;

	if (((sum[NWORDS] | squares[NWORDS]) &
		 (CSV_SEEN_NAN | CSV_SEEN_INFINITY | CSV_SEEN_MINUS_INFINITY)) != 0)
		return csv_bits_double(UINT64_C(0x7ff8) << 48);

	/* count x squares - sum x sum */
	memset(all, 0, sizeof(all));
	magnitude_of(squares, words, &first, &last);
	for (int i = first; i <= last; i++)
		for (int half = 0; half < 2; half++)
		{
			uint64_t	product = (uint64_t) words[i] *
				(uint32_t) (count >> 32 * half);
			int			place = SPREAD_REST + i + half -
				LOWEST_EXPONENT / 32;

			add_word(all, place, (product & 0xffffffff) << shift, false);
			add_word(all, place + 1, (product >> 32) << shift, false);
		}
	magnitude_of(sum, words, &first, &last);
	for (int i = first; i <= last; i++)
		for (int k = first; k <= last; k++)
			add_word(all, SPREAD_REST + i + k, (uint64_t) words[i] * words[k],
					 true);

	/* below 0 if squares were too small to be added */
	while (at >= SPREAD_REST && all[at] == 0)
		at--;
	if (at < SPREAD_REST || all[SPREAD_WORDS - 1] >> 31 != 0)
		return 0;

	/* divided by count, to more digits than a double has */
	for (; quotient >> 64 == 0; at--)
	{
		rest = rest << 32 | all[at];
		quotient = quotient << 32 | rest / count;
		rest %= count;
	}
	exponent = 2 * LOWEST_EXPONENT + 32 * (at + 1 - SPREAD_REST);
	inexact = rest != 0;
	for (; at >= SPREAD_REST; at--)
		inexact |= all[at] != 0;
	for (; quotient >> 64 != 0; quotient >>= 1)
	{
		inexact |= (quotient & 1) != 0;
		exponent++;
	}
	return round_bits((uint64_t) quotient, inexact, exponent);
}

void
csv_wide_floats_free(CsvWideFloats *wides)
{
	const CsvMemory *memory = wides->memory;

	for (uint32_t i = 0; i < wides->nsums; i++)
		memory->free(memory->owner, wides->sums[i]);
	csv_free(memory, wides->sums);
	wides->sums = NULL;
	wides->nsums = 0;
	wides->capacity = 0;
}

size_t
csv_wide_floats_bytes(const CsvWideFloats *wides)
{
	return wides->capacity * sizeof(void *) +
		wides->nsums * sizeof(CsvWideFloat);
}
