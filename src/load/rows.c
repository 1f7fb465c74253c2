/*
 * rows.c
 *		Reads the rows of a load, tests them, and leaves out those that do not
 *		go in.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/genam.h"
#include "commands/trigger.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/fd.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "load/rows.h"
#include "output/copy_to.h"
#include "scan/row_run.h"
#include "table/fingerprint.h"
#include "table/listing.h"
#include "table/messages.h"
#include "table/source.h"
#include "table/text.h"

/* fill in a row of the target from a row of the source */
void
csv_map_row(const CsvMapping *mapping, TupleTableSlot *from, TupleTableSlot *to,
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

/* ---- rows that do not go in ---- */

void
csv_load_report(CsvLoad *load, const CsvSkipped *skipped, CsvTold *told)
{
	load->table->verbosity = ++told->nseen <= told->nbefore ?
		CSV_VERBOSITY_SILENT : load->verbosity;
	csv_report_skipped(&load->report, skipped);
	load->table->verbosity = load->verbosity;
}

static void
count_told(CsvTold *told)
{
	told->nbefore = Max(told->nbefore, told->nseen);
	told->nseen = 0;
}

void
csv_load_report_again(CsvLoad *load)
{
	/* without `rejects`, the scan itself reports */
	load->table->verbosity = load->rejects == NULL ? CSV_VERBOSITY_SILENT :
		load->verbosity;
	count_told(&load->bad);
	count_told(&load->refused);
}

void
csv_keep_record(CsvLoad *load, const CsvSkipped *skipped)
{
	Datum		values[CSV_REJECT_COLUMNS];
	bool		isnull[CSV_REJECT_COLUMNS] = {false};

	csv_error_row(load->table, skipped, values, isnull);
	values[CSV_ERROR_COLUMNS] = TimestampTzGetDatum(load->started);
	values[CSV_ERROR_COLUMNS + 1] =
		ObjectIdGetDatum(RelationGetRelid(load->source));
	tuplestore_putvalues(load->rejected, load->reject_tupdesc, values, isnull);
}

int64
csv_load_place(const CsvTableScan *scan)
{
	int64		record;

	(void) csv_table_scan_place(scan, &record);
	if (record >> CSV_RECORD_BITS != 0 ||
		scan->at->file_number >= (int) (CSV_MOST_PLACES >> CSV_RECORD_BITS))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many files or records for a load that tells duplicates or refused rows")));
	return ((int64) scan->at->file_number << CSV_RECORD_BITS) + record;
}

/* for csv_attempt(), which undoes what triggers do */
static bool
test_row(void *arg)
{
	CsvLoad    *load = arg;

	load->is_dropped = false;
	load->is_mapping = true;
	csv_map_row(&load->mapping, load->from, csv_insert_slot(load->tested),
				load->econtext);
	load->is_mapping = false;
	load->is_dropped = !csv_insert_test(load->tested, load->econtext);
	return false;
}

/*
 * for csv_attempt(), without a subtransaction: partitions stay open with the
 * target
 */
static bool
test_partition(void *arg)
{
	CsvLoad    *load = arg;
	ResourceOwner owner = CurrentResourceOwner;

	CurrentResourceOwner = load->resources;
	csv_insert_test_partition(load->tested);
	CurrentResourceOwner = owner;
	return true;
}

/*
 * Why does the target refuse the row, as far as the row alone tells?  NULL: it
 * does not; *message: of the rejects.
 */
static const char *
find_refusal(CsvLoad *load, const char **message)
{
	TupleTableSlot *slot = csv_insert_slot(load->tested);
	ErrorData  *error;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts);
	/*
	 * the scan has cleared its slot, but not the values, before it asks about
	 * the last row
	 */
	ExecClearTuple(load->from);
	ExecStoreVirtualTuple(load->from);
	error = csv_attempt(test_row, load, CurrentMemoryContext, true);
	/* a row is routed before a partition's trigger may drop it */
	if (error == NULL)
		error = csv_attempt(test_partition, load, CurrentMemoryContext, false);
	ExecClearTuple(load->from);
	if (error == NULL)
		return NULL;
	load->is_dropped = false;
	*message = error->constraint_name;
	if (error->sqlerrcode == ERRCODE_CHECK_VIOLATION && *message != NULL)
		return "check";
	if (error->sqlerrcode == ERRCODE_CHECK_VIOLATION &&
		error->table_name != NULL)
	{
		*message = error->table_name;
		return "no_partition";
	}
	if (*message == NULL)
		*message = error->column_name != NULL ? error->column_name : error->datatype_name;
	if (error->sqlerrcode == ERRCODE_NOT_NULL_VIOLATION && *message != NULL)
		return "not_null";
	*message = error->message;
	if (load->is_mapping &&
		ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_TO_CATEGORY(ERRCODE_DATA_EXCEPTION))
		return "bad_value";
	ReThrowError(error);
	return NULL;
}

static const char *
refusal_of_index(Oid indexid)
{
	Relation	index = index_open(indexid, AccessShareLock);
	bool		excludes = index->rd_index->indisexclusion;

	index_close(index, NoLock);
	return excludes ? "exclusion" : "duplicate";
}

/* with `rejects`, other rows are refused */
static void
refuse_duplicate(const CsvLoad *load)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("duplicate key value violates unique constraint \"%s\"",
					get_rel_name(load->key_index))));
}

/* the last row of the scan does not go in: count it, and keep its record */
static void
leave_out(CsvLoad *load, CsvTableScan *scan, int64 verdict)
{
	MemoryContext outer;
	CsvSkipped	skipped;
	CsvTold		untold = {0};	/* only the last try knows of other indexes */
	bool		counts;

	load->nleft_out++;
	scan->nexcluded++;
	if (load->rejects == NULL)
		return;
	outer = MemoryContextSwitchTo(load->reject_context);
	csv_table_scan_last(scan, &skipped);
	skipped.code = CSV_ERROR_REFUSED;
	counts = verdict != CSV_LEFT_OUT;
	if (!counts && load->duplicates == CSV_DUPLICATES_ERROR)
		refuse_duplicate(load);
	verdict = counts ? verdict : -(int64) load->key_index;
	if (verdict == CSV_REFUSED)
	{
		skipped.error = find_refusal(load, &skipped.message);
		if (skipped.error == NULL)
		{
			/* an index that is not known, such as a partition's */
			skipped.error = "duplicate";
			skipped.message = RelationGetRelationName(csv_insert_relation(load->tested));
		}
	}
	else if (verdict < 0)
	{
		skipped.error = refusal_of_index((Oid) -verdict);
		skipped.message = get_rel_name((Oid) -verdict);
	}
	else
	{
		skipped.error = "foreign_key";
		skipped.message = get_constraint_name((Oid) verdict);
	}
	if (counts)
		csv_load_report(load, &skipped, verdict < 0 ? &untold : &load->refused);
	csv_keep_record(load, &skipped);
	MemoryContextSwitchTo(outer);
	MemoryContextReset(load->reject_context);
}

/* is the scan for its last row? */
static bool
takes_row(CsvLoad *load, CsvTableScan *scan)
{
	int64		verdict = load->verdicts == NULL ? CSV_INSERTED :
		csv_verdicts_at(load->verdicts, csv_load_place(scan));

	if (verdict == CSV_INSERTED)
		return load->taking != CSV_TAKE_UPDATES;
	if (verdict == CSV_UPDATES)
		return load->taking != CSV_TAKE_INSERTED;
	if (load->taking != CSV_TAKE_UPDATES)
		leave_out(load, scan, verdict);
	return false;
}

/* why ON CONFLICT did not insert the row */
static int64
find_conflict(CsvLoad *load)
{
	Relation	target = csv_insert_relation(load->tested);
	Oid			index = load->key_index;
	Bitmapset  *key;
	MemoryContext outer;
	const char *message;

	if (!load->is_careful &&
		(target->trigdesc == NULL || !target->trigdesc->trig_insert_before_row))
		return CSV_LEFT_OUT;
	outer = MemoryContextSwitchTo(load->reject_context);
	(void) find_refusal(load, &message);
	if (load->is_careful && !load->is_dropped)
		index = csv_insert_conflict(load->tested, load->key_index);
	if (!OidIsValid(index))
		index = csv_only_unique_index(target, &key);
	MemoryContextSwitchTo(outer);
	return load->is_dropped ? CSV_INSERTED : !OidIsValid(index) ? CSV_REFUSED :
		index == load->key_index ? CSV_LEFT_OUT : -(int64) index;
}

/* pass over rows of the scan that are not updated */
static void
pass_others(CsvVerdicts *verdicts, CsvTableScan *scan)
{
	CsvRowRun	run;
	int64		place;

	if (!csv_table_scan_run(scan, &run))
		return;
	place = csv_load_place(scan);
	(void) csv_verdicts_at(verdicts, place + 1);
	scan->row += (uint32) Min(run.nrows, csv_verdicts_free(verdicts, place));
}

/*
 * CsvAwaitedScan.takes: the statement has put the row before in, or has left it
 * out
 */
bool
csv_load_takes(void *arg, ForeignScanState *node, bool has_row)
{
	CsvLoad    *load = arg;
	CsvTableScan *scan = ((CsvScanState *) node->fdw_state)->scan;
	const char *file;
	int64		record;

	csv_insert_place(load->tested, NULL, 0);
	if (!has_row)
	{
		int64		verdict = load->is_waiting ? find_conflict(load) :
			CSV_INSERTED;

		if (verdict != CSV_INSERTED)
			leave_out(load, scan, verdict);
		load->is_waiting = false;
		if (load->taking == CSV_TAKE_UPDATES)
			pass_others(load->verdicts, scan);
		return false;
	}
	load->from = node->ss.ss_ScanTupleSlot;
	if (!takes_row(load, scan))
		return false;
	/* the executor may filter the row */
	node->ss.ps.ps_ExprContext->ecxt_scantuple = load->from;
	load->is_waiting = ExecQual(node->ss.ps.qual, node->ss.ps.ps_ExprContext);
	/* another library need not insert a row before it asks for the next */
	if (load->owner != NULL && load->is_waiting)
		load->nleft_out++;
	load->is_waiting &= load->owner == NULL;
	file = csv_table_scan_place(scan, &record);
	csv_insert_place(load->tested, file, record);
	return true;
}

/* ---- rows that are read ---- */

/* the next row of the source that is taken */
static bool
fetch_row(CsvLoad *load)
{
	TupleTableSlot *row = load->from;
	const char *file;
	int64		record;

	do
	{
		CHECK_FOR_INTERRUPTS();
		csv_messages_check();
		if (load->mapping.filter != NULL)
		{
			load->from = csv_rows_next(&load->rows);
			if (load->from == NULL)
				return false;
			continue;
		}
		ExecClearTuple(row);
		if (!csv_table_scan_next(load->scan, row->tts_values, row->tts_isnull))
			return false;
		if (load->is_mapped)
			ExecStoreVirtualTuple(row);
	} while (!takes_row(load, load->scan));
	file = csv_table_scan_place(load->scan, &record);
	csv_insert_place(load->target, file, record);
	return true;
}

/* a CsvNextRowFn */
bool
csv_load_next(void *arg)
{
	CsvLoad    *load = arg;

	if (!fetch_row(load))
		return false;
	if (load->is_mapped)
	{
		csv_map_row(&load->mapping, load->from, load->slot, load->econtext);
		ExecClearTuple(load->from);
	}
	return true;
}

/*
 * WHERE, if there is a filter.  late: it is evaluated for each row, and not
 * before the scan, although it may be constant, or constant in a file.
 */
void
csv_append_filter(StringInfo sql, const CsvMapping *mapping, bool late)
{
	if (mapping->filter != NULL)
		appendStringInfo(sql, late ?
						 " WHERE CASE WHEN pg_catalog.random() IS NOT NULL THEN (%s\n)::pg_catalog.bool END" :
						 " WHERE (%s\n)", mapping->filter);
}

static void
begin_rows(CsvLoad *load, int flags, CsvSkippedFn skipped)
{
	CsvTable   *table = palloc(sizeof(CsvTable));
	List	   *attnums = NIL;
	int			attnum = -1;

	/* the query lists the files in its own memory */
	*table = *load->table;
	load->rows = (CsvRowsQuery) {
		.scan = {.table = table,
			.shown_relid = RelationGetRelid(csv_insert_relation(load->target)),
			.skipped = skipped, .places = (flags & CSV_SCAN_PLACES) != 0, .arg = load}
	};
	while ((attnum = bms_next_member(load->mapping.from, attnum)) >= 0)
		attnums = lappend_int(attnums, attnum);
	for (bool late = false, begun = false; !begun; late = true)
	{
		StringInfoData sql;

		initStringInfo(&sql);
		csv_append_select(&sql, load->source, attnums);
		csv_append_filter(&sql, &load->mapping, late);
		begun = csv_rows_begin(&load->rows, load->source, sql.data, !late);
	}
	load->scan = ((CsvScanState *) load->rows.scan.node->fdw_state)->scan;
}

/* scan the source for the target's slot */
void
csv_load_scan(CsvLoad *load, int flags, CsvSkippedFn skipped)
{
	/* rows that need no change are scanned into the target's slot */
	load->slot = csv_insert_slot(load->target);
	load->is_mapped = load->mapping.filter != NULL ||
		!load->mapping.is_identity ||
		load->is_careful ||
		load->mapping.ncolumns < load->slot->tts_tupleDescriptor->natts;
	csv_source_decide_resident(load->table);
	if (load->mapping.filter != NULL)
		begin_rows(load, flags, skipped);
	else
		load->scan = csv_table_scan_begin(load->table, load->mapping.from,
										  NULL, flags, skipped, load);
	load->scan->progress_relid = RelationGetRelid(csv_insert_relation(load->target));
	load->from = load->is_mapped ? load->row : load->slot;
	ExecClearTuple(load->row);
	memset(load->row->tts_isnull, true, load->row->tts_tupleDescriptor->natts);
}

void
csv_load_scan_end(CsvLoad *load)
{
	if (load->mapping.filter == NULL)
	{
		csv_table_scan_end(load->scan);
		return;
	}
	ExecutorFinish(load->rows.query);
	ExecutorEnd(load->rows.query);
	FreeQueryDesc(load->rows.query);
}

/* a CsvSkippedFn, for records that are skipped again later */
bool
csv_ignore_record(void *arg, const CsvSkipped *skipped)
{
	return true;
}

bool
csv_is_read_once(const CsvLoad *load)
{
	const char *filename = load->table->filename;
	struct stat st;

	/* other files of a pattern, and files that are not there, are an ERROR */
	return filename == NULL ||
		(stat(filename, &st) == 0 && !S_ISREG(st.st_mode));
}

void
csv_load_refuse_twice(const CsvLoad *load)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot tell duplicates in data that can be read only once"),
			 errhint("Write the data of \"%s\" to a file, or set \"duplicates\" to 'first', without \"freeze\".",
					 RelationGetRelationName(load->source))));
}

typedef struct CsvLoadFile
{
	CsvFileIdentity identity;	/* of zeros: it cannot be opened */
	uint64		head;			/* a hash of its first bytes */
} CsvLoadFile;

/* nbytes: of the file when it was looked at first */
static CsvLoadFile
look_at(const char *filename, int64 nbytes)
{
	CsvLoadFile file = {0};
	int			fd = OpenTransientFile(filename,
									   O_RDONLY | O_NONBLOCK | O_NOCTTY);
	uint8		head[CSV_END_BYTES];
	struct stat st;

	if (fd < 0)
		return file;
	if (fstat(fd, &st) == 0)
	{
		nbytes = pread(fd, head, Min(nbytes, CSV_END_BYTES), 0);
		file.identity = csv_file_identity(&st);
		file.head = hash_bytes_extended(head, (int) Max(nbytes, 0), 0);
	}
	CloseTransientFile(fd);
	return file;
}

/*
 * Verdicts tell records by their numbers in numbered files.  So all scans
 * behind the first verdicts have one list of files.
 */
static void
note_files(CsvLoad *load)
{
	CsvTable   *table = load->table;

	if (table->files == NULL)
		(void) csv_source_list(table, false);
	load->files = palloc_extended(sizeof(CsvLoadFile) * Max(table->nfiles, 1),
								  MCXT_ALLOC_HUGE);
	for (int i = 0; i < table->nfiles; i++)
		load->files[i] = look_at(table->files[i], PG_INT64_MAX);
}

void
csv_load_check_files(const CsvLoad *load)
{
	for (int i = 0; i < load->table->nfiles; i++)
	{
		const CsvFileIdentity *before = &load->files[i].identity;
		const CsvLoadFile now = look_at(load->table->files[i], before->size);
		bool		grew = now.identity.size > before->size;

		/* it may be gone by now */
		if (now.identity.inode != 0 &&
			(now.identity.inode != before->inode ||
			 now.identity.size < before->size ||
			 now.head != load->files[i].head ||
			 (!grew && now.identity.modified != before->modified)))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("file \"%s\" changed while it was loaded",
							csv_shown_filename(load->table->files[i]))));
	}
}

void
csv_load_judge(CsvLoad *load)
{
	Relation	relation = csv_insert_relation(load->target);
	CsvVerbosity verbosity = load->table->verbosity;
	CsvDuplicates duplicates = load->duplicates;
	Bitmapset  *key = load->key;
	Oid			index = load->key_index;
	int64		of_file = CSV_LEFT_OUT;
	CsvVerdicts *verdicts;
	CsvVerdictCounts counts;
	bool		looks;

	if (duplicates == CSV_DUPLICATES_UNSAID || (load->by_statement &&
												duplicates == CSV_DUPLICATES_FIRST))
	{
		/* triggers may take the key from the rows before */
		index = load->by_statement ||
			(relation->trigdesc != NULL &&
			 relation->trigdesc->trig_insert_before_row) ?
			InvalidOid : csv_only_unique_index(relation, &key);
		of_file = -(int64) index;
	}
	csv_insert_prepare(load->target);
	if (OidIsValid(index) && csv_insert_varies(load->target, key))
	{
		if (duplicates != CSV_DUPLICATES_UNSAID)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot tell duplicates by a key whose default differs from row to row"),
					 errhint("Name a key of columns that are loaded.")));
		index = InvalidOid;
	}
	if (csv_is_read_once(load))
		csv_load_refuse_twice(load);
	/* new records are known to be the same */
	if (load->table->resume == NULL && load->files == NULL)
		note_files(load);
	verdicts = csv_verdicts_create(relation, index, load->is_careful,
								   load->resources);
	csv_verdicts_drop(&load->verdicts);
	load->taking = CSV_TAKE_BOTH;
	load->tested = load->target;
	load->table->verbosity = CSV_VERBOSITY_SILENT;
	csv_load_scan(load, 0, csv_ignore_record);
	csv_insert_tell(load->target, true);
	while (load->is_careful ? fetch_row(load) : csv_load_next(load))
	{
		MemoryContext outer = MemoryContextSwitchTo(load->reject_context);
		const char *message;
		int64		verdict = CSV_INSERTED;

		if (!load->is_careful)
			csv_insert_fill(load->target, OidIsValid(index) ? key : NULL,
							load->econtext);
		else if (find_refusal(load, &message) != NULL)
			verdict = CSV_REFUSED;
		MemoryContextSwitchTo(outer);
		if (!load->is_dropped)
			csv_verdicts_add(verdicts, load->slot, csv_load_place(load->scan),
							 verdict);
		ExecClearTuple(load->slot);
		MemoryContextReset(load->reject_context);
		csv_insert_place(load->target, NULL, 0);
	}
	csv_insert_tell(load->target, false);
	csv_load_scan_end(load);
	load->table->verbosity = verbosity;
	looks = relation->rd_rel->relkind == RELKIND_RELATION &&
		load->owner == NULL &&
		(duplicates == CSV_DUPLICATES_ERROR || !load->by_statement) &&
		RelationGetNumberOfBlocks(relation) > 0;
	counts = csv_verdicts_end(verdicts, duplicates > CSV_DUPLICATES_FIRST,
							  looks, of_file,
							  duplicates == CSV_DUPLICATES_UPDATE ?
							  CSV_UPDATES : of_file);
	if (duplicates == CSV_DUPLICATES_ERROR && counts.nleft_out > 0)
		refuse_duplicate(load);
	load->any_updates = counts.nupdates > 0;
	load->by_statement |= !load->freezes && counts.nupdates > counts.nrows / 2;
	load->verdicts = verdicts;
}
