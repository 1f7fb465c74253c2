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
#include "fmgr.h"
#include "foreign/fdwapi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "load/load.h"
#include "scan/errors.h"
#include "wire/identity.h"
#include "table/source.h"
#include "table/text.h"

#define CSV_FILE_COLUMNS	3
#define CSV_LOAD_COLUMNS	4

/*
 * The options of a foreign table, on which the user needs SELECT (some columns
 * are enough).
 */
static CsvTable *
get_source(Oid relid)
{
	Relation	relation = csv_open_source(relid);
	CsvTable   *table;

	if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck_all(relid, GetUserId(), ACL_SELECT,
								  ACLMASK_ANY) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_TABLE,
					   RelationGetRelationName(relation));
	table = csv_table_get(relid);
	table_close(relation, AccessShareLock);
	return table;
}

/* what is remembered of a file: no device, whose number may be another one later */
static char *
format_identity(const CsvFileIdentity *file)
{
	return psprintf(UINT64_FORMAT ":" INT64_FORMAT ":" INT64_FORMAT ".%09d",
					(uint64) file->inode, (int64) file->size,
					(int64) file->modified / 1000000000,
					(int) (file->modified % 1000000000));
}

static char *
file_identity(const char *filename)
{
	CsvFileIdentity identity;
	struct stat st;

	if (stat(filename, &st) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not stat file \"%s\": %m", filename)));
	identity = csv_file_identity(&st);
	return format_identity(&identity);
}

PG_FUNCTION_INFO_V1(csv_gpu_files);

/*
 * csv_gpu_files(source regclass): a row per file.  Of one that cannot be looked
 * at, only its name: it is no reason not to see the others.
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

		/* a file is loaded by its name; nobody sees a NOTICE of a job */
		if (!csv_check_filename(WARNING, names[i]))
			continue;
		values[0] = CStringGetTextDatum(names[i]);
		if (stat(names[i], &st) != 0)
			nulls[1] = nulls[2] = true;
		else if (S_ISREG(st.st_mode))
		{
			CsvFileIdentity identity = csv_file_identity(&st);

			values[1] = CStringGetTextDatum(format_identity(&identity));
			values[2] = BoolGetDatum(csv_has_settled(identity.modified));
		}
		else
			continue;
		tuplestore_putvalues(result->setResult, result->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
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
	CsvLoadRequest request;
	CsvLoadResult result;
	Datum		values[CSV_LOAD_COLUMNS];
	bool		nulls[CSV_LOAD_COLUMNS] = {false};
	TupleDesc	tupdesc;
	char	   *identity;

	/* not to match or to quote what may be a megabyte */
	if (strlen(filename) >= MAXPGPATH)
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("file name is longer than %d bytes", MAXPGPATH - 1)));
	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "csv_gpu_load_file: return type must be a row type");
	memset(&request, 0, sizeof(request));
	request.source = PG_GETARG_OID(0);
	request.target = PG_GETARG_OID(1);
	request.filename = filename;

	/* nothing is to be learnt of files that are not the table's */
	csv_source_choose_file(get_source(request.source), filename);
	identity = file_identity(filename);
	csv_load(&request, &result);
	if (strcmp(identity, file_identity(filename)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("file \"%s\" changed while it was loaded", filename)));
	values[0] = Int64GetDatum(result.loaded);
	values[1] = Int64GetDatum(result.skipped);
	values[2] = Int64GetDatum(result.bytes);
	values[3] = CStringGetTextDatum(identity);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc),
													  values, nulls)));
}
