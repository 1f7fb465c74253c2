/*
 * shippable.h
 *		Translates expressions that an engine can decide exactly.
 *
 * The planner adds expressions to a CsvProgram, one after the other, and learns
 * whether the engine can have each of them.
 */
#ifndef CSV_SHIPPABLE_H
#define CSV_SHIPPABLE_H

#include "program/program.h"

/*
 * For expressions of that query.  filters: RestrictInfos, which were in a program of
 * it before.
 */
extern CsvProgram *csv_program_create(const CsvTable *table, Index relid,
									  const Query *query, const List *filters);

/*
 * May the program read the wanted columns?  False if a column must be made in every
 * row, by its input function or from surplus fields, so that no engine can skip a row.
 */
extern bool csv_columns_shippable(const CsvTable *table,
								  const Bitmapset *wanted);

/*
 * Add a WHERE clause.  Returns false and adds nothing if the engine cannot have it.
 * All filters come before anything else.  first: the executor evaluates no clause
 * before this clause.
 */
extern bool csv_program_add_filter(CsvProgram *program, Expr *clause,
								   bool first);

/* add a group key; returns its register, or -1 if the engine cannot have it */
extern int	csv_program_add_key(CsvProgram *program, Expr *key);

/* Add the argument of an aggregate, or its FILTER.  Returns the register, or -1. */
extern int	csv_program_add_value(CsvProgram *program, Expr *value);
/*
 * Can every value of the register be restored from its lane (with its scale, if the
 * register is scaled)?  If not, the values can be summed up or compared, but not
 * shown.
 */
extern bool csv_register_shown(const CsvRegister *reg);

/*
 * Put the value of an expression, which is in a scaled register, and its scale into
 * one register (CSV_PACKED_DIGITS).  Returns that register, or -1.
 */
extern int	csv_program_add_packed(CsvProgram *program, int value, Expr *expr,
								   bool greatest);

/* can the engine tell whether texts of this collation are equal, or order them? */
extern bool csv_collation_allows(Oid collation, bool equality);

/*
 * Add the state that is kept for an aggregate, if it is not there already, and return
 * its number.  Registers may be -1.
 */
extern int	csv_program_add_aggregate(CsvProgram *program,
									  CsvAggregateKind kind, int argument,
									  int filter);

/*
 * Add a key of an order, by its < or > operator.  Returns false if the engine cannot
 * order by it as PostgreSQL would.
 */
extern bool csv_program_add_order(CsvProgram *program, Expr *key,
								  Oid sort_operator, bool nulls_first);

/*
 * Add an expression that the executor will evaluate only for the rows that it gets,
 * although its ERRORs must be the ERRORs of all rows.  So if it may raise an ERROR,
 * the engine must know for which rows; otherwise returns false.
 */
extern bool csv_program_check(CsvProgram *program, Expr *expr);

#endif							/* CSV_SHIPPABLE_H */
