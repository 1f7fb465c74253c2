/*
 * policy.h
 *		The CUDA engine's tuning constants, each with its reason.
 */
#ifndef CSV_CUDA_POLICY_H
#define CSV_CUDA_POLICY_H

/*
 * Structure.  A thread reads 64 bytes, so that a bit mask of them is one word
 * and a composed transition costs 1/16 of a byte per byte of input; 256
 * threads make a tile of 16 kB, small enough that 8 tiles share an SM, and
 * that four counts of a tile fit into 16 bits each.
 */
#define CSV_TILE_THREADS		256
#define CSV_TILE_THREAD_BYTES	64
#define CSV_TILE_BYTES			(CSV_TILE_THREADS * CSV_TILE_THREAD_BYTES)

/*
 * Separators of a tile that pass through shared memory at a time: a tile of
 * ordinary data (a field of 4 bytes or more) goes in one turn, in 16 kB.
 */
#define CSV_STAGED_SEPARATORS	4096

/* threads of the one block that scans over tiles */
#define CSV_SCAN_THREADS		512

/* rows or records a block; one thread each */
#define CSV_ROW_THREADS			256

/* records a block selects from: four a thread, so that ranks cost little */
#define CSV_SELECT_ITEMS		4
#define CSV_SELECT_RECORDS		(CSV_ROW_THREADS * CSV_SELECT_ITEMS)

/*
 * Lengths are looked at in a sample of the rows, at least LENGTHS_SAMPLE of
 * them: what that misses is rare, and only costs its detour (CSV_VALUE_LONG).
 * A block takes LENGTHS_ROWS of them in one column.
 */
#define CSV_LENGTHS_SAMPLE		65536
#define CSV_LENGTHS_ROWS		1024

/*
 * Columns.  A strip is as many fields as make up a record of ordinary data.  A
 * warp's stage holds what 32 rows have on average, up to STAGE_MAX_BYTES, and
 * of a row STAGE_ROW_BYTES at the most; what is beyond is read from the input.
 *
 * The kernel is bound by its instructions, not by memory: for 32 records of
 * lineitem, 16 columns, about 7,000, issued in 64% of the cycles, with DRAM
 * busy for 22%.  24 warps on an SM may have 80 registers each; 32 with 64 spill
 * and are slower.  Warps that start together share what is fetched of the code:
 * blocks of 256 threads are 12% faster than of 128, which are 8% faster than of
 * 64; more threads gain nothing.
 */
#define CSV_COLUMN_THREADS		256
#define CSV_COLUMN_BLOCKS_PER_SM	3
#define CSV_STAGE_MAX_BYTES		(10 * 1024)
#define CSV_STAGE_ROW_BYTES		2048
#define CSV_STRIP_FIELDS		16
#define CSV_STRIP_COLUMNS		16

/* fields between two columns that part them: their bytes would be for nothing */
#define CSV_STRIP_GAP			8

/* words of a text entry that a warp writes at a time */
#define CSV_TEXT_WORDS			12

/*
 * A field of more than LONG_FIELD raw bytes is measured by whole warps, in
 * pieces: one thread's loop over more bytes than that would hold up the other
 * lanes for longer than the pieces cost.  A piece is large enough that the
 * results to put together are few (1,024 for a field of 16 MB).
 */
#define CSV_LONG_FIELD_BYTES	512
#define CSV_PIECE_BYTES			(16 * 1024)
#define CSV_LANE_BYTES			16
#define CSV_WARP_BYTES			(32 * CSV_LANE_BYTES)
#define CSV_LONG_THREADS		128
#define CSV_LONG_BLOCKS_PER_SM	8

/*
 * Text wider than this stays in the input (CSV_VALUE_LONG).  A value that is
 * taken from the input costs its bytes and a fixed price, for its record is read
 * again and its value made by itself: all of 1 GB of lineitem comes out in 405 ms
 * with 256, in 330 with 1,024, and no faster with 4,096 and 16,384.
 */
#define CSV_MAX_STRIDE			8192
#define CSV_LONG_VALUE_COST		1024

/*
 * Memory on the device, in bytes per byte of input, beside input and output: the
 * masks (5 bits a byte), and the index of as many records as go into a window.
 * With what csv_device_reserve() adds to a block, 1.5 together.  The floor serves
 * small inputs.
 */
#define CSV_INDEX_SHARE			1.42
#define CSV_INDEX_FLOOR			(4 * 1024 * 1024)

/* positions in the input, in 32 bits and with room to spare */
#define CSV_MAX_INPUT_BYTES		(INT32_MAX - 1)

/* output arrays of one call: at most this many times the input, and a floor */
#define CSV_OUTPUT_SHARE		6
#define CSV_OUTPUT_FLOOR		(64 * 1024 * 1024)

/* device memory of a call over its input's size, roughly, at the least */
#define CSV_MEMORY_SHARE		3.5

/*
 * Where the CPU engine reads a stretch instead: at least this much of it, so
 * that what is copied to the device again afterwards stays in proportion.
 */
#define CSV_CPU_STRETCH_BYTES	(4 * 1024 * 1024)
#define CSV_CPU_STRETCH_SHARE	4	/* a 4th of the input */

/*
 * Queries.  A row is a thread's, and its slots are in shared memory.  On an H200,
 * blocks of 64, 128 and 256 threads take the same time.
 */
#define CSV_QUERY_THREADS		128

/* rows that a block lists; no more than 65,535 */
#define CSV_QUERY_LIST_ROWS		1024

/*
 * A row looks at no more slots: a file may be made such that hashes of its keys
 * are all the same, and no kernel is to run for long.
 */
#define CSV_QUERY_MOST_PROBES	1024

/*
 * Groups that are few are added up in shared memory, in counters of 32 bits: a
 * row adds less than 2^17 to each, so that BLOCK_ROWS leave room for the sign.
 * TPC-H's Q1 over 512 MB of lineitem, 6 groups, takes 16.2 ms where groups are
 * added up in global memory, and here 3.2 with 2 blocks of 256 threads on an SM,
 * and 2.8, 2.9 and 2.7 with 2, 4 and 8 of 512; of that, 1.2 are without the query.
 * Over 32 MB, it is 0.45 with 2 and 4, and 0.51 with 8.
 */
#define CSV_QUERY_ADD_THREADS	512
#define CSV_QUERY_ADD_BLOCKS_PER_SM	4
#define CSV_QUERY_BLOCK_ROWS	16000
#define CSV_QUERY_SHARED_BYTES	(48 * 1024)

/*
 * Where a row's group is known before, rows are evaluated and added up at once:
 * blocks of so many rows, so that there are a few for each place on an SM.
 */
#define CSV_QUERY_SUM_THREADS	256
#define CSV_QUERY_SUM_ROWS		4096
#define CSV_QUERY_MOST_INPUTS	64
#define CSV_QUERY_MOST_CLASSES	256 /* groups, if shared memory has room */

/*
 * A block's counters are added to the groups at its end: so many rows for each
 * of those are worth it.
 */
#define CSV_QUERY_FLUSH_SHARE	16

/*
 * More groups than a 4th of the rows are not worth making: the host would find
 * as many again.  A few are always.
 */
#define CSV_QUERY_GROUPS_SHARE	4
#define CSV_QUERY_FEW_GROUPS	4096

/*
 * Groups of a batch that are as many as this stay on the device (group_table.cu),
 * where they may: fewer cost the host less than the device's extra steps.
 */
#define CSV_TABLE_LEAST_GROUPS	1024
#define CSV_TABLE_THREADS		128

/* groups there is room for at first; and at the most, so that slots have numbers */
#define CSV_TABLE_FIRST_GROUPS	(256 * 1024)
#define CSV_TABLE_MOST_GROUPS	(UINT64_C(1) << 30)

/* rows of a table, so that no word of a sum overflows: each adds less than 2^32 */
#define CSV_TABLE_MOST_ROWS		(UINT64_C(1) << 31)

/* bytes of groups that are copied to the host at a time, about */
#define CSV_TABLE_PIECE_BYTES	((size_t) 8 << 20)

/* of the limit of device memory, all that is held with a query's */
#define CSV_QUERY_MEMORY_SHARE	2

/*
 * Over columns that stay: rows at a time, at least, for it to be worth it; and at
 * most, also by their texts, for no kernel is to run for long.  Texts that are
 * short do not count.
 */
#define CSV_QUERY_LEAST_ROWS	(1024 * 1024)
#define CSV_QUERY_MOST_ROWS		(32 * 1024 * 1024)
#define CSV_QUERY_MOST_TEXT_BYTES	(UINT64_C(512) * 1024 * 1024)
#define CSV_QUERY_SHORT_TEXT	64

/*
 * Chunks: 32 MB keep all SMs busy and hide the launches, at no more pinned
 * memory than that takes: 2 GB are counted as fast in chunks of 16 to 64 MB.
 * The first ones are small for the sake of the first row.
 */
#define CSV_CHUNK_BYTES			(32 * 1024 * 1024)
#define CSV_FIRST_CHUNK_BYTES	(1024 * 1024)

/*
 * Bytes to come are copied to the device while those before them are parsed, if
 * all that is held stays within this share of the limit: parsing comes first.
 * In pieces, since what parsing copies meanwhile waits for one of them.
 */
#define CSV_NEXT_MEMORY_SHARE	4
#define CSV_NEXT_COPY_BYTES		(2 * 1024 * 1024)

/* so long the device is waited for without a nap */
#define CSV_SPIN_NANOSECONDS	300000

/*
 * Batches that live at a time: one is filled while the one before is in use.
 */
#define CSV_CUDA_OUTPUTS		2

/*
 * Bytes of files stay on the device within this share of the limit.  They come in
 * pieces of CSV_CUDA_COPY_BYTES, which take a thread 1 ms to read and the device
 * 0.1 to copy.
 */
#define CSV_FILES_MEMORY_SHARE	2

/*
 * Pinned memory that no engine uses, and that the session keeps all the same.
 * A scan takes eight blocks at the most.
 */
#define CSV_PINNED_KEEP_BYTES	((size_t) 1 << 30)
#define CSV_PINNED_BLOCKS		1024

/*
 * cudaMallocHost() makes small pages one by one: on an H200's host, the eight
 * blocks of a scan took it 135 to 155 ms.  Large pages of private memory that were
 * made first, and registered then, took 46 to 78 ms, of which 6 to 10 are the
 * registration; and several threads make them.  Files in memory have large pages
 * only where /sys/kernel/mm/transparent_hugepage/shmem_enabled says so; blocks from
 * CSV_PINNED_MAP_BYTES on have room for whole ones.
 */
#define CSV_PINNED_MAP_BYTES	((size_t) 8 << 20)
#define CSV_LARGE_PAGE_BYTES	((size_t) 2 << 20)
#define CSV_PINNED_THREADS		4

#endif							/* CSV_CUDA_POLICY_H */
