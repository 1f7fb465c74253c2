/*
 * errors.h
 *		Skipped records as rows of csv_gpu_errors().
 */
#ifndef CSV_ERRORS_H
#define CSV_ERRORS_H

#include "scan/report.h"

/* filename, record, line, byte_offset, ... as the function's columns */
#define CSV_ERROR_COLUMNS	9

/* the row of a skipped record, in the current memory context */
extern void csv_error_row(const CsvTable *table, const CsvSkipped *skipped,
						  Datum *values, bool *nulls);

#endif							/* CSV_ERRORS_H */
