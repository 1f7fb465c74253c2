/*
 * program.h
 *		A query as it is stored in a plan, and as it is run.
 *
 * The planner adds expressions to a CsvProgram (shippable.h), and stores it in
 * the plan as a node (csv_program_to_node).  When the plan is run, the values
 * of the constants are known, and csv_program_query() makes a CsvQuery of it.
 *
 * Constants are all expressions that do not depend on the table's row:
 * literals, parameters, values of an outer relation.  They are a list of
 * expressions, which goes through the planner's last steps as the plan's
 * fdw_exprs.
 */
#ifndef CSV_PROGRAM_H
#define CSV_PROGRAM_H

#include "nodes/execnodes.h"

#include "query/query.h"
#include "table/option.h"

/*
 * What a register holds, seen as a type.  typmod says how a value is shown
 * again: the scale of a numeric is `scale`, a char(n) is padded to n.
 */
typedef struct CsvRegister
{
	uint16_t	number;			/* in the query */
	Oid			type;
	int32		typmod;
	uint8_t		lane;			/* CsvLane */
	int16		scale;			/* of DECIMAL */
	int16		digits;			/* of DECIMAL: no value has more */
	bool		scaled;			/* of DECIMAL: its values have scales of their
								 * own, which the lane does not know */
} CsvRegister;

/* of a RESCALE in a plan: operand is the constant whose scale decides */
#define CSV_FLAG_DYNAMIC	0x80

/* a constant of a plan; its expression is in the list of that number */
typedef struct CsvProgramConstant
{
	Oid			type;
	int32		typmod;
	uint8_t		lane;
	bool		dynamic;		/* is compared with: its scale may be one more */
	bool		list;			/* an array; the constants are its elements */
	bool		certain;		/* whatever the rows, the first one gets there */
	int16		scale;
} CsvProgramConstant;

/* what can be stored in a plan as it is */
typedef struct CsvProgramCounts
{
	uint32_t	nviews;			/* registers, some of them under two types */
	uint32_t	nregisters;
	uint32_t	ninstructions;
	uint32_t	nfilter_instructions;
	uint32_t	nconstants;
	uint32_t	nfilters;
	uint32_t	nkeys;
	uint32_t	naggregates;
	uint32_t	norder;
	uint32_t	nchecked;
	bool		aggregates;
} CsvProgramCounts;

typedef struct CsvProgram
{
	const CsvTable *table;
	Index		relid;
	CsvProgramCounts n;
	CsvInstruction *instructions;
	uint32_t	capacity;
	CsvProgramConstant constants[CSV_MAX_REGISTERS];
	CsvRegister registers[CSV_MAX_REGISTERS];
	uint16_t	filters[CSV_MAX_REGISTERS];
	CsvKey		keys[CSV_MAX_KEYS];
	CsvAggregate aggregate[CSV_MAX_AGGREGATES];
	CsvOrderKey order[CSV_MAX_KEYS];
	uint16_t	checked[CSV_MAX_REGISTERS];

	List	   *constant_exprs;

	/* expressions that are in a register already */
	List	   *known;
	List	   *known_registers;	/* integers */
	int16		scaled_digits;	/* behind the point, of columns that have a scale
								 * in each value */
	int			case_register;	/* what CaseTestExpr stands for, or -1 */
	int			nconditions;	/* that a row has to meet for what comes next to
								 * be evaluated */
} CsvProgram;

/* scale(), of a numeric */
extern Expr *csv_scale_function(Expr *value);

/* to and from a plan, but for constant_exprs, which are stored apart */
extern Node *csv_program_to_node(CsvProgram *program);
extern CsvProgram *csv_program_from_node(const Node *node);

/* how much a query can decide */
typedef enum CsvDecidable
{
	CSV_DECIDES_ALL,
	CSV_DECIDES_LATER,			/* rows that get to a constant which is not
								 * known yet are undecided */
	CSV_DECIDES_NOTHING			/* a constant has no lane: all rows are the
								 * executor's */
} CsvDecidable;

/*
 * May a constant's expression have another value in the next scan of the same
 * execution?
 */
extern bool csv_expression_varies(Node *expr);

/* which values of constants a query is made with */
typedef enum CsvKnown
{
	CSV_KNOWS_NONE,				/* there are no rows, nor is any asked for */
	CSV_KNOWS_LASTING,			/* those that no other node of the plan sets: they
								 * last from the first scan to the last */
	CSV_KNOWS_ALL
} CsvKnown;

/*
 * The query, with the constants' values (ExprStates in the order of
 * constant_exprs).  It lives in the current memory context; its columns
 * are attribute numbers: csv_query_over() makes one of it that can be run.  It has
 * no limit: that is the caller's to set.
 *
 * The value of a subquery that has not run is not asked for, unless a row is
 * certain to need it: the subquery may raise an ERROR.  The executor runs it
 * for the first row that gets there; from then on csv_program_is_ready() holds,
 * and the query is to be made anew.
 *
 * With lasting values only, filters that need others come after those that do
 * not: all rows that pass the latter are undecided.
 */
extern CsvQuery *csv_program_query(const CsvProgram *program,
								   List *constants, ExprContext *econtext,
								   CsvKnown known, CsvDecidable *decidable);
extern bool csv_program_is_ready(const CsvProgram *program, List *constants,
								 ExprContext *econtext);

/*
 * May a decimal get too long for its lane, or have too many digits behind the
 * point?  Its row is undecided then, and comes after others, though there is no
 * ERROR.
 */
extern bool csv_program_leaves_lanes(const CsvProgram *program,
									 const CsvQuery *query);

/*
 * The same query over columns of a layout: indexes of these instead of attribute
 * numbers.  One piece of the current memory context, to be freed as such; has parts
 * in common with the other.
 */
extern CsvQuery *csv_query_over(const CsvQuery *query,
								const CsvColumn *columns, uint32_t ncolumns);

/* ---- between datums and lanes ---- */

/*
 * The decimal of this scale that a numeric is.  False if there is none: then the
 * greatest below it, or, beyond all of them, as NaN is, +-CSV_DECIMAL_BEYOND.
 */
#define CSV_DECIMAL_BEYOND	((CsvInt128) (~(CsvUint128) 0 >> 1))
extern bool csv_decimal_of_numeric(Datum datum, int scale, CsvInt128 *value);

/*
 * A datum as a lane of the register's kind.  False if it has no such: a
 * numeric that is not finite, or does not fit.  TEXT points into the datum, or
 * into a copy in the current memory context.
 */
extern bool csv_value_of_datum(const CsvRegister *reg, Datum datum,
							   CsvValue *value);

/* and back, in the current memory context; the value is not NULL */
extern Datum csv_datum_of_value(const CsvRegister *reg,
								const CsvValue *value);

/*
 * An extreme of numerics with scales of their own is 100 times the value, plus the
 * scale, or (the least) minus the scale: of equal values, the greatest scale wins.
 */
#define CSV_PACKED_DIGITS	2

/* a numeric of 64 bits, times 10^-scale, in `room` */
#define CSV_SHORT_NUMERIC_BYTES	32
#define CSV_SHORT_NUMERIC_SCALE	63	/* at most */
extern Datum csv_short_numeric(int64_t value, int scale, char *room);

/*
 * A numeric of so many words, times 10^-scale: if it is a short one, in `room`;
 * else, or if there is none (NULL), in the current memory context.
 */
extern Datum csv_numeric_of_wide(CsvWideSum wide, int scale, void *room);

/* a numeric of one scale with another, which its value fits */
extern Datum csv_numeric_shown(Datum numeric, int scale, int shown);

/* a numeric of a DECIMAL lane */
extern Datum csv_numeric_of_decimal(CsvInt128 decimal, int scale, void *room);

#endif							/* CSV_PROGRAM_H */
