/*
 * columns.h
 *		From the structural index to one fixed-width array per wanted column.
 *
 * Arrays are filled column by column, so that each loop does one kind of conversion
 * and writes one array from front to back, while the chunk's input and index stay in
 * the processor's caches.
 *
 * The rows of a large chunk are filled in parts, each with all columns, so that a
 * part stays in the processor's caches.
 *
 * A record that turns out to be bad keeps its place in the arrays until the last
 * column is filled.  Then the bad rows are removed from the arrays.
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

/* facts about a column in a part of the rows */
typedef struct CsvFound
{
	uint64_t	widest;			/* text columns: bytes of the widest field */
	bool		any_not_ok;
	bool		any_slow;
} CsvFound;

/* a part of the rows */
typedef struct CsvPart
{
	uint32_t	from;
	uint32_t	to;
	CsvBadRows	bad_rows;
	uint32_t   *positions;		/* by rank, for separators of this part only */
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
	CsvBuffer	row_code;		/* uint8_t CsvErrorCode per row */
	CsvBuffer	row_where;		/* uint32_t CsvError.where per row */
	bool		any_bad_row;
	bool		any_slow;
	CsvArray   *arrays;			/* per column */
	CsvBuffer  *values;			/* per column */
	CsvBuffer  *status;			/* per column */
	uint32_t	ncolumns;		/* columns that these three have room for */
	CsvBuffer	errors;
	CsvBuffer	row_offsets;
	CsvBuffer	row_lines;
} CsvColumns;

extern CsvStatus csv_columns_configure(CsvColumns *columns,
									   const CsvDialect *dialect,
									   const CsvLayout *layout);

/* fill a batch, with the rows in nparts parts, CSV_MAX_PARTS at most */
extern CsvStatus csv_columns_build(CsvColumns *columns, const CsvIndex *index,
								   uint32_t nparts, CsvBatch *batch);
extern void csv_columns_free(CsvColumns *columns);

#endif							/* CSV_COLUMNS_H */
