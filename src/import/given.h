/*
 * given.h
 *		Columns that IMPORT FOREIGN SCHEMA is given: the options "types" and
 *		"virtual".
 */
#ifndef CSV_GIVEN_H
#define CSV_GIVEN_H

#include "import/findings.h"

/* a column of an option */
typedef struct CsvImportedColumn
{
	char	   *name;
	Oid			type;
	int32		typmod;
	char	   *word;			/* the column's option "virtual"; NULL: none */
	bool		used;			/* some table has it */
} CsvImportedColumn;

/*
 * parses both options into lists of CsvImportedColumn, in the current memory
 * context
 */
extern void csv_find_given(CsvImportOptions *import);

/* gives columns of a file their types */
extern void csv_give_types(CsvFindings *findings,
						   const CsvImportOptions *import);

/* ERROR if a type was given to no column */
extern void csv_check_given(const CsvImportOptions *import);

#endif							/* CSV_GIVEN_H */
