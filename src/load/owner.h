/*
 * owner.h
 *		Tables whose rows are not in a heap of their own, and INSERT statements, which
 *		get rows into any table.
 */
#ifndef CSV_OWNER_H
#define CSV_OWNER_H

#include "lib/stringinfo.h"
#include "nodes/parsenodes.h"
#include "utils/rel.h"

/*
 * Returns why rows must go into a table by an INSERT statement: another library or
 * access method keeps them.  NULL if they need not.  attnums: the columns that are
 * given, a list of int.  The function plans an INSERT, so another library may raise an
 * ERROR.
 */
extern const char *csv_find_owner(Relation target, const List *attnums);

/*
 * Does an INSERT statement do more for a table than COPY?  COPY needs more pins of
 * buffers for a partitioned table.  Before 16, it inserts rows into foreign tables one
 * by one, although their wrapper may take batches.  The ERROR of a statement does not
 * name the record.
 */
extern bool csv_suits_statement(Relation target);

/*
 * INSERT with its table and columns, up to SELECT or VALUES.  As in COPY, identity
 * columns take values, too.
 */
extern void csv_append_insert(StringInfo sql, Relation target, const List *attnums);

#endif							/* CSV_OWNER_H */
