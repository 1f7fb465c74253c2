/*
 * crew.c
 *		Threads that share work.
 *
 * Each free thread, and the calling thread, takes the next part of the current piece
 * of work.  So no thread waits for a thread that the system does not run: the calling
 * thread waits only for parts that have begun.
 *
 * A thread takes a part by incrementing the ticket.  Its upper half is the number of
 * the piece of work, so that a late thread cannot take a part of the next piece with
 * the numbers of the piece before.
 *
 * A piece of work takes some hundred microseconds, and the next follows soon.  So a
 * waiting thread spins a while before it sleeps.
 */
#include "crew.h"
#include "../reader/thread.h"

/* spins before sleeping: some microseconds */
#define SPINS	200

/* ticket: number of the piece, its parts, the next part */
#define TICKET(piece, nparts) \
	((uint64_t) (piece) << 32 | (uint64_t) (nparts) << 16)
#define TICKET_PIECE(ticket)	((uint32_t) ((ticket) >> 32))
#define TICKET_NPARTS(ticket)	((uint32_t) ((ticket) >> 16) & 0xFFFF)
#define TICKET_NEXT(ticket)		((uint32_t) (ticket) & 0xFFFF)
#define ALL_TAKEN(ticket)		(TICKET_NEXT(ticket) >= TICKET_NPARTS(ticket))

static inline void
relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

/* take and do parts until all are taken; true: this thread did the last part */
static bool
do_parts(CsvCrew *crew)
{
	uint64_t	ticket = atomic_load(&crew->ticket);
	bool		done = false;

	while (!ALL_TAKEN(ticket))
	{
		if (!atomic_compare_exchange_weak(&crew->ticket, &ticket, ticket + 1))
			continue;
		crew->work(crew->arg, TICKET_NEXT(ticket));
		done = atomic_fetch_add(&crew->ndone, 1) + 1 == TICKET_NPARTS(ticket);
		ticket = atomic_load(&crew->ticket);
	}
	return done;
}

static void *
help(void *arg)
{
	CsvCrew    *crew = arg;

	for (;;)
	{
		for (int i = 0; i < SPINS && ALL_TAKEN(atomic_load(&crew->ticket)); i++)
			relax();
		if (ALL_TAKEN(atomic_load(&crew->ticket)))
		{
			bool		closing;

			pthread_mutex_lock(&crew->lock);
			while (ALL_TAKEN(atomic_load(&crew->ticket)) && !crew->closing)
				pthread_cond_wait(&crew->work_there, &crew->lock);
			closing = crew->closing;
			pthread_mutex_unlock(&crew->lock);
			if (closing)
				return NULL;
		}
		if (do_parts(crew))
		{
			pthread_mutex_lock(&crew->lock);
			pthread_cond_signal(&crew->work_done);
			pthread_mutex_unlock(&crew->lock);
		}
	}
}

void
csv_crew_init(CsvCrew *crew, uint32_t nthreads)
{
	crew->nthreads = nthreads < 1 ? 1 :
		nthreads > CSV_MAX_THREADS ? CSV_MAX_THREADS : nthreads;
	crew->nhelpers = 0;
	crew->was_made = false;
}

/* start as many helpers as possible, up to nthreads - 1 */
static void
make_helpers(CsvCrew *crew)
{
	atomic_init(&crew->ticket, TICKET(0, 0));
	atomic_init(&crew->ndone, 0);
	crew->closing = false;
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->work_there, NULL);
	pthread_cond_init(&crew->work_done, NULL);
	crew->was_made = true;
	while (crew->nhelpers < crew->nthreads - 1 &&
		   csv_thread_start(&crew->helpers[crew->nhelpers], help, crew))
		crew->nhelpers++;
}

/* publish a piece of work, whose first ntaken parts the calling thread has taken */
static void
publish(CsvCrew *crew, uint32_t nparts, uint32_t ntaken,
		void (*work) (void *arg, uint32_t part), void *arg)
{
	uint32_t	piece;

	if (!crew->was_made)
		make_helpers(crew);
	piece = TICKET_PIECE(atomic_load(&crew->ticket)) + 1;
	crew->work = work;
	crew->arg = arg;
	atomic_store(&crew->ndone, ntaken);
	pthread_mutex_lock(&crew->lock);
	atomic_store(&crew->ticket, TICKET(piece, nparts) + ntaken);
	pthread_cond_broadcast(&crew->work_there);
	pthread_mutex_unlock(&crew->lock);
}

void
csv_crew_start(CsvCrew *crew, uint32_t nparts,
			   void (*work) (void *arg, uint32_t part), void *arg)
{
	publish(crew, nparts, 0, work, arg);
}

void
csv_crew_finish(CsvCrew *crew)
{
	uint32_t	nparts;

	if (!crew->was_made)
		return;
	do_parts(crew);
	nparts = TICKET_NPARTS(atomic_load(&crew->ticket));
	for (int i = 0; i < SPINS && atomic_load(&crew->ndone) < nparts; i++)
		relax();
	if (atomic_load(&crew->ndone) < nparts)
	{
		pthread_mutex_lock(&crew->lock);
		while (atomic_load(&crew->ndone) < nparts)
			pthread_cond_wait(&crew->work_done, &crew->lock);
		pthread_mutex_unlock(&crew->lock);
	}
}

void
csv_crew_run(CsvCrew *crew, uint32_t nparts,
			 void (*work) (void *arg, uint32_t part), void *arg)
{
	if (nparts == 1 || crew->nthreads == 1)
	{
		for (uint32_t part = 0; part < nparts; part++)
			work(arg, part);
		return;
	}
	/* part 0 is done here */
	publish(crew, nparts, 1, work, arg);
	work(arg, 0);
	csv_crew_finish(crew);
}

void
csv_crew_begin(CsvCrew *crew, bool (*ask) (void *arg), void *arg)
{
	crew->ask = ask;
	crew->ask_arg = arg;
	crew->asker = pthread_self();
	atomic_store(&crew->interrupted, false);
}

bool
csv_crew_interrupted(void *arg)
{
	CsvCrew    *crew = arg;

	if (crew->ask != NULL && pthread_equal(pthread_self(), crew->asker) &&
		crew->ask(crew->ask_arg))
		atomic_store(&crew->interrupted, true);
	return atomic_load(&crew->interrupted);
}

bool
csv_crew_was_interrupted(const CsvCrew *crew)
{
	return atomic_load(&crew->interrupted);
}

void
csv_crew_close(CsvCrew *crew)
{
	if (!crew->was_made)
		return;
	pthread_mutex_lock(&crew->lock);
	crew->closing = true;
	pthread_cond_broadcast(&crew->work_there);
	pthread_mutex_unlock(&crew->lock);
	for (uint32_t i = 0; i < crew->nhelpers; i++)
		csv_thread_join(crew->helpers[i]);
	pthread_cond_destroy(&crew->work_done);
	pthread_cond_destroy(&crew->work_there);
	pthread_mutex_destroy(&crew->lock);
	crew->was_made = false;
	crew->nhelpers = 0;
}
