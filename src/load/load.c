/*
 * load.c
 *		csv_gpu_load(): the records of a foreign table into a table.
 *
 *	1. Columns of the source are matched with columns of the target.  Conversions
 *	   are prepared as INSERT ... SELECT would do them.
 *	2. Privileges on both relations and on the table of rejects are checked.
 *	3. The source is scanned as by a query for these columns; each row goes to
 *	   insert.c.  Skipped records wait in a tuplestore.  If index entries come
 *	   after the rows, this is done in a subtransaction: if a row is refused,
 *	   everything is read once more, to tell which row.
 *	4. Skipped records are inserted into the table of rejects.
 *
 * With `duplicates`, the source is read once before step 3, to tell rows whose key another row
 * or the target has (verdicts.c).  Rows that update the target's go in by INSERT ... ON
 * CONFLICT, after the others.  All rows do if the statement can do more: for triggers,
 * partitions, row-level security, and a key that another transaction inserts meanwhile.
 *
 * With `rejects`, step 3 is tried.  If a row is refused, the source is read to
 * test each row, and step 3 is tried without those that are refused.  If an
 * index still refuses a row, INSERT ... ON CONFLICT decides row by row.
 *
 * If another library or access method keeps a table's rows, an INSERT statement puts
 * them there (owner.h).  For the target, INSERT ... SELECT replaces step 3.
 *
 * Memory: a context of the call, which is deleted at its end.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_relation.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/rls.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "load/heap_pages.h"
#include "load/indexes.h"
#include "load/insert.h"
#include "load/load.h"
#include "load/owner.h"
#include "load/positions.h"
#include "load/rows.h"
#include "load/transform.h"
#include "output/copy_to.h"
#include "scan/execute.h"
#include "scan/scan.h"
#include "table/listing.h"
#include "table/messages.h"
#include "table/release.h"
#include "table/source.h"

/*
 * The fewest rows that are worth starting threads.  If a run has fewer rows before a
 * row that must go in by itself, the next CSV_WAIT_ROWS rows go in one by one.
 */
#define CSV_LEAST_RUN		256
#define CSV_WAIT_ROWS		1024

/* ---- columns ---- */

/*
 * Returns the expression that assigns a value of the source to the target, or NULL if
 * the value needs no conversion.
 */
static Expr *
assignment(Form_pg_attribute from, AttrNumber attnum, Relation target,
		   Form_pg_attribute to)
{
	Node	   *var = (Node *) makeVar(1, attnum, from->atttypid,
									   from->atttypmod, from->attcollation, 0);
	Node	   *expr = coerce_to_target_type(NULL, var, from->atttypid,
											 to->atttypid, to->atttypmod,
											 COERCION_ASSIGNMENT,
											 COERCE_IMPLICIT_CAST, -1);

	if (expr == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of \"%s\" is of type %s but the source's column \"%s\" is of type %s",
						NameStr(to->attname), RelationGetRelationName(target),
						format_type_be(to->atttypid), NameStr(from->attname),
						format_type_be(from->atttypid)),
				 errhint("Give the source's column a type that can be assigned, or convert it by the argument \"expressions\".")));
	if (expr == var ||
		(IsA(expr, RelabelType) &&
		 (Node *) castNode(RelabelType, expr)->arg == var))
		return NULL;
	return expression_planner((Expr *) expr);
}

/* a new entry for a column of the target */
static CsvLoadColumn *
add_column(CsvMapping *mapping, Relation target, AttrNumber to)
{
	Form_pg_attribute to_att = TupleDescAttr(RelationGetDescr(target), to - 1);
	CsvLoadColumn *column = &mapping->columns[mapping->ncolumns++];

	if (to_att->attgenerated)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
				 errmsg("column \"%s\" of \"%s\" is a generated column",
						NameStr(to_att->attname),
						RelationGetRelationName(target)),
				 errdetail("Generated columns cannot be loaded.")));
	if (bms_is_member(to, mapping->to))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_COLUMN),
				 errmsg("column \"%s\" of \"%s\" is named more than once",
						NameStr(to_att->attname),
						RelationGetRelationName(target))));
	column->to = to - 1;
	mapping->to = bms_add_member(mapping->to, to);
	return column;
}

static void
note_volatile(CsvMapping *mapping, Node *expr)
{
	mapping->is_volatile |= contain_volatile_functions(expr);
	mapping->one_by_one |= contain_volatile_functions_not_nextval(expr);
}

/* NULL: the value needs no change */
static void
set_expr(CsvMapping *mapping, CsvLoadColumn *column, Expr *expr)
{
	mapping->is_identity &= expr == NULL && column->from == column->to;
	if (expr == NULL)
		return;
	column->expr = ExecInitExpr(expr, NULL);
	mapping->any_expr = true;
	note_volatile(mapping, (Node *) expr);
}

static void
map_column(CsvMapping *mapping, TupleDesc source, AttrNumber from,
		   Relation target, AttrNumber to)
{
	CsvLoadColumn *column = add_column(mapping, target, to);
	Form_pg_attribute from_att = TupleDescAttr(source, from - 1);

	column->from = from - 1;
	column->sql = quote_identifier(NameStr(from_att->attname));
	mapping->from = bms_add_member(mapping->from, from);
	set_expr(mapping, column,
			 assignment(from_att, from, target,
						TupleDescAttr(RelationGetDescr(target), to - 1)));
}

static void
init_mapping(CsvMapping *mapping, int ncolumns)
{
	memset(mapping, 0, sizeof(CsvMapping));
	mapping->is_identity = true;
	mapping->columns = palloc0(sizeof(CsvLoadColumn) * Max(ncolumns, 1));
}

/* an entry of the argument "expressions" */
static void
map_expression(CsvMapping *mapping, Relation source, Relation target, const char *name,
			   char *sql)
{
	AttrNumber	to = csv_target_column(target, name);
	CsvLoadColumn *column = add_column(mapping, target, to);
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(target), to - 1);
	Node	   *expr;

	if (att->attidentity == ATTRIBUTE_IDENTITY_ALWAYS)
		ereport(ERROR,
				(errcode(ERRCODE_GENERATED_ALWAYS),
				 errmsg("cannot insert a non-DEFAULT value into column \"%s\"", name),
				 errdetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.",
						   name)));
	/* a comment may be at its end */
	column->sql = psprintf("(%s\n)", sql);
	expr = csv_parse_over(source, sql, att, &mapping->from);
	set_expr(mapping, column, expression_planner((Expr *) expr));
}

static void
map_expressions(CsvMapping *mapping, Relation source, Relation target, Jsonb *expressions)
{
	JsonbIterator *iterator = JsonbIteratorInit(&expressions->root);
	JsonbIteratorToken token;
	JsonbValue	value;
	char	   *name = NULL;

	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (!JB_ROOT_IS_OBJECT(expressions) ||
			(token == WJB_VALUE && value.type != jbvString))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"expressions\" must be an object of columns with their SQL as strings")));
		if (token == WJB_KEY)
			name = pnstrdup(value.val.string.val, value.val.string.len);
		if (token == WJB_VALUE)
			map_expression(mapping, source, target, name,
						   pnstrdup(value.val.string.val, value.val.string.len));
	}
}

/* a column of the source that has values to load */
static bool
is_source_column(TupleDesc source, int i)
{
	return !TupleDescAttr(source, i)->attisdropped &&
		!TupleDescAttr(source, i)->attgenerated;
}

/* returns the names in the argument "columns"; NULL: a column is not loaded */
static char **
get_names(ArrayType *columns, Relation source)
{
	TupleDesc	tupdesc = RelationGetDescr(source);
	Datum	   *values;
	bool	   *isnull;
	char	  **names;
	int			nnames;
	int			nsource = 0;

	if (ARR_NDIM(columns) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("columns must be an array of one dimension")));
	deconstruct_array(columns, TEXTOID, -1, false, TYPALIGN_INT, &values,
					  &isnull, &nnames);
	for (int i = 0; i < tupdesc->natts; i++)
		nsource += is_source_column(tupdesc, i);
	if (nnames != nsource)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"columns\" names %d columns, but \"%s\" has %d",
						nnames, RelationGetRelationName(source), nsource),
				 errhint("NULL leaves a column out.")));
	names = palloc(sizeof(char *) * Max(nnames, 1));
	for (int i = 0; i < nnames; i++)
		names[i] = isnull[i] ? NULL : TextDatumGetCString(values[i]);
	return names;
}

/*
 * By the argument "columns": names in the order of the source's columns.  Without
 * it, each of the source's columns must have a namesake, unless SQL uses it.  An
 * expression takes the place of what its column would get otherwise.
 */
static void
map_columns(CsvMapping *mapping, Relation source, Relation target,
			const CsvLoadRequest *request)
{
	TupleDesc	tupdesc = RelationGetDescr(source);
	char	  **names = request->columns == NULL ? NULL :
		get_names(request->columns, source);
	const Bitmapset *expressed;

	init_mapping(mapping, tupdesc->natts + RelationGetNumberOfAttributes(target));
	if (request->expressions != NULL)
		map_expressions(mapping, source, target, request->expressions);
	expressed = bms_copy(mapping->to);
	mapping->filter = request->filter;
	if (mapping->filter != NULL)
		note_volatile(mapping, csv_parse_over(source, mapping->filter, NULL,
											  &mapping->from));
	for (int i = 0; i < tupdesc->natts; i++)
	{
		const char *name = NameStr(TupleDescAttr(tupdesc, i)->attname);
		AttrNumber	to;

		if (!is_source_column(tupdesc, i))
			continue;
		if (names != NULL && (name = *names++) == NULL)
			continue;
		to = names != NULL ? csv_target_column(target, name) :
			(AttrNumber) attnameAttNum(target, name, false);
		if (bms_is_member(to, expressed) ||
			(to == 0 && bms_is_member(i + 1, mapping->from)))
			continue;
		if (to == 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of \"%s\" does not exist in \"%s\"",
							name, RelationGetRelationName(source),
							RelationGetRelationName(target)),
					 errhint("Name the target's columns in the argument \"columns\", in the order of the source's; NULL leaves one out.")));
		map_column(mapping, tupdesc, i + 1, target, to);
	}
}

/* attribute numbers of the target, in the mapping's order */
static List *
mapped_attnums(const CsvMapping *mapping)
{
	List	   *attnums = NIL;

	for (int i = 0; i < mapping->ncolumns; i++)
		attnums = lappend_int(attnums, mapping->columns[i].to + 1);
	return attnums;
}

/* ---- rejects ---- */

static TupleDesc
reject_tupdesc(void)
{
	TupleDesc	tupdesc = CreateTemplateTupleDesc(CSV_REJECT_COLUMNS);
	AttrNumber	attnum = 0;

	TupleDescInitEntry(tupdesc, ++attnum, "filename", TEXTOID, -1, 0);
	TupleDescInitEntry(tupdesc, ++attnum, "record", INT8OID, -1, 0);
	TupleDescInitEntry(tupdesc, ++attnum, "line", INT8OID, -1, 0);
	TupleDescInitEntry(tupdesc, ++attnum, "byte_offset", INT8OID, -1, 0);
	TupleDescInitEntry(tupdesc, ++attnum, "column_number", INT4OID, -1, 0);
	TupleDescInitEntry(tupdesc, ++attnum, "column_name", TEXTOID, -1, 0);
	TupleDescInitEntry(tupdesc, ++attnum, "error", TEXTOID, -1, 0);
	TupleDescInitEntry(tupdesc, ++attnum, "message", TEXTOID, -1, 0);
	TupleDescInitEntry(tupdesc, ++attnum, "raw", TEXTOID, -1, 0);
	TupleDescInitEntry(tupdesc, ++attnum, "loaded_at", TIMESTAMPTZOID, -1, 0);
	TupleDescInitEntry(tupdesc, ++attnum, "source", REGCLASSOID, -1, 0);
	TupleDescFinalize(tupdesc);
	return tupdesc;
}

/* a CsvSkippedFn: report the record as a scan does, and keep it */
static bool
reject_record(void *arg, const CsvSkipped *skipped)
{
	CsvLoad    *load = arg;

	csv_load_report(load, skipped, &load->bad);
	csv_keep_record(load, skipped);
	return true;
}

/* open the table of rejects: it takes the columns that it has, and must have one */
static void
open_rejects(CsvLoad *load, Oid relid)
{
	Relation	relation;

	load->skipped = reject_record;
	load->rejects = csv_insert_open(relid);
	relation = csv_insert_relation(load->rejects);
	load->reject_tupdesc = reject_tupdesc();
	init_mapping(&load->reject_mapping, CSV_REJECT_COLUMNS);
	for (int i = 0; i < CSV_REJECT_COLUMNS; i++)
	{
		const char *name = NameStr(TupleDescAttr(load->reject_tupdesc, i)->attname);
		AttrNumber	to = (AttrNumber) attnameAttNum(relation, name, false);

		if (to != 0)
			map_column(&load->reject_mapping, load->reject_tupdesc, i + 1,
					   relation, to);
	}
	if (load->reject_mapping.ncolumns == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("\"%s\" has no column for rejected records",
						RelationGetRelationName(relation)),
				 errhint("Its columns are those of csv_gpu_errors(), loaded_at and source.")));
	csv_insert_give(load->rejects, load->reject_mapping.to);
	csv_insert_check(load->rejects, false);
	load->rejects_owner = csv_find_owner(relation,
										 mapped_attnums(&load->reject_mapping));
	load->rejected = tuplestore_begin_heap(false, false, work_mem);
}

/* insert rejected records by an INSERT statement */
static void
state_rejects(CsvLoad *load, TupleTableSlot *row)
{
	const CsvMapping *mapping = &load->reject_mapping;
	StringInfoData sql;
	Oid			types[CSV_REJECT_COLUMNS];
	SPIPlanPtr	plan;

	initStringInfo(&sql);
	csv_append_insert(&sql, csv_insert_relation(load->rejects),
					  mapped_attnums(mapping));
	for (int i = 0; i < mapping->ncolumns; i++)
	{
		types[i] = TupleDescAttr(load->reject_tupdesc, mapping->columns[i].from)->atttypid;
		appendStringInfo(&sql, "%s$%d", i == 0 ? "VALUES (" : ", ", i + 1);
	}
	appendStringInfoChar(&sql, ')');
	csv_insert_close(load->rejects);

	SPI_connect();
	plan = SPI_prepare(sql.data, mapping->ncolumns, types);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	while (tuplestore_gettupleslot(load->rejected, true, false, row))
	{
		Datum		values[CSV_REJECT_COLUMNS];
		char		nulls[CSV_REJECT_COLUMNS];
		int			result;

		slot_getallattrs(row);
		for (int i = 0; i < mapping->ncolumns; i++)
		{
			values[i] = row->tts_values[mapping->columns[i].from];
			nulls[i] = row->tts_isnull[mapping->columns[i].from] ? 'n' : ' ';
		}
		result = SPI_execute_plan(plan, values, nulls, false, 0);
		if (result < 0)
			elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(result));
	}
	SPI_finish();
}

/* a CsvNextRowFn */
static bool
next_reject(void *arg)
{
	CsvLoad    *load = arg;

	if (!tuplestore_gettupleslot(load->rejected, true, false, load->row))
		return false;
	csv_insert_place(load->rejects, NULL, 0);
	slot_getallattrs(load->row);
	csv_map_row(&load->reject_mapping, load->row, load->slot, load->econtext);
	return true;
}

static void
insert_rejects(CsvLoad *load)
{
	ExecDropSingleTupleTableSlot(load->row);
	load->row = MakeSingleTupleTableSlot(load->reject_tupdesc, &TTSOpsMinimalTuple);
	if (load->rejects_owner != NULL)
		state_rejects(load, load->row);
	else
	{
		(void) csv_insert_begin(load->rejects, false, false, CSV_INDEX_AT_ONCE);
		load->slot = csv_insert_slot(load->rejects);
		(void) csv_insert_all(load->rejects, next_reject, load);
	}
	tuplestore_end(load->rejected);
}

/* ---- load ---- */

/* check SELECT on the columns that are loaded; if rejects are kept, on all columns */
static void
check_source(CsvLoad *load, bool keeps_rejects)
{
	ParseState *pstate = make_parsestate(NULL);
	ParseNamespaceItem *item =
		addRangeTableEntryForRelation(pstate, load->source, AccessShareLock,
									  NULL, false, false);

	csv_ask_permissions(item, ACL_SELECT, load->mapping.from);
	csv_check_permissions(pstate);
	free_parsestate(pstate);
	if (keeps_rejects)
		csv_check_whole_select(load->source);
}

/*
 * For each attribute of the source, returns the attribute of the target that takes its
 * value unchanged; NULL if some values are converted, or rows are filtered.
 */
static int *
mapped_places(const CsvMapping *mapping, int natts)
{
	int		   *places;

	if (mapping->any_expr || mapping->filter != NULL)
		return NULL;
	places = palloc0(sizeof(int) * Max(natts, 1));
	for (int i = 0; i < mapping->ncolumns; i++)
		places[mapping->columns[i].from] = mapping->columns[i].to;
	return places;
}

/* how many rows are tried at a time, if some rows must go in by themselves */
typedef struct CsvPace
{
	uint32		most;			/* as many as there were between such rows */
	uint32		wait;			/* rows until the next try */
} CsvPace;

/* insert the next rows of the scan many at a time, if they allow that */
static void
load_runs(CsvTableScan *scan, CsvInsert *target, const CsvVerdicts *verdicts,
		  CsvPace *pace)
{
	CsvRowRun	run;

	if (pace->wait > 0)
	{
		pace->wait--;
		return;
	}
	while (csv_table_scan_run(scan, &run))
	{
		uint32		nrows;
		bool		stopped;

		CHECK_FOR_INTERRUPTS();
		if (verdicts != NULL)
			run.nrows = (uint32) Min(run.nrows, csv_verdicts_free(verdicts, csv_load_place(scan)));
		if (run.nrows < CSV_LEAST_RUN)
		{
			/* do not look again at the row that ends the run before its turn */
			pace->wait = run.nrows;
			return;
		}
		run.nrows = Min(run.nrows, pace->most);
		nrows = csv_insert_run(target, &run, &stopped);
		scan->row += nrows;
		if (!stopped)
		{
			pace->most = Min(pace->most, PG_UINT32_MAX / 2) * 2;
			continue;
		}
		pace->most = Max(nrows, CSV_LEAST_RUN);
		if (nrows < CSV_LEAST_RUN)
			pace->wait = CSV_WAIT_ROWS;
		return;
	}
}

static void
insert_pages(CsvLoad *load)
{
	CsvInsert  *target = load->target;
	int		   *places = mapped_places(&load->mapping,
									   load->row->tts_tupleDescriptor->natts);
	CsvPace		pace = {.most = PG_UINT32_MAX};

	if (places != NULL &&
		!csv_insert_takes_runs(target, places, load->table->settings.cpu_threads))
		places = NULL;
	while (csv_load_next(load))
	{
		CHECK_FOR_INTERRUPTS();
		if (!csv_insert_row(target))
			load->scan->nexcluded++;
		if (places != NULL)
			load_runs(load->scan, target, load->verdicts, &pace);
	}
	load->nloaded += csv_insert_end(target);
}

static void
load_rows(CsvLoad *load, bool freeze, bool may_go_by_pages, CsvIndexing indexing)
{
	CsvInsert  *target = load->target;
	bool		by_pages;

	if (load->mapping.one_by_one)
		csv_insert_one_by_one(target);
	by_pages = csv_insert_begin(target, freeze, may_go_by_pages, indexing);

	/* receivers need the records' bytes, which resident columns do not have */
	csv_load_scan(load, load->skipped == NULL ? CSV_SCAN_RESIDENT :
			   load->verdicts != NULL ? CSV_SCAN_PLACES : 0, load->skipped);
	if (load->verdicts != NULL)
		csv_verdicts_rewind(load->verdicts);
	load->scan->shows_progress = true;
	if (by_pages)
		insert_pages(load);
	else
		load->nloaded += csv_insert_all(target, csv_load_next, load);
	csv_table_scan_statistics(load->scan, &load->statistics);
	csv_load_scan_end(load);
}

/* after this ERROR, would loading in another way be useless? */
static bool
is_final(int sqlstate)
{
	switch (ERRCODE_TO_CATEGORY(sqlstate))
	{
		case ERRCODE_TO_CATEGORY(ERRCODE_TRANSACTION_ROLLBACK):
		case ERRCODE_TO_CATEGORY(ERRCODE_INSUFFICIENT_RESOURCES):
		case ERRCODE_TO_CATEGORY(ERRCODE_OPERATOR_INTERVENTION):
		case ERRCODE_TO_CATEGORY(ERRCODE_SYSTEM_ERROR):
		case ERRCODE_TO_CATEGORY(ERRCODE_INTERNAL_ERROR):
			return true;
		default:
			return sqlstate == ERRCODE_LOCK_NOT_AVAILABLE ||
				sqlstate == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
	}
}

static CsvIndexing
choose_indexing(const CsvLoad *load, bool freeze)
{
	Relation	target = csv_insert_relation(load->target);
	/* -1: it is unknown, and the source may not be read twice */
	int64		nbytes = csv_source_size(load->table).data_bytes;

	/* a COPY: if it fails, COPY repeats it in its own way; and it is not short */
	if (nbytes < 0 && load->table->read != NULL)
		nbytes = CSV_INDEX_LEAST_BYTES;
	if (freeze || load->mapping.is_volatile ||
		target->rd_rel->relkind != RELKIND_RELATION ||
		!target->rd_rel->relhasindex)
		return CSV_INDEX_AT_ONCE;
	return csv_indexes_choose(target, load->source != NULL ? load->source : target, nbytes);
}

/* ON CONFLICT, which returns each row that goes in */
static void
append_conflict(StringInfo sql, const CsvLoad *load)
{
	Relation	target = csv_insert_relation(load->target);
	const char *separator = "SET";
	int			attnum = -1;
	List	   *key = NIL;

	while ((attnum = bms_next_member(load->key, attnum)) >= 0)
		key = lappend_int(key, attnum);
	appendStringInfoString(sql, " ON CONFLICT ");
	if (load->updated != NULL || !load->is_careful ||
		(key != NIL && csv_any_deferrable_index(target)))
	{
		appendStringInfoChar(sql, '(');
		csv_append_columns(sql, target, key);
		appendStringInfoString(sql, ") ");
	}
	appendStringInfoString(sql, load->updated == NULL ? "DO NOTHING" : "DO UPDATE ");
	attnum = -1;
	while ((attnum = bms_next_member(load->updated, attnum)) >= 0)
	{
		const char *name = quote_identifier(NameStr(TupleDescAttr(RelationGetDescr(target),
																  attnum - 1)->attname));

		appendStringInfo(sql, "%s %s = EXCLUDED.%s", separator, name, name);
		separator = ",";
	}
	appendStringInfoString(sql, " RETURNING 1");
}

/* a receiver of rows that a statement returns, which has come with its argument */
typedef struct CsvReturned
{
	DestReceiver receiver;
	CsvLoad    *load;
} CsvReturned;

static bool
receive_row(TupleTableSlot *slot, DestReceiver *receiver)
{
	((CsvReturned *) receiver)->load->is_waiting = false;
	return true;
}

static void
start_receiver(DestReceiver *receiver, int operation, TupleDesc tupdesc)
{
}

static void
end_receiver(DestReceiver *receiver)
{
}

/*
 * Load by INSERT ... SELECT: rows and skipped records as in load_rows().  With duplicates, ON
 * CONFLICT tells which rows go in: the executor asks for the next row when it is done with
 * the last.
 */
static void
load_by_statement(CsvLoad *load)
{
	bool		only_updates = load->taking == CSV_TAKE_UPDATES;
	CsvAwaitedScan *outer = csv_awaited_scan;
	CsvAwaitedScan scan = {
		.table = load->table,
		.shown_relid = RelationGetRelid(csv_insert_relation(load->target)),
		.skipped = only_updates ? csv_ignore_record : load->skipped,
		.arg = load
	};
	CsvReturned returned = {
		{receive_row, start_receiver, end_receiver, end_receiver, DestNone}, load
	};
	SPIExecuteOptions options = {0};
	StringInfoData sql;

	initStringInfo(&sql);
	csv_append_insert(&sql, csv_insert_relation(load->target),
					  mapped_attnums(&load->mapping));
	appendStringInfoString(&sql, "SELECT ");
	for (int i = 0; i < load->mapping.ncolumns; i++)
		appendStringInfo(&sql, "%s%s", i == 0 ? "" : ", ", load->mapping.columns[i].sql);
	appendStringInfo(&sql, " FROM ONLY %s", csv_quote_relation(load->source));
	csv_append_filter(&sql, &load->mapping, true);
	if (load->duplicates > CSV_DUPLICATES_ERROR || load->is_careful)
	{
		append_conflict(&sql, load);
		scan.takes = csv_load_takes;
		scan.places = true;
		options.dest = &returned.receiver;
		load->is_waiting = false;
	}
	if (load->verdicts != NULL)
		csv_verdicts_rewind(load->verdicts);
	csv_insert_close(load->target);
	/* another library may run it by other statements */
	scan.sql = load->owner == NULL ? sql.data : NULL;
	if (scan.takes != NULL)
		csv_insert_tell(load->tested, true);

	SPI_connect();
	csv_awaited_scan = &scan;
	PG_TRY();
	{
		int			result = SPI_execute_extended(sql.data, &options);

		if (result < 0)
			elog(ERROR, "SPI_execute_extended failed: %s",
				 SPI_result_code_string(result));
	}
	PG_FINALLY();
	{
		csv_awaited_scan = outer;
	}
	PG_END_TRY();
	if (scan.takes != NULL)
		csv_insert_tell(load->tested, false);
	if (!scan.has_ended)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("csv_gpu_load() cannot see which records of \"%s\" were read",
						RelationGetRelationName(load->source)),
				 errdetail("Another library has read it in another session."),
				 errhint("Use INSERT statements instead.")));
	load->nloaded += (int64) SPI_processed;
	if (load->owner != NULL && scan.takes != NULL)
	{
		load->nleft_out -= (int64) SPI_processed;
		if (load->nleft_out > 0 && load->rejects != NULL)
			ereport(WARNING,
					(errmsg("rows that \"%s\" had are not among the rejects: %s",
							get_rel_name(scan.shown_relid), load->owner)));
	}
	if (!only_updates)
		load->statistics = scan.statistics;
	SPI_finish();
}

/* the rows that are inserted, perhaps with index entries after them, and then those updated */
static void
load_in_parts(CsvLoad *load)
{
	Oid			relid = RelationGetRelid(csv_insert_relation(load->target));

	load->taking = CSV_TAKE_INSERTED;
	load_rows(load, load->freezes, load->may_go_by_pages, load->indexing);
	if (load->any_updates)
	{
		load->target = csv_insert_open(relid);
		load->taking = CSV_TAKE_UPDATES;
		load_by_statement(load);
	}
}

/* for csv_attempt(): the target is still open afterwards, as `tested` */
static bool
load_on_trial(void *arg)
{
	CsvLoad    *load = arg;

	load->target = csv_insert_open(RelationGetRelid(csv_insert_relation(load->tested)));
	csv_insert_give(load->target, load->mapping.to);
	if (load->by_statement)
		load_by_statement(load);
	else
		load_in_parts(load);
	return true;
}

/* must a statement load all rows, or may the load itself fail for them? */
static bool
needs_statement(const CsvLoad *load)
{
	Relation	target = csv_insert_relation(load->target);
	const TriggerDesc *triggers = target->trigdesc;

	if (load->owner != NULL || (!load->freezes && csv_suits_statement(target)))
		return true;
	if (load->freezes || load->duplicates <= CSV_DUPLICATES_ERROR)
		return false;
	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
		if (!triggers->triggers[i].tgisinternal)
			return true;
	/* a snapshot that lasts may not see the key that is found */
	return target->rd_rel->relkind != RELKIND_RELATION || csv_is_read_once(load) ||
		IsolationUsesXactSnapshot() ||
		check_enable_rls(RelationGetRelid(target), InvalidOid, true) == RLS_ENABLED;
}

/* may rows that the target refuses be told? */
static bool
may_test(const CsvLoad *load)
{
	return load->rejects != NULL && !load->freezes && !csv_is_read_once(load) &&
		csv_insert_relation(load->target)->rd_rel->relkind != RELKIND_VIEW;
}

static bool
is_refusal(int sqlstate)
{
	int			category = ERRCODE_TO_CATEGORY(sqlstate);

	return category == ERRCODE_TO_CATEGORY(ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION) ||
		category == ERRCODE_TO_CATEGORY(ERRCODE_DATA_EXCEPTION);
}

/* for csv_attempt() */
static bool
judge_on_trial(void *arg)
{
	csv_load_judge(arg);
	return true;
}

static void
start_again(CsvLoad *load)
{
	csv_load_report_again(load);
	ExecClearTuple(load->row);
	memset(&load->report.counts, 0, sizeof(load->report.counts));
	if (load->rejected != NULL)
		tuplestore_clear(load->rejected);
	load->nloaded = 0;
	load->nleft_out = 0;
	load->target = load->tested;
	load->taking = CSV_TAKE_BOTH;
}

/*
 * Load the rows, on trial as long as another way is left.  If index entries come after the
 * rows, and a row is refused, nothing is left of the load.  Then rows are inserted with
 * their entries, to tell which row is the first.
 */
static void
load_on_trials(CsvLoad *load, bool settles)
{
	bool		tests = may_test(load);
	Relation	target = csv_insert_relation(load->tested);

	for (;;)
	{
		MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_fdw load",
													  ALLOCSET_DEFAULT_SIZES);
		ErrorData  *error = csv_attempt(load_on_trial, load, context, true);

		MemoryContextDelete(context);
		if (error == NULL)
			break;
		if (is_final(error->sqlerrcode))
			ReThrowError(error);
		start_again(load);
		if (tests && !load->is_careful && is_refusal(error->sqlerrcode))
		{
			load->is_careful = true;
			csv_load_judge(load);
		}
		else if (!load->by_statement &&
				 (settles || (load->is_careful &&
							  !csv_any_deferrable_index(target))) &&
				 (error->sqlerrcode == ERRCODE_UNIQUE_VIOLATION ||
				  error->sqlerrcode == ERRCODE_EXCLUSION_VIOLATION))
		{
			load->by_statement = true;
			/* ON CONFLICT tells which row of a key is the first that goes in */
			if (load->duplicates == CSV_DUPLICATES_FIRST)
				csv_verdicts_drop(&load->verdicts);
			if (load->duplicates == CSV_DUPLICATES_FIRST && load->is_careful)
				csv_load_judge(load);
		}
		else if (load->by_statement || load->is_careful ||
				 load->indexing == CSV_INDEX_AT_ONCE)
			ReThrowError(error);
		else
		{
			load->may_go_by_pages = false;
			load->indexing = CSV_INDEX_AT_ONCE;
			load_in_parts(load);
			return;
		}
		FreeErrorData(error);
	}
	csv_insert_close(load->tested);
}

static void
load_all(CsvLoad *load)
{
	bool		settles = load->duplicates > CSV_DUPLICATES_ERROR;

	load->tested = load->target;
	load->resources = CurrentResourceOwner;
	load->by_statement = needs_statement(load);
	load->taking = CSV_TAKE_BOTH;
	csv_insert_prepare(load->target);
	if (load->owner != NULL && load->freezes)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot freeze the rows of \"%s\": %s",
						RelationGetRelationName(csv_insert_relation(load->target)),
						load->owner)));

	/* ON CONFLICT itself inserts the first row of a key, after BEFORE triggers */
	if (load->duplicates > (load->by_statement ? CSV_DUPLICATES_FIRST : CSV_DUPLICATES_ERROR))
	{
		ErrorData  *error = csv_attempt(judge_on_trial, load, CurrentMemoryContext,
										may_test(load));

		if (error != NULL && !(may_test(load) && is_refusal(error->sqlerrcode)))
			ReThrowError(error);
		load->table->verbosity = load->verbosity;
		load->is_careful = error != NULL;
		if (error != NULL)
			csv_load_judge(load);
	}
	load->indexing = choose_indexing(load, load->freezes);
	load->may_go_by_pages = true;
	if (!load->freezes && (may_test(load) || (!load->by_statement &&
											  (settles || load->indexing != CSV_INDEX_AT_ONCE))))
		load_on_trials(load, settles);
	else
	{
		(void) load_on_trial(load);
		csv_insert_close(load->tested);
	}
	csv_verdicts_drop(&load->verdicts);
	if (load->files != NULL)
		csv_load_check_files(load);
	if (load->rejects != NULL)
	{
		csv_report_end(&load->report, load->statistics.records, true);
		csv_report_log(&load->report);
		insert_rejects(load);
	}
}

/* nothing is loaded */
static void
close_all(CsvLoad *load)
{
	csv_insert_close(load->target);
	if (load->rejects != NULL)
		csv_insert_close(load->rejects);
}

/* ErrorContextCallback.callback: the target's rows may come from an earlier load of all */
static void
hint_positions(void *arg)
{
	if (geterrcode() == ERRCODE_UNIQUE_VIOLATION)
		errhint("If the target has all records of the files already, call csv_gpu_set_positions().");
}

/* there is nothing to load */
/* load the new records, and store how far the files were read */
static void
load_locked(CsvLoad *load, const CsvLoadRequest *request)
{
	Relation	target = csv_insert_relation(load->target);
	CsvGrowth  *growth = csv_growth_begin(load->table, request->schema,
										  RelationGetRelid(target), request->on_rewrite);
	ErrorContextCallback callback = {error_context_stack, hint_positions, NULL};

	if (csv_growth_is_first(growth) && (target->rd_rel->relkind != RELKIND_RELATION ||
										RelationGetNumberOfBlocks(target) > 0))
		error_context_stack = &callback;
	if (csv_growth_is_any(growth))
		load_all(load);
	else
		close_all(load);
	error_context_stack = callback.previous;
	csv_growth_finish(growth);
}

static void
load_new(CsvLoad *load, const CsvLoadRequest *request)
{
	const CsvLoadedPair pair = {
		.source = load->table->relid,
		.target = RelationGetRelid(csv_insert_relation(load->target)),
		.outer = csv_loaded_pair
	};

	csv_positions_lock(pair.source, pair.target);
	csv_loaded_pair = &pair;
	PG_TRY();
	{
		load_locked(load, request);
	}
	PG_FINALLY();
	{
		csv_loaded_pair = pair.outer;
	}
	PG_END_TRY();
}

/* the key, and the columns that are updated; the rights of INSERT ... ON CONFLICT */
static void
choose_key(CsvLoad *load, const CsvLoadRequest *request)
{
	Relation	target = csv_insert_relation(load->target);

	load->duplicates = request->duplicates;
	if (request->duplicates == CSV_DUPLICATES_UNSAID && request->key == NULL)
		return;
	load->key_index = csv_key_index(target, request->key, &load->key);
	if (request->duplicates <= CSV_DUPLICATES_ERROR)
		return;
	for (int i = 0; i < load->mapping.ncolumns; i++)
	{
		int			to = load->mapping.columns[i].to;

		if (request->duplicates == CSV_DUPLICATES_UPDATE &&
			!bms_is_member(to + 1, load->key) &&
			TupleDescAttr(RelationGetDescr(target), to)->attidentity != ATTRIBUTE_IDENTITY_ALWAYS)
			load->updated = bms_add_member(load->updated, to + 1);
	}
	csv_insert_resolve(load->target, load->key, load->updated);
}

void
csv_load(const CsvLoadRequest *request, CsvLoadResult *result)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "csv_gpu_load",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext outer = MemoryContextSwitchTo(context);
	CsvLoad    *load = palloc0(sizeof(CsvLoad));

	load->started = GetCurrentTimestamp();
	load->freezes = request->freeze;
	load->reject_context = AllocSetContextCreate(context, "csv_gpu_fdw reject",
												 ALLOCSET_SMALL_SIZES);
	if (request->new_columns != CSV_NEW_COLUMNS_IGNORE)
		csv_load_new_columns(request);
	load->source = csv_open_source(request->source);
	load->target = csv_insert_open(request->target);
	map_columns(&load->mapping, load->source, csv_insert_relation(load->target), request);
	check_source(load, OidIsValid(request->rejects));
	csv_insert_give(load->target, load->mapping.to);
	choose_key(load, request);
	csv_insert_check(load->target, load->duplicates > CSV_DUPLICATES_ERROR &&
					 !load->freezes);
	load->owner = csv_find_owner(csv_insert_relation(load->target),
								 mapped_attnums(&load->mapping));
	if (OidIsValid(request->rejects))
		open_rejects(load, request->rejects);

	load->table = csv_table_get(RelationGetRelid(load->source));
	csv_table_check(load->table);
	load->table->all_files = true;
	load->verbosity = load->table->verbosity;
	if (request->of_job)
	{
		csv_prefer_pattern(load->table, DEBUG1);
		load->table->choices = makeStringInfo();
	}
	if (request->filename != NULL)
		csv_source_choose_file(load->table, request->filename);
	csv_report_begin(&load->report, load->table);
	load->row = MakeSingleTupleTableSlot(RelationGetDescr(load->source),
										 &TTSOpsVirtual);
	load->econtext = CreateStandaloneExprContext();
	if (request->only_check && load->table->program != NULL &&
		load->duplicates > CSV_DUPLICATES_FIRST)
		csv_load_refuse_twice(load);
	else if (request->only_check)
		close_all(load);
	else if (request->is_new_records)
		load_new(load, request);
	else
		load_all(load);
	ExecDropSingleTupleTableSlot(load->row);
	table_close(load->source, NoLock);

	result->loaded = load->nloaded;
	result->skipped = load->statistics.skipped + load->nleft_out;
	result->bytes = load->statistics.batches.bytes;
	result->is_all_bad = load->statistics.records > 0 &&
		load->statistics.skipped == load->statistics.records;
	result->choices = NULL;
	if (load->table->choices != NULL && load->table->choices->len > 0)
		result->choices = MemoryContextStrdup(outer, load->table->choices->data);
	result->started = load->started;
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(context);
}

/* a CsvSkippedFn */
static bool
skip_row_of_copy(void *arg, const CsvSkipped *skipped)
{
	CsvLoad    *load = arg;

	if (CSV_COPY_DEFAULTS_OF_SKIPPED)
	{
		ResetExprContext(load->econtext);
		csv_insert_fill(load->target, NULL, load->econtext);
	}
	return load->skipped_of_copy(load->copy, skipped);
}

int64
csv_load_fields(CsvTable *table, Oid target, const List *attnums, List *quals,
				CsvSkippedFn skipped, void *arg)
{
	CsvLoad    *load = palloc0(sizeof(CsvLoad));
	TupleDesc	from = CreateTemplateTupleDesc(list_length(attnums));
	Relation	relation;
	ListCell   *cell;

	load->table = table;
	load->skipped = skipped == NULL ? NULL : skip_row_of_copy;
	load->skipped_of_copy = skipped;
	load->copy = arg;
	load->target = csv_insert_open(target);
	relation = csv_insert_relation(load->target);
	csv_insert_for_copy(load->target, table->reader.header_rows, quals);
	init_mapping(&load->mapping, from->natts);
	foreach(cell, attnums)
	{
		AttrNumber	number = (AttrNumber) (foreach_current_index(cell) + 1);
		AttrNumber	to = (AttrNumber) lfirst_int(cell);

		TupleDescCopyEntry(from, number, RelationGetDescr(relation), to);
		map_column(&load->mapping, from, number, relation, to);
	}
	TupleDescFinalize(from);
	csv_insert_give(load->target, load->mapping.to);
	load->row = MakeSingleTupleTableSlot(from, &TTSOpsVirtual);
	load->econtext = CreateStandaloneExprContext();
	load_rows(load, false, true, choose_indexing(load, false));
	ExecDropSingleTupleTableSlot(load->row);
	return load->nloaded;
}

/* the symbol of version 0.1 */
PG_FUNCTION_INFO_V1(csv_gpu_load);

Datum
csv_gpu_load(PG_FUNCTION_ARGS)
{
	csv_fail_as_older();
}

PG_FUNCTION_INFO_V1(csv_gpu_load_2);

/*
 * csv_gpu_load(source, target, columns, rejects, freeze, mode, on_rewrite, duplicates, key,
 * filter, expressions, new_columns)
 */
Datum
csv_gpu_load_2(PG_FUNCTION_ARGS)
{
	CsvLoadRequest request;
	CsvLoadResult result;
	Datum		values[4];
	bool		isnull[4] = {false};
	TupleDesc	tupdesc;

	csv_begin_function(fcinfo, "regclass regclass text[] regclass boolean text text text text[] text jsonb text "
					   "-> bigint bigint bigint interval");
	(void) get_call_result_type(fcinfo, NULL, &tupdesc);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("source and target of csv_gpu_load() must not be null")));

	csv_load_get_request(&request, fcinfo, 2, 5, 6);
	csv_load(&request, &result);

	values[0] = Int64GetDatum(result.loaded);
	values[1] = Int64GetDatum(result.skipped);
	values[2] = Int64GetDatum(result.bytes);
	values[3] = DirectFunctionCall2(timestamp_mi,
									TimestampGetDatum(GetCurrentTimestamp()),
									TimestampGetDatum(result.started));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, isnull));
}
