/*
 * lines.c
 *		All lines of a table's files, where the sample leaves a doubt.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "import/sample.h"

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
		.break_byte = boundary == CSV_BOUNDARY_CR ? '\r' : '\n',
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
	CsvSample	line;

	while (next_line(&lines, &line))
		csv_count_high_bytes(&line, &counts);
	end_lines(&lines);
	return counts;
}

/* ---- COPY's text format ---- */

/* numbers of bytes count as odd, because no program writes them */
static void
look_for_escapes(const CsvSample *line, const CsvDialectOptions *dialect, CsvEscapes *escapes)
{
	/* the end of the data, which COPY writes as well */
	escapes->doubled |= line->nbytes == 2 && csv_sample_has_at(line, 0, "\\.");
	for (uint64 i = 0; i + 1 < line->nbytes; i += 2)
	{
		const uint8_t *found = memchr(line->bytes + i, '\\', line->nbytes - i - 1);

		if (found == NULL)
			return;
		i = (uint64) (found - line->bytes);
		escapes->doubled |= found[1] == '\\';
		escapes->letters |= memchr("bfnrtv", found[1], 6) != NULL;
		escapes->odd |= memchr("\\bfnrtvN.\r", found[1], 10) == NULL &&
			!csv_delimiter_at(dialect, line->bytes, i + 1, line->nbytes);
	}
}

CsvEscapes
csv_look_for_escapes(const CsvTable *table)
{
	TableLines	lines = begin_lines(table, CSV_BOUNDARY_AUTO);
	CsvEscapes	escapes = {0};
	CsvSample	line;

	while (!escapes.odd && next_line(&lines, &line))
		look_for_escapes(&line, &table->reader.dialect, &escapes);
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
csv_look_for_comment_row(const CsvTable *table, CsvBoundary boundary, uint32 nfields)
{
	const CsvDialectOptions *dialect = &table->reader.dialect;
	TableLines	lines = begin_lines(table, boundary);
	bool		at_beginning = true;	/* of the first file, where a comment may be the header ... */
	char	   *header = NULL;	/* ... which other files may have, too */
	char	   *row = NULL;
	CsvSample	line;

	while (row == NULL && next_line(&lines, &line))
	{
		const bool	is_comment = csv_comment_at(dialect, line.bytes, 0, line.nbytes);

		at_beginning &= is_comment && lines.nfiles <= 1;
		if (!is_comment || (header != NULL && line.nbytes == strlen(header) &&
							memcmp(line.bytes, header, line.nbytes) == 0))
			continue;
		if (is_comment_row(&line, dialect, nfields))
			*(at_beginning ? &header : &row) =
				pnstrdup((const char *) line.bytes, line.nbytes);
	}
	end_lines(&lines);
	return row;
}
