/*
 * errors.h
 *		Skipped records as rows of csv_gpu_errors().
 */
#ifndef CSV_ERRORS_H
#define CSV_ERRORS_H

#include "storage/lockdefs.h"
#include "utils/rel.h"

#include "scan/report.h"

/* filename, record, line, byte_offset, ... as the function's columns */
#define CSV_ERROR_COLUMNS	9

/* the row of a skipped record, in the current memory context */
extern void csv_error_row(const CsvTable *table, const CsvSkipped *skipped,
						  Datum *values, bool *nulls);

/* open any relation; ERROR if it does not exist */
extern Relation csv_open_relation(Oid relid, LOCKMODE lockmode);

/* open a foreign table for reading; ERROR if it is not ours */
extern Relation csv_open_source(Oid relid);

/* ERROR unless the user has SELECT on all of the table, as whole records need */
extern void csv_check_whole_select(Relation source);

#endif							/* CSV_ERRORS_H */
