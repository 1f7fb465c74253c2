/*
 * careful.c
 *		Values that a batch's arrays do not hold as datums.
 *
 * If the engine was not sure of a value, if the value is too long for its arrays, or
 * if it does not know the type, the type's input function makes the value (value.c).
 * If that function refuses the value, the record is skipped, or the value is NULL by
 * on_error 'set_null', if the type takes NULL.  Most batches have few such values or
 * none.  So entries with such values are found once for each batch, and no other entry
 * is looked at here.
 *
 * If a function needs a subtransaction, its values are made ahead for a run of rows,
 * in a single subtransaction.  If that fails, each value is made by itself.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "program/program.h"
#include "reader/lenient.h"
#include "scan/fetch.h"
#include "table/memory.h"
#include "table/source.h"

/* rows whose values are made in one subtransaction */
#define CSV_RUN_ROWS	256

struct CsvCareful
{
	MemoryContext context;
	MemoryContext run_context;	/* NULL: no run was made yet */
	CsvMemory	memory;			/* of the context */
	CsvScanColumn *columns;
	int			ncolumns;

	const CsvFileBatch *batch;
	uint32_t	nentries;
	/* entries that have such values: */
	bool		all;			/* all, */
	bool		any_decimal;	/* all, at least scaled integers, */
	bool		any_flag;		/* or these: */
	uint8_t    *flags;
	uint32_t	capacity;

	/* the run of rows made ahead: entries [run_from, run_until) */
	uint32_t	run_from;
	uint32_t	run_until;
	bool		run_failed;		/* make value by value */
	bool		has_runs;

	List	   *nulls;			/* see csv_careful_take_nulls() */

	/* for the CONTEXT of an ERROR: the value that is being made */
	const CsvScanColumn *at_column;
	const CsvError *at_error;	/* its record, if the engine found an error there; */
	uint32_t	at_entry;		/* otherwise its entry */

	/* fields of one record, for values that need the input's bytes */
	CsvScan		fields;
	uint64_t	fields_of;		/* the record's entry in row_offsets, + 1 */
	CsvDialect *lenient;		/* the batch's, for values that are read leniently;
								 * NULL: no batch has such values */
};

CsvCareful *
csv_careful_create(CsvScanColumn *columns, int ncolumns)
{
	CsvCareful *careful = palloc0(sizeof(CsvCareful));

	careful->context = CurrentMemoryContext;
	careful->memory = csv_context_memory(CurrentMemoryContext);
	careful->fields.interrupted = csv_process_interrupts;
	careful->fields.most = 2 * CSV_MAX_FIELDS;	/* a table's, and surplus fields */
	careful->columns = columns;
	careful->ncolumns = ncolumns;
	return careful;
}

/* ---- the CONTEXT of an ERROR ---- */

/* the error context callback: where the value comes from */
static void
tell_place(void *arg)
{
	const CsvCareful *careful = arg;
	const CsvBatch *batch = &careful->batch->batch;
	uint32_t	entry = careful->at_entry;
	uint64_t	record = batch->file_records + 1;
	uint64_t	line = batch->file_lines + 1;

	if (careful->at_error != NULL)
	{
		record += careful->at_error->record;
		line += careful->at_error->line;
	}
	else
	{
		uint32_t	row = csv_has_selected_rows(batch) ?
			batch->answer->selection.rows[entry] : entry;

		record += row;
		line += batch->row_lines[entry];
		for (uint32_t i = 0; i < batch->nerrors; i++)
			record += batch->errors[i].before_row <= row;
	}
	if (careful->at_column == NULL)
		errcontext("record %lld of \"%s\", line %lld", (long long) record,
				   careful->batch->filename, (long long) line);
	else
		errcontext("record %lld of \"%s\", line %lld, column \"%s\"",
				   (long long) record, careful->batch->filename,
				   (long long) line, careful->at_column->input.column->name);
}

static void
enter(CsvCareful *careful, uint32_t entry, const CsvError *error,
	  ErrorContextCallback *callback)
{
	careful->at_column = NULL;
	careful->at_error = error;
	careful->at_entry = entry;
	callback->callback = tell_place;
	callback->arg = careful;
	callback->previous = error_context_stack;
	error_context_stack = callback;
}

static void
leave(const ErrorContextCallback *callback)
{
	error_context_stack = callback->previous;
}

/* ---- a new batch ---- */

static void
free_flags(CsvCareful *careful)
{
	if (careful->flags != NULL)
		pfree(careful->flags);
	careful->flags = NULL;
	careful->capacity = 0;
}

static void
clear_flags(CsvCareful *careful)
{
	if (careful->nentries > careful->capacity)
	{
		free_flags(careful);
		careful->flags = MemoryContextAllocHuge(careful->context,
												careful->nentries);
		careful->capacity = careful->nentries;
	}
	memset(careful->flags, 0, careful->nentries);
}

static void
find_entries(CsvCareful *careful)
{
	const CsvArray *arrays = careful->batch->batch.arrays;

	for (int i = 0; i < careful->ncolumns; i++)
	{
		const CsvScanColumn *column = &careful->columns[i];

		if (column->values == NULL)
			continue;
		careful->all |= column->fetch == CSV_FETCH_CSTRING ||
			column->fetch == CSV_FETCH_RUN;
		careful->any_decimal |= column->fetch == CSV_FETCH_DECIMAL;
		careful->any_flag |= arrays[i].any_slow;
	}
	if (careful->all || !careful->any_flag)
		return;
	clear_flags(careful);
	for (int i = 0; i < careful->ncolumns; i++)
	{
		const CsvScanColumn *column = &careful->columns[i];

		if (column->values != NULL && arrays[i].any_slow)
			for (uint32_t entry = 0; entry < careful->nentries; entry++)
				careful->flags[entry] |= column->status[entry] > CSV_VALUE_NULL;
	}
}

bool
csv_careful_take(CsvCareful *careful, const CsvFileBatch *batch)
{
	careful->batch = batch;
	careful->fields_of = 0;
	careful->run_from = 0;
	careful->run_until = 0;
	careful->all = false;
	careful->any_decimal = false;
	careful->any_flag = false;
	careful->nentries = 0;
	if (batch == NULL)
	{
		free_flags(careful);
		return false;
	}
	if (batch->dialect->opt.lenient)
	{
		if (careful->lenient == NULL)
			careful->lenient = MemoryContextAlloc(careful->context,
												  sizeof(CsvDialect));
		*careful->lenient = csv_lenient_dialect(batch->dialect);
	}
	/* if no row of a batch comes out, its arrays must not be looked at */
	if (batch->selection != NULL && batch->selection->nrows == 0)
		return false;
	careful->nentries = csv_has_selected_rows(&batch->batch) ?
		batch->batch.answer->selection.nrows : batch->batch.nrows;
	careful->has_runs = false;
	for (int i = 0; i < careful->ncolumns; i++)
	{
		CsvScanColumn *column = &careful->columns[i];

		if (column->fetch != CSV_FETCH_RUN)
			continue;
		careful->has_runs = true;
		if (column->run_values != NULL)
			continue;
		column->run_values =
			MemoryContextAlloc(careful->context, sizeof(Datum) * CSV_RUN_ROWS);
		column->run_isnull =
			MemoryContextAlloc(careful->context, sizeof(bool) * CSV_RUN_ROWS);
	}
	find_entries(careful);
	return careful->all || careful->any_decimal || careful->any_flag;
}

bool
csv_careful_has(const CsvCareful *careful, uint32_t entry)
{
	return careful->all || careful->any_decimal || careful->flags[entry];
}

uint32_t
csv_careful_find(const CsvCareful *careful, uint32_t from, uint32_t until)
{
	if (careful->all)
		return from;
	if (careful->any_flag)
		while (from < until && !careful->flags[from])
			from++;
	else
		from = until;
	return from;
}

bool
csv_careful_has_all(const CsvCareful *careful)
{
	return careful->all;
}

/* ---- the record's own bytes ---- */

/*
 * Find the fields of a record of the batch, by its entry in row_offsets.  The record's
 * structure is sound, so that both modes read it the same, or it is read leniently.
 */
static void
find_fields(CsvCareful *careful, uint32_t entry)
{
	const CsvFileBatch *batch = careful->batch;

	if (careful->fields_of == (uint64_t) entry + 1)
		return;
	if (csv_scan_row(&careful->fields, &careful->memory, batch->dialect,
					 &batch->batch, entry) != CSV_OK)
		elog(ERROR, "a record of a batch is not where it should be");
	careful->fields_of = (uint64_t) entry + 1;
}

/* the dialect of the fields' values */
const CsvDialect *
csv_careful_dialect(const CsvCareful *careful)
{
	return careful->fields.lenient ? careful->lenient : careful->batch->dialect;
}

bool
csv_careful_field(CsvCareful *careful, uint32_t field, const uint8_t **content,
				  uint64_t *length)
{
	const CsvFileBatch *batch = careful->batch;
	CsvSpan		span;

	if (field >= careful->fields.nfields)
		return false;
	span = csv_scan_field(&careful->fields, batch->dialect, batch->batch.bytes,
						  batch->batch.consumed, field);
	*content = batch->batch.bytes + span.offset;
	*length = span.length;
	return true;
}

uint32_t
csv_careful_nfields(CsvCareful *careful, uint32_t entry)
{
	find_fields(careful, careful->batch->batch.row_offsets[entry]);
	return careful->fields.nfields;
}

uint64_t
csv_careful_record_length(CsvCareful *careful, uint32_t entry)
{
	find_fields(careful, careful->batch->batch.row_offsets[entry]);
	return careful->fields.end - careful->fields.start;
}

void
csv_careful_explain(CsvCareful *careful, const CsvError *error,
					CsvRefusal *refusal)
{
	const CsvDialect *dialect = careful->batch->dialect;
	CsvScanColumn *refused = &careful->columns[error->where];
	const uint8_t *content = NULL;
	uint64_t	length = 0;
	ErrorContextCallback callback;

	find_fields(careful, (uint32_t) error->offset);
	memset(refusal, 0, sizeof(*refusal));
	enter(careful, 0, error, &callback);
	for (uint32_t i = 0; i <= error->where; i++)
	{
		CsvScanColumn *column = &careful->columns[i];
		Datum		value;
		bool		isnull;

		/* of two columns with the same field, the engine tells which is refused */
		if (column != refused &&
			column->input.spec.field == refused->input.spec.field)
			continue;
		careful->at_column = column;
		refusal->column = column;
		if (csv_careful_field(careful, column->input.spec.field, &content, &length) &&
			!csv_value_from_field(&column->input, dialect, content, length,
								  &value, &isnull, &refusal->error))
			break;
	}
	/* a quote may stand inside a character, so that only the field is invalid */
	if (refusal->error.code == CSV_ERROR_NONE)
	{
		csv_value_check_bytes(&refused->input, content, length, &refusal->error);
		refusal->error.code = (CsvErrorCode) error->code;
	}
	leave(&callback);
}

/* ---- values that are NULL instead ---- */

bool
csv_careful_set_null(CsvCareful *careful, CsvScanColumn *column,
					 const CsvValueError *error, Datum *value, bool *isnull)
{
	CsvRefusal *refusal;
	CsvValueError of_null;

	if (!column->input.table->set_null ||
		!csv_value_null(&column->input, value, &of_null))
		return false;
	*isnull = true;
	refusal = palloc0(sizeof(CsvRefusal));
	refusal->column = column;
	refusal->error = *error;
	refusal->set_null = true;
	careful->nulls = lappend(careful->nulls, refusal);
	return true;
}

List *
csv_careful_take_nulls(CsvCareful *careful)
{
	List	   *nulls = careful->nulls;

	careful->nulls = NIL;
	return nulls;
}

/* ---- values ---- */

/*
 * Make one value of an entry.  Returns false, with *error filled in, if it is refused.
 */
static bool
make_value(CsvCareful *careful, CsvScanColumn *column, uint32_t entry,
		   Datum *value, bool *isnull, CsvValueError *error)
{
	const CsvFileBatch *batch = careful->batch;
	int			status = column->status == NULL ? CSV_VALUE_OK :
		column->status[entry];

	careful->at_column = column;
	careful->at_entry = entry;
	*isnull = false;
	if (status == CSV_VALUE_NULL)
	{
		*isnull = true;
		return csv_value_null(&column->input, value, error);
	}
	if (status == CSV_VALUE_OK)
	{
		char	   *string = (char *) column->values +
			(size_t) entry * column->stride + VARHDRSZ;

		/* the function may change its argument, but a kept batch must not change */
		if (batch->batch.is_kept)
			string = pstrdup(string);
		return csv_value_from_cstring(&column->input, string, value, error);
	}
	else
	{
		const uint8_t *content = NULL;
		uint64_t	length = 0;

		find_fields(careful, batch->batch.row_offsets[entry]);
		csv_careful_field(careful, column->input.spec.field, &content, &length);
		return csv_value_from_field(&column->input, csv_careful_dialect(careful),
									content, length, value, isnull, error);
	}
}

/* for csv_attempt(): make the values of a run; false if a value is refused */
static bool
make_run_values(void *arg)
{
	CsvCareful *careful = arg;

	for (int i = 0; i < careful->ncolumns; i++)
	{
		CsvScanColumn *column = &careful->columns[i];
		CsvScanColumn inside;
		bool		good = true;

		if (column->fetch != CSV_FETCH_RUN || column->values == NULL)
			continue;
		inside = *column;
		inside.input.pure = true;	/* needs no further subtransaction */
		for (uint32_t entry = careful->run_from;
			 entry < careful->run_until && good; entry++)
		{
			uint32_t	k = entry - careful->run_from;
			CsvValueError error;

			good = make_value(careful, &inside, entry, &column->run_values[k],
							  &column->run_isnull[k], &error);
		}

		/* keep the conversion that was looked up, and the function's own data */
		column->input.conversion = inside.input.conversion;
		column->input.function = inside.input.function;
		if (!good)
			return false;
	}
	careful->run_failed = false;
	return true;
}

/*
 * Make the values of the run of rows that begins with this entry, for the columns
 * whose functions need a subtransaction, in a single subtransaction.  If a value is
 * refused, the values are made one by one later, each in its own subtransaction.
 */
static void
make_run(CsvCareful *careful, uint32_t entry)
{
	ErrorData  *edata;

	if (careful->run_context == NULL)
		careful->run_context = AllocSetContextCreate(careful->context,
													 "csv_gpu_fdw run",
													 ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(careful->run_context);
	careful->run_from = entry;
	careful->run_until = Min(entry + CSV_RUN_ROWS, careful->nentries);
	careful->run_failed = true;
	edata = csv_attempt(make_run_values, careful, careful->run_context, true);
	if (edata == NULL)
		return;
	if (!csv_is_about_value(edata->sqlerrcode, false))
		ReThrowError(edata);
	FreeErrorData(edata);
}

bool
csv_careful_fill(CsvCareful *careful, uint32_t entry, bool undecided,
				 Datum *values, bool *isnull, CsvRefusal *refusal)
{
	ErrorContextCallback callback;
	bool		good = true;

	enter(careful, entry, NULL, &callback);
	if (careful->has_runs && entry >= careful->run_until)
	{
		if (csv_may_open_subtransaction())
			make_run(careful, entry);
		else
		{
			/* make value by value, each as is possible then */
			careful->run_until = entry + 1;
			careful->run_failed = true;
		}
	}

	for (int i = 0; i < careful->ncolumns && good; i++)
	{
		CsvScanColumn *column = &careful->columns[i];
		bool		is_plain = column->status == NULL ||
			column->status[entry] <= CSV_VALUE_NULL;

		if (column->values == NULL)
			continue;
		if (column->fetch == CSV_FETCH_RUN && !careful->run_failed)
		{
			uint32_t	k = entry - careful->run_from;

			values[column->att] = column->run_values[k];
			isnull[column->att] = column->run_isnull[k];
			continue;
		}
		if (column->fetch < CSV_NUM_FETCHES && is_plain)
			continue;			/* is in the slot already */
		if (column->fetch == CSV_FETCH_DECIMAL && is_plain)
		{
			isnull[column->att] = (column->hidden && !undecided) ||
				(column->status != NULL &&
				 column->status[entry] == CSV_VALUE_NULL);
			if (!isnull[column->att])
			{
				int			scale;
				CsvInt128	decimal = csv_fetch_decimal(column, entry, &scale);

				values[column->att] = csv_numeric_of_decimal(decimal, scale, NULL);
			}
			continue;
		}
		good = make_value(careful, column, entry, &values[column->att],
						  &isnull[column->att], &refusal->error) ||
			csv_careful_set_null(careful, column, &refusal->error,
								 &values[column->att], &isnull[column->att]);
		refusal->column = column;
		refusal->set_null = false;
	}
	leave(&callback);
	return good;
}
