/*
 * policy.h
 *		The CUDA engine's tuning constants, each with its reason.
 */
#ifndef CSV_CUDA_POLICY_H
#define CSV_CUDA_POLICY_H

/*
 * Structure.  A thread reads 64 bytes, so that a bit mask of them is one word, and a
 * composed transition costs 1/16 of a byte per byte of input.  256 threads make a tile
 * of 16 kB: small enough that an SM has 8 tiles, and that four counts of a tile fit
 * into 16 bits each.
 */
#define CSV_TILE_THREADS		256
#define CSV_TILE_THREAD_BYTES	64
#define CSV_TILE_BYTES			(CSV_TILE_THREADS * CSV_TILE_THREAD_BYTES)

/*
 * Separators of a tile that pass through shared memory at a time.  A tile of ordinary
 * data (fields of 4 bytes or more) needs one turn, in 16 kB.
 */
#define CSV_STAGED_SEPARATORS	4096

/* threads of the single block that scans over tiles */
#define CSV_SCAN_THREADS		512

/* rows or records of a block; one thread each */
#define CSV_ROW_THREADS			256

/* records for a block to select from: four per thread, so that ranks cost little */
#define CSV_SELECT_ITEMS		4
#define CSV_SELECT_RECORDS		(CSV_ROW_THREADS * CSV_SELECT_ITEMS)

/*
 * Lengths are measured in a sample of at least LENGTHS_SAMPLE rows.  Lengths that the
 * sample misses are rare, and only cost their values a detour (CSV_VALUE_LONG).  A
 * block takes LENGTHS_ROWS rows of the sample in one column.
 */
#define CSV_LENGTHS_SAMPLE		65536
#define CSV_LENGTHS_ROWS		1024

/*
 * Columns.  A strip has as many fields as a record of ordinary data.  A warp's stage
 * holds the bytes that 32 rows have on average, up to STAGE_MAX_BYTES.  A row with
 * more than STAGE_ROW_BYTES, or without room in the stage, is read from the input.
 *
 * The kernel is bound by its instructions, not by memory: 32 records of lineitem, with
 * 16 columns, take about 7,000 instructions, issued in 64% of the cycles, with DRAM
 * busy for 22%.  24 warps on an SM may have 80 registers each; 32 warps with 64
 * registers spill and are slower.  Warps that start together share instructions that
 * are fetched: blocks of 256 threads are 12% faster than blocks of 128, which are 8%
 * faster than blocks of 64.  More threads gain nothing.
 */
#define CSV_COLUMN_THREADS		256
#define CSV_COLUMN_BLOCKS_PER_SM	3
#define CSV_STAGE_MAX_BYTES		(10 * 1024)
#define CSV_STAGE_ROW_BYTES		2048
#define CSV_STRIP_FIELDS		16
#define CSV_STRIP_COLUMNS		16

/* unread fields that put two columns into different strips: copying them is wasted */
#define CSV_STRIP_GAP			8

/* words of text entries that a warp writes at a time */
#define CSV_TEXT_WORDS			12

/*
 * Whole warps measure fields of more than LONG_FIELD raw bytes, in pieces: one
 * thread's loop over more bytes would hold up the other lanes for longer than the
 * pieces cost.  Pieces are so large that a field has few results to put together
 * (1,024 for 16 MB).
 */
#define CSV_LONG_FIELD_BYTES	512
#define CSV_PIECE_BYTES			(16 * 1024)
#define CSV_LANE_BYTES			16
#define CSV_WARP_BYTES			(32 * CSV_LANE_BYTES)
#define CSV_LONG_THREADS		128
#define CSV_LONG_BLOCKS_PER_SM	8

/*
 * Text wider than this stays in the input (CSV_VALUE_LONG).  Such a value costs its
 * bytes and a fixed price, because its record is read again and the value is converted
 * alone.  All of 1 GB of lineitem takes 405 ms with a price of 256, 330 ms with 1,024,
 * and no less with 4,096 and 16,384.
 */
#define CSV_MAX_STRIDE			8192
#define CSV_LONG_VALUE_COST		1024

/*
 * Device memory in bytes per byte of input, besides input and output: the masks (5
 * bits per byte), and the index of as many records as a window has.  Together 1.5,
 * with what csv_device_reserve() adds to a block.  The floor serves small inputs.
 */
#define CSV_INDEX_SHARE			1.42
#define CSV_INDEX_FLOOR			(4 * 1024 * 1024)

/* positions in the input have 32 bits, with room to spare */
#define CSV_MAX_INPUT_BYTES		(INT32_MAX - 1)

/* output arrays of one call: at most this multiple of the input, and a floor */
#define CSV_OUTPUT_SHARE		6
#define CSV_OUTPUT_FLOOR		(64 * 1024 * 1024)

/* the least device memory of a call, roughly, as a multiple of its input */
#define CSV_MEMORY_SHARE		3.5

/*
 * The CPU engine reads at least this stretch of an irregular input, so that the bytes
 * that are then copied to the device again stay in proportion.
 */
#define CSV_CPU_STRETCH_BYTES	(4 * 1024 * 1024)
#define CSV_CPU_STRETCH_SHARE	4	/* a 4th of the input */

/*
 * Queries.  A thread evaluates a row, with its slots in shared memory.  On an H200,
 * blocks of 64, 128 and 256 threads take the same time.
 */
#define CSV_QUERY_THREADS		128

/* rows that a block lists; at most 65,535 */
#define CSV_QUERY_LIST_ROWS		1024

/*
 * A row looks at no more slots than this: a file may have keys with equal hashes on
 * purpose, and no kernel may run for long.
 */
#define CSV_QUERY_MOST_PROBES	1024

/*
 * If there are few groups, they are added up in shared memory, in counters of 32 bits.
 * A row adds less than 2^17 to a counter, so that BLOCK_ROWS leave room for the sign.
 * TPC-H's Q1 over 512 MB of lineitem, with 6 groups, takes 16.2 ms if groups are added
 * up in global memory.  In shared memory it takes 3.2 ms with 2 blocks of 256 threads
 * on an SM, and 2.8, 2.9 and 2.7 ms with 2, 4 and 8 blocks of 512; 1.2 ms of this are
 * without the query.  Over 32 MB it takes 0.45 ms with 2 and 4 blocks, and 0.51 ms
 * with 8.
 */
#define CSV_QUERY_ADD_THREADS	512
#define CSV_QUERY_ADD_BLOCKS_PER_SM	4
#define CSV_QUERY_BLOCK_ROWS	16000
#define CSV_QUERY_SHARED_BYTES	(48 * 1024)

/*
 * If each row's group is known before, rows are evaluated and added up at once.  A
 * block takes SUM_ROWS rows, so that each place on an SM gets a few blocks.
 */
#define CSV_QUERY_SUM_THREADS	256
#define CSV_QUERY_SUM_ROWS		4096
#define CSV_QUERY_MOST_INPUTS	64
#define CSV_QUERY_MOST_CLASSES	256 /* groups, if shared memory has room */

/*
 * A block adds its counters to the groups at its end.  That is worth it if it has this
 * many rows per group.
 */
#define CSV_QUERY_FLUSH_SHARE	16

/*
 * More groups than a 4th of the rows are not worth making: the host would find as many
 * again.  FEW_GROUPS groups always are.
 */
#define CSV_QUERY_GROUPS_SHARE	4
#define CSV_QUERY_FEW_GROUPS	4096

/*
 * A batch's groups stay on the device (group_table.cu), if they may, from this number
 * on: fewer groups cost the host less than the device's extra steps.
 */
#define CSV_TABLE_LEAST_GROUPS	1024
#define CSV_TABLE_THREADS		128

/* room for groups at first; and the most groups, so that slots have 32-bit numbers */
#define CSV_TABLE_FIRST_GROUPS	(256 * 1024)
#define CSV_TABLE_MOST_GROUPS	(UINT64_C(1) << 30)

/* most rows of a table: each adds less than 2^32 to a word, which must not overflow */
#define CSV_TABLE_MOST_ROWS		(UINT64_C(1) << 31)

/* bytes of groups that are copied to the host at a time, roughly */
#define CSV_TABLE_PIECE_BYTES	((size_t) 8 << 20)

/* all memory that is held, with a query's, stays within this share of the limit */
#define CSV_QUERY_MEMORY_SHARE	2

/*
 * Over columns that stay, a query evaluates at least LEAST_ROWS rows at a time, to be
 * worth it, and at most MOST_ROWS rows or MOST_TEXT_BYTES of texts, since no kernel
 * may run for long.  Texts of up to SHORT_TEXT bytes do not count.
 */
#define CSV_QUERY_LEAST_ROWS	(1024 * 1024)
#define CSV_QUERY_MOST_ROWS		(32 * 1024 * 1024)
#define CSV_QUERY_MOST_TEXT_BYTES	(UINT64_C(512) * 1024 * 1024)
#define CSV_QUERY_SHORT_TEXT	64

/*
 * Chunks of 32 MB keep all SMs busy and hide the launches, without more pinned memory
 * than that takes: 2 GB are counted equally fast in chunks of 16 to 64 MB.  The first
 * chunks are small, so that the first row comes soon.
 */
#define CSV_CHUNK_BYTES			(32 * 1024 * 1024)
#define CSV_FIRST_CHUNK_BYTES	(1024 * 1024)

/* the host waits this long for the device before it takes naps */
#define CSV_SPIN_NANOSECONDS	300000

/* batches that live at a time: a batch is filled while the batch before is in use */
#define CSV_CUDA_OUTPUTS		2

/*
 * Files in use leave this share of the limit to calls, and at least 1 GB, but no more
 * than half of the limit.  Bytes of files come in pieces of CSV_CUDA_COPY_BYTES: a thread
 * reads a piece in 1 ms, and the device copies it in 0.1 ms.
 */
#define CSV_CALLS_MEMORY_SHARE	8
#define CSV_CALLS_LEAST_BYTES	((size_t) 1 << 30)

/*
 * Pinned memory that the session keeps though no engine uses it.  A scan takes at most
 * eight blocks.
 */
#define CSV_PINNED_KEEP_BYTES	((size_t) 1 << 30)
#define CSV_PINNED_BLOCKS		1024
#define CSV_PINNED_LEAST_BYTES	((size_t) 64 << 10)	/* for readers */

/*
 * cudaMallocHost() makes small pages one by one: on an H200's host, it took 135 to 155
 * ms for the eight blocks of a scan.  Large pages of private memory took 46 to 78 ms
 * if they were made first and then registered (6 to 10 ms of it).  Several threads
 * make the pages.  Files in memory have large pages only if
 * /sys/kernel/mm/transparent_hugepage/shmem_enabled says so; blocks of
 * CSV_PINNED_MAP_BYTES or more have room for whole large pages.
 */
#define CSV_PINNED_MAP_BYTES	((size_t) 8 << 20)
#define CSV_LARGE_PAGE_BYTES	((size_t) 2 << 20)
#define CSV_PINNED_THREADS		4

#endif							/* CSV_CUDA_POLICY_H */
