/*
 * parallel_read.h
 *		Reads a stretch of a file with several threads at once.
 *
 * One thread copies about 5 GB/s out of the page cache, eight of them 23 GB/s:
 * a GPU would wait for the one.
 */
#ifndef CSV_PARALLEL_READ_H
#define CSV_PARALLEL_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* a thread is not worth less than this */
#define CSV_PARALLEL_READ_BLOCK	(1024 * 1024)

/*
 * As pread(2): up to nbytes bytes at this offset of the file into buffer.
 * Returns how many there are without a gap, which is less than nbytes at the
 * end of the file, or where `interrupted` (may be NULL) said true meanwhile; or
 * -1 with errno set, if nothing could be read.
 *
 * The calling thread reads, too, and is the only one that calls `interrupted`.
 * The others block all signals, and are gone when this returns.
 */
extern ssize_t csv_parallel_pread(int fd, uint8_t *buffer, size_t nbytes,
								  off_t offset, int nthreads,
								  bool (*interrupted) (void *arg), void *arg);

#endif							/* CSV_PARALLEL_READ_H */
