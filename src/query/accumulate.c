/*
 * accumulate.c
 *		Adds rows to groups, aggregate by aggregate.
 *
 * Sums need up to 192 bits, and counters 64, but only in few groups.  A group keeps
 * fewer bits; the rest is carried to one table of carries for all groups.
 */
#include "accumulate.h"

#include <string.h>

/* a MIN or MAX of TEXT; its bytes are in the arena, or NULL */
typedef struct ExtremeText
{
	uint32_t	length;
	uint32_t	capacity;
	uint8_t    *bytes;
} ExtremeText;

/* ---- carries ---- */

static CsvValue
carry_key(uint32_t group, uint32_t field)
{
	CsvValue	key;

	memset(&key, 0, sizeof(key));
	key.value.integer = (int64_t) group * (2 * CSV_MAX_AGGREGATES) + field;
	return key;
}

static bool
add_carry(CsvGroups *groups, uint32_t group, uint32_t field, CsvInt128 carry)
{
	CsvKeyed   *table = &groups->carries;
	CsvValue	key = carry_key(group, field);
	uint32_t	row;
	uint8_t    *place;
	CsvInt128	sum;
	bool		made;

	row = csv_keyed_find(table,
						 csv_keyed_hash(table, table->seed, CSV_LANE_INT, &key),
						 &key, &made);
	if (row == CSV_NO_ROW)
		return false;
	place = csv_keyed_row(table, row) + groups->carry_offset;
	memcpy(&sum, place, sizeof(sum));
	sum += carry;
	memcpy(place, &sum, sizeof(sum));
	return true;
}

/* the carry of a field of a group */
static CsvInt128
get_carry(const CsvGroups *groups, uint32_t group, uint32_t field)
{
	const CsvKeyed *table = &groups->carries;
	CsvValue	key = carry_key(group, field);
	uint32_t	row;
	CsvInt128	sum;

	row = csv_keyed_lookup(table,
						   csv_keyed_hash(table, table->seed, CSV_LANE_INT,
										  &key),
						   &key);
	if (row == CSV_NO_ROW)
		return 0;
	memcpy(&sum, csv_keyed_row(table, row) + groups->carry_offset,
		   sizeof(sum));
	return sum;
}

bool
csv_groups_have_carry(const CsvGroups *groups, uint32_t group)
{
	const CsvQuery *query = groups->query;
	bool		any = false;

	for (uint32_t i = 0; i < query->naggregates && groups->carries.nrows > 0; i++)
		any |= csv_is_sum(&query->aggregate[i]) && get_carry(groups, group, i) != 0;
	for (uint32_t i = 0; i < groups->partial.ninputs && groups->carries.nrows > 0; i++)
		any |= get_carry(groups, group, COUNTER_FIELD(i)) != 0;
	return any;
}

/* ---- counters and sums ---- */

int64_t
csv_groups_count(const CsvGroups *groups, uint32_t group, uint32_t counter)
{
	uint32_t	count;

	memcpy(&count, csv_keyed_row(&groups->table, group) +
		   groups->counters[counter], 4);
	return count < COUNTER_UNIT ? count :
		count + (int64_t) COUNTER_UNIT *
		(int64_t) get_carry(groups, group, COUNTER_FIELD(counter));
}

CsvWideSum
csv_groups_sum(const CsvGroups *groups, uint32_t group, uint32_t aggregate)
{
	const CsvAccumulator *accumulator = &groups->accumulators[aggregate];
	const uint8_t *place = csv_keyed_row(&groups->table, group) +
		accumulator->offset;
	CsvInt128	kept;
	CsvWideSum	sum;

	if (accumulator->nbytes == 8)
	{
		int64_t		low;

		memcpy(&low, place, 8);
		kept = low;
	}
	else
		memcpy(&kept, place, 16);
	sum = csv_wide_sum_of(kept);
	return groups->carries.nrows == 0 ? sum :
		csv_wide_sum_add(sum,
						 csv_wide_sum_shifted(get_carry(groups, group,
															aggregate),
											  accumulator->nbytes == 16));
}

bool
csv_add_count(CsvGroups *groups, uint32_t counter, const CsvRun *run, uint32_t n)
{
	uint8_t    *place = run->place + groups->counters[counter];
	uint32_t	count;

	memcpy(&count, place, 4);
	if (count > UINT32_MAX - n)
	{
		/* the rest is at least COUNTER_UNIT, which tells that there is a carry */
		count -= COUNTER_UNIT;
		if (!add_carry(groups, run->group, COUNTER_FIELD(counter), 1))
			return false;
	}
	count += n;
	memcpy(place, &count, 4);
	return true;
}

bool
csv_add_wide_sum(CsvGroups *groups, uint32_t aggregate, const CsvRun *run,
				 CsvWideSum sum)
{
	const CsvAccumulator *accumulator = &groups->accumulators[aggregate];
	uint8_t    *place = run->place + accumulator->offset;
	CsvInt128	carry;

	if (accumulator->nbytes == 8)
	{
		int64_t		kept;

		memcpy(&kept, place, 8);
		sum = csv_wide_sum_add(sum, csv_wide_sum_of(kept));
		kept = (int64_t) sum.low;
		memcpy(place, &kept, 8);
		sum = csv_wide_sum_add(sum, csv_wide_sum_negate(csv_wide_sum_of(kept)));
		carry = (CsvInt128) ((CsvUint128) sum.high << 64 | sum.low >> 64);
	}
	else
	{
		CsvInt128	kept;

		memcpy(&kept, place, 16);
		sum = csv_wide_sum_add(sum, csv_wide_sum_of(kept));
		kept = (CsvInt128) sum.low;
		memcpy(place, &kept, 16);
		carry = csv_wide_sum_add(sum, csv_wide_sum_negate(csv_wide_sum_of(kept))).high;
	}
	return carry == 0 || add_carry(groups, run->group, aggregate, carry);
}

bool
csv_add_sum(CsvGroups *groups, uint32_t aggregate, const CsvRun *run,
			CsvInt128 sum)
{
	const CsvAccumulator *accumulator = &groups->accumulators[aggregate];

	if (accumulator->nbytes == 8 && sum == (int64_t) sum)
	{
		int64_t		kept;

		memcpy(&kept, run->place + accumulator->offset, 8);
		if (csv_int_add(kept, (int64_t) sum, 64, &kept))
		{
			memcpy(run->place + accumulator->offset, &kept, 8);
			return true;
		}
	}
	return csv_add_wide_sum(groups, aggregate, run, csv_wide_sum_of(sum));
}

bool
csv_sum_integers(CsvGroups *groups, uint32_t aggregate, const CsvLanes *lanes,
				 const CsvRuns *runs)
{
	const int64_t *values = lanes->integers;
	const uint16_t *rows = runs->rows;
	uint32_t	i = 0;

	/* does the sum of a block always fit into 64 bits? */
	if (lanes->lane == CSV_LANE_DECIMAL &&
		lanes->limit <= INT64_MAX / CSV_BLOCK_ROWS)
	{
		for (uint32_t r = 0; r < runs->nruns; r++)
		{
			int64_t		sum = 0;

			for (uint32_t end = runs->runs[r].end; i < end; i++)
				sum += values[rows[i]];
			if (!csv_add_sum(groups, aggregate, &runs->runs[r], sum))
				return false;
		}
		return true;
	}
	for (uint32_t r = 0; r < runs->nruns; r++)
	{
		CsvInt128	sum = 0;

		for (uint32_t end = runs->runs[r].end; i < end; i++)
			sum += values[rows[i]];
		if (!csv_add_sum(groups, aggregate, &runs->runs[r], sum))
			return false;
	}
	return true;
}

/* sums of wide decimals, or of squares of INT and DECIMAL (18 digits): below 2^127 */
bool
csv_sum_wide(CsvGroups *groups, uint32_t aggregate, const CsvLanes *lanes,
			 const CsvRuns *runs)
{
	bool		squares = groups->query->aggregate[aggregate].kind ==
		CSV_AGGREGATE_SUM_SQUARES;
	uint32_t	i = 0;

	for (uint32_t r = 0; r < runs->nruns; r++)
	{
		CsvWideSum	sum = {0, 0};

		for (uint32_t end = runs->runs[r].end; i < end; i++)
		{
			uint32_t	row = runs->rows[i];
			CsvInt128	value = lanes->lane == CSV_LANE_INT ?
				lanes->integers[row] : csv_lanes_decimal(lanes, row);

			if (squares)
				value = (CsvInt128) (int64_t) value * (int64_t) value;
			sum = csv_wide_sum_add(sum, csv_wide_sum_of(value));
		}
		if (!csv_add_wide_sum(groups, aggregate, &runs->runs[r], sum))
			return false;
	}
	return true;
}

bool
csv_sum_floats(CsvGroups *groups, uint32_t aggregate, const CsvLanes *lanes,
			   const CsvRuns *runs)
{
	bool		squares = groups->query->aggregate[aggregate].kind ==
		CSV_AGGREGATE_SUM_SQUARES;
	const double *values = lanes->reals;
	uint32_t	i = 0;

	for (uint32_t r = 0; r < runs->nruns; r++)
	{
		CsvFloatSum *sum = (CsvFloatSum *) (runs->runs[r].place +
											groups->accumulators[aggregate].offset);
		uint32_t	end = runs->runs[r].end;

		if (!squares)
		{
			if (!csv_float_sum_add_rows(sum, &groups->wides, values,
										runs->rows + i, end - i))
				return false;
			i = end;
			continue;
		}
		for (; i < end; i++)
		{
			double		high;
			double		low;

			/* the low part may be 0; it is never infinite */
			csv_float_square(values[runs->rows[i]], &high, &low);
			if (!csv_float_sum_add(sum, &groups->wides, high) ||
				!csv_float_sum_add(sum, &groups->wides, low))
				return false;
		}
	}
	return true;
}

/* ---- extremes ---- */

/*
 * A text overwrites the text before, if there is room.  Otherwise it gets room for
 * twice its length.  So the bytes left behind in the arena stay in proportion to the
 * longest text, however often the extreme changes.
 */
static bool
store_extreme_text(CsvGroups *groups, ExtremeText *text, const CsvValue *value)
{
	if (text->bytes == NULL || value->length > text->capacity)
	{
		size_t		capacity = text->bytes == NULL ? value->length :
			2 * (size_t) value->length;

		text->bytes = csv_arena_alloc(&groups->table.arena, capacity);
		if (text->bytes == NULL)
			return false;
		text->capacity = capacity > UINT32_MAX ? UINT32_MAX :
			(uint32_t) capacity;
	}
	text->length = value->length;
	if (value->length > 0)
		memcpy(text->bytes, value->bytes, value->length);
	return true;
}

void
csv_load_extreme(uint8_t lane, const uint8_t *place, CsvValue *value)
{
	const ExtremeText *text = (const ExtremeText *) place;

	if (lane != CSV_LANE_TEXT)
	{
		csv_load_value(lane, place, value);
		return;
	}
	value->state = CSV_LANE_VALUE;
	value->length = text->length;
	value->bytes = text->bytes;
}

/* compare a value with the extreme of the run's group */
bool
csv_take_extreme(CsvGroups *groups, uint32_t number, const CsvRun *run,
				 const CsvValue *value)
{
	const CsvAggregate *aggregate = &groups->query->aggregate[number];
	const CsvAccumulator *accumulator = &groups->accumulators[number];
	uint8_t    *place = run->place + accumulator->offset;
	uint8_t    *bits = run->place + groups->bits_offset + accumulator->bit / 8;
	uint8_t		bit = (uint8_t) (1 << accumulator->bit % 8);
	bool		first = (*bits & bit) == 0;
	CsvValue	kept;

	*bits |= bit;
	if (!first)
	{
		csv_load_extreme(aggregate->lane, place, &kept);
		if (!csv_replaces_extreme(aggregate->kind == CSV_AGGREGATE_MAX,
					  csv_value_compare(aggregate->lane, value, &kept)))
			return true;
	}
	if (aggregate->lane == CSV_LANE_TEXT)
		return store_extreme_text(groups, (ExtremeText *) place, value);
	return csv_store_value(&groups->table.arena, aggregate->lane, value, place);
}

bool
csv_take_extremes(CsvGroups *groups, uint32_t aggregate, const CsvLanes *lanes,
				  const CsvRuns *runs)
{
	bool		is_max = groups->query->aggregate[aggregate].kind ==
		CSV_AGGREGATE_MAX;
	uint32_t	i = 0;

	for (uint32_t r = 0; r < runs->nruns; r++)
	{
		const CsvRun *run = &runs->runs[r];
		uint32_t	best;
		CsvValue	value = {0};
		CsvValue	kept = {0};

		if (i == run->end)
			continue;

		/* the extreme of the run */
		best = runs->rows[i++];
		if (lanes->lane == CSV_LANE_INT ||
			(lanes->lane == CSV_LANE_DECIMAL && !lanes->wide))
		{
			const int64_t *values = lanes->integers;

			for (; i < run->end; i++)
			{
				uint32_t	row = runs->rows[i];

				if (is_max ? values[row] > values[best] :
					values[row] < values[best])
					best = row;
			}
		}
		else
		{
			csv_lanes_value(lanes, best, &value);
			for (; i < run->end; i++)
			{
				uint32_t	row = runs->rows[i];

				csv_lanes_value(lanes, row, &kept);
				if (csv_replaces_extreme(is_max,
							 csv_value_compare(lanes->lane, &kept, &value)))
				{
					best = row;
					value = kept;
				}
			}
		}

		csv_lanes_value(lanes, best, &value);
		if (!csv_take_extreme(groups, aggregate, run, &value))
			return false;
	}
	return true;
}

/* ---- distinct values ---- */

uint32_t
csv_distinct_value(const CsvAccumulator *accumulator, uint32_t row,
				   CsvValue *value)
{
	const CsvKeyed *table = &accumulator->distinct;
	const uint8_t *place = csv_keyed_row(table, row);
	CsvValue	group;

	csv_load_value(CSV_LANE_INT, place, &group);
	csv_load_value(table->lanes[1], place + table->offsets[1], value);
	return (uint32_t) group.value.integer;
}

/* the hash has the group's tag, which is the same wherever the group is */
bool
csv_count_distinct(CsvGroups *groups, uint32_t aggregate, const CsvRun *run,
				   const CsvValue *value)
{
	CsvAccumulator *accumulator = &groups->accumulators[aggregate];
	CsvKeyed   *table = &accumulator->distinct;
	CsvValue	pair[2];
	uint32_t	tag;
	uint64_t	hash;
	bool		made;

	memset(&pair[0], 0, sizeof(pair[0]));
	pair[0].value.integer = run->group;
	pair[1] = *value;
	memcpy(&tag, run->place + groups->tag_offset, 4);
	hash = csv_hash_word(table->seed, table->seed, tag);
	hash = csv_keyed_hash(table, hash, table->lanes[1], &pair[1]);
	if (csv_keyed_find(table, hash, pair, &made) == CSV_NO_ROW)
		return false;
	return !made || groups->counts_later ||
		csv_add_count(groups, groups->partial.input[aggregate], run, 1);
}

bool
csv_count_all_distinct(CsvGroups *groups, uint32_t aggregate,
					   const CsvLanes *lanes, const CsvRuns *runs)
{
	uint32_t	i = 0;
	CsvValue	value;

	for (uint32_t r = 0; r < runs->nruns; r++)
		for (; i < runs->runs[r].end; i++)
		{
			csv_lanes_value(lanes, runs->rows[i], &value);
			if (!csv_count_distinct(groups, aggregate, &runs->runs[r], &value))
				return false;
		}
	return true;
}
