/*
 * ahead.h
 *		A compressed file that threads decompress before it is read.
 */
#ifndef CSV_AHEAD_H
#define CSV_AHEAD_H

#include "table/marks.h"
#include "table/option.h"

typedef struct CsvAhead CsvAhead;

/*
 * Starts nthreads threads that decompress the regular file fd up to offset `end`, where
 * a member or frame or the file ends, from the member or frame that begins at `start`.
 * The first `skip` bytes are left out.  marks: NULL, or the file's.
 * Returns NULL if no thread could be started, or there is no memory.
 */
extern CsvAhead *csv_ahead_start(int fd, CsvCompression compression,
								 int nthreads, uint64_t end,
								 uint64_t start, uint64_t skip,
								 CsvMarks *marks);

/*
 * Returns up to nbytes bytes.  Returns 0 when the threads can do no more: at the end,
 * where the file is damaged, or where something other than a member or frame follows.
 * Processes interrupts.
 */
extern size_t csv_ahead_read(CsvAhead *ahead, uint8_t *buffer, size_t nbytes);

/*
 * After csv_ahead_read() has returned 0: the offset of the member or frame that
 * another decompressor must continue with, and how many of its bytes were already
 * read.
 */
extern void csv_ahead_left(CsvAhead *ahead, uint64_t *start, uint64_t *skip);

/* stops the threads, and waits for them; this takes some milliseconds */
extern void csv_ahead_stop(CsvAhead *ahead);

#endif							/* CSV_AHEAD_H */
