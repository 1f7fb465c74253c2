/*
 * best.h
 *		ORDER BY with LIMIT: which rows may be among the first ones.
 *
 * A heap has the keys of the best query->limit rows so far, the last one on
 * top.  Of rows with equal keys the earlier one is better.  A row that is not
 * better than the top is dropped as soon as it is seen.  A better one replaces
 * the top; if the top is a row of the same batch, it is dropped, too.
 *
 * Texts are copied.  When all keys together take more than query->limit_bytes,
 * the heap is no longer changed: rows that are worse than its top are still
 * dropped.
 */
#ifndef CSV_BEST_H
#define CSV_BEST_H

#include "lanes.h"

/* a key of a row that is kept */
typedef struct CsvBestKey
{
	CsvValue	value;
	uint8_t    *bytes;			/* room for a TEXT, of `capacity` bytes */
	uint32_t	capacity;
} CsvBestKey;

typedef struct CsvBest
{
	const CsvMemory *memory;
	const CsvQuery *query;
	uint32_t	nentries;
	CsvBestKey *keys;			/* of entry i from i * query->norder on */
	uint64_t   *serials;		/* of each entry: its row, counted from the
								 * first one of all */
	uint32_t   *heap;			/* entries, the worst first */
	size_t		text_bytes;
	bool		frozen;

	uint64_t	batch_serial;	/* of the batch's first row */
	uint8_t    *held;			/* of each row of the batch: is it in the heap? */
	uint32_t	held_capacity;
	uint32_t	nrows;			/* of the batch */
} CsvBest;

/* false: no memory; then nothing is to be freed */
extern bool csv_best_init(CsvBest *best, const CsvMemory *memory,
						  const CsvQuery *query);
extern void csv_best_free(CsvBest *best);

/* start with the next batch; false: no memory */
extern bool csv_best_begin(CsvBest *best, uint32_t nrows);

/*
 * Take rows of the batch's block that begins at first_row: of the *nrows ones in
 * `rows`, those stay that are better than the heap's top when they are seen.
 * All keys are certain.  False: no memory.
 */
extern bool csv_best_take(CsvBest *best, const CsvLanes *registers,
						  uint32_t first_row, uint16_t *rows, uint32_t *nrows);

/* of a row of the batch that stayed: is it still wanted? */
static inline bool
csv_best_holds(const CsvBest *best, uint32_t row)
{
	return best->held[row] != 0;
}

#endif							/* CSV_BEST_H */
