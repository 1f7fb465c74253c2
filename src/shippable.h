/*
 * shippable.h
 *		Which expressions an engine can decide exactly, and what they are to it.
 *
 * A CsvProgram is a CsvQuery in the making: the planner adds expressions to it,
 * one after the other, and learns whether each can be had.  In a plan it is
 * stored as a node (csv_program_to_node).  Where the plan is run, the values of
 * the constants are known, and csv_program_query() makes the query of it.
 *
 * Constants are all expressions that do not hang on the table's row: literals,
 * parameters, values of an outer relation.  They are kept as a list of
 * expressions, which goes through the planner's last steps as the plan's
 * fdw_exprs.
 */
#ifndef CSV_SHIPPABLE_H
#define CSV_SHIPPABLE_H

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "option.h"
#include "query/query.h"

typedef struct CsvProgram CsvProgram;

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
} CsvRegister;

extern CsvProgram *csv_program_create(const CsvTable *table, Index relid);

/*
 * The columns that the program may read are the wanted ones; false if one of
 * these must be made by its input function in every row, or is virtual, so
 * that no engine can pass over a row.
 */
extern bool csv_columns_shippable(const CsvTable *table,
								  const Bitmapset *wanted);

/*
 * Add a WHERE clause.  False, and nothing is added, where the engine cannot
 * have it.  All filters come before anything else.
 */
extern bool csv_program_add_filter(CsvProgram *program, Expr *clause);

/* add a group key; -1 where it cannot be had, else its number */
extern int	csv_program_add_key(CsvProgram *program, Expr *key);

/*
 * Add the argument of an aggregate, or its FILTER: the register, or -1.
 */
extern int	csv_program_add_value(CsvProgram *program, Expr *value);
extern const CsvRegister *csv_program_register(const CsvProgram *program,
											   int number);

/*
 * Add what is kept for an aggregate, if it is not there already; returns its
 * number.  Registers may be -1.
 */
extern int	csv_program_add_aggregate(CsvProgram *program,
									  CsvAggregateKind kind, int argument,
									  int filter);

/* without keys and aggregates the answer is rows */
extern void csv_program_set_aggregates(CsvProgram *program);

/* does it read a column at all? */
extern bool csv_program_has_columns(const CsvProgram *program);

/* to and from a plan; the constants are stored apart */
extern Node *csv_program_to_node(const CsvProgram *program);
extern List *csv_program_constants(const CsvProgram *program);
extern CsvProgram *csv_program_from_node(const Node *node);

/*
 * The query, with the constants' values (ExprStates in the order of
 * csv_program_constants).  It lives in the current memory context; its columns
 * are attribute numbers, to be replaced by csv_program_lay_out().  NULL where a
 * value is such that the engine can decide nothing (NaN as a numeric, say).
 */
extern CsvQuery *csv_program_query(const CsvProgram *program,
								   List *constants, ExprContext *econtext);

/* replace attribute numbers by indexes into the layout's columns */
extern void csv_program_lay_out(const CsvProgram *program, CsvQuery *query,
								const CsvColumn *columns, uint32_t ncolumns);

/* ---- between datums and lanes ---- */

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

/* a numeric of so many words, times 10^-scale */
extern Datum csv_numeric_of_wide(const CsvWide *wide, int scale);

#endif							/* CSV_SHIPPABLE_H */
