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
 * in groups (evaluation.h), which are complete when all batches have been taken.
 */
#ifndef CSV_BATCHES_H
#define CSV_BATCHES_H

#include "batches/producer.h"

/*
 * Creates batches of the wanted attributes (a set of attribute numbers).  Columns are
 * in the order of their fields.  may_keep: the session may keep the batches, and may
 * use batches that it has kept.  pushdown may be NULL.
 *
 * Other processes may share the batches, if they join before the first batch is
 * taken (csv_sharing_begin()).
 *
 * The current memory context holds everything, and releases it.  table and pushdown
 * must outlive the CsvBatches.  Opens no file and no engine.
 */
extern CsvBatches *csv_batches_create(const CsvTable *table,
									  const Bitmapset *wanted,
									  const CsvPushdown *pushdown,
									  bool may_keep);

/*
 * Makes threads that parse a file call the hook.  Not with a query; call this before
 * the first batch.  The hook's argument must live until csv_batches_end(), or longer
 * than the current memory context.
 */
extern void csv_batches_watch(CsvBatches *batches, const CsvBatchHook *hook);

/* before the first batch: the set of files that are left out has changed */
extern void csv_batches_choose_files(CsvBatches *batches);

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

/* total bytes, if known for certain; otherwise 0 */
extern int64 csv_batches_certain_size(const CsvBatches *batches);

/* the statistics up to now */
extern CsvBatchesStatistics csv_batches_statistics(const CsvBatches *batches);

#endif							/* CSV_BATCHES_H */
