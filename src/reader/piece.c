/*
 * piece.c
 *		Reads a file at any offset, a piece at a time.
 *
 * The bytes of a piece are in a window onto the file (window.c), unless the engine has
 * them itself.
 *
 * The guess.  Whether a byte is inside quotes depends on all bytes before it.  But
 * usually the bytes behind it are enough to tell: the first quote opens a field if it
 * is behind a delimiter or a line break, and closes a field if it is before one.  So
 * the bytes are read both as outside and as inside quotes, through the dialect's table,
 * until one of these readings finds a quote where a well-formed file has none.
 *
 * The footer.  Its records are the last records of the file, and only a reader that has
 * read all records before knows where a record begins.  So it is searched where that is
 * certain, in bytes that were held back until then.  Afterwards the file is shorter.
 */
#include "clock.h"
#include "footer.h"
#include "piece.h"

#include <string.h>

/* bytes behind an offset that are examined to tell whether it is inside quotes */
#define EVIDENCE_BYTES	4096

/* a record must begin within this many bytes, or none is found */
#define GUESS_BYTES		(64 * 1024)

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
	const CsvDialect *dialect = reader->dialect;
	CsvFileWindow  *window = &reader->window;
	uint64_t	evidence_end = at + EVIDENCE_BYTES;
	uint64_t	there = at - 1;
	uint64_t	first = at - 1; /* byte that is read */
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
			CsvStatus	status = csv_window_reach(window, kept,
												  pos + EVIDENCE_BYTES +
												  CSV_CLASS_BYTES, 0);

			if (status != CSV_OK)
				return status;
			there = csv_window_filled_to(window);
			if (pos >= there)
				break;
			if (right == NULL &&
				memchr(csv_window_at(window, pos), dialect->opt.quote,
					   there - pos) == NULL)
				right = &outside;
		}
		class = csv_class_at(dialect, csv_window_at(window, window->from),
							 pos - window->from, window->filled);
		/* the first quotes tell nothing: the bytes before them are not known */
		if (pos == first && class == CSV_CLASS_QUOTE)
		{
			first++;
			continue;
		}
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

	piece->found = piece->is_exact;
	piece->end = piece->to;
	if (!piece->is_exact)
		status = guess_start(reader, kept, piece->from, &piece->found,
							 &piece->begin.offset);
	if (status != CSV_OK || piece->is_last)
		return status;
	if (piece->to <= piece->from)
	{
		/* the header is longer than this piece: no record begins in it */
		piece->end = piece->from;
		return CSV_OK;
	}
	status = csv_window_reach(&reader->window, kept,
							  piece->to + 2 * EVIDENCE_BYTES, 0);
	if (status != CSV_OK)
		return status;
	status = guess_start(reader, kept, piece->to, &found, &piece->end);
	if (status == CSV_OK && !found)
		piece->end = piece->to;
	return status;
}

/* ---- parsing ---- */

uint64_t
csv_piece_sure_end(const CsvPieceReader *reader)
{
	uint64_t	end = reader->window.end;

	return end == UINT64_MAX ? end :
		end > reader->held_bytes ? end - reader->held_bytes : 0;
}

/* have the bytes from an offset up to *end, or up to a smaller *end */
static CsvStatus
reach(CsvPieceReader *reader, uint64_t from, uint64_t *end)
{
	CsvFileWindow  *window = &reader->window;
	CsvStatus	status = CSV_OK;

	if (*end > window->end)
		*end = window->end;
	if (reader->own.await == NULL)
		status = csv_window_reach(window, from, *end, 0);
	else if (from < *end)
	{
		uint64_t	nbytes = *end - from;
		bool		at_end;
		double		began = csv_now_seconds();

		status = reader->own.await(reader->own.arg, from, &nbytes, &at_end);
		window->read_seconds += csv_now_seconds() - began;
		*end = from + nbytes;
		if (status == CSV_OK && at_end)
			window->end = *end;
	}
	if (*end > window->end)
		*end = window->end;
	return status;
}

static CsvInput
input_at(const CsvPieceReader *reader, const CsvFilePlace *place, uint64_t end)
{
	CsvInput	input = {
		.offset = place->offset,
		.nbytes = end - place->offset,
		.alone_until = place->alone_until,
		.max_record_bytes = reader->max_record_bytes,
		.skip_line = place->skip_line,
		.output = reader->output,
		.interrupted = reader->interrupted,
		.interrupted_arg = reader->interrupted_arg
	};

	return input;
}

/* a single LF at the end of a file whose records end at CRs is no data */
static CsvStatus
drop_last_lf(CsvPieceReader *reader, uint64_t *end)
{
	CsvStatus	status;

	if (*end == 0 || reader->dialect->opt.boundary != CSV_BOUNDARY_CR)
		return CSV_OK;
	/* only an engine with its own bytes needs to have it read */
	status = csv_window_reach(&reader->window, *end - 1, *end, 0);
	if (status == CSV_OK && *csv_window_at(&reader->window, *end - 1) == '\n')
		(*end)--;
	return status;
}

/* the place is right, and the file's length is known: let the file end at its footer */
static CsvStatus
find_footer(CsvPieceReader *reader, const CsvFilePlace *place)
{
	CsvFileWindow  *window = &reader->window;
	CsvStatus	status = csv_window_reach(window, place->offset, window->end, 0);
	uint64_t	end = window->end;

	if (status == CSV_OK && place->offset < end)
		status = drop_last_lf(reader, &end);
	if (status == CSV_OK && place->offset < end)
	{
		CsvInput	input = input_at(reader, place, end);
		uint64_t	data_bytes;

		/* of a file that was cut meanwhile, the footer may have been read as data */
		input.bytes = csv_window_at(window, place->offset);
		status = csv_footer_find(&csv_thread_memory, reader->dialect, &input,
								 place->records == 0 || window->is_cut, &data_bytes);
		if (status == CSV_OK)
		{
			reader->has_footer = data_bytes < input.nbytes;
			window->end = place->offset + data_bytes;
		}
	}
	if (status != CSV_OK)
		return status;
	reader->held_bytes = 0;
	if (reader->own.await != NULL)
		csv_window_release(window);
	return CSV_OK;
}

/*
 * Have the bytes for an input from a place up to *end, or up to a smaller *end.
 * *at_end: up to the end of the bytes that the reader may read.
 */
static CsvStatus
reach_data(CsvPieceReader *reader, const CsvFilePlace *place, bool is_guess,
		   uint64_t *end, bool *at_end)
{
	uint64_t	upto = *end;
	CsvStatus	status;

	/* if a stream does not end soon, these bytes are data */
	if (reader->window.end == UINT64_MAX)
		upto += reader->held_bytes;
	status = reach(reader, place->offset, &upto);
	if (status != CSV_OK)
		return status;
	if (reader->held_bytes > 0 && !is_guess &&
		(*end > csv_piece_sure_end(reader) || place->offset >= reader->window.end))
		status = find_footer(reader, place);
	if (*end > upto)
		*end = upto;
	*at_end = *end >= csv_piece_sure_end(reader) &&
		(reader->held_bytes == 0 || is_guess);
	if (*end > csv_piece_sure_end(reader))
		*end = csv_piece_sure_end(reader);
	return status;
}

CsvStatus
csv_piece_parse(CsvPieceReader *reader, CsvFilePlace *place, uint64_t end,
				bool is_guess, CsvBatch *batch, bool *at_end)
{
	/* of this many bytes, the engine always consumes some */
	uint64_t	enough = reader->max_record_bytes + CSV_BREAK_CRS + 1;

	memset(batch, 0, sizeof(*batch));
	if (end < place->offset)
		end = place->offset;
	for (;;)
	{
		CsvInput	input;
		CsvStatus	status = reach_data(reader, place, is_guess, &end, at_end);
		bool		ends = *at_end && !reader->goes_on && reader->held_bytes == 0;

		if (status == CSV_OK && ends && place->offset < end)
			status = drop_last_lf(reader, &end);
		if (status != CSV_OK)
			return status;
		if (place->offset >= end)
			return CSV_OK;
		input = input_at(reader, place, end);
		if (reader->own.await == NULL)
			input.bytes = csv_window_at(&reader->window, place->offset);
		input.at_end = ends;
		input.has_footer = reader->has_footer;
		status = reader->engine->parse(reader->engine_state, &input, batch);
		if (status == CSV_END && input.bytes == NULL)
			continue;
		if (status != CSV_OK)
			return status;
		if (batch->consumed > 0 || input.at_end)
			break;
		if (*at_end)
			return CSV_OK;
		end += input.nbytes + 1;
		if (end - place->offset > enough && input.nbytes < enough)
			end = place->offset + enough;
	}
	batch->file_offset = place->offset;
	batch->file_records = place->records;
	batch->file_lines = place->lines;
	csv_place_pass_batch(place, batch);
	*at_end &= place->offset == end;
	return CSV_OK;
}

/* ---- the chain ---- */

void
csv_chain_claim(CsvChain *chain, uint64_t nbytes, uint64_t last_bytes,
				uint64_t end, CsvPiece *piece)
{
	memset(piece, 0, sizeof(*piece));
	piece->number = chain->nclaimed++;
	/* behind the end there are only records that earlier pieces have left */
	piece->is_exact = piece->number == 0 || chain->claimed_to >= end;
	if (piece->is_exact)
		piece->begin = chain->place;
	piece->from = piece->is_exact ? chain->place.offset : chain->claimed_to;
	piece->is_last = piece->from + nbytes + last_bytes >= end;
	piece->to = piece->is_last ? end : piece->from + nbytes;
	chain->claimed_to = piece->to;
}

CsvStatus
csv_piece_read(CsvPieceReader *reader, CsvPiece *piece)
{
	if (piece->end == 0)
	{
		CsvStatus	status = csv_piece_guess(reader, piece);

		if (status != CSV_OK)
			return status;
		/* the footer is searched from a place that is certain */
		if (!piece->is_exact && piece->is_last && reader->held_bytes > 0)
			piece->found = false;
	}
	if (!piece->is_exact && !piece->found)
		return CSV_OK;
	piece->place = piece->begin;
	return csv_piece_parse(reader, &piece->place, piece->end, !piece->is_exact,
						   &piece->batch, &piece->at_end);
}

bool
csv_chain_join(CsvChain *chain, CsvPiece *piece)
{
	CsvFilePlace *place = &chain->place;
	CsvBatch   *batch = &piece->batch;

	if (piece->is_exact)
		/* without a record, what is known of the next one stays */
		*place = piece->place;
	else if (piece->found && piece->begin.offset == place->offset &&
			 place->alone_until == 0 && !place->skip_line)
	{
		batch->file_records = place->records;
		batch->file_lines = place->lines;
		csv_place_pass_batch(place, batch);
	}
	else if (place->offset >= piece->end && !piece->is_last)
	{
		/* earlier records go on up to its end */
		memset(batch, 0, sizeof(*batch));
		piece->at_end = false;
	}
	else
	{
		piece->is_exact = true;
		piece->begin = *place;
		return false;
	}
	piece->place = *place;
	chain->njoined++;
	return true;
}
