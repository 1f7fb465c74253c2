/*
 * stand_in_query.c
 *		Queries that the stand-in for a GPU answers: see stand_in_query.h.
 */
#include <stdlib.h>
#include <string.h>

#include "../../cuda/policy.h"
#include "query/evaluator.h"
#include "query/groups.h"
#include "query/plan.h"
#include "query/team.h"
#include "stand_in_query.h"

/* groups that are fetched at a time: so few that tests fetch several times */
#define PIECE_GROUPS	1000

static void *
get_memory(void *owner, size_t nbytes)
{
	void	   *memory = calloc(1, nbytes + 1);

	(void) owner;
	if (memory == NULL)
		abort();
	return memory;
}

static void
drop_memory(void *owner, void *memory)
{
	(void) owner;
	free(memory);
}

static const CsvMemory host_memory = {get_memory, drop_memory, NULL};

bool
csv_stand_in_takes(const CsvQuery *query, const CsvLayout *layout)
{
	CsvPlan		plan;
	bool		takes = csv_plan_make(&plan, &host_memory, query, layout,
									  CSV_MAX_REGISTERS, false);

	csv_plan_free(&plan, &host_memory);
	return takes;
}

bool
csv_stand_in_may_travel(uint32_t ngroups, uint32_t nrows)
{
	return ngroups <= nrows / CSV_QUERY_GROUPS_SHARE ||
		ngroups <= CSV_QUERY_FEW_GROUPS;
}

/* ---- groups ---- */

/* a text's address becomes its place behind all that are copied already */
static void
move_text(CsvPartialGroups *copy, size_t *text_bytes, uint64_t *pair)
{
	uint8_t    *texts = realloc((void *) copy->texts, *text_bytes + pair[1] + 1);

	if (texts == NULL)
		abort();
	memcpy(texts + *text_bytes, csv_partial_text(NULL, pair[0]), pair[1]);
	pair[0] = *text_bytes;
	*text_bytes += pair[1];
	copy->texts = texts;
}

static void *
copy_bytes(const void *bytes, size_t nbytes)
{
	void	   *copy = get_memory(NULL, nbytes);

	return nbytes == 0 ? copy : memcpy(copy, bytes, nbytes);
}

/* a number of groups of an evaluator, at most `most` */
static void
copy_groups(const CsvEvaluator *evaluator, uint32_t first, uint32_t most,
			CsvPartialGroups *copy)
{
	const CsvQuery *query = csv_evaluator_query(evaluator);
	const CsvPartialLayout *layout = &evaluator->groups->partial;
	CsvPartialGroups groups;
	uint64_t   *pair;
	int64_t    *words;
	size_t		text_bytes = 0;

	if (csv_evaluator_groups(evaluator, first, most, &groups) != CSV_OK)
		abort();
	pair = copy_bytes(groups.keys, (size_t) groups.ngroups * query->nkeys * 16);
	words = copy_bytes(groups.words, (size_t) groups.ngroups * layout->nwords * 8);
	memset(copy, 0, sizeof(*copy));
	copy->ngroups = groups.ngroups;
	copy->keys = pair;
	copy->nulls = copy_bytes(groups.nulls, (size_t) groups.ngroups * 4);
	copy->words = words;
	for (uint32_t g = 0; g < groups.ngroups; g++, words += layout->nwords)
	{
		for (uint32_t key = 0; key < query->nkeys; key++, pair += 2)
			if (query->keys[key].lane == CSV_LANE_TEXT &&
				(groups.nulls[g] >> key & 1) == 0)
				move_text(copy, &text_bytes, pair);
		for (uint32_t i = 0; i < query->naggregates; i++)
			if (csv_is_extreme(&query->aggregate[i]) &&
				query->aggregate[i].lane == CSV_LANE_TEXT &&
				words[layout->input[i]] != 0)
				move_text(copy, &text_bytes,
						  (uint64_t *) words + layout->first_word[i]);
	}
}

void
csv_stand_in_free_groups(CsvPartialGroups *groups)
{
	free((void *) groups->keys);
	free((void *) groups->nulls);
	free((void *) groups->words);
	free((void *) groups->texts);
	free((void *) groups->held);
	memset(groups, 0, sizeof(*groups));
}

/* ---- groups that are held ---- */

CsvEvaluator *
csv_stand_in_make_held(const CsvQuery *query)
{
	return csv_evaluator_create(&host_memory, query);
}

void
csv_stand_in_hold(CsvEvaluator *held, size_t limit_bytes, CsvAnswer *answer)
{
	const CsvQuery *query = csv_evaluator_query(held);
	CsvPartialGroups *groups = &answer->groups;
	uint32_t   *places = get_memory(NULL, (size_t) groups->ngroups * 4);
	bool		all = true;

	for (uint32_t g = 0; g < groups->ngroups; g++)
	{
		CsvPartial	partial = {
			groups->words + (size_t) g * held->groups->partial.nwords,
			groups->texts
		};
		CsvValue	keys[CSV_MAX_KEYS];

		for (uint32_t key = 0; key < query->nkeys; key++)
			csv_partial_key(query, groups, g, key, &keys[key]);
		places[g] = limit_bytes > 0 && csv_evaluator_group_bytes(held) > limit_bytes ?
			csv_evaluator_seek_group(held, keys) :
			csv_evaluator_find_group(held, keys);
		if (places[g] == CSV_NO_GROUP)
		{
			places[g] = CSV_NOT_HELD;
			all = false;
		}
		else
			csv_evaluator_add_partial(held, places[g], &partial);
	}
	answer->held = true;
	groups->held = places;
	if (all)
		csv_stand_in_free_groups(groups);
}

void
csv_stand_in_copy_held(const CsvEvaluator *held, uint32_t first,
					   CsvPartialGroups *copy)
{
	uint32_t	ngroups = csv_evaluator_ngroups(held);
	uint32_t	n = first >= ngroups ? 0 : ngroups - first;

	copy_groups(held, first, n < PIECE_GROUPS ? n : PIECE_GROUPS, copy);
}

/* ---- answers ---- */

/* what the evaluator says, which may go then */
static CsvAnswer *
copy_answer(const CsvEvaluator *evaluator, const CsvSelection *selection)
{
	size_t		n = selection->nrows;
	CsvAnswer  *answer = get_memory(NULL, sizeof(CsvAnswer) + n * 5);
	uint32_t   *rows = (uint32_t *) (answer + 1);

	answer->selection = *selection;
	answer->selection.rows = rows;
	answer->selection.careful = (uint8_t *) (rows + n);
	if (n > 0)
	{
		memcpy(rows, selection->rows, n * 4);
		memcpy(rows + n, selection->careful, n);
	}
	if (evaluator->groups != NULL)
		copy_groups(evaluator, 0, csv_evaluator_ngroups(evaluator),
					&answer->groups);
	return answer;
}

CsvStatus
csv_stand_in_answer(const CsvRequest *request, const CsvLayout *layout,
					const CsvBatch *batch, bool (*interrupted) (void *arg),
					void *interrupted_arg, CsvAnswer **answer)
{
	CsvEvaluator *evaluator;
	CsvSelection selection;
	CsvStatus	status;
	uint8_t    *doubtful;

	*answer = NULL;
	doubtful = get_memory(NULL, batch->nrows);
	evaluator = csv_evaluator_create(&host_memory, request->query);
	status = csv_evaluator_run(evaluator, layout, batch,
							   csv_find_doubtful(batch, layout->ncolumns,
												 doubtful) ? doubtful : NULL,
							   interrupted, interrupted_arg, &selection);
	if (status == CSV_OK)
		*answer = copy_answer(evaluator, &selection);
	csv_evaluator_free(evaluator);
	free(doubtful);
	return status;
}

void
csv_stand_in_free_answer(CsvAnswer *answer)
{
	if (answer == NULL)
		return;
	csv_stand_in_free_groups(&answer->groups);
	free(answer);
}
