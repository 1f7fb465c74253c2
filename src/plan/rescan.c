/*
 * rescan.c
 *		Plans of scans that are repeated for other values of their parameters.
 *
 * Such a scan is the inner side of a nested loop, or is in a subquery that uses values
 * of the query around it.  If one of its clauses is "column = value", its rows can be
 * looked up (scan/lookup.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "plan/shippable.h"
#include "plan/plan_state.h"
#include "scan/lookup.h"

/* cost of a lookup, in units of cpu_operator_cost */
#define COST_PER_LOOKUP		20

/*
 * How often the scans of a correlated subquery are repeated is not known when the subquery
 * is planned.  So it is assumed: for all rows of the outer table, and at least this often.
 * A lower number hides other costs.  Reading the file and storing its rows costs all plans
 * of the outer query the same, so the lookups alone tell these apart.  With 10,000 for
 * 800,000 rows, a scan of partsupp in TPC-H Q20 cost 17 million.  Reading and keeping
 * lineitem was more than 99 percent of this cost.  Joins that cannot hash have as many loops.
 */
#define ASSUMED_LOOPS		10000

const Var *
csv_column_of(const Node *node, Index relid)
{
	const Var  *var;

	while (IsA(node, RelabelType))
		node = (const Node *) ((const RelabelType *) node)->arg;
	var = (const Var *) node;
	return IsA(var, Var) && var->varno == (int) relid && var->varlevelsup == 0 &&
		var->varattno > 0 ? var : NULL;
}

/* has it one value in a scan, and perhaps another value in the next scan? */
static bool
is_parameter(PlannerInfo *root, Node *node, Index relid)
{
	Relids		relids = pull_varnos(root, node);

	return !bms_is_member((int) relid, relids) && !contain_subplans(node) &&
		(!bms_is_empty(relids) || csv_expression_varies(node));
}

bool
csv_hashes_alike(const OpExpr *op)
{
	RegProcedure left;
	RegProcedure right;

	return !OidIsValid(op->inputcollid) || get_collation_isdeterministic(op->inputcollid) ||
		(get_op_hash_functions(op->opno, &left, &right) && left == right &&
		 left != F_HASHNAME);
}

/* the side of "column = value" that is the column, or -1 */
static int
column_side(PlannerInfo *root, Node *clause, Index relid)
{
	OpExpr	   *op = (OpExpr *) clause;

	/* without a collation, the executor must raise an ERROR, if it evaluates this */
	if (!IsA(clause, OpExpr) || list_length(op->args) != 2 ||
		!op_strict(op->opno) || csv_lacks_collation(clause, NULL) ||
		!op_hashjoinable(op->opno, exprType(linitial(op->args))) || !csv_hashes_alike(op))
		return -1;
	for (int side = 0; side < 2; side++)
		if (csv_column_of(list_nth(op->args, side), relid) != NULL &&
			is_parameter(root, list_nth(op->args, 1 - side), relid))
			return side;
	return -1;
}

/*
 * Rows that are not found do not get to the other clauses.  So no earlier clause may
 * need to see them, because of its effects or of its security level, as with an index.
 */
List *
csv_find_equalities(PlannerInfo *root, const CsvPlanState *state,
					List *clauses, const List *allowed)
{
	RelOptInfo *baserel = root->simple_rel_array[state->relid];
	List	   *equalities = NIL;
	int			number = 0;
	ListCell   *cell;

	foreach(cell, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);
		Node	   *clause = (Node *) rinfo->clause;
		int			side;

		if (rinfo->pseudoconstant)
			continue;
		if (contain_volatile_functions(clause))
			break;
		side = column_side(root, clause, state->relid);
		if (side >= 0 && list_member_ptr(allowed, rinfo) &&
			restriction_is_securely_promotable(rinfo, baserel))
			equalities = lappend_int(equalities, CSV_EQUALITY(number, side));
		number++;
	}
	return equalities;
}

/* can repeated scans look their rows up? */
static bool
can_look_up(PlannerInfo *root, const CsvPlanState *state)
{
	List	   *clauses = list_concat_copy(state->file_clauses,
										   state->restrictinfo);

	return csv_find_equalities(root, state, csv_order_clauses(root, clauses),
							   state->pushed) != NIL;
}

/* the rows of the table that the expression is a column of, or not more than 0 */
static double
rows_of_table(const PlannerInfo *root, Node *item)
{
	const RangeTblEntry *rte;
	HeapTuple	tuple;
	double		nrows;

	if (!IsA(item, Var))
		return 0;
	rte = rt_fetch(((Var *) item)->varno, root->parse->rtable);
	if (rte->rtekind != RTE_RELATION)
		return 0;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(rte->relid));
	if (!HeapTupleIsValid(tuple))
		return 0;
	nrows = ((Form_pg_class) GETSTRUCT(tuple))->reltuples;
	ReleaseSysCache(tuple);
	return nrows;
}

/*
 * How often the query is repeated for values of the queries around it; 1 if it uses none.
 * Rows that a scan keeps last, also if the scan itself uses no such value.
 */
static double
count_subquery_loops(const PlannerInfo *root)
{
	const Query *parse = root->parse;
	List	   *params;
	double		nloops = 1;
	ListCell   *cell;
	ListCell   *other;

	if (root->parent_root == NULL)
		return 1;
	params = csv_expression_params((Node *) list_make3(parse->jointree,
													   parse->targetList,
													   parse->havingQual));
	for (root = root->parent_root; root != NULL; root = root->parent_root)
		foreach(cell, root->plan_params)
		{
			const PlannerParamItem *item = lfirst_node(PlannerParamItem, cell);

			foreach(other, params)
			{
				const Param *param = lfirst_node(Param, other);

				if (param->paramkind == PARAM_EXEC &&
					param->paramid == item->paramId)
					nloops = Max(Max(nloops, ASSUMED_LOOPS),
								 rows_of_table(root, item->item));
			}
		}
	return nloops;
}

/* rows that are stored, because they may come out for some parameters */
static double
stored_rows(PlannerInfo *root, RelOptInfo *baserel)
{
	const CsvPlanState *state = baserel->fdw_private;
	List	   *lasting = NIL;
	ListCell   *cell;

	foreach(cell, state->pushed)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);

		if (!csv_expression_varies((Node *) rinfo->clause))
			lasting = lappend(lasting, rinfo);
	}
	return clamp_row_est(baserel->tuples *
						 clauselist_selectivity(root, lasting, 0, JOIN_INNER, NULL));
}

/* the memory that they need */
static double
stored_bytes(const RelOptInfo *baserel, double nrows)
{
	return nrows *
		(MAXALIGN(baserel->reltarget->width) +
		 MAXALIGN(SizeofMinimalTupleHeader) + CSV_LOOKUP_ROW_BYTES);
}

/*
 * A hash join, too, reads the file and keeps its rows once.  So lookups save little where
 * a hash join is possible, and lose much if there are more outer rows than estimated.
 * So each outer row costs as if the file were read again, and all rows came out and were
 * compared.  It is different if the outer values decide which files are read.
 */
static Cost
join_cost(PlannerInfo *root, const CsvPlanState *state, Cost read_cost)
{
	RelOptInfo *baserel = root->simple_rel_array[state->relid];
	const CsvPlanState *base = baserel->fdw_private;

	if (list_length(state->file_clauses) > list_length(base->file_clauses))
		return read_cost;
	return read_cost + stored_rows(root, baserel) * (cpu_tuple_cost + 2 * cpu_operator_cost);
}

Cost
csv_repeated_cost(PlannerInfo *root, const CsvPlanState *state, Cost read_cost,
				  Relids outer, double nfound)
{
	RelOptInfo *baserel = root->simple_rel_array[state->relid];
	double		nloops = count_subquery_loops(root);
	double		nreads = state->resident ? CSV_SCANS_OF_RESIDENT : 1;
	Cost		scan_cost = (COST_PER_LOOKUP + nfound) * cpu_operator_cost;
	Cost		fill_cost;
	double		nrows;
	double		nbytes;

	if (!can_look_up(root, state))
		return read_cost;
	if (!bms_is_empty(outer) && nloops == 1)
	{
		if (enable_hashjoin)
			return join_cost(root, state, read_cost);
		nloops = ASSUMED_LOOPS;
	}
	if (nreads >= nloops)
		return read_cost;
	nrows = stored_rows(root, baserel);
	nbytes = stored_bytes(baserel, nrows);
	/* as for the hash of a join, whose rows come out first */
	fill_cost = read_cost + nrows * (2 * cpu_tuple_cost + cpu_operator_cost);
	if (nbytes > get_hash_memory_limit())
	{
		if (temp_file_limit >= 0)
			return read_cost;
		/* rows are written by the sort, read, and written once more */
		fill_cost += 3 * seq_page_cost * nbytes / BLCKSZ;
		scan_cost += seq_page_cost;
	}
	return (nreads * read_cost + fill_cost + (nloops - nreads) * scan_cost) /
		nloops;
}
