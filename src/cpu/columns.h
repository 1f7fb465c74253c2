/*
 * columns.h
 *		From the structural index to one fixed-width array per wanted column.
 *
 * Column by column, so that each loop does one kind of conversion and writes
 * one array from front to back, while the input of the chunk and its index
 * stay in the processor's caches.
 *
 * The rows of a large chunk are filled in parts, each with all of its columns, so
 * that a part stays in the processor's caches.
 *
 * A record that turns out to be bad keeps its place in the arrays until the
 * last column is done; then the arrays are closed up.
 */
#ifndef CSV_COLUMNS_H
#define CSV_COLUMNS_H

#include "fill.h"

#define CSV_MAX_PARTS	128

/* memory that only grows */
typedef struct CsvBuffer
{
	uint8_t    *bytes;
	size_t		nbytes;
} CsvBuffer;

/* what is found of a column in a part of the rows */
typedef struct CsvFound
{
	uint64_t	widest;			/* bytes of the widest field, of text columns */
	bool		any_not_ok;
	bool		any_slow;
} CsvFound;

/* a part of the rows */
typedef struct CsvPart
{
	uint32_t	from;
	uint32_t	to;
	CsvBadRows	bad_rows;
	uint32_t   *positions;		/* by rank; only this part's are there */
	uint32_t   *left;			/* room for a list of rows */
	CsvFound   *found;			/* per column */
} CsvPart;

typedef struct CsvColumns
{
	const CsvMemory *memory;
	const CsvDialect *dialect;
	const CsvLayout *layout;
	const CsvIndex *index;
	const CsvFillFunctions *functions;
	bool		quote_in_values;	/* quote or escape may be part of a number */

	CsvPart		parts[CSV_MAX_PARTS];
	uint32_t	nparts;

	CsvBuffer	positions;		/* uint32_t per separator */
	CsvBuffer	left;			/* uint32_t per row */
	CsvBuffer	found;			/* CsvFound per part and column */
	CsvBuffer	row_code;		/* uint8_t CsvErrorCode per row ... */
	CsvBuffer	row_where;		/* ... and uint32_t CsvError.where */
	bool		any_bad_row;
	bool		any_slow;
	CsvArray   *arrays;			/* per column */
	CsvBuffer  *values;			/* per column */
	CsvBuffer  *status;			/* per column */
	uint32_t	ncolumns;		/* that these have room for */
	CsvBuffer	errors;
	CsvBuffer	row_offsets;
	CsvBuffer	row_lines;
} CsvColumns;

extern CsvStatus csv_columns_configure(CsvColumns *columns,
									   const CsvDialect *dialect,
									   const CsvLayout *layout);

/* with the rows in nparts parts, CSV_MAX_PARTS at most */
extern CsvStatus csv_columns_build(CsvColumns *columns, const CsvIndex *index,
								   uint32_t nparts, CsvBatch *batch);
extern void csv_columns_free(CsvColumns *columns);

#endif							/* CSV_COLUMNS_H */
