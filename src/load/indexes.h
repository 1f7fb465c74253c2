/*
 * indexes.h
 *		Indexes of a table that is loaded, built after its rows.
 *
 * A build sorts all keys at once, with the server's workers, where a load would
 * look for the place of each: that is several times as fast.
 */
#ifndef CSV_INDEXES_H
#define CSV_INDEXES_H

#include "utils/rel.h"

/*
 * Why the indexes of a table, which is locked against changes, cannot be built after
 * so many bytes of data have been loaded into it, or had better not be (at_any_size:
 * it is of no account whether that would be slower); NULL: they can.
 */
extern const char *csv_indexes_obstacle(Relation relation, int64 nbytes,
										bool at_any_size);

/*
 * Build them anew, over all rows.  Between these calls, none may be looked at.  An
 * ERROR is that of the build; nobody knows then which row was the first that its
 * index refuses.
 */
extern void csv_indexes_build(Relation relation);

#endif							/* CSV_INDEXES_H */
