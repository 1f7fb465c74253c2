/*
 * sums.cuh
 *		Counters of a block's groups: how kernels that add rows up end.
 *
 * A word of a group is 64 bits, of which each of two counters of 32 bits takes 16
 * (see CSV_QUERY_BLOCK_ROWS).
 */
#ifndef CSV_CUDA_SUMS_CUH
#define CSV_CUDA_SUMS_CUH

#include "query.cuh"

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

#endif							/* CSV_CUDA_SUMS_CUH */
