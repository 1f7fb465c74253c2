/*
 * positions.h
 *		How far the files of a foreign table were loaded into a table: the rows of
 *		csv_gpu_position.
 *
 * Users have no rights on that table.  These functions read and write it as its owner,
 * and leave it to their callers to check the user's privileges.
 */
#ifndef CSV_POSITIONS_H
#define CSV_POSITIONS_H

#include "datatype/timestamp.h"
#include "storage/itemptr.h"

#include "table/fingerprint.h"
#include "reader/place.h"
#include "wire/identity.h"

typedef struct CsvPosition
{
	ItemPointerData row;		/* invalid: there is no row yet */
	Oid			source;
	Oid			target;
	char	   *filename;
	CsvFilePlace place;			/* up to which records were loaded */
	CsvFingerprint bytes;		/* up to there */
	CsvFileIdentity identity;	/* when it was loaded last, without the device; changed
								 * is 0 if a later change may not show */
	int64		born;			/* csv_time_of_birth() */
	TimestampTz loaded_at;
	bool		lacks_break;	/* the file ended there, within a line */
	struct CsvGrowingFile *file;	/* that it is of now; NULL: none is known */
} CsvPosition;

/* does a line break stand at the position, which lacks_break, in the open file? */
extern bool csv_position_got_break(const CsvPosition *position, int fd);

/* a source and a target whose new records this process loads */
typedef struct CsvLoadedPair
{
	Oid			source;
	Oid			target;
	const struct CsvLoadedPair *outer;	/* its trigger or its CHECK loads, too */
} CsvLoadedPair;

extern const CsvLoadedPair *csv_loaded_pair;

/*
 * Wait for other transactions that load this source into this target.  Later
 * transactions wait for this transaction.  ERROR if this process is loading them now.
 */
extern void csv_positions_lock(Oid source, Oid target);

/*
 * The positions as they are now, also in a transaction with an older snapshot, sorted by
 * the bytes of their file names.  source: InvalidOid for all positions.  `schema` is
 * the extension's.
 */
extern CsvPosition *csv_positions_read(Oid schema, Oid source, Oid target,
									   int *npositions);

/* add a position, or replace `before`, which csv_positions_read() has read */
extern void csv_positions_write(Oid schema, const CsvPosition *before,
								const CsvPosition *position);

/* delete the pair's positions of a file name, NULL: of all; returns how many */
extern int64 csv_positions_forget(Oid schema, Oid source, Oid target, text *filename);

#endif							/* CSV_POSITIONS_H */
