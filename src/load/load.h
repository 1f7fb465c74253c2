/*
 * load.h
 *		Loads the records of a foreign table into a table.
 */
#ifndef CSV_LOAD_H
#define CSV_LOAD_H

#include "datatype/timestamp.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/jsonb.h"

#include "load/growth.h"
#include "load/verdicts.h"
#include "scan/skipping.h"
#include "table/option.h"

/* columns of the files that the source lacks */
typedef enum CsvNewColumns
{
	CSV_NEW_COLUMNS_IGNORE,
	CSV_NEW_COLUMNS_ERROR,
	CSV_NEW_COLUMNS_ADD
} CsvNewColumns;

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
	CsvDuplicates duplicates;
	ArrayType  *key;			/* columns of the target; NULL: its primary key */
	char	   *filter;			/* SQL over the source; NULL: none */
	Jsonb	   *expressions;	/* SQL over the source by column; NULL: none */
	CsvNewColumns new_columns;
	bool		only_check;		/* as far as that is possible without the files */
	Oid			schema;			/* of the extension */
} CsvLoadRequest;

/*
 * The request of a call whose first arguments are source and target.  From the
 * number `columns` (from 0) on come columns, rejects and freeze, and from
 * `on_rewrite` on that, duplicates, key, filter, expressions and new_columns.
 */
extern void csv_load_get_request(CsvLoadRequest *request,
								 FunctionCallInfo fcinfo,
								 int columns, int mode, int on_rewrite);

typedef struct CsvLoadResult
{
	int64		loaded;
	int64		skipped;
	int64		bytes;
	bool		is_all_bad;		/* there were records, all of them bad */
	const char *choices;		/* of a job: CsvTable.choices; NULL: none */
	TimestampTz started;
} CsvLoadResult;

/* the work of csv_gpu_load(), with its privileges and errors */
extern void csv_load(const CsvLoadRequest *request, CsvLoadResult *result);

/*
 * Load all rows of a table that is in no catalog (csv_table_make) into a
 * target. attnums: for each column, the number of the target's attribute, which
 * has the column's type (a list of int).  quals: insert only rows that pass
 * them (csv_insert_for_copy).  `skipped` gets bad records; NULL: they are an
 * ERROR. ERROR at the first row that is refused, or after all rows if an index
 * refuses a row.  The caller must have checked privileges and row-level
 * security. Returns the number of rows.
 */
extern int64 csv_load_fields(CsvTable *table, Oid target, const List *attnums,
							 List *quals, CsvSkippedFn skipped, void *arg);

/* for csv_load(), before anything else: obeys new_columns */
extern void csv_load_new_columns(const CsvLoadRequest *request);

#endif							/* CSV_LOAD_H */
