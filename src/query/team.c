/*
 * team.c
 *		Several threads evaluate one query.
 *
 * Merging many groups.  All members hash keys by the same seed, so equal keys are
 * in the same part of each member's groups, by the highest bits of their hash:
 *
 *	1. Each member's groups are listed by part.
 *	2. Parts are merged, each by one thread: an array of the different keys, and of
 *	   what has been added up, as in CsvPartialGroups.  There are so many parts that
 *	   one stays in a processor's caches.  While the caller takes those of one
 *	   window, helpers merge the next one.
 *
 * COUNT_DISTINCT has counted values of each member's own groups.  So all parts
 * are merged at once first, and each group knows its number among all.  Then
 * values are listed by the hash of (that number, value), and each such part of
 * them is counted by one thread.  Values that the caller's evaluator has counted
 * take part in that, but are not counted again.
 *
 * Memory.  When the members' groups take more than the limit, one of those that
 * have most hands its evaluator over, with the answer to its batch, and begins a
 * new one.  The caller adds it to its own, which knows how to do with little
 * memory.
 */
#include "team.h"

#include <string.h>

#include "../reader/crew.h"
#include "accumulate.h"
#include "evaluator.h"
#include "groups.h"

/* up to here, groups and values are added one by one: that takes 1 ms or so */
#define FEW_ENTRIES		8192

/* groups of a part, about: what is made of them stays in a second-level cache */
#define PART_GROUPS		8192
#define MOST_PARTS		4096

/* groups ahead whose rows are fetched into the caches */
#define PREFETCH		8

typedef struct Member
{
	CsvEvaluator *evaluator;	/* NULL: none yet */
	size_t		nbytes;			/* of its groups, as counted for the team */
	uint8_t    *doubtful;
	uint32_t	capacity;

	/* merging: rows of a table, by part; those of part p begin at begin[p] */
	CsvKeyedSlot *listed;
	uint32_t   *begin;
	uint32_t   *numbers;		/* of its groups, among all */
} Member;

/* a batch's answer */
typedef struct Slot
{
	CsvAnswer	answer;
	void	   *room;			/* for what the selection points to, */
	uint32_t	capacity;		/* of so many rows */
} Slot;

typedef struct Part
{
	CsvPartialGroups groups;
	void	   *memory;
} Part;

struct CsvTeam
{
	CsvMemory	memory;
	const CsvQuery *query;
	CsvPartialLayout layout;
	uint64_t	seed;
	uint32_t	nmembers;
	Member	   *members;		/* and one more, of the caller's evaluator */
	size_t		limit_bytes;
	atomic_size_t nbytes;		/* of groups of all members */
	Slot		slots[CSV_BATCH_SLOTS];

	/* merging */
	CsvCrew		crew;
	atomic_bool failed;			/* no memory */
	bool		stayed;			/* groups are here, for csv_team_groups() */
	uint32_t	nparts;
	Part	   *parts;
	uint32_t	next;			/* part to hand out */
	uint32_t	window_begin;	/* parts that are being merged, */
	uint32_t	window_end;
	uint32_t	nmerged;		/* and how many are before them */
	bool		distinct;		/* all are merged first */
	uint32_t	counted;		/* the aggregate whose values are counted, */
	uint32_t   *counts;			/* and how many each group has, by its number */
};

static void *
get_memory(const CsvTeam *team, size_t nbytes)
{
	return team->memory.alloc(team->memory.owner, nbytes > 0 ? nbytes : 1);
}

static void
drop_memory(const CsvTeam *team, void *memory)
{
	if (memory != NULL)
		team->memory.free(team->memory.owner, memory);
}

CsvTeam *
csv_team_create(const CsvMemory *memory, const CsvQuery *query,
				uint32_t nmembers)
{
	CsvTeam    *team = memory->alloc(memory->owner, sizeof(CsvTeam));
	size_t		nbytes;

	if (team == NULL)
		return NULL;
	memset(team, 0, sizeof(*team));
	team->memory = *memory;
	team->query = query;
	team->nmembers = nmembers < 1 ? 1 : nmembers < CSV_MAX_THREADS ?
		nmembers : CSV_MAX_THREADS;
	team->seed = csv_random_seed(team);
	csv_partial_lay_out(query, &team->layout);
	csv_crew_init(&team->crew, team->nmembers);
	atomic_init(&team->nbytes, 0);
	atomic_init(&team->failed, false);
	nbytes = (team->nmembers + 1) * sizeof(Member);
	team->members = get_memory(team, nbytes);
	if (team->members == NULL)
	{
		drop_memory(team, team);
		return NULL;
	}
	memset(team->members, 0, nbytes);
	for (uint32_t i = 0; i < query->naggregates; i++)
		team->distinct |=
			query->aggregate[i].kind == CSV_AGGREGATE_COUNT_DISTINCT;
	return team;
}

static void
drop_evaluator(CsvEvaluator *evaluator)
{
	if (evaluator != NULL)
		csv_evaluator_free(evaluator);
}

static void
drop_part(CsvTeam *team, Part *part)
{
	drop_memory(team, part->memory);
	memset(part, 0, sizeof(*part));
}

/* lists of a member's groups or values */
static void
drop_lists(CsvTeam *team)
{
	for (uint32_t i = 0; i <= team->nmembers; i++)
	{
		Member	   *member = &team->members[i];

		drop_memory(team, member->listed);
		drop_memory(team, member->begin);
		member->listed = NULL;
		member->begin = NULL;
	}
}

void
csv_team_free(CsvTeam *team)
{
	atomic_store(&team->failed, true);	/* helpers give up */
	csv_crew_close(&team->crew);
	drop_lists(team);
	for (uint32_t i = 0; i <= team->nmembers; i++)
	{
		Member	   *member = &team->members[i];

		if (i < team->nmembers)
			drop_evaluator(member->evaluator);
		drop_memory(team, member->doubtful);
		drop_memory(team, member->numbers);
	}
	for (uint32_t i = 0; i < CSV_BATCH_SLOTS; i++)
	{
		drop_evaluator(team->slots[i].answer.given);
		drop_memory(team, team->slots[i].room);
	}
	for (uint32_t i = 0; team->parts != NULL && i < team->nparts; i++)
		drop_part(team, &team->parts[i]);
	drop_memory(team, team->parts);
	drop_memory(team, team->counts);
	drop_memory(team, team->members);
	drop_memory(team, team);
}

void
csv_team_set_query(CsvTeam *team, const CsvQuery *query)
{
	team->query = query;
	for (uint32_t i = 0; i < team->nmembers; i++)
		if (team->members[i].evaluator != NULL)
			csv_evaluator_set_query(team->members[i].evaluator, query);
}

void
csv_team_limit(CsvTeam *team, size_t limit_bytes)
{
	team->limit_bytes = limit_bytes;
}

uint32_t
csv_team_nactive(const CsvTeam *team)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i < team->nmembers; i++)
		n += team->members[i].evaluator != NULL ||
			team->members[i].capacity > 0;
	return n;
}

/* ---- batches ---- */

bool
csv_find_doubtful(const CsvBatch *batch, uint32_t ncolumns, uint8_t *flags)
{
	bool		any = false;

	for (uint32_t i = 0; i < ncolumns; i++)
	{
		const CsvArray *array = &batch->arrays[i];

		if (!array->any_slow)
			continue;
		if (!any)
			memset(flags, 0, batch->nrows);
		any = true;
		for (uint32_t row = 0; row < batch->nrows; row++)
			flags[row] |= array->status[row] == CSV_VALUE_DOUBTFUL;
	}
	return any;
}

/* false: no memory */
static bool
prepare_member(CsvTeam *team, Member *member, uint32_t nrows)
{
	if (member->evaluator == NULL)
	{
		member->evaluator = csv_evaluator_create(&team->memory, team->query);
		if (member->evaluator == NULL)
			return false;
		if (member->evaluator->groups != NULL)
			csv_groups_set_seed(member->evaluator->groups, team->seed);
	}
	if (nrows > member->capacity)
	{
		drop_memory(team, member->doubtful);
		member->capacity = 0;
		member->doubtful = get_memory(team, nrows);
		if (member->doubtful == NULL)
			return false;
		member->capacity = nrows;
	}
	return true;
}

/* the evaluator's room for the selection becomes the slot's, and its own the other */
static void
keep_selection(CsvEvaluator *evaluator, Slot *slot)
{
	void	   *room = slot->room;
	uint32_t	capacity = slot->capacity;

	if (slot->answer.selection.nrows == 0)
		return;
	slot->room = evaluator->rows;
	slot->capacity = evaluator->capacity;
	evaluator->rows = room;
	evaluator->careful = room == NULL ? NULL :
		(uint8_t *) (evaluator->rows + capacity + 1);
	evaluator->capacity = capacity;
}

/*
 * Is the member to hand its groups over?  One that has its share does, where all
 * have too much.
 */
static bool
has_too_much(CsvTeam *team, Member *member)
{
	size_t		before = member->nbytes;
	size_t		all;

	member->nbytes = csv_evaluator_group_bytes(member->evaluator);
	all = atomic_fetch_add(&team->nbytes, member->nbytes - before) +
		member->nbytes - before;
	return team->limit_bytes > 0 && all > team->limit_bytes &&
		member->nbytes > team->limit_bytes / (2 * team->nmembers);
}

const CsvAnswer *
csv_team_run(CsvTeam *team, uint32_t number, uint32_t slot_number,
			 const CsvLayout *layout, const CsvBatch *batch,
			 bool (*interrupted) (void *arg), void *interrupted_arg)
{
	Member	   *member = &team->members[number];
	Slot	   *slot = &team->slots[slot_number];
	CsvAnswer  *answer = &slot->answer;

	memset(answer, 0, sizeof(*answer));
	answer->is_whole = true;
	if (!prepare_member(team, member, batch->nrows))
	{
		answer->status = CSV_NO_MEMORY;
		return answer;
	}
	answer->status =
		csv_evaluator_run(member->evaluator, layout, batch,
						  csv_find_doubtful(batch, layout->ncolumns,
											member->doubtful) ?
						  member->doubtful : NULL, interrupted,
						  interrupted_arg, &answer->selection);
	if (answer->status != CSV_OK)
		return answer;
	keep_selection(member->evaluator, slot);
	if (member->evaluator->groups != NULL && has_too_much(team, member))
	{
		atomic_fetch_sub(&team->nbytes, member->nbytes);
		member->nbytes = 0;
		answer->given = member->evaluator;
		member->evaluator = NULL;
	}
	return answer;
}

CsvStatus
csv_team_absorb(CsvTeam *team, CsvEvaluator *into, const CsvAnswer *answer)
{
	Slot	   *slot = &team->slots[(const Slot *) answer - team->slots];
	CsvStatus	status = csv_evaluator_absorb(into, slot->answer.given);

	csv_evaluator_free(slot->answer.given);
	slot->answer.given = NULL;
	return status;
}

/* ---- lists by part ---- */

static CsvGroups *
groups_of(const CsvTeam *team, uint32_t member)
{
	CsvEvaluator *evaluator = team->members[member].evaluator;

	return evaluator == NULL || !evaluator->groups->ready ? NULL :
		evaluator->groups;
}

static bool
give_up(CsvTeam *team)
{
	return atomic_load(&team->failed) || csv_crew_interrupted(&team->crew);
}

/* room for lists of n entries; false: no memory */
static bool
make_lists(CsvTeam *team, Member *member, uint32_t n)
{
	member->listed = get_memory(team, n * sizeof(CsvKeyedSlot));
	member->begin = get_memory(team, (team->nparts + 2) * sizeof(uint32_t));
	if (member->listed == NULL || member->begin == NULL)
	{
		atomic_store(&team->failed, true);
		return false;
	}
	memset(member->begin, 0, (team->nparts + 2) * sizeof(uint32_t));
	return true;
}

/* the entries that are in use of an array, by the highest bits of their tags */
static void
sort_entries(const CsvTeam *team, Member *member, const CsvKeyedSlot *entries,
			 size_t n)
{
	uint32_t   *begin = member->begin;

#define PART_OF(tag)	((uint32_t) ((uint64_t) (tag) * team->nparts >> 32))
	for (size_t i = 0; i < n; i++)
		if (entries[i].row != CSV_NO_ROW)
			begin[PART_OF(entries[i].tag) + 2]++;
	for (uint32_t p = 2; p <= team->nparts; p++)
		begin[p] += begin[p - 1];
	for (size_t i = 0; i < n; i++)
		if (entries[i].row != CSV_NO_ROW)
			member->listed[begin[PART_OF(entries[i].tag) + 1]++] = entries[i];
#undef PART_OF
}

/* step 1, for a member; the caller's groups have another seed */
static void
list_groups(void *arg, uint32_t number)
{
	CsvTeam    *team = arg;
	Member	   *member = &team->members[number];
	const CsvGroups *groups = groups_of(team, number);
	CsvKeyed	hasher = {.seed = team->seed};
	CsvKeyedSlot *entries;

	if (groups == NULL || give_up(team) ||
		!make_lists(team, member, groups->table.nrows))
		return;
	if (team->distinct)
	{
		member->numbers = get_memory(team, groups->table.nrows *
									 sizeof(uint32_t));
		if (member->numbers == NULL)
		{
			atomic_store(&team->failed, true);
			return;
		}
	}
	if (number < team->nmembers && team->query->nkeys > 0)
	{
		if (groups->table.slots != NULL)
			sort_entries(team, member, groups->table.slots,
						 (size_t) groups->table.slot_mask + 1);
		return;
	}
	entries = get_memory(team, groups->table.nrows * sizeof(CsvKeyedSlot));
	if (entries == NULL)
	{
		atomic_store(&team->failed, true);
		return;
	}
	for (uint32_t row = 0; row < groups->table.nrows; row++)
	{
		uint64_t	hash = team->seed;
		CsvValue	value;

		for (uint32_t key = 0; key < team->query->nkeys; key++)
		{
			csv_evaluator_key(member->evaluator, row, key, &value);
			hash = csv_keyed_hash(&hasher, hash, team->query->keys[key].lane,
								  &value);
		}
		entries[row].row = row;
		entries[row].tag = (uint32_t) hash;
	}
	sort_entries(team, member, entries, groups->table.nrows);
	drop_memory(team, entries);
}

/* entries of a part, in all lists */
static uint32_t
count_entries(const CsvTeam *team, uint32_t number)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i <= team->nmembers; i++)
		if (team->members[i].begin != NULL)
			n += team->members[i].begin[number + 1] -
				team->members[i].begin[number];
	return n;
}

/* slots for n entries, at most half of them full */
static uint32_t
slots_for(uint32_t n)
{
	uint32_t	nslots = 16;

	while (nslots / 2 < n)
		nslots *= 2;
	return nslots;
}

/* ---- step 2: groups ---- */

static bool
has_keys(const CsvTeam *team, const CsvPartialGroups *merged, uint32_t group,
		 const CsvKeyed *table, const uint8_t *row)
{
	const uint64_t *pair = merged->keys +
		(size_t) group * table->nkeys * 2;
	uint32_t	nulls;

	memcpy(&nulls, row + table->null_offset, 4);
	if (table->nkeys > 0 && nulls != merged->nulls[group])
		return false;
	for (uint32_t key = 0; key < table->nkeys; key++, pair += 2)
	{
		const uint8_t *place = row + table->offsets[key];
		CsvValue	value;

		if (table->lanes[key] == CSV_LANE_INT)
		{
			if ((nulls >> key & 1) == 0 && memcmp(place, pair, 8) != 0)
				return false;
			continue;
		}
		csv_partial_key(team->query, merged, group, key, &value);
		if (value.state == CSV_LANE_VALUE &&
			!csv_stored_equals(table->lanes[key], place, &value))
			return false;
	}
	return true;
}

/* a new group of the part, with nothing added */
static void
make_group(const CsvTeam *team, Part *part, uint32_t group,
		   const CsvKeyed *table, const uint8_t *row)
{
	uint64_t   *pair = (uint64_t *) part->groups.keys +
		(size_t) group * table->nkeys * 2;
	uint32_t   *nulls = (uint32_t *) part->groups.nulls + group;

	*nulls = 0;
	if (table->nkeys > 0)
		memcpy(nulls, row + table->null_offset, 4);
	for (uint32_t key = 0; key < table->nkeys; key++, pair += 2)
	{
		CsvValue	value;

		pair[0] = pair[1] = 0;
		if ((*nulls >> key & 1) != 0)
			continue;
		csv_load_value(table->lanes[key], row + table->offsets[key], &value);
		csv_value_to_pair(table->lanes[key], &value, pair);
	}
	memset((int64_t *) part->groups.words + (size_t) group *
		   team->layout.nwords, 0, team->layout.nwords * sizeof(int64_t));
}

/* add a member's groups to the part */
static void
merge_member(CsvTeam *team, Part *part, uint32_t number, uint32_t which,
			 CsvKeyedSlot *slots, uint32_t mask)
{
	const Member *member = &team->members[which];
	const CsvGroups *groups = groups_of(team, which);
	const CsvKeyed *table;
	uint32_t	end;

	if (groups == NULL || member->begin == NULL)
		return;
	table = &groups->table;
	end = member->begin[number + 1];
	for (uint32_t i = member->begin[number]; i < end; i++)
	{
		CsvKeyedSlot entry = member->listed[i];
		const uint8_t *row = csv_keyed_row(table, entry.row);
		uint32_t	at = entry.tag & mask;
		uint32_t	group;

		if (i + PREFETCH < end)
			__builtin_prefetch(csv_keyed_row(table,
											 member->listed[i + PREFETCH].row));
		while (slots[at].row != CSV_NO_ROW &&
			   (slots[at].tag != entry.tag ||
				!has_keys(team, &part->groups, slots[at].row, table, row)))
			at = (at + 1) & mask;
		group = slots[at].row;
		if (group == CSV_NO_ROW)
		{
			group = part->groups.ngroups++;
			slots[at].row = group;
			slots[at].tag = entry.tag;
			make_group(team, part, group, table, row);
		}
		if (which < team->nmembers)
			csv_groups_add_to_words(groups, entry.row,
									(int64_t *) part->groups.words +
									(size_t) group * team->layout.nwords);
		if (team->distinct)
			member->numbers[entry.row] = group;
	}
}

static void
merge_part(void *arg, uint32_t number)
{
	CsvTeam    *team = arg;
	Part	   *part;
	uint32_t	n;
	uint32_t	nslots;
	CsvKeyedSlot *slots;
	uint64_t   *keys;
	int64_t    *words;

	number += team->window_begin;
	part = &team->parts[number];
	if (give_up(team))
		return;
	n = count_entries(team, number);
	nslots = slots_for(n);
	slots = get_memory(team, nslots * sizeof(CsvKeyedSlot));
	part->memory = get_memory(team, (size_t) n *
							  (team->query->nkeys * 16 +
							   (size_t) team->layout.nwords * 8 + 4));
	if (slots == NULL || part->memory == NULL)
		atomic_store(&team->failed, true);
	else
	{
		keys = part->memory;
		words = (int64_t *) (keys + (size_t) n * team->query->nkeys * 2);
		part->groups.keys = keys;
		part->groups.words = words;
		part->groups.nulls = (uint32_t *) (words + (size_t) n *
										   team->layout.nwords);
		/* all ones: no row */
		memset(slots, 0xff, nslots * sizeof(CsvKeyedSlot));
		for (uint32_t i = 0; i <= team->nmembers; i++)
			merge_member(team, part, number, i, slots, nslots - 1);
	}
	drop_memory(team, slots);
}

/* have helpers merge the next parts */
static void
start_window(CsvTeam *team)
{
	uint32_t	n = team->nparts - team->nmerged;

	if (n > 2 * team->nmembers)
		n = 2 * team->nmembers;
	team->window_begin = team->nmerged;
	team->window_end = team->nmerged + n;
	if (n > 0)
		csv_crew_start(&team->crew, n, merge_part, team);
}

CsvStatus
csv_team_groups(CsvTeam *team, CsvPartialGroups *groups)
{
	memset(groups, 0, sizeof(*groups));
	if (!team->stayed)
		return CSV_OK;
	if (team->next > 0)
		drop_part(team, &team->parts[team->next - 1]);
	while (team->next < team->nparts)
	{
		if (team->next == team->nmerged)
		{
			if (team->window_end == team->nmerged)
				start_window(team);
			csv_crew_finish(&team->crew);
			if (atomic_load(&team->failed))
				return CSV_NO_MEMORY;
			team->nmerged = team->window_end;
			start_window(team);
		}
		*groups = team->parts[team->next++].groups;
		if (groups->ngroups > 0)
			return CSV_OK;
		drop_part(team, &team->parts[team->next - 1]);
	}
	return CSV_OK;
}

/* ---- values that COUNT_DISTINCT has counted ---- */

static const CsvKeyed *
values_of(const CsvTeam *team, uint32_t member)
{
	const CsvGroups *groups = groups_of(team, member);

	return groups == NULL ? NULL :
		&groups->accumulators[team->counted].distinct;
}

static void
list_values(void *arg, uint32_t number)
{
	CsvTeam    *team = arg;
	Member	   *member = &team->members[number];
	const CsvKeyed *table = values_of(team, number);
	CsvKeyed	hasher = {.seed = team->seed};
	CsvKeyedSlot *entries;

	if (table == NULL || give_up(team) ||
		!make_lists(team, member, table->nrows))
		return;
	entries = get_memory(team, table->nrows * sizeof(CsvKeyedSlot));
	if (entries == NULL)
	{
		atomic_store(&team->failed, true);
		return;
	}
	for (uint32_t row = 0; row < table->nrows; row++)
	{
		CsvValue	value;
		uint32_t	group =
			csv_distinct_value(&groups_of(team, number)->accumulators
							   [team->counted], row, &value);
		uint64_t	hash = csv_hash_word(team->seed, team->seed,
										 member->numbers[group]);

		entries[row].row = row;
		entries[row].tag = (uint32_t) csv_keyed_hash(&hasher, hash,
													 table->lanes[1], &value);
	}
	sort_entries(team, member, entries, table->nrows);
	drop_memory(team, entries);
}

typedef struct ValueSlot
{
	const uint8_t *place;		/* of the value; NULL: free */
	uint32_t	tag;
	uint32_t	number;			/* of its group */
} ValueSlot;

/* is it new?  Then it has a slot now. */
static bool
add_value(ValueSlot *slots, uint32_t mask, uint8_t lane, ValueSlot entry)
{
	uint32_t	at = entry.tag & mask;
	CsvValue	value;

	csv_load_value(lane, entry.place, &value);
	while (slots[at].place != NULL &&
		   (slots[at].tag != entry.tag || slots[at].number != entry.number ||
			!csv_stored_equals(lane, slots[at].place, &value)))
		at = (at + 1) & mask;
	if (slots[at].place != NULL)
		return false;
	slots[at] = entry;
	return true;
}

static void
count_values(void *arg, uint32_t number)
{
	CsvTeam    *team = arg;
	uint32_t	nslots;
	ValueSlot  *slots;

	if (give_up(team))
		return;
	nslots = slots_for(count_entries(team, number));
	slots = get_memory(team, nslots * sizeof(ValueSlot));
	if (slots == NULL)
	{
		atomic_store(&team->failed, true);
		return;
	}
	memset(slots, 0, nslots * sizeof(ValueSlot));

	/* the caller's first: what is there has been counted */
	for (uint32_t i = team->nmembers + 1; i-- > 0;)
	{
		const Member *member = &team->members[i];
		const CsvKeyed *table = values_of(team, i);
		uint32_t	last = 0;
		uint32_t	n = 0;

		if (table == NULL || member->begin == NULL)
			continue;
		for (uint32_t k = member->begin[number];
			 k < member->begin[number + 1]; k++)
		{
			const uint8_t *row = csv_keyed_row(table, member->listed[k].row);
			ValueSlot	entry = {row + table->offsets[1],
			member->listed[k].tag, 0};
			CsvValue	group;

			if (k + PREFETCH < member->begin[number + 1])
				__builtin_prefetch(csv_keyed_row(table,
												 member->listed[k + PREFETCH].row));
			csv_load_value(CSV_LANE_INT, row, &group);
			entry.number = member->numbers[group.value.integer];
			if (!add_value(slots, nslots - 1, table->lanes[1], entry) ||
				i == team->nmembers)
				continue;
			if (entry.number != last)
			{
				__atomic_fetch_add(&team->counts[last], n, __ATOMIC_RELAXED);
				n = 0;
			}
			last = entry.number;
			n++;
		}
		if (n > 0)
			__atomic_fetch_add(&team->counts[last], n, __ATOMIC_RELAXED);
	}
	drop_memory(team, slots);
}

/* how many parts for n entries in all */
static uint32_t
parts_for(const CsvTeam *team, size_t n)
{
	uint32_t	nparts = 1;

	while (nparts < MOST_PARTS &&
		   (nparts < 4 * team->nmembers || nparts < n / PART_GROUPS))
		nparts *= 2;
	return nparts;
}

/* numbers of groups among those of their part become numbers among all */
static uint32_t
number_groups(CsvTeam *team)
{
	uint32_t	ngroups = 0;

	for (uint32_t p = 0; p < team->nparts; p++)
	{
		for (uint32_t i = 0; i <= team->nmembers; i++)
		{
			Member	   *member = &team->members[i];

			if (member->begin == NULL)
				continue;
			for (uint32_t k = member->begin[p]; k < member->begin[p + 1]; k++)
				member->numbers[member->listed[k].row] += ngroups;
		}
		ngroups += team->parts[p].groups.ngroups;
	}
	return ngroups;
}

/* count the values of one aggregate, which `team->counted` is */
static void
count_aggregate(CsvTeam *team, uint32_t ngroups)
{
	uint32_t	nparts = team->nparts;
	uint32_t	input = team->layout.input[team->counted];
	const uint32_t *count = team->counts;
	size_t		nvalues = 0;

	memset(team->counts, 0, ngroups * sizeof(uint32_t));
	for (uint32_t i = 0; i <= team->nmembers; i++)
		nvalues += values_of(team, i) == NULL ? 0 : values_of(team, i)->nrows;
	team->nparts = parts_for(team, nvalues);
	csv_crew_run(&team->crew, team->nmembers + 1, list_values, team);
	csv_crew_run(&team->crew, team->nparts, count_values, team);
	drop_lists(team);
	team->nparts = nparts;
	for (uint32_t p = 0; p < nparts; p++)
	{
		const CsvPartialGroups *groups = &team->parts[p].groups;
		int64_t    *words = (int64_t *) groups->words + input;

		for (uint32_t g = 0; g < groups->ngroups; g++)
			words[(size_t) g * team->layout.nwords] = *count++;
	}
}

/* merge all groups at once, and then count values */
static CsvStatus
merge_distinct(CsvTeam *team)
{
	uint32_t	ngroups;

	team->window_begin = 0;
	csv_crew_run(&team->crew, team->nparts, merge_part, team);
	if (give_up(team))
		return CSV_NO_MEMORY;
	ngroups = number_groups(team);
	drop_lists(team);
	team->counts = get_memory(team, ngroups * sizeof(uint32_t));
	if (team->counts == NULL)
		return CSV_NO_MEMORY;
	for (uint32_t i = 0; i < team->query->naggregates && !give_up(team); i++)
		if (team->query->aggregate[i].kind == CSV_AGGREGATE_COUNT_DISTINCT)
		{
			team->counted = i;
			count_aggregate(team, ngroups);
		}
	team->nmerged = team->nparts;
	team->window_end = team->nparts;
	return CSV_OK;
}

/* ---- the end ---- */

static CsvStatus
absorb_members(CsvTeam *team, CsvEvaluator *into)
{
	CsvStatus	status = CSV_OK;

	for (uint32_t i = 0; i < team->nmembers; i++)
	{
		Member	   *member = &team->members[i];

		if (groups_of(team, i) != NULL && status == CSV_OK)
			status = csv_evaluator_absorb(into, member->evaluator);
		drop_evaluator(member->evaluator);
		member->evaluator = NULL;
	}
	return status;
}

CsvStatus
csv_team_finish(CsvTeam *team, CsvEvaluator *into, bool must_add,
				bool (*interrupted) (void *arg), void *interrupted_arg)
{
	size_t		ngroups = 0;
	size_t		nvalues = 0;
	CsvStatus	status = CSV_OK;

	if (!team->query->aggregates || team->stayed)
		return CSV_OK;
	for (uint32_t i = 0; i < team->nmembers; i++)
	{
		const CsvGroups *groups = groups_of(team, i);

		if (groups == NULL)
			continue;
		ngroups += groups->table.nrows;
		for (uint32_t k = 0; k < team->query->naggregates; k++)
			nvalues += groups->accumulators[k].distinct.nrows;
	}

	/* what is merged at once takes about as much again */
	if (must_add || (ngroups <= FEW_ENTRIES && nvalues <= FEW_ENTRIES) ||
		(team->distinct && team->limit_bytes > 0 &&
		 atomic_load(&team->nbytes) > team->limit_bytes / 2))
		return absorb_members(team, into);

	team->stayed = true;
	csv_crew_begin(&team->crew, interrupted, interrupted_arg);
	team->nparts = team->query->nkeys == 0 ? 1 : parts_for(team, ngroups);
	team->parts = get_memory(team, team->nparts * sizeof(Part));
	if (team->parts == NULL)
		return CSV_NO_MEMORY;
	memset(team->parts, 0, team->nparts * sizeof(Part));
	if (team->distinct)
		team->members[team->nmembers].evaluator = into;
	csv_crew_run(&team->crew, team->nmembers + 1, list_groups, team);
	if (team->distinct && !give_up(team))
		status = merge_distinct(team);
	if (csv_crew_was_interrupted(&team->crew))
		return CSV_INTERRUPTED;
	/* nobody asks while the caller does something else */
	csv_crew_begin(&team->crew, NULL, NULL);
	return atomic_load(&team->failed) ? CSV_NO_MEMORY : status;
}
