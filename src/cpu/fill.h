/*
 * fill.h
 *		Fills one column's array, for a range of rows.
 *
 * fill.c does it for any field.  If the processor has AVX2, the common spellings of a
 * column are converted eight rows at a time (fill_avx2.c and fill_text_avx2.c), and
 * fill.c converts the rows that are left.
 */
#ifndef CSV_FILL_H
#define CSV_FILL_H

#include "index.h"

/*
 * Up to this many bytes may be written behind an array.  So most values, which are
 * shorter, are copied without a loop, whose length the processor could not predict.
 */
#define CSV_FILL_MARGIN	128

/* longer texts are not tried as a number, date or other scalar on the fast path */
#define CSV_SCALAR_BYTES	64

/*
 * The data to find a column's field in each row.  A loop has this, and all else that it
 * needs, in local variables: a store through a pointer to bytes may alias anything that
 * another pointer points to, so that would be loaded again for each value.
 */
typedef struct CsvFinder
{
	const CsvIndexRecord *records;
	const uint32_t *positions;	/* of separators, by rank; if uniform, a row's
								 * positions begin at row * nfields */
	const uint8_t *bytes;
	uint64_t	nbytes;
	const uint8_t *bad;			/* a code per row; NULL if all rows are good */
	uint32_t	nfields;		/* in each record, if uniform */
	uint32_t	field;
	bool		uniform;		/* no bad rows, and each has nfields fields,
								 * including this field */
	uint32_t	delimiter_length;
	uint8_t		trim_crs;
	const CsvDialectOptions *trim;	/* NULL: keep blanks around fields */
} CsvFinder;

/* the bad rows among rows [from, to) */
typedef struct CsvBadRows
{
	uint8_t    *codes;			/* CsvErrorCode per row of the chunk */
	uint32_t   *wheres;			/* CsvError.where per row of the chunk */
	uint32_t	from;
	uint32_t	to;
	bool		any;			/* codes are set, for all rows [from, to) */
} CsvBadRows;

typedef struct CsvFill
{
	CsvFinder	finder;
	const CsvIndex *index;
	const CsvDialect *dialect;
	const CsvLayout *layout;
	const CsvColumn *column;
	uint32_t	number;			/* of the column in the layout */
	bool		quote_in_values;	/* quote or escape may be part of a number */
	uint8_t    *values;
	uint8_t    *status;			/* all CSV_VALUE_OK at the begin */
	uint32_t	stride;
	const uint8_t *limit;		/* only entries may be written at or behind it */
	CsvBadRows *bad_rows;

	/* results */
	bool		any_not_ok;
	bool		any_slow;
} CsvFill;

/*
 * Fill the rows among [from, to) that have common spellings.  Lists the other rows in
 * `left`, in order, and returns their number.  Not for columns that need the careful
 * path, nor for numerics that are not short (csv_is_short()).
 */
typedef uint32_t (*CsvFillVectors) (CsvFill *fill, uint32_t from, uint32_t to,
									uint32_t *left);

/* functions that are compiled once per instruction set */
typedef struct CsvFillFunctions
{
	/* bytes of the widest field in rows [from, to), including quotes */
	uint64_t	(*widest) (const CsvFinder *finder, uint32_t from,
						   uint32_t to);
	CsvFillVectors vectors[CSV_NUM_KINDS];	/* NULL: none */
} CsvFillFunctions;

extern const CsvFillFunctions csv_fill_plain;
extern const CsvFillFunctions csv_fill_avx2;
extern uint32_t csv_fill_text_avx2(CsvFill *fill, uint32_t from, uint32_t to,
								   uint32_t *left);

/*
 * Fill rows [from, to) of nrows.  `left` has room for to - from rows.  Only the entries
 * of these rows are written, and up to CSV_FILL_MARGIN bytes behind the array's last
 * row.
 */
extern void csv_fill(CsvFill *fill, const CsvFillFunctions *functions,
					 uint32_t from, uint32_t to, uint32_t nrows,
					 uint32_t *left);

/* mark a row as bad; any code that it had is overwritten */
extern void csv_fill_bad_row(CsvBadRows *bad_rows, uint32_t row,
							 CsvErrorCode code, uint32_t where);

/* must each value take the careful path? */
static inline bool
csv_fill_is_careful(const CsvFill *fill)
{
	return fill->layout->has_default || fill->column->force_null ||
		(fill->quote_in_values && fill->column->kind != CSV_KIND_TEXT &&
		 fill->column->kind != CSV_KIND_CSTRING);
}

/* most bytes of a value on the fast path, where each character is a byte (ASCII) */
static inline uint64_t
csv_most_scalar_bytes(const CsvColumn *column)
{
	uint64_t	most = CSV_SCALAR_BYTES;

	if (column->max_chars >= 0 && (uint64_t) column->max_chars < most)
		most = (uint64_t) column->max_chars;
	if (column->byte_width >= 0 && (uint64_t) column->byte_width < most)
		most = (uint64_t) column->byte_width;
	return most;
}

/* may the fast paths be taken?  Decimals must be short. */
static inline bool
csv_is_short(const CsvFill *fill)
{
	const CsvColumn *column = fill->column;

	switch (column->kind)
	{
		case CSV_KIND_NUMERIC:
			return column->precision >= 0 && column->scale <= 4 &&
				fill->stride >= 12;
		case CSV_KIND_DECIMAL64:
			return column->scale <= 4;
		default:
			return true;
	}
}

/* bytes of a date pattern that is read eight rows at a time */
#define CSV_LEAST_DATE_BYTES	8
#define CSV_MOST_DATE_BYTES		12

/* a pattern of a year, a month and a day, with single bytes between them */
typedef struct CsvDatePattern
{
	uint32_t	nbytes;
	bool		short_year;		/* two digits */
	uint8_t		at[8];			/* offsets of the digits YYYYMMDD; UINT8_MAX: missing */
	uint8_t		name_at;		/* offset of the month's three letters, or UINT8_MAX */
	uint8_t		literals[CSV_MOST_DATE_BYTES];	/* bytes between the elements */
	uint8_t		is_literal[CSV_MOST_DATE_BYTES];	/* UINT8_MAX for these, or 0 */
} CsvDatePattern;

/* false if the column's pattern does not have this form */
extern bool csv_date_pattern(const CsvColumn *column, CsvDatePattern *pattern);

/*
 * The content of the field in a row.  False if the record has no such field
 * (ragged 'pad', or a column that the file lacks).
 */
static inline __attribute__((always_inline)) bool
csv_find_field(const CsvFinder *finder, uint32_t row, uint64_t *start,
			   uint64_t *end)
{
	const CsvIndexRecord *record = &finder->records[row];
	uint32_t	nfields = finder->nfields;
	uint32_t	field = finder->field;
	size_t		first = (size_t) row * nfields;

	if (!finder->uniform)
	{
		first = record->first_separator;
		nfields = record[1].first_separator - record->first_separator;
		if (__builtin_expect(field >= nfields, 0))
			return false;
	}
	*start = field == 0 ? record->start :
		(uint64_t) finder->positions[first + field - 1] + finder->delimiter_length;
	*end = finder->positions[first + field];

	/* as csv_content_end() */
	if (finder->trim_crs > 0 && field + 1 == nfields && *end > *start &&
		*end < finder->nbytes && finder->bytes[*end - 1] == '\r')
	{
		(*end)--;
		if (finder->trim_crs > 1 && *end > *start && finder->bytes[*end - 1] == '\r')
			(*end)--;
	}
	if (__builtin_expect(finder->trim != NULL, 0))
		csv_trim(finder->trim, finder->bytes, start, end);
	return true;
}

/* length of a row's field, with quotes and escapes; 0 if it must not be read */
static inline uint64_t
csv_field_bytes(const CsvFinder *finder, uint32_t row)
{
	uint64_t	start;
	uint64_t	end;

	if ((finder->bad != NULL && finder->bad[row] != 0) ||
		!csv_find_field(finder, row, &start, &end))
		return 0;
	return end - start;
}

#endif							/* CSV_FILL_H */
