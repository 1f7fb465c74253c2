/*
 * interrupts.h
 *		Interrupts while files are read.
 *
 * An ERROR raised in a step of reading may be caught, so that other processes that
 * share the scan are told first (batches/sharing.c).  An ERROR raised by an interrupt,
 * such as a cancel or another process's ERROR, does not belong to the step.  So all
 * code that reads files checks for interrupts by csv_check_interrupts().
 */
#ifndef CSV_INTERRUPTS_H
#define CSV_INTERRUPTS_H

/* CHECK_FOR_INTERRUPTS() */
extern void csv_check_interrupts(void);

/*
 * Would csv_check_interrupts() do something now?  For code that must not call it.  arg
 * is unused.
 */
extern bool csv_source_interrupted(void *arg);

/* csv_check_interrupts(), which may raise an ERROR; returns false if it does not */
extern bool csv_process_interrupts(void *arg);

/*
 * Begin and end a step.  In between, interrupts are held, except by
 * csv_check_interrupts().  After an ERROR has left the step, csv_leave_step() returns
 * true if the error was the step's own.
 */
extern void csv_begin_step(void);
extern void csv_end_step(void);
extern bool csv_leave_step(void);

/*
 * csv_pause_step(): from now on the caller handles interrupts itself.
 * csv_resume_step(): the step continues, if there was one.
 */
extern bool csv_pause_step(void);
extern void csv_resume_step(bool was_in_step);

/*
 * Waits until a descriptor may have bytes, or its end, or until this process's latch
 * is set; a set latch makes it check interrupts.  Returns true if the descriptor is
 * ready.
 */
extern bool csv_wait_readable(int fd);

#endif							/* CSV_INTERRUPTS_H */
