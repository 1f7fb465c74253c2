/*
 * rounds.c
 *		Random numbers, and rounds of them: see rounds.h.
 */
#include "unit.h"
#include "rounds.h"

/* gcc's way to say it, and clang's */
#if defined(__has_feature)
#define CSV_IS_SANITIZED	__has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define CSV_IS_SANITIZED	1
#else
#define CSV_IS_SANITIZED	0
#endif

uint64_t	random_state = 1;

static uint64_t failing_seed;

uint64_t
next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * UINT64_C(0x2545F4914F6CDD1D);
}

uint32_t
random_below(uint32_t n)
{
	return (uint32_t) ((next_random() >> 32) * n >> 32);
}

bool
one_in(uint32_t n)
{
	return random_below(n) == 0;
}

void
start_seed(uint64_t seed)
{
	failing_seed = seed;
	random_state = seed * UINT64_C(0x9E3779B97F4A7C15);
}

void
end_seeds(void)
{
	failing_seed = 0;
}

int
say_failing_seed(void **state)
{
	(void) state;
	if (failing_seed != 0)
		print_message("at random from seed %llu\n",
					  (unsigned long long) failing_seed);
	return 0;
}

uint64_t
first_seed(void)
{
	const char *text = getenv("SEED");

	return text != NULL ? strtoull(text, NULL, 10) : 1;
}

uint32_t
rounds(uint32_t usual)
{
	const char *text = getenv("EFFORT");
	double		effort = text != NULL ? strtod(text, NULL) : 1;

	/* a tenth shows as much to sanitizers: fuzzers have them, too */
	if (CSV_IS_SANITIZED)
		effort /= 10;
	return (uint32_t) (usual * effort) + (usual * effort < 1);
}
