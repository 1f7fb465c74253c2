/*
 * jobs.c
 *		Functions that importer jobs need beyond SQL: they list the files of a
 *		foreign table, and load a single file.
 *
 * Jobs themselves are functions of the extension's script, in PL/pgSQL.
 *
 * A job remembers a loaded file by its identity: inode, size, and time of its
 * last change of content.  So a file may be renamed or get other permissions; a
 * file that is written to becomes another file.  The device is not part of the
 * identity, because its number may change when the machine starts.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/table.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "foreign/fdwapi.h"
#include "miscadmin.h"
#include "parser/parser.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "load/load.h"
#include "reader/reader.h"
#include "wire/identity.h"
#include "table/decompress.h"
#include "table/interrupts.h"
#include "table/listing.h"
#include "table/memory.h"
#include "table/release.h"
#include "table/source.h"
#include "table/text.h"

#define CSV_FILE_COLUMNS	4
#define CSV_LOAD_COLUMNS	5

/* bytes to read at a time, to see whether the last record is whole */
#define CSV_LOOK_BYTES		(1024 * 1024)

/*
 * the options of a foreign table; the user needs SELECT on some of its columns
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

/*
 * Is the table's only file not empty, and does a line break end its last
 * record?  The dialect's table tells records apart; headers are records here.
 */
static bool
ends_in_break(const CsvTable *table)
{
	CsvMemory	memory = csv_context_memory(CurrentMemoryContext);
	CsvReaderOptions options = table->reader;
	CsvSource  *source = csv_source_create(table);
	CsvReader  *reader;
	uint8_t    *bytes;
	uint64_t	nbytes;
	uint64_t	start = 0;
	bool		any = false;
	bool		at_end = false;
	uint8_t		state = CSV_STATE_RECORD_START;

	if (!csv_source_open_next(source, NULL) || !csv_source_is_regular(source))
		return true;
	options.header_rows = 0;
	options.interrupted = csv_process_interrupts;
	reader = csv_reader_create(&memory, &options);
	(void) csv_reader_open(reader, csv_source_read, source);
	(void) csv_reader_rest(reader, &nbytes);
	bytes = palloc(nbytes + CSV_LOOK_BYTES);
	memcpy(bytes, csv_reader_rest(reader, &nbytes), nbytes);
	while (!at_end)
	{
		size_t		nread = csv_source_read(source, bytes + nbytes,
											CSV_LOOK_BYTES - CSV_CLASS_BYTES - 1);
		uint64_t	until;

		nbytes += nread;
		any |= nbytes > 0;
		at_end = nread == 0;

		/* the class of a byte may depend on its neighbours */
		until = at_end ? nbytes : nbytes - Min(nbytes - start, CSV_CLASS_BYTES);
		state = csv_pass_bytes(csv_reader_dialect(reader), state, bytes, start,
							   until,
							   nbytes);
		start = until > 0;
		nbytes -= until - start;
		memmove(bytes, bytes + until - start, nbytes);
	}
	return any && state == CSV_STATE_RECORD_START;
}

/*
 * Is the last record of a file whole?  True for a file that cannot be read, and
 * for a compressed file: loading it fails if it cannot be read or is cut off.
 */
static bool
ends_whole(const CsvTable *table, const char *filename)
{
	CsvTable	one = *table;
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext context;
	volatile bool whole = true;

	if (csv_compression_of(filename,
						   table->compression) != CSV_COMPRESSION_NONE)
		return true;
	context = AllocSetContextCreate(outer, "csv_gpu_fdw file",
									ALLOCSET_DEFAULT_SIZES);
	PG_TRY();
	{
		MemoryContextSwitchTo(context);
		csv_begin_step();
		csv_source_choose_file(&one, filename);
		whole = ends_in_break(&one);
		csv_end_step();
	}
	PG_CATCH();
	{
		if (!csv_leave_step())
			PG_RE_THROW();
		FlushErrorState();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(context);
	return whole;
}

/* may a job load the file? */
static bool
is_whole(const CsvTable *table, const char *filename,
		 const CsvFileIdentity *identity)
{
	return csv_has_rested(identity->modified, CSV_REST_SECONDS) ||
		ends_whole(table, filename);
}

/* the identity of a file, without the device, whose number may change */
static char *
format_identity(const CsvFileIdentity *file)
{
	return psprintf(UINT64_FORMAT ":" INT64_FORMAT ":" INT64_FORMAT ".%09d",
					(uint64) file->inode, (int64) file->size,
					(int64) file->modified / 1000000000,
					(int) (file->modified % 1000000000));
}

static char *
file_identity(const CsvTable *table, const char *filename)
{
	CsvFileIdentity identity;
	struct stat st;

	csv_check_links(&table->rights, filename, CSV_ACCESS_READ);
	if (csv_table_stat(table, filename, &st) != 0)
		csv_fail_on_file("could not stat file \"%s\": %m", filename, "read");
	identity = csv_file_identity(&st);
	return format_identity(&identity);
}

static void __attribute__((noreturn))
fail_as_changed(const char *filename)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("file \"%s\" changed while it was loaded", filename)));
}

/* the error context callback: a position is in this SQL */
static void
tell_sql(void *arg)
{
	internalerrposition(geterrposition());
	internalerrquery(arg);
	errposition(0);
}

PG_FUNCTION_INFO_V1(csv_gpu_check_sql);

/*
 * csv_gpu_check_sql(sql text): what only a job's failure shows comes too late
 */
Datum
csv_gpu_check_sql(PG_FUNCTION_ARGS)
{
	char	   *sql;
	ErrorContextCallback callback = {error_context_stack, tell_sql, NULL};

	csv_begin_function(fcinfo, "strict text -> void");
	callback.arg = sql = text_to_cstring(PG_GETARG_TEXT_PP(0));
	error_context_stack = &callback;
	(void) raw_parser(sql, RAW_PARSE_DEFAULT);
	error_context_stack = callback.previous;
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(csv_gpu_files);

/*
 * csv_gpu_files(source regclass) returns a row per file.  A file that cannot be
 * looked at gets a row with only its name, so that the user sees the others.
 */
Datum
csv_gpu_files(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	CsvTable   *table;
	char	  **names;
	int			nnames;

	csv_begin_function(fcinfo,
					   "strict regclass -> setof text text boolean boolean");
	table = get_source(PG_GETARG_OID(0));
	csv_prefer_pattern(table, WARNING);
	csv_source_files(table, &names, &nnames);
	for (int i = 0; i < nnames; i++)
	{
		struct stat st;
		Datum		values[CSV_FILE_COLUMNS];
		bool		nulls[CSV_FILE_COLUMNS] = {false};

		CHECK_FOR_INTERRUPTS();

		/*
		 * a job loads a file by its name; a NOTICE of a job would not be seen
		 */
		if (!csv_check_filename(WARNING, names[i]))
			continue;
		values[0] = CStringGetTextDatum(names[i]);
		if (csv_table_stat(table, names[i], &st) != 0)
			nulls[1] = nulls[2] = nulls[3] = true;
		else if (!S_ISREG(st.st_mode))
			continue;
		else
		{
			CsvFileIdentity identity = csv_file_identity(&st);
			bool		whole = is_whole(table, names[i], &identity);

			values[1] = CStringGetTextDatum(format_identity(&identity));
			values[2] = BoolGetDatum(whole &&
									 csv_has_settled(identity.modified));
			values[3] = BoolGetDatum(whole);
		}
		tuplestore_putvalues(result->setResult, result->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

/*
 * ERROR if a file of the table is not whole by now: half a record may have been
 * loaded
 */
static void
check_whole(Oid source)
{
	CsvTable   *table = get_source(source);
	char	  **names;
	int			nnames;

	if (table->filename == NULL)
		return;
	csv_prefer_pattern(table, DEBUG1);
	csv_source_files(table, &names, &nnames);
	for (int i = 0; i < nnames; i++)
	{
		struct stat st;
		CsvFileIdentity identity;

		CHECK_FOR_INTERRUPTS();
		if (csv_table_stat(table, names[i], &st) != 0 ||
			!S_ISREG(st.st_mode))
			continue;
		identity = csv_file_identity(&st);
		if (!is_whole(table, names[i], &identity))
			fail_as_changed(csv_shown_filename(names[i]));
	}
}

/* the symbol of version 0.1 */
PG_FUNCTION_INFO_V1(csv_gpu_load_file);

Datum
csv_gpu_load_file(PG_FUNCTION_ARGS)
{
	csv_fail_as_older();
}

PG_FUNCTION_INFO_V1(csv_gpu_load_file_2);

/*
 * csv_gpu_load_file(source, target, filename, mode, columns, rejects, freeze,
 * on_rewrite, duplicates, key, filter, expressions, new_columns, only_check)
 * loads one of the source's files, and returns the identity by which a job
 * remembers it.  ERROR if the file changed meanwhile.  Without a file name, it
 * loads all files, or their new records, as a job does.
 */
Datum
csv_gpu_load_file_2(PG_FUNCTION_ARGS)
{
	char	   *filename = NULL;
	CsvLoadRequest request;
	CsvLoadResult result;
	Datum		values[CSV_LOAD_COLUMNS];
	bool		nulls[CSV_LOAD_COLUMNS] = {false};
	TupleDesc	tupdesc;
	CsvTable   *table;
	char	   *identity = NULL;

	csv_begin_function(fcinfo,
					   "regclass regclass text text text[] regclass boolean text text text[] text jsonb "
					   "text boolean -> bigint bigint bigint text text");
	(void) get_call_result_type(fcinfo, NULL, &tupdesc);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(2))
		filename = text_to_cstring(PG_GETARG_TEXT_PP(2));

	/* the name may have a megabyte: do not match or quote it */
	if (filename != NULL && strlen(filename) >= MAXPGPATH)
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("file name is longer than %d bytes", MAXPGPATH - 1)));
	csv_load_get_request(&request, fcinfo, 4, 3, 7);
	request.filename = filename;
	request.of_job = true;
	request.only_check = !PG_ARGISNULL(13) && PG_GETARG_BOOL(13);

	/* the user must learn nothing about files that are not the table's */
	table = get_source(request.source);
	if (filename != NULL)
	{
		csv_prefer_pattern(table, DEBUG1);
		csv_source_choose_file(table, filename);
		identity = file_identity(table, filename);
	}
	csv_load(&request, &result);

	/* a file of another shape is not loaded, and empties no table */
	if (result.is_all_bad && !request.is_new_records)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("\"%s\" has only bad records, %lld of them",
						filename != NULL ? csv_shown_filename(filename) :
						get_rel_name(request.source),
						(long long) result.skipped),
				 errhint("csv_gpu_errors() shows why.")));
	if (identity != NULL &&
		strcmp(identity, file_identity(table, filename)) != 0)
		fail_as_changed(filename);
	if (filename == NULL && !request.is_new_records && !request.only_check)
		check_whole(request.source);
	values[0] = Int64GetDatum(result.loaded);
	values[1] = Int64GetDatum(result.skipped);
	values[2] = Int64GetDatum(result.bytes);
	nulls[3] = identity == NULL;
	if (identity != NULL)
		values[3] = CStringGetTextDatum(identity);
	nulls[4] = result.choices == NULL;
	if (result.choices != NULL)
		values[4] = CStringGetTextDatum(result.choices);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values,
											 nulls));
}
