/*
 * team.c
 *		Several threads evaluate one query.
 *
 * Merging many groups.  All members hash keys by the same seed, and their slots are in
 * the order of the hash.  (The groups of the caller's evaluator are taken as the
 * groups of one more member.)  So the groups fall into parts, by hash, that are
 * independent of each other.  One thread merges a part, into arrays of the different
 * keys and of their sums, as in CsvPartialGroups.  Parts are small enough for a
 * processor's caches.  While the caller takes the parts of one window, helpers merge
 * the next window.
 *
 * COUNT_DISTINCT has counted values in the groups of each member.  So all parts are
 * merged first, and each group gets a number among all groups.  Values fall into parts,
 * too, by the hash of group and value; one thread counts a part.
 *
 * Memory.  When groups take more than the limit, a member writes its groups to the file
 * of the query (spilled.h).  While there is no file, it evaluates no further batches:
 * the caller must do so, and can make the file.
 */
#include "team.h"

#include "../reader/arrays.h"
#include "../reader/crew.h"
#include "accumulate.h"
#include "evaluator.h"
#include "groups.h"
#include "spilled.h"

/* up to this number, groups and values are added one by one: that takes about 1 ms */
#define FEW_ENTRIES		8192

/* groups of a part, about: a merged part stays in a second-level cache */
#define PART_GROUPS		8192
#define MOST_PART_BITS	12

/*
 * Each member numbers the groups that it remembers anew.  More classes than this are
 * not worth it.
 */
#define MOST_CLASSES	65536

typedef struct TeamMember
{
	CsvEvaluator *evaluator;	/* NULL: none yet */
	uint8_t    *doubtful;
	size_t		capacity;

	/* COUNT_DISTINCT */
	uint32_t   *numbers;		/* of its groups, among all */
} TeamMember;

/* a batch's answer */
typedef struct TeamSlot
{
	CsvAnswer	answer;
	void	   *room;			/* memory of the selection's arrays */
	uint32_t	capacity;		/* in rows */
} TeamSlot;

typedef struct TeamPart
{
	CsvPartialGroups groups;
	void	   *memory;			/* of these arrays: */
	uint64_t   *keys;
	uint32_t   *nulls;
	int64_t    *words;
	uint32_t	first;			/* number of its first group among all */
} TeamPart;

struct CsvTeam
{
	CsvMemory	memory;
	const CsvEvaluator *leader; /* the caller's */
	const CsvQuery *query;
	CsvPartialLayout layout;
	uint32_t	nmembers;
	TeamMember	   *members;		/* and one more, for the caller's evaluator */
	CsvSpill   *spill;			/* NULL: memory has no limit */
	TeamSlot		slots[CSV_BATCH_SLOTS];

	/* of csv_team_run_all() */
	const CsvLayout *run_layout;
	CsvTeamBatch *batches;
	uint32_t	nbatches;
	atomic_uint next_batch;

	/* merging */
	CsvCrew		crew;
	CsvGroupsMaker maker;		/* for merged groups; may have no function */
	atomic_bool failed;			/* no memory */
	bool		stayed;			/* groups are here, for csv_team_groups() */
	uint32_t	bits;			/* number of a tag's bits that tell its part */
	uint32_t	nparts;			/* number of parts */
	TeamPart	   *parts;
	uint32_t	next;			/* part to hand out */
	bool		distinct;		/* all parts are merged first */
	uint32_t	value_bits;		/* as `bits`, for values of COUNT_DISTINCT */
	uint32_t	counted;		/* the aggregate whose values are counted */
	uint32_t   *counts;			/* by number of a group: its count */
};

static void *
get_memory(const CsvTeam *team, size_t nbytes)
{
	return team->memory.alloc(team->memory.owner, nbytes > 0 ? nbytes : 1);
}

CsvTeam *
csv_team_create(const CsvMemory *memory, const CsvEvaluator *leader,
				uint32_t nmembers)
{
	const CsvQuery *query = leader->query;
	CsvTeam    *team = csv_alloc_zeros(memory, sizeof(CsvTeam));

	if (team == NULL)
		return NULL;
	team->memory = *memory;
	team->leader = leader;
	team->query = query;
	team->nmembers = nmembers < 1 ? 1 : nmembers < CSV_MAX_THREADS ?
		nmembers : CSV_MAX_THREADS;
	csv_partial_lay_out(query, &team->layout);
	team->spill = leader->groups == NULL ? NULL : leader->groups->spill;
	csv_crew_init(&team->crew, team->nmembers);
	atomic_init(&team->failed, false);
	team->members = csv_alloc_zeros(memory,
									(team->nmembers + 1) * sizeof(TeamMember));
	if (team->members == NULL)
	{
		csv_free(memory, team);
		return NULL;
	}
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
drop_part(CsvTeam *team, TeamPart *part)
{
	csv_free(&team->memory, part->groups.made);
	csv_free(&team->memory, part->memory);
	memset(part, 0, sizeof(*part));
}

void
csv_team_free(CsvTeam *team)
{
	CsvMemory	memory = team->memory;

	atomic_store(&team->failed, true);	/* helpers give up */
	csv_crew_close(&team->crew);
	for (uint32_t i = 0; i <= team->nmembers; i++)
	{
		TeamMember	   *member = &team->members[i];

		drop_evaluator(member->evaluator);
		csv_free(&team->memory, member->doubtful);
		csv_free(&team->memory, member->numbers);
	}
	for (uint32_t i = 0; i < CSV_BATCH_SLOTS; i++)
		csv_free(&team->memory, team->slots[i].room);
	for (uint32_t i = 0; team->parts != NULL && i < team->nparts; i++)
		drop_part(team, &team->parts[i]);
	csv_free(&team->memory, team->parts);
	csv_free(&team->memory, team->counts);
	csv_free(&team->memory, team->members);
	csv_free(&memory, team);
}

void
csv_team_set_query(CsvTeam *team, const CsvQuery *query)
{
	team->query = query;
	for (uint32_t i = 0; i < team->nmembers; i++)
		if (team->members[i].evaluator != NULL)
			csv_evaluator_set_query(team->members[i].evaluator, query);
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

/* a CsvMakeRoomFn for a member */
static bool
make_room(void *arg, CsvGroups *groups)
{
	CsvSpill   *spill = arg;

	if (atomic_load(&spill->fd) >= 0)
		return csv_spill_write(spill, &spill->groups, &spill->values, groups);
	atomic_store(&spill->wanted, true);
	return true;
}

/* false: no memory */
static bool
prepare_member(CsvTeam *team, TeamMember *member, uint32_t nrows)
{
	if (member->evaluator == NULL)
	{
		member->evaluator = csv_evaluator_create_like(&team->memory,
													  team->leader);
		if (member->evaluator == NULL)
			return false;
		if (member->evaluator->groups != NULL)
			member->evaluator->groups->most_classes = MOST_CLASSES;
		if (team->spill != NULL)
			csv_evaluator_limit(member->evaluator, team->spill, make_room, team->spill);
	}
	return csv_renew(&team->memory, &member->doubtful, &member->capacity, nrows);
}

/* the selection's arrays go to the slot; the evaluator gets the slot's arrays */
static void
keep_selection(CsvEvaluator *evaluator, TeamSlot *slot)
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

/* must a member leave its batches to the caller, because there is no file yet? */
static bool
waits_for_file(const CsvTeam *team, const TeamMember *member)
{
	return team->spill != NULL && atomic_load(&team->spill->fd) < 0 &&
		atomic_load(&team->spill->wanted) &&
		(member->evaluator == NULL || csv_groups_are_full(member->evaluator->groups));
}

const CsvAnswer *
csv_team_run(CsvTeam *team, uint32_t number, uint32_t slot_number,
			 const CsvLayout *layout, const CsvBatch *batch,
			 bool (*interrupted) (void *arg), void *interrupted_arg)
{
	TeamMember	   *member = &team->members[number];
	TeamSlot	   *slot = &team->slots[slot_number];
	CsvAnswer  *answer = &slot->answer;

	if (waits_for_file(team, member))
		return NULL;
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
	return answer;
}

/* a member's share of many batches */
static void
run_batches(void *arg, uint32_t number)
{
	CsvTeam    *team = arg;
	TeamMember	   *member = &team->members[number];
	uint32_t	i;

	while ((i = atomic_fetch_add(&team->next_batch, 1)) < team->nbatches)
	{
		CsvTeamBatch *batch = &team->batches[i];

		batch->answer = NULL;
		if (waits_for_file(team, member))
			continue;
		if (!prepare_member(team, member, batch->batch->nrows))
		{
			atomic_store(&team->failed, true);
			return;
		}
		if (member->evaluator->groups != NULL)
			csv_evaluator_remember(member->evaluator, batch->classes);
		batch->answer = csv_team_run(team, number, i, team->run_layout,
									 batch->batch, csv_crew_interrupted,
									 &team->crew);
	}
}

CsvStatus
csv_team_run_all(CsvTeam *team, const CsvLayout *layout, CsvTeamBatch *batches,
				 uint32_t nbatches, bool (*interrupted) (void *arg),
				 void *interrupted_arg)
{
	team->run_layout = layout;
	team->batches = batches;
	team->nbatches = nbatches;
	atomic_store(&team->next_batch, 0);
	csv_crew_begin(&team->crew, interrupted, interrupted_arg);
	csv_crew_run(&team->crew, team->nmembers, run_batches, team);
	csv_crew_begin(&team->crew, NULL, NULL);
	for (uint32_t i = 0; i < nbatches; i++)
		if (batches[i].answer != NULL && batches[i].answer->status != CSV_OK)
			return batches[i].answer->status;
	return atomic_load(&team->failed) ? CSV_NO_MEMORY : CSV_OK;
}

void
csv_team_forget(CsvTeam *team)
{
	for (uint32_t i = 0; i < team->nmembers; i++)
		if (team->members[i].evaluator != NULL &&
			team->members[i].evaluator->groups != NULL)
			csv_evaluator_forget(team->members[i].evaluator);
}

/* ---- merging: for groups and values ---- */

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

/* the part of a tag, if there are 2^bits parts */
static inline uint32_t
part_of(uint32_t tag, uint32_t bits)
{
	return (uint32_t) ((uint64_t) tag >> (32 - bits));
}

/* number of slots for n entries, at most half of them full */
static uint32_t
slots_for(uint32_t n)
{
	uint32_t	nslots = 16;

	while (nslots / 2 < n)
		nslots *= 2;
	return nslots;
}

/* ---- merging groups ---- */

static bool
has_keys(const CsvTeam *team, const CsvPartialGroups *merged, uint32_t group,
		 const CsvKeyed *table, const uint8_t *row)
{
	const uint64_t *pair = merged->keys +
		(size_t) group * table->nkeys * 2;
	uint32_t	nulls;

	if (table->nkeys == 0)
		return true;
	memcpy(&nulls, row + table->null_offset, 4);
	if (nulls != merged->nulls[group])
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

/* make a new group of the part, with nothing added */
static void
make_group(const CsvTeam *team, TeamPart *part, uint32_t group,
		   const CsvKeyed *table, const uint8_t *row)
{
	csv_groups_get_keys(table, row,
						part->keys + (size_t) group * table->nkeys * 2,
						part->nulls + group);
	memset(part->words + (size_t) group * team->layout.nwords, 0,
		   team->layout.nwords * sizeof(int64_t));
}

/* add a group of a member to the part */
static void
merge_group(CsvTeam *team, TeamPart *part, uint32_t which, CsvKeyedSlot entry,
			CsvKeyedSlot *slots, uint32_t mask)
{
	const CsvGroups *groups = groups_of(team, which);
	const CsvKeyed *table = &groups->table;
	const uint8_t *row = csv_keyed_row(table, entry.row);
	uint32_t	at = entry.tag & mask;
	uint32_t	group;

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
	csv_groups_add_to_words(groups, entry.row, row,
							part->words + (size_t) group * team->layout.nwords);
	if (team->distinct)
		team->members[which].numbers[entry.row] = group;
}

/* go through a member's groups of a part */
static void
begin_of_member(const CsvTeam *team, CsvKeyedPart *part, uint32_t member,
				uint32_t number)
{
	static const CsvKeyed nothing;
	const CsvGroups *groups = groups_of(team, member);

	csv_keyed_begin_part(part, groups == NULL ? &nothing : &groups->table,
						 team->bits, number);
}

static void
merge_part(void *arg, uint32_t number)
{
	CsvTeam    *team = arg;
	TeamPart	   *part = &team->parts[number];
	CsvKeyedPart of_member;
	const CsvKeyedSlot *slot;
	uint32_t	n = 0;
	uint32_t	nslots;
	CsvKeyedSlot *slots;

	if (give_up(team))
		return;
	for (uint32_t i = 0; i <= team->nmembers; i++)
		for (begin_of_member(team, &of_member, i, number);
			 csv_keyed_next_of_part(&of_member) != NULL;)
			n++;
	nslots = slots_for(n);
	slots = get_memory(team, nslots * sizeof(CsvKeyedSlot));
	part->memory = get_memory(team, (size_t) n *
							  (team->query->nkeys * 16 +
							   (size_t) team->layout.nwords * 8 + 4));
	if (slots == NULL || part->memory == NULL)
		atomic_store(&team->failed, true);
	else
	{
		part->keys = part->memory;
		part->words = (int64_t *) (part->keys + (size_t) n *
								   team->query->nkeys * 2);
		part->nulls = (uint32_t *) (part->words + (size_t) n *
									team->layout.nwords);
		part->groups.keys = part->keys;
		part->groups.words = part->words;
		part->groups.nulls = part->nulls;
		/* all bits set: no row */
		memset(slots, 0xff, nslots * sizeof(CsvKeyedSlot));
		for (uint32_t i = 0; i <= team->nmembers; i++)
			for (begin_of_member(team, &of_member, i, number);
				 (slot = csv_keyed_next_of_part(&of_member)) != NULL;)
				merge_group(team, part, i, *slot, slots, nslots - 1);
	}
	csv_free(&team->memory, slots);
	if (part->groups.ngroups > 0 && team->maker.function != NULL)
		part->groups.made = team->maker.function(team->maker.arg,
												 &team->memory,
												 &part->groups);
}

CsvStatus
csv_team_groups(CsvTeam *team, CsvPartialGroups *groups)
{
	memset(groups, 0, sizeof(*groups));
	if (!team->stayed)
		return CSV_OK;
	if (team->next == 0 && !team->distinct)
	{
		CsvCrewWork work = {
			.nparts = team->nparts,.most = 4 * team->nmembers,
			.work = merge_part,.arg = team
		};

		csv_crew_start_work(&team->crew, &work);
	}
	if (team->next > 0)
		drop_part(team, &team->parts[team->next - 1]);
	while (team->next < team->nparts)
	{
		uint32_t	number = team->next++;

		if (!team->distinct)
			csv_crew_next(&team->crew, &number);
		if (atomic_load(&team->failed))
			return CSV_NO_MEMORY;
		*groups = team->parts[number].groups;
		if (groups->ngroups > 0)
			return CSV_OK;
		drop_part(team, &team->parts[number]);
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

/* go through a member's values of a part */
static void
begin_values(const CsvTeam *team, CsvKeyedPart *part, uint32_t member,
			 uint32_t number)
{
	static const CsvKeyed nothing;
	const CsvKeyed *table = values_of(team, member);

	csv_keyed_begin_part(part, table == NULL ? &nothing : table,
						 team->value_bits, number);
}

typedef struct ValueSlot
{
	const uint8_t *place;		/* of the value; NULL: free */
	uint32_t	tag;
	uint32_t	number;			/* of its group */
} ValueSlot;

/* is a value new?  Then it gets a slot. */
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
	CsvKeyedPart part;
	const CsvKeyedSlot *slot;
	uint32_t	nvalues = 0;
	uint32_t	nslots;
	ValueSlot  *slots;

	if (give_up(team))
		return;
	for (uint32_t i = 0; i <= team->nmembers; i++)
		for (begin_values(team, &part, i, number);
			 csv_keyed_next_of_part(&part) != NULL;)
			nvalues++;
	nslots = slots_for(nvalues);
	slots = csv_alloc_zeros(&team->memory, nslots * sizeof(ValueSlot));
	if (slots == NULL)
	{
		atomic_store(&team->failed, true);
		return;
	}

	for (uint32_t i = 0; i <= team->nmembers; i++)
	{
		const TeamMember *member = &team->members[i];
		const CsvKeyed *table = values_of(team, i);
		uint32_t	last = 0;
		uint32_t	n = 0;

		for (begin_values(team, &part, i, number);
			 (slot = csv_keyed_next_of_part(&part)) != NULL;)
		{
			const uint8_t *row = csv_keyed_row(table, slot->row);
			ValueSlot	entry = {row + table->offsets[1], slot->tag, 0};
			CsvValue	group;

			csv_load_value(CSV_LANE_INT, row, &group);
			entry.number = member->numbers[group.value.integer];
			if (!add_value(slots, nslots - 1, table->lanes[1], entry))
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
	csv_free(&team->memory, slots);
}

/* log2 of the number of parts for n entries in all */
static uint32_t
bits_for(const CsvTeam *team, size_t n)
{
	uint32_t	bits = 1;

	while (bits < MOST_PART_BITS &&
		   (4 * team->nmembers > 1u << bits || n / PART_GROUPS > 1u << bits))
		bits++;
	return bits;
}

/* numbers of groups within their part become numbers among all; returns how many */
static uint32_t
number_groups(CsvTeam *team)
{
	uint32_t	ngroups = 0;

	for (uint32_t p = 0; p < team->nparts; p++)
	{
		team->parts[p].first = ngroups;
		ngroups += team->parts[p].groups.ngroups;
	}
	for (uint32_t i = 0; i <= team->nmembers; i++)
	{
		const CsvGroups *groups = groups_of(team, i);
		const CsvKeyed *table = groups == NULL ? NULL : &groups->table;

		for (size_t at = 0; table != NULL && table->slots != NULL &&
			 at <= table->slot_mask; at++)
			if (table->slots[at].row != CSV_NO_ROW)
				team->members[i].numbers[table->slots[at].row] +=
					team->parts[part_of(table->slots[at].tag,
										team->bits)].first;
	}
	return ngroups;
}

/* count the values of one aggregate, `team->counted` */
static void
count_aggregate(CsvTeam *team, uint32_t ngroups)
{
	uint32_t	input = team->layout.input[team->counted];
	const uint32_t *count = team->counts;
	size_t		nvalues = 0;

	memset(team->counts, 0, ngroups * sizeof(uint32_t));
	for (uint32_t i = 0; i <= team->nmembers; i++)
		nvalues += values_of(team, i) == NULL ? 0 : values_of(team, i)->nrows;
	team->value_bits = bits_for(team, nvalues);
	csv_crew_run(&team->crew, 1u << team->value_bits, count_values, team);
	for (uint32_t p = 0; p < team->nparts; p++)
	{
		int64_t    *words = team->parts[p].words + input;

		for (uint32_t g = 0; g < team->parts[p].groups.ngroups; g++)
			words[(size_t) g * team->layout.nwords] = *count++;
	}
}

/* merge all groups at once, and then count values */
static CsvStatus
merge_distinct(CsvTeam *team)
{
	uint32_t	ngroups;

	for (uint32_t i = 0; i <= team->nmembers; i++)
	{
		const CsvGroups *groups = groups_of(team, i);

		if (groups == NULL)
			continue;
		team->members[i].numbers = get_memory(team, groups->table.nrows *
											  sizeof(uint32_t));
		if (team->members[i].numbers == NULL)
			return CSV_NO_MEMORY;
	}
	csv_crew_run(&team->crew, team->nparts, merge_part, team);
	if (give_up(team))
		return CSV_NO_MEMORY;
	ngroups = number_groups(team);
	team->counts = get_memory(team, ngroups * sizeof(uint32_t));
	if (team->counts == NULL)
		return CSV_NO_MEMORY;
	for (uint32_t i = 0; i < team->query->naggregates && !give_up(team); i++)
		if (team->query->aggregate[i].kind == CSV_AGGREGATE_COUNT_DISTINCT)
		{
			team->counted = i;
			count_aggregate(team, ngroups);
		}
	return CSV_OK;
}

/* ---- the end ---- */

static CsvStatus
absorb_members(CsvTeam *team, CsvEvaluator *into)
{
	CsvStatus	status = CSV_OK;

	for (uint32_t i = 0; i < team->nmembers; i++)
	{
		TeamMember	   *member = &team->members[i];

		if (groups_of(team, i) != NULL && status == CSV_OK)
			status = csv_evaluator_absorb(into, member->evaluator);
		drop_evaluator(member->evaluator);
		member->evaluator = NULL;
	}
	return status;
}

static void
spill_member(void *arg, uint32_t number)
{
	CsvTeam    *team = arg;

	if (groups_of(team, number) != NULL &&
		!csv_spill_write(team->spill, &team->spill->groups, &team->spill->values,
						 groups_of(team, number)))
		atomic_store(&team->failed, true);
}

CsvStatus
csv_team_finish(CsvTeam *team, CsvEvaluator *into, CsvGather gather,
				const CsvGroupsMaker *maker,
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

	if (gather == CSV_GATHER_SPILL)
	{
		csv_crew_run(&team->crew, team->nmembers, spill_member, team);
		return atomic_load(&team->failed) ? CSV_NO_MEMORY : CSV_OK;
	}
	if (gather == CSV_GATHER_ADD ||
		(gather == CSV_GATHER_CHOOSE && ngroups <= FEW_ENTRIES &&
		 nvalues <= FEW_ENTRIES))
		return absorb_members(team, into);

	team->members[team->nmembers].evaluator = csv_evaluator_take_groups(into);
	if (team->members[team->nmembers].evaluator == NULL)
		return CSV_NO_MEMORY;
	team->stayed = true;
	/* the maker cannot run: COUNT_DISTINCT writes its counts into merged groups */
	if (maker != NULL && !team->distinct)
		team->maker = *maker;
	csv_crew_begin(&team->crew, interrupted, interrupted_arg);
	team->bits = team->query->nkeys == 0 ? 0 : bits_for(team, ngroups);
	team->nparts = 1u << team->bits;
	team->parts = csv_alloc_zeros(&team->memory, team->nparts * sizeof(TeamPart));
	if (team->parts == NULL)
		return CSV_NO_MEMORY;
	if (team->distinct)
		status = merge_distinct(team);
	if (csv_crew_was_interrupted(&team->crew))
		return CSV_INTERRUPTED;
	/* no interrupts while the caller does something else */
	csv_crew_begin(&team->crew, NULL, NULL);
	return atomic_load(&team->failed) ? CSV_NO_MEMORY : status;
}
