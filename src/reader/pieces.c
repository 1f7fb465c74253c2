/*
 * pieces.c
 *		Several threads parse a file, a piece each.
 *
 * One thread does all steps for a piece, so that its bytes and arrays stay in the
 * caches of one processor:
 *
 *	1. The thread reads the piece, guesses where the first record in it begins, and
 *	   parses from there (piece.c).
 *	2. Pieces join the chain in the order of the file.  When a piece joins, the end of
 *	   the piece before it is known, and the number of records and lines before it.
 *	   If the guess was wrong, the piece is parsed again, from the end of the chain.
 *	3. The hook evaluates a query over each piece in the chain.
 *	4. The consumer (the thread that calls csv_pieces_next) gets the batches in
 *	   order.  Only the consumer may call PostgreSQL.
 *
 * Only the consumer waits for pieces of other threads.  A thread whose piece cannot
 * join yet begins another piece, and the next free thread continues with pieces that
 * have joined.
 *
 * A hand is an engine and the bytes that were read for it.  Each batch that is still
 * needed has a hand, until the consumer releases the batch.  If the hook says that the
 * batch is not needed, its hand is released at once.  So there are few hands, and
 * the hand that was used last is used next.
 *
 * The consumer reads a stream ahead of the threads, while it has to wait for a batch,
 * or if there is no whole piece for the threads (stock.h).
 *
 * One mutex guards all members; it is held only for short times.
 */
#include "clock.h"
#include "footer.h"
#include "pieces.h"
#include "stock.h"
#include "thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* bytes of a stream that must be there behind a piece before a thread begins it */
#define LOOKAHEAD_BYTES	((uint64_t) 16 * 1024)

/*
 * Hands: one for each thread, one for the consumer, and some for batches that wait for
 * the consumer or for an earlier piece.
 */
#define HANDS_FOR(nthreads)	((nthreads) + (nthreads) / 2 + 2)

typedef struct Hand
{
	void	   *engine;
	CsvPieceReader *reader;
} Hand;

typedef enum EntryState
{
	BUSY,						/* a thread works on it */
	PARSED,
	WRONG,						/* the guess was wrong: must be parsed again */
	CHAINED,					/* the hook comes next */
	DONE,
	FAILED
} EntryState;

typedef struct PieceEntry
{
	EntryState		state;
	CsvPiece	piece;
	Hand	   *hand;			/* NULL: the batch is not needed */
	CsvBatch	batch;
	CsvFilePlace begin;			/* where parsing began */
	bool		is_exact;		/* `begin` is known, not guessed */
	CsvFilePlace place;			/* where the piece ends */
	bool		at_end;
	CsvStatus	status;
} PieceEntry;

struct CsvPieces
{
	CsvPiecesOptions options;
	pthread_mutex_t mutex;
	pthread_cond_t for_threads; /* there may be work */
	pthread_cond_t for_consumer;	/* a batch, or the end */
	pthread_t	threads[CSV_MAX_THREADS];
	uint32_t	nthreads;
	uint32_t	nrunning;		/* threads that run; gives each its number */
	atomic_bool stop;

	Hand		hands[HANDS_FOR(CSV_MAX_THREADS)];
	uint32_t	nhands;			/* hands that were made */
	uint32_t	most_hands;		/* most hands */
	Hand	   *free_hands[HANDS_FOR(CSV_MAX_THREADS)];
	double		read_seconds[HANDS_FOR(CSV_MAX_THREADS)];
	uint32_t	nfree;

	/* number n is entries[n % CSV_BATCH_SLOTS] */
	PieceEntry		entries[CSV_BATCH_SLOTS];
	uint64_t	nbegun;
	uint64_t	nchained;
	uint64_t	ntaken;			/* entries that the consumer has taken */
	CsvFilePlace taken;			/* where these end */
	CsvFilePlace chain;			/* where the chain ends */
	uint64_t	next_offset;	/* of the next piece */
	uint64_t	next_bytes;
	bool		is_last;		/* begin no further piece */
	bool		is_wound_up;
	bool		ended;			/* no further piece joins the chain */
	CsvStatus	why;			/* the reason */
	Hand	   *held;			/* the hand of the consumer's batch */

	/* for a stream */
	bool		has_stock;
	CsvStock	stock;
	double		stock_seconds;	/* time to read it */
};

static bool
is_stopping(void *arg)
{
	CsvPieces  *pieces = arg;

	return atomic_load(&pieces->stop);
}

static PieceEntry *
entry_of(CsvPieces *pieces, uint64_t number)
{
	return &pieces->entries[number % CSV_BATCH_SLOTS];
}

/* ---- the file's bytes; the mutex is held ---- */

/* length of the file; UINT64_MAX if it is not known yet */
static uint64_t
file_bytes(const CsvPieces *pieces)
{
	if (!pieces->has_stock)
		return pieces->options.ahead.file_bytes;
	return pieces->stock.at_end ? pieces->stock.end : UINT64_MAX;
}

/* bytes of the file that must be known behind a piece before it begins */
static uint64_t
footer_margin(const CsvPieces *pieces)
{
	return csv_footer_margin(&pieces->options.dialect->opt);
}

/* are there enough bytes of a stream to begin the next piece? */
static bool
next_piece_is_there(const CsvPieces *pieces)
{
	const CsvStock *stock = &pieces->stock;

	return !pieces->has_stock || stock->at_end ||
		stock->end >= pieces->next_offset + pieces->next_bytes +
		LOOKAHEAD_BYTES + footer_margin(pieces);
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
	return stock->nwaiting > 0 || (!pieces->is_wound_up && !pieces->ended &&
								   stock->end < pieces->next_offset +
								   pieces->next_bytes * npieces +
								   LOOKAHEAD_BYTES + footer_margin(pieces));
}

/* release bytes of the stream before the next batch to take, and before its piece */
static void
let_go_of_bytes(CsvPieces *pieces)
{
	uint64_t	offset = pieces->next_offset;

	if (!pieces->has_stock)
		return;
	if (pieces->ntaken < pieces->nbegun)
		offset = entry_of(pieces, pieces->ntaken)->piece.from;
	if (offset > pieces->taken.offset)
		offset = pieces->taken.offset;
	/* two bytes before a place tell whether a record begins there */
	csv_stock_let_go(&pieces->stock, offset < 2 ? 0 : offset - 2);
}

/* ---- hands ---- */

static bool
make_hand(CsvPieces *pieces, Hand *hand)
{
	const CsvPiecesOptions *options = &pieces->options;
	CsvPieceOptions own;

	hand->reader = NULL;
	hand->engine = options->engine->another(options->engine_state);
	if (hand->engine == NULL)
		return false;
	memset(&own, 0, sizeof(own));
	own.engine = options->engine;
	own.engine_state = hand->engine;
	own.dialect = options->dialect;
	own.memory = options->memory;
	own.read_at = pieces->has_stock ? csv_stock_read : options->ahead.read_at;
	own.read_arg = pieces->has_stock ? &pieces->stock : options->ahead.arg;
	own.max_record_bytes = options->max_record_bytes;
	own.interrupted = is_stopping;
	own.interrupted_arg = pieces;
	hand->reader = csv_piece_reader_create(&own);
	return hand->reader != NULL &&
		options->engine->configure(hand->engine, options->dialect,
								   options->layout) == CSV_OK;
}

static void
close_hand(CsvPieces *pieces, Hand *hand)
{
	if (hand->reader != NULL)
		csv_piece_reader_free(hand->reader);
	if (hand->engine != NULL)
		pieces->options.engine->close(hand->engine);
}

/* the mutex is held */
static void
let_go(CsvPieces *pieces, Hand **hand)
{
	if (*hand == NULL)
		return;
	pieces->free_hands[pieces->nfree++] = *hand;
	*hand = NULL;
}

/* ---- the chain; the mutex is held ---- */

static void
end_chain(CsvPieces *pieces, CsvStatus why)
{
	pieces->ended = true;
	pieces->why = why;
}

/* is there a batch to take, or will none come any more?  The mutex is held. */
static bool
is_ready(CsvPieces *pieces)
{
	return pieces->ntaken == pieces->nchained ? pieces->ended :
		entry_of(pieces, pieces->ntaken)->state == DONE;
}

/* let all pieces join the chain that can */
static void
advance_chain(CsvPieces *pieces)
{
	CsvFilePlace *chain = &pieces->chain;

	while (!pieces->ended && pieces->nchained < pieces->nbegun)
	{
		PieceEntry	   *entry = entry_of(pieces, pieces->nchained);
		CsvBatch   *batch = &entry->batch;

		if (entry->state != PARSED)
			break;
		if (entry->status != CSV_OK)
		{
			entry->state = FAILED;
			end_chain(pieces, entry->status);
			break;
		}
		if (entry->is_exact ||
			(entry->piece.found && entry->begin.offset == chain->offset &&
			 chain->alone_until == 0 && !chain->skip_line))
		{
			batch->file_records = chain->records;
			batch->file_lines = chain->lines;
			csv_place_pass_batch(chain, batch);
			if (entry->at_end)
				end_chain(pieces, CSV_END);
		}
		else if (chain->offset >= entry->piece.end && !entry->piece.is_last)
			memset(batch, 0, sizeof(*batch));
		else
		{
			entry->state = WRONG;
			break;
		}
		entry->place = *chain;
		entry->state = pieces->options.hook.function != NULL &&
			batch->nrows > 0 ? CHAINED : DONE;
		if (batch->nrecords == 0 && batch->nlines == 0)
			let_go(pieces, &entry->hand);
		if (entry->piece.is_last && !pieces->ended)
			pieces->is_last = false;
		pieces->nchained++;
	}
	if (pieces->is_wound_up && !pieces->ended &&
		pieces->nchained == pieces->nbegun)
		end_chain(pieces, CSV_OK);
}

/* ---- threads; the mutex is held except during the work itself ---- */

/* can a thread begin the next piece? */
static bool
may_begin(const CsvPieces *pieces)
{
	/* records that the last piece has not parsed wait until it has joined */
	bool		is_behind = pieces->next_offset >= file_bytes(pieces) &&
		pieces->nchained < pieces->nbegun;

	return !pieces->is_last && !pieces->is_wound_up && !pieces->ended &&
		!is_behind && next_piece_is_there(pieces) &&
		pieces->nbegun - pieces->ntaken < CSV_BATCH_SLOTS - 1 &&
		(pieces->nfree > 0 || pieces->nhands < pieces->most_hands);
}

/* a piece that has begun and needs a thread to continue it, or NULL */
static PieceEntry *
unfinished(CsvPieces *pieces)
{
	if (pieces->nchained < pieces->nbegun &&
		entry_of(pieces, pieces->nchained)->state == WRONG)
		return entry_of(pieces, pieces->nchained);
	for (uint64_t i = pieces->ntaken; i < pieces->nchained; i++)
		if (entry_of(pieces, i)->state == CHAINED)
			return entry_of(pieces, i);
	return NULL;
}

/*
 * Wake one thread if there is work; that thread wakes the next.  Must be called after
 * taking work, and after making room.
 */
static void
call_another(CsvPieces *pieces)
{
	if (may_begin(pieces) || unfinished(pieces) != NULL)
		pthread_cond_signal(&pieces->for_threads);
}

/* begin the next piece */
static PieceEntry *
begin_piece(CsvPieces *pieces)
{
	uint64_t	end = file_bytes(pieces);
	PieceEntry *entry = entry_of(pieces, pieces->nbegun);
	CsvPiece   *piece = &entry->piece;

	memset(entry, 0, sizeof(*entry));
	entry->state = BUSY;
	piece->is_first = pieces->nbegun == 0 || pieces->next_offset >= end;
	piece->from = piece->is_first ? pieces->chain.offset : pieces->next_offset;
	piece->to = piece->from + pieces->next_bytes;
	if (piece->to >= end || end - piece->to < footer_margin(pieces))
	{
		piece->to = end;
		piece->is_last = true;
		pieces->is_last = true;
	}
	entry->is_exact = piece->is_first;
	entry->begin = pieces->chain;
	pieces->next_offset = piece->to;
	pieces->next_bytes *= 4;
	if (pieces->next_bytes > pieces->options.most_piece_bytes)
		pieces->next_bytes = pieces->options.most_piece_bytes;
	pieces->nbegun++;
	if (pieces->nfree > 0)
		entry->hand = pieces->free_hands[--pieces->nfree];
	else
		entry->hand = &pieces->hands[pieces->nhands++];
	return entry;
}

static void
parse_piece(CsvPieces *pieces, PieceEntry *entry)
{
	CsvPiece   *piece = &entry->piece;
	Hand	   *hand = entry->hand;
	CsvStatus	status = CSV_OK;
	uint64_t	nbytes = file_bytes(pieces);
	double		seconds;

	call_another(pieces);
	pthread_mutex_unlock(&pieces->mutex);
	if (hand->engine == NULL && !make_hand(pieces, hand))
		status = CSV_NO_MEMORY;
	else
		csv_piece_set_file_bytes(hand->reader, nbytes);
	/* when a piece is parsed again, its begin is known */
	if (status == CSV_OK && piece->end == 0)
	{
		status = csv_piece_guess(hand->reader, piece);
		if (!entry->is_exact)
		{
			memset(&entry->begin, 0, sizeof(entry->begin));
			entry->begin.offset = piece->start;
		}
	}
	if (status == CSV_OK && (piece->found || entry->is_exact))
	{
		entry->place = entry->begin;
		status = entry->is_exact ?
			csv_piece_parse(hand->reader, &entry->place, piece->end,
							&entry->batch, &entry->at_end) :
			csv_piece_parse_guess(hand->reader, piece, &entry->place,
								  &entry->batch, &entry->at_end);
	}
	seconds = hand->reader == NULL ? 0 : csv_piece_read_seconds(hand->reader);
	pthread_mutex_lock(&pieces->mutex);
	pieces->read_seconds[hand - pieces->hands] = seconds;
	entry->status = status;
	entry->state = PARSED;
}

static void
call_hook(CsvPieces *pieces, uint32_t thread, PieceEntry *entry)
{
	CsvBatchHook hook = pieces->options.hook;
	bool		looked_at;

	entry->state = BUSY;
	call_another(pieces);
	pthread_mutex_unlock(&pieces->mutex);
	looked_at = hook.function(hook.arg, thread,
							  (uint32_t) (entry - pieces->entries),
							  &entry->batch, is_stopping, pieces);
	pthread_mutex_lock(&pieces->mutex);
	entry->state = DONE;
	if (!looked_at)
		let_go(pieces, &entry->hand);
}

/* parse a piece, and call the hook while the piece is in this processor's caches */
static void
work_on(CsvPieces *pieces, uint32_t thread, PieceEntry *entry)
{
	parse_piece(pieces, entry);
	advance_chain(pieces);
	if (entry->state == CHAINED)
		call_hook(pieces, thread, entry);
}

/* do a piece of work; false if there is none */
static bool
do_work(CsvPieces *pieces, uint32_t thread)
{
	PieceEntry *entry = unfinished(pieces);

	if (entry != NULL && entry->state == CHAINED)
		call_hook(pieces, thread, entry);
	else if (entry != NULL)
	{
		entry->state = BUSY;
		entry->is_exact = true;
		entry->begin = pieces->chain;
		work_on(pieces, thread, entry);
	}
	else if (may_begin(pieces))
	{
		entry = begin_piece(pieces);
		/* early enough that threads do not run out of work, but not for every piece */
		if (is_short_of(pieces, (pieces->nthreads + 1) / 2))
			pthread_cond_signal(&pieces->for_consumer);
		work_on(pieces, thread, entry);
	}
	return entry != NULL;
}

static void *
run_thread(void *arg)
{
	CsvPieces  *pieces = arg;
	uint32_t	thread;

	pthread_mutex_lock(&pieces->mutex);
	thread = pieces->nrunning++;
	while (!is_stopping(pieces))
	{
		if (!do_work(pieces, thread))
			pthread_cond_wait(&pieces->for_threads, &pieces->mutex);
		else if (is_ready(pieces))
			pthread_cond_signal(&pieces->for_consumer);
	}
	pthread_mutex_unlock(&pieces->mutex);
	return NULL;
}

/* ---- the consumer ---- */

void
csv_pieces_set_hook(CsvPieces *pieces, const CsvBatchHook *hook)
{
	pthread_mutex_lock(&pieces->mutex);
	pieces->options.hook = *hook;
	pthread_mutex_unlock(&pieces->mutex);
}

void
csv_pieces_wind_up(CsvPieces *pieces)
{
	pthread_mutex_lock(&pieces->mutex);
	pieces->is_wound_up = true;
	advance_chain(pieces);
	pthread_mutex_unlock(&pieces->mutex);
}

uint64_t
csv_pieces_left(CsvPieces *pieces, uint64_t offset, bool *at_end)
{
	uint64_t	nbytes;

	pthread_mutex_lock(&pieces->mutex);
	nbytes = pieces->stock.end - offset;
	*at_end = pieces->stock.at_end;
	pthread_mutex_unlock(&pieces->mutex);
	return nbytes;
}

void
csv_pieces_take_left(CsvPieces *pieces, uint64_t offset, uint8_t *buffer,
					 uint64_t nbytes)
{
	while (nbytes > 0)
	{
		ssize_t		nread = csv_stock_read(&pieces->stock, buffer, nbytes,
										   offset);

		offset += (uint64_t) nread;
		buffer += nread;
		nbytes -= (uint64_t) nread;
	}
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
	pthread_mutex_unlock(&pieces->mutex);
	nread = pieces->options.read(pieces->options.read_arg, room, nbytes);
	pthread_mutex_lock(&pieces->mutex);
	csv_stock_add(&pieces->stock, nread);
	pieces->stock_seconds += csv_now_seconds() - began;
	call_another(pieces);
	return CSV_OK;
}

CsvStatus
csv_pieces_next(CsvPieces *pieces, bool (*interrupted) (void *arg), void *arg,
				CsvBatch *batch, CsvFilePlace *place, CsvStatus *why)
{
	CsvStatus	status = CSV_OK;
	bool		found = false;

	pthread_mutex_lock(&pieces->mutex);
	while (!found && status == CSV_OK)
	{
		/* make room for another piece */
		let_go(pieces, &pieces->held);
		let_go_of_bytes(pieces);
		call_another(pieces);
		while (!is_ready(pieces) || !next_piece_is_there(pieces))
		{
			/* read a piece for every thread */
			if (is_short_of(pieces, pieces->nthreads))
			{
				status = read_more(pieces);
				if (status != CSV_OK)
					break;
				continue;
			}
			if (is_ready(pieces))
				break;
			if (interrupted != NULL && interrupted(arg))
			{
				status = CSV_INTERRUPTED;
				break;
			}
			csv_nap(&pieces->for_consumer, &pieces->mutex);
		}
		if (status != CSV_OK)
			break;
		if (pieces->ntaken < pieces->nchained)
		{
			PieceEntry	   *entry = entry_of(pieces, pieces->ntaken++);

			*batch = entry->batch;
			*place = entry->place;
			pieces->taken = entry->place;
			pieces->held = entry->hand;
			found = batch->nrecords > 0 || batch->nlines > 0;
		}
		else
		{
			*why = pieces->why;
			status = CSV_END;
		}
	}
	pthread_mutex_unlock(&pieces->mutex);
	return status;
}

double
csv_pieces_read_seconds(CsvPieces *pieces)
{
	double		seconds;

	pthread_mutex_lock(&pieces->mutex);
	seconds = pieces->stock_seconds;
	for (uint32_t i = 0; i < pieces->nhands && !pieces->has_stock; i++)
		seconds += pieces->read_seconds[i];
	pthread_mutex_unlock(&pieces->mutex);
	return seconds;
}

/* ---- start and stop ---- */

/* put the bytes of a stream that were read already into the stock */
static bool
stock_first_bytes(CsvPieces *pieces)
{
	const uint8_t *bytes = pieces->options.bytes;
	size_t		nbytes = pieces->options.nbytes;

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
	const CsvMemory *memory = &options->memory;
	CsvPieces  *pieces = memory->alloc(memory->owner, sizeof(CsvPieces));
	uint32_t	wanted = options->nthreads < CSV_MAX_THREADS ?
		options->nthreads : CSV_MAX_THREADS;

	if (pieces == NULL)
		return NULL;
	memset(pieces, 0, sizeof(*pieces));
	pieces->options = *options;
	pieces->chain = options->place;
	pieces->taken = options->place;
	pieces->next_offset = options->place.offset;
	pieces->next_bytes = options->piece_bytes;
	pieces->most_hands = HANDS_FOR(wanted);
	atomic_init(&pieces->stop, false);
	pthread_mutex_init(&pieces->mutex, NULL);
	pthread_cond_init(&pieces->for_threads, NULL);
	csv_nap_init(&pieces->for_consumer);
	pieces->has_stock = options->ahead.read_at == NULL;
	if (pieces->has_stock)
		csv_stock_init(&pieces->stock, memory, &pieces->mutex,
					   &pieces->for_consumer, options->place.offset);
	if (pieces->has_stock && !stock_first_bytes(pieces))
	{
		csv_pieces_stop(pieces);
		return NULL;
	}

	while (pieces->nthreads < wanted &&
		   csv_thread_start(&pieces->threads[pieces->nthreads], run_thread,
							pieces))
		pieces->nthreads++;
	if (pieces->nthreads == 0)
	{
		csv_pieces_stop(pieces);
		return NULL;
	}
	return pieces;
}

void
csv_pieces_stop(CsvPieces *pieces)
{
	CsvMemory	memory = pieces->options.memory;

	pthread_mutex_lock(&pieces->mutex);
	atomic_store(&pieces->stop, true);
	pthread_cond_broadcast(&pieces->for_threads);
	if (pieces->has_stock)
		csv_stock_close(&pieces->stock);
	pthread_mutex_unlock(&pieces->mutex);
	for (uint32_t i = 0; i < pieces->nthreads; i++)
		csv_thread_join(pieces->threads[i]);
	for (uint32_t i = 0; i < pieces->nhands; i++)
		close_hand(pieces, &pieces->hands[i]);
	if (pieces->has_stock)
		csv_stock_free(&pieces->stock);
	pthread_cond_destroy(&pieces->for_threads);
	pthread_cond_destroy(&pieces->for_consumer);
	pthread_mutex_destroy(&pieces->mutex);
	memory.free(memory.owner, pieces);
}
