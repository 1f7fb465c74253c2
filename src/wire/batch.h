/*
 * batch.h
 *		Batches on their way to another process.
 *
 * Two processes map the same blocks of memory.  What a batch points to stays
 * there; a message has all else, and where in which block each part is.  The same
 * goes for its answer, and for groups that an engine has held.
 *
 * Whoever receives a message believes nothing of it.  What is decoded can be
 * looked at without reading outside of the blocks, whatever was sent: places and
 * lengths, numbers of rows, columns and groups, and texts of groups are checked.
 * Statuses and the lengths of values are looked at by csv_wire_check_values(),
 * since there are many of them.  All this holds as long as nobody writes to the
 * blocks.  That values are right, nobody can tell: of sums, numbers, dates, and
 * bytes of texts only the room that they take is checked.
 *
 * Both sides are on one machine: numbers are as it has them.
 */
#ifndef CSV_WIRE_BATCH_H
#define CSV_WIRE_BATCH_H

#include "../query/query.h"

#ifdef __cplusplus
extern "C" {
#endif

/* memory that both processes map, as one of them sees it */
typedef struct CsvWireBlock
{
	uint32_t	number;			/* below UINT32_MAX */
	uint8_t    *bytes;			/* aligned to 8 at least */
	size_t		nbytes;
} CsvWireBlock;

typedef struct CsvWireBlocks
{
	const CsvWireBlock *blocks;
	uint32_t	nblocks;
} CsvWireBlocks;

/* ---- for whoever sends ---- */

typedef struct CsvWireFinder
{
	/* the block that these bytes are in, and where; false: they are in none */
	bool		(*find) (void *arg, const void *bytes, size_t nbytes,
						 uint32_t *block, uint64_t *offset);

	/*
	 * Room in some block, aligned to 8, for a copy of bytes that are in none; it
	 * must last as long as what is sent.  NULL: there is none.
	 */
	void	   *(*make_room) (void *arg, size_t nbytes);
	void	   *arg;
} CsvWireFinder;

/*
 * Bytes of the message for a batch, with an answer or without, for an answer alone,
 * and for groups.
 */
extern size_t csv_wire_batch_bytes(uint32_t ncolumns, bool answered);
extern size_t csv_wire_answer_bytes(void);
extern size_t csv_wire_groups_bytes(void);

/*
 * Write the message for a batch, or for groups, which has so many bytes.  `query`:
 * what was asked; NULL, if nothing was.  False: there is no room for what is in no
 * block, or it is not to be sent (an answer of threads, see team.h).
 */
extern bool csv_wire_encode_batch(const CsvBatch *batch,
								  const CsvLayout *layout,
								  const CsvQuery *query,
								  const CsvWireFinder *finder,
								  uint8_t *message);
extern bool csv_wire_encode_answer(const CsvAnswer *answer,
								   const CsvQuery *query,
								   const CsvWireFinder *finder,
								   uint8_t *message);
extern bool csv_wire_encode_groups(const CsvPartialGroups *groups,
								   const CsvQuery *query,
								   const CsvWireFinder *finder,
								   uint8_t *message);

/* ---- for whoever receives ---- */

/*
 * The batch of a message, equal to the one that was sent but for pointers, which
 * are into the blocks; those to nothing are NULL.  `query`: NULL, if an answer is
 * not expected.  `arrays` has room for those of all columns, and with `answer`
 * lasts as long as the batch.  False: the message is no such, or contradicts
 * itself; the batch is of no use then.
 */
extern bool csv_wire_decode_batch(const uint8_t *message, size_t nbytes,
								  const CsvWireBlocks *blocks,
								  const CsvLayout *layout,
								  const CsvQuery *query, CsvArray *arrays,
								  CsvAnswer *answer, CsvBatch *batch);

/* the same of an answer alone, to nrows rows */
extern bool csv_wire_decode_answer(const uint8_t *message, size_t nbytes,
								   const CsvWireBlocks *blocks,
								   const CsvQuery *query, uint32_t nrows,
								   CsvAnswer *answer);

/* the same of groups that were held */
extern bool csv_wire_decode_groups(const uint8_t *message, size_t nbytes,
								   const CsvWireBlocks *blocks,
								   const CsvQuery *query,
								   CsvPartialGroups *groups);

/*
 * Are the statuses of a decoded batch such, and does each text, and each numeric,
 * end within its entry?  Looks at every entry.
 */
extern bool csv_wire_check_values(const CsvBatch *batch,
								  const CsvLayout *layout);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_WIRE_BATCH_H */
