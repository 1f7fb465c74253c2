/*
 * pieces.c
 *		Several threads parse a file, a piece each.
 *
 * A piece is a part of a crew's work (crew.h).  One thread does all steps for a piece,
 * so that its bytes and arrays stay in the caches of one processor:
 *
 *	1. The thread reads the piece, guesses where the first record in it begins, and
 *	   parses from there (piece.c).
 *	2. Pieces join the chain in the order of the file.  When a piece joins, the end of
 *	   the piece before it is known, and the number of records and lines before it.
 *	   If the guess was wrong, the piece is parsed again, from the end of the chain.
 *	3. The hook evaluates a query over each piece in the chain.
 *	4. The consumer (the thread that calls csv_pieces_next) takes the batches.
 *	   Only the consumer may call PostgreSQL.
 *
 * A hand is a piece reader with an engine of its own.  Each batch that is still
 * needed has a hand, until the consumer releases the batch.  If the hook says that the
 * batch is not needed, its hand is released at once.  So there are few hands, and
 * the hand that was used last is used next.
 *
 * The consumer reads a stream ahead of the threads, while it has to wait for a batch,
 * or if there is no whole piece for the threads (stock.h).
 *
 * The crew's mutex guards all members; it is held only for short times.
 */
#include "arrays.h"
#include "clock.h"
#include "crew.h"
#include "pieces.h"
#include "stock.h"

/* bytes of a stream that must be there behind a piece before a thread begins it */
#define LOOKAHEAD_BYTES	((uint64_t) 16 * 1024)

/*
 * Hands: one for each thread, one for the consumer, and some for batches that wait for
 * the consumer or for an earlier piece.
 */
#define HANDS_FOR(nthreads)	((nthreads) + (nthreads) / 2 + 2)

typedef struct PieceEntry
{
	CsvPiece	piece;
	CsvPieceReader *hand;		/* NULL: the batch is not needed */
	uint64_t	data_end;		/* as far as it was known */
	double		read_seconds;
	CsvStatus	status;
} PieceEntry;

struct CsvPieces
{
	CsvPiecesOptions options;
	CsvCrew		crew;
	uint64_t	data_end;		/* threads read up to there; UINT64_MAX: not known */
	bool		goes_on;		/* bytes follow, which may be a footer */

	CsvPieceReader hands[HANDS_FOR(CSV_MAX_THREADS)];
	uint32_t	nhands;			/* hands that were made */
	uint32_t	most_hands;		/* most hands */
	CsvPieceReader *free_hands[HANDS_FOR(CSV_MAX_THREADS)];
	uint32_t	nfree;

	PieceEntry	entries[CSV_CREW_PARTS];
	CsvFilePlace taken;			/* where the pieces end that the consumer took */
	CsvChain	chain;
	uint64_t	next_bytes;		/* of the next piece */
	bool		is_last;		/* begin no further piece */
	CsvStatus	why;			/* the reason why no further piece joins */
	CsvPieceReader *held;		/* the hand of the consumer's batch */
	double		read_seconds;

	/* for a stream */
	bool		has_stock;
	CsvStock	stock;
};

static PieceEntry *
entry_of(CsvPieces *pieces, uint64_t number)
{
	return &pieces->entries[number % CSV_CREW_PARTS];
}

/* ---- the file's bytes; the mutex is held ---- */

/* where the bytes end that threads read; UINT64_MAX if it is not known yet */
static uint64_t
data_end(const CsvPieces *pieces)
{
	return pieces->has_stock && pieces->stock.at_end ? pieces->stock.end :
		pieces->data_end;
}

/* are there enough bytes of a stream to begin the next piece? */
static bool
next_piece_is_there(const CsvPieces *pieces)
{
	const CsvStock *stock = &pieces->stock;

	return !pieces->has_stock || stock->at_end ||
		stock->end >= pieces->chain.claimed_to + pieces->next_bytes +
		LOOKAHEAD_BYTES;
}

/*
 * Should the consumer read more of the stream?  Yes, if there are not enough bytes for
 * npieces further pieces, or a thread waits for bytes.
 */
static bool
is_short_of(const CsvPieces *pieces, uint32_t npieces)
{
	const CsvStock *stock = &pieces->stock;

	if (!pieces->has_stock || stock->at_end)
		return false;
	return stock->nwaiting > 0 || (!pieces->crew.ended &&
								   stock->end < pieces->chain.claimed_to +
								   pieces->next_bytes * npieces + LOOKAHEAD_BYTES);
}

/* release bytes of the stream before the next batch to take, and before its piece */
static void
let_go_of_bytes(CsvPieces *pieces)
{
	uint64_t	offset = pieces->chain.claimed_to;

	if (!pieces->has_stock)
		return;
	if (pieces->crew.ntaken < pieces->crew.nbegun)
		offset = entry_of(pieces, pieces->crew.ntaken)->piece.from;
	if (offset > pieces->taken.offset)
		offset = pieces->taken.offset;
	/* two bytes before a place tell whether a record begins there */
	csv_stock_let_go(&pieces->stock, offset < 2 ? 0 : offset - 2);
}

/* ---- hands ---- */

static bool
make_hand(CsvPieces *pieces, CsvPieceReader *hand)
{
	const CsvPiecesOptions *options = &pieces->options;
	const CsvPieceReader *like = options->like;
	void	   *engine = like->engine->another(like->engine_state);

	if (engine == NULL)
		return false;
	*hand = (CsvPieceReader) {
		.engine = like->engine,
		.engine_state = engine,
		.dialect = like->dialect,
		.memory = like->memory,
		.max_record_bytes = like->max_record_bytes,
		.interrupted = csv_crew_is_closing,
		.interrupted_arg = &pieces->crew,
		.goes_on = like->goes_on || pieces->goes_on,
		.has_footer = like->has_footer,
		.window = {
			.memory = like->memory,
			.read_at = pieces->has_stock ? csv_stock_read : options->ahead.read_at,
			.read_arg = pieces->has_stock ? &pieces->stock : options->ahead.arg
		}
	};
	return like->engine->configure(engine, like->dialect, options->layout) == CSV_OK;
}

static void
close_hand(CsvPieceReader *hand)
{
	csv_window_release(&hand->window);
	if (hand->engine_state != NULL)
		hand->engine->close(hand->engine_state);
}

/* the mutex is held */
static void
let_go(CsvPieces *pieces, CsvPieceReader **hand)
{
	if (*hand == NULL)
		return;
	pieces->free_hands[pieces->nfree++] = *hand;
	*hand = NULL;
}

/* ---- the steps of a piece ---- */

static void
end_chain(CsvPieces *pieces, CsvStatus why)
{
	csv_crew_end(&pieces->crew);
	pieces->why = why;
}

/* can a thread begin the next piece?  The mutex is held. */
static bool
may_begin(void *arg)
{
	const CsvPieces *pieces = arg;

	/* records that the last piece has not parsed wait until it has joined */
	bool		is_behind = pieces->chain.claimed_to >= data_end(pieces) &&
		pieces->chain.njoined < pieces->chain.nclaimed;

	return !pieces->is_last && !is_behind && next_piece_is_there(pieces) &&
		(pieces->nfree > 0 || pieces->nhands < pieces->most_hands);
}

/* begin the next piece; the mutex is held */
static void
begin_piece(void *arg, uint32_t number)
{
	CsvPieces  *pieces = arg;
	uint64_t	end = data_end(pieces);
	PieceEntry *entry = entry_of(pieces, number);

	memset(entry, 0, sizeof(*entry));
	csv_chain_claim(&pieces->chain, pieces->next_bytes, 0, end, &entry->piece);
	pieces->is_last = entry->piece.is_last;
	entry->data_end = end;
	pieces->next_bytes *= 4;
	if (pieces->next_bytes > pieces->options.most_piece_bytes)
		pieces->next_bytes = pieces->options.most_piece_bytes;
	if (pieces->nfree > 0)
		entry->hand = pieces->free_hands[--pieces->nfree];
	else
		entry->hand = &pieces->hands[pieces->nhands++];

	/* early enough that threads do not run out of work, but not for every piece */
	if (is_short_of(pieces, (pieces->crew.nhelpers + 1) / 2))
		pthread_cond_signal(&pieces->crew.for_taker);
}

static void
parse_piece(void *arg, uint32_t number)
{
	CsvPieces  *pieces = arg;
	PieceEntry *entry = entry_of(pieces, number);
	CsvPieceReader *hand = entry->hand;
	double		before = hand->window.read_seconds;

	if (hand->engine_state == NULL && !make_hand(pieces, hand))
	{
		entry->status = CSV_NO_MEMORY;
		return;
	}
	hand->window.end = entry->data_end;
	entry->status = csv_piece_read(hand, &entry->piece);
	entry->read_seconds = hand->window.read_seconds - before;
}

/* let the next piece join the chain, if it can; the mutex is held */
static CsvJoin
join_chain(void *arg, uint32_t number)
{
	CsvPieces  *pieces = arg;
	PieceEntry *entry = entry_of(pieces, number);
	const CsvBatch *batch = &entry->piece.batch;
	bool		must_finish;

	/* the stock's are counted when it is filled */
	if (!pieces->has_stock)
		pieces->read_seconds += entry->read_seconds;
	if (entry->status != CSV_OK)
	{
		pieces->why = entry->status;
		return CSV_JOIN_END;
	}
	if (!csv_chain_join(&pieces->chain, &entry->piece))
	{
		entry->data_end = data_end(pieces);
		return CSV_JOIN_AGAIN;
	}
	if (entry->piece.at_end)
		end_chain(pieces, pieces->goes_on ? CSV_OK : CSV_END);
	must_finish = pieces->options.hook.function != NULL && batch->nrows > 0;
	if (batch->nrecords == 0 && batch->nlines == 0)
		let_go(pieces, &entry->hand);
	if (!pieces->crew.ended && entry->piece.is_last)
		pieces->is_last = false;
	return must_finish ? CSV_JOIN_FINISH : CSV_JOIN_DONE;
}

static void
call_hook(void *arg, uint32_t thread, uint32_t number)
{
	CsvPieces  *pieces = arg;
	PieceEntry *entry = entry_of(pieces, number);
	CsvBatchHook hook;

	pthread_mutex_lock(&pieces->crew.mutex);
	hook = pieces->options.hook;
	pthread_mutex_unlock(&pieces->crew.mutex);
	if (hook.function(hook.arg, thread, number % CSV_BATCH_SLOTS,
					  &entry->piece.batch, csv_crew_is_closing, &pieces->crew))
		return;
	pthread_mutex_lock(&pieces->crew.mutex);
	let_go(pieces, &entry->hand);
	pthread_mutex_unlock(&pieces->crew.mutex);
}

/* ---- the consumer ---- */

void
csv_pieces_set_hook(CsvPieces *pieces, const CsvBatchHook *hook)
{
	pthread_mutex_lock(&pieces->crew.mutex);
	pieces->options.hook = *hook;
	pthread_mutex_unlock(&pieces->crew.mutex);
}

void
csv_pieces_wind_up(CsvPieces *pieces)
{
	pthread_mutex_lock(&pieces->crew.mutex);
	if (!pieces->crew.ended)
		end_chain(pieces, CSV_OK);
	pthread_mutex_unlock(&pieces->crew.mutex);
}

CsvStatus
csv_pieces_give_back(CsvPieces *pieces, CsvFileWindow *window, uint64_t from)
{
	CsvFileWindow other = *window;
	CsvStock   *stock = &pieces->stock;
	CsvStatus	status;

	if (!pieces->has_stock)
		return CSV_OK;
	pthread_mutex_lock(&pieces->crew.mutex);
	csv_stock_release(stock);
	pthread_mutex_unlock(&pieces->crew.mutex);
	other.read_at = csv_stock_read;
	other.read_arg = stock;
	csv_window_empty(&other, from);
	status = csv_window_reach(&other, from, stock->end, 0);
	other.read_at = window->read_at;
	other.read_arg = window->read_arg;
	*window = other;
	if (status == CSV_OK && stock->at_end)
		window->end = stock->end;
	return status;
}

/* read more of a stream, in the consumer; the mutex is not held while it reads */
static CsvStatus
read_more(CsvPieces *pieces)
{
	size_t		nbytes;
	size_t		nread = 0;
	uint8_t    *room = csv_stock_room(&pieces->stock, &nbytes);
	double		began = csv_now_seconds();

	if (room == NULL)
		return CSV_NO_MEMORY;
	pthread_mutex_unlock(&pieces->crew.mutex);
	nread = pieces->options.read(pieces->options.read_arg, room, nbytes);
	pthread_mutex_lock(&pieces->crew.mutex);
	csv_stock_add(&pieces->stock, nread);
	pieces->read_seconds += csv_now_seconds() - began;
	csv_crew_call(&pieces->crew);
	return CSV_OK;
}

CsvStatus
csv_pieces_next(CsvPieces *pieces, bool (*interrupted) (void *arg), void *arg,
				CsvBatch *batch, CsvFilePlace *place, CsvStatus *why)
{
	CsvCrew    *crew = &pieces->crew;
	CsvStatus	status = CSV_OK;
	bool		found = false;
	uint32_t	number;

	pthread_mutex_lock(&crew->mutex);
	while (!found && status == CSV_OK)
	{
		/* make room for another piece */
		let_go(pieces, &pieces->held);
		let_go_of_bytes(pieces);
		csv_crew_call(crew);
		while (!csv_crew_is_ready(crew) || !next_piece_is_there(pieces))
		{
			/* read a piece for every thread */
			if (is_short_of(pieces, crew->nhelpers))
			{
				status = read_more(pieces);
				if (status != CSV_OK)
					break;
				continue;
			}
			if (csv_crew_is_ready(crew))
				break;
			if (interrupted != NULL && interrupted(arg))
			{
				status = CSV_INTERRUPTED;
				break;
			}
			csv_nap(&crew->for_taker, &crew->mutex);
		}
		if (status != CSV_OK)
			break;
		if (csv_crew_take(crew, &number))
		{
			const PieceEntry *entry = entry_of(pieces, number);

			*batch = entry->piece.batch;
			*place = entry->piece.place;
			pieces->taken = entry->piece.place;
			pieces->held = entry->hand;
			found = batch->nrecords > 0 || batch->nlines > 0;
		}
		else
		{
			*why = pieces->why;
			status = CSV_END;
		}
	}
	pthread_mutex_unlock(&crew->mutex);
	return status;
}

double
csv_pieces_read_seconds(CsvPieces *pieces)
{
	double		seconds;

	pthread_mutex_lock(&pieces->crew.mutex);
	seconds = pieces->read_seconds;
	pthread_mutex_unlock(&pieces->crew.mutex);
	return seconds;
}

/* ---- start and stop ---- */

/* put the bytes of a stream that were read already into the stock */
static bool
stock_first_bytes(CsvPieces *pieces)
{
	const CsvFileWindow *window = &pieces->options.like->window;
	uint64_t	from = pieces->options.place.offset;
	const uint8_t *bytes = csv_window_at(window, from);
	uint64_t	nbytes = csv_window_filled_to(window) - from;

	while (nbytes > 0)
	{
		size_t		room_bytes;
		uint8_t    *room = csv_stock_room(&pieces->stock, &room_bytes);

		if (room == NULL)
			return false;
		if (room_bytes > nbytes)
			room_bytes = nbytes;
		memcpy(room, bytes, room_bytes);
		csv_stock_add(&pieces->stock, room_bytes);
		bytes += room_bytes;
		nbytes -= room_bytes;
	}
	return true;
}

CsvPieces *
csv_pieces_start(const CsvPiecesOptions *options)
{
	const CsvPieceReader *like = options->like;
	const CsvMemory *memory = &like->memory;
	CsvPieces  *pieces = csv_alloc_zeros(memory, sizeof(CsvPieces));
	uint32_t	wanted = options->nthreads < CSV_MAX_THREADS ?
		options->nthreads : CSV_MAX_THREADS;
	CsvCrewWork work = {
		UINT64_MAX, 0, may_begin, begin_piece, parse_piece, join_chain, call_hook,
		pieces
	};

	if (pieces == NULL)
		return NULL;
	pieces->options = *options;
	pieces->chain.place = options->place;
	pieces->chain.claimed_to = options->place.offset;
	pieces->taken = options->place;
	pieces->next_bytes = options->piece_bytes;
	pieces->most_hands = HANDS_FOR(wanted);
	csv_crew_init(&pieces->crew, wanted + 1);
	pieces->data_end = csv_piece_sure_end(like);
	pieces->goes_on = like->held_bytes > 0;
	pieces->has_stock = options->ahead.read_at == NULL;
	if (pieces->has_stock)
		csv_stock_init(&pieces->stock, memory, &pieces->crew.mutex,
					   &pieces->crew.for_taker, options->place.offset,
					   like->held_bytes);
	if ((pieces->has_stock && !stock_first_bytes(pieces)) ||
		csv_crew_start_work(&pieces->crew, &work) == 0)
	{
		csv_pieces_stop(pieces);
		return NULL;
	}
	return pieces;
}

void
csv_pieces_stop(CsvPieces *pieces)
{
	CsvMemory	memory = pieces->options.like->memory;

	if (pieces->has_stock && pieces->crew.was_made)
	{
		pthread_mutex_lock(&pieces->crew.mutex);
		csv_stock_close(&pieces->stock);
		pthread_mutex_unlock(&pieces->crew.mutex);
	}
	csv_crew_close(&pieces->crew);
	for (uint32_t i = 0; i < pieces->nhands; i++)
		close_hand(&pieces->hands[i]);
	if (pieces->has_stock)
		csv_stock_free(&pieces->stock);
	csv_free(&memory, pieces);
}
