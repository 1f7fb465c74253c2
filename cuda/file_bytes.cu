/*
 * file_bytes.cu
 *		Bytes of files on the device, and copying them.
 */
#include "call.h"

#include <stdlib.h>
#include <string.h>

/* in the session's list; the file used last is in front */
struct CsvCudaFile
{
	CsvSession *session;
	TAILQ_ENTRY(CsvCudaFile) of_session;
	uint8_t    *bytes;			/* NULL: the bytes have gone */
	size_t		nbytes;
	int			nusers;
};

struct CsvCudaCopier
{
	CsvSession *session;
	cudaStream_t stream;
	uint8_t    *bytes;			/* pinned */
};

/* ---- memory; between enter and leave ---- */

static void
drop_bytes(CsvCudaFile *file)
{
	CsvSession *session = file->session;

	if (file->bytes == NULL)
		return;
	if (!session->dead)
		cudaFree(file->bytes);
	file->bytes = NULL;
	session->file_bytes -= file->nbytes;
}

bool
csv_files_drop_last(CsvSession *session)
{
	CsvCudaFile *file;

	TAILQ_FOREACH_REVERSE(file, &session->files, CsvFileList, of_session)
		if (file->bytes != NULL && file->nusers == 0)
		{
			drop_bytes(file);
			return true;
		}
	return false;
}

static void
add_used(CsvCudaFile *file, int more)
{
	CsvSession *session = file->session;
	size_t		used = session->used_file_bytes;

	file->nusers += more;
	if (more > 0 && file->nusers == 1)
		used += file->nbytes;
	else if (file->nusers == 0)
		used -= file->nbytes;
	__atomic_store_n(&session->used_file_bytes, used, __ATOMIC_RELAXED);
}

/*
 * Take memory for the file's bytes.  Only other files make way, beginning with the
 * file that was unused for longest.  False: there is no room.
 */
static bool
take_bytes(CsvCudaFile *file, uint64_t memory_limit)
{
	CsvSession *session = file->session;
	size_t		limit = csv_session_whole_limit(session, memory_limit);
	size_t		most = csv_session_files_limit(session, memory_limit);
	size_t		held = csv_device_held(session);
	uint8_t    *bytes = NULL;

	if (file->nbytes > most)
		return false;
	while (session->file_bytes + file->nbytes > most ||
		   session->file_bytes + file->nbytes + held > limit ||
		   cudaMalloc((void **) &bytes, file->nbytes) != cudaSuccess)
	{
		cudaGetLastError();
		if (!csv_files_drop_last(session))
			return false;
	}
	file->bytes = bytes;
	session->file_bytes += file->nbytes;
	return true;
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
	csv_session_enter(session);
	good = csv_session_lives(session) &&
		take_bytes(file, memory_limit);
	if (good)
	{
		add_used(file, 1);
		TAILQ_INSERT_HEAD(&session->files, file, of_session);
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
	size_t		most = csv_session_files_limit(session, memory_limit);
	bool		there;

	csv_session_enter(session);

	/* the limit may be lower than when the bytes were copied */
	if (file->nusers == 0 && session->used_file_bytes + file->nbytes > most)
		drop_bytes(file);
	there = file->bytes != NULL && csv_session_lives(session);
	if (there)
	{
		add_used(file, 1);
		TAILQ_REMOVE(&session->files, file, of_session);
		TAILQ_INSERT_HEAD(&session->files, file, of_session);
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

void
csv_cuda_file_free(CsvCudaFile *file)
{
	CsvSession *session = file->session;

	csv_session_enter(session);
	drop_bytes(file);
	TAILQ_REMOVE(&session->files, file, of_session);
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
		cudaSetDevice(copier->session->number);
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
	return cudaSetDevice(copier->session->number) == cudaSuccess &&
		cudaMemcpyAsync(file->bytes + offset % file->nbytes, copier->bytes,
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

	TRY_CUDA(work, cudaMemcpyAsync(to, file->bytes + at, n, kind, stream), "copy");
	if (n < nbytes)
		TRY_CUDA(work, cudaMemcpyAsync(to + n, file->bytes, nbytes - n, kind,
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
