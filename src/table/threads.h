/*
 * threads.h
 *		How many threads a scan has.
 */
#ifndef CSV_THREADS_H
#define CSV_THREADS_H

/*
 * For csv_gpu_fdw.cpu_threads.  0: as many as the cores allow that the process may
 * use, and PostgreSQL's limits for a query's processes, the backend's own with
 * them.  One in a parallel worker, which is itself one of several.
 */
extern int	csv_thread_count(int setting);

/* how many the planner reckons with, where csv_thread_count() says nthreads */
extern int	csv_planned_threads(int setting, int nthreads);

/*
 * How many of a scan's threads decompress a file, and how many parse a stream,
 * each: both do at the same time.
 */
extern int	csv_stream_threads(int nthreads);

#endif							/* CSV_THREADS_H */
