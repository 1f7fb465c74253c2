/*
 * sound.c
 *		Checks what the library takes for granted: see sound.h.
 *
 * A register of a query has a type: a lane, or one of two more, as some operations
 * take only some values of a lane.  An INT may be a BOOL.  A DECIMAL constant beyond
 * 38 digits may only be compared: it is above, or below, all values.
 */
#include "sound.h"

#include <string.h>

#include "../query/operate.h"
#include "../query/plan.h"
#include "../reader/footer.h"

/* as in PostgreSQL's results */
#define MOST_COLUMNS		1664

/* of a value, in bytes or characters */
#define MOST_VALUE_BYTES	(1024 * 1024 * 1024)

/* of char(n) and varchar(n) */
#define MOST_TYPE_CHARS		(10 * 1024 * 1024)

/* of numeric(n) and timestamp(n) */
#define MOST_NUMERIC_DIGITS	1000
#define MOST_TIME_DIGITS	6

static bool
is_within(int64_t value, int64_t least, int64_t most)
{
	return value >= least && value <= most;
}

/* ---- dialects and layouts ---- */

/* may the byte be part of a delimiter? */
static bool
may_delimit(uint8_t byte)
{
	return byte != 0 && byte != '\n' && byte != '\r';
}

/* does the byte mean something by itself?  Blanks do not, if they are trimmed. */
static bool
is_special(const CsvDialectOptions *options, uint8_t byte)
{
	return may_delimit(byte) && byte < 0x80 && !(options->trim && csv_is_blank(byte));
}

/* as csv_dialect_compile() requires */
static bool
delimiter_is_sound(const CsvDialectOptions *options)
{
	const uint8_t escape = options->quoting == CSV_QUOTING_TEXT ? '\\' :
		options->escape;

	if (!may_delimit(options->delimiter) ||
		options->delimiter_rest_length > CSV_DELIMITER_REST_BYTES ||
		(options->delimiter == escape && options->delimiter_rest_length > 0))
		return false;
	for (int i = 0; i < options->delimiter_rest_length; i++)
	{
		uint8_t		byte = options->delimiter_rest[i];

		if (!may_delimit(byte) || byte == options->quote || byte == escape)
			return false;
	}
	return true;
}

/* does a comment begin with a byte that has no other meaning? */
static bool
comment_is_sound(const CsvDialectOptions *options)
{
	uint8_t		first = options->comment[0];

	if (options->comment_length == 0)
		return true;
	return options->comment_length <= CSV_COMMENT_BYTES && first != 0 &&
		first != '\r' && first != '\n' && first != options->delimiter &&
		first != options->quote && first != options->escape &&
		!(options->trim && csv_is_blank(first)) &&
		(first != '\\' || options->quoting != CSV_QUOTING_TEXT);
}

bool
csv_dialect_is_sound(const CsvDialectOptions *options)
{
	if (!delimiter_is_sound(options) || options->boundary > CSV_BOUNDARY_CR ||
		!comment_is_sound(options) || options->footer_rows > CSV_MAX_FOOTER_ROWS ||
		(options->lenient && options->quoting != CSV_QUOTING_RFC4180))
		return false;
	if (options->quoting == CSV_QUOTING_TEXT)
		return options->quote == 0 && options->delimiter != '\\' &&
			(options->escape == 0 || options->escape == '\\');
	return (options->quote == 0 ? options->escape == 0 :
			is_special(options, options->quote) &&
			(options->escape == 0 || is_special(options, options->escape))) &&
		options->quote != options->delimiter &&
		options->quoting <= CSV_QUOTING_POSTGRES;
}

static bool
is_precision(uint8_t kind, int16_t precision)
{
	switch (kind)
	{
		case CSV_KIND_NUMERIC:
			return precision == -1 ||
				is_within(precision, 1, MOST_NUMERIC_DIGITS);
		case CSV_KIND_SCALED:
			return precision == -1;
		case CSV_KIND_DECIMAL64:
			return is_within(precision, 1, CSV_MAX_SQUARED_DIGITS);
		case CSV_KIND_DECIMAL128:
			return is_within(precision, 1, CSV_MAX_DECIMAL_DIGITS);
		case CSV_KIND_TIMESTAMP:
		case CSV_KIND_TIMESTAMPTZ:
			return is_within(precision, -1, MOST_TIME_DIGITS);
		default:
			return precision == -1;
	}
}

/* does the pattern suit the kind, and does it end? */
static bool
pattern_is_sound(uint8_t kind, const uint8_t *pattern)
{
	int			n = 0;

	while (n < CSV_PATTERN_STEPS && pattern[n] != CSV_STEP_END)
	{
		if (pattern[n] >= CSV_NUM_PATTERN_STEPS &&
			(pattern[n] < ' ' || pattern[n] > '~'))
			return false;
		n++;
	}
	return n == 0 ||
		(n < CSV_PATTERN_STEPS &&
		 (kind == CSV_KIND_DATE || kind == CSV_KIND_TIMESTAMP ||
		  kind == CSV_KIND_TIMESTAMPTZ));
}

/* are the column's null_values whole values? */
static bool
nulls_are_sound(const CsvLayout *layout, const CsvColumn *column)
{
	uint32_t	i = column->nulls_from;

	if (column->nulls_to > layout->null_values_length)
		return false;
	while (i < column->nulls_to)
		i += 1 + (uint32_t) layout->null_values[i];
	return i == column->nulls_to;
}

static bool
column_is_sound(const CsvColumn *column)
{
	bool		is_text = column->kind == CSV_KIND_TEXT ||
		column->kind == CSV_KIND_CSTRING;
	int16_t		most_scale = csv_lane_of_kind(column->kind) !=
		CSV_LANE_DECIMAL || column->precision < 0 ? 0 : column->precision;

	return column->kind < CSV_NUM_KINDS &&
		is_within(column->max_chars, -1, MOST_VALUE_BYTES) &&
		is_within(column->byte_width, -1, MOST_VALUE_BYTES) &&
		is_within(column->type_chars, column->pad_blanks ? 1 : -1,
				  is_text ? MOST_TYPE_CHARS : -1) &&
		is_precision(column->kind, column->precision) &&
		is_within(column->scale, 0, most_scale) &&
		pattern_is_sound(column->kind, column->pattern);
}

/* the order of columns */
static bool
is_before(const CsvColumn *a, const CsvColumn *b)
{
	return a->field != b->field ? a->field < b->field : a->attnum < b->attnum;
}

bool
csv_layout_is_sound(const CsvLayout *layout)
{
	const CsvColumn *columns = layout->columns;

	if (layout->nfields < 1 || layout->nfields > CSV_MAX_FIELDS ||
		layout->ncolumns > MOST_COLUMNS ||
		layout->encoding > CSV_ENCODING_OTHER ||
		(layout->decimal_separator != '.' &&
		 layout->decimal_separator != ',') ||
		(!layout->has_default && layout->default_length > 0))
		return false;
	for (uint32_t i = 0; i < layout->ncolumns; i++)
		if (!column_is_sound(&columns[i]) || !nulls_are_sound(layout, &columns[i]) ||
			(columns[i].field >= layout->nfields &&
			 columns[i].field != CSV_ABSENT_FIELD) ||
			(i > 0 && !is_before(&columns[i - 1], &columns[i])))
			return false;
	return true;
}

/* ---- types of registers ---- */

/* bits; 0: the register is not written yet */
#define INT			(1 << CSV_LANE_INT)
#define DECIMAL		(1 << CSV_LANE_DECIMAL)
#define FLOAT		(1 << CSV_LANE_FLOAT)
#define TEXT		(1 << CSV_LANE_TEXT)
#define UUID		(1 << CSV_LANE_UUID)
#define BOOL		0x40
#define BEYOND		0x80

/* sets of types */
#define INTS		(INT | BOOL)
#define NUMBERS		(INTS | DECIMAL | FLOAT)
#define VALUES		(NUMBERS | TEXT | UUID)

typedef struct CheckedRegister
{
	uint8_t		type;
	uint8_t		lane;
	uint32_t	written;		/* number of its instruction, from 1; or 0 */
} CheckedRegister;

typedef struct Checking
{
	const CsvQuery *query;
	const CsvLayout *layout;
	CheckedRegister registers[CSV_MAX_REGISTERS];
	uint32_t	nlisted;		/* constants of all lists so far */
} Checking;

static bool
has_type(const Checking *checking, uint16_t number, uint8_t types)
{
	return number < checking->query->nregisters &&
		(checking->registers[number].type & types) != 0;
}

/* has_type(), and in a lane */
static bool
is_in_lane(const Checking *checking, uint16_t number, uint8_t types,
		   uint8_t lane)
{
	return has_type(checking, number, types) &&
		checking->registers[number].lane == lane;
}

static uint8_t
type_of_constant(const CsvConstant *constant)
{
	if (constant->lane == CSV_LANE_INT &&
		is_within(constant->value.integer, 0, 1))
		return BOOL;
	if (constant->lane == CSV_LANE_DECIMAL &&
		!csv_decimal_fits(constant->value.decimal))
		return BEYOND;
	return (uint8_t) (1 << constant->lane);
}

/* ---- instructions ---- */

/* operands of an operation (CHOOSE: without its condition), and its result */
static const struct
{
	uint8_t		types;
	bool		makes_bool;
	uint8_t		flags;			/* allowed flags */
}			operations[CSV_NUM_OPERATIONS] =
{
	[CSV_OP_COLUMN] = {0, false, CSV_FLAG_TRIM | CSV_FLAG_SCALED | CSV_FLAG_SHOWN},
	/* may have been an IN */
	[CSV_OP_CONSTANT] = {0, false, CSV_FLAG_LIST_NULL},
	[CSV_OP_ADD ... CSV_OP_NEGATE] = {NUMBERS, false, 0},
	[CSV_OP_RESCALE] = {DECIMAL, false, 0},
	[CSV_OP_INT_TO_DECIMAL ... CSV_OP_DATE_TO_TIMESTAMP] = {INTS, false, 0},
	[CSV_OP_EQUAL ... CSV_OP_GREATER_EQUAL] = {VALUES | BEYOND, true, 0},
	[CSV_OP_IN] = {VALUES, true, CSV_FLAG_LIST_NULL},
	[CSV_OP_STARTS_WITH ... CSV_OP_LIKE] = {TEXT, true, 0},
	[CSV_OP_IS_NULL ... CSV_OP_IS_NOT_NULL] = {VALUES, true, 0},
	[CSV_OP_IS_TRUE ... CSV_OP_OR] = {BOOL, true, 0},
	[CSV_OP_CHOOSE] = {VALUES, false, 0}
};

static bool
operands_are_sound(const Checking *checking, const CsvInstruction *instruction)
{
	const uint16_t numbers[] = {instruction->a, instruction->b, instruction->c};
	uint32_t	i = 0;

	if (instruction->operation == CSV_OP_CHOOSE &&
		!has_type(checking, numbers[i++], BOOL))
		return false;
	for (; i < csv_operand_count(instruction->operation); i++)
		if (!is_in_lane(checking, numbers[i],
						operations[instruction->operation].types,
						instruction->lane))
			return false;
	return true;
}

/* the value of a constant that is not NULL */
static CsvValue
value_of(const CsvQuery *query, const CsvConstant *constant)
{
	CsvValue	value;

	memset(&value, 0, sizeof(value));
	value.length = constant->length;
	value.bytes = query->text + constant->offset;
	memcpy(&value.value, &constant->value, sizeof(value.value));
	return value;
}

/*
 * Lists share no constants, so checking all lists takes no longer than reading the
 * constants once.
 */
static bool
list_is_sound(Checking *checking, const CsvInstruction *instruction)
{
	const CsvQuery *query = checking->query;
	const CsvConstant *list;

	if (instruction->operand > query->nconstants ||
		instruction->count > query->nconstants - instruction->operand ||
		instruction->count > query->nconstants - checking->nlisted)
		return false;
	checking->nlisted += instruction->count;
	list = query->constants + instruction->operand;
	for (uint32_t i = 0; i < instruction->count; i++)
	{
		CsvValue	value = value_of(query, &list[i]);
		CsvValue	before = i == 0 ? value : value_of(query, &list[i - 1]);

		if (list[i].lane != instruction->lane || list[i].isnull ||
			list[i].undecided ||
			(i > 0 && csv_value_compare(list[i].lane, &before, &value) >= 0))
			return false;
	}
	return true;
}

/* check `operand` and `count`; RESCALE allows any */
static bool
detail_is_sound(Checking *checking, const CsvInstruction *instruction)
{
	const CsvQuery *query = checking->query;
	uint32_t	number = instruction->operand;
	uint8_t		kind;

	switch (instruction->operation)
	{
		case CSV_OP_COLUMN:
			if (number >= checking->layout->ncolumns)
				return false;
			kind = checking->layout->columns[number].kind;
			return ((instruction->flags & CSV_FLAG_TRIM) == 0 ||
					csv_lane_of_kind(kind) == CSV_LANE_TEXT) &&
				((instruction->flags & (CSV_FLAG_SCALED | CSV_FLAG_SHOWN)) == 0 ||
				 ((kind == CSV_KIND_NUMERIC || kind == CSV_KIND_SCALED) &&
				  instruction->count <= CSV_MAX_DECIMAL_DIGITS));
		case CSV_OP_CONSTANT:
			return number < query->nconstants;
		case CSV_OP_IN:
			return list_is_sound(checking, instruction);
		case CSV_OP_STARTS_WITH:
		case CSV_OP_ENDS_WITH:
		case CSV_OP_CONTAINS:
		case CSV_OP_LIKE:
			return number < query->nconstants &&
				query->constants[number].lane == CSV_LANE_TEXT;
		default:
			return true;
	}
}

static uint8_t
type_of_result(const Checking *checking, const CsvInstruction *instruction,
			   uint8_t lane)
{
	const CheckedRegister *registers = checking->registers;
	const CsvColumn *columns = checking->layout->columns;
	bool		is_bool = operations[instruction->operation].makes_bool;

	if (instruction->operation == CSV_OP_CONSTANT)
		return type_of_constant(&checking->query->constants[instruction->operand]);
	if (instruction->operation == CSV_OP_COLUMN)
		is_bool = columns[instruction->operand].kind == CSV_KIND_BOOL;
	if (instruction->operation == CSV_OP_CHOOSE)
		is_bool = registers[instruction->b].type == BOOL &&
			registers[instruction->c].type == BOOL;
	return is_bool ? BOOL : (uint8_t) (1 << lane);
}

/* instruction number `at`; sets the type of its result */
static bool
instruction_is_sound(Checking *checking, uint32_t at)
{
	const CsvQuery *query = checking->query;
	const CsvInstruction *instruction = &query->instructions[at];
	uint8_t		operation = instruction->operation;
	CheckedRegister *registers = checking->registers;
	CheckedRegister *result;

	if (operation >= CSV_NUM_OPERATIONS ||
		(instruction->flags & ~operations[operation].flags) != 0 ||
		(instruction->bits != 0 && instruction->bits != 16 &&
		 instruction->bits != 32 && instruction->bits != 64) ||
		instruction->result >= query->nregisters ||
		instruction->a >= query->nregisters ||
		instruction->b >= query->nregisters ||
		instruction->c >= query->nregisters ||
		!operands_are_sound(checking, instruction) ||
		!detail_is_sound(checking, instruction))
		return false;
	result = &registers[instruction->result];
	if (result->type != 0)
		return false;
	result->lane = csv_lane_of_result(query, checking->layout, instruction,
									  registers[instruction->a].lane,
									  registers[instruction->b].lane);
	result->type = type_of_result(checking, instruction, result->lane);
	result->written = at + 1;

	/* the lane of an instruction is its operands' lane, if it has operands */
	return csv_operand_count(operation) > 0 ||
		instruction->lane == result->lane;
}

/* ---- queries ---- */

/* each count has a limit of its own */
static bool
counts_are_sound(const CsvQuery *query)
{
	return query->nregisters <= CSV_MAX_REGISTERS &&
		query->ninstructions <= query->nregisters &&
		query->nfilter_instructions <= query->ninstructions &&
		query->nfilters <= CSV_MAX_REGISTERS &&
		query->nkeys <= CSV_MAX_KEYS &&
		query->naggregates <= CSV_MAX_AGGREGATES &&
		query->norder <= CSV_MAX_KEYS &&
		query->nchecked <= CSV_MAX_REGISTERS &&
		query->limit <= CSV_MOST_ORDERED &&
		(query->limit == 0 || query->norder > 0) &&
		(query->aggregates ?
		 query->limit == 0 && query->norder == 0 && query->nchecked == 0 :
		 query->nkeys == 0 && query->naggregates == 0);
}

/*
 * Texts share no bytes, so reading all of them takes no longer than sending them.
 */
static bool
constants_are_sound(const CsvQuery *query)
{
	uint64_t	nbytes = 0;

	for (uint32_t i = 0; i < query->nconstants; i++)
	{
		const CsvConstant *constant = &query->constants[i];

		nbytes += constant->length;
		if (constant->lane > CSV_LANE_UUID ||
			constant->offset > query->text_length ||
			constant->length > query->text_length - constant->offset ||
			nbytes > query->text_length)
			return false;
	}
	return true;
}

static bool
aggregate_is_sound(const Checking *checking, const CsvAggregate *aggregate)
{
	static const uint8_t types[CSV_NUM_AGGREGATE_KINDS] = {
		[CSV_AGGREGATE_COUNT ... CSV_AGGREGATE_COUNT_DISTINCT] = VALUES,
		[CSV_AGGREGATE_SUM ... CSV_AGGREGATE_SUM_SQUARES] = NUMBERS,
		[CSV_AGGREGATE_MIN ... CSV_AGGREGATE_MAX] = VALUES
	};

	if (aggregate->kind >= CSV_NUM_AGGREGATE_KINDS ||
		aggregate->lane > CSV_LANE_UUID ||
		(aggregate->filter != CSV_NO_REGISTER &&
		 !has_type(checking, aggregate->filter, BOOL)))
		return false;
	return aggregate->kind == CSV_AGGREGATE_COUNT_ROWS ?
		aggregate->argument == CSV_NO_REGISTER :
		is_in_lane(checking, aggregate->argument, types[aggregate->kind],
				   aggregate->lane);
}

/* filters, keys, aggregates, order and checked registers */
static bool
uses_are_sound(const Checking *checking)
{
	const CsvQuery *query = checking->query;

	for (uint32_t i = 0; i < query->nfilters; i++)
		if (!has_type(checking, query->filters[i], BOOL) ||
			checking->registers[query->filters[i]].written >
			query->nfilter_instructions)
			return false;
	for (uint32_t i = 0; i < query->nkeys; i++)
		if (!is_in_lane(checking, query->keys[i].value, VALUES,
						query->keys[i].lane))
			return false;
	for (uint32_t i = 0; i < query->naggregates; i++)
		if (!aggregate_is_sound(checking, &query->aggregate[i]))
			return false;
	for (uint32_t i = 0; i < query->norder; i++)
		if (!is_in_lane(checking, query->order[i].value, VALUES,
						query->order[i].lane))
			return false;
	for (uint32_t i = 0; i < query->nchecked; i++)
		if (!has_type(checking, query->checked[i], VALUES))
			return false;
	return true;
}

bool
csv_query_is_sound(const CsvQuery *query, const CsvLayout *layout)
{
	Checking	checking;

	if (!counts_are_sound(query) || !constants_are_sound(query))
		return false;
	memset(&checking, 0, sizeof(checking));
	checking.query = query;
	checking.layout = layout;
	for (uint32_t i = 0; i < query->ninstructions; i++)
		if (!instruction_is_sound(&checking, i))
			return false;
	return uses_are_sound(&checking);
}
