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

/* more often in the first bytes, which are a header mostly */
void
damage(uint8_t *bytes, size_t nbytes)
{
	static const uint64_t numbers[] = {
		0, 1, 2, 3, 7, 8, 63, 64, 255, 65536, INT32_MAX, UINT32_MAX - 1, UINT32_MAX,
		UINT64_C(1) << 32, INT64_MAX, UINT64_MAX - 63, UINT64_MAX - 7, UINT64_MAX
	};
	size_t		width = (size_t) 1 << random_below(4);
	size_t		nplaces = (one_in(3) && nbytes > 64 ? 64 : nbytes) / width;
	uint64_t	number = 0;
	uint8_t    *place;

	if (nplaces == 0)
		return;
	place = bytes + random_below((uint32_t) nplaces) * width;
	memcpy(&number, place, width);
	switch (random_below(6))
	{
		case 0:
			number = numbers[random_below(LENGTH(numbers))];
			break;
		case 1:
			number = nbytes - random_below(200);
			break;
		case 2:
			number += one_in(2) ? 1 : UINT64_MAX;
			break;
		case 3:
			number ^= UINT64_C(1) << random_below(8 * (uint32_t) width);
			break;
		case 4:
			number += random_below(200);
			break;
		default:
			number -= random_below(200);
			break;
	}
	memcpy(place, &number, width);
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
