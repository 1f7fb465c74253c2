/*
 * choose.c
 *		Chooses between the engines.
 *
 * CUDA is touched only here, and only when a query asks for it: loading the
 * library and starting a server never do.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"

#include "batches/choose.h"
#include "table/threads.h"

#ifdef CSV_WITH_CUDA
#include "../../cuda/csv_cuda.h"
#endif

/*
 * Sizes below are for one thread of the CPU's; several read as much more in the
 * same time, about (see cpu_pace()).
 *
 * Below this size 'auto' does not wake a GPU: a CUDA context takes a session
 * 0.2 to 0.4 s, in which the CPU engine reads about as much, and counts the
 * records of three times as much.  It does read meanwhile, but not quite as fast
 * as alone.
 */
#define CSV_AUTO_GPU_BYTES	(INT64CONST(256) * 1024 * 1024)
#define CSV_AUTO_COUNT_GPU_BYTES	(3 * CSV_AUTO_GPU_BYTES)

/*
 * With less than this left, a GPU that has just woken up does not take over: its
 * first chunks wait for pinned memory, 40 ms in all.
 */
#define CSV_AUTO_TAKE_OVER_BYTES	(INT64CONST(128) * 1024 * 1024)

/* with the context up, a GPU pays from here on */
#define CSV_AUTO_WARM_GPU_BYTES	(INT64CONST(16) * 1024 * 1024)

/* a smaller file is read before threads have started */
#define CSV_AHEAD_BYTES	(INT64CONST(1) * 1024 * 1024)

/* how many times as fast as one thread a GPU counts the records of 512 MB */
#define CSV_GPU_SPEED	3

/* what a further thread adds, about */
#define CSV_THREAD_SHARE	0.75

/* memory of a GPU, where no limit is set: that of a small one */
#define CSV_GPU_GROUP_BYTES	(8 * 1024.0 * 1024.0 * 1024.0)

/* once a GPU has failed, 'auto' stays with the CPU for the session */
static bool gpu_failed = false;

#ifdef CSV_WITH_CUDA
/* how many times as fast as one thread all of them read a large file */
static double
cpu_pace(const CsvSettings *settings)
{
	return 1 + (settings->cpu_threads - 1) * CSV_THREAD_SHARE;
}

struct CsvSession *
csv_engine_session(void)
{
	static CsvSession *session = NULL;

	if (session == NULL)
		session = csv_cuda_session_create();
	if (session == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	return session;
}

static CsvCudaState
gpu_state(void)
{
	return csv_cuda_state(csv_engine_session());
}

/* a program's output is of unknown size: not worth it */
static bool
gpu_is_worth_it(const CsvSettings *settings, int64 nbytes, int ncolumns)
{
	nbytes = (int64) (nbytes / cpu_pace(settings));
	switch (gpu_state())
	{
		case CSV_CUDA_AWAKE:
			return nbytes >= CSV_AUTO_WARM_GPU_BYTES;
		case CSV_CUDA_STARTING:
			return nbytes >= CSV_AUTO_TAKE_OVER_BYTES;
		default:
			return nbytes >= (ncolumns > 0 ? CSV_AUTO_GPU_BYTES :
							  CSV_AUTO_COUNT_GPU_BYTES);
	}
}

static bool
gpu_is_awake(void)
{
	return gpu_state() == CSV_CUDA_AWAKE;
}

static void
wait_for_start(int code, Datum arg)
{
	csv_cuda_settle(csv_engine_session());
}

/* false if there will be none */
static bool
wake_gpu(const CsvSettings *settings)
{
	static bool registered = false;

	if (gpu_state() == CSV_CUDA_STARTING)
		return true;
	if (!registered)
		on_proc_exit(wait_for_start, (Datum) 0);
	registered = true;
	return csv_cuda_start(csv_engine_session(), settings->device);
}

/* false, with *reason allocated, if there is no usable GPU */
static bool
open_cuda(CsvOpenEngine *open, const CsvSettings *settings,
		  const CsvMemory *memory, char **reason)
{
	CsvCudaOptions options;
	char		buffer[512];
	void	   *state;

	memset(&options, 0, sizeof(options));
	options.device = settings->device;
	options.memory_limit = (uint64_t) settings->gpu_memory_limit * 1024 * 1024;
	buffer[0] = '\0';
	state = csv_cuda_open(csv_engine_session(), &options, memory, buffer,
						  sizeof(buffer));
	if (state == NULL)
	{
		*reason = pstrdup(buffer);
		return false;
	}
	open->engine = &csv_cuda_engine;
	open->state = state;
	open->awaits_gpu = false;
	return true;
}
#else
static bool
gpu_is_awake(void)
{
	return false;
}

static bool
wake_gpu(const CsvSettings *settings)
{
	return false;
}

static bool
open_cuda(CsvOpenEngine *open, const CsvSettings *settings,
		  const CsvMemory *memory, char **reason)
{
	return false;
}
#endif

/* would csv_engine_open() have a GPU read it, if need be when that is awake? */
static bool
is_for_gpu(const CsvSettings *settings, int64 nbytes, int ncolumns, bool now)
{
#ifdef CSV_WITH_CUDA
	return settings->engine == CSV_ENGINE_CUDA ||
		(settings->engine == CSV_ENGINE_AUTO && !gpu_failed &&
		 (!now || gpu_is_awake()) && gpu_is_worth_it(settings, nbytes, ncolumns));
#else
	return false;
#endif
}

/* the CPU engine with so many threads */
static void
open_threads(CsvOpenEngine *open, uint32_t nthreads, const CsvMemory *memory)
{
	CsvCpuOptions options;

	memset(&options, 0, sizeof(options));
	options.threads = nthreads;
	open->state = csv_cpu_open(memory, &options);
	if (open->state == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	open->engine = &csv_cpu_engine;
	open->may_fall_back = false;
	open->awaits_gpu = false;
}

void
csv_engine_open_alone(CsvOpenEngine *open, const CsvMemory *memory)
{
	open_threads(open, 1, memory);
}

/* several threads are not worth it for a small file */
static void
open_cpu(CsvOpenEngine *open, const CsvSettings *settings, int64 nbytes,
		 uint64 chunk_bytes, const CsvMemory *memory)
{
	int64		least = chunk_bytes > 0 ?
		Min(4 * (int64) chunk_bytes, CSV_AHEAD_BYTES) : CSV_AHEAD_BYTES;

	open_threads(open, nbytes < 0 || nbytes >= least ?
				 (uint32_t) settings->cpu_threads : 1, memory);
}

void
csv_engine_open(CsvOpenEngine *open, const CsvSettings *settings,
				int64 nbytes, uint64 chunk_bytes, int ncolumns,
				const CsvMemory *memory)
{
	char	   *reason = "csv_gpu_fdw was built without CUDA";
	bool		wants_gpu = is_for_gpu(settings, nbytes, ncolumns, false);

	open->may_fall_back = settings->engine == CSV_ENGINE_AUTO;
	if (wants_gpu && (settings->engine == CSV_ENGINE_CUDA || gpu_is_awake()) &&
		open_cuda(open, settings, memory, &reason))
		return;
	if (settings->engine == CSV_ENGINE_CUDA)
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("no usable GPU for engine \"cuda\": %s", reason),
				 errhint("Set csv_gpu_fdw.engine to auto or cpu to read on the CPU.")));
	open_cpu(open, settings, nbytes, chunk_bytes, memory);
	open->awaits_gpu = wants_gpu && !gpu_is_awake() && wake_gpu(settings);
}

bool
csv_engine_may_take_over(CsvOpenEngine *open, const CsvSettings *settings,
						 int64 nbytes)
{
#ifdef CSV_WITH_CUDA
	if (gpu_state() == CSV_CUDA_STARTING)
		return false;
	open->awaits_gpu = !gpu_failed && gpu_is_awake() &&
		nbytes / cpu_pace(settings) >= CSV_AUTO_TAKE_OVER_BYTES;
#endif
	return open->awaits_gpu;
}

bool
csv_engine_take_over(CsvOpenEngine *open, const CsvSettings *settings,
					 const CsvMemory *memory, CsvOpenEngine *gpu)
{
	char	   *reason;

	open->awaits_gpu = false;
	gpu->may_fall_back = true;
	return open_cuda(gpu, settings, memory, &reason);
}

bool
csv_engine_wants_gpu(const CsvSettings *settings, int64 nbytes)
{
#ifdef CSV_WITH_CUDA
	char		reason[512];

	if (!is_for_gpu(settings, nbytes, 1, false))
		return false;
	if (settings->engine == CSV_ENGINE_CUDA || gpu_is_awake())
		return csv_cuda_wake(csv_engine_session(), settings->device, reason,
							 sizeof(reason));
	(void) wake_gpu(settings);
#endif
	return false;
}

void
csv_engine_gpu_failed(void)
{
	gpu_failed = true;
}

void
csv_engine_fall_back(CsvOpenEngine *open, const CsvSettings *settings,
					 const CsvMemory *memory)
{
	csv_engine_gpu_failed();
	open_cpu(open, settings, -1, 0, memory);
}

char *
csv_engine_gpu_description(const CsvSettings *settings)
{
	char		name[256] = "no usable GPU";

#ifdef CSV_WITH_CUDA
	csv_cuda_device_name(csv_engine_session(), settings->device, name,
						 sizeof(name));
#endif
	return psprintf("cuda (%s)", name);
}

char *
csv_engine_describe(const CsvSettings *settings, int64 nbytes, int ncolumns)
{
#ifdef CSV_WITH_CUDA
	char		name[256];

	if (settings->engine == CSV_ENGINE_AUTO &&
		is_for_gpu(settings, nbytes, ncolumns, false) &&
		csv_cuda_device_name(csv_engine_session(), settings->device, name,
							 sizeof(name)))
		return psprintf("cuda (%s)", name);
#endif
	if (settings->engine == CSV_ENGINE_CUDA)
		return csv_engine_gpu_description(settings);
	return psprintf("cpu (%s)", csv_cpu_isa_name());
}

double
csv_engine_speed(const CsvSettings *settings, int64 nbytes, int ncolumns)
{
	/* it is chosen only where it is faster */
	if (is_for_gpu(settings, nbytes, ncolumns, true))
		return Max(CSV_GPU_SPEED, settings->cpu_threads);
	return nbytes >= CSV_AHEAD_BYTES ?
		settings->planned_threads : 1;
}

bool
csv_engine_holds_groups(const CsvSettings *settings, int64 nbytes,
						int ncolumns, double group_bytes)
{
	double		limit = settings->gpu_memory_limit > 0 ?
		settings->gpu_memory_limit * 1024.0 * 1024.0 : CSV_GPU_GROUP_BYTES;

	return group_bytes <= limit / 4 &&
		is_for_gpu(settings, nbytes, ncolumns, true);
}

char *
csv_engine_description(const CsvOpenEngine *open)
{
	return psprintf("%s (%s)", open->engine->name,
					open->engine->detail(open->state));
}
