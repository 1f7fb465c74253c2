/*
 * show.c
 *		csv_gpu_sniff(), which shows what IMPORT FOREIGN SCHEMA would find in a file.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "import/create.h"
#include "import/import.h"
#include "import/sniff.h"
#include "import/tell.h"

#define CSV_SNIFF_COLUMNS	25

static Datum
character_datum(uint8_t c)
{
	return PointerGetDatum(cstring_to_text_with_len((char *) &c, c != 0));
}

static int64
count_nulls(const CsvFoundColumn *column)
{
	const CsvEvidence *evidence = &column->evidence;

	return evidence->nnulls +
		(column->missing != 0 ? evidence->nmissing : 0) +
		(column->force_null ? evidence->nquoted_nulls : 0);
}

/* the name of a type as SQL has it, shorter than format_type() where it can be */
static char *
type_name(Oid type)
{
	return type == TIMESTAMPOID ? "timestamp" : type == TIMESTAMPTZOID ? "timestamptz" :
		type == TIMEOID ? "time" : format_type_be(type);
}

static void
put_option(Datum *values, bool *nulls, int i, const char *option)
{
	nulls[i] = option == NULL;
	values[i] = nulls[i] ? (Datum) 0 : CStringGetTextDatum(option);
}

/* the table's options, except those that a column may have, too */
static void
put_table(Datum *values, bool *nulls, const CsvFindings *findings)
{
	const CsvTable *table = findings->table;
	const CsvDialectOptions *dialect = &table->reader.dialect;

	values[7] = CStringGetTextDatum(table->delimiter);
	values[8] = character_datum(dialect->quote);
	values[9] = character_datum(dialect->escape != 0 ? dialect->escape :
								dialect->quote);
	values[10] = CStringGetTextDatum(csv_boundary_name(findings->boundary));
	values[11] = Int32GetDatum((int32) table->reader.header_rows);
	values[12] = character_datum((uint8_t) table->decimal_separator);
	values[13] = CStringGetTextDatum(csv_encoding_name(table));
	values[14] = Int64GetDatum(findings->nrecords);
	values[15] = Int64GetDatum(findings->nskipped);
	put_option(values, nulls, 19, findings->thousands_separator);
	put_option(values, nulls, 20, table->comment);
	nulls[21] = dialect->footer_rows == 0;
	values[21] = Int32GetDatum((int32) dialect->footer_rows);
	nulls[22] = !dialect->trim;
	values[22] = BoolGetDatum(true);
	put_option(values, nulls, 23, dialect->quoting == CSV_QUOTING_TEXT ? "text" : "csv");
}

static void
put_row(ReturnSetInfo *result, const CsvFindings *findings, uint32 i)
{
	const CsvFoundColumn *column = &findings->columns[i];
	Datum		values[CSV_SNIFF_COLUMNS];
	bool		nulls[CSV_SNIFF_COLUMNS] = {false};
	int32		max_chars;
	int32		byte_width;
	const Oid	type = column->type;

	values[0] = Int32GetDatum((int32) i + 1);
	values[1] = CStringGetTextDatum(column->name);
	put_option(values, nulls, 2, column->header_name);
	values[3] = CStringGetTextDatum(type_name(type));
	values[4] = Int64GetDatum(count_nulls(column));
	nulls[5] = nulls[6] = !csv_found_widths(column, &max_chars, &byte_width);
	values[5] = Int32GetDatum(max_chars);
	values[6] = Int32GetDatum(byte_width);
	put_table(values, nulls, findings);
	put_option(values, nulls, 16, column->null_values != NULL ? column->null_values :
			   findings->null_values);
	put_option(values, nulls, 17, type == DATEOID ? column->pattern : NULL);
	put_option(values, nulls, 18, type == TIMESTAMPOID ? column->pattern : NULL);
	nulls[24] = true;
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* a column whose value is in the path */
static void
put_key(ReturnSetInfo *result, const CsvFindings *findings, const CsvPathColumn *column,
		uint32 number)
{
	Datum		values[CSV_SNIFF_COLUMNS];
	bool		nulls[CSV_SNIFF_COLUMNS] = {false};

	values[0] = Int32GetDatum((int32) number);
	values[1] = CStringGetTextDatum(column->name);
	values[3] = CStringGetTextDatum(format_type_be(column->type));
	nulls[2] = nulls[4] = nulls[5] = nulls[6] = true;
	put_table(values, nulls, findings);
	nulls[16] = nulls[17] = nulls[18] = true;
	values[24] = CStringGetTextDatum(column->option);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

PG_FUNCTION_INFO_V1(csv_gpu_sniff);

/*
 * csv_gpu_sniff(filename text): a row per field, and per key in the path
 */
Datum
csv_gpu_sniff(PG_FUNCTION_ARGS)
{
	CsvImportOptions import;
	CsvFindings *findings;
	List	   *keys;
	ListCell   *cell;

	csv_check_may_read_files("function csv_gpu_sniff");
	InitMaterializedSRF(fcinfo, 0);
	csv_import_options(NIL, &import);
	findings = csv_sniff(text_to_cstring(PG_GETARG_TEXT_PP(0)), NIL, &import);
	keys = findings->ncolumns == 0 ? NIL : csv_find_keys(findings, 0);
	for (uint32 i = 0; i < findings->ncolumns; i++)
		put_row((ReturnSetInfo *) fcinfo->resultinfo, findings, i);
	foreach(cell, keys)
		put_key((ReturnSetInfo *) fcinfo->resultinfo, findings, lfirst(cell),
				findings->ncolumns + (uint32) foreach_current_index(cell) + 1);

	/* the rows have the number of errors: tell the likely cause only */
	if (findings->nskipped > 0)
		csv_found_errors(findings, "", false);
	return (Datum) 0;
}
