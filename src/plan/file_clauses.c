/*
 * file_clauses.c
 *		WHERE clauses that decide which files are read.
 *
 * These clauses are evaluated before any row.  So their security level must not be
 * above the level of another clause: EXPLAIN tells how many files they leave, and a
 * function that is not leakproof would see names of files whose rows row-level
 * security hides.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paramassign.h"
#include "optimizer/restrictinfo.h"

#include "plan/plan_state.h"
#include "program/program.h"
#include "scan/file_filter.h"
#include "table/option.h"

bool
csv_has_file_columns(const CsvTable *table)
{
	for (int i = 0; i < table->natts; i++)
		if (csv_is_of_file(&table->columns[i]))
			return true;
	return false;
}

/* ---- which clauses ---- */

typedef struct FileVars
{
	const CsvTable *table;
	int			relid;
	bool		found;			/* a column that is the same in the whole file */
} FileVars;

/* does it use something that differs between rows of a file? */
static bool
differs_walker(Node *node, void *context)
{
	FileVars   *vars = context;

	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) ||
		IsA(node, PlaceHolderVar) || IsA(node, CurrentOfExpr))
		return true;
	if (IsA(node, Var) && ((Var *) node)->varno == vars->relid)
	{
		int			attnum = ((Var *) node)->varattno;

		vars->found = true;
		return attnum <= 0 ||
			!csv_is_of_file(&vars->table->columns[attnum - 1]);
	}
	return expression_tree_walker(node, differs_walker, context);
}

static bool
is_file_clause(const CsvPlanState *state, const RestrictInfo *rinfo)
{
	FileVars	vars = {state->table, (int) state->relid, false};

	return !rinfo->pseudoconstant &&
		!differs_walker((Node *) rinfo->clause, &vars) && vars.found &&
		!contain_volatile_functions((Node *) rinfo->clause);
}

static int
compare_levels(const ListCell *a, const ListCell *b)
{
	Index		left = lfirst_node(RestrictInfo, a)->security_level;
	Index		right = lfirst_node(RestrictInfo, b)->security_level;

	return left < right ? -1 : left > right;
}

List *
csv_part_clauses(const CsvPlanState *state, List *clauses, List **file_clauses)
{
	List	   *others = NIL;
	Index		least_level = UINT_MAX;
	bool		may_hide = false;
	ListCell   *cell;

	*file_clauses = NIL;
	if (state->table->program != NULL || !csv_has_file_columns(state->table))
		return clauses;
	foreach(cell, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);

		if (is_file_clause(state, rinfo))
			*file_clauses = lappend(*file_clauses, rinfo);
		else if (!rinfo->pseudoconstant)
			least_level = Min(least_level, rinfo->security_level);
		else
			may_hide |= state->row_security;
	}

	/* beside x = 5, a policy x = (SELECT ...) becomes a clause without columns */
	if (may_hide)
	{
		*file_clauses = NIL;
		return clauses;
	}
	foreach(cell, *file_clauses)
		if (lfirst_node(RestrictInfo, cell)->security_level > least_level)
			others = lappend(others, lfirst(cell));
	*file_clauses = list_difference_ptr(*file_clauses, others);
	/* the planner orders leakproof clauses by cost, but they may raise an ERROR */
	list_sort(*file_clauses, compare_levels);
	return list_difference_ptr(clauses, *file_clauses);
}

bool
csv_files_vary(const List *file_clauses)
{
	ListCell   *cell;

	foreach(cell, file_clauses)
		if (csv_expression_varies((Node *) lfirst_node(RestrictInfo,
													   cell)->clause))
			return true;
	return false;
}

/* ---- which files ---- */

/*
 * May the clause be evaluated now?  The user's privileges have not been checked yet.
 */
static bool
may_evaluate(const CsvPlanState *state, Node *clause)
{
	List	   *vars = pull_var_clause(clause, 0);
	ListCell   *cell;

	if (csv_expression_params(clause) != NIL)
		return false;
	if (!contain_leaked_vars(clause))
		return true;
	foreach(cell, vars)
	{
		int			attnum = lfirst_node(Var, cell)->varattno;

		if (!csv_may_quote(state->table, &state->table->columns[attnum - 1]))
			return false;
	}
	return true;
}

List *
csv_plan_files(CsvPlanState *state, List *file_clauses)
{
	List	   *known = NIL;
	List	   *exprs = NIL;
	EState	   *estate;
	CsvFileFilter *filter;
	bool		may_fail = true;
	ListCell   *cell;

	foreach(cell, file_clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);

		/*
		 * a clause that is not evaluated may keep later clauses from raising an ERROR
		 */
		if (!may_evaluate(state, (Node *) rinfo->clause) ||
			(!may_fail && contain_leaked_vars((Node *) rinfo->clause)))
		{
			may_fail = false;
			continue;
		}
		known = lappend(known, rinfo);
		exprs = lappend(exprs, rinfo->clause);
	}
	if (known == NIL)
		return file_clauses;

	/* only the scan reports errors of files */
	estate = CreateExecutorState();
	filter = csv_file_filter_create(state->table, exprs, NULL, true);
	if (filter == NULL)
	{
		state->table->files = NULL;
		state->table->left_out = NULL;
	}
	else
		csv_file_filter_leave_out(filter, GetPerTupleExprContext(estate), false);
	FreeExecutorState(estate);
	return filter == NULL ? file_clauses :
		list_difference_ptr(file_clauses, known);
}

/* ---- for the plan ---- */

typedef struct OuterVars
{
	PlannerInfo *root;
	int			relid;
} OuterVars;

/* as createplan.c does in the plan's other expressions, with the same Params */
static Node *
replace_outer(Node *node, void *context)
{
	OuterVars  *vars = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varno != vars->relid)
		return (Node *) replace_nestloop_param_var(vars->root, (Var *) node);
	return expression_tree_mutator(node, replace_outer, context);
}

List *
csv_file_quals(PlannerInfo *root, const CsvPlanState *state,
			   List *file_clauses, List **params)
{
	OuterVars	vars = {root, (int) state->relid};
	List	   *quals = extract_actual_clauses(file_clauses, false);

	quals = (List *) replace_outer((Node *) quals, &vars);
	*params = csv_expression_params((Node *) quals);
	return quals;
}
