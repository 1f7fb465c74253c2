/*
 * emit.h
 *		Registers, columns and constants of a program, as instructions.
 *
 * A function that returns a register returns -1 where there can be none.
 */
#ifndef CSV_EMIT_H
#define CSV_EMIT_H

#include "program/program.h"

/* ---- types ---- */

/* false: no lane holds values of the type */
extern bool csv_lane_of_type(Oid type, uint8_t *lane);
extern bool csv_is_integer_type(Oid type);
extern bool csv_is_float_type(Oid type);

/* may two values of these types be compared lane by lane? */
extern bool csv_types_compare(Oid left, Oid right);

/* ---- registers and instructions ---- */

extern int	csv_new_register(CsvProgram *program, Oid type, int32 typmod,
							 uint8_t lane, int16 scale);

/* the same values under another type */
extern int	csv_seen_as(CsvProgram *program, int a, Oid type);

/* operands of -1 are none */
extern CsvInstruction *csv_emit(CsvProgram *program, CsvOperation operation,
								int result, int a, int b);

/* a BOOL of one or two operands; -1 passes through */
extern int	csv_emit_bool(CsvProgram *program, CsvOperation operation, int a,
						  int b, bool has_b);

/* trim: without the blanks at its end */
extern int	csv_emit_column(CsvProgram *program, const Var *var, bool trim);

/* of a column that csv_emit_column() made a scaled register of: scale() of it */
extern int	csv_emit_shown(CsvProgram *program, const Var *var);

/* ---- constants ---- */

/*
 * Has it one value for all rows of the table, to be had without them?  What may
 * raise an ERROR is to be evaluated only if some row gets there.
 */
extern bool csv_is_constant_node(const CsvProgram *program, Node *node);

/*
 * Is something in it called for collatable values without a collation?  Then it
 * may raise an ERROR, leakproof as it may be.  An expression_tree_walker.
 */
extern bool csv_lacks_collation(Node *node, void *context);

/* may it raise an ERROR? */
extern bool csv_may_raise(Node *node);

/* as in CsvProgramConstant; its number, or -1 */
extern int	csv_add_constant(CsvProgram *program, Node *node, Oid type,
							 uint8_t lane, int scale, bool dynamic, bool list);
extern int	csv_emit_constant(CsvProgram *program, Node *node, Oid type,
							  uint8_t lane, int scale, bool dynamic);

/* a constant whose scale, if it is numeric, is known now */
extern int	csv_emit_known_constant(CsvProgram *program, Node *node);

/* does the expression use anything of the table's rows? */
extern bool csv_holds_row(const CsvProgram *program, Expr *expr);

/*
 * If not: is it the same for all of them, and raises no ERROR, so that nobody can
 * tell how often it is evaluated?
 */
extern bool csv_is_constant(CsvProgram *program, Expr *expr);

#endif							/* CSV_EMIT_H */
