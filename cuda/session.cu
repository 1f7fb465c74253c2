/*
 * session.cu
 *		Starts and ends a session: the CUDA context, in a thread or at once.
 */
#include "session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool		csv_driver_started;
int			csv_driver_device = -1;

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

	/* CUDA knows the current device by thread */
	if (csv_session_lives(session))
		cudaSetDevice(session->number);
}

void
csv_session_leave(CsvSession *session)
{
	pthread_mutex_unlock(&session->device_mutex);
}

CsvSession *
csv_cuda_session_create(void)
{
	CsvSession *session = (CsvSession *) calloc(1, sizeof(CsvSession));

	if (session == NULL)
		return NULL;
	pthread_mutex_init(&session->device_mutex, NULL);
	pthread_mutex_init(&session->pool_mutex, NULL);
	pthread_mutex_init(&session->start.mutex, NULL);
	TAILQ_INIT(&session->columns);
	TAILQ_INIT(&session->files);
	return session;
}

/*
 * Let CUDA see only one device: then a context costs 0.3 s, but 1.2 s if four devices
 * are visible.  CUDA reads the environment at its first call; later it is too late.  A
 * variable that is already set is not changed.  Returns CUDA's number of the device;
 * -1 if CUDA sees only another device.
 */
int
csv_driver_narrow(int device)
{
	char		number[16];

	if (csv_driver_device >= 0)
		return device == csv_driver_device ? 0 : -1;
	if (csv_driver_started || getenv("CUDA_VISIBLE_DEVICES") != NULL)
		return device;
	snprintf(number, sizeof(number), "%d", device);
	setenv("CUDA_VISIBLE_DEVICES", number, 1);
	csv_driver_device = device;
	return 0;
}

/*
 * Create the context, streams and events; `number` is CUDA's number of the device.
 * *missing: there is no such device.
 */
static bool
start_session(CsvSession *session, int device, int number, bool *missing,
			  char *message)
{
	struct cudaDeviceProp properties;
	int			count = 0;
	size_t		free_bytes = 0;
	size_t		total_bytes = 0;
	const char *what = "initialization";
	cudaError_t error;

	*missing = false;
	error = cudaGetDeviceCount(&count);
	if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
		(error == cudaSuccess && number >= count))
	{
		cudaGetLastError();
		if (error == cudaErrorInsufficientDriver)
			csv_session_say(message, "no NVIDIA driver, or one too old");
		else if (count == 0 && device == 0)
			csv_session_say(message, "no GPU found");
		else
			csv_session_say(message, "no GPU of number %d", device);
		*missing = true;
		return false;
	}
	if (error == cudaSuccess)
		error = cudaGetDeviceProperties(&properties, number);
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
		error = cudaSetDevice(number);
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
	session->device = device;
	session->number = number;
	session->default_limit = free_bytes / 2;
	session->multiprocessors = properties.multiProcessorCount;
	session->max_shared_bytes = properties.sharedMemPerBlockOptin;
	snprintf(session->device_name, sizeof(session->device_name), "%.120s",
			 properties.name);
	__atomic_store_n(&session->open, true, __ATOMIC_RELEASE);
	return true;
}

/* ---- opening it, at once or in a thread ---- */

/* before a start: false with a message, if this device is not possible */
static bool
prepare_start(int device, int *number, char *message)
{
	*number = csv_driver_narrow(device);
	if (*number < 0)
	{
		csv_session_say(message, "this session already uses GPU %d",
						csv_driver_device);
		return false;
	}
	csv_driver_started = true;
	return true;
}

/* after a start: if the device is missing, another device may be tried */
static void
finish_start(int device, bool missing)
{
	if (missing && csv_driver_device == device)
	{
		unsetenv("CUDA_VISIBLE_DEVICES");
		csv_driver_device = -1;
	}
}

static void *
run_start(void *arg)
{
	CsvSession *session = (CsvSession *) arg;
	CsvStart   *start = &session->start;
	bool		good;

	csv_session_enter(session);
	good = !session->open && !session->dead &&
		start_session(session, start->device, start->number,
					  &start->missing, start->message);
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
	finish_start(start->device, start->missing);
	__atomic_store_n(&start->running, false, __ATOMIC_RELEASE);
}

bool
csv_session_start(CsvSession *session, int device,
				  void (*then) (CsvSession *session))
{
	CsvStart   *start = &session->start;
	bool		started = false;

	pthread_mutex_lock(&start->mutex);
	join_start(start);
	if (!session->open && !session->dead && device >= 0 &&
		prepare_start(device, &start->number, start->message))
	{
		start->then = then;
		start->device = device;
		__atomic_store_n(&start->done, false, __ATOMIC_RELAXED);
		started = pthread_create(&start->thread, NULL, run_start,
								 session) == 0;
		__atomic_store_n(&start->running, started, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&start->mutex);
	return started;
}

void
csv_cuda_settle(CsvSession *session)
{
	CsvStart   *start = &session->start;

	pthread_mutex_lock(&start->mutex);
	join_start(start);
	pthread_mutex_unlock(&start->mutex);
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
	else if (!session->open)
		csv_session_say(message, "the CUDA session has ended");
	else
		return true;
	return false;
}

/* check that the session that is there can be used, with this device */
static bool
check_start(const CsvSession *session, int device, char *message)
{
	if (!csv_session_check(session, message))
		return false;
	if (session->device != device)
		csv_session_say(message, "this session already uses GPU %d",
						session->device);
	else
		return true;
	return false;
}

/* start the session if it is asleep; false with a message */
static bool
open_session(CsvSession *session, int device, char *message)
{
	bool		missing = false;
	int			number;
	bool		good;

	if (device < 0)
	{
		csv_session_say(message, "no GPU of number %d", device);
		return false;
	}
	if (is_running(&session->start))
		csv_cuda_settle(session);
	csv_session_enter(session);
	if (session->open || session->dead)
		good = check_start(session, device, message);
	else
	{
		good = prepare_start(device, &number, message) &&
			start_session(session, device, number, &missing, message);
		finish_start(device, missing);
	}
	csv_session_leave(session);
	return good;
}

bool
csv_cuda_wake(CsvSession *session, int device, char *reason,
			  size_t reason_size)
{
	char		message[CSV_MESSAGE_BYTES] = "";
	bool		good = open_session(session, device, message);

	if (!good)
		snprintf(reason, reason_size, "%s", message);
	return good;
}

/*
 * Give everything back.  Memory that an engine or a reader still holds is gone then.
 * A dead context gives nothing back; its process should end.
 */
void
csv_cuda_shutdown(CsvSession *session)
{
	csv_cuda_settle(session);
	if (!session->open || session->dead)
		return;
	cudaSetDevice(session->number);
	cudaStreamSynchronize(session->stream);
	csv_device_release(session);
	csv_device_drop_kept(session);
	while (session->taken != NULL)
		csv_device_give_back(session, session->taken->number);
	csv_pinned_free_all(session);
	for (int i = 0; i < 2; i++)
	{
		cudaEventDestroy(session->copy_in[i]);
		cudaEventDestroy(session->copy_out[i]);
	}
	for (int i = 0; i < 3; i++)
		cudaEventDestroy(session->phases[i]);
	cudaEventDestroy(session->done);
	cudaStreamDestroy(session->stream);
	cudaDeviceReset();
	__atomic_store_n(&session->open, false, __ATOMIC_RELEASE);
}

void
csv_cuda_session_free(CsvSession *session)
{
	csv_cuda_shutdown(session);
	pthread_mutex_destroy(&session->device_mutex);
	pthread_mutex_destroy(&session->pool_mutex);
	pthread_mutex_destroy(&session->start.mutex);
	free(session);
}
