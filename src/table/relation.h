/*
 * relation.h
 *		Opens the relations that functions of SQL get by their OIDs.
 */
#ifndef CSV_RELATION_H
#define CSV_RELATION_H

#include "storage/lockdefs.h"
#include "utils/rel.h"

/* open any relation; ERROR if it does not exist */
extern Relation csv_open_relation(Oid relid, LOCKMODE lockmode);

/* open a foreign table for reading; ERROR if it is not ours */
extern Relation csv_open_source(Oid relid);

/* ERROR unless the user has SELECT on all of the table, as whole records need */
extern void csv_check_whole_select(Relation source);

#endif							/* CSV_RELATION_H */
