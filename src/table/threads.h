/*
 * threads.h
 *		The number of threads of a scan.
 */
#ifndef CSV_THREADS_H
#define CSV_THREADS_H

/*
 * The number for a value of csv_gpu_fdw.cpu_threads.  0 means: as many as the cores
 * that the process may use, within PostgreSQL's limits for the processes of a query,
 * including the backend itself.  A parallel worker gets one, because other workers
 * run, too.
 */
extern int	csv_thread_count(int setting);

/* the number for the planner; nthreads is the result of csv_thread_count() */
extern int	csv_planned_threads(int setting, int nthreads);

/*
 * How many of a scan's threads decompress a file.  As many parse the stream, at the
 * same time.
 */
extern int	csv_stream_threads(int nthreads);

#endif							/* CSV_THREADS_H */
