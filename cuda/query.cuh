/*
 * query.cuh
 *		Filters and groups a batch's rows on the device: see query.cu.
 *
 * Everything is on the device, on one stream:
 *
 *	1. csv_launch_query evaluates each row (row.h), and writes its fate, its keys and
 *	   the inputs of aggregates.  Rows with equal keys find each other in a hash
 *	   table, whose slots hold the first row of each group.  Then the rows that come
 *	   out are listed, and the first rows of groups; groups are numbered in their
 *	   order.  CsvQueryCounts has the counts.
 *	2. csv_launch_groups adds rows to their groups: in shared memory if there are few
 *	   groups, otherwise in global memory.  Then keys and extremes replace the rows
 *	   that hold them.
 *	3. csv_launch_gather copies a column's entries of the rows that come out.
 *
 * If each row's group is known before, or there is only one group, csv_launch_sums
 * does steps 1 and 2 at once.
 */
#ifndef CSV_CUDA_QUERY_CUH
#define CSV_CUDA_QUERY_CUH

#include "session.h"
#include "../src/query/plan.h"
#include "../src/query/row.h"

typedef struct CsvQueryCounts
{
	uint32_t	nselected;		/* rows that come out */
	uint32_t	ngroups;		/* if there are keys */
	uint32_t	ncareful;
	uint32_t	npasses;
	uint32_t	crowded;		/* not 0: too many keys have the same hash, and the
								 * groups are of no use */
	uint32_t	unused;
	unsigned long long text_bytes;	/* of keys and extremes; may be more than the
									 * room */
} CsvQueryCounts;

/* everything the kernels need; passed by value */
typedef struct CsvQueryView
{
	CsvPlan		plan;			/* on the device */
	const CsvRowColumn *columns;
	uint32_t	ncolumns;
	uint32_t	nrows;
	CsvOutputs	outputs;
	uint32_t   *table;			/* with keys: first row of a group, UINT32_MAX in free
								 * slots */
	uint32_t	table_mask;		/* number of slots - 1; that number is a power of
								 * two */
	uint32_t   *slots;			/* per row, in place of its hash */
	uint32_t   *numbers;		/* of groups, by their first rows */
	uint64_t   *ranks;			/* per block of rows: see query.cu */
	uint32_t   *selected;		/* rows that come out */
	uint8_t    *careful;		/* per row that comes out: 1 if careful */
	uint32_t   *firsts;			/* first row of each group */
	CsvQueryCounts *counts;

	/* groups: see CsvPartialGroups */
	uint32_t	ngroups;
	uint64_t   *group_keys;
	uint32_t   *group_nulls;
	int64_t    *words;			/* starts at zero */
	uint8_t    *texts;
	size_t		text_capacity;

	/* for csv_launch_sums */
	const uint32_t *classes;	/* group of each row, CSV_UNKNOWN_CLASS if its keys are
								 * undecided; NULL: one group */
	uint64_t   *group_rows;		/* per group; starts at zero */
} CsvQueryView;

static __host__ __device__ __forceinline__ bool
csv_is_extreme(const CsvPlanAggregate &aggregate)
{
	return aggregate.kind == CSV_AGGREGATE_MIN ||
		aggregate.kind == CSV_AGGREGATE_MAX;
}

/* most slots of a plan, by the shared memory of a block */
extern uint32_t csv_query_most_slots(size_t max_shared_bytes);

/*
 * Lay out a block of device memory for csv_launch_query over nrows rows; returns its
 * bytes.  If base is NULL, only these count.
 */
extern size_t csv_query_lay_out(CsvQueryView *view, const CsvPlan *plan,
								uint32_t ncolumns, uint32_t nrows,
								uint8_t *base);

/* the same for csv_launch_groups, over view->ngroups groups */
extern size_t csv_query_lay_out_groups(CsvQueryView *view, const CsvPlan *plan,
									   size_t text_capacity, uint8_t *base);

extern void csv_launch_query(const CsvQueryView *view, cudaStream_t stream);
extern void csv_launch_groups(const CsvQueryView *view, int multiprocessors,
							  cudaStream_t stream);

/*
 * Sums of view->ngroups known groups, by a plan without keys whose outputs are last.
 * The plan fits if it has no extremes, and shared memory has room for the groups.
 * Then lay out (as csv_query_lay_out does, with the groups' words), and launch, which
 * counts careful rows in view->counts->ncareful.  Only if there are any,
 * csv_launch_lists must list them.
 */
extern bool csv_sums_fit(const CsvPlan *plan, uint32_t ngroups,
						 size_t max_shared_bytes);
extern size_t csv_sums_lay_out(CsvQueryView *view, const CsvPlan *plan,
							   uint32_t ncolumns, uint32_t nrows,
							   uint8_t *base);
extern void csv_launch_sums(const CsvQueryView *view, cudaStream_t stream);

/* clear all sums; csv_launch_sums and csv_launch_narrow begin with it */
extern void csv_sums_clear(const CsvQueryView *view, cudaStream_t stream);

/*
 * The same by a faster kernel, if csv_sums_fit() and all values are integers of 64
 * bits (narrow.cu).  If view->counts->ncareful is not 0 afterwards, the results are of
 * no use.  For csv_narrow_fits(), plan and columns are on the host.
 */
extern bool csv_narrow_fits(const CsvPlan *plan, const CsvRowColumn *columns,
							uint32_t ncolumns, uint32_t ngroups,
							size_t max_shared_bytes);
extern void csv_launch_narrow(const CsvQueryView *view, cudaStream_t stream);
extern void csv_launch_lists(const CsvQueryView *view, cudaStream_t stream);

/* the groups of all rows, after csv_launch_query over all rows without filters */
extern void csv_launch_classes(const CsvQueryView *view, uint32_t *classes,
							   cudaStream_t stream);

extern void csv_launch_gather(const CsvQueryView *view, uint32_t nselected,
							  const uint8_t *values, uint32_t stride,
							  uint8_t *gathered, cudaStream_t stream);

/*
 * For kernels that add rows up: the counters of a block's groups.  A word of a group
 * has 64 bits; two counters of 32 bits each take 16 bits of it (see
 * CSV_QUERY_BLOCK_ROWS).
 */

/* for csv_launch_sums: counters of a group, for its words and one for its rows */
static __host__ __device__ __forceinline__ uint32_t
csv_sum_pitch(const CsvPlan &plan)
{
	return 2 * plan.nwords + 1;
}

/*
 * Add n words of each group from the block's counters, `pitch` counters per group, to
 * view.words.
 */
static __device__ __forceinline__ void
csv_flush_words(const CsvQueryView &view, const int32_t *counters,
				uint32_t pitch, uint32_t first, uint32_t n)
{
	for (uint32_t i = threadIdx.x; i < view.ngroups * n; i += blockDim.x)
	{
		uint32_t	group = i / n;
		uint32_t	word = first + i % n;
		const int32_t *counter = counters + (size_t) group * pitch + 2 * word;
		int64_t		sum = counter[0] + (int64_t) counter[1] * 65536;

		if (sum != 0)
			atomicAdd((unsigned long long *)
					  &view.words[(size_t) group * view.plan.nwords + word],
					  (unsigned long long) sum);
	}
}

/* all words except counts and extremes */
static __device__ __forceinline__ void
csv_flush_aggregates(const CsvQueryView &view, const int32_t *counters,
					 uint32_t pitch)
{
	const CsvPlan &plan = view.plan;

	for (uint32_t i = 0; i < plan.naggregates; i++)
	{
		const CsvPlanAggregate aggregate = plan.aggregate[i];
		uint32_t	word = aggregate.first_word + CSV_FLOAT_SUM_WORDS;

		if (csv_is_extreme(aggregate))
			continue;
		csv_flush_words(view, counters, pitch, aggregate.first_word,
						csv_sum_words(aggregate.kind, aggregate.lane));
		if (aggregate.lane != CSV_LANE_FLOAT)
			continue;
		for (uint32_t group = threadIdx.x; group < view.ngroups;
			 group += blockDim.x)
		{
			uint32_t	seen = (uint32_t)
				counters[(size_t) group * pitch + 2 * word];

			if (seen != 0)
				atomicOr((uint32_t *)
						 &view.words[(size_t) group * plan.nwords + word], seen);
		}
	}
}

/*
 * For csv_launch_sums: all words.  The counter of an input has minus the number of
 * rows in which the input does not count.
 */
static __device__ __forceinline__ void
csv_flush_sums(const CsvQueryView &view, const int32_t *counters)
{
	const CsvPlan &plan = view.plan;
	uint32_t	pitch = csv_sum_pitch(plan);

	for (uint32_t i = threadIdx.x; i < view.ngroups * plan.ninputs;
		 i += blockDim.x)
	{
		uint32_t	group = i / plan.ninputs;
		const int32_t *counter = counters + (size_t) group * pitch;
		int64_t		n = (int64_t) counter[2 * plan.nwords] +
			counter[2 * (i % plan.ninputs)];

		if (n != 0)
			atomicAdd((unsigned long long *)
					  &view.words[(size_t) group * plan.nwords +
								  i % plan.ninputs], (unsigned long long) n);
	}
	for (uint32_t group = threadIdx.x; group < view.ngroups;
		 group += blockDim.x)
		if (counters[(size_t) group * pitch + 2 * plan.nwords] != 0)
			atomicAdd((unsigned long long *) &view.group_rows[group],
					  (unsigned long long)
					  counters[(size_t) group * pitch + 2 * plan.nwords]);
	csv_flush_aggregates(view, counters, pitch);
}

#endif							/* CSV_CUDA_QUERY_CUH */
