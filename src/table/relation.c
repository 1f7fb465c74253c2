/*
 * relation.c
 *		Opens the relations that functions of SQL get by their OIDs.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"

#include "compat.h"
#include "table/option.h"
#include "table/relation.h"

Relation
csv_open_relation(Oid relid, LOCKMODE lockmode)
{
	Relation	relation = try_relation_open(relid, lockmode);

	if (relation == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	return relation;
}

Relation
csv_open_source(Oid relid)
{
	Relation	relation = csv_open_relation(relid, AccessShareLock);

	if (RelationGetForm(relation)->relkind != RELKIND_FOREIGN_TABLE ||
		!csv_is_csv_table(relid))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a foreign table of csv_gpu_fdw",
						RelationGetRelationName(relation))));
	return relation;
}

void
csv_check_whole_select(Relation source)
{
	AclResult	allowed = pg_class_aclcheck(RelationGetRelid(source),
											GetUserId(), ACL_SELECT);

	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, OBJECT_FOREIGN_TABLE,
					   RelationGetRelationName(source));
}
