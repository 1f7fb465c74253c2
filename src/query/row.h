/*
 * row.h
 *		Evaluates a plan for one row, as a device does in each thread.
 *
 * For a row, call csv_row_begin(), then csv_row_step() for each step, then
 * csv_row_end().  The rows of a warp take the same steps at the same time.  The steps
 * decide the row's fate; in a dropped row, further steps have no effect.
 *
 * Groups are made from the values of keys and inputs, which are written to arrays of
 * two words each (CsvOutputs).
 *
 * The operations are in operate.h.  This header is C and CUDA C++, too.
 */
#ifndef CSV_ROW_H
#define CSV_ROW_H

#include "float_sum.h"
#include "operate.h"
#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __CUDACC__
/* few kinds of steps are called in many places: one copy of each will do */
#define CSV_ROW_FUNCTION \
	static __device__ __host__ __noinline__ __attribute__((unused))
#else
#define CSV_ROW_FUNCTION	static inline
#endif

/* a batch's column */
typedef struct CsvRowColumn
{
	const uint8_t *values;
	const uint8_t *status;		/* NULL: all CSV_VALUE_OK */
	uint32_t	stride;
	uint8_t		kind;			/* CsvKind */
	bool		slow;			/* some status is DOUBTFUL or LONG */
	int16_t		precision;
	int16_t		scale;
} CsvRowColumn;

/* INT, FLOAT: low; DECIMAL, UUID: both; TEXT: address and length */
typedef struct CsvRowValue
{
	uint64_t	low;
	uint64_t	high;
	uint32_t	state;			/* CsvLaneState */
} CsvRowValue;

/* slots of a row: two words and a state each, `pitch` elements apart */
typedef struct CsvSlots
{
	uint64_t   *words;
	uint8_t    *states;
	uint32_t	pitch;
} CsvSlots;

/* the results of a batch's rows; arrays of nrows elements */
typedef struct CsvOutputs
{
	uint32_t	nrows;
	uint8_t    *fates;			/* CsvFate */
	uint64_t   *keys;			/* nkeys x nrows x 2 */
	uint32_t   *nulls;			/* a bit per key that is NULL */
	uint32_t   *hashes;			/* of all keys */
	uint64_t   *values;			/* nvalues x nrows x 2 */
	uint8_t    *counts;			/* ninputs x nrows: 1 if the value counts */
	uint8_t    *folded;			/* nfolds x nrows x folded_bytes: texts */
	size_t		folded_bytes;	/* room for any text, in words of 8 bytes */
} CsvOutputs;

typedef enum CsvFate
{
	CSV_FATE_DROPPED,
	CSV_FATE_PASSES,
	CSV_FATE_CAREFUL
} CsvFate;

typedef struct CsvRowState
{
	uint32_t	fate;
	uint32_t	nulls;
	uint64_t	hash;
} CsvRowState;

/* ---- values ---- */

CSV_INLINE CsvInt128
csv_row_decimal(CsvRowValue value)
{
	return (CsvInt128) ((CsvUint128) value.high << 64 | value.low);
}

CSV_INLINE CsvRowValue
csv_row_of_wide(CsvUint128 wide, bool known)
{
	CsvRowValue value;

	value.low = (uint64_t) wide;
	value.high = (uint64_t) (wide >> 64);
	value.state = known ? CSV_LANE_VALUE : CSV_LANE_UNDECIDED;
	return value;
}

CSV_INLINE CsvRowValue
csv_row_of_integer(int64_t integer, bool known)
{
	CsvRowValue value;

	value.low = (uint64_t) integer;
	value.high = 0;
	value.state = known ? CSV_LANE_VALUE : CSV_LANE_UNDECIDED;
	return value;
}

CSV_INLINE CsvRowValue
csv_row_of_state(uint32_t state)
{
	CsvRowValue value;

	value.low = 0;
	value.high = 0;
	value.state = state;
	return value;
}

CSV_INLINE const uint8_t *
csv_row_text(CsvRowValue value)
{
	return (const uint8_t *) (uintptr_t) value.low;
}

CSV_INLINE CsvRowValue
csv_row_constant(const CsvPlan *plan, uint32_t number)
{
	const CsvConstant *constant = &plan->constants[number];
	CsvRowValue value;

	value.state = constant->undecided ? CSV_LANE_UNDECIDED :
		constant->isnull ? CSV_LANE_NULL : CSV_LANE_VALUE;
	if (constant->lane == CSV_LANE_TEXT)
	{
		value.low = (uint64_t) (uintptr_t) (plan->text + constant->offset);
		value.high = constant->length;
	}
	else
	{
		value.low = (uint64_t) constant->value.integer;
		value.high = (uint64_t) (constant->value.uuid >> 64);
	}
	return value;
}

CSV_INLINE CsvRowValue
csv_row_operand(const CsvPlan *plan, const CsvSlots *slots, int32_t operand)
{
	CsvRowValue value;

	if (operand < 0)
		return csv_row_constant(plan, (uint32_t) (-1 - operand));
	value.low = slots->words[(size_t) operand * 2 * slots->pitch];
	value.high = slots->words[((size_t) operand * 2 + 1) * slots->pitch];
	value.state = slots->states[(size_t) operand * slots->pitch];
	return value;
}

CSV_INLINE void
csv_row_store(const CsvSlots *slots, int32_t slot, CsvRowValue value)
{
	slots->words[(size_t) slot * 2 * slots->pitch] = value.low;
	slots->words[((size_t) slot * 2 + 1) * slots->pitch] = value.high;
	slots->states[(size_t) slot * slots->pitch] = (uint8_t) value.state;
}

/* the order of two values of a lane, neither of them NULL */
CSV_ROW_FUNCTION int
csv_row_compare(uint8_t lane, CsvRowValue a, CsvRowValue b)
{
	switch (lane)
	{
		case CSV_LANE_INT:
			return csv_int_compare((int64_t) a.low, (int64_t) b.low);
		case CSV_LANE_DECIMAL:
			return csv_decimal_compare(csv_row_decimal(a), csv_row_decimal(b));
		case CSV_LANE_FLOAT:
			return csv_float_compare(csv_bits_double(a.low),
									 csv_bits_double(b.low));
		case CSV_LANE_TEXT:
			return csv_text_compare(csv_row_text(a), (uint32_t) a.high,
									csv_row_text(b), (uint32_t) b.high);
		default:
			return csv_uuid_compare((CsvUint128) csv_row_decimal(a),
									(CsvUint128) csv_row_decimal(b));
	}
}

CSV_ROW_FUNCTION bool
csv_row_equal(uint8_t lane, CsvRowValue a, CsvRowValue b)
{
	if (lane == CSV_LANE_TEXT)
		return csv_text_equal(csv_row_text(a), (uint32_t) a.high,
							  csv_row_text(b), (uint32_t) b.high);
	if (lane == CSV_LANE_FLOAT)
		return csv_float_representative(csv_bits_double(a.low)) ==
			csv_float_representative(csv_bits_double(b.low));
	return a.low == b.low && a.high == b.high;
}

/* ---- steps ---- */

CSV_ROW_FUNCTION CsvRowValue
csv_row_column(const CsvRowColumn *column, uint32_t row, const CsvStep *step)
{
	const uint8_t *entry = column->values + (size_t) row * column->stride;
	uint32_t	status = column->status == NULL ? (uint32_t) CSV_VALUE_OK :
		column->status[row];
	CsvRowValue value;
	CsvInt128	decimal = 0;
	bool		known;

	if (column->kind == CSV_KIND_CSTRING ||
		((column->kind == CSV_KIND_SCALED ||
		  (column->kind == CSV_KIND_NUMERIC && column->precision < 0)) &&
		 (step->flags & (CSV_FLAG_SCALED | CSV_FLAG_SHOWN)) == 0))
		return csv_row_of_state(CSV_LANE_UNDECIDED);
	if (status != CSV_VALUE_OK)
		return csv_row_of_state(status == CSV_VALUE_NULL ? CSV_LANE_NULL :
								CSV_LANE_UNDECIDED);
	switch (column->kind)
	{
		case CSV_KIND_BOOL:
			return csv_row_of_integer(*entry, true);
		case CSV_KIND_INT2:
			return csv_row_of_integer(*(const int16_t *) entry, true);
		case CSV_KIND_INT4:
		case CSV_KIND_DATE:
			return csv_row_of_integer(*(const int32_t *) entry, true);
		case CSV_KIND_INT8:
		case CSV_KIND_TIMESTAMP:
		case CSV_KIND_TIMESTAMPTZ:
		case CSV_KIND_TIME:
		case CSV_KIND_FLOAT8:
			return csv_row_of_integer(*(const int64_t *) entry, true);
		case CSV_KIND_FLOAT4:
			return csv_row_of_integer((int64_t)
									  csv_double_bits(*(const float *) entry),
									  true);
		case CSV_KIND_DECIMAL64:
			return csv_row_of_wide((CsvUint128) (CsvInt128)
								   *(const int64_t *) entry, true);
		case CSV_KIND_DECIMAL128:
			value.low = ((const uint64_t *) entry)[0];
			value.high = ((const uint64_t *) entry)[1];
			value.state = csv_decimal_fits(csv_row_decimal(value)) ?
				CSV_LANE_VALUE : CSV_LANE_UNDECIDED;
			return value;
		case CSV_KIND_NUMERIC:
		case CSV_KIND_SCALED:
			if ((step->flags & CSV_FLAG_SHOWN) != 0)
				return csv_row_of_integer(csv_entry_scale(column->kind, entry),
										  true);
			known = column->kind == CSV_KIND_SCALED ?
				csv_decimal_of_scaled(entry, (int32_t) step->count, &decimal) :
				(step->flags & CSV_FLAG_SCALED) != 0 ?
				csv_decimal_from_scaled(entry, (int32_t) step->count, &decimal) :
				csv_decimal_from_numeric(entry, column->scale, &decimal);
			return csv_row_of_wide((CsvUint128) decimal, known);
		case CSV_KIND_UUID:
			value.low = 0;
			value.high = 0;
			for (int i = 0; i < 8; i++)
			{
				value.high = value.high << 8 | entry[i];
				value.low = value.low << 8 | entry[8 + i];
			}
			value.state = CSV_LANE_VALUE;
			return value;
		default:
			value.low = (uint64_t) (uintptr_t) (entry + 4);
			value.high = (csv_load4(entry) >> 2) - 4;
			value.state = CSV_LANE_VALUE;
			if ((step->flags & CSV_FLAG_TRIM) != 0)
				value.high = csv_trimmed_length(entry + 4,
												(uint32_t) value.high);
			return value;
	}
}

/* does a DECIMAL fit into 64 bits? */
CSV_INLINE bool
csv_row_is_narrow(CsvRowValue value)
{
	return value.high == (uint64_t) ((int64_t) value.low >> 63);
}

/* decimal arithmetic; sums and products of narrow operands have at most 38 digits */
CSV_INLINE CsvRowValue
csv_row_decimals(const CsvStep *step, CsvRowValue a, CsvRowValue b)
{
	CsvInt128	left = csv_row_decimal(a);
	CsvInt128	right = csv_row_decimal(b);
	CsvInt128	decimal = 0;
	bool		known;

	if (step->operation <= CSV_OP_MULTIPLY && csv_row_is_narrow(a) &&
		csv_row_is_narrow(b))
		return csv_row_of_wide((CsvUint128)
							   (step->operation == CSV_OP_ADD ? left + right :
								step->operation == CSV_OP_SUBTRACT ?
								left - right :
								(CsvInt128) (int64_t) a.low * (int64_t) b.low),
							   true);
	known = csv_decimal_operate(step->operation, left, right, step->operand,
								&decimal);
	return csv_row_of_wide((CsvUint128) decimal, known);
}

/* CSV_OP_ADD to CSV_OP_TIMESTAMP_TO_TIME, of operands that are values */
CSV_ROW_FUNCTION CsvRowValue
csv_row_arithmetic(const CsvStep *step, CsvRowValue a, CsvRowValue b)
{
	int64_t		left = (int64_t) a.low;
	int64_t		integer = 0;
	double		real = 0;
	bool		known = true;

	if (step->operation == CSV_OP_INT_TO_DECIMAL)
		return csv_row_of_wide((CsvUint128) (CsvInt128) left, true);
	if (step->operation == CSV_OP_INT_TO_FLOAT)
	{
		real = csv_int_to_float(left, step->bits);
		return csv_row_of_integer((int64_t) csv_double_bits(real), true);
	}
	switch (step->lane)
	{
		case CSV_LANE_INT:
			known = csv_int_operate(step->operation, left, (int64_t) b.low,
									step->bits, &integer);
			return csv_row_of_integer(integer, known);
		case CSV_LANE_FLOAT:
			known = csv_float_operate(step->operation, csv_bits_double(a.low),
									  csv_bits_double(b.low), step->bits,
									  &real);
			return csv_row_of_integer((int64_t) csv_double_bits(real), known);
		default:
			return csv_row_decimals(step, a, b);
	}
}

/* is a value, which is not NULL, among the constants of a list? */
CSV_ROW_FUNCTION bool
csv_row_in_list(const CsvPlan *plan, const CsvStep *step, CsvRowValue a)
{
	uint32_t	begin = 0;
	uint32_t	end = step->count;

	while (begin < end)
	{
		uint32_t	middle = begin + (end - begin) / 2;
		int			order = csv_row_compare(step->lane, a,
											csv_row_constant(plan,
															 step->operand +
															 middle));

		if (order == 0)
			return true;
		if (order < 0)
			end = middle;
		else
			begin = middle + 1;
	}
	return false;
}

CSV_ROW_FUNCTION CsvRowValue
csv_row_match(const CsvPlan *plan, const CsvStep *step, CsvRowValue a)
{
	CsvRowValue pattern = csv_row_constant(plan, step->operand);
	const uint8_t *text = csv_row_text(a);
	uint32_t	length = (uint32_t) a.high;
	const uint8_t *sought = csv_row_text(pattern);
	uint32_t	sought_length = (uint32_t) pattern.high;

	if (pattern.state > a.state)
		return csv_row_of_state(pattern.state);
	if (a.state != CSV_LANE_VALUE)
		return csv_row_of_state(a.state);
	return csv_row_of_integer(step->operation == CSV_OP_STARTS_WITH ?
							  csv_text_starts_with(text, length, sought,
												   sought_length) :
							  step->operation == CSV_OP_ENDS_WITH ?
							  csv_text_ends_with(text, length, sought,
												 sought_length) :
							  step->operation == CSV_OP_LIKE ?
							  csv_text_like(text, length, sought,
											sought_length, csv_text_find) :
							  csv_text_find(text, length, sought,
											sought_length) != NULL, true);
}

/* as and_or() in operations.c */
CSV_INLINE CsvRowValue
csv_row_and_or(bool decisive, CsvRowValue a, CsvRowValue b)
{
	bool		a_decides = a.state == CSV_LANE_VALUE &&
		(a.low != 0) == decisive;
	bool		b_decides = b.state == CSV_LANE_VALUE &&
		(b.low != 0) == decisive;

	if (a.state == CSV_LANE_UNDECIDED)
		return a;
	if (a_decides || b_decides)
		return csv_row_of_integer(decisive, true);
	return a.state > b.state ? a : b;
}

/* an instruction's result */
CSV_INLINE CsvRowValue
csv_row_execute(const CsvPlan *plan, const CsvStep *step,
				const CsvRowColumn *columns, uint32_t row,
				const CsvSlots *slots)
{
	CsvRowValue a;
	CsvRowValue b;
	bool		answer = false;

	if (step->operation == CSV_OP_COLUMN)
		return csv_row_column(&columns[step->operand], row, step);
	a = csv_row_operand(plan, slots, step->a);
	switch (step->operation)
	{
		case CSV_OP_STARTS_WITH:
		case CSV_OP_ENDS_WITH:
		case CSV_OP_CONTAINS:
		case CSV_OP_LIKE:
			return csv_row_match(plan, step, a);
		case CSV_OP_CHOOSE:
			if (a.state == CSV_LANE_UNDECIDED)
				return a;
			return csv_row_operand(plan, slots, a.state == CSV_LANE_VALUE &&
								   a.low != 0 ? step->b : step->c);
		case CSV_OP_AND:
		case CSV_OP_OR:
			return csv_row_and_or(step->operation == CSV_OP_OR, a,
								  csv_row_operand(plan, slots, step->b));
		case CSV_OP_IS_NULL:
		case CSV_OP_IS_NOT_NULL:
		case CSV_OP_IS_TRUE:
		case CSV_OP_IS_FALSE:
			answer = a.state == CSV_LANE_NULL ?
				step->operation == CSV_OP_IS_NULL :
				step->operation == CSV_OP_IS_NOT_NULL ||
				(step->operation == CSV_OP_IS_TRUE && a.low != 0) ||
				(step->operation == CSV_OP_IS_FALSE && a.low == 0);
			return csv_row_of_integer(answer, a.state != CSV_LANE_UNDECIDED);
		default:
			break;
	}

	/* the other operations need all operands: the worst state counts */
	b = step->b == CSV_NO_OPERAND ? a : csv_row_operand(plan, slots, step->b);
	if (a.state != CSV_LANE_VALUE || b.state != CSV_LANE_VALUE)
		return csv_row_of_state(a.state > b.state ? a.state : b.state);
	switch (step->operation)
	{
		case CSV_OP_EQUAL:
		case CSV_OP_NOT_EQUAL:
			answer = csv_row_equal(step->lane, a, b) ==
				(step->operation == CSV_OP_EQUAL);
			return csv_row_of_integer(answer, true);
		case CSV_OP_LESS:
		case CSV_OP_LESS_EQUAL:
		case CSV_OP_GREATER:
		case CSV_OP_GREATER_EQUAL:
			answer = csv_order_satisfies(csv_row_compare(step->lane, a, b),
										 step->operation);
			return csv_row_of_integer(answer, true);
		case CSV_OP_IN:
			answer = csv_row_in_list(plan, step, a);
			if (!answer && (step->flags & CSV_FLAG_LIST_NULL) != 0)
				return csv_row_of_state(CSV_LANE_NULL);
			return csv_row_of_integer(answer, true);
		case CSV_OP_NOT:
			return csv_row_of_integer(a.low == 0, true);
		default:
			return csv_row_arithmetic(step, a, b);
	}
}

/*
 * Seed of the hashes that come with a batch's rows.  It is not secret: the table of a
 * batch is given up if its rows meet in one slot.
 */
#define CSV_BATCH_SEED	UINT64_C(0xa0761d6478bd642f)

CSV_ROW_FUNCTION uint64_t
csv_row_hash(uint64_t seed, uint64_t hash, uint8_t lane, CsvRowValue value)
{
	if (value.state != CSV_LANE_VALUE)
		return csv_hash_null(seed, hash);
	switch (lane)
	{
		case CSV_LANE_INT:
			return csv_hash_word(seed, hash, value.low);
		case CSV_LANE_FLOAT:
			return csv_hash_word(seed, hash, csv_float_representative(
																	  csv_bits_double(value.low)));
		case CSV_LANE_TEXT:
			return csv_hash_text(seed, hash, csv_row_text(value),
								 (uint32_t) value.high);
		default:
			return csv_hash_wide(seed, hash,
								 (CsvUint128) csv_row_decimal(value));
	}
}

/* is the square of a value out of its lane's range? */
CSV_ROW_FUNCTION bool
csv_row_beyond_squares(uint8_t lane, CsvRowValue value)
{
	double		high;
	double		low;

	if (lane == CSV_LANE_FLOAT)
		return !csv_float_square(csv_bits_double(value.low), &high, &low);
	return lane == CSV_LANE_DECIMAL &&
		csv_decimal_magnitude(csv_row_decimal(value)) >=
		csv_power_of_ten(CSV_MAX_SQUARED_DIGITS);
}

CSV_INLINE void
csv_row_write(uint64_t *pairs, uint32_t column, uint32_t nrows, uint32_t row,
			  CsvRowValue value)
{
	uint64_t   *pair = pairs + ((size_t) column * nrows + row) * 2;

	pair[0] = value.low;
	pair[1] = value.high;
}

CSV_INLINE CsvRowValue
csv_row_read(const uint64_t *pairs, uint32_t column, uint32_t nrows,
			 uint32_t row)
{
	const uint64_t *pair = pairs + ((size_t) column * nrows + row) * 2;
	CsvRowValue value;

	value.low = pair[0];
	value.high = pair[1];
	value.state = CSV_LANE_VALUE;
	return value;
}

/*
 * Does an input count in a row?  Then *value is its value.  *undecided: the row is
 * undecided.
 */
CSV_INLINE bool
csv_row_input(const CsvPlan *plan, const CsvStep *step, const CsvSlots *slots,
			  CsvRowValue *value, bool *undecided)
{
	CsvRowValue filter = csv_row_of_integer(1, true);
	bool		counts;

	*value = step->a == CSV_NO_OPERAND ? filter :
		csv_row_operand(plan, slots, step->a);
	if (step->b != CSV_NO_OPERAND)
		filter = csv_row_operand(plan, slots, step->b);
	counts = filter.state == CSV_LANE_VALUE && filter.low != 0;
	*undecided = filter.state == CSV_LANE_UNDECIDED ||
		(counts && (value->state == CSV_LANE_UNDECIDED ||
					(value->state == CSV_LANE_VALUE &&
					 (step->flags & CSV_FLAG_SQUARES) != 0 &&
					 csv_row_beyond_squares(step->lane, *value))));
	return counts && value->state == CSV_LANE_VALUE;
}

/* a step that is a filter, a key or an input */
CSV_INLINE void
csv_row_take(const CsvPlan *plan, const CsvStep *step, const CsvSlots *slots,
			 uint32_t row, const CsvOutputs *outputs, CsvRowState *state)
{
	CsvRowValue value = csv_row_of_integer(0, true);
	bool		undecided;
	bool		counts;

	if (state->fate != CSV_FATE_PASSES)
		return;
	if (step->operation != CSV_STEP_INPUT && step->a != CSV_NO_OPERAND)
		value = csv_row_operand(plan, slots, step->a);
	switch (step->operation)
	{
		case CSV_STEP_FILTER:
			state->fate = value.state == CSV_LANE_UNDECIDED ? CSV_FATE_CAREFUL :
				value.state == CSV_LANE_VALUE && value.low != 0 ?
				CSV_FATE_PASSES : CSV_FATE_DROPPED;
			break;
		case CSV_STEP_KEY:
			if (value.state == CSV_LANE_UNDECIDED)
				state->fate = CSV_FATE_CAREFUL;
			else if (value.state == CSV_LANE_NULL)
				state->nulls |= (uint32_t) 1 << step->operand;
			state->hash = csv_row_hash(CSV_BATCH_SEED, state->hash, step->lane,
									   value);
			csv_row_write(outputs->keys, step->operand, outputs->nrows, row,
						  value);
			break;
		default:
			counts = csv_row_input(plan, step, slots, &value, &undecided);
			if (undecided)
				state->fate = CSV_FATE_CAREFUL;
			outputs->counts[(size_t) step->operand * outputs->nrows + row] =
				counts;
			if (counts && plan->inputs[step->operand].column >= 0)
				csv_row_write(outputs->values,
							  (uint32_t) plan->inputs[step->operand].column,
							  outputs->nrows, row, value);
			break;
	}
}

CSV_ROW_FUNCTION CsvRowValue
csv_row_fold(const CsvStep *step, CsvRowValue a, const CsvOutputs *outputs,
			 uint32_t row)
{
	uint8_t    *folded = outputs->folded + outputs->folded_bytes *
		((size_t) step->count * outputs->nrows + row);

	if (a.state != CSV_LANE_VALUE)
		return a;
	if (!csv_text_fold(step->operation == CSV_OP_LOWER, csv_row_text(a),
					   (uint32_t) a.high, folded))
		a.state = CSV_LANE_UNDECIDED;
	a.low = (uint64_t) (uintptr_t) folded;
	return a;
}

/*
 * A row with a doubtful value comes out as careful: its value is not made yet.  (A
 * CSV_VALUE_LONG text exists; the caller can take it from the field's bytes.)
 */
CSV_INLINE CsvRowState
csv_row_begin(const CsvRowColumn *columns, uint32_t ncolumns, uint32_t row)
{
	CsvRowState state;

	state.fate = CSV_FATE_PASSES;
	state.nulls = 0;
	state.hash = CSV_BATCH_SEED;
	for (uint32_t i = 0; i < ncolumns; i++)
		if (columns[i].slow && columns[i].status[row] == CSV_VALUE_DOUBTFUL)
			state.fate = CSV_FATE_CAREFUL;
	return state;
}

CSV_INLINE void
csv_row_step(const CsvPlan *plan, const CsvStep *step,
			 const CsvRowColumn *columns, uint32_t row, const CsvSlots *slots,
			 const CsvOutputs *outputs, CsvRowState *state)
{
	if (step->operation >= CSV_NUM_OPERATIONS)
		csv_row_take(plan, step, slots, row, outputs, state);
	else if (step->operation == CSV_OP_LOWER || step->operation == CSV_OP_UPPER)
		csv_row_store(slots, step->result,
					  csv_row_fold(step, csv_row_operand(plan, slots, step->a),
								   outputs, row));
	else
		csv_row_store(slots, step->result,
					  csv_row_execute(plan, step, columns, row, slots));
}

CSV_INLINE void
csv_row_end(const CsvPlan *plan, uint32_t row, const CsvOutputs *outputs,
			const CsvRowState *state)
{
	outputs->fates[row] = (uint8_t) state->fate;
	if (plan->nkeys > 0)
	{
		outputs->nulls[row] = state->nulls;
		outputs->hashes[row] = (uint32_t) (state->hash ^ state->hash >> 32);
	}
}

/* ---- groups ---- */

/* do two rows have equal keys? */
CSV_INLINE bool
csv_rows_have_equal_keys(const CsvPlan *plan, const CsvOutputs *outputs,
						 uint32_t a, uint32_t b)
{
	uint32_t	nulls = outputs->nulls[a];

	if (nulls != outputs->nulls[b])
		return false;
	for (uint32_t key = 0; key < plan->nkeys; key++)
		if ((nulls >> key & 1) == 0 &&
			!csv_row_equal(plan->key_lanes[key],
						   csv_row_read(outputs->keys, key, outputs->nrows, a),
						   csv_row_read(outputs->keys, key, outputs->nrows, b)))
			return false;
	return true;
}

/* a part of a sum: +-magnitude x 2^(32 place), times the weight of word 0 */
typedef struct CsvAddend
{
	CsvUint128	magnitude;
	uint32_t	place;
	bool		negative;
} CsvAddend;

/* the addend of a finite double; its magnitude is below 2^84 */
CSV_INLINE CsvAddend
csv_addend_of_float(double value)
{
	uint64_t	bits = csv_double_bits(value);
	uint64_t	digits = bits & ((UINT64_C(1) << 52) - 1);
	uint32_t	exponent = (uint32_t) (bits >> 52) & 0x7ff;
	CsvAddend	addend;

	if (exponent != 0)
	{
		digits |= UINT64_C(1) << 52;
		exponent--;
	}
	addend.magnitude = (CsvUint128) digits << exponent % 32;
	addend.place = exponent / 32;
	addend.negative = bits >> 63 != 0;
	return addend;
}

/*
 * The addends of a value in a sum; returns their number, at most two.  For FLOAT,
 * *seen gets the bits that csv_float_sum_add() would set.
 */
CSV_ROW_FUNCTION uint32_t
csv_addends(uint8_t kind, uint8_t lane, CsvRowValue value, CsvAddend *addends,
			uint32_t *seen)
{
	CsvInt128	decimal = lane == CSV_LANE_INT ?
		(CsvInt128) (int64_t) value.low : csv_row_decimal(value);

	*seen = 0;
	if (lane == CSV_LANE_FLOAT)
	{
		double		real = csv_bits_double(value.low);
		double		square = 0;
		double		rest = 0;

		if (kind == CSV_AGGREGATE_SUM_SQUARES)
		{
			csv_float_square(real, &square, &rest);
			real = square;
		}
		if (!csv_float_is_finite(real))
		{
			*seen = csv_float_is_nan(real) ? CSV_SEEN_NAN :
				real > 0 ? CSV_SEEN_INFINITY : CSV_SEEN_MINUS_INFINITY;

			/* an infinity's square has a rest, which is 0 */
			if (kind == CSV_AGGREGATE_SUM_SQUARES)
				*seen |= CSV_SEEN_NO_MINUS_ZERO;
			return 0;
		}
		if (csv_double_bits(real) != UINT64_C(1) << 63)
			*seen = CSV_SEEN_NO_MINUS_ZERO;
		addends[0] = csv_addend_of_float(real);
		if (kind != CSV_AGGREGATE_SUM_SQUARES)
			return 1;
		addends[1] = csv_addend_of_float(rest);
		return 2;
	}
	addends[0].magnitude = csv_decimal_magnitude(decimal);
	addends[0].place = 0;
	addends[0].negative = decimal < 0;
	if (kind == CSV_AGGREGATE_SUM_SQUARES)
	{
		/* at most 64 bits: INT, or a DECIMAL of up to 18 digits */
		addends[0].magnitude = (CsvUint128) (uint64_t) addends[0].magnitude *
			(uint64_t) addends[0].magnitude;
		addends[0].negative = false;
	}
	return 1;
}

/*
 * Does row b replace row a as the MIN or MAX of a group?  If values are equal, the
 * last row counts where that is visible: zeros of FLOAT have a sign.
 */
CSV_INLINE bool
csv_row_replaces(uint8_t kind, uint8_t lane, CsvRowValue a, uint32_t a_row,
				 CsvRowValue b, uint32_t b_row)
{
	int			order = csv_row_compare(lane, b, a);

	if (order == 0)
		return lane == CSV_LANE_FLOAT && csv_bits_double(b.low) == 0 &&
			b_row > a_row;
	return (order > 0) == (kind == CSV_AGGREGATE_MAX);
}

#ifdef __cplusplus
}
#endif

#endif							/* CSV_ROW_H */
