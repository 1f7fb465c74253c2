/*
 * ending.h
 *		Records at a file's end that are no data: sums, notes, marks of the end.
 */
#ifndef CSV_ENDING_H
#define CSV_ENDING_H

#include "import/sheet.h"

/*
 * How many there are, less blank lines, and the first one's line; `first` is the first
 * record of data in the sheet of the sample.  Numbers are as the table has them.
 */
extern uint32 csv_find_footer(const CsvTable *table, const CsvSheet *sheet,
							  const CsvSample *sample, uint32 first, char **line);

#endif							/* CSV_ENDING_H */
