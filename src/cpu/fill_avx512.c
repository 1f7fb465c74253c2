/*
 * fill_avx512.c
 *		Fills arrays of integers, numerics, dates and text by vectors of
 *		AVX-512.
 *
 * Eight rows at a time: one gather finds where their fields begin and end,
 * another fetches the eight characters that end each of them into a lane of 64
 * bits.  What stands before a field is masked off, and eight digits become a
 * number by three multiplications of neighbours (by 10 and 1, by 100 and 1, by
 * 10,000 and 1), in all lanes at once.  A lane where anything is not as
 * expected joins the rows that are left.
 *
 * This takes what fast.h does and gives the same for it.  The input's margin
 * makes it safe to fetch before a field's start, and 64 bytes beyond it.
 *
 * Text is moved a row at a time, 64 bytes with one load, and checked while it
 * is in the register: without quotes inside, zero bytes and bytes beyond ASCII
 * a character is a byte, and there is nothing to remove.
 */
#include "fill.h"

#if defined(__x86_64__)

#ifdef __clang__
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi2,avx2,popcnt,bmi,bmi2,lzcnt"))), \
							 apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi2,avx2,popcnt,bmi,bmi2,lzcnt")
#include <immintrin.h>
#endif

#include <string.h>

#include "../reader/field.h"
#include "fill_vectors.h"

/* the fields of a column in eight rows, at [start, end) of the bytes */
typedef struct CsvEight
{
	__m256i		start;
	__m256i		end;
	__mmask8	rows;			/* those that are there, not bad, and have the
								 * field; in other lanes nothing has a meaning */
} CsvEight;

static inline __m256i
gather4(__mmask8 lanes, const uint8_t *bytes, __m256i offsets)
{
	return _mm256_mmask_i32gather_epi32(_mm256_setzero_si256(), lanes, offsets,
										bytes, 1);
}

static inline __m512i
gather8(__mmask8 lanes, const uint8_t *bytes, __m256i offsets)
{
	return _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), lanes, offsets,
									   bytes, 1);
}

/* a member of the records from `record` on */
static inline __m256i
gather_records(__mmask8 lanes, const CsvIndexRecord *record, size_t member)
{
	const int	stride = sizeof(CsvIndexRecord);

	return gather4(lanes, (const uint8_t *) record + member,
				   _mm256_setr_epi32(0, stride, 2 * stride, 3 * stride,
									 4 * stride, 5 * stride, 6 * stride,
									 7 * stride));
}

static inline CsvEight
find_eight(const CsvFinder *finder, uint32_t row, uint32_t to)
{
	const CsvIndexRecord *record = &finder->records[row];
	const __m256i zero = _mm256_setzero_si256();
	__m256i		nfields = _mm256_set1_epi32((int) finder->nfields);
	__m256i		field = _mm256_set1_epi32((int) finder->field);
	const uint32_t *positions = finder->positions;
	__m256i		first;			/* index of the record's first separator */
	CsvEight	eight;

	eight.rows = to - row >= 8 ? 0xFF : (__mmask8) _bzhi_u32(0xFF, to - row);
	if (finder->uniform)
	{
		positions += (size_t) row * finder->nfields;
		first = _mm256_mullo_epi32(nfields,
								   _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
	}
	else
	{
		first = gather_records(eight.rows, record,
							   offsetof(CsvIndexRecord, first_separator));
		nfields = _mm256_sub_epi32(gather_records(eight.rows, record + 1,
												  offsetof(CsvIndexRecord, first_separator)),
								   first);
		eight.rows &= _mm256_cmplt_epu32_mask(field, nfields);
		if (finder->bad != NULL)
			for (uint32_t lane = 0; lane < 8 && row + lane < to; lane++)
				if (finder->bad[row + lane] != 0)
					eight.rows &= (__mmask8) ~(1 << lane);
	}

	if (finder->field == 0)
	{
		eight.start = gather_records(eight.rows, record,
									 offsetof(CsvIndexRecord, start));
		eight.end = _mm256_mmask_i32gather_epi32(zero, eight.rows, first,
												 positions, 4);
	}
	else
	{
		/* two that are neighbours */
		__m512i		both = _mm512_mask_i32gather_epi64(_mm512_setzero_si512(),
													   eight.rows,
													   _mm256_add_epi32(first, field),
													   positions - 1, 4);

		eight.start = _mm256_add_epi32(_mm512_cvtepi64_epi32(both),
									   _mm256_set1_epi32(1));
		eight.end = _mm512_cvtepi64_epi32(_mm512_srli_epi64(both, 32));
	}

	if (finder->trim_cr)
	{
		/* as csv_content_end() */
		__mmask8	last = _mm256_mask_cmpeq_epi32_mask(eight.rows,
														_mm256_add_epi32(field, _mm256_set1_epi32(1)),
														nfields);

		if (last != 0)
		{
			__m256i		before = gather4(last, finder->bytes,
										 _mm256_sub_epi32(eight.end, _mm256_set1_epi32(4)));

			last &= _mm256_cmpeq_epi32_mask(_mm256_srli_epi32(before, 24),
											_mm256_set1_epi32('\r')) &
				_mm256_cmpgt_epi32_mask(eight.end, eight.start) &
				_mm256_cmplt_epi32_mask(eight.end,
										_mm256_set1_epi32((int) finder->nbytes));
			eight.end = _mm256_mask_sub_epi32(eight.end, last, eight.end,
											  _mm256_set1_epi32(1));
		}
	}
	return eight;
}

static uint64_t
widest(const CsvFinder *finder, uint32_t from, uint32_t to)
{
	__m256i		width = _mm256_setzero_si256();

	for (uint32_t row = from; row < to; row += 8)
	{
		CsvEight	eight = find_eight(finder, row, to);

		width = _mm256_mask_max_epi32(width, eight.rows, width,
									  _mm256_sub_epi32(eight.end, eight.start));
	}
	return (uint64_t) _mm512_reduce_max_epi32(_mm512_zextsi256_si512(width));
}

/* ---- numbers and dates ---- */

/*
 * The last eight characters of eight rows' values, quotes around them removed,
 * and the values' places.  Sets the status of those that are NULL; `done` are
 * these rows, `rows` in the result those that may be values to convert.
 */
static inline __m512i
load_eight(CsvScalarFill *scalar, uint32_t row, uint32_t to, CsvEight *eight,
		   __mmask8 *done)
{
	const __m256i one = _mm256_set1_epi32(1);
	const __m256i eights = _mm256_set1_epi32(8);
	const uint8_t *bytes = scalar->finder.bytes;
	__m256i		length;
	__mmask8	may_be_null;
	__m512i		text;

	*eight = find_eight(&scalar->finder, row, to);
	length = _mm256_sub_epi32(eight->end, eight->start);
	may_be_null = _mm256_mask_cmpeq_epi32_mask(eight->rows, length,
											   scalar->null_length);
	eight->rows &= (__mmask8) ~may_be_null;
	*done = 0;
	if (scalar->empty_is_null && may_be_null != 0)
	{
		*done = may_be_null;
		_mm_mask_storeu_epi8(scalar->status + row, may_be_null,
							 _mm_set1_epi8(CSV_VALUE_NULL));
	}

	text = gather8(eight->rows, bytes, _mm256_sub_epi32(eight->end, eights));
	if (scalar->quote != 0)
	{
		__m256i		quote = _mm256_set1_epi32(scalar->quote);
		__mmask8	quoted = _mm512_mask_cmpeq_epi64_mask(eight->rows,
														  _mm512_srli_epi64(text, 56),
														  _mm512_set1_epi64(scalar->quote));

		if (quoted != 0)
		{
			__m256i		front = gather4(quoted, bytes, eight->start);

			quoted = _mm256_mask_cmpeq_epi32_mask(quoted,
												  _mm256_and_si256(front, _mm256_set1_epi32(0xFF)),
												  quote);
			quoted = _mm256_mask_cmpgt_epi32_mask(quoted, length, one);
			eight->start = _mm256_mask_add_epi32(eight->start, quoted,
												 eight->start, one);
			eight->end = _mm256_mask_sub_epi32(eight->end, quoted,
											   eight->end, one);
			text = gather8(eight->rows, bytes,
						   _mm256_sub_epi32(eight->end, eights));
			length = _mm256_sub_epi32(eight->end, eight->start);
		}
	}
	eight->rows = _mm256_mask_cmple_epu32_mask(eight->rows, length,
											   scalar->most_bytes);
	return text;
}

/* list the rows that are not done */
static inline uint32_t
leave_rows(uint32_t row, uint32_t to, __mmask8 done, uint32_t *left)
{
	__mmask8	rows = to - row >= 8 ? 0xFF :
		(__mmask8) _bzhi_u32(0xFF, to - row);

	rows &= (__mmask8) ~done;
	_mm256_mask_compressstoreu_epi32(left, rows,
									 _mm256_add_epi32(_mm256_set1_epi32((int) row),
													  _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)));
	return csv_popcount(rows);
}

/* the lanes with any of these bytes */
static inline __mmask8
lanes_of_bytes(__mmask64 some)
{
	__m512i		marked = _mm512_movm_epi8(some);

	return _mm512_test_epi64_mask(marked, marked);
}

/*
 * The last n characters of each lane as digits' values, with zeros before
 * them; n from 0 on, above 8 as 8.  Takes out of `rows` where they are not all
 * digits.
 */
static inline __m512i
last_digits(__m512i text, __m512i n, __mmask8 *rows)
{
	const __m512i zeros = _mm512_set1_epi8('0');
	__m512i		shift = _mm512_slli_epi64(_mm512_sub_epi64(_mm512_set1_epi64(8), n), 3);
	__m512i		keep = _mm512_sllv_epi64(_mm512_set1_epi64(-1),
										 _mm512_max_epi64(shift, _mm512_setzero_si512()));
	__m512i		digits = _mm512_and_si512(_mm512_xor_si512(text, zeros), keep);
	__mmask64	others = _mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9));

	if (__builtin_expect(others != 0, 0))
		*rows &= (__mmask8) ~lanes_of_bytes(others);
	return digits;
}

/* two numbers of four digits in the halves of each lane */
static inline __m512i
digit_fours(__m512i digits)
{
	const __m512i tens = _mm512_set1_epi16(10 | 1 << 8);
	const __m512i hundreds = _mm512_set1_epi32(100 | 1 << 16);

	return _mm512_madd_epi16(_mm512_maddubs_epi16(digits, tens), hundreds);
}

/* the number of eight digits, from the two halves */
static inline __m512i
join_fours(__m512i fours)
{
	return _mm512_add_epi64(_mm512_mul_epu32(fours, _mm512_set1_epi64(10000)),
							_mm512_srli_epi64(fours, 32));
}

/* does the text, n characters that end the lane, start with a minus? */
static inline __mmask8
is_negative(__m512i text, __m512i n, __mmask8 rows)
{
	__m512i		shift = _mm512_slli_epi64(_mm512_sub_epi64(_mm512_set1_epi64(8), n), 3);
	__m512i		front = _mm512_srlv_epi64(text, shift);

	return _mm512_mask_cmpeq_epi64_mask(rows,
										_mm512_and_si512(front, _mm512_set1_epi64(0xFF)),
										_mm512_set1_epi64('-'));
}

/*
 * The same for values that may be longer than eight characters.
 */
static inline __mmask8
is_negative_long(const uint8_t *bytes, const CsvEight *eight)
{
	__m256i		front = gather4(eight->rows, bytes, eight->start);

	return _mm256_mask_cmpeq_epi32_mask(eight->rows,
										_mm256_and_si256(front, _mm256_set1_epi32(0xFF)),
										_mm256_set1_epi32('-'));
}

static inline __attribute__((always_inline)) uint32_t
fill_integers(CsvFill *fill, uint32_t from, uint32_t to, int kind,
			  uint32_t *left)
{
	const __m512i zero = _mm512_setzero_si512();
	const __m512i one = _mm512_set1_epi64(1);
	const __m512i eights = _mm512_set1_epi64(8);
	CsvScalarFill scalar = make_scalar_fill(fill);
	uint32_t	nleft = 0;
	__mmask8	any_null = 0;

	for (uint32_t row = from; row < to; row += 8)
	{
		CsvEight	eight;
		__mmask8	done;
		__mmask8	negative;
		__mmask8	many;
		__m512i		text = load_eight(&scalar, row, to, &eight, &done);
		__m512i		n = _mm512_cvtepi32_epi64(_mm256_sub_epi32(eight.end, eight.start));
		__m512i		number;

		any_null |= done;
		many = _mm512_mask_cmpgt_epi64_mask(eight.rows, n, eights);
		negative = many == 0 ? is_negative(text, n, eight.rows) :
			is_negative_long(scalar.finder.bytes, &eight);
		n = _mm512_mask_sub_epi64(n, negative, n, one);

		/* 1 to 16 digits */
		eight.rows = _mm512_mask_cmple_epu64_mask(eight.rows,
												  _mm512_sub_epi64(n, one),
												  _mm512_set1_epi64(15));
		number = join_fours(digit_fours(last_digits(text, n, &eight.rows)));
		if (many != 0)
		{
			__m512i		higher = gather8(many, scalar.finder.bytes,
										 _mm256_sub_epi32(eight.end, _mm256_set1_epi32(16)));

			n = _mm512_max_epi64(_mm512_sub_epi64(n, eights), zero);
			higher = join_fours(digit_fours(last_digits(higher, n, &eight.rows)));
			number = _mm512_add_epi64(number,
									  _mm512_mullo_epi64(higher, _mm512_set1_epi64(100000000)));
		}
		number = _mm512_mask_sub_epi64(number, negative, zero, number);
		if (kind == CSV_KIND_INT8)
			_mm512_mask_storeu_epi64(scalar.values + (size_t) row * 8,
									 eight.rows | done,
									 _mm512_maskz_mov_epi64(eight.rows, number));
		else if (kind == CSV_KIND_INT4)
		{
			__m256i		narrow = _mm512_cvtepi64_epi32(number);

			eight.rows = _mm512_mask_cmpeq_epi64_mask(eight.rows, number,
													  _mm512_cvtepi32_epi64(narrow));
			_mm256_mask_storeu_epi32(scalar.values + (size_t) row * 4,
									 eight.rows | done,
									 _mm256_maskz_mov_epi32(eight.rows, narrow));
		}
		else
		{
			__m128i		narrow = _mm512_cvtepi64_epi16(number);

			eight.rows = _mm512_mask_cmpeq_epi64_mask(eight.rows, number,
													  _mm512_cvtepi16_epi64(narrow));
			_mm_mask_storeu_epi16(scalar.values + (size_t) row * 2,
								  eight.rows | done,
								  _mm_maskz_mov_epi16(eight.rows, narrow));
		}
		nleft += leave_rows(row, to, eight.rows | done, left + nleft);
	}
	fill->any_not_ok |= any_null != 0;
	return nleft;
}

/*
 * Days since 2000-01-01 of the dates in `rows`; takes out those that are none.
 * Years are 0 to 9999, months and days 0 to 99, so that products with the
 * reciprocals of 100 and 5 are exact quotients.
 */
static inline __m256i
days_of_dates(__m256i year, __m256i month, __m256i day, __mmask8 *rows)
{
	const __m256i one = _mm256_set1_epi32(1);
	const __m256i two = _mm256_set1_epi32(2);
	const __m256i three = _mm256_set1_epi32(3);
	__m256i		century = _mm256_srli_epi32(_mm256_mullo_epi32(year, _mm256_set1_epi32(5243)), 19);
	__m256i		month_days;
	__m256i		since_march;
	__mmask8	february = _mm256_cmpeq_epi32_mask(month, two);
	__mmask8	leap = _mm256_testn_epi32_mask(year, three) &
		(_mm256_cmpneq_epi32_mask(_mm256_mullo_epi32(century, _mm256_set1_epi32(100)), year) |
		 _mm256_testn_epi32_mask(century, three));
	__mmask8	early = _mm256_cmple_epi32_mask(month, two);

	/* odd months to July and even ones from August on have 31 days */
	month_days = _mm256_xor_si256(month, _mm256_srli_epi32(month, 3));
	month_days = _mm256_or_si256(_mm256_and_si256(month_days, one),
								 _mm256_set1_epi32(30));
	month_days = _mm256_mask_mov_epi32(month_days, february, _mm256_set1_epi32(28));
	month_days = _mm256_mask_add_epi32(month_days, february & leap, month_days, one);
	*rows = _mm256_mask_cmpneq_epi32_mask(*rows, year, _mm256_setzero_si256()) &
		_mm256_cmplt_epu32_mask(_mm256_sub_epi32(month, one), _mm256_set1_epi32(12)) &
		_mm256_cmplt_epu32_mask(_mm256_sub_epi32(day, one), month_days);

	/* years that begin in March end with the leap day */
	since_march = _mm256_sub_epi32(month, three);
	since_march = _mm256_mask_add_epi32(since_march, early, since_march, _mm256_set1_epi32(12));
	year = _mm256_mask_sub_epi32(year, early, year, one);
	return days_since_march(year, since_march, day);
}

static uint32_t
fill_dates(CsvFill *fill, uint32_t from, uint32_t to, const uint8_t *limit,
		   uint32_t *left)
{
	const __m512i byte_mask = _mm512_set1_epi64(0xFFFF);
	CsvScalarFill scalar = make_scalar_fill(fill);
	uint32_t	nleft = 0;
	__mmask8	any_null = 0;

	(void) limit;
	for (uint32_t row = from; row < to; row += 8)
	{
		CsvEight	eight;
		__mmask8	done;
		__m512i		back = load_eight(&scalar, row, to, &eight, &done);
		__m512i		front;
		__m512i		digits;
		__m512i		pairs;
		__m256i		days;

		/* YYYY-MM-DD: two words of it that overlap */
		any_null |= done;
		eight.rows = _mm256_mask_cmpeq_epi32_mask(eight.rows,
												  _mm256_sub_epi32(eight.end, eight.start),
												  _mm256_set1_epi32(10));
		front = gather8(eight.rows, scalar.finder.bytes, eight.start);
		eight.rows = _mm512_mask_cmpeq_epi64_mask(eight.rows,
												  _mm512_and_si512(front, _mm512_set1_epi64((long long) 0xFF0000FF00000000)),
												  _mm512_set1_epi64(0x2D00002D00000000));

		/* the digits as YYYYMMDD */
		digits = _mm512_and_si512(front, _mm512_set1_epi64(0xFFFFFFFF));
		digits = _mm512_or_si512(digits,
								 _mm512_and_si512(_mm512_srli_epi64(front, 8),
												  _mm512_set1_epi64(0x0000FFFF00000000)));
		digits = _mm512_or_si512(digits,
								 _mm512_and_si512(back, _mm512_set1_epi64((long long) 0xFFFF000000000000)));
		digits = last_digits(digits, _mm512_set1_epi64(8), &eight.rows);
		pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(10 | 1 << 8));
		days = days_of_dates(_mm512_cvtepi64_epi32(_mm512_madd_epi16(pairs, _mm512_set1_epi64(100 | 1 << 16))),
							 _mm512_cvtepi64_epi32(_mm512_and_si512(_mm512_srli_epi64(pairs, 32), byte_mask)),
							 _mm512_cvtepi64_epi32(_mm512_srli_epi64(pairs, 48)),
							 &eight.rows);
		_mm256_mask_storeu_epi32(scalar.values + (size_t) row * 4,
								 eight.rows | done,
								 _mm256_maskz_mov_epi32(eight.rows, days));
		nleft += leave_rows(row, to, eight.rows | done, left + nleft);
	}
	fill->any_not_ok |= any_null != 0;
	return nleft;
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
	const __m512i zero = _mm512_setzero_si512();
	const __m512i one = _mm512_set1_epi64(1);
	const __m512i eights = _mm512_set1_epi64(8);
	const int	scale = fill->column->scale;
	const int	whole_digits = fill->column->precision - scale;
	const __m512i too_large = _mm512_set1_epi64(powers[whole_digits < 8 ? whole_digits : 8]);
	const __m128i point_shift = _mm_cvtsi32_si128(56 - 8 * scale);
	const __m128i whole_shift = _mm_cvtsi32_si128(8 * (scale + 1));
	const __m128i fraction_shift = _mm_cvtsi32_si128(64 - 8 * scale);
	const __m512i point = _mm512_set1_epi64(fill->layout->decimal_separator);
	const uint32_t stride = fill->stride;
	CsvScalarFill scalar = make_scalar_fill(fill);
	uint32_t	nleft = 0;
	__mmask8	any_null = 0;

	for (uint32_t row = from; row < to; row += 8)
	{
		CsvEight	eight;
		__mmask8	done;
		__mmask8	negative;
		__mmask8	pointed = 0;
		__mmask8	not_zero;
		__m512i		text = load_eight(&scalar, row, to, &eight, &done);
		__m512i		n = _mm512_cvtepi32_epi64(_mm256_sub_epi32(eight.end, eight.start));
		__m512i		whole = text;
		__m512i		groups = zero;
		__m512i		zeros;
		__m512i		ndigits;
		__m512i		weight;
		__m512i		low;
		__m512i		high;
		bool		many;

		any_null |= done;
		many = _mm512_mask_cmpgt_epi64_mask(eight.rows, n, eights) != 0;
		negative = !many ? is_negative(text, n, eight.rows) :
			is_negative_long(scalar.finder.bytes, &eight);
		n = _mm512_mask_sub_epi64(n, negative, n, one);
		if (scale > 0)
		{
			__m512i		fraction;
			__mmask8	good = eight.rows;

			pointed = _mm512_mask_cmpgt_epi64_mask(eight.rows, n,
												   _mm512_set1_epi64(scale + 1));
			pointed = _mm512_mask_cmpeq_epi64_mask(pointed,
												   _mm512_and_si512(_mm512_srl_epi64(text, point_shift),
																	_mm512_set1_epi64(0xFF)),
												   point);
			fraction = last_digits(text, _mm512_set1_epi64(scale), &good);
			eight.rows &= (__mmask8) (good | ~pointed);

			if (kind == CSV_KIND_DECIMAL64)
				groups = _mm512_maskz_mov_epi64(pointed, join_fours(digit_fours(fraction)));
			else
			{
				/* as the first of four digits; then it is the third group */
				fraction = digit_fours(_mm512_srl_epi64(fraction, fraction_shift));
				groups = _mm512_maskz_slli_epi64(pointed, fraction, 32);
			}
			n = _mm512_mask_sub_epi64(n, pointed, n, _mm512_set1_epi64(scale + 1));
			if (many)
				whole = _mm512_mask_i32gather_epi64(text, pointed,
													_mm256_sub_epi32(eight.end, _mm256_set1_epi32(scale + 1 + 8)),
													scalar.finder.bytes, 1);
			else
				whole = _mm512_mask_sll_epi64(text, pointed, text, whole_shift);
		}
		eight.rows = _mm512_mask_cmple_epu64_mask(eight.rows,
												  _mm512_sub_epi64(n, one),
												  _mm512_set1_epi64(7));
		whole = digit_fours(last_digits(whole, n, &eight.rows));
		if (whole_digits < 8)
			eight.rows = _mm512_mask_cmplt_epu64_mask(eight.rows,
													  join_fours(whole), too_large);

		if (kind == CSV_KIND_DECIMAL64)
		{
			__m512i		number = _mm512_mullo_epi64(join_fours(whole),
													_mm512_set1_epi64(powers[scale]));

			number = _mm512_add_epi64(number, groups);
			number = _mm512_mask_sub_epi64(number, negative, zero, number);
			_mm512_mask_storeu_epi64(scalar.values + (size_t) row * 8,
									 eight.rows | done,
									 _mm512_maskz_mov_epi64(eight.rows, number));
			nleft += leave_rows(row, to, eight.rows | done, left + nleft);
			continue;
		}

		/* groups of 10,000, the highest in the low bits; outer zeros go */
		whole = _mm512_and_si512(_mm512_or_si512(whole, _mm512_srli_epi64(whole, 16)),
								 _mm512_set1_epi64(0xFFFFFFFF));
		groups = _mm512_or_si512(groups, whole);
		not_zero = _mm512_test_epi64_mask(groups, groups);
		zeros = _mm512_and_si512(groups, _mm512_sub_epi64(zero, groups));
		zeros = _mm512_sub_epi64(_mm512_set1_epi64(63), _mm512_lzcnt_epi64(zeros));
		zeros = _mm512_maskz_srli_epi64(not_zero, zeros, 4);
		ndigits = _mm512_srli_epi64(_mm512_lzcnt_epi64(groups), 4);
		ndigits = _mm512_sub_epi64(_mm512_sub_epi64(_mm512_set1_epi64(4), ndigits), zeros);
		groups = _mm512_srlv_epi64(groups, _mm512_slli_epi64(zeros, 4));
		weight = _mm512_maskz_sub_epi64(not_zero, one, zeros);

		/* (6 + 2 * ndigits) << 2, then the short header and the digits */
		low = _mm512_add_epi64(_mm512_slli_epi64(ndigits, 3), _mm512_set1_epi64(24));
		high = _mm512_and_si512(weight, _mm512_set1_epi64(0x7F));
		high = _mm512_or_si512(high, _mm512_set1_epi64(0x8000 | scale << 7));
		high = _mm512_mask_or_epi64(high, negative & not_zero, high,
									_mm512_set1_epi64(1 << 13));
		high = _mm512_or_si512(high, _mm512_slli_epi64(groups, 16));
		low = _mm512_or_si512(low, _mm512_slli_epi64(high, 32));
		high = _mm512_srli_epi64(high, 32);
		if (stride == 16 && (eight.rows | done) == 0xFF)
		{
			uint8_t    *entry = scalar.values + (size_t) row * 16;

			_mm512_storeu_si512(entry,
								_mm512_permutex2var_epi64(low, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), high));
			_mm512_storeu_si512(entry + 64,
								_mm512_permutex2var_epi64(low, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), high));
		}
		else
		{
			uint8_t    *entry = scalar.values + (size_t) row * stride;
			__m256i		offsets = _mm256_mullo_epi32(_mm256_set1_epi32((int) stride),
													 _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));

			_mm512_mask_i32scatter_epi64(entry, eight.rows, offsets, low, 1);
			_mm256_mask_i32scatter_epi32(entry + 8, eight.rows, offsets,
										 _mm512_cvtepi64_epi32(high), 1);
		}
		nleft += leave_rows(row, to, eight.rows | done, left + nleft);
	}
	fill->any_not_ok |= any_null != 0;
	return nleft;
}

/* ---- text ---- */

/* the places of eight rows' fields, and which of them are NULL */
static inline CsvEight
find_text(CsvTextFill *text, uint32_t row, uint32_t to, __mmask8 *nulls)
{
	CsvEight	eight = find_eight(&text->finder, row, to);
	__mmask8	may_be_null;

	may_be_null = _mm256_mask_cmpeq_epi32_mask(eight.rows,
											   _mm256_sub_epi32(eight.end, eight.start),
											   text->null_length);
	eight.rows &= (__mmask8) ~may_be_null;
	*nulls = 0;
	if (text->empty_is_null && may_be_null != 0)
	{
		*nulls = may_be_null;
		_mm_mask_storeu_epi8(text->status + row, may_be_null,
							 _mm_set1_epi8(CSV_VALUE_NULL));
	}
	return eight;
}

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
	uint32_t	nleft = 0;
	__mmask8	any_null = 0;

	for (uint32_t row = from; row < to; row += 8)
	{
		__mmask8	nulls;
		__mmask8	quoted;
		__mmask32	special;
		CsvEight	eight = find_text(&text, row, to, &nulls);
		__m256i		value = gather4(eight.rows, text.finder.bytes, eight.start);
		__m256i		n = _mm256_sub_epi32(eight.end, eight.start);
		__m256i		beyond;
		__m256i		header;

		any_null |= nulls;
		quoted = _mm256_mask_cmpeq_epi32_mask(eight.rows,
											  _mm256_and_si256(value, _mm256_set1_epi32(0xFF)),
											  quote);
		if (text.quote != 0 && quoted != 0)
		{
			__m256i		back = gather4(quoted, text.finder.bytes,
									   _mm256_sub_epi32(eight.end, _mm256_set1_epi32(4)));
			__mmask8	closed = _mm256_mask_cmpeq_epi32_mask(quoted,
															  _mm256_srli_epi32(back, 24),
															  quote);

			closed = _mm256_mask_cmpgt_epi32_mask(closed, n, one);
			if (text.has_escape)
				closed = 0;
			eight.rows &= (__mmask8) (closed | ~quoted);
			value = gather4(eight.rows, text.finder.bytes,
							_mm256_mask_add_epi32(eight.start, quoted, eight.start, one));
			n = _mm256_mask_sub_epi32(n, quoted, n, _mm256_set1_epi32(2));
		}

		/* blanks behind it; they are not looked at, unless padded with */
		beyond = _mm256_sllv_epi32(_mm256_set1_epi32(-1), _mm256_slli_epi32(n, 3));
		value = _mm256_or_si256(_mm256_andnot_si256(beyond, value),
								_mm256_and_si256(beyond, _mm256_set1_epi8(' ')));
		special = _mm256_cmple_epi8_mask(value, zero) |
			_mm256_cmpeq_epi8_mask(value, quotes);
		eight.rows = _mm256_mask_cmple_epu32_mask(eight.rows, n,
												  _mm256_set1_epi32((int) text.most));
		if (special != 0)
		{
			__m256i		marked = _mm256_movm_epi8(special);

			eight.rows &= (__mmask8) ~_mm256_test_epi32_mask(marked, marked);
		}
		header = _mm256_max_epi32(n, _mm256_set1_epi32((int) text.pad_to));
		header = _mm256_slli_epi32(_mm256_add_epi32(header, _mm256_set1_epi32(4)), 2);
		_mm512_mask_storeu_epi64(text.values + (size_t) row * 8, eight.rows,
								 _mm512_or_si512(_mm512_cvtepu32_epi64(header),
												 _mm512_slli_epi64(_mm512_cvtepu32_epi64(value), 32)));
		nleft += leave_rows(row, to, eight.rows | nulls, left + nleft);
	}
	fill->any_not_ok |= any_null != 0;
	return nleft;
}

/*
 * Copy n bytes of text and blanks behind them, `width` bytes (a constant) in
 * all.  False if it has bytes that are not plain, or quotes.
 */
static inline __attribute__((always_inline)) bool
copy_plain(uint8_t *to, const uint8_t *text, uint32_t n, uint8_t quote,
		   int width)
{
	if (width == 16)
	{
		__m128i		block = _mm_loadu_si128((const __m128i *) text);
		__mmask16	mask = (__mmask16) _bzhi_u32(0xFFFF, n);

		_mm_storeu_si128((__m128i *) to,
						 _mm_mask_mov_epi8(_mm_set1_epi8(' '), mask, block));
		return (mask & (_mm_cmple_epi8_mask(block, _mm_setzero_si128()) |
						_mm_cmpeq_epi8_mask(block, _mm_set1_epi8((char) quote)))) == 0;
	}
	else if (width == 32)
	{
		__m256i		block = _mm256_loadu_si256((const __m256i *) text);
		__mmask32	mask = _bzhi_u32(0xFFFFFFFF, n);

		_mm256_storeu_si256((__m256i *) to,
							_mm256_mask_mov_epi8(_mm256_set1_epi8(' '), mask, block));
		return (mask & (_mm256_cmple_epi8_mask(block, _mm256_setzero_si256()) |
						_mm256_cmpeq_epi8_mask(block, _mm256_set1_epi8((char) quote)))) == 0;
	}
	else
	{
		__m512i		block = _mm512_loadu_si512(text);
		__mmask64	mask = _bzhi_u64(UINT64_MAX, n);

		_mm512_storeu_si512(to,
							_mm512_mask_mov_epi8(_mm512_set1_epi8(' '), mask, block));
		return (mask & (_mm512_cmple_epi8_mask(block, _mm512_setzero_si512()) |
						_mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8((char) quote)))) == 0;
	}
}

/*
 * Entries with room for at most `width` bytes of text: 16, 32 or 64, a
 * constant; 0: for any number.
 */
static inline __attribute__((always_inline)) uint32_t
fill_wide_text(CsvFill *fill, uint32_t from, uint32_t to,
			   const uint8_t *limit, uint32_t *left, int width)
{
	const CsvTextFill text = make_text_fill(fill);
	uint32_t	nleft = 0;
	__mmask8	any_null = 0;

	for (uint32_t row = from; row < to; row += 8)
	{
		CsvTextFill finder = text;
		__mmask8	nulls;
		uint32_t	start[8];
		uint32_t	end[8];
		CsvEight	eight = find_text(&finder, row, to, &nulls);
		uint32_t	done = nulls;
		uint8_t    *entry = text.values + (size_t) row * text.stride;

		any_null |= nulls;
		_mm256_storeu_si256((__m256i *) start, eight.start);
		_mm256_storeu_si256((__m256i *) end, eight.end);
		for (uint32_t lane = 0; lane < 8; lane++, entry += text.stride)
		{
			const uint8_t *value = text.finder.bytes + start[lane];
			uint32_t	n = end[lane] - start[lane];
			uint32_t	nbytes;
			uint32_t	header;
			bool		plain = true;

			if ((eight.rows & 1u << lane) == 0)
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
				entry + 4 + (width != 0 ? (uint32_t) width : nbytes + 64) > limit)
				continue;
			header = csv_varlena_header(nbytes);
			memcpy(entry, &header, 4);
			if (width != 0)
				plain = copy_plain(entry + 4, value, n, text.quote, width);
			else
				for (uint32_t i = 0; i < nbytes; i += 64)
				{
					/* nothing is read behind the value's end but its margin */
					uint32_t	at = i < n ? i : n;
					uint32_t	rest = n - at;

					plain &= copy_plain(entry + 4 + i, value + at,
										rest < 64 ? rest : 64, text.quote, 64);
				}
			done |= (uint32_t) plain << lane;
		}
		nleft += leave_rows(row, to, (__mmask8) done, left + nleft);
	}
	fill->any_not_ok |= any_null != 0;
	return nleft;
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
	if (fill->stride <= 4 + 64)
		return fill_wide_text(fill, from, to, limit, left, 64);
	return fill_wide_text(fill, from, to, limit, left, 0);
}

#include "fill_kinds.h"

const CsvFillFunctions csv_fill_avx512 = {
	.widest = widest,
	.vectors = CSV_VECTOR_KINDS
};

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

const CsvFillFunctions csv_fill_avx512;

#endif
