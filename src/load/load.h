/*
 * load.h
 *		The records of a foreign table into a table.
 */
#ifndef CSV_LOAD_H
#define CSV_LOAD_H

#include "datatype/timestamp.h"
#include "utils/array.h"

typedef struct CsvLoadRequest
{
	Oid			source;
	Oid			target;
	ArrayType  *columns;		/* of the target; NULL: by name */
	Oid			rejects;		/* InvalidOid: none */
	bool		freeze;
	const char *filename;		/* the one file to read; NULL: all there are */
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

#endif							/* CSV_LOAD_H */
