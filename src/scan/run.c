/*
 * run.c
 *		Rows of a scan, many at a time, for threads.
 */
#include "postgres.h"

#include "scan/run.h"

bool
csv_row_run_fetch(const CsvRowRun *run, uint32_t row, const int *places,
				  Datum *values, bool *isnull, CsvRowRoom *room)
{
	uint32_t	entry = run->first + row;

	for (int i = 0; i < run->ncolumns; i++)
	{
		const CsvScanColumn *column = &run->columns[i];
		int			place = places[column->att];
		CsvInt128	decimal;

		isnull[place] = column->values == NULL ||
			(column->status != NULL && column->status[entry] != CSV_VALUE_OK);
		if (isnull[place])
			continue;
		if (column->fetch != CSV_FETCH_DECIMAL)
		{
			values[place] = csv_fetch_value(column->fetch, column->values +
											(size_t) entry * column->stride);
			continue;
		}
		decimal = csv_fetch_decimal(column, entry);
		if (decimal != (int64_t) decimal ||
			column->input.spec.scale > CSV_SHORT_NUMERIC_SCALE)
			return false;
		values[place] = csv_short_numeric((int64_t) decimal,
										  column->input.spec.scale,
										  room[place].numeric);
	}
	return true;
}
