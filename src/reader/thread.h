/*
 * thread.h
 *		Threads beside the caller's.
 *
 * All signals are blocked in them.  A process has no more than
 * CSV_MAX_PROCESS_THREADS at a time, however many scans it has open: whoever gets
 * none does the work itself.
 */
#ifndef CSV_THREAD_H
#define CSV_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* a scan with as many threads as a scan may have needs three quarters of them */
#define CSV_MAX_PROCESS_THREADS	256

/* as pthread_create(); false where there is no thread to be had */
extern bool csv_thread_start(pthread_t *thread, void *(*run) (void *arg),
							 void *arg);
extern void csv_thread_join(pthread_t thread);

#endif							/* CSV_THREAD_H */
