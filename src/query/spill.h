/*
 * spill.h
 *		The limit of memory of a query's groups, and the file for groups beyond it.
 *
 * The evaluators of one query share a limit of memory and a temporary file.  When their
 * groups take too much, an evaluator with more than its share writes all of its groups
 * to the file, and begins with none (spilled.h).  In the file, groups are divided into
 * parts, by some bits of the hash of their keys.  So the groups of a part are
 * independent of all others, and are merged by themselves (regroup.h).  Values of
 * COUNT_DISTINCT are divided in the same way, by the hash of group and value.
 */
#ifndef CSV_SPILL_H
#define CSV_SPILL_H

#include <pthread.h>
#include <stdatomic.h>

#include "query.h"

/* a part: its blocks are chained, from the last to the first */
typedef struct CsvSpilledPart
{
	uint64_t	offset;			/* of its last block */
	uint32_t	nbytes;			/* of that block; 0: nothing is in the part */
	uint64_t	all_bytes;		/* of all blocks */
} CsvSpilledPart;

typedef struct CsvSpilledParts
{
	uint32_t	skip;			/* leading bits of tags that are the same in all parts */
	uint32_t	bits;			/* the next bits, which tell the part */
	CsvSpilledPart *parts;		/* 2^bits; NULL: nothing was written */
} CsvSpilledParts;

struct CsvSpill
{
	CsvMemory	memory;
	size_t		limit_bytes;	/* of groups in memory */
	uint32_t	nthreads;		/* that may evaluate at a time */
	atomic_size_t nbytes;		/* that groups take, about */
	atomic_uint nevaluators;	/* with groups */

	/* see csv_spill_open() */
	atomic_int	fd;				/* -1: none */
	atomic_bool wanted;			/* a thread needs the file */
	uint64_t	most_bytes;
	atomic_int	error;			/* errno of the first failure, EFBIG also if the file
								 * would have more than most_bytes; 0: none */

	pthread_mutex_t mutex;		/* for all that follows */
	uint64_t	end;			/* of the used bytes of the file */
	CsvSpilledParts groups;
	CsvSpilledParts values;
	bool		is_settled;		/* with the first evaluator's groups: */
	bool		is_wide[CSV_MAX_AGGREGATES];	/* is a sum longer than 8 bytes? */
};

/* memory: any thread can use it */
extern void csv_spill_init(CsvSpill *spill, const CsvMemory *memory,
						   size_t limit_bytes, uint32_t nthreads);
extern void csv_spill_free(CsvSpill *spill);

/*
 * Use this file, which is empty and belongs to the caller, for up to most_bytes.  No
 * evaluator can write before.
 */
extern void csv_spill_open(CsvSpill *spill, int fd, uint64_t most_bytes);

/* was anything written?  And how many bytes? */
extern bool csv_spill_has_groups(CsvSpill *spill);
extern uint64_t csv_spill_bytes(CsvSpill *spill);

/*
 * The caller may write at the returned offset of the file, nbytes there; all that was
 * written is before it.
 */
extern uint64_t csv_spill_append(CsvSpill *spill, size_t nbytes);

/*
 * Which sums of groups are wide?  Rows of all groups must look the same: the first
 * evaluator's answer holds for all.
 */
extern void csv_spill_settle(CsvSpill *spill, bool *is_wide, uint32_t n);

/*
 * An evaluator's groups take nbytes; *counted is what was counted for it before.  Must
 * it write its groups?
 */
extern bool csv_spill_is_due(CsvSpill *spill, size_t *counted, size_t nbytes);

/* number of bits for parts if this much memory is written at a time */
extern uint32_t csv_spill_bits(size_t nbytes);

/* the same if the parts have part_bytes in all, and each should have share_bytes */
extern uint32_t csv_spill_divide_bits(uint64_t part_bytes, size_t share_bytes);

#endif							/* CSV_SPILL_H */
