/*
 * check.c
 *		Checks the options of a table and its columns in combination, and the
 *		columns' types.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/string.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "table/decompress.h"
#include "table/option.h"
#include "table/text.h"

void
csv_table_check_encoding(const CsvTable *table)
{
	int			server_encoding = GetDatabaseEncoding();

	if (table->file_encoding != server_encoding &&
		table->file_encoding != PG_SQL_ASCII &&
		server_encoding != PG_SQL_ASCII)
		(void) csv_find_conversion(table->file_encoding, server_encoding);
}

void
csv_table_check_written_name(const CsvTable *table)
{
	const char *slash = last_dir_separator(table->filename);
	const char *star = strchr(table->filename, '*');
	const char *name = slash != NULL ? slash + 1 : table->filename;

	if (strpbrk(table->filename, "?[") != NULL || *name == '\0' ||
		(star != NULL && (star < name || strchr(star + 1, '*') != NULL ||
						  (star == name + 1 && *name == '.'))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("filename \"%s\" cannot be written", table->filename),
				 errhint("The file name of a writable table is a plain name, or a pattern with one \"*\" in its last component.")));
	if (*name == '.' && pg_str_endswith(name, ".csvgpu"))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("filename \"%s\" cannot be written", table->filename),
				 errdetail("Such names are of files whose transaction has not ended yet.")));
	if (table->compression == CSV_COMPRESSION_AUTO &&
		csv_name_without_compression(name, false) < strlen(name))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("filename \"%s\" cannot be written", table->filename),
				 errdetail("Its suffix is of a compression that is not supported."),
				 errhint("Use .gz, .zst or .lz4, or set the option \"compression\".")));
}

static bool
is_virtual_type(int kind, Oid type, int32 typmod)
{
	switch (kind)
	{
		case CSV_VIRTUAL_PATH:
			return true;
		case CSV_VIRTUAL_FILENAME:
			return type == TEXTOID || (type == VARCHAROID && typmod < 0);
		case CSV_VIRTUAL_SURPLUS:
			return type == TEXTARRAYOID;
		default:
			return type == INT8OID || type == INT4OID;
	}
}

/*
 * ERROR if a virtual column has a type that cannot hold its value, or if its value is
 * not available.
 */
static void
check_virtual(const CsvTable *table, const CsvTableColumn *column)
{
	if (column->virtual_kind == CSV_VIRTUAL_SURPLUS && !table->pad)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
				 errmsg("column \"%s\" of foreign table \"%s\" has the option \"virtual\" \"surplus\", but records with surplus fields are skipped",
						column->name, table->name),
				 errhint("Set the option \"ragged\" of the table to \"pad\".")));
	if (column->virtual_kind == CSV_VIRTUAL_SHARE && table->share < 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
				 errmsg("column \"%s\" of foreign table \"%s\" has the option \"virtual\" \"share\", but the table has no share",
						column->name, table->name),
				 errhint("Set the options \"share\" and \"shares\" of the table or its server.")));
	if (is_virtual_type(column->virtual_kind, column->type, column->typmod))
		return;

	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
			 errmsg("virtual column \"%s\" of foreign table \"%s\" cannot be of type %s",
					column->name, table->name,
					format_type_with_typemod(column->type, column->typmod)),
			 errhint("Use the type %s.",
					 column->virtual_kind == CSV_VIRTUAL_FILENAME ? "text" :
					 column->virtual_kind == CSV_VIRTUAL_SURPLUS ? "text[]" :
					 column->virtual_kind == CSV_VIRTUAL_SHARE ? "integer" :
					 "bigint")));
}

/* do the options "date_format" or "timestamp_format" apply to a type? */
static bool
has_pattern_option(Oid type, const char *option)
{
	return strcmp(option, "date_format") == 0 ? type == DATEOID :
		type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

void
csv_table_check(const CsvTable *table)
{
	int			nread = 0;

	csv_table_check_encoding(table);
	if (table->by_name && table->reader.header_rows == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
				 errmsg("foreign table \"%s\" finds its columns by their names in the header, but the file has no header",
						table->name),
				 errhint("Set the option \"header\" or \"header_rows\" of the table.")));

	for (int i = 0; i < table->natts; i++)
	{
		const CsvTableColumn *column = &table->columns[i];

		if (column->dropped || column->generated)
			continue;
		if (column->virtual_kind != CSV_VIRTUAL_NONE)
		{
			check_virtual(table, column);
			continue;
		}
		nread++;

		if (column->pattern_option != NULL &&
			!has_pattern_option(column->type, column->pattern_option))
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
					 errmsg("column \"%s\" of foreign table \"%s\" has the option \"%s\", but is of type %s",
							column->name, table->name, column->pattern_option,
							format_type_with_typemod(column->type, column->typmod))));
		if (table->reader.dialect.quoting == CSV_QUOTING_TEXT &&
			(column->force_null || column->force_not_null))
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
					 errmsg("column \"%s\" of foreign table \"%s\" has the option \"%s\", but the format is \"text\"",
							column->name, table->name,
							column->force_null ? "force_null" : "force_not_null"),
					 errdetail("It is about values in quotes, which that format has not.")));
		if (table->by_name && column->field_given)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
					 errmsg("column \"%s\" of foreign table \"%s\" has the option \"column\", but the table has the option \"by_name\"",
							column->name, table->name),
					 errdetail("A field is found by its number or by its name.")));
		if (column->header_name != NULL && table->reader.header_rows == 0)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
					 errmsg("column \"%s\" of foreign table \"%s\" is found by its name in the header, but the file has no header",
							column->name, table->name),
					 errhint("Set the option \"header\" or \"header_rows\" of the table.")));
		if (column->field_given && table->nfields == 0 &&
			!table->nfields_from_header)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
					 errmsg("column \"%s\" of foreign table \"%s\" has the option \"column\", but neither the option \"columns\" nor a header tells how many fields a record has",
							column->name, table->name),
					 errhint("Set the option \"columns\" of the table.")));
		if (table->nfields > 0 && column->field >= (int64) table->nfields)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
					 errmsg("column \"%s\" of foreign table \"%s\" is field %d of the file, but a record has %u fields",
							column->name, table->name,
							column->field + 1, table->nfields),
					 errdetail("Fields are counted from 1 here, and from 0 in the option \"column\"."),
					 errhint("Check the option \"columns\" of the table, and the option \"column\" of the column.")));
	}

	if (nread == 0 && table->nfields == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
				 errmsg("no column of foreign table \"%s\" is read from the file, so the option \"columns\" is required",
						table->name)));
}
