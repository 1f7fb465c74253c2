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
#include "plan/shippable.h"

/* ---- types ---- */

int
csv_lane_of_type(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return CSV_LANE_INT;
		case FLOAT4OID:
		case FLOAT8OID:
			return CSV_LANE_FLOAT;
		case NUMERICOID:
			return CSV_LANE_DECIMAL;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			return CSV_LANE_TEXT;
		case UUIDOID:
			return CSV_LANE_UUID;
		default:
			return -1;
	}
}

bool
csv_is_integer_type(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

bool
csv_types_compare(Oid left, Oid right)
{
	return left == right ||
		(csv_is_integer_type(left) && csv_is_integer_type(right)) ||
		(csv_lane_of_type(left) == CSV_LANE_FLOAT &&
		 csv_lane_of_type(right) == CSV_LANE_FLOAT) ||
		((left == TEXTOID || left == VARCHAROID) &&
		 (right == TEXTOID || right == VARCHAROID));
}

/* ---- registers and instructions ---- */

int
csv_fail(CsvProgram *program)
{
	program->failed = true;
	csv_program_reserve(program);
	return (int) program->room;
}

/* another view of a register */
static int
new_view(CsvProgram *program, CsvRegister view)
{
	if (program->nviews >= CSV_MAX_REGISTERS && !program->failed)
		program->reason = CSV_TOO_MUCH;
	if (program->nviews >= CSV_MAX_REGISTERS || program->failed)
		return csv_fail(program);
	csv_program_reserve(program);
	program->registers[program->nviews] = view;
	program->known[program->nviews] = NULL;
	return (int) program->nviews++;
}

int
csv_seen_as(CsvProgram *program, int a, Oid type)
{
	CsvRegister view = program->registers[a];

	view.type = type;
	view.typmod = -1;
	return new_view(program, view);
}

CsvInstruction *
csv_last_instruction(CsvProgram *program)
{
	return &program->instructions[program->query.ninstructions - 1];
}

int
csv_emit(CsvProgram *program, CsvOperation operation, Oid type, int scale, int a,
		 int b)
{
	const CsvRegister *registers;
	int			lane = csv_lane_of_type(type);
	int			result = lane < 0 ? csv_fail(program) :
		new_view(program, (CsvRegister) {
				 .number = (uint16_t) program->query.nregisters++,
				 .type = type,
				 .typmod = -1,
				 .lane = (uint8_t) lane,
				 .scale = (int16_t) scale,
				 .digits = 2 * CSV_MAX_DECIMAL_DIGITS	/* not known */
	});
	CsvInstruction *instruction;

	csv_program_reserve(program);
	registers = program->registers;
	program->query.ninstructions++;
	instruction = csv_last_instruction(program);
	memset(instruction, 0, sizeof(*instruction));
	instruction->operation = (uint8_t) operation;
	instruction->result = registers[result].number;
	instruction->a = a < 0 ? 0 : registers[a].number;
	instruction->b = b < 0 ? 0 : registers[b].number;
	instruction->lane = registers[a >= 0 ? a : result].lane;
	return result;
}

int
csv_emit_bool(CsvProgram *program, CsvOperation operation, int a, int b)
{
	return csv_emit(program, operation, BOOLOID, 0, a, b);
}

int
csv_emit_column(CsvProgram *program, const Var *var, bool trim)
{
	const CsvTableColumn *column;
	CsvColumn	spec;
	CsvInstruction *instruction;
	bool		scaled;
	int			result;

	if (var->varattno <= 0)
		return csv_fail(program);
	column = &program->table->columns[var->varattno - 1];
	if (csv_is_of_file(column) && column->type != NUMERICOID &&
		column->type != BPCHAROID)
	{
		result = csv_emit(program, CSV_OP_COLUMN, column->type, 0, -1, -1);
		csv_last_instruction(program)->operand = (uint32_t) var->varattno;
		return result;
	}
	if (column->dropped || column->generated ||
		column->virtual_kind != CSV_VIRTUAL_NONE ||
		csv_table_kind(column, &spec) == CSV_KIND_CSTRING ||
		(column->type == NUMERICOID &&
		 spec.precision > CSV_MAX_DECIMAL_DIGITS) ||
		(column->type == BPCHAROID && spec.type_chars < 0))
		return csv_fail(program);
	scaled = column->type == NUMERICOID && spec.precision < 0;
	result = csv_emit(program, CSV_OP_COLUMN, column->type,
					  scaled ? program->scaled_digits :
					  column->type == NUMERICOID ? spec.scale : 0, -1, -1);
	program->registers[result].typmod = column->typmod;
	program->registers[result].scaled = scaled;
	instruction = csv_last_instruction(program);
	instruction->operand = (uint32_t) var->varattno;
	if (trim)
		instruction->flags = CSV_FLAG_TRIM;
	if (scaled)
	{
		instruction->flags = CSV_FLAG_SCALED;
		instruction->count = (uint32_t) program->scaled_digits;
	}
	else
		program->registers[result].digits = spec.precision;
	return result;
}

int
csv_emit_shown(CsvProgram *program, const Var *var)
{
	int			result = csv_emit(program, CSV_OP_COLUMN, INT4OID, 0, -1, -1);

	csv_last_instruction(program)->operand = (uint32_t) var->varattno;
	csv_last_instruction(program)->flags = CSV_FLAG_SHOWN;
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

bool
csv_may_raise(Node *node, void *context)
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
	return expression_tree_walker(node, csv_may_raise, context);
}

bool
csv_is_constant_node(const CsvProgram *program, Node *node)
{
	return IsA(node, Const) || IsA(node, Param) ||
		(!csv_holds_row(program, (Expr *) node) && !contain_volatile_functions(node) &&
		 !expression_returns_set(node) && !speaks_walker(node, NULL) &&
		 (program->nconditions == 0 || !csv_may_raise(node, NULL)));
}

uint32_t
csv_add_constant(CsvProgram *program, Node *node, Oid type, int scale,
				 bool dynamic, bool list)
{
	int			lane = csv_lane_of_type(type);

	if (program->query.nconstants >= CSV_MAX_REGISTERS || lane < 0)
	{
		csv_fail(program);
		return 0;
	}
	csv_program_reserve(program);
	program->constants[program->query.nconstants] = (CsvProgramConstant) {
		.reg = {
			.type = type, .typmod = -1, .lane = (uint8_t) lane,
			.scale = (int16_t) scale
		},
		.dynamic = dynamic,
		.list = list,
		.certain = program->nconditions == 0
	};
	program->constant_exprs = lappend(program->constant_exprs, node);
	return program->query.nconstants++;
}

int
csv_emit_constant(CsvProgram *program, Node *node, Oid type, int scale,
				  bool dynamic)
{
	uint32_t	number = csv_add_constant(program, node, type, scale, dynamic,
										  false);
	int			result = csv_emit(program, CSV_OP_CONSTANT, type, scale, -1, -1);

	csv_last_instruction(program)->operand = number;
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
	int			scale = type == NUMERICOID ? literal_scale(node) : 0;
	int			result;

	if (scale < 0)
		return csv_fail(program);
	result = csv_emit_constant(program, node, type, scale, false);
	if (type == NUMERICOID)
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
