/*
 * inlet.c
 *		Receives messages, and maps the memory that they announce.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "utils/memutils.h"

#include "batches/inlet.h"
#include "client/channel.h"
#include "client/connection.h"
#include "table/memory.h"
#include "wire/request.h"
#include "wire/store.h"

struct CsvInlet
{
	MemoryContext context;
	MemoryContextCallback callback;
	CsvChannel *channel;		/* NULL: closed */
	char		reason[CSV_REASON_BYTES];	/* of the last failure */
	CsvBlock   *blocks;
	CsvBlocks	list;
	uint32		capacity;
	union
	{
		CsvBatchMessage batch;
		CsvMessage	other;
	}			message;
};

/* ---- begin and end ---- */

int
csv_request_file(const CsvDialectOptions *dialect,
				 const CsvReaderOptions *reader, const CsvLayout *layout,
				 const CsvRequest *request)
{
	CsvMemory	memory = csv_context_memory(CurrentMemoryContext);
	CsvWireRequest whole;
	size_t		nbytes;
	uint8_t    *bytes;
	int			file;
	bool		good;

	memset(&whole, 0, sizeof(whole));
	whole.dialect = *dialect;
	whole.max_record_bytes = reader->max_record_bytes;
	whole.chunk_bytes = reader->chunk_bytes;
	whole.layout = layout;
	whole.request = request;
	bytes = csv_wire_encode_request(&whole, &memory, &nbytes);
	if (bytes == NULL)
	{
		errno = ENOMEM;
		return -1;
	}
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

void
csv_inlet_close(CsvInlet *inlet)
{
	if (inlet->channel == NULL)
		return;
	csv_channel_free(inlet->channel);
	inlet->channel = NULL;
	for (uint32 i = 0; i < inlet->list.nblocks; i++)
		munmap(inlet->blocks[i].bytes, inlet->blocks[i].nbytes);
	inlet->list.nblocks = 0;
}

/* the reset callback */
static void
release_inlet(void *arg)
{
	csv_inlet_close(arg);
}

CsvInlet *
csv_inlet_open(const void *message, size_t nbytes, int request)
{
	CsvInlet   *inlet = palloc0(sizeof(CsvInlet));
	CsvDescriptors with = {1, {-1}};
	CsvMessage	answer;
	int			ends[2];
	volatile bool good = false;

	inlet->context = CurrentMemoryContext;
	inlet->callback.func = release_inlet;
	inlet->callback.arg = inlet;
	MemoryContextRegisterResetCallback(inlet->context, &inlet->callback);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
				   ends) != 0)
		return NULL;
	with.files[0] = ends[1];
	if (request >= 0)
		with.files[with.n++] = request;
	PG_TRY();
	{
		inlet->channel = csv_channel_create(ends[0]);
		good = csv_service_ask(message, nbytes, &with, &answer, NULL) &&
			answer.done.count > 0;
	}
	PG_FINALLY();
	{
		close(ends[1]);
	}
	PG_END_TRY();
	if (good)
		return inlet;
	csv_inlet_close(inlet);
	return NULL;
}

uint64
csv_inlet_file_bytes(const CsvInlet *inlet)
{
	return inlet->message.other.end.file_bytes;
}

const CsvBlock *
csv_inlet_block(const CsvInlet *inlet, uint32 number)
{
	return number < inlet->list.nblocks ? &inlet->blocks[number] : NULL;
}

/* ---- messages ---- */

const char *
csv_inlet_reason(const CsvInlet *inlet)
{
	return inlet->reason;
}

CsvStatus
csv_inlet_fail(CsvInlet *inlet, const char *reason)
{
	strlcpy(inlet->reason, reason, sizeof(inlet->reason));
	return CSV_DEVICE_FAILED;
}

CsvStatus
csv_inlet_misfit(CsvInlet *inlet)
{
	return csv_inlet_fail(inlet,
						  "csv_gpu_service does not answer as it should");
}

static CsvStatus
fail_as_told(CsvInlet *inlet, CsvFailedMessage *failed)
{
	switch (failed->failure)
	{
		case CSV_FAILURE_FILE:
			errno = failed->error;
			return CSV_UNREADABLE;
		case CSV_FAILURE_FOOTER:
			return CSV_FOOTER_TOO_LONG;
		case CSV_FAILURE_MEMORY:
			return csv_inlet_fail(inlet, "csv_gpu_service has too little memory");
		default:
			failed->reason[CSV_REASON_BYTES - 1] = '\0';
			return csv_inlet_fail(inlet, failed->reason);
	}
}

/* maps a block that messages will refer to; closes the descriptor in any case */
static bool
add_block(CsvInlet *inlet, const CsvBlockMessage *message, CsvDescriptors *came)
{
	CsvBlock *block;
	void	   *bytes = MAP_FAILED;

	if (inlet->list.nblocks == inlet->capacity)
	{
		inlet->capacity = 2 * inlet->capacity + 16;
		inlet->blocks = inlet->blocks == NULL ?
			MemoryContextAlloc(inlet->context,
							   sizeof(CsvBlock) * inlet->capacity) :
			repalloc(inlet->blocks, sizeof(CsvBlock) * inlet->capacity);
		inlet->list.blocks = inlet->blocks;
	}
	if (came->n == 1 && message->nbytes > 0 &&
		csv_memory_file_size(came->files[0], false) >= (int64) message->nbytes)
		bytes = mmap(NULL, message->nbytes, PROT_READ | PROT_WRITE, MAP_SHARED,
					 came->files[0], 0);
	csv_wire_close(came);
	if (bytes == MAP_FAILED)
		return false;
	block = &inlet->blocks[inlet->list.nblocks++];
	block->bytes = bytes;
	block->nbytes = message->nbytes;
	return true;
}

bool
csv_inlet_send(CsvInlet *inlet, const void *message, size_t nbytes,
			   const CsvDescriptors *with)
{
	return csv_channel_send(inlet->channel, message, nbytes, with);
}

CsvStatus
csv_inlet_receive(CsvInlet *inlet, uint32 kind, CsvDataMessage *room,
				  const CsvLayout *layout, const CsvQuery *query,
				  CsvArray *arrays, CsvAnswer *answer, CsvBatch *batch)
{
	const size_t head = offsetof(CsvBatchMessage, packed);
	CsvMessage *message = &inlet->message.other;
	CsvDescriptors came;

	for (;;)
	{
		size_t		n = csv_channel_receive(inlet->channel, &inlet->message,
											sizeof(inlet->message), &came, -1);

		if (n == 0)
			return csv_inlet_fail(inlet, errno == EMFILE ? strerror(EMFILE) :
								  "csv_gpu_service has ended");
		if (message->kind == CSV_MESSAGE_BLOCK && n == sizeof(CsvBlockMessage))
		{
			if (!add_block(inlet, &message->block, &came))
				return csv_inlet_fail(inlet, "could not map memory of csv_gpu_service");
			continue;
		}
		csv_wire_close(&came);
		if (message->kind == kind && layout == NULL &&
			n == sizeof(CsvDataMessage))
		{
			*room = message->data;
			return CSV_OK;
		}
		if (message->kind == kind && layout != NULL && n >= head)
		{
			if (csv_unpack(inlet->message.batch.packed, n - head, &inlet->list,
						   layout, query, arrays, answer, batch) &&
				!batch->is_kept && csv_check_values(batch, layout))
				return CSV_OK;
			return csv_inlet_fail(inlet, "csv_gpu_service sent a batch that is not as it should be");
		}
		if (message->kind == CSV_MESSAGE_END && n == sizeof(CsvEndMessage))
			return CSV_END;
		if (message->kind == CSV_MESSAGE_FAILED && n == sizeof(CsvFailedMessage))
			return fail_as_told(inlet, &message->failed);
		return csv_inlet_misfit(inlet);
	}
}
