/*
 * listing.h
 *		Which files there are of a name that may be a pattern.
 */
#ifndef CSV_LISTING_H
#define CSV_LISTING_H

#include "wire/identity.h"
#include "table/option.h"

/*
 * Does the table's file name stand for others?  A file of exactly that name wins,
 * except in jobs.
 */
extern bool csv_is_pattern(const CsvTable *table);

/*
 * A job reads a pattern even if a file has exactly that name: do so, with a message
 * of this level about such a file.
 */
extern void csv_prefer_pattern(CsvTable *table, int elevel);

/*
 * The files of the table's name, sorted by the bytes of their names so that the order
 * of rows does not depend on a locale.  False if the name is a pattern and nothing
 * matches, or if quiet, where that cannot be told.  Directories match no pattern.
 *
 * A name that is no pattern is taken as it is, whether or not it exists.  In the
 * current memory context.
 */
extern bool csv_expand_pattern(const CsvTable *table, bool quiet, char ***names,
							   int *nnames);

/*
 * Returns the name that a file has now, or NULL if no name that matches the pattern is
 * the file's, or the file has changed.
 */
extern const char *csv_find_renamed(const CsvTable *table,
									const CsvFileIdentity *file);

#endif							/* CSV_LISTING_H */
