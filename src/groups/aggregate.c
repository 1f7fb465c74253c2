/*
 * aggregate.c
 *		Aggregates that the engine computes: from groups to rows.
 *
 *	1. The scan evaluates each batch and adds its rows to the evaluator's groups.
 *	2. Rows that the engine could not decide come out of the scan.  These rows are
 *	   evaluated here as in the executor, with the plan's own expressions and their
 *	   ERRORs.  Their values are added to the same groups, or beside them if no lane
 *	   holds them (extras.c).
 *	3. If groups take more memory than the executor's hash tables may, no further
 *	   groups are made.  Rows of other groups go to temporary files (spill.h), by a
 *	   part of the hash of their keys.  Later the rows of each file are grouped by
 *	   themselves, if necessary with further files.  If the engine has put rows
 *	   together already, their CsvPartial goes to a file.  Values that COUNT_DISTINCT
 *	   would have to keep go to other files in the same way, and are counted before
 *	   their groups come out.
 *	4. If there are many groups, a device may hold some (CsvAnswer.held).  If nothing
 *	   was spilled, they come out as they are, except groups with keys that the
 *	   evaluator has, too: these are added to the evaluator's groups.  Otherwise all
 *	   held groups are added to the evaluator.
 *	5. At the end each group becomes a row of results (results.h).  Groups come as
 *	   CsvPartialGroups, piece by piece, from a device, from threads that have merged
 *	   them, and then from the evaluator.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/numeric.h"

#include "groups/aggregate.h"
#include "groups/results.h"
#include "groups/spill.h"
#include "query/operate.h"
#include "table/memory.h"

/*
 * Rows are divided among CSV_SPILL_FILES files at a time.  Rows that were divided
 * MOST_LEVELS times are grouped whatever memory that takes.
 */
#define MOST_LEVELS			8

/* part of the memory that values may take even if groups take all of it */
#define VALUES_SHARE		4

/* rows without texts between two resets of their memory */
#define ROWS_PER_RESET	64

/* groups whose rows are made at a time: these stay in the caches */
#define ROOM_GROUPS		64

/* a key, or an aggregate of the query, for single rows */
typedef struct Source
{
	ExprState  *argument;		/* NULL: none */
	ExprState  *filter;
	CsvRegister reg;
} Source;

struct CsvAggregation
{
	const CsvProgram *program;
	CsvPartialLayout partial;
	MemoryContext context;
	CsvEvaluation *evaluation;
	CsvEvaluator *evaluator;	/* the scan's */
	bool		has_held;		/* groups come from the device first */
	bool		was_held;		/* some groups have come from there */
	uint32_t	nevaluated;		/* groups in the evaluator, before held groups come */
	CsvPartialGroups piece;		/* groups from the device or the evaluator */
	uint32_t	piece_first;	/* number of its first group there */
	uint32_t	piece_next;		/* the next group to come */
	const CsvGroupRows *made;	/* rows of the piece's groups from made_first to
								 * made_end */
	uint32_t	made_first;
	uint32_t	made_end;
	CsvGroupRows *room;			/* for some rows, if no thread has made them */
	MemoryContext room_context; /* of values that are too large for it */
	uint32_t	nrows;			/* rows that were made */
	CsvExtras	extras;

	CsvSpill	rows;
	CsvSpill	values;			/* of COUNT_DISTINCT */
	int64		nbatches;
	Datum	   *wide;			/* of the current row: arguments that no lane holds, by
								 * aggregate of the query */
	Datum	   *wide_keys;		/* of the current row: keys that no lane holds */

	ExprContext *econtext;		/* for single rows */
	TupleTableSlot *row;
	ExprState  *quals;
	Source	   *keys;
	Source	   *sources;		/* of each aggregate of the query */

	CsvResults *results;
	uint32_t	rows_per_reset;
};

/* ---- begin ---- */

/* expressions of keys and arguments, for single rows */
static void
prepare_rows(CsvAggregation *aggregation, ForeignScanState *node, List *sources)
{
	const CsvProgram *program = aggregation->program;
	const CsvResults *results = aggregation->results;
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	uint32_t	nkeys = program->query.nkeys;
	int			i = 0;
	ListCell   *cell;

	aggregation->keys = palloc0(sizeof(Source) * Max(nkeys, 1));
	aggregation->wide_keys = palloc0(sizeof(Datum) * Max(nkeys, 1));
	for (int k = 0; k < results->n; k++)
	{
		const CsvResult *result = &results->results[k];
		TargetEntry *entry = list_nth_node(TargetEntry, plan->fdw_scan_tlist,
										   k);

		if (result->kind != CSV_RESULT_KEY)
			continue;
		aggregation->keys[result->first].argument = ExecInitExpr(entry->expr,
																 &node->ss.ps);
		aggregation->keys[result->first].reg = result->reg;
	}

	aggregation->sources = palloc0(sizeof(Source) *
								   Max(list_length(sources), 1));
	aggregation->wide = palloc0(sizeof(Datum) *
								Max(program->query.naggregates, 1));
	foreach(cell, sources)
	{
		Source	   *source = &aggregation->sources[i];
		int			number = lfirst_int(cell);
		const CsvResult *result = &results->results[number];
		Aggref	   *aggref = result->aggref;
		TargetEntry *argument = aggref == NULL ?
			list_nth(plan->fdw_scan_tlist, number) :
			aggref->args != NIL ? linitial(aggref->args) : NULL;

		if (argument != NULL)
		{
			Expr	   *expr = argument->expr;

			source->reg = program->registers[result->argument];
			if (i == result->shown)
			{
				expr = csv_scale_function(expr);
				source->reg.type = INT4OID;
			}
			source->argument = ExecInitExpr(expr, &node->ss.ps);
		}
		if (aggref != NULL && aggref->aggfilter != NULL)
			source->filter = ExecInitExpr(aggref->aggfilter, &node->ss.ps);
		i++;
	}
}

CsvAggregation *
csv_aggregation_create(ForeignScanState *node, const CsvProgram *program,
					   TupleDesc row_desc, List *quals, List *results,
					   List *sources)
{
	CsvAggregation *aggregation = palloc0(sizeof(CsvAggregation));
	EState	   *estate = node->ss.ps.state;

	aggregation->program = program;
	aggregation->context = CurrentMemoryContext;
	csv_extras_init(&aggregation->extras, program);
	csv_spill_init(&aggregation->rows);
	csv_spill_init(&aggregation->values);
	aggregation->econtext = CreateExprContext(estate);
	aggregation->row = ExecInitExtraTupleSlot(estate, row_desc,
											  &TTSOpsVirtual);
	memset(aggregation->row->tts_isnull, true, row_desc->natts);
	fix_opfuncids((Node *) quals);
	aggregation->quals = ExecInitQual(quals, &node->ss.ps);
	aggregation->results =
		csv_results_create(program, (ForeignScan *) node->ss.ps.plan, results,
						   aggregation->econtext);
	aggregation->rows_per_reset = aggregation->results->any_text ? 1 :
		ROWS_PER_RESET;
	aggregation->results->layout = &aggregation->partial;
	aggregation->room_context =
		AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_fdw groups",
							  ALLOCSET_START_SMALL_SIZES);
	prepare_rows(aggregation, node, sources);
	return aggregation;
}

/* ---- rows that the engine could not decide ---- */

/*
 * A datum as a lane's value, for keys and distinct values.  False if a number stands
 * for it.
 */
static bool
value_to_compare(const CsvAggregation *aggregation, const CsvRegister *reg,
				 Datum datum, CsvValue *value)
{
	if (csv_value_of_datum(reg, datum, value))
		return true;
	value->value.decimal = csv_extras_stand_in(&aggregation->extras, datum);
	return false;
}

/* a datum as a lane's value, for extremes; false: the lane cannot hold it */
static bool
value_of_extreme(const Source *source, bool is_max, Datum datum, CsvValue *value)
{
	CsvInt128  *decimal = &value->value.decimal;
	int			scale;

	if (!csv_value_of_datum(&source->reg, datum, value))
		return false;
	if (source->reg.type != NUMERICOID || !source->reg.scaled)
		return true;
	scale = csv_numeric_scale(datum);
	if (scale >= (int) csv_power_of_ten(CSV_PACKED_DIGITS) ||
		!csv_decimal_rescale(*decimal, CSV_PACKED_DIGITS, decimal))
		return false;
	*decimal += is_max ? scale : -scale;
	return csv_decimal_fits(*decimal);
}

static void
out_of_memory(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("out of memory")));
}

/* ---- rows and values for which there is no room ---- */

/* does a key's value stand for a numeric? */
static bool
is_stand_in(const CsvAggregation *aggregation, uint32_t key, const CsvValue *value)
{
	return aggregation->program->keys[key].lane == CSV_LANE_DECIMAL &&
		value->state == CSV_LANE_VALUE && !csv_decimal_fits(value->value.decimal);
}

/* the numeric that a key's value stands for; 0: none */
static Datum
wide_key(const CsvAggregation *aggregation, uint32_t key, const CsvValue *value)
{
	return is_stand_in(aggregation, key, value) ? aggregation->wide_keys[key] : 0;
}

/* the argument that no lane holds; 0: none */
static Datum
wide_argument(const CsvAggregation *aggregation, uint32_t aggregate,
			  const CsvValue *value)
{
	return value->state == CSV_LANE_UNDECIDED &&
		aggregation->program->aggregate[aggregate].lane == CSV_LANE_DECIMAL ?
		aggregation->wide[aggregate] : 0;
}

/* as CsvSpillFn; ERROR if writing fails */
static bool
spill_row(void *arg, uint64_t hash, const CsvValue *keys,
		  const CsvValue *values, const CsvPartial *partial)
{
	CsvAggregation *aggregation = arg;
	const CsvProgram *program = aggregation->program;
	BufFile    *file = csv_spill_file(&aggregation->rows, hash);
	bool		is_partial = partial != NULL;

	csv_spill_write(file, &is_partial, sizeof(is_partial));
	for (uint32_t i = 0; i < program->query.nkeys; i++)
		csv_spill_write_value(file, program->keys[i].lane, &keys[i],
							  wide_key(aggregation, i, &keys[i]));
	if (is_partial)
		csv_spill_write_partial(file, program, &aggregation->partial, partial);
	for (uint32_t i = 0; !is_partial && i < program->query.naggregates; i++)
		csv_spill_write_value(file, program->aggregate[i].lane, &values[i],
							  wide_argument(aggregation, i, &values[i]));
	return true;
}

/* as CsvSpillValueFn; ERROR if writing fails */
static bool
spill_value(void *arg, uint64_t hash, uint32_t aggregate, uint32_t group,
			const CsvValue *value)
{
	CsvAggregation *aggregation = arg;
	BufFile    *file = csv_spill_file(&aggregation->values, hash);

	csv_spill_write(file, &group, sizeof(group));
	csv_spill_write(file, &aggregate, sizeof(aggregate));
	csv_spill_write_value(file, aggregation->program->aggregate[aggregate].lane,
						  value, 0);
	return true;
}

/* ---- single rows ---- */

/*
 * Is a value a float whose square is too large?  A float whose square is too small
 * counts as 0.
 */
static bool
is_beyond_squares(const CsvAggregation *aggregation, uint32_t aggregate,
				  const CsvValue *value)
{
	const CsvAggregate *kept = &aggregation->program->aggregate[aggregate];
	double		high;
	double		low;

	return kept->kind == CSV_AGGREGATE_SUM_SQUARES &&
		kept->lane == CSV_LANE_FLOAT &&
		fabs(value->value.real) > 1 &&
		!csv_float_square(value->value.real, &high, &low);
}

/* the value of the row in aggregation->row for an aggregate */
static CsvLaneState
get_argument(CsvAggregation *aggregation, uint32_t aggregate, CsvValue *value)
{
	const Source *source = &aggregation->sources[aggregate];
	CsvAggregateKind kind = aggregation->program->aggregate[aggregate].kind;
	ExprContext *econtext = aggregation->econtext;
	Datum		datum;
	bool		isnull;

	if (source->filter != NULL)
	{
		datum = ExecEvalExpr(source->filter, econtext, &isnull);
		if (isnull || !DatumGetBool(datum))
			return CSV_LANE_NULL;
	}
	if (source->argument == NULL)
		return CSV_LANE_VALUE;
	datum = ExecEvalExpr(source->argument, econtext, &isnull);
	if (isnull)
		return CSV_LANE_NULL;
	switch (kind)
	{
		case CSV_AGGREGATE_COUNT:
			return CSV_LANE_VALUE;
		case CSV_AGGREGATE_COUNT_DISTINCT:
			(void) value_to_compare(aggregation, &source->reg, datum, value);
			return CSV_LANE_VALUE;
		case CSV_AGGREGATE_MIN:
		case CSV_AGGREGATE_MAX:
			if (value_of_extreme(source, kind == CSV_AGGREGATE_MAX, datum, value))
				return CSV_LANE_VALUE;
			break;
		default:
			if (csv_value_of_datum(&source->reg, datum, value) &&
				!is_beyond_squares(aggregation, aggregate, value))
				return CSV_LANE_VALUE;
			break;
	}
	aggregation->wide[aggregate] = datum;
	return CSV_LANE_UNDECIDED;
}

/*
 * Add a row to its group, or spill it if there is no room for the group.  partial:
 * NULL, or the result of several rows, instead of `values`.
 */
static void
add_values(CsvAggregation *aggregation, const CsvValue *keys,
		   const CsvValue *values, const CsvPartial *partial)
{
	uint64_t	hash;
	uint32_t	group = csv_evaluator_find_group(aggregation->evaluator, keys,
												 &hash);

	if (group == CSV_GROUPS_FULL)
	{
		spill_row(aggregation, hash, keys, values, partial);
		return;
	}
	if (group == CSV_NO_GROUP ||
		!(partial != NULL ?
		  csv_evaluator_add_partial(aggregation->evaluator, group, partial) :
		  csv_evaluator_add_row(aggregation->evaluator, group, values)))
		out_of_memory();
	for (uint32_t i = 0; i < aggregation->program->query.nkeys; i++)
		if (is_stand_in(aggregation, i, &keys[i]))
			csv_extras_keep_key(&aggregation->extras, keys[i].value.decimal,
								aggregation->wide_keys[i]);
	if (partial != NULL)
		return;
	for (uint32_t i = 0; i < aggregation->program->query.naggregates; i++)
		if (values[i].state == CSV_LANE_UNDECIDED)
			csv_extras_add(&aggregation->extras, group, i, aggregation->wide[i]);
}

bool
csv_aggregation_add_row(CsvAggregation *aggregation)
{
	const CsvProgram *program = aggregation->program;
	ExprContext *econtext = aggregation->econtext;
	MemoryContext outer;
	CsvValue	keys[CSV_MAX_KEYS];
	CsvValue	values[CSV_MAX_AGGREGATES];

	ResetExprContext(econtext);
	econtext->ecxt_scantuple = aggregation->row;
	if (!ExecQual(aggregation->quals, econtext))
		return false;
	outer = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	for (uint32_t i = 0; i < program->query.nkeys; i++)
	{
		bool		isnull;
		Datum		datum = ExecEvalExpr(aggregation->keys[i].argument, econtext,
										 &isnull);

		memset(&keys[i], 0, sizeof(keys[i]));
		if (isnull)
			keys[i].state = CSV_LANE_NULL;
		else if (!value_to_compare(aggregation, &aggregation->keys[i].reg,
								   datum, &keys[i]))
			aggregation->wide_keys[i] = datum;
	}
	memset(values, 0, sizeof(CsvValue) * program->query.naggregates);
	for (uint32_t i = 0; i < program->query.naggregates; i++)
		values[i].state = get_argument(aggregation, i, &values[i]);
	add_values(aggregation, keys, values, NULL);
	MemoryContextSwitchTo(outer);
	return true;
}

/* ---- all rows ---- */

/* limit the memory of groups, unless their rows were spilled too often */
static void
set_limit(CsvAggregation *aggregation, const CsvSpill *spill, size_t nbytes)
{
	csv_evaluator_limit(aggregation->evaluator,
						spill->level < MOST_LEVELS ? nbytes : 0, spill_row,
						spill_value, aggregation);
}

void
csv_aggregation_attach(CsvAggregation *aggregation, CsvEvaluator *evaluator)
{
	csv_spill_drop(&aggregation->rows);
	csv_spill_drop(&aggregation->values);
	aggregation->evaluator = evaluator;
	aggregation->nbatches = 1;
	csv_extras_drop(&aggregation->extras);
	csv_partial_lay_out(csv_evaluator_query(evaluator), &aggregation->partial);
	set_limit(aggregation, &aggregation->rows, get_hash_memory_limit());
}

void
csv_aggregation_renew(CsvAggregation *aggregation, CsvEvaluator *evaluator)
{
	if (!csv_evaluator_reset(evaluator))
		out_of_memory();
	csv_aggregation_attach(aggregation, evaluator);
}

/* begin with the evaluator's groups */
static void
begin_groups(CsvAggregation *aggregation)
{
	memset(&aggregation->piece, 0, sizeof(aggregation->piece));
	aggregation->piece_first = 0;
	aggregation->piece_next = 0;
	aggregation->made_end = 0;
}

/* drop the groups that the device holds */
static void
drop_held(CsvAggregation *aggregation)
{
	aggregation->has_held = false;
	csv_evaluation_drop_held(aggregation->evaluation);
	begin_groups(aggregation);
}

/*
 * All rows are read.  If some are spilled, groups that the device holds must go the
 * same way.  Otherwise they can stay there until their turn comes.
 */
static void
settle_held(CsvAggregation *aggregation)
{
	CsvGroupsMaker maker = {csv_make_group_rows, aggregation->results};
	CsvPartialGroups *piece = &aggregation->piece;
	uint32_t	first = 0;

	aggregation->was_held = false;
	aggregation->results->query = csv_evaluator_query(aggregation->evaluator);
	/* spilled values and extras refer to the evaluator's groups by their numbers */
	csv_evaluation_gather(aggregation->evaluation,
						  csv_spill_has_files(&aggregation->rows) ||
						  csv_spill_has_files(&aggregation->values) ||
						  csv_extras_exist(&aggregation->extras), &maker);
	aggregation->nevaluated = csv_evaluator_ngroups(aggregation->evaluator);
	begin_groups(aggregation);
	aggregation->has_held = csv_evaluation_held(aggregation->evaluation, 0, piece);
	if (!aggregation->has_held || !csv_spill_has_files(&aggregation->rows))
		return;
	do
	{
		CHECK_FOR_INTERRUPTS();
		if (csv_evaluator_merge(aggregation->evaluator, piece) != CSV_OK)
			out_of_memory();
		first += piece->ngroups;
	} while (csv_evaluation_held(aggregation->evaluation, first, piece));
	drop_held(aggregation);
}

/* all rows of the groups in memory are added: count the values that were spilled */
static void
count_spilled_values(CsvAggregation *aggregation)
{
	CsvEvaluator *evaluator = aggregation->evaluator;
	CsvSpill   *spill = &aggregation->values;
	BufFile    *file;

	csv_spill_keep(spill);
	while ((file = csv_spill_take(spill)) != NULL)
	{
		size_t		limit = get_hash_memory_limit();
		uint32_t	group;

		csv_evaluator_forget_values(evaluator);
		set_limit(aggregation, spill,
				  Max(limit, csv_evaluator_group_bytes(evaluator) +
					  limit / VALUES_SHARE));
		aggregation->nbatches++;
		while (BufFileRead(file, &group, sizeof(group)) != 0)
		{
			uint32_t	aggregate;
			CsvValue	value;
			MemoryContext outer;

			CHECK_FOR_INTERRUPTS();
			ResetExprContext(aggregation->econtext);
			csv_spill_read(file, &aggregate, sizeof(aggregate));
			outer = MemoryContextSwitchTo(aggregation->econtext->ecxt_per_tuple_memory);
			csv_spill_read_value(file, aggregation->program->aggregate[aggregate].lane,
								 &value, NULL);
			if (!csv_evaluator_count_value(evaluator, aggregate, group, &value))
				out_of_memory();
			MemoryContextSwitchTo(outer);
		}
		BufFileClose(file);
		csv_spill_keep(spill);
	}
	spill->level = 0;
}

/* group the rows of the next file; false if there is none */
static bool
next_batch(CsvAggregation *aggregation)
{
	const CsvProgram *program = aggregation->program;
	CsvValue	keys[CSV_MAX_KEYS] = {0};
	CsvValue	values[CSV_MAX_AGGREGATES];
	bool		is_partial;
	BufFile    *file = csv_spill_take(&aggregation->rows);

	if (file == NULL)
		return false;
	begin_groups(aggregation);
	csv_extras_drop(&aggregation->extras);
	aggregation->nbatches++;
	if (!csv_evaluator_reset(aggregation->evaluator))
		out_of_memory();
	set_limit(aggregation, &aggregation->rows, get_hash_memory_limit());
	while (BufFileRead(file, &is_partial, sizeof(is_partial)) != 0)
	{
		CsvPartial	partial;
		MemoryContext outer;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(aggregation->econtext);
		outer = MemoryContextSwitchTo(aggregation->econtext->ecxt_per_tuple_memory);
		for (uint32_t i = 0; i < program->query.nkeys; i++)
			csv_spill_read_value(file, program->keys[i].lane, &keys[i],
								 &aggregation->wide_keys[i]);
		if (is_partial)
			partial = csv_spill_read_partial(file, program,
											 &aggregation->partial);
		for (uint32_t i = 0; !is_partial && i < program->query.naggregates; i++)
			csv_spill_read_value(file, program->aggregate[i].lane, &values[i],
								 &aggregation->wide[i]);
		add_values(aggregation, keys, values, is_partial ? &partial : NULL);
		MemoryContextSwitchTo(outer);
	}
	BufFileClose(file);
	csv_spill_keep(&aggregation->rows);
	count_spilled_values(aggregation);
	return true;
}

TupleTableSlot *
csv_aggregation_row(CsvAggregation *aggregation)
{
	return aggregation->row;
}

void
csv_aggregation_finish(CsvAggregation *aggregation, CsvEvaluation *evaluation)
{
	aggregation->evaluation = evaluation;
	/* if there was no row, this makes the evaluator */
	(void) csv_evaluation_groups(evaluation);
	settle_held(aggregation);
	csv_spill_keep(&aggregation->rows);
	count_spilled_values(aggregation);
}

bool
csv_aggregation_rewind(CsvAggregation *aggregation)
{
	if (!aggregation->has_held)
		begin_groups(aggregation);
	return aggregation->rows.level == 0 && aggregation->rows.spilled == NIL &&
		!aggregation->was_held;
}

void
csv_aggregation_end(CsvAggregation *aggregation)
{
	csv_spill_drop(&aggregation->rows);
	csv_spill_drop(&aggregation->values);
}

int64
csv_aggregation_batches(const CsvAggregation *aggregation)
{
	return aggregation->nbatches;
}

/* ---- from groups to rows ---- */

/* add a group of the piece to the evaluator's group of these keys, if there is one */
static bool
add_to_evaluator(CsvAggregation *aggregation, uint32_t group)
{
	CsvEvaluator *evaluator = aggregation->evaluator;
	const CsvPartialGroups *piece = &aggregation->piece;
	CsvValue	keys[CSV_MAX_KEYS];
	CsvPartial	partial = {
		piece->words + (size_t) group * aggregation->partial.nwords,
		piece->texts
	};
	uint32_t	found;

	for (uint32_t i = 0; i < aggregation->program->query.nkeys; i++)
		csv_partial_key(csv_evaluator_query(evaluator), piece, group, i,
						&keys[i]);
	found = csv_evaluator_seek_group(evaluator, keys);
	if (found == CSV_NO_GROUP)
		return false;
	if (!csv_evaluator_add_partial(evaluator, found, &partial))
		out_of_memory();
	return true;
}

/* the next piece of groups; false if there are no more */
static bool
next_piece(CsvAggregation *aggregation)
{
	CsvPartialGroups *piece = &aggregation->piece;

	CHECK_FOR_INTERRUPTS();
	aggregation->piece_first += piece->ngroups;
	aggregation->piece_next = 0;
	aggregation->made_end = 0;
	if (aggregation->has_held)
	{
		if (csv_evaluation_held(aggregation->evaluation,
								aggregation->piece_first, piece))
			return true;
		drop_held(aggregation);
	}
	do
	{
		if (csv_evaluator_groups(aggregation->evaluator, aggregation->piece_first,
								 ROOM_GROUPS, piece) != CSV_OK)
			out_of_memory();
	} while (piece->ngroups == 0 && next_batch(aggregation));
	return piece->ngroups > 0;
}

/* the next group, except held groups that the evaluator has; false at the end */
static bool
next_group(CsvAggregation *aggregation, uint32_t *group)
{
	do
	{
		if (aggregation->piece_next == aggregation->piece.ngroups &&
			!next_piece(aggregation))
			return false;
		*group = aggregation->piece_next++;
		aggregation->was_held |= aggregation->has_held;
	} while (aggregation->has_held && aggregation->nevaluated > 0 &&
			 add_to_evaluator(aggregation, *group));
	return true;
}

/* make rows of a group of the piece and of groups after it */
static void
make_rows(CsvAggregation *aggregation, uint32_t group)
{
	const CsvPartialGroups *piece = &aggregation->piece;
	uint32_t	n = Min(piece->ngroups - group, ROOM_GROUPS);
	MemoryContext outer;

	if (piece->made != NULL)
	{
		aggregation->made = piece->made;
		aggregation->made_first = 0;
		aggregation->made_end = piece->ngroups;
		return;
	}
	if (aggregation->room == NULL)
	{
		CsvMemory	memory = csv_context_memory(aggregation->context);

		aggregation->room = csv_group_rows_create(aggregation->results, &memory,
												  ROOM_GROUPS);
	}
	MemoryContextReset(aggregation->room_context);
	outer = MemoryContextSwitchTo(aggregation->room_context);
	csv_group_rows_fill(aggregation->results, piece, group, n, aggregation->room);
	MemoryContextSwitchTo(outer);
	aggregation->made = aggregation->room;
	aggregation->made_first = group;
	aggregation->made_end = group + n;
}

/* the row of a group of the piece */
static void
fill_row(CsvAggregation *aggregation, uint32_t group, Datum *values,
		 bool *isnull)
{
	size_t		n = aggregation->results->n;
	size_t		at;

	if (group >= aggregation->made_end)
		make_rows(aggregation, group);
	at = (size_t) (group - aggregation->made_first) * n;
	memcpy(values, aggregation->made->values + at, n * sizeof(Datum));
	memcpy(isnull, aggregation->made->isnull + at, n * sizeof(bool));
}

bool
csv_aggregation_next(CsvAggregation *aggregation, Datum *values, bool *isnull)
{
	const CsvResults *results = aggregation->results;
	MemoryContext outer;
	CsvGroupPlace place;
	bool		has_extras;

	if (!next_group(aggregation, &place.group))
		return false;
	has_extras = !aggregation->has_held &&
		csv_extras_exist(&aggregation->extras);
	place.piece = &aggregation->piece;
	place.number = aggregation->piece_first + place.group;
	place.extras = has_extras ? &aggregation->extras : NULL;
	if (!has_extras)
	{
		fill_row(aggregation, place.group, values, isnull);
		if (results->all_columns)
			return true;
	}
	if (aggregation->nrows++ % aggregation->rows_per_reset == 0)
		ResetExprContext(aggregation->econtext);
	outer = MemoryContextSwitchTo(aggregation->econtext->ecxt_per_tuple_memory);
	for (int i = 0; i < results->n; i++)
	{
		const CsvResult *result = &results->results[i];

		if (!has_extras && result->has_column)
			continue;
		isnull[i] = true;
		if (result->is_used)
			values[i] = csv_result(aggregation->results, &place, i, &isnull[i]);
	}
	MemoryContextSwitchTo(outer);
	return true;
}
