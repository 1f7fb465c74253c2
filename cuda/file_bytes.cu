/*
 * file_bytes.cu
 *		Bytes of files on the device, and copying them.
 */
#include "call.h"

#include <stdlib.h>
#include <string.h>

struct CsvCudaFile
{
	CsvStay		stay;
	CsvTaken	taken;			/* without bytes: these have gone */
	CsvSession *session;
	size_t		nbytes;
};

struct CsvCudaCopier
{
	CsvSession *session;
	cudaStream_t stream;
	uint8_t    *bytes;			/* pinned */
};

/* ---- memory; between enter and leave ---- */

static void
add_used(CsvCudaFile *file, int more)
{
	CsvSession *session = file->session;
	size_t		used = session->used_file_bytes;

	file->stay.nusers += more;
	if (more > 0 && file->stay.nusers == 1)
		used += file->nbytes;
	else if (file->stay.nusers == 0)
		used -= file->nbytes;
	__atomic_store_n(&session->used_file_bytes, used, __ATOMIC_RELAXED);
}

/* some of the limit is left for calls */
static bool
may_use(const CsvCudaFile *file, uint64_t memory_limit)
{
	return file->session->used_file_bytes + file->nbytes <=
		csv_session_files_limit(file->session, memory_limit);
}

/* ---- files ---- */

CsvCudaFile *
csv_cuda_file_create(CsvSession *session, uint64_t nbytes,
					 uint64_t memory_limit)
{
	CsvCudaFile *file = (CsvCudaFile *) calloc(1, sizeof(CsvCudaFile));
	bool		good;

	if (file == NULL)
		return NULL;
	file->session = session;
	file->nbytes = nbytes;
	file->stay.taken = &file->taken;
	file->stay.ntaken = 1;
	csv_session_enter(session);
	good = csv_session_lives(session) && may_use(file, memory_limit) &&
		csv_device_take(session, &file->stay, nbytes,
						csv_session_limit(session, memory_limit), &file->taken);
	if (good)
	{
		add_used(file, 1);
		TAILQ_INSERT_HEAD(&session->stays, &file->stay, of_session);
	}
	csv_session_leave(session);
	if (good)
		return file;
	free(file);
	return NULL;
}

bool
csv_cuda_file_use(CsvCudaFile *file, uint64_t memory_limit)
{
	CsvSession *session = file->session;
	bool		there;

	csv_session_enter(session);

	/* the limit may be lower than when the bytes were copied */
	if (file->stay.nusers == 0 && !may_use(file, memory_limit))
		csv_stay_drop(session, &file->stay);
	there = file->taken.bytes != NULL && csv_session_lives(session);
	if (there)
	{
		add_used(file, 1);
		csv_stay_touch(session, &file->stay);
	}
	csv_session_leave(session);
	return there;
}

void
csv_cuda_file_leave(CsvCudaFile *file)
{
	CsvSession *session = file->session;

	csv_session_enter(session);
	add_used(file, -1);
	csv_session_leave(session);
}

/* a copy on the default stream of the thread; waits for nothing else */
static bool
copy_and_wait(const CsvSession *session, void *to, const void *from, size_t nbytes,
			  cudaMemcpyKind kind)
{
	return csv_session_lives(session) &&
		cudaSetDevice(session->device) == cudaSuccess &&
		cudaMemcpyAsync(to, from, nbytes, kind, cudaStreamPerThread) == cudaSuccess &&
		cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess;
}

bool
csv_cuda_file_read(const CsvCudaFile *file, uint64_t offset, uint8_t *bytes,
				   size_t nbytes)
{
	return copy_and_wait(file->session, bytes, file->taken.bytes + offset, nbytes,
						 cudaMemcpyDeviceToHost);
}

bool
csv_cuda_file_extend(CsvCudaFile *file, const CsvCudaFile *with, size_t nbytes)
{
	return copy_and_wait(file->session, file->taken.bytes, with->taken.bytes, nbytes,
						 cudaMemcpyDeviceToDevice);
}

void
csv_cuda_file_free(CsvCudaFile *file)
{
	CsvSession *session = file->session;

	csv_session_enter(session);
	csv_stay_drop(session, &file->stay);
	TAILQ_REMOVE(&session->stays, &file->stay, of_session);
	csv_session_leave(session);
	free(file);
}

/* ---- from the host, and back ---- */

CsvCudaCopier *
csv_cuda_copier_create(CsvSession *session)
{
	CsvCudaCopier *copier = (CsvCudaCopier *) calloc(1, sizeof(CsvCudaCopier));
	bool		good;

	if (copier == NULL)
		return NULL;
	copier->session = session;
	csv_session_enter(session);
	good = csv_session_lives(session) &&
		cudaStreamCreateWithFlags(&copier->stream,
								  cudaStreamNonBlocking) == cudaSuccess;
	csv_session_leave(session);
	if (good)
	{
		copier->bytes = (uint8_t *) csv_pinned_take(session,
													CSV_CUDA_COPY_BYTES);
		if (copier->bytes != NULL)
			return copier;
		cudaStreamDestroy(copier->stream);
	}
	free(copier);
	return NULL;
}

void
csv_cuda_copier_free(CsvCudaCopier *copier)
{
	csv_pinned_give_back(copier->session, copier->bytes);
	if (csv_session_lives(copier->session))
	{
		cudaSetDevice(copier->session->device);
		cudaStreamDestroy(copier->stream);
	}
	free(copier);
}

uint8_t *
csv_cuda_copier_bytes(const CsvCudaCopier *copier)
{
	return copier->bytes;
}

/* on a stream of its own, so that other work goes on */
bool
csv_cuda_copier_copy(CsvCudaCopier *copier, const CsvCudaFile *file,
					 uint64_t offset, size_t nbytes)
{
	if (!csv_session_lives(copier->session))
		return false;
	return cudaSetDevice(copier->session->device) == cudaSuccess &&
		cudaMemcpyAsync(file->taken.bytes + offset % file->nbytes, copier->bytes,
						nbytes, cudaMemcpyHostToDevice, copier->stream) == cudaSuccess &&
		cudaStreamSynchronize(copier->stream) == cudaSuccess;
}

void
csv_cuda_set_file(void *engine, const CsvCudaFile *file)
{
	((CsvCuda *) engine)->file = file;
}

CsvStatus
csv_file_copy(const CsvWork *work, const CsvCuda *cuda, const CsvInput *input,
			  uint8_t *to, size_t nbytes, cudaMemcpyKind kind)
{
	const CsvCudaFile *file = cuda->file;
	size_t		at = input->offset % file->nbytes;
	size_t		n = nbytes < file->nbytes - at ? nbytes : file->nbytes - at;
	cudaStream_t stream = work->session->stream;

	TRY_CUDA(work, cudaMemcpyAsync(to, file->taken.bytes + at, n, kind, stream), "copy");
	if (n < nbytes)
		TRY_CUDA(work, cudaMemcpyAsync(to + n, file->taken.bytes, nbytes - n, kind,
									   stream), "copy");
	return CSV_OK;
}

CsvStatus
csv_file_fetch(CsvWork *work, const CsvCuda *cuda, const CsvInput *input,
			   size_t nbytes, uint8_t **block)
{
	TRY(csv_work_reserve_pinned(work, block, nbytes + 2 * CSV_MARGIN));
	memset(*block, 0, CSV_MARGIN);
	memset(*block + CSV_MARGIN + nbytes, 0, CSV_MARGIN);
	return csv_file_copy(work, cuda, input, *block + CSV_MARGIN, nbytes,
						 cudaMemcpyDeviceToHost);
}
