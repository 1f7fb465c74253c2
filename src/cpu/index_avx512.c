/*
 * index_avx512.c
 *		The index with AVX-512 (F and BW) and carry-less multiplication.
 */
#include "index.h"

#if defined(__x86_64__)

#ifdef __clang__
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx2,popcnt,bmi,bmi2,lzcnt,pclmul"))), \
							 apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx2,popcnt,bmi,bmi2,lzcnt,pclmul")
#include <immintrin.h>
#endif

typedef __m512i CsvBlock;

static inline CsvBlock
block_load(const uint8_t *p)
{
	return _mm512_loadu_si512(p);
}

static inline uint64_t
block_equal(CsvBlock block, uint8_t byte)
{
	return _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8((char) byte));
}

static inline bool
block_unplain(CsvBlock block)
{
	/* as signed bytes, only 1 to 127 are above zero */
	return _mm512_cmple_epi8_mask(block, _mm512_setzero_si512()) != 0;
}

/* multiplying by all ones without carries adds up all lower bits */
static inline uint64_t
prefix_xor(uint64_t word)
{
	__m128i		product = _mm_clmulepi64_si128(
											   _mm_set_epi64x(0, (long long) word),
											   _mm_set1_epi8((char) 0xFF), 0);

	return (uint64_t) _mm_cvtsi128_si64(product);
}

#define CSV_INDEX_FUNCTIONS csv_index_avx512
#include "index_loop.h"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

bool
csv_index_has_avx512(void)
{
	return __builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi") &&
		__builtin_cpu_supports("bmi2") && __builtin_cpu_supports("pclmul");
}

#else

const CsvIndexFunctions csv_index_avx512;

bool
csv_index_has_avx512(void)
{
	return false;
}

#endif
