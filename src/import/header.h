/*
 * header.h
 *		Where the data of a grid's table begins and ends, and which records are its header.
 */
#ifndef CSV_HEADER_H
#define CSV_HEADER_H

#include "import/grid.h"

/* cells of a header, in the sample's encoding, each with a zero byte behind it */
typedef struct CsvCells
{
	uint32		ncells;
	char	  **texts;			/* NULL: there are no names */
	uint32	   *lengths;
} CsvCells;

typedef struct CsvHeader
{
	uint32		first;			/* the first record of data */
	bool		found;			/* there is a header, of records [top, last] */
	uint32		top;
	uint32		last;
	CsvCells	names;			/* no texts: there is no header */
	bool		in_comment;		/* the names are in a comment */
	bool		assumed;		/* only the form of its names tells that it is a header */
	bool		shifted;		/* it lacks the first column's name, here an empty one */

	/* the number of fields of a line right above the data that is not a header; 0: none */
	uint32		nabove_fields;

	bool		none_assumed;	/* there is none, although the first record may be names */
} CsvHeader;

/* In the current memory context. */
extern CsvHeader csv_find_header(const CsvGrid *grid);

/*
 * The number of records at the end that are not data (ending.c), less blank lines, and the
 * beginning of the first of them, in *line; `first` is the grid's first record of data.  In
 * the current memory context.
 */
extern uint32 csv_find_footer(const CsvGrid *grid, uint32 first, char **line);

/* ---- names (header_names.c) ---- */

/*
 * Copies of a record's cells, without a comment's mark, in the current memory context.
 * No texts if the record is NULL, or has more fields than a table can have columns.
 */
extern CsvCells csv_record_cells(const CsvGrid *grid, const CsvGridRecord *record);

/*
 * The names in a header whose last row is record *last; rows above it may be part of it,
 * from *top on.  Where the last row numbers the names only, *last becomes the row above.
 * In the current memory context.
 */
extern CsvCells csv_header_names(const CsvGrid *grid, uint32 *top, uint32 *last);

#endif							/* CSV_HEADER_H */
