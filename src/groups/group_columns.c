/*
 * group_columns.c
 *		Values of groups as they come from a device, many at a time.
 *
 * A query with millions of groups takes most of its time to hand them over, one
 * by one.  So counts, sums of integers and numerics, and keys and extremes of
 * types without bytes of their own are made column by column, in loops that need
 * not ask what they make.
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "groups/group_columns.h"

CsvGroupColumn *
csv_group_column_create(const CsvProgram *program, const CsvResult *result,
						const Aggref *aggref)
{
	CsvGroupColumn *column;
	/* a count may have no argument, and looks at none */
	const CsvRegister *reg = &program->registers[Max(result->argument, 0)];
	bool		is_made = false;

	switch (result->kind)
	{
		case CSV_RESULT_KEY:
		case CSV_RESULT_EXTREME:
			is_made = reg->lane != CSV_LANE_TEXT && reg->lane != CSV_LANE_UUID;
			break;
		case CSV_RESULT_COUNT:
			is_made = true;
			break;
		case CSV_RESULT_SUM:
			is_made = reg->lane != CSV_LANE_FLOAT &&
				(aggref->aggtype == INT8OID || aggref->aggtype == NUMERICOID);
			break;
		default:
			break;
	}
	if (!is_made)
		return NULL;
	column = palloc0(sizeof(CsvGroupColumn));
	column->result = *result;
	column->type = aggref == NULL || result->kind == CSV_RESULT_EXTREME ?
		reg->type : aggref->aggtype;
	column->reg = *reg;
	return column;
}

/* values of two words each, so far apart */
static void
fill_pairs(CsvGroupColumn *column, const uint64_t *pairs, uint32_t pitch,
		   uint32_t n)
{
	Datum	   *values = column->values;

#define FILL(datum) \
	for (uint32_t i = 0; i < n; i++, pairs += pitch) \
		values[i] = (datum); \
	break

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

				if (column->isnull[i])
					continue;
				if (decimal == (int64_t) decimal &&
					column->reg.scale <= CSV_SHORT_NUMERIC_SCALE)
					values[i] = csv_short_numeric((int64_t) decimal,
												  column->reg.scale,
												  column->rooms[i]);
				else if (decimal == CSV_DECIMAL_NAN)
					values[i] = csv_numeric_nan();
				else
					values[i] = csv_numeric_of_decimal(decimal,
													   column->reg.scale, NULL);
			}
			break;
		default:				/* 64 bits as they are */
			FILL(Int64GetDatum((int64) pairs[0]));
	}
#undef FILL
}

static void
fill_sums(CsvGroupColumn *column, const CsvQuery *query,
		  const CsvPartialLayout *layout, const CsvPartialGroups *groups,
		  uint32_t first, uint32_t n)
{
	const int64_t *words = groups->words + (size_t) first * layout->nwords +
		layout->first_word[column->result.first];
	bool		is_long = column->reg.lane == CSV_LANE_DECIMAL; /* 4 words */
	bool		is_integer = column->type == INT8OID;
	int			scale = column->reg.scale;

	for (uint32_t i = 0; i < n; i++, words += layout->nwords)
	{
		CsvInt128	sum = words[0] + (CsvInt128) words[1] * (INT64CONST(1) << 32);

		if (is_integer)
			column->values[i] = Int64GetDatum((int64) sum);
		else if (column->isnull[i])
			continue;
		else if ((!is_long || (words[2] | words[3]) == 0) &&
				 sum == (int64_t) sum && scale <= CSV_SHORT_NUMERIC_SCALE)
			column->values[i] = csv_short_numeric((int64_t) sum, scale,
												  column->rooms[i]);
		else
		{
			CsvAggregateValue value;

			csv_partial_aggregate(query, layout, groups, first + i,
								  (uint32_t) column->result.first, &value);
			column->values[i] = csv_numeric_of_wide(value.wide, scale, NULL);
		}
	}
}

void
csv_group_column_fill(CsvGroupColumn *column, const CsvQuery *query,
					  const CsvPartialLayout *layout,
					  const CsvPartialGroups *groups, uint32_t first,
					  uint32_t n)
{
	uint32_t	number = (uint32_t) column->result.first;
	const int64_t *words = groups->words + (size_t) first * layout->nwords;
	const int64_t *input;

	if (column->result.kind == CSV_RESULT_KEY)
	{
		for (uint32_t i = 0; i < n; i++)
			column->isnull[i] = (groups->nulls[first + i] >> number & 1) != 0;
		fill_pairs(column, groups->keys +
				   ((size_t) first * query->nkeys + number) * 2,
				   2 * query->nkeys, n);
		return;
	}
	input = words + layout->input[number];
	if (column->result.kind == CSV_RESULT_COUNT)
	{
		for (uint32_t i = 0; i < n; i++, input += layout->nwords)
			column->values[i] = Int64GetDatum(*input);
		return;
	}
	for (uint32_t i = 0; i < n; i++, input += layout->nwords)
		column->isnull[i] = *input == 0;
	if (column->result.kind == CSV_RESULT_EXTREME)
		fill_pairs(column, (const uint64_t *) words +
				   layout->first_word[number], layout->nwords, n);
	else
		fill_sums(column, query, layout, groups, first, n);
}
