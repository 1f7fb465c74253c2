/*
 * evaluate.c
 *		Evaluates a CsvQuery over batches, on the CPU.
 *
 * A batch is taken in blocks of CSV_BLOCK_ROWS rows.  An instruction is a loop
 * over a block, from registers to a register (lanes.h); a column of the batch
 * is used where it lies, if its entries are what a register holds.
 *
 * As soon as a filter's register is there, the rows that do not pass are taken
 * off the list of rows that count.  Instructions go by that list where it has
 * become short.  Otherwise they run over the whole block, which costs less a
 * row: all operations are defined for all values, so that those of dropped
 * rows do no harm.
 *
 * What is undecided about a row is looked at only where it matters: a row is
 * handed back if a filter is undecided that was reached, or a key, an argument
 * or its filter.  The others are added to their groups (groups.c).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* memmem */
#endif

#include <stdint.h>
#include <string.h>

#include "groups.h"
#include "operate.h"

#define ALWAYS_INLINE	inline __attribute__((always_inline))

/* registers begin at cache lines */
#define ALIGNMENT		64

/* what becomes of a row of a block */
#define ROW_DROPPED		0
#define ROW_PASSES		1
#define ROW_CAREFUL		2

#define MOST_DECIMAL	(csv_power_of_ten(CSV_MAX_DECIMAL_DIGITS) - 1)

typedef struct CsvRegister
{
	void	   *values;			/* room for a block: 16 bytes a row, */
	uint32_t   *lengths;		/* and 4, */
	uint8_t    *state;			/* and 1 */
} CsvRegister;

struct CsvEvaluator
{
	CsvMemory	memory;
	const CsvQuery *query;
	CsvLanes   *lanes;			/* a register each: what it holds, */
	CsvRegister *registers;		/* and where its own arrays are */
	CsvConstant *constants;		/* a register each: what it was filled from */
	const uint8_t *constant_text;
	uint32_t   *written;		/* a register each: instructions up to the one
								 * that writes it */
	void	   *allocated;		/* what registers' arrays are in */
	CsvGroups  *groups;			/* NULL without aggregates */

	/* the batch and the block that are evaluated */
	const CsvLayout *layout;
	const CsvBatch *batch;
	uint32_t	first_row;
	uint32_t	nrows;			/* of the block */
	uint16_t	alive[CSV_BLOCK_ROWS];	/* rows that count, ascending */
	uint32_t	nalive;
	bool		dense;			/* so many that loops take all rows */
	bool		any_careful;
	uint8_t		fate[CSV_BLOCK_ROWS];	/* ROW_..., of those not alive */

	/* the answer: room for a batch */
	uint32_t   *rows;
	uint8_t    *careful;
	uint32_t	capacity;
};

/*
 * statement for each row i that counts, and perhaps others.  It is compiled
 * twice: the first loop has no list to read.
 */
#define FOR_ROWS(evaluator, i, statement) \
	do \
	{ \
		if ((evaluator)->dense) \
		{ \
			for (uint32_t i = 0; i < (evaluator)->nrows; i++) \
			{ \
				statement \
			} \
		} \
		else \
		{ \
			for (uint32_t k_ = 0; k_ < (evaluator)->nalive; k_++) \
			{ \
				const uint32_t i = (evaluator)->alive[k_]; \
 \
				statement \
			} \
		} \
	} while (0)

/* ---- states ---- */

/* of operations that want all operands: the worst state counts */
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

/* make the state of a register its own, to be changed row by row */
static uint8_t *
own_state(CsvEvaluator *evaluator, uint16_t result)
{
	CsvLanes   *lanes = &evaluator->lanes[result];
	uint8_t    *state = evaluator->registers[result].state;

	if (lanes->plain)
		memset(state, CSV_LANE_VALUE, evaluator->nrows);
	else if (lanes->state != state)
		memcpy(state, lanes->state, evaluator->nrows);
	lanes->state = state;
	lanes->plain = false;
	return state;
}

/* ---- limits of decimals ---- */

/*
 * From the exclusive-ors of all values with their signs, which have no bit
 * beyond the largest of them.
 */
static CsvUint128
limit_of_bits(CsvUint128 bits)
{
	uint64_t	high = (uint64_t) (bits >> 64);
	uint64_t	low = (uint64_t) bits;

	return high != 0 ? (CsvUint128) 1 << (128 - csv_leading_zeros(high)) :
		low != 0 ? (CsvUint128) 1 << (64 - csv_leading_zeros(low)) : 1;
}

static bool
needs_wide(CsvUint128 limit)
{
	return limit > INT64_MAX;
}

static CsvUint128
multiply_limits(CsvUint128 a, CsvUint128 b)
{
	CsvUint128	most = MOST_DECIMAL + 1;

	/* a division is slow */
	if ((a | b) >> 63 == 0)
		return a * b;
	return a != 0 && b > most / a ? most : a * b;
}

/* integers as decimals */
static void
set_narrow_decimals(CsvEvaluator *evaluator, uint16_t result,
					const int64_t *values)
{
	CsvLanes   *lanes = &evaluator->lanes[result];
	uint64_t	bits = 0;

	FOR_ROWS(evaluator, i, bits |= (uint64_t) (values[i] ^ values[i] >> 63););
	lanes->lane = CSV_LANE_DECIMAL;
	lanes->limit = limit_of_bits(bits);
	lanes->wide = needs_wide(lanes->limit);
	if (lanes->wide)
	{
		CsvInt128  *decimals = evaluator->registers[result].values;

		/* `values` may be in the same place, of half the width */
		for (uint32_t i = evaluator->nrows; i-- > 0;)
			decimals[i] = values[i];
		lanes->decimals = decimals;
	}
	else
		lanes->integers = values;
}

/* the register's own decimals, narrowed where they all can be */
static void
set_wide_decimals(CsvEvaluator *evaluator, uint16_t result)
{
	CsvLanes   *lanes = &evaluator->lanes[result];
	CsvInt128  *decimals = evaluator->registers[result].values;
	CsvUint128	bits = 0;

	FOR_ROWS(evaluator, i,
			 bits |= (CsvUint128) (decimals[i] ^ decimals[i] >> 127););
	lanes->lane = CSV_LANE_DECIMAL;
	lanes->limit = limit_of_bits(bits);
	if (lanes->limit > MOST_DECIMAL)
		lanes->limit = MOST_DECIMAL;
	lanes->wide = needs_wide(lanes->limit);
	if (lanes->wide)
		lanes->decimals = decimals;
	else
	{
		int64_t    *integers = evaluator->registers[result].values;

		FOR_ROWS(evaluator, i,
				 {
					 CsvInt128	value = decimals[i];

					 integers[i] = (int64_t) value;
				 });
		lanes->integers = integers;
	}
}

/* ---- columns ---- */

/* any: have some of these rows another state? */
static void
load_states(CsvEvaluator *evaluator, uint16_t result, const CsvArray *array)
{
	static const uint8_t states[4] = {
		[CSV_VALUE_OK] = CSV_LANE_VALUE,
		[CSV_VALUE_NULL] = CSV_LANE_NULL,
		[CSV_VALUE_DOUBTFUL] = CSV_LANE_UNDECIDED,
		[CSV_VALUE_LONG] = CSV_LANE_UNDECIDED
	};
	CsvLanes   *lanes = &evaluator->lanes[result];
	const uint8_t *status = array->status + evaluator->first_row;
	uint8_t    *state = evaluator->registers[result].state;
	uint8_t		any = CSV_LANE_VALUE;

	lanes->plain = array->all_ok;
	if (array->all_ok)
		return;
	FOR_ROWS(evaluator, i,
			 {
				 state[i] = states[status[i] & 3];
				 any |= state[i];
			 });
	lanes->state = state;
	lanes->plain = any == CSV_LANE_VALUE;
}

static void
make_undecided(CsvEvaluator *evaluator, uint16_t result)
{
	memset(own_state(evaluator, result), CSV_LANE_UNDECIDED, evaluator->nrows);
}

/* an integer or float of another width */
#define LOAD(type, member) \
	do \
	{ \
		const type *entries = (const type *) entry; \
 \
		FOR_ROWS(evaluator, i, lanes_values->member[i] = entries[i];); \
	} while (0)

static void
load_texts(CsvEvaluator *evaluator, uint16_t result, const uint8_t *entry,
		   uint32_t stride, bool trim)
{
	CsvLanes   *lanes = &evaluator->lanes[result];
	const uint8_t **texts = evaluator->registers[result].values;
	uint32_t   *lengths = evaluator->registers[result].lengths;

	if (lanes->plain)
		FOR_ROWS(evaluator, i,
				 {
					 const uint8_t *place = entry + (size_t) i * stride;

					 texts[i] = place + 4;
					 lengths[i] = (csv_load4(place) >> 2) - 4;
				 });
	else
		FOR_ROWS(evaluator, i,
				 {
					 const uint8_t *place = entry + (size_t) i * stride;

					 texts[i] = place + 4;
					 lengths[i] = lanes->state[i] != CSV_LANE_VALUE ? 0 :
						 (csv_load4(place) >> 2) - 4;
				 });
	if (trim)
		FOR_ROWS(evaluator, i,
				 lengths[i] = csv_trimmed_length(texts[i], lengths[i]););
	lanes->texts = texts;
	lanes->lengths = lengths;
}

static void
load_decimals(CsvEvaluator *evaluator, uint16_t result,
			  const CsvColumn *column, const uint8_t *entry, uint32_t stride)
{
	CsvLanes   *lanes = &evaluator->lanes[result];
	CsvInt128  *decimals = evaluator->registers[result].values;
	const int64_t *entries = (const int64_t *) entry;
	bool		all_fit = true;

	if (column->kind == CSV_KIND_DECIMAL64)
	{
		int64_t    *integers = evaluator->registers[result].values;

		if (!lanes->plain)
		{
			FOR_ROWS(evaluator, i,
					 integers[i] = lanes->state[i] == CSV_LANE_VALUE ?
					 entries[i] : 0;);
			entries = integers;
		}
		set_narrow_decimals(evaluator, result, entries);
		return;
	}

	/* numerics are taken as they are only with their scale known */
	if (column->kind == CSV_KIND_NUMERIC && column->precision < 0)
		make_undecided(evaluator, result);
	FOR_ROWS(evaluator, i,
			 {
				 bool		fits = true;

				 decimals[i] = 0;
				 if (csv_lanes_state(lanes, i) != CSV_LANE_VALUE)
					 continue;
				 if (column->kind == CSV_KIND_DECIMAL128)
				 {
					 memcpy(&decimals[i], entry + (size_t) i * 16, 16);
					 fits = csv_decimal_fits(decimals[i]);
				 }
				 else
					 fits = csv_decimal_from_numeric(entry + (size_t) i * stride,
													 column->scale,
													 &decimals[i]);
				 if (!fits)
				 {
					 decimals[i] = 0;
					 all_fit = false;
				 }
			 });
	if (!all_fit)
	{
		/* of more than 38 digits; numeric(38) has none, but others may */
		uint8_t    *state = own_state(evaluator, result);

		FOR_ROWS(evaluator, i,
				 {
					 CsvInt128	value = 0;

					 if (state[i] == CSV_LANE_VALUE &&
						 (column->kind == CSV_KIND_DECIMAL128 ||
						  !csv_decimal_from_numeric(entry + (size_t) i * stride,
													column->scale, &value)))
						 state[i] = CSV_LANE_UNDECIDED;
				 });
	}
	set_wide_decimals(evaluator, result);
}

static void
load_uuids(CsvEvaluator *evaluator, uint16_t result, const uint8_t *entry)
{
	CsvUint128 *uuids = evaluator->registers[result].values;

	FOR_ROWS(evaluator, i,
			 {
				 uint64_t	first;
				 uint64_t	second;

				 memcpy(&first, entry + (size_t) i * 16, 8);
				 memcpy(&second, entry + (size_t) i * 16 + 8, 8);
				 uuids[i] = (CsvUint128) __builtin_bswap64(first) << 64 |
					 __builtin_bswap64(second);
			 });
	evaluator->lanes[result].uuids = uuids;
}

static void
load_column(CsvEvaluator *evaluator, const CsvInstruction *instruction)
{
	uint16_t	result = instruction->result;
	const CsvColumn *column = &evaluator->layout->columns[instruction->operand];
	const CsvArray *array = &evaluator->batch->arrays[instruction->operand];
	const uint8_t *entry = array->values +
		(size_t) evaluator->first_row * array->stride;
	CsvLanes   *lanes = &evaluator->lanes[result];
	union
	{
		int64_t		integers[CSV_BLOCK_ROWS];
		double		reals[CSV_BLOCK_ROWS];
	}		   *lanes_values = evaluator->registers[result].values;

	load_states(evaluator, result, array);
	lanes->lane = CSV_LANE_INT;
	lanes->wide = false;
	lanes->integers = lanes_values->integers;
	switch (column->kind)
	{
		case CSV_KIND_BOOL:
			LOAD(uint8_t, integers);
			break;
		case CSV_KIND_INT2:
			LOAD(int16_t, integers);
			break;
		case CSV_KIND_INT4:
		case CSV_KIND_DATE:
			LOAD(int32_t, integers);
			break;
		case CSV_KIND_INT8:
		case CSV_KIND_TIMESTAMP:
		case CSV_KIND_TIMESTAMPTZ:
			lanes->integers = (const int64_t *) entry;
			break;
		case CSV_KIND_FLOAT4:
			LOAD(float, reals);
			lanes->lane = CSV_LANE_FLOAT;
			lanes->reals = lanes_values->reals;
			break;
		case CSV_KIND_FLOAT8:
			lanes->lane = CSV_LANE_FLOAT;
			lanes->reals = (const double *) entry;
			break;
		case CSV_KIND_UUID:
			lanes->lane = CSV_LANE_UUID;
			load_uuids(evaluator, result, entry);
			break;
		case CSV_KIND_NUMERIC:
		case CSV_KIND_DECIMAL64:
		case CSV_KIND_DECIMAL128:
			load_decimals(evaluator, result, column, entry, array->stride);
			break;
		default:
			if (column->kind != CSV_KIND_TEXT)
				make_undecided(evaluator, result);
			lanes->lane = CSV_LANE_TEXT;
			load_texts(evaluator, result, entry, array->stride,
					   (instruction->flags & CSV_FLAG_TRIM) != 0);
			break;
	}
}

/* ---- constants ---- */

static void
constant_value(const CsvQuery *query, uint32_t number, CsvValue *value)
{
	const CsvConstant *constant = &query->constants[number];

	value->state = constant->isnull ? CSV_LANE_NULL : CSV_LANE_VALUE;
	value->length = constant->isnull ? 0 : constant->length;
	value->bytes = query->text + constant->offset;
	memcpy(&value->value, &constant->value, sizeof(value->value));
}

/* fill a register, unless it holds the constant already */
static void
fill_constant(CsvEvaluator *evaluator, const CsvInstruction *instruction)
{
	const CsvQuery *query = evaluator->query;
	uint16_t	result = instruction->result;
	CsvLanes   *lanes = &evaluator->lanes[result];
	CsvRegister *own = &evaluator->registers[result];
	CsvValue	value;

	if (lanes->constant && evaluator->constant_text == query->text &&
		memcmp(&evaluator->constants[result],
			   &query->constants[instruction->operand],
			   sizeof(CsvConstant)) == 0)
		return;
	evaluator->constants[result] = query->constants[instruction->operand];
	constant_value(query, instruction->operand, &value);
	lanes->lane = query->constants[instruction->operand].lane;
	lanes->constant = true;
	lanes->wide = false;
	lanes->plain = value.state == CSV_LANE_VALUE;
	memset(own->state, value.state, CSV_BLOCK_ROWS);
	lanes->state = own->state;
	switch (lanes->lane)
	{
		case CSV_LANE_INT:
		case CSV_LANE_FLOAT:
			for (uint32_t i = 0; i < CSV_BLOCK_ROWS; i++)
				((int64_t *) own->values)[i] = value.value.integer;
			break;
		case CSV_LANE_TEXT:
			for (uint32_t i = 0; i < CSV_BLOCK_ROWS; i++)
			{
				((const uint8_t **) own->values)[i] = value.bytes;
				own->lengths[i] = value.length;
			}
			break;
		default:
			if (lanes->lane == CSV_LANE_DECIMAL)
			{
				if (!lanes->plain)
					value.value.decimal = 0;
				lanes->limit = csv_decimal_magnitude(value.value.decimal);
				lanes->wide = needs_wide(lanes->limit);
			}
			for (uint32_t i = 0; i < CSV_BLOCK_ROWS; i++)
			{
				if (lanes->lane == CSV_LANE_DECIMAL && !lanes->wide)
					((int64_t *) own->values)[i] =
						(int64_t) value.value.decimal;
				else
					((CsvInt128 *) own->values)[i] = value.value.decimal;
			}
			break;
	}
	lanes->integers = own->values;
	lanes->lengths = own->lengths;
}

/* ---- arithmetic ---- */

/* one result; false: undecided */
static ALWAYS_INLINE bool
operate_int(int operation, int64_t a, int64_t b, uint32_t bits,
			int64_t *result)
{
	switch (operation)
	{
		case CSV_OP_ADD:
			return csv_int_add(a, b, bits, result);
		case CSV_OP_SUBTRACT:
			return csv_int_subtract(a, b, bits, result);
		case CSV_OP_MULTIPLY:
			return csv_int_multiply(a, b, bits, result);
		case CSV_OP_NEGATE:
			return csv_int_negate(a, bits, result);
		default:
			return csv_date_to_timestamp(a, result);
	}
}

static ALWAYS_INLINE bool
operate_float(int operation, double a, double b, uint32_t bits, double *result)
{
	switch (operation)
	{
		case CSV_OP_ADD:
			return csv_float_add(a, b, bits, result);
		case CSV_OP_SUBTRACT:
			return csv_float_subtract(a, b, bits, result);
		case CSV_OP_MULTIPLY:
			return csv_float_multiply(a, b, bits, result);
		default:
			*result = -a;
			return true;
	}
}

static ALWAYS_INLINE bool
operate_decimal(int operation, CsvInt128 a, CsvInt128 b, uint32_t digits,
				CsvInt128 *result)
{
	switch (operation)
	{
		case CSV_OP_ADD:
			return csv_decimal_add(a, b, result);
		case CSV_OP_SUBTRACT:
			return csv_decimal_subtract(a, b, result);
		case CSV_OP_MULTIPLY:
			return csv_decimal_multiply(a, b, result);
		case CSV_OP_NEGATE:
			*result = -a;
			return true;
		default:
			return csv_decimal_rescale(a, digits, result);
	}
}

/*
 * Values of a whole register.  The loops below are the same for all operations,
 * which are constants there; what does not fit is found out once for the block,
 * and row by row only where there is something.
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
			uint8_t    *state = own_state(evaluator, result); \
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
		OPERATE(operate_int, int64_t, integers, operation, 16);
	else if (bits == 32)
		OPERATE(operate_int, int64_t, integers, operation, 32);
	else
		OPERATE(operate_int, int64_t, integers, operation, 64);
}

static ALWAYS_INLINE void
operate_floats(CsvEvaluator *evaluator, uint16_t result, int operation,
			   const CsvLanes *a, const CsvLanes *b, uint32_t bits)
{
	CsvLanes   *lanes = &evaluator->lanes[result];

	if (bits == 32)
		OPERATE(operate_float, double, reals, operation, 32);
	else
		OPERATE(operate_float, double, reals, operation, 64);
}

/*
 * Decimals: in 64 bits where the result's limit allows, in 128 bits without
 * checks where it allows that, and otherwise with them.
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

	lanes->limit = limit > MOST_DECIMAL ? MOST_DECIMAL : limit;
	lanes->wide = needs_wide(limit);

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
	if (limit <= MOST_DECIMAL)
	{
		CsvInt128	factor = power;

		FOR_ROWS(evaluator, i,
				 decimals[i] = EXACTLY(csv_lanes_decimal(a, i),
									   csv_lanes_decimal(b, i)););
		return;
	}
	FOR_ROWS(evaluator, i,
			 all_fit &= operate_decimal(operation, csv_lanes_decimal(a, i),
										csv_lanes_decimal(b, i), digits,
										&decimals[i]););
	if (!all_fit)
	{
		uint8_t    *state = own_state(evaluator, result);
		CsvInt128	value;

		FOR_ROWS(evaluator, i,
				 if (state[i] == CSV_LANE_VALUE &&
					 !operate_decimal(operation, csv_lanes_decimal(a, i),
									  csv_lanes_decimal(b, i), digits, &value))
					 state[i] = CSV_LANE_UNDECIDED;);
	}
#undef EXACTLY
}

/* one of them each, so that the operation is a constant in its loops */
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
	const CsvLanes *b = &evaluator->lanes[instruction->b];

	evaluator->lanes[result].lane = a->lane;
	evaluator->lanes[result].wide = false;
	switch (instruction->operation)
	{
		case CSV_OP_ADD:
			combine_states(evaluator, result, a, b);
			operate_lanes(evaluator, instruction, CSV_OP_ADD, a, b);
			break;
		case CSV_OP_SUBTRACT:
			combine_states(evaluator, result, a, b);
			operate_lanes(evaluator, instruction, CSV_OP_SUBTRACT, a, b);
			break;
		case CSV_OP_MULTIPLY:
			combine_states(evaluator, result, a, b);
			operate_lanes(evaluator, instruction, CSV_OP_MULTIPLY, a, b);
			break;
		case CSV_OP_NEGATE:
			combine_states(evaluator, result, a, a);
			operate_lanes(evaluator, instruction, CSV_OP_NEGATE, a, a);
			break;
		case CSV_OP_RESCALE:
			combine_states(evaluator, result, a, a);
			operate_decimals(evaluator, result, CSV_OP_RESCALE, a, a,
							 instruction->operand);
			break;
		case CSV_OP_DATE_TO_TIMESTAMP:
			combine_states(evaluator, result, a, a);
			operate_ints(evaluator, result, CSV_OP_DATE_TO_TIMESTAMP, a, a, 64);
			break;
		case CSV_OP_INT_TO_DECIMAL:
			combine_states(evaluator, result, a, a);
			set_narrow_decimals(evaluator, result, a->integers);
			break;
		case CSV_OP_INT_TO_FLOAT:
			{
				double	   *values = evaluator->registers[result].values;

				combine_states(evaluator, result, a, a);
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

/* where they are written; the state is still to be set */
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
			/* FALLTHROUGH */
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
		uint8_t    *state = own_state(evaluator, result);

		FOR_ROWS(evaluator, i,
				 if (state[i] == CSV_LANE_VALUE && bools[i] == 0)
					 state[i] = CSV_LANE_NULL;);
	}
}

static void
match(CsvEvaluator *evaluator, const CsvInstruction *instruction)
{
	const CsvLanes *a = &evaluator->lanes[instruction->a];
	int64_t    *bools = make_bools(evaluator, instruction->result);
	CsvValue	pattern;

	combine_states(evaluator, instruction->result, a, a);
	constant_value(evaluator->query, instruction->operand, &pattern);
	if (pattern.state != CSV_LANE_VALUE)
	{
		uint8_t    *state = own_state(evaluator, instruction->result);

		FOR_ROWS(evaluator, i,
				 if (state[i] == CSV_LANE_VALUE)
					 state[i] = CSV_LANE_NULL;);
		return;
	}

	/* states: a text that is no value is not to be looked at */
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
		default:
			MATCH(memmem(a->texts[i], a->lengths[i], pattern.bytes,
						 pattern.length) != NULL);
			break;
	}
#undef MATCH
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
		uint8_t    *state = own_state(evaluator, result);

		FOR_ROWS(evaluator, i,
				 if (state[i] == CSV_LANE_NULL)
					 state[i] = CSV_LANE_VALUE;);
	}
}

/*
 * AND and OR: `decisive` is false for AND, true for OR.  A first operand that
 * is decisive, or undecided, is the result; then a second one that is; then
 * NULL, if one of them is.
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

				 bools[i] = decisive;
				 if (a_state == CSV_LANE_UNDECIDED)
					 state[i] = CSV_LANE_UNDECIDED;
				 else if (a_state == CSV_LANE_VALUE && (left[i] != 0) == decisive)
					 state[i] = CSV_LANE_VALUE;
				 else if (b_state != CSV_LANE_VALUE)
					 state[i] = b_state;
				 else if ((right[i] != 0) == decisive)
					 state[i] = CSV_LANE_VALUE;
				 else
				 {
					 state[i] = a_state;
					 bools[i] = !decisive;
				 }
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
	const CsvRegister *own = &evaluator->registers[result];
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

/* ---- a block ---- */

static void
execute(CsvEvaluator *evaluator, const CsvInstruction *instruction)
{
	switch (instruction->operation)
	{
		case CSV_OP_COLUMN:
			load_column(evaluator, instruction);
			break;
		case CSV_OP_CONSTANT:
			break;				/* is there */
		case CSV_OP_ADD:
		case CSV_OP_SUBTRACT:
		case CSV_OP_MULTIPLY:
		case CSV_OP_NEGATE:
		case CSV_OP_RESCALE:
		case CSV_OP_INT_TO_DECIMAL:
		case CSV_OP_INT_TO_FLOAT:
		case CSV_OP_DATE_TO_TIMESTAMP:
			arithmetic(evaluator, instruction);
			break;
		case CSV_OP_EQUAL:
		case CSV_OP_NOT_EQUAL:
		case CSV_OP_LESS:
		case CSV_OP_LESS_EQUAL:
		case CSV_OP_GREATER:
		case CSV_OP_GREATER_EQUAL:
			compare(evaluator, instruction);
			break;
		case CSV_OP_IN:
			look_up(evaluator, instruction);
			break;
		case CSV_OP_STARTS_WITH:
		case CSV_OP_ENDS_WITH:
		case CSV_OP_CONTAINS:
			match(evaluator, instruction);
			break;
		case CSV_OP_IS_NULL:
		case CSV_OP_IS_NOT_NULL:
		case CSV_OP_IS_TRUE:
		case CSV_OP_IS_FALSE:
			test_state(evaluator, instruction);
			break;
		case CSV_OP_NOT:
			negate_bools(evaluator, instruction);
			break;
		case CSV_OP_AND:
		case CSV_OP_OR:
			and_or(evaluator, instruction);
			break;
		case CSV_OP_CHOOSE:
			choose(evaluator, instruction);
			break;
	}
}

/* loops over a list cost about twice as much a row */
static void
set_dense(CsvEvaluator *evaluator)
{
	evaluator->dense = evaluator->nalive > evaluator->nrows / 2;
}

/* leave those alive for which the filter is true */
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

/* does the square of a value leave its lane? */
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

/* note as careful rows where this lane is undecided and the filter true */
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

/* take rows off that no group may have, for want of certainty */
static void
drop_undecided(CsvEvaluator *evaluator)
{
	const CsvQuery *query = evaluator->query;
	const CsvLanes *lanes = evaluator->lanes;
	uint16_t   *alive = evaluator->alive;
	uint32_t	n = 0;

	for (uint32_t key = 0; key < query->nkeys; key++)
		note_undecided(evaluator, &lanes[query->keys[key].value], NULL, false);
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

/* put the block's rows that are part of the answer on its list */
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
	uint32_t	nfilters = 0;	/* that were applied */
	uint32_t	ncareful = 0;
	uint32_t	at = 0;

	evaluator->any_careful = false;
	evaluator->nalive = 0;
	memset(evaluator->fate, ROW_DROPPED, evaluator->nrows);
	for (uint32_t i = 0; i < evaluator->nrows; i++)
	{
		evaluator->alive[evaluator->nalive] = (uint16_t) i;
		if (wanted != NULL && wanted[evaluator->first_row + i] != 0)
		{
			evaluator->fate[i] = ROW_CAREFUL;
			evaluator->any_careful = true;
		}
		else
			evaluator->nalive++;
	}
	set_dense(evaluator);

	while (evaluator->nalive > 0)
	{
		/* registers are written once: this filter's is there, or to come */
		while (nfilters < query->nfilters &&
			   evaluator->written[query->filters[nfilters]] <= at)
			apply_filter(evaluator,
						 &evaluator->lanes[query->filters[nfilters++]]);
		if (at == (query->aggregates ? query->ninstructions :
				   query->nfilter_instructions))
			break;
		if (evaluator->nalive > 0)
			execute(evaluator, &query->instructions[at++]);
	}
	if (query->aggregates && evaluator->nalive > 0)
	{
		CsvRows		rows = {evaluator->alive, 0};

		drop_undecided(evaluator);
		rows.nrows = evaluator->nalive;
		if (!csv_groups_add(evaluator->groups, evaluator->lanes, rows))
			return CSV_NO_MEMORY;
	}
	if (evaluator->any_careful)
		for (uint32_t i = 0; i < evaluator->nrows; i++)
			ncareful += evaluator->fate[i] == ROW_CAREFUL;
	selection->ndropped += evaluator->nrows - evaluator->nalive - ncareful;
	list_block(evaluator, selection);
	return CSV_OK;
}

/* ---- batches ---- */

static bool
reserve_rows(CsvEvaluator *evaluator, uint32_t nrows)
{
	const CsvMemory *memory = &evaluator->memory;

	if (nrows <= evaluator->capacity)
		return true;
	if (evaluator->rows != NULL)
		memory->free(memory->owner, evaluator->rows);
	evaluator->capacity = 0;

	/* and one: list_block() writes before it knows */
	evaluator->rows = memory->alloc(memory->owner,
									((size_t) nrows + 1) * (4 + 1));
	if (evaluator->rows == NULL)
		return false;
	evaluator->careful = (uint8_t *) (evaluator->rows + nrows + 1);
	evaluator->capacity = nrows;
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
	if (!reserve_rows(evaluator, batch->nrows))
		return CSV_NO_MEMORY;
	selection->rows = evaluator->rows;
	selection->careful = evaluator->careful;
	evaluator->layout = layout;
	evaluator->batch = batch;
	for (uint32_t i = 0; i < query->ninstructions; i++)
		if (query->instructions[i].operation == CSV_OP_CONSTANT)
			fill_constant(evaluator, &query->instructions[i]);
	evaluator->constant_text = query->text;

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
	return CSV_OK;
}

CsvEvaluator *
csv_evaluator_create(const CsvMemory *memory, const CsvQuery *query)
{
	uint32_t	n = query->nregisters;
	size_t		nbytes = ALIGNMENT + (size_t) n * CSV_BLOCK_ROWS * (16 + 4 + 1);
	CsvEvaluator *evaluator = memory->alloc(memory->owner, sizeof(*evaluator));
	uint8_t    *next;

	if (evaluator == NULL)
		return NULL;
	memset(evaluator, 0, sizeof(*evaluator));
	evaluator->memory = *memory;
	evaluator->query = query;
	evaluator->allocated = memory->alloc(memory->owner, nbytes);
	evaluator->lanes = memory->alloc(memory->owner, (n + 1) * sizeof(CsvLanes));
	evaluator->registers = memory->alloc(memory->owner,
										 (n + 1) * sizeof(CsvRegister));
	evaluator->constants = memory->alloc(memory->owner,
										 (n + 1) * sizeof(CsvConstant));
	evaluator->written = memory->alloc(memory->owner,
									   (n + 1) * sizeof(uint32_t));
	if (query->aggregates)
		evaluator->groups = memory->alloc(memory->owner, sizeof(CsvGroups));
	if (evaluator->allocated == NULL || evaluator->lanes == NULL ||
		evaluator->registers == NULL || evaluator->constants == NULL ||
		evaluator->written == NULL ||
		(query->aggregates && evaluator->groups == NULL))
	{
		if (evaluator->groups != NULL)
			memory->free(memory->owner, evaluator->groups);
		evaluator->groups = NULL;
		csv_evaluator_free(evaluator);
		return NULL;
	}

	memset(evaluator->lanes, 0, (n + 1) * sizeof(CsvLanes));
	memset(evaluator->written, 0, (n + 1) * sizeof(uint32_t));
	next = (uint8_t *) (((uintptr_t) evaluator->allocated + ALIGNMENT - 1) &
						~(uintptr_t) (ALIGNMENT - 1));
	memset(next, 0, nbytes - ALIGNMENT);
	for (uint32_t i = 0; i < n; i++)
	{
		CsvRegister *own = &evaluator->registers[i];

		own->values = next;
		own->lengths = (uint32_t *) (next + 16 * CSV_BLOCK_ROWS);
		own->state = next + 20 * CSV_BLOCK_ROWS;
		next += 21 * CSV_BLOCK_ROWS;
	}
	for (uint32_t i = 0; i < query->ninstructions; i++)
		evaluator->written[query->instructions[i].result] = i + 1;
	if (query->aggregates &&
		!csv_groups_init(evaluator->groups, &evaluator->memory, query))
	{
		csv_evaluator_free(evaluator);
		return NULL;
	}
	return evaluator;
}

void
csv_evaluator_free(CsvEvaluator *evaluator)
{
	CsvMemory	memory = evaluator->memory;
	void	   *parts[] = {
		evaluator->allocated, evaluator->lanes, evaluator->registers,
		evaluator->constants, evaluator->written, evaluator->rows,
		evaluator->groups, evaluator
	};

	if (evaluator->groups != NULL)
		csv_groups_free(evaluator->groups);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i] != NULL)
			memory.free(memory.owner, parts[i]);
}

/* ---- groups ---- */

uint32_t
csv_evaluator_ngroups(const CsvEvaluator *evaluator)
{
	return evaluator->groups->table.nrows;
}

size_t
csv_evaluator_group_bytes(const CsvEvaluator *evaluator)
{
	return csv_groups_bytes(evaluator->groups);
}

uint32_t
csv_evaluator_find_group(CsvEvaluator *evaluator, const CsvValue *keys)
{
	return csv_groups_find(evaluator->groups, keys);
}

bool
csv_evaluator_add_row(CsvEvaluator *evaluator, uint32_t group,
					  const CsvValue *values)
{
	return csv_groups_add_row(evaluator->groups, group, values);
}

void
csv_evaluator_key(const CsvEvaluator *evaluator, uint32_t group, uint32_t key,
				  CsvValue *value)
{
	csv_groups_key(evaluator->groups, group, key, value);
}

void
csv_evaluator_aggregate(const CsvEvaluator *evaluator, uint32_t group,
						uint32_t aggregate, CsvAggregateValue *value)
{
	csv_groups_aggregate(evaluator->groups, group, aggregate, value);
}

bool
csv_evaluator_reset(CsvEvaluator *evaluator)
{
	return csv_groups_reset(evaluator->groups);
}
