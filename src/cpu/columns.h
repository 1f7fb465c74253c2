/*
 * columns.h
 *		From the structural index to one fixed-width array per wanted column.
 *
 * Column by column, so that each loop does one kind of conversion and writes
 * one array from front to back, while the input of the chunk and its index
 * stay in the processor's caches.
 *
 * A record that turns out to be bad keeps its place in the arrays until the
 * last column is done; then the arrays are closed up.
 */
#ifndef CSV_COLUMNS_H
#define CSV_COLUMNS_H

#include "index.h"

/* memory that only grows */
typedef struct CsvBuffer
{
	uint8_t    *bytes;
	size_t		nbytes;
} CsvBuffer;

typedef struct CsvColumns
{
	const CsvMemory *memory;
	const CsvDialect *dialect;
	const CsvLayout *layout;
	const CsvIndex *index;
	bool		quote_in_values;	/* quote or escape may be part of a number */

	CsvBuffer	positions;		/* uint32_t per separator */
	CsvBuffer	row_code;		/* uint8_t CsvErrorCode per row ... */
	CsvBuffer	row_where;		/* ... and uint32_t CsvError.where */
	bool		any_bad_row;
	bool		no_memory;		/* met by the careful way, in mid-column */
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
extern CsvStatus csv_columns_build(CsvColumns *columns, const CsvIndex *index,
								   CsvBatch *batch);
extern void csv_columns_free(CsvColumns *columns);

#endif							/* CSV_COLUMNS_H */
