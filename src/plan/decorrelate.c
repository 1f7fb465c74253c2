/*
 * decorrelate.c
 *		Joins the groups of a correlated aggregate, instead of computing it for each outer row.
 *
 *		SELECT ... FROM part WHERE size > (SELECT avg(n) FROM sold WHERE sold.id = part.id)
 *
 * gives the same rows as
 *
 *		SELECT ... FROM part LEFT JOIN (SELECT id, avg(n) FROM sold GROUP BY id) groups
 *			ON groups.id = part.id WHERE size > groups.avg
 *
 * where all threads form the groups.  Otherwise one process would keep the table's rows by
 * their keys.  In both cases, the file is read once.
 *
 * The joined query forms groups that no outer row asks for.  Clauses over nothing but groups
 * may be evaluated for all of them.  So nothing there may raise an ERROR, or let a user
 * see values.  That is why SELECT has such groups only in the outermost query: clauses of
 * queries around it would come down to them.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/typcache.h"

#include "compat.h"
#include "plan/plan_state.h"
#include "plan/shippable.h"
#include "table/option.h"

/* no groups are joined to more tables: the time to plan grows faster than their number */
#define MOST_RELATIONS	40

/* a subquery whose groups are joined */
typedef struct Groups
{
	Query	   *query;			/* keys, then aggregates */
	List	   *keys;			/* equalities of the subquery: "key = outer value" */
	List	   *sides;			/* of each, which argument is the key */
	int			rtindex;		/* in the outer query */
	bool		failed;			/* an aggregate might raise an ERROR */
} Groups;

static planner_hook_type next_planner = NULL;

/* ---- which subqueries ---- */

static bool
is_file(const RangeTblEntry *rte)
{
	return rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_FOREIGN_TABLE &&
		csv_is_csv_table(rte->relid);
}

/* is it an aggregate of rows of a file, and nothing more? */
static bool
is_plain_aggregate(const Query *query)
{
	return query->commandType == CMD_SELECT && query->hasAggs &&
		list_length(query->targetList) == 1 && query->groupClause == NIL &&
		query->groupingSets == NIL && query->havingQual == NULL &&
		query->distinctClause == NIL && query->sortClause == NIL &&
		query->windowClause == NIL && query->cteList == NIL &&
		query->limitCount == NULL && query->limitOffset == NULL &&
		query->rowMarks == NIL && !query->hasTargetSRFs && !query->hasSubLinks &&
		list_length(query->rtable) == 1 && is_file(linitial(query->rtable));
}

static bool
is_candidate(Node *node)
{
	SubLink    *link = (SubLink *) node;

	return IsA(node, SubLink) && link->subLinkType == EXPR_SUBLINK &&
		is_plain_aggregate((Query *) link->subselect) &&
		contain_vars_of_level(link->subselect, 1) &&
		!contain_volatile_functions(link->subselect);
}

static bool
has_candidate(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (is_candidate(node))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_candidate, NULL, 0);
	return expression_tree_walker(node, has_candidate, NULL);
}

/* ---- what cannot fail ---- */

/*
 * May the function raise an ERROR for some values?  Not if it is leakproof, or if its only
 * ERROR is about numbers of 131,072 digits.
 */
static bool
is_unsafe_function(Oid function, void *context)
{
	switch (function)
	{
		case F_NUMERIC_ADD:
		case F_NUMERIC_SUB:
		case F_NUMERIC_MUL:
		case F_NUMERIC_INT2:
		case F_NUMERIC_INT4:
		case F_NUMERIC_INT8:
			return false;
		case F_STARTS_WITH:		/* under some collations */
			return true;
		default:
			return !get_func_leakproof(function);
	}
}

/* is it a division by a constant other than 0? */
static bool
is_safe_division(OpExpr *op)
{
	Const	   *divisor;

	if (op->opfuncid != F_NUMERIC_DIV)
		return false;
	divisor = (Const *) eval_const_expressions(NULL, lsecond(op->args));
	return IsA(divisor, Const) && !divisor->constisnull &&
		DatumGetBool(DirectFunctionCall2(numeric_ne, divisor->constvalue,
										 DirectFunctionCall1(int4_numeric, Int32GetDatum(0))));
}

/*
 * Comparisons by which values are sorted do not fail, except if they look up functions for
 * parts of the values (of arrays, rows and ranges).
 */
static bool
is_safe_comparison(Oid opno)
{
	Oid			left;
	Oid			right;

	if (get_op_btree_interpretation(opno) == NIL)
		return false;
	op_input_types(opno, &left, &right);
	return get_typtype(left) != TYPTYPE_PSEUDO && get_typtype(right) != TYPTYPE_PSEUDO;
}

/* may it raise an ERROR for some values? */
static bool
may_fail(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (csv_lacks_collation(node, NULL))
		return true;
	switch (nodeTag(node))
	{
		case T_OpExpr:
			if (is_safe_comparison(((OpExpr *) node)->opno) || is_safe_division((OpExpr *) node))
				return may_fail((Node *) ((OpExpr *) node)->args, NULL);
			break;
		case T_ScalarArrayOpExpr:
			if (is_safe_comparison(((ScalarArrayOpExpr *) node)->opno))
				return may_fail((Node *) ((ScalarArrayOpExpr *) node)->args, NULL);
			break;
		case T_BoolExpr:
		case T_BooleanTest:
		case T_CaseExpr:
		case T_CaseTestExpr:
		case T_CaseWhen:
		case T_CoalesceExpr:
		case T_Const:
		case T_FuncExpr:
		case T_List:
		case T_NullTest:
		case T_Param:
		case T_RelabelType:
		case T_Var:
			break;
		default:
			return true;
	}
	return check_functions_in_node(node, is_unsafe_function, NULL) ||
		expression_tree_walker(node, may_fail, NULL);
}

/* ---- the groups ---- */

/*
 * The argument of "key = outer value" that is the key, or -1.  The operator must be true
 * for all rows of one group, and for no others.  So it must be the equality that groups, or
 * of other integers: two timestamps, which are two groups, may equal one timestamptz.
 * A column of the table's files is no key: its value decides which files are read.
 */
static int
key_side(const CsvTable *table, Node *qual)
{
	OpExpr	   *op = (OpExpr *) qual;

	if (!IsA(qual, OpExpr) || list_length(op->args) != 2)
		return -1;
	for (int side = 0; side < 2; side++)
	{
		Node	   *key = list_nth(op->args, side);
		Node	   *value = list_nth(op->args, 1 - side);
		/* the subquery has only this table */
		const Var  *column = csv_column_of(key, 1);
		TypeCacheEntry *type;

		if (column == NULL || csv_is_of_file(&table->columns[column->varattno - 1]) ||
			!contain_vars_of_level(value, 1) || contain_vars_of_level(value, 0) ||
			may_fail(value, NULL))
			continue;
		type = lookup_type_cache(exprType(key), TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);
		if (OidIsValid(type->eq_opr) && OidIsValid(type->lt_opr) &&
			(op->opno == type->eq_opr ||
			 get_op_opfamily_strategy(op->opno, INTEGER_BTREE_FAM_OID) ==
			 BTEqualStrategyNumber) &&
			is_safe_comparison(op->opno) && op_strict(op->opno) && csv_hashes_alike(op) &&
			op->inputcollid == exprCollation(key) && !csv_lacks_collation(qual, NULL))
			return side;
	}
	return -1;
}

/* move the equalities with outer values out of the subquery; is that all that WHERE needs? */
static bool
take_keys(Groups *groups)
{
	FromExpr   *jointree = groups->query->jointree;
	const RangeTblEntry *rte = linitial(groups->query->rtable);
	const CsvTable *table = csv_table_get(rte->relid);
	List	   *quals = NIL;
	ListCell   *cell;

	foreach(cell, make_ands_implicit((Expr *) jointree->quals))
	{
		int			side;

		if (!contain_vars_of_level(lfirst(cell), 1))
		{
			if (may_fail(eval_const_expressions(NULL, lfirst(cell)), NULL))
				return false;
			quals = lappend(quals, lfirst(cell));
			continue;
		}
		side = key_side(table, lfirst(cell));
		if (side < 0)
			return false;
		groups->keys = lappend(groups->keys, lfirst(cell));
		groups->sides = lappend_int(groups->sides, side);
	}
	jointree->quals = quals == NIL ? NULL : (Node *) make_ands_explicit(quals);
	return groups->keys != NIL;
}

/* a new column of the groups; EXPLAIN shows the name */
static Var *
add_column(Groups *groups, Node *expression, const char *name)
{
	Query	   *query = groups->query;

	query->targetList = lappend(query->targetList,
								makeTargetEntry((Expr *) expression,
												(AttrNumber) list_length(query->targetList) + 1,
												pstrdup(name), false));
	return makeVarFromTargetEntry(groups->rtindex, llast(query->targetList));
}

/* add the key to the groups; returns its equality for the outer query */
static Node *
join_key(Groups *groups, OpExpr *equality, int side)
{
	Node	   *key = list_nth(equality->args, side);
	Node	   *value = list_nth(equality->args, 1 - side);
	const TypeCacheEntry *type =
		lookup_type_cache(exprType(key), TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);
	SortGroupClause *clause = makeNode(SortGroupClause);
	Var		   *column = add_column(groups, key, "key");
	TargetEntry *target = llast(groups->query->targetList);

	target->ressortgroupref = clause->tleSortGroupRef = target->resno;
	clause->eqop = type->eq_opr;
	clause->sortop = type->lt_opr;
	clause->hashable = op_hashjoinable(type->eq_opr, exprType(key));
	groups->query->groupClause = lappend(groups->query->groupClause, clause);
	IncrementVarSublevelsUp(value, -1, 1);
	equality->args = side == 0 ? list_make2(column, value) : list_make2(value, column);
	return (Node *) equality;
}

/* can a group have the aggregate, even if no outer row asks for it? */
static bool
is_safe_aggregate(const Aggref *aggref)
{
	const char *name = aggref->aggfnoid < FirstNormalObjectId ?
		get_func_name(aggref->aggfnoid) : NULL;
	Node	   *inputs = (Node *) list_make2(get_tlist_exprs(aggref->args, true),
										 aggref->aggfilter);
	const TypeCacheEntry *type;
	Oid			argument;

	if (name == NULL || aggref->agglevelsup != 0 || aggref->aggorder != NIL ||
		contain_vars_of_level(inputs, 1) || may_fail(inputs, NULL))
		return false;
	if (strcmp(name, "count") == 0 && aggref->aggdistinct == NIL)
		return true;
	argument = linitial_oid(aggref->aggargtypes);
	if (strcmp(name, "sum") == 0 || strcmp(name, "avg") == 0)
		switch (argument)
		{
			case INT2OID:
			case INT4OID:
			case INT8OID:
			case NUMERICOID:
				return true;
			default:
				return false;
		}
	type = lookup_type_cache(argument, TYPECACHE_LT_OPR);
	return OidIsValid(type->lt_opr) && is_safe_comparison(type->lt_opr) &&
		(!type_is_collatable(argument) || OidIsValid(aggref->inputcollid)) &&
		(strcmp(name, "count") == 0 || strcmp(name, "min") == 0 ||
		 strcmp(name, "max") == 0 || strcmp(name, "bool_and") == 0 ||
		 strcmp(name, "bool_or") == 0 || strcmp(name, "every") == 0);
}

/* replace aggregates by columns of the groups */
static Node *
replace_aggregates(Node *node, void *context)
{
	Groups	   *groups = context;
	Var		   *column;
	CoalesceExpr *count;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Aggref))
		return expression_tree_mutator(node, replace_aggregates, context);
	if (!is_safe_aggregate((Aggref *) node))
	{
		groups->failed = true;
		return node;
	}
	column = add_column(groups, node, get_func_name(((Aggref *) node)->aggfnoid));
	/* by the outer join, which has the next number */
	csv_set_nulled(column, groups->rtindex + 1);
	if (((Aggref *) node)->aggfnoid != F_COUNT_ && ((Aggref *) node)->aggfnoid != F_COUNT_ANY)
		return (Node *) column;
	/* where no rows are, there is no group */
	count = makeNode(CoalesceExpr);
	count->coalescetype = INT8OID;
	count->args = list_make2(column, makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
											   Int64GetDatum(0), false, FLOAT8PASSBYVAL));
	count->location = -1;
	return (Node *) count;
}

/* ---- the outer query ---- */

static RangeTblEntry *
make_left_join(void)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);

	rte->rtekind = RTE_JOIN;
	rte->jointype = JOIN_LEFT;
	rte->eref = makeAlias("unnamed_join", NIL);
	rte->inFromCl = true;
	return rte;
}

static void
add_join(Query *outer, Groups *groups, List *equalities)
{
	List	   *tables = outer->jointree->fromlist;
	JoinExpr   *join = makeNode(JoinExpr);
	RangeTblRef *ref = makeNode(RangeTblRef);
	RangeTblEntry *rte = addRangeTableEntryForSubquery(make_parsestate(NULL), groups->query,
													   makeAlias("groups", NIL), false,
													   true)->p_rte;

	outer->rtable = lappend(lappend(outer->rtable, rte), make_left_join());
	ref->rtindex = groups->rtindex;
	join->jointype = JOIN_LEFT;
	join->rtindex = groups->rtindex + 1;
	join->larg = list_length(tables) == 1 ? linitial(tables) :
		(Node *) makeFromExpr(tables, NULL);
	join->rarg = (Node *) ref;
	join->quals = (Node *) make_ands_explicit(equalities);
	outer->jointree->fromlist = list_make1(join);
}

/* returns the subquery's value if its groups can be joined, otherwise the subquery */
static Node *
join_groups(Query *outer, SubLink *link)
{
	Groups		groups = {.query = copyObject((Query *) link->subselect),
	.rtindex = list_length(outer->rtable) + 1};
	List	   *equalities = NIL;
	Node	   *value;
	ListCell   *cell;
	ListCell   *side;

	if (list_length(outer->rtable) >= MOST_RELATIONS || !take_keys(&groups))
		return (Node *) link;
	value = (Node *) linitial_node(TargetEntry, groups.query->targetList)->expr;
	groups.query->targetList = NIL;
	forboth(cell, groups.keys, side, groups.sides)
		equalities = lappend(equalities, join_key(&groups, lfirst(cell), lfirst_int(side)));
	value = replace_aggregates(value, &groups);
	if (groups.failed)
		return (Node *) link;
	IncrementVarSublevelsUp(value, -1, 1);
	add_join(outer, &groups, equalities);
	return value;
}

static Node *
replace_subqueries(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (is_candidate(node))
		return join_groups(context, (SubLink *) node);
	/* subqueries have joins of their own; what CASE does not want must not be read */
	return IsA(node, Query) || IsA(node, CaseExpr) ? node :
		expression_tree_mutator(node, replace_subqueries, context);
}

/* where it may be evaluated for all groups, the expression must not fail */
static Node *
replace_if_safe(Query *query, Node *expression)
{
	List	   *rtable = query->rtable;
	List	   *tables = query->jointree->fromlist;
	Node	   *replaced;

	query->rtable = list_copy(rtable);
	replaced = replace_subqueries(expression, query);
	if (list_length(query->rtable) == list_length(rtable) || !may_fail(replaced, NULL))
		return replaced;
	query->rtable = rtable;
	query->jointree->fromlist = tables;
	return expression;
}

static void
join_in_where(Query *query)
{
	List	   *clauses = make_ands_implicit((Expr *) query->jointree->quals);
	ListCell   *cell;

	if (contain_volatile_functions((Node *) clauses))
		return;
	foreach(cell, clauses)
		lfirst(cell) = replace_if_safe(query, lfirst(cell));
	query->jointree->quals = clauses == NIL ? NULL : (Node *) make_ands_explicit(clauses);
}

/* a value of groups must be made of their own values */
static void
join_in_select(Query *query)
{
	ListCell   *cell;

	if (query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL)
		return;
	foreach(cell, query->targetList)
	{
		TargetEntry *target = lfirst_node(TargetEntry, cell);

		/* tables may be sorted by it before they are joined; LIMIT may want few others */
		if (target->ressortgroupref != 0)
			target->expr = (Expr *) replace_if_safe(query, (Node *) target->expr);
		else if (query->limitCount == NULL)
			target->expr = (Expr *) replace_subqueries((Node *) target->expr, query);
	}
}

/* what is known of all queries of a statement */
typedef struct Outermost
{
	Query	   *query;			/* no clauses of other queries come down to it */
	bool		is_joined;		/* has any query been rewritten? */
} Outermost;

/* the query itself, or INSERT's, except if a rule has given INSERT clauses */
static Query *
outermost_select(Query *query)
{
	ListCell   *cell;

	if (query->commandType == CMD_INSERT && query->jointree->quals == NULL)
		foreach(cell, query->rtable)
			if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_SUBQUERY)
				return lfirst_node(RangeTblEntry, cell)->subquery;
	return query;
}

/* rewrite queries in place; context: Outermost */
static bool
join_in_queries(Node *node, void *context)
{
	Query	   *query = (Query *) node;
	Outermost  *outermost = context;
	int			nrelations;

	if (node == NULL)
		return false;
	/* a query that is itself repeated may have to form the groups each time */
	if (IsA(node, CommonTableExpr) && ((CommonTableExpr *) node)->cterecursive)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, join_in_queries, context);
	if (contain_vars_of_level(node, 1))
		return false;
	nrelations = list_length(query->rtable);
	if (query->commandType == CMD_SELECT && query->hasSubLinks &&
		query->rowMarks == NIL && query->jointree->fromlist != NIL)
	{
		join_in_where(query);
		if (query == outermost->query)
			join_in_select(query);
	}
	outermost->is_joined |= list_length(query->rtable) > nrelations;
	return query_tree_walker(query, join_in_queries, context, 0);
}

/* ---- the planner ---- */

static List *
clauses_of(const Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_HashJoin:
			return list_concat_copy(((const HashJoin *) plan)->join.joinqual,
									((const HashJoin *) plan)->hashclauses);
		case T_MergeJoin:
			return list_concat_copy(((const MergeJoin *) plan)->join.joinqual,
									((const MergeJoin *) plan)->mergeclauses);
		case T_NestLoop:
			return ((const NestLoop *) plan)->join.joinqual;
		default:
			return NIL;
	}
}

static bool repeats_in_plans(const List *plans);

/* is a subquery expected to be repeated for the rows of the plan? */
static bool
repeats_subquery(const Plan *plan)
{
	if (plan == NULL)
		return false;
	check_stack_depth();
	if (plan->plan_rows > 1 &&
		contain_subplans((Node *) list_make3(plan->targetlist, plan->qual, clauses_of(plan))))
		return true;
	switch (nodeTag(plan))
	{
		case T_Append:
			return repeats_in_plans(((const Append *) plan)->appendplans);
		case T_MergeAppend:
			return repeats_in_plans(((const MergeAppend *) plan)->mergeplans);
		case T_SubqueryScan:
			return repeats_subquery(((const SubqueryScan *) plan)->subplan);
		default:
			return repeats_subquery(outerPlan(plan)) || repeats_subquery(innerPlan(plan));
	}
}

static bool
repeats_in_plans(const List *plans)
{
	ListCell   *cell;

	foreach(cell, plans)
		if (repeats_subquery(lfirst(cell)))
			return true;
	return false;
}

static PlannedStmt *
plan_next(Query *query, const char *string, int options,
		  ParamListInfo params CSV_EXPLAIN_PARAMETER)
{
	return next_planner != NULL ?
		next_planner(query, string, options, params CSV_EXPLAIN_ARGUMENT) :
		standard_planner(query, string, options, params CSV_EXPLAIN_ARGUMENT);
}

static PlannedStmt *
plan_with_groups(Query *query, const char *string, int options,
				 ParamListInfo params CSV_EXPLAIN_PARAMETER)
{
	Query	   *copy = NULL;
	Outermost	joined = {NULL, false};
	PlannedStmt *stmt;

	/* a cursor may go back, or stand for the current row of a table */
	if ((options & CURSOR_OPT_FAST_PLAN) == 0 && has_candidate((Node *) query, NULL))
	{
		copy = copyObject(query);
		joined.query = outermost_select(copy);
		(void) join_in_queries((Node *) copy, &joined);
	}
	stmt = plan_next(query, string, options, params CSV_EXPLAIN_ARGUMENT);
	return joined.is_joined &&
		(repeats_subquery(stmt->planTree) || repeats_in_plans(stmt->subplans)) ?
		plan_next(copy, string, options, params CSV_EXPLAIN_ARGUMENT) : stmt;
}

bool
csv_is_plan_hooked(void)
{
	return next_planner != NULL || planner_hook != plan_with_groups;
}

void
csv_decorrelate_init(void)
{
	next_planner = planner_hook;
	planner_hook = plan_with_groups;
	/* plans of this session that were made without it are made again */
	ResetPlanCache();
}
