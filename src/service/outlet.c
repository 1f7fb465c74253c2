/*
 * outlet.c
 *		Sends messages and blocks to a session.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* memfd_create */
#endif
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "outlet.h"
#include "reader/arrays.h"
#include "reader/place.h"
#include "wire/store.h"

/* numbers of the outlet's blocks begin here */
#define OWN_BLOCKS		UINT32_C(0x80000000)

/* the least sizes of blocks: for copies, and for an input */
#define LEAST_COPIES	((size_t) 1 << 20)
#define LEAST_ROOM		((size_t) 64 << 10)

/* ---- memory that the session maps, too ---- */

static CsvOwnBlock *
make_block(CsvOutlet *outlet, size_t nbytes)
{
	CsvOwnBlock   *own = calloc(1, sizeof(CsvOwnBlock));
	int			file = csv_memory_file_create("csv_gpu_fdw scan");
	void	   *bytes = MAP_FAILED;

	if (own != NULL && file >= 0 && csv_memory_file_reserve(file, nbytes) &&
		csv_memory_file_seal(file, false))
		bytes = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (bytes == MAP_FAILED)
	{
		if (file >= 0)
			close(file);
		free(own);
		return NULL;
	}
	own->block.number = OWN_BLOCKS + outlet->nmade++;
	own->block.descriptor = file;
	own->block.bytes = bytes;
	own->block.nbytes = nbytes;
	return own;
}

static void
free_block(CsvOwnBlock *own)
{
	munmap(own->block.bytes, own->block.nbytes);
	close(own->block.descriptor);
	free(own);
}

uint8_t *
csv_outlet_room(CsvOutlet *outlet, size_t nbytes)
{
	size_t		needed = nbytes + 2 * CSV_MARGIN;

	if (outlet->room == NULL || outlet->room->block.nbytes < needed)
	{
		if (outlet->room != NULL)
			free_block(outlet->room);
		outlet->room = make_block(outlet, needed < LEAST_ROOM ? LEAST_ROOM : needed);
	}
	return outlet->room == NULL ? NULL : outlet->room->block.bytes + CSV_MARGIN;
}

uint32_t
csv_outlet_use(CsvOutlet *outlet, const CsvCudaBlock *block)
{
	uint32_t	n = outlet->nblocks;

	for (uint32_t i = 0; i < n; i++)
		if (outlet->blocks[i].number == block->number)
			return i;
	if (n == CSV_MOST_BLOCKS)
		return n;
	if (!csv_grow(&csv_thread_memory, &outlet->blocks, &outlet->capacity, n + 1,
				  16, sizeof(*block)))
		return CSV_MOST_BLOCKS;
	outlet->blocks[outlet->nblocks++] = *block;
	return n;
}

/* copy bytes to a block; false: there is no memory */
static bool
copy_bytes(CsvOutlet *outlet, const void *bytes, size_t nbytes,
		   CsvCudaBlock *block, uint64_t *offset)
{
	CsvOwnBlock   *own = outlet->copies;
	size_t		size = (nbytes + 63) / 64 * 64;

	while (own != NULL && own->block.nbytes - own->used < size)
		own = own->next;
	if (own == NULL)
	{
		own = make_block(outlet, size < LEAST_COPIES ? LEAST_COPIES : size);
		if (own == NULL)
			return false;
		own->next = outlet->copies;
		outlet->copies = own;
	}
	*block = own->block;
	*offset = own->used;
	memcpy(own->block.bytes + own->used, bytes, nbytes);
	own->used += size;
	return true;
}

/* are they bytes of the input? */
static bool
is_in_room(const CsvOutlet *outlet, const void *bytes, size_t nbytes,
		   CsvCudaBlock *block)
{
	size_t		offset;

	if (outlet->room == NULL)
		return false;
	*block = outlet->room->block;
	offset = (size_t) ((uintptr_t) bytes - (uintptr_t) block->bytes);
	return offset <= block->nbytes && nbytes <= block->nbytes - offset;
}

/* for CsvPacker */
static void *
pack_bytes(void *arg, const void *bytes, size_t nbytes)
{
	CsvOutlet  *outlet = arg;
	CsvCudaBlock block;
	uint64_t	offset;
	uint32_t	number;

	if (is_in_room(outlet, bytes, nbytes, &block) ||
		(outlet->device != NULL &&
		 csv_cuda_find_block(csv_device_session(outlet->device), bytes,
							 nbytes, &block)))
		offset = (uint64_t) ((const uint8_t *) bytes - block.bytes);
	else if (!copy_bytes(outlet, bytes, nbytes, &block, &offset))
		return NULL;
	number = csv_outlet_use(outlet, &block);
	return number == CSV_MOST_BLOCKS ? NULL : csv_packed_pointer(number, offset);
}

/* ---- messages ---- */

static bool
wait_for(const CsvOutlet *outlet, short what)
{
	struct pollfd ready = {outlet->socket, what, 0};

	return poll(&ready, 1, -1) >= 0 || errno == EINTR;
}

static bool
send_message(const CsvOutlet *outlet, const void *message, size_t nbytes,
			 const CsvDescriptors *descriptors)
{
	while (!csv_wire_send(outlet->socket, message, nbytes, descriptors))
		if (errno != EAGAIN || !wait_for(outlet, POLLOUT))
			return false;
	return true;
}

size_t
csv_outlet_receive(CsvOutlet *outlet, CsvMessage *message,
				   CsvDescriptors *descriptors)
{
	ssize_t		nbytes;

	while ((nbytes = csv_wire_receive(outlet->socket, message, sizeof(*message),
									  descriptors)) < 0)
		if (errno != EAGAIN || !wait_for(outlet, POLLIN))
			return 0;
	return (size_t) nbytes;
}

bool
csv_outlet_is_left(void *arg)
{
	const CsvOutlet *outlet = arg;
	char		byte;

	return recv(outlet->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

bool
csv_outlet_send(CsvOutlet *outlet, const void *message, size_t nbytes)
{
	/* first the blocks that the session does not have yet */
	for (; outlet->nsent < outlet->nblocks; outlet->nsent++)
	{
		const CsvCudaBlock *block = &outlet->blocks[outlet->nsent];
		CsvDescriptors with = {1, {block->descriptor}};
		CsvBlockMessage announced = {CSV_MESSAGE_BLOCK, 0, block->nbytes};

		if (!send_message(outlet, &announced, sizeof(announced), &with))
			return false;
	}
	return send_message(outlet, message, nbytes, NULL);
}

bool
csv_outlet_send_batch(CsvOutlet *outlet, uint32_t kind, const CsvBatch *batch,
					  uint32_t ncolumns, const CsvQuery *query)
{
	const CsvPacker packer = {pack_bytes, outlet};

	if (ncolumns > CSV_MOST_KEPT_COLUMNS ||
		!csv_pack(batch, ncolumns, query, &packer, (CsvPacked *) outlet->reply.packed))
		return csv_outlet_send_failure(outlet, CSV_FAILURE_MEMORY, 0, "");
	outlet->reply.kind = kind;
	return csv_outlet_send(outlet, &outlet->reply,
						   offsetof(CsvBatchMessage, packed) +
						   csv_packed_bytes(ncolumns));
}

/* if the file cannot be read, the device has not failed */
static void
count_failure(const CsvOutlet *outlet, CsvFailure failure)
{
	CsvCounts  *counts;

	if (failure == CSV_FAILURE_FILE || failure == CSV_FAILURE_FOOTER ||
		outlet->device == NULL)
		return;
	counts = csv_device_counts(outlet->device);
	csv_count(&counts->failures, 1);
	if (outlet->may_fall_back)
		csv_count(&counts->fallbacks[csv_device_is_lost(outlet->device) ?
									 CSV_FALLBACK_FAILED : CSV_FALLBACK_MEMORY],
				  1);
}

bool
csv_outlet_send_failure(CsvOutlet *outlet, CsvFailure failure, int error,
						const char *reason)
{
	CsvFailedMessage message;
	bool		sent;

	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_FAILED;
	message.failure = failure;
	message.error = error;
	snprintf(message.reason, sizeof(message.reason), "%s", reason);
	count_failure(outlet, failure);
	sent = send_message(outlet, &message, sizeof(message), NULL);

	/* a new process, for the next query, can use a lost device again */
	if (csv_device_any_is_lost())
		_exit(0);
	return sent;
}

void
csv_outlet_begin(CsvOutlet *outlet)
{
	/* blocks of a message that was not sent may be gone */
	outlet->nblocks = outlet->nsent;
	for (CsvOwnBlock *own = outlet->copies; own != NULL; own = own->next)
		own->used = 0;
}

CsvWireRequest *
csv_outlet_read_request(CsvOutlet *outlet, int file)
{
	int64_t		nbytes = csv_memory_file_size(file, true);
	CsvWireRequest *request;
	void	   *bytes;

	if (nbytes <= 0 || (uint64_t) nbytes > CSV_WIRE_MOST_BYTES)
		return NULL;
	bytes = mmap(NULL, (size_t) nbytes, PROT_READ, MAP_SHARED, file, 0);
	if (bytes == MAP_FAILED)
		return NULL;
	request = csv_wire_decode_request(bytes, (size_t) nbytes, &outlet->memory);
	munmap(bytes, (size_t) nbytes);
	return request;
}

/* ---- begin and end ---- */

void
csv_outlet_init(CsvOutlet *outlet, int socket, bool may_fall_back)
{
	memset(outlet, 0, sizeof(*outlet));
	outlet->socket = socket;
	outlet->may_fall_back = may_fall_back;
	outlet->memory = csv_thread_memory;
}

void
csv_outlet_free(CsvOutlet *outlet)
{
	while (outlet->copies != NULL)
	{
		CsvOwnBlock *next = outlet->copies->next;

		free_block(outlet->copies);
		outlet->copies = next;
	}
	if (outlet->room != NULL)
		free_block(outlet->room);
	csv_free(&csv_thread_memory, outlet->blocks);
	close(outlet->socket);
}
