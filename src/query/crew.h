/*
 * crew.h
 *		Threads that share work on a query.
 *
 * They are made at the first piece of work that is worth it and kept until the
 * crew is closed.  All signals are blocked in them, and they call nothing but
 * the work they are given, whose memory is not PostgreSQL's.  They ask for no
 * interrupts: the calling thread does, for all (csv_crew_interrupted).
 */
#ifndef CSV_CREW_H
#define CSV_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../reader/reader.h"

typedef struct CsvCrew
{
	uint32_t	nthreads;		/* that are wanted, with the calling one; up to
								 * CSV_MAX_THREADS */
	uint32_t	nhelpers;		/* that were made */
	bool		was_made;
	pthread_t	helpers[CSV_MAX_THREADS - 1];

	/*
	 * Which piece of work this is, how many parts it has, and the next that
	 * nobody does yet, in one word; see crew.c.
	 */
	atomic_uint_fast64_t ticket;
	atomic_uint ndone;			/* parts that are done */

	/* written while all parts are done */
	void		(*work) (void *arg, uint32_t part);
	void	   *arg;

	/* as in CsvInput, asked by this thread; and has it said so? */
	bool		(*ask) (void *arg);
	void	   *ask_arg;
	pthread_t	asker;
	atomic_bool interrupted;

	bool		closing;		/* under the lock */
	pthread_mutex_t lock;
	pthread_cond_t work_there;
	pthread_cond_t work_done;
} CsvCrew;

extern void csv_crew_init(CsvCrew *crew, uint32_t nthreads);

/*
 * Do parts 0 to nparts - 1 of a piece of work, side by side; part 0 in the
 * calling thread.  Returns when all are done.
 */
extern void csv_crew_run(CsvCrew *crew, uint32_t nparts,
						 void (*work) (void *arg, uint32_t part), void *arg);

/*
 * The same in two steps: between them the calling thread does something else
 * while helpers do parts; csv_crew_finish() does what is left and returns when all
 * are done.  Without a start, or after it, it does nothing.
 */
extern void csv_crew_start(CsvCrew *crew, uint32_t nparts,
						   void (*work) (void *arg, uint32_t part), void *arg);
extern void csv_crew_finish(CsvCrew *crew);

/*
 * What the calling thread does from now on, by itself or with the others, may be
 * interrupted: `ask` (or NULL) says when.
 */
extern void csv_crew_begin(CsvCrew *crew, bool (*ask) (void *arg), void *arg);

/*
 * Has the work to be given up?  Every thread calls it now and then; once true, it
 * is so for all of them.  `crew` is a CsvCrew.
 */
extern bool csv_crew_interrupted(void *crew);

/* the same of what is past: asks nobody */
extern bool csv_crew_was_interrupted(const CsvCrew *crew);
extern void csv_crew_close(CsvCrew *crew);

#endif							/* CSV_CREW_H */
