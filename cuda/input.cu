/*
 * input.cu
 *		A call's input on the device, bytes copied ahead, and the structure.
 */
#include "call.h"

#include <string.h>

/*
 * The host's memory may change from now on, or be freed.  So wait for the copy of
 * bytes ahead, and do not use them.
 */
void
csv_input_forget_next(CsvCuda *cuda)
{
	CsvSession *session = cuda->session;
	CsvNext    *next = &session->next;

	csv_session_enter(session);
	if (next->owner == cuda)
	{
		if (csv_session_lives(session))
			cudaEventSynchronize(next->copied[next->turn]);
		next->owner = NULL;
	}
	csv_session_leave(session);
}

/*
 * Launch the copy of the bytes to come while this call works.  If device memory is
 * short, those bytes are copied in their own call.
 */
static CsvStatus
copy_next(CsvCall *call)
{
	CsvWork    *work = &call->work;
	CsvSession *session = work->session;
	const CsvInput *input = call->input;
	CsvNext    *next = &session->next;
	cudaStream_t stream = session->next_stream;
	uint8_t    *device;

	if (csv_device_held(session) + input->next_nbytes >
		work->memory_limit / CSV_NEXT_MEMORY_SHARE ||
		csv_work_reserve(work, CSV_DEVICE_NEXT, input->next_nbytes,
						 0) != CSV_OK)
		return CSV_OK;
	device = csv_work_memory(work, CSV_DEVICE_NEXT);
	next->turn = 1 - next->turn;

	/* first the last call must have taken its bytes from there */
	TRY_CUDA(work, cudaStreamWaitEvent(stream, session->copy_in[1], 0),
			 "event");
	TRY_CUDA(work, cudaEventRecord(next->began[next->turn], stream), "event");
	for (size_t done = 0; done < input->next_nbytes; done += CSV_NEXT_COPY_BYTES)
	{
		size_t		nbytes = input->next_nbytes - done;

		if (nbytes > CSV_NEXT_COPY_BYTES)
			nbytes = CSV_NEXT_COPY_BYTES;
		TRY_CUDA(work, cudaMemcpyAsync(device + done, input->next + done,
									   nbytes, cudaMemcpyHostToDevice, stream),
				 "copy");
	}
	TRY_CUDA(work, cudaEventRecord(next->copied[next->turn], stream), "event");
	next->owner = call->cuda;
	next->bytes = input->next;
	next->nbytes = input->next_nbytes;
	return CSV_OK;
}

/*
 * Copy the input from the host to the device, except the end of it that is already
 * there.  Then begin to copy the bytes to come.
 */
static CsvStatus
copy_from_host(CsvCall *call, uint8_t *device)
{
	CsvWork    *work = &call->work;
	CsvSession *session = work->session;
	CsvInputFound *found = &call->found;
	const CsvInput *input = call->input;
	CsvNext    *next = &session->next;
	cudaStream_t stream = session->stream;
	size_t		nbytes = found->nbytes;
	bool		mine = next->owner == call->cuda;

	TRY(csv_work_mark(work, session->copy_in[0]));
	if (mine && found->nbytes == input->nbytes &&
		next->nbytes <= input->nbytes &&
		next->bytes == input->bytes + (input->nbytes - next->nbytes))
	{
		nbytes -= next->nbytes;
		TRY_CUDA(work, cudaStreamWaitEvent(stream, next->copied[next->turn], 0),
				 "event");
		TRY_CUDA(work,
				 cudaMemcpyAsync(device + nbytes,
								 csv_work_memory(work, CSV_DEVICE_NEXT),
								 next->nbytes, cudaMemcpyDeviceToDevice,
								 stream), "copy");
		found->was_ahead = true;
		found->ahead[0] = next->began[next->turn];
		found->ahead[1] = next->copied[next->turn];
	}
	TRY(csv_work_send(work, device, input->bytes, nbytes));
	TRY(csv_work_mark(work, session->copy_in[1]));
	if (mine && !found->was_ahead && input->next == next->bytes &&
		input->next_nbytes == next->nbytes)
		return CSV_OK;			/* these are copied for a later call */
	next->owner = NULL;
	return input->next == NULL ? CSV_OK : copy_next(call);
}

/* copy from the host, or from a file that is on the device */
static CsvStatus
copy_input(CsvCall *call, uint8_t *device)
{
	CsvWork    *work = &call->work;
	CsvSession *session = work->session;

	if (call->input->bytes != NULL)
		return copy_from_host(call, device);
	TRY(csv_work_mark(work, session->copy_in[0]));
	TRY(csv_work_mark(work, session->copy_in[1]));
	TRY_CUDA(work, cudaMemcpyAsync(device,
								   csv_file_bytes(call->cuda, call->input->offset),
								   call->found.nbytes, cudaMemcpyDeviceToDevice,
								   session->stream), "copy");
	return CSV_OK;
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
