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

/* values of a column, of one group after the other */
typedef struct CsvGroupValues
{
	Datum	   *values;
	bool	   *isnull;
	char		(*rooms)[CSV_SHORT_NUMERIC_BYTES];
} CsvGroupValues;

/*
 * A column for the result, in the current memory context; NULL if its values
 * have to be made row by row.  aggref: NULL of a key.
 */
extern CsvGroupColumn *csv_group_column_create(const CsvProgram *program,
											   const CsvResult *result,
											   const Aggref *aggref);

/*
 * Room for n values of each column, in one piece of memory, which begins with
 * the CsvGroupValues of each.  NULL: there is no memory.
 */
extern CsvGroupValues *csv_group_values_create(const CsvGroupColumns *columns,
											   const CsvMemory *memory,
											   uint32_t n);

/*
 * Make the values of groups [first, first + n), for which there is room: what is
 * too large for it, in the current memory context.
 */
extern void csv_group_columns_fill(const CsvGroupColumns *columns,
								   const CsvPartialGroups *groups,
								   uint32_t first, uint32_t n,
								   CsvGroupValues *values);

/*
 * As CsvGroupsMaker, of CsvGroupColumns: the values of all groups; NULL also
 * where some are too large.
 */
extern void *csv_make_group_values(void *columns, const CsvMemory *memory,
								   const CsvPartialGroups *groups);

#endif							/* CSV_GROUP_COLUMNS_H */
