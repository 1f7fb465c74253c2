/*
 * group_table.cu
 *		Groups that stay on the device, from batch to batch: see group_table.cuh.
 *
 * The table has open addressing with linear probing, and is at most half full.  A slot
 * is half of the keys' hash and the group's number, so that mostly keys are compared
 * only if they are equal.  Keys, NULLs and words have the layout of a batch's groups
 * (CsvPartialGroups), with texts in one arena, so that they are copied to the host as
 * they are.  When there is no more room, everything moves to twice the room.
 *
 * The old text of an extreme that was replaced stays in the arena, unless the new text
 * fits into its place.
 */
#include "group_table.cuh"
#include "scan.cuh"

#include <string.h>

#define THREADS			CSV_TABLE_THREADS

/* ---- keys ---- */

/* a value that is not NULL, from two words; an offset of a text becomes an address */
static __device__ __forceinline__ CsvRowValue
read_pair(uint8_t lane, const uint64_t *pair, const uint8_t *texts)
{
	CsvRowValue value;

	value.low = pair[0];
	value.high = pair[1];
	value.state = CSV_LANE_VALUE;
	if (lane == CSV_LANE_TEXT)
		value.low += (uint64_t) (uintptr_t) texts;
	return value;
}

static __device__ __forceinline__ uint64_t
hash_keys(const CsvGroupTable &table, const uint64_t *pairs, uint32_t nulls,
		  const uint8_t *texts)
{
	uint64_t	hash = table.seed;

	for (uint32_t key = 0; key < table.nkeys; key++)
	{
		CsvRowValue value = read_pair(table.key_lanes[key], pairs + 2 * key,
									  texts);

		if ((nulls >> key & 1) != 0)
			value = csv_row_of_state(CSV_LANE_NULL);
		hash = csv_row_hash(table.seed, hash, table.key_lanes[key], value);
	}
	return hash;
}

/* does a group of the table have these keys of a batch's group? */
static __device__ __forceinline__ bool
has_keys(const CsvGroupTable &table, uint32_t number, const uint64_t *pairs,
		 uint32_t nulls, const uint8_t *texts)
{
	const uint64_t *own = table.keys + (size_t) number * table.nkeys * 2;

	if (table.nulls[number] != nulls)
		return false;
	for (uint32_t key = 0; key < table.nkeys; key++)
	{
		uint8_t		lane = table.key_lanes[key];

		if ((nulls >> key & 1) == 0 &&
			!csv_row_equal(lane, read_pair(lane, own + 2 * key, table.texts),
						   read_pair(lane, pairs + 2 * key, texts)))
			return false;
	}
	return true;
}

/* no other thread has the same keys */
static __device__ __forceinline__ void
take_slot(const CsvGroupTable &table, uint64_t hash, uint32_t number)
{
	unsigned long long entry = (hash >> 32) << 32 | (number + 1);
	uint32_t	slot = (uint32_t) hash & table.slot_mask;

	while (atomicCAS((unsigned long long *) &table.slots[slot], 0ull,
					 entry) != 0)
		slot = (slot + 1) & table.slot_mask;
}

/* ---- 1: which groups are there? ---- */

static __global__ void __launch_bounds__(THREADS)
seek_kernel(const __grid_constant__ CsvGroupTable table,
			const __grid_constant__ CsvQueryView view)
{
	uint32_t	group = blockIdx.x * THREADS + threadIdx.x;
	uint32_t	place = CSV_NOT_HELD;
	bool		active = group < view.ngroups;
	int			nnew;

	if (active)
	{
		const uint64_t *pairs = view.group_keys +
			(size_t) group * table.nkeys * 2;
		uint32_t	nulls = view.group_nulls[group];
		uint64_t	hash = hash_keys(table, pairs, nulls, view.texts);
		uint32_t	slot = (uint32_t) hash & table.slot_mask;
		uint32_t	nprobes = 0;
		uint64_t	entry;

		while (table.ngroups > 0 && (entry = table.slots[slot]) != 0)
		{
			uint32_t	number = (uint32_t) entry - 1;

			if (entry >> 32 == hash >> 32 &&
				has_keys(table, number, pairs, nulls, view.texts))
			{
				place = number;
				break;
			}
			if (++nprobes == CSV_QUERY_MOST_PROBES)
			{
				table.counts->crowded = 1;
				break;
			}
			slot = (slot + 1) & table.slot_mask;
		}
		table.hashes[group] = hash;
		table.places[group] = place;
	}
	nnew = __syncthreads_count(active && place == CSV_NOT_HELD);
	if (threadIdx.x == 0)
		table.ranks[blockIdx.x] = (uint32_t) nnew;
}

/* replace counts by sums of the blocks before; one block */
static __global__ void __launch_bounds__(CSV_SCAN_THREADS)
rank_kernel(const __grid_constant__ CsvGroupTable table, uint32_t nblocks)
{
	uint32_t	nnew = csv_scan_counts(table.ranks, nblocks);

	if (threadIdx.x == 0)
		table.counts->nnew = nnew;
}

bool
csv_table_suits(CsvGroupTable *table, const CsvPlan *plan, uint32_t nrows)
{
	if (!table->is_shaped)
	{
		table->is_shaped = true;
		table->seed = csv_random_seed(table);
		table->nkeys = plan->nkeys;
		table->ninputs = plan->ninputs;
		table->naggregates = plan->naggregates;
		table->nwords = plan->nwords;
		memcpy(table->key_lanes, plan->key_lanes, plan->nkeys);
		memcpy((void *) table->aggregate, plan->aggregate,
			   plan->naggregates * sizeof(CsvPlanAggregate));
		for (uint32_t i = 0; i < plan->nkeys; i++)
			table->has_texts |= plan->key_lanes[i] == CSV_LANE_TEXT;
		for (uint32_t i = 0; i < plan->naggregates; i++)
			table->has_texts |= plan->aggregate[i].lane == CSV_LANE_TEXT;
	}
	return table->nkeys == plan->nkeys && table->nwords == plan->nwords &&
		table->ninputs == plan->ninputs &&
		table->naggregates == plan->naggregates &&
		memcmp(table->key_lanes, plan->key_lanes, plan->nkeys) == 0 &&
		memcmp(table->aggregate, plan->aggregate,
			   plan->naggregates * sizeof(CsvPlanAggregate)) == 0 &&
		table->nrows + nrows <= CSV_TABLE_MOST_ROWS;
}

/* make room for findings about a batch's groups */
static bool
reserve_batch(CsvGroupTable *table, uint32_t ngroups, size_t limit)
{
	CsvSession *session = table->session;
	size_t		n = ngroups + ngroups / 8;

	if (table->count_memory.bytes == NULL)
	{
		if (!csv_device_take(session, NULL, sizeof(CsvHeldCounts), limit,
							 &table->count_memory))
			return false;
		table->counts = (CsvHeldCounts *) table->count_memory.bytes;
		cudaMemsetAsync(table->counts, 0, sizeof(CsvHeldCounts),
						session->stream);
	}
	if (ngroups <= table->batch_capacity)
		return true;
	csv_device_give_back(session, NULL, &table->batch);
	table->batch_capacity = 0;
	n = (n + 255) / 256 * 256;
	if (!csv_device_take(session, NULL,
						 n * 12 + csv_blocks_of((uint32_t) n, THREADS) * 4,
						 limit, &table->batch))
		return false;
	table->batch_capacity = (uint32_t) n;
	table->hashes = (uint64_t *) table->batch.bytes;
	table->places = (uint32_t *) (table->hashes + n);
	table->ranks = table->places + n;
	return true;
}

bool
csv_table_seek(CsvGroupTable *table, const CsvQueryView *view, size_t limit,
			   cudaStream_t stream)
{
	uint32_t	nblocks = csv_blocks_of(view->ngroups, THREADS);

	if (!reserve_batch(table, view->ngroups, limit))
		return false;
	cudaMemsetAsync(&table->counts->crowded, 0, sizeof(uint32_t), stream);
	seek_kernel<<<nblocks, THREADS, 0, stream>>>(*table, *view);
	rank_kernel<<<1, CSV_SCAN_THREADS, 0, stream>>>(*table, nblocks);
	return true;
}

/* ---- 2: room ---- */

static __global__ void __launch_bounds__(THREADS)
fill_slots_kernel(const __grid_constant__ CsvGroupTable table)
{
	uint32_t	number = blockIdx.x * THREADS + threadIdx.x;

	if (number < table.ngroups)
		take_slot(table, hash_keys(table, table.keys +
								   (size_t) number * table.nkeys * 2,
								   table.nulls[number], table.texts), number);
}

/* lay out a table of its capacity; returns its bytes */
static size_t
lay_out(CsvGroupTable *table, uint8_t *bytes)
{
	size_t		nslots = 64;
	size_t		n = table->capacity;
	size_t		keys = n * table->nkeys * 16;
	size_t		words = n * table->nwords * 8;

	while (nslots < 2 * n)
		nslots *= 2;
	table->slot_mask = (uint32_t) (nslots - 1);
	table->slots = (uint64_t *) bytes;
	table->keys = table->slots + nslots;
	table->words = (int64_t *) ((uint8_t *) table->keys + keys);
	table->nulls = (uint32_t *) ((uint8_t *) table->words + words);
	return nslots * 8 + keys + words + n * 4;
}

/* move to a table of this capacity; false: no memory */
static bool
move_groups(CsvGroupTable *table, uint64_t capacity, size_t limit,
			cudaStream_t stream)
{
	CsvGroupTable larger = *table;
	size_t		n = table->ngroups;

	if (capacity > CSV_TABLE_MOST_GROUPS)
		return false;
	larger.capacity = (uint32_t) capacity;
	if (!csv_device_take(table->session, NULL, lay_out(&larger, NULL), limit,
						 &larger.groups))
		return false;
	lay_out(&larger, larger.groups.bytes);
	cudaMemsetAsync(larger.slots, 0, ((size_t) larger.slot_mask + 1) * 8,
					stream);
	if (n > 0)
	{
		cudaMemcpyAsync(larger.keys, table->keys, n * table->nkeys * 16,
						cudaMemcpyDeviceToDevice, stream);
		cudaMemcpyAsync(larger.words, table->words, n * table->nwords * 8,
						cudaMemcpyDeviceToDevice, stream);
		cudaMemcpyAsync(larger.nulls, table->nulls, n * 4,
						cudaMemcpyDeviceToDevice, stream);
		fill_slots_kernel<<<csv_blocks_of(table->ngroups, THREADS), THREADS, 0,
			stream>>>(larger);
		cudaStreamSynchronize(stream);
	}
	csv_device_give_back(table->session, NULL, &table->groups);
	*table = larger;
	return true;
}

static bool
move_texts(CsvGroupTable *table, size_t capacity, size_t limit,
		   cudaStream_t stream)
{
	CsvTaken	larger;

	if (!csv_device_take(table->session, NULL, capacity, limit, &larger))
		return false;
	if (table->text_bytes > 0)
	{
		cudaMemcpyAsync(larger.bytes, table->texts, table->text_bytes,
						cudaMemcpyDeviceToDevice, stream);
		cudaStreamSynchronize(stream);
	}
	csv_device_give_back(table->session, NULL, &table->text_memory);
	table->text_memory = larger;
	table->texts = larger.bytes;
	table->text_capacity = capacity;
	return true;
}

CsvHeldRoom
csv_table_make_room(CsvGroupTable *table, const CsvHeldCounts *counts,
					size_t text_bytes, size_t limit, cudaStream_t stream)
{
	uint64_t	ngroups = (uint64_t) table->ngroups + counts->nnew;
	uint64_t	twice = 2 * (uint64_t) table->capacity;

	if (twice < table->first_capacity)
		twice = table->first_capacity;
	table->text_bytes = counts->text_bytes;
	text_bytes += table->text_bytes;
	if (table->has_texts && text_bytes > table->text_capacity &&
		!move_texts(table, 2 * text_bytes, limit, stream) &&
		!move_texts(table, text_bytes, limit, stream))
		return CSV_ROOM_NONE;
	return ngroups <= table->capacity ||
		move_groups(table, ngroups > twice ? ngroups : twice, limit, stream) ||
		move_groups(table, ngroups, limit, stream) ? CSV_ROOM_ALL :
		CSV_ROOM_FOUND;
}

/* ---- 3: adding ---- */

/* copy a text of the batch into the table; returns its offset */
static __device__ __forceinline__ uint64_t
store_text(const CsvGroupTable &table, const uint8_t *text, uint32_t length)
{
	unsigned long long offset = atomicAdd(&table.counts->text_bytes,
										  (unsigned long long) length);

	for (uint32_t i = 0; i < length; i++)
		table.texts[offset + i] = text[i];
	return offset;
}

static __device__ __forceinline__ void
put_pair(const CsvGroupTable &table, uint8_t lane, const uint64_t *from,
		 const uint8_t *texts, uint64_t *to)
{
	to[0] = lane == CSV_LANE_TEXT ?
		store_text(table, texts + from[0], (uint32_t) from[1]) : from[0];
	to[1] = from[1];
}

/* the later of two equal values, as on the host: -0 and 0 look different */
static __device__ __forceinline__ void
take_extreme(const CsvGroupTable &table, const CsvPlanAggregate &aggregate,
			 const uint64_t *from, const uint8_t *texts, uint64_t *to)
{
	int			order = csv_row_compare(aggregate.lane,
										read_pair(aggregate.lane, from, texts),
										read_pair(aggregate.lane, to,
												  table.texts));

	if (aggregate.kind == CSV_AGGREGATE_MAX ? order < 0 : order > 0)
		return;
	if (aggregate.lane != CSV_LANE_TEXT || from[1] > to[1])
		put_pair(table, aggregate.lane, from, texts, to);
	else
	{
		for (uint32_t i = 0; order != 0 && i < (uint32_t) from[1]; i++)
			table.texts[to[0] + i] = texts[from[0] + i];
		to[1] = from[1];
	}
}

static __device__ __forceinline__ void
add_words(const CsvGroupTable &table, const CsvQueryView &view, uint32_t group,
		  uint32_t number)
{
	const int64_t *from = view.words + (size_t) group * table.nwords;
	int64_t    *to = table.words + (size_t) number * table.nwords;

	/* the inputs' words say whether there is an extreme, so they are added last */
	for (uint32_t i = 0; i < table.naggregates; i++)
	{
		const CsvPlanAggregate &aggregate = table.aggregate[i];
		uint32_t	first = aggregate.first_word;
		const uint64_t *pair = (const uint64_t *) from + first;

		if (from[aggregate.input] == 0)
			continue;
		if (!csv_is_extreme(aggregate))
		{
			uint32_t	nwords = csv_sum_words(aggregate.kind, aggregate.lane);

			for (uint32_t k = 0; k < nwords; k++)
				to[first + k] += from[first + k];
			if (aggregate.lane == CSV_LANE_FLOAT)
				to[first + nwords] |= from[first + nwords];
		}
		else if (to[aggregate.input] == 0)
			put_pair(table, aggregate.lane, pair, view.texts,
					 (uint64_t *) to + first);
		else
			take_extreme(table, aggregate, pair, view.texts,
						 (uint64_t *) to + first);
	}
	for (uint32_t i = 0; i < table.ninputs; i++)
		to[i] += from[i];
}

static __device__ __forceinline__ void
make_group(const CsvGroupTable &table, const CsvQueryView &view,
		   uint32_t group, uint32_t number)
{
	const uint64_t *from = view.group_keys + (size_t) group * table.nkeys * 2;
	uint64_t   *to = table.keys + (size_t) number * table.nkeys * 2;
	int64_t    *words = table.words + (size_t) number * table.nwords;
	uint32_t	nulls = view.group_nulls[group];

	table.nulls[number] = nulls;
	for (uint32_t key = 0; key < table.nkeys; key++)
		put_pair(table, (nulls >> key & 1) != 0 ? (uint8_t) CSV_LANE_INT :
				 table.key_lanes[key], from + 2 * key, view.texts,
				 to + 2 * key);
	for (uint32_t i = 0; i < table.nwords; i++)
		words[i] = 0;
	add_words(table, view, group, number);
	take_slot(table, table.hashes[group], number);
}

static __global__ void __launch_bounds__(THREADS)
add_kernel(const __grid_constant__ CsvGroupTable table,
		   const __grid_constant__ CsvQueryView view, bool take_new)
{
	typedef cub::BlockScan<uint32_t, THREADS> BlockScan;
	__shared__ typename BlockScan::TempStorage scan;
	uint32_t	group = blockIdx.x * THREADS + threadIdx.x;
	bool		active = group < view.ngroups;
	uint32_t	place = active ? table.places[group] : 0;
	uint32_t	is_new = active && place == CSV_NOT_HELD;
	uint32_t	rank;

	BlockScan(scan).ExclusiveSum(is_new, rank);
	if (!active)
		return;
	if (!is_new)
		add_words(table, view, group, place);
	else if (take_new)
		make_group(table, view, group,
				   table.ngroups + table.ranks[blockIdx.x] + rank);
}

void
csv_table_add(CsvGroupTable *table, const CsvQueryView *view,
			  const CsvHeldCounts *counts, bool take_new, cudaStream_t stream)
{
	add_kernel<<<csv_blocks_of(view->ngroups, THREADS), THREADS, 0, stream>>>
		(*table, *view, take_new);
	if (take_new)
		table->ngroups += counts->nnew;
	table->nrows += view->nrows;
}

/* ---- texts, for the host ---- */

/* does this group have an extreme that is a text? */
static __device__ __forceinline__ bool
has_text(const CsvPlanAggregate &aggregate, const int64_t *words)
{
	return aggregate.lane == CSV_LANE_TEXT && csv_is_extreme(aggregate) &&
		words[aggregate.input] != 0;
}

static __global__ void __launch_bounds__(THREADS)
measure_kernel(const __grid_constant__ CsvGroupTable table, uint32_t first,
			   uint32_t n)
{
	uint32_t	i = blockIdx.x * THREADS + threadIdx.x;
	unsigned long long nbytes = 0;
	const uint64_t *keys;
	const int64_t *words;
	uint32_t	nulls;

	if (i >= n)
		return;
	keys = table.keys + (size_t) (first + i) * table.nkeys * 2;
	words = table.words + (size_t) (first + i) * table.nwords;
	nulls = table.nulls[first + i];
	for (uint32_t key = 0; key < table.nkeys; key++)
		if (table.key_lanes[key] == CSV_LANE_TEXT && (nulls >> key & 1) == 0)
			nbytes += keys[2 * key + 1];
	for (uint32_t k = 0; k < table.naggregates; k++)
		if (has_text(table.aggregate[k], words))
			nbytes += (uint64_t) words[table.aggregate[k].first_word + 1];
	atomicAdd(&table.counts->piece_bytes, nbytes);
}

void
csv_table_measure_texts(const CsvGroupTable *table, uint32_t first, uint32_t n,
						cudaStream_t stream)
{
	cudaMemsetAsync(&table->counts->piece_bytes, 0,
					sizeof(table->counts->piece_bytes), stream);
	measure_kernel<<<csv_blocks_of(n, THREADS), THREADS, 0, stream>>>
		(*table, first, n);
}

static __device__ __forceinline__ void
pack_text(const CsvGroupTable &table, uint64_t *pair, uint8_t *texts)
{
	unsigned long long offset = atomicAdd(&table.counts->piece_bytes,
										  (unsigned long long) pair[1]);

	for (uint64_t i = 0; i < pair[1]; i++)
		texts[offset + i] = table.texts[pair[0] + i];
	pair[0] = offset;
}

static __global__ void __launch_bounds__(THREADS)
pack_kernel(const __grid_constant__ CsvGroupTable table, uint32_t first,
			uint32_t n, uint64_t *keys, int64_t *words, uint8_t *texts)
{
	uint32_t	i = blockIdx.x * THREADS + threadIdx.x;
	uint32_t	nulls;

	if (i >= n)
		return;
	keys += (size_t) i * table.nkeys * 2;
	words += (size_t) i * table.nwords;
	nulls = table.nulls[first + i];
	for (uint32_t key = 0; key < table.nkeys; key++)
		if (table.key_lanes[key] == CSV_LANE_TEXT && (nulls >> key & 1) == 0)
			pack_text(table, keys + 2 * key, texts);
	for (uint32_t k = 0; k < table.naggregates; k++)
		if (has_text(table.aggregate[k], words))
			pack_text(table, (uint64_t *) words + table.aggregate[k].first_word,
					  texts);
}

void
csv_table_pack_texts(const CsvGroupTable *table, uint32_t first, uint32_t n,
					 uint64_t *keys, int64_t *words, uint8_t *texts,
					 cudaStream_t stream)
{
	cudaMemcpyAsync(keys, table->keys + (size_t) first * table->nkeys * 2,
					(size_t) n * table->nkeys * 16, cudaMemcpyDeviceToDevice,
					stream);
	cudaMemcpyAsync(words, table->words + (size_t) first * table->nwords,
					(size_t) n * table->nwords * 8, cudaMemcpyDeviceToDevice,
					stream);
	cudaMemsetAsync(&table->counts->piece_bytes, 0,
					sizeof(table->counts->piece_bytes), stream);
	pack_kernel<<<csv_blocks_of(n, THREADS), THREADS, 0, stream>>>
		(*table, first, n, keys, words, texts);
}

/* ---- the beginning and the end ---- */

void
csv_table_warm(void)
{
	struct cudaFuncAttributes attributes;

	cudaFuncGetAttributes(&attributes, seek_kernel);
	cudaFuncGetAttributes(&attributes, rank_kernel);
	cudaFuncGetAttributes(&attributes, add_kernel);
	cudaFuncGetAttributes(&attributes, fill_slots_kernel);
	cudaGetLastError();
}

void
csv_table_release(CsvGroupTable *table)
{
	CsvTaken   *taken[] = {&table->groups, &table->text_memory,
	&table->count_memory, &table->batch};

	for (CsvTaken *memory : taken)
		csv_device_give_back(table->session, NULL, memory);
	memset((void *) table, 0, sizeof(*table));
}
