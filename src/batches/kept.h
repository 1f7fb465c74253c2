/*
 * kept.h
 *		Batches of columns that are kept, and keeping them.
 *
 * The store is resident.h; here is what a scan does with it.
 */
#ifndef CSV_KEPT_H
#define CSV_KEPT_H

#include "batches/layout.h"
#include "batches/resident.h"

typedef struct CsvKept CsvKept;

/*
 * For the wanted columns of a scan, in the current memory context: what it has
 * pinned goes with that at the latest.
 */
extern CsvKept *csv_kept_create(CsvFileLayout *layout);

/*
 * Are the wanted columns of a file that was opened (a descriptor) kept?  Then they
 * are laid out.  Otherwise *may_keep says whether they may be, once read; this has to be
 * asked before anything is read.
 */
extern bool csv_kept_find(CsvKept *kept, const char *filename, int file,
						  const CsvFileIdentity *identity, bool *may_keep);

/* the columns that were found; NULL: none */
extern CsvResident *csv_kept_columns(const CsvKept *kept);

/* the next batch of them, NULL after the last; *batch lives until the next call */
extern const CsvResidentBatch *csv_kept_next(CsvKept *kept, CsvBatch *batch);

/* a batch of them with the layout's columns; `arrays` has room for these */
extern void csv_kept_map(const CsvKept *kept, const CsvResidentBatch *from,
						 CsvBatch *batch, CsvArray *arrays);

/*
 * Copy the batches of the file that csv_kept_find() has not found, as far as
 * there is room: from now on, one after the other, and to the end of the file,
 * whose identity is another one if it was written to meanwhile.
 */
extern void csv_kept_begin(CsvKept *kept, const CsvDialect *dialect);
extern bool csv_kept_is_copying(const CsvKept *kept);
extern void csv_kept_add(CsvKept *kept, const CsvBatch *batch);
extern void csv_kept_finish(CsvKept *kept, int file,
							const CsvFileIdentity *identity);

/* let go of columns that are taken from, or copied to */
extern void csv_kept_leave(CsvKept *kept);

/*
 * For planner and EXPLAIN: are the wanted columns of all files of the table kept
 * now?  Then *nrows is how many rows there are, of which some may be refused by
 * input functions.
 */
extern bool csv_kept_exist(const CsvFileLayout *layout, int64 *nrows);

#endif							/* CSV_KEPT_H */
