/*
 * group_columns.h
 *		Values of groups as they come from a device or threads, many at a time.
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

/* those of a result, and the groups that they are of */
typedef struct CsvGroupColumns
{
	int			n;
	CsvGroupColumn **columns;	/* NULL: values have to be made row by row */
	const CsvQuery *query;
	const CsvPartialLayout *layout;
} CsvGroupColumns;

/* rows of groups: of each, a value for each column */
typedef struct CsvGroupRows
{
	uint32_t	n;
	Datum	   *values;
	bool	   *isnull;
	char		(*rooms)[CSV_SHORT_NUMERIC_BYTES];	/* for numerics */
} CsvGroupRows;

/*
 * A column for the result, in the current memory context; NULL if its values
 * have to be made row by row.  aggref: NULL of a key.
 */
extern CsvGroupColumn *csv_group_column_create(const CsvProgram *program,
											   const CsvResult *result,
											   const Aggref *aggref);

/* room for n rows, in one piece of memory; NULL: there is none */
extern CsvGroupRows *csv_group_rows_create(const CsvGroupColumns *columns,
										   const CsvMemory *memory, uint32_t n);

/*
 * Make rows of groups [first, first + n), for which there is room: what is too
 * large for it, in the current memory context.  Where there is no column, values
 * are NULL.
 */
extern void csv_group_rows_fill(const CsvGroupColumns *columns,
								const CsvPartialGroups *groups, uint32_t first,
								uint32_t n, CsvGroupRows *rows);

/*
 * As CsvGroupsMaker, of CsvGroupColumns: CsvGroupRows of all groups; NULL also
 * where some values are too large.
 */
extern void *csv_make_group_rows(void *columns, const CsvMemory *memory,
								 const CsvPartialGroups *groups);

#endif							/* CSV_GROUP_COLUMNS_H */
