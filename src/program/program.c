/*
 * program.c
 *		A query as it is stored in a plan, and as it is run.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "program/program.h"
#include "query/operate.h"

/* ---- in a plan ---- */

typedef struct Span
{
	void	   *start;
	size_t		nbytes;
} Span;

#define NSPANS	9

static void
spans_of(CsvProgram *program, Span *spans)
{
	const CsvProgramCounts *n = &program->n;

	spans[0] = (Span) {&program->n, sizeof(program->n)};
	spans[1] = (Span) {program->instructions,
		n->ninstructions * sizeof(CsvInstruction)};
	spans[2] = (Span) {program->constants,
		n->nconstants * sizeof(CsvProgramConstant)};
	spans[3] = (Span) {program->registers, n->nviews * sizeof(CsvRegister)};
	spans[4] = (Span) {program->filters, n->nfilters * sizeof(uint16_t)};
	spans[5] = (Span) {program->keys, n->nkeys * sizeof(CsvKey)};
	spans[6] = (Span) {program->aggregate,
		n->naggregates * sizeof(CsvAggregate)};
	spans[7] = (Span) {program->order, n->norder * sizeof(CsvOrderKey)};
	spans[8] = (Span) {program->checked, n->nchecked * sizeof(uint16_t)};
}

Node *
csv_program_to_node(const CsvProgram *program)
{
	Span		spans[NSPANS];
	size_t		nbytes = 0;
	bytea	   *image;
	char	   *next;

	spans_of((CsvProgram *) program, spans);
	for (int i = 0; i < NSPANS; i++)
		nbytes += spans[i].nbytes;
	image = palloc(VARHDRSZ + nbytes);
	SET_VARSIZE(image, VARHDRSZ + nbytes);
	next = VARDATA(image);
	for (int i = 0; i < NSPANS; i++)
	{
		if (spans[i].nbytes > 0)
			memcpy(next, spans[i].start, spans[i].nbytes);
		next += spans[i].nbytes;
	}
	return (Node *) makeConst(BYTEAOID, -1, InvalidOid, -1,
							  PointerGetDatum(image), false, false);
}

List *
csv_program_constants(const CsvProgram *program)
{
	return program->constant_exprs;
}

CsvProgram *
csv_program_from_node(const Node *node)
{
	bytea	   *image = DatumGetByteaPP(((const Const *) node)->constvalue);
	CsvProgram *program = palloc0(sizeof(CsvProgram));
	const char *next = VARDATA_ANY(image);
	Span		spans[NSPANS];

	memcpy(&program->n, next, sizeof(program->n));
	program->instructions = palloc(Max(program->n.ninstructions, 1) *
								   sizeof(CsvInstruction));
	spans_of(program, spans);
	for (int i = 0; i < NSPANS; i++)
	{
		if (spans[i].nbytes > 0)
			memcpy(spans[i].start, next, spans[i].nbytes);
		next += spans[i].nbytes;
	}
	program->case_register = -1;
	return program;
}

/* ---- datums and lanes ---- */

/*
 * The digits of a finite numeric, and how many of them stand behind the point.
 */
static bool
decimal_of_numeric(Datum datum, int least_scale, CsvInt128 *value, int *scale)
{
	char	   *text;
	CsvInt128	sum = 0;
	int			ndigits = 0;
	bool		negative;
	bool		behind = false;

	*scale = 0;
	if (numeric_is_nan(DatumGetNumeric(datum)) ||
		numeric_is_inf(DatumGetNumeric(datum)))
		return false;
	text = DatumGetCString(DirectFunctionCall1(numeric_out, datum));
	negative = *text == '-';
	if (negative)
		text++;
	for (; *text != '\0' || *scale < least_scale;)
	{
		char		digit = '0';

		if (*text == '.')
		{
			behind = true;
			text++;
			continue;
		}
		if (*text != '\0')
			digit = *text++;
		else
			behind = true;
		if (sum != 0 || digit != '0')
			ndigits++;
		if (ndigits > CSV_MAX_DECIMAL_DIGITS)
			return false;
		sum = sum * 10 + (digit - '0');
		if (behind)
			(*scale)++;
	}
	*value = negative ? -sum : sum;
	return true;
}

static CsvUint128
uuid_lane(const unsigned char *bytes)
{
	CsvUint128	value = 0;

	for (int i = 0; i < UUID_LEN; i++)
		value = value << 8 | bytes[i];
	return value;
}

bool
csv_value_of_datum(const CsvRegister *reg, Datum datum, CsvValue *value)
{
	memset(value, 0, sizeof(*value));
	value->state = CSV_LANE_VALUE;
	switch (reg->type)
	{
		case BOOLOID:
			value->value.integer = DatumGetBool(datum);
			return true;
		case INT2OID:
			value->value.integer = DatumGetInt16(datum);
			return true;
		case INT4OID:
			value->value.integer = DatumGetInt32(datum);
			return true;
		case DATEOID:
			value->value.integer = DatumGetDateADT(datum);
			return true;
		case INT8OID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			value->value.integer = DatumGetInt64(datum);
			return true;
		case FLOAT4OID:
			value->value.real = DatumGetFloat4(datum);
			return true;
		case FLOAT8OID:
			value->value.real = DatumGetFloat8(datum);
			return true;
		case NUMERICOID:
			{
				int			scale;

				return decimal_of_numeric(datum, reg->scale,
										  &value->value.decimal, &scale) &&
					scale == reg->scale;
			}
		case UUIDOID:
			value->value.uuid = uuid_lane(DatumGetUUIDP(datum)->data);
			return true;
		default:
			{
				struct varlena *text = PG_DETOAST_DATUM_PACKED(datum);

				value->bytes = (const uint8_t *) VARDATA_ANY(text);
				value->length = (uint32_t) VARSIZE_ANY_EXHDR(text);
				if (reg->type == BPCHAROID)
					while (value->length > 0 &&
						   value->bytes[value->length - 1] == ' ')
						value->length--;
				return true;
			}
	}
}

/*
 * A numeric as it is stored, with a short header: sign, scale and weight in 16
 * bits, then digits of base 10,000 without zeros at either end.
 */
#define NUMERIC_IS_SHORT		0x8000
#define NUMERIC_IS_NEGATIVE		0x2000
#define NUMERIC_SCALE_SHIFT		7
#define NUMERIC_WEIGHT_BITS		0x007f
#define MOST_TWO_DIGITS			100000000

/* its header, and how many digits follow */
static inline void
set_numeric_header(char *room, bool negative, int scale, int weight, int ndigits)
{
	uint16		header = NUMERIC_IS_SHORT | (negative ? NUMERIC_IS_NEGATIVE : 0) |
		scale << NUMERIC_SCALE_SHIFT | (weight & NUMERIC_WEIGHT_BITS);

	SET_VARSIZE(room, VARHDRSZ + sizeof(header) + ndigits * sizeof(int16));
	*(uint16 *) (room + VARHDRSZ) = header;
}

/* six digits at the most, as the value moves by up to three decimal ones */
Datum
csv_short_numeric(int64_t value, int scale, char *room)
{
	static const uint32_t powers[] = {1, 1000, 100, 10};
	int16	   *digits = (int16 *) (room + VARHDRSZ + sizeof(uint16));
	bool		negative = value < 0;
	uint64_t	magnitude = negative ? -(uint64_t) value : (uint64_t) value;
	int			weight = -1 - (scale + 3) / 4;
	CsvUint128	rest;
	int16		reversed[6];
	int			ndigits = 0;
	int			nzeros = 0;

	StaticAssertStmt(VARHDRSZ + sizeof(uint16) + sizeof(reversed) <=
					 CSV_SHORT_NUMERIC_BYTES, "there is room for it");

	/* most have one digit before the point, and one behind it, at the most */
	if (scale <= 4 && magnitude < MOST_TWO_DIGITS)
	{
		uint64_t	both = magnitude * (scale == 0 ? 10000 : powers[scale % 4]);

		if (both < MOST_TWO_DIGITS)
		{
			uint32_t	whole = (uint32_t) both / 10000;
			uint32_t	fraction = (uint32_t) both % 10000;

			digits[0] = (int16) (whole != 0 ? whole : fraction);
			digits[1] = (int16) fraction;
			set_numeric_header(room, negative, scale,
							   whole == 0 && fraction != 0 ? -1 : 0,
							   (whole != 0) + (fraction != 0));
			return PointerGetDatum(room);
		}
	}

	rest = (CsvUint128) magnitude * powers[scale % 4];
	while (rest >> 64 != 0)
	{
		reversed[ndigits++] = (int16) (rest % 10000);
		rest /= 10000;
	}
	for (uint64_t word = (uint64_t) rest; word != 0; word /= 10000)
		reversed[ndigits++] = (int16) (word % 10000);
	weight += ndigits;
	while (nzeros < ndigits && reversed[nzeros] == 0)
		nzeros++;
	if (nzeros == ndigits)
		weight = 0;
	for (int i = nzeros; i < ndigits; i++)
		digits[ndigits - 1 - i] = reversed[i];
	set_numeric_header(room, negative, scale, weight, ndigits - nzeros);
	return PointerGetDatum(room);
}

Datum
csv_numeric_of_wide(const CsvWide *wide, int scale, void *room)
{
	uint64_t	word[3] = {wide->word[0], wide->word[1], wide->word[2]};
	bool		negative = (int64_t) word[2] < 0;
	char		text[80];
	char	   *next = text + sizeof(text);
	int			ndigits = 0;

	if (word[1] == (negative ? UINT64_MAX : 0) && word[2] == word[1] &&
		((int64_t) word[0] < 0) == negative && scale <= CSV_SHORT_NUMERIC_SCALE)
		return csv_short_numeric((int64_t) word[0], scale, room != NULL ? room :
								 palloc(CSV_SHORT_NUMERIC_BYTES));
	if (negative)
	{
		uint64_t	carry = 1;

		for (int i = 0; i < 3; i++)
		{
			word[i] = ~word[i] + carry;
			carry = carry && word[i] == 0;
		}
	}
	*--next = '\0';
	while (word[0] != 0 || word[1] != 0 || word[2] != 0 || ndigits <= scale)
	{
		CsvUint128	rest = 0;

		if (ndigits == scale && scale > 0)
			*--next = '.';
		for (int i = 2; i >= 0; i--)
		{
			rest = rest << 64 | word[i];
			word[i] = (uint64_t) (rest / 10);
			rest %= 10;
		}
		*--next = (char) ('0' + (int) rest);
		ndigits++;
	}
	if (negative)
		*--next = '-';
	return DirectFunctionCall3(numeric_in, CStringGetDatum(next),
							   ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

Datum
csv_numeric_of_decimal(CsvInt128 decimal, int scale, void *room)
{
	CsvWide		wide;

	wide.word[0] = (uint64_t) decimal;
	wide.word[1] = (uint64_t) (decimal >> 64);
	wide.word[2] = decimal < 0 ? UINT64_MAX : 0;
	return csv_numeric_of_wide(&wide, scale, room);
}

Datum
csv_numeric_nan(void)
{
	return DirectFunctionCall3(numeric_in, CStringGetDatum("NaN"),
							   ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

static Datum
text_datum(const CsvRegister *reg, const CsvValue *value)
{
	int			nblanks = 0;
	struct varlena *text;

	if (reg->type == BPCHAROID && reg->typmod >= (int32) VARHDRSZ)
		nblanks = Max(reg->typmod - (int32) VARHDRSZ -
					  pg_mbstrlen_with_len((const char *) value->bytes,
										   (int) value->length), 0);
	text = palloc(VARHDRSZ + value->length + nblanks);
	SET_VARSIZE(text, VARHDRSZ + value->length + nblanks);
	memcpy(VARDATA(text), value->bytes, value->length);
	memset(VARDATA(text) + value->length, ' ', nblanks);
	return PointerGetDatum(text);
}

Datum
csv_datum_of_value(const CsvRegister *reg, const CsvValue *value)
{
	switch (reg->type)
	{
		case BOOLOID:
			return BoolGetDatum(value->value.integer != 0);
		case INT2OID:
			return Int16GetDatum((int16) value->value.integer);
		case INT4OID:
			return Int32GetDatum((int32) value->value.integer);
		case DATEOID:
			return DateADTGetDatum((DateADT) value->value.integer);
		case INT8OID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return Int64GetDatum(value->value.integer);
		case FLOAT4OID:
			return Float4GetDatum((float4) value->value.real);
		case FLOAT8OID:
			return Float8GetDatum(value->value.real);
		case NUMERICOID:
			return value->value.decimal == CSV_DECIMAL_NAN ?
				csv_numeric_nan() :
				csv_numeric_of_decimal(value->value.decimal, reg->scale,
									   NULL);
		case UUIDOID:
			{
				pg_uuid_t  *uuid = palloc(sizeof(pg_uuid_t));
				CsvUint128	rest = value->value.uuid;

				for (int i = UUID_LEN - 1; i >= 0; i--)
				{
					uuid->data[i] = (unsigned char) rest;
					rest >>= 8;
				}
				return UUIDPGetDatum(uuid);
			}
		default:
			return text_datum(reg, value);
	}
}

/* ---- where the plan is run ---- */

/* constants in the making */
typedef struct Constants
{
	CsvConstant *constants;
	uint32_t	n;
	uint32_t	capacity;
	StringInfoData text;
} Constants;

static CsvConstant *
new_constant(Constants *out, uint8_t lane)
{
	CsvConstant *constant;

	if (out->n == out->capacity)
	{
		uint32_t	capacity = Max(16, 2 * out->capacity);

		out->constants = out->constants == NULL ?
			palloc(capacity * sizeof(CsvConstant)) :
			repalloc(out->constants, capacity * sizeof(CsvConstant));
		out->capacity = capacity;
	}
	constant = &out->constants[out->n++];
	memset(constant, 0, sizeof(*constant));
	constant->lane = lane;
	return constant;
}

static void
put_value(Constants *out, uint8_t lane, const CsvValue *value)
{
	CsvConstant *constant = new_constant(out, lane);

	memcpy(&constant->value, &value->value, sizeof(constant->value));
	if (lane == CSV_LANE_TEXT)
	{
		constant->length = value->length;
		constant->offset = (uint32_t) out->text.len;
		appendBinaryStringInfo(&out->text, (const char *) value->bytes,
							   (int) value->length);
	}
}

/* the scale that all of these numerics have in common; -1: there is none */
static int
common_scale(const CsvProgramConstant *constant, const Datum *datums,
			 const bool *nulls, int n)
{
	int			common = constant->scale;

	for (int i = 0; i < n; i++)
	{
		CsvInt128	ignored;
		int			scale;

		if (nulls[i])
			continue;
		if (!decimal_of_numeric(datums[i], common, &ignored, &scale))
			return -1;
		common = Max(common, scale);
	}
	return common;
}

static int
compare_in_lane(const void *a, const void *b, void *lane)
{
	return csv_value_compare(*(uint8_t *) lane, a, b);
}

/*
 * The elements of an array as constants, sorted and distinct.  *has_null: a
 * NULL was among them.  False where one has no lane.
 */
static bool
put_list(Constants *out, const CsvProgramConstant *constant, Datum array,
		 CsvRegister *reg, uint32_t *count, bool *has_null, bool *empty)
{
	Datum	   *datums;
	bool	   *nulls;
	int			n;
	int			nvalues = 0;
	CsvValue   *values;
	uint8_t		lane = constant->lane;
	int16		typlen;
	bool		typbyval;
	char		typalign;

	get_typlenbyvalalign(constant->type, &typlen, &typbyval, &typalign);
	deconstruct_array(DatumGetArrayTypeP(array), constant->type, typlen,
					  typbyval, typalign, &datums, &nulls, &n);
	*empty = n == 0;
	if (constant->dynamic)
	{
		int			scale = common_scale(constant, datums, nulls, n);

		if (scale < 0)
			return false;
		reg->scale = (int16) scale;
	}
	values = palloc(sizeof(CsvValue) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			*has_null = true;
		else if (!csv_value_of_datum(reg, datums[i], &values[nvalues++]))
			return false;
	}
	qsort_arg(values, nvalues, sizeof(CsvValue), compare_in_lane, &lane);
	*count = 0;
	for (int i = 0; i < nvalues; i++)
	{
		if (i > 0 && csv_value_compare(lane, &values[i - 1], &values[i]) == 0)
			continue;
		put_value(out, lane, &values[i]);
		(*count)++;
	}
	return true;
}

/* does it take the value of a subquery that has not run? */
static bool
awaits_subquery_walker(Node *node, void *context)
{
	ExprContext *econtext = context;

	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXEC &&
			econtext->ecxt_param_exec_vals[((Param *) node)->paramid].execPlan != NULL;
	return expression_tree_walker(node, awaits_subquery_walker, context);
}

static bool
constant_is_ready(const CsvProgram *program, List *constants, uint32_t i,
				  ExprContext *econtext)
{
	ExprState  *constant = list_nth(constants, (int) i);

	return program->constants[i].certain ||
		!awaits_subquery_walker((Node *) constant->expr, econtext);
}

bool
csv_program_is_ready(const CsvProgram *program, List *constants,
					 ExprContext *econtext)
{
	for (uint32_t i = 0; i < program->n.nconstants; i++)
		if (!constant_is_ready(program, constants, i, econtext))
			return false;
	return true;
}

CsvQuery *
csv_program_query(const CsvProgram *program, List *constants,
				  ExprContext *econtext, bool has_rows, CsvDecidable *decidable)
{
	const CsvProgramCounts *n = &program->n;
	CsvQuery   *query = palloc0(sizeof(CsvQuery));
	CsvInstruction *instructions = palloc(Max(n->ninstructions, 1) *
										  sizeof(CsvInstruction));
	CsvRegister *kinds = palloc0(Max(n->nconstants, 1) * sizeof(CsvRegister));
	uint32_t   *first = palloc0(Max(n->nconstants, 1) * sizeof(uint32_t));
	uint32_t   *counts = palloc0(Max(n->nconstants, 1) * sizeof(uint32_t));
	bool	   *has_null = palloc0(Max(n->nconstants, 1) * sizeof(bool));
	bool	   *empty = palloc0(Max(n->nconstants, 1) * sizeof(bool));
	bool	   *ready = palloc0(Max(n->nconstants, 1) * sizeof(bool));
	bool		all_ready = true;
	bool		all_fit = true;
	Constants	out;
	uint32_t	no;				/* the constant "false" */

	memset(&out, 0, sizeof(out));
	initStringInfo(&out.text);
	for (uint32_t i = 0; i < n->nconstants; i++)
	{
		const CsvProgramConstant *constant = &program->constants[i];
		CsvRegister *kind = &kinds[i];
		CsvValue	value;
		bool		isnull;
		Datum		datum;

		kind->type = constant->type;
		kind->typmod = -1;
		kind->lane = constant->lane;
		kind->scale = constant->scale;
		first[i] = out.n;
		counts[i] = 1;
		ready[i] = has_rows &&
			constant_is_ready(program, constants, i, econtext);
		if (!ready[i])
		{
			all_ready = false;
			new_constant(&out, constant->list ? CSV_LANE_INT :
						 constant->lane)->undecided = true;
			continue;
		}
		datum = ExecEvalExpr(list_nth(constants, (int) i), econtext, &isnull);
		if (isnull)
		{
			/* a list that is NULL makes NULL of everything */
			has_null[i] = true;
			if (constant->list)
				counts[i] = 0;
			else
				new_constant(&out, constant->lane)->isnull = true;
			continue;
		}
		if (constant->list)
		{
			all_fit &= put_list(&out, constant, datum, kind, &counts[i],
								&has_null[i], &empty[i]);
			continue;
		}
		if (constant->dynamic)
		{
			int			scale = common_scale(constant, &datum, &isnull, 1);

			if (scale >= 0)
				kind->scale = (int16) scale;
		}
		all_fit &= csv_value_of_datum(kind, datum, &value);
		put_value(&out, constant->lane, &value);
	}
	*decidable = !all_fit ? CSV_DECIDES_NOTHING :
		all_ready ? CSV_DECIDES_ALL : CSV_DECIDES_LATER;
	no = out.n;
	new_constant(&out, CSV_LANE_INT);

	memcpy(instructions, program->instructions,
		   n->ninstructions * sizeof(CsvInstruction));
	for (uint32_t i = 0; i < n->ninstructions; i++)
	{
		CsvInstruction *instruction = &instructions[i];
		uint32_t	number = instruction->operand;

		switch (instruction->operation)
		{
			case CSV_OP_CONSTANT:
			case CSV_OP_STARTS_WITH:
			case CSV_OP_ENDS_WITH:
			case CSV_OP_CONTAINS:
				instruction->operand = first[number];
				break;
			case CSV_OP_RESCALE:
				if (instruction->flags & CSV_FLAG_DYNAMIC)
				{
					instruction->flags = 0;
					instruction->operand = (uint32_t)
						(kinds[number].scale - program->constants[number].scale);
				}
				break;
			case CSV_OP_IN:
				instruction->operand = first[number];
				instruction->count = counts[number];
				if (has_null[number])
					instruction->flags |= CSV_FLAG_LIST_NULL;
				if (empty[number] || !ready[number])
				{
					/* no element: false, also for NULL; or undecided */
					instruction->operation = CSV_OP_CONSTANT;
					instruction->lane = CSV_LANE_INT;
					if (empty[number])
						instruction->operand = no;
				}
				break;
			default:
				break;
		}
	}

	query->nregisters = n->nregisters;
	query->ninstructions = n->ninstructions;
	query->nfilter_instructions = n->nfilter_instructions;
	query->nconstants = out.n;
	query->text_length = (uint32_t) out.text.len;
	query->instructions = instructions;
	query->constants = out.constants;
	query->text = (const uint8_t *) out.text.data;
	query->nfilters = n->nfilters;
	query->filters = program->filters;
	query->aggregates = n->aggregates;
	query->nkeys = n->nkeys;
	query->keys = program->keys;
	query->naggregates = n->naggregates;
	query->aggregate = program->aggregate;
	query->norder = n->norder;
	query->order = program->order;
	query->nchecked = n->nchecked;
	query->checked = program->checked;
	return query;
}

static int
digits_of(const CsvProgram *program, uint16_t number)
{
	for (uint32_t i = 0; i < program->n.nviews; i++)
		if (program->registers[i].number == number)
			return program->registers[i].digits;
	return 0;
}

bool
csv_program_leaves_lanes(const CsvProgram *program, const CsvQuery *query)
{
	for (uint32_t i = 0; i < query->ninstructions; i++)
	{
		const CsvInstruction *instruction = &query->instructions[i];

		if (instruction->operation == CSV_OP_COLUMN &&
			(instruction->flags & CSV_FLAG_SCALED) != 0)
			return true;
		if (instruction->lane != CSV_LANE_DECIMAL ||
			(instruction->operation != CSV_OP_ADD &&
			 instruction->operation != CSV_OP_SUBTRACT &&
			 instruction->operation != CSV_OP_MULTIPLY &&
			 instruction->operation != CSV_OP_RESCALE))
			continue;
		/* that of a constant which is known only now is not in the plan */
		if ((program->instructions[i].flags & CSV_FLAG_DYNAMIC) != 0 ?
			digits_of(program, instruction->a) + (int) instruction->operand >
			CSV_MAX_DECIMAL_DIGITS :
			digits_of(program, instruction->result) > CSV_MAX_DECIMAL_DIGITS)
			return true;
	}
	return false;
}

void
csv_program_lay_out(const CsvProgram *program, CsvQuery *query,
					const CsvColumn *columns, uint32_t ncolumns)
{
	CsvInstruction *instructions = (CsvInstruction *) query->instructions;

	for (uint32_t i = 0; i < query->ninstructions; i++)
	{
		if (instructions[i].operation != CSV_OP_COLUMN)
			continue;
		for (uint32_t k = 0; k < ncolumns; k++)
			if (columns[k].attnum == program->instructions[i].operand)
				instructions[i].operand = k;
	}
}
