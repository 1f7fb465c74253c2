/*
 * staging.h
 *		Files that get their names when the transaction commits.
 *
 * A file of a writable table waits under a hidden name (hidden.h), and the files of a call
 * of csv_gpu_unload() in a hidden directory of their later directory.  At PRE_COMMIT, the
 * files that these replace move to old/.  After the commit, the contents of new/ move up;
 * in an abort, those of old/.  Then the hidden directory is removed.  So at any time each
 * file that has its name is whole.
 */
#ifndef CSV_STAGING_H
#define CSV_STAGING_H

#include "output/hidden.h"

/* where a file's path leads, as COPY TO follows symbolic links */
extern char *csv_staging_follow_links(char *path);

/*
 * Make the hidden directory.  path: an absolute file name; or, with by_key, of a
 * directory, which is made if it does not exist.  ERROR if files of the set that the
 * path stands for exist and are not to be overwritten.
 */
extern CsvHidden *csv_staging_begin(const char *path, bool by_key, bool overwrite);

/* would this file be replaced, or made? */
extern bool csv_staging_replaces(const CsvHidden *staging, const char *filename);

/* ERROR if a call of csv_gpu_unload() in the transaction makes or replaces this file */
extern void csv_staging_check_written(const char *filename);

/*
 * Give a file in the hidden directory its later name: BASE[-NUMBER]SUFFIX of the path or,
 * in key_directory, data[-NUMBER]suffix.  key_directory: NULL without keys.  A number of 0
 * is left out.  Returns the path that the file will have; nbytes: its size.
 */
extern char *csv_staging_add(CsvHidden *staging, const char *file,
							 const char *key_directory, int number, const char *suffix,
							 int64 *nbytes);

/* all files are complete: they get their names when the transaction commits */
extern void csv_staging_end(CsvHidden *staging);

/* before the commit */
extern void csv_staging_commit(void);

#endif							/* CSV_STAGING_H */
