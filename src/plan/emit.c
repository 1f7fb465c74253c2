/*
 * emit.c
 *		Emits registers, columns and constants of a program as instructions.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "compat.h"
#include "plan/emit.h"

/* ---- types ---- */

bool
csv_lane_of_type(Oid type, uint8_t *lane)
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

bool
csv_is_integer_type(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

bool
csv_is_float_type(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID;
}

bool
csv_types_compare(Oid left, Oid right)
{
	return left == right ||
		(csv_is_integer_type(left) && csv_is_integer_type(right)) ||
		(csv_is_float_type(left) && csv_is_float_type(right)) ||
		(left != BPCHAROID && right != BPCHAROID &&
		 (left == TEXTOID || left == VARCHAROID) &&
		 (right == TEXTOID || right == VARCHAROID));
}

/* ---- registers and instructions ---- */

int
csv_new_register(CsvProgram *program, Oid type, int32 typmod, uint8_t lane,
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
	reg->digits = 2 * CSV_MAX_DECIMAL_DIGITS;	/* not known */
	reg->scaled = false;
	return (int) program->n.nviews++;
}

int
csv_seen_as(CsvProgram *program, int a, Oid type)
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

CsvInstruction *
csv_emit(CsvProgram *program, CsvOperation operation, int result, int a, int b)
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

int
csv_emit_bool(CsvProgram *program, CsvOperation operation, int a, int b,
		  bool has_b)
{
	int			result;

	if (a < 0 || (has_b && b < 0))
		return -1;
	result = csv_new_register(program, BOOLOID, -1, CSV_LANE_INT, 0);
	if (result >= 0)
		csv_emit(program, operation, result, a, has_b ? b : -1);
	return result;
}

int
csv_emit_column(CsvProgram *program, const Var *var, bool trim)
{
	const CsvTableColumn *column;
	CsvColumn	spec;
	CsvInstruction *instruction;
	uint8_t		lane;
	bool		scaled;
	int			result;

	if (var->varattno <= 0)
		return -1;
	column = &program->table->columns[var->varattno - 1];
	if (column->dropped || column->generated ||
		column->virtual_kind != CSV_VIRTUAL_NONE ||
		!csv_lane_of_type(column->type, &lane) ||
		csv_table_kind(column, &spec) == CSV_KIND_CSTRING)
		return -1;
	if (lane == CSV_LANE_DECIMAL && spec.precision > CSV_MAX_DECIMAL_DIGITS)
		return -1;
	scaled = lane == CSV_LANE_DECIMAL && spec.precision < 0;
	if (column->type == BPCHAROID && spec.type_chars < 0)
		return -1;
	result = csv_new_register(program, column->type, column->typmod, lane,
						  scaled ? program->scaled_digits :
						  lane == CSV_LANE_DECIMAL ? spec.scale : 0);
	if (result < 0)
		return -1;
	if (scaled)
		program->registers[result].scaled = true;
	else
		program->registers[result].digits = spec.precision;
	instruction = csv_emit(program, CSV_OP_COLUMN, result, -1, -1);
	instruction->operand = (uint32_t) var->varattno;
	if (trim)
		instruction->flags = CSV_FLAG_TRIM;
	if (scaled)
	{
		instruction->flags = CSV_FLAG_SCALED;
		instruction->count = (uint32_t) program->scaled_digits;
	}
	return result;
}

int
csv_emit_shown(CsvProgram *program, const Var *var)
{
	int			result = csv_new_register(program, INT4OID, -1, CSV_LANE_INT, 0);
	CsvInstruction *instruction;

	if (result < 0)
		return -1;
	instruction = csv_emit(program, CSV_OP_COLUMN, result, -1, -1);
	instruction->operand = (uint32_t) var->varattno;
	instruction->flags = CSV_FLAG_SHOWN;
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

static bool
is_foreign_function(Oid function, void *context)
{
	return function >= FirstNormalObjectId;
}

/* may it do more than return or raise an ERROR, for example send a NOTICE? */
static bool
speaks_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, CoerceToDomain) ||
		check_functions_in_node(node, is_foreign_function, NULL))
		return true;
	return expression_tree_walker(node, speaks_walker, context);
}

static bool
raises_function(Oid function, void *context)
{
	switch (function)
	{
		case F_NOW:
		case F_TRANSACTION_TIMESTAMP:
		case F_NUMERIC_INT2:
		case F_NUMERIC_INT4:
		case F_NUMERIC_INT8:
		case F_INT4_INT2:
		case F_INT8_INT2:
		case F_INT8_INT4:
		case F_FLOAT8_INT2:
		case F_FLOAT8_INT4:
		case F_FLOAT8_INT8:
		case F_FLOAT8_FLOAT4:
			return false;
		default:
			return !get_func_leakproof(function);
	}
}

bool
csv_lacks_collation(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (!OidIsValid(exprInputCollation(node)))
	{
		List	   *args = IsA(node, OpExpr) ? ((OpExpr *) node)->args :
			IsA(node, FuncExpr) ? ((FuncExpr *) node)->args :
			IsA(node, DistinctExpr) ? ((DistinctExpr *) node)->args :
			IsA(node, NullIfExpr) ? ((NullIfExpr *) node)->args :
			IsA(node, ScalarArrayOpExpr) ? ((ScalarArrayOpExpr *) node)->args :
			IsA(node, MinMaxExpr) ? ((MinMaxExpr *) node)->args : NIL;
		ListCell   *cell;

		foreach(cell, args)
			if (type_is_collatable(exprType(lfirst(cell))))
				return true;
	}
	if (IsA(node, RowCompareExpr))
		return true;			/* has a collation for each column */
	return expression_tree_walker(node, csv_lacks_collation, context);
}

/* may it raise an ERROR?  The subquery behind a Param does not count. */
static bool
raises_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_List:
		case T_Const:
		case T_Param:
		case T_Var:
		case T_FuncExpr:
		case T_OpExpr:
		case T_RelabelType:
		case T_ArrayExpr:
		case T_SQLValueFunction:
			break;
		default:
			return true;
	}
	if (check_functions_in_node(node, raises_function, NULL) ||
		csv_lacks_collation(node, NULL))
		return true;
	return expression_tree_walker(node, raises_walker, context);
}

bool
csv_may_raise(Node *node)
{
	return raises_walker(node, NULL);
}

bool
csv_is_constant_node(const CsvProgram *program, Node *node)
{
	Index		relid = program->relid;

	return IsA(node, Const) || IsA(node, Param) ||
		(!holds_row_walker(node, &relid) && !contain_volatile_functions(node) &&
		 !expression_returns_set(node) && !speaks_walker(node, NULL) &&
		 (program->nconditions == 0 || !raises_walker(node, NULL)));
}

int
csv_add_constant(CsvProgram *program, Node *node, Oid type, uint8_t lane,
			 int scale, bool dynamic, bool list)
{
	CsvProgramConstant *constant;

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
	constant->certain = program->nconditions == 0;
	program->constant_exprs = lappend(program->constant_exprs, node);
	return (int) program->n.nconstants++;
}

int
csv_emit_constant(CsvProgram *program, Node *node, Oid type, uint8_t lane,
			  int scale, bool dynamic)
{
	int			number = csv_add_constant(program, node, type, lane, scale, dynamic,
									  false);
	int			result;

	if (number < 0)
		return -1;
	result = csv_new_register(program, type, -1, lane, (int16) scale);
	if (result >= 0)
		csv_emit(program, CSV_OP_CONSTANT, result, -1, -1)->operand =
			(uint32_t) number;
	return result;
}

/* a numeric literal's scale; -1 if it is not a literal, or no lane holds it */
static int
literal_scale(Node *node)
{
	Const	   *literal = (Const *) node;
	CsvInt128	value;
	int			scale;

	if (!IsA(node, Const))
		return -1;
	if (literal->constisnull)
		return 0;
	if (numeric_is_nan(DatumGetNumeric(literal->constvalue)) ||
		numeric_is_inf(DatumGetNumeric(literal->constvalue)))
		return -1;
	scale = DatumGetInt32(DirectFunctionCall1(numeric_scale,
											  literal->constvalue));
	return scale <= CSV_MAX_DECIMAL_DIGITS &&
		csv_decimal_of_numeric(literal->constvalue, scale, &value) ? scale : -1;
}

/* at least the number of its digits */
static int16
literal_digits(const Const *literal)
{
	return literal->constisnull ? 0 : (int16)
		strlen(DatumGetCString(DirectFunctionCall1(numeric_out,
												   literal->constvalue)));
}

int
csv_emit_known_constant(CsvProgram *program, Node *node)
{
	Oid			type = exprType(node);
	uint8_t		lane;
	int			scale = 0;
	int			result;

	if (!csv_lane_of_type(type, &lane))
		return -1;
	if (lane == CSV_LANE_DECIMAL && (scale = literal_scale(node)) < 0)
		return -1;
	result = csv_emit_constant(program, node, type, lane, scale, false);
	if (result >= 0 && lane == CSV_LANE_DECIMAL)
		program->registers[result].digits = literal_digits((Const *) node);
	return result;
}

/* ---- for the planner ---- */

bool
csv_holds_row(const CsvProgram *program, Expr *expr)
{
	Index		relid = program->relid;

	return holds_row_walker((Node *) expr, &relid);
}

bool
csv_is_constant(CsvProgram *program, Expr *expr)
{
	bool		result;

	program->nconditions++;
	result = csv_is_constant_node(program, (Node *) expr);
	program->nconditions--;
	return result;
}
