/*
 * scan.h
 *		The rows of a table: what the executor, the error table and ANALYZE
 *		have in common.
 */
#ifndef CSV_SCAN_H
#define CSV_SCAN_H

#include "access/tupdesc.h"
#include "engine.h"
#include "nodes/bitmapset.h"
#include "report.h"

typedef struct CsvTableScan CsvTableScan;

/*
 * Told of each skipped record, in order, instead of the usual report.  False:
 * it wants to know of no more, and the scan ends.
 */
typedef bool (*CsvSkippedFn) (void *arg, const CsvSkipped *skipped);

/*
 * For EXPLAIN ANALYZE.  What happens at once makes the times of reading, copying
 * and parsing more than that of the scan, when they are added.
 */
typedef struct CsvScanStatistics
{
	int64		records;		/* good and bad, that the scan passed */
	int64		skipped;
	int64		chunks;
	double		read_seconds;
	double		copy_in_seconds;
	double		parse_seconds;
	double		copy_out_seconds;
} CsvScanStatistics;

/*
 * Start a scan that delivers the wanted attributes (a set of attribute
 * numbers; all others come out NULL).  Everything it holds hangs on a child of
 * the current memory context, and is given back with that at the latest.
 */
extern CsvTableScan *csv_table_scan_begin(const CsvTable *table,
										  const Bitmapset *wanted,
										  CsvSkippedFn skipped, void *arg);

/*
 * The next row, into arrays of one entry per attribute of the table.  What
 * the values point to lives until the next call.  Entries of isnull that are
 * the same in all rows may be written only once: between calls with the same
 * array, leave it as it is.  False at the end.
 */
extern bool csv_table_scan_next(CsvTableScan *scan, Datum *values,
								bool *isnull);

/*
 * The number of rows that csv_table_scan_next would still return.  Of a scan
 * that wants no column this costs no more than finding the records.
 */
extern int64 csv_table_scan_count(CsvTableScan *scan);

/* start again; records that were reported are not reported again */
extern void csv_table_scan_rewind(CsvTableScan *scan);

/* the regular end: closes the source, sums up skipped records */
extern void csv_table_scan_end(CsvTableScan *scan);

extern void csv_table_scan_statistics(const CsvTableScan *scan,
									  CsvScanStatistics *statistics);
extern const char *csv_table_scan_engine(const CsvTableScan *scan);

#endif							/* CSV_SCAN_H */
