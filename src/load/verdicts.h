/*
 * verdicts.h
 *		Decides about rows before they are inserted: rows whose key another row
 *		or the target has, and rows that the target refuses.
 */
#ifndef CSV_VERDICTS_H
#define CSV_VERDICTS_H

#include "executor/tuptable.h"
#include "utils/array.h"
#include "utils/rel.h"
#include "utils/resowner.h"

/* records whose key another record or the target has */
typedef enum CsvDuplicates
{
	CSV_DUPLICATES_UNSAID,		/* the target refuses them */
	CSV_DUPLICATES_ERROR,
	CSV_DUPLICATES_FIRST,
	CSV_DUPLICATES_LAST,
	CSV_DUPLICATES_UPDATE
} CsvDuplicates;

/*
 * The place of a record: the number of its file (from 1), and its number there
 * (from 1). Places ascend in the order of a scan, and are less than
 * CSV_MOST_PLACES.
 */
#define CSV_RECORD_BITS	33
#define CSV_MOST_PLACES	(INT64CONST(1) << 47)

/*
 * A verdict about a row; without one, it is inserted.  Any other number: a
 * foreign key (its constraint) or, if negative, a unique index refuses the row.
 */
#define CSV_INSERTED	0
#define CSV_LEFT_OUT	1		/* another row has its key */
#define CSV_UPDATES		2		/* a row of the target has its key, and is updated */
#define CSV_REFUSED		3		/* by what the row alone tells */

/*
 * The unique index of a key, and *attnums, its attributes.  columns: NULL for
 * the primary key.  ERROR if there is none.
 */
extern Oid	csv_key_index(Relation target, ArrayType *columns,
						  Bitmapset **attnums);

/*
 * If the relation has just one index that refuses rows at once, and it can be a
 * key.
 */
extern Oid	csv_only_unique_index(Relation target, Bitmapset **attnums);

/* such an index cannot tell ON CONFLICT which rows go in */
extern bool csv_any_deferrable_index(Relation target);

/*
 * Verdicts about rows of a source, in their order.  index: by its key rows are
 * compared; InvalidOid: they are not.  foreign_keys: foreign keys decide, too.
 * In the current memory context, and within work_mem and maintenance_work_mem,
 * beyond which there are files, which last as `resources` do.
 */
typedef struct CsvVerdicts CsvVerdicts;

extern CsvVerdicts *csv_verdicts_create(Relation target, Oid index,
										bool foreign_keys,
										ResourceOwner resources);

/* add a row of the target; verdict: CSV_INSERTED or CSV_REFUSED */
extern void csv_verdicts_add(CsvVerdicts *verdicts, TupleTableSlot *row,
							 int64 place,
							 int64 verdict);

/*
 * After all rows: decide by foreign keys, and then by the key.  Of some rows
 * with one key, the last or the first counts, and the others get of_file.  If
 * it `looks`, a row whose key the target has gets of_target.
 */
typedef struct CsvVerdictCounts
{
	int64		nrows;			/* rows that were added as CSV_INSERTED */
	int64		nleft_out;
	int64		nupdates;
} CsvVerdictCounts;

extern CsvVerdictCounts csv_verdicts_end(CsvVerdicts *verdicts, bool last,
										 bool looks,
										 int64 of_file, int64 of_target);

/*
 * After that, for ascending places from csv_verdicts_rewind() on: the verdict
 * about a row; and how many of the rows behind it have none, as far as its file
 * goes.
 */
extern void csv_verdicts_rewind(CsvVerdicts *verdicts);
extern int64 csv_verdicts_at(CsvVerdicts *verdicts, int64 place);
extern int64 csv_verdicts_free(const CsvVerdicts *verdicts, int64 place);
/* free them, if there are any, and set them to NULL */
extern void csv_verdicts_drop(CsvVerdicts **verdicts);

#endif							/* CSV_VERDICTS_H */
