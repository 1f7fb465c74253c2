/*
 * stock.c
 *		Bytes of a stream, for threads that read them at any offset.
 */
#include "arrays.h"
#include "stock.h"

#include <errno.h>

#define BLOCK_BYTES	((size_t) 256 * 1024)

void
csv_stock_init(CsvStock *stock, const CsvMemory *memory,
			   pthread_mutex_t *mutex, pthread_cond_t *for_writer,
			   uint64_t begin, uint64_t held_bytes)
{
	memset(stock, 0, sizeof(*stock));
	stock->memory = *memory;
	stock->mutex = mutex;
	stock->for_writer = for_writer;
	stock->begin = begin;
	stock->from = begin;
	stock->end = begin;
	stock->filled_to = begin;
	stock->held_bytes = held_bytes;
	pthread_cond_init(&stock->for_readers, NULL);
}

void
csv_stock_free(CsvStock *stock)
{
	const CsvMemory *memory = &stock->memory;

	for (uint32_t i = 0; i < stock->nblocks + stock->nspare; i++)
		memory->free(memory->owner, stock->blocks[i]);
	csv_free(memory, stock->blocks);
	pthread_cond_destroy(&stock->for_readers);
}

/* add a block */
static bool
add_block(CsvStock *stock)
{
	const CsvMemory *memory = &stock->memory;

	if (stock->nspare > 0)
	{
		stock->nspare--;
		stock->nblocks++;
		return true;
	}
	if (!csv_grow(memory, &stock->blocks, &stock->capacity, stock->nblocks + 1, 16,
				  sizeof(uint8_t *)))
		return false;
	stock->blocks[stock->nblocks] = memory->alloc(memory->owner, BLOCK_BYTES);
	if (stock->blocks[stock->nblocks] == NULL)
		return false;
	stock->nblocks++;
	return true;
}

uint8_t *
csv_stock_room(CsvStock *stock, size_t *nbytes)
{
	uint64_t	used = stock->filled_to - stock->from;

	if (used == stock->nblocks * BLOCK_BYTES && !add_block(stock))
		return NULL;
	*nbytes = BLOCK_BYTES - used % BLOCK_BYTES;
	return stock->blocks[used / BLOCK_BYTES] + used % BLOCK_BYTES;
}

void
csv_stock_add(CsvStock *stock, size_t nbytes)
{
	stock->filled_to += nbytes;
	if (stock->filled_to - stock->end > stock->held_bytes)
		stock->end = stock->filled_to - stock->held_bytes;
	stock->at_end = nbytes == 0;
	if (stock->nwaiting > 0)
		pthread_cond_broadcast(&stock->for_readers);
}

void
csv_stock_let_go(CsvStock *stock, uint64_t offset)
{
	uint32_t	nblocks = 0;

	if (offset > stock->from)
		nblocks = (uint32_t) ((offset - stock->from) / BLOCK_BYTES);
	if (nblocks == 0)
		return;
	for (uint32_t i = 0; i < nblocks; i++)
	{
		uint8_t    *block = stock->blocks[0];

		memmove(stock->blocks, stock->blocks + 1,
				(stock->nblocks + stock->nspare - 1) * sizeof(uint8_t *));
		stock->blocks[stock->nblocks + stock->nspare - 1] = block;
		stock->nblocks--;
		stock->nspare++;
	}
	stock->from += nblocks * BLOCK_BYTES;
}

void
csv_stock_release(CsvStock *stock)
{
	stock->end = stock->filled_to;
}

void
csv_stock_close(CsvStock *stock)
{
	stock->is_closed = true;
	pthread_cond_broadcast(&stock->for_readers);
}

ssize_t
csv_stock_read(void *arg, uint8_t *buffer, size_t nbytes, uint64_t offset)
{
	CsvStock   *stock = arg;
	const uint8_t *bytes = NULL;
	ssize_t		nread = 0;

	pthread_mutex_lock(stock->mutex);
	while (offset >= stock->end && !stock->at_end && !stock->is_closed)
	{
		stock->nwaiting++;
		pthread_cond_signal(stock->for_writer);
		pthread_cond_wait(&stock->for_readers, stock->mutex);
		stock->nwaiting--;
	}
	if (stock->is_closed || (offset >= stock->begin && offset < stock->from))
	{
		errno = ECANCELED;
		nread = -1;
	}
	else if (offset < stock->begin)
		nread = (ssize_t) (stock->begin - offset);
	else if (offset < stock->end)
	{
		uint64_t	place = offset - stock->from;
		uint64_t	rest = BLOCK_BYTES - place % BLOCK_BYTES;

		if (rest > stock->end - offset)
			rest = stock->end - offset;
		bytes = stock->blocks[place / BLOCK_BYTES] + place % BLOCK_BYTES;
		nread = (ssize_t) rest;
	}
	pthread_mutex_unlock(stock->mutex);

	/* no mutex: bytes that a thread reads are not released, and do not change */
	if (nread > 0 && (size_t) nread > nbytes)
		nread = (ssize_t) nbytes;
	if (bytes != NULL)
		memcpy(buffer, bytes, (size_t) nread);
	else if (nread > 0)
		memset(buffer, 0, (size_t) nread);
	return nread;
}
