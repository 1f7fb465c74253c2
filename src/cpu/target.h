/*
 * target.h
 *		Functions for processors that have certain instructions, between
 *		CSV_TARGET_BEGIN(those instructions) and CSV_TARGET_END.
 */
#ifndef CSV_TARGET_H
#define CSV_TARGET_H

#define CSV_TARGET_AVX2		"avx2,popcnt,bmi,bmi2,lzcnt,pclmul"
#define CSV_TARGET_AVX512 \
	"avx512f,avx512bw,avx512vl,avx512vbmi2,avx2,popcnt,bmi,bmi2,lzcnt,pclmul"

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

#endif							/* CSV_TARGET_H */
