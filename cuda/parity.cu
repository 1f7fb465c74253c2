/*
 * parity.cu
 *		The structure of well-formed input in one pass: separator index and
 *		record table straight from the bytes (parity.cuh says how).
 *
 * A block takes a tile of 16 kB.  What it cannot know alone is how many records
 * and separators lie before the tile, and whether it begins inside of quotes.
 * So it counts for both cases, reports that, and looks back over the reports of
 * the tiles before it until it meets one that knows its own place: then it
 * reports its own place in turn, and writes its part of the index (Merrill and
 * Garland, "Single-pass parallel prefix scan with decoupled look-back", NVIDIA
 * NVR-2016-002).  The same inside of the tile: a warp counts for both cases,
 * and learns from the warps before it which one is true.
 *
 * Tiles are numbered in the order in which blocks begin, so that a block waits
 * only for blocks that run already, in whatever order the device starts them.
 *
 * Looking back takes the most time, so that the separators are staged for
 * writing meanwhile, in the reading that is well-formed of the two.
 *
 * A tile that is not well-formed, read as it turns out to begin, says so in
 * counters->malformed: the blocks give up and structure.cu reads the input.
 * Until the first such tile all places are right, so that none is missed.
 *
 * Where the index does not fit into the memory that there is, this pass leaves
 * the tiles' places (view.ranks) for the host to plan windows by, and
 * window_kernel writes each of these, with nothing to look back for.
 */
#include <cuda_pipeline_primitives.h>

#include "parity.cuh"

#define TILE_WARPS		(CSV_TILE_THREADS / 32)
#define ALL_LANES		UINT32_MAX
#define NO_TILE			UINT32_MAX

/* ---- dialects ---- */

static void
spread_bits(uint32_t words[8], uint8_t byte)
{
	for (int bit = 0; bit < 8; bit++)
		words[bit] = byte >> bit & 1 ? UINT32_MAX : 0;
}

void
csv_parity_rules(const CsvDialect *dialect, CsvParityRules *rules)
{
	const CsvDialectOptions *opt = &dialect->opt;

	rules->apply = opt->escape == opt->quote;
	rules->delimiter = opt->delimiter;
	rules->quote = opt->quote;
	rules->break_byte = dialect->break_byte;
	spread_bits(rules->delimiter_bits, opt->delimiter);
	spread_bits(rules->quote_bits, opt->quote);
	rules->any_quotes = opt->quote != 0 ? UINT32_MAX : 0;
	rules->cr_breaks = opt->boundary == CSV_BOUNDARY_CR ? UINT32_MAX : 0;
	rules->plain_breaks = opt->boundary == CSV_BOUNDARY_CRLF ? 0 : UINT64_MAX;
	rules->trim_cr = dialect->trim_cr ? UINT64_MAX : 0;
	rules->strict = opt->quoting == CSV_QUOTING_RFC4180 ? UINT64_MAX : 0;
	rules->one_line = opt->multiline ? 0 : UINT64_MAX;
	rules->blank_is_record = opt->blank_is_record ? UINT64_MAX : 0;
}

/* ---- reports ---- */

/*
 * A tile's report is two words, each of which says in its two low bits what it
 * is.  A reader takes them only if they agree, so that nothing depends on both
 * being written at once.
 *
 *	COUNTS	first	separators, ends (as if outside), separators (as if inside)
 *			second	ends (as if inside), breaks: 17 bits each; an odd number of
 *					quotes: 1 bit
 *	PLACE	first	separators, ends up to the tile's end: 31 bits each
 *			second	breaks: 32 bits; inside of quotes there: 1 bit
 */
#define REPORT_NONE		0
#define REPORT_COUNTS	1
#define REPORT_PLACE	2
#define REPORT_KIND		3

struct Report
{
	uint64_t	first;
	uint64_t	second;
};

/* how many of each there are */
struct Counts
{
	uint32_t	separators;
	uint32_t	ends;
	uint32_t	breaks;
};

/* a tile's or warp's, for both cases; `odd` number of quotes */
struct TileCounts
{
	uint32_t	separators[2];
	uint32_t	ends[2];
	uint32_t	breaks;
	uint32_t	odd;
};

static __device__ __forceinline__ Report
load_report(const CsvView &view, uint32_t tile)
{
	const uint64_t *at = view.reports + (size_t) tile * 2;
	Report		report;

	asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
				 : "=l"(report.first), "=l"(report.second)
				 : "l"(at) : "memory");
	return report;
}

static __device__ __forceinline__ void
store_report(const CsvView &view, uint32_t tile, uint64_t first,
			 uint64_t second)
{
	uint64_t   *at = view.reports + (size_t) tile * 2;

	asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};"
				 :: "l"(at), "l"(first), "l"(second) : "memory");
}

static __device__ __forceinline__ void
report_counts(const CsvView &view, uint32_t tile, const TileCounts &counts)
{
	store_report(view, tile,
				 REPORT_COUNTS | (uint64_t) counts.separators[0] << 2 |
				 (uint64_t) counts.ends[0] << 19 |
				 (uint64_t) counts.separators[1] << 36,
				 REPORT_COUNTS | (uint64_t) counts.ends[1] << 2 |
				 (uint64_t) counts.breaks << 19 |
				 (uint64_t) counts.odd << 36);
}

static __device__ __forceinline__ void
report_place(const CsvView &view, uint32_t tile, const Counts &counts,
			 uint32_t inside)
{
	store_report(view, tile,
				 REPORT_PLACE | (uint64_t) counts.separators << 2 |
				 (uint64_t) counts.ends << 33,
				 REPORT_PLACE | (uint64_t) counts.breaks << 2 |
				 (uint64_t) inside << 34);
}

/* has some tile said so?  Blocks that begin then see it by their number. */
static __device__ __forceinline__ bool
is_malformed(const CsvView &view)
{
	return *(volatile uint32_t *) &view.counters->malformed != 0;
}

static __device__ __forceinline__ bool
is_odd(const Report &report)
{
	return (report.second >> 36 & 1) != 0;
}

static __device__ __forceinline__ uint32_t
warp_sum(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
	return __reduce_add_sync(ALL_LANES, value);
#else
	for (int step = 16; step > 0; step /= 2)
		value += __shfl_xor_sync(ALL_LANES, value, step);
	return value;
#endif
}

/* add what the lanes' reports count, each read as its lane says */
static __device__ __forceinline__ void
add_counts(Counts *sum, const Report &report, bool counts, bool inside)
{
	uint64_t	separators = report.first >> (inside ? 36 : 2);
	uint64_t	ends = inside ? report.second >> 2 : report.first >> 19;

	sum->separators += warp_sum(counts ? (uint32_t) separators & 0x1ffff : 0);
	sum->ends += warp_sum(counts ? (uint32_t) ends & 0x1ffff : 0);
	sum->breaks += warp_sum(counts ? (uint32_t) (report.second >> 19) & 0x1ffff :
							0);
}

/* the lane's report of the 32 before `next`; before the input's start, a place */
static __device__ __forceinline__ Report
load_window(const CsvView &view, int32_t next)
{
	int32_t		lane = threadIdx.x % 32;
	Report		report = {REPORT_PLACE, REPORT_PLACE};

	if (lane < next)
		report = load_report(view, next - 1 - lane);
	return report;
}

/*
 * What lies before a tile, by one warp: 32 reports at a time, the nearest one
 * by lane 0.  False where the input turned out to be malformed meanwhile.
 *
 * Until a place is met, everything is counted for both cases: for the farthest
 * tile so far to begin outside [0], or inside [1].
 */
static __device__ __forceinline__ bool
look_back(const CsvView &view, uint32_t tile, Counts *before, uint32_t *inside)
{
	uint32_t	lane = threadIdx.x % 32;
	Counts		both[2] = {{0, 0, 0}, {0, 0, 0}};
	uint32_t	odd = 0;		/* number of quotes in the tiles so far */

	for (int32_t next = (int32_t) tile;; next -= 32)
	{
		Report		report;
		uint32_t	places;
		uint32_t	needed;
		uint32_t	odds;
		uint32_t	kind;
		bool		counts;
		bool		own;

		/* up to the nearest place, or where there is none, of all */
		for (;;)
		{
			report = load_window(view, next);
			kind = (report.first & REPORT_KIND) == (report.second & REPORT_KIND) ?
				(uint32_t) report.first & REPORT_KIND : REPORT_NONE;
			places = __ballot_sync(ALL_LANES, kind == REPORT_PLACE);
			needed = places ^ (places - 1);
			if ((__ballot_sync(ALL_LANES, kind == REPORT_NONE) & needed) == 0)
				break;
			if (__any_sync(ALL_LANES, is_malformed(view)))
				return false;
		}
		counts = (needed & ~places) >> lane & 1;
		odds = __ballot_sync(ALL_LANES, counts && is_odd(report));

		/* as the farthest one begins outside, or right behind a place */
		own = __popc(odds >> lane >> 1) & 1;
		if (places != 0)
		{
			int			nearest = __ffs(places) - 1;
			uint64_t	first = __shfl_sync(ALL_LANES, report.first, nearest);
			uint64_t	second = __shfl_sync(ALL_LANES, report.second, nearest);
			uint32_t	began = second >> 34 & 1;
			uint32_t	ended = began ^ (__popc(odds) & 1);

			*before = ended != 0 ? both[1] : both[0];
			*inside = ended ^ odd;
			add_counts(before, report, counts, own != (began != 0));
			before->separators += (uint32_t) (first >> 2) & 0x7fffffff;
			before->ends += (uint32_t) (first >> 33);
			before->breaks += (uint32_t) (second >> 2);
			return true;
		}
		if (__popc(odds) & 1)
		{
			Counts		outside = both[0];

			both[0] = both[1];
			both[1] = outside;
			odd ^= 1;
		}
		add_counts(&both[0], report, true, own);
		add_counts(&both[1], report, true, !own);
	}
}

/* ---- a tile ---- */

struct Tile
{
	union
	{
		/* as CsvTile's */
		uint4		units[CSV_TILE_BYTES / 16];

		/*
		 * When the bytes are done with: offsets in the tile of its separators.
		 */
		uint16_t	staged[CSV_TILE_BYTES];
	};
	uint32_t	number;
	uint32_t	bytes_before;	/* the four before the tile */
	uint32_t	bytes_behind;

	/*
	 * What the warps say of themselves.  counts: 12 bits each, separators and
	 * ends (as if the warp began outside), the same (as if inside), breaks.
	 */
	uint64_t	counts[TILE_WARPS];
	uint32_t	odd[TILE_WARPS];
	uint32_t	wrong[2][TILE_WARPS];

	/* what lies before each warp in the tile, as if that began outside, inside */
	Counts		ahead[2][TILE_WARPS];
	uint32_t	begins[TILE_WARPS];	/* inside, as if the tile began outside */
	uint32_t	nseparators[2];	/* of the tile */
	uint32_t	guess;			/* whether it begins inside */

	/* what lies before the tile */
	Counts		place;
	uint32_t	inside;			/* whether it does; NO_TILE: give up */
	uint32_t	last_start;		/* position of the last record's */
};

static __device__ __forceinline__ uint32_t
unit_of(uint32_t thread, uint32_t j)
{
	return thread * 4 + (j ^ (thread >> 1 & 3));
}

/* ends with a barrier */
static __device__ __forceinline__ void
load_tile(Tile *tile, const CsvView &view, uint32_t number)
{
	const uint8_t *bytes = view.bytes + (size_t) number * CSV_TILE_BYTES;
	const uint4 *from = (const uint4 *) bytes + threadIdx.x;
	uint4	   *to = tile->units + unit_of(threadIdx.x / 4, threadIdx.x % 4);

#pragma unroll
	for (int i = 0; i < CSV_TILE_BYTES / 16; i += CSV_TILE_THREADS)
		__pipeline_memcpy_async(to + i, from + i, 16);
	__pipeline_commit();
	if (threadIdx.x == 0)
	{
		tile->bytes_before = *(const uint32_t *) (bytes - 4);
		tile->bytes_behind = *(const uint32_t *) (bytes + CSV_TILE_BYTES);
		tile->last_start = 0;
	}
	__pipeline_wait_prior(0);
	__syncthreads();
}

/* base: position of the thread's first byte */
static __device__ __forceinline__ CsvParityBits
find_bits(const Tile *tile, const CsvView &view, const CsvParityRules &rules,
		  uint32_t base)
{
	uint32_t	words[CSV_TILE_THREAD_BYTES / 4];
	uint32_t	thread = threadIdx.x;
	uint32_t	nbytes = CSV_TILE_THREAD_BYTES;

#pragma unroll
	for (int j = 0; j < 4; j++)
	{
		uint4		unit = tile->units[unit_of(thread, j)];

		words[4 * j] = unit.x;
		words[4 * j + 1] = unit.y;
		words[4 * j + 2] = unit.z;
		words[4 * j + 3] = unit.w;
	}
	if (base <= view.nbytes)
		nbytes = min(view.nbytes - base, nbytes);
	return csv_parity_bits(rules, words,
						   thread == 0 ? tile->bytes_before :
						   tile->units[unit_of(thread - 1, 3)].w,
						   thread == CSV_TILE_THREADS - 1 ? tile->bytes_behind :
						   tile->units[unit_of(thread + 1, 0)].x,
						   base == 0, nbytes, view.limit > view.nbytes);
}

/*
 * By the first warp, when all warps have said what they have: what lies before
 * each of them in the tile.  Returns the tile's own, and whether it is wrong,
 * for both cases.
 */
static __device__ __forceinline__ TileCounts
scan_warps(Tile *tile, bool wrong[2])
{
	uint32_t	lane = threadIdx.x;
	uint32_t	warp = lane % TILE_WARPS;
	bool		mine = lane < TILE_WARPS;
	uint64_t	counts = mine ? tile->counts[warp] : 0;
	uint32_t	odds = __ballot_sync(ALL_LANES, mine && tile->odd[warp] != 0);
	uint32_t	begins = __popc(odds & ((1u << lane) - 1)) & 1;
	uint32_t	breaks = (uint32_t) (counts >> 48);
	TileCounts	whole;

	if (mine)
		tile->begins[warp] = begins;
	whole.odd = __popc(odds) & 1;
#pragma unroll
	for (uint32_t as = 0; as < 2; as++)
	{
		uint32_t	pair = (uint32_t) (counts >> ((as ^ begins) * 24));
		uint64_t	own = (pair & 0xfff) | (pair >> 12 & 0xfff) << 16 |
			(uint64_t) breaks << 32;
		uint64_t	sum = own;

#pragma unroll
		for (int step = 1; step < TILE_WARPS; step *= 2)
		{
			uint64_t	more = __shfl_up_sync(ALL_LANES, sum, step);

			if (lane >= (uint32_t) step)
				sum += more;
		}
		wrong[as] = __any_sync(ALL_LANES,
							   mine && tile->wrong[as ^ begins][warp] != 0);
		if (mine)
		{
			tile->ahead[as][warp].separators = (sum - own) & 0xffff;
			tile->ahead[as][warp].ends = (sum - own) >> 16 & 0xffff;
			tile->ahead[as][warp].breaks = (uint32_t) ((sum - own) >> 32);
		}
		sum = __shfl_sync(ALL_LANES, sum, TILE_WARPS - 1);
		whole.separators[as] = sum & 0xffff;
		whole.ends[as] = sum >> 16 & 0xffff;
		whole.breaks = (uint32_t) (sum >> 32);
	}
	return whole;
}

/*
 * By the first warp: find the tile's place and tell it.  own, wrong: as of
 * scan_warps.  between: as of the tile's first bits.
 */
static __device__ __forceinline__ void
find_place(Tile *tile, const CsvView &view, uint32_t number,
		   const TileCounts &own, const bool wrong[2], bool between)
{
	Counts		place = {0, 0, 0};
	uint32_t	inside = 0;
	CsvRanks	ranks;
	bool		found = look_back(view, number, &place, &inside);

	if (threadIdx.x != 0)
		return;
	tile->inside = found ? inside : NO_TILE;
	if (!found)
		return;
	ranks.separators = place.separators;
	ranks.ends = place.ends;
	ranks.starts = place.ends + (inside || !between);
	ranks.breaks = place.breaks;
	tile->place = place;
	place.separators += inside ? own.separators[1] : own.separators[0];
	place.ends += inside ? own.ends[1] : own.ends[0];
	place.breaks += own.breaks;
	report_place(view, number, place, inside ^ own.odd);
	if (inside ? wrong[1] : wrong[0])
	{
		*(volatile uint32_t *) &view.counters->malformed = 1;
		atomicMax(&view.counters->next_tile, INT32_MAX);
	}
	view.ranks[number] = ranks;
	view.tile_states[number] = inside;
	if (number == view.ntiles - 1)
	{
		ranks.separators = place.separators;
		ranks.ends = place.ends;
		ranks.starts = place.ends;	/* and perhaps the tail's */
		ranks.breaks = place.breaks;
		view.ranks[view.ntiles] = ranks;
		view.counters->total = ranks;
	}
}

/* the same where an earlier launch has found it; by one thread */
static __device__ __forceinline__ void
recall_place(Tile *tile, const CsvView &view, uint32_t number)
{
	CsvRanks	ranks = view.ranks[number];

	tile->place.separators = ranks.separators;
	tile->place.ends = ranks.ends;
	tile->place.breaks = ranks.breaks;
	tile->inside = view.tile_states[number];
	tile->guess = tile->inside;
}

/* ---- the index ---- */

/*
 * The offsets of the bits, counted from `offset`, one behind the other; `at` in
 * shared memory.  A lane that has no more bits than others takes part without
 * storing: a store under a predicate, where C would make a branch for each.
 */
static __device__ __forceinline__ void
stage_offsets(uint16_t *at, uint32_t bits, uint32_t offset)
{
	uint32_t	address = (uint32_t) __cvta_generic_to_shared(at);

	/* from the top, where finding and clearing a bit take least */
	for (bits = __brev(bits); bits != 0; address += 4 * sizeof(uint16_t))
	{
#pragma unroll
		for (int i = 0; i < 4; i++)
		{
			uint32_t	bit;

			asm("bfind.shiftamt.u32 %0, %1;" : "=r"(bit) : "r"(bits));
			asm volatile("{\n\t"
						 ".reg .pred any;\n\t"
						 "setp.ne.u32 any, %2, 0;\n\t"
						 "@any st.shared.u16 [%0], %1;\n\t"
						 "}"
						 :: "r"(address + i * (uint32_t) sizeof(uint16_t)),
						 "h"((uint16_t) (offset + bit)), "r"(bits) : "memory");
			asm("{\n\t"
				".reg .b32 one;\n\t"
				"shr.b32 one, 0x80000000, %1;\n\t"	/* 0 by 32 or more */
				"xor.b32 %0, %0, one;\n\t"
				"}"
				: "+r"(bits) : "r"(bit));
		}
	}
}

/*
 * A thread's separators, and those of the threads around it, lie next to each
 * other in the index: they go through shared memory, so that warps write whole
 * sectors.  rank: of the thread's first one in the tile.
 */
static __device__ __forceinline__ void
stage_separators(Tile *tile, uint64_t separators, uint32_t rank)
{
	uint32_t	low = (uint32_t) separators;
	uint16_t   *at = tile->staged + rank;

	stage_offsets(at, low, threadIdx.x * CSV_TILE_THREAD_BYTES);
	stage_offsets(at + __popc(low), (uint32_t) (separators >> 32),
				  threadIdx.x * CSV_TILE_THREAD_BYTES + 32);
}

/* by the whole block, when all are staged: 16 bytes a thread at a time */
static __device__ __forceinline__ void
write_separators(const Tile *tile, const CsvView &view, uint32_t number)
{
	const uint32_t base = number * CSV_TILE_BYTES;
	const uint32_t tile_rank = tile->place.separators - view.first_separator;
	const uint32_t skew = tile_rank % 4;	/* behind a multiple of 16 bytes */
	uint32_t   *to = view.separators + (tile_rank - skew);
	uint32_t	until = skew;

	if (tile_rank < view.max_separators)
		until += min(tile->nseparators[tile->inside],
					 view.max_separators - tile_rank);
	for (uint32_t i = threadIdx.x * 4; i < until; i += CSV_TILE_THREADS * 4)
	{
		const uint16_t *from = tile->staged + i - skew;

		if (i >= skew && i + 4 <= until)
			*(uint4 *) (to + i) = make_uint4(base + from[0], base + from[1],
											 base + from[2], base + from[3]);
		else
			for (uint32_t k = 0; k < 4; k++)
				if (i + k >= skew && i + k < until)
					to[i + k] = base + from[k];
	}
}

/*
 * The record table.  Records are few, and written as they are found.  They are
 * counted from the window's first, separators likewise; those before it wrap
 * around, and stay out.  ahead: what lies before the thread, in the tile.
 */
static __device__ __forceinline__ void
write_records(const Tile *tile, const CsvView &view, const CsvParityBits &bits,
			  uint64_t starts, uint64_t ends, uint64_t separators,
			  uint32_t base, const Counts &ahead)
{
	uint32_t	record = tile->place.ends + ahead.ends - view.first_record;
	uint32_t	rank = tile->place.separators + ahead.separators -
		view.first_separator;
	uint32_t	line = tile->place.breaks + ahead.breaks;

	for (uint64_t left = starts; left != 0; left &= left - 1)
	{
		uint64_t	below = ~left & (left - 1);
		uint32_t	which = record + __popcll(ends & below);

		if (which < view.nrecords)
		{
			view.record_start[which] = base + __popcll(below);
			view.record_line[which] = line + __popcll(bits.breaks & below);
			if (which == 0)
				view.record_first[0] = rank + __popcll(separators & below);
		}
	}

	/* behind its end, the next record's first separator comes next */
	for (uint64_t left = ends; left != 0; left &= left - 1)
	{
		uint64_t	up_to = left ^ (left - 1);

		if (record < view.nrecords)
			view.record_first[record + 1] = rank + __popcll(separators & up_to);
		record++;
	}
}

/* ---- kernels ---- */

/* the bytes of one tile, from reading them to writing the index */
template <bool place_is_known>
static __device__ __forceinline__ void
index_tile(Tile *tile, const CsvView &view, const CsvParityRules &rules)
{
	const uint32_t number = tile->number;
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t warp = threadIdx.x / 32;
	const uint32_t base = number * CSV_TILE_BYTES +
		threadIdx.x * CSV_TILE_THREAD_BYTES;
	CsvParityBits bits;
	uint64_t	inside;			/* as if the warp began outside */
	uint64_t	truly_inside;
	uint64_t	separators;
	uint64_t	ends;
	uint64_t	starts;
	uint64_t	own;
	uint64_t	counts;
	uint32_t	odds;
	uint32_t	wrong[2];
	Counts		ahead;			/* of the thread, in the tile */
	TileCounts	tile_counts;
	bool		tile_wrong[2];

	load_tile(tile, view, number);
	bits = find_bits(tile, view, rules, base);
	odds = __ballot_sync(ALL_LANES, (int64_t) bits.inside < 0);
	inside = bits.inside;
	if (__popc(odds & ((1u << lane) - 1)) & 1)
		inside = ~inside;

	own = (uint64_t) (__popcll(bits.separators & ~inside) |
					  __popcll(bits.ends & ~inside) << 12) |
		(uint64_t) (__popcll(bits.separators & inside) |
					__popcll(bits.ends & inside) << 12) << 24 |
		(uint64_t) __popcll(bits.breaks) << 48;
	counts = own;
#pragma unroll
	for (int step = 1; step < 32; step *= 2)
	{
		uint64_t	more = __shfl_up_sync(ALL_LANES, counts, step);

		if (lane >= (uint32_t) step)
			counts += more;
	}
	wrong[0] = __any_sync(ALL_LANES, ((bits.wrong_inside & inside) |
									  (bits.wrong_outside & ~inside)) != 0);
	wrong[1] = __any_sync(ALL_LANES, ((bits.wrong_inside & ~inside) |
									  (bits.wrong_outside & inside)) != 0);
	if (lane == 31)
	{
		tile->counts[warp] = counts;
		tile->odd[warp] = __popc(odds) & 1;
		tile->wrong[0][warp] = wrong[0];
		tile->wrong[1][warp] = wrong[1];
	}
	counts -= own;
	__syncthreads();
	if (warp == 0)
	{
		tile_counts = scan_warps(tile, tile_wrong);
		if (lane == 0)
		{
			tile->nseparators[0] = tile_counts.separators[0];
			tile->nseparators[1] = tile_counts.separators[1];
			if (place_is_known)
				recall_place(tile, view, number);
			else
			{
				report_counts(view, number, tile_counts);
				tile->guess = tile_wrong[0] && !tile_wrong[1];
			}
		}
	}
	__syncthreads();

	/*
	 * Whether the tile begins inside shows mostly in what is well-formed.  So
	 * the separators are staged before the place is known, which takes time.
	 */
	for (uint32_t as = tile->guess;;)
	{
		bool		warp_inside = as != tile->begins[warp];
		uint32_t	mine = (uint32_t) (counts >> (warp_inside ? 24 : 0));

		ahead = tile->ahead[as][warp];
		ahead.separators += mine & 0xfff;
		ahead.ends += mine >> 12 & 0xfff;
		ahead.breaks += (uint32_t) (counts >> 48);
		truly_inside = warp_inside ? ~inside : inside;
		separators = bits.separators & ~truly_inside;
		stage_separators(tile, separators, ahead.separators);
		if (!place_is_known && warp == 0 && as == tile->guess)
			find_place(tile, view, number, tile_counts, tile_wrong,
					   bits.between);
		__syncthreads();
		if (tile->inside == as)
			break;
		if (tile->inside == NO_TILE)
			return;
		as = tile->inside;
	}

	ends = bits.ends & ~truly_inside;
	starts = bits.starts & ~(truly_inside ^ bits.quotes);
	write_separators(tile, view, number);
	write_records(tile, view, bits, starts, ends, separators, base, ahead);
	if (place_is_known)
		return;

	if (starts != 0)
		atomicMax(&tile->last_start, base + 63 - __clzll(starts));
	__syncthreads();

	/* of the input's end: is there a record that does not end? */
	if (threadIdx.x == 0 && tile->last_start != 0)
		atomicMax(&view.counters->last_start, tile->last_start);
	if (number == view.ntiles - 1 && view.limit == view.nbytes &&
		view.nbytes - 1 - base < CSV_TILE_THREAD_BYTES &&
		((bits.breaks & ~truly_inside) >> (view.nbytes - 1 - base) & 1) == 0)
		view.counters->has_tail = 1;
}

static __global__ void
__launch_bounds__(CSV_TILE_THREADS, CSV_PARITY_BLOCKS_PER_SM)
parity_kernel(const __grid_constant__ CsvView view,
			  const __grid_constant__ CsvParityRules rules)
{
	__shared__ Tile tile;

	if (threadIdx.x == 0)
		tile.number = atomicAdd(&view.counters->next_tile, 1);
	__syncthreads();
	if (tile.number < view.ntiles)
		index_tile<false>(&tile, view, rules);
}

static __global__ void
__launch_bounds__(CSV_TILE_THREADS, CSV_PARITY_BLOCKS_PER_SM)
window_kernel(const __grid_constant__ CsvView view,
			  const __grid_constant__ CsvParityRules rules)
{
	__shared__ Tile tile;

	if (threadIdx.x == 0)
		tile.number = view.first_tile + blockIdx.x;
	__syncthreads();
	index_tile<true>(&tile, view, rules);
}

void
csv_launch_parity(const CsvView *view, const CsvParityRules *rules,
				  cudaStream_t stream)
{
	parity_kernel<<<view->ntiles, CSV_TILE_THREADS, 0, stream>>>(*view, *rules);
}

void
csv_launch_parity_window(const CsvView *view, const CsvParityRules *rules,
						 cudaStream_t stream)
{
	window_kernel<<<view->window_tiles, CSV_TILE_THREADS, 0, stream>>>(*view,
																	   *rules);
}
