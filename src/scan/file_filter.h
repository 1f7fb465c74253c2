/*
 * file_filter.h
 *		WHERE clauses that decide which of a table's files are read.
 *
 * Such a clause uses only columns that are the same in all rows of a file
 * (csv_is_of_file()), so it holds for all of its rows or for none.  Files for which it
 * does not hold are left out before they are opened.
 */
#ifndef CSV_FILE_FILTER_H
#define CSV_FILE_FILTER_H

#include "nodes/execnodes.h"

#include "table/option.h"

typedef struct CsvFileFilter
{
	bool		varies;			/* it may leave out other files in the next scan of the
								 * execution */
	int			nleft;			/* the most files that were left; -1: not decided yet */

	CsvTable   *table;
	MemoryContext context;
	TupleTableSlot *slot;		/* a row of the current file */
	struct CsvFilterColumn *columns;	/* by attribute number - 1 */
	int			nclauses;
	struct CsvFilterClause *clauses;
} CsvFileFilter;

/*
 * For clauses whose Vars are the table's columns.  `parent` is NULL if there is no
 * plan.  Looks for the table's files.  Uses the current memory context.  ERROR if
 * csv_source_list() or csv_file_value_make() fails; if quiet, returns NULL instead.
 */
extern CsvFileFilter *csv_file_filter_create(CsvTable *table, List *clauses,
											 PlanState *parent, bool quiet);

/*
 * Leave out the files for which a clause does not hold.  all: by all clauses, with the
 * current values of parameters; otherwise only by clauses that are the same in all
 * scans of an execution.  Stops at the first clause that does not hold.
 */
extern void csv_file_filter_leave_out(CsvFileFilter *filter,
									  ExprContext *econtext, bool all);

#endif							/* CSV_FILE_FILTER_H */
