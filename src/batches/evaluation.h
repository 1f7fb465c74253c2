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
 * batch's selection, which lives until the next call.
 */
extern void csv_evaluation_run(CsvEvaluation *evaluation);

/* releases data of the file that was opened last */
extern void csv_evaluation_leave_file(CsvEvaluation *evaluation);

/* starts again, and makes the query again */
extern void csv_evaluation_rewind(CsvEvaluation *evaluation);

/* starts again with the same query; drops all groups */
extern void csv_evaluation_renew(CsvEvaluation *evaluation);

/* the regular end: closes the temporary file */
extern void csv_evaluation_end(CsvEvaluation *evaluation);

/* raises the ERROR if memory or the temporary file has failed */
extern void csv_evaluation_check(CsvEvaluation *evaluation, CsvStatus status);

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
 * above, or writes them to the temporary file, or, unless must_add, may leave them for
 * csv_evaluation_held().  Threads call the maker for groups that are left there.
 */
extern void csv_evaluation_gather(CsvEvaluation *evaluation, bool must_add,
								  const CsvGroupsMaker *maker);

/* are groups in the temporary file?  How many bytes were written? */
extern bool csv_evaluation_has_spilled(CsvEvaluation *evaluation);
extern int64 csv_evaluation_disk_bytes(CsvEvaluation *evaluation);

/*
 * Groups are in the temporary file, and none are held: the groups above go there, too.
 * From now on, csv_evaluation_held() merges and returns the groups in the file.
 */
extern void csv_evaluation_regroup(CsvEvaluation *evaluation,
								   const CsvGroupsMaker *maker);

/* of groups from the file: bytes that were attached, as csv_regroup_attached() */
extern bool csv_evaluation_attached(const CsvEvaluation *evaluation, uint32_t i,
									uint32_t *group, const uint8_t **bytes);

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
