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

/* free all groups, and start again; false: no memory */
extern bool csv_groups_reset(CsvGroups *groups);

/* memory that groups take, in bytes */
extern size_t csv_groups_bytes(const CsvGroups *groups);

/* do groups take too much memory?  see csv_evaluator_limit() */
extern bool csv_groups_are_full(CsvGroups *groups);

/* has COUNT_DISTINCT kept values? */
extern bool csv_groups_have_values(const CsvGroups *groups);

/* memory of these values, in bytes */
extern size_t csv_groups_value_bytes(const CsvGroups *groups);

/* drop these values; what was counted stays */
extern void csv_groups_forget_values(CsvGroups *groups);

/* values that come next have tags with so many leading bits in common */
extern void csv_groups_expect_values(CsvGroups *groups, uint32_t skip);

/* count all values, if that was put off, and drop them; false: no memory */
extern bool csv_groups_count_values(CsvGroups *groups);

/* has a group's row an extreme?  Not if no lane holds its values. */
extern bool csv_groups_have_extreme(const CsvGroups *groups, uint32_t number,
									const uint8_t *row);

/* is everything that a group keeps in its row? */
extern bool csv_groups_are_plain(const CsvGroups *groups, uint32_t group);

/* the tag of a group's keys */
extern uint32_t csv_groups_tag(const CsvGroups *groups, uint32_t group);

/*
 * The group with the keys of a row of other groups of the query, with this tag; made,
 * as a copy of the row's first nbytes, if it does not exist.  Fills *run; false: no
 * memory.
 */
extern bool csv_groups_find_copy(CsvGroups *groups, uint32_t tag,
								 const uint8_t *row, uint32_t nbytes,
								 CsvRun *run, bool *made);

/*
 * Add a whole row of other groups, which have the same layout, with everything that is
 * in the row.  Texts of extremes are at `texts`, one behind the other.  False: no memory.
 */
extern bool csv_groups_add_copy(CsvGroups *groups, uint32_t tag, uint8_t *row,
								const uint8_t *texts);

/*
 * As csv_evaluator_add_partial() and csv_evaluator_attach().  bits: NULL, or the bits
 * that tell which extremes are there.
 */
extern bool csv_groups_add_partial(CsvGroups *groups, uint32_t group,
								   const CsvPartial *partial,
								   const uint8_t *bits);
extern bool csv_groups_attach(CsvGroups *groups, uint32_t group,
							  const void *bytes, size_t nbytes);

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
