/*
 * thread.c
 *		Threads beside the caller's thread.
 */
#include "thread.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "reader.h"

static atomic_int nthreads;

static bool
start(pthread_t *thread, void *(*run) (void *arg), void *arg)
{
	sigset_t	all;
	sigset_t	before;
	bool		started;

	/* a new thread inherits the signal mask */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(thread, NULL, run, arg) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

bool
csv_thread_start(pthread_t *thread, void *(*run) (void *arg), void *arg)
{
	if (atomic_fetch_add(&nthreads, 1) < CSV_MAX_PROCESS_THREADS &&
		start(thread, run, arg))
		return true;
	atomic_fetch_sub(&nthreads, 1);
	return false;
}

void
csv_thread_join(pthread_t thread)
{
	pthread_join(thread, NULL);
	atomic_fetch_sub(&nthreads, 1);
}

bool
csv_thread_detach(void *(*run) (void *arg), void *arg)
{
	pthread_t	thread;

	return start(&thread, run, arg) && pthread_detach(thread) == 0;
}

/* ---- memory ---- */

static void *
thread_alloc(void *owner, size_t nbytes)
{
	(void) owner;
	return malloc(nbytes);
}

static void
thread_free(void *owner, void *memory)
{
	(void) owner;
	free(memory);
}

const CsvMemory csv_thread_memory = {thread_alloc, thread_free, NULL};
