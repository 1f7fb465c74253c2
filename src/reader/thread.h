/*
 * thread.h
 *		Threads beside the caller's thread.
 *
 * All signals are blocked in them.  A process has at most CSV_MAX_PROCESS_THREADS
 * at a time, in all its open scans, that it joins.  A caller that gets no thread does
 * the work itself.
 */
#ifndef CSV_THREAD_H
#define CSV_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* a scan with the most threads that a scan may have needs three quarters of these */
#define CSV_MAX_PROCESS_THREADS	256

/* as pthread_create(); false if no thread can be started */
extern bool csv_thread_start(pthread_t *thread, void *(*run) (void *arg),
							 void *arg);
extern void csv_thread_join(pthread_t thread);

/* a thread that is never joined, and does not count; false if none can be started */
extern bool csv_thread_detach(void *(*run) (void *arg), void *arg);

#endif							/* CSV_THREAD_H */
