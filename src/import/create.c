/*
 * create.c
 *		CREATE FOREIGN TABLE, with the findings of a file.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "import/create.h"
#include "import/given.h"
#include "table/option_list.h"

/* NULL: the table or column does not get it */
static void
add_option(List **options, const char *name, const char *value)
{
	if (value != NULL)
		*options = csv_with_option(*options, name, value);
}

static void
add_character(List **options, const char *name, uint8_t c)
{
	add_option(options, name, pnstrdup((const char *) &c, 1));
}

/* options as SQL has them */
static char *
options_literal(const List *options)
{
	StringInfoData literal;
	ListCell   *cell;

	initStringInfo(&literal);
	foreach(cell, options)
	{
		DefElem    *def = lfirst(cell);

		appendStringInfo(&literal, "%s%s %s", literal.len > 0 ? ", " : "",
						 quote_identifier(def->defname), quote_literal_cstr(defGetString(def)));
	}
	return literal.data;
}

bool
csv_found_widths(const CsvFoundColumn *column, int32 *max_chars,
				 int32 *byte_width)
{
	const CsvEvidence *evidence = column->evidence;

	*max_chars = (int32) Max(csv_evidence_most(evidence, CSV_MOST_CHARS), 1);
	*byte_width = (int32) (Max(csv_evidence_most(evidence, CSV_MOST_BYTES), 1) + 3) / 4 * 4;
	return evidence->nvalues + evidence->nmissing + evidence->nquoted_nulls > 0;
}

/* a pattern that all columns of the type share; keys would have to be read by it, too */
static const char *
table_pattern(const CsvFindings *findings, Oid type, const List *keys)
{
	ListCell   *cell;

	foreach(cell, keys)
	{
		const Oid	of_key = ((CsvPathColumn *) lfirst(cell))->type;

		if (of_key == type || (of_key == TIMESTAMPTZOID && type != DATEOID))
			return NULL;
	}
	return type == DATEOID ? findings->date_format : findings->timestamp_format;
}

/*
 * Does a statement ask for "header" 'match', and can the table have it?  NOTICE if not:
 * names were made for SQL, or stand further below.
 */
static bool
has_header_match(const CsvFindings *findings, const char *name, const List *given)
{
	const CsvTable *table = findings->table;
	bool		matches = table->reader.header_rows == 1 && !table->by_name &&
		!findings->header_varies;
	ListCell   *cell;

	foreach(cell, given)
	{
		DefElem    *def = (DefElem *) lfirst(cell);

		if (strcmp(def->defname, "header") != 0 || pg_strcasecmp(defGetString(def), "match") != 0)
			continue;
		for (uint32 i = 0; i < findings->ncolumns; i++)
			matches &= findings->columns[i].header_name != NULL &&
				strcmp(findings->columns[i].header_name, findings->columns[i].name) == 0;
		if (!matches)
			ereport(NOTICE,
					(errmsg("foreign table \"%s\" does not have \"match\" as its option \"header\"",
							name),
					 errdetail("Its columns have other names than the header."),
					 errhint("Give the columns the header's names, and the table the option, by ALTER FOREIGN TABLE.")));
		return matches;
	}
	return false;
}

/*
 * Settings by which this session would read later values: other sessions and servers read
 * them alike.  Few tables of one server need an order of dates beside their patterns.
 */
static void
add_settings(List **options, const CsvFindings *findings)
{
	const CsvTable *table = findings->table;
	bool		has_zone = false;
	bool		has_date = false;

	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		const Oid	type = findings->columns[i].type;

		has_zone |= type == TIMESTAMPTZOID;
		has_date |= findings->columns[i].pattern == NULL &&
			(type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID);
	}
	if (has_zone && table->timezone == NULL)
		add_option(options, "timezone", GetConfigOptionByName("timezone", NULL, false));
	if (has_date && table->share >= 0 && table->date_order < 0)
		add_option(options, "date_order",
				   strrchr(GetConfigOptionByName("datestyle", NULL, false), ' ') + 1);
}

/*
 * The options of a table: those that were found and differ from their defaults, and the
 * options of the statement.  The header alone need not be as it was given: files may have
 * more lines above it or fewer.
 */
static char *
table_options(const CsvFindings *findings, const char *name, const List *keys,
			  const List *given)
{
	const CsvTable *table = findings->table;
	const CsvDialectOptions *dialect = &table->reader.dialect;
	const bool	is_text = dialect->quoting == CSV_QUOTING_TEXT;
	List	   *options = NIL;
	ListCell   *cell;

	add_option(&options, table->program != NULL ? "program" : "filename",
			   table->filename);
	if (has_header_match(findings, name, given))
		add_option(&options, "header", "match");
	else if (table->reader.header_rows == 1)
		add_option(&options, "header", "true");
	else if (table->reader.header_rows > 1)
		add_option(&options, "header_rows", psprintf("%u", table->reader.header_rows));
	if (is_text)
		add_option(&options, "format", "text");
	if (strcmp(table->delimiter, is_text ? "\t" : ",") != 0)
		add_option(&options, "delimiter", table->delimiter);
	if (dialect->trim)
		add_option(&options, "trim", "true");
	add_option(&options, "comment", table->comment);
	if (dialect->footer_rows > 0)
		add_option(&options, "footer_rows", psprintf("%u", dialect->footer_rows));
	if (table->by_name)
		add_option(&options, "by_name", "true");
	if (dialect->quote != '"' && !is_text)
		add_character(&options, "quote", dialect->quote);
	if (dialect->escape != 0)
		add_character(&options, "escape", dialect->escape);
	if (dialect->boundary != CSV_BOUNDARY_AUTO)
		add_option(&options, "record_boundary", csv_boundary_name(dialect->boundary));
	if (table->decimal_separator != '.')
		add_character(&options, "decimal_separator", (uint8_t) table->decimal_separator);
	add_option(&options, "date_format", table_pattern(findings, DATEOID, keys));
	add_option(&options, "timestamp_format", table_pattern(findings, TIMESTAMPOID, keys));
	add_option(&options, "thousands_separator", findings->thousands_separator);
	add_settings(&options, findings);

	/* otherwise it would depend on the client that reads the table */
	if (!findings->by_mark)
		add_option(&options, "encoding", csv_encoding_name(table));
	foreach(cell, given)
	{
		DefElem    *def = (DefElem *) lfirst(cell);

		if (strncmp(def->defname, "header", strlen("header")) != 0 &&
			!csv_is_given(options, def->defname))
			add_option(&options, def->defname, defGetString(def));
	}
	return options_literal(options);
}

static void
add_column(StringInfo columns, const char *name, const char *type, const List *options)
{
	appendStringInfo(columns, "%s\n    %s %s", columns->len > 0 ? "," : "",
					 quote_identifier(name), type);
	if (options != NIL)
		appendStringInfo(columns, " OPTIONS (%s)", options_literal(options));
}

static void
add_field(StringInfo columns, const CsvFindings *findings, const CsvFoundColumn *column,
		  const List *keys, bool limits)
{
	const Oid	type = column->type;
	int32		max_chars;
	int32		byte_width;
	List	   *options = NIL;

	if (findings->table->by_name && column->header_name != NULL &&
		strcmp(column->header_name, column->name) != 0)
		add_option(&options, "header_name", column->header_name);
	if (column->force_null)
		add_option(&options, "force_null", "true");
	if (table_pattern(findings, type, keys) == NULL)
		add_option(&options, type == DATEOID ? "date_format" : "timestamp_format",
				   column->pattern);
	add_option(&options, "null_values", column->null_values);
	if (type == TEXTOID && limits && csv_found_widths(column, &max_chars, &byte_width))
	{
		add_option(&options, "max_chars", psprintf("%d", max_chars));
		add_option(&options, "byte_width", psprintf("%d", byte_width));
	}

	/* precision and scale are limits, and a further digit would be rounded */
	add_column(columns, column->name,
			   format_type_with_typemod(type, column->given != NULL ?
										column->given->typmod :
										limits ? column->typmod : -1), options);
}

char *
csv_create_statement(const CsvFindings *findings, const char *name,
					 const char *server, const CsvImportOptions *import,
					 const List *keys)
{
	StringInfoData columns;
	ListCell   *cell;

	/* values may be longer behind the part of a file that was read */
	bool		limits = import->limits && findings->complete;

	initStringInfo(&columns);
	for (uint32 i = 0; i < findings->ncolumns; i++)
		add_field(&columns, findings, &findings->columns[i], keys, limits);
	foreach(cell, keys)
	{
		const CsvPathColumn *key = lfirst(cell);
		List	   *options = NIL;

		add_option(&options, "virtual", key->option);
		add_column(&columns, key->name,
				   format_type_be(import->all_text ? TEXTOID : key->type), options);
	}
	foreach(cell, import->given_virtuals)
	{
		const CsvImportedColumn *given = lfirst(cell);
		List	   *options = NIL;

		add_option(&options, "virtual", given->word);
		add_column(&columns, given->name, format_type_be(given->type), options);
	}
	return psprintf("CREATE FOREIGN TABLE %s (%s\n) SERVER %s OPTIONS (%s)",
					quote_qualified_identifier(import->schema, name),
					columns.data,
					quote_identifier(server),
					table_options(findings, name, keys, import->table_options));
}
