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

typedef struct CsvKept CsvKept;

/*
 * For the wanted columns of a scan, in the current memory context.  The deletion of
 * the context also releases pinned columns.
 */
extern CsvKept *csv_kept_create(CsvFileLayout *layout);

/*
 * Are the wanted columns of an open file (a descriptor) kept?  If so, lays them out.
 * Otherwise *may_keep says whether they may be kept after reading.  Must be called
 * before anything is read.
 */
extern bool csv_kept_find(CsvKept *kept, const char *filename, int file,
						  const CsvFileIdentity *identity, bool *may_keep);

/* the columns that were found; NULL: none */
extern CsvResident *csv_kept_columns(const CsvKept *kept);

/* their next batch, NULL after the last; *batch lives until the next call */
extern const CsvResidentBatch *csv_kept_next(CsvKept *kept, CsvBatch *batch);

/* a batch with the layout's columns; `arrays` must have room for them */
extern void csv_kept_map(const CsvKept *kept, const CsvResidentBatch *from,
						 CsvBatch *batch, CsvArray *arrays);

/*
 * Copy the batches of a file whose columns csv_kept_find() has not found, while there
 * is room.  Batches must be added in order, from the first, to the end of the file.
 * The identity at the end differs if another process has written to the file.
 */
extern void csv_kept_begin(CsvKept *kept, const CsvDialect *dialect);
extern bool csv_kept_is_copying(const CsvKept *kept);
extern void csv_kept_add(CsvKept *kept, const CsvBatch *batch);
extern void csv_kept_finish(CsvKept *kept, int file,
							const CsvFileIdentity *identity);

/* releases the columns that are used or copied to */
extern void csv_kept_leave(CsvKept *kept);

/*
 * For the planner and EXPLAIN: are the wanted columns of all files of the table kept
 * now?  Sets *nrows to the number of rows; input functions may reject some of them.
 */
extern bool csv_kept_exist(const CsvFileLayout *layout, int64 *nrows);

#endif							/* CSV_KEPT_H */
