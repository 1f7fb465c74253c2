/*
 * gpu_scan.c
 *		The thread of a scan.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* O_PATH */
#endif
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
#include "reader/place.h"
#include "reader/thread.h"
#include "wire/sound.h"

/* of the block for a stream's bytes */
#define STREAM_BYTES	((size_t) 8 << 20)

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
	const CsvEngine *engine;	/* of the outlet's device; or NULL */
	void	   *state;
	bool		holds;			/* it has groups of earlier batches */

	/* the current file */
	int			file;			/* -1: none, or a stream */
	CsvDeviceFile *on_device;			/* its bytes on the device; NULL: read them */
	CsvWireRequest *request;	/* layout and dialect; or NULL */
	CsvWireRequest *asked;		/* with the query that the engine has; or NULL */
	CsvReader  *reader;
	uint64_t	offset;			/* where the file is read next, if in order */
	uint64_t	file_bytes;		/* its size when the session's scan began */
	bool		is_cut;			/* the file is shorter now */
	int			error;			/* errno of reading; or 0 */
	CsvStatus	status;			/* of opening it */

	/* the batch after the session's last, if it was read ahead */
	bool		may_be_ahead;
	bool		is_ahead;
	CsvBatch	next;
	CsvStatus	next_status;
	int			next_errno;
	char		reason[CSV_REASON_BYTES];	/* why there is no engine, or no bytes
											 * come; or empty */

	/* a stream's bytes */
	CsvOwnBlock *stream;
	size_t		at;				/* within the bytes from the session */
	size_t		end;
	bool		at_end;

	bool		has_ended;		/* there are no more batches of the file */
} Scan;

static uint64_t nscans = 0;

/* ---- the bytes ---- */

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
	scan->is_cut |= n == 0 && scan->offset < scan->file_bytes;
	scan->offset += (uint64_t) n;
	return (size_t) n;
}

/* for CsvReadAhead */
static void
seek_file(void *arg, uint64_t offset)
{
	Scan	   *scan = arg;

	scan->offset = offset;
}

/* for CsvOwnBytes */
static CsvStatus
await_bytes(void *arg, uint64_t offset, uint64_t *nbytes, bool *at_end)
{
	Scan	   *scan = arg;
	CsvStatus	status = csv_device_file_await(scan->on_device, offset, nbytes, at_end,
											   scan->may_be_ahead,
											   csv_outlet_is_left, &scan->outlet);

	if (status == CSV_DEVICE_FAILED && (errno == ETIMEDOUT || errno == ENOMEM))
		snprintf(scan->reason, sizeof(scan->reason), "%s", errno == ETIMEDOUT ?
				 "the file's bytes do not come" :
				 "out of GPU memory: a record is too long");
	return status;
}

/* have the session write this many more bytes, as far as there is room */
static bool
fill_stream(Scan *scan, size_t wanted)
{
	CsvDataMessage need = {
		CSV_MESSAGE_NEED, 0, 0, wanted < STREAM_BYTES ? wanted : STREAM_BYTES
	};
	CsvMessage	message;
	CsvDescriptors descriptors;
	size_t		nbytes;
	bool		good;

	need.block = csv_outlet_use(&scan->outlet, &scan->stream->block);
	if (need.block == CSV_MOST_BLOCKS ||
		!csv_outlet_send(&scan->outlet, &need, sizeof(need)))
		return false;
	nbytes = csv_outlet_receive(&scan->outlet, &message, &descriptors);
	csv_wire_close(&descriptors);
	good = nbytes == sizeof(CsvDataMessage) &&
		message.kind == CSV_MESSAGE_DATA && message.data.nbytes <= need.nbytes;
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

	if (scan->at == scan->end && !scan->at_end &&
		!fill_stream(scan, nbytes))
		scan->at_end = true;
	n = scan->end - scan->at < nbytes ? scan->end - scan->at : nbytes;
	memcpy(buffer, scan->stream->block.bytes + scan->at, n);
	scan->at += n;
	return n;
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
								csv_reader_message(scan->reader));
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

/* does the file stay on the device? */
static bool
stays(const Scan *scan)
{
	return scan->on_device != NULL && csv_device_file_stays(scan->on_device);
}

static void
read_next(Scan *scan)
{
	const CsvBatch *batch = &scan->next;

	scan->next_status = csv_reader_next(scan->reader, &scan->next);
	scan->next_errno = errno;
	scan->is_ahead = true;
	if (scan->next_status == CSV_OK && stays(scan))
		csv_reader_grow_chunks(scan->reader, batch->answer != NULL &&
							   batch->answer->selection.nrows <=
							   batch->nrows / FEW_ROWS_SHARE ?
							   FEW_ROWS_TIMES : 1);
}

static void
count_batch(const Scan *scan, const CsvBatch *batch)
{
	CsvCounts  *counts = csv_device_counts(scan->outlet.device);

	csv_count(&counts->chunks, 1);
	csv_count(&counts->rows, batch->nrows);
	csv_count(&counts->bytes_read, (int64_t) batch->consumed);
}

/* there are no more batches of the file */
static bool
send_end(Scan *scan)
{
	CsvEndMessage end = {.kind = CSV_MESSAGE_END};

	if (!scan->is_cut)
		end.file_bytes = scan->on_device != NULL ?
			csv_device_file_bytes(scan->on_device) : scan->file_bytes;
	return csv_outlet_send(&scan->outlet, &end, sizeof(end));
}

static bool
next_batch(Scan *scan)
{
	const CsvBatch *batch = &scan->next;

	if (scan->request == NULL)
		return false;
	if (scan->status != CSV_OK)
		return send_status(scan, scan->status);
	csv_outlet_begin(&scan->outlet);
	if (!scan->is_ahead)
		read_next(scan);
	scan->is_ahead = false;
	if (scan->error != 0)
		return csv_outlet_send_failure(&scan->outlet, CSV_FAILURE_FILE, scan->error, "");
	scan->has_ended = scan->next_status == CSV_END;
	if (scan->has_ended)
		return send_end(scan);
	errno = scan->next_errno;
	if (scan->next_status != CSV_OK)
		return send_status(scan, scan->next_status);
	scan->outlet.reply.read_seconds = csv_reader_read_seconds(scan->reader);
	count_batch(scan, batch);
	scan->holds |= batch->answer != NULL && batch->answer->held;
	if (!csv_outlet_send_batch(&scan->outlet, CSV_MESSAGE_BATCH, batch,
							   scan->request->layout->ncolumns, asked_query(scan)))
		return false;

	/* read the next batch while the session works */
	if (scan->on_device != NULL && scan->may_be_ahead &&
		scan->engine->noutputs > 1)
		read_next(scan);
	return true;
}

static bool
fetch_groups(Scan *scan, uint32_t first)
{
	CsvAnswer	answer = {0};
	CsvBatch	batch = {.answer = &answer};

	/* before the end an engine that is ahead may still change them */
	if (asked_query(scan) == NULL || scan->engine == NULL || !scan->has_ended)
		return false;
	csv_outlet_begin(&scan->outlet);
	if (scan->engine->held_groups(scan->state, first, &answer.groups) != CSV_OK)
		return csv_outlet_send_failure(&scan->outlet, CSV_FAILURE_DEVICE, 0,
							scan->engine->message(scan->state));
	return csv_outlet_send_batch(&scan->outlet, CSV_MESSAGE_GROUPS, &batch, 0,
								 asked_query(scan));
}

/* ---- files ---- */

static void
close_file(Scan *scan)
{
	if (scan->reader != NULL)
		csv_reader_free(scan->reader);
	scan->reader = NULL;
	if (scan->on_device != NULL)
	{
		csv_device_file_use(NULL, scan->state);
		csv_device_file_close(scan->on_device);
	}
	scan->on_device = NULL;
	if (scan->file >= 0)
		close(scan->file);
	scan->file = -1;
	if (scan->asked != NULL)
		csv_wire_free_request(scan->asked, &scan->outlet.memory);
	scan->asked = NULL;
	if (scan->request != NULL)
		csv_wire_free_request(scan->request, &scan->outlet.memory);
	scan->request = NULL;
	scan->at = scan->end = 0;
	scan->at_end = false;
	scan->error = 0;
	scan->is_ahead = false;
	scan->has_ended = false;
}

/* offsets of files are below 2^63: sums of an offset and a length do not wrap */
/* open a reader of the file at its place; returns the error */
static CsvStatus
open_reader(Scan *scan, const CsvFileMessage *message)
{
	CsvFilePlace place = csv_place_of_message(&message->place);
	CsvOwnBytes own = {await_bytes, scan};
	CsvMemory	memory = csv_cuda_pinned(csv_device_session(scan->outlet.device));
	CsvReadAhead ahead = {
		.seek = seek_file, .arg = scan, .file_bytes = scan->file_bytes
	};
	CsvReaderOptions options;
	CsvDialect	dialect;
	CsvStatus	status;

	memset(&options, 0, sizeof(options));
	options.dialect = scan->request->dialect;
	options.max_record_bytes = scan->request->max_record_bytes;
	options.chunk_bytes = scan->request->chunk_bytes;
	/* a session keeps the bytes of a stream that are not in a batch yet */
	options.in_small_steps = scan->file < 0;
	options.interrupted = csv_outlet_is_left;
	options.interrupted_arg = &scan->outlet;
	scan->reader = csv_reader_create(&memory, &options);
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
	{
		csv_reader_read_ahead(scan->reader, &ahead);
		scan->on_device = csv_device_file_open(scan->outlet.device, scan->file,
											   message->is_shared ? 0 : place.offset,
											   scan->file_bytes, message->grows != 0);
	}
	if (scan->on_device != NULL)
	{
		csv_device_file_use(scan->on_device, scan->state);
		csv_reader_use_own(scan->reader, &own);
	}
	else if (scan->file < 0 && scan->stream == NULL &&
			 (scan->stream = csv_outlet_make_block(&scan->outlet,
												   STREAM_BYTES)) == NULL)
		return CSV_NO_MEMORY;
	return csv_reader_set_layout(scan->reader, scan->request->layout);
}

/* ---- the device ---- */

static void
leave_device(Scan *scan)
{
	CsvDevice  *device = scan->outlet.device;

	if (scan->engine != NULL)
		scan->engine->close(scan->state);
	scan->engine = NULL;
	if (device == NULL)
		return;
	csv_count(&csv_device_counts(device)->scans_running, -1);
	csv_device_leave(device);
}

/* move to the device; if it gives no engine, stay where the scan is, if anywhere */
static void
go_to_device(Scan *scan, CsvDevice *device)
{
	void	   *state;
	const CsvEngine *engine = csv_device_open_engine(device, &scan->outlet.memory,
													 &state, scan->reason,
													 sizeof(scan->reason));

	if (engine == NULL && scan->engine != NULL)
	{
		csv_device_leave(device);
		return;
	}
	leave_device(scan);
	csv_count(&csv_device_counts(device)->scans_running, 1);
	scan->outlet.device = device;
	scan->engine = engine;
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

	if (scan->engine != NULL && scan->holds)
		return;
	if (scan->file >= 0)
		wish.has = csv_devices_with_file(scan->file);
	device = csv_device_take(&wish, scan->reason, sizeof(scan->reason));
	if (device != NULL && device == scan->outlet.device && scan->engine != NULL)
		csv_device_leave(device);
	else if (device != NULL)
		go_to_device(scan, device);
	if (scan->engine != NULL)
		scan->reason[0] = '\0';
}

/* a descriptor allows reading only if it was opened for reading */
static bool
may_read(int file)
{
	int			flags = fcntl(file, F_GETFL);

	return flags >= 0 && (flags & O_PATH) == 0 &&
		(flags & O_ACCMODE) != O_WRONLY;
}

/* if the file cannot be opened, the answer to the first NEXT says why */
static bool
open_file(Scan *scan, const CsvFileMessage *message, CsvDescriptors *with)
{
	close_file(scan);
	scan->file_bytes = message->file_bytes;
	scan->may_be_ahead = true;
	if (!csv_place_is_sound(&message->place) || message->file_bytes > INT64_MAX ||
		with->n != (message->is_stream ? 1 : 2) ||
		(!message->is_stream && !may_read(with->files[1])))
		return false;
	scan->request = csv_outlet_read_request(&scan->outlet, with->files[0]);
	if (scan->request == NULL)
		return false;
	scan->is_cut = false;
	if (!message->is_stream)
	{
		scan->file = with->files[1];
		with->n = 1;
	}
	choose_device(scan, message->is_shared != 0);
	scan->status = scan->engine == NULL ? CSV_DEVICE_FAILED :
		open_reader(scan, message);
	return true;
}

/* go to a place in the file; other scans read the parts before and after */
static bool
go_to_piece(Scan *scan, const CsvPieceMessage *message)
{
	CsvFilePlace place = csv_place_of_message(&message->place);
	uint64_t	most;
	uint64_t	nbytes = message->end - place.offset;

	if (scan->file < 0 || !csv_place_is_sound(&message->place) ||
		message->end <= place.offset)
		return false;
	scan->may_be_ahead = false;
	scan->is_ahead = false;
	if (scan->status != CSV_OK)
		return true;
	most = scan->engine->default_chunk_bytes * (stays(scan) ? FEW_ROWS_TIMES : 1);
	csv_reader_go_to(scan->reader, &place, nbytes < most ? nbytes : most);
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
		csv_wire_free_request(request, &scan->outlet.memory);
		return false;
	}
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
	size_t		nbytes = csv_outlet_receive(&scan->outlet, &message,
											&descriptors);
	bool		good = false;

	if (nbytes == sizeof(uint32_t) && message.kind == CSV_MESSAGE_NEXT)
		good = next_batch(scan);
	else if (nbytes == sizeof(CsvFileMessage) &&
			 message.kind == CSV_MESSAGE_FILE)
		good = open_file(scan, &message.file, &descriptors);
	else if (nbytes == sizeof(CsvPieceMessage) &&
			 message.kind == CSV_MESSAGE_PIECE)
		good = go_to_piece(scan, &message.piece);
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
	if (scan->stream != NULL)
		csv_outlet_free_block(scan->stream);
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
