/*
 * inputs.c
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

struct CsvInputs
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

	List	   *nulls;			/* see csv_inputs_take_nulls() */

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

CsvInputs *
csv_inputs_create(CsvScanColumn *columns, int ncolumns)
{
	CsvInputs  *inputs = palloc0(sizeof(CsvInputs));

	inputs->context = CurrentMemoryContext;
	inputs->memory = csv_context_memory(CurrentMemoryContext);
	inputs->fields.interrupted = csv_process_interrupts;
	inputs->fields.most = 2 * CSV_MAX_FIELDS;	/* a table's, and surplus fields */
	inputs->columns = columns;
	inputs->ncolumns = ncolumns;
	return inputs;
}

/* ---- the CONTEXT of an ERROR ---- */

/* the error context callback: where the value comes from */
static void
tell_place(void *arg)
{
	const CsvInputs *inputs = arg;
	const CsvBatch *batch = &inputs->batch->batch;
	uint32_t	entry = inputs->at_entry;
	uint64_t	record = batch->file_records + 1;
	uint64_t	line = batch->file_lines + 1;

	if (inputs->at_error != NULL)
	{
		record += inputs->at_error->record;
		line += inputs->at_error->line;
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
	if (inputs->at_column == NULL)
		errcontext("record %lld of \"%s\", line %lld", (long long) record,
				   inputs->batch->filename, (long long) line);
	else
		errcontext("record %lld of \"%s\", line %lld, column \"%s\"",
				   (long long) record, inputs->batch->filename,
				   (long long) line, inputs->at_column->input.column->name);
}

static void
enter(CsvInputs *inputs, uint32_t entry, const CsvError *error,
	  ErrorContextCallback *callback)
{
	inputs->at_column = NULL;
	inputs->at_error = error;
	inputs->at_entry = entry;
	callback->callback = tell_place;
	callback->arg = inputs;
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
free_flags(CsvInputs *inputs)
{
	if (inputs->flags != NULL)
		pfree(inputs->flags);
	inputs->flags = NULL;
	inputs->capacity = 0;
}

static void
clear_flags(CsvInputs *inputs)
{
	if (inputs->nentries > inputs->capacity)
	{
		free_flags(inputs);
		inputs->flags = MemoryContextAllocHuge(inputs->context,
											   inputs->nentries);
		inputs->capacity = inputs->nentries;
	}
	memset(inputs->flags, 0, inputs->nentries);
}

static void
find_entries(CsvInputs *inputs)
{
	const CsvArray *arrays = inputs->batch->batch.arrays;

	for (int i = 0; i < inputs->ncolumns; i++)
	{
		const CsvScanColumn *column = &inputs->columns[i];

		if (column->values == NULL)
			continue;
		inputs->all |= column->fetch == CSV_FETCH_CSTRING ||
			column->fetch == CSV_FETCH_RUN;
		inputs->any_decimal |= column->fetch == CSV_FETCH_DECIMAL;
		inputs->any_flag |= arrays[i].any_slow;
	}
	if (inputs->all || !inputs->any_flag)
		return;
	clear_flags(inputs);
	for (int i = 0; i < inputs->ncolumns; i++)
	{
		const CsvScanColumn *column = &inputs->columns[i];

		if (column->values != NULL && arrays[i].any_slow)
			for (uint32_t entry = 0; entry < inputs->nentries; entry++)
				inputs->flags[entry] |= column->status[entry] > CSV_VALUE_NULL;
	}
}

bool
csv_inputs_take(CsvInputs *inputs, const CsvFileBatch *batch)
{
	inputs->batch = batch;
	inputs->fields_of = 0;
	inputs->run_from = 0;
	inputs->run_until = 0;
	inputs->all = false;
	inputs->any_decimal = false;
	inputs->any_flag = false;
	inputs->nentries = 0;
	if (batch == NULL)
	{
		free_flags(inputs);
		return false;
	}
	if (batch->dialect->opt.lenient)
	{
		if (inputs->lenient == NULL)
			inputs->lenient = MemoryContextAlloc(inputs->context,
												 sizeof(CsvDialect));
		*inputs->lenient = csv_lenient_dialect(batch->dialect);
	}
	/* if no row of a batch comes out, its arrays must not be looked at */
	if (batch->selection != NULL && batch->selection->nrows == 0)
		return false;
	inputs->nentries = csv_has_selected_rows(&batch->batch) ?
		batch->batch.answer->selection.nrows : batch->batch.nrows;
	inputs->has_runs = false;
	for (int i = 0; i < inputs->ncolumns; i++)
	{
		CsvScanColumn *column = &inputs->columns[i];

		if (column->fetch != CSV_FETCH_RUN)
			continue;
		inputs->has_runs = true;
		if (column->run_values != NULL)
			continue;
		column->run_values =
			MemoryContextAlloc(inputs->context, sizeof(Datum) * CSV_RUN_ROWS);
		column->run_isnull =
			MemoryContextAlloc(inputs->context, sizeof(bool) * CSV_RUN_ROWS);
	}
	find_entries(inputs);
	return inputs->all || inputs->any_decimal || inputs->any_flag;
}

bool
csv_inputs_has(const CsvInputs *inputs, uint32_t entry)
{
	return inputs->all || inputs->any_decimal || inputs->flags[entry];
}

uint32_t
csv_inputs_find(const CsvInputs *inputs, uint32_t from, uint32_t until)
{
	if (inputs->all)
		return from;
	if (inputs->any_flag)
		while (from < until && !inputs->flags[from])
			from++;
	else
		from = until;
	return from;
}

bool
csv_inputs_has_all(const CsvInputs *inputs)
{
	return inputs->all;
}

/* ---- the record's own bytes ---- */

/*
 * Find the fields of a record of the batch, by its entry in row_offsets.  The record's
 * structure is good, so that both modes read it the same, or it is read leniently.
 */
static void
find_fields(CsvInputs *inputs, uint32_t entry)
{
	const CsvFileBatch *batch = inputs->batch;

	if (inputs->fields_of == (uint64_t) entry + 1)
		return;
	if (csv_scan_row(&inputs->fields, &inputs->memory, batch->dialect,
					 &batch->batch, entry) != CSV_OK)
		elog(ERROR, "a record of a batch is not where it should be");
	inputs->fields_of = (uint64_t) entry + 1;
}

/* the dialect of the fields' values */
const CsvDialect *
csv_inputs_dialect(const CsvInputs *inputs)
{
	return inputs->fields.lenient ? inputs->lenient : inputs->batch->dialect;
}

bool
csv_inputs_field(CsvInputs *inputs, uint32_t field, const uint8_t **content,
				 uint64_t *length)
{
	const CsvFileBatch *batch = inputs->batch;
	CsvSpan		span;

	if (field >= inputs->fields.nfields)
		return false;
	span = csv_scan_field(&inputs->fields, batch->dialect, batch->batch.bytes,
						  batch->batch.consumed, field);
	*content = batch->batch.bytes + span.offset;
	*length = span.length;
	return true;
}

uint32_t
csv_inputs_nfields(CsvInputs *inputs, uint32_t entry)
{
	find_fields(inputs, inputs->batch->batch.row_offsets[entry]);
	return inputs->fields.nfields;
}

uint64_t
csv_inputs_record_length(CsvInputs *inputs, uint32_t entry)
{
	find_fields(inputs, inputs->batch->batch.row_offsets[entry]);
	return inputs->fields.end - inputs->fields.start;
}

void
csv_inputs_explain(CsvInputs *inputs, const CsvError *error,
				   CsvRefusal *refusal)
{
	const CsvDialect *dialect = inputs->batch->dialect;
	CsvScanColumn *refused = &inputs->columns[error->where];
	const uint8_t *content = NULL;
	uint64_t	length = 0;
	ErrorContextCallback callback;

	find_fields(inputs, (uint32_t) error->offset);
	memset(refusal, 0, sizeof(*refusal));
	enter(inputs, 0, error, &callback);
	for (uint32_t i = 0; i <= error->where; i++)
	{
		CsvScanColumn *column = &inputs->columns[i];
		Datum		value;
		bool		isnull;

		/* of two columns with the same field, the engine tells which is refused */
		if (column != refused &&
			column->input.spec.field == refused->input.spec.field)
			continue;
		inputs->at_column = column;
		refusal->column = column;
		if (csv_inputs_field(inputs, column->input.spec.field, &content, &length) &&
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
csv_inputs_set_null(CsvInputs *inputs, CsvScanColumn *column,
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
	inputs->nulls = lappend(inputs->nulls, refusal);
	return true;
}

List *
csv_inputs_take_nulls(CsvInputs *inputs)
{
	List	   *nulls = inputs->nulls;

	inputs->nulls = NIL;
	return nulls;
}

/* ---- values ---- */

/*
 * Make one value of an entry.  Returns false, with *error filled in, if it is refused.
 */
static bool
make_value(CsvInputs *inputs, CsvScanColumn *column, uint32_t entry,
		   Datum *value, bool *isnull, CsvValueError *error)
{
	const CsvFileBatch *batch = inputs->batch;
	int			status = column->status == NULL ? CSV_VALUE_OK :
		column->status[entry];

	inputs->at_column = column;
	inputs->at_entry = entry;
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

		/* the function may change its argument, but a resident batch must not change */
		if (batch->batch.is_resident)
			string = pstrdup(string);
		return csv_value_from_cstring(&column->input, string, value, error);
	}
	else
	{
		const uint8_t *content = NULL;
		uint64_t	length = 0;

		find_fields(inputs, batch->batch.row_offsets[entry]);
		csv_inputs_field(inputs, column->input.spec.field, &content, &length);
		return csv_value_from_field(&column->input, csv_inputs_dialect(inputs),
									content, length, value, isnull, error);
	}
}

/* for csv_attempt(): make the values of a run; false if a value is refused */
static bool
make_run_values(void *arg)
{
	CsvInputs  *inputs = arg;

	for (int i = 0; i < inputs->ncolumns; i++)
	{
		CsvScanColumn *column = &inputs->columns[i];
		CsvScanColumn inside;
		bool		good = true;

		if (column->fetch != CSV_FETCH_RUN || column->values == NULL)
			continue;
		inside = *column;
		inside.input.pure = true;	/* needs no further subtransaction */
		for (uint32_t entry = inputs->run_from;
			 entry < inputs->run_until && good; entry++)
		{
			uint32_t	k = entry - inputs->run_from;
			CsvValueError error;

			good = make_value(inputs, &inside, entry, &column->run_values[k],
							  &column->run_isnull[k], &error);
		}

		/* keep the conversion that was looked up, and the function's own data */
		column->input.conversion = inside.input.conversion;
		column->input.function = inside.input.function;
		if (!good)
			return false;
	}
	inputs->run_failed = false;
	return true;
}

/*
 * Make the values of the run of rows that begins with this entry, for the columns
 * whose functions need a subtransaction, in a single subtransaction.  If a value is
 * refused, the values are made one by one later, each in its own subtransaction.
 */
static void
make_run(CsvInputs *inputs, uint32_t entry)
{
	ErrorData  *edata;

	if (inputs->run_context == NULL)
		inputs->run_context = AllocSetContextCreate(inputs->context,
													"csv_gpu_fdw run",
													ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(inputs->run_context);
	inputs->run_from = entry;
	inputs->run_until = Min(entry + CSV_RUN_ROWS, inputs->nentries);
	inputs->run_failed = true;
	edata = csv_attempt(make_run_values, inputs, inputs->run_context, true);
	if (edata == NULL)
		return;
	if (!csv_is_about_value(edata->sqlerrcode, false))
		ReThrowError(edata);
	FreeErrorData(edata);
}

bool
csv_inputs_fill(CsvInputs *inputs, uint32_t entry, bool undecided,
				Datum *values, bool *isnull, CsvRefusal *refusal)
{
	ErrorContextCallback callback;
	bool		good = true;

	enter(inputs, entry, NULL, &callback);
	if (inputs->has_runs && entry >= inputs->run_until)
	{
		if (csv_may_open_subtransaction())
			make_run(inputs, entry);
		else
		{
			/* make value by value, each as is possible then */
			inputs->run_until = entry + 1;
			inputs->run_failed = true;
		}
	}

	for (int i = 0; i < inputs->ncolumns && good; i++)
	{
		CsvScanColumn *column = &inputs->columns[i];
		bool		is_plain = column->status == NULL ||
			column->status[entry] <= CSV_VALUE_NULL;

		if (column->values == NULL)
			continue;
		if (column->fetch == CSV_FETCH_RUN && !inputs->run_failed)
		{
			uint32_t	k = entry - inputs->run_from;

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
		good = make_value(inputs, column, entry, &values[column->att],
						  &isnull[column->att], &refusal->error) ||
			csv_inputs_set_null(inputs, column, &refusal->error,
								&values[column->att], &isnull[column->att]);
		refusal->column = column;
		refusal->set_null = false;
	}
	leave(&callback);
	return good;
}
