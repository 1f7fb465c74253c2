/*
 * sharing.h
 *		One scan of a table's files by several processes.
 *
 * Shared memory holds the list of files, how far they have been handed out, and where
 * the records end in the parts that were read.
 *
 *	1. A process claims the next piece of the files.  A small file, or a file that
 *	   can only be read from its beginning, is one piece.
 *	2. The process guesses where the first record of its piece begins, and parses
 *	   from there.  (A GPU does not guess: it has the bytes, and is fast.)
 *	3. The process waits until it is known where the records before the piece end.  That
 *	   shows whether the guess was right (piece.h), and the records' numbers.
 *	4. The process publishes where the records of its piece end, for the next piece.
 *
 * Between 1 and 4 a process must wait for nothing else, because the readers of later
 * pieces wait for it.
 *
 * If a file's columns are kept, a process maps the same set of columns as the
 * others, and claims its batches by their numbers.  A batch joins the chain
 * when it is claimed.  If a process cannot map the set (csv_gpu_service has
 * ended, or has dropped it), all processes read the rest of the file by pieces.
 */
#ifndef CSV_SHARING_H
#define CSV_SHARING_H

#include "batches/producer.h"

typedef struct CsvSharing CsvSharing;

/* ---- the shared memory ---- */

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

/* the number of pieces handed out */
extern uint64 csv_sharing_nclaimed(CsvSharing *sharing);

/* ---- the part of this process ---- */

/*
 * From now on reads some pieces of the files, with one thread of the CPU engine, or
 * with a GPU.  If sharing is NULL, reads alone again.  Not allowed during a scan.
 */
extern void csv_sharing_begin(CsvBatches *batches, CsvSharing *sharing);

/* no process reads beyond the piece that it has; the current piece counts as passed */
extern void csv_sharing_stop(CsvBatches *batches);

/* for batches.c: opens the file of the next piece; false: there are no more pieces */
extern bool csv_sharing_open(CsvBatches *batches);

/* for batches.c: the next batch of the open file; false: there are no more here */
extern bool csv_sharing_next(CsvBatches *batches);

/*
 * For batches.c: does the open file have resident columns?  Then
 * csv_sharing_next_resident() instead of csv_sharing_next() returns its next
 * batch.
 */
extern bool csv_sharing_has_resident(const CsvBatches *batches);
extern bool csv_sharing_next_resident(CsvBatches *batches);

/* for batches.c: forgets the current piece */
extern void csv_sharing_rewind(CsvBatches *batches);

#endif							/* CSV_SHARING_H */
