/*
 * frames.c
 *		Cuts a compressed file where another thread can begin to decompress it.
 *
 * In frames of zstd and LZ4, each block states its size, so the end of a frame is found
 * by going from block to block.  The blocks of an LZ4 frame may be independent of each
 * other, too, as the lz4 tool writes them by default, in one frame.  Such a frame
 * is cut into blocks: one thread decompresses lineitem at 0.9 GB/s, but checks what
 * others have decompressed at 1.9 GB/s.  See RFC 8878 for zstd, and
 * doc/lz4_Frame_format.md of LZ4.
 *
 * Members of gzip do not state their sizes.  The first bytes of a member can only be
 * searched for, and other bytes may look like them.
 *
 * The library decompresses some blocks of an LZ4 frame if they are preceded by a header
 * like the frame's, without the checksum of the content, and followed by an empty
 * block.
 */
#include "postgres.h"

#include <unistd.h>

#include "table/frames.h"
#include "table/library.h"

/* the end of a larger frame is not searched for: that would take too long */
#define MOST_FRAME_BYTES	(16 * 1024 * 1024)
#define MOST_FRAME_BLOCKS	(64 * 1024)

/* the type of a zstd block that repeats its only byte */
#define ZSTD_BLOCK_RLE		1

static bool
read_bytes(const CsvCutter *cutter, uint64_t offset, uint8_t *bytes,
		   size_t nbytes)
{
	return pread(cutter->fd, bytes, nbytes, (off_t) offset) == (ssize_t) nbytes;
}

static uint64_t
little_endian(const uint8_t *bytes, int nbytes)
{
	uint64_t	value = 0;

	for (int i = 0; i < nbytes; i++)
		value |= (uint64_t) bytes[i] << 8 * i;
	return value;
}

/* the offset behind a block; 0 if that is not known */
static uint64_t
block_end(const CsvCutter *cutter, uint64_t offset, bool *is_last)
{
	bool		is_zstd = cutter->compression == CSV_COMPRESSION_ZSTD;
	int			nheader = is_zstd ? 3 : 4;
	uint8_t		header[4];
	uint64_t	word;

	if (!read_bytes(cutter, offset, header, nheader))
		return 0;
	word = little_endian(header, nheader);
	if (is_zstd)
	{
		*is_last = (word & 1) != 0;
		return offset + nheader +
			((word >> 1 & 3) == ZSTD_BLOCK_RLE ? 1 : word >> 3);
	}
	*is_last = word == 0;
	return offset + nheader + (word & ~(uint64_t) CSV_LZ4_UNCOMPRESSED) +
		(cutter->has_block_checksums && !*is_last ? 4 : 0);
}

/*
 * The offset behind a frame with this first block; 0 if it is not known, or beyond
 * `most`.
 */
static uint64_t
blocks_end(const CsvCutter *cutter, uint64_t offset, uint64_t most)
{
	bool		is_last = false;

	for (int i = 0; i < MOST_FRAME_BLOCKS && !is_last; i++)
	{
		if (offset == 0 || offset >= most)
			return 0;
		offset = block_end(cutter, offset, &is_last);
	}
	return !is_last ? 0 : offset + (cutter->has_checksum ? 4 : 0);
}

/* the offset behind the frame; 0 if that is not known */
static uint64_t
zstd_end(CsvCutter *cutter)
{
	static const uint8_t nsizes[] = {0, 2, 4, 8};
	static const uint8_t ndictionaries[] = {0, 1, 2, 4};
	uint8_t		header[18] = {0};
	ssize_t		nread = pread(cutter->fd, header, sizeof(header),
							  (off_t) cutter->offset);
	uint8_t		flags = header[4];
	bool		is_single = (flags & 0x20) != 0;
	int			nsize = is_single && flags >> 6 == 0 ? 1 : nsizes[flags >> 6];
	int			nheader = 5 + (is_single ? 0 : 1) + ndictionaries[flags & 3];
	uint64_t	window;

	if (nread < 8 || memcmp(header, "\x28\xb5\x2f\xfd", 4) != 0)
		return 0;
	if (is_single)
		window = little_endian(header + nheader, nsize);
	else
		window = (UINT64_C(8) + (header[5] & 7)) << (7 + (header[5] >> 3));
	if (window > CSV_CUT_WINDOW_BYTES)
		return 0;
	cutter->has_checksum = (flags & 4) != 0;
	return blocks_end(cutter, cutter->offset + nheader + nsize,
					  cutter->offset + MOST_FRAME_BYTES);
}

#ifdef CSV_WITH_LZ4
static bool
make_head(CsvLz4Head *head, const LZ4F_frameInfo_t *info)
{
	LZ4F_preferences_t preferences = {.frameInfo = *info};
	LZ4F_cctx  *context;
	size_t		nbytes;

	nbytes = csv_library.LZ4F_createCompressionContext(&context, LZ4F_VERSION);
	if (csv_library.LZ4F_isError(nbytes))
		return false;
	head->nbytes = csv_library.LZ4F_compressBegin(context, head->bytes,
												  sizeof(head->bytes),
												  &preferences);
	csv_library.LZ4F_freeCompressionContext(context);
	return !csv_library.LZ4F_isError(head->nbytes);
}

/* prepares to cut the frame with this header into blocks */
static bool
begin_blocks(CsvCutter *cutter, const LZ4F_frameInfo_t *info,
			 uint64_t first_block)
{
	LZ4F_frameInfo_t blocks = *info;
	LZ4F_frameInfo_t check = *info;

	blocks.contentChecksumFlag = LZ4F_noContentChecksum;
	blocks.contentSize = 0;
	check.blockChecksumFlag = LZ4F_noBlockChecksum;
	check.blockSizeID = LZ4F_max1MB;
	cutter->frame.frame_start = cutter->offset;
	cutter->frame.start = first_block;
	return make_head(&cutter->frame.head, &blocks) &&
		make_head(&cutter->frame.check_head, &check);
}

/* 0, too, if the frame is now cut into blocks, because it is large */
static uint64_t
lz4_end(CsvCutter *cutter)
{
	uint8_t		bytes[CSV_LZ4_HEAD_BYTES];
	ssize_t		nread = pread(cutter->fd, bytes, sizeof(bytes),
							  (off_t) cutter->offset);
	size_t		nheader = Max(nread, 0);
	uint64_t	first_block;
	uint64_t	end;
	LZ4F_frameInfo_t info;
	LZ4F_dctx  *context;
	size_t		result;

	result = csv_library.LZ4F_createDecompressionContext(&context,
														 LZ4F_VERSION);
	if (csv_library.LZ4F_isError(result))
		return 0;
	result = csv_library.LZ4F_getFrameInfo(context, &info, bytes, &nheader);
	csv_library.LZ4F_freeDecompressionContext(context);
	if (csv_library.LZ4F_isError(result) || info.frameType != LZ4F_frame)
		return 0;
	cutter->has_block_checksums = info.blockChecksumFlag != LZ4F_noBlockChecksum;
	cutter->has_checksum = info.contentChecksumFlag != LZ4F_noContentChecksum;
	first_block = cutter->offset + nheader;
	end = blocks_end(cutter, first_block, cutter->offset + CSV_CUT_BYTES);
	if (end > 0)
		return end;
	if (info.blockMode != LZ4F_blockIndependent || info.dictID != 0)
		return blocks_end(cutter, first_block,
						  cutter->offset + MOST_FRAME_BYTES);
	cutter->in_frame = begin_blocks(cutter, &info, first_block);
	return 0;
}
#endif

static uint64_t
frame_end(CsvCutter *cutter)
{
	uint8_t		header[8];

	if (cutter->compression == CSV_COMPRESSION_GZIP)
		return 0;
	/* frames of both formats that decompress to nothing */
	if (read_bytes(cutter, cutter->offset, header, sizeof(header)) &&
		(header[0] & 0xf0) == 0x50 && memcmp(header + 1, "\x2a\x4d\x18", 3) == 0)
		return cutter->offset + sizeof(header) + little_endian(header + 4, 4);
	if (cutter->compression == CSV_COMPRESSION_ZSTD)
		return zstd_end(cutter);
#ifdef CSV_WITH_LZ4
	return lz4_end(cutter);
#else
	return 0;
#endif
}

/* ---- the cuts ---- */

static void
cut_blocks(CsvCutter *cutter, CsvCut *cut)
{
	uint64_t	next = cut->start;
	bool		is_last = false;

	while (!is_last && next > 0 && next < cut->start + CSV_CUT_BYTES)
	{
		cut->end = next;
		next = block_end(cutter, next, &is_last);
	}
	if (!is_last)
		cut->end = next;
	else
	{
		/* the empty block and the checksum */
		cut->ntail = cutter->has_checksum ? 8 : 4;
		next = !read_bytes(cutter, cut->end, cut->tail, cut->ntail) ? 0 :
			cut->end + cut->ntail;
	}
	cut->kind = next > 0 ? CSV_CUT_BLOCKS : CSV_CUT_DAMAGED;
	cutter->in_frame = !is_last;
	cutter->offset = next;
}

void
csv_cut_open(CsvCut *cut, uint64_t start)
{
	memset(cut, 0, sizeof(*cut));
	cut->kind = CSV_CUT_OPEN;
	cut->start = cut->frame_start = start;
	cut->end = start + CSV_CUT_BYTES;
}

void
csv_cut(CsvCutter *cutter, CsvCut *cut)
{
	uint64_t	start = cutter->offset;
	uint64_t	end;

	while (!cutter->in_frame && cutter->offset < start + CSV_CUT_BYTES &&
		   (end = frame_end(cutter)) > 0)
		cutter->offset = end;
	csv_cut_open(cut, start);
	if (cutter->offset > start)
	{
		/* a large frame behind these frames gets the next cut */
		cutter->in_frame = false;
		cut->kind = CSV_CUT_FRAMES;
		cut->end = cutter->offset;
	}
	else if (cutter->in_frame)
	{
		/* the first cut of the frame begins behind its header */
		*cut = cutter->frame;
		cut->start = Max(start, cut->start);
		cut_blocks(cutter, cut);
	}
}

/* ---- gzip ---- */

#define GZIP_HEADER_BYTES	10

static bool
is_member(const uint8_t *header)
{
	uint8_t		level = header[8];

	return header[0] == 0x1f && header[1] == 0x8b && header[2] == 8 &&
		(header[3] & CSV_GZIP_RESERVED_FLAGS) == 0 &&
		(level == 0 || level == 2 || level == 4);
}

size_t
csv_find_member(const uint8_t *bytes, size_t nbytes)
{
	for (size_t at = 0; at + GZIP_HEADER_BYTES <= nbytes; at++)
	{
		const uint8_t *found = memchr(bytes + at + 1, 0x8b,
									  nbytes - GZIP_HEADER_BYTES + 1 - at);

		if (found == NULL)
			break;
		at = found - 1 - bytes;
		if (is_member(bytes + at))
			return at;
	}
	return nbytes;
}
