/*
 * hive.h
 *		Directories that hold the files of one table, as Hive writes them:
 *		files in directories KEY=VALUE in directories KEY=VALUE.
 */
#ifndef CSV_HIVE_H
#define CSV_HIVE_H

#include "import/sniff.h"

typedef struct CsvHive
{
	char	   *pattern;		/* of the files */
	List	   *keys;			/* strings, from the topmost directory down */
	int			nothers;		/* files that the pattern leaves out ... */
	char	   *other;			/* ... and the first of these */
} CsvHive;

/* the names of a directory's files that may become tables, sorted */
typedef List *(*CsvListFiles) (const char *directory);

/*
 * The keys and the pattern of the files below the directory, by the first file
 * there is, in the order of names; NULL: there is none.  suffix_of gives the suffix
 * of such a file's name.
 */
extern CsvHive *csv_find_hive(const char *directory, CsvListFiles list_files,
							  const char *(*suffix_of) (const char *name));

/*
 * Definitions of columns for the keys, for the file's columns and files that were
 * found; each is a string with a comma before it.
 */
extern char *csv_hive_columns(const CsvHive *hive,
							  const CsvFindings *findings, bool all_text);

#endif							/* CSV_HIVE_H */
