/*
 * stock.h
 *		Bytes of a stream, for threads that read them at any offset.
 *
 * A stream can only be read in order, and by one thread, the writer, which adds the
 * bytes that it reads.  Other threads read bytes that are there, and wait for bytes
 * that are not.  Bytes stay until the writer releases them.
 *
 * Private to pieces.c, whose mutex guards the stock.  Callers must hold the mutex,
 * except for csv_stock_read().
 */
#ifndef CSV_STOCK_H
#define CSV_STOCK_H

#include <pthread.h>

#include "reader.h"

typedef struct CsvStock
{
	CsvMemory	memory;
	pthread_mutex_t *mutex;
	pthread_cond_t *for_writer; /* signalled when a thread waits for bytes */
	pthread_cond_t for_readers;
	uint32_t	nwaiting;
	uint64_t	begin;			/* offsets in the stream: of the first byte ever, */
	uint64_t	from;			/* of the first block, */
	uint64_t	end;			/* behind the last byte that threads may read, */
	uint64_t	filled_to;		/* and behind the last byte; only the last block
								 * may not be full */
	uint64_t	held_bytes;		/* most bytes between these two */
	bool		at_end;			/* `filled_to` is the stream's end */
	bool		is_closed;
	uint8_t   **blocks;
	uint32_t	nblocks;
	uint32_t	nspare;			/* unused blocks, behind the nblocks blocks */
	uint32_t	capacity;
} CsvStock;

extern void csv_stock_init(CsvStock *stock, const CsvMemory *memory,
						   pthread_mutex_t *mutex, pthread_cond_t *for_writer,
						   uint64_t begin, uint64_t held_bytes);
extern void csv_stock_free(CsvStock *stock);

/* room for the next *nbytes bytes, which may be few; NULL if there is no memory */
extern uint8_t *csv_stock_room(CsvStock *stock, size_t *nbytes);

/* nbytes bytes were written to the room; 0: the stream has ended */
extern void csv_stock_add(CsvStock *stock, size_t nbytes);

/* release bytes before this offset; they must not be read any more */
extern void csv_stock_let_go(CsvStock *stock, uint64_t offset);

/* from now on, all bytes may be read */
extern void csv_stock_release(CsvStock *stock);

/* from now on, every read fails */
extern void csv_stock_close(CsvStock *stock);

/*
 * As pread(2), for a CsvStock.  Waits for at least one byte.  Returns 0 at the end of the
 * stream, or of its bytes that may be read, and -1 if the stock is closed, or the bytes
 * were released.  Bytes before the first byte ever are read as zero.
 */
extern ssize_t csv_stock_read(void *stock, uint8_t *buffer, size_t nbytes,
							  uint64_t offset);

#endif							/* CSV_STOCK_H */
