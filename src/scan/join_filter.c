/*
 * join_filter.c
 *		Filters of a scan's rows by the keys of hash joins above the scan.
 *
 * A Bloom filter has three bits for each key, all in one word of 64 bits, so that a row
 * costs one access to memory.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/hashjoin.h"
#include "executor/nodeHash.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/shmem.h"
#include "utils/uuid.h"

#include "compat.h"
#include "scan/join_filter.h"

/* A filter has a word for each row of the hash table, but no fewer words, ... */
#define CSV_LEAST_WORDS		2048
/* ... and takes this part of the hash table's memory at most. */
#define CSV_MEMORY_SHARE	8

/* A filter that has tested CSV_PATIENCE rows must have removed this part of them. */
#define CSV_PATIENCE		32768
#define CSV_LEAST_SHARE		8

/* ---- hashes ---- */

bool
csv_join_type_allowed(Oid type)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case TIMEOID:
		case UUIDOID:
		case TEXTOID:
		case VARCHAROID:
			return true;
		default:
			return false;
	}
}

static inline uint64
mix(uint64 hash, uint64 value)
{
	hash = (hash ^ value) * UINT64CONST(0x9e3779b97f4a7c15);
	hash = (hash ^ hash >> 32) * UINT64CONST(0xd6e8feb86659fd93);
	return hash ^ hash >> 32;
}

static uint64
hash_text(Datum datum)
{
	struct varlena *text = PG_DETOAST_DATUM_PACKED(datum);
	uint64		hash = hash_bytes_extended((const unsigned char *) VARDATA_ANY(text),
										   (int) VARSIZE_ANY_EXHDR(text), 0);

	if (text != (struct varlena *) DatumGetPointer(datum))
		pfree(text);
	return hash;
}

/* equal values have the same hash, also integers of different widths */
static inline uint64
hash_key(Oid type, Datum datum)
{
	switch (type)
	{
		case INT2OID:
			return (uint64) DatumGetInt16(datum);
		case INT4OID:
		case DATEOID:
			return (uint64) DatumGetInt32(datum);
		case UUIDOID:
			return hash_bytes_extended(DatumGetUUIDP(datum)->data, UUID_LEN, 0);
		case TEXTOID:
		case VARCHAROID:
			return hash_text(datum);
		default:
			return (uint64) DatumGetInt64(datum);
	}
}

/* the bits of a hash in its word */
static inline uint64
bits_of(uint64 hash)
{
	return UINT64CONST(1) << (hash & 63) | UINT64CONST(1) << (hash >> 6 & 63) |
		UINT64CONST(1) << (hash >> 12 & 63);
}

static inline pg_atomic_uint64 *
word_of(CsvJoinBits *bits, uint64 hash)
{
	return &bits->words[hash >> 20 & (bits->nwords - 1)];
}

/* ---- keys of the hash table ---- */

uint64
csv_join_filter_words(double nrows)
{
	double		most = (double) get_hash_memory_limit() / CSV_MEMORY_SHARE /
		sizeof(pg_atomic_uint64);
	double		words = Min(nrows, Min(most, (double) (1 << 24)));

	return pg_nextpower2_64(Max((uint64) words, CSV_LEAST_WORDS));
}

static Size
bits_size(const CsvJoinFilter *filter)
{
	return offsetof(CsvJoinBits, words) +
		sizeof(pg_atomic_uint64) * (Size) filter->nwords;
}

static void
clear_bits(CsvJoinFilter *filter)
{
	memset(filter->bits, 0, bits_size(filter));
	filter->bits->nwords = filter->nwords;
}

/*
 * Prepare for a row of the hash table, or for its end; false if the keys of other
 * processes' rows would be missing.
 */
static bool
begin_row(CsvJoinFilter *filter)
{
	if (filter->is_shared)
		return true;
	if (castNode(HashState, innerPlanState(filter->join))->parallel_state != NULL)
		return false;
	if (filter->bits == NULL)
		filter->bits =
			MemoryContextAlloc(filter->join->js.ps.state->es_query_cxt,
							   bits_size(filter));
	else if (!filter->complete)
		return true;
	/* a new hash table begins */
	clear_bits(filter);
	filter->complete = false;
	return true;
}

void
csv_join_filter_collect(CsvJoinFilter *filter, TupleTableSlot *slot)
{
	uint64		hash = 0;
	uint64		bits;
	pg_atomic_uint64 *word;

	if (!begin_row(filter))
		return;
	if (TupIsNull(slot))
	{
		pg_atomic_fetch_add_u64(&filter->bits->nrows, (int64) filter->nrows);
		filter->nrows = 0;
		filter->complete = true;
		return;
	}
	filter->nrows++;
	for (int i = 0; i < filter->nkeys; i++)
	{
		bool		isnull;
		Datum		datum;

		if ((filter->used & 1U << i) == 0)
			continue;
		datum = slot_getattr(slot, filter->inner_atts[i], &isnull);
		if (isnull)
			return;				/* it has no partner */
		hash = mix(hash, hash_key(filter->inner_types[i], datum));
	}
	bits = bits_of(hash);
	word = word_of(filter->bits, hash);
	if ((pg_atomic_read_u64(word) & bits) == bits)
		return;
	if (filter->is_shared)
		pg_atomic_fetch_or_u64(word, bits);
	else
		pg_atomic_write_u64(word, pg_atomic_read_u64(word) | bits);
}

/* ---- rows of a scan ---- */

/*
 * The hash table is complete before the join asks for rows, except if the join asks for
 * its first row earlier, to see whether there is one.  A shared table is complete
 * before any process asks.  The number of rows proves that no keys are missing.
 */
static bool
is_usable(const CsvScanFilter *scan_filter)
{
	const CsvJoinFilter *filter = scan_filter->filter;

	return !scan_filter->dropped && filter->bits != NULL &&
		filter->join->hj_HashTable != NULL &&
		(double) pg_atomic_read_u64(&filter->bits->nrows) >=
		filter->join->hj_HashTable->totalTuples;
}

bool
csv_join_filters_work(const List *scan_filters)
{
	ListCell   *cell;

	foreach(cell, scan_filters)
		if (is_usable(lfirst(cell)))
			return true;
	return false;
}

/* has the row a partner, perhaps? */
static inline bool
may_match(const CsvScanFilter *scan_filter, const CsvScanColumn *const *keys,
		  uint32_t entry)
{
	const CsvJoinFilter *filter = scan_filter->filter;
	uint64		hash = 0;
	uint64		bits;

	for (int i = 0; i < filter->nkeys; i++)
	{
		const CsvScanColumn *key = keys[i];

		if (key == NULL)
			continue;
		if (key->status != NULL && key->status[entry] == CSV_VALUE_NULL)
			return false;
		hash = mix(hash, hash_key(filter->outer_types[i],
								  csv_fetch_value(key->fetch, key->values +
												  (size_t) entry * key->stride)));
	}
	bits = bits_of(hash);
	return (pg_atomic_read_u64(word_of(filter->bits, hash)) & bits) == bits;
}

/* find the columns of the keys that are used; false if the batch lacks one of them */
static bool
find_keys(const CsvScanFilter *scan_filter, const CsvScanColumn *columns,
		  int ncolumns, const CsvScanColumn **keys)
{
	const CsvJoinFilter *filter = scan_filter->filter;

	for (int i = 0; i < filter->nkeys; i++)
	{
		keys[i] = NULL;
		if ((filter->used & 1U << i) == 0)
			continue;
		for (int j = 0; j < ncolumns; j++)
			if (columns[j].att == scan_filter->columns[i]->varattno - 1)
				keys[i] = &columns[j];
		if (keys[i] == NULL || keys[i]->values == NULL ||
			keys[i]->fetch >= CSV_NUM_FETCHES)
			return false;
	}
	return true;
}

static uint32_t
run_filter(CsvScanFilter *scan_filter, const CsvFileBatch *at,
		   const CsvScanColumn *const *keys, const CsvInputs *inputs,
		   uint32_t *rows, uint32_t n)
{
	const CsvSelection *selection = at->selection;
	bool		any_undecided = selection != NULL && selection->any_careful;
	const uint32_t *entries = selection == NULL ||
		csv_has_selected_rows(&at->batch) ? NULL : selection->rows;
	uint32_t	nleft = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	row = rows[i];
		uint32_t	entry = entries != NULL ? entries[row] : row;

		/* branches on data that cannot be predicted would cost more */
		rows[nleft] = row;
		nleft += (any_undecided && selection->careful[row] != 0) ||
			(inputs != NULL &&
			 csv_inputs_find(inputs, entry, entry + 1) == entry) ||
			may_match(scan_filter, keys, entry);
	}
	scan_filter->ntested += n;
	scan_filter->nremoved += n - nleft;
	scan_filter->dropped = scan_filter->ntested >= CSV_PATIENCE &&
		scan_filter->nremoved < scan_filter->ntested / CSV_LEAST_SHARE;
	return nleft;
}

uint32_t
csv_join_filters_run(List *scan_filters, const CsvFileBatch *at,
					 const CsvScanColumn *columns, int ncolumns,
					 const CsvInputs *inputs, uint32_t *rows, uint32_t n)
{
	const CsvScanColumn *keys[CSV_MAX_JOIN_KEYS];
	ListCell   *cell;

	foreach(cell, scan_filters)
	{
		CsvScanFilter *scan_filter = lfirst(cell);

		if (is_usable(scan_filter) &&
			find_keys(scan_filter, columns, ncolumns, keys))
			n = run_filter(scan_filter, at, keys, inputs, rows, n);
	}
	return n;
}

/* ---- shared memory ---- */

/*
 * The bits of each filter, one after the other.  A leader without filters has 0 bytes;
 * its workers then do not use the filters that they have.
 */
Size
csv_join_filters_size(const List *scan_filters, const ForeignScanState *owner)
{
	Size		size = 0;
	ListCell   *cell;

	foreach(cell, scan_filters)
	{
		const CsvJoinFilter *filter = ((const CsvScanFilter *) lfirst(cell))->filter;

		if (filter->owner == owner)
			size = add_size(size, bits_size(filter));
	}
	return size;
}

void
csv_join_filters_share(const List *scan_filters, const ForeignScanState *owner,
					   void *memory, bool initialize)
{
	char	   *at = memory;
	ListCell   *cell;

	foreach(cell, scan_filters)
	{
		CsvJoinFilter *filter = ((CsvScanFilter *) lfirst(cell))->filter;

		if (filter->owner != owner)
			continue;
		filter->is_shared = at != NULL;
		filter->bits = (CsvJoinBits *) at;
		filter->nrows = 0;
		if (at == NULL)
			continue;
		if (initialize)
			clear_bits(filter);
		/* the leader's settings may have been others */
		filter->nwords = filter->bits->nwords;
		at += bits_size(filter);
	}
}
