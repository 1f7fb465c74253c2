/*
 * look.c
 *		Looks at a file without a table of it: csv_gpu_peek() shows its
 *		first records, and csv_gpu_open() makes a temporary table.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_foreign_server.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "import/create.h"
#include "import/findings.h"
#include "import/look.h"
#include "import/names.h"
#include "import/tell.h"
#include "scan/scan.h"
#include "table/decompress.h"
#include "table/release.h"
#include "table/text.h"

/* ---- the server ---- */

void
csv_check_may_look(const ForeignServer *server, const char *filename,
				   const char *what)
{
	if (server == NULL ||
		!csv_rights_of(server).given[CSV_ACCESS_READ])
		csv_check_role(csv_role_for(filename, CSV_ACCESS_READ),
					   psprintf("for %s", what), "read the server's files");
}

static ForeignServer *
server_of_name(const char *name)
{
	ForeignServer *server = GetForeignServerByName(name, false);

	if (!csv_is_wrapper(server->fdwid))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("server \"%s\" is not of csv_gpu_fdw", name)));
	if (csv_server_aclcheck(server->serverid, GetUserId(), ACL_USAGE) !=
		ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_SERVER, name);
	return server;
}

/* ERROR: a server must be made first */
static void __attribute__((noreturn))
fail_without_server(const char *filename)
{
	const char *name = "csv";

	for (int i = 2; OidIsValid(get_foreign_server_oid(name, true)); i++)
		name = psprintf("csv_%d", i);
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("there is no server for \"%s\" that you may use",
					csv_shown_filename(filename)),
			 errhint("%s: CREATE SERVER %s FOREIGN DATA WRAPPER csv_gpu_fdw;",
					 superuser() ? "Run" : "A superuser can run", name)));
}

Oid
csv_look_server(const char *function, const char *filename, const char *given,
				bool makes_table)
{
	const char *what = psprintf("function %s", function);
	const bool	may = has_privs_of_role(GetUserId(),
										csv_role_for(filename,
													 CSV_ACCESS_READ));
	const bool	any_file = may && !csv_is_url(filename);
	List	   *servers = NIL;
	StringInfoData names;
	ListCell   *cell;

	if (given != NULL)
	{
		ForeignServer *server = server_of_name(given);

		csv_check_may_look(server, filename, what);
		return server->serverid;
	}
	if (any_file && !makes_table)
		return InvalidOid;
	initStringInfo(&names);
	foreach(cell, csv_servers(GetUserId()))
	{
		ForeignServer *server = lfirst(cell);
		const bool	limited = csv_rights_of(server).given[CSV_ACCESS_READ];

		if (any_file ? limited : !may && !limited)
			continue;
		servers = lappend(servers, server);
		appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "",
						 server->servername);
	}
	if (servers == NIL && may)
		fail_without_server(filename);
	csv_check_may_look(servers == NIL ? NULL : linitial(servers), filename,
					   what);
	if (list_length(servers) > 1 && !any_file)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" may be read by several servers: %s",
						csv_shown_filename(filename), names.data),
				 errhint("Name one of them by the argument \"server\".")));
	return ((ForeignServer *) linitial(servers))->serverid;
}

/* ---- csv_gpu_peek() ---- */

#define CSV_PEEK_COLUMNS	2

/* a CsvSkippedFn; csv_sniff() has counted it */
static bool
pass_over(void *arg, const CsvSkipped *skipped)
{
	return true;
}

/* a record as an object, in the order of its fields */
static char *
fields_of(const CsvFindings *findings, const Datum *values, const bool *isnull)
{
	StringInfoData json;

	initStringInfo(&json);
	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		appendStringInfoString(&json, i == 0 ? "{" : ", ");
		escape_json(&json, findings->columns[i].name);
		appendStringInfoString(&json, ": ");
		if (isnull[i])
			appendStringInfoString(&json, "null");
		else
			escape_json(&json, TextDatumGetCString(values[i]));
	}
	appendStringInfoChar(&json, '}');
	return json.data;
}

PG_FUNCTION_INFO_V1(csv_gpu_peek);

/*
 * csv_gpu_peek(filename text, rows int, server text): the first good records
 */
Datum
csv_gpu_peek(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	CsvImportOptions import;
	CsvFindings *findings;
	CsvTableScan *scan;
	Datum	   *fields;
	bool	   *isnull;
	char	   *filename;
	int			nrows;

	csv_begin_function(fcinfo, "text integer text -> setof bigint json");
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	filename = text_to_cstring(PG_GETARG_TEXT_PP(0));
	nrows = PG_GETARG_INT32(1);
	if (nrows < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of rows must not be negative")));
	csv_import_options(NIL, &import);
	import.all_text = true;
	import.sample_records = Max(nrows, 1);
	findings = csv_sniff(filename,
						 csv_look_server("csv_gpu_peek", filename,
										 PG_ARGISNULL(2) ? NULL :
										 text_to_cstring(PG_GETARG_TEXT_PP(2)),
										 false),
						 &import);
	if (findings->ncolumns == 0)
		return (Datum) 0;
	scan =
		csv_table_scan_begin(findings->table, csv_table_attributes(findings->table),
							 NULL, 0, pass_over, NULL);
	fields = palloc(sizeof(Datum) * findings->ncolumns);
	isnull = palloc(sizeof(bool) * findings->ncolumns);
	for (; nrows > 0 && csv_table_scan_next(scan, fields, isnull); nrows--)
	{
		char	   *json = fields_of(findings, fields, isnull);
		int64		record;

		CHECK_FOR_INTERRUPTS();
		(void) csv_table_scan_place(scan, &record);
		tuplestore_putvalues(result->setResult, result->setDesc,
							 (Datum[CSV_PEEK_COLUMNS]) {
								 Int64GetDatum(record),
								 CStringGetTextDatum(json)
							 }, (bool[CSV_PEEK_COLUMNS]) {false});
		pfree(json);
	}
	csv_table_scan_end(scan);
	return (Datum) 0;
}

/* ---- csv_gpu_open() ---- */

/* a name for the table that no temporary relation of the session has */
static char *
choose_name(const char *filename)
{
	Oid			schema = LookupExplicitNamespace("pg_temp", true);
	HTAB	   *names = csv_names_create();
	char	   *path = pstrdup(filename);
	char	   *base;
	char	   *dot;
	char	   *name;

	/* a pattern's files have the name of their directory */
	while (strpbrk(path, "*?[") != NULL)
		get_parent_directory(path);
	base = csv_shown_filename(last_dir_separator(path) != NULL ?
							  last_dir_separator(path) + 1 : path);
	base = pnstrdup(base, csv_name_without_compression(base, true));
	dot = strrchr(base, '.');
	if (dot != NULL && dot > base)
		*dot = '\0';
	do
		name = csv_make_name(names, base, strlen(base), "table");
	while (OidIsValid(schema) && OidIsValid(get_relname_relid(name, schema)));
	return name;
}

PG_FUNCTION_INFO_V1(csv_gpu_open);

/*
 * csv_gpu_open(filename text, name text, server text) makes a foreign table in
 * pg_temp, and returns its name as SQL has it.
 */
Datum
csv_gpu_open(PG_FUNCTION_ARGS)
{
	CsvImportOptions import;
	CsvFindings *findings;
	Oid			server;
	char	   *filename;
	char	   *name;
	const char *statement;

	csv_begin_function(fcinfo, "text text text -> text");
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	filename = text_to_cstring(PG_GETARG_TEXT_PP(0));
	server = csv_look_server("csv_gpu_open", filename, PG_ARGISNULL(2) ? NULL :
							 text_to_cstring(PG_GETARG_TEXT_PP(2)), true);
	name = PG_ARGISNULL(1) ? choose_name(filename) :
		text_to_cstring(PG_GETARG_TEXT_PP(1));
	csv_import_options(NIL, &import);
	import.schema = "pg_temp";
	findings = csv_sniff(filename, server, &import);
	if (findings->ncolumns == 0)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("\"%s\" is empty: there is no table \"%s\"",
						csv_shown_filename(filename), name)));
	statement = csv_create_statement(findings, name,
									 GetForeignServer(server)->servername,
									 &import,
									 csv_find_keys(findings, 0));
	if (findings->skipped.n > 0)
		csv_found_errors(findings, psprintf(": foreign table \"%s\" skips them",
											name), true);
	SPI_connect();
	if (SPI_execute(statement, false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "could not create foreign table \"%s\"", name);
	SPI_finish();
	PG_RETURN_TEXT_P(cstring_to_text(quote_identifier(name)));
}
