/*
 * ahead.c
 *		A compressed file that threads decompress before it is read.
 *
 * Each thread makes a cut of the file (frames.c), which begins where the last cut
 * ended, and decompresses it.  The result is a piece.
 *
 * If the end of a cut is not known, the thread finds it when it has decompressed so far.
 * Meanwhile another thread searches a gzip file for the next member, and begins a piece
 * there.  If the bytes that it found are not the beginning of a member, the piece before
 * them ends elsewhere.  Then the reader starts all threads again from that piece's end.
 * So a file of one large member is decompressed by one thread.
 *
 *	1. pieces	a ring, in the order of the file
 *	2. slots	hold decompressed bytes, and belong to a piece; their number is
 *				fixed, and the piece that is read next always gets one
 *	3. reader	takes the slots of the first piece, then of the next
 *
 * A mutex protects all of this, except the contents of slots, the cutter and open
 * codecs.  A thread owns these while it works; the reader owns full slots.
 *
 * The threads use neither PostgreSQL nor its memory, and are never interrupted: they
 * block all signals.  Errors in a file are not reported by threads: a thread stops at
 * the piece with the error, and the reader decompresses the piece again.
 *
 * If an LZ4 frame is cut into blocks, the reader checks the frame's checksum.
 */
#include "postgres.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/wait_event.h"

#include "reader/clock.h"
#include "reader/thread.h"
#include "table/ahead.h"
#include "table/codec.h"
#include "table/frames.h"
#include "table/interrupts.h"

/* slots of the first thread, so that thread and reader need not wait for each other */
#define SLOT_BYTES	(1024 * 1024)
#define NSLOTS		4

/* slots of each other thread; a thread whose piece needs more must wait */
#define NSLOTS_OF_THREAD	16

/* slots that are left for the piece that is read */
#define NSLOTS_KEPT	3

/* pieces for each thread that may wait to be read */
#define NPIECES_OF_THREAD	4

/* compressed bytes that are searched for the member behind an open cut */
#define SEARCHED_BYTES	(16 * 1024 * 1024)

#define MAX_PIECES	(NPIECES_OF_THREAD * CSV_AHEAD_MAX_THREADS)

typedef struct AheadSlot
{
	struct AheadSlot *next;
	size_t		nbytes;
	uint8_t		bytes[SLOT_BYTES];
} AheadSlot;

typedef enum PieceState
{
	PIECE_RUNNING,
	PIECE_DONE,
	PIECE_FAILED
} PieceState;

typedef struct Piece
{
	PieceState	state;
	CsvCut		cut;
	uint64_t	end;			/* DONE: where it ends */
	bool		at_end;			/* DONE, and nothing follows */
	AheadSlot  *first;			/* full slots */
	AheadSlot **last;			/* where the next full slot is linked */
} Piece;

/* a thread and its own data */
typedef struct Worker
{
	struct CsvAhead *ahead;
	pthread_t	thread;
	CsvCodec   *codec;			/* NULL: none is open */
	uint64_t	offset;			/* in the file, of the byte at `position` */
	size_t		position;		/* input not consumed yet */
	size_t		ninput;
	bool		at_end;			/* no more input will come */
	uint8_t		input[CSV_CUT_BYTES];
} Worker;

struct CsvAhead
{
	int			nworkers;
	Worker	   *workers[CSV_AHEAD_MAX_THREADS];
	pthread_mutex_t mutex;
	pthread_cond_t for_workers; /* a piece can be begun */
	pthread_cond_t for_slots;	/* a slot is free */
	pthread_cond_t for_reader;
	atomic_bool stopping;

	/* piece number n is pieces[n % MAX_PIECES] */
	Piece		pieces[MAX_PIECES];
	uint64_t	nbegun;
	uint64_t	nread;
	CsvCutter	cutter;
	bool		is_cutting;		/* a thread has the cutter */
	uint64_t	searched;		/* behind an open cut: search from here on */
	bool		is_over;		/* no more pieces are wanted */
	AheadSlot  *free_slots;
	int			nfree;			/* free slots, with slots not allocated yet */

	/* for the reader only */
	size_t		position;		/* in the current slot */
	uint64_t	skip;			/* bytes still to leave out */
	uint64_t	nbytes;			/* read from the first piece, or from its frame, with
								 * left-out bytes */
	bool		is_checking;	/* the checker is within a frame */
	CsvCodec   *checker;		/* NULL: none is open */
};

static Piece *
piece_at(CsvAhead *ahead, uint64_t number)
{
	return &ahead->pieces[number % MAX_PIECES];
}

/* the piece that is read next, which may not have been begun */
static Piece *
first_piece(CsvAhead *ahead)
{
	return piece_at(ahead, ahead->nread);
}

/* ---- slots: caller must hold the mutex ---- */

/* is a slot free for a piece?  A single thread need not leave any. */
static bool
has_slot(CsvAhead *ahead, const Piece *piece)
{
	return ahead->nfree > (piece == first_piece(ahead) || ahead->nworkers == 1 ?
						   0 : NSLOTS_KEPT);
}

/* takes a free slot; NULL if there is no memory */
static AheadSlot *
take_slot(CsvAhead *ahead)
{
	AheadSlot  *slot = ahead->free_slots;

	if (slot != NULL)
		ahead->free_slots = slot->next;
	else
		slot = malloc(sizeof(AheadSlot));
	if (slot != NULL)
	{
		ahead->nfree--;
		slot->next = NULL;
		slot->nbytes = 0;
	}
	return slot;
}

static void
free_slot(CsvAhead *ahead, AheadSlot *slot)
{
	slot->next = ahead->free_slots;
	ahead->free_slots = slot;
	ahead->nfree++;
	pthread_cond_broadcast(&ahead->for_slots);
}

/* ---- the threads: one piece ---- */

/*
 * Gives a full slot, if there is one, to its piece.  If `more`, takes another slot; it
 * is NULL if there is no memory, or if the threads must stop.
 */
static void
exchange_slot(CsvAhead *ahead, Piece *piece, AheadSlot **slot, bool more)
{
	AheadSlot  *full = *slot;

	*slot = NULL;
	pthread_mutex_lock(&ahead->mutex);
	if (full != NULL && full->nbytes == 0)
		free_slot(ahead, full);
	else if (full != NULL)
	{
		*piece->last = full;
		piece->last = &full->next;
		if (piece == first_piece(ahead))
			pthread_cond_signal(&ahead->for_reader);
	}
	while (more && !ahead->stopping && !has_slot(ahead, piece))
		pthread_cond_wait(&ahead->for_slots, &ahead->mutex);
	if (more && !ahead->stopping)
		*slot = take_slot(ahead);
	pthread_mutex_unlock(&ahead->mutex);
}

/* false on error */
static bool
read_input(Worker *worker, const CsvCut *cut)
{
	size_t		nbytes = sizeof(worker->input);
	ssize_t		nread;

	worker->position = 0;
	if (cut->kind == CSV_CUT_BLOCKS)
		nbytes = Min(nbytes, cut->end - worker->offset);
	if (nbytes == 0)
	{
		/* an end mark, as if the frame ended behind the blocks */
		worker->ninput = sizeof(uint32);
		memset(worker->input, 0, worker->ninput);
		return true;
	}
	do
		nread = pread(worker->ahead->cutter.fd, worker->input, nbytes,
					  (off_t) worker->offset);
	while (nread < 0 && errno == EINTR);
	worker->ninput = Max(nread, 0);
	worker->at_end = nread == 0;
	return nread >= 0;
}

/* Decompresses a cut.  Returns false on failure, or if the threads must stop. */
static bool
decompress(Worker *worker, Piece *piece, AheadSlot **slot)
{
	const CsvCut *cut = &piece->cut;
	bool		between = true;

	worker->position = 0;
	worker->ninput = cut->kind == CSV_CUT_BLOCKS ? cut->head.nbytes : 0;
	worker->offset = cut->start - worker->ninput;
	memcpy(worker->input, cut->head.bytes, worker->ninput);
	worker->at_end = false;
	while (!between || worker->offset < cut->end)
	{
		CsvDecoded	step;

		if (worker->position == worker->ninput && !worker->at_end &&
			(worker->ahead->stopping || !read_input(worker, cut)))
			return false;
		if (between && worker->at_end)
			return true;
		if (*slot == NULL || (*slot)->nbytes == SLOT_BYTES)
			exchange_slot(worker->ahead, piece, slot, true);
		if (*slot == NULL)
			return false;

		/* call it even at the end of input: the library may hold output back */
		csv_codec_step(worker->codec, worker->input + worker->position,
					   worker->ninput - worker->position,
					   (*slot)->bytes + (*slot)->nbytes,
					   SLOT_BYTES - (*slot)->nbytes, &step);
		if (step.failure != NULL ||
			(step.produced == 0 && worker->at_end && !step.complete))
			return false;
		worker->position += step.consumed;
		worker->offset += step.consumed;
		between = step.complete;
		(*slot)->nbytes += step.produced;
	}
	return true;
}

/*
 * Makes a piece of a cut.  A zstd frame in an open cut may need a large window, so the
 * codec is closed afterwards: there is one such codec at a time.
 */
static bool
make_piece(Worker *worker, Piece *piece)
{
	CsvAhead   *ahead = worker->ahead;
	AheadSlot  *slot = NULL;
	bool		done;

	if (piece->cut.kind == CSV_CUT_DAMAGED)
		return false;
	if (worker->codec == NULL)
		worker->codec = csv_codec_open(ahead->cutter.compression, true);
	else
		csv_codec_restart(worker->codec);
	done = worker->codec != NULL && decompress(worker, piece, &slot);
	exchange_slot(ahead, piece, &slot, false);
	if (piece->cut.kind == CSV_CUT_OPEN && ahead->nworkers > 1 &&
		ahead->cutter.compression == CSV_COMPRESSION_ZSTD)
	{
		csv_codec_close(worker->codec);
		worker->codec = NULL;
	}
	return done;
}

/* ---- the threads: what to do next; caller must hold the mutex ---- */

/* is this the last piece? */
static bool
is_last(CsvAhead *ahead, const Piece *piece)
{
	return piece == piece_at(ahead, ahead->nbegun - 1);
}

/* does the end of the last piece tell where the next piece begins? */
static bool
is_open(CsvAhead *ahead)
{
	const Piece *last = piece_at(ahead, ahead->nbegun - 1);

	return ahead->nbegun > 0 && last->cut.kind == CSV_CUT_OPEN &&
		last->state == PIECE_RUNNING;
}

/* may a thread begin a piece, or search for its beginning? */
static bool
may_begin(CsvAhead *ahead)
{
	if (ahead->is_cutting || ahead->is_over ||
		ahead->nbegun - ahead->nread >= NPIECES_OF_THREAD * ahead->nworkers)
		return false;
	return !is_open(ahead) ||
		(ahead->cutter.compression == CSV_COMPRESSION_GZIP &&
		 ahead->searched < piece_at(ahead, ahead->nbegun - 1)->cut.start + SEARCHED_BYTES);
}

/* wakes one thread if a piece can be begun; that thread wakes the next */
static void
call_another(CsvAhead *ahead)
{
	if (may_begin(ahead))
		pthread_cond_signal(&ahead->for_workers);
}

/* false: no member was found, or the last piece has ended meanwhile */
static bool
search(Worker *worker, CsvCut *cut)
{
	CsvAhead   *ahead = worker->ahead;
	uint64_t	offset = ahead->searched;
	bool		found;

	pthread_mutex_unlock(&ahead->mutex);
	found = csv_find_member(&ahead->cutter, &offset, worker->input,
							sizeof(worker->input));
	pthread_mutex_lock(&ahead->mutex);
	ahead->searched = offset;
	csv_cut_open(cut, offset);
	return found && is_open(ahead);
}

/* begins the next piece; NULL: that cannot be done yet */
static Piece *
begin_piece(Worker *worker)
{
	CsvAhead   *ahead = worker->ahead;
	Piece	   *piece = piece_at(ahead, ahead->nbegun);
	bool		begun = true;

	ahead->is_cutting = true;
	if (is_open(ahead))
		begun = search(worker, &piece->cut);
	else
	{
		pthread_mutex_unlock(&ahead->mutex);
		csv_cut(&ahead->cutter, &piece->cut);
		pthread_mutex_lock(&ahead->mutex);
	}
	ahead->is_cutting = false;
	if (begun)
	{
		piece->state = PIECE_RUNNING;
		piece->at_end = false;
		piece->first = NULL;
		piece->last = &piece->first;
		ahead->nbegun++;
		ahead->searched = piece->cut.end;
		ahead->is_over |= piece->cut.kind == CSV_CUT_DAMAGED;
	}
	call_another(ahead);
	return begun ? piece : NULL;
}

static void
end_piece(Worker *worker, Piece *piece, bool done)
{
	CsvAhead   *ahead = worker->ahead;

	piece->state = done ? PIECE_DONE : PIECE_FAILED;
	piece->end = worker->offset;
	piece->at_end = done && worker->at_end;
	ahead->is_over |= !done || piece->at_end;
	if (piece->cut.kind == CSV_CUT_OPEN && is_last(ahead, piece))
	{
		ahead->cutter.offset = piece->end;
		call_another(ahead);
	}
	pthread_cond_signal(&ahead->for_reader);
}

/* a thread's main function */
static void *
run(void *arg)
{
	Worker	   *worker = arg;
	CsvAhead   *ahead = worker->ahead;

	pthread_mutex_lock(&ahead->mutex);
	while (!ahead->stopping)
	{
		Piece	   *piece;
		bool		done;

		if (!may_begin(ahead))
			pthread_cond_wait(&ahead->for_workers, &ahead->mutex);
		else if ((piece = begin_piece(worker)) != NULL)
		{
			pthread_mutex_unlock(&ahead->mutex);
			done = make_piece(worker, piece);
			pthread_mutex_lock(&ahead->mutex);
			end_piece(worker, piece, done);
		}
	}
	pthread_mutex_unlock(&ahead->mutex);
	return NULL;
}

/* ---- start and stop ---- */

static void
free_slots(AheadSlot *slot)
{
	while (slot != NULL)
	{
		AheadSlot  *next = slot->next;

		free(slot);
		slot = next;
	}
}

/* no thread has been started, or all have ended */
static void
destroy(CsvAhead *ahead)
{
	for (; ahead->nread < ahead->nbegun; ahead->nread++)
		free_slots(first_piece(ahead)->first);
	free_slots(ahead->free_slots);
	csv_codec_close(ahead->checker);
	pthread_cond_destroy(&ahead->for_workers);
	pthread_cond_destroy(&ahead->for_slots);
	pthread_cond_destroy(&ahead->for_reader);
	pthread_mutex_destroy(&ahead->mutex);
	free(ahead);
}

/* false if there is no thread or no memory; caller must hold the mutex */
static bool
start_worker(CsvAhead *ahead)
{
	Worker	   *worker = malloc(sizeof(Worker));

	if (worker == NULL)
		return false;
	worker->ahead = ahead;
	worker->codec = NULL;
	if (!csv_thread_start(&worker->thread, run, worker))
	{
		free(worker);
		return false;
	}
	ahead->nfree += ahead->nworkers == 0 ? NSLOTS : NSLOTS_OF_THREAD;
	ahead->workers[ahead->nworkers++] = worker;
	return true;
}

CsvAhead *
csv_ahead_start(int fd, CsvCompression compression, int nthreads,
				uint64_t start, uint64_t skip)
{
	CsvAhead   *ahead = calloc(1, sizeof(CsvAhead));

	if (ahead == NULL)
		return NULL;
	ahead->cutter.fd = fd;
	ahead->cutter.compression = compression;
	ahead->cutter.offset = start;
	ahead->skip = skip;
	pthread_mutex_init(&ahead->mutex, NULL);
	pthread_cond_init(&ahead->for_workers, NULL);
	pthread_cond_init(&ahead->for_slots, NULL);
	csv_nap_init(&ahead->for_reader);

	/* no thread proceeds before all are started */
	pthread_mutex_lock(&ahead->mutex);
	while (ahead->nworkers < Min(nthreads, CSV_AHEAD_MAX_THREADS) &&
		   start_worker(ahead))
		;
	pthread_mutex_unlock(&ahead->mutex);
	if (ahead->nworkers > 0)
		return ahead;
	destroy(ahead);
	return NULL;
}

void
csv_ahead_stop(CsvAhead *ahead)
{
	pthread_mutex_lock(&ahead->mutex);
	ahead->stopping = true;
	pthread_cond_broadcast(&ahead->for_workers);
	pthread_cond_broadcast(&ahead->for_slots);
	pthread_mutex_unlock(&ahead->mutex);
	for (int i = 0; i < ahead->nworkers; i++)
	{
		csv_thread_join(ahead->workers[i]->thread);
		csv_codec_close(ahead->workers[i]->codec);
		free(ahead->workers[i]);
	}
	destroy(ahead);
}

/* ---- the reader ---- */

/*
 * Passes bytes through the checker.  Returns false if it finds an error, or there is no
 * memory.
 */
static bool
check(CsvAhead *ahead, const uint8_t *input, size_t ninput, uint8_t *output,
	  size_t noutput)
{
	CsvDecoded	step = {.consumed = ninput};

	while (ninput > 0 && step.failure == NULL && step.consumed > 0)
	{
		csv_codec_step(ahead->checker, input, ninput, output, noutput, &step);
		input += step.consumed;
		ninput -= step.consumed;
		output += step.produced;
		noutput -= step.produced;
	}
	return ninput == 0 && step.failure == NULL;
}

/* begins to check the frame that the blocks are in, unless that is done */
static bool
begin_check(CsvAhead *ahead, const CsvCut *blocks)
{
	uint8_t		none;

	if (ahead->is_checking)
		return true;
	if (ahead->checker == NULL)
		ahead->checker = csv_codec_open(CSV_COMPRESSION_LZ4, true);
	if (ahead->checker == NULL)
		return false;
	csv_codec_restart(ahead->checker);
	ahead->is_checking = true;
	return check(ahead, blocks->check_head.bytes, blocks->check_head.nbytes,
				 &none, 0);
}

/* a whole slot is a block that is not compressed */
static bool
begin_slot(CsvAhead *ahead, const CsvCut *blocks, const AheadSlot *slot)
{
	uint32_t	header = pg_hton32(pg_bswap32((uint32_t) slot->nbytes |
											  CSV_LZ4_UNCOMPRESSED));
	uint8_t		none;

	return begin_check(ahead, blocks) &&
		check(ahead, (uint8_t *) &header, sizeof(header), &none, 0);
}

/* copies bytes of the current slot; false if the checker finds an error */
static bool
copy(CsvAhead *ahead, const AheadSlot *slot, uint8_t *buffer, size_t nbytes)
{
	const CsvCut *cut = &first_piece(ahead)->cut;
	const uint8_t *bytes = slot->bytes + ahead->position;

	if (cut->kind == CSV_CUT_BLOCKS)
		return (ahead->position > 0 || begin_slot(ahead, cut, slot)) &&
			check(ahead, bytes, nbytes, buffer, nbytes);
	memcpy(buffer, bytes, nbytes);
	return true;
}

/* was the first piece made and read?  Caller must hold the mutex. */
static bool
is_read(CsvAhead *ahead)
{
	const Piece *piece = first_piece(ahead);

	return ahead->nread < ahead->nbegun && piece->state == PIECE_DONE &&
		piece->first == NULL;
}

/* does the next piece begin elsewhere than the first ends?  Caller must hold the mutex. */
static bool
is_lost(CsvAhead *ahead)
{
	const Piece *piece = first_piece(ahead);
	const Piece *next = piece_at(ahead, ahead->nread + 1);

	return ahead->nread + 1 < ahead->nbegun &&
		piece->cut.kind != CSV_CUT_BLOCKS && next->cut.frame_start != piece->end;
}

/* the first piece was read, others may follow; caller must hold the mutex */
static void
go_to_next_piece(CsvAhead *ahead)
{
	Piece	   *piece = first_piece(ahead);
	const CsvCut *cut = &piece->cut;
	uint8_t		none;

	if (cut->ntail > 0 &&
		!(begin_check(ahead, cut) &&
		  check(ahead, cut->tail, cut->ntail, &none, 0)))
	{
		piece->state = PIECE_FAILED;
		return;
	}
	if (cut->kind != CSV_CUT_BLOCKS || cut->ntail > 0)
	{
		ahead->nbytes = 0;
		ahead->is_checking = false;
	}
	ahead->nread++;
	pthread_cond_broadcast(&ahead->for_slots);
	call_another(ahead);
}

/*
 * Returns the slot to read.  If it is not there yet, waits a moment for it, and returns
 * NULL; if the threads can do no more, *at_end is set.
 */
static AheadSlot *
wait_for_slot(CsvAhead *ahead, bool *at_end)
{
	AheadSlot  *slot = NULL;
	Piece	   *piece;

	pthread_mutex_lock(&ahead->mutex);
	while (is_read(ahead) && !first_piece(ahead)->at_end && !is_lost(ahead))
		go_to_next_piece(ahead);
	if (ahead->nread < ahead->nbegun)
	{
		piece = first_piece(ahead);
		slot = piece->first;
		*at_end = slot == NULL && piece->state != PIECE_RUNNING;
	}
	if (slot == NULL && !*at_end)
	{
		pgstat_report_wait_start(WAIT_EVENT_COPY_FILE_READ);
		csv_nap(&ahead->for_reader, &ahead->mutex);
		pgstat_report_wait_end();
	}
	pthread_mutex_unlock(&ahead->mutex);
	return slot;
}

/* the current slot has been read to its end */
static void
let_go(CsvAhead *ahead)
{
	Piece	   *piece = first_piece(ahead);
	AheadSlot  *slot = piece->first;

	ahead->position = 0;
	pthread_mutex_lock(&ahead->mutex);
	piece->first = slot->next;
	if (piece->first == NULL)
		piece->last = &piece->first;
	free_slot(ahead, slot);
	pthread_mutex_unlock(&ahead->mutex);
}

size_t
csv_ahead_read(CsvAhead *ahead, uint8_t *buffer, size_t nbytes)
{
	size_t		ncopied = 0;
	bool		at_end = false;

	while (ncopied == 0 && !at_end)
	{
		const AheadSlot *slot;

		csv_check_interrupts();
		slot = wait_for_slot(ahead, &at_end);
		if (slot == NULL)
			continue;
		ncopied = Min(nbytes, slot->nbytes - ahead->position);
		if (ahead->skip > 0)
			ncopied = Min(ncopied, ahead->skip);
		if (!copy(ahead, slot, buffer, ncopied))
			return 0;
		ahead->nbytes += ncopied;
		ahead->position += ncopied;
		if (ahead->position == slot->nbytes)
			let_go(ahead);
		if (ahead->skip > 0)
		{
			ahead->skip -= ncopied;
			ncopied = 0;
		}
	}
	return ncopied;
}

bool
csv_ahead_left(CsvAhead *ahead, uint64_t *start, uint64_t *skip)
{
	const Piece *piece = first_piece(ahead);

	*skip = ahead->skip;
	if (piece->state == PIECE_DONE)
	{
		*start = piece->end;
		return !piece->at_end;
	}
	*start = piece->cut.frame_start;
	*skip += ahead->nbytes;
	return false;
}
