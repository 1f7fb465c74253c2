/*
 * packed.h
 *		Batches for other processes.
 *
 * Two processes map the same blocks of memory, at different addresses.  The data of a
 * batch stay in these blocks.  A packed batch is everything else: the structs as they
 * are, but with a block and an offset in each pointer.  In this form csv_gpu_service
 * sends batches, answers and groups, and files of resident columns have batches
 * (store.h).
 *
 * The receiver trusts nothing.  It can read all unpacked data without leaving the
 * blocks, whatever the sender has packed: offsets, lengths, numbers of rows, columns
 * and groups, and the texts of groups are checked.  Statuses and the lengths of values
 * are many, so csv_check_values() checks them.  All this holds as long as no process
 * writes to the blocks.  Whether values are right cannot be checked: for sums,
 * numbers, dates and bytes of texts, only their room is.
 *
 * Both processes are on one machine and of one build, so numbers keep their byte order,
 * and structs are the same.
 */
#ifndef CSV_WIRE_PACKED_H
#define CSV_WIRE_PACKED_H

#include "../query/query.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An answer alone is the answer of a batch without columns, and groups alone are the
 * groups of such an answer.
 */
typedef struct CsvPacked
{
	CsvBatch	batch;			/* `answer` is NULL, or tells that there is one */
	CsvAnswer	answer;
	uint64_t	text_bytes;		/* of the groups' texts */
	CsvArray	arrays[];
} CsvPacked;

/* bytes of a packed batch */
static inline size_t
csv_packed_bytes(uint32_t ncolumns)
{
	return sizeof(CsvPacked) + ncolumns * sizeof(CsvArray);
}

/* a pointer in a packed batch, never NULL; blocks are numbered from 0 */
#define CSV_MOST_BLOCKS		UINT16_MAX
#define CSV_MOST_BLOCK_BYTES	(UINT64_C(1) << 48)

static inline void *
csv_packed_pointer(uint32_t block, uint64_t offset)
{
	return (void *) (uintptr_t) ((uint64_t) (block + 1) * CSV_MOST_BLOCK_BYTES +
								 offset);
}

/* in what another process has sent: are numbers that index within bounds? */
extern bool csv_are_bounded(const CsvDialectOptions *dialect,
							const CsvLayout *layout);

/* ---- for the sender ---- */

typedef struct CsvPacker
{
	/*
	 * The packed pointer to these bytes, or to a copy of them in a block, aligned to 8
	 * bytes.  NULL: there is no room for a copy.
	 */
	void	   *(*pack) (void *arg, const void *bytes, size_t nbytes);
	void	   *arg;
} CsvPacker;

/*
 * Pack a batch with the arrays of all columns, and with its answer, if there is one.
 * `query`: which was asked, or NULL.  `packed` has room for csv_packed_bytes().  False:
 * there is no room for bytes, or the answer is from threads, and cannot be sent
 * (team.h).
 */
extern bool csv_pack(const CsvBatch *batch, uint32_t ncolumns,
					 const CsvQuery *query, const CsvPacker *packer,
					 CsvPacked *packed);

/* ---- for the receiver ---- */

/* memory that both processes map, at its address in this process */
typedef struct CsvBlock
{
	uint8_t    *bytes;			/* aligned to 8 bytes at least */
	size_t		nbytes;
} CsvBlock;

typedef struct CsvBlocks
{
	const CsvBlock *blocks;		/* by their numbers */
	uint32_t	nblocks;
} CsvBlocks;

/*
 * Unpack nbytes bytes.  The batch equals the packed batch, except that its pointers are
 * into the blocks; pointers to nothing are NULL.  `query` is NULL if no answer is
 * expected.  `arrays` has room for the arrays of all columns; it and `answer` must last
 * as long as the batch.  False: these bytes are not a packed batch that can be used.
 */
extern bool csv_unpack(const void *bytes, size_t nbytes, const CsvBlocks *blocks,
					   const CsvLayout *layout, const CsvQuery *query,
					   CsvArray *arrays, CsvAnswer *answer, CsvBatch *batch);

/*
 * Are the statuses of an unpacked batch valid, and does each text, and each numeric,
 * end within its entry?  Looks at every entry.
 */
extern bool csv_check_values(const CsvBatch *batch, const CsvLayout *layout);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_WIRE_PACKED_H */
