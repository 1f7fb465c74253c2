/*
 * query.cuh
 *		A batch's rows filtered and grouped where its arrays are: what evaluate.cu
 *		asks of query.cu.
 *
 * All on the device, on one stream:
 *
 *	1. csv_launch_query: each row is evaluated (row.h); what becomes of it, its
 *	   keys and the inputs of aggregates are written down.  Rows with equal keys
 *	   find each other in a hash table, whose slots hold the first row of each
 *	   group.  Then those rows that come out are listed, and the first rows of
 *	   groups, which are numbered in that order.  CsvQueryCounts tells how many
 *	   there are.
 *	2. csv_launch_groups: rows are added to their groups: in shared memory where
 *	   groups are few, else where they are.  Then keys and extremes take the
 *	   places of the rows that they are in.
 *	3. csv_launch_gather: of a column, the entries of the rows that come out.
 *
 * Where each row's group is known before, or there is but one, csv_launch_sums
 * does the work of the first two at once.
 */
#ifndef CSV_CUDA_QUERY_CUH
#define CSV_CUDA_QUERY_CUH

#include "session.h"
#include "../src/query/plan.h"
#include "../src/query/row.h"

typedef struct CsvQueryCounts
{
	uint32_t	nselected;		/* rows that come out */
	uint32_t	ngroups;		/* with keys */
	uint32_t	ncareful;
	uint32_t	npasses;
	uint32_t	crowded;		/* not 0: keys of one hash are too many; the
								 * groups are of no use */
	uint32_t	unused;
	unsigned long long text_bytes;	/* of keys and extremes; may be more than
									 * there is room for */
} CsvQueryCounts;

/* everything the kernels know; passed by value */
typedef struct CsvQueryView
{
	CsvPlan		plan;			/* on the device */
	const CsvRowColumn *columns;
	uint32_t	ncolumns;
	uint32_t	nrows;
	CsvOutputs	outputs;
	uint32_t   *table;			/* with keys: first row of a group, UINT32_MAX
								 * in slots that are free */
	uint32_t	table_mask;		/* slots - 1, a power of two */
	uint32_t   *slots;			/* per row, instead of its hash */
	uint32_t   *numbers;		/* of groups, per first row */
	uint64_t   *ranks;			/* per block of rows: see query.cu */
	uint32_t   *selected;		/* rows that come out */
	uint8_t    *careful;		/* likewise: 1 where it is */
	uint32_t   *firsts;			/* first row per group */
	CsvQueryCounts *counts;

	/* groups: see CsvPartialGroups */
	uint32_t	ngroups;
	uint64_t   *group_keys;
	uint32_t   *group_nulls;
	int64_t    *words;			/* all zero */
	uint8_t    *texts;
	size_t		text_capacity;

	/* of csv_launch_sums */
	const uint32_t *classes;	/* group of each row, CSV_UNKNOWN_CLASS where its
								 * keys are undecided; NULL: one group */
	uint64_t   *group_rows;		/* per group; all zero */
} CsvQueryView;

static __host__ __device__ __forceinline__ bool
csv_is_extreme(const CsvPlanAggregate &aggregate)
{
	return aggregate.kind == CSV_AGGREGATE_MIN ||
		aggregate.kind == CSV_AGGREGATE_MAX;
}

/* slots of a plan: what shared memory has for a block */
extern uint32_t csv_query_most_slots(size_t max_shared_bytes);

/*
 * Where things are in a block of device memory that is good for csv_launch_query
 * over nrows rows; returns its bytes.  With base NULL, only these count.
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
 * Sums of view->ngroups known groups, by a plan without keys whose outputs are
 * last.  Does it fit: no extremes, and no more groups than shared memory has
 * room for?  Then lay out (as csv_query_lay_out does, with the groups' words),
 * and launch; view->counts->ncareful is known after that.  Only if it is not 0,
 * csv_launch_careful lists those rows.
 */
extern bool csv_sums_fit(const CsvPlan *plan, uint32_t ngroups,
						 size_t max_shared_bytes);
extern size_t csv_sums_lay_out(CsvQueryView *view, const CsvPlan *plan,
							   uint32_t ncolumns, uint32_t nrows,
							   uint8_t *base);
extern void csv_launch_sums(const CsvQueryView *view, cudaStream_t stream);

/* what has been summed up is nothing again; both launches begin with it */
extern void csv_sums_clear(const CsvQueryView *view, cudaStream_t stream);

/*
 * The same by a faster kernel, where csv_sums_fit() and all values are integers of 64
 * bits (narrow.cu).  But where view->counts->ncareful is not 0 after it, what it has
 * found is of no use.  In csv_narrow_fits(), plan and columns are the host's.
 */
extern bool csv_narrow_fits(const CsvPlan *plan, const CsvRowColumn *columns,
							uint32_t ncolumns, uint32_t ngroups,
							size_t max_shared_bytes);
extern void csv_launch_narrow(const CsvQueryView *view, cudaStream_t stream);
extern void csv_launch_careful(const CsvQueryView *view, cudaStream_t stream);

/* after csv_launch_query over all rows, without filters: their groups */
extern void csv_launch_classes(const CsvQueryView *view, uint32_t *classes,
							   cudaStream_t stream);

extern void csv_launch_gather(const CsvQueryView *view, uint32_t nselected,
							  const uint8_t *values, uint32_t stride,
							  uint8_t *gathered, cudaStream_t stream);

/*
 * For kernels that add rows up: the counters of a block's groups.  A word of a group is
 * 64 bits, of which each of two counters of 32 bits takes 16 (see CSV_QUERY_BLOCK_ROWS).
 */

/* of csv_launch_sums: counters of a group, its words' and one of rows */
static __host__ __device__ __forceinline__ uint32_t
csv_sum_pitch(const CsvPlan &plan)
{
	return 2 * plan.nwords + 1;
}

/*
 * n words of each group, from the block's counters, so many a group, to where
 * all are
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

/* all but counts and extremes */
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
 * Of csv_launch_sums: all, where a word that counts an input has the rows in which
 * it does not, negative.
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
