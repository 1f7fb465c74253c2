/*
 * pieces.h
 *		Several threads parse a file, a piece each, ahead of the thread that takes
 *		the batches (the consumer).  The threads read the file themselves, except a
 *		stream: the consumer reads that for them.
 *
 * Private to the reader (stream.c).
 */
#ifndef CSV_PIECES_H
#define CSV_PIECES_H

#include "piece.h"

#ifdef __cplusplus
extern "C" {
#endif

/* the size to which pieces grow */
#define CSV_PIECE_BYTES	((size_t) 512 * 1024)

typedef struct CsvPiecesOptions
{
	/*
	 * The reader of the calling thread, which knows where the data end.  Its engine has
	 * CsvEngine.another, and its memory can be used in any thread.
	 */
	const CsvPieceReader *like;
	const CsvLayout *layout;
	CsvBatchHook hook;			/* function NULL: none */
	CsvFilePlace place;			/* where to start; bytes of a stream that were read
								 * already are in the window of `like` */
	CsvReadAhead ahead;			/* read_at NULL: the file is a stream */
	CsvReadFn	read;			/* csv_pieces_next() reads the stream with it */
	void	   *read_arg;
	uint64_t	piece_bytes;	/* of the first piece; each next piece is 4 times */
	uint64_t	most_piece_bytes;	/* as long, up to this */
	uint32_t	nthreads;
} CsvPiecesOptions;

typedef struct CsvPieces CsvPieces;

/* Start the threads.  NULL if there is no memory, or no thread can be started. */
extern CsvPieces *csv_pieces_start(const CsvPiecesOptions *options);

/* set the hook, for batches that threads have not finished yet */
extern void csv_pieces_set_hook(CsvPieces *pieces, const CsvBatchHook *hook);

/* let no further piece join the chain */
extern void csv_pieces_wind_up(CsvPieces *pieces);

/* the bytes of a stream that were read go into the window, from this offset on */
extern CsvStatus csv_pieces_give_back(CsvPieces *pieces, CsvFileWindow *window,
									  uint64_t from);

/*
 * Release the last batch, and take the next batch, with the place where it ends.
 * Returns CSV_OK; CSV_INTERRUPTED or CSV_NO_MEMORY, after which the call may be
 * repeated; or CSV_END if there is no further batch.  Then *why is CSV_END at the end
 * of the file, CSV_OK after csv_pieces_wind_up() or before bytes that may be the footer,
 * or the failure.
 */
extern CsvStatus csv_pieces_next(CsvPieces *pieces,
								 bool (*interrupted) (void *arg), void *arg,
								 CsvBatch *batch, CsvFilePlace *place,
								 CsvStatus *why);

/* seconds spent reading, of all threads together */
extern double csv_pieces_read_seconds(CsvPieces *pieces);

/* stop the threads, wait for them, and free everything */
extern void csv_pieces_stop(CsvPieces *pieces);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_PIECES_H */
