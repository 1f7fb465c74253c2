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
#include "table/listing.h"
#include "table/memory.h"
#include "table/text.h"

/* directories need not be readable, where there is this flag */
#ifndef O_PATH
#define O_PATH O_RDONLY
#endif

/* ---- compression ---- */

/*
 * Make a member or frame of n bytes.  Returns the number of bytes at `to`, where there is
 * room for frame_bound() bytes; sets *failure on failure.  Threads call it.
 */
typedef size_t (*CompressFn) (const char *bytes, size_t n, char *to, size_t room,
							  const char **failure);

/* a member or frame */
typedef struct Frame
{
	size_t		nbytes;			/* compressed */
	const char *failure;		/* NULL: none */
} Frame;

struct CsvCompressor
{
	CompressFn	compress;
	int			nframes;		/* that are made at a time, each by a thread */
	Frame		frames[CSV_MAX_THREADS + 1];
	CsvCrew    *crew;

	/* while the threads work */
	const char *bytes;
	size_t		nbytes;
	char	   *to;				/* with room_bytes for each frame */
	size_t		room_bytes;
};

/* no library makes more of n bytes */
static size_t
frame_bound(size_t n)
{
	return n + n / 8 + 128;
}

#ifdef CSV_WITH_GZIP
static size_t
compress_zlib(const char *bytes, size_t n, char *to, size_t room, const char **failure)
{
	/* the declaration lacks const */
	z_stream	gzip = {
		.next_in = (Bytef *) (uintptr_t) bytes, .avail_in = (uInt) n,
		.next_out = (Bytef *) to, .avail_out = (uInt) room
	};

	/* the largest window; adding 16 selects gzip's header and trailer */
	if (csv_library.deflateInit2_(&gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
								  MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY,
								  ZLIB_VERSION, (int) sizeof(z_stream)) != Z_OK)
	{
		*failure = "out of memory";
		return 0;
	}
	if (csv_library.deflate(&gzip, Z_FINISH) != Z_STREAM_END)
		*failure = "no room for the result";
	csv_library.deflateEnd(&gzip);
	return room - gzip.avail_out;
}
#endif

#ifdef CSV_WITH_ZSTD
static size_t
compress_zstd(const char *bytes, size_t n, char *to, size_t room, const char **failure)
{
	size_t		result = csv_library.ZSTD_compress(to, room, bytes, n,
												   ZSTD_CLEVEL_DEFAULT);

	if (csv_library.ZSTD_isError(result))
		*failure = csv_library.ZSTD_getErrorName(result);
	return result;
}
#endif

#ifdef CSV_WITH_LZ4
/* with independent blocks, which threads can decompress, and the content's size */
static size_t
compress_lz4(const char *bytes, size_t n, char *to, size_t room, const char **failure)
{
	LZ4F_preferences_t preferences = {
		.frameInfo = {.blockSizeID = LZ4F_max256KB, .blockMode = LZ4F_blockIndependent,
		.contentChecksumFlag = LZ4F_contentChecksumEnabled, .contentSize = n}
	};
	size_t		result = csv_library.LZ4F_compressFrame(to, room, bytes, n,
														&preferences);

	if (csv_library.LZ4F_isError(result))
		*failure = csv_library.LZ4F_getErrorName(result);
	return result;
}
#endif

static const CompressFn compress_functions[CSV_NUM_COMPRESSIONS] = {
#ifdef CSV_WITH_GZIP
	[CSV_COMPRESSION_GZIP] = compress_zlib,
#endif
#ifdef CSV_WITH_ZSTD
	[CSV_COMPRESSION_ZSTD] = compress_zstd,
#endif
#ifdef CSV_WITH_LZ4
	[CSV_COMPRESSION_LZ4] = compress_lz4,
#endif
};

CsvCompressor *
csv_compressor_create(CsvCompression compression, const char *name, int nthreads)
{
	CsvCompressor *compressor;

	if (compression == CSV_COMPRESSION_NONE)
		return NULL;
	csv_compression_prepare(compression, name, true);
	compressor = palloc0(sizeof(CsvCompressor));
	compressor->compress = compress_functions[compression];
	compressor->nframes = nthreads;
	compressor->crew = csv_crew_create(nthreads);
	return compressor;
}

/* the work of a thread */
static void
make_frame(void *arg, uint32_t part)
{
	CsvCompressor *compressor = arg;
	Frame	   *frame = &compressor->frames[part];
	size_t		start = part * (size_t) CSV_FRAME_BYTES;

	frame->failure = NULL;
	frame->nbytes =
		compressor->compress(compressor->bytes + start,
							 Min(compressor->nbytes - start, CSV_FRAME_BYTES),
							 compressor->to + part * compressor->room_bytes,
							 compressor->room_bytes, &frame->failure);
}

/* make as many frames as there are threads, at most; returns the number of bytes used */
static size_t
make_frames(CsvCompressor *compressor, const char *bytes, size_t n,
			StringInfo output)
{
	size_t		nbytes = Min(n, (size_t) compressor->nframes * CSV_FRAME_BYTES);
	uint32_t	nframes = (uint32_t) Max(1, (nbytes + CSV_FRAME_BYTES - 1) / CSV_FRAME_BYTES);

	compressor->bytes = bytes;
	compressor->nbytes = nbytes;
	compressor->room_bytes = frame_bound(Min(nbytes, CSV_FRAME_BYTES));
	compressor->to = csv_output_room(output, nframes * compressor->room_bytes);
	csv_crew_run(compressor->crew, nframes, make_frame, compressor);
	for (uint32_t i = 0; i < nframes; i++)
	{
		const Frame *frame = &compressor->frames[i];

		if (frame->failure != NULL)
			elog(ERROR, "could not compress: %s", frame->failure);
		memmove(output->data + output->len,
				compressor->to + i * compressor->room_bytes, frame->nbytes);
		output->len += frame->nbytes;
	}
	return nbytes;
}

void
csv_compress(CsvCompressor *compressor, const char *bytes, size_t n,
			 StringInfo output)
{
	size_t		done = 0;

	do
	{
		CHECK_FOR_INTERRUPTS();
		done += make_frames(compressor, bytes + done, n - done, output);
	} while (done < n);
}

/* ---- files ---- */

int
csv_make_directory(int at, const char *path)
{
	mode_t		mask = umask(S_IWGRP | S_IWOTH);
	int			result = mkdirat(at, path, S_IRWXU | S_IRWXG | S_IRWXO);

	umask(mask);
	return result;
}

void
csv_check_regular(const char *path, mode_t mode)
{
	if (!S_ISREG(mode))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a regular file", csv_shown_filename(path))));
}

void
csv_check_place(const char *path, const struct stat *st, const CsvPlace *place)
{
	if (st->st_dev != place->dev || st->st_ino != place->ino)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("directory \"%s\" is no longer the same", csv_shown_filename(path))));
}

/* open a file in the directory whose descriptor the sink has, and take its place */
static bool
open_in_place(CsvSink *sink, int flags)
{
	const char *slash = last_dir_separator(sink->name);
	mode_t		mask = umask(S_IWGRP | S_IWOTH);
	int			fd = openat(sink->fd, slash != NULL ? slash + 1 : sink->name,
							O_WRONLY | O_CLOEXEC | flags, 0666);
	int			error = fd < 0 || dup2(fd, sink->fd) < 0 ? errno : 0;

	umask(mask);
	if (fd >= 0)
		close(fd);
	errno = error;
	return error == 0;
}

void
csv_sink_open(CsvSink *sink, const char *name, const CsvPlace *place, int flags)
{
	const char *directory = csv_directory_of(name);
	struct stat st;

	/* an ERROR closes it */
	sink->name = name;
	sink->fd = OpenTransientFile(directory, O_PATH | O_DIRECTORY);
	if (sink->fd < 0 || fstat(sink->fd, &st) != 0)
		csv_fail_on_file("could not open file \"%s\" for writing: %m", name, "write");
	if (place != NULL)
		csv_check_place(directory, &st, place);
	if (!open_in_place(sink, place != NULL ? flags | O_NOFOLLOW | O_NONBLOCK : flags))
		csv_fail_on_file("could not open file \"%s\" for writing: %m", name, "write");
	if (fstat(sink->fd, &st) != 0)
		csv_fail_on_file("could not stat file \"%s\": %m", name, "write");
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
			csv_fail_on_file("could not write to file \"%s\": %m", sink->name, "write");
		sink->nbytes += written;
		bytes += written;
		n -= (size_t) written;
	}
}

void
csv_sink_close(CsvSink *sink, bool sync)
{
	if (sync && pg_fsync(sink->fd) != 0)
		csv_fail_on_file("could not fsync file \"%s\": %m", sink->name, "write");
	if (CloseTransientFile(sink->fd) != 0)
		csv_fail_on_file("could not close file \"%s\": %m", sink->name, "write");
}
