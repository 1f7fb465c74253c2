/*
 * plan.h
 *		A query as it is evaluated a row at a time: see row.h.
 *
 * A plan is a CsvQuery made ready for one layout.  It is plain data in one
 * block of memory, so that it can be copied to a device as it is.  Registers
 * have become slots, which are used again as soon as nobody needs what is in
 * them: a row takes as few as may be.
 *
 * The program is a list of steps.  They are the query's instructions, and
 * between them the uses of registers, each as soon as its register has a
 * value: filters in their order, then keys and inputs of aggregates
 * (CsvPartialLayout; or all of these at the end).  Registers that are not used
 * are left out.
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

/* operands: slots from 0 on, or constants: -1 the first, -2 the second, ... */
#define CSV_NO_OPERAND		INT32_MAX

#define CSV_FLAG_SQUARES	0x40	/* of an input: its squares are summed up */

typedef struct CsvStep
{
	uint8_t		operation;		/* CsvOperation, or CSV_STEP_... */
	uint8_t		lane;			/* of the operands; of a column: its own */
	uint8_t		bits;			/* as in CsvInstruction, */
	uint8_t		flags;			/* likewise */
	int32_t		result;			/* slot */
	int32_t		a;
	int32_t		b;
	int32_t		c;
	uint32_t	operand;
	uint32_t	count;
} CsvStep;

/* an input's values, and the aggregates that take them */
typedef struct CsvPlanInput
{
	uint8_t		lane;
	int32_t		column;			/* of the values that are stored, counting from 0;
								 * -1: only how many there are counts */
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
	uint32_t	first_output;	/* with outputs_last: of the keys' and then the
								 * inputs' steps, all in their order */
	uint32_t	nkeys;
	uint32_t	ninputs;
	uint32_t	nvalues;		/* inputs with values */
	uint32_t	naggregates;	/* that keep more than a count */
	uint32_t	nwords;			/* of a group */
	bool		aggregates;
	const CsvStep *steps;
	const CsvConstant *constants;
	const uint8_t *text;
	const uint8_t *key_lanes;
	const CsvPlanInput *inputs;
	const CsvPlanAggregate *aggregate;

	/* all of the above is in here */
	uint8_t    *block;
	size_t		nbytes;
} CsvPlan;

/*
 * Make a plan, whose block comes from `memory`; the query may go then.  False:
 * no memory (*plan is all zero), or not a query for this (COUNT_DISTINCT, a
 * limit, more than most_slots at a time, or nothing to evaluate).
 */
extern bool csv_plan_make(CsvPlan *plan, const CsvMemory *memory,
						  const CsvQuery *query, const CsvLayout *layout,
						  uint32_t most_slots, bool outputs_last);
extern void csv_plan_free(CsvPlan *plan, const CsvMemory *memory);

/* the plan whose block has been copied to `block` */
extern CsvPlan csv_plan_at(const CsvPlan *plan, uint8_t *block);

/* ---- what instructions are ---- */

extern uint8_t csv_lane_of_kind(uint8_t kind);

/* how many of a, b and c an operation reads */
extern uint32_t csv_operand_count(uint8_t operation);

/* a, b: lanes of what is in these registers, for operations that read them */
extern uint8_t csv_lane_of_result(const CsvQuery *query,
								  const CsvLayout *layout,
								  const CsvInstruction *instruction, uint8_t a,
								  uint8_t b);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_PLAN_H */
