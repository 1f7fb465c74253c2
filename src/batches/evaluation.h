/*
 * evaluation.h
 *		The query that is evaluated over batches: which rows come out of them,
 *		and the groups of the others.
 */
#ifndef CSV_EVALUATION_H
#define CSV_EVALUATION_H

#include "batches/kept.h"
#include "batches/reading.h"
#include "program/program.h"
#include "query/query.h"

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
	const CsvQuery *(*prepare) (void *arg, bool has_rows,
								CsvDecidable *decidable);
	bool		(*is_ready) (void *arg);
	void		(*prepared) (void *arg, CsvEvaluator *evaluator);
	void	   *arg;
} CsvPushdown;

/* amounts, since the begin of the scan */
typedef struct CsvEvaluationStatistics
{
	int64		filtered;		/* rows that the filter dropped, here or when they
								 * had come out as undecided, */
	int64		beyond;			/* and that are beyond the limit */
	int64		answered;		/* batches that the engine evaluated itself, */
	int64		held;			/* and of those, with groups that it holds */
	int64		threads;		/* that have evaluated kept batches; 0: none but
								 * the backend's own */
} CsvEvaluationStatistics;

typedef struct CsvEvaluation CsvEvaluation;

/*
 * For batches of this layout.  In the current memory context; what it holds
 * beside goes with that at the latest.
 */
extern CsvEvaluation *csv_evaluation_create(const CsvPushdown *pushdown,
											CsvFileLayout *layout,
											CsvReading *reading);

/*
 * A file was opened: to be read, or with its columns kept.  Has the engine that
 * reads it evaluate the query, if it can.
 */
extern void csv_evaluation_open_file(CsvEvaluation *evaluation,
									 CsvReading *reading, const CsvKept *kept);

/*
 * Filter the rows of a batch, or add them to their groups.  kept_batch: NULL, or
 * where it comes from.  *selection, which lives until the next call, has those
 * that come out.  False: all files have to be read again, and this batch does not
 * count.
 */
extern bool csv_evaluation_run(CsvEvaluation *evaluation, CsvReading *reading,
							   const CsvKept *kept,
							   const CsvResidentBatch *kept_batch,
							   const CsvBatch *batch,
							   const CsvSelection **selection);

/* let go of what belongs to the file that was opened last */
extern void csv_evaluation_leave_file(CsvEvaluation *evaluation);

/* the groups; made now if there was no row */
extern CsvEvaluator *csv_evaluation_groups(CsvEvaluation *evaluation);

/*
 * All batches are evaluated: put together what threads have come to.  It is added
 * to the groups, or stays for csv_evaluation_held(); with must_add it does not.
 * maker: as for csv_team_finish().
 */
extern void csv_evaluation_gather(CsvEvaluation *evaluation, bool must_add,
								  const CsvGroupsMaker *maker);

/* the next groups that have stayed; false: there are none, or no more */
extern bool csv_evaluation_held(CsvEvaluation *evaluation,
								CsvPartialGroups *groups);
extern void csv_evaluation_drop_held(CsvEvaluation *evaluation);

/* begin anew, with a query made anew; `again`: what was counted does not count */
extern void csv_evaluation_rewind(CsvEvaluation *evaluation, bool again);

/* all is read */
extern void csv_evaluation_finish(CsvEvaluation *evaluation);

/* a row that came out as undecided is dropped after all */
extern void csv_evaluation_drop(CsvEvaluation *evaluation);

extern const CsvEvaluationStatistics *
csv_evaluation_statistics(const CsvEvaluation *evaluation);

/* the engine that has answered last over kept columns; NULL: none has */
extern const char *csv_evaluation_engine(const CsvEvaluation *evaluation);

#endif							/* CSV_EVALUATION_H */
