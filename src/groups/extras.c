/*
 * extras.c
 *		Values that the engine's lanes cannot hold: see group_values.h.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "compat.h"
#include "groups/group_values.h"
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

/* the values of an aggregate in a group; made if there are none */
static CsvExtra *
get_extra(CsvExtras *extras, uint32_t group, uint32_t aggregate)
{
	CsvExtraKey key = {group, aggregate};
	CsvExtra   *extra;
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
	return extra;
}

static void
set_value(CsvExtras *extras, CsvExtra *extra, Datum value)
{
	if (value == extra->value)
		return;
	pfree(DatumGetPointer(extra->value));
	extra->value = copy_numeric(extras, value);
}

void
csv_extras_add(CsvExtras *extras, uint32_t group, uint32_t aggregate,
			   Datum value)
{
	const CsvAggregate *state = &extras->program->aggregate[aggregate];
	CsvExtra   *extra = get_extra(extras, group, aggregate);
	Numeric		numeric;

	extra->count++;
	if (state->lane == CSV_LANE_FLOAT)
		return;
	numeric = DatumGetNumeric(value);
	extra->nnans += numeric_is_nan(numeric);
	if (numeric_is_inf(numeric))
		extra->ninfinities[DatumGetBool(DirectFunctionCall2(numeric_gt, value,
															extra->value))]++;
	set_value(extras, extra, add_value(state->kind, extra, value));
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
	Datum		trimmed = DirectFunctionCall1(numeric_trim_scale, value);
	const char *text = DatumGetCString(DirectFunctionCall1(numeric_out, trimmed));
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

/* ---- in files ---- */

/* values of an aggregate, or a key, as attached to a group; a numeric follows */
typedef struct SavedExtra
{
	CsvInt128	stand_in;
	CsvExtra	extra;
	bool		is_key;
} SavedExtra;

static bool
attach(CsvEvaluator *evaluator, uint32_t group, const SavedExtra *saved, Datum value)
{
	Size		nbytes = MAXALIGN(sizeof(*saved)) + VARSIZE(DatumGetPointer(value));
	char	   *bytes = palloc0(nbytes);
	bool		attached;

	memcpy(bytes, saved, sizeof(*saved));
	memcpy(bytes + MAXALIGN(sizeof(*saved)), DatumGetPointer(value),
		   VARSIZE(DatumGetPointer(value)));
	attached = csv_evaluator_attach(evaluator, group, bytes, nbytes);
	pfree(bytes);
	return attached;
}

/* attach the numerics that keys of a group stand for */
static bool
attach_keys(const CsvExtras *extras, CsvEvaluator *evaluator, uint32_t group)
{
	const CsvQuery *query = csv_evaluator_query(evaluator);
	CsvPartialGroups groups;

	if (csv_evaluator_groups(evaluator, group, 1, &groups) != CSV_OK)
		return false;
	for (uint32_t i = 0; i < query->nkeys; i++)
	{
		SavedExtra	saved = {.is_key = true};
		CsvValue	key;

		csv_partial_key(query, &groups, 0, i, &key);
		if (!csv_stands_in(&query->keys[i], &key))
			continue;
		saved.stand_in = key.value.decimal;
		if (!attach(evaluator, group, &saved, csv_extras_key(extras, saved.stand_in)))
			return false;
	}
	return true;
}

bool
csv_extras_attach(const CsvExtras *extras, CsvEvaluator *evaluator)
{
	HASH_SEQ_STATUS status;
	const CsvExtra *extra;

	if (extras->table != NULL)
		hash_seq_init(&status, extras->table);
	while (extras->table != NULL && (extra = hash_seq_search(&status)) != NULL)
	{
		SavedExtra	saved = {.extra = *extra};

		if (!attach(evaluator, extra->key.group, &saved, extra->value))
		{
			hash_seq_term(&status);
			return false;
		}
	}
	for (uint32_t group = 0; extras->keys != NULL &&
		 group < csv_evaluator_ngroups(evaluator); group++)
		if (!attach_keys(extras, evaluator, group))
			return false;
	return true;
}

void
csv_extras_take(CsvExtras *extras, uint32_t group, const uint8_t *bytes)
{
	Datum		value = PointerGetDatum(bytes + MAXALIGN(sizeof(SavedExtra)));
	SavedExtra	saved;
	CsvExtra   *extra;
	CsvAggregateKind kind;

	memcpy(&saved, bytes, sizeof(saved));
	if (saved.is_key)
	{
		csv_extras_keep_key(extras, saved.stand_in, value);
		return;
	}
	extra = get_extra(extras, group, saved.extra.key.aggregate);
	kind = extras->program->aggregate[saved.extra.key.aggregate].kind;
	if (kind != CSV_AGGREGATE_MIN && kind != CSV_AGGREGATE_MAX)
		value = DirectFunctionCall2(numeric_add, extra->value, value);
	else if (extra->count > 0)
		value = csv_numeric_extreme(kind == CSV_AGGREGATE_MAX, extra->value, value);
	set_value(extras, extra, value);
	extra->count += saved.extra.count;
	extra->nnans += saved.extra.nnans;
	for (int i = 0; i < lengthof(extra->ninfinities); i++)
		extra->ninfinities[i] += saved.extra.ninfinities[i];
}

void
csv_extras_drop(CsvExtras *extras)
{
	extras->table = NULL;
	extras->keys = NULL;
	MemoryContextReset(extras->context);
}
