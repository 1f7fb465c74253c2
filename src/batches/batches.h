/*
 * batches.h
 *		Batches of a table's rows: the only interface for reading rows.
 *
 * To read rows of a table, create a CsvBatches and call csv_batches_next().  A batch
 * does not show whether an engine has read it, which engine that was, or whether it
 * was kept from an earlier query.  Nor does it show that a device has failed and
 * everything was read again.
 *
 * With a query (CsvPushdown), a batch has the rows that come out.  The other rows are
 * in groups, which are complete when all batches have been taken.
 */
#ifndef CSV_BATCHES_H
#define CSV_BATCHES_H

#include "batches/evaluation.h"

typedef struct CsvBatches CsvBatches;

typedef struct CsvFileBatch
{
	/* arrays are in the order of `layout`; read-only */
	CsvBatch	batch;
	const CsvLayout *layout;	/* of the file */
	const CsvDialect *dialect;
	const char *filename;		/* or the program; lives as long as the scan */
	int			file_number;	/* from 1; counts from 1 again after a rewind */
	uint64		opening;		/* changes with each opened file, as columns may */

	/*
	 * Offsets of records in the batch's part of the file, by row and by error.  If
	 * NULL, the offsets in the batch are valid, and it has all bytes of its part.
	 * Otherwise it only has the bytes of records that the executor may need
	 * (resident.h).
	 */
	const uint32_t *row_places;
	const uint64_t *error_places;
	bool		kept;

	const CsvSelection *selection;	/* rows that come out; NULL: all rows */
} CsvFileBatch;

typedef struct CsvBatchesStatistics
{
	CsvReadStatistics reading;
	CsvEvaluationStatistics evaluation;
} CsvBatchesStatistics;

/*
 * Creates batches of the wanted attributes (a set of attribute numbers).  Columns are
 * in the order of their fields.  may_keep: the session may keep the batches, and may
 * use batches that it has kept.  pushdown may be NULL.
 *
 * may_share: other processes may share the reading, if they join before the first
 * batch is taken (csv_batches_share()).
 *
 * The current memory context holds everything, and releases it.  table and pushdown
 * must outlive the CsvBatches.  Opens no file.  ERROR if the engine is 'cuda' and
 * there is no usable GPU.
 */
extern CsvBatches *csv_batches_create(const CsvTable *table,
									  const Bitmapset *wanted,
									  const CsvPushdown *pushdown,
									  bool may_keep, bool may_share);

/*
 * Shares the reading with other processes, like csv_reading_share(): this process gets
 * some of the batches.  csv_batches_stop(): no process reads beyond the piece that it
 * has; the current piece counts as passed.
 */
extern void csv_batches_share(CsvBatches *batches, CsvSharing *sharing,
							  const CsvPieceCallbacks *callbacks);
extern void csv_batches_stop(CsvBatches *batches);

/* like csv_reading_on_change() */
extern void csv_batches_on_change(CsvBatches *batches, CsvFileChangedFn changed,
								  void *arg);

/*
 * Makes threads that parse a file call the hook.  Not with a query; call this before
 * the first batch.  The layout of the batches is csv_batches_layout().  The hook's
 * argument must live until csv_batches_end(), or longer than the current memory
 * context.
 */
extern void csv_batches_watch(CsvBatches *batches, const CsvBatchHook *hook);

/* the current batch */
extern const CsvFileBatch *csv_batches_at(const CsvBatches *batches);

/* the source of the files */
extern CsvSource *csv_batches_source(const CsvBatches *batches);

/* before the first batch: the set of files that are left out has changed */
extern void csv_batches_choose_files(CsvBatches *batches);

/* the columns of the current batch, in its order */
extern const CsvFileLayout *csv_batches_layout(const CsvBatches *batches);

/*
 * Returns the next batch, or NULL if there are no more.  The batch lives until the
 * next call.  It may have neither rows nor errors.
 */
extern const CsvFileBatch *csv_batches_next(CsvBatches *batches);

/* starts again with the first file */
extern void csv_batches_rewind(CsvBatches *batches);

/* closes the engine: all batches are taken, and will not be taken again */
extern void csv_batches_close_engine(CsvBatches *batches);

/* the regular end: ERROR if a program has failed */
extern void csv_batches_end(CsvBatches *batches);

/*
 * Returns the groups of a query that groups, when all batches have been taken.  The
 * groups live until a rewind or the end.
 */
extern CsvEvaluator *csv_batches_groups(CsvBatches *batches);

/*
 * When all batches have been taken, and before groups are used: combines the groups of
 * threads.  Adds them to the groups above or, unless must_add, may leave them for
 * csv_batches_held().  Threads call the maker for groups that are left there.
 */
extern void csv_batches_gather(CsvBatches *batches, bool must_add,
							   const CsvGroupsMaker *maker);

/*
 * Returns further groups, which the engine or threads hold (CsvEngine.held_groups),
 * from number `first` on: as many as arrive at a time.  These groups live until the
 * next call.  Returns false if there are no more.  ERROR if the device fails; it
 * cannot fail at the first groups.
 */
extern bool csv_batches_held(CsvBatches *batches, uint32_t first,
							 CsvPartialGroups *groups);
extern void csv_batches_drop_held(CsvBatches *batches);

/* a row that came out as undecided was dropped by the query's filter */
extern void csv_batches_drop_row(CsvBatches *batches);

/* total bytes, if known for certain; otherwise 0 */
extern int64 csv_batches_certain_size(const CsvBatches *batches);
extern void csv_batches_statistics(const CsvBatches *batches,
								   CsvBatchesStatistics *statistics);

/* for EXPLAIN: NULL until an engine was needed */
extern const char *csv_batches_engine(const CsvBatches *batches);

/* for EXPLAIN: were all batches so far kept batches? */
extern bool csv_batches_all_kept(const CsvBatches *batches);

/*
 * For EXPLAIN and the planner: would all batches of a scan that begins now be kept
 * batches?  Sets *nrows to the number of rows; input functions may reject some of
 * them.  Sets *ncolumns to the number of wanted columns in the file.
 */
extern bool csv_batches_are_kept(const CsvTable *table,
								 const Bitmapset *wanted,
								 const Bitmapset *hidden, bool few_rows,
								 int *ncolumns, int64 *nrows);

#endif							/* CSV_BATCHES_H */
