/*
 * scan.c
 *		A scan's thread.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* memfd_create */
#endif
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reader/place.h"
#include "scan.h"
#include "wire/batch.h"
#include "wire/request.h"
#include "wire/store.h"

/* blocks of the scan's own have numbers from here on */
#define OWN_BLOCKS		UINT32_C(0x80000000)

/* for bytes of a stream, in two halves */
#define STREAM_BYTES	((size_t) 8 << 20)

/* memory of the scan's own that the session maps, too */
typedef struct OwnBlock
{
	CsvDeviceBlock block;
	size_t		used;
	struct OwnBlock *next;
} OwnBlock;

typedef struct Scan
{
	CsvDevice  *device;
	CsvScanMessage message;
	int			socket;
	CsvMemory	memory;
	const CsvEngine *engine;	/* NULL: not open yet */
	void	   *state;

	/* the file at hand */
	int			file;			/* -1: none, or a stream */
	CsvWireRequest *request;	/* layout and dialect; NULL: there is none */
	CsvWireRequest *asked;		/* whose query the engine has been given; or NULL */
	CsvReader  *reader;
	uint64_t	offset;			/* where the file is read next, in turn */
	int			error;			/* errno of reading; or 0 */
	CsvStatus	status;			/* of opening it */
	char		reason[CSV_REASON_BYTES];	/* why there is no engine */

	/* a stream's bytes */
	OwnBlock   *stream;
	size_t		at;				/* of those that are there, */
	size_t		end;
	bool		at_end;

	/* blocks that the session knows */
	uint32_t   *known;
	uint32_t	nknown;
	uint32_t	capacity;
	CsvDeviceBlock *used;		/* of the message at hand */
	uint32_t	nused;
	uint32_t	most_used;
	OwnBlock   *copies;			/* of what is in no block */
	uint32_t	nblocks;		/* of its own, ever made */

	CsvBatchMessage reply;
} Scan;

static int	nscans = 0;

static void *
scan_alloc(void *owner, size_t nbytes)
{
	(void) owner;
	return malloc(nbytes);
}

static void
scan_free(void *owner, void *memory)
{
	(void) owner;
	free(memory);
}

/* ---- memory that the session maps, too ---- */

static OwnBlock *
make_block(Scan *scan, size_t nbytes)
{
	OwnBlock   *own = calloc(1, sizeof(OwnBlock));
	int			file = csv_memory_file_create("csv_gpu_fdw scan");
	void	   *bytes = MAP_FAILED;

	if (own != NULL && file >= 0 && ftruncate(file, (off_t) nbytes) == 0 &&
		csv_memory_file_seal(file, false))
		bytes = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (bytes == MAP_FAILED)
	{
		if (file >= 0)
			close(file);
		free(own);
		return NULL;
	}
	own->block.number = OWN_BLOCKS + scan->nblocks++;
	own->block.file = file;
	own->block.bytes = bytes;
	own->block.nbytes = nbytes;
	return own;
}

static void
free_block(OwnBlock *own)
{
	munmap(own->block.bytes, own->block.nbytes);
	close(own->block.file);
	free(own);
}

/* the message at hand speaks of this block */
static bool
use_block(Scan *scan, const CsvDeviceBlock *block)
{
	for (uint32_t i = 0; i < scan->nused; i++)
		if (scan->used[i].number == block->number)
			return true;
	if (scan->nused == scan->most_used)
	{
		uint32_t	most = 2 * scan->most_used + 8;
		CsvDeviceBlock *used = realloc(scan->used, sizeof(*used) * most);

		if (used == NULL)
			return false;
		scan->used = used;
		scan->most_used = most;
	}
	scan->used[scan->nused++] = *block;
	return true;
}

/* for CsvWireFinder */
static bool
find_bytes(void *arg, const void *bytes, size_t nbytes, uint32_t *number,
		   uint64_t *offset)
{
	Scan	   *scan = arg;
	CsvDeviceBlock block;

	if (!csv_device_find_block(scan->device, bytes, nbytes, &block))
	{
		OwnBlock   *own = scan->copies;

		while (own != NULL &&
			   ((const uint8_t *) bytes < own->block.bytes ||
				(size_t) ((const uint8_t *) bytes - own->block.bytes) + nbytes >
				own->block.nbytes))
			own = own->next;
		if (own == NULL)
			return false;
		block = own->block;
	}
	*number = block.number;
	*offset = (uint64_t) ((const uint8_t *) bytes - block.bytes);
	return use_block(scan, &block);
}

static void *
make_room(void *arg, size_t nbytes)
{
	Scan	   *scan = arg;
	OwnBlock   *own = scan->copies;
	size_t		size = (nbytes + 63) / 64 * 64;
	void	   *room;

	while (own != NULL && own->block.nbytes - own->used < size)
		own = own->next;
	if (own == NULL)
	{
		own = make_block(scan, size < ((size_t) 1 << 20) ? (size_t) 1 << 20 : size);
		if (own == NULL)
			return NULL;
		own->next = scan->copies;
		scan->copies = own;
	}
	room = own->block.bytes + own->used;
	own->used += size;
	return room;
}

/* ---- messages ---- */

static bool
wait_for(const Scan *scan, short what)
{
	struct pollfd ready = {scan->socket, what, 0};

	return poll(&ready, 1, -1) >= 0 || errno == EINTR;
}

static bool
send_message(const Scan *scan, const void *message, size_t nbytes,
			 const CsvDescriptors *descriptors)
{
	while (!csv_wire_send(scan->socket, message, nbytes, descriptors))
		if (errno != EAGAIN || !wait_for(scan, POLLOUT))
			return false;
	return true;
}

/* 0: the session has closed the socket, or sends what is no message */
static size_t
receive_message(const Scan *scan, CsvMessage *message,
				CsvDescriptors *descriptors)
{
	ssize_t		nbytes;

	while ((nbytes = csv_wire_receive(scan->socket, message, sizeof(*message),
									  descriptors)) < 0)
		if (errno != EAGAIN || !wait_for(scan, POLLIN))
			return 0;
	return (size_t) nbytes;
}

/* in any of the scan's threads: has the session closed the socket? */
static bool
is_left(void *arg)
{
	const Scan *scan = arg;
	char		byte;

	return recv(scan->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static bool
send_failure(const Scan *scan, CsvFailure failure, int error,
			 const char *reason)
{
	CsvFailedMessage message;

	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_FAILED;
	message.failure = failure;
	message.error = error;
	snprintf(message.reason, sizeof(message.reason), "%s", reason);
	return send_message(scan, &message, sizeof(message), NULL);
}

static bool
send_kind(const Scan *scan, uint32_t kind)
{
	return send_message(scan, &kind, sizeof(kind), NULL);
}

static bool
is_known(const Scan *scan, uint32_t number)
{
	for (uint32_t i = 0; i < scan->nknown; i++)
		if (scan->known[i] == number)
			return true;
	return false;
}

/* blocks that are new to the session go before the message that speaks of them */
static bool
send_blocks(Scan *scan)
{
	for (uint32_t i = 0; i < scan->nused; i++)
	{
		const CsvDeviceBlock *block = &scan->used[i];
		CsvDescriptors with = {1, {block->file}};
		CsvBlockMessage message = {
			CSV_MESSAGE_BLOCK, block->number, block->nbytes
		};

		if (is_known(scan, block->number))
			continue;
		if (scan->nknown == scan->capacity)
		{
			uint32_t	capacity = 2 * scan->capacity + 16;
			uint32_t   *known = realloc(scan->known,
										sizeof(uint32_t) * capacity);

			if (known == NULL)
				return false;
			scan->known = known;
			scan->capacity = capacity;
		}
		scan->known[scan->nknown++] = block->number;
		if (!send_message(scan, &message, sizeof(message), &with))
			return false;
	}
	return true;
}

/* the message in scan->reply, of so many bytes behind its head */
static bool
send_reply(Scan *scan, uint32_t kind, size_t nbytes)
{
	scan->reply.kind = kind;
	scan->reply.nbytes = (uint32_t) nbytes;
	scan->reply.read_seconds = csv_reader_read_seconds(scan->reader);
	return send_blocks(scan) &&
		send_message(scan, &scan->reply, offsetof(CsvBatchMessage, bytes) + nbytes,
					 NULL);
}

static void
begin_reply(Scan *scan)
{
	scan->nused = 0;
	for (OwnBlock *own = scan->copies; own != NULL; own = own->next)
		own->used = 0;
}

/* ---- the bytes ---- */

static ssize_t
read_at(void *arg, uint8_t *buffer, size_t nbytes, uint64_t offset)
{
	return pread(((Scan *) arg)->file, buffer, nbytes, (off_t) offset);
}

static void
seek(void *arg, uint64_t offset)
{
	((Scan *) arg)->offset = offset;
}

static size_t
read_file(void *arg, uint8_t *buffer, size_t nbytes)
{
	Scan	   *scan = arg;
	ssize_t		n;

	do
		n = pread(scan->file, buffer, nbytes, (off_t) scan->offset);
	while (n < 0 && errno == EINTR);
	if (n < 0)
	{
		scan->error = errno;
		return 0;
	}
	scan->offset += (uint64_t) n;
	return (size_t) n;
}

/* have the session write more bytes */
static bool
fill_stream(Scan *scan)
{
	CsvDataMessage need = {
		CSV_MESSAGE_NEED, scan->stream->block.number, 0, STREAM_BYTES
	};
	CsvMessage	message;
	CsvDescriptors descriptors;
	size_t		nbytes;
	bool		good;

	scan->nused = 0;
	if (!use_block(scan, &scan->stream->block) || !send_blocks(scan) ||
		!send_message(scan, &need, sizeof(need), NULL))
		return false;
	nbytes = receive_message(scan, &message, &descriptors);
	csv_wire_close(&descriptors);
	good = nbytes == sizeof(CsvDataMessage) &&
		message.kind == CSV_MESSAGE_DATA && message.data.nbytes <= STREAM_BYTES;
	scan->at = 0;
	scan->end = good ? message.data.nbytes : 0;
	scan->at_end = scan->end == 0;
	return good;
}

static size_t
read_stream(void *arg, uint8_t *buffer, size_t nbytes)
{
	Scan	   *scan = arg;
	size_t		n;

	if (scan->at == scan->end && !scan->at_end && !fill_stream(scan))
		scan->at_end = true;
	n = scan->end - scan->at < nbytes ? scan->end - scan->at : nbytes;
	memcpy(buffer, scan->stream->block.bytes + scan->at, n);
	scan->at += n;
	return n;
}

/* ---- what the session asks ---- */

/* tell why the reader has failed; false: that cannot be told */
static bool
send_status(const Scan *scan, CsvStatus status)
{
	switch (status)
	{
		case CSV_DEVICE_FAILED:
			return send_failure(scan, CSV_FAILURE_DEVICE, 0,
								scan->engine == NULL ? scan->reason :
								csv_reader_message(scan->reader));
		case CSV_UNREADABLE:
			return send_failure(scan, CSV_FAILURE_FILE, errno, "");
		case CSV_NO_MEMORY:
			return send_failure(scan, CSV_FAILURE_MEMORY, 0, "");
		default:
			return false;
	}
}

static const CsvQuery *
asked_query(const Scan *scan)
{
	return scan->asked != NULL ? scan->asked->request->query : NULL;
}

static bool
next_batch(Scan *scan)
{
	CsvWireFinder finder = {find_bytes, make_room, scan};
	size_t		nbytes;
	CsvBatch	batch;
	CsvStatus	status;

	if (scan->request == NULL)
		return false;
	if (scan->status != CSV_OK)
		return send_status(scan, scan->status);
	begin_reply(scan);
	status = csv_reader_next(scan->reader, &batch);
	if (scan->error != 0)
		return send_failure(scan, CSV_FAILURE_FILE, scan->error, "");
	if (status == CSV_END)
		return send_kind(scan, CSV_MESSAGE_END);
	if (status != CSV_OK)
		return send_status(scan, status);
	nbytes = csv_wire_batch_bytes(scan->request->layout->ncolumns,
								  batch.answer != NULL);
	if (nbytes > sizeof(scan->reply.bytes) ||
		!csv_wire_encode_batch(&batch, scan->request->layout, asked_query(scan),
							   &finder, (uint8_t *) scan->reply.bytes))
		return send_failure(scan, CSV_FAILURE_MEMORY, 0, "");
	return send_reply(scan, CSV_MESSAGE_BATCH, nbytes);
}

static bool
fetch_groups(Scan *scan, uint32_t first)
{
	CsvWireFinder finder = {find_bytes, make_room, scan};
	CsvPartialGroups groups;

	if (asked_query(scan) == NULL || scan->engine == NULL)
		return false;
	begin_reply(scan);
	if (scan->engine->held_groups(scan->state, first, &groups) != CSV_OK)
		return send_failure(scan, CSV_FAILURE_DEVICE, 0,
							scan->engine->message(scan->state));
	if (!csv_wire_encode_groups(&groups, asked_query(scan), &finder,
								(uint8_t *) scan->reply.bytes))
		return send_failure(scan, CSV_FAILURE_MEMORY, 0, "");
	return send_reply(scan, CSV_MESSAGE_GROUPS, csv_wire_groups_bytes());
}

/* a request that a memory file has; NULL: it has none */
static CsvWireRequest *
read_request(const Scan *scan, int file)
{
	int64_t		nbytes = csv_memory_file_size(file, true);
	CsvWireRequest *request = NULL;
	void	   *bytes;

	if (nbytes <= 0 || (uint64_t) nbytes > CSV_WIRE_MOST_BYTES)
		return NULL;
	bytes = mmap(NULL, (size_t) nbytes, PROT_READ, MAP_SHARED, file, 0);
	if (bytes == MAP_FAILED)
		return NULL;
	(void) csv_wire_decode_request(bytes, (size_t) nbytes, &scan->memory,
								   &request);
	munmap(bytes, (size_t) nbytes);
	return request;
}

/* ---- files ---- */

static void
close_file(Scan *scan)
{
	if (scan->reader != NULL)
		csv_reader_free(scan->reader);
	scan->reader = NULL;
	if (scan->file >= 0)
		close(scan->file);
	scan->file = -1;
	if (scan->asked != NULL)
		csv_wire_free_request(scan->asked, &scan->memory);
	scan->asked = NULL;
	if (scan->request != NULL)
		csv_wire_free_request(scan->request, &scan->memory);
	scan->request = NULL;
	scan->at = scan->end = 0;
	scan->at_end = false;
	scan->error = 0;
}

/* a reader of the file, from its place on; CSV_OK, or why not */
static CsvStatus
open_reader(Scan *scan, const CsvFileMessage *message)
{
	CsvFilePlace place = {
		message->offset, message->records, message->lines,
		message->alone_until, message->skip_line != 0
	};
	CsvReadAhead ahead = {
		read_at, seek, scan, (int) scan->message.io_threads, 0
	};
	CsvReaderOptions options;
	CsvDialect	dialect;
	CsvStatus	status;

	memset(&options, 0, sizeof(options));
	options.dialect = scan->request->dialect;
	options.max_record_bytes = scan->request->max_record_bytes;
	options.chunk_bytes = scan->request->chunk_bytes;
	options.interrupted = is_left;
	options.interrupted_arg = scan;
	scan->reader = csv_reader_create(&scan->memory, &options);
	if (scan->reader == NULL)
		return CSV_NO_MEMORY;
	status = csv_reader_set_engine(scan->reader, scan->engine, scan->state);
	if (status != CSV_OK)
		return status;
	csv_dialect_compile(&dialect, &scan->request->dialect);
	scan->offset = place.offset;
	csv_reader_open_at(scan->reader, scan->file >= 0 ? read_file : read_stream,
					   scan, &place, &dialect);
	if (scan->file >= 0)
		csv_reader_read_ahead(scan->reader, &ahead);
	else if (scan->stream == NULL &&
			 (scan->stream = make_block(scan, STREAM_BYTES)) == NULL)
		return CSV_NO_MEMORY;
	return csv_reader_set_layout(scan->reader, scan->request->layout);
}

/* why it could not be is said when the first batch is asked for */
static bool
open_file(Scan *scan, const CsvFileMessage *message, CsvDescriptors *with)
{
	close_file(scan);
	if (message->is_stream > 1 || message->skip_line > 1 ||
		with->n != (message->is_stream ? 1 : 2))
		return false;
	scan->request = read_request(scan, with->files[0]);
	if (scan->request == NULL)
		return false;
	if (!message->is_stream)
	{
		scan->file = with->files[1];
		with->n = 1;
	}
	scan->status = scan->engine == NULL ? CSV_DEVICE_FAILED :
		open_reader(scan, message);
	return true;
}

/* evaluate another query over the same columns from now on */
static bool
set_query(Scan *scan, int file)
{
	CsvWireRequest *request = read_request(scan, file);

	if (request == NULL)
		return false;
	if (request->request == NULL || scan->request == NULL ||
		request->layout->ncolumns != scan->request->layout->ncolumns)
	{
		csv_wire_free_request(request, &scan->memory);
		return false;
	}
	if (scan->asked != NULL)
		csv_wire_free_request(scan->asked, &scan->memory);
	scan->asked = request;
	if (scan->status == CSV_OK)
		scan->engine->set_query(scan->state, request->request);
	return true;
}

/* false: the scan is over */
static bool
serve(Scan *scan)
{
	CsvMessage	message;
	CsvDescriptors descriptors;
	size_t		nbytes = receive_message(scan, &message, &descriptors);
	bool		good = false;

	if (nbytes == sizeof(uint32_t) && message.kind == CSV_MESSAGE_NEXT)
		good = next_batch(scan);
	else if (nbytes == sizeof(CsvFileMessage) &&
			 message.kind == CSV_MESSAGE_FILE)
		good = open_file(scan, &message.file, &descriptors);
	else if (nbytes == sizeof(CsvHeldMessage) &&
			 message.kind == CSV_MESSAGE_HELD)
		good = fetch_groups(scan, message.held.first);
	else if (nbytes == sizeof(uint32_t) && message.kind == CSV_MESSAGE_QUERY &&
			 descriptors.n == 1)
		good = set_query(scan, descriptors.files[0]);
	if (nbytes > 0)
		csv_wire_close(&descriptors);
	return good;
}

/* ---- begin and end ---- */

static void
free_scan(Scan *scan)
{
	close_file(scan);
	if (scan->engine != NULL)
		scan->engine->close(scan->state);
	while (scan->copies != NULL)
	{
		OwnBlock   *next = scan->copies->next;

		free_block(scan->copies);
		scan->copies = next;
	}
	if (scan->stream != NULL)
		free_block(scan->stream);
	free(scan->known);
	free(scan->used);
	close(scan->socket);
	free(scan);
	__atomic_fetch_sub(&nscans, 1, __ATOMIC_RELAXED);
}

static void *
run_scan(void *arg)
{
	Scan	   *scan = arg;

	scan->engine = csv_device_open_engine(scan->device, &scan->memory,
										  &scan->state, scan->reason,
										  sizeof(scan->reason));
	while (serve(scan))
		;
	free_scan(scan);
	return NULL;
}

bool
csv_scan_start(CsvDevice *device, const CsvScanMessage *message, int socket)
{
	Scan	   *scan = calloc(1, sizeof(Scan));
	pthread_attr_t attributes;
	pthread_t	thread;
	bool		good;

	if (scan == NULL)
		return false;
	scan->device = device;
	scan->message = *message;
	scan->memory.alloc = scan_alloc;
	scan->memory.free = scan_free;
	scan->socket = socket;
	scan->file = -1;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	__atomic_fetch_add(&nscans, 1, __ATOMIC_RELAXED);
	good = pthread_create(&thread, &attributes, run_scan, scan) == 0;
	pthread_attr_destroy(&attributes);
	if (!good)
	{
		free(scan);
		__atomic_fetch_sub(&nscans, 1, __ATOMIC_RELAXED);
	}
	return good;
}

int
csv_scan_count(void)
{
	return __atomic_load_n(&nscans, __ATOMIC_RELAXED);
}
