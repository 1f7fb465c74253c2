/*
 * resident.h
 *		Converted columns of files that are kept from query to query, for all
 *		sessions.
 *
 * They are in memory that processes share (wire/store.h).  csv_gpu_service has the
 * list of them (service/register.h), and says who may take how much.  A query over
 * them goes the way of every other from its batches on: doubtful values are made
 * anew by their input functions, and skipped records are reported again.
 *
 *	1. csv_resident_find() looks for columns that are held, and pins them.
 *	   csv_resident_batch() hands out their batches.
 *	2. Where there are none, csv_resident_begin() starts a set of columns,
 *	   csv_resident_add() copies the batches of a scan one by one, and
 *	   csv_resident_keep() makes them findable when the file was read to its end.
 *	3. Either way ends with csv_resident_release().
 */
#ifndef CSV_RESIDENT_H
#define CSV_RESIDENT_H

#include "wire/message.h"
#include "wire/store.h"

/* what a query wants */
typedef struct CsvResidentKey
{
	CsvTableName user;
	CsvFileIdentity file;
	CsvWanted	wanted;
} CsvResidentKey;

/* columns of a file, held or on the way to be */
typedef struct CsvResident CsvResident;

/*
 * Columns that answer the query as the file would, which is open; NULL if none are
 * held.  In the current memory context.  What is held of the file as it was before
 * is let go of.
 */
extern CsvResident *csv_resident_find(const CsvResidentKey *key, int file);

/*
 * For planner and EXPLAIN: are there such columns of all of these files, as they
 * are now?  Then *nrows is how many rows they have.  Without any effect.
 */
extern bool csv_resident_exist(const CsvWanted *wanted,
							   const CsvFileIdentity *files, int nfiles,
							   int64 *nrows);

/* of columns that were found: which fields of the file they are, and what */
extern const CsvDialect *csv_resident_dialect(const CsvResident *resident);

/* only columns, their number, and that of fields are in it */
extern const CsvLayout *csv_resident_layout(const CsvResident *resident);

/* the next batch after `previous`, the first for NULL; NULL at the end */
extern const CsvResidentBatch *csv_resident_batch(CsvResident *resident,
												  const CsvResidentBatch *previous);

/* those before this one will not be looked at any more, or not soon */
extern void csv_resident_pass(CsvResident *resident,
							  const CsvResidentBatch *batch);

/*
 * Start to keep what the key tells of; its columns are in the layout's order.  In
 * the current memory context.  NULL if there is no room for any.
 */
extern CsvResident *csv_resident_begin(const CsvResidentKey *key,
									   const CsvDialect *dialect,
									   const CsvLayout *layout);

/* copy a batch; false if there is no room for the file, or no memory */
extern bool csv_resident_add(CsvResident *resident, const CsvBatch *batch);

/* the file, still open, was read to its end, and is the same as it was before */
extern void csv_resident_keep(CsvResident *resident, int file);

/*
 * How the rows of columns that were found fall into groups by some of them: a
 * class for each row of all batches, as in CsvRowClasses, all unknown at first.
 * Other sessions may be at work on it.  NULL if there is no room.
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
 * The program's number for columns that were found; false if it is not the one any
 * more that has them.
 */
extern bool csv_resident_number(const CsvResident *resident, uint64_t *number);

extern int64 csv_resident_nrows(const CsvResident *resident);
extern int64 csv_resident_file_size(const CsvResident *resident);

/* let go: of the pin, or of what was begun and not kept; raises no ERROR */
extern void csv_resident_release(CsvResident *resident);

#endif							/* CSV_RESIDENT_H */
