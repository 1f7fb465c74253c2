/*
 * crew.h
 *		Threads that share work, whose results are taken in order.
 *
 * Work has numbered parts.  Each thread that is free begins the next part; the calling
 * thread takes the results in the order of the numbers, and no thread is more than
 * CSV_CREW_PARTS parts ahead of it.  The steps of a part:
 *
 *	1. begin	a thread takes the number; the mutex is held
 *	2. work		the thread does the part, without the mutex
 *	3. join		the part joins the parts before it, in order; the mutex is held.
 *				If the part began with a wrong guess, a thread does it again.
 *	4. finish	work for parts that have joined; in any order, without the mutex
 *	5. take		the calling thread has the result until it takes the next
 *
 * Each step but `work` may be left out.  Between these steps the threads look for the
 * earliest part that needs one of them.  So only the calling thread waits for a part of
 * another thread.
 *
 * All signals are blocked in the threads.  The threads call only the functions that
 * they are given, and use no memory of PostgreSQL.  The calling thread checks for interrupts.
 */
#ifndef CSV_CREW_H
#define CSV_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* data of a part may be at index part % CSV_CREW_PARTS of an array */
#define CSV_CREW_PARTS	CSV_BATCH_SLOTS

typedef enum CsvJoin
{
	CSV_JOIN_DONE,				/* the result can be taken */
	CSV_JOIN_FINISH,			/* finish() comes next */
	CSV_JOIN_AGAIN,				/* do the part again: work() comes next */
	CSV_JOIN_END				/* the work ends before this part */
} CsvJoin;

/* `thread` is below the number of threads, with the calling thread */
typedef struct CsvCrewWork
{
	uint64_t	nparts;			/* UINT64_MAX: until may_begin() or join() says so */
	uint32_t	most;			/* parts that may have begun without being taken;
								 * 0: CSV_CREW_PARTS - 1, which is the most */

	/* can the next part begin now?  NULL: always */
	bool		(*may_begin) (void *arg);
	void		(*begin) (void *arg, uint32_t part);	/* may be NULL */
	void		(*work) (void *arg, uint32_t part);
	CsvJoin		(*join) (void *arg, uint32_t part); /* may be NULL */
	void		(*finish) (void *arg, uint32_t thread, uint32_t part);
	void	   *arg;
} CsvCrewWork;

typedef struct CsvCrew
{
	uint32_t	nthreads;		/* wanted, with the calling thread */
	uint32_t	nhelpers;		/* threads that were started */
	bool		was_made;
	pthread_t	helpers[CSV_MAX_THREADS];

	pthread_mutex_t mutex;		/* for all that follows, and the caller's data */
	pthread_cond_t for_threads; /* there may be a step to do */
	pthread_cond_t for_taker;	/* a result, or a reason to look; for csv_nap() */
	atomic_uint ncalls;			/* threads that do not sleep yet look at it */
	uint32_t	nidle;			/* threads that sleep */
	uint32_t	nrunning;
	atomic_bool closing;

	CsvCrewWork work;
	uint8_t		states[CSV_CREW_PARTS]; /* see crew.c */
	uint64_t	nbegun;
	uint64_t	njoined;
	uint64_t	ntaken;
	uint32_t	nunfinished;	/* parts that wait for finish() */
	bool		ended;			/* no further part joins */

	/* the interrupt callback, as in CsvInput, which only `asker` calls; its answer */
	bool		(*ask) (void *arg);
	void	   *ask_arg;
	pthread_t	asker;
	atomic_bool interrupted;
} CsvCrew;

/* nthreads: with the calling thread, up to CSV_MAX_THREADS + 1 */
extern void csv_crew_init(CsvCrew *crew, uint32_t nthreads);

/*
 * Begin work.  All parts of the work before must be taken.  The first call starts the
 * threads, which stay until csv_crew_close().  Returns the number of threads besides
 * the calling thread.
 */
extern uint32_t csv_crew_start_work(CsvCrew *crew, const CsvCrewWork *work);

/*
 * The next result, in order; the result before it is released.  While it is not there,
 * the calling thread does parts, too.  False: there are no more.
 */
extern bool csv_crew_next(CsvCrew *crew, uint32_t *part);

/* ---- work of nparts parts without an order ---- */

/* returns when all parts are done */
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

/* ---- for a calling thread that does other work while it waits; the mutex is held ---- */

/* is there a result to take, or will there be none? */
extern bool csv_crew_is_ready(const CsvCrew *crew);

/* as csv_crew_next(), when csv_crew_is_ready() */
extern bool csv_crew_take(CsvCrew *crew, uint32_t *part);

/* wake a thread if there is a step to do; after anything that may_begin() looks at */
extern void csv_crew_call(CsvCrew *crew);

/* no further part joins */
extern void csv_crew_end(CsvCrew *crew);

/* ---- interrupts ---- */

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

/*
 * The threads begin nothing new; returns when they have ended.  Their work must end
 * soon: csv_crew_is_closing() is true meanwhile.
 */
extern void csv_crew_close(CsvCrew *crew);
extern bool csv_crew_is_closing(void *crew);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_CREW_H */
