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
 * program->reason says why an expression cannot be added: these reasons, and
 * others
 */
#define CSV_TOO_MUCH		"too much for one query of the engine"
#define CSV_COLUMN_TYPE		"column's type"

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
extern bool csv_collation_allows(CsvProgram *program, Oid collation,
								 bool equality);

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

/* ---- emit.c: registers, columns and constants as instructions ---- */

/*
 * If an expression cannot be translated, csv_fail() notes that in the program.
 * Functions go on with a register that nothing reads, and in the end everything that
 * belongs to the expression is dropped.
 */

/* the CsvLane of a type's values; -1: no lane holds them */
extern int	csv_lane_of_type(Oid type);
extern bool csv_is_integer_type(Oid type);

/* may two values of these types be compared lane by lane? */
extern bool csv_types_compare(Oid left, Oid right);

/* returns the register that nothing reads */
extern int	csv_fail(CsvProgram *program);

/* the same values with another type */
extern int	csv_seen_as(CsvProgram *program, int a, Oid type);

/* returns a new register with the result; an operand of -1 is not used */
extern int	csv_emit(CsvProgram *program, CsvOperation operation, Oid type,
					 int scale, int a, int b);
extern int	csv_emit_bool(CsvProgram *program, CsvOperation operation, int a,
						  int b);
extern CsvInstruction *csv_last_instruction(CsvProgram *program);

/* trim: without the blanks at its end */
extern int	csv_emit_column(CsvProgram *program, const Var *var, bool trim);

/* scale() of a column for which csv_emit_column() made a scaled register */
extern int	csv_emit_shown(CsvProgram *program, const Var *var);

/*
 * Has the expression one value for all rows of the table, which can be computed
 * without them?  If it is evaluated only for some rows, it must not raise an ERROR,
 * since perhaps no row gets there.
 */
extern bool csv_is_constant_node(const CsvProgram *program, Node *node);

/*
 * Does it call a function for collatable values without a collation?  Then it may
 * raise an ERROR, even if it is leakproof.  An expression_tree_walker.
 */
extern bool csv_lacks_collation(Node *node, void *context);

/*
 * May it raise an ERROR?  The subquery behind a Param does not count.  An
 * expression_tree_walker, too.
 */
extern bool csv_may_raise(Node *node, void *context);

/* members of the CsvProgramConstant; returns its number */
extern uint32_t csv_add_constant(CsvProgram *program, Node *node, Oid type,
								 int scale, bool dynamic, bool list);
extern int	csv_emit_constant(CsvProgram *program, Node *node, Oid type,
							  int scale, bool dynamic);

/* a constant; if it is numeric, its scale must be known now */
extern int	csv_emit_known_constant(CsvProgram *program, Node *node);

/* does the expression use anything of the table's rows? */
extern bool csv_holds_row(const CsvProgram *program, Expr *expr);

/*
 * If not: is it the same for all rows, and raises no ERROR, so that it does not matter
 * how often it is evaluated?
 */
extern bool csv_is_constant(CsvProgram *program, Expr *expr);

/* ---- moments.c: parts of dates and times ---- */

/* translates a node: shippable.c's function */
typedef int (*CsvRegisterFn) (CsvProgram *program, Node *node);

/*
 * EXTRACT, date_part() or date_trunc(); anything else fails.  type: the
 * function's, or the integer that a cast makes of a part.
 */
extern int	csv_translate_moment(CsvProgram *program, FuncExpr *function,
								 Oid type, CsvRegisterFn register_of);

/* how many values may such a key have, approximately?  0: not known */
extern double csv_most_values(const Node *key);

#endif							/* CSV_SHIPPABLE_H */
