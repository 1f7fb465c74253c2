/*
 * load.h
 *		Loads the records of a foreign table into a table.
 */
#ifndef CSV_LOAD_H
#define CSV_LOAD_H

#include "datatype/timestamp.h"
#include "lib/stringinfo.h"
#include "utils/array.h"

#include "load/growth.h"
#include "scan/skipping.h"
#include "table/option.h"

typedef struct CsvLoadRequest
{
	Oid			source;
	Oid			target;
	ArrayType  *columns;		/* of the target; NULL: by name */
	Oid			rejects;		/* InvalidOid: none */
	bool		freeze;
	const char *filename;		/* the only file to read; NULL: all files */
	bool		of_job;			/* it is a pattern even if a file has that name */
	bool		is_new_records; /* only records that came since the last such load */
	CsvOnRewrite on_rewrite;	/* then */
	Oid			schema;			/* of the extension */
} CsvLoadRequest;

/* set the members about the mode, by its name; on_rewrite: NULL for "error" */
extern void csv_load_set_mode(CsvLoadRequest *request, const char *mode,
							  const char *on_rewrite);

typedef struct CsvLoadResult
{
	int64		loaded;
	int64		skipped;
	int64		bytes;
	TimestampTz started;
	StringInfoData notices;		/* a line for each choice in a load of new records */
} CsvLoadResult;

/* the work of csv_gpu_load(), with its privileges and errors */
extern void csv_load(const CsvLoadRequest *request, CsvLoadResult *result);

/*
 * Load all rows of a table that is in no catalog (csv_table_make) into a target.
 * attnums: for each column, the number of the target's attribute, which has the
 * column's type (a list of int).  quals: insert only rows that pass them
 * (csv_insert_for_copy).  `skipped` gets bad records; NULL: they are an ERROR.
 * ERROR at the first row that is refused, or after all rows if an index refuses
 * a row.  The caller must have checked privileges and row-level security.
 * Returns the number of rows.
 */
extern int64 csv_load_fields(CsvTable *table, Oid target, const List *attnums,
							 List *quals, CsvSkippedFn skipped, void *arg);

#endif							/* CSV_LOAD_H */
