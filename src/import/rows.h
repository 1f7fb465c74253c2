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

/* by the types of the columns */
extern int	csv_judge_row(const CsvGrid *grid, uint32 row);

/*
 * The row where data begins, if rows from `typed` (> 0) on fit the types: 0, or below a
 * row of names, and those that have something of a header themselves.  *sure: what is
 * above it does not look like text that the data has, too.
 */
extern uint32 csv_find_first_row(const CsvSheet *sheet, const CsvSample *sample,
								 const CsvGrid *grid, uint32 typed, bool *sure);

#endif							/* CSV_ROWS_H */
