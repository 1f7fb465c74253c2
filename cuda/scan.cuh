/*
 * scan.cuh
 *		Scans over an array, by one block of CSV_SCAN_THREADS threads.
 */
#ifndef CSV_CUDA_SCAN_CUH
#define CSV_CUDA_SCAN_CUH

#include <cub/block/block_scan.cuh>

#include "policy.h"

/*
 * Call store(i, the sum of load(0) to load(i - 1)) for all i below n; returns the sum of
 * all.  `add` is associative, and `zero` its neutral element.  store(i) may overwrite
 * what load(i) reads.
 */
template <typename Sum, typename Add, typename Load, typename Store>
static __device__ __forceinline__ Sum
csv_scan(uint32_t n, Sum zero, Add add, Load load, Store store)
{
	typedef cub::BlockScan<Sum, CSV_SCAN_THREADS> BlockScan;
	__shared__ typename BlockScan::TempStorage scan;
	Sum			before = zero;

	for (uint32_t base = 0; base < n; base += CSV_SCAN_THREADS)
	{
		uint32_t	i = base + threadIdx.x;
		Sum			own = i < n ? load(i) : zero;
		Sum			prefix;
		Sum			whole;

		BlockScan(scan).ExclusiveScan(own, prefix, zero, add, whole);
		if (i < n)
			store(i, add(before, prefix));
		before = add(before, whole);
		__syncthreads();
	}
	return before;
}

/* replace counts by the sums of the counts before them */
static __device__ __forceinline__ uint32_t
csv_scan_counts(uint32_t *counts, uint32_t n)
{
	auto		add = [] (uint32_t a, uint32_t b) { return a + b; };
	auto		load = [&] (uint32_t i) { return counts[i]; };
	auto		store = [&] (uint32_t i, uint32_t before) { counts[i] = before; };

	return csv_scan(n, (uint32_t) 0, add, load, store);
}

#endif							/* CSV_CUDA_SCAN_CUH */
