/*
 * kept.h
 *		Converted columns of files that are kept from query to query, for all
 *		sessions.
 *
 * The columns are in memory that processes share (wire/store.h).  csv_gpu_service has
 * the list of columns (service/sets.h), and decides which processes may use how
 * much memory.  A query over kept batches proceeds like any other query: doubtful
 * values are made again by their input functions, and skipped records are reported
 * again.
 *
 *	1. csv_kept_find() finds kept columns, and pins them.  csv_kept_next() returns
 *	   their batches.
 *	2. If there are none, csv_kept_begin() starts a set of columns.  csv_kept_add()
 *	   copies the batches of a scan one by one.  When the file was read to its end,
 *	   csv_kept_finish() makes the set findable.
 *	3. In both cases, csv_kept_leave() is the end.
 */
#ifndef CSV_KEPT_H
#define CSV_KEPT_H

#include "table/layout.h"
#include "table/source.h"
#include "wire/message.h"
#include "wire/store.h"

/*
 * The groups of the rows of kept columns, when grouped by some of the columns: a class
 * for each row of all batches, as in CsvRowClasses.  At first all classes are unknown.
 * Other sessions may work on it at the same time.
 */
typedef struct CsvResidentGrouping
{
	uint32_t	nclasses;
	uint32_t	classes[FLEXIBLE_ARRAY_MEMBER];
} CsvResidentGrouping;

typedef struct CsvKept
{
	CsvFileLayout *layout;
	MemoryContext context;
	MemoryContextCallback callback;
	CsvFindMessage key;			/* the open file, when it was opened, and the wanted
								 * columns */
	uint64		connection;		/* by which the columns were found or begun */

	/* columns that were found */
	CsvStore   *store;			/* NULL: no columns were found */
	uint64		set;			/* the number that csv_gpu_service has for them */
	CsvResidentBatch *batches;	/* an entry has no arrays until it is used */
	uint32		next;			/* number of the next batch */
	CsvFilePlace end;			/* where their records end, if the file grows */
	const CsvResidentBatch *batch;	/* the current batch */
	CsvArray   *arrays;			/* arrays of the current batch, in the layout's order */
	uint32_t   *places;			/* for each of these arrays: its number in the store */
	CsvResidentGrouping *grouping;	/* mapped; NULL: none */
	CsvDescriptors offered;		/* its file, while csv_gpu_service is offered it */

	/* columns that are being made */
	CsvStoreWriter *writer;		/* NULL: no columns are being made */
	int			file;
} CsvKept;

/*
 * For the wanted columns of a scan, in the current memory context.  The deletion of
 * the context also releases pinned columns.
 */
extern CsvKept *csv_kept_create(CsvFileLayout *layout);

/*
 * Are the wanted columns of the source's open file kept?  If so, lays them out.
 * Otherwise *may_keep says whether they may be kept after reading.  Must be called
 * before anything is read.  Columns of older versions of the file are released.  from:
 * NULL, or a place in a file that grows: columns of the records behind it are wanted.
 * The columns that are found may end before the file does.
 */
extern bool csv_kept_find(CsvKept *kept, const CsvSource *source,
						  const CsvFilePlace *from, bool *may_keep);

/*
 * The next batch of the columns that were found; false after the last.  *batch lives
 * until the next call.
 */
extern bool csv_kept_next(CsvKept *kept, CsvBatch *batch);

/*
 * A batch by its number, with the layout's columns.  `arrays` must have room for them.
 * NULL: there is no batch of this number.
 */
extern const CsvResidentBatch *csv_kept_batch(const CsvKept *kept, uint32 number,
											  CsvBatch *batch, CsvArray *arrays);

/* sets the grouping by these keys; NULL if there is no room */
extern void csv_kept_find_grouping(CsvKept *kept, const CsvGroupingKey *keys,
								   int nkeys);

/*
 * Copy the batches of a file whose columns csv_kept_find() has not found, while there
 * is room; they return false if there is none.  Batches must be added in
 * order, from the first, to the end of the file.
 * csv_kept_finish(): the file, still open, was read to its end; a file that grows, to
 * this place.
 */
extern bool csv_kept_begin(CsvKept *kept, const CsvDialect *dialect);
extern bool csv_kept_add(CsvKept *kept, const CsvBatch *batch);
extern void csv_kept_finish(CsvKept *kept, const CsvSource *source,
							const CsvFilePlace *to);

/* releases the pin, or columns that were begun and not kept; raises no ERROR */
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
