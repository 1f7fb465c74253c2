/*
 * resident.h
 *		Converted columns of files that are kept from query to query, for all
 *		sessions.
 *
 * The columns are in memory that processes share (wire/store.h).  csv_gpu_service has
 * the list of columns (service/sets.h), and decides which processes may use how
 * much memory.  A query over resident batches proceeds like any other query: doubtful
 * values are made again by their input functions, and skipped records are reported
 * again.
 *
 *	1. csv_resident_find() finds resident columns, and pins them.
 *	   csv_resident_next() returns their batches.
 *	2. If there are none, csv_resident_begin() starts a set of columns.
 *	   csv_resident_add() copies the batches of a scan one by one.  When the file was
 *	   read to its end, csv_resident_finish() makes the set findable.
 *	3. In both cases, csv_resident_leave() is the end.
 */
#ifndef CSV_RESIDENT_H
#define CSV_RESIDENT_H

#include "table/layout.h"
#include "table/source.h"
#include "wire/message.h"
#include "wire/store.h"

/*
 * The groups of the rows of resident columns, when grouped by some of the columns: a
 * class for each row of all batches, as in CsvRowClasses.  At first all classes are
 * unknown.  Other sessions may work on it at the same time.
 */
typedef struct CsvResidentGrouping
{
	uint32_t	nclasses;
	uint32_t	classes[FLEXIBLE_ARRAY_MEMBER];
} CsvResidentGrouping;

typedef struct CsvResident
{
	CsvFileLayout *layout;
	MemoryContext context;
	MemoryContextCallback callback;
	CsvFindMessage key;			/* the open file, when it was opened, and the wanted
								 * columns */
	uint64		connection;		/* by which the columns were found or begun */

	/* columns that were found */
	CsvStore   *store;			/* NULL: no columns were found */
	bool		rests;			/* they are not in use */
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
} CsvResident;

/*
 * For the wanted columns of a scan, in the current memory context.  The deletion of
 * the context also releases pinned columns.
 */
extern CsvResident *csv_resident_create(CsvFileLayout *layout);

/*
 * Are the wanted columns of the source's open file resident?  If so, lays them out.
 * Otherwise *may_keep says whether they may be kept after reading.  Must be called
 * before anything is read.  Columns of older versions of the file are released.  from:
 * NULL, or a place in a file that grows: columns of the records behind it are wanted.
 * The columns that are found may end before the file does.  set: 0, or the only
 * set that will do.
 */
extern bool csv_resident_find(CsvResident *resident, const CsvSource *source,
							  const CsvFilePlace *from, uint64 set, bool *may_keep);

/*
 * The next batch of the columns that were found; false after the last.  *batch lives
 * until the next call.
 */
extern bool csv_resident_next(CsvResident *resident, CsvBatch *batch);

/*
 * A batch by its number, with the layout's columns.  `arrays` must have room for them.
 * NULL: there is no batch of this number.
 */
extern const CsvResidentBatch *csv_resident_batch(const CsvResident *resident,
												  uint32 number, CsvBatch *batch,
												  CsvArray *arrays);

/* sets the grouping by these keys; NULL if there is no room */
extern void csv_resident_find_grouping(CsvResident *resident,
									   const CsvGroupingKey *keys, int nkeys);

/*
 * Copy the batches of a file whose columns csv_resident_find() has not found, while
 * there is room; they return false if there is none.  Batches must be added in order,
 * from the first, to the end of the file.
 * csv_resident_finish(): the file, still open, was read to its end; a file that
 * grows, to this place.
 */
extern bool csv_resident_begin(CsvResident *resident, const CsvDialect *dialect);
extern bool csv_resident_add(CsvResident *resident, const CsvBatch *batch);
extern void csv_resident_finish(CsvResident *resident, const CsvSource *source,
								const CsvFilePlace *to);

/* releases the pin, or columns that were begun and not kept; raises no ERROR */
extern void csv_resident_leave(CsvResident *resident);

/*
 * The same, but columns that were found stay pinned: if the next search is for
 * the same file, as in a scan that is repeated, csv_gpu_service is not asked
 * again.
 */
extern void csv_resident_rest(CsvResident *resident);

/*
 * For the planner and EXPLAIN: would all batches of a scan that begins now be
 * resident batches?  Sets *nrows to the number of rows; input functions may reject
 * some of them.  Sets *ncolumns to the number of wanted columns in the file.
 */
extern bool csv_resident_exist(const CsvTable *table, const Bitmapset *wanted,
							   const Bitmapset *hidden, bool few_rows,
							   int *ncolumns, int64 *nrows);

#endif							/* CSV_RESIDENT_H */
