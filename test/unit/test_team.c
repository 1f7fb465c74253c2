/*
 * test_team.c
 *		Random queries over random batches in several threads, in memory and on disk,
 *		against one evaluator.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "unit.h"
#include "../../src/query/evaluator.h"
#include "../../src/query/groups.h"
#include "../../src/query/operate.h"
#include "../../src/query/regroup.h"
#include "../../src/query/spilled.h"
#include "../../src/query/team.h"
#include "compare_query.h"
#include "one_group.h"
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
	}
}

/* ---- groups on disk ---- */

/* an empty file, without a name */
static int
make_file(void)
{
	FILE	   *file = tmpfile();
	int			fd;

	assert_non_null(file);
	fd = dup(fileno(file));
	fclose(file);
	assert_true(fd >= 0);
	return fd;
}

/* a CsvMakeRoomFn, as the session's */
static bool
make_room(void *arg, CsvGroups *groups)
{
	CsvSpill   *spill = arg;

	if (atomic_load(&spill->fd) < 0)
		csv_spill_open(spill, make_file(), UINT64_MAX);
	return csv_spill_write(spill, &spill->groups, &spill->values, groups);
}

static void
end_spill(CsvSpill *spill)
{
	if (atomic_load(&spill->fd) >= 0)
		close(atomic_load(&spill->fd));
	csv_spill_free(spill);
}

/* groups that went to the file, merged in memory again; frees the evaluator */
static CsvEvaluator *
take_spilled(CsvSpill *spill, CsvEvaluator *evaluator, const CsvQuery *query,
			 uint32_t nthreads)
{
	CsvEvaluator *merged = evaluator_of(query);
	CsvRegroup *regroup;
	CsvPartialGroups groups;

	assert_true(make_room(spill, evaluator->groups));
	regroup = csv_regroup_create(&csv_thread_memory, evaluator, nthreads, NULL);
	assert_non_null(regroup);
	do
	{
		assert_int_equal(csv_regroup_next(regroup, &groups, NULL, NULL), CSV_OK);
		assert_int_equal(csv_evaluator_merge(merged, &groups), CSV_OK);
	} while (groups.ngroups > 0);
	csv_regroup_free(regroup);
	csv_evaluator_free(evaluator);
	return merged;
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

TEST(many_threads_find_what_one_finds)
{
	static Fixture fixtures[MOST_BATCHES];
	static Program program;
	const uint32_t nrounds = rounds(150);
	uint64_t	seed = first_seed();
	uint32_t	nqueries = 0;
	uint32_t	nspilled = 0;
	uint32_t	nvalues = 0;

	for (uint32_t round = 0; round < nrounds; round++, seed++)
	{
		CsvQuery   *query = &program.query;
		CsvEvaluator *expected;
		CsvEvaluator *leader;
		CsvTeam    *team;
		CsvSpill	spill;
		uint32_t	nthreads;
		uint32_t	nbatches;
		uint32_t	how;

		start_seed(seed);
		nthreads = 1 + random_below(8);
		nbatches = 2 + random_below(MOST_BATCHES - 1);
		how = random_below(4);

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
		csv_spill_init(&spill, &csv_thread_memory, one_in(2) ?
					   2000 + random_below(300000) : SIZE_MAX, nthreads);
		if (how == CSV_GATHER_SPILL || one_in(2))
			csv_spill_open(&spill, make_file(), UINT64_MAX);
		csv_evaluator_limit(leader, &spill, make_room, &spill);
		team = csv_team_create(&csv_thread_memory, leader, nthreads);
		assert_non_null(team);
		run_team(team, leader, fixtures, nbatches, nthreads);
		if (csv_spill_has_groups(&spill))
			how = CSV_GATHER_SPILL;
		assert_int_equal(csv_team_finish(team, leader, (CsvGather) how, NULL,
										 NULL, NULL), CSV_OK);
		csv_evaluator_limit(leader, &spill, NULL, NULL);
		take_held(team, leader);
		csv_team_free(team);
		if (how == CSV_GATHER_SPILL)
		{
			nspilled++;
			nvalues += spill.values.parts != NULL;
			leader = take_spilled(&spill, leader, query, nthreads);
		}
		expect_set(query, leader, expected, false);
		end_spill(&spill);
		csv_evaluator_free(leader);
		csv_evaluator_free(expected);
		for (uint32_t i = 0; i < nbatches; i++)
			free_batch(&fixtures[i]);
	}
	end_seeds();
	assert_true(nqueries > nrounds / 10);
	/* a sanitizer has time for few queries */
	assert_true(nqueries < 100 || (nspilled > nqueries / 8 && nvalues > 0));
}

/* a query of one INT key that counts rows, or of a TEXT key */
static void
start_counting(Program *program, uint8_t lane)
{
	start_program(program);
	group_by_column(program, lane, 0);
	add_aggregate(program, CSV_AGGREGATE_COUNT_ROWS, 0, CSV_NO_REGISTER,
				  CSV_NO_REGISTER);
}

enum
{
	NKEYS = 20000,
	LIMIT_BYTES = 256 * 1024,
	LONG_KEYS = 12,
	LONG_BYTES = 1000000
};

/* add a row with a key; its hash may be another than the key's */
static void
add_key(CsvEvaluator *evaluator, const CsvValue *key)
{
	CsvValue	values[1];
	uint32_t	group;

	memset(values, 0, sizeof(values));
	assert_true(csv_evaluator_make_room(evaluator));
	group = csv_evaluator_find_group(evaluator, key);
	assert_true(group != CSV_NO_GROUP);
	assert_true(csv_evaluator_add_row(evaluator, group, values));
}

/* number of rows of a group */
static int64_t
count_of(const CsvEvaluator *evaluator, uint32_t group)
{
	CsvAggregateValue value;

	get_aggregate(evaluator, group, 0, &value);
	return value.count;
}

TEST(one_key_in_half_of_the_rows)
{
	static Program program;
	CsvEvaluator *evaluator;
	CsvSpill	spill;

	start_counting(&program, CSV_LANE_INT);
	for (uint32_t nthreads = 1; nthreads <= 9; nthreads += 4)
	{
		uint32_t	nlarge = 0;

		evaluator = evaluator_of(&program.query);
		csv_spill_init(&spill, &csv_thread_memory, LIMIT_BYTES, nthreads);
		csv_evaluator_limit(evaluator, &spill, make_room, &spill);
		for (int64_t i = 0; i < 2 * NKEYS; i++)
		{
			CsvValue	key;

			memset(&key, 0, sizeof(key));
			key.value.integer = i % 2 == 0 ? -1 : i / 2;
			add_key(evaluator, &key);
			/* a chunk of rows and the doubled slots may come on top */
			assert_true(csv_evaluator_group_bytes(evaluator) < 2 * LIMIT_BYTES);
		}
		assert_true(csv_spill_has_groups(&spill));
		evaluator = take_spilled(&spill, evaluator, &program.query, nthreads);
		assert_int_equal(csv_evaluator_ngroups(evaluator), NKEYS + 1);
		for (uint32_t g = 0; g <= NKEYS; g++)
		{
			nlarge += count_of(evaluator, g) == NKEYS;
			assert_true(count_of(evaluator, g) == 1 || count_of(evaluator, g) == NKEYS);
		}
		assert_int_equal(nlarge, 1);
		csv_evaluator_free(evaluator);
		end_spill(&spill);
	}
}

/* a group that alone takes more than the limit, and texts longer than any buffer */
TEST(long_keys_are_merged)
{
	static Program program;
	CsvEvaluator *evaluator;
	CsvSpill	spill;
	uint8_t    *text = malloc(LONG_BYTES);

	start_counting(&program, CSV_LANE_TEXT);
	evaluator = evaluator_of(&program.query);
	csv_spill_init(&spill, &csv_thread_memory, LIMIT_BYTES, 3);
	csv_evaluator_limit(evaluator, &spill, make_room, &spill);
	memset(text, 'x', LONG_BYTES);
	for (uint32_t i = 0; i < 5 * LONG_KEYS; i++)
	{
		CsvValue	key;

		memset(&key, 0, sizeof(key));
		key.bytes = text;
		key.length = LONG_BYTES - i % 5;
		text[i % LONG_KEYS] = 'y';
		add_key(evaluator, &key);
		text[i % LONG_KEYS] = 'x';
	}
	assert_true(csv_spill_bytes(&spill) > 10 * (uint64_t) LONG_BYTES);
	evaluator = take_spilled(&spill, evaluator, &program.query, 3);
	assert_int_equal(csv_evaluator_ngroups(evaluator), 5 * LONG_KEYS);
	for (uint32_t g = 0; g < 5 * LONG_KEYS; g++)
		assert_int_equal(count_of(evaluator, g), 1);
	csv_evaluator_free(evaluator);
	end_spill(&spill);
	free(text);
}

/* keys with the same tag are never divided, and are merged at last */
TEST(a_part_that_cannot_be_divided)
{
	static Program program;
	CsvEvaluator *evaluator;
	CsvSpill	spill;
	CsvGroups  *groups;
	uint32_t	nrows = NKEYS / 4;

	start_counting(&program, CSV_LANE_INT);
	evaluator = evaluator_of(&program.query);
	csv_spill_init(&spill, &csv_thread_memory, LIMIT_BYTES / 4, 2);
	csv_evaluator_limit(evaluator, &spill, make_room, &spill);
	groups = evaluator->groups;
	for (uint32_t i = 0; i < nrows; i++)
	{
		uint8_t		row[256] = {0};
		int64_t		key = i;
		uint32_t	one = 1;

		assert_true(csv_evaluator_make_room(evaluator));
		csv_groups_settle(groups, NULL);
		assert_true(groups->table.row_bytes <= sizeof(row));
		memcpy(row, &key, sizeof(key));
		memcpy(row + groups->counters[0], &one, sizeof(one));
		assert_true(csv_groups_add_copy(groups, 0x12345678, row, row));
	}
	assert_true(csv_spill_has_groups(&spill));
	evaluator = take_spilled(&spill, evaluator, &program.query, 2);
	assert_int_equal(csv_evaluator_ngroups(evaluator), nrows);
	csv_evaluator_free(evaluator);
	end_spill(&spill);
}

/* what is attached to groups comes back, with the group that it belongs to */
TEST(attached_bytes_stay_with_their_groups)
{
	static Program program;
	CsvEvaluator *evaluator;
	CsvSpill	spill;
	CsvRegroup *regroup;
	CsvPartialGroups groups;
	uint32_t	nattached = 0;

	start_counting(&program, CSV_LANE_INT);
	evaluator = evaluator_of(&program.query);
	csv_spill_init(&spill, &csv_thread_memory, LIMIT_BYTES, 2);
	csv_evaluator_limit(evaluator, &spill, make_room, &spill);
	for (int64_t i = 0; i < 2 * NKEYS; i++)
	{
		CsvValue	key;

		memset(&key, 0, sizeof(key));
		key.value.integer = i % NKEYS;
		add_key(evaluator, &key);
		if (i % 3 == 0)
			assert_true(csv_evaluator_attach(evaluator,
											 csv_evaluator_find_group(evaluator, &key),
											 &key.value.integer, sizeof(int64_t)));
	}
	assert_true(make_room(&spill, evaluator->groups));
	regroup = csv_regroup_create(&csv_thread_memory, evaluator, 2, NULL);
	for (;;)
	{
		uint32_t	group;
		const uint8_t *bytes;

		assert_int_equal(csv_regroup_next(regroup, &groups, NULL, NULL), CSV_OK);
		if (groups.ngroups == 0)
			break;
		for (uint32_t i = 0; csv_regroup_attached(regroup, i, &group, &bytes); i++)
		{
			CsvValue	key;

			csv_partial_key(&program.query, &groups, group, 0, &key);
			assert_memory_equal(bytes, &key.value.integer, sizeof(int64_t));
			nattached++;
		}
	}
	assert_int_equal(nattached, (2 * NKEYS + 2) / 3);
	csv_regroup_free(regroup);
	csv_evaluator_free(evaluator);
	end_spill(&spill);
}

/* a file that has no room, and a file that loses its bytes */
TEST(failures_of_the_file_are_told)
{
	static Program program;
	CsvEvaluator *evaluator;
	CsvSpill	spill;
	CsvRegroup *regroup;
	CsvPartialGroups groups;
	bool		good = true;

	start_counting(&program, CSV_LANE_INT);
	for (int shortens = 0; shortens < 2; shortens++)
	{
		evaluator = evaluator_of(&program.query);
		csv_spill_init(&spill, &csv_thread_memory, LIMIT_BYTES, 2);
		csv_spill_open(&spill, make_file(), shortens ? UINT64_MAX : 100000);
		csv_evaluator_limit(evaluator, &spill, make_room, &spill);
		for (int64_t i = 0; i < NKEYS && good; i++)
		{
			CsvValue	key;

			memset(&key, 0, sizeof(key));
			key.value.integer = i;
			good = csv_evaluator_make_room(evaluator);
			if (good)
				add_key(evaluator, &key);
		}
		assert_int_equal(good, shortens);
		if (shortens)
		{
			assert_int_equal(atomic_load(&spill.error), 0);
			assert_true(make_room(&spill, evaluator->groups));
			assert_int_equal(ftruncate(atomic_load(&spill.fd), 50000), 0);
			regroup = csv_regroup_create(&csv_thread_memory, evaluator, 2, NULL);
			while (csv_regroup_next(regroup, &groups, NULL, NULL) == CSV_OK)
				assert_true(groups.ngroups > 0);
			csv_regroup_free(regroup);
		}
		assert_int_equal(atomic_load(&spill.error), shortens ? EIO : EFBIG);
		good = true;
		csv_evaluator_free(evaluator);
		end_spill(&spill);
	}
}
