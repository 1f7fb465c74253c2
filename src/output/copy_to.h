/*
 * copy_to.h
 *		COPY TO by our own formatters (csv_gpu_fdw.copy).
 */
#ifndef CSV_COPY_TO_H
#define CSV_COPY_TO_H

#include "lib/stringinfo.h"
#include "nodes/bitmapset.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "utils/relcache.h"

/* has the user the privilege on all of these attributes? */
extern bool csv_has_privilege(Relation relation, const Bitmapset *attnums,
							  AclMode privilege);

/* parts of SQL: a relation's name, palloc'd; names of columns; SELECT of rows of its own */
extern char *csv_quote_relation(Relation relation);
extern void csv_append_columns(StringInfo sql, Relation relation, const List *attnums);
extern void csv_append_select(StringInfo sql, Relation relation, const List *attnums);

/*
 * ERROR if a query that was made from the relation's name, and is not rewritten
 * yet, has another relation: schemas may be renamed meanwhile.  Planning calls
 * functions of a view.
 */
extern void csv_check_relation(Query *query, Relation relation);

/*
 * Run COPY TO, with COPY's ERRORs.  Returns NULL, and the number of rows in *nrows, or
 * why PostgreSQL must run it; nothing has been opened or written then.  is_forced: also
 * if the table is small.
 */
extern const char *csv_copy_to(const PlannedStmt *pstmt, const char *query,
							   bool is_forced, uint64 *nrows);

#endif							/* CSV_COPY_TO_H */
