/*
 * piece.c
 *		Reads a file at any offset, a piece at a time.
 *
 * The bytes of a piece are in a window onto the file.  The window grows as more bytes
 * are needed, and moves to the next piece.
 *
 * The guess.  Whether a byte is inside quotes depends on all bytes before it.  But
 * usually the bytes behind it are enough to tell: the first quote opens a field if it
 * is behind a delimiter or a line break, and closes a field if it is before one.  So
 * the bytes are read both as outside and as inside quotes, through the dialect's table,
 * until one of these readings finds a quote where a well-formed file has none.
 */
#include "clock.h"
#include "footer.h"
#include "piece.h"

#include <errno.h>
#include <string.h>

/* bytes behind an offset that are examined to tell whether it is inside quotes */
#define EVIDENCE_BYTES	4096

/* a record must begin within this many bytes, or none is found */
#define GUESS_BYTES		(64 * 1024)

/* the window grows by at least this many bytes */
#define LEAST_READ_BYTES	(64 * 1024)

struct CsvPieceReader
{
	CsvPieceOptions options;
	uint64_t	file_bytes;		/* less than in `options` if the file turned out
								 * to be shorter */

	/* the window: bytes [from, from + filled) of the file */
	uint8_t    *allocation;		/* with both margins */
	uint64_t	capacity;		/* without the margins */
	uint64_t	from;
	uint64_t	filled;
	double		read_seconds;

	/* where the footer begins, in a file of data_file_bytes; 0: not known */
	uint64_t	data_end;
	uint64_t	data_file_bytes;
};

CsvPieceReader *
csv_piece_reader_create(const CsvPieceOptions *options)
{
	const CsvMemory *memory = &options->memory;
	CsvPieceReader *reader = memory->alloc(memory->owner,
										   sizeof(CsvPieceReader));

	if (reader == NULL)
		return NULL;
	memset(reader, 0, sizeof(*reader));
	reader->options = *options;
	reader->file_bytes = options->file_bytes;
	return reader;
}

void
csv_piece_set_file_bytes(CsvPieceReader *reader, uint64_t file_bytes)
{
	reader->file_bytes = file_bytes;
}

void
csv_piece_reader_free(CsvPieceReader *reader)
{
	CsvMemory	memory = reader->options.memory;

	if (reader->allocation != NULL)
		memory.free(memory.owner, reader->allocation);
	memory.free(memory.owner, reader);
}

double
csv_piece_read_seconds(const CsvPieceReader *reader)
{
	return reader->read_seconds;
}

/* ---- the window ---- */

static const uint8_t *
byte_at(const CsvPieceReader *reader, uint64_t offset)
{
	return reader->allocation + CSV_MARGIN + (offset - reader->from);
}

/* make room for a window up to `to`; its bytes are kept */
static CsvStatus
make_room(CsvPieceReader *reader, uint64_t to)
{
	const CsvMemory *memory = &reader->options.memory;
	uint64_t	wanted = to - reader->from;
	uint8_t    *allocation;

	if (wanted <= reader->capacity)
		return CSV_OK;
	wanted += wanted / 4;
	allocation = memory->alloc(memory->owner, wanted + 2 * CSV_MARGIN);
	if (allocation == NULL)
		return CSV_NO_MEMORY;
	memset(allocation, 0, CSV_MARGIN);
	if (reader->allocation != NULL)
	{
		memcpy(allocation + CSV_MARGIN, reader->allocation + CSV_MARGIN,
			   reader->filled);
		memory->free(memory->owner, reader->allocation);
	}
	reader->allocation = allocation;
	reader->capacity = wanted;
	return CSV_OK;
}

/*
 * Read bytes [from, to) of the file, as far as it has them, into the window.  Bytes
 * before `from` may be dropped.
 */
static CsvStatus
window_reach(CsvPieceReader *reader, uint64_t from, uint64_t to)
{
	const CsvPieceOptions *options = &reader->options;
	uint64_t	end = reader->from + reader->filled;
	CsvStatus	status;
	double		began;

	if (to > reader->file_bytes)
		to = reader->file_bytes;
	if (to <= from || (from >= reader->from && to <= end))
		return CSV_OK;
	if (from < reader->from || from > end || reader->filled == 0)
	{
		reader->from = from;
		reader->filled = 0;
	}
	else if (to - reader->from > reader->capacity)
	{
		/* drop the bytes before `from` */
		memmove(reader->allocation + CSV_MARGIN, byte_at(reader, from),
				end - from);
		reader->filled = end - from;
		reader->from = from;
	}
	status = make_room(reader, to);
	if (status != CSV_OK)
		return status;

	began = csv_now_seconds();
	while ((end = reader->from + reader->filled) < to)
	{
		ssize_t		nread = options->read_at(options->read_arg,
											 reader->allocation + CSV_MARGIN +
											 reader->filled, to - end, end);

		if (nread < 0 && errno == EINTR)
			continue;
		if (nread < 0)
			return CSV_UNREADABLE;
		if (nread == 0)
			reader->file_bytes = to = end;
		reader->filled += (uint64_t) nread;
	}
	memset(reader->allocation + CSV_MARGIN + reader->filled, 0, CSV_MARGIN);
	reader->read_seconds += csv_now_seconds() - began;
	return CSV_OK;
}

/* ---- the guess ---- */

/* bytes read from an offset on, with an assumed state at its begin */
typedef struct Reading
{
	uint8_t		state;
	bool		is_odd;			/* a quote where a well-formed file has none */
	uint64_t	start;			/* of the first record; 0: not found yet */
} Reading;

/* read one more byte */
static void
read_byte(Reading *reading, const CsvDialect *dialect, int class,
		  uint64_t offset)
{
	uint8_t		before = reading->state;

	reading->state = dialect->table[CSV_NORMAL][before][class] &
		CSV_STATE_MASK;
	if ((class == CSV_CLASS_QUOTE && before == CSV_STATE_UNQUOTED) ||
		(before == CSV_STATE_QUOTE_SEEN &&
		 reading->state != CSV_STATE_QUOTED && class == CSV_CLASS_OTHER))
		reading->is_odd = true;
	if (reading->start == 0 && class == CSV_CLASS_BREAK &&
		reading->state == CSV_STATE_RECORD_START)
		reading->start = offset + 1;
}

/*
 * Guess the first record that begins at or after `at`, which must not be 0.  *found is
 * false if no record begins soon.  Bytes from `kept` on stay in the window.
 */
static CsvStatus
guess_start(CsvPieceReader *reader, uint64_t kept, uint64_t at, bool *found,
			uint64_t *start)
{
	const CsvDialect *dialect = reader->options.dialect;
	uint64_t	evidence_end = at + EVIDENCE_BYTES;
	uint64_t	there = at - 1;
	Reading		outside = {CSV_STATE_UNQUOTED, false, 0};
	Reading		inside = {CSV_STATE_QUOTED, false, 0};
	const Reading *right = NULL;

	/* without a quote nothing is inside quotes; escaped line breaks are rare */
	if (dialect->opt.quote == 0 || !dialect->opt.multiline)
		right = &outside;
	/* begin one byte early: a record begins at `at` if a break is right before it */
	for (uint64_t pos = at - 1; pos < at + GUESS_BYTES; pos++)
	{
		int			class;

		/* the class depends on the bytes behind a byte; of an LF, on the byte before */
		if (pos + CSV_CLASS_BYTES > there)
		{
			CsvStatus	status = window_reach(reader, kept,
											  pos + EVIDENCE_BYTES +
											  CSV_CLASS_BYTES);

			if (status != CSV_OK)
				return status;
			there = reader->from + reader->filled;
			if (pos >= there)
				break;
			if (right == NULL &&
				memchr(byte_at(reader, pos), dialect->opt.quote,
					   there - pos) == NULL)
				right = &outside;
		}
		class = csv_class_at(dialect, byte_at(reader, reader->from),
							 pos - reader->from, reader->filled);
		read_byte(&outside, dialect, class, pos);
		read_byte(&inside, dialect, class, pos);
		if (right == NULL && (outside.is_odd || pos >= evidence_end))
			right = outside.is_odd && !inside.is_odd ? &inside : &outside;
		else if (right == NULL && inside.is_odd)
			right = &outside;
		if (right != NULL && right->start != 0)
			break;
	}
	if (right == NULL)
		right = &outside;
	*found = right->start != 0;
	*start = right->start;
	return CSV_OK;
}

CsvStatus
csv_piece_guess(CsvPieceReader *reader, CsvPiece *piece)
{
	uint64_t	kept = piece->from > 1 ? piece->from - 2 : 0;
	CsvStatus	status = CSV_OK;
	bool		found;

	piece->found = piece->is_first;
	piece->start = piece->from;
	piece->end = piece->to;
	if (!piece->is_first)
		status = guess_start(reader, kept, piece->from, &piece->found,
							 &piece->start);
	if (status != CSV_OK || piece->is_last)
		return status;
	if (piece->to <= piece->from)
	{
		/* the header is longer than this piece: no record begins in it */
		piece->end = piece->from;
		return CSV_OK;
	}
	status = window_reach(reader, kept, piece->to + 2 * EVIDENCE_BYTES);
	if (status != CSV_OK)
		return status;
	status = guess_start(reader, kept, piece->to, &found, &piece->end);
	if (status == CSV_OK && !found)
		piece->end = piece->to;
	return status;
}

/* ---- parsing ---- */

/*
 * Is it certain that no record is before this place?  A guessed place has records == 0
 * and lines == 0, although there may be records before it.
 */
static bool
is_first_place(const CsvFilePlace *place)
{
	return place->records == 0 && (place->lines > 0 || place->offset <= 3);
}

/*
 * Make an input of the bytes from a place up to *end.  If the file ends before, *end
 * moves to its end.  In a file with a footer, if *end is near the end of the file, *end
 * moves to the begin of the footer.
 */
static CsvStatus
reach_data(CsvPieceReader *reader, CsvInput *input, const CsvFilePlace *place,
		   uint64_t *end, bool *at_end)
{
	const CsvPieceOptions *options = &reader->options;
	bool		has_footer = options->dialect->opt.footer_rows > 0;
	uint64_t	from = place->offset;
	CsvStatus	status = window_reach(reader, from, *end);
	uint64_t	data_bytes;

	if (status == CSV_OK && has_footer && *end < reader->file_bytes &&
		reader->file_bytes - *end < CSV_FOOTER_BYTES)
	{
		*end = reader->file_bytes;
		status = window_reach(reader, from, *end);
	}
	if (status != CSV_OK)
		return status;
	if (*end > reader->file_bytes)
		*end = reader->file_bytes;
	*at_end = *end == reader->file_bytes;
	if (from >= *end)
		return CSV_OK;
	input->bytes = byte_at(reader, from);
	input->nbytes = *end - from;
	input->at_end = *at_end;
	if (!*at_end || !has_footer)
		return CSV_OK;

	if (reader->data_end == 0 || reader->data_file_bytes != reader->file_bytes)
	{
		status = csv_footer_find(&options->memory, options->dialect, input,
								 is_first_place(place), &data_bytes);
		if (status != CSV_OK)
			return status;
		reader->data_end = from + data_bytes;
		reader->data_file_bytes = reader->file_bytes;
	}
	input->has_footer = reader->data_end < *end;
	*end = reader->data_end;
	if (from < *end)
		input->nbytes = *end - from;
	return CSV_OK;
}

CsvStatus
csv_piece_parse(CsvPieceReader *reader, CsvFilePlace *place, uint64_t end,
				CsvBatch *batch, bool *at_end)
{
	const CsvPieceOptions *options = &reader->options;
	/* of this many bytes, the engine always consumes some */
	uint64_t	enough = options->max_record_bytes + CSV_BREAK_CRS + 1;

	memset(batch, 0, sizeof(*batch));
	if (end < place->offset)
		end = place->offset;
	for (;;)
	{
		CsvInput	input;
		CsvStatus	status;

		memset(&input, 0, sizeof(input));
		input.alone_until = place->alone_until;
		input.max_record_bytes = options->max_record_bytes;
		input.skip_line = place->skip_line;
		input.interrupted = options->interrupted;
		input.interrupted_arg = options->interrupted_arg;
		status = reach_data(reader, &input, place, &end, at_end);
		if (status != CSV_OK)
			return status;
		if (place->offset >= end)
			return CSV_OK;
		status = options->engine->parse(options->engine_state, &input, batch);
		if (status != CSV_OK)
			return status;
		if (batch->consumed > 0 || input.at_end)
			break;
		end += input.nbytes + LEAST_READ_BYTES;
		if (end - place->offset > enough && input.nbytes < enough)
			end = place->offset + enough;
		/* with a footer, find out whether a stream ends there */
		if (options->dialect->opt.footer_rows > 0)
			status = window_reach(reader, place->offset, end + CSV_FOOTER_BYTES);
		if (status != CSV_OK)
			return status;
	}
	batch->file_offset = place->offset;
	batch->file_records = place->records;
	batch->file_lines = place->lines;
	csv_place_pass_batch(place, batch);
	*at_end &= place->offset == end;
	return CSV_OK;
}

CsvStatus
csv_piece_parse_guess(CsvPieceReader *reader, CsvPiece *piece,
					  CsvFilePlace *place, CsvBatch *batch, bool *at_end)
{
	CsvStatus	status = csv_piece_parse(reader, place, piece->end, batch,
										 at_end);

	/* at a guessed place, it is not known how many records are before it */
	if (status != CSV_FOOTER_TOO_LONG || piece->is_first)
		return status;
	memset(batch, 0, sizeof(*batch));
	piece->found = false;
	return CSV_OK;
}
