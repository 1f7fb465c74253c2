/*
 * interrupts.c
 *		Interrupts while files are read.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "table/interrupts.h"

/* false also while a step's interrupts are processed */
static bool in_step = false;

void
csv_check_interrupts(void)
{
	if (!in_step)
	{
		CHECK_FOR_INTERRUPTS();
		return;
	}
	in_step = false;
	RESUME_INTERRUPTS();
	CHECK_FOR_INTERRUPTS();
	HOLD_INTERRUPTS();
	in_step = true;
}

bool
csv_source_interrupted(void *arg)
{
	return INTERRUPTS_PENDING_CONDITION() &&
		InterruptHoldoffCount == (in_step ? 1 : 0) && CritSectionCount == 0 &&
		QueryCancelHoldoffCount == 0;
}

bool
csv_process_interrupts(void *arg)
{
	csv_check_interrupts();
	return false;
}

void
csv_begin_step(void)
{
	HOLD_INTERRUPTS();
	in_step = true;
}

void
csv_end_step(void)
{
	in_step = false;
	RESUME_INTERRUPTS();
}

bool
csv_leave_step(void)
{
	bool		was_in_step = in_step;

	/* an ERROR has let go of the interrupts */
	in_step = false;
	return was_in_step;
}
