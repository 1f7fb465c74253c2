/*
 * resident.h
 *		Converted columns of files that the session keeps from query to query.
 *
 * What is kept of a file are the batches that an engine made of it, for a set of
 * columns: arrays and statuses, errors, and the bytes of those records that
 * whoever takes the batch may have to look into.  So a query over them goes
 * the way of every other from its batches on: doubtful values are made anew by
 * their input functions, and skipped records are reported again.
 *
 *	1. csv_resident_find() looks for columns that are held, and pins them.
 *	   csv_resident_batch() hands out their batches.
 *	2. Where there are none, csv_resident_begin() starts a set of columns,
 *	   csv_resident_add() copies the batches of a scan one by one, and
 *	   csv_resident_keep() makes them findable when the file was read to its end.
 *	3. Either way ends with csv_resident_release().
 *
 * The memory is the session's: it outlives queries and transactions, and is
 * never more than csv_gpu_fdw.resident_memory, what is not finished yet
 * included.  What was not used for longest goes first, but nothing that is
 * pinned.
 */
#ifndef CSV_RESIDENT_H
#define CSV_RESIDENT_H

#include "access/attnum.h"
#include "utils/guc.h"

#include "reader/reader.h"
#include "table/identity.h"

/* csv_gpu_fdw.resident_memory: off, auto or an amount */
extern bool csv_resident_memory_check(char **value, void **extra,
									  GucSource source);
extern void csv_resident_memory_assign(const char *value, void *extra);

typedef struct CsvResidentColumn
{
	AttrNumber	attnum;

	/*
	 * A numeric as scaled integers.  They serve whoever wants numerics, too, for
	 * one can be made of each; but not the other way round: a NaN is doubtful
	 * only among scaled integers, and aggregates count on that.
	 */
	bool		decimal;
} CsvResidentColumn;

/* what a query wants */
typedef struct CsvResidentKey
{
	Oid			relid;
	const char *filename;
	CsvFileIdentity file;
	const void *meaning;		/* all that shapes records and every column */
	size_t		meaning_bytes;
	bool		positions;		/* wants to know where rows start */
	int			ncolumns;
	CsvResidentColumn *columns;
} CsvResidentKey;

/* columns of a file, held or on the way to be */
typedef struct CsvResident CsvResident;

/*
 * A batch: bytes, and the offsets into them in row_offsets and errors, are only
 * of records that somebody may look into.  Rows with a doubtful or long value
 * are, and errors from nul_byte on.  Where records stood in the batch's part of
 * the file, these tell.
 */
typedef struct CsvResidentBatch
{
	CsvBatch	batch;
	const uint32_t *row_places; /* NULL where the engine gave no row_offsets */
	const uint64_t *error_places;
	int64_t		first_row;		/* rows of the batches before */
} CsvResidentBatch;

/* does the setting ask for any? */
extern bool csv_resident_enabled(void);

/*
 * Columns that answer the query as the file would; NULL if none are held.
 * Lets go of what is held of the file as it was before.
 */
extern CsvResident *csv_resident_find(const CsvResidentKey *key);

/*
 * The same, for planner and EXPLAIN: only whether there are any, without any
 * effect, and how many rows they have.
 */
extern bool csv_resident_exists(const CsvResidentKey *key, int64 *nrows);

/* of columns that were found: which fields of the file they are, and what */
extern const CsvDialect *csv_resident_dialect(const CsvResident *resident);

/* only columns, their number, and that of fields are in it */
extern const CsvLayout *csv_resident_layout(const CsvResident *resident);

/* the next batch after `previous`, the first for NULL; NULL at the end */
extern const CsvResidentBatch *csv_resident_batch(const CsvResident *resident,
												  const CsvResidentBatch *previous);

/*
 * Start to keep what the key tells of; its columns are in the layout's order.
 * NULL if there is no room for any.
 */
extern CsvResident *csv_resident_begin(const CsvResidentKey *key,
									   const CsvDialect *dialect,
									   const CsvLayout *layout);

/* copy a batch; false if there is no room for the file, or no memory */
extern bool csv_resident_add(CsvResident *resident, const CsvBatch *batch);

/* the file was read to its end, and is the same as it was before */
extern void csv_resident_keep(CsvResident *resident);

/*
 * How the rows of columns that were found fall into groups by some of them: a
 * class for each row of all batches, as in CsvRowClasses, all unknown at first.
 * NULL if there is no room.
 */
typedef struct CsvResidentGrouping
{
	uint32_t   *classes;
	uint32_t	nclasses;
} CsvResidentGrouping;

/* a column, and whether the blanks at its end are taken off first */
typedef struct CsvGroupingKey
{
	AttrNumber	attnum;
	bool		trim;
} CsvGroupingKey;

extern CsvResidentGrouping *csv_resident_grouping(CsvResident *resident,
												  const CsvGroupingKey *keys,
												  int nkeys);

/* what there is of it, and the file's size */
extern int64 csv_resident_nrows(const CsvResident *resident);
extern int64 csv_resident_file_size(const CsvResident *resident);

/* its copy on a device (device_copy.h), NULL at first; is let go of with it */
extern void **csv_resident_gpu(CsvResident *resident);

/* let go: of the pin, or of what was begun and not kept */
extern void csv_resident_release(CsvResident *resident);

#endif							/* CSV_RESIDENT_H */
