/*
 * create.h
 *		CREATE FOREIGN TABLE, with the findings of a file.
 */
#ifndef CSV_CREATE_H
#define CSV_CREATE_H

#include "import/findings.h"

/* ---- columns that are the same in all records of a file (keys.c) ---- */

typedef struct CsvPathColumn
{
	char	   *name;			/* for SQL */
	Oid			type;
	char	   *option;			/* of the column: virtual */
} CsvPathColumn;

/*
 * A CsvPathColumn for each key in the paths of the table's files, without their first
 * nfixed bytes, from the topmost directory down.  Its type holds the values of all files.
 * A table with a share of the files gets a column for that, too.  In the current memory
 * context.
 */
extern List *csv_find_keys(const CsvFindings *findings, size_t nfixed);

/* ---- the statement ---- */

/*
 * The statement for a table of this name of the server, with further columns for keys
 * (CsvPathColumn).  In the current memory context.
 */
extern char *csv_create_statement(const CsvFindings *findings, const char *name,
								  const char *server, const CsvImportOptions *import,
								  const List *keys);

/*
 * The options "max_chars" and "byte_width" for the longest value of a column; false if
 * it has no values
 */
extern bool csv_found_widths(const CsvFoundColumn *column, int32 *max_chars,
							 int32 *byte_width);

#endif							/* CSV_CREATE_H */
