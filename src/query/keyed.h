/*
 * keyed.h
 *		A hash table of rows, which are found by their keys.
 *
 * A row has its keys, side by side, then a word with a bit per key that is NULL, then
 * the owner's bytes.  Rows are numbered in the order in which they came; they lie in
 * chunks, and never move.  The hash table proper holds 8 bytes a slot: a row's number
 * and half of its hash, the tag (linear probing, at most 5/8 full).  Keys are compared
 * only if the tags are equal, so that most comparisons find equal keys.  Slots are in
 * the order of tags: rows with neighbouring hashes are side by side, and a larger
 * table is filled from front to back.
 *
 * Text of up to 12 bytes is kept in the row, longer text in an arena.
 */
#ifndef CSV_KEYED_H
#define CSV_KEYED_H

#include "query.h"

#define CSV_NO_ROW	UINT32_MAX

/* ---- memory that is freed all at once ---- */

typedef struct CsvArenaBlock CsvArenaBlock;

typedef struct CsvArena
{
	const CsvMemory *memory;
	CsvArenaBlock *blocks;		/* newest first */
	uint8_t    *next;
	size_t		left;
	size_t		nbytes;			/* allocated from `memory` */
} CsvArena;

extern uint8_t *csv_arena_alloc(CsvArena *arena, size_t nbytes);

/* ---- values in rows ---- */

#define CSV_TEXT_INLINE		12

typedef struct CsvStoredText
{
	uint32_t	length;
	uint32_t	prefix;			/* the first bytes, filled up with zeros */
	union
	{
		uint8_t		rest[8];	/* the other bytes, if CSV_TEXT_INLINE or fewer in
								 * all */
		const uint8_t *bytes;	/* all bytes of a longer text */
	};
} CsvStoredText;

/* number of bytes of a stored value */
extern uint32_t csv_stored_bytes(uint8_t lane);

/* false: no memory for a text */
extern bool csv_store_value(CsvArena *arena, uint8_t lane,
							const CsvValue *value, uint8_t *place);

/* a value that is not NULL; its bytes are in the row or the arena */
extern void csv_load_value(uint8_t lane, const uint8_t *place,
						   CsvValue *value);

/* are a stored value and a value equal, as keys are? */
extern bool csv_stored_equals(uint8_t lane, const uint8_t *place,
							  const CsvValue *value);

static inline const uint8_t *
csv_stored_text_bytes(const CsvStoredText *text)
{
	return text->length <= CSV_TEXT_INLINE ? (const uint8_t *) &text->prefix :
		text->bytes;
}

/* ---- the table ---- */

typedef struct CsvKeyedSlot
{
	uint32_t	row;			/* or CSV_NO_ROW */
	uint32_t	tag;			/* the low half of the hash */
} CsvKeyedSlot;

typedef struct CsvKeyed
{
	CsvArena	arena;			/* for the keys' texts, and for the owner */
	uint64_t	seed;			/* of hashes, see operate.h */
	uint32_t	nkeys;
	uint32_t	row_bytes;
	uint32_t	null_offset;	/* of the word with bits of NULL keys */
	uint32_t	nrows;
	uint32_t	nchunks;
	uint32_t	chunk_capacity;
	uint8_t   **chunks;
	CsvKeyedSlot *slots;
	uint32_t	slot_mask;		/* slots - 1, a power of two */
	uint32_t	slot_shift;		/* see csv_keyed_home() */
	uint32_t	skip;			/* leading bits of tags that are the same in all rows */
	uint32_t	first_bits;		/* log2 of the first number of slots; 0: few */
	uint8_t		lanes[CSV_MAX_KEYS];
	uint32_t	offsets[CSV_MAX_KEYS];
} CsvKeyed;

/*
 * Start an empty table, which takes no memory yet.  The owner's bytes of a row begin
 * at *payload_offset, aligned to 8.  The four bytes behind the word of NULLs are the
 * owner's, too.  Both are zero in a new row.
 */
extern void csv_keyed_init(CsvKeyed *table, const CsvMemory *memory,
						   uint64_t seed, const uint8_t *lanes, uint32_t nkeys,
						   uint32_t payload_bytes, uint32_t *payload_offset);
extern void csv_keyed_free(CsvKeyed *table);
extern size_t csv_keyed_bytes(const CsvKeyed *table);

/* the slot where the search for a tag begins */
static inline uint32_t
csv_keyed_home(const CsvKeyed *table, uint32_t tag)
{
	return (uint32_t) ((uint64_t) tag << table->skip) >> table->slot_shift;
}

#define CSV_CHUNK_ROWS	256

static inline uint8_t *
csv_keyed_row(const CsvKeyed *table, uint32_t row)
{
	return table->chunks[row / CSV_CHUNK_ROWS] +
		(size_t) (row % CSV_CHUNK_ROWS) * table->row_bytes;
}

/* add one key's value to a row's hash, which begins as the table's seed */
extern uint64_t csv_keyed_hash(const CsvKeyed *table, uint64_t hash,
							   uint8_t lane, const CsvValue *value);

/*
 * The row with these keys, whose hash is `hash`; made if it does not exist.
 * CSV_NO_ROW: no memory, or no more numbers.
 */
extern uint32_t csv_keyed_find(CsvKeyed *table, uint64_t hash,
							   const CsvValue *keys, bool *made);

/* the same, but CSV_NO_ROW if the row does not exist */
extern uint32_t csv_keyed_lookup(const CsvKeyed *table, uint64_t hash,
								 const CsvValue *keys);

/*
 * The row with the keys of a row of another table with the same keys, made if it does
 * not exist.  A new row is a copy of the first nbytes of that row, with its tag.
 */
extern uint32_t csv_keyed_find_copy(CsvKeyed *table, uint32_t tag,
									const uint8_t *row, uint32_t nbytes,
									bool *made);

/* a row that is never looked up: for a table without keys */
extern uint32_t csv_keyed_add(CsvKeyed *table);

/* ---- parts: rows whose tags have the same bits, behind the bits that are skipped ---- */

typedef struct CsvKeyedPart
{
	const CsvKeyed *table;
	uint32_t	bits;			/* that tell the part */
	uint32_t	number;
	uint32_t	at;				/* the next slot */
	uint32_t	last;			/* where the part's last tag begins */
	bool		behind;			/* `last` is passed */
	CsvKeyedSlot only;			/* the row of a table without keys */
} CsvKeyedPart;

static inline uint32_t
csv_keyed_part(const CsvKeyed *table, uint32_t tag, uint32_t bits)
{
	return (uint32_t) ((uint64_t) (uint32_t) ((uint64_t) tag << table->skip) >>
					   (32 - bits));
}

/* go through the rows of a part, of 2^bits; the row of a table without keys is in part 0 */
extern void csv_keyed_begin_part(CsvKeyedPart *part, const CsvKeyed *table,
								 uint32_t bits, uint32_t number);

/* NULL: no more */
extern const CsvKeyedSlot *csv_keyed_next_of_part(CsvKeyedPart *part);

#endif							/* CSV_KEYED_H */
