/*
 * sharing.c
 *		One scan of a table's files by several processes.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/condition_variable.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/wait_event.h"

#include "batches/reading.h"
#include "batches/resident.h"
#include "batches/sharing.h"
#include "compat.h"
#include "reader/piece.h"

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

/*
 * With resident columns, each process opens a file before it knows whether it
 * has a part of it.  If there are several files, a process has a smaller file
 * by itself.
 */
#define LEAST_SHARED_BYTES	(UINT64CONST(256) * 1024)

/* SharedFile.set: pieces of the file are read */
#define NO_SET	PG_UINT64_MAX

typedef struct SharedFile
{
	CsvFileIdentity identity;
	Size		name;			/* offset of its name, from `sharing` */
	uint64		nbytes;
	bool		known;			/* the file could be examined */
	bool		whole;			/* it cannot be divided: it is one piece */
	bool		grows;			/* csv_source_grows() */
	int			next;			/* the next file that is not left out */

	CsvChain	chain;
	CsvFilePlace from;			/* behind the resident columns that are passed */
	uint64		set;			/* the resident columns from there on, if they are
								 * shared; 0: not known yet */
	uint32		next_batch;		/* of the set */
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
	SharedFile	files[FLEXIBLE_ARRAY_MEMBER];
};

/* the part of this process */
typedef struct CsvShare
{
	CsvSharing *sharing;
	bool		has_claim;		/* false: only the file is set, for its resident columns */
	uint64		number;			/* the current piece's, in all files */
	int			file;			/* its file, from 0 */
	CsvPiece	piece;
	CsvChain	chain;			/* the file's, up to this piece */
	bool		is_begun;		/* a batch was made of it, and another follows */
	bool		is_read;		/* nothing more of the piece will be read */
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
	for (int i = sharing->nfiles - 1; i >= 0; i--)
	{
		SharedFile *file = &sharing->files[i];
		bool		seekable;
		bool		is_small;

		file->next = sharing->file;
		if (csv_source_is_left_out(source, i))
			continue;
		sharing->file = i;

		memset(&file->chain, 0, sizeof(file->chain));
		memset(&file->from, 0, sizeof(file->from));
		file->next_batch = 0;
		file->failed = PG_UINT32_MAX;
		file->is_cut = false;
		/* if a file cannot be examined, opening it will fail */
		file->known = csv_source_look_at(source, i, &file->identity,
										 &seekable);
		file->grows = csv_source_grows(source, i);
		file->nbytes = file->known ? (uint64) file->identity.size : 0;
		is_small = sharing->nfiles > 1 && !file->grows &&
			file->nbytes < LEAST_SHARED_BYTES;
		file->whole = !seekable || (settings->resident && is_small);
		file->set = settings->resident && file->known && !file->whole ? 0 :
			NO_SET;
		sharing->total_bytes += file->nbytes;
	}
	sharing->has_gpu = csv_choose_gpu(settings, (int64) sharing->total_bytes,
									  1, 0, true) == CSV_GPU_READS;
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

/* caller must hold the mutex */
static void
claim_piece_of(CsvShare *share, SharedFile *file)
{
	CsvSharing *sharing = share->sharing;

	share->number = sharing->nclaimed++;
	csv_chain_claim(&file->chain, next_piece_bytes(sharing),
					file->whole ? file->nbytes : sharing->last_bytes,
					file->nbytes, &share->piece);
	sharing->claimed_bytes += share->piece.to - share->piece.from;
	if (share->piece.is_last)
		sharing->file = file->next;
}

/*
 * Claims the next piece.  If the file may have resident columns, only sets the
 * file, which must be opened first.
 */
static bool
claim_next(CsvShare *share, bool uses_resident)
{
	CsvSharing *sharing = share->sharing;
	bool		found;

	SpinLockAcquire(&sharing->mutex);
	found = sharing->file < sharing->nfiles;
	if (found)
	{
		SharedFile *file = &sharing->files[sharing->file];

		share->file = sharing->file;
		if (!uses_resident)
			file->set = NO_SET;
		share->has_claim = file->set == NO_SET;
		if (share->has_claim)
			claim_piece_of(share, file);
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

static SharedFile *
current_file(const CsvShare *share)
{
	return &share->sharing->files[share->file];
}

/* have all earlier pieces of the file joined the chain, or can one not be read? */
static bool
is_our_turn(CsvShare *share, bool *failed)
{
	CsvSharing *sharing = share->sharing;
	const SharedFile *file = current_file(share);
	bool		is_turn;

	SpinLockAcquire(&sharing->mutex);
	*failed = share->piece.number > file->failed;
	is_turn = *failed || file->chain.njoined == share->piece.number;
	share->chain = file->chain;
	SpinLockRelease(&sharing->mutex);
	return is_turn;
}

/* waits for our turn, or an ERROR; false: an earlier piece failed */
static bool
await_turn(CsvShare *share)
{
	static uint32 wait_event = 0;
	bool		failed;

	if (is_our_turn(share, &failed))
		return !failed;
	ConditionVariablePrepareToSleep(&share->sharing->progress);
	while (!is_our_turn(share, &failed))
		ConditionVariableSleep(&share->sharing->progress,
							   csv_wait_event(&wait_event, "CsvGpuPiece"));
	ConditionVariableCancelSleep();
	return !failed;
}

/*
 * The current piece is read, or cannot be read (not good).  Tells that to the processes
 * that wait for it, or for a later piece.
 */
static void
end_piece(CsvBatches *batches, bool good)
{
	CsvShare   *share = batches->share;
	SharedFile *file = current_file(share);
	CsvFileChange change = good ? csv_reading_change(batches) : CSV_FILE_SAME;
	bool		is_end = good && share->piece.is_last;

	Assert(!good || file->chain.njoined == share->piece.number);
	SpinLockAcquire(&share->sharing->mutex);
	if (good)
	{
		file->chain.njoined++;
		file->chain.place = share->chain.place;
		file->is_cut |= change == CSV_FILE_SHORTER;
	}
	else
		file->failed = Min(file->failed, share->piece.number);
	/* only the process with the last piece knows the changes of all processes */
	if (is_end)
		share->change = file->is_cut ? CSV_FILE_SHORTER : change;
	SpinLockRelease(&share->sharing->mutex);
	if (!is_end)
		ConditionVariableBroadcast(&share->sharing->progress);
	share->is_read = true;
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
	batches->nthreads = (uint32) Max(batches->table->settings.cpu_threads, 1);
	if (sharing == NULL)
		return;
	batches->nthreads = 1;
	batches->share = palloc0(sizeof(CsvShare));
	batches->share->sharing = sharing;
}

void
csv_sharing_rewind(CsvBatches *batches)
{
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
		/*
		 * without a claim it has no place among the messages: a piece will fail
		 * alike
		 */
		if (share->has_claim)
			batches->callbacks.failed(batches->callbacks.arg, error);
		FreeErrorData(error);
	}
	PG_END_TRY();
	if (!done && share->has_claim)
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
		batches->callbacks.passed(batches->callbacks.arg, share->number);
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
	return claim_next(share, batches->resident != NULL);
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
open_pieces(CsvBatches *batches, uint64 nbytes)
{
	CsvShare   *share = batches->share;
	CsvReadAhead ahead;

	/* the file was seekable when its pieces were handed out */
	if (!csv_source_read_ahead(batches->source, &ahead))
		fail_replaced(batches->source);
	ahead.file_bytes = nbytes;
	csv_reader_read_ahead(batches->reader, &ahead);
	if (share->piece.number == 0)
	{
		share->chain.place = *csv_reader_place(batches->reader);
		share->piece.begin = share->chain.place;
		share->piece.from = share->piece.begin.offset;
	}
}

/* opens the current file; false: it is gone */
static bool
open_current(CsvBatches *batches)
{
	const SharedFile *file = current_file(batches->share);

	if (!csv_source_open(batches->source, batches->share->file,
						 file->known ? &file->identity : NULL))
		return false;
	if (!file->known || !csv_source_is_open(batches->source, &file->identity))
		fail_replaced(batches->source);
	return true;
}

/* opens the file of the current piece, if it is still there */
static void
open_step(CsvBatches *batches)
{
	CsvShare   *share = batches->share;
	const SharedFile *file = current_file(share);
	bool		may_keep;

	share->found = open_current(batches);
	if (!share->found)
		return;
	if (file->whole && !file->grows && batches->resident != NULL &&
		csv_resident_find(batches->resident, batches->source, NULL, 0,
						  &may_keep))
	{
		batches->statistics.bytes += file->nbytes;
		return;
	}
	if (!batches->is_alone)
	{
		csv_reading_close(batches);
		csv_reading_open(batches, 1, share->sharing->has_gpu ?
						 CSV_GPU_READS : CSV_GPU_NONE);
		batches->is_alone = true;
	}
	csv_reading_begin(batches, file->grows, NULL);
	if (!file->whole)
		open_pieces(batches, file->nbytes);
}

/*
 * Proposes a set that was found, or NO_SET, instead of *set, which processes
 * shared from this place on.  Then sets both as they are now; true: as
 * proposed.
 */
static bool
propose_set(const CsvShare *share, uint64 *set, CsvFilePlace *from,
			uint64 found)
{
	SharedFile *file = current_file(share);

	SpinLockAcquire(&share->sharing->mutex);
	if (file->set == *set && file->from.offset == from->offset)
		file->set = found;
	*set = file->set;
	*from = file->from;
	SpinLockRelease(&share->sharing->mutex);
	return *set == found;
}

/*
 * opens the current file, if processes share its resident columns, and maps
 * these
 */
static void
find_step(CsvBatches *batches)
{
	CsvShare   *share = batches->share;
	CsvResident *resident = batches->resident;
	CsvFilePlace from = {0};
	uint64		set = 0;
	uint64		found = 0;
	bool		may_keep;

	if (!open_current(batches))
		return;
	(void) propose_set(share, &set, &from, found);
	while (set != NO_SET && !share->found)
	{
		found = csv_resident_find(resident, batches->source,
								  current_file(share)->grows ? &from :
								  NULL, set,
								  &may_keep) ? resident->set : NO_SET;
		share->found = propose_set(share, &set, &from, found) &&
			found != NO_SET;
	}
}

/*
 * true: the current file has resident columns, which are open; otherwise pieces
 * are read
 */
static bool
find_resident(CsvBatches *batches)
{
	CsvShare   *share = batches->share;

	share->found = false;
	if (try_step(batches, find_step) && share->found)
		return true;
	csv_resident_leave(batches->resident);
	SpinLockAcquire(&share->sharing->mutex);
	current_file(share)->set = NO_SET;
	SpinLockRelease(&share->sharing->mutex);
	return false;
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

	if (share->piece.number == 0)
		share->change = CSV_FILE_GONE;
	else if (await_turn(share))
		(void) try_step(batches, missing_step);
}

bool
csv_sharing_open(CsvBatches *batches)
{
	CsvShare   *share = batches->share;

	while (claim_piece(batches))
	{
		batches->at.file_number = share->file + 1;
		if (!share->has_claim)
		{
			if (find_resident(batches))
				return true;
			continue;
		}
		if (try_step(batches, open_step))
		{
			if (share->found)
				return true;
			leave_out_piece(batches);
		}
		end_piece(batches, false);
	}
	csv_source_close(batches->source);
	return false;
}

/* ---- batches ---- */

/* parses the current piece, from a guess or from the end of the chain */
static void
read_step(CsvBatches *batches)
{
	CsvShare   *share = batches->share;
	CsvPieceReader *reader = csv_reader_here(batches->reader);
	CsvStatus	status;

	while ((status = csv_piece_read(reader, &share->piece)) != CSV_OK)
		if (status == CSV_DEVICE_FAILED)
			csv_reading_leave_gpu(batches, drop_gpu(share->sharing));
		else
			csv_reading_fail(batches, status);
	csv_source_check_same(batches->source);
}

/* the piece is read from the end of the chain, without a guess */
static void
skip_guess(CsvShare *share, uint64 sure_end)
{
	CsvPiece   *piece = &share->piece;

	piece->is_exact = true;
	piece->begin = share->chain.place;
	/* the footer is searched in few bytes */
	piece->end = piece->begin.offset < sure_end ?
		Min(piece->to, sure_end) : piece->to;
}

/* false: the piece must be read again */
static bool
join(CsvBatches *batches)
{
	CsvShare   *share = batches->share;

	if (!csv_chain_join(&share->chain, &share->piece))
		return false;
	batches->at.batch = share->piece.batch;
	return true;
}

/*
 * Reads the current piece, or more of it.  Returns false if this piece, or one
 * before it, could not be read.  If a batch ends before its piece does, the next
 * piece has the rest, and the last piece has another batch.
 */
static bool
read_piece(CsvBatches *batches)
{
	CsvShare   *share = batches->share;
	bool		guesses = batches->remote == NULL && !share->is_begun;
	bool		must_wait = share->piece.number > 0 && !share->is_begun;
	bool		good = !guesses || try_step(batches, read_step);

	if (good && must_wait && !await_turn(share))
	{
		share->is_read = true;
		return false;
	}
	if (good && !guesses)
		skip_guess(share, csv_piece_sure_end(csv_reader_here(batches->reader)));
	if (good && (!guesses || !join(batches)))
		good = try_step(batches, read_step) && join(batches);
	share->is_begun = good && share->piece.is_last && !share->piece.at_end;
	if (!share->is_begun)
		end_piece(batches, good);
	return good;
}

/* the next batch of this process's pieces of the open file */
static bool
next_of_pieces(CsvBatches *batches)
{
	CsvBatch   *batch = &batches->at.batch;

	while (claim_piece(batches) &&
		   batches->share->file + 1 == batches->at.file_number)
	{
		CHECK_FOR_INTERRUPTS();
		memset(batch, 0, sizeof(*batch));
		if (read_piece(batches) && batch->nrecords > 0)
		{
			batches->file_bytes = (int64) batch->file_offset;
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
	if (!current_file(batches->share)->whole)
		return next_of_pieces(batches);
	return try_step(batches, file_step) && batches->share->found;
}

/* ---- resident columns ---- */

bool
csv_sharing_has_resident(const CsvBatches *batches)
{
	return batches->resident != NULL && batches->resident->store != NULL &&
		!batches->resident->rests;
}

/*
 * Do processes still share the set that this process has?  Then goes to its
 * next batch.
 */
static bool
is_at_set(CsvBatches *batches)
{
	const CsvShare *share = batches->share;
	const SharedFile *file = current_file(share);
	bool		is_here;

	SpinLockAcquire(&share->sharing->mutex);
	is_here = share->sharing->file == share->file &&
		file->set == batches->resident->set;
	batches->resident->next = file->next_batch;
	SpinLockRelease(&share->sharing->mutex);
	return is_here;
}

/*
 * Claims the batch of this number, unless another process has.  Behind the last
 * batch, the set is done.  batch NULL: the set has none.
 */
static bool
claim_batch(CsvBatches *batches, uint32 number, const CsvBatch *batch)
{
	CsvShare   *share = batches->share;
	CsvSharing *sharing = share->sharing;
	const CsvResident *resident = batches->resident;
	SharedFile *file = current_file(share);
	CsvChain   *chain = &file->chain;
	uint64		nbytes = 0;
	bool		is_here;

	SpinLockAcquire(&sharing->mutex);
	is_here = sharing->file == share->file && file->set == resident->set &&
		file->next_batch == number;
	if (is_here && batch != NULL)
	{
		share->number = sharing->nclaimed++;
		file->next_batch++;
		chain->nclaimed++;
		chain->njoined++;
		chain->place = (CsvFilePlace) {
			.offset = batch->file_offset, .records = batch->file_records,
			.lines = batch->file_lines
		};
		csv_place_pass_batch(&chain->place, batch);
		nbytes = chain->place.offset - chain->claimed_to;
		chain->claimed_to += nbytes;
		sharing->claimed_bytes += nbytes;
	}
	if (is_here && file->next_batch == csv_store_nbatches(resident->store))
	{
		/*
		 * behind the records of these columns, a file that grows may have
		 * others
		 */
		if (file->grows && resident->end.offset < file->nbytes)
		{
			file->from = resident->end;
			file->set = file->next_batch = 0;
		}
		else
			sharing->file = file->next;
	}
	SpinLockRelease(&sharing->mutex);
	batches->statistics.bytes += (int64) nbytes;
	share->has_claim = share->is_read = is_here && batch != NULL;
	return share->has_claim;
}

bool
csv_sharing_next_resident(CsvBatches *batches)
{
	CsvShare   *share = batches->share;
	CsvResident *resident = batches->resident;
	CsvBatch   *batch = &batches->at.batch;

	if (current_file(share)->whole)
	{
		share->is_read = !csv_resident_next(resident, batch);
		return !share->is_read;
	}
	pass_piece(batches);
	while (is_at_set(batches))
	{
		uint32		number = resident->next;
		bool		has_batch = csv_resident_next(resident, batch);

		CHECK_FOR_INTERRUPTS();
		if (claim_batch(batches, number, has_batch ? batch : NULL))
			return true;
	}
	return false;
}
