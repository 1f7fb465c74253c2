/*
 * observe.c
 *		The evidence of all values of a file.
 *
 * The file is read as any table is, by the engine, with a column of type text for each
 * field.  So a record that is skipped here is skipped whatever the types.  Threads that
 * parse the file add the values of their batches to evidence of the batch's own, which is
 * merged in the order of the file.  They leave out rows that the scan delivers one by one:
 * the first of a batch, the first behind an error, and rows with values that the arrays do
 * not hold.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "import/findings.h"
#include "import/sample.h"
#include "scan/row_run.h"
#include "scan/scan.h"
#include "table/text.h"

/*
 * Line breaks in quoted values that would make rows of their lines, for a table of two
 * columns
 */
#define LEAST_JOINED	3

/* the share of its lines that are like rows, if quotes have joined them */
#define MOST_LIKE	0.8

/* bytes of evidence of a batch: for wider tables, threads leave all values to the scan */
#define MOST_NOTE_BYTES	(1024 * 1024)

/* the evidence of a batch, or of the whole file */
typedef struct Note
{
	CsvEvidence *evidence;		/* by column; NULL: there is no memory */
	const char **values;		/* room for a row's */
	bool		any_joined;
} Note;

typedef struct Observer
{
	CsvFindings *findings;
	CsvReadingRules rules;		/* a copy, since threads run on when an ERROR is raised */
	CsvTableScan *scan;
	char	   *file;			/* the last one of which rows came; NULL: none */
	Note		all;
	Note	   *notes;			/* CSV_BATCH_SLOTS of them, for threads; NULL: none */
	MemoryContextCallback callback;
} Observer;

/*
 * Do quotes seem to join rows?  Then nearly all lines of the value, except parts of lines
 * at its beginning and end, have as many delimiters as a row has.  If there are none, both
 * parts together have as many.
 */
static bool
is_joined(const CsvFindings *findings, const char *text, uint32 nbytes)
{
	const CsvDialectOptions *dialect = &findings->table->reader.dialect;
	const char	break_byte = (char) csv_break_byte(findings->boundary);
	const uint32 per_line = findings->ncolumns - 1;
	uint32		nlike = 0;
	uint32		nlines = 0;		/* blank lines aside */
	uint32		in_parts = 0;	/* delimiters */
	uint32		in_line = 0;
	uint32		begin = 0;		/* of a line */

	if (per_line == 0 || dialect->quote == 0 || memchr(text, break_byte, nbytes) == NULL)
		return false;
	for (uint32 i = 0; i < nbytes; i++)
	{
		in_line += csv_delimiter_at(dialect, (const uint8_t *) text, i, nbytes);
		if (text[i] != break_byte)
			continue;
		if (begin == 0)
			in_parts = in_line;
		else if (i - begin > (text[i - 1] == '\r'))
		{
			nlines++;
			nlike += in_line == per_line;
		}
		begin = i + 1;
		in_line = 0;
	}
	in_parts += in_line;
	if (per_line == 1 && nlines + 1 < LEAST_JOINED)
		return false;
	return nlines > 0 ? nlike >= nlines * MOST_LIKE : in_parts == per_line;
}

/* add a record's values, texts or NULLs; may_join: quotes may have joined records in them */
static void
add_row(const Observer *observer, Note *note, const CsvValuePlace *place,
		bool may_join)
{
	const CsvFindings *findings = observer->findings;

	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		const char *value = note->values[i];
		CsvEvidence *evidence = &note->evidence[i];

		if (value == NULL)
		{
			evidence->nnulls++;
			continue;
		}
		csv_evidence_add(&observer->rules, evidence, place, VARDATA_ANY(value),
						 (uint32) VARSIZE_ANY_EXHDR(value));
		note->any_joined |= may_join && is_joined(findings, VARDATA_ANY(value),
												  (uint32) VARSIZE_ANY_EXHDR(value));
	}
}

/* ---- in a thread ---- */

/* does the scan deliver a row by itself? */
static bool
is_delivered(const CsvBatch *batch, const CsvLayout *layout, bool any_slow, uint32_t row,
			 uint32_t *error)
{
	bool		behind_error = false;

	for (; *error < batch->nerrors && batch->errors[*error].before_row <= row; ++*error)
		behind_error = true;
	if (row == 0 || behind_error)
		return true;
	for (uint32_t i = 0; any_slow && i < layout->ncolumns; i++)
		if (batch->arrays[i].any_slow && batch->arrays[i].status[row] > CSV_VALUE_NULL)
			return true;
	return false;
}

static void
take_row(Note *note, const CsvBatch *batch, const CsvLayout *layout, uint32_t row)
{
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		const CsvArray *array = &batch->arrays[i];
		const bool	is_null = array->values == NULL ||
			(!array->all_ok && array->status[row] == CSV_VALUE_NULL);

		note->values[layout->columns[i].attnum - 1] = is_null ? NULL :
			(const char *) array->values + (size_t) row * array->stride;
	}
}

/* as CsvBatchHook: in a thread, which PostgreSQL does not know of */
static bool
observe_in_thread(void *arg, uint32_t thread, uint32_t slot, CsvBatch *batch,
				  bool (*interrupted) (void *interrupted_arg), void *interrupted_arg)
{
	Observer   *observer = arg;
	const CsvLayout *layout = observer->scan->batches->at.layout;
	Note	   *note = &observer->notes[slot];
	bool		any_slow = false;
	uint32_t	error = 0;
	uint32_t	before;

	if (note->evidence == NULL)
		note->evidence = malloc(sizeof(CsvEvidence) * observer->findings->ncolumns);
	if (note->evidence == NULL)
		return true;
	memset(note->evidence, 0, sizeof(CsvEvidence) * observer->findings->ncolumns);
	note->any_joined = false;
	for (uint32_t i = 0; i < layout->ncolumns; i++)
		any_slow |= batch->arrays[i].any_slow;
	for (before = 0; before < batch->nerrors && batch->errors[before].before_row == 0;)
		before++;
	for (uint32_t row = 0; row < batch->nrows; row++)
	{
		if (!is_delivered(batch, layout, any_slow, row, &error))
		{
			const CsvValuePlace place = {
				.record = (int64) row + error - before,
				.line = batch->row_lines[row] + 1
			};

			take_row(note, batch, layout, row);
			add_row(observer, note, &place, batch->nlines > batch->nrecords);
		}
		if (row % 1024 == 0 && interrupted(interrupted_arg))
			return true;
	}
	batch->note = note;
	return true;
}

/* ---- in the order of the file ---- */

/* the place before the first line of the batch */
static CsvValuePlace
place_before(Observer *observer)
{
	const CsvFileBatch *at = observer->scan->at;

	if (observer->file == NULL || strcmp(observer->file, at->filename) != 0)
		observer->file =
			MemoryContextStrdup(GetMemoryChunkContext(observer->findings),
								at->filename);
	return (CsvValuePlace) {
		observer->findings->nrecords, (int64) at->batch.file_lines,
		observer->file
	};
}

/*
 * a row of the batch, by its entry there, which is n records behind those that
 * are counted
 */
static void
add_delivered(Observer *observer, const Datum *values, const bool *isnull,
			  uint32 entry,
			  uint32 n)
{
	CsvValuePlace place = place_before(observer);

	place.record += n;
	place.line += observer->scan->at->batch.row_lines[entry] + 1;
	for (uint32 i = 0; i < observer->findings->ncolumns; i++)
		observer->all.values[i] = isnull[i] ? NULL : DatumGetPointer(values[i]);
	add_row(observer, &observer->all, &place, true);
}

/* the evidence of the batch whose first row comes next */
static void
add_note(Observer *observer, Note *note)
{
	CsvValuePlace before;

	if (note == NULL || note->evidence == NULL)
		return;
	before = place_before(observer);
	for (uint32 i = 0; i < observer->findings->ncolumns; i++)
		csv_evidence_merge(&observer->all.evidence[i], &note->evidence[i],
						   &before);
	observer->all.any_joined |= note->any_joined;
	free(note->evidence);
	note->evidence = NULL;
}

/* the reset callback of the context in which the scan is */
static void
free_notes(void *arg)
{
	Observer   *observer = arg;

	for (int slot = 0; observer->notes != NULL && slot < CSV_BATCH_SLOTS; slot++)
		free(observer->notes[slot].evidence);
	observer->notes = NULL;
}

/* ---- records ---- */

/* does a backslash stand before a delimiter in it? */
static bool
has_escaped_delimiter(const CsvTable *table, const CsvSkipped *skipped)
{
	const CsvSample record = {.bytes = skipped->raw, .nbytes = skipped->raw_length};

	return table->reader.dialect.quoting != CSV_QUOTING_TEXT &&
		csv_sample_has(&record, psprintf("\\%c", table->reader.dialect.delimiter));
}

static void
add_fault(CsvFindings *findings, CsvFault *fault, const CsvSkipped *skipped)
{
	if (fault->n++ == 0)
		fault->first = MemoryContextStrdup(GetMemoryChunkContext(findings),
										   psprintf("Record %lld of \"%s\": %s.",
													(long long) skipped->record,
													skipped->file, skipped->message));
}

/* a CsvSkippedFn */
static bool
note_skipped(void *arg, const CsvSkipped *skipped)
{
	CsvFindings *findings = arg;

	findings->nrecords++;
	add_fault(findings, &findings->skipped, skipped);
	if (skipped->code == CSV_ERROR_INVALID_UTF8)
		add_fault(findings, &findings->invalid, skipped);
	else if (skipped->code == CSV_ERROR_NUL_BYTE)
		add_fault(findings, &findings->zero, skipped);
	else if (skipped->code == CSV_ERROR_TEXT_AFTER_QUOTE ||
			 skipped->code == CSV_ERROR_UNTERMINATED_QUOTE)
		add_fault(findings, &findings->misquoted, skipped);
	else if (skipped->code == CSV_ERROR_COLUMN_COUNT &&
			 has_escaped_delimiter(findings->table, skipped))
		add_fault(findings, &findings->escaped, skipped);
	return true;
}

/* have threads make notes of their batches */
static void
watch(Observer *observer)
{
	CsvBatchHook hook = {observe_in_thread, observer};

	observer->notes = palloc0(sizeof(Note) * CSV_BATCH_SLOTS);
	for (int slot = 0; slot < CSV_BATCH_SLOTS; slot++)
		observer->notes[slot].values = palloc(sizeof(char *) * observer->findings->ncolumns);
	observer->callback.func = free_notes;
	observer->callback.arg = observer;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &observer->callback);
	csv_batches_watch(observer->scan->batches, &hook);
}

void
csv_observe_values(CsvFindings *findings, const CsvReadingRules *rules, int64 max_records)
{
	const CsvTable *table = findings->table;
	Datum	   *values = palloc(sizeof(Datum) * table->natts);
	bool	   *isnull = palloc(sizeof(bool) * table->natts);
	Observer   *observer = palloc0(sizeof(Observer));
	CsvRowRun	run;

	observer->findings = findings;
	observer->rules = *rules;
	observer->all.evidence = findings->evidence;
	observer->all.values = palloc(sizeof(char *) * findings->ncolumns);
	observer->scan =
		csv_table_scan_begin(table, csv_table_attributes(table), NULL,
							 CSV_SCAN_PLACES,
							 note_skipped, findings);
	observer->scan->shows_progress = true;
	if (max_records < 0 && sizeof(CsvEvidence) * findings->ncolumns <= MOST_NOTE_BYTES)
		watch(observer);
	while (max_records < 0 || findings->nrecords < max_records)
	{
		Note	   *note;

		if (!csv_table_scan_next(observer->scan, values, isnull))
		{
			findings->complete = true;
			break;
		}
		CHECK_FOR_INTERRUPTS();
		note = observer->scan->batches->at.batch.note;
		add_note(observer, note);
		add_delivered(observer, values, isnull, observer->scan->entry, 0);
		findings->nrecords++;
		while (note != NULL && csv_table_scan_run(observer->scan, &run))
		{
			for (uint32_t i = 0; i < run.ninput_rows; i++)
				add_delivered(observer, run.input_rows[i].values, run.input_rows[i].isnull,
							  run.first + run.input_rows[i].row,
							  run.input_rows[i].row);
			findings->nrecords += run.nrows;
			observer->scan->row += run.nrows;
		}
	}
	findings->any_joined = observer->all.any_joined;
	csv_table_scan_end(observer->scan);
	free_notes(observer);
}
