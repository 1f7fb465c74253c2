/*
 * target.h
 *		Functions for 64-bit x86 processors with certain instructions: such functions
 *		must be between CSV_TARGET_BEGIN(instructions) and CSV_TARGET_END.
 */
#ifndef CSV_TARGET_H
#define CSV_TARGET_H

#include <immintrin.h>
#include <stdint.h>

#define CSV_TARGET_AVX2		"avx2,popcnt,bmi,bmi2,pclmul"
#define CSV_TARGET_AVX512 \
	"avx512f,avx512bw,avx512vl,avx512vbmi2,avx2,popcnt,bmi,bmi2,pclmul"

#define CSV_PRAGMA(text)	_Pragma(#text)
#ifdef __clang__
#define CSV_TARGET_BEGIN(instructions) \
	CSV_PRAGMA(clang attribute push(__attribute__((target(instructions))), \
			   apply_to = function))
#define CSV_TARGET_END		CSV_PRAGMA(clang attribute pop)
#else
#define CSV_TARGET_BEGIN(instructions) \
	CSV_PRAGMA(GCC push_options) CSV_PRAGMA(GCC target(instructions))
#define CSV_TARGET_END		CSV_PRAGMA(GCC pop_options)
#endif

/* for each byte, the numbers of the bits that are set, as bytes, the lowest first */
extern const uint64_t csv_bit_numbers[256];

CSV_TARGET_BEGIN(CSV_TARGET_AVX2)

/*
 * Bit i of the result is the exclusive-or of bits 0 to i: a multiplication without
 * carries by all ones adds up all lower bits.
 */
static inline uint64_t
csv_prefix_xor_pclmul(uint64_t word)
{
	__m128i		product = _mm_clmulepi64_si128(
											   _mm_set_epi64x(0, (long long) word),
											   _mm_set1_epi8((char) 0xFF), 0);

	return (uint64_t) _mm_cvtsi128_si64(product);
}

/* a bit for each of 64 bytes, which must all be 0 or 0xff */
static inline uint64_t
csv_mask_of_bytes(__m256i low, __m256i high)
{
	return (uint64_t) (uint32_t) _mm256_movemask_epi8(high) << 32 |
		(uint32_t) _mm256_movemask_epi8(low);
}

CSV_TARGET_END

#endif							/* CSV_TARGET_H */
