/*
 * keys.h
 *		Columns for what the directories KEY=VALUE of files' paths say.
 */
#ifndef CSV_KEYS_H
#define CSV_KEYS_H

#include "import/findings.h"

typedef struct CsvPathColumn
{
	char	   *name;			/* for SQL */
	char	   *type;
	char	   *option;			/* of the column: virtual */
} CsvPathColumn;

/* the keys in the path of the table's first file, from the topmost directory down */
extern List *csv_find_keys(const CsvTable *table);

/* a CsvPathColumn for each of these keys, of types for all files of the table */
extern List *csv_find_key_columns(const CsvFindings *findings, List *keys);

#endif							/* CSV_KEYS_H */
