/*
 * engine.cu
 *		The CUDA engine: open, configure, parse and close.  call.h lists the steps
 *		of a call of parse.
 */
#include "call.h"
#include "../src/reader/arrays.h"
#include "../src/reader/clock.h"

#include <stdio.h>
#include <string.h>

/* ---- open and close ---- */

static void
cuda_close(void *engine)
{
	CsvCuda    *cuda = (CsvCuda *) engine;
	CsvSession *session = cuda->session;
	CsvMemory	memory = cuda->memory;
	void	   *arrays[] = {cuda->strides, cuda->text, cuda->strips,
	cuda->host};

	csv_held_drop(cuda);
	for (int i = 0; i < CSV_CUDA_OUTPUTS; i++)
	{
		csv_pinned_give_back(session, cuda->outputs[i].block);
		csv_pinned_give_back(session, cuda->outputs[i].bytes);
		if (cuda->detours[i].engine != NULL)
			csv_cpu_engine.close(cuda->detours[i].engine);
		csv_free(&memory, cuda->outputs[i].arrays);
	}
	csv_pinned_give_back(session, cuda->staging);
	csv_pinned_give_back(session, cuda->piece);
	for (void *array : arrays)
		csv_free(&memory, array);
	csv_query_drop(cuda);
	csv_free(&memory, cuda);
}

CsvCuda *
csv_cuda_make(CsvSession *session, const CsvCudaOptions *options,
			  const CsvMemory *memory)
{
	CsvCuda    *cuda = (CsvCuda *) csv_alloc_zeros(memory, sizeof(CsvCuda));

	if (cuda == NULL)
		return NULL;
	cuda->session = session;
	cuda->memory = *memory;
	cuda->options = *options;
	cuda->table.session = session;
	cuda->table.first_capacity = options->hold_from > 0 ? 1 :
		CSV_TABLE_FIRST_GROUPS;
	return cuda;
}

void *
csv_cuda_open(CsvSession *session, const CsvCudaOptions *options,
			  const CsvMemory *memory, char *reason, size_t reason_size)
{
	CsvCuda    *cuda;

	if (!csv_cuda_wake(session, reason, reason_size))
		return NULL;
	cuda = csv_cuda_make(session, options, memory);
	snprintf(reason, reason_size, "%s", cuda == NULL ? "out of memory" : "");
	return cuda;
}

static const char *
cuda_detail(void *engine)
{
	return ((CsvCuda *) engine)->session->device_name;
}

static const char *
cuda_message(void *engine)
{
	return ((CsvCuda *) engine)->message;
}

/* all have room for n elements, or there is no memory */
static CsvStatus
reserve_arrays(CsvCuda *cuda, uint32_t n)
{
	const struct
	{
		void	   *array;
		size_t		size;		/* of an element */
	}			arrays[] = {
		{&cuda->strides, sizeof(uint32_t)},
		{&cuda->text, sizeof(uint32_t)},
		{&cuda->strips, sizeof(CsvStrip)},
		{&cuda->outputs[0].arrays, sizeof(CsvArray)},
		{&cuda->outputs[1].arrays, sizeof(CsvArray)}
	};

	static_assert(CSV_CUDA_OUTPUTS == 2, "each output has an array");
	if (n <= cuda->capacity)
		return CSV_OK;
	cuda->capacity = 0;
	for (const auto &each : arrays)
	{
		size_t		none = 0;

		if (!csv_renew(&cuda->memory, each.array, &none, n * each.size))
			return CSV_NO_MEMORY;
	}
	cuda->capacity = n;
	return CSV_OK;
}

/* split the columns, which are in order of their fields, into strips */
static void
plan_strips(CsvCuda *cuda)
{
	const CsvLayout *layout = cuda->layout;
	CsvStrip   *strip = NULL;

	cuda->nstrips = 0;
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		uint32_t	field = layout->columns[i].field;

		if (strip == NULL || strip->ncolumns == CSV_STRIP_COLUMNS ||
			field - strip->first_field >= CSV_STRIP_FIELDS ||
			field - (strip->first_field + strip->nfields) + 1 > CSV_STRIP_GAP)
		{
			strip = &cuda->strips[cuda->nstrips++];
			strip->first_column = i;
			strip->ncolumns = 0;
			strip->first_field = field;
			strip->nfields = 0;
			strip->lanes_log = 0;
		}
		strip->ncolumns++;
		strip->nfields = field - strip->first_field + 1;
		while (1u << strip->lanes_log < strip->nfields)
			strip->lanes_log++;
	}
}

static CsvStatus
cuda_configure(void *engine, const CsvDialect *dialect,
			   const CsvLayout *layout)
{
	CsvCuda    *cuda = (CsvCuda *) engine;
	uint32_t	same = 0;

	csv_query_drop(cuda);
	cuda->dialect = dialect;
	cuda->layout = layout;
	for (int i = 0; i < CSV_CUDA_OUTPUTS; i++)
		cuda->detours[i].configured = false;
	if (layout->ncolumns > CSV_MAX_COLUMNS)
	{
		csv_session_say(cuda->message, "more than %d columns", CSV_MAX_COLUMNS);
		return CSV_DEVICE_FAILED;
	}
	csv_structure_tables(dialect, &cuda->tables);
	TRY(reserve_arrays(cuda, layout->ncolumns));
	cuda->ntext = 0;
	cuda->max_per_field = 1;
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		const CsvColumn *column = &layout->columns[i];

		if (column->kind == CSV_KIND_TEXT || column->kind == CSV_KIND_CSTRING)
			cuda->text[cuda->ntext++] = i;
		same = i > 0 && column->field == column[-1].field ? same + 1 : 1;
		if (same > cuda->max_per_field)
			cuda->max_per_field = same;
	}
	plan_strips(cuda);
	return CSV_OK;
}

/* ---- parse ---- */

static double
seconds_between(cudaEvent_t from, cudaEvent_t to)
{
	float		milliseconds = 0;

	if (cudaEventElapsedTime(&milliseconds, from, to) != cudaSuccess)
	{
		cudaGetLastError();
		return 0;
	}
	return milliseconds / 1000.0;
}

/*
 * How a call without failure ends: with a batch, with a stretch for the CPU engine, or
 * because even one record takes more memory than there is.
 */
typedef enum Outcome
{
	OUTCOME_BATCH,
	OUTCOME_IRREGULAR,
	OUTCOME_TOO_SMALL
} Outcome;

/* fill the arrays from the records; there is at least one */
static CsvStatus
fill_arrays(CsvCall *call)
{
	CsvFilled  *filled = &call->filled;
	uint32_t	nrecords = call->found.nrecords;
	bool		one_window;

	TRY(csv_window_open(call, 0, UINT32_MAX));
	one_window = call->view.nrecords == nrecords;
	TRY(csv_layout_upload(call));
	TRY(csv_layout_measure(call, one_window));
	TRY(csv_output_place(call));
	TRY(csv_layout_upload(call));
	if (one_window && filled->record_limit == nrecords)
		return csv_output_fill(call, true);

	/* the output may be full before the window ends */
	while (filled->ndone < filled->record_limit && !filled->irregular)
	{
		TRY(csv_work_ask(&call->work));
		TRY(csv_window_open(call, filled->ndone,
							filled->record_limit - filled->ndone));
		TRY(csv_output_fill(call, false));
	}
	return CSV_OK;
}

/* fetch a file's bytes from the device, if the caller may look at them */
static CsvStatus
fetch_bytes(CsvCall *call, CsvBatch *batch)
{
	CsvWork    *work = &call->work;
	CsvCuda    *cuda = call->cuda;
	CsvOutput  *output = &cuda->outputs[call->input->output];

	if (!csv_batch_needs_bytes(batch, cuda->layout))
		return CSV_OK;
	TRY(csv_file_fetch(work, cuda, call->input, call->input->nbytes,
					   &output->bytes));
	batch->bytes = output->bytes + CSV_MARGIN;
	return csv_work_wait(work);
}

/* the batch, and how far it reaches */
static CsvStatus
finish_batch(CsvCall *call, CsvBatch *batch)
{
	CsvWork    *work = &call->work;
	CsvFilled  *filled = &call->filled;
	CsvCounters *counters = (CsvCounters *) call->cuda->staging;
	bool		all = filled->ndone == call->found.nrecords;

	/* after all records, blank lines behind them are consumed as well */
	if (all)
	{
		csv_launch_consumed(&call->view, call->found.tail_start,
							work->session->stream);
		TRY(csv_work_fetch(work, counters, call->view.counters,
						   sizeof(*counters)));
	}
	TRY(csv_output_copy_back(call, batch));
	batch->bytes = call->input->bytes;
	batch->nbytes = call->input->nbytes;
	batch->consumed = all ? counters->consumed : filled->consumed;
	batch->skip_line = all && call->found.ends_in_comment;
	batch->nlines = all ? counters->nlines : filled->nlines;
	return batch->bytes == NULL ? fetch_bytes(call, batch) : CSV_OK;
}

static CsvStatus
parse_on_device(CsvCall *call, CsvBatch *batch, Outcome *outcome)
{
	CsvInputFound *found = &call->found;
	const CsvInput *input = call->input;
	uint32_t	tail_bytes;

	*outcome = OUTCOME_BATCH;
	TRY(csv_layout_place(call));
	TRY(csv_input_read(call));
	tail_bytes = found->nbytes - found->tail_start;
	if (found->nrecords > 0)
	{
		TRY(fill_arrays(call));
		if (call->filled.irregular && call->filled.ndone == 0)
			*outcome = OUTCOME_IRREGULAR;
	}
	else if (found->has_tail && tail_bytes > input->max_record_bytes + CSV_BREAK_CRS)
		*outcome = OUTCOME_IRREGULAR;
	else if (found->nbytes < input->nbytes && found->tail_start == 0)
		*outcome = OUTCOME_TOO_SMALL;
	if (*outcome != OUTCOME_BATCH)
		return CSV_OK;
	TRY(csv_answer_find(call));
	TRY(csv_work_mark(&call->work, call->work.session->phases[2]));
	TRY(finish_batch(call, batch));

	/* groups must not be added twice, so this comes last */
	return csv_answer_hold(call);
}

/* the part of the limit that groups on the device leave */
static size_t
available_memory(CsvWork *work)
{
	CsvSession *session = work->session;
	size_t		taken;

	csv_session_enter(session);
	taken = session->table_bytes;
	csv_session_leave(session);
	return work->memory_limit > taken ? work->memory_limit - taken : 0;
}

/* host data of the call, all zero, in one block */
static CsvStatus
place_on_host(CsvCall *call)
{
	CsvCuda    *cuda = call->cuda;
	uint32_t	n = cuda->layout->ncolumns;
	size_t		ntiles = (size_t) call->found.nbytes / CSV_TILE_BYTES + 3;
	size_t		nbytes = 2 * n * sizeof(CsvColumnPlace) + n * 4;
	size_t		ranks_bytes = ntiles * sizeof(CsvRanks);
	CsvColumnPlace *places;

	if (!csv_renew(&cuda->memory, &cuda->host, &cuda->host_bytes,
				   nbytes + ranks_bytes))
		return CSV_NO_MEMORY;
	memset(cuda->host, 0, nbytes);
	places = (CsvColumnPlace *) cuda->host;
	call->filled.places.columns = places;
	call->reply.places.columns = places + n;
	call->filled.seen = (uint32_t *) (places + 2 * n);
	call->found.ranks = (CsvRanks *) (call->filled.seen + n);
	if (n > 0)
		memset(cuda->strides, 0, n * sizeof(uint32_t));
	return CSV_OK;
}

/* for a call without failure; `began`: the time when it got the device */
static void
measure_time(const CsvCall *call, double began, Outcome outcome,
			 CsvBatch *batch)
{
	const CsvSession *session = call->work.session;
	double		seconds = csv_now_seconds() - began;

	batch->copy_in_seconds = seconds_between(session->copy_in[0],
											 session->copy_in[1]);
	if (outcome == OUTCOME_BATCH)
	{
		batch->copy_out_seconds = seconds_between(session->copy_out[0],
												  session->copy_out[1]);
		batch->structure_seconds = seconds_between(session->phases[0],
												   session->phases[1]);
		batch->device_seconds = seconds_between(session->phases[0],
												session->phases[2]);
	}
	seconds -= batch->copy_in_seconds + batch->copy_out_seconds;
	batch->parse_seconds = seconds > 0 ? seconds : 0;
}

/* parse, alone with the device */
static CsvStatus
enter_and_parse(CsvCall *call, CsvBatch *batch, Outcome *outcome)
{
	CsvWork    *work = &call->work;
	CsvSession *session = work->session;
	CsvStatus	status = CSV_DEVICE_FAILED;
	double		began;

	csv_session_enter(session);
	if (csv_session_check(session, work->message))
	{
		began = csv_now_seconds();	/* after waiting for another scan's call */

		/* an engine with a higher limit may have been here before */
		csv_device_trim(session, work->memory_limit);
		status = parse_on_device(call, batch, outcome);
		if (status == CSV_OK)
			measure_time(call, began, *outcome, batch);
	}
	csv_session_leave(session);
	return status;
}

static CsvStatus
cuda_parse(void *engine, const CsvInput *input, CsvBatch *batch)
{
	CsvCuda    *cuda = (CsvCuda *) engine;
	CsvCall		call;
	CsvWork    *work = &call.work;
	CsvStatus	status;
	Outcome		outcome = OUTCOME_BATCH;
	uint64_t	most;

	memset(batch, 0, sizeof(*batch));
	if (input->alone_until > 0 || input->skip_line)
		return csv_detour_parse(cuda, input, batch);
	memset((void *) &call, 0, sizeof(call));
	call.cuda = cuda;
	call.input = input;
	work->session = cuda->session;
	work->memory_limit = csv_session_limit(cuda->session,
										   cuda->options.memory_limit);
	work->interrupted = input->interrupted;
	work->interrupted_arg = input->interrupted_arg;
	work->message = cuda->message;

	/* the rest is left for the next call */
	most = (uint64_t) (available_memory(work) / CSV_MEMORY_SHARE);
	if (most > CSV_MAX_INPUT_BYTES)
		most = CSV_MAX_INPUT_BYTES;
	call.found.nbytes = (uint32_t) (input->nbytes < most ? input->nbytes : most);
	call.found.at_end = input->at_end && call.found.nbytes == input->nbytes;
	if (input->nbytes == 0)
	{
		batch->arrays = cuda->outputs[input->output].arrays;
		batch->bytes = input->bytes;
		for (uint32_t i = 0; i < cuda->layout->ncolumns; i++)
			memset(&batch->arrays[i], 0, sizeof(CsvArray));
		return CSV_OK;
	}
	TRY(place_on_host(&call));
	status = enter_and_parse(&call, batch, &outcome);
	if (status == CSV_OK && outcome == OUTCOME_IRREGULAR)
		return csv_detour_parse(cuda, input, batch);
	if (status == CSV_OK && outcome == OUTCOME_TOO_SMALL)
	{
		csv_session_say(work->message,
						"out of GPU memory: a record of more than %u bytes needs more than the limit of %zu MB",
						call.found.nbytes, work->memory_limit >> 20);
		return CSV_DEVICE_FAILED;
	}
	return status;
}

extern "C" const CsvEngine csv_cuda_engine = {
	"cuda",
	cuda_detail,
	cuda_configure,
	cuda_parse,
	cuda_message,
	cuda_close,
	CSV_CHUNK_BYTES,
	CSV_FIRST_CHUNK_BYTES,
	CSV_CUDA_OUTPUTS,
	csv_query_set,
	csv_held_fetch,
	NULL,						/* it has no threads of its own */
	NULL
};
