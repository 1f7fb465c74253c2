/*
 * upper.c
 *		Plans of aggregates that the engine computes.
 *
 * A query that groups the rows of one table or partition becomes a foreign scan that
 * returns the groups, if the engine can have every WHERE clause, every group key and
 * every aggregate.  The executor evaluates HAVING and expressions over aggregates.
 */
#include "postgres.h"

#include <math.h>

#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "batches/resident.h"
#include "compat.h"
#include "groups/group_values.h"
#include "query/spill.h"
#include "plan/plan_state.h"
#include "plan/shippable.h"
#include "scan/scan.h"
#include "table/source.h"

/* Rough memory of a group: its place in the hash table, and each key or aggregate. */
#define CSV_GROUP_BYTES			24
#define CSV_GROUP_VALUE_BYTES	16
#define CSV_HELD_FLOAT_BYTES	560 /* more, for a sum of floats on a GPU */

/* how the engine computes an aggregate function of PostgreSQL's own */
typedef struct AggregateKind
{
	const char *name;
	CsvResultKind result;
	int			first;			/* CsvAggregateKind */
	int			second;			/* CsvAggregateKind, or -1 */
} AggregateKind;

static const AggregateKind aggregate_kinds[] = {
	{"count", CSV_RESULT_COUNT, CSV_AGGREGATE_COUNT, -1},
	{"sum", CSV_RESULT_SUM, CSV_AGGREGATE_SUM, -1},
	{"avg", CSV_RESULT_AVERAGE, CSV_AGGREGATE_SUM, -1},
	{"min", CSV_RESULT_EXTREME, CSV_AGGREGATE_MIN, -1},
	{"bool_and", CSV_RESULT_EXTREME, CSV_AGGREGATE_MIN, -1},
	{"every", CSV_RESULT_EXTREME, CSV_AGGREGATE_MIN, -1},
	{"max", CSV_RESULT_EXTREME, CSV_AGGREGATE_MAX, -1},
	{"bool_or", CSV_RESULT_EXTREME, CSV_AGGREGATE_MAX, -1},
#define VARIANCE(name) \
	{name, CSV_RESULT_VARIANCE, CSV_AGGREGATE_SUM, CSV_AGGREGATE_SUM_SQUARES}
	VARIANCE("variance"), VARIANCE("var_samp"), VARIANCE("var_pop"),
	VARIANCE("stddev"), VARIANCE("stddev_samp"), VARIANCE("stddev_pop")
#undef VARIANCE
};

/* the argument does not matter here: a type without a lane is refused later */
static bool
aggregate_kind(const Aggref *aggref, AggregateKind *kind)
{
	const char *name = aggref->aggfnoid < FirstNormalObjectId ?
		get_func_name(aggref->aggfnoid) : NULL;

	for (int i = 0; name != NULL && i < lengthof(aggregate_kinds); i++)
	{
		if (strcmp(aggregate_kinds[i].name, name) != 0)
			continue;
		*kind = aggregate_kinds[i];
		if (aggref->aggfnoid == F_COUNT_)
			kind->first = CSV_AGGREGATE_COUNT_ROWS;
		else if (kind->first == CSV_AGGREGATE_COUNT &&
				 aggref->aggdistinct != NIL)
			kind->first = CSV_AGGREGATE_COUNT_DISTINCT;
		return true;
	}
	return false;
}

/* add an aggregate of the program for the next result */
static int
add_aggregate(CsvPlanState *state, int kind, int argument, int filter)
{
	int			before = (int) state->program->query.naggregates;
	int			number = csv_program_add_aggregate(state->program, kind,
												   argument, filter);

	if (number == before)
		state->sources = lappend_int(state->sources,
									 list_length(state->results));
	return number;
}

/*
 * Add an aggregate with the greatest scale of the values of a result, which the lane
 * does not keep.  Returns -1 if the engine cannot have it.
 */
static int
add_shown(CsvPlanState *state, Expr *value, int filter)
{
	int			scale = csv_program_add_value(state->program,
											  csv_scale_function(value));

	return scale < 0 ? -1 :
		add_aggregate(state, CSV_AGGREGATE_MAX, scale, filter);
}

static bool
push_aggregate(CsvPlanState *state, Aggref *aggref)
{
	AggregateKind kind;
	const CsvRegister *reg = NULL;
	int			argument = -1;
	int			filter = -1;
	int			first_argument;
	int			first;
	int			second = -1;
	int			shown = -1;
	Expr	   *expr = NULL;

	state->program->reason = "aggregate not known to the engine";
	if (aggref->agglevelsup != 0 || aggref->aggorder != NIL || aggref->aggvariadic ||
		aggref->aggkind != AGGKIND_NORMAL ||
		!aggregate_kind(aggref, &kind))
		return false;

	/* distinct values cannot be counted in parts and added up */
	state->program->reason = "DISTINCT";
	if (aggref->aggsplit != AGGSPLIT_SIMPLE &&
		kind.first == CSV_AGGREGATE_COUNT_DISTINCT)
		return false;

	/* min and max ignore DISTINCT; any other DISTINCT is the executor's */
	if (aggref->aggdistinct != NIL &&
		kind.first != CSV_AGGREGATE_COUNT_DISTINCT)
		return false;
	if (aggref->args != NIL)
	{
		expr = linitial_node(TargetEntry, aggref->args)->expr;
		argument = csv_program_add_value(state->program, expr);
		if (argument < 0)
			return false;
		reg = &state->program->registers[argument];
		state->program->reason = CSV_COLUMN_TYPE;
		if (kind.result == CSV_RESULT_EXTREME ||
			kind.first == CSV_AGGREGATE_COUNT_DISTINCT)
		{
			if (!csv_register_shown(reg))
				return false;
			if (reg->lane == CSV_LANE_TEXT &&
				!csv_collation_allows(state->program, aggref->inputcollid,
									  kind.result != CSV_RESULT_EXTREME))
				return false;
		}
		if (kind.second == CSV_AGGREGATE_SUM_SQUARES &&
			reg->lane == CSV_LANE_DECIMAL && (reg->digits > 18 || reg->scaled))
			return false;
	}
	if (aggref->aggfilter != NULL &&
		(filter = csv_program_add_value(state->program,
										aggref->aggfilter)) < 0)
		return false;
	first_argument = argument;
	if (reg != NULL && reg->scaled && kind.result == CSV_RESULT_EXTREME)
		first_argument = csv_program_add_packed(state->program, argument, expr,
												kind.first == CSV_AGGREGATE_MAX);
	else if (reg != NULL && reg->scaled && kind.result != CSV_RESULT_COUNT &&
			 (shown = add_shown(state, expr, filter)) < 0)
		return false;
	if (argument >= 0 && first_argument < 0)
		return false;
	first = add_aggregate(state, kind.first, first_argument, filter);
	if (first < 0)
		return false;
	if (kind.second >= 0 &&
		(second = add_aggregate(state, kind.second, argument, filter)) < 0)
		return false;
	state->results = lappend(state->results,
							 list_make5_int(kind.result, argument, first, second,
											shown));
	return true;
}

/* add an expression to the scan's result, if it is not there yet */
static bool
push_expression(CsvPlanState *state, Expr *expr, bool is_key)
{
	int			argument;
	int			shown = -1;

	if (tlist_member(expr, state->scan_tlist) != NULL)
		return true;
	if (is_key)
	{
		argument = csv_program_add_key(state->program, expr);
		if (argument < 0 ||
			(state->program->registers[argument].scaled &&
			 (shown = add_shown(state, expr, -1)) < 0))
			return false;
		state->results = lappend(state->results,
								 list_make5_int(CSV_RESULT_KEY, argument,
												(int) state->program->query.nkeys - 1,
												-1, shown));
	}
	else if (!IsA(expr, Aggref) || !push_aggregate(state, (Aggref *) expr))
		return false;
	state->scan_tlist = add_to_flat_tlist(state->scan_tlist,
										  list_make1(expr));
	return true;
}

/*
 * A key without columns tells no groups apart.  It is left to the executor, which
 * evaluates it for each group.  It must not be in the scan's result: setrefs.c would
 * take the same expression among the program's constants from there.
 */
static bool
push_key(CsvPlanState *state, Expr *key)
{
	bool		good;

	state->program->reason = "volatile";
	good = csv_holds_row(state->program, key) ?
		push_expression(state, key, true) :
		csv_is_constant(state->program, key);
	if (!good)
		csv_note_left(state, key, state->program->reason);
	return good;
}

/* add the aggregates in an expression, and keys that it uses beside them */
static bool
push_aggregates_of(CsvPlanState *state, Node *node)
{
	List	   *needed;
	bool		good = true;
	ListCell   *cell;

	if (tlist_member((Expr *) node, state->scan_tlist) != NULL)
		return true;
	needed = pull_var_clause(node, PVC_INCLUDE_AGGREGATES |
							 PVC_INCLUDE_PLACEHOLDERS);
	foreach(cell, needed)
		if (!push_expression(state, lfirst(cell), false))
		{
			good = false;
			/* anything else belongs to a key, which has told its reason */
			if (IsA(lfirst(cell), Aggref))
				csv_note_left(state, lfirst(cell), state->program->reason);
		}
	return good;
}

/*
 * Put the scan's result into the order of the target, if both have the same columns:
 * then rows come out without a projection.
 */
static void
order_results(CsvPlanState *state, PathTarget *target)
{
	int			n = list_length(state->scan_tlist);
	List	   *ordered = NIL;
	List	   *results = NIL;
	List	   *sources = NIL;
	int		   *places;
	ListCell   *cell;

	if (list_length(target->exprs) != n)
		return;
	places = palloc0(sizeof(int) * n);
	foreach(cell, target->exprs)
	{
		TargetEntry *entry = tlist_member(lfirst(cell), state->scan_tlist);

		if (entry == NULL || tlist_member(lfirst(cell), ordered) != NULL)
			return;
		places[entry->resno - 1] = list_length(ordered);
		results = lappend(results, list_nth(state->results, entry->resno - 1));
		ordered = add_to_flat_tlist(ordered, list_make1(lfirst(cell)));
	}
	foreach(cell, state->sources)
		sources = lappend_int(sources, places[lfirst_int(cell)]);
	state->scan_tlist = ordered;
	state->results = results;
	state->sources = sources;
}

/*
 * Add everything that is grouped to state->program and state->scan_tlist, or
 * note why not.
 */
static bool
push_grouping(CsvPlanState *state, PathTarget *target, List *clauses,
			  List *target_list, List *having)
{
	int			i = 0;
	bool		good = true;
	ListCell   *cell;

	state->program->query.aggregates = true;
	foreach(cell, target->exprs)
	{
		Index		sgref = get_pathtarget_sortgroupref(target, i++);

		if (sgref != 0 &&
			get_sortgroupref_clause_noerr(sgref, clauses) != NULL)
			good &= push_key(state, lfirst(cell));
	}

	/* keys that are not in the target */
	foreach(cell, clauses)
	{
		Expr	   *key = (Expr *) get_sortgroupclause_expr(lfirst(cell),
															 target_list);

		good &= push_key(state, key);
	}

	/* without a key there would be a group even if there is no row */
	if (good && clauses != NIL && state->program->query.nkeys == 0)
		good &= push_expression(state, (Expr *) makeBoolConst(true, false),
								true);
	foreach(cell, target->exprs)
		good &= push_aggregates_of(state, lfirst(cell));
	foreach(cell, having)
		good &= push_aggregates_of(state, lfirst(cell));
	if (good)
		order_results(state, target);
	state->having = having;
	return good;
}

/*
 * note that all keys and aggregates stay in the executor; those noted before
 * have a reason
 */
static void
leave_grouping(CsvPlanState *state, List *clauses, List *target_list,
			   List *having, const char *reason)
{
	List	   *exprs = list_concat(pull_var_clause((Node *) target_list,
													PVC_INCLUDE_AGGREGATES |
													PVC_RECURSE_WINDOWFUNCS |
													PVC_RECURSE_PLACEHOLDERS),
									pull_var_clause((Node *) having,
													PVC_INCLUDE_AGGREGATES |
													PVC_RECURSE_PLACEHOLDERS));
	ListCell   *cell;

	foreach(cell, clauses)
		csv_note_left(state,
					  get_sortgroupclause_expr(lfirst(cell),
											   target_list), reason);
	foreach(cell, exprs)
		if (IsA(lfirst(cell), Aggref))
			csv_note_left(state, lfirst(cell), reason);
}

/*
 * Bytes of the values that count(DISTINCT) counts, which groups keep until the end; 0
 * if there are none.
 */
static double
distinct_bytes(PlannerInfo *root, const CsvPlanState *state, List *keys,
			   double nrows)
{
	double		nbytes = 0;
	ListCell   *cell;

	foreach(cell, state->scan_tlist)
	{
		Aggref	   *aggref = (Aggref *) lfirst_node(TargetEntry, cell)->expr;
		AggregateKind kind;
		PathTarget *value;
		List	   *exprs;
		double		value_bytes = CSV_GROUP_BYTES + 2 * CSV_GROUP_VALUE_BYTES;

		if (!IsA(aggref, Aggref) || !aggregate_kind(aggref, &kind) ||
			kind.first != CSV_AGGREGATE_COUNT_DISTINCT)
			continue;
		value = make_pathtarget_from_tlist(aggref->args);
		exprs = list_concat_copy(keys, value->exprs);
		set_pathtarget_cost_width(root, value);
		if (value->width > CSV_GROUP_VALUE_BYTES)
			value_bytes += value->width;
		nbytes += value_bytes *
			estimate_num_groups(root, exprs, nrows, NULL, NULL);
	}
	return nbytes;
}

/*
 * Rough cost of spilling, if ngroups groups of nrows rows, and values_bytes of
 * distinct values, do not fit in memory; 0 if they do.
 */
static Cost
spill_cost(const CsvPlanState *state, double ngroups, double values_bytes,
		   double nrows)
{
	const CsvProgram *program = state->program;
	double		value_bytes = CSV_GROUP_VALUE_BYTES *
		(program->query.nkeys + program->query.naggregates);
	double		group_bytes = CSV_GROUP_BYTES + value_bytes;
	double		held_bytes = group_bytes;
	double		times = (ngroups * group_bytes + values_bytes) /
		(double) get_hash_memory_limit();
	double		levels;

	if (times <= 1)
		return 0;
	for (uint32_t i = 0; i < program->query.naggregates; i++)
	{
		const CsvAggregate *aggregate = &program->aggregate[i];

		if (aggregate->lane == CSV_LANE_FLOAT &&
			(aggregate->kind == CSV_AGGREGATE_SUM ||
			 aggregate->kind == CSV_AGGREGATE_SUM_SQUARES))
			held_bytes += CSV_HELD_FLOAT_BYTES;
	}
	if (!state->table->settings.resident && values_bytes == 0 &&
		csv_engine_holds_groups(&state->table->settings,
								csv_source_size(state->table).data_bytes,
								bms_num_members(state->wanted),
								ngroups * held_bytes))
		return 0;

	/* as cost_agg() reckons: each level writes and reads nearly all rows */
	levels = ceil(log(times) / log(1 << csv_spill_bits(get_hash_memory_limit())));
	return levels * nrows *
		(2 * cpu_tuple_cost +
		 value_bytes / BLCKSZ * (random_page_cost + seq_page_cost));
}

/*
 * Stages: UPPERREL_GROUP_AGG is for a table or (with partitionwise aggregation) for a
 * partition.  UPPERREL_PARTIAL_GROUP_AGG is for a partition whose groups are combined
 * with the groups of other partitions; then the scan returns transition states.
 * In UPPERREL_DISTINCT, all values of a row are keys.
 */
void
csv_get_upper_paths(PlannerInfo *root, UpperRelationKind stage,
					RelOptInfo *input_rel, RelOptInfo *output_rel, void *extra)
{
	CsvPlanState *input = input_rel->fdw_private;
	GroupPathExtraData *grouping = extra;
	Query	   *parse = root->parse;
	bool		distinct = stage == UPPERREL_DISTINCT;
	List	   *clauses = distinct ? parse->distinctClause : parse->groupClause;
	List	   *target_list = distinct ? root->processed_tlist : NIL;
	PathTarget *target = distinct ? root->upper_targets[stage] :
		output_rel->reltarget;
	List	   *having = NIL;
	List	   *keys = NIL;
	CsvPlanState *state;
	double		ngroups = 1;
	double		most_groups = 1;
	ListCell   *cell;
	double		values_bytes;
	double		nrows;
	const char *reason;
	int			ncolumns;
	int64		nresident;
	Cost		spilling;
	ForeignPath *path;
	Cost		startup_cost;
	Cost		total_cost;
	QualCost	having_cost;

	if ((stage != UPPERREL_GROUP_AGG && stage != UPPERREL_PARTIAL_GROUP_AGG &&
		 !distinct) ||
		output_rel->fdw_private != NULL || input == NULL || input->upper ||
		!IS_SIMPLE_REL(input_rel))
		return;

	/* if no group is in several partitions, whole groups are better than parts */
	if (stage == UPPERREL_PARTIAL_GROUP_AGG &&
		grouping->patype != PARTITIONWISE_AGGREGATE_PARTIAL)
		return;
	if (!distinct)
		target_list = grouping->targetList;
	if (stage == UPPERREL_GROUP_AGG)
		having = (List *) grouping->havingQual;
	reason = input->program == NULL ? input->refusal :
		parse->groupingSets != NIL ? "grouping sets" :
		distinct && parse->hasDistinctOn ? "DISTINCT ON" :
		parse->hasTargetSRFs ? "set-returning function" :
		list_length(input->pushed) != list_length(input->restrictinfo) ?
		"a WHERE clause stays" : NULL;
	if (reason != NULL)
		leave_grouping(input, clauses, target_list, having, reason);
	if (reason != NULL || (clauses == NIL && !parse->hasAggs))
		return;

	state = palloc0(sizeof(CsvPlanState));
	*state = *input;
	state->upper = true;
	/* as createplan.c sets fs_relids */
	state->first_relid =
		bms_next_member(output_rel->reloptkind == RELOPT_UPPER_REL ?
						root->all_baserels : output_rel->relids, -1);

	/* translate anew: the table's own plan may be used after all */
	state->program = csv_program_create(input->table, input->relid, parse,
										input->pushed);
	if (!push_grouping(state, target, clauses, target_list, having))
		reason = "another key or aggregate stays";
	input->left = state->left;
	/* the table's own scan will be used only if it costs less */
	leave_grouping(input, clauses, target_list, having,
				   reason != NULL ? reason : "costs less in the executor");
	if (reason != NULL)
		return;

	/*
	 * The columns that the session keeps may do for aggregates but not for rows.  If
	 * they do for rows only, one more read of the file makes them do for aggregates,
	 * too.
	 */
	state->resident |= state->table->settings.resident && state->wanted != NULL &&
		csv_resident_exist(state->table, state->wanted, state->wanted, false,
					   &ncolumns, &nresident);

	if (clauses != NIL)
	{
		keys = get_sortgrouplist_exprs(clauses, target_list);
		ngroups = estimate_num_groups(root, keys, input_rel->rows, NULL, NULL);
		/* this takes parts of dates to have as many values as the dates have */
		foreach(cell, keys)
		{
			double		n = csv_most_values(lfirst(cell));

			most_groups *= n > 0 ? n :
				estimate_num_groups(root, list_make1(lfirst(cell)),
									input_rel->rows, NULL, NULL);
		}
		ngroups = Min(ngroups, most_groups);
	}
	values_bytes = distinct_bytes(root, state, keys, input_rel->rows);
	/* the values that count(DISTINCT) counts come out one by one */
	csv_plan_engine(state, values_bytes > 0 ? 1 : 0);
	spilling = spill_cost(state, ngroups, values_bytes, input_rel->rows);
	nrows = clamp_row_est(ngroups *
						  clauselist_selectivity(root, state->having, 0,
												 JOIN_INNER, NULL));
	cost_qual_eval(&having_cost, state->having, root);
	startup_cost = csv_read_cost(state, state->program, input_rel->tuples,
								 input_rel->rows);
	startup_cost = csv_repeated_cost(root, state, startup_cost, NULL,
									 input_rel->rows) + spilling +
		having_cost.startup;
	total_cost = startup_cost +
		ngroups * (cpu_tuple_cost + having_cost.per_tuple);
	output_rel->fdw_private = state;
	path = csv_create_foreign_upper_path(root, output_rel, target, nrows,
										 startup_cost, total_cost);
	path->path.parallel_safe = false;
	add_path(output_rel, (Path *) path);
}
