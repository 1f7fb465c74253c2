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
 * If another library or access method keeps a table's rows, an INSERT statement puts
 * them there (owner.h).  For the target, INSERT ... SELECT replaces step 3.
 *
 * Memory: a context of the call, which is deleted at its end.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_type.h"
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
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "load/heap_pages.h"
#include "load/indexes.h"
#include "load/insert.h"
#include "load/load.h"
#include "load/owner.h"
#include "load/positions.h"
#include "output/copy_to.h"
#include "scan/execute.h"
#include "scan/scan.h"
#include "table/listing.h"
#include "table/messages.h"
#include "table/release.h"
#include "table/source.h"

/* the columns of csv_gpu_errors(), then loaded_at and source */
#define CSV_REJECT_COLUMNS	(CSV_ERROR_COLUMNS + 2)

/*
 * The fewest rows that are worth starting threads.  If a run has fewer rows before a
 * row that must go in by itself, the next CSV_WAIT_ROWS rows go in one by one.
 */
#define CSV_LEAST_RUN		256
#define CSV_WAIT_ROWS		1024

/* how a value gets from an attribute of the source to an attribute of the target */
typedef struct CsvLoadColumn
{
	int			from;			/* attribute number - 1 */
	int			to;				/* attribute number - 1 */
	ExprState  *expr;			/* over a slot of the source; NULL: no change */
} CsvLoadColumn;

typedef struct CsvMapping
{
	int			ncolumns;
	CsvLoadColumn *columns;
	Bitmapset  *from;			/* attribute numbers */
	Bitmapset  *to;
	bool		any_expr;
	bool		is_volatile;	/* one of the expressions is */
	bool		is_identity;	/* no attribute changes its number or value */
} CsvMapping;

typedef struct CsvLoad
{
	CsvTable   *table;
	Relation	source;			/* NULL: it is not in the catalog */
	TupleTableSlot *row;		/* of the source */
	CsvMapping	mapping;
	CsvInsert  *target;
	TupleTableSlot *slot;		/* of the target */
	bool		is_mapped;		/* row is not the target's */
	CsvTableScan *scan;
	ExprContext *econtext;		/* for the conversions of a row */
	const char *owner;			/* csv_find_owner() of the target */
	CsvIndexing indexing;		/* of the target */
	int64		nloaded;
	CsvScanStatistics statistics;

	CsvSkippedFn skipped;		/* of this load; NULL: the scan's own report */
	CsvSkippedFn skipped_of_copy;
	void	   *copy;			/* its argument */

	/* skipped records, if they are kept */
	CsvInsert  *rejects;		/* NULL: they are not kept */
	const char *rejects_owner;
	CsvMapping	reject_mapping;
	TupleDesc	reject_tupdesc;
	Tuplestorestate *rejected;
	CsvReport	report;			/* instead of the scan's */
	TimestampTz started;
} CsvLoad;

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
				 errhint("Give the source's column a type that can be assigned.")));
	if (expr == var ||
		(IsA(expr, RelabelType) &&
		 (Node *) castNode(RelabelType, expr)->arg == var))
		return NULL;
	return expression_planner((Expr *) expr);
}

static void
map_column(CsvMapping *mapping, TupleDesc source, AttrNumber from,
		   Relation target, AttrNumber to)
{
	Form_pg_attribute to_att = TupleDescAttr(RelationGetDescr(target), to - 1);
	CsvLoadColumn *column = &mapping->columns[mapping->ncolumns++];
	Expr	   *expr;

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
	column->from = from - 1;
	column->to = to - 1;
	expr = assignment(TupleDescAttr(source, from - 1), from, target, to_att);
	if (expr != NULL)
	{
		column->expr = ExecInitExpr(expr, NULL);
		mapping->any_expr = true;
		mapping->is_volatile |= contain_volatile_functions((Node *) expr);
	}
	mapping->is_identity &= column->expr == NULL && from == to;
	mapping->from = bms_add_member(mapping->from, from);
	mapping->to = bms_add_member(mapping->to, to);
}

static void
init_mapping(CsvMapping *mapping, TupleDesc source)
{
	memset(mapping, 0, sizeof(CsvMapping));
	mapping->is_identity = true;
	mapping->columns = palloc0(sizeof(CsvLoadColumn) * Max(source->natts, 1));
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
 * By the argument "columns": names in the order of the source's columns.  Without it, each of
 * the source's columns must have a namesake.
 */
static void
map_columns(CsvMapping *mapping, Relation source, Relation target,
			const CsvLoadRequest *request)
{
	TupleDesc	tupdesc = RelationGetDescr(source);
	char	  **names = request->columns == NULL ? NULL :
		get_names(request->columns, source);

	init_mapping(mapping, tupdesc);
	for (int i = 0; i < tupdesc->natts; i++)
	{
		const char *name = NameStr(TupleDescAttr(tupdesc, i)->attname);
		AttrNumber	to;

		if (!is_source_column(tupdesc, i))
			continue;
		if (names != NULL && (name = *names++) == NULL)
			continue;
		to = (AttrNumber) attnameAttNum(target, name, false);
		if (to == 0 && names != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" does not exist",
							name, RelationGetRelationName(target))));
		if (to == 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of \"%s\" does not exist in \"%s\"",
							name, RelationGetRelationName(source),
							RelationGetRelationName(target)),
					 request->of_job ? errhint("Give the columns of both tables the same names.") :
					 errhint("Name the target's columns in the argument \"columns\", in the order of the source's; NULL leaves one out.")));
		map_column(mapping, tupdesc, i + 1, target, to);
	}
}

/* attribute numbers of the target, or of the source, in the mapping's order */
static List *
mapped_attnums(const CsvMapping *mapping, bool of_target)
{
	List	   *attnums = NIL;

	for (int i = 0; i < mapping->ncolumns; i++)
		attnums = lappend_int(attnums, (of_target ? mapping->columns[i].to :
										mapping->columns[i].from) + 1);
	return attnums;
}

/* fill in a row of the target from a row of the source */
static void
map_row(const CsvMapping *mapping, TupleTableSlot *from, TupleTableSlot *to,
		ExprContext *econtext)
{
	ResetExprContext(econtext);
	econtext->ecxt_scantuple = from;
	for (int i = 0; i < mapping->ncolumns; i++)
	{
		const CsvLoadColumn *column = &mapping->columns[i];

		if (column->expr == NULL)
		{
			to->tts_values[column->to] = from->tts_values[column->from];
			to->tts_isnull[column->to] = from->tts_isnull[column->from];
		}
		else
			to->tts_values[column->to] =
				ExecEvalExprSwitchContext(column->expr, econtext,
										  &to->tts_isnull[column->to]);
	}
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
	Datum		values[CSV_REJECT_COLUMNS];
	bool		isnull[CSV_REJECT_COLUMNS] = {false};

	csv_report_skipped(&load->report, skipped);
	csv_error_row(load->table, skipped, values, isnull);
	values[CSV_ERROR_COLUMNS] = TimestampTzGetDatum(load->started);
	values[CSV_ERROR_COLUMNS + 1] =
		ObjectIdGetDatum(RelationGetRelid(load->source));
	tuplestore_putvalues(load->rejected, load->reject_tupdesc, values, isnull);
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
	init_mapping(&load->reject_mapping, load->reject_tupdesc);
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
	csv_insert_check(load->rejects);
	load->rejects_owner = csv_find_owner(relation,
										 mapped_attnums(&load->reject_mapping, true));
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
					  mapped_attnums(mapping, true));
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
	map_row(&load->reject_mapping, load->row, load->slot, load->econtext);
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
 * value unchanged; NULL if some values are converted.
 */
static int *
mapped_places(const CsvMapping *mapping, int natts)
{
	int		   *places;

	if (mapping->any_expr)
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
load_runs(CsvTableScan *scan, CsvInsert *target, CsvPace *pace)
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

/* a CsvNextRowFn */
static bool
next_row(void *arg)
{
	CsvLoad    *load = arg;
	TupleTableSlot *row = load->is_mapped ? load->row : load->slot;
	const char *file;
	int64		record;

	csv_messages_check();
	if (!csv_table_scan_next(load->scan, row->tts_values, row->tts_isnull))
		return false;
	file = csv_table_scan_place(load->scan, &record);
	csv_insert_place(load->target, file, record);
	if (load->is_mapped)
	{
		ExecStoreVirtualTuple(row);
		map_row(&load->mapping, row, load->slot, load->econtext);
		ExecClearTuple(row);
	}
	return true;
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
	while (next_row(load))
	{
		CHECK_FOR_INTERRUPTS();
		if (!csv_insert_row(target))
			load->scan->nexcluded++;
		if (places != NULL)
			load_runs(load->scan, target, &pace);
	}
	load->nloaded = csv_insert_end(target);
}

static void
load_rows(CsvLoad *load, bool freeze, bool may_go_by_pages, CsvIndexing indexing)
{
	CsvInsert  *target = load->target;
	bool		by_pages = csv_insert_begin(target, freeze, may_go_by_pages, indexing);

	/* rows that need no change are scanned into the target's slot */
	load->slot = csv_insert_slot(target);
	load->is_mapped = !load->mapping.is_identity ||
		load->mapping.ncolumns < load->slot->tts_tupleDescriptor->natts;
	csv_source_decide_resident(load->table);

	/* receivers need the records' bytes, which resident columns do not have */
	load->scan = csv_table_scan_begin(load->table, load->mapping.from, NULL,
									  load->skipped == NULL,
									  load->skipped, load);
	load->scan->shows_progress = true;
	load->scan->progress_relid = RelationGetRelid(csv_insert_relation(target));
	memset(load->row->tts_isnull, true, load->row->tts_tupleDescriptor->natts);
	if (by_pages)
		insert_pages(load);
	else
		load->nloaded = csv_insert_all(target, next_row, load);
	csv_table_scan_statistics(load->scan, &load->statistics);
	csv_table_scan_end(load->scan);
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

/* for csv_attempt(): load with index entries after the rows */
static bool
load_before_indexes(void *arg)
{
	CsvLoad    *load = arg;
	CsvInsert  *target = load->target;

	load->target = csv_insert_open(RelationGetRelid(csv_insert_relation(target)));
	csv_insert_give(load->target, load->mapping.to);
	load_rows(load, false, true, load->indexing);
	return true;
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

/* load by INSERT ... SELECT: all rows, and skipped records as in load_rows() */
static void
load_by_statement(CsvLoad *load)
{
	CsvAwaitedScan *outer = csv_awaited_scan;
	CsvAwaitedScan scan = {
		.table = load->table,
		.shown_relid = RelationGetRelid(csv_insert_relation(load->target)),
		.skipped = load->skipped,
		.arg = load
	};
	StringInfoData sql;

	initStringInfo(&sql);
	csv_append_insert(&sql, csv_insert_relation(load->target),
					  mapped_attnums(&load->mapping, true));
	csv_append_select(&sql, load->source, mapped_attnums(&load->mapping, false));
	csv_insert_close(load->target);

	SPI_connect();
	csv_awaited_scan = &scan;
	PG_TRY();
	{
		int			result = SPI_execute(sql.data, false, 0);

		if (result < 0)
			elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(result));
	}
	PG_FINALLY();
	{
		csv_awaited_scan = outer;
	}
	PG_END_TRY();
	if (!scan.has_ended)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("csv_gpu_load() cannot see which records of \"%s\" were read",
						RelationGetRelationName(load->source)),
				 errdetail("Another library has read it in another session."),
				 errhint("Use INSERT statements instead.")));
	load->nloaded = (int64) SPI_processed;
	load->statistics = scan.statistics;
	SPI_finish();
}

/*
 * Load the rows.  If index entries come after them, and a row is refused, nothing is
 * left of the load.  Then rows are inserted with their entries, to tell which row is
 * the first.
 */
static void
load_ourselves(CsvLoad *load, bool freeze)
{
	CsvInsert  *target = load->target;
	MemoryContext context;
	ErrorData  *error;

	load->indexing = choose_indexing(load, freeze);
	if (load->indexing == CSV_INDEX_AT_ONCE)
	{
		load_rows(load, freeze, true, CSV_INDEX_AT_ONCE);
		return;
	}
	context = AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_fdw load",
									ALLOCSET_DEFAULT_SIZES);
	error = csv_attempt(load_before_indexes, load, context, true);
	MemoryContextDelete(context);
	load->target = target;
	if (error == NULL)
	{
		csv_insert_close(target);
		return;
	}
	/* COPY would read once more after a second failure, too */
	if (load->source == NULL || is_final(error->sqlerrcode))
		ReThrowError(error);
	FreeErrorData(error);

	/* the first try gave NOTICEs of all records up to the refused row */
	load->table->verbosity = CSV_VERBOSITY_SILENT;
	ExecClearTuple(load->row);
	memset(&load->report.counts, 0, sizeof(load->report.counts));
	if (load->rejected != NULL)
		tuplestore_clear(load->rejected);
	load_rows(load, freeze, false, CSV_INDEX_AT_ONCE);
}

static void
load_all(CsvLoad *load, bool freeze)
{
	if (load->owner != NULL && freeze)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot freeze the rows of \"%s\": %s",
						RelationGetRelationName(csv_insert_relation(load->target)),
						load->owner)));
	if (load->owner != NULL ||
		(!freeze && csv_suits_statement(csv_insert_relation(load->target))))
		load_by_statement(load);
	else
		load_ourselves(load, freeze);
	if (load->rejects != NULL)
	{
		csv_report_end(&load->report, load->statistics.records, true);
		csv_report_log(&load->report);
		insert_rejects(load);
	}
}

/* ErrorContextCallback.callback: the target's rows may come from an earlier load of all */
static void
hint_positions(void *arg)
{
	if (geterrcode() == ERRCODE_UNIQUE_VIOLATION)
		errhint("If the records were loaded before, csv_gpu_set_positions() says so.");
}

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
		load_all(load, request->freeze);
	else
	{
		csv_insert_close(load->target);
		if (load->rejects != NULL)
			csv_insert_close(load->rejects);
	}
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

void
csv_load_set_mode(CsvLoadRequest *request, const char *mode, const char *on_rewrite)
{
	request->is_new_records = strcmp(mode, "new_records") == 0;
	if (!request->is_new_records && strcmp(mode, "all") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("mode \"%s\" not recognized", mode),
				 errhint("Valid values are: \"all\", \"new_records\".")));
	if (on_rewrite == NULL || strcmp(on_rewrite, "error") == 0)
		request->on_rewrite = CSV_REWRITE_ERROR;
	else if (strcmp(on_rewrite, "restart") == 0)
		request->on_rewrite = CSV_REWRITE_RESTART;
	else if (strcmp(on_rewrite, "skip") == 0)
		request->on_rewrite = CSV_REWRITE_SKIP;
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("on_rewrite \"%s\" not recognized", on_rewrite),
				 errhint("Valid values are: \"error\", \"restart\", \"skip\".")));
	if (!request->is_new_records && request->on_rewrite != CSV_REWRITE_ERROR)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("on_rewrite can be used only with mode \"new_records\"")));
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
	load->source = csv_open_source(request->source);
	load->target = csv_insert_open(request->target);
	map_columns(&load->mapping, load->source, csv_insert_relation(load->target), request);
	check_source(load, OidIsValid(request->rejects));
	csv_insert_give(load->target, load->mapping.to);
	csv_insert_check(load->target);
	load->owner = csv_find_owner(csv_insert_relation(load->target),
								 mapped_attnums(&load->mapping, true));
	if (OidIsValid(request->rejects))
		open_rejects(load, request->rejects);

	load->table = csv_table_get(RelationGetRelid(load->source));
	csv_table_check(load->table);
	load->table->all_files = true;
	if (request->of_job)
		csv_prefer_pattern(load->table, DEBUG1);
	if (request->filename != NULL)
		csv_source_choose_file(load->table, request->filename);
	csv_report_begin(&load->report, load->table);
	load->row = MakeSingleTupleTableSlot(RelationGetDescr(load->source),
										 &TTSOpsVirtual);
	load->econtext = CreateStandaloneExprContext();
	if (request->is_new_records)
		load_new(load, request);
	else
		load_all(load, request->freeze);
	ExecDropSingleTupleTableSlot(load->row);
	table_close(load->source, NoLock);

	result->loaded = load->nloaded;
	result->skipped = load->statistics.skipped;
	result->bytes = load->statistics.batches.bytes;
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
		csv_insert_skip(load->target, load->econtext);
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
	init_mapping(&load->mapping, from);
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

PG_FUNCTION_INFO_V1(csv_gpu_load);

/* csv_gpu_load(source, target, columns, rejects, freeze, mode, on_rewrite) */
Datum
csv_gpu_load(PG_FUNCTION_ARGS)
{
	CsvLoadRequest request;
	CsvLoadResult result;
	Datum		values[4];
	bool		isnull[4] = {false};
	TupleDesc	tupdesc;

	csv_begin_function(fcinfo, "regclass regclass text[] regclass boolean text text "
					   "-> bigint bigint bigint interval");
	(void) get_call_result_type(fcinfo, NULL, &tupdesc);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("source and target of csv_gpu_load() must not be null")));

	memset(&request, 0, sizeof(request));
	request.source = PG_GETARG_OID(0);
	request.target = PG_GETARG_OID(1);
	if (!PG_ARGISNULL(2))
		request.columns = PG_GETARG_ARRAYTYPE_P(2);
	if (!PG_ARGISNULL(3))
		request.rejects = PG_GETARG_OID(3);
	request.freeze = !PG_ARGISNULL(4) && PG_GETARG_BOOL(4);
	request.schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	csv_load_set_mode(&request,
					  PG_ARGISNULL(5) ? "all" : text_to_cstring(PG_GETARG_TEXT_PP(5)),
					  PG_ARGISNULL(6) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(6)));
	csv_load(&request, &result);

	values[0] = Int64GetDatum(result.loaded);
	values[1] = Int64GetDatum(result.skipped);
	values[2] = Int64GetDatum(result.bytes);
	values[3] = DirectFunctionCall2(timestamp_mi,
									TimestampGetDatum(GetCurrentTimestamp()),
									TimestampGetDatum(result.started));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, isnull));
}
