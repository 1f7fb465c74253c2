/*
 * stream.c
 *		Cuts a file into inputs for an engine.
 *
 * There are two ways.  If the engine can parse in several threads, each thread takes
 * pieces of the file (pieces.c), but only after some chunks, so that a query that needs
 * a few rows starts no threads.  Otherwise the calling thread does the work here, chunk
 * by chunk.  Each way begins and ends at a CsvFilePlace, so that it can be changed
 * between any two batches.
 *
 * The calling thread has one window (window.c).  It is filled to the size of a chunk,
 * and the engine reads the records in it (piece.c).  The engine says how many bytes it
 * consumed.  The rest, an incomplete record, stays in the window.  While no record is
 * complete, the chunk's size doubles, so that the time to read a record is linear in
 * its length.  The engine ends that at max_record_bytes.
 *
 * The top of a new file is read through the table byte by byte, until the end of its
 * header and its first LF outside quotes, and further if there are CRs.  For
 * record_boundary 'auto', a file whose first CSV_BOUNDARY_BYTES have CRs outside quotes,
 * but no LF, has CR boundaries.  So has a file that CRs cut into more records that are
 * alike; a LF before them ends its header.  A file that grows has CR boundaries only
 * without LF, and no records yet if it has fewer bytes.
 */
#include "arrays.h"
#include "footer.h"
#include "pieces.h"

/* chunks to read before threads are tried again, if none could be started */
#define NO_THREADS_CHUNKS		16

#define CSV_HEADER_READ_BYTES	(64 * 1024)

/* an input in one: offsets of files are below 2^63 */
#define MOST_OWN_BYTES			(UINT64_MAX / 2)

/* the next step of csv_reader_open() */
typedef enum CsvOpening
{
	CSV_OPENING_NOTHING,		/* no file, or an open file */
	CSV_OPENING_MARK,			/* the byte-order mark comes next */
	CSV_OPENING_BOUNDARY,
	CSV_OPENING_HEADER
} CsvOpening;

struct CsvReader
{
	CsvReaderOptions options;
	const CsvLayout *layout;
	CsvDialectOptions choices;	/* of this file; 'auto' is resolved, */
	uint8_t		boundary;		/* to this for the records behind the header */
	CsvDialect	dialect;		/* `choices`, */
	bool		is_compiled;	/* if they were compiled */

	CsvPieceReader here;		/* of the calling thread */
	CsvFilePlace place;			/* of the next batch */
	CsvReadFn	read;
	void	   *read_arg;
	uint64_t	position;		/* of the callback in the file */

	uint64_t	next_chunk_bytes;	/* 0: not chosen yet */
	uint64_t	expected_bytes; /* of the next file; 0: not known */

	/* threads */
	CsvReadAhead ahead;			/* read_at NULL: the file is a stream */
	CsvPieces  *pieces;			/* NULL: not running */
	CsvBatchHook hook;
	uint32_t	nthreads;		/* the most threads that have taken pieces */
	uint32_t	nwithout;		/* chunks to read before threads are started */

	CsvOpening	opening;
	uint32_t	npassed;		/* header records */
	CsvScan		header;
	uint64_t	header_length;
	uint8_t    *header_bytes;
	bool		has_header;
	bool		waits;			/* the top of a file that grows is not complete */
	bool		has_crlf;		/* for csv_reader_has_crlf() */
	CsvBoundaryLook look;		/* at its breaks, */
	bool		header_by_lf;	/* of which the first ends the header, CRs the records */
	uint64_t	header_end;		/* bytes behind the mark */
};

/* ---- the bytes ---- */

/* for CsvFileWindow */
static ssize_t
read_on(void *arg, uint8_t *buffer, size_t nbytes, uint64_t offset)
{
	CsvReader  *reader = arg;

	if (offset != reader->position && reader->ahead.seek != NULL)
		reader->ahead.seek(reader->ahead.arg, offset);
	nbytes = reader->read(reader->read_arg, buffer, nbytes);
	reader->position = offset + nbytes;
	return (ssize_t) nbytes;
}

/* the size that chunks grow to */
static uint64_t
most_chunk_bytes(const CsvReader *reader)
{
	return reader->options.chunk_bytes != 0 ? reader->options.chunk_bytes :
		reader->here.engine->default_chunk_bytes;
}

/* have this many bytes from the place on; see csv_window_reach() */
static CsvStatus
fill(CsvReader *reader, uint64_t wanted, uint64_t more)
{
	CsvFileWindow *window = &reader->here.window;
	uint64_t	offset = reader->place.offset;
	uint64_t	expected = reader->expected_bytes;

	/* if the file ends where it is expected to, no room for more bytes is needed */
	if (csv_window_filled_to(window) == expected && offset + wanted > expected)
	{
		CsvStatus	status = csv_window_reach(window, offset, expected + 1, 0);

		if (status != CSV_OK)
			return status;
	}
	return csv_window_reach(window, offset, offset + wanted, more);
}

/* does the file end behind the bytes that were read? */
static bool
has_rest(const CsvReader *reader)
{
	const CsvFileWindow *window = &reader->here.window;

	return csv_window_filled_to(window) >= window->end;
}

const uint8_t *
csv_reader_rest(const CsvReader *reader, uint64_t *nbytes)
{
	const CsvFileWindow *window = &reader->here.window;

	*nbytes = csv_window_filled_to(window) - reader->place.offset;
	return csv_window_at(window, reader->place.offset);
}

/* ---- the top of a file ---- */

/* compile the dialect, unless it is.  For header records, blank lines are records. */
static void
compile_dialect(CsvReader *reader, bool blank_is_record)
{
	if (reader->is_compiled && reader->choices.blank_is_record == blank_is_record &&
		reader->choices.boundary == reader->dialect.opt.boundary)
		return;
	reader->choices.blank_is_record = blank_is_record;
	csv_dialect_compile(&reader->dialect, &reader->choices);
	reader->is_compiled = true;
}

/* the same for the top of a file.  Without a header it can do for the data, too. */
static void
compile_for_top(CsvReader *reader)
{
	compile_dialect(reader, reader->options.header_rows > 0 ||
					reader->options.dialect.blank_is_record);
}

/* is there a CR that no LF follows, or that may be the last byte? */
static bool
has_lone_cr(const uint8_t *bytes, uint64_t pos, uint64_t until)
{
	const uint8_t *cr = bytes + pos;

	while (cr < bytes + until &&
		   (cr = memchr(cr, '\r', (size_t) (bytes + until - cr))) != NULL)
	{
		const uint8_t *first = cr;

		while (cr < bytes + until && *cr == '\r')
			cr++;
		if (cr == bytes + until || *cr != '\n' || cr - first > CSV_BREAK_CRS)
			return true;
	}
	return false;
}

/*
 * What ends the file's records?  The answer for a file that grows must stand when more
 * bytes come; until it does, reader->waits.
 */
static CsvStatus
find_boundary(CsvReader *reader)
{
	CsvBoundaryLook *look = &reader->look;
	const uint64_t most = CSV_BOUNDARY_BYTES + CSV_CLASS_BYTES;
	const bool	is_auto = reader->boundary == CSV_BOUNDARY_AUTO;
	uint64_t	available = 0;

	memset(look, 0, sizeof(*look));
	reader->choices.boundary = CSV_BOUNDARY_AUTO;
	compile_for_top(reader);
	for (;;)
	{
		const uint8_t *bytes;
		uint64_t	wanted = available == 0 ? CSV_HEADER_READ_BYTES :
			available * 2;
		uint64_t	until;
		CsvStatus	status = fill(reader, wanted < most ? wanted : most, 0);

		if (status != CSV_OK)
			return status;
		bytes = csv_reader_rest(reader, &available);
		/* the class of a byte may depend on the bytes behind it */
		until = has_rest(reader) ? available :
			available < CSV_CLASS_BYTES ? 0 : available - CSV_CLASS_BYTES;
		if (until > CSV_BOUNDARY_BYTES)
			until = CSV_BOUNDARY_BYTES;
		csv_look_for_breaks(look, &reader->dialect, bytes, until, available,
							look->crs.n > 0 || has_lone_cr(bytes, look->pos, until));
		if (look->lfs.n > 0 || has_rest(reader) || look->pos == CSV_BOUNDARY_BYTES ||
			(!is_auto && reader->boundary != CSV_BOUNDARY_CR))
		{
			bool		at_end = has_rest(reader) && until == available;

			reader->waits = is_auto && reader->choices.growing && look->lfs.n == 0 &&
				available < most;
			if (is_auto && (!reader->choices.growing || look->lfs.n == 0) &&
				csv_look_finds_crs(look, at_end))
				reader->boundary = CSV_BOUNDARY_CR;
			reader->header_by_lf = reader->boundary == CSV_BOUNDARY_CR &&
				reader->options.header_rows == 1 && look->lfs.n > 0 &&
				look->lfs.first < look->crs.first;
			reader->has_crlf = look->lfs.n > 0 && look->lfs.first > 0 &&
				bytes[look->lfs.first - 1] == '\r';
			/* a LF at the end hides nothing */
			if (at_end && look->lfs.n > 0)
				look->lfs.n -= look->lfs.last + 1 == available;
			return CSV_OK;
		}
		if (reader->options.interrupted != NULL &&
			reader->options.interrupted(reader->options.interrupted_arg))
			return CSV_INTERRUPTED;
	}
}

static void
advance(CsvReader *reader, uint64_t nbytes)
{
	CsvFilePlace *place = &reader->place;

	place->offset += nbytes;
	place->alone_until = place->alone_until > nbytes ?
		place->alone_until - nbytes : 0;
}

/*
 * As fill(), for a line at the top of the file.  After the first line there may be a
 * million; these must not each cost a read and a move of the bytes.
 */
static CsvStatus
fill_for_line(CsvReader *reader, uint64_t wanted)
{
	return fill(reader, wanted, reader->place.lines > 0 ? CSV_HEADER_READ_BYTES : 0);
}

/* skip the rest of a line: a comment, or a header that is longer than any record */
static CsvStatus
pass_rest_of_line(CsvReader *reader)
{
	for (;;)
	{
		CsvStatus	status = fill_for_line(reader, CSV_HEADER_READ_BYTES);
		uint64_t	available;
		const uint8_t *bytes = csv_reader_rest(reader, &available);
		uint64_t	line_break;

		if (status != CSV_OK)
			return status;
		line_break = csv_find_break(&reader->dialect, bytes, 0, available);
		if (line_break < available)
		{
			reader->place.lines++;
			reader->place.skip_line = false;
			advance(reader, line_break + 1);
			return CSV_OK;
		}
		if (has_rest(reader))
		{
			reader->place.skip_line = false;
			advance(reader, available);
			return CSV_OK;
		}
		/* CRs at the end may belong to the line break */
		advance(reader, available - csv_crs_at_end(bytes, available));
	}
}

/* skip the comments before a header record */
static CsvStatus
pass_comments(CsvReader *reader)
{
	for (;;)
	{
		CsvStatus	status = fill_for_line(reader, CSV_HEADER_READ_BYTES);
		uint64_t	available;
		const uint8_t *bytes = csv_reader_rest(reader, &available);

		if (status != CSV_OK ||
			!csv_comment_at(&reader->dialect.opt, bytes, 0, available))
			return status;
		status = pass_rest_of_line(reader);
		if (status != CSV_OK)
			return status;
	}
}

/*
 * Skip one header record.  It is not checked for errors.  But, as for any record, a
 * quoting error or too many bytes skip only a line: then the first line is the header
 * record.  If quoting is lenient, a line with a quoting error is read leniently.
 */
static CsvStatus
pass_header_record(CsvReader *reader, bool *found)
{
	uint64_t	max = reader->options.max_record_bytes;
	const CsvMemory *memory = &reader->here.memory;
	CsvScan    *scan = &reader->header;
	const uint8_t *bytes;
	uint64_t	available;
	bool		at_end;
	bool		goes_on = reader->choices.growing;
	uint64_t	wanted = CSV_HEADER_READ_BYTES;
	uint64_t	whole = 0;		/* lines that begin before it are read alone, */
	bool		has_breaks = false; /* if the record has several lines */
	CsvMode		mode = CSV_NORMAL;
	CsvStatus	status = pass_comments(reader);

	*found = false;
	if (status != CSV_OK)
		return status;
	for (;;)
	{
		status = fill_for_line(reader, wanted);

		if (status != CSV_OK)
			return status;
		bytes = csv_reader_rest(reader, &available);
		at_end = has_rest(reader) && available <= wanted;
		/* the result for a line that is too long must not depend on how much is read */
		if (available > wanted)
			available = wanted;
		mode = reader->place.alone_until > 0 ? CSV_ALONE : CSV_NORMAL;
		status = csv_scan_record(scan, memory, &reader->dialect, mode, bytes, 0,
								 available, at_end && !goes_on);
		if (status != CSV_OK)
			return status;
		if (scan->complete || available > max + CSV_BREAK_CRS)
			break;
		if (at_end && goes_on)
			return CSV_OK;		/* the header is not there yet */
		wanted *= 2;
	}
	if (!scan->is_record)
		return CSV_OK;			/* the file ends here */

	if (mode == CSV_NORMAL &&
		(scan->bad || !scan->complete || scan->end - scan->start > max))
	{
		/* the repair rule: the first line is the record */
		whole = scan->complete && scan->end - scan->start <= max ?
			scan->next : max;
		has_breaks = scan->nbreaks > 0;
		status = csv_scan_record(scan, memory, &reader->dialect,
								 CSV_ALONE, bytes, 0, available, at_end);
		if (status != CSV_OK)
			return status;
	}
	if (scan->complete && scan->bad && reader->dialect.opt.lenient)
	{
		status = csv_scan_lenient(scan, memory, &reader->dialect, bytes,
								  scan->start, available);
		if (status != CSV_OK)
			return status;
	}

	/* copy the header, because the buffer moves on; do first all that can fail */
	csv_free(memory, reader->header_bytes);
	reader->header_length = scan->end - scan->start;
	reader->header_bytes = memory->alloc(memory->owner, reader->header_length + 1);
	if (reader->header_bytes == NULL)
		return CSV_NO_MEMORY;
	memcpy(reader->header_bytes, bytes + scan->start, reader->header_length);
	if (scan->nfields > 0 && scan->nfields == csv_scan_nkept(scan))
		scan->separators[scan->nfields - 1] = (uint32_t) reader->header_length;

	if (has_breaks)
		reader->place.alone_until = whole;
	if (!scan->complete)
	{
		/* an endless line: the rest of it is skipped later */
		reader->place.skip_line = true;
		scan->next = available - csv_crs_at_end(bytes, available);
	}

	*found = true;
	reader->place.lines += scan->nbreaks + scan->has_break;
	advance(reader, scan->next);
	return CSV_OK;
}

/* stop the threads that are ahead; batches that were not taken are lost */
static void
stop_threads(CsvReader *reader)
{
	if (reader->pieces == NULL)
		return;
	reader->here.window.read_seconds += csv_pieces_read_seconds(reader->pieces);
	csv_pieces_stop(reader->pieces);
	reader->pieces = NULL;
}

/* the same, but the bytes will be read again: bytes of a stream go into the window */
static CsvStatus
withdraw_threads(CsvReader *reader)
{
	CsvStatus	status = CSV_OK;

	if (reader->pieces != NULL)
		status = csv_pieces_give_back(reader->pieces, &reader->here.window,
									  reader->place.offset);
	if (status == CSV_OK)
		stop_threads(reader);
	return status;
}

void
csv_reader_leave(CsvReader *reader)
{
	stop_threads(reader);
	memset(&reader->ahead, 0, sizeof(reader->ahead));
	memset(&reader->here.own, 0, sizeof(reader->here.own));
	memset(&reader->hook, 0, sizeof(reader->hook));
	reader->opening = CSV_OPENING_NOTHING;
	reader->nwithout = 1;
}

void
csv_reader_read_ahead(CsvReader *reader, const CsvReadAhead *ahead)
{
	reader->ahead = *ahead;
	if (ahead->file_bytes > 0 && ahead->file_bytes < reader->here.window.end)
		reader->here.window.end = ahead->file_bytes;
}

void
csv_reader_use_own(CsvReader *reader, const CsvOwnBytes *own)
{
	reader->here.own = *own;
	reader->here.output = 0;
	/* at most a footer comes into the window: the memory need not be pinned */
	csv_window_release(&reader->here.window);
	reader->here.window.memory = csv_thread_memory;
}

void
csv_reader_set_hook(CsvReader *reader, const CsvBatchHook *hook)
{
	memset(&reader->hook, 0, sizeof(reader->hook));
	if (hook != NULL)
		reader->hook = *hook;
	if (reader->pieces != NULL)
		csv_pieces_set_hook(reader->pieces, &reader->hook);
}

bool
csv_reader_settle(CsvReader *reader)
{
	if (reader->pieces != NULL)
		csv_pieces_wind_up(reader->pieces);
	return reader->pieces == NULL;
}

void
csv_reader_expect(CsvReader *reader, uint64_t nbytes, bool growing)
{
	uint64_t	most = most_chunk_bytes(reader);

	reader->options.dialect.growing = growing;
	reader->expected_bytes = nbytes;
	reader->here.window.least_capacity = nbytes < most ? nbytes + 1 : most;
}

/* the first bytes of a file, with all of a small file */
static CsvStatus
fill_for_mark(CsvReader *reader)
{
	uint64_t	nbytes = reader->expected_bytes < CSV_HEADER_READ_BYTES ?
		reader->expected_bytes : CSV_HEADER_READ_BYTES;

	/* given four bytes at once, the source recognizes files that are not CSV */
	return fill(reader, 4, nbytes > 4 ? nbytes - 4 : 0);
}

static void
begin_opening(CsvReader *reader, CsvReadFn read, void *arg, const CsvFilePlace *place,
			  const CsvDialectOptions *choices)
{
	reader->read = read;
	reader->read_arg = arg;
	csv_reader_leave(reader);
	reader->place = *place;
	reader->position = place->offset;
	csv_window_empty(&reader->here.window, place->offset);
	reader->here.window.end = UINT64_MAX;
	reader->here.window.is_cut = false;
	reader->here.held_bytes = csv_footer_bytes(choices);
	reader->here.goes_on = choices->growing;
	reader->here.has_footer = false;
	reader->has_header = false;
	reader->choices = *choices;
	reader->is_compiled = false;
	reader->layout = NULL;
	reader->next_chunk_bytes = 0;
	reader->npassed = 0;
}

CsvStatus
csv_reader_open(CsvReader *reader, CsvReadFn read, void *arg)
{
	CsvStatus	status;

	if (reader->opening == CSV_OPENING_NOTHING)
	{
		const CsvFilePlace top = {0};

		begin_opening(reader, read, arg, &top, &reader->options.dialect);
		reader->boundary = reader->choices.boundary;
		reader->waits = false;
		reader->opening = CSV_OPENING_MARK;
	}
	if (reader->opening == CSV_OPENING_MARK)
	{
		uint64_t	available;
		const uint8_t *bytes;

		status = fill_for_mark(reader);
		if (status != CSV_OK)
			return status;
		bytes = csv_reader_rest(reader, &available);
		if (available >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
			advance(reader, 3);
		reader->opening = CSV_OPENING_BOUNDARY;
	}

	if (reader->opening == CSV_OPENING_BOUNDARY)
	{
		status = find_boundary(reader);
		if (status != CSV_OK)
			return status;
		if (!reader->header_by_lf)
			reader->choices.boundary = reader->boundary;
		compile_for_top(reader);
		reader->header_end = reader->place.offset;
		reader->opening = CSV_OPENING_HEADER;
	}

	while (!reader->waits && reader->npassed < reader->options.header_rows)
	{
		bool		found;

		if (!reader->place.skip_line)
		{
			status = pass_header_record(reader, &found);
			if (status != CSV_OK)
				return status;
			if (!found)
				break;
		}
		if (reader->place.skip_line)
		{
			status = pass_rest_of_line(reader);
			if (status != CSV_OK)
				return status;
		}
		reader->npassed++;
		reader->has_header = reader->npassed == reader->options.header_rows;
	}
	reader->choices.boundary = reader->boundary;
	reader->header_end = reader->place.offset - reader->header_end;
	/* behind half a header nothing is there yet */
	reader->waits |= reader->choices.growing &&
		reader->npassed < reader->options.header_rows;
	if (reader->waits)
		reader->here.window.end = reader->place.offset;
	reader->opening = CSV_OPENING_NOTHING;
	return CSV_OK;
}

void
csv_reader_open_at(CsvReader *reader, CsvReadFn read, void *arg,
				   const CsvFilePlace *place, const CsvDialect *dialect)
{
	begin_opening(reader, read, arg, place, &dialect->opt);
	reader->dialect = *dialect;
}

bool
csv_reader_waits(const CsvReader *reader)
{
	return reader->waits;
}

bool
csv_reader_has_odd_breaks(const CsvReader *reader)
{
	const CsvBoundaryLook *look = &reader->look;

	if (reader->boundary == CSV_BOUNDARY_CR)
		return look->lfs.n > reader->header_by_lf;
	return look->crs.n > 0 && (look->crs.first < reader->header_end ||
							   (reader->boundary == CSV_BOUNDARY_AUTO &&
								(reader->layout->nfields == 1 || reader->layout->pad)));
}

bool
csv_reader_header(CsvReader *reader, CsvRecord *header)
{
	if (!reader->has_header)
		return false;
	header->bytes = reader->header_bytes;
	header->length = reader->header_length;
	header->nfields = reader->header.nfields;
	header->separators = reader->header.separators;
	header->lenient = reader->header.lenient;
	return true;
}

bool
csv_reader_mixes_breaks(const CsvReader *reader)
{
	return reader->look.crs.n > 0 && reader->look.lfs.n > 0;
}

bool
csv_reader_has_crlf(const CsvReader *reader)
{
	return reader->has_crlf;
}

const CsvFilePlace *
csv_reader_place(const CsvReader *reader)
{
	return &reader->place;
}

CsvPieceReader *
csv_reader_here(CsvReader *reader)
{
	return &reader->here;
}

/* ---- the batches ---- */

CsvReader *
csv_reader_create(const CsvMemory *memory, const CsvReaderOptions *options)
{
	CsvReader  *reader = csv_alloc_zeros(memory, sizeof(CsvReader));

	if (reader == NULL)
		return NULL;
	reader->options = *options;
	reader->here = (CsvPieceReader) {
		.dialect = &reader->dialect,
		.memory = *memory,
		.max_record_bytes = options->max_record_bytes,
		.interrupted = options->interrupted,
		.interrupted_arg = options->interrupted_arg,
		.window = {.memory = *memory, .read_at = read_on, .read_arg = reader}
	};
	reader->header.interrupted = options->interrupted;
	reader->header.interrupted_arg = options->interrupted_arg;
	reader->header.most = CSV_MAX_FIELDS;
	return reader;
}

void
csv_reader_free(CsvReader *reader)
{
	CsvMemory	memory = reader->here.memory;

	stop_threads(reader);
	csv_window_release(&reader->here.window);
	csv_free(&memory, reader->header_bytes);
	csv_free(&memory, reader->header.separators);
	csv_free(&memory, reader);
}

CsvStatus
csv_reader_set_engine(CsvReader *reader, const CsvEngine *engine, void *state)
{
	CsvStatus	status = withdraw_threads(reader);

	if (status != CSV_OK)
		return status;
	reader->here.engine = engine;
	reader->here.engine_state = state;
	memset(&reader->here.own, 0, sizeof(reader->here.own));
	reader->next_chunk_bytes = 0;
	reader->nwithout = 1;
	if (reader->layout != NULL)
		return engine->configure(state, &reader->dialect, reader->layout);
	return CSV_OK;
}

CsvStatus
csv_reader_set_layout(CsvReader *reader, const CsvLayout *layout)
{
	reader->layout = layout;
	compile_dialect(reader, reader->options.dialect.blank_is_record ||
					layout->nfields == 1);
	return reader->here.engine->configure(reader->here.engine_state,
										  &reader->dialect, layout);
}

/* chunks grow from a small first chunk up to the engine's size */
static void
grow_chunk(CsvReader *reader)
{
	uint64_t	most = most_chunk_bytes(reader);

	if (reader->options.chunk_bytes != 0)
		return;
	if (reader->next_chunk_bytes < most)
		reader->next_chunk_bytes *= 4;
	if (reader->next_chunk_bytes > most)
		reader->next_chunk_bytes = most;
}

/* the next batch, in the calling thread */
static CsvStatus
read_chunk(CsvReader *reader, CsvBatch *batch)
{
	CsvPieceReader *here = &reader->here;

	for (;;)
	{
		uint64_t	end;
		uint64_t	sure_end = csv_piece_sure_end(here);
		bool		at_end;
		CsvStatus	status;

		end = reader->place.offset +
			(here->own.in_one ? MOST_OWN_BYTES : reader->next_chunk_bytes);
		/* search for a footer in few bytes */
		if (reader->place.offset < sure_end && end > sure_end)
			end = sure_end;
		status = csv_piece_parse(here, &reader->place, end, false, batch, &at_end);
		if (status != CSV_OK)
			return status;
		grow_chunk(reader);
		if (reader->nwithout > 0)
			reader->nwithout--;
		if (batch->nrecords > 0 || batch->nlines > 0)
		{
			here->output = here->output + 1 < here->engine->noutputs ?
				here->output + 1 : 0;
			return CSV_OK;
		}
		if (at_end)
			return CSV_END;
	}
}

/* the number of threads that are useful for the rest of the file */
static uint32_t
piece_threads(const CsvReader *reader, uint64_t most_bytes)
{
	const CsvEngine *engine = reader->here.engine;
	uint64_t	end = csv_piece_sure_end(&reader->here);
	uint32_t	nthreads;
	uint64_t	npieces;

	if (engine->another == NULL || end <= reader->place.offset)
		return 0;
	nthreads = engine->nthreads(reader->here.engine_state);
	if (reader->ahead.read_at == NULL)
	{
		uint32_t	most = reader->options.stream_threads;

		/* the length of a stream is not known: wait until chunks have grown */
		if (end != UINT64_MAX ||
			(reader->next_chunk_bytes < engine->default_chunk_bytes &&
			 reader->options.chunk_bytes == 0))
			return 0;
		return most > 0 && most < nthreads ? most : nthreads;
	}
	if (reader->ahead.file_bytes == 0)
		return 0;
	npieces = (end - reader->place.offset) / most_bytes + 1;
	return nthreads < npieces ? nthreads : (uint32_t) npieces;
}

static bool
start_pieces(CsvReader *reader, uint32_t nthreads, uint64_t most_bytes)
{
	CsvPiecesOptions options;

	memset(&options, 0, sizeof(options));
	options.nthreads = nthreads;
	options.like = &reader->here;
	options.layout = reader->layout;
	options.hook = reader->hook;
	options.place = reader->place;
	options.ahead = reader->ahead;
	options.read = reader->read;
	options.read_arg = reader->read_arg;
	options.piece_bytes = reader->next_chunk_bytes < most_bytes ?
		reader->next_chunk_bytes : most_bytes;
	options.most_piece_bytes = most_bytes;
	reader->pieces = csv_pieces_start(&options);
	if (reader->pieces != NULL && reader->nthreads < options.nthreads)
		reader->nthreads = options.nthreads;
	return reader->pieces != NULL;
}

/* start threads if they are useful; without them, the calling thread continues */
static void
start_threads(CsvReader *reader)
{
	uint64_t	chunk_bytes = reader->options.chunk_bytes;
	uint64_t	piece_bytes = chunk_bytes != 0 ? chunk_bytes : CSV_PIECE_BYTES;
	uint32_t	nthreads;

	if (reader->nwithout > 0 || reader->here.own.await != NULL)
		return;
	nthreads = piece_threads(reader, piece_bytes);
	if (nthreads <= 1)
		return;
	if (!start_pieces(reader, nthreads, piece_bytes))
	{
		reader->nwithout = NO_THREADS_CHUNKS;
		return;
	}

	/* threads read these bytes again, or have copied them */
	csv_window_empty(&reader->here.window, reader->place.offset);
}

CsvStatus
csv_reader_next(CsvReader *reader, CsvBatch *batch)
{
	if (reader->next_chunk_bytes == 0)
		reader->next_chunk_bytes = reader->options.chunk_bytes != 0 ?
			reader->options.chunk_bytes : reader->here.engine->first_chunk_bytes;

	for (;;)
	{
		CsvStatus	status;
		CsvStatus	why;

		if (reader->pieces == NULL)
			start_threads(reader);
		if (reader->pieces == NULL)
			return read_chunk(reader, batch);

		status = csv_pieces_next(reader->pieces, reader->options.interrupted,
								 reader->options.interrupted_arg, batch,
								 &reader->place, &why);
		if (status == CSV_OK)
			grow_chunk(reader);
		if (status != CSV_END)
			return status;

		status = withdraw_threads(reader);
		if (status != CSV_OK)
			return status;
		if (why == CSV_END)
			reader->here.window.end = reader->place.offset;
		/* if reading failed, the callback reads the same bytes again */
		if (why != CSV_OK && why != CSV_UNREADABLE)
			return why;
		reader->nwithout = 1;
	}
}

const CsvDialect *
csv_reader_dialect(const CsvReader *reader)
{
	return &reader->dialect;
}

const char *
csv_reader_message(const CsvReader *reader)
{
	const CsvPieceReader *here = &reader->here;

	return here->engine->message == NULL ? "" :
		here->engine->message(here->engine_state);
}

uint32_t
csv_reader_nthreads(const CsvReader *reader)
{
	return reader->nthreads;
}

double
csv_reader_read_seconds(const CsvReader *reader)
{
	double		seconds = reader->here.window.read_seconds;

	if (reader->pieces != NULL)
		seconds += csv_pieces_read_seconds(reader->pieces);
	return seconds;
}
