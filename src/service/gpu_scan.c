/*
 * gpu_scan.c
 *		The thread of a scan.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "files.h"
#include "gpu_scan.h"
#include "outlet.h"
#include "reader/arrays.h"
#include "reader/clock.h"
#include "reader/place.h"
#include "reader/thread.h"

/*
 * If at most one row in FEW_ROWS_SHARE comes back, larger chunks take less time: Q1
 * over 2 GB on an H100 takes 26 ms with chunks of 128 MB, 43 ms with chunks of 32 MB.
 * If the file does not stay, copying takes longer than that, and the memory that larger
 * chunks need may not be there.
 */
#define FEW_ROWS_SHARE	64
#define FEW_ROWS_TIMES	4

/* a scan needs some descriptors, and must leave some */
#define SPARE_DESCRIPTORS	64

typedef struct Scan
{
	CsvOutlet	outlet;
	CsvScanMessage message;
	void	   *state;			/* the engine's, on the outlet's device; or NULL */
	bool		holds;			/* it has groups of earlier batches */

	/* the current file */
	int			file;			/* -1: none, or a stream */
	CsvFileMessage opened;
	CsvDeviceFile *on_device;	/* its bytes on the device; NULL: read them */
	CsvWireRequest *request;	/* layout and dialect; or NULL */
	CsvWireRequest *asked;		/* with the query that the engine has; or NULL */
	CsvDialect	dialect;
	CsvStatus	status;			/* of opening it */
	uint64_t	chunk_bytes;	/* of the next batch */
	uint64_t	end;			/* where the last input ended */
	char		reason[CSV_REASON_BYTES];	/* why there is no engine, or no bytes
											 * come; or empty */

	/* the batch after the session's last, if it was made ahead */
	bool		is_ahead;
	CsvParseMessage next_input;
	CsvBatch	next;
	CsvStatus	next_status;
	int			next_errno;
	uint32_t	output;			/* as in CsvInput */
} Scan;

static const CsvEngine *const engine = &csv_cuda_engine;
static uint64_t nscans = 0;

/* ---- the bytes ---- */

/* read bytes that do not come to the device by themselves; fewer where the file ends */
static CsvStatus
read_input(Scan *scan, CsvInput *input)
{
	uint8_t    *bytes = csv_outlet_room(&scan->outlet, input->nbytes);
	ssize_t		n;

	if (bytes == NULL)
		return CSV_NO_MEMORY;
	input->bytes = bytes;
	if (scan->file < 0)
		return CSV_OK;
	n = csv_read_at(scan->file, input->offset, bytes, input->nbytes);
	if (n < 0)
		return CSV_UNREADABLE;
	input->nbytes = (uint64_t) n;
	return CSV_OK;
}

static CsvStatus
await_input(Scan *scan, CsvInput *input, bool *at_end)
{
	CsvStatus	status = csv_device_file_await(scan->on_device, input->offset,
											   &input->nbytes, at_end,
											   !scan->opened.is_shared,
											   csv_outlet_is_left, &scan->outlet);

	if (status == CSV_DEVICE_FAILED && (errno == ETIMEDOUT || errno == ENOMEM))
		snprintf(scan->reason, sizeof(scan->reason), "%s", errno == ETIMEDOUT ?
				 "the file's bytes do not come" :
				 "out of GPU memory: a record is too long");
	return status;
}

/*
 * Have the bytes of an input, or some of them.  CSV_END: the file ends before; scan->end
 * is where.
 */
static CsvStatus
reach_input(Scan *scan, CsvInput *input)
{
	uint64_t	wanted = input->nbytes;
	bool		at_end = true;
	CsvStatus	status = scan->on_device != NULL ?
		await_input(scan, input, &at_end) : read_input(scan, input);

	scan->end = input->offset + input->nbytes;
	if (status != CSV_OK)
		return status;
	return at_end && input->nbytes < wanted ? CSV_END : CSV_OK;
}

/* ---- batches ---- */

/* does the file stay on the device? */
static bool
stays(const Scan *scan)
{
	return scan->on_device != NULL && csv_device_file_stays(scan->on_device);
}

/* chunks grow from a small first one, so that the first row comes soon */
static void
grow_chunk(Scan *scan, const CsvBatch *batch)
{
	bool		few = batch->answer != NULL &&
		batch->answer->selection.nrows <= batch->nrows / FEW_ROWS_SHARE;
	uint64_t	most = engine->default_chunk_bytes *
		(stays(scan) && few ? FEW_ROWS_TIMES : 1);

	if (scan->request->chunk_bytes != 0 || scan->opened.is_shared)
		return;
	scan->chunk_bytes *= 4;
	if (scan->chunk_bytes > most)
		scan->chunk_bytes = most;
}

/* a batch of some of the input's bytes, from its first on */
static CsvStatus
parse(Scan *scan, const CsvParseMessage *asked, CsvBatch *batch)
{
	/* of this many bytes, the engine always consumes some */
	const uint64_t enough = scan->request->max_record_bytes + CSV_BREAK_CRS + 1;
	uint64_t	nbytes = scan->file < 0 ? asked->nbytes : scan->chunk_bytes;

	memset(batch, 0, sizeof(*batch));
	for (;;)
	{
		CsvInput	input = {
			.offset = asked->offset,
			.nbytes = nbytes < asked->nbytes ? nbytes : asked->nbytes,
			.alone_until = asked->alone_until,
			.max_record_bytes = scan->request->max_record_bytes,
			.has_footer = asked->has_footer != 0,
			.skip_line = asked->skip_line != 0,
			.output = scan->output,
			.interrupted = csv_outlet_is_left,
			.interrupted_arg = &scan->outlet
		};
		double		began = csv_now_seconds();
		CsvStatus	status = reach_input(scan, &input);
		double		waited = csv_now_seconds() - began;
		bool		is_all = input.nbytes == asked->nbytes;

		if (status != CSV_OK)
			return status;
		input.at_end = asked->at_end && is_all;
		status = engine->parse(scan->state, &input, batch);
		if (status != CSV_OK)
			return status;
		batch->read_seconds = waited;
		if (batch->consumed > 0 || is_all)
			break;
		nbytes = 2 * input.nbytes + 1;
		if (nbytes > enough && input.nbytes < enough)
			nbytes = enough;
	}
	grow_chunk(scan, batch);
	if (++scan->output >= engine->noutputs)
		scan->output = 0;
	return CSV_OK;
}

/* make the batch behind this one, while the session works */
static void
parse_ahead(Scan *scan, const CsvParseMessage *asked, const CsvBatch *batch)
{
	CsvParseMessage *next = &scan->next_input;
	CsvFilePlace place = {.offset = asked->offset};

	if (scan->on_device == NULL || scan->opened.is_shared ||
		engine->noutputs < 2 || batch->consumed == 0 ||
		batch->consumed >= asked->nbytes)
		return;
	csv_place_pass_batch(&place, batch);
	*next = *asked;
	next->offset = place.offset;
	next->nbytes -= batch->consumed;
	next->alone_until = place.alone_until;
	next->skip_line = place.skip_line;
	scan->next_status = parse(scan, next, &scan->next);
	scan->next_errno = errno;
	scan->is_ahead = true;
}

/* ---- what the session asks ---- */

/* report why the reader has failed; false: the session cannot be told */
static bool
send_status(Scan *scan, CsvStatus status)
{
	switch (status)
	{
		case CSV_DEVICE_FAILED:
			return csv_outlet_send_failure(&scan->outlet, CSV_FAILURE_DEVICE, 0,
								scan->reason[0] != '\0' ? scan->reason :
								engine->message(scan->state));
		case CSV_UNREADABLE:
			return csv_outlet_send_failure(&scan->outlet, CSV_FAILURE_FILE, errno, "");
		case CSV_FOOTER_TOO_LONG:
			return csv_outlet_send_failure(&scan->outlet, CSV_FAILURE_FOOTER, 0, "");
		case CSV_NO_MEMORY:
			return csv_outlet_send_failure(&scan->outlet, CSV_FAILURE_MEMORY, 0, "");
		default:
			return false;
	}
}

static const CsvQuery *
asked_query(const Scan *scan)
{
	return scan->asked != NULL ? scan->asked->request->query : NULL;
}

static void
count_batch(const Scan *scan, const CsvBatch *batch)
{
	CsvCounts  *counts = csv_device_counts(scan->outlet.device);

	csv_count(&counts->chunks, 1);
	csv_count(&counts->rows, batch->nrows);
	csv_count(&counts->bytes_read, (int64_t) batch->consumed);
}

/* the batch that was made ahead, or a new one */
static CsvStatus
get_batch(Scan *scan, const CsvParseMessage *asked, CsvBatch *batch)
{
	if (!scan->is_ahead)
		return parse(scan, asked, batch);
	scan->is_ahead = false;
	if (memcmp(&scan->next_input, asked, sizeof(*asked)) != 0)
		return parse(scan, asked, batch);
	*batch = scan->next;
	errno = scan->next_errno;
	return scan->next_status;
}

static bool
send_batch(Scan *scan, const CsvParseMessage *asked)
{
	CsvBatch	batch;
	CsvStatus	status = scan->status;

	if (scan->request == NULL || asked->nbytes == 0 ||
		asked->offset > INT64_MAX || asked->nbytes > INT64_MAX ||
		(scan->file < 0 && asked->nbytes > INT32_MAX))
		return false;
	csv_outlet_begin(&scan->outlet);
	if (status == CSV_OK)
		status = get_batch(scan, asked, &batch);
	if (status == CSV_END)
	{
		CsvEndMessage end = {CSV_MESSAGE_END, 0, scan->end};

		return csv_outlet_send(&scan->outlet, &end, sizeof(end));
	}
	if (status != CSV_OK)
		return send_status(scan, status);
	count_batch(scan, &batch);
	scan->holds |= batch.answer != NULL && batch.answer->held;
	if (!csv_outlet_send_batch(&scan->outlet, CSV_MESSAGE_BATCH, &batch,
							   scan->request->layout->ncolumns, asked_query(scan)))
		return false;
	parse_ahead(scan, asked, &batch);
	return true;
}

/* room for bytes of a stream */
static bool
send_room(Scan *scan, const CsvDataMessage *asked)
{
	CsvDataMessage answer = *asked;

	if (scan->file >= 0 || asked->nbytes > INT32_MAX)
		return false;
	if (csv_outlet_room(&scan->outlet, asked->nbytes) == NULL)
		return send_status(scan, CSV_NO_MEMORY);
	answer.offset = CSV_MARGIN;
	answer.block = csv_outlet_use(&scan->outlet, &scan->outlet.room->block);
	return answer.block != CSV_MOST_BLOCKS &&
		csv_outlet_send(&scan->outlet, &answer, sizeof(answer));
}

static bool
fetch_groups(Scan *scan, uint32_t first)
{
	CsvAnswer	answer = {0};
	CsvBatch	batch = {.answer = &answer};

	if (asked_query(scan) == NULL || scan->state == NULL)
		return false;
	csv_outlet_begin(&scan->outlet);
	if (engine->held_groups(scan->state, first, &answer.groups) != CSV_OK)
		return csv_outlet_send_failure(&scan->outlet, CSV_FAILURE_DEVICE, 0,
							engine->message(scan->state));
	return csv_outlet_send_batch(&scan->outlet, CSV_MESSAGE_GROUPS, &batch, 0,
								 asked_query(scan));
}

/* ---- files ---- */

static void
close_file(Scan *scan)
{
	if (scan->on_device != NULL)
		csv_device_file_close(scan->on_device, scan->state);
	scan->on_device = NULL;
	if (scan->file >= 0)
		close(scan->file);
	scan->file = -1;
	csv_free(&scan->outlet.memory, scan->asked);
	scan->asked = NULL;
	csv_free(&scan->outlet.memory, scan->request);
	scan->request = NULL;
	scan->is_ahead = false;
}

/* get the file's bytes to the device, and configure the engine */
static CsvStatus
begin_file(Scan *scan)
{
	const CsvFileMessage *opened = &scan->opened;
	const CsvWireRequest *request = scan->request;

	csv_dialect_compile(&scan->dialect, &request->dialect);
	if (scan->file >= 0)
		scan->on_device = csv_device_file_open(scan->outlet.device, scan->state,
											   scan->file,
											   opened->is_shared ? 0 : opened->from,
											   opened->file_bytes, opened->grows != 0);
	/* of a shared file, the session asks for pieces */
	scan->chunk_bytes = opened->is_shared ?
		engine->default_chunk_bytes * (stays(scan) ? FEW_ROWS_TIMES : 1) :
		request->chunk_bytes != 0 ? request->chunk_bytes :
		engine->first_chunk_bytes;
	return engine->configure(scan->state, &scan->dialect,
								   request->layout);
}

/* ---- the device ---- */

static void
leave_device(Scan *scan)
{
	CsvDevice  *device = scan->outlet.device;

	if (scan->state != NULL)
		engine->close(scan->state);
	scan->state = NULL;
	if (device == NULL)
		return;
	csv_count(&csv_device_counts(device)->scans_running, -1);
	csv_device_leave(device);
}

/* move to the device; if it gives no engine, stay where the scan is, if anywhere */
static void
go_to_device(Scan *scan, CsvDevice *device)
{
	const CsvCudaOptions options = {.memory_limit = csv_device_memory_limit()};
	void	   *state = csv_cuda_open(csv_device_session(device), &options,
									  &scan->outlet.memory, scan->reason,
									  sizeof(scan->reason));

	if (state == NULL && scan->state != NULL)
	{
		csv_device_leave(device);
		return;
	}
	leave_device(scan);
	csv_count(&csv_device_counts(device)->scans_running, 1);
	scan->outlet.device = device;
	scan->state = state;
}

/* choose a device for the file, and open an engine; stay, if no other is better */
static void
choose_device(Scan *scan, bool is_shared)
{
	CsvDeviceWish wish = {
		scan->message.device, scan->message.must_wait != 0, 0, is_shared,
		scan->outlet.device
	};
	CsvDevice  *device;

	if (scan->state != NULL && scan->holds)
		return;
	if (scan->file >= 0)
		wish.has = csv_devices_with_file(scan->file);
	device = csv_device_take(&wish, scan->reason, sizeof(scan->reason));
	if (device != NULL && device == scan->outlet.device && scan->state != NULL)
		csv_device_leave(device);
	else if (device != NULL)
		go_to_device(scan, device);
	if (scan->state != NULL)
		scan->reason[0] = '\0';
}

/* if the file cannot be opened, the answer to the first PARSE says why */
static bool
open_file(Scan *scan, const CsvFileMessage *message, CsvDescriptors *with)
{
	close_file(scan);
	scan->opened = *message;
	if (message->from > INT64_MAX || message->file_bytes > INT64_MAX ||
		with->n != (message->is_stream ? 1 : 2))
		return false;
	scan->request = csv_outlet_read_request(&scan->outlet, with->files[0]);
	if (scan->request == NULL)
		return false;
	if (!message->is_stream)
	{
		scan->file = with->files[1];
		with->n = 1;
	}
	choose_device(scan, message->is_shared != 0);
	scan->status = scan->state == NULL ? CSV_DEVICE_FAILED : begin_file(scan);
	return true;
}

/* evaluate another query over the same columns from now on */
static bool
set_query(Scan *scan, int file)
{
	CsvWireRequest *request = csv_outlet_read_request(&scan->outlet, file);

	if (request == NULL)
		return false;

	/* only one per file, as batches that were read ahead may have its answers */
	if (request->request == NULL || scan->request == NULL ||
		scan->asked != NULL)
	{
		csv_free(&scan->outlet.memory, request);
		return false;
	}
	scan->asked = request;
	if (scan->status == CSV_OK)
		engine->set_query(scan->state, request->request);
	return true;
}

/* false: the scan is over */
static bool
serve(Scan *scan)
{
	CsvMessage	message;
	CsvDescriptors descriptors;
	size_t		nbytes = csv_outlet_receive(&scan->outlet, &message,
											&descriptors);
	bool		good = false;

	if (nbytes == sizeof(CsvParseMessage) && message.kind == CSV_MESSAGE_PARSE)
		good = send_batch(scan, &message.parse);
	else if (nbytes == sizeof(CsvFileMessage) &&
			 message.kind == CSV_MESSAGE_FILE)
		good = open_file(scan, &message.file, &descriptors);
	else if (nbytes == sizeof(CsvDataMessage) &&
			 message.kind == CSV_MESSAGE_NEED)
		good = send_room(scan, &message.data);
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
	leave_device(scan);
	if (scan->outlet.device != NULL)
		csv_count(&csv_device_counts(scan->outlet.device)->scans_done, 1);
	csv_outlet_free(&scan->outlet);
	free(scan);
	csv_count(&nscans, -1);
}

static void *
run_scan(void *arg)
{
	Scan	   *scan = arg;

	while (serve(scan))
		;
	free_scan(scan);
	return NULL;
}

/* has the process enough descriptors left, for this scan and for others? */
static bool
has_descriptors(int socket)
{
	struct rlimit files;
	int			next = fcntl(socket, F_DUPFD_CLOEXEC, 0);

	if (next < 0)
		return false;
	close(next);
	return getrlimit(RLIMIT_NOFILE, &files) != 0 ||
		(rlim_t) next + SPARE_DESCRIPTORS < files.rlim_cur;
}

bool
csv_scan_start(const CsvScanMessage *message, int socket)
{
	Scan	   *scan = has_descriptors(socket) ? calloc(1, sizeof(Scan)) : NULL;

	if (scan == NULL)
		return false;
	csv_outlet_init(&scan->outlet, socket, !message->must_wait);
	scan->message = *message;
	scan->file = -1;
	csv_count(&nscans, 1);
	if (csv_thread_detach(run_scan, scan))
		return true;
	free(scan);
	csv_count(&nscans, -1);
	return false;
}

int
csv_scan_count(void)
{
	return (int) __atomic_load_n(&nscans, __ATOMIC_RELAXED);
}
