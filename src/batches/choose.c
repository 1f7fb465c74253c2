/*
 * choose.c
 *		Chooses between the engines.
 *
 * The GPU belongs to another process, csv_gpu_service, which is only asked about it
 * when a query may use it.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "batches/choose.h"
#include "client/connection.h"
#include "client/gpu.h"
#include "table/option.h"

/*
 * The sizes below are for one CPU thread.  Several threads read correspondingly more
 * in the same time (see cpu_pace()).
 *
 * Below this size 'auto' does not wake a GPU.  A session needs 0.2 to 0.4 s to create
 * a CUDA context.  In this time the CPU engine reads about this many bytes, and counts
 * the records of three times as many.  It does read meanwhile, but not quite as fast
 * as alone.
 */
#define CSV_AUTO_GPU_BYTES	(INT64CONST(256) * 1024 * 1024)
#define CSV_AUTO_COUNT_GPU_BYTES	(3 * CSV_AUTO_GPU_BYTES)

/*
 * If fewer bytes are left, a GPU that has just woken up does not take over: its first
 * chunks wait for pinned memory, 40 ms in total.
 */
#define CSV_AUTO_TAKE_OVER_BYTES	(INT64CONST(128) * 1024 * 1024)

/* with a CUDA context, a GPU is worth using from this size */
#define CSV_AUTO_WARM_GPU_BYTES	(INT64CONST(16) * 1024 * 1024)

/* interval between looks at the state of an awaited GPU */
#define CSV_ASK_MILLISECONDS	5

/* several threads are not worth it for a smaller file */
#define CSV_AHEAD_BYTES	(INT64CONST(1) * 1024 * 1024)

/* speed at which a GPU counts the records of 512 MB, relative to one thread */
#define CSV_GPU_SPEED	3

/* approximate speed that each further thread adds */
#define CSV_THREAD_SHARE	0.75

/*
 * A GPU's rows cost the session that takes them more than rows of CPU threads, which
 * are still in a cache.  If this many rows come out, of as many as all threads read
 * while one thread reads one, threads are faster than a GPU.
 */
#define CSV_MOST_GPU_ROWS	1.5

/* assumed memory of a GPU if no limit is set: that is a small GPU */
#define CSV_GPU_GROUP_BYTES	(8 * 1024.0 * 1024.0 * 1024.0)

/*
 * If a GPU has failed, 'auto' uses the CPU as long as the same csv_gpu_service has the
 * GPU.  This is the connection to it, or 0 if no GPU has failed.
 */
static uint64 failed_connection = 0;

static bool
gpu_has_failed(void)
{
	return failed_connection != 0 && csv_service_connect(false) &&
		csv_service_connection() == failed_connection;
}

/* speed of all threads for a large file, relative to one thread */
static double
cpu_pace(const CsvSettings *settings)
{
	return 1 + (settings->cpu_threads - 1) * CSV_THREAD_SHARE;
}

/*
 * Is the GPU worth using, in this state or a better one?  Not for a program's output,
 * whose size is unknown.
 */
static bool
gpu_is_worth_it(const CsvSettings *settings, int64 nbytes, int ncolumns,
				double rows_out, CsvDeviceState state)
{
	if (rows_out * cpu_pace(settings) > CSV_MOST_GPU_ROWS)
		return false;
	nbytes = (int64) (nbytes / cpu_pace(settings));
	switch (state)
	{
		case CSV_DEVICE_AWAKE:
			return nbytes >= CSV_AUTO_WARM_GPU_BYTES;
		case CSV_DEVICE_STARTING:
			return nbytes >= CSV_AUTO_TAKE_OVER_BYTES;
		case CSV_DEVICE_ASLEEP:
			return nbytes >= (ncolumns > 0 ? CSV_AUTO_GPU_BYTES :
							  CSV_AUTO_COUNT_GPU_BYTES);
		default:
			return false;
	}
}

CsvGpuUse
csv_choose_gpu(const CsvSettings *settings, int64 nbytes, int ncolumns,
			   double rows_out, bool wakes)
{
	CsvDeviceState state;

	if (settings->engine != CSV_ENGINE_AUTO)
		return settings->engine == CSV_ENGINE_CUDA ? CSV_GPU_READS : CSV_GPU_NONE;
	/* for a small file, csv_gpu_service need not be asked */
	if (!gpu_is_worth_it(settings, nbytes, ncolumns, rows_out, CSV_DEVICE_AWAKE) ||
		gpu_has_failed())
		return CSV_GPU_NONE;
	state = csv_gpu_state(settings->device, NULL);
	if (!gpu_is_worth_it(settings, nbytes, ncolumns, rows_out, state))
		return CSV_GPU_NONE;
	if (state == CSV_DEVICE_AWAKE)
		return CSV_GPU_READS;
	if (wakes)
		csv_gpu_wake(settings->device);
	return CSV_GPU_AWAITED;
}

CsvGpuUse
csv_await_gpu(const CsvSettings *settings, int64 nbytes)
{
	static TimestampTz asked = 0;
	TimestampTz now = GetCurrentTimestamp();

	if (gpu_has_failed() || nbytes / cpu_pace(settings) < CSV_AUTO_TAKE_OVER_BYTES)
		return CSV_GPU_NONE;
	if (!TimestampDifferenceExceeds(asked, now, CSV_ASK_MILLISECONDS))
		return CSV_GPU_AWAITED;
	asked = now;
	switch (csv_gpu_state(settings->device, NULL))
	{
		case CSV_DEVICE_AWAKE:
			return CSV_GPU_READS;
		case CSV_DEVICE_NONE:
			return CSV_GPU_NONE;
		case CSV_DEVICE_ASLEEP:
			csv_gpu_wake(settings->device);
			break;
		default:
			break;
	}
	return CSV_GPU_AWAITED;
}

int
csv_engine_threads(const CsvSettings *settings, int64 nbytes, uint64 chunk_bytes)
{
	int64		least = chunk_bytes > 0 ?
		Min(4 * (int64) chunk_bytes, CSV_AHEAD_BYTES) : CSV_AHEAD_BYTES;

	return nbytes < 0 || nbytes >= least ? settings->cpu_threads : 1;
}

/* why is there no GPU? */
static const char *
gpu_trouble(const CsvSettings *settings)
{
	if (!csv_service_has_descriptors())
		return strerror(EMFILE);
	if (!csv_service_connect(false))
		return "csv_gpu_service does not run";
	if (!csv_service_has_cuda())
		return "csv_gpu_service was built without CUDA";
	if (csv_gpu_state(settings->device, NULL) != CSV_DEVICE_NONE)
		return "csv_gpu_service has no room for another scan";
	return settings->device <= 0 ? "there is none, or no driver" :
		"there is no such device";
}

void
csv_engine_no_gpu(const CsvSettings *settings)
{
	ereport(ERROR,
			(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
			 errmsg("no usable GPU for engine \"cuda\": %s",
					gpu_trouble(settings)),
			 errhint("Set csv_gpu_fdw.engine to auto or cpu to read on the CPU.")));
}

bool
csv_engine_lacks_gpu(const CsvSettings *settings)
{
	return settings->engine == CSV_ENGINE_CUDA &&
		csv_gpu_state(settings->device, NULL) == CSV_DEVICE_NONE;
}

void
csv_engine_gpu_failed(void)
{
	failed_connection = csv_service_connection();
}

const char *
csv_engine_name(const CsvSettings *settings, bool is_gpu)
{
	static char cpu[32] = "";
	char		name[CSV_DEVICE_NAME_BYTES];

	if (!is_gpu)
	{
		if (cpu[0] == '\0')
			snprintf(cpu, sizeof(cpu), "cpu (%s)", csv_cpu_isa_name());
		return cpu;
	}
	if (csv_gpu_state(settings->device, name) == CSV_DEVICE_NONE)
		return "cuda (no usable GPU)";
	return psprintf("cuda (%s)", name);
}

double
csv_engine_speed(const CsvSettings *settings, int64 nbytes, bool has_gpu)
{
	/* a GPU is chosen only if it is faster */
	if (has_gpu)
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
		csv_choose_gpu(settings, nbytes, ncolumns, 0, false) == CSV_GPU_READS;
}
