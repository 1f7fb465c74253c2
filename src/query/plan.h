/*
 * plan.h
 *		A query that is evaluated a row at a time: see row.h.
 *
 * A plan is a CsvQuery made ready for one layout.  It is plain data in one
 * block of memory, so that it can be copied to a device as it is.  Registers have
 * become slots.  A slot is used again as soon as its value is not needed any more, so
 * that a row takes few slots.
 *
 * The program is a list of steps: the query's instructions, and between them the uses
 * of registers.  A register is used as soon as it has a value: by filters in their
 * order, then by keys and inputs of aggregates (CsvPartialLayout); with outputs_last,
 * all keys and inputs come at the end.  Registers that are not used are left out.
 */
#ifndef CSV_PLAN_H
#define CSV_PLAN_H

#include "query.h"

#ifdef __cplusplus
extern "C" {
#endif

/* steps beside the operations of instructions */
#define CSV_STEP_FILTER		(CSV_NUM_OPERATIONS + 0)	/* a */
#define CSV_STEP_KEY		(CSV_NUM_OPERATIONS + 1)	/* a; operand: key */
#define CSV_STEP_INPUT		(CSV_NUM_OPERATIONS + 2)	/* a: the argument, b: the
														 * filter; operand: input */

/* operands: a slot, from 0 on, or a constant: -1 is the first, -2 the second, ... */
#define CSV_NO_OPERAND		INT32_MAX

#define CSV_FLAG_SQUARES	0x40	/* of an input: its squares are summed up */

typedef struct CsvStep
{
	uint8_t		operation;		/* CsvOperation, or CSV_STEP_... */
	uint8_t		lane;			/* of the operands; for a column, its own lane */
	uint8_t		bits;			/* as in CsvInstruction */
	uint8_t		flags;			/* as in CsvInstruction */
	int32_t		result;			/* slot */
	int32_t		a;
	int32_t		b;
	int32_t		c;
	uint32_t	operand;
	uint32_t	count;			/* also the number of a step that makes texts */
} CsvStep;

/* an input of aggregates */
typedef struct CsvPlanInput
{
	uint8_t		lane;
	int32_t		column;			/* its number among inputs with values, from 0; -1:
								 * only the count of values matters */
} CsvPlanInput;

typedef struct CsvPlanAggregate
{
	uint8_t		kind;			/* SUM, SUM_SQUARES, MIN or MAX */
	uint8_t		lane;
	uint16_t	input;
	uint32_t	first_word;
} CsvPlanAggregate;

typedef struct CsvPlan
{
	uint32_t	nslots;
	uint32_t	nsteps;
	uint32_t	first_output;	/* with outputs_last: the first step of the keys; the
								 * steps of the inputs follow */
	uint32_t	nkeys;
	uint32_t	ninputs;
	uint32_t	nvalues;		/* inputs with values */
	uint32_t	naggregates;	/* aggregates that keep more than a count */
	uint32_t	nwords;			/* of a group */
	uint32_t	nfolds;			/* steps that make texts: see `count` */
	bool		aggregates;
	const CsvStep *steps;
	const CsvConstant *constants;
	const uint8_t *text;
	const uint8_t *key_lanes;
	const CsvPlanInput *inputs;
	const CsvPlanAggregate *aggregate;

	/* memory of all the above */
	uint8_t    *block;
	size_t		nbytes;
} CsvPlan;

/*
 * Make a plan, whose block comes from `memory`; it does not need the query any more.
 * False, and *plan is all zero: no memory, or the query cannot have a plan
 * (COUNT_DISTINCT, a limit, more than most_slots slots at a time, or nothing to
 * evaluate).
 */
extern bool csv_plan_make(CsvPlan *plan, const CsvMemory *memory,
						  const CsvQuery *query, const CsvLayout *layout,
						  uint32_t most_slots, bool outputs_last);
extern void csv_plan_free(CsvPlan *plan, const CsvMemory *memory);

/* a plan whose block has been copied to `block` */
extern CsvPlan csv_plan_at(const CsvPlan *plan, uint8_t *block);

/* ---- properties of instructions ---- */

extern uint8_t csv_lane_of_kind(uint8_t kind);

/* how many of its operands a, b and c an operation reads */
extern uint32_t csv_operand_count(uint8_t operation);

/* a, b: the lanes of these registers, for operations that read them */
extern uint8_t csv_lane_of_result(const CsvQuery *query,
								  const CsvLayout *layout,
								  const CsvInstruction *instruction, uint8_t a,
								  uint8_t b);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_PLAN_H */
