/*
 * scan_path.c
 *		Plans scans of one foreign table.
 *
 * The plan carries the attribute numbers that the scan must deliver (for the target
 * list and the WHERE clauses), and the table, for scans that stand for aggregates on
 * it (CsvPlanItem).
 */
#include "postgres.h"

#include <math.h>

#include "access/sysattr.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"

#include "batches/resident.h"
#include "compat.h"
#include "plan/plan_state.h"
#include "plan/shippable.h"
#include "scan/execute.h"
#include "scan/scan.h"
#include "table/release.h"

/*
 * Costs in units of cpu_operator_cost: of finding the records in a page of the file,
 * and of making a value of a row.
 */
#define CSV_COST_PER_PAGE	40
#define CSV_COST_PER_VALUE	0.7

/* an operation of the engine on a row */
#define CSV_COST_PER_OPERATION	0.1

/* beginning a scan, perhaps once more */
#define CSV_COST_PER_SCAN	20

/* assumed size if it is not known: ten pages, as in file_fdw */
#define CSV_GUESSED_BYTES	(10 * (int64) BLCKSZ)

/*
 * For the first rows of an order, a GPU hands out fewer and fewer rows, as thresholds
 * rise: to choose the engine, about this share.
 */
#define CSV_ORDERED_ROWS_OUT	0.35

/*
 * Values of some types can be refused only in a subtransaction (value.c), and before
 * 17 a query that uses parallel workers cannot have subtransactions.  So keep workers
 * away from all parts of this query, and of the queries around it, that are not
 * planned yet.
 */
static void
avoid_parallel_plans(PlannerInfo *root, const CsvPlanState *state)
{
	int			attnum = -1;
	bool		needed = false;

	while ((attnum = bms_next_member(state->wanted, attnum)) >= 0)
		needed |= !csv_is_pure_input(state->table->columns[attnum - 1].type);
	if (!needed || CSV_HAVE_PARALLEL_SUBTRANSACTIONS)
		return;

	root->glob->parallelModeOK = false;
	/* set if parallel queries are forced, even if this query will not be parallel */
	root->glob->parallelModeNeeded = false;
	for (; root != NULL; root = root->parent_root)
		for (int i = 1; i < root->simple_rel_array_size; i++)
			if (root->simple_rel_array[i] != NULL)
				root->simple_rel_array[i]->consider_parallel = false;
}

/*
 * Give the engine the clauses that it can have.  Stop at a clause that it cannot have
 * and that may raise an ERROR, because that clause would not see rows that a later
 * clause drops.  Clauses of a security level above most_level stay with the executor.
 * *least_left: the lowest level of the clauses that stay there.
 */
static CsvProgram *
push_levels(CsvPlanState *state, Index most_level, Index *least_left)
{
	CsvProgram *program = csv_program_create(state->table, state->relid,
											 state->query, NIL);
	bool		stopped = false;
	ListCell   *cell;

	state->pushed = state->reasons = NIL;
	*least_left = UINT_MAX;
	foreach(cell, state->restrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);
		Node	   *clause = (Node *) rinfo->clause;
		bool		may_have = !stopped && rinfo->security_level <= most_level;
		CsvProgram *to = may_have ? program :
			csv_program_create(state->table, state->relid, state->query, NIL);
		const char *reason = "";

		/* also to know the reason of a clause that may not be pushed */
		if (!rinfo->pseudoconstant &&
			!csv_program_add_filter(to, rinfo->clause,
									cell == list_head(state->restrictinfo)))
			reason = to->reason;
		else if (!rinfo->pseudoconstant && may_have)
			state->pushed = lappend(state->pushed, rinfo);
		else if (!rinfo->pseudoconstant)
			reason = stopped ?
				"behind a clause that stays and may raise an error" :
				"row-level security";
		state->reasons = lappend(state->reasons, csv_make_reason(reason));
		if (reason != NULL && reason[0] == '\0')
			continue;
		*least_left = Min(*least_left, rinfo->security_level);
		stopped |= contain_leaked_vars(clause) ||
			contain_volatile_functions(clause) ||
			csv_lacks_collation(clause, NULL);
	}
	return program;
}

/*
 * Returns a program with the clauses that the engine gets.  None of them has a
 * security level above the level of a clause that stays with the executor: EXPLAIN
 * ANALYZE counts the rows that each of the two drops, and so would tell of rows that
 * row-level security hides.  The clauses are in the executor's order.  Sets the
 * program, and the clauses in it.  Returns NULL if the engine can have nothing
 * at all.
 */
static CsvProgram *
push_filters(CsvPlanState *state)
{
	Index		most_level = UINT_MAX;
	ListCell   *cell;

	state->refusal = !state->table->settings.enable_pushdown ?
		"csv_gpu_fdw.enable_pushdown is off" :
		csv_columns_shippable(state->table, state->wanted) ? NULL :
		"a column of a type not known to the engine";
	state->pushed = state->reasons = NIL;
	foreach(cell, state->restrictinfo)
		if (state->refusal != NULL)
			state->reasons = lappend(state->reasons,
									 csv_make_reason(state->refusal));
	while (state->refusal == NULL)
	{
		Index		least_left;
		bool		is_right = true;
		CsvProgram *program = push_levels(state, most_level, &least_left);

		foreach(cell, state->pushed)
			is_right &= lfirst_node(RestrictInfo, cell)->security_level <=
				least_left;
		if (is_right)
			return program;
		most_level = least_left;
	}
	return NULL;
}

/* the wanted attributes that only the engine's filters use */
static Bitmapset *
hidden_attributes(RelOptInfo *baserel, const CsvPlanState *state, List *quals)
{
	Bitmapset  *used = NULL;
	Bitmapset  *hidden = NULL;
	int			attnum = -1;

	pull_varattnos((Node *) baserel->reltarget->exprs, baserel->relid, &used);
	pull_varattnos((Node *) quals, baserel->relid, &used);
	if (bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, used))
		return NULL;
	while ((attnum = bms_next_member(state->wanted, attnum)) >= 0)
		if (!bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber, used))
			hidden = bms_add_member(hidden, attnum);
	return hidden;
}

/* does the session have the columns?  Then *nrows is their number of rows. */
static bool
find_resident_columns(RelOptInfo *baserel, const CsvPlanState *state,
					  int64 *nrows)
{
	List	   *local = list_difference_ptr(state->restrictinfo, state->pushed);
	int			ncolumns;

	if (!state->table->settings.resident || state->wanted == NULL)
		return false;
	return csv_resident_exist(state->table, state->wanted,
								hidden_attributes(baserel, state,
												  extract_actual_clauses(local,
																		 false)),
								false, &ncolumns, nrows);
}

/* the expected bytes of a value and its delimiter, by its type */
static int
expected_field_bytes(const CsvTableColumn *column)
{
	switch (column->type)
	{
		case BOOLOID:
			return 2;
		case INT2OID:
			return 5;
		case INT4OID:
			return 7;
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case TIMEOID:
			return 9;
		case DATEOID:
			return 11;
		case TIMESTAMPOID:
			return 20;
		case TIMESTAMPTZOID:
			return 23;
		case UUIDOID:
			return 37;
		case BPCHAROID:
		case VARCHAROID:
			if (column->typmod >= VARHDRSZ)
				return 1 + Min((column->typmod - VARHDRSZ) / 2 + 1, 64);
			return 17;
		default:
			return 17;
	}
}

/*
 * Estimates the rows of a file that ANALYZE has not seen, by all columns.  By only the
 * columns that the query uses, as in file_fdw, the same file would have many times as
 * many rows for count(*) as for SELECT *.
 */
static double
expected_rows(const CsvTable *table, int64 nbytes)
{
	int			record_bytes = 0;

	for (int i = 0; i < table->natts; i++)
	{
		const CsvTableColumn *column = &table->columns[i];

		if (column->field >= 0 || column->header_name != NULL)
			record_bytes += expected_field_bytes(column);
	}
	return clamp_row_est((double) nbytes / Max(record_bytes, 1));
}

void
csv_plan_engine(CsvPlanState *state, double rows_out)
{
	const CsvSettings *settings = &state->table->settings;
	int64		nbytes = state->nbytes < 0 ? CSV_GUESSED_BYTES : state->nbytes;

	state->rows_out = rows_out;
	state->has_gpu = csv_choose_gpu(settings, nbytes, bms_num_members(state->wanted),
									rows_out, false) == CSV_GPU_READS;
	state->speed = csv_engine_speed(settings, nbytes, state->has_gpu);
}

void
csv_get_rel_size(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	CsvPlanState *state = csv_plan_state(root, baserel, foreigntableid);
	int64		nbytes = state->nbytes;
	int64		nrows;
	double		ntuples;
	double		nsampled;

	csv_table_check(state->table);
	state->first_relid = (int) baserel->relid;
	avoid_parallel_plans(root, state);
	state->program = push_filters(state);
	state->resident = find_resident_columns(baserel, state, &nrows);

	/*
	 * Processes that share a scan use resident columns, but make none.  So one
	 * process reads files whose columns may become resident.
	 */
	if (state->table->settings.resident && !state->resident &&
		state->wanted != NULL &&
		nbytes <= state->table->settings.resident_memory)
		baserel->consider_parallel = false;

	if (nbytes < 0)
		nbytes = CSV_GUESSED_BYTES;
	nsampled = csv_plan_sample(root, baserel, state);
	state->pages = (BlockNumber) Min((nbytes + BLCKSZ - 1) / BLCKSZ,
									 (int64) MaxBlockNumber);
	if (state->pages < 1)
		state->pages = 1;
	if (state->resident)
		ntuples = clamp_row_est((double) nrows);
	else if (nsampled > 0)
		ntuples = nsampled;
	else if (baserel->tuples >= 0 && baserel->pages > 0)
	{
		/* ANALYZE's rows per page, and the current size */
		ntuples = clamp_row_est(baserel->tuples / (double) baserel->pages *
								(double) state->pages);
	}
	else
		ntuples = expected_rows(state->table, nbytes);
	baserel->tuples = ntuples;
	baserel->rows =
		clamp_row_est(ntuples *
					  clauselist_selectivity(root,
											 list_concat_copy(state->unknown_files,
															  state->restrictinfo),
											 0, JOIN_INNER, NULL));
	state->share = clauselist_selectivity(root, state->unknown_files, 0,
										  JOIN_INNER, NULL);
	csv_plan_engine(state, state->program == NULL ? 1 : baserel->rows / ntuples);
}

Cost
csv_read_cost(const CsvPlanState *state, const CsvProgram *program,
			  double ntuples, double nrows)
{
	double		noperations = CSV_COST_PER_SCAN;
	double		npages = state->pages * state->share;
	Cost		cost = 0;

	ntuples *= state->share;
	if (!state->resident)
	{
		cost += npages * seq_page_cost;
		noperations += (npages * CSV_COST_PER_PAGE +
						ntuples * CSV_COST_PER_VALUE *
						bms_num_members(state->wanted)) / state->speed;
	}
	if (program != NULL)
	{
		const CsvQuery *n = &program->query;

		noperations += CSV_COST_PER_OPERATION *
			(ntuples * n->nfilter_instructions +
			 nrows * (n->ninstructions - n->nfilter_instructions + n->nkeys +
					  n->naggregates)) / state->speed;
	}
	return cost + noperations * cpu_operator_cost;
}

/* rows that come out of the engine; nrows of them pass all clauses */
static double
emitted_rows(PlannerInfo *root, RelOptInfo *baserel, const CsvPlanState *state,
			 double nrows)
{
	if (list_length(state->pushed) == list_length(state->restrictinfo))
		return nrows;
	return baserel->tuples * state->share *
		clauselist_selectivity(root, state->pushed, (int) baserel->relid,
							   JOIN_INNER, NULL);
}

/* Add a path of nrows rows, with the state's clauses. */
static void
add_scan_path(PlannerInfo *root, RelOptInfo *baserel,
			  const CsvPlanState *state, double nrows, Relids required_outer)
{
	double		nemitted = emitted_rows(root, baserel, state, nrows);
	QualCost	cost;
	Cost		read_cost = csv_read_cost(state, state->program,
										  baserel->tuples, baserel->rows);
	Cost		total_cost;
	ForeignPath *path;

	read_cost = csv_repeated_cost(root, state, read_cost, required_outer, nemitted);
	cost_qual_eval(&cost, list_difference_ptr(state->restrictinfo,
											  state->pushed), root);
	total_cost = cost.startup + read_cost +
		nemitted * (cpu_tuple_cost + cost.per_tuple);
	path = csv_create_foreignscan_path(root, baserel, nrows, cost.startup,
									   total_cost, required_outer);
	path->path.parallel_safe = false;
	add_path(baserel, (Path *) path);
}

/*
 * Add a path that workers share, if it may be worth that.  As with a plain table,
 * workers read the file no faster than one process.  They divide all other work,
 * except a GPU's.
 */
static void
add_shared_path(PlannerInfo *root, RelOptInfo *baserel)
{
	const CsvPlanState *state = baserel->fdw_private;
	int			nworkers = csv_parallel_workers(root, baserel, state);
	double		divisor = csv_parallel_divisor(nworkers);
	CsvPlanState shared = *state;
	Cost		one_cost;
	Cost		all_cost;
	QualCost	cost;
	ForeignPath *path;

	if (nworkers == 0)
		return;
	csv_plan_engine(&shared, 0);
	/* the CPU evaluates each process's part of resident columns */
	shared.has_gpu &= !shared.resident;
	if (!shared.has_gpu)
		shared.speed = 1;
	cost_qual_eval(&cost, list_difference_ptr(state->restrictinfo,
											  state->pushed), root);
	all_cost = csv_read_cost(&shared, state->program, baserel->tuples,
							 baserel->rows);
	one_cost = shared.has_gpu ? all_cost : shared.resident ? 0 :
		state->pages * state->share * seq_page_cost;
	all_cost += emitted_rows(root, baserel, state, baserel->rows) *
		(cpu_tuple_cost + cost.per_tuple);
	path = csv_create_foreignscan_path(root, baserel,
									   clamp_row_est(baserel->rows / divisor),
									   cost.startup,
									   cost.startup + one_cost +
									   (all_cost - one_cost) / divisor, NULL);
	path->path.parallel_aware = true;
	path->path.parallel_workers = nworkers;
	add_partial_path(baserel, (Path *) path);
}

/* is the member the column of that number, perhaps relabeled? */
static bool
is_column_member(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *ec,
				 EquivalenceMember *member, void *arg)
{
	const Var  *column = csv_column_of((Node *) member->em_expr, rel->relid);

	return column != NULL && column->varattno == *(AttrNumber *) arg;
}

/*
 * Returns the clauses that join the table with others, and that a scan can evaluate if
 * it gets the others' values.
 */
static List *
join_clauses(PlannerInfo *root, RelOptInfo *baserel, const CsvPlanState *state)
{
	List	   *candidates = list_copy(baserel->joininfo);
	List	   *movable = NIL;
	int			attnum = -1;
	ListCell   *cell;

	while (baserel->has_eclass_joins &&
		   (attnum = bms_next_member(state->wanted, attnum)) >= 0)
	{
		AttrNumber	number = (AttrNumber) attnum;
		List	   *implied =
			generate_implied_equalities_for_column(root, baserel,
												   is_column_member, &number,
												   baserel->lateral_referencers);

		candidates = list_concat(candidates, implied);
	}
	foreach(cell, candidates)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);

		if (join_clause_is_movable_to(rinfo, baserel))
			movable = lappend(movable, rinfo);
	}
	return movable;
}

/* the state with these clauses instead, in the executor's order; rows in any order */
static CsvPlanState
with_clauses(const CsvPlanState *state, List *clauses)
{
	CsvPlanState with = *state;

	with.restrictinfo = csv_part_clauses(state, clauses, &with.file_clauses);
	with.program = push_filters(&with);
	with.order = with.limit = NIL;
	return with;
}

/*
 * Add paths for the inner side of a nested loop.  For each outer row, the engine
 * filters by its values, or files are left out by them.
 */
static void
add_parameterized_paths(PlannerInfo *root, RelOptInfo *baserel)
{
	CsvPlanState *state = baserel->fdw_private;
	List	   *done = NIL;
	ListCell   *cell;

	if (state->program == NULL && !csv_has_file_columns(state->table))
		return;
	foreach(cell, join_clauses(root, baserel, state))
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);
		Relids		outer = bms_union(rinfo->clause_relids,
									  baserel->lateral_relids);
		ParamPathInfo *param_info;
		List	   *clauses;
		CsvPlanState with;

		outer = bms_del_member(outer, (int) baserel->relid);
		if (bms_is_empty(outer))
			continue;
		param_info = get_baserel_parampathinfo(root, baserel, outer);
		if (list_member_ptr(done, param_info))
			continue;
		done = lappend(done, param_info);
		clauses = list_concat_copy(baserel->baserestrictinfo,
								   param_info->ppi_clauses);
		with = with_clauses(state, csv_order_clauses(root, clauses));
		with.share *=
			clauselist_selectivity(root,
								   list_difference_ptr(with.file_clauses,
													   state->file_clauses),
								   (int) baserel->relid, JOIN_INNER, NULL);
		if (list_length(with.pushed) > list_length(state->pushed) ||
			list_length(with.file_clauses) > list_length(state->file_clauses))
			add_scan_path(root, baserel, &with, param_info->ppi_rows,
						  param_info->ppi_req_outer);
	}
}

void
csv_get_paths(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	CsvPlanState *state = baserel->fdw_private;
	double		nrows = baserel->rows;

	add_shared_path(root, baserel);
	if (csv_push_order(root, baserel, state))
	{
		nrows = csv_rows_in_order(root, nrows);
		csv_plan_engine(state, CSV_ORDERED_ROWS_OUT);
	}
	add_scan_path(root, baserel, state, nrows, baserel->lateral_relids);
	add_parameterized_paths(root, baserel);
}

/* why these clauses stay in the executor, as in CSV_PLAN_REASONS */
static List *
reasons_of(const CsvPlanState *state, const List *clauses)
{
	List	   *reasons = NIL;
	const ListCell *cell;
	const ListCell *own;
	const ListCell *reason;

	foreach(cell, clauses)
	{
		if (lfirst_node(RestrictInfo, cell)->pseudoconstant)
			continue;
		forboth(own, state->restrictinfo, reason, state->reasons)
			if (lfirst(own) == lfirst(cell))
				break;
		reasons = lappend(reasons, reason != NULL ? lfirst(reason) :
						  makeString(""));
	}
	return reasons;
}

static List *
list_of_set(const Bitmapset *set)
{
	List	   *list = NIL;
	int			member = -1;

	while ((member = bms_next_member(set, member)) >= 0)
		list = lappend_int(list, member);
	return list;
}

ForeignScan *
csv_get_plan(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid,
			 ForeignPath *best_path, List *tlist, List *scan_clauses,
			 Plan *outer_plan)
{
	const CsvPlanState *state = baserel->fdw_private;
	CsvPlanState with;
	bool		has_program;
	List	   *decided;
	List	   *files;
	List	   *params;
	List	   *program = NIL;
	List	   *constants = NIL;
	List	   *private;
	Bitmapset  *hidden = state->wanted;
	List	   *quals = state->having;
	List	   *reasons = NIL;
	List	   *checked;
	List	   *recheck = NIL;
	List	   *equalities;

	/*
	 * A path with parameters also has the clauses that join it with the outer side of
	 * a nested loop.  A shared path has no order, since each process has only some of
	 * the rows.
	 */
	if (best_path->path.param_info != NULL || best_path->path.parallel_aware)
	{
		scan_clauses = csv_order_clauses(root, scan_clauses);
		with = with_clauses(state, scan_clauses);
		state = &with;
	}
	has_program = state->program != NULL &&
		(state->upper || state->pushed != NIL || state->order != NIL);
	decided = list_concat_copy(state->pushed, state->file_clauses);
	checked = decided;
	if (!state->upper)
	{
		quals = list_difference_ptr(scan_clauses, decided);
		reasons = reasons_of(state, quals);
		quals = extract_actual_clauses(quals, false);
		hidden = hidden_attributes(baserel, state, quals);
	}

	/*
	 * If the engine could not decide a row, all clauses decide it in the executor's
	 * order: a clause that is false keeps later clauses from raising an ERROR.
	 */
	if (!state->upper &&
		(decided == NIL || !contain_volatile_functions((Node *) quals)))
		checked = scan_clauses;
	if (!state->upper && decided != NIL)
		recheck = extract_actual_clauses(checked, false);
	/* if the engine decides rows, it does so by its own clauses, even if files vary */
	equalities = csv_find_equalities(root, state, checked,
									 has_program ? state->pushed : checked);
	files = csv_file_quals(root, state, state->file_clauses, &params);
	if (has_program)
	{
		program = list_make1(csv_program_to_node(state->program));
		constants = list_copy(state->program->constant_exprs);
	}
	constants = list_concat(list_concat(constants, params), state->limit);

	/* in the order of CsvPlanItem */
	private = list_make5(list_of_set(state->wanted),
						 list_make1_oid(state->table->relid),
						 list_make1_int(state->first_relid), program,
						 extract_actual_clauses(state->pushed, false));
	private = list_concat(private,
						  list_make5(list_make2(state->results, state->sources),
									 list_of_set(hidden), files, state->order,
									 equalities));
	private = lappend(private, list_make1_int((int) ceil(state->rows_out * 100)));
	private = lappend(lappend(private, reasons), state->upper ? NIL :
					  state->left);
	private = lappend(private, state->sampled ? list_make1_int(true) : NIL);
	return make_foreignscan(tlist, quals, state->upper ? 0 : baserel->relid,
							constants, lcons(csv_build(), private), state->scan_tlist, recheck,
							outer_plan);
}
