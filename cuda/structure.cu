/*
 * structure.cu
 *		Finds the structure of any input: masks, index, record table.
 *
 *	1. compose_kernel	each thread composes the map of its 64 bytes, and each block
 *						scans the maps; prefixes within the tile are kept.
 *	2. states_kernel	one block scans over the tiles, for the state at the start of
 *						each tile.
 *	3. masks_kernel		each thread, which now knows its state, runs the table over
 *						its bytes and writes five masks; counts per tile.
 *	4. ranks_kernel		one block scans over the counts.
 *	5. index_kernel		for a window of tiles: positions of separators; start, first
 *						separator and line of records.
 */
#include <cub/block/block_reduce.cuh>

#include "scan.cuh"
#include "structure.cuh"

/*
 * Bits of an entry of the table; FIELDS at an end tells the error.  In narrow tables
 * the low bits are the next state.
 */
#define ENTRY_STATE		0x07
#define ENTRY_FIELDS	0x08
#define ENTRY_ENDS		0x10
#define ENTRY_STARTS	0x20
#define ENTRY_BAD		0x40
#define ENTRY_BREAKS	0x80

/*
 * At an end of a record the bit FIELDS is redundant, since a field ends there, too.
 * There it is set if the record has text after a closing quote, so that, with BAD, the
 * two quoting errors differ.
 */
static uint8_t
structure_entry(const CsvDialect *dialect, bool wide, int state, int class_)
{
	uint8_t		entry = dialect->table[CSV_NORMAL][state][class_];
	uint8_t		bits = wide ? 0 : entry & ENTRY_STATE;

	if (entry & CSV_RECORD)
	{
		bits |= ENTRY_ENDS;
		if (state == CSV_STATE_SKIP_LINE)
			bits |= ENTRY_FIELDS;
	}
	else if (entry & CSV_FIELD)
		bits |= ENTRY_FIELDS;
	if (entry & CSV_START)
		bits |= ENTRY_STARTS;
	if (entry & CSV_BAD)
		bits |= ENTRY_BAD;
	if (class_ == CSV_CLASS_BREAK)
		bits |= ENTRY_BREAKS;
	return bits;
}

void
csv_structure_tables(const CsvDialect *dialect, CsvStructureTables *tables)
{
	for (int byte = 0; byte < 256; byte++)
		tables->class_of[byte] = dialect->class_of[byte];
	tables->class_of['\n'] =
		dialect->opt.boundary == CSV_BOUNDARY_CR ? CSV_CLASS_OTHER :
		dialect->opt.boundary == CSV_BOUNDARY_CRLF ? CSV_CLASS_LF_AFTER_CR :
		CSV_CLASS_BREAK;
	tables->class_of['\r'] =
		dialect->opt.boundary == CSV_BOUNDARY_CR ? CSV_CLASS_BREAK :
		dialect->trim_crs > 0 ? CSV_CLASS_CR_BEFORE_LF : CSV_CLASS_OTHER;

	if (dialect->opt.comment_length > 1)
		tables->class_of[dialect->opt.comment[0]] = CSV_CLASS_MAYBE_LONG;
	if (dialect->opt.delimiter_rest_length > 0)
		tables->class_of[dialect->opt.delimiter] = CSV_CLASS_MAYBE_LONG;

	tables->wide = dialect->opt.delimiter_rest_length > 0 || dialect->opt.trim;
	for (int class_ = 0; class_ < CSV_NUM_CLASSES; class_++)
	{
		memset(tables->transitions[class_], 0, sizeof(tables->transitions[class_]));
		for (int state = 0; state < CSV_NUM_STATES; state++)
		{
			uint32_t	next = dialect->table[CSV_NORMAL][state][class_] &
				CSV_STATE_MASK;

			tables->transitions[class_][state / 4] |= next << (8 * (state % 4));
			tables->entries[state * CSV_NUM_CLASSES + class_] =
				structure_entry(dialect, tables->wide, state, class_);
		}
	}
}

/* ---- 1: maps ---- */

template <bool edge, typename Map>
static __device__ __forceinline__ Map
compose_bytes(const CsvTile<Map> *tile, const CsvView &view, uint32_t number)
{
	Map			map = CsvMapTraits<Map>::identity;

	csv_visit_classes<edge>(tile, view, number,
							[&] (int, uint32_t class_)
	{
		map = csv_extend_map(map, tile->transitions[class_]);
	});
	return map;
}

template <typename Map>
static __global__ void __launch_bounds__(CSV_TILE_THREADS)
compose_kernel(const __grid_constant__ CsvView view,
			   const __grid_constant__ CsvStructureTables tables)
{
	typedef cub::BlockScan<Map, CSV_TILE_THREADS> BlockScan;
	__shared__ CsvTile<Map> tile;
	__shared__ typename BlockScan::TempStorage scan;
	uint32_t	number = blockIdx.x;
	Map			map;
	Map			prefix;
	Map			whole;

	csv_load_tile(&tile, view, number, tables);
	map = csv_tile_is_edge(view, number) ?
		compose_bytes<true>(&tile, view, number) :
		compose_bytes<false>(&tile, view, number);
	BlockScan(scan).ExclusiveScan(map, prefix, CsvMapTraits<Map>::identity,
								  CsvComposeMaps(), whole);
	((Map *) view.prefixes)[number * CSV_TILE_THREADS + threadIdx.x] = prefix;
	if (threadIdx.x == 0)
		((Map *) view.tile_states)[number] = whole;
}

/* ---- 2: the state each tile starts in ---- */

template <typename Map>
static __global__ void __launch_bounds__(CSV_SCAN_THREADS)
states_kernel(const __grid_constant__ CsvView view)
{
	Map		   *tile_states = (Map *) view.tile_states;
	auto		load = [&] (uint32_t number) { return tile_states[number]; };
	auto		store = [&] (uint32_t number, Map before)
	{
		tile_states[number] = csv_apply_map(before, CSV_STATE_RECORD_START);
	};
	Map			whole = csv_scan(view.ntiles, CsvMapTraits<Map>::identity,
								 CsvComposeMaps(), load, store);
	uint32_t	state = csv_apply_map(whole, CSV_STATE_RECORD_START);

	if (threadIdx.x == 0 && state == CSV_STATE_COMMENT)
	{
		view.counters->ends_in_comment = 1;
		view.counters->crs_at_end = csv_crs_at_end(view.bytes, view.nbytes);
	}
}

/* ---- 3: masks ---- */

/*
 * Bit `bit` of each of the four bytes of `entries`, as four bits.  The products of the
 * multiplication do not overlap, so nothing carries.
 */
static __device__ __forceinline__ uint32_t
gather_bits(uint32_t entries, int bit)
{
	return (entries >> bit & 0x01010101) * 0x10204080u >> 28;
}

struct ThreadMasks
{
	uint32_t	words[CSV_NUM_MASKS][2];
};

static __device__ __forceinline__ uint32_t
next_state(const CsvTile<CsvNarrowMap> *, uint32_t, uint32_t, uint32_t entry)
{
	return entry & ENTRY_STATE;
}

static __device__ __forceinline__ uint32_t
next_state(const CsvTile<CsvWideMap> *tile, uint32_t state, uint32_t class_, uint32_t)
{
	return ((const uint8_t *) &tile->transitions[class_])[state];
}

template <bool edge, typename Map>
static __device__ __forceinline__ void
run_table(const CsvTile<Map> *tile, const CsvView &view, uint32_t number,
		  uint32_t state, ThreadMasks *masks)
{
	uint32_t	entries[CSV_TILE_THREAD_BYTES / 4];

#pragma unroll
	for (int i = 0; i < CSV_TILE_THREAD_BYTES / 4; i++)
		entries[i] = 0;
	csv_visit_classes<edge>(tile, view, number,
							[&] (int i, uint32_t class_)
	{
		uint32_t	entry = tile->entries[state * CSV_NUM_CLASSES + class_];

		state = next_state(tile, state, class_, entry);
		entries[i / 4] |= entry << (8 * (i % 4));
	});
#pragma unroll
	for (int mask = 0; mask < CSV_NUM_MASKS; mask++)
	{
		/* the order of CsvMask */
		const int	bit = mask == CSV_MASK_FIELDS ? 3 :
			mask == CSV_MASK_ENDS ? 4 : mask == CSV_MASK_STARTS ? 5 :
			mask == CSV_MASK_BREAKS ? 7 : 6;

		masks->words[mask][0] = 0;
		masks->words[mask][1] = 0;
#pragma unroll
		for (int i = 0; i < CSV_TILE_THREAD_BYTES / 4; i++)
			masks->words[mask][i / 8] |= gather_bits(entries[i], bit) <<
				(4 * (i % 8));
	}
}

template <typename Map>
static __global__ void __launch_bounds__(CSV_TILE_THREADS)
masks_kernel(const __grid_constant__ CsvView view,
			 const __grid_constant__ CsvStructureTables tables)
{
	typedef cub::BlockReduce<uint64_t, CSV_TILE_THREADS> BlockReduce;
	__shared__ CsvTile<Map> tile;
	__shared__ typename BlockReduce::TempStorage reduce;
	__shared__ uint32_t last_start;
	uint32_t	number = blockIdx.x;
	uint32_t	word = number * CSV_TILE_THREADS + threadIdx.x;
	uint32_t	state;
	uint64_t	masks[CSV_NUM_MASKS];
	uint64_t	counts;
	ThreadMasks halves;

	if (threadIdx.x == 0)
		last_start = 0;
	csv_load_tile(&tile, view, number, tables);
	state = csv_apply_map(((const Map *) view.prefixes)[word],
						  (uint32_t) ((const Map *) view.tile_states)[number]);
	if (csv_tile_is_edge(view, number))
		run_table<true>(&tile, view, number, state, &halves);
	else
		run_table<false>(&tile, view, number, state, &halves);

#pragma unroll
	for (int mask = 0; mask < CSV_NUM_MASKS; mask++)
	{
		masks[mask] = halves.words[mask][0] |
			(uint64_t) halves.words[mask][1] << 32;
		*csv_mask_word(view, (CsvMask) mask, word) = masks[mask];
	}
	if (masks[CSV_MASK_STARTS] != 0)
		atomicMax(&last_start, word * CSV_TILE_THREAD_BYTES + 63 -
				  __clzll(masks[CSV_MASK_STARTS]));
	counts = csv_pack_counts(masks[CSV_MASK_FIELDS], masks[CSV_MASK_ENDS],
							 masks[CSV_MASK_STARTS], masks[CSV_MASK_BREAKS]);
	counts = BlockReduce(reduce).Sum(counts);
	__syncthreads();
	if (threadIdx.x == 0)
	{
		CsvRanks	ranks;

		ranks.separators = counts & 0xffff;
		ranks.ends = counts >> 16 & 0xffff;
		ranks.starts = counts >> 32 & 0xffff;
		ranks.breaks = counts >> 48;
		view.ranks[number] = ranks;
		if (last_start != 0)
			atomicMax(&view.counters->last_start, last_start);
	}
}

/* ---- 4: ranks of tiles ---- */

struct AddRanks
{
	__device__ __forceinline__ CsvRanks
	operator() (const CsvRanks &a, const CsvRanks &b) const
	{
		return {a.separators + b.separators, a.ends + b.ends,
			a.starts + b.starts, a.breaks + b.breaks};
	}
};

static __global__ void __launch_bounds__(CSV_SCAN_THREADS)
ranks_kernel(const __grid_constant__ CsvView view)
{
	auto		load = [&] (uint32_t number) { return view.ranks[number]; };
	auto		store = [&] (uint32_t number, const CsvRanks &before)
	{
		view.ranks[number] = before;
	};
	CsvRanks	total = csv_scan(view.ntiles, CsvRanks{}, AddRanks(), load,
								 store);

	if (threadIdx.x == 0)
		view.ranks[view.ntiles] = view.counters->total = total;
}

/* ---- 5: index and record table ---- */

/*
 * A thread's separators lie next to each other in the index, so that a warp storing
 * them directly would touch every sector of its part many times.  So they go through
 * shared memory, CSV_STAGED_SEPARATORS of the tile at a time.
 */
static __global__ void __launch_bounds__(CSV_TILE_THREADS)
index_kernel(const __grid_constant__ CsvView view)
{
	typedef cub::BlockScan<uint64_t, CSV_TILE_THREADS> BlockScan;
	__shared__ typename BlockScan::TempStorage scan;
	__shared__ uint32_t staged[CSV_STAGED_SEPARATORS];
	uint32_t	number = view.first_tile + blockIdx.x;
	uint32_t	word = number * CSV_TILE_THREADS + threadIdx.x;
	uint32_t	base = word * CSV_TILE_THREAD_BYTES;
	CsvRanks	ranks = view.ranks[number];
	uint64_t	ends = *csv_mask_word(view, CSV_MASK_ENDS, word);
	uint64_t	separators = *csv_mask_word(view, CSV_MASK_FIELDS, word) | ends;
	uint64_t	starts = *csv_mask_word(view, CSV_MASK_STARTS, word);
	uint64_t	breaks = *csv_mask_word(view, CSV_MASK_BREAKS, word);
	uint64_t	prefix;
	uint64_t	whole;
	uint32_t	tile_rank;		/* of the tile's first separator, in the window */
	uint32_t	rank;			/* of the thread's next separator, in the tile */
	uint32_t	record;
	uint32_t	line;
	uint32_t	nseparators;

	BlockScan(scan).ExclusiveSum(csv_pack_counts(separators, ends, starts,
												 breaks), prefix, whole);

	/* numbers of records before the window wrap, and so are too large */
	tile_rank = ranks.separators - view.first_separator;
	rank = (uint32_t) (prefix & 0xffff);
	nseparators = (uint32_t) (whole & 0xffff);
	record = ranks.starts + (uint32_t) (prefix >> 32 & 0xffff) -
		view.first_record;
	line = ranks.breaks + (uint32_t) (prefix >> 48);

	for (uint64_t left = starts; left != 0; left &= left - 1)
	{
		uint32_t	bit = __ffsll(left) - 1;
		uint64_t	below = (1ull << bit) - 1;

		if (record < view.nrecords)
		{
			view.record_start[record] = base + bit;
			view.record_line[record] = line + __popcll(breaks & below);
			if (record == 0)
				view.record_first[0] = tile_rank + rank +
					__popcll(separators & below);
		}
		record++;
	}

	/* a record's end is followed by the next record's first separator */
	record = ranks.ends + (uint32_t) (prefix >> 16 & 0xffff) -
		view.first_record;
	for (uint64_t left = ends; left != 0; left &= left - 1)
	{
		uint64_t	up_to = left ^ (left - 1);

		if (record < view.nrecords)
			view.record_first[record + 1] = tile_rank + rank +
				__popcll(separators & up_to);
		record++;
	}

	for (uint32_t from = 0; from < nseparators; from += CSV_STAGED_SEPARATORS)
	{
		uint32_t	until = min(from + CSV_STAGED_SEPARATORS, nseparators);

		while (separators != 0 && rank < until)
		{
			staged[rank++ - from] = base + __ffsll(separators) - 1;
			separators &= separators - 1;
		}
		__syncthreads();
		for (uint32_t i = from + threadIdx.x; i < until; i += CSV_TILE_THREADS)
			view.separators[tile_rank + i] = staged[i - from];
		__syncthreads();
	}
}

template <typename Map>
static void
launch_masks(const CsvView *view, const CsvStructureTables *tables, cudaStream_t stream)
{
	compose_kernel<Map><<<view->ntiles, CSV_TILE_THREADS, 0, stream>>>(*view, *tables);
	states_kernel<Map><<<1, CSV_SCAN_THREADS, 0, stream>>>(*view);
	masks_kernel<Map><<<view->ntiles, CSV_TILE_THREADS, 0, stream>>>(*view, *tables);
}

void
csv_launch_structure(const CsvView *view, const CsvStructureTables *tables,
					 cudaStream_t stream)
{
	if (tables->wide)
		launch_masks<CsvWideMap>(view, tables, stream);
	else
		launch_masks<CsvNarrowMap>(view, tables, stream);
	ranks_kernel<<<1, CSV_SCAN_THREADS, 0, stream>>>(*view);
}

void
csv_launch_index(const CsvView *view, cudaStream_t stream)
{
	index_kernel<<<view->window_tiles, CSV_TILE_THREADS, 0, stream>>>(*view);
}
