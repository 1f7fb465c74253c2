/*
 * remote.c
 *		Takes batches of csv_gpu_service.
 */
#include "postgres.h"

#include <unistd.h>

#include "utils/memutils.h"

#include "batches/remote.h"
#include "client/connection.h"

/* number of processes to ask for a scan, if each of them is about to end */
#define CSV_SCAN_TRIES	3

void
csv_remote_close(CsvRemote *remote)
{
	csv_inlet_close(remote->inlet);
}

/* ---- a stream's bytes ---- */

static void
make_rest_room(CsvRemote *remote, size_t nbytes)
{
	size_t		length = remote->rest_end - remote->rest_start;
	uint8_t    *before = remote->rest;

	if (remote->rest_room - remote->rest_end >= nbytes)
		return;
	if (remote->rest_room < 2 * length + nbytes)
	{
		remote->rest_room = 2 * (length + nbytes);
		remote->rest = MemoryContextAllocHuge(GetMemoryChunkContext(remote),
											  remote->rest_room);
	}
	if (length > 0)
		memmove(remote->rest, before + remote->rest_start, length);
	if (before != NULL && before != remote->rest)
		pfree(before);
	remote->rest_start = 0;
	remote->rest_end = length;
}

/* reads bytes that csv_gpu_service has not got yet, as many as arrive at a time */
static void
read_stream(CsvRemote *remote, size_t nbytes)
{
	size_t		n;

	make_rest_room(remote, nbytes);
	while (nbytes > 0 &&
		   (n = csv_source_read(remote->batches->source,
								remote->rest + remote->rest_end, nbytes)) > 0)
	{
		remote->rest_end += n;
		nbytes -= n;
	}
}

/* csv_gpu_service needs more bytes of the stream; false if that is impossible */
static bool
feed(void *arg, const CsvMessage *message, size_t nbytes)
{
	CsvRemote  *remote = arg;
	const CsvBlocks *blocks = csv_inlet_blocks(remote->inlet);
	CsvDataMessage data = message->data;
	const CsvBlock *block = NULL;
	size_t		waiting;

	if (message->kind != CSV_MESSAGE_NEED || nbytes != sizeof(CsvDataMessage))
		return false;
	if (data.block < blocks->nblocks)
		block = &blocks->blocks[data.block];
	if (!remote->is_stream || block == NULL ||
		data.offset > block->nbytes || data.nbytes > block->nbytes - data.offset)
		return false;
	waiting = remote->rest_end - remote->rest_start - remote->passed;
	if (waiting == 0)
	{
		read_stream(remote, data.nbytes);
		waiting = remote->rest_end - remote->rest_start - remote->passed;
	}
	data.kind = CSV_MESSAGE_DATA;
	data.nbytes = Min(waiting, data.nbytes);
	memcpy(block->bytes + data.offset,
		   remote->rest + remote->rest_start + remote->passed, data.nbytes);
	remote->passed += data.nbytes;
	return csv_inlet_send(remote->inlet, &data, sizeof(data), NULL);
}

/* moves to the end of a batch; bytes before the batch may be in no batch */
static void
pass_batch(CsvRemote *remote, const CsvBatch *batch)
{
	CsvFilePlace *place = &remote->place;
	uint64		before = place->offset;
	size_t		nbytes;

	place->offset = batch->file_offset;
	place->records = batch->file_records;
	place->lines = batch->file_lines;
	csv_place_pass_batch(place, batch);
	nbytes = Min(place->offset - before, remote->passed);
	remote->rest_start += nbytes;
	remote->passed -= nbytes;
}

size_t
csv_remote_read(void *arg, uint8_t *buffer, size_t nbytes)
{
	CsvRemote  *remote = arg;
	size_t		n = Min(nbytes, remote->rest_end - remote->rest_start);

	if (n == 0)
		return csv_source_read(remote->batches->source, buffer, nbytes);
	memcpy(buffer, remote->rest + remote->rest_start, n);
	remote->rest_start += n;
	return n;
}

/* ---- batches ---- */

static const CsvQuery *
asked_query(const CsvRemote *remote)
{
	return remote->request != NULL ? remote->request->query : NULL;
}

/* sends, and waits for a batch in a message of this kind */
static CsvStatus
ask(CsvRemote *remote, const void *message, size_t nbytes, uint32 kind,
	const CsvLayout *layout, CsvBatch *batch)
{
	if (!csv_inlet_send(remote->inlet, message, nbytes, NULL))
		return csv_inlet_fail(remote->inlet, "csv_gpu_service has ended");
	return csv_inlet_receive(remote->inlet, kind, feed, remote, layout,
							 asked_query(remote), remote->arrays, &remote->answer,
							 batch);
}

CsvStatus
csv_remote_next(CsvRemote *remote, CsvBatch *batch)
{
	uint32		next = CSV_MESSAGE_NEXT;
	CsvStatus	status = ask(remote, &next, sizeof(next), CSV_MESSAGE_BATCH,
							 &remote->batches->layout->layout, batch);

	if (status == CSV_END && !remote->is_stream)
		csv_source_note_end(remote->batches->source,
							csv_inlet_file_bytes(remote->inlet));
	if (status != CSV_OK)
		return status;
	remote->read_seconds = csv_inlet_read_seconds(remote->inlet);
	pass_batch(remote, batch);
	return CSV_OK;
}

CsvStatus
csv_remote_held(CsvRemote *remote, uint32_t first, CsvPartialGroups *groups)
{
	CsvHeldMessage held = {CSV_MESSAGE_HELD, first};
	const CsvLayout no_columns = {0};
	CsvBatch	batch;
	CsvStatus	status = ask(remote, &held, sizeof(held), CSV_MESSAGE_GROUPS,
							 &no_columns, &batch);

	memset(groups, 0, sizeof(*groups));
	if (status == CSV_OK && batch.answer != NULL)
		*groups = batch.answer->groups;
	return status;
}

void
csv_remote_go_to(CsvRemote *remote, const CsvFilePlace *place, uint64 end)
{
	CsvPieceMessage message;

	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_PIECE;
	message.place = csv_place_in_message(place);
	message.end = end;
	remote->place = *place;

	/* as in send_request(), the answer shows whether it was sent */
	(void) csv_inlet_send(remote->inlet, &message, sizeof(message), NULL);
}

static int
request_file(const CsvRemote *remote, const CsvRequest *request)
{
	const CsvBatches *batches = remote->batches;

	return csv_request_file(&csv_reader_dialect(batches->reader)->opt,
							&batches->table->reader, &batches->layout->layout,
							request);
}

/* also closes the request's file; the answer shows whether the message was sent */
static void
send_request(CsvRemote *remote, const void *message, size_t nbytes,
			 const CsvDescriptors *with)
{
	PG_TRY();
	{
		(void) csv_inlet_send(remote->inlet, message, nbytes, with);
	}
	PG_CATCH();
	{
		close(with->files[0]);
		PG_RE_THROW();
	}
	PG_END_TRY();
	close(with->files[0]);
}

void
csv_remote_ask(CsvRemote *remote, const CsvRequest *request)
{
	uint32		kind = CSV_MESSAGE_QUERY;
	CsvDescriptors with = {1, {-1}};

	with.files[0] = request_file(remote, request);
	if (with.files[0] < 0)
		return;
	remote->request = request;
	send_request(remote, &kind, sizeof(kind), &with);
}

/* ---- the beginning ---- */

/* keeps bytes of a stream that the session's reader has already */
static void
take_bytes(CsvRemote *remote, const CsvReader *reader)
{
	uint64_t	nbytes;
	const uint8_t *bytes = csv_reader_rest(reader, &nbytes);

	make_rest_room(remote, (size_t) nbytes);
	if (nbytes > 0)
		memcpy(remote->rest, bytes, (size_t) nbytes);
	remote->rest_end = (size_t) nbytes;
}

void
csv_remote_begin(CsvRemote *remote, const CsvBatches *batches)
{
	uint32		ncolumns = batches->layout->layout.ncolumns;
	CsvDescriptors with = {1, {-1}};
	CsvFileMessage message;
	CsvReadAhead ahead;

	remote->batches = batches;
	remote->place = *csv_reader_place(batches->reader);
	remote->request = NULL;
	remote->rest_start = remote->rest_end = remote->passed = 0;
	remote->is_stream = !csv_source_read_ahead(batches->source, &ahead);
	if (remote->is_stream)
		take_bytes(remote, batches->reader);
	if (ncolumns > remote->narrays)
	{
		remote->narrays = ncolumns;
		remote->arrays = MemoryContextAlloc(GetMemoryChunkContext(remote),
											sizeof(CsvArray) * ncolumns);
	}
	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_FILE;
	message.is_stream = remote->is_stream;
	message.is_shared = batches->share != NULL;
	message.grows = batches->grows;
	message.place = csv_place_in_message(&remote->place);
	message.file_bytes = remote->is_stream ? 0 : ahead.file_bytes;
	with.files[0] = request_file(remote, NULL);
	if (with.files[0] < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create memory for csv_gpu_service: %m")));
	if (!remote->is_stream)
		with.files[with.n++] = csv_source_file(batches->source);

	send_request(remote, &message, sizeof(message), &with);
}

CsvRemote *
csv_remote_open(const CsvSettings *settings)
{
	bool		must_wait = settings->engine == CSV_ENGINE_CUDA;
	CsvScanMessage message;
	CsvInlet   *inlet = NULL;
	CsvRemote  *remote;

	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_SCAN;
	message.device = settings->device;
	message.must_wait = must_wait;

	/* if csv_gpu_service is about to end, a new process follows */
	for (int tries = 0; tries < CSV_SCAN_TRIES && inlet == NULL; tries++)
	{
		uint64		connection;

		if (!csv_service_connect(must_wait))
			return NULL;
		connection = csv_service_connection();
		inlet = csv_inlet_open(&message, sizeof(message), -1);
		if (inlet == NULL && csv_service_connection() == connection)
			return NULL;
	}
	if (inlet == NULL)
		return NULL;
	remote = palloc0(sizeof(CsvRemote));
	remote->inlet = inlet;
	return remote;
}
