/*
 * file_values.h
 *		Values of virtual columns that are the same in all rows of a file.
 */
#ifndef CSV_FILE_VALUES_H
#define CSV_FILE_VALUES_H

#include "scan/value.h"

/* for such a column, which csv_is_of_file() tells; uses the current memory context */
extern void csv_file_value_init(CsvValueInput *input, const CsvTable *table,
								const CsvTableColumn *column);

/*
 * Make the value for a file, or a program, by its name as the operating system has it.
 * The value is in the current memory context.  ERROR if the type refuses it; if quiet,
 * returns false instead.
 */
extern bool csv_file_value_make(CsvValueInput *input, char *filename, bool quiet,
								Datum *datum, bool *isnull);

#endif							/* CSV_FILE_VALUES_H */
