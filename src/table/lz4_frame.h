/*
 * lz4_frame.h
 *		The blocks of an LZ4 frame, to be decompressed one without the other.
 *
 * As lz4's tool writes them.  Nothing here calls PostgreSQL.
 */
#ifndef CSV_LZ4_FRAME_H
#define CSV_LZ4_FRAME_H

#define CSV_LZ4_HEAD_BYTES	19

typedef struct CsvLz4Frame
{
	uint64_t	next;			/* offset of the block not walked over yet */
	uint64_t	content_bytes;	/* when decompressed; 0: the frame does not say */
	bool		block_checksums;
	bool		has_checksum;	/* of all that is decompressed */

	/* a header for some of the blocks, as if they were a frame */
	size_t		nhead;
	uint8_t		head[CSV_LZ4_HEAD_BYTES];
} CsvLz4Frame;

/*
 * Begin with the frame at an offset of the file.  False if that is none, or one
 * whose blocks depend on each other.
 */
extern bool csv_lz4_frame_open(CsvLz4Frame *frame, int fd, uint64_t offset);

/*
 * Walk over blocks up to `until` at least, or to the end of the frame: next is
 * where the walk has ended, and with *at_end behind the frame, whose checksum,
 * if it has one, is in *checksum.  *blocks_end is where the blocks end.  False
 * if the file is not as it should be.
 */
extern bool csv_lz4_frame_walk(CsvLz4Frame *frame, int fd, uint64_t until,
							   uint64_t *blocks_end, bool *at_end,
							   uint32_t *checksum);

/* xxHash's XXH32 with the seed 0, of bytes that come bit by bit */
typedef struct CsvXxh32
{
	uint32_t	lanes[4];
	uint64_t	nbytes;
	uint8_t		rest[16];		/* nbytes % 16 of them */
} CsvXxh32;

extern void csv_xxh32_begin(CsvXxh32 *hash);
extern void csv_xxh32_add(CsvXxh32 *hash, const uint8_t *bytes, size_t nbytes);
extern uint32_t csv_xxh32_value(const CsvXxh32 *hash);

#endif							/* CSV_LZ4_FRAME_H */
