/*
 * fill_vectors.h
 *		What fill_avx2.c and fill_avx512.c have in common.  They include it where
 *		their instructions are switched on.
 *
 * Places, lengths and short numbers of eight rows are eight lanes of 32 bits in
 * both.
 */
#ifndef CSV_FILL_VECTORS_H
#define CSV_FILL_VECTORS_H

/* list rows [row, to), which are left; returns their number */
static inline uint32_t
leave_rest(uint32_t row, uint32_t to, uint32_t *left)
{
	for (uint32_t i = row; i < to; i++)
		left[i - row] = i;
	return to - row;
}

/*
 * What loops over numbers and dates need to know, in variables of their own.
 */
typedef struct CsvScalarFill
{
	CsvFinder	finder;
	uint8_t    *values;
	uint8_t    *status;
	uint8_t		quote;			/* 0: none */
	bool		empty_is_null;
	__m256i		null_length;	/* a field of this length may be NULL */
	__m256i		most_bytes;
} CsvScalarFill;

static inline CsvScalarFill
make_scalar_fill(const CsvFill *fill)
{
	CsvScalarFill scalar;

	scalar.finder = fill->finder;
	scalar.values = fill->values;
	scalar.status = fill->status;
	scalar.quote = fill->dialect->opt.quote;
	scalar.empty_is_null = fill->layout->null_length == 0 &&
		!fill->column->force_not_null;
	scalar.null_length = _mm256_set1_epi32((int) fill->layout->null_length);
	scalar.most_bytes = _mm256_set1_epi32((int)
										  csv_most_scalar_bytes(fill->column));
	return scalar;
}

/*
 * Days since 2000-01-01; years begin in March here, and `since_march` is the
 * number of months before this one.  Products with the reciprocals of 100 and 5
 * are exact quotients for years up to 9999.
 */
static inline __m256i
days_since_march(__m256i year, __m256i since_march, __m256i day)
{
	__m256i		century;
	__m256i		leaps;

	century = _mm256_srli_epi32(_mm256_mullo_epi32(year, _mm256_set1_epi32(5243)), 19);
	leaps = _mm256_add_epi32(_mm256_sub_epi32(_mm256_srli_epi32(year, 2), century),
							 _mm256_srli_epi32(century, 2));
	since_march = _mm256_add_epi32(_mm256_mullo_epi32(since_march, _mm256_set1_epi32(153)),
								   _mm256_set1_epi32(2));
	since_march = _mm256_srli_epi32(_mm256_mullo_epi32(since_march, _mm256_set1_epi32(52429)), 18);
	day = _mm256_add_epi32(day, _mm256_add_epi32(since_march, leaps));
	return _mm256_add_epi32(_mm256_add_epi32(day, _mm256_mullo_epi32(year, _mm256_set1_epi32(365))),
							_mm256_set1_epi32(-1 - 730425));
}

/* the same for loops over text */
typedef struct CsvTextFill
{
	CsvFinder	finder;
	uint8_t    *values;
	uint8_t    *status;
	uint32_t	stride;
	uint32_t	most;			/* bytes of a value that fits all limits */
	uint32_t	pad_to;			/* bytes; 0: not */
	uint8_t		quote;			/* 0: none */
	bool		has_escape;		/* a quoted value may hold one */
	bool		empty_is_null;
	__m256i		null_length;	/* a field of this length may be NULL */
} CsvTextFill;

static inline CsvTextFill
make_text_fill(const CsvFill *fill)
{
	const CsvColumn *column = fill->column;
	const CsvDialectOptions *dialect = &fill->dialect->opt;
	CsvTextFill text;

	text.finder = fill->finder;
	text.values = fill->values;
	text.status = fill->status;
	text.stride = fill->stride;
	text.most = fill->stride - 4;
	if (column->max_chars >= 0 && (uint32_t) column->max_chars < text.most)
		text.most = (uint32_t) column->max_chars;
	if (column->type_chars >= 0 && (uint32_t) column->type_chars < text.most)
		text.most = (uint32_t) column->type_chars;
	if (column->byte_width >= 0 && (uint32_t) column->byte_width < text.most)
		text.most = (uint32_t) column->byte_width;
	text.pad_to = column->pad_blanks ? (uint32_t) column->type_chars : 0;
	text.quote = dialect->quote;
	text.has_escape = dialect->escape != dialect->quote;
	text.empty_is_null = fill->layout->null_length == 0 &&
		!column->force_not_null;
	text.null_length = _mm256_set1_epi32((int) fill->layout->null_length);
	return text;
}

#endif							/* CSV_FILL_VECTORS_H */
