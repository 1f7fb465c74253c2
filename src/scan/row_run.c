/*
 * row_run.c
 *		Rows of a scan, many at a time, for threads.
 */
#include "postgres.h"

#include "scan/row_run.h"

/* a row whose values were made ahead */
static void
fetch_input_row(const CsvRowRun *run, uint32_t row, const int *places, Datum *values,
				bool *isnull)
{
	const CsvInputRow *found = run->input_rows;
	uint32_t	n = run->ninput_rows;

	while (n > 1)
	{
		uint32_t	half = n / 2;

		if (found[half].row <= row)
			found += half;
		n -= half;
	}
	Assert(found->row == row);
	for (int i = 0; i < run->ncolumns; i++)
	{
		int			att = run->columns[i].att;

		values[places[att]] = found->values[att];
		isnull[places[att]] = found->isnull[att];
	}
}

bool
csv_row_run_fetch(const CsvRowRun *run, uint32_t row, const int *places,
				  Datum *values, bool *isnull, CsvRowRoom *room)
{
	uint32_t	entry = run->first + row;

	for (int i = 0; i < run->ncolumns; i++)
	{
		const CsvScanColumn *column = &run->columns[i];
		int			place = places[column->att];
		int			status = column->status == NULL ? CSV_VALUE_OK : column->status[entry];
		CsvInt128	decimal;
		int			scale;

		isnull[place] = column->values == NULL || status == CSV_VALUE_NULL;
		if (isnull[place])
			continue;
		if (unlikely(status != CSV_VALUE_OK))
		{
			fetch_input_row(run, row, places, values, isnull);
			return true;
		}
		if (column->fetch != CSV_FETCH_DECIMAL)
		{
			values[place] = csv_fetch_value(column->fetch, column->values +
											(size_t) entry * column->stride);
			continue;
		}
		decimal = csv_fetch_decimal(column, entry, &scale);
		if (decimal != (int64_t) decimal || scale > CSV_SHORT_NUMERIC_SCALE)
			return false;
		values[place] = csv_short_numeric((int64_t) decimal, scale,
										  room[place].numeric);
	}
	return true;
}
