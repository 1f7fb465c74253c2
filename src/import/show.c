/*
 * show.c
 *		csv_gpu_sniff(), which shows what IMPORT FOREIGN SCHEMA would find in a file.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "compat.h"
#include "import/create.h"
#include "import/look.h"
#include "import/findings.h"
#include "import/tell.h"
#include "table/option_list.h"
#include "table/release.h"

#define CSV_SNIFF_COLUMNS	25

static char *
number(int64 n)
{
	return psprintf(INT64_FORMAT, n);
}

static char *
character(uint8_t c)
{
	return pnstrdup((const char *) &c, 1);
}

/* a row of the result, whose other columns are the table's options and counts */
static void
put_row(ReturnSetInfo *result, AttInMetadata *input, const CsvFindings *findings, char **values)
{
	const CsvTable *table = findings->table;
	const CsvDialectOptions *dialect = &table->reader.dialect;

	values[7] = table->delimiter;
	values[8] = character(dialect->quote);
	values[9] = character(dialect->escape != 0 ? dialect->escape : dialect->quote);
	values[10] = unconstify(char *, csv_boundary_name(findings->boundary));
	values[11] = number(table->reader.header_rows);
	values[12] = character((uint8_t) table->decimal_separator);
	values[13] = unconstify(char *, csv_encoding_name(table));
	values[14] = number(findings->nrecords);
	values[15] = number(findings->skipped.n);
	values[19] = findings->thousands_separator;
	values[20] = table->comment;
	values[21] = dialect->footer_rows == 0 ? NULL : number(dialect->footer_rows);
	values[22] = dialect->trim ? "true" : NULL;
	values[23] = dialect->quoting == CSV_QUOTING_TEXT ? "text" : "csv";
	tuplestore_puttuple(result->setResult, BuildTupleFromCStrings(input, values));
}

static void
put_column(ReturnSetInfo *result, AttInMetadata *input, const CsvFindings *findings, uint32 i)
{
	const CsvFoundColumn *column = &findings->columns[i];
	int32		max_chars;
	int32		byte_width;
	const bool	any = csv_found_widths(column, &max_chars, &byte_width);
	const CsvEvidence *evidence = column->evidence;
	const Oid	type = column->type;
	const int64 nnulls = evidence->nnulls +
		(column->null_values != NULL ? evidence->nmissing : 0) +
		(column->force_null ? evidence->nquoted_nulls : 0);
	char	   *values[CSV_SNIFF_COLUMNS] = {
		number(i + 1), column->name, column->header_name,

		/* the name as SQL has it, shorter than format_type() where it can be */
		type == TIMESTAMPOID ? "timestamp" : type == TIMESTAMPTZOID ? "timestamptz" :
		type == TIMEOID ? "time" : format_type_be(type),
		number(nnulls), any ? number(max_chars) : NULL,
		any ? number(byte_width) : NULL
	};

	values[16] = column->null_values;
	values[17] = type == DATEOID ? column->pattern : NULL;
	values[18] = type == TIMESTAMPOID ? column->pattern : NULL;
	put_row(result, input, findings, values);
}

/* a column whose value is in the path */
static void
put_key(ReturnSetInfo *result, AttInMetadata *input, const CsvFindings *findings,
		const CsvPathColumn *column, uint32 i)
{
	char	   *values[CSV_SNIFF_COLUMNS] = {
		number(i + 1), column->name, NULL, format_type_be(column->type)
	};

	values[24] = column->option;
	put_row(result, input, findings, values);
}

/* the symbol of version 0.1 */
PG_FUNCTION_INFO_V1(csv_gpu_sniff);

Datum
csv_gpu_sniff(PG_FUNCTION_ARGS)
{
	csv_fail_as_older();
}

PG_FUNCTION_INFO_V1(csv_gpu_sniff_2);

/*
 * csv_gpu_sniff(filename text, server text): a row per field, and per key in
 * the path
 */
Datum
csv_gpu_sniff_2(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	AttInMetadata *input;
	CsvImportOptions import;
	CsvFindings *findings;
	List	   *keys;
	ListCell   *cell;
	char	   *filename;

	csv_begin_function(fcinfo, "text text -> setof integer text text text bigint integer "
					   "integer text text text text integer text text bigint bigint text text "
					   "text text text integer boolean text text");
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	filename = text_to_cstring(PG_GETARG_TEXT_PP(0));
	input = TupleDescGetAttInMetadata(result->setDesc);
	csv_import_options(NIL, &import);
	findings = csv_sniff(filename,
						 csv_look_server("csv_gpu_sniff", filename,
										 PG_ARGISNULL(1) ? NULL :
										 text_to_cstring(PG_GETARG_TEXT_PP(1)),
										 false),
						 &import);
	keys = findings->ncolumns == 0 ? NIL : csv_find_keys(findings, 0);
	for (uint32 i = 0; i < findings->ncolumns; i++)
		put_column(result, input, findings, i);
	foreach(cell, keys)
		put_key(result, input, findings, lfirst(cell),
				findings->ncolumns + (uint32) foreach_current_index(cell));

	/* the rows have the number of errors: tell the likely cause only */
	if (findings->skipped.n > 0)
		csv_found_errors(findings, "", false);
	return (Datum) 0;
}
