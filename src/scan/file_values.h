/*
 * file_values.h
 *		Values of virtual columns that are the same in all rows of a file.
 */
#ifndef CSV_FILE_VALUES_H
#define CSV_FILE_VALUES_H

#include "nodes/bitmapset.h"

#include "table/option.h"

typedef struct CsvFileValues CsvFileValues;

/*
 * For the wanted attributes (a set of attribute numbers) that are such columns; NULL
 * if there are none.  Uses the current memory context.
 */
extern CsvFileValues *csv_file_values_create(const CsvTable *table,
											 const Bitmapset *wanted);

/*
 * Make the values for a file, or a program, by its name as the operating system has
 * it.  The arrays have an entry per attribute of the table.  Values are in the current
 * memory context.  ERROR if a type refuses its value; if quiet, returns false instead.
 */
extern bool csv_file_values_make(CsvFileValues *values, char *filename,
								 bool quiet, Datum *datums, bool *isnull);

#endif							/* CSV_FILE_VALUES_H */
