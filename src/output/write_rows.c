/*
 * write_rows.c
 *		The functions by which parallel queries write their rows: the aggregate
 *		csv_gpu_write(), and csv_gpu_line(), which makes a record.
 *
 * csv_gpu_line() is for rows in order.  The leader only has to write the records, since
 * workers make them.
 *
 * The aggregate's state in a process is a writer.  The parts of a parallel query send only numbers of
 * records to the leader: files and their sizes are in the job.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/typcache.h"

#include "output/writer.h"

typedef struct WriteState
{
	CsvWriter  *writer;			/* NULL: of another process, or at its end */
	int64		nrecords;
	bool		is_row;
	int			natts;
	Datum	   *values;
	bool	   *isnull;
} WriteState;

PG_FUNCTION_INFO_V1(csv_gpu_write_row);
PG_FUNCTION_INFO_V1(csv_gpu_write_combine);
PG_FUNCTION_INFO_V1(csv_gpu_write_serialize);
PG_FUNCTION_INFO_V1(csv_gpu_write_deserialize);
PG_FUNCTION_INFO_V1(csv_gpu_write_end);
PG_FUNCTION_INFO_V1(csv_gpu_line);

/* arguments: the state, the job, and the columns or a record */
#define CSV_FIRST_COLUMN	2

static TupleDesc
record_desc(HeapTupleHeader record)
{
	return lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(record),
								  HeapTupleHeaderGetTypMod(record));
}

/* the types of columns that are arguments */
static Oid *
argument_types(FunctionCallInfo fcinfo, int first, int natts)
{
	Oid		   *types = palloc(sizeof(Oid) * (size_t) Max(natts, 1));

	if (PG_NARGS() != first + natts)
		elog(ERROR, "unexpected number of arguments: %d", PG_NARGS());
	for (int i = 0; i < natts; i++)
		types[i] = get_fn_expr_argtype(fcinfo->flinfo, first + i);
	return types;
}

static void
get_arguments(FunctionCallInfo fcinfo, int first, int natts, Datum *values,
			  bool *isnull)
{
	for (int i = 0; i < natts; i++)
	{
		values[i] = fcinfo->args[first + i].value;
		isnull[i] = fcinfo->args[first + i].isnull;
	}
}

static Oid *
record_types(HeapTupleHeader record, int natts)
{
	TupleDesc	desc = record_desc(record);
	Oid		   *types = palloc(sizeof(Oid) * (size_t) Max(natts, 1));

	if (desc->natts != natts)
		elog(ERROR, "unexpected number of columns: %d", desc->natts);
	for (int i = 0; i < natts; i++)
		types[i] = TupleDescAttr(desc, i)->atttypid;
	ReleaseTupleDesc(desc);
	return types;
}

static WriteState *
begin(FunctionCallInfo fcinfo, MemoryContext context)
{
	MemoryContext outer = MemoryContextSwitchTo(context);
	CsvJob	   *job = csv_job_attach(PG_ARGISNULL(1) ? 0 : PG_GETARG_INT64(1));
	WriteState *state = palloc0(sizeof(WriteState));
	int			natts = job->shared->natts;
	Oid		   *types = job->shared->is_row ?
		record_types(PG_GETARG_HEAPTUPLEHEADER(CSV_FIRST_COLUMN), natts) :
		argument_types(fcinfo, CSV_FIRST_COLUMN, natts);

	state->is_row = job->shared->is_row;
	state->natts = natts;
	state->values = palloc(sizeof(Datum) * (size_t) Max(natts, 1));
	state->isnull = palloc(sizeof(bool) * (size_t) Max(natts, 1));
	state->writer = csv_writer_begin(job, types);
	MemoryContextSwitchTo(outer);
	return state;
}

static void
deform(const WriteState *state, HeapTupleHeader record)
{
	TupleDesc	desc = record_desc(record);
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(record), .t_data = record};

	heap_deform_tuple(&tuple, desc, state->values, state->isnull);
	ReleaseTupleDesc(desc);
}

/* csv_gpu_write_row(state internal, job bigint, VARIADIC "any"): writes a row */
Datum
csv_gpu_write_row(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	WriteState *state;

	if (AggCheckCallContext(fcinfo, &context) != AGG_CONTEXT_AGGREGATE)
		elog(ERROR, "csv_gpu_write_row() was called outside of an aggregate");
	state = PG_ARGISNULL(0) ? begin(fcinfo, context) :
		(WriteState *) PG_GETARG_POINTER(0);
	if (state->is_row)
		deform(state, PG_GETARG_HEAPTUPLEHEADER(CSV_FIRST_COLUMN));
	else
		get_arguments(fcinfo, CSV_FIRST_COLUMN, state->natts, state->values,
					  state->isnull);
	csv_writer_add(state->writer, state->values, state->isnull);
	state->nrecords++;
	PG_RETURN_POINTER(state);
}

/* write what is left; returns the number of records */
static int64
end(WriteState *state)
{
	if (state->writer != NULL)
		csv_writer_end(state->writer);
	return state->nrecords;
}

/* csv_gpu_write_serialize(internal) returns bytea, of another process's part */
Datum
csv_gpu_write_serialize(PG_FUNCTION_ARGS)
{
	int64		nrecords = end((WriteState *) PG_GETARG_POINTER(0));
	bytea	   *bytes = palloc(VARHDRSZ + sizeof(nrecords));

	SET_VARSIZE(bytes, VARHDRSZ + sizeof(nrecords));
	memcpy(VARDATA(bytes), &nrecords, sizeof(nrecords));
	PG_RETURN_BYTEA_P(bytes);
}

Datum
csv_gpu_write_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	WriteState *state = palloc0(sizeof(WriteState));

	if (!AggCheckCallContext(fcinfo, NULL) ||
		VARSIZE_ANY_EXHDR(bytes) != sizeof(state->nrecords))
		elog(ERROR, "csv_gpu_write_deserialize() was called outside of an aggregate");
	memcpy(&state->nrecords, VARDATA_ANY(bytes), sizeof(state->nrecords));
	PG_RETURN_POINTER(state);
}

Datum
csv_gpu_write_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	WriteState *state = PG_ARGISNULL(0) ? NULL : (WriteState *) PG_GETARG_POINTER(0);

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "csv_gpu_write_combine() was called outside of an aggregate");
	if (state == NULL)
		state = MemoryContextAllocZero(context, sizeof(WriteState));
	if (!PG_ARGISNULL(1))
		state->nrecords += ((WriteState *) PG_GETARG_POINTER(1))->nrecords;
	PG_RETURN_POINTER(state);
}

/* csv_gpu_write_end(internal) returns bigint: the number of records */
Datum
csv_gpu_write_end(PG_FUNCTION_ARGS)
{
	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "csv_gpu_write_end() was called outside of an aggregate");
	PG_RETURN_INT64(PG_ARGISNULL(0) ? 0 : end((WriteState *) PG_GETARG_POINTER(0)));
}

/* ---- csv_gpu_line() ---- */

typedef struct LineState
{
	CsvRowForm	form;
	CsvOutputBytes bytes;		/* with room for a varlena's header */
	int			natts;
	Datum	   *values;
	bool	   *isnull;
} LineState;

static LineState *
begin_lines(FunctionCallInfo fcinfo)
{
	MemoryContext outer = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	CsvJob	   *job = csv_job_attach(PG_ARGISNULL(0) ? 0 : PG_GETARG_INT64(0));
	LineState  *state = palloc0(sizeof(LineState));

	state->natts = job->shared->natts;
	state->values = palloc(sizeof(Datum) * (size_t) state->natts);
	state->isnull = palloc(sizeof(bool) * (size_t) state->natts);
	csv_row_form_begin(&state->form, job, argument_types(fcinfo, 1, state->natts));
	csv_output_begin(&state->bytes, 1024);
	MemoryContextSwitchTo(outer);
	fcinfo->flinfo->fn_extra = state;
	return state;
}

/* csv_gpu_line(job bigint, VARIADIC "any") returns bytea: a record, with its line break */
Datum
csv_gpu_line(PG_FUNCTION_ARGS)
{
	LineState  *state = fcinfo->flinfo->fn_extra;
	CsvOutputBytes *bytes;
	bytea	   *line;

	if (state == NULL)
		state = begin_lines(fcinfo);
	bytes = &state->bytes;
	bytes->length = VARHDRSZ;
	get_arguments(fcinfo, 1, state->natts, state->values, state->isnull);
	csv_format_row(state->form.columns, state->form.ncolumns, state->values,
				   state->isnull, bytes, &state->form.format);
	csv_output_byte(bytes, '\n');
	line = memcpy(palloc(bytes->length), bytes->bytes, bytes->length);
	SET_VARSIZE(line, bytes->length);
	PG_RETURN_BYTEA_P(line);
}
