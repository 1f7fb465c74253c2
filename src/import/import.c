/*
 * import.c
 *		IMPORT FOREIGN SCHEMA: foreign tables for the files of a directory.
 *
 *	1. With the options "pattern" and "table", all files of the pattern make one table.
 *	2. Otherwise each file with one of the suffixes makes a table, in the order of names,
 *	   and all files in directories KEY=VALUE make one more (directory.c).  Files that LIMIT TO
 *	   or EXCEPT leave out are not read.
 *	3. sniff.c reads a file, and create.c makes CREATE FOREIGN TABLE of its findings.  The
 *	   server runs these statements with the rights of the user, and the validator checks
 *	   them.
 *
 * A file that makes no table, such as a damaged one, is passed over with a NOTICE, and the
 * others become tables.  It is an ERROR if LIMIT TO or the option "table" names its table.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/memutils.h"

#include "import/create.h"
#include "import/directory.h"
#include "import/given.h"
#include "import/import.h"
#include "import/look.h"
#include "import/names.h"
#include "import/findings.h"
#include "import/tell.h"
#include "scan/value.h"
#include "table/text.h"

/* one IMPORT FOREIGN SCHEMA */
typedef struct Import
{
	ImportForeignSchemaStmt *statement;
	ForeignServer *server;
	CsvImportOptions options;
	CsvTable   *table;			/* with the options that all tables get */
	char	   *directory;
	List	   *suffixes;
	HTAB	   *names;			/* of tables */
	List	   *created;		/* CREATE FOREIGN TABLE statements */

	const char *path;			/* of the current table's files */
	CsvFindings *findings;
} Import;

/* ---- a table ---- */

/* is an ERROR with this SQLSTATE about one file: its contents, or whether it may be read? */
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
		case ERRCODE_INTERNAL_ERROR:	/* for an errno that is not usual */
		case ERRCODE_CHARACTER_NOT_IN_REPERTOIRE:	/* in its header */
		case ERRCODE_UNTRANSLATABLE_CHARACTER:
			return true;
		default:
			return false;
	}
}

/* for csv_attempt() */
static bool
sniff(void *arg)
{
	Import	   *import = arg;

	import->findings = csv_sniff(import->path, import->server->serverid,
								 &import->options);
	return true;
}

/* sniff a file; NOTICE if an ERROR about this file came */
static void
try_to_sniff(Import *import, const char *name)
{
	ErrorData  *edata = csv_attempt(sniff, import, CurrentMemoryContext, true);

	if (edata == NULL)
		return;
	if (!is_about_file(edata->sqlerrcode))
		ReThrowError(edata);
	ereport(NOTICE,
			(errcode(edata->sqlerrcode),
			 errmsg("\"%s\" was passed over: there is no table \"%s\"",
					import->path, name),
			 errdetail_internal("%s.", edata->message),
			 edata->hint != NULL ? errhint("%s", edata->hint) : 0));
}

/*
 * The table of a file, or of the files of a pattern.  Keys in their paths, without the
 * first nfixed bytes, become columns; 0: none do.  It is an ERROR, instead of a NOTICE, if a
 * table that is asked for is not made.  Returns whether it is made.
 */
static bool
import_table(Import *import, char *path, const char *name, size_t nfixed, bool asked_for)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext context;
	CsvFindings *findings;
	List	   *keys = NIL;
	int			nbefore = list_length(import->created);

	CHECK_FOR_INTERRUPTS();
	if (!IsImportableForeignTable(name, import->statement) ||
		!csv_check_filename(asked_for ? ERROR : NOTICE, path))
		return false;
	context = AllocSetContextCreate(outer, "csv_gpu_fdw import", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	import->path = path;
	import->findings = NULL;
	if (asked_for)
		(void) sniff(import);
	else
		try_to_sniff(import, name);
	findings = import->findings;
	if (findings != NULL && findings->ncolumns > 0 && nfixed > 0)
		keys = csv_find_keys(findings, nfixed);
	if (findings == NULL)
		 /* there was a NOTICE */ ;
	else if (findings->ncolumns == 0)
		ereport(asked_for ? ERROR : NOTICE,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("\"%s\" is empty: there is no table \"%s\"",
						path, name)));
	else if (findings->ncolumns + list_length(keys) > MaxHeapAttributeNumber)
		ereport(asked_for ? ERROR : NOTICE,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("\"%s\" has %u fields and %d keys, and a table can have at most %d columns: there is no table \"%s\"",
						path, findings->ncolumns, list_length(keys),
						MaxHeapAttributeNumber, name)));
	else
	{
		char	   *created = csv_create_statement(findings, name,
												   import->server->servername,
												   &import->options, keys);

		if (findings->skipped.n > 0)
			csv_found_errors(findings,
							 psprintf(": foreign table \"%s\" skips them", name), true);
		MemoryContextSwitchTo(outer);
		import->created = lappend(import->created, pstrdup(created));
	}
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(context);
	return list_length(import->created) > nbefore;
}

/* ---- tables of a directory ---- */

/* how many of the files would be tables of the statement; *first is the first's name */
static int
count_wanted(const Import *import, const List *files, char **first)
{
	ListCell   *cell;
	int			n = 0;

	foreach(cell, files)
	{
		char	   *file = csv_shown_filename(lfirst(cell));
		size_t		stem = csv_stem_length(file, import->suffixes);

		CHECK_FOR_INTERRUPTS();
		if (IsImportableForeignTable(csv_plain_name(file, stem, "table"),
									 import->statement) && n++ == 0)
			*first = file;
	}
	return n;
}

/* NOTICEs of files that cannot be read */
static void
tell_passed_over(const Import *import, const CsvListing *listing)
{
	char	   *first;
	int			n = count_wanted(import, listing->unread, &first);

	if (n > 0)
		ereport(NOTICE,
				(errmsg("compressed files of directory \"%s\" were passed over: %d, the first: \"%s\"",
						import->directory, n, first),
				 errdetail("Files that bzip2, xz or zip have compressed cannot be read."),
				 errhint("Decompress them, or compress them by gzip, zstd or LZ4.")));
	n = count_wanted(import, listing->dangling, &first);
	if (n > 0)
		ereport(NOTICE,
				(errmsg("links in directory \"%s\" that lead to no file were passed over: %d, the first: \"%s\"",
						import->directory, n, first)));
}

/* NOTICE of a directory without files */
static void
tell_none(const Import *import)
{
	StringInfoData suffixes;
	ListCell   *cell;

	initStringInfo(&suffixes);
	foreach(cell, import->suffixes)
		appendStringInfo(&suffixes, "%s*.%s", suffixes.len > 0 ? " or " : "",
						 (char *) lfirst(cell));
	ereport(NOTICE,
			(errmsg("directory \"%s\" has no files %s: there are no tables",
					import->directory, suffixes.data),
			 errhint("For files with other suffixes, set the option \"suffixes\". Subdirectories are searched only if their names are KEY=VALUE.")));
}

/* NOTICE of tables that LIMIT TO names and no file makes */
static void
tell_missing(const Import *import)
{
	ListCell   *cell;

	if (import->statement->list_type != FDW_IMPORT_SCHEMA_LIMIT_TO)
		return;
	foreach(cell, import->statement->table_list)
	{
		const char *name = ((RangeVar *) lfirst(cell))->relname;

		if (hash_search(import->names, name, HASH_FIND, NULL) == NULL &&
			(import->options.table == NULL || strcmp(name, import->options.table) != 0))
			ereport(NOTICE,
					(errmsg("there is no file for table \"%s\"", name),
					 errhint("A table has the name of its file, without the suffix and in lower case, with underscores for all but letters and digits.")));
	}
}

/* a table of all files in directories KEY=VALUE, with the directory's name; false: none */
static bool
import_hive(Import *import, bool asked_for)
{
	CsvHive    *hive =
		csv_find_hive(import->table, import->directory, import->suffixes);
	const char *base = strrchr(import->directory, '/');
	char	   *name;

	if (hive == NULL)
		return false;
	base = base != NULL ? base + 1 : import->directory;
	name = csv_make_name(import->names, base, strlen(base), "table");
	if (import_table(import, hive->pattern, name, strlen(import->directory) + 1,
					 asked_for) &&
		hive->nothers > 0)
		ereport(NOTICE,
				(errmsg("table \"%s\" leaves out files that do not match \"%s\": %d, the first: \"%s\"",
						name, csv_shown_filename(hive->pattern), hive->nothers,
						csv_shown_filename(hive->other)),
				 errhint("To import other files as one table, set the options \"pattern\" and \"table\".")));
	return true;
}

static void
import_files(Import *import)
{
	bool		asked_for = import->statement->list_type == FDW_IMPORT_SCHEMA_LIMIT_TO;
	CsvListing	listing = csv_list_directory(import->table, import->directory,
											 import->suffixes);
	ListCell   *cell;

	tell_passed_over(import, &listing);
	foreach(cell, listing.files)
	{
		char	   *path = psprintf("%s/%s", import->directory, (char *) lfirst(cell));
		char	   *file = csv_shown_filename(lfirst(cell));
		size_t		stem = csv_stem_length(file, import->suffixes);

		(void) import_table(import, path, csv_make_name(import->names, file, stem, "table"),
							0, asked_for);
	}
	if (!import_hive(import, asked_for) && listing.files == NIL)
		tell_none(import);
}

List *
csv_import_foreign_schema(ImportForeignSchemaStmt *statement, Oid serverid)
{
	Import		import = {.statement = statement};
	const CsvImportOptions *options = &import.options;

	import.server = GetForeignServer(serverid);
	csv_import_options(statement->options, &import.options);
	import.directory = pstrdup(options->directory != NULL ? options->directory :
							   statement->remote_schema);
	if (options->program != NULL)
		csv_check_role(ROLE_PG_EXECUTE_SERVER_PROGRAM,
					   "for IMPORT FOREIGN SCHEMA from a program",
					   "run programs");
	else
		csv_check_may_look(import.server, import.directory,
						   "IMPORT FOREIGN SCHEMA from a directory");
	csv_find_given(&import.options);
	for (size_t i = strlen(import.directory); i > 1 && import.directory[i - 1] == '/'; i--)
		import.directory[i - 1] = '\0';

	/* faults of options are not a file's */
	import.table = csv_table_make(serverid,
								  csv_with_option(options->table_options,
												  "filename", import.directory));
	import.suffixes = csv_suffixes(options->suffixes != NULL ? options->suffixes : "csv,tsv");
	import.names = csv_names_create();
	if (options->program != NULL)
		(void) import_table(&import, options->program, options->table, 0, true);
	else if (options->pattern == NULL)
		import_files(&import);
	else
		(void) import_table(&import, csv_pattern_in(import.directory, options->pattern),
							options->table, strlen(import.directory) + 1, true);
	tell_missing(&import);
	if (import.created != NIL)
		csv_check_given(options);
	return import.created;
}
