/*
 * plan.c
 *		Makes a plan of a query: see plan.h.
 */
#include "plan.h"

#include "../reader/arrays.h"
#include "float_sum.h"

/* ---- the words of a group ---- */

static uint32_t
words_of(const CsvAggregate *aggregate)
{
	switch (aggregate->kind)
	{
		case CSV_AGGREGATE_SUM:
		case CSV_AGGREGATE_SUM_SQUARES:
			return csv_sum_words(aggregate->kind, aggregate->lane) +
				(aggregate->lane == CSV_LANE_FLOAT);
		case CSV_AGGREGATE_MIN:
		case CSV_AGGREGATE_MAX:
			return 2;
		default:
			return 0;
	}
}

void
csv_partial_lay_out(const CsvQuery *query, CsvPartialLayout *layout)
{
	layout->ninputs = 0;
	for (uint32_t i = 0; i < query->naggregates; i++)
	{
		const CsvAggregate *aggregate = &query->aggregate[i];
		uint16_t	argument = aggregate->kind == CSV_AGGREGATE_COUNT_ROWS ?
			CSV_NO_REGISTER : aggregate->argument;
		bool		distinct = aggregate->kind == CSV_AGGREGATE_COUNT_DISTINCT;
		uint32_t	input = 0;

		while (input < layout->ninputs &&
			   (distinct || layout->distinct[input] ||
				layout->argument[input] != argument ||
				layout->filter[input] != aggregate->filter))
			input++;
		if (input == layout->ninputs)
		{
			layout->argument[input] = argument;
			layout->filter[input] = aggregate->filter;
			layout->distinct[input] = distinct;
			layout->ninputs++;
		}
		layout->input[i] = (uint16_t) input;
	}
	layout->nwords = layout->ninputs;
	for (uint32_t i = 0; i < query->naggregates; i++)
	{
		layout->first_word[i] = layout->nwords;
		layout->nwords += words_of(&query->aggregate[i]);
	}
}

/* ---- registers and slots ---- */

/* a register */
typedef struct Register
{
	uint8_t		lane;
	int32_t		operand;		/* its slot or constant */
	uint32_t	last_use;		/* the last step that reads it */
} Register;

typedef struct Making
{
	const CsvQuery *query;
	const CsvLayout *layout;
	CsvPartialLayout partial;
	Register	registers[CSV_MAX_REGISTERS];
	CsvStep    *steps;
	uint32_t	nsteps;
	uint32_t	nfolds;
	bool		squares[CSV_MAX_AGGREGATES];	/* of each input */
	bool		has_values[CSV_MAX_AGGREGATES]; /* of each input */
	bool		has_input[CSV_MAX_AGGREGATES];	/* each input has its step */
	bool		has_key[CSV_MAX_KEYS];	/* each key has its step */
	bool		is_read[CSV_MAX_REGISTERS];	/* of each register */
	uint8_t		lanes[CSV_MAX_AGGREGATES];	/* of each input */
} Making;

uint8_t
csv_lane_of_kind(uint8_t kind)
{
	switch (kind)
	{
		case CSV_KIND_TEXT:
		case CSV_KIND_CSTRING:
			return CSV_LANE_TEXT;
		case CSV_KIND_FLOAT4:
		case CSV_KIND_FLOAT8:
			return CSV_LANE_FLOAT;
		case CSV_KIND_NUMERIC:
		case CSV_KIND_DECIMAL64:
		case CSV_KIND_DECIMAL128:
		case CSV_KIND_SCALED:
			return CSV_LANE_DECIMAL;
		case CSV_KIND_UUID:
			return CSV_LANE_UUID;
		default:
			return CSV_LANE_INT;
	}
}

uint8_t
csv_lane_of_result(const CsvQuery *query, const CsvLayout *layout,
				   const CsvInstruction *instruction, uint8_t a, uint8_t b)
{
	switch (instruction->operation)
	{
		case CSV_OP_COLUMN:
			return (instruction->flags & CSV_FLAG_SHOWN) != 0 ? CSV_LANE_INT :
				csv_lane_of_kind(layout->columns[instruction->operand].kind);
		case CSV_OP_CONSTANT:
			return query->constants[instruction->operand].lane;
		case CSV_OP_ADD:
		case CSV_OP_SUBTRACT:
		case CSV_OP_MULTIPLY:
		case CSV_OP_NEGATE:
			return a;
		case CSV_OP_CHOOSE:
			return b;
		case CSV_OP_RESCALE:
		case CSV_OP_INT_TO_DECIMAL:
			return CSV_LANE_DECIMAL;
		case CSV_OP_INT_TO_FLOAT:
			return CSV_LANE_FLOAT;
		case CSV_OP_LOWER:
		case CSV_OP_UPPER:
			return CSV_LANE_TEXT;
		default:
			return CSV_LANE_INT;
	}
}

uint32_t
csv_operand_count(uint8_t operation)
{
	switch (operation)
	{
		case CSV_OP_COLUMN:
		case CSV_OP_CONSTANT:
			return 0;
		case CSV_OP_ADD ... CSV_OP_DATE_PART:
		case CSV_OP_EQUAL ... CSV_OP_GREATER_EQUAL:
		case CSV_OP_AND ... CSV_OP_OR:
			return 2;
		case CSV_OP_CHOOSE:
			return 3;
		default:
			return 1;
	}
}

static CsvStep *
add_step(Making *making, uint8_t operation, uint8_t lane)
{
	CsvStep    *step = &making->steps[making->nsteps++];

	memset(step, 0, sizeof(*step));
	step->operation = operation;
	step->lane = lane;
	step->result = CSV_NO_OPERAND;
	step->a = CSV_NO_OPERAND;
	step->b = CSV_NO_OPERAND;
	step->c = CSV_NO_OPERAND;
	return step;
}

/* the last step reads a register; slots are given out later */
static int32_t
use_register(Making *making, uint16_t number)
{
	if (number == CSV_NO_REGISTER)
		return CSV_NO_OPERAND;
	making->registers[number].last_use = making->nsteps - 1;
	return number;
}

static void
add_instruction(Making *making, const CsvInstruction *instruction)
{
	Register   *result = &making->registers[instruction->result];
	uint32_t	noperands = csv_operand_count(instruction->operation);
	CsvStep    *step;

	result->lane = csv_lane_of_result(making->query, making->layout, instruction,
									  making->registers[instruction->a].lane,
									  making->registers[instruction->b].lane);
	if (instruction->operation == CSV_OP_CONSTANT)
	{
		result->operand = -1 - (int32_t) instruction->operand;
		return;
	}
	step = add_step(making, instruction->operation,
					noperands == 0 ? result->lane :
					making->registers[instruction->a].lane);
	step->bits = instruction->bits;
	step->flags = instruction->flags;
	step->operand = instruction->operand;
	step->count = instruction->operation == CSV_OP_LOWER ||
		instruction->operation == CSV_OP_UPPER ? making->nfolds++ :
		instruction->count;
	step->result = instruction->result;
	if (noperands > 0)
		step->a = use_register(making, instruction->a);
	if (noperands > 1)
		step->b = use_register(making, instruction->b);
	if (noperands > 2)
		step->c = use_register(making, instruction->c);
	result->operand = 0;
	result->last_use = making->nsteps - 1;
}

/* steps for keys and inputs whose registers have values after `at` instructions */
static void
add_outputs(Making *making, const uint32_t *written, uint32_t at)
{
	const CsvQuery *query = making->query;
	const CsvPartialLayout *partial = &making->partial;

	for (uint32_t i = 0; i < query->nkeys; i++)
	{
		CsvStep    *step;

		if (making->has_key[i] || written[query->keys[i].value] > at)
			continue;
		making->has_key[i] = true;
		step = add_step(making, CSV_STEP_KEY, query->keys[i].lane);
		step->operand = i;
		step->a = use_register(making, query->keys[i].value);
	}
	for (uint32_t i = 0; i < partial->ninputs; i++)
	{
		uint16_t	argument = partial->argument[i];
		uint16_t	filter = partial->filter[i];
		CsvStep    *step;

		if (making->has_input[i] ||
			(argument != CSV_NO_REGISTER && written[argument] > at) ||
			(filter != CSV_NO_REGISTER && written[filter] > at))
			continue;
		making->has_input[i] = true;
		step = add_step(making, CSV_STEP_INPUT, making->lanes[i]);
		step->operand = i;
		step->flags = making->squares[i] ? CSV_FLAG_SQUARES : 0;
		step->a = use_register(making, argument);
		step->b = use_register(making, filter);
	}
}

static void
mark_read(Making *making, uint16_t number)
{
	if (number != CSV_NO_REGISTER)
		making->is_read[number] = true;
}

/* mark the registers that the result depends on */
static void
find_read_registers(Making *making, uint32_t ninstructions)
{
	const CsvQuery *query = making->query;

	for (uint32_t i = 0; i < query->nfilters; i++)
		mark_read(making, query->filters[i]);
	for (uint32_t i = 0; i < query->nkeys; i++)
		mark_read(making, query->keys[i].value);
	for (uint32_t i = 0; i < making->partial.ninputs; i++)
	{
		mark_read(making, making->partial.argument[i]);
		mark_read(making, making->partial.filter[i]);
	}
	for (uint32_t i = ninstructions; i-- > 0;)
	{
		const CsvInstruction *instruction = &query->instructions[i];
		uint32_t	noperands = csv_operand_count(instruction->operation);

		if (!making->is_read[instruction->result])
			continue;
		if (noperands > 0)
			mark_read(making, instruction->a);
		if (noperands > 1)
			mark_read(making, instruction->b);
		if (noperands > 2)
			mark_read(making, instruction->c);
	}
}

/* make all steps, with numbers of registers instead of slots */
static void
list_steps(Making *making, bool outputs_last, uint32_t *first_output)
{
	const CsvQuery *query = making->query;
	uint32_t	ninstructions = query->aggregates ? query->ninstructions :
		query->nfilter_instructions;
	uint32_t	written[CSV_MAX_REGISTERS] = {0};
	uint32_t	nfilters = 0;

	find_read_registers(making, ninstructions);
	for (uint32_t i = 0; i < query->ninstructions; i++)
		written[query->instructions[i].result] = i + 1;
	for (uint32_t at = 0;; at++)
	{
		while (nfilters < query->nfilters &&
			   written[query->filters[nfilters]] <= at)
		{
			CsvStep    *step = add_step(making, CSV_STEP_FILTER, CSV_LANE_INT);

			step->a = use_register(making, query->filters[nfilters++]);
		}

		/* outputs are behind all filters: a key makes no dropped row undecided */
		if (at == ninstructions)
			*first_output = making->nsteps;
		if (query->aggregates && nfilters == query->nfilters &&
			(at == ninstructions || !outputs_last))
			add_outputs(making, written, at);
		if (at == ninstructions)
			break;
		if (making->is_read[query->instructions[at].result])
			add_instruction(making, &query->instructions[at]);
	}
}

/* false: more than most_slots slots are needed at a time */
static bool
give_out_slots(Making *making, uint32_t most_slots, uint32_t *nslots)
{
	uint16_t	free_slots[CSV_MAX_REGISTERS];
	uint32_t	nfree = 0;

	*nslots = 0;
	for (uint32_t i = 0; i < making->nsteps; i++)
	{
		CsvStep    *step = &making->steps[i];
		int32_t    *operands[3] = {&step->a, &step->b, &step->c};
		int32_t		read[3];

		for (int k = 0; k < 3; k++)
		{
			read[k] = *operands[k];
			if (read[k] != CSV_NO_OPERAND)
				*operands[k] = making->registers[read[k]].operand;
		}

		/* a result may take an operand's slot: the operands are read before */
		for (int k = 0; k < 3; k++)
		{
			const Register *reg;

			if (read[k] == CSV_NO_OPERAND || (k > 0 && read[k] == read[0]) ||
				(k > 1 && read[k] == read[1]))
				continue;
			reg = &making->registers[read[k]];
			if (reg->operand >= 0 && reg->last_use == i)
				free_slots[nfree++] = (uint16_t) reg->operand;
		}
		if (step->result != CSV_NO_OPERAND)
		{
			Register   *reg = &making->registers[step->result];

			reg->operand = nfree > 0 ? free_slots[--nfree] :
				(int32_t) (*nslots)++;
			step->result = reg->operand;
			if (reg->last_use == i) /* no step reads it */
				free_slots[nfree++] = (uint16_t) reg->operand;
		}
	}
	return *nslots <= most_slots;
}

/* ---- the block ---- */

static size_t
align(size_t nbytes)
{
	return (nbytes + 15) / 16 * 16;
}

CsvPlan
csv_plan_at(const CsvPlan *plan, uint8_t *block)
{
	CsvPlan		moved = *plan;

	moved.block = block;
	moved.steps = (const CsvStep *) block;
	moved.constants = (const CsvConstant *)
		(block + ((const uint8_t *) plan->constants - plan->block));
	moved.key_lanes = block + (plan->key_lanes - plan->block);
	moved.inputs = (const CsvPlanInput *)
		(block + ((const uint8_t *) plan->inputs - plan->block));
	moved.aggregate = (const CsvPlanAggregate *)
		(block + ((const uint8_t *) plan->aggregate - plan->block));
	moved.text = block + (plan->text - plan->block);
	return moved;
}

static void
copy_to(uint8_t *place, const void *from, size_t nbytes)
{
	if (nbytes > 0)
		memcpy(place, from, nbytes);
}

/* inputs and aggregates, which have more than their steps tell */
static void
fill_aggregates(CsvPlan *plan, const Making *making, CsvPlanInput *inputs,
				CsvPlanAggregate *aggregates)
{
	const CsvQuery *query = making->query;

	plan->inputs = inputs;
	plan->aggregate = aggregates;
	for (uint32_t i = 0; i < plan->ninputs; i++)
	{
		inputs[i].lane = making->lanes[i];
		inputs[i].column = making->has_values[i] ?
			(int32_t) plan->nvalues++ : -1;
	}
	for (uint32_t i = 0; i < query->naggregates; i++)
	{
		const CsvAggregate *aggregate = &query->aggregate[i];
		CsvPlanAggregate *kept = &aggregates[plan->naggregates];

		if (words_of(aggregate) == 0)
			continue;
		kept->kind = aggregate->kind;
		kept->lane = aggregate->lane;
		kept->input = making->partial.input[i];
		kept->first_word = making->partial.first_word[i];
		plan->naggregates++;
	}
}

static bool
is_for_plans(const CsvQuery *query)
{
	for (uint32_t i = 0; i < query->naggregates; i++)
		if (query->aggregate[i].kind == CSV_AGGREGATE_COUNT_DISTINCT)
			return false;
	return query->aggregates ? query->nkeys > 0 || query->ninstructions > 0 :
		query->nfilters > 0 && query->limit == 0;
}

static bool
make_plan(CsvPlan *plan, Making *making, const CsvMemory *memory,
		  const CsvQuery *query, uint32_t most_slots, bool outputs_last)
{
	size_t		constants;
	size_t		key_lanes;
	size_t		inputs;
	size_t		aggregates;
	size_t		text;

	csv_partial_lay_out(query, &making->partial);
	for (uint32_t i = 0; i < query->naggregates; i++)
	{
		const CsvAggregate *aggregate = &query->aggregate[i];
		uint32_t	input = making->partial.input[i];

		if (words_of(aggregate) == 0)
			continue;
		making->has_values[input] = true;
		making->lanes[input] = aggregate->lane;
		making->squares[input] |=
			aggregate->kind == CSV_AGGREGATE_SUM_SQUARES;
	}
	list_steps(making, outputs_last, &plan->first_output);
	if (!give_out_slots(making, most_slots, &plan->nslots))
		return false;

	constants = align(making->nsteps * sizeof(CsvStep));
	key_lanes = constants + align(query->nconstants * sizeof(CsvConstant));
	inputs = key_lanes + align(query->nkeys);
	aggregates = inputs + align(making->partial.ninputs * sizeof(CsvPlanInput));
	text = aggregates + align(query->naggregates * sizeof(CsvPlanAggregate));
	plan->nbytes = align(text + query->text_length + 16);
	plan->block = csv_alloc_zeros(memory, plan->nbytes);
	if (plan->block == NULL)
		return false;
	plan->nsteps = making->nsteps;
	plan->nfolds = making->nfolds;
	plan->nkeys = query->nkeys;
	plan->ninputs = making->partial.ninputs;
	plan->nwords = making->partial.nwords;
	plan->aggregates = query->aggregates;
	plan->steps = (const CsvStep *) plan->block;
	plan->constants = (const CsvConstant *) (plan->block + constants);
	plan->key_lanes = plan->block + key_lanes;
	plan->text = plan->block + text;
	copy_to(plan->block, making->steps, making->nsteps * sizeof(CsvStep));
	copy_to(plan->block + constants, query->constants,
			query->nconstants * sizeof(CsvConstant));
	copy_to(plan->block + text, query->text, query->text_length);
	for (uint32_t i = 0; i < query->nkeys; i++)
		plan->block[key_lanes + i] = query->keys[i].lane;
	fill_aggregates(plan, making, (CsvPlanInput *) (plan->block + inputs),
					(CsvPlanAggregate *) (plan->block + aggregates));
	return true;
}

bool
csv_plan_make(CsvPlan *plan, const CsvMemory *memory, const CsvQuery *query,
			  const CsvLayout *layout, uint32_t most_slots, bool outputs_last)
{
	uint32_t	most_steps = query->ninstructions + query->nfilters +
		query->nkeys + query->naggregates;
	Making	   *making;
	bool		made = false;

	memset(plan, 0, sizeof(*plan));
	if (!is_for_plans(query))
		return false;
	making = csv_alloc_zeros(memory, sizeof(*making));
	if (making == NULL)
		return false;
	making->query = query;
	making->layout = layout;
	making->steps = memory->alloc(memory->owner,
								  (most_steps + 1) * sizeof(CsvStep));
	if (making->steps != NULL)
	{
		made = make_plan(plan, making, memory, query, most_slots,
						 outputs_last);
		memory->free(memory->owner, making->steps);
	}
	memory->free(memory->owner, making);
	if (!made)
		memset(plan, 0, sizeof(*plan));
	return made;
}

void
csv_plan_free(CsvPlan *plan, const CsvMemory *memory)
{
	csv_free(memory, plan->block);
	memset(plan, 0, sizeof(*plan));
}
