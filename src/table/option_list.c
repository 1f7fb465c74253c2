/*
 * option_list.c
 *		All options, each described once.
 *
 * A row of valid_options says where an option may stand, how its value is read and
 * checked by itself, and into which member it goes.  How options go together is looked
 * at in option.c.
 */
#include "postgres.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>

#include "catalog/pg_attribute.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "parser/scansup.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/varlena.h"

#include "compat.h"
#include "reader/footer.h"
#include "table/allowed.h"
#include "table/encoding.h"
#include "table/option_list.h"
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

/* the values of an array are searched one after the other */
#define MAX_VALUES		100

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

/* ---- values ---- */

void
csv_refuse_value(const char *option, const char *value, const char *detail,
				 const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for option \"%s\": \"%s\"", option, value),
			 detail != NULL ? errdetail_internal("%s", detail) : 0,
			 hint != NULL ? errhint("%s", hint) : 0));
}

/* One of the words, in any case.  The error message follows COPY's for ON_ERROR. */
int
csv_option_word(DefElem *def, const CsvWord *words)
{
	char	   *value = defGetString(def);
	const CsvWord *word;
	StringInfoData valid_words;

	for (word = words; word->name != NULL; word++)
	{
		if (pg_strcasecmp(word->name, value) == 0)
			return word->value;
	}

	initStringInfo(&valid_words);
	for (word = words; word->name != NULL; word++)
		appendStringInfo(&valid_words, "%s\"%s\"",
						 valid_words.len > 0 ? ", " : "", word->name);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s \"%s\" not recognized", def->defname, value),
			 errhint("Valid values are: %s.", valid_words.data)));
	return 0;
}

/*
 * A number without sign, fraction or unit.  parse_int() is too lenient for counts: it
 * rounds, and reads 010 as eight.
 */
static bool
digits_value(const char *value, int64 *result)
{
	int64		number = 0;

	if (*value == '\0')
		return false;
	for (; *value != '\0'; value++)
	{
		if (!isdigit((unsigned char) *value))
			return false;
		if (number > (PG_INT64_MAX - (*value - '0')) / 10)
			return false;
		number = number * 10 + (*value - '0');
	}
	*result = number;
	return true;
}

static int64
count_value(DefElem *def, int step, int64 min, int64 max)
{
	char	   *value = defGetString(def);
	int64		result;

	if (!digits_value(value, &result) || result < min || result > max ||
		result % step != 0)
		csv_refuse_value(def->defname, value,
						 psprintf("The value must be %s between %lld and %lld.",
								  step == 1 ? "an integer" :
								  psprintf("a multiple of %d", step),
								  (long long) min, (long long) max), NULL);
	return result;
}

/* a number of bytes, with units as in postgresql.conf */
int64
csv_option_size(DefElem *def, int64 max)
{
	char	   *value = defGetString(def);
	const char *hint = NULL;
	double		result = 0;
	/* parse_int() would report its own limit as the cause */
	bool		is_size = parse_real(value, &result, GUC_UNIT_BYTE, &hint);

	if (!is_size && hint == NULL)
		hint = "Write a number of bytes, or a number with a unit, such as \"64MB\".";
	if (!is_size || (result = rint(result)) < 1 || result > (double) max)
		csv_refuse_value(def->defname, value,
						 psprintf("The value must be between 1 and %lld bytes.",
								  (long long) max), hint == NULL ? NULL : _(hint));
	return (int64) result;
}

/* ERROR if a value has a line break */
static void
refuse_breaks(DefElem *def, const char *value)
{
	if (strpbrk(value, "\r\n") != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s cannot be newline or carriage return",
						def->defname)));
}

/*
 * One ASCII character, except a line break.  A file is split into fields without
 * regard to its encoding, so the character must be ASCII.
 */
static uint8_t
character_value(DefElem *def)
{
	char	   *value = defGetString(def);

	if (strlen(value) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s must be a single one-byte character",
						def->defname)));
	if (IS_HIGHBIT_SET(value[0]))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s must be an ASCII character", def->defname)));
	refuse_breaks(def, value);
	return (uint8_t) value[0];
}

/* a string of 1 to `most` bytes without line breaks */
static char *
short_string(DefElem *def, int most)
{
	char	   *value = defGetString(def);

	if (*value == '\0' || strlen(value) > most || strpbrk(value, "\r\n") != NULL)
		csv_refuse_value(def->defname, value,
						 psprintf("The value must have 1 to %d bytes, and no line breaks.",
								  most), NULL);
	return value;
}

static char *
delimiter_value(DefElem *def)
{
	char	   *value = defGetString(def);

	refuse_breaks(def, value);
	if (strcmp(value, "\\t") == 0)
		csv_refuse_value(def->defname, value, NULL, "Write a tab as E'\\t'.");
	return short_string(def, CSV_DELIMITER_BYTES);
}

static char *
comment_value(DefElem *def)
{
	return *defGetString(def) == '\0' ? NULL : short_string(def, CSV_COMMENT_BYTES);
}

/* a string that means NULL or the column's default */
static char *
marker_value(DefElem *def)
{
	char	   *value = defGetString(def);

	if (strpbrk(value, "\r\n") != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s representation cannot use newline or carriage return",
						def->defname)));
	return value;
}

/*
 * The strings of a text[] literal.  example: of a literal; is_right: is a
 * value right; detail: what right values are
 */
static List *
array_value(DefElem *def, const char *example,
			bool (*is_right) (const char *value),
			const char *detail)
{
	char	   *literal = defGetString(def);
	Datum		array;
	List	   *values = NIL;
	Datum	   *elements;
	bool	   *isnull;
	int			nelements;

	/* array_in() would not name the option */
	if (literal[strspn(literal, " ")] != '{')
		csv_refuse_value(def->defname, literal, "The value must be an array.",
						 psprintf("Write braces around it, such as %s.",
								  example));
	array = OidInputFunctionCall(F_ARRAY_IN, literal, TEXTOID, -1);
	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT,
					  &elements, &isnull, &nelements);
	if (nelements > MAX_VALUES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" has more than %d values",
						def->defname, MAX_VALUES)));
	for (int i = 0; i < nelements; i++)
	{
		char	   *value = isnull[i] ? "" : TextDatumGetCString(elements[i]);

		if (isnull[i] || !is_right(value))
			csv_refuse_value(def->defname, literal, detail,
							 isnull[i] ? "Write the word itself in quotes: {\"NULL\"}." : NULL);
		values = lappend(values, value);
	}
	return values;
}

static bool
is_null_value(const char *value)
{
	return strpbrk(value, "\r\n") == NULL &&
		strlen(value) <= CSV_MAX_NULL_VALUE_BYTES;
}

static List *
null_values_value(DefElem *def)
{
	return array_value(def, "{NA,n/a}", is_null_value,
					   psprintf("Its values must not be NULL, have line breaks, or be longer than %d bytes.",
								CSV_MAX_NULL_VALUE_BYTES));
}

List *
csv_option_prefixes(DefElem *def)
{
	List	   *prefixes =
		array_value(def, "{/data/in,s3://bucket/in}", csv_is_prefix,
					"Its values must be absolute paths, or URLs that begin with https://, http:// or s3://, without \"..\", wildcards, user and query.");
	ListCell   *cell;

	foreach(cell, prefixes)
		lfirst(cell) = makeString(lfirst(cell));
	return prefixes;
}

/* one character, of any number of bytes, that cannot be part of a number itself */
static char *
thousands_value(DefElem *def)
{
	char	   *value = defGetString(def);

	if (*value == '\0' || pg_mblen(value) != (int) strlen(value) ||
		(!IS_HIGHBIT_SET(*value) && isalnum((unsigned char) *value)) ||
		strchr("+-\r\n", *value) != NULL)
		csv_refuse_value(def->defname, value,
						 "The value must be one character that is no letter, digit, sign or line break.",
						 NULL);
	return value;
}

static const CsvPattern *
pattern_value(DefElem *def)
{
	const char *wrong;
	const char *hint;
	const CsvPattern *pattern =
		csv_pattern_parse(defGetString(def), &wrong, &hint);

	if (wrong != NULL)
		csv_refuse_value(def->defname, pattern->text, wrong, hint);
	return pattern;
}

static char *
files_value(DefElem *def)
{
	char	   *value = defGetString(def);

	if (*value == '\0' || *value == '/')
		csv_refuse_value(def->defname, value,
						 "The value must be a pattern of files in the directory, such as \"*.csv\".",
						 NULL);
	return value;
}

static char *
identifier_value(DefElem *def)
{
	char	   *value = pstrdup(defGetString(def));

	if (*value == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" must not be empty", def->defname)));
	truncate_identifier(value, (int) strlen(value), true);
	return value;
}

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
	else if (digits_value(value, &table->reject_count) &&
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
		*defGetString(def) == '\0' ? 0 : character_value(def);
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

/* csv_rights_get() reads it */
static void
parse_allowed(void *target, DefElem *def)
{
	(void) csv_option_prefixes(def);
}

static void
parse_column_pattern(void *target, DefElem *def)
{
	CsvTableColumn *column = target;

	column->pattern = pattern_value(def);
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
	{"delimiter", CSV_OF_TABLE, CSV_OPTION_STRING, TABLE(delimiter),
	.check = delimiter_value},
	{"quote", CSV_OF_TABLE | CSV_OF_CSV, .parse = parse_quote},
	{"escape", CSV_OF_TABLE | CSV_OF_CSV, CSV_OPTION_CHARACTER, DIALECT(escape)},
	{"quoting", CSV_OF_TABLE | CSV_OF_CSV, .parse = parse_quoting},
	{"multiline", CSV_OF_TABLE | CSV_OF_CSV, CSV_OPTION_BOOL, DIALECT(multiline)},
	{"comment", CSV_OF_TABLE, CSV_OPTION_STRING, TABLE(comment),
	.check = comment_value},
	{"trim", CSV_OF_TABLE, CSV_OPTION_BOOL, DIALECT(trim)},
	{"null", CSV_OF_TABLE, CSV_OPTION_STRING, TABLE(null_string),
	.check = marker_value},
	{"encoding", CSV_OF_TABLE, .parse = parse_encoding},
#if CSV_HAVE_DEFAULT_OPTION
	{"default", CSV_OF_TABLE | CSV_OF_ONE_TABLE, CSV_OPTION_STRING,
	TABLE(default_string), .check = marker_value},
#endif
	{"decimal_separator", CSV_OF_TABLE, CSV_OPTION_WORD, TABLE(decimal_separator),
	.words = decimal_words},
	{"thousands_separator", CSV_OF_TABLE, CSV_OPTION_STRING,
	TABLE(thousands_separator), .check = thousands_value},
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
	.parse = parse_reject_limit},
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

	{"allowed", CSV_OF_SERVER | CSV_SAME_BATCHES, .parse = parse_allowed},
	{"allowed_write", CSV_OF_SERVER | CSV_SAME_BATCHES, .parse = parse_allowed},

	{"directory", CSV_OF_IMPORT, CSV_OPTION_STRING, IMPORT(directory)},
	{"sample_records", CSV_OF_IMPORT, CSV_OPTION_COUNT, IMPORT(sample_records),
	.least = 1, .most = PG_INT64_MAX},
	{"all_text", CSV_OF_IMPORT, CSV_OPTION_BOOL, IMPORT(all_text)},
	{"limits", CSV_OF_IMPORT, CSV_OPTION_BOOL, IMPORT(limits)},
	{"pattern", CSV_OF_IMPORT, CSV_OPTION_STRING, IMPORT(pattern),
	.check = files_value},
	{"table", CSV_OF_IMPORT, CSV_OPTION_STRING, IMPORT(table),
	.check = identifier_value},
	{"suffixes", CSV_OF_IMPORT, CSV_OPTION_STRING, IMPORT(suffixes)},
	{"program", CSV_OF_IMPORT, CSV_OPTION_STRING, IMPORT(program)},
	{"types", CSV_OF_IMPORT, CSV_OPTION_STRING, IMPORT(types)},
	{"virtual", CSV_OF_IMPORT, CSV_OPTION_STRING, IMPORT(virtuals)},

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
			*(char **) member = option->check != NULL ? option->check(def) :
				defGetString(def);
			break;
		case CSV_OPTION_BOOL:
			*(bool *) member = defGetBoolean(def);
			break;
		case CSV_OPTION_WORD:
			store(member, option->nbytes, csv_option_word(def, option->words));
			break;
		case CSV_OPTION_CHARACTER:
			*(uint8 *) member = character_value(def);
			break;
		case CSV_OPTION_STRINGS:
			*(List **) member = null_values_value(def);
			break;
		case CSV_OPTION_PATTERN:
			*(const CsvPattern **) member = pattern_value(def);
			break;
		case CSV_OPTION_COUNT:
			store(member, option->nbytes,
				  count_value(def, Max(option->step, 1), option->least,
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

	if (option == NULL && !of_column)
		option = look_up(name, ForeignServerRelationId);
	return option == NULL || (option->traits & CSV_SAME_BATCHES) == 0;
}
