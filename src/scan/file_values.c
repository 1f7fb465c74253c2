/*
 * file_values.c
 *		Values of virtual columns that are the same in all rows of a file.
 *
 * If a type refuses such a value, the name of a directory is wrong, and every record
 * of the file would be bad.  So this is an ERROR, and not a bad record.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "scan/file_values.h"
#include "scan/report.h"
#include "scan/value.h"
#include "table/path.h"
#include "table/quote.h"
#include "table/text.h"

struct CsvFileValues
{
	const CsvTable *table;
	int			ncolumns;
	CsvValueInput columns[FLEXIBLE_ARRAY_MEMBER];
};

CsvFileValues *
csv_file_values_create(const CsvTable *table, const Bitmapset *wanted)
{
	CsvFileValues *values;
	int			ncolumns = 0;

	for (int i = 0; i < table->natts; i++)
		ncolumns += csv_is_of_file(&table->columns[i]) &&
			bms_is_member(table->columns[i].attnum, wanted);
	if (ncolumns == 0)
		return NULL;
	values = palloc0(offsetof(CsvFileValues, columns) +
					 sizeof(CsvValueInput) * ncolumns);
	values->table = table;
	for (int i = 0; i < table->natts; i++)
	{
		const CsvTableColumn *column = &table->columns[i];
		CsvValueInput *input = &values->columns[values->ncolumns];

		if (!csv_is_of_file(column) || !bms_is_member(column->attnum, wanted))
			continue;
		csv_value_init(input, table, column, CurrentMemoryContext);
		/* the option is for values in the file, not for its path */
		input->comma_decimal = false;
		values->ncolumns++;
	}
	return values;
}

/* the value of a key in the path; false if the type refuses it */
static bool
make_path_value(CsvValueInput *input, const char *filename, Datum *datum,
				bool *isnull, CsvValueError *error)
{
	char	   *string = NULL;

	if (input->table->program == NULL)
		string = csv_path_value(filename, input->column->path_key);
	*datum = (Datum) 0;
	*isnull = string == NULL;
	if (string == NULL && input->function.fn_strict)
		return true;
	if (string != NULL)
		string = csv_shown_filename(string);
	return csv_value_from_cstring(input, string, datum, error);
}

bool
csv_file_values_make(CsvFileValues *values, char *filename, bool quiet,
					 Datum *datums, bool *isnull)
{
	char	   *shown = csv_shown_filename(filename);

	for (int i = 0; i < values->ncolumns; i++)
	{
		CsvValueInput *input = &values->columns[i];
		int			att = input->column->attnum - 1;
		CsvValueError error;

		if (input->column->virtual_kind == CSV_VIRTUAL_FILENAME)
		{
			datums[att] = CStringGetTextDatum(shown);
			isnull[att] = false;
			continue;
		}
		if (make_path_value(input, filename, &datums[att], &isnull[att],
							&error))
			continue;
		if (quiet)
			return false;
		ereport(ERROR,
				(errcode(csv_error_sqlstate(error.code, error.sqlerrcode)),
				 csv_may_quote(values->table, input->column) ?
				 errmsg("path \"%s\": column \"%s\": %s", shown,
						input->column->name, error.message) :
				 errmsg("path of \"%s\": column \"%s\": %s", values->table->filename,
						input->column->name, error.message),
				 error.detail != NULL ?
				 errdetail_internal("%s", error.detail) : 0));
	}
	return true;
}
