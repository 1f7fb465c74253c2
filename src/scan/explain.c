/*
 * explain.c
 *		Shows a scan in EXPLAIN.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "batches/resident.h"
#include "compat.h"
#include "scan/execute.h"
#include "scan/join_filter.h"
#include "table/source.h"

/* the most expressions that are shown of those that stay in the executor */
#define CSV_MOST_LEFT	5

/* ---- ORDER BY with LIMIT ---- */

/* as EXPLAIN shows the keys of a Sort */
static char *
key_text(Node *key, int flags, List *context, bool prefix)
{
	bool		descending = (flags & CSV_ORDER_DESCENDING) != 0;
	bool		nulls_first = (flags & CSV_ORDER_NULLS_FIRST) != 0;
	Oid			collation = exprCollation(key);
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text,
						   deparse_expression(key, context, prefix, false));
	if (OidIsValid(collation) && collation != get_typcollation(exprType(key)))
		appendStringInfo(&text, " COLLATE %s",
						 generate_collation_name(collation));
	if (descending)
		appendStringInfoString(&text, " DESC");
	if (nulls_first != descending)
		appendStringInfoString(&text, nulls_first ? " NULLS FIRST" :
							   " NULLS LAST");
	return text.data;
}

/* the sum of both, if they are constants */
static char *
limit_text(Node *count, Node *offset, List *context, bool prefix)
{
	char	   *text;

	if (IsA(count, Const) && IsA(offset, Const))
		return psprintf(INT64_FORMAT,
						DatumGetInt64(((Const *) count)->constvalue) +
						(((Const *) offset)->constisnull ? 0 :
						 DatumGetInt64(((Const *) offset)->constvalue)));
	text = deparse_expression(count, context, prefix, false);
	if (IsA(offset, Const) && (((Const *) offset)->constisnull ||
							   DatumGetInt64(((Const *) offset)->constvalue) == 0))
		return text;
	return psprintf("%s + %s", text,
					deparse_expression(offset, context, prefix, false));
}

/*
 * Show `order` and the expressions of the limit.  Relations are numbered as in the
 * plan.
 */
static void
explain_order(List *order, Node *count, Node *offset, List *context,
			  bool prefix, ExplainState *es)
{
	List	   *texts = NIL;
	ListCell   *key;
	ListCell   *flag;

	forboth(key, linitial(order), flag, lsecond(order))
		texts = lappend(texts, key_text(lfirst(key), lfirst_int(flag), context,
										prefix));
	ExplainPropertyList("Engine Sort Key", texts, es);
	ExplainPropertyText("Engine Limit",
						limit_text(count, offset, context, prefix), es);
}

/* ---- what the engine does ---- */

/*
 * number of the table, or of the first relation of an upper scan, in the finished plan
 */
static int
plan_relid(const ForeignScan *plan)
{
	return plan->scan.scanrelid != 0 ? (int) plan->scan.scanrelid :
		bms_next_member(plan->fs_relids, -1);
}

/*
 * Let the Vars of an expression that setrefs.c has not seen refer to the relation by
 * its number in the finished plan.
 */
static void
adopt_relation(Node *node, const ForeignScan *plan)
{
	int			moved;
	List	   *vars = pull_var_clause(node, PVC_RECURSE_AGGREGATES);
	ListCell   *cell;

	/* setrefs.c adds the same number to all relations of a query */
	moved = plan_relid(plan) -
		linitial_int(list_nth(plan->fdw_private, CSV_PLAN_FIRST_RELID));

	/* pull_var_clause returns the nodes themselves */
	foreach(cell, vars)
	{
		Var		   *var = lfirst_node(Var, cell);

		var->varno += moved;
	}
}

/* the WHERE clauses that the engine has */
static List *
engine_quals(const ForeignScan *plan)
{
	return list_nth(plan->fdw_private, CSV_PLAN_QUALS);
}

/* conditions on the table's columns, as EXPLAIN shows them */
static char *
quals_text(List *quals, ForeignScan *plan, ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   (Plan *) plan, NIL);
	Node	   *expr = (Node *) make_ands_explicit(copyObject(quals));

	adopt_relation(expr, plan);
	return deparse_expression(expr, context, csv_explain_prefix(es), false);
}

/* show which files are read */
static void
explain_files(const CsvScanState *state, ForeignScan *plan,
			  ExplainState *es)
{
	List	   *quals = list_nth(plan->fdw_private, CSV_PLAN_FILE_QUALS);

	if (quals == NIL)
		return;
	ExplainPropertyText("File Filter", quals_text(quals, plan, es), es);
	if (state->files != NULL && state->files->nleft >= 0)
		ExplainPropertyText("Files",
							psprintf("%d of %d",
									 state->files->nleft,
									 state->table->nfiles), es);
}

/*
 * EXPLAIN does not name the relation of an aggregate's scan: do as postgres_fdw does
 */
static void
explain_relation(const ForeignScan *plan, Oid relid, ExplainState *es)
{
	int			number = plan_relid(plan);
	const char *name = get_rel_name(relid);
	const char *alias = list_nth(es->rtable_names, number - 1);
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, "Aggregate on (");
	if (es->verbose)
		appendStringInfo(&text, "%s.",
						 quote_identifier(get_namespace_name_or_temp(get_rel_namespace(relid))));
	appendStringInfoString(&text, quote_identifier(name));
	if (alias == NULL)
		alias = rt_fetch(number, es->rtable)->eref->aliasname;
	if (strcmp(alias, name) != 0)
		appendStringInfo(&text, " %s", quote_identifier(alias));
	appendStringInfoChar(&text, ')');
	ExplainPropertyText("Relations", text.data, es);
}

/* show the columns that each join filter tests, as (a, b) */
static void
explain_join_filters(const List *scan_filters, List *context, bool prefix,
					 ExplainState *es)
{
	List	   *texts = NIL;
	ListCell   *cell;

	foreach(cell, scan_filters)
	{
		const CsvScanFilter *scan_filter = lfirst(cell);
		StringInfoData text;

		initStringInfo(&text);
		for (int i = 0; i < scan_filter->filter->nkeys; i++)
		{
			if ((scan_filter->filter->used & 1U << i) == 0)
				continue;
			appendStringInfoString(&text, text.len == 0 ? "(" : ", ");
			appendStringInfoString(&text,
								   deparse_expression((Node *) scan_filter->columns[i],
													  context, prefix, false));
		}
		appendStringInfoChar(&text, ')');
		texts = lappend(texts, text.data);
	}
	if (texts != NIL)
		ExplainPropertyList("Engine Join Filter", texts, es);
}

/* an expression and a reason, unless none is known */
static List *
add_left(List *texts, Node *expr, const Node *reason, List *context)
{
	if (strVal(reason)[0] == '\0')
		return texts;
	return lappend(texts,
				   psprintf("%s: %s",
							deparse_expression(expr, context, true, false),
								   strVal(reason)));
}

/* show what stays in the executor, and why */
static void
explain_left(ForeignScan *plan, ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   (Plan *) plan, NIL);
	List	   *left = copyObject(list_nth(plan->fdw_private, CSV_PLAN_LEFT));
	List	   *texts = NIL;
	int			n;
	ListCell   *cell;
	ListCell   *reason;

	forboth(cell, plan->scan.plan.qual,
			reason, (List *) list_nth(plan->fdw_private, CSV_PLAN_REASONS))
		texts = add_left(texts, lfirst(cell), lfirst(reason), context);
	foreach(cell, left)
	{
		adopt_relation(linitial(lfirst(cell)), plan);
		texts = add_left(texts, linitial(lfirst(cell)), lsecond(lfirst(cell)),
						 context);
	}
	n = list_length(texts);
	if (n > CSV_MOST_LEFT)
		texts = lappend(list_truncate(texts, CSV_MOST_LEFT),
						psprintf("and %d more", n - CSV_MOST_LEFT));
	if (texts != NIL)
		ExplainPropertyList("Not in Engine", texts, es);
}

/* Show what the engine does beyond finding rows. */
static void
explain_pushdown(ForeignScanState *node, ExplainState *es)
{
	const CsvScanState *state = node->fdw_state;
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   (Plan *) plan, NIL);
	bool		prefix = csv_explain_prefix(es);
	List	   *keys = NIL;
	List	   *aggregates = NIL;
	ListCell   *cell;

	if (engine_quals(plan) != NIL)
		ExplainPropertyText("Engine Filter",
							quals_text(engine_quals(plan), plan, es), es);
	if (csv_plan_has_order(plan))
	{
		List	   *order = copyObject(list_nth(plan->fdw_private,
											   CSV_PLAN_ORDER));
		int			n = list_length(plan->fdw_exprs);

		adopt_relation(linitial(order), plan);
		explain_order(order, list_nth(plan->fdw_exprs, n - 2),
						  list_nth(plan->fdw_exprs, n - 1), context, prefix, es);
	}
	explain_join_filters(state->join_filters, context, prefix, es);
	if (plan->scan.scanrelid != 0)
		return;
	foreach(cell, plan->fdw_scan_tlist)
	{
		Expr	   *expr = lfirst_node(TargetEntry, cell)->expr;
		char	   *text = deparse_expression((Node *) expr, context, prefix,
											  false);

		if (IsA(expr, Aggref))
			aggregates = lappend(aggregates, text);
		else
			keys = lappend(keys, text);
	}
	if (keys != NIL)
		ExplainPropertyList("Engine Group Key", keys, es);
	if (aggregates != NIL)
		ExplainPropertyList("Engine Aggregates", aggregates, es);
}

/*
 * Do, or would, all wanted columns come from the columns that the session keeps?
 * *ncolumns: how many of the wanted columns are in the file.
 */
static bool
find_resident(const CsvScanState *state, const ForeignScan *plan,
			  int *ncolumns)
{
	bool		pushes = list_nth(plan->fdw_private, CSV_PLAN_PROGRAM) != NIL;
	int64		nrows;

	if (state->scan != NULL)
	{
		const CsvBatches *batches = state->scan->batches;

		*ncolumns = batches->layout->ncolumns;
		if (state->has_statistics)
			return state->statistics.batches.chunks == 0 &&
				state->statistics.records > 0;
		return batches->all_resident;
	}
	return csv_resident_exist(state->table, csv_plan_set(plan, CSV_PLAN_WANTED),
						  pushes ? csv_plan_set(plan, CSV_PLAN_HIDDEN) : NULL,
						  csv_plan_has_order(plan), ncolumns, &nrows);
}

/* show the scans that did not read the file, and the space for their rows */
static void
explain_lookup(const CsvLookup *lookup, ExplainState *es)
{
	if (lookup->nlookups == 0)
		return;
	ExplainPropertyInteger(lookup->disk_bytes > 0 ? "Rescans from Disk" :
						   "Rescans from Memory", NULL, lookup->nlookups, es);
	ExplainPropertyInteger("Rescan Memory Usage", "kB",
						   (lookup->most_bytes + 1023) / 1024, es);
	if (lookup->disk_bytes > 0)
		ExplainPropertyInteger("Rescan Disk Usage", "kB",
							   (lookup->disk_bytes + 1023) / 1024, es);
}

static void
show_number(const char *label, int64 number, bool is_shown, ExplainState *es)
{
	if (is_shown)
		ExplainPropertyInteger(label, NULL, number, es);
}

/* show what the scan did */
static void
explain_execution(const CsvScanState *state, const ForeignScan *plan,
				  bool has_device, ExplainState *es)
{
	CsvScanStatistics statistics;
	const CsvBatchesStatistics *batches = &statistics.batches;
	int64		disk_bytes = 0;
	int64		ngroupings = state->aggregation == NULL ? 0 :
		csv_aggregation_batches(state->aggregation, &disk_bytes);

	if (state->has_statistics)
		statistics = state->statistics;
	else
		csv_table_scan_statistics(state->scan, &statistics);
	show_number("Records", statistics.records, true, es);
	show_number("Skipped Records", statistics.skipped, true, es);
	show_number("Values Set to NULL", statistics.set_null, state->table->set_null,
				es);
	show_number("Records with Surplus Fields", statistics.surplus,
				state->scan->batches->layout->wants_surplus, es);
	show_number("Rows Removed by Engine Filter", batches->filtered,
				engine_quals(plan) != NIL, es);
	show_number("Rows Removed by Join Filter", statistics.unmatched,
				state->join_filters != NIL, es);
	show_number("Rows Removed by Engine Limit", batches->beyond,
				csv_plan_has_order(plan), es);
	show_number("Chunks", batches->chunks, true, es);
	show_number("Threads", batches->threads, batches->threads > 1, es);
	show_number("Chunks Evaluated by GPU", batches->answered,
				batches->answered > 0, es);
	show_number("Chunks Grouped on GPU", batches->held, batches->held > 0, es);
	show_number("Engine Group Batches", ngroupings, ngroupings > 0, es);
	if (disk_bytes > 0)
		ExplainPropertyInteger("Engine Group Disk Usage", "kB",
							   (disk_bytes + 1023) / 1024, es);
	if (state->lookup != NULL)
		explain_lookup(state->lookup, es);
	if (!es->timing)
		return;
	ExplainPropertyFloat("Read Time", "ms", batches->read_seconds * 1000, 3, es);
	if (has_device)
		ExplainPropertyFloat("Copy To Device Time", "ms",
							 batches->copy_in_seconds * 1000, 3, es);
	ExplainPropertyFloat("Parse Time", "ms", batches->parse_seconds * 1000, 3, es);
	if (has_device)
		ExplainPropertyFloat("Copy Back Time", "ms",
							 batches->copy_out_seconds * 1000, 3, es);
}

void
csv_explain_scan(ForeignScanState *node, ExplainState *es)
{
	CsvScanState *state = node->fdw_state;
	const CsvTable *table = state->table;
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	int64		nbytes = csv_source_size(table).file_bytes;
	int			nattributes = bms_num_members(csv_table_attributes(table));
	int			nwanted = list_length(list_nth(plan->fdw_private,
											   CSV_PLAN_WANTED));
	int			ncolumns = 0;
	bool		resident = table->settings.resident &&
		find_resident(state, plan, &ncolumns);
	const char *engine = state->scan != NULL ?
		state->scan->batches->engine : NULL;

	if (plan->scan.scanrelid == 0)
		explain_relation(plan, table->relid, es);
	if (table->filename != NULL)
	{
		ExplainPropertyText("CSV File", table->filename, es);
		if (es->costs && nbytes >= 0)
			ExplainPropertyInteger("CSV File Size", "b", nbytes, es);
		if (es->costs && list_nth(plan->fdw_private, CSV_PLAN_SAMPLED) != NIL)
			ExplainPropertyText("Statistics", "sampled", es);
		explain_files(state, plan, es);
	}
	else
		ExplainPropertyText("CSV Program", table->program, es);

	/*
	 * Rows of resident columns come from the CPU's memory.  The CPU evaluates them if
	 * there is no GPU.
	 */
	if (engine == NULL)
	{
		const CsvSettings settings = table->settings;
		int64		data_size = csv_source_size(table).data_bytes;
		bool		is_shared = plan->scan.plan.parallel_aware;
		CsvGpuUse	gpu = csv_choose_gpu(&settings, data_size, nwanted, is_shared ? 0 :
										 csv_plan_rows_out(plan), false);

		/* processes that share a scan do not wait for a GPU */
		if ((resident && (state->pushdown.program == NULL || is_shared ||
						  csv_engine_lacks_gpu(&settings))) ||
			(is_shared && gpu == CSV_GPU_AWAITED))
			gpu = CSV_GPU_NONE;
		engine = csv_engine_name(&settings, gpu != CSV_GPU_NONE);
	}
	ExplainPropertyText("Engine", engine, es);
	ExplainPropertyText("Columns",
						psprintf("%d of %d", nwanted, nattributes), es);
	if (table->settings.resident && table->filename != NULL)
		ExplainPropertyText("Resident Columns",
							psprintf("%d of %d", resident ? ncolumns : 0,
									 ncolumns), es);
	explain_pushdown(node, es);
	explain_left(plan, es);

	if (es->analyze && state->scan != NULL)
		explain_execution(state, plan, strncmp(engine, "cuda", 4) == 0, es);
}
