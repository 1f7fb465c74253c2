/*
 * ahead.h
 *		Bytes that a thread makes ahead of whoever reads them.
 */
#ifndef CSV_AHEAD_H
#define CSV_AHEAD_H

typedef struct CsvAhead CsvAhead;

/*
 * Makes up to nbytes bytes, in the thread: PostgreSQL is not to be called there.
 * It returns soon, if need be with none, for the thread is not stopped before.
 * False if nothing comes behind them.
 */
typedef bool (*CsvMakeFn) (void *arg, uint8_t *buffer, size_t nbytes,
						   size_t *nmade);

/*
 * Start the thread; NULL where none, or no memory, is to be had.  From now on
 * arg is the thread's, until csv_ahead_read has returned 0, or csv_ahead_stop.
 */
extern CsvAhead *csv_ahead_start(CsvMakeFn make, void *arg);

/* up to nbytes bytes; 0 at the end.  Processes interrupts. */
extern size_t csv_ahead_read(CsvAhead *ahead, uint8_t *buffer, size_t nbytes);

/* stop the thread and wait for it: no longer than a call of make takes */
extern void csv_ahead_stop(CsvAhead *ahead);

#endif							/* CSV_AHEAD_H */
