/*
 * remote.c
 *		Has csv_gpu_service parse files.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "batches/inlet.h"
#include "batches/remote.h"
#include "client/connection.h"
#include "reader/place.h"

/* number of processes to ask for a scan, if each of them is about to end */
#define CSV_SCAN_TRIES	3

struct CsvRemote
{
	const CsvTable *table;
	CsvInlet   *inlet;

	/* the file that the next configure() begins, and then the open file */
	CsvSource  *source;
	CsvFileMessage file;
	uint64		end;			/* of a file, as far as it is known */
	const CsvDialect *dialect;
	const CsvLayout *layout;
	const CsvRequest *request;	/* the query of the next batches; or NULL */

	/* for bytes of a stream: a part of a block of the inlet */
	CsvDataMessage room;

	/* of the current batch */
	CsvArray   *arrays;
	uint32_t	narrays;		/* capacity of `arrays` */
	CsvAnswer	answer;
};

/* ---- requests ---- */

/* the next answer shows whether the message was sent */
static void
send_request(CsvRemote *remote, const void *message, size_t nbytes,
			 const CsvRequest *request)
{
	int			file = csv_request_file(&remote->dialect->opt, &remote->table->reader,
										remote->layout, request);
	CsvDescriptors with = {1, {file}};

	if (file < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create memory for csv_gpu_service: %m")));
	remote->inlet->sent = with;
	if (request == NULL && !remote->file.is_stream)
		with.files[with.n++] = csv_source_file(remote->source);
	(void) csv_channel_send(remote->inlet->channel, message, nbytes, &with);
	csv_wire_close(&remote->inlet->sent);
}

static CsvStatus
configure(void *engine, const CsvDialect *dialect, const CsvLayout *layout)
{
	CsvRemote  *remote = engine;

	remote->dialect = dialect;
	remote->layout = layout;
	remote->request = NULL;
	if (layout->ncolumns > remote->narrays)
	{
		remote->narrays = layout->ncolumns;
		remote->arrays =
			MemoryContextAlloc(GetMemoryChunkContext(remote),
							   sizeof(CsvArray) * layout->ncolumns);
	}
	send_request(remote, &remote->file, sizeof(remote->file), NULL);
	return CSV_OK;
}

static bool
set_query(void *engine, const CsvRequest *request)
{
	uint32		kind = CSV_MESSAGE_QUERY;
	CsvRemote  *remote = engine;

	send_request(remote, &kind, sizeof(kind), request);
	remote->request = request;
	return true;
}

/* ---- batches ---- */

/* sends, and waits for a message of this kind, with a batch or room */
static CsvStatus
ask(CsvRemote *remote, const void *message, size_t nbytes, uint32 kind,
	const CsvLayout *layout, CsvBatch *batch)
{
	const CsvQuery *query = remote->request == NULL ? NULL :
		remote->request->query;

	if (!csv_channel_send(remote->inlet->channel, message, nbytes, NULL))
		return csv_inlet_fail(remote->inlet, "csv_gpu_service has ended");
	return csv_inlet_receive(remote->inlet, kind, &remote->room, layout, query,
							 remote->arrays, &remote->answer, batch);
}

/* passes the bytes of a stream on */
static CsvStatus
send_bytes(CsvRemote *remote, const CsvInput *input)
{
	CsvDataMessage *room = &remote->room;
	const CsvBlocks *blocks = &remote->inlet->blocks;
	CsvBlock	block = {NULL, 0};

	if (room->nbytes < input->nbytes)
	{
		CsvDataMessage need = {CSV_MESSAGE_NEED, 0, 0, input->nbytes};
		CsvStatus	status = ask(remote, &need, sizeof(need),
								 CSV_MESSAGE_NEED, NULL, NULL);

		if (status != CSV_OK)
			return status;
	}
	if (room->block < blocks->nblocks)
		block = blocks->blocks[room->block];
	if (room->offset > block.nbytes || input->nbytes > room->nbytes ||
		room->nbytes > block.nbytes - room->offset)
		return csv_inlet_fail(remote->inlet, NULL);
	memcpy(block.bytes + room->offset, input->bytes, input->nbytes);
	return CSV_OK;
}

static CsvStatus
parse(void *engine, const CsvInput *input, CsvBatch *batch)
{
	CsvRemote  *remote = engine;
	CsvParseMessage message = {
		.kind = CSV_MESSAGE_PARSE,
		.at_end = input->at_end,
		.has_footer = input->has_footer,
		.skip_line = input->skip_line,
		.offset = input->offset,
		.nbytes = input->nbytes,
		.alone_until = input->alone_until
	};
	CsvStatus	status = CSV_OK;

	if (input->bytes != NULL)
		status = send_bytes(remote, input);
	if (status == CSV_OK)
		status = ask(remote, &message, sizeof(message), CSV_MESSAGE_BATCH,
					 remote->layout, batch);
	if (status == CSV_OK && batch->consumed > input->nbytes)
		return csv_inlet_fail(remote->inlet, NULL);
	if (status == CSV_END)
	{
		uint64		end = remote->inlet->message.other.end.file_bytes;

		if (end >= remote->end || input->bytes != NULL)
			return csv_inlet_fail(remote->inlet, NULL);
		remote->end = end;
		csv_source_note_end(remote->source, end);
	}
	return status;
}

static CsvStatus
held_groups(void *engine, uint32_t first, CsvPartialGroups *groups)
{
	CsvRemote  *remote = engine;
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

static const char *
message(void *engine)
{
	return ((CsvRemote *) engine)->inlet->reason;
}

/* ---- begin and end ---- */

/* for CsvOwnBytes: csv_gpu_service waits for them; parse() tells of fewer */
static CsvStatus
await_bytes(void *arg, uint64_t offset, uint64_t *nbytes, bool *at_end)
{
	const CsvRemote *remote = arg;
	uint64		left = offset < remote->end ? remote->end - offset : 0;

	*at_end = *nbytes >= left;
	*nbytes = Min(*nbytes, left);
	return CSV_OK;
}

CsvStatus
csv_remote_use(CsvRemote *remote, CsvReader *reader, CsvSource *source,
			   bool is_shared, bool grows)
{
	CsvOwnBytes own = {await_bytes, remote, true};
	CsvFileMessage *file = &remote->file;
	CsvReadAhead ahead;
	CsvStatus	status;

	/* a file without a length may have any bytes */
	bool		is_stream = !csv_source_read_ahead(source, &ahead) ||
		ahead.file_bytes == 0;

	memset(file, 0, sizeof(*file));
	file->kind = CSV_MESSAGE_FILE;
	file->is_stream = is_stream;
	file->is_shared = is_shared;
	file->grows = grows;
	file->from = csv_reader_place(reader)->offset;
	file->file_bytes = remote->end = is_stream ? 0 : ahead.file_bytes;
	remote->source = source;
	status = csv_reader_set_engine(reader, &csv_remote_engine, remote);
	if (!is_stream && status == CSV_OK)
	{
		csv_reader_read_ahead(reader, &ahead);
		csv_reader_use_own(reader, &own);
	}
	return status;
}

static void
close_remote(void *engine)
{
	csv_inlet_close(((CsvRemote *) engine)->inlet);
}

CsvRemote *
csv_remote_open(const CsvTable *table)
{
	const CsvSettings *settings = &table->settings;
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
	remote->table = table;
	remote->inlet = inlet;
	return remote;
}

/* chunks of a stream grow to what keeps a GPU busy; files are read as it likes */
const CsvEngine csv_remote_engine = {
	.name = "cuda",
	.configure = configure,
	.parse = parse,
	.message = message,
	.close = close_remote,
	.default_chunk_bytes = 32 * 1024 * 1024,
	.first_chunk_bytes = 1024 * 1024,
	.noutputs = 1,
	.set_query = set_query,
	.held_groups = held_groups,
};
