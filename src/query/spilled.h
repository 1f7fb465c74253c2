/*
 * spilled.h
 *		Groups on disk: how they are written, and how a part is read (spill.h).
 *
 * Threads write and read without a lock, each in a range of the file of its own.
 */
#ifndef CSV_SPILLED_H
#define CSV_SPILLED_H

#include "group_state.h"
#include "spill.h"

/*
 * Write all groups with the values of COUNT_DISTINCT, and drop them.  parts: the parts
 * that groups go to; NULL: only values are written and dropped.  values: NULL, or the
 * parts that values go to; then groups in the file have not counted them.  False: no
 * memory, or writing failed (`error`).
 */
extern bool csv_spill_write(CsvSpill *spill, CsvSpilledParts *parts,
							CsvSpilledParts *values, CsvGroups *groups);

/* ---- reading a part ---- */

typedef struct CsvSpilledBlocks
{
	CsvSpilledPart *blocks;		/* in the order in which they were written */
	uint32_t	nblocks;
	uint32_t	capacity;
	uint8_t    *bytes;			/* of the block that was read last */
	size_t		room_bytes;
	size_t		nbytes;
	size_t		next;			/* offset of its next record */
} CsvSpilledBlocks;

/* find all blocks of a part; false: no memory, or reading failed */
extern bool csv_spilled_find(CsvSpill *spill, CsvSpilledPart part,
							 CsvSpilledBlocks *blocks);
extern bool csv_spilled_read(CsvSpill *spill, CsvSpilledBlocks *blocks, uint32_t block);

/* add the block's next records to groups; false: no memory */
extern bool csv_spilled_add(CsvSpilledBlocks *blocks, uint32_t nrecords,
							CsvGroups *groups);

static inline bool
csv_spilled_has_more(const CsvSpilledBlocks *blocks)
{
	return blocks->next < blocks->nbytes;
}

extern void csv_spilled_free(CsvSpill *spill, CsvSpilledBlocks *blocks);

#endif							/* CSV_SPILLED_H */
