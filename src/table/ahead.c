/*
 * ahead.c
 *		A compressed file that threads decompress before it is read.
 *
 * A file does not say where its second member or frame begins.  A beginning can only
 * be recognized by its first bytes, which may occur elsewhere, too.  So the compressed
 * bytes are divided into zones.  A thread searches a zone for the first offset at
 * which a member or frame may begin.  From there it decompresses to the first
 * beginning behind the zone.  The result is a piece.
 *
 * If a piece began at a true beginning, the next piece begins where it ends.  So
 * pieces are confirmed in order, starting with a piece whose beginning is known
 * (advance()).  A guess at any other offset was not a beginning, and its piece is
 * thrown away.  If no piece begins there, a thread makes one.  So a file of one large
 * member is one piece, made by one thread, while the other threads search ahead of it
 * in vain.
 *
 * An LZ4 frame whose blocks are independent is divided into pieces, too.  The blocks
 * are found by their sizes, so nothing is guessed.  The reader computes the frame's
 * checksum.
 *
 *	1. pieces	a list in the order of the file: confirmed pieces, then guesses
 *	2. slots	hold decompressed bytes, and belong to a piece; their number is
 *				fixed, and the piece that is read next always gets one
 *	3. reader	takes the slots of the first piece, then of the next
 *
 * A mutex protects all of this, except the contents of slots and open codecs.  A
 * thread owns these while it works on a piece; the reader owns full slots.
 *
 * The threads use neither PostgreSQL nor its memory, and are never interrupted: they
 * block all signals.  Errors in a file are not reported by threads: a thread stops at
 * the piece with the error, and the reader decompresses the piece again.
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

/* compressed bytes; some of these make one slot of decompressed bytes */
#define ZONE_BYTES	(256 * 1024)

/* the first bytes of a member or frame may cross the end of a zone */
#define MAGIC_BYTES	4

/* slots of the first thread, so that thread and reader need not wait for each other */
#define SLOT_BYTES	(1024 * 1024)
#define NSLOTS		4

/* slots of each other thread; a thread whose member needs more must wait */
#define NSLOTS_OF_THREAD	16

/* slots that guesses leave for the piece that is read */
#define NSLOTS_KEPT	3

/* pieces for each thread that may wait to be confirmed or read */
#define NPIECES_OF_THREAD	4

/* how far ahead of the confirmed pieces a thread searches, in zones */
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
	PIECE_DONE,					/* ended at a beginning, or at the end of the file */
	PIECE_FAILED
} PieceState;

typedef enum PieceKind
{
	PIECE_WHOLE,				/* members or frames */
	PIECE_FRAME_BEGIN,			/* the header of a frame; nothing to decompress */
	PIECE_BLOCKS,				/* some blocks of the frame */
	PIECE_FRAME_END				/* its checksum; nothing to decompress */
} PieceKind;

typedef struct Piece
{
	struct Piece *next;
	PieceKind	kind;
	PieceState	state;
	bool		confirmed;
	bool		dropped;		/* no longer in the list, but RUNNING */
	uint64		start;			/* offsets in the file */
	uint64		end;			/* so far; if DONE, where the next piece begins */
	bool		at_end;			/* DONE, and nothing follows */
	bool		was_given;		/* some of it went to the reader, or into slots */
	uint64		until;			/* of BLOCKS: their end */
	bool		has_checksum;	/* of FRAME_END: the frame has a checksum */
	uint32		checksum;
	uint64		content_bytes;	/* 0: the frame does not say */
	AheadSlot  *first;			/* full slots */
	AheadSlot  *last;
} Piece;

/* a thread and its own data */
typedef struct Worker
{
	struct CsvAhead *ahead;
	pthread_t	thread;
	CsvCodec   *codec;			/* NULL: none is open */
	bool		small;			/* the codec's kind is CSV_CODEC_FAST_SMALL */
	uint64		offset;			/* in the file, of the byte at `position` */
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
	pthread_cond_t for_workers; /* a piece can be begun */
	pthread_cond_t for_slots;	/* a slot is free, or the piece is not wanted */
	pthread_cond_t for_reader;
	bool		stopping;

	Piece	   *pieces;			/* never NULL */
	Piece	   *tail;			/* the last confirmed piece */
	int			npieces;
	bool		in_frame;		/* pieces are cut from a frame ... */
	bool		is_walking;		/* ... a thread is walking over its blocks */
	CsvLz4Frame frame;			/* ... and this is the frame */
	uint64		next_zone;		/* first zone that was not searched yet */
	uint64		nzones;			/* as of the file's size at the start */
	AheadSlot  *free_slots;
	int			nfree;			/* free slots, with slots not allocated yet */

	/* for the reader only */
	size_t		position;		/* in the current slot */
	uint64		skip;			/* bytes still to leave out */
	uint64		nread;			/* in the first piece, or in its frame, with
								 * left-out bytes */
	bool		reads_frame;	/* the first piece is in a frame */
	uint64		frame_start;	/* the frame's offset */
	CsvXxh32	hash;			/* of the frame's bytes read so far */
};

/* ---- slots and pieces: caller must hold the mutex ---- */

/* is a slot free for a piece?  A single thread need not leave any. */
static bool
has_slot(const CsvAhead *ahead, const Piece *piece)
{
	return ahead->nfree > (piece == ahead->pieces || ahead->nworkers == 1 ? 0 :
						   NSLOTS_KEPT);
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

/* frees all slots of a piece */
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

/* adds a piece behind another piece; NULL if there is no memory */
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

/* takes a piece out of the list; `behind` is the piece before it */
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

/* confirms the pieces that follow the last confirmed piece, if that is done */
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
			tail->state = PIECE_FAILED; /* out of memory */
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

/* reads up to nbytes bytes at an offset; -1 on error */
static ssize_t
read_at(int fd, uint8_t *buffer, size_t nbytes, uint64 offset)
{
	ssize_t		nread;

	do
		nread = pread(fd, buffer, nbytes, (off_t) offset);
	while (nread < 0 && errno == EINTR);
	return nread;
}

/* the first bytes of a member or frame; only bits in `mask` count */
typedef struct Magic
{
	CsvCompression compression;
	uint8_t		bytes[MAGIC_BYTES];
	uint8_t		mask[MAGIC_BYTES];
	int			rare;			/* index of the byte to search for */
} Magic;

static const Magic magics[] = {
	/* deflate, and no reserved flags */
	{CSV_COMPRESSION_GZIP, {0x1f, 0x8b, 8, 0}, {0xff, 0xff, 0xff, 0xe0}, 1},
	{CSV_COMPRESSION_ZSTD, {0x28, 0xb5, 0x2f, 0xfd}, {0xff, 0xff, 0xff, 0xff}, 1},
	{CSV_COMPRESSION_LZ4, {0x04, 0x22, 0x4d, 0x18}, {0xff, 0xff, 0xff, 0xff}, 2},
	/* skippable frames */
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

/* the offset of the first match within nbytes bytes; nbytes if there is none */
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
 * Reads a zone, and goes to the first offset in it where a member or frame may begin.
 * Returns false if there is none.
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

/* false on error */
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
		/* an end mark, as if the frame ended behind the blocks */
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
 * Gives a full slot, if there is one, to its piece.  If `more`, takes another slot; it
 * is NULL if there is no memory, or if the piece is no longer wanted.
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

/* is the piece still wanted?  Also records how far its thread is. */
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
 * Opens or restarts a codec.  Codecs with large windows are for confirmed pieces: only
 * one of these is made at a time, and its codec is closed afterwards.
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
 * Decompresses from the piece's start to the first beginning behind its zone.  Some
 * input may already be there.  Returns false on failure, or if the piece is no longer
 * wanted.
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
}

/* makes a piece that belongs to this thread */
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
		piece->state = PIECE_WANTED;	/* its window may be large */
	else
	{
		piece->state = PIECE_FAILED;
		if (!piece->confirmed)
			free_slots(ahead, piece);
	}
	advance(ahead);
	pthread_mutex_unlock(&ahead->mutex);
}

/* the reader must first read some pieces before more are made */
static bool
has_many_pieces(const CsvAhead *ahead)
{
	return ahead->npieces > NPIECES_OF_THREAD * ahead->nworkers;
}

/* may a thread begin the last confirmed piece?  Caller must hold the mutex. */
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

/* may a thread cut a piece from the frame?  Caller must hold the mutex. */
static bool
may_cut(const CsvAhead *ahead)
{
	return ahead->in_frame && !ahead->is_walking && !is_over(ahead) &&
		(ahead->tail == ahead->pieces || !has_many_pieces(ahead));
}

/* may a thread search the next zone?  Caller must hold the mutex. */
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
 * Wakes one thread if there is work to begin; that thread wakes the next.  Callers
 * have just taken up work, or made room for more, and hold the mutex.
 */
static void
call_another(CsvAhead *ahead)
{
	if (may_begin(ahead) || may_cut(ahead) || may_look(ahead))
		pthread_cond_signal(&ahead->for_workers);
}

/*
 * Begins a confirmed piece that belongs to this thread.  Returns false if it is an LZ4
 * frame that must be cut into pieces, because it is larger than a zone.
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

/* adds the next piece of the frame behind the others; caller must hold the mutex */
static Piece *
add_blocks(CsvAhead *ahead, PieceKind kind, PieceState state, uint64 start)
{
	Piece	   *piece = add_piece(ahead, ahead->tail, state, start);

	if (piece == NULL)
		ahead->tail->state = PIECE_FAILED;	/* out of memory */
	else
	{
		piece->kind = kind;
		piece->confirmed = true;
		ahead->tail = piece;
	}
	return piece;
}

/* cuts the next piece from the frame, and makes it; caller must hold the mutex */
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

/* searches a zone, and makes the piece found there; caller must hold the mutex */
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

	/* meanwhile the last confirmed piece may have reached this zone */
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

/* a thread's main function */
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

		/* no thread proceeds before all are started */
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

/* the first piece was read to its end, others follow; caller must hold the mutex */
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
 * Returns the slot to read.  If it is not there yet, waits a moment for it.  May
 * return NULL; if the threads can do no more, *at_end is set.
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

/* the current slot has been read to its end */
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
	/* the last confirmed piece may have advanced, so more zones may be searched */
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
