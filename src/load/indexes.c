/*
 * indexes.c
 *		Builds indexes after the rows.
 *
 * Only those of a table whose storage was made in this transaction: nobody else sees
 * it, so the locks that a build wants keep nobody waiting, and there is no deadlock
 * with another load.
 */
#include "postgres.h"

#include "access/genam.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "nodes/nodes.h"
#include "nodes/pg_list.h"
#include "optimizer/optimizer.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "compat.h"
#include "load/indexes.h"

/*
 * A build makes a file, and changes the catalog, so it had better be for something:
 * of 1,000 rows, 47 kB, the load of a table with one key takes 0.7 ms with it, and 1.8
 * without.  It reads the rows that are there already, too.
 */
#define CSV_LEAST_BUILD_BYTES	(INT64CONST(64) * 1024)

/* does a build do for this one what insertions would? */
static bool
may_build(Oid indexid)
{
	Relation	index = index_open(indexid, RowExclusiveLock);
	Form_pg_index form = index->rd_index;
	bool		may;

	/* a cursor may be at it */
	may = form->indisvalid && form->indisready && form->indislive &&
		form->indimmediate && !form->indisexclusion && index->rd_refcnt == 1;
	index_close(index, NoLock);
	return may;
}

/* what a CHECK constraint calls may look at the table, by an index */
static bool
has_mutable_check(Relation relation)
{
	const TupleConstr *constraints = RelationGetDescr(relation)->constr;

	for (int i = 0; constraints != NULL && i < constraints->num_check; i++)
		if (contain_mutable_functions(stringToNode(constraints->check[i].ccbin)))
			return true;
	return false;
}

const char *
csv_indexes_obstacle(Relation relation, int64 nbytes, bool at_any_size)
{
	List	   *indexes = NIL;
	bool		may = true;
	ListCell   *cell;

	if (!csv_storage_is_new(relation))
		return "it has indexes, and was not created or truncated in this transaction";
	if (!at_any_size &&
		(nbytes < CSV_LEAST_BUILD_BYTES ||
		 nbytes < (int64) RelationGetNumberOfBlocks(relation) * BLCKSZ))
		return "it has indexes, and is large beside what is loaded";
	if (has_mutable_check(relation))
		return "it has indexes, and a CHECK constraint that may look at them";
	indexes = RelationGetIndexList(relation);
	foreach(cell, indexes)
		may &= may_build(lfirst_oid(cell));
	list_free(indexes);
	return may ? NULL : "it has an index that cannot be built anew";
}

void
csv_indexes_build(Relation relation)
{
	List	   *indexes = RelationGetIndexList(relation);
	ListCell   *cell;

	foreach(cell, indexes)
	{
		CHECK_FOR_INTERRUPTS();
		csv_reindex(lfirst_oid(cell), relation->rd_rel->relpersistence);
	}
	list_free(indexes);
}
