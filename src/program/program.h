/*
 * program.h
 *		A query as it is stored in a plan, and as it is run.
 *
 * The planner adds expressions to a CsvProgram (shippable.h), and stores it in
 * the plan as a node (csv_program_to_node).  When the plan is run, the values
 * of the constants are known, and csv_program_query() makes a CsvQuery of it.
 *
 * Constants are all expressions that do not depend on the table's row:
 * literals, parameters, values of an outer relation.  Their expressions are a list
 * that goes through the planner's last steps as the plan's fdw_exprs.
 */
#ifndef CSV_PROGRAM_H
#define CSV_PROGRAM_H

#include "nodes/execnodes.h"

#include "query/query.h"
#include "table/option.h"

/*
 * A register, and the type of its values.  typmod tells how a value is shown again: a
 * char(n) is padded to n.  A numeric is shown with `scale`.
 */
typedef struct CsvRegister
{
	uint16_t	number;			/* in the query */
	Oid			type;
	int32		typmod;
	uint8_t		lane;			/* CsvLane */
	int16		scale;			/* of DECIMAL */
	int16		digits;			/* of DECIMAL: no value has more */
	bool		scaled;			/* of DECIMAL: each value has its own scale, which the
								 * lane does not know */
} CsvRegister;

/* of a RESCALE in a plan: operand is the constant whose scale decides */
#define CSV_FLAG_DYNAMIC	0x80

/* a constant of a plan; its expression has the same number in constant_exprs */
typedef struct CsvProgramConstant
{
	CsvRegister reg;			/* the lane of its values; `number` is not used */
	bool		dynamic;		/* decimals are compared with it: its scale may be one
								 * more */
	bool		list;			/* an array; the constants are its elements */
	bool		certain;		/* the first row needs it, whatever the rows are */
} CsvProgramConstant;

typedef struct CsvProgram
{
	const CsvTable *table;
	Index		relid;
	uint32_t	nviews;			/* registers; a register with two types counts twice */
	CsvQuery	query;			/* the counts of everything; without pointers */

	/* arrays, each with room for this many elements; see csv_program_reserve() */
	uint32_t	room;
	CsvInstruction *instructions;
	CsvProgramConstant *constants;
	CsvRegister *registers;		/* and one more: see csv_fail() */
	uint16_t   *filters;
	CsvKey	   *keys;
	CsvAggregate *aggregate;
	CsvOrderKey *order;
	uint16_t   *checked;
	Node	  **known;			/* of each register: the expression that is in it;
								 * NULL: not to be found again */

	List	   *constant_exprs;

	bool		failed;			/* the expression cannot be translated */
	const char *reason;			/* why the last one could not */

	int16		scaled_digits;	/* digits behind the point, for columns whose values
								 * have their own scales */
	int			case_register;	/* register of CaseTestExpr, or -1 */
	int			nconditions;	/* conditions that a row must meet before the next
								 * expression is evaluated */
} CsvProgram;

/*
 * Make room for one more element of each array.  Pointers to elements remain readable,
 * in the old arrays.
 */
extern void csv_program_reserve(CsvProgram *program);

/* scale() of a numeric, as an expression */
extern Expr *csv_scale_function(Expr *value);

/* to and from a plan, except constant_exprs, which are stored apart */
extern Node *csv_program_to_node(CsvProgram *program);
extern CsvProgram *csv_program_from_node(const Node *node);

/* how much a query can decide */
typedef enum CsvDecidable
{
	CSV_DECIDES_ALL,
	CSV_DECIDES_LATER,			/* rows that need a constant which is not known yet are
								 * undecided */
	CSV_DECIDES_NOTHING			/* a constant has no lane: the executor evaluates all
								 * rows */
} CsvDecidable;

/*
 * May a constant's expression have another value in the next scan of the same
 * execution?
 */
extern bool csv_expression_varies(Node *expr);

/* the distinct Params of an expression, or of a list of expressions */
extern List *csv_expression_params(Node *expr);

/* the constants whose values a query has */
typedef enum CsvKnown
{
	CSV_KNOWS_NONE,				/* there are no rows, and no constant is evaluated */
	CSV_KNOWS_LASTING,			/* constants that no other node of the plan sets: they
								 * last from the first scan to the last */
	CSV_KNOWS_ALL
} CsvKnown;

/*
 * The query, with the constants' values (ExprStates in the order of
 * constant_exprs).  The query is in the current memory context.  Its columns are
 * attribute numbers: csv_query_over() makes a query that can be run.  The caller may
 * set a limit.
 *
 * A subquery that has not run may raise an ERROR.  So its value is not used, unless a
 * row is certain to need it.  The executor runs the subquery for the first row that
 * needs it.  From then on csv_program_is_ready() is true, and the query must be made
 * again.
 *
 * With lasting values only, filters that need other values come last.  Rows that pass
 * the filters before them are undecided.
 */
extern CsvQuery *csv_program_query(const CsvProgram *program,
								   List *constants, ExprContext *econtext,
								   CsvKnown known, CsvDecidable *decidable);
extern bool csv_program_is_ready(const CsvProgram *program, List *constants,
								 ExprContext *econtext);

/*
 * The value of an attribute in all rows of a file (csv_is_of_file()); undecided
 * if its type refuses the value.
 */
typedef void (*CsvFileValueFn) (void *arg, AttrNumber attnum, CsvValue *value);

/*
 * The same query over columns of a layout: with their indexes instead of
 * attribute numbers, and with constants instead of attributes that it lacks.
 * It is one piece of memory, which pfree() frees, in the current memory
 * context.  The two queries share parts.
 */
extern CsvQuery *csv_query_over(const CsvQuery *query,
								const CsvColumn *columns, uint32_t ncolumns,
								CsvFileValueFn file_value, void *arg);

/* ---- between datums and lanes ---- */

/*
 * A numeric as a decimal of this scale.  False if no decimal equals the numeric: then
 * *value is the greatest decimal below it, or +-CSV_DECIMAL_BEYOND if the numeric is
 * beyond all decimals, as NaN is.
 */
#define CSV_DECIMAL_BEYOND	((CsvInt128) (~(CsvUint128) 0 >> 1))
extern bool csv_decimal_of_numeric(Datum datum, int scale, CsvInt128 *value);

/*
 * A datum as a value of the register's lane.  False if the lane has no such value: a
 * numeric is not finite, or does not fit.  TEXT points into the datum, or into a copy
 * in the current memory context.
 */
extern bool csv_value_of_datum(const CsvRegister *reg, Datum datum,
							   CsvValue *value);

/* a value, which is not NULL, as a datum in the current memory context */
extern Datum csv_datum_of_value(const CsvRegister *reg,
								const CsvValue *value);

/*
 * An extreme of numerics with their own scales is 100 times the value, plus the scale
 * (MAX) or minus the scale (MIN).  So the greatest scale wins among equal values.
 */
#define CSV_PACKED_DIGITS	2

/* value x 10^-scale as a numeric, in `room` */
#define CSV_SHORT_NUMERIC_BYTES	32
#define CSV_SHORT_NUMERIC_SCALE	63	/* at most */
extern Datum csv_short_numeric(int64_t value, int scale, char *room);

/*
 * wide x 10^-scale as a numeric.  A short numeric is in `room`; a longer numeric, or
 * any if `room` is NULL, is in the current memory context.
 */
extern Datum csv_numeric_of_wide(CsvWideSum wide, int scale, void *room);

/* a numeric with another scale, which its value fits */
extern Datum csv_numeric_shown(Datum numeric, int scale, int shown);

/* decimal x 10^-scale as a numeric; room: as above */
extern Datum csv_numeric_of_decimal(CsvInt128 decimal, int scale, void *room);

#endif							/* CSV_PROGRAM_H */
