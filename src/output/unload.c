/*
 * unload.c
 *		csv_gpu_unload(): writes the rows of a query to files.
 *
 * All processes of the query's plan write files (record_scan.c).  With "ordered", the
 * leader writes the records that they make.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parser.h"
#include "storage/fd.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/backend_progress.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "output/record_scan.h"
#include "output/staging.h"
#include "table/decompress.h"
#include "table/listing.h"
#include "table/option_list.h"
#include "table/release.h"
#include "table/text.h"

#define CSV_RESULT_COLUMNS	3

/* the largest file */
#define CSV_MOST_FILE_BYTES	PG_INT64_MAX / 2

/* keys; fewer than the levels of directories that hidden.c removes */
#define CSV_MOST_KEYS		50

/* the arguments of csv_gpu_unload() */
enum
{
	ARG_QUERY,
	ARG_PATH,
	ARG_FORMAT,
	ARG_DELIMITER,
	ARG_QUOTE,
	ARG_ESCAPE,
	ARG_NULL,
	ARG_HEADER,
	ARG_ENCODING,
	ARG_COMPRESSION,
	ARG_PARTITION_BY,
	ARG_MAX_FILE_SIZE,
	ARG_ORDERED,
	ARG_OVERWRITE,
	ARG_FORCE_QUOTE,
	ARG_BOM,
	ARG_RECORD_BOUNDARY
};

/* the receiver of the query's rows, too */
typedef struct Unload
{
	DestReceiver receiver;
	const char *text;			/* of the query */
	char	   *path;
	bool		ordered;
	bool		overwrite;
	CopyFormatOptions copy;
	CsvUnloadPlan plan;

	Query	   *query;			/* as the user wrote it */
	CsvHidden *staging;
	CsvJob	   *job;
	QueryDesc  *desc;
	CsvWriter  *writer;			/* of pieces; NULL: the plan writes files */
	List	   *files;			/* CsvWritten, of all processes */
	MemoryContext context;		/* of the files ... */
	MemoryContext row_context;	/* ... and of a row */
} Unload;

/* ---- arguments ---- */

static char *
text_argument(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(arg));
}

/* the names that an argument has, as String nodes */
static List *
names_argument(FunctionCallInfo fcinfo, int arg, const char *argument)
{
	List	   *names = NIL;
	Datum	   *texts;
	bool	   *nulls;
	int			n;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(arg), TEXTOID, -1, false, TYPALIGN_INT,
					  &texts, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("a column in \"%s\" is null", argument)));
		names = lappend(names, makeString(TextDatumGetCString(texts[i])));
	}
	return names;
}

static DefElem *
text_option(FunctionCallInfo fcinfo, const char *name, int arg)
{
	return makeDefElem(pstrdup(name), (Node *) makeString(text_argument(fcinfo, arg)), -1);
}

/* options of COPY TO, with its ERRORs, and two more */
static void
get_copy_options(Unload *unload, FunctionCallInfo fcinfo)
{
	/* from ARG_FORMAT to ARG_ENCODING */
	static const char *const names[] = {
		"format", "delimiter", "quote", "escape", "null", "header", "encoding"
	};
	List	   *options = NIL;

	for (int arg = ARG_FORMAT; arg <= ARG_ENCODING; arg++)
	{
		char	   *value = NULL;

		if (arg == ARG_HEADER)
			value = PG_ARGISNULL(arg) || PG_GETARG_BOOL(arg) ? "true" : "false";
		else if (!PG_ARGISNULL(arg))
			value = text_argument(fcinfo, arg);
		else if (arg == ARG_FORMAT)
			value = "csv";
		if (arg == ARG_FORMAT && strcmp(value, "csv") != 0 && strcmp(value, "text") != 0)
			csv_refuse_value("format", value, "The value must be \"csv\" or \"text\".", NULL);
		if (value != NULL)
			options = lappend(options, makeDefElem(pstrdup(names[arg - ARG_FORMAT]),
												   (Node *) makeString(value), -1));
	}
	if (!PG_ARGISNULL(ARG_FORCE_QUOTE))
	{
		List	   *names = names_argument(fcinfo, ARG_FORCE_QUOTE, "force_quote");
		bool		all = list_length(names) == 1 && strcmp(strVal(linitial(names)), "*") == 0;

		options = lappend(options, makeDefElem("force_quote", all ? (Node *) makeNode(A_Star) :
											   (Node *) names, -1));
	}
	ProcessCopyOptions(NULL, &unload->copy, false, options);
	unload->plan.copy = &unload->copy;

	if (!PG_ARGISNULL(ARG_RECORD_BOUNDARY))
		unload->plan.crlf =
			csv_option_word(text_option(fcinfo, "record_boundary", ARG_RECORD_BOUNDARY),
							(const CsvWord[]) {{"lf", false}, {"crlf", true}, {NULL, 0}});
	unload->plan.bom = !PG_ARGISNULL(ARG_BOM) && PG_GETARG_BOOL(ARG_BOM);
	if (unload->plan.bom && PG_UTF8 != (unload->copy.file_encoding < 0 ? pg_get_client_encoding() :
										unload->copy.file_encoding))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"bom\" requires encoding => 'UTF8'")));
}

static void
get_path(Unload *unload, FunctionCallInfo fcinfo)
{
	unload->path = text_argument(fcinfo, ARG_PATH);
	if (!is_absolute_path(unload->path))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("relative path not allowed for csv_gpu_unload()"),
				 errhint("Write an absolute path, such as \"/tmp/%s\".",
						 csv_shown_filename(basename(unload->path)))));
	if (strchr(unload->path, '*') != NULL)
		csv_refuse_value("path", unload->path, "It is a pattern.",
						 "Leave out the \"*\": if several files are written, they get numbers.");
	canonicalize_path(unload->path);
	if (strcmp(unload->path, "/") == 0)
		csv_refuse_value("path", unload->path, "It is the root directory.", NULL);
	if (PG_ARGISNULL(ARG_PARTITION_BY))
		unload->path = csv_staging_follow_links(unload->path);
}

static void
get_compression(Unload *unload, FunctionCallInfo fcinfo)
{
	bool		is_file = PG_ARGISNULL(ARG_PARTITION_BY);
	CsvCompression by_suffix = csv_compression_of(unload->path, CSV_COMPRESSION_AUTO);
	CsvCompression choice = PG_ARGISNULL(ARG_COMPRESSION) ? CSV_COMPRESSION_AUTO : (CsvCompression)
		csv_option_word(text_option(fcinfo, "compression", ARG_COMPRESSION),
						csv_compression_words);

	/* the path of a directory says nothing */
	if (choice == CSV_COMPRESSION_AUTO && !is_file)
		choice = CSV_COMPRESSION_NONE;
	unload->plan.compression = csv_compression_of(unload->path, choice);
	if (is_file &&
		(csv_name_without_compression(unload->path, false) < strlen(unload->path) ||
		 (by_suffix != CSV_COMPRESSION_NONE && by_suffix != unload->plan.compression)))
		csv_refuse_value("path", unload->path, "Its suffix is of another compression.",
						 "Write .gz, .zst or .lz4 for gzip, zstd or LZ4; any other suffix goes with each compression.");
}

static void
get_arguments(Unload *unload, FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(ARG_QUERY) || PG_ARGISNULL(ARG_PATH))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("query and path of csv_gpu_unload() must not be null")));
	unload->text = text_argument(fcinfo, ARG_QUERY);
	unload->ordered = !PG_ARGISNULL(ARG_ORDERED) && PG_GETARG_BOOL(ARG_ORDERED);
	unload->overwrite = !PG_ARGISNULL(ARG_OVERWRITE) && PG_GETARG_BOOL(ARG_OVERWRITE);
	get_path(unload, fcinfo);
	get_copy_options(unload, fcinfo);
	get_compression(unload, fcinfo);
	if (!PG_ARGISNULL(ARG_MAX_FILE_SIZE))
		unload->plan.most_bytes =
			csv_option_size(text_option(fcinfo, "max_file_size", ARG_MAX_FILE_SIZE),
							CSV_MOST_FILE_BYTES);
	if (unload->ordered && !PG_ARGISNULL(ARG_PARTITION_BY))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"ordered\" and \"partition_by\" exclude each other")));
}

/* the attribute number of a key */
static int
find_key(TupleDesc tupdesc, const char *name)
{
	int			found = 0;

	for (int i = 0; i < tupdesc->natts; i++)
	{
		if (strcmp(NameStr(TupleDescAttr(tupdesc, i)->attname), name) != 0)
			continue;
		if (found > 0)
			ereport(ERROR,
					(errcode(ERRCODE_AMBIGUOUS_COLUMN),
					 errmsg("column \"%s\" in \"partition_by\" is ambiguous", name)));
		found = i + 1;
	}
	if (found == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" in \"partition_by\" does not exist", name)));
	return found;
}

/* ERROR if no foreign table could read the directories of this key */
static void
check_key(const char *name)
{
	if (!csv_is_path_key(name) || name[0] == '.')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("column name \"%s\" cannot be used in \"partition_by\"", name),
				 errdetail("The name of a directory's key must not begin with a dot, and must contain neither \"/\" nor \"=\".")));
}

static void
get_keys(Unload *unload, const List *names)
{
	TupleDesc	tupdesc = unload->plan.tupdesc;
	int			n = list_length(names);
	ListCell   *cell;

	foreach(cell, names)
	{
		const char *name = strVal(lfirst(cell));
		int			attnum = find_key(tupdesc, name);

		check_key(name);
		if (list_member_int(unload->plan.keys, attnum))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("column \"%s\" stands twice in \"partition_by\"", name)));
		unload->plan.keys = lappend_int(unload->plan.keys, attnum);
	}
	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"partition_by\" has no columns")));
	if (n > CSV_MOST_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("\"partition_by\" has more than %d columns", CSV_MOST_KEYS)));
	if (n == tupdesc->natts)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"partition_by\" leaves no columns for the files")));
}

/* ---- the query ---- */

/* positions in ERRORs are positions in the query */
static void
show_query(void *arg)
{
	int			position = geterrposition();

	if (position <= 0)
		return;
	errposition(0);
	internalerrposition(position);
	internalerrquery(arg);
}

/* parse and analyze it; ERROR if it is not of the kind that is allowed */
static Query *
analyze(const char *text)
{
	List	   *raw = raw_parser(text, RAW_PARSE_DEFAULT);
	Query	   *query = NULL;

	if (list_length(raw) == 1 && IsA(linitial_node(RawStmt, raw)->stmt, SelectStmt))
	{
		List	   *rewritten = pg_analyze_and_rewrite_fixedparams(linitial(raw), text,
																   NULL, 0, NULL);

		if (list_length(rewritten) == 1)
			query = linitial_node(Query, rewritten);
	}
	if (query == NULL || query->commandType != CMD_SELECT || query->hasModifyingCTE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("query of csv_gpu_unload() must be one SELECT, VALUES or TABLE"),
				 errdetail("It must have neither INTO nor a WITH that modifies data.")));
	return query;
}

/* the files that a foreign table reads */
static List *
list_sources(Oid relid)
{
	List	   *files = NIL;
	ListCell   *cell;

	if (csv_is_csv_table(relid))
	{
		const CsvTable *table = csv_table_get(relid);
		char	  **names;
		int			nnames;

		if (table->filename != NULL && csv_expand_pattern(table, true, &names, &nnames))
			for (int i = 0; i < nnames; i++)
				files = lappend(files, names[i]);
		return files;
	}
	foreach(cell, GetForeignTable(relid)->options)
		if (strcmp(lfirst_node(DefElem, cell)->defname, "filename") == 0)
			files = lappend(files, defGetString(lfirst(cell)));
	return files;
}

/* ERROR if the query reads a file that is to be replaced */
static void
check_sources(const Unload *unload, const PlannedStmt *plan)
{
	ListCell   *cell;
	ListCell   *file;

	foreach(cell, plan->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, cell);

		if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_FOREIGN_TABLE)
			continue;
		foreach(file, list_sources(rte->relid))
		{
			CHECK_FOR_INTERRUPTS();
			if (csv_staging_replaces(unload->staging, lfirst(file)))
				ereport(ERROR,
						(errcode(ERRCODE_OBJECT_IN_USE),
						 errmsg("csv_gpu_unload() cannot overwrite a file that its query reads"),
						 errdetail("Table \"%s\" is in the query.",
								   get_rel_name(rte->relid))));
		}
	}
}

/* ---- rows of the query ---- */

static bool
receive_file(TupleTableSlot *slot, DestReceiver *self)
{
	Unload	   *unload = (Unload *) self;
	/* the executor's context ends before the list is read */
	MemoryContext outer = MemoryContextSwitchTo(unload->context);
	CsvWritten *file = palloc(sizeof(CsvWritten));

	slot_getallattrs(slot);
	file->stream = TextDatumGetCString(slot->tts_values[0]);
	file->number = DatumGetInt32(slot->tts_values[1]);
	file->nrecords = DatumGetInt64(slot->tts_values[2]);
	unload->files = lappend(unload->files, file);
	MemoryContextSwitchTo(outer);
	return true;
}

static bool
receive_piece(TupleTableSlot *slot, DestReceiver *self)
{
	Unload	   *unload = (Unload *) self;
	MemoryContext outer = MemoryContextSwitchTo(unload->row_context);
	CsvRecords	piece;
	const char *record;
	int			length;

	csv_records_take(slot, unload->desc->planstate, &piece);
	while (piece.nrecords > 0)
	{
		length = csv_records_next(&piece, &record);
		csv_writer_add_line(unload->writer, record, length);
	}
	csv_records_release(&piece);
	MemoryContextSwitchTo(outer);
	MemoryContextReset(unload->row_context);
	return true;
}

/* ---- the function ---- */

static void
run(Unload *unload)
{
	PlannedStmt *plan = csv_record_scan_plan(unload->query, unload->text,
											 unload->ordered ? CSV_ORDER_OF_QUERY :
											 CSV_ORDER_ANY);
	CustomScan *scan = unload->ordered ? csv_record_scan_pieces(plan) : NULL;

	unload->receiver.receiveSlot = scan != NULL ? receive_piece : receive_file;
	if (scan != NULL)
		unload->writer = csv_writer_begin(unload->job);
	else
		scan = csv_record_scan_files(plan);
	csv_record_scan_set_job(scan, unload->job);
	unload->desc = CreateQueryDesc(plan, unload->text, GetActiveSnapshot(), InvalidSnapshot,
								   &unload->receiver, NULL, NULL, 0);
	ExecutorStart(unload->desc, 0);
	if (unload->overwrite)
		check_sources(unload, plan);
	csv_executor_run(unload->desc);
	ExecutorFinish(unload->desc);
	ExecutorEnd(unload->desc);
	FreeQueryDesc(unload->desc);

	/* without keys, there is a file even without records */
	if (unload->writer == NULL && unload->files == NIL && unload->plan.keys == NIL)
		unload->writer = csv_writer_begin(unload->job);
	if (unload->writer != NULL)
		unload->files = csv_writer_end(unload->writer, true);
}

static int
compare_files(const ListCell *a, const ListCell *b)
{
	const CsvWritten *first = lfirst(a);
	const CsvWritten *second = lfirst(b);
	int			order = strcmp(first->stream, second->stream);

	return order != 0 ? order : first->number - second->number;
}

/* all files, in order; the records of several processes in one file are added up */
static List *
list_files(List *written)
{
	List	   *files = NIL;
	ListCell   *cell;

	list_sort(written, compare_files);
	foreach(cell, written)
	{
		if (files != NIL && compare_files(list_tail(files), cell) == 0)
			((CsvWritten *) llast(files))->nrecords += ((CsvWritten *) lfirst(cell))->nrecords;
		else
			files = lappend(files, lfirst(cell));
	}
	return files;
}

/* the number in the name of a file; 0: it has none, because it is the only one */
static int
shown_number(const Unload *unload, List *files, int i)
{
	const CsvWritten *file = list_nth(files, i);
	const CsvWritten *next = i + 1 < list_length(files) ? list_nth(files, i + 1) : NULL;

	if (unload->plan.keys == NIL)
		return list_length(files) == 1 ? 0 : i + 1;
	return file->number == 1 && (next == NULL || strcmp(next->stream, file->stream) != 0) ?
		0 : file->number;
}

/* give files their names; a row each */
static void
return_files(Unload *unload, ReturnSetInfo *set)
{
	bool		by_key = unload->plan.keys != NIL;
	char	   *suffix = psprintf(".csv%s", csv_compression_suffix(unload->plan.compression));
	List	   *files = list_files(unload->files);
	ListCell   *cell;

	foreach(cell, files)
	{
		const CsvWritten *file = lfirst(cell);
		MemoryContext outer = MemoryContextSwitchTo(unload->row_context);
		char	   *written = csv_written_name(file->stream, file->number);
		int64		nbytes;
		char	   *path;

		CHECK_FOR_INTERRUPTS();
		path = csv_staging_add(unload->staging, written, by_key ? file->stream : NULL,
							   shown_number(unload, files, foreach_current_index(cell)),
							   suffix, &nbytes);
		tuplestore_putvalues(set->setResult, set->setDesc,
							 (Datum[CSV_RESULT_COLUMNS]) {
								 CStringGetTextDatum(csv_shown_filename(path)),
								 Int64GetDatum(file->nrecords),
								 Int64GetDatum(nbytes)
							 }, (bool[CSV_RESULT_COLUMNS]) {false});
		MemoryContextSwitchTo(outer);
		MemoryContextReset(unload->row_context);
	}
	csv_staging_end(unload->staging);
}

PG_FUNCTION_INFO_V1(csv_gpu_unload);

Datum
csv_gpu_unload(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *set = (ReturnSetInfo *) fcinfo->resultinfo;
	Unload		unload = {.receiver = *None_Receiver, .context = CurrentMemoryContext};
	ErrorContextCallback context = {.callback = show_query, .previous = error_context_stack};

	csv_begin_function(fcinfo, "text text text text text text text boolean text text text[] "
					   "text boolean boolean text[] boolean text -> setof text bigint bigint");
	PreventCommandIfParallelMode("csv_gpu_unload()");
	csv_check_role(ROLE_PG_WRITE_SERVER_FILES, "for function csv_gpu_unload",
				   "write files of the server");
	get_arguments(&unload, fcinfo);

	context.arg = unconstify(char *, unload.text);
	error_context_stack = &context;
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	unload.query = analyze(unload.text);
	unload.plan.tupdesc = ExecCleanTypeFromTL(unload.query->targetList);
	if (!PG_ARGISNULL(ARG_PARTITION_BY))
		get_keys(&unload, names_argument(fcinfo, ARG_PARTITION_BY, "partition_by"));
	unload.staging = csv_staging_begin(unload.path, unload.plan.keys != NIL,
									   unload.overwrite);
	unload.plan.directory = unload.staging->path;
	unload.plan.place = unload.staging->place;
	unload.job = csv_job_create(&unload.plan, true);
	unload.row_context = AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_unload row",
											   ALLOCSET_DEFAULT_SIZES);
	csv_show_copy_to(InvalidOid, PROGRESS_COPY_TYPE_FILE);
	run(&unload);
	return_files(&unload, set);
	pgstat_progress_end_command();
	csv_job_end(unload.job);
	PopActiveSnapshot();
	error_context_stack = context.previous;
	return (Datum) 0;
}
