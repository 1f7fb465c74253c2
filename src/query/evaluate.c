/*
 * evaluate.c
 *		Evaluates a CsvQuery over batches, on the CPU.
 *
 * A batch is evaluated in blocks of CSV_BLOCK_ROWS rows.  An instruction is a loop
 * over a block, from registers to a register (lanes.h).  A column of the batch is used
 * where it lies, if its entries have the format of a register.
 *
 * As soon as a filter's register has its values, the rows that do not pass are removed
 * from the list of rows that count.  If the list has become short, instructions go by
 * the list.  Otherwise they run over the whole block, which costs less a row: all
 * operations are defined for all values, so that values of dropped rows do no harm.
 *
 * Not every undecided value matters: a row is handed back if a filter that it reaches
 * is undecided, or a key, an argument, or the filter of an argument.  The other rows
 * are added to their groups (groups.c), or to the first rows of an order (best.c).
 */
#include "block.h"

#include "../reader/arrays.h"

/* registers begin at cache lines */
#define ALIGNMENT		64

/* bytes of a register for each row */
#define REGISTER_BYTES	(16 + 4 + 1)

/* the room of registers is for this many rows, or times GROWTH, and so on */
#define LEAST_ROWS		16
#define GROWTH			8

/* the fate of a row of a block */
#define ROW_DROPPED		0
#define ROW_PASSES		1
#define ROW_CAREFUL		2

/* ---- a block ---- */

/* a loop over a list costs about twice as much a row */
static void
set_dense(CsvEvaluator *evaluator)
{
	evaluator->dense = evaluator->nalive > evaluator->nrows / 2;
}

/* keep only the rows for which the filter is true */
static void
apply_filter(CsvEvaluator *evaluator, const CsvLanes *filter)
{
	const int64_t *bools = filter->integers;
	uint16_t   *alive = evaluator->alive;
	uint32_t	n = 0;

	for (uint32_t k = 0; k < evaluator->nalive; k++)
	{
		uint16_t	row = alive[k];

		alive[n] = row;
		if (filter->plain)
			n += bools[row] != 0;
		else if (filter->state[row] == CSV_LANE_UNDECIDED)
		{
			evaluator->fate[row] = ROW_CAREFUL;
			evaluator->any_careful = true;
		}
		else
			n += filter->state[row] == CSV_LANE_VALUE && bools[row] != 0;
	}
	evaluator->nalive = n;
	set_dense(evaluator);
}

/* is the square of a value out of its lane's range? */
static bool
is_beyond_squares(const CsvLanes *lanes, uint32_t row)
{
	double		high;
	double		low;

	if (lanes->lane == CSV_LANE_FLOAT)
		return !csv_float_square(lanes->reals[row], &high, &low);
	return lanes->lane == CSV_LANE_DECIMAL &&
		csv_decimal_magnitude(csv_lanes_decimal(lanes, row)) >=
		csv_power_of_ten(CSV_MAX_SQUARED_DIGITS);
}

/* make rows careful if this lane is undecided and the filter is true */
static void
note_undecided(CsvEvaluator *evaluator, const CsvLanes *lanes,
			   const CsvLanes *filter, bool squares)
{
	if (lanes->plain && !squares)
		return;
	for (uint32_t k = 0; k < evaluator->nalive; k++)
	{
		uint32_t	row = evaluator->alive[k];
		uint8_t		state = csv_lanes_state(lanes, row);

		if (state == CSV_LANE_NULL ||
			(filter != NULL &&
			 (csv_lanes_state(filter, row) != CSV_LANE_VALUE ||
			  filter->integers[row] == 0)))
			continue;
		if (state == CSV_LANE_UNDECIDED ||
			(squares && is_beyond_squares(lanes, row)))
			evaluator->fate[row] = ROW_CAREFUL;
	}
}

/* remove undecided rows from the list of rows that count: the caller evaluates them */
static void
drop_undecided(CsvEvaluator *evaluator)
{
	const CsvQuery *query = evaluator->query;
	const CsvLanes *lanes = evaluator->lanes;
	uint16_t   *alive = evaluator->alive;
	uint32_t	n = 0;

	for (uint32_t key = 0; key < query->nkeys; key++)
		note_undecided(evaluator, &lanes[query->keys[key].value], NULL, false);
	for (uint32_t i = 0; evaluator->best != NULL && i < query->norder; i++)
		note_undecided(evaluator, &lanes[query->order[i].value], NULL, false);
	for (uint32_t i = 0; evaluator->best != NULL && i < query->nchecked; i++)
		note_undecided(evaluator, &lanes[query->checked[i]], NULL, false);
	for (uint32_t i = 0; i < query->naggregates; i++)
	{
		const CsvAggregate *aggregate = &query->aggregate[i];
		const CsvLanes *filter = aggregate->filter == CSV_NO_REGISTER ? NULL :
			&lanes[aggregate->filter];
		const CsvLanes *argument =
			aggregate->kind == CSV_AGGREGATE_COUNT_ROWS ? NULL :
			&lanes[aggregate->argument];

		if (filter != NULL)
			note_undecided(evaluator, filter, NULL, false);
		if (argument != NULL)
			note_undecided(evaluator, argument, filter,
						   aggregate->kind == CSV_AGGREGATE_SUM_SQUARES &&
						   (argument->lane == CSV_LANE_FLOAT ||
							(argument->lane == CSV_LANE_DECIMAL &&
							 argument->limit >=
							 csv_power_of_ten(CSV_MAX_SQUARED_DIGITS))));
	}
	for (uint32_t k = 0; k < evaluator->nalive; k++)
	{
		alive[n] = alive[k];
		n += evaluator->fate[alive[k]] != ROW_CAREFUL;
	}
	evaluator->any_careful |= n < evaluator->nalive;
	evaluator->nalive = n;
}

/* list the block's rows that come out */
static void
list_block(CsvEvaluator *evaluator, CsvSelection *selection)
{
	uint32_t	first_row = evaluator->first_row;
	uint32_t	n = selection->nrows;

	if (!evaluator->any_careful)
	{
		if (evaluator->query->aggregates)
			return;
		for (uint32_t k = 0; k < evaluator->nalive; k++)
			evaluator->rows[n + k] = first_row + evaluator->alive[k];
		memset(evaluator->careful + n, 0, evaluator->nalive);
		selection->nrows += evaluator->nalive;
		return;
	}
	if (!evaluator->query->aggregates)
		for (uint32_t k = 0; k < evaluator->nalive; k++)
			evaluator->fate[evaluator->alive[k]] = ROW_PASSES;
	for (uint32_t i = 0; i < evaluator->nrows; i++)
	{
		evaluator->rows[n] = first_row + i;
		evaluator->careful[n] = evaluator->fate[i] == ROW_CAREFUL;
		n += evaluator->fate[i] != ROW_DROPPED;
	}
	selection->nrows = n;
	selection->any_careful = true;
}

static CsvStatus
run_block(CsvEvaluator *evaluator, const uint8_t *wanted,
		  CsvSelection *selection)
{
	const CsvQuery *query = evaluator->query;
	bool		whole = query->aggregates || evaluator->best != NULL;
	uint32_t	nfilters = 0;	/* that were applied */
	uint32_t	ncareful = 0;
	uint32_t	nbeyond = 0;
	uint32_t	at = 0;
	uint16_t   *alive = evaluator->alive;
	uint32_t	nalive = 0;

	evaluator->any_careful = false;
	memset(evaluator->fate, ROW_DROPPED, evaluator->nrows);
	for (uint32_t i = 0; i < evaluator->nrows; i++)
	{
		alive[nalive] = (uint16_t) i;
		if (wanted != NULL && wanted[evaluator->first_row + i] != 0)
		{
			evaluator->fate[i] = ROW_CAREFUL;
			evaluator->any_careful = true;
		}
		else
			nalive++;
	}
	evaluator->nalive = nalive;
	set_dense(evaluator);

	while (evaluator->nalive > 0)
	{
		/* registers are written once: the filter's has its values, or will get them */
		while (nfilters < query->nfilters &&
			   evaluator->written[query->filters[nfilters]] <= at)
			apply_filter(evaluator,
						 &evaluator->lanes[query->filters[nfilters++]]);
		if (at == (whole ? query->ninstructions :
				   query->nfilter_instructions))
			break;
		if (evaluator->nalive > 0)
			csv_execute(evaluator, &query->instructions[at++]);
	}
	if (whole && evaluator->nalive > 0)
		drop_undecided(evaluator);
	if (query->aggregates && evaluator->nalive > 0)
	{
		CsvRows		rows = {evaluator->alive, evaluator->nalive};

		if (!csv_groups_add(evaluator->groups, evaluator->lanes, rows,
							evaluator->first_row))
			return CSV_NO_MEMORY;
	}
	if (evaluator->best != NULL && evaluator->nalive > 0)
	{
		nbeyond = evaluator->nalive;
		if (!csv_best_take(evaluator->best, evaluator->lanes,
						   evaluator->first_row, evaluator->alive,
						   &evaluator->nalive))
			return CSV_NO_MEMORY;
		nbeyond -= evaluator->nalive;
	}
	if (evaluator->any_careful)
		for (uint32_t i = 0; i < evaluator->nrows; i++)
			ncareful += evaluator->fate[i] == ROW_CAREFUL;
	selection->nbeyond += nbeyond;
	selection->ndropped += evaluator->nrows - evaluator->nalive - ncareful -
		nbeyond;
	list_block(evaluator, selection);
	return CSV_OK;
}

/* ---- batches ---- */

/* remove rows that later rows have put beyond the limit */
static void
drop_beyond(CsvEvaluator *evaluator, CsvSelection *selection)
{
	uint32_t	n = 0;

	for (uint32_t k = 0; k < selection->nrows; k++)
	{
		evaluator->rows[n] = evaluator->rows[k];
		evaluator->careful[n] = evaluator->careful[k];
		n += evaluator->careful[k] != 0 ||
			csv_best_holds(evaluator->best, evaluator->rows[k]);
	}
	selection->nbeyond += selection->nrows - n;
	selection->nrows = n;
}

static bool
reserve_rows(CsvEvaluator *evaluator, uint32_t nrows)
{
	const CsvMemory *memory = &evaluator->memory;

	if (nrows <= evaluator->capacity)
		return true;
	csv_free(memory, evaluator->rows);
	evaluator->capacity = 0;

	/* one more: list_block() writes a row before it knows its fate */
	evaluator->rows = memory->alloc(memory->owner,
									((size_t) nrows + 1) * (4 + 1));
	if (evaluator->rows == NULL)
		return false;
	evaluator->careful = (uint8_t *) (evaluator->rows + nrows + 1);
	evaluator->capacity = nrows;
	return true;
}

/*
 * Make room for blocks of a batch of nrows rows.  Most files of a few rows have only
 * one batch, and 21 kB a register would cost more than all else.
 */
static bool
reserve_registers(CsvEvaluator *evaluator, uint32_t nrows)
{
	const CsvMemory *memory = &evaluator->memory;
	uint32_t	nregisters = evaluator->query->nregisters;
	size_t		n = LEAST_ROWS;
	size_t		register_bytes;
	size_t		nbytes;
	uint8_t    *next;

	while (n < nrows && n < CSV_BLOCK_ROWS)
		n *= GROWTH;
	if (n <= evaluator->room_rows)
		return true;
	csv_free(memory, evaluator->room);
	evaluator->room_rows = 0;
	register_bytes = (REGISTER_BYTES * n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	nbytes = ALIGNMENT + nregisters * register_bytes +
		n * (sizeof(*evaluator->alive) + sizeof(*evaluator->fate));
	evaluator->room = memory->alloc(memory->owner, nbytes);
	if (evaluator->room == NULL)
		return false;
	evaluator->room_rows = (uint32_t) n;

	/* values that no row has can be read */
	memset(evaluator->room, 0, nbytes);
	next = evaluator->room;
	next += -(uintptr_t) next % ALIGNMENT;
	for (uint32_t i = 0; i < nregisters; i++)
	{
		CsvRegisterRoom *own = &evaluator->registers[i];

		own->values = next;
		own->lengths = (uint32_t *) (next + 16 * n);
		own->state = next + 20 * n;
		next += register_bytes;
		evaluator->lanes[i].constant = false;
	}
	evaluator->alive = (uint16_t *) next;
	evaluator->fate = (uint8_t *) (evaluator->alive + n);
	return true;
}

CsvStatus
csv_evaluator_run(CsvEvaluator *evaluator, const CsvLayout *layout,
				  const CsvBatch *batch, const uint8_t *wanted,
				  bool (*interrupted) (void *arg), void *interrupted_arg,
				  CsvSelection *selection)
{
	const CsvQuery *query = evaluator->query;

	memset(selection, 0, sizeof(*selection));

	/* if no values are needed, all rows are counted at once */
	if (query->aggregates && query->nkeys == 0 && query->ninstructions == 0 &&
		wanted == NULL)
		return csv_groups_add_unseen(evaluator->groups, batch->nrows) ?
			CSV_OK : CSV_NO_MEMORY;
	if (!reserve_rows(evaluator, batch->nrows) ||
		!reserve_registers(evaluator, batch->nrows))
		return CSV_NO_MEMORY;
	selection->rows = evaluator->rows;
	selection->careful = evaluator->careful;
	evaluator->layout = layout;
	evaluator->batch = batch;
	for (uint32_t i = 0; i < query->ninstructions; i++)
	{
		const CsvInstruction *instruction = &query->instructions[i];

		if (instruction->operation == CSV_OP_CONSTANT)
			csv_load_constant(evaluator, instruction);
		else
			evaluator->lanes[instruction->result].constant = false;
	}
	evaluator->constant_text = query->text;
	if (evaluator->best != NULL &&
		!csv_best_begin(evaluator->best, batch->nrows))
		return CSV_NO_MEMORY;

	for (uint32_t row = 0; row < batch->nrows; row += CSV_BLOCK_ROWS)
	{
		CsvStatus	status;

		if (interrupted != NULL && interrupted(interrupted_arg))
			return CSV_INTERRUPTED;
		evaluator->first_row = row;
		evaluator->nrows = batch->nrows - row < CSV_BLOCK_ROWS ?
			batch->nrows - row : CSV_BLOCK_ROWS;
		status = run_block(evaluator, wanted, selection);
		if (status != CSV_OK)
			return status;
	}
	if (evaluator->best != NULL)
		drop_beyond(evaluator, selection);
	return CSV_OK;
}

void
csv_evaluator_free(CsvEvaluator *evaluator)
{
	CsvMemory	memory = evaluator->memory;
	void	   *parts[] = {
		evaluator->allocated, evaluator->room, evaluator->rows,
		evaluator->groups, evaluator->best, evaluator
	};

	for (uint32_t i = 0; i < evaluator->query->nregisters && parts[0] != NULL;
		 i++)
		csv_free(&memory, evaluator->registers[i].folded);
	if (evaluator->groups != NULL)
		csv_groups_free(evaluator->groups);
	if (evaluator->best != NULL)
		csv_best_free(evaluator->best);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		csv_free(&memory, parts[i]);
}

/* false: no memory, and evaluator->best is NULL */
static bool
make_best(CsvEvaluator *evaluator)
{
	const CsvMemory *memory = &evaluator->memory;
	CsvBest    *best;

	if (evaluator->query->limit == 0)
		return true;
	best = memory->alloc(memory->owner, sizeof(CsvBest));
	if (best == NULL)
		return false;
	if (csv_best_init(best, memory, evaluator->query))
		evaluator->best = best;
	else
		memory->free(memory->owner, best);
	return evaluator->best != NULL;
}

/* false: no memory; evaluator->groups may be set */
static bool
make_groups(CsvEvaluator *evaluator, uint64_t seed)
{
	const CsvMemory *memory = &evaluator->memory;
	if (!evaluator->query->aggregates)
		return true;
	evaluator->groups = csv_alloc_zeros(memory, sizeof(CsvGroups));
	return evaluator->groups != NULL &&
		csv_groups_init(evaluator->groups, memory, evaluator->query, seed);
}

static CsvEvaluator *
create_evaluator(const CsvMemory *memory, const CsvQuery *query, uint64_t seed)
{
	uint32_t	n = query->nregisters;
	size_t		nbytes = (n + 1) *
		(sizeof(CsvConstant) + sizeof(CsvLanes) + sizeof(CsvRegisterRoom) +
		 sizeof(uint32_t));
	CsvEvaluator *evaluator = csv_alloc_zeros(memory, sizeof(*evaluator));

	if (evaluator == NULL)
		return NULL;
	evaluator->memory = *memory;
	evaluator->query = query;
	evaluator->allocated = csv_alloc_zeros(memory, nbytes);
	if (evaluator->allocated == NULL)
	{
		csv_evaluator_free(evaluator);
		return NULL;
	}

	/* arrays with an element per register */
	evaluator->constants = evaluator->allocated;
	evaluator->lanes = (CsvLanes *) (evaluator->constants + n + 1);
	evaluator->registers = (CsvRegisterRoom *) (evaluator->lanes + n + 1);
	evaluator->written = (uint32_t *) (evaluator->registers + n + 1);
	for (uint32_t i = 0; i < query->ninstructions; i++)
		evaluator->written[query->instructions[i].result] = i + 1;
	if (!make_best(evaluator) || !make_groups(evaluator, seed))
	{
		csv_evaluator_free(evaluator);
		return NULL;
	}
	return evaluator;
}

CsvEvaluator *
csv_evaluator_create(const CsvMemory *memory, const CsvQuery *query)
{
	return create_evaluator(memory, query, csv_random_seed(query));
}

CsvEvaluator *
csv_evaluator_create_like(const CsvMemory *memory, const CsvEvaluator *other)
{
	return create_evaluator(memory, other->query, other->groups == NULL ? 0 :
							other->groups->seed);
}

CsvEvaluator *
csv_evaluator_take_groups(CsvEvaluator *evaluator)
{
	CsvEvaluator *taken = csv_evaluator_create_like(&evaluator->memory,
													evaluator);
	CsvGroups  *groups = evaluator->groups;

	if (taken == NULL)
		return NULL;
	/* new groups, with the memory and query of this evaluator */
	csv_groups_free(taken->groups);
	if (!csv_groups_init(taken->groups, &evaluator->memory, evaluator->query,
						 groups->seed))
	{
		csv_evaluator_free(taken);
		return NULL;
	}
	taken->groups->spill = groups->spill;
	taken->groups->make_room = groups->make_room;
	taken->groups->room_arg = groups->room_arg;
	evaluator->groups = taken->groups;
	taken->groups = groups;
	return taken;
}

void
csv_evaluator_set_query(CsvEvaluator *evaluator, const CsvQuery *query)
{
	evaluator->query = query;
	if (evaluator->groups != NULL)
		evaluator->groups->query = query;
	if (evaluator->best != NULL)
		evaluator->best->query = query;
}

const CsvQuery *
csv_evaluator_query(const CsvEvaluator *evaluator)
{
	return evaluator->query;
}
