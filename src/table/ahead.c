/*
 * ahead.c
 *		Bytes that a thread makes ahead of whoever reads them.
 *
 * The thread fills the slots of a ring, one after the other, and waits while
 * none is free; the reader copies bytes out of them, and waits while none is
 * full.  A mutex guards the two counts of slots, and what is in a slot belongs
 * to the one or to the other by these counts.
 *
 * The thread knows neither PostgreSQL nor its memory, and is never
 * interrupted: it blocks all signals.
 */
#include "postgres.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "miscadmin.h"
#include "utils/wait_event.h"

#include "table/ahead.h"

/* enough for either side to go on while the other one is not running */
#define NSLOTS		4
#define SLOT_BYTES	(1024 * 1024)

/* how often a waiting reader looks for an interrupt */
#define NAP_NANOSECONDS	(10 * 1000 * 1000)

typedef struct Piece
{
	size_t		nbytes;
	bool		is_last;
	uint8_t		bytes[SLOT_BYTES];
} Piece;

struct CsvAhead
{
	CsvMakeFn	make;
	void	   *arg;
	pthread_t	thread;
	pthread_mutex_t mutex;
	pthread_cond_t for_maker;
	pthread_cond_t for_reader;
	uint64		nmade;			/* slot number n is slots[n % NSLOTS] */
	uint64		ntaken;
	bool		stopping;

	/* the reader's */
	size_t		position;		/* in the slot at hand */
	bool		at_end;
	Piece		slots[NSLOTS];
};

/* the thread */
static void *
run(void *arg)
{
	CsvAhead   *ahead = arg;
	bool		goes_on = true;

	pthread_mutex_lock(&ahead->mutex);
	while (goes_on)
	{
		Piece	   *slot = &ahead->slots[ahead->nmade % NSLOTS];

		while (ahead->nmade - ahead->ntaken == NSLOTS && !ahead->stopping)
			pthread_cond_wait(&ahead->for_maker, &ahead->mutex);
		if (ahead->stopping)
			break;
		pthread_mutex_unlock(&ahead->mutex);
		goes_on = ahead->make(ahead->arg, slot->bytes, SLOT_BYTES,
							  &slot->nbytes);
		slot->is_last = !goes_on;
		pthread_mutex_lock(&ahead->mutex);
		ahead->nmade++;
		pthread_cond_signal(&ahead->for_reader);
	}
	pthread_mutex_unlock(&ahead->mutex);
	return NULL;
}

static void
destroy(CsvAhead *ahead)
{
	pthread_cond_destroy(&ahead->for_maker);
	pthread_cond_destroy(&ahead->for_reader);
	pthread_mutex_destroy(&ahead->mutex);
	free(ahead);
}

CsvAhead *
csv_ahead_start(CsvMakeFn make, void *arg)
{
	CsvAhead   *ahead = malloc(sizeof(CsvAhead));
	pthread_condattr_t monotonic;
	sigset_t	all;
	sigset_t	before;
	int			failed;

	if (ahead == NULL)
		return NULL;
	memset(ahead, 0, offsetof(CsvAhead, slots));
	ahead->make = make;
	ahead->arg = arg;
	pthread_mutex_init(&ahead->mutex, NULL);
	pthread_cond_init(&ahead->for_maker, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&ahead->for_reader, &monotonic);
	pthread_condattr_destroy(&monotonic);

	/* a new thread starts with the mask of the one that makes it */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&ahead->thread, NULL, run, ahead);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed == 0)
		return ahead;
	destroy(ahead);
	return NULL;
}

/* wait until a slot is full, or for a moment */
static bool
wait_for_slot(CsvAhead *ahead)
{
	bool		is_there;

	pthread_mutex_lock(&ahead->mutex);
	if (ahead->nmade == ahead->ntaken)
	{
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += NAP_NANOSECONDS;
		if (until.tv_nsec >= 1000000000)
		{
			until.tv_sec++;
			until.tv_nsec -= 1000000000;
		}
		pgstat_report_wait_start(WAIT_EVENT_COPY_FILE_READ);
		pthread_cond_timedwait(&ahead->for_reader, &ahead->mutex, &until);
		pgstat_report_wait_end();
	}
	is_there = ahead->nmade > ahead->ntaken;
	pthread_mutex_unlock(&ahead->mutex);
	return is_there;
}

/* the slot at hand has been read to its end */
static void
let_go(CsvAhead *ahead, const Piece *slot)
{
	ahead->at_end = slot->is_last;
	ahead->position = 0;
	pthread_mutex_lock(&ahead->mutex);
	ahead->ntaken++;
	pthread_cond_signal(&ahead->for_maker);
	pthread_mutex_unlock(&ahead->mutex);
}

size_t
csv_ahead_read(CsvAhead *ahead, uint8_t *buffer, size_t nbytes)
{
	size_t		ncopied = 0;

	while (ncopied == 0 && !ahead->at_end)
	{
		const Piece *slot = &ahead->slots[ahead->ntaken % NSLOTS];

		CHECK_FOR_INTERRUPTS();
		if (!wait_for_slot(ahead))
			continue;
		ncopied = Min(nbytes, slot->nbytes - ahead->position);
		memcpy(buffer, slot->bytes + ahead->position, ncopied);
		ahead->position += ncopied;
		if (ahead->position == slot->nbytes)
			let_go(ahead, slot);
	}
	return ncopied;
}

void
csv_ahead_stop(CsvAhead *ahead)
{
	pthread_mutex_lock(&ahead->mutex);
	ahead->stopping = true;
	pthread_cond_signal(&ahead->for_maker);
	pthread_mutex_unlock(&ahead->mutex);
	pthread_join(ahead->thread, NULL);
	destroy(ahead);
}
