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

void
csv_file_value_init(CsvValueInput *input, const CsvTable *table,
					const CsvTableColumn *column)
{
	csv_value_init(input, table, column, CurrentMemoryContext);
	/* the option is for values in the file, not for its path */
	input->comma_decimal = false;
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
csv_file_value_make(CsvValueInput *input, char *filename, bool quiet, Datum *datum,
					bool *isnull)
{
	const CsvTable *table = input->table;
	char	   *shown = csv_shown_filename(filename);
	CsvValueError error;

	if (input->column->virtual_kind == CSV_VIRTUAL_FILENAME)
	{
		*datum = CStringGetTextDatum(shown);
		*isnull = false;
		return true;
	}
	if (make_path_value(input, filename, datum, isnull, &error))
		return true;
	if (!quiet)
		ereport(ERROR,
				(errcode(csv_error_sqlstate(error.code, error.sqlerrcode)),
				 csv_may_quote(table, input->column) ?
				 errmsg("path \"%s\": column \"%s\": %s", shown,
						input->column->name, error.message) :
				 errmsg("path of \"%s\": column \"%s\": %s", table->filename,
						input->column->name, error.message),
				 error.detail != NULL ?
				 errdetail_internal("%s", error.detail) : 0));
	return false;
}
