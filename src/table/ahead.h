/*
 * ahead.h
 *		A compressed file that threads decompress ahead of whoever reads it.
 */
#ifndef CSV_AHEAD_H
#define CSV_AHEAD_H

#include "table/option.h"

/* most threads */
#define CSV_AHEAD_MAX_THREADS	64

typedef struct CsvAhead CsvAhead;

/*
 * Start nthreads threads that decompress the regular file fd, from the member
 * or frame on that begins at offset `start`; of its bytes the first `skip` are
 * left out.  NULL where no thread, or no memory, is to be had.
 */
extern CsvAhead *csv_ahead_start(int fd, CsvCompression compression,
								 int nthreads, uint64 start, uint64 skip);

/*
 * Up to nbytes bytes; 0 where the threads have done what they can: that is at
 * the end, where the file is damaged, or goes on with something else.  Processes
 * interrupts.
 */
extern size_t csv_ahead_read(CsvAhead *ahead, uint8_t *buffer, size_t nbytes);

/*
 * When csv_ahead_read has returned 0: the member or frame from which on another
 * has to decompress, and how many of its bytes were read.
 */
extern void csv_ahead_left(const CsvAhead *ahead, uint64 *start, uint64 *skip);

/* stop the threads and wait for them, some milliseconds */
extern void csv_ahead_stop(CsvAhead *ahead);

#endif							/* CSV_AHEAD_H */
