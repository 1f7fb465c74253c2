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
#include "common/string.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "compat.h"
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
csv_program_create(const CsvTable *table, Index relid, const Query *query,
				   const List *filters)
{
	CsvProgram *program = palloc0(sizeof(CsvProgram));
	ListCell   *cell;

	program->table = table;
	program->relid = relid;
	program->case_register = -1;
	program->scaled_digits = scaled_digits(query);
	foreach(cell, filters)
		csv_program_add_filter(program, lfirst_node(RestrictInfo, cell)->clause,
							   cell == list_head(filters));
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
	result = csv_emit(program, CSV_OP_RESCALE, NUMERICOID, scale, a, -1);
	csv_last_instruction(program)->operand = (uint32_t) (scale - from->scale);
	program->registers[result].digits = from->digits + scale - from->scale;
	program->registers[result].scaled = from->scaled;
	return result;
}

/* bring two numerics to the same scale */
static void
rescale_both(CsvProgram *program, int *a, int *b)
{
	int			scale = Max(program->registers[*a].scale,
							program->registers[*b].scale);

	*a = rescale(program, *a, scale);
	*b = rescale(program, *b, scale);
}

/*
 * + - * of integers, numerics or float8 (float4 has a narrower arithmetic), and
 * / % of integers
 */
static int
translate_arithmetic(CsvProgram *program, OpExpr *op, const char *name)
{
	Oid			type = op->opresulttype;
	bool		is_binary = list_length(op->args) == 2;
	CsvOperation operation = name[0] == '+' ? CSV_OP_ADD :
		name[0] == '*' ? CSV_OP_MULTIPLY : name[0] == '/' ? CSV_OP_DIVIDE :
		name[0] == '%' ? CSV_OP_MODULO :
		is_binary ? CSV_OP_SUBTRACT : CSV_OP_NEGATE;
	int			a;
	int			b = -1;
	int			scale;
	int			digits;
	int			result;
	ListCell   *cell;

	if (strlen(name) != 1 ||
		strchr(csv_is_integer_type(type) ? "+-*/%" : "+-*", name[0]) == NULL ||
		!(csv_is_integer_type(type) || type == NUMERICOID || type == FLOAT8OID))
		return csv_fail(program);
	foreach(cell, op->args)
		if (csv_lane_of_type(exprType(lfirst(cell))) != csv_lane_of_type(type) ||
			(csv_is_integer_type(type) &&
			 !csv_is_integer_type(exprType(lfirst(cell)))))
			return csv_fail(program);
	a = register_of(program, linitial(op->args));
	if (!is_binary && name[0] == '+')
		return a;
	if (is_binary)
		b = register_of(program, lsecond(op->args));
	if (is_binary && operation != CSV_OP_MULTIPLY && type == NUMERICOID)
		rescale_both(program, &a, &b);
	scale = program->registers[a].scale;
	digits = program->registers[a].digits;
	if (operation == CSV_OP_MULTIPLY)
	{
		scale += program->registers[b].scale;
		digits += program->registers[b].digits;
	}
	else if (is_binary)
		digits = Max(digits, program->registers[b].digits) + 1;
	if (scale > CSV_MAX_DECIMAL_DIGITS)
		return csv_fail(program);
	result = csv_emit(program, operation, type, scale, a, b);
	csv_last_instruction(program)->lane = program->registers[result].lane;
	csv_last_instruction(program)->bits = type == INT2OID ? 16 :
		type == INT4OID ? 32 : 64;
	program->registers[result].digits = (int16) digits;
	program->registers[result].scaled = program->registers[a].scaled ||
		(is_binary && program->registers[b].scaled);
	return result;
}

/* is a node one of the table's columns? */
static bool
is_column(const CsvProgram *program, const Node *node)
{
	return IsA(node, Var) && ((const Var *) node)->varno == program->relid &&
		((const Var *) node)->varlevelsup == 0;
}

/* ---- comparison ---- */

/* an operator's meaning in PostgreSQL's own btree families, if it has one */
static bool
comparison_of(Oid opno, CsvOperation *operation)
{
	static const CsvOperation operations[] = {
		[BTLessStrategyNumber] = CSV_OP_LESS,
		[BTLessEqualStrategyNumber] = CSV_OP_LESS_EQUAL,
		[BTEqualStrategyNumber] = CSV_OP_EQUAL,
		[BTGreaterEqualStrategyNumber] = CSV_OP_GREATER_EQUAL,
		[BTGreaterStrategyNumber] = CSV_OP_GREATER,
		[CSV_STRATEGY_NOT_EQUAL] = CSV_OP_NOT_EQUAL
	};
	int			strategy = opno < FirstNormalObjectId ? csv_btree_strategy(opno) : 0;

	*operation = operations[strategy];
	return strategy != 0;
}

bool
csv_collation_allows(CsvProgram *program, Oid collation, bool equality)
{
	bool		allows = OidIsValid(collation) &&
		(equality ? get_collation_isdeterministic(collation) :
		 csv_collation_is_c(collation));

	if (!allows && !program->failed)
		program->reason = "collation";
	return allows;
}

/*
 * Make both registers for a comparison of a node with a constant of its type.  A
 * numeric constant is brought to a common scale when the query runs.
 */
static void
compare_with_constant(CsvProgram *program, Node *node, Node *constant,
					  int *value, int *other)
{
	*value = register_of(program, node);
	if (exprType(constant) == NUMERICOID)
	{
		int			scale = program->registers[*value].scale;

		*other = csv_emit_constant(program, constant, NUMERICOID, scale, true);
		*value = csv_emit(program, CSV_OP_RESCALE, NUMERICOID, scale, *value, -1);
		csv_last_instruction(program)->flags = CSV_FLAG_DYNAMIC;
		csv_last_instruction(program)->operand = program->query.nconstants - 1;
	}
	else
		*other = register_of(program, constant);
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
	int			a;
	int			b;

	if (!(csv_types_compare(left_type, right_type) || dates) ||
		(csv_lane_of_type(left_type) == CSV_LANE_TEXT &&
		 !csv_collation_allows(program, collation, equality)))
		return csv_fail(program);
	if (csv_is_constant_node(program, right))
		compare_with_constant(program, left, right, &a, &b);
	else if (csv_is_constant_node(program, left))
		compare_with_constant(program, right, left, &b, &a);
	else
	{
		a = register_of(program, left);
		b = register_of(program, right);
		if (left_type == NUMERICOID)
			rescale_both(program, &a, &b);
	}
	if (dates && left_type == DATEOID)
		a = csv_emit(program, CSV_OP_DATE_TO_TIMESTAMP, TIMESTAMPOID, 0, a, -1);
	else if (dates)
		b = csv_emit(program, CSV_OP_DATE_TO_TIMESTAMP, TIMESTAMPOID, 0, b, -1);
	return csv_emit_bool(program, operation, a, b);
}

/* NOT of a register, if it is negated */
static int
negate_if(CsvProgram *program, int a, bool negated)
{
	return negated ? csv_emit_bool(program, CSV_OP_NOT, a, -1) : a;
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
	uint32_t	number;
	int			value;
	int			result;

	if (!comparison_of(expr->opno, &operation) ||
		operation != (expr->useOr ? CSV_OP_EQUAL : CSV_OP_NOT_EQUAL) ||
		!csv_types_compare(type, element) ||
		(csv_lane_of_type(type) == CSV_LANE_TEXT &&
		 !csv_collation_allows(program, expr->inputcollid, true)) ||
		!csv_is_constant_node(program, array))
		return csv_fail(program);
	value = register_of(program, scalar);
	number = csv_add_constant(program, array, element,
							  program->registers[value].scale, false, true);
	result = csv_emit_bool(program, CSV_OP_IN, value, -1);
	csv_last_instruction(program)->operand = number;
	return negate_if(program, result, !expr->useOr);
}

/*
 * lower() or upper() of a text.  In some languages, even letters of ASCII have
 * other counterparts, as the I of Turkish has.
 */
static int
emit_folded(CsvProgram *program, int a, bool lower, Oid collation)
{
	char		ascii[127];
	const char *folded;

	if (program->registers[a].lane != CSV_LANE_TEXT || !OidIsValid(collation))
		return csv_fail(program);
	for (int i = 0; i < lengthof(ascii); i++)
		ascii[i] = (char) (i + 1);
	folded = lower ? str_tolower(ascii, sizeof(ascii), collation) :
		str_toupper(ascii, sizeof(ascii), collation);
	for (int i = 0; i < lengthof(ascii); i++)
		if (folded[i] != (char) (lower ? pg_ascii_tolower(ascii[i]) :
								 pg_ascii_toupper(ascii[i])))
		{
			program->reason = "collation";
			return csv_fail(program);
		}
	return csv_emit(program, lower ? CSV_OP_LOWER : CSV_OP_UPPER, TEXTOID, 0, a,
					-1);
}

/*
 * LIKE, or ILIKE (fold), with a literal pattern that has no wildcard except %.
 * Bytes are compared, so a character must not begin inside another character.
 */
static int
translate_like(CsvProgram *program, OpExpr *op, bool negated, bool fold)
{
	Node	   *value = linitial(op->args);
	Const	   *pattern = lsecond(op->args);
	CsvOperation operation;
	char	   *whole;
	char	   *piece;
	size_t		length;
	bool		any_before;
	bool		any_after;
	Node	   *literal;
	int			a;
	int			result;

	program->reason = "pattern";
	if (!IsA(pattern, Const) || pattern->constisnull ||
		pattern->consttype != TEXTOID ||
		!csv_collation_allows(program, op->inputcollid, true) ||
		(GetDatabaseEncoding() != PG_UTF8 &&
		 pg_database_encoding_max_length() > 1))
		return csv_fail(program);
	whole = TextDatumGetCString(pattern->constvalue);
	if (fold && !pg_is_ascii(whole))
		return csv_fail(program);
	if (fold)
		whole = asc_tolower(whole, strlen(whole));
	piece = pstrdup(whole);
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
		return csv_fail(program);
	program->reason = NULL;
	operation = any_before ? (any_after ? CSV_OP_CONTAINS : CSV_OP_ENDS_WITH) :
		any_after ? CSV_OP_STARTS_WITH : CSV_OP_EQUAL;
	if (strchr(piece, '%') != NULL)
	{
		operation = CSV_OP_LIKE;
		piece = whole;
	}

	/* LIKE sees the blanks at the end of a char(n) */
	a = exprType(value) != BPCHAROID ? register_of(program, value) :
		is_column(program, value) ?
		csv_emit_column(program, (Var *) value, false) : csv_fail(program);
	if (program->registers[a].lane != CSV_LANE_TEXT)
		return csv_fail(program);
	if (fold)
		a = emit_folded(program, a, true, op->inputcollid);
	literal = (Node *) makeConst(TEXTOID, -1, op->inputcollid, -1,
								 CStringGetTextDatum(piece), false, false);
	if (operation == CSV_OP_EQUAL)
		result = csv_emit_bool(program, operation, a,
							   csv_emit_known_constant(program, literal));
	else
	{
		result = csv_emit_bool(program, operation, a, -1);
		csv_last_instruction(program)->operand =
			csv_add_constant(program, literal, TEXTOID, 0, false, false);
	}
	return negate_if(program, result, negated);
}

static int
translate_operator(CsvProgram *program, OpExpr *op)
{
	CsvOperation operation;
	char	   *name;

	if (op->opno >= FirstNormalObjectId || op->opretset)
		return csv_fail(program);
	if (list_length(op->args) == 2 && comparison_of(op->opno, &operation))
		return translate_comparison(program, operation, linitial(op->args),
									lsecond(op->args), op->inputcollid);
	set_opfuncid(op);
	switch (op->opfuncid)
	{
		case F_TEXTLIKE:
		case F_BPCHARLIKE:
			return translate_like(program, op, false, false);
		case F_TEXTNLIKE:
		case F_BPCHARNLIKE:
			return translate_like(program, op, true, false);
		case F_TEXTICLIKE:
		case F_BPCHARICLIKE:
			return translate_like(program, op, false, true);
		case F_TEXTICNLIKE:
		case F_BPCHARICNLIKE:
			return translate_like(program, op, true, true);
		default:
			break;
	}
	name = get_opname(op->opno);
	return name == NULL ? csv_fail(program) :
		translate_arithmetic(program, op, name);
}

/* ---- functions: casts, and parts of dates ---- */

static int
translate_function(CsvProgram *program, FuncExpr *function)
{
	CsvOperation operation;
	int			a;
	int			result;

	switch (function->funcid)
	{
		case F_INT4_INT2:
		case F_INT8_INT2:
		case F_INT8_INT4:
		case F_FLOAT8_FLOAT4:
		case F_TEXT_BPCHAR:
			/* the lane is the same */
			a = register_of(program, linitial(function->args));
			return csv_seen_as(program, a, function->funcresulttype);
		case F_LOWER_TEXT:
		case F_UPPER_TEXT:
			a = register_of(program, linitial(function->args));
			return emit_folded(program, a, function->funcid == F_LOWER_TEXT,
							   function->inputcollid);
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
		case F_DATE_TIMESTAMP:
			operation = CSV_OP_TIMESTAMP_TO_DATE;
			break;
		case F_TIME_TIMESTAMP:
			operation = CSV_OP_TIMESTAMP_TO_TIME;
			break;
		case F_INT4_NUMERIC:
		case F_INT8_NUMERIC:
		case F_INT4_FLOAT8:
		case F_INT8_FLOAT8:
			if (!IsA(linitial(function->args), FuncExpr))
				return csv_fail(program);
			return csv_translate_moment(program, linitial(function->args),
										function->funcresulttype, register_of);
		default:
			return csv_translate_moment(program, function,
										function->funcresulttype, register_of);
	}
	a = register_of(program, linitial(function->args));
	result = csv_emit(program, operation, function->funcresulttype, 0, a, -1);
	program->registers[result].digits = 19; /* of an int8 */
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
translate_bool(CsvProgram *program, BoolExpr *expr)
{
	int			result = register_of(program, linitial(expr->args));

	if (expr->boolop == NOT_EXPR)
		return csv_emit_bool(program, CSV_OP_NOT, result, -1);
	for (int i = 1; i < list_length(expr->args); i++)
	{
		int			argument = translate_branch(program, list_nth(expr->args, i), false);

		result = csv_emit_bool(program, expr->boolop == AND_EXPR ? CSV_OP_AND :
							   CSV_OP_OR, result, argument);
	}
	return result;
}

static int
translate_boolean_test(CsvProgram *program, BooleanTest *test)
{
	static const CsvOperation operations[] = {
		[IS_TRUE] = CSV_OP_IS_TRUE,
		[IS_NOT_TRUE] = CSV_OP_IS_TRUE,
		[IS_FALSE] = CSV_OP_IS_FALSE,
		[IS_NOT_FALSE] = CSV_OP_IS_FALSE,
		[IS_UNKNOWN] = CSV_OP_IS_NULL,
		[IS_NOT_UNKNOWN] = CSV_OP_IS_NOT_NULL
	};

	return negate_if(program,
					 csv_emit_bool(program, operations[test->booltesttype],
								   register_of(program, (Node *) test->arg), -1),
					 test->booltesttype == IS_NOT_TRUE ||
					 test->booltesttype == IS_NOT_FALSE);
}

/* `one` where the condition is true, otherwise `other` */
static int
emit_choice(CsvProgram *program, int condition, int one, int other)
{
	const CsvRegister *left = &program->registers[one];
	const CsvRegister *right = &program->registers[other];
	bool		is_scaled = left->scale != right->scale;
	CsvInstruction *instruction;
	int			result;

	if (left->lane != right->lane || left->type != right->type)
		return csv_fail(program);
	rescale_both(program, &one, &other);
	left = &program->registers[one];
	right = &program->registers[other];
	result = csv_emit(program, CSV_OP_CHOOSE, left->type, left->scale, condition,
					  one);
	program->registers[result].typmod = left->typmod == right->typmod ?
		left->typmod : -1;
	program->registers[result].digits = Max(left->digits, right->digits);
	program->registers[result].scaled = is_scaled || left->scaled ||
		right->scaled;
	instruction = csv_last_instruction(program);
	instruction->c = right->number;
	instruction->lane = left->lane;
	return result;
}

static int
translate_null(CsvProgram *program, Oid type, Oid collation)
{
	return csv_emit_known_constant(program, (Node *)
								   makeNullConst(type, -1, collation));
}

/* CASE, from its last branch to its first; NULL has any numeric's scale */
static int
translate_case(CsvProgram *program, CaseExpr *expr, bool is_scale)
{
	int			outer = program->case_register;
	int			argument = expr->arg == NULL ? outer :
		register_of(program, (Node *) expr->arg);
	int			nwhen = list_length(expr->args);
	int		   *conditions = palloc(sizeof(int) * nwhen);
	int		   *results = palloc(sizeof(int) * nwhen);
	int			result;

	for (int i = 0; i < nwhen; i++)
	{
		CaseWhen   *when = list_nth_node(CaseWhen, expr->args, i);

		program->case_register = argument;
		conditions[i] = i == 0 ?
			register_of(program, (Node *) when->expr) :
			translate_branch(program, (Node *) when->expr, false);
		program->case_register = outer;
		results[i] = translate_branch(program, (Node *) when->result, is_scale);
	}
	if (expr->casetype == BPCHAROID)
		return csv_fail(program);
	if (expr->defresult == NULL || (IsA(expr->defresult, Const) &&
									((Const *) expr->defresult)->constisnull))
	{
		result = translate_null(program, is_scale ? INT4OID : expr->casetype,
								is_scale ? InvalidOid : expr->casecollid);
		program->registers[result].scale =
			program->registers[results[nwhen - 1]].scale;
	}
	else
		result = translate_branch(program, (Node *) expr->defresult, is_scale);
	for (int i = nwhen - 1; i >= 0; i--)
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
		return csv_fail(program);
	for (int i = 0; i < n; i++)
		arguments[i] = i == 0 ? register_of(program, linitial(expr->args)) :
			translate_branch(program, list_nth(expr->args, i), false);
	result = !is_scale ? arguments[n - 1] :
		translate_branch(program, llast(expr->args), true);
	for (int i = n - 2; i >= 0; i--)
		result = emit_choice(program,
							 csv_emit_bool(program, CSV_OP_IS_NOT_NULL,
										   arguments[i], -1),
							 !is_scale ? arguments[i] :
							 translate_branch(program, list_nth(expr->args, i),
											  true),
							 result);
	return result;
}

static int
translate_relabel(CsvProgram *program, RelabelType *relabel)
{
	Node	   *argument = (Node *) relabel->arg;
	Oid			from = exprType(argument);
	Oid			to = relabel->resulttype;
	int			a;

	/* bpchar treats blanks at the end differently from the other types */
	if (from == VARCHAROID && to == BPCHAROID)
		a = is_column(program, argument) ?
			csv_emit_column(program, (Var *) argument, true) : csv_fail(program);
	else if (from == to || ((from == TEXTOID || from == VARCHAROID) &&
							(to == TEXTOID || to == VARCHAROID)))
		a = register_of(program, argument);
	else
		return csv_fail(program);
	return from == to ? a : csv_seen_as(program, a, to);
}

/* ---- how many digits a numeric shows behind the point ---- */

/* + and - show the greater scale, * shows the sum of both */
static int
scale_of_operator(CsvProgram *program, OpExpr *op)
{
	int			left = scale_of(program, linitial(op->args));
	int			right;
	int			result;

	if (list_length(op->args) == 1)
		return left;
	right = scale_of(program, lsecond(op->args));
	if (strcmp(get_opname(op->opno), "*") != 0)
		return emit_choice(program,
						   csv_emit_bool(program, CSV_OP_LESS, left, right),
						   right, left);
	result = csv_emit(program, CSV_OP_ADD, INT4OID, 0, left, right);
	csv_last_instruction(program)->bits = 32;
	return result;
}

/* the scale of a numeric that is not NULL */
static int
scale_of(CsvProgram *program, Node *node)
{
	const CsvRegister *value = &program->registers[register_of(program, node)];

	if (value->lane != CSV_LANE_DECIMAL)
		return csv_fail(program);
	if (!value->scaled)
		return register_of(program, (Node *)
						   makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
									 Int32GetDatum(value->scale), false, true));
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
			return csv_fail(program);
	}
}

/* scale(value); it is NULL for NaN, which is left to the executor */
static int
translate_scale(CsvProgram *program, Node *value)
{
	int			number = register_of(program, value);

	if (IsA(value, Var) && program->registers[number].scaled)
		return csv_emit_shown(program, (Var *) value);
	return emit_choice(program,
					   csv_emit_bool(program, CSV_OP_IS_NOT_NULL, number, -1),
					   scale_of(program, value),
					   translate_null(program, INT4OID, InvalidOid));
}

static int
translate_new(CsvProgram *program, Node *node)
{
	check_stack_depth();
	if (is_column(program, node))
		return csv_emit_column(program, (Var *) node,
							   ((Var *) node)->vartype == BPCHAROID);
	if (IsA(node, CaseTestExpr))
		return program->case_register >= 0 ? program->case_register :
			csv_fail(program);
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

				if (test->argisrow)
					return csv_fail(program);
				return csv_emit_bool(program, test->nulltesttype == IS_NULL ?
									 CSV_OP_IS_NULL : CSV_OP_IS_NOT_NULL,
									 register_of(program, (Node *) test->arg), -1);
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
				translate_function(program, (FuncExpr *) node);
		default:
			return csv_fail(program);
	}
}

/* what of the node is not known to the engine, although its arguments are */
static const char *
reason_of(const CsvProgram *program, Node *node)
{
	if (is_column(program, node))
	{
		AttrNumber	attnum = ((Var *) node)->varattno;

		return attnum <= 0 ? "not a column" :
			program->table->columns[attnum - 1].generated ? "generated column" :
			program->table->columns[attnum - 1].virtual_kind != CSV_VIRTUAL_NONE ?
			"virtual column" : CSV_COLUMN_TYPE;
	}
	if (contain_volatile_functions(node))
		return "volatile";
	switch (nodeTag(node))
	{
		case T_FuncExpr:
			return "function not known to the engine";
		case T_OpExpr:
		case T_DistinctExpr:
		case T_ScalarArrayOpExpr:
			return "operator not known to the engine";
		case T_SubPlan:
		case T_AlternativeSubPlan:
			return "subquery";
		case T_Const:
		case T_Param:
			return "constant";
		default:
			return "expression not known to the engine";
	}
}

/* returns the register that holds the expression */
static int
register_of(CsvProgram *program, Node *node)
{
	int			result;

	if (program->failed)
		return csv_fail(program);
	for (uint32_t i = 0; i < program->nviews; i++)
		if (program->known[i] != NULL && equal(program->known[i], node))
			return (int) i;
	result = translate_new(program, node);
	if (program->failed && program->reason == NULL)
		program->reason = reason_of(program, node);

	/* the value of a CaseTestExpr changes from one CASE to the next */
	if (program->case_register < 0 && !IsA(node, CaseTestExpr) &&
		program->known[result] == NULL)
		program->known[result] = node;
	return result;
}

/*
 * Translate a whole expression; if that fails, remove everything that was added, and
 * return -1.  first: the executor evaluates the expression for each row.
 */
static int
translate_whole(CsvProgram *program, Node *node, bool first)
{
	CsvQuery	before = program->query;
	uint32_t	nviews = program->nviews;
	int			result;

	program->reason = NULL;
	result = first ? register_of(program, node) :
		translate_branch(program, node, false);
	if (!program->failed)
		return result;
	program->failed = false;
	program->query = before;
	program->nviews = nviews;
	program->constant_exprs = list_truncate(program->constant_exprs,
											(int) before.nconstants);
	return -1;
}

/* ---- what the planner adds ---- */

bool
csv_program_add_filter(CsvProgram *program, Expr *clause, bool first)
{
	bool		holds_row = csv_holds_row(program, clause);
	int			result;

	/* a clause without the row is the executor's (a gating Result) */
	program->reason = holds_row ? CSV_TOO_MUCH :
		contain_volatile_functions((Node *) clause) ? "volatile" : "no column";
	if (program->query.nfilters >= CSV_MAX_REGISTERS || !holds_row)
		return false;
	result = translate_whole(program, (Node *) clause, first);
	if (result < 0 || program->registers[result].type != BOOLOID)
		return false;
	csv_program_reserve(program);
	program->filters[program->query.nfilters++] =
		program->registers[result].number;
	program->query.nfilter_instructions = program->query.ninstructions;
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
	int			result;

	if (scale < 0)
		return -1;
	value = rescale(program, value, program->registers[value].scale +
					CSV_PACKED_DIGITS);
	scale = csv_emit(program, CSV_OP_INT_TO_DECIMAL, NUMERICOID, 0, scale, -1);
	result = csv_emit(program, greatest ? CSV_OP_ADD : CSV_OP_SUBTRACT,
					  NUMERICOID, 0, value, scale);
	return program->failed ? -1 : result;
}

int
csv_program_add_key(CsvProgram *program, Expr *key)
{
	CsvRegister *reg;
	CsvKey	   *out;
	int			result;

	program->reason = CSV_TOO_MUCH;
	if (program->query.nkeys >= CSV_MAX_KEYS)
		return -1;
	if ((result = translate_whole(program, (Node *) key, false)) < 0)
		return -1;
	reg = &program->registers[result];
	program->reason = CSV_COLUMN_TYPE;
	if (!csv_register_shown(reg) ||
		(reg->lane == CSV_LANE_TEXT &&
		 !csv_collation_allows(program, exprCollation((Node *) key), true)))
		return -1;
	csv_program_reserve(program);
	out = &program->keys[program->query.nkeys];
	memset(out, 0, sizeof(*out));
	out->lane = reg->lane;
	out->value = reg->number;
	program->query.nkeys++;
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
	for (uint32_t i = 0; i < program->query.naggregates; i++)
		if (memcmp(&program->aggregate[i], &aggregate, sizeof(aggregate)) == 0)
			return (int) i;
	program->reason = CSV_TOO_MUCH;
	if (program->query.naggregates >= CSV_MAX_AGGREGATES)
		return -1;
	csv_program_reserve(program);
	program->aggregate[program->query.naggregates] = aggregate;
	return (int) program->query.naggregates++;
}

bool
csv_program_add_order(CsvProgram *program, Expr *key, Oid sort_operator,
					  bool nulls_first)
{
	CsvOperation operation;
	CsvOrderKey *out;
	int			result;

	program->reason = program->query.norder >= CSV_MAX_KEYS ? CSV_TOO_MUCH :
		"operator not known to the engine";
	if (program->query.norder >= CSV_MAX_KEYS ||
		!comparison_of(sort_operator, &operation) ||
		(operation != CSV_OP_LESS && operation != CSV_OP_GREATER))
		return false;
	if ((result = translate_whole(program, (Node *) key, false)) < 0)
		return false;
	if (program->registers[result].lane == CSV_LANE_TEXT &&
		!csv_collation_allows(program, exprCollation((Node *) key), false))
		return false;
	csv_program_reserve(program);
	out = &program->order[program->query.norder++];
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

	if (!csv_may_raise((Node *) expr, NULL))
		return true;
	program->reason = CSV_TOO_MUCH;
	if (program->query.nchecked >= CSV_MAX_REGISTERS ||
		(result = translate_whole(program, (Node *) expr, false)) < 0)
		return false;
	csv_program_reserve(program);
	program->checked[program->query.nchecked++] =
		program->registers[result].number;
	return true;
}
