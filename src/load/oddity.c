/*
 * oddity.c
 *		Finds data that COPY reads otherwise than the engines do.
 *
 * Threads look at all of a file before it is read; each thread takes the next part.
 * The file is in the operating system's cache then.  A stream is looked at as it
 * comes.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/fd.h"

#include "compat.h"
#include "load/oddity.h"
#include "reader/dialect.h"
#include "table/memory.h"

/* the header must end within this many bytes */
#define CSV_TOP_BYTES		(1024 * 1024)

/* bytes that a thread takes, and reads, at a time; parts between interrupt checks */
#define CSV_PART_BYTES		(1024 * 1024)
#define CSV_BLOCK_BYTES		(64 * 1024)
#define CSV_PARTS_EACH		8

/* what was found in lines */
typedef struct Lines
{
	bool		is_text;
	atomic_bool any_lf;			/* a LF without a CR */
	atomic_bool any_crlf;
	atomic_bool any_cr;			/* a CR without a LF */
	atomic_bool any_end;		/* a line that looks like the end of data */
	atomic_bool any_escaped;	/* a line break of text, or the end of file */
} Lines;

typedef struct FileLook
{
	int			fd;
	off_t		offset;			/* of part 0 */
	off_t		end;			/* of the file */
	Lines		lines;
	atomic_bool failed;			/* a read */
} FileLook;

struct CsvStreamLook
{
	const CopyFormatOptions *copy;
	int			encoding;
	bool		has_begun;
	Lines		lines;
};

/* is this, between two line breaks, the end of the data and of the file? */
static bool
is_last_line(const char *marker, const char *bytes, const char *end, bool is_last)
{
	const char *next = marker + 2;

	if (!is_last || marker == bytes || (marker[-1] != '\n' && marker[-1] != '\r'))
		return false;
	return (end - next == 1 && (*next == '\n' || *next == '\r')) ||
		(end - next == 2 && next[0] == '\r' && next[1] == '\n');
}

/* look at bytes behind escapes in a block of text; arguments as in look_at_block() */
static void
look_at_escapes(Lines *lines, const char *bytes, size_t nbefore, const char *end,
				bool is_last)
{
	const char *block = bytes + nbefore;
	size_t		nescapes = 0;	/* at the beginning, before the block */

	/* in so long a run, earlier bytes decide which of the escapes are escaped */
	while (nescapes < nbefore && bytes[nescapes] == '\\')
		nescapes++;
	if (nescapes == CSV_LOOK_BEHIND)
		lines->any_escaped = true;
	for (const char *at = bytes;
		 (at = memchr(at, '\\', (size_t) (end - at))) != NULL; at += 2)
	{
		if (at + 1 == end)
		{
			if (is_last)
				lines->any_escaped = true;
			break;
		}
		if (at + 1 < block)
			continue;
		if (at[1] == '\n' || at[1] == '\r')
			lines->any_escaped = true;
		else if (at[1] == '.' && !is_last_line(at, bytes, end, is_last))
			lines->any_end = true;
	}
}

/* is the last line of a file a lone Ctrl-Z, which COPY takes for a row? */
static bool
ends_in_ctrl_z(const char *bytes, const char *end)
{
	/* its own line break, and line breaks that may follow (csv_is_end_of_data) */
	for (int n = 0; n < CSV_END_OF_DATA_BYTES + 1 + CSV_BREAK_CRS && end > bytes &&
		 (end[-1] == '\n' || end[-1] == '\r'); n++)
		end--;
	return end > bytes && end[-1] == CSV_CTRL_Z &&
		(end - 1 == bytes || end[-2] == '\n' || end[-2] == '\r');
}

/* look at a block, whose first `nbefore` bytes belong to the block before */
static void
look_at_block(Lines *lines, const char *bytes, size_t nbefore, const char *end,
			  bool is_last)
{
	bool		any_lf = false;
	bool		any_crlf = false;

	for (const char *at = bytes;
		 (at = memchr(at, '\n', (size_t) (end - at))) != NULL; at++)
	{
		bool		after_cr = at > bytes && at[-1] == '\r';

		if (at >= bytes + nbefore)
		{
			any_lf |= !after_cr;
			any_crlf |= after_cr;
		}
		if (!lines->is_text && end - at > 2 && at[1] == '\\' && at[2] == '.')
			lines->any_end = true;
	}
	for (const char *at = bytes;
		 (at = memchr(at, '\r', (size_t) (end - at))) != NULL; at++)
		if (at + 1 < end ? at[1] != '\n' : is_last)
			lines->any_cr = true;
	if (any_lf)
		lines->any_lf = true;
	if (any_crlf)
		lines->any_crlf = true;
	if (is_last && ends_in_ctrl_z(bytes, end))
		lines->any_end = true;
	if (lines->is_text)
		look_at_escapes(lines, bytes, nbefore, end, is_last);
}

static const char *
oddity_of_lines(const Lines *lines)
{
	if (lines->any_end)
		return "a line begins as the end of data";
	if (lines->any_escaped)
		return "a line break is escaped";
	if (lines->any_cr || (lines->any_lf && lines->any_crlf))
		return "line breaks differ";
	return NULL;
}

/* is the first line a whole record, or the header, and text that COPY accepts? */
static bool
is_plain_first(const char *bytes, size_t nbytes, const CopyFormatOptions *copy,
			   int encoding)
{
	const char *end = memchr(bytes, '\n', nbytes);
	int			nquotes = 0;

	if (end == NULL)
		return false;
	for (const char *at = bytes; at < end; at++)
	{
		nquotes += csv_copy_is_csv(copy) && *at == *copy->quote;
		if (csv_copy_is_csv(copy) ? *at == *copy->escape && *copy->escape != *copy->quote :
			*at == '\\')
			return false;
		if (IS_HIGHBIT_SET(*at) && encoding != GetDatabaseEncoding())
			return false;
	}
	return nquotes % 2 == 0 &&
		pg_verify_mbstr(GetDatabaseEncoding(), bytes, (int) (end - bytes), true);
}

/* look at the first bytes of the data */
static const char *
find_oddity_at_top(const char *bytes, size_t nbytes, const CopyFormatOptions *copy,
				   int encoding)
{
	if (nbytes >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
		return "the file has a byte-order mark";
	if (nbytes >= 2 && memcmp(bytes, "\\.", 2) == 0)
		return "a line begins as the end of data";

	/*
	 * Empty data have no header, which matters only if the header must match.  COPY's
	 * numbers of lines leave out line breaks within the first record.
	 */
	if ((copy->header_line != COPY_HEADER_FALSE ||
		 (csv_copy_is_csv(copy) &&
		  csv_copy_verbosity(copy) == COPY_LOG_VERBOSITY_VERBOSE)) &&
		(nbytes > 0 || copy->header_line == COPY_HEADER_MATCH) &&
		!is_plain_first(bytes, nbytes, copy, encoding))
		return "the first record is not one line of valid text";
	return NULL;
}

/* ---- files ---- */

/* look at a part of a file; called by the crew */
static void
look_at_part(void *arg, uint32_t part)
{
	FileLook   *look = arg;
	off_t		from = look->offset + (off_t) part * CSV_PART_BYTES;
	off_t		until = Min(from + CSV_PART_BYTES, look->end);
	char		bytes[CSV_LOOK_BEHIND + CSV_BLOCK_BYTES];

	while (from < until && !look->failed)
	{
		off_t		nbefore = Min(from, CSV_LOOK_BEHIND);
		off_t		n = nbefore + Min(until - from, CSV_BLOCK_BYTES);

		n = pread(look->fd, bytes, (size_t) n, from - nbefore);
		if (n <= nbefore)
		{
			look->failed = true;
			return;
		}
		from += n - nbefore;
		look_at_block(&look->lines, bytes, (size_t) nbefore, bytes + n,
					  from == look->end);
	}
}

static const char *
find_oddity_in_lines(int fd, off_t nbytes, bool is_text, int nthreads)
{
	CsvCrew    *crew = csv_crew_create(nthreads);
	FileLook	look = {.fd = fd,.end = nbytes,.lines.is_text = is_text};

	while (look.offset < look.end && !look.failed)
	{
		off_t		nparts = (look.end - look.offset + CSV_PART_BYTES - 1) /
			CSV_PART_BYTES;

		CHECK_FOR_INTERRUPTS();
		nparts = Min(nparts, CSV_PARTS_EACH * nthreads);
		csv_crew_run(crew, (uint32_t) nparts, look_at_part, &look);
		look.offset += nparts * CSV_PART_BYTES;
	}
	csv_crew_close(crew);
	if (look.failed)
		return "the file cannot be read";
	return oddity_of_lines(&look.lines);
}

static const char *
find_oddity_in_file(int fd, off_t nbytes, const CopyFormatOptions *copy, int encoding,
					int nthreads)
{
	char	   *bytes = palloc(CSV_TOP_BYTES);
	ssize_t		n = pread(fd, bytes, (size_t) Min(nbytes, CSV_TOP_BYTES), 0);
	const char *oddity = find_oddity_at_top(bytes, (size_t) Max(n, 0), copy, encoding);

	pfree(bytes);
	return oddity != NULL ? oddity :
		find_oddity_in_lines(fd, nbytes, !csv_copy_is_csv(copy), nthreads);
}

const char *
csv_find_oddity(const char *filename, const CopyFormatOptions *copy, int encoding,
				int nthreads)
{
	int			fd = OpenTransientFile(filename, O_RDONLY | PG_BINARY | O_NONBLOCK);
	const char *oddity;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		oddity = "it is not a file that can be read twice";
	else
		oddity = find_oddity_in_file(fd, st.st_size, copy, encoding, nthreads);
	if (fd >= 0)
		CloseTransientFile(fd);
	return oddity;
}

/* ---- streams ---- */

CsvStreamLook *
csv_stream_look_create(const CopyFormatOptions *copy, int encoding)
{
	CsvStreamLook *look = palloc0(sizeof(CsvStreamLook));

	look->copy = copy;
	look->encoding = encoding;
	look->lines.is_text = !csv_copy_is_csv(copy);
	return look;
}

const char *
csv_find_oddity_in_block(CsvStreamLook *look, const char *block, size_t nbefore,
						 size_t nbytes, bool is_last)
{
	const char *oddity = NULL;

	if (!look->has_begun)
		oddity = find_oddity_at_top(block, nbytes, look->copy, look->encoding);
	look->has_begun = true;
	look_at_block(&look->lines, block - nbefore, nbefore, block + nbytes, is_last);
	return oddity != NULL ? oddity : oddity_of_lines(&look->lines);
}
