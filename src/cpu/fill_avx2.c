/*
 * fill_avx2.c
 *		Fills arrays of integers, numerics, dates and text by vectors of AVX2.
 *
 * Eight rows at a time, as fill_avx512.c: the eight characters that end each of
 * their fields are fetched, what stands before a field is masked off, and
 * multiplications of neighbours (by 10 and 1, by 100 and 1, by 10,000 and 1)
 * make numbers of them.  A lane where anything is not as expected joins the
 * rows that are left.
 *
 * Registers are half as wide here, and there are no masks.  So what there is
 * to know of eight rows (places, lengths, numbers of up to eight digits) is
 * eight lanes of 32 bits, and so are conditions: all ones or zeros.  Only the
 * characters themselves take two registers with four lanes of 64 bits.
 *
 * This takes what fast.h does and gives the same for it.  The input's margin
 * makes it safe to fetch before a field's start, and 64 bytes beyond it.  Up to
 * seven rows at the end of a stretch are left.
 *
 * Text is moved a row at a time, 32 bytes with one load, and checked while it
 * is in the register: without quotes inside, zero bytes and bytes beyond ASCII
 * a character is a byte, and there is nothing to remove.
 */
#include "fill.h"

#if defined(__x86_64__)

#ifdef __clang__
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,popcnt,bmi,bmi2"))), \
							 apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,popcnt,bmi,bmi2")
#include <immintrin.h>
#endif

#include <string.h>

#include "../reader/field.h"
#include "../reader/words.h"
#include "fill_vectors.h"

#define ALL_ROWS	0xFF

/* the fields of a column in eight rows, at [start, end) of the bytes */
typedef struct CsvEight
{
	__m256i		start;
	__m256i		end;
	__m256i		rows;			/* those that are not bad, and have the field; in
								 * other lanes the place may be any */
} CsvEight;

/*
 * 64 bits for each of eight rows, in the order in which instructions that keep
 * to the halves of a register unpack and pack them.
 */
typedef struct CsvWide
{
	__m256i		a;				/* rows 0, 1, 4 and 5 */
	__m256i		b;				/* rows 2, 3, 6 and 7 */
} CsvWide;

/* words of the low and the high 32 bits */
static inline __attribute__((always_inline)) CsvWide
join_halves(__m256i low, __m256i high)
{
	return (CsvWide) {
		_mm256_unpacklo_epi32(low, high), _mm256_unpackhi_epi32(low, high)
	};
}

/* words of 32 bits, unsigned */
static inline __attribute__((always_inline)) CsvWide
widen(__m256i lanes)
{
	return join_halves(lanes, _mm256_setzero_si256());
}

static inline __m256i
low_halves(CsvWide wide)
{
	return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(wide.a),
												 _mm256_castsi256_ps(wide.b),
												 _MM_SHUFFLE(2, 0, 2, 0)));
}

static inline __m256i
high_halves(CsvWide wide)
{
	return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(wide.a),
												 _mm256_castsi256_ps(wide.b),
												 _MM_SHUFFLE(3, 1, 3, 1)));
}

/* eight words, in the order of rows */
static inline void
store_wide(uint8_t *to, CsvWide wide)
{
	_mm256_storeu_si256((__m256i *) to,
						_mm256_permute2x128_si256(wide.a, wide.b, 0x20));
	_mm256_storeu_si256((__m256i *) (to + 32),
						_mm256_permute2x128_si256(wide.a, wide.b, 0x31));
}

/* a bit per lane */
static inline uint32_t
mask_of(__m256i rows)
{
	return (uint32_t) _mm256_movemask_ps(_mm256_castsi256_ps(rows));
}

/* 4 bytes at each place; 0 in lanes that are not among `rows` */
static inline __m256i
gather4(__m256i rows, const uint8_t *bytes, __m256i offsets)
{
	return _mm256_mask_i32gather_epi32(_mm256_setzero_si256(),
									   (const int *) bytes, offsets, rows, 1);
}

/*
 * 8 bytes at each place.  Loads of their own take less time here than a gather,
 * and on other processors far less.
 */
static inline __attribute__((always_inline)) CsvWide
load8(const uint8_t *bytes, __m256i offsets)
{
	int32_t		at[8];
	CsvWide		wide;

	_mm256_storeu_si256((__m256i *) at, offsets);
	wide.a = _mm256_set_epi64x((long long) csv_load8(bytes + at[5]),
							   (long long) csv_load8(bytes + at[4]),
							   (long long) csv_load8(bytes + at[1]),
							   (long long) csv_load8(bytes + at[0]));
	wide.b = _mm256_set_epi64x((long long) csv_load8(bytes + at[7]),
							   (long long) csv_load8(bytes + at[6]),
							   (long long) csv_load8(bytes + at[3]),
							   (long long) csv_load8(bytes + at[2]));
	return wide;
}

/* 8 bytes at `bytes` and each `step` bytes on */
static inline __attribute__((always_inline)) CsvWide
load8_by_step(const uint8_t *bytes, size_t step)
{
	CsvWide		wide;

	wide.a = _mm256_set_epi64x((long long) csv_load8(bytes + 5 * step),
							   (long long) csv_load8(bytes + 4 * step),
							   (long long) csv_load8(bytes + step),
							   (long long) csv_load8(bytes));
	wide.b = _mm256_set_epi64x((long long) csv_load8(bytes + 7 * step),
							   (long long) csv_load8(bytes + 6 * step),
							   (long long) csv_load8(bytes + 3 * step),
							   (long long) csv_load8(bytes + 2 * step));
	return wide;
}

/* a member of the records from `record` on */
static inline __m256i
load_records(const CsvIndexRecord *record, size_t member)
{
	const int	stride = sizeof(CsvIndexRecord);

	return _mm256_i32gather_epi32((const int *) ((const uint8_t *) record + member),
								  _mm256_setr_epi32(0, stride, 2 * stride,
													3 * stride, 4 * stride,
													5 * stride, 6 * stride,
													7 * stride), 1);
}

static inline __attribute__((always_inline)) CsvEight
find_eight(const CsvFinder *finder, uint32_t row)
{
	const CsvIndexRecord *record = &finder->records[row];
	const __m256i one = _mm256_set1_epi32(1);
	const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
	__m256i		nfields = _mm256_set1_epi32((int) finder->nfields);
	__m256i		field = _mm256_set1_epi32((int) finder->field);
	const uint32_t *positions = finder->positions;
	__m256i		first;			/* index of the record's first separator */
	CsvEight	eight;

	eight.rows = _mm256_set1_epi32(-1);
	if (finder->uniform)
	{
		positions += (size_t) row * finder->nfields;
		first = _mm256_mullo_epi32(nfields, numbers);
	}
	else
	{
		first = load_records(record, offsetof(CsvIndexRecord, first_separator));
		nfields = _mm256_sub_epi32(load_records(record + 1,
												offsetof(CsvIndexRecord, first_separator)),
								   first);
		eight.rows = _mm256_cmpgt_epi32(nfields, field);
		if (finder->bad != NULL)
		{
			__m256i		codes = _mm256_cvtepu8_epi32(
													 _mm_loadl_epi64((const __m128i *) (finder->bad + row)));

			eight.rows = _mm256_and_si256(eight.rows,
										  _mm256_cmpeq_epi32(codes, _mm256_setzero_si256()));
		}
	}

	if (finder->field == 0)
	{
		eight.start = load_records(record, offsetof(CsvIndexRecord, start));
		eight.end = _mm256_mask_i32gather_epi32(_mm256_setzero_si256(),
												(const int *) positions, first,
												eight.rows, 4);
	}
	else
	{
		/* two that are neighbours */
		CsvWide		both;

		positions += finder->field - 1;
		if (finder->uniform)
			both = load8_by_step((const uint8_t *) positions,
								 finder->nfields * sizeof(uint32_t));
		else
		{
			CsvWide		rows = join_halves(eight.rows, eight.rows);
			CsvWide		at = widen(first);

			both.a = _mm256_mask_i64gather_epi64(_mm256_setzero_si256(),
												 (const long long *) positions,
												 at.a, rows.a, 4);
			both.b = _mm256_mask_i64gather_epi64(_mm256_setzero_si256(),
												 (const long long *) positions,
												 at.b, rows.b, 4);
		}
		eight.start = _mm256_add_epi32(low_halves(both), one);
		eight.end = high_halves(both);
	}

	if (finder->trim_cr)
	{
		/* as csv_content_end() */
		__m256i		last = _mm256_and_si256(eight.rows,
											_mm256_cmpeq_epi32(_mm256_add_epi32(field, one),
															   nfields));

		if (mask_of(last) != 0)
		{
			__m256i		before = gather4(last, finder->bytes,
										 _mm256_sub_epi32(eight.end, _mm256_set1_epi32(4)));
			__m256i		cr = _mm256_cmpeq_epi32(_mm256_srli_epi32(before, 24),
												_mm256_set1_epi32('\r'));

			cr = _mm256_and_si256(cr, _mm256_cmpgt_epi32(eight.end, eight.start));
			cr = _mm256_and_si256(cr, _mm256_cmpgt_epi32(_mm256_set1_epi32((int) finder->nbytes),
														 eight.end));
			/* all ones are -1 */
			eight.end = _mm256_add_epi32(eight.end, _mm256_and_si256(cr, last));
		}
	}
	return eight;
}

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

/* ---- rows that are NULL, and rows that are left ---- */

/*
 * Take the rows out of eight.rows that may be NULL, as their fields have the
 * NULL string's length.  Where that is empty they are: sets their status then,
 * and returns them.
 */
static inline __m256i
take_nulls(CsvEight *eight, uint8_t *status, __m256i null_length,
		   bool empty_is_null)
{
	const __m256i length = _mm256_sub_epi32(eight->end, eight->start);
	__m256i		may_be_null = _mm256_and_si256(eight->rows,
											   _mm256_cmpeq_epi32(length, null_length));
	__m256i		packed;
	uint32_t	marks[2];

	if (__builtin_expect(_mm256_testz_si256(may_be_null, may_be_null), 1))
		return _mm256_setzero_si256();
	eight->rows = _mm256_andnot_si256(may_be_null, eight->rows);
	if (!empty_is_null)
		return _mm256_setzero_si256();

	/* a byte for each, CSV_VALUE_OK (zero) for others: those come later */
	packed = _mm256_packs_epi32(may_be_null, may_be_null);
	packed = _mm256_packs_epi16(packed, packed);
	packed = _mm256_and_si256(packed, _mm256_set1_epi8(CSV_VALUE_NULL));
	marks[0] = (uint32_t) _mm256_extract_epi32(packed, 0);
	marks[1] = (uint32_t) _mm256_extract_epi32(packed, 4);
	memcpy(status, marks, 8);
	return may_be_null;
}

/* list those of eight rows that are not done */
static inline uint32_t
leave_rows(uint32_t row, uint32_t done, uint32_t *left)
{
	uint32_t	nleft = 0;

	for (uint32_t rows = ~done & ALL_ROWS; rows != 0; rows &= rows - 1)
		left[nleft++] = row + csv_lowest_bit(rows);
	return nleft;
}

/* ---- numbers and dates ---- */

/*
 * The last eight characters of eight rows' values, quotes around them removed,
 * and the values' places.  Sets the status of those that are NULL; `done` are
 * these rows, `rows` in the result those that may be values to convert.
 */
static inline __attribute__((always_inline)) CsvWide
load_eight(const CsvScalarFill *scalar, uint32_t row, CsvEight *eight,
		   __m256i *done)
{
	const __m256i one = _mm256_set1_epi32(1);
	const __m256i eights = _mm256_set1_epi32(8);
	const uint8_t *bytes = scalar->finder.bytes;
	__m256i		length;
	CsvWide		text;

	*eight = find_eight(&scalar->finder, row);
	*done = take_nulls(eight, scalar->status + row, scalar->null_length,
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
			/* all ones are -1 */
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

/* what is no digit's value makes a byte other than zero */
static inline __m256i
above_nine(__m256i digits)
{
	return _mm256_subs_epu8(digits, _mm256_set1_epi8(9));
}

/*
 * The last n characters of each lane as digits' values, with zeros before
 * them; n from 0 on, above 8 as 8.  Takes out of `rows` where they are not all
 * digits.
 */
static inline __attribute__((always_inline)) CsvWide
last_digits(CsvWide text, __m256i n, __m256i *rows)
{
	const __m256i zeros = _mm256_set1_epi8('0');
	const __m256i all = _mm256_set1_epi8(-1);
	__m256i		shift = _mm256_slli_epi32(_mm256_sub_epi32(_mm256_set1_epi32(8), n), 3);
	CsvWide		shifts = widen(_mm256_max_epi32(shift, _mm256_setzero_si256()));
	CsvWide		digits;
	CsvWide		others;

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

/* per row two lanes of 16 bits: the numbers of the first and last four digits */
static inline __m256i
eight_digit_fours(CsvWide digits)
{
	return _mm256_packus_epi32(digit_fours(digits.a), digit_fours(digits.b));
}

/* the number of eight digits, from these two */
static inline __m256i
join_fours(__m256i fours)
{
	return _mm256_madd_epi16(fours, _mm256_set1_epi32(10000 | 1 << 16));
}

/*
 * Do the values start with a minus?  `text` are their last eight characters, n
 * their length; `many` says that any is longer than that.
 */
static inline __m256i
is_negative(const uint8_t *bytes, const CsvEight *eight, CsvWide text,
			__m256i n, bool many)
{
	__m256i		front;

	if (many)
		front = gather4(eight->rows, bytes, eight->start);
	else
	{
		CsvWide		shifts = widen(_mm256_slli_epi32(_mm256_sub_epi32(_mm256_set1_epi32(8), n), 3));

		text.a = _mm256_srlv_epi64(text.a, shifts.a);
		text.b = _mm256_srlv_epi64(text.b, shifts.b);
		front = low_halves(text);
	}
	return _mm256_and_si256(eight->rows,
							_mm256_cmpeq_epi32(_mm256_and_si256(front, _mm256_set1_epi32(0xFF)),
											   _mm256_set1_epi32('-')));
}

/* first * factor + second, negative in some lanes */
static inline __attribute__((always_inline)) CsvWide
add_product(__m256i first, uint32_t factor, __m256i second, __m256i negative)
{
	const __m256i factors = _mm256_set1_epi64x(factor);
	CsvWide		number = widen(first);
	CsvWide		summand = widen(second);
	CsvWide		sign = join_halves(negative, negative);

	number.a = _mm256_add_epi64(_mm256_mul_epu32(number.a, factors), summand.a);
	number.b = _mm256_add_epi64(_mm256_mul_epu32(number.b, factors), summand.b);
	number.a = _mm256_sub_epi64(_mm256_xor_si256(number.a, sign.a), sign.a);
	number.b = _mm256_sub_epi64(_mm256_xor_si256(number.b, sign.b), sign.b);
	return number;
}

static inline __attribute__((always_inline)) CsvWide
and_wide(CsvWide wide, __m256i rows)
{
	CsvWide		masks = join_halves(rows, rows);

	return (CsvWide) {
		_mm256_and_si256(wide.a, masks.a), _mm256_and_si256(wide.b, masks.b)
	};
}

static inline __attribute__((always_inline)) uint32_t
fill_integers(CsvFill *fill, uint32_t from, uint32_t to, int kind,
			  uint32_t *left)
{
	const __m256i zero = _mm256_setzero_si256();
	const __m256i eights = _mm256_set1_epi32(8);
	CsvScalarFill scalar = make_scalar_fill(fill);
	uint32_t	nleft = 0;
	uint32_t	row = from;
	__m256i		any_null = zero;

	for (; to - row >= 8; row += 8)
	{
		CsvEight	eight;
		__m256i		done;
		CsvWide		text = load_eight(&scalar, row, &eight, &done);
		__m256i		n = _mm256_sub_epi32(eight.end, eight.start);
		__m256i		longer = _mm256_and_si256(eight.rows,
											  _mm256_cmpgt_epi32(n, eights));
		const bool	many = !_mm256_testz_si256(longer, longer);
		__m256i		negative = is_negative(scalar.finder.bytes, &eight, text,
										   n, many);
		__m256i		number;		/* of 32 bits */
		CsvWide		wide;

		any_null = _mm256_or_si256(any_null, done);
		n = _mm256_add_epi32(n, negative);

		/* 1 to 16 digits */
		eight.rows = _mm256_and_si256(eight.rows, _mm256_cmpgt_epi32(n, zero));
		eight.rows = _mm256_andnot_si256(_mm256_cmpgt_epi32(n, _mm256_set1_epi32(16)),
										 eight.rows);
		number = join_fours(eight_digit_fours(last_digits(text, n, &eight.rows)));
		if (many)
		{
			CsvWide		higher = load8(scalar.finder.bytes,
										 _mm256_sub_epi32(eight.end, _mm256_set1_epi32(16)));
			__m256i		high;

			/* of none where there are no more */
			n = _mm256_max_epi32(_mm256_sub_epi32(n, eights), zero);
			high = join_fours(eight_digit_fours(last_digits(higher, n, &eight.rows)));
			wide = add_product(high, 100000000, number, negative);
			number = low_halves(wide);
			if (kind != CSV_KIND_INT8)
				eight.rows = _mm256_and_si256(eight.rows,
											  _mm256_cmpeq_epi32(high_halves(wide),
																 _mm256_srai_epi32(number, 31)));
		}
		else
		{
			number = _mm256_sub_epi32(_mm256_xor_si256(number, negative), negative);
			wide = join_halves(number, _mm256_srai_epi32(number, 31));
		}
		if (kind == CSV_KIND_INT8)
			store_wide(scalar.values + (size_t) row * 8,
					   and_wide(wide, eight.rows));
		else if (kind == CSV_KIND_INT4)
			_mm256_storeu_si256((__m256i *) (scalar.values + (size_t) row * 4),
								_mm256_and_si256(number, eight.rows));
		else
		{
			__m256i		narrow = _mm256_srai_epi32(_mm256_slli_epi32(number, 16), 16);

			eight.rows = _mm256_and_si256(eight.rows,
										  _mm256_cmpeq_epi32(narrow, number));
			narrow = _mm256_and_si256(narrow, eight.rows);
			narrow = _mm256_permute4x64_epi64(_mm256_packs_epi32(narrow, narrow),
											  _MM_SHUFFLE(3, 1, 2, 0));
			_mm_storeu_si128((__m128i *) (scalar.values + (size_t) row * 2),
							 _mm256_castsi256_si128(narrow));
		}
		nleft += leave_rows(row, mask_of(_mm256_or_si256(eight.rows, done)),
							left + nleft);
	}
	fill->any_not_ok |= !_mm256_testz_si256(any_null, any_null);
	return nleft + leave_rest(row, to, left + nleft);
}

/*
 * Days since 2000-01-01 of the dates in `rows`; takes out those that are none.
 * Years are 0 to 9999, months and days 0 to 99 (where all are digits), so that
 * products with the reciprocals of 100 and 5 are exact quotients.
 */
static inline __m256i
days_of_dates(__m256i year, __m256i month, __m256i day, __m256i *rows)
{
	const __m256i zero = _mm256_setzero_si256();
	const __m256i one = _mm256_set1_epi32(1);
	const __m256i two = _mm256_set1_epi32(2);
	const __m256i three = _mm256_set1_epi32(3);
	__m256i		century = _mm256_srli_epi32(_mm256_mullo_epi32(year, _mm256_set1_epi32(5243)), 19);
	__m256i		february = _mm256_cmpeq_epi32(month, two);
	__m256i		early = _mm256_cmpgt_epi32(three, month);
	__m256i		month_days;
	__m256i		since_march;
	__m256i		leap;

	/* years that 4 divides, and not 100 unless 400 does */
	leap = _mm256_cmpeq_epi32(_mm256_mullo_epi32(century, _mm256_set1_epi32(100)), year);
	leap = _mm256_andnot_si256(_mm256_cmpeq_epi32(_mm256_and_si256(century, three), zero), leap);
	leap = _mm256_andnot_si256(leap, _mm256_cmpeq_epi32(_mm256_and_si256(year, three), zero));

	/* odd months to July and even ones from August on have 31 days */
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

	/* years that begin in March end with the leap day */
	since_march = _mm256_sub_epi32(month, three);
	since_march = _mm256_add_epi32(since_march,
								   _mm256_and_si256(early, _mm256_set1_epi32(12)));
	year = _mm256_add_epi32(year, early);
	return days_since_march(year, since_march, day);
}

static uint32_t
fill_dates(CsvFill *fill, uint32_t from, uint32_t to, const uint8_t *limit,
		   uint32_t *left)
{
	const __m256i zero = _mm256_setzero_si256();
	const __m256i zeros = _mm256_set1_epi8('0');
	const __m256i tens = _mm256_set1_epi16(10 | 1 << 8);
	CsvScalarFill scalar = make_scalar_fill(fill);
	uint32_t	nleft = 0;
	uint32_t	row = from;
	__m256i		any_null = zero;

	(void) limit;
	for (; to - row >= 8; row += 8)
	{
		CsvEight	eight;
		__m256i		done;
		CsvWide		text = load_eight(&scalar, row, &eight, &done);
		__m256i		middle = low_halves(text);
		__m256i		back = high_halves(text);
		__m256i		year;
		__m256i		days;
		__m256i		others;

		/* YYYY-MM-DD: YYYY, YY-M and M-DD of it */
		any_null = _mm256_or_si256(any_null, done);
		eight.rows = _mm256_and_si256(eight.rows,
									  _mm256_cmpeq_epi32(_mm256_sub_epi32(eight.end, eight.start),
														 _mm256_set1_epi32(10)));
		year = gather4(eight.rows, scalar.finder.bytes, eight.start);
		others = _mm256_or_si256(_mm256_and_si256(_mm256_xor_si256(middle, _mm256_set1_epi32('-' << 16)),
												  _mm256_set1_epi32(0xFF << 16)),
								 _mm256_and_si256(_mm256_xor_si256(back, _mm256_set1_epi32('-' << 8)),
												  _mm256_set1_epi32(0xFF << 8)));

		/* MMDD, by blending words of 16 bits */
		days = _mm256_or_si256(_mm256_srli_epi32(middle, 24),
							   _mm256_slli_epi32(back, 8));
		days = _mm256_blend_epi16(days, back, 0xAA);
		year = _mm256_xor_si256(year, zeros);
		days = _mm256_xor_si256(days, zeros);
		others = _mm256_or_si256(others, _mm256_or_si256(above_nine(year),
														 above_nine(days)));
		eight.rows = _mm256_and_si256(eight.rows, _mm256_cmpeq_epi32(others, zero));
		days = _mm256_maddubs_epi16(days, tens);
		days = days_of_dates(digit_fours(year),
							 _mm256_and_si256(days, _mm256_set1_epi32(0xFFFF)),
							 _mm256_srli_epi32(days, 16), &eight.rows);
		_mm256_storeu_si256((__m256i *) (scalar.values + (size_t) row * 4),
							_mm256_and_si256(days, eight.rows));
		nleft += leave_rows(row, mask_of(_mm256_or_si256(eight.rows, done)),
							left + nleft);
	}
	fill->any_not_ok |= !_mm256_testz_si256(any_null, any_null);
	return nleft + leave_rest(row, to, left + nleft);
}

/*
 * Write entries of numeric from their first three words of 32 bits each.
 */
static inline void
store_numerics(uint8_t *entry, uint32_t stride, __m256i first, __m256i second,
			   __m256i third)
{
	CsvWide		low = join_halves(first, second);
	CsvWide		high = widen(third);
	__m256i		rows[4];		/* two each: 0 and 4, 1 and 5, ... */

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
 * [-]digits.digits with `scale` digits after the point, 4 at most, or none and
 * no point: up to 8 before it.  See csv_fast_numeric() and csv_fast_decimal().
 * `kind`, a constant, is NUMERIC or DECIMAL64.
 */
static inline __attribute__((always_inline)) uint32_t
fill_fast_numerics(CsvFill *fill, uint32_t from, uint32_t to, int kind,
				   uint32_t *left)
{
	static const uint32_t powers[9] = {
		1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000
	};
	const __m256i zero = _mm256_setzero_si256();
	const __m256i one = _mm256_set1_epi32(1);
	const __m256i eights = _mm256_set1_epi32(8);
	const int	scale = fill->column->scale;
	const int	whole_digits = fill->column->precision - scale;
	const __m256i most = _mm256_set1_epi32((int) powers[whole_digits < 8 ? whole_digits : 8] - 1);
	const __m128i point_shift = _mm_cvtsi32_si128(56 - 8 * scale);
	const __m128i fraction_shift = _mm_cvtsi32_si128(32 - 8 * scale);
	const __m256i point = _mm256_set1_epi32(fill->layout->decimal_separator);
	const __m256i behind_whole = _mm256_set1_epi32(scale + 1);
	const uint32_t stride = fill->stride;
	CsvScalarFill scalar = make_scalar_fill(fill);
	uint32_t	nleft = 0;
	uint32_t	row = from;
	__m256i		any_null = zero;

	for (; to - row >= 8; row += 8)
	{
		CsvEight	eight;
		__m256i		done;
		CsvWide		text = load_eight(&scalar, row, &eight, &done);
		__m256i		n = _mm256_sub_epi32(eight.end, eight.start);
		__m256i		longer = _mm256_and_si256(eight.rows,
											  _mm256_cmpgt_epi32(n, eights));
		const bool	many = !_mm256_testz_si256(longer, longer);
		__m256i		negative = is_negative(scalar.finder.bytes, &eight, text,
										   n, many);
		__m256i		fraction = zero;
		__m256i		whole;
		__m256i		is_zero;
		__m256i		none_before;	/* per group: zero, and all outside it */
		__m256i		none_behind;
		__m256i		outer;
		__m256i		ndigits;
		__m256i		weight;
		__m256i		header;
		CsvWide		groups;

		any_null = _mm256_or_si256(any_null, done);
		n = _mm256_add_epi32(n, negative);
		if (scale > 0)
		{
			CsvWide		before;
			__m256i		pointed;
			__m256i		skip;
			__m256i		others;

			before.a = _mm256_srl_epi64(text.a, point_shift);
			before.b = _mm256_srl_epi64(text.b, point_shift);
			pointed = _mm256_and_si256(low_halves(before), _mm256_set1_epi32(0xFF));
			pointed = _mm256_cmpeq_epi32(pointed, point);
			pointed = _mm256_and_si256(pointed, _mm256_cmpgt_epi32(n, behind_whole));

			/* as the first of four digits, or as the last */
			fraction = _mm256_xor_si256(high_halves(text), _mm256_set1_epi8('0'));
			fraction = _mm256_srl_epi32(fraction, fraction_shift);
			if (kind == CSV_KIND_DECIMAL64)
				fraction = _mm256_sll_epi32(fraction, fraction_shift);
			fraction = _mm256_and_si256(fraction, pointed);
			others = above_nine(fraction);
			eight.rows = _mm256_and_si256(eight.rows,
										  _mm256_cmpeq_epi32(others, zero));
			fraction = digit_fours(fraction);

			skip = _mm256_and_si256(pointed, behind_whole);
			n = _mm256_sub_epi32(n, skip);
			if (many)
				text = load8(scalar.finder.bytes,
							   _mm256_sub_epi32(_mm256_sub_epi32(eight.end, skip),
												eights));
			else
			{
				CsvWide		shifts = widen(_mm256_slli_epi32(skip, 3));

				text.a = _mm256_sllv_epi64(text.a, shifts.a);
				text.b = _mm256_sllv_epi64(text.b, shifts.b);
			}
		}
		eight.rows = _mm256_and_si256(eight.rows, _mm256_cmpgt_epi32(n, zero));
		eight.rows = _mm256_andnot_si256(_mm256_cmpgt_epi32(n, eights), eight.rows);
		whole = eight_digit_fours(last_digits(text, n, &eight.rows));
		if (whole_digits < 8)
			eight.rows = _mm256_andnot_si256(_mm256_cmpgt_epi32(join_fours(whole), most),
											 eight.rows);

		if (kind == CSV_KIND_DECIMAL64)
		{
			store_wide(scalar.values + (size_t) row * 8,
					   and_wide(add_product(join_fours(whole), powers[scale],
											fraction, negative), eight.rows));
			nleft += leave_rows(row, mask_of(_mm256_or_si256(eight.rows, done)),
								left + nleft);
			continue;
		}

		/*
		 * Groups of 10,000 in 16 bits each, the highest in the low bits; outer
		 * zeros go.  (All ones are -1.)
		 */
		none_behind = _mm256_cmpeq_epi32(fraction, zero);
		none_before = _mm256_cmpeq_epi32(whole, zero);
		is_zero = _mm256_and_si256(none_before, none_behind);
		outer = _mm256_cmpeq_epi32(_mm256_slli_epi32(whole, 16), zero);
		outer = _mm256_sub_epi32(zero, _mm256_add_epi32(outer, none_before));
		ndigits = _mm256_sub_epi32(_mm256_set1_epi32(3), outer);
		ndigits = _mm256_add_epi32(ndigits, none_behind);
		ndigits = _mm256_add_epi32(ndigits,
								   _mm256_and_si256(none_behind,
													_mm256_cmpeq_epi32(_mm256_srli_epi32(whole, 16), zero)));
		ndigits = _mm256_andnot_si256(is_zero, ndigits);
		weight = _mm256_andnot_si256(is_zero, _mm256_sub_epi32(one, outer));

		groups = join_halves(whole, fraction);
		{
			CsvWide		shifts = widen(_mm256_slli_epi32(outer, 4));

			groups.a = _mm256_srlv_epi64(groups.a, shifts.a);
			groups.b = _mm256_srlv_epi64(groups.b, shifts.b);
		}
		whole = low_halves(groups);
		fraction = high_halves(groups);

		/* (6 + 2 * ndigits) << 2, then the short header and the digits */
		ndigits = _mm256_add_epi32(_mm256_slli_epi32(ndigits, 3), _mm256_set1_epi32(24));
		header = _mm256_and_si256(weight, _mm256_set1_epi32(0x7F));
		header = _mm256_or_si256(header, _mm256_set1_epi32(0x8000 | scale << 7));
		negative = _mm256_andnot_si256(is_zero, negative);
		header = _mm256_or_si256(header,
								 _mm256_and_si256(negative, _mm256_set1_epi32(1 << 13)));
		header = _mm256_or_si256(header, _mm256_slli_epi32(whole, 16));
		whole = _mm256_or_si256(_mm256_srli_epi32(whole, 16),
								_mm256_slli_epi32(fraction, 16));
		store_numerics(scalar.values + (size_t) row * stride, stride,
					   _mm256_and_si256(ndigits, eight.rows),
					   _mm256_and_si256(header, eight.rows),
					   _mm256_and_si256(whole, eight.rows));
		nleft += leave_rows(row, mask_of(_mm256_or_si256(eight.rows, done)),
							left + nleft);
	}
	fill->any_not_ok |= !_mm256_testz_si256(any_null, any_null);
	return nleft + leave_rest(row, to, left + nleft);
}

/* ---- text ---- */

/*
 * Entries of eight bytes: a header, and up to four bytes of text.
 */
static uint32_t
fill_narrow_text(CsvFill *fill, uint32_t from, uint32_t to, uint32_t *left)
{
	const __m256i zero = _mm256_setzero_si256();
	const __m256i one = _mm256_set1_epi32(1);
	CsvTextFill text = make_text_fill(fill);
	const __m256i quote = _mm256_set1_epi32(text.quote);
	const __m256i quotes = _mm256_set1_epi8((char) text.quote);
	const __m256i most = _mm256_set1_epi32((int) text.most);
	const __m256i pad_to = _mm256_set1_epi32((int) text.pad_to);
	uint32_t	nleft = 0;
	uint32_t	row = from;
	__m256i		any_null = zero;

	for (; to - row >= 8; row += 8)
	{
		CsvEight	eight = find_eight(&text.finder, row);
		__m256i		nulls = take_nulls(&eight, text.status + row,
									   text.null_length, text.empty_is_null);
		__m256i		value = gather4(eight.rows, text.finder.bytes, eight.start);
		__m256i		n = _mm256_sub_epi32(eight.end, eight.start);
		__m256i		quoted;
		__m256i		beyond;
		__m256i		special;
		__m256i		header;

		any_null = _mm256_or_si256(any_null, nulls);
		quoted = _mm256_cmpeq_epi32(_mm256_and_si256(value, _mm256_set1_epi32(0xFF)),
									quote);
		quoted = _mm256_and_si256(quoted, eight.rows);
		if (text.quote != 0 && !_mm256_testz_si256(quoted, quoted))
		{
			__m256i		back = gather4(quoted, text.finder.bytes,
									   _mm256_sub_epi32(eight.end, _mm256_set1_epi32(4)));
			__m256i		closed = _mm256_cmpeq_epi32(_mm256_srli_epi32(back, 24),
													quote);

			closed = _mm256_and_si256(closed, _mm256_cmpgt_epi32(n, one));
			if (text.has_escape)
				closed = zero;
			eight.rows = _mm256_andnot_si256(_mm256_andnot_si256(closed, quoted),
											 eight.rows);
			/* all ones are -1 */
			value = gather4(eight.rows, text.finder.bytes,
							_mm256_sub_epi32(eight.start, quoted));
			n = _mm256_add_epi32(n, _mm256_add_epi32(quoted, quoted));
		}

		/* blanks behind it; they are not looked at, unless padded with */
		beyond = _mm256_sllv_epi32(_mm256_set1_epi32(-1), _mm256_slli_epi32(n, 3));
		value = _mm256_blendv_epi8(value, _mm256_set1_epi8(' '), beyond);
		special = _mm256_or_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(1), value),
								  _mm256_cmpeq_epi8(value, quotes));
		eight.rows = _mm256_and_si256(eight.rows, _mm256_cmpeq_epi32(special, zero));
		eight.rows = _mm256_andnot_si256(_mm256_cmpgt_epi32(n, most), eight.rows);
		header = _mm256_max_epi32(n, pad_to);
		header = _mm256_slli_epi32(_mm256_add_epi32(header, _mm256_set1_epi32(4)), 2);
		store_wide(text.values + (size_t) row * 8,
				   join_halves(_mm256_and_si256(header, eight.rows),
							   _mm256_and_si256(value, eight.rows)));
		nleft += leave_rows(row, mask_of(_mm256_or_si256(eight.rows, nulls)),
							left + nleft);
	}
	fill->any_not_ok |= !_mm256_testz_si256(any_null, any_null);
	return nleft + leave_rest(row, to, left + nleft);
}

/* as many bytes of all ones as its start is before the middle */
static const uint8_t ones_then_zeros[64] = {
	255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255
};

/*
 * Copy n bytes of text, up to 32, and blanks behind them, `width` bytes (16 or
 * 32, a constant) in all.  A bit is set where it has bytes that are not plain,
 * or quotes.
 */
static inline __attribute__((always_inline)) uint32_t
copy_plain(uint8_t *to, const uint8_t *text, uint32_t n, uint8_t quote,
		   int width)
{
	const uint8_t *mask = ones_then_zeros + 32 - n;

	if (width == 16)
	{
		__m128i		block = _mm_loadu_si128((const __m128i *) text);
		__m128i		keep = _mm_loadu_si128((const __m128i *) mask);
		__m128i		special = _mm_or_si128(_mm_cmpgt_epi8(_mm_set1_epi8(1), block),
										   _mm_cmpeq_epi8(block, _mm_set1_epi8((char) quote)));

		_mm_storeu_si128((__m128i *) to,
						 _mm_blendv_epi8(_mm_set1_epi8(' '), block, keep));
		return (uint32_t) _mm_movemask_epi8(_mm_and_si128(special, keep));
	}
	else
	{
		__m256i		block = _mm256_loadu_si256((const __m256i *) text);
		__m256i		keep = _mm256_loadu_si256((const __m256i *) mask);
		__m256i		special = _mm256_or_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(1), block),
											  _mm256_cmpeq_epi8(block, _mm256_set1_epi8((char) quote)));

		_mm256_storeu_si256((__m256i *) to,
							_mm256_blendv_epi8(_mm256_set1_epi8(' '), block, keep));
		return (uint32_t) _mm256_movemask_epi8(_mm256_and_si256(special, keep));
	}
}

/*
 * Entries with room for at most `width` bytes of text: 16 or 32, a constant;
 * 0: for any number.
 */
static inline __attribute__((always_inline)) uint32_t
fill_wide_text(CsvFill *fill, uint32_t from, uint32_t to,
			   const uint8_t *limit, uint32_t *left, int width)
{
	const CsvTextFill text = make_text_fill(fill);
	uint32_t	nleft = 0;
	uint32_t	row = from;
	__m256i		any_null = _mm256_setzero_si256();

	for (; to - row >= 8; row += 8)
	{
		CsvEight	eight = find_eight(&text.finder, row);
		__m256i		nulls = take_nulls(&eight, text.status + row,
									   text.null_length, text.empty_is_null);
		const uint32_t rows = mask_of(eight.rows);
		uint32_t	done = mask_of(nulls);
		uint8_t    *entry = text.values + (size_t) row * text.stride;
		uint32_t	start[8];
		uint32_t	end[8];

		any_null = _mm256_or_si256(any_null, nulls);
		_mm256_storeu_si256((__m256i *) start, eight.start);
		_mm256_storeu_si256((__m256i *) end, eight.end);
		for (uint32_t lane = 0; lane < 8; lane++, entry += text.stride)
		{
			const uint8_t *value = text.finder.bytes + start[lane];
			uint32_t	n = end[lane] - start[lane];
			uint32_t	special = 0;
			uint32_t	nbytes;
			uint32_t	header;

			if ((rows & 1u << lane) == 0)
				continue;
			if (text.quote != 0 && *value == text.quote && n > 0)
			{
				if (text.has_escape || n < 2 || value[n - 1] != text.quote)
					continue;
				value++;
				n -= 2;
			}
			nbytes = n < text.pad_to ? text.pad_to : n;
			if (n > text.most || nbytes > text.stride - 4 ||
				entry + 4 + (width != 0 ? (uint32_t) width : nbytes + 32) > limit)
				continue;
			header = csv_varlena_header(nbytes);
			memcpy(entry, &header, 4);
			if (width != 0)
				special = copy_plain(entry + 4, value, n, text.quote, width);
			else
				for (uint32_t i = 0; i < nbytes; i += 32)
				{
					/* nothing is read behind the value's end but its margin */
					uint32_t	at = i < n ? i : n;
					uint32_t	rest = n - at;

					special |= copy_plain(entry + 4 + i, value + at,
										  rest < 32 ? rest : 32, text.quote, 32);
				}
			done |= (uint32_t) (special == 0) << lane;
		}
		nleft += leave_rows(row, done, left + nleft);
	}
	fill->any_not_ok |= !_mm256_testz_si256(any_null, any_null);
	return nleft + leave_rest(row, to, left + nleft);
}

static uint32_t
fill_text(CsvFill *fill, uint32_t from, uint32_t to, const uint8_t *limit,
		  uint32_t *left)
{
	if (fill->stride == 8)
		return fill_narrow_text(fill, from, to, left);
	if (fill->stride <= 4 + 16)
		return fill_wide_text(fill, from, to, limit, left, 16);
	if (fill->stride <= 4 + 32)
		return fill_wide_text(fill, from, to, limit, left, 32);
	return fill_wide_text(fill, from, to, limit, left, 0);
}

#include "fill_kinds.h"

const CsvFillFunctions csv_fill_avx2 = {
	.widest = widest,
	.vectors = CSV_VECTOR_KINDS
};

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

const CsvFillFunctions csv_fill_avx2;

#endif
