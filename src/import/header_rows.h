/*
 * header_rows.h
 *		Which of the rows above a table's data are a header's.
 */
#ifndef CSV_HEADER_ROWS_H
#define CSV_HEADER_ROWS_H

#include "import/grid.h"

/*
 * The forms that the cells of a column have: their length, the kinds of their characters
 * in their order, and the kinds that each cell has, or that any has.  All zero at first.
 */
typedef struct CsvForms
{
	uint32		n;				/* cells */
	uint32		nbytes;			/* of all; 0: they differ */
	char		shape[32];		/* of all; "": they differ */
	char		first;			/* of all; 0: they differ */
	uint32		all;			/* a bit for each kind: letters, digits, punctuation */
	uint32		any;
} CsvForms;

extern void csv_forms_add(CsvForms *forms, const CsvCell *cell);

/* do the cells have a form in common that the text does not have? */
extern bool csv_is_unlike(const CsvForms *forms, const char *text, uint32 nbytes);

/* what a row says of where data begins: more than 0 that it is of it */
#define ROW_OF_DATA		1
#define ROW_UNKNOWN		0
#define ROW_OF_HEADER	(-1)
#define ROW_SURELY_OF_HEADER	(-2)

/* by the types of the columns */
extern int	csv_judge_row(const CsvGridRows *rows, uint32 row);

/*
 * The row where data begins, if rows from `typed` (> 0) on fit the types: 0, or below a
 * row of names and other rows that look like a header.  *sure: the rows above it do not
 * look like text that the data has, too.
 */
extern uint32 csv_find_first_row(const CsvGridRows *rows, uint32 typed, bool *sure);

#endif							/* CSV_HEADER_ROWS_H */
