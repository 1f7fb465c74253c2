/*
 * merge.c
 *		Groups as they leave an evaluator, or an engine that has made them: their
 *		keys and aggregates, and adding the latter to the former.
 */
#include <string.h>

#include "accumulate.h"
#include "evaluator.h"
#include "groups.h"

/* a value of two words that is there */
static CsvValue
pair_value(uint8_t lane, uint64_t low, uint64_t high, const uint8_t *texts)
{
	CsvValue	value;

	memset(&value, 0, sizeof(value));
	if (lane == CSV_LANE_TEXT)
	{
		value.bytes = texts + low;
		value.length = (uint32_t) high;
	}
	else
		value.value.uuid = (CsvUint128) high << 64 | low;
	return value;
}

/* a sum's words of 32 bits and their carries */
static CsvWideSum
wide_of_words(const CsvAggregate *aggregate, const int64_t *words)
{
	CsvInt128	carried = INT64_C(1) << 32;
	CsvWideSum	low = csv_wide_sum_of(words[0] + words[1] * carried);

	return csv_sum_words(aggregate->kind, aggregate->lane) < 4 ? low :
		csv_wide_sum_add(low, csv_wide_sum_shifted(words[2] + words[3] * carried,
												   false));
}

void
csv_partial_key(const CsvQuery *query, const CsvPartialGroups *groups,
				uint32_t group, uint32_t key, CsvValue *value)
{
	const uint64_t *pair = groups->keys +
		((size_t) group * query->nkeys + key) * 2;

	if ((groups->nulls[group] >> key & 1) == 0)
		*value = pair_value(query->keys[key].lane, pair[0], pair[1],
							groups->texts);
	else
	{
		memset(value, 0, sizeof(*value));
		value->state = CSV_LANE_NULL;
	}
}

void
csv_partial_aggregate(const CsvQuery *query, const CsvPartialLayout *layout,
					  const CsvPartialGroups *groups, uint32_t group,
					  uint32_t number, CsvAggregateValue *value)
{
	const CsvAggregate *aggregate = &query->aggregate[number];
	const int64_t *all = groups->words + (size_t) group * layout->nwords;
	const int64_t *words = all + layout->first_word[number];

	memset(value, 0, sizeof(*value));
	value->extreme.state = CSV_LANE_NULL;
	value->count = all[layout->input[number]];
	if (value->count == 0)
		return;
	if (csv_is_sum(aggregate) && aggregate->lane == CSV_LANE_FLOAT)
		value->real = csv_float_words_round(words, (uint8_t)
											words[CSV_FLOAT_SUM_WORDS],
											&value->overflow);
	else if (csv_is_sum(aggregate))
		value->wide = wide_of_words(aggregate, words);
	else if (csv_is_extreme(aggregate))
		value->extreme = pair_value(aggregate->lane, (uint64_t) words[0],
									(uint64_t) words[1], groups->texts);
}

double
csv_partial_spread(const CsvPartialLayout *layout,
				   const CsvPartialGroups *groups, uint32_t group,
				   uint32_t sum, uint32_t squares, uint64_t count)
{
	const int64_t *words = groups->words + (size_t) group * layout->nwords;

	return csv_float_words_spread(words + layout->first_word[sum],
								  words + layout->first_word[squares], count);
}

bool
csv_evaluator_add_partial(CsvEvaluator *evaluator, uint32_t group,
						  const CsvPartial *partial)
{
	CsvGroups  *groups = evaluator->groups;
	const CsvPartialLayout *layout = &groups->partial;
	CsvRun		run = {group, 0, csv_keyed_row(&groups->table, group)};
	bool		counted[CSV_MAX_AGGREGATES] = {false};

	for (uint32_t i = 0; i < groups->query->naggregates; i++)
	{
		const CsvAggregate *aggregate = &groups->query->aggregate[i];
		const CsvAccumulator *accumulator = &groups->accumulators[i];
		const int64_t *words = partial->words + layout->first_word[i];
		uint32_t	count = (uint32_t) partial->words[layout->input[i]];
		CsvValue	value;
		bool		good = true;

		if (count == 0)
			continue;
		if (csv_is_extreme(aggregate))
		{
			value = pair_value(aggregate->lane, (uint64_t) words[0],
							   (uint64_t) words[1], partial->texts);
			good = csv_take_extreme(groups, i, &run, &value);
		}
		else if (csv_is_sum(aggregate) && aggregate->lane == CSV_LANE_FLOAT)
			good = csv_float_sum_add_words((CsvFloatSum *)
										   (run.place + accumulator->offset),
										   &groups->wides, words, (uint8_t)
										   words[CSV_FLOAT_SUM_WORDS]);
		else if (csv_is_sum(aggregate))
			good = csv_add_wide_sum(groups, i, &run,
									wide_of_words(aggregate, words));
		if (good && !counted[layout->input[i]])
			good = csv_add_count(groups, layout->input[i], &run, count);
		if (!good)
			return false;
		counted[layout->input[i]] = true;
	}
	return true;
}

CsvStatus
csv_evaluator_merge(CsvEvaluator *evaluator, const CsvPartialGroups *partial)
{
	CsvGroups  *groups = evaluator->groups;
	const CsvQuery *query = groups->query;
	CsvValue	keys[CSV_MAX_KEYS];

	csv_groups_settle(groups, NULL);
	for (uint32_t g = 0; g < partial->ngroups; g++)
	{
		CsvPartial	one = {
			partial->words + (size_t) g * groups->partial.nwords,
			partial->texts
		};
		uint64_t	hash;
		uint32_t	group;

		if (partial->held != NULL && partial->held[g] != CSV_NOT_HELD)
			continue;
		for (uint32_t key = 0; key < query->nkeys; key++)
			csv_partial_key(query, partial, g, key, &keys[key]);
		group = csv_evaluator_find_group(evaluator, keys, &hash);
		if (group == CSV_NO_GROUP ||
			(group == CSV_GROUPS_FULL ?
			 !groups->spill(groups->spill_arg, hash, keys, NULL, &one) :
			 !csv_evaluator_add_partial(evaluator, group, &one)))
			return CSV_NO_MEMORY;
	}
	return CSV_OK;
}

void
csv_evaluator_key(const CsvEvaluator *evaluator, uint32_t group, uint32_t key,
				  CsvValue *value)
{
	const CsvKeyed *table = &evaluator->groups->table;
	const uint8_t *place = csv_keyed_row(table, group);
	uint32_t	nulls;

	memset(value, 0, sizeof(*value));
	value->state = CSV_LANE_NULL;
	memcpy(&nulls, place + table->null_offset, 4);
	if ((nulls >> key & 1) == 0)
		csv_load_value(table->lanes[key], place + table->offsets[key], value);
}

double
csv_evaluator_spread(const CsvEvaluator *evaluator, uint32_t group,
					 uint32_t sum, uint32_t squares, uint64_t count)
{
	const CsvGroups *groups = evaluator->groups;
	const uint8_t *row = csv_keyed_row(&groups->table, group);

	return csv_float_sum_spread((const CsvFloatSum *)
								(row + groups->accumulators[sum].offset),
								(const CsvFloatSum *)
								(row + groups->accumulators[squares].offset),
								count, &groups->wides);
}

void
csv_evaluator_aggregate(const CsvEvaluator *evaluator, uint32_t group,
						uint32_t number, CsvAggregateValue *value)
{
	const CsvGroups *groups = evaluator->groups;
	const CsvAggregate *aggregate = &groups->query->aggregate[number];
	const CsvAccumulator *accumulator = &groups->accumulators[number];
	uint32_t	input = groups->partial.input[number];
	const uint8_t *row = csv_keyed_row(&groups->table, group);
	const uint8_t *place = row + accumulator->offset;
	uint32_t	count;

	memset(value, 0, sizeof(*value));
	value->extreme.state = CSV_LANE_NULL;
	memcpy(&count, row + groups->counters[input], 4);
	value->count = count;
	if (count >= COUNTER_UNIT)
		value->count += (int64_t) COUNTER_UNIT *
			(int64_t) csv_get_carry(groups, group, COUNTER_FIELD(input));
	if (count == 0)
		return;
	if (csv_is_sum(aggregate) && aggregate->lane == CSV_LANE_FLOAT)
		value->real = csv_float_sum_round((const CsvFloatSum *) place,
										  &groups->wides, &value->overflow);
	else if (csv_is_sum(aggregate))
	{
		CsvInt128	kept = 0;

		if (accumulator->nbytes == 8)
		{
			int64_t		low;

			memcpy(&low, place, 8);
			kept = low;
		}
		else
			memcpy(&kept, place, 16);
		value->wide = csv_wide_sum_of(kept);
		if (groups->carries.nrows > 0)
			value->wide =
				csv_wide_sum_add(value->wide,
								 csv_wide_sum_shifted(csv_get_carry(groups,
																	group,
																	number),
													  accumulator->nbytes == 16));
	}
	else if (csv_is_extreme(aggregate))
		csv_load_extreme(aggregate->lane, place, &value->extreme);
}
