/*
 * lz4_frame.c
 *		The blocks of an LZ4 frame, to be decompressed independently.
 *
 * A block begins with its size, so blocks are found by going from one to the next.
 * The library decompresses some of the blocks if they are preceded by a header like
 * the frame's, without the checksum of the content, and followed by an empty block.
 * The checksum of the content is computed here, because the library does not export
 * its function.
 */
#include "postgres.h"

#include <unistd.h>

#include "table/library.h"
#include "table/lz4_frame.h"

/* in a block's size: the block is not compressed */
#define UNCOMPRESSED	0x80000000

#ifdef CSV_WITH_LZ4
/* makes the header for some of the blocks */
static bool
make_head(CsvLz4Frame *frame, const LZ4F_frameInfo_t *info)
{
	LZ4F_preferences_t preferences = {.frameInfo = {
		.blockSizeID = info->blockSizeID,
		.blockMode = LZ4F_blockIndependent,
		.blockChecksumFlag = info->blockChecksumFlag
	}};
	LZ4F_cctx  *context;
	size_t		nbytes;

	nbytes = csv_library.LZ4F_createCompressionContext(&context, LZ4F_VERSION);
	if (csv_library.LZ4F_isError(nbytes))
		return false;
	nbytes = csv_library.LZ4F_compressBegin(context, frame->head,
											sizeof(frame->head), &preferences);
	csv_library.LZ4F_freeCompressionContext(context);
	frame->nhead = nbytes;
	return !csv_library.LZ4F_isError(nbytes);
}
#endif

bool
csv_lz4_frame_open(CsvLz4Frame *frame, int fd, uint64_t offset)
{
#ifdef CSV_WITH_LZ4
	uint8_t		bytes[CSV_LZ4_HEAD_BYTES];
	ssize_t		nread = pread(fd, bytes, sizeof(bytes), (off_t) offset);
	size_t		nheader = Max(nread, 0);
	LZ4F_frameInfo_t info;
	LZ4F_dctx  *context;
	size_t		result;
	bool		good;

	result = csv_library.LZ4F_createDecompressionContext(&context,
														 LZ4F_VERSION);
	if (csv_library.LZ4F_isError(result))
		return false;
	result = csv_library.LZ4F_getFrameInfo(context, &info, bytes, &nheader);
	good = !csv_library.LZ4F_isError(result) &&
		info.frameType == LZ4F_frame &&
		info.blockMode == LZ4F_blockIndependent && info.dictID == 0;
	csv_library.LZ4F_freeDecompressionContext(context);
	if (!good)
		return false;
	frame->next = offset + nheader;
	frame->content_bytes = info.contentSize;
	frame->block_checksums = info.blockChecksumFlag != LZ4F_noBlockChecksum;
	frame->has_checksum = info.contentChecksumFlag != LZ4F_noContentChecksum;
	return make_head(frame, &info);
#else
	return false;
#endif
}

static uint32_t
little_endian(const uint8_t *bytes)
{
	return (uint32_t) bytes[0] | (uint32_t) bytes[1] << 8 |
		(uint32_t) bytes[2] << 16 | (uint32_t) bytes[3] << 24;
}

static bool
read_word(int fd, uint64_t offset, uint32_t *word)
{
	uint8_t		bytes[4];

	if (pread(fd, bytes, sizeof(bytes), (off_t) offset) != sizeof(bytes))
		return false;
	*word = little_endian(bytes);
	return true;
}

bool
csv_lz4_frame_walk(CsvLz4Frame *frame, int fd, uint64_t until,
				   uint64_t *blocks_end, bool *at_end, uint32_t *checksum)
{
	*at_end = false;
	while (frame->next < until && !*at_end)
	{
		uint32_t	nbytes;

		if (!read_word(fd, frame->next, &nbytes))
			return false;
		*at_end = nbytes == 0;
		if (!*at_end)
			frame->next += 4 + (uint64_t) (nbytes & ~UNCOMPRESSED) +
				(frame->block_checksums ? 4 : 0);
	}
	*blocks_end = frame->next;
	if (*at_end)
		frame->next += 4;
	if (*at_end && frame->has_checksum)
	{
		if (!read_word(fd, frame->next, checksum))
			return false;
		frame->next += 4;
	}
	return true;
}

/* ---- XXH32: see doc/xxhash_spec.md of xxHash ---- */

#define PRIME1	0x9E3779B1U
#define PRIME2	0x85EBCA77U
#define PRIME3	0xC2B2AE3DU
#define PRIME4	0x27D4EB2FU
#define PRIME5	0x165667B1U

static inline uint32_t
rotate(uint32_t word, int nbits)
{
	return word << nbits | word >> (32 - nbits);
}

static inline uint32_t
mix(uint32_t lane, const uint8_t *bytes)
{
	return rotate(lane + little_endian(bytes) * PRIME2, 13) * PRIME1;
}

/* `nbytes` is a multiple of 16 */
static void
add_stripes(uint32_t *lanes, const uint8_t *bytes, size_t nbytes)
{
	uint32_t	a = lanes[0],
				b = lanes[1],
				c = lanes[2],
				d = lanes[3];

	for (const uint8_t *end = bytes + nbytes; bytes < end; bytes += 16)
	{
		a = mix(a, bytes);
		b = mix(b, bytes + 4);
		c = mix(c, bytes + 8);
		d = mix(d, bytes + 12);
	}
	lanes[0] = a;
	lanes[1] = b;
	lanes[2] = c;
	lanes[3] = d;
}

void
csv_xxh32_begin(CsvXxh32 *hash)
{
	hash->lanes[0] = PRIME1 + PRIME2;
	hash->lanes[1] = PRIME2;
	hash->lanes[2] = 0;
	hash->lanes[3] = -PRIME1;
	hash->nbytes = 0;
}

void
csv_xxh32_add(CsvXxh32 *hash, const uint8_t *bytes, size_t nbytes)
{
	size_t		nrest = hash->nbytes % 16;
	size_t		nfill = Min(nbytes, (16 - nrest) % 16);
	size_t		nstripes;

	hash->nbytes += nbytes;
	memcpy(hash->rest + nrest, bytes, nfill);
	if (nfill > 0 && nrest + nfill == 16)
		add_stripes(hash->lanes, hash->rest, 16);
	if (nfill > 0 && nrest + nfill < 16)
		return;
	bytes += nfill;
	nbytes -= nfill;
	nstripes = nbytes - nbytes % 16;
	add_stripes(hash->lanes, bytes, nstripes);
	memcpy(hash->rest, bytes + nstripes, nbytes - nstripes);
}

uint32_t
csv_xxh32_value(const CsvXxh32 *hash)
{
	size_t		nrest = hash->nbytes % 16;
	uint32_t	value = hash->nbytes < 16 ? PRIME5 :
		rotate(hash->lanes[0], 1) + rotate(hash->lanes[1], 7) +
		rotate(hash->lanes[2], 12) + rotate(hash->lanes[3], 18);
	size_t		at = 0;

	value += (uint32_t) hash->nbytes;
	for (; at + 4 <= nrest; at += 4)
		value = rotate(value + little_endian(hash->rest + at) * PRIME3, 17) *
			PRIME4;
	for (; at < nrest; at++)
		value = rotate(value + hash->rest[at] * PRIME5, 11) * PRIME1;
	value = (value ^ value >> 15) * PRIME2;
	value = (value ^ value >> 13) * PRIME3;
	return value ^ value >> 16;
}
