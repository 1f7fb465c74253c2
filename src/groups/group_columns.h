/*
 * group_columns.h
 *		Values of groups as they come from a device, many at a time.
 */
#ifndef CSV_GROUP_COLUMNS_H
#define CSV_GROUP_COLUMNS_H

#include "groups/results.h"

/* groups at a time: their values stay in the caches until they are looked at */
#define CSV_GROUP_ROWS	256

/* a result column */
typedef struct CsvGroupColumn
{
	CsvResult	result;
	Oid			type;			/* of the result */
	CsvRegister reg;			/* of its argument or key */
	Datum		values[CSV_GROUP_ROWS];
	bool		isnull[CSV_GROUP_ROWS];
	char		rooms[CSV_GROUP_ROWS][CSV_SHORT_NUMERIC_BYTES];
} CsvGroupColumn;

/*
 * A column for the result, in the current memory context; NULL if its values
 * have to be made row by row.  aggref: NULL of a key.
 */
extern CsvGroupColumn *csv_group_column_create(const CsvProgram *program,
											   const CsvResult *result,
											   const Aggref *aggref);

/*
 * Make the values of groups [first, first + n), n <= CSV_GROUP_ROWS: what is not
 * in the column itself, in the current memory context.
 */
extern void csv_group_column_fill(CsvGroupColumn *column,
								  const CsvQuery *query,
								  const CsvPartialLayout *layout,
								  const CsvPartialGroups *groups,
								  uint32_t first, uint32_t n);

#endif							/* CSV_GROUP_COLUMNS_H */
