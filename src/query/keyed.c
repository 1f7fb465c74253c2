/*
 * keyed.c
 *		A hash table of rows, which are found by their keys: see keyed.h.
 */
#include "keyed.h"

#include <stddef.h>
#include <sys/random.h>
#include <time.h>

#include "../reader/arrays.h"
#include "operate.h"

#define FIRST_SLOT_BITS		6
#define FIRST_ARENA_BYTES	1024
#define MOST_ARENA_BYTES	(1024 * 1024)

/* ---- the arena ---- */

struct CsvArenaBlock
{
	CsvArenaBlock *next;
	size_t		nbytes;
	uint8_t		bytes[];
};

/* aligned to 8 bytes; not NULL for 0 bytes */
uint8_t *
csv_arena_alloc(CsvArena *arena, size_t nbytes)
{
	uint8_t    *result;

	nbytes = nbytes == 0 ? 8 : (nbytes + 7) & ~(size_t) 7;
	if (nbytes > arena->left)
	{
		size_t		size = arena->nbytes < FIRST_ARENA_BYTES ? FIRST_ARENA_BYTES :
			arena->nbytes < MOST_ARENA_BYTES ? arena->nbytes : MOST_ARENA_BYTES;
		CsvArenaBlock *block;

		size = nbytes > size ? nbytes : size;
		block = arena->memory->alloc(arena->memory->owner,
									 sizeof(CsvArenaBlock) + size);
		if (block == NULL)
			return NULL;
		block->next = arena->blocks;
		block->nbytes = size;
		arena->blocks = block;
		arena->next = block->bytes;
		arena->left = size;
		arena->nbytes += size;
	}
	result = arena->next;
	arena->next += nbytes;
	arena->left -= nbytes;
	return result;
}

static void
free_arena(CsvArena *arena)
{
	while (arena->blocks != NULL)
	{
		CsvArenaBlock *block = arena->blocks;

		arena->blocks = block->next;
		arena->memory->free(arena->memory->owner, block);
	}
	arena->next = NULL;
	arena->left = 0;
	arena->nbytes = 0;
}

/* ---- values in rows ---- */

uint32_t
csv_stored_bytes(uint8_t lane)
{
	return lane == CSV_LANE_INT || lane == CSV_LANE_FLOAT ? 8 : 16;
}

bool
csv_store_value(CsvArena *arena, uint8_t lane, const CsvValue *value,
				uint8_t *place)
{
	CsvStoredText text;

	if (lane != CSV_LANE_TEXT)
	{
		memcpy(place, &value->value, csv_stored_bytes(lane));
		return true;
	}
	memset(&text, 0, sizeof(text));
	text.length = value->length;
	if (text.length > 0)
		memcpy(&text.prefix, value->bytes,
			   text.length < 4 ? text.length : 4);
	if (text.length > CSV_TEXT_INLINE)
	{
		uint8_t    *bytes = csv_arena_alloc(arena, text.length);

		if (bytes == NULL)
			return false;
		memcpy(bytes, value->bytes, text.length);
		text.bytes = bytes;
	}
	else if (text.length > 4)
		memcpy(text.rest, value->bytes + 4, text.length - 4);
	memcpy(place, &text, sizeof(text));
	return true;
}

void
csv_load_value(uint8_t lane, const uint8_t *place, CsvValue *value)
{
	value->state = CSV_LANE_VALUE;
	value->length = 0;
	value->bytes = NULL;
	if (lane == CSV_LANE_TEXT)
	{
		const CsvStoredText *text = (const CsvStoredText *) place;

		value->length = text->length;
		value->bytes = csv_stored_text_bytes(text);
	}
	else
		memcpy(&value->value, place, csv_stored_bytes(lane));
}

bool
csv_stored_equals(uint8_t lane, const uint8_t *place, const CsvValue *value)
{
	if (lane == CSV_LANE_TEXT)
	{
		const CsvStoredText *text = (const CsvStoredText *) place;

		return csv_text_equal(csv_stored_text_bytes(text), text->length,
							  value->bytes, value->length);
	}
	if (lane == CSV_LANE_FLOAT)
	{
		double		real;

		memcpy(&real, place, 8);
		return csv_float_representative(real) ==
			csv_float_representative(value->value.real);
	}
	return memcmp(place, &value->value, csv_stored_bytes(lane)) == 0;
}

/* ---- the table ---- */

uint64_t
csv_random_seed(const void *place)
{
	/* the system gives this many numbers as fast as one */
	static __thread uint64_t numbers[32];
	static __thread uint32_t nleft = 0;
	struct timespec now;
	uint64_t	random;

	if (nleft == 0 && getentropy(numbers, sizeof(numbers)) == 0)
		nleft = sizeof(numbers) / sizeof(numbers[0]);
	if (nleft > 0)
		random = numbers[--nleft];
	else
	{
		clock_gettime(CLOCK_REALTIME, &now);
		random = ((uint64_t) (uintptr_t) place << 32) ^
			(uint64_t) (uintptr_t) place >> 16 ^
			(uint64_t) now.tv_sec << 30 ^ (uint64_t) now.tv_nsec;
	}
	return csv_hash_seed(random);
}

void
csv_keyed_init(CsvKeyed *table, const CsvMemory *memory, uint64_t seed,
			   const uint8_t *lanes, uint32_t nkeys, uint32_t payload_bytes,
			   uint32_t *payload_offset)
{
	uint32_t	offset = 0;

	memset(table, 0, sizeof(*table));
	table->arena.memory = memory;
	table->nkeys = nkeys;
	table->seed = seed;
	for (uint32_t key = 0; key < nkeys; key++)
	{
		table->lanes[key] = lanes[key];
		table->offsets[key] = offset;
		offset += csv_stored_bytes(lanes[key]);
	}
	table->null_offset = offset;
	offset += nkeys > 0 ? 8 : 0;
	*payload_offset = offset;
	table->row_bytes = (offset + payload_bytes + 7) & ~7u;
}

void
csv_keyed_free(CsvKeyed *table)
{
	const CsvMemory *memory = table->arena.memory;

	for (uint32_t i = 0; i < table->nchunks; i++)
		memory->free(memory->owner, table->chunks[i]);
	csv_free(memory, table->chunks);
	csv_free(memory, table->slots);
	free_arena(&table->arena);
	table->chunks = NULL;
	table->slots = NULL;
	table->nchunks = 0;
	table->chunk_capacity = 0;
	table->slot_mask = 0;
	table->nrows = 0;
}

size_t
csv_keyed_bytes(const CsvKeyed *table)
{
	return table->arena.nbytes + table->chunk_capacity * sizeof(uint8_t *) +
		(size_t) table->nchunks * CSV_CHUNK_ROWS * table->row_bytes +
		(table->slots == NULL ? 0 :
		 ((size_t) table->slot_mask + 1) * sizeof(CsvKeyedSlot));
}

uint64_t
csv_keyed_hash(const CsvKeyed *table, uint64_t hash, uint8_t lane,
			   const CsvValue *value)
{
	uint64_t	seed = table->seed;

	if (value->state != CSV_LANE_VALUE)
		return csv_hash_null(seed, hash);
	switch (lane)
	{
		case CSV_LANE_INT:
			return csv_hash_word(seed, hash, (uint64_t) value->value.integer);
		case CSV_LANE_FLOAT:
			return csv_hash_word(seed, hash,
								 csv_float_representative(value->value.real));
		case CSV_LANE_TEXT:
			return csv_hash_text(seed, hash, value->bytes, value->length);
		case CSV_LANE_DECIMAL:
			return csv_hash_wide(seed, hash,
								 (CsvUint128) value->value.decimal);
		default:
			return csv_hash_wide(seed, hash, value->value.uuid);
	}
}

uint32_t
csv_keyed_add(CsvKeyed *table)
{
	const CsvMemory *memory = table->arena.memory;

	if (table->nrows == CSV_NO_ROW)
		return CSV_NO_ROW;
	if (table->nrows == table->nchunks * CSV_CHUNK_ROWS)
	{
		size_t		nbytes = (size_t) CSV_CHUNK_ROWS * table->row_bytes;
		uint8_t    *chunk;

		if (!csv_grow(memory, &table->chunks, &table->chunk_capacity,
					  (size_t) table->nchunks + 1, 16, sizeof(uint8_t *)))
			return CSV_NO_ROW;
		chunk = csv_alloc_zeros(memory, nbytes);
		if (chunk == NULL)
			return CSV_NO_ROW;
		table->chunks[table->nchunks++] = chunk;
	}
	return table->nrows++;
}

static bool
grow_slots(CsvKeyed *table)
{
	const CsvMemory *memory = table->arena.memory;
	uint32_t	first_bits = table->first_bits > FIRST_SLOT_BITS ?
		table->first_bits : FIRST_SLOT_BITS;
	size_t		nslots = table->slots == NULL ? (size_t) 1 << first_bits :
		2 * ((size_t) table->slot_mask + 1);
	uint32_t	mask = (uint32_t) (nslots - 1);
	uint32_t	shift = table->slots == NULL ? 32 - first_bits :
		table->slot_shift - 1;
	CsvKeyedSlot *slots;

	if (nslots > (size_t) UINT32_MAX + 1)
		return false;
	slots = memory->alloc(memory->owner, nslots * sizeof(*slots));
	if (slots == NULL)
		return false;
	/* all bits set: no row */
	memset(slots, 0xff, nslots * sizeof(*slots));
	if (table->slots != NULL)
	{
		for (size_t i = 0; i <= table->slot_mask; i++)
		{
			uint32_t	at = (uint32_t) ((uint64_t) table->slots[i].tag <<
										 table->skip) >> shift;

			if (table->slots[i].row == CSV_NO_ROW)
				continue;
			while (slots[at].row != CSV_NO_ROW)
				at = (at + 1) & mask;
			slots[at] = table->slots[i];
		}
		memory->free(memory->owner, table->slots);
	}
	table->slots = slots;
	table->slot_mask = mask;
	table->slot_shift = shift;
	return true;
}

/* room for one more row; false: no memory */
static bool
reserve_slot(CsvKeyed *table)
{
	return (table->slots != NULL &&
			table->nrows < ((size_t) table->slot_mask + 1) / 8 * 5) ||
		grow_slots(table);
}

static bool
row_has_keys(const CsvKeyed *table, uint32_t row, const CsvValue *keys)
{
	const uint8_t *place = csv_keyed_row(table, row);
	uint32_t	nulls;

	memcpy(&nulls, place + table->null_offset, 4);
	for (uint32_t key = 0; key < table->nkeys; key++)
	{
		bool		isnull = (nulls >> key & 1) != 0;

		if (isnull != (keys[key].state != CSV_LANE_VALUE) ||
			(!isnull && !csv_stored_equals(table->lanes[key],
										   place + table->offsets[key],
										   &keys[key])))
			return false;
	}
	return true;
}

/* the slot of the row with these keys, or a free slot for it */
static uint32_t
find_slot(const CsvKeyed *table, uint32_t tag, const CsvValue *keys)
{
	uint32_t	at = csv_keyed_home(table, tag);

	while (table->slots[at].row != CSV_NO_ROW &&
		   (table->slots[at].tag != tag ||
			!row_has_keys(table, table->slots[at].row, keys)))
		at = (at + 1) & table->slot_mask;
	return at;
}

uint32_t
csv_keyed_lookup(const CsvKeyed *table, uint64_t hash, const CsvValue *keys)
{
	return table->slots == NULL ? CSV_NO_ROW :
		table->slots[find_slot(table, (uint32_t) hash, keys)].row;
}

uint32_t
csv_keyed_find(CsvKeyed *table, uint64_t hash, const CsvValue *keys,
			   bool *made)
{
	uint32_t	tag = (uint32_t) hash;
	uint32_t	at;
	uint32_t	row;
	uint32_t	nulls = 0;
	uint8_t    *place;

	*made = false;
	if (!reserve_slot(table))
		return CSV_NO_ROW;
	at = find_slot(table, tag, keys);
	if (table->slots[at].row != CSV_NO_ROW)
		return table->slots[at].row;

	row = csv_keyed_add(table);
	if (row == CSV_NO_ROW)
		return row;
	place = csv_keyed_row(table, row);
	for (uint32_t key = 0; key < table->nkeys; key++)
	{
		if (keys[key].state != CSV_LANE_VALUE)
			nulls |= UINT32_C(1) << key;
		else if (!csv_store_value(&table->arena, table->lanes[key],
								  &keys[key], place + table->offsets[key]))
		{
			table->nrows--;
			return CSV_NO_ROW;
		}
	}
	memcpy(place + table->null_offset, &nulls, 4);
	table->slots[at].row = row;
	table->slots[at].tag = tag;
	*made = true;
	return row;
}

/* ---- rows of other tables ---- */

static bool
rows_are_equal(const CsvKeyed *table, const uint8_t *a, const uint8_t *b)
{
	uint32_t	nulls;

	/* false only for long texts, and for floats that are equal but look different */
	if (memcmp(a, b, table->null_offset + 4) == 0)
		return true;
	if (memcmp(a + table->null_offset, b + table->null_offset, 4) != 0)
		return false;
	memcpy(&nulls, a + table->null_offset, 4);
	for (uint32_t key = 0; key < table->nkeys; key++)
	{
		CsvValue	value;

		if ((nulls >> key & 1) != 0)
			continue;
		csv_load_value(table->lanes[key], b + table->offsets[key], &value);
		if (!csv_stored_equals(table->lanes[key], a + table->offsets[key], &value))
			return false;
	}
	return true;
}

/* let the texts of a row's keys be the table's own; false: no memory */
static bool
own_texts(CsvKeyed *table, uint8_t *row)
{
	for (uint32_t key = 0; key < table->nkeys; key++)
	{
		uint8_t    *place = row + table->offsets[key];
		CsvValue	value;

		if (table->lanes[key] != CSV_LANE_TEXT)
			continue;
		csv_load_value(CSV_LANE_TEXT, place, &value);
		if (value.length > CSV_TEXT_INLINE &&
			!csv_store_value(&table->arena, CSV_LANE_TEXT, &value, place))
			return false;
	}
	return true;
}

uint32_t
csv_keyed_find_copy(CsvKeyed *table, uint32_t tag, const uint8_t *row,
					uint32_t nbytes, bool *made)
{
	uint32_t	at;
	uint32_t	number;

	*made = false;
	if (!reserve_slot(table))
		return CSV_NO_ROW;
	at = csv_keyed_home(table, tag);
	while (table->slots[at].row != CSV_NO_ROW &&
		   (table->slots[at].tag != tag ||
			!rows_are_equal(table, csv_keyed_row(table, table->slots[at].row),
							row)))
		at = (at + 1) & table->slot_mask;
	if (table->slots[at].row != CSV_NO_ROW)
		return table->slots[at].row;

	number = csv_keyed_add(table);
	if (number == CSV_NO_ROW)
		return number;
	memcpy(csv_keyed_row(table, number), row, nbytes);
	if (!own_texts(table, csv_keyed_row(table, number)))
		return CSV_NO_ROW;
	table->slots[at].row = number;
	table->slots[at].tag = tag;
	*made = true;
	return number;
}

/* ---- parts ---- */

/* rows ahead that are fetched into the caches */
#define PREFETCH		8

/*
 * A part's rows are in slots from where its first tag begins to the first free slot
 * behind the slot where its last tag begins.  Rows of other parts may be between them.
 */
void
csv_keyed_begin_part(CsvKeyedPart *part, const CsvKeyed *table, uint32_t bits,
					 uint32_t number)
{
	uint64_t	ntags = UINT64_C(1) << (32 - bits);

	part->table = table;
	part->bits = bits;
	part->number = number;
	part->behind = false;
	part->only.row = 0;
	part->only.tag = 0;
	if (table->slots == NULL)
		return;
	part->at = (uint32_t) (number * ntags) >> table->slot_shift;
	part->last = (uint32_t) ((number + 1) * ntags - 1) >> table->slot_shift;
}

const CsvKeyedSlot *
csv_keyed_next_of_part(CsvKeyedPart *part)
{
	const CsvKeyed *table = part->table;
	const CsvKeyedSlot *slots = table->slots;

	if (slots == NULL)
	{
		bool		is_there = !part->behind && part->number == 0 && table->nrows > 0;

		part->behind = true;
		return is_there ? &part->only : NULL;
	}
	while (!part->behind || slots[part->at].row != CSV_NO_ROW)
	{
		const CsvKeyedSlot *slot = &slots[part->at];
		const CsvKeyedSlot *ahead = &slots[(part->at + PREFETCH) &
										   table->slot_mask];

		if (ahead->row != CSV_NO_ROW)
			__builtin_prefetch(csv_keyed_row(table, ahead->row));
		part->behind |= part->at == part->last;
		part->at = (part->at + 1) & table->slot_mask;
		if (slot->row != CSV_NO_ROW &&
			csv_keyed_part(table, slot->tag, part->bits) == part->number)
			return slot;
	}
	return NULL;
}
