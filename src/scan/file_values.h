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
 * For those of the wanted attributes (a set of attribute numbers) that are such
 * columns; NULL: none is.  In the current memory context.
 */
extern CsvFileValues *csv_file_values_create(const CsvTable *table,
											 const Bitmapset *wanted);

/*
 * Those of a file, or of a program, by its name as the operating system has it,
 * into arrays of one entry per attribute of the table; in the current memory
 * context.  ERROR where a type refuses its value; if quiet, false.
 */
extern bool csv_file_values_make(CsvFileValues *values, char *filename,
								 bool quiet, Datum *datums, bool *isnull);

#endif							/* CSV_FILE_VALUES_H */
