/*
 * scan.h
 *		The rows of a table: what the executor, the error table and ANALYZE
 *		have in common.
 */
#ifndef CSV_SCAN_H
#define CSV_SCAN_H

#include "access/tupdesc.h"
#include "nodes/bitmapset.h"

#include "batches/choose.h"
#include "program/program.h"
#include "scan/report.h"

typedef struct CsvTableScan CsvTableScan;

/*
 * Told of each skipped record, in order, instead of the usual report.  False:
 * it wants to know of no more, and the scan ends.
 */
typedef bool (*CsvSkippedFn) (void *arg, const CsvSkipped *skipped);

/*
 * What the engine is to do beyond finding rows.  prepare makes the query, in the
 * current memory context; it is called when the first rows are there (or at the
 * end, where there were none), and again after a rewind.  As
 * csv_program_query(), it says how much the engine can decide; where that is
 * to come later, is_ready tells when to call it anew.  prepared is told of the
 * evaluator, when that is made.
 */
typedef struct CsvPushdown
{
	const CsvProgram *program;

	/*
	 * Wanted attributes that nobody looks at in a row that the engine has
	 * decided: they come out NULL there.
	 */
	const Bitmapset *hidden;
	bool		few_rows;		/* come out, though many are looked at */
	bool		is_literal;		/* the query's constants are known as they stand:
								 * it may be made before there are rows */
	CsvQuery   *(*prepare) (void *arg, bool has_rows, CsvDecidable *decidable);
	bool		(*is_ready) (void *arg);
	void		(*prepared) (void *arg, CsvEvaluator *evaluator);
	void	   *arg;
} CsvPushdown;

/*
 * For EXPLAIN ANALYZE.  What happens at once makes the times of reading, copying
 * and parsing more than that of the scan, when they are added.
 */
typedef struct CsvScanStatistics
{
	int64		records;		/* good and bad, that the scan passed */
	int64		skipped;
	int64		filtered;		/* rows that the engine's filter dropped, */
	int64		beyond;			/* and that are beyond its limit */
	int64		chunks;
	int64		answered;		/* of them, by the engine itself: CsvAnswer, */
	int64		held;			/* and of those, with groups that it holds */
	int64		bytes;			/* of the files, up to the end of the batch;
								 * anew after a rewind */
	double		read_seconds;
	double		copy_in_seconds;
	double		parse_seconds;
	double		copy_out_seconds;
} CsvScanStatistics;

/*
 * Start a scan that delivers the wanted attributes (a set of attribute
 * numbers; all others come out NULL).  Everything it holds hangs on a child of
 * the current memory context, and is given back with that at the latest.
 *
 * may_keep: the session may keep its columns, and take them from those it has
 * kept; not where `skipped` wants to see the records' bytes.
 */
extern CsvTableScan *csv_table_scan_begin(const CsvTable *table,
										  const Bitmapset *wanted,
										  const CsvPushdown *pushdown,
										  bool may_keep,
										  CsvSkippedFn skipped, void *arg);

/* show it in pg_stat_progress_copy, under this relation */
extern void csv_table_scan_show_progress(CsvTableScan *scan, Oid relid);

/*
 * The next row, into arrays of one entry per attribute of the table.  What
 * the values point to lives until the next call.  Entries of isnull that are
 * the same in all rows may be written only once: between calls with the same
 * array, leave it as it is.  False at the end.
 */
extern bool csv_table_scan_next(CsvTableScan *scan, Datum *values,
								bool *isnull);

/*
 * Where the row that came out last stands: its file (which lives as long as the
 * scan) and its record there.
 */
extern const char *csv_table_scan_place(const CsvTableScan *scan,
										int64 *record);

/*
 * Did the engine leave it open whether the last row passes its filter?
 */
extern bool csv_table_scan_undecided(const CsvTableScan *scan);

/* the groups, when all rows are read; they live until a rewind or the end */
extern CsvEvaluator *csv_table_scan_evaluator(CsvTableScan *scan);

/*
 * Groups beside those, which the engine holds (CsvEngine.held_groups): as many as
 * come at a time, from number `first` on.  They live until the next call.  False
 * if there are no more.  ERROR where the device fails; but it did not for the
 * first of them, so that a failure up to there has begun the scan anew.
 */
extern bool csv_table_scan_held(CsvTableScan *scan, uint32_t first,
								CsvPartialGroups *groups);

/* let go of them */
extern void csv_table_scan_drop_held(CsvTableScan *scan);

/* start again; records that were reported are not reported again */
extern void csv_table_scan_rewind(CsvTableScan *scan);

/* the regular end: closes the source, sums up skipped records */
extern void csv_table_scan_end(CsvTableScan *scan);

extern void csv_table_scan_statistics(const CsvTableScan *scan,
									  CsvScanStatistics *statistics);

/* NULL as long as none was needed */
extern const char *csv_table_scan_engine(const CsvTableScan *scan);

/*
 * For EXPLAIN, where csv_resident_enabled(): were the columns of all files that
 * the scan came to resident?  *ncolumns is the number of wanted columns in the
 * file.
 */
extern bool csv_table_scan_resident(const CsvTableScan *scan, int *ncolumns);

/*
 * Likewise, would they be for a scan that begins now?  Then *nrows is how many
 * rows it has, of which some may be refused by input functions.
 */
extern bool csv_table_is_resident(const CsvTable *table,
								  const Bitmapset *wanted,
								  const Bitmapset *hidden, bool few_rows,
								  int *ncolumns, int64 *nrows);

#endif							/* CSV_SCAN_H */
