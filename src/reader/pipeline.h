/*
 * pipeline.h
 *		Reads and parses a file ahead of whoever takes its batches.
 *
 * Private to the reader (stream.c).
 */
#ifndef CSV_PIPELINE_H
#define CSV_PIPELINE_H

#include "place.h"

#ifdef __cplusplus
extern "C" {
#endif

/* a block is what a thread reads at a time; it is not worth less than this */
#define CSV_READ_BLOCK_BYTES	(1024 * 1024)

/* smaller pieces are not worth handing them from thread to thread */
#define CSV_LEAST_PIECE_BYTES	(16 * 1024)

typedef struct CsvPipelineOptions
{
	const CsvEngine *engine;	/* configured; of two outputs or more */
	void	   *engine_state;
	CsvMemory	memory;			/* usable in any thread */
	CsvReadAhead ahead;
	CsvFilePlace place;			/* where to start */
	uint64_t	piece_bytes;	/* of the first piece; each is 4 times as long ... */
	uint64_t	most_piece_bytes;	/* ... as the one before, up to this */
	uint64_t	headroom_bytes; /* longest rest of a piece that can be moved in
								 * front of the next; 0: a 16th of a piece */
	uint64_t	max_record_bytes;
	uint64_t	end;			/* what is behind this offset is not for the
								 * pipeline */
} CsvPipelineOptions;

/* why a pipeline came to its end, after its last batch */
typedef struct CsvPipelineEnd
{
	CsvStatus	status;			/* CSV_END, or a failure of the engine; CSV_OK:
								 * what comes next is not for this pipeline */

	/*
	 * With CSV_OK: not 0: one with so much headroom can go on; 0: the next
	 * records are to be read in another way, since reading failed or a record
	 * is longer than a piece.
	 */
	uint64_t	headroom_bytes;
} CsvPipelineEnd;

typedef struct CsvPipeline CsvPipeline;

/*
 * Start the threads.  NULL where there is no memory, or no thread to be had.
 * From now on the engine belongs to the pipeline until csv_pipeline_stop.
 */
extern CsvPipeline *csv_pipeline_start(const CsvPipelineOptions *options);

/*
 * Let go of the batch taken last, and take the next one, with the place where
 * it ends.  CSV_OK; CSV_INTERRUPTED, after which the call may be repeated;
 * CSV_END where there is no further one: *end says why.
 */
extern CsvStatus csv_pipeline_next(CsvPipeline *pipeline,
								   bool (*interrupted) (void *arg), void *arg,
								   CsvBatch *batch, CsvFilePlace *place,
								   CsvPipelineEnd *end);

/* seconds during which some thread was reading */
extern double csv_pipeline_read_seconds(CsvPipeline *pipeline);

/*
 * Stop the threads, wait for them, and give everything back, the batch taken
 * last with it.  Takes no longer than a call of parse that gives up, and the
 * reading of a block.
 */
extern void csv_pipeline_stop(CsvPipeline *pipeline);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_PIPELINE_H */
