/*
 * scan.h
 *		The rows of a table, for the executor, the error table and ANALYZE.
 */
#ifndef CSV_SCAN_H
#define CSV_SCAN_H

#include "access/tupdesc.h"
#include "nodes/bitmapset.h"

#include "batches/batches.h"
#include "scan/skipping.h"

typedef struct CsvTableScan CsvTableScan;
struct CsvRowRun;

/*
 * For EXPLAIN ANALYZE.  Reading, copying and parsing overlap, so the sum of their
 * times may be more than the scan's time.
 */
typedef struct CsvScanStatistics
{
	int64		records;		/* good and bad, that the scan passed */
	int64		skipped;
	int64		set_null;		/* values that are NULL instead */
	int64		surplus;		/* rows with fields beyond the table's, if a
								 * column for these is wanted */
	CsvBatchesStatistics batches;
} CsvScanStatistics;

/*
 * Start a scan that delivers the wanted attributes (a set of attribute numbers; all
 * others come out NULL).  Everything it holds belongs to a child of the current memory
 * context, and is released with that context at the latest.
 *
 * CSV_SCAN_MAY_KEEP: the session may keep the scan's columns, and the scan may take
 * columns that the session has kept.  Not allowed if `skipped` needs the records'
 * bytes.
 * CSV_SCAN_MAY_SHARE: other processes may share the scan later, see below.
 */
#define CSV_SCAN_MAY_KEEP	1
#define CSV_SCAN_MAY_SHARE	2

extern CsvTableScan *csv_table_scan_begin(const CsvTable *table,
										  const Bitmapset *wanted,
										  const CsvPushdown *pushdown,
										  int flags,
										  CsvSkippedFn skipped, void *arg);

/* ---- scans that several processes share ---- */

/* in shared memory: the pieces, and the reports about them */
typedef struct CsvSharedScan CsvSharedScan;

/*
 * The leader sets it up for nprocesses processes, including itself, before any of them
 * begins, and again before they begin anew.
 */
extern Size csv_shared_scan_size(const CsvTableScan *scan, int nprocesses);
extern void csv_shared_scan_init(CsvSharedScan *shared,
								 const CsvTableScan *scan, int nprocesses);
extern void csv_shared_scan_restart(CsvSharedScan *shared,
									const CsvTableScan *scan);

/* for a worker: the table as the leader has it, and its files */
extern CsvTable *csv_shared_scan_table(CsvSharedScan *shared, Oid relid);

/*
 * Take part, from the beginning on.  dsa: the parallel query's.  Then
 * csv_table_scan_next() returns some of the rows, each row in one process.  When there
 * are no more rows, or when the process stops earlier, csv_table_scan_unshare() adds
 * up the statistics, unless NULL; *statistics becomes the sum of all processes that
 * have done so.  In the leader it also reports everything that is due.
 */
extern void csv_table_scan_share(CsvTableScan *scan, CsvSharedScan *shared,
								 dsa_area *dsa);
extern void csv_table_scan_unshare(CsvTableScan *scan,
								   CsvScanStatistics *statistics);

/* show the scan in pg_stat_progress_copy, under this relation (InvalidOid: none) */
extern void csv_table_scan_show_progress(CsvTableScan *scan, Oid relid);

/* the last row is not used: it counts as excluded there */
extern void csv_table_scan_exclude(CsvTableScan *scan);

/*
 * Returns the next row, in arrays with an entry per attribute of the table; false at
 * the end.  Memory that values point to lives until the next call.  Entries of isnull
 * that are the same in all rows may be written only once: between calls with the same
 * array, the caller must not change it.
 */
extern bool csv_table_scan_next(CsvTableScan *scan, Datum *values,
								bool *isnull);

/*
 * Call between two calls of csv_table_scan_next().  Returns the next rows that are a
 * run (run.h); false if there is none, so that csv_table_scan_next() must return the
 * next row.  The run lives until the next call of either function.
 * csv_table_scan_pass() takes nrows of its rows.
 */
extern bool csv_table_scan_run(CsvTableScan *scan, struct CsvRowRun *run);
extern void csv_table_scan_pass(CsvTableScan *scan, uint32_t nrows);

/* the file of the last row (lives as long as the scan), and its record there */
extern const char *csv_table_scan_place(const CsvTableScan *scan,
										int64 *record);

/* Did the engine leave it open whether the last row passes its filter? */
extern bool csv_table_scan_undecided(const CsvTableScan *scan);

/* the source of its rows: for groups, and for EXPLAIN */
extern CsvBatches *csv_table_scan_batches(const CsvTableScan *scan);

/* start again; records that were reported are not reported again */
extern void csv_table_scan_rewind(CsvTableScan *scan);

/*
 * From a rewind to the next rewind, or to the end: look at rows before their time
 * (skipping.h).
 */
extern void csv_table_scan_look_ahead(CsvTableScan *scan, bool looks_ahead);

/* have all its rows come out? */
extern bool csv_table_scan_is_complete(const CsvTableScan *scan);

/* the regular end: closes the source, sums up skipped records */
extern void csv_table_scan_end(CsvTableScan *scan);

extern void csv_table_scan_statistics(const CsvTableScan *scan,
									  CsvScanStatistics *statistics);

#endif							/* CSV_SCAN_H */
