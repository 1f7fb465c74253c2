/*
 * group_state.h
 *		The state of a query's groups: see groups.c.
 */
#ifndef CSV_GROUP_STATE_H
#define CSV_GROUP_STATE_H

#include "float_sum.h"
#include "lanes.h"
#include "keyed.h"

/* what a group keeps for an aggregate, beside the counter of its input */
typedef struct CsvAccumulator
{
	uint32_t	offset;			/* in a group's row */
	uint32_t	nbytes;			/* 0: nothing */
	uint32_t	bit;			/* MIN, MAX: number of the bit that tells whether there
								 * is a value */
	CsvKeyed	distinct;		/* COUNT_DISTINCT: keys are (group, value) */
} CsvAccumulator;

/* bytes that the caller has attached to a group */
typedef struct CsvAttached
{
	uint32_t	group;
	uint32_t	nbytes;
	const uint8_t *bytes;		/* in the arena */
	uint32_t	tag;			/* when groups are written: the group's tag, */
	uint32_t	place;			/* and the tag without leading bits that all tags share */
} CsvAttached;

/* rows of one group, side by side in a list */
typedef struct CsvRun
{
	uint32_t	group;
	uint32_t	end;			/* in the list; a run begins at the end of the run
								 * before */
	uint8_t    *place;			/* the group's row */
} CsvRun;

typedef struct CsvRuns
{
	uint16_t   *rows;
	CsvRun	   *runs;
	uint32_t	nruns;
} CsvRuns;

typedef struct CsvGroups
{
	const CsvMemory *memory;
	const CsvQuery *query;
	bool		ready;			/* the layout of rows is settled */
	uint64_t	seed;			/* of all hashes */
	CsvKeyed	table;
	CsvKeyed	carries;		/* keys are (group, field) */
	uint32_t	carry_offset;
	CsvWideFloats wides;
	uint32_t	bits_offset;	/* of accumulators' bits, in a group's row */
	CsvPartialLayout partial;
	CsvAccumulator *accumulators;	/* of each aggregate */
	uint32_t   *counters;		/* of each input: its offset in a group's row */

	/* see csv_evaluator_remember() */
	const CsvRowClasses *remembered;
	uint32_t	most_classes;
	uint32_t   *group_of_class; /* CSV_NO_ROW: none yet */
	uint32_t	class_capacity;
	uint32_t   *class_of_group; /* CSV_UNKNOWN_CLASS: none yet */
	uint32_t	group_capacity;

	/* see csv_evaluator_limit() */
	CsvSpill   *spill;			/* NULL: no limit */
	CsvMakeRoomFn make_room;	/* NULL: the owner looks after the limit */
	void	   *room_arg;
	size_t		counted_bytes;	/* in the account of `spill` */
	uint32_t	skip;			/* leading bits that tags of all groups share, */
	uint32_t	value_skip;		/* and tags of all values of COUNT_DISTINCT */
	uint32_t	first_bits;		/* log2 of the slots for as many groups as were written */
	bool		counts_later;	/* csv_groups_count_values() counts values */
	uint32_t	tag_offset;		/* with COUNT_DISTINCT: of a group's tag, in its row */
	CsvAttached *attached;
	uint32_t	nattached;
	uint32_t	attached_capacity;

	/* room for groups that are handed out */
	void	   *room;
	size_t		room_bytes;

	/* of one block of rows; the arrays have an entry for each of block_rows rows */
	void	   *block;			/* memory of the arrays */
	uint32_t	block_rows;
	uint64_t   *hashes;
	uint8_t   **places;
	uint32_t   *nulls;
	uint32_t   *numbers;
	uint32_t   *known_numbers;	/* groups of all rows, or CSV_NO_ROW */
	uint32_t   *found_numbers;	/* groups of rows in `unknown` */
	uint16_t   *unknown;		/* rows without a known class */
	CsvRuns		all;
	CsvRuns		counted;		/* the rows that an aggregate counts */
} CsvGroups;

static inline bool
csv_is_sum(const CsvAggregate *aggregate)
{
	return aggregate->kind == CSV_AGGREGATE_SUM ||
		aggregate->kind == CSV_AGGREGATE_SUM_SQUARES;
}

static inline bool
csv_is_extreme(const CsvAggregate *aggregate)
{
	return aggregate->kind == CSV_AGGREGATE_MIN ||
		aggregate->kind == CSV_AGGREGATE_MAX;
}

#endif							/* CSV_GROUP_STATE_H */
