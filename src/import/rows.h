/*
 * rows.h
 *		Which of the rows above a table's data are a header's.
 */
#ifndef CSV_ROWS_H
#define CSV_ROWS_H

#include "import/grid.h"

/* what a row says of where data begins: more than 0 that it is of it */
#define ROW_OF_DATA		1
#define ROW_UNKNOWN		0
#define ROW_OF_HEADER	(-1)
#define ROW_SURELY_OF_HEADER	(-2)

/* of the columns that have a type, how many does the row fit? */
extern int	csv_judge_row(const CsvGrid *grid, uint32 row);

/*
 * The row where data begins, if rows from `typed` on fit the types: 0, or below a row of
 * names, and those that have something of a header themselves.  *sure: that row has
 * names, not data.
 */
extern uint32 csv_find_first_row(const CsvSheet *sheet, const CsvSample *sample,
								 const CsvGrid *grid, uint32 typed, bool *sure);

#endif							/* CSV_ROWS_H */
