/*
 * accumulate.h
 *		Adds rows to groups, aggregate by aggregate.
 *
 * Functions that return bool return false if there is no memory.
 */
#ifndef CSV_ACCUMULATE_H
#define CSV_ACCUMULATE_H

#include "group_state.h"
#include "operate.h"

#define COUNTER_UNIT	(UINT32_C(1) << 31)

/* fields of a group, for carries: accumulators, then counters */
#define COUNTER_FIELD(counter)	(CSV_MAX_AGGREGATES + (counter))

/*
 * Does a value replace an extreme, with which it compares as `order` says?  The later
 * of equal values does, as in PostgreSQL: -0 and 0 look different.
 */
static inline bool
csv_replaces_extreme(bool is_max, int order)
{
	return is_max ? order >= 0 : order <= 0;
}

/* has a group carries? */
extern bool csv_groups_have_carry(const CsvGroups *groups, uint32_t group);

/* a counter of a group, and a sum of INT or DECIMAL */
extern int64_t csv_groups_count(const CsvGroups *groups, uint32_t group,
								uint32_t counter);
extern CsvWideSum csv_groups_sum(const CsvGroups *groups, uint32_t group,
								 uint32_t aggregate);

/* a value that COUNT_DISTINCT has counted, by its number; returns its group */
extern uint32_t csv_distinct_value(const CsvAccumulator *accumulator,
								   uint32_t row, CsvValue *value);

/* add n to a counter of the run's group */
extern bool csv_add_count(CsvGroups *groups, uint32_t counter,
						  const CsvRun *run, uint32_t n);
extern bool csv_add_sum(CsvGroups *groups, uint32_t aggregate,
						const CsvRun *run, CsvInt128 sum);
extern bool csv_add_wide_sum(CsvGroups *groups, uint32_t aggregate,
							 const CsvRun *run, CsvWideSum sum);

/* add all values of runs; the function depends on the aggregate and the lane */
extern bool csv_sum_integers(CsvGroups *groups, uint32_t aggregate,
							 const CsvLanes *lanes, const CsvRuns *runs);
extern bool csv_sum_wide(CsvGroups *groups, uint32_t aggregate,
						 const CsvLanes *lanes, const CsvRuns *runs);
extern bool csv_sum_floats(CsvGroups *groups, uint32_t aggregate,
						   const CsvLanes *lanes, const CsvRuns *runs);
extern bool csv_take_extremes(CsvGroups *groups, uint32_t aggregate,
							  const CsvLanes *lanes, const CsvRuns *runs);

extern bool csv_count_all_distinct(CsvGroups *groups, uint32_t aggregate,
								   const CsvLanes *lanes, const CsvRuns *runs);

/* the same for one value of the run's group */
extern bool csv_take_extreme(CsvGroups *groups, uint32_t number,
							 const CsvRun *run, const CsvValue *value);
extern bool csv_count_distinct(CsvGroups *groups, uint32_t aggregate,
							   const CsvRun *run, const CsvValue *value);

/* a stored MIN or MAX */
extern void csv_load_extreme(uint8_t lane, const uint8_t *place,
							 CsvValue *value);

#endif							/* CSV_ACCUMULATE_H */
