/*
 * moments.c
 *		Translates parts of dates, timestamps and times.
 *
 * Such a part is made of days, by CSV_OP_DATE_PART, or of microseconds since
 * midnight, by divisions.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

#include "plan/shippable.h"

/* a unit of EXTRACT, date_part() and date_trunc() */
typedef struct Unit
{
	const char *name;
	int			part;			/* CsvDatePart, or -1 */
	int			since;			/* CsvDatePart that date_trunc() goes back, or -1 */
	int64		divisor;		/* of microseconds, or 0 */
} Unit;

static const Unit units[] = {
	{"year", CSV_PART_YEAR, CSV_PART_DAY_OF_YEAR, 0},
	{"quarter", CSV_PART_QUARTER, CSV_PART_DAY_OF_QUARTER, 0},
	{"month", CSV_PART_MONTH, CSV_PART_DAY, 0},
	{"week", CSV_PART_WEEK, CSV_PART_ISO_DAY_OF_WEEK, 0},
	{"day", CSV_PART_DAY, -1, USECS_PER_DAY},
	{"hour", -1, -1, USECS_PER_HOUR},
	{"minute", -1, -1, USECS_PER_MINUTE},
	{"second", -1, -1, USECS_PER_SEC},
	{"dow", CSV_PART_DAY_OF_WEEK, -1, 0},
	{"isodow", CSV_PART_ISO_DAY_OF_WEEK, -1, 0},
	{"doy", CSV_PART_DAY_OF_YEAR, -1, 0},
	{"isoyear", CSV_PART_ISO_YEAR, -1, 0},
	{"epoch", CSV_PART_EPOCH, -1, 0}
};

/* the unit that the first argument names; NULL: none that is known here */
static const Unit *
unit_of(const FuncExpr *function)
{
	const Const *name = linitial(function->args);
	const char *word;

	if (!IsA(name, Const) || name->constisnull)
		return NULL;
	word = TextDatumGetCString(name->constvalue);
	for (int i = 0; i < lengthof(units); i++)
		if (pg_strcasecmp(units[i].name, word) == 0)
			return &units[i];
	return NULL;
}

/* the days or the time of a moment, by a cast if it does not have the type */
static int
emit_half(CsvProgram *program, Node *moment, Oid type,
		  CsvRegisterFn register_of)
{
	if (type == DATEOID && IsA(moment, FuncExpr) &&
		((FuncExpr *) moment)->funcid == F_TIMESTAMP_DATE)
		moment = linitial(((FuncExpr *) moment)->args);
	if (exprType(moment) != type)
		moment = (Node *) makeFuncExpr(type == DATEOID ? F_DATE_TIMESTAMP :
									   F_TIME_TIMESTAMP, type,
									   list_make1(moment), InvalidOid,
									   InvalidOid, COERCE_EXPLICIT_CAST);
	return register_of(program, moment);
}

static int
emit_by(CsvProgram *program, CsvOperation operation, int a, int64 b)
{
	Const	   *constant = makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
									 Int64GetDatum(b), false, FLOAT8PASSBYVAL);

	return csv_emit(program, operation, INT8OID, 0, a,
					csv_emit_known_constant(program, (Node *) constant));
}

/* what EXTRACT or date_part() has, times 10^scale, as an integer */
static int
translate_part(CsvProgram *program, FuncExpr *function,
			   CsvRegisterFn register_of, int *scale)
{
	Node	   *moment = llast(function->args);
	Oid			type = exprType(moment);
	const Unit *unit = unit_of(function);
	bool		is_epoch = unit != NULL && unit->part == CSV_PART_EPOCH;
	int			days = -1;
	int			time;

	if (unit != NULL && unit->part >= 0 && type != TIMEOID)
		days = emit_by(program, CSV_OP_DATE_PART,
					   emit_half(program, moment, DATEOID, register_of),
					   unit->part);
	if (days >= 0 && (type == DATEOID || !is_epoch))
		return days;
	if (unit == NULL || type == DATEOID || (unit->part >= 0 && !is_epoch))
		return csv_fail(program);
	time = emit_half(program, moment, TIMEOID, register_of);
	*scale = is_epoch || unit->divisor == USECS_PER_SEC ? 6 : 0;
	if (is_epoch)
		return days < 0 ? time :
			csv_emit(program, CSV_OP_ADD, INT8OID, 0, time,
					 emit_by(program, CSV_OP_MULTIPLY, days, USECS_PER_SEC));
	if (unit->divisor < USECS_PER_HOUR)
		time = emit_by(program, CSV_OP_MODULO, time, unit->divisor * 60);
	return *scale > 0 ? time :
		emit_by(program, CSV_OP_DIVIDE, time, unit->divisor);
}

static int
translate_trunc(CsvProgram *program, FuncExpr *function,
				CsvRegisterFn register_of)
{
	Node	   *moment = llast(function->args);
	const Unit *unit = unit_of(function);
	int			days;
	int			since;

	if (unit != NULL && unit->divisor > 0)
	{
		since = emit_half(program, moment, TIMEOID, register_of);
		since = emit_by(program, CSV_OP_MODULO, since, unit->divisor);
		return csv_emit(program, CSV_OP_SUBTRACT, TIMESTAMPOID, 0,
						register_of(program, moment), since);
	}
	if (unit == NULL || unit->since < 0)
		return csv_fail(program);
	days = emit_half(program, moment, DATEOID, register_of);
	since = emit_by(program, CSV_OP_DATE_PART, days, unit->since);
	days = emit_by(program, CSV_OP_ADD, days, 1);
	days = csv_emit(program, CSV_OP_SUBTRACT, INT8OID, 0, days, since);
	return csv_emit(program, CSV_OP_DATE_TO_TIMESTAMP, TIMESTAMPOID, 0, days,
					-1);
}

static bool
is_part(const FuncExpr *function)
{
	return function->funcid == F_EXTRACT_TEXT_DATE ||
		function->funcid == F_EXTRACT_TEXT_TIME ||
		function->funcid == F_EXTRACT_TEXT_TIMESTAMP ||
		function->funcid == F_DATE_PART_TEXT_TIME ||
		function->funcid == F_DATE_PART_TEXT_TIMESTAMP;
}

int
csv_translate_moment(CsvProgram *program, FuncExpr *function, Oid type,
					 CsvRegisterFn register_of)
{
	int			scale = 0;
	int			result;

	if (function->funcid == F_DATE_TRUNC_TEXT_TIMESTAMP)
		return translate_trunc(program, function, register_of);
	if (!is_part(function))
		return csv_fail(program);
	result = translate_part(program, function, register_of, &scale);
	/* date_part() rounds seconds twice */
	if (scale > 0 && type != NUMERICOID)
		return csv_fail(program);
	if (csv_is_integer_type(type))
	{
		result = emit_by(program, CSV_OP_ADD, result, 0);
		csv_last_instruction(program)->bits = type == INT4OID ? 32 : 64;
		return csv_seen_as(program, result, type);
	}
	result = csv_emit(program, type == NUMERICOID ? CSV_OP_INT_TO_DECIMAL :
					  CSV_OP_INT_TO_FLOAT, type, scale, result, -1);
	program->registers[result].digits = scale == 0 ? 13 : 19;
	return result;
}

double
csv_most_values(const Node *key)
{
	const FuncExpr *function = (const FuncExpr *) key;
	bool		truncates = IsA(key, FuncExpr) &&
		function->funcid == F_DATE_TRUNC_TEXT_TIMESTAMP;
	const Unit *unit = truncates || (IsA(key, FuncExpr) && is_part(function)) ?
		unit_of(function) : NULL;

	if (unit == NULL || unit->part == CSV_PART_EPOCH ||
		unit->divisor == USECS_PER_SEC)
		return 0;
	return !truncates ? 366 : unit->part >= 0 ? 10000 : 0;
}
