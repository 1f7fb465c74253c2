/*
 * directory.h
 *		The files of a directory that may become tables, and files below directories
 *		KEY=VALUE, as Hive writes them, that may become one.
 */
#ifndef CSV_DIRECTORY_H
#define CSV_DIRECTORY_H

#include "table/table.h"

/* the list of suffixes that the option "suffixes" has; ERROR if it is wrong */
extern List *csv_suffixes(const char *value);

/* names in a directory, as the operating system has them, sorted */
typedef struct CsvListing
{
	List	   *files;			/* with one of the suffixes, perhaps compressed */
	List	   *unread;			/* compressed by bzip2, xz or zip */
	List	   *dangling;		/* links that lead to no file */
	List	   *keys;			/* directories KEY=VALUE */
} CsvListing;

/*
 * In the current memory context; ERROR if the directory cannot be read, or is
 * not allowed. Files that are not allowed are listed, if links lead to them:
 * reading them will fail.
 */
extern CsvListing csv_list_directory(const CsvTable *table,
									 const char *directory,
									 const List *suffixes);

/*
 * The length of a file's name without its suffix and its compression's suffix, which may
 * be bzip2's, xz's or zip's; 0 if it has no such suffix.
 */
extern size_t csv_stem_length(const char *name, const List *suffixes);

typedef struct CsvHive
{
	char	   *pattern;		/* of the files */
	int			nothers;		/* files that the pattern leaves out ... */
	char	   *other;			/* ... and the first of these */
} CsvHive;

/*
 * The pattern of the files below the directory.  It is made of the path of the first of
 * them, in the order of names.  NULL: there are no files.  In the current memory context.
 */
extern CsvHive *csv_find_hive(const CsvTable *table, const char *directory,
							  const List *suffixes);

/* the path of files that match `pattern` in the directory, whose name stands for itself */
extern char *csv_pattern_in(const char *directory, const char *pattern);

#endif							/* CSV_DIRECTORY_H */
