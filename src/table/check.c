/*
 * check.c
 *		Checks the options of a table and its columns in combination, and the
 *		columns' types.  Tells the engines how to convert these.
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

/* ---- how the engines convert a column, by its type ---- */

/*
 * Engines pad char(n) up to this n.  With a larger n, a batch would be mostly blanks,
 * so the input function pads value by value.
 */
#define MAX_PADDED_CHARS	256

/*
 * The input function of numeric allows any scale from -1000 to 1000.  The engines only
 * know scales from 0 to the precision.
 */
static CsvKind
numeric_kind(int32 typmod, CsvColumn *out)
{
	int			precision;
	int			scale;

	if (typmod < (int32) VARHDRSZ)
		return CSV_KIND_NUMERIC;

	/* as packed by numerictypmodin(): the scale is a signed number of 11 bits */
	precision = ((typmod - VARHDRSZ) >> 16) & 0xffff;
	scale = (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
	if (scale < 0 || scale > precision)
		return CSV_KIND_CSTRING;
	out->precision = precision;
	out->scale = scale;
	return CSV_KIND_NUMERIC;
}

static CsvKind
type_kind(Oid type, int32 typmod, CsvColumn *out)
{
	switch (type)
	{
		case BOOLOID:
			return CSV_KIND_BOOL;
		case INT2OID:
			return CSV_KIND_INT2;
		case INT4OID:
			return CSV_KIND_INT4;
		case INT8OID:
			return CSV_KIND_INT8;
		case FLOAT4OID:
			return CSV_KIND_FLOAT4;
		case FLOAT8OID:
			return CSV_KIND_FLOAT8;
		case NUMERICOID:
			return numeric_kind(typmod, out);
		case DATEOID:
			return CSV_KIND_DATE;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			out->precision = typmod;
			return type == TIMESTAMPOID ?
				CSV_KIND_TIMESTAMP : CSV_KIND_TIMESTAMPTZ;
		case TIMEOID:
			out->precision = typmod;
			return CSV_KIND_TIME;
		case UUIDOID:
			return CSV_KIND_UUID;
		case TEXTOID:
			return CSV_KIND_TEXT;
		case VARCHAROID:
			if (typmod >= (int32) VARHDRSZ)
				out->type_chars = typmod - VARHDRSZ;
			return CSV_KIND_TEXT;
		case BPCHAROID:
			if (typmod < (int32) VARHDRSZ)
				return CSV_KIND_TEXT;
			out->type_chars = typmod - VARHDRSZ;
			out->pad_blanks = true;
			return out->type_chars <= MAX_PADDED_CHARS ?
				CSV_KIND_TEXT : CSV_KIND_CSTRING;
		default:
			return CSV_KIND_CSTRING;
	}
}

bool
csv_table_is_number(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID ||
		type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID;
}

/* if engines do not know a pattern, PostgreSQL converts the values */
static CsvKind
pattern_kind(const CsvTableColumn *column, CsvColumn *out)
{
	const CsvPattern *pattern = column->pattern;

	/*
	 * a timestamp's pattern needs a zone exactly if its type has; an epoch fits both
	 */
	if (pattern->steps[0] == CSV_STEP_END ||
		(pattern->epoch == 0 && column->type != DATEOID &&
		 pattern->has_zone != (column->type == TIMESTAMPTZOID)))
	{
		out->precision = -1;
		return CSV_KIND_CSTRING;
	}
	memcpy(out->pattern, pattern->steps, sizeof(out->pattern));
	return out->kind;
}

CsvKind
csv_table_kind(const CsvTableColumn *column, CsvColumn *out)
{
	memset(out, 0, sizeof(*out));
	out->field = Max(column->field, 0);
	out->attnum = column->attnum;
	out->force_null = column->force_null;
	out->force_not_null = column->force_not_null;
	out->max_chars = column->max_chars;
	out->byte_width = column->byte_width;
	out->type_chars = -1;
	out->precision = -1;
	out->kind = type_kind(column->type, column->typmod, out);
	if (column->pattern != NULL)
		out->kind = pattern_kind(column, out);
	out->thousands = column->thousands;
	return out->kind;
}
