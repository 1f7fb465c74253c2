/*
 * spilled.c
 *		Groups on disk: see spilled.h and spill.h.
 *
 * A block in the file has a head, with the place of the part's block before it, and
 * records.  A record is a group's row as it is in memory, with its texts behind it.  A
 * row with carries or an accumulator elsewhere has its words instead (CsvPartial).
 * Bytes that the caller has attached to a group, and values of COUNT_DISTINCT, are
 * records of their own.
 */
#include "spilled.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "../reader/arrays.h"
#include "accumulate.h"
#include "groups.h"

/* written at a time, if the limit allows */
#define MOST_BUFFER		(128 * 1024)
#define LEAST_BUFFER	(16 * 1024)

typedef struct BlockHead
{
	uint64_t	before;			/* offset of the block before; while the block is being
								 * written, its part */
	uint32_t	before_bytes;	/* 0: there is none */
	uint32_t	nbytes;			/* of this block */
} BlockHead;

typedef enum RecordKind
{
	RECORD_ROW,
	RECORD_WORDS,
	RECORD_ATTACHED,
	RECORD_VALUE
} RecordKind;

typedef struct RecordHead
{
	uint32_t	nbytes;			/* a multiple of 8, plus its kind */
	uint32_t	tag;			/* of the group; of a value: of group and value */
} RecordHead;

/* behind the head of a value's record */
typedef struct ValueHead
{
	uint32_t	aggregate;
	uint32_t	group_tag;
} ValueHead;

typedef struct Writer
{
	CsvSpill   *spill;
	CsvSpilledParts *parts;
	uint32_t	part;			/* of the last block */
	uint8_t    *bytes;
	size_t		capacity;
	size_t		nbytes;
	size_t		block;			/* where the last block begins */
	size_t		record;			/* where the last record begins */
	bool		failed;
} Writer;

/* ---- writing ---- */

static void
note_error(CsvSpill *spill, int error)
{
	int			none = 0;

	atomic_compare_exchange_strong(&spill->error, &none, error);
}

/* at an offset; false with the error noted */
static bool
write_all(CsvSpill *spill, const uint8_t *bytes, size_t nbytes, uint64_t offset)
{
	while (nbytes > 0)
	{
		ssize_t		n = pwrite(atomic_load(&spill->fd), bytes, nbytes, (off_t) offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
		{
			note_error(spill, n < 0 ? errno : ENOSPC);
			return false;
		}
		bytes += n;
		nbytes -= (size_t) n;
		offset += (uint64_t) n;
	}
	return true;
}

static BlockHead *
block_at(const Writer *writer, size_t at)
{
	return (BlockHead *) (writer->bytes + at);
}

/* write all blocks, which get their places in the chains of their parts */
static void
put_blocks(Writer *writer)
{
	CsvSpill   *spill = writer->spill;
	uint64_t	offset;

	pthread_mutex_lock(&spill->mutex);
	offset = spill->end;
	if (offset + writer->nbytes > spill->most_bytes)
	{
		writer->failed = true;
		note_error(spill, EFBIG);
	}
	else
		spill->end += writer->nbytes;
	for (size_t at = 0; at < writer->nbytes && !writer->failed;)
	{
		BlockHead  *head = block_at(writer, at);
		CsvSpilledPart *part = &writer->parts->parts[head->before];

		head->before = part->offset;
		head->before_bytes = part->nbytes;
		part->offset = offset + at;
		part->nbytes = head->nbytes;
		part->all_bytes += head->nbytes;
		at += head->nbytes;
	}
	pthread_mutex_unlock(&spill->mutex);
	writer->failed = writer->failed ||
		!write_all(spill, writer->bytes, writer->nbytes, offset);
	writer->nbytes = 0;
}

static void
begin_block(Writer *writer, uint32_t part)
{
	BlockHead	head = {part, 0, 0};

	if (writer->capacity - writer->nbytes < sizeof(head))
		put_blocks(writer);
	writer->part = part;
	writer->block = writer->nbytes;
	memcpy(writer->bytes + writer->nbytes, &head, sizeof(head));
	writer->nbytes += sizeof(head);
}

/* a block without records goes */
static void
end_block(Writer *writer)
{
	if (writer->nbytes == writer->block + sizeof(BlockHead))
		writer->nbytes = writer->block;
	else
		block_at(writer, writer->block)->nbytes =
			(uint32_t) (writer->nbytes - writer->block);
}

/* a larger buffer, with the same contents */
static void
grow(Writer *writer, size_t nbytes)
{
	const CsvMemory *memory = &writer->spill->memory;
	uint8_t    *larger = memory->alloc(memory->owner, nbytes);

	if (larger == NULL)
	{
		writer->failed = true;
		return;
	}
	memcpy(larger, writer->bytes, writer->nbytes);
	memory->free(memory->owner, writer->bytes);
	writer->bytes = larger;
	writer->capacity = nbytes;
}

/* bytes of a record, which may begin here; a new record is in a buffer with room */
static void
put(Writer *writer, const void *bytes, size_t nbytes)
{
	if (nbytes > writer->capacity - writer->nbytes && !writer->failed)
		grow(writer, 2 * writer->capacity + nbytes);
	if (writer->failed || nbytes == 0)
		return;
	memcpy(writer->bytes + writer->nbytes, bytes, nbytes);
	writer->nbytes += nbytes;
}

static void
begin_record(Writer *writer, uint32_t tag)
{
	RecordHead	head = {0, tag};

	/* records are small, as a rule */
	if (writer->capacity - writer->nbytes < writer->capacity / 8)
	{
		end_block(writer);
		put_blocks(writer);
		begin_block(writer, writer->part);
	}
	writer->record = writer->nbytes;
	put(writer, &head, sizeof(head));
}

static void
align(Writer *writer)
{
	static const uint8_t zeros[8];

	put(writer, zeros, -writer->nbytes & 7);
}

static void
end_record(Writer *writer, RecordKind kind)
{
	size_t		nbytes;

	align(writer);
	nbytes = writer->nbytes - writer->record;
	if (nbytes > UINT32_MAX / 2)
	{
		writer->failed = true;
		note_error(writer->spill, EFBIG);
	}
	if (writer->failed)
		return;
	((RecordHead *) (writer->bytes + writer->record))->nbytes =
		(uint32_t) nbytes | kind;
}

/* long texts of a row's keys */
static void
put_key_texts(Writer *writer, const CsvKeyed *table, const uint8_t *row)
{
	for (uint32_t key = 0; key < table->nkeys; key++)
	{
		CsvValue	value;

		if (table->lanes[key] != CSV_LANE_TEXT)
			continue;
		csv_load_value(CSV_LANE_TEXT, row + table->offsets[key], &value);
		if (value.length > CSV_TEXT_INLINE)
			put(writer, value.bytes, value.length);
	}
}

/* the keys of a row, in a record of something else */
static void
put_keys(Writer *writer, const CsvKeyed *table, const uint8_t *row)
{
	if (table->nkeys == 0)
		return;
	put(writer, row, table->null_offset + 4);
	align(writer);
	put_key_texts(writer, table, row);
	align(writer);
}

static bool
is_text_extreme(const CsvAggregate *aggregate)
{
	return csv_is_extreme(aggregate) && aggregate->lane == CSV_LANE_TEXT;
}

static void
write_row(Writer *writer, const CsvGroups *groups, const CsvKeyedSlot *slot,
		  bool counted)
{
	const CsvQuery *query = groups->query;
	const uint8_t *row = csv_keyed_row(&groups->table, slot->row);
	size_t		at;

	begin_record(writer, slot->tag);
	at = writer->nbytes;
	put(writer, row, groups->table.row_bytes);
	for (uint32_t i = 0; i < groups->partial.ninputs && !counted && !writer->failed; i++)
		if (groups->partial.distinct[i])
			memset(writer->bytes + at + groups->counters[i], 0, 4);
	put_key_texts(writer, &groups->table, row);
	for (uint32_t i = 0; i < query->naggregates; i++)
		if (is_text_extreme(&query->aggregate[i]) && csv_groups_have_extreme(groups, i, row))
		{
			CsvValue	value;

			csv_load_extreme(CSV_LANE_TEXT, row + groups->accumulators[i].offset, &value);
			put(writer, value.bytes, value.length);
		}
	end_record(writer, RECORD_ROW);
}

/* number of bytes for the bits that tell which extremes are there */
static uint32_t
bits_bytes(const CsvQuery *query)
{
	uint32_t	nextremes = 0;

	for (uint32_t i = 0; i < query->naggregates; i++)
		nextremes += csv_is_extreme(&query->aggregate[i]);
	return (nextremes + 7) / 8;
}

static void
write_words(Writer *writer, const CsvGroups *groups, const CsvKeyedSlot *slot,
			bool counted)
{
	const CsvQuery *query = groups->query;
	const CsvPartialLayout *layout = &groups->partial;
	const CsvMemory *memory = &writer->spill->memory;
	const uint8_t *row = csv_keyed_row(&groups->table, slot->row);
	size_t		nbytes = layout->nwords * sizeof(int64_t);
	int64_t    *words = csv_alloc_zeros(memory, nbytes);

	if (words == NULL)
	{
		writer->failed = true;
		return;
	}
	csv_groups_add_to_words(groups, slot->row, row, words);
	for (uint32_t i = 0; i < layout->ninputs && counted; i++)
		if (layout->distinct[i])
			words[i] = csv_groups_count(groups, slot->row, i);
	begin_record(writer, slot->tag);
	put_keys(writer, &groups->table, row);
	put(writer, words, nbytes);
	put(writer, row + groups->bits_offset, bits_bytes(query));
	for (uint32_t i = 0; i < query->naggregates; i++)
		if (is_text_extreme(&query->aggregate[i]) && words[layout->input[i]] != 0)
		{
			const int64_t *text = words + layout->first_word[i];

			put(writer, csv_partial_text(NULL, (uint64_t) text[0]), (size_t) text[1]);
		}
	end_record(writer, RECORD_WORDS);
	memory->free(memory->owner, words);
}

static void
write_group(Writer *writer, const CsvGroups *groups, const CsvKeyedSlot *slot,
			bool counted)
{
	if (csv_groups_are_plain(groups, slot->row))
		write_row(writer, groups, slot, counted);
	else
		write_words(writer, groups, slot, counted);
}

static void
write_attached(Writer *writer, const CsvGroups *groups, const CsvAttached *attached)
{
	begin_record(writer, attached->tag);
	put_keys(writer, &groups->table, csv_keyed_row(&groups->table, attached->group));
	put(writer, attached->bytes, attached->nbytes);
	end_record(writer, RECORD_ATTACHED);
}

static void
write_value(Writer *writer, const CsvGroups *groups, uint32_t aggregate,
			const CsvKeyedSlot *slot)
{
	const CsvKeyed *values = &groups->accumulators[aggregate].distinct;
	const uint8_t *pair = csv_keyed_row(values, slot->row);
	const uint8_t *place = pair + values->offsets[1];
	CsvValue	value;
	const uint8_t *row;
	ValueHead	head = {aggregate, 0};

	csv_load_value(CSV_LANE_INT, pair, &value);
	row = csv_keyed_row(&groups->table, (uint32_t) value.value.integer);
	memcpy(&head.group_tag, row + groups->tag_offset, 4);
	begin_record(writer, slot->tag);
	put(writer, &head, sizeof(head));
	put_keys(writer, &groups->table, row);
	csv_load_value(values->lanes[1], place, &value);
	put(writer, place, csv_stored_bytes(values->lanes[1]));
	if (values->lanes[1] == CSV_LANE_TEXT && value.length > CSV_TEXT_INLINE)
		put(writer, value.bytes, value.length);
	end_record(writer, RECORD_VALUE);
}

static int
compare_attached(const void *a, const void *b)
{
	uint32_t	left = ((const CsvAttached *) a)->place;
	uint32_t	right = ((const CsvAttached *) b)->place;

	return left < right ? -1 : left > right;
}

/* the attached bytes, in the order of parts */
static void
sort_attached(CsvGroups *groups)
{
	for (uint32_t i = 0; i < groups->nattached; i++)
	{
		CsvAttached *attached = &groups->attached[i];

		attached->tag = csv_groups_tag(groups, attached->group);
		attached->place = csv_keyed_part(&groups->table, attached->tag, 32);
	}
	if (groups->nattached > 1)
		qsort(groups->attached, groups->nattached, sizeof(CsvAttached),
			  compare_attached);
}

/* parts that have memory; false: no memory */
static bool
make_parts(CsvSpill *spill, CsvSpilledParts *parts)
{
	bool		made;

	pthread_mutex_lock(&spill->mutex);
	if (parts->parts == NULL)
		parts->parts = csv_alloc_zeros(&spill->memory,
									   sizeof(CsvSpilledPart) << parts->bits);
	made = parts->parts != NULL;
	pthread_mutex_unlock(&spill->mutex);
	return made;
}

static void
write_groups(Writer *writer, CsvGroups *groups, bool counted)
{
	uint32_t	next_attached = 0;

	sort_attached(groups);
	for (uint32_t number = 0; number < 1u << writer->parts->bits && !writer->failed;
		 number++)
	{
		CsvKeyedPart part;
		const CsvKeyedSlot *slot;

		csv_keyed_begin_part(&part, &groups->table, writer->parts->bits, number);
		begin_block(writer, number);
		while ((slot = csv_keyed_next_of_part(&part)) != NULL && !writer->failed)
			write_group(writer, groups, slot, counted);
		for (; next_attached < groups->nattached && !writer->failed &&
			 csv_keyed_part(&groups->table, groups->attached[next_attached].tag,
							writer->parts->bits) == number; next_attached++)
			write_attached(writer, groups, &groups->attached[next_attached]);
		end_block(writer);
	}
}

static void
write_values(Writer *writer, const CsvGroups *groups)
{
	for (uint32_t number = 0; number < 1u << writer->parts->bits && !writer->failed;
		 number++)
	{
		begin_block(writer, number);
		for (uint32_t i = 0; i < groups->query->naggregates; i++)
		{
			CsvKeyedPart part;
			const CsvKeyedSlot *slot;

			if (groups->accumulators[i].distinct.nrows == 0)
				continue;
			csv_keyed_begin_part(&part, &groups->accumulators[i].distinct,
								 writer->parts->bits, number);
			while ((slot = csv_keyed_next_of_part(&part)) != NULL && !writer->failed)
				write_value(writer, groups, i, slot);
		}
		end_block(writer);
	}
}

/* write groups, or values if `values`; false: failed */
static bool
write_parts(CsvSpill *spill, CsvSpilledParts *parts, CsvGroups *groups,
			bool values, bool counted)
{
	size_t		share = spill->limit_bytes / spill->nthreads / 8;
	Writer		writer = {.spill = spill, .parts = parts};

	if (!make_parts(spill, parts))
		return false;
	writer.capacity = share < LEAST_BUFFER ? LEAST_BUFFER :
		share > MOST_BUFFER ? MOST_BUFFER : share;
	writer.bytes = spill->memory.alloc(spill->memory.owner, writer.capacity);
	if (writer.bytes == NULL)
		return false;
	if (values)
		write_values(&writer, groups);
	else
		write_groups(&writer, groups, counted);
	if (!writer.failed)
		put_blocks(&writer);
	spill->memory.free(spill->memory.owner, writer.bytes);
	return !writer.failed;
}

bool
csv_spill_write(CsvSpill *spill, CsvSpilledParts *parts, CsvSpilledParts *values,
				CsvGroups *groups)
{
	if (values != NULL && csv_groups_have_values(groups) &&
		!write_parts(spill, values, groups, true, false))
		return false;
	if (parts == NULL)
	{
		csv_groups_forget_values(groups);
		return true;
	}
	if (groups->table.nrows > 0 &&
		!write_parts(spill, parts, groups, false, values == NULL))
		return false;
	/* the next groups will be about as many */
	if (groups->table.slots != NULL)
		groups->first_bits = 32 - groups->table.slot_shift;
	return csv_groups_reset(groups);
}

/* ---- reading ---- */

static bool
read_all(CsvSpill *spill, void *bytes, size_t nbytes, uint64_t offset)
{
	uint8_t    *next = bytes;

	while (nbytes > 0)
	{
		ssize_t		n = pread(atomic_load(&spill->fd), next, nbytes, (off_t) offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
		{
			note_error(spill, n < 0 ? errno : EIO);
			return false;
		}
		next += n;
		nbytes -= (size_t) n;
		offset += (uint64_t) n;
	}
	return true;
}

/* append a block to the list; false: no memory */
static bool
list_block(const CsvMemory *memory, CsvSpilledBlocks *blocks, CsvSpilledPart block)
{
	if (!csv_grow(memory, &blocks->blocks, &blocks->capacity,
				  (size_t) blocks->nblocks + 1, 64, sizeof(block)))
		return false;
	blocks->blocks[blocks->nblocks++] = block;
	return true;
}

bool
csv_spilled_find(CsvSpill *spill, CsvSpilledPart part, CsvSpilledBlocks *blocks)
{
	while (part.nbytes > 0)
	{
		BlockHead	head;

		if (!list_block(&spill->memory, blocks, part) ||
			!read_all(spill, &head, sizeof(head), part.offset))
			return false;
		part.offset = head.before;
		part.nbytes = head.before_bytes;
	}
	for (uint32_t i = 0; i < blocks->nblocks / 2; i++)
	{
		CsvSpilledPart *other = &blocks->blocks[blocks->nblocks - 1 - i];

		part = blocks->blocks[i];
		blocks->blocks[i] = *other;
		*other = part;
	}
	return true;
}

bool
csv_spilled_read(CsvSpill *spill, CsvSpilledBlocks *blocks, uint32_t block)
{
	CsvSpilledPart place = blocks->blocks[block];

	if (!csv_renew(&spill->memory, &blocks->bytes, &blocks->room_bytes,
				   place.nbytes))
		return false;
	blocks->nbytes = place.nbytes;
	blocks->next = sizeof(BlockHead);
	return read_all(spill, blocks->bytes, place.nbytes, place.offset);
}

void
csv_spilled_free(CsvSpill *spill, CsvSpilledBlocks *blocks)
{
	csv_free(&spill->memory, blocks->blocks);
	csv_free(&spill->memory, blocks->bytes);
	memset(blocks, 0, sizeof(*blocks));
}

/* let a stored text that is in the file point to its bytes; returns their end */
static const uint8_t *
find_text(uint8_t *place, const uint8_t *bytes)
{
	CsvStoredText *text = (CsvStoredText *) place;

	if (text->length <= CSV_TEXT_INLINE)
		return bytes;
	text->bytes = bytes;
	return bytes + text->length;
}

static const uint8_t *
find_key_texts(const CsvKeyed *table, uint8_t *row, const uint8_t *texts)
{
	for (uint32_t key = 0; key < table->nkeys; key++)
		if (table->lanes[key] == CSV_LANE_TEXT)
			texts = find_text(row + table->offsets[key], texts);
	return texts;
}

static uint8_t *
aligned(const uint8_t *place)
{
	return (uint8_t *) (((uintptr_t) place + 7) & ~(uintptr_t) 7);
}

/* the group whose keys are at *next, which moves behind them; false: no memory */
static bool
find_group(CsvGroups *groups, uint32_t tag, uint8_t **next, CsvRun *run)
{
	uint8_t    *row = *next;
	uint32_t	nbytes = groups->table.null_offset + 4;
	bool		made;

	if (groups->table.nkeys > 0)
		*next = aligned(find_key_texts(&groups->table, row, aligned(row + nbytes)));
	return csv_groups_find_copy(groups, tag, row, nbytes, run, &made);
}

static bool
add_words(CsvGroups *groups, RecordHead *head)
{
	const CsvQuery *query = groups->query;
	const CsvPartialLayout *layout = &groups->partial;
	uint8_t    *next = (uint8_t *) (head + 1);
	CsvPartial	partial = {0};
	const uint8_t *bits;
	const uint8_t *texts;
	int64_t    *words;
	CsvRun		run;

	if (!find_group(groups, head->tag, &next, &run))
		return false;
	words = (int64_t *) next;
	bits = (uint8_t *) (words + layout->nwords);
	texts = bits + bits_bytes(query);
	for (uint32_t i = 0; i < query->naggregates; i++)
		if (is_text_extreme(&query->aggregate[i]) && words[layout->input[i]] != 0)
		{
			words[layout->first_word[i]] = (int64_t) (uintptr_t) texts;
			texts += words[layout->first_word[i] + 1];
		}
	partial.words = words;
	return csv_groups_add_partial(groups, run.group, &partial, bits);
}

static bool
add_attached(CsvGroups *groups, RecordHead *head, size_t nbytes)
{
	uint8_t    *next = (uint8_t *) (head + 1);
	CsvRun		run;

	return find_group(groups, head->tag, &next, &run) &&
		csv_groups_attach(groups, run.group, next,
						  nbytes - (size_t) (next - (const uint8_t *) head));
}

static bool
add_value(CsvGroups *groups, RecordHead *head)
{
	ValueHead  *value_head = (ValueHead *) (head + 1);
	uint8_t    *next = (uint8_t *) (value_head + 1);
	uint8_t		lane = groups->query->aggregate[value_head->aggregate].lane;
	CsvValue	value;
	CsvRun		run;

	if (!find_group(groups, value_head->group_tag, &next, &run))
		return false;
	if (lane == CSV_LANE_TEXT)
		find_text(next, next + csv_stored_bytes(lane));
	csv_load_value(lane, next, &value);
	return csv_count_distinct(groups, value_head->aggregate, &run, &value);
}

bool
csv_spilled_add(CsvSpilledBlocks *blocks, uint32_t nrecords, CsvGroups *groups)
{
	const CsvKeyed *table = &groups->table;
	bool		added = true;

	csv_groups_settle(groups, NULL);
	for (; nrecords > 0 && added && csv_spilled_has_more(blocks); nrecords--)
	{
		RecordHead *head = (RecordHead *) (blocks->bytes + blocks->next);
		size_t		nbytes = head->nbytes & ~7u;
		uint8_t    *row = (uint8_t *) (head + 1);

		switch ((RecordKind) (head->nbytes & 7))
		{
			case RECORD_ROW:
				added = csv_groups_add_copy(groups, head->tag, row,
											find_key_texts(table, row, row +
														   table->row_bytes));
				break;
			case RECORD_WORDS:
				added = add_words(groups, head);
				break;
			case RECORD_ATTACHED:
				added = add_attached(groups, head, nbytes);
				break;
			case RECORD_VALUE:
				added = add_value(groups, head);
				break;
		}
		blocks->next += nbytes;
	}
	return added;
}
