/*
 * work.h
 *		How a host call uses the device: copying, waiting, failing.
 */
#ifndef CSV_CUDA_WORK_H
#define CSV_CUDA_WORK_H

#include "session.h"

/* state of a call between enter and leave */
typedef struct CsvWork
{
	CsvSession *session;
	size_t		memory_limit;	/* bytes of device memory */
	bool		(*interrupted) (void *arg);	/* or NULL */
	void	   *interrupted_arg;
	char	   *message;		/* CSV_MESSAGE_BYTES, for CSV_DEVICE_FAILED */
} CsvWork;

/* go on only if the status is CSV_OK */
#define TRY(status_) \
	do { \
		CsvStatus try_status_ = (status_); \
		if (try_status_ != CSV_OK) \
			return try_status_; \
	} while (0)

/* TRY for a call of CUDA */
#define TRY_CUDA(work_, call_, what_) TRY(csv_work_check(work_, call_, what_))

static inline CsvStatus
csv_work_check(const CsvWork *work, cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return CSV_OK;
	csv_session_failed(work->session, error, what, work->message);
	return CSV_DEVICE_FAILED;
}

static inline CsvStatus
csv_work_launched(const CsvWork *work)
{
	return csv_work_check(work, cudaGetLastError(), "kernel launch");
}

/*
 * Wait for everything that was launched.  CSV_INTERRUPTED if the callback says so;
 * even then the device is done when this returns, since no kernel runs for long.
 */
extern CsvStatus csv_work_wait(CsvWork *work);

/* only call the callback */
extern CsvStatus csv_work_ask(CsvWork *work);

/* device memory: see csv_device_reserve */
static inline CsvStatus
csv_work_reserve(CsvWork *work, CsvDeviceMemory which, size_t nbytes,
				 size_t keep)
{
	return csv_device_reserve(work->session, which, nbytes, keep,
							  work->memory_limit, work->message) ?
		CSV_OK : CSV_DEVICE_FAILED;
}

static inline uint8_t *
csv_work_memory(const CsvWork *work, CsvDeviceMemory which)
{
	return work->session->device_memory[which].bytes;
}

/*
 * Launch copies of n bytes to the device and back to the host, and n bytes of zeros.
 * Memory of the host must stay until the caller has waited for the device.
 */
static inline CsvStatus
csv_work_send(const CsvWork *work, void *device, const void *host, size_t n)
{
	return n == 0 ? CSV_OK :
		csv_work_check(work, cudaMemcpyAsync(device, host, n,
											 cudaMemcpyHostToDevice,
											 work->session->stream), "copy");
}

static inline CsvStatus
csv_work_fetch(const CsvWork *work, void *host, const void *device, size_t n)
{
	return n == 0 ? CSV_OK :
		csv_work_check(work, cudaMemcpyAsync(host, device, n,
											 cudaMemcpyDeviceToHost,
											 work->session->stream), "copy");
}

static inline CsvStatus
csv_work_clear(const CsvWork *work, void *device, size_t n)
{
	return n == 0 ? CSV_OK :
		csv_work_check(work, cudaMemsetAsync(device, 0, n,
											 work->session->stream),
					   "memset");
}

static inline CsvStatus
csv_work_mark(const CsvWork *work, cudaEvent_t event)
{
	return csv_work_check(work, cudaEventRecord(event, work->session->stream),
						  "event");
}

/* launch the copy of n elements to *next, which moves on; *place is where they will be */
template <typename Element>
static inline CsvStatus
csv_work_fetch_part(const CsvWork *work, uint8_t **next, const void *device,
					size_t n, Element **place)
{
	uint8_t    *to = *next;

	*place = (Element *) to;
	*next += ALIGN(n * sizeof(Element), 64);
	return csv_work_fetch(work, to, device, n * sizeof(Element));
}

/* reserve at least nbytes in *block, which is pinned; growing it loses its contents */
extern CsvStatus csv_work_reserve_pinned(CsvWork *work, uint8_t **block,
										 size_t nbytes);

#endif							/* CSV_CUDA_WORK_H */
