/*
 * sharing.c
 *		One scan of a table's files by several processes.
 */
#include "postgres.h"

#include <unistd.h>

#include "miscadmin.h"
#include "storage/condition_variable.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/wait_event.h"

#include "batches/reading.h"
#include "batches/remote.h"
#include "batches/sharing.h"
#include "compat.h"
#include "reader/footer.h"
#include "reader/piece.h"
#include "table/memory.h"

/*
 * Pieces are small at first, so that rows come soon.  They grow, so that handing them
 * out costs little.  At the end they are small again, because processes that are
 * finished must wait for the others.
 */
#define LEAST_PIECE_BYTES	(UINT64CONST(64) * 1024)
#define MOST_PIECE_BYTES	(UINT64CONST(512) * 1024)

/* a GPU reads the pieces one after the other, and gets a message for each */
#define LEAST_GPU_PIECE_BYTES	(UINT64CONST(4) * 1024 * 1024)
#define MOST_GPU_PIECE_BYTES	(UINT64CONST(32) * 1024 * 1024)

/* a piece of a file, which a process reads */
typedef struct CsvClaim
{
	uint64		number;			/* from 0, in the order of the files */
	int			file;			/* from 0 */
	uint32		in_file;		/* number of the piece in the file, from 0 */
	bool		whole;			/* the whole file, if it cannot be divided */
	CsvPiece	piece;
} CsvClaim;

typedef struct SharedFile
{
	CsvFileIdentity identity;
	Size		name;			/* offset of its name, from `sharing` */
	uint64		nbytes;
	bool		known;			/* the file could be examined */
	bool		whole;			/* as in CsvClaim */
	bool		grows;			/* csv_source_grows() */
	int			next;			/* the next file that is not left out */

	/* the part that was read, in order */
	uint32		npieces;
	CsvFilePlace place;			/* where the records of this part end */
	uint32		failed;			/* the first piece that cannot be read */
	bool		is_cut;			/* a process has found the file shorter */
} SharedFile;

struct CsvSharing
{
	int			nprocesses;
	uint64		piece_bytes;
	uint64		last_bytes;
	uint64		total_bytes;
	int			nfiles;

	slock_t		mutex;			/* for the fields below and the files' progress */
	bool		has_gpu;
	ConditionVariable progress; /* a file's place has moved */
	uint64		nclaimed;
	uint64		claimed_bytes;
	int			file;			/* of the next piece */
	uint32		in_file;
	uint64		offset;
	SharedFile	files[FLEXIBLE_ARRAY_MEMBER];
};

/* the part of this process */
typedef struct CsvShare
{
	CsvSharing *sharing;
	CsvClaim	claim;			/* the current piece */
	bool		has_claim;
	bool		is_begun;		/* the GPU has made a batch of the piece */
	bool		is_read;		/* nothing more of the piece will be read */
	CsvFilePlace place;			/* where the piece's records begin, and then, end */
	CsvFileChange change;		/* of its file; reported when the piece is passed */
	bool		found;			/* result of a step: a file, or a batch */
} CsvShare;

/* ---- set up ---- */

Size
csv_sharing_size(const CsvSource *source)
{
	char	  **names;
	int			nfiles;
	Size		size = offsetof(CsvSharing, files);

	csv_source_names(source, &names, &nfiles);
	size = add_size(size, mul_size(sizeof(SharedFile), nfiles));
	for (int i = 0; i < nfiles; i++)
		size = add_size(size, strlen(names[i]) + 1);
	return size;
}

void
csv_sharing_init(CsvSharing *sharing, CsvSource *source, int nprocesses,
				 uint64 piece_bytes, uint64 last_bytes,
				 const CsvSettings *settings)
{
	char	  **names;
	int			nfiles;
	char	   *name;

	csv_source_names(source, &names, &nfiles);
	memset(sharing, 0, offsetof(CsvSharing, files));
	sharing->nprocesses = nprocesses;
	sharing->piece_bytes = piece_bytes;
	sharing->last_bytes = last_bytes;
	sharing->nfiles = nfiles;
	SpinLockInit(&sharing->mutex);
	ConditionVariableInit(&sharing->progress);
	name = (char *) &sharing->files[nfiles];
	for (int i = 0; i < nfiles; i++)
	{
		sharing->files[i].name = name - (char *) sharing;
		memcpy(name, names[i], strlen(names[i]) + 1);
		name += strlen(name) + 1;
	}
	csv_sharing_restart(sharing, source, settings);
}

uint64
csv_piece_bytes(uint64 chunk_bytes)
{
	return chunk_bytes == 0 ? 0 : Max(chunk_bytes, LEAST_PIECE_BYTES);
}

void
csv_sharing_restart(CsvSharing *sharing, CsvSource *source,
					const CsvSettings *settings)
{
	sharing->total_bytes = 0;
	sharing->nclaimed = 0;
	sharing->claimed_bytes = 0;
	sharing->file = sharing->nfiles;
	sharing->in_file = 0;
	sharing->offset = 0;
	for (int i = sharing->nfiles - 1; i >= 0; i--)
	{
		SharedFile *file = &sharing->files[i];
		bool		seekable;

		file->next = sharing->file;
		if (csv_source_is_left_out(source, i))
			continue;
		sharing->file = i;

		file->npieces = 0;
		memset(&file->place, 0, sizeof(file->place));
		file->failed = PG_UINT32_MAX;
		file->is_cut = false;
		/* if a file cannot be examined, opening it will fail */
		file->known = csv_source_look_at(source, i, &file->identity,
										 &seekable);
		file->whole = !seekable;
		file->grows = csv_source_grows(source, i);
		file->nbytes = file->known ? (uint64) file->identity.size : 0;
		sharing->total_bytes += file->nbytes;
	}
	sharing->has_gpu = csv_choose_gpu(settings, (int64) sharing->total_bytes,
									  1, 0) == CSV_GPU_READS;
}

void
csv_sharing_files(const CsvSharing *sharing, char ***names, int *nfiles)
{
	*nfiles = sharing->nfiles;
	*names = palloc_extended(sizeof(char *) * Max(sharing->nfiles, 1),
							 MCXT_ALLOC_HUGE);
	for (int i = 0; i < sharing->nfiles; i++)
		(*names)[i] = pstrdup((const char *) sharing + sharing->files[i].name);
}

/* ---- pieces ---- */

/* the size of the next piece; caller must hold the mutex */
static uint64
next_piece_bytes(const CsvSharing *sharing)
{
	uint64		left = sharing->total_bytes - sharing->claimed_bytes;
	uint64		nbytes = Min(left, sharing->claimed_bytes) / sharing->nprocesses;

	if (sharing->piece_bytes != 0)
		return sharing->piece_bytes;
	if (sharing->has_gpu)
		return Max(Min(nbytes, MOST_GPU_PIECE_BYTES), LEAST_GPU_PIECE_BYTES);
	nbytes /= 4;
	return Max(Min(nbytes, MOST_PIECE_BYTES), LEAST_PIECE_BYTES);
}

static bool
claim_next(CsvSharing *sharing, CsvClaim *claim)
{
	CsvPiece   *piece = &claim->piece;
	bool		found;

	memset(claim, 0, sizeof(*claim));
	SpinLockAcquire(&sharing->mutex);
	found = sharing->file < sharing->nfiles;
	if (found)
	{
		const SharedFile *file = &sharing->files[sharing->file];
		uint64		nbytes = next_piece_bytes(sharing);

		claim->number = sharing->nclaimed++;
		claim->file = sharing->file;
		claim->in_file = sharing->in_file++;
		claim->whole = file->whole;
		piece->from = sharing->offset;
		piece->is_first = piece->from == 0;
		piece->is_last = file->whole ||
			file->nbytes - piece->from <= nbytes + sharing->last_bytes;
		piece->to = piece->is_last ? file->nbytes : piece->from + nbytes;
		sharing->claimed_bytes += piece->to - piece->from;
		sharing->offset = piece->to;
		if (piece->is_last)
		{
			sharing->file = file->next;
			sharing->in_file = 0;
			sharing->offset = 0;
		}
	}
	SpinLockRelease(&sharing->mutex);
	return found;
}

/* hands out no more pieces */
static void
close_sharing(CsvSharing *sharing)
{
	SpinLockAcquire(&sharing->mutex);
	sharing->file = sharing->nfiles;
	SpinLockRelease(&sharing->mutex);
}

uint64
csv_sharing_nclaimed(CsvSharing *sharing)
{
	uint64		nclaimed;

	SpinLockAcquire(&sharing->mutex);
	nclaimed = sharing->nclaimed;
	SpinLockRelease(&sharing->mutex);
	return nclaimed;
}

/* ---- where records end ---- */

/* is it known where the current piece begins, or that it cannot be read? */
static bool
is_our_turn(CsvShare *share, CsvFilePlace *place, bool *failed)
{
	CsvSharing *sharing = share->sharing;
	const SharedFile *file = &sharing->files[share->claim.file];
	bool		is_turn;

	SpinLockAcquire(&sharing->mutex);
	*failed = share->claim.in_file > file->failed;
	is_turn = *failed || file->npieces == share->claim.in_file;
	*place = file->place;
	SpinLockRelease(&sharing->mutex);
	return is_turn;
}

/*
 * Waits until all pieces of the file before this piece have been read, and returns
 * where their records end.  Returns false if one of these pieces could not be read.
 * May be interrupted by an ERROR.
 */
static bool
await_turn(CsvShare *share, CsvFilePlace *place)
{
	static uint32 wait_event = 0;
	bool		failed;

	if (is_our_turn(share, place, &failed))
		return !failed;
	ConditionVariablePrepareToSleep(&share->sharing->progress);
	while (!is_our_turn(share, place, &failed))
		ConditionVariableSleep(&share->sharing->progress,
							   csv_wait_event(&wait_event, "CsvGpuPiece"));
	ConditionVariableCancelSleep();
	return !failed;
}

/* tells where the records of the current piece end, and whether the file has changed */
static void
publish(CsvShare *share, CsvFileChange change)
{
	CsvSharing *sharing = share->sharing;
	SharedFile *file = &sharing->files[share->claim.file];
	bool		is_cut;

	Assert(file->npieces == share->claim.in_file);
	SpinLockAcquire(&sharing->mutex);
	file->npieces++;
	file->place = share->place;
	file->is_cut |= change == CSV_FILE_SHORTER;
	is_cut = file->is_cut;
	SpinLockRelease(&sharing->mutex);

	/* only the process with the last piece knows the changes of all processes */
	if (share->claim.piece.is_last)
		share->change = is_cut ? CSV_FILE_SHORTER : change;
	else
		ConditionVariableBroadcast(&sharing->progress);
}

/* the current piece cannot be read, so no process must wait for it */
static void
give_up(CsvShare *share)
{
	CsvSharing *sharing = share->sharing;
	SharedFile *file = &sharing->files[share->claim.file];

	SpinLockAcquire(&sharing->mutex);
	file->failed = Min(file->failed, share->claim.in_file);
	SpinLockRelease(&sharing->mutex);
	ConditionVariableBroadcast(&sharing->progress);
}

/* tells the processes that wait for the current piece, or for a later one */
static void
tell_others(CsvBatches *batches, bool good)
{
	if (good)
		publish(batches->share, csv_reading_change(batches));
	else
		give_up(batches->share);
	batches->share->is_read = true;
}

/* the GPU has failed; true for the first process that says so */
static bool
drop_gpu(CsvSharing *sharing)
{
	bool		had_gpu;

	SpinLockAcquire(&sharing->mutex);
	had_gpu = sharing->has_gpu;
	sharing->has_gpu = false;
	SpinLockRelease(&sharing->mutex);
	return had_gpu;
}

/* ---- this process ---- */

void
csv_sharing_begin(CsvBatches *batches, CsvSharing *sharing)
{
	batches->share = NULL;
	if (sharing == NULL)
		return;
	batches->share = palloc0(sizeof(CsvShare));
	batches->share->sharing = sharing;
}

void
csv_sharing_rewind(CsvBatches *batches)
{
	csv_reading_close_pieces(batches);
	*batches->share = (CsvShare) {.sharing = batches->share->sharing};
}

/*
 * Runs a step of reading, whose ERRORs concern the files.  Returns false if it failed.
 * Then no process needs to wait for the end of the piece.
 */
static bool
try_step(CsvBatches *batches, void (*step) (CsvBatches *))
{
	CsvShare   *share = batches->share;
	MemoryContext outer = CurrentMemoryContext;
	volatile bool done = false;

	PG_TRY();
	{
		csv_begin_step();
		step(batches);
		csv_end_step();
		done = true;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		if (!csv_leave_step())
			PG_RE_THROW();
		MemoryContextSwitchTo(outer);
		error = CopyErrorData();
		FlushErrorState();
		batches->callbacks.failed(batches->callbacks.arg, error);
		FreeErrorData(error);
	}
	PG_END_TRY();
	if (!done)
	{
		share->is_read = true;
		close_sharing(share->sharing);
	}
	return done;
}

/* the current piece, if there is one, is passed */
static void
pass_piece(CsvBatches *batches)
{
	CsvShare   *share = batches->share;

	if (share->has_claim)
	{
		csv_reading_tell_change(batches, share->change);
		batches->callbacks.passed(batches->callbacks.arg, share->claim.number);
	}
	share->change = CSV_FILE_SAME;
	share->has_claim = false;
	share->is_begun = false;
	share->is_read = false;
}

/*
 * Makes sure that there is a piece with something left to read; returns false if there
 * are no more.  The piece before it is passed.
 */
static bool
claim_piece(CsvBatches *batches)
{
	CsvShare   *share = batches->share;

	if (share->has_claim && !share->is_read)
		return true;
	pass_piece(batches);
	share->has_claim = claim_next(share->sharing, &share->claim);
	return share->has_claim;
}

void
csv_sharing_stop(CsvBatches *batches)
{
	close_sharing(batches->share->sharing);
	pass_piece(batches);
}

/* ---- files ---- */

static void
fail_replaced(const CsvSource *source)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("file \"%s\" was replaced while it was read",
					csv_source_name(source))));
}

/* the beginning of the file was read: prepares for reading its pieces */
static void
open_pieces(CsvBatches *batches, const SharedFile *file)
{
	CsvReadAhead ahead;

	/* the file was seekable when its pieces were handed out */
	if (!csv_source_read_ahead(batches->source, &ahead))
		fail_replaced(batches->source);
	batches->pieces = csv_thread_memory.alloc(csv_thread_memory.owner,
											  sizeof(CsvPieceReader));
	if (batches->pieces == NULL)
		csv_reading_fail(batches, CSV_NO_MEMORY);
	*batches->pieces = (CsvPieceReader) {
		.engine = &csv_cpu_engine,
		.engine_state = batches->cpu,
		.dialect = csv_reader_dialect(batches->reader),
		.memory = csv_thread_memory,
		.max_record_bytes = batches->table->reader.max_record_bytes,
		.interrupted = csv_source_interrupted,
		.window = {
			.memory = csv_thread_memory,
			.read_at = ahead.read_at,
			.read_arg = ahead.arg,
			.end = csv_reader_waits(batches->reader) ?
				csv_reader_place(batches->reader)->offset : file->nbytes
		},
		.held_bytes = csv_footer_bytes(&batches->table->reader.dialect),
		.goes_on = file->grows
	};
}

/* opens the file of the current piece, if it is still there */
static void
open_step(CsvBatches *batches)
{
	CsvShare   *share = batches->share;
	const SharedFile *file = &share->sharing->files[share->claim.file];

	share->found = csv_source_open(batches->source, share->claim.file,
								   file->known ? &file->identity : NULL);
	if (!share->found)
		return;
	if (!file->known || !csv_source_is_open(batches->source, &file->identity))
		fail_replaced(batches->source);
	if (!batches->is_alone)
	{
		csv_reading_close(batches);
		csv_reading_open(batches, 1, share->sharing->has_gpu ?
						 CSV_GPU_READS : CSV_GPU_NONE);
		batches->is_alone = true;
	}
	csv_reading_begin(batches, file->grows, NULL);
	if (!share->claim.whole)
		open_pieces(batches, file);
}

static void
missing_step(CsvBatches *batches)
{
	csv_source_missing(batches->source);
}

/*
 * The file of the current piece is gone.  The file is left out if the process with its
 * first piece reports that.
 */
static void
leave_out_piece(CsvBatches *batches)
{
	CsvShare   *share = batches->share;

	if (share->claim.in_file == 0)
		share->change = CSV_FILE_GONE;
	else if (await_turn(share, &share->place))
		(void) try_step(batches, missing_step);
	share->is_read = true;
}

bool
csv_sharing_open(CsvBatches *batches)
{
	CsvShare   *share = batches->share;

	csv_reading_close_pieces(batches);
	while (claim_piece(batches))
	{
		batches->at.file_number = share->claim.file + 1;
		if (try_step(batches, open_step))
		{
			if (share->found)
				return true;
			leave_out_piece(batches);
		}
		give_up(share);
	}
	csv_source_close(batches->source);
	return false;
}

/* ---- batches ---- */

/* parses the current piece from its place on */
static void
parse_step(CsvBatches *batches)
{
	CsvShare   *share = batches->share;
	CsvStatus	status;
	bool		at_end;

	while ((status = csv_piece_parse(batches->pieces, &share->place,
									 share->claim.piece.end, false,
									 &batches->at.batch, &at_end)) != CSV_OK)
		csv_reading_fail(batches, status);
}

/* parses from a guessed place; the guess is checked before the records are used */
static void
guess_step(CsvBatches *batches)
{
	CsvShare   *share = batches->share;
	CsvPiece   *piece = &share->claim.piece;
	CsvStatus	status;
	bool		at_end;

	memset(&share->place, 0, sizeof(share->place));
	if (piece->is_first)
	{
		share->place = *csv_reader_place(batches->reader);
		piece->from = share->place.offset;
	}
	while ((status = csv_piece_guess(batches->pieces, piece)) != CSV_OK)
		csv_reading_fail(batches, status);
	if (!piece->is_first)
		share->place.offset = piece->start;
	/* the footer is searched from a place that is certain */
	if (!piece->found ||
		(!piece->is_first && piece->is_last && batches->pieces->held_bytes > 0))
	{
		piece->found = false;
		return;
	}
	while ((status = csv_piece_parse(batches->pieces, &share->place, piece->end,
									 !piece->is_first, &batches->at.batch,
									 &at_end)) != CSV_OK)
		csv_reading_fail(batches, status);
}

/* if the piece begins where it was guessed, the batch counts */
static bool
confirm_guess(CsvBatches *batches, const CsvFilePlace *begin)
{
	CsvShare   *share = batches->share;
	CsvBatch   *batch = &batches->at.batch;

	if (!share->claim.piece.found || begin->offset != share->claim.piece.start ||
		begin->alone_until != 0 || begin->skip_line)
		return false;
	batch->file_records = begin->records;
	batch->file_lines = begin->lines;
	share->place.records += begin->records;
	share->place.lines += begin->lines;
	return true;
}

/* the GPU has failed: from this place on, this process reads on the CPU */
static void
parse_instead(CsvBatches *batches)
{
	CsvPiece   *piece = &batches->share->claim.piece;

	csv_reading_leave_gpu(batches, drop_gpu(batches->share->sharing));

	/* no process has guessed a later end: the next piece begins at `to` */
	piece->end = piece->to;
	parse_step(batches);
}

/*
 * Like parse_step(), on the GPU.  The batch may end before the piece; then the last
 * piece has another batch.
 */
static void
remote_step(CsvBatches *batches)
{
	CsvShare   *share = batches->share;
	CsvBatch   *batch = &batches->at.batch;
	const CsvPiece *piece = &share->claim.piece;
	CsvStatus	status;

	if (csv_reader_waits(batches->reader))
		return;
	if (!share->is_begun)
	{
		if (share->place.offset >= piece->to)
			return;
		csv_remote_go_to(batches->remote, &share->place, piece->to);
	}
	status = csv_remote_next(batches->remote, batch);
	share->place = batches->remote->place;
	share->is_begun = status == CSV_OK && piece->is_last;
	if (status == CSV_OK)
		return;
	memset(batch, 0, sizeof(*batch));
	if (status == CSV_DEVICE_FAILED)
		parse_instead(batches);
	else if (status != CSV_END)
		csv_reading_fail(batches, status);
	else						/* no more records in the file */
		share->place.offset = share->sharing->files[share->claim.file].nbytes;
}

static void
check_step(CsvBatches *batches)
{
	csv_source_check_same(batches->source);
}

/*
 * Reads the current piece, or more of it.  Returns false if this piece, or one before
 * it, could not be read.
 */
static bool
read_piece(CsvBatches *batches)
{
	CsvShare   *share = batches->share;
	bool		is_first = share->claim.piece.is_first;
	bool		is_remote = batches->remote != NULL;
	bool		good = is_remote || try_step(batches, guess_step);
	CsvFilePlace begin = *csv_reader_place(batches->reader);

	if (good && !is_first && !share->is_begun && !await_turn(share, &begin))
	{
		share->is_read = true;
		return false;
	}
	if (good && is_remote)
	{
		share->place = begin;
		good = try_step(batches, remote_step);
	}
	else if (good && !is_first && !confirm_guess(batches, &begin))
	{
		share->place = begin;
		good = try_step(batches, parse_step);
	}
	good = good && try_step(batches, check_step);
	if (!good || !share->is_begun)
		tell_others(batches, good);
	return good;
}

/* the next batch of this process's pieces of the open file */
static bool
next_of_pieces(CsvBatches *batches)
{
	CsvBatch   *batch = &batches->at.batch;

	while (claim_piece(batches) &&
		   batches->share->claim.file + 1 == batches->at.file_number)
	{
		CHECK_FOR_INTERRUPTS();
		memset(batch, 0, sizeof(*batch));
		if (read_piece(batches) && batch->nrecords > 0)
		{
			csv_reading_count(batches);
			return true;
		}
	}
	return false;
}

/* the next batch of a file that this process reads as a whole */
static void
file_step(CsvBatches *batches)
{
	CsvShare   *share = batches->share;

	share->found = csv_reading_next(batches);
	share->is_read = !share->found;
	if (share->is_read)
		share->change = csv_reading_change(batches);
}

bool
csv_sharing_next(CsvBatches *batches)
{
	if (batches->pieces != NULL)
		return next_of_pieces(batches);
	return try_step(batches, file_step) && batches->share->found;
}
