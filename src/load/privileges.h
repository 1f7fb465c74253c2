/*
 * privileges.h
 *		Privileges on tables and columns.
 */
#ifndef CSV_PRIVILEGES_H
#define CSV_PRIVILEGES_H

#include "nodes/bitmapset.h"
#include "nodes/parsenodes.h"
#include "utils/relcache.h"

/* has the user the privilege on all of these attributes? */
extern bool csv_has_privilege(Relation relation, const Bitmapset *attnums,
							  AclMode privilege);

#endif							/* CSV_PRIVILEGES_H */
