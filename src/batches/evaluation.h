/*
 * evaluation.h
 *		Evaluates a query over batches: which rows come out, and the groups of the
 *		other rows.
 */
#ifndef CSV_EVALUATION_H
#define CSV_EVALUATION_H

#include "batches/kept.h"
#include "batches/reading.h"
#include "program/program.h"
#include "query/query.h"

/*
 * The query that the engine must evaluate.  `prepare` makes the query, in the current
 * memory context.  It is called when the first rows are there, or at the end if there
 * were no rows, and again after a rewind.  Like csv_program_query(), it says how much
 * the engine can decide.  If more can be decided later, is_ready says when to call
 * `prepare` again.  `prepared` gets the evaluator, once that is made.
 */
typedef struct CsvPushdown
{
	const CsvProgram *program;

	/*
	 * Wanted attributes that are not needed for rows that the engine has decided.
	 * There the attributes come out as NULL.
	 */
	const Bitmapset *hidden;
	bool		few_rows;		/* few rows come out, though many are examined */
	bool		is_literal;		/* all constants are known: prepare needs no rows */
	const CsvQuery *(*prepare) (void *arg, bool has_rows,
								CsvDecidable *decidable);
	bool		(*is_ready) (void *arg);
	void		(*prepared) (void *arg, CsvEvaluator *evaluator);
	void	   *arg;
} CsvPushdown;

/* numbers since the scan began */
typedef struct CsvEvaluationStatistics
{
	int64		filtered;		/* rows dropped by the filter, also undecided rows */
	int64		beyond;			/* rows beyond the limit */
	int64		answered;		/* batches that the engine evaluated itself */
	int64		held;			/* answered batches whose groups the engine holds */
	int64		threads;		/* for kept batches; 0: only the backend's own */
} CsvEvaluationStatistics;

typedef struct CsvEvaluation CsvEvaluation;

/*
 * For batches of this layout.  Allocated in the current memory context.  The deletion
 * of the context also releases everything else.
 */
extern CsvEvaluation *csv_evaluation_create(const CsvPushdown *pushdown,
											CsvFileLayout *layout,
											CsvReading *reading);

/*
 * A file was opened, to be read, or with its columns kept.  Makes the engine that
 * reads the file evaluate the query, if it can.
 */
extern void csv_evaluation_open_file(CsvEvaluation *evaluation,
									 CsvReading *reading, const CsvKept *kept);

/*
 * Filters the rows of a batch, or adds them to their groups.  kept_batch: the kept
 * batch that it comes from, or NULL.  *selection has the rows that come out; it lives
 * until the next call.  Returns false if all files must be read again; then this batch
 * does not count.
 */
extern bool csv_evaluation_run(CsvEvaluation *evaluation, CsvReading *reading,
							   const CsvKept *kept,
							   const CsvResidentBatch *kept_batch,
							   const CsvBatch *batch,
							   const CsvSelection **selection);

/* releases data of the file that was opened last */
extern void csv_evaluation_leave_file(CsvEvaluation *evaluation);

/* the groups; makes the evaluator if there was no row */
extern CsvEvaluator *csv_evaluation_groups(CsvEvaluation *evaluation);

/*
 * Combines the groups of threads when all batches are evaluated.  Adds them to the
 * groups or, unless must_add, may leave them for csv_evaluation_held().  maker: as for
 * csv_team_finish().
 */
extern void csv_evaluation_gather(CsvEvaluation *evaluation, bool must_add,
								  const CsvGroupsMaker *maker);

/* the next groups that were left; false: no more groups */
extern bool csv_evaluation_held(CsvEvaluation *evaluation,
								CsvPartialGroups *groups);
extern void csv_evaluation_drop_held(CsvEvaluation *evaluation);

/* starts again, and makes the query again; `again`: forget the statistics so far */
extern void csv_evaluation_rewind(CsvEvaluation *evaluation, bool again);

/* all files are read */
extern void csv_evaluation_finish(CsvEvaluation *evaluation);

/* a row that came out as undecided was dropped */
extern void csv_evaluation_drop(CsvEvaluation *evaluation);

extern const CsvEvaluationStatistics *
csv_evaluation_statistics(const CsvEvaluation *evaluation);

/* the engine that last evaluated kept columns; NULL: none did */
extern const char *csv_evaluation_engine(const CsvEvaluation *evaluation);

#endif							/* CSV_EVALUATION_H */
