/*
 * query.cu
 *		Filters, groups and aggregates over a batch's arrays: see query.cuh.
 */
#include <cub/block/block_reduce.cuh>

#include "query.cuh"
#include "scan.cuh"

#define THREADS			CSV_QUERY_THREADS
#define ALL_LANES		UINT32_MAX
#define FREE_SLOT		UINT32_MAX

/* ---- memory ---- */

/* the memory for every query */
static void
lay_out_rows(CsvQueryView *view, const CsvPlan *plan, uint32_t ncolumns,
			 uint32_t nrows, uint8_t *base, size_t *next)
{
	uint8_t    *block;

	view->ncolumns = ncolumns;
	view->nrows = nrows;
	csv_place(base, next, 1, &view->counts);
	csv_place(base, next, plan->nbytes, &block);
	view->plan = csv_plan_at(plan, block);
	csv_place(base, next, ncolumns, &view->columns);
	csv_place(base, next, csv_blocks_of(nrows, CSV_QUERY_LIST_ROWS),
			  &view->ranks);
	csv_place(base, next, nrows, &view->selected);
	csv_place(base, next, nrows, &view->careful);
	view->outputs.nrows = nrows;
	csv_place(base, next, nrows, &view->outputs.fates);
}

size_t
csv_query_lay_out(CsvQueryView *view, const CsvPlan *plan, uint32_t ncolumns,
				  uint32_t nrows, uint8_t *base)
{
	CsvOutputs *outputs = &view->outputs;
	size_t		n = nrows;
	size_t		nslots = 64;
	size_t		next = 0;

	if (plan->nkeys > 0)
		while (nslots < 2 * n)
			nslots *= 2;
	lay_out_rows(view, plan, ncolumns, nrows, base, &next);
	view->table_mask = (uint32_t) (nslots - 1);
	csv_place(base, &next, plan->nvalues * n * 2, &outputs->values);
	csv_place(base, &next, plan->ninputs * n, &outputs->counts);
	csv_place(base, &next, plan->nfolds * n * outputs->folded_bytes,
			  &outputs->folded);
	if (plan->nkeys == 0)
		return next;
	csv_place(base, &next, plan->nkeys * n * 2, &outputs->keys);
	csv_place(base, &next, n, &outputs->nulls);
	csv_place(base, &next, n, &outputs->hashes);
	view->slots = outputs->hashes;
	csv_place(base, &next, n, &view->numbers);
	csv_place(base, &next, n, &view->firsts);
	csv_place(base, &next, nslots, &view->table);
	return next;
}

size_t
csv_query_lay_out_groups(CsvQueryView *view, const CsvPlan *plan,
						 size_t text_capacity, uint8_t *base)
{
	size_t		ngroups = view->ngroups;
	size_t		next = 0;

	csv_place(base, &next, ngroups * plan->nwords, &view->words);
	csv_place(base, &next, ngroups * plan->nkeys * 2, &view->group_keys);
	csv_place(base, &next, ngroups, &view->group_nulls);
	view->text_capacity = text_capacity;
	csv_place(base, &next, text_capacity, &view->texts);
	return next;
}

/* ---- 1: rows ---- */

/* per slot of row.h and thread */
#define SLOT_BYTES		(2 * sizeof(uint64_t) + 1)

uint32_t
csv_query_most_slots(size_t max_shared_bytes)
{
	return (uint32_t) (max_shared_bytes / (THREADS * SLOT_BYTES));
}

/* evaluate steps for the rows of a warp, unless a filter drops all of them */
static __device__ __forceinline__ void
run_steps(const CsvQueryView &view, uint32_t nsteps, uint32_t row,
		  CsvSlots *slots, CsvRowState *state)
{
	for (uint32_t i = 0; i < nsteps; i++)
	{
		const CsvStep step = view.plan.steps[i];

		csv_row_step(&view.plan, &step, view.columns, row, slots,
					 &view.outputs, state);
		__syncwarp();
		if (step.operation == CSV_STEP_FILTER &&
			!__any_sync(ALL_LANES, state->fate == CSV_FATE_PASSES))
			break;
	}
}

static __global__ void __launch_bounds__(THREADS)
evaluate_kernel(const __grid_constant__ CsvQueryView view)
{
	extern __shared__ uint64_t words[];
	uint32_t	row = blockIdx.x * THREADS + threadIdx.x;
	bool		active = row < view.nrows;
	CsvSlots	slots;
	CsvRowState state;

	/* lanes without a row also run, with the last row's values */
	row = min(row, view.nrows - 1);
	slots.words = words + threadIdx.x;
	slots.states = (uint8_t *) (words + (size_t) view.plan.nslots * 2 * THREADS) +
		threadIdx.x;
	slots.pitch = THREADS;
	state = csv_row_begin(view.columns, view.ncolumns, row);
	if (!active)
		state.fate = CSV_FATE_DROPPED;
	run_steps(view, view.plan.nsteps, row, &slots, &state);
	if (active)
		csv_row_end(&view.plan, row, &view.outputs, &state);
}

/*
 * Find the slot of a row's group.  An earlier row of the same group may replace a
 * slot's row.
 */
static __global__ void __launch_bounds__(THREADS)
find_kernel(const __grid_constant__ CsvQueryView view)
{
	uint32_t	row = blockIdx.x * THREADS + threadIdx.x;
	uint32_t	slot;

	if (row >= view.nrows || view.outputs.fates[row] != CSV_FATE_PASSES)
		return;
	slot = view.outputs.hashes[row] & view.table_mask;
	for (uint32_t nprobes = 0;;)
	{
		volatile uint32_t *place = &view.table[slot];
		uint32_t	first = *place;

		if (first == FREE_SLOT)
		{
			/* of lanes that want the same slot, the first lane stores its row */
			uint32_t	others = __match_any_sync(__activemask(), slot);

			if (__ffs(others) - 1 == (int) (threadIdx.x % 32))
				atomicCAS(&view.table[slot], FREE_SLOT, row);
			continue;
		}
		if (first == row ||
			csv_rows_have_equal_keys(&view.plan, &view.outputs, first, row))
		{
			if (row < first)
				atomicMin(&view.table[slot], row);
			break;
		}
		slot = (slot + 1) & view.table_mask;
		if (++nprobes == CSV_QUERY_MOST_PROBES)
			view.counts->crowded = 1;

		/* if it is set for any row, the groups are of no use */
		if (nprobes % 64 == 0 &&
			*(volatile uint32_t *) &view.counts->crowded != 0)
			break;
	}
	view.slots[row] = slot;
}

/*
 * Four counts in one word, 16 bits each: rows that come out, first rows of groups,
 * careful rows, and rows that pass.  A block counts at most CSV_QUERY_LIST_ROWS.
 */
#define COUNT_FIRST		16
#define COUNT_CAREFUL	32
#define COUNT_PASSES	48

static __device__ __forceinline__ uint64_t
count_row(const CsvQueryView &view, uint32_t row)
{
	uint64_t	count = 0;
	uint32_t	fate;

	if (row >= view.nrows)
		return 0;
	fate = view.outputs.fates[row];
	if (fate == CSV_FATE_CAREFUL ||
		(fate == CSV_FATE_PASSES && !view.plan.aggregates))
		count = 1;
	if (fate == CSV_FATE_CAREFUL)
		count |= (uint64_t) 1 << COUNT_CAREFUL;
	if (fate == CSV_FATE_PASSES)
	{
		count |= (uint64_t) 1 << COUNT_PASSES;
		if (view.plan.nkeys > 0 && view.table[view.slots[row]] == row)
			count |= (uint64_t) 1 << COUNT_FIRST;
	}
	return count;
}

static __global__ void __launch_bounds__(THREADS)
count_kernel(const __grid_constant__ CsvQueryView view)
{
	typedef cub::BlockReduce<unsigned long long, THREADS> BlockReduce;
	__shared__ typename BlockReduce::TempStorage reduce;
	uint32_t	first_row = blockIdx.x * CSV_QUERY_LIST_ROWS;
	unsigned long long count = 0;

	for (uint32_t i = threadIdx.x; i < CSV_QUERY_LIST_ROWS; i += THREADS)
		count += count_row(view, first_row + i);
	count = BlockReduce(reduce).Sum(count);
	if (threadIdx.x == 0)
		view.ranks[blockIdx.x] = count;
}

struct AddCounts
{
	__device__ __forceinline__ uint4
	operator() (const uint4 &a, const uint4 &b) const
	{
		return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
	}
};

/* replace counts by sums of the blocks before, two of 32 bits; one block */
static __global__ void __launch_bounds__(CSV_SCAN_THREADS)
scan_kernel(const __grid_constant__ CsvQueryView view, uint32_t nblocks)
{
	auto		load = [&] (uint32_t block)
	{
		uint64_t	count = view.ranks[block];

		return make_uint4(count & 0xffff, count >> COUNT_FIRST & 0xffff,
						  count >> COUNT_CAREFUL & 0xffff,
						  (uint32_t) (count >> COUNT_PASSES));
	};
	auto		store = [&] (uint32_t block, const uint4 &before)
	{
		view.ranks[block] = before.x | (uint64_t) before.y << 32;
	};
	uint4		total = csv_scan(nblocks, make_uint4(0, 0, 0, 0), AddCounts(),
								 load, store);

	if (threadIdx.x == 0)
	{
		view.counts->nselected = total.x;
		view.counts->ngroups = total.y;
		view.counts->ncareful = total.z;
		view.counts->npasses = total.w;
	}
}

static __global__ void __launch_bounds__(THREADS)
list_kernel(const __grid_constant__ CsvQueryView view)
{
	typedef cub::BlockScan<unsigned long long, THREADS> BlockScan;
	__shared__ typename BlockScan::TempStorage scan;
	const uint32_t nrows = CSV_QUERY_LIST_ROWS / THREADS;	/* per thread */
	uint32_t	first_row = blockIdx.x * CSV_QUERY_LIST_ROWS +
		threadIdx.x * nrows;
	unsigned long long sum = 0;
	unsigned long long rank;

	for (uint32_t i = 0; i < nrows; i++)
	{
		uint64_t	count = count_row(view, first_row + i);

		sum += (count & 0xffff) | (count >> COUNT_FIRST & 0xffff) << 32;
	}
	BlockScan(scan).ExclusiveSum(sum, rank);
	if (sum == 0)
		return;
	rank += view.ranks[blockIdx.x];
	for (uint32_t i = 0; i < nrows; i++)
	{
		uint32_t	row = first_row + i;
		uint64_t	count = count_row(view, row);

		if ((count & 0xffff) != 0)
		{
			view.selected[(uint32_t) rank] = row;
			view.careful[(uint32_t) rank] =
				(count >> COUNT_CAREFUL & 0xffff) != 0;
			rank++;
		}
		if ((count >> COUNT_FIRST & 0xffff) != 0)
		{
			view.firsts[rank >> 32] = row;
			view.numbers[row] = (uint32_t) (rank >> 32);
			rank += (unsigned long long) 1 << 32;
		}
	}
}

void
csv_launch_lists(const CsvQueryView *view, cudaStream_t stream)
{
	uint32_t	nblocks = csv_blocks_of(view->nrows, CSV_QUERY_LIST_ROWS);

	count_kernel<<<nblocks, THREADS, 0, stream>>>(*view);
	scan_kernel<<<1, CSV_SCAN_THREADS, 0, stream>>>(*view, nblocks);
	list_kernel<<<nblocks, THREADS, 0, stream>>>(*view);
}

void
csv_launch_query(const CsvQueryView *view, cudaStream_t stream)
{
	uint32_t	nblocks = csv_blocks_of(view->nrows, THREADS);
	size_t		shared_bytes = view->plan.nslots * THREADS * SLOT_BYTES;

	cudaMemsetAsync(view->counts, 0, sizeof(*view->counts), stream);
	if (view->plan.nkeys > 0)
		cudaMemsetAsync(view->table, 0xff, ((size_t) view->table_mask + 1) * 4,
						stream);
	cudaFuncSetAttribute(evaluate_kernel,
						 cudaFuncAttributeMaxDynamicSharedMemorySize,
						 (int) shared_bytes);
	evaluate_kernel<<<nblocks, THREADS, shared_bytes, stream>>>(*view);
	if (view->plan.nkeys > 0)
		find_kernel<<<nblocks, THREADS, 0, stream>>>(*view);
	csv_launch_lists(view, stream);
}

static __global__ void __launch_bounds__(THREADS)
classes_kernel(const __grid_constant__ CsvQueryView view, uint32_t *classes)
{
	uint32_t	row = blockIdx.x * THREADS + threadIdx.x;

	if (row < view.nrows)
		classes[row] = view.outputs.fates[row] != CSV_FATE_PASSES ?
			CSV_UNKNOWN_CLASS : view.numbers[view.table[view.slots[row]]];
}

void
csv_launch_classes(const CsvQueryView *view, uint32_t *classes,
				   cudaStream_t stream)
{
	classes_kernel<<<csv_blocks_of(view->nrows, THREADS), THREADS, 0, stream>>>
		(*view, classes);
}

/* ---- 2: groups ---- */

/*
 * While rows are added, the first 32 bits of an extreme's word hold the number of the
 * row that has it, plus 1.  In shared memory, only atomic operations read it.
 */
template <bool shared>
static __device__ __noinline__ void
offer_row(const CsvQueryView &view, const CsvPlanAggregate &aggregate,
		  uint32_t *place, uint32_t row)
{
	uint32_t	column = (uint32_t) view.plan.inputs[aggregate.input].column;
	CsvRowValue value = csv_row_read(view.outputs.values, column, view.nrows,
									 row);
	uint32_t	kept = shared ? atomicCAS(place, 0, row + 1) :
		*(volatile uint32_t *) place;

	if (shared && kept == 0)
		return;
	for (;;)
	{
		uint32_t	found;

		if (kept != 0 &&
			!csv_row_replaces(aggregate.kind, aggregate.lane,
							  csv_row_read(view.outputs.values, column,
										   view.nrows, kept - 1),
							  kept - 1, value, row))
			return;
		found = atomicCAS(place, kept, row + 1);
		if (found == kept)
			return;
		kept = found;
	}
}

/*
 * Add to a word of a group, which has 64 bits.  In shared memory it is two counters of
 * 32 bits, which take 16 bits of it each (see CSV_QUERY_BLOCK_ROWS).
 */
template <bool shared>
static __device__ __forceinline__ void
add_to_sum(int64_t *word, int32_t *counter, const CsvAddend &addend)
{
	CsvUint128	rest = addend.magnitude;

	if (shared)
	{
		counter += 2 * addend.place;
		for (; rest != 0; rest >>= 16, counter++)
		{
			int32_t		piece = (int32_t) (rest & 0xffff);

			if (piece != 0)
				atomicAdd(counter, addend.negative ? -piece : piece);
		}
	}
	else
	{
		word += addend.place;
		for (; rest != 0; rest >>= 32, word++)
		{
			int64_t		piece = (int64_t) (rest & UINT32_MAX);

			if (piece != 0)
				atomicAdd((unsigned long long *) word, (unsigned long long)
						  (addend.negative ? -piece : piece));
		}
	}
}

template <bool shared>
static __device__ __forceinline__ void
add_row(const CsvQueryView &view, int32_t *counters, uint32_t row)
{
	const CsvPlan &plan = view.plan;
	uint32_t	group = plan.nkeys == 0 ? 0 :
		view.numbers[view.table[view.slots[row]]];
	int64_t    *words = view.words + (size_t) group * plan.nwords;
	const uint8_t *counts = view.outputs.counts + row;

	counters += (size_t) group * plan.nwords * 2;
	for (uint32_t i = 0; i < plan.ninputs; i++)
		if (counts[(size_t) i * view.nrows] != 0)
		{
			if (shared)
				atomicAdd(&counters[2 * i], 1);
			else
				atomicAdd((unsigned long long *) &words[i], 1ull);
		}
	for (uint32_t i = 0; i < plan.naggregates; i++)
	{
		const CsvPlanAggregate aggregate = plan.aggregate[i];
		int64_t    *word = words + aggregate.first_word;
		int32_t    *counter = counters + 2 * aggregate.first_word;
		CsvAddend	addends[2];
		uint32_t	seen;
		uint32_t	n;

		if (counts[(size_t) aggregate.input * view.nrows] == 0)
			continue;
		if (csv_is_extreme(aggregate))
		{
			offer_row<shared>(view, aggregate, shared ? (uint32_t *) counter :
							  (uint32_t *) word, row);
			continue;
		}
		n = csv_addends(aggregate.kind, aggregate.lane,
						csv_row_read(view.outputs.values, (uint32_t)
									 plan.inputs[aggregate.input].column,
									 view.nrows, row), addends, &seen);
		if (n > 0)
			add_to_sum<shared>(word, counter, addends[0]);
		if (n > 1)
			add_to_sum<shared>(word, counter, addends[1]);
		if (aggregate.lane == CSV_LANE_FLOAT)
		{
			uint32_t   *place = shared ?
				(uint32_t *) (counter + 2 * CSV_FLOAT_SUM_WORDS) :
				(uint32_t *) (word + CSV_FLOAT_SUM_WORDS);

			if (shared || (seen & ~*(volatile uint32_t *) place) != 0)
				atomicOr(place, seen);
		}
	}
}

static __device__ __forceinline__ void
flush_extremes(const CsvQueryView &view, const int32_t *counters)
{
	const CsvPlan &plan = view.plan;

	for (uint32_t i = 0; i < plan.naggregates; i++)
	{
		const CsvPlanAggregate aggregate = plan.aggregate[i];

		if (!csv_is_extreme(aggregate))
			continue;
		for (uint32_t group = threadIdx.x; group < view.ngroups;
			 group += blockDim.x)
		{
			size_t		word = (size_t) group * plan.nwords +
				aggregate.first_word;
			uint32_t	kept = (uint32_t) counters[2 * word];

			if (kept != 0)
				offer_row<false>(view, aggregate, (uint32_t *) &view.words[word],
								 kept - 1);
		}
	}
}

template <bool shared>
static __global__ void __launch_bounds__(CSV_QUERY_ADD_THREADS)
add_kernel(const __grid_constant__ CsvQueryView view, uint32_t block_rows)
{
	extern __shared__ int32_t counters[];
	uint32_t	first_row = blockIdx.x * block_rows;
	uint32_t	nrows = min(block_rows, view.nrows - first_row);

	if (shared)
	{
		for (uint32_t i = threadIdx.x; i < view.ngroups * view.plan.nwords * 2;
			 i += blockDim.x)
			counters[i] = 0;
		__syncthreads();
	}
	for (uint32_t i = threadIdx.x; i < nrows; i += blockDim.x)
		if (view.outputs.fates[first_row + i] == CSV_FATE_PASSES)
			add_row<shared>(view, counters, first_row + i);
	if (shared)
	{
		__syncthreads();
		csv_flush_words(view, counters, 2 * view.plan.nwords, 0,
						view.plan.ninputs);
		csv_flush_aggregates(view, counters, 2 * view.plan.nwords);
		flush_extremes(view, counters);
	}
}

/* store a value's two words; a text's bytes go to view.texts */
static __device__ __forceinline__ void
put_pair(const CsvQueryView &view, uint8_t lane, CsvRowValue value,
		 uint64_t *pair)
{
	if (lane == CSV_LANE_TEXT)
	{
		const uint8_t *text = csv_row_text(value);
		uint32_t	length = (uint32_t) value.high;
		unsigned long long offset = atomicAdd(&view.counts->text_bytes,
											  (unsigned long long) length);

		if (offset + length <= view.text_capacity)
			for (uint32_t i = 0; i < length; i++)
				view.texts[offset + i] = text[i];
		value.low = offset;
	}
	pair[0] = value.low;
	pair[1] = value.high;
}

/* keys, and extremes in place of the numbers of their rows */
static __global__ void __launch_bounds__(THREADS)
finish_kernel(const __grid_constant__ CsvQueryView view)
{
	const CsvPlan &plan = view.plan;
	uint32_t	group = blockIdx.x * THREADS + threadIdx.x;
	uint64_t   *words;

	if (group >= view.ngroups)
		return;
	if (plan.nkeys > 0)
	{
		uint32_t	row = view.firsts[group];
		uint32_t	nulls = view.outputs.nulls[row];

		view.group_nulls[group] = nulls;
		for (uint32_t key = 0; key < plan.nkeys; key++)
		{
			uint64_t   *pair = view.group_keys +
				((size_t) group * plan.nkeys + key) * 2;

			if ((nulls >> key & 1) != 0)
				pair[0] = pair[1] = 0;
			else
				put_pair(view, plan.key_lanes[key],
						 csv_row_read(view.outputs.keys, key, view.nrows, row),
						 pair);
		}
	}
	words = (uint64_t *) view.words + (size_t) group * plan.nwords;
	for (uint32_t i = 0; i < plan.naggregates; i++)
	{
		const CsvPlanAggregate aggregate = plan.aggregate[i];
		uint64_t   *pair = words + aggregate.first_word;

		if (csv_is_extreme(aggregate) && words[aggregate.input] != 0)
			put_pair(view, aggregate.lane,
					 csv_row_read(view.outputs.values, (uint32_t)
								  plan.inputs[aggregate.input].column,
								  view.nrows, (uint32_t) pair[0] - 1), pair);
	}
}

void
csv_launch_groups(const CsvQueryView *view, int multiprocessors,
				  cudaStream_t stream)
{
	uint32_t	nblocks = CSV_QUERY_ADD_BLOCKS_PER_SM *
		(uint32_t) multiprocessors;
	uint32_t	block_rows = (view->nrows - 1) / nblocks + 1;
	size_t		shared_bytes = (size_t) view->ngroups * view->plan.nwords * 8;

	if (view->ngroups == 0)
		return;
	if (block_rows < CSV_QUERY_ADD_THREADS)
		block_rows = CSV_QUERY_ADD_THREADS;
	if (block_rows > CSV_QUERY_BLOCK_ROWS)
		block_rows = CSV_QUERY_BLOCK_ROWS;
	nblocks = (view->nrows - 1) / block_rows + 1;
	if (shared_bytes <= CSV_QUERY_SHARED_BYTES &&
		view->ngroups <= block_rows / CSV_QUERY_FLUSH_SHARE)
		add_kernel<true><<<nblocks, CSV_QUERY_ADD_THREADS, shared_bytes,
			stream>>>(*view, block_rows);
	else
		add_kernel<false><<<nblocks, CSV_QUERY_ADD_THREADS, 0,
			stream>>>(*view, block_rows);
	finish_kernel<<<csv_blocks_of(view->ngroups, THREADS), THREADS, 0,
		stream>>>(*view);
}

/* ---- both at once, if groups are known ---- */

static size_t
sum_shared_bytes(const CsvPlan *plan, uint32_t ngroups)
{
	return (size_t) plan->nslots * CSV_QUERY_SUM_THREADS * SLOT_BYTES + 16 +
		(size_t) ngroups * csv_sum_pitch(*plan) * 4;
}

bool
csv_sums_fit(const CsvPlan *plan, uint32_t ngroups, size_t max_shared_bytes)
{
	for (uint32_t i = 0; i < plan->naggregates; i++)
		if (csv_is_extreme(plan->aggregate[i]))
			return false;
	return plan->nkeys == 0 && plan->nfolds == 0 &&
		plan->ninputs <= CSV_QUERY_MOST_INPUTS && ngroups <= CSV_QUERY_MOST_CLASSES &&
		(size_t) ngroups * csv_sum_pitch(*plan) * 4 <= CSV_QUERY_SHARED_BYTES &&
		sum_shared_bytes(plan, ngroups) <= max_shared_bytes;
}

size_t
csv_sums_lay_out(CsvQueryView *view, const CsvPlan *plan, uint32_t ncolumns,
				 uint32_t nrows, uint8_t *base)
{
	size_t		next = 0;

	lay_out_rows(view, plan, ncolumns, nrows, base, &next);
	csv_place(base, &next, (size_t) view->ngroups * plan->nwords, &view->words);
	csv_place(base, &next, view->ngroups, &view->group_rows);
	return next;
}

/* add a value of 64 bits to a sum */
static __device__ __forceinline__ void
add_narrow(int32_t *counter, int64_t value)
{
	uint64_t	rest = value < 0 ? 0 - (uint64_t) value : (uint64_t) value;

	for (; rest != 0; rest >>= 16, counter++)
	{
		int32_t		piece = (int32_t) (rest & 0xffff);

		if (piece != 0)
			atomicAdd(counter, value < 0 ? -piece : piece);
	}
}

/* add a row's inputs, if they count (`counting`), to its group's counters */
static __device__ __forceinline__ void
sum_row(const CsvQueryView &view, const CsvSlots *slots, uint64_t counting,
		int32_t *counters)
{
	const CsvPlan &plan = view.plan;
	const CsvStep *inputs = plan.steps + plan.first_output;

	/* most inputs count in all rows, so count the others */
	atomicAdd(&counters[2 * plan.nwords], 1);
	for (uint32_t i = 0; i < plan.ninputs; i++)
		if ((counting >> i & 1) == 0)
			atomicAdd(&counters[2 * i], -1);
	for (uint32_t i = 0; i < plan.naggregates; i++)
	{
		const CsvPlanAggregate aggregate = plan.aggregate[i];
		int32_t    *counter = counters + 2 * aggregate.first_word;
		CsvRowValue value;
		CsvAddend	addends[2];
		uint32_t	seen;
		uint32_t	n;

		if ((counting >> aggregate.input & 1) == 0)
			continue;
		value = csv_row_operand(&plan, slots, inputs[aggregate.input].a);
		if (aggregate.kind == CSV_AGGREGATE_SUM &&
			(aggregate.lane == CSV_LANE_INT ||
			 (aggregate.lane == CSV_LANE_DECIMAL && csv_row_is_narrow(value))))
		{
			add_narrow(counter, (int64_t) value.low);
			continue;
		}
		n = csv_addends(aggregate.kind, aggregate.lane, value, addends, &seen);
		if (n > 0)
			add_to_sum<true>(NULL, counter, addends[0]);
		if (n > 1)
			add_to_sum<true>(NULL, counter, addends[1]);
		if (aggregate.lane == CSV_LANE_FLOAT)
			atomicOr((uint32_t *) (counter + 2 * CSV_FLOAT_SUM_WORDS), seen);
	}
}

/* the inputs of a row that count, when all slots are filled */
static __device__ __forceinline__ uint64_t
find_counting(const CsvQueryView &view, const CsvSlots *slots,
			  CsvRowState *state)
{
	const CsvPlan &plan = view.plan;
	uint64_t	counting = 0;

	for (uint32_t i = 0; i < plan.ninputs; i++)
	{
		const CsvStep step = plan.steps[plan.first_output + i];
		CsvRowValue value;
		bool		undecided;

		if (csv_row_input(&plan, &step, slots, &value, &undecided))
			counting |= (uint64_t) 1 << i;
		if (undecided && state->fate == CSV_FATE_PASSES)
			state->fate = CSV_FATE_CAREFUL;
	}
	return counting;
}

static __global__ void __launch_bounds__(CSV_QUERY_SUM_THREADS)
sums_kernel(const __grid_constant__ CsvQueryView view, uint32_t block_rows)
{
	extern __shared__ uint64_t words[];
	const CsvPlan &plan = view.plan;
	const uint32_t pitch = csv_sum_pitch(plan);
	const uint32_t nthreads = CSV_QUERY_SUM_THREADS;
	uint8_t    *states = (uint8_t *) (words + (size_t) plan.nslots * 2 * nthreads);
	int32_t    *counters = (int32_t *)
		(states + ALIGN((size_t) plan.nslots * nthreads, 16));
	uint32_t	begin = blockIdx.x * block_rows;
	uint32_t	end = min(begin + block_rows, view.nrows);
	CsvSlots	slots;

	for (uint32_t i = threadIdx.x; i < view.ngroups * pitch; i += nthreads)
		counters[i] = 0;
	__syncthreads();
	slots.words = words + threadIdx.x;
	slots.states = states + threadIdx.x;
	slots.pitch = nthreads;
	for (uint32_t first = begin; first < end; first += nthreads)
	{
		/* lanes without a row also run, with the last row's values */
		bool		active = first + threadIdx.x < end;
		uint32_t	row = min(first + threadIdx.x, end - 1);
		CsvRowState state = csv_row_begin(view.columns, view.ncolumns, row);
		uint32_t	group = 0;
		uint64_t	counting = 0;
		uint32_t	careful;

		if (!active)
			state.fate = CSV_FATE_DROPPED;
		run_steps(view, plan.first_output, row, &slots, &state);
		if (__any_sync(ALL_LANES, state.fate == CSV_FATE_PASSES))
			counting = find_counting(view, &slots, &state);
		if (view.classes != NULL && state.fate == CSV_FATE_PASSES)
		{
			group = view.classes[row];
			if (group == CSV_UNKNOWN_CLASS)
				state.fate = CSV_FATE_CAREFUL;
		}
		if (active)
			view.outputs.fates[row] = (uint8_t) state.fate;
		if (state.fate == CSV_FATE_PASSES)
			sum_row(view, &slots, counting, counters + (size_t) group * pitch);
		__syncwarp();
		careful = __ballot_sync(ALL_LANES, state.fate == CSV_FATE_CAREFUL);
		if (careful != 0 && threadIdx.x % 32 == 0)
			atomicAdd(&view.counts->ncareful, __popc(careful));
	}
	__syncthreads();
	csv_flush_sums(view, counters);
}

void
csv_sums_clear(const CsvQueryView *view, cudaStream_t stream)
{
	cudaMemsetAsync(view->counts, 0, sizeof(*view->counts), stream);
	cudaMemsetAsync(view->words, 0,
					(size_t) view->ngroups * view->plan.nwords * 8, stream);
	cudaMemsetAsync(view->group_rows, 0, (size_t) view->ngroups * 8, stream);
}

void
csv_launch_sums(const CsvQueryView *view, cudaStream_t stream)
{
	uint32_t	block_rows = CSV_QUERY_SUM_ROWS;
	size_t		shared_bytes = sum_shared_bytes(&view->plan, view->ngroups);

	static_assert(CSV_QUERY_SUM_ROWS <= CSV_QUERY_BLOCK_ROWS,
				  "counters would overflow");
	csv_sums_clear(view, stream);
	cudaFuncSetAttribute(sums_kernel,
						 cudaFuncAttributeMaxDynamicSharedMemorySize,
						 (int) shared_bytes);
	sums_kernel<<<(view->nrows - 1) / block_rows + 1, CSV_QUERY_SUM_THREADS,
		shared_bytes, stream>>>(*view, block_rows);
}

/* ---- 3: columns ---- */

template <typename Unit>
static __global__ void __launch_bounds__(THREADS)
gather_kernel(const uint32_t *selected, uint32_t nselected,
			  const Unit *values, uint32_t units, Unit *gathered)
{
	size_t		i = (size_t) blockIdx.x * THREADS + threadIdx.x;

	if (i < (size_t) nselected * units)
		gathered[i] = values[(size_t) selected[i / units] * units + i % units];
}

template <typename Unit>
static void
launch_gather(const CsvQueryView *view, uint32_t nselected,
			  const uint8_t *values, uint32_t stride, uint8_t *gathered,
			  cudaStream_t stream)
{
	uint32_t	units = stride / (uint32_t) sizeof(Unit);
	size_t		nblocks = ((size_t) nselected * units - 1) / THREADS + 1;

	gather_kernel<Unit><<<(unsigned) nblocks, THREADS, 0, stream>>>
		(view->selected, nselected, (const Unit *) values, units,
		 (Unit *) gathered);
}

void
csv_launch_gather(const CsvQueryView *view, uint32_t nselected,
				  const uint8_t *values, uint32_t stride, uint8_t *gathered,
				  cudaStream_t stream)
{
	if (nselected == 0 || stride == 0)
		return;
	if (stride % 4 == 0)
		launch_gather<uint32_t>(view, nselected, values, stride, gathered,
								stream);
	else if (stride % 2 == 0)
		launch_gather<uint16_t>(view, nselected, values, stride, gathered,
								stream);
	else
		launch_gather<uint8_t>(view, nselected, values, stride, gathered,
							   stream);
}
