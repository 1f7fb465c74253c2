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
#include "client/connection.h"
#include "table/memory.h"
#include "wire/request.h"
#include "wire/store.h"

/* ---- begin and end ---- */

int
csv_request_file(const CsvDialectOptions *dialect,
				 const CsvReaderOptions *reader, const CsvLayout *layout,
				 const CsvRequest *request)
{
	CsvMemory	memory = csv_context_memory(CurrentMemoryContext);
	CsvWireRequest whole = {
		.dialect = *dialect,
		.max_record_bytes = reader->max_record_bytes,
		.chunk_bytes = reader->chunk_bytes,
		.layout = layout,
		.request = request
	};
	size_t		nbytes;
	uint8_t    *bytes;
	int			file;
	bool		good;

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
	csv_wire_close(&inlet->sent);
	if (inlet->channel != NULL)
		csv_channel_free(inlet->channel);
	inlet->channel = NULL;
	for (uint32 i = 0; i < inlet->blocks.nblocks; i++)
		munmap(inlet->mapped[i].bytes, inlet->mapped[i].nbytes);
	inlet->blocks.nblocks = 0;
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
	CsvDescriptors *sent = &inlet->sent;
	CsvMessage	answer;
	int			ends[2];
	int			type = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
	bool		good = socketpair(AF_UNIX, type, 0, ends) == 0;

	inlet->context = CurrentMemoryContext;
	inlet->callback.func = release_inlet;
	inlet->callback.arg = inlet;
	MemoryContextRegisterResetCallback(inlet->context, &inlet->callback);
	if (good)
		sent->files[sent->n++] = ends[1];
	if (request >= 0)
		sent->files[sent->n++] = request;
	if (good)
	{
		inlet->channel = csv_channel_create(ends[0]);
		good = csv_service_ask(message, nbytes, sent, &answer, NULL) &&
			answer.done.count > 0;
	}
	csv_wire_close(sent);
	if (good)
		return inlet;
	csv_inlet_close(inlet);
	return NULL;
}

/* ---- messages ---- */

CsvStatus
csv_inlet_fail(CsvInlet *inlet, const char *reason)
{
	if (reason == NULL)
		reason = "csv_gpu_service does not answer as it should";
	strlcpy(inlet->reason, reason, sizeof(inlet->reason));
	return CSV_DEVICE_FAILED;
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
	void	   *bytes = MAP_FAILED;

	if (inlet->blocks.nblocks == inlet->capacity)
	{
		inlet->capacity = 2 * inlet->capacity + 16;
		inlet->mapped = inlet->mapped == NULL ?
			MemoryContextAlloc(inlet->context,
							   sizeof(CsvBlock) * inlet->capacity) :
			repalloc(inlet->mapped, sizeof(CsvBlock) * inlet->capacity);
		inlet->blocks.blocks = inlet->mapped;
	}
	if (came->n == 1 && message->nbytes > 0 &&
		csv_memory_file_size(came->files[0], false) >= (int64) message->nbytes)
		bytes = mmap(NULL, message->nbytes, PROT_READ | PROT_WRITE, MAP_SHARED,
					 came->files[0], 0);
	csv_wire_close(came);
	if (bytes == MAP_FAILED)
		return false;
	inlet->mapped[inlet->blocks.nblocks++] =
		(CsvBlock) {bytes, message->nbytes};
	return true;
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
			if (csv_unpack(inlet->message.batch.packed, n - head, &inlet->blocks,
						   layout, query, arrays, answer, batch) &&
				!batch->is_resident && csv_check_values(batch, layout))
				return CSV_OK;
			return csv_inlet_fail(inlet, "csv_gpu_service sent a batch that is not as it should be");
		}
		if (message->kind == CSV_MESSAGE_END && n == sizeof(CsvEndMessage))
			return CSV_END;
		if (message->kind == CSV_MESSAGE_FAILED && n == sizeof(CsvFailedMessage))
			return fail_as_told(inlet, &message->failed);
		return csv_inlet_fail(inlet, NULL);
	}
}
