/*
 * transform.h
 *		SQL over the columns of a source: filter and expressions of a load.
 */
#ifndef CSV_TRANSFORM_H
#define CSV_TRANSFORM_H

#include "executor/execdesc.h"
#include "utils/rel.h"

#include "scan/execute.h"

/*
 * ERROR unless the SQL is one expression over the source's columns, without
 * subqueries, aggregates, window functions and sets.  Returns its tree, in which the
 * source has the number 1, and adds the columns that it uses (0: the whole row) to
 * *columns.
 */
extern Node *csv_parse_over(Relation source, char *sql, bool is_condition,
							Bitmapset **columns);

/* the rows of INSERT INTO target SELECT ... FROM source, not inserted */
typedef struct CsvRowsQuery
{
	CsvAwaitedScan scan;		/* of the source */
	QueryDesc  *query;
} CsvRowsQuery;

/* the statement as a query for these rows; ERROR if it is wrong */
extern Query *csv_parse_rows(char *sql, Relation target);

/*
 * Starts it as the caller, with what callers set of `scan`.  Returns false if its
 * plan does more than scan the source's files, all of them if the caller has chosen
 * them.  any_plan: ERROR only if it does not scan the source at all.
 */
extern bool csv_rows_begin(CsvRowsQuery *rows, char *sql, Relation target,
						   bool any_plan);

#endif							/* CSV_TRANSFORM_H */
