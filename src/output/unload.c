/*
 * unload.c
 *		csv_gpu_unload(): writes the rows of a query to files.
 *
 * The query becomes a subquery of SELECT csv_gpu_write(job, its columns), so that
 * PostgreSQL's parallel aggregation writes files in all processes of its plan
 * (write_rows.c).  Arguments cost nothing to pass, while a record must be formed
 * from the columns first; so a record is used only for columns that are more than a
 * function's arguments.  With "ordered", the leader writes what the query returns.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "foreign/foreign.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_func.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "storage/fd.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/backend_progress.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "output/staging.h"
#include "output/writer.h"
#include "table/listing.h"
#include "table/option_value.h"

#define CSV_RESULT_COLUMNS	3

/* the largest file */
#define CSV_MOST_FILE_BYTES	PG_INT64_MAX / 2

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
	ARG_OVERWRITE
};

/* the receiver of an ordered query's rows, too */
typedef struct Unload
{
	DestReceiver receiver;
	const char *text;			/* of the query */
	char	   *path;
	bool		ordered;
	bool		overwrite;
	CopyFormatOptions copy;
	CsvUnloadPlan plan;
	char	   *suffix;			/* of files by key */

	Query	   *query;			/* as the user wrote it */
	CsvStaging *staging;
	CsvJob	   *job;
	CsvWriter  *writer;			/* ordered */
	MemoryContext row_context;
} Unload;

/* ---- arguments ---- */

static void
check_privileges(void)
{
	if (!has_privs_of_role(GetUserId(), ROLE_PG_WRITE_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for function %s", "csv_gpu_unload"),
				 errdetail("Only roles with privileges of the \"%s\" role may write files of the server.",
						   "pg_write_server_files")));
}

static char *
text_argument(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(arg));
}

/* an option of COPY TO, with its ERRORs */
static List *
add_copy_option(List *options, FunctionCallInfo fcinfo, int arg, char *name)
{
	char	   *value = text_argument(fcinfo, arg);

	return value == NULL ? options :
		lappend(options, makeDefElem(name, (Node *) makeString(value), -1));
}

static void
get_copy_options(Unload *unload, FunctionCallInfo fcinfo)
{
	char	   *format = text_argument(fcinfo, ARG_FORMAT);
	bool		header = PG_ARGISNULL(ARG_HEADER) || PG_GETARG_BOOL(ARG_HEADER);
	List	   *options = NIL;

	if (format == NULL)
		format = "csv";
	if (strcmp(format, "csv") != 0 && strcmp(format, "text") != 0)
		csv_refuse_value("format", format, "The value must be \"csv\" or \"text\".", NULL);
	options = lappend(options, makeDefElem("format", (Node *) makeString(format), -1));
	options = lappend(options, makeDefElem("header", (Node *)
										   makeString(header ? "true" : "false"), -1));
	options = add_copy_option(options, fcinfo, ARG_DELIMITER, "delimiter");
	options = add_copy_option(options, fcinfo, ARG_QUOTE, "quote");
	options = add_copy_option(options, fcinfo, ARG_ESCAPE, "escape");
	options = add_copy_option(options, fcinfo, ARG_NULL, "null");
	options = add_copy_option(options, fcinfo, ARG_ENCODING, "encoding");
	ProcessCopyOptions(NULL, &unload->copy, false, options);
	unload->plan.copy = &unload->copy;
}

static void
get_path(Unload *unload, FunctionCallInfo fcinfo)
{
	unload->path = text_argument(fcinfo, ARG_PATH);
	if (!is_absolute_path(unload->path))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("relative path not allowed for csv_gpu_unload()"),
				 csv_hint_relative(unload->path)));
	canonicalize_path(unload->path);
	if (strcmp(unload->path, "/") == 0)
		csv_refuse_value("path", unload->path, "It is the root directory.", NULL);
}

static void
get_compression(Unload *unload, FunctionCallInfo fcinfo)
{
	char	   *word = text_argument(fcinfo, ARG_COMPRESSION);
	CsvCompression choice = word == NULL ? CSV_COMPRESSION_AUTO : (CsvCompression)
		csv_option_word(makeDefElem("compression", (Node *) makeString(word), -1),
						csv_compression_words);

	/* the path of a directory says nothing */
	if (choice == CSV_COMPRESSION_AUTO && !PG_ARGISNULL(ARG_PARTITION_BY))
		choice = CSV_COMPRESSION_NONE;
	unload->plan.compression = csv_compression_of(unload->path, choice);
	unload->suffix = psprintf(".csv%s",
							  csv_compression_suffix(unload->plan.compression));
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
			csv_option_size(makeDefElem("max_file_size", (Node *)
										makeString(text_argument(fcinfo, ARG_MAX_FILE_SIZE)),
										-1), CSV_MOST_FILE_BYTES);
	if (unload->ordered && !PG_ARGISNULL(ARG_PARTITION_BY))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"ordered\" and \"partition_by\" exclude each other")));
}

/* the attribute number - 1 of a key */
static int
find_key(TupleDesc tupdesc, const char *name)
{
	int			found = -1;

	for (int i = 0; i < tupdesc->natts; i++)
	{
		if (strcmp(NameStr(TupleDescAttr(tupdesc, i)->attname), name) != 0)
			continue;
		if (found >= 0)
			ereport(ERROR,
					(errcode(ERRCODE_AMBIGUOUS_COLUMN),
					 errmsg("column \"%s\" in \"partition_by\" is ambiguous", name)));
		found = i;
	}
	if (found < 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" in \"partition_by\" does not exist", name)));
	return found;
}

static void
get_keys(Unload *unload, ArrayType *array)
{
	TupleDesc	tupdesc = unload->plan.tupdesc;
	Datum	   *names;
	bool	   *nulls;
	int			n;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &names, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		int			att;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("a column in \"partition_by\" is null")));
		att = find_key(tupdesc, TextDatumGetCString(names[i]));
		if (list_member_int(unload->plan.keys, att))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("column \"%s\" stands twice in \"partition_by\"",
							TextDatumGetCString(names[i]))));
		unload->plan.keys = lappend_int(unload->plan.keys, att);
	}
	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"partition_by\" has no columns")));
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

/* SELECT csv_gpu_write(job, columns) FROM (query) */
static Query *
make_writing_query(const Unload *unload, const char *schema)
{
	ParseState *pstate = make_parsestate(NULL);
	List	   *name = list_make2(makeString(pstrdup(schema)), makeString("csv_gpu_write"));
	FuncCall   *call = makeFuncCall(name, NIL, COERCE_EXPLICIT_CALL, -1);
	Query	   *query = makeNode(Query);
	RangeTblEntry *rte =
		addRangeTableEntryForSubquery(pstate, unload->query, makeAlias("query", NIL),
									  false, true)->p_rte;
	RangeTblRef *reference = makeNode(RangeTblRef);
	List	   *arguments =
		list_make1(makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
							 Int64GetDatum(csv_job_handle(unload->job)), false,
							 FLOAT8PASSBYVAL));
	ListCell   *cell;

	reference->rtindex = 1;
	if (unload->plan.is_row)
		arguments = lappend(arguments, makeWholeRowVar(rte, 1, 0, false));
	else
		foreach(cell, unload->query->targetList)
			if (!lfirst_node(TargetEntry, cell)->resjunk)
				arguments = lappend(arguments, makeVarFromTargetEntry(1, lfirst(cell)));
	pstate->p_expr_kind = EXPR_KIND_SELECT_TARGET;
	query->commandType = CMD_SELECT;
	query->canSetTag = true;
	query->hasAggs = true;
	query->targetList =
		list_make1(makeTargetEntry((Expr *) ParseFuncOrColumn(pstate, name, arguments, NULL,
															  call, false, -1),
								   1, "records", false));
	query->rtable = pstate->p_rtable;
	query->jointree = makeFromExpr(list_make1(reference), NULL);
	return query;
}

/* the files that a foreign table reads */
static List *
list_files(Oid relid)
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
		foreach(file, list_files(rte->relid))
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

/* ---- rows of an ordered query ---- */

static void
start_rows(DestReceiver *self, int operation, TupleDesc tupdesc)
{
	Unload	   *unload = (Unload *) self;
	Oid		   *types = palloc(sizeof(Oid) * (size_t) Max(tupdesc->natts, 1));

	for (int i = 0; i < tupdesc->natts; i++)
		types[i] = TupleDescAttr(tupdesc, i)->atttypid;
	unload->writer = csv_writer_begin(unload->job, types);
	unload->row_context = AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_unload row",
												ALLOCSET_DEFAULT_SIZES);
}

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	Unload	   *unload = (Unload *) self;
	MemoryContext outer = MemoryContextSwitchTo(unload->row_context);

	slot_getallattrs(slot);
	csv_writer_add(unload->writer, slot->tts_values, slot->tts_isnull);
	MemoryContextSwitchTo(outer);
	MemoryContextReset(unload->row_context);
	return true;
}

static void
end_rows(DestReceiver *self)
{
	csv_writer_end(((Unload *) self)->writer);
}

static void
ignore(DestReceiver *self)
{
}

/* ---- the function ---- */

/* is the order of rows the same in a parallel plan? */
static bool
keeps_order(const Query *query)
{
	return query->sortClause != NIL;
}

static void
run(Unload *unload, const char *schema)
{
	Query	   *query = unload->ordered ? unload->query :
		make_writing_query(unload, schema);
	int			options = !unload->ordered || keeps_order(query) ?
		CURSOR_OPT_PARALLEL_OK : 0;
	PlannedStmt *plan = pg_plan_query(query, unload->text, options, NULL);
	QueryDesc  *desc;

	desc = CreateQueryDesc(plan, unload->text, GetActiveSnapshot(), InvalidSnapshot,
						   unload->ordered ? &unload->receiver : None_Receiver,
						   NULL, NULL, 0);
	ExecutorStart(desc, 0);
	if (unload->overwrite)
		check_sources(unload, plan);
	csv_executor_run(desc);
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
}

/* a file without records, because nothing else says that there are none */
static void
write_empty(Unload *unload)
{
	csv_writer_end_empty(csv_writer_begin(unload->job, NULL));
}

/* give files their names; a row each */
static void
return_files(Unload *unload, ReturnSetInfo *set)
{
	bool		by_key = unload->plan.keys != NIL;
	CsvWritten *files;
	int			nfiles;

	files = csv_job_files(unload->job, &nfiles);
	for (int i = 0; i < nfiles; i++)
	{
		const CsvWritten *file = &files[i];
		int			number = by_key ? (file->is_alone ? 0 : file->number) :
			nfiles == 1 ? 0 : i + 1;
		char	   *path;

		CHECK_FOR_INTERRUPTS();
		path = csv_staging_add(unload->staging, file->path, file->directory, number,
							   unload->suffix);
		tuplestore_putvalues(set->setResult, set->setDesc,
							 (Datum[CSV_RESULT_COLUMNS]) {
								 CStringGetTextDatum(path), Int64GetDatum(file->nrecords),
								 Int64GetDatum(file->nbytes)
							 }, (bool[CSV_RESULT_COLUMNS]) {false});
		pfree(path);
	}
	csv_staging_end(unload->staging);
}

static void
start_progress(void)
{
	const int	columns[] = {PROGRESS_COPY_COMMAND, PROGRESS_COPY_TYPE};
	const int64 values[] = {PROGRESS_COPY_COMMAND_TO, PROGRESS_COPY_TYPE_FILE};

	pgstat_progress_start_command(PROGRESS_COMMAND_COPY, InvalidOid);
	pgstat_progress_update_multi_param(lengthof(columns), columns, values);
}

/* with the job; `before` is the current job otherwise */
static void
unload_rows(Unload *unload, const char *schema, CsvJob *before, ReturnSetInfo *set)
{
	PG_TRY();
	{
		unload->job = csv_job_create(&unload->plan);
		start_progress();
		run(unload, schema);
		if (unload->plan.keys == NIL && csv_job_is_empty(unload->job))
			write_empty(unload);
		return_files(unload, set);
		pgstat_progress_end_command();
	}
	PG_CATCH();
	{
		csv_job_forget(before);
		PG_RE_THROW();
	}
	PG_END_TRY();
	csv_job_end(unload->job, before);
}

PG_FUNCTION_INFO_V1(csv_gpu_unload);

Datum
csv_gpu_unload(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *set = (ReturnSetInfo *) fcinfo->resultinfo;
	const char *schema = get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid));
	Unload		unload = {
		.receiver = {receive_row, start_rows, end_rows, ignore, DestNone}
	};
	ErrorContextCallback context = {.callback = show_query, .previous = error_context_stack};

	check_privileges();
	get_arguments(&unload, fcinfo);
	InitMaterializedSRF(fcinfo, 0);

	context.arg = unconstify(char *, unload.text);
	error_context_stack = &context;
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	unload.query = analyze(unload.text);
	unload.plan.tupdesc = ExecCleanTypeFromTL(unload.query->targetList);
	if (!PG_ARGISNULL(ARG_PARTITION_BY))
		get_keys(&unload, PG_GETARG_ARRAYTYPE_P(ARG_PARTITION_BY));
	unload.plan.is_row = unload.plan.tupdesc->natts == 0 ||
		unload.plan.tupdesc->natts > FUNC_MAX_ARGS - 2;
	unload.staging = csv_staging_begin(unload.path, unload.plan.keys != NIL,
									   unload.overwrite);
	unload.plan.directory = csv_staging_directory(unload.staging);
	unload_rows(&unload, schema, csv_job_current(), set);
	PopActiveSnapshot();
	error_context_stack = context.previous;
	return (Datum) 0;
}
