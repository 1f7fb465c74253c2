/*
 * session.cu
 *		Starts the process's CUDA context and keeps its memory.
 */
#include "session.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* older C libraries do not have it */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23
#endif

CsvSession	csv_session;
static pthread_mutex_t device_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t pool_mutex = PTHREAD_MUTEX_INITIALIZER;
bool		csv_driver_started;
int			csv_driver_device = -1;

void
csv_session_say(char *message, const char *format,...)
{
	va_list		args;

	va_start(args, format);
	vsnprintf(message, sizeof(csv_session.reason), format, args);
	va_end(args);
}

void
csv_signals_block(sigset_t *old)
{
	sigset_t	all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, old);
}

void
csv_signals_unblock(const sigset_t *old)
{
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

void
csv_session_failed(cudaError_t error, const char *what, char *message)
{
	csv_session_say(message, "CUDA %s failed: %s", what,
					cudaGetErrorString(error));

	/* what sticks is still there after it was asked for */
	cudaGetLastError();
	if (csv_session.open && error != cudaErrorMemoryAllocation)
	{
		cudaError_t again = cudaStreamSynchronize(csv_session.stream);

		if (again == cudaSuccess)
			again = cudaGetLastError();
		if (again != cudaSuccess)
		{
			memcpy(csv_session.reason, message, sizeof(csv_session.reason));
			__atomic_store_n(&csv_session.dead, true, __ATOMIC_RELEASE);
		}
	}
}

void
csv_session_lock(void)
{
	pthread_mutex_lock(&device_mutex);

	/* which device it is, CUDA knows by thread */
	if (csv_session_lives())
		cudaSetDevice(csv_session.number);
}

void
csv_session_unlock(void)
{
	pthread_mutex_unlock(&device_mutex);
}

/*
 * Let CUDA see one device only: a context costs 0.3 s then, and 1.2 s where
 * four are visible.  CUDA reads the environment at its first call, so it is
 * too late after that, and what the environment says already goes first.
 * Returns the number by which CUDA knows the device.
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
 * Create the context and what goes with it; `number` is the device as CUDA
 * counts.  *missing: there is no such device.
 */
static bool
start_session(int device, int number, bool *missing, char *message)
{
	CsvSession *session = &csv_session;
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
		error = cudaStreamCreateWithFlags(&session->next_stream,
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
		if (error == cudaSuccess)
			error = cudaEventCreate(&session->next.began[i]);
		if (error == cudaSuccess)
			error = cudaEventCreate(&session->next.copied[i]);
	}
	for (int i = 0; i < 3 && error == cudaSuccess; i++)
		error = cudaEventCreate(&session->phases[i]);
	if (error == cudaSuccess)
		error = cudaMemGetInfo(&free_bytes, &total_bytes);
	if (error != cudaSuccess)
	{
		csv_session_failed(error, what, message);
		return false;
	}
	session->pid = getpid();
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

/*
 * A start in a thread of its own.  The environment is changed before and
 * afterwards, by the thread that opens engines, which alone looks at `running`.
 */
typedef struct CsvStart
{
	bool		running;		/* until it is joined */
	bool		done;			/* set by the thread */
	pthread_t	thread;
	int			device;
	int			number;
	bool		missing;
	char		message[sizeof(csv_session.reason)];
} CsvStart;

static CsvStart the_start;

/* before a start: false with a message, if it cannot be this device */
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

/* after one: let another device be tried */
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
	CsvStart   *start = (CsvStart *) arg;
	bool		good;

	csv_session_lock();
	good = start_session(start->device, start->number, &start->missing,
						 start->message);
	csv_session_unlock();
	if (good)
		csv_cuda_warm();
	__atomic_store_n(&start->done, true, __ATOMIC_RELEASE);
	return NULL;
}

bool
csv_cuda_start(int device)
{
	CsvStart   *start = &the_start;
	sigset_t	old;

	csv_cuda_settle();
	if (csv_session.open || csv_session.dead || device < 0 ||
		!prepare_start(device, &start->number, start->message))
		return false;
	start->device = device;
	start->done = false;
	csv_signals_block(&old);
	start->running = pthread_create(&start->thread, NULL, run_start,
									start) == 0;
	csv_signals_unblock(&old);
	return start->running;
}

void
csv_cuda_settle(void)
{
	CsvStart   *start = &the_start;

	if (!start->running)
		return;
	pthread_join(start->thread, NULL);
	start->running = false;
	finish_start(start->device, start->missing);
}

CsvCudaState
csv_cuda_state(void)
{
	if (the_start.running && !__atomic_load_n(&the_start.done,
											  __ATOMIC_ACQUIRE))
		return CSV_CUDA_STARTING;
	csv_cuda_settle();
	return csv_session_lives() ? CSV_CUDA_AWAKE : CSV_CUDA_ASLEEP;
}

/* whether the session that is there will do */
static bool
check_session(int device, char *message)
{
	const CsvSession *session = &csv_session;

	if (session->dead)
		csv_session_say(message, "the GPU failed earlier in this session: %.180s",
						session->reason);
	else if (session->pid != (int) getpid())
		csv_session_say(message, "the CUDA context belongs to another process");
	else if (session->device != device)
		csv_session_say(message, "this session already uses GPU %d",
						session->device);
	else
		return true;
	return false;
}

bool
csv_session_open(int device, char *message)
{
	sigset_t	old;
	bool		missing = false;
	int			number;
	bool		good;

	if (device < 0)
	{
		csv_session_say(message, "no GPU of number %d", device);
		return false;
	}
	csv_cuda_settle();
	csv_signals_block(&old);
	csv_session_lock();
	if (csv_session.open || csv_session.dead)
		good = check_session(device, message);
	else
	{
		good = prepare_start(device, &number, message) &&
			start_session(device, number, &missing, message);
		finish_start(device, missing);
	}
	csv_session_unlock();
	csv_signals_unblock(&old);
	return good;
}

/* ---- device memory ---- */

size_t
csv_device_taken(void)
{
	size_t		nbytes = 0;

	for (const CsvTaken *taken = csv_session.taken; taken != NULL;
		 taken = taken->next)
		nbytes += taken->nbytes;
	return nbytes;
}

size_t
csv_device_held(void)
{
	size_t		held = csv_device_taken();

	for (int i = 0; i < CSV_DEVICE_NUM; i++)
		held += csv_session.device_memory[i].nbytes;
	return held;
}

void
csv_cuda_memory_held(uint64_t *output, uint64_t *others)
{
	*output = csv_session.device_memory[CSV_DEVICE_OUTPUT].nbytes;
	*others = csv_device_held() - *output;
}

static void
release_block(CsvDeviceMemory which)
{
	CsvBlock   *block = &csv_session.device_memory[which];

	if (which == CSV_DEVICE_NEXT)
		csv_session.next.owner = NULL;
	if (block->bytes != NULL)
		cudaFree(block->bytes);
	block->bytes = NULL;
	block->nbytes = 0;
}

void
csv_device_release(void)
{
	if (csv_session.dead)
		return;
	for (int i = 0; i < CSV_DEVICE_NUM; i++)
		release_block((CsvDeviceMemory) i);
}

/*
 * Give back what can be done without: what is only copied ahead, what is only
 * kept, and what was there for a query's evaluation, unless that is under way.
 */
static void
release_spare(CsvDeviceMemory which)
{
	if (which != CSV_DEVICE_NEXT)
		release_block(CSV_DEVICE_NEXT);
	if (which < CSV_DEVICE_QUERY && which != CSV_DEVICE_NEXT)
	{
		release_block(CSV_DEVICE_QUERY);
		release_block(CSV_DEVICE_ANSWER);
	}
	csv_resident_drop();
}

bool
csv_device_reserve(CsvDeviceMemory which, size_t nbytes, size_t keep,
				   size_t limit, char *message)
{
	CsvBlock   *block = &csv_session.device_memory[which];
	uint8_t    *bytes = NULL;
	size_t		others = csv_device_held() - block->nbytes;
	size_t		wanted;
	cudaError_t error;

	if (nbytes <= block->nbytes)
		return true;

	/* a little more, so that the next chunk fits too, if the limit allows */
	wanted = (nbytes + nbytes / 64 + 0xffff) & ~(size_t) 0xffff;
	if (others + wanted > limit && which != CSV_DEVICE_NEXT)
	{
		release_spare(which);
		others = csv_device_held() - block->nbytes;
	}
	if (others + wanted > limit)
		wanted = (nbytes + 0xff) & ~(size_t) 0xff;
	if (others + wanted > limit)
	{
		csv_session_say(message,
						"out of GPU memory: %zu MB needed, the limit is %zu MB",
						(others + wanted) >> 20, limit >> 20);
		return false;
	}
	if (keep == 0)
		release_block(which);
	error = cudaMalloc((void **) &bytes, wanted);
	if (error == cudaErrorMemoryAllocation && which != CSV_DEVICE_NEXT)
	{
		cudaGetLastError();
		release_spare(which);
		error = cudaMalloc((void **) &bytes, wanted);
	}
	if (error == cudaSuccess && keep > 0 && block->bytes != NULL)
	{
		error = cudaMemcpyAsync(bytes, block->bytes, keep,
								cudaMemcpyDeviceToDevice, csv_session.stream);
		if (error == cudaSuccess)
			error = cudaStreamSynchronize(csv_session.stream);
		if (error == cudaSuccess)
			error = cudaFree(block->bytes);
		if (error == cudaSuccess)
			block->bytes = NULL;
	}
	if (error == cudaErrorMemoryAllocation)
	{
		cudaGetLastError();
		csv_session_say(message,
						"out of GPU memory: the device has no %zu MB beside %zu MB in use here (limit %zu MB)",
						wanted >> 20, others >> 20, limit >> 20);
		return false;
	}
	if (error != cudaSuccess)
	{
		csv_session_failed(error, "memory allocation", message);
		if (bytes != NULL && !csv_session.dead)
			cudaFree(bytes);
		return false;
	}
	block->bytes = bytes;
	block->nbytes = wanted;
	return true;
}

uint8_t *
csv_device_take(size_t nbytes, size_t limit, uint64_t *number)
{
	static uint64_t ntaken = 0;
	CsvTaken   *taken;
	cudaError_t error;

	if (csv_device_held() + nbytes > limit)
		return NULL;
	taken = (CsvTaken *) malloc(sizeof(*taken));
	if (taken == NULL)
		return NULL;
	error = cudaMalloc((void **) &taken->bytes, nbytes);
	if (error != cudaSuccess)
	{
		/* what sticks shows again in the next call */
		cudaGetLastError();
		free(taken);
		return NULL;
	}
	*number = taken->number = ++ntaken;
	taken->nbytes = nbytes;
	taken->next = csv_session.taken;
	csv_session.taken = taken;
	return taken->bytes;
}

void
csv_device_give_back(uint64_t number)
{
	for (CsvTaken **link = &csv_session.taken; *link != NULL;
		 link = &(*link)->next)
	{
		CsvTaken   *taken = *link;

		if (taken->number != number)
			continue;
		if (!csv_session.dead)
			cudaFree(taken->bytes);
		*link = taken->next;
		free(taken);
		return;
	}
}

/* ---- waiting ---- */

cudaError_t
csv_session_wait(const sigset_t *signals, bool (*interrupted) (void *arg),
				 void *interrupted_arg, bool *was_interrupted)
{
	cudaError_t error = cudaEventRecord(csv_session.done, csv_session.stream);
	struct timespec began;
	struct timespec now;

	*was_interrupted = false;
	clock_gettime(CLOCK_MONOTONIC, &began);
	while (error == cudaSuccess)
	{
		const struct timespec nap = {0, 50000};

		error = cudaEventQuery(csv_session.done);
		if (error != cudaErrorNotReady)
			break;
		error = cudaSuccess;
		csv_signals_unblock(signals);
		if (!*was_interrupted && interrupted != NULL)
			*was_interrupted = interrupted(interrupted_arg);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((now.tv_sec - began.tv_sec) * 1000000000L + now.tv_nsec -
			began.tv_nsec < CSV_SPIN_NANOSECONDS)
			sched_yield();
		else
			nanosleep(&nap, NULL);
		csv_signals_block(NULL);
	}
	return error;
}

/* ---- host memory ---- */

static void *
host_alloc(void *owner, size_t nbytes)
{
	(void) owner;
	return malloc(nbytes);
}

static void
host_free(void *owner, void *memory)
{
	(void) owner;
	free(memory);
}

const CsvMemory csv_host_memory = {host_alloc, host_free, NULL};

/* ---- pinned memory ---- */

/* a stretch of new memory whose pages are to be made */
typedef struct CsvStretch
{
	uint8_t    *bytes;
	size_t		nbytes;
} CsvStretch;

static void *
make_pages(void *arg)
{
	const CsvStretch *stretch = (const CsvStretch *) arg;

	/* kernels before 5.14 do not know it */
	if (madvise(stretch->bytes, stretch->nbytes, MADV_POPULATE_WRITE) != 0)
		for (size_t i = 0; i < stretch->nbytes; i += 4096)
			((volatile uint8_t *) stretch->bytes)[i] = 0;
	return NULL;
}

/*
 * Large pages, made by several threads, and registered then: see
 * CSV_PINNED_MAP_BYTES.  NULL where that cannot be had.
 */
static uint8_t *
map_pinned(size_t nbytes)
{
	const size_t page = CSV_LARGE_PAGE_BYTES;
	size_t		nmapped = nbytes + page;
	uint8_t    *mapping = (uint8_t *) mmap(NULL, nmapped,
										   PROT_READ | PROT_WRITE,
										   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t    *bytes;
	CsvStretch	stretches[CSV_PINNED_THREADS];
	pthread_t	threads[CSV_PINNED_THREADS];
	bool		started[CSV_PINNED_THREADS] = {false};
	size_t		share = nbytes / CSV_PINNED_THREADS / page * page;

	if (mapping == MAP_FAILED)
		return NULL;
	bytes = (uint8_t *) (((uintptr_t) mapping + page - 1) / page * page);
	if (bytes > mapping)
		munmap(mapping, (size_t) (bytes - mapping));
	if (bytes + nbytes < mapping + nmapped)
		munmap(bytes + nbytes, (size_t) (mapping + nmapped - (bytes + nbytes)));

	/* a program that the backend starts has no use for it */
	madvise(bytes, nbytes, MADV_DONTFORK);
	madvise(bytes, nbytes, MADV_HUGEPAGE);
	for (int i = 0; i < CSV_PINNED_THREADS; i++)
	{
		stretches[i].bytes = bytes + i * share;
		stretches[i].nbytes = i == CSV_PINNED_THREADS - 1 ?
			nbytes - i * share : share;
		started[i] = i > 0 && pthread_create(&threads[i], NULL, make_pages,
											 &stretches[i]) == 0;
	}
	for (int i = 0; i < CSV_PINNED_THREADS; i++)
		if (!started[i])
			make_pages(&stretches[i]);
	for (int i = 0; i < CSV_PINNED_THREADS; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
	if (cudaHostRegister(bytes, nbytes, cudaHostRegisterDefault) == cudaSuccess)
		return bytes;
	cudaGetLastError();
	munmap(bytes, nbytes);
	return NULL;
}

/* make a block; what it fails with is not left behind */
static cudaError_t
make_pinned(CsvBlock *block, size_t nbytes)
{
	cudaError_t error;

	block->mapped = false;
	if (nbytes >= CSV_PINNED_MAP_BYTES)
	{
		nbytes = (nbytes + CSV_LARGE_PAGE_BYTES - 1) / CSV_LARGE_PAGE_BYTES *
			CSV_LARGE_PAGE_BYTES;
		block->bytes = map_pinned(nbytes);
		block->mapped = block->bytes != NULL;
	}
	if (!block->mapped)
	{
		error = cudaMallocHost((void **) &block->bytes, nbytes);
		if (error != cudaSuccess)
		{
			cudaGetLastError();
			block->bytes = NULL;
			return error;
		}
	}
	block->nbytes = nbytes;
	return cudaSuccess;
}

static void
free_pinned(CsvBlock *block)
{
	cudaError_t error = !block->mapped ? cudaFreeHost(block->bytes) :
		cudaHostUnregister(block->bytes);

	if (error != cudaSuccess)
		cudaGetLastError();
	else if (block->mapped)
		munmap(block->bytes, block->nbytes);
	block->bytes = NULL;
	block->nbytes = 0;
}

/* let go of blocks that nobody uses until at most `keep` bytes of them are left */
static void
trim_pinned(size_t keep)
{
	size_t		unused = 0;

	for (int i = 0; i < CSV_PINNED_BLOCKS; i++)
		if (!csv_session.pinned[i].in_use)
			unused += csv_session.pinned[i].nbytes;
	for (int i = 0; i < CSV_PINNED_BLOCKS && unused > keep; i++)
	{
		CsvBlock   *block = &csv_session.pinned[i];

		if (block->in_use || block->bytes == NULL)
			continue;
		unused -= block->nbytes;
		free_pinned(block);
	}
}

static void *
take_pinned(size_t nbytes)
{
	CsvBlock   *best = NULL;
	CsvBlock   *empty = NULL;
	cudaError_t error;

	nbytes = (nbytes + 0xffff) & ~(size_t) 0xffff;
	for (int i = 0; i < CSV_PINNED_BLOCKS; i++)
	{
		CsvBlock   *block = &csv_session.pinned[i];

		if (block->in_use)
			continue;
		if (block->bytes == NULL)
			empty = block;
		else if (block->nbytes >= nbytes &&
				 (best == NULL || block->nbytes < best->nbytes))
			best = block;
	}

	/* a small need does not take a large block away from the next large one */
	if (best != NULL && (best->nbytes / 8 <= nbytes || empty == NULL))
	{
		best->in_use = true;
		return best->bytes;
	}
	if (empty == NULL)
	{
		trim_pinned(0);
		for (int i = 0; i < CSV_PINNED_BLOCKS; i++)
			if (csv_session.pinned[i].bytes == NULL)
				empty = &csv_session.pinned[i];
		if (empty == NULL)
			return NULL;
	}
	cudaSetDevice(csv_session.number);
	error = make_pinned(empty, nbytes);
	if (error == cudaErrorMemoryAllocation)
	{
		trim_pinned(0);
		error = make_pinned(empty, nbytes);
	}
	if (error != cudaSuccess)
		return NULL;
	empty->in_use = true;
	return empty->bytes;
}

void *
csv_pinned_take(size_t nbytes)
{
	sigset_t	old;
	void	   *memory;

	if (!csv_session_lives())
		return NULL;
	csv_signals_block(&old);
	pthread_mutex_lock(&pool_mutex);
	memory = take_pinned(nbytes);
	pthread_mutex_unlock(&pool_mutex);
	csv_signals_unblock(&old);
	return memory;
}

static CsvBlock *
find_pinned(const void *memory)
{
	for (int i = 0; i < CSV_PINNED_BLOCKS; i++)
		if (csv_session.pinned[i].bytes == memory && memory != NULL)
			return &csv_session.pinned[i];
	return NULL;
}

size_t
csv_pinned_size(const void *memory)
{
	CsvBlock   *block;
	size_t		nbytes;

	pthread_mutex_lock(&pool_mutex);
	block = find_pinned(memory);
	nbytes = block == NULL ? 0 : block->nbytes;
	pthread_mutex_unlock(&pool_mutex);
	return nbytes;
}

bool
csv_pinned_give_back(void *memory)
{
	CsvBlock   *block;
	sigset_t	old;

	csv_signals_block(&old);
	pthread_mutex_lock(&pool_mutex);
	block = find_pinned(memory);
	if (block != NULL)
	{
		block->in_use = false;
		if (csv_session_lives())
			trim_pinned(CSV_PINNED_KEEP_BYTES);
	}
	pthread_mutex_unlock(&pool_mutex);
	csv_signals_unblock(&old);
	return block != NULL;
}

/*
 * Give everything back.  What an engine or a reader still holds is gone then.
 * A dead context gives nothing back; its process is to end.
 */
void
csv_cuda_shutdown(void)
{
	CsvSession *session = &csv_session;
	sigset_t	old;

	csv_cuda_settle();
	if (!session->open || session->dead || session->pid != (int) getpid())
		return;
	csv_signals_block(&old);
	cudaStreamSynchronize(session->stream);
	cudaStreamSynchronize(session->next_stream);
	csv_device_release();
	csv_resident_drop();
	while (session->taken != NULL)
		csv_device_give_back(session->taken->number);
	for (int i = 0; i < CSV_PINNED_BLOCKS; i++)
		if (session->pinned[i].bytes != NULL)
			free_pinned(&session->pinned[i]);
	for (int i = 0; i < 2; i++)
	{
		cudaEventDestroy(session->copy_in[i]);
		cudaEventDestroy(session->copy_out[i]);
		cudaEventDestroy(session->next.began[i]);
		cudaEventDestroy(session->next.copied[i]);
	}
	for (int i = 0; i < 3; i++)
		cudaEventDestroy(session->phases[i]);
	cudaEventDestroy(session->done);
	cudaStreamDestroy(session->stream);
	cudaStreamDestroy(session->next_stream);
	cudaDeviceReset();
	memset(session, 0, sizeof(*session));
	csv_signals_unblock(&old);
}
