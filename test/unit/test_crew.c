/*
 * test_crew.c
 *		Parts of a crew's work: each is done, they join and are taken in order, and no
 *		thread is too far ahead.
 */
#include "unit.h"
#include "crew.h"

#define NPARTS	3000

/* every fifth part is done again, and every third part has a finish */
typedef struct Test
{
	CsvCrew		crew;
	uint32_t	most;
	uint32_t	end;			/* the work ends before this part */
	uint32_t	joined;
	atomic_uint nbegun;
	atomic_uint ndone[NPARTS];
	atomic_uint nfinished[NPARTS];
} Test;

static bool
divides(uint32_t divisor, uint32_t part)
{
	return part % divisor == divisor - 1;
}

/* the work does not know how many parts there are */
static bool
may_begin(void *arg)
{
	Test	   *test = arg;

	return atomic_load(&test->nbegun) < NPARTS;
}

static void
begin(void *arg, uint32_t part)
{
	Test	   *test = arg;

	assert_int_equal(atomic_fetch_add(&test->nbegun, 1), part);
	assert_true(test->crew.nbegun - test->crew.ntaken <= test->most);
}

static void
work(void *arg, uint32_t part)
{
	Test	   *test = arg;
	volatile uint32_t sum = 0;

	for (uint32_t i = 0; i < part * 7919 % 4096; i++)
		sum = sum + i;
	atomic_fetch_add(&test->ndone[part], 1);
}

static CsvJoin
join(void *arg, uint32_t part)
{
	Test	   *test = arg;

	if (part == test->end)
		return CSV_JOIN_END;
	if (divides(5, part) && atomic_load(&test->ndone[part]) == 1)
		return CSV_JOIN_AGAIN;
	assert_int_equal(part, test->joined++);
	if (part == NPARTS - 1)
		csv_crew_end(&test->crew);
	return divides(3, part) ? CSV_JOIN_FINISH : CSV_JOIN_DONE;
}

static void
finish(void *arg, uint32_t thread, uint32_t part)
{
	Test	   *test = arg;

	assert_true(thread < test->crew.nthreads);
	atomic_fetch_add(&test->nfinished[part], 1);
}

static void
take_all(Test *test, uint32_t most, uint32_t end)
{
	CsvCrewWork parts = {
		UINT64_MAX, most, may_begin, begin, work, join, finish, test
	};
	uint32_t	part;
	uint32_t	n = 0;

	test->most = most;
	test->end = end;
	test->joined = 0;
	atomic_store(&test->nbegun, 0);
	memset(test->ndone, 0, sizeof(test->ndone));
	memset(test->nfinished, 0, sizeof(test->nfinished));
	csv_crew_start_work(&test->crew, &parts);
	while (csv_crew_next(&test->crew, &part))
	{
		assert_int_equal(part, n++);
		assert_int_equal(atomic_load(&test->ndone[part]), divides(5, part) ? 2 : 1);
		assert_int_equal(atomic_load(&test->nfinished[part]), divides(3, part));
	}
	assert_int_equal(n, end);
}

TEST(test_order)
{
	static Test test;

	for (uint32_t nthreads = 1; nthreads <= 6; nthreads++)
	{
		csv_crew_init(&test.crew, nthreads);
		take_all(&test, 1, NPARTS);
		take_all(&test, 7, NPARTS);
		take_all(&test, 100, NPARTS);
		/* the last: it leaves parts behind */
		take_all(&test, 100, 1234);
		csv_crew_close(&test.crew);
	}
}

/* without an order, and closed in the middle of the work */
TEST(test_run)
{
	static Test test;

	for (uint32_t nthreads = 1; nthreads <= 6; nthreads++)
	{
		csv_crew_init(&test.crew, nthreads);
		for (uint32_t nparts = 0; nparts < 700; nparts += 33)
		{
			memset(test.ndone, 0, sizeof(test.ndone));
			if (nparts % 2 == 0)
				csv_crew_run(&test.crew, nparts, work, &test);
			else
			{
				csv_crew_start(&test.crew, nparts, work, &test);
				csv_crew_finish(&test.crew);
				csv_crew_finish(&test.crew);
			}
			for (uint32_t i = 0; i < NPARTS; i++)
				assert_int_equal(atomic_load(&test.ndone[i]), i < nparts);
		}
		csv_crew_start(&test.crew, NPARTS, work, &test);
		csv_crew_close(&test.crew);
		csv_crew_run(&test.crew, 100, work, &test);
		csv_crew_close(&test.crew);
	}
}
