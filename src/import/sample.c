/*
 * sample.c
 *		The beginning and the end of a file, and what their bytes tell of it.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "import/sample.h"
#include "table/decompress.h"

/* bytes of a file's end */
#define TAIL_BYTES			(128 * 1024)

/*
 * Of a file in UTF-16: the least share of zero bytes, the most zeros in the other half of
 * characters for each, and the least share of line breaks with a zero beside them
 */
#define LEAST_ZEROS			0.02
#define MOST_OTHER_ZEROS	0.1
#define LEAST_BREAKS		0.9

/* ---- reading ---- */

void
csv_sample_read(const CsvTable *table, CsvSource *source, uint64 capacity,
				CsvSample *sample)
{
	const char *name = csv_source_name(source);
	size_t		length = csv_name_without_compression(name, true);
	uint8_t    *bytes = palloc_extended(capacity, MCXT_ALLOC_HUGE);

	memset(sample, 0, sizeof(*sample));
	sample->prefers_tab = length >= 4 && pg_strncasecmp(name + length - 4, ".tsv", 4) == 0;
	while (!sample->at_end)
	{
		size_t		nread;

		if (sample->nbytes == capacity)
		{
			/* a line alone tells little: read as much behind it */
			if (memchr(bytes, '\n', capacity / 2) != NULL ||
				(capacity >= CSV_BOUNDARY_BYTES &&
				 memchr(bytes, '\r', capacity / 2) != NULL) ||
				capacity > table->reader.max_record_bytes)
				break;
			capacity *= 2;
			bytes = repalloc_huge(bytes, capacity);
		}
		nread = csv_source_read(source, bytes + sample->nbytes,
								capacity - sample->nbytes);
		sample->nbytes += nread;
		sample->at_end = nread == 0;
	}
	sample->bytes = bytes;
}

void
csv_sample_read_tail(CsvSource *source, CsvSample *sample)
{
	uint8_t    *bytes = palloc(2 * TAIL_BYTES);
	uint64		nbytes = 0;
	bool		at_start = true;
	CsvReadAhead ahead;
	size_t		nread;

	/* a stream must be read as far as its end */
	while ((nread = csv_source_read(source, bytes + nbytes, 2 * TAIL_BYTES - nbytes)) > 0)
	{
		nbytes += nread;
		if (at_start && csv_source_read_ahead(source, &ahead) &&
			ahead.file_bytes > nbytes + TAIL_BYTES)
		{
			ahead.seek(ahead.arg, ahead.file_bytes - TAIL_BYTES);
			nbytes = 0;
		}
		at_start = false;
		if (nbytes == 2 * TAIL_BYTES)
		{
			memmove(bytes, bytes + TAIL_BYTES, TAIL_BYTES);
			nbytes = TAIL_BYTES;
		}
	}
	sample->tail = bytes;
	sample->ntail = nbytes;
}

/* ---- encodings ---- */

bool
csv_sample_pass_mark(CsvSample *sample)
{
	if (!csv_sample_has_at(sample, 0, "\xef\xbb\xbf"))
		return false;
	sample->bytes += 3;
	sample->nbytes -= 3;
	return true;
}

/* In UTF-16, ASCII has a zero for its other byte; no text in another encoding has zeros. */
const char *
csv_guess_utf16(const CsvSample *sample)
{
	uint64		nzeros[2] = {0};	/* at even and at odd places */
	uint64		nbreaks[2] = {0};	/* line breaks there, with a zero beside them */
	uint64		nall = 0;

	for (uint64 i = 0; i < sample->nbytes; i++)
	{
		uint64		other = i ^ 1;

		if (i % CSV_BYTES_TO_INTERRUPT == 0)
			CHECK_FOR_INTERRUPTS();
		nzeros[i % 2] += sample->bytes[i] == 0;
		if (sample->bytes[i] != '\n' && sample->bytes[i] != '\r')
			continue;
		nall++;
		nbreaks[i % 2] += other < sample->nbytes && sample->bytes[other] == 0;
	}
	for (int big = 0; big < 2; big++)
		if (nbreaks[big] > nall * LEAST_BREAKS &&
			nzeros[!big] > sample->nbytes * LEAST_ZEROS &&
			nzeros[big] < nzeros[!big] * MOST_OTHER_ZEROS)
			return csv_utf16_name(big ? CSV_UTF16_BIG : CSV_UTF16_LITTLE);
	return NULL;
}

/* ---- record boundaries ---- */

CsvBoundary
csv_find_boundary(const CsvSample *sample, uint8_t quote)
{
	bool		inside = false;
	bool		any_cr = false;

	for (uint64 i = 0; i < Min(sample->nbytes, CSV_BOUNDARY_BYTES); i++)
	{
		uint8_t		byte = sample->bytes[i];

		if (i % CSV_BYTES_TO_INTERRUPT == 0)
			CHECK_FOR_INTERRUPTS();
		if (quote != 0 && byte == quote)
			inside = !inside;
		else if (byte == '\n' && !inside)
			return i > 0 && sample->bytes[i - 1] == '\r' ?
				CSV_BOUNDARY_CRLF : CSV_BOUNDARY_LF;
		else if (byte == '\r' && !inside)
			any_cr = true;
	}
	if (any_cr)
		return CSV_BOUNDARY_CR;

	/* an odd number of quotes */
	return quote != 0 ? csv_find_boundary(sample, 0) : CSV_BOUNDARY_AUTO;
}

bool
csv_auto_finds_cr(const CsvDialectOptions *options, const CsvSample *sample)
{
	CsvDialectOptions with = *options;
	CsvDialect	dialect;
	CsvBoundaryLook look = {0};

	with.boundary = CSV_BOUNDARY_AUTO;
	csv_dialect_compile(&dialect, &with);
	csv_look_for_breaks(&look, &dialect, sample->bytes,
						Min(sample->nbytes, CSV_BOUNDARY_BYTES), sample->nbytes, true);
	return csv_look_finds_crs(&look, sample->at_end);
}

CsvOddCrs
csv_find_odd_crs(const CsvDialectOptions *options, const CsvSample *sample)
{
	const uint8_t *bytes = sample->bytes;
	uint64		until = sample->at_end ? sample->nbytes :
		sample->nbytes - Min(sample->nbytes, CSV_CLASS_BYTES);
	uint8_t		state = CSV_STATE_RECORD_START;
	uint64		line = 1;
	uint64		ndoubled = 0;
	uint64		nbreaks = 0;
	CsvOddCrs	odd = {0};
	CsvDialect	dialect;

	csv_dialect_compile(&dialect, options);
	for (uint64 pos = 0; pos < until; pos++)
	{
		int			class = csv_class_at(&dialect, bytes, pos, sample->nbytes);

		if (pos % CSV_BYTES_TO_INTERRUPT == 0)
			CHECK_FOR_INTERRUPTS();
		line += class == CSV_CLASS_BREAK;
		if (state != CSV_STATE_QUOTED && state != CSV_STATE_ESCAPE_SEEN &&
			state != CSV_STATE_COMMENT)
		{
			nbreaks += class == CSV_CLASS_BREAK;
			if (class == CSV_CLASS_OTHER && bytes[pos] == '\r' && odd.lone_line == 0)
				odd.lone_line = line;
			if (class == CSV_CLASS_PRE_BREAK && bytes[pos + 1] == '\r' && ndoubled++ == 0)
				odd.doubled_line = line;
		}
		state = dialect.table[CSV_NORMAL][state][class] & CSV_STATE_MASK;
	}
	if (ndoubled == nbreaks)
		odd.doubled_line = 0;
	return odd;
}

/* ---- lines ---- */

char *
csv_sample_line(const CsvSample *sample, uint64 start)
{
	uint64		end = start;

	while (end < sample->nbytes && end - start < CSV_SHOWN_LINE_BYTES &&
		   sample->bytes[end] != '\n' && sample->bytes[end] != '\r')
		end++;
	return pnstrdup((const char *) sample->bytes + start, end - start);
}

bool
csv_sample_has_at(const CsvSample *sample, uint64 pos, const char *bytes)
{
	size_t		nbytes = strlen(bytes);

	return sample->nbytes - pos >= nbytes &&
		memcmp(sample->bytes + pos, bytes, nbytes) == 0;
}

bool
csv_sample_has(const CsvSample *sample, const char *bytes)
{
	return memmem(sample->bytes, sample->nbytes, bytes, strlen(bytes)) != NULL;
}

uint64
csv_sample_next_line(const CsvSample *sample, uint64 pos, uint8_t break_byte)
{
	const uint8_t *found = memchr(sample->bytes + pos, break_byte, sample->nbytes - pos);

	return found == NULL ? sample->nbytes : (uint64) (found - sample->bytes) + 1;
}

/* ---- all lines of the files ---- */

/* bytes that are read at a time: a longer line counts as several */
#define BUFFER_BYTES	(1024 * 1024)

/* the end of the last whole line, or of the buffer, where no character ends */
static uint64
find_end(const uint8_t *bytes, uint64 nbytes, uint8_t break_byte)
{
	uint64		end = nbytes;

	while (end > 0 && bytes[end - 1] != break_byte)
		end--;
	if (end > 0)
		return end;
	for (end = nbytes; end + MAX_MULTIBYTE_CHAR_LEN > nbytes && IS_HIGHBIT_SET(bytes[end - 1]);)
		end--;
	return end;
}

/* the lines of a table's files */
typedef struct TableLines
{
	CsvSource  *source;
	uint8_t		break_byte;
	int			nfiles;			/* that were opened */
	bool		at_end;			/* of a file */
	uint8_t    *bytes;			/* a buffer of BUFFER_BYTES */
	uint64		nbytes;			/* that were read into it */
	uint64		end;			/* of the last whole line there */
	uint64		pos;			/* of the next line */
} TableLines;

static TableLines
begin_lines(const CsvTable *table, CsvBoundary boundary)
{
	return (TableLines) {
		.source = csv_source_create(table),
		.break_byte = csv_break_byte(boundary),
		.at_end = true,
		.bytes = palloc(BUFFER_BYTES)
	};
}

static void
end_lines(TableLines *lines)
{
	csv_source_close(lines->source);
	pfree(lines->bytes);
}

/* the next line without its break, as a sample; false: there is none */
static bool
next_line(TableLines *lines, CsvSample *line)
{
	const uint8_t *start;
	const uint8_t *found;

	while (lines->pos >= lines->end)
	{
		size_t		nread;

		CHECK_FOR_INTERRUPTS();
		lines->nbytes -= lines->end;
		memmove(lines->bytes, lines->bytes + lines->end, lines->nbytes);
		lines->pos = lines->end = 0;
		if (lines->at_end && !csv_source_open_next(lines->source, NULL))
			return false;
		lines->nfiles += lines->at_end;
		nread = csv_source_read(lines->source, lines->bytes + lines->nbytes,
								BUFFER_BYTES - lines->nbytes);
		lines->nbytes += nread;
		lines->at_end = nread == 0;
		if (lines->at_end)
			lines->end = lines->nbytes;
		else if (lines->nbytes == BUFFER_BYTES)
			lines->end = find_end(lines->bytes, lines->nbytes, lines->break_byte);
	}
	start = lines->bytes + lines->pos;
	found = memchr(start, lines->break_byte, lines->end - lines->pos);
	*line = (CsvSample) {
		.bytes = start,
		.nbytes = found == NULL ? lines->end - lines->pos : (uint64) (found - start),
		.at_end = true
	};
	lines->pos += line->nbytes + 1;
	return true;
}

/* ---- encodings ---- */

void
csv_count_high_bytes(const CsvSample *sample, CsvHighBytes *counts)
{
	static const uint8_t not_win1252[] = {0x81, 0x8d, 0x8f, 0x90, 0x9d};

	for (uint64 i = 0; i < sample->nbytes;)
	{
		uint64		rest = sample->nbytes - i;
		int			nbytes;

		if (i % CSV_BYTES_TO_INTERRUPT == 0)
			CHECK_FOR_INTERRUPTS();
		if (!IS_HIGHBIT_SET(sample->bytes[i]))
		{
			i++;
			continue;
		}
		nbytes = pg_encoding_verifymbchar(PG_UTF8, (const char *) sample->bytes + i,
										  (int) Min(rest, MAX_MULTIBYTE_CHAR_LEN));
		if (nbytes < 0 && rest < MAX_MULTIBYTE_CHAR_LEN && !sample->at_end)
			break;
		counts->nvalid += nbytes > 0;
		counts->ninvalid += nbytes < 0;
		for (int n = Max(nbytes, 1); n > 0; n--)
			counts->not_win1252 |= memchr(not_win1252, sample->bytes[i++],
										  sizeof(not_win1252)) != NULL;
	}
}

/* In most other encodings, text has bytes beyond ASCII that are hardly ever valid UTF-8. */
const char *
csv_encoding_of(const CsvHighBytes *counts)
{
	return counts->ninvalid <= counts->nvalid ? NULL :
		counts->not_win1252 ? "LATIN1" : "WIN1252";
}

CsvHighBytes
csv_look_for_high_bytes(const CsvTable *table)
{
	TableLines	lines = begin_lines(table, CSV_BOUNDARY_AUTO);
	CsvHighBytes counts = {0};
	CsvHighBytes before = {0};	/* the file that is read */
	const char *name = NULL;	/* of that file; NULL: it has a mark */
	int			nfiles = 0;
	CsvSample	line = {0};

	for (bool any = true; any;)
	{
		any = next_line(&lines, &line);
		if (!any || lines.nfiles > nfiles)
		{
			if (counts.utf8_file == NULL && counts.nvalid > before.nvalid &&
				counts.ninvalid == before.ninvalid)
				counts.utf8_file = name;
			before = counts;
			nfiles = lines.nfiles;
			name = csv_sample_pass_mark(&line) ? NULL : csv_source_name(lines.source);
		}
		if (any)
			csv_count_high_bytes(&line, &counts);
	}
	end_lines(&lines);
	return counts;
}

/* ---- COPY's text format ---- */

static bool
is_break(uint8_t byte)
{
	return byte == '\n' || byte == '\r';
}

void
csv_add_escapes(CsvEscapes *escapes, const CsvDialectOptions *dialect, const CsvSample *sample)
{
	const uint8_t *bytes = sample->bytes;
	const uint64 length = (uint64) dialect->delimiter_rest_length + 1;
	uint64		end = sample->nbytes;	/* of the last line */
	const uint8_t *found;

	while (end > 0 && is_break(bytes[end - 1]))
		end--;
	for (uint64 i = 0; i < end && (found = memchr(bytes + i, '\\', end - i)) != NULL; i += 2)
	{
		const uint8_t *next = found + 1;
		bool		at_start = found == bytes || is_break(found[-1]);

		i = (uint64) (found - bytes);
		if (i + 1 == end || is_break(*next) || csv_delimiter_at(dialect, bytes, i + 1, end))
			escapes->joins = true;
		else if (*next == '.' && at_start && i + 2 == end)
			escapes->at_end = true;
		else if (*next == 'N' &&
				 (at_start || (i >= length && csv_delimiter_at(dialect, bytes, i - length, end))) &&
				 (i + 2 == end || is_break(next[1]) ||
				  csv_delimiter_at(dialect, bytes, i + 2, end)))
			escapes->nulls = true;
		else if (*next == '\\')
			escapes->doubled = true;
		else if (*next != 0 && strchr("bfnrtv", *next) != NULL)
			escapes->letters = true;
		else
			escapes->odd = true;
		escapes->is_open = i + 1 == end;
	}
}

CsvEscapes
csv_look_for_escapes(const CsvTable *table)
{
	const CsvDialectOptions *dialect = &table->reader.dialect;
	TableLines	lines = begin_lines(table, dialect->boundary);
	CsvEscapes	escapes = {0};
	CsvSample	line;

	while (!escapes.odd && next_line(&lines, &line))
		csv_add_escapes(&escapes, dialect, &line);
	end_lines(&lines);
	return escapes;
}

/* ---- comments ---- */

static bool
is_comment_row(const CsvSample *line, const CsvDialectOptions *dialect, uint32 nfields)
{
	uint64		ndelimiters = 0;

	for (uint64 i = 0; i < line->nbytes; i++)
		ndelimiters += csv_delimiter_at(dialect, line->bytes, i, line->nbytes);
	return ndelimiters + 1 == nfields;
}

char *
csv_look_for_odd_comment(const CsvTable *table, CsvBoundary boundary, uint32 nfields,
						 uint64 *number, const char **file)
{
	const CsvDialectOptions *dialect = &table->reader.dialect;
	TableLines	lines = begin_lines(table, boundary);
	bool		at_beginning = true;	/* of the first file: a comment may be a header, ... */
	char	   *header = NULL;	/* ... which other files may have, too */
	char	   *odd = NULL;
	bool		is_log = false;
	int			nfiles = 0;
	CsvSample	line;

	while (odd == NULL && next_line(&lines, &line))
	{
		const bool	is_comment = csv_comment_at(dialect, line.bytes, 0, line.nbytes);
		const bool	has_names = is_comment && csv_names_fields(&line, 0);

		*number = nfiles == lines.nfiles ? *number + 1 : 1;
		nfiles = lines.nfiles;
		at_beginning &= is_comment && nfiles <= 1;
		if (!is_comment || (header != NULL && line.nbytes == strlen(header) &&
							memcmp(line.bytes, header, line.nbytes) == 0))
			continue;
		if (has_names || (!is_log && is_comment_row(&line, dialect, nfields)))
			*(at_beginning || has_names > is_log ? &header : &odd) =
				pnstrdup((const char *) line.bytes, line.nbytes);
		is_log |= has_names;
	}
	*file = odd != NULL && is_log ? pstrdup(csv_source_name(lines.source)) : NULL;
	end_lines(&lines);
	return odd;
}
