/*
 * growth.h
 *		Finds the records that came into a foreign table's files since the last
 *		load.
 */
#ifndef CSV_GROWTH_H
#define CSV_GROWTH_H

#include "load/which_file.h"

typedef struct CsvGrowth CsvGrowth;

/*
 * Finds the table's files, and which of them were loaded into the target
 * before, so that the next scan of the table reads only new records.  Waits for
 * other transactions that do so, and later transactions wait for this
 * transaction.  `schema` is the extension's. In the current memory context,
 * which must live until the scan has ended.  ERROR for a program, a table with
 * a footer, a file that is not as it was loaded, and two files that both begin
 * with the bytes that were loaded.  A NOTICE tells each choice.
 */
extern CsvGrowth *csv_growth_begin(CsvTable *table, Oid schema, Oid target,
								   CsvOnRewrite on_rewrite);

/* has no file been loaded into the target before? */
extern bool csv_growth_is_first(const CsvGrowth *growth);

/* is there anything that the scan must read? */
extern bool csv_growth_is_any(const CsvGrowth *growth);

/*
 * The scan has read everything, and the rows are in the target: stores
 * positions, and returns how many.
 */
extern int64 csv_growth_finish(CsvGrowth *growth);

#endif							/* CSV_GROWTH_H */
