/*
 * sharing.h
 *		One scan of a table's files by several processes.
 *
 * Shared memory holds the list of files, how far they have been handed out, and where
 * the records end in the parts that were read.
 *
 *	1. csv_sharing_claim() hands out the next piece of the files.  A small file,
 *	   or a file that can only be read from its beginning, is one piece.
 *	2. A process guesses where the first record of its piece begins, and parses
 *	   from there.  (A GPU does not guess: it has the bytes, and is fast.)
 *	3. csv_sharing_wait() returns where the records before the piece end.  That
 *	   shows whether the guess was right (piece.h), and the records' numbers.
 *	4. csv_sharing_publish() tells the reader of the next piece.
 *
 * Between 1 and 4 a process must wait for nothing else, because the readers of later
 * pieces wait for it.
 */
#ifndef CSV_SHARING_H
#define CSV_SHARING_H

#include "reader/piece.h"
#include "table/source.h"

typedef struct CsvSharing CsvSharing;

typedef struct CsvClaim
{
	uint64		number;			/* from 0, in the order of the files */
	int			file;			/* from 0 */
	uint32		in_file;		/* number of the piece in the file, from 0 */
	bool		whole;			/* the whole file, if it cannot be divided */
	CsvPiece	piece;
} CsvClaim;

/* bytes of shared memory for the source's files */
extern Size csv_sharing_size(const CsvSource *source);

/*
 * Sets up sharing for nprocesses processes.  piece_bytes: size of a piece; 0: the best
 * size.  last_bytes: the last piece of a file is at least this long, if the file is
 * (csv_footer_margin()).  The settings say whether a GPU must read the files.
 */
extern void csv_sharing_init(CsvSharing *sharing, CsvSource *source,
							 int nprocesses, uint64 piece_bytes,
							 uint64 last_bytes,
							 const CsvSettings *settings);

/*
 * csv_sharing_has_gpu(): does a GPU read the files?  csv_sharing_drop_gpu(): the GPU
 * has failed; true for the first process that says so.
 */
extern bool csv_sharing_has_gpu(CsvSharing *sharing);
extern bool csv_sharing_drop_gpu(CsvSharing *sharing);

/*
 * The size of pieces for a table's chunk_size (0: not given).  Very small pieces cost
 * more to hand out, and to guess their beginning, than to read.
 */
extern uint64 csv_piece_bytes(uint64 chunk_bytes);

/* hands out all files again, as they are now; no process may be reading them */
extern void csv_sharing_restart(CsvSharing *sharing, CsvSource *source,
								const CsvSettings *settings);

/* the files, for a process that joins; names are in the current memory context */
extern void csv_sharing_files(const CsvSharing *sharing, char ***names,
							  int *nfiles);

/* the file's identity for all processes; NULL if the file could not be examined */
extern const CsvFileIdentity *csv_sharing_identity(const CsvSharing *sharing,
												   int file);

/* ERROR if the source has opened a file other than the shared file */
extern void csv_sharing_check_file(const CsvSharing *sharing, int file,
								   const CsvSource *source);

/* the ERROR of csv_sharing_check_file() */
extern void csv_sharing_replaced(const CsvSource *source)
	__attribute__((noreturn));

/* the file's size in bytes, for all processes */
extern uint64 csv_sharing_file_bytes(const CsvSharing *sharing, int file);

/* the next piece; false: no more pieces */
extern bool csv_sharing_claim(CsvSharing *sharing, CsvClaim *claim);

/* hands out no more pieces */
extern void csv_sharing_close(CsvSharing *sharing);

/* the number of pieces handed out */
extern uint64 csv_sharing_nclaimed(CsvSharing *sharing);

/*
 * Waits until all pieces of the file before this piece have been read, and returns
 * where their records end.  Returns false if one of these pieces could not be read.
 * May be interrupted by an ERROR.
 */
extern bool csv_sharing_wait(CsvSharing *sharing, const CsvClaim *claim,
							 CsvFilePlace *place);

/*
 * Publishes where the records of this piece end, and how the file has changed for this
 * process.  Must follow csv_sharing_wait().  Returns how the file has changed for the
 * processes up to this piece.
 */
extern CsvFileChange csv_sharing_publish(CsvSharing *sharing,
										 const CsvClaim *claim,
										 const CsvFilePlace *place,
										 CsvFileChange change);

/* this piece cannot be read, so no process must wait for it */
extern void csv_sharing_fail(CsvSharing *sharing, const CsvClaim *claim);

#endif							/* CSV_SHARING_H */
