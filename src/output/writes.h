/*
 * writes.h
 *		The rows that a transaction writes to the files of tables, until it commits.
 */
#ifndef CSV_WRITES_H
#define CSV_WRITES_H

#include "executor/tuptable.h"

typedef struct CsvWrite CsvWrite;

/*
 * Begin to write to a foreign table.  The result lives until the end of the transaction.
 * ERROR if its file cannot be written, or does not fit the table.
 */
extern CsvWrite *csv_write_begin(Oid foreigntableid);

/* write a row when the transaction commits */
extern void csv_write_row(CsvWrite *write, TupleTableSlot *slot);

/* remove all rows of a foreign table when the transaction commits */
extern void csv_write_truncate(Oid foreigntableid);

#endif							/* CSV_WRITES_H */
