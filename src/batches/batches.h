/*
 * batches.h
 *		Batches of a table's rows: the one way in which they come.
 *
 * Whoever wants rows of a table creates a CsvBatches and calls
 * csv_batches_next().  Whether a batch was read by an engine, and which, or was
 * kept from an earlier query, does not show in it; that a device has failed and
 * all had to be read again does not, either.
 *
 * With a query (CsvPushdown), a batch has the rows that come out; groups of the
 * others are there when all batches have been taken.
 */
#ifndef CSV_BATCHES_H
#define CSV_BATCHES_H

#include "batches/evaluation.h"

typedef struct CsvBatches CsvBatches;

typedef struct CsvFileBatch
{
	/* arrays are in the order of `layout`; nobody writes to them */
	CsvBatch	batch;
	const CsvLayout *layout;	/* of the file */
	const CsvDialect *dialect;
	const char *filename;		/* or the program; lives as long as the scan */
	int			file_number;	/* from 1; again from there after a rewind */
	uint64		opening;		/* another one each time a file is opened: then
								 * the columns' order may be another */

	/*
	 * Offsets of records in the batch's part of the file, by row and error; NULL:
	 * they are those in the batch.  Then all of its bytes are there; else only
	 * those of records that somebody may have to look into (resident.h).
	 */
	const uint32_t *row_places;
	const uint64_t *error_places;
	bool		kept;

	const CsvSelection *selection;	/* rows that come out; NULL: all */
} CsvFileBatch;

typedef struct CsvBatchesStatistics
{
	CsvReadStatistics reading;
	CsvEvaluationStatistics evaluation;
} CsvBatchesStatistics;

/*
 * Batches of the wanted attributes (a set of attribute numbers); columns stand in
 * them by the order of their fields.  may_keep: the session may keep them, and
 * take them from those it has kept.  pushdown may be NULL.
 *
 * may_share: other processes may come to share the reading, before the first
 * batch is taken (csv_batches_share).
 *
 * In the current memory context, with which all that it holds goes; table and
 * pushdown must outlive it.  Opens no file.  ERROR where the engine is 'cuda' and
 * there is no usable GPU.
 */
extern CsvBatches *csv_batches_create(const CsvTable *table,
									  const Bitmapset *wanted,
									  const CsvPushdown *pushdown,
									  bool may_keep, bool may_share);

/*
 * Share the reading with other processes, as csv_reading_share(): this one gets
 * some of the batches.  csv_batches_stop(): nobody is to read further than the
 * piece at hand, which counts as passed.
 */
extern void csv_batches_share(CsvBatches *batches, CsvSharing *sharing,
							  const CsvPieceCallbacks *callbacks);
extern void csv_batches_stop(CsvBatches *batches);

/* as csv_reading_on_change() */
extern void csv_batches_on_change(CsvBatches *batches, CsvFileChangedFn changed,
								  void *arg);

/*
 * Without a query, before the first batch: have threads that parse a file call the hook.
 * csv_batches_layout() is the layout of the batches.  The hook's argument must live until
 * csv_batches_end(), or longer than the current memory context.
 */
extern void csv_batches_watch(CsvBatches *batches, const CsvBatchHook *hook);

/* the batch at hand */
extern const CsvFileBatch *csv_batches_at(const CsvBatches *batches);

/* whose files they are */
extern CsvSource *csv_batches_source(const CsvBatches *batches);

/* before the first batch: other files of the table than before are left out */
extern void csv_batches_choose_files(CsvBatches *batches);

/* the columns as they are in the batch at hand, in its order */
extern const CsvFileLayout *csv_batches_layout(const CsvBatches *batches);

/*
 * The next batch, NULL when there are no more; it lives until the next call.
 * It may have neither rows nor errors.
 */
extern const CsvFileBatch *csv_batches_next(CsvBatches *batches);

/* start again */
extern void csv_batches_rewind(CsvBatches *batches);

/* all batches are taken, and will not be again: let go of the engine */
extern void csv_batches_close_engine(CsvBatches *batches);

/* the regular end: ERROR where a program has failed */
extern void csv_batches_end(CsvBatches *batches);

/*
 * With a query that groups, when all batches have been taken: the groups.  They
 * live until a rewind or the end.
 */
extern CsvEvaluator *csv_batches_groups(CsvBatches *batches);

/*
 * First, put together what threads have grouped: it is added to those groups, or
 * stays to be held, but not with must_add; threads make of it what the maker says.
 */
extern void csv_batches_gather(CsvBatches *batches, bool must_add,
							   const CsvGroupsMaker *maker);

/*
 * Groups beside those, which the engine or threads hold (CsvEngine.held_groups): as many as
 * come at a time, from number `first` on.  They live until the next call.  False
 * if there are no more.  ERROR where the device fails; but it did not for the
 * first of them.
 */
extern bool csv_batches_held(CsvBatches *batches, uint32_t first,
							 CsvPartialGroups *groups);
extern void csv_batches_drop_held(CsvBatches *batches);

/* a row that came out as undecided is dropped after all, by the query's filter */
extern void csv_batches_drop_row(CsvBatches *batches);

/* bytes in all, where that is certain, else 0 */
extern int64 csv_batches_certain_size(const CsvBatches *batches);
extern void csv_batches_statistics(const CsvBatches *batches,
								   CsvBatchesStatistics *statistics);

/* for EXPLAIN: NULL as long as none was needed */
extern const char *csv_batches_engine(const CsvBatches *batches);

/* likewise: were all batches so far kept ones? */
extern bool csv_batches_all_kept(const CsvBatches *batches);

/*
 * For the planner, too: would they be for a scan that begins now?  Then *nrows is
 * how many rows it has, of which some may be refused by input functions.
 * *ncolumns is the number of wanted columns in the file.
 */
extern bool csv_batches_are_kept(const CsvTable *table,
								 const Bitmapset *wanted,
								 const Bitmapset *hidden, bool few_rows,
								 int *ncolumns, int64 *nrows);

#endif							/* CSV_BATCHES_H */
