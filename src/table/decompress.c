/*
 * decompress.c
 *		Files of gzip, zstd and LZ4, decompressed as they are read.
 *
 * Compressed bytes go through `input`, and decompressed bytes through `output`, of 64
 * kB each.  So memory is bounded for any file: the two buffers and the library's
 * window (32 kB for gzip, 4 MB for LZ4, and 128 MB for zstd, the default limit of its
 * command-line tool; a frame with a larger window is an ERROR).  Both buffers begin at
 * the same offsets of a file, however many bytes the caller wants, because they affect
 * where zstd and LZ4 report that a file is damaged.
 *
 * When enough of a regular file has been read, threads continue ahead of the caller
 * (ahead.c), from the member or frame that was begun.  At the end, and where a file is
 * damaged, the threads stop, and this file continues from there.  So neither the error
 * message nor the bytes before the error depend on the threads.
 *
 * As with the command-line tools, a file may consist of several members or frames.
 * Anything else behind the first is an ERROR: ignoring it would lose rows if it was a
 * damaged member.  Zero bytes behind a gzip member are padding, as in gzip.
 */
#include "postgres.h"

#include <unistd.h>

#include "miscadmin.h"

#include "table/ahead.h"
#include "table/codec.h"
#include "table/decompress.h"
#include "table/interrupts.h"

#define INPUT_BYTES		(64 * 1024)

#define OUTPUT_BYTES	(64 * 1024)

/* bytes delivered before threads start: a scan that wants few rows needs no threads */
#define CSV_AHEAD_AFTER_BYTES	(1024 * 1024)

struct CsvDecompressor
{
	CsvReadFn	read;
	CsvSeekFn	seek;
	void	   *arg;
	bool		has_options;
	CsvCompression compression;
	const char *name;
	CsvCodec   *codec;			/* NULL: none is open */
	MemoryContextCallback callback;

	int			fd;				/* descriptor that threads may read, or -1 */
	bool		is_file;		/* fd was a descriptor at first */
	uint64		file_end;		/* threads read no bytes behind it */
	int			nthreads;		/* most threads */
	uint64		ndelivered;		/* bytes delivered before the threads started */
	CsvMarks   *marks;			/* for the threads; or NULL */
	CsvAhead   *ahead;			/* NULL: no threads, and the fields below are used */

	uint64		offset;			/* in the file, of the byte at `start` */
	size_t		start;			/* input not consumed yet */
	size_t		end;
	bool		at_end;			/* no more input will come */
	bool		between;		/* the last member or frame is complete */
	bool		any;			/* a member or frame has been completed */
	uint64		frame_start;	/* offset of the current member or frame, ... */
	uint64		frame_bytes;	/* ... and the number of bytes decompressed from it */
	uint64		skip;			/* bytes to drop, because they were delivered before */
	bool		padding;		/* zero bytes were found behind a member */
	bool		finished;		/* no more output will come */
	const char *failure;		/* NULL: none */
	uint8_t		input[INPUT_BYTES];

	size_t		output_start;	/* output not delivered yet */
	size_t		output_end;
	uint8_t		output[OUTPUT_BYTES];
};

/* ---- which compression ---- */

static const struct
{
	const char *suffix;
	CsvCompression compression; /* AUTO: recognized, but not read */
	const char *name;			/* as in the option */
	size_t		at;
	const char *magic;			/* bytes of such files at offset `at` */
	const char *package;		/* Debian's, with the library's headers */
}			formats[] =
{
	{".gz", CSV_COMPRESSION_GZIP, "gzip", 0, "\x1f\x8b", "zlib1g-dev"},
	{".zst", CSV_COMPRESSION_ZSTD, "zstd", 0, "\x28\xb5\x2f\xfd", "libzstd-dev"},
	{".lz4", CSV_COMPRESSION_LZ4, "lz4", 0, "\x04\x22\x4d\x18", "liblz4-dev"},
	{".bz2", CSV_COMPRESSION_AUTO, "bzip2", 4, "1AY&SY", NULL},
	{".xz", CSV_COMPRESSION_AUTO, "xz", 0, "\xfd" "7zXZ", NULL},
	{".zip", CSV_COMPRESSION_AUTO, "zip", 0, "PK\x03\x04", NULL}
};

/* the index in formats of a format that is read, or not; -1: no suffix matches */
static int
find_suffix(const char *filename, bool is_read)
{
	size_t		length = strlen(filename);

	for (int i = 0; i < (int) lengthof(formats); i++)
	{
		size_t		nbytes = strlen(formats[i].suffix);

		if ((formats[i].compression != CSV_COMPRESSION_AUTO) == is_read &&
			length > nbytes &&
			pg_strcasecmp(filename + length - nbytes, formats[i].suffix) == 0)
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
	found = find_suffix(filename, true);
	return found < 0 ? CSV_COMPRESSION_NONE : formats[found].compression;
}

CsvCompression
csv_file_compression(const CsvTable *table, const char *name)
{
	if (table->program != NULL &&
		table->compression == CSV_COMPRESSION_AUTO)
		return CSV_COMPRESSION_NONE;
	return csv_compression_of(name, table->compression);
}

size_t
csv_name_without_compression(const char *filename, bool is_read)
{
	int			found = find_suffix(filename, is_read);

	return strlen(filename) - (found < 0 ? 0 : strlen(formats[found].suffix));
}

const char *
csv_compression_suffix(CsvCompression compression)
{
	for (size_t i = 0; i < lengthof(formats); i++)
		if (formats[i].compression == compression)
			return formats[i].suffix;
	return "";
}

/* the index in formats of what begins with these bytes; -1: nothing */
static int
find_magic(const uint8_t *bytes, size_t nbytes)
{
	for (int i = 0; i < (int) lengthof(formats); i++)
	{
		size_t		at = formats[i].at;
		size_t		length = strlen(formats[i].magic);

		if (at + length <= nbytes && memcmp(bytes + at, formats[i].magic, length) == 0 &&
			(at == 0 || memcmp(bytes, "BZh", 3) == 0))
			return i;
	}
	return -1;
}

bool
csv_begins_compressed(const uint8_t *bytes, size_t nbytes)
{
	return find_magic(bytes, nbytes) >= 0;
}

void
csv_check_not_compressed(const CsvTable *table, const char *name, const uint8_t *bytes,
						 size_t nbytes)
{
	int			i = find_magic(bytes, nbytes);
	bool		is_read = i >= 0 && formats[i].compression != CSV_COMPRESSION_AUTO;

	if (i < 0)
		return;
	if (strcmp(formats[i].name, "zip") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("\"%s\" is a zip archive or a spreadsheet", name),
				 errhint("Unpack the archive, or save the sheet as CSV.")));
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 errmsg("\"%s\" is compressed by %s", name, formats[i].name),
			 table->program != NULL ?
			 errhint(is_read ? "Set the option \"compression\" of the table to \"%s\"." :
					 "Add \"| %s -dc\" to the program.", formats[i].name) :
			 !OidIsValid(table->relid) ?
			 (is_read ? errhint("Give the file the suffix \"%s\", or add OPTIONS (compression '%s') to IMPORT FOREIGN SCHEMA.",
								formats[i].suffix, formats[i].name) :
			  errhint("Decompress the file.")) :
			 is_read ?
			 errhint("Set the option \"compression\" of the table to \"%s\", or give the file the suffix \"%s\".",
					 formats[i].name, formats[i].suffix) :
			 errhint("Decompress the file, or set the option \"program\" of the table instead of \"filename\": '%s -dc ...'.",
					 formats[i].name)));
}

void
csv_compression_prepare(CsvCompression compression, const char *name, bool is_output)
{
	CsvLibraryFailure failure;
	int			row = 0;

	while (formats[row].compression != compression)
		row++;
	if (csv_codec_prepare(compression, &failure))
		return;
	if (failure.name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 is_output ?
				 errmsg("could not compress \"%s\": this build of csv_gpu_fdw has no %s",
						name, formats[row].name) :
				 errmsg("could not decompress \"%s\": this build of csv_gpu_fdw has no %s",
						name, formats[row].name),
				 errhint("Install its headers (on Debian, %s), then run \"make\" and \"make install\" again. PostgreSQL must have been built with it, too.",
						 formats[row].package)));
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_FILE),
			 is_output ?
			 errmsg("could not compress \"%s\": could not load library \"%s\"",
					name, failure.name) :
			 errmsg("could not decompress \"%s\": could not load library \"%s\"",
					name, failure.name),
			 errdetail_internal("%s", failure.reason),
			 errhint("Install the library (on Debian, %s).",
					 failure.package)));
}

/* ---- complete members and frames ---- */

/*
 * Decompresses input at offset *at, and moves it.  *end is where the last member or frame
 * ends.  Returns false if the input is damaged.
 */
static bool
pass_input(CsvCodec *codec, CsvCompression compression, const uint8_t *input,
		   size_t ninput, uint8_t *output, uint64 *at, uint64 *end)
{
	CsvDecoded	step = {.produced = 1};

	while (ninput > 0 || (step.produced > 0 && !step.complete))
	{
		csv_check_interrupts();
		if (compression == CSV_COMPRESSION_GZIP && *at == *end && *input == 0)
			step = (CsvDecoded) {.consumed = 1, .complete = true};	/* padding */
		else
			csv_codec_step(codec, input, ninput, output, OUTPUT_BYTES, &step);
		if (step.failure != NULL)
			return false;
		input += step.consumed;
		ninput -= step.consumed;
		*at += step.consumed;
		if (step.complete)
			*end = *at;
	}
	return true;
}

/* ---- begin and end ---- */

void
csv_decompressor_end(CsvDecompressor *decompressor)
{
	if (decompressor->ahead != NULL)
		csv_ahead_stop(decompressor->ahead);
	decompressor->ahead = NULL;
	csv_marks_close(decompressor->marks);
	decompressor->marks = NULL;
	csv_codec_close(decompressor->codec);
	decompressor->codec = NULL;
}

/* the reset callback */
static void
release_decompressor(void *arg)
{
	csv_decompressor_end(arg);
}

CsvDecompressor *
csv_decompressor_create(CsvReadFn read, CsvSeekFn seek, void *arg, bool has_options)
{
	CsvDecompressor *decompressor = palloc0(sizeof(CsvDecompressor));

	decompressor->read = read;
	decompressor->seek = seek;
	decompressor->arg = arg;
	decompressor->has_options = has_options;
	decompressor->callback.func = release_decompressor;
	decompressor->callback.arg = decompressor;
	MemoryContextRegisterResetCallback(CurrentMemoryContext,
									   &decompressor->callback);
	return decompressor;
}

/* starts the library at the beginning of a member or frame */
static void
begin_at(CsvDecompressor *decompressor, uint64 offset)
{
	decompressor->offset = decompressor->frame_start = offset;
	decompressor->frame_bytes = 0;
	decompressor->start = decompressor->end = 0;
	decompressor->output_start = decompressor->output_end = 0;
	decompressor->at_end = false;
	decompressor->any = decompressor->between = offset > 0;
	decompressor->padding = false;
	decompressor->codec = csv_codec_open(decompressor->compression, false);
	if (decompressor->codec == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
}

/*
 * The end of the file's last complete member or frame before nbytes; nbytes if a part
 * before is damaged.  end: of one before, or 0.
 */
static uint64
complete_end(CsvDecompressor *decompressor, uint64 end, uint64 nbytes)
{
	const CsvCompression compression = decompressor->compression;
	uint8_t    *input = palloc(INPUT_BYTES + OUTPUT_BYTES);
	uint64		at = end;
	bool		is_good;
	CsvMarks   *marks = NULL;

	decompressor->codec = csv_codec_open(compression, true);
	is_good = decompressor->codec != NULL;
	if (is_good && compression == CSV_COMPRESSION_GZIP)
		marks = decompressor->marks = csv_marks_open(decompressor->fd, true,
													 nbytes);
	if (marks != NULL && marks->nknown > 0)
	{
		const CsvMark *last = &marks->known[marks->nknown - 1];

		if (last->member >= end &&
			csv_codec_load(decompressor->codec, marks->file, last->state_at,
						   last->state_bytes))
		{
			at = last->offset;
			end = last->member;
		}
		else
			csv_codec_restart(decompressor->codec);
	}
	while (is_good && at < nbytes)
	{
		ssize_t		nread = pread(decompressor->fd, input, Min(INPUT_BYTES, nbytes - at),
								  (off_t) at);

		if (nread > 0)
			is_good = pass_input(decompressor->codec, compression, input, (size_t) nread,
								 input + INPUT_BYTES, &at, &end);
		else if (nread == 0 || errno != EINTR)
			break;
	}
	csv_codec_close(decompressor->codec);
	decompressor->codec = NULL;
	pfree(input);
	if (!is_good)
		return nbytes;
	/* those of a member that is not complete yet, as far as this scan knows */
	while (marks != NULL && marks->nknown > 0 &&
		   marks->known[marks->nknown - 1].offset > end)
		marks->nknown--;
	return end;
}

void
csv_decompressor_begin(CsvDecompressor *decompressor,
					   CsvCompression compression, const char *name,
					   int fd, uint64 *end, uint64 complete, int nthreads)
{
	csv_decompressor_end(decompressor);
	csv_compression_prepare(compression, name, false);
	decompressor->compression = compression;
	decompressor->name = name;
	decompressor->fd = fd;
	decompressor->is_file = fd >= 0;
	if (end != NULL)
		*end = complete_end(decompressor, complete <= *end ? complete : 0, *end);
	decompressor->file_end = end != NULL ? *end : PG_UINT64_MAX;
	decompressor->nthreads = nthreads;
	decompressor->ndelivered = 0;
	decompressor->skip = 0;
	decompressor->finished = false;
	decompressor->failure = NULL;
	begin_at(decompressor, 0);
	/* no member or frame is complete yet */
	if (end != NULL && *end == 0)
		decompressor->between = true;
}

/* ---- bytes ---- */

/*
 * Between two members of gzip: skips zero bytes, which must not be followed by other
 * bytes.
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

/*
 * Decompresses the available input.  Produces no output if more input is needed, at
 * the end of the file, and on failure.
 */
static void
advance(CsvDecompressor *decompressor)
{
	CsvDecoded	step;

	if (decompressor->between)
	{
		if (decompressor->compression == CSV_COMPRESSION_GZIP)
			pass_padding(decompressor);
		if (decompressor->start == decompressor->end)
			decompressor->finished = decompressor->at_end;
		if (decompressor->start == decompressor->end ||
			decompressor->failure != NULL)
			return;
	}

	/* call it even at the end of input: the library may hold output back */
	csv_codec_step(decompressor->codec,
				   decompressor->input + decompressor->start,
				   decompressor->end - decompressor->start,
				   decompressor->output, OUTPUT_BYTES, &step);
	decompressor->start += step.consumed;
	decompressor->offset += step.consumed;
	decompressor->between = step.complete;
	decompressor->failure = step.failure;
	if (step.failure != NULL)
		return;
	decompressor->output_start = Min(decompressor->skip, step.produced);
	decompressor->output_end = step.produced;
	decompressor->skip -= decompressor->output_start;
	decompressor->frame_bytes += step.produced;
	if (step.complete)
	{
		decompressor->any = true;
		decompressor->frame_start = decompressor->offset;
		decompressor->frame_bytes = 0;
	}
	if (step.produced == 0 && decompressor->at_end && !decompressor->between)
		decompressor->failure = "unexpected end of file";
}

/* ---- read ---- */

static void
fail(const CsvDecompressor *decompressor)
{
	/* a file that is not compressed fails at its first bytes */
	bool		at_header = !decompressor->any && decompressor->offset < 16;

	if (decompressor->failure == csv_codec_no_memory)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed while decompressing \"%s\".",
						   decompressor->name)));
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 errmsg("could not decompress \"%s\": %s",
					decompressor->name, decompressor->failure),
			 errdetail("At byte offset %llu of the compressed file.",
					   (unsigned long long) decompressor->offset),
			 !at_header || decompressor->at_end ? 0 : !decompressor->has_options ?
			 errhint("If the file is not compressed, rename it.") :
			 errhint("If the file is not compressed, set the option \"compression\" of the table to \"none\".")));
}

/* reads a regular file in the same pieces, wherever reading begins */
static void
fill_input(CsvDecompressor *decompressor)
{
	size_t		nbytes = INPUT_BYTES;

	if (decompressor->start < decompressor->end || decompressor->at_end)
		return;
	if (decompressor->is_file)
		nbytes -= decompressor->offset % INPUT_BYTES;
	decompressor->start = 0;
	decompressor->end = decompressor->read(decompressor->arg,
										   decompressor->input, nbytes);
	decompressor->at_end = decompressor->end == 0;
}

/* like csv_decompressor_read(), in this thread */
static size_t
read_here(CsvDecompressor *decompressor, uint8_t *buffer, size_t nbytes)
{
	size_t		nread;

	while (decompressor->output_start == decompressor->output_end &&
		   !decompressor->finished && decompressor->failure == NULL)
	{
		csv_check_interrupts();
		fill_input(decompressor);
		advance(decompressor);
	}
	nread = Min(nbytes, decompressor->output_end - decompressor->output_start);
	memcpy(buffer, decompressor->output + decompressor->output_start, nread);
	decompressor->output_start += nread;
	decompressor->ndelivered += nread;
	return nread;
}

/* reads from the threads, and starts them in time; 0: none, or they can do no more */
static size_t
read_ahead(CsvDecompressor *decompressor, uint8_t *buffer, size_t nbytes)
{
	size_t		nread;
	uint64_t	start;

	if (decompressor->fd >= 0 && decompressor->ahead == NULL &&
		!decompressor->finished &&
		decompressor->output_start == decompressor->output_end &&
		decompressor->ndelivered >= CSV_AHEAD_AFTER_BYTES)
	{
		if (decompressor->compression == CSV_COMPRESSION_GZIP &&
			decompressor->marks == NULL)
			decompressor->marks = csv_marks_open(decompressor->fd, false,
												 PG_UINT64_MAX);
		decompressor->ahead = csv_ahead_start(decompressor->fd,
											  decompressor->compression,
											  decompressor->nthreads,
											  decompressor->file_end,
											  decompressor->frame_start,
											  decompressor->frame_bytes,
											  decompressor->marks);
		if (decompressor->ahead == NULL)
			decompressor->fd = -1;
	}
	if (decompressor->ahead == NULL)
		return 0;
	nread = csv_ahead_read(decompressor->ahead, buffer, nbytes);
	if (nread > 0)
		return nread;

	/* this thread does the rest */
	csv_ahead_left(decompressor->ahead, &start, &decompressor->skip);
	csv_decompressor_end(decompressor);
	decompressor->fd = -1;
	begin_at(decompressor, start);
	decompressor->seek(decompressor->arg, start);
	return 0;
}

size_t
csv_decompressor_read(CsvDecompressor *decompressor, uint8_t *buffer,
					  size_t nbytes)
{
	size_t		nread = read_ahead(decompressor, buffer, nbytes);

	if (nread == 0)
		nread = read_here(decompressor, buffer, nbytes);
	if (nread == 0 && decompressor->failure != NULL)
		fail(decompressor);
	return nread;
}
