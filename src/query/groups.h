/*
 * groups.h
 *		The groups of a query and their aggregates.  Functions that query.h declares
 *		are in groups.c and merge.c.
 */
#ifndef CSV_GROUPS_H
#define CSV_GROUPS_H

#include "group_state.h"

/* seed: of hashes, see operate.h */
extern bool csv_groups_init(CsvGroups *groups, const CsvMemory *memory,
							const CsvQuery *query, uint64_t seed);
extern void csv_groups_free(CsvGroups *groups);

/* decide the layout of groups; registers: with the first rows' values, or NULL */
extern void csv_groups_settle(CsvGroups *groups, const CsvLanes *registers);

/*
 * Add rows of the batch's block that begins at first_row.  No key and no argument is
 * undecided.  False: no memory.
 */
extern bool csv_groups_add(CsvGroups *groups, const CsvLanes *registers,
						   CsvRows rows, uint32_t first_row);

/* the same for a query without keys, filters and arguments */
extern bool csv_groups_add_unseen(CsvGroups *groups, uint32_t nrows);

/* is there no room for further groups?  see csv_evaluator_limit() */
extern bool csv_groups_are_full(CsvGroups *groups);

/* the keys of a row of groups, as two words each, and which are NULL */
extern void csv_groups_get_keys(const CsvKeyed *table, const uint8_t *row,
								uint64_t *keys, uint32_t *nulls);

/*
 * Add a group to the words of a partial, except values that COUNT_DISTINCT has
 * counted.  row: the row of the group.  Texts are addresses.
 */
extern void csv_groups_add_to_words(const CsvGroups *groups, uint32_t group,
									const uint8_t *row, int64_t *words);

#endif							/* CSV_GROUPS_H */
