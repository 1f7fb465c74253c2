/*
 * transform.c
 *		SQL over the columns of a source: filter and expressions of a load.
 *
 * An INSERT ... SELECT, planned as a SELECT, has the rows of such a load.  So the
 * engine gets each condition that it can decide.  The SQL stands there in
 * parentheses.  First each piece is parsed by itself, so that it is one expression,
 * and cannot be anything else there.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/analyze.h"
#include "parser/parse_coerce.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/tcopprot.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "load/transform.h"

/* the error context callback: a position is in this SQL, not in the statement */
static void
tell_sql(void *arg)
{
	internalerrposition(geterrposition());
	internalerrquery(arg);
	errposition(0);
}

/* the only expression; ERROR if there is anything else */
static Node *
parse_alone(const char *sql)
{
	List	   *statements = raw_parser(sql, RAW_PARSE_PLPGSQL_EXPR);
	SelectStmt *select = castNode(SelectStmt, linitial_node(RawStmt, statements)->stmt);
	SelectStmt *plain = makeNode(SelectStmt);
	ResTarget  *target = select->targetList == NIL ? NULL : linitial(select->targetList);

	/* without FROM, WHERE and all other clauses */
	plain->targetList = select->targetList;
	if (list_length(select->targetList) != 1 || target->name != NULL ||
		(IsA(target->val, ColumnRef) &&
		 IsA(llast(((ColumnRef *) target->val)->fields), A_Star)) || !equal(select, plain))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("the SQL must be one expression")));
	return target->val;
}

Node *
csv_parse_over(Relation source, char *sql, bool is_condition, Bitmapset **columns)
{
	ErrorContextCallback callback = {error_context_stack, tell_sql, sql};
	ParseState *pstate = make_parsestate(NULL);
	Bitmapset  *attrs = NULL;
	Node	   *expr;

	error_context_stack = &callback;
	pstate->p_sourcetext = sql;
	addNSItemToQuery(pstate, addRangeTableEntryForRelation(pstate, source, AccessShareLock,
														   NULL, false, false),
					 false, true, true);
	expr = transformExpr(pstate, parse_alone(sql), EXPR_KIND_COPY_WHERE);
	if (is_condition)
		expr = coerce_to_boolean(pstate, expr, "filter");
	error_context_stack = callback.previous;
	pull_varattnos(expr, 1, &attrs);
	for (int i = 0; i <= RelationGetNumberOfAttributes(source); i++)
		if (bms_is_member(i - FirstLowInvalidHeapAttributeNumber, attrs))
			*columns = bms_add_member(*columns, i);
	return expr;
}

/* ---- rows ---- */

Query *
csv_parse_rows(char *sql, Relation target)
{
	ErrorContextCallback callback = {error_context_stack, tell_sql, sql};
	Query	   *query;
	ListCell   *cell;

	error_context_stack = &callback;
	query = parse_analyze_fixedparams(linitial_node(RawStmt, pg_parse_query(sql)), sql,
									  NULL, 0, NULL);
	error_context_stack = callback.previous;
	if (rt_fetch(query->resultRelation, query->rtable)->relid != RelationGetRelid(target))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("another relation has taken the name of table \"%s\"",
						RelationGetRelationName(target))));
	query->commandType = CMD_SELECT;
	query->resultRelation = 0;
	foreach(cell, query->targetList)
		lfirst_node(TargetEntry, cell)->resno = (AttrNumber) (foreach_current_index(cell) + 1);
	return query;
}

/* does it scan the source, and nothing else, if necessary all of the files? */
static bool
is_only_scan(const Plan *plan, const CsvTable *table)
{
	if (IsA(plan, SubqueryScan))
		plan = ((const SubqueryScan *) plan)->subplan;
	return IsA(plan, ForeignScan) &&
		(table->files == NULL ||
		 list_nth(((const ForeignScan *) plan)->fdw_private, CSV_PLAN_FILE_QUALS) == NIL);
}

bool
csv_rows_begin(CsvRowsQuery *rows, char *sql, Relation target, bool any_plan)
{
	CsvAwaitedScan *outer = csv_awaited_scan;
	Query	   *query = linitial_node(Query, QueryRewrite(csv_parse_rows(sql, target)));
	PlannedStmt *plan = pg_plan_query(query, sql, 0, NULL);

	if (!any_plan && !is_only_scan(plan->planTree, rows->scan.table))
		return false;
	rows->query = CreateQueryDesc(plan, sql, GetActiveSnapshot(), InvalidSnapshot,
								  None_Receiver, NULL, NULL, 0);
	csv_awaited_scan = &rows->scan;
	PG_TRY();
	{
		ExecutorStart(rows->query, EXEC_FLAG_SKIP_TRIGGERS);
	}
	PG_FINALLY();
	{
		csv_awaited_scan = outer;
	}
	PG_END_TRY();
	if (rows->scan.node == NULL)
		elog(ERROR, "the source is not scanned");
	return true;
}
