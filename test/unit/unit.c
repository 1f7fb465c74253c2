/*
 * unit.c
 *		The tests of a program, and main(), which runs them: see unit.h.
 */
#include "unit.h"
#include "rounds.h"

#define MOST_TESTS	60

static struct CMUnitTest tests[MOST_TESTS];
static size_t ntests;

static int
end_test(void **state)
{
	(void) say_failing_seed(state);
	return after_each != NULL ? after_each(state) : 0;
}

/* called before main() */
void
add_unit_test(const char *name, CMUnitTestFunction test)
{
	if (ntests == MOST_TESTS)
		abort();
	tests[ntests++] = (struct CMUnitTest) {
		name, test, before_each, end_test, NULL
	};
}

int
main(void)
{
	return cmocka_run_group_tests(tests, before_all, after_all);
}
