/*
 * block.h
 *		Shared parts of the CPU's evaluation: evaluate.c (blocks and batches),
 *		registers.c (columns and constants), operations.c (instructions).
 */
#ifndef CSV_BLOCK_H
#define CSV_BLOCK_H

#include "best.h"
#include "evaluator.h"
#include "groups.h"
#include "operate.h"

#define CSV_MOST_DECIMAL	(csv_power_of_ten(CSV_MAX_DECIMAL_DIGITS) - 1)

/*
 * Runs the statement for each row i that counts, and perhaps for other rows.  It is
 * compiled twice, so that the first loop reads no list.
 */
#define FOR_ROWS(evaluator, i, statement) \
	do \
	{ \
		if ((evaluator)->dense) \
		{ \
			for (uint32_t i = 0; i < (evaluator)->nrows; i++) \
			{ \
				statement \
			} \
		} \
		else \
		{ \
			const uint16_t *const alive_ = (evaluator)->alive; \
 \
			for (uint32_t k_ = 0; k_ < (evaluator)->nalive; k_++) \
			{ \
				const uint32_t i = alive_[k_]; \
 \
				statement \
			} \
		} \
	} while (0)

/* ---- registers.c ---- */

/* runs a CSV_OP_COLUMN, for the block */
extern void csv_load_column(CsvEvaluator *evaluator,
							const CsvInstruction *instruction);

/* runs a CSV_OP_CONSTANT, once a batch */
extern void csv_load_constant(CsvEvaluator *evaluator,
							  const CsvInstruction *instruction);

/* a constant's value; a text points into the query */
extern void csv_constant_value(const CsvQuery *query, uint32_t number,
							   CsvValue *value);

/* makes decimals of integers, which may be in the register's own memory */
extern void csv_set_narrow_decimals(CsvEvaluator *evaluator, uint16_t result,
									const int64_t *values);

/*
 * Give a register its own array of states, to be changed row by row.  The register is
 * not plain any more.
 */
extern uint8_t *csv_own_state(CsvEvaluator *evaluator, uint16_t result);

static inline bool
csv_needs_wide(CsvUint128 limit)
{
	return limit > INT64_MAX;
}

/* ---- operations.c ---- */

/* runs an instruction: fills its register for the rows of the block that count */
extern void csv_execute(CsvEvaluator *evaluator,
						const CsvInstruction *instruction);

#endif							/* CSV_BLOCK_H */
