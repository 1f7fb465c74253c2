/*
 * file_clauses.h
 *		Finds the WHERE clauses that decide which files are read (scan/file_filter.h),
 *		and the files that they leave, as far as the planner can tell.
 */
#ifndef CSV_FILE_CLAUSES_H
#define CSV_FILE_CLAUSES_H

#include "plan/plan_state.h"

/* has the table a column that such a clause may use? */
extern bool csv_has_file_columns(const CsvTable *table);

/*
 * Divide clauses (RestrictInfos, in the executor's order) into *file_clauses, which
 * decide which files are read, and all others, which are returned.
 */
extern List *csv_part_clauses(const CsvPlanState *state, List *clauses,
							  List **file_clauses);

/*
 * Leave out files of the table for which the clauses do not hold, if that is known
 * when the query is planned.  Returns the clauses that were not evaluated.
 */
extern List *csv_plan_files(CsvPlanState *state, List *file_clauses);

/* may the clauses leave out other files when a scan is repeated? */
extern bool csv_files_vary(const List *file_clauses);

/*
 * Returns the expressions of the clauses for the plan, and the Params in them.  Values
 * of an outer relation become Params.
 */
extern List *csv_file_quals(PlannerInfo *root, const CsvPlanState *state,
							List *file_clauses, List **params);

#endif							/* CSV_FILE_CLAUSES_H */
