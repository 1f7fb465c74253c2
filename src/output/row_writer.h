/*
 * row_writer.h
 *		Rows of a table become records in the table's dialect.
 */
#ifndef CSV_ROW_WRITER_H
#define CSV_ROW_WRITER_H

#include "executor/tuptable.h"

#include "output/file_form.h"

typedef struct CsvRowWriter CsvRowWriter;

/*
 * For files of this form; in the current memory context.  The table and the form must
 * outlive it.
 */
extern CsvRowWriter *csv_row_writer_create(const CsvTable *table, const CsvFileForm *form);

/*
 * Append a row, with its line break.  ERROR if the record would not be read as the same
 * row, with the reason.
 */
extern void csv_row_writer_add(CsvRowWriter *writer, TupleTableSlot *slot,
							   StringInfo output);

/* append the header of a new file, if the table has one */
extern void csv_row_writer_header(CsvRowWriter *writer, StringInfo output);

#endif							/* CSV_ROW_WRITER_H */
