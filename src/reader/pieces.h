/*
 * pieces.h
 *		Several threads parse a file, a piece each, ahead of whoever takes its
 *		batches.  They read it themselves, or, where it can only be read in its
 *		order, that one reads for them.
 *
 * Private to the reader (stream.c).
 */
#ifndef CSV_PIECES_H
#define CSV_PIECES_H

#include "piece.h"

#ifdef __cplusplus
extern "C" {
#endif

/* of pieces that several threads take, when they have grown */
#define CSV_PIECE_BYTES	((size_t) 512 * 1024)

typedef struct CsvPiecesOptions
{
	const CsvEngine *engine;	/* with CsvEngine.another */
	void	   *engine_state;
	const CsvDialect *dialect;
	const CsvLayout *layout;
	CsvMemory	memory;			/* usable in any thread */
	CsvBatchHook hook;			/* function NULL: none */
	CsvFilePlace place;			/* where to start */
	CsvReadAhead ahead;			/* read_at NULL: it is a stream, */
	CsvReadFn	read;			/* of which csv_pieces_next() reads on here, */
	void	   *read_arg;
	const uint8_t *bytes;		/* behind these, which are read already */
	size_t		nbytes;
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
 * What has been read of a stream from an offset on, which is not before the end of
 * the batch taken last: the number of bytes, and are they the last ones?  Then
 * the bytes.
 */
extern uint64_t csv_pieces_left(CsvPieces *pieces, uint64_t offset,
								bool *at_end);
extern void csv_pieces_take_left(CsvPieces *pieces, uint64_t offset,
								 uint8_t *buffer, uint64_t nbytes);

/*
 * Let go of the batch taken last, and take the next one, with the place where
 * it ends.  CSV_OK; CSV_INTERRUPTED or CSV_NO_MEMORY, after which the call may be
 * repeated; CSV_END where there is no further one.  *why says why: CSV_END at the end of the
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
