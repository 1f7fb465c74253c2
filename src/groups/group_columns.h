/*
 * group_columns.h
 *		Rows of groups that come from a device or threads, many at a time.
 */
#ifndef CSV_GROUP_COLUMNS_H
#define CSV_GROUP_COLUMNS_H

#include "groups/results.h"

/* a result column */
typedef struct CsvGroupColumn
{
	CsvResult	result;
	Oid			type;			/* of the result */
	CsvRegister reg;			/* of its argument or key */
} CsvGroupColumn;

/* the columns of the results, and the layout of their groups */
typedef struct CsvGroupColumns
{
	int			n;
	CsvGroupColumn **columns;	/* NULL: values must be made row by row */
	const CsvQuery *query;
	const CsvPartialLayout *layout;
} CsvGroupColumns;

/* rows of groups, with a value for each column */
typedef struct CsvGroupRows
{
	uint32_t	n;
	Datum	   *values;
	bool	   *isnull;
	char		(*rooms)[CSV_SHORT_NUMERIC_BYTES];	/* for numerics */
} CsvGroupRows;

/*
 * A column for the result, in the current memory context; NULL if its values must be
 * made row by row.  aggref: NULL for a key.
 */
extern CsvGroupColumn *csv_group_column_create(const CsvProgram *program,
											   const CsvResult *result,
											   const Aggref *aggref);

/* room for n rows, in one piece of memory; NULL: no memory */
extern CsvGroupRows *csv_group_rows_create(const CsvGroupColumns *columns,
										   const CsvMemory *memory, uint32_t n);

/*
 * Make rows of groups [first, first + n) in `rows`, which has room for them.  Values
 * that are too large for it are in the current memory context.  Results without a
 * column are NULL.
 */
extern void csv_group_rows_fill(const CsvGroupColumns *columns,
								const CsvPartialGroups *groups, uint32_t first,
								uint32_t n, CsvGroupRows *rows);

/*
 * A CsvGroupsMaker for CsvGroupColumns: makes CsvGroupRows of all groups.  NULL: no
 * memory, or some values are too large.
 */
extern void *csv_make_group_rows(void *columns, const CsvMemory *memory,
								 const CsvPartialGroups *groups);

#endif							/* CSV_GROUP_COLUMNS_H */
