/*
 * privileges.c
 *		Privileges on tables and columns.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/rel.h"

#include "load/privileges.h"

bool
csv_has_privilege(Relation relation, const Bitmapset *attnums,
				  AclMode privilege)
{
	Oid			relid = RelationGetRelid(relation);
	int			attnum = -1;

	if (pg_class_aclcheck(relid, GetUserId(), privilege) == ACLCHECK_OK)
		return true;
	while ((attnum = bms_next_member(attnums, attnum)) >= 0)
		if (pg_attribute_aclcheck(relid, (AttrNumber) attnum, GetUserId(),
								  privilege) != ACLCHECK_OK)
			return false;
	return true;
}
