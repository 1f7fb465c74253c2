/*
 * virtual.h
 *		Values of virtual columns: the file, a record's position, and the fields that
 *		a record has beyond the table's, as text[].
 */
#ifndef CSV_VIRTUAL_H
#define CSV_VIRTUAL_H

#include "scan/fetch.h"

/*
 * A column that is the same in all rows of a file, which csv_is_of_file() tells.  In
 * the current memory context.
 */
extern void csv_file_value_init(CsvValueInput *input, const CsvTable *table,
								const CsvTableColumn *column);

/*
 * Make the value for a file, or a program, by its name as the operating system has it.
 * The value is in the current memory context.  ERROR if the type refuses it; if quiet,
 * returns false instead.
 */
extern bool csv_file_value_make(CsvValueInput *input, char *filename, bool quiet,
								Datum *datum, bool *isnull);

typedef struct CsvVirtuals CsvVirtuals;

/*
 * For the wanted attributes (a set of attribute numbers) that are such columns; NULL
 * if there are none.  In the current memory context.
 */
extern CsvVirtuals *csv_virtuals_create(const CsvTable *table,
										const Bitmapset *wanted);

/* rows to come are from this file, or program, by its name in the operating system */
extern void csv_virtuals_open_file(CsvVirtuals *virtuals, char *filename);

/*
 * Make such a column's value for a file, which lives until the next
 * csv_virtuals_open_file().  False if the type refuses it.
 */
extern bool csv_virtuals_value(CsvVirtuals *virtuals, AttrNumber attnum,
							   char *filename, Datum *value, bool *isnull);

/*
 * Fill in the columns of the row with this entry in the batch's arrays, and this
 * number (from 1) in its file, in the current memory context.  *any_surplus: it has
 * surplus fields, if these are wanted.  If a value is refused, its record is refused,
 * too: returns false, with *refusal filled in.
 */
extern bool csv_virtuals_fill(CsvVirtuals *virtuals, CsvInputs *inputs,
							  const CsvFileBatch *at, uint32_t entry,
							  int64 record, bool *any_surplus, Datum *values,
							  bool *isnull, CsvRefusal *refusal);

#endif							/* CSV_VIRTUAL_H */
