/*
 * header.h
 *		Where the data of a grid's table begins and ends, and which records are its header.
 */
#ifndef CSV_HEADER_H
#define CSV_HEADER_H

#include "import/grid.h"

typedef struct CsvHeader
{
	uint32		first;			/* the first record of data */
	bool		found;			/* there is a header, of records [top, last] */
	uint32		top;
	uint32		last;
	CsvGridRecord *names;		/* NULL: there is no header, or it is damaged or too wide */
	uint32		nfields;		/* of it, or of another line right above the data; 0: none */
	bool		in_comment;		/* the names are in a comment */
	bool		assumed;		/* only the form of its names tells that it is a header */
	bool		shifted;		/* it lacks the first column's name, here an empty one */
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
 * A record as names: its own cells, whose texts are the grid's, without a comment's mark.  NULL if the
 * record is NULL or damaged, or has more fields than a table can have columns.  In the
 * current memory context.
 */
extern CsvGridRecord *csv_names_of(const CsvGrid *grid, const CsvGridRecord *record);

/*
 * The names in a header whose last row is record *last; rows above it may be part of it,
 * from *top on.  Where the last row numbers the names only, *last becomes the row above.
 * In the current memory context.
 */
extern CsvGridRecord *csv_header_names(const CsvGrid *grid, uint32 *top, uint32 *last);

#endif							/* CSV_HEADER_H */
