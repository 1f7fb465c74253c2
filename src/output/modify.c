/*
 * modify.c
 *		INSERT and TRUNCATE of foreign tables: callbacks of the executor (FdwRoutine).
 *
 * A table is written to from its first row on: INSERT, COPY and rows that come by a
 * partitioned table need nothing at their beginning and end.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "utils/rel.h"

#include "output/modify.h"
#include "output/writes.h"
#include "table/option.h"

/* of a statement and a table: ri_FdwState */
typedef struct Insert
{
	CsvWrite   *write;
	uint64		nrows;
} Insert;

int
csv_is_updatable(Relation relation)
{
	return csv_table_is_writable(RelationGetRelid(relation)) ? 1 << CMD_INSERT : 0;
}

/* context of an ERROR; COPY has its own */
static void
show_row(void *arg)
{
	const ResultRelInfo *result = arg;
	const Insert *insert = result->ri_FdwState;

	errcontext("INSERT into foreign table \"%s\", row " UINT64_FORMAT,
			   RelationGetRelationName(result->ri_RelationDesc), insert->nrows);
}

static void
write_row(EState *estate, ResultRelInfo *result, TupleTableSlot *slot)
{
	Insert	   *insert = result->ri_FdwState;
	ErrorContextCallback context = {
		.previous = error_context_stack, .callback = show_row, .arg = result
	};

	insert->nrows++;
	if (estate->es_plannedstmt != NULL)
		error_context_stack = &context;
	csv_write_row(insert->write, slot);
	error_context_stack = context.previous;
}

TupleTableSlot *
csv_exec_insert(EState *estate, ResultRelInfo *result, TupleTableSlot *slot,
				TupleTableSlot *plan_slot)
{
	Relation	relation = result->ri_RelationDesc;
	const TriggerDesc *triggers = result->ri_TrigDesc;

	if (result->ri_FdwState == NULL)
	{
		Insert	   *insert = MemoryContextAllocZero(estate->es_query_cxt, sizeof(Insert));

		insert->write = csv_write_begin(RelationGetRelid(relation));
		result->ri_FdwState = insert;
	}
	slot->tts_tableOid = RelationGetRelid(relation);

	/*
	 * The executor leaves the checks of foreign tables to others, even the checks by a
	 * partitioned table's row security.
	 */
	if (result->ri_WithCheckOptions != NIL)
	{
		ExecWithCheckOptions(WCO_RLS_INSERT_CHECK, result, slot, estate);
		ExecWithCheckOptions(WCO_RLS_UPDATE_CHECK, result, slot, estate);
	}
	if (relation->rd_att->constr != NULL)
		ExecConstraints(result, slot, estate);
	if (relation->rd_rel->relispartition &&
		(result->ri_RootResultRelInfo == NULL ||
		 (triggers != NULL && triggers->trig_insert_before_row)))
		ExecPartitionCheck(result, slot, estate, true);
	write_row(estate, result, slot);
	return slot;
}

void
csv_exec_truncate(List *relations, DropBehavior behavior, bool restart_sequences)
{
	ListCell   *cell;

	foreach(cell, relations)
	{
		Relation	relation = lfirst(cell);

		if (!csv_table_is_writable(RelationGetRelid(relation)))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot truncate foreign table \"%s\"",
							RelationGetRelationName(relation))));
		csv_write_truncate(RelationGetRelid(relation));
	}
}
