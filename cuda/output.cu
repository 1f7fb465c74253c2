/*
 * output.cu
 *		A call's arrays: their places on the device, how windows fill them, and
 *		the copy to the host.
 */
#include "call.h"

#include <string.h>

size_t
csv_output_lay_out(const CsvCuda *cuda, CsvRowPlaces *places, uint32_t n,
				   const bool *hidden, uint8_t *base)
{
	size_t		next = 0;

	for (uint32_t i = 0; i < cuda->layout->ncolumns; i++)
	{
		CsvColumnPlace *place = &places->columns[i];

		place->values = NULL;
		place->status = NULL;
		if (n == 0 || (hidden != NULL && hidden[i]))
			continue;
		csv_place(base, &next, (size_t) n * cuda->strides[i], &place->values);
		csv_place(base, &next, n, &place->status);
	}
	csv_place(base, &next, n, &places->offsets);
	csv_place(base, &next, n, &places->lines);
	return next;
}

/* place arrays on the device, for as many records as memory allows */
CsvStatus
csv_output_place(CsvCall *call)
{
	CsvWork    *work = &call->work;
	const CsvSession *session = work->session;
	CsvCuda    *cuda = call->cuda;
	CsvFilled  *filled = &call->filled;
	uint32_t	n = cuda->layout->ncolumns;
	uint32_t	nrecords = call->found.nrecords;
	size_t		row_bytes = 8;
	size_t		budget = (size_t) call->found.nbytes * CSV_OUTPUT_SHARE +
		CSV_OUTPUT_FLOOR;
	/* memory of queries is given back if the output needs it */
	size_t		held = csv_device_held(session) -
		session->device_memory[CSV_DEVICE_OUTPUT].nbytes -
		session->device_memory[CSV_DEVICE_QUERY].nbytes -
		session->device_memory[CSV_DEVICE_ANSWER].nbytes;
	size_t		slack = (size_t) (2 * n + 3) * 256;
	size_t		room = work->memory_limit > held ?
		work->memory_limit - held : 0;
	size_t		limit;

	for (uint32_t i = 0; i < n; i++)
		row_bytes += cuda->strides[i] + 1;

	/* leave a 16th of the room for errors */
	room -= room / 16;
	if (budget > room)
		budget = room;
	limit = budget > slack ? (budget - slack) / row_bytes : 0;
	if (limit < 1)
		limit = 1;
	filled->record_limit = limit < nrecords ? (uint32_t) limit : nrecords;

	TRY(csv_work_reserve(work, CSV_DEVICE_OUTPUT,
						 csv_output_lay_out(cuda, &filled->places,
											filled->record_limit, NULL, NULL),
						 0));
	csv_output_lay_out(cuda, &filled->places, filled->record_limit, NULL,
					   csv_work_memory(work, CSV_DEVICE_OUTPUT));
	call->view.row_offsets = filled->places.offsets;
	call->view.row_lines = filled->places.lines;
	return CSV_OK;
}

/* ---- a window's arrays ---- */

static void
launch_columns(CsvCall *call)
{
	const CsvCuda *cuda = call->cuda;
	const CsvSession *session = cuda->session;
	uint32_t	nseparators = call->found.ranks[call->view.ntiles].separators;
	uint32_t	nfields = 0;

	if (call->strips.n == 0)
		return;
	for (uint32_t i = 0; i < call->strips.n; i++)
		if (cuda->strips[i].nfields > nfields)
			nfields = cuda->strips[i].nfields;
	csv_launch_columns(&call->view, call->strips,
					   (uint32_t) ((uint64_t) call->found.nbytes * nfields /
								   nseparators),
					   session->max_shared_bytes, session->stream);
	csv_launch_longs(&call->view, session->multiprocessors, session->stream);
}

/* launch the writing of errors behind those that are there */
static CsvStatus
write_errors(CsvCall *call, uint32_t nerrors)
{
	CsvWork    *work = &call->work;
	size_t		before = (size_t) call->filled.nerrors * sizeof(CsvError);
	size_t		nbytes = (size_t) nerrors * sizeof(CsvError);
	uint8_t    *errors;

	if (nerrors == 0)
		return CSV_OK;
	TRY(csv_work_reserve(work, CSV_DEVICE_ERRORS, before + nbytes, before));
	errors = csv_work_memory(work, CSV_DEVICE_ERRORS);
	/* clear the padding, too */
	TRY(csv_work_clear(work, errors + before, nbytes));
	csv_launch_errors(&call->view, (CsvError *) errors, call->filled.nerrors,
					  work->session->stream);
	call->filled.nerrors += nerrors;
	return csv_work_launched(work);
}

/*
 * Fill the rows of the window.  Bad values are only known afterwards.  Then the rows
 * are listed again, without the records of bad values, and filled once more.
 */
CsvStatus
csv_output_fill(CsvCall *call, bool launched)
{
	CsvWork    *work = &call->work;
	CsvCuda    *cuda = call->cuda;
	CsvView    *view = &call->view;
	CsvFilled  *filled = &call->filled;
	cudaStream_t stream = work->session->stream;
	uint32_t	n = cuda->layout->ncolumns;
	CsvCounters *counters = (CsvCounters *) cuda->staging;
	uint32_t   *seen = call->staged_seen;
	uint32_t	nvalid;

	view->first_row = filled->nrows;
	if (!launched)
		TRY(csv_window_launch(call));
	for (int pass = 0;; pass++)
	{
		TRY(csv_work_clear(work, &view->counters->value_errors,
						   3 * sizeof(uint32_t)));
		TRY(csv_work_clear(work, view->seen, n * 4));
		launch_columns(call);
		csv_launch_consumed(view, UINT32_MAX, stream);
		TRY(csv_work_fetch(work, counters, view->counters, sizeof(*counters)));
		TRY(csv_work_fetch(work, seen, view->seen, n * 4));
		TRY(csv_work_wait(work));
		if (counters->value_errors == 0 || pass > 0)
			break;
		csv_launch_select(view, stream);
	}

	nvalid = view->nrecords;
	if (counters->first_irregular - view->first_record < nvalid)
	{
		nvalid = counters->first_irregular - view->first_record;
		filled->irregular = true;
	}
	if (nvalid > 0)
	{
		filled->consumed = counters->consumed;
		filled->nlines = counters->nlines;
	}
	for (uint32_t i = 0; i < n; i++)
		filled->seen[i] |= seen[i];

	/* a later window may need the positions */
	if (csv_output_wants_positions(call) ||
		view->nrecords < call->found.nrecords)
	{
		csv_launch_positions(view, stream);
		TRY(csv_work_launched(work));
	}
	TRY(write_errors(call, nvalid - counters->nrows));
	filled->nrows += counters->nrows;
	filled->ndone += nvalid;
	return CSV_OK;
}

/* ---- back to the host ---- */

bool
csv_output_wants_positions(const CsvCall *call)
{
	const CsvLayout *layout = call->cuda->layout;
	bool		wanted = layout->want_positions;

	for (uint32_t i = 0; i < layout->ncolumns; i++)
		wanted |= (call->filled.seen[i] & CSV_SEEN_SLOW) != 0;
	return wanted;
}

/* describe the arrays, except their places; returns their bytes on the host */
static size_t
describe_arrays(CsvCall *call, const CsvRowPlaces *places, size_t nentries,
				CsvArray *arrays)
{
	size_t		nbytes = 0;

	for (uint32_t i = 0; i < call->cuda->layout->ncolumns; i++)
	{
		CsvArray   *array = &arrays[i];
		uint32_t	seen = call->filled.seen[i];

		memset(array, 0, sizeof(*array));
		array->stride = call->cuda->strides[i];
		array->all_ok = true;
		if (places->columns[i].values == NULL)
			continue;
		array->all_ok = (seen & CSV_SEEN_NOT_OK) == 0;
		array->any_slow = (seen & CSV_SEEN_SLOW) != 0;
		nbytes += ALIGN(nentries * array->stride, 64);
		if (!array->all_ok)
			nbytes += ALIGN(nentries, 64);
	}
	return nbytes;
}

CsvStatus
csv_output_copy_back(CsvCall *call, CsvBatch *batch)
{
	CsvWork    *work = &call->work;
	CsvSession *session = work->session;
	CsvCuda    *cuda = call->cuda;
	CsvOutput  *output = &cuda->outputs[call->input->output];
	const CsvFilled *filled = &call->filled;
	const CsvReply *reply = &call->reply;
	const CsvRowPlaces *places = reply->answered ? &reply->places :
		&filled->places;
	size_t		n = reply->answered ? reply->ask.counts.nselected :
		filled->nrows;
	size_t		errors_bytes = filled->nerrors * sizeof(CsvError);
	bool		want_positions = csv_output_wants_positions(call);
	size_t		nbytes = describe_arrays(call, places, n, output->arrays) +
		ALIGN(n, 64) + ALIGN(errors_bytes, 64) +
		(want_positions ? 2 * ALIGN(n * 4, 64) : 0) +
		(reply->answered ? csv_answer_bytes(call) : 0);
	uint8_t    *next;
	uint8_t    *zeros;

	TRY(csv_work_reserve_pinned(work, &output->block, nbytes + 64));

	/* all columns whose statuses are all OK share these zeros */
	zeros = output->block;
	memset(zeros, 0, n);
	next = zeros + ALIGN(n, 64);
	TRY(csv_work_mark(work, session->copy_out[0]));
	for (uint32_t i = 0; i < cuda->layout->ncolumns; i++)
	{
		const CsvColumnPlace *place = &places->columns[i];
		CsvArray   *array = &output->arrays[i];

		array->status = zeros;
		if (place->values != NULL)
			TRY(csv_work_fetch_part(work, &next, place->values,
									n * array->stride, &array->values));
		if (!array->all_ok)
			TRY(csv_work_fetch_part(work, &next, place->status, n,
									&array->status));
	}
	TRY(csv_work_fetch_part(work, &next,
							csv_work_memory(work, CSV_DEVICE_ERRORS),
							filled->nerrors, &batch->errors));
	if (want_positions)
	{
		TRY(csv_work_fetch_part(work, &next, places->offsets, n,
								&batch->row_offsets));
		TRY(csv_work_fetch_part(work, &next, places->lines, n,
								&batch->row_lines));
	}
	if (reply->answered)
	{
		TRY(csv_answer_fetch(call, next, &output->answer));
		batch->answer = &output->answer;
	}
	TRY(csv_work_mark(work, session->copy_out[1]));
	TRY(csv_work_wait(work));

	batch->arrays = output->arrays;
	batch->nerrors = filled->nerrors;
	batch->nrows = filled->nrows;
	batch->nrecords = filled->ndone;
	return CSV_OK;
}
