/*
 * option.c
 *		The options of servers, tables and columns.
 *
 * Each option is parsed, and its own value checked, as option_list.c describes it.  The
 * validator parses the options of one object into a scratch struct and looks at how they
 * go together; csv_table_get() parses the server's options first, and then the table's.
 *
 * If file_fdw or COPY has a message for the same mistake, this file uses its text,
 * without the word COPY.
 */
#include "postgres.h"

#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include "access/parallel.h"
#include "access/relation.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "common/string.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/rls.h"

#include "compat.h"
#include "reader/footer.h"
#include "table/option.h"
#include "table/option_list.h"
#include "table/release.h"

#define DEFAULT_MAX_RECORD_BYTES	(16 * 1024 * 1024)
#define DEFAULT_GROWING_REST	3600
#define DEFAULT_NOTICE_LIMIT		10

#define MOST_THREADS	64

/*
 * If the threads that decompress and the threads that parse are more than the cores,
 * the backend, which passes bytes between them, must wait for its turn.  On few cores
 * it is better that either kind may use all cores.
 */
#define FEW_CORES		4

/* may the user read the column in all rows, by a query that names this relation? */
static bool
may_read(Oid user, Oid relid, AttrNumber attnum)
{
	return check_enable_rls(relid, user, true) != RLS_ENABLED &&
		(pg_class_aclcheck(relid, user, ACL_SELECT) == ACLCHECK_OK ||
		 pg_attribute_aclcheck(relid, attnum, user,
							   ACL_SELECT) == ACLCHECK_OK);
}

bool
csv_may_quote(const CsvTable *table, const CsvTableColumn *column)
{
	Oid			user = GetUserId();
	ListCell   *cell;

	/* the owner only stands in for the user who runs ANALYZE or REFRESH */
	if (InSecurityRestrictedOperation())
		user = GetOuterUserId();

	/* without a relation: a user who may read files examines the file itself */
	if (!OidIsValid(table->relid) ||
		may_read(user, table->relid, column->attnum))
		return true;
	if (get_rel_relispartition(table->relid))
		foreach(cell, get_partition_ancestors(table->relid))
		{
			Oid			ancestor = lfirst_oid(cell);

			if (may_read(user, ancestor, get_attnum(ancestor, column->name)))
				return true;
		}
	return false;
}

static void
check_may_set(const DefElem *def, const char *object, Oid role)
{
	csv_check_role(role,
				   psprintf("to set the \"%s\" option of a csv_gpu_fdw %s",
								  def->defname, object), "set this option");
}

static void
conflict(const char *name, const char *other, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("options \"%s\" and \"%s\" conflict", name, other),
			 errdetail_internal("%s", detail)));
}

static void
require(const char *name, const char *other)
{
	ereport(ERROR,
			(errcode(ERRCODE_FDW_OPTION_NAME_NOT_FOUND),
			 errmsg("option \"%s\" requires option \"%s\"", name, other)));
}

/* ---- threads ---- */

/* counted once: each scan asks for them, and a process seldom gets others */
static long
count_cores(void)
{
	static long ncores = 0;

	if (ncores > 0)
		return ncores;
#ifdef CPU_COUNT
	{
		cpu_set_t	allowed;

		if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
			ncores = CPU_COUNT(&allowed);
	}
#endif
	if (ncores <= 0)
		ncores = sysconf(_SC_NPROCESSORS_ONLN);
	return ncores;
}

/* the processes that PostgreSQL would allow for a query */
static int
count_processes(void)
{
	return Min(max_parallel_workers_per_gather, max_parallel_workers) + 1;
}

int
csv_thread_count(int setting)
{
	int			most = count_processes();

	if (IsParallelWorker())
		return 1;
	if (setting > 0 || most == 1)
		return Max(setting, 1);
	return (int) Max(Min(Min(most, count_cores()), MOST_THREADS), 1);
}

/*
 * The number for the planner; nthreads is the result of csv_thread_count().
 * PostgreSQL's cost estimates for parallel plans ignore the number of cores.  Ours are
 * compared with them, so they must ignore it, too.
 */
static int
planned_threads(int setting, int nthreads)
{
	return setting > 0 ? nthreads :
		Max(nthreads, Min(count_processes(), MOST_THREADS));
}

int
csv_stream_threads(int nthreads)
{
	return Min(Max(nthreads, 1), Max(count_cores() / 2, FEW_CORES));
}

/* ---- options of servers and tables ---- */

static void
init_table_options(CsvTableOptions *options)
{
	CsvTable   *table = &options->table;

	memset(options, 0, sizeof(*options));
	options->header_rows = -1;
	options->nfields = -1;
	table->reader.dialect.quoting = CSV_QUOTING_RFC4180;
	table->reader.dialect.quote = '"';
	table->reader.dialect.boundary = CSV_BOUNDARY_AUTO;
	table->reader.dialect.multiline = true;
	table->reader.max_record_bytes = DEFAULT_MAX_RECORD_BYTES;
	table->compression = CSV_COMPRESSION_AUTO;
	table->utf16 = CSV_UTF16_BY_MARK;
	table->file_encoding = -1;
	table->decimal_separator = '.';
	table->date_order = -1;
	table->reject_count = -1;
	table->reject_percent = -1;
	table->verbosity = CSV_VERBOSITY_DEFAULT;
	table->notice_limit = DEFAULT_NOTICE_LIMIT;
	table->parallel_workers = -1;
	table->growing_rest = DEFAULT_GROWING_REST;
	table->share = -1;
	table->settings = csv_settings;
	table->settings.resident &= csv_settings.resident_memory > 0;
	table->settings.cpu_threads = csv_thread_count(csv_settings.cpu_threads);
	table->settings.planned_threads =
		planned_threads(csv_settings.cpu_threads, table->settings.cpu_threads);
}

/* sets the format's defaults for options that are not given */
static void
set_format_defaults(CsvTableOptions *options)
{
	CsvTable   *table = &options->table;
	CsvDialectOptions *dialect = &table->reader.dialect;

	if (table->delimiter == NULL)
		table->delimiter = options->is_text ? "\t" : ",";
	csv_dialect_set_delimiter(dialect, table->delimiter);
	if (table->null_string == NULL)
		table->null_string = options->is_text ? "\\N" : "";
	if (options->is_text)
	{
		dialect->quoting = CSV_QUOTING_TEXT;
		dialect->quote = 0;
	}
}

/* in the current memory context; a table's options override its server's */
static CsvTableOptions *
resolve_table_options(List *server_options, List *table_options)
{
	CsvTableOptions *options = palloc(sizeof(CsvTableOptions));
	CsvTable   *table = &options->table;
	ListCell   *cell;

	init_table_options(options);
	table->options = list_concat_copy(server_options, table_options);
	foreach(cell, table->options)
	{
		DefElem    *def = (DefElem *) lfirst(cell);
		Oid			catalog =
			foreach_current_index(cell) < list_length(server_options) ?
			ForeignServerRelationId : ForeignTableRelationId;

		csv_option_parse(csv_option_get(def->defname, catalog), options, def);
	}
	set_format_defaults(options);
	table->prefers_pattern = table->writable;
	if (options->header_rows >= 0)
		table->reader.header_rows = options->header_rows;
	else
		table->reader.header_rows = options->header ? 1 : 0;
	return options;
}

/* ERROR if the reader would split a marker (of NULL, for example) */
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

/* ERROR if a line that begins with the comment string might be a record */
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

/* ERROR if one byte has two meanings */
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

/* ERROR if the text format does not have an option, or not this value */
static void
check_text_options(const CsvTable *table)
{
	const char *delimiter = table->delimiter;
	ListCell   *cell;

	foreach(cell, table->options)
	{
		const char *name = ((DefElem *) lfirst(cell))->defname;

		if ((csv_option_get(name, ForeignTableRelationId)->traits & CSV_OF_CSV) != 0)
			conflict("format", name,
					 "The format \"text\" has no quotes, and backslashes as escapes.");
	}

	/* as in COPY: these characters may be part of an escape */
	if (strchr("\\.abcdefghijklmnopqrstuvwxyz0123456789", *delimiter) != NULL ||
		strchr(delimiter, '\\') != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delimiter cannot be \"%s\" in the format \"text\"", delimiter)));
}

/* ERROR if the options of a server, or of a table, say of no share which it is */
static void
check_share(const CsvTable *table)
{
	if ((table->share < 0) != (table->shares == 0))
		require(table->share < 0 ? "shares" : "share",
				table->share < 0 ? "share" : "shares");
	if (table->shares > 0 && table->share >= table->shares)
		csv_refuse_value("share", psprintf("%d", table->share),
						 psprintf("Of %d shares, the last is %d.", table->shares,
								  table->shares - 1), NULL);
}

/* ERROR if rows cannot be written to the table's files */
static void
check_writable(const CsvTable *table)
{
	if (table->program != NULL)
		conflict("writable", "program", "Rows are written to files only.");
	if (table->reader.dialect.footer_rows > 0)
		conflict("writable", "footer_rows", "Rows would come behind the footer.");
	csv_table_check_written_name(table);
}

/* ERROR if the options of a table conflict */
static void
check_table_options(const CsvTableOptions *options)
{
	const CsvTable *table = &options->table;
	const CsvDialectOptions *dialect = &table->reader.dialect;
	ListCell   *cell;

	if (table->filename != NULL && table->program != NULL)
		conflict("filename", "program", "A table reads one or the other.");
	if (table->filename == NULL && table->program == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
				 errmsg("either filename or program is required for csv_gpu_fdw foreign tables")));
	check_share(table);
	if (table->share >= 0 && table->program != NULL)
		conflict("share", "program", "Only files are shared.");
	if (dialect->growing && table->program != NULL)
		conflict("growing", "program", "Only files grow.");
	if (dialect->growing && dialect->footer_rows > 0)
		conflict("growing", "footer_rows",
				 "The end of a file that grows is not known.");
	if (table->writable)
		check_writable(table);
	if (options->header && options->header_rows == 0)
		conflict("header", "header_rows", "A header has at least one row.");
	if (table->by_name && table->header_match)
		conflict("by_name", "header",
				 "Names that are to match stand in the order of the columns.");
	if (table->by_name && options->nfields >= 0)
		conflict("by_name", "columns",
				 "Each file has as many fields as its header.");

	/* for tables only: a server may set both as defaults, for different tables */
	if ((table->reject_count >= 0 || table->reject_percent >= 0) && table->stop)
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

/* ERROR where the options of a column contradict each other */
static void
check_column_options(const CsvTableColumn *column, List *options)
{
	if (column->field_given && column->header_name != NULL)
		conflict("column", "header_name",
				 "A field is found by its number or by its name.");

	/* every other option concerns a field's text */
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

/* settings that a column inherits from its table, unless it has its own */
static void
set_column_forms(const CsvTable *table, CsvTableColumn *column)
{
	if (!column->null_values_given)
		column->null_values = table->null_values;
	if (column->pattern_option == NULL)
		column->pattern = column->type == DATEOID ? table->date_pattern :
			column->type == TIMESTAMPOID || column->type == TIMESTAMPTZOID ?
			table->timestamp_pattern : NULL;

	/* a non-ASCII separator is left to PostgreSQL, value by value */
	if (table->thousands_separator != NULL && csv_table_is_number(column->type) &&
		!IS_HIGHBIT_SET(*table->thousands_separator))
		column->thousands = (uint8_t) *table->thousands_separator;
}

/*
 * Gets the attributes, with their fields.  Returns how many of them are read from the
 * file.  *by_option: an option chooses the field of at least one.
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
		{
			DefElem    *def = (DefElem *) lfirst(cell);

			csv_option_parse(csv_option_get(def->defname, AttributeRelationId), column, def);
		}
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

/* converts a string to the encoding of the reader's bytes */
static char *
encode(const CsvTable *table, char *string)
{
	return pg_is_ascii(string) ? string :
		pg_server_to_any(string, (int) strlen(string), table->encoding);
}

/* converts a dialect's string; ERROR if it has more than `most` bytes then */
static const char *
encode_string(const CsvTable *table, const char *option, char *string, int most)
{
	const char *encoded = encode(table, string);

	if (strlen(encoded) > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" has more than %d bytes in the file's encoding",
						option, most)));
	return encoded;
}

/*
 * ERROR if the delimiter's bytes might be found across two characters, as in the EUC
 * encodings: a file is split before its characters are examined.
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
encode_values(const CsvTable *table, List *values)
{
	ListCell   *cell;

	foreach(cell, values)
	{
		lfirst(cell) = encode(table, lfirst(cell));
		if (strlen(lfirst(cell)) > CSV_MAX_NULL_VALUE_BYTES)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("option \"null_values\" has a value of more than %d bytes in the file's encoding",
							CSV_MAX_NULL_VALUE_BYTES)));
	}
}

/*
 * Sets the encodings of the file, of the reader's bytes, and for the engines.
 * Converts the markers to the encoding of the reader's bytes.
 */
static void
set_encodings(CsvTable *table)
{
	int			server_encoding = GetDatabaseEncoding();

	/* to a parallel worker, the leader is the client: only the setting is the leader's */
	if (table->file_encoding < 0)
		table->file_encoding = !IsParallelWorker() ? pg_get_client_encoding() :
			pg_char_to_encoding(GetConfigOption("client_encoding", false, false));

	/*
	 * As in COPY, text of unknown encoding, in the file or in the database, is not
	 * converted.
	 */
	if (PG_ENCODING_IS_CLIENT_ONLY(table->file_encoding) &&
		server_encoding != PG_SQL_ASCII)
		table->encoding = server_encoding;
	else
		table->encoding = table->file_encoding;

	/* OTHER also if valid UTF-8 might not be valid in a datum */
	if (server_encoding == PG_UTF8 &&
		(table->encoding == PG_UTF8 || table->encoding == PG_SQL_ASCII))
		table->engine_encoding = CSV_ENCODING_UTF8;
	else
		table->engine_encoding = CSV_ENCODING_OTHER;

	table->null_string = encode(table, table->null_string);
	encode_dialect(table);
	encode_values(table, table->null_values);
	for (int i = 0; i < table->natts; i++)
		if (table->columns[i].null_values_given)
			encode_values(table, table->columns[i].null_values);
	if (table->default_string != NULL)
		table->default_string = encode(table, table->default_string);
}

CsvTable *
csv_table_get_as(Oid foreigntableid, List *server_options)
{
	const ForeignTable *declared = GetForeignTable(foreigntableid);
	CsvTableOptions *options =
		resolve_table_options(server_options, declared->options);
	CsvTable   *table = &options->table;
	Relation	relation;
	int			nread;
	bool		by_option;

	table->server_options = server_options;
	table->rights =
		csv_rights_get(GetForeignServer(declared->serverid)->servername,
					   server_options);

	/* the validator has checked this, but a superuser may have bypassed it */
	if ((table->filename == NULL) == (table->program == NULL))
		elog(ERROR, "either filename or program is required for csv_gpu_fdw foreign tables");

	relation = table_open(foreigntableid, AccessShareLock);
	table->relid = foreigntableid;
	table->name = pstrdup(RelationGetRelationName(relation));
	nread = get_columns(table, RelationGetDescr(relation), &by_option);
	table_close(relation, AccessShareLock);

	if (options->nfields >= 0)
		table->nfields = options->nfields;
	else if (by_option)
		table->nfields_from_header = table->reader.header_rows > 0;
	else
		table->nfields = nread;
	table->reader.dialect.blank_is_record = table->nfields == 1;
	set_encodings(table);
	return table;
}

bool
csv_is_csv_table(Oid foreigntableid)
{
	Oid			server = GetForeignServerIdByRelId(foreigntableid);

	return csv_is_wrapper(GetForeignServer(server)->fdwid);
}

Relation
csv_open_relation(Oid relid, LOCKMODE lockmode)
{
	Relation	relation = try_relation_open(relid, lockmode);

	if (relation == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	return relation;
}

Relation
csv_open_source(Oid relid)
{
	Relation	relation = csv_open_relation(relid, AccessShareLock);

	if (RelationGetForm(relation)->relkind != RELKIND_FOREIGN_TABLE ||
		!csv_is_csv_table(relid))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a foreign table of csv_gpu_fdw",
						RelationGetRelationName(relation))));
	return relation;
}

void
csv_check_whole_select(Relation source)
{
	AclResult	allowed = pg_class_aclcheck(RelationGetRelid(source),
											GetUserId(), ACL_SELECT);

	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, OBJECT_FOREIGN_TABLE,
					   RelationGetRelationName(source));
}

CsvTable *
csv_table_get(Oid foreigntableid)
{
	Oid			server = GetForeignServerIdByRelId(foreigntableid);

	csv_settle_rights();
	return csv_table_get_as(foreigntableid, GetForeignServer(server)->options);
}

CsvTable *
csv_table_make(Oid server, List *table_options)
{
	List	   *server_options = OidIsValid(server) ?
		GetForeignServer(server)->options : NIL;
	CsvTableOptions *options = resolve_table_options(server_options, table_options);
	CsvTable   *table = &options->table;

	check_table_options(options);
	table->server_options = server_options;
	if (OidIsValid(server))
		table->rights = csv_rights_get(GetForeignServer(server)->servername,
									   server_options);
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

/* ---- options of IMPORT FOREIGN SCHEMA ---- */

void
csv_import_options(List *options, CsvImportOptions *import)
{
	ListCell   *cell;

	*import = (CsvImportOptions) {.sample_records = -1};
	foreach(cell, options)
	{
		DefElem    *def = (DefElem *) lfirst(cell);
		const CsvOption *option = csv_option_get(def->defname, NamespaceRelationId);

		if ((option->traits & CSV_OF_IMPORT) != 0)
			csv_option_parse(option, import, def);
		else
			import->table_options = lappend(import->table_options, def);
	}
	if (import->program != NULL && import->table == NULL)
		require("program", "table");
	if (import->program != NULL &&
		(import->pattern != NULL || import->suffixes != NULL))
		conflict("program", import->pattern != NULL ? "pattern" : "suffixes",
				 "A table reads a program or files.");
	if (import->program == NULL &&
		(import->pattern == NULL) != (import->table == NULL))
		require(import->pattern != NULL ? "pattern" : "table",
				import->pattern != NULL ? "table" : "pattern");
	if (import->pattern != NULL && import->suffixes != NULL)
		conflict("pattern", "suffixes", "The pattern alone says which files there are.");
}

/* ---- columns ---- */

bool
csv_is_of_file(const CsvTableColumn *column)
{
	return column->virtual_kind == CSV_VIRTUAL_FILENAME ||
		column->virtual_kind == CSV_VIRTUAL_PATH ||
		column->virtual_kind == CSV_VIRTUAL_SHARE;
}

bool
csv_table_is_writable(Oid foreigntableid)
{
	ListCell   *cell;

	foreach(cell, GetForeignTable(foreigntableid)->options)
	{
		DefElem    *def = (DefElem *) lfirst(cell);

		if (strcmp(def->defname, "writable") == 0)
			return defGetBoolean(def);
	}
	return false;
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
 * csv_gpu_fdw_validator(options text[], catalog oid): ERROR if the options of one
 * server, table or column are wrong by themselves.  Other objects cannot have options.
 * ALTER passes the options as they will be after it.
 */
Datum
csv_gpu_fdw_validator(PG_FUNCTION_ARGS)
{
	List	   *options;
	Oid			catalog;
	CsvTableOptions table_options;
	CsvTableColumn column;
	ListCell   *cell;

	csv_begin_function(fcinfo, "strict text[] oid -> void");
	options = untransformRelOptions(PG_GETARG_DATUM(0));
	catalog = PG_GETARG_OID(1);
	init_table_options(&table_options);
	init_column_options(&column);

	if (catalog == ForeignTableRelationId)
		csv_note_table(options);
	else if (catalog == ForeignServerRelationId)
		csv_note_server();
	foreach(cell, options)
	{
		DefElem    *def = (DefElem *) lfirst(cell);
		const CsvOption *option = csv_option_get(def->defname, catalog);

		/*
		 * As in file_fdw: there is no cleaner place to enforce this.  Servers and
		 * columns must not be able to name the input.
		 */
		if (strcmp(def->defname, "program") == 0)
			check_may_set(def, "foreign table", ROLE_PG_EXECUTE_SERVER_PROGRAM);
		else if (strcmp(def->defname, "allowed") == 0)
			check_may_set(def, "server", ROLE_PG_READ_SERVER_FILES);
		else if (strcmp(def->defname, "allowed_write") == 0)
			check_may_set(def, "server", ROLE_PG_WRITE_SERVER_FILES);
		csv_option_parse(option, catalog == AttributeRelationId ? (void *) &column : &table_options,
					 def);
	}

	if (catalog == AttributeRelationId)
		check_column_options(&column, options);
	else if (catalog == ForeignTableRelationId)
	{
		table_options.table.options = options;
		set_format_defaults(&table_options);
		check_table_options(&table_options);
	}
	else
		check_share(&table_options.table);

	PG_RETURN_VOID();
}
