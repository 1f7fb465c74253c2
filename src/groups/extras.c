/*
 * extras.c
 *		What groups hold beyond the engine's lanes.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "groups/extras.h"

void
csv_extras_init(CsvExtras *extras, const CsvProgram *program)
{
	extras->program = program;
	extras->context = AllocSetContextCreate(CurrentMemoryContext,
											"csv_gpu_fdw sums",
											ALLOCSET_SMALL_SIZES);
	extras->table = NULL;
}

void
csv_extras_add(CsvExtras *extras, uint32_t group, uint32_t aggregate,
			   Datum value)
{
	CsvExtraKey key = {group, aggregate};
	MemoryContext outer = MemoryContextSwitchTo(extras->context);
	bool		is_float =
		extras->program->aggregate[aggregate].lane == CSV_LANE_FLOAT;
	CsvExtra   *extra;
	bool		found;

	if (extras->table == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof(CsvExtraKey),
			.entrysize = sizeof(CsvExtra),
			.hcxt = extras->context
		};

		extras->table = hash_create("csv_gpu_fdw numerics", 64, &control,
										  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	extra = hash_search(extras->table, &key, HASH_ENTER, &found);
	if (!found)
	{
		extra->count = 0;
		extra->nnans = 0;
		extra->sum = NumericGetDatum(int64_to_numeric(0));
	}
	extra->count++;
	if (!is_float && numeric_is_nan(DatumGetNumeric(value)))
		extra->nnans++;
	else if (!is_float)
	{
		Datum		old = extra->sum;

		if (extras->program->aggregate[aggregate].kind ==
			CSV_AGGREGATE_SUM_SQUARES)
			value = DirectFunctionCall2(numeric_mul, value, value);
		extra->sum = DirectFunctionCall2(numeric_add, old, value);
		pfree(DatumGetPointer(old));
	}
	MemoryContextSwitchTo(outer);
}

const CsvExtra *
csv_extras_find(const CsvExtras *extras, uint32_t group, int aggregate)
{
	CsvExtraKey key = {group, (uint32_t) aggregate};

	return extras->table == NULL ? NULL :
		hash_search(extras->table, &key, HASH_FIND, NULL);
}

void
csv_extras_drop(CsvExtras *extras)
{
	extras->table = NULL;
	MemoryContextReset(extras->context);
}
