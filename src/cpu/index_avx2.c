/*
 * index_avx2.c
 *		The index with AVX2, POPCNT and carry-less multiplication.
 */
#include "index.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "target.h"

CSV_TARGET_BEGIN(CSV_TARGET_AVX2)

typedef struct CsvIndexBlock
{
	__m256i		low;
	__m256i		high;
} CsvIndexBlock;

static inline CsvIndexBlock
block_load(const uint8_t *p)
{
	CsvIndexBlock	block;

	block.low = _mm256_loadu_si256((const __m256i *) p);
	block.high = _mm256_loadu_si256((const __m256i *) (p + 32));
	return block;
}

static inline uint64_t
block_equal(CsvIndexBlock block, uint8_t byte)
{
	__m256i		pattern = _mm256_set1_epi8((char) byte);

	return csv_mask_of_bytes(_mm256_cmpeq_epi8(block.low, pattern),
							 _mm256_cmpeq_epi8(block.high, pattern));
}

static inline bool
block_unplain(CsvIndexBlock block)
{
	/* as signed bytes, only 1 to 127 are above zero */
	__m256i		least = _mm256_min_epi8(block.low, block.high);

	return _mm256_movemask_epi8(_mm256_cmpgt_epi8(least,
												  _mm256_setzero_si256())) != -1;
}

#define NUMBER(b, i) \
	((uint64_t) ((b) >> (i) & 1) * (i) << \
	 8 * __builtin_popcount((b) & ((1 << (i)) - 1)))
#define NUMBERS(b) \
	NUMBER(b, 1) | NUMBER(b, 2) | NUMBER(b, 3) | NUMBER(b, 4) | \
	NUMBER(b, 5) | NUMBER(b, 6) | NUMBER(b, 7)
#define NUMBERS_4(b) \
	NUMBERS(b), NUMBERS((b) + 1), NUMBERS((b) + 2), NUMBERS((b) + 3)
#define NUMBERS_16(b) \
	NUMBERS_4(b), NUMBERS_4((b) + 4), NUMBERS_4((b) + 8), NUMBERS_4((b) + 12)
#define NUMBERS_64(b) \
	NUMBERS_16(b), NUMBERS_16((b) + 16), NUMBERS_16((b) + 32), \
	NUMBERS_16((b) + 48)

const uint64_t csv_bit_numbers[256] = {
	NUMBERS_64(0), NUMBERS_64(64), NUMBERS_64(128), NUMBERS_64(192)
};

/* eight bits at a time, so that no branch depends on the number of bits set */
static inline void
word_positions(uint64_t word, uint32_t base, uint32_t *positions)
{
	__m256i		bases = _mm256_set1_epi32((int) base);

	for (uint32_t done = 0; done < CSV_WORD_BITS; done += 8)
	{
		uint64_t	byte = word >> done & 0xFF;
		__m128i		numbers = _mm_loadl_epi64((const __m128i *) &csv_bit_numbers[byte]);

		_mm256_storeu_si256((__m256i *) positions,
							_mm256_add_epi32(_mm256_cvtepu8_epi32(numbers),
											 bases));
		bases = _mm256_add_epi32(bases, _mm256_set1_epi32(8));
		positions += csv_popcount(byte);
	}
}

#define prefix_xor csv_prefix_xor_pclmul
#define CSV_INDEX_FUNCTIONS csv_index_avx2
#include "index_loop.h"

CSV_TARGET_END

bool
csv_index_has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") &&
		__builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
		__builtin_cpu_supports("pclmul");
}

#else

const CsvIndexFunctions csv_index_avx2;

bool
csv_index_has_avx2(void)
{
	return false;
}

#endif
