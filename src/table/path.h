/*
 * path.h
 *		What the directories of a file's path say of it.
 */
#ifndef CSV_PATH_H
#define CSV_PATH_H

/*
 * The value of a key in a path, as Hive writes it: VALUE of a directory KEY=VALUE,
 * the last one if there are several; %XX in its name stands for a byte.  NULL where
 * there is no such directory, or where VALUE stands for NULL.  In the current
 * memory context; its bytes may be no valid text.
 */
extern char *csv_path_value(const char *path, const char *key);

/* the key of a directory's name, which has a "="; likewise */
extern char *csv_path_key(const char *name);

#endif							/* CSV_PATH_H */
