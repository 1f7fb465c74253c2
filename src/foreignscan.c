/*
 * foreignscan.c
 *		Plans and runs scans of one foreign table.
 *
 * The plan carries the attribute numbers that the scan must deliver (those in
 * the target list and in the WHERE clauses), and the table where the scan
 * stands for aggregates on it.  Everything else is read from the catalogs again
 * when the scan begins, so that a prepared statement sees options as they are
 * then.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "commands/explain.h"
#include "commands/vacuum.h"
#include "compat.h"
#include "engine.h"
#include "executor/executor.h"
#include "foreignscan.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "scan.h"
#include "source.h"
#include "utils/rel.h"
#include "utils/sampling.h"

/*
 * Cost of finding the records, by page of the file, and of making one value of
 * one row, in units of cpu_operator_cost.
 */
#define CSV_COST_PER_PAGE	40
#define CSV_COST_PER_VALUE	2

/* what an execution keeps */
typedef struct CsvScanState
{
	CsvTable   *table;
	CsvTableScan *scan;
	bool		upper;			/* the scan returns one row of counts */
	bool		done;			/* and has done so */
} CsvScanState;

/* ---- planning ---- */

/*
 * The attributes that the query uses; a whole-row reference uses them all.
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

/*
 * Values of some types can be refused in a subtransaction only (value.c), and
 * before 17 a query that uses parallel workers can have none.  So keep them
 * away from what is not planned yet of this query and those around it.
 */
static void
avoid_parallel_plans(PlannerInfo *root, const CsvPlanState *state)
{
	int			attnum = -1;
	bool		needed = false;

	while ((attnum = bms_next_member(state->wanted, attnum)) >= 0)
		needed |= csv_needs_subtransaction(state->table->columns[attnum - 1].type);
	if (!needed || CSV_HAVE_PARALLEL_SUBTRANSACTIONS)
		return;

	root->glob->parallelModeOK = false;
	for (; root != NULL; root = root->parent_root)
		for (int i = 1; i < root->simple_rel_array_size; i++)
			if (root->simple_rel_array[i] != NULL)
				root->simple_rel_array[i]->consider_parallel = false;
}

static void
csv_get_rel_size(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	CsvPlanState *state = palloc0(sizeof(CsvPlanState));
	int64		nbytes;
	double		ntuples;

	state->table = csv_table_get(foreigntableid);
	csv_table_check(state->table);
	state->wanted = wanted_attributes(baserel, state->table);
	baserel->fdw_private = state;
	avoid_parallel_plans(root, state);

	/* as file_fdw: ten pages where the size is not known */
	nbytes = csv_source_size(state->table, NULL);
	if (nbytes < 0)
		nbytes = 10 * (int64) BLCKSZ;
	state->pages = (BlockNumber) Min((nbytes + BLCKSZ - 1) / BLCKSZ,
									 (int64) MaxBlockNumber);
	if (state->pages < 1)
		state->pages = 1;

	if (baserel->tuples >= 0 && baserel->pages > 0)
	{
		/* ANALYZE has been here: its density, the size of now */
		ntuples = clamp_row_est(baserel->tuples / (double) baserel->pages *
								(double) state->pages);
	}
	else
	{
		int			width = MAXALIGN(baserel->reltarget->width) +
			MAXALIGN(SizeofHeapTupleHeader);

		ntuples = clamp_row_est((double) nbytes / (double) width);
	}
	baserel->tuples = ntuples;
	baserel->rows = clamp_row_est(ntuples *
								  clauselist_selectivity(root,
														 baserel->baserestrictinfo,
														 0, JOIN_INNER, NULL));
}

Cost
csv_structure_cost(const CsvPlanState *state)
{
	return state->pages * (seq_page_cost +
						   CSV_COST_PER_PAGE * cpu_operator_cost);
}

static void
csv_get_paths(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	CsvPlanState *state = baserel->fdw_private;
	Cost		startup_cost = baserel->baserestrictcost.startup;
	Cost		run_cost;

	run_cost = csv_structure_cost(state) + baserel->tuples *
		(cpu_tuple_cost + baserel->baserestrictcost.per_tuple +
		 CSV_COST_PER_VALUE * cpu_operator_cost *
		 bms_num_members(state->wanted));

	add_path(baserel, (Path *)
			 csv_create_foreignscan_path(root, baserel, baserel->rows,
										 startup_cost,
										 startup_cost + run_cost,
										 baserel->lateral_relids));
}

static ForeignScan *
csv_get_plan(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid,
			 ForeignPath *best_path, List *tlist, List *scan_clauses,
			 Plan *outer_plan)
{
	CsvPlanState *state = baserel->fdw_private;
	List	   *wanted = NIL;
	List	   *scan_tlist = NIL;
	int			attnum = -1;

	while ((attnum = bms_next_member(state->wanted, attnum)) >= 0)
		wanted = lappend_int(wanted, attnum);
	if (state->upper)
		scan_tlist = add_to_flat_tlist(NIL,
									   pull_var_clause((Node *) best_path->path.pathtarget->exprs,
													   PVC_INCLUDE_AGGREGATES |
													   PVC_RECURSE_WINDOWFUNCS |
													   PVC_INCLUDE_PLACEHOLDERS));
	return make_foreignscan(tlist, extract_actual_clauses(scan_clauses, false),
							state->upper ? 0 : baserel->relid, NIL,
							list_make2(wanted,
									   list_make1_oid(state->table->relid)),
							scan_tlist, NIL, outer_plan);
}

/* ---- execution ---- */

static Bitmapset *
plan_wanted(const ForeignScan *plan)
{
	Bitmapset  *wanted = NULL;
	ListCell   *cell;

	foreach(cell, (List *) list_nth(plan->fdw_private, CSV_PLAN_WANTED))
		wanted = bms_add_member(wanted, lfirst_int(cell));
	return wanted;
}

static void
csv_begin_scan(ForeignScanState *node, int eflags)
{
	CsvScanState *state = palloc0(sizeof(CsvScanState));
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	List	   *relation = list_nth(plan->fdw_private, CSV_PLAN_RELATION);

	state->table = csv_table_get(linitial_oid(relation));
	csv_table_check(state->table);
	state->upper = plan->scan.scanrelid == 0;
	node->fdw_state = state;
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	state->scan = csv_table_scan_begin(state->table, plan_wanted(plan), NULL,
									   NULL);
	/* attributes that are not wanted stay NULL */
	memset(slot->tts_isnull, !state->upper,
		   slot->tts_tupleDescriptor->natts);
}

static TupleTableSlot *
csv_iterate_scan(ForeignScanState *node)
{
	CsvScanState *state = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	ExecClearTuple(slot);
	if (!state->upper)
	{
		if (csv_table_scan_next(state->scan, slot->tts_values,
								slot->tts_isnull))
			ExecStoreVirtualTuple(slot);
	}
	else if (!state->done)
	{
		int64		count = csv_table_scan_count(state->scan);

		for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
			slot->tts_values[i] = Int64GetDatum(count);
		state->done = true;
		ExecStoreVirtualTuple(slot);
	}
	return slot;
}

static void
csv_rescan(ForeignScanState *node)
{
	CsvScanState *state = node->fdw_state;

	csv_table_scan_rewind(state->scan);
	state->done = false;
}

static void
csv_end_scan(ForeignScanState *node)
{
	CsvScanState *state = node->fdw_state;

	if (state != NULL && state->scan != NULL)
		csv_table_scan_end(state->scan);
}

/* ---- EXPLAIN ---- */

static void
csv_explain_scan(ForeignScanState *node, ExplainState *es)
{
	CsvScanState *state = node->fdw_state;
	const CsvTable *table = state->table;
	const ForeignScan *plan = (const ForeignScan *) node->ss.ps.plan;
	int64		nbytes = csv_source_size(table, NULL);
	int			nattributes = bms_num_members(csv_table_attributes(table));
	int			nwanted = list_length(list_nth(plan->fdw_private,
											   CSV_PLAN_WANTED));

	if (table->filename != NULL)
	{
		ExplainPropertyText("CSV File", table->filename, es);
		if (es->costs && nbytes >= 0)
			ExplainPropertyInteger("CSV File Size", "b", nbytes, es);
	}
	else
		ExplainPropertyText("CSV Program", table->program, es);
	ExplainPropertyText("Engine", state->scan != NULL ?
						csv_table_scan_engine(state->scan) :
						csv_engine_describe(table->engine, nbytes, nwanted), es);
	ExplainPropertyText("Columns",
						psprintf("%d of %d", nwanted, nattributes), es);
	if (state->upper)
		ExplainPropertyText("Engine Aggregates", "count(*)", es);

	if (es->analyze && state->scan != NULL)
	{
		CsvScanStatistics statistics;

		csv_table_scan_statistics(state->scan, &statistics);
		ExplainPropertyInteger("Records", NULL, statistics.records, es);
		ExplainPropertyInteger("Skipped Records", NULL, statistics.skipped, es);
		ExplainPropertyInteger("Chunks", NULL, statistics.chunks, es);
		if (es->timing)
		{
			ExplainPropertyFloat("Read Time", "ms",
								 statistics.read_seconds * 1000, 3, es);
			ExplainPropertyFloat("Copy To Device Time", "ms",
								 statistics.copy_in_seconds * 1000, 3, es);
			ExplainPropertyFloat("Parse Time", "ms",
								 statistics.parse_seconds * 1000, 3, es);
			ExplainPropertyFloat("Copy Back Time", "ms",
								 statistics.copy_out_seconds * 1000, 3, es);
		}
	}
}

/* ---- ANALYZE ---- */

/*
 * A random sample of the rows (Vitter's algorithm Z, as for plain tables).
 */
static int
csv_acquire_sample(Relation relation, int elevel, HeapTuple *rows,
				   int targrows, double *totalrows, double *totaldeadrows)
{
	TupleDesc	tupdesc = RelationGetDescr(relation);
	CsvTable   *table = csv_table_get(RelationGetRelid(relation));
	Datum	   *values = palloc(sizeof(Datum) * tupdesc->natts);
	bool	   *isnull = palloc(sizeof(bool) * tupdesc->natts);
	CsvScanStatistics statistics;
	CsvTableScan *scan;
	ReservoirStateData reservoir;
	double		nseen = 0;
	double		nskip = -1;
	int			nrows = 0;

	csv_table_check(table);
	memset(values, 0, sizeof(Datum) * tupdesc->natts);
	memset(isnull, true, sizeof(bool) * tupdesc->natts);
	reservoir_init_selection_state(&reservoir, targrows);

	scan = csv_table_scan_begin(table, csv_table_attributes(table), NULL,
								NULL);
	while (csv_table_scan_next(scan, values, isnull))
	{
		csv_vacuum_delay_point();
		if (nrows < targrows)
			rows[nrows++] = heap_form_tuple(tupdesc, values, isnull);
		else
		{
			if (nskip < 0)
				nskip = reservoir_get_next_S(&reservoir, nseen, targrows);
			if (nskip <= 0)
			{
				int			k = (int) (targrows *
									   sampler_random_fract(&reservoir.randstate));

				heap_freetuple(rows[k]);
				rows[k] = heap_form_tuple(tupdesc, values, isnull);
			}
			nskip -= 1;
		}
		nseen += 1;
	}
	csv_table_scan_statistics(scan, &statistics);
	csv_table_scan_end(scan);

	*totalrows = nseen;
	*totaldeadrows = 0;
	ereport(elevel,
			(errmsg("\"%s\": file contains %.0f rows; %lld records skipped; %d rows in sample",
					RelationGetRelationName(relation), nseen,
					(long long) statistics.skipped, nrows)));
	return nrows;
}

static bool
csv_analyze_table(Relation relation, AcquireSampleRowsFunc *func,
				  BlockNumber *totalpages)
{
	CsvTable   *table = csv_table_get(RelationGetRelid(relation));
	int64		nbytes = csv_source_size(table, NULL);

	/* a program is not run for the sake of statistics, as in file_fdw */
	if (table->filename == NULL)
		return false;
	*totalpages = (BlockNumber) Min((Max(nbytes, 0) + BLCKSZ - 1) / BLCKSZ,
									(int64) MaxBlockNumber);
	if (*totalpages < 1)
		*totalpages = 1;
	*func = csv_acquire_sample;
	return true;
}

void
csv_foreign_scan_callbacks(FdwRoutine *routine)
{
	routine->GetForeignRelSize = csv_get_rel_size;
	routine->GetForeignPaths = csv_get_paths;
	routine->GetForeignPlan = csv_get_plan;
	routine->BeginForeignScan = csv_begin_scan;
	routine->IterateForeignScan = csv_iterate_scan;
	routine->ReScanForeignScan = csv_rescan;
	routine->EndForeignScan = csv_end_scan;
	routine->ExplainForeignScan = csv_explain_scan;
	routine->AnalyzeForeignTable = csv_analyze_table;
	routine->GetForeignUpperPaths = csv_get_upper_paths;
}
