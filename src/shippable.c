/*
 * shippable.c
 *		From PostgreSQL's expressions to an engine's instructions.
 *
 * An expression is had whole or not at all.  It may use columns of the table
 * whose kind the engines convert; constants; and operators and functions that
 * are PostgreSQL's own and whose meaning operate.h has, down to overflow (where
 * it leaves the row to the executor).  What depends on a collation is had where
 * that is deterministic (equality) or C (order).
 *
 * Numerics are scaled integers of a scale that is fixed when a query is
 * planned, so that results look as PostgreSQL's do.  A numeric of a scale that
 * is known only later, a parameter's, can be compared with, and nothing else.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "shippable.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

/* of a RESCALE in a plan: operand is the constant whose scale decides */
#define FLAG_DYNAMIC	0x80

/* a constant of a plan; its expression is in the list of that number */
typedef struct ProgramConstant
{
	Oid			type;
	int32		typmod;
	uint8_t		lane;
	bool		dynamic;		/* scale is the least it may get */
	bool		list;			/* an array; the constants are its elements */
	int16		scale;
} ProgramConstant;

/* what can be stored in a plan as it is */
typedef struct ProgramCounts
{
	uint32_t	nviews;			/* registers, some of them under two types */
	uint32_t	nregisters;
	uint32_t	ninstructions;
	uint32_t	nfilter_instructions;
	uint32_t	nconstants;
	uint32_t	nfilters;
	uint32_t	nkeys;
	uint32_t	naggregates;
	bool		aggregates;
} ProgramCounts;

struct CsvProgram
{
	const CsvTable *table;
	Index		relid;
	ProgramCounts n;
	CsvInstruction *instructions;
	uint32_t	capacity;
	ProgramConstant constants[CSV_MAX_REGISTERS];
	CsvRegister registers[CSV_MAX_REGISTERS];
	uint16_t	filters[CSV_MAX_REGISTERS];
	CsvKey		keys[CSV_MAX_KEYS];
	CsvAggregate aggregate[CSV_MAX_AGGREGATES];

	List	   *constant_exprs;

	/* expressions that are in a register already */
	List	   *known;
	List	   *known_registers;	/* integers */
	int			case_register;	/* what CaseTestExpr stands for, or -1 */
};

static int	translate(CsvProgram *program, Node *node);

CsvProgram *
csv_program_create(const CsvTable *table, Index relid)
{
	CsvProgram *program = palloc0(sizeof(CsvProgram));

	program->table = table;
	program->relid = relid;
	program->case_register = -1;
	return program;
}

/* ---- types ---- */

/* false: no lane holds values of the type */
static bool
lane_of_type(Oid type, uint8_t *lane)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			*lane = CSV_LANE_INT;
			return true;
		case FLOAT4OID:
		case FLOAT8OID:
			*lane = CSV_LANE_FLOAT;
			return true;
		case NUMERICOID:
			*lane = CSV_LANE_DECIMAL;
			return true;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			*lane = CSV_LANE_TEXT;
			return true;
		case UUIDOID:
			*lane = CSV_LANE_UUID;
			return true;
		default:
			return false;
	}
}

static bool
is_integer_type(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool
is_float_type(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID;
}

/* may two values of these types be compared lane by lane? */
static bool
types_compare(Oid left, Oid right)
{
	return left == right ||
		(is_integer_type(left) && is_integer_type(right)) ||
		(is_float_type(left) && is_float_type(right)) ||
		(left != BPCHAROID && right != BPCHAROID &&
		 (left == TEXTOID || left == VARCHAROID) &&
		 (right == TEXTOID || right == VARCHAROID));
}

bool
csv_columns_shippable(const CsvTable *table, const Bitmapset *wanted)
{
	int			attnum = -1;

	while ((attnum = bms_next_member(wanted, attnum)) >= 0)
	{
		const CsvTableColumn *column = &table->columns[attnum - 1];
		CsvColumn	spec;

		if (column->dropped || column->generated)
			continue;
		if (column->virtual_kind == CSV_VIRTUAL_NONE &&
			csv_table_kind(column, &spec) == CSV_KIND_CSTRING)
			return false;
	}
	return true;
}

/* ---- registers and instructions ---- */

static int
new_register(CsvProgram *program, Oid type, int32 typmod, uint8_t lane,
			 int16 scale)
{
	CsvRegister *reg;

	if (program->n.nviews >= CSV_MAX_REGISTERS)
		return -1;
	reg = &program->registers[program->n.nviews];
	reg->number = (uint16_t) program->n.nregisters++;
	reg->type = type;
	reg->typmod = typmod;
	reg->lane = lane;
	reg->scale = scale;
	return (int) program->n.nviews++;
}

/* the same values under another type */
static int
seen_as(CsvProgram *program, int a, Oid type)
{
	CsvRegister *reg;

	if (program->n.nviews >= CSV_MAX_REGISTERS)
		return -1;
	reg = &program->registers[program->n.nviews];
	*reg = program->registers[a];
	reg->type = type;
	reg->typmod = -1;
	return (int) program->n.nviews++;
}

/* operands of -1 are none */
static CsvInstruction *
emit(CsvProgram *program, CsvOperation operation, int result, int a, int b)
{
	CsvInstruction *instruction;

	if (program->n.ninstructions == program->capacity)
	{
		uint32_t	capacity = Max(16, 2 * program->capacity);

		program->instructions = program->instructions == NULL ?
			palloc(capacity * sizeof(CsvInstruction)) :
			repalloc(program->instructions, capacity * sizeof(CsvInstruction));
		program->capacity = capacity;
	}
	instruction = &program->instructions[program->n.ninstructions++];
	memset(instruction, 0, sizeof(*instruction));
	instruction->operation = (uint8_t) operation;
	instruction->result = program->registers[result].number;
	instruction->a = a < 0 ? 0 : program->registers[a].number;
	instruction->b = b < 0 ? 0 : program->registers[b].number;
	instruction->lane = a >= 0 ? program->registers[a].lane :
		program->registers[result].lane;
	return instruction;
}

/* a BOOL of one or two operands; -1 passes through */
static int
emit_bool(CsvProgram *program, CsvOperation operation, int a, int b,
		  bool has_b)
{
	int			result;

	if (a < 0 || (has_b && b < 0))
		return -1;
	result = new_register(program, BOOLOID, -1, CSV_LANE_INT, 0);
	if (result >= 0)
		emit(program, operation, result, a, has_b ? b : -1);
	return result;
}

static int
emit_column(CsvProgram *program, const Var *var, bool trim)
{
	const CsvTableColumn *column;
	CsvColumn	spec;
	CsvInstruction *instruction;
	uint8_t		lane;
	int			result;

	if (var->varattno <= 0)
		return -1;
	column = &program->table->columns[var->varattno - 1];
	if (column->dropped || column->generated ||
		column->virtual_kind != CSV_VIRTUAL_NONE ||
		!lane_of_type(column->type, &lane) ||
		csv_table_kind(column, &spec) == CSV_KIND_CSTRING)
		return -1;
	if (lane == CSV_LANE_DECIMAL &&
		(spec.precision < 0 || spec.precision > CSV_MAX_DECIMAL_DIGITS))
		return -1;
	if (column->type == BPCHAROID && spec.type_chars < 0)
		return -1;
	result = new_register(program, column->type, column->typmod, lane,
						  lane == CSV_LANE_DECIMAL ? spec.scale : 0);
	if (result < 0)
		return -1;
	instruction = emit(program, CSV_OP_COLUMN, result, -1, -1);
	instruction->operand = (uint32_t) var->varattno;
	if (trim && column->type == BPCHAROID)
		instruction->flags = CSV_FLAG_TRIM;
	return result;
}

/* ---- constants ---- */

static bool
holds_row_walker(Node *node, void *context)
{
	Index		relid = *(Index *) context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varno == relid || ((Var *) node)->varlevelsup > 0;
	if (IsA(node, PlaceHolderVar) || IsA(node, CaseTestExpr) ||
		IsA(node, Aggref) || IsA(node, WindowFunc) ||
		IsA(node, GroupingFunc) || IsA(node, SubPlan) ||
		IsA(node, AlternativeSubPlan) || IsA(node, SetToDefault))
		return true;
	return expression_tree_walker(node, holds_row_walker, context);
}

/* has it one value for all rows of the table? */
static bool
is_constant(const CsvProgram *program, Node *node)
{
	Index		relid = program->relid;

	return IsA(node, Const) || IsA(node, Param) ||
		(!holds_row_walker(node, &relid) && !contain_volatile_functions(node) &&
		 !expression_returns_set(node));
}

static int
add_constant(CsvProgram *program, Node *node, Oid type, uint8_t lane,
			 int scale, bool dynamic, bool list)
{
	ProgramConstant *constant;

	if (program->n.nconstants >= CSV_MAX_REGISTERS)
		return -1;
	constant = &program->constants[program->n.nconstants];
	memset(constant, 0, sizeof(*constant));
	constant->type = type;
	constant->typmod = -1;
	constant->lane = lane;
	constant->scale = (int16) scale;
	constant->dynamic = dynamic;
	constant->list = list;
	program->constant_exprs = lappend(program->constant_exprs, node);
	return (int) program->n.nconstants++;
}

static int
emit_constant(CsvProgram *program, Node *node, Oid type, uint8_t lane,
			  int scale, bool dynamic)
{
	int			number = add_constant(program, node, type, lane, scale, dynamic,
									  false);
	int			result;

	if (number < 0)
		return -1;
	result = new_register(program, type, -1, lane, (int16) scale);
	if (result >= 0)
		emit(program, CSV_OP_CONSTANT, result, -1, -1)->operand =
			(uint32_t) number;
	return result;
}

/* a numeric literal's scale; -1 if it has none */
static int
literal_scale(Node *node)
{
	Const	   *literal = (Const *) node;

	if (!IsA(node, Const))
		return -1;
	if (literal->constisnull)
		return 0;
	if (numeric_is_nan(DatumGetNumeric(literal->constvalue)) ||
		numeric_is_inf(DatumGetNumeric(literal->constvalue)))
		return -1;
	return DatumGetInt32(DirectFunctionCall1(numeric_scale,
											 literal->constvalue));
}

/* a constant whose scale, if it is numeric, is known now */
static int
translate_constant(CsvProgram *program, Node *node)
{
	Oid			type = exprType(node);
	uint8_t		lane;
	int			scale = 0;

	if (!lane_of_type(type, &lane))
		return -1;
	if (lane == CSV_LANE_DECIMAL &&
		((scale = literal_scale(node)) < 0 || scale > CSV_MAX_DECIMAL_DIGITS))
		return -1;
	return emit_constant(program, node, type, lane, scale, false);
}

/* ---- arithmetic ---- */

static int
rescale(CsvProgram *program, int a, int scale)
{
	const CsvRegister *from = &program->registers[a];
	int			result;

	if (from->scale == scale)
		return a;
	result = new_register(program, NUMERICOID, -1, CSV_LANE_DECIMAL,
						  (int16) scale);
	if (result >= 0)
		emit(program, CSV_OP_RESCALE, result, a, -1)->operand =
			(uint32_t) (scale - from->scale);
	return result;
}

/*
 * + - * of PostgreSQL's own, between integers, numerics or float8.  (float4 has
 * a narrower arithmetic.)
 */
static int
translate_arithmetic(CsvProgram *program, OpExpr *op, const char *name)
{
	Oid			type = op->opresulttype;
	CsvOperation operation;
	CsvInstruction *instruction;
	uint8_t		lane;
	int			a;
	int			b = -1;
	int			scale = 0;
	int			result;

	if (strlen(name) != 1 || strchr("+-*", name[0]) == NULL)
		return -1;
	if (!is_integer_type(type) && type != NUMERICOID && type != FLOAT8OID)
		return -1;
	lane_of_type(type, &lane);
	for (int i = 0; i < list_length(op->args); i++)
	{
		Oid			argument = exprType(list_nth(op->args, i));

		if (is_integer_type(type) ? !is_integer_type(argument) :
			type == FLOAT8OID ? !is_float_type(argument) :
			argument != NUMERICOID)
			return -1;
	}

	a = translate(program, linitial(op->args));
	if (a < 0)
		return -1;
	scale = program->registers[a].scale;
	if (list_length(op->args) == 2)
	{
		b = translate(program, lsecond(op->args));
		if (b < 0)
			return -1;
		if (name[0] == '*')
			scale += program->registers[b].scale;
		else if (lane == CSV_LANE_DECIMAL)
		{
			scale = Max(scale, program->registers[b].scale);
			a = rescale(program, a, scale);
			b = rescale(program, b, scale);
			if (a < 0 || b < 0)
				return -1;
		}
		operation = name[0] == '+' ? CSV_OP_ADD :
			name[0] == '-' ? CSV_OP_SUBTRACT : CSV_OP_MULTIPLY;
	}
	else if (name[0] == '-')
		operation = CSV_OP_NEGATE;
	else if (name[0] == '+')
		return a;
	else
		return -1;
	if (scale > CSV_MAX_DECIMAL_DIGITS)
		return -1;
	result = new_register(program, type, -1, lane, (int16) scale);
	if (result < 0)
		return -1;
	instruction = emit(program, operation, result, a, b);
	instruction->lane = lane;
	instruction->bits = type == INT2OID ? 16 : type == INT4OID ? 32 : 64;
	return result;
}

/* ---- comparison ---- */

/* an operator's meaning in PostgreSQL's own btree families, if it has one */
static bool
comparison_of(Oid opno, CsvOperation *operation)
{
	if (opno >= FirstNormalObjectId)
		return false;
	switch (csv_btree_strategy(opno))
	{
		case BTLessStrategyNumber:
			*operation = CSV_OP_LESS;
			return true;
		case BTLessEqualStrategyNumber:
			*operation = CSV_OP_LESS_EQUAL;
			return true;
		case BTEqualStrategyNumber:
			*operation = CSV_OP_EQUAL;
			return true;
		case BTGreaterEqualStrategyNumber:
			*operation = CSV_OP_GREATER_EQUAL;
			return true;
		case BTGreaterStrategyNumber:
			*operation = CSV_OP_GREATER;
			return true;
		case CSV_STRATEGY_NOT_EQUAL:
			*operation = CSV_OP_NOT_EQUAL;
			return true;
		default:
			return false;
	}
}

static bool
collation_allows(Oid collation, bool equality)
{
	if (!OidIsValid(collation))
		return false;
	return equality ? get_collation_isdeterministic(collation) :
		csv_collation_is_c(collation);
}

/*
 * One side of a comparison whose other side is a constant of that type: both
 * registers.  A numeric constant is brought to a common scale when the query
 * is run.
 */
static bool
compare_with_constant(CsvProgram *program, Node *node, Node *constant,
					  int *value, int *other)
{
	uint8_t		lane;

	*value = translate(program, node);
	if (*value < 0 || !lane_of_type(exprType(constant), &lane))
		return false;
	if (lane == CSV_LANE_DECIMAL)
	{
		int			scale = program->registers[*value].scale;
		int			a = *value;
		CsvInstruction *instruction;

		*other = emit_constant(program, constant, NUMERICOID, lane, scale,
							   true);
		*value = new_register(program, NUMERICOID, -1, lane, (int16) scale);
		if (*other < 0 || *value < 0)
			return false;
		instruction = emit(program, CSV_OP_RESCALE, *value, a, -1);
		instruction->flags = FLAG_DYNAMIC;
		instruction->operand = program->n.nconstants - 1;
		return true;
	}
	*other = translate(program, constant);
	return *other >= 0;
}

static int
to_timestamp_lane(CsvProgram *program, int a)
{
	int			result = new_register(program, TIMESTAMPOID, -1, CSV_LANE_INT,
									  0);

	if (result >= 0)
		emit(program, CSV_OP_DATE_TO_TIMESTAMP, result, a, -1);
	return result;
}

static int
translate_comparison(CsvProgram *program, CsvOperation operation, Node *left,
					 Node *right, Oid collation)
{
	Oid			left_type = exprType(left);
	Oid			right_type = exprType(right);
	bool		equality = operation == CSV_OP_EQUAL ||
		operation == CSV_OP_NOT_EQUAL;
	bool		dates = (left_type == DATEOID && right_type == TIMESTAMPOID) ||
		(left_type == TIMESTAMPOID && right_type == DATEOID);
	uint8_t		lane;
	int			a;
	int			b;

	if (!(types_compare(left_type, right_type) || dates) ||
		!lane_of_type(left_type, &lane) ||
		(lane == CSV_LANE_TEXT && !collation_allows(collation, equality)))
		return -1;
	if (is_constant(program, right))
	{
		if (!compare_with_constant(program, left, right, &a, &b))
			return -1;
	}
	else if (is_constant(program, left))
	{
		if (!compare_with_constant(program, right, left, &b, &a))
			return -1;
	}
	else
	{
		a = translate(program, left);
		b = a < 0 ? -1 : translate(program, right);
		if (b < 0)
			return -1;
		if (lane == CSV_LANE_DECIMAL)
		{
			int			scale = Max(program->registers[a].scale,
									program->registers[b].scale);

			a = rescale(program, a, scale);
			b = a < 0 ? -1 : rescale(program, b, scale);
		}
	}
	if (dates)
	{
		if (left_type == DATEOID)
			a = to_timestamp_lane(program, a);
		else
			b = to_timestamp_lane(program, b);
	}
	return emit_bool(program, operation, a, b, true);
}

/* x = ANY (array), x <> ALL (array) */
static int
translate_list(CsvProgram *program, ScalarArrayOpExpr *expr)
{
	Node	   *scalar = linitial(expr->args);
	Node	   *array = lsecond(expr->args);
	Oid			type = exprType(scalar);
	Oid			element = get_element_type(exprType(array));
	CsvOperation operation;
	CsvInstruction *instruction;
	uint8_t		lane;
	int			value;
	int			number;
	int			scale;
	int			result;

	if (!comparison_of(expr->opno, &operation) ||
		operation != (expr->useOr ? CSV_OP_EQUAL : CSV_OP_NOT_EQUAL) ||
		!types_compare(type, element) || !lane_of_type(type, &lane) ||
		(lane == CSV_LANE_TEXT && !collation_allows(expr->inputcollid, true)) ||
		!is_constant(program, array))
		return -1;
	value = translate(program, scalar);
	if (value < 0)
		return -1;
	scale = program->registers[value].scale;
	number = add_constant(program, array, element, lane, scale,
						  lane == CSV_LANE_DECIMAL, true);
	if (number < 0)
		return -1;
	if (lane == CSV_LANE_DECIMAL)
	{
		int			a = value;

		value = new_register(program, NUMERICOID, -1, lane, (int16) scale);
		if (value < 0)
			return -1;
		instruction = emit(program, CSV_OP_RESCALE, value, a, -1);
		instruction->flags = FLAG_DYNAMIC;
		instruction->operand = (uint32_t) number;
	}
	result = emit_bool(program, CSV_OP_IN, value, -1, false);
	if (result < 0)
		return -1;
	program->instructions[program->n.ninstructions - 1].operand =
		(uint32_t) number;
	return expr->useOr ? result :
		emit_bool(program, CSV_OP_NOT, result, -1, false);
}

/*
 * LIKE with a literal pattern of one piece of text: abc, abc%, %abc, %abc%.
 * Bytes are compared, so a character must not begin inside another one.
 */
static int
translate_like(CsvProgram *program, OpExpr *op, bool negated)
{
	Node	   *value = linitial(op->args);
	Const	   *pattern = lsecond(op->args);
	CsvOperation operation;
	char	   *text;
	size_t		length;
	bool		any_before;
	bool		any_after;
	int			a;
	int			b;
	int			result;

	if (!IsA(pattern, Const) || pattern->constisnull ||
		pattern->consttype != TEXTOID ||
		!collation_allows(op->inputcollid, true) ||
		(GetDatabaseEncoding() != PG_UTF8 &&
		 pg_database_encoding_max_length() > 1))
		return -1;
	text = TextDatumGetCString(pattern->constvalue);
	length = strlen(text);
	any_before = length > 0 && text[0] == '%';
	if (any_before)
	{
		text++;
		length--;
	}
	any_after = length > 0 && text[length - 1] == '%';
	if (any_after)
		text[--length] = '\0';
	if (strpbrk(text, "%_\\") != NULL)
		return -1;
	operation = any_before ? (any_after ? CSV_OP_CONTAINS : CSV_OP_ENDS_WITH) :
		any_after ? CSV_OP_STARTS_WITH : CSV_OP_EQUAL;

	/* blanks at the end of a char(n) are there for LIKE */
	if (exprType(value) == BPCHAROID)
		a = IsA(value, Var) &&
			((Var *) value)->varno == program->relid &&
			((Var *) value)->varlevelsup == 0 ?
			emit_column(program, (Var *) value, false) : -1;
	else
		a = translate(program, value);
	if (a < 0 || program->registers[a].lane != CSV_LANE_TEXT)
		return -1;
	b = emit_constant(program,
					  (Node *) makeConst(TEXTOID, -1, op->inputcollid, -1,
										 CStringGetTextDatum(text), false,
										 false),
					  TEXTOID, CSV_LANE_TEXT, 0, false);
	if (b < 0)
		return -1;
	result = emit_bool(program, operation, a, b, true);
	if (result < 0)
		return -1;
	program->instructions[program->n.ninstructions - 1].operand =
		program->n.nconstants - 1;
	return negated ? emit_bool(program, CSV_OP_NOT, result, -1, false) : result;
}

static int
translate_operator(CsvProgram *program, OpExpr *op)
{
	CsvOperation operation;
	char	   *name;

	if (op->opno >= FirstNormalObjectId || op->opretset)
		return -1;
	if (list_length(op->args) == 2 && comparison_of(op->opno, &operation))
		return translate_comparison(program, operation, linitial(op->args),
									lsecond(op->args), op->inputcollid);
	set_opfuncid(op);
	switch (op->opfuncid)
	{
		case F_TEXTLIKE:
		case F_BPCHARLIKE:
			return translate_like(program, op, false);
		case F_TEXTNLIKE:
		case F_BPCHARNLIKE:
			return translate_like(program, op, true);
		default:
			break;
	}
	name = get_opname(op->opno);
	return name == NULL ? -1 : translate_arithmetic(program, op, name);
}

/* ---- functions: casts ---- */

static int
translate_cast(CsvProgram *program, FuncExpr *function)
{
	CsvOperation operation;
	uint8_t		lane;
	int			a;
	int			result;

	if (list_length(function->args) < 1)
		return -1;
	switch (function->funcid)
	{
		case F_INT4_INT2:
		case F_INT8_INT2:
		case F_INT8_INT4:
		case F_FLOAT8_FLOAT4:
		case F_TEXT_BPCHAR:
			/* the lane is the same */
			operation = CSV_NUM_OPERATIONS;
			break;
		case F_NUMERIC_INT2:
		case F_NUMERIC_INT4:
		case F_NUMERIC_INT8:
			operation = CSV_OP_INT_TO_DECIMAL;
			break;
		case F_FLOAT8_INT2:
		case F_FLOAT8_INT4:
		case F_FLOAT8_INT8:
			operation = CSV_OP_INT_TO_FLOAT;
			break;
		case F_TIMESTAMP_DATE:
			operation = CSV_OP_DATE_TO_TIMESTAMP;
			break;
		default:
			return -1;
	}
	a = translate(program, linitial(function->args));
	if (a < 0)
		return -1;
	lane_of_type(function->funcresulttype, &lane);
	if (operation == CSV_NUM_OPERATIONS)
		return seen_as(program, a, function->funcresulttype);
	result = new_register(program, function->funcresulttype, -1, lane, 0);
	if (result >= 0)
		emit(program, operation, result, a, -1);
	return result;
}

/* ---- the rest of the grammar ---- */

static int
translate_bool(CsvProgram *program, BoolExpr *expr)
{
	int			result = -1;
	ListCell   *cell;

	foreach(cell, expr->args)
	{
		int			argument = translate(program, lfirst(cell));

		if (argument < 0 || program->registers[argument].type != BOOLOID)
			return -1;
		if (expr->boolop == NOT_EXPR)
			return emit_bool(program, CSV_OP_NOT, argument, -1, false);
		if (result < 0)
			result = argument;
		else
			result = emit_bool(program, expr->boolop == AND_EXPR ?
							   CSV_OP_AND : CSV_OP_OR, result, argument, true);
		if (result < 0)
			return -1;
	}
	return result;
}

static int
translate_boolean_test(CsvProgram *program, BooleanTest *test)
{
	int			a = translate(program, (Node *) test->arg);
	bool		negated = test->booltesttype == IS_NOT_TRUE ||
		test->booltesttype == IS_NOT_FALSE;
	CsvOperation operation;
	int			result;

	switch (test->booltesttype)
	{
		case IS_TRUE:
		case IS_NOT_TRUE:
			operation = CSV_OP_IS_TRUE;
			break;
		case IS_FALSE:
		case IS_NOT_FALSE:
			operation = CSV_OP_IS_FALSE;
			break;
		case IS_UNKNOWN:
			operation = CSV_OP_IS_NULL;
			break;
		default:
			operation = CSV_OP_IS_NOT_NULL;
			break;
	}
	result = emit_bool(program, operation, a, -1, false);
	return negated ? emit_bool(program, CSV_OP_NOT, result, -1, false) : result;
}

/* where condition is true one, else other; they must look alike */
static int
emit_choice(CsvProgram *program, int condition, int one, int other)
{
	const CsvRegister *left;
	const CsvRegister *right;
	CsvInstruction *instruction;
	int			result;

	if (condition < 0 || one < 0 || other < 0)
		return -1;
	left = &program->registers[one];
	right = &program->registers[other];
	if (left->lane != right->lane || left->scale != right->scale ||
		left->type != right->type)
		return -1;
	result = new_register(program, left->type,
						  left->typmod == right->typmod ? left->typmod : -1,
						  left->lane, left->scale);
	if (result < 0)
		return -1;
	instruction = emit(program, CSV_OP_CHOOSE, result, condition, one);
	instruction->c = program->registers[other].number;
	instruction->lane = program->registers[result].lane;
	return result;
}

static int
translate_null(CsvProgram *program, Oid type, int32 typmod, Oid collation)
{
	return translate_constant(program, (Node *)
							  makeNullConst(type, typmod, collation));
}

/*
 * CASE, from its last branch to its first.  A numeric's branches must have one
 * scale, NULL goes with any.
 */
static int
translate_case(CsvProgram *program, CaseExpr *expr)
{
	int			outer = program->case_register;
	int			argument = -1;
	int			nwhen = list_length(expr->args);
	int		   *conditions = palloc(sizeof(int) * nwhen);
	int		   *results = palloc(sizeof(int) * nwhen);
	int			result = -1;
	bool		failed = false;

	if (expr->arg != NULL &&
		(argument = translate(program, (Node *) expr->arg)) < 0)
		return -1;
	for (int i = 0; i < nwhen && !failed; i++)
	{
		CaseWhen   *when = list_nth_node(CaseWhen, expr->args, i);

		program->case_register = argument >= 0 ? argument : outer;
		conditions[i] = translate(program, (Node *) when->expr);
		program->case_register = outer;
		results[i] = conditions[i] < 0 ? -1 :
			translate(program, (Node *) when->result);
		failed = results[i] < 0;
	}
	if (failed || expr->casetype == BPCHAROID)
		return -1;
	if (expr->defresult == NULL || (IsA(expr->defresult, Const) &&
									((Const *) expr->defresult)->constisnull))
	{
		result = translate_null(program, expr->casetype, -1,
								expr->casecollid);
		if (result >= 0)
			program->registers[result].scale =
				program->registers[results[nwhen - 1]].scale;
	}
	else
		result = translate(program, (Node *) expr->defresult);
	for (int i = nwhen - 1; i >= 0 && result >= 0; i--)
		result = emit_choice(program, conditions[i], results[i], result);
	return result;
}

static int
translate_coalesce(CsvProgram *program, CoalesceExpr *expr)
{
	int			n = list_length(expr->args);
	int		   *arguments = palloc(sizeof(int) * n);
	int			result;

	if (expr->coalescetype == BPCHAROID)
		return -1;
	for (int i = 0; i < n; i++)
		if ((arguments[i] = translate(program, list_nth(expr->args, i))) < 0)
			return -1;
	result = arguments[n - 1];
	for (int i = n - 2; i >= 0 && result >= 0; i--)
		result = emit_choice(program,
							 emit_bool(program, CSV_OP_IS_NOT_NULL,
									   arguments[i], -1, false),
							 arguments[i], result);
	return result;
}

static int
translate_relabel(CsvProgram *program, RelabelType *relabel)
{
	Oid			from = exprType((Node *) relabel->arg);
	int			a;

	/* bpchar and the others see blanks at the end differently */
	if (from != relabel->resulttype &&
		!((from == TEXTOID || from == VARCHAROID) &&
		  (relabel->resulttype == TEXTOID ||
		   relabel->resulttype == VARCHAROID)))
		return -1;
	a = translate(program, (Node *) relabel->arg);
	if (a < 0 || from == relabel->resulttype)
		return a;
	return seen_as(program, a, relabel->resulttype);
}

static int
translate_new(CsvProgram *program, Node *node)
{
	check_stack_depth();
	if (IsA(node, Var) && ((Var *) node)->varno == program->relid &&
		((Var *) node)->varlevelsup == 0)
		return emit_column(program, (Var *) node, true);
	if (IsA(node, CaseTestExpr))
		return program->case_register;
	if (is_constant(program, node))
		return translate_constant(program, node);
	switch (nodeTag(node))
	{
		case T_OpExpr:
			return translate_operator(program, (OpExpr *) node);
		case T_ScalarArrayOpExpr:
			return translate_list(program, (ScalarArrayOpExpr *) node);
		case T_BoolExpr:
			return translate_bool(program, (BoolExpr *) node);
		case T_NullTest:
			{
				NullTest   *test = (NullTest *) node;

				return emit_bool(program, test->nulltesttype == IS_NULL ?
								 CSV_OP_IS_NULL : CSV_OP_IS_NOT_NULL,
								 test->argisrow ? -1 :
								 translate(program, (Node *) test->arg), -1,
								 false);
			}
		case T_BooleanTest:
			return translate_boolean_test(program, (BooleanTest *) node);
		case T_CaseExpr:
			return translate_case(program, (CaseExpr *) node);
		case T_CoalesceExpr:
			return translate_coalesce(program, (CoalesceExpr *) node);
		case T_RelabelType:
			return translate_relabel(program, (RelabelType *) node);
		case T_FuncExpr:
			return translate_cast(program, (FuncExpr *) node);
		default:
			return -1;
	}
}

/* the register that holds the expression; -1 where it cannot be had */
static int
translate(CsvProgram *program, Node *node)
{
	int			result;
	int			i = 0;
	ListCell   *cell;

	if (node == NULL)
		return -1;
	foreach(cell, program->known)
	{
		if (equal(lfirst(cell), node))
			return list_nth_int(program->known_registers, i);
		i++;
	}
	result = translate_new(program, node);

	/* what a CASE's argument stands for changes from one to the next */
	if (result >= 0 && program->case_register < 0 && !IsA(node, CaseTestExpr))
	{
		program->known = lappend(program->known, node);
		program->known_registers = lappend_int(program->known_registers,
											   result);
	}
	return result;
}

/*
 * The same from the outside: where it fails, nothing of it stays.
 */
static int
translate_whole(CsvProgram *program, Node *node)
{
	ProgramCounts before = program->n;
	int			nknown = list_length(program->known);
	int			result = translate(program, node);

	if (result < 0)
	{
		program->n = before;
		program->known = list_truncate(program->known, nknown);
		program->known_registers = list_truncate(program->known_registers,
												 nknown);
		program->constant_exprs = list_truncate(program->constant_exprs,
												(int) before.nconstants);
	}
	return result;
}

/* ---- what the planner adds ---- */

bool
csv_program_add_filter(CsvProgram *program, Expr *clause)
{
	int			result;

	/* one that does not hang on the row is the executor's (a gating Result) */
	if (program->n.nfilters >= CSV_MAX_REGISTERS ||
		is_constant(program, (Node *) clause))
		return false;
	result = translate_whole(program, (Node *) clause);
	if (result < 0 || program->registers[result].type != BOOLOID)
		return false;
	program->filters[program->n.nfilters++] =
		program->registers[result].number;
	program->n.nfilter_instructions = program->n.ninstructions;
	return true;
}

int
csv_program_add_value(CsvProgram *program, Expr *value)
{
	return translate_whole(program, (Node *) value);
}

const CsvRegister *
csv_program_register(const CsvProgram *program, int number)
{
	return &program->registers[number];
}

int
csv_program_add_key(CsvProgram *program, Expr *key)
{
	CsvRegister *reg;
	CsvKey	   *out;
	int			result;

	if (program->n.nkeys >= CSV_MAX_KEYS)
		return -1;
	if ((result = translate_whole(program, (Node *) key)) < 0)
		return -1;
	reg = &program->registers[result];
	if (reg->lane == CSV_LANE_TEXT &&
		(!collation_allows(exprCollation((Node *) key), true) ||
		 (reg->type == BPCHAROID && reg->typmod < (int32) VARHDRSZ)))
		return -1;
	out = &program->keys[program->n.nkeys];
	memset(out, 0, sizeof(*out));
	out->lane = reg->lane;
	out->value = reg->number;
	program->n.nkeys++;
	return result;
}

int
csv_program_add_aggregate(CsvProgram *program, CsvAggregateKind kind,
						  int argument, int filter)
{
	CsvAggregate aggregate;

	memset(&aggregate, 0, sizeof(aggregate));
	aggregate.kind = (uint8_t) kind;
	aggregate.argument = argument < 0 ? CSV_NO_REGISTER :
		program->registers[argument].number;
	aggregate.filter = filter < 0 ? CSV_NO_REGISTER :
		program->registers[filter].number;
	aggregate.lane = argument < 0 ? CSV_LANE_INT :
		program->registers[argument].lane;
	for (uint32_t i = 0; i < program->n.naggregates; i++)
		if (memcmp(&program->aggregate[i], &aggregate, sizeof(aggregate)) == 0)
			return (int) i;
	if (program->n.naggregates >= CSV_MAX_AGGREGATES)
		return -1;
	program->aggregate[program->n.naggregates] = aggregate;
	return (int) program->n.naggregates++;
}

void
csv_program_set_aggregates(CsvProgram *program)
{
	program->n.aggregates = true;
}

bool
csv_program_has_columns(const CsvProgram *program)
{
	for (uint32_t i = 0; i < program->n.ninstructions; i++)
		if (program->instructions[i].operation == CSV_OP_COLUMN)
			return true;
	return false;
}

/* ---- in a plan ---- */

typedef struct Span
{
	void	   *start;
	size_t		nbytes;
} Span;

#define NSPANS	7

static void
spans_of(CsvProgram *program, Span *spans)
{
	const ProgramCounts *n = &program->n;

	spans[0] = (Span) {&program->n, sizeof(program->n)};
	spans[1] = (Span) {program->instructions,
		n->ninstructions * sizeof(CsvInstruction)};
	spans[2] = (Span) {program->constants,
		n->nconstants * sizeof(ProgramConstant)};
	spans[3] = (Span) {program->registers, n->nviews * sizeof(CsvRegister)};
	spans[4] = (Span) {program->filters, n->nfilters * sizeof(uint16_t)};
	spans[5] = (Span) {program->keys, n->nkeys * sizeof(CsvKey)};
	spans[6] = (Span) {program->aggregate,
		n->naggregates * sizeof(CsvAggregate)};
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

Datum
csv_numeric_of_wide(const CsvWide *wide, int scale)
{
	uint64_t	word[3] = {wide->word[0], wide->word[1], wide->word[2]};
	bool		negative = (int64_t) word[2] < 0;
	char		text[80];
	char	   *next = text + sizeof(text);
	int			ndigits = 0;

	if (word[1] == (negative ? UINT64_MAX : 0) && word[2] == word[1] &&
		((int64_t) word[0] < 0) == negative)
		return NumericGetDatum(scale == 0 ?
							   int64_to_numeric((int64) word[0]) :
							   int64_div_fast_to_numeric((int64) word[0],
														 scale));
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
			{
				CsvInt128	decimal = value->value.decimal;
				CsvWide		wide;

				wide.word[0] = (uint64_t) decimal;
				wide.word[1] = (uint64_t) (decimal >> 64);
				wide.word[2] = decimal < 0 ? UINT64_MAX : 0;
				return csv_numeric_of_wide(&wide, reg->scale);
			}
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
common_scale(const ProgramConstant *constant, const Datum *datums,
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
compare_values(uint8_t lane, const CsvValue *a, const CsvValue *b)
{
#define THREE_WAY(x, y) ((x) < (y) ? -1 : (x) > (y))
	switch (lane)
	{
		case CSV_LANE_INT:
			return THREE_WAY(a->value.integer, b->value.integer);
		case CSV_LANE_DECIMAL:
			return THREE_WAY(a->value.decimal, b->value.decimal);
		case CSV_LANE_FLOAT:
			return float8_cmp_internal(a->value.real, b->value.real);
		case CSV_LANE_UUID:
			return THREE_WAY(a->value.uuid, b->value.uuid);
		default:
			{
				int			result = memcmp(a->bytes, b->bytes,
											Min(a->length, b->length));

				return result != 0 ? result : THREE_WAY(a->length, b->length);
			}
	}
#undef THREE_WAY
}

static int
compare_in_lane(const void *a, const void *b, void *lane)
{
	return compare_values(*(uint8_t *) lane, a, b);
}

/*
 * The elements of an array as constants, sorted and distinct.  *has_null: a
 * NULL was among them.  False where one has no lane.
 */
static bool
put_list(Constants *out, const ProgramConstant *constant, Datum array,
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
		if (i > 0 && compare_values(lane, &values[i - 1], &values[i]) == 0)
			continue;
		put_value(out, lane, &values[i]);
		(*count)++;
	}
	return true;
}

CsvQuery *
csv_program_query(const CsvProgram *program, List *constants,
				  ExprContext *econtext)
{
	const ProgramCounts *n = &program->n;
	CsvQuery   *query = palloc0(sizeof(CsvQuery));
	CsvInstruction *instructions = palloc(Max(n->ninstructions, 1) *
										  sizeof(CsvInstruction));
	CsvRegister *kinds = palloc0(Max(n->nconstants, 1) * sizeof(CsvRegister));
	uint32_t   *first = palloc0(Max(n->nconstants, 1) * sizeof(uint32_t));
	uint32_t   *counts = palloc0(Max(n->nconstants, 1) * sizeof(uint32_t));
	bool	   *has_null = palloc0(Max(n->nconstants, 1) * sizeof(bool));
	bool	   *empty = palloc0(Max(n->nconstants, 1) * sizeof(bool));
	Constants	out;
	uint32_t	no;				/* the constant "false" */

	memset(&out, 0, sizeof(out));
	initStringInfo(&out.text);
	for (uint32_t i = 0; i < n->nconstants; i++)
	{
		const ProgramConstant *constant = &program->constants[i];
		CsvRegister *kind = &kinds[i];
		CsvValue	value;
		bool		isnull;
		Datum		datum = ExecEvalExpr(list_nth(constants, (int) i),
										 econtext, &isnull);

		kind->type = constant->type;
		kind->typmod = -1;
		kind->lane = constant->lane;
		kind->scale = constant->scale;
		first[i] = out.n;
		counts[i] = 1;
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
			if (!put_list(&out, constant, datum, kind, &counts[i],
						  &has_null[i], &empty[i]))
				return NULL;
			continue;
		}
		if (constant->dynamic)
		{
			int			scale = common_scale(constant, &datum, &isnull, 1);

			if (scale < 0)
				return NULL;
			kind->scale = (int16) scale;
		}
		if (!csv_value_of_datum(kind, datum, &value))
			return NULL;
		put_value(&out, constant->lane, &value);
	}
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
				if (instruction->flags & FLAG_DYNAMIC)
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
				if (empty[number])
				{
					/* no element: false, also for NULL */
					instruction->operation = CSV_OP_CONSTANT;
					instruction->lane = CSV_LANE_INT;
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
	return query;
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
