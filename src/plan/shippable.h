/*
 * shippable.h
 *		Which expressions an engine can decide exactly, and what they are to it.
 *
 * The planner adds expressions to a CsvProgram, one after the other, and learns
 * whether each can be had.
 */
#ifndef CSV_SHIPPABLE_H
#define CSV_SHIPPABLE_H

#include "program/program.h"

/* for expressions of that query */
extern CsvProgram *csv_program_create(const CsvTable *table, Index relid,
									  const Query *query);

/*
 * The columns that the program may read are the wanted ones; false if one of
 * these must be made in every row, by its input function or of surplus fields, so
 * that no engine can pass over a row.
 */
extern bool csv_columns_shippable(const CsvTable *table,
								  const Bitmapset *wanted);

/*
 * Add a WHERE clause.  False, and nothing is added, where the engine cannot
 * have it.  All filters come before anything else.  first: the executor has no
 * clause to evaluate before this one.
 */
extern bool csv_program_add_filter(CsvProgram *program, Expr *clause,
								   bool first);

/* add a group key; -1 where it cannot be had, else its number */
extern int	csv_program_add_key(CsvProgram *program, Expr *key);

/*
 * Add the argument of an aggregate, or its FILTER: the register, or -1.
 */
extern int	csv_program_add_value(CsvProgram *program, Expr *value);
/*
 * Can every value of the register be had again from its lane (of a scaled one, with
 * its scale)?  If not it can be summed up or compared, but not be shown itself.
 */
extern bool csv_register_shown(const CsvRegister *reg);

/*
 * The value of an expression, which is in a scaled register, and its scale in one
 * (CSV_PACKED_DIGITS).  The register, or -1.
 */
extern int	csv_program_add_packed(CsvProgram *program, int value, Expr *expr,
								   bool greatest);

/* can the engine tell whether texts of this collation are equal, or order them? */
extern bool csv_collation_allows(Oid collation, bool equality);

/*
 * Add what is kept for an aggregate, if it is not there already; returns its
 * number.  Registers may be -1.
 */
extern int	csv_program_add_aggregate(CsvProgram *program,
									  CsvAggregateKind kind, int argument,
									  int filter);

/*
 * Add a key of an order, by its < or > operator; false where the engine cannot
 * order by it as PostgreSQL would.
 */
extern bool csv_program_add_order(CsvProgram *program, Expr *key,
								  Oid sort_operator, bool nulls_first);

/*
 * Let an expression be as it would be if the executor evaluated it for each
 * row, though it gets few of them: one that may raise an ERROR must be
 * one of which the engine knows where it does.
 */
extern bool csv_program_check(CsvProgram *program, Expr *expr);

#endif							/* CSV_SHIPPABLE_H */
