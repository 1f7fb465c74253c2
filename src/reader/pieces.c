/*
 * pieces.c
 *		Several threads read and parse a file, a piece each.
 *
 * A thread takes a piece through everything, so that its bytes and arrays stay in
 * that processor's caches:
 *
 *	1. It reads the piece, guesses where the first record in it begins, and parses
 *	   from there (piece.c).
 *	2. In the order of the file, pieces join the chain: where the one before ends,
 *	   and how many records and lines are before it, is known then.  A piece whose
 *	   guess was wrong is parsed again, from where the chain ends.
 *	3. What is in the chain counts: the hook evaluates a query over it.
 *	4. The consumer (the thread that calls csv_pieces_next) gets the batches in
 *	   order.  It alone may call PostgreSQL.
 *
 * Nobody waits for a piece of somebody else's, but for the consumer: a thread
 * whose piece cannot join yet begins another one, and whoever comes next sees to
 * what has joined.
 *
 * A hand is an engine of its own and the bytes it has read; one belongs to each
 * batch that somebody has to look at, until the consumer lets go of it.  A batch of
 * which the hook says that nobody has to look at it lets go of its hand at once.
 * So there are not many, and those used last are used first.
 *
 * One mutex guards it all; it is held for moments only.
 */
#include "clock.h"
#include "crew.h"
#include "pieces.h"

#include <signal.h>
#include <string.h>
#include <time.h>

/*
 * One for each thread, one with the consumer, and some that wait: for the consumer,
 * or for a piece before theirs.
 */
#define HANDS_FOR(nthreads)	((nthreads) + (nthreads) / 2 + 2)

typedef struct Hand
{
	void	   *engine;
	CsvPieceReader *reader;
} Hand;

typedef enum EntryState
{
	BUSY,						/* some thread is at work on it */
	PARSED,
	WRONG,						/* and has to be parsed again */
	CHAINED,					/* the hook comes next */
	DONE,
	FAILED
} EntryState;

typedef struct PieceEntry
{
	EntryState		state;
	CsvPiece	piece;
	Hand	   *hand;			/* NULL: nobody looks at the batch */
	CsvBatch	batch;
	CsvFilePlace begin;			/* where it was parsed from, */
	bool		is_exact;		/* which is not a guess, */
	CsvFilePlace place;			/* and where it ends */
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
	uint32_t	nrunning;		/* that have begun: so each has a number */
	atomic_bool stop;

	Hand		hands[HANDS_FOR(CSV_MAX_THREADS)];
	uint32_t	nhands;			/* that are made, */
	uint32_t	most_hands;		/* and may be */
	Hand	   *free_hands[HANDS_FOR(CSV_MAX_THREADS)];
	double		read_seconds[HANDS_FOR(CSV_MAX_THREADS)];
	uint32_t	nfree;

	/* number n is entries[n % CSV_BATCH_SLOTS] */
	PieceEntry		entries[CSV_BATCH_SLOTS];
	uint64_t	nbegun;
	uint64_t	nchained;
	uint64_t	ntaken;			/* by the consumer */
	CsvFilePlace chain;			/* its end */
	uint64_t	next_offset;	/* of the next piece */
	uint64_t	next_bytes;
	bool		is_last;		/* no further piece is to begin */
	bool		is_wound_up;
	bool		ended;			/* the chain has come to its end, */
	CsvStatus	why;			/* which is this */
	Hand	   *held;			/* by the consumer */
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
	own.read_at = options->ahead.read_at;
	own.read_arg = options->ahead.arg;
	own.file_bytes = options->ahead.file_bytes;
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

/* let pieces join that can */
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

/* ---- threads; the mutex is held but for the work itself ---- */

/* deal the next piece; false: there is none now */
static bool
begin_piece(CsvPieces *pieces, PieceEntry **begun)
{
	uint64_t	file_bytes = pieces->options.ahead.file_bytes;
	bool		is_rest = pieces->next_offset >= file_bytes;
	PieceEntry	   *entry = entry_of(pieces, pieces->nbegun);
	CsvPiece   *piece = &entry->piece;

	/* what the last piece has left is parsed when it has joined */
	if (pieces->is_last || pieces->is_wound_up || pieces->ended ||
		pieces->nbegun - pieces->ntaken >= CSV_BATCH_SLOTS - 1 ||
		(is_rest && pieces->nchained < pieces->nbegun) ||
		(pieces->nfree == 0 && pieces->nhands == pieces->most_hands))
		return false;
	memset(entry, 0, sizeof(*entry));
	entry->state = BUSY;
	piece->is_first = pieces->nbegun == 0 || is_rest;
	piece->from = piece->is_first ? pieces->chain.offset : pieces->next_offset;
	piece->to = piece->from + pieces->next_bytes;
	if (piece->to >= file_bytes)
	{
		piece->to = file_bytes;
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
	*begun = entry;
	return true;
}

static void
parse_piece(CsvPieces *pieces, PieceEntry *entry)
{
	CsvPiece   *piece = &entry->piece;
	Hand	   *hand = entry->hand;
	CsvStatus	status = CSV_OK;
	double		seconds;

	pthread_mutex_unlock(&pieces->mutex);
	if (hand->engine == NULL && !make_hand(pieces, hand))
		status = CSV_NO_MEMORY;
	/* the second time it is known where it begins */
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
		status = csv_piece_parse(hand->reader, &entry->place, piece->end,
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
	pthread_mutex_unlock(&pieces->mutex);
	looked_at = hook.function(hook.arg, thread,
							  (uint32_t) (entry - pieces->entries),
							  &entry->batch, is_stopping, pieces);
	pthread_mutex_lock(&pieces->mutex);
	entry->state = DONE;
	if (!looked_at)
		let_go(pieces, &entry->hand);
}

/* parse it, and see what becomes of it while it is in this processor's caches */
static void
work_on(CsvPieces *pieces, uint32_t thread, PieceEntry *entry)
{
	uint64_t	nchained = pieces->nchained;

	parse_piece(pieces, entry);
	advance_chain(pieces);
	if (pieces->nchained > nchained + 1)
		pthread_cond_broadcast(&pieces->for_threads);
	if (entry->state == CHAINED)
		call_hook(pieces, thread, entry);
}

/* do what there is to be done; false: nothing */
static bool
do_work(CsvPieces *pieces, uint32_t thread)
{
	PieceEntry	   *entry = entry_of(pieces, pieces->nchained);

	if (pieces->nchained < pieces->nbegun && entry->state == WRONG)
	{
		entry->state = BUSY;
		entry->is_exact = true;
		entry->begin = pieces->chain;
		work_on(pieces, thread, entry);
		return true;
	}
	for (uint64_t i = pieces->ntaken; i < pieces->nchained; i++)
		if (entry_of(pieces, i)->state == CHAINED)
		{
			call_hook(pieces, thread, entry_of(pieces, i));
			return true;
		}
	if (!begin_piece(pieces, &entry))
		return false;
	work_on(pieces, thread, entry);
	return true;
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
		if (do_work(pieces, thread))
			pthread_cond_signal(&pieces->for_consumer);
		else
			pthread_cond_wait(&pieces->for_threads, &pieces->mutex);
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

/* is there something to take, or nothing to come?  The mutex is held. */
static bool
is_ready(CsvPieces *pieces)
{
	return pieces->ntaken == pieces->nchained ? pieces->ended :
		entry_of(pieces, pieces->ntaken)->state == DONE;
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
		/* there is room for one more */
		let_go(pieces, &pieces->held);
		pthread_cond_signal(&pieces->for_threads);
		while (!is_ready(pieces))
		{
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
	double		seconds = 0;

	pthread_mutex_lock(&pieces->mutex);
	for (uint32_t i = 0; i < pieces->nhands; i++)
		seconds += pieces->read_seconds[i];
	pthread_mutex_unlock(&pieces->mutex);
	return seconds;
}

/* ---- start and stop ---- */

CsvPieces *
csv_pieces_start(const CsvPiecesOptions *options)
{
	const CsvMemory *memory = &options->memory;
	CsvPieces  *pieces = memory->alloc(memory->owner, sizeof(CsvPieces));
	uint32_t	wanted = options->nthreads < CSV_MAX_THREADS ?
		options->nthreads : CSV_MAX_THREADS;
	pthread_condattr_t monotonic;
	sigset_t	all;
	sigset_t	before;

	if (pieces == NULL)
		return NULL;
	memset(pieces, 0, sizeof(*pieces));
	pieces->options = *options;
	pieces->chain = options->place;
	pieces->next_offset = options->place.offset;
	pieces->next_bytes = options->piece_bytes;
	pieces->most_hands = HANDS_FOR(wanted);
	atomic_init(&pieces->stop, false);
	pthread_mutex_init(&pieces->mutex, NULL);
	pthread_cond_init(&pieces->for_threads, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&pieces->for_consumer, &monotonic);
	pthread_condattr_destroy(&monotonic);

	/* a new thread starts with the mask of the one that makes it */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (pieces->nthreads < wanted &&
		   pthread_create(&pieces->threads[pieces->nthreads], NULL,
						  run_thread, pieces) == 0)
		pieces->nthreads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
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
	pthread_mutex_unlock(&pieces->mutex);
	for (uint32_t i = 0; i < pieces->nthreads; i++)
		pthread_join(pieces->threads[i], NULL);
	for (uint32_t i = 0; i < pieces->nhands; i++)
		close_hand(pieces, &pieces->hands[i]);
	pthread_cond_destroy(&pieces->for_threads);
	pthread_cond_destroy(&pieces->for_consumer);
	pthread_mutex_destroy(&pieces->mutex);
	memory.free(memory.owner, pieces);
}
