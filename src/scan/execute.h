/*
 * execute.h
 *		Runs scans of one foreign table: the contents of a plan, and the state of an
 *		execution.
 */
#ifndef CSV_EXECUTE_H
#define CSV_EXECUTE_H

#include "foreign/fdwapi.h"

#include "compat.h"
#include "groups/aggregate.h"
#include "scan/file_filter.h"
#include "scan/lookup.h"
#include "scan/scan.h"

/* the items of ForeignScan.fdw_private */
typedef enum CsvPlanItem
{
	CSV_PLAN_BUILD,				/* csv_build() */
	CSV_PLAN_WANTED,			/* integer list of attribute numbers */
	CSV_PLAN_RELATION,			/* list of the table's OID */
	CSV_PLAN_FIRST_RELID,		/* as in CsvPlanState */
	CSV_PLAN_PROGRAM,			/* list of one program, or empty */
	CSV_PLAN_QUALS,				/* the WHERE clauses that the engine has */
	CSV_PLAN_RESULTS,			/* of an upper scan: how each column is computed,
								 * and the column that each aggregate is for */
	CSV_PLAN_HIDDEN,			/* attribute numbers, as in CsvPushdown */
	CSV_PLAN_FILE_QUALS,		/* the WHERE clauses that decide which files are
								 * read (file_filter.h); for the executor, their
								 * Params are in fdw_exprs, too */
	CSV_PLAN_ORDER,				/* the order, see below; the limit's expressions
								 * come last in fdw_exprs */
	CSV_PLAN_EQUALITIES,		/* equalities by which a repeated scan can look rows
								 * up, as integers (lookup.h); numbers of
								 * plan_clauses() */
	CSV_PLAN_ROWS_OUT,			/* list of a percentage: CsvPushdown.rows_out */
	CSV_PLAN_REASONS,			/* for each of the plan's quals why the engine does not
								 * have it (String; empty: not known) */
	CSV_PLAN_LEFT,				/* CsvPlanState.left, of a table's own scan */
	CSV_PLAN_SAMPLED			/* not empty: by statistics of a sample */
} CsvPlanItem;

/* flags of a key of an order */
#define CSV_ORDER_DESCENDING	1
#define CSV_ORDER_NULLS_FIRST	2

/* the state of an execution */
typedef struct CsvScanState
{
	CsvTable   *table;
	CsvTableScan *scan;
	List	   *constants;		/* ExprStates */
	ExprState  *limit[2];		/* LIMIT and OFFSET; NULL: all rows are wanted */
	CsvPushdown pushdown;		/* program NULL: none */
	CsvAggregation *aggregation;	/* NULL: rows */
	bool		aggregated;		/* all rows are read */
	CsvLookup  *lookup;			/* NULL: repeated scans read the file */
	bool		looks_up;		/* rows come from lookup */
	CsvFileFilter *files;		/* NULL: all files are read */
	bool		files_decided;	/* for the current scan */
	int64		all_bytes;		/* for csv_lookup_rescan() */
	List	   *join_filters;	/* CsvScanFilters, of the joins above */

	/* in a parallel query */
	bool		has_begun;		/* it is known whether the scan is shared */
	bool		is_shared;
	CsvSharedScan *shared;		/* NULL: the scan cannot be shared */
	dsa_area   *dsa;
	ParallelContext *pcxt;		/* in the leader */
	bool		has_statistics; /* of all processes */
	CsvScanStatistics statistics;
} CsvScanState;

/*
 * A scan that a statement runs for the caller, and that reports to the caller.
 * It is the first scan of this table that begins, in this process only, and in
 * this statement: the planner may call functions that have others.
 */
typedef struct CsvAwaitedScan
{
	CsvTable   *table;			/* the scan reads it as it is here */
	const char *sql;			/* of the statement; NULL: any */
	Oid			shown_relid;	/* in pg_stat_progress_copy */
	CsvSkippedFn skipped;		/* as for csv_table_scan_begin(); NULL: the usual */

	/*
	 * Is called before each row is fetched, and at the end, with has_row false;
	 * and after that, with the row in the scan's slot: does it come out?  NULL:
	 * all do.
	 */
	bool		(*takes) (void *arg, ForeignScanState *node, bool has_row);
	bool		places;			/* CSV_SCAN_PLACES, if there is `skipped` */
	void	   *arg;
	ForeignScanState *node;		/* NULL: it has not begun */
	bool		has_ended;
	CsvScanStatistics statistics;
} CsvAwaitedScan;

/* NULL: none.  The caller restores the value, also after an ERROR. */
extern CsvAwaitedScan *csv_awaited_scan;

/* of a plan */
extern Bitmapset *csv_plan_set(const ForeignScan *plan, CsvPlanItem item);
extern bool csv_plan_has_order(const ForeignScan *plan);
extern double csv_plan_rows_out(const ForeignScan *plan);

/* the wrapper's callbacks: execute.c */
extern void csv_begin_scan(ForeignScanState *node, int eflags);
extern TupleTableSlot *csv_iterate_scan(ForeignScanState *node);
extern void csv_rescan(ForeignScanState *node);
extern void csv_end_scan(ForeignScanState *node);

/*
 * Not callbacks.  Call csv_decide_files() before looking at rows or files.  Before the
 * first row, csv_begin_shared() shares the scan with other processes, if there are any.
 */
extern void csv_open_scan(ForeignScanState *node);
extern void csv_decide_files(ForeignScanState *node);
extern void csv_begin_shared(CsvScanState *state);

/* the wrapper's callbacks: parallel.c */
extern Size csv_estimate_dsm(ForeignScanState *node, ParallelContext *pcxt);
extern void csv_initialize_dsm(ForeignScanState *node, ParallelContext *pcxt,
							   void *coordinate);
extern void csv_reinitialize_dsm(ForeignScanState *node,
								 ParallelContext *pcxt, void *coordinate);
extern void csv_initialize_worker(ForeignScanState *node, shm_toc *toc,
								  void *coordinate);
extern void csv_shutdown_scan(ForeignScanState *node);

/* explain.c, analyze.c */
extern void csv_explain_scan(ForeignScanState *node, ExplainState *es);
extern bool csv_analyze_table(Relation relation, AcquireSampleRowsFunc *func,
							  BlockNumber *totalpages);

/* ---- statistics.c ---- */

/* rows of a sample; t_tableOid numbers the places where they are */
typedef struct CsvSampledRows
{
	HeapTuple  *rows;
	int			nrows;
	TupleDesc	tupdesc;
	const Bitmapset *attributes;	/* whose values they have */
	int64		nseen;			/* rows that were read, */
	double		row_bytes;		/* and their mean length */
	bool		is_part;		/* as in CsvSampling */
} CsvSampledRows;

/*
 * Reads a sample, of columns with pure input functions.  Passes over bad
 * records without a word.  NULL: it takes too long.  ERROR if a file cannot be
 * read.
 */
extern CsvSampledRows *csv_sample_rows(const CsvTable *table,
									   const Bitmapset *attributes);

/* a row of pg_statistic, as ANALYZE makes it of ntuples rows; NULL: none */
extern HeapTuple csv_column_statistics(const CsvSampledRows *sample, Oid relid,
									   AttrNumber attnum, double ntuples);

/* the mean width of a column's values, if typlen is -1; 0: there are none */
extern int32 csv_sampled_width(const CsvSampledRows *sample, AttrNumber attnum);

#endif							/* CSV_EXECUTE_H */
