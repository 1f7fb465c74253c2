/*
 * group_columns.h
 *		Rows of groups that come from a device or threads, many at a time.
 */
#ifndef CSV_GROUP_COLUMNS_H
#define CSV_GROUP_COLUMNS_H

#include "groups/results.h"

/* rows of groups, with a value for each column */
typedef struct CsvGroupRows
{
	uint32_t	n;
	Datum	   *values;
	bool	   *isnull;
	char		(*rooms)[CSV_SHORT_NUMERIC_BYTES];	/* for numerics */
} CsvGroupRows;

/* room for n rows, in one piece of memory; NULL: no memory */
extern CsvGroupRows *csv_group_rows_create(const CsvResults *results,
										   const CsvMemory *memory, uint32_t n);

/*
 * Make rows of groups [first, first + n) in `rows`, which has room for them.  Values
 * that are too large for it are in the current memory context.  Results without a
 * column are NULL.
 */
extern void csv_group_rows_fill(const CsvResults *results,
								const CsvPartialGroups *groups, uint32_t first,
								uint32_t n, CsvGroupRows *rows);

/*
 * A CsvGroupsMaker for CsvResults: makes CsvGroupRows of all groups.  NULL: no
 * memory, or some values are too large.
 */
extern void *csv_make_group_rows(void *results, const CsvMemory *memory,
								 const CsvPartialGroups *groups);

#endif							/* CSV_GROUP_COLUMNS_H */
