/*
 * indexes.h
 *		Indexes of a table that is loaded by pages: their entries come after the
 *		rows.
 *
 * A load that inserts each row's keys as the row comes takes several times as
 * long as a load that inserts them in the order of keys.
 */
#ifndef CSV_INDEXES_H
#define CSV_INDEXES_H

#include "nodes/execnodes.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

/*
 * A build makes a file and changes the catalog, so it must be worth that.
 * Loading 1,000 rows (47 kB) into a table with one key takes 0.7 ms with a
 * build, and 1.8 without.  A build also reads the rows that are already in the
 * table.
 */
#define CSV_INDEX_LEAST_BYTES	(INT64CONST(64) * 1024)

typedef enum CsvIndexing
{
	CSV_INDEX_AT_ONCE,			/* with each row */
	CSV_INDEX_SORTED,			/* after the rows, in the order of keys */
	CSV_INDEX_BUILT				/* after the rows, by a build */
} CsvIndexing;

/*
 * Choose how the indexes of a table may get their entries, when nbytes of data
 * (-1: unknown) are loaded into it from `source`.  The table must be locked
 * against changes.  Except with CSV_INDEX_AT_ONCE, nothing may look at the
 * indexes during the load, and an ERROR of the indexes need not be about the
 * first row that an index refuses.
 */
extern CsvIndexing csv_indexes_choose(Relation relation, Relation source,
									  int64 nbytes);

/*
 * Is a CHECK constraint volatile, of the relation itself or of a domain?
 * Domains may be the types of its columns, or of elements, attributes and
 * bounds in them.
 */
extern bool csv_has_volatile_check(TupleDesc tupdesc);

/* build the indexes anew, over all rows; they must not be open */
extern void csv_indexes_build(Relation relation);

/*
 * Entries that wait, of rows that have their TIDs.  The relation's indexes must
 * be open.  Uses the current memory context.
 */
typedef struct CsvIndexEntries CsvIndexEntries;

extern CsvIndexEntries *csv_index_entries_begin(ResultRelInfo *relation,
												EState *estate);
extern void csv_index_entries_add(CsvIndexEntries *entries, Page page);

/*
 * A row that is not on such a page waits, too: a few of the last keys, inserted
 * before the others, would make B-tree pages split in the middle.  Resets the
 * per-tuple memory context.
 */
extern void csv_index_entries_add_row(CsvIndexEntries *entries,
									  TupleTableSlot *slot);

/* insert all entries that wait into the indexes */
extern void csv_index_entries_end(CsvIndexEntries *entries);

/*
 * Keys of rows that are not inserted yet, in the order of a unique index.  Uses
 * the current memory context.  place: a number from 1, less than 2^47.
 */
typedef struct CsvIndexKeys CsvIndexKeys;

extern CsvIndexKeys *csv_index_keys_begin(Relation relation, Relation index);
extern void csv_index_keys_add(CsvIndexKeys *keys, Datum *values, bool *isnull,
							   int64 place);

typedef enum CsvKeyMatch
{
	CSV_KEY_NEW,
	CSV_KEY_BEFORE,				/* the key that came before; places ascend */
	CSV_KEY_HELD				/* a row of the relation has it */
} CsvKeyMatch;

/*
 * The place of the next row; false at the end.  looks: in the relation, whose
 * transactions that insert or delete the key are waited for.
 */
extern bool csv_index_keys_next(CsvIndexKeys *keys, bool looks, int64 *place,
								CsvKeyMatch *match);
extern void csv_index_keys_end(CsvIndexKeys *keys);

#endif							/* CSV_INDEXES_H */
