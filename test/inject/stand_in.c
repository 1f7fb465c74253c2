/*
 * stand_in.c
 *		A GPU for machines that have none: the CPU engine behind csv_cuda.h.
 *
 * csv_gpu_service is linked with it for tests, instead of cuda/.
 * stand_in_query.c answers queries, and stand_in_table.c has columns that stay.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../cuda/csv_cuda.h"
#include "../../cuda/policy.h"
#include "inject.h"
#include "reader/arrays.h"
#include "reader/place.h"
#include "stand_in_query.h"
#include "wire/request.h"

/* how many devices there are */
#define CSV_STAND_INS	2

struct CsvSession
{
	int			device;
	CsvCudaState state;
	bool		has_failed;
};

/* bytes of a file */
struct CsvCudaFile
{
	uint8_t    *bytes;			/* with CSV_MARGIN before and behind them */
	uint64_t	nbytes;
};

typedef struct Engine
{
	CsvSession *session;
	CsvMemory	memory;
	CsvCudaOptions options;
	const CsvCudaFile *file;
	uint8_t    *copy;			/* of an input that goes round in a file's memory */
	const CsvDialect *dialect;
	const CsvLayout *layout;
	const char *message;
	void	   *cpu;

	/* the query that batches are to answer, and the answer of the last one */
	bool		is_asked;
	CsvWireRequest *request;	/* a copy; or NULL */
	CsvAnswer  *answer;
	CsvEvaluator *held;			/* groups; NULL: none yet */
	CsvPartialGroups piece;		/* some of them, for the caller */
} Engine;

CsvSession *
csv_cuda_session_create(int device)
{
	CsvSession *session = calloc(1, sizeof(CsvSession));

	if (session != NULL)
		session->device = device;
	return session;
}

void
csv_cuda_see_first(void)
{
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

/* a test has a device break when it starts: below the data directory */
static bool
is_broken(int device)
{
	FILE	   *file = fopen(CSV_BROKEN_FILE, "r");
	int			broken = -1;

	if (file == NULL)
		return false;
	if (fscanf(file, "%d", &broken) != 1)
		broken = -1;
	fclose(file);
	return broken == device;
}

bool
csv_cuda_start(CsvSession *session)
{
	if (is_broken(session->device))
	{
		__atomic_store_n(&session->has_failed, true, __ATOMIC_RELAXED);
		return false;
	}
	__atomic_store_n(&session->state, CSV_CUDA_AWAKE, __ATOMIC_RELAXED);
	return true;
}

/* the outlet copies what is in no block, as it does with the arrays of a detour */
bool
csv_cuda_find_block(CsvSession *session, const void *memory, size_t nbytes,
					CsvCudaBlock *found)
{
	(void) session;
	(void) memory;
	(void) nbytes;
	(void) found;
	return false;
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

	engine->is_asked = false;
	engine->dialect = dialect;
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

/* groups of a batch may stay here, if there are many of them to begin it */
static bool
may_hold(const Engine *engine)
{
	const CsvRequest *request = engine->request->request;
	uint32_t	least = engine->options.hold_from > 0 ?
		engine->options.hold_from : CSV_TABLE_LEAST_GROUPS;

	return request->may_hold && request->query->aggregates &&
		request->query->nkeys > 0 && engine->answer->groups.ngroups > 0 &&
		(engine->held != NULL || engine->answer->groups.ngroups >= least);
}

/* of the rows that come out, as CsvBatch.answer has it */
static void
select_entries(const Engine *engine, CsvBatch *batch)
{
	const CsvSelection *selection = &batch->answer->selection;

	for (uint32_t i = 0; i < engine->layout->ncolumns; i++)
	{
		CsvArray   *array = &batch->arrays[i];

		for (uint32_t k = 0; k < selection->nrows; k++)
		{
			memmove(array->values + (size_t) k * array->stride,
					array->values + (size_t) selection->rows[k] * array->stride,
					array->stride);
			array->status[k] = array->status[selection->rows[k]];
		}
		if (engine->request->request->hidden[i] && !selection->any_careful)
			array->values = NULL;
	}
	for (uint32_t k = 0; k < selection->nrows && batch->row_offsets != NULL; k++)
	{
		batch->row_offsets[k] = batch->row_offsets[selection->rows[k]];
		batch->row_lines[k] = batch->row_lines[selection->rows[k]];
	}
}

static CsvStatus
answer_query(Engine *engine, const CsvInput *input, CsvBatch *batch)
{
	const CsvRequest *request = engine->request->request;
	CsvStatus	status;

	csv_stand_in_free_answer(engine->answer);
	status = csv_stand_in_answer(request, engine->layout, batch,
								 input->interrupted, input->interrupted_arg,
								 &engine->answer);
	if (engine->answer == NULL)
		return status;
	if (may_hold(engine))
	{
		if (engine->held == NULL)
			engine->held = csv_stand_in_make_held(request->query);
		csv_stand_in_hold(engine->held, engine->options.memory_limit /
						  CSV_QUERY_MEMORY_SHARE, engine->answer);
	}
	else if (!csv_stand_in_may_travel(engine->answer->groups.ngroups,
									  batch->nrows))
		return CSV_OK;
	batch->answer = engine->answer;
	select_entries(engine, batch);
	return CSV_OK;
}

/* an input's bytes in one stretch */
static const uint8_t *
bytes_of_file(Engine *engine, const CsvInput *input)
{
	const CsvCudaFile *file = engine->file;
	uint64_t	at = input->offset % file->nbytes;
	uint64_t	rest = file->nbytes - at;

	if (input->nbytes <= rest)
		return file->bytes + CSV_MARGIN + at;
	free(engine->copy);
	engine->copy = calloc(1, input->nbytes + 2 * CSV_MARGIN);
	if (engine->copy == NULL)
		abort();
	memcpy(engine->copy + CSV_MARGIN, file->bytes + CSV_MARGIN + at, rest);
	memcpy(engine->copy + CSV_MARGIN + rest, file->bytes + CSV_MARGIN,
		   input->nbytes - rest);
	return engine->copy + CSV_MARGIN;
}

static CsvStatus
parse(void *arg, const CsvInput *input, CsvBatch *batch)
{
	Engine	   *engine = arg;
	CsvInput	own = *input;
	uint64_t	most = engine->options.memory_limit == 0 ? UINT64_MAX :
		(uint64_t) ((double) engine->options.memory_limit / CSV_MEMORY_SHARE);
	CsvStatus	status;

	if (!works(engine))
		return CSV_DEVICE_FAILED;
	if (own.bytes == NULL)
		own.bytes = bytes_of_file(engine, input);

	/* what does not fit is left for the next call */
	if (own.nbytes > most)
	{
		own.nbytes = most;
		own.at_end = false;
	}
	status = csv_cpu_engine.parse(engine->cpu, &own, batch);
	if (status == CSV_OK && batch->consumed == 0 && own.nbytes < input->nbytes)
	{
		engine->message = "out of GPU memory: a record needs more than the limit";
		return CSV_DEVICE_FAILED;
	}
	if (status == CSV_OK && engine->is_asked && batch->nrows > 0)
		status = answer_query(engine, input, batch);
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

/* NULL: it is not sound */
static CsvWireRequest *
copy_request(const Engine *engine, const CsvRequest *request)
{
	CsvWireRequest wire = {engine->dialect->opt, 1, 0, engine->layout, request};
	CsvWireRequest *copy;
	size_t		nbytes;
	uint8_t    *bytes = csv_wire_encode_request(&wire, &engine->memory, &nbytes);

	if (bytes == NULL)
		return NULL;
	copy = csv_wire_decode_request(bytes, nbytes, &engine->memory);
	engine->memory.free(engine->memory.owner, bytes);
	return copy;
}

/* another one, or NULL; what is held is of its shape, as all of a scan are */
static void
replace_request(Engine *engine, CsvWireRequest *request)
{
	if (request != NULL && engine->held != NULL)
		csv_evaluator_set_query(engine->held, request->request->query);
	csv_free(&engine->memory, engine->request);
	engine->request = request;
}

static bool
set_query(void *arg, const CsvRequest *request)
{
	Engine	   *engine = arg;
	CsvWireRequest *copy = request != NULL &&
		csv_stand_in_takes(request->query, engine->layout) ?
		copy_request(engine, request) : NULL;

	engine->is_asked = copy != NULL;
	if (copy != NULL)
		replace_request(engine, copy);
	return engine->is_asked;
}

static CsvStatus
held_groups(void *arg, uint32_t first, CsvPartialGroups *groups)
{
	Engine	   *engine = arg;

	csv_stand_in_free_groups(&engine->piece);
	if (engine->held != NULL)
		csv_stand_in_copy_held(engine->held, first, &engine->piece);
	*groups = engine->piece;
	return CSV_OK;
}

static void
close_engine(void *arg)
{
	Engine	   *engine = arg;

	csv_faults_close(engine);
	csv_cpu_engine.close(engine->cpu);
	csv_stand_in_free_answer(engine->answer);
	csv_stand_in_free_groups(&engine->piece);
	free(engine->copy);
	if (engine->held != NULL)
		csv_evaluator_free(engine->held);
	replace_request(engine, NULL);
	free(engine);
}

void *
csv_cuda_open(CsvSession *session, const CsvCudaOptions *options,
			  const CsvMemory *memory, char *reason, size_t reason_size)
{
	CsvCpuOptions cpu = {.isa = CSV_ISA_BEST};
	CsvInjected injected = csv_faults_find(memory);
	Engine	   *engine = calloc(1, sizeof(Engine));

	(void) csv_cuda_start(session);
	if (engine != NULL)
	{
		engine->session = session;
		engine->options = *options;
		if (injected.gpu_groups > 0)
			engine->options.hold_from = (uint32_t) injected.gpu_groups;
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
	csv_faults_open(engine, injected.gpu_fault);
	return engine;
}

const CsvEngine csv_cuda_engine = {
	.name = "cuda",
	.detail = detail,
	.configure = configure,
	.parse = parse,
	.message = message,
	.close = close_engine,
	.default_chunk_bytes = 4 << 20,
	.first_chunk_bytes = 256 << 10,
	.noutputs = 1,
	.set_query = set_query,
	.held_groups = held_groups,
};

bool
csv_cuda_wake(CsvSession *session, char *reason, size_t reason_size)
{
	snprintf(reason, reason_size, "a test says so");
	return csv_cuda_start(session);
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
	file->nbytes = nbytes;
	return file;
}

bool
csv_cuda_file_use(CsvCudaFile *file, uint64_t memory_limit)
{
	(void) file;
	(void) memory_limit;
	return true;
}

void
csv_cuda_file_leave(CsvCudaFile *file)
{
	(void) file;
}

bool
csv_cuda_file_read(const CsvCudaFile *file, uint64_t offset, uint8_t *bytes,
				   size_t nbytes)
{
	memcpy(bytes, file->bytes + CSV_MARGIN + offset, nbytes);
	return true;
}

bool
csv_cuda_file_extend(CsvCudaFile *file, const CsvCudaFile *with, size_t nbytes)
{
	memcpy(file->bytes + CSV_MARGIN, with->bytes + CSV_MARGIN, nbytes);
	return true;
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
	memcpy(file->bytes + CSV_MARGIN + offset % file->nbytes, copier->bytes,
		   nbytes);
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
csv_cuda_list_devices(CsvCudaDevice *devices, int max)
{
	while (access(CSV_LOOKING_FILE, F_OK) == 0)
		usleep(1000);
	for (int i = 0; i < CSV_STAND_INS && i < max; i++)
	{
		memset(&devices[i], 0, sizeof(CsvCudaDevice));
		devices[i].ordinal = i;
		snprintf(devices[i].name, sizeof(devices[i].name), "stand-in");
		devices[i].memory_total = devices[i].memory_free = UINT64_C(1) << 30;
		devices[i].usable = true;
	}
	return CSV_STAND_INS;
}

void
csv_cuda_trim(CsvSession *session, uint64_t memory_limit)
{
	(void) session;
	(void) memory_limit;
}

uint64_t
csv_cuda_memory(CsvSession *session, uint64_t memory_limit, uint64_t *limit)
{
	(void) session;
	*limit = memory_limit;
	return 0;
}
