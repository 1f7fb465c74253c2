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
	const CsvEngine *engine;	/* with CsvEngine.another */
	void	   *engine_state;
	const CsvDialect *dialect;
	const CsvLayout *layout;
	CsvMemory	memory;			/* usable in any thread */
	CsvBatchHook hook;			/* function NULL: none */
	CsvFilePlace place;			/* where to start */
	CsvReadAhead ahead;			/* read_at NULL: the file is a stream */
	CsvReadFn	read;			/* csv_pieces_next() reads the stream with it */
	void	   *read_arg;
	const uint8_t *bytes;		/* the stream's bytes that are read already */
	size_t		nbytes;
	uint64_t	piece_bytes;	/* of the first piece; each next piece is 4 times */
	uint64_t	most_piece_bytes;	/* as long, up to this */
	uint64_t	max_record_bytes;
	uint32_t	nthreads;
} CsvPiecesOptions;

typedef struct CsvPieces CsvPieces;

/* Start the threads.  NULL if there is no memory, or no thread can be started. */
extern CsvPieces *csv_pieces_start(const CsvPiecesOptions *options);

/* set the hook, for batches that threads have not finished yet */
extern void csv_pieces_set_hook(CsvPieces *pieces, const CsvBatchHook *hook);

/* let no further piece join the chain */
extern void csv_pieces_wind_up(CsvPieces *pieces);

/*
 * The number of bytes of a stream that were read from an offset on, and whether they
 * are the last.  csv_pieces_take_left() copies them.  The offset must not be before the
 * end of the last batch that was taken.
 */
extern uint64_t csv_pieces_left(CsvPieces *pieces, uint64_t offset,
								bool *at_end);
extern void csv_pieces_take_left(CsvPieces *pieces, uint64_t offset,
								 uint8_t *buffer, uint64_t nbytes);

/*
 * Release the last batch, and take the next batch, with the place where it ends.
 * Returns CSV_OK; CSV_INTERRUPTED or CSV_NO_MEMORY, after which the call may be
 * repeated; or CSV_END if there is no further batch.  Then *why is CSV_END at the end
 * of the file, CSV_OK after csv_pieces_wind_up(), or the failure.
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
