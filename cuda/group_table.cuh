/*
 * group_table.cuh
 *		Groups that stay on the device, from batch to batch: see group_table.cu.
 *
 * A table belongs to an engine, and is for queries of one shape: their keys and words
 * of a group have the same layout.  For each batch, after csv_launch_groups() has made
 * its groups:
 *
 *	1. csv_table_seek finds the batch's groups that are in the table, and counts the
 *	   new groups.
 *	2. csv_table_make_room makes room for new groups.  If that fails, they go to the
 *	   host, and the other groups can still be added.
 *	3. csv_table_add launches the adding of the batch's groups.  Until then the
 *	   table's groups do not change, so that a batch may still be given up.
 *
 * Within a batch, groups have different keys.  Each group has one thread, so that no
 * two threads add to one group.  Groups are numbered in the order of their first rows,
 * as on the host.
 *
 * The caller of all these functions must have entered the session.
 */
#ifndef CSV_CUDA_GROUP_TABLE_CUH
#define CSV_CUDA_GROUP_TABLE_CUH

#include "query.cuh"
#include "session.h"

/* counters on the device */
typedef struct CsvHeldCounts
{
	uint32_t	nnew;			/* groups that are not in the table */
	uint32_t	crowded;		/* not 0: too many keys have the same hash */
	unsigned long long text_bytes;	/* of the table's texts */
	unsigned long long piece_bytes; /* of texts that are packed */
} CsvHeldCounts;

typedef struct CsvGroupTable
{
	CsvSession *session;
	uint32_t	first_capacity; /* room for groups at first */
	bool		is_shaped;
	bool		has_texts;

	/* a query must have the same */
	uint32_t	nkeys;
	uint32_t	ninputs;
	uint32_t	naggregates;
	uint32_t	nwords;
	uint8_t		key_lanes[CSV_MAX_KEYS];
	CsvPlanAggregate aggregate[CSV_MAX_AGGREGATES];

	uint64_t	seed;			/* of hashes; random, so that no file can know it */
	uint64_t	nrows;			/* rows of its groups */
	uint32_t	ngroups;
	uint32_t	capacity;
	uint32_t	slot_mask;
	size_t		text_capacity;
	size_t		text_bytes;		/* upper bound for the bytes in `texts` */

	/* on the device */
	CsvTaken	groups;			/* has the following arrays */
	uint64_t   *keys;			/* these are as in CsvPartialGroups */
	uint32_t   *nulls;
	int64_t    *words;
	uint64_t   *slots;			/* 0: free; otherwise half a hash, and group + 1 */
	CsvTaken	text_memory;
	uint8_t    *texts;
	CsvTaken	count_memory;
	CsvHeldCounts *counts;
	CsvTaken	batch;			/* has the following arrays */
	uint32_t	batch_capacity; /* groups of a batch */
	uint64_t   *hashes;			/* of a batch's groups */
	uint32_t   *places;			/* their numbers in the table, or CSV_NOT_HELD */
	uint32_t   *ranks;			/* per block: the number of new groups before it */
} CsvGroupTable;

/*
 * Does the plan have the table's shape, and can nrows more rows be added?  An empty
 * table gets the plan's shape.
 */
extern bool csv_table_suits(CsvGroupTable *table, const CsvPlan *plan,
							uint32_t nrows);

/*
 * Launch step 1 for view->ngroups groups; view->words, keys and texts must be ready.
 * The result is in table->counts.  False: no memory.
 */
extern bool csv_table_seek(CsvGroupTable *table, const CsvQueryView *view,
						   size_t limit, cudaStream_t stream);

typedef enum CsvHeldRoom
{
	CSV_ROOM_NONE,				/* not even for texts of groups in the table */
	CSV_ROOM_FOUND,				/* for additions to groups in the table */
	CSV_ROOM_ALL				/* for new groups, too */
} CsvHeldRoom;

/*
 * Make room, within the limit, for a batch with text_bytes of texts; *counts is the
 * result of step 1.
 */
extern CsvHeldRoom csv_table_make_room(CsvGroupTable *table,
										const CsvHeldCounts *counts,
										size_t text_bytes, size_t limit,
										cudaStream_t stream);

/* launch step 3; take_new: for new groups, too */
extern void csv_table_add(CsvGroupTable *table, const CsvQueryView *view,
						  const CsvHeldCounts *counts, bool take_new,
						  cudaStream_t stream);

/*
 * Texts of groups [first, first + n), side by side.  The first function launches the
 * counting of their bytes (counts->piece_bytes).  The second launches copies of the
 * texts, and of the groups' keys and words with offsets into `texts`.
 */
extern void csv_table_measure_texts(const CsvGroupTable *table, uint32_t first,
									uint32_t n, cudaStream_t stream);
extern void csv_table_pack_texts(const CsvGroupTable *table, uint32_t first,
								 uint32_t n, uint64_t *keys, int64_t *words,
								 uint8_t *texts, cudaStream_t stream);

/* load the kernels that parsing a few rows does not launch */
extern void csv_table_warm(void);

/* give back all memory; then the table is empty */
extern void csv_table_release(CsvGroupTable *table);

#endif							/* CSV_CUDA_GROUP_TABLE_CUH */
