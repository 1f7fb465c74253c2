/*
 * write_rows.c
 *		The functions by which parallel queries write their rows: the aggregate
 *		csv_gpu_write(), and csv_gpu_line(), which makes a record.
 *
 * The aggregate's state in a process is a writer.  A process of a parallel query sends
 * nothing to the leader: files and their sizes are in the job.
 *
 * csv_gpu_line() is for rows in order.  The leader only has to write the records, since
 * workers make them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/typcache.h"

#include "output/writer.h"

/* the arguments of both: (of the aggregate, behind its state) job, columns or a record */
typedef struct RowState
{
	CsvWriter  *writer;			/* NULL: csv_gpu_line(), or of another process */
	CsvRowForm	form;			/* csv_gpu_line() */
	CsvOutputBytes bytes;
	bool		is_row;
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

static TupleDesc
record_desc(HeapTupleHeader record)
{
	return lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(record),
								  HeapTupleHeaderGetTypMod(record));
}

/* get the row; first: the argument of the first column */
static void
get_row(FunctionCallInfo fcinfo, int first, const RowState *state)
{
	if (state->is_row)
	{
		HeapTupleHeader record = PG_GETARG_HEAPTUPLEHEADER(first);
		HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(record), .t_data = record};
		TupleDesc	desc = record_desc(record);

		heap_deform_tuple(&tuple, desc, state->values, state->isnull);
		ReleaseTupleDesc(desc);
		return;
	}
	for (int i = 0; i < state->natts; i++)
	{
		state->values[i] = fcinfo->args[first + i].value;
		state->isnull[i] = fcinfo->args[first + i].isnull;
	}
}

/* the types of the columns */
static Oid *
get_types(FunctionCallInfo fcinfo, int first, const RowState *state)
{
	int			natts = state->natts;
	Oid		   *types = palloc(sizeof(Oid) * (size_t) Max(natts, 1));
	TupleDesc	desc = NULL;

	if (state->is_row && PG_NARGS() == first + 1)
		desc = record_desc(PG_GETARG_HEAPTUPLEHEADER(first));
	if (desc != NULL ? desc->natts != natts : PG_NARGS() != first + natts)
		elog(ERROR, "unexpected number of columns");
	for (int i = 0; i < natts; i++)
		types[i] = desc != NULL ? TupleDescAttr(desc, i)->atttypid :
			get_fn_expr_argtype(fcinfo->flinfo, first + i);
	if (desc != NULL)
		ReleaseTupleDesc(desc);
	return types;
}

/* at the first row; in the current memory context */
static RowState *
begin(FunctionCallInfo fcinfo, int first, bool is_aggregate)
{
	CsvJob	   *job = csv_job_attach(PG_ARGISNULL(first - 1) ? 0 : PG_GETARG_INT64(first - 1));
	RowState   *state = palloc0(sizeof(RowState));
	size_t		natts = (size_t) job->shared->natts;
	Oid		   *types;

	state->is_row = job->shared->is_row;
	state->natts = job->shared->natts;
	state->values = palloc(sizeof(Datum) * Max(natts, 1));
	state->isnull = palloc(sizeof(bool) * Max(natts, 1));
	types = get_types(fcinfo, first, state);
	if (is_aggregate)
		state->writer = csv_writer_begin(job, types);
	else
	{
		csv_row_form_begin(&state->form, job, types);
		csv_output_begin(&state->bytes, 1024);
	}
	return state;
}

/* csv_gpu_write_row(state internal, job bigint, VARIADIC "any"): writes a row */
Datum
csv_gpu_write_row(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	MemoryContext outer;
	RowState   *state;

	if (AggCheckCallContext(fcinfo, &context) != AGG_CONTEXT_AGGREGATE)
		elog(ERROR, "csv_gpu_write_row() was called outside of an aggregate");
	if (PG_ARGISNULL(0))
	{
		outer = MemoryContextSwitchTo(context);
		state = begin(fcinfo, 2, true);
		MemoryContextSwitchTo(outer);
	}
	else
		state = (RowState *) PG_GETARG_POINTER(0);
	get_row(fcinfo, 2, state);
	csv_writer_add(state->writer, state->values, state->isnull);
	PG_RETURN_POINTER(state);
}

/* write what is left; the state may be of another process */
static void
end(RowState *state)
{
	if (state->writer != NULL)
		csv_writer_end(state->writer);
}

/* csv_gpu_write_serialize(internal) returns bytea, which is empty */
Datum
csv_gpu_write_serialize(PG_FUNCTION_ARGS)
{
	bytea	   *nothing = palloc(VARHDRSZ);

	end((RowState *) PG_GETARG_POINTER(0));
	SET_VARSIZE(nothing, VARHDRSZ);
	PG_RETURN_BYTEA_P(nothing);
}

/* csv_gpu_write_deserialize(bytea, internal) returns internal: a state without a writer */
Datum
csv_gpu_write_deserialize(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(palloc0(sizeof(RowState)));
}

/* csv_gpu_write_combine(internal, internal) returns internal: such a state, too */
Datum
csv_gpu_write_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "csv_gpu_write_combine() was called outside of an aggregate");
	PG_RETURN_POINTER(PG_ARGISNULL(0) ? MemoryContextAllocZero(context, sizeof(RowState)) :
					  PG_GETARG_POINTER(0));
}

/* csv_gpu_write_end(internal) returns void */
Datum
csv_gpu_write_end(PG_FUNCTION_ARGS)
{
	if (!PG_ARGISNULL(0))
		end((RowState *) PG_GETARG_POINTER(0));
	PG_RETURN_VOID();
}

/* csv_gpu_line(job bigint, VARIADIC "any") returns bytea: a record, with its line break */
Datum
csv_gpu_line(PG_FUNCTION_ARGS)
{
	RowState   *state = fcinfo->flinfo->fn_extra;
	CsvOutputBytes *bytes;
	bytea	   *line;

	if (state == NULL)
	{
		MemoryContext outer = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		fcinfo->flinfo->fn_extra = state = begin(fcinfo, 1, false);
		MemoryContextSwitchTo(outer);
	}
	bytes = &state->bytes;
	bytes->length = VARHDRSZ;
	get_row(fcinfo, 1, state);
	csv_format_row(state->form.columns, state->form.ncolumns, state->values,
				   state->isnull, bytes, &state->form.format);
	csv_output_byte(bytes, '\n');
	line = memcpy(palloc(bytes->length), bytes->bytes, bytes->length);
	SET_VARSIZE(line, bytes->length);
	PG_RETURN_BYTEA_P(line);
}
