/*
 * extras.c
 *		Values that the engine's lanes cannot hold: see results.h.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "groups/results.h"
#include "query/operate.h"

void
csv_extras_init(CsvExtras *extras, const CsvProgram *program)
{
	extras->program = program;
	extras->context = AllocSetContextCreate(CurrentMemoryContext,
											"csv_gpu_fdw sums",
											ALLOCSET_SMALL_SIZES);
	extras->table = NULL;
	extras->keys = NULL;
	for (int i = 0; i < lengthof(extras->seeds); i++)
		extras->seeds[i] = csv_random_seed(&extras->seeds[i]);
}

static HTAB *
create_table(CsvExtras *extras, Size keysize, Size entrysize)
{
	HASHCTL		control = {
		.keysize = keysize, .entrysize = entrysize, .hcxt = extras->context
	};

	return hash_create("csv_gpu_fdw numerics", 64, &control,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

int
csv_numeric_scale(Datum value)
{
	return numeric_is_nan(DatumGetNumeric(value)) ||
		numeric_is_inf(DatumGetNumeric(value)) ? 0 :
		DatumGetInt32(DirectFunctionCall1(numeric_scale, value));
}

Datum
csv_numeric_extreme(bool is_max, Datum a, Datum b)
{
	int			order = DatumGetInt32(DirectFunctionCall2(numeric_cmp, a, b));

	if (order == 0)
		return csv_numeric_scale(a) >= csv_numeric_scale(b) ? a : b;
	return (order > 0) == is_max ? a : b;
}

static Datum
copy_numeric(CsvExtras *extras, Datum value)
{
	MemoryContext outer = MemoryContextSwitchTo(extras->context);
	Datum		copy = datumCopy(value, false, -1);

	MemoryContextSwitchTo(outer);
	return copy;
}

/* add a finite value to the sum, or any value to the extreme */
static Datum
add_value(CsvAggregateKind kind, const CsvExtra *extra, Datum value)
{
	if (kind == CSV_AGGREGATE_MIN || kind == CSV_AGGREGATE_MAX)
		return extra->count == 1 ? value :
			csv_numeric_extreme(kind == CSV_AGGREGATE_MAX, extra->value, value);
	if (numeric_is_nan(DatumGetNumeric(value)) ||
		numeric_is_inf(DatumGetNumeric(value)))
		return extra->value;
	if (kind == CSV_AGGREGATE_SUM_SQUARES)
		value = DirectFunctionCall2(numeric_mul, value, value);
	return DirectFunctionCall2(numeric_add, extra->value, value);
}

void
csv_extras_add(CsvExtras *extras, uint32_t group, uint32_t aggregate,
			   Datum value)
{
	CsvExtraKey key = {group, aggregate};
	const CsvAggregate *kept = &extras->program->aggregate[aggregate];
	Numeric		numeric;
	CsvExtra   *extra;
	Datum		sum;
	bool		found;

	if (extras->table == NULL)
		extras->table = create_table(extras, sizeof(CsvExtraKey),
									 sizeof(CsvExtra));
	extra = hash_search(extras->table, &key, HASH_ENTER, &found);
	if (!found)
	{
		memset(&extra->count, 0, sizeof(*extra) - offsetof(CsvExtra, count));
		extra->value = copy_numeric(extras, NumericGetDatum(int64_to_numeric(0)));
	}
	extra->count++;
	if (kept->lane == CSV_LANE_FLOAT)
		return;
	numeric = DatumGetNumeric(value);
	extra->nnans += numeric_is_nan(numeric);
	if (numeric_is_inf(numeric))
		extra->ninfinities[DatumGetBool(DirectFunctionCall2(numeric_gt, value,
															extra->value))]++;
	sum = add_value(kept->kind, extra, value);
	if (sum != extra->value)
	{
		pfree(DatumGetPointer(extra->value));
		extra->value = copy_numeric(extras, sum);
	}
}

const CsvExtra *
csv_extras_find(const CsvExtras *extras, uint32_t group, int aggregate)
{
	CsvExtraKey key = {group, (uint32_t) aggregate};

	return extras->table == NULL ? NULL :
		hash_search(extras->table, &key, HASH_FIND, NULL);
}

/* ---- keys ---- */

/* a key that no lane holds */
typedef struct KeyEntry
{
	CsvInt128	stand_in;
	Datum		value;
} KeyEntry;

CsvInt128
csv_extras_stand_in(const CsvExtras *extras, Datum value)
{
	const char *text = DatumGetCString(DirectFunctionCall1(numeric_out,
														   DirectFunctionCall1(numeric_trim_scale, value)));
	uint64_t	hashes[2];

	for (int i = 0; i < lengthof(hashes); i++)
		hashes[i] = csv_hash_text(extras->seeds[i], extras->seeds[i],
								  (const uint8_t *) text, (uint32_t) strlen(text));
	/* 3 x 2^125 is more than 10^38 */
	return (CsvInt128) ((CsvUint128) (hashes[0] >> 3 | UINT64CONST(3) << 61) << 64 |
						hashes[1]);
}

void
csv_extras_keep_key(CsvExtras *extras, CsvInt128 stand_in, Datum value)
{
	KeyEntry   *entry;
	bool		found;

	if (extras->keys == NULL)
		extras->keys = create_table(extras, sizeof(CsvInt128), sizeof(KeyEntry));
	entry = hash_search(extras->keys, &stand_in, HASH_ENTER, &found);
	if (!found)
		entry->value = copy_numeric(extras, value);
}

Datum
csv_extras_key(const CsvExtras *extras, CsvInt128 stand_in)
{
	return ((KeyEntry *) hash_search(extras->keys, &stand_in, HASH_FIND,
									 NULL))->value;
}

void
csv_extras_drop(CsvExtras *extras)
{
	extras->table = NULL;
	extras->keys = NULL;
	MemoryContextReset(extras->context);
}
