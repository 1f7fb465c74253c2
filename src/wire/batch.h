/*
 * batch.h
 *		Batches sent to another process.
 *
 * Two processes map the same blocks of memory.  The data of a batch stay there, and a
 * message has everything else, with the place of each part in a block.  The answer of
 * a batch, and groups that an engine has held, are sent in the same way.
 *
 * The receiver trusts no message.  It can read all decoded data without leaving the
 * blocks, whatever the sender has sent: places, lengths, numbers of rows, columns and
 * groups, and the texts of groups are checked.  Statuses and the lengths of values are
 * many, so csv_wire_check_values() checks them.  All this holds as long as no process
 * writes to the blocks.  Whether values are right cannot be checked: for sums,
 * numbers, dates and bytes of texts, only their room is.
 *
 * Both processes are on one machine, so numbers keep their byte order.
 */
#ifndef CSV_WIRE_BATCH_H
#define CSV_WIRE_BATCH_H

#include "../query/query.h"

#ifdef __cplusplus
extern "C" {
#endif

/* memory that both processes map, at its address in this process */
typedef struct CsvWireBlock
{
	uint32_t	number;			/* below UINT32_MAX */
	uint8_t    *bytes;			/* aligned to 8 bytes at least */
	size_t		nbytes;
} CsvWireBlock;

typedef struct CsvWireBlocks
{
	const CsvWireBlock *blocks;
	uint32_t	nblocks;
} CsvWireBlocks;

/* ---- for the sender ---- */

typedef struct CsvWireFinder
{
	/* the block with these bytes, and the offset in it; false: no block has them */
	bool		(*find) (void *arg, const void *bytes, size_t nbytes,
						 uint32_t *block, uint64_t *offset);

	/*
	 * Room in a block, aligned to 8 bytes, for a copy of bytes that are in no block.
	 * It must last as long as the message's data.  NULL: there is no room.
	 */
	void	   *(*make_room) (void *arg, size_t nbytes);
	void	   *arg;
} CsvWireFinder;

/*
 * Bytes of the message for a batch (answered: with an answer), for an answer alone,
 * and for groups.
 */
extern size_t csv_wire_batch_bytes(uint32_t ncolumns, bool answered);
extern size_t csv_wire_answer_bytes(void);
extern size_t csv_wire_groups_bytes(void);

/*
 * Write the message for a batch, an answer or groups, of as many bytes as the function
 * above returns.  `query` is the query that was asked, or NULL.  False: there is no
 * room for bytes that are in no block, or the answer is from threads, and cannot be
 * sent (team.h).
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

/* ---- for the receiver ---- */

/*
 * The batch in a message.  The batch equals the batch that was sent, except that its
 * pointers are into the blocks; pointers to nothing are NULL.  `query` is NULL if no
 * answer is expected.  `arrays` has room for the arrays of all columns; it and
 * `answer` must last as long as the batch.  False: the message is not valid; the batch
 * cannot be used.
 */
extern bool csv_wire_decode_batch(const uint8_t *message, size_t nbytes,
								  const CsvWireBlocks *blocks,
								  const CsvLayout *layout,
								  const CsvQuery *query, CsvArray *arrays,
								  CsvAnswer *answer, CsvBatch *batch);

/* an answer alone, about nrows rows */
extern bool csv_wire_decode_answer(const uint8_t *message, size_t nbytes,
								   const CsvWireBlocks *blocks,
								   const CsvQuery *query, uint32_t nrows,
								   CsvAnswer *answer);

/* groups that were held */
extern bool csv_wire_decode_groups(const uint8_t *message, size_t nbytes,
								   const CsvWireBlocks *blocks,
								   const CsvQuery *query,
								   CsvPartialGroups *groups);

/*
 * Are the statuses of a decoded batch valid, and does each text, and each numeric, end
 * within its entry?  Looks at every entry.
 */
extern bool csv_wire_check_values(const CsvBatch *batch,
								  const CsvLayout *layout);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_WIRE_BATCH_H */
