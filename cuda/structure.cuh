/*
 * structure.cuh
 *		Pieces of the structure kernels that a block or a thread does.
 *
 * The dialect's table as functions.  A byte maps each of the eight states to
 * the next; so does a stretch of bytes, whose map is the composition of its
 * bytes' maps.  A map is a word of eight nibbles, nibble s the state that state
 * s leads to.  Composition is associative, and so the maps of all prefixes come
 * from a scan (Ladner and Fischer, "Parallel prefix computation", JACM 27,
 * 1980; for parsing CSV on GPUs Stehle and Jacobsen, "ParPaRaw", VLDB 13,
 * 2020).  __byte_perm looks up four nibbles at once.
 */
#ifndef CSV_CUDA_STRUCTURE_CUH
#define CSV_CUDA_STRUCTURE_CUH

#include "parse.cuh"

#define CSV_MAP_IDENTITY	0x76543210u

/* eight bytes, each below 8, to eight nibbles */
static __device__ __forceinline__ uint32_t
csv_pack_map(uint32_t low, uint32_t high)
{
	low |= low >> 4;
	high |= high >> 4;
	return __byte_perm(low, high, 0x6420);
}

/* first `map`, then the map whose values are the bytes of (low, high) */
static __device__ __forceinline__ uint32_t
csv_extend_map(uint32_t map, uint32_t low, uint32_t high)
{
	return csv_pack_map(__byte_perm(low, high, map & 0xffff),
						__byte_perm(low, high, map >> 16));
}

static __device__ __forceinline__ uint32_t
csv_spread_nibbles(uint32_t nibbles)
{
	nibbles = (nibbles | nibbles << 8) & 0x00ff00ff;
	return (nibbles | nibbles << 4) & 0x0f0f0f0f;
}

/* first a, then b: associative, not commutative */
struct CsvComposeMaps
{
	__device__ __forceinline__ uint32_t
	operator() (uint32_t a, uint32_t b) const
	{
		return csv_extend_map(a, csv_spread_nibbles(b & 0xffff),
							  csv_spread_nibbles(b >> 16));
	}
};

static __device__ __forceinline__ uint32_t
csv_apply_map(uint32_t map, uint32_t state)
{
	return map >> (4 * state) & 7;
}

/* ---- the bytes of a tile ---- */

struct CsvTile
{
	/*
	 * 16-byte units; thread t's are 4t to 4t + 3, rotated among themselves so
	 * that eight threads reading their j-th unit touch all banks.
	 */
	uint4		units[CSV_TILE_BYTES / 16];
	uint8_t		class_of[256];
	uint2		transitions[CSV_NUM_CLASSES];
	uint8_t		entries[CSV_NUM_STATES * CSV_NUM_CLASSES];
};

static __device__ __forceinline__ uint32_t
csv_tile_unit(uint32_t thread, uint32_t j)
{
	return thread * 4 + (j ^ (thread >> 1 & 3));
}

/* load a tile and the tables, coalesced; ends with a barrier */
static __device__ __forceinline__ void
csv_load_tile(CsvTile *tile, const CsvView &view, uint32_t number,
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
	if (threadIdx.x < CSV_NUM_STATES * CSV_NUM_CLASSES)
		tile->entries[threadIdx.x] = tables.entries[threadIdx.x];
	if (threadIdx.x < CSV_NUM_CLASSES)
		tile->transitions[threadIdx.x] =
			make_uint2(tables.transitions[threadIdx.x][0],
					   tables.transitions[threadIdx.x][1]);
	__syncthreads();
}

/*
 * Call visit(i, class) for the thread's bytes, i from 0 to 63.  `edge`: the
 * input ends in this tile.  The loop is unrolled whole: i is a constant to
 * whatever visit does with it.
 */
template <bool edge, typename Visit>
static __device__ __forceinline__ void
csv_visit_classes(const CsvTile *tile, const CsvView &view, uint32_t number,
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
			else if (class_ == CSV_CLASS_MAYBE_COMMENT)
				class_ = csv_comment_at(&view.dialect.opt, view.bytes, base + i,
										view.nbytes) ?
					CSV_CLASS_COMMENT : CSV_CLASS_OTHER;
			else
			{
				uint32_t	next = i == CSV_TILE_THREAD_BYTES - 1 ? after :
					words[(i + 1) / 4 % (CSV_TILE_THREAD_BYTES / 4)] >>
					(8 * ((i + 1) % 4)) & 0xff;

				class_ = next == '\n' ? CSV_CLASS_PRE_BREAK : CSV_CLASS_OTHER;
			}
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
 * Four counts of a tile, 16 bits each: separators, ends, starts, breaks.  None
 * exceeds the bytes of a tile, 2^14.
 */
static __device__ __forceinline__ uint64_t
csv_pack_counts(uint64_t fields, uint64_t ends, uint64_t starts,
				uint64_t breaks)
{
	return (uint64_t) __popcll(fields | ends) | (uint64_t) __popcll(ends) << 16 |
		(uint64_t) __popcll(starts) << 32 | (uint64_t) __popcll(breaks) << 48;
}

#endif							/* CSV_CUDA_STRUCTURE_CUH */
