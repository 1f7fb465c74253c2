/*
 * threads.c
 *		How many threads a scan has.
 */
#include "postgres.h"

#include <sched.h>
#include <unistd.h>

#include "access/parallel.h"
#include "miscadmin.h"
#include "optimizer/cost.h"

#include "table/threads.h"

#define MOST_THREADS	64

static long
count_cores(void)
{
#ifdef CPU_COUNT
	cpu_set_t	allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
		return CPU_COUNT(&allowed);
#endif
	return sysconf(_SC_NPROCESSORS_ONLN);
}

int
csv_thread_count(int setting)
{
	long		most = Min(max_parallel_workers_per_gather,
						   max_parallel_workers) + 1;

	if (IsParallelWorker())
		return 1;
	if (setting > 0 || most == 1)
		return Max(setting, 1);
	return (int) Max(Min(Min(most, count_cores()), MOST_THREADS), 1);
}
