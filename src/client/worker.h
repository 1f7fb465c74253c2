/*
 * worker.h
 *		The background worker that looks after csv_gpu_service.
 *
 * A session that needs the program has one registered.  It makes the socket,
 * starts the program as its child, tells it the limits, and is there as long as
 * that is.  It has no connection to a database, and is on standbys, too.
 *
 * The program must not be orphaned: where the postmaster is the first process of a
 * container, the death of an orphan by a signal would look like a crash of the
 * server's own.  So the worker waits for it, and it ends itself when the worker
 * does.
 */
#ifndef CSV_WORKER_H
#define CSV_WORKER_H

/* below the data directory, in which all of the server's processes stand */
#define CSV_SERVICE_SOCKET	"pg_stat_tmp/csv_gpu_fdw.socket"
#define CSV_SERVICE_LOCKED	"pg_stat_tmp/csv_gpu_fdw.lock"
#define CSV_SERVICE_LOCKED_NEW	CSV_SERVICE_LOCKED ".new"

struct BackgroundWorkerHandle;

/* does a worker look after a program, which runs, or begins or ends just now? */
extern bool csv_worker_exists(void);

/*
 * The right to have one started, which one process has at a time; -1: another has
 * it.  Given back with the descriptor.
 */
extern int	csv_worker_may_start(void);

/* have one started; NULL: there is no place for it */
extern struct BackgroundWorkerHandle *csv_worker_start(void);

#endif							/* CSV_WORKER_H */
