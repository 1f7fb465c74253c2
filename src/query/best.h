/*
 * best.h
 *		ORDER BY with LIMIT: finds the rows that may be among the first.
 *
 * A heap has the keys of the best query->limit rows so far, the last of them on top.
 * If keys are equal, the earlier row is better.  A row that is not better than the top
 * is dropped at once.  A better row replaces the top; if the top is a row of the same
 * batch, the top is dropped, too.
 *
 * Texts are copied.  When the copies take more than query->limit_bytes, the heap does
 * not change any more: rows that are worse than its top are still dropped.
 */
#ifndef CSV_BEST_H
#define CSV_BEST_H

#include "lanes.h"

/* a key of a row in the heap */
typedef struct CsvBestKey
{
	CsvValue	value;
	uint8_t    *bytes;			/* memory for a TEXT, `capacity` bytes */
	size_t		capacity;
} CsvBestKey;

typedef struct CsvBest
{
	const CsvMemory *memory;
	const CsvQuery *query;
	uint32_t	nentries;
	CsvBestKey *keys;			/* the keys of entry i begin at i * query->norder */
	uint64_t   *serials;		/* of each entry: number of its row, over all
								 * batches */
	uint32_t   *heap;			/* entries, the worst first */
	size_t		text_bytes;
	bool		frozen;

	uint64_t	batch_serial;	/* of the batch's first row */
	uint8_t    *comes_out;		/* of each row of the batch: does it come out? */
	size_t		comes_out_capacity;
	uint32_t	nrows;			/* of the batch */
} CsvBest;

/* false: no memory, and nothing to free */
extern bool csv_best_init(CsvBest *best, const CsvMemory *memory,
						  const CsvQuery *query);
extern void csv_best_free(CsvBest *best);

/* start with the next batch; false: no memory */
extern bool csv_best_begin(CsvBest *best, uint32_t nrows);

/*
 * Take the *nrows rows in `rows`, of the batch's block that begins at first_row.  Rows
 * that are better than the heap's top at that moment stay in `rows`.  No key is
 * undecided.  False: no memory.
 */
extern bool csv_best_take(CsvBest *best, const CsvLanes *registers,
						  uint32_t first_row, uint16_t *rows, uint32_t *nrows);

/* a row of the batch that stayed: does it still come out? */
static inline bool
csv_best_holds(const CsvBest *best, uint32_t row)
{
	return best->comes_out[row] != 0;
}

#endif							/* CSV_BEST_H */
