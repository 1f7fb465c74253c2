/*
 * merge.c
 *		Reads keys and aggregates of partial groups, adds partial groups to an
 *		evaluator, and hands out an evaluator's groups as partial groups.
 */
#include "../reader/arrays.h"
#include "accumulate.h"
#include "evaluator.h"
#include "groups.h"

/* groups that are merged at a time: these stay in the caches */
#define MERGED_GROUPS	256

/* a value that is not NULL, by its two words */
static CsvValue
pair_value(uint8_t lane, uint64_t low, uint64_t high, const uint8_t *texts)
{
	CsvValue	value;

	memset(&value, 0, sizeof(value));
	if (lane == CSV_LANE_TEXT)
	{
		value.bytes = csv_partial_text(texts, low);
		value.length = (uint32_t) high;
	}
	else
		value.value.uuid = (CsvUint128) high << 64 | low;
	return value;
}

/* a sum, by its words of 32 bits with their carries */
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
		value->real = csv_float_words_round(words, &value->overflow);
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
csv_groups_add_partial(CsvGroups *groups, uint32_t group,
					   const CsvPartial *partial, const uint8_t *bits)
{
	const CsvPartialLayout *layout = &groups->partial;
	CsvRun		run = {group, 0, csv_keyed_row(&groups->table, group)};
	bool		counted[CSV_MAX_AGGREGATES] = {false};

	for (uint32_t i = 0; i < groups->query->naggregates; i++)
	{
		const CsvAggregate *aggregate = &groups->query->aggregate[i];
		const CsvAccumulator *accumulator = &groups->accumulators[i];
		const int64_t *words = partial->words + layout->first_word[i];
		int64_t		count = partial->words[layout->input[i]];
		CsvValue	value;
		bool		good = true;

		if (count == 0)
			continue;
		if (csv_is_extreme(aggregate) && bits != NULL &&
			(bits[accumulator->bit / 8] >> accumulator->bit % 8 & 1) == 0)
			good = true;
		else if (csv_is_extreme(aggregate))
		{
			value = pair_value(aggregate->lane, (uint64_t) words[0],
							   (uint64_t) words[1], partial->texts);
			good = csv_take_extreme(groups, i, &run, &value);
		}
		else if (csv_is_sum(aggregate) && aggregate->lane == CSV_LANE_FLOAT)
			good = csv_float_sum_add_words((CsvFloatSum *)
										   (run.place + accumulator->offset),
										   &groups->wides, words);
		else if (csv_is_sum(aggregate))
			good = csv_add_wide_sum(groups, i, &run,
									wide_of_words(aggregate, words));
		for (; good && !counted[layout->input[i]] && count > 0;
			 count -= COUNTER_UNIT)
			good = csv_add_count(groups, layout->input[i], &run,
								 count < COUNTER_UNIT ? (uint32_t) count :
								 COUNTER_UNIT);
		if (!good)
			return false;
		counted[layout->input[i]] = true;
	}
	return true;
}

bool
csv_evaluator_add_partial(CsvEvaluator *evaluator, uint32_t group,
						  const CsvPartial *partial)
{
	return csv_groups_add_partial(evaluator->groups, group, partial, NULL);
}

/*
 * Add group g of `partial` to the evaluator's.  Returns its number there, or
 * CSV_NO_GROUP.
 */
static uint32_t
merge_group(CsvEvaluator *evaluator, const CsvPartialGroups *partial, uint32_t g)
{
	CsvGroups  *groups = evaluator->groups;
	const CsvQuery *query = groups->query;
	CsvPartial	one = {
		partial->words + (size_t) g * groups->partial.nwords, partial->texts
	};
	CsvValue	keys[CSV_MAX_KEYS];
	uint32_t	group;

	for (uint32_t key = 0; key < query->nkeys; key++)
		csv_partial_key(query, partial, g, key, &keys[key]);
	group = csv_evaluator_find_group(evaluator, keys);
	return group != CSV_NO_GROUP &&
		csv_groups_add_partial(groups, group, &one, NULL) ? group : CSV_NO_GROUP;
}

CsvStatus
csv_evaluator_merge(CsvEvaluator *evaluator, const CsvPartialGroups *partial)
{
	csv_groups_settle(evaluator->groups, NULL);
	for (uint32_t g = 0; g < partial->ngroups; g++)
	{
		if (g % MERGED_GROUPS == 0 && !csv_evaluator_make_room(evaluator))
			return CSV_NO_MEMORY;
		if ((partial->held == NULL || partial->held[g] == CSV_NOT_HELD) &&
			merge_group(evaluator, partial, g) == CSV_NO_GROUP)
			return CSV_NO_MEMORY;
	}
	return CSV_OK;
}

/* ---- whole rows ---- */

/* add what a row keeps for aggregate i to the run's group */
static bool
add_accumulator(CsvGroups *groups, uint32_t i, const CsvRun *run,
				const uint8_t *row)
{
	const CsvAggregate *aggregate = &groups->query->aggregate[i];
	const CsvAccumulator *accumulator = &groups->accumulators[i];
	const uint8_t *place = row + accumulator->offset;
	CsvInt128	wide;
	int64_t		narrow;

	if (csv_is_sum(aggregate) && aggregate->lane == CSV_LANE_FLOAT)
		return csv_float_sum_merge((CsvFloatSum *) (run->place + accumulator->offset),
								   &groups->wides, (const CsvFloatSum *) place);
	if (csv_is_extreme(aggregate))
	{
		CsvValue	value;

		csv_load_value(aggregate->lane, place, &value);
		return csv_take_extreme(groups, i, run, &value);
	}
	if (accumulator->nbytes == 8)
	{
		memcpy(&narrow, place, 8);
		wide = narrow;
	}
	else
		memcpy(&wide, place, 16);
	return csv_add_sum(groups, i, run, wide);
}

/* a row was copied, but not this text, which is taken next */
static void
forget_text(CsvGroups *groups, uint32_t i, const CsvRun *run)
{
	const CsvAccumulator *accumulator = &groups->accumulators[i];

	memset(run->place + accumulator->offset, 0, accumulator->nbytes);
	run->place[groups->bits_offset + accumulator->bit / 8] &=
		(uint8_t) ~(1 << accumulator->bit % 8);
}

bool
csv_groups_add_copy(CsvGroups *groups, uint32_t tag, uint8_t *row,
					const uint8_t *texts)
{
	const CsvQuery *query = groups->query;
	CsvRun		run;
	bool		made;

	if (!csv_groups_find_copy(groups, tag, row, groups->table.row_bytes, &run, &made))
		return false;
	for (uint32_t i = 0; i < query->naggregates; i++)
	{
		const CsvAggregate *aggregate = &query->aggregate[i];
		CsvValue	value;
		bool		good = true;

		if (groups->accumulators[i].nbytes == 0)
			continue;
		if (csv_is_extreme(aggregate) && !csv_groups_have_extreme(groups, i, row))
			continue;
		if (csv_is_extreme(aggregate) && aggregate->lane == CSV_LANE_TEXT)
		{
			if (made)
				forget_text(groups, i, &run);
			csv_load_extreme(aggregate->lane, row + groups->accumulators[i].offset, &value);
			value.bytes = texts;
			texts += value.length;
			good = csv_take_extreme(groups, i, &run, &value);
		}
		else if (!made)
			good = add_accumulator(groups, i, &run, row);
		if (!good)
			return false;
	}
	for (uint32_t i = 0; i < groups->partial.ninputs && !made; i++)
	{
		uint32_t	count;

		memcpy(&count, row + groups->counters[i], 4);
		if (!csv_add_count(groups, i, &run, count))
			return false;
	}
	return true;
}

bool
csv_groups_are_plain(const CsvGroups *groups, uint32_t group)
{
	const uint8_t *row = csv_keyed_row(&groups->table, group);

	for (uint32_t i = 0; i < groups->query->naggregates && groups->wides.nsums > 0; i++)
	{
		const CsvAggregate *aggregate = &groups->query->aggregate[i];

		if (csv_is_sum(aggregate) && aggregate->lane == CSV_LANE_FLOAT &&
			((const CsvFloatSum *) (row + groups->accumulators[i].offset))->wide != 0)
			return false;
	}
	return !csv_groups_have_carry(groups, group);
}

/* ---- the opposite: from an evaluator, to partials and to another evaluator ---- */

/* a value as the two words of a partial; a text by its address */
static void
value_to_pair(uint8_t lane, const CsvValue *value, uint64_t *pair)
{
	CsvUint128	both = lane == CSV_LANE_INT ?
		(CsvUint128) value->value.integer : value->value.uuid;

	pair[0] = (uint64_t) both;
	pair[1] = (uint64_t) (both >> 64);
	if (lane == CSV_LANE_FLOAT)
	{
		memcpy(&pair[0], &value->value.real, 8);
		pair[1] = 0;
	}
	else if (lane == CSV_LANE_TEXT)
	{
		pair[0] = (uintptr_t) value->bytes;
		pair[1] = value->length;
	}
}

void
csv_groups_get_keys(const CsvKeyed *table, const uint8_t *row, uint64_t *keys,
					uint32_t *nulls)
{
	*nulls = 0;
	if (table->nkeys > 0)
		memcpy(nulls, row + table->null_offset, 4);
	for (uint32_t key = 0; key < table->nkeys; key++, keys += 2)
	{
		CsvValue	value;

		keys[0] = keys[1] = 0;
		if ((*nulls >> key & 1) != 0)
			continue;
		csv_load_value(table->lanes[key], row + table->offsets[key], &value);
		value_to_pair(table->lanes[key], &value, keys);
	}
}

/* add a sum to words of 32 bits; only the last word may become negative */
static void
add_wide_to_words(CsvWideSum sum, uint32_t nwords, int64_t *words)
{
	int64_t		low = (int64_t) sum.low;
	bool		is_short = (CsvInt128) sum.low == low &&
		sum.high == (low < 0 ? -1 : 0);

	words[0] += (uint32_t) low;
	if (is_short || nwords == 2)
		words[1] += (int64_t) ((CsvInt128) sum.low >> 32);
	else
	{
		words[1] += (uint32_t) (low >> 32);
		words[2] += (uint32_t) (sum.low >> 64);
		words[3] += (int64_t) (sum.low >> 96) +
			(int64_t) ((uint64_t) sum.high << 32);
	}
}

bool
csv_groups_have_extreme(const CsvGroups *groups, uint32_t number,
						const uint8_t *row)
{
	uint32_t	bit = groups->accumulators[number].bit;

	return csv_is_extreme(&groups->query->aggregate[number]) &&
		(row[groups->bits_offset + bit / 8] >> bit % 8 & 1) != 0;
}

void
csv_groups_add_to_words(const CsvGroups *groups, uint32_t group,
						const uint8_t *row, int64_t *words)
{
	const CsvQuery *query = groups->query;
	const CsvPartialLayout *layout = &groups->partial;

	for (uint32_t i = 0; i < query->naggregates; i++)
	{
		const CsvAggregate *aggregate = &query->aggregate[i];
		const CsvAccumulator *accumulator = &groups->accumulators[i];
		const uint8_t *place = row + accumulator->offset;
		int64_t    *word = words + layout->first_word[i];
		bool		first = words[layout->input[i]] == 0;

		if (csv_is_sum(aggregate) && aggregate->lane == CSV_LANE_FLOAT)
			csv_float_sum_to_words((const CsvFloatSum *) place,
								   &groups->wides, word);
		else if (csv_is_sum(aggregate))
		{
			if (accumulator->nbytes == 8 && groups->carries.nrows == 0)
			{
				int64_t		kept;

				memcpy(&kept, place, 8);
				word[0] += (uint32_t) kept;
				word[1] += kept >> 32;
			}
			else
				add_wide_to_words(csv_groups_sum(groups, group, i),
								  csv_sum_words(aggregate->kind,
												aggregate->lane), word);
		}
		else if (csv_groups_have_extreme(groups, i, row))
		{
			CsvValue	value;
			CsvValue	kept;

			csv_load_extreme(aggregate->lane, place, &value);
			if (!first)
			{
				kept = pair_value(aggregate->lane, (uint64_t) word[0],
								  (uint64_t) word[1], NULL);
				first = csv_replaces_extreme(aggregate->kind == CSV_AGGREGATE_MAX,
											 csv_value_compare(aggregate->lane,
															   &value, &kept));
			}
			if (first)
				value_to_pair(aggregate->lane, &value, (uint64_t *) word);
		}
	}
	for (uint32_t i = 0; i < layout->ninputs; i++)
	{
		uint32_t	count;

		if (layout->distinct[i])
			continue;
		memcpy(&count, row + groups->counters[i], 4);
		words[i] += count < COUNTER_UNIT ? count :
			csv_groups_count(groups, group, i);
	}
}

/* distinct: with the counts of COUNT_DISTINCT */
static CsvStatus
hand_out(const CsvEvaluator *evaluator, uint32_t first, uint32_t most,
		 bool distinct, CsvPartialGroups *handed)
{
	CsvGroups  *groups = evaluator->groups;
	const CsvPartialLayout *layout = &groups->partial;
	size_t		key_words = 2 * (size_t) groups->query->nkeys;
	size_t		group_bytes = 8 * (key_words + layout->nwords) + 4;
	uint32_t	left = groups->table.nrows - first;
	uint32_t	n = most < left ? most : left;
	uint64_t   *keys;
	int64_t    *words;
	uint32_t   *nulls;

	memset(handed, 0, sizeof(*handed));
	if (n == 0)
		return CSV_OK;
	if (!csv_renew(groups->memory, &groups->room, &groups->room_bytes,
				   n * group_bytes))
		return CSV_NO_MEMORY;
	keys = groups->room;
	words = (int64_t *) (keys + n * key_words);
	nulls = (uint32_t *) (words + (size_t) n * layout->nwords);
	handed->ngroups = n;
	handed->keys = keys;
	handed->words = words;
	handed->nulls = nulls;
	memset(words, 0, (size_t) n * layout->nwords * 8);
	for (uint32_t g = first; g < first + n; g++)
	{
		const uint8_t *row = csv_keyed_row(&groups->table, g);

		csv_groups_get_keys(&groups->table, row, keys, nulls++);
		csv_groups_add_to_words(groups, g, row, words);
		for (uint32_t i = 0; i < layout->ninputs; i++)
			if (distinct && layout->distinct[i])
				words[i] = csv_groups_count(groups, g, i);
		keys += key_words;
		words += layout->nwords;
	}
	return CSV_OK;
}

CsvStatus
csv_evaluator_groups(const CsvEvaluator *evaluator, uint32_t first,
					 uint32_t most, CsvPartialGroups *groups)
{
	return hand_out(evaluator, first, most, true, groups);
}

/*
 * Add the values that COUNT_DISTINCT has counted.  numbers: the numbers of the groups
 * in `into`.
 */
static CsvStatus
absorb_values(CsvEvaluator *into, const CsvEvaluator *from, uint32_t aggregate,
			  const uint32_t *numbers)
{
	CsvGroups  *groups = into->groups;
	const CsvAccumulator *accumulator =
		&from->groups->accumulators[aggregate];

	for (uint32_t row = 0; row < accumulator->distinct.nrows; row++)
	{
		CsvRun		run = {0, 1, NULL};
		CsvValue	value;

		run.group = numbers[csv_distinct_value(accumulator, row, &value)];
		run.place = csv_keyed_row(&groups->table, run.group);
		if (!csv_count_distinct(groups, aggregate, &run, &value))
			return CSV_NO_MEMORY;
	}
	return CSV_OK;
}

CsvStatus
csv_evaluator_absorb(CsvEvaluator *into, const CsvEvaluator *from)
{
	const CsvQuery *query = into->groups->query;
	const CsvMemory *memory = into->groups->memory;
	uint32_t	ngroups = csv_evaluator_ngroups(from);
	CsvPartialGroups some = {0};
	CsvStatus	status = CSV_OK;
	uint32_t   *numbers = memory->alloc(memory->owner,
										ngroups * sizeof(uint32_t) + 1);

	if (numbers == NULL)
		return CSV_NO_MEMORY;
	for (uint32_t g = 0; g < ngroups && status == CSV_OK; g++)
	{
		if (g % MERGED_GROUPS == 0)
			status = hand_out(from, g, MERGED_GROUPS, false, &some);
		if (status == CSV_OK)
			numbers[g] = merge_group(into, &some, g % MERGED_GROUPS);
		if (status == CSV_OK && numbers[g] == CSV_NO_GROUP)
			status = CSV_NO_MEMORY;
	}
	for (uint32_t i = 0; i < query->naggregates && status == CSV_OK; i++)
		if (query->aggregate[i].kind == CSV_AGGREGATE_COUNT_DISTINCT)
			status = absorb_values(into, from, i, numbers);
	memory->free(memory->owner, numbers);
	return status;
}
