/*
 * shippable.c
 *		Translates PostgreSQL's expressions into an engine's instructions.
 *
 * An expression is translated as a whole or not at all.  It may use columns of the
 * table whose kind the engines convert; constants; and PostgreSQL's own operators and
 * functions that operate.h implements exactly (it leaves rows with an overflow to the
 * executor).  If a result depends on a collation, equality needs a deterministic
 * collation, and order needs C.
 *
 * Numerics are scaled integers.  Their scale is fixed when a query is planned, so that
 * results look as PostgreSQL's do.  A numeric whose scale is known only later (of a
 * parameter) can only be compared with.  In a column without a typmod, each value has
 * its own scale.  A register has such values at one scale, the same in the whole
 * query, and the executor gets rows that need more digits.  If a result shows such
 * values, another register has their scale(), computed from the columns' scales.  A
 * sum shows the greatest scale of its values.  Among equal keys or extremes, the
 * greatest scale is shown.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "plan/emit.h"
#include "plan/shippable.h"

static int	register_of(CsvProgram *program, Node *node);
static int	scale_of(CsvProgram *program, Node *node);

/* counts products of numerics */
static bool
product_walker(Node *node, void *count)
{
	if (node == NULL)
		return false;
	if (IsA(node, OpExpr) && ((OpExpr *) node)->opfuncid == F_NUMERIC_MUL)
		++*(int *) count;
	return expression_tree_walker(node, product_walker, count);
}

/*
 * Digits behind the point, which leave 20 digits before it.  That also holds for a
 * product whose factors each have that many digits behind the point.  Texts of float8
 * have up to 17.
 */
static int16
scaled_digits(const Query *query)
{
	int			most = 0;
	ListCell   *cell;

	product_walker((Node *) query->jointree, &most);
	foreach(cell, query->targetList)
	{
		int			count = 0;

		product_walker((Node *) lfirst_node(TargetEntry, cell)->expr, &count);
		most = Max(most, count);
	}
	return (int16) (18 / (most + 1));
}

CsvProgram *
csv_program_create(const CsvTable *table, Index relid, const Query *query)
{
	CsvProgram *program = palloc0(sizeof(CsvProgram));

	program->table = table;
	program->relid = relid;
	program->case_register = -1;
	program->scaled_digits = scaled_digits(query);
	return program;
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
		if (column->virtual_kind == CSV_VIRTUAL_NONE ?
			csv_table_kind(column, &spec) == CSV_KIND_CSTRING :
			column->virtual_kind == CSV_VIRTUAL_SURPLUS)
			return false;
	}
	return true;
}

/* ---- arithmetic ---- */

static int
rescale(CsvProgram *program, int a, int scale)
{
	const CsvRegister *from = &program->registers[a];
	int			result;

	if (from->scale == scale)
		return a;
	result = csv_new_register(program, NUMERICOID, -1, CSV_LANE_DECIMAL,
						  (int16) scale);
	if (result < 0)
		return -1;
	program->registers[result].digits = from->digits + scale - from->scale;
	program->registers[result].scaled = from->scaled;
	csv_emit(program, CSV_OP_RESCALE, result, a, -1)->operand =
		(uint32_t) (scale - from->scale);
	return result;
}

/* + - * of integers, numerics or float8 (float4 has a narrower arithmetic) */
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
	int			digits;
	int			result;

	if (strlen(name) != 1 || strchr("+-*", name[0]) == NULL)
		return -1;
	if (!csv_is_integer_type(type) && type != NUMERICOID && type != FLOAT8OID)
		return -1;
	csv_lane_of_type(type, &lane);
	for (int i = 0; i < list_length(op->args); i++)
	{
		Oid			argument = exprType(list_nth(op->args, i));

		if (csv_is_integer_type(type) ? !csv_is_integer_type(argument) :
			type == FLOAT8OID ? !csv_is_float_type(argument) :
			argument != NUMERICOID)
			return -1;
	}

	a = register_of(program, linitial(op->args));
	if (a < 0)
		return -1;
	scale = program->registers[a].scale;
	if (list_length(op->args) == 2)
	{
		b = register_of(program, lsecond(op->args));
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
	result = csv_new_register(program, type, -1, lane, (int16) scale);
	if (result < 0)
		return -1;
	digits = program->registers[a].digits;
	if (operation == CSV_OP_MULTIPLY)
		digits += program->registers[b].digits;
	else if (operation != CSV_OP_NEGATE)
		digits = Max(digits, program->registers[b].digits) + 1;
	program->registers[result].digits = (int16) digits;
	program->registers[result].scaled = program->registers[a].scaled ||
		(b >= 0 && program->registers[b].scaled);
	instruction = csv_emit(program, operation, result, a, b);
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

bool
csv_collation_allows(Oid collation, bool equality)
{
	if (!OidIsValid(collation))
		return false;
	return equality ? get_collation_isdeterministic(collation) :
		csv_collation_is_c(collation);
}

/*
 * Make both registers for a comparison of a node with a constant of its type.  A
 * numeric constant is brought to a common scale when the query runs.
 */
static bool
compare_with_constant(CsvProgram *program, Node *node, Node *constant,
					  int *value, int *other)
{
	uint8_t		lane;

	*value = register_of(program, node);
	if (*value < 0 || !csv_lane_of_type(exprType(constant), &lane))
		return false;
	if (lane == CSV_LANE_DECIMAL)
	{
		int			scale = program->registers[*value].scale;
		int			a = *value;
		CsvInstruction *instruction;

		*other = csv_emit_constant(program, constant, NUMERICOID, lane, scale,
							   true);
		*value = csv_new_register(program, NUMERICOID, -1, lane, (int16) scale);
		if (*other < 0 || *value < 0)
			return false;
		instruction = csv_emit(program, CSV_OP_RESCALE, *value, a, -1);
		instruction->flags = CSV_FLAG_DYNAMIC;
		instruction->operand = program->n.nconstants - 1;
		return true;
	}
	*other = register_of(program, constant);
	return *other >= 0;
}

static int
to_timestamp_lane(CsvProgram *program, int a)
{
	int			result = csv_new_register(program, TIMESTAMPOID, -1, CSV_LANE_INT,
									  0);

	if (result >= 0)
		csv_emit(program, CSV_OP_DATE_TO_TIMESTAMP, result, a, -1);
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

	if (!(csv_types_compare(left_type, right_type) || dates) ||
		!csv_lane_of_type(left_type, &lane) ||
		(lane == CSV_LANE_TEXT && !csv_collation_allows(collation, equality)))
		return -1;
	if (csv_is_constant_node(program, right))
	{
		if (!compare_with_constant(program, left, right, &a, &b))
			return -1;
	}
	else if (csv_is_constant_node(program, left))
	{
		if (!compare_with_constant(program, right, left, &b, &a))
			return -1;
	}
	else
	{
		a = register_of(program, left);
		b = a < 0 ? -1 : register_of(program, right);
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
	return csv_emit_bool(program, operation, a, b, true);
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
	uint8_t		lane;
	int			value;
	int			number;
	int			result;

	if (!comparison_of(expr->opno, &operation) ||
		operation != (expr->useOr ? CSV_OP_EQUAL : CSV_OP_NOT_EQUAL) ||
		!csv_types_compare(type, element) || !csv_lane_of_type(type, &lane) ||
		(lane == CSV_LANE_TEXT && !csv_collation_allows(expr->inputcollid, true)) ||
		!csv_is_constant_node(program, array))
		return -1;
	value = register_of(program, scalar);
	if (value < 0)
		return -1;
	number = csv_add_constant(program, array, element, lane,
							  program->registers[value].scale, false, true);
	if (number < 0)
		return -1;
	result = csv_emit_bool(program, CSV_OP_IN, value, -1, false);
	if (result < 0)
		return -1;
	program->instructions[program->n.ninstructions - 1].operand =
		(uint32_t) number;
	return expr->useOr ? result :
		csv_emit_bool(program, CSV_OP_NOT, result, -1, false);
}

/*
 * LIKE with a literal pattern that has no wildcard except %.  Bytes are compared, so a
 * character must not begin inside another character.
 */
static int
translate_like(CsvProgram *program, OpExpr *op, bool negated)
{
	Node	   *value = linitial(op->args);
	Const	   *pattern = lsecond(op->args);
	CsvOperation operation;
	char	   *piece;
	size_t		length;
	bool		any_before;
	bool		any_after;
	Node	   *literal;
	int			a;
	int			result;

	if (!IsA(pattern, Const) || pattern->constisnull ||
		pattern->consttype != TEXTOID ||
		!csv_collation_allows(op->inputcollid, true) ||
		(GetDatabaseEncoding() != PG_UTF8 &&
		 pg_database_encoding_max_length() > 1))
		return -1;
	piece = TextDatumGetCString(pattern->constvalue);
	length = strlen(piece);
	any_before = length > 0 && piece[0] == '%';
	if (any_before)
	{
		piece++;
		length--;
	}
	any_after = length > 0 && piece[length - 1] == '%';
	if (any_after)
		piece[--length] = '\0';
	if (strpbrk(piece, "_\\") != NULL)
		return -1;
	operation = any_before ? (any_after ? CSV_OP_CONTAINS : CSV_OP_ENDS_WITH) :
		any_after ? CSV_OP_STARTS_WITH : CSV_OP_EQUAL;
	if (strchr(piece, '%') != NULL)
	{
		operation = CSV_OP_LIKE;
		piece = TextDatumGetCString(pattern->constvalue);
	}

	/* LIKE sees the blanks at the end of a char(n) */
	if (exprType(value) == BPCHAROID)
		a = IsA(value, Var) &&
			((Var *) value)->varno == program->relid &&
			((Var *) value)->varlevelsup == 0 ?
			csv_emit_column(program, (Var *) value, false) : -1;
	else
		a = register_of(program, value);
	if (a < 0 || program->registers[a].lane != CSV_LANE_TEXT)
		return -1;
	literal = (Node *) makeConst(TEXTOID, -1, op->inputcollid, -1,
								 CStringGetTextDatum(piece), false, false);
	if (operation == CSV_OP_EQUAL)
		result = csv_emit_bool(program, operation, a,
						   csv_emit_known_constant(program, literal), true);
	else
	{
		int			number = csv_add_constant(program, literal, TEXTOID,
										  CSV_LANE_TEXT, 0, false, false);

		result = number < 0 ? -1 :
			csv_emit_bool(program, operation, a, -1, false);
		if (result >= 0)
			program->instructions[program->n.ninstructions - 1].operand =
				(uint32_t) number;
	}
	return negated ? csv_emit_bool(program, CSV_OP_NOT, result, -1, false) : result;
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
	a = register_of(program, linitial(function->args));
	if (a < 0)
		return -1;
	csv_lane_of_type(function->funcresulttype, &lane);
	if (operation == CSV_NUM_OPERATIONS)
		return csv_seen_as(program, a, function->funcresulttype);
	result = csv_new_register(program, function->funcresulttype, -1, lane, 0);
	if (result < 0)
		return -1;
	program->registers[result].digits = 19; /* of an int8 */
	csv_emit(program, operation, result, a, -1);
	return result;
}

/* ---- the rest of the grammar ---- */

/*
 * The value of a node, or its scale if is_scale.  The node may be evaluated for fewer
 * rows than the whole expression.
 */
static int
translate_branch(CsvProgram *program, Node *node, bool is_scale)
{
	int			result;

	program->nconditions++;
	result = is_scale ? scale_of(program, node) : register_of(program, node);
	program->nconditions--;
	return result;
}

static int
conditional_register_of(CsvProgram *program, Node *node)
{
	return translate_branch(program, node, false);
}

static int
translate_bool(CsvProgram *program, BoolExpr *expr)
{
	int			result = -1;
	ListCell   *cell;

	foreach(cell, expr->args)
	{
		int			argument = result < 0 ?
			register_of(program, lfirst(cell)) :
			conditional_register_of(program, lfirst(cell));

		if (argument < 0 || program->registers[argument].type != BOOLOID)
			return -1;
		if (expr->boolop == NOT_EXPR)
			return csv_emit_bool(program, CSV_OP_NOT, argument, -1, false);
		if (result < 0)
			result = argument;
		else
			result = csv_emit_bool(program, expr->boolop == AND_EXPR ?
							   CSV_OP_AND : CSV_OP_OR, result, argument, true);
		if (result < 0)
			return -1;
	}
	return result;
}

static int
translate_boolean_test(CsvProgram *program, BooleanTest *test)
{
	int			a = register_of(program, (Node *) test->arg);
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
	result = csv_emit_bool(program, operation, a, -1, false);
	return negated ? csv_emit_bool(program, CSV_OP_NOT, result, -1, false) : result;
}

/* `one` where the condition is true, otherwise `other` */
static int
emit_choice(CsvProgram *program, int condition, int one, int other)
{
	const CsvRegister *left;
	const CsvRegister *right;
	CsvInstruction *instruction;
	bool		is_scaled = false;
	int			result;

	if (condition < 0 || one < 0 || other < 0)
		return -1;
	left = &program->registers[one];
	right = &program->registers[other];
	if (left->lane != right->lane || left->type != right->type)
		return -1;
	if (left->scale != right->scale)
	{
		int			scale = Max(left->scale, right->scale);

		one = rescale(program, one, scale);
		other = one < 0 ? -1 : rescale(program, other, scale);
		if (other < 0)
			return -1;
		left = &program->registers[one];
		right = &program->registers[other];
		is_scaled = true;
	}
	result = csv_new_register(program, left->type,
						  left->typmod == right->typmod ? left->typmod : -1,
						  left->lane, left->scale);
	if (result < 0)
		return -1;
	program->registers[result].digits = Max(left->digits, right->digits);
	program->registers[result].scaled = is_scaled || left->scaled ||
		right->scaled;
	instruction = csv_emit(program, CSV_OP_CHOOSE, result, condition, one);
	instruction->c = program->registers[other].number;
	instruction->lane = program->registers[result].lane;
	return result;
}

static int
translate_null(CsvProgram *program, Oid type, int32 typmod, Oid collation)
{
	return csv_emit_known_constant(program, (Node *)
							  makeNullConst(type, typmod, collation));
}

/* CASE, from its last branch to its first; NULL has any numeric's scale */
static int
translate_case(CsvProgram *program, CaseExpr *expr, bool is_scale)
{
	int			outer = program->case_register;
	int			argument = -1;
	int			nwhen = list_length(expr->args);
	int		   *conditions = palloc(sizeof(int) * nwhen);
	int		   *results = palloc(sizeof(int) * nwhen);
	int			result = -1;
	bool		failed = false;

	if (expr->arg != NULL &&
		(argument = register_of(program, (Node *) expr->arg)) < 0)
		return -1;
	for (int i = 0; i < nwhen && !failed; i++)
	{
		CaseWhen   *when = list_nth_node(CaseWhen, expr->args, i);

		program->case_register = argument >= 0 ? argument : outer;
		conditions[i] = i == 0 ?
			register_of(program, (Node *) when->expr) :
			conditional_register_of(program, (Node *) when->expr);
		program->case_register = outer;
		results[i] = conditions[i] < 0 ? -1 :
			translate_branch(program, (Node *) when->result, is_scale);
		failed = results[i] < 0;
	}
	if (failed || expr->casetype == BPCHAROID)
		return -1;
	if (expr->defresult == NULL || (IsA(expr->defresult, Const) &&
									((Const *) expr->defresult)->constisnull))
	{
		result = translate_null(program, is_scale ? INT4OID : expr->casetype, -1,
								is_scale ? InvalidOid : expr->casecollid);
		if (result >= 0)
			program->registers[result].scale =
				program->registers[results[nwhen - 1]].scale;
	}
	else
		result = translate_branch(program, (Node *) expr->defresult, is_scale);
	for (int i = nwhen - 1; i >= 0 && result >= 0; i--)
		result = emit_choice(program, conditions[i], results[i], result);
	return result;
}

static int
translate_coalesce(CsvProgram *program, CoalesceExpr *expr, bool is_scale)
{
	int			n = list_length(expr->args);
	int		   *arguments = palloc(sizeof(int) * n);
	int			result;

	if (expr->coalescetype == BPCHAROID)
		return -1;
	for (int i = 0; i < n; i++)
	{
		Node	   *argument = list_nth(expr->args, i);

		arguments[i] = i == 0 ? register_of(program, argument) :
			conditional_register_of(program, argument);
		if (arguments[i] < 0)
			return -1;
	}
	result = !is_scale ? arguments[n - 1] :
		translate_branch(program, llast(expr->args), true);
	for (int i = n - 2; i >= 0 && result >= 0; i--)
		result = emit_choice(program,
							 csv_emit_bool(program, CSV_OP_IS_NOT_NULL,
									   arguments[i], -1, false),
							 !is_scale ? arguments[i] :
							 translate_branch(program, list_nth(expr->args, i),
											  true),
							 result);
	return result;
}

static int
translate_relabel(CsvProgram *program, RelabelType *relabel)
{
	Oid			from = exprType((Node *) relabel->arg);
	int			a;

	/* bpchar treats blanks at the end differently from the other types */
	if (from == VARCHAROID && relabel->resulttype == BPCHAROID)
	{
		Var		   *var = (Var *) relabel->arg;

		a = IsA(var, Var) && var->varno == program->relid &&
			var->varlevelsup == 0 ? csv_emit_column(program, var, true) : -1;
		return a < 0 ? -1 : csv_seen_as(program, a, BPCHAROID);
	}
	if (from != relabel->resulttype &&
		!((from == TEXTOID || from == VARCHAROID) &&
		  (relabel->resulttype == TEXTOID ||
		   relabel->resulttype == VARCHAROID)))
		return -1;
	a = register_of(program, (Node *) relabel->arg);
	if (a < 0 || from == relabel->resulttype)
		return a;
	return csv_seen_as(program, a, relabel->resulttype);
}

/* ---- how many digits a numeric shows behind the point ---- */

/* + and - show the greater scale, * shows the sum of both */
static int
scale_of_operator(CsvProgram *program, OpExpr *op)
{
	int			left = scale_of(program, linitial(op->args));
	int			right;
	int			result;

	if (left < 0 || list_length(op->args) == 1)
		return left;
	right = scale_of(program, lsecond(op->args));
	if (right < 0)
		return -1;
	if (strcmp(get_opname(op->opno), "*") != 0)
		return emit_choice(program,
						   csv_emit_bool(program, CSV_OP_LESS, left, right, true),
						   right, left);
	result = csv_new_register(program, INT4OID, -1, CSV_LANE_INT, 0);
	if (result >= 0)
		csv_emit(program, CSV_OP_ADD, result, left, right)->bits = 32;
	return result;
}

/* the scale of a numeric that is not NULL */
static int
scale_of(CsvProgram *program, Node *node)
{
	int			value = register_of(program, node);

	if (value < 0 || program->registers[value].lane != CSV_LANE_DECIMAL)
		return -1;
	if (!program->registers[value].scaled)
		return register_of(program, (Node *)
						   makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
									 Int32GetDatum(program->registers[value].scale),
									 false, true));
	switch (nodeTag(node))
	{
		case T_Var:
			return register_of(program, (Node *) csv_scale_function((Expr *) node));
		case T_OpExpr:
			return scale_of_operator(program, (OpExpr *) node);
		case T_CaseExpr:
			return translate_case(program, (CaseExpr *) node, true);
		case T_CoalesceExpr:
			return translate_coalesce(program, (CoalesceExpr *) node, true);
		default:
			return -1;
	}
}

/* scale(value); it is NULL for NaN, which is left to the executor */
static int
translate_scale(CsvProgram *program, Node *value)
{
	int			number = register_of(program, value);

	if (number < 0)
		return -1;
	if (IsA(value, Var) && program->registers[number].scaled)
		return csv_emit_shown(program, (Var *) value);
	return emit_choice(program,
					   csv_emit_bool(program, CSV_OP_IS_NOT_NULL, number, -1,
									 false),
					   scale_of(program, value),
					   translate_null(program, INT4OID, -1, InvalidOid));
}

static int
translate_new(CsvProgram *program, Node *node)
{
	check_stack_depth();
	if (IsA(node, Var) && ((Var *) node)->varno == program->relid &&
		((Var *) node)->varlevelsup == 0)
		return csv_emit_column(program, (Var *) node,
						   ((Var *) node)->vartype == BPCHAROID);
	if (IsA(node, CaseTestExpr))
		return program->case_register;
	if (csv_is_constant_node(program, node))
		return csv_emit_known_constant(program, node);
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

				return csv_emit_bool(program, test->nulltesttype == IS_NULL ?
								 CSV_OP_IS_NULL : CSV_OP_IS_NOT_NULL,
								 test->argisrow ? -1 :
								 register_of(program, (Node *) test->arg), -1,
								 false);
			}
		case T_BooleanTest:
			return translate_boolean_test(program, (BooleanTest *) node);
		case T_CaseExpr:
			return translate_case(program, (CaseExpr *) node, false);
		case T_CoalesceExpr:
			return translate_coalesce(program, (CoalesceExpr *) node, false);
		case T_RelabelType:
			return translate_relabel(program, (RelabelType *) node);
		case T_FuncExpr:
			return ((FuncExpr *) node)->funcid == F_SCALE ?
				translate_scale(program, linitial(((FuncExpr *) node)->args)) :
				translate_cast(program, (FuncExpr *) node);
		default:
			return -1;
	}
}

/* returns the register that holds the expression, or -1 */
static int
register_of(CsvProgram *program, Node *node)
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

	/* the value of a CaseTestExpr changes from one CASE to the next */
	if (result >= 0 && program->case_register < 0 && !IsA(node, CaseTestExpr))
	{
		program->known = lappend(program->known, node);
		program->known_registers = lappend_int(program->known_registers,
											   result);
	}
	return result;
}

/*
 * Translate a whole expression; if that fails, remove everything that was added.
 * first: the executor evaluates the expression for each row.
 */
static int
translate_whole(CsvProgram *program, Node *node, bool first)
{
	CsvProgramCounts before = program->n;
	int			nknown = list_length(program->known);
	int			result = first ? register_of(program, node) :
		conditional_register_of(program, node);

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
csv_program_add_filter(CsvProgram *program, Expr *clause, bool first)
{
	int			result;

	/* a clause without the row is the executor's (a gating Result) */
	if (program->n.nfilters >= CSV_MAX_REGISTERS ||
		!csv_holds_row(program, clause))
		return false;
	result = translate_whole(program, (Node *) clause, first);
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
	return translate_whole(program, (Node *) value, false);
}

bool
csv_register_shown(const CsvRegister *reg)
{
	return reg->type != BPCHAROID || reg->typmod >= (int32) VARHDRSZ;
}

int
csv_program_add_packed(CsvProgram *program, int value, Expr *expr, bool greatest)
{
	int			scale = csv_program_add_value(program, csv_scale_function(expr));
	int			number;
	int			result;

	value = rescale(program, value, program->registers[value].scale +
					CSV_PACKED_DIGITS);
	if (scale < 0 || value < 0)
		return -1;
	number = csv_new_register(program, NUMERICOID, -1, CSV_LANE_DECIMAL, 0);
	result = csv_new_register(program, NUMERICOID, -1, CSV_LANE_DECIMAL, 0);
	if (number < 0 || result < 0)
		return -1;
	csv_emit(program, CSV_OP_INT_TO_DECIMAL, number, scale, -1);
	csv_emit(program, greatest ? CSV_OP_ADD : CSV_OP_SUBTRACT, result, value,
			 number);
	return result;
}

int
csv_program_add_key(CsvProgram *program, Expr *key)
{
	CsvRegister *reg;
	CsvKey	   *out;
	int			result;

	if (program->n.nkeys >= CSV_MAX_KEYS)
		return -1;
	if ((result = translate_whole(program, (Node *) key, false)) < 0)
		return -1;
	reg = &program->registers[result];
	if (!csv_register_shown(reg) ||
		(reg->lane == CSV_LANE_TEXT &&
		 !csv_collation_allows(exprCollation((Node *) key), true)))
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

bool
csv_program_add_order(CsvProgram *program, Expr *key, Oid sort_operator,
					  bool nulls_first)
{
	CsvOperation operation;
	CsvOrderKey *out;
	int			result;

	if (program->n.norder >= CSV_MAX_KEYS ||
		!comparison_of(sort_operator, &operation) ||
		(operation != CSV_OP_LESS && operation != CSV_OP_GREATER))
		return false;
	if ((result = translate_whole(program, (Node *) key, false)) < 0)
		return false;
	if (program->registers[result].lane == CSV_LANE_TEXT &&
		!csv_collation_allows(exprCollation((Node *) key), false))
		return false;
	out = &program->order[program->n.norder++];
	memset(out, 0, sizeof(*out));
	out->lane = program->registers[result].lane;
	out->value = program->registers[result].number;
	out->descending = operation == CSV_OP_GREATER;
	out->nulls_first = nulls_first;
	return true;
}

bool
csv_program_check(CsvProgram *program, Expr *expr)
{
	int			result;

	if (!csv_may_raise((Node *) expr))
		return true;
	if (program->n.nchecked >= CSV_MAX_REGISTERS ||
		(result = translate_whole(program, (Node *) expr, false)) < 0)
		return false;
	program->checked[program->n.nchecked++] =
		program->registers[result].number;
	return true;
}
