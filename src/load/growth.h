/*
 * growth.h
 *		What is new in the files of a foreign table since they were loaded last.
 */
#ifndef CSV_GROWTH_H
#define CSV_GROWTH_H

#include "table/option.h"

typedef struct CsvGrowth CsvGrowth;

/* what is done with a file that is not as it was loaded */
typedef enum CsvOnRewrite
{
	CSV_REWRITE_ERROR,
	CSV_REWRITE_RESTART,		/* it is loaded from its beginning */
	CSV_REWRITE_SKIP			/* what comes behind its present end is loaded */
} CsvOnRewrite;

/*
 * Has the next scan of the table read only what is new: finds the table's files, and
 * those that were loaded into the target before.  Waits for other transactions that do
 * so, and keeps later ones waiting.  `schema` is the extension's.  In the current memory
 * context, which must live until the scan has ended.  ERROR for a table without files or
 * with a footer, for a file that is not as it was loaded, and if two files may be the
 * one that was loaded.
 */
extern CsvGrowth *csv_growth_begin(CsvTable *table, Oid schema, Oid target,
								   CsvOnRewrite on_rewrite);

/* is there anything that the scan must read? */
extern bool csv_growth_is_any(const CsvGrowth *growth);

/* the scan has read everything, and the rows are in the target: stores positions */
extern void csv_growth_finish(CsvGrowth *growth);

#endif							/* CSV_GROWTH_H */
