/*
 * groups.c
 *		Groups and their aggregates.
 *
 * A block of rows is added in these steps:
 *
 *	1. Hashes of all rows' keys, one key after the other.
 *	2. The hash table has, for each row's hash, a group that the row may belong to.
 *	   All keys are compared, one after the other.  As a rule, most rows find their
 *	   groups in this way.  The other rows are looked up one by one, and make new
 *	   groups, in the order of the rows.
 *	3. The rows are listed by group, in their own order within each group.  If groups
 *	   are few, a block has long runs of rows of one group.
 *	4. Each aggregate is one loop over the runs (accumulate.c).
 *
 * If rows stay from query to query, their groups may be known by number.  Then steps 1
 * and 2 are not needed.
 *
 * A group keeps (see keyed.h for its keys):
 *
 *	counters		4 bytes each.  Aggregates of the same argument and filter
 *					share a counter.
 *	SUM				8 or 16 bytes; FLOAT: a CsvFloatSum
 *	SUM_SQUARES		16 bytes; FLOAT: a CsvFloatSum
 *	MIN, MAX		the value (a text is in the arena), and a bit: is there one?
 *	COUNT_DISTINCT	only its counter; its values are in a table of their own
 */
#include "groups.h"

#include "../reader/arrays.h"
#include "accumulate.h"
#include "evaluator.h"
#include "spill.h"

/* up to this number of groups, rows are sorted by group */
#define FEW_GROUPS		256

/* hash tables of more slots than this are not in the caches */
#define MANY_SLOTS		(64 * 1024)

/*
 * The arrays of a block have this many entries, or times BLOCK_GROWTH, and so on.
 * BLOCK_BYTES: of all arrays for one entry.
 */
#define LEAST_BLOCK_ROWS	16
#define BLOCK_GROWTH	8
#define BLOCK_BYTES \
	(2 * sizeof(CsvRun) + 8 + sizeof(uint8_t *) + 4 * 4 + 3 * 2)

/* ---- the layout of a group ---- */

static uint32_t
accumulator_bytes(const CsvAggregate *aggregate, bool is_wide)
{
	switch (aggregate->kind)
	{
		case CSV_AGGREGATE_SUM:
			return aggregate->lane == CSV_LANE_FLOAT ? sizeof(CsvFloatSum) :
				is_wide ? 16 : 8;
		case CSV_AGGREGATE_SUM_SQUARES:
			return aggregate->lane == CSV_LANE_FLOAT ? sizeof(CsvFloatSum) : 16;
		case CSV_AGGREGATE_MIN:
		case CSV_AGGREGATE_MAX:
			return csv_stored_bytes(aggregate->lane);
		default:
			return 0;
	}
}

void
csv_groups_settle(CsvGroups *groups, const CsvLanes *registers)
{
	const CsvQuery *query = groups->query;
	uint8_t		lanes[CSV_MAX_KEYS];
	uint32_t	payload_bytes = 0;
	uint32_t	payload;
	uint32_t	nextremes = 0;
	uint32_t	ncounters = groups->partial.ninputs;
	uint32_t	spare;			/* counters in the four bytes behind the word of
								 * NULLs */
	uint32_t	nwords;			/* four bytes each: other counters, bits, and a tag */
	bool		any_distinct = false;
	bool		is_wide[CSV_MAX_AGGREGATES];

	if (groups->ready)
		return;
	groups->ready = true;

	/*
	 * If the first values are short, most values and their sums will be short.  Longer
	 * sums have a carry.
	 */
	for (uint32_t i = 0; i < query->naggregates; i++)
		is_wide[i] = query->aggregate[i].kind == CSV_AGGREGATE_SUM &&
			(registers == NULL || registers[query->aggregate[i].argument].wide);
	if (groups->spill != NULL)
		csv_spill_settle(groups->spill, is_wide, query->naggregates);
	for (uint32_t key = 0; key < query->nkeys; key++)
		lanes[key] = query->keys[key].lane;
	for (uint32_t i = 0; i < query->naggregates; i++)
	{
		const CsvAggregate *aggregate = &query->aggregate[i];
		CsvAccumulator *accumulator = &groups->accumulators[i];

		accumulator->nbytes = accumulator_bytes(aggregate, is_wide[i]);
		accumulator->offset = payload_bytes;
		payload_bytes += accumulator->nbytes;
		if (csv_is_extreme(aggregate))
			accumulator->bit = nextremes++;
		if (aggregate->kind == CSV_AGGREGATE_COUNT_DISTINCT)
		{
			uint8_t		pair[2] = {CSV_LANE_INT, aggregate->lane};
			uint32_t	nothing;

			csv_keyed_init(&accumulator->distinct, groups->memory,
						   groups->seed, pair, 2, 0, &nothing);
			accumulator->distinct.skip = groups->value_skip;
			any_distinct = true;
		}
	}

	spare = query->nkeys > 0 && ncounters > 0;
	nwords = ncounters - spare + (nextremes + 31) / 32 + any_distinct;
	csv_keyed_init(&groups->table, groups->memory, groups->seed, lanes,
				   query->nkeys, payload_bytes + 4 * nwords, &payload);
	groups->table.skip = groups->skip;
	groups->table.first_bits = groups->first_bits;
	groups->tag_offset = any_distinct ? payload + payload_bytes + 4 * (nwords - 1) : 0;
	for (uint32_t i = 0; i < query->naggregates; i++)
		groups->accumulators[i].offset += payload;
	for (uint32_t i = 0; i < ncounters; i++)
		groups->counters[i] = i < spare ? payload - 4 :
			payload + payload_bytes + 4 * (i - spare);
	groups->bits_offset = payload + payload_bytes + 4 * (ncounters - spare);
}

bool
csv_groups_init(CsvGroups *groups, const CsvMemory *memory,
				const CsvQuery *query, uint64_t seed)
{
	static const uint8_t carry_key[1] = {CSV_LANE_INT};
	size_t		nbytes = (sizeof(CsvAccumulator) + sizeof(uint32_t)) *
		(query->naggregates > 0 ? query->naggregates : 1);

	groups->memory = memory;
	groups->query = query;
	groups->ready = false;
	groups->seed = seed;
	csv_partial_lay_out(query, &groups->partial);
	groups->remembered = NULL;
	groups->most_classes = CSV_UNKNOWN_CLASS - 1;
	groups->group_of_class = NULL;
	groups->class_capacity = 0;
	groups->class_of_group = NULL;
	groups->group_capacity = 0;
	memset(&groups->table, 0, sizeof(groups->table));
	memset(&groups->wides, 0, sizeof(groups->wides));
	groups->room = NULL;
	groups->room_bytes = 0;
	groups->block = NULL;
	groups->block_rows = 0;
	groups->attached = NULL;
	groups->nattached = 0;
	groups->attached_capacity = 0;
	groups->table.arena.memory = memory;
	groups->wides.memory = memory;
	csv_keyed_init(&groups->carries, memory, seed, carry_key, 1,
				   sizeof(CsvInt128), &groups->carry_offset);
	groups->accumulators = memory->alloc(memory->owner, nbytes);
	if (groups->accumulators == NULL)
		return false;
	memset(groups->accumulators, 0, nbytes);
	groups->counters = (uint32_t *) (groups->accumulators + query->naggregates);
	if (query->aggregates && query->nkeys == 0)
	{
		csv_groups_settle(groups, NULL);
		return csv_keyed_add(&groups->table) != CSV_NO_ROW;
	}
	return true;
}

static void
forget_classes(CsvGroups *groups)
{
	const CsvMemory *memory = groups->memory;

	csv_free(memory, groups->group_of_class);
	csv_free(memory, groups->class_of_group);
	groups->group_of_class = NULL;
	groups->class_of_group = NULL;
	groups->class_capacity = 0;
	groups->group_capacity = 0;
	groups->remembered = NULL;
}

void
csv_groups_forget_values(CsvGroups *groups)
{
	for (uint32_t i = 0; i < groups->query->naggregates; i++)
		if (groups->accumulators != NULL &&
			groups->accumulators[i].distinct.arena.memory != NULL)
			csv_keyed_free(&groups->accumulators[i].distinct);
}

void
csv_groups_free(CsvGroups *groups)
{
	void	   *parts[] = {
		groups->accumulators, groups->room, groups->block, groups->attached
	};

	if (groups->spill != NULL)
		csv_spill_is_due(groups->spill, &groups->counted_bytes, 0);
	csv_keyed_free(&groups->table);
	csv_keyed_free(&groups->carries);
	csv_wide_floats_free(&groups->wides);
	forget_classes(groups);
	csv_groups_forget_values(groups);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		csv_free(groups->memory, parts[i]);
}

bool
csv_groups_reset(CsvGroups *groups)
{
	csv_groups_free(groups);
	return csv_groups_init(groups, groups->memory, groups->query,
						   groups->seed);
}

size_t
csv_groups_bytes(const CsvGroups *groups)
{
	size_t		nbytes = csv_keyed_bytes(&groups->table) +
		csv_keyed_bytes(&groups->carries) +
		csv_wide_floats_bytes(&groups->wides) +
		groups->attached_capacity * sizeof(CsvAttached) +
		sizeof(uint32_t) * ((size_t) groups->class_capacity +
							groups->group_capacity);

	return nbytes + csv_groups_value_bytes(groups);
}

size_t
csv_groups_value_bytes(const CsvGroups *groups)
{
	size_t		nbytes = 0;

	for (uint32_t i = 0; i < groups->query->naggregates; i++)
		nbytes += csv_keyed_bytes(&groups->accumulators[i].distinct);
	return nbytes;
}

bool
csv_groups_have_values(const CsvGroups *groups)
{
	bool		any = false;

	for (uint32_t i = 0; i < groups->query->naggregates; i++)
		any |= groups->accumulators[i].distinct.nrows > 0;
	return any;
}

bool
csv_groups_are_full(CsvGroups *groups)
{
	/* a single group, which may be long, cannot be divided */
	return groups->make_room != NULL && groups->ready &&
		csv_spill_is_due(groups->spill, &groups->counted_bytes,
						 csv_groups_bytes(groups)) &&
		(groups->table.nrows > 1 || csv_groups_have_values(groups));
}

static bool
make_room(CsvGroups *groups)
{
	return !csv_groups_are_full(groups) || groups->make_room(groups->room_arg, groups);
}

void
csv_groups_expect_values(CsvGroups *groups, uint32_t skip)
{
	groups->value_skip = skip;
	for (uint32_t i = 0; i < groups->query->naggregates; i++)
		groups->accumulators[i].distinct.skip = skip;
}

bool
csv_groups_count_values(CsvGroups *groups)
{
	for (uint32_t i = 0; i < groups->query->naggregates; i++)
	{
		const CsvAccumulator *accumulator = &groups->accumulators[i];

		for (uint32_t row = 0; row < accumulator->distinct.nrows; row++)
		{
			CsvValue	value;
			CsvRun		run = {0};

			run.group = csv_distinct_value(accumulator, row, &value);
			run.place = csv_keyed_row(&groups->table, run.group);
			if (!csv_add_count(groups, groups->partial.input[i], &run, 1))
				return false;
		}
	}
	csv_groups_forget_values(groups);
	return true;
}

/* ---- groups of other memory and of files ---- */

uint32_t
csv_groups_tag(const CsvGroups *groups, uint32_t group)
{
	const CsvKeyed *table = &groups->table;
	const uint8_t *row = csv_keyed_row(table, group);
	uint64_t	hash = table->seed;
	uint32_t	nulls;

	for (uint32_t key = 0; key < table->nkeys; key++)
	{
		CsvValue	value = {.state = CSV_LANE_NULL};

		memcpy(&nulls, row + table->null_offset, 4);
		if ((nulls >> key & 1) == 0)
			csv_load_value(table->lanes[key], row + table->offsets[key], &value);
		hash = csv_keyed_hash(table, hash, table->lanes[key], &value);
	}
	return table->nkeys == 0 ? 0 : (uint32_t) hash;
}

/* a group was made: its values of COUNT_DISTINCT need its tag */
static void
keep_tag(CsvGroups *groups, uint32_t group, uint32_t tag)
{
	if (groups->tag_offset > 0)
		memcpy(csv_keyed_row(&groups->table, group) + groups->tag_offset, &tag, 4);
}

bool
csv_groups_find_copy(CsvGroups *groups, uint32_t tag, const uint8_t *row,
					 uint32_t nbytes, CsvRun *run, bool *made)
{
	*made = false;
	run->group = groups->table.nkeys == 0 ? 0 :
		csv_keyed_find_copy(&groups->table, tag, row, nbytes, made);
	if (run->group == CSV_NO_ROW)
		return false;
	if (*made)
		keep_tag(groups, run->group, tag);
	run->end = 1;
	run->place = csv_keyed_row(&groups->table, run->group);
	return true;
}

bool
csv_groups_attach(CsvGroups *groups, uint32_t group, const void *bytes,
				  size_t nbytes)
{
	uint8_t    *copy = csv_arena_alloc(&groups->table.arena, nbytes);

	if (copy == NULL)
		return false;
	memcpy(copy, bytes, nbytes);
	if (!csv_grow(groups->memory, &groups->attached, &groups->attached_capacity,
				  (size_t) groups->nattached + 1, 64, sizeof(CsvAttached)))
		return false;
	groups->attached[groups->nattached++] = (CsvAttached) {
		group, (uint32_t) nbytes, copy, 0, 0
	};
	return true;
}

/* ---- a block of rows ---- */

/* make room for a block of nrows rows; false: no memory */
static bool
reserve_block(CsvGroups *groups, uint32_t nrows)
{
	const CsvMemory *memory = groups->memory;
	size_t		n = LEAST_BLOCK_ROWS;
	uint8_t    *next;

	if (nrows <= groups->block_rows)
		return true;
	while (n < nrows)
		n *= BLOCK_GROWTH;
	csv_free(memory, groups->block);
	groups->block_rows = 0;
	groups->block = memory->alloc(memory->owner, n * BLOCK_BYTES);
	if (groups->block == NULL)
		return false;
	groups->block_rows = (uint32_t) n;

	next = groups->block;
#define PLACE(array) \
	((array) = (void *) next, next += n * sizeof(*(array)))

	PLACE(groups->all.runs);
	PLACE(groups->counted.runs);
	PLACE(groups->hashes);
	PLACE(groups->places);
	PLACE(groups->nulls);
	PLACE(groups->numbers);
	PLACE(groups->known_numbers);
	PLACE(groups->found_numbers);
	PLACE(groups->all.rows);
	PLACE(groups->counted.rows);
	PLACE(groups->unknown);
#undef PLACE
	return true;
}

/* ---- the group of a row ---- */

/* step 1: hashes, and which keys are NULL */
static void
hash_key(CsvGroups *groups, const CsvLanes *lanes, uint32_t key, CsvRows rows)
{
	uint64_t   *hashes = groups->hashes;
	uint64_t	seed = groups->table.seed;

	if (!lanes->plain)
	{
		CsvValue	value;

		for (uint32_t i = 0; i < rows.nrows; i++)
		{
			csv_lanes_value(lanes, rows.rows[i], &value);
			if (value.state != CSV_LANE_VALUE)
				groups->nulls[i] |= UINT32_C(1) << key;
			hashes[i] = csv_keyed_hash(&groups->table, hashes[i], lanes->lane,
									   &value);
		}
		return;
	}

#define HASH(hash) \
	for (uint32_t i = 0; i < rows.nrows; i++) \
	{ \
		const uint32_t row = rows.rows[i]; \
 \
		hashes[i] = (hash); \
	} \
	break

	switch (lanes->lane)
	{
		case CSV_LANE_INT:
			HASH(csv_hash_word(seed, hashes[i], (uint64_t) lanes->integers[row]));
		case CSV_LANE_DECIMAL:
			HASH(csv_hash_wide(seed, hashes[i], (CsvUint128)
							   csv_lanes_decimal(lanes, row)));
		case CSV_LANE_FLOAT:
			HASH(csv_hash_word(seed, hashes[i],
							   csv_float_representative(lanes->reals[row])));
		case CSV_LANE_TEXT:
			HASH(csv_hash_text(seed, hashes[i], lanes->texts[row],
							   lanes->lengths[row]));
		case CSV_LANE_UUID:
			HASH(csv_hash_wide(seed, hashes[i], lanes->uuids[row]));
	}
#undef HASH
}

/* step 2: the first group with the row's tag, or CSV_NO_ROW */
static void
guess_groups(CsvGroups *groups, uint32_t nrows)
{
	const CsvKeyed *table = &groups->table;
	const CsvKeyedSlot *slots = table->slots;
	const uint64_t *hashes = groups->hashes;
	uint32_t   *numbers = groups->numbers;
	uint8_t   **places = groups->places;
	uint32_t	mask = table->slot_mask;
	bool		many = mask >= MANY_SLOTS;

	if (slots == NULL)
	{
		memset(numbers, 0xff, nrows * sizeof(uint32_t));
		return;
	}
	if (many)
	{
		for (uint32_t i = 0; i < nrows; i++)
			__builtin_prefetch(&slots[csv_keyed_home(table, (uint32_t) hashes[i])]);
	}
	for (uint32_t i = 0; i < nrows; i++)
	{
		uint32_t	tag = (uint32_t) hashes[i];
		uint32_t	at = csv_keyed_home(table, tag);

		while (slots[at].tag != tag && slots[at].row != CSV_NO_ROW)
			at = (at + 1) & mask;
		numbers[i] = slots[at].row;
		if (slots[at].row != CSV_NO_ROW)
		{
			places[i] = csv_keyed_row(table, slots[at].row);
			if (many)
				__builtin_prefetch(places[i]);
		}
	}
}

static inline bool
is_text(const uint8_t *place, const uint8_t *bytes, uint32_t length)
{
	const CsvStoredText *text = (const CsvStoredText *) place;

	if (text->length != length)
		return false;
	if (length <= 8)
		return csv_load8((const uint8_t *) &text->prefix) ==
			csv_load_some(bytes, length);
	return memcmp(csv_stored_text_bytes(text), bytes, length) == 0;
}

/* if this key differs, the group is not the row's */
static void
check_key(CsvGroups *groups, const CsvLanes *lanes, uint32_t key, CsvRows rows)
{
	uint32_t	offset = groups->table.offsets[key];
	uint8_t	  **places = groups->places;
	uint32_t   *numbers = groups->numbers;

#define CHECK(is_equal) \
	for (uint32_t i = 0; i < rows.nrows; i++) \
	{ \
		const uint8_t *place = places[i] + offset; \
		uint32_t	row = rows.rows[i]; \
 \
		if (numbers[i] != CSV_NO_ROW && \
			csv_lanes_state(lanes, row) == CSV_LANE_VALUE && !(is_equal)) \
			numbers[i] = CSV_NO_ROW; \
	} \
	break

	switch (lanes->lane)
	{
		case CSV_LANE_INT:
			CHECK(*(const int64_t *) place == lanes->integers[row]);
		case CSV_LANE_TEXT:
			CHECK(is_text(place, lanes->texts[row], lanes->lengths[row]));
		default:
			{
				CsvValue	value;

				CHECK((csv_lanes_value(lanes, row, &value),
					   csv_stored_equals(lanes->lane, place, &value)));
			}
	}
#undef CHECK
}

static inline bool
is_true(const CsvLanes *bools, uint32_t row)
{
	return csv_lanes_state(bools, row) == CSV_LANE_VALUE &&
		bools->integers[row] != 0;
}

/* steps 1 and 2 */
static bool
find_groups(CsvGroups *groups, const CsvLanes *registers, CsvRows rows)
{
	const CsvQuery *query = groups->query;
	CsvKeyed   *table = &groups->table;
	uint32_t   *numbers = groups->numbers;
	uint64_t   *hashes = groups->hashes;
	uint8_t   **places = groups->places;

	for (uint32_t i = 0; i < rows.nrows; i++)
		hashes[i] = table->seed;
	memset(groups->nulls, 0, rows.nrows * sizeof(uint32_t));
	for (uint32_t key = 0; key < query->nkeys; key++)
		hash_key(groups, &registers[query->keys[key].value], key, rows);
	guess_groups(groups, rows.nrows);
	for (uint32_t i = 0; i < rows.nrows; i++)
	{
		uint32_t	nulls;

		if (numbers[i] == CSV_NO_ROW)
		{
			/* any place that can be read */
			places[i] = (uint8_t *) hashes;
			continue;
		}
		memcpy(&nulls, places[i] + table->null_offset, 4);
		if (nulls != groups->nulls[i])
			numbers[i] = CSV_NO_ROW;
	}
	for (uint32_t key = 0; key < query->nkeys; key++)
		check_key(groups, &registers[query->keys[key].value], key, rows);

	for (uint32_t i = 0; i < rows.nrows; i++)
	{
		if (numbers[i] == CSV_NO_ROW)
		{
			CsvValue	keys[CSV_MAX_KEYS];
			bool		made;

			for (uint32_t key = 0; key < query->nkeys; key++)
				csv_lanes_value(&registers[query->keys[key].value],
								rows.rows[i], &keys[key]);
			numbers[i] = csv_keyed_find(table, hashes[i], keys, &made);
			if (numbers[i] == CSV_NO_ROW)
				return false;
			if (made)
				keep_tag(groups, numbers[i], (uint32_t) hashes[i]);
			places[i] = csv_keyed_row(table, numbers[i]);
		}
	}
	return true;
}

/* ---- rows whose groups are remembered ---- */

/* make room for n numbers; new numbers have all bits set; false: no memory */
static bool
reserve_numbers(CsvGroups *groups, uint32_t **numbers, uint32_t *capacity,
				uint32_t n)
{
	uint32_t	before = *capacity;

	if (!csv_grow(groups->memory, numbers, capacity, n, 1024, sizeof(uint32_t)))
		return false;
	memset(*numbers + before, 0xff, (*capacity - before) * sizeof(uint32_t));
	return true;
}

/* remember that a row is of this group; false: no memory */
static bool
learn_class(CsvGroups *groups, uint32_t *row_class, uint32_t group)
{
	uint32_t   *nclasses = groups->remembered->nclasses;
	uint32_t	class_number = __atomic_load_n(row_class, __ATOMIC_RELAXED);

	if (!reserve_numbers(groups, &groups->class_of_group,
						 &groups->group_capacity, group + 1))
		return false;
	if (class_number == CSV_UNKNOWN_CLASS)
	{
		class_number = groups->class_of_group[group];
		if (class_number == CSV_UNKNOWN_CLASS)
		{
			/* other threads and processes may take numbers at the same time */
			if (__atomic_load_n(nclasses, __ATOMIC_RELAXED) >=
				groups->most_classes)
				return true;
			class_number = __atomic_fetch_add(nclasses, 1, __ATOMIC_RELAXED);
		}
	}
	if (class_number >= groups->most_classes)
		return true;
	if (!reserve_numbers(groups, &groups->group_of_class,
						 &groups->class_capacity, class_number + 1))
		return false;
	groups->class_of_group[group] = class_number;
	groups->group_of_class[class_number] = group;
	__atomic_store_n(row_class, class_number, __ATOMIC_RELAXED);
	return true;
}

/* as find_groups(), which gets only the rows without a known class */
static bool
find_remembered(CsvGroups *groups, const CsvLanes *registers, CsvRows all,
				uint32_t first_row)
{
	uint32_t   *classes = groups->remembered->classes + first_row;
	const uint32_t *group_of_class = groups->group_of_class;
	uint32_t	capacity = groups->class_capacity;
	uint32_t   *known = groups->known_numbers;
	CsvRows		unknown = {groups->unknown, 0};

	for (uint32_t i = 0; i < all.nrows; i++)
	{
		uint16_t	row = all.rows[i];
		uint32_t	class_number = __atomic_load_n(&classes[row],
												   __ATOMIC_RELAXED);

		known[i] = class_number < capacity ? group_of_class[class_number] :
			CSV_NO_ROW;
		groups->unknown[unknown.nrows] = row;
		unknown.nrows += known[i] == CSV_NO_ROW;
	}
	if (unknown.nrows > 0 && !find_groups(groups, registers, unknown))
		return false;
	for (uint32_t i = 0; i < unknown.nrows; i++)
		if (!learn_class(groups, &classes[unknown.rows[i]],
						 groups->numbers[i]))
			return false;
	if (unknown.nrows == all.nrows)
		return true;
	memcpy(groups->found_numbers, groups->numbers, unknown.nrows * sizeof(uint32_t));
	for (uint32_t i = 0, next = 0; i < all.nrows; i++)
	{
		groups->numbers[i] = known[i] != CSV_NO_ROW ? known[i] :
			groups->found_numbers[next++];
		groups->places[i] = csv_keyed_row(&groups->table, groups->numbers[i]);
	}
	return true;
}

/* ---- step 3: the rows by group ---- */

static void
sort_rows(CsvGroups *groups, CsvRows rows)
{
	CsvRuns    *all = &groups->all;
	CsvRun	   *runs = all->runs;
	const uint32_t *numbers = groups->numbers;
	uint32_t	ngroups = groups->table.nrows;
	uint32_t	nruns = 0;

	if (groups->query->nkeys == 0)
	{
		memcpy(all->rows, rows.rows, rows.nrows * sizeof(uint16_t));
		runs[0].group = 0;
		runs[0].end = rows.nrows;
		runs[0].place = csv_keyed_row(&groups->table, 0);
		nruns = 1;
	}
	else if (ngroups <= FEW_GROUPS)
	{
		uint16_t	next[FEW_GROUPS + 1];
		uint32_t	begin = 0;

		memset(next, 0, sizeof(next));
		for (uint32_t i = 0; i < rows.nrows; i++)
			next[numbers[i]]++;
		for (uint32_t group = 0; group < ngroups; group++)
		{
			uint32_t	n = next[group];

			next[group] = (uint16_t) begin;
			begin += n;
			if (n == 0)
				continue;
			runs[nruns].group = group;
			runs[nruns].end = begin;
			runs[nruns].place = csv_keyed_row(&groups->table, group);
			nruns++;
		}
		for (uint32_t i = 0; i < rows.nrows; i++)
			all->rows[next[numbers[i]]++] = rows.rows[i];
	}
	else
	{
		memcpy(all->rows, rows.rows, rows.nrows * sizeof(uint16_t));
		for (uint32_t i = 0; i < rows.nrows; i++)
		{
			if (nruns == 0 || runs[nruns - 1].group != numbers[i])
			{
				runs[nruns].group = numbers[i];
				runs[nruns].place = groups->places[i];
				nruns++;
			}
			runs[nruns - 1].end = i + 1;
		}
	}
	all->nruns = nruns;
}

/* the runs without rows whose argument is NULL or whose filter is not true */
static const CsvRuns *
counted_runs(CsvGroups *groups, const CsvLanes *argument,
			 const CsvLanes *filter)
{
	const CsvRuns *all = &groups->all;
	CsvRuns    *counted = &groups->counted;
	uint32_t	i = 0;
	uint32_t	n = 0;

	if ((argument == NULL || argument->plain) && filter == NULL)
		return all;
	for (uint32_t r = 0; r < all->nruns; r++)
	{
		for (; i < all->runs[r].end; i++)
		{
			uint32_t	row = all->rows[i];

			counted->rows[n] = (uint16_t) row;
			n += (argument == NULL ||
				  csv_lanes_state(argument, row) == CSV_LANE_VALUE) &&
				(filter == NULL || is_true(filter, row));
		}
		counted->runs[r] = all->runs[r];
		counted->runs[r].end = n;
	}
	counted->nruns = all->nruns;
	return counted;
}

/* ---- step 4 ---- */

static bool
accumulate(CsvGroups *groups, uint32_t number, const CsvLanes *lanes,
		   const CsvRuns *runs)
{
	const CsvAggregate *aggregate = &groups->query->aggregate[number];

	switch (aggregate->kind)
	{
		case CSV_AGGREGATE_SUM:
		case CSV_AGGREGATE_SUM_SQUARES:
			return aggregate->lane == CSV_LANE_FLOAT ?
				csv_sum_floats(groups, number, lanes, runs) :
				aggregate->kind == CSV_AGGREGATE_SUM_SQUARES ||
				(aggregate->lane == CSV_LANE_DECIMAL && lanes->wide) ?
				csv_sum_wide(groups, number, lanes, runs) :
				csv_sum_integers(groups, number, lanes, runs);
		case CSV_AGGREGATE_MIN:
		case CSV_AGGREGATE_MAX:
			return csv_take_extremes(groups, number, lanes, runs);
		case CSV_AGGREGATE_COUNT_DISTINCT:
			return csv_count_all_distinct(groups, number, lanes, runs);
		default:
			return true;
	}
}

static const CsvLanes *
register_or_null(const CsvLanes *registers, uint16_t number)
{
	return number == CSV_NO_REGISTER ? NULL : &registers[number];
}

bool
csv_groups_add(CsvGroups *groups, const CsvLanes *registers, CsvRows rows,
			   uint32_t first_row)
{
	const CsvQuery *query = groups->query;

	if (rows.nrows == 0)
		return true;
	if (!make_room(groups) || !reserve_block(groups, rows.nrows))
		return false;
	csv_groups_settle(groups, registers);
	if (query->nkeys > 0 &&
		!(groups->remembered != NULL ?
		  find_remembered(groups, registers, rows, first_row) :
		  find_groups(groups, registers, rows)))
		return false;
	sort_rows(groups, rows);
	for (uint32_t i = 0; i < query->naggregates; i++)
	{
		const CsvAggregate *aggregate = &query->aggregate[i];
		const CsvLanes *argument;

		if (groups->accumulators[i].nbytes == 0 &&
			aggregate->kind != CSV_AGGREGATE_COUNT_DISTINCT)
			continue;
		argument = &registers[aggregate->argument];
		if (!accumulate(groups, i, argument,
						counted_runs(groups, argument,
									 register_or_null(registers,
													  aggregate->filter))))
			return false;
	}

	for (uint32_t i = 0; i < groups->partial.ninputs; i++)
	{
		const CsvRuns *runs;
		uint32_t	begin = 0;

		if (groups->partial.distinct[i])
			continue;
		runs = counted_runs(groups,
							register_or_null(registers,
											 groups->partial.argument[i]),
							register_or_null(registers,
											 groups->partial.filter[i]));
		for (uint32_t r = 0; r < runs->nruns; r++)
		{
			if (!csv_add_count(groups, i, &runs->runs[r],
							   runs->runs[r].end - begin))
				return false;
			begin = runs->runs[r].end;
		}
	}
	return true;
}

bool
csv_groups_add_unseen(CsvGroups *groups, uint32_t nrows)
{
	CsvRun		run = {0, nrows, csv_keyed_row(&groups->table, 0)};

	for (uint32_t i = 0; i < groups->partial.ninputs; i++)
		if (!csv_add_count(groups, i, &run, nrows))
			return false;
	return true;
}

/* ---- for the caller: see query.h ---- */

void
csv_evaluator_remember(CsvEvaluator *evaluator, const CsvRowClasses *classes)
{
	evaluator->groups->remembered = classes;
}

void
csv_evaluator_forget(CsvEvaluator *evaluator)
{
	forget_classes(evaluator->groups);
}

uint32_t
csv_evaluator_ngroups(const CsvEvaluator *evaluator)
{
	return evaluator->groups->table.nrows;
}

size_t
csv_evaluator_group_bytes(const CsvEvaluator *evaluator)
{
	return csv_groups_bytes(evaluator->groups);
}

void
csv_evaluator_limit(CsvEvaluator *evaluator, CsvSpill *spill,
					CsvMakeRoomFn make_room_fn, void *arg)
{
	evaluator->groups->spill = spill;
	evaluator->groups->make_room = make_room_fn;
	evaluator->groups->room_arg = arg;
}

bool
csv_evaluator_make_room(CsvEvaluator *evaluator)
{
	return make_room(evaluator->groups);
}

bool
csv_evaluator_attach(CsvEvaluator *evaluator, uint32_t group, const void *bytes,
					 size_t nbytes)
{
	return csv_groups_attach(evaluator->groups, group, bytes, nbytes);
}

bool
csv_evaluator_reset(CsvEvaluator *evaluator)
{
	return csv_groups_reset(evaluator->groups);
}

uint32_t
csv_evaluator_find_group(CsvEvaluator *evaluator, const CsvValue *keys)
{
	CsvGroups  *groups = evaluator->groups;
	CsvKeyed   *table = &groups->table;
	uint64_t	hash;
	uint32_t	row;
	bool		made;

	if (groups->query->nkeys == 0)
		return 0;
	csv_groups_settle(groups, NULL);
	hash = table->seed;
	for (uint32_t key = 0; key < table->nkeys; key++)
		hash = csv_keyed_hash(table, hash, table->lanes[key], &keys[key]);
	row = csv_keyed_find(table, hash, keys, &made);
	if (row == CSV_NO_ROW)
		return CSV_NO_GROUP;
	if (made)
		keep_tag(groups, row, (uint32_t) hash);
	return row;
}

uint32_t
csv_evaluator_seek_group(const CsvEvaluator *evaluator, const CsvValue *keys)
{
	const CsvGroups *groups = evaluator->groups;
	const CsvKeyed *table = &groups->table;
	uint64_t	hash = table->seed;
	uint32_t	row;

	if (groups->query->nkeys == 0)
		return 0;
	if (!groups->ready)
		return CSV_NO_GROUP;
	for (uint32_t key = 0; key < table->nkeys; key++)
		hash = csv_keyed_hash(table, hash, table->lanes[key], &keys[key]);
	row = csv_keyed_lookup(table, hash, keys);
	return row == CSV_NO_ROW ? CSV_NO_GROUP : row;
}

/* add a value to what the run's group keeps for an aggregate */
static bool
add_value(CsvGroups *groups, uint32_t number, const CsvRun *run,
		  const CsvValue *value)
{
	const CsvAggregate *aggregate = &groups->query->aggregate[number];
	uint8_t    *place = run->place + groups->accumulators[number].offset;
	bool		squares = aggregate->kind == CSV_AGGREGATE_SUM_SQUARES;
	CsvInt128	wide;

	switch (aggregate->kind)
	{
		case CSV_AGGREGATE_MIN:
		case CSV_AGGREGATE_MAX:
			return csv_take_extreme(groups, number, run, value);
		case CSV_AGGREGATE_COUNT_DISTINCT:
			return csv_count_distinct(groups, number, run, value);
		case CSV_AGGREGATE_SUM:
		case CSV_AGGREGATE_SUM_SQUARES:
			if (aggregate->lane == CSV_LANE_FLOAT)
			{
				double		high = value->value.real;
				double		low = 0;

				if (squares)
					csv_float_square(value->value.real, &high, &low);
				return csv_float_sum_add((CsvFloatSum *) place,
										 &groups->wides, high) &&
					(!squares || csv_float_sum_add((CsvFloatSum *) place,
												   &groups->wides, low));
			}
			wide = aggregate->lane == CSV_LANE_INT ? value->value.integer :
				value->value.decimal;
			return csv_add_wide_sum(groups, number, run,
									csv_wide_sum_of(squares ? wide * wide :
													wide));
		default:
			return true;
	}
}

bool
csv_evaluator_add_row(CsvEvaluator *evaluator, uint32_t group,
					  const CsvValue *values)
{
	CsvGroups  *groups = evaluator->groups;
	CsvRun		run = {group, 1, csv_keyed_row(&groups->table, group)};
	bool		counted[CSV_MAX_AGGREGATES] = {false};

	for (uint32_t i = 0; i < groups->query->naggregates; i++)
	{
		uint32_t	input = groups->partial.input[i];

		if (values[i].state == CSV_LANE_NULL)
			continue;
		if (values[i].state == CSV_LANE_VALUE &&
			!add_value(groups, i, &run, &values[i]))
			return false;
		counted[input] |= !groups->partial.distinct[input];
	}
	for (uint32_t i = 0; i < groups->partial.ninputs; i++)
		if (counted[i] && !csv_add_count(groups, i, &run, 1))
			return false;
	return true;
}
