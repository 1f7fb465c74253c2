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

/* the evidence of a batch, in a thread */
typedef struct BatchNote
{
	CsvEvidence *evidence;		/* by attribute; NULL: there is no memory */
	bool		any_joined;
} BatchNote;

typedef struct Observer
{
	CsvFindings *findings;
	CsvReadingRules rules;		/* a copy, since threads run on when an ERROR is raised */
	CsvTableScan *scan;
	BatchNote  *notes;			/* CSV_BATCH_SLOTS of them */
	int		   *places;			/* csv_row_run_fetch(): each attribute's is its own */
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

/* add a text, or NULL; do quotes seem to have joined records in it, if they may? */
static bool
add_value(const Observer *observer, CsvEvidence *evidence, int64 record, const char *value,
		  bool may_join)
{
	uint32		nbytes;

	if (value == NULL)
	{
		evidence->nnulls++;
		return false;
	}
	nbytes = (uint32) VARSIZE_ANY_EXHDR(value);
	csv_evidence_add(&observer->rules, evidence, record, VARDATA_ANY(value), nbytes);
	return may_join && is_joined(observer->findings, VARDATA_ANY(value), nbytes);
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
observe_row(const Observer *observer, BatchNote *note, const CsvBatch *batch,
			const CsvLayout *layout, uint32_t row, int64 record)
{
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		const CsvArray *array = &batch->arrays[i];
		const bool	is_null = array->values == NULL ||
			(!array->all_ok && array->status[row] == CSV_VALUE_NULL);

		note->any_joined |=
			add_value(observer, &note->evidence[layout->columns[i].attnum - 1], record,
					  is_null ? NULL : (const char *) array->values + (size_t) row * array->stride,
					  batch->nlines > batch->nrecords);
	}
}

/* as CsvBatchHook: in a thread, which PostgreSQL does not know of */
static bool
observe_in_thread(void *arg, uint32_t thread, uint32_t slot, CsvBatch *batch,
				  bool (*interrupted) (void *interrupted_arg), void *interrupted_arg)
{
	Observer   *observer = arg;
	const CsvLayout *layout = observer->scan->batches->at.layout;
	BatchNote  *note = &observer->notes[slot];
	const Size	nbytes = sizeof(CsvEvidence) * observer->findings->ncolumns;
	bool		any_slow = false;
	uint32_t	error = 0;
	uint32_t	before;

	if (note->evidence == NULL)
		note->evidence = malloc(nbytes);
	if (note->evidence == NULL)
		return true;
	memset(note->evidence, 0, nbytes);
	note->any_joined = false;
	for (uint32_t i = 0; i < layout->ncolumns; i++)
		any_slow |= batch->arrays[i].any_slow;
	for (before = 0; before < batch->nerrors && batch->errors[before].before_row == 0;)
		before++;
	for (uint32_t row = 0; row < batch->nrows; row++)
	{
		if (!is_delivered(batch, layout, any_slow, row, &error))
			observe_row(observer, note, batch, layout, row, (int64) row + error - before);
		if (row % 1024 == 0 && interrupted(interrupted_arg))
			return true;
	}
	batch->note = note;
	return true;
}

/* ---- in the order of the file ---- */

static void
add_row(Observer *observer, const Datum *values, const bool *isnull, int64 record)
{
	CsvFindings *findings = observer->findings;

	for (uint32 i = 0; i < findings->ncolumns; i++)
		findings->any_joined |=
			add_value(observer, &findings->columns[i].evidence, record,
					  isnull[i] ? NULL : DatumGetPointer(values[i]), true);
}

/* the evidence of the batch whose first row is record `first` */
static void
add_note(Observer *observer, int64 first)
{
	CsvFindings *findings = observer->findings;
	BatchNote  *note = observer->scan->batches->at.batch.note;

	if (note == NULL || note->evidence == NULL)
		return;
	for (uint32 i = 0; i < findings->ncolumns; i++)
		csv_evidence_merge(&findings->columns[i].evidence, &note->evidence[i], first);
	findings->any_joined |= note->any_joined;
	free(note->evidence);
	note->evidence = NULL;
}

/* rows from `first` on, the number of their first record */
static void
add_run(Observer *observer, const CsvRowRun *run, int64 first, Datum *values, bool *isnull)
{
	BatchNote  *note = observer->scan->batches->at.batch.note;

	if (note != NULL)
	{
		for (uint32_t i = 0; i < run->ncareful; i++)
			add_row(observer, run->careful[i].values, run->careful[i].isnull,
					first + run->careful[i].row);
		return;
	}
	for (uint32_t row = 0; row < run->nrows; row++)
	{
		if (row % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (csv_row_run_fetch(run, row, observer->places, values, isnull, NULL))
			add_row(observer, values, isnull, first + row);
	}
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

static char *
describe(const CsvFindings *findings, const CsvSkipped *skipped)
{
	return MemoryContextStrdup(GetMemoryChunkContext((void *) findings),
							   psprintf("Record %lld of \"%s\": %s.", (long long) skipped->record,
										skipped->file, skipped->message));
}

/* a CsvSkippedFn */
static bool
note_skipped(void *arg, const CsvSkipped *skipped)
{
	CsvFindings *findings = arg;
	CsvFault   *fault = NULL;

	findings->nrecords++;
	if (findings->nskipped++ == 0)
		findings->first_skipped = describe(findings, skipped);
	if (skipped->code == CSV_ERROR_INVALID_UTF8)
		fault = &findings->invalid;
	else if (skipped->code == CSV_ERROR_NUL_BYTE)
		fault = &findings->zero;
	else if (skipped->code == CSV_ERROR_TEXT_AFTER_QUOTE ||
			 skipped->code == CSV_ERROR_UNTERMINATED_QUOTE)
		fault = &findings->misquoted;
	else if (skipped->code == CSV_ERROR_COLUMN_COUNT &&
			 has_escaped_delimiter(findings->table, skipped))
		fault = &findings->escaped;
	if (fault != NULL && fault->n++ == 0)
		fault->first = describe(findings, skipped);
	return true;
}

void
csv_observe_values(CsvFindings *findings, const CsvReadingRules *rules, int64 max_records)
{
	const CsvTable *table = findings->table;
	Datum	   *values = palloc(sizeof(Datum) * table->natts);
	bool	   *isnull = palloc(sizeof(bool) * table->natts);
	Observer   *observer = palloc0(sizeof(Observer));
	CsvBatchHook hook = {observe_in_thread, observer};
	CsvRowRun	run;

	observer->findings = findings;
	observer->rules = *rules;
	observer->places = palloc(sizeof(int) * table->natts);
	for (int i = 0; i < table->natts; i++)
		observer->places[i] = i;
	observer->scan = csv_table_scan_begin(table, csv_table_attributes(table), NULL, 0,
										  note_skipped, findings);
	observer->scan->shows_progress = true;
	if (max_records < 0 && sizeof(CsvEvidence) * findings->ncolumns <= MOST_NOTE_BYTES)
	{
		observer->notes = palloc0(sizeof(BatchNote) * CSV_BATCH_SLOTS);
		observer->callback.func = free_notes;
		observer->callback.arg = observer;
		MemoryContextRegisterResetCallback(CurrentMemoryContext, &observer->callback);
		csv_batches_watch(observer->scan->batches, &hook);
	}
	while (max_records < 0 || findings->nrecords < max_records)
	{
		if (!csv_table_scan_next(observer->scan, values, isnull))
		{
			findings->complete = true;
			break;
		}
		CHECK_FOR_INTERRUPTS();
		if (observer->notes != NULL)
			add_note(observer, findings->nrecords);
		add_row(observer, values, isnull, findings->nrecords++);
		while (max_records < 0 && csv_table_scan_run(observer->scan, &run))
		{
			add_run(observer, &run, findings->nrecords, values, isnull);
			findings->nrecords += run.nrows;
			observer->scan->row += run.nrows;
		}
	}
	csv_table_scan_end(observer->scan);
	free_notes(observer);
}
