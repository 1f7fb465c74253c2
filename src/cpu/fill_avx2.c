/*
 * fill_avx2.c
 *		Fills arrays of integers, numerics and dates with vectors of AVX2.
 *
 * Eight rows at a time: the last eight characters of each field are loaded, and
 * characters before the field are masked off.  Multiplications of neighbours (by 10
 * and 1, by 100 and 1, by 10,000 and 1) turn them into numbers.  A row whose value is
 * not as expected joins the rows that are left, and so do up to seven rows at the
 * end of a range.
 *
 * These functions accept fewer texts than convert.h and patterns.h (short unsigned or
 * negative numbers, ISO dates, patterns with all digits of year, month and day), with
 * the same results.  With AVX-512, they saved less than a fifth of any query's time, so
 * there is no such version.
 */
#include "fill.h"

#if defined(__x86_64__)

#include "../reader/field.h"
#include "../reader/numbers.h"
#include "eight.h"

CSV_TARGET_BEGIN(CSV_TARGET_AVX2)

static uint64_t
widest(const CsvFinder *finder, uint32_t from, uint32_t to)
{
	__m256i		widths = _mm256_setzero_si256();
	uint32_t	lanes[8];
	uint64_t	width = 0;
	uint32_t	row = from;

	for (; to - row >= 8; row += 8)
	{
		CsvEight	eight = find_eight(finder, row);

		widths = _mm256_max_epi32(widths,
								  _mm256_and_si256(eight.rows,
												   _mm256_sub_epi32(eight.end, eight.start)));
	}
	_mm256_storeu_si256((__m256i *) lanes, widths);
	for (uint32_t lane = 0; lane < 8; lane++)
		width = lanes[lane] > width ? lanes[lane] : width;
	for (; row < to; row++)
	{
		uint64_t	nbytes = csv_field_bytes(finder, row);

		width = nbytes > width ? nbytes : width;
	}
	return width;
}

/* ---- numbers and dates ---- */

/* all that the loop over rows needs, in local variables */
typedef struct CsvScalarFill
{
	CsvFinder	finder;
	uint8_t    *values;
	uint8_t    *status;
	uint8_t		quote;			/* 0: none */
	bool		empty_is_null;
	__m256i		null_lengths;	/* see take_nulls() */
	__m256i		most_bytes;
	uint8_t		thousands;		/* separator in numbers; 0: none */

	/* for numerics */
	uint32_t	stride;
	int			scale;			/* 4 at most */
	uint32_t	power;			/* 10^scale */
	int			most_whole;		/* the largest number before the point */
	uint8_t		point;

	/* for dates by a pattern: its first four characters, and its last eight */
	bool		has_pattern;
	bool		short_year;
	bool		has_name;
	__m256i		nbytes;
	__m256i		front_literals; /* the bytes between the elements, */
	__m256i		back_literals;
	__m256i		front_is_literal;	/* and where they are */
	__m256i		back_is_literal;
	__m256i		digits_of_front;	/* where YYYYMMDD are */
	__m256i		digits_of_back;
	__m256i		name_of_front;	/* where the month's three letters are */
	__m256i		name_of_back;
	__m256i		names[2];		/* see month_of_name() */
} CsvScalarFill;

/* the same eight bytes in each word of 64 bits */
static inline __m256i
repeat8(const uint8_t *bytes)
{
	return _mm256_set1_epi64x((long long) csv_load8(bytes));
}

/*
 * The control for _mm256_shuffle_epi8() that picks bytes at the offsets `at` of a text
 * of nbytes bytes.  The words that are shuffled have the last eight bytes of the text
 * (if `back`), or its first four.  0x80 picks a zero.
 */
static inline __m256i
shuffle_words(const uint8_t *at, uint32_t nbytes, bool back)
{
	uint32_t	nbefore = nbytes - 8;
	uint8_t		from[8];

	for (int i = 0; i < 8; i++)
		if (back)
			from[i] = at[i] == UINT8_MAX || at[i] < nbefore ? 0x80 :
				(uint8_t) (at[i] - nbefore);
		else
			from[i] = at[i] < nbefore ? at[i] : 0x80;
	/* the instruction counts from the start of two words */
	return _mm256_add_epi8(repeat8(from),
						   _mm256_set_epi64x(0x0808080808080808, 0,
											 0x0808080808080808, 0));
}

/* the top four bits of the product differ for all names of months, in small letters */
#define CSV_MONTH_FACTOR	26596

static void
set_month_names(CsvScalarFill *scalar)
{
	const char *name = "janfebmaraprmayjunjulaugsepoctnovdec";
	uint32_t	table[16] = {0};

	for (uint32_t month = 1; month <= 12; month++, name += 3)
	{
		uint32_t	letters = (uint32_t) name[0] | (uint32_t) name[1] << 8 |
			(uint32_t) name[2] << 16;

		table[letters * CSV_MONTH_FACTOR >> 28] = letters | month << 24;
	}
	scalar->names[0] = _mm256_loadu_si256((const __m256i *) table);
	scalar->names[1] = _mm256_loadu_si256((const __m256i *) table + 1);
}

static void
set_date_pattern(CsvScalarFill *scalar, const CsvColumn *column)
{
	CsvDatePattern pattern;
	uint8_t		name_at[8];

	scalar->has_pattern = column->pattern[0] != CSV_STEP_END &&
		csv_date_pattern(column, &pattern);
	if (!scalar->has_pattern)
		return;
	memset(name_at, UINT8_MAX, sizeof(name_at));
	scalar->short_year = pattern.short_year;
	scalar->has_name = pattern.name_at != UINT8_MAX;
	for (uint8_t i = 0; scalar->has_name && i < 3; i++)
		name_at[i] = (uint8_t) (pattern.name_at + i);
	scalar->nbytes = _mm256_set1_epi32((int) pattern.nbytes);
	scalar->front_literals = _mm256_set1_epi32((int) csv_load4(pattern.literals));
	scalar->front_is_literal = _mm256_set1_epi32((int) csv_load4(pattern.is_literal));
	scalar->back_literals = repeat8(pattern.literals + pattern.nbytes - 8);
	scalar->back_is_literal = repeat8(pattern.is_literal + pattern.nbytes - 8);
	scalar->digits_of_front = shuffle_words(pattern.at, pattern.nbytes, false);
	scalar->digits_of_back = shuffle_words(pattern.at, pattern.nbytes, true);
	scalar->name_of_front = shuffle_words(name_at, pattern.nbytes, false);
	scalar->name_of_back = shuffle_words(name_at, pattern.nbytes, true);
	set_month_names(scalar);
}

static inline CsvScalarFill
make_scalar_fill(const CsvFill *fill, int kind)
{
	CsvScalarFill scalar = {
		.finder = fill->finder,
		.values = fill->values,
		.status = fill->status,
		.quote = fill->dialect->opt.quote,
		.empty_is_null = fill->layout->null_length == 0 &&
			!fill->column->force_not_null,
		.null_lengths = _mm256_set1_epi32((int) csv_null_lengths(fill->layout,
																 fill->column)),
		.most_bytes = _mm256_set1_epi32((int) csv_most_scalar_bytes(fill->column)),
		.thousands = fill->column->thousands,
		.point = fill->layout->decimal_separator
	};

	if (kind == CSV_KIND_NUMERIC || kind == CSV_KIND_DECIMAL64)
	{
		const CsvColumn *column = fill->column;
		int			most_digits = column->precision - column->scale;

		if (most_digits > 8)
			most_digits = 8;
		scalar.stride = fill->stride;
		scalar.scale = column->scale;
		scalar.power = (uint32_t) csv_powers_on_host[column->scale];
		scalar.most_whole = (int) csv_powers_on_host[most_digits] - 1;
	}
	if (kind == CSV_KIND_DATE)
		set_date_pattern(&scalar, fill->column);
	return scalar;
}

/*
 * Load the last eight characters of eight rows' values, without quotes around them, and
 * find where the values are.  Sets the status of rows that are NULL: these are in
 * *done.  eight->rows has the rows whose values may be converted.
 */
static inline __attribute__((always_inline)) CsvWords
load_eight(const CsvScalarFill *scalar, uint32_t row, CsvEight *eight,
		   __m256i *done)
{
	const __m256i one = _mm256_set1_epi32(1);
	const __m256i eights = _mm256_set1_epi32(8);
	const uint8_t *bytes = scalar->finder.bytes;
	__m256i		length;
	CsvWords		text;

	*eight = find_eight(&scalar->finder, row);
	*done = take_nulls(eight, scalar->status + row, scalar->null_lengths,
					   scalar->empty_is_null);
	length = _mm256_sub_epi32(eight->end, eight->start);
	text = load8(bytes, _mm256_sub_epi32(eight->end, eights));
	if (scalar->quote != 0)
	{
		__m256i		quote = _mm256_set1_epi32(scalar->quote);
		__m256i		quoted = _mm256_cmpeq_epi32(_mm256_srli_epi32(high_halves(text), 24),
												quote);

		if (!_mm256_testz_si256(quoted, quoted))
		{
			__m256i		front = gather4(quoted, bytes, eight->start);

			front = _mm256_and_si256(front, _mm256_set1_epi32(0xFF));
			quoted = _mm256_and_si256(quoted, _mm256_cmpeq_epi32(front, quote));
			quoted = _mm256_and_si256(quoted, _mm256_cmpgt_epi32(length, one));
			/* a true lane is -1 */
			eight->start = _mm256_sub_epi32(eight->start, quoted);
			eight->end = _mm256_add_epi32(eight->end, quoted);
			text = load8(bytes,
						   _mm256_sub_epi32(eight->end, eights));
			length = _mm256_sub_epi32(eight->end, eight->start);
		}
	}
	eight->rows = _mm256_andnot_si256(_mm256_cmpgt_epi32(length, scalar->most_bytes),
									  eight->rows);
	return text;
}

/* a byte of the result is 0 if the byte is the value of a digit */
static inline __m256i
above_nine(__m256i digits)
{
	return _mm256_subs_epu8(digits, _mm256_set1_epi8(9));
}

/*
 * The values of the last n digits of each lane, with zeros before them; n >= 0, and
 * more than 8 means 8.  Removes rows from *rows if not all characters are digits.
 */
static inline __attribute__((always_inline)) CsvWords
last_digits(CsvWords text, __m256i n, __m256i *rows)
{
	const __m256i zeros = _mm256_set1_epi8('0');
	const __m256i all = _mm256_set1_epi8(-1);
	__m256i		shift = _mm256_slli_epi32(_mm256_sub_epi32(_mm256_set1_epi32(8), n), 3);
	CsvWords		shifts = widen(_mm256_max_epi32(shift, _mm256_setzero_si256()));
	CsvWords		digits;
	CsvWords		others;

	digits.a = _mm256_and_si256(_mm256_xor_si256(text.a, zeros),
								_mm256_sllv_epi64(all, shifts.a));
	digits.b = _mm256_and_si256(_mm256_xor_si256(text.b, zeros),
								_mm256_sllv_epi64(all, shifts.b));
	others.a = above_nine(digits.a);
	others.b = above_nine(digits.b);
	if (__builtin_expect(!_mm256_testz_si256(_mm256_or_si256(others.a, others.b), all), 0))
	{
		__m256i		both = _mm256_or_si256(low_halves(others),
										   high_halves(others));

		*rows = _mm256_and_si256(*rows,
								 _mm256_cmpeq_epi32(both, _mm256_setzero_si256()));
	}
	return digits;
}

/* the number of the four digits in each lane of 32 bits */
static inline __m256i
digit_fours(__m256i digits)
{
	const __m256i tens = _mm256_set1_epi16(10 | 1 << 8);
	const __m256i hundreds = _mm256_set1_epi32(100 | 1 << 16);

	return _mm256_madd_epi16(_mm256_maddubs_epi16(digits, tens), hundreds);
}

/* two lanes of 16 bits per row: the numbers of the first and last four digits */
static inline __m256i
eight_digit_fours(CsvWords digits)
{
	return _mm256_packus_epi32(digit_fours(digits.a), digit_fours(digits.b));
}

/* the number of eight digits, from these two numbers */
static inline __m256i
join_fours(__m256i fours)
{
	return _mm256_madd_epi16(fours, _mm256_set1_epi32(10000 | 1 << 16));
}

/* does any row have more than eight characters? */
static inline bool
any_longer(const CsvEight *eight, __m256i n)
{
	__m256i		longer = _mm256_cmpgt_epi32(n, _mm256_set1_epi32(8));

	return !_mm256_testz_si256(longer, eight->rows);
}

/*
 * Do the values start with a minus?  `text` has their last eight characters, and n
 * their lengths; `many` tells that a value is longer than eight.
 */
static inline __m256i
is_negative(const uint8_t *bytes, const CsvEight *eight, CsvWords text,
			__m256i n, bool many)
{
	__m256i		front;

	if (many)
		front = gather4(eight->rows, bytes, eight->start);
	else
	{
		__m256i		missing = _mm256_sub_epi32(_mm256_set1_epi32(8), n);
		CsvWords	shifts = widen(_mm256_slli_epi32(missing, 3));

		text.a = _mm256_srlv_epi64(text.a, shifts.a);
		text.b = _mm256_srlv_epi64(text.b, shifts.b);
		front = low_halves(text);
	}
	return _mm256_and_si256(eight->rows,
							_mm256_cmpeq_epi32(_mm256_and_si256(front, _mm256_set1_epi32(0xFF)),
											   _mm256_set1_epi32('-')));
}

/* first * factor + second, negated in the lanes of `negative` */
static inline __attribute__((always_inline)) CsvWords
add_product(__m256i first, uint32_t factor, __m256i second, __m256i negative)
{
	const __m256i factors = _mm256_set1_epi64x(factor);
	CsvWords		number = widen(first);
	CsvWords		summand = widen(second);
	CsvWords		sign = join_halves(negative, negative);

	number.a = _mm256_add_epi64(_mm256_mul_epu32(number.a, factors), summand.a);
	number.b = _mm256_add_epi64(_mm256_mul_epu32(number.b, factors), summand.b);
	number.a = _mm256_sub_epi64(_mm256_xor_si256(number.a, sign.a), sign.a);
	number.b = _mm256_sub_epi64(_mm256_xor_si256(number.b, sign.b), sign.b);
	return number;
}

static inline __attribute__((always_inline)) CsvWords
and_words(CsvWords wide, __m256i rows)
{
	CsvWords		masks = join_halves(rows, rows);

	return (CsvWords) {
		_mm256_and_si256(wide.a, masks.a), _mm256_and_si256(wide.b, masks.b)
	};
}

/*
 * Remove one or two separators between groups of three digits from numbers of *n
 * characters.  The digits, eight at most, are then at the end of each lane of *text.
 * Removes rows from *rows that have more digits, or another form.
 */
static inline __attribute__((always_inline)) void
drop_separators(const CsvScalarFill *scalar, __m256i end, CsvWords *text, __m256i *n,
				__m256i *rows)
{
	const __m256i separator = _mm256_set1_epi32(scalar->thousands);
	const __m256i low_byte = _mm256_set1_epi32(0xFF);
	const __m256i front = _mm256_set1_epi64x(UINT32_MAX);
	const __m256i digits = _mm256_set1_epi64x((long long) UINT64_C(0xFFFFFF0000000000));
	__m256i		grouped = _mm256_cmpeq_epi32(_mm256_and_si256(high_halves(*text), low_byte),
											 separator);
	__m256i		twice;
	CsvWords	masks;
	CsvWords	without;

	grouped = _mm256_and_si256(grouped, _mm256_cmpgt_epi32(*n, _mm256_set1_epi32(4)));
	if (_mm256_testz_si256(grouped, grouped))
		return;
	twice = _mm256_and_si256(grouped, _mm256_cmpgt_epi32(*n, _mm256_set1_epi32(7)));
	without.a = _mm256_or_si256(_mm256_and_si256(text->a, digits),
								_mm256_slli_epi64(_mm256_and_si256(text->a, front), 8));
	without.b = _mm256_or_si256(_mm256_and_si256(text->b, digits),
								_mm256_slli_epi64(_mm256_and_si256(text->b, front), 8));
	if (!_mm256_testz_si256(twice, twice))
	{
		/* one or two digits, a separator, and the last eight characters */
		const __m256i two_bytes = _mm256_set1_epi64x(0xFFFF);
		CsvWords	before = load8(scalar->finder.bytes,
								   _mm256_sub_epi32(end, _mm256_set1_epi32(16)));
		__m256i		good = _mm256_cmpeq_epi32(_mm256_and_si256(low_halves(*text), low_byte),
											  separator);

		good = _mm256_and_si256(good, _mm256_cmpgt_epi32(*n, _mm256_set1_epi32(8)));
		good = _mm256_and_si256(good, _mm256_cmpgt_epi32(_mm256_set1_epi32(11), *n));
		*rows = _mm256_andnot_si256(_mm256_andnot_si256(good, twice), *rows);
		masks = join_halves(twice, twice);
		masks.a = _mm256_and_si256(masks.a, two_bytes);
		masks.b = _mm256_and_si256(masks.b, two_bytes);
		without.a = _mm256_blendv_epi8(without.a, _mm256_srli_epi64(before.a, 48), masks.a);
		without.b = _mm256_blendv_epi8(without.b, _mm256_srli_epi64(before.b, 48), masks.b);
	}
	masks = join_halves(grouped, grouped);
	text->a = _mm256_blendv_epi8(text->a, without.a, masks.a);
	text->b = _mm256_blendv_epi8(text->b, without.b, masks.b);
	/* a true lane is -1 */
	*n = _mm256_add_epi32(*n, _mm256_add_epi32(grouped, twice));
}

/*
 * The functions below convert and store the values of eight rows; `text` has their last
 * eight characters.  A row that they cannot convert is removed from eight->rows.  Its
 * entry is set to zero, or will be written again.
 */

/* [-]digits, 16 at most; `kind`, a constant, is INT2, INT4 or INT8 */
static inline __attribute__((always_inline)) void
fill_integers(const CsvScalarFill *scalar, uint32_t row, CsvEight *eight,
			  CsvWords text, int kind)
{
	const __m256i zero = _mm256_setzero_si256();
	const __m256i eights = _mm256_set1_epi32(8);
	__m256i		n = _mm256_sub_epi32(eight->end, eight->start);
	const bool	many = any_longer(eight, n);
	__m256i		negative = is_negative(scalar->finder.bytes, eight, text, n, many);
	__m256i		number;			/* of 32 bits */
	CsvWords	wide;

	/* a true lane is -1; 1 to 16 digits */
	n = _mm256_add_epi32(n, negative);
	if (scalar->thousands != 0)
		drop_separators(scalar, eight->end, &text, &n, &eight->rows);
	eight->rows = _mm256_and_si256(eight->rows, _mm256_cmpgt_epi32(n, zero));
	eight->rows = _mm256_andnot_si256(_mm256_cmpgt_epi32(n, _mm256_set1_epi32(16)),
									  eight->rows);
	number = join_fours(eight_digit_fours(last_digits(text, n, &eight->rows)));
	if (many)
	{
		CsvWords	higher = load8(scalar->finder.bytes,
								   _mm256_sub_epi32(eight->end, _mm256_set1_epi32(16)));
		__m256i		high;

		/* zero for a number without further digits */
		n = _mm256_max_epi32(_mm256_sub_epi32(n, eights), zero);
		high = join_fours(eight_digit_fours(last_digits(higher, n, &eight->rows)));
		wide = add_product(high, 100000000, number, negative);
		number = low_halves(wide);
		if (kind != CSV_KIND_INT8)
			eight->rows = _mm256_and_si256(eight->rows,
										   _mm256_cmpeq_epi32(high_halves(wide),
															  _mm256_srai_epi32(number, 31)));
	}
	else
	{
		number = _mm256_sub_epi32(_mm256_xor_si256(number, negative), negative);
		wide = join_halves(number, _mm256_srai_epi32(number, 31));
	}
	if (kind == CSV_KIND_INT8)
		store_words(scalar->values + (size_t) row * 8,
					and_words(wide, eight->rows));
	else if (kind == CSV_KIND_INT4)
		_mm256_storeu_si256((__m256i *) (scalar->values + (size_t) row * 4),
							_mm256_and_si256(number, eight->rows));
	else
	{
		__m256i		narrow = _mm256_srai_epi32(_mm256_slli_epi32(number, 16), 16);

		eight->rows = _mm256_and_si256(eight->rows,
									   _mm256_cmpeq_epi32(narrow, number));
		narrow = _mm256_and_si256(narrow, eight->rows);
		narrow = _mm256_permute4x64_epi64(_mm256_packs_epi32(narrow, narrow),
										  _MM_SHUFFLE(3, 1, 2, 0));
		_mm_storeu_si128((__m128i *) (scalar->values + (size_t) row * 2),
						 _mm256_castsi256_si128(narrow));
	}
}

/* year / 100; for years up to 9999, the product with the reciprocal is exact */
static inline __m256i
centuries(__m256i year)
{
	return _mm256_srli_epi32(_mm256_mullo_epi32(year, _mm256_set1_epi32(5243)), 19);
}

/*
 * csv_days() for eight rows: days since 2000-01-01.  Removes rows from *rows that are
 * not dates.  Months and days are 0 to 99.
 */
static inline __m256i
days_of_dates(__m256i year, __m256i month, __m256i day, __m256i *rows)
{
	const __m256i zero = _mm256_setzero_si256();
	const __m256i one = _mm256_set1_epi32(1);
	const __m256i two = _mm256_set1_epi32(2);
	const __m256i three = _mm256_set1_epi32(3);
	__m256i		century = centuries(year);
	__m256i		february = _mm256_cmpeq_epi32(month, two);
	__m256i		early = _mm256_cmpgt_epi32(three, month);
	__m256i		month_days;
	__m256i		since_march;
	__m256i		leap;

	/* years that 4 divides, and not 100 unless 400 does */
	leap = _mm256_cmpeq_epi32(_mm256_mullo_epi32(century, _mm256_set1_epi32(100)), year);
	leap = _mm256_andnot_si256(_mm256_cmpeq_epi32(_mm256_and_si256(century, three), zero), leap);
	leap = _mm256_andnot_si256(leap, _mm256_cmpeq_epi32(_mm256_and_si256(year, three), zero));

	/* odd months up to July, and even months from August on, have 31 days */
	month_days = _mm256_xor_si256(month, _mm256_srli_epi32(month, 3));
	month_days = _mm256_or_si256(_mm256_and_si256(month_days, one),
								 _mm256_set1_epi32(30));
	month_days = _mm256_blendv_epi8(month_days,
									_mm256_sub_epi32(_mm256_set1_epi32(28), leap),
									february);
	*rows = _mm256_and_si256(*rows, _mm256_cmpgt_epi32(year, zero));
	*rows = _mm256_and_si256(*rows, _mm256_cmpgt_epi32(month, zero));
	*rows = _mm256_and_si256(*rows, _mm256_cmpgt_epi32(_mm256_set1_epi32(13), month));
	*rows = _mm256_and_si256(*rows, _mm256_cmpgt_epi32(day, zero));
	*rows = _mm256_andnot_si256(_mm256_cmpgt_epi32(day, month_days), *rows);

	/* count from March, so that the leap day is the last day of a year */
	since_march = _mm256_sub_epi32(month, three);
	since_march = _mm256_add_epi32(since_march,
								   _mm256_and_si256(early, _mm256_set1_epi32(12)));
	year = _mm256_add_epi32(year, early);
	century = centuries(year);
	day = _mm256_add_epi32(day, _mm256_sub_epi32(_mm256_srli_epi32(year, 2), century));
	day = _mm256_add_epi32(day, _mm256_srli_epi32(century, 2));
	since_march = _mm256_add_epi32(_mm256_mullo_epi32(since_march, _mm256_set1_epi32(153)),
								   two);
	since_march = _mm256_srli_epi32(_mm256_mullo_epi32(since_march, _mm256_set1_epi32(52429)), 18);
	day = _mm256_add_epi32(day, since_march);
	day = _mm256_add_epi32(day, _mm256_mullo_epi32(year, _mm256_set1_epi32(365)));
	return _mm256_add_epi32(day, _mm256_set1_epi32(-1 - 730425));
}

/*
 * Store dates from years and `days`, the characters MMDD.  If `month` is not NULL, it
 * is used instead of MM.  `others` is zero in lanes where the other characters are as
 * expected.
 */
static inline __attribute__((always_inline)) void
store_dates(const CsvScalarFill *scalar, uint32_t row, CsvEight *eight,
			__m256i year, __m256i days, const __m256i *month, __m256i others)
{
	const __m256i tens = _mm256_set1_epi16(10 | 1 << 8);

	days = _mm256_xor_si256(days, _mm256_set1_epi8('0'));
	others = _mm256_or_si256(others, above_nine(days));
	eight->rows = _mm256_and_si256(eight->rows,
								   _mm256_cmpeq_epi32(others, _mm256_setzero_si256()));
	days = _mm256_maddubs_epi16(days, tens);
	days = days_of_dates(year, month != NULL ? *month :
						 _mm256_and_si256(days, _mm256_set1_epi32(0xFFFF)),
						 _mm256_srli_epi32(days, 16), &eight->rows);
	_mm256_storeu_si256((__m256i *) (scalar->values + (size_t) row * 4),
						_mm256_and_si256(days, eight->rows));
}

static inline __attribute__((always_inline)) void
fill_dates(const CsvScalarFill *scalar, uint32_t row, CsvEight *eight,
		   CsvWords text)
{
	__m256i		middle = low_halves(text);
	__m256i		back = high_halves(text);
	__m256i		year;
	__m256i		days;
	__m256i		others;

	/* year has YYYY, middle YY-M, and back M-DD of YYYY-MM-DD */
	eight->rows = _mm256_and_si256(eight->rows,
								   _mm256_cmpeq_epi32(_mm256_sub_epi32(eight->end, eight->start),
													  _mm256_set1_epi32(10)));
	year = _mm256_xor_si256(gather4(eight->rows, scalar->finder.bytes, eight->start),
							_mm256_set1_epi8('0'));
	others = _mm256_or_si256(_mm256_and_si256(_mm256_xor_si256(middle,
																_mm256_set1_epi32('-' << 16)),
											  _mm256_set1_epi32(0xFF << 16)),
							 _mm256_and_si256(_mm256_xor_si256(back, _mm256_set1_epi32('-' << 8)),
											  _mm256_set1_epi32(0xFF << 8)));
	others = _mm256_or_si256(others, above_nine(year));

	/* MMDD */
	days = _mm256_or_si256(_mm256_srli_epi32(middle, 24),
						   _mm256_slli_epi32(back, 8));
	days = _mm256_blend_epi16(days, back, 0xAA);
	store_dates(scalar, row, eight, digit_fours(year), days, NULL, others);
}

/* pick bytes of the first four and the last eight characters, with shuffle_words() */
static inline __attribute__((always_inline)) CsvWords
pick_bytes(CsvWords front, CsvWords back, __m256i of_front, __m256i of_back)
{
	return (CsvWords) {
		_mm256_or_si256(_mm256_shuffle_epi8(front.a, of_front),
						_mm256_shuffle_epi8(back.a, of_back)),
		_mm256_or_si256(_mm256_shuffle_epi8(front.b, of_front),
						_mm256_shuffle_epi8(back.b, of_back))
	};
}

/*
 * Months by their names of three letters, in upper or lower case.  *others becomes
 * other than zero where there is no month of that name.  The entry of a month has its
 * letters, and its number in the highest byte.
 */
static inline __m256i
month_of_name(const CsvScalarFill *scalar, __m256i letters, __m256i *others)
{
	const __m256i letters_only = _mm256_set1_epi32(0xFFFFFF);
	__m256i		place;
	__m256i		entry;

	letters = _mm256_or_si256(letters, _mm256_set1_epi32(0x202020));
	place = _mm256_srli_epi32(_mm256_mullo_epi32(letters, _mm256_set1_epi32(CSV_MONTH_FACTOR)), 28);
	entry = _mm256_blendv_epi8(_mm256_permutevar8x32_epi32(scalar->names[0], place),
							   _mm256_permutevar8x32_epi32(scalar->names[1], place),
							   _mm256_cmpgt_epi32(place, _mm256_set1_epi32(7)));
	*others = _mm256_or_si256(*others,
							  _mm256_and_si256(_mm256_xor_si256(entry, letters), letters_only));
	return _mm256_srli_epi32(entry, 24);
}

/* dates by a pattern */
static inline __attribute__((always_inline)) void
fill_pattern_dates(const CsvScalarFill *scalar, uint32_t row, CsvEight *eight,
				   CsvWords text)
{
	const __m256i zeros = _mm256_set1_epi8('0');
	__m256i		length = _mm256_sub_epi32(eight->end, eight->start);
	__m256i		others;
	__m256i		year;
	__m256i		days;
	__m256i		month;
	CsvWords	back;
	CsvWords	front;
	CsvWords	digits;

	eight->rows = _mm256_and_si256(eight->rows,
								   _mm256_cmpeq_epi32(length, scalar->nbytes));
	others = gather4(eight->rows, scalar->finder.bytes, eight->start);
	front = widen(others);
	others = _mm256_and_si256(_mm256_xor_si256(others, scalar->front_literals),
							  scalar->front_is_literal);
	back.a = _mm256_and_si256(_mm256_xor_si256(text.a, scalar->back_literals),
							  scalar->back_is_literal);
	back.b = _mm256_and_si256(_mm256_xor_si256(text.b, scalar->back_literals),
							  scalar->back_is_literal);
	others = _mm256_or_si256(others,
							 _mm256_or_si256(low_halves(back), high_halves(back)));

	digits = pick_bytes(front, text, scalar->digits_of_front, scalar->digits_of_back);
	year = low_halves(digits);
	days = high_halves(digits);
	if (scalar->short_year)
		year = _mm256_or_si256(year, _mm256_set1_epi32('0' | '0' << 8));
	year = _mm256_xor_si256(year, zeros);
	others = _mm256_or_si256(others, above_nine(year));
	year = digit_fours(year);
	if (scalar->short_year)
	{
		__m256i		late = _mm256_cmpgt_epi32(year, _mm256_set1_epi32(69));

		/* 1970 to 2069 */
		year = _mm256_add_epi32(year, _mm256_set1_epi32(2000));
		year = _mm256_sub_epi32(year, _mm256_and_si256(late, _mm256_set1_epi32(100)));
	}
	if (!scalar->has_name)
	{
		store_dates(scalar, row, eight, year, days, NULL, others);
		return;
	}
	month = month_of_name(scalar,
						  low_halves(pick_bytes(front, text, scalar->name_of_front,
												scalar->name_of_back)), &others);
	days = _mm256_or_si256(days, _mm256_set1_epi32('0' | '0' << 8));
	store_dates(scalar, row, eight, year, days, &month, others);
}

/*
 * Write entries of numerics from their first two words of 64 bits; an entry of less
 * than
 * 16 bytes has half of the second word.
 */
static inline __attribute__((always_inline)) void
store_numerics(uint8_t *entry, uint32_t stride, CsvWords low, CsvWords high)
{
	__m256i		rows[4];		/* rows 0 and 4, 1 and 5, ... */

	rows[0] = _mm256_unpacklo_epi64(low.a, high.a);
	rows[1] = _mm256_unpackhi_epi64(low.a, high.a);
	rows[2] = _mm256_unpacklo_epi64(low.b, high.b);
	rows[3] = _mm256_unpackhi_epi64(low.b, high.b);
	if (stride >= 16)
		for (uint32_t i = 0; i < 4; i++)
		{
			_mm_storeu_si128((__m128i *) (entry + i * stride),
							 _mm256_castsi256_si128(rows[i]));
			_mm_storeu_si128((__m128i *) (entry + (i + 4) * stride),
							 _mm256_extracti128_si256(rows[i], 1));
		}
	else
		for (uint32_t i = 0; i < 4; i++)
		{
			uint8_t		two[32];

			_mm256_storeu_si256((__m256i *) two, rows[i]);
			memcpy(entry + i * stride, two, 12);
			memcpy(entry + (i + 4) * stride, two + 16, 12);
		}
}

/*
 * Write entries of numeric, as csv_parse_numeric() does.  `whole` has the numbers
 * before the point, as two groups of four digits in 16 bits each; `fraction` the four
 * digits after it.
 */
static inline __attribute__((always_inline)) void
encode_numerics(const CsvScalarFill *scalar, uint32_t row, __m256i rows,
				__m256i negative, __m256i whole, __m256i fraction)
{
	const __m256i zero = _mm256_setzero_si256();
	const __m256i one = _mm256_set1_epi32(1);
	const uint32_t without_digits = csv_numeric_header(false, (uint32_t) scalar->scale, 0);
	__m256i		none_behind = _mm256_cmpeq_epi32(fraction, zero);
	__m256i		none_before = _mm256_cmpeq_epi32(whole, zero);
	__m256i		is_zero = _mm256_and_si256(none_before, none_behind);
	__m256i		outer;			/* number of leading groups that are zero */
	__m256i		ndigits;
	__m256i		weight;
	__m256i		header;
	CsvWords	groups = join_halves(whole, fraction);
	CsvWords	shifts;

	/* a true lane is -1 */
	outer = _mm256_cmpeq_epi32(_mm256_slli_epi32(whole, 16), zero);
	outer = _mm256_sub_epi32(zero, _mm256_add_epi32(outer, none_before));
	ndigits = _mm256_sub_epi32(_mm256_set1_epi32(3), outer);
	ndigits = _mm256_add_epi32(ndigits, none_behind);
	weight = _mm256_cmpeq_epi32(_mm256_srli_epi32(whole, 16), zero);
	ndigits = _mm256_add_epi32(ndigits, _mm256_and_si256(none_behind, weight));
	ndigits = _mm256_andnot_si256(is_zero, ndigits);
	weight = _mm256_andnot_si256(is_zero, _mm256_sub_epi32(one, outer));

	/* the highest group is in the low bits; drop the leading zeros */
	shifts = widen(_mm256_slli_epi32(outer, 4));
	groups.a = _mm256_srlv_epi64(groups.a, shifts.a);
	groups.b = _mm256_srlv_epi64(groups.b, shifts.b);
	whole = low_halves(groups);
	fraction = high_halves(groups);

	/* (6 + 2 * ndigits) << 2, then the short header and the digits */
	ndigits = _mm256_add_epi32(_mm256_slli_epi32(ndigits, 3), _mm256_set1_epi32(24));
	header = _mm256_and_si256(weight, _mm256_set1_epi32(0x7F));
	header = _mm256_or_si256(header, _mm256_set1_epi32((int) without_digits));
	negative = _mm256_andnot_si256(is_zero, negative);
	header = _mm256_or_si256(header,
							 _mm256_and_si256(negative, _mm256_set1_epi32(1 << 13)));
	header = _mm256_or_si256(header, _mm256_slli_epi32(whole, 16));
	whole = _mm256_or_si256(_mm256_srli_epi32(whole, 16),
							_mm256_slli_epi32(fraction, 16));
	store_numerics(scalar->values + (size_t) row * scalar->stride,
				   scalar->stride,
				   join_halves(_mm256_and_si256(ndigits, rows),
							   _mm256_and_si256(header, rows)),
				   widen(_mm256_and_si256(whole, rows)));
}

/*
 * [-]digits[.digits] with up to 8 digits before the point, and exactly `scale` digits,
 * 4 at most, after it.  `kind`, a constant, is NUMERIC or DECIMAL64.
 */
static inline __attribute__((always_inline)) void
fill_numerics(const CsvScalarFill *scalar, uint32_t row, CsvEight *eight,
			  CsvWords text, int kind)
{
	const __m256i zero = _mm256_setzero_si256();
	const __m256i eights = _mm256_set1_epi32(8);
	const __m256i behind_whole = _mm256_set1_epi32(scalar->scale + 1);
	__m256i		n = _mm256_sub_epi32(eight->end, eight->start);
	const bool	many = any_longer(eight, n);
	__m256i		negative = is_negative(scalar->finder.bytes, eight, text, n, many);
	__m256i		end = eight->end;	/* of the whole part */
	__m256i		fraction = zero;
	__m256i		whole;

	n = _mm256_add_epi32(n, negative);
	if (scalar->scale > 0)
	{
		const __m128i point_shift = _mm_cvtsi32_si128(56 - 8 * scalar->scale);
		const __m128i fraction_shift = _mm_cvtsi32_si128(32 - 8 * scalar->scale);
		CsvWords	before;
		__m256i		pointed;
		__m256i		skip;

		before.a = _mm256_srl_epi64(text.a, point_shift);
		before.b = _mm256_srl_epi64(text.b, point_shift);
		pointed = _mm256_and_si256(low_halves(before), _mm256_set1_epi32(0xFF));
		pointed = _mm256_cmpeq_epi32(pointed, _mm256_set1_epi32(scalar->point));
		pointed = _mm256_and_si256(pointed, _mm256_cmpgt_epi32(n, behind_whole));

		/* as the first of four digits (NUMERIC), or as the last */
		fraction = _mm256_xor_si256(high_halves(text), _mm256_set1_epi8('0'));
		fraction = _mm256_srl_epi32(fraction, fraction_shift);
		if (kind == CSV_KIND_DECIMAL64)
			fraction = _mm256_sll_epi32(fraction, fraction_shift);
		fraction = _mm256_and_si256(fraction, pointed);
		eight->rows = _mm256_and_si256(eight->rows,
									   _mm256_cmpeq_epi32(above_nine(fraction), zero));
		fraction = digit_fours(fraction);

		skip = _mm256_and_si256(pointed, behind_whole);
		n = _mm256_sub_epi32(n, skip);
		end = _mm256_sub_epi32(end, skip);
		if (many)
			text = load8(scalar->finder.bytes, _mm256_sub_epi32(end, eights));
		else
		{
			CsvWords	shifts = widen(_mm256_slli_epi32(skip, 3));

			text.a = _mm256_sllv_epi64(text.a, shifts.a);
			text.b = _mm256_sllv_epi64(text.b, shifts.b);
		}
	}
	if (scalar->thousands != 0)
		drop_separators(scalar, end, &text, &n, &eight->rows);
	eight->rows = _mm256_and_si256(eight->rows, _mm256_cmpgt_epi32(n, zero));
	eight->rows = _mm256_andnot_si256(_mm256_cmpgt_epi32(n, eights), eight->rows);
	whole = eight_digit_fours(last_digits(text, n, &eight->rows));
	if (scalar->most_whole < 99999999)
		eight->rows = _mm256_andnot_si256(_mm256_cmpgt_epi32(join_fours(whole),
															 _mm256_set1_epi32(scalar->most_whole)),
										  eight->rows);
	if (kind == CSV_KIND_DECIMAL64)
		store_words(scalar->values + (size_t) row * 8,
					and_words(add_product(join_fours(whole), scalar->power,
										  fraction, negative), eight->rows));
	else
		encode_numerics(scalar, row, eight->rows, negative, whole, fraction);
}

/*
 * As csv_drop_separator(), for values in the bytes of `places`.  *found is -1 in words
 * with a point.
 */
static inline __attribute__((always_inline)) __m256i
drop_point(__m256i text, __m256i before, __m256i places, __m256i point,
		   __m256i *found, __m256i *nbehind)
{
	const __m256i zero = _mm256_setzero_si256();
	__m256i		points = _mm256_and_si256(_mm256_cmpeq_epi8(text, point), places);
	__m256i		none = _mm256_cmpeq_epi64(points, zero);
	__m256i		low = _mm256_and_si256(points, _mm256_sub_epi64(zero, points));
	__m256i		behind;

	/* all bits below that bit; and the bytes behind the point */
	low = _mm256_add_epi64(low, _mm256_set1_epi64x(-1));
	behind = _mm256_or_si256(_mm256_slli_epi64(low, 8), _mm256_set1_epi64x(0xFF));
	behind = _mm256_xor_si256(behind, _mm256_set1_epi64x(-1));
	*found = _mm256_xor_si256(none, _mm256_set1_epi64x(-1));
	*nbehind = _mm256_sad_epu8(_mm256_and_si256(behind, _mm256_set1_epi8(1)), zero);
	before = _mm256_or_si256(before, _mm256_slli_epi64(_mm256_and_si256(text, low), 8));
	before = _mm256_or_si256(before, _mm256_and_si256(text, behind));
	return _mm256_blendv_epi8(before, text, none);
}

/* [-]digits[.digits] with up to 8 digits, and any point in the last eight characters */
static inline __attribute__((always_inline)) void
fill_scaled(const CsvScalarFill *scalar, uint32_t row, CsvEight *eight,
			CsvWords text)
{
	const __m256i zero = _mm256_setzero_si256();
	const __m256i eights = _mm256_set1_epi32(8);
	const __m256i all = _mm256_set1_epi8(-1);
	const __m256i point = _mm256_set1_epi8((char) scalar->point);
	__m256i		n = _mm256_sub_epi32(eight->end, eight->start);
	const bool	many = any_longer(eight, n);
	__m256i		negative = is_negative(scalar->finder.bytes, eight, text, n, many);
	__m256i		before = zero;	/* the character before these eight */
	__m256i		number;
	CsvWords	places;
	CsvWords	found;
	CsvWords	nbehind;
	CsvWords	low;

	n = _mm256_add_epi32(n, negative);
	if (many)
		before = _mm256_and_si256(gather4(eight->rows, scalar->finder.bytes,
										  _mm256_sub_epi32(eight->end, _mm256_set1_epi32(9))),
								  _mm256_set1_epi32(0xFF));
	low = widen(before);
	places = widen(_mm256_slli_epi32(_mm256_max_epi32(_mm256_sub_epi32(eights, n), zero), 3));
	text.a = drop_point(text.a, low.a, _mm256_sllv_epi64(all, places.a), point,
						&found.a, &nbehind.a);
	text.b = drop_point(text.b, low.b, _mm256_sllv_epi64(all, places.b), point,
						&found.b, &nbehind.b);
	n = _mm256_add_epi32(n, low_halves(found));
	eight->rows = _mm256_and_si256(eight->rows, _mm256_cmpgt_epi32(n, zero));
	eight->rows = _mm256_andnot_si256(_mm256_cmpgt_epi32(n, eights), eight->rows);
	number = join_fours(eight_digit_fours(last_digits(text, n, &eight->rows)));

	/* a zero has no sign; the high word is the sign, and the scale */
	negative = _mm256_andnot_si256(_mm256_cmpeq_epi32(number, zero), negative);
	number = _mm256_sub_epi32(_mm256_xor_si256(number, negative), negative);
	low = and_words(join_halves(number, negative), eight->rows);
	number = _mm256_or_si256(_mm256_slli_epi32(negative, 6),
							 _mm256_and_si256(low_halves(nbehind), low_halves(found)));
	store_numerics(scalar->values + (size_t) row * 16, 16, low,
				   and_words(join_halves(number, negative), eight->rows));
}

/* the loop over rows [from, to); `kind` is a constant */
static inline __attribute__((always_inline)) uint32_t
fill_scalars(CsvFill *fill, uint32_t from, uint32_t to, int kind,
			 uint32_t *left)
{
	const CsvScalarFill scalar = make_scalar_fill(fill, kind);
	uint32_t	nleft = 0;
	uint32_t	row = from;
	__m256i		any_null = _mm256_setzero_si256();

	for (; to - row >= 8; row += 8)
	{
		CsvEight	eight;
		__m256i		done;
		CsvWords	text = load_eight(&scalar, row, &eight, &done);

		any_null = _mm256_or_si256(any_null, done);
		switch (kind)
		{
			case CSV_KIND_DATE:
				if (scalar.has_pattern)
					fill_pattern_dates(&scalar, row, &eight, text);
				else
					fill_dates(&scalar, row, &eight, text);
				break;
			case CSV_KIND_NUMERIC:
			case CSV_KIND_DECIMAL64:
				fill_numerics(&scalar, row, &eight, text, kind);
				break;
			case CSV_KIND_SCALED:
				fill_scaled(&scalar, row, &eight, text);
				break;
			default:
				fill_integers(&scalar, row, &eight, text, kind);
				break;
		}
		nleft += leave_rows(row, mask_of(_mm256_or_si256(eight.rows, done)),
							left + nleft);
	}
	fill->any_not_ok |= !_mm256_testz_si256(any_null, any_null);
	return nleft + leave_rest(row, to, left + nleft);
}

/* compiled for each kind */
#define SCALAR_FUNCTION(name, kind) \
	static uint32_t \
	name(CsvFill *fill, uint32_t from, uint32_t to, uint32_t *left) \
	{ \
		return fill_scalars(fill, from, to, kind, left); \
	}

SCALAR_FUNCTION(fill_int2, CSV_KIND_INT2)
SCALAR_FUNCTION(fill_int4, CSV_KIND_INT4)
SCALAR_FUNCTION(fill_int8, CSV_KIND_INT8)
SCALAR_FUNCTION(fill_numeric, CSV_KIND_NUMERIC)
SCALAR_FUNCTION(fill_decimal64, CSV_KIND_DECIMAL64)
SCALAR_FUNCTION(fill_own_scale, CSV_KIND_SCALED)
SCALAR_FUNCTION(fill_date, CSV_KIND_DATE)

const CsvFillFunctions csv_fill_avx2 = {
	.widest = widest,
	.vectors = {
		[CSV_KIND_TEXT] = csv_fill_text_avx2,
		[CSV_KIND_INT2] = fill_int2,
		[CSV_KIND_INT4] = fill_int4,
		[CSV_KIND_INT8] = fill_int8,
		[CSV_KIND_NUMERIC] = fill_numeric,
		[CSV_KIND_DECIMAL64] = fill_decimal64,
		[CSV_KIND_SCALED] = fill_own_scale,
		[CSV_KIND_DATE] = fill_date
	}
};

CSV_TARGET_END

#else

const CsvFillFunctions csv_fill_avx2;

#endif
