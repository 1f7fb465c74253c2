/*
 * ahead.c
 *		A compressed file that threads decompress before it is read.
 *
 * The threads are a crew (reader/crew.h), whose parts are the pieces of the file.  A
 * piece begins at a member or frame, or at a block of an LZ4 frame.  Sizes in the file
 * tell where the next piece of zstd and LZ4 begins (frames.c).
 *
 * Members of gzip do not state their sizes.  So the compressed bytes are divided into
 * zones.  A thread searches a zone for the first bytes at which a member may begin.
 * From there it decompresses to the end of a member behind the zone.  If a member ends
 * elsewhere in the zone, the piece joins nothing, and a thread makes it again from
 * there.  In a file of one large member, one thread makes the first piece, while the
 * others search the zones in vain.  But it makes marks (marks.h), at which the
 * next scan's pieces begin and end.
 *
 *	1. buffers	hold decompressed bytes, and belong to a piece; their number is
 *				fixed, and the piece that is read next always gets one
 *	2. reader	takes the buffers of the first piece, also while a thread still makes
 *				it, and then of the next
 *
 * The crew's mutex protects all of this, except the contents of buffers and open
 * codecs.  A thread owns these while it works on a piece; the reader owns full buffers.
 *
 * Errors in a file are not reported by threads: a thread stops at the piece with the
 * error, and the reader decompresses the piece again.  If an LZ4 frame is cut into
 * blocks, the reader checks the frame's checksum.
 */
#include "postgres.h"

#include <unistd.h>

#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/wait_event.h"

#include "reader/clock.h"
#include "reader/crew.h"
#include "table/ahead.h"
#include "table/codec.h"
#include "table/frames.h"
#include "table/interrupts.h"

/* buffers of the first thread: thread and reader need not wait for each other */
#define BUFFER_BYTES	(1024 * 1024)
#define NBUFFERS		4

/* buffers of each other thread; a thread whose piece needs more must wait */
#define NBUFFERS_OF_THREAD	16

/* buffers that are left for the piece that is read */
#define NBUFFERS_KEPT	3

typedef struct AheadBuffer
{
	struct AheadBuffer *next;
	size_t		nbytes;
	uint8_t		bytes[BUFFER_BYTES];
} AheadBuffer;

typedef struct Piece
{
	uint64_t	number;
	CsvCut		cut;
	const CsvMark *from;		/* it begins at this mark; NULL: does not */
	const CsvMark *to;			/* and ends at this mark; NULL: does not */
	bool		is_there;		/* cut.start is known */
	bool		failed;
	bool		at_end;			/* nothing follows */
	uint64_t	end;			/* of a piece that did not fail */
	AheadBuffer *first;			/* full buffers */
	AheadBuffer **last;			/* where the next full buffer is linked */
} Piece;

/* what a thread needs to make a piece */
typedef struct Worker
{
	struct Worker *next;
	CsvCodec   *codec;			/* NULL: none is open */
	uint64_t	offset;			/* in the file, of the byte at `position` */
	size_t		position;		/* input not consumed yet */
	size_t		ninput;
	bool		at_end;			/* no more input will come */
	uint8_t		input[CSV_CUT_BYTES];
} Worker;

struct CsvAhead
{
	CsvCrew		crew;
	pthread_cond_t for_buffers;	/* a buffer is free, or a piece is not wanted */
	atomic_bool stopping;
	Piece		pieces[CSV_CREW_PARTS]; /* number n is at n % CSV_CREW_PARTS */
	CsvCutter	cutter;
	bool		is_open;		/* the last cut is open, so there is no next cut yet */
	CsvMarks   *marks;			/* of gzip; NULL: there are none */
	const CsvMark *from;		/* of the next piece, as there; ... */
	const CsvMark *to;			/* ... both NULL: it gets a zone */
	uint64_t	next_zone;		/* of gzip: not searched yet */
	uint64_t	file_end;		/* bytes behind it are not read */
	uint64_t	end;			/* of the pieces that have joined */
	bool		is_over;		/* no further piece joins */
	Worker	   *workers;		/* that no thread uses */
	AheadBuffer *free_buffers;
	int			nfree;			/* free buffers, with buffers not allocated yet */

	/* for the reader only */
	size_t		position;		/* in the current buffer */
	uint64_t	skip;			/* bytes still to leave out */
	uint64_t	nbytes;			/* read from the first piece, or from its frame, with
								 * left-out bytes */
	bool		is_checking;	/* the checker is within a frame */
	CsvCodec   *checker;		/* NULL: none is open */
};

static Piece *
piece_at(CsvAhead *ahead, uint64_t number)
{
	return &ahead->pieces[number % CSV_CREW_PARTS];
}

/* the piece that is read next, which may not have begun */
static Piece *
first_piece(CsvAhead *ahead)
{
	return piece_at(ahead, ahead->crew.ntaken);
}

/* ---- buffers: caller must hold the mutex ---- */

/* is a buffer free for a piece?  A single thread need not leave any. */
static bool
has_buffer(const CsvAhead *ahead, const Piece *piece)
{
	return ahead->nfree > (piece->number == ahead->crew.ntaken ||
						   ahead->crew.nhelpers == 1 ? 0 : NBUFFERS_KEPT);
}

/* takes a free buffer; NULL if there is no memory */
static AheadBuffer *
take_buffer(CsvAhead *ahead)
{
	AheadBuffer *buffer = ahead->free_buffers;

	if (buffer != NULL)
		ahead->free_buffers = buffer->next;
	else
		buffer = malloc(sizeof(AheadBuffer));
	if (buffer != NULL)
	{
		ahead->nfree--;
		buffer->next = NULL;
		buffer->nbytes = 0;
	}
	return buffer;
}

static void
free_buffer(CsvAhead *ahead, AheadBuffer *buffer)
{
	buffer->next = ahead->free_buffers;
	ahead->free_buffers = buffer;
	ahead->nfree++;
	pthread_cond_broadcast(&ahead->for_buffers);
}

/* frees the first full buffer of a piece */
static void
free_first_buffer(CsvAhead *ahead, Piece *piece)
{
	AheadBuffer *buffer = piece->first;

	piece->first = buffer->next;
	if (piece->first == NULL)
		piece->last = &piece->first;
	free_buffer(ahead, buffer);
}

/* ---- the threads: one piece ---- */

/* the pieces before this piece have joined, and it does not begin where they end */
static bool
is_unwanted(const CsvAhead *ahead, const Piece *piece)
{
	return piece->cut.kind == CSV_CUT_OPEN && piece->cut.start != ahead->end &&
		piece->number == ahead->crew.njoined;
}

/*
 * Gives a full buffer, if there is one, to its piece.  If `more`, takes another buffer;
 * it is NULL if there is no memory, or if the piece is not wanted.
 */
static void
exchange_buffer(CsvAhead *ahead, Piece *piece, AheadBuffer **buffer, bool more)
{
	AheadBuffer *full = *buffer;

	*buffer = NULL;
	pthread_mutex_lock(&ahead->crew.mutex);
	if (full != NULL && full->nbytes == 0)
		free_buffer(ahead, full);
	else if (full != NULL)
	{
		*piece->last = full;
		piece->last = &full->next;
		if (piece == first_piece(ahead))
			pthread_cond_signal(&ahead->crew.for_taker);
	}
	while (more && !ahead->stopping && !is_unwanted(ahead, piece) &&
		   !has_buffer(ahead, piece))
		pthread_cond_wait(&ahead->for_buffers, &ahead->crew.mutex);
	if (more && !ahead->stopping && !is_unwanted(ahead, piece))
		*buffer = take_buffer(ahead);
	pthread_mutex_unlock(&ahead->crew.mutex);
}

/* false on error */
static bool
read_input(const CsvAhead *ahead, Worker *worker, const CsvCut *cut)
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
	nbytes = Min(nbytes, ahead->file_end - Min(worker->offset, ahead->file_end));
	do
		nread = pread(ahead->cutter.fd, worker->input, nbytes, (off_t) worker->offset);
	while (nread < 0 && errno == EINTR);
	worker->ninput = Max(nread, 0);
	worker->at_end = nread == 0;
	return nread >= 0;
}

/* goes to where the piece begins; false: that is not known yet, and was not found */
static bool
go_to_start(CsvAhead *ahead, Worker *worker, Piece *piece)
{
	CsvCut	   *cut = &piece->cut;

	worker->position = 0;
	worker->ninput = cut->kind == CSV_CUT_BLOCKS ? cut->head.nbytes : 0;
	worker->offset = cut->start - worker->ninput;
	memcpy(worker->input, cut->head.bytes, worker->ninput);
	worker->at_end = false;
	if (piece->from != NULL)
		return csv_codec_load(worker->codec, ahead->marks->file,
							  piece->from->state_at, piece->from->state_bytes);
	if (piece->is_there)
		return true;
	if (!read_input(ahead, worker, cut))
		return false;
	worker->position = csv_find_member(worker->input, worker->ninput);
	worker->offset += worker->position;
	cut->start = cut->frame_start = worker->offset;
	piece->is_there = worker->position < worker->ninput;
	return piece->is_there;
}

/* decompresses a cut; false on failure, or if the piece is not wanted */
static bool
decompress(CsvAhead *ahead, Worker *worker, Piece *piece, AheadBuffer **buffer)
{
	const CsvCut *cut = &piece->cut;
	const CsvMark *to = piece->to;
	bool		between = piece->from == NULL;
	uint64_t	member = between ? worker->offset : piece->from->member;
	uint64_t	nbytes = between ? 0 : piece->from->nbytes; /* of the member */
	uint64_t	marked = nbytes;

	while (!between || worker->offset < cut->end)
	{
		CsvDecoded	step;
		size_t		room;

		if (worker->position == worker->ninput && !worker->at_end &&
			(ahead->stopping || !read_input(ahead, worker, cut)))
			return false;
		if (between && worker->at_end)
			return to == NULL;
		if (*buffer == NULL || (*buffer)->nbytes == BUFFER_BYTES)
			exchange_buffer(ahead, piece, buffer, true);
		if (*buffer == NULL)
			return false;

		room = BUFFER_BYTES - (*buffer)->nbytes;
		if (to != NULL && to->member == member)
			room = Min(room, to->nbytes - nbytes);

		/* call it even at the end of input: the library may hold output back */
		csv_codec_step(worker->codec, worker->input + worker->position,
					   worker->ninput - worker->position,
					   (*buffer)->bytes + (*buffer)->nbytes, room, &step);
		if (step.failure != NULL ||
			(step.produced == 0 && worker->at_end && !step.complete))
			return false;
		worker->position += step.consumed;
		worker->offset += step.consumed;
		between = step.complete;
		(*buffer)->nbytes += step.produced;
		nbytes += step.produced;
		if (to != NULL && to->member == member && to->nbytes == nbytes)
			return to->crc == csv_codec_crc(worker->codec);
		if (between)
		{
			member = worker->offset;
			nbytes = marked = 0;
		}
		else if (to == NULL && nbytes - marked >= (uint64_t) csv_mark_bytes)
		{
			csv_marks_add(ahead->marks, worker->codec, worker->offset, member,
						  nbytes);
			marked = nbytes;
		}
	}
	/* if sizes in the file were wrong, the next piece is wrong, too */
	return to == NULL &&
		(cut->kind != CSV_CUT_FRAMES || worker->offset == cut->end);
}

/* a worker that no thread uses, with a codec; NULL if there is no memory */
static Worker *
take_worker(CsvAhead *ahead)
{
	Worker	   *worker;

	pthread_mutex_lock(&ahead->crew.mutex);
	worker = ahead->workers;
	if (worker != NULL)
		ahead->workers = worker->next;
	pthread_mutex_unlock(&ahead->crew.mutex);
	if (worker == NULL && (worker = malloc(sizeof(Worker))) != NULL)
		worker->codec = NULL;
	if (worker == NULL)
		return NULL;
	if (worker->codec != NULL)
		csv_codec_restart(worker->codec);
	else
		worker->codec = csv_codec_open(ahead->cutter.compression, true);
	return worker;
}

/*
 * A zstd frame in an open cut may need a large window, so the codec is closed
 * afterwards: there is one such codec at a time.
 */
static void
give_worker(CsvAhead *ahead, Worker *worker, const Piece *piece)
{
	if (piece->cut.kind == CSV_CUT_OPEN &&
		ahead->cutter.compression == CSV_COMPRESSION_ZSTD)
	{
		csv_codec_close(worker->codec);
		worker->codec = NULL;
	}
	pthread_mutex_lock(&ahead->crew.mutex);
	worker->next = ahead->workers;
	ahead->workers = worker;
	pthread_mutex_unlock(&ahead->crew.mutex);
}

/* for the crew */
static void
make_piece(void *arg, uint32_t part)
{
	CsvAhead   *ahead = arg;
	Piece	   *piece = piece_at(ahead, part);
	AheadBuffer *buffer = NULL;
	Worker	   *worker = take_worker(ahead);
	bool		done;

	piece->failed = true;
	if (worker == NULL)
		return;
	if (worker->codec != NULL && go_to_start(ahead, worker, piece) &&
		piece->cut.kind != CSV_CUT_DAMAGED)
	{
		done = decompress(ahead, worker, piece, &buffer);
		exchange_buffer(ahead, piece, &buffer, false);
		piece->failed = !done;
		piece->at_end = done && worker->at_end && piece->to == NULL;
		piece->end = piece->cut.kind == CSV_CUT_BLOCKS ?
			piece->cut.end + piece->cut.ntail :
			piece->to != NULL ? piece->to->offset : worker->offset;
	}
	if (piece->failed && piece->to != NULL && !ahead->stopping)
		ahead->marks->is_wrong = true;
	give_worker(ahead, worker, piece);
}

/* ---- the threads: which pieces there are; the mutex is held ---- */

static bool
may_begin(void *arg)
{
	const CsvAhead *ahead = arg;

	return !ahead->is_over && !ahead->is_open;
}

/* the piece begins or ends at a mark, or at both; false: no mark is left */
static bool
begin_at_mark(CsvAhead *ahead, Piece *piece)
{
	const CsvMarks *marks = ahead->marks;
	const CsvMark *from = piece->from = ahead->from;
	const CsvMark *to = piece->to = ahead->to;

	if (from == NULL && to == NULL)
		return false;
	ahead->from = to;
	ahead->to = to == NULL || to == &marks->known[marks->nknown - 1] ? NULL :
		to + 1;
	csv_cut_open(&piece->cut, from != NULL ? from->offset : ahead->end);
	if (from != NULL)
		piece->cut.frame_start = from->member;
	if (to != NULL)
	{
		piece->cut.kind = CSV_CUT_TO_MARK;
		piece->cut.end = to->offset;
	}
	piece->is_there = true;
	ahead->next_zone = piece->cut.end / CSV_CUT_BYTES + 1;
	return true;
}

static void
begin_piece(void *arg, uint32_t part)
{
	CsvAhead   *ahead = arg;
	Piece	   *piece = piece_at(ahead, part);

	if (part == 0)
		ahead->nfree = NBUFFERS + NBUFFERS_OF_THREAD * ((int) ahead->crew.nhelpers - 1);
	piece->number = part;
	piece->first = NULL;
	piece->last = &piece->first;
	piece->at_end = false;
	if (ahead->cutter.compression != CSV_COMPRESSION_GZIP)
	{
		csv_cut(&ahead->cutter, &piece->cut);
		piece->is_there = true;
		ahead->is_open = piece->cut.kind == CSV_CUT_OPEN;
		return;
	}
	if (begin_at_mark(ahead, piece))
		return;
	ahead->next_zone = Max(ahead->next_zone, ahead->end / CSV_CUT_BYTES);
	csv_cut_open(&piece->cut, ahead->next_zone * CSV_CUT_BYTES);
	ahead->next_zone++;
	if ((piece->is_there = part == ahead->crew.njoined))
		piece->cut.start = piece->cut.frame_start = ahead->end;
}

static CsvJoin
join_piece(void *arg, uint32_t part)
{
	CsvAhead   *ahead = arg;
	Piece	   *piece = piece_at(ahead, part);
	bool		fits = piece->is_there && !is_unwanted(ahead, piece);

	if (ahead->is_over)
		return CSV_JOIN_END;
	/* threads that wait for buffers look whether their pieces are wanted */
	pthread_cond_broadcast(&ahead->for_buffers);
	if (fits)
	{
		ahead->is_over = piece->failed || piece->at_end;
		ahead->end = piece->end;
		if (piece->cut.kind == CSV_CUT_OPEN)
		{
			ahead->cutter.offset = piece->end;
			ahead->is_open = false;
		}
		return CSV_JOIN_DONE;
	}
	while (piece->first != NULL)
		free_first_buffer(ahead, piece);
	piece->failed = piece->at_end = false;
	if (ahead->end >= piece->cut.end)
		return CSV_JOIN_DONE;
	piece->is_there = true;
	piece->cut.start = piece->cut.frame_start = ahead->end;
	return CSV_JOIN_AGAIN;
}

/* ---- start and stop ---- */

CsvAhead *
csv_ahead_start(int fd, CsvCompression compression, int nthreads,
				uint64_t end, uint64_t start, uint64_t skip, CsvMarks *marks)
{
	CsvAhead   *ahead = calloc(1, sizeof(CsvAhead));
	CsvCrewWork work = {
		.nparts = UINT64_MAX,
		.may_begin = may_begin,
		.begin = begin_piece,
		.work = make_piece,
		.join = join_piece,
		.arg = ahead
	};

	if (ahead == NULL)
		return NULL;
	ahead->cutter.fd = fd;
	ahead->cutter.compression = compression;
	ahead->cutter.offset = ahead->end = start;
	ahead->skip = skip;
	ahead->file_end = end;
	ahead->marks = marks;
	for (int i = marks != NULL ? marks->nknown - 1 : -1;
		 i >= 0 && marks->known[i].member >= start; i--)
		ahead->to = &marks->known[i];
	pthread_cond_init(&ahead->for_buffers, NULL);
	csv_crew_init(&ahead->crew, (uint32_t) nthreads + 1);
	if (csv_crew_start_work(&ahead->crew, &work) > 0)
		return ahead;
	csv_ahead_stop(ahead);
	return NULL;
}

static void
free_buffers(AheadBuffer *buffer)
{
	while (buffer != NULL)
	{
		AheadBuffer *next = buffer->next;

		free(buffer);
		buffer = next;
	}
}

void
csv_ahead_stop(CsvAhead *ahead)
{
	pthread_mutex_lock(&ahead->crew.mutex);
	ahead->stopping = true;
	pthread_cond_broadcast(&ahead->for_buffers);
	pthread_mutex_unlock(&ahead->crew.mutex);
	csv_crew_close(&ahead->crew);
	for (int i = 0; i < CSV_CREW_PARTS; i++)
		free_buffers(ahead->pieces[i].first);
	free_buffers(ahead->free_buffers);
	while (ahead->workers != NULL)
	{
		Worker	   *next = ahead->workers->next;

		csv_codec_close(ahead->workers->codec);
		free(ahead->workers);
		ahead->workers = next;
	}
	csv_codec_close(ahead->checker);
	pthread_cond_destroy(&ahead->for_buffers);
	free(ahead);
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

/* a whole buffer is a block that is not compressed */
static bool
begin_buffer(CsvAhead *ahead, const CsvCut *blocks, const AheadBuffer *buffer)
{
	uint32_t	header = pg_hton32(pg_bswap32((uint32_t) buffer->nbytes |
											  CSV_LZ4_UNCOMPRESSED));
	uint8_t		none;

	return begin_check(ahead, blocks) &&
		check(ahead, (uint8_t *) &header, sizeof(header), &none, 0);
}

/* copies bytes of the current buffer; false if the checker finds an error */
static bool
copy(CsvAhead *ahead, const AheadBuffer *buffer, uint8_t *to, size_t nbytes)
{
	const CsvCut *cut = &first_piece(ahead)->cut;
	const uint8_t *bytes = buffer->bytes + ahead->position;

	if (cut->kind == CSV_CUT_BLOCKS)
		return (ahead->position > 0 || begin_buffer(ahead, cut, buffer)) &&
			check(ahead, bytes, nbytes, to, nbytes);
	memcpy(to, bytes, nbytes);
	return true;
}

/*
 * The first piece was read, and others follow.  Returns false if the checker finds an
 * error.  Caller must hold the mutex.
 */
static bool
go_to_next_piece(CsvAhead *ahead)
{
	const CsvCut *cut = &first_piece(ahead)->cut;
	uint32_t	part;
	uint8_t		none;

	if (cut->ntail > 0 &&
		!(begin_check(ahead, cut) &&
		  check(ahead, cut->tail, cut->ntail, &none, 0)))
		return false;
	if (cut->kind != CSV_CUT_BLOCKS || cut->ntail > 0)
	{
		ahead->nbytes = 0;
		ahead->is_checking = false;
	}
	csv_crew_take(&ahead->crew, &part);
	csv_crew_call(&ahead->crew);
	pthread_cond_broadcast(&ahead->for_buffers);
	return true;
}

/*
 * Returns the buffer to read.  If it is not there yet, waits a moment for it, and
 * returns NULL; if the threads can do no more, *at_end is set.
 */
static AheadBuffer *
wait_for_buffer(CsvAhead *ahead, bool *at_end)
{
	CsvCrew    *crew = &ahead->crew;
	AheadBuffer *buffer = NULL;

	pthread_mutex_lock(&crew->mutex);
	while (buffer == NULL && !*at_end)
	{
		const Piece *piece = first_piece(ahead);

		if (crew->ntaken < crew->nbegun && piece->first != NULL &&
			!is_unwanted(ahead, piece))
			buffer = piece->first;
		else if (csv_crew_is_ready(crew))
			*at_end = piece->failed || piece->at_end ||
				!go_to_next_piece(ahead);
		else
			break;
	}
	if (buffer == NULL && !*at_end)
	{
		pgstat_report_wait_start(WAIT_EVENT_COPY_FILE_READ);
		csv_nap(&crew->for_taker, &crew->mutex);
		pgstat_report_wait_end();
	}
	pthread_mutex_unlock(&crew->mutex);
	return buffer;
}

size_t
csv_ahead_read(CsvAhead *ahead, uint8_t *to, size_t nbytes)
{
	size_t		ncopied = 0;
	bool		at_end = false;

	while (ncopied == 0 && !at_end)
	{
		const AheadBuffer *buffer;

		csv_check_interrupts();
		buffer = wait_for_buffer(ahead, &at_end);
		if (buffer == NULL)
			continue;
		ncopied = Min(nbytes, buffer->nbytes - ahead->position);
		if (ahead->skip > 0)
			ncopied = Min(ncopied, ahead->skip);
		if (!copy(ahead, buffer, to, ncopied))
			return 0;
		ahead->nbytes += ncopied;
		ahead->position += ncopied;
		if (ahead->position == buffer->nbytes)
		{
			ahead->position = 0;
			pthread_mutex_lock(&ahead->crew.mutex);
			free_first_buffer(ahead, first_piece(ahead));
			pthread_mutex_unlock(&ahead->crew.mutex);
		}
		if (ahead->skip > 0)
		{
			ahead->skip -= ncopied;
			ncopied = 0;
		}
	}
	return ncopied;
}

void
csv_ahead_left(CsvAhead *ahead, uint64_t *start, uint64_t *skip)
{
	const Piece *piece = first_piece(ahead);
	bool		at_end;

	/* a thread that still makes the piece sets at_end and end without the mutex */
	pthread_mutex_lock(&ahead->crew.mutex);
	at_end = csv_crew_is_ready(&ahead->crew) && piece->at_end;
	pthread_mutex_unlock(&ahead->crew.mutex);
	*start = at_end ? piece->end : piece->cut.frame_start;
	*skip = ahead->skip + (at_end ? 0 : ahead->nbytes);
	if (!at_end && piece->from != NULL)
		*skip += piece->from->nbytes;
}
