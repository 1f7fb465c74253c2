/*
 * pipeline.h
 *		Reads and parses a file ahead of the thread that takes its batches.
 *
 * Private to the reader (stream.c).
 */
#ifndef CSV_PIPELINE_H
#define CSV_PIPELINE_H

#include "place.h"

#ifdef __cplusplus
extern "C" {
#endif

/* a thread reads blocks of this size; smaller blocks would not be worth it */
#define CSV_READ_BLOCK_BYTES	(1024 * 1024)

/* smaller pieces are not worth passing from thread to thread */
#define CSV_LEAST_PIECE_BYTES	(16 * 1024)

typedef struct CsvPipelineOptions
{
	const CsvEngine *engine;	/* configured; with at least two outputs */
	void	   *engine_state;
	CsvMemory	memory;			/* usable in any thread */
	CsvReadAhead ahead;
	CsvFilePlace place;			/* where to start */
	uint64_t	piece_bytes;	/* of the first piece; each next piece is 4 times */
	uint64_t	most_piece_bytes;	/* as long, up to this */
	uint64_t	headroom_bytes; /* longest rest of a piece that can be moved in
								 * front of the next piece; 0: a 16th of a piece */
	uint64_t	max_record_bytes;
	uint64_t	end;			/* the pipeline stops at this offset */
} CsvPipelineOptions;

/* why a pipeline has ended, after its last batch */
typedef struct CsvPipelineEnd
{
	CsvStatus	status;			/* CSV_END, or a failure of the engine; CSV_OK:
								 * this pipeline cannot read what follows */

	/*
	 * With CSV_OK: if not 0, a pipeline with this much headroom can continue.  If 0,
	 * the next records must be read in another way, because reading failed, or a
	 * record is longer than a piece.
	 */
	uint64_t	headroom_bytes;
} CsvPipelineEnd;

typedef struct CsvPipeline CsvPipeline;

/*
 * Start the threads.  NULL if there is no memory, or no thread can be started.  The
 * engine belongs to the pipeline until csv_pipeline_stop.
 */
extern CsvPipeline *csv_pipeline_start(const CsvPipelineOptions *options);

/*
 * Release the last batch, and take the next batch, with the place where it ends.
 * Returns CSV_OK; CSV_INTERRUPTED, after which the call may be repeated; or CSV_END if
 * there is no further batch: then *end says why.
 */
extern CsvStatus csv_pipeline_next(CsvPipeline *pipeline,
								   bool (*interrupted) (void *arg), void *arg,
								   CsvBatch *batch, CsvFilePlace *place,
								   CsvPipelineEnd *end);

/* seconds during which at least one thread was reading */
extern double csv_pipeline_read_seconds(CsvPipeline *pipeline);

/*
 * Stop the threads, wait for them, and free everything, including the last batch.
 * Takes no longer than an interrupted call of parse, and reading a block.
 */
extern void csv_pipeline_stop(CsvPipeline *pipeline);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_PIPELINE_H */
