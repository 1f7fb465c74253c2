/*
 * load.h
 *		The records of a foreign table into a table.
 */
#ifndef CSV_LOAD_H
#define CSV_LOAD_H

#include "datatype/timestamp.h"
#include "utils/array.h"

#include "table/option.h"

typedef struct CsvLoadRequest
{
	Oid			source;
	Oid			target;
	ArrayType  *columns;		/* of the target; NULL: by name */
	Oid			rejects;		/* InvalidOid: none */
	bool		freeze;
	const char *filename;		/* the one file to read; NULL: all there are */
	bool		of_job;			/* a pattern is one even if a file has that name */
} CsvLoadRequest;

typedef struct CsvLoadResult
{
	int64		loaded;
	int64		skipped;
	int64		bytes;
	TimestampTz started;
} CsvLoadResult;

/* what csv_gpu_load() does, with its privileges and errors */
extern void csv_load(const CsvLoadRequest *request, CsvLoadResult *result);

/*
 * All rows of a table that is in no catalog (csv_table_make) into a target: its columns
 * to the attributes of these numbers (a list of int), of whose types they are.  ERROR
 * at the first record or row that is refused, or for the indexes after all of them.
 * quals: only rows go in that pass them (csv_insert_filter).  The caller has checked
 * privileges and row-level security.  Returns the number of rows.
 */
extern int64 csv_load_fields(CsvTable *table, Oid target, const List *attnums,
							 List *quals);

#endif							/* CSV_LOAD_H */
