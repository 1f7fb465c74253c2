/*
 * evaluator.h
 *		What an evaluator holds: registers, a block of rows (evaluate.h), groups
 *		(groups.h) or the first rows in an order (best.h).
 */
#ifndef CSV_EVALUATOR_H
#define CSV_EVALUATOR_H

#include "best.h"
#include "group_state.h"

typedef struct CsvRegisterRoom
{
	void	   *values;			/* room for a block: 16 bytes a row, */
	uint32_t   *lengths;		/* and 4, */
	uint8_t    *state;			/* and 1 */
} CsvRegisterRoom;

struct CsvEvaluator
{
	CsvMemory	memory;
	const CsvQuery *query;
	CsvLanes   *lanes;			/* a register each: what it holds, */
	CsvRegisterRoom *registers; /* and where its own arrays are */
	CsvConstant *constants;		/* a register each: what it was filled from */
	const uint8_t *constant_text;
	uint32_t   *written;		/* a register each: instructions up to the one
								 * that writes it */
	void	   *allocated;		/* what registers' arrays are in */
	CsvGroups  *groups;			/* NULL without aggregates */
	CsvBest    *best;			/* NULL without a limit */

	/* the batch and the block that are evaluated */
	const CsvLayout *layout;
	const CsvBatch *batch;
	uint32_t	first_row;
	uint32_t	nrows;			/* of the block */
	uint16_t	alive[CSV_BLOCK_ROWS];	/* rows that count, ascending */
	uint32_t	nalive;
	bool		dense;			/* so many that loops take all rows */
	bool		any_careful;
	uint8_t		fate[CSV_BLOCK_ROWS];	/* ROW_..., of those not alive */

	/* the answer: room for a batch */
	uint32_t   *rows;
	uint8_t    *careful;
	uint32_t	capacity;
};

#endif							/* CSV_EVALUATOR_H */
