/*
 * stand_in.c
 *		A GPU for machines that have none: the CPU engine behind csv_cuda.h.
 *
 * csv_gpu_service is linked with it for tests, instead of cuda/.  Inputs are in
 * blocks of memory that others can map, as there; arrays are not, as those of a
 * batch that the CPU engine reads for the GPU's.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* memfd_create */
#endif
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../cuda/csv_cuda.h"
#include "inject.h"
#include "reader/place.h"

typedef struct Block
{
	CsvCudaBlock block;
	struct Block *next;
} Block;

struct CsvSession
{
	pthread_mutex_t mutex;
	CsvCudaState state;
	bool		has_failed;
	Block	   *blocks;
	uint32_t	nblocks;		/* ever made */
};

/* bytes of a file */
struct CsvCudaFile
{
	uint8_t    *bytes;			/* with CSV_MARGIN before and behind them */
};

typedef struct Engine
{
	CsvSession *session;
	CsvMemory	memory;
	const CsvCudaFile *file;
	const CsvLayout *layout;
	const char *message;
	void	   *cpu;
} Engine;

CsvSession *
csv_cuda_session_create(void)
{
	CsvSession *session = calloc(1, sizeof(CsvSession));

	if (session != NULL)
		pthread_mutex_init(&session->mutex, NULL);
	return session;
}

void
csv_cuda_session_free(CsvSession *session)
{
	free(session);
}

bool
csv_cuda_device_name(CsvSession *session, int device, char *name,
					 size_t name_size)
{
	(void) session;
	snprintf(name, name_size, "stand-in");
	return device == 0;
}

CsvCudaState
csv_cuda_state(CsvSession *session)
{
	return csv_cuda_is_lost(session) ? CSV_CUDA_ASLEEP :
		__atomic_load_n(&session->state, __ATOMIC_RELAXED);
}

bool
csv_cuda_is_lost(const CsvSession *session)
{
	return __atomic_load_n(&session->has_failed, __ATOMIC_RELAXED);
}

bool
csv_cuda_start(CsvSession *session, int device)
{
	(void) device;
	__atomic_store_n(&session->state, CSV_CUDA_AWAKE, __ATOMIC_RELAXED);
	return true;
}

bool
csv_cuda_find_block(CsvSession *session, const void *memory, size_t nbytes,
					CsvCudaBlock *found)
{
	Block	   *block;

	pthread_mutex_lock(&session->mutex);
	for (block = session->blocks; block != NULL; block = block->next)
		if ((const uint8_t *) memory >= block->block.bytes &&
			(const uint8_t *) memory + nbytes <=
			block->block.bytes + block->block.nbytes)
		{
			*found = block->block;
			break;
		}
	pthread_mutex_unlock(&session->mutex);
	return block != NULL;
}

static void *
alloc_input(void *arg, size_t nbytes)
{
	Engine	   *engine = arg;
	CsvSession *session = engine->session;
	Block	   *block = calloc(1, sizeof(Block));
	int			file = memfd_create("stand-in", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (block == NULL || file < 0 || ftruncate(file, (off_t) nbytes) != 0 ||
		fcntl(file, F_ADD_SEALS,
			  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		return NULL;
	block->block.bytes = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED,
							  file, 0);
	block->block.descriptor = file;
	block->block.nbytes = nbytes;
	pthread_mutex_lock(&session->mutex);
	block->block.number = session->nblocks++;
	block->next = session->blocks;
	session->blocks = block;
	pthread_mutex_unlock(&session->mutex);
	return block->block.bytes;
}

static void
free_input(void *arg, void *memory)
{
	Engine	   *engine = arg;
	CsvSession *session = engine->session;
	Block	  **place;
	Block	   *block;

	pthread_mutex_lock(&session->mutex);
	for (place = &session->blocks; (*place)->block.bytes != memory;)
		place = &(*place)->next;
	block = *place;
	*place = block->next;
	pthread_mutex_unlock(&session->mutex);
	munmap(block->block.bytes, block->block.nbytes);
	close(block->block.descriptor);
	free(block);
}

static const char *
detail(void *engine)
{
	(void) engine;
	return "stand-in";
}

static CsvStatus
configure(void *arg, const CsvDialect *dialect, const CsvLayout *layout)
{
	Engine	   *engine = arg;

	engine->layout = layout;
	return csv_cpu_engine.configure(engine->cpu, dialect, layout);
}

/* does what tests have injected let it go on? */
static bool
works(Engine *engine)
{
	int			fault = csv_faults_now(engine);

	if (fault < 0)
		engine->message = "out of GPU memory: a test says so";
	else if (fault > 0)
	{
		engine->message = "CUDA kernel failed: a test says so";
		__atomic_store_n(&engine->session->has_failed, true,
						 __ATOMIC_RELAXED);
	}
	return fault == 0;
}

static CsvStatus
parse(void *arg, const CsvInput *input, CsvBatch *batch)
{
	Engine	   *engine = arg;
	CsvInput	own = *input;
	CsvStatus	status;

	if (!works(engine))
		return CSV_DEVICE_FAILED;
	if (own.bytes == NULL)
		own.bytes = engine->file->bytes + CSV_MARGIN + own.offset;
	status = csv_cpu_engine.parse(engine->cpu, &own, batch);
	if (status != CSV_OK || input->bytes != NULL)
		return status;

	/* as the GPU does */
	if (!csv_batch_needs_bytes(batch, engine->layout))
		batch->bytes = NULL;
	return CSV_OK;
}

static const char *
message(void *arg)
{
	const Engine *engine = arg;

	return engine->message;
}

static void
close_engine(void *arg)
{
	Engine	   *engine = arg;

	csv_faults_close(engine);
	csv_cpu_engine.close(engine->cpu);
	free(engine);
}

static bool
set_query(void *engine, const CsvRequest *request)
{
	(void) engine;
	(void) request;
	return false;
}

void *
csv_cuda_open(CsvSession *session, const CsvCudaOptions *options,
			  const CsvMemory *memory, char *reason, size_t reason_size)
{
	CsvCpuOptions cpu = {.isa = CSV_ISA_BEST};
	Engine	   *engine = calloc(1, sizeof(Engine));

	(void) options;
	(void) csv_cuda_start(session, 0);
	if (engine != NULL)
	{
		engine->session = session;
		engine->memory = *memory;
		engine->message = "";
		engine->cpu = csv_cpu_open(&engine->memory, &cpu);
	}
	if (engine == NULL || engine->cpu == NULL)
	{
		snprintf(reason, reason_size, "out of memory");
		free(engine);
		return NULL;
	}
	csv_faults_open(engine, csv_faults_find(memory).gpu_fault);
	return engine;
}

const CsvEngine csv_cuda_engine = {
	.name = "cuda",
	.detail = detail,
	.configure = configure,
	.parse = parse,
	.alloc_input = alloc_input,
	.free_input = free_input,
	.message = message,
	.close = close_engine,
	.default_chunk_bytes = 4 << 20,
	.first_chunk_bytes = 256 << 10,
	.noutputs = 1,
	.set_query = set_query,
};

bool
csv_cuda_wake(CsvSession *session, int device, char *reason, size_t reason_size)
{
	(void) reason;
	(void) reason_size;
	return csv_cuda_start(session, device);
}

bool
csv_cuda_columns_may_be(const CsvSession *session, uint64_t nbytes,
						uint64_t memory_limit)
{
	(void) session;
	(void) nbytes;
	(void) memory_limit;
	return false;
}

CsvCudaColumns *
csv_cuda_columns_create(CsvSession *session, uint32_t ncolumns, uint32_t nrows)
{
	(void) session;
	(void) ncolumns;
	(void) nrows;
	return malloc(1);
}

void
csv_cuda_columns_free(CsvCudaColumns *columns)
{
	free(columns);
}

uint64_t
csv_cuda_columns_bytes(const CsvCudaColumns *columns)
{
	(void) columns;
	return 0;
}

uint32_t
csv_cuda_columns_filled(const CsvCudaColumns *columns, uint32_t part)
{
	(void) columns;
	(void) part;
	return 0;
}

bool
csv_cuda_columns_add(CsvCudaColumns *columns, uint32_t part, uint32_t first_row,
					 uint32_t width, const uint8_t *source,
					 uint32_t source_width, uint32_t nrows,
					 uint64_t memory_limit, char *reason, size_t reason_size)
{
	(void) columns, (void) part, (void) first_row, (void) width, (void) source;
	(void) source_width, (void) nrows, (void) memory_limit, (void) reason;
	(void) reason_size;
	return false;
}

bool
csv_cuda_question_needs(const CsvCudaQuestion *question, uint32_t column,
						bool statuses)
{
	(void) question;
	(void) column;
	return !statuses;
}

bool
csv_cuda_question_fits(const CsvSession *session,
					   const CsvCudaQuestion *question)
{
	(void) session;
	(void) question;
	return true;
}

CsvStatus
csv_cuda_columns_answer(CsvCudaColumns *columns, const CsvCudaQuestion *question,
						uint32_t first_row, uint32_t *nrows, CsvAnswer **answer,
						char *reason, size_t reason_size)
{
	(void) columns, (void) question, (void) first_row, (void) nrows;
	(void) reason, (void) reason_size;
	*answer = NULL;
	return CSV_OK;
}

void
csv_cuda_answer_free(CsvSession *session, CsvAnswer *answer)
{
	(void) session;
	(void) answer;
}

/* ---- bytes of files ---- */

CsvCudaFile *
csv_cuda_file_create(CsvSession *session, uint64_t nbytes,
					 uint64_t memory_limit)
{
	CsvCudaFile *file = calloc(1, sizeof(CsvCudaFile));

	(void) session;
	if (file == NULL || (memory_limit > 0 && nbytes > memory_limit / 2) ||
		(file->bytes = calloc(1, nbytes + 2 * CSV_MARGIN)) == NULL)
	{
		free(file);
		return NULL;
	}
	return file;
}

bool
csv_cuda_file_use(CsvCudaFile *file)
{
	(void) file;
	return true;
}

void
csv_cuda_file_leave(CsvCudaFile *file)
{
	(void) file;
}

void
csv_cuda_file_free(CsvCudaFile *file)
{
	free(file->bytes);
	free(file);
}

struct CsvCudaCopier
{
	uint8_t		bytes[CSV_CUDA_COPY_BYTES];
};

CsvCudaCopier *
csv_cuda_copier_create(CsvSession *session)
{
	(void) session;
	return malloc(sizeof(CsvCudaCopier));
}

uint8_t *
csv_cuda_copier_bytes(const CsvCudaCopier *copier)
{
	return ((CsvCudaCopier *) copier)->bytes;
}

bool
csv_cuda_copier_copy(CsvCudaCopier *copier, const CsvCudaFile *file,
					 uint64_t offset, size_t nbytes)
{
	memcpy(file->bytes + CSV_MARGIN + offset, copier->bytes, nbytes);
	return true;
}

void
csv_cuda_copier_free(CsvCudaCopier *copier)
{
	free(copier);
}

void
csv_cuda_set_file(void *engine, const CsvCudaFile *file)
{
	((Engine *) engine)->file = file;
}

int
csv_cuda_list_devices(CsvSession *session, CsvCudaDevice *devices, int max)
{
	(void) session;
	if (max < 1)
		return 0;
	memset(devices, 0, sizeof(*devices));
	snprintf(devices->name, sizeof(devices->name), "stand-in");
	devices->memory_total = devices->memory_free = UINT64_C(1) << 30;
	devices->usable = true;
	return 1;
}

uint64_t
csv_cuda_memory(CsvSession *session, uint64_t memory_limit, uint64_t *limit)
{
	(void) session;
	*limit = memory_limit;
	return 0;
}
