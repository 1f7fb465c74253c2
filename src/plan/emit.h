/*
 * emit.h
 *		Emits registers, columns and constants of a program as instructions.
 *
 * If an expression cannot be translated, csv_fail() notes that in the program.
 * Functions go on with a register that nothing reads, and in the end everything that
 * belongs to the expression is dropped.
 */
#ifndef CSV_EMIT_H
#define CSV_EMIT_H

#include "program/program.h"

/* ---- types ---- */

/* the CsvLane of a type's values; -1: no lane holds them */
extern int	csv_lane_of_type(Oid type);
extern bool csv_is_integer_type(Oid type);

/* may two values of these types be compared lane by lane? */
extern bool csv_types_compare(Oid left, Oid right);

/* ---- registers and instructions ---- */

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

/* ---- constants ---- */

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

/* may it raise an ERROR? */
extern bool csv_may_raise(Node *node);

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

#endif							/* CSV_EMIT_H */
