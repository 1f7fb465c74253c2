/*
 * staging.h
 *		Files that get their names when the transaction commits.
 *
 * The files wait in a hidden directory (hidden.h) of their later directory:
 *
 *	.csvgpu-TAG.csvgpu/		the hidden directory
 *		rows-0, rows-1, ...	files that are being written, without keys
 *		new/				files and directories under their later names
 *		old/				files that are replaced, from PRE_COMMIT to the end
 *
 * An ERROR or ROLLBACK of the (sub)transaction removes the hidden directory.  At
 * PRE_COMMIT, the files that are replaced move to old/, and then the contents of new/
 * move up.  If the transaction fails after all, both go back.  So at any time each file
 * that has its name is whole.
 */
#ifndef CSV_STAGING_H
#define CSV_STAGING_H

#include "output/hidden.h"

#define CSV_STAGING_NEW	CSV_HIDDEN_NEW

/*
 * Files that are being written.  The server's own files are named by plain numbers: they
 * must not be opened if the hidden directory's name now leads to them.
 */
#define CSV_STAGING_ROWS	"rows-"

/* the base of files by key, behind their directory */
#define CSV_STAGING_DATA	"/data"

typedef struct CsvStaging CsvStaging;

/*
 * Make the hidden directory.  path: an absolute file name; or, with by_key, of a
 * directory, which is made if it does not exist.  ERROR if files of the set that the
 * path stands for exist and are not to be overwritten.
 */
extern CsvStaging *csv_staging_begin(const char *path, bool by_key, bool overwrite);

/* [KEY=VALUE/...]BASE[-NUMBER]SUFFIX; a number of 0 is left out */
extern char *csv_staging_name(const char *key_directory, const char *base, int number,
							  const char *suffix);

/* the hidden directory */
extern const char *csv_staging_directory(const CsvStaging *staging);

/* would this file be replaced? */
extern bool csv_staging_replaces(const CsvStaging *staging, const char *filename);

/*
 * Give a file in the hidden directory its name, of the parts of csv_staging_name().
 * key_directory: NULL without keys.  Returns the path that it will have.
 */
extern char *csv_staging_add(CsvStaging *staging, const char *file,
							 const char *key_directory, int number,
							 const char *suffix);

/* all files are complete: they get their names when the transaction commits */
extern void csv_staging_end(CsvStaging *staging);

#endif							/* CSV_STAGING_H */
