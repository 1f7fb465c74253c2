/*
 * remote.c
 *		Takes batches of csv_gpu_service.
 *
 * What the program sends is looked at before it is used: a wrong offset would be
 * the end of the whole server.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "utils/memutils.h"

#include "batches/remote.h"
#include "client/channel.h"
#include "client/connection.h"
#include "table/memory.h"
#include "wire/batch.h"
#include "wire/request.h"
#include "wire/store.h"

struct CsvRemote
{
	MemoryContext context;
	MemoryContextCallback callback;
	CsvMemory	memory;
	CsvRemoteFile file;
	CsvChannel *channel;		/* NULL: it is closed */
	const CsvRequest *request;	/* that was asked last; or NULL */
	CsvFilePlace place;
	double		read_seconds;
	char		reason[CSV_REASON_BYTES];	/* of the last failure */

	CsvWireBlock *blocks;
	uint32		nblocks;
	uint32		capacity;

	/* of the batch at hand */
	CsvArray   *arrays;
	uint32		narrays;		/* that there is room for */
	CsvAnswer	answer;
	CsvBatchMessage message;

	/* bytes of a stream that no batch was made of yet: [rest_start, rest_end) */
	uint8_t    *rest;
	size_t		rest_start;
	size_t		rest_end;
	size_t		rest_room;
	size_t		passed;			/* of them, that the program has */
};

/* ---- the end ---- */

static void
close_remote(CsvRemote *remote)
{
	if (remote->channel == NULL)
		return;
	csv_channel_free(remote->channel);
	remote->channel = NULL;
	for (uint32 i = 0; i < remote->nblocks; i++)
		munmap(remote->blocks[i].bytes, remote->blocks[i].nbytes);
	remote->nblocks = 0;
}

/* the reset callback */
static void
release_remote(void *arg)
{
	close_remote(arg);
}

void
csv_remote_close(CsvRemote *remote)
{
	close_remote(remote);
	if (remote->rest != NULL)
		pfree(remote->rest);
	remote->rest = NULL;
}

/* ---- messages ---- */

/* a memory file with a request; -1: there can be none */
static int
make_request_file(CsvRemote *remote, const CsvRequest *request)
{
	CsvWireRequest whole;
	size_t		nbytes;
	uint8_t    *bytes;
	int			file;
	bool		good;

	memset(&whole, 0, sizeof(whole));
	whole.dialect = remote->file.dialect->opt;
	whole.max_record_bytes = remote->file.reader->max_record_bytes;
	whole.chunk_bytes = remote->file.reader->chunk_bytes;
	whole.layout = remote->file.layout;
	whole.request = request;
	bytes = csv_wire_encode_request(&whole, &remote->memory, &nbytes);
	if (bytes == NULL)
		return -1;
	file = csv_memory_file_create("csv_gpu_fdw request");
	good = file >= 0 && write(file, bytes, nbytes) == (ssize_t) nbytes &&
		csv_memory_file_seal(file, true);
	pfree(bytes);
	if (good)
		return file;
	if (file >= 0)
		close(file);
	return -1;
}

/* the program is gone, or says what it must not */
static CsvStatus
fail(CsvRemote *remote, const char *reason)
{
	strlcpy(remote->reason, reason, sizeof(remote->reason));
	return CSV_DEVICE_FAILED;
}

static CsvStatus
fail_as_told(CsvRemote *remote, const CsvFailedMessage *failed)
{
	switch (failed->failure)
	{
		case CSV_FAILURE_FILE:
			errno = failed->error;
			return CSV_UNREADABLE;
		case CSV_FAILURE_MEMORY:
			return CSV_NO_MEMORY;
		default:
			strlcpy(remote->reason, pnstrdup(failed->reason, CSV_REASON_BYTES),
					sizeof(remote->reason));
			return CSV_DEVICE_FAILED;
	}
}

/* a block that messages will speak of; takes the descriptor in any case */
static bool
add_block(CsvRemote *remote, const CsvBlockMessage *message,
		  CsvDescriptors *came)
{
	CsvWireBlock *block;
	void	   *bytes = MAP_FAILED;

	if (remote->nblocks == remote->capacity)
	{
		remote->capacity = 2 * remote->capacity + 16;
		remote->blocks = remote->blocks == NULL ?
			MemoryContextAlloc(remote->context,
							   sizeof(CsvWireBlock) * remote->capacity) :
			repalloc(remote->blocks, sizeof(CsvWireBlock) * remote->capacity);
	}
	if (came->n == 1 && message->nbytes > 0 &&
		csv_memory_file_size(came->files[0], false) >= (int64) message->nbytes)
		bytes = mmap(NULL, message->nbytes, PROT_READ | PROT_WRITE, MAP_SHARED,
					 came->files[0], 0);
	csv_wire_close(came);
	if (bytes == MAP_FAILED)
		return false;
	block = &remote->blocks[remote->nblocks++];
	block->number = message->number;
	block->bytes = bytes;
	block->nbytes = message->nbytes;
	return true;
}

/* ---- a stream's bytes ---- */

static void
make_rest_room(CsvRemote *remote, size_t nbytes)
{
	size_t		length = remote->rest_end - remote->rest_start;

	if (remote->rest_room - remote->rest_end >= nbytes)
		return;
	if (remote->rest_start >= length && remote->rest_room - length >= nbytes)
		memcpy(remote->rest, remote->rest + remote->rest_start, length);
	else
	{
		size_t		room = 2 * (length + nbytes);
		uint8_t    *rest = MemoryContextAllocHuge(remote->context, room);

		if (length > 0)
			memcpy(rest, remote->rest + remote->rest_start, length);
		if (remote->rest != NULL)
			pfree(remote->rest);
		remote->rest = rest;
		remote->rest_room = room;
	}
	remote->rest_start = 0;
	remote->rest_end = length;
}

/* bytes that the program has none of yet, as many as come at a time */
static void
read_stream(CsvRemote *remote, size_t nbytes)
{
	size_t		n;

	make_rest_room(remote, nbytes);
	while (nbytes > 0 &&
		   (n = remote->file.read(remote->file.read_arg,
									 remote->rest + remote->rest_end,
									 nbytes)) > 0)
	{
		remote->rest_end += n;
		nbytes -= n;
	}
}

/* give it so many bytes, or fewer; false if it is gone */
static bool
feed(CsvRemote *remote, const CsvDataMessage *need)
{
	CsvDataMessage data;
	const CsvWireBlock *block = NULL;
	size_t		waiting;

	for (uint32 i = 0; i < remote->nblocks; i++)
		if (remote->blocks[i].number == need->block)
			block = &remote->blocks[i];
	if (remote->file.file >= 0 || block == NULL ||
		need->offset > block->nbytes ||
		need->nbytes > block->nbytes - need->offset)
		return false;
	waiting = remote->rest_end - remote->rest_start - remote->passed;
	if (waiting == 0)
	{
		read_stream(remote, need->nbytes);
		waiting = remote->rest_end - remote->rest_start - remote->passed;
	}
	data = *need;
	data.kind = CSV_MESSAGE_DATA;
	data.nbytes = Min(waiting, need->nbytes);
	memcpy(block->bytes + need->offset,
		   remote->rest + remote->rest_start + remote->passed, data.nbytes);
	remote->passed += data.nbytes;
	return csv_channel_send(remote->channel, &data, sizeof(data), NULL);
}

/* a batch was made of so many */
static void
pass_rest(CsvRemote *remote, size_t nbytes)
{
	nbytes = Min(nbytes, remote->passed);
	remote->rest_start += nbytes;
	remote->passed -= nbytes;
}

const uint8_t *
csv_remote_rest(const CsvRemote *remote, size_t *nbytes)
{
	*nbytes = remote->rest_end - remote->rest_start;
	return remote->rest + remote->rest_start;
}

/* ---- batches ---- */

/*
 * Wait for the answer, into remote->message, and see to what comes before it.
 * CSV_OK: it is of this kind; CSV_END: it is CSV_MESSAGE_END.
 */
static CsvStatus
receive(CsvRemote *remote, uint32 kind, size_t *nbytes)
{
	union
	{
		CsvBatchMessage batch;
		CsvMessage	other;
	}		   *message = (void *) &remote->message;
	CsvDescriptors came;

	for (;;)
	{
		size_t		n = csv_channel_receive(remote->channel, message,
											sizeof(remote->message), &came);

		if (n == 0)
			return fail(remote, "csv_gpu_service has ended");
		if (message->other.kind == CSV_MESSAGE_BLOCK &&
			n == sizeof(CsvBlockMessage))
		{
			CsvBlockMessage block = message->other.block;

			if (!add_block(remote, &block, &came))
				return CSV_NO_MEMORY;
			continue;
		}
		csv_wire_close(&came);
		if (message->other.kind == kind &&
			n >= offsetof(CsvBatchMessage, bytes) &&
			n - offsetof(CsvBatchMessage, bytes) == message->batch.nbytes)
		{
			*nbytes = message->batch.nbytes;
			remote->read_seconds = message->batch.read_seconds;
			return CSV_OK;
		}
		if (message->other.kind == CSV_MESSAGE_END && n == sizeof(uint32))
			return CSV_END;
		if (message->other.kind == CSV_MESSAGE_FAILED &&
			n == sizeof(CsvFailedMessage))
			return fail_as_told(remote, &message->other.failed);
		if (message->other.kind == CSV_MESSAGE_NEED &&
			n == sizeof(CsvDataMessage))
		{
			CsvDataMessage need = message->other.data;

			if (feed(remote, &need))
				continue;
		}
		return fail(remote, "csv_gpu_service does not answer as it should");
	}
}

static const CsvQuery *
asked_query(const CsvRemote *remote)
{
	return remote->request != NULL ? remote->request->query : NULL;
}

CsvStatus
csv_remote_next(CsvRemote *remote, CsvBatch *batch)
{
	CsvWireBlocks blocks;
	uint32		next = CSV_MESSAGE_NEXT;
	size_t		nbytes;
	CsvStatus	status;

	if (!csv_channel_send(remote->channel, &next, sizeof(next), NULL))
		return fail(remote, "csv_gpu_service has ended");
	status = receive(remote, CSV_MESSAGE_BATCH, &nbytes);
	if (status != CSV_OK)
		return status;
	blocks.blocks = remote->blocks;
	blocks.nblocks = remote->nblocks;
	if (!csv_wire_decode_batch((const uint8_t *) remote->message.bytes, nbytes,
							   &blocks, remote->file.layout,
							   asked_query(remote), remote->arrays,
							   &remote->answer, batch) ||
		!csv_wire_check_values(batch, remote->file.layout))
		return fail(remote, "csv_gpu_service sent a batch that is not as it should be");
	csv_place_pass_batch(&remote->place, batch);
	pass_rest(remote, batch->consumed);
	return CSV_OK;
}

CsvStatus
csv_remote_held(CsvRemote *remote, uint32_t first, CsvPartialGroups *groups)
{
	CsvHeldMessage message = {CSV_MESSAGE_HELD, first};
	CsvWireBlocks blocks;
	size_t		nbytes;
	CsvStatus	status;

	if (!csv_channel_send(remote->channel, &message, sizeof(message), NULL))
		return fail(remote, "csv_gpu_service has ended");
	status = receive(remote, CSV_MESSAGE_GROUPS, &nbytes);
	if (status != CSV_OK)
		return status;
	blocks.blocks = remote->blocks;
	blocks.nblocks = remote->nblocks;
	if (!csv_wire_decode_groups((const uint8_t *) remote->message.bytes, nbytes,
								&blocks, asked_query(remote), groups))
		return fail(remote, "csv_gpu_service sent groups that are not as they should be");
	return CSV_OK;
}

void
csv_remote_ask(CsvRemote *remote, const CsvRequest *request)
{
	uint32		kind = CSV_MESSAGE_QUERY;
	CsvDescriptors with = {1, {-1}};

	with.files[0] = make_request_file(remote, request);
	if (with.files[0] < 0)
		return;
	remote->request = request;
	(void) csv_channel_send(remote->channel, &kind, sizeof(kind), &with);
	csv_wire_close(&with);
}

/* ---- the beginning ---- */

void
csv_remote_begin(CsvRemote *remote, const CsvRemoteFile *file)
{
	const CsvFilePlace *place = &file->place;
	CsvDescriptors with = {1, {-1}};
	CsvFileMessage message;

	remote->file = *file;
	remote->place = *place;
	remote->request = NULL;
	remote->rest_start = remote->rest_end = remote->passed = 0;
	if (file->nbytes > 0)
	{
		make_rest_room(remote, file->nbytes);
		memcpy(remote->rest, file->bytes, file->nbytes);
		remote->rest_end = file->nbytes;
	}
	if (file->layout->ncolumns > remote->narrays)
	{
		remote->narrays = file->layout->ncolumns;
		remote->arrays = MemoryContextAlloc(remote->context, sizeof(CsvArray) *
											remote->narrays);
	}
	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_FILE;
	message.is_stream = file->file < 0;
	message.offset = place->offset;
	message.records = place->records;
	message.lines = place->lines;
	message.alone_until = place->alone_until;
	message.skip_line = place->skip_line;
	with.files[0] = make_request_file(remote, NULL);
	if (with.files[0] < 0)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	if (file->file >= 0)
		with.files[with.n++] = file->file;

	/* whether it was sent shows when a batch is asked for */
	(void) csv_channel_send(remote->channel, &message, sizeof(message), &with);
	close(with.files[0]);
}

CsvRemote *
csv_remote_open(const CsvSettings *settings, bool must_wait)
{
	CsvScanMessage message;
	CsvMessage	answer;
	CsvRemote  *remote;
	CsvDescriptors with = {1, {-1}};
	int			ends[2];
	volatile bool good = false;

	if (!csv_service_connect(must_wait))
		return NULL;
	remote = palloc0(sizeof(CsvRemote));
	remote->context = CurrentMemoryContext;
	remote->memory = csv_context_memory(CurrentMemoryContext);
	remote->callback.func = release_remote;
	remote->callback.arg = remote;
	MemoryContextRegisterResetCallback(remote->context, &remote->callback);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
				   ends) != 0)
		return NULL;
	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_SCAN;
	message.device = (uint32) settings->device;
	message.must_wait = must_wait;
	message.io_threads = (uint32) settings->io_threads;
	with.files[0] = ends[1];
	PG_TRY();
	{
		remote->channel = csv_channel_create(ends[0]);
		good = csv_service_ask(&message, sizeof(message), &with, &answer, NULL) &&
			answer.done.count > 0;
	}
	PG_FINALLY();
	{
		close(ends[1]);
	}
	PG_END_TRY();
	if (good)
		return remote;
	csv_remote_close(remote);
	return NULL;
}

const char *
csv_remote_message(const CsvRemote *remote)
{
	return remote->reason;
}

const CsvFilePlace *
csv_remote_place(const CsvRemote *remote)
{
	return &remote->place;
}

double
csv_remote_read_seconds(const CsvRemote *remote)
{
	return remote->read_seconds;
}
