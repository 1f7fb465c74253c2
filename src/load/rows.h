/*
 * rows.h
 *		The rows of a load: how they come from the source, and which of them go
 *		in.
 */
#ifndef CSV_ROWS_H
#define CSV_ROWS_H

#include "access/tupdesc.h"
#include "utils/resowner.h"
#include "utils/tuplestore.h"

#include "load/insert.h"
#include "load/transform.h"
#include "load/verdicts.h"
#include "scan/execute.h"
#include "scan/scan.h"

/* the columns of csv_gpu_errors(), then loaded_at and source */
#define CSV_REJECT_COLUMNS	(CSV_ERROR_COLUMNS + 2)

/*
 * how a value gets from an attribute of the source to an attribute of the
 * target
 */
typedef struct CsvLoadColumn
{
	int			from;			/* attribute number - 1 */
	int			to;				/* attribute number - 1 */
	ExprState  *expr;			/* over a slot of the source; NULL: no change */
	const char *sql;			/* for SELECT */
} CsvLoadColumn;

typedef struct CsvMapping
{
	int			ncolumns;
	CsvLoadColumn *columns;
	Bitmapset  *from;			/* attribute numbers, also of SQL */
	Bitmapset  *to;
	char	   *filter;			/* SQL; NULL: none */
	bool		any_expr;
	bool		is_volatile;	/* one of the expressions is, or the SQL */
	bool		one_by_one;		/* the SQL may look at the rows before */
	bool		is_identity;	/* no attribute changes its number or value */
} CsvMapping;

/* the rows that a scan of the source is for */
typedef enum CsvTaking
{
	CSV_TAKE_INSERTED,
	CSV_TAKE_UPDATES,
	CSV_TAKE_BOTH
} CsvTaking;

/* cases in the order of records, so that a further try repeats no NOTICE */
typedef struct CsvTold
{
	int64		nseen;			/* in this try */
	int64		nbefore;		/* in an earlier one */
} CsvTold;

typedef struct CsvLoad
{
	CsvTable   *table;
	Relation	source;			/* NULL: it is not in the catalog */
	TupleTableSlot *row;		/* of the source */
	CsvMapping	mapping;
	CsvInsert  *target;
	TupleTableSlot *slot;		/* of the target */
	bool		is_mapped;		/* row is not the target's */
	CsvTableScan *scan;
	CsvRowsQuery rows;			/* has the scan, if there is a filter */
	ExprContext *econtext;		/* for the conversions of a row */
	const char *owner;			/* csv_find_owner() of the target */
	CsvIndexing indexing;		/* of the target */
	bool		freezes;
	bool		by_statement;	/* all rows go in by INSERT ... SELECT */
	bool		may_go_by_pages;
	bool		is_careful;		/* rows are tested */
	int64		nloaded;
	CsvScanStatistics statistics;

	/* duplicates, and rows that the target refuses */
	CsvDuplicates duplicates;
	Oid			key_index;
	Bitmapset  *key;			/* attribute numbers of the target */
	Bitmapset  *updated;		/* likewise */
	CsvVerdicts *verdicts;		/* NULL: none */
	struct CsvLoadFile *files;	/* table->files, for verdicts; or NULL */
	CsvTaking	taking;
	bool		any_updates;
	int64		nleft_out;
	bool		is_waiting;		/* a statement has got a row, and did not return it yet */
	CsvInsert  *tested;			/* the target, with rows that are tested, */
	ResourceOwner resources;	/* to which it belongs */
	TupleTableSlot *from;		/* the source's row */
	bool		is_mapping;		/* it becomes a row of the target */
	bool		is_dropped;		/* a trigger has dropped it */

	CsvSkippedFn skipped;		/* of this load; NULL: the scan's own report */
	CsvSkippedFn skipped_of_copy;
	void	   *copy;			/* its argument */

	/* skipped records, if they are kept */
	CsvInsert  *rejects;		/* NULL: they are not kept */
	const char *rejects_owner;
	CsvMapping	reject_mapping;
	TupleDesc	reject_tupdesc;
	Tuplestorestate *rejected;
	MemoryContext reject_context;	/* of one row that is left out */
	CsvReport	report;			/* instead of the scan's */
	CsvTold		bad;			/* records */
	CsvTold		refused;		/* rows */
	CsvVerbosity verbosity;		/* the table's own */
	TimestampTz started;
} CsvLoad;

/* fill in a row of the target from a row of the source */
extern void csv_map_row(const CsvMapping *mapping, TupleTableSlot *from,
						TupleTableSlot *to,
						ExprContext *econtext);

/* report a record, which is a case of `told` */
extern void csv_load_report(CsvLoad *load, const CsvSkipped *skipped,
							CsvTold *told);

/* for a further try: without the NOTICEs that this one gave */
extern void csv_load_report_again(CsvLoad *load);
/* ERROR if the load's files are not those that its verdicts are about */
extern void csv_load_check_files(const CsvLoad *load);

/* keep a record among the rejects */
extern void csv_keep_record(CsvLoad *load, const CsvSkipped *skipped);

/*
 * Start the load's scan; load->row and the slot of load->target get its rows.
 * flags and skipped are csv_table_scan_begin()'s.
 */
extern void csv_load_scan(CsvLoad *load, int flags, CsvSkippedFn skipped);
extern void csv_load_scan_end(CsvLoad *load);

/*
 * WHERE, if there is a filter; late: it is evaluated for each row, even if
 * constant
 */
extern void csv_append_filter(StringInfo sql, const CsvMapping *mapping,
							  bool late);

/* a CsvNextRowFn: the next row that is taken, as a row of the target */
extern bool csv_load_next(void *load);

/* the place of the scan's last row, for verdicts */
extern int64 csv_load_place(const CsvTableScan *scan);

/*
 * a CsvAwaitedScan.takes: the statement has put the row before in, or has left
 * it out
 */
extern bool csv_load_takes(void *load, ForeignScanState *node, bool has_row);

/* may the source be different if it is read again? */
extern bool csv_is_read_once(const CsvLoad *load);

/* ERROR that says so */
extern void csv_load_refuse_twice(const CsvLoad *load)
	__attribute__((noreturn));

/* a CsvSkippedFn, for records that are skipped again later */
extern bool csv_ignore_record(void *arg, const CsvSkipped *skipped);

/*
 * Read all rows to tell those that do not go in: duplicates, and if
 * load->is_careful, rows that the target refuses, as far as ON CONFLICT does
 * not tell it.
 */
extern void csv_load_judge(CsvLoad *load);

#endif							/* CSV_ROWS_H */
