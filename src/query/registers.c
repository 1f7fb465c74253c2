/*
 * registers.c
 *		Fills registers from a batch's columns and a query's constants.
 *
 * An array is used where it lies, if its entries have the format of a register.
 */
#include "block.h"

#include <string.h>

/* ---- states ---- */

uint8_t *
csv_own_state(CsvEvaluator *evaluator, uint16_t result)
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
 * The limit of values.  bits: the bitwise or of all values, each xor its sign, which
 * has no bit above the highest bit of the largest value.
 */
static CsvUint128
limit_of_bits(CsvUint128 bits)
{
	uint64_t	high = (uint64_t) (bits >> 64);
	uint64_t	low = (uint64_t) bits;

	return high != 0 ? (CsvUint128) 1 << (128 - csv_leading_zeros(high)) :
		low != 0 ? (CsvUint128) 1 << (64 - csv_leading_zeros(low)) : 1;
}

void
csv_set_narrow_decimals(CsvEvaluator *evaluator, uint16_t result,
						const int64_t *values)
{
	CsvLanes   *lanes = &evaluator->lanes[result];
	uint64_t	bits = 0;

	FOR_ROWS(evaluator, i, bits |= (uint64_t) (values[i] ^ values[i] >> 63););
	lanes->lane = CSV_LANE_DECIMAL;
	lanes->limit = limit_of_bits(bits);
	lanes->wide = csv_needs_wide(lanes->limit);
	if (lanes->wide)
	{
		CsvInt128  *decimals = evaluator->registers[result].values;

		/* `values` may be in the same memory: go backwards, and copy bytes */
		for (uint32_t i = evaluator->nrows; i-- > 0;)
		{
			CsvInt128	value = values[i];

			memcpy(&decimals[i], &value, sizeof(value));
		}
		lanes->decimals = decimals;
	}
	else
		lanes->integers = values;
}

/* set the register's own decimals, narrow if all of them fit */
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
	if (lanes->limit > CSV_MOST_DECIMAL)
		lanes->limit = CSV_MOST_DECIMAL;
	lanes->wide = csv_needs_wide(lanes->limit);
	if (lanes->wide)
		lanes->decimals = decimals;
	else
	{
		int64_t    *integers = evaluator->registers[result].values;

		/* in the same memory: go forwards, and copy bytes */
		FOR_ROWS(evaluator, i,
				 {
					 int64_t	value = (int64_t) decimals[i];

					 memcpy(&integers[i], &value, sizeof(value));
				 });
		lanes->integers = integers;
	}
}

/* ---- columns ---- */

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
	const uint8_t *status;
	uint8_t    *state = evaluator->registers[result].state;
	uint8_t		any = CSV_LANE_VALUE;

	lanes->plain = array->all_ok;
	if (array->all_ok)
		return;
	status = array->status + evaluator->first_row;
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
	memset(csv_own_state(evaluator, result), CSV_LANE_UNDECIDED, evaluator->nrows);
}

/* integers or floats of another width */
#define LOAD(type, member) \
	do \
	{ \
		const type *entries = (const void *) entry; \
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

/*
 * An entry of NUMERIC, DECIMAL128 or SCALED.  False, and 0, if it is beyond 38 digits,
 * or has digits beyond `scale`, the scale of a CSV_FLAG_SCALED (-1: no such flag).
 */
static bool
get_decimal(const CsvColumn *column, int32_t scale, const uint8_t *entry,
			CsvInt128 *value)
{
	bool		fits;

	if (column->kind == CSV_KIND_DECIMAL128)
	{
		memcpy(value, entry, 16);
		fits = csv_decimal_fits(*value);
	}
	else
		fits = column->kind == CSV_KIND_SCALED ?
			csv_decimal_of_scaled(entry, scale, value) :
			scale >= 0 ? csv_decimal_from_scaled(entry, scale, value) :
			csv_decimal_from_numeric(entry, column->scale, value);
	if (!fits)
		*value = 0;
	return fits;
}

/*
 * Load entries of SCALED whose integers have 64 bits.  False, and nothing has changed:
 * some entries have more bits, or scales that are too large.
 */
static bool
load_scaled(CsvEvaluator *evaluator, uint16_t result, int32_t scale,
			const uint8_t *entry)
{
	const CsvLanes *lanes = &evaluator->lanes[result];
	CsvInt128  *decimals = evaluator->registers[result].values;
	int64_t    *integers = evaluator->registers[result].values;
	const int64_t *words = (const int64_t *) entry;
	int64_t		units[64] = {0};	/* by the entry's scale; 0: it is too large */
	bool		fit = true;
	bool		narrow = true;

	for (int32_t i = scale < 18 ? 0 : scale - 18; i <= scale; i++)
		units[i] = (int64_t) csv_power_of_ten(scale - i);
	FOR_ROWS(evaluator, i,
			 {
				 bool		is_value = csv_lanes_state(lanes, i) == CSV_LANE_VALUE;
				 int64_t	low = is_value ? words[2 * i] : 0;
				 int64_t	high = is_value ? words[2 * i + 1] : 0;

				 fit &= high >> 6 == low >> 63 && (units[high & 63] != 0 || low == 0);
				 narrow &= !__builtin_mul_overflow(low, units[high & 63], &integers[i]);
			 });
	if (fit && narrow)
		csv_set_narrow_decimals(evaluator, result, integers);
	else if (fit)
	{
		FOR_ROWS(evaluator, i,
				 decimals[i] = csv_lanes_state(lanes, i) != CSV_LANE_VALUE ? 0 :
				 (CsvInt128) words[2 * i] * units[words[2 * i + 1] & 63];);
		set_wide_decimals(evaluator, result);
	}
	return fit;
}

static void
load_decimals(CsvEvaluator *evaluator, const CsvInstruction *instruction,
			  const CsvColumn *column, const uint8_t *entry, uint32_t stride)
{
	uint16_t	result = instruction->result;
	int32_t		scale = (instruction->flags & CSV_FLAG_SCALED) != 0 ?
		(int32_t) instruction->count : -1;
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
		csv_set_narrow_decimals(evaluator, result, entries);
		return;
	}

	if (column->kind == CSV_KIND_SCALED && scale >= 0 &&
		load_scaled(evaluator, result, scale, entry))
		return;

	/* a numeric without a typmod has a scale of its own */
	if (scale < 0 && (column->kind == CSV_KIND_SCALED ||
					  (column->kind == CSV_KIND_NUMERIC && column->precision < 0)))
		make_undecided(evaluator, result);
	FOR_ROWS(evaluator, i,
			 {
				 decimals[i] = 0;
				 if (csv_lanes_state(lanes, i) == CSV_LANE_VALUE)
					 all_fit &= get_decimal(column, scale,
											entry + (size_t) i * stride,
											&decimals[i]);
			 });
	if (!all_fit)
	{
		uint8_t    *state = csv_own_state(evaluator, result);
		CsvInt128	value;

		FOR_ROWS(evaluator, i,
				 if (state[i] == CSV_LANE_VALUE &&
					 !get_decimal(column, scale, entry + (size_t) i * stride,
								  &value))
					 state[i] = CSV_LANE_UNDECIDED;);
	}
	set_wide_decimals(evaluator, result);
}

static void
load_shown(CsvEvaluator *evaluator, uint16_t result, uint8_t kind,
		   const uint8_t *entry, uint32_t stride)
{
	const CsvLanes *lanes = &evaluator->lanes[result];
	int64_t    *integers = evaluator->registers[result].values;

	FOR_ROWS(evaluator, i,
			 integers[i] = csv_lanes_state(lanes, i) != CSV_LANE_VALUE ? 0 :
			 csv_entry_scale(kind, entry + (size_t) i * stride););
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

void
csv_load_column(CsvEvaluator *evaluator, const CsvInstruction *instruction)
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
		case CSV_KIND_TIME:
			lanes->integers = (const int64_t *) entry;
			break;
		case CSV_KIND_FLOAT4:
			LOAD(float, reals);
			lanes->lane = CSV_LANE_FLOAT;
			lanes->reals = lanes_values->reals;
			break;
		case CSV_KIND_FLOAT8:
			lanes->lane = CSV_LANE_FLOAT;
			lanes->reals = (const void *) entry;
			break;
		case CSV_KIND_UUID:
			lanes->lane = CSV_LANE_UUID;
			load_uuids(evaluator, result, entry);
			break;
		case CSV_KIND_NUMERIC:
		case CSV_KIND_DECIMAL64:
		case CSV_KIND_DECIMAL128:
		case CSV_KIND_SCALED:
			if ((instruction->flags & CSV_FLAG_SHOWN) != 0)
				load_shown(evaluator, result, column->kind, entry, array->stride);
			else
				load_decimals(evaluator, instruction, column, entry,
							  array->stride);
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

void
csv_constant_value(const CsvQuery *query, uint32_t number, CsvValue *value)
{
	const CsvConstant *constant = &query->constants[number];

	value->state = constant->undecided ? CSV_LANE_UNDECIDED :
		constant->isnull ? CSV_LANE_NULL : CSV_LANE_VALUE;
	value->length = constant->isnull ? 0 : constant->length;
	value->bytes = query->text + constant->offset;
	memcpy(&value->value, &constant->value, sizeof(value->value));
}

static bool
same_constant(const CsvConstant *a, const CsvConstant *b)
{
	if (a->lane != b->lane || a->isnull != b->isnull ||
		a->undecided != b->undecided)
		return false;
	switch (a->lane)
	{
		case CSV_LANE_INT:
		case CSV_LANE_FLOAT:	/* FLOAT by its bits */
			return a->value.integer == b->value.integer;
		case CSV_LANE_TEXT:
			return a->length == b->length && a->offset == b->offset;
		default:
			return a->value.uuid == b->value.uuid;
	}
}

/* fill a register, unless it holds the constant already */
void
csv_load_constant(CsvEvaluator *evaluator,
				  const CsvInstruction *instruction)
{
	const CsvQuery *query = evaluator->query;
	uint16_t	result = instruction->result;
	CsvLanes   *lanes = &evaluator->lanes[result];
	CsvRegisterRoom *own = &evaluator->registers[result];
	CsvValue	value;

	if (lanes->constant && evaluator->constant_text == query->text &&
		same_constant(&evaluator->constants[result],
					  &query->constants[instruction->operand]))
		return;
	evaluator->constants[result] = query->constants[instruction->operand];
	csv_constant_value(query, instruction->operand, &value);
	lanes->lane = query->constants[instruction->operand].lane;
	lanes->constant = true;
	lanes->wide = false;
	lanes->plain = value.state == CSV_LANE_VALUE;
	memset(own->state, value.state, evaluator->room_rows);
	lanes->state = own->state;
	switch (lanes->lane)
	{
		case CSV_LANE_INT:
		case CSV_LANE_FLOAT:
			for (uint32_t i = 0; i < evaluator->room_rows; i++)
				((int64_t *) own->values)[i] = value.value.integer;
			break;
		case CSV_LANE_TEXT:
			for (uint32_t i = 0; i < evaluator->room_rows; i++)
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
				lanes->wide = csv_needs_wide(lanes->limit);
			}
			for (uint32_t i = 0; i < evaluator->room_rows; i++)
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
