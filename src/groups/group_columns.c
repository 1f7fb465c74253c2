/*
 * group_columns.c
 *		Rows of many groups at a time.
 *
 * A query with millions of groups takes most of its time to hand them over, one by
 * one.  So rows are made before, column by column, in one loop for each kind of
 * column: counts, sums of integers and numerics, and keys and extremes of types
 * without bytes of their own.  Threads that merge groups make the rows as soon as they
 * have merged, unless a value needs PostgreSQL's memory.
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "groups/group_values.h"

/*
 * Where values of a column go: datums are `step` apart, rooms side by side.  A thread
 * cannot use PostgreSQL's memory for values that are too large for their room.
 */
typedef struct Target
{
	bool		in_thread;
	Datum	   *values;
	bool	   *isnull;
	uint32_t	step;
	char		(*rooms)[CSV_SHORT_NUMERIC_BYTES];
} Target;

/*
 * Make values from pairs of words, which are `pitch` apart.  False: one was too large.
 */
static bool
fill_pairs(const CsvResult *column, Target *into,
		   const uint64_t *pairs, uint32_t pitch, uint32_t n)
{
	Datum	   *value_of = into->values;
	uint32_t	step = into->step;
	int			scale = column->reg.scale;

#define FILL(datum) \
	for (uint32_t i = 0; i < n; i++, pairs += pitch) \
		value_of[i * step] = (datum); \
	return true

	switch (column->type)
	{
		case BOOLOID:
			FILL(BoolGetDatum(pairs[0] != 0));
		case INT2OID:
			FILL(Int16GetDatum((int16) pairs[0]));
		case INT4OID:
		case DATEOID:
			FILL(Int32GetDatum((int32) pairs[0]));
		case FLOAT4OID:
			{
				CsvValue	value;

				FILL((memcpy(&value.value.real, pairs, 8),
					  Float4GetDatum((float4) value.value.real)));
			}
		case NUMERICOID:
			for (uint32_t i = 0; i < n; i++, pairs += pitch)
			{
				CsvInt128	decimal = (CsvInt128)
					((CsvUint128) pairs[1] << 64 | pairs[0]);

				if (into->isnull[i * step])
					continue;
				if (decimal == (int64_t) decimal &&
					scale <= CSV_SHORT_NUMERIC_SCALE)
					value_of[i * step] = csv_short_numeric((int64_t) decimal,
														   scale, into->rooms[i]);
				else if (into->in_thread)
					return false;
				else
					value_of[i * step] = csv_numeric_of_decimal(decimal, scale,
																NULL);
			}
			return true;
		default:				/* 64 bits as they are */
			FILL(Int64GetDatum((int64) pairs[0]));
	}
#undef FILL
}

static bool
fill_sums(const CsvResult *column, const CsvResults *results,
		  const CsvPartialGroups *groups, uint32_t first, uint32_t n,
		  Target *into)
{
	const CsvPartialLayout *layout = results->layout;
	const int64_t *words = groups->words + (size_t) first * layout->nwords +
		layout->first_word[column->first];
	bool		is_long = column->reg.lane == CSV_LANE_DECIMAL; /* 4 words */
	bool		is_integer = column->type == INT8OID;
	int			scale = column->reg.scale;

	for (uint32_t i = 0; i < n; i++, words += layout->nwords)
	{
		CsvInt128	sum = words[0] + (CsvInt128) words[1] * (INT64CONST(1) << 32);
		Datum	   *value_of = &into->values[i * into->step];

		if (is_integer)
			*value_of = Int64GetDatum((int64) sum);
		else if (into->isnull[i * into->step])
			continue;
		else if ((!is_long || (words[2] | words[3]) == 0) &&
				 sum == (int64_t) sum && scale <= CSV_SHORT_NUMERIC_SCALE)
			*value_of = csv_short_numeric((int64_t) sum, scale, into->rooms[i]);
		else if (into->in_thread)
			return false;
		else
		{
			CsvAggregateValue value;

			csv_partial_aggregate(results->query, layout, groups, first + i,
								  (uint32_t) column->first, &value);
			*value_of = csv_numeric_of_wide(value.wide, scale, NULL);
		}
	}
	return true;
}

static bool
fill_column(const CsvResult *column, const CsvResults *results,
			const CsvPartialGroups *groups, uint32_t first, uint32_t n,
			Target *into)
{
	const CsvPartialLayout *layout = results->layout;
	uint32_t	nkeys = results->query->nkeys;
	uint32_t	number = (uint32_t) column->first;
	uint32_t	step = into->step;
	const int64_t *words = groups->words + (size_t) first * layout->nwords;
	const int64_t *input;

	if (column->kind == CSV_RESULT_KEY)
	{
		for (uint32_t i = 0; i < n; i++)
			into->isnull[i * step] = (groups->nulls[first + i] >> number & 1) != 0;
		return fill_pairs(column, into, groups->keys +
						  ((size_t) first * nkeys + number) * 2, 2 * nkeys, n);
	}
	input = words + layout->input[number];
	if (column->kind == CSV_RESULT_COUNT)
	{
		for (uint32_t i = 0; i < n; i++, input += layout->nwords)
		{
			into->values[i * step] = Int64GetDatum(*input);
			into->isnull[i * step] = false;
		}
		return true;
	}
	for (uint32_t i = 0; i < n; i++, input += layout->nwords)
		into->isnull[i * step] = *input == 0;
	if (column->kind == CSV_RESULT_EXTREME)
		return fill_pairs(column, into, (const uint64_t *) words +
						  layout->first_word[number], layout->nwords, n);
	return fill_sums(column, results, groups, first, n, into);
}

CsvGroupRows *
csv_group_rows_create(const CsvResults *results, const CsvMemory *memory,
					  uint32_t n)
{
	size_t		nvalues = (size_t) n * results->n;
	size_t		nrooms = 0;
	CsvGroupRows *rows;

	for (int i = 0; i < results->n; i++)
		if (results->results[i].has_column &&
			results->results[i].type == NUMERICOID)
			nrooms += n;
	rows = memory->alloc(memory->owner, sizeof(CsvGroupRows) + nvalues *
						 (sizeof(Datum) + sizeof(bool)) +
						 nrooms * CSV_SHORT_NUMERIC_BYTES);
	if (rows == NULL)
		return NULL;
	rows->values = (Datum *) (rows + 1);
	rows->rooms = (void *) (rows->values + nvalues);
	rows->isnull = (bool *) (rows->rooms + nrooms);
	rows->n = n;
	/* this stays if a result has no column */
	memset(rows->values, 0, nvalues * sizeof(Datum));
	memset(rows->isnull, true, nvalues);
	return rows;
}

bool
csv_group_rows_fill(const CsvResults *results, const CsvPartialGroups *groups,
					uint32_t first, uint32_t n, CsvGroupRows *rows,
					bool in_thread)
{
	char		(*rooms)[CSV_SHORT_NUMERIC_BYTES] = rows->rooms;

	for (int i = 0; i < results->n; i++)
	{
		const CsvResult *column = &results->results[i];
		Target		into = {
			in_thread, rows->values + i, rows->isnull + i, (uint32_t) results->n,
			rooms
		};

		if (!column->has_column)
			continue;
		if (column->type == NUMERICOID)
			rooms += rows->n;
		if (!fill_column(column, results, groups, first, n, &into))
			return false;
	}
	return true;
}

void *
csv_make_group_rows(void *arg, const CsvMemory *memory,
					const CsvPartialGroups *groups)
{
	const CsvResults *results = arg;
	CsvGroupRows *rows = csv_group_rows_create(results, memory,
											   groups->ngroups);

	if (rows != NULL &&
		!csv_group_rows_fill(results, groups, 0, groups->ngroups, rows, true))
	{
		memory->free(memory->owner, rows);
		rows = NULL;
	}
	return rows;
}
