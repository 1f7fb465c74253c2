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
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "output/writer.h"

/* the arguments of both: (of the aggregate, behind its state) job, columns or a record */
typedef struct RowState
{
	CsvWriter  *writer;			/* NULL: csv_gpu_line(), or of another process */
	CsvRowForm	form;			/* csv_gpu_line() */
	CsvOutputBytes bytes;
	int64		job;			/* its handle */
	bool		is_row;
	Oid			record_type;	/* of the latest record */
	int32		record_typmod;
	int			natts;
	Oid		   *types;
	Datum	   *values;
	bool	   *isnull;
} RowState;

PG_FUNCTION_INFO_V1(csv_gpu_write_row);
PG_FUNCTION_INFO_V1(csv_gpu_write_combine);
PG_FUNCTION_INFO_V1(csv_gpu_write_serialize);
PG_FUNCTION_INFO_V1(csv_gpu_write_deserialize);
PG_FUNCTION_INFO_V1(csv_gpu_write_end);
PG_FUNCTION_INFO_V1(csv_gpu_line);

/*
 * Returns the descriptor of a record, which the caller must release.  Users may call
 * these functions, too, and give other records from row to row.
 */
static TupleDesc
record_desc(NullableDatum argument, RowState *state)
{
	HeapTupleHeader record;
	TupleDesc	desc;
	Oid			type;
	int32		typmod;

	if (argument.isnull)
		csv_job_refuse();
	record = DatumGetHeapTupleHeader(argument.value);
	type = HeapTupleHeaderGetTypeId(record);
	typmod = HeapTupleHeaderGetTypMod(record);
	desc = lookup_rowtype_tupdesc(type, typmod);
	if (type == state->record_type && typmod == state->record_typmod)
		return desc;
	if (desc->natts != state->natts)
		csv_job_refuse();
	for (int i = 0; i < state->natts; i++)
	{
		if (!OidIsValid(state->record_type))
			state->types[i] = TupleDescAttr(desc, i)->atttypid;
		else if (state->types[i] != TupleDescAttr(desc, i)->atttypid)
			csv_job_refuse();
	}
	state->record_type = type;
	state->record_typmod = typmod;
	return desc;
}

/* get the row; first: the argument of the first column */
static void
get_row(FunctionCallInfo fcinfo, int first, RowState *state)
{
	/* a cursor, or the state of a function, may outlive the job */
	(void) csv_job_attach(state->job);
	if (state->is_row)
	{
		TupleDesc	desc = record_desc(fcinfo->args[first], state);
		HeapTupleHeader record = PG_GETARG_HEAPTUPLEHEADER(first);
		HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(record), .t_data = record};

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

/* get the types of the columns */
static void
get_types(FunctionCallInfo fcinfo, int first, RowState *state)
{
	if (PG_NARGS() != first + (state->is_row ? 1 : state->natts))
		csv_job_refuse();
	if (!state->is_row)
		for (int i = 0; i < state->natts; i++)
			state->types[i] = get_fn_expr_argtype(fcinfo->flinfo, first + i);
	else if (type_is_rowtype(get_fn_expr_argtype(fcinfo->flinfo, first)))
	{
		TupleDesc	desc = record_desc(fcinfo->args[first], state);

		ReleaseTupleDesc(desc);
	}
	else
		csv_job_refuse();
}

/* at the first row; in the current memory context */
static RowState *
begin(FunctionCallInfo fcinfo, int first, bool is_aggregate)
{
	CsvJob	   *job = csv_job_attach(PG_ARGISNULL(first - 1) ? 0 : PG_GETARG_INT64(first - 1));
	RowState   *state = palloc0(sizeof(RowState));
	size_t		natts = (size_t) job->shared->natts;

	state->job = csv_job_handle(job);
	state->is_row = job->shared->is_row;
	state->natts = job->shared->natts;
	state->values = palloc(sizeof(Datum) * Max(natts, 1));
	state->isnull = palloc(sizeof(bool) * Max(natts, 1));
	state->types = palloc0(sizeof(Oid) * Max(natts, 1));
	get_types(fcinfo, first, state);
	if (is_aggregate)
		state->writer = csv_writer_begin(job, state->types);
	else
	{
		csv_row_form_begin(&state->form, job, state->types);
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
		csv_job_refuse();
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
	if (state->writer == NULL)
		return;
	(void) csv_job_attach(state->job);
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
		csv_job_refuse();
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
