/*
 * run.h
 *		Rows of a scan, many at a time, for threads.
 *
 * A run (csv_table_scan_run() gives it) is rows that need nothing but the arrays of one
 * batch: no record between them is skipped, and but for a few rows no value has to be
 * made by an input function.
 */
#ifndef CSV_RUN_H
#define CSV_RUN_H

#include "program/program.h"
#include "scan/fetch.h"

/* one of those few, by attributes of the table */
typedef struct CsvCarefulRow
{
	uint32_t	row;			/* of the run */
	Datum	   *values;
	bool	   *isnull;
} CsvCarefulRow;

typedef struct CsvRowRun
{
	const CsvScanColumn *columns;
	int			ncolumns;
	uint32_t	first;			/* entry in the arrays */
	uint32_t	nrows;
	const CsvCarefulRow *careful;	/* in order */
	uint32_t	ncareful;
} CsvRowRun;

/* where a value is made, for each place */
typedef union CsvRowRoom
{
	char		numeric[CSV_SHORT_NUMERIC_BYTES];
	int64		as_aligned_as_this;
} CsvRowRoom;

/*
 * The values of a row, in any thread.  places: for each attribute of the table, which
 * entry of `values`, `isnull` and `room` is its own; entries of others are left as
 * they are.  Values live as long as `room` is not used again.  False: one of them is
 * too long for that.
 */
extern bool csv_row_run_fetch(const CsvRowRun *run, uint32_t row, const int *places,
							  Datum *values, bool *isnull, CsvRowRoom *room);

#endif							/* CSV_RUN_H */
