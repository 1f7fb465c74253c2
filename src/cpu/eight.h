/*
 * eight.h
 *		Eight rows at a time in vectors of AVX2: where their fields are, which rows
 *		are NULL, and which are left to the loops of fill.c.
 *
 * The data of eight rows (offsets, lengths, numbers of up to eight digits) are in eight
 * lanes of 32 bits.  Conditions are in such lanes, too: all bits are 1, or 0.  Only
 * characters are in two registers, with four lanes of 64 bits each.
 *
 * The input has a margin, so bytes before a field's start, and up to 64 bytes beyond
 * it, can be loaded.
 */
#ifndef CSV_EIGHT_H
#define CSV_EIGHT_H

#include <immintrin.h>
#include <string.h>

#include "../reader/words.h"
#include "fill.h"
#include "target.h"

CSV_TARGET_BEGIN(CSV_TARGET_AVX2)

#define ALL_ROWS	0xFF

/* the fields of a column in eight rows, at [start, end) of the bytes */
typedef struct CsvEight
{
	__m256i		start;
	__m256i		end;
	__m256i		rows;			/* rows that are not bad, and have the field; in
								 * other lanes start and end have no meaning */
} CsvEight;

/*
 * 64 bits for each of eight rows, in the order of the instructions that unpack and pack
 * each half of a register by itself.
 */
typedef struct CsvWords
{
	__m256i		a;				/* rows 0, 1, 4 and 5 */
	__m256i		b;				/* rows 2, 3, 6 and 7 */
} CsvWords;

/* 64-bit words from their low and high 32 bits */
static inline __attribute__((always_inline)) CsvWords
join_halves(__m256i low, __m256i high)
{
	return (CsvWords) {
		_mm256_unpacklo_epi32(low, high), _mm256_unpackhi_epi32(low, high)
	};
}

/* 64-bit words from unsigned 32-bit lanes */
static inline __attribute__((always_inline)) CsvWords
widen(__m256i lanes)
{
	return join_halves(lanes, _mm256_setzero_si256());
}

static inline __m256i
low_halves(CsvWords wide)
{
	return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(wide.a),
												 _mm256_castsi256_ps(wide.b),
												 _MM_SHUFFLE(2, 0, 2, 0)));
}

static inline __m256i
high_halves(CsvWords wide)
{
	return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(wide.a),
												 _mm256_castsi256_ps(wide.b),
												 _MM_SHUFFLE(3, 1, 3, 1)));
}

/* eight words, in the order of rows */
static inline void
store_words(uint8_t *to, CsvWords wide)
{
	_mm256_storeu_si256((__m256i *) to,
						_mm256_permute2x128_si256(wide.a, wide.b, 0x20));
	_mm256_storeu_si256((__m256i *) (to + 32),
						_mm256_permute2x128_si256(wide.a, wide.b, 0x31));
}

/* a mask with a bit per lane */
static inline uint32_t
mask_of(__m256i rows)
{
	return (uint32_t) _mm256_movemask_ps(_mm256_castsi256_ps(rows));
}

/* 4 bytes at each offset; 0 in lanes that are not in `rows` */
static inline __m256i
gather4(__m256i rows, const uint8_t *bytes, __m256i offsets)
{
	return _mm256_mask_i32gather_epi32(_mm256_setzero_si256(),
									   (const int *) bytes, offsets, rows, 1);
}

/*
 * 8 bytes at each offset.  Single loads take less time here than a gather, and far less
 * on some processors.
 */
static inline __attribute__((always_inline)) CsvWords
load8(const uint8_t *bytes, __m256i offsets)
{
	int32_t		at[8];
	CsvWords		wide;

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

/* 8 bytes at `bytes`, and after each `step` bytes */
static inline __attribute__((always_inline)) CsvWords
load8_by_step(const uint8_t *bytes, size_t step)
{
	CsvWords		wide;

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

/* one member of eight records from `record` on */
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

/*
 * Drop the blanks around the fields; most fields have none.  Not inlined, and by value,
 * so that callers that do not trim keep their registers.
 */
static __attribute__((noinline)) CsvEight
trim_eight(const CsvFinder *finder, CsvEight eight)
{
	const __m256i blank = _mm256_set1_epi32(' ');
	const __m256i tab = _mm256_set1_epi32('\t');
	__m256i		first = gather4(eight.rows, finder->bytes, eight.start);
	__m256i		last = gather4(eight.rows, finder->bytes,
							   _mm256_sub_epi32(eight.end, _mm256_set1_epi32(4)));
	__m256i		found;
	uint32_t	starts[8];
	uint32_t	ends[8];

	first = _mm256_and_si256(first, _mm256_set1_epi32(0xff));
	last = _mm256_srli_epi32(last, 24);
	found = _mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi32(first, blank),
											_mm256_cmpeq_epi32(first, tab)),
							_mm256_or_si256(_mm256_cmpeq_epi32(last, blank),
											_mm256_cmpeq_epi32(last, tab)));
	if (mask_of(found) == 0)
		return eight;
	_mm256_storeu_si256((__m256i *) starts, eight.start);
	_mm256_storeu_si256((__m256i *) ends, eight.end);
	for (uint32_t rows = mask_of(found); rows != 0; rows &= rows - 1)
	{
		uint32_t	i = csv_lowest_bit(rows);
		uint64_t	start = starts[i];
		uint64_t	end = ends[i];

		csv_trim(finder->trim, finder->bytes, &start, &end);
		starts[i] = (uint32_t) start;
		ends[i] = (uint32_t) end;
	}
	eight.start = _mm256_loadu_si256((const __m256i *) starts);
	eight.end = _mm256_loadu_si256((const __m256i *) ends);
	return eight;
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
			const __m128i *bad = (const __m128i *) (finder->bad + row);
			__m256i		codes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(bad));

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
		/* two neighbouring positions */
		CsvWords		both;

		positions += finder->field - 1;
		if (finder->uniform)
			both = load8_by_step((const uint8_t *) positions,
								 finder->nfields * sizeof(uint32_t));
		else
		{
			CsvWords		rows = join_halves(eight.rows, eight.rows);
			CsvWords		at = widen(first);

			both.a = _mm256_mask_i64gather_epi64(_mm256_setzero_si256(),
												 (const long long *) positions,
												 at.a, rows.a, 4);
			both.b = _mm256_mask_i64gather_epi64(_mm256_setzero_si256(),
												 (const long long *) positions,
												 at.b, rows.b, 4);
		}
		eight.start = _mm256_add_epi32(low_halves(both),
									   _mm256_set1_epi32((int) finder->delimiter_length));
		eight.end = high_halves(both);
	}

	if (finder->trim_crs > 0)
	{
		/* as csv_content_end() */
		__m256i		last = _mm256_and_si256(eight.rows,
											_mm256_cmpeq_epi32(_mm256_add_epi32(field, one),
															   nfields));

		if (mask_of(last) != 0)
		{
			__m256i		before = gather4(last, finder->bytes,
										 _mm256_sub_epi32(eight.end, _mm256_set1_epi32(4)));
			__m256i		crs = _mm256_cmpeq_epi8(before, _mm256_set1_epi8('\r'));
			__m256i		cr = _mm256_srai_epi32(crs, 31);

			cr = _mm256_and_si256(cr, _mm256_cmpgt_epi32(eight.end, eight.start));
			cr = _mm256_and_si256(cr, _mm256_cmpgt_epi32(_mm256_set1_epi32((int) finder->nbytes),
														 eight.end));
			/* a true lane is -1 */
			cr = _mm256_and_si256(cr, last);
			eight.end = _mm256_add_epi32(eight.end, cr);
			if (finder->trim_crs > 1)
			{
				cr = _mm256_and_si256(cr, _mm256_srai_epi32(_mm256_slli_epi32(crs, 8), 31));
				cr = _mm256_and_si256(cr, _mm256_cmpgt_epi32(eight.end, eight.start));
				eight.end = _mm256_add_epi32(eight.end, cr);
			}
		}
	}
	if (__builtin_expect(finder->trim != NULL, 0))
		eight = trim_eight(finder, eight);
	return eight;
}

/* ---- rows that are NULL, and rows that are left ---- */

/*
 * Remove rows from eight->rows that may be NULL because of their fields' lengths: the
 * bits of csv_null_lengths() below 32.  If empty_is_null, rows with empty fields get
 * the status NULL, and are returned.
 */
static inline __m256i
take_nulls(CsvEight *eight, uint8_t *status, __m256i null_lengths,
		   bool empty_is_null)
{
	const __m256i length = _mm256_sub_epi32(eight->end, eight->start);

	/* the sign gets the bit for a row's length; 0 for 32 and more */
	__m256i		bits = _mm256_slli_epi32(_mm256_srlv_epi32(null_lengths, length), 31);
	__m256i		may_be_null = _mm256_srai_epi32(bits, 31);
	__m256i		packed;
	uint32_t	marks[2];

	may_be_null = _mm256_and_si256(eight->rows, may_be_null);
	if (__builtin_expect(_mm256_testz_si256(may_be_null, may_be_null), 1))
		return _mm256_setzero_si256();
	eight->rows = _mm256_andnot_si256(may_be_null, eight->rows);
	if (!empty_is_null)
		return _mm256_setzero_si256();
	may_be_null = _mm256_and_si256(may_be_null,
								   _mm256_cmpeq_epi32(length, _mm256_setzero_si256()));

	/* a status for each row; other rows get CSV_VALUE_OK (zero) for now */
	packed = _mm256_packs_epi32(may_be_null, may_be_null);
	packed = _mm256_packs_epi16(packed, packed);
	packed = _mm256_and_si256(packed, _mm256_set1_epi8(CSV_VALUE_NULL));
	marks[0] = (uint32_t) _mm256_extract_epi32(packed, 0);
	marks[1] = (uint32_t) _mm256_extract_epi32(packed, 4);
	memcpy(status, marks, 8);
	return may_be_null;
}

/* list the rows of eight that are not done; returns their number */
static inline uint32_t
leave_rows(uint32_t row, uint32_t done, uint32_t *left)
{
	uint32_t	nleft = 0;

	for (uint32_t rows = ~done & ALL_ROWS; rows != 0; rows &= rows - 1)
		left[nleft++] = row + csv_lowest_bit(rows);
	return nleft;
}

/* list all rows [row, to) as left; returns their number */
static inline uint32_t
leave_rest(uint32_t row, uint32_t to, uint32_t *left)
{
	for (uint32_t i = row; i < to; i++)
		left[i - row] = i;
	return to - row;
}

CSV_TARGET_END

#endif							/* CSV_EIGHT_H */
