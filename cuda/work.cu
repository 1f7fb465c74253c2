/*
 * work.cu
 *		Waiting for the device, and pinned memory for copies.
 */
#include "work.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

CsvStatus
csv_work_wait(CsvWork *work)
{
	CsvSession *session = work->session;
	cudaError_t error;
	bool		interrupted = false;
	struct timespec began;
	struct timespec now;

	TRY(csv_work_launched(work));
	TRY_CUDA(work, cudaEventRecord(session->done, session->stream), "kernel");
	clock_gettime(CLOCK_MONOTONIC, &began);
	while ((error = cudaEventQuery(session->done)) == cudaErrorNotReady)
	{
		const struct timespec nap = {0, 50000};

		if (!interrupted && work->interrupted != NULL)
			interrupted = work->interrupted(work->interrupted_arg);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((now.tv_sec - began.tv_sec) * 1000000000L + now.tv_nsec -
			began.tv_nsec < CSV_SPIN_NANOSECONDS)
			sched_yield();
		else
			nanosleep(&nap, NULL);
	}
	TRY_CUDA(work, error, "kernel");
	return interrupted ? CSV_INTERRUPTED : CSV_OK;
}

CsvStatus
csv_work_ask(CsvWork *work)
{
	return work->interrupted != NULL &&
		work->interrupted(work->interrupted_arg) ? CSV_INTERRUPTED : CSV_OK;
}

CsvStatus
csv_work_reserve_pinned(CsvWork *work, uint8_t **block, size_t nbytes)
{
	CsvSession *session = work->session;

	if (*block != NULL)
	{
		if (csv_pinned_size(session, *block) >= nbytes)
			return CSV_OK;
		csv_pinned_give_back(session, *block);
	}
	*block = (uint8_t *) csv_pinned_take(session, nbytes + nbytes / 8);
	if (*block != NULL)
		return CSV_OK;
	csv_session_say(work->message,
					"out of pinned host memory: %zu MB needed (%s)",
					nbytes >> 20, strerror(errno));
	return CSV_DEVICE_FAILED;
}
