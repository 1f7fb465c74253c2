/*
 * planned_table.c
 *		A table in a query that is planned: the columns, clauses and bytes that all of
 *		its paths read.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "plan/plan_state.h"
#include "table/source.h"

/*
 * Returns the attributes that the query uses; a whole-row reference uses all of them.
 */
static Bitmapset *
wanted_attributes(RelOptInfo *baserel, const CsvTable *table)
{
	Bitmapset  *used = NULL;
	Bitmapset  *wanted = NULL;
	int			member = -1;
	ListCell   *cell;

	pull_varattnos((Node *) baserel->reltarget->exprs, baserel->relid, &used);
	foreach(cell, baserel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);

		pull_varattnos((Node *) rinfo->clause, baserel->relid, &used);
	}
	while ((member = bms_next_member(used, member)) >= 0)
	{
		AttrNumber	attnum = member + FirstLowInvalidHeapAttributeNumber;

		if (attnum > 0)
			wanted = bms_add_member(wanted, attnum);
		else if (attnum == 0)
			wanted = bms_add_members(wanted, csv_table_attributes(table));
	}
	return wanted;
}

/* a WHERE clause, and its properties that decide when the executor gets to it */
typedef struct OrderedClause
{
	RestrictInfo *rinfo;
	Index		security_level;
	bool		joins;			/* it uses other tables, too */
	Cost		cost;			/* of one row */
} OrderedClause;

static bool
precedes(const OrderedClause *a, const OrderedClause *b)
{
	if (a->security_level != b->security_level)
		return a->security_level < b->security_level;
	if (a->joins != b->joins)
		return b->joins;
	return a->cost < b->cost;
}

List *
csv_order_clauses(PlannerInfo *root, List *clauses)
{
	OrderedClause *ordered = palloc(sizeof(OrderedClause) *
									Max(list_length(clauses), 1));
	int			n = 0;
	List	   *result = NIL;
	ListCell   *cell;

	foreach(cell, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);
		OrderedClause clause = {.rinfo = rinfo};
		QualCost	cost;
		int			place = n++;

		cost_qual_eval_node(&cost, (Node *) rinfo, root);
		clause.joins = bms_membership(rinfo->clause_relids) == BMS_MULTIPLE;
		clause.cost = cost.per_tuple;
		clause.security_level = rinfo->leakproof &&
			cost.per_tuple < 10 * cpu_operator_cost ? 0 : rinfo->security_level;
		for (; place > 0 && precedes(&clause, &ordered[place - 1]); place--)
			ordered[place] = ordered[place - 1];
		ordered[place] = clause;
	}
	for (int i = 0; i < n; i++)
		result = lappend(result, ordered[i].rinfo);
	return result;
}

CsvPlanState *
csv_plan_state(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	CsvPlanState *state = baserel->fdw_private;
	CsvSourceSize size;

	if (state != NULL)
		return state;
	state = palloc0(sizeof(CsvPlanState));
	state->table = csv_table_get(foreigntableid);
	state->relid = baserel->relid;
	state->query = root->parse;
	state->row_security = root->qual_security_level > 0;
	state->wanted = wanted_attributes(baserel, state->table);
	state->restrictinfo =
		csv_part_clauses(state, csv_order_clauses(root, baserel->baserestrictinfo),
						 &state->file_clauses);
	if (state->file_clauses != NIL)
		csv_table_check(state->table);	/* types, for example */
	state->unknown_files = csv_plan_files(state, state->file_clauses);
	size = csv_source_size(state->table);
	state->nbytes = size.data_bytes;
	state->is_exact = size.is_exact;
	state->nfiles = size.nfiles;
	state->file_state = size.state;
	state->modified = size.modified;
	csv_source_decide_resident(state->table);
	baserel->rel_parallel_workers = state->table->parallel_workers;
	baserel->fdw_private = state;
	return state;
}

String *
csv_make_reason(const char *reason)
{
	return makeString(pstrdup(reason != NULL ? reason :
							  "not known to the engine"));
}

void
csv_note_left(CsvPlanState *state, void *expr, const char *reason)
{
	ListCell   *cell;

	/* EXPLAIN does not know placeholders, and one reason is enough */
	foreach(cell,
			pull_var_clause(expr,
							PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
								  PVC_INCLUDE_PLACEHOLDERS))
		if (IsA(lfirst(cell), PlaceHolderVar))
			return;
	foreach(cell, state->left)
		if (equal(linitial(lfirst(cell)), expr))
			return;
	state->left = lappend(state->left,
						  list_make2(expr, csv_make_reason(reason)));
}
