/*
 * interrupts.c
 *		Interrupts while files are read.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "table/interrupts.h"

/* also false while a step's interrupts are processed */
static bool in_step = false;

bool
csv_pause_step(void)
{
	if (!in_step)
		return false;
	in_step = false;
	RESUME_INTERRUPTS();
	return true;
}

void
csv_resume_step(bool was_in_step)
{
	if (was_in_step)
		csv_begin_step();
}

void
csv_check_interrupts(void)
{
	bool		was_in_step = csv_pause_step();

	CHECK_FOR_INTERRUPTS();
	csv_resume_step(was_in_step);
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

	/* an ERROR resets the hold-off of interrupts */
	in_step = false;
	return was_in_step;
}

bool
csv_wait_readable(int fd)
{
	static uint32 wait_event = 0;
	int			events = WaitLatchOrSocket(MyLatch,
										   WL_LATCH_SET | WL_SOCKET_READABLE |
										   WL_EXIT_ON_PM_DEATH,
										   fd, -1,
										   csv_wait_event(&wait_event, "CsvGpuInput"));

	if (events & WL_LATCH_SET)
		ResetLatch(MyLatch);
	csv_check_interrupts();
	return (events & WL_SOCKET_READABLE) != 0;
}
