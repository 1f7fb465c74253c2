/*
 * best.c
 *		Finds the first rows of an order: see best.h.
 */
#include "best.h"

#include "../reader/arrays.h"
#include "operate.h"

bool
csv_best_init(CsvBest *best, const CsvMemory *memory, const CsvQuery *query)
{
	size_t		nkeys = (size_t) query->limit * query->norder;

	memset(best, 0, sizeof(*best));
	best->memory = memory;
	best->query = query;
	best->keys = memory->alloc(memory->owner, nkeys * sizeof(CsvBestKey));
	best->serials = memory->alloc(memory->owner, query->limit * sizeof(uint64_t));
	best->heap = memory->alloc(memory->owner, query->limit * sizeof(uint32_t));
	if (best->keys == NULL || best->serials == NULL || best->heap == NULL)
	{
		csv_free(memory, best->keys);
		csv_free(memory, best->serials);
		csv_free(memory, best->heap);
		return false;
	}
	return true;
}

void
csv_best_free(CsvBest *best)
{
	for (size_t i = 0; i < (size_t) best->nentries * best->query->norder; i++)
		csv_free(best->memory, best->keys[i].bytes);
	csv_free(best->memory, best->keys);
	csv_free(best->memory, best->serials);
	csv_free(best->memory, best->heap);
	csv_free(best->memory, best->comes_out);
}

bool
csv_best_begin(CsvBest *best, uint32_t nrows)
{
	best->batch_serial += best->nrows;
	best->nrows = nrows;
	if (!csv_renew(best->memory, &best->comes_out, &best->comes_out_capacity, nrows))
		return false;
	if (nrows > 0)
		memset(best->comes_out, 0, nrows);
	return true;
}

/* ---- the order ---- */

/* compares two values of a key: below zero if a comes first */
static inline int
compare_key(const CsvOrderKey *key, const CsvValue *a, const CsvValue *b)
{
	bool		a_null = a->state == CSV_LANE_NULL;
	bool		b_null = b->state == CSV_LANE_NULL;
	int			order;

	if (a_null || b_null)
	{
		order = (int) a_null - (int) b_null;
		return key->nulls_first ? -order : order;
	}
	order = csv_value_compare(key->lane, a, b);
	return key->descending ? -order : order;
}

/* is entry a worse than b? */
static bool
is_worse(const CsvBest *best, uint32_t a, uint32_t b)
{
	const CsvQuery *query = best->query;
	const CsvBestKey *left = &best->keys[(size_t) a * query->norder];
	const CsvBestKey *right = &best->keys[(size_t) b * query->norder];

	for (uint32_t i = 0; i < query->norder; i++)
	{
		int			order = compare_key(&query->order[i], &left[i].value,
										&right[i].value);

		if (order != 0)
			return order > 0;
	}
	return best->serials[a] > best->serials[b];
}

/* is a row, which is later than all entries, better than the top? */
static bool
is_better(const CsvBest *best, const CsvLanes *registers, uint32_t row)
{
	const CsvQuery *query = best->query;
	const CsvBestKey *top = &best->keys[(size_t) best->heap[0] * query->norder];

	for (uint32_t i = 0; i < query->norder; i++)
	{
		CsvValue	value = {0};
		int			order;

		csv_lanes_value(&registers[query->order[i].value], row, &value);
		order = compare_key(&query->order[i], &value, &top[i].value);
		if (order != 0)
			return order < 0;
	}
	return false;
}

/*
 * Keep rows unless their first key is worse than the top's: a loop for each of the
 * lanes that most keys have.
 */
static uint32_t
choose_by_first_key(const CsvBest *best, const CsvLanes *registers,
					uint16_t *rows, uint32_t nrows)
{
	const CsvOrderKey *key = &best->query->order[0];
	const CsvLanes *lanes = &registers[key->value];
	const CsvValue *top =
		&best->keys[(size_t) best->heap[0] * best->query->norder].value;
	uint32_t	n = 0;

#define CHOOSE(is_candidate) \
	for (uint32_t k = 0; k < nrows; k++) \
	{ \
		const uint16_t row = rows[k]; \
 \
		rows[n] = row; \
		n += (is_candidate); \
	} \
	return n

	if (lanes->plain && !lanes->wide && top->state == CSV_LANE_VALUE &&
		(key->lane == CSV_LANE_INT || key->lane == CSV_LANE_DECIMAL))
	{
		const int64_t *values = lanes->integers;

		/* if the top is out of the lanes' range, all rows are on one side of it */
		int64_t		bound = key->lane == CSV_LANE_INT ? top->value.integer :
			top->value.decimal > INT64_MAX ? INT64_MAX :
			top->value.decimal < INT64_MIN ? INT64_MIN :
			(int64_t) top->value.decimal;

		if (key->descending)
		{
			CHOOSE(values[row] >= bound);
		}
		CHOOSE(values[row] <= bound);
	}
	if (lanes->plain && top->state == CSV_LANE_VALUE &&
		key->lane == CSV_LANE_FLOAT && !csv_float_is_nan(top->value.real))
	{
		const double *values = lanes->reals;
		double		bound = top->value.real;

		if (key->descending)
		{
			CHOOSE(!(values[row] < bound));
		}
		CHOOSE(values[row] <= bound);
	}
	return nrows;
#undef CHOOSE
}

/* ---- the heap ---- */

static void
sink(CsvBest *best, uint32_t at)
{
	uint32_t   *heap = best->heap;
	uint32_t	entry = heap[at];

	for (;;)
	{
		uint32_t	child = 2 * at + 1;

		if (child >= best->nentries)
			break;
		if (child + 1 < best->nentries &&
			is_worse(best, heap[child + 1], heap[child]))
			child++;
		if (!is_worse(best, heap[child], entry))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = entry;
}

static void
rise(CsvBest *best, uint32_t at)
{
	uint32_t   *heap = best->heap;
	uint32_t	entry = heap[at];

	while (at > 0 && is_worse(best, entry, heap[(at - 1) / 2]))
	{
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = entry;
}

/* copy a text to the entry's memory; false: no memory */
static bool
own_text(CsvBest *best, CsvBestKey *key)
{
	uint32_t	length = key->value.length;

	if (length > key->capacity)
	{
		best->text_bytes -= key->capacity;
		if (!csv_renew(best->memory, &key->bytes, &key->capacity,
					   length < 16 ? 16 : length))
			return false;
		best->text_bytes += key->capacity;
	}
	if (length > 0)
		memcpy(key->bytes, key->value.bytes, length);
	key->value.bytes = key->bytes;
	return true;
}

static bool
set_entry(CsvBest *best, uint32_t entry, const CsvLanes *registers,
		  uint32_t row, uint64_t serial)
{
	const CsvQuery *query = best->query;
	CsvBestKey *keys = &best->keys[(size_t) entry * query->norder];

	best->serials[entry] = serial;
	for (uint32_t i = 0; i < query->norder; i++)
	{
		csv_lanes_value(&registers[query->order[i].value], row,
						&keys[i].value);
		if (query->order[i].lane == CSV_LANE_TEXT &&
			keys[i].value.state == CSV_LANE_VALUE && !own_text(best, &keys[i]))
			return false;
	}
	return true;
}

/* add a row that is better than the top, or for which there is room */
static bool
add_row(CsvBest *best, const CsvLanes *registers, uint32_t row,
		uint64_t serial)
{
	uint32_t	entry = best->nentries;

	if (entry < best->query->limit)
	{
		memset(&best->keys[(size_t) entry * best->query->norder], 0,
			   best->query->norder * sizeof(CsvBestKey));
		best->heap[entry] = entry;
		best->nentries++;
		if (!set_entry(best, entry, registers, row, serial))
			return false;
		rise(best, entry);
	}
	else
	{
		entry = best->heap[0];
		if (best->serials[entry] >= best->batch_serial)
			best->comes_out[best->serials[entry] - best->batch_serial] = 0;
		if (!set_entry(best, entry, registers, row, serial))
			return false;
		sink(best, 0);
	}
	if (best->text_bytes > best->query->limit_bytes)
		best->frozen = true;
	return true;
}

bool
csv_best_take(CsvBest *best, const CsvLanes *registers, uint32_t first_row,
			  uint16_t *rows, uint32_t *nrows)
{
	bool		full = best->nentries == best->query->limit;
	uint32_t	nchosen = full ?
		choose_by_first_key(best, registers, rows, *nrows) : *nrows;
	uint32_t	n = 0;

	for (uint32_t k = 0; k < nchosen; k++)
	{
		uint16_t	row = rows[k];

		if (best->nentries == best->query->limit &&
			!is_better(best, registers, row))
			continue;
		rows[n++] = row;
		best->comes_out[first_row + row] = 1;
		if (!best->frozen &&
			!add_row(best, registers, row,
					 best->batch_serial + first_row + row))
			return false;
	}
	*nrows = n;
	return true;
}
