/*
 * session.cu
 *		Starts a session: the CUDA context, in a thread or at once.
 */
#include "session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
csv_session_say(char *message, const char *format,...)
{
	va_list		args;

	va_start(args, format);
	vsnprintf(message, CSV_MESSAGE_BYTES, format, args);
	va_end(args);
}

void
csv_session_failed(CsvSession *session, cudaError_t error, const char *what,
				   char *message)
{
	csv_session_say(message, "CUDA %s failed: %s", what,
					cudaGetErrorString(error));

	/* a sticky error remains after this */
	cudaGetLastError();
	if (session->open && error != cudaErrorMemoryAllocation)
	{
		cudaError_t again = cudaStreamSynchronize(session->stream);

		if (again == cudaSuccess)
			again = cudaGetLastError();
		if (again != cudaSuccess)
		{
			memcpy(session->reason, message, sizeof(session->reason));
			__atomic_store_n(&session->dead, true, __ATOMIC_RELEASE);
		}
	}
}

void
csv_session_enter(CsvSession *session)
{
	pthread_mutex_lock(&session->device_mutex);
	session->used_blocks = 0;

	/* CUDA knows the current device by thread */
	if (csv_session_lives(session))
		cudaSetDevice(session->device);
}

void
csv_session_leave(CsvSession *session)
{
	pthread_mutex_unlock(&session->device_mutex);
}

CsvSession *
csv_cuda_session_create(int device)
{
	CsvSession *session = (CsvSession *) calloc(1, sizeof(CsvSession));

	if (session == NULL)
		return NULL;
	session->device = device;
	pthread_mutex_init(&session->device_mutex, NULL);
	pthread_mutex_init(&session->pool_mutex, NULL);
	pthread_mutex_init(&session->start.mutex, NULL);
	TAILQ_INIT(&session->stays);
	return session;
}

/* create the context, streams and events; false with a message */
static bool
start_session(CsvSession *session, char *message)
{
	struct cudaDeviceProp properties;
	const int	device = session->device;
	int			count = 0;
	size_t		free_bytes = 0;
	size_t		total_bytes = 0;
	const char *what = "initialization";
	cudaError_t error;

	error = cudaGetDeviceCount(&count);
	if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
		(error == cudaSuccess && (device < 0 || device >= count)))
	{
		cudaGetLastError();
		if (error == cudaErrorInsufficientDriver)
			csv_session_say(message, "no NVIDIA driver, or one too old");
		else if (count == 0 && device == 0)
			csv_session_say(message, "no GPU found");
		else
			csv_session_say(message, "no GPU of number %d", device);
		return false;
	}
	if (error == cudaSuccess)
		error = cudaGetDeviceProperties(&properties, device);
	if (error == cudaSuccess &&
		properties.major * 10 + properties.minor < 75)
	{
		csv_session_say(message, "compute capability %d.%d is below 7.5",
						properties.major, properties.minor);
		return false;
	}

	/* since CUDA 12 this creates the context */
	if (error == cudaSuccess)
	{
		what = "context creation";
		error = cudaSetDevice(device);
	}
	if (error == cudaSuccess)
		error = cudaStreamCreateWithFlags(&session->stream,
										  cudaStreamNonBlocking);
	if (error == cudaSuccess)
		error = cudaEventCreateWithFlags(&session->done,
										 cudaEventDisableTiming);
	for (int i = 0; i < 2; i++)
	{
		if (error == cudaSuccess)
			error = cudaEventCreate(&session->copy_in[i]);
		if (error == cudaSuccess)
			error = cudaEventCreate(&session->copy_out[i]);
	}
	for (int i = 0; i < 3 && error == cudaSuccess; i++)
		error = cudaEventCreate(&session->phases[i]);
	if (error == cudaSuccess)
		error = cudaMemGetInfo(&free_bytes, &total_bytes);
	if (error != cudaSuccess)
	{
		csv_session_failed(session, error, what, message);
		return false;
	}
	session->default_limit = free_bytes / 2;
	session->multiprocessors = properties.multiProcessorCount;
	session->max_shared_bytes = properties.sharedMemPerBlockOptin;
	snprintf(session->device_name, sizeof(session->device_name), "%.120s",
			 properties.name);
	__atomic_store_n(&session->open, true, __ATOMIC_RELEASE);
	return true;
}

/* ---- opening it, at once or in a thread ---- */

static void *
run_start(void *arg)
{
	CsvSession *session = (CsvSession *) arg;
	CsvStart   *start = &session->start;
	char		message[CSV_MESSAGE_BYTES];
	bool		good;

	csv_session_enter(session);
	good = !session->open && !session->dead && start_session(session, message);
	csv_session_leave(session);
	if (good)
		start->then(session);
	__atomic_store_n(&start->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool
is_running(const CsvStart *start)
{
	return __atomic_load_n(&start->running, __ATOMIC_ACQUIRE);
}

/* wait for a start that is under way; the caller holds the mutex */
static void
join_start(CsvStart *start)
{
	if (!is_running(start))
		return;
	pthread_join(start->thread, NULL);
	__atomic_store_n(&start->running, false, __ATOMIC_RELEASE);
}

bool
csv_session_start(CsvSession *session, void (*then) (CsvSession *session))
{
	CsvStart   *start = &session->start;
	bool		started = false;

	pthread_mutex_lock(&start->mutex);
	join_start(start);
	if (!session->open && !session->dead)
	{
		start->then = then;
		__atomic_store_n(&start->done, false, __ATOMIC_RELAXED);
		started = pthread_create(&start->thread, NULL, run_start,
								 session) == 0;
		__atomic_store_n(&start->running, started, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&start->mutex);
	return started;
}

/* without waiting */
CsvCudaState
csv_cuda_state(CsvSession *session)
{
	if (is_running(&session->start) &&
		!__atomic_load_n(&session->start.done, __ATOMIC_ACQUIRE))
		return CSV_CUDA_STARTING;
	return csv_session_lives(session) ? CSV_CUDA_AWAKE : CSV_CUDA_ASLEEP;
}

bool
csv_cuda_is_lost(const CsvSession *session)
{
	return __atomic_load_n(&session->dead, __ATOMIC_ACQUIRE);
}

bool
csv_session_check(const CsvSession *session, char *message)
{
	if (session->dead)
		csv_session_say(message,
						"the GPU failed earlier in this session: %.180s",
						session->reason);
	return !session->dead;
}

bool
csv_cuda_wake(CsvSession *session, char *reason, size_t reason_size)
{
	char		message[CSV_MESSAGE_BYTES] = "";
	bool		good;

	pthread_mutex_lock(&session->start.mutex);
	join_start(&session->start);
	pthread_mutex_unlock(&session->start.mutex);
	csv_session_enter(session);
	good = session->open || session->dead ?
		csv_session_check(session, message) : start_session(session, message);
	csv_session_leave(session);
	if (!good)
		snprintf(reason, reason_size, "%s", message);
	return good;
}
