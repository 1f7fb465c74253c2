/*
 * operations.c
 *		Runs the instructions of a query, each as a loop over the rows of a block.
 *
 * The operation is a constant in its loop, so that the compiler makes a loop for each
 * operation.  operate.h defines the operations on single values.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* memmem */
#endif

#include "block.h"

#include <string.h>

#include "../reader/arrays.h"

#define ALWAYS_INLINE	inline __attribute__((always_inline))

/* ---- states ---- */

/* for operations that need all operands: the worst state counts */
static void
combine_states(CsvEvaluator *evaluator, uint16_t result, const CsvLanes *a,
			   const CsvLanes *b)
{
	CsvLanes   *lanes = &evaluator->lanes[result];
	uint8_t    *state = evaluator->registers[result].state;
	uint8_t		any = CSV_LANE_VALUE;

	lanes->plain = a->plain && b->plain;
	if (lanes->plain)
		return;
	if (a->plain || b->plain)
	{
		lanes->state = a->plain ? b->state : a->state;
		return;
	}
	FOR_ROWS(evaluator, i,
			 {
				 state[i] = a->state[i] > b->state[i] ? a->state[i] :
					 b->state[i];
				 any |= state[i];
			 });
	lanes->state = state;
	lanes->plain = any == CSV_LANE_VALUE;
}

/* ---- arithmetic ---- */

static CsvUint128
multiply_limits(CsvUint128 a, CsvUint128 b)
{
	CsvUint128	most = CSV_MOST_DECIMAL + 1;

	/* avoid a division, which is slow */
	if ((a | b) >> 63 == 0)
		return a * b;
	return a != 0 && b > most / a ? most : a * b;
}

/*
 * Operate on all values of a block.  Each operation is a constant in these loops.  The
 * first loop finds out whether all results fit.  Only if some do not, the second loop
 * finds their rows.
 */
#define OPERATE(operate, type, member, operation, detail) \
	do \
	{ \
		type	   *values = evaluator->registers[result].values; \
		bool		all_fit = true; \
 \
		FOR_ROWS(evaluator, i, \
				 all_fit &= operate(operation, a->member[i], b->member[i], \
									detail, &values[i]);); \
		lanes->member = values; \
		if (!all_fit) \
		{ \
			uint8_t    *state = csv_own_state(evaluator, result); \
			type		value; \
 \
			FOR_ROWS(evaluator, i, \
					 if (state[i] == CSV_LANE_VALUE && \
						 !operate(operation, a->member[i], b->member[i], \
								  detail, &value)) \
						 state[i] = CSV_LANE_UNDECIDED;); \
		} \
	} while (0)

static ALWAYS_INLINE void
operate_ints(CsvEvaluator *evaluator, uint16_t result, int operation,
			 const CsvLanes *a, const CsvLanes *b, uint32_t bits)
{
	CsvLanes   *lanes = &evaluator->lanes[result];

	if (bits == 16)
		OPERATE(csv_int_operate, int64_t, integers, operation, 16);
	else if (bits == 32)
		OPERATE(csv_int_operate, int64_t, integers, operation, 32);
	else
		OPERATE(csv_int_operate, int64_t, integers, operation, 64);
}

static ALWAYS_INLINE void
operate_floats(CsvEvaluator *evaluator, uint16_t result, int operation,
			   const CsvLanes *a, const CsvLanes *b, uint32_t bits)
{
	CsvLanes   *lanes = &evaluator->lanes[result];

	if (bits == 32)
		OPERATE(csv_float_operate, double, reals, operation, 32);
	else
		OPERATE(csv_float_operate, double, reals, operation, 64);
}

/*
 * Decimals: in 64 bits if the result's limit allows that; otherwise in 128 bits,
 * without checks if the limit allows that.
 */
static ALWAYS_INLINE void
operate_decimals(CsvEvaluator *evaluator, uint16_t result, int operation,
				 const CsvLanes *a, const CsvLanes *b, uint32_t digits)
{
	CsvLanes   *lanes = &evaluator->lanes[result];
	CsvInt128  *decimals = evaluator->registers[result].values;
	int64_t    *integers = evaluator->registers[result].values;
	CsvInt128	power = (CsvInt128)
		csv_power_of_ten(digits > CSV_MAX_DECIMAL_DIGITS ?
						 CSV_MAX_DECIMAL_DIGITS : digits);
	CsvUint128	limit = operation == CSV_OP_NEGATE ? a->limit :
		operation == CSV_OP_RESCALE ?
		multiply_limits(a->limit, (CsvUint128) power) :
		operation == CSV_OP_MULTIPLY ? multiply_limits(a->limit, b->limit) :
		a->limit + b->limit;
	bool		all_fit = true;

	lanes->limit = limit > CSV_MOST_DECIMAL ? CSV_MOST_DECIMAL : limit;
	lanes->wide = csv_needs_wide(limit);

#define EXACTLY(left, right) \
	(operation == CSV_OP_ADD ? (left) + (right) : \
	 operation == CSV_OP_SUBTRACT ? (left) - (right) : \
	 operation == CSV_OP_MULTIPLY ? (left) * (right) : \
	 operation == CSV_OP_NEGATE ? -(left) : (left) * factor)

	if (!lanes->wide && (operation == CSV_OP_NEGATE ||
						 operation == CSV_OP_RESCALE || !b->wide) && !a->wide)
	{
		int64_t		factor = (int64_t) power;

		FOR_ROWS(evaluator, i,
				 integers[i] = EXACTLY(a->integers[i], b->integers[i]););
		lanes->integers = integers;
		return;
	}
	lanes->wide = true;
	lanes->decimals = decimals;
	if (limit <= CSV_MOST_DECIMAL)
	{
		CsvInt128	factor = power;

		FOR_ROWS(evaluator, i,
				 decimals[i] = EXACTLY(csv_lanes_decimal(a, i),
									   csv_lanes_decimal(b, i)););
		return;
	}
	FOR_ROWS(evaluator, i,
			 all_fit &= csv_decimal_operate(operation, csv_lanes_decimal(a, i),
											csv_lanes_decimal(b, i), digits,
											&decimals[i]););
	if (!all_fit)
	{
		uint8_t    *state = csv_own_state(evaluator, result);
		CsvInt128	value;

		FOR_ROWS(evaluator, i,
				 if (state[i] == CSV_LANE_VALUE &&
					 !csv_decimal_operate(operation, csv_lanes_decimal(a, i),
										  csv_lanes_decimal(b, i), digits,
										  &value))
					 state[i] = CSV_LANE_UNDECIDED;);
	}
#undef EXACTLY
}

/* choose the loop by the lane; the operation stays a constant */
static ALWAYS_INLINE void
operate_lanes(CsvEvaluator *evaluator, const CsvInstruction *instruction,
			  int operation, const CsvLanes *a, const CsvLanes *b)
{
	if (a->lane == CSV_LANE_INT)
		operate_ints(evaluator, instruction->result, operation, a, b,
					 instruction->bits);
	else if (a->lane == CSV_LANE_FLOAT)
		operate_floats(evaluator, instruction->result, operation, a, b,
					   instruction->bits);
	else
		operate_decimals(evaluator, instruction->result, operation, a, b, 0);
}

static void
arithmetic(CsvEvaluator *evaluator, const CsvInstruction *instruction)
{
	uint16_t	result = instruction->result;
	const CsvLanes *a = &evaluator->lanes[instruction->a];
	const CsvLanes *b = instruction->operation < CSV_OP_NEGATE ?
		&evaluator->lanes[instruction->b] : a;

	evaluator->lanes[result].lane = a->lane;
	evaluator->lanes[result].wide = false;
	combine_states(evaluator, result, a, b);
	switch (instruction->operation)
	{
		case CSV_OP_ADD:
			operate_lanes(evaluator, instruction, CSV_OP_ADD, a, b);
			break;
		case CSV_OP_SUBTRACT:
			operate_lanes(evaluator, instruction, CSV_OP_SUBTRACT, a, b);
			break;
		case CSV_OP_MULTIPLY:
			operate_lanes(evaluator, instruction, CSV_OP_MULTIPLY, a, b);
			break;
		case CSV_OP_NEGATE:
			operate_lanes(evaluator, instruction, CSV_OP_NEGATE, a, a);
			break;
		case CSV_OP_RESCALE:
			operate_decimals(evaluator, result, CSV_OP_RESCALE, a, a,
							 instruction->operand);
			break;
#define OF_INTS(op) \
		case op: \
			operate_ints(evaluator, result, op, a, b, instruction->bits); \
			break
			OF_INTS(CSV_OP_DIVIDE);
			OF_INTS(CSV_OP_MODULO);
			OF_INTS(CSV_OP_DATE_PART);
			OF_INTS(CSV_OP_DATE_TO_TIMESTAMP);
			OF_INTS(CSV_OP_TIMESTAMP_TO_DATE);
			OF_INTS(CSV_OP_TIMESTAMP_TO_TIME);
#undef OF_INTS
		case CSV_OP_INT_TO_DECIMAL:
			csv_set_narrow_decimals(evaluator, result, a->integers);
			break;
		default:
			{
				double	   *values = evaluator->registers[result].values;

				FOR_ROWS(evaluator, i,
						 values[i] = csv_int_to_float(a->integers[i],
													  instruction->bits););
				evaluator->lanes[result].lane = CSV_LANE_FLOAT;
				evaluator->lanes[result].reals = values;
				break;
			}
	}
}

/* ---- BOOL results ---- */

/* returns where the values are written; the caller must set the state */
static int64_t *
make_bools(CsvEvaluator *evaluator, uint16_t result)
{
	CsvLanes   *lanes = &evaluator->lanes[result];

	lanes->lane = CSV_LANE_INT;
	lanes->wide = false;
	lanes->integers = evaluator->registers[result].values;
	return evaluator->registers[result].values;
}

static ALWAYS_INLINE void
compare_lanes(CsvEvaluator *evaluator, int64_t *bools, int operation,
			  const CsvLanes *a, const CsvLanes *b)
{
#define SATISFIES(order)	csv_order_satisfies((order), operation)
	switch (a->lane)
	{
		case CSV_LANE_DECIMAL:
			if (a->wide || b->wide)
			{
				FOR_ROWS(evaluator, i,
						 bools[i] = SATISFIES(csv_decimal_compare(csv_lanes_decimal(a, i),
																  csv_lanes_decimal(b, i))););
				break;
			}
			__attribute__((fallthrough));
		case CSV_LANE_INT:
			{
				const int64_t *left = a->integers;
				const int64_t *right = b->integers;

				if (b->constant)
				{
					int64_t		constant = right[0];

					FOR_ROWS(evaluator, i,
							 bools[i] = SATISFIES(csv_int_compare(left[i],
																  constant)););
				}
				else
					FOR_ROWS(evaluator, i,
							 bools[i] = SATISFIES(csv_int_compare(left[i],
																  right[i])););
				break;
			}
		case CSV_LANE_FLOAT:
			FOR_ROWS(evaluator, i,
					 bools[i] = SATISFIES(csv_float_compare(a->reals[i],
															b->reals[i])););
			break;
		case CSV_LANE_TEXT:
			if (operation == CSV_OP_EQUAL || operation == CSV_OP_NOT_EQUAL)
				FOR_ROWS(evaluator, i,
						 bools[i] = csv_text_equal(a->texts[i], a->lengths[i],
												   b->texts[i], b->lengths[i]) ==
						 (operation == CSV_OP_EQUAL););
			else
				FOR_ROWS(evaluator, i,
						 bools[i] = SATISFIES(csv_text_compare(a->texts[i],
															   a->lengths[i],
															   b->texts[i],
															   b->lengths[i])););
			break;
		case CSV_LANE_UUID:
			FOR_ROWS(evaluator, i,
					 bools[i] = SATISFIES(csv_uuid_compare(a->uuids[i],
														   b->uuids[i])););
			break;
	}
#undef SATISFIES
}

static void
compare(CsvEvaluator *evaluator, const CsvInstruction *instruction)
{
	const CsvLanes *a = &evaluator->lanes[instruction->a];
	const CsvLanes *b = &evaluator->lanes[instruction->b];
	int64_t    *bools = make_bools(evaluator, instruction->result);

	combine_states(evaluator, instruction->result, a, b);
	switch (instruction->operation)
	{
		case CSV_OP_EQUAL:
			compare_lanes(evaluator, bools, CSV_OP_EQUAL, a, b);
			break;
		case CSV_OP_NOT_EQUAL:
			compare_lanes(evaluator, bools, CSV_OP_NOT_EQUAL, a, b);
			break;
		case CSV_OP_LESS:
			compare_lanes(evaluator, bools, CSV_OP_LESS, a, b);
			break;
		case CSV_OP_LESS_EQUAL:
			compare_lanes(evaluator, bools, CSV_OP_LESS_EQUAL, a, b);
			break;
		case CSV_OP_GREATER:
			compare_lanes(evaluator, bools, CSV_OP_GREATER, a, b);
			break;
		default:
			compare_lanes(evaluator, bools, CSV_OP_GREATER_EQUAL, a, b);
			break;
	}
}

/* the order of a row's value and a constant of its lane */
static ALWAYS_INLINE int
compare_to_constant(const CsvQuery *query, const CsvLanes *a, uint32_t i,
					const CsvConstant *constant)
{
	switch (a->lane)
	{
		case CSV_LANE_INT:
			return csv_int_compare(a->integers[i], constant->value.integer);
		case CSV_LANE_DECIMAL:
			return csv_decimal_compare(csv_lanes_decimal(a, i),
									   constant->value.decimal);
		case CSV_LANE_FLOAT:
			return csv_float_compare(a->reals[i], constant->value.real);
		case CSV_LANE_TEXT:
			return csv_text_compare(a->texts[i], a->lengths[i],
									query->text + constant->offset,
									constant->length);
		default:
			return csv_uuid_compare(a->uuids[i], constant->value.uuid);
	}
}

static void
look_up(CsvEvaluator *evaluator, const CsvInstruction *instruction)
{
	const CsvQuery *query = evaluator->query;
	const CsvConstant *list = &query->constants[instruction->operand];
	const CsvLanes *a = &evaluator->lanes[instruction->a];
	uint16_t	result = instruction->result;
	int64_t    *bools = make_bools(evaluator, result);

	combine_states(evaluator, result, a, a);
	FOR_ROWS(evaluator, i,
			 {
				 uint32_t	begin = 0;
				 uint32_t	end = instruction->count;

				 bools[i] = 0;
				 if (csv_lanes_state(a, i) != CSV_LANE_VALUE)
					 continue;
				 while (begin < end)
				 {
					 uint32_t	middle = begin + (end - begin) / 2;
					 int		order = compare_to_constant(query, a, i,
															&list[middle]);

					 if (order == 0)
					 {
						 bools[i] = 1;
						 break;
					 }
					 if (order < 0)
						 end = middle;
					 else
						 begin = middle + 1;
				 }
			 });
	if ((instruction->flags & CSV_FLAG_LIST_NULL) != 0)
	{
		uint8_t    *state = csv_own_state(evaluator, result);

		FOR_ROWS(evaluator, i,
				 if (state[i] == CSV_LANE_VALUE && bools[i] == 0)
					 state[i] = CSV_LANE_NULL;);
	}
}

/* a CsvFindFn */
static const uint8_t *
find_text(const uint8_t *text, uint32_t length, const uint8_t *pattern,
		  uint32_t pattern_length)
{
	return memmem(text, length, pattern, pattern_length);
}

static void
match(CsvEvaluator *evaluator, const CsvInstruction *instruction)
{
	const CsvLanes *a = &evaluator->lanes[instruction->a];
	int64_t    *bools = make_bools(evaluator, instruction->result);
	CsvValue	pattern;

	combine_states(evaluator, instruction->result, a, a);
	csv_constant_value(evaluator->query, instruction->operand, &pattern);
	if (pattern.state != CSV_LANE_VALUE)
	{
		uint8_t    *state = csv_own_state(evaluator, instruction->result);

		FOR_ROWS(evaluator, i,
				 if (state[i] < pattern.state)
					 state[i] = pattern.state;);
		return;
	}

	/* a text that is not a value must not be read */
#define MATCH(matches) \
	FOR_ROWS(evaluator, i, \
			 bools[i] = csv_lanes_state(a, i) == CSV_LANE_VALUE && (matches);)
	switch (instruction->operation)
	{
		case CSV_OP_STARTS_WITH:
			MATCH(csv_text_starts_with(a->texts[i], a->lengths[i],
									   pattern.bytes, pattern.length));
			break;
		case CSV_OP_ENDS_WITH:
			MATCH(csv_text_ends_with(a->texts[i], a->lengths[i],
									 pattern.bytes, pattern.length));
			break;
		case CSV_OP_LIKE:
			MATCH(csv_text_like(a->texts[i], a->lengths[i], pattern.bytes,
								pattern.length, find_text));
			break;
		default:
			MATCH(find_text(a->texts[i], a->lengths[i], pattern.bytes,
							pattern.length) != NULL);
			break;
	}
#undef MATCH
}

static void
fold(CsvEvaluator *evaluator, const CsvInstruction *instruction)
{
	bool		lower = instruction->operation == CSV_OP_LOWER;
	uint16_t	result = instruction->result;
	const CsvLanes *a = &evaluator->lanes[instruction->a];
	CsvLanes   *lanes = &evaluator->lanes[result];
	CsvRegisterRoom *own = &evaluator->registers[result];
	const uint8_t **texts = own->values;
	size_t		nbytes = 8;		/* an empty text has an address, too */
	bool		has_room;

	combine_states(evaluator, result, a, a);
	lanes->lane = CSV_LANE_TEXT;
	lanes->wide = false;
	lanes->texts = texts;
	lanes->lengths = own->lengths;
	FOR_ROWS(evaluator, i,
			 own->lengths[i] = csv_lanes_state(a, i) != CSV_LANE_VALUE ? 0 :
			 a->lengths[i];
			 nbytes += csv_folded_bytes(own->lengths[i]););
	has_room = csv_renew(&evaluator->memory, &own->folded, &own->folded_bytes,
						 nbytes);
	nbytes = 0;
	FOR_ROWS(evaluator, i,
			 {
				 uint8_t   *place = own->folded + nbytes;

				 texts[i] = place;
				 if (!has_room)
					 own->lengths[i] = 0;
				 if (!has_room ||
					 !csv_text_fold(lower, a->texts[i], own->lengths[i], place))
					 csv_own_state(evaluator, result)[i] = CSV_LANE_UNDECIDED;
				 nbytes += csv_folded_bytes(own->lengths[i]);
			 });
}

/* IS [NOT] NULL, IS TRUE, IS FALSE: never NULL */
static void
test_state(CsvEvaluator *evaluator, const CsvInstruction *instruction)
{
	const CsvLanes *a = &evaluator->lanes[instruction->a];
	uint16_t	result = instruction->result;
	int64_t    *bools = make_bools(evaluator, result);

	switch (instruction->operation)
	{
		case CSV_OP_IS_NULL:
			FOR_ROWS(evaluator, i,
					 bools[i] = csv_lanes_state(a, i) == CSV_LANE_NULL;);
			break;
		case CSV_OP_IS_NOT_NULL:
			FOR_ROWS(evaluator, i,
					 bools[i] = csv_lanes_state(a, i) == CSV_LANE_VALUE;);
			break;
		case CSV_OP_IS_TRUE:
			FOR_ROWS(evaluator, i,
					 bools[i] = csv_lanes_state(a, i) == CSV_LANE_VALUE &&
					 a->integers[i] != 0;);
			break;
		default:
			FOR_ROWS(evaluator, i,
					 bools[i] = csv_lanes_state(a, i) == CSV_LANE_VALUE &&
					 a->integers[i] == 0;);
			break;
	}
	combine_states(evaluator, result, a, a);
	if (!evaluator->lanes[result].plain)
	{
		uint8_t    *state = csv_own_state(evaluator, result);

		FOR_ROWS(evaluator, i,
				 if (state[i] == CSV_LANE_NULL)
					 state[i] = CSV_LANE_VALUE;);
	}
}

/*
 * AND and OR: `decisive` is false for AND, true for OR.  If the first operand is
 * decisive or undecided, it is the result.  Otherwise the second is, if it is decisive
 * or undecided.  Otherwise the result is NULL if an operand is NULL.
 */
static void
and_or(CsvEvaluator *evaluator, const CsvInstruction *instruction)
{
	const CsvLanes *a = &evaluator->lanes[instruction->a];
	const CsvLanes *b = &evaluator->lanes[instruction->b];
	uint16_t	result = instruction->result;
	int64_t    *bools = make_bools(evaluator, result);
	const int64_t *left = a->integers;
	const int64_t *right = b->integers;
	bool		decisive = instruction->operation == CSV_OP_OR;
	uint8_t    *state;

	evaluator->lanes[result].plain = a->plain && b->plain;
	if (evaluator->lanes[result].plain)
	{
		if (decisive)
			FOR_ROWS(evaluator, i, bools[i] = left[i] | right[i];);
		else
			FOR_ROWS(evaluator, i, bools[i] = left[i] & right[i];);
		return;
	}
	state = evaluator->registers[result].state;
	evaluator->lanes[result].state = state;
	FOR_ROWS(evaluator, i,
			 {
				 uint8_t	a_state = csv_lanes_state(a, i);
				 uint8_t	b_state = csv_lanes_state(b, i);
				 bool		a_decides = a_state == CSV_LANE_VALUE &&
					 (left[i] != 0) == decisive;
				 bool		b_decides = b_state == CSV_LANE_VALUE &&
					 (right[i] != 0) == decisive;

				 bools[i] = (a_decides || b_decides) == decisive;
				 if (a_state == CSV_LANE_UNDECIDED)
					 state[i] = CSV_LANE_UNDECIDED;
				 else if (a_decides || b_decides)
					 state[i] = CSV_LANE_VALUE;
				 else
					 state[i] = a_state > b_state ? a_state : b_state;
			 });
}

static void
negate_bools(CsvEvaluator *evaluator, const CsvInstruction *instruction)
{
	const CsvLanes *a = &evaluator->lanes[instruction->a];
	int64_t    *bools = make_bools(evaluator, instruction->result);

	combine_states(evaluator, instruction->result, a, a);
	FOR_ROWS(evaluator, i, bools[i] = a->integers[i] == 0;);
}

/* ---- the choice between two values ---- */

static void
choose(CsvEvaluator *evaluator, const CsvInstruction *instruction)
{
	uint16_t	result = instruction->result;
	CsvLanes   *lanes = &evaluator->lanes[result];
	const CsvRegisterRoom *own = &evaluator->registers[result];
	const CsvLanes *a = &evaluator->lanes[instruction->a];
	const CsvLanes *b = &evaluator->lanes[instruction->b];
	const CsvLanes *c = &evaluator->lanes[instruction->c];

	lanes->lane = b->lane;
	lanes->wide = b->lane == CSV_LANE_DECIMAL && (b->wide || c->wide);
	lanes->limit = b->limit > c->limit ? b->limit : c->limit;
	lanes->plain = a->plain && b->plain && c->plain;
	lanes->state = own->state;

#define CHOSEN	(csv_lanes_state(a, i) == CSV_LANE_VALUE && \
				 a->integers[i] != 0 ? b : c)
#define CHOOSE(type, value) \
	do \
	{ \
		type	   *values = own->values; \
 \
		FOR_ROWS(evaluator, i, \
				 { \
					 const CsvLanes *chosen = CHOSEN; \
 \
					 values[i] = (value); \
				 }); \
	} while (0)

	lanes->integers = own->values;
	lanes->lengths = own->lengths;
	if (!lanes->plain)
		FOR_ROWS(evaluator, i,
				 own->state[i] =
				 csv_lanes_state(a, i) == CSV_LANE_UNDECIDED ?
				 CSV_LANE_UNDECIDED : csv_lanes_state(CHOSEN, i););
	switch (lanes->lane)
	{
		case CSV_LANE_INT:
			CHOOSE(int64_t, chosen->integers[i]);
			break;
		case CSV_LANE_FLOAT:
			CHOOSE(double, chosen->reals[i]);
			break;
		case CSV_LANE_UUID:
			CHOOSE(CsvUint128, chosen->uuids[i]);
			break;
		case CSV_LANE_DECIMAL:
			if (lanes->wide)
				CHOOSE(CsvInt128, csv_lanes_decimal(chosen, i));
			else
				CHOOSE(int64_t, chosen->integers[i]);
			break;
		case CSV_LANE_TEXT:
			CHOOSE(const uint8_t *, chosen->texts[i]);
			FOR_ROWS(evaluator, i, own->lengths[i] = CHOSEN->lengths[i];);
			break;
	}
#undef CHOOSE
#undef CHOSEN
}

/* ---- by operation ---- */

typedef void (*ExecuteFn) (CsvEvaluator *evaluator,
						   const CsvInstruction *instruction);

/* constants are in their registers already */
static const ExecuteFn execute[CSV_NUM_OPERATIONS] = {
	[CSV_OP_COLUMN] = csv_load_column,
	[CSV_OP_ADD ... CSV_OP_TIMESTAMP_TO_TIME] = arithmetic,
	[CSV_OP_EQUAL ... CSV_OP_GREATER_EQUAL] = compare,
	[CSV_OP_IN] = look_up,
	[CSV_OP_STARTS_WITH ... CSV_OP_LIKE] = match,
	[CSV_OP_LOWER ... CSV_OP_UPPER] = fold,
	[CSV_OP_IS_NULL ... CSV_OP_IS_FALSE] = test_state,
	[CSV_OP_NOT] = negate_bools,
	[CSV_OP_AND ... CSV_OP_OR] = and_or,
	[CSV_OP_CHOOSE] = choose
};

void
csv_execute(CsvEvaluator *evaluator, const CsvInstruction *instruction)
{
	if (execute[instruction->operation] != NULL)
		execute[instruction->operation] (evaluator, instruction);
}
