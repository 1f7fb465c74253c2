/*
 * copy_to.c
 *		COPY TO by our own formatters (csv_gpu_fdw.copy).
 *
 * Bytes that are written cannot be taken back.  So it is decided before the first byte
 * whether PostgreSQL's COPY must do the work, and from then on ERRORs are raised here,
 * as COPY raises them.  The steps and their order are COPY's (BeginCopyTo() and
 * DoCopyTo() in copyto.c); only records are made in another way.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "commands/copy.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "executor/tuptable.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/analyze.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "storage/bufmgr.h"
#include "storage/fd.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/backend_progress.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "output/copy_to.h"
#include "output/record_scan.h"
#include "plan/plan_state.h"

/* COPY is as fast for smaller tables */
#define CSV_LEAST_BYTES		(256 * 1024)

/* bytes that are written at a time, or sent between reports of progress */
#define CSV_WRITE_BYTES		(64 * 1024)

/* the receiver of a query's rows, too */
typedef struct CopyTo
{
	DestReceiver receiver;
	const CopyStmt *stmt;
	ParseState *pstate;
	Relation	relation;		/* NULL: a query */
	QueryDesc  *query;			/* NULL: the relation is scanned here */
	CustomScan *scan;			/* makes records in processes of the query, or NULL ... */
	CopyFormatOptions options;
	TupleDesc	tupdesc;		/* of the relation, or of a query's rows */
	List	   *attnums;

	CsvJob	   *job;
	CsvWriter  *writer;
	StringInfoData output;
	MemoryContext row_context;

	FILE	   *file;			/* NULL: the frontend */
	int64		nbytes;			/* written */
	int64		reported;		/* shown in pg_stat_progress_copy */
	uint64		nrows;
} CopyTo;

/* ---- may it be done here? ---- */

bool
csv_has_privilege(Relation relation, const Bitmapset *attnums,
				  AclMode privilege)
{
	Oid			relid = RelationGetRelid(relation);
	int			attnum = -1;

	if (pg_class_aclcheck(relid, GetUserId(), privilege) == ACLCHECK_OK)
		return true;
	while ((attnum = bms_next_member(attnums, attnum)) >= 0)
		if (pg_attribute_aclcheck(relid, (AttrNumber) attnum, GetUserId(),
								  privilege) != ACLCHECK_OK)
			return false;
	return true;
}

void
csv_check_relation(Query *query, Relation relation)
{
	List	   *relids;
	List	   *others;
	bool		has_policies;
	ListCell   *cell;

	extract_query_dependencies((Node *) query, &relids, &others, &has_policies);
	foreach(cell, relids)
		if (lfirst_oid(cell) != RelationGetRelid(relation))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("another relation has taken the name of table \"%s\"",
							RelationGetRelationName(relation))));
}

char *
csv_quote_relation(Relation relation)
{
	return quote_qualified_identifier(get_namespace_name(RelationGetNamespace(relation)),
									  RelationGetRelationName(relation));
}

void
csv_append_columns(StringInfo sql, Relation relation, const List *attnums)
{
	const char *separator = "";
	ListCell   *cell;

	foreach(cell, attnums)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(relation),
											  lfirst_int(cell) - 1);

		appendStringInfo(sql, "%s%s", separator, quote_identifier(NameStr(att->attname)));
		separator = ", ";
	}
}

void
csv_append_select(StringInfo sql, Relation relation, const List *attnums)
{
	appendStringInfoString(sql, "SELECT ");
	csv_append_columns(sql, relation, attnums);
	appendStringInfo(sql, " FROM ONLY %s", csv_quote_relation(relation));
}

/* SELECT the columns FROM ONLY the table, as a query */
static Query *
table_query(const CopyTo *copy)
{
	StringInfoData sql;
	Query	   *query;

	initStringInfo(&sql);
	csv_append_select(&sql, copy->relation, copy->attnums);
	query = parse_analyze_fixedparams(linitial_node(RawStmt, pg_parse_query(sql.data)),
									  sql.data, NULL, 0, NULL);
	csv_check_relation(query, copy->relation);
	return linitial_node(Query, QueryRewrite(query));
}

/*
 * Do the rows of the table come from elsewhere?  Another library that keeps them changes
 * the plan of a SELECT.
 */
static bool
is_kept_elsewhere(const CopyTo *copy)
{
	const PlannedStmt *stmt;
	const Plan *plan;

	if (!csv_is_plan_hooked() && set_rel_pathlist_hook == NULL)
		return false;
	stmt = pg_plan_query(table_query(copy), "", 0, NULL);
	plan = stmt->planTree;
	return (!IsA(plan, SeqScan) && !IsA(plan, IndexOnlyScan)) ||
		rt_fetch(((const Scan *) plan)->scanrelid, stmt->rtable)->relid !=
		RelationGetRelid(copy->relation);
}

/* returns an obstacle that is known before the table is opened, or NULL */
static const char *
find_obstacle(const CopyStmt *stmt)
{
	if (stmt->is_program)
		return has_privs_of_role(GetUserId(), ROLE_PG_EXECUTE_SERVER_PROGRAM) ? NULL :
			"the user may not run programs of the server";
	if (stmt->filename == NULL)
		return whereToSendOutput == DestRemote ? NULL : "there is no frontend";
	if (!is_absolute_path(stmt->filename))
		return "the file's name is not absolute";
	return has_privs_of_role(GetUserId(), ROLE_PG_WRITE_SERVER_FILES) ? NULL :
		"the user may not write files of the server";
}

/* open the table; returns an obstacle or NULL.  COPY raises the ERRORs. */
static const char *
begin_table(CopyTo *copy, bool is_forced)
{
	ParseNamespaceItem *item;
	Bitmapset  *attnums = NULL;
	ListCell   *cell;

	copy->relation = table_openrv(copy->stmt->relation, AccessShareLock);
	item = addRangeTableEntryForRelation(copy->pstate, copy->relation, AccessShareLock,
										 NULL, false, false);
	copy->tupdesc = RelationGetDescr(copy->relation);
	copy->attnums = CopyGetAttnums(copy->tupdesc, copy->relation, copy->stmt->attlist);
	if (copy->relation->rd_rel->relkind != RELKIND_RELATION)
		return "it is not a table";
	foreach(cell, copy->attnums)
		attnums = bms_add_member(attnums, lfirst_int(cell));
	if (!csv_has_privilege(copy->relation, attnums, ACL_SELECT))
		return "the user may not read the table";
	if (check_enable_rls(RelationGetRelid(copy->relation), InvalidOid, true) ==
		RLS_ENABLED)
		return "row-level security is enabled for the table";
	if (!is_forced && RelationGetNumberOfBlocks(copy->relation) <
		CSV_LEAST_BYTES / BLCKSZ)
		return "it is short";
	if (is_kept_elsewhere(copy))
		return "another library keeps its rows";
	csv_ask_permissions(item, ACL_SELECT, attnums);
	return NULL;
}

/* analyze the query; returns an obstacle or NULL */
static const char *
begin_query(CopyTo *copy, const PlannedStmt *pstmt, Query **query)
{
	RawStmt    *raw = makeNode(RawStmt);
	List	   *rewritten;

	/* COPY may analyze the statement again */
	raw->stmt = copyObject(copy->stmt->query);
	raw->stmt_location = pstmt->stmt_location;
	raw->stmt_len = pstmt->stmt_len;
	rewritten = pg_analyze_and_rewrite_fixedparams(raw, copy->pstate->p_sourcetext,
												   NULL, 0, NULL);
	if (list_length(rewritten) != 1)
		return "rules have made another number of queries";
	*query = linitial_node(Query, rewritten);
	if ((*query)->utilityStmt != NULL ||
		((*query)->commandType != CMD_SELECT && (*query)->returningList == NIL))
		return "it is not a query that returns rows";
	return NULL;
}

/* ---- set-up ---- */

/* can a scan of the table be parallel? */
static bool
is_large(const CopyTo *copy)
{
	return max_parallel_workers_per_gather > 0 &&
		!RelationUsesLocalBuffers(copy->relation) && copy->attnums != NIL &&
		RelationGetNumberOfBlocks(copy->relation) >= (BlockNumber) min_parallel_table_scan_size;
}

static void
start_query(CopyTo *copy, Query *query, CsvRowOrder order)
{
	PlannedStmt *plan = csv_record_scan_plan(query, copy->pstate->p_sourcetext, order);

	copy->scan = csv_record_scan_pieces(plan);
	if (copy->relation != NULL && copy->scan == NULL)
		return;
	PushCopiedSnapshot(GetActiveSnapshot());
	UpdateActiveSnapshotCommandId();
	copy->query = CreateQueryDesc(plan, copy->pstate->p_sourcetext,
								  GetActiveSnapshot(), InvalidSnapshot,
								  &copy->receiver, NULL, NULL, 0);
	ExecutorStart(copy->query, 0);
	copy->tupdesc = copy->scan == NULL ? copy->query->tupDesc :
		ExecCleanTypeFromTL(query->targetList);
	copy->attnums = CopyGetAttnums(copy->tupdesc, NULL, NIL);
}

static void
check_force_quote(const CopyTo *copy)
{
	List	   *names = copy->options.force_quote;
	ListCell   *cell;

	foreach(cell, names == NIL ? NIL : CopyGetAttnums(copy->tupdesc, copy->relation, names))
		if (!list_member_int(copy->attnums, lfirst_int(cell)))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
					 errmsg("FORCE_QUOTE column \"%s\" not referenced by COPY",
							NameStr(TupleDescAttr(copy->tupdesc, lfirst_int(cell) - 1)->attname))));
}

static void
begin_records(CopyTo *copy)
{
	copy->job = csv_job_create(&(CsvUnloadPlan) {
		.copy = &copy->options, .tupdesc = copy->tupdesc, .attnums = copy->attnums,
		.directory = "", .compression = CSV_COMPRESSION_NONE
	}, copy->scan != NULL);
	copy->writer = csv_writer_begin(copy->job);
	if (copy->scan != NULL)
		csv_record_scan_set_job(copy->scan, copy->job);
	initStringInfo(&copy->output);
	copy->row_context = AllocSetContextCreate(CurrentMemoryContext, "COPY TO",
											  ALLOCSET_DEFAULT_SIZES);
}

/* ---- where the bytes go ---- */

static void
open_file(CopyTo *copy)
{
	const char *name = copy->stmt->filename;
	mode_t		mask = umask(S_IWGRP | S_IWOTH);

	PG_TRY();
	{
		copy->file = AllocateFile(name, PG_BINARY_W);
	}
	PG_FINALLY();
	{
		umask(mask);
	}
	PG_END_TRY();
	if (copy->file == NULL)
	{
		int			code = errno;

		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\" for writing: %m", name),
				 (code == ENOENT || code == EACCES) ?
				 errhint("COPY TO instructs the PostgreSQL server process to write a file. "
						 "You may want a client-side facility such as psql's \\copy.") : 0));
	}
}

static void
show_progress(CopyTo *copy)
{
	csv_show_written(copy->nbytes, (int64) copy->nrows);
	copy->reported = copy->nbytes;
}

/* the 'H' message; all columns are text */
static void
tell_frontend(const CopyTo *copy)
{
	int			ncolumns = list_length(copy->attnums);
	StringInfoData message;

	pq_beginmessage(&message, 'H');
	pq_sendbyte(&message, 0);
	pq_sendint16(&message, (uint16) ncolumns);
	for (int i = 0; i < ncolumns; i++)
		pq_sendint16(&message, 0);
	pq_endmessage(&message);
}

static void
open_output(CopyTo *copy)
{
	const CopyStmt *stmt = copy->stmt;

	if (stmt->is_program)
	{
		copy->file = OpenPipeStream(stmt->filename, PG_BINARY_W);
		if (copy->file == NULL)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not execute command \"%s\": %m", stmt->filename)));
	}
	else if (stmt->filename != NULL)
		open_file(copy);
	csv_show_copy_to(copy->relation != NULL ? RelationGetRelid(copy->relation) : InvalidOid,
					 stmt->filename == NULL ? PROGRESS_COPY_TYPE_PIPE :
					 stmt->is_program ? PROGRESS_COPY_TYPE_PROGRAM : PROGRESS_COPY_TYPE_FILE);
	if (copy->file == NULL)
		tell_frontend(copy);
}

static void
close_program(CopyTo *copy)
{
	int			status = ClosePipeStream(copy->file);

	if (status == -1)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not close pipe to external command: %m")));
	if (status != 0)
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("program \"%s\" failed", copy->stmt->filename),
				 errdetail_internal("%s", wait_result_to_str(status))));
}

static void
write_bytes(CopyTo *copy, const char *bytes, int n)
{
	if (n > 0 && (fwrite(bytes, (size_t) n, 1, copy->file) != 1 || ferror(copy->file)))
	{
		if (!copy->stmt->is_program)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not write to COPY file: %m")));

		/* how the program ended says more */
		if (errno == EPIPE)
		{
			close_program(copy);
			errno = EPIPE;
		}
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not write to COPY program: %m")));
	}
	copy->nbytes += n;
	show_progress(copy);
}

static void
write_records(CopyTo *copy)
{
	write_bytes(copy, copy->output.data, copy->output.len);
	copy->output.len = 0;
}

static void
end_record(CopyTo *copy)
{
	StringInfo	output = &copy->output;

	if (copy->file != NULL)
	{
		if (output->len >= CSV_WRITE_BYTES)
			write_records(copy);
		return;
	}
	/* a CopyData message; pqformat.c keeps the type here */
	output->cursor = 'd';
	pq_endmessage_reuse(output);
	copy->nbytes += output->len;
	output->len = 0;
	if (copy->nbytes - copy->reported >= CSV_WRITE_BYTES)
		show_progress(copy);
}

static void
close_output(CopyTo *copy)
{
	const CopyStmt *stmt = copy->stmt;

	if (copy->file == NULL)
	{
		show_progress(copy);
		pq_putemptymessage('c');
		return;
	}
	write_records(copy);
	if (stmt->is_program)
		close_program(copy);
	else if (FreeFile(copy->file) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not close file \"%s\": %m", stmt->filename)));
}

/* ---- rows ---- */

static void
add_row(CopyTo *copy, TupleTableSlot *slot)
{
	MemoryContext outer = MemoryContextSwitchTo(copy->row_context);

	MemoryContextReset(copy->row_context);
	slot_getallattrs(slot);
	csv_writer_format(copy->writer, slot->tts_values, slot->tts_isnull, &copy->output);
	copy->nrows++;
	end_record(copy);
	MemoryContextSwitchTo(outer);
}

static void
copy_table(CopyTo *copy)
{
	TableScanDesc scan = table_beginscan(copy->relation, GetActiveSnapshot(), 0, NULL);
	TupleTableSlot *slot = table_slot_create(copy->relation, NULL);

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		add_row(copy, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
}

/* write to the file; few bytes wait, since sorted rows come one by one */
static void
add_bytes(CopyTo *copy, const char *bytes, int n)
{
	if (copy->output.len + n > CSV_WRITE_BYTES)
		write_records(copy);
	if (n > CSV_WRITE_BYTES)
		write_bytes(copy, bytes, n);
	else
		appendBinaryStringInfoNT(&copy->output, bytes, n);
}

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	add_row((CopyTo *) self, slot);
	return true;
}

static bool
receive_piece(TupleTableSlot *slot, DestReceiver *self)
{
	CopyTo	   *copy = (CopyTo *) self;
	CsvRecords	piece;
	const char *record;

	csv_records_take(slot, copy->query->planstate, &piece);
	copy->nrows += (uint64) piece.nrecords;
	if (copy->file != NULL)
		add_bytes(copy, piece.bytes, piece.nbytes);
	while (copy->file == NULL && piece.nrecords > 0)
	{
		int			length = csv_records_next(&piece, &record);

		appendBinaryStringInfoNT(&copy->output, record, length);
		end_record(copy);
	}
	csv_records_release(&piece);
	return true;
}

static void
end_query(CopyTo *copy)
{
	ExecutorFinish(copy->query);
	ExecutorEnd(copy->query);
	FreeQueryDesc(copy->query);
	PopActiveSnapshot();
}

/* ---- the statement ---- */

static void
run(CopyTo *copy, Query *query)
{
	if (copy->relation == NULL)
		start_query(copy, query, CSV_ORDER_OF_PLAN);
	check_force_quote(copy);
	if (copy->relation != NULL && is_large(copy))
		start_query(copy, table_query(copy), CSV_ORDER_OF_QUERY);
	begin_records(copy);
	open_output(copy);
	csv_writer_header(copy->writer, &copy->output);
	if (copy->output.len > 0)
		end_record(copy);
	if (copy->query == NULL)
		copy_table(copy);
	else
	{
		copy->receiver.receiveSlot = copy->scan != NULL ? receive_piece : receive_row;
		csv_executor_run(copy->query);
		end_query(copy);
	}
	csv_job_end(copy->job);
	close_output(copy);
	pgstat_progress_end_command();
}

const char *
csv_copy_to(const PlannedStmt *pstmt, const char *query_text, bool is_forced,
			uint64 *nrows)
{
	CopyTo		copy = {
		.receiver = *None_Receiver, .stmt = (const CopyStmt *) pstmt->utilityStmt
	};
	Query	   *query = NULL;
	const char *obstacle = find_obstacle(copy.stmt);

	if (obstacle != NULL)
		return obstacle;
	copy.pstate = make_parsestate(NULL);
	copy.pstate->p_sourcetext = query_text;
	if (copy.stmt->relation != NULL)
		obstacle = begin_table(&copy, is_forced);
	if (obstacle == NULL)
	{
		ProcessCopyOptions(copy.pstate, &copy.options, false, copy.stmt->options);
		if (!csv_copy_is_csv(&copy.options) && !csv_copy_is_text(&copy.options))
			obstacle = "the format is neither csv nor text";
		else if (copy.relation != NULL)
			csv_check_permissions(copy.pstate);
		else
			obstacle = begin_query(&copy, pstmt, &query);
	}
	if (obstacle == NULL)
		run(&copy, query);
	*nrows = copy.nrows;
	if (copy.relation != NULL)
		table_close(copy.relation, NoLock);
	free_parsestate(copy.pstate);
	return obstacle;
}
