/*
 * threads.c
 *		The number of threads of a scan.
 */
#include "postgres.h"

#include <sched.h>
#include <unistd.h>

#include "access/parallel.h"
#include "miscadmin.h"
#include "optimizer/cost.h"

#include "table/threads.h"

#define MOST_THREADS	64

/*
 * If the threads that decompress and the threads that parse are more than the cores,
 * the backend, which passes bytes between them, must wait for its turn.  On few cores
 * it is better that either kind may use all cores.
 */
#define FEW_CORES		4

/* counted once: each scan asks for them, and a process seldom gets others */
static long
count_cores(void)
{
	static long ncores = 0;

	if (ncores > 0)
		return ncores;
#ifdef CPU_COUNT
	{
		cpu_set_t	allowed;

		if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
			ncores = CPU_COUNT(&allowed);
	}
#endif
	if (ncores <= 0)
		ncores = sysconf(_SC_NPROCESSORS_ONLN);
	return ncores;
}

/* the processes that PostgreSQL would allow for a query */
static int
count_processes(void)
{
	return Min(max_parallel_workers_per_gather, max_parallel_workers) + 1;
}

int
csv_thread_count(int setting)
{
	int			most = count_processes();

	if (IsParallelWorker())
		return 1;
	if (setting > 0 || most == 1)
		return Max(setting, 1);
	return (int) Max(Min(Min(most, count_cores()), MOST_THREADS), 1);
}

/*
 * PostgreSQL's cost estimates for parallel plans ignore the number of cores.  Ours are
 * compared with them, so they must ignore it, too.
 */
int
csv_planned_threads(int setting, int nthreads)
{
	return setting > 0 ? nthreads :
		Max(nthreads, Min(count_processes(), MOST_THREADS));
}

int
csv_stream_threads(int nthreads)
{
	return Min(Max(nthreads, 1), Max(count_cores() / 2, FEW_CORES));
}
