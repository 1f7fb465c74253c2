/*
 * input.cu
 *		A call's input on the device, and its structure.
 */
#include "call.h"

#include <string.h>

/* copy from the host, or from a file that is on the device */
static CsvStatus
copy_input(CsvCall *call, uint8_t *device)
{
	CsvWork    *work = &call->work;
	CsvSession *session = work->session;
	const CsvInput *input = call->input;

	TRY(csv_work_mark(work, session->copy_in[0]));
	TRY(input->bytes != NULL ?
		csv_work_send(work, device, input->bytes, call->found.nbytes) :
		csv_file_copy(work, call->cuda, input, device, call->found.nbytes,
					  cudaMemcpyDeviceToDevice));
	return csv_work_mark(work, session->copy_in[1]);
}

/* make room for the input and the ranks of its tiles, and copy the input */
static CsvStatus
place_input(CsvCall *call)
{
	CsvWork    *work = &call->work;
	CsvView    *view = &call->view;
	uint32_t	nbytes = call->found.nbytes;
	uint32_t	limit = nbytes + (call->found.at_end ? 1 : 0);
	uint32_t	ntiles = (limit + CSV_TILE_BYTES - 1) / CSV_TILE_BYTES;
	size_t		input_bytes = (size_t) ntiles * CSV_TILE_BYTES + 512;
	size_t		states_at = input_bytes;
	size_t		ranks_at = ALIGN(states_at + ntiles * sizeof(CsvWideMap), 256);
	uint8_t    *base;

	TRY(csv_work_reserve(work, CSV_DEVICE_INPUT,
						 ranks_at + (ntiles + 1) * sizeof(CsvRanks), 0));
	base = csv_work_memory(work, CSV_DEVICE_INPUT);

	view->bytes = base + 256;
	view->nbytes = nbytes;
	view->limit = limit;
	view->max_record_bytes = call->input->max_record_bytes;
	view->dialect = *call->cuda->dialect;
	view->ntiles = ntiles;
	view->tile_states = base + states_at;
	view->ranks = (CsvRanks *) (base + ranks_at);

	TRY(csv_work_clear(work, base, 256));
	TRY(csv_work_clear(work, base + 256 + nbytes, input_bytes - 256 - nbytes));
	return copy_input(call, base + 256);
}

/*
 * Launch the kernels that find the structure, and fetch their results.  Windows are
 * planned by the tiles' ranks.
 */
CsvStatus
csv_input_read(CsvCall *call)
{
	CsvWork    *work = &call->work;
	CsvCuda    *cuda = call->cuda;
	CsvView    *view = &call->view;
	CsvInputFound *found = &call->found;
	CsvCounters *counters = (CsvCounters *) cuda->staging;
	uint8_t    *ranks = cuda->staging + CSV_STAGED_RANKS;
	size_t		ranks_bytes;

	TRY(place_input(call));
	ranks_bytes = ((size_t) view->ntiles + 1) * sizeof(CsvRanks);
	TRY(csv_work_mark(work, work->session->phases[0]));
	TRY(csv_window_place_masks(call));
	memset(counters, 0, sizeof(*counters));
	counters->first_irregular = UINT32_MAX;
	TRY(csv_work_send(work, view->counters, counters, sizeof(*counters)));
	csv_launch_structure(view, &cuda->tables, work->session->stream);
	TRY(csv_work_mark(work, work->session->phases[1]));
	TRY(csv_work_fetch(work, counters, view->counters, sizeof(*counters)));
	TRY(csv_work_fetch(work, ranks, view->ranks, ranks_bytes));
	TRY(csv_work_wait(work));

	/* the staging block will be used again */
	memcpy(found->ranks, ranks, ranks_bytes);
	found->nrecords = counters->total.ends;
	found->has_tail = counters->total.starts > counters->total.ends;
	found->ends_in_comment = counters->ends_in_comment != 0;
	found->tail_start = found->has_tail ? counters->last_start :
		found->nbytes - counters->crs_at_end;
	return CSV_OK;
}
