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
 * The calling thread has one buffer, with a margin of CSV_MARGIN bytes before and
 * after it that engines may read; margins have no meaning:
 *
 *	 margin | bytes of the file, starting at a record ... | free | margin
 *			^ start									  ^ filled
 *
 * The buffer is filled to the size of a chunk, and the engine reads the records in
 * it.  The engine says how many bytes it consumed.  The rest, an incomplete record,
 * stays in its place and moves to the front when room is needed.  While no record is
 * complete, the target size doubles, so that the time to read a record is linear in
 * its length.  The engine ends that at max_record_bytes.
 *
 * An engine that has the file's bytes itself (CsvOwnBytes) needs no buffer.
 *
 * The top of a new file is read through the table byte by byte, until the end of its
 * header and, for record_boundary 'auto', until its first LF outside quotes.  A file
 * whose first CSV_BOUNDARY_BYTES have CRs outside quotes, but no LF, has CR boundaries.
 */
#include "clock.h"
#include "footer.h"
#include "pieces.h"

#include <string.h>

/* chunks to read before threads are tried again, if none could be started */
#define NO_THREADS_CHUNKS		16

#define CSV_HEADER_READ_BYTES	(64 * 1024)

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
	CsvMemory	memory;
	CsvReaderOptions options;

	const CsvEngine *engine;
	void	   *engine_state;
	const CsvLayout *layout;
	CsvDialectOptions choices;	/* of this file; 'auto' is resolved */
	CsvDialect	dialect;		/* `choices`, compiled */

	CsvReadFn	read;
	void	   *read_arg;

	uint8_t    *allocation;		/* buffer with both margins */
	uint64_t	capacity;		/* without the margins */
	uint64_t	start;			/* of the bytes that are not consumed yet */
	uint64_t	filled;
	bool		at_end;			/* the callback has returned 0 */
	bool		in_tail;		/* at_end, and the remaining bytes may be a footer */
	uint64_t	data_end;		/* the footer's offset in the file; UINT64_MAX: not
								 * searched yet */

	uint64_t	target_bytes;	/* size of the next chunk */
	uint64_t	next_chunk_bytes;	/* the size it returns to */
	uint32_t	chunk_times;	/* chunks grow to the engine's size times this */

	CsvFilePlace place;			/* of bytes[start] */
	double		read_seconds;

	/* threads */
	CsvReadAhead ahead;			/* read_at NULL: the file is a stream */
	CsvPieces  *pieces;			/* NULL: not running */
	CsvBatchHook hook;
	uint32_t	nthreads;		/* the most threads that have taken pieces */
	uint32_t	nwithout;		/* chunks to read before threads are started */
	bool		must_seek;		/* the buffer is empty, and the callback is at
								 * another offset */
	CsvOwnBytes own;			/* await NULL: the engine has no bytes itself */
	uint32_t	output;			/* of the next batch */

	CsvOpening	opening;
	uint32_t	npassed;		/* header records */
	CsvScan		header;
	uint64_t	header_length;
	uint8_t    *header_bytes;
	bool		has_header;
};

/* ---- the buffer ---- */

static uint8_t *
buffer_bytes(const CsvReader *reader)
{
	return reader->allocation + CSV_MARGIN;
}

static void
buffer_release(CsvReader *reader)
{
	if (reader->allocation == NULL)
		return;
	reader->memory.free(reader->memory.owner, reader->allocation);
	reader->allocation = NULL;
	reader->capacity = 0;
}

/* make room for `wanted` bytes from `start` on; buffered bytes are kept */
static CsvStatus
buffer_reserve(CsvReader *reader, uint64_t wanted)
{
	uint64_t	kept = reader->filled - reader->start;
	uint8_t    *allocation;

	if (reader->allocation != NULL && wanted <= reader->capacity)
	{
		/* move bytes only if necessary: usually the rest is small */
		if (reader->start + wanted > reader->capacity)
		{
			memmove(buffer_bytes(reader), buffer_bytes(reader) + reader->start,
					kept);
			reader->start = 0;
			reader->filled = kept;
		}
		return CSV_OK;
	}

	if (wanted < kept)
		wanted = kept;
	allocation = reader->memory.alloc(reader->memory.owner,
									  wanted + 2 * CSV_MARGIN);
	if (allocation == NULL)
		return CSV_NO_MEMORY;
	memset(allocation, 0, CSV_MARGIN);
	if (kept > 0)
		memcpy(allocation + CSV_MARGIN, buffer_bytes(reader) + reader->start,
			   kept);
	memset(allocation + CSV_MARGIN + kept, 0, CSV_MARGIN);
	buffer_release(reader);
	reader->allocation = allocation;
	reader->capacity = wanted;
	reader->start = 0;
	reader->filled = kept;
	return CSV_OK;
}

/*
 * Read until there are `wanted` bytes from `start` on, or until the end.  If anything
 * must be read, up to `more` bytes may be read in addition.
 */
static CsvStatus
buffer_fill_more(CsvReader *reader, uint64_t wanted, uint64_t more)
{
	CsvStatus	status;
	double		began;

	if (reader->at_end || reader->filled - reader->start >= wanted)
		return CSV_OK;
	status = buffer_reserve(reader, wanted + more);
	if (status != CSV_OK)
		return status;

	began = csv_now_seconds();
	if (reader->must_seek)
		reader->ahead.seek(reader->ahead.arg, reader->place.offset);
	reader->must_seek = false;
	while (reader->filled - reader->start < wanted)
	{
		uint64_t	room = wanted + more - (reader->filled - reader->start);
		size_t		nread = reader->read(reader->read_arg,
										 buffer_bytes(reader) + reader->filled,
										 (size_t) room);

		if (nread == 0)
		{
			reader->at_end = true;
			break;
		}
		reader->filled += nread;
	}
	memset(buffer_bytes(reader) + reader->filled, 0, CSV_MARGIN);
	reader->read_seconds += csv_now_seconds() - began;
	return CSV_OK;
}

static CsvStatus
buffer_fill(CsvReader *reader, uint64_t wanted)
{
	return buffer_fill_more(reader, wanted, 0);
}

static bool
has_footer(const CsvReader *reader)
{
	return reader->choices.footer_rows > 0;
}

/* ---- the top of a file ---- */

/* compile the dialect.  For header records, blank lines are records. */
static void
compile_dialect(CsvReader *reader, bool blank_is_record)
{
	reader->choices.blank_is_record = blank_is_record;
	csv_dialect_compile(&reader->dialect, &reader->choices);
}

/* do lone CRs end the file's records? */
static CsvStatus
find_boundary(CsvReader *reader, bool *lone_cr)
{
	const uint64_t most = CSV_BOUNDARY_BYTES + CSV_CLASS_BYTES;
	uint64_t	available = 0;
	CsvBoundaryLook look = {0};

	compile_dialect(reader, true);
	for (;;)
	{
		const uint8_t *bytes;
		uint64_t	wanted = available == 0 ? CSV_HEADER_READ_BYTES :
			available * 2;
		uint64_t	until;
		CsvStatus	status = buffer_fill(reader, wanted < most ? wanted : most);

		if (status != CSV_OK)
			return status;
		bytes = buffer_bytes(reader) + reader->start;
		available = reader->filled - reader->start;
		/* the class of a byte may depend on the bytes behind it */
		until = reader->at_end ? available :
			available < CSV_CLASS_BYTES ? 0 : available - CSV_CLASS_BYTES;
		if (until > CSV_BOUNDARY_BYTES)
			until = CSV_BOUNDARY_BYTES;
		if (csv_look_for_lf(&look, &reader->dialect, bytes, until, available) ||
			reader->at_end || look.pos == CSV_BOUNDARY_BYTES)
		{
			*lone_cr = look.lone_cr;
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

	reader->start += nbytes;
	place->offset += nbytes;
	place->alone_until = place->alone_until > nbytes ?
		place->alone_until - nbytes : 0;
}

/*
 * As buffer_fill(), for a line at the top of the file.  After the first line there may
 * be a million; these must not each cost a read and a move of the buffered bytes.
 */
static CsvStatus
fill_for_line(CsvReader *reader, uint64_t wanted)
{
	return buffer_fill_more(reader, wanted,
							reader->place.lines > 0 ? CSV_HEADER_READ_BYTES : 0);
}

/* skip the rest of a line: a comment, or a header that is longer than any record */
static CsvStatus
pass_rest_of_line(CsvReader *reader)
{
	for (;;)
	{
		CsvStatus	status = fill_for_line(reader, CSV_HEADER_READ_BYTES);
		const uint8_t *bytes = buffer_bytes(reader) + reader->start;
		uint64_t	available = reader->filled - reader->start;
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
		if (reader->at_end)
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
	CsvStatus	status = fill_for_line(reader, CSV_HEADER_READ_BYTES);

	while (status == CSV_OK &&
		   csv_comment_at(&reader->dialect.opt, buffer_bytes(reader), reader->start,
						  reader->filled))
	{
		status = pass_rest_of_line(reader);
		if (status == CSV_OK)
			status = fill_for_line(reader, CSV_HEADER_READ_BYTES);
	}
	return status;
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
	CsvScan    *scan = &reader->header;
	const uint8_t *bytes;
	uint64_t	available;
	bool		at_end;
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
		bytes = buffer_bytes(reader) + reader->start;
		available = reader->filled - reader->start;
		at_end = reader->at_end && available <= wanted;
		/* the result for a line that is too long must not depend on how much is read */
		if (available > wanted)
			available = wanted;
		mode = reader->place.alone_until > 0 ? CSV_ALONE : CSV_NORMAL;
		status = csv_scan_record(scan, &reader->memory, &reader->dialect,
								 mode, bytes, 0, available, at_end);
		if (status != CSV_OK)
			return status;
		if (scan->complete || available > max + CSV_BREAK_CRS)
			break;
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
		status = csv_scan_record(scan, &reader->memory, &reader->dialect,
								 CSV_ALONE, bytes, 0, available, at_end);
		if (status != CSV_OK)
			return status;
	}
	if (scan->complete && scan->bad && reader->dialect.opt.lenient)
	{
		status = csv_scan_lenient(scan, &reader->memory, &reader->dialect, bytes,
								  scan->start, available);
		if (status != CSV_OK)
			return status;
	}

	/* copy the header, because the buffer moves on; do first all that can fail */
	if (reader->header_bytes != NULL)
		reader->memory.free(reader->memory.owner, reader->header_bytes);
	reader->header_length = scan->end - scan->start;
	reader->header_bytes = reader->memory.alloc(reader->memory.owner,
												reader->header_length + 1);
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
	reader->read_seconds += csv_pieces_read_seconds(reader->pieces);
	csv_pieces_stop(reader->pieces);
	reader->pieces = NULL;
}

/* the same, but the bytes will be read again: bytes of a stream go into the buffer */
static CsvStatus
withdraw_threads(CsvReader *reader)
{
	if (reader->pieces != NULL && reader->ahead.read_at == NULL)
	{
		bool		at_end;
		uint64_t	nbytes = csv_pieces_left(reader->pieces,
											 reader->place.offset, &at_end);
		CsvStatus	status = buffer_reserve(reader, nbytes);

		if (status != CSV_OK)
			return status;
		csv_pieces_take_left(reader->pieces, reader->place.offset,
							 buffer_bytes(reader), nbytes);
		memset(buffer_bytes(reader) + nbytes, 0, CSV_MARGIN);
		reader->filled = nbytes;
		reader->at_end = at_end;
	}
	stop_threads(reader);
	return CSV_OK;
}

void
csv_reader_leave(CsvReader *reader)
{
	stop_threads(reader);
	memset(&reader->ahead, 0, sizeof(reader->ahead));
	memset(&reader->own, 0, sizeof(reader->own));
	memset(&reader->hook, 0, sizeof(reader->hook));
	reader->opening = CSV_OPENING_NOTHING;
	reader->nwithout = 1;
	reader->must_seek = false;
}

void
csv_reader_read_ahead(CsvReader *reader, const CsvReadAhead *ahead)
{
	reader->ahead = *ahead;
}

void
csv_reader_grow_chunks(CsvReader *reader, uint32_t times)
{
	reader->chunk_times = times;
}

void
csv_reader_go_to(CsvReader *reader, const CsvFilePlace *place, uint64_t nbytes)
{
	stop_threads(reader);
	memset(&reader->ahead, 0, sizeof(reader->ahead));
	reader->start = 0;
	reader->filled = 0;
	reader->at_end = false;
	reader->in_tail = false;
	reader->data_end = UINT64_MAX;
	reader->must_seek = false;
	reader->place = *place;
	reader->target_bytes = nbytes;
}

void
csv_reader_use_own(CsvReader *reader, const CsvOwnBytes *own)
{
	reader->own = *own;
	reader->output = 0;
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

static void
begin_opening(CsvReader *reader, CsvReadFn read, void *arg)
{
	reader->read = read;
	reader->read_arg = arg;
	csv_reader_leave(reader);
	reader->start = 0;
	reader->filled = 0;
	reader->at_end = false;
	reader->in_tail = false;
	reader->data_end = UINT64_MAX;
	memset(&reader->place, 0, sizeof(reader->place));
	reader->has_header = false;
	reader->choices = reader->options.dialect;
	reader->layout = NULL;
	reader->next_chunk_bytes = 0;
	reader->target_bytes = 0;
	reader->npassed = 0;
	reader->opening = CSV_OPENING_MARK;
}

CsvStatus
csv_reader_open(CsvReader *reader, CsvReadFn read, void *arg)
{
	CsvStatus	status;

	if (reader->opening == CSV_OPENING_NOTHING)
		begin_opening(reader, read, arg);
	if (reader->opening == CSV_OPENING_MARK)
	{
		/* given four bytes at once, the source recognizes files that are not CSV */
		status = buffer_fill(reader, 4);
		if (status != CSV_OK)
			return status;
		if (reader->filled - reader->start >= 3 &&
			memcmp(buffer_bytes(reader) + reader->start, "\xEF\xBB\xBF",
				   3) == 0)
			advance(reader, 3);
		reader->opening = CSV_OPENING_BOUNDARY;
	}

	if (reader->opening == CSV_OPENING_BOUNDARY)
	{
		bool		lone_cr = false;

		if (reader->choices.boundary == CSV_BOUNDARY_AUTO)
		{
			status = find_boundary(reader, &lone_cr);
			if (status != CSV_OK)
				return status;
		}
		if (lone_cr)
			reader->choices.boundary = CSV_BOUNDARY_CR;
		compile_dialect(reader, true);
		reader->opening = CSV_OPENING_HEADER;
	}

	while (reader->npassed < reader->options.header_rows)
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
	reader->opening = CSV_OPENING_NOTHING;
	return CSV_OK;
}

void
csv_reader_open_at(CsvReader *reader, CsvReadFn read, void *arg,
				   const CsvFilePlace *place, const CsvDialect *dialect)
{
	CsvFilePlace from = *place; /* it may be this reader's place */

	begin_opening(reader, read, arg);
	reader->place = from;
	reader->choices = dialect->opt;
	reader->dialect = *dialect;
	reader->opening = CSV_OPENING_NOTHING;
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

const CsvFilePlace *
csv_reader_place(const CsvReader *reader)
{
	return &reader->place;
}

const uint8_t *
csv_reader_rest(const CsvReader *reader, uint64_t *nbytes)
{
	*nbytes = reader->filled - reader->start;
	return buffer_bytes(reader) + reader->start;
}

/* ---- the batches ---- */

CsvReader *
csv_reader_create(const CsvMemory *memory, const CsvReaderOptions *options)
{
	CsvReader  *reader = memory->alloc(memory->owner, sizeof(CsvReader));

	if (reader == NULL)
		return NULL;
	memset(reader, 0, sizeof(*reader));
	reader->memory = *memory;
	reader->options = *options;
	reader->chunk_times = 1;
	reader->header.interrupted = options->interrupted;
	reader->header.interrupted_arg = options->interrupted_arg;
	reader->header.most = CSV_MAX_FIELDS;
	return reader;
}

void
csv_reader_free(CsvReader *reader)
{
	CsvMemory	memory = reader->memory;

	stop_threads(reader);
	buffer_release(reader);
	if (reader->header_bytes != NULL)
		memory.free(memory.owner, reader->header_bytes);
	if (reader->header.separators != NULL)
		memory.free(memory.owner, reader->header.separators);
	memory.free(memory.owner, reader);
}

CsvStatus
csv_reader_set_engine(CsvReader *reader, const CsvEngine *engine, void *state)
{
	CsvStatus	status = withdraw_threads(reader);

	if (status != CSV_OK)
		return status;
	reader->engine = engine;
	reader->engine_state = state;
	reader->next_chunk_bytes = 0;
	reader->target_bytes = 0;
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
	return reader->engine->configure(reader->engine_state, &reader->dialect,
									 layout);
}

/* chunks grow from a small first chunk up to the engine's size */
static void
grow_chunk(CsvReader *reader)
{
	uint64_t	most = reader->engine->default_chunk_bytes *
		reader->chunk_times;

	if (reader->options.chunk_bytes != 0)
		return;
	if (reader->next_chunk_bytes < most)
		reader->next_chunk_bytes *= 4;
	if (reader->next_chunk_bytes > most)
		reader->next_chunk_bytes = most;
}

/*
 * The input has all buffered bytes, CSV_FOOTER_BYTES more than the engine may read.
 * Cut those off, or, at the end of the file, the footer.
 */
static CsvStatus
leave_footer(CsvReader *reader, CsvInput *input)
{
	uint64_t	data_bytes;

	reader->in_tail |= input->nbytes <= CSV_FOOTER_BYTES;
	if (!reader->in_tail)
	{
		input->nbytes -= CSV_FOOTER_BYTES;
		input->at_end = false;
		return CSV_OK;
	}
	if (reader->data_end == UINT64_MAX)
	{
		CsvStatus	status = csv_footer_find(&reader->memory, &reader->dialect,
											 input, reader->place.records == 0,
											 &data_bytes);

		if (status != CSV_OK)
			return status;
		reader->data_end = reader->place.offset + data_bytes;
	}
	data_bytes = reader->data_end - reader->place.offset;
	input->at_end = data_bytes <= reader->target_bytes;
	input->has_footer = input->at_end && data_bytes < input->nbytes;
	input->nbytes = input->at_end ? data_bytes : reader->target_bytes;
	return CSV_OK;
}

/* the engine's next input, of the chunk's size if there are enough bytes */
static CsvStatus
next_input(CsvReader *reader, CsvInput *input)
{
	CsvStatus	status;

	memset(input, 0, sizeof(*input));
	input->offset = reader->place.offset;
	input->alone_until = reader->place.alone_until;
	input->max_record_bytes = reader->options.max_record_bytes;
	input->skip_line = reader->place.skip_line;
	input->output = reader->output;
	input->interrupted = reader->options.interrupted;
	input->interrupted_arg = reader->options.interrupted_arg;
	if (reader->own.await != NULL)
	{
		double		began = csv_now_seconds();

		input->nbytes = reader->target_bytes;
		status = reader->own.await(reader->own.arg, input->offset,
								   &input->nbytes, &input->at_end);
		reader->read_seconds += csv_now_seconds() - began;
		return status;
	}
	status = buffer_fill(reader, has_footer(reader) ?
						 reader->target_bytes + CSV_FOOTER_BYTES :
						 reader->target_bytes);
	if (status != CSV_OK)
		return status;
	input->bytes = buffer_bytes(reader) + reader->start;
	input->nbytes = reader->filled - reader->start;
	input->at_end = reader->at_end;
	return has_footer(reader) ? leave_footer(reader, input) : CSV_OK;
}

/* the next batch, in the calling thread */
static CsvStatus
read_chunk(CsvReader *reader, CsvBatch *batch)
{
	const CsvEngine *engine = reader->engine;

	if (reader->target_bytes == 0)
		reader->target_bytes = reader->next_chunk_bytes;

	for (;;)
	{
		CsvInput	input;
		CsvStatus	status = next_input(reader, &input);

		if (status != CSV_OK)
			return status;
		if (input.nbytes == 0 && input.at_end)
			return CSV_END;

		memset(batch, 0, sizeof(*batch));
		status = engine->parse(reader->engine_state, &input, batch);
		if (status != CSV_OK)
			return status;

		batch->file_offset = reader->place.offset;
		batch->file_records = reader->place.records;
		batch->file_lines = reader->place.lines;
		csv_place_pass_batch(&reader->place, batch);
		if (input.bytes != NULL)
			reader->start += batch->consumed;

		if (batch->consumed == 0 && !input.at_end)
		{
			/* of this many bytes, the engine always consumes some */
			uint64_t	enough = reader->options.max_record_bytes + CSV_BREAK_CRS + 1;

			/* the bytes that may be a footer are needed, too */
			reader->in_tail |= reader->at_end && has_footer(reader);
			reader->target_bytes = input.nbytes * 2 + 1;
			if (reader->target_bytes > enough)
				reader->target_bytes = enough > input.nbytes ? enough :
					input.nbytes + 1;
			continue;
		}

		grow_chunk(reader);
		reader->target_bytes = reader->next_chunk_bytes;
		if (reader->nwithout > 0)
			reader->nwithout--;
		if (batch->nrecords > 0 || batch->nlines > 0)
		{
			reader->output = reader->output + 1 < engine->noutputs ?
				reader->output + 1 : 0;
			return CSV_OK;
		}
		if (input.at_end && batch->consumed == input.nbytes)
			return CSV_END;
	}
}

/* the number of threads that are useful for the rest of the file */
static uint32_t
piece_threads(const CsvReader *reader, uint64_t most_bytes)
{
	const CsvEngine *engine = reader->engine;
	uint32_t	nthreads;
	uint64_t	npieces;

	if (engine->another == NULL)
		return 0;
	nthreads = engine->nthreads(reader->engine_state);
	if (reader->ahead.read_at == NULL)
	{
		uint32_t	most = reader->options.stream_threads;

		/* the length of a stream is not known: wait until chunks have grown */
		if (reader->next_chunk_bytes < reader->engine->default_chunk_bytes &&
			reader->options.chunk_bytes == 0)
			return 0;
		return most > 0 && most < nthreads ? most : nthreads;
	}
	if (reader->ahead.file_bytes <=
		reader->place.offset + csv_footer_margin(&reader->choices))
		return 0;
	npieces = (reader->ahead.file_bytes - reader->place.offset -
			   csv_footer_margin(&reader->choices)) / most_bytes + 1;
	return nthreads < npieces ? nthreads : (uint32_t) npieces;
}

static bool
start_pieces(CsvReader *reader, uint32_t nthreads, uint64_t most_bytes)
{
	CsvPiecesOptions options;

	memset(&options, 0, sizeof(options));
	options.nthreads = nthreads;
	options.engine = reader->engine;
	options.engine_state = reader->engine_state;
	options.dialect = &reader->dialect;
	options.layout = reader->layout;
	options.memory = reader->memory;
	options.hook = reader->hook;
	options.place = reader->place;
	options.ahead = reader->ahead;
	options.read = reader->read;
	options.read_arg = reader->read_arg;
	options.bytes = buffer_bytes(reader) + reader->start;
	options.nbytes = reader->filled - reader->start;
	options.piece_bytes = reader->next_chunk_bytes < most_bytes ?
		reader->next_chunk_bytes : most_bytes;
	options.most_piece_bytes = most_bytes;
	options.max_record_bytes = reader->options.max_record_bytes;
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

	if (reader->nwithout > 0 || reader->at_end || reader->own.await != NULL)
		return;
	nthreads = piece_threads(reader, piece_bytes);
	if (nthreads <= 1)
		return;
	if (!start_pieces(reader, nthreads, piece_bytes))
	{
		reader->nwithout = NO_THREADS_CHUNKS;
		return;
	}

	/* threads read the buffered bytes again, or have copied them */
	reader->must_seek = reader->ahead.read_at != NULL;
	reader->start = 0;
	reader->filled = 0;
	reader->target_bytes = 0;
}

CsvStatus
csv_reader_next(CsvReader *reader, CsvBatch *batch)
{
	if (reader->next_chunk_bytes == 0)
		reader->next_chunk_bytes = reader->options.chunk_bytes != 0 ?
			reader->options.chunk_bytes : reader->engine->first_chunk_bytes;

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
		{
			reader->at_end = true;
			reader->data_end = reader->place.offset;
		}
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
	return reader->engine->message == NULL ? "" :
		reader->engine->message(reader->engine_state);
}

uint32_t
csv_reader_nthreads(const CsvReader *reader)
{
	return reader->nthreads;
}

double
csv_reader_read_seconds(const CsvReader *reader)
{
	double		seconds = reader->read_seconds;

	if (reader->pieces != NULL)
		seconds += csv_pieces_read_seconds(reader->pieces);
	return seconds;
}
