/*
 * owner.c
 *		Tables whose rows another library or access method keeps.
 *
 * Citus keeps the rows of a distributed table on other nodes, and TimescaleDB keeps
 * the rows of a hypertable in other tables, but the catalogs call both plain tables.
 * Such libraries change the plans of INSERT and SELECT.  So the plan shows them,
 * whatever their names are.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "catalog/pg_inherits.h"
#include "nodes/plannodes.h"
#include "parser/analyze.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "load/heap_pages.h"
#include "load/owner.h"
#include "output/copy_to.h"
#include "plan/plan_state.h"

/* COPY keeps a buffer pinned for each of the last partitions, up to this number */
#define CSV_COPY_PINS	32

void
csv_append_insert(StringInfo sql, Relation target, const List *attnums)
{
	appendStringInfo(sql, "INSERT INTO %s ", csv_quote_relation(target));
	if (attnums != NIL)
	{
		appendStringInfoChar(sql, '(');
		csv_append_columns(sql, target, attnums);
		appendStringInfoString(sql, ") ");
	}
	appendStringInfoString(sql, "OVERRIDING SYSTEM VALUE ");
}

/* the plan of an INSERT of no rows */
static PlannedStmt *
plan_insert(Relation target, const List *attnums)
{
	ParseState *pstate = make_parsestate(NULL);
	StringInfoData sql;
	Query	   *query;
	List	   *sorted = list_copy(attnums);

	/* the planner needs them sorted, and there may be no rewriter that sorts them */
	list_sort(sorted, list_int_cmp);
	initStringInfo(&sql);
	csv_append_insert(&sql, target, sorted);
	appendStringInfoString(&sql, "SELECT ");
	csv_append_columns(&sql, target, sorted);
	appendStringInfo(&sql, " FROM %s WHERE false", csv_quote_relation(target));
	pstate->p_sourcetext = sql.data;
	query = transformTopLevelStmt(pstate, linitial_node(RawStmt, pg_parse_query(sql.data)));
	free_parsestate(pstate);
	csv_check_relation(query, target);

	/* COPY passes over rules; otherwise the result is one query, with defaults */
	if (target->rd_rules == NULL)
		query = linitial_node(Query, QueryRewrite(query));
	return pg_plan_query(query, sql.data, 0, NULL);
}

/* does a plan put rows into this very table, and only there? */
static bool
is_plain_insert(const PlannedStmt *stmt, Oid target)
{
	const ModifyTable *top = (const ModifyTable *) stmt->planTree;
	const Plan *plan;

	if (!IsA(top, ModifyTable) || top->operation != CMD_INSERT ||
		list_length(top->resultRelations) != 1 ||
		rt_fetch(linitial_int(top->resultRelations), stmt->rtable)->relid != target)
		return false;
	for (plan = outerPlan(top); plan != NULL; plan = outerPlan(plan))
		if (IsA(plan, CustomScan))
			return false;
	return true;
}

const char *
csv_find_owner(Relation target, const List *attnums)
{
	char		relkind = target->rd_rel->relkind;

	if (relkind == RELKIND_RELATION && target->rd_tableam != GetHeapamTableAmRoutine())
		return "its access method is not heap";
	if ((relkind == RELKIND_RELATION || relkind == RELKIND_PARTITIONED_TABLE) &&
		(csv_is_plan_hooked() || csv_is_grouping_hooked()) &&
		!is_plain_insert(plan_insert(target, attnums), RelationGetRelid(target)))
		return "another library keeps its rows";
	return NULL;
}

bool
csv_suits_statement(Relation target)
{
	char		relkind = target->rd_rel->relkind;
	ListCell   *cell;

	if ((relkind != RELKIND_FOREIGN_TABLE && relkind != RELKIND_PARTITIONED_TABLE) ||
		target->rd_rules != NULL)
		return false;
	if (csv_pin_limit() < CSV_COPY_PINS)
		return true;
	if (!CSV_COPY_BATCHES)
		foreach(cell, find_all_inheritors(RelationGetRelid(target), NoLock, NULL))
			if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
				return true;
	return false;
}
