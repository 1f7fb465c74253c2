/*
 * sink.c
 *		Files that are written, compressed or not.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "output/sink.h"
#include "table/library.h"

/* zlib gets so many bytes between checks for interrupts */
#define CSV_SLICE_BYTES		(1024 * 1024)

/* ---- compression ---- */

typedef size_t (*Bound) (size_t n);

/* returns the number of bytes at `to`; sets *failure on failure */
typedef size_t (*Compress) (void *stream, const char *bytes, size_t n, char *to,
							size_t room, const char **failure);

/* what a library does */
typedef struct Encoder
{
	void	   *(*open) (void); /* NULL: no memory */
	void		(*close) (void *stream);
	Bound		bound;			/* most bytes of a member or frame of n bytes */
	Compress	compress;
} Encoder;

struct CsvCompressor
{
	const Encoder *encoder;
	void	   *stream;
	MemoryContextCallback callback;
};

#ifdef CSV_WITH_GZIP
static void *
open_zlib(void)
{
	z_stream   *gzip = calloc(1, sizeof(z_stream));

	/* the largest window; adding 16 selects gzip's header and trailer */
	if (gzip != NULL &&
		csv_library.deflateInit2_(gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
								  MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY,
								  ZLIB_VERSION, (int) sizeof(z_stream)) == Z_OK)
		return gzip;
	free(gzip);
	return NULL;
}

static void
close_zlib(void *gzip)
{
	csv_library.deflateEnd(gzip);
	free(gzip);
}

static size_t
bound_zlib(size_t n)
{
	/* more than deflateBound() of zlib, and enough for those that stand in for it */
	return n + n / 8 + 128;
}

static size_t
compress_zlib(void *stream, const char *bytes, size_t n, char *to, size_t room,
			  const char **failure)
{
	z_stream   *gzip = stream;
	size_t		given = 0;
	int			result = Z_OK;

	csv_library.deflateReset(gzip);
	gzip->next_out = (Bytef *) to;
	gzip->avail_out = (uInt) room;
	do
	{
		size_t		slice = Min(n - given, CSV_SLICE_BYTES);

		CHECK_FOR_INTERRUPTS();
		/* the declaration lacks const */
		gzip->next_in = (Bytef *) (uintptr_t) (bytes + given);
		gzip->avail_in = (uInt) slice;
		given += slice;
		result = csv_library.deflate(gzip, given == n ? Z_FINISH : Z_NO_FLUSH);
	} while (result == Z_OK && given < n);
	if (result != Z_STREAM_END)
		*failure = "no room for the result";
	return room - gzip->avail_out;
}
#endif

#ifdef CSV_WITH_ZSTD
static void *
open_zstd(void)
{
	return csv_library.ZSTD_createCCtx();
}

static void
close_zstd(void *zstd)
{
	csv_library.ZSTD_freeCCtx(zstd);
}

static size_t
bound_zstd(size_t n)
{
	return csv_library.ZSTD_compressBound(n);
}

static size_t
compress_zstd(void *zstd, const char *bytes, size_t n, char *to, size_t room,
			  const char **failure)
{
	size_t		result = csv_library.ZSTD_compress2(zstd, to, room, bytes, n);

	if (csv_library.ZSTD_isError(result))
		*failure = csv_library.ZSTD_getErrorName(result);
	return result;
}
#endif

#ifdef CSV_WITH_LZ4
/* independent blocks, which threads can decompress, and the content's size */
static LZ4F_preferences_t
prefer(size_t n)
{
	return (LZ4F_preferences_t) {
		.frameInfo = {.blockSizeID = LZ4F_max256KB, .blockMode = LZ4F_blockIndependent,
		.contentChecksumFlag = LZ4F_contentChecksumEnabled, .contentSize = n}
	};
}

static void *
open_lz4(void)
{
	return malloc(1);
}

static size_t
bound_lz4(size_t n)
{
	LZ4F_preferences_t preferences = prefer(n);

	return csv_library.LZ4F_compressFrameBound(n, &preferences);
}

static size_t
compress_lz4(void *stream, const char *bytes, size_t n, char *to, size_t room,
			 const char **failure)
{
	LZ4F_preferences_t preferences = prefer(n);
	size_t		result = csv_library.LZ4F_compressFrame(to, room, bytes, n,
														&preferences);

	if (csv_library.LZ4F_isError(result))
		*failure = csv_library.LZ4F_getErrorName(result);
	return result;
}
#endif

static const Encoder encoders[CSV_NUM_COMPRESSIONS] = {
#ifdef CSV_WITH_GZIP
	[CSV_COMPRESSION_GZIP] = {open_zlib, close_zlib, bound_zlib, compress_zlib},
#endif
#ifdef CSV_WITH_ZSTD
	[CSV_COMPRESSION_ZSTD] = {open_zstd, close_zstd, bound_zstd, compress_zstd},
#endif
#ifdef CSV_WITH_LZ4
	[CSV_COMPRESSION_LZ4] = {open_lz4, free, bound_lz4, compress_lz4},
#endif
};

static void
release_compressor(void *arg)
{
	CsvCompressor *compressor = arg;

	compressor->encoder->close(compressor->stream);
}

CsvCompressor *
csv_compressor_create(CsvCompression compression, const char *name)
{
	CsvCompressor *compressor;

	if (compression == CSV_COMPRESSION_NONE)
		return NULL;
	csv_compression_prepare(compression, name, true);
	compressor = palloc0(sizeof(CsvCompressor));
	compressor->encoder = &encoders[compression];
	compressor->stream = compressor->encoder->open();
	if (compressor->stream == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	compressor->callback.func = release_compressor;
	compressor->callback.arg = compressor;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &compressor->callback);
	return compressor;
}

void
csv_compress(CsvCompressor *compressor, const char *bytes, size_t n,
			 CsvOutputBytes *output)
{
	const Encoder *encoder;
	const char *failure = NULL;
	size_t		room;

	if (compressor == NULL)
	{
		csv_output_bytes(output, bytes, n);
		return;
	}
	encoder = compressor->encoder;
	room = encoder->bound(n);
	output->length += encoder->compress(compressor->stream, bytes, n,
										csv_output_room(output, room), room,
										&failure);
	if (failure != NULL)
		elog(ERROR, "could not compress: %s", failure);
}

/* ---- files ---- */

void
csv_sink_open(CsvSink *sink, const char *name, int flags)
{
	/* the mode of a file that COPY TO makes */
	mode_t		mask = umask(S_IWGRP | S_IWOTH);
	struct stat st;

	sink->name = name;
	PG_TRY();
	{
		sink->fd = OpenTransientFilePerm(name, O_WRONLY | PG_BINARY | flags, 0666);
	}
	PG_FINALLY();
	{
		umask(mask);
	}
	PG_END_TRY();
	if (sink->fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\" for writing: %m", name)));
	if (fstat(sink->fd, &st) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not stat file \"%s\": %m", name)));
	sink->nbytes = st.st_size;
}

void
csv_sink_write(CsvSink *sink, const char *bytes, size_t n)
{
	while (n > 0)
	{
		ssize_t		written = pwrite(sink->fd, bytes, n, (off_t) sink->nbytes);

		if (written < 0 && errno == EINTR)
			continue;
		/* if write() does not say why, the disk is full */
		if (written == 0)
			errno = ENOSPC;
		if (written <= 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not write to file \"%s\": %m", sink->name)));
		sink->nbytes += written;
		bytes += written;
		n -= (size_t) written;
	}
}

void
csv_sink_close(CsvSink *sink, bool sync)
{
	if (sync && pg_fsync(sink->fd) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not fsync file \"%s\": %m", sink->name)));
	if (CloseTransientFile(sink->fd) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not close file \"%s\": %m", sink->name)));
}
