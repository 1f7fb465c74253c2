/*
 * crew.h
 *		Threads that share work on a query.
 *
 * Threads are started at the first piece of work that is worth it, and kept until the
 * crew is closed.  All signals are blocked in them.  The threads call only the work
 * that they are given, whose memory is not PostgreSQL's.  The calling thread checks
 * for interrupts, for all threads (csv_crew_interrupted).
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
	uint32_t	nthreads;		/* wanted, with the calling thread; up to
								 * CSV_MAX_THREADS */
	uint32_t	nhelpers;		/* started */
	bool		was_made;
	pthread_t	helpers[CSV_MAX_THREADS - 1];

	/*
	 * In one word: the number of the piece of work, the number of its parts, and the
	 * next part that is not taken; see crew.c.
	 */
	atomic_uint_fast64_t ticket;
	atomic_uint ndone;			/* parts that are done */

	/* changed only when all parts are done */
	void		(*work) (void *arg, uint32_t part);
	void	   *arg;

	/* the interrupt callback, as in CsvInput, which only `asker` calls; its answer */
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
 * Do parts 0 to nparts - 1 of a piece of work in parallel; the calling thread does
 * part 0.  Returns when all parts are done.
 */
extern void csv_crew_run(CsvCrew *crew, uint32_t nparts,
						 void (*work) (void *arg, uint32_t part), void *arg);

/*
 * The same in two steps.  Between them the calling thread does something else while
 * helpers do parts.  csv_crew_finish() does the parts that are left, and returns when
 * all are done.  Without a start, or when it is called again, it does nothing.
 */
extern void csv_crew_start(CsvCrew *crew, uint32_t nparts,
						   void (*work) (void *arg, uint32_t part), void *arg);
extern void csv_crew_finish(CsvCrew *crew);

/*
 * The work of the calling thread, alone or with helpers, may be interrupted from now
 * on: `ask` says when.  NULL: never.
 */
extern void csv_crew_begin(CsvCrew *crew, bool (*ask) (void *arg), void *arg);

/*
 * Must the work be given up?  Every thread calls this now and then.  Once it returns
 * true, it does so for all threads.  `crew` is a CsvCrew.
 */
extern bool csv_crew_interrupted(void *crew);

/* was the work given up?  does not call `ask` */
extern bool csv_crew_was_interrupted(const CsvCrew *crew);
extern void csv_crew_close(CsvCrew *crew);

#endif							/* CSV_CREW_H */
