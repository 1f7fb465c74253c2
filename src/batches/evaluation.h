/*
 * evaluation.h
 *		Evaluates a query over batches: which rows come out, and the groups of the
 *		other rows.
 */
#ifndef CSV_EVALUATION_H
#define CSV_EVALUATION_H

#include "batches/producer.h"

typedef struct CsvEvaluation CsvEvaluation;

/*
 * For these batches.  Allocated in the current memory context.  The deletion of the
 * context also releases everything else.
 */
extern CsvEvaluation *csv_evaluation_create(CsvBatches *batches,
											const CsvPushdown *pushdown);

/*
 * A file was opened.  Makes the engine that reads the file evaluate the query, if it
 * can.
 */
extern void csv_evaluation_open_file(CsvEvaluation *evaluation);

/*
 * Filters the rows of the current batch, or adds them to their groups.  Sets the
 * batch's selection, which lives until the next call.  If all files must be read again
 * (is_lost), this batch does not count.
 */
extern void csv_evaluation_run(CsvEvaluation *evaluation);

/* releases data of the file that was opened last */
extern void csv_evaluation_leave_file(CsvEvaluation *evaluation);

/* starts again, and makes the query again */
extern void csv_evaluation_rewind(CsvEvaluation *evaluation);

/* all files are read; if held groups are lost with the device, sets is_lost */
extern void csv_evaluation_finish(CsvEvaluation *evaluation);

/* ---- groups, when all batches have been taken ---- */

/*
 * Returns the groups of a query that groups, which live until a rewind or the end.
 * Makes the evaluator if there was no row.
 */
extern CsvEvaluator *csv_evaluation_groups(CsvEvaluation *evaluation);

/*
 * Before groups are used: combines the groups of threads.  Adds them to the groups
 * above or, unless must_add, may leave them for csv_evaluation_held().  Threads call
 * the maker for groups that are left there.
 */
extern void csv_evaluation_gather(CsvEvaluation *evaluation, bool must_add,
								  const CsvGroupsMaker *maker);

/*
 * Returns further groups, which the engine or threads hold (CsvEngine.held_groups),
 * from number `first` on: as many as arrive at a time.  These groups live until the
 * next call.  Returns false if there are no more.  ERROR if the device fails; it
 * cannot fail at the first groups.
 */
extern bool csv_evaluation_held(CsvEvaluation *evaluation, uint32_t first,
								CsvPartialGroups *groups);
extern void csv_evaluation_drop_held(CsvEvaluation *evaluation);

#endif							/* CSV_EVALUATION_H */
