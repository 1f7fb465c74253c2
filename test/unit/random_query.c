/*
 * random_query.c
 *		Batches of random values, and random queries: see random_query.h.
 */
#include <float.h>
#include <math.h>

#include "unit.h"
#include "../../src/query/operate.h"
#include "../../src/query/plan.h"
#include "../../src/reader/convert.h"
#include "random_query.h"

bool		single_floats;

/* ---- batches ---- */

void
add_column(Fixture *fixture, CsvKind kind, int precision, int scale)
{
	CsvColumn  *column = &fixture->columns[fixture->layout.ncolumns++];

	memset(column, 0, sizeof(*column));
	column->kind = (uint8_t) kind;
	column->type_chars = -1;
	column->precision = (int16_t) precision;
	column->scale = (int16_t) scale;
}

static double
random_float(Spread spread, bool single)
{
	static const double edges[] = {
		0.0, -0.0, INFINITY, -INFINITY, NAN, DBL_MAX, -DBL_MAX, DBL_MIN,
		0x1p-1074, 0x1p-500, 0x1p-480, 0x1.fp510, 0x1p511, -1e300, 1e-300
	};
	static const double single_edges[] = {
		0.0, -0.0, INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX, FLT_MIN,
		0x1p-149, 16777216, 1, -1
	};
	double		value;
	uint64_t	bits;

	if (spread != SPREAD_WIDE)
		return ((double) random_below(100) - 50) / 4;
	if (one_in(2))
		return single ? single_edges[random_below(LENGTH(single_edges))] :
			edges[random_below(LENGTH(edges))];
	if (single)
		return (float) (((double) random_below(1000000) - 5e5) / 1024);
	bits = next_random();
	if (one_in(2))				/* of like exponents */
		bits = (bits & ~(UINT64_C(0x7ff) << 52)) |
			(UINT64_C(1000) + random_below(40)) << 52;
	memcpy(&value, &bits, 8);
	return isnan(value) ? NAN : value;
}

static int64_t
random_integer(Spread spread, int bits)
{
	int64_t		most = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
	const int64_t edges[] = {0, 1, -1, most, -most - 1, most - 1, -most, 2};

	if (spread != SPREAD_WIDE)
		return (int64_t) random_below(7) - 3;
	if (one_in(2))
		return edges[random_below(LENGTH(edges))];
	return (int64_t) next_random() >> (64 - bits);
}

CsvInt128
random_decimal(Spread spread, int precision)
{
	CsvUint128	limit = csv_power_of_ten(precision > 38 ? 38 :
										 (uint32_t) precision);
	CsvUint128	value = (CsvUint128) next_random() << 64 | next_random();

	if (spread != SPREAD_WIDE)
		value = random_below(200);
	else if (one_in(3))
		value = limit - 1;
	else
		value >>= random_below(127);
	value %= limit;
	return one_in(2) ? -(CsvInt128) value : (CsvInt128) value;
}

static uint32_t
random_text(Spread spread, uint8_t *text)
{
	uint32_t	length = spread == SPREAD_WIDE ? random_below(25) :
		random_below(3);

	for (uint32_t i = 0; i < length; i++)
		text[i] = one_in(4) ? ' ' : (uint8_t) "ababaBZ{"[random_below(8)];
	if (one_in(20) && length > 0)
		text[0] = 0xc3;
	return length;
}

static void
make_value(Fixture *fixture, uint32_t c, uint32_t row, CsvValue *value)
{
	const CsvColumn *column = &fixture->columns[c];
	Spread		spread = fixture->spreads[c];
	uint8_t    *text = fixture->texts +
		((size_t) row * fixture->layout.ncolumns + c) * 32;

	memset(value, 0, sizeof(*value));
	if (fixture->null_in > 0 && one_in(fixture->null_in))
		value->state = CSV_LANE_NULL;
	if ((fixture->doubtful_in > 0 && one_in(fixture->doubtful_in)) ||
		column->kind == CSV_KIND_CSTRING)
		value->state = CSV_LANE_UNDECIDED;
	if (spread == SPREAD_SAME && row > 0)
	{
		uint8_t		state = value->state;

		*value = fixture->values[c];
		value->state = state;
		return;
	}
	switch (column->kind)
	{
		case CSV_KIND_BOOL:
			value->value.integer = random_below(2);
			break;
		case CSV_KIND_INT2:
			value->value.integer = random_integer(spread, 16);
			break;
		case CSV_KIND_INT4:
			value->value.integer = random_integer(spread, 32);
			break;
		case CSV_KIND_DATE:
			value->value.integer = spread == SPREAD_WIDE && one_in(2) ?
				106751983 - (int64_t) random_below(one_in(2) ? 2 : 109203530) :
				random_integer(spread, 32);
			break;
		case CSV_KIND_INT8:
		case CSV_KIND_TIMESTAMP:
		case CSV_KIND_TIMESTAMPTZ:
		case CSV_KIND_TIME:
			value->value.integer = spread == SPREAD_DISTINCT ? row :
				random_integer(spread, 64);
			break;
		case CSV_KIND_FLOAT4:
			value->value.real = random_float(spread, true);
			break;
		case CSV_KIND_FLOAT8:
			value->value.real = random_float(spread, single_floats);
			break;
		case CSV_KIND_UUID:
			value->value.uuid = random_below(4) |
				(CsvUint128) random_below(4) << 126;
			break;
		case CSV_KIND_NUMERIC:
		case CSV_KIND_DECIMAL64:
		case CSV_KIND_DECIMAL128:
			value->value.decimal = random_decimal(spread, column->precision);
			value->length = (uint32_t) column->scale;	/* as it is shown */
			break;
		case CSV_KIND_SCALED:
			value->value.decimal = random_decimal(spread, CSV_SCALED_DIGITS - 4);
			value->length = (uint32_t) column->scale + random_below(4);
			if (value->length == (uint32_t) column->scale && column->scale > 0 &&
				value->value.decimal % 10 == 0)
				value->length--;
			break;
		default:
			value->bytes = text;
			value->length = random_text(spread, text);
			if (spread == SPREAD_DISTINCT)
				value->length = (uint32_t) sprintf((char *) text,
												   "a long key of row %u",
												   row);
			break;
	}
}

/* the text of a decimal */
uint32_t
decimal_text(CsvInt128 value, int scale, char *text)
{
	CsvUint128	rest = csv_decimal_magnitude(value);
	char		digits[50];
	int			n = 0;
	uint32_t	length = 0;

	for (; rest != 0 || n <= scale; rest /= 10)
		digits[n++] = (char) ('0' + (int) (rest % 10));
	if (value < 0)
		text[length++] = '-';
	while (n > 0)
	{
		if (n-- == scale)
			text[length++] = '.';
		text[length++] = digits[n];
	}
	return length;
}

uint32_t
scaled_text(const CsvColumn *column, const CsvValue *value, char *text)
{
	CsvInt128	decimal = value->value.decimal;

	if ((int) value->length < column->scale)
		decimal /= 10;
	else
		decimal *= (CsvInt128) csv_power_of_ten(value->length - (uint32_t) column->scale);
	return decimal_text(decimal, (int) value->length, text);
}

/* write an entry as an engine would */
static void
put_entry(const CsvColumn *column, const CsvValue *value, uint8_t *entry,
		  uint32_t stride)
{
	int64_t		integer = value->value.integer;
	char		text[64];

	switch (column->kind)
	{
		case CSV_KIND_BOOL:
		case CSV_KIND_INT2:
		case CSV_KIND_INT4:
		case CSV_KIND_DATE:
		case CSV_KIND_INT8:
		case CSV_KIND_TIMESTAMP:
		case CSV_KIND_TIMESTAMPTZ:
		case CSV_KIND_TIME:
		case CSV_KIND_FLOAT8:
		case CSV_KIND_DECIMAL64:
		case CSV_KIND_DECIMAL128:
			memcpy(entry, &value->value, stride);
			break;
		case CSV_KIND_FLOAT4:
			*(float *) entry = (float) value->value.real;
			break;
		case CSV_KIND_UUID:
			for (int i = 0; i < 16; i++)
				entry[i] = (uint8_t) (value->value.uuid >> (120 - 8 * i));
			break;
		case CSV_KIND_NUMERIC:
			assert_true(csv_parse_numeric((uint8_t *) text,
										  decimal_text(value->value.decimal,
													   column->scale, text),
										  '.', column->precision,
										  column->scale, entry, stride));
			break;
		case CSV_KIND_SCALED:
			assert_true(csv_parse_scaled((uint8_t *) text,
										 scaled_text(column, value, text), '.', entry));
			break;
		default:
			integer = (int64_t) (value->length + 4) << 2;
			memcpy(entry, &integer, 4);
			memcpy(entry + 4, value->bytes, value->length);
			break;
	}
}

void
free_batch(Fixture *fixture)
{
	for (uint32_t c = 0; c < fixture->layout.ncolumns; c++)
	{
		free(fixture->arrays[c].values);
		free(fixture->arrays[c].status);
		memset(&fixture->arrays[c], 0, sizeof(CsvArray));
	}
	free(fixture->values);
	free(fixture->texts);
	fixture->values = NULL;
	fixture->texts = NULL;
}

void
make_batch(Fixture *fixture, uint32_t nrows)
{
	uint32_t	ncolumns = fixture->layout.ncolumns;

	free_batch(fixture);
	fixture->layout.columns = fixture->columns;
	fixture->values = calloc((size_t) nrows * ncolumns + 1, sizeof(CsvValue));
	fixture->texts = calloc((size_t) nrows * ncolumns + 1, 32);
	memset(&fixture->batch, 0, sizeof(fixture->batch));
	fixture->batch.nrows = nrows;
	fixture->batch.arrays = fixture->arrays;
	fixture->table.nrows = nrows;
	fixture->table.ncolumns = ncolumns;
	fixture->table.values = fixture->values;
	for (uint32_t row = 0; row < nrows; row++)
		for (uint32_t c = 0; c < ncolumns; c++)
			make_value(fixture, c, row,
					   &fixture->values[(size_t) row * ncolumns + c]);

	for (uint32_t c = 0; c < ncolumns; c++)
	{
		const CsvColumn *column = &fixture->columns[c];
		CsvArray   *array = &fixture->arrays[c];
		uint32_t	stride = csv_value_stride(column);

		array->stride = stride == 0 ? 4 + 32 : stride;
		array->values = malloc((size_t) nrows * array->stride + 1);
		array->status = malloc(nrows + 1);
		array->all_ok = true;
		for (uint32_t row = 0; row < nrows; row++)
		{
			const CsvValue *value =
				&fixture->values[(size_t) row * ncolumns + c];
			uint8_t    *entry = array->values + (size_t) row * array->stride;

			if (value->state == CSV_LANE_VALUE)
			{
				array->status[row] = CSV_VALUE_OK;
				put_entry(column, value, entry, array->stride);
				continue;
			}
			/* an entry without a meaning */
			memset(entry, one_in(2) ? 0xff : 0, array->stride);
			array->all_ok = false;
			array->status[row] = value->state == CSV_LANE_NULL ?
				CSV_VALUE_NULL : stride == 0 && one_in(2) ?
				CSV_VALUE_LONG : CSV_VALUE_DOUBTFUL;
		}
	}
}

/* ---- queries ---- */

void
start_program(Program *program)
{
	memset(program, 0, sizeof(*program));
	program->query.instructions = program->instructions;
	program->query.constants = program->constants;
	program->query.text = program->text;
	program->query.text_length = sizeof(program->text);
	program->query.filters = program->filters;
	program->query.keys = program->keys;
	program->query.aggregate = program->aggregates;
	program->query.order = program->order;
	program->query.checked = program->checked;
}

void
group_by_column(Program *program, uint8_t lane, uint32_t c)
{
	CsvKey	   *key = &program->keys[program->query.nkeys++];

	program->query.aggregates = true;
	key->lane = lane;
	key->value = add_load(program, lane, c);
}

static CsvInstruction *
add_instruction(Program *program, CsvOperation operation, uint8_t lane)
{
	CsvInstruction *instruction =
		&program->instructions[program->query.ninstructions++];

	assert_true(program->query.nregisters < CSV_MAX_REGISTERS);
	instruction->operation = (uint8_t) operation;
	instruction->lane = lane;
	instruction->bits = 64;
	instruction->result = (uint16_t) program->query.nregisters++;
	return instruction;
}

uint16_t
add_load(Program *program, uint8_t lane, uint32_t c)
{
	CsvInstruction *instruction = add_instruction(program, CSV_OP_COLUMN, lane);

	instruction->operand = c;
	return instruction->result;
}

uint16_t
add_operation(Program *program, CsvOperation operation, uint8_t lane,
			  uint16_t a, uint16_t b)
{
	CsvInstruction *instruction = add_instruction(program, operation, lane);

	instruction->a = a;
	instruction->b = b;
	return instruction->result;
}

static CsvConstant *
add_constant(Program *program, uint8_t lane)
{
	CsvConstant *constant = &program->constants[program->query.nconstants++];

	assert_true(program->query.nconstants <= MAX_CONSTANTS);
	constant->lane = lane;
	return constant;
}

static uint16_t
add_integer(Program *program, uint8_t lane, int64_t value)
{
	CsvInstruction *instruction = add_instruction(program, CSV_OP_CONSTANT,
												  lane);

	instruction->operand = program->query.nconstants;
	if (lane == CSV_LANE_DECIMAL)
		add_constant(program, lane)->value.decimal = value;
	else
		add_constant(program, lane)->value.integer = value;
	return instruction->result;
}

void
add_aggregate(Program *program, CsvAggregateKind kind, uint8_t lane,
			  uint16_t argument, uint16_t filter)
{
	CsvAggregate *aggregate =
		&program->aggregates[program->query.naggregates++];

	aggregate->kind = (uint8_t) kind;
	aggregate->lane = lane;
	aggregate->argument = argument;
	aggregate->filter = filter;
}

/* ---- random programs ---- */

Spread
random_spread(void)
{
	return (Spread) random_below(NUM_SPREADS);
}

static void
random_constant(Program *program, CsvConstant *constant, bool is_bool)
{
	Spread		spread = one_in(4) ? SPREAD_WIDE : SPREAD_SMALL;
	uint8_t    *text;

	switch (constant->lane)
	{
		case CSV_LANE_INT:
			constant->value.integer = is_bool ? random_below(2) :
				random_integer(spread, 64);
			break;
		case CSV_LANE_DECIMAL:
			constant->value.decimal = random_decimal(spread, 38);
			break;
		case CSV_LANE_FLOAT:
			constant->value.real = random_float(spread, single_floats);
			break;
		case CSV_LANE_UUID:
			constant->value.uuid = random_below(4) |
				(CsvUint128) random_below(4) << 126;
			break;
		default:
			constant->offset = (uint32_t) (constant - program->constants) * 32;
			text = program->text + constant->offset;
			constant->length = random_text(spread, text);
			break;
	}
}

/* short, with wildcards: the naive query tries all that they may stand for */
static void
random_pattern(Program *program, CsvConstant *constant)
{
	constant->length = random_below(6);
	for (uint32_t i = 0; i < constant->length; i++)
		program->text[constant->offset + i] = one_in(2) ? '%' :
			(uint8_t) ('a' + random_below(2));
}

static const uint8_t *sorted_text;	/* for compare_constants */

static int
compare_constants(const void *left, const void *right)
{
	const CsvConstant *a = left;
	const CsvConstant *b = right;

	switch (a->lane)
	{
		case CSV_LANE_INT:
			return csv_int_compare(a->value.integer, b->value.integer);
		case CSV_LANE_DECIMAL:
			return csv_decimal_compare(a->value.decimal, b->value.decimal);
		case CSV_LANE_FLOAT:
			return csv_float_compare(a->value.real, b->value.real);
		case CSV_LANE_UUID:
			return csv_uuid_compare(a->value.uuid, b->value.uuid);
		default:
			return csv_text_compare(sorted_text + a->offset, a->length,
									sorted_text + b->offset, b->length);
	}
}

static uint16_t
random_column(Program *program, const Fixture *fixture, uint8_t lane,
			  bool is_bool)
{
	for (int i = 0; i < 30; i++)
	{
		uint32_t	c = random_below(fixture->layout.ncolumns);
		uint8_t		kind = fixture->columns[c].kind;
		bool		is_own = kind == CSV_KIND_SCALED;
		bool		is_shown = lane == CSV_LANE_INT && !is_bool &&
			(is_own || kind == CSV_KIND_NUMERIC);
		uint16_t	result;

		if ((csv_lane_of_kind(kind) != lane && !is_shown) ||
			(is_bool && kind != CSV_KIND_BOOL) ||
			(kind == CSV_KIND_CSTRING && !one_in(10)))
			continue;
		result = add_load(program, lane, c);
		if (lane == CSV_LANE_TEXT && one_in(3))
			program->instructions[result].flags = CSV_FLAG_TRIM;
		if (is_shown)
			program->instructions[result].flags = CSV_FLAG_SHOWN;
		else if (is_own || (kind == CSV_KIND_NUMERIC && one_in(2)))
		{
			/* the scale that its values have all the same */
			program->instructions[result].flags = CSV_FLAG_SCALED;
			program->instructions[result].count = (uint32_t)
				fixture->columns[c].scale;
		}
		return result;
	}
	return add_integer(program, lane, lane == CSV_LANE_INT);
}

static uint16_t
random_bool(Program *program, const Fixture *fixture, int depth)
{
	static const CsvOperation tests[] = {
		CSV_OP_IS_NULL, CSV_OP_IS_NOT_NULL
	};
	uint8_t		lane = (uint8_t) random_below(5);
	CsvInstruction *instruction;
	uint32_t	first;
	uint32_t	count;
	uint16_t	a;
	uint16_t	b;

	switch (random_below(9))
	{
		case 0:
			a = random_expression(program, fixture, lane, false, depth);
			return add_operation(program, tests[random_below(2)], lane, a, 0);
		case 1:
			a = random_expression(program, fixture, CSV_LANE_INT, true, depth);
			return add_operation(program, one_in(2) ? CSV_OP_IS_TRUE :
								 CSV_OP_IS_FALSE, CSV_LANE_INT, a, 0);
		case 2:
			a = random_expression(program, fixture, CSV_LANE_INT, true, depth);
			return add_operation(program, CSV_OP_NOT, CSV_LANE_INT, a, 0);
		case 3:
		case 4:
			a = random_expression(program, fixture, CSV_LANE_INT, true, depth);
			b = random_expression(program, fixture, CSV_LANE_INT, true, depth);
			return add_operation(program, one_in(2) ? CSV_OP_AND : CSV_OP_OR,
								 CSV_LANE_INT, a, b);
		case 5:
			a = random_expression(program, fixture, lane, false, depth);
			first = program->query.nconstants;
			for (uint32_t n = random_below(6); n > 0; n--)
				random_constant(program, add_constant(program, lane), false);
			sorted_text = program->text;
			qsort(program->constants + first, program->query.nconstants - first,
				  sizeof(CsvConstant), compare_constants);
			count = 0;
			for (uint32_t i = first; i < program->query.nconstants; i++)
				if (count == 0 ||
					compare_constants(&program->constants[first + count - 1],
									  &program->constants[i]) != 0)
					program->constants[first + count++] =
						program->constants[i];
			a = add_operation(program, CSV_OP_IN, lane, a, 0);
			instruction = &program->instructions[a];
			instruction->operand = first;
			instruction->count = count;
			instruction->flags = one_in(4) ? CSV_FLAG_LIST_NULL : 0;
			return a;
		case 6:
			a = random_expression(program, fixture, CSV_LANE_TEXT, false,
								  depth);
			first = program->query.nconstants;
			random_constant(program, add_constant(program, CSV_LANE_TEXT),
							false);
			program->constants[first].isnull = one_in(20);
			program->constants[first].undecided = one_in(40);
			a = add_operation(program, CSV_OP_STARTS_WITH + random_below(4),
							  CSV_LANE_TEXT, a, 0);
			program->instructions[a].operand = first;
			if (program->instructions[a].operation == CSV_OP_LIKE)
				random_pattern(program, &program->constants[first]);
			return a;
		default:
			a = random_expression(program, fixture, lane, false, depth);
			b = random_expression(program, fixture, lane, false, depth);
			return add_operation(program, CSV_OP_EQUAL + random_below(6), lane,
								 a, b);
	}
}

/* a register of the lane; of 0 and 1, if is_bool */
uint16_t
random_expression(Program *program, const Fixture *fixture, uint8_t lane,
				  bool is_bool, int depth)
{
	static const uint8_t widths[] = {16, 32, 64};
	uint16_t	a;
	uint16_t	b;
	uint16_t	c;
	uint32_t	which = random_below(10);

	if (depth <= 0 || program->query.nregisters > CSV_MAX_REGISTERS - 60 ||
		which < 2)
		return random_column(program, fixture, lane, is_bool);
	if (which == 2)
	{
		CsvInstruction *instruction = add_instruction(program, CSV_OP_CONSTANT,
													  lane);
		CsvConstant *constant;

		instruction->operand = program->query.nconstants;
		constant = add_constant(program, lane);
		random_constant(program, constant, is_bool);
		constant->isnull = one_in(8);
		constant->undecided = one_in(16);
		return instruction->result;
	}
	depth--;
	if (which == 3)
	{
		a = random_expression(program, fixture, CSV_LANE_INT, true, depth);
		b = random_expression(program, fixture, lane, is_bool, depth);
		c = random_expression(program, fixture, lane, is_bool, depth);
		a = add_operation(program, CSV_OP_CHOOSE, lane, a, b);
		program->instructions[a].c = c;
		return a;
	}
	if (is_bool)
		return random_bool(program, fixture, depth);
	if (lane == CSV_LANE_TEXT && which < 7)
	{
		a = random_expression(program, fixture, lane, false, depth);
		return add_operation(program, one_in(2) ? CSV_OP_LOWER : CSV_OP_UPPER, lane, a,
							 0);
	}
	if (lane == CSV_LANE_TEXT || lane == CSV_LANE_UUID)
		return random_column(program, fixture, lane, false);
	if (which == 4)
	{
		if (lane == CSV_LANE_INT)
		{
			a = random_expression(program, fixture, lane, false, depth);
			if (one_in(2))
				return add_operation(program, CSV_OP_DATE_TO_TIMESTAMP + random_below(3), lane,
									 a, 0);
			b = add_instruction(program, CSV_OP_CONSTANT, lane)->result;
			program->instructions[b].operand = program->query.nconstants;
			add_constant(program, lane)->value.integer = random_below(CSV_PART_EPOCH + 1);
			return add_operation(program, CSV_OP_DATE_PART, lane, a, b);
		}
		a = random_expression(program, fixture, CSV_LANE_INT, false, depth);
		a = add_operation(program, lane == CSV_LANE_FLOAT ?
						  CSV_OP_INT_TO_FLOAT : CSV_OP_INT_TO_DECIMAL,
						  CSV_LANE_INT, a, 0);
		program->instructions[a].bits = single_floats ? 32 : 64;
		return a;
	}
	a = random_expression(program, fixture, lane, false, depth);
	if (which == 5 && lane == CSV_LANE_DECIMAL)
	{
		a = add_operation(program, CSV_OP_RESCALE, lane, a, 0);
		program->instructions[a].operand = one_in(5) ? random_below(40) :
			random_below(4);
		return a;
	}
	if (which == 6)
		a = add_operation(program, CSV_OP_NEGATE, lane, a, 0);
	else
	{
		b = random_expression(program, fixture, lane, false, depth);
		a = add_operation(program, CSV_OP_ADD + random_below(lane == CSV_LANE_INT ? 5 : 3), lane,
						  a, b);
	}
	program->instructions[a].bits = lane == CSV_LANE_FLOAT ?
		(single_floats ? 32 : 64) : widths[random_below(3)];
	return a;
}

void
random_program(Program *program, const Fixture *fixture)
{
	start_program(program);
	for (uint32_t n = random_below(4); n > 0; n--)
		program->filters[program->query.nfilters++] =
			random_expression(program, fixture, CSV_LANE_INT, true,
							  (int) random_below(4));
	program->query.nfilter_instructions = program->query.ninstructions;
	program->query.aggregates = !one_in(4);
	if (!program->query.aggregates)
		return;
	for (uint32_t n = random_below(4); n > 0; n--)
	{
		CsvKey	   *key = &program->keys[program->query.nkeys++];

		key->lane = (uint8_t) random_below(5);
		key->value = random_expression(program, fixture, key->lane,
									   key->lane == CSV_LANE_INT && one_in(3),
									   (int) random_below(3));
	}
	for (uint32_t n = random_below(10); n > 0; n--)
	{
		CsvAggregateKind kind = random_below(CSV_NUM_AGGREGATE_KINDS);
		bool		is_sum = kind == CSV_AGGREGATE_SUM ||
			kind == CSV_AGGREGATE_SUM_SQUARES;
		uint8_t		lane = (uint8_t) random_below(is_sum ? 3 : 5);
		uint16_t	argument = CSV_NO_REGISTER;
		uint16_t	filter = CSV_NO_REGISTER;

		if (kind != CSV_AGGREGATE_COUNT_ROWS)
			argument = one_in(3) && program->query.naggregates > 0 &&
				program->aggregates[0].lane == lane &&
				program->aggregates[0].argument != CSV_NO_REGISTER ?
				program->aggregates[0].argument :
				random_expression(program, fixture, lane, false,
								  (int) random_below(4));
		if (one_in(3))
			filter = random_expression(program, fixture, CSV_LANE_INT, true,
									   (int) random_below(3));
		add_aggregate(program, kind, lane, argument, filter);
	}
}

void
random_columns(Fixture *fixture)
{
	for (int kind = 0; kind < CSV_NUM_KINDS; kind++)
	{
		int			most = kind == CSV_KIND_DECIMAL64 ? 18 :
			kind == CSV_KIND_SCALED ? CSV_SCALED_DIGITS - 4 : 38;
		int			precision = (int) random_below((uint32_t) most) + 1;

		add_column(fixture, (CsvKind) kind, precision,
				   (int) random_below((uint32_t) precision + 1));
	}
	fixture->null_in = one_in(2) ? 0 : one_in(6) ? 1 : 5;
	fixture->doubtful_in = one_in(2) ? 0 : 50;
	for (uint32_t c = 0; c < fixture->layout.ncolumns; c++)
		fixture->spreads[c] = one_in(2) ? random_spread() : SPREAD_SMALL;
	single_floats = one_in(3);
}
