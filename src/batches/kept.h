/*
 * kept.h
 *		Uses and keeps columns of files.
 *
 * resident.h is the store; this is what a scan does with it.
 */
#ifndef CSV_KEPT_H
#define CSV_KEPT_H

#include "batches/layout.h"
#include "batches/resident.h"
#include "table/source.h"

typedef struct CsvKept
{
	CsvFileLayout *layout;
	MemoryContext context;
	MemoryContextCallback callback;
	CsvResidentKey key;			/* for the open file, when it was opened */

	CsvResident *found;			/* source of the open file's batches; NULL: none */
	const CsvResidentBatch *batch;	/* the current batch */
	CsvArray   *arrays;			/* of the batch, in the layout's order */
	uint32_t   *places;			/* of these columns, among those found */
	CsvResident *copying;		/* destination of the open file's batches; NULL: they
								 * are not copied */
} CsvKept;

/*
 * For the wanted columns of a scan, in the current memory context.  The deletion of
 * the context also releases pinned columns.
 */
extern CsvKept *csv_kept_create(CsvFileLayout *layout);

/*
 * Are the wanted columns of the source's open file kept?  If so, lays them out.
 * Otherwise *may_keep says whether they may be kept after reading.  Must be called
 * before anything is read.
 */
extern bool csv_kept_find(CsvKept *kept, const CsvSource *source, bool *may_keep);

/*
 * The next batch of the columns that were found, NULL after the last; *batch lives
 * until the next call.
 */
extern const CsvResidentBatch *csv_kept_next(CsvKept *kept, CsvBatch *batch);

/* a batch with the layout's columns; `arrays` must have room for them */
extern void csv_kept_map(const CsvKept *kept, const CsvResidentBatch *from,
						 CsvBatch *batch, CsvArray *arrays);

/*
 * Copy the batches of a file whose columns csv_kept_find() has not found, while there
 * is room.  Batches must be added in order, from the first, to the end of the file.
 */
extern void csv_kept_begin(CsvKept *kept, const CsvDialect *dialect);
extern void csv_kept_add(CsvKept *kept, const CsvBatch *batch);
extern void csv_kept_finish(CsvKept *kept, const CsvSource *source);

/* releases the columns that are used or copied to */
extern void csv_kept_leave(CsvKept *kept);

/*
 * For the planner and EXPLAIN: would all batches of a scan that begins now be kept
 * batches?  Sets *nrows to the number of rows; input functions may reject some of
 * them.  Sets *ncolumns to the number of wanted columns in the file.
 */
extern bool csv_kept_exist(const CsvTable *table, const Bitmapset *wanted,
						   const Bitmapset *hidden, bool few_rows,
						   int *ncolumns, int64 *nrows);

#endif							/* CSV_KEPT_H */
