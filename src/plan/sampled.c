/*
 * sampled.c
 *		Statistics of tables that ANALYZE has not seen as the files are now.
 *
 * The first plan over a table's files reads a sample of them.  The session
 * keeps its statistics, by the declaration of the table and the files'
 * identities. The statistics of a column are computed when the planner asks for
 * them.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "plan/plan_state.h"
#include "scan/execute.h"
#include "scan/value.h"
#include "table/declaration.h"
#include "table/interrupts.h"

/* if a session has more, it forgets all */
#define MOST_KEPT_BYTES		((Size) 16 * 1024 * 1024)

/*
 * samples in a statement; attempts to read a sample, if it fails or takes long
 */
#define MOST_SAMPLES		50
#define MOST_ATTEMPTS		3

/* of a column; with attnum 0, of the table */
typedef struct KeptStatistics
{
	uint64		key[5];			/* CsvPlanState.sample_key, and attnum */
	double		row_bytes;		/* of the table; below 0: of failed attempts */
	int32		width;			/* of the column; 0 in both: not known yet */
	bool		was_asked;		/* the tuple is known */
	HeapTuple	tuple;			/* of pg_statistic; NULL: the column has none */
} KeptStatistics;

static MemoryContext kept_context = NULL;
static HTAB *kept = NULL;
static get_relation_stats_hook_type next_hook = NULL;

/* the entry of a column; it lives until the next call */
static KeptStatistics *
find_kept(const CsvPlanState *state, AttrNumber attnum)
{
	KeptStatistics entry = {.row_bytes = 0};
	KeptStatistics *found;
	bool		was_there;

	if (kept_context == NULL)
		kept_context = AllocSetContextCreate(TopMemoryContext,
											 "csv_gpu_fdw samples",
											 ALLOCSET_SMALL_SIZES);
	if (kept != NULL &&
		MemoryContextMemAllocated(kept_context, true) > MOST_KEPT_BYTES)
	{
		MemoryContextReset(kept_context);
		kept = NULL;
	}
	if (kept == NULL)
	{
		HASHCTL		control = {.keysize = sizeof(entry.key),
		.entrysize = sizeof(entry), .hcxt = kept_context};

		kept = hash_create("csv_gpu_fdw samples", 64, &control,
						   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	memcpy(entry.key, state->sample_key, sizeof(state->sample_key));
	entry.key[4] = (uint64) attnum;
	found = hash_search(kept, &entry, HASH_ENTER, &was_there);
	if (!was_there)
		*found = entry;
	return found;
}

/* for csv_attempt() */
static bool
read_sample(void *arg)
{
	CsvPlanState *state = arg;
	Bitmapset  *attributes = NULL;
	int			attnum = -1;

	csv_begin_step();
	while ((attnum = bms_next_member(state->wanted, attnum)) >= 0)
	{
		const CsvTableColumn *column = &state->table->columns[attnum - 1];

		/* tsquery's input function may send a NOTICE */
		if (column->virtual_kind == CSV_VIRTUAL_NONE &&
			csv_is_pure_input(column->type) && column->type != TSQUERYOID &&
			column->type != TSQUERYARRAYOID)
			attributes = bms_add_member(attributes, attnum);
	}
	state->sample = csv_sample_rows(state->table, attributes);
	csv_end_step();
	return true;
}

/* reads the wanted columns, once for a plan; no ERROR but an interrupt's */
static bool
have_sample(PlannerInfo *root, CsvPlanState *state)
{
	static TimestampTz statement = 0;
	static int	nsamples;
	ErrorData  *error;

	if (state->sample != NULL)
		return true;
	if (statement != GetCurrentStatementStartTimestamp())
		nsamples = 0;
	statement = GetCurrentStatementStartTimestamp();
	if (nsamples == MOST_SAMPLES || !csv_may_open_subtransaction() ||
		find_kept(state, 0)->row_bytes <= -MOST_ATTEMPTS)
		return false;
	nsamples++;
	error = csv_attempt(read_sample, state, root->planner_cxt, true);
	if (error != NULL && !csv_leave_step())
		ReThrowError(error);
	if (state->sample != NULL)
		find_kept(state, 0)->row_bytes = state->sample->row_bytes;
	else if (find_kept(state, 0)->row_bytes <= 0)
		find_kept(state, 0)->row_bytes -= 1;
	return state->sample != NULL;
}

/* has ANALYZE seen the files as they are, or is that not known? */
static bool
is_analyzed(const RelOptInfo *baserel, const CsvPlanState *state)
{
	PgStat_StatTabEntry *entry;

	if (baserel->tuples < 0)
		return false;
	entry = pgstat_fetch_stat_tabentry(state->table->relid);
	return entry == NULL || entry->last_analyze_time == 0 ||
		entry->last_analyze_time > time_t_to_timestamptz(state->modified / 1000000000) +
		state->modified / 1000 % USECS_PER_SEC;
}

double
csv_plan_sample(PlannerInfo *root, RelOptInfo *baserel, CsvPlanState *state)
{
	double		row_bytes;
	ListCell   *cell;

	if (!state->table->settings.sampled_statistics || state->nbytes <= 0 ||
		state->table->filename == NULL || is_analyzed(baserel, state))
		return 0;
	csv_hash_declaration((uint8 *) state->sample_key, state->table);
	state->sample_key[0] ^= state->file_state;
	row_bytes = find_kept(state, 0)->row_bytes;
	if (row_bytes <= 0 && have_sample(root, state))
		row_bytes = state->sample->row_bytes;
	if (row_bytes <= 0)
		return 0;
	state->sampled = true;

	/* widths, which the planner has guessed by types */
	foreach(cell, baserel->reltarget->exprs)
	{
		const Var  *var = lfirst(cell);
		int32	   *width;
		int32		sampled;

		if (!IsA(var, Var) || var->varattno <= 0 ||
			get_typlen(var->vartype) != -1)
			continue;
		width = &baserel->attr_widths[var->varattno - baserel->min_attr];
		sampled = find_kept(state, var->varattno)->width;
		if (sampled == 0 && have_sample(root, state))
		{
			sampled = csv_sampled_width(state->sample, var->varattno);
			sampled = sampled > 0 ? sampled : *width;
			find_kept(state, var->varattno)->width = sampled;
		}
		if (sampled == 0)
			continue;
		baserel->reltarget->width += sampled - *width;
		*width = sampled;
	}
	return clamp_row_est((double) state->nbytes / row_bytes);
}

/* get_relation_stats_hook */
static bool
supply_statistics(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum,
				  VariableStatData *vardata)
{
	int			i = root->simple_rel_array_size;
	RelOptInfo *rel = NULL;
	CsvPlanState *state = NULL;
	KeptStatistics *entry = NULL;

	while (rel == NULL && --i > 0)
		if (root->simple_rte_array[i] == rte)
			rel = root->simple_rel_array[i];
	if (rel != NULL && rel->fdwroutine != NULL && attnum > 0 &&
		rel->fdwroutine->AnalyzeForeignTable == csv_analyze_table)
		state = rel->fdw_private;
	if (state != NULL && state->sampled)
		entry = find_kept(state, attnum);
	if (entry != NULL && !entry->was_asked && have_sample(root, state))
	{
		HeapTuple	tuple = csv_column_statistics(state->sample, rte->relid,
												  attnum, rel->tuples);
		MemoryContext outer = MemoryContextSwitchTo(kept_context);

		entry = find_kept(state, attnum);
		entry->tuple = heap_copytuple(tuple);
		entry->was_asked = true;
		MemoryContextSwitchTo(outer);
	}
	if (entry == NULL || entry->tuple == NULL)
		return next_hook != NULL && next_hook(root, rte, attnum, vardata);
	attnum -= FirstLowInvalidHeapAttributeNumber;
	vardata->statsTuple = heap_copytuple(entry->tuple);
	vardata->freefunc = heap_freetuple;
	vardata->acl_ok = all_rows_selectable != NULL &&
		all_rows_selectable(root, (Index) i, bms_make_singleton(attnum));
	return true;
}

void
csv_sampled_init(void)
{
	next_hook = get_relation_stats_hook;
	get_relation_stats_hook = supply_statistics;
}
