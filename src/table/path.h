/*
 * path.h
 *		Values in the directories of a file's path.
 */
#ifndef CSV_PATH_H
#define CSV_PATH_H

/* Hive's word for NULL and for an empty value */
#define CSV_PATH_NULL	"__HIVE_DEFAULT_PARTITION__"

/*
 * The value of a key in a path, as Hive writes it: VALUE in a directory named
 * KEY=VALUE.  The last such directory counts; %XX in its name means a byte.  Returns
 * NULL if there is no such directory, or if VALUE means NULL.  Allocated in the
 * current memory context; may not be valid text.
 */
extern char *csv_path_value(const char *path, const char *key);

/* the directory of a file, in the current memory context */
extern char *csv_directory_of(const char *path);

/* the key in a name KEY=VALUE; decoded and allocated as by csv_path_value() */
extern char *csv_path_key(const char *name);

/* can the option "virtual" name the key? */
extern bool csv_is_path_key(const char *key);

#endif							/* CSV_PATH_H */
