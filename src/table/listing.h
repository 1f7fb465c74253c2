/*
 * listing.h
 *		Lists the files of a name, which may be a pattern.
 */
#ifndef CSV_LISTING_H
#define CSV_LISTING_H

#include "wire/identity.h"
#include "table/option.h"

/*
 * Is the table's file name a pattern?  Not if a file has exactly that name, except in
 * jobs.
 */
extern bool csv_is_pattern(const CsvTable *table);

/*
 * May the file be read under the table's name or pattern?  Reads no directories, which
 * may hold many files.
 */
extern bool csv_matches_pattern(const CsvTable *table, const char *filename);

/*
 * For ereport(): a hint about a path that leads to no file.  takes_program: the caller
 * knows the option "program".
 */
extern int	csv_hint_missing(const char *path, bool takes_program);

/* about errors, errno, of a path that cannot be opened to "read" or "write" */
extern int	csv_hint_access(int error, const char *path, const char *right,
							bool takes_program);

/* ERROR with errno and this hint; the message has the path, as text, in place of "%s" */
extern void csv_fail_on_file(const char *message, const char *path, const char *right)
	__attribute__((noreturn));

/*
 * For a job: reads the name as a pattern even if a file has exactly that name, and
 * reports such a file with a message of level elevel.
 */
extern void csv_prefer_pattern(CsvTable *table, int elevel);

/*
 * Lists the files of the table's name, sorted by the bytes of their names, so that the
 * order of rows does not depend on a locale.  Returns false if the name is a pattern
 * that matches nothing or, if quiet, if that cannot be found out.  Directories match
 * no pattern.
 *
 * A name that is not a pattern is returned as it is, whether or not the file exists.
 * Allocates in the current memory context.
 */
extern bool csv_expand_pattern(const CsvTable *table, bool quiet, char ***names,
							   int *nnames);

/*
 * The files listed for the table; if none were listed, csv_expand_pattern().  A table's
 * share may have no files, although the pattern has some.  IMPORT and csv_gpu_sniff() look at
 * all files, so that a table is the same on each server.
 */
extern bool csv_find_files(const CsvTable *table, bool quiet, char ***names,
						   int *nnames);

/* is the file with this number left out? */
static inline bool
csv_is_left_out(const CsvTable *table, int number)
{
	return table->left_out != NULL && table->left_out[number];
}

/*
 * Returns the current name of a file, or NULL if the file has changed, or has no name
 * that matches the pattern.
 */
extern const char *csv_find_renamed(const CsvTable *table,
									const CsvFileIdentity *file);

#endif							/* CSV_LISTING_H */
