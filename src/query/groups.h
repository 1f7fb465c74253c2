/*
 * groups.h
 *		The groups of a query and their aggregates: see groups.c.
 */
#ifndef CSV_GROUPS_H
#define CSV_GROUPS_H

#include "group_state.h"

extern bool csv_groups_init(CsvGroups *groups, const CsvMemory *memory,
							const CsvQuery *query);
extern void csv_groups_free(CsvGroups *groups);
extern bool csv_groups_reset(CsvGroups *groups);
extern size_t csv_groups_bytes(const CsvGroups *groups);

/* settle the layout of groups; registers: with the first rows' values, or NULL */
extern void csv_groups_settle(CsvGroups *groups, const CsvLanes *registers);

/* see csv_evaluator_forget_values() and csv_evaluator_count_value() */
extern void csv_groups_forget_values(CsvGroups *groups);
extern bool csv_groups_count_value(CsvGroups *groups, uint32_t aggregate,
								   uint32_t group, const CsvValue *value);

/* see csv_evaluator_forget() */
extern void csv_groups_forget(CsvGroups *groups);

/*
 * Add rows of the batch's block that begins at first_row, of which no key and
 * no argument is undecided; false: no memory.
 */
extern bool csv_groups_add(CsvGroups *groups, const CsvLanes *registers,
						   CsvRows rows, uint32_t first_row);

/* the same, of a query without keys, filters and arguments */
extern bool csv_groups_add_unseen(CsvGroups *groups, uint32_t nrows);

extern uint32_t csv_groups_find(CsvGroups *groups, const CsvValue *keys,
								uint64_t *hash);
extern uint32_t csv_groups_seek(const CsvGroups *groups,
								const CsvValue *keys);
extern bool csv_groups_add_row(CsvGroups *groups, uint32_t group,
							   const CsvValue *values);
extern bool csv_groups_add_partial(CsvGroups *groups, uint32_t group,
								   const CsvPartial *partial);
extern bool csv_groups_merge(CsvGroups *groups,
							 const CsvPartialGroups *partial);
extern void csv_groups_key(const CsvGroups *groups, uint32_t group,
						   uint32_t key, CsvValue *value);
extern void csv_groups_aggregate(const CsvGroups *groups, uint32_t group,
								 uint32_t aggregate, CsvAggregateValue *value);
extern double csv_groups_spread(const CsvGroups *groups, uint32_t group,
								uint32_t sum, uint32_t squares,
								uint64_t count);

#endif							/* CSV_GROUPS_H */
