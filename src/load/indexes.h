/*
 * indexes.h
 *		Indexes of a table that is loaded by pages: their entries come after the rows.
 *
 * A load that looks for the place of each row's key, as rows come, takes several times
 * as long as one that comes to them in the order of keys.
 */
#ifndef CSV_INDEXES_H
#define CSV_INDEXES_H

#include "nodes/execnodes.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

/*
 * A build makes a file, and changes the catalog, so it had better be for something:
 * of 1,000 rows, 47 kB, the load of a table with one key takes 0.7 ms with it, and 1.8
 * without.  It reads the rows that are there already, too.
 */
#define CSV_INDEX_LEAST_BYTES	(INT64CONST(64) * 1024)

typedef enum CsvIndexing
{
	CSV_INDEX_AT_ONCE,			/* each row when it is inserted */
	CSV_INDEX_SORTED,			/* after the rows, in the order of keys */
	CSV_INDEX_BUILT				/* after the rows, anew */
} CsvIndexing;

/*
 * How indexes of a table, which is locked against changes, may get their entries when
 * so many bytes of data (-1: that is not known) are loaded into it from another one.
 * at_any_size: it is of no account what is faster.  But for CSV_INDEX_AT_ONCE, nothing
 * may look at the indexes meanwhile, and an ERROR of the indexes is not about the first
 * row that one of them refuses.
 */
extern CsvIndexing csv_indexes_choose(Relation relation, Relation source,
									  int64 nbytes, bool at_any_size);

/*
 * Is something volatile in its CHECK constraints, or in those of domains that its columns
 * have, or elements, attributes and bounds in them?
 */
extern bool csv_has_volatile_check(TupleDesc tupdesc);

/* build them anew, over all rows; they are not open */
extern void csv_indexes_build(Relation relation);

/*
 * Entries that wait: of rows on pages, whose tuples know where they are.  The
 * relation's indexes are open.  In the current memory context.
 */
typedef struct CsvIndexEntries CsvIndexEntries;

extern CsvIndexEntries *csv_index_entries_begin(ResultRelInfo *relation,
												EState *estate);
extern void csv_index_entries_add(CsvIndexEntries *entries, Page page);

/* into the indexes; then there are none */
extern void csv_index_entries_end(CsvIndexEntries *entries);

#endif							/* CSV_INDEXES_H */
