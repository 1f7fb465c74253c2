/*
 * random.h
 *		Numbers that are as if drawn, and the same everywhere.
 */
#ifndef CSV_BENCH_RANDOM_H
#define CSV_BENCH_RANDOM_H

#include <stdint.h>

static uint64_t random_state;

static inline void
seed_random(uint64_t seed)
{
	random_state = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
}

/* xorshift64*: fast, and the same everywhere */
static inline uint32_t
next_random(uint32_t below)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (uint32_t) (((random_state * UINT64_C(0x2545F4914F6CDD1D)) >> 32) *
					   (uint64_t) below >> 32);
}

#endif							/* CSV_BENCH_RANDOM_H */
