/*
 * option_list.c
 *		All options, each described once.
 *
 * A row of valid_options says where an option may stand, how its value is read and
 * checked by itself, and into which member it goes.  How options go together is looked
 * at in option.c.
 */
#include "postgres.h"

#include <limits.h>

#include "catalog/pg_attribute.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_namespace.h"
#include "commands/defrem.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/varlena.h"

#include "compat.h"
#include "reader/footer.h"
#include "table/encoding.h"
#include "table/option_list.h"
#include "table/option_value.h"
#include "table/text.h"

/*
 * A value of a record becomes a varlena, with its header and a few bytes behind it.
 * palloc() returns at most MaxAllocSize bytes.
 */
#define MAX_RECORD_BYTES	((int64) MaxAllocSize - 64)

/* engines count their input bytes in 31 bits, and a chunk may grow */
#define MAX_CHUNK_BYTES		((int64) 1024 * 1024 * 1024)

/* widths of an array's entries, which keep the next one aligned */
#define BYTE_WIDTH_STEP		4

/* no value is longer than its record */
#define MAX_BYTE_WIDTH		(MAX_RECORD_BYTES / BYTE_WIDTH_STEP * BYTE_WIDTH_STEP)

/* so that the byte_width that follows from it, 4 bytes each, is in bounds */
#define MAX_CHARS			(MAX_BYTE_WIDTH / 4)

/* as for the storage parameter of a plain table */
#define MOST_PARALLEL_WORKERS	1024

/* for each file, all shares are compared */
#define MOST_SHARES		10000

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

const CsvWord csv_compression_words[] = {
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

static const CsvWord order_words[] = {
	{"DMY", DATEORDER_DMY},
	{"MDY", DATEORDER_MDY},
	{"YMD", DATEORDER_YMD},
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
	{"share", CSV_VIRTUAL_SHARE},
	{NULL, 0}
};

/* ---- values that have a function of their own ---- */

/*
 * A count of records, or a percentage of them: digits, perhaps with a point,
 * and a percent sign.
 */
static void
parse_reject_limit(void *target, DefElem *def)
{
	CsvTable   *table = &((CsvTableOptions *) target)->table;
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

	csv_refuse_value(def->defname, value,
					 "The value must be a count above 0, or a percentage such as \"5%\", above 0 and up to 100.",
					 NULL);
}

static void
parse_header(void *target, DefElem *def)
{
	CsvTableOptions *options = target;
	char	   *value = defGetString(def);
	const bool	match = pg_strcasecmp(value, "match") == 0;

	options->table.header_match = match;
	options->header = match || pg_strcasecmp(value, "true") == 0 ||
		pg_strcasecmp(value, "on") == 0;
	if (!options->header && pg_strcasecmp(value, "false") != 0 &&
		pg_strcasecmp(value, "off") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("%s requires a Boolean value or \"match\"",
						def->defname)));
}

static void
parse_format(void *target, DefElem *def)
{
	char	   *value = defGetString(def);
	bool		is_text = pg_strcasecmp(value, "text") == 0;

	if (!is_text && pg_strcasecmp(value, "csv") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("format \"%s\" not supported", value),
				 errhint("csv_gpu_fdw reads the formats \"csv\", with any delimiter, and \"text\", which COPY writes; for others, use file_fdw.")));
	((CsvTableOptions *) target)->is_text = is_text;
}

static void
parse_quote(void *target, DefElem *def)
{
	((CsvTableOptions *) target)->table.reader.dialect.quote =
		*defGetString(def) == '\0' ? 0 : csv_option_character(def);
}

static void
parse_quoting(void *target, DefElem *def)
{
	CsvDialectOptions *dialect = &((CsvTableOptions *) target)->table.reader.dialect;

	dialect->quoting = csv_option_word(def, quoting_words);
	dialect->lenient = dialect->quoting == CSV_QUOTING_LENIENT;
	if (dialect->lenient)
		dialect->quoting = CSV_QUOTING_RFC4180;
}

static void
parse_encoding(void *target, DefElem *def)
{
	csv_parse_encoding(defGetString(def), &((CsvTableOptions *) target)->table);
}

static void
parse_timezone(void *target, DefElem *def)
{
	const char *name = defGetString(def);
	pg_tz	   *timezone = pg_tzset(name);

	/* PostgreSQL takes an offset as POSIX does, so +2 would be west of Greenwich */
	if (timezone == NULL || !pg_tz_acceptable(timezone) || strspn(name, "+-0123456789") > 0)
		csv_refuse_value(def->defname, defGetString(def), NULL,
						 "The view pg_timezone_names has the names of time zones.");
	((CsvTableOptions *) target)->table.timezone = timezone;
}

/* the setting goes over the option */
static void
parse_engine(void *target, DefElem *def)
{
	int			engine = csv_option_word(def, engine_words);

	if (csv_settings.engine == CSV_ENGINE_AUTO)
		((CsvTableOptions *) target)->table.settings.engine = engine;
}

static void
parse_on_error(void *target, DefElem *def)
{
	CsvTable   *table = &((CsvTableOptions *) target)->table;
	int			on_error = csv_option_word(def, on_error_words);

	table->stop = on_error == ON_ERROR_STOP;
	table->set_null = on_error == ON_ERROR_SET_NULL;
}

/* a word, or PATH_PREFIX and a key */
static void
parse_virtual(void *target, DefElem *def)
{
	CsvTableColumn *column = target;
	char	   *value = defGetString(def);

	if (pg_strncasecmp(value, PATH_PREFIX, strlen(PATH_PREFIX)) != 0)
	{
		column->virtual_kind = csv_option_word(def, virtual_words);
		return;
	}
	column->virtual_kind = CSV_VIRTUAL_PATH;
	column->path_key = value + strlen(PATH_PREFIX);
	if (!csv_is_path_key(column->path_key))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("virtual \"%s\" has no key of a path", value),
				 errhint("The key of a directory \"year=2024\" is \"year\".")));
}

static void
parse_column_pattern(void *target, DefElem *def)
{
	CsvTableColumn *column = target;

	column->pattern = csv_pattern_parse(def->defname, defGetString(def));
	column->pattern_option = def->defname;
}

/* ---- all options ---- */

#define MEMBER(type, member) \
	.offset = offsetof(type, member), .nbytes = sizeof(((type *) NULL)->member)
#define POINTER(type, member)	.offset = offsetof(type, member)
#define GIVEN(type, member)	.given = offsetof(type, member)
#define TABLE(member)	MEMBER(CsvTableOptions, table.member)
#define DIALECT(member)	MEMBER(CsvTableOptions, table.reader.dialect.member)
#define COLUMN(member)	MEMBER(CsvTableColumn, member)
#define IMPORT(member)	MEMBER(CsvImportOptions, member)

static const CsvOption valid_options[] = {
	{"filename", CSV_OF_TABLE | CSV_OF_ONE_TABLE | CSV_SAME_BATCHES,
	CSV_OPTION_STRING, TABLE(filename)},
	{"program", CSV_OF_TABLE | CSV_OF_ONE_TABLE, CSV_OPTION_STRING, TABLE(program)},
	{"writable", CSV_OF_TABLE | CSV_OF_ONE_TABLE | CSV_SAME_BATCHES, CSV_OPTION_BOOL,
	TABLE(writable)},
	{"compression", CSV_OF_TABLE, CSV_OPTION_WORD, TABLE(compression),
	.words = csv_compression_words},
	{"format", CSV_OF_TABLE, .parse = parse_format},
	{"header", CSV_OF_TABLE, .parse = parse_header},
	{"header_rows", CSV_OF_TABLE, CSV_OPTION_COUNT, MEMBER(CsvTableOptions,
	header_rows), .most = INT_MAX},
	{"footer_rows", CSV_OF_TABLE, CSV_OPTION_COUNT, DIALECT(footer_rows),
	.most = CSV_MAX_FOOTER_ROWS},
	{"growing", CSV_OF_TABLE, CSV_OPTION_BOOL, DIALECT(growing)},
	{"growing_rest", CSV_OF_TABLE, CSV_OPTION_COUNT, TABLE(growing_rest), .most = INT_MAX},
	{"by_name", CSV_OF_TABLE, CSV_OPTION_BOOL, TABLE(by_name)},
	{"delimiter", CSV_OF_TABLE, CSV_OPTION_CHECKED, TABLE(delimiter),
	.check = csv_option_delimiter},
	{"quote", CSV_OF_TABLE | CSV_OF_CSV, .parse = parse_quote, GIVEN(CsvTableOptions,
	has_quote)},
	{"escape", CSV_OF_TABLE | CSV_OF_CSV, CSV_OPTION_CHARACTER, DIALECT(escape)},
	{"quoting", CSV_OF_TABLE | CSV_OF_CSV, .parse = parse_quoting},
	{"multiline", CSV_OF_TABLE | CSV_OF_CSV, CSV_OPTION_BOOL, DIALECT(multiline)},
	{"comment", CSV_OF_TABLE, CSV_OPTION_CHECKED, TABLE(comment),
	.check = csv_option_comment},
	{"trim", CSV_OF_TABLE, CSV_OPTION_BOOL, DIALECT(trim)},
	{"null", CSV_OF_TABLE, CSV_OPTION_CHECKED, TABLE(null_string),
	.check = csv_option_marker},
	{"encoding", CSV_OF_TABLE, .parse = parse_encoding},
#if CSV_HAVE_DEFAULT_OPTION
	{"default", CSV_OF_TABLE | CSV_OF_ONE_TABLE, CSV_OPTION_CHECKED,
	TABLE(default_string), .check = csv_option_marker},
#endif
	{"decimal_separator", CSV_OF_TABLE, CSV_OPTION_WORD, TABLE(decimal_separator),
	.words = decimal_words},
	{"thousands_separator", CSV_OF_TABLE, CSV_OPTION_CHECKED,
	TABLE(thousands_separator), .check = csv_option_thousands},
	{"null_values", CSV_OF_TABLE, CSV_OPTION_STRINGS,
	POINTER(CsvTableOptions, table.null_values)},
	{"date_format", CSV_OF_TABLE, CSV_OPTION_PATTERN,
	POINTER(CsvTableOptions, table.date_pattern)},
	{"timestamp_format", CSV_OF_TABLE, CSV_OPTION_PATTERN,
	POINTER(CsvTableOptions, table.timestamp_pattern)},
	{"date_order", CSV_OF_TABLE, CSV_OPTION_WORD, TABLE(date_order),
	.words = order_words},
	{"timezone", CSV_OF_TABLE, .parse = parse_timezone},
	{"columns", CSV_OF_TABLE | CSV_OF_ONE_TABLE, CSV_OPTION_COUNT,
	MEMBER(CsvTableOptions, nfields), .least = 1, .most = CSV_MAX_FIELDS},
	{"record_boundary", CSV_OF_TABLE, CSV_OPTION_WORD, DIALECT(boundary),
	.words = boundary_words},
	{"ragged", CSV_OF_TABLE, CSV_OPTION_WORD, TABLE(pad), .words = ragged_words},
	{"max_record_size", CSV_OF_TABLE, CSV_OPTION_SIZE, TABLE(reader.max_record_bytes),
	.most = MAX_RECORD_BYTES},

	{"engine", CSV_OF_TABLE | CSV_OF_SERVER, .parse = parse_engine},
	{"on_error", CSV_OF_TABLE | CSV_OF_SERVER, .parse = parse_on_error},
	{"reject_limit", CSV_OF_TABLE | CSV_OF_SERVER | CSV_SAME_BATCHES,
	.parse = parse_reject_limit,
	GIVEN(CsvTableOptions, reject_limit)},
	{"log_verbosity", CSV_OF_TABLE | CSV_OF_SERVER | CSV_SAME_BATCHES,
	CSV_OPTION_WORD, TABLE(verbosity), .words = verbosity_words},
	{"notice_limit", CSV_OF_TABLE | CSV_OF_SERVER | CSV_SAME_BATCHES,
	CSV_OPTION_COUNT, TABLE(notice_limit), .most = INT_MAX},
	{"chunk_size", CSV_OF_TABLE | CSV_OF_SERVER, CSV_OPTION_SIZE,
	TABLE(reader.chunk_bytes), .most = MAX_CHUNK_BYTES},
	{"parallel_workers", CSV_OF_TABLE | CSV_SAME_BATCHES, CSV_OPTION_COUNT,
	TABLE(parallel_workers), .most = MOST_PARALLEL_WORKERS},
	{"share", CSV_OF_TABLE | CSV_OF_SERVER | CSV_SAME_BATCHES,
	CSV_OPTION_COUNT, TABLE(share), .most = INT_MAX - 1},
	{"shares", CSV_OF_TABLE | CSV_OF_SERVER | CSV_SAME_BATCHES,
	CSV_OPTION_COUNT, TABLE(shares), .least = 1, .most = MOST_SHARES},

	{"directory", CSV_OF_IMPORT, CSV_OPTION_STRING, IMPORT(directory)},
	{"sample_records", CSV_OF_IMPORT, CSV_OPTION_COUNT, IMPORT(sample_records),
	.least = 1, .most = PG_INT64_MAX},
	{"all_text", CSV_OF_IMPORT, CSV_OPTION_BOOL, IMPORT(all_text)},
	{"limits", CSV_OF_IMPORT, CSV_OPTION_BOOL, IMPORT(limits)},
	{"pattern", CSV_OF_IMPORT, CSV_OPTION_CHECKED, IMPORT(pattern),
	.check = csv_option_pattern},
	{"table", CSV_OF_IMPORT, CSV_OPTION_CHECKED, IMPORT(table),
	.check = csv_option_identifier},
	{"suffixes", CSV_OF_IMPORT, CSV_OPTION_STRING, IMPORT(suffixes)},

	{"column", CSV_OF_COLUMN, CSV_OPTION_COUNT, COLUMN(field),
	.most = CSV_MAX_FIELDS - 1,
	GIVEN(CsvTableColumn, field_given)},
	{"header_name", CSV_OF_COLUMN, CSV_OPTION_STRING, COLUMN(header_name)},
	{"virtual", CSV_OF_COLUMN, .parse = parse_virtual},
	{"byte_width", CSV_OF_COLUMN, CSV_OPTION_COUNT, COLUMN(byte_width),
	.step = BYTE_WIDTH_STEP, .least = BYTE_WIDTH_STEP, .most = MAX_BYTE_WIDTH},
	{"max_chars", CSV_OF_COLUMN, CSV_OPTION_COUNT, COLUMN(max_chars), .least = 1,
	.most = MAX_CHARS},
	{"force_null", CSV_OF_COLUMN, CSV_OPTION_BOOL, COLUMN(force_null)},
	{"force_not_null", CSV_OF_COLUMN, CSV_OPTION_BOOL, COLUMN(force_not_null)},
	{"null_values", CSV_OF_COLUMN, CSV_OPTION_STRINGS, POINTER(CsvTableColumn, null_values),
	GIVEN(CsvTableColumn, null_values_given)},
	{"date_format", CSV_OF_COLUMN, .parse = parse_column_pattern},
	{"timestamp_format", CSV_OF_COLUMN, .parse = parse_column_pattern}
};

const char *
csv_boundary_name(CsvBoundary boundary)
{
	const CsvWord *word = boundary_words;

	while (word->value != (int) boundary)
		word++;
	return word->name;
}

/* an integer of any of these sizes */
static void
store(void *member, size_t nbytes, int64 value)
{
	if (nbytes == sizeof(uint8))
		*(uint8 *) member = (uint8) value;
	else if (nbytes == sizeof(int32))
		*(int32 *) member = (int32) value;
	else
		*(int64 *) member = value;
}

void
csv_option_parse(const CsvOption *option, void *target, DefElem *def)
{
	char	   *member = (char *) target + option->offset;

	if (option->given > 0)
		*((bool *) target + option->given) = true;
	switch (option->form)
	{
		case CSV_OPTION_OWN:
			option->parse(target, def);
			break;
		case CSV_OPTION_STRING:
			*(char **) member = defGetString(def);
			break;
		case CSV_OPTION_CHECKED:
			*(char **) member = option->check(def);
			break;
		case CSV_OPTION_BOOL:
			*(bool *) member = defGetBoolean(def);
			break;
		case CSV_OPTION_WORD:
			store(member, option->nbytes, csv_option_word(def, option->words));
			break;
		case CSV_OPTION_CHARACTER:
			*(uint8 *) member = csv_option_character(def);
			break;
		case CSV_OPTION_STRINGS:
			*(List **) member = csv_option_strings(def);
			break;
		case CSV_OPTION_PATTERN:
			*(const CsvPattern **) member = csv_pattern_parse(def->defname, defGetString(def));
			break;
		case CSV_OPTION_COUNT:
			store(member, option->nbytes,
				  csv_option_count(def, Max(option->step, 1), option->least,
								   option->most));
			break;
		case CSV_OPTION_SIZE:
			store(member, option->nbytes, csv_option_size(def, option->most));
			break;
	}
}

/* ---- names ---- */

/* may the option stand on an object of this catalog?  Schemas mean IMPORT FOREIGN SCHEMA. */
static bool
may_stand_on(const CsvOption *option, Oid catalog)
{
	switch (catalog)
	{
		case ForeignTableRelationId:
			return (option->traits & CSV_OF_TABLE) != 0;
		case ForeignServerRelationId:
			return (option->traits & CSV_OF_SERVER) != 0;
		case AttributeRelationId:
			return (option->traits & CSV_OF_COLUMN) != 0;
		case NamespaceRelationId:
			return (option->traits & CSV_OF_IMPORT) != 0 ||
				(option->traits & (CSV_OF_TABLE | CSV_OF_ONE_TABLE)) == CSV_OF_TABLE;
		default:
			return false;
	}
}

/* NULL: it cannot stand there */
static const CsvOption *
look_up(const char *name, Oid catalog)
{
	for (size_t i = 0; i < lengthof(valid_options); i++)
		if (may_stand_on(&valid_options[i], catalog) &&
			strcmp(valid_options[i].name, name) == 0)
			return &valid_options[i];
	return NULL;
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
		if (look_up(names[i][1], catalog) != NULL)
			return names[i][1];
	}
	return NULL;
}

/* ERROR if it cannot stand there */
const CsvOption *
csv_option_get(const char *name, Oid catalog)
{
	const CsvOption *option = look_up(name, catalog);
	ClosestMatchState match_state;
	const char *match;
	StringInfoData valid_names;

	if (option != NULL)
		return option;
	initStringInfo(&valid_names);
	initClosestMatch(&match_state, name, 4);
	for (size_t i = 0; i < lengthof(valid_options); i++)
	{
		if (!may_stand_on(&valid_options[i], catalog))
			continue;
		updateClosestMatch(&match_state, valid_options[i].name);
		appendStringInfo(&valid_names, "%s%s",
						 valid_names.len > 0 ? ", " : "", valid_options[i].name);
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
	return NULL;
}

bool
csv_option_changes_batches(const char *name, bool of_column)
{
	const CsvOption *option =
		look_up(name, of_column ? AttributeRelationId : ForeignTableRelationId);

	return option == NULL || (option->traits & CSV_SAME_BATCHES) == 0;
}
