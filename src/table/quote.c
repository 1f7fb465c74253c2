/*
 * quote.c
 *		Who may see values in messages.
 */
#include "postgres.h"

#include "catalog/partition.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "table/quote.h"

/* may the user read the column in all rows, by a query that names this relation? */
static bool
may_read(Oid user, Oid relid, AttrNumber attnum)
{
	return check_enable_rls(relid, user, true) != RLS_ENABLED &&
		(pg_class_aclcheck(relid, user, ACL_SELECT) == ACLCHECK_OK ||
		 pg_attribute_aclcheck(relid, attnum, user,
							   ACL_SELECT) == ACLCHECK_OK);
}

bool
csv_may_quote(const CsvTable *table, const CsvTableColumn *column)
{
	Oid			user = GetUserId();
	ListCell   *cell;

	/* the owner only stands in for the user who runs ANALYZE or REFRESH */
	if (InSecurityRestrictedOperation())
		user = GetOuterUserId();

	/* without a relation: a user who may read files examines the file itself */
	if (!OidIsValid(table->relid) ||
		may_read(user, table->relid, column->attnum))
		return true;
	if (get_rel_relispartition(table->relid))
		foreach(cell, get_partition_ancestors(table->relid))
		{
			Oid			ancestor = lfirst_oid(cell);

			if (may_read(user, ancestor, get_attnum(ancestor, column->name)))
				return true;
		}
	return false;
}
