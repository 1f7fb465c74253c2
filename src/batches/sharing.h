/*
 * sharing.h
 *		One scan of a table's files by several processes.
 *
 * In shared memory stands which files there are, how far they have been handed
 * out, and where the records end in what has been read.
 *
 *	1. csv_sharing_claim() hands out the next piece of the files.  Small ones,
 *	   and those that can be read from their beginning only, are one piece.
 *	2. The piece is parsed from where its first record begins by a guess (not by a
 *	   GPU, which has the bytes itself, and takes but moments for them).
 *	3. csv_sharing_wait() tells where the records before it do end, which says
 *	   whether the guess was right (piece.h), and what their numbers are.
 *	4. csv_sharing_publish() tells the next piece's reader.
 *
 * Nothing else may be waited for between 1 and 4, so that nobody waits for long:
 * others' readers do for this one's.
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
	uint32		in_file;		/* piece of it, from 0 */
	bool		whole;			/* the file, which cannot be read at any place */
	CsvPiece	piece;
} CsvClaim;

/* bytes of shared memory for the source's files */
extern Size csv_sharing_size(const CsvSource *source);

/*
 * Set up for so many processes.  piece_bytes: of each piece; 0: what is best.
 * last_bytes: the last piece of a file has at least as many, if the file has
 * (csv_footer_margin()).  The settings say whether a GPU is to read them.
 */
extern void csv_sharing_init(CsvSharing *sharing, CsvSource *source,
							 int nprocesses, uint64 piece_bytes,
							 uint64 last_bytes,
							 const CsvSettings *settings);

/* does it?  Not any more, where it has failed: true for the first to say so. */
extern bool csv_sharing_has_gpu(CsvSharing *sharing);
extern bool csv_sharing_drop_gpu(CsvSharing *sharing);

/*
 * The size of pieces for a table's chunk_size (0: none is given): small ones cost
 * more to hand out, and to guess their beginning, than to read.
 */
extern uint64 csv_piece_bytes(uint64 chunk_bytes);

/* hand out all files again, as they are now; nobody reads them */
extern void csv_sharing_restart(CsvSharing *sharing, CsvSource *source,
								const CsvSettings *settings);

/* the files, for a process that joins: names in the current memory context */
extern void csv_sharing_files(const CsvSharing *sharing, char ***names,
							  int *nfiles);

/* the file as all take it; NULL if it could not be looked at */
extern const CsvFileIdentity *csv_sharing_identity(const CsvSharing *sharing,
												   int file);

/* ERROR if the file that the source has opened is not the one that is shared */
extern void csv_sharing_check_file(const CsvSharing *sharing, int file,
								   const CsvSource *source);

/* that ERROR */
extern void csv_sharing_replaced(const CsvSource *source)
	__attribute__((noreturn));

/* bytes of the file, as all take them */
extern uint64 csv_sharing_file_bytes(const CsvSharing *sharing, int file);

/* the next piece; false: there are no more */
extern bool csv_sharing_claim(CsvSharing *sharing, CsvClaim *claim);

/* hand out no more */
extern void csv_sharing_close(CsvSharing *sharing);

/* pieces that have been handed out */
extern uint64 csv_sharing_nclaimed(CsvSharing *sharing);

/*
 * Wait until all pieces of the file before this one have been read, and tell
 * where the records end in them; false if one could not be read.  May be
 * interrupted.
 */
extern bool csv_sharing_wait(CsvSharing *sharing, const CsvClaim *claim,
							 CsvFilePlace *place);

/*
 * Tell where they end in this one, and how the file has changed for this process; in
 * turn: after csv_sharing_wait().  Returns how it has changed for this process and
 * those before.
 */
extern CsvFileChange csv_sharing_publish(CsvSharing *sharing,
										 const CsvClaim *claim,
										 const CsvFilePlace *place,
										 CsvFileChange change);

/* it cannot be read: nobody is to wait for it */
extern void csv_sharing_fail(CsvSharing *sharing, const CsvClaim *claim);

#endif							/* CSV_SHARING_H */
