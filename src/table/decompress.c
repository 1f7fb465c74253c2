/*
 * decompress.c
 *		Files of gzip, zstd and LZ4, decompressed as they are read.
 *
 * Compressed bytes go through `input`; what the library makes of them goes
 * straight to the caller's buffer, so that memory is bounded whatever a file
 * would grow to: 64 kB here, and the library's window (32 kB for gzip, 4 MB for
 * LZ4, and for zstd what its tool allows by default, 128 MB; a frame that wants
 * more is refused).
 *
 * When so much of a regular file has been read that the rest is worth it, a
 * thread goes on with it, ahead of the caller (ahead.c): 4 MB more.  It leaves
 * what went wrong in the struct, for the caller's thread to raise when all that
 * came before has been read.  advance() and what it calls is for both, and calls
 * nothing of PostgreSQL.
 *
 * As the tools do, a file may hold several members or frames, one after the
 * other.  Anything else behind the first is an ERROR: to pass over it would be
 * to lose rows where it was a damaged member.  Zero bytes behind a gzip member
 * are padding, as they are to gzip.
 */
#include "postgres.h"

#include <unistd.h>

#include "miscadmin.h"

#include "table/ahead.h"
#include "table/decompress.h"

#ifdef CSV_WITH_GZIP
#include <zlib.h>
#endif
#ifdef CSV_WITH_ZSTD
#include <zstd.h>
#endif
#ifdef CSV_WITH_LZ4
#include <lz4frame.h>
#endif

#define INPUT_BYTES		(64 * 1024)

/* most bytes made at a time: some milliseconds, after which a cancel is seen */
#define MAX_OUTPUT_BYTES	(4 * 1024 * 1024)

/* most bytes the thread consumes at a time: some input makes no output */
#define MAX_CONSUMED_BYTES	(1024 * 1024)

/* what the caller has had when the thread begins: few rows need none */
#define CSV_AHEAD_AFTER_BYTES	(1024 * 1024)

struct CsvDecompressor
{
	CsvReadFn	read;
	void	   *arg;
	CsvCompression compression;
	const char *name;
	MemoryContextCallback callback;

	int			fd;				/* of a file for the thread to read, or -1 */
	uint64		ndelivered;		/* bytes, before there was a thread */
	CsvAhead   *ahead;			/* NULL: no thread; else all below is its */

	uint64		offset;			/* of the byte at `start` in the file */
	size_t		start;			/* input not consumed yet */
	size_t		end;
	bool		at_end;			/* no more input will come */
	bool		between;		/* the last member or frame is complete */
	bool		any;			/* some member or frame is */
	bool		padding;		/* zero bytes stood behind it */
	bool		finished;		/* no more output will come */
	const char *failure;		/* NULL: none */
	int			read_error;		/* of the thread's, or 0 */

#ifdef CSV_WITH_GZIP
	z_stream	gzip;
	bool		gzip_open;
#endif
#ifdef CSV_WITH_ZSTD
	ZSTD_DStream *zstd;
#endif
#ifdef CSV_WITH_LZ4
	LZ4F_dctx  *lz4;
#endif
	uint8_t		input[INPUT_BYTES];
};

/* what a library has done in one call */
typedef struct Decoded
{
	size_t		consumed;
	size_t		produced;
	const char *failure;		/* NULL: none */
} Decoded;

/* ---- which ---- */

static const struct
{
	const char *suffix;
	CsvCompression compression;
	const char *name;			/* as the option has it */
	const char *magic;			/* what files begin with */
}			suffixes[] =
{
	{".gz", CSV_COMPRESSION_GZIP, "gzip", "\x1f\x8b"},
	{".zst", CSV_COMPRESSION_ZSTD, "zstd", "\x28\xb5\x2f\xfd"},
	{".lz4", CSV_COMPRESSION_LZ4, "lz4", "\x04\x22\x4d\x18"}
};

/* the index in suffixes; -1: none of them */
static int
find_suffix(const char *filename)
{
	size_t		length = strlen(filename);

	for (int i = 0; i < (int) lengthof(suffixes); i++)
	{
		size_t		nbytes = strlen(suffixes[i].suffix);

		if (length > nbytes &&
			pg_strcasecmp(filename + length - nbytes, suffixes[i].suffix) == 0)
			return i;
	}
	return -1;
}

CsvCompression
csv_compression_of(const char *filename, CsvCompression choice)
{
	int			found;

	if (choice != CSV_COMPRESSION_AUTO)
		return choice;
	found = find_suffix(filename);
	return found < 0 ? CSV_COMPRESSION_NONE : suffixes[found].compression;
}

size_t
csv_name_without_compression(const char *filename)
{
	int			found = find_suffix(filename);

	return strlen(filename) -
		(found < 0 ? 0 : strlen(suffixes[found].suffix));
}

static bool
begins_with(const uint8_t *bytes, size_t nbytes, const char *magic)
{
	return nbytes >= strlen(magic) && memcmp(bytes, magic, strlen(magic)) == 0;
}

void
csv_check_not_compressed(const char *name, const uint8_t *bytes, size_t nbytes)
{
	for (int i = 0; i < (int) lengthof(suffixes); i++)
		if (begins_with(bytes, nbytes, suffixes[i].magic))
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("\"%s\" is compressed by %s",
							name, suffixes[i].name),
					 errhint("Set the option \"compression\" of the table to \"%s\", or give the file the suffix \"%s\".",
							 suffixes[i].name, suffixes[i].suffix)));
	if (begins_with(bytes, nbytes, "PK\x03\x04"))
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("\"%s\" is a zip archive or a spreadsheet", name),
				 errhint("Unpack the archive, or save the sheet as CSV.")));
}

/* ---- begin and end ---- */

void
csv_decompressor_end(CsvDecompressor *decompressor)
{
	if (decompressor->ahead != NULL)
		csv_ahead_stop(decompressor->ahead);
	decompressor->ahead = NULL;
#ifdef CSV_WITH_GZIP
	if (decompressor->gzip_open)
		inflateEnd(&decompressor->gzip);
	decompressor->gzip_open = false;
#endif
#ifdef CSV_WITH_ZSTD
	ZSTD_freeDStream(decompressor->zstd);
	decompressor->zstd = NULL;
#endif
#ifdef CSV_WITH_LZ4
	if (decompressor->lz4 != NULL)
		LZ4F_freeDecompressionContext(decompressor->lz4);
	decompressor->lz4 = NULL;
#endif
}

/* the reset callback */
static void
release_decompressor(void *arg)
{
	csv_decompressor_end(arg);
}

CsvDecompressor *
csv_decompressor_create(CsvReadFn read, void *arg)
{
	CsvDecompressor *decompressor = palloc0(sizeof(CsvDecompressor));

	decompressor->read = read;
	decompressor->arg = arg;
	decompressor->callback.func = release_decompressor;
	decompressor->callback.arg = decompressor;
	MemoryContextRegisterResetCallback(CurrentMemoryContext,
									   &decompressor->callback);
	return decompressor;
}

/* have the library begin; false if it has no memory */
static bool
open_library(CsvDecompressor *decompressor)
{
	const char *missing = NULL;
	const char *package = NULL;	/* Debian's, of its headers */

	switch (decompressor->compression)
	{
		case CSV_COMPRESSION_GZIP:
#ifdef CSV_WITH_GZIP
			memset(&decompressor->gzip, 0, sizeof(decompressor->gzip));
			/* the largest window; 16: gzip's header and trailer */
			decompressor->gzip_open = inflateInit2(&decompressor->gzip,
												   MAX_WBITS + 16) == Z_OK;
			return decompressor->gzip_open;
#else
			missing = "gzip";
			package = "zlib1g-dev";
			break;
#endif
		case CSV_COMPRESSION_ZSTD:
#ifdef CSV_WITH_ZSTD
			decompressor->zstd = ZSTD_createDStream();
			return decompressor->zstd != NULL;
#else
			missing = "zstd";
			package = "libzstd-dev";
			break;
#endif
		case CSV_COMPRESSION_LZ4:
#ifdef CSV_WITH_LZ4
			return !LZ4F_isError(LZ4F_createDecompressionContext(&decompressor->lz4,
																 LZ4F_VERSION));
#else
			missing = "lz4";
			package = "liblz4-dev";
			break;
#endif
		default:
			elog(ERROR, "unexpected compression: %d",
				 (int) decompressor->compression);
	}
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("could not decompress \"%s\": this build of csv_gpu_fdw has no %s",
					decompressor->name, missing),
			 errhint("Install its headers (on Debian, %s), then run \"make\" and \"make install\" again. PostgreSQL must have been built with it, too.",
					 package)));
	return false;
}

void
csv_decompressor_begin(CsvDecompressor *decompressor,
					   CsvCompression compression, const char *name, int fd)
{
	csv_decompressor_end(decompressor);
	decompressor->compression = compression;
	decompressor->name = name;
	decompressor->fd = fd;
	decompressor->ndelivered = 0;
	decompressor->offset = 0;
	decompressor->start = decompressor->end = 0;
	decompressor->at_end = false;
	decompressor->between = false;
	decompressor->any = false;
	decompressor->padding = false;
	decompressor->finished = false;
	decompressor->failure = NULL;
	decompressor->read_error = 0;
	if (!open_library(decompressor))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
}

/* ---- the libraries ---- */

#ifdef CSV_WITH_GZIP
static void
step_gzip(CsvDecompressor *decompressor, uint8_t *buffer, size_t nbytes,
		  Decoded *step)
{
	z_stream   *gzip = &decompressor->gzip;
	size_t		available = decompressor->end - decompressor->start;
	int			result;

	if (decompressor->between)
		inflateReset(gzip);
	gzip->next_in = decompressor->input + decompressor->start;
	gzip->avail_in = (uInt) available;
	gzip->next_out = buffer;
	gzip->avail_out = (uInt) nbytes;
	result = inflate(gzip, Z_NO_FLUSH);
	step->consumed = available - gzip->avail_in;
	step->produced = nbytes - gzip->avail_out;
	decompressor->between = result == Z_STREAM_END;

	/* Z_BUF_ERROR is no error: more input is wanted */
	if (result == Z_MEM_ERROR)
		step->failure = "out of memory";
	else if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
		step->failure = gzip->msg != NULL ? gzip->msg : "invalid data";
}
#endif

#ifdef CSV_WITH_ZSTD
static void
step_zstd(CsvDecompressor *decompressor, uint8_t *buffer, size_t nbytes,
		  Decoded *step)
{
	ZSTD_inBuffer in = {decompressor->input + decompressor->start,
	decompressor->end - decompressor->start, 0};
	ZSTD_outBuffer out = {buffer, nbytes, 0};
	size_t		result = ZSTD_decompressStream(decompressor->zstd, &out, &in);

	step->consumed = in.pos;
	step->produced = out.pos;
	decompressor->between = result == 0;
	if (ZSTD_isError(result))
		step->failure = ZSTD_getErrorName(result);
}
#endif

#ifdef CSV_WITH_LZ4
static void
step_lz4(CsvDecompressor *decompressor, uint8_t *buffer, size_t nbytes,
		 Decoded *step)
{
	size_t		result;

	step->consumed = decompressor->end - decompressor->start;
	step->produced = nbytes;
	result = LZ4F_decompress(decompressor->lz4, buffer, &step->produced,
							 decompressor->input + decompressor->start,
							 &step->consumed, NULL);
	decompressor->between = result == 0;
	if (LZ4F_isError(result))
	{
		/* the counts say nothing then */
		step->consumed = step->produced = 0;
		step->failure = LZ4F_getErrorName(result);
	}
}
#endif

static void
decompress(CsvDecompressor *decompressor, uint8_t *buffer, size_t nbytes,
		   Decoded *step)
{
	step->consumed = step->produced = 0;
	step->failure = NULL;
	switch (decompressor->compression)
	{
#ifdef CSV_WITH_GZIP
		case CSV_COMPRESSION_GZIP:
			step_gzip(decompressor, buffer, nbytes, step);
			break;
#endif
#ifdef CSV_WITH_ZSTD
		case CSV_COMPRESSION_ZSTD:
			step_zstd(decompressor, buffer, nbytes, step);
			break;
#endif
#ifdef CSV_WITH_LZ4
		case CSV_COMPRESSION_LZ4:
			step_lz4(decompressor, buffer, nbytes, step);
			break;
#endif
		default:
			step->failure = "unexpected compression";
	}
}

/* ---- bytes ---- */

/*
 * Between two members of gzip: pass over zero bytes, behind which nothing else
 * may stand.
 */
static void
pass_padding(CsvDecompressor *decompressor)
{
	while (decompressor->start < decompressor->end &&
		   decompressor->input[decompressor->start] == 0)
	{
		decompressor->start++;
		decompressor->offset++;
		decompressor->padding = true;
	}
	if (decompressor->padding && decompressor->start < decompressor->end)
		decompressor->failure = "trailing garbage";
}

static bool
wants_input(const CsvDecompressor *decompressor)
{
	return decompressor->start == decompressor->end && !decompressor->at_end;
}

/*
 * Make up to nbytes bytes of the input that is there.  Returns how many; 0 also
 * where more input is wanted, where the file is finished, and at a failure.
 */
static size_t
advance(CsvDecompressor *decompressor, uint8_t *buffer, size_t nbytes)
{
	Decoded		step;

	if (decompressor->between)
	{
		if (decompressor->compression == CSV_COMPRESSION_GZIP)
			pass_padding(decompressor);
		if (decompressor->start == decompressor->end)
			decompressor->finished = decompressor->at_end;
		if (decompressor->start == decompressor->end ||
			decompressor->failure != NULL)
			return 0;
	}

	/* also at the end of input: the library may hold output back */
	decompress(decompressor, buffer, nbytes, &step);
	decompressor->start += step.consumed;
	decompressor->offset += step.consumed;
	decompressor->failure = step.failure;
	if (step.failure != NULL)
		return 0;
	decompressor->any |= decompressor->between;
	if (step.produced == 0 && decompressor->at_end && !decompressor->between)
		decompressor->failure = "unexpected end of file";
	return step.produced;
}

/* ---- the thread ---- */

/* false at an error */
static bool
read_input(CsvDecompressor *decompressor)
{
	ssize_t		nread;

	do
		nread = pread(decompressor->fd, decompressor->input, INPUT_BYTES,
					  (off_t) decompressor->offset);
	while (nread < 0 && errno == EINTR);
	if (nread < 0)
	{
		decompressor->read_error = errno;
		return false;
	}
	decompressor->start = 0;
	decompressor->end = (size_t) nread;
	decompressor->at_end = nread == 0;
	return true;
}

/* a CsvMakeFn */
static bool
make_ahead(void *arg, uint8_t *buffer, size_t nbytes, size_t *nmade)
{
	CsvDecompressor *decompressor = arg;
	uint64		until = decompressor->offset + MAX_CONSUMED_BYTES;

	*nmade = 0;
	while (*nmade < nbytes && decompressor->offset < until)
	{
		if (wants_input(decompressor) && !read_input(decompressor))
			return false;
		*nmade += advance(decompressor, buffer + *nmade, nbytes - *nmade);
		if (decompressor->finished || decompressor->failure != NULL)
			return false;
	}
	return true;
}

/* ---- read ---- */

static void
fail(const CsvDecompressor *decompressor)
{
	/* of what is not compressed, the first bytes say so */
	bool		at_header = !decompressor->any && decompressor->offset < 16;

	if (decompressor->read_error != 0)
	{
		errno = decompressor->read_error;
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from file \"%s\": %m",
						decompressor->name)));
	}
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 errmsg("could not decompress \"%s\": %s",
					decompressor->name, decompressor->failure),
			 errdetail("At byte offset %llu of the compressed file.",
					   (unsigned long long) decompressor->offset),
			 at_header && !decompressor->at_end ?
			 errhint("If the file is not compressed, set the option \"compression\" of the table to \"none\".") : 0));
}

static void
fill_input(CsvDecompressor *decompressor)
{
	if (!wants_input(decompressor))
		return;
	decompressor->start = 0;
	decompressor->end = decompressor->read(decompressor->arg,
										   decompressor->input, INPUT_BYTES);
	decompressor->at_end = decompressor->end == 0;
}

/* as csv_decompressor_read, in this thread */
static size_t
read_here(CsvDecompressor *decompressor, uint8_t *buffer, size_t nbytes)
{
	size_t		nmade = 0;

	while (nmade == 0 && !decompressor->finished &&
		   decompressor->failure == NULL)
	{
		CHECK_FOR_INTERRUPTS();
		fill_input(decompressor);
		nmade = advance(decompressor, buffer, Min(nbytes, MAX_OUTPUT_BYTES));
	}
	decompressor->ndelivered += nmade;
	return nmade;
}

size_t
csv_decompressor_read(CsvDecompressor *decompressor, uint8_t *buffer,
					  size_t nbytes)
{
	size_t		nread;

	if (decompressor->fd >= 0 && decompressor->ahead == NULL &&
		!decompressor->finished &&
		decompressor->ndelivered >= CSV_AHEAD_AFTER_BYTES)
	{
		decompressor->ahead = csv_ahead_start(make_ahead, decompressor);
		if (decompressor->ahead == NULL)
			decompressor->fd = -1;
	}
	nread = decompressor->ahead != NULL ?
		csv_ahead_read(decompressor->ahead, buffer, nbytes) :
		read_here(decompressor, buffer, nbytes);
	if (nread == 0 &&
		(decompressor->failure != NULL || decompressor->read_error != 0))
		fail(decompressor);
	return nread;
}
