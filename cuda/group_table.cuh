/*
 * group_table.cuh
 *		Groups that stay on the device, from batch to batch: see group_table.cu.
 *
 * A table belongs to an engine, and is for the queries of one shape: their keys
 * and what they keep of a group are laid out the same.  For each batch, once
 * csv_launch_groups() has made its groups:
 *
 *	1. csv_table_seek: which of them are in the table?  How many are not?
 *	2. csv_table_make_room: for those that are not.  Where that cannot be, they
 *	   are for the host, and the others can be added all the same.
 *	3. csv_table_add: launches what adds the batch's groups.  Up to here the
 *	   table's groups are as they were, so that a batch may still be given up.
 *
 * Within a batch, groups have different keys: each is one thread's, and no two
 * threads add to one group.  Groups are numbered in the order of their first
 * rows, as on the host.
 *
 * All of it wants the session locked.
 */
#ifndef CSV_CUDA_GROUP_TABLE_CUH
#define CSV_CUDA_GROUP_TABLE_CUH

#include "query.cuh"
#include "session.h"

/* what the device counts */
typedef struct CsvHeldCounts
{
	uint32_t	nnew;			/* groups that are not in the table */
	uint32_t	crowded;		/* not 0: keys of one hash are too many */
	unsigned long long text_bytes;	/* of the table's texts */
	unsigned long long piece_bytes; /* of texts that are packed */
} CsvHeldCounts;

typedef struct CsvGroupTable
{
	CsvSession *session;
	uint32_t	first_capacity; /* groups there is room for at first */
	bool		is_shaped;
	bool		has_texts;

	/* what a query must have in common with it */
	uint32_t	nkeys;
	uint32_t	ninputs;
	uint32_t	naggregates;
	uint32_t	nwords;
	uint8_t		key_lanes[CSV_MAX_KEYS];
	CsvPlanAggregate aggregate[CSV_MAX_AGGREGATES];

	uint64_t	seed;			/* of hashes; no file knows it */
	uint64_t	nrows;			/* that its groups are made of */
	uint32_t	ngroups;
	uint32_t	capacity;
	uint32_t	slot_mask;
	size_t		text_capacity;
	size_t		text_bytes;		/* at most, of the texts there are */

	/* on the device: see csv_device_take() */
	uint64_t	groups_number;
	uint64_t   *keys;			/* as in CsvPartialGroups, as are those below */
	uint32_t   *nulls;
	int64_t    *words;
	uint64_t   *slots;			/* 0: free; else half a hash, group + 1 */
	uint64_t	texts_number;
	uint8_t    *texts;
	uint64_t	counts_number;
	CsvHeldCounts *counts;
	uint64_t	batch_number;
	uint32_t	batch_capacity; /* groups of a batch */
	uint64_t   *hashes;			/* of a batch's groups, */
	uint32_t   *places;			/* and their numbers here, or CSV_NOT_HELD */
	uint32_t   *ranks;			/* per block of them: how many before it are not
								 * there */
} CsvGroupTable;

/*
 * Is the table for groups of this plan, and for so many more rows?  One that
 * is empty becomes so.
 */
extern bool csv_table_suits(CsvGroupTable *table, const CsvPlan *plan,
							uint32_t nrows);

/*
 * Launch step 1 for view->ngroups groups; view->words, keys and texts are there.
 * table->counts has the result.  False: no memory.
 */
extern bool csv_table_seek(CsvGroupTable *table, const CsvQueryView *view,
						   size_t limit, cudaStream_t stream);

typedef enum CsvHeldRoom
{
	CSV_ROOM_NONE,				/* not even for texts of groups that are there */
	CSV_ROOM_FOUND,				/* for what is added to those */
	CSV_ROOM_ALL				/* and for those that are new */
} CsvHeldRoom;

/*
 * Room, within the limit, for a batch with text_bytes of texts, of which step 1
 * has found *counts.
 */
extern CsvHeldRoom csv_table_make_room(CsvGroupTable *table,
										const CsvHeldCounts *counts,
										size_t text_bytes, size_t limit,
										cudaStream_t stream);

/* launch step 3; take_new: also for groups that are new */
extern void csv_table_add(CsvGroupTable *table, const CsvQueryView *view,
						  const CsvHeldCounts *counts, bool take_new,
						  cudaStream_t stream);

/*
 * Texts of groups [first, first + n), side by side: launch what counts their
 * bytes (counts->piece_bytes), and what copies them to `texts`, and the groups'
 * keys and words with offsets there.
 */
extern void csv_table_measure_texts(const CsvGroupTable *table, uint32_t first,
									uint32_t n, cudaStream_t stream);
extern void csv_table_pack_texts(const CsvGroupTable *table, uint32_t first,
								 uint32_t n, uint64_t *keys, int64_t *words,
								 uint8_t *texts, cudaStream_t stream);

/* have CUDA load the kernels that are not launched for a few rows */
extern void csv_table_warm(void);

/* give all of its memory back; it is empty then */
extern void csv_table_release(CsvGroupTable *table);

#endif							/* CSV_CUDA_GROUP_TABLE_CUH */
