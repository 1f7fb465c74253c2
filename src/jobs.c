/*
 * jobs.c
 *		What importer jobs need beyond SQL: the files of a foreign table, and
 *		loads of one of them.
 *
 * Jobs themselves are functions of the extension's script, in PL/pgSQL.
 *
 * A file that was loaded is remembered by its identity: inode, size, and time
 * of its last change of content.  So it may be renamed or get other rights; one
 * that is written to is another file.  The device is no part of it, as its
 * number may change when the machine starts.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "foreign/fdwapi.h"
#include "funcapi.h"
#include "import.h"
#include "miscadmin.h"
#include "source.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#define CSV_FILE_COLUMNS	3
#define CSV_LOAD_COLUMNS	3	/* of csv_gpu_load(), that are passed on */

/*
 * The options of a foreign table, on which the user needs SELECT, be it on some
 * columns.
 */
static CsvTable *
get_source(Oid relid)
{
	Relation	relation = table_open(relid, AccessShareLock);
	CsvTable   *table;

	if (RelationGetForm(relation)->relkind != RELKIND_FOREIGN_TABLE ||
		GetFdwRoutineByRelId(relid)->ImportForeignSchema !=
		csv_import_foreign_schema)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a foreign table of csv_gpu_fdw",
						RelationGetRelationName(relation))));
	if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck_all(relid, GetUserId(), ACL_SELECT,
								  ACLMASK_ANY) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_TABLE,
					   RelationGetRelationName(relation));
	table = csv_table_get(relid);
	table_close(relation, AccessShareLock);
	return table;
}

static char *
file_identity(const char *filename, struct stat *st)
{
	if (stat(filename, st) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not stat file \"%s\": %m", filename)));
	return psprintf("%llu:%lld:%lld.%09ld", (unsigned long long) st->st_ino,
					(long long) st->st_size, (long long) st->st_mtim.tv_sec,
					(long) st->st_mtim.tv_nsec);
}

/* nothing is to be learnt of files that are not the table's */
static void
check_has_file(const CsvTable *table, const char *filename)
{
	char	  **names;
	int			nnames;

	csv_source_files(table, &names, &nnames);
	for (int i = 0; i < nnames; i++)
		if (strcmp(names[i], filename) == 0)
			return;
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_FILE),
			 errmsg("\"%s\" is no file of foreign table \"%s\"",
					filename, table->name)));
}

PG_FUNCTION_INFO_V1(csv_gpu_files);

/*
 * csv_gpu_files(source regclass): a row per file.  A file has settled if it was
 * left alone for a second: until then it may be written to and show the same
 * times.
 */
Datum
csv_gpu_files(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	CsvTable   *table;
	char	  **names;
	int			nnames;

	InitMaterializedSRF(fcinfo, 0);
	table = get_source(PG_GETARG_OID(0));
	csv_source_files(table, &names, &nnames);
	for (int i = 0; i < nnames; i++)
	{
		struct stat st;
		Datum		values[CSV_FILE_COLUMNS];
		bool		nulls[CSV_FILE_COLUMNS] = {false};

		CHECK_FOR_INTERRUPTS();
		values[1] = CStringGetTextDatum(file_identity(names[i], &st));
		if (!S_ISREG(st.st_mode))
			continue;
		values[0] = CStringGetTextDatum(names[i]);
		values[2] = BoolGetDatum(st.st_mtim.tv_sec + 1 < time(NULL));
		tuplestore_putvalues(result->setResult, result->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

/* run csv_gpu_load(), which is in the schema of this function */
static void
run_load(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	char	   *schema = get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid));
	char	   *query = psprintf("SELECT records_loaded, records_skipped, bytes_read FROM %s($1, $2)",
								 quote_qualified_identifier(schema,
															"csv_gpu_load"));
	Oid			types[] = {REGCLASSOID, REGCLASSOID};
	Datum		arguments[] = {PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)};

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_with_args(query, lengthof(types), types, arguments, NULL,
							  false, 0) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "csv_gpu_load() returned no row");
	for (int i = 0; i < CSV_LOAD_COLUMNS; i++)
		values[i] = Int64GetDatum(DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
															  SPI_tuptable->tupdesc,
															  i + 1,
															  &nulls[i])));
	SPI_finish();
}

PG_FUNCTION_INFO_V1(csv_gpu_load_file);

/*
 * csv_gpu_load_file(source regclass, target regclass, filename text): one of the
 * source's files, and what it is to be remembered by.  ERROR where it changed
 * meanwhile: nobody knows which part of it was read.
 */
Datum
csv_gpu_load_file(PG_FUNCTION_ARGS)
{
	char	   *filename = text_to_cstring(PG_GETARG_TEXT_PP(2));
	Datum		values[CSV_LOAD_COLUMNS + 1];
	bool		nulls[CSV_LOAD_COLUMNS + 1] = {false};
	TupleDesc	tupdesc;
	struct stat st;
	char	   *identity;
	CsvRestriction before;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "csv_gpu_load_file: return type must be a row type");
	check_has_file(get_source(PG_GETARG_OID(0)), filename);
	identity = file_identity(filename, &st);
	before = csv_source_restrict((CsvRestriction) {PG_GETARG_OID(0), filename});
	PG_TRY();
	{
		run_load(fcinfo, values, nulls);
	}
	PG_FINALLY();
	{
		csv_source_restrict(before);
	}
	PG_END_TRY();
	if (strcmp(identity, file_identity(filename, &st)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("file \"%s\" changed while it was loaded", filename)));
	values[CSV_LOAD_COLUMNS] = CStringGetTextDatum(identity);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc),
													  values, nulls)));
}
