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

#include "batches/choose.h"
#include "batches/sharing.h"
#include "compat.h"

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

typedef struct SharedFile
{
	CsvFileIdentity identity;
	Size		name;			/* offset of its name, from `sharing` */
	uint64		nbytes;
	bool		known;			/* the file could be examined */
	bool		whole;			/* as in CsvClaim */
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
		file->nbytes = file->known ? (uint64) file->identity.size : 0;
		sharing->total_bytes += file->nbytes;
	}
	sharing->has_gpu = csv_engine_wants_gpu(settings,
											(int64) sharing->total_bytes);
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

void
csv_sharing_replaced(const CsvSource *source)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("file \"%s\" was replaced while it was read",
					csv_source_name(source))));
}

void
csv_sharing_check_file(const CsvSharing *sharing, int file,
					   const CsvSource *source)
{
	const SharedFile *shared = &sharing->files[file];

	if (!shared->known || !csv_source_is_open(source, &shared->identity))
		csv_sharing_replaced(source);
}

const CsvFileIdentity *
csv_sharing_identity(const CsvSharing *sharing, int file)
{
	return sharing->files[file].known ? &sharing->files[file].identity : NULL;
}

uint64
csv_sharing_file_bytes(const CsvSharing *sharing, int file)
{
	return sharing->files[file].nbytes;
}

bool
csv_sharing_has_gpu(CsvSharing *sharing)
{
	bool		has_gpu;

	SpinLockAcquire(&sharing->mutex);
	has_gpu = sharing->has_gpu;
	SpinLockRelease(&sharing->mutex);
	return has_gpu;
}

bool
csv_sharing_drop_gpu(CsvSharing *sharing)
{
	bool		had_gpu;

	SpinLockAcquire(&sharing->mutex);
	had_gpu = sharing->has_gpu;
	sharing->has_gpu = false;
	SpinLockRelease(&sharing->mutex);
	return had_gpu;
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

bool
csv_sharing_claim(CsvSharing *sharing, CsvClaim *claim)
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

void
csv_sharing_close(CsvSharing *sharing)
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

/* is it known where a piece begins, or that it cannot be read? */
static bool
is_our_turn(CsvSharing *sharing, const CsvClaim *claim, CsvFilePlace *place,
			bool *failed)
{
	const SharedFile *file = &sharing->files[claim->file];
	bool		is_turn;

	SpinLockAcquire(&sharing->mutex);
	*failed = claim->in_file > file->failed;
	is_turn = *failed || file->npieces == claim->in_file;
	*place = file->place;
	SpinLockRelease(&sharing->mutex);
	return is_turn;
}

bool
csv_sharing_wait(CsvSharing *sharing, const CsvClaim *claim,
				 CsvFilePlace *place)
{
	static uint32 wait_event = 0;
	bool		failed;

	if (is_our_turn(sharing, claim, place, &failed))
		return !failed;
	ConditionVariablePrepareToSleep(&sharing->progress);
	while (!is_our_turn(sharing, claim, place, &failed))
		ConditionVariableSleep(&sharing->progress,
							   csv_wait_event(&wait_event, "CsvGpuPiece"));
	ConditionVariableCancelSleep();
	return !failed;
}

CsvFileChange
csv_sharing_publish(CsvSharing *sharing, const CsvClaim *claim,
					const CsvFilePlace *place, CsvFileChange change)
{
	SharedFile *file = &sharing->files[claim->file];

	Assert(file->npieces == claim->in_file);
	SpinLockAcquire(&sharing->mutex);
	file->npieces++;
	file->place = *place;
	file->is_cut |= change == CSV_FILE_SHORTER;
	if (file->is_cut)
		change = CSV_FILE_SHORTER;
	SpinLockRelease(&sharing->mutex);
	if (!claim->piece.is_last)
		ConditionVariableBroadcast(&sharing->progress);
	return change;
}

void
csv_sharing_fail(CsvSharing *sharing, const CsvClaim *claim)
{
	SharedFile *file = &sharing->files[claim->file];

	SpinLockAcquire(&sharing->mutex);
	file->failed = Min(file->failed, claim->in_file);
	SpinLockRelease(&sharing->mutex);
	ConditionVariableBroadcast(&sharing->progress);
}
