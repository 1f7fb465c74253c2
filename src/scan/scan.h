/*
 * scan.h
 *		The rows of a table, for the executor, the error table and ANALYZE.
 */
#ifndef CSV_SCAN_H
#define CSV_SCAN_H

#include "access/tupdesc.h"
#include "nodes/bitmapset.h"
#include "storage/spin.h"

#include "batches/batches.h"
#include "batches/sharing.h"
#include "scan/skipping.h"
#include "scan/virtual.h"

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
	int64		unmatched;		/* rows that a join filter removed */
	CsvBatchesStatistics batches;
} CsvScanStatistics;

/* in shared memory: the pieces, and the reports about them */
typedef struct CsvSharedScan
{
	Size		sharing;		/* bytes from here to each part */
	Size		report;
	Size		server_options; /* nodeToString() of the table's */
	Size		join_filters;	/* those that the scan owns */
	slock_t		mutex;
	CsvScanStatistics statistics;	/* the sum of all processes */
} CsvSharedScan;

/* the parts of the shared memory */
static inline CsvSharing *
csv_shared_files(CsvSharedScan *shared)
{
	return (CsvSharing *) ((char *) shared + shared->sharing);
}

static inline CsvSharedReport *
csv_shared_report(CsvSharedScan *shared)
{
	return (CsvSharedReport *) ((char *) shared + shared->report);
}

/* a column of a batch whose values all have the status CSV_VALUE_OK */
typedef struct CsvPlainColumn
{
	const uint8_t *values;
	uint32_t	stride;
	int			att;			/* attribute number - 1 */
} CsvPlainColumn;

/* callers may read all members, and may set the progress's before the first row */
typedef struct CsvTableScan
{
	const CsvTable *table;
	MemoryContext context;
	MemoryContext row_context;	/* NULL: no row has needed it yet */
	bool		row_context_used;
	MemoryContextCallback callback;

	bool		shows_progress; /* in pg_stat_progress_copy, */
	Oid			progress_relid; /* under this relation; InvalidOid: none */

	CsvBatches *batches;
	CsvScanColumn *columns;		/* in the order of the layout */
	int			ncolumns;
	CsvVirtuals *virtuals;		/* NULL: none are wanted */
	int64		nsurplus;		/* rows that had surplus fields */
	CsvInputs  *inputs;
	CsvSkipping *skipping;
	bool		shows_bytes;	/* of skipped records, to their receiver */

	/* the current batch; NULL: none */
	const CsvFileBatch *at;
	uint64		opening;		/* as in the batch before */
	uint32_t	position;		/* next row in `matching` or in its selection */
	uint32_t	row;			/* next row of the batch */
	uint32_t	entry;			/* the row's place in the arrays */
	uint32_t	error;			/* next error of the batch */
	bool		undecided;		/* the engine left the last row open */
	List	   *join_filters;	/* CsvScanFilters; set before the first row */
	uint32_t   *matching;		/* rows of the selection (without one, of the
								 * batch) that they leave */
	uint32_t	nmatching;
	uint32_t	matching_capacity;
	bool		is_filtered;	/* `matching` counts */
	int64		nunmatched;		/* rows that they removed, in batches before */
	bool		any_inputs;		/* some entry has values that arrays do not hold */

	/*
	 * The batch's columns that the arrays hold.  The plain columns are sorted by their
	 * way to fetch; each way ends before its plain_end.  The others have NULLs.
	 * isnull of the plain columns was set to false once, in the array null_set.
	 */
	CsvPlainColumn *plain;
	CsvPlainColumn *plain_end[CSV_NUM_FETCHES];
	const CsvScanColumn **nullable;
	int			nnullable;
	const bool *null_set;

	bool		is_counted;		/* in csv_gpu_stat, as a running scan */
	bool		finished;
	bool		stopped;		/* the receiver of skipped records wants no more */

	CsvSharedScan *shared;		/* NULL: no other process shares it */
	bool		is_leader;
	CsvScanStatistics told;		/* what shared->statistics has of them */
	int64		nexcluded;		/* rows that were not used: they count as excluded */
} CsvTableScan;

/*
 * Start a scan that delivers the wanted attributes (a set of attribute numbers; all
 * others come out NULL).  Everything it holds belongs to a child of the current memory
 * context, and is released with that context at the latest.
 *
 * CSV_SCAN_RESIDENT: the scan may take resident columns, and its own columns may become
 * resident.  Not allowed if `skipped` needs the records' bytes.
 * CSV_SCAN_PLACES: csv_table_scan_last() may be called; not with
 * CSV_SCAN_RESIDENT.
 */
#define CSV_SCAN_RESIDENT	1
#define CSV_SCAN_PLACES		2

extern CsvTableScan *csv_table_scan_begin(const CsvTable *table,
										  const Bitmapset *wanted,
										  const CsvPushdown *pushdown,
										  int flags,
										  CsvSkippedFn skipped, void *arg);

/*
 * Makes the value that a wanted attribute has in all rows of the open file, for
 * csv_virtuals_value()'s time; false if the type refuses it.
 */
extern bool csv_scan_file_value(CsvTableScan *scan, AttrNumber attnum,
								Datum *value, bool *isnull);

/* ---- scans that several processes share ---- */

/*
 * Take part, from the beginning on.  dsa: the parallel query's.  Then
 * csv_table_scan_next() returns some of the rows, each row in one process.  When
 * there are no more rows, or when the process stops earlier,
 * csv_table_scan_unshare() returns the statistics of all processes, up to their
 * current batches or their end.  In the leader it also reports everything that is
 * due.
 */
extern void csv_table_scan_share(CsvTableScan *scan, CsvSharedScan *shared,
								 dsa_area *dsa);
extern CsvScanStatistics csv_table_scan_unshare(CsvTableScan *scan);

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
 * run (row_run.h); false if there is none, so that csv_table_scan_next() must return the
 * next row.  The run lives until the next call of either function.  The caller adds
 * the number of rows that it takes to scan->row.
 */
extern bool csv_table_scan_run(CsvTableScan *scan, struct CsvRowRun *run);

/* the file of the last row (lives as long as the scan), and its record there */
extern const char *csv_table_scan_place(const CsvTableScan *scan,
										int64 *record);

/* its place and bytes, with CSV_SCAN_PLACES */
extern void csv_table_scan_last(const CsvTableScan *scan, CsvSkipped *last);

/* start again; records that were reported are not reported again */
extern void csv_table_scan_rewind(CsvTableScan *scan);

/* the regular end: closes the source, sums up skipped records */
extern void csv_table_scan_end(CsvTableScan *scan);

extern void csv_table_scan_statistics(const CsvTableScan *scan,
									  CsvScanStatistics *statistics);

#endif							/* CSV_SCAN_H */
