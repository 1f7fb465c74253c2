/*
 * groups.h
 *		The groups of a query and their aggregates: see groups.c.  What there is
 *		for others, in query.h, is there and in merge.c.
 */
#ifndef CSV_GROUPS_H
#define CSV_GROUPS_H

#include "group_state.h"

extern bool csv_groups_init(CsvGroups *groups, const CsvMemory *memory,
							const CsvQuery *query);
extern void csv_groups_free(CsvGroups *groups);

/* settle the layout of groups; registers: with the first rows' values, or NULL */
extern void csv_groups_settle(CsvGroups *groups, const CsvLanes *registers);

/*
 * Add rows of the batch's block that begins at first_row, of which no key and
 * no argument is undecided; false: no memory.
 */
extern bool csv_groups_add(CsvGroups *groups, const CsvLanes *registers,
						   CsvRows rows, uint32_t first_row);

/* the same, of a query without keys, filters and arguments */
extern bool csv_groups_add_unseen(CsvGroups *groups, uint32_t nrows);

#endif							/* CSV_GROUPS_H */
