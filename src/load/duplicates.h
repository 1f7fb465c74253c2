/*
 * duplicates.h
 *		Decides about rows before they are inserted: which rows have the key of another row,
 *		or of a row that the target has.
 */
#ifndef CSV_DUPLICATES_H
#define CSV_DUPLICATES_H

#include "executor/tuptable.h"
#include "utils/rel.h"

#include "load/load.h"

/*
 * The place of a record: the number of its file (from 1, less than 2^23), and its number
 * there (from 1, less than 2^40).  Places ascend in the order of a scan.
 */
#define CSV_PLACE(file_number, record)	(((int64) (file_number) << 40) + (record))

/*
 * Verdicts about rows of a source, in the order of the rows: within work_mem, and then in
 * a file.  Rows without a verdict are inserted.
 */
typedef struct CsvVerdicts CsvVerdicts;

#define CSV_INSERTED	0
#define CSV_LEFT_OUT	1		/* another row has its key */
#define CSV_UPDATES		2		/* a row of the target has its key, and is updated */
#define CSV_REFUSED		3		/* from here on: the target refuses the row for a reason */

extern CsvVerdicts *csv_verdicts_create(void);
extern void csv_verdicts_add(CsvVerdicts *verdicts, int64 place, int verdict);
extern void csv_verdicts_end(CsvVerdicts *verdicts);

/*
 * After all are added, for ascending places from csv_verdicts_rewind() on: the verdict
 * about a row; and how many of the rows behind it have none, as far as its file goes.
 */
extern void csv_verdicts_rewind(CsvVerdicts *verdicts);
extern int	csv_verdicts_at(CsvVerdicts *verdicts, int64 place);
extern int64 csv_verdicts_free(const CsvVerdicts *verdicts, int64 place);

/*
 * The unique index of a key, and *attnums, its attributes.  columns: NULL for the primary
 * key.  ERROR if there is none.
 */
extern Oid	csv_key_index(Relation target, ArrayType *columns, Bitmapset **attnums);

/*
 * Sorts rows of the target by the key of an index, which is open with the relation until
 * the end.  looks: rows of the target count, too.
 */
typedef struct CsvKeys CsvKeys;

extern CsvKeys *csv_keys_begin(Relation target, Oid index, bool looks);
extern void csv_keys_add(CsvKeys *keys, TupleTableSlot *row, int64 place);

/*
 * Add the verdicts about rows whose key another row has: of some rows with one key, the
 * last or the first counts.  A row whose key the target has gets `of_target`, and others
 * CSV_LEFT_OUT or `refused`.  Returns how many rows got of_target.
 */
extern int64 csv_keys_end(CsvKeys *keys, bool last, int of_target, int of_file,
						  CsvVerdicts *verdicts);

#endif							/* CSV_DUPLICATES_H */
