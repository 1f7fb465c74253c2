/*
 * import.c
 *		IMPORT FOREIGN SCHEMA: a foreign table for each file of a directory.
 *
 *	0. Of directories KEY=VALUE in it, all files make one table (hive.c).
 *	1. The directory's files *.csv and *.tsv, compressed or not, in the order of
 *	   their names, each get a table's name; those that LIMIT TO or EXCEPT
 *	   leave out are not read.
 *	2. Each file is read (sniff.c), and CREATE FOREIGN TABLE put together from
 *	   what was found.  The server runs these statements, with the rights of
 *	   the user: the validator looks at them as at any others.
 *
 * A file that makes no table, such as a damaged one, is passed over with a NOTICE,
 * and the others become tables; it is an ERROR if LIMIT TO names it.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/fd.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "import/hive.h"
#include "import/import.h"
#include "import/names.h"
#include "import/sniff.h"
#include "import/tell.h"
#include "table/decompress.h"
#include "table/source.h"
#include "table/text.h"

/* ---- which files ---- */

/* the length of a name without its suffix, where that ends there; 0 if it is not ours */
static size_t
stem_length_before(const char *name, size_t length)
{
	if (length <= 4 || name[0] == '.' ||
		(pg_strncasecmp(name + length - 4, ".csv", 4) != 0 &&
		 pg_strncasecmp(name + length - 4, ".tsv", 4) != 0))
		return 0;
	return length - 4;
}

/* likewise of a file's name, with the suffix of its compression */
static size_t
stem_length(const char *name)
{
	return stem_length_before(name, csv_name_without_compression(name));
}

/* files that would be tables if they could be read */
typedef struct PassedOver
{
	List	   *unread;			/* names of files that are compressed by bzip2, xz, zip */
	List	   *links;			/* of links that lead nowhere */
} PassedOver;

static const char *
suffix_of(const char *name)
{
	return name + stem_length(name);
}

static int
compare_names(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

/* for ereport(): why may that be none? */
static int
hint_directory(const char *directory, int error)
{
	if (error == ENOTDIR)
		return errhint("Name the directory of the file, and the table of the file by LIMIT TO (...).");
	if (error != ENOENT)
		return 0;

	/* an identifier is cut where it is too long */
	if (strlen(directory) >= NAMEDATALEN - 1 - MAX_MULTIBYTE_CHAR_LEN)
		return errhint("A schema's name has at most %d bytes; name longer paths by OPTIONS (directory '...').",
					   NAMEDATALEN - 1);
	return csv_hint_relative(directory);
}

/* does something of that name, which cannot be followed, still stand there? */
static bool
is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/*
 * The names of the directory's files that may become tables, sorted; those that cannot
 * go to *over, unless it is NULL.
 */
static List *
list_and_note(const char *directory, PassedOver *over)
{
	List	   *names = NIL;
	DIR		   *dir = AllocateDir(directory);
	struct dirent *entry;

	if (dir == NULL)
	{
		int			error = errno;

		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open directory \"%s\": %m", directory),
				 hint_directory(directory, error)));
	}
	while ((entry = ReadDir(dir, directory)) != NULL)
	{
		char	   *path;
		struct stat st;

		CHECK_FOR_INTERRUPTS();
		if (stem_length(entry->d_name) == 0)
		{
			if (over != NULL &&
				stem_length_before(entry->d_name, csv_name_without_unread(entry->d_name)) > 0)
				over->unread = lappend(over->unread, pstrdup(entry->d_name));
			continue;
		}
		path = psprintf("%s/%s", directory, entry->d_name);

		/*
		 * Not links that lead nowhere, and files that have just gone.  What
		 * else is wrong shows when it is opened.
		 */
		if (stat(path, &st) != 0 ? errno != ENOENT && errno != ELOOP :
			S_ISREG(st.st_mode))
			names = lappend(names, pstrdup(entry->d_name));
		else if (over != NULL && is_link(path))
			over->links = lappend(over->links, pstrdup(entry->d_name));
		pfree(path);
	}
	FreeDir(dir);
	list_sort(names, compare_names);
	return names;
}

/* the same; a CsvListFiles */
static List *
list_files(const char *directory)
{
	return list_and_note(directory, NULL);
}

/* ---- a statement ---- */

static void
add_option(StringInfo options, const char *name, const char *value)
{
	appendStringInfo(options, "%s%s %s", options->len > 0 ? ", " : "",
					 quote_identifier(name), quote_literal_cstr(value));
}

static void
add_character(StringInfo options, const char *name, uint8_t c)
{
	char		value[2] = {(char) c, '\0'};

	add_option(options, name, value);
}

/* what may not be there */
static void
add_found(StringInfo options, const char *name, const char *value)
{
	if (value != NULL)
		add_option(options, name, value);
}

static bool
is_one_of(const char *name, const char *const *names, int nnames)
{
	for (int i = 0; i < nnames; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/*
 * The options of a table: those of the statement, and what was found.
 */
static char *
table_options(const CsvFindings *findings, List *given)
{
	/* what a table is told as it was found, whether it was given or not */
	static const char *const found[] = {
		"header", "header_rows", "delimiter", "quote", "escape", "encoding",
		"record_boundary", "decimal_separator"
	};
	const CsvTable *table = findings->table;
	const CsvDialectOptions *dialect = &table->reader.dialect;
	const bool	is_text = dialect->quoting == CSV_QUOTING_TEXT;
	StringInfoData options;
	ListCell   *cell;

	initStringInfo(&options);
	add_option(&options, "filename", table->filename);
	if (table->reader.header_rows == 1)
		add_option(&options, "header", "true");
	else if (table->reader.header_rows > 1)
		add_option(&options, "header_rows",
				   psprintf("%u", table->reader.header_rows));
	if (is_text && !csv_is_given(given, "format"))
		add_option(&options, "format", "text");
	if (strcmp(table->delimiter, is_text ? "\t" : ",") != 0)
		add_option(&options, "delimiter", table->delimiter);
	if (dialect->trim && !csv_is_given(given, "trim"))
		add_option(&options, "trim", "true");
	if (table->comment != NULL && !csv_is_given(given, "comment"))
		add_option(&options, "comment", table->comment);
	if (dialect->footer_rows > 0 && !csv_is_given(given, "footer_rows"))
		add_option(&options, "footer_rows", psprintf("%u", dialect->footer_rows));
	if (findings->by_name && !csv_is_given(given, "by_name"))
		add_option(&options, "by_name", "true");
	if (dialect->quote != '"' && !is_text)
		add_character(&options, "quote", dialect->quote);
	if (dialect->escape != 0)
		add_character(&options, "escape", dialect->escape);
	if (dialect->boundary != CSV_BOUNDARY_AUTO)
		add_option(&options, "record_boundary",
				   dialect->boundary == CSV_BOUNDARY_CR ? "cr" :
				   dialect->boundary == CSV_BOUNDARY_CRLF ? "crlf" : "lf");
	if (table->decimal_separator != '.')
		add_character(&options, "decimal_separator",
					  (uint8_t) table->decimal_separator);
	add_found(&options, "null_values", findings->null_values);
	add_found(&options, "date_format", findings->date_format);
	add_found(&options, "timestamp_format", findings->timestamp_format);
	add_found(&options, "thousands_separator",
			  csv_is_given(given, "thousands_separator") ? NULL : findings->thousands_separator);

	/* else it would be that of whoever reads the table */
	if (!findings->by_mark)
		add_option(&options, "encoding", csv_encoding_name(table));
	foreach(cell, given)
	{
		DefElem    *def = (DefElem *) lfirst(cell);

		if (!is_one_of(def->defname, found, lengthof(found)))
			add_option(&options, def->defname, defGetString(def));
	}
	return options.data;
}

/* with by_name, the name for SQL need not be that of the header */
static char *
column_definition(const CsvFindings *findings, const CsvFoundColumn *column,
				  bool limits)
{
	int32		typmod;
	Oid			type = csv_inferred_type(&column->inference, &typmod);
	const char *table_pattern = type == DATEOID ? findings->date_format :
		findings->timestamp_format;
	int32		max_chars;
	int32		byte_width;
	StringInfoData definition;
	StringInfoData options;

	/* precision and scale are limits, and a further digit would be rounded */
	if (!limits)
		typmod = -1;
	initStringInfo(&definition);
	initStringInfo(&options);
	appendStringInfo(&definition, "%s %s", quote_identifier(column->name),
					 format_type_with_typemod(type, typmod));
	if (findings->table->by_name && column->header_name != NULL &&
		strcmp(column->header_name, column->name) != 0)
		add_option(&options, "header_name", column->header_name);
	if (column->force_null)
		add_option(&options, "force_null", "true");
	if (column->pattern != NULL && table_pattern == NULL)
		add_option(&options, type == DATEOID ? "date_format" : "timestamp_format",
				   column->pattern);
	add_found(&options, "null_values", column->null_values);
	if (type == TEXTOID && limits &&
		csv_found_widths(column, &max_chars, &byte_width))
	{
		add_option(&options, "max_chars", psprintf("%d", max_chars));
		add_option(&options, "byte_width", psprintf("%d", byte_width));
	}
	if (options.len > 0)
		appendStringInfo(&definition, " OPTIONS (%s)", options.data);
	return definition.data;
}

static char *
create_statement(const CsvFindings *findings, const char *name,
				 const char *server, const CsvImportOptions *import,
				 const CsvHive *hive)
{
	StringInfoData statement;

	/* of a file that was not read to its end, nobody knows how long values are */
	bool		limits = import->limits && findings->complete;

	initStringInfo(&statement);
	appendStringInfo(&statement, "CREATE FOREIGN TABLE %s (",
					 quote_identifier(name));
	for (uint32 i = 0; i < findings->ncolumns; i++)
		appendStringInfo(&statement, "%s\n    %s", i > 0 ? "," : "",
						 column_definition(findings, &findings->columns[i], limits));
	if (hive != NULL)
		appendStringInfoString(&statement,
							   csv_hive_columns(hive, findings,
												import->all_text));
	appendStringInfo(&statement, "\n) SERVER %s OPTIONS (%s)",
					 quote_identifier(server),
					 table_options(findings, import->table_options));
	return statement.data;
}

/* ---- the callback ---- */

/*
 * Is an ERROR with this SQLSTATE about one file: about what it holds, or
 * whether it may be read?
 */
static bool
is_about_file(int sqlerrcode)
{
	switch (sqlerrcode)
	{
		case ERRCODE_BAD_COPY_FILE_FORMAT:
		case ERRCODE_TOO_MANY_COLUMNS:
		case ERRCODE_FEATURE_NOT_SUPPORTED: /* its compression */
		case ERRCODE_WRONG_OBJECT_TYPE:
		case ERRCODE_INSUFFICIENT_PRIVILEGE:
		case ERRCODE_UNDEFINED_FILE:
		case ERRCODE_IO_ERROR:
		case ERRCODE_CHARACTER_NOT_IN_REPERTOIRE:	/* in its header */
		case ERRCODE_UNTRANSLATABLE_CHARACTER:
			return true;
		default:
			return false;
	}
}

/*
 * What a file holds; NULL, after a NOTICE, if it makes no table.  What is not
 * about the file is an ERROR.
 */
static CsvFindings *
try_to_sniff(const char *path, const char *name, List *server_options,
			 const CsvImportOptions *import)
{
	CsvFindings *volatile findings = NULL;
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		findings = csv_sniff(path, server_options, import);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		MemoryContextSwitchTo(context);
		edata = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (!is_about_file(edata->sqlerrcode))
			ReThrowError(edata);
		ereport(NOTICE,
				(errcode(edata->sqlerrcode),
				 errmsg("\"%s\" was passed over: there is no table \"%s\"",
						path, name),
				 errdetail_internal("%s.", edata->message),
				 edata->hint != NULL ? errhint("%s", edata->hint) : 0));
	}
	PG_END_TRY();
	return findings;
}

/*
 * The statement for a file, or for those of a pattern, in the current memory
 * context; NULL, after a NOTICE, if it makes no table; ERROR if it is asked for.
 */
static char *
import_file(const char *path, const char *name, bool asked_for,
			const ForeignServer *server, const CsvImportOptions *import,
			const CsvHive *hive)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(outer, "csv_gpu_fdw import",
												  ALLOCSET_DEFAULT_SIZES);
	const uint32 nkeys = hive != NULL ? (uint32) list_length(hive->keys) : 0;
	CsvFindings *findings;
	char	   *statement = NULL;

	MemoryContextSwitchTo(context);
	findings = asked_for ? csv_sniff(path, server->options, import) :
		try_to_sniff(path, name, server->options, import);
	if (findings == NULL)
		 /* said so */ ;
	else if (findings->ncolumns == 0)
		ereport(asked_for ? ERROR : NOTICE,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("\"%s\" is empty: there is no table \"%s\"",
						path, name)));
	else if (findings->ncolumns + nkeys > MaxHeapAttributeNumber)
		ereport(asked_for ? ERROR : NOTICE,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("\"%s\" has %u fields and %u keys, and a table can have at most %d columns: there is no table \"%s\"",
						path, findings->ncolumns, nkeys, MaxHeapAttributeNumber, name)));
	else
	{
		statement = create_statement(findings, name, server->servername,
									 import, hive);
		statement = MemoryContextStrdup(outer, statement);
		if (findings->left_out != NULL)
			ereport(NOTICE, (errmsg_internal("%s", findings->left_out)));
		if (findings->nskipped > 0)
			csv_found_errors(findings,
							 psprintf(": foreign table \"%s\" skips them",
									  name), true);
	}
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(context);
	return statement;
}

/* what is wrong with the options is no fault of a file */
static void
check_options(char *directory, List *server_options, List *table_options)
{
	DefElem    *filename = makeDefElem("filename",
									   (Node *) makeString(directory), -1);

	(void) csv_table_make(server_options,
						  lappend(list_copy(table_options), filename));
}

/* how many of the files would be tables of the statement; *first is the first's name */
static int
count_wanted(ImportForeignSchemaStmt *statement, List *files, char **first)
{
	ListCell   *cell;
	int			n = 0;

	list_sort(files, compare_names);
	foreach(cell, files)
	{
		char	   *file = csv_shown_filename(lfirst(cell));
		size_t		stem = stem_length_before(file, csv_name_without_unread(file));

		if (stem == 0)
			stem = stem_length(file);
		CHECK_FOR_INTERRUPTS();
		if (IsImportableForeignTable(csv_make_name(csv_names_create(), file, stem, "table"),
									 statement) && n++ == 0)
			*first = file;
	}
	return n;
}

/* NOTICEs of files that cannot be read */
static void
tell_passed_over(ImportForeignSchemaStmt *statement, const char *directory,
				 const PassedOver *over)
{
	char	   *first;
	int			n = count_wanted(statement, over->unread, &first);

	if (n > 0)
		ereport(NOTICE,
				(errmsg("compressed files of directory \"%s\" were passed over: %d, the first: \"%s\"",
						directory, n, first),
				 errdetail("Files that bzip2, xz or zip have compressed cannot be read."),
				 errhint("Decompress them, or compress them by gzip, zstd or LZ4.")));
	n = count_wanted(statement, over->links, &first);
	if (n > 0)
		ereport(NOTICE,
				(errmsg("links in directory \"%s\" that lead to no file were passed over: %d, the first: \"%s\"",
						directory, n, first)));
}

/* NOTICE of tables that were asked for, but that no file makes; names are all that do */
static void
tell_missing(const ImportForeignSchemaStmt *statement, HTAB *names)
{
	ListCell   *cell;

	if (statement->list_type != FDW_IMPORT_SCHEMA_LIMIT_TO)
		return;
	foreach(cell, statement->table_list)
	{
		const char *name = ((RangeVar *) lfirst(cell))->relname;

		if (!csv_name_is_taken(names, name))
			ereport(NOTICE,
					(errmsg("there is no file for table \"%s\"", name),
					 errhint("A table has the name of its file, without the suffix and in lower case, with underscores for all but letters and digits.")));
	}
}

List *
csv_import_foreign_schema(ImportForeignSchemaStmt *statement, Oid serverid)
{
	ForeignServer *server = GetForeignServer(serverid);
	bool		asked_for = statement->list_type == FDW_IMPORT_SCHEMA_LIMIT_TO;
	CsvImportOptions import;
	char	   *directory;
	HTAB	   *names;
	CsvHive    *hive;
	List	   *statements = NIL;
	List	   *files;
	PassedOver	over = {NIL, NIL};
	ListCell   *cell;

	csv_check_may_read_files("IMPORT FOREIGN SCHEMA from a directory");
	csv_import_options(statement->options, &import);
	directory = pstrdup(import.directory != NULL ? import.directory :
						statement->remote_schema);
	for (size_t i = strlen(directory); i > 1 && directory[i - 1] == '/'; i--)
		directory[i - 1] = '\0';
	check_options(directory, server->options, import.table_options);
	names = csv_names_create();
	files = list_and_note(directory, &over);
	tell_passed_over(statement, directory, &over);
	foreach(cell, files)
	{
		char	   *path = psprintf("%s/%s", directory,
									(char *) lfirst(cell));
		char	   *file = csv_shown_filename(lfirst(cell));
		char	   *name = csv_make_name(names, file, stem_length(file),
										 "table");
		char	   *created;

		CHECK_FOR_INTERRUPTS();
		if (!IsImportableForeignTable(name, statement) ||
			!csv_check_filename(NOTICE, path))
			continue;
		created = import_file(path, name, asked_for, server, &import, NULL);
		if (created != NULL)
			statements = lappend(statements, created);
	}
	hive = csv_find_hive(directory, list_files, suffix_of);
	if (files == NIL && hive == NULL)
		ereport(NOTICE,
				(errmsg("directory \"%s\" has no files *.csv or *.tsv: there are no tables",
						directory),
				 errhint("Of the directories in it, only those are looked at whose names are KEY=VALUE.")));
	if (hive != NULL && csv_check_filename(NOTICE, hive->pattern))
	{
		const char *base = last_dir_separator(directory);
		char	   *name;
		char	   *created;

		base = base != NULL ? base + 1 : directory;
		name = csv_make_name(names, base, strlen(base), "table");
		created = !IsImportableForeignTable(name, statement) ? NULL :
			import_file(hive->pattern, name, asked_for, server, &import, hive);
		if (created != NULL)
			statements = lappend(statements, created);
		if (created != NULL && hive->nothers > 0)
			ereport(NOTICE,
					(errmsg("table \"%s\" leaves out files that do not match \"%s\": %d, the first: \"%s\"",
							name, csv_shown_filename(hive->pattern), hive->nothers,
							csv_shown_filename(hive->other))));
	}
	tell_missing(statement, names);
	return statements;
}
