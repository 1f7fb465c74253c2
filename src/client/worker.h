/*
 * worker.h
 *		The background worker that starts and watches csv_gpu_service.
 *
 * A session that needs the program registers the worker.  The worker makes the socket,
 * starts the program as its child, sends it the limits, and runs as long as the
 * program.  It is not connected to a database, and runs on standbys, too.
 *
 * The program must not become an orphan: if the postmaster is the first process of a
 * container, an orphan's death by a signal would look like a crash of the server.  So
 * the worker waits for the program, and the program ends when the worker ends.
 */
#ifndef CSV_WORKER_H
#define CSV_WORKER_H

/* below the data directory, which is the working directory of all server processes */
#define CSV_SERVICE_SOCKET	"pg_stat_tmp/csv_gpu_fdw.socket"
#define CSV_SERVICE_LOCKED	"pg_stat_tmp/csv_gpu_fdw.lock"
#define CSV_SERVICE_LOCKED_NEW	CSV_SERVICE_LOCKED ".new"

struct BackgroundWorkerHandle;

/* does a worker watch a program, which runs, starts or ends? */
extern bool csv_worker_exists(void);

/*
 * The right to have a worker started, which only one process has at a time; -1:
 * another process has it.  It ends when the descriptor is closed.
 */
extern int	csv_worker_may_start(void);

/* have a worker started; NULL: there is no slot for it */
extern struct BackgroundWorkerHandle *csv_worker_start(void);

#endif							/* CSV_WORKER_H */
