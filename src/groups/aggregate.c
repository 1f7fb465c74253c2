/*
 * aggregate.c
 *		Aggregates that the engine computes: from groups to rows.
 *
 *	1. The scan evaluates each batch and adds its rows to the evaluator's groups.
 *	2. Rows that the engine could not decide come out of the scan.  These rows are
 *	   evaluated here as in the executor, with the plan's own expressions and their
 *	   ERRORs.  Their values are added to the same groups, or beside them if no lane
 *	   holds them (extras.c).
 *	3. If groups take more memory than the executor's hash tables may, they go to a
 *	   temporary file, and are merged there later (query/spilled.h, query/regroup.h).
 *	   Values that no lane holds are attached to their groups.
 *	4. If there are many groups, a device may hold some (CsvAnswer.held).  If no group
 *	   is in the file, they come out as they are, except groups with keys that the
 *	   evaluator has, too: these are added to the evaluator's groups.  Otherwise all
 *	   held groups are added to the evaluator.
 *	5. At the end each group becomes a row of results (group_values.h).  Groups come as
 *	   CsvPartialGroups, piece by piece, from a device, from threads that have merged
 *	   them, in memory or from the file, and then from the evaluator.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/numeric.h"

#include "groups/aggregate.h"
#include "groups/group_values.h"
#include "query/operate.h"
#include "table/memory.h"

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
	bool		has_held;		/* groups come from the device or the file first */
	bool		was_held;		/* some groups have come from there */
	bool		from_file;		/* all groups come from the file */
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

	int64		nbatches;		/* parts of the file that groups came from */
	int64		disk_bytes;
	Datum	   *wide;			/* of the current row: arguments that no lane holds, by
								 * aggregate of the query */
	Datum	   *wide_keys;		/* of the current row: keys that no lane holds */

	ExprContext *econtext;		/* for single rows */
	TupleTableSlot *row;
	ExprState  *quals;
	Source	   *keys;
	Source	   *sources;		/* of each aggregate of the query */

	CsvResults *results;
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

	aggregation->program = program;
	aggregation->context = CurrentMemoryContext;
	csv_extras_init(&aggregation->extras, program);
	aggregation->econtext = CreateExprContext(node->ss.ps.state);
	aggregation->row = ExecInitExtraTupleSlot(node->ss.ps.state, row_desc,
											  &TTSOpsVirtual);
	memset(aggregation->row->tts_isnull, true, row_desc->natts);
	fix_opfuncids((Node *) quals);
	aggregation->quals = ExecInitQual(quals, &node->ss.ps);
	aggregation->results =
		csv_results_create(program, (ForeignScan *) node->ss.ps.plan, results,
						   aggregation->econtext);
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

/* raises the ERROR if `good` is false */
static void
check_memory(const CsvAggregation *aggregation, bool good)
{
	if (!good)
		csv_evaluation_check(aggregation->evaluation, CSV_NO_MEMORY);
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
	const CsvAggregate *state = &aggregation->program->aggregate[aggregate];
	double		high;
	double		low;

	return state->kind == CSV_AGGREGATE_SUM_SQUARES &&
		state->lane == CSV_LANE_FLOAT &&
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

static void
add_values(CsvAggregation *aggregation, const CsvValue *keys,
		   const CsvValue *values)
{
	CsvEvaluator *evaluator = aggregation->evaluator;
	uint32_t	group;

	check_memory(aggregation, csv_evaluator_make_room(evaluator));
	group = csv_evaluator_find_group(evaluator, keys);
	check_memory(aggregation, group != CSV_NO_GROUP &&
				 csv_evaluator_add_row(evaluator, group, values));
	for (uint32_t i = 0; i < aggregation->program->query.nkeys; i++)
		if (csv_stands_in(&aggregation->program->keys[i], &keys[i]))
			csv_extras_keep_key(&aggregation->extras, keys[i].value.decimal,
								aggregation->wide_keys[i]);
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
	add_values(aggregation, keys, values);
	MemoryContextSwitchTo(outer);
	return true;
}

/* ---- all rows ---- */

void
csv_aggregation_attach(CsvAggregation *aggregation, CsvEvaluation *evaluation,
					   CsvEvaluator *evaluator)
{
	aggregation->evaluation = evaluation;
	aggregation->evaluator = evaluator;
	aggregation->has_held = false;
	aggregation->from_file = false;
	aggregation->nbatches = 0;
	aggregation->disk_bytes = 0;
	csv_extras_drop(&aggregation->extras);
	csv_partial_lay_out(csv_evaluator_query(evaluator), &aggregation->partial);
}

void
csv_aggregation_renew(CsvAggregation *aggregation, CsvEvaluation *evaluation)
{
	CsvEvaluator *evaluator = csv_evaluation_groups(evaluation);

	csv_evaluation_renew(evaluation);
	csv_aggregation_attach(aggregation, evaluation, evaluator);
}

void
csv_aggregation_spill(CsvAggregation *aggregation)
{
	check_memory(aggregation, csv_extras_attach(&aggregation->extras,
												aggregation->evaluator));
	csv_extras_drop(&aggregation->extras);
}

/* begin with the evaluator's groups; groups that are held go */
static void
begin_groups(CsvAggregation *aggregation)
{
	if (aggregation->has_held)
		csv_evaluation_drop_held(aggregation->evaluation);
	aggregation->has_held = false;
	memset(&aggregation->piece, 0, sizeof(aggregation->piece));
	aggregation->piece_first = 0;
	aggregation->piece_next = 0;
	aggregation->made_end = 0;
}

/* the next piece of held groups, or groups from the file; false if there are none */
static bool
next_held(CsvAggregation *aggregation)
{
	CsvPartialGroups *piece = &aggregation->piece;
	uint32_t	group;
	const uint8_t *bytes;

	if (!csv_evaluation_held(aggregation->evaluation, aggregation->piece_first, piece))
		return false;
	if (!aggregation->from_file)
		return true;
	aggregation->nbatches++;
	aggregation->disk_bytes = csv_evaluation_disk_bytes(aggregation->evaluation);
	csv_extras_drop(&aggregation->extras);
	for (uint32_t i = 0; csv_evaluation_attached(aggregation->evaluation, i, &group,
												 &bytes); i++)
		csv_extras_take(&aggregation->extras, group, bytes);
	return true;
}

/* adds all groups that the device holds to the evaluator */
static void
merge_held(CsvAggregation *aggregation)
{
	do
	{
		CHECK_FOR_INTERRUPTS();
		check_memory(aggregation, csv_evaluator_merge(aggregation->evaluator,
													  &aggregation->piece) == CSV_OK);
		aggregation->piece_first += aggregation->piece.ngroups;
	} while (next_held(aggregation));
	begin_groups(aggregation);
}

/*
 * All rows are read.  If some groups are in the file, groups that the device holds must
 * go there, too.  Otherwise they can stay there until their turn comes.
 */
void
csv_aggregation_finish(CsvAggregation *aggregation, CsvEvaluation *evaluation)
{
	CsvGroupsMaker maker = {csv_make_group_rows, aggregation->results};

	/* if there was no row, this makes the evaluator */
	(void) csv_evaluation_groups(evaluation);
	aggregation->was_held = false;
	aggregation->results->query = csv_evaluator_query(aggregation->evaluator);
	/* extras refer to the evaluator's groups by their numbers */
	csv_evaluation_gather(evaluation, csv_extras_exist(&aggregation->extras), &maker);
	aggregation->nevaluated = csv_evaluator_ngroups(aggregation->evaluator);
	begin_groups(aggregation);
	aggregation->has_held = next_held(aggregation);
	if (!csv_evaluation_has_spilled(evaluation))
		return;
	if (aggregation->has_held)
		merge_held(aggregation);
	csv_evaluation_regroup(evaluation, &maker);
	aggregation->from_file = true;
	aggregation->nevaluated = 0;
	aggregation->has_held = next_held(aggregation);
}

TupleTableSlot *
csv_aggregation_row(CsvAggregation *aggregation)
{
	return aggregation->row;
}

bool
csv_aggregation_rewind(CsvAggregation *aggregation)
{
	if (!aggregation->has_held)
		begin_groups(aggregation);
	return !aggregation->was_held && !aggregation->from_file;
}

int64
csv_aggregation_batches(const CsvAggregation *aggregation, int64 *disk_bytes)
{
	*disk_bytes = aggregation->disk_bytes;
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
	check_memory(aggregation, csv_evaluator_add_partial(evaluator, found, &partial));
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
		if (next_held(aggregation))
			return true;
		begin_groups(aggregation);
	}
	if (aggregation->from_file)
		return false;
	check_memory(aggregation, csv_evaluator_groups(aggregation->evaluator,
												   aggregation->piece_first,
												   ROOM_GROUPS, piece) == CSV_OK);
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
	(void) csv_group_rows_fill(aggregation->results, piece, group, n,
							   aggregation->room, false);
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
	has_extras = (aggregation->from_file || !aggregation->has_held) &&
		csv_extras_exist(&aggregation->extras);
	place.piece = &aggregation->piece;
	place.number = (aggregation->from_file ? 0 : aggregation->piece_first) + place.group;
	place.extras = has_extras ? &aggregation->extras : NULL;
	if (!has_extras)
	{
		fill_row(aggregation, place.group, values, isnull);
		if (results->all_columns)
			return true;
	}
	if (results->any_text || aggregation->nrows++ % ROWS_PER_RESET == 0)
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
