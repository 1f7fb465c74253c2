/*
 * memory.cu
 *		A session's memory: on the device, and pinned memory of the host.
 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* older C libraries do not have it */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23
#endif

/* a need of 1 byte is not 0 MB */
#define MEGABYTES(nbytes)	(((nbytes) + 0xfffff) >> 20)

/* ---- device memory ---- */

size_t
csv_device_held(const CsvSession *session)
{
	size_t		held = session->table_bytes;

	for (int i = 0; i < CSV_DEVICE_NUM; i++)
		held += session->device_memory[i].nbytes;
	return held;
}

void
csv_cuda_memory_held(const CsvSession *session, uint64_t *output,
					 uint64_t *others)
{
	*output = session->device_memory[CSV_DEVICE_OUTPUT].nbytes;
	*others = csv_device_held(session) + session->stay_bytes - *output;
}

/* while a call has the device, or the session starts, returns the last result */
uint64_t
csv_cuda_memory(CsvSession *session, uint64_t memory_limit, uint64_t *limit)
{
	if (pthread_mutex_trylock(&session->device_mutex) == 0)
	{
		session->memory_seen = csv_device_held(session) + session->stay_bytes;
		session->limit_seen = session->default_limit;
		pthread_mutex_unlock(&session->device_mutex);
	}
	*limit = memory_limit > 0 ? memory_limit : session->limit_seen;
	return session->memory_seen;
}

static void
release_block(CsvSession *session, CsvDeviceMemory which)
{
	CsvMemoryBlock   *block = &session->device_memory[which];

	if (block->bytes != NULL)
		cudaFree(block->bytes);
	block->bytes = NULL;
	block->nbytes = 0;
}

void
csv_device_release(CsvSession *session)
{
	if (session->dead)
		return;
	for (int i = 0; i < CSV_DEVICE_NUM; i++)
		release_block(session, (CsvDeviceMemory) i);
}

/*
 * Blocks that earlier calls have left are spare, and a query's memory, unless a query
 * is being evaluated.
 */
static void
release_spare(CsvSession *session, CsvDeviceMemory which)
{
	for (int i = 0; i < CSV_DEVICE_NUM; i++)
		if (i != which && ((session->used_blocks >> i & 1) == 0 ||
						   (which < CSV_DEVICE_QUERY && i >= CSV_DEVICE_QUERY)))
			release_block(session, (CsvDeviceMemory) i);
}

/* drop what was not used for longest; false: everything has users */
static bool
drop_last(CsvSession *session)
{
	CsvStay    *stay;

	TAILQ_FOREACH_REVERSE(stay, &session->stays, CsvStayList, of_session)
		if (stay->nbytes > 0 && stay->nusers == 0)
		{
			csv_stay_drop(session, stay);
			return true;
		}
	return false;
}

/*
 * Drop what has no users until the rest fits below the limit beside nbytes, which are
 * all other memory that is held or wanted.  False: it does not fit.
 */
static bool
make_way(CsvSession *session, size_t nbytes, size_t limit)
{
	if (nbytes > limit)
		return false;
	while (nbytes + session->stay_bytes - session->used_file_bytes > limit)
		if (!drop_last(session))
			return false;
	return true;
}

void
csv_device_trim(CsvSession *session, size_t limit)
{
	size_t		held = csv_device_held(session);

	if (held > limit)
	{
		csv_device_release(session);
		held = session->table_bytes < limit ? session->table_bytes : limit;
	}
	(void) make_way(session, held, limit);
}

/* if a call has the device, the next call trims it */
void
csv_cuda_trim(CsvSession *session, uint64_t memory_limit)
{
	if (pthread_mutex_trylock(&session->device_mutex) == 0)
	{
		if (csv_session_lives(session))
		{
			cudaSetDevice(session->device);
			csv_device_trim(session, csv_session_limit(session, memory_limit));
		}
		pthread_mutex_unlock(&session->device_mutex);
	}
}

/* cudaMalloc(), but if memory is short, drop what has no users */
static cudaError_t
allocate(CsvSession *session, uint8_t **bytes, size_t nbytes)
{
	cudaError_t error;

	while ((error = cudaMalloc((void **) bytes, nbytes)) ==
		   cudaErrorMemoryAllocation && drop_last(session))
		cudaGetLastError();
	return error;
}

bool
csv_device_reserve(CsvSession *session, CsvDeviceMemory which, size_t nbytes,
				   size_t keep, size_t limit, char *message)
{
	CsvMemoryBlock   *block = &session->device_memory[which];
	uint8_t    *bytes = NULL;
	size_t		others = csv_device_held(session) - block->nbytes;
	size_t		wanted;
	cudaError_t error;
	bool		fits;

	session->used_blocks |= UINT32_C(1) << which;
	if (nbytes <= block->nbytes)
		return true;

	/* a little more, so that the next chunk fits too, if the limit allows */
	wanted = (nbytes + nbytes / 64 + 0xffff) & ~(size_t) 0xffff;
	fits = make_way(session, others + wanted, limit);
	if (!fits)
	{
		release_spare(session, which);
		others = csv_device_held(session) - block->nbytes;
		fits = make_way(session, others + wanted, limit);
	}
	if (!fits)
	{
		wanted = (nbytes + 0xff) & ~(size_t) 0xff;
		fits = make_way(session, others + wanted, limit);
	}
	if (!fits)
	{
		csv_session_say(message,
						"out of GPU memory: %zu MB needed, %zu MB allowed beside %zu MB of files",
						MEGABYTES(others + wanted), limit >> 20,
						MEGABYTES(session->used_file_bytes));
		return false;
	}
	if (keep == 0)
		release_block(session, which);
	error = allocate(session, &bytes, wanted);
	if (error == cudaErrorMemoryAllocation)
	{
		cudaGetLastError();
		release_spare(session, which);
		error = allocate(session, &bytes, wanted);
	}
	if (error == cudaSuccess && keep > 0 && block->bytes != NULL)
	{
		error = cudaMemcpyAsync(bytes, block->bytes, keep,
								cudaMemcpyDeviceToDevice, session->stream);
		if (error == cudaSuccess)
			error = cudaStreamSynchronize(session->stream);
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
						MEGABYTES(wanted), MEGABYTES(others), limit >> 20);
		return false;
	}
	if (error != cudaSuccess)
	{
		csv_session_failed(session, error, "memory allocation", message);
		if (bytes != NULL && !session->dead)
			cudaFree(bytes);
		return false;
	}
	block->bytes = bytes;
	block->nbytes = wanted;
	return true;
}

/* nbytes more, or fewer */
static void
count_taken(CsvSession *session, CsvStay *stay, size_t nbytes)
{
	if (stay == NULL)
		session->table_bytes += nbytes;
	else
	{
		session->stay_bytes += nbytes;
		stay->nbytes += nbytes;
	}
}

bool
csv_device_take(CsvSession *session, CsvStay *stay, size_t nbytes,
				size_t limit, CsvTaken *taken)
{
	if (!make_way(session, csv_device_held(session) + nbytes, limit))
		return false;
	if (allocate(session, &taken->bytes, nbytes) != cudaSuccess)
	{
		/* a sticky error shows again in the next call */
		cudaGetLastError();
		taken->bytes = NULL;
		return false;
	}
	taken->nbytes = nbytes;
	count_taken(session, stay, nbytes);
	return true;
}

void
csv_device_give_back(CsvSession *session, CsvStay *stay, CsvTaken *taken)
{
	if (taken->bytes == NULL)
		return;
	if (!session->dead)
		cudaFree(taken->bytes);
	taken->bytes = NULL;
	count_taken(session, stay, 0 - taken->nbytes);
}

void
csv_stay_drop(CsvSession *session, CsvStay *stay)
{
	for (uint32_t i = 0; i < stay->ntaken; i++)
		csv_device_give_back(session, stay, &stay->taken[i]);
}

void
csv_stay_touch(CsvSession *session, CsvStay *stay)
{
	TAILQ_REMOVE(&session->stays, stay, of_session);
	TAILQ_INSERT_HEAD(&session->stays, stay, of_session);
}

/* ---- pinned memory ---- */

/* blocks ever made, of all sessions */
static uint32_t npinned;

/* a stretch of new memory whose pages must be made */
typedef struct PageStretch
{
	uint8_t    *bytes;
	size_t		nbytes;
} PageStretch;

static void *
make_pages(void *arg)
{
	const PageStretch *stretch = (const PageStretch *) arg;

	/* kernels before 5.14 do not know it; the device reports other failures */
	if (madvise(stretch->bytes, stretch->nbytes, MADV_POPULATE_WRITE) != 0 &&
		errno == EINVAL)
		for (size_t i = 0; i < stretch->nbytes; i += 4096)
			((volatile uint8_t *) stretch->bytes)[i] = 0;
	return NULL;
}

/* in several threads, if there are many pages: see CSV_PINNED_THREADS */
static void
make_all_pages(uint8_t *bytes, size_t nbytes)
{
	PageStretch stretches[CSV_PINNED_THREADS];
	pthread_t	threads[CSV_PINNED_THREADS];
	bool		started[CSV_PINNED_THREADS] = {false};
	size_t		share = nbytes / CSV_PINNED_THREADS / CSV_LARGE_PAGE_BYTES *
		CSV_LARGE_PAGE_BYTES;

	for (int i = 0; i < CSV_PINNED_THREADS; i++)
	{
		stretches[i].bytes = bytes + i * share;
		stretches[i].nbytes = i == CSV_PINNED_THREADS - 1 ?
			nbytes - i * share : share;
		started[i] = i > 0 && share > 0 &&
			pthread_create(&threads[i], NULL, make_pages, &stretches[i]) == 0;
	}
	for (int i = 0; i < CSV_PINNED_THREADS; i++)
		if (!started[i] && stretches[i].nbytes > 0)
			make_pages(&stretches[i]);
	for (int i = 0; i < CSV_PINNED_THREADS; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
}

/*
 * Make a file of nbytes zeros in memory.  Its size never changes, so that no process
 * that maps it can lose the mapped pages.  -1 with errno.
 */
static int
make_memory_file(size_t nbytes)
{
	int			descriptor = memfd_create("csv_gpu_fdw",
										  MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int			failure;

	if (descriptor < 0)
		return -1;
	if (ftruncate(descriptor, (off_t) nbytes) == 0 &&
		fcntl(descriptor, F_ADD_SEALS,
			  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		return descriptor;
	failure = errno;
	close(descriptor);
	errno = failure;
	return -1;
}

/* map the file where a large page begins; NULL with errno */
static uint8_t *
map_memory_file(int descriptor, size_t nbytes)
{
	const size_t page = CSV_LARGE_PAGE_BYTES;
	size_t		nreserved = nbytes + page;
	uint8_t    *reserved = (uint8_t *) mmap(NULL, nreserved, PROT_NONE,
											MAP_PRIVATE | MAP_ANONYMOUS |
											MAP_NORESERVE, -1, 0);
	uint8_t    *bytes;

	if (reserved == MAP_FAILED)
		return NULL;
	bytes = (uint8_t *) (((uintptr_t) reserved + page - 1) / page * page);
	if (mmap(bytes, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			 descriptor, 0) == MAP_FAILED)
	{
		int			failure = errno;

		munmap(reserved, nreserved);
		errno = failure;
		return NULL;
	}
	if (bytes > reserved)
		munmap(reserved, (size_t) (bytes - reserved));
	if (bytes + nbytes < reserved + nreserved)
		munmap(bytes + nbytes,
			   (size_t) (reserved + nreserved - (bytes + nbytes)));
	madvise(bytes, nbytes, MADV_HUGEPAGE);
	return bytes;
}

/* make a block; on failure false with errno, and everything is undone */
static bool
make_pinned(CsvMemoryBlock *block, size_t nbytes)
{
	cudaError_t error;
	int			descriptor;
	uint8_t    *bytes;

	if (nbytes >= CSV_PINNED_MAP_BYTES)
		nbytes = ALIGN(nbytes, CSV_LARGE_PAGE_BYTES);
	descriptor = make_memory_file(nbytes);
	if (descriptor < 0)
		return false;
	bytes = map_memory_file(descriptor, nbytes);
	if (bytes == NULL)
	{
		int			failure = errno;

		close(descriptor);
		errno = failure;
		return false;
	}
	make_all_pages(bytes, nbytes);
	error = cudaHostRegister(bytes, nbytes, cudaHostRegisterDefault);
	if (error != cudaSuccess)
	{
		cudaGetLastError();
		munmap(bytes, nbytes);
		close(descriptor);
		errno = error == cudaErrorMemoryAllocation ? ENOMEM : EIO;
		return false;
	}
	block->bytes = bytes;
	block->nbytes = nbytes;
	block->descriptor = descriptor;
	block->number = __atomic_add_fetch(&npinned, 1, __ATOMIC_RELAXED);
	return true;
}

/* memory that CUDA does not unregister stays mapped */
static void
free_pinned(CsvMemoryBlock *block)
{
	if (cudaHostUnregister(block->bytes) == cudaSuccess)
		munmap(block->bytes, block->nbytes);
	else
		cudaGetLastError();
	close(block->descriptor);
	block->bytes = NULL;
	block->nbytes = 0;
}

/* free unused blocks until at most `keep` bytes of them are left */
static void
trim_pinned(CsvSession *session, size_t keep)
{
	size_t		unused = 0;

	for (int i = 0; i < CSV_PINNED_BLOCKS; i++)
		if (!session->pinned[i].in_use)
			unused += session->pinned[i].nbytes;
	for (int i = 0; i < CSV_PINNED_BLOCKS && unused > keep; i++)
	{
		CsvMemoryBlock   *block = &session->pinned[i];

		if (block->in_use || block->bytes == NULL)
			continue;
		unused -= block->nbytes;
		free_pinned(block);
	}
}

static void *
take_pinned(CsvSession *session, size_t nbytes)
{
	CsvMemoryBlock   *best = NULL;
	CsvMemoryBlock   *empty = NULL;

	nbytes = (nbytes + 0xffff) & ~(size_t) 0xffff;
	for (int i = 0; i < CSV_PINNED_BLOCKS; i++)
	{
		CsvMemoryBlock   *block = &session->pinned[i];

		if (block->in_use)
			continue;
		if (block->bytes == NULL)
			empty = block;
		else if (block->nbytes >= nbytes &&
				 (best == NULL || block->nbytes < best->nbytes))
			best = block;
	}

	/* a small request must not take a large block from the next large request */
	if (best != NULL && (best->nbytes / 8 <= nbytes || empty == NULL))
	{
		best->in_use = true;
		return best->bytes;
	}
	cudaSetDevice(session->device);
	if (empty == NULL)
	{
		trim_pinned(session, 0);
		for (int i = 0; i < CSV_PINNED_BLOCKS; i++)
			if (session->pinned[i].bytes == NULL)
				empty = &session->pinned[i];
		if (empty == NULL)
		{
			errno = ENOMEM;
			return NULL;
		}
	}
	if (!make_pinned(empty, nbytes))
	{
		trim_pinned(session, 0);
		if (!make_pinned(empty, nbytes))
			return NULL;
	}
	empty->in_use = true;
	return empty->bytes;
}

void *
csv_pinned_take(CsvSession *session, size_t nbytes)
{
	void	   *memory;

	if (!csv_session_lives(session))
	{
		errno = EIO;
		return NULL;
	}
	pthread_mutex_lock(&session->pool_mutex);
	memory = take_pinned(session, nbytes);
	pthread_mutex_unlock(&session->pool_mutex);
	return memory;
}

static CsvMemoryBlock *
find_pinned(CsvSession *session, const void *memory)
{
	for (int i = 0; i < CSV_PINNED_BLOCKS; i++)
		if (session->pinned[i].bytes == memory && memory != NULL)
			return &session->pinned[i];
	return NULL;
}

size_t
csv_pinned_size(CsvSession *session, const void *memory)
{
	CsvMemoryBlock   *block;
	size_t		nbytes;

	pthread_mutex_lock(&session->pool_mutex);
	block = find_pinned(session, memory);
	nbytes = block == NULL ? 0 : block->nbytes;
	pthread_mutex_unlock(&session->pool_mutex);
	return nbytes;
}

bool
csv_pinned_give_back(CsvSession *session, void *memory)
{
	CsvMemoryBlock   *block;

	pthread_mutex_lock(&session->pool_mutex);
	block = find_pinned(session, memory);
	if (block != NULL)
	{
		block->in_use = false;
		if (csv_session_lives(session))
		{
			cudaSetDevice(session->device);
			trim_pinned(session, CSV_PINNED_KEEP_BYTES);
		}
	}
	pthread_mutex_unlock(&session->pool_mutex);
	return block != NULL;
}

bool
csv_cuda_find_block(CsvSession *session, const void *memory, size_t nbytes,
					CsvCudaBlock *found)
{
	bool		good = false;

	pthread_mutex_lock(&session->pool_mutex);
	for (int i = 0; i < CSV_PINNED_BLOCKS && !good; i++)
	{
		const CsvMemoryBlock *block = &session->pinned[i];
		size_t		offset = (size_t) ((uintptr_t) memory -
									   (uintptr_t) block->bytes);

		/* memory before the block has a huge offset */
		if (block->bytes == NULL || offset > block->nbytes ||
			nbytes > block->nbytes - offset)
			continue;
		found->number = block->number;
		found->descriptor = block->descriptor;
		found->bytes = block->bytes;
		found->nbytes = block->nbytes;
		good = true;
	}
	pthread_mutex_unlock(&session->pool_mutex);
	return good;
}

/* copies of memory that is not pinned are slower, but work as well */
static void *
alloc_any(void *session, size_t nbytes)
{
	void	   *memory = nbytes < CSV_PINNED_LEAST_BYTES ? NULL :
		csv_pinned_take((CsvSession *) session, nbytes);

	return memory != NULL ? memory : malloc(nbytes);
}

static void
free_any(void *session, void *memory)
{
	if (!csv_pinned_give_back((CsvSession *) session, memory))
		free(memory);
}

CsvMemory
csv_cuda_pinned(CsvSession *session)
{
	return {alloc_any, free_any, session};
}
