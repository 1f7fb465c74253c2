/*
 * option.c
 *		The options of servers, tables and columns.
 *
 * An option is parsed, and its own value checked, in one place: by
 * parse_table_option() or parse_column_option(), into a CsvTable or a
 * CsvTableColumn.  The validator parses the options of one object into a
 * scratch struct and looks at how they go together; csv_table_get() parses
 * those of the server first and those of the table over them.
 *
 * Texts are those of file_fdw and COPY where these have one for the same
 * mistake, less the word COPY.
 */
#include "postgres.h"

#include <limits.h>

#include "access/reloptions.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "common/string.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "reader/footer.h"
#include "table/option.h"
#include "table/option_value.h"
#include "table/threads.h"

#define DEFAULT_MAX_RECORD_BYTES	(16 * 1024 * 1024)
#define DEFAULT_NOTICE_LIMIT		10

/*
 * A value of a record becomes a varlena, with its header and a little room
 * behind it, and no palloc gives more than MaxAllocSize.
 */
#define MAX_RECORD_BYTES	((int64) MaxAllocSize - 64)

/* engines count the bytes of their input in 31 bits, and a chunk may grow */
#define MAX_CHUNK_BYTES		((int64) 1024 * 1024 * 1024)

/* no value is longer than its record; widths are multiples of 4 */
#define MAX_BYTE_WIDTH		(MAX_RECORD_BYTES / 4 * 4)

/* so that the byte_width that follows from it, 4 bytes each, is in bounds */
#define MAX_CHARS			(MAX_BYTE_WIDTH / 4)

typedef struct CsvOption
{
	const char *name;
	Oid			catalog;		/* of the objects it may stand on */
} CsvOption;

static const CsvOption valid_options[] = {
	{"filename", ForeignTableRelationId},
	{"program", ForeignTableRelationId},
	{"compression", ForeignTableRelationId},
	{"format", ForeignTableRelationId},
	{"header", ForeignTableRelationId},
	{"header_rows", ForeignTableRelationId},
	{"footer_rows", ForeignTableRelationId},
	{"by_name", ForeignTableRelationId},
	{"delimiter", ForeignTableRelationId},
	{"quote", ForeignTableRelationId},
	{"escape", ForeignTableRelationId},
	{"quoting", ForeignTableRelationId},
	{"multiline", ForeignTableRelationId},
	{"comment", ForeignTableRelationId},
	{"trim", ForeignTableRelationId},
	{"null", ForeignTableRelationId},
	{"encoding", ForeignTableRelationId},
#if CSV_HAVE_DEFAULT_OPTION
	{"default", ForeignTableRelationId},
#endif
	{"decimal_separator", ForeignTableRelationId},
	{"thousands_separator", ForeignTableRelationId},
	{"null_values", ForeignTableRelationId},
	{"date_format", ForeignTableRelationId},
	{"timestamp_format", ForeignTableRelationId},
	{"columns", ForeignTableRelationId},
	{"record_boundary", ForeignTableRelationId},
	{"ragged", ForeignTableRelationId},
	{"max_record_size", ForeignTableRelationId},

	/* on the server as a default for its tables */
	{"engine", ForeignTableRelationId},
	{"engine", ForeignServerRelationId},
	{"on_error", ForeignTableRelationId},
	{"on_error", ForeignServerRelationId},
	{"reject_limit", ForeignTableRelationId},
	{"reject_limit", ForeignServerRelationId},
	{"log_verbosity", ForeignTableRelationId},
	{"log_verbosity", ForeignServerRelationId},
	{"notice_limit", ForeignTableRelationId},
	{"notice_limit", ForeignServerRelationId},
	{"chunk_size", ForeignTableRelationId},
	{"chunk_size", ForeignServerRelationId},

	/* of IMPORT FOREIGN SCHEMA, beside those that its tables get */
	{"directory", NamespaceRelationId},
	{"sample_records", NamespaceRelationId},
	{"all_text", NamespaceRelationId},
	{"limits", NamespaceRelationId},
	{"pattern", NamespaceRelationId},
	{"table", NamespaceRelationId},
	{"suffixes", NamespaceRelationId},

	{"column", AttributeRelationId},
	{"header_name", AttributeRelationId},
	{"virtual", AttributeRelationId},
	{"byte_width", AttributeRelationId},
	{"max_chars", AttributeRelationId},
	{"force_null", AttributeRelationId},
	{"force_not_null", AttributeRelationId},
	{"null_values", AttributeRelationId},
	{"date_format", AttributeRelationId},
	{"timestamp_format", AttributeRelationId},
	{NULL, InvalidOid}
};

static const CsvWord engine_words[] = {
	{"auto", CSV_ENGINE_AUTO},
	{"cuda", CSV_ENGINE_CUDA},
	{"cpu", CSV_ENGINE_CPU},
	{NULL, 0}
};

typedef enum OnError
{
	ON_ERROR_SKIP,
	ON_ERROR_STOP,
	ON_ERROR_SET_NULL
} OnError;

static const CsvWord on_error_words[] = {
	{"skip", ON_ERROR_SKIP},
	{"ignore", ON_ERROR_SKIP},
	{"stop", ON_ERROR_STOP},
	{"set_null", ON_ERROR_SET_NULL},
	{NULL, 0}
};

/* the value is CsvTable.pad */
static const CsvWord ragged_words[] = {
	{"skip", false},
	{"pad", true},
	{NULL, 0}
};

static const CsvWord verbosity_words[] = {
	{"default", CSV_VERBOSITY_DEFAULT},
	{"verbose", CSV_VERBOSITY_VERBOSE},
	{"silent", CSV_VERBOSITY_SILENT},
	{NULL, 0}
};

static const CsvWord quoting_words[] = {
	{"rfc4180", CSV_QUOTING_RFC4180},
	{"postgres", CSV_QUOTING_POSTGRES},
	{"lenient", CSV_QUOTING_LENIENT},
	{NULL, 0}
};

static const CsvWord boundary_words[] = {
	{"auto", CSV_BOUNDARY_AUTO},
	{"lf", CSV_BOUNDARY_LF},
	{"crlf", CSV_BOUNDARY_CRLF},
	{"cr", CSV_BOUNDARY_CR},
	{NULL, 0}
};

static const CsvWord compression_words[] = {
	{"auto", CSV_COMPRESSION_AUTO},
	{"none", CSV_COMPRESSION_NONE},
	{"gzip", CSV_COMPRESSION_GZIP},
	{"zstd", CSV_COMPRESSION_ZSTD},
	{"lz4", CSV_COMPRESSION_LZ4},
	{NULL, 0}
};

static const CsvWord decimal_words[] = {
	{".", '.'},
	{",", ','},
	{NULL, 0}
};

/* before the key of a virtual column */
#define PATH_PREFIX		"path:"

static const CsvWord virtual_words[] = {
	{"filename", CSV_VIRTUAL_FILENAME},
	{"record", CSV_VIRTUAL_RECORD},
	{"line", CSV_VIRTUAL_LINE},
	{"byte_offset", CSV_VIRTUAL_BYTE_OFFSET},
	{"surplus", CSV_VIRTUAL_SURPLUS},
	{PATH_PREFIX "KEY", CSV_VIRTUAL_PATH},
	{NULL, 0}
};

/* a table's options while they are parsed: what defaults are derived from */
typedef struct TableOptions
{
	CsvTable   *table;
	bool		is_text;		/* the format */
	bool		has_quote;		/* given */
	bool		header;
	int64		header_rows;	/* -1: not given */
	int64		nfields;		/* -1: not given */
	bool		reject_limit;	/* given */
} TableOptions;

/* ---- names ---- */

/*
 * May the option stand on an object of this catalog?  That of schemas means
 * IMPORT FOREIGN SCHEMA, which takes the options of tables, too, but for what
 * is different in each of them.
 */
static bool
may_stand_on(const CsvOption *option, Oid catalog)
{
	static const char *const of_one_table[] = {
		"filename", "program", "columns", "default"
	};

	if (option->catalog == catalog)
		return true;
	if (catalog != NamespaceRelationId ||
		option->catalog != ForeignTableRelationId)
		return false;
	for (size_t i = 0; i < lengthof(of_one_table); i++)
		if (strcmp(option->name, of_one_table[i]) == 0)
			return false;
	return true;
}

/* what other readers of CSV call it; NULL: nothing of ours that may stand there */
static const char *
our_name(const char *name, Oid catalog)
{
	static const char *const names[][2] = {
		{"all_varchar", "all_text"}, {"dateformat", "date_format"},
		{"decimal", "decimal_separator"}, {"delim", "delimiter"}, {"enclosed", "quote"},
		{"encode", "encoding"}, {"escapechar", "escape"}, {"footer", "footer_rows"},
		{"ignore_errors", "on_error"},
		{"max_line_size", "max_record_size"}, {"na_values", "null_values"},
		{"new_line", "record_boundary"}, {"lineterminator", "record_boundary"},
		{"null_padding", "ragged"}, {"nullstr", "null"}, {"quotechar", "quote"},
		{"sample_size", "sample_records"}, {"sep", "delimiter"}, {"separator", "delimiter"},
		{"skip", "header_rows"}, {"skipfooter", "footer_rows"}, {"skiprows", "header_rows"},
		{"thousands", "thousands_separator"}, {"timestampformat", "timestamp_format"},
		{"union_by_name", "by_name"}
	};

	for (size_t i = 0; i < lengthof(names); i++)
	{
		if (strcmp(names[i][0], name) != 0)
			continue;
		for (const CsvOption *option = valid_options; option->name != NULL; option++)
			if (may_stand_on(option, catalog) && strcmp(option->name, names[i][1]) == 0)
				return option->name;
	}
	return NULL;
}

static void
check_option_name(const char *name, Oid catalog)
{
	const CsvOption *option;
	ClosestMatchState match_state;
	const char *match;
	StringInfoData valid_names;

	for (option = valid_options; option->name != NULL; option++)
	{
		if (may_stand_on(option, catalog) && strcmp(option->name, name) == 0)
			return;
	}

	initStringInfo(&valid_names);
	initClosestMatch(&match_state, name, 4);
	for (option = valid_options; option->name != NULL; option++)
	{
		if (!may_stand_on(option, catalog))
			continue;
		updateClosestMatch(&match_state, option->name);
		appendStringInfo(&valid_names, "%s%s",
						 valid_names.len > 0 ? ", " : "", option->name);
	}
	match = our_name(name, catalog);
	if (match == NULL)
		match = getClosestMatch(&match_state);

	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("invalid option \"%s\"", name),
			 match != NULL ?
			 errhint("Perhaps you meant the option \"%s\".", match) :
			 valid_names.len > 0 ?
			 errhint("Valid options in this context are: %s",
					 valid_names.data) :
			 errhint("There are no valid options in this context.")));
}

static void
check_may_set(const DefElem *def, Oid role, const char *role_name)
{
	if (!has_privs_of_role(GetUserId(), role))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set the \"%s\" option of a csv_gpu_fdw foreign table",
						def->defname),
				 errdetail("Only roles with privileges of the \"%s\" role may set this option.",
						   role_name)));
}

static void
conflict(const char *name, const char *other, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("options \"%s\" and \"%s\" conflict", name, other),
			 errdetail_internal("%s", detail)));
}

/* ---- values that one option only has ---- */

/*
 * A count of records, or a percentage of them: digits, perhaps with a point,
 * and a percent sign.
 */
static void
parse_reject_limit(DefElem *def, CsvTable *table)
{
	char	   *value = defGetString(def);
	size_t		ndigits = strspn(value, "0123456789.");

	/* one of the two: a table's replaces its server's */
	table->reject_count = -1;
	table->reject_percent = -1;

	if (ndigits > 0 && strcmp(value + ndigits, "%") == 0)
	{
		char	   *end;
		double		percent = strtod(value, &end);

		if (end == value + ndigits && percent > 0 && percent <= 100)
		{
			table->reject_percent = percent;
			return;
		}
	}
	else if (csv_option_digits(value, &table->reject_count) &&
			 table->reject_count > 0)
		return;

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for option \"%s\": \"%s\"",
					def->defname, value),
			 errdetail("The value must be a count above 0, or a percentage such as \"5%%\", above 0 and up to 100.")));
}

static bool
parse_header(DefElem *def, bool *match)
{
	char	   *value = defGetString(def);

	*match = pg_strcasecmp(value, "match") == 0;
	if (*match ||
		pg_strcasecmp(value, "true") == 0 || pg_strcasecmp(value, "on") == 0)
		return true;
	if (pg_strcasecmp(value, "false") == 0 || pg_strcasecmp(value, "off") == 0)
		return false;
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("%s requires a Boolean value or \"match\"",
					def->defname)));
	return false;
}

/* is it text?  Else csv. */
static bool
parse_format(DefElem *def)
{
	char	   *value = defGetString(def);
	bool		is_text = pg_strcasecmp(value, "text") == 0;

	if (!is_text && pg_strcasecmp(value, "csv") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("format \"%s\" not supported", value),
				 errhint("csv_gpu_fdw reads the formats \"csv\", with any delimiter, and \"text\", which COPY writes; for others, use file_fdw.")));
	return is_text;
}

/* ---- options of servers and tables ---- */

static void
init_table_options(TableOptions *options, CsvTable *table)
{
	memset(options, 0, sizeof(*options));
	options->table = table;
	options->header_rows = -1;
	options->nfields = -1;

	memset(table, 0, sizeof(*table));
	table->reader.dialect.quoting = CSV_QUOTING_RFC4180;
	table->reader.dialect.boundary = CSV_BOUNDARY_AUTO;
	table->reader.dialect.multiline = true;
	table->reader.max_record_bytes = DEFAULT_MAX_RECORD_BYTES;
	table->compression = CSV_COMPRESSION_AUTO;
	table->utf16 = CSV_UTF16_BY_MARK;
	table->file_encoding = -1;
	table->decimal_separator = '.';
	table->reject_count = -1;
	table->reject_percent = -1;
	table->verbosity = CSV_VERBOSITY_DEFAULT;
	table->notice_limit = DEFAULT_NOTICE_LIMIT;
	table->settings = csv_settings;
	table->settings.resident &= csv_settings.resident_memory > 0;
	table->settings.cpu_threads = csv_thread_count(csv_settings.cpu_threads);
	table->settings.planned_threads =
		csv_planned_threads(csv_settings.cpu_threads,
							table->settings.cpu_threads);
}

/* an option that check_option_name() let pass */
static void
parse_table_option(TableOptions *options, DefElem *def)
{
	CsvTable   *table = options->table;
	CsvDialectOptions *dialect = &table->reader.dialect;
	const char *name = def->defname;

	if (strcmp(name, "filename") == 0)
		table->filename = defGetString(def);
	else if (strcmp(name, "program") == 0)
		table->program = defGetString(def);
	else if (strcmp(name, "compression") == 0)
		table->compression = csv_option_word(def, compression_words);
	else if (strcmp(name, "format") == 0)
		options->is_text = parse_format(def);
	else if (strcmp(name, "header") == 0)
		options->header = parse_header(def, &table->header_match);
	else if (strcmp(name, "header_rows") == 0)
		options->header_rows = csv_option_count(def, 0, INT_MAX);
	else if (strcmp(name, "footer_rows") == 0)
		dialect->footer_rows = csv_option_count(def, 0, CSV_MAX_FOOTER_ROWS);
	else if (strcmp(name, "by_name") == 0)
		table->by_name = defGetBoolean(def);
	else if (strcmp(name, "delimiter") == 0)
		table->delimiter = csv_option_delimiter(def);
	else if (strcmp(name, "quote") == 0)
	{
		dialect->quote = *defGetString(def) == '\0' ? 0 : csv_option_character(def);
		options->has_quote = true;
	}
	else if (strcmp(name, "escape") == 0)
		dialect->escape = csv_option_character(def);
	else if (strcmp(name, "quoting") == 0)
	{
		dialect->quoting = csv_option_word(def, quoting_words);
		dialect->lenient = dialect->quoting == CSV_QUOTING_LENIENT;
		if (dialect->lenient)
			dialect->quoting = CSV_QUOTING_RFC4180;
	}
	else if (strcmp(name, "multiline") == 0)
		dialect->multiline = defGetBoolean(def);
	else if (strcmp(name, "comment") == 0)
		table->comment = csv_option_comment(def);
	else if (strcmp(name, "trim") == 0)
		dialect->trim = defGetBoolean(def);
	else if (strcmp(name, "null") == 0)
		table->null_string = csv_option_marker(def);
	else if (strcmp(name, "default") == 0)
		table->default_string = csv_option_marker(def);
	else if (strcmp(name, "encoding") == 0)
		csv_parse_encoding(defGetString(def), table);
	else if (strcmp(name, "decimal_separator") == 0)
		table->decimal_separator = csv_option_word(def, decimal_words);
	else if (strcmp(name, "thousands_separator") == 0)
		table->thousands_separator = csv_option_thousands(def);
	else if (strcmp(name, "null_values") == 0)
		table->null_values = csv_option_strings(def);
	else if (strcmp(name, "date_format") == 0)
		table->date_pattern = csv_pattern_parse(name, defGetString(def));
	else if (strcmp(name, "timestamp_format") == 0)
		table->timestamp_pattern = csv_pattern_parse(name, defGetString(def));
	else if (strcmp(name, "columns") == 0)
		options->nfields = csv_option_count(def, 1, CSV_MAX_FIELDS);
	else if (strcmp(name, "record_boundary") == 0)
		dialect->boundary = csv_option_word(def, boundary_words);
	else if (strcmp(name, "ragged") == 0)
		table->pad = csv_option_word(def, ragged_words);
	else if (strcmp(name, "max_record_size") == 0)
		table->reader.max_record_bytes = csv_option_size(def, MAX_RECORD_BYTES);
	else if (strcmp(name, "chunk_size") == 0)
		table->reader.chunk_bytes = csv_option_size(def, MAX_CHUNK_BYTES);
	else if (strcmp(name, "engine") == 0)
	{
		int			engine = csv_option_word(def, engine_words);

		if (csv_settings.engine == CSV_ENGINE_AUTO)
			table->settings.engine = engine;
	}
	else if (strcmp(name, "on_error") == 0)
	{
		int			on_error = csv_option_word(def, on_error_words);

		table->stop = on_error == ON_ERROR_STOP;
		table->set_null = on_error == ON_ERROR_SET_NULL;
	}
	else if (strcmp(name, "reject_limit") == 0)
	{
		parse_reject_limit(def, table);
		options->reject_limit = true;
	}
	else if (strcmp(name, "log_verbosity") == 0)
		table->verbosity = csv_option_word(def, verbosity_words);
	else if (strcmp(name, "notice_limit") == 0)
		table->notice_limit = csv_option_count(def, 0, INT_MAX);
	else
		elog(ERROR, "unexpected option \"%s\"", name);
}

/* what is not given is as the format has it */
static void
set_format_defaults(const TableOptions *options, CsvTable *table)
{
	CsvDialectOptions *dialect = &table->reader.dialect;

	if (table->delimiter == NULL)
		table->delimiter = options->is_text ? "\t" : ",";
	csv_dialect_set_delimiter(dialect, table->delimiter);
	if (table->null_string == NULL)
		table->null_string = options->is_text ? "\\N" : "";
	if (options->is_text)
		dialect->quoting = CSV_QUOTING_TEXT;
	else if (!options->has_quote)
		dialect->quote = '"';
}

/* those of a table go over its server's */
static void
resolve_table_options(TableOptions *options, CsvTable *table,
					  List *server_options, List *table_options)
{
	ListCell   *cell;

	init_table_options(options, table);
	table->options = list_concat_copy(server_options, table_options);
	foreach(cell, table->options)
		parse_table_option(options, (DefElem *) lfirst(cell));
	set_format_defaults(options, table);
	if (options->header_rows >= 0)
		table->reader.header_rows = options->header_rows;
	else
		table->reader.header_rows = options->header ? 1 : 0;
}

/* ERROR where a marker (of NULL, say) would be taken apart by the reader */
static void
check_marker(const CsvTable *table, const char *marker, const char *what)
{
	const CsvDialectOptions *dialect = &table->reader.dialect;

	if (strstr(marker, table->delimiter) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delimiter character must not appear in the %s specification",
						what)));
	if (dialect->quote != 0 && strchr(marker, dialect->quote) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("quote character must not appear in the %s specification",
						what)));
}

/* ERROR where a line that begins so might be a record */
static void
check_comment(const char *comment, const CsvDialectOptions *dialect)
{
	const char	escape = dialect->quoting == CSV_QUOTING_TEXT ? '\\' :
		(char) dialect->escape;

	if (*comment == (char) dialect->delimiter)
		conflict("comment", "delimiter",
				 "A comment must not begin as the delimiter does.");
	if (dialect->trim && csv_is_blank((uint8_t) *comment))
		conflict("comment", "trim", "A comment must not begin with a blank then.");
	if (*comment == (char) dialect->quote)
		conflict("comment", "quote", "A comment must not begin with the quote.");
	if (*comment == escape)
		conflict("comment", "escape", "A comment must not begin with the escape.");
}

/* ERROR where one byte would mean two things */
static void
check_quotes(const CsvTable *table)
{
	const CsvDialectOptions *dialect = &table->reader.dialect;

	if (dialect->delimiter == dialect->quote)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delimiter and quote must be different")));
	if (dialect->quote == 0 && dialect->escape != 0)
		conflict("quote", "escape",
				 "Where quoting is off, there is nothing to escape.");
	if (table->delimiter[1] != '\0')
	{
		if (dialect->quote != 0 && strchr(table->delimiter, dialect->quote) != NULL)
			conflict("delimiter", "quote", "There must be no quote in the delimiter.");
		if (dialect->escape != 0 && strchr(table->delimiter, dialect->escape) != NULL)
			conflict("delimiter", "escape",
					 "There must be no escape in a delimiter of several bytes.");
	}
	if (dialect->trim && csv_is_blank(dialect->quote))
		conflict("trim", "quote", "The quote must be no blank then.");
	if (dialect->trim && csv_is_blank(dialect->escape))
		conflict("trim", "escape", "The escape must be no blank then.");
}

/* ERROR where an option has no meaning for the text format, or a wrong one */
static void
check_text_options(const CsvTable *table)
{
	static const char *const of_csv[] = {"quote", "escape", "quoting", "multiline"};
	const char *delimiter = table->delimiter;
	ListCell   *cell;

	foreach(cell, table->options)
		for (size_t i = 0; i < lengthof(of_csv); i++)
			if (strcmp(((DefElem *) lfirst(cell))->defname, of_csv[i]) == 0)
				conflict("format", of_csv[i],
						 "The format \"text\" has no quotes, and backslashes as escapes.");

	/* as COPY has it: these may be part of an escape */
	if (strchr("\\.abcdefghijklmnopqrstuvwxyz0123456789", *delimiter) != NULL ||
		strchr(delimiter, '\\') != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delimiter cannot be \"%s\" in the format \"text\"", delimiter)));
}

/* ERROR where the options of a table contradict each other */
static void
check_table_options(const TableOptions *options)
{
	const CsvTable *table = options->table;
	const CsvDialectOptions *dialect = &table->reader.dialect;
	ListCell   *cell;

	if (table->filename != NULL && table->program != NULL)
		conflict("filename", "program", "A table reads one or the other.");
	if (table->filename == NULL && table->program == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
				 errmsg("either filename or program is required for csv_gpu_fdw foreign tables")));
	if (options->header && options->header_rows == 0)
		conflict("header", "header_rows", "A header has at least one row.");
	if (table->by_name && table->header_match)
		conflict("by_name", "header",
				 "Names that are to match stand in the order of the columns.");
	if (table->by_name && options->nfields >= 0)
		conflict("by_name", "columns",
				 "Each file has as many fields as its header.");

	/* on a server they are defaults, each for tables that set the other */
	if (options->reject_limit && table->stop)
		conflict("on_error", "reject_limit",
				 "Under on_error \"stop\" the first bad record is an error.");
	if (options->is_text)
		check_text_options(table);
	check_quotes(table);
	check_marker(table, table->null_string, "NULL");
	foreach(cell, table->null_values)
		check_marker(table, lfirst(cell), "NULL");
	if (table->thousands_separator != NULL &&
		*table->thousands_separator == table->decimal_separator)
		conflict("thousands_separator", "decimal_separator",
				 "They must be different.");
	if (table->thousands_separator != NULL && dialect->quote != 0 &&
		*table->thousands_separator == (char) dialect->quote)
		conflict("thousands_separator", "quote", "They must be different.");
	if (table->comment != NULL)
		check_comment(table->comment, dialect);
	if (table->default_string != NULL)
	{
		check_marker(table, table->default_string, "DEFAULT");
		if (strcmp(table->null_string, table->default_string) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("NULL specification and DEFAULT specification cannot be the same")));
	}
}

/* ---- options of columns ---- */

static void
init_column_options(CsvTableColumn *column)
{
	memset(column, 0, sizeof(*column));
	column->virtual_kind = CSV_VIRTUAL_NONE;
	column->field = -1;
	column->max_chars = -1;
	column->byte_width = -1;
}

/* a word, or PATH_PREFIX and a key */
static void
parse_virtual(CsvTableColumn *column, DefElem *def)
{
	char	   *value = defGetString(def);

	if (pg_strncasecmp(value, PATH_PREFIX, strlen(PATH_PREFIX)) != 0)
	{
		column->virtual_kind = csv_option_word(def, virtual_words);
		return;
	}
	column->virtual_kind = CSV_VIRTUAL_PATH;
	column->path_key = value + strlen(PATH_PREFIX);
	if (*column->path_key == '\0' || strpbrk(column->path_key, "/=") != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("virtual \"%s\" has no key of a path", value),
				 errhint("The key of a directory \"year=2024\" is \"year\".")));
}

/* an option that check_option_name() let pass */
static void
parse_column_option(CsvTableColumn *column, DefElem *def)
{
	const char *name = def->defname;

	if (strcmp(name, "column") == 0)
	{
		column->field = csv_option_count(def, 0, CSV_MAX_FIELDS - 1);
		column->field_given = true;
	}
	else if (strcmp(name, "header_name") == 0)
		column->header_name = defGetString(def);
	else if (strcmp(name, "virtual") == 0)
		parse_virtual(column, def);
	else if (strcmp(name, "byte_width") == 0)
		/* the width of an array's entry, which keeps the next one aligned */
		column->byte_width = csv_option_multiple(def, 4, 4, MAX_BYTE_WIDTH);
	else if (strcmp(name, "max_chars") == 0)
		column->max_chars = csv_option_count(def, 1, MAX_CHARS);
	else if (strcmp(name, "force_null") == 0)
		column->force_null = defGetBoolean(def);
	else if (strcmp(name, "force_not_null") == 0)
		column->force_not_null = defGetBoolean(def);
	else if (strcmp(name, "null_values") == 0)
	{
		column->null_values = csv_option_strings(def);
		column->null_values_given = true;
	}
	else if (strcmp(name, "date_format") == 0 || strcmp(name, "timestamp_format") == 0)
	{
		column->pattern = csv_pattern_parse(name, defGetString(def));
		column->pattern_option = name;
	}
	else
		elog(ERROR, "unexpected option \"%s\"", name);
}

/* ERROR where the options of a column contradict each other */
static void
check_column_options(const CsvTableColumn *column, List *options)
{
	if (column->field_given && column->header_name != NULL)
		conflict("column", "header_name",
				 "A field is found by its number or by its name.");

	/* every other option is about a field's text */
	if (column->virtual_kind != CSV_VIRTUAL_NONE)
	{
		ListCell   *cell;

		foreach(cell, options)
		{
			DefElem    *def = (DefElem *) lfirst(cell);

			if (strcmp(def->defname, "virtual") != 0)
				conflict("virtual", def->defname,
						 "A virtual column is not read from the file's text.");
		}
	}
}

/* ---- resolved ---- */

/* what a column has from its table, where it says nothing else */
static void
set_column_forms(const CsvTable *table, CsvTableColumn *column)
{
	if (!column->null_values_given)
		column->null_values = table->null_values;
	if (column->pattern_option == NULL)
		column->pattern = column->type == DATEOID ? table->date_pattern :
			column->type == TIMESTAMPOID || column->type == TIMESTAMPTZOID ?
			table->timestamp_pattern : NULL;

	/* another one is PostgreSQL's, value by value */
	if (table->thousands_separator != NULL && csv_table_is_number(column->type) &&
		!IS_HIGHBIT_SET(*table->thousands_separator))
		column->thousands = (uint8_t) *table->thousands_separator;
}

/*
 * The attributes, with their fields.  Returns how many of them are read from
 * the file; *by_option tells whether an option picks the field of one.
 */
static int
get_columns(CsvTable *table, TupleDesc descriptor, bool *by_option)
{
	int			position = 0;

	*by_option = false;
	table->natts = descriptor->natts;
	table->columns = palloc(sizeof(CsvTableColumn) * Max(table->natts, 1));

	for (int i = 0; i < table->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(descriptor, i);
		CsvTableColumn *column = &table->columns[i];
		ListCell   *cell;

		init_column_options(column);
		column->attnum = i + 1;
		column->name = pstrdup(attribute->attisdropped ? "" :
							   NameStr(attribute->attname));
		column->dropped = attribute->attisdropped;
		column->generated = attribute->attgenerated != '\0';
		column->type = attribute->atttypid;
		column->typmod = attribute->atttypmod;
		column->collation = attribute->attcollation;
		if (column->dropped || column->generated)
			continue;

		column->options = GetForeignColumnOptions(table->relid, column->attnum);
		foreach(cell, column->options)
			parse_column_option(column, (DefElem *) lfirst(cell));
		set_column_forms(table, column);
		if (column->virtual_kind != CSV_VIRTUAL_NONE)
			continue;

		if (table->by_name && column->header_name == NULL &&
			!column->field_given)
			column->header_name = column->name;
		if (column->field_given || column->header_name != NULL)
			*by_option = true;
		else
			column->field = position;
		position++;
		if (column->byte_width < 0 && column->max_chars > 0)
			column->byte_width = 4 * column->max_chars;
	}
	return position;
}

/* a string of the dialect, which may have so many bytes, in the reader's encoding */
static const char *
encode_string(const CsvTable *table, const char *option, char *string, int most)
{
	const char *encoded = pg_is_ascii(string) ? string :
		pg_server_to_any(string, (int) strlen(string), table->encoding);

	if (strlen(encoded) > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" has more than %d bytes in the file's encoding",
						option, most)));
	return encoded;
}

/*
 * ERROR where the delimiter might be found in the middle of two characters, as in the
 * encodings EUC: a file is split before anybody looks at characters.
 */
static void
check_delimiter_in_encoding(const CsvTable *table)
{
	if (!pg_is_ascii(table->delimiter) && table->encoding != PG_UTF8 &&
		pg_encoding_max_length(table->encoding) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("delimiter must be of ASCII characters in files of the encoding \"%s\"",
						pg_encoding_to_char(table->file_encoding))));
}

static void
encode_dialect(CsvTable *table)
{
	CsvDialectOptions *dialect = &table->reader.dialect;

	check_delimiter_in_encoding(table);
	csv_dialect_set_delimiter(dialect, encode_string(table, "delimiter", table->delimiter,
													 CSV_DELIMITER_BYTES));
	if (table->comment != NULL)
	{
		const char *comment = encode_string(table, "comment", table->comment,
											CSV_COMMENT_BYTES);

		dialect->comment_length = (uint8_t) strlen(comment);
		memcpy(dialect->comment, comment, dialect->comment_length);
	}
}

static void
encode_values(List *values, int encoding)
{
	ListCell   *cell;

	foreach(cell, values)
	{
		lfirst(cell) = pg_server_to_any(lfirst(cell), (int) strlen(lfirst(cell)),
										encoding);
		if (strlen(lfirst(cell)) > CSV_MAX_NULL_VALUE_BYTES)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("option \"null_values\" has a value of more than %d bytes in the file's encoding",
							CSV_MAX_NULL_VALUE_BYTES)));
	}
}

/*
 * The encodings of the file, of the bytes that the reader gets, and for the
 * engines; and the markers, in the encoding that the reader gets.
 */
static void
set_encodings(CsvTable *table)
{
	int			server_encoding = GetDatabaseEncoding();

	if (table->file_encoding < 0)
		table->file_encoding = pg_get_client_encoding();

	/*
	 * Text of unknown encoding, in the file or in the database, is converted
	 * by nobody: as in COPY.
	 */
	if (PG_ENCODING_IS_CLIENT_ONLY(table->file_encoding) &&
		server_encoding != PG_SQL_ASCII)
		table->encoding = server_encoding;
	else
		table->encoding = table->file_encoding;

	/* OTHER also where valid UTF-8 is not yet what a datum must hold */
	if (server_encoding == PG_UTF8 &&
		(table->encoding == PG_UTF8 || table->encoding == PG_SQL_ASCII))
		table->engine_encoding = CSV_ENCODING_UTF8;
	else
		table->engine_encoding = CSV_ENCODING_OTHER;

	table->null_string = pg_server_to_any(table->null_string,
										  strlen(table->null_string),
										  table->encoding);
	encode_dialect(table);
	encode_values(table->null_values, table->encoding);
	for (int i = 0; i < table->natts; i++)
		if (table->columns[i].null_values_given)
			encode_values(table->columns[i].null_values, table->encoding);
	if (table->default_string != NULL)
		table->default_string = pg_server_to_any(table->default_string,
												 strlen(table->default_string),
												 table->encoding);
}

CsvTable *
csv_table_get(Oid foreigntableid)
{
	Oid			serverid = GetForeignTable(foreigntableid)->serverid;

	return csv_table_get_as(foreigntableid,
							GetForeignServer(serverid)->options);
}

CsvTable *
csv_table_get_as(Oid foreigntableid, List *server_options)
{
	CsvTable   *table = palloc(sizeof(CsvTable));
	ForeignTable *foreign_table = GetForeignTable(foreigntableid);
	TableOptions options;
	Relation	relation;
	int			nread;
	bool		by_option;

	resolve_table_options(&options, table, server_options,
						  foreign_table->options);
	table->server_options = server_options;

	/* the validator saw to it; it may have been skipped, by a superuser */
	if ((table->filename == NULL) == (table->program == NULL))
		elog(ERROR, "either filename or program is required for csv_gpu_fdw foreign tables");

	relation = table_open(foreigntableid, AccessShareLock);
	table->relid = foreigntableid;
	table->name = pstrdup(RelationGetRelationName(relation));
	nread = get_columns(table, RelationGetDescr(relation), &by_option);
	table_close(relation, AccessShareLock);

	if (options.nfields >= 0)
		table->nfields = options.nfields;
	else if (by_option)
		table->nfields_from_header = table->reader.header_rows > 0;
	else
		table->nfields = nread;
	table->reader.dialect.blank_is_record = table->nfields == 1;
	set_encodings(table);
	return table;
}

CsvTable *
csv_table_make(List *server_options, List *table_options)
{
	CsvTable   *table = palloc(sizeof(CsvTable));
	TableOptions options;

	resolve_table_options(&options, table, server_options, table_options);
	check_table_options(&options);
	table->name = table->filename;
	set_encodings(table);
	csv_table_check_encoding(table);
	return table;
}

void
csv_table_set_fields(CsvTable *table, uint32 nfields)
{
	table->nfields = nfields;
	table->natts = (int) nfields;
	table->columns = palloc_extended(sizeof(CsvTableColumn) * nfields,
									 MCXT_ALLOC_HUGE);
	table->reader.dialect.blank_is_record = nfields == 1;
	for (uint32 i = 0; i < nfields; i++)
	{
		CsvTableColumn *column = &table->columns[i];

		init_column_options(column);
		column->attnum = (AttrNumber) (i + 1);
		column->name = psprintf("column_%u", i + 1);
		column->field = (int32) i;
		column->type = TEXTOID;
		column->typmod = -1;
		set_column_forms(table, column);
	}
}

/* ---- of IMPORT FOREIGN SCHEMA ---- */

void
csv_import_options(List *options, CsvImportOptions *import)
{
	ListCell   *cell;

	*import = (CsvImportOptions) {.sample_records = -1};
	foreach(cell, options)
	{
		DefElem    *def = (DefElem *) lfirst(cell);

		check_option_name(def->defname, NamespaceRelationId);
		if (strcmp(def->defname, "directory") == 0)
			import->directory = defGetString(def);
		else if (strcmp(def->defname, "sample_records") == 0)
			import->sample_records = csv_option_count(def, 1, PG_INT64_MAX);
		else if (strcmp(def->defname, "all_text") == 0)
			import->all_text = defGetBoolean(def);
		else if (strcmp(def->defname, "limits") == 0)
			import->limits = defGetBoolean(def);
		else if (strcmp(def->defname, "pattern") == 0)
			import->pattern = csv_option_pattern(def);
		else if (strcmp(def->defname, "table") == 0)
			import->table = csv_option_identifier(def);
		else if (strcmp(def->defname, "suffixes") == 0)
			import->suffixes = defGetString(def);
		else
			import->table_options = lappend(import->table_options, def);
	}
	if ((import->pattern == NULL) != (import->table == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_OPTION_NAME_NOT_FOUND),
				 errmsg("option \"%s\" requires option \"%s\"",
						import->pattern != NULL ? "pattern" : "table",
						import->pattern != NULL ? "table" : "pattern")));
	if (import->pattern != NULL && import->suffixes != NULL)
		conflict("pattern", "suffixes", "The pattern alone says which files there are.");
}

/* ---- columns ---- */

bool
csv_is_of_file(const CsvTableColumn *column)
{
	return column->virtual_kind == CSV_VIRTUAL_FILENAME ||
		column->virtual_kind == CSV_VIRTUAL_PATH;
}

Bitmapset *
csv_table_attributes(const CsvTable *table)
{
	Bitmapset  *attributes = NULL;

	for (int i = 0; i < table->natts; i++)
		if (!table->columns[i].dropped)
			attributes = bms_add_member(attributes, table->columns[i].attnum);
	return attributes;
}

/* ---- at DDL ---- */

PG_FUNCTION_INFO_V1(csv_gpu_fdw_validator);

/*
 * csv_gpu_fdw_validator(options text[], catalog oid): ERROR where the options
 * of one server, table or column (or of another object, which can have none)
 * are wrong by themselves.  ALTER calls it with the options as they will be.
 */
Datum
csv_gpu_fdw_validator(PG_FUNCTION_ARGS)
{
	List	   *options = untransformRelOptions(PG_GETARG_DATUM(0));
	Oid			catalog = PG_GETARG_OID(1);
	CsvTable	table;
	TableOptions table_options;
	CsvTableColumn column;
	ListCell   *cell;

	init_table_options(&table_options, &table);
	init_column_options(&column);

	foreach(cell, options)
	{
		DefElem    *def = (DefElem *) lfirst(cell);

		check_option_name(def->defname, catalog);
		if (catalog == AttributeRelationId)
		{
			parse_column_option(&column, def);
			continue;
		}

		/*
		 * As in file_fdw: no other place could enforce this more cleanly, and
		 * no other level may name what is read.
		 */
		if (strcmp(def->defname, "filename") == 0)
			check_may_set(def, ROLE_PG_READ_SERVER_FILES,
						  "pg_read_server_files");
		else if (strcmp(def->defname, "program") == 0)
			check_may_set(def, ROLE_PG_EXECUTE_SERVER_PROGRAM,
						  "pg_execute_server_program");
		parse_table_option(&table_options, def);
	}

	if (catalog == AttributeRelationId)
		check_column_options(&column, options);
	else if (catalog == ForeignTableRelationId)
	{
		table.options = options;
		set_format_defaults(&table_options, &table);
		check_table_options(&table_options);
	}

	PG_RETURN_VOID();
}
