/*
 * aggregate.c
 *		Aggregates that the engine computes: from groups to rows.
 *
 *	1. The scan evaluates each batch; its rows go into the evaluator's groups.
 *	2. Rows that the engine could not decide come out of the scan.  They are
 *	   evaluated here as the executor would do it, with the plan's own
 *	   expressions, which raise what they raise; the values are added to the
 *	   same groups.  A numeric that no lane holds (NaN, or of too many digits)
 *	   is added to a sum of PostgreSQL's own beside the group's.  Of a float
 *	   whose square is beyond all floats, it is only noted that there is one.
 *	3. Where groups take more memory than the executor's own hash tables may,
 *	   no new ones are made: rows of others go to temporary files, by a part of
 *	   their keys' hash, and each file's rows are grouped by themselves after
 *	   that, if need be in the same way again.  Where the engine has put rows
 *	   together already (CsvPartial), that is what goes there.  Values that
 *	   COUNT_DISTINCT would have to keep go to files of their own in the same way,
 *	   and are counted before their groups are looked at.
 *	4. Of many groups, a device may hold what it has found (CsvAnswer.held).  Where
 *	   nothing was spilled, these come from there as they are; one that is in the
 *	   evaluator, too, is added to it.  Otherwise all of them are.
 *	5. At the end each group becomes a row: of results, or of transition states
 *	   where another node puts them together with others.
 */
#include "postgres.h"

#include <math.h>

#include "access/sysattr.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "storage/buffile.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/numeric.h"
#include "utils/syscache.h"

#include "groups/aggregate.h"
#include "groups/group_columns.h"
#include "query/operate.h"

/* what a group holds beyond its lanes, for one aggregate of the query */
typedef struct ExtraKey
{
	uint32_t	group;
	uint32_t	aggregate;
} ExtraKey;

typedef struct Extra
{
	ExtraKey	key;
	int64		count;			/* of values, NaNs among them */
	int64		nnans;
	Datum		sum;			/* numeric: of the others, or of their squares;
								 * of floats nothing */
} Extra;

/*
 * Rows are shared out among CSV_SPILL_FILES at a time.  A file whose rows have
 * gone through MOST_LEVELS of that is grouped whatever memory it takes.
 */
#define MOST_LEVELS			8

/* share of the memory that values may take even where groups have it all */
#define VALUES_SHARE		4

/* rows without texts between two resets of what their values are made in */
#define ROWS_PER_RESET	64

/* what is to be grouped or counted by itself */
typedef struct SpillFile
{
	BufFile    *file;
	int			level;			/* how often it has been shared out */
} SpillFile;

/* what has no room, of rows or of values */
typedef struct Spill
{
	int			level;			/* of what is in memory now */
	BufFile    *spilling[CSV_SPILL_FILES];	/* its files; NULL: not needed so far */
	List	   *spilled;		/* SpillFiles to come */
} Spill;

/* an aggregate of the query, for single rows */
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
	CsvBatches *batches;
	CsvEvaluator *evaluator;	/* the scan's */
	uint32_t	next;			/* group */
	bool		has_held;		/* groups come from the device first */
	bool		was_held;		/* some have */
	uint32_t	nevaluated;		/* groups that were in the evaluator before */
	uint32_t	piece_first;	/* those that are here: number of the first, */
	uint32_t	piece_next;		/* and the next of them */
	CsvPartialGroups piece;
	uint32_t	columns_first;	/* of it, what is in the columns: */
	uint32_t	columns_end;
	MemoryContext columns_context;	/* of values beside them */
	bool		at_piece;		/* a row is made of a group of it */
	uint32_t	nrows;			/* that were made */
	HTAB	   *extras;			/* NULL: none so far */
	MemoryContext extras_context;

	Spill		rows;
	Spill		values;			/* of COUNT_DISTINCT */
	int64		nbatches;
	Datum	   *wide;			/* of the row at hand: arguments that no lane
								 * holds, by aggregate of the query */

	ExprContext *econtext;		/* for single rows */
	TupleTableSlot *row;
	ExprState  *quals;
	ExprState **keys;
	CsvRegister *key_registers;
	Source	   *sources;		/* of each aggregate of the query */

	int			nresults;
	CsvResult  *results;
	Aggref	  **aggrefs;		/* of each result; NULL for a key */
	bool	   *is_used;		/* likewise: does the plan look at it? */
	CsvGroupColumn **columns;	/* likewise; NULL: its values are made one by one */
	bool		all_columns;	/* all that are used have one */
	char	  (*rooms)[CSV_SHORT_NUMERIC_BYTES];	/* likewise: for a numeric */
	uint32_t	rows_per_reset;

	/* for final functions that want to be called by an Agg node */
	AggState   *caller;
	Oid		   *serialize;		/* of each result's function */
	FmgrInfo   *deserialize;
	FmgrInfo   *finish;
};

/* ---- begin ---- */

static void
lookup_functions(CsvAggregation *aggregation, int i)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID,
										ObjectIdGetDatum(aggregation->aggrefs[i]->aggfnoid));
	Form_pg_aggregate form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u",
			 aggregation->aggrefs[i]->aggfnoid);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	aggregation->serialize[i] = form->aggserialfn;
	if (aggregation->results[i].kind == CSV_RESULT_VARIANCE)
	{
		/* the state of floats is an array */
		if (OidIsValid(form->aggdeserialfn))
			fmgr_info(form->aggdeserialfn, &aggregation->deserialize[i]);
		fmgr_info(form->aggfinalfn, &aggregation->finish[i]);
	}
	ReleaseSysCache(tuple);
}

CsvAggregation *
csv_aggregation_create(ForeignScanState *node, const CsvProgram *program,
					   TupleDesc row_desc, List *quals, List *results,
					   List *sources)
{
	CsvAggregation *aggregation = palloc0(sizeof(CsvAggregation));
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	EState	   *estate = node->ss.ps.state;
	Bitmapset  *used = NULL;
	int			i = 0;
	ListCell   *cell;

	aggregation->program = program;
	aggregation->context = CurrentMemoryContext;
	aggregation->extras_context =
		AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_fdw sums",
							  ALLOCSET_SMALL_SIZES);
	aggregation->econtext = CreateExprContext(estate);
	aggregation->row = ExecInitExtraTupleSlot(estate, row_desc,
											  &TTSOpsVirtual);
	memset(aggregation->row->tts_isnull, true, row_desc->natts);
	fix_opfuncids((Node *) quals);
	aggregation->quals = ExecInitQual(quals, &node->ss.ps);
	aggregation->keys = palloc0(sizeof(ExprState *) * CSV_MAX_KEYS);
	aggregation->key_registers = palloc0(sizeof(CsvRegister) * CSV_MAX_KEYS);
	aggregation->nresults = list_length(results);
	aggregation->results = palloc0(sizeof(CsvResult) * aggregation->nresults);
	aggregation->aggrefs = palloc0(sizeof(Aggref *) * aggregation->nresults);
	aggregation->is_used = palloc0(sizeof(bool) * aggregation->nresults);
	aggregation->columns = palloc0(sizeof(CsvGroupColumn *) *
								   aggregation->nresults);
	aggregation->columns_context =
		AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_fdw groups",
							  ALLOCSET_DEFAULT_SIZES);
	aggregation->rooms = palloc0(sizeof(*aggregation->rooms) *
								 aggregation->nresults);
	aggregation->rows_per_reset = ROWS_PER_RESET;
	pull_varattnos((Node *) plan->scan.plan.targetlist, INDEX_VAR, &used);
	pull_varattnos((Node *) plan->scan.plan.qual, INDEX_VAR, &used);
	aggregation->serialize = palloc0(sizeof(Oid) * aggregation->nresults);
	aggregation->deserialize = palloc0(sizeof(FmgrInfo) *
									   aggregation->nresults);
	aggregation->finish = palloc0(sizeof(FmgrInfo) * aggregation->nresults);
	foreach(cell, results)
	{
		List	   *numbers = lfirst(cell);
		CsvResult  *result = &aggregation->results[i];
		TargetEntry *entry = list_nth_node(TargetEntry, plan->fdw_scan_tlist,
										   i);

		result->kind = linitial_int(numbers);
		result->argument = lsecond_int(numbers);
		result->first = lthird_int(numbers);
		result->second = lfourth_int(numbers);
		aggregation->is_used[i] =
			bms_is_member(i + 1 - FirstLowInvalidHeapAttributeNumber, used);
		if (result->argument >= 0 &&
			program->registers[result->argument].lane == CSV_LANE_TEXT)
			aggregation->rows_per_reset = 1;
		if (result->kind == CSV_RESULT_KEY)
		{
			aggregation->keys[result->first] = ExecInitExpr(entry->expr,
															&node->ss.ps);
			aggregation->key_registers[result->first] =
				program->registers[result->argument];
		}
		else
		{
			aggregation->aggrefs[i] = castNode(Aggref, entry->expr);
			lookup_functions(aggregation, i);
		}
		i++;
	}

	aggregation->sources = palloc0(sizeof(Source) *
								   Max(list_length(sources), 1));
	aggregation->wide = palloc0(sizeof(Datum) * CSV_MAX_AGGREGATES);
	i = 0;
	foreach(cell, sources)
	{
		Source	   *source = &aggregation->sources[i++];
		int			number = lfirst_int(cell);
		Aggref	   *aggref = aggregation->aggrefs[number];

		if (aggref->args != NIL)
		{
			TargetEntry *argument = linitial(aggref->args);

			source->argument = ExecInitExpr(argument->expr, &node->ss.ps);
			source->reg = program->registers[aggregation->results[number].argument];
		}
		if (aggref->aggfilter != NULL)
			source->filter = ExecInitExpr(aggref->aggfilter, &node->ss.ps);
	}

	/*
	 * The final functions of variances take a state that only they know, and
	 * ask in whose memory it lives.
	 */
	aggregation->caller = makeNode(AggState);
	aggregation->caller->curaggcontext = aggregation->econtext;
	return aggregation;
}

/* ---- rows that the engine could not decide ---- */

/* a datum as a lane for keys and extremes, where NaN has its place */
static void
value_to_compare(const CsvRegister *reg, Datum datum, bool isnull,
				 CsvValue *value)
{
	if (isnull)
	{
		memset(value, 0, sizeof(*value));
		value->state = CSV_LANE_NULL;
	}
	else if (!csv_value_of_datum(reg, datum, value))
	{
		/* the planner has seen to it that all others fit */
		if (reg->type != NUMERICOID ||
			!numeric_is_nan(DatumGetNumeric(datum)))
			elog(ERROR, "value of a group key or extreme does not fit");
		memset(value, 0, sizeof(*value));
		value->value.decimal = CSV_DECIMAL_NAN;
	}
}

/*
 * Add a numeric that no lane holds to the sum beside a group's, or note a float
 * beyond squares.
 */
static void
add_extra(CsvAggregation *aggregation, uint32_t group, uint32_t aggregate,
		  Datum value)
{
	ExtraKey	key = {group, aggregate};
	MemoryContext outer = MemoryContextSwitchTo(aggregation->extras_context);
	bool		is_float =
		aggregation->program->aggregate[aggregate].lane == CSV_LANE_FLOAT;
	Extra	   *extra;
	bool		found;

	if (aggregation->extras == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof(ExtraKey),
			.entrysize = sizeof(Extra),
			.hcxt = aggregation->extras_context
		};

		aggregation->extras = hash_create("csv_gpu_fdw numerics", 64, &control,
										  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	extra = hash_search(aggregation->extras, &key, HASH_ENTER, &found);
	if (!found)
	{
		extra->count = 0;
		extra->nnans = 0;
		extra->sum = NumericGetDatum(int64_to_numeric(0));
	}
	extra->count++;
	if (!is_float && numeric_is_nan(DatumGetNumeric(value)))
		extra->nnans++;
	else if (!is_float)
	{
		Datum		old = extra->sum;

		if (aggregation->program->aggregate[aggregate].kind ==
			CSV_AGGREGATE_SUM_SQUARES)
			value = DirectFunctionCall2(numeric_mul, value, value);
		extra->sum = DirectFunctionCall2(numeric_add, old, value);
		pfree(DatumGetPointer(old));
	}
	MemoryContextSwitchTo(outer);
}

/* those of other groups */
static void
drop_extras(CsvAggregation *aggregation)
{
	aggregation->extras = NULL;
	MemoryContextReset(aggregation->extras_context);
}

static const Extra *
find_extra(const CsvAggregation *aggregation, uint32_t group, int aggregate)
{
	ExtraKey	key = {group, (uint32_t) aggregate};

	return aggregation->extras == NULL || aggregation->at_piece ? NULL :
		hash_search(aggregation->extras, &key, HASH_FIND, NULL);
}

static void
out_of_memory(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("out of memory")));
}

/* ---- rows and values for which there is no room ---- */

/* the file for what has this hash */
static BufFile *
spill_file(const CsvAggregation *aggregation, Spill *spill, uint64_t hash)
{
	int			number = hash >> (64 - CSV_SPILL_BITS * (spill->level + 1)) &
		(CSV_SPILL_FILES - 1);

	if (spill->spilling[number] == NULL)
	{
		MemoryContext outer = MemoryContextSwitchTo(aggregation->context);

		spill->spilling[number] = BufFileCreateTemp(false);
		MemoryContextSwitchTo(outer);
	}
	return spill->spilling[number];
}

/*
 * The files of what has been in memory are complete.  They come before others, so
 * that few are there at a time.
 */
static void
keep_spilled(const CsvAggregation *aggregation, Spill *spill)
{
	MemoryContext outer = MemoryContextSwitchTo(aggregation->context);

	for (int i = 0; i < CSV_SPILL_FILES; i++)
	{
		SpillFile  *spilled;

		if (spill->spilling[i] == NULL)
			continue;
		spilled = palloc(sizeof(SpillFile));
		spilled->file = spill->spilling[i];
		spilled->level = spill->level + 1;
		spill->spilled = lcons(spilled, spill->spilled);
		spill->spilling[i] = NULL;
	}
	MemoryContextSwitchTo(outer);
}

/* the next of the files, at its beginning; NULL if there is none */
static BufFile *
take_spilled(Spill *spill)
{
	SpillFile  *spilled;
	BufFile    *file;

	if (spill->spilled == NIL)
		return NULL;
	spilled = linitial(spill->spilled);
	file = spilled->file;
	spill->level = spilled->level;
	spill->spilled = list_delete_first(spill->spilled);
	pfree(spilled);
	if (BufFileSeek(file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind temporary file")));
	return file;
}

static void
drop_spilled(const CsvAggregation *aggregation, Spill *spill)
{
	BufFile    *file;

	keep_spilled(aggregation, spill);
	while ((file = take_spilled(spill)) != NULL)
		BufFileClose(file);
	spill->level = 0;
}

static void
write_value(BufFile *file, uint8_t lane, const CsvValue *value)
{
	BufFileWrite(file, (void *) &value->state, sizeof(value->state));
	if (value->state == CSV_LANE_VALUE && lane == CSV_LANE_TEXT)
	{
		BufFileWrite(file, (void *) &value->length, sizeof(value->length));
		BufFileWrite(file, (void *) value->bytes, value->length);
	}
	else if (value->state == CSV_LANE_VALUE)
		BufFileWrite(file, (void *) &value->value, sizeof(value->value));
}

/* is it a text that a partial has? */
static bool
has_text(const CsvAggregation *aggregation, const int64_t *words, uint32_t i)
{
	const CsvAggregate *aggregate = &aggregation->program->aggregate[i];

	return aggregate->lane == CSV_LANE_TEXT &&
		(aggregate->kind == CSV_AGGREGATE_MIN ||
		 aggregate->kind == CSV_AGGREGATE_MAX) &&
		words[aggregation->partial.input[i]] != 0;
}

static void
write_partial(const CsvAggregation *aggregation, BufFile *file,
			  const CsvPartial *partial)
{
	const CsvPartialLayout *layout = &aggregation->partial;

	BufFileWrite(file, (void *) partial->words,
				 layout->nwords * sizeof(int64_t));
	for (uint32_t i = 0; i < aggregation->program->n.naggregates; i++)
	{
		const int64_t *text = partial->words + layout->first_word[i];

		if (has_text(aggregation, partial->words, i))
			BufFileWrite(file, (void *) (partial->texts + text[0]), text[1]);
	}
}

/* as CsvSpillFn; it does not return where writing fails */
static bool
spill_row(void *arg, uint64_t hash, const CsvValue *keys,
		  const CsvValue *values, const CsvPartial *partial)
{
	CsvAggregation *aggregation = arg;
	const CsvProgram *program = aggregation->program;
	BufFile    *file = spill_file(aggregation, &aggregation->rows, hash);
	bool		is_partial = partial != NULL;

	for (uint32_t i = 0; i < program->n.nkeys; i++)
		write_value(file, program->keys[i].lane, &keys[i]);
	BufFileWrite(file, &is_partial, sizeof(is_partial));
	if (partial != NULL)
	{
		write_partial(aggregation, file, partial);
		return true;
	}
	for (uint32_t i = 0; i < program->n.naggregates; i++)
	{
		write_value(file, program->aggregate[i].lane, &values[i]);
		if (values[i].state == CSV_LANE_UNDECIDED &&
			program->aggregate[i].lane == CSV_LANE_DECIMAL)
		{
			struct varlena *wide = PG_DETOAST_DATUM(aggregation->wide[i]);
			uint32		nbytes = VARSIZE(wide);

			BufFileWrite(file, &nbytes, sizeof(nbytes));
			BufFileWrite(file, wide, nbytes);
		}
	}
	return true;
}

/* as CsvSpillValueFn, likewise */
static bool
spill_value(void *arg, uint64_t hash, uint32_t aggregate, uint32_t group,
			const CsvValue *value)
{
	CsvAggregation *aggregation = arg;
	BufFile    *file = spill_file(aggregation, &aggregation->values, hash);

	BufFileWrite(file, &group, sizeof(group));
	BufFileWrite(file, &aggregate, sizeof(aggregate));
	write_value(file, aggregation->program->aggregate[aggregate].lane, value);
	return true;
}

static void
read_exactly(BufFile *file, void *to, size_t nbytes)
{
	if (BufFileRead(file, to, nbytes) != nbytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from temporary file: %m")));
}

/* false at the end of the file */
static bool
read_value(BufFile *file, uint8_t lane, CsvValue *value)
{
	memset(value, 0, sizeof(*value));
	if (BufFileRead(file, &value->state, sizeof(value->state)) == 0)
		return false;
	if (value->state == CSV_LANE_VALUE && lane == CSV_LANE_TEXT)
	{
		uint8_t    *bytes;

		read_exactly(file, &value->length, sizeof(value->length));
		bytes = palloc(value->length);
		read_exactly(file, bytes, value->length);
		value->bytes = bytes;
	}
	else if (value->state == CSV_LANE_VALUE)
		read_exactly(file, &value->value, sizeof(value->value));
	return true;
}

/* what a row adds to an aggregate */
static void
read_argument(CsvAggregation *aggregation, BufFile *file, uint32_t aggregate,
			  CsvValue *value)
{
	if (!read_value(file, aggregation->program->aggregate[aggregate].lane,
					value))
		elog(ERROR, "unexpected end of temporary file");
	if (value->state == CSV_LANE_UNDECIDED &&
		aggregation->program->aggregate[aggregate].lane == CSV_LANE_DECIMAL)
	{
		uint32		nbytes;
		char	   *wide;

		read_exactly(file, &nbytes, sizeof(nbytes));
		wide = palloc(nbytes);
		read_exactly(file, wide, nbytes);
		aggregation->wide[aggregate] = PointerGetDatum(wide);
	}
}

/* in the current memory context */
static CsvPartial
read_partial(CsvAggregation *aggregation, BufFile *file)
{
	const CsvPartialLayout *layout = &aggregation->partial;
	int64_t    *words = palloc(layout->nwords * sizeof(int64_t));
	CsvPartial	partial = {words, NULL};
	size_t		nbytes = 0;
	uint8_t    *texts;

	read_exactly(file, words, layout->nwords * sizeof(int64_t));
	for (uint32_t i = 0; i < aggregation->program->n.naggregates; i++)
		if (has_text(aggregation, words, i))
		{
			int64_t    *text = words + layout->first_word[i];

			text[0] = (int64_t) nbytes;
			nbytes += (size_t) text[1];
		}
	texts = MemoryContextAllocHuge(CurrentMemoryContext, nbytes + 1);
	read_exactly(file, texts, nbytes);
	partial.texts = texts;
	return partial;
}

/* ---- single rows ---- */

/*
 * Is it a float whose square is beyond all floats?  One whose square is below
 * all counts as 0 there.
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

/*
 * What the row in aggregation->row adds to an aggregate.
 */
static CsvLaneState
get_argument(CsvAggregation *aggregation, uint32_t aggregate, CsvValue *value)
{
	const Source *source = &aggregation->sources[aggregate];
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
	switch (aggregation->program->aggregate[aggregate].kind)
	{
		case CSV_AGGREGATE_COUNT:
			return CSV_LANE_VALUE;
		case CSV_AGGREGATE_MIN:
		case CSV_AGGREGATE_MAX:
		case CSV_AGGREGATE_COUNT_DISTINCT:
			value_to_compare(&source->reg, datum, false, value);
			return CSV_LANE_VALUE;
		default:
			if (csv_value_of_datum(&source->reg, datum, value) &&
				!is_beyond_squares(aggregation, aggregate, value))
				return CSV_LANE_VALUE;
			aggregation->wide[aggregate] = datum;
			return CSV_LANE_UNDECIDED;
	}
}

/*
 * Add a row, or instead of its values what several have come to, to its group,
 * or to those for which there is no room.
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
	if (partial != NULL)
		return;
	for (uint32_t i = 0; i < aggregation->program->n.naggregates; i++)
		if (values[i].state == CSV_LANE_UNDECIDED)
			add_extra(aggregation, group, i, aggregation->wide[i]);
}

void
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
		return;
	outer = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	for (uint32_t i = 0; i < program->n.nkeys; i++)
	{
		bool		isnull;
		Datum		datum = ExecEvalExpr(aggregation->keys[i], econtext,
										 &isnull);

		value_to_compare(&aggregation->key_registers[i], datum, isnull,
						 &keys[i]);
	}
	memset(values, 0, sizeof(CsvValue) * program->n.naggregates);
	for (uint32_t i = 0; i < program->n.naggregates; i++)
		values[i].state = get_argument(aggregation, i, &values[i]);
	add_values(aggregation, keys, values, NULL);
	MemoryContextSwitchTo(outer);
}

/* ---- all rows ---- */

/* of what is in memory now, which was spilled that often */
static void
set_limit(CsvAggregation *aggregation, const Spill *spill, size_t nbytes)
{
	csv_evaluator_limit(aggregation->evaluator,
						spill->level < MOST_LEVELS ? nbytes : 0, spill_row,
						spill_value, aggregation);
}

void
csv_aggregation_attach(CsvAggregation *aggregation, CsvEvaluator *evaluator)
{
	drop_spilled(aggregation, &aggregation->rows);
	drop_spilled(aggregation, &aggregation->values);
	aggregation->evaluator = evaluator;
	aggregation->next = 0;
	aggregation->nbatches = 1;
	drop_extras(aggregation);
	csv_partial_lay_out(csv_evaluator_query(evaluator), &aggregation->partial);
	set_limit(aggregation, &aggregation->rows, get_hash_memory_limit());
}

/* let go of the groups that the device holds */
static void
drop_held(CsvAggregation *aggregation)
{
	aggregation->has_held = false;
	csv_batches_drop_held(aggregation->batches);
}

/* make columns when they are needed first; most queries have few groups */
static void
create_columns(CsvAggregation *aggregation)
{
	MemoryContext outer = MemoryContextSwitchTo(aggregation->context);

	aggregation->all_columns = true;
	for (int i = 0; i < aggregation->nresults; i++)
	{
		if (!aggregation->is_used[i])
			continue;
		if (aggregation->columns[i] == NULL)
			aggregation->columns[i] =
				csv_group_column_create(aggregation->program,
										&aggregation->results[i],
										aggregation->aggrefs[i]);
		aggregation->all_columns &= aggregation->columns[i] != NULL;
	}
	MemoryContextSwitchTo(outer);
}

/*
 * All rows are read.  If some of them are spilled, groups that the device holds
 * must go the same way; else they can stay there until their turn comes.
 */
static void
settle_held(CsvAggregation *aggregation)
{
	CsvPartialGroups *piece = &aggregation->piece;
	uint32_t	first = 0;
	bool		was_spilled = false;

	aggregation->was_held = false;
	aggregation->nevaluated = csv_evaluator_ngroups(aggregation->evaluator);
	aggregation->piece_first = 0;
	aggregation->piece_next = 0;
	aggregation->columns_end = 0;
	aggregation->has_held = csv_batches_held(aggregation->batches, 0, piece);
	for (int i = 0; i < CSV_SPILL_FILES; i++)
		was_spilled |= aggregation->rows.spilling[i] != NULL;
	if (!aggregation->has_held)
		return;
	if (!was_spilled)
	{
		create_columns(aggregation);
		return;
	}
	do
	{
		CHECK_FOR_INTERRUPTS();
		if (csv_evaluator_merge(aggregation->evaluator, piece) != CSV_OK)
			out_of_memory();
		first += piece->ngroups;
	} while (csv_batches_held(aggregation->batches, first, piece));
	drop_held(aggregation);
}

/*
 * All rows of the groups are added, those that are not spilled: count the values
 * that are.
 */
static void
count_spilled_values(CsvAggregation *aggregation)
{
	CsvEvaluator *evaluator = aggregation->evaluator;
	Spill	   *spill = &aggregation->values;
	BufFile    *file;

	keep_spilled(aggregation, spill);
	while ((file = take_spilled(spill)) != NULL)
	{
		size_t		limit = get_hash_memory_limit();
		uint32_t	group;

		csv_evaluator_forget_values(evaluator);
		set_limit(aggregation, spill,
				  Max(limit, csv_evaluator_group_bytes(evaluator) +
					  limit / VALUES_SHARE));
		aggregation->nbatches++;
		for (;;)
		{
			uint32_t	aggregate;
			CsvValue	value;
			MemoryContext outer;

			CHECK_FOR_INTERRUPTS();
			ResetExprContext(aggregation->econtext);
			if (BufFileRead(file, &group, sizeof(group)) == 0)
				break;
			read_exactly(file, &aggregate, sizeof(aggregate));
			outer = MemoryContextSwitchTo(aggregation->econtext->ecxt_per_tuple_memory);
			read_argument(aggregation, file, aggregate, &value);
			if (!csv_evaluator_count_value(evaluator, aggregate, group, &value))
				out_of_memory();
			MemoryContextSwitchTo(outer);
		}
		BufFileClose(file);
		keep_spilled(aggregation, spill);
	}
	spill->level = 0;
}

/*
 * Group the rows of the next file; false if there is none.
 */
static bool
next_batch(CsvAggregation *aggregation)
{
	const CsvProgram *program = aggregation->program;
	CsvValue	keys[CSV_MAX_KEYS];
	CsvValue	values[CSV_MAX_AGGREGATES];
	BufFile    *file = take_spilled(&aggregation->rows);

	if (file == NULL)
		return false;
	aggregation->next = 0;
	drop_extras(aggregation);
	aggregation->nbatches++;
	if (!csv_evaluator_reset(aggregation->evaluator))
		out_of_memory();
	set_limit(aggregation, &aggregation->rows, get_hash_memory_limit());
	for (;;)
	{
		bool		found = false;
		bool		is_partial = false;
		CsvPartial	partial;
		MemoryContext outer;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(aggregation->econtext);
		outer = MemoryContextSwitchTo(aggregation->econtext->ecxt_per_tuple_memory);
		for (uint32_t i = 0; i < program->n.nkeys; i++)
			found = read_value(file, program->keys[i].lane, &keys[i]);
		if (found)
			read_exactly(file, &is_partial, sizeof(is_partial));
		for (uint32_t i = 0; found && !is_partial &&
			 i < program->n.naggregates; i++)
			read_argument(aggregation, file, i, &values[i]);
		if (found && is_partial)
			partial = read_partial(aggregation, file);
		if (found)
			add_values(aggregation, keys, values, is_partial ? &partial : NULL);
		MemoryContextSwitchTo(outer);
		if (!found)
			break;
	}
	BufFileClose(file);
	keep_spilled(aggregation, &aggregation->rows);
	count_spilled_values(aggregation);
	return true;
}

TupleTableSlot *
csv_aggregation_row(CsvAggregation *aggregation)
{
	return aggregation->row;
}

void
csv_aggregation_finish(CsvAggregation *aggregation, CsvBatches *batches)
{
	aggregation->batches = batches;
	/* where there was no row, this makes the evaluator */
	(void) csv_batches_groups(batches);
	settle_held(aggregation);
	keep_spilled(aggregation, &aggregation->rows);
	count_spilled_values(aggregation);
}

bool
csv_aggregation_rewind(CsvAggregation *aggregation)
{
	aggregation->next = 0;
	return aggregation->rows.level == 0 && aggregation->rows.spilled == NIL &&
		!aggregation->was_held;
}

void
csv_aggregation_end(CsvAggregation *aggregation)
{
	drop_spilled(aggregation, &aggregation->rows);
	drop_spilled(aggregation, &aggregation->values);
}

int64
csv_aggregation_batches(const CsvAggregation *aggregation)
{
	return aggregation->nbatches;
}

/* ---- from groups to rows ---- */

/* what a group holds, be it in the evaluator or from the device */
static void
get_key(const CsvAggregation *aggregation, uint32_t group, int key,
		CsvValue *value)
{
	if (aggregation->at_piece)
		csv_partial_key(csv_evaluator_query(aggregation->evaluator),
						&aggregation->piece, group, (uint32_t) key, value);
	else
		csv_evaluator_key(aggregation->evaluator, group, (uint32_t) key, value);
}

static void
get_aggregate(const CsvAggregation *aggregation, uint32_t group, int aggregate,
			  CsvAggregateValue *value)
{
	if (aggregation->at_piece)
		csv_partial_aggregate(csv_evaluator_query(aggregation->evaluator),
							  &aggregation->partial, &aggregation->piece, group,
							  (uint32_t) aggregate, value);
	else
		csv_evaluator_aggregate(aggregation->evaluator, group,
								(uint32_t) aggregate, value);
}

/* a sum of a group, as a numeric where it is one */
typedef struct Sum
{
	int64		count;			/* of values */
	int64		nnans;
	CsvAggregateValue value;
	Datum		numeric;		/* without NaNs */
} Sum;

/* wants_numeric: not only words, for which there may be `room` */
static void
get_sum(const CsvAggregation *aggregation, uint32_t group, int aggregate,
		const CsvRegister *reg, void *room, bool wants_numeric, Sum *sum)
{
	const Extra *extra = find_extra(aggregation, group, aggregate);
	int			scale = reg->scale;

	if (aggregation->program->aggregate[aggregate].kind ==
		CSV_AGGREGATE_SUM_SQUARES)
		scale *= 2;
	get_aggregate(aggregation, group, aggregate, &sum->value);
	sum->count = sum->value.count;
	sum->nnans = 0;
	sum->numeric = (Datum) 0;
	if (reg->lane == CSV_LANE_FLOAT)
	{
		if (sum->value.overflow)
			float_overflow_error();
		return;
	}
	if (wants_numeric)
		sum->numeric = csv_numeric_of_wide(&sum->value.wide, scale, room);
	if (extra == NULL)
		return;
	sum->numeric = sum->count == extra->count ? extra->sum :
		DirectFunctionCall2(numeric_add, sum->numeric, extra->sum);
	sum->nnans = extra->nnans;
}

static Datum
sum_result(const Sum *sum, Oid type)
{
	switch (type)
	{
		case INT8OID:
			return Int64GetDatum((int64) sum->value.wide.word[0]);
		case FLOAT4OID:
			if (isinf((float4) sum->value.real) && !isinf(sum->value.real))
				float_overflow_error();
			return Float4GetDatum((float4) sum->value.real);
		case FLOAT8OID:
			return Float8GetDatum(sum->value.real);
		default:
			return sum->nnans > 0 ? csv_numeric_nan() : sum->numeric;
	}
}

static Datum
average_result(const Sum *sum, Oid type)
{
	/* the server's begins with 0, so that a sum of -0 is 0 */
	if (type == FLOAT8OID)
		return Float8GetDatum((sum->value.real + 0.0) / (float8) sum->count);
	if (sum->nnans > 0)
		return csv_numeric_nan();
	return DirectFunctionCall2(numeric_div, sum->numeric,
							   NumericGetDatum(int64_to_numeric(sum->count)));
}

/* a numeric as the states of numeric.c are serialized */
static void
send_numeric(StringInfo buffer, Datum numeric)
{
	bytea	   *sent = DatumGetByteaPP(DirectFunctionCall1(numeric_send,
														   numeric));
	StringInfoData in;
	int			ndigits;

	initStringInfo(&in);
	appendBinaryStringInfo(&in, VARDATA_ANY(sent), VARSIZE_ANY_EXHDR(sent));
	ndigits = (int16) pq_getmsgint(&in, 2);
	pq_sendint32(buffer, ndigits);
	pq_sendint32(buffer, (int32) (int16) pq_getmsgint(&in, 2)); /* weight */
	pq_sendint32(buffer, (uint16) pq_getmsgint(&in, 2));	/* sign */
	pq_sendint32(buffer, (int32) (int16) pq_getmsgint(&in, 2)); /* dscale */
	for (int i = 0; i < ndigits; i++)
		pq_sendint16(buffer, (uint16) pq_getmsgint(&in, 2));
}

static Datum
call_as_aggregate(CsvAggregation *aggregation, FmgrInfo *function, int nargs,
				  Datum first, Datum second, bool *isnull)
{
	LOCAL_FCINFO(fcinfo, 2);
	Datum		result;

	InitFunctionCallInfoData(*fcinfo, function, nargs, InvalidOid,
							 (Node *) aggregation->caller, NULL);
	fcinfo->args[0].value = first;
	fcinfo->args[0].isnull = false;
	fcinfo->args[1].value = second;
	fcinfo->args[1].isnull = false;
	result = FunctionCallInvoke(fcinfo);
	*isnull = fcinfo->isnull;
	return result;
}

/*
 * A transition state that only its function knows, as parallel workers hand it
 * over: the bytes of the function's aggserialfn.
 */
static Datum
serialized_state(Oid function, const Sum *sum, const Sum *squares)
{
	StringInfoData buffer;

	pq_begintypsend(&buffer);
	pq_sendint64(&buffer, sum->count - sum->nnans);
	send_numeric(&buffer, sum->numeric);
	if (squares != NULL)
		send_numeric(&buffer, squares->numeric);
	if (function == F_NUMERIC_SERIALIZE || function == F_NUMERIC_AVG_SERIALIZE)
	{
		pq_sendint32(&buffer, 0);	/* the greatest scale, */
		pq_sendint64(&buffer, 0);	/* and how often: for taking values out */
		pq_sendint64(&buffer, sum->nnans);
		pq_sendint64(&buffer, 0);	/* infinities */
		pq_sendint64(&buffer, 0);
	}
	return PointerGetDatum(pq_endtypsend(&buffer));
}

/* variances and standard deviations by the server's own final functions */
static Datum
variance_result(CsvAggregation *aggregation, int i, Datum serialized,
				bool *isnull)
{
	Datum		state = call_as_aggregate(aggregation,
										  &aggregation->deserialize[i], 2,
										  serialized, (Datum) 0, isnull);

	return call_as_aggregate(aggregation, &aggregation->finish[i], 1, state,
							 (Datum) 0, isnull);
}

/* the transition state of averages and variances of floats */
static Datum
float_state(const Sum *sum, float8 spread)
{
	Datum		elements[3];

	elements[0] = Float8GetDatum((float8) sum->count);
	elements[1] = Float8GetDatum(sum->value.real + 0.0);
	elements[2] = Float8GetDatum(spread);
	return PointerGetDatum(construct_array(elements, 3, FLOAT8OID,
										   sizeof(float8), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

/*
 * The sum of squared deviations from the mean of a result's values, as
 * PostgreSQL keeps it: NaN where one was not finite.
 */
static float8
float_spread(const CsvAggregation *aggregation, uint32_t group,
			 const CsvResult *result, const Sum *sum)
{
	float8		spread;

	if (sum->count == 0 || !isfinite(sum->value.real))
		return sum->count == 0 ? 0.0 : get_float8_nan();
	spread = sum->count == 1 ? 0.0 :
		find_extra(aggregation, group, result->second) != NULL ?
		get_float8_infinity() :
		aggregation->at_piece ?
		csv_partial_spread(&aggregation->partial, &aggregation->piece, group,
						   (uint32_t) result->first,
						   (uint32_t) result->second, (uint64_t) sum->count) :
		csv_evaluator_spread(aggregation->evaluator, group,
							 (uint32_t) result->first,
							 (uint32_t) result->second, (uint64_t) sum->count);
	if (isinf(spread))
		float_overflow_error();
	return spread;
}

/*
 * The transition state of an average that is an array.  No average looks at a
 * sum of squared deviations that is finite; but PostgreSQL takes the state for
 * that of a variance of the same values, too, if there is one.
 */
static Datum
average_state(const CsvAggregation *aggregation, uint32_t group,
			  const CsvResult *result, const Sum *sum, Oid type)
{
	Datum		elements[2];

	if (type == FLOAT8ARRAYOID)
	{
		for (int i = 0; i < aggregation->nresults; i++)
		{
			const CsvResult *other = &aggregation->results[i];

			if (other->kind == CSV_RESULT_VARIANCE &&
				other->first == result->first)
				return float_state(sum, float_spread(aggregation, group, other,
													 sum));
		}
		return float_state(sum, isfinite(sum->value.real) ? 0.0 :
						   get_float8_nan());
	}
	elements[0] = Int64GetDatum(sum->count);
	elements[1] = Int64GetDatum((int64) sum->value.wide.word[0]);
	return PointerGetDatum(construct_array(elements, 2, INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

static Datum
datum_of_value(const CsvAggregation *aggregation, int i,
			   const CsvRegister *reg, const CsvValue *value)
{
	return reg->type == NUMERICOID && value->value.decimal != CSV_DECIMAL_NAN ?
		csv_numeric_of_decimal(value->value.decimal, reg->scale,
							   aggregation->rooms[i]) :
		csv_datum_of_value(reg, value);
}

static Datum
result_of(CsvAggregation *aggregation, uint32_t group, int i, bool *isnull)
{
	const CsvResult *result = &aggregation->results[i];
	/* a count may have no argument, and looks at none */
	const CsvRegister *reg =
		&aggregation->program->registers[Max(result->argument, 0)];
	const Aggref *aggref;
	CsvAggregateValue value;
	CsvValue	key;
	Sum			sum;
	Sum			squares;

	*isnull = false;
	switch (result->kind)
	{
		case CSV_RESULT_KEY:
			get_key(aggregation, group, result->first, &key);
			*isnull = key.state == CSV_LANE_NULL;
			return *isnull ? (Datum) 0 : datum_of_value(aggregation, i, reg,
														&key);
		case CSV_RESULT_COUNT:
			get_aggregate(aggregation, group, result->first, &value);
			return Int64GetDatum(value.count);
		case CSV_RESULT_EXTREME:
			get_aggregate(aggregation, group, result->first, &value);
			*isnull = value.extreme.state == CSV_LANE_NULL;
			return *isnull ? (Datum) 0 : datum_of_value(aggregation, i, reg,
														&value.extreme);
		default:
			break;
	}

	aggref = aggregation->aggrefs[i];
	get_sum(aggregation, group, result->first, reg, aggregation->rooms[i],
			aggref->aggtype != INT8OID && aggref->aggtype != INT8ARRAYOID,
			&sum);
	if (result->kind == CSV_RESULT_VARIANCE && reg->lane == CSV_LANE_FLOAT)
	{
		Datum		state = float_state(&sum, float_spread(aggregation, group,
														   result, &sum));

		return aggref->aggsplit != AGGSPLIT_SIMPLE ? state :
			call_as_aggregate(aggregation, &aggregation->finish[i], 1, state,
							  (Datum) 0, isnull);
	}
	if (aggref->aggtype == INT8ARRAYOID || aggref->aggtype == FLOAT8ARRAYOID)
		return average_state(aggregation, group, result, &sum,
							 aggref->aggtype);
	*isnull = sum.count == 0;
	if (*isnull)
		return (Datum) 0;
	if (result->kind == CSV_RESULT_VARIANCE)
	{
		Datum		state;

		get_sum(aggregation, group, result->second, reg, NULL, true, &squares);
		state = serialized_state(aggregation->serialize[i], &sum, &squares);
		return aggref->aggsplit == AGGSPLIT_SIMPLE ?
			variance_result(aggregation, i, state, isnull) : state;
	}
	if (aggref->aggtype == BYTEAOID)
		return serialized_state(aggregation->serialize[i], &sum, NULL);
	return result->kind == CSV_RESULT_SUM ?
		sum_result(&sum, aggref->aggtype) :
		average_result(&sum, aggref->aggtype);
}

/* add a group of the piece to the evaluator's of these keys, if there is one */
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

	for (uint32_t i = 0; i < aggregation->program->n.nkeys; i++)
		csv_partial_key(csv_evaluator_query(evaluator), piece, group, i,
						&keys[i]);
	found = csv_evaluator_seek_group(evaluator, keys);
	if (found == CSV_NO_GROUP)
		return false;
	if (!csv_evaluator_add_partial(evaluator, found, &partial))
		out_of_memory();
	return true;
}

/* the next piece of groups that the device holds; false if there is none */
static bool
next_piece(CsvAggregation *aggregation)
{
	CHECK_FOR_INTERRUPTS();
	aggregation->piece_first += aggregation->piece.ngroups;
	aggregation->piece_next = 0;
	aggregation->columns_end = 0;
	if (csv_batches_held(aggregation->batches, aggregation->piece_first,
						 &aggregation->piece))
		return true;
	drop_held(aggregation);
	return false;
}

/*
 * The next group that the device holds, and that the evaluator does not have;
 * false if there are no more.
 */
static bool
next_held(CsvAggregation *aggregation, uint32_t *group)
{
	aggregation->was_held = true;
	do
	{
		if (aggregation->piece_next == aggregation->piece.ngroups &&
			!next_piece(aggregation))
			return false;
		*group = aggregation->piece_next++;
	} while (aggregation->nevaluated > 0 &&
			 add_to_evaluator(aggregation, *group));
	return true;
}

/* values of a group of the piece and those after it, column by column */
static void
fill_columns(CsvAggregation *aggregation, uint32_t group)
{
	const CsvPartialGroups *piece = &aggregation->piece;
	uint32_t	n = Min(piece->ngroups - group, CSV_GROUP_ROWS);
	MemoryContext outer;

	MemoryContextReset(aggregation->columns_context);
	outer = MemoryContextSwitchTo(aggregation->columns_context);
	for (int i = 0; i < aggregation->nresults; i++)
		if (aggregation->columns[i] != NULL)
			csv_group_column_fill(aggregation->columns[i],
								  csv_evaluator_query(aggregation->evaluator),
								  &aggregation->partial, piece, group, n);
	MemoryContextSwitchTo(outer);
	aggregation->columns_first = group;
	aggregation->columns_end = group + n;
}

/* a row of a group of the piece */
static void
fill_row(CsvAggregation *aggregation, uint32_t group, Datum *values,
		 bool *isnull)
{
	uint32_t	row;

	if (group >= aggregation->columns_end)
		fill_columns(aggregation, group);
	row = group - aggregation->columns_first;
	for (int i = 0; i < aggregation->nresults; i++)
	{
		const CsvGroupColumn *column = aggregation->columns[i];

		isnull[i] = column == NULL || column->isnull[row];
		if (column != NULL)
			values[i] = column->values[row];
	}
}

bool
csv_aggregation_next(CsvAggregation *aggregation, Datum *values, bool *isnull)
{
	MemoryContext outer;
	uint32_t	group;

	aggregation->at_piece = aggregation->has_held &&
		next_held(aggregation, &group);
	if (aggregation->at_piece)
	{
		fill_row(aggregation, group, values, isnull);
		if (aggregation->all_columns)
			return true;
	}
	else
	{
		while (aggregation->next >=
			   csv_evaluator_ngroups(aggregation->evaluator))
			if (!next_batch(aggregation))
				return false;
		group = aggregation->next++;
	}
	if (aggregation->nrows++ % aggregation->rows_per_reset == 0)
		ResetExprContext(aggregation->econtext);
	outer = MemoryContextSwitchTo(aggregation->econtext->ecxt_per_tuple_memory);
	for (int i = 0; i < aggregation->nresults; i++)
	{
		if (aggregation->at_piece && aggregation->columns[i] != NULL)
			continue;
		isnull[i] = true;
		if (aggregation->is_used[i])
			values[i] = result_of(aggregation, group, i, &isnull[i]);
	}
	MemoryContextSwitchTo(outer);
	return true;
}
