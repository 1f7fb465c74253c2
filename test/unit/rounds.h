/*
 * rounds.h
 *		For the unit tests: random numbers, and rounds of a test that each begin
 *		with a seed.
 */
#ifndef CSV_TEST_ROUNDS_H
#define CSV_TEST_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* any but 0 */
extern uint64_t random_state;

extern uint64_t next_random(void);
extern uint32_t random_below(uint32_t n);
extern bool one_in(uint32_t n);

/* one thing in these bytes is not as it was any more: a bit, or a number */
extern void damage(uint8_t *bytes, size_t nbytes);

/*
 * EFFORT says how many times the usual number of rounds, SEED which is the first's seed.
 * Where a round fails, say_failing_seed() says its seed when the test ends.
 */
extern uint64_t first_seed(void);
extern uint32_t rounds(uint32_t usual);
extern void start_seed(uint64_t seed);
extern void end_seeds(void);
extern int	say_failing_seed(void **state);

#endif							/* CSV_TEST_ROUNDS_H */
