/*
 * test_team.c
 *		Random queries over random batches in several threads, against one
 *		evaluator.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../src/query/team.h"
#include "compare_query.h"
#include "reading.h"
#include "rounds.h"

#define MOST_BATCHES	12

/* what the threads share */
typedef struct Work
{
	CsvTeam    *team;
	const CsvLayout *layout;
	const CsvBatch *batches;
	uint32_t	nbatches;
	const CsvAnswer *answers[MOST_BATCHES];
	atomic_uint next;
	atomic_uint nrunning;
} Work;

static void *
take_batches(void *arg)
{
	Work	   *work = arg;
	uint32_t	member = atomic_fetch_add(&work->nrunning, 1);
	uint32_t	i;

	while ((i = atomic_fetch_add(&work->next, 1)) < work->nbatches)
		work->answers[i] = csv_team_run(work->team, member, i, work->layout,
										&work->batches[i], NULL, NULL);
	return NULL;
}

/* the first batch is the caller's; answers are taken in order */
static void
run_team(CsvTeam *team, CsvEvaluator *leader, Fixture *fixtures,
		 uint32_t nbatches, uint32_t nthreads)
{
	pthread_t	threads[8];
	CsvBatch	batches[MOST_BATCHES];
	Work		work = {team, &fixtures[0].layout, batches, nbatches - 1,
	{NULL}, 0, 0};

	for (uint32_t i = 1; i < nbatches; i++)
		batches[i - 1] = fixtures[i].batch;
	(void) run_certain(leader, &fixtures[0].layout, &fixtures[0].batch);
	for (uint32_t i = 0; i < nthreads; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_batches,
										&work), 0);
	for (uint32_t i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t i = 0; i + 1 < nbatches; i++)
	{
		if (work.answers[i] == NULL)
		{
			(void) run_certain(leader, &fixtures[0].layout, &batches[i]);
			continue;
		}
		assert_int_equal(work.answers[i]->status, CSV_OK);
		if (work.answers[i]->given != NULL)
			assert_int_equal(csv_team_absorb(team, leader, work.answers[i]),
							 CSV_OK);
	}
}

/* what the team has kept, merged as the backend does where it has spilled */
static void
take_held(CsvTeam *team, CsvEvaluator *leader)
{
	CsvPartialGroups groups;

	do
	{
		assert_int_equal(csv_team_groups(team, &groups), CSV_OK);
		assert_int_equal(csv_evaluator_merge(leader, &groups), CSV_OK);
	} while (groups.ngroups > 0);
}

/* does it show which of two equal values came first? */
static bool
order_shows(const CsvQuery *query)
{
	for (uint32_t i = 0; i < query->nkeys; i++)
		if (query->keys[i].lane == CSV_LANE_FLOAT)
			return true;
	return false;
}

static void
many_threads_find_what_one_finds(void **state)
{
	static Fixture fixtures[MOST_BATCHES];
	static Program program;
	const uint32_t nrounds = rounds(400);
	uint64_t	seed = first_seed();
	uint32_t	nqueries = 0;

	(void) state;
	for (uint32_t round = 0; round < nrounds; round++, seed++)
	{
		CsvQuery   *query = &program.query;
		CsvEvaluator *expected;
		CsvEvaluator *leader;
		CsvTeam    *team;
		uint32_t	nthreads;
		uint32_t	nbatches;
		uint32_t	how;

		start_seed(seed);
		nthreads = 1 + random_below(8);
		nbatches = 2 + random_below(MOST_BATCHES - 1);
		how = random_below(3);

		memset(&fixtures[0], 0, sizeof(Fixture));
		random_columns(&fixtures[0]);
		random_program(&program, &fixtures[0]);
		if (!query->aggregates || order_shows(query))
			continue;
		nqueries++;
		expected = evaluator_of(query);
		leader = evaluator_of(query);
		for (uint32_t i = 1; i < nbatches; i++)
			fixtures[i] = fixtures[0];
		for (uint32_t i = 0; i < nbatches; i++)
		{
			make_batch(&fixtures[i], 1 + random_below(2000));
			for (uint32_t c = 0; c < fixtures[i].layout.ncolumns; c++)
				fixtures[i].arrays[c].any_slow = true;
		}
		for (uint32_t i = 0; i < nbatches; i++)
			(void) run_certain(expected, &fixtures[i].layout,
							   &fixtures[i].batch);
		team = csv_team_create(&csv_thread_memory, leader, nthreads);
		assert_non_null(team);
		csv_team_limit(team, one_in(3) ? 2000 + random_below(100000) : 0);
		run_team(team, leader, fixtures, nbatches, nthreads);
		assert_int_equal(csv_team_finish(team, leader, (CsvGather) how, NULL,
										 NULL, NULL), CSV_OK);
		take_held(team, leader);
		expect_set(query, leader, expected, false);
		csv_team_free(team);
		csv_evaluator_free(leader);
		csv_evaluator_free(expected);
		for (uint32_t i = 0; i < nbatches; i++)
			free_batch(&fixtures[i]);
	}
	end_seeds();
	assert_true(nqueries > nrounds / 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_threads_find_what_one_finds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
