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
 * subqueries, aggregates, window functions and sets.  Returns its tree, in
 * which the source has the number 1, and adds the columns that it uses to
 * *columns.  to: the target's column that it is for, by a cast as in INSERT;
 * NULL: it is a condition.
 */
extern Node *csv_parse_over(Relation source, char *sql, Form_pg_attribute to,
							Bitmapset **columns);

/* the rows of SELECT columns FROM source WHERE filter */
typedef struct CsvRowsQuery
{
	CsvAwaitedScan scan;		/* of the source */
	QueryDesc  *query;
} CsvRowsQuery;

/*
 * Starts the query as the caller, with what callers set of `scan`.  may_fail:
 * returns false if the plan leaves out rows or files before the scan; no files
 * if the caller has chosen them.
 */
extern bool csv_rows_begin(CsvRowsQuery *rows, Relation source, const char *sql,
						   bool may_fail);

/* the next record, as a row of the source; NULL: there are no more */
extern TupleTableSlot *csv_rows_next(CsvRowsQuery *rows);

#endif							/* CSV_TRANSFORM_H */
