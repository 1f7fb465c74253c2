/*
 * file_filter.h
 *		WHERE clauses that decide which of a table's files are read.
 *
 * Such a clause uses no columns but those that are the same in all rows of a file
 * (file_values.h), so that it holds for all of them or for none.  The files for
 * which it does not hold are left out before they are opened.
 */
#ifndef CSV_FILE_FILTER_H
#define CSV_FILE_FILTER_H

#include "nodes/execnodes.h"

#include "table/option.h"

typedef struct CsvFileFilter CsvFileFilter;

/*
 * For clauses whose Vars are the table's columns; `parent` is NULL where there is
 * no plan.  Looks for the table's files.  In the current memory context.  ERROR as
 * of csv_source_list() and csv_file_values_make(); if quiet, NULL.
 */
extern CsvFileFilter *csv_file_filter_create(CsvTable *table, List *clauses,
											 PlanState *parent, bool quiet);

/*
 * Leave out the files for which a clause does not hold, of those that are the same
 * from the first scan of an execution to the last; or all clauses, with the values
 * that parameters have now.  In the order of the clauses, up to the first that does
 * not hold.
 */
extern void csv_file_filter_begin(CsvFileFilter *filter,
								  ExprContext *econtext);
extern void csv_file_filter_decide(CsvFileFilter *filter,
								   ExprContext *econtext);

/* may it leave out others in the next scan of the execution? */
extern bool csv_file_filter_varies(const CsvFileFilter *filter);

/* how many are left, at most; -1: that was not decided */
extern int	csv_file_filter_nleft(const CsvFileFilter *filter);

#endif							/* CSV_FILE_FILTER_H */
