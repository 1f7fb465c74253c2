/*
 * execute.h
 *		Scans of one foreign table as the executor runs them: what a plan carries,
 *		and what an execution keeps.
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
	CSV_PLAN_WANTED,			/* integer list of attribute numbers */
	CSV_PLAN_RELATION,			/* list of the table's OID */
	CSV_PLAN_FIRST_RELID,		/* as in CsvPlanState */
	CSV_PLAN_PROGRAM,			/* list of one program, or empty */
	CSV_PLAN_QUALS,				/* the WHERE clauses that the engine has */
	CSV_PLAN_RESULTS,			/* of an upper scan: how its columns come about,
								 * and for which its aggregates were made */
	CSV_PLAN_HIDDEN,			/* attribute numbers, as in CsvPushdown */
	CSV_PLAN_FILE_QUALS,		/* the WHERE clauses that decide which files are
								 * read (file_filter.h); their Params are in
								 * fdw_exprs, too, for the executor to know of */
	CSV_PLAN_ORDER,				/* the order, see below; the limit's expressions
								 * are the last ones of fdw_exprs */
	CSV_PLAN_EQUALITIES			/* by which rows can be looked up when the scan is
								 * repeated, as integers (lookup.h); numbers of
								 * csv_plan_clauses() */
} CsvPlanItem;

/* flags of a key of an order */
#define CSV_ORDER_DESCENDING	1
#define CSV_ORDER_NULLS_FIRST	2

/* what an execution keeps */
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
	bool		looks_up;		/* rows come from there */
	CsvFileFilter *files;		/* NULL: all files are read */
	bool		files_decided;	/* for the scan at hand */
	int64		all_bytes;		/* as csv_lookup_rescan() wants it */

	/* in a parallel query */
	bool		has_begun;		/* it is settled whether the scan is shared */
	bool		is_shared;
	CsvSharedScan *shared;		/* NULL: there is nothing to share it by */
	dsa_area   *dsa;
	ParallelContext *pcxt;		/* in the leader */
	bool		has_statistics; /* of all processes */
	CsvScanStatistics statistics;
} CsvScanState;

/*
 * A scan that the caller has a statement run, and wants to hear of: the first one of
 * this table that begins, in this process only.
 */
typedef struct CsvAwaitedScan
{
	CsvTable   *table;			/* is read as it stands here */
	Oid			shown_relid;	/* in pg_stat_progress_copy */
	CsvSkippedFn skipped;		/* as for csv_table_scan_begin(); NULL: the usual */
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

/* of a finished plan: clauses on the table as the executor evaluates them */
extern List *csv_plan_clauses(const ForeignScan *plan);

/* the wrapper's callbacks: execute.c */
extern void csv_begin_scan(ForeignScanState *node, int eflags);
extern TupleTableSlot *csv_iterate_scan(ForeignScanState *node);
extern void csv_rescan(ForeignScanState *node);
extern void csv_end_scan(ForeignScanState *node);

/* not callbacks; csv_decide_files(): to be called before rows or files are looked at */
extern void csv_open_scan(ForeignScanState *node);
extern void csv_decide_files(ForeignScanState *node);

/*
 * The same: parallel.c.  Before the first row, csv_begin_shared() has the scan
 * shared where there is somebody to share it with.
 */
extern Size csv_estimate_dsm(ForeignScanState *node, ParallelContext *pcxt);
extern void csv_initialize_dsm(ForeignScanState *node, ParallelContext *pcxt,
							   void *coordinate);
extern void csv_reinitialize_dsm(ForeignScanState *node,
								 ParallelContext *pcxt, void *coordinate);
extern void csv_initialize_worker(ForeignScanState *node, shm_toc *toc,
								  void *coordinate);
extern void csv_shutdown_scan(ForeignScanState *node);
extern void csv_begin_shared(CsvScanState *state);

/* explain.c, analyze.c */
extern void csv_explain_scan(ForeignScanState *node, ExplainState *es);
extern bool csv_analyze_table(Relation relation, AcquireSampleRowsFunc *func,
							  BlockNumber *totalpages);

#endif							/* CSV_EXECUTE_H */
