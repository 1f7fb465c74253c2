/*
 * clock.h
 *		Time that passes.
 */
#ifndef CSV_CLOCK_H
#define CSV_CLOCK_H

#include <time.h>

/* seconds, from some point on */
static inline double
csv_now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

#endif							/* CSV_CLOCK_H */
