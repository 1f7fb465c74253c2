/*
 * ahead.c
 *		A compressed file that threads decompress ahead of whoever reads it.
 *
 * Nothing in a file says where its second member or frame begins, but what it
 * begins with.  So the compressed bytes are cut into zones.  A thread looks in a
 * zone for the first place that may be the beginning of a member or frame, and
 * decompresses from there on, up to the first beginning that is not in the zone
 * any more.  What it has made is a piece.
 *
 * Where a piece ends, the next one begins, if the first one began rightly.  So
 * the pieces are confirmed in order, beginning with one whose beginning is known
 * (advance()).  What was guessed at other places was no beginning, and is thrown
 * away; where there is no guess, a piece is made from there on.  So a file that
 * is one large member is one piece, which one thread makes, while the others
 * look ahead of it in vain.
 *
 * A frame of LZ4 whose blocks are independent is cut into pieces, too: the blocks
 * are found by their sizes, so nothing is guessed.  Its checksum is computed by
 * the reader.
 *
 *	1. pieces	a list in the order of the file: confirmed ones, then guesses
 *	2. slots	what is made goes into slots, which belong to a piece; of all there
 *				are a fixed number, and the piece that is read next always gets one
 *	3. reader	takes the slots of the first piece, then of the next
 *
 * A mutex guards all of it, but for what is in a slot or an open codec: these are
 * a thread's while it works on the piece, and the reader's when they are full.
 *
 * The threads know neither PostgreSQL nor its memory, and are never interrupted:
 * they block all signals.  What is wrong with a file is not for them to say: they
 * stop at the piece in which it is, and the reader decompresses that anew.
 */
#include "postgres.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "miscadmin.h"
#include "utils/wait_event.h"

#include "reader/clock.h"
#include "reader/thread.h"
#include "table/ahead.h"
#include "table/codec.h"
#include "table/lz4_frame.h"
#include "table/interrupts.h"

/* compressed bytes: some make a slot */
#define ZONE_BYTES	(256 * 1024)

/* what beginnings are told by may go beyond a zone */
#define MAGIC_BYTES	4

/* enough for either side to go on while the other one is not running */
#define SLOT_BYTES	(1024 * 1024)
#define NSLOTS		4

/* of each thread but the first; members that make more are waited for */
#define NSLOTS_OF_THREAD	16

/* that guesses leave to the piece that is read */
#define NSLOTS_KEPT	3

/* pieces for each thread that may wait to be confirmed or read */
#define NPIECES_OF_THREAD	4

/* how far ahead of what is confirmed a thread looks, in zones */
#define NZONES_OF_THREAD	24

typedef struct AheadSlot
{
	struct AheadSlot *next;
	size_t		nbytes;
	uint8_t		bytes[SLOT_BYTES];
} AheadSlot;

typedef enum PieceState
{
	PIECE_WANTED,				/* no thread has it */
	PIECE_RUNNING,
	PIECE_DONE,					/* ended at a beginning, or with the file */
	PIECE_FAILED
} PieceState;

typedef enum PieceKind
{
	PIECE_WHOLE,				/* members or frames */
	PIECE_FRAME_BEGIN,			/* the header of a frame, not made */
	PIECE_BLOCKS,				/* some of the frame */
	PIECE_FRAME_END				/* its checksum, not made */
} PieceKind;

typedef struct Piece
{
	struct Piece *next;
	PieceKind	kind;
	PieceState	state;
	bool		confirmed;
	bool		dropped;		/* not in the list any more, and RUNNING */
	uint64		start;			/* offsets in the file */
	uint64		end;			/* so far; of a DONE one where the next begins */
	bool		at_end;			/* DONE, and nothing comes behind */
	bool		was_given;		/* some of it to the reader, or into slots */
	uint64		until;			/* of BLOCKS: where they end */
	bool		has_checksum;	/* of FRAME_END: does the frame have it */
	uint32		checksum;
	uint64		content_bytes;	/* 0: the frame does not say */
	AheadSlot  *first;			/* full ones */
	AheadSlot  *last;
} Piece;

/* a thread and what is its own */
typedef struct Worker
{
	struct CsvAhead *ahead;
	pthread_t	thread;
	CsvCodec   *codec;			/* NULL: none is open */
	bool		small;			/* its kind is CSV_CODEC_FAST_SMALL */
	uint64		offset;			/* of the byte at `position` in the file */
	size_t		position;		/* input not consumed yet */
	size_t		ninput;
	bool		at_end;			/* no more input will come */
	uint8_t		input[ZONE_BYTES + MAGIC_BYTES];
} Worker;

struct CsvAhead
{
	int			fd;
	CsvCompression compression;
	int			nworkers;
	Worker	   *workers[CSV_AHEAD_MAX_THREADS];
	pthread_mutex_t mutex;
	pthread_cond_t for_workers; /* a piece may be begun */
	pthread_cond_t for_slots;	/* one is free, or the piece is not wanted */
	pthread_cond_t for_reader;
	bool		stopping;

	Piece	   *pieces;			/* never NULL */
	Piece	   *tail;			/* the last one that is confirmed */
	int			npieces;
	bool		in_frame;		/* pieces are cut from a frame ... */
	bool		is_walking;		/* ... by some thread just now, */
	CsvLz4Frame frame;			/* whose these are then */
	uint64		next_zone;		/* that nobody has looked into */
	uint64		nzones;			/* as far as the file was seen to go */
	AheadSlot  *free_slots;
	int			nfree;			/* of these, and of those not allocated yet */

	/* the reader's */
	size_t		position;		/* in the slot at hand */
	uint64		skip;			/* bytes to leave out */
	uint64		nread;			/* of the first piece, or of the frame that it is
								 * of, with what was left out */
	bool		reads_frame;	/* it is of one, ... */
	uint64		frame_start;	/* ... which begins there */
	CsvXxh32	hash;			/* of what was read of it */
};

/* ---- slots and pieces: with the mutex ---- */

/* is a slot free for a piece?  One thread alone waits for nobody's. */
static bool
has_slot(const CsvAhead *ahead, const Piece *piece)
{
	return ahead->nfree > (piece == ahead->pieces || ahead->nworkers == 1 ? 0 :
						   NSLOTS_KEPT);
}

/* one that is free, or NULL: no memory */
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

/* of what a piece has in slots */
static void
free_slots(CsvAhead *ahead, Piece *piece)
{
	while (piece->first != NULL)
	{
		AheadSlot  *slot = piece->first;

		piece->first = slot->next;
		free_slot(ahead, slot);
	}
}

static void
free_piece(CsvAhead *ahead, Piece *piece)
{
	free_slots(ahead, piece);
	free(piece);
}

/* a piece, put behind another one, or NULL: no memory */
static Piece *
add_piece(CsvAhead *ahead, Piece *behind, PieceState state, uint64 start)
{
	Piece	   *piece = calloc(1, sizeof(Piece));
	Piece	  **link = behind != NULL ? &behind->next : &ahead->pieces;

	if (piece == NULL)
		return NULL;
	piece->state = state;
	piece->start = piece->end = start;
	piece->next = *link;
	*link = piece;
	ahead->npieces++;
	return piece;
}

/* take a piece out of the list; `behind` is the one before it */
static void
remove_piece(CsvAhead *ahead, Piece *behind)
{
	Piece	  **link = behind != NULL ? &behind->next : &ahead->pieces;
	Piece	   *piece = *link;

	*link = piece->next;
	ahead->npieces--;
	if (piece->state == PIECE_RUNNING)
		piece->dropped = true;	/* its thread will free it */
	else
		free_piece(ahead, piece);
	pthread_cond_broadcast(&ahead->for_slots);
}

static uint64
zone_of(uint64 offset)
{
	return offset / ZONE_BYTES;
}

/* confirm what follows from where the last confirmed piece has ended */
static void
advance(CsvAhead *ahead)
{
	while (ahead->tail->state == PIECE_DONE && !ahead->tail->at_end &&
		   !ahead->in_frame)
	{
		Piece	   *tail = ahead->tail;
		Piece	   *next;

		while ((next = tail->next) != NULL &&
			   (next->start < tail->end ||
				(next->start == tail->end && next->state == PIECE_FAILED) ||
				(next->start > tail->end &&
				 zone_of(next->start) == zone_of(tail->end))))
			remove_piece(ahead, tail);
		if (next == NULL || next->start != tail->end)
			next = add_piece(ahead, tail, PIECE_WANTED, tail->end);
		if (next == NULL)
		{
			tail->state = PIECE_FAILED; /* for want of memory */
			break;
		}
		next->confirmed = true;
		ahead->tail = next;
		if (ahead->next_zone <= zone_of(next->start))
			ahead->next_zone = zone_of(next->start) + 1;
	}
	pthread_cond_signal(&ahead->for_reader);
}

/* ---- the threads: input ---- */

/* up to nbytes bytes at an offset; -1 at an error */
static ssize_t
read_at(int fd, uint8_t *buffer, size_t nbytes, uint64 offset)
{
	ssize_t		nread;

	do
		nread = pread(fd, buffer, nbytes, (off_t) offset);
	while (nread < 0 && errno == EINTR);
	return nread;
}

/* what a member or frame begins with: `bytes`, as far as `mask` says */
typedef struct Magic
{
	CsvCompression compression;
	uint8_t		bytes[MAGIC_BYTES];
	uint8_t		mask[MAGIC_BYTES];
	int			rare;			/* the byte to look for */
} Magic;

static const Magic magics[] = {
	/* deflate, and no reserved flag */
	{CSV_COMPRESSION_GZIP, {0x1f, 0x8b, 8, 0}, {0xff, 0xff, 0xff, 0xe0}, 1},
	{CSV_COMPRESSION_ZSTD, {0x28, 0xb5, 0x2f, 0xfd}, {0xff, 0xff, 0xff, 0xff}, 1},
	{CSV_COMPRESSION_LZ4, {0x04, 0x22, 0x4d, 0x18}, {0xff, 0xff, 0xff, 0xff}, 2},
	/* frames to be skipped */
	{CSV_COMPRESSION_ZSTD, {0x50, 0x2a, 0x4d, 0x18}, {0xf0, 0xff, 0xff, 0xff}, 2},
	{CSV_COMPRESSION_LZ4, {0x50, 0x2a, 0x4d, 0x18}, {0xf0, 0xff, 0xff, 0xff}, 2}
};

static bool
matches(const Magic *magic, const uint8_t *bytes)
{
	for (int i = 0; i < MAGIC_BYTES; i++)
		if ((bytes[i] & magic->mask[i]) != magic->bytes[i])
			return false;
	return true;
}

/* where this stands first within nbytes bytes; nbytes if it does not */
static size_t
find_magic(const Magic *magic, const uint8_t *bytes, size_t nbytes)
{
	size_t		at = 0;

	while (at + MAGIC_BYTES <= nbytes)
	{
		const uint8_t *rare = memchr(bytes + at + magic->rare,
									 magic->bytes[magic->rare],
									 nbytes - MAGIC_BYTES + 1 - at);

		if (rare == NULL)
			break;
		at = rare - magic->rare - bytes;
		if (matches(magic, bytes + at))
			return at;
		at++;
	}
	return nbytes;
}

/*
 * Read a zone, and go to the first place in it where a member or frame may
 * begin.  False if there is none.
 */
static bool
find_beginning(Worker *worker, uint64 zone)
{
	CsvAhead   *ahead = worker->ahead;
	ssize_t		nread = read_at(ahead->fd, worker->input, sizeof(worker->input),
								zone * ZONE_BYTES);

	worker->ninput = Max(nread, 0);
	worker->at_end = false;
	worker->position = worker->ninput;
	for (int i = 0; i < (int) lengthof(magics); i++)
		if (magics[i].compression == ahead->compression)
			worker->position = find_magic(&magics[i], worker->input,
										  worker->position);
	worker->offset = zone * ZONE_BYTES + worker->position;
	return worker->position < worker->ninput;
}

/* false at an error */
static bool
read_input(Worker *worker, const Piece *piece)
{
	size_t		nbytes = ZONE_BYTES;
	ssize_t		nread;

	worker->position = 0;
	if (piece->kind == PIECE_BLOCKS)
		nbytes = Min(nbytes, piece->until - worker->offset);
	if (nbytes == 0)
	{
		/* as if a frame ended behind the blocks */
		worker->ninput = sizeof(uint32);
		memset(worker->input, 0, worker->ninput);
		return true;
	}
	nread = read_at(worker->ahead->fd, worker->input, nbytes, worker->offset);
	worker->ninput = Max(nread, 0);
	worker->at_end = nread == 0;
	return nread >= 0;
}

/* ---- the threads: pieces ---- */

/*
 * Give a full slot to its piece, if there is one, and take another if `more` is
 * to come: NULL where there is no memory, or the piece is not wanted any more.
 */
static void
exchange_slot(Worker *worker, Piece *piece, AheadSlot **slot, bool more)
{
	CsvAhead   *ahead = worker->ahead;
	AheadSlot  *full = *slot;

	*slot = NULL;
	pthread_mutex_lock(&ahead->mutex);
	piece->end = worker->offset;
	if (full != NULL && full->nbytes == 0)
		free_slot(ahead, full);
	else if (full != NULL)
	{
		if (piece->first == NULL)
			piece->first = full;
		else
			piece->last->next = full;
		piece->last = full;
		piece->was_given = true;
		if (piece == ahead->pieces)
			pthread_cond_signal(&ahead->for_reader);
	}
	while (more && !ahead->stopping && !piece->dropped &&
		   !has_slot(ahead, piece))
		pthread_cond_wait(&ahead->for_slots, &ahead->mutex);
	if (more && !ahead->stopping && !piece->dropped)
		*slot = take_slot(ahead);
	pthread_mutex_unlock(&ahead->mutex);
}

/* is it so?  And where its thread is by now. */
static bool
is_wanted(Worker *worker, Piece *piece)
{
	CsvAhead   *ahead = worker->ahead;
	bool		wanted;

	pthread_mutex_lock(&ahead->mutex);
	piece->end = worker->offset;
	wanted = !ahead->stopping && !piece->dropped;
	pthread_mutex_unlock(&ahead->mutex);
	return wanted;
}

/*
 * A codec that begins anew.  Large windows are for pieces that are confirmed,
 * of which one is made at a time, and no longer than that.
 */
static bool
open_codec(Worker *worker, bool small)
{
	if (worker->codec != NULL && worker->small && small)
	{
		csv_codec_restart(worker->codec);
		return true;
	}
	csv_codec_close(worker->codec);
	worker->small = small;
	worker->codec = csv_codec_open(worker->ahead->compression,
								   small ? CSV_CODEC_FAST_SMALL :
								   CSV_CODEC_FAST);
	return worker->codec != NULL;
}

/*
 * Decompress from the piece's start to the first beginning behind its zone; some
 * input may be there already.  False if it cannot be done, or is not wanted any
 * more.
 */
static bool
decompress(Worker *worker, Piece *piece, AheadSlot **slot)
{
	uint64		until = piece->kind == PIECE_BLOCKS ? piece->until :
		(zone_of(piece->start) + 1) * ZONE_BYTES;
	bool		between = true;

	for (;;)
	{
		CsvDecoded	step;

		if (between && worker->offset >= until)
			return true;
		if (worker->position == worker->ninput && !worker->at_end &&
			(!is_wanted(worker, piece) || !read_input(worker, piece)))
			return false;
		if (between && worker->at_end)
			return true;
		if (*slot == NULL || (*slot)->nbytes == SLOT_BYTES)
			exchange_slot(worker, piece, slot, true);
		if (*slot == NULL)
			return false;

		/* also at the end of input: the library may hold output back */
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
}

/* make a piece that is this thread's */
static void
make_piece(Worker *worker, Piece *piece, bool small)
{
	CsvAhead   *ahead = worker->ahead;
	AheadSlot  *slot = NULL;
	bool		done = open_codec(worker, small) &&
		decompress(worker, piece, &slot);

	exchange_slot(worker, piece, &slot, false);
	if (!small && ahead->nworkers > 1)
	{
		csv_codec_close(worker->codec);
		worker->codec = NULL;
	}
	pthread_mutex_lock(&ahead->mutex);
	if (piece->dropped)
		free_piece(ahead, piece);
	else if (done)
	{
		piece->state = PIECE_DONE;
		if (piece->kind == PIECE_BLOCKS)
			piece->end = piece->until;
		piece->at_end = worker->at_end;
	}
	else if (piece->confirmed && small && !piece->was_given &&
			 piece->kind == PIECE_WHOLE)
		piece->state = PIECE_WANTED;	/* perhaps its window is large */
	else
	{
		piece->state = PIECE_FAILED;
		if (!piece->confirmed)
			free_slots(ahead, piece);
	}
	advance(ahead);
	pthread_mutex_unlock(&ahead->mutex);
}

/* then some have to be read before there are more */
static bool
has_many_pieces(const CsvAhead *ahead)
{
	return ahead->npieces > NPIECES_OF_THREAD * ahead->nworkers;
}

/* may a thread begin the piece that is confirmed?  With the mutex. */
static bool
may_begin(const CsvAhead *ahead)
{
	const Piece *piece = ahead->tail;

	return piece->state == PIECE_WANTED &&
		(piece == ahead->pieces || !has_many_pieces(ahead));
}

/* are no more pieces wanted? */
static bool
is_over(const CsvAhead *ahead)
{
	return ahead->tail->state == PIECE_FAILED || ahead->tail->at_end;
}

/* may a thread cut a piece from the frame?  With the mutex. */
static bool
may_cut(const CsvAhead *ahead)
{
	return ahead->in_frame && !ahead->is_walking && !is_over(ahead) &&
		(ahead->tail == ahead->pieces || !has_many_pieces(ahead));
}

/* may a thread look into the next zone?  With the mutex. */
static bool
may_look(CsvAhead *ahead)
{
	uint64		current;

	if (is_over(ahead) || ahead->in_frame || has_many_pieces(ahead))
		return false;
	current = zone_of(ahead->tail->end);
	if (ahead->next_zone <= current)
		ahead->next_zone = current + 1;
	return ahead->next_zone < ahead->nzones &&
		ahead->next_zone <= current + NZONES_OF_THREAD * ahead->nworkers;
}

/*
 * Wake a thread if there is something to begin, one: it wakes the next.  Whoever
 * takes something up calls this, and whoever makes room.  With the mutex.
 */
static void
call_another(CsvAhead *ahead)
{
	if (may_begin(ahead) || may_cut(ahead) || may_look(ahead))
		pthread_cond_signal(&ahead->for_workers);
}

/*
 * Begin with a piece that is confirmed and this thread's: false if it is a frame
 * that is to be cut into pieces.  A frame is, if it is larger than a zone.
 */
static bool
begin_piece(Worker *worker, Piece *piece)
{
	CsvAhead   *ahead = worker->ahead;
	CsvLz4Frame frame;
	uint64		end;
	uint32		checksum;
	bool		at_end;
	uint64		first_block;

	worker->offset = piece->start;
	worker->position = worker->ninput = 0;
	worker->at_end = false;
	if (ahead->compression != CSV_COMPRESSION_LZ4 || ahead->nworkers == 1 ||
		!csv_lz4_frame_open(&frame, ahead->fd, piece->start))
		return true;
	first_block = frame.next;
	if (!csv_lz4_frame_walk(&frame, ahead->fd, piece->start + ZONE_BYTES,
							&end, &at_end, &checksum) || at_end)
		return true;
	frame.next = first_block;

	pthread_mutex_lock(&ahead->mutex);
	ahead->in_frame = true;
	ahead->frame = frame;
	piece->kind = PIECE_FRAME_BEGIN;
	piece->state = PIECE_DONE;
	piece->end = first_block;
	pthread_mutex_unlock(&ahead->mutex);
	return false;
}

/* the next piece of the frame, behind the others; with the mutex */
static Piece *
add_blocks(CsvAhead *ahead, PieceKind kind, PieceState state, uint64 start)
{
	Piece	   *piece = add_piece(ahead, ahead->tail, state, start);

	if (piece == NULL)
		ahead->tail->state = PIECE_FAILED;	/* for want of memory */
	else
	{
		piece->kind = kind;
		piece->confirmed = true;
		ahead->tail = piece;
	}
	return piece;
}

/* cut the next piece from the frame, and make it; with the mutex */
static void
cut(Worker *worker)
{
	CsvAhead   *ahead = worker->ahead;
	CsvLz4Frame frame = ahead->frame;
	Piece	   *piece = NULL;
	Piece	   *last;
	uint64		end;
	uint32		checksum = 0;
	bool		at_end;
	bool		good;

	ahead->is_walking = true;
	pthread_mutex_unlock(&ahead->mutex);
	good = csv_lz4_frame_walk(&frame, ahead->fd, frame.next + ZONE_BYTES,
							  &end, &at_end, &checksum);
	pthread_mutex_lock(&ahead->mutex);
	ahead->is_walking = false;
	if (!good)
		(void) add_blocks(ahead, PIECE_BLOCKS, PIECE_FAILED, ahead->frame.next);
	else if (end > ahead->frame.next &&
			 (piece = add_blocks(ahead, PIECE_BLOCKS, PIECE_RUNNING,
								 ahead->frame.next)) != NULL)
		piece->until = end;
	if (good && at_end &&
		(last = add_blocks(ahead, PIECE_FRAME_END, PIECE_DONE, end)) != NULL)
	{
		last->end = frame.next;
		last->has_checksum = frame.has_checksum;
		last->checksum = checksum;
		last->content_bytes = frame.content_bytes;
	}
	ahead->in_frame = good && !at_end;
	ahead->frame = frame;
	advance(ahead);
	call_another(ahead);
	if (piece == NULL)
		return;
	pthread_mutex_unlock(&ahead->mutex);
	worker->offset = piece->start - frame.nhead;
	worker->position = 0;
	worker->ninput = frame.nhead;
	worker->at_end = false;
	memcpy(worker->input, frame.head, frame.nhead);
	make_piece(worker, piece, true);
	pthread_mutex_lock(&ahead->mutex);
}

/* look into a zone, and make what is found there; with the mutex */
static void
guess(Worker *worker)
{
	CsvAhead   *ahead = worker->ahead;
	uint64		zone = ahead->next_zone++;
	Piece	   *piece = NULL;
	Piece	   *behind;
	bool		found;

	call_another(ahead);
	pthread_mutex_unlock(&ahead->mutex);
	found = find_beginning(worker, zone);
	pthread_mutex_lock(&ahead->mutex);

	/* meanwhile the last one that is confirmed may have come here */
	behind = ahead->tail;
	if (!found || is_over(ahead) || worker->offset <= behind->end ||
		zone == zone_of(behind->start))
		return;
	while (behind->next != NULL && behind->next->start < worker->offset)
		behind = behind->next;
	piece = add_piece(ahead, behind, PIECE_RUNNING, worker->offset);
	if (piece == NULL)
		return;
	pthread_mutex_unlock(&ahead->mutex);
	make_piece(worker, piece, true);
	pthread_mutex_lock(&ahead->mutex);
}

/* the thread */
static void *
run(void *arg)
{
	Worker	   *worker = arg;
	CsvAhead   *ahead = worker->ahead;

	pthread_mutex_lock(&ahead->mutex);
	while (!ahead->stopping)
	{
		if (may_begin(ahead))
		{
			Piece	   *piece = ahead->tail;

			piece->state = PIECE_RUNNING;
			call_another(ahead);
			pthread_mutex_unlock(&ahead->mutex);
			if (begin_piece(worker, piece))
				make_piece(worker, piece, false);
			pthread_mutex_lock(&ahead->mutex);
		}
		else if (may_cut(ahead))
			cut(worker);
		else if (may_look(ahead))
			guess(worker);
		else
			pthread_cond_wait(&ahead->for_workers, &ahead->mutex);
	}
	pthread_mutex_unlock(&ahead->mutex);
	return NULL;
}

/* ---- start and stop ---- */

static void
destroy(CsvAhead *ahead)
{
	while (ahead->pieces != NULL)
	{
		Piece	   *piece = ahead->pieces;

		ahead->pieces = piece->next;
		free_piece(ahead, piece);
	}
	while (ahead->free_slots != NULL)
	{
		AheadSlot  *slot = ahead->free_slots;

		ahead->free_slots = slot->next;
		free(slot);
	}
	pthread_cond_destroy(&ahead->for_workers);
	pthread_cond_destroy(&ahead->for_slots);
	pthread_cond_destroy(&ahead->for_reader);
	pthread_mutex_destroy(&ahead->mutex);
	free(ahead);
}

/* false if there is no thread, or no memory; with the mutex */
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
				uint64 start, uint64 skip)
{
	CsvAhead   *ahead = calloc(1, sizeof(CsvAhead));
	struct stat st;

	if (ahead == NULL)
		return NULL;
	ahead->fd = fd;
	ahead->compression = compression;
	ahead->skip = skip;
	if (fstat(fd, &st) == 0 && st.st_size > 0)
		ahead->nzones = zone_of((uint64) st.st_size - 1) + 1;
	pthread_mutex_init(&ahead->mutex, NULL);
	pthread_cond_init(&ahead->for_workers, NULL);
	pthread_cond_init(&ahead->for_slots, NULL);
	csv_nap_init(&ahead->for_reader);
	ahead->tail = add_piece(ahead, NULL, PIECE_WANTED, start);
	if (ahead->tail != NULL)
	{
		ahead->tail->confirmed = true;

		/* none goes on before all are there */
		pthread_mutex_lock(&ahead->mutex);
		while (ahead->nworkers < Min(nthreads, CSV_AHEAD_MAX_THREADS) &&
			   start_worker(ahead))
			;
		pthread_mutex_unlock(&ahead->mutex);
	}
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

/* the first piece has been read to its end, and others follow; with the mutex */
static void
go_to_next_piece(CsvAhead *ahead)
{
	Piece	   *piece = ahead->pieces;

	if (piece->kind == PIECE_FRAME_BEGIN)
	{
		ahead->reads_frame = true;
		ahead->frame_start = piece->start;
		csv_xxh32_begin(&ahead->hash);
	}
	if (piece->kind == PIECE_FRAME_END)
	{
		if ((piece->has_checksum &&
			 csv_xxh32_value(&ahead->hash) != piece->checksum) ||
			(piece->content_bytes > 0 && piece->content_bytes != ahead->nread))
		{
			piece->state = PIECE_FAILED;
			return;
		}
		ahead->reads_frame = false;
	}
	if (!ahead->reads_frame)
		ahead->nread = 0;
	remove_piece(ahead, NULL);
	call_another(ahead);
}

/*
 * The slot to be read, or NULL: after a moment if there may be one later, and
 * with *at_end where the threads have done what they can.
 */
static AheadSlot *
wait_for_slot(CsvAhead *ahead, bool *at_end)
{
	AheadSlot  *slot;
	Piece	   *piece;

	pthread_mutex_lock(&ahead->mutex);
	while ((piece = ahead->pieces)->first == NULL &&
		   piece->state == PIECE_DONE && piece != ahead->tail)
		go_to_next_piece(ahead);
	*at_end = piece->first == NULL &&
		(piece->state == PIECE_FAILED || piece->at_end);
	if (piece->first == NULL && !*at_end)
	{
		pgstat_report_wait_start(WAIT_EVENT_COPY_FILE_READ);
		csv_nap(&ahead->for_reader, &ahead->mutex);
		pgstat_report_wait_end();
	}
	slot = piece->first;
	pthread_mutex_unlock(&ahead->mutex);
	return slot;
}

/* the slot at hand has been read to its end */
static void
let_go(CsvAhead *ahead)
{
	Piece	   *piece = ahead->pieces;
	AheadSlot  *slot;

	ahead->position = 0;
	pthread_mutex_lock(&ahead->mutex);
	slot = piece->first;
	piece->first = slot->next;
	free_slot(ahead, slot);
	/* meanwhile the piece that is made has come further */
	call_another(ahead);
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
		size_t		nskipped;

		csv_check_interrupts();
		slot = wait_for_slot(ahead, &at_end);
		if (slot == NULL)
			continue;
		if (ahead->reads_frame && ahead->position == 0)
			csv_xxh32_add(&ahead->hash, slot->bytes, slot->nbytes);
		nskipped = Min(ahead->skip, slot->nbytes - ahead->position);
		ahead->skip -= nskipped;
		ahead->position += nskipped;
		ncopied = Min(nbytes, slot->nbytes - ahead->position);
		memcpy(buffer, slot->bytes + ahead->position, ncopied);
		ahead->position += ncopied;
		ahead->nread += nskipped + ncopied;
		if (ahead->position == slot->nbytes)
			let_go(ahead);
	}
	return ncopied;
}

void
csv_ahead_left(const CsvAhead *ahead, uint64 *start, uint64 *skip)
{
	const Piece *piece = ahead->pieces;
	bool		done = piece->state == PIECE_DONE;

	*start = ahead->reads_frame ? ahead->frame_start :
		done ? piece->end : piece->start;
	*skip = ahead->skip + (done ? 0 : ahead->nread);
}
