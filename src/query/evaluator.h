/*
 * evaluator.h
 *		The contents of an evaluator: registers, a block of rows (block.h), groups
 *		(groups.h) or the first rows in an order (best.h).
 */
#ifndef CSV_EVALUATOR_H
#define CSV_EVALUATOR_H

#include "best.h"
#include "group_state.h"

typedef struct CsvRegisterRoom
{
	void	   *values;			/* 16 bytes a row */
	uint32_t   *lengths;		/* 4 bytes a row */
	uint8_t    *state;			/* 1 byte a row */
	uint8_t    *folded;			/* texts in lower or upper case; or NULL */
	size_t		folded_bytes;
} CsvRegisterRoom;

struct CsvEvaluator
{
	CsvMemory	memory;
	const CsvQuery *query;
	CsvLanes   *lanes;			/* of each register: its values */
	CsvRegisterRoom *registers; /* of each register: its own arrays */
	CsvConstant *constants;		/* of each register: the constant that it holds */
	const uint8_t *constant_text;
	uint32_t   *written;		/* of each register: 1 + the number of the instruction
								 * that writes it */
	void	   *allocated;		/* memory of these arrays */
	void	   *room;			/* memory of the registers' own arrays, and of alive
								 * and fate, */
	uint32_t	room_rows;		/* which have room for blocks of this many rows */
	CsvGroups  *groups;			/* NULL without aggregates */
	CsvBest    *best;			/* NULL without a limit */

	/* the batch and the block that are evaluated */
	const CsvLayout *layout;
	const CsvBatch *batch;
	uint32_t	first_row;
	uint32_t	nrows;			/* of the block */
	uint16_t   *alive;			/* rows that count, ascending */
	uint32_t	nalive;
	bool		dense;			/* most rows count: loops take all rows */
	bool		any_careful;
	uint8_t    *fate;			/* ROW_..., of rows that do not count */

	/* the answer: room for a batch */
	uint32_t   *rows;
	uint8_t    *careful;
	uint32_t	capacity;
};

#endif							/* CSV_EVALUATOR_H */
