/*
 * lz4_frame.h
 *		The blocks of an LZ4 frame, to be decompressed independently.
 *
 * Reads frames as lz4's command-line tool writes them.  Nothing here calls PostgreSQL.
 */
#ifndef CSV_LZ4_FRAME_H
#define CSV_LZ4_FRAME_H

#define CSV_LZ4_HEAD_BYTES	19

typedef struct CsvLz4Frame
{
	uint64_t	next;			/* offset of the next block to walk over */
	uint64_t	content_bytes;	/* decompressed; 0: the frame does not say */
	bool		block_checksums;
	bool		has_checksum;	/* of all decompressed bytes */

	/* a header that makes some of the blocks a frame of their own */
	size_t		nhead;
	uint8_t		head[CSV_LZ4_HEAD_BYTES];
} CsvLz4Frame;

/*
 * Begins the frame at an offset of the file.  Returns false if there is no frame, or
 * if its blocks depend on each other.
 */
extern bool csv_lz4_frame_open(CsvLz4Frame *frame, int fd, uint64_t offset);

/*
 * Walks over blocks, at least up to `until` or to the end of the frame.  Sets
 * frame->next to the end of the walk, and *blocks_end to the end of the blocks.  At
 * the end of the frame, sets *at_end, sets frame->next behind the frame, and sets
 * *checksum if the frame has one.  Returns false if the file is damaged.
 */
extern bool csv_lz4_frame_walk(CsvLz4Frame *frame, int fd, uint64_t until,
							   uint64_t *blocks_end, bool *at_end,
							   uint32_t *checksum);

/* xxHash's XXH32 with seed 0, of bytes that arrive in parts */
typedef struct CsvXxh32
{
	uint32_t	lanes[4];
	uint64_t	nbytes;
	uint8_t		rest[16];		/* the last nbytes % 16 bytes */
} CsvXxh32;

extern void csv_xxh32_begin(CsvXxh32 *hash);
extern void csv_xxh32_add(CsvXxh32 *hash, const uint8_t *bytes, size_t nbytes);
extern uint32_t csv_xxh32_value(const CsvXxh32 *hash);

#endif							/* CSV_LZ4_FRAME_H */
