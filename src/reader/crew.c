/*
 * crew.c
 *		Threads that share work, whose results are taken in order.
 *
 * Work takes some hundred microseconds, and the next follows soon.  So a waiting thread
 * spins a while before it sleeps.  A thread that has found a step to do wakes the next
 * thread if there is another step.
 */
#include "clock.h"
#include "crew.h"
#include "thread.h"

#include <string.h>

/* spins before sleeping: some microseconds */
#define SPINS	200

typedef enum PartState
{
	PART_BUSY,					/* a thread works on it */
	PART_WORKED,				/* waits for the parts before it */
	PART_AGAIN,
	PART_UNFINISHED,			/* joined; finish() comes next */
	PART_DONE
} PartState;

static inline void
relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	/* as in PostgreSQL's spinlocks; YIELD would end at once on most processors */
	__asm__ __volatile__("isb");
#endif
}

/* ---- the parts; the mutex is held ---- */

static uint8_t *
state_of(CsvCrew *crew, uint64_t part)
{
	return &crew->states[part % CSV_CREW_PARTS];
}

/* does a part that has begun wait for a thread? */
static bool
has_unfinished(const CsvCrew *crew)
{
	return crew->nunfinished > 0 ||
		(crew->njoined < crew->nbegun && !crew->ended &&
		 crew->states[crew->njoined % CSV_CREW_PARTS] == PART_AGAIN);
}

static bool
may_begin(const CsvCrew *crew)
{
	return crew->nbegun < crew->work.nparts && !crew->ended &&
		crew->nbegun - crew->ntaken < crew->work.most &&
		(crew->work.may_begin == NULL || crew->work.may_begin(crew->work.arg));
}

void
csv_crew_call(CsvCrew *crew)
{
	if (!has_unfinished(crew) && !may_begin(crew))
		return;
	atomic_fetch_add(&crew->ncalls, 1);
	if (crew->nidle > 0)
		pthread_cond_signal(&crew->for_threads);
}

bool
csv_crew_is_ready(const CsvCrew *crew)
{
	return crew->ntaken == crew->njoined ? crew->ended :
		crew->states[crew->ntaken % CSV_CREW_PARTS] == PART_DONE;
}

void
csv_crew_end(CsvCrew *crew)
{
	crew->ended = true;
}

/* let parts join, as far as they can */
static void
join_parts(CsvCrew *crew)
{
	while (!crew->ended && crew->njoined < crew->nbegun)
	{
		uint8_t    *state = state_of(crew, crew->njoined);
		CsvJoin		join = CSV_JOIN_DONE;

		if (*state != PART_WORKED)
			break;
		if (crew->work.join != NULL)
			join = crew->work.join(crew->work.arg, (uint32_t) crew->njoined);
		if (join == CSV_JOIN_AGAIN)
			*state = PART_AGAIN;
		if (join == CSV_JOIN_END)
			crew->ended = true;
		if (join == CSV_JOIN_AGAIN || join == CSV_JOIN_END)
			break;
		*state = join == CSV_JOIN_FINISH ? PART_UNFINISHED : PART_DONE;
		crew->nunfinished += join == CSV_JOIN_FINISH;
		crew->njoined++;
		crew->ended |= crew->njoined == crew->work.nparts;
	}
}

bool
csv_crew_take(CsvCrew *crew, uint32_t *part)
{
	if (crew->ntaken == crew->njoined)
		return false;
	*part = (uint32_t) crew->ntaken++;
	return true;
}

/* ---- the steps; the mutex is held except during the work itself ---- */

static void
finish_part(CsvCrew *crew, uint32_t thread, uint64_t part)
{
	*state_of(crew, part) = PART_BUSY;
	crew->nunfinished--;
	csv_crew_call(crew);
	pthread_mutex_unlock(&crew->mutex);
	crew->work.finish(crew->work.arg, thread, (uint32_t) part);
	pthread_mutex_lock(&crew->mutex);
	*state_of(crew, part) = PART_DONE;
}

/* do a part, and finish it while its data are in this processor's caches */
static void
do_part(CsvCrew *crew, uint32_t thread, uint64_t part)
{
	*state_of(crew, part) = PART_BUSY;
	csv_crew_call(crew);
	pthread_mutex_unlock(&crew->mutex);
	crew->work.work(crew->work.arg, (uint32_t) part);
	pthread_mutex_lock(&crew->mutex);
	*state_of(crew, part) = PART_WORKED;
	join_parts(crew);
	if (*state_of(crew, part) == PART_UNFINISHED)
		finish_part(crew, thread, part);
}

/* do the step that is most urgent; false if there is none */
static bool
do_step(CsvCrew *crew, uint32_t thread)
{
	if (has_unfinished(crew))
	{
		uint64_t	part = crew->ntaken;

		if (crew->nunfinished == 0 ||
			(crew->njoined < crew->nbegun &&
			 *state_of(crew, crew->njoined) == PART_AGAIN))
			do_part(crew, thread, crew->njoined);
		else
		{
			while (*state_of(crew, part) != PART_UNFINISHED)
				part++;
			finish_part(crew, thread, part);
		}
	}
	else if (may_begin(crew))
	{
		uint64_t	part = crew->nbegun++;

		if (crew->work.begin != NULL)
			crew->work.begin(crew->work.arg, (uint32_t) part);
		do_part(crew, thread, part);
	}
	else
		return false;
	return true;
}

/* spin until something may have happened; the mutex is not held meanwhile */
static void
spin(CsvCrew *crew)
{
	uint32_t	seen = atomic_load(&crew->ncalls);

	pthread_mutex_unlock(&crew->mutex);
	for (int i = 0; i < SPINS && atomic_load(&crew->ncalls) == seen; i++)
		relax();
	pthread_mutex_lock(&crew->mutex);
}

static void *
help(void *arg)
{
	CsvCrew    *crew = arg;
	uint32_t	thread;

	pthread_mutex_lock(&crew->mutex);
	thread = crew->nrunning++;
	while (!atomic_load(&crew->closing))
	{
		if (do_step(crew, thread))
		{
			if (csv_crew_is_ready(crew))
			{
				atomic_fetch_add(&crew->ncalls, 1);
				pthread_cond_signal(&crew->for_taker);
			}
			continue;
		}
		spin(crew);
		if (!has_unfinished(crew) && !may_begin(crew) &&
			!atomic_load(&crew->closing))
		{
			crew->nidle++;
			pthread_cond_wait(&crew->for_threads, &crew->mutex);
			crew->nidle--;
		}
	}
	pthread_mutex_unlock(&crew->mutex);
	return NULL;
}

/* ---- the calling thread ---- */

void
csv_crew_init(CsvCrew *crew, uint32_t nthreads)
{
	memset(crew, 0, sizeof(*crew));
	crew->nthreads = nthreads < 1 ? 1 :
		nthreads > CSV_MAX_THREADS + 1 ? CSV_MAX_THREADS + 1 : nthreads;
}

/* start as many helpers as possible, up to nthreads - 1 */
static void
make_helpers(CsvCrew *crew)
{
	pthread_mutex_init(&crew->mutex, NULL);
	pthread_cond_init(&crew->for_threads, NULL);
	csv_nap_init(&crew->for_taker);
	crew->was_made = true;
	crew->ended = true;			/* until there is work */
	while (crew->nhelpers < crew->nthreads - 1 &&
		   csv_thread_start(&crew->helpers[crew->nhelpers], help, crew))
		crew->nhelpers++;
}

uint32_t
csv_crew_start_work(CsvCrew *crew, const CsvCrewWork *work)
{
	if (!crew->was_made)
		make_helpers(crew);
	pthread_mutex_lock(&crew->mutex);
	crew->work = *work;
	if (work->most == 0 || work->most > CSV_CREW_PARTS - 1)
		crew->work.most = CSV_CREW_PARTS - 1;
	crew->nbegun = crew->njoined = crew->ntaken = 0;
	crew->ended = work->nparts == 0;
	atomic_fetch_add(&crew->ncalls, 1);
	pthread_cond_broadcast(&crew->for_threads);
	pthread_mutex_unlock(&crew->mutex);
	return crew->nhelpers;
}

bool
csv_crew_next(CsvCrew *crew, uint32_t *part)
{
	bool		found;

	if (!crew->was_made)
		return false;
	pthread_mutex_lock(&crew->mutex);
	while (!csv_crew_is_ready(crew))
	{
		if (do_step(crew, crew->nhelpers))
			continue;
		spin(crew);
		if (csv_crew_is_ready(crew) || has_unfinished(crew) || may_begin(crew))
			continue;
		csv_nap(&crew->for_taker, &crew->mutex);
		/* the callback may not return */
		pthread_mutex_unlock(&crew->mutex);
		csv_crew_interrupted(crew);
		pthread_mutex_lock(&crew->mutex);
	}
	found = csv_crew_take(crew, part);
	pthread_mutex_unlock(&crew->mutex);
	return found;
}

void
csv_crew_start(CsvCrew *crew, uint32_t nparts,
			   void (*work) (void *arg, uint32_t part), void *arg)
{
	CsvCrewWork parts = {.nparts = nparts, .work = work, .arg = arg};

	csv_crew_start_work(crew, &parts);
}

void
csv_crew_finish(CsvCrew *crew)
{
	uint32_t	part;

	while (csv_crew_next(crew, &part))
		;
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
	csv_crew_start(crew, nparts, work, arg);
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

bool
csv_crew_is_closing(void *crew)
{
	return atomic_load(&((CsvCrew *) crew)->closing);
}

void
csv_crew_close(CsvCrew *crew)
{
	if (!crew->was_made)
		return;
	pthread_mutex_lock(&crew->mutex);
	atomic_store(&crew->closing, true);
	pthread_cond_broadcast(&crew->for_threads);
	pthread_mutex_unlock(&crew->mutex);
	for (uint32_t i = 0; i < crew->nhelpers; i++)
		csv_thread_join(crew->helpers[i]);
	pthread_cond_destroy(&crew->for_taker);
	pthread_cond_destroy(&crew->for_threads);
	pthread_mutex_destroy(&crew->mutex);
	csv_crew_init(crew, crew->nthreads);
}
