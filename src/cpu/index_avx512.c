/*
 * index_avx512.c
 *		The index with AVX-512 (the parts that Ice Lake and Zen 4 have) and
 *		carry-less multiplication.
 */
#include "index.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "target.h"

CSV_TARGET_BEGIN(CSV_TARGET_AVX512)

typedef __m512i CsvIndexBlock;

static inline CsvIndexBlock
block_load(const uint8_t *p)
{
	return _mm512_loadu_si512(p);
}

static inline uint64_t
block_equal(CsvIndexBlock block, uint8_t byte)
{
	return _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8((char) byte));
}

static inline bool
block_unplain(CsvIndexBlock block)
{
	/* as signed bytes, only 1 to 127 are above zero */
	return _mm512_cmple_epi8_mask(block, _mm512_setzero_si512()) != 0;
}

/* compress the numbers of the bits that are set, then widen sixteen at a time */
static inline void
word_positions(uint64_t word, uint32_t base, uint32_t *positions)
{
	static const uint8_t numbers[64] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
		32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
		48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63
	};
	__m512i		set = _mm512_maskz_compress_epi8(word,
												 _mm512_loadu_si512(numbers));
	__m512i		bases = _mm512_set1_epi32((int) base);

	for (uint32_t done = 0, count = csv_popcount(word); done < count; done += 16)
	{
		__m512i		wide = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(set));

		_mm512_storeu_si512(positions + done, _mm512_add_epi32(wide, bases));
		set = _mm512_alignr_epi32(set, set, 4);
	}
}

#define prefix_xor csv_prefix_xor_pclmul
#define CSV_INDEX_FUNCTIONS csv_index_avx512
#include "index_loop.h"

CSV_TARGET_END

bool
csv_index_has_avx512(void)
{
	return __builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512vl") &&
		__builtin_cpu_supports("avx512vbmi2") && csv_index_has_avx2();
}

#else

const CsvIndexFunctions csv_index_avx512;

bool
csv_index_has_avx512(void)
{
	return false;
}

#endif
