/*
 * stock.h
 *		Bytes of a stream, for threads that read them at any place.
 *
 * A stream can be read in its order only, and by one thread: the writer, who adds
 * what it reads.  Others read what is there, and wait for what is not.  Bytes stay
 * until the writer lets go of them.
 *
 * Private to pieces.c, whose mutex guards it: held by whoever calls, but for
 * csv_stock_read().
 */
#ifndef CSV_STOCK_H
#define CSV_STOCK_H

#include <pthread.h>

#include "reader.h"

typedef struct CsvStock
{
	CsvMemory	memory;
	pthread_mutex_t *mutex;
	pthread_cond_t *for_writer; /* signalled when somebody waits for bytes */
	pthread_cond_t for_readers;
	uint32_t	nwaiting;
	uint64_t	begin;			/* offsets in the stream: of the first byte ever, */
	uint64_t	from;			/* of the first block, */
	uint64_t	end;			/* and behind the last byte; blocks are full but
								 * for the last */
	bool		at_end;			/* that is the stream's end */
	bool		is_closed;
	uint8_t   **blocks;
	uint32_t	nblocks;
	uint32_t	nspare;			/* behind these */
	uint32_t	capacity;
} CsvStock;

extern void csv_stock_init(CsvStock *stock, const CsvMemory *memory,
						   pthread_mutex_t *mutex, pthread_cond_t *for_writer,
						   uint64_t begin);
extern void csv_stock_free(CsvStock *stock);

/* room for the next *nbytes bytes, which may be few; NULL: there is no memory */
extern uint8_t *csv_stock_room(CsvStock *stock, size_t *nbytes);

/* so many were written there; 0: there are no more */
extern void csv_stock_add(CsvStock *stock, size_t nbytes);

/* bytes before this offset are not read any more */
extern void csv_stock_let_go(CsvStock *stock, uint64_t offset);

/* from now on nobody gets anything */
extern void csv_stock_close(CsvStock *stock);

/*
 * As pread(2), of a CsvStock: waits for at least one byte; 0 at the stream's end,
 * -1 where it is closed, or the bytes are gone.  What was before the first byte
 * ever is read as zero bytes.
 */
extern ssize_t csv_stock_read(void *stock, uint8_t *buffer, size_t nbytes,
							  uint64_t offset);

#endif							/* CSV_STOCK_H */
