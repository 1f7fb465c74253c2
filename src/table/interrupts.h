/*
 * interrupts.h
 *		Interrupts while files are read.
 *
 * What a step of reading raises may be caught, so that others who share the scan
 * are told of it first (batches/reading.c).  An ERROR that an interrupt raises,
 * such as a cancel or another process's ERROR, is not the step's.  So whatever
 * reads files looks for interrupts by csv_check_interrupts().
 */
#ifndef CSV_INTERRUPTS_H
#define CSV_INTERRUPTS_H

/* CHECK_FOR_INTERRUPTS() */
extern void csv_check_interrupts(void);

/*
 * Would that do something now?  For whoever works where it may not be called;
 * arg is not looked at.
 */
extern bool csv_source_interrupted(void *arg);

/* csv_check_interrupts(), which may not come back; false if it does */
extern bool csv_process_interrupts(void *arg);

/*
 * A step begins; it ends.  In between, interrupts are held, except by
 * csv_check_interrupts().  Where an ERROR has left the step, csv_leave_step() says
 * whether it was the step's own.
 */
extern void csv_begin_step(void);
extern void csv_end_step(void);
extern bool csv_leave_step(void);

/*
 * Interrupts are the caller's own to see to, from now on; they are the step's again,
 * if it was in one.
 */
extern bool csv_pause_step(void);
extern void csv_resume_step(bool was_in_step);

/*
 * Wait until a descriptor may have bytes, or their end, or until this process's latch
 * is set; interrupts are checked then.  Is it the former?
 */
extern bool csv_wait_readable(int fd);

#endif							/* CSV_INTERRUPTS_H */
