/*
 * frames.h
 *		Cuts a compressed file where another thread can begin to decompress it.
 *
 * Nothing here calls PostgreSQL.
 */
#ifndef CSV_FRAMES_H
#define CSV_FRAMES_H

#include "table/option.h"

/* compressed bytes that are worth a thread's while */
#define CSV_CUT_BYTES	(256 * 1024)

/* the largest window of a frame that is cut off: enough for zstd -19 */
#define CSV_CUT_WINDOW_BYTES	(8 * 1024 * 1024)

#define CSV_LZ4_HEAD_BYTES	19

/* in the size of an LZ4 block: the block is not compressed */
#define CSV_LZ4_UNCOMPRESSED	0x80000000

typedef enum CsvCutKind
{
	CSV_CUT_FRAMES,				/* whole frames of zstd or LZ4 */
	CSV_CUT_BLOCKS,				/* some blocks of one LZ4 frame */
	CSV_CUT_OPEN,				/* begins at a member or frame, and ends where a
								 * member or frame ends, at `end` or behind it */
	CSV_CUT_TO_MARK,			/* within a member of gzip (marks.h) */
	CSV_CUT_DAMAGED				/* the next block of the LZ4 frame was not found */
} CsvCutKind;

/* the header of a frame */
typedef struct CsvLz4Head
{
	size_t		nbytes;
	uint8_t		bytes[CSV_LZ4_HEAD_BYTES];
} CsvLz4Head;

typedef struct CsvCut
{
	CsvCutKind	kind;
	uint64_t	start;			/* offsets in the file */
	uint64_t	end;

	uint64_t	frame_start;	/* `start`; of BLOCKS: where their frame begins */

	/* of BLOCKS: a codec needs this before them and four zero bytes behind them */
	CsvLz4Head	head;

	/*
	 * Also of BLOCKS: if a codec gets this header, the frame's content as blocks of at
	 * most 1 MB that are not compressed, and then the tail, it checks whether the
	 * frame's checksum and size are right.
	 */
	CsvLz4Head	check_head;
	size_t		ntail;			/* 0: more blocks follow */
	uint8_t		tail[8];
} CsvCut;

typedef struct CsvCutter
{
	int			fd;				/* a regular file */
	CsvCompression compression;
	uint64_t	offset;			/* where the next cut begins: at a frame, or at a
								 * block of the frame that is cut into blocks */
	bool		in_frame;		/* the latter */
	bool		has_block_checksums;
	bool		has_checksum;
	CsvCut		frame;			/* what cuts of the frame have in common */
} CsvCutter;

/*
 * Makes the next cut, of at least CSV_CUT_BYTES compressed bytes if there are as many
 * frames.  After CSV_CUT_OPEN, cutter->offset must be set to the end of that cut.
 */
extern void csv_cut(CsvCutter *cutter, CsvCut *cut);
extern void csv_cut_open(CsvCut *cut, uint64_t start);

/*
 * The offset of the first bytes that look like the header of a gzip member; nbytes if
 * there are none.
 */
extern size_t csv_find_member(const uint8_t *bytes, size_t nbytes);

#endif							/* CSV_FRAMES_H */
