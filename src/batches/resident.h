/*
 * resident.h
 *		Converted columns of files that are kept from query to query, for all
 *		sessions.
 *
 * The columns are in memory that processes share (wire/store.h).  csv_gpu_service has
 * the list of columns (service/register.h), and decides which processes may use how
 * much memory.  A query over kept batches proceeds like any other query: doubtful
 * values are made again by their input functions, and skipped records are reported
 * again.
 *
 *	1. csv_resident_find() finds kept columns, and pins them.
 *	   csv_resident_batch() returns their batches.
 *	2. If there are none, csv_resident_begin() starts a set of columns.
 *	   csv_resident_add() copies the batches of a scan one by one.  When the
 *	   file was read to its end, csv_resident_keep() makes the set findable.
 *	3. In both cases, csv_resident_release() is the end.
 */
#ifndef CSV_RESIDENT_H
#define CSV_RESIDENT_H

#include "wire/message.h"
#include "wire/store.h"

/* the columns that a query wants */
typedef struct CsvResidentKey
{
	CsvTableName user;
	CsvFileIdentity file;
	CsvWanted	wanted;
} CsvResidentKey;

/* columns of a file, kept or being made */
typedef struct CsvResident CsvResident;

/*
 * Finds columns that answer the query as the open file would; NULL if no such columns
 * are kept.  Allocated in the current memory context.  Columns of older versions of
 * the file are released.
 */
extern CsvResident *csv_resident_find(const CsvResidentKey *key, int file);

/*
 * For the planner and EXPLAIN: are such columns kept of all of these files, as they
 * are now?  Sets *nrows to the number of their rows.  Has no side effects.
 */
extern bool csv_resident_exist(const CsvWanted *wanted,
							   const CsvFileIdentity *files, int nfiles,
							   int64 *nrows);

/* of columns that were found: the dialect with which they were read */
extern const CsvDialect *csv_resident_dialect(const CsvResident *resident);

/* has only the columns, their number, and the number of fields */
extern const CsvLayout *csv_resident_layout(const CsvResident *resident);

/* the next batch after `previous`, or the first if that is NULL; NULL at the end */
extern const CsvResidentBatch *csv_resident_batch(CsvResident *resident,
												  const CsvResidentBatch *previous);

/* batches before this one will not be used again, or not soon */
extern void csv_resident_pass(CsvResident *resident,
							  const CsvResidentBatch *batch);

/*
 * Starts to keep the columns of the key, which are in the layout's order.  Allocated
 * in the current memory context.  Returns NULL if there is no room for any columns.
 */
extern CsvResident *csv_resident_begin(const CsvResidentKey *key,
									   const CsvDialect *dialect,
									   const CsvLayout *layout);

/* copies a batch; false if there is no room for the file, or no memory */
extern bool csv_resident_add(CsvResident *resident, const CsvBatch *batch);

/* the file, still open, was read to its end, and has not changed */
extern void csv_resident_keep(CsvResident *resident, int file);

/*
 * The groups of the rows of columns that were found, when grouped by some of the
 * columns: a class for each row of all batches, as in CsvRowClasses.  At first all
 * classes are unknown.  Other sessions may work on it at the same time.  NULL if there
 * is no room.
 */
typedef struct CsvResidentGrouping
{
	uint32_t	nclasses;
	uint32_t	classes[FLEXIBLE_ARRAY_MEMBER];
} CsvResidentGrouping;

extern CsvResidentGrouping *csv_resident_grouping(CsvResident *resident,
												  const CsvGroupingKey *keys,
												  int nkeys);

/*
 * The number that csv_gpu_service has for columns that were found.  Returns false if
 * that process has been replaced.
 */
extern bool csv_resident_number(const CsvResident *resident, uint64_t *number);

extern int64 csv_resident_nrows(const CsvResident *resident);
extern int64 csv_resident_file_size(const CsvResident *resident);

/* releases the pin, or columns that were begun and not kept; raises no ERROR */
extern void csv_resident_release(CsvResident *resident);

#endif							/* CSV_RESIDENT_H */
