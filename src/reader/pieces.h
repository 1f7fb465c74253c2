/*
 * pieces.h
 *		Several threads read and parse a file, a piece each, ahead of whoever takes
 *		its batches.
 *
 * Private to the reader (stream.c).
 */
#ifndef CSV_PIECES_H
#define CSV_PIECES_H

#include "piece.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CsvPiecesOptions
{
	const CsvEngine *engine;	/* with CsvEngine.another */
	void	   *engine_state;
	const CsvDialect *dialect;
	const CsvLayout *layout;
	CsvMemory	memory;			/* usable in any thread */
	CsvReadAhead ahead;
	CsvBatchHook hook;			/* function NULL: none */
	CsvFilePlace place;			/* where to start */
	uint64_t	piece_bytes;	/* of the first piece; each is 4 times as long ... */
	uint64_t	most_piece_bytes;	/* ... as the one before, up to this */
	uint64_t	max_record_bytes;
	uint32_t	nthreads;
} CsvPiecesOptions;

typedef struct CsvPieces CsvPieces;

/* Start the threads.  NULL where there is no memory, or no thread to be had. */
extern CsvPieces *csv_pieces_start(const CsvPiecesOptions *options);

/* from now on, for batches that no thread is through with */
extern void csv_pieces_set_hook(CsvPieces *pieces, const CsvBatchHook *hook);

/* begin no more pieces: those that are begun are the last */
extern void csv_pieces_wind_up(CsvPieces *pieces);

/*
 * Let go of the batch taken last, and take the next one, with the place where
 * it ends.  CSV_OK; CSV_INTERRUPTED, after which the call may be repeated;
 * CSV_END where there is no further one.  *why says why: CSV_END at the end of the
 * file, CSV_OK after csv_pieces_wind_up(), or what has failed.
 */
extern CsvStatus csv_pieces_next(CsvPieces *pieces,
								 bool (*interrupted) (void *arg), void *arg,
								 CsvBatch *batch, CsvFilePlace *place,
								 CsvStatus *why);

/* seconds spent reading, of all threads together */
extern double csv_pieces_read_seconds(CsvPieces *pieces);

/* stop the threads, wait for them, and give everything back */
extern void csv_pieces_stop(CsvPieces *pieces);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_PIECES_H */
