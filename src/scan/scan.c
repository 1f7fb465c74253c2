/*
 * scan.c
 *		Makes rows from batches.
 *
 *	1. Batches (batches.h) are arrays of datums for the wanted columns, and errors
 *	   between the rows.
 *	2. A row is returned by setting words and pointers into the arrays.  The type's
 *	   input function makes values that the arrays do not hold (inputs.c).  If it
 *	   refuses a value, the record is skipped, or the value is NULL.
 *	3. Skipped records, and such values, are reported when the scan passes them, in
 *	   file order (skipping.c).
 *
 * Memory: the scan has a context of its own.  Values made for a row live in
 * row_context, until the next row.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "catalog/pg_type.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/spin.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "batches/sharing.h"
#include "compat.h"
#include "scan/join_filter.h"
#include "scan/row_run.h"
#include "scan/scan.h"
#include "table/counts.h"

/* rows of a run that are made ahead: they take no more than a few MB */
#define CSV_MAX_INPUT_ROWS	1024

/* ---- pg_stat_progress_copy ---- */

/*
 * A backend has one place there.  The place belongs to the command that started last,
 * and an ERROR that ends a subtransaction empties it.  So we look at it before each
 * report: if it is as we have left it, it is ours; if it is empty, we take it.  While
 * another command is shown, our scan is not.  But if COPY inserts the scan's rows
 * (insert.c), it is shown under their relation and counts the rows, and we show the
 * bytes.
 */
static const CsvTableScan *shown_scan = NULL;
static Oid	shown_relid = InvalidOid;

static bool
is_copy_shown(Oid relid)
{
	return MyBEEntry != NULL &&
		MyBEEntry->st_progress_command == PROGRESS_COMMAND_COPY &&
		MyBEEntry->st_progress_command_target == relid;
}

static bool
is_shown(const CsvTableScan *scan)
{
	return shown_scan == scan && is_copy_shown(shown_relid);
}

/* the scan has ended; also called if nothing was shown */
static void
release_progress(const CsvTableScan *scan)
{
	if (is_shown(scan))
		pgstat_progress_end_command();
	if (shown_scan == scan)
		shown_scan = NULL;
}

/* add statistics, or take them away (sign -1) */
static void
add_statistics(CsvScanStatistics *sum, const CsvScanStatistics *one, int sign)
{
	CsvBatchesStatistics *batches = &sum->batches;
	const CsvBatchesStatistics *more = &one->batches;

	sum->records += sign * one->records;
	sum->skipped += sign * one->skipped;
	sum->set_null += sign * one->set_null;
	sum->surplus += sign * one->surplus;
	sum->unmatched += sign * one->unmatched;
	batches->chunks += sign * more->chunks;
	batches->bytes += sign * more->bytes;
	batches->read_seconds += sign * more->read_seconds;
	batches->copy_in_seconds += sign * more->copy_in_seconds;
	batches->parse_seconds += sign * more->parse_seconds;
	batches->copy_out_seconds += sign * more->copy_out_seconds;
	batches->filtered += sign * more->filtered;
	batches->beyond += sign * more->beyond;
	batches->answered += sign * more->answered;
	batches->held += sign * more->held;
}

/* tell the other processes our statistics, and return the sum of all */
static CsvScanStatistics
tell_statistics(CsvTableScan *scan)
{
	CsvSharedScan *shared = scan->shared;
	CsvScanStatistics own;
	CsvScanStatistics all;

	csv_table_scan_statistics(scan, &own);
	SpinLockAcquire(&shared->mutex);
	add_statistics(&shared->statistics, &scan->told, -1);
	add_statistics(&shared->statistics, &own, 1);
	all = shared->statistics;
	SpinLockRelease(&shared->mutex);
	scan->told = own;
	return all;
}

static void
show_progress(CsvTableScan *scan)
{
	static const int columns[] = {
		PROGRESS_COPY_TYPE, PROGRESS_COPY_BYTES_TOTAL, PROGRESS_COPY_BYTES_PROCESSED,
		PROGRESS_COPY_TUPLES_SKIPPED, PROGRESS_COPY_TUPLES_EXCLUDED,
		PROGRESS_COPY_TUPLES_PROCESSED, PROGRESS_COPY_COMMAND
	};
	int			ncolumns = lengthof(columns);
	const CsvTable *table = scan->table;
	CsvScanStatistics all;
	int64		of_copy;		/* skipped by COPY's ON_ERROR */

	if (scan->shared != NULL)
		all = tell_statistics(scan);
	else
		csv_table_scan_statistics(scan, &all);
	if (!scan->shows_progress)
		return;
	of_copy = OidIsValid(table->relid) ? 0 : all.skipped;
	if (!is_shown(scan) && is_copy_shown(scan->progress_relid))
	{
		/* COPY counts the rows that its WHERE excludes */
		ncolumns = all.skipped == 0 ? 3 : of_copy > 0 ? 4 : 5;
	}
	else if (!is_shown(scan))
	{
		if (MyBEEntry == NULL ||
			MyBEEntry->st_progress_command != PROGRESS_COMMAND_INVALID)
			return;
		pgstat_progress_start_command(PROGRESS_COMMAND_COPY, scan->progress_relid);
		shown_scan = scan;
		shown_relid = scan->progress_relid;
	}
	pgstat_progress_update_multi_param(ncolumns, columns,
									   (const int64[]) {
		table->from_frontend ? PROGRESS_COPY_TYPE_PIPE :
		table->program != NULL ? PROGRESS_COPY_TYPE_PROGRAM :
		PROGRESS_COPY_TYPE_FILE,
		csv_batches_certain_size(scan->batches),
		all.batches.bytes,
		of_copy,
		all.skipped - of_copy + scan->nexcluded,
		all.records - all.skipped - scan->nexcluded,
		PROGRESS_COPY_COMMAND_FROM
	});
}

/* ---- counts of the server ---- */

/* at the first batch: count a scan that the CPU reads */
static void
begin_count(CsvTableScan *scan)
{
	const char *engine = scan->batches->engine;

	scan->is_counted = !scan->batches->all_resident &&
		scan->batches->sampling == NULL && engine != NULL &&
		strncmp(engine, "cpu", 3) == 0;
	if (scan->is_counted && !IsParallelWorker())
		csv_host_counts_add(1, 0, &(CsvCounts) {0}, 0);
}

/* at its end; after an ERROR the statistics are gone */
static void
end_count(CsvTableScan *scan, bool failed)
{
	int			nscans = scan->is_counted && !IsParallelWorker();
	CsvCounts	more = {0};
	CsvScanStatistics statistics = {0};

	if (!failed && scan->batches->sampling == NULL)
		csv_table_scan_statistics(scan, &statistics);
	if (scan->is_counted)
	{
		more.bytes_read = statistics.batches.bytes;
		more.chunks = statistics.batches.chunks;
		more.rows = statistics.records - statistics.skipped;
	}
	scan->is_counted = false;
	if (nscans > 0 || statistics.records > 0)
		csv_host_counts_add(-nscans, nscans, &more, statistics.skipped);
}

/* ---- begin ---- */

/* the reset callback */
static void
release_scan(void *arg)
{
	release_progress(arg);
	end_count(arg, true);
}

/* the columns that are read from the file */
static void
choose_columns(CsvTableScan *scan)
{
	const CsvTable *table = scan->table;
	const CsvFileLayout *layout = scan->batches->layout;

	scan->ncolumns = layout->ncolumns;
	scan->columns = palloc0(sizeof(CsvScanColumn) * Max(scan->ncolumns, 1));
	for (int i = 0; i < scan->ncolumns; i++)
	{
		const CsvTableColumn *column = layout->columns[i].column;

		csv_value_init(&scan->columns[i].input, table, column, scan->context);
		scan->columns[i].att = column->attnum - 1;
		scan->columns[i].hidden = layout->columns[i].hidden;
	}
}

CsvTableScan *
csv_table_scan_begin(const CsvTable *table, const Bitmapset *wanted,
					 const CsvPushdown *pushdown, int flags,
					 CsvSkippedFn skipped, void *arg)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "csv_gpu_fdw scan",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext outer = MemoryContextSwitchTo(context);
	CsvTableScan *scan = palloc0(sizeof(CsvTableScan));

	scan->table = table;
	scan->context = context;
	scan->batches = csv_batches_create(table, wanted, pushdown,
									   (flags & CSV_SCAN_RESIDENT) != 0);
	scan->batches->layout->layout.want_positions |= (flags & CSV_SCAN_PLACES) != 0;
	choose_columns(scan);
	scan->virtuals = csv_virtuals_create(table, wanted);
	scan->plain = palloc0(sizeof(CsvPlainColumn) * Max(scan->ncolumns, 1));
	scan->nullable = palloc0(sizeof(CsvScanColumn *) * Max(scan->ncolumns, 1));
	scan->inputs = csv_inputs_create(scan->columns, scan->ncolumns);
	scan->skipping = csv_skipping_create(table, skipped, arg);
	scan->shows_bytes = skipped != NULL;
	scan->batches->callbacks = (CsvBatchesCallbacks) {csv_skipping_changed,
		csv_skipping_hand_in, csv_skipping_fail, scan->skipping};
	scan->callback.func = release_scan;
	scan->callback.arg = scan;
	MemoryContextRegisterResetCallback(context, &scan->callback);
	MemoryContextSwitchTo(outer);
	return scan;
}

/* ---- a new file ---- */

static CsvFetch
fetch_for(const CsvValueInput *input)
{
	switch (input->spec.kind)
	{
		case CSV_KIND_BOOL:
			return CSV_FETCH_BYTE;
		case CSV_KIND_INT2:
			return CSV_FETCH_INT16;
		case CSV_KIND_INT4:
		case CSV_KIND_DATE:
		case CSV_KIND_FLOAT4:
			return CSV_FETCH_INT32;
		case CSV_KIND_INT8:
		case CSV_KIND_TIMESTAMP:
		case CSV_KIND_TIMESTAMPTZ:
		case CSV_KIND_TIME:
		case CSV_KIND_FLOAT8:
			return CSV_FETCH_INT64;
		case CSV_KIND_CSTRING:
			return input->pure ? CSV_FETCH_CSTRING : CSV_FETCH_RUN;
		case CSV_KIND_DECIMAL64:
		case CSV_KIND_DECIMAL128:
		case CSV_KIND_SCALED:
			return CSV_FETCH_DECIMAL;
		default:
			return CSV_FETCH_POINTER;
	}
}

/* put the columns in the order of the opened file, which seldom is another */
static void
order_columns(CsvTableScan *scan)
{
	const CsvColumn *wanted = scan->at->layout->columns;

	for (int i = 0; i < scan->ncolumns; i++)
	{
		CsvScanColumn *column = &scan->columns[i];
		CsvScanColumn *found = column;
		CsvScanColumn other = *column;

		while (found->att != (int) wanted[i].attnum - 1)
			found++;
		*column = *found;
		*found = other;
		column->input.spec = wanted[i];
		column->fetch = fetch_for(&column->input);
	}
}

/* the open file's name in the operating system */
static char *
open_name(const CsvTableScan *scan)
{
	char	  **names;
	int			nfiles;

	csv_source_names(scan->batches->source, &names, &nfiles);
	return names[scan->batches->at.file_number - 1];
}

bool
csv_scan_file_value(CsvTableScan *scan, AttrNumber attnum, Datum *value,
					bool *isnull)
{
	return csv_virtuals_value(scan->virtuals, attnum, open_name(scan), value,
							  isnull);
}

/* ---- batches ---- */

/* Sort the columns of a new batch by their way to fetch. */
static void
sort_columns(CsvTableScan *scan)
{
	CsvPlainColumn *next = scan->plain;

	scan->null_set = NULL;
	scan->nnullable = 0;
	for (int fetch = 0; fetch < CSV_NUM_FETCHES; fetch++)
	{
		for (int i = 0; i < scan->ncolumns; i++)
		{
			const CsvScanColumn *column = &scan->columns[i];

			if ((int) column->fetch != fetch || column->values == NULL)
				continue;
			if (column->status != NULL)
			{
				scan->nullable[scan->nnullable++] = column;
				continue;
			}
			next->values = column->values;
			next->stride = column->stride;
			next->att = column->att;
			next++;
		}
		scan->plain_end[fetch] = next;
	}
}

/* the number, in its file, of the record before the next row or error */
static int64
last_record(const CsvTableScan *scan)
{
	return (int64) scan->at->batch.file_records + scan->row + scan->error;
}

/* rows of the batch's selection, or of the batch */
static uint32_t
nselected(const CsvFileBatch *at)
{
	return at->selection != NULL ? at->selection->nrows : at->batch.nrows;
}

/* rows of the batch that the join filters removed, up to the last row */
static int64
count_unmatched(const CsvTableScan *scan)
{
	uint32_t	passed = 0;

	if (scan->at == NULL || !scan->is_filtered)
		return 0;
	if (scan->row >= scan->at->batch.nrows)
		passed = nselected(scan->at);
	else if (scan->position > 0)
		passed = scan->matching[scan->position - 1] + 1;
	return (int64) passed - scan->position;
}

/* find the rows that have partners */
static void
match_rows(CsvTableScan *scan)
{
	const CsvFileBatch *at = scan->at;
	uint32_t	n = nselected(at);

	scan->is_filtered = csv_join_filters_work(scan->join_filters) && n > 0 &&
		!scan->batches->layout->wants_surplus &&
		!(scan->any_inputs && csv_inputs_has_all(scan->inputs));
	if (!scan->is_filtered)
		return;
	if (n > scan->matching_capacity)
	{
		if (scan->matching != NULL)
			pfree(scan->matching);
		scan->matching = MemoryContextAllocHuge(scan->context,
												sizeof(uint32_t) * (size_t) n);
		scan->matching_capacity = n;
	}
	for (uint32_t i = 0; i < n; i++)
		scan->matching[i] = i;
	scan->nmatching = csv_join_filters_run(scan->join_filters, at, scan->columns,
										   scan->ncolumns,
										   scan->any_inputs ? scan->inputs : NULL,
										   scan->matching, n);
}

/* leave the batch, if there is one: its records are passed */
static void
leave_batch(CsvTableScan *scan)
{
	if (scan->at != NULL)
		csv_skipping_pass(scan->skipping, scan->at->file_number,
						  (int64) scan->at->batch.file_records,
						  last_record(scan));
	scan->nunmatched += count_unmatched(scan);
	scan->at = NULL;
	scan->position = 0;
	scan->row = 0;
	scan->entry = 0;
	scan->error = 0;
}

/* Go to the next batch; false at the end of the scan. */
static bool
advance_batch(CsvTableScan *scan)
{
	leave_batch(scan);
	if (scan->shared != NULL && scan->is_leader)
		csv_skipping_say(scan->skipping);
	scan->at = csv_batches_next(scan->batches);
	if (scan->at == NULL)
	{
		scan->finished = true;
		release_progress(scan);
		(void) csv_inputs_take(scan->inputs, NULL);
		if (scan->shared != NULL)
		{
			CsvSharing *sharing = csv_shared_files(scan->shared);

			csv_skipping_end_pieces(scan->skipping,
									csv_sharing_nclaimed(sharing));
		}
		csv_skipping_end(scan->skipping, true);
		return false;
	}
	if (scan->opening == 0)
		begin_count(scan);
	if (scan->opening != scan->at->opening)
	{
		order_columns(scan);
		if (scan->virtuals != NULL)
			csv_virtuals_open_file(scan->virtuals, open_name(scan));
		scan->opening = scan->at->opening;
	}
	for (int i = 0; i < scan->ncolumns; i++)
	{
		CsvScanColumn *column = &scan->columns[i];
		const CsvArray *array = &scan->at->batch.arrays[i];

		column->values = array->values;
		column->status = array->all_ok ? NULL : array->status;
		column->stride = array->stride;
	}
	sort_columns(scan);
	scan->any_inputs = csv_inputs_take(scan->inputs, scan->at);
	match_rows(scan);
	if (scan->shared != NULL || scan->shows_progress)
		show_progress(scan);
	return true;
}

/* the next row that must come out; the batch's end if there is none */
static inline uint32_t
next_row(const CsvTableScan *scan)
{
	const CsvSelection *selection = scan->at->selection;
	uint32_t	place = scan->position;

	if (scan->is_filtered)
	{
		if (place == scan->nmatching)
			return scan->at->batch.nrows;
		place = scan->matching[place];
	}
	if (selection == NULL)
		return scan->is_filtered ? place : scan->row;
	if (place == selection->nrows)
		return scan->at->batch.nrows;
	return selection->rows[place];
}

/* switch to the row's memory, which few scans need */
static MemoryContext
enter_row(CsvTableScan *scan)
{
	if (scan->row_context == NULL)
		scan->row_context = AllocSetContextCreate(scan->context, "csv_gpu_fdw row",
												  ALLOCSET_DEFAULT_SIZES);
	scan->row_context_used = true;
	return MemoryContextSwitchTo(scan->row_context);
}

/* ---- skipped records ---- */

/* the column of a field, if one is wanted */
static const char *
column_of_field(const CsvTableScan *scan, uint32_t field)
{
	for (int i = 0; i < scan->ncolumns; i++)
		if (scan->columns[i].input.spec.field == field)
			return scan->columns[i].input.column->name;
	return NULL;
}

/*
 * Report a skipped record, or a value that is NULL instead.  For an error of a value,
 * refusal tells the error, and `error` only the record's place.  Otherwise refusal is
 * NULL.
 */
static void
skip_record(CsvTableScan *scan, int64 record, const CsvError *error,
			const CsvRefusal *refusal)
{
	const CsvFileBatch *at = scan->at;
	CsvErrorCode code;
	CsvSkipped	skipped;
	MemoryContext outer;

	if (csv_skipping_was_passed(scan->skipping, at->file_number, record))
		return;
	code = refusal != NULL ? refusal->error.code : error->code;
	outer = enter_row(scan);
	memset(&skipped, 0, sizeof(skipped));
	skipped.file = at->filename;
	skipped.record = record;
	skipped.line = (int64) at->batch.file_lines + error->line + 1;
	skipped.byte_offset = (int64) (at->batch.file_offset + error->offset);
	skipped.code = refusal != NULL && refusal->set_null ? CSV_ERROR_SET_NULL :
		code;
	if (scan->shows_bytes)
	{
		Assert(!at->batch.is_resident);
		skipped.raw = at->batch.bytes + error->offset;
		skipped.raw_length = error->length;
		/* how much of it is in the input depends on the size of chunks */
		if (code == CSV_ERROR_RECORD_TOO_LONG)
			skipped.raw_length = Min(error->length,
									 scan->table->reader.max_record_bytes);
	}
	skipped.field = -1;
	if (refusal != NULL)
	{
		/* NULL of a column that the file lacks may be refused, too */
		if (refusal->column->input.spec.field != CSV_ABSENT_FIELD)
			skipped.field = (int) refusal->column->input.spec.field;
		skipped.column_name = refusal->column->input.column->name;
		skipped.sqlerrcode = refusal->error.sqlerrcode;
		skipped.refused = &refusal->error;
		skipped.detail = refusal->error.detail;
	}
	else if (code == CSV_ERROR_TEXT_AFTER_QUOTE ||
			 code == CSV_ERROR_UNTERMINATED_QUOTE)
	{
		skipped.field = (int) error->where;
		skipped.column_name = column_of_field(scan, (uint32_t) error->where);
	}
	if (csv_skipping_needs_message(scan->skipping))
		skipped.message =
			csv_error_message(scan->table, code, error->where, at->layout->nfields,
							  skipped.column_name,
							  refusal != NULL ? &refusal->error : NULL);
	if (!csv_skipping_add(scan->skipping, &skipped))
		scan->stopped = true;
	MemoryContextSwitchTo(outer);
}

/* report an error that the engine found */
static void
skip_error(CsvTableScan *scan, const CsvError *error)
{
	int64		record = (int64) scan->at->batch.file_records +
		error->record + 1;
	CsvRefusal	refusal;
	MemoryContext outer;

	if (csv_skipping_was_passed(scan->skipping, scan->at->file_number, record))
		return;
	if (error->code <= CSV_ERROR_COLUMN_COUNT)
	{
		skip_record(scan, record, error, NULL);
		return;
	}
	outer = enter_row(scan);
	csv_inputs_explain(scan->inputs, error, &refusal);
	MemoryContextSwitchTo(outer);
	skip_record(scan, record, error, &refusal);
}

/* report a row with a refused value: it is skipped, or the value is NULL */
static void
report_row(CsvTableScan *scan, const CsvRefusal *refusal)
{
	uint32_t	entry = scan->entry;
	CsvError	error = {
		.offset = CSV_ROW_OFFSET(scan->at->batch.row_offsets[entry]),
		.line = scan->at->batch.row_lines[entry]
	};

	/* the bytes of a resident batch are not there, and nothing needs them */
	if (scan->shows_bytes)
		error.length = csv_inputs_record_length(scan->inputs, entry);
	skip_record(scan, last_record(scan) + 1, &error, refusal);
}

/* report values of the row that are NULL instead */
static void
report_nulls(CsvTableScan *scan)
{
	ListCell   *cell;

	foreach(cell, csv_inputs_take_nulls(scan->inputs))
	{
		if (scan->stopped)
			break;
		report_row(scan, lfirst(cell));
	}
}

static inline void
reset_row(CsvTableScan *scan)
{
	if (scan->row_context_used)
	{
		MemoryContextReset(scan->row_context);
		scan->row_context_used = false;
	}
}

/* Report the skipped records that stand before this row of the batch. */
static inline void
skip_errors_before(CsvTableScan *scan, uint32_t row)
{
	const CsvBatch *batch = &scan->at->batch;

	while (unlikely(scan->error < batch->nerrors) &&
		   batch->errors[scan->error].before_row <= row && !scan->stopped)
	{
		CHECK_FOR_INTERRUPTS();
		/* rows before it are passed with it */
		scan->row = batch->errors[scan->error].before_row;
		skip_error(scan, &batch->errors[scan->error]);
		scan->error++;
		reset_row(scan);
	}
}

/* ---- rows ---- */

/* fill in virtual columns; false if a value is refused */
static bool
fill_virtuals(CsvTableScan *scan, Datum *values, bool *isnull,
			  CsvRefusal *refusal)
{
	MemoryContext outer = enter_row(scan);
	int64		record = last_record(scan) + 1;
	bool		any_surplus;
	bool		good;

	good = csv_virtuals_fill(scan->virtuals, scan->inputs, scan->at, scan->entry,
							 record, &any_surplus, values, isnull, refusal);
	if (good && any_surplus)
		scan->nsurplus += csv_skipping_is_new(scan->skipping,
											  scan->at->file_number, record);
	MemoryContextSwitchTo(outer);
	return good;
}

/* set the entries of isnull that are the same for all rows of a batch */
static void
set_fixed_nulls(CsvTableScan *scan, bool *isnull)
{
	for (const CsvPlainColumn *column = scan->plain;
		 column < scan->plain_end[CSV_NUM_FETCHES - 1]; column++)
		isnull[column->att] = false;
	for (int i = 0; i < scan->ncolumns; i++)
		if (scan->columns[i].values == NULL)
			isnull[scan->columns[i].att] = true;
	scan->null_set = isnull;
}

/* Fill in the values of an entry that the arrays hold. */
static inline void
fill_fast(CsvTableScan *scan, uint32_t entry, Datum *values, bool *isnull)
{
	const CsvPlainColumn *column = scan->plain;

	if (unlikely(scan->null_set != isnull))
		set_fixed_nulls(scan, isnull);

	/* a loop for each way to fetch, which need not test the way */
#define FETCH_COLUMNS(fetch) \
	for (const CsvPlainColumn *end = scan->plain_end[fetch]; column < end; \
		 column++) \
		values[column->att] = csv_fetch_value(fetch, column->values + \
											  (size_t) entry * column->stride)

	FETCH_COLUMNS(CSV_FETCH_POINTER);
	FETCH_COLUMNS(CSV_FETCH_INT32);
	FETCH_COLUMNS(CSV_FETCH_INT64);
	FETCH_COLUMNS(CSV_FETCH_INT16);
	FETCH_COLUMNS(CSV_FETCH_BYTE);
#undef FETCH_COLUMNS

	for (int i = 0; i < scan->nnullable; i++)
	{
		const CsvScanColumn *nullable = scan->nullable[i];
		int			att = nullable->att;

		isnull[att] = nullable->status[entry] != CSV_VALUE_OK;
		values[att] = isnull[att] ? (Datum) 0 :
			csv_fetch_value(nullable->fetch, nullable->values +
							(size_t) entry * nullable->stride);
	}
}

/*
 * Fill in the current row's values that the arrays do not hold.  Returns false if the
 * row is skipped, or if the scan ends before it.
 */
static bool
fill_others(CsvTableScan *scan, Datum *values, bool *isnull)
{
	CsvRefusal	refusal;
	bool		good = true;

	if (scan->any_inputs && csv_inputs_has(scan->inputs, scan->entry))
	{
		MemoryContext outer = enter_row(scan);

		good = csv_inputs_fill(scan->inputs, scan->entry, scan->undecided,
							   values, isnull, &refusal);
		MemoryContextSwitchTo(outer);
	}
	if (scan->virtuals != NULL)
		good = good && fill_virtuals(scan, values, isnull, &refusal);
	if (!good)
	{
		(void) csv_inputs_take_nulls(scan->inputs);
		report_row(scan, &refusal);
		return false;
	}
	if (scan->table->set_null)
		report_nulls(scan);
	return !scan->stopped;
}

/* the receiver of skipped records wants no more */
static void
stop(CsvTableScan *scan)
{
	scan->finished = true;
	if (scan->shared == NULL)
		return;
	leave_batch(scan);
	csv_sharing_stop(scan->batches);
}

bool
csv_table_scan_next(CsvTableScan *scan, Datum *values, bool *isnull)
{
	if (scan->finished)
		return false;
	for (;;)
	{
		uint32_t	row;
		uint32_t	place;

		reset_row(scan);
		if (unlikely(scan->at == NULL) && !advance_batch(scan))
			return false;
		row = next_row(scan);
		skip_errors_before(scan, row);
		if (unlikely(scan->stopped))
		{
			stop(scan);
			return false;
		}
		scan->row = row;
		if (row >= scan->at->batch.nrows)
		{
			if (!advance_batch(scan))
				return false;
			continue;
		}
		place = scan->is_filtered ? scan->matching[scan->position] : scan->position;
		scan->entry = csv_has_selected_rows(&scan->at->batch) ? place : row;
		if (scan->at->selection != NULL)
			scan->undecided = scan->at->selection->any_careful &&
				scan->at->selection->careful[place] != 0;
		scan->position++;

		fill_fast(scan, scan->entry, values, isnull);
		if ((scan->any_inputs || scan->virtuals != NULL) &&
			!fill_others(scan, values, isnull))
		{
			scan->row++;
			CHECK_FOR_INTERRUPTS();
			if (!scan->stopped)
				continue;
			stop(scan);
			return false;
		}
		scan->row++;
		return true;
	}
}

/*
 * Make the values of an entry, of which the arrays hold only some.  Returns false if a
 * value is refused; that is reported when the row comes out.
 */
static bool
make_input_row(CsvTableScan *scan, uint32_t entry, CsvInputRow *row)
{
	CsvRefusal	refusal;
	bool		good;

	row->values = palloc0(sizeof(Datum) * scan->table->natts);
	row->isnull = palloc0(sizeof(bool) * scan->table->natts);
	set_fixed_nulls(scan, row->isnull);
	fill_fast(scan, entry, row->values, row->isnull);
	good = csv_inputs_fill(scan->inputs, entry, false, row->values,
						   row->isnull, &refusal);
	good &= csv_inputs_take_nulls(scan->inputs) == NIL;
	/* a later array may have the same address */
	scan->null_set = NULL;
	return good;
}

/* make the rows of a run that need more than arrays; too many rows end the run */
static void
make_input_rows(CsvTableScan *scan, CsvRowRun *run)
{
	uint32_t	end = run->first + run->nrows;
	uint32_t	entry = csv_inputs_find(scan->inputs, run->first, end);
	CsvInputRow *rows;
	MemoryContext outer;

	run->ninput_rows = 0;
	run->input_rows = NULL;
	if (entry == end)
		return;
	if (csv_inputs_has_all(scan->inputs))
	{
		run->nrows = 0;
		return;
	}
	outer = enter_row(scan);
	rows = palloc(sizeof(CsvInputRow) * CSV_MAX_INPUT_ROWS);
	run->input_rows = rows;
	for (; entry < end; entry = csv_inputs_find(scan->inputs, entry + 1, end))
	{
		if (run->ninput_rows == CSV_MAX_INPUT_ROWS ||
			!make_input_row(scan, entry, &rows[run->ninput_rows]))
		{
			run->nrows = entry - run->first;
			break;
		}
		rows[run->ninput_rows++].row = entry - run->first;
	}
	MemoryContextSwitchTo(outer);
}

bool
csv_table_scan_run(CsvTableScan *scan, CsvRowRun *run)
{
	const CsvFileBatch *at = scan->at;
	uint32_t	end;

	reset_row(scan);
	if (scan->finished || at == NULL || at->selection != NULL ||
		scan->is_filtered || scan->virtuals != NULL)
		return false;
	end = at->batch.nrows;
	if (scan->error < at->batch.nerrors)
		end = Min(end, at->batch.errors[scan->error].before_row);
	run->columns = scan->columns;
	run->ncolumns = scan->ncolumns;
	run->first = scan->row;
	run->nrows = end > run->first ? end - run->first : 0;
	if (run->nrows > 0)
		make_input_rows(scan, run);
	return run->nrows > 0;
}

const char *
csv_table_scan_place(const CsvTableScan *scan, int64 *record)
{
	*record = last_record(scan);
	return scan->at->filename;
}

void
csv_table_scan_last(const CsvTableScan *scan, CsvSkipped *last)
{
	const CsvFileBatch *at = scan->at;
	uint64_t	offset = CSV_ROW_OFFSET(at->batch.row_offsets[scan->entry]);

	memset(last, 0, sizeof(*last));
	last->file = at->filename;
	last->record = last_record(scan);
	last->line = (int64) (at->batch.file_lines + at->batch.row_lines[scan->entry]) + 1;
	last->byte_offset = (int64) (at->batch.file_offset + offset);
	last->field = -1;
	last->raw = at->batch.bytes + offset;
	last->raw_length = csv_inputs_record_length(scan->inputs, scan->entry);
}

/* ---- scans that several processes share ---- */

void
csv_table_scan_share(CsvTableScan *scan, CsvSharedScan *shared, dsa_area *dsa)
{
	MemoryContext outer = MemoryContextSwitchTo(scan->context);

	scan->shared = shared;
	scan->is_leader = !IsParallelWorker();
	csv_skipping_share(scan->skipping, csv_shared_report(shared), dsa);
	csv_sharing_begin(scan->batches, csv_shared_files(shared));
	MemoryContextSwitchTo(outer);
}

CsvScanStatistics
csv_table_scan_unshare(CsvTableScan *scan)
{
	CsvScanStatistics all;

	leave_batch(scan);
	all = tell_statistics(scan);
	scan->shared = NULL;
	if (scan->is_leader)
		csv_skipping_unshare(scan->skipping);
	csv_sharing_begin(scan->batches, NULL);
	return all;
}

/* ---- end ---- */

void
csv_table_scan_rewind(CsvTableScan *scan)
{
	leave_batch(scan);
	if (scan->shared != NULL && scan->is_leader)
		csv_skipping_say(scan->skipping);
	csv_batches_rewind(scan->batches);
	scan->finished = false;
	scan->stopped = false;
}

void
csv_table_scan_end(CsvTableScan *scan)
{
	leave_batch(scan);
	end_count(scan, false);
	csv_batches_end(scan->batches);
	release_progress(scan);
	csv_skipping_end(scan->skipping, false);
}

void
csv_table_scan_statistics(const CsvTableScan *scan,
						  CsvScanStatistics *statistics)
{
	statistics->batches = csv_batches_statistics(scan->batches);
	statistics->surplus = scan->nsurplus;
	statistics->unmatched = scan->nunmatched + count_unmatched(scan);
	statistics->records =
		csv_skipping_count(scan->skipping,
						   scan->at == NULL ? 0 : scan->at->file_number,
						   scan->at == NULL ? 0 : (int64) scan->at->batch.file_records,
						   scan->at == NULL ? 0 : last_record(scan),
						   &statistics->skipped, &statistics->set_null);
}
