/*
 * clock.h
 *		Time, and waiting for other threads.
 */
#ifndef CSV_CLOCK_H
#define CSV_CLOCK_H

#include <pthread.h>
#include <time.h>

/* seconds since an arbitrary point */
static inline double
csv_now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

/* while a thread waits for others, it checks for interrupts this often */
#define CSV_NAP_NANOSECONDS	(10 * 1000 * 1000)

/* a condition for csv_nap() */
static inline void
csv_nap_init(pthread_cond_t *condition)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

/* wait for the condition, at most CSV_NAP_NANOSECONDS */
static inline void
csv_nap(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += CSV_NAP_NANOSECONDS;
	if (until.tv_nsec >= 1000000000)
	{
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_cond_timedwait(condition, mutex, &until);
}

#endif							/* CSV_CLOCK_H */
