/*
 * write_rows.c
 *		The functions by which parallel queries write their rows: the aggregate
 *		csv_gpu_write(), and csv_gpu_line(), which makes a record.
 *
 * The aggregate's state in a process is a writer, and its result is the list of the files
 * that all processes have written.
 *
 * csv_gpu_line() is for rows in order.  The leader only has to write the records, since
 * workers make them.
 *
 * The job's handle is declared as "internal", so that no SQL can call these functions.
 */
#include "postgres.h"

#include "fmgr.h"

#include "output/writer.h"

typedef struct RowState
{
	CsvWriter  *writer;			/* NULL: csv_gpu_line(), or of other processes */
	CsvRowForm	form;			/* csv_gpu_line() */
	CsvOutputBytes bytes;		/* the record of csv_gpu_line(), or the files */
	int			natts;
	Datum	   *values;
	bool	   *isnull;
} RowState;

PG_FUNCTION_INFO_V1(csv_gpu_write_row);
PG_FUNCTION_INFO_V1(csv_gpu_write_combine);
PG_FUNCTION_INFO_V1(csv_gpu_write_serialize);
PG_FUNCTION_INFO_V1(csv_gpu_write_deserialize);
PG_FUNCTION_INFO_V1(csv_gpu_write_end);
PG_FUNCTION_INFO_V1(csv_gpu_line);

static RowState *
make_state(MemoryContext context)
{
	MemoryContext outer = MemoryContextSwitchTo(context);
	RowState   *state = palloc0(sizeof(RowState));

	csv_output_begin(&state->bytes, 1024);
	MemoryContextSwitchTo(outer);
	return state;
}

/* at the first row; first: the argument of the first column, behind the job's handle */
static RowState *
begin(FunctionCallInfo fcinfo, int first, MemoryContext context, bool is_aggregate)
{
	RowState   *state = make_state(context);
	MemoryContext outer = MemoryContextSwitchTo(context);
	const CsvJob *job = csv_job_open(PG_GETARG_INT64(first - 1));
	Oid		   *types;

	state->natts = PG_NARGS() - first;
	state->values = palloc(sizeof(Datum) * (size_t) state->natts);
	state->isnull = palloc(sizeof(bool) * (size_t) state->natts);
	types = palloc(sizeof(Oid) * (size_t) state->natts);
	for (int i = 0; i < state->natts; i++)
		types[i] = get_fn_expr_argtype(fcinfo->flinfo, first + i);
	if (is_aggregate)
		state->writer = csv_writer_begin(job, types);
	else
		csv_row_form_begin(&state->form, job, types);
	MemoryContextSwitchTo(outer);
	return state;
}

static void
get_row(FunctionCallInfo fcinfo, int first, RowState *state)
{
	for (int i = 0; i < state->natts; i++)
	{
		state->values[i] = fcinfo->args[first + i].value;
		state->isnull[i] = fcinfo->args[first + i].isnull;
	}
}

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "csv_gpu_write() is not called as an aggregate");
	return context;
}

/* csv_gpu_write_row(state internal, job internal, VARIADIC "any"): writes a row */
Datum
csv_gpu_write_row(PG_FUNCTION_ARGS)
{
	RowState   *state = PG_ARGISNULL(0) ?
		begin(fcinfo, 2, aggregate_context(fcinfo), true) :
		(RowState *) PG_GETARG_POINTER(0);

	get_row(fcinfo, 2, state);
	csv_writer_add(state->writer, state->values, state->isnull);
	PG_RETURN_POINTER(state);
}

/* write the rest; returns the files of all processes whose rows the state has */
static Datum
end(RowState *state)
{
	CsvOutputBytes files;

	csv_output_begin(&files, VARHDRSZ + state->bytes.length);
	files.length = VARHDRSZ;
	csv_output_bytes(&files, state->bytes.bytes, state->bytes.length);
	if (state->writer != NULL)
		csv_writer_end(state->writer, false, &files);
	SET_VARSIZE(files.bytes, files.length);
	PG_RETURN_BYTEA_P(files.bytes);
}

/* csv_gpu_write_serialize(internal) returns bytea: files */
Datum
csv_gpu_write_serialize(PG_FUNCTION_ARGS)
{
	return end((RowState *) PG_GETARG_POINTER(0));
}

/* csv_gpu_write_deserialize(bytea, internal) returns internal: a state without a writer */
Datum
csv_gpu_write_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *files = PG_GETARG_BYTEA_PP(0);
	RowState   *state = make_state(CurrentMemoryContext);

	csv_output_bytes(&state->bytes, VARDATA_ANY(files), VARSIZE_ANY_EXHDR(files));
	PG_RETURN_POINTER(state);
}

/* csv_gpu_write_combine(internal, internal) returns internal: such a state, too */
Datum
csv_gpu_write_combine(PG_FUNCTION_ARGS)
{
	RowState   *state = PG_ARGISNULL(0) ? make_state(aggregate_context(fcinfo)) :
		(RowState *) PG_GETARG_POINTER(0);

	if (!PG_ARGISNULL(1))
	{
		const CsvOutputBytes *files = &((RowState *) PG_GETARG_POINTER(1))->bytes;

		csv_output_bytes(&state->bytes, files->bytes, files->length);
	}
	PG_RETURN_POINTER(state);
}

/* csv_gpu_write_end(internal) returns bytea: files, or NULL without rows */
Datum
csv_gpu_write_end(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	return end((RowState *) PG_GETARG_POINTER(0));
}

/* csv_gpu_line(job internal, VARIADIC "any") returns bytea: a record, with its line break */
Datum
csv_gpu_line(PG_FUNCTION_ARGS)
{
	RowState   *state = fcinfo->flinfo->fn_extra;
	bytea	   *line;

	if (state == NULL)
		fcinfo->flinfo->fn_extra = state = begin(fcinfo, 1, fcinfo->flinfo->fn_mcxt, false);
	state->bytes.length = VARHDRSZ;
	get_row(fcinfo, 1, state);
	csv_format_row(state->form.columns, state->form.ncolumns, state->values,
				   state->isnull, &state->bytes, &state->form.format);
	csv_output_byte(&state->bytes, '\n');
	line = memcpy(palloc(state->bytes.length), state->bytes.bytes, state->bytes.length);
	SET_VARSIZE(line, state->bytes.length);
	PG_RETURN_BYTEA_P(line);
}
