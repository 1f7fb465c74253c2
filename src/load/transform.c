/*
 * transform.c
 *		SQL over the columns of a source: filter and expressions of a load.
 *
 * A filter stands in parentheses in a SELECT, so that the planner gives the
 * engine each condition that it can decide; the load takes the rows of that
 * scan.  First each piece of SQL is parsed by itself, so that it is one
 * expression, and cannot be anything else in a statement.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/analyze.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "load/transform.h"

/* SQL that is parsed */
typedef struct ParsedSql
{
	const char *sql;
	Form_pg_attribute to;		/* NULL: of a filter */
} ParsedSql;

/*
 * the error context callback: a position is in this SQL, not in the statement
 */
static void
tell_sql(void *arg)
{
	const ParsedSql *parsed = arg;

	internalerrposition(geterrposition());
	internalerrquery(parsed->sql);
	errposition(0);
	if (parsed->to == NULL)
		errcontext("filter of a load");
	else
		errcontext("expression of a load for column \"%s\"",
				   NameStr(parsed->to->attname));
}

/* the only expression; ERROR if there is anything else */
static Node *
parse_alone(const char *sql)
{
	List	   *statements = raw_parser(sql, RAW_PARSE_PLPGSQL_EXPR);
	SelectStmt *select = castNode(SelectStmt,
								  linitial_node(RawStmt, statements)->stmt);
	SelectStmt *plain = makeNode(SelectStmt);
	ResTarget  *target = select->targetList == NIL ? NULL :
		linitial(select->targetList);

	/* without FROM, WHERE and all other clauses */
	plain->targetList = select->targetList;
	if (list_length(select->targetList) != 1 || target->name != NULL ||
		(IsA(target->val, ColumnRef) &&
		 IsA(llast(((ColumnRef *) target->val)->fields), A_Star)) ||
		 !equal(select, plain))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("the SQL must be one expression")));
	return target->val;
}

/* adds the columns of the source that the expression uses */
static void
add_columns(Relation source, Node *expr, Bitmapset **columns)
{
	const int	whole_row = -FirstLowInvalidHeapAttributeNumber;
	TupleDesc	tupdesc = RelationGetDescr(source);
	Bitmapset  *attrs = NULL;

	pull_varattnos(expr, 1, &attrs);
	for (int i = 0; i < whole_row; i++)
		if (bms_is_member(i, attrs))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
					 errmsg("records of \"%s\" have no system columns",
							RelationGetRelationName(source))));
	for (int i = 0; i < tupdesc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(tupdesc, i);

		if (att->attisdropped || (!bms_is_member(whole_row, attrs) &&
								  !bms_is_member(whole_row + i + 1, attrs)))
			continue;
		if (att->attgenerated)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
					 errmsg("records of \"%s\" have no generated column \"%s\"",
							RelationGetRelationName(source), NameStr(att->attname))));
		*columns = bms_add_member(*columns, i + 1);
	}
}

Node *
csv_parse_over(Relation source, char *sql, Form_pg_attribute to,
			   Bitmapset **columns)
{
	ParsedSql	parsed = {sql, to};
	ErrorContextCallback callback = {error_context_stack, tell_sql, &parsed};
	ParseState *pstate = make_parsestate(NULL);
	Node	   *expr;

	error_context_stack = &callback;
	pstate->p_sourcetext = sql;
	addNSItemToQuery(pstate,
					 addRangeTableEntryForRelation(pstate, source,
												   AccessShareLock,
												   NULL, false, false),
					 false, true, true);
	expr = transformExpr(pstate, parse_alone(sql), EXPR_KIND_COPY_WHERE);
	if (to == NULL)
		expr = coerce_to_boolean(pstate, expr, "filter");
	else
	{
		Oid			type = exprType(expr);

		expr = coerce_to_target_type(pstate, expr, type, to->atttypid,
									 to->atttypmod, COERCION_ASSIGNMENT,
									 COERCE_IMPLICIT_CAST, -1);
		if (expr == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" is of type %s but expression is of type %s",
							NameStr(to->attname), format_type_be(to->atttypid),
							format_type_be(type))));
	}
	assign_expr_collations(pstate, expr);
	add_columns(source, expr, columns);
	error_context_stack = callback.previous;
	return expr;
}

/* ---- rows ---- */

bool
csv_rows_begin(CsvRowsQuery *rows, Relation source, const char *sql,
			   bool may_fail)
{
	CsvAwaitedScan *outer = csv_awaited_scan;
	Query	   *query =
		parse_analyze_fixedparams(linitial_node(RawStmt, pg_parse_query(sql)),
								  sql,
								  NULL, 0, NULL);
	PlannedStmt *plan =
		pg_plan_query(linitial_node(Query, QueryRewrite(query)), sql, 0, NULL);

	if (may_fail && (!IsA(plan->planTree, ForeignScan) ||
					 (rows->scan.table->resume != NULL &&
					  list_nth(((ForeignScan *) plan->planTree)->fdw_private,
							   CSV_PLAN_FILE_QUALS) != NIL)))
		return false;
	rows->query = CreateQueryDesc(plan, sql, GetActiveSnapshot(),
								  InvalidSnapshot,
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
	if (rows->query->planstate != (PlanState *) rows->scan.node)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("csv_gpu_load() cannot filter \"%s\", because another library reads it",
						RelationGetRelationName(source))));
	return true;
}

TupleTableSlot *
csv_rows_next(CsvRowsQuery *rows)
{
	TupleTableSlot *row = ExecProcNode(rows->query->planstate);

	return TupIsNull(row) ? NULL : rows->scan.node->ss.ss_ScanTupleSlot;
}
