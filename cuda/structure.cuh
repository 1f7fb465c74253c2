/*
 * structure.cuh
 *		Parts of the structure kernels for a block or a thread.
 *
 * The dialect's table as functions.  A byte maps each state to the next state.  So
 * does a stretch of bytes: its map is the composition of its bytes' maps.  A map is a
 * word of nibbles; nibble s is the state to which state s leads.  Most dialects have
 * eight states and narrow maps; the others have sixteen states and wide maps.
 * Composition is associative, so that a scan finds the maps of all prefixes (Ladner
 * and Fischer, "Parallel prefix computation", JACM 27, 1980; for parsing CSV on GPUs
 * Stehle and Jacobsen, "ParPaRaw", VLDB 13, 2020).  __byte_perm looks up four nibbles
 * at once.
 */
#ifndef CSV_CUDA_STRUCTURE_CUH
#define CSV_CUDA_STRUCTURE_CUH

#include "parse.cuh"

static_assert(CSV_NUM_NARROW_STATES == 8 && CSV_NUM_STATES == 16,
			  "states are nibbles of words");

/* of a map: its identity, and the next states of a class, a byte each */
template <typename Map> struct CsvMapTraits;

template <> struct CsvMapTraits<CsvNarrowMap>
{
	static const CsvNarrowMap identity = 0x76543210u;
	static const int nstates = CSV_NUM_NARROW_STATES;
	typedef uint2 Bytes;

	static __device__ __forceinline__ Bytes
	load(const uint32_t *words)
	{
		return make_uint2(words[0], words[1]);
	}
};

template <> struct CsvMapTraits<CsvWideMap>
{
	static const CsvWideMap identity = 0xfedcba9876543210ull;
	static const int nstates = CSV_NUM_STATES;
	typedef uint4 Bytes;

	static __device__ __forceinline__ Bytes
	load(const uint32_t *words)
	{
		return make_uint4(words[0], words[1], words[2], words[3]);
	}
};

/* pack eight bytes, each below 16, into eight nibbles */
static __device__ __forceinline__ uint32_t
csv_pack_map(uint32_t low, uint32_t high)
{
	low |= low >> 4;
	high |= high >> 4;
	return __byte_perm(low, high, 0x6420);
}

/* spread four nibbles to four bytes */
static __device__ __forceinline__ uint32_t
csv_spread_nibbles(uint32_t nibbles)
{
	nibbles = (nibbles | nibbles << 8) & 0x00ff00ff;
	return (nibbles | nibbles << 4) & 0x0f0f0f0f;
}

/* first `map`, then the map whose values are these bytes */
static __device__ __forceinline__ CsvNarrowMap
csv_extend_map(CsvNarrowMap map, uint2 bytes)
{
	return csv_pack_map(__byte_perm(bytes.x, bytes.y, map & 0xffff),
						__byte_perm(bytes.x, bytes.y, map >> 16));
}

/*
 * The bytes, of sixteen, that four nibbles pick.  Three bits of a nibble pick among
 * eight bytes, and the fourth bit picks the eight.
 */
static __device__ __forceinline__ uint32_t
csv_pick_bytes(uint4 bytes, uint32_t nibbles)
{
	uint32_t	low = __byte_perm(bytes.x, bytes.y, nibbles & 0x7777);
	uint32_t	high = __byte_perm(bytes.z, bytes.w, nibbles & 0x7777);
	uint32_t	is_high = (csv_spread_nibbles(nibbles) >> 3 & 0x01010101) * 0xff;

	return (low & ~is_high) | (high & is_high);
}

static __device__ __forceinline__ CsvWideMap
csv_extend_map(CsvWideMap map, uint4 bytes)
{
	uint32_t	low = (uint32_t) map;
	uint32_t	high = (uint32_t) (map >> 32);

	low = csv_pack_map(csv_pick_bytes(bytes, low & 0xffff),
					   csv_pick_bytes(bytes, low >> 16));
	high = csv_pack_map(csv_pick_bytes(bytes, high & 0xffff),
						csv_pick_bytes(bytes, high >> 16));
	return low | (CsvWideMap) high << 32;
}

static __device__ __forceinline__ uint2
csv_map_bytes(CsvNarrowMap map)
{
	return make_uint2(csv_spread_nibbles(map & 0xffff), csv_spread_nibbles(map >> 16));
}

static __device__ __forceinline__ uint4
csv_map_bytes(CsvWideMap map)
{
	uint2		low = csv_map_bytes((CsvNarrowMap) map);
	uint2		high = csv_map_bytes((CsvNarrowMap) (map >> 32));

	return make_uint4(low.x, low.y, high.x, high.y);
}

/* first a, then b: associative, not commutative */
struct CsvComposeMaps
{
	template <typename Map>
	__device__ __forceinline__ Map
	operator() (Map a, Map b) const
	{
		return csv_extend_map(a, csv_map_bytes(b));
	}
};

template <typename Map>
static __device__ __forceinline__ uint32_t
csv_apply_map(Map map, uint32_t state)
{
	return (uint32_t) (map >> (4 * state)) & (CsvMapTraits<Map>::nstates - 1);
}

/* ---- the bytes of a tile ---- */

template <typename Map>
struct CsvTile
{
	/*
	 * 16-byte units.  Thread t has units 4t to 4t + 3, rotated among themselves, so
	 * that eight threads reading their j-th units touch all banks.
	 */
	uint4		units[CSV_TILE_BYTES / 16];
	uint8_t		class_of[256];
	typename CsvMapTraits<Map>::Bytes transitions[CSV_NUM_CLASSES];
	uint8_t		entries[CsvMapTraits<Map>::nstates * CSV_NUM_CLASSES];
};

static __device__ __forceinline__ uint32_t
csv_tile_unit(uint32_t thread, uint32_t j)
{
	return thread * 4 + (j ^ (thread >> 1 & 3));
}

/* load a tile and the tables, coalesced; ends with a barrier */
template <typename Map>
static __device__ __forceinline__ void
csv_load_tile(CsvTile<Map> *tile, const CsvView &view, uint32_t number,
			  const CsvStructureTables &tables)
{
	const uint4 *from = (const uint4 *) (view.bytes +
										 (size_t) number * CSV_TILE_BYTES);

	for (int i = 0; i < 4; i++)
	{
		uint32_t	unit = i * CSV_TILE_THREADS + threadIdx.x;

		tile->units[csv_tile_unit(unit / 4, unit % 4)] = from[unit];
	}
	tile->class_of[threadIdx.x] = tables.class_of[threadIdx.x];
	if (threadIdx.x < CsvMapTraits<Map>::nstates * CSV_NUM_CLASSES)
		tile->entries[threadIdx.x] = tables.entries[threadIdx.x];
	if (threadIdx.x < CSV_NUM_CLASSES)
		tile->transitions[threadIdx.x] =
			CsvMapTraits<Map>::load(tables.transitions[threadIdx.x]);
	__syncthreads();
}

/*
 * Call visit(i, class) for the thread's bytes, i from 0 to 63.  `edge`: the input ends
 * in this tile.  The loop is unrolled completely, so that i is a constant in visit.
 */
template <bool edge, typename Map, typename Visit>
static __device__ __forceinline__ void
csv_visit_classes(const CsvTile<Map> *tile, const CsvView &view, uint32_t number,
				  Visit visit)
{
	uint32_t	base = number * CSV_TILE_BYTES +
		threadIdx.x * CSV_TILE_THREAD_BYTES;
	uint32_t	before = view.bytes[(int64_t) base - 1];
	uint32_t	after = view.bytes[(size_t) base + CSV_TILE_THREAD_BYTES];
	uint32_t	words[CSV_TILE_THREAD_BYTES / 4];

#pragma unroll
	for (int j = 0; j < 4; j++)
	{
		uint4		unit = tile->units[csv_tile_unit(threadIdx.x, j)];

		words[4 * j] = unit.x;
		words[4 * j + 1] = unit.y;
		words[4 * j + 2] = unit.z;
		words[4 * j + 3] = unit.w;
	}

#pragma unroll
	for (int i = 0; i < CSV_TILE_THREAD_BYTES; i++)
	{
		uint32_t	byte = words[i / 4] >> (8 * (i % 4)) & 0xff;
		uint32_t	class_ = tile->class_of[byte];

		if (edge && base + i >= view.limit)
			continue;
		if (class_ >= CSV_CLASS_LF_AFTER_CR)
		{
			if (class_ == CSV_CLASS_LF_AFTER_CR)
			{
				uint32_t	previous = i == 0 ? before :
					words[(i - 1) / 4] >> (8 * ((i + 3) % 4)) & 0xff;

				class_ = previous == '\r' ? CSV_CLASS_BREAK : CSV_CLASS_OTHER;
			}
			else if (class_ == CSV_CLASS_CR_BEFORE_LF)
			{
				uint32_t	next = i == CSV_TILE_THREAD_BYTES - 1 ? after :
					words[(i + 1) / 4 % (CSV_TILE_THREAD_BYTES / 4)] >>
					(8 * ((i + 1) % 4)) & 0xff;

				class_ = next == '\n' ? CSV_CLASS_PRE_BREAK :
					next == '\r' ? CSV_CLASS_MAYBE_LONG : CSV_CLASS_OTHER;
			}
			if (class_ == CSV_CLASS_MAYBE_LONG)
				class_ = csv_class_at(&view.dialect, view.bytes, base + i,
									  view.nbytes);
		}
		if (edge && base + i == view.nbytes)
			class_ = CSV_CLASS_END_OF_INPUT;
		visit(i, class_);
	}
}

/* does the input end in this tile? */
static __device__ __forceinline__ bool
csv_tile_is_edge(const CsvView &view, uint32_t number)
{
	return (uint64_t) (number + 1) * CSV_TILE_BYTES > view.nbytes;
}

/* ---- masks ---- */

static __device__ __forceinline__ uint64_t *
csv_mask_word(const CsvView &view, CsvMask mask, uint32_t word)
{
	return view.masks + (size_t) mask * view.ntiles * CSV_TILE_THREADS + word;
}

static __device__ __forceinline__ bool
csv_mask_bit(const CsvView &view, CsvMask mask, uint32_t position)
{
	return *csv_mask_word(view, mask, position / 64) >> (position % 64) & 1;
}

/*
 * Four counts of a tile, 16 bits each: separators, ends, starts, breaks.  None exceeds
 * a tile's bytes, 2^14.
 */
static __device__ __forceinline__ uint64_t
csv_pack_counts(uint64_t fields, uint64_t ends, uint64_t starts,
				uint64_t breaks)
{
	return (uint64_t) __popcll(fields | ends) | (uint64_t) __popcll(ends) << 16 |
		(uint64_t) __popcll(starts) << 32 | (uint64_t) __popcll(breaks) << 48;
}

#endif							/* CSV_CUDA_STRUCTURE_CUH */
