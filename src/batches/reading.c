/*
 * reading.c
 *		Batches that an engine makes of a table's files.
 *
 *	1. The source delivers the bytes of one file after the other.
 *	2. The reader makes batches of them, with the engine chosen for the table.
 *	   With a GPU, csv_gpu_service makes the batches (remote.c), and the reader
 *	   stays where the header ends.
 *	3. If a GPU fails with 'auto', the CPU engine reads the same bytes again and
 *	   continues.  Groups that the device held for earlier batches are lost, so
 *	   the caller must then start again.
 *
 * Memory: reader and engine use malloc() and threads, which must not touch a memory
 * context.  A reset callback releases both when the context is deleted, also after an
 * ERROR or a cancel.  Both are also released when everything is read, because a query
 * may read hundreds of partitions one after the other, and ends all their scans only
 * at its own end.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batches/choose.h"
#include "batches/reading.h"
#include "batches/remote.h"
#include "client/gpu.h"
#include "reader/footer.h"
#include "table/messages.h"
#include "table/source.h"
#include "table/threads.h"

struct CsvReading
{
	const CsvTable *table;
	CsvFileLayout *layout;
	MemoryContext context;
	MemoryContextCallback callback;

	CsvSource  *source;
	int64		nbytes;			/* of the source, about, when the scan began */
	bool		size_is_exact;
	int64		passed_bytes;	/* bytes in batches so far */
	int64		file_bytes;		/* bytes of the open file in batches so far */

	CsvReader  *reader;			/* NULL: not open */
	CsvOpenEngine engine;		/* engine NULL: not open */
	CsvRemote  *remote;			/* makes batches on a GPU; NULL: the engine does */
	uint8_t    *rest;			/* bytes of a stream that a failed GPU had; */
	size_t		nrest;			/* the reader gets these first */
	size_t		rest_at;
	char	   *description;	/* of the engine; stays when the engine is closed */
	bool		asked;			/* the engine was asked, in this layout */
	bool		holds;
	CsvReadStatistics statistics;
	int			file_number;	/* number of the open file, from 1 */
	CsvFileChangedFn changed;	/* NULL: not wanted */
	void	   *changed_arg;

	/* if other processes share the reading */
	CsvSharing *sharing;		/* NULL: no sharing */
	CsvPieceCallbacks callbacks;
	CsvPieceReader *pieces;		/* of the open file; NULL: the file is one piece */
	CsvClaim	claim;			/* the current piece */
	bool		has_claim;
	bool		is_begun;		/* the GPU has made a batch of the piece */
	bool		is_read;		/* nothing more of the piece will be read */
	CsvFileChange change;		/* of its file; reported when the piece is passed */
	bool		is_alone;		/* the engine has one thread, because others share */
};

/* ---- memory that threads may use ---- */

static void *
thread_alloc(void *owner, size_t nbytes)
{
	return malloc(nbytes);
}

static void
thread_free(void *owner, void *memory)
{
	free(memory);
}

const CsvMemory csv_thread_memory = {thread_alloc, thread_free, NULL};

/* ---- the engine ---- */

/* allocated in the reading's context, because it outlives the engine */
static void
describe_engine(CsvReading *reading)
{
	MemoryContext outer = MemoryContextSwitchTo(reading->context);

	if (reading->description != NULL)
		pfree(reading->description);
	reading->description = reading->remote != NULL ?
		csv_engine_gpu_description(&reading->table->settings) :
		csv_engine_description(&reading->engine);
	MemoryContextSwitchTo(outer);
}

void
csv_reading_open_engine(CsvReading *reading)
{
	CsvReaderOptions options = reading->table->reader;

	options.stream_threads =
		(uint32_t) csv_stream_threads(reading->table->settings.cpu_threads);
	options.interrupted = csv_source_interrupted;
	options.interrupted_arg = NULL;
	reading->reader = csv_reader_create(&csv_thread_memory, &options);
	if (reading->reader == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	reading->is_alone = reading->sharing != NULL;
	if (reading->is_alone)
		csv_engine_open_alone(&reading->engine, &reading->table->settings,
							  csv_sharing_has_gpu(reading->sharing),
							  &csv_thread_memory);
	else
		csv_engine_open(&reading->engine, &reading->table->settings,
						reading->nbytes, options.chunk_bytes,
						reading->layout->ncolumns + reading->layout->nvirtuals,
						&csv_thread_memory);
	csv_reader_set_engine(reading->reader, reading->engine.engine,
						  reading->engine.state);
	describe_engine(reading);
}

static void
close_pieces(CsvReading *reading)
{
	if (reading->pieces == NULL)
		return;
	reading->statistics.read_seconds += csv_piece_read_seconds(reading->pieces);
	csv_piece_reader_free(reading->pieces);
	reading->pieces = NULL;
}

static void
close_reader(CsvReading *reading)
{
	close_pieces(reading);
	if (reading->reader != NULL)
	{
		csv_reading_statistics(reading, &reading->statistics);
		csv_reader_free(reading->reader);
	}
	reading->reader = NULL;
}

static void
close_remote(CsvReading *reading)
{
	if (reading->remote == NULL)
		return;
	reading->statistics.read_seconds +=
		csv_remote_read_seconds(reading->remote);
	csv_remote_close(reading->remote);
	reading->remote = NULL;
}

static void
close_engine(CsvReading *reading)
{
	close_remote(reading);
	close_reader(reading);
	if (reading->engine.engine != NULL)
		reading->engine.engine->close(reading->engine.state);
	reading->engine.engine = NULL;
	reading->asked = false;
	reading->holds = false;
}

/* the reset callback */
static void
release_reading(void *arg)
{
	close_engine(arg);
}

/* makes the GPU continue the file from where the reader is */
static void
begin_remote(CsvReading *reading)
{
	CsvReadAhead ahead;
	CsvRemoteFile file;
	uint64_t	nbytes;

	memset(&file, 0, sizeof(file));
	file.reader = &reading->table->reader;
	file.dialect = csv_reader_dialect(reading->reader);
	file.layout = &reading->layout->layout;
	file.place = *csv_reader_place(reading->reader);
	file.is_shared = reading->sharing != NULL;
	file.file = -1;
	if (csv_source_read_ahead(reading->source, &ahead))
	{
		file.file = csv_source_file(reading->source);
		file.file_bytes = ahead.file_bytes;
	}
	else
	{
		file.bytes = csv_reader_rest(reading->reader, &nbytes);
		file.nbytes = (size_t) nbytes;
		file.read = csv_source_read;
		file.read_arg = reading->source;
	}
	csv_remote_begin(reading->remote, &file);
	reading->asked = false;
}

/* false if no GPU is available now */
static bool
open_remote(CsvReading *reading)
{
	const CsvSettings *settings = &reading->table->settings;
	MemoryContext outer = MemoryContextSwitchTo(reading->context);

	reading->remote = csv_remote_open(settings,
									  settings->engine == CSV_ENGINE_CUDA);
	MemoryContextSwitchTo(outer);
	if (reading->remote == NULL)
		return false;
	begin_remote(reading);
	describe_engine(reading);
	return true;
}

/* a GPU that is awake by now takes over from the CPU */
static void
take_over(CsvReading *reading)
{
	if (!csv_engine_may_take_over(&reading->engine, &reading->table->settings,
								  reading->nbytes - reading->passed_bytes) ||
		!csv_reader_settle(reading->reader))
		return;
	reading->engine.awaits_gpu = false;
	(void) open_remote(reading);
}

static bool handle_failure(CsvReading *reading, CsvStatus status);

/* a CsvReadFn: first returns the bytes that the GPU had */
static size_t
read_rest(void *arg, uint8_t *buffer, size_t nbytes)
{
	CsvReading *reading = arg;
	size_t		n = Min(nbytes, reading->nrest - reading->rest_at);

	if (n == 0)
		return csv_source_read(reading->source, buffer, nbytes);
	memcpy(buffer, reading->rest + reading->rest_at, n);
	reading->rest_at += n;
	return n;
}

/* the GPU has failed: the CPU reads from now on */
static void
leave_gpu(CsvReading *reading)
{
	csv_engine_gpu_failed();
	reading->engine.awaits_gpu = false;
	reading->engine.wants_gpu = false;
	reading->holds = false;
	reading->asked = false;
	close_remote(reading);
	describe_engine(reading);
}

/* after a failure of the GPU: the reader continues behind the last batch */
static void
fall_back(CsvReading *reading)
{
	CsvFilePlace place = *csv_remote_place(reading->remote);
	CsvDialect	dialect = *csv_reader_dialect(reading->reader);
	CsvReadAhead ahead;
	CsvStatus	status;

	if (csv_source_read_ahead(reading->source, &ahead))
	{
		ahead.seek(ahead.arg, place.offset);
		csv_reader_open_at(reading->reader, csv_source_read, reading->source,
						   &place, &dialect);
		csv_reader_read_ahead(reading->reader, &ahead);
	}
	else
	{
		const uint8_t *rest = csv_remote_rest(reading->remote, &reading->nrest);

		reading->rest = MemoryContextAllocHuge(reading->context,
											   reading->nrest + 1);
		reading->rest_at = 0;
		memcpy(reading->rest, rest, reading->nrest);
		csv_reader_open_at(reading->reader, read_rest, reading, &place,
						   &dialect);
	}
	leave_gpu(reading);
	while ((status = csv_reader_set_layout(reading->reader,
										   &reading->layout->layout)) != CSV_OK)
		handle_failure(reading, status);
}

/* the device has failed: ERROR, or a WARNING that the CPU continues */
static void
report_device_failure(const CsvReading *reading, const char *reason)
{
	if (!reading->engine.may_fall_back)
	{
		/* csv_gpu_service may have searched for devices until now */
		if (csv_gpu_is_missing(reading->table->settings.device))
			csv_engine_no_gpu(&reading->table->settings);
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("GPU failed while reading \"%s\": %s",
						csv_source_name(reading->source), reason)));
	}
	csv_warn((errcode(ERRCODE_WARNING),
			  errmsg("GPU failed while reading \"%s\": %s",
					 csv_source_name(reading->source), reason),
			  reading->holds ?
			  errdetail("The CPU engine reads all of it again.") :
			  errdetail("The CPU engine reads the rest.")));
}

/*
 * Handles a failure of the device: ERROR, or the CPU continues.  Returns false if
 * groups that the device held are lost.
 */
static bool
handle_device_failure(CsvReading *reading, const char *reason)
{
	bool		held = reading->holds;

	report_device_failure(reading, reason);
	fall_back(reading);
	return !held;
}

/*
 * Handles a status other than CSV_OK: ERROR, or returns to try again.  Returns false
 * if that is useless, because groups that the engine held are lost.
 */
static bool
handle_failure(CsvReading *reading, CsvStatus status)
{
	switch (status)
	{
		case CSV_INTERRUPTED:
			csv_check_interrupts();
			return true;
		case CSV_NO_MEMORY:
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory"),
					 errdetail("Failed while reading \"%s\".",
							   csv_source_name(reading->source))));
			break;
		case CSV_DEVICE_FAILED:
			return handle_device_failure(reading,
										 csv_remote_message(reading->remote));
		case CSV_UNREADABLE:
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read from file \"%s\": %m",
							csv_source_name(reading->source))));
			break;
		case CSV_FOOTER_TOO_LONG:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("footer of \"%s\" is longer than %d MB",
							csv_source_name(reading->source),
							(int) (CSV_FOOTER_BYTES >> 20)),
					 errhint("Perhaps the option \"footer_rows\" is too large.")));
			break;
		default:
			elog(ERROR, "unexpected reader status: %d", (int) status);
	}
	return true;
}

/* ---- begin ---- */

CsvReading *
csv_reading_create(CsvFileLayout *layout)
{
	CsvReading *reading = palloc0(sizeof(CsvReading));

	reading->table = layout->table;
	reading->layout = layout;
	reading->context = CurrentMemoryContext;
	reading->source = csv_source_create(layout->table);
	reading->nbytes = csv_source_data_size(layout->table,
										   &reading->size_is_exact);
	reading->callback.func = release_reading;
	reading->callback.arg = reading;
	MemoryContextRegisterResetCallback(reading->context, &reading->callback);
	return reading;
}

static void open_pieces(CsvReading *reading, const CsvReadAhead *ahead);

/* reads the beginning of the open file, and lays out its columns */
static bool
begin_file(CsvReading *reading)
{
	bool		good = true;
	bool		in_pieces = reading->sharing != NULL && !reading->claim.whole;
	CsvStatus	status;
	CsvReadAhead ahead;

	if (reading->is_alone != (reading->sharing != NULL))
		close_engine(reading);
	if (reading->reader == NULL)
		csv_reading_open_engine(reading);
	while ((status = csv_reader_open(reading->reader, csv_source_read,
									 reading->source)) != CSV_OK)
		good &= handle_failure(reading, status);
	if (!csv_source_read_ahead(reading->source, &ahead))
	{
		/* the file was seekable when its pieces were handed out */
		if (in_pieces)
			csv_sharing_replaced(reading->source);
	}
	else if (reading->sharing == NULL)
		csv_reader_read_ahead(reading->reader, &ahead);
	csv_file_layout_read(reading->layout, reading->reader,
						 csv_source_name(reading->source));
	while ((status = csv_reader_set_layout(reading->reader,
										   &reading->layout->layout)) != CSV_OK)
		good &= handle_failure(reading, status);
	reading->asked = false;
	if (reading->remote != NULL)
		begin_remote(reading);
	else if (reading->engine.wants_gpu && !open_remote(reading))
	{
		if (!reading->engine.may_fall_back)
			csv_engine_no_gpu(&reading->table->settings);
		reading->engine.wants_gpu = false;
	}
	if (in_pieces)
		open_pieces(reading, &ahead);
	return good;
}

/* ---- files that change ---- */

void
csv_reading_on_change(CsvReading *reading, CsvFileChangedFn changed, void *arg)
{
	reading->changed = changed;
	reading->changed_arg = arg;
}

static void
tell_change(CsvReading *reading, CsvFileChange change)
{
	if (change != CSV_FILE_SAME && reading->changed != NULL)
		reading->changed(reading->changed_arg, reading->file_number,
						 csv_source_name(reading->source), change);
}

/* the GPU has reached the end of the open file */
static void
note_remote_end(CsvReading *reading)
{
	csv_source_note_end(reading->source,
						csv_remote_file_bytes(reading->remote));
}

/* ---- shared files ---- */

void
csv_reading_share(CsvReading *reading, CsvSharing *sharing,
				  const CsvPieceCallbacks *callbacks)
{
	reading->sharing = sharing;
	if (callbacks != NULL)
		reading->callbacks = *callbacks;
	reading->has_claim = false;
	reading->is_read = false;
	reading->change = CSV_FILE_SAME;
}

/*
 * Runs a step of reading, whose ERRORs concern the files.  Returns false if it failed.
 * Then no process needs to wait for the end of the piece.
 */
static bool
try_step(CsvReading *reading, void (*step) (CsvReading *, void *), void *arg)
{
	MemoryContext outer = CurrentMemoryContext;
	volatile bool done = false;

	PG_TRY();
	{
		csv_begin_step();
		step(reading, arg);
		csv_end_step();
		done = true;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		if (!csv_leave_step())
			PG_RE_THROW();
		MemoryContextSwitchTo(outer);
		error = CopyErrorData();
		FlushErrorState();
		reading->callbacks.failed(reading->callbacks.arg, error);
		FreeErrorData(error);
	}
	PG_END_TRY();
	if (!done)
	{
		reading->is_read = true;
		csv_sharing_close(reading->sharing);
	}
	return done;
}

/* the current piece, if there is one, is passed */
static void
pass_piece(CsvReading *reading)
{
	if (reading->has_claim)
	{
		tell_change(reading, reading->change);
		reading->callbacks.passed(reading->callbacks.arg,
								  reading->claim.number);
	}
	reading->change = CSV_FILE_SAME;
	reading->has_claim = false;
	reading->is_begun = false;
	reading->is_read = false;
}

/*
 * Makes sure that there is a piece with something left to read; returns false if there
 * are no more.  The piece before it is passed.
 */
static bool
claim_piece(CsvReading *reading)
{
	if (reading->has_claim && !reading->is_read)
		return true;
	pass_piece(reading);
	reading->has_claim = csv_sharing_claim(reading->sharing, &reading->claim);
	return reading->has_claim;
}

void
csv_reading_stop(CsvReading *reading)
{
	csv_sharing_close(reading->sharing);
	pass_piece(reading);
}

static void
open_step(CsvReading *reading, void *arg)
{
	bool	   *found = arg;

	*found = csv_source_open(reading->source, reading->claim.file,
							 csv_sharing_identity(reading->sharing,
												  reading->claim.file));
	if (!*found)
		return;
	csv_sharing_check_file(reading->sharing, reading->claim.file,
						   reading->source);
	begin_file(reading);
}

static void
missing_step(CsvReading *reading, void *arg)
{
	csv_source_missing(reading->source);
}

/*
 * The file of the current piece is gone.  The file is left out if the process with its
 * first piece reports that.
 */
static void
leave_out_piece(CsvReading *reading)
{
	CsvFilePlace place;

	if (reading->claim.in_file == 0)
		reading->change = CSV_FILE_GONE;
	else if (csv_sharing_wait(reading->sharing, &reading->claim, &place))
		(void) try_step(reading, missing_step, NULL);
	reading->is_read = true;
}

/* opens the file of the next piece; false if there are no more pieces */
static bool
open_claimed_file(CsvReading *reading)
{
	close_pieces(reading);
	while (claim_piece(reading))
	{
		bool		found;

		reading->file_number = reading->claim.file + 1;
		if (try_step(reading, open_step, &found))
		{
			if (found)
				return true;
			leave_out_piece(reading);
		}
		csv_sharing_fail(reading->sharing, &reading->claim);
	}
	csv_source_close(reading->source);
	return false;
}

/* the beginning of the file was read: prepares for reading its pieces */
static void
open_pieces(CsvReading *reading, const CsvReadAhead *ahead)
{
	CsvPieceOptions options;

	memset(&options, 0, sizeof(options));
	options.engine = reading->engine.engine;
	options.engine_state = reading->engine.state;
	options.dialect = csv_reader_dialect(reading->reader);
	options.memory = csv_thread_memory;
	options.read_at = ahead->read_at;
	options.read_arg = ahead->arg;
	options.file_bytes = csv_sharing_file_bytes(reading->sharing,
												reading->claim.file);
	options.max_record_bytes = reading->table->reader.max_record_bytes;
	options.interrupted = csv_source_interrupted;
	reading->pieces = csv_piece_reader_create(&options);
	if (reading->pieces == NULL)
		handle_failure(reading, CSV_NO_MEMORY);
}

typedef struct ParseStep
{
	CsvFilePlace place;			/* to parse from; afterwards, where the records end */
	CsvBatch   *batch;
} ParseStep;

static void
parse_step(CsvReading *reading, void *arg)
{
	ParseStep  *step = arg;
	CsvStatus	status;
	bool		at_end;

	while ((status = csv_piece_parse(reading->pieces, &step->place,
									 reading->claim.piece.end, step->batch,
									 &at_end)) != CSV_OK)
		handle_failure(reading, status);
}

/* parses from a guessed place; the guess is checked before the records are used */
static void
guess_step(CsvReading *reading, void *arg)
{
	ParseStep  *step = arg;
	CsvPiece   *piece = &reading->claim.piece;
	CsvStatus	status;
	bool		at_end;

	if (piece->is_first)
		piece->from = csv_reader_place(reading->reader)->offset;
	while ((status = csv_piece_guess(reading->pieces, piece)) != CSV_OK)
		handle_failure(reading, status);
	if (piece->is_first)
		step->place = *csv_reader_place(reading->reader);
	else
		step->place.offset = piece->start;
	if (!piece->found)
		return;
	while ((status = csv_piece_parse_guess(reading->pieces, piece, &step->place,
										   step->batch, &at_end)) != CSV_OK)
		handle_failure(reading, status);
}

/* tells the processes that wait for the current piece, or for a later one */
static void
tell_others(CsvReading *reading, bool good, const CsvFilePlace *place)
{
	if (good)
	{
		CsvFileChange change =
			csv_sharing_publish(reading->sharing, &reading->claim, place,
								csv_source_change(reading->source));

		/* only the process with the last piece knows the changes of all processes */
		if (reading->claim.piece.is_last)
			reading->change = change;
	}
	else
		csv_sharing_fail(reading->sharing, &reading->claim);
	reading->is_read = true;
}

/* the GPU has failed: from this place on, this process reads on the CPU */
static void
parse_instead(CsvReading *reading, ParseStep *step)
{
	bool		is_first = csv_sharing_drop_gpu(reading->sharing);

	if (is_first || !reading->engine.may_fall_back)
		report_device_failure(reading, csv_remote_message(reading->remote));
	leave_gpu(reading);

	/* no process has guessed a later end: the next piece begins at `to` */
	reading->claim.piece.end = reading->claim.piece.to;
	parse_step(reading, step);
}

/*
 * Like parse_step(), on the GPU.  The batch may end before the piece; then the last
 * piece has another batch.
 */
static void
remote_step(CsvReading *reading, void *arg)
{
	ParseStep  *step = arg;
	const CsvPiece *piece = &reading->claim.piece;
	CsvStatus	status;

	if (!reading->is_begun)
	{
		if (step->place.offset >= piece->to)
			return;
		csv_remote_go_to(reading->remote, &step->place, piece->to,
						 piece->is_last);
	}
	status = csv_remote_next(reading->remote, step->batch);
	step->place = *csv_remote_place(reading->remote);
	reading->is_begun = status == CSV_OK && piece->is_last;
	if (status == CSV_OK)
		return;
	memset(step->batch, 0, sizeof(*step->batch));
	if (status == CSV_DEVICE_FAILED)
		parse_instead(reading, step);
	else if (status != CSV_END)
		handle_failure(reading, status);
	else
	{
		/* no more records in the file */
		note_remote_end(reading);
		step->place.offset = csv_sharing_file_bytes(reading->sharing,
													reading->claim.file);
	}
}

/* like read_piece() */
static bool
read_remote_piece(CsvReading *reading, CsvBatch *batch)
{
	ParseStep	step = {{0}, batch};
	bool		good;

	if (reading->claim.piece.is_first)
		step.place = *csv_reader_place(reading->reader);
	else if (!reading->is_begun &&
			 !csv_sharing_wait(reading->sharing, &reading->claim, &step.place))
	{
		reading->is_read = true;
		return false;
	}
	good = try_step(reading, remote_step, &step);
	if (!good || !reading->is_begun)
		tell_others(reading, good, &step.place);
	return good;
}

/*
 * Reads the current piece, or more of it.  Returns false if this piece, or one before
 * it, could not be read.
 */
static bool
read_piece(CsvReading *reading, CsvBatch *batch)
{
	CsvClaim   *claim = &reading->claim;
	CsvPiece   *piece = &claim->piece;
	ParseStep	step = {{0}, batch};
	CsvFilePlace begin;
	bool		good;

	if (reading->remote != NULL)
		return read_remote_piece(reading, batch);
	good = try_step(reading, guess_step, &step);

	if (good && !piece->is_first)
	{
		if (!csv_sharing_wait(reading->sharing, claim, &begin))
		{
			reading->is_read = true;
			return false;
		}
		if (piece->found && begin.offset == piece->start &&
			begin.alone_until == 0 && !begin.skip_line)
		{
			batch->file_records = begin.records;
			batch->file_lines = begin.lines;
			step.place.records += begin.records;
			step.place.lines += begin.lines;
		}
		else
		{
			step.place = begin;
			good = try_step(reading, parse_step, &step);
		}
	}
	tell_others(reading, good, &step.place);
	return good;
}

/* ---- files ---- */

bool
csv_reading_next_file(CsvReading *reading)
{
	bool		gone;

	csv_reading_leave(reading);
	reading->file_bytes = 0;
	if (reading->sharing != NULL)
		return open_claimed_file(reading);
	while (csv_source_open_next(reading->source, &gone))
	{
		reading->file_number = csv_source_number(reading->source) + 1;
		if (!gone)
			return true;
		tell_change(reading, CSV_FILE_GONE);
	}
	return false;
}

void
csv_reading_choose_files(CsvReading *reading)
{
	reading->nbytes = csv_source_data_size(reading->table,
										   &reading->size_is_exact);
}

int
csv_reading_file_number(const CsvReading *reading)
{
	return reading->file_number;
}

const char *
csv_reading_filename(const CsvReading *reading)
{
	return csv_source_name(reading->source);
}

int
csv_reading_file(const CsvReading *reading)
{
	return csv_source_file(reading->source);
}

bool
csv_reading_identity(const CsvReading *reading, CsvFileIdentity *identity)
{
	return csv_source_identity(reading->source, identity);
}

void
csv_reading_pass(CsvReading *reading, int64 nbytes)
{
	reading->passed_bytes += nbytes;
	reading->statistics.bytes += nbytes;
}

bool
csv_reading_begin(CsvReading *reading)
{
	/* a shared file was begun when it was opened */
	return reading->sharing != NULL || begin_file(reading);
}

const CsvDialect *
csv_reading_dialect(const CsvReading *reading)
{
	return csv_reader_dialect(reading->reader);
}

/* ---- batches ---- */

static void
count_batch(CsvReading *reading, const CsvBatch *batch)
{
	CsvReadStatistics *statistics = &reading->statistics;
	int64		file_bytes = batch->file_offset + batch->consumed;

	reading->holds |= batch->answer != NULL && batch->answer->held;
	reading->passed_bytes += batch->consumed;
	statistics->chunks++;
	if (reading->pieces != NULL)
		reading->file_bytes = batch->file_offset;
	/* the bytes before the first batch are the header */
	statistics->bytes += file_bytes - reading->file_bytes;
	reading->file_bytes = file_bytes;
	statistics->copy_in_seconds += batch->copy_in_seconds;
	statistics->parse_seconds += batch->parse_seconds;
	statistics->copy_out_seconds += batch->copy_out_seconds;
}

/* the next batch of this process's pieces of the open file */
static CsvReadResult
next_of_pieces(CsvReading *reading, CsvBatch *batch)
{
	while (claim_piece(reading) &&
		   reading->claim.file + 1 == reading->file_number)
	{
		CHECK_FOR_INTERRUPTS();
		memset(batch, 0, sizeof(*batch));
		if (read_piece(reading, batch) && batch->nrecords > 0)
		{
			count_batch(reading, batch);
			return CSV_READ_BATCH;
		}
	}
	return CSV_READ_END;
}

/* the next batch of the open file, which is read as a whole */
static CsvReadResult
next_of_file(CsvReading *reading, CsvBatch *batch)
{
	for (;;)
	{
		CsvStatus	status;

		if (reading->engine.awaits_gpu)
			take_over(reading);
		status = reading->remote != NULL ?
			csv_remote_next(reading->remote, batch) :
			csv_reader_next(reading->reader, batch);
		if (status == CSV_OK)
		{
			count_batch(reading, batch);
			return CSV_READ_BATCH;
		}
		memset(batch, 0, sizeof(*batch));
		if (status == CSV_END)
		{
			if (reading->remote != NULL)
				note_remote_end(reading);
			reading->is_read = true;
			reading->change = csv_source_change(reading->source);
			if (reading->sharing == NULL)
				tell_change(reading, reading->change);
			return CSV_READ_END;
		}
		if (!handle_failure(reading, status))
			return CSV_READ_AGAIN;
		csv_check_interrupts();
	}
}

typedef struct FileStep
{
	CsvReadResult result;
	CsvBatch   *batch;
} FileStep;

static void
file_step(CsvReading *reading, void *arg)
{
	FileStep   *step = arg;

	step->result = next_of_file(reading, step->batch);
}

CsvReadResult
csv_reading_next(CsvReading *reading, CsvBatch *batch)
{
	FileStep	step = {CSV_READ_END, batch};

	if (reading->pieces != NULL)
		return next_of_pieces(reading, batch);
	if (reading->sharing == NULL)
		return next_of_file(reading, batch);
	CHECK_FOR_INTERRUPTS();
	(void) try_step(reading, file_step, &step);
	return step.result;
}

/* ---- queries that the engine evaluates ---- */

bool
csv_reading_asks(const CsvReading *reading)
{
	return !reading->asked && reading->remote != NULL;
}

void
csv_reading_ask(CsvReading *reading, const CsvRequest *request)
{
	reading->asked = true;
	csv_remote_ask(reading->remote, request);
}

void
csv_reading_set_hook(CsvReading *reading, const CsvBatchHook *hook)
{
	if (reading->reader != NULL)
		csv_reader_set_hook(reading->reader, hook);
}

void
csv_reading_leave(CsvReading *reading)
{
	if (reading->reader != NULL)
		csv_reader_leave(reading->reader);
}

CsvSource *
csv_reading_source(const CsvReading *reading)
{
	return reading->source;
}

bool
csv_reading_is_shared(const CsvReading *reading)
{
	return reading->sharing != NULL;
}

CsvHolding
csv_reading_holding(const CsvReading *reading)
{
	if (reading->nbytes >= 0)
		return CSV_HOLDING_ALWAYS;
	return reading->engine.may_fall_back ? CSV_HOLDING_NEVER :
		CSV_HOLDING_ORDERED;
}

bool
csv_reading_holds(const CsvReading *reading)
{
	return reading->holds;
}

bool
csv_reading_first_held(CsvReading *reading, CsvPartialGroups *groups)
{
	if (!reading->holds ||
		csv_remote_held(reading->remote, 0, groups) == CSV_OK)
		return true;
	return handle_device_failure(reading, csv_remote_message(reading->remote));
}

void
csv_reading_held(CsvReading *reading, uint32_t first,
				 CsvPartialGroups *groups)
{
	if (csv_remote_held(reading->remote, first, groups) != CSV_OK)
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("GPU failed after reading \"%s\": %s",
						csv_source_name(reading->source),
						csv_remote_message(reading->remote))));
}

void
csv_reading_drop_held(CsvReading *reading)
{
	if (reading->holds)
		close_engine(reading);
}

/* ---- the end ---- */

void
csv_reading_rewind(CsvReading *reading, bool keeps)
{
	csv_reading_drop_held(reading);
	reading->passed_bytes = 0;
	reading->statistics.bytes = 0;
	reading->asked = false;
	csv_reading_leave(reading);
	csv_source_rewind(reading->source);
	reading->file_number = 0;
	close_pieces(reading);
	reading->has_claim = false;
	reading->is_read = false;
	reading->change = CSV_FILE_SAME;
	if (reading->reader == NULL && !keeps && reading->sharing == NULL)
		csv_reading_open_engine(reading);
}

void
csv_reading_finish(CsvReading *reading, bool expects_rewind)
{
	if (reading->holds)
		close_reader(reading);
	else if (!expects_rewind)
		close_engine(reading);
}

void
csv_reading_end(CsvReading *reading)
{
	csv_reading_leave(reading);
	csv_source_close(reading->source);
}

int64
csv_reading_size(const CsvReading *reading, bool *is_exact)
{
	*is_exact = reading->size_is_exact &&
		!csv_source_found_utf16(reading->source);
	return reading->nbytes;
}

void
csv_reading_statistics(const CsvReading *reading,
					   CsvReadStatistics *statistics)
{
	*statistics = reading->statistics;
	if (reading->pieces != NULL)
		statistics->read_seconds += csv_piece_read_seconds(reading->pieces);
	if (reading->remote != NULL)
		statistics->read_seconds += csv_remote_read_seconds(reading->remote);
	if (reading->reader == NULL)
		return;
	statistics->read_seconds += csv_reader_read_seconds(reading->reader);
	statistics->threads = Max(statistics->threads,
							  csv_reader_nthreads(reading->reader));
}

const char *
csv_reading_engine(const CsvReading *reading)
{
	return reading->description;
}
