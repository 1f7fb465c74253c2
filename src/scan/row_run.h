/*
 * row_run.h
 *		Rows of a scan, many at a time, for threads.
 *
 * A run (from csv_table_scan_run()) is a number of rows in the arrays of one batch.
 * No record between them is skipped, and only a few rows have values that an input
 * function must make.
 */
#ifndef CSV_ROW_RUN_H
#define CSV_ROW_RUN_H

#include "program/program.h"
#include "scan/fetch.h"

/* such a row; values are by attributes of the table */
typedef struct CsvInputRow
{
	uint32_t	row;			/* of the run */
	Datum	   *values;
	bool	   *isnull;
} CsvInputRow;

typedef struct CsvRowRun
{
	const CsvScanColumn *columns;
	int			ncolumns;
	uint32_t	first;			/* entry in the arrays */
	uint32_t	nrows;
	const CsvInputRow *input_rows;	/* in order */
	uint32_t	ninput_rows;
} CsvRowRun;

/* room to make a value, for each place */
typedef union CsvRowRoom
{
	char		numeric[CSV_SHORT_NUMERIC_BYTES];
	int64		as_aligned_as_this;
} CsvRowRoom;

/*
 * Fetch the values of a row, in any thread.  places: for each attribute of the table,
 * its entry in `values`, `isnull` and `room`; all other entries stay as they are.
 * Values live until `room` is used again.  Returns false if a value is too long for
 * `room`.
 */
extern bool csv_row_run_fetch(const CsvRowRun *run, uint32_t row, const int *places,
							  Datum *values, bool *isnull, CsvRowRoom *room);

#endif							/* CSV_ROW_RUN_H */
