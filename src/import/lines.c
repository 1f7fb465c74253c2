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

/* a line without its break, the first of a file or not; true: that is enough */
typedef bool (*LineFn) (void *arg, const uint8_t *line, uint64 nbytes, bool is_first);

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

/* call a function for each line of the table's files, until it has enough */
static void
look_at_lines(const CsvTable *table, CsvBoundary boundary, LineFn look, void *arg)
{
	const uint8_t break_byte = boundary == CSV_BOUNDARY_CR ? '\r' : '\n';
	CsvSource  *source = csv_source_create(table);
	uint8_t    *bytes = palloc(BUFFER_BYTES);
	bool		enough = false;

	while (!enough && csv_source_open_next(source, NULL))
	{
		uint64		nbytes = 0;
		bool		is_first = true;
		size_t		nread;

		do
		{
			uint64		end;
			uint64		pos = 0;

			CHECK_FOR_INTERRUPTS();
			nread = csv_source_read(source, bytes + nbytes, BUFFER_BYTES - nbytes);
			nbytes += nread;
			if (nread > 0 && nbytes < BUFFER_BYTES)
				continue;
			end = nread == 0 ? nbytes : find_end(bytes, nbytes, break_byte);
			while (pos < end && !enough)
			{
				const uint8_t *found = memchr(bytes + pos, break_byte, end - pos);
				uint64		next = found == NULL ? end : (uint64) (found - bytes);

				enough = look(arg, bytes + pos, next - pos, is_first);
				is_first = false;
				pos = next + 1;
			}
			nbytes -= end;
			memmove(bytes, bytes + end, nbytes);
		} while (nread > 0 && !enough);
	}
	csv_source_close(source);
	pfree(bytes);
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

/* a LineFn */
static bool
count_in_line(void *arg, const uint8_t *line, uint64 nbytes, bool is_first)
{
	const CsvSample sample = {.bytes = line, .nbytes = nbytes, .at_end = true};

	csv_count_high_bytes(&sample, arg);
	return false;
}

CsvHighBytes
csv_look_for_high_bytes(const CsvTable *table)
{
	CsvHighBytes counts = {0};

	look_at_lines(table, CSV_BOUNDARY_AUTO, count_in_line, &counts);
	return counts;
}

/* ---- COPY's text format ---- */

typedef struct EscapeLook
{
	const CsvDialectOptions *dialect;
	CsvEscapes	escapes;
} EscapeLook;

/* a LineFn; numbers of bytes count as odd, because no program writes them */
static bool
look_for_escapes(void *arg, const uint8_t *line, uint64 nbytes, bool is_first)
{
	EscapeLook *look = arg;

	/* the end of the data, which COPY writes as well */
	look->escapes.doubled |= nbytes == 2 && memcmp(line, "\\.", 2) == 0;
	for (uint64 i = 0; i + 1 < nbytes; i += 2)
	{
		const uint8_t *found = memchr(line + i, '\\', nbytes - i - 1);

		if (found == NULL)
			break;
		i = (uint64) (found - line);
		look->escapes.doubled |= line[i + 1] == '\\';
		look->escapes.letters |= memchr("bfnrtv", line[i + 1], 6) != NULL;
		if (memchr("\\bfnrtvN.\r", line[i + 1], 10) == NULL &&
			!csv_delimiter_at(look->dialect, line, i + 1, nbytes))
		{
			look->escapes = (CsvEscapes) {.odd = true};
			return true;
		}
	}
	return false;
}

CsvEscapes
csv_look_for_escapes(const CsvTable *table)
{
	EscapeLook	look = {.dialect = &table->reader.dialect};

	look_at_lines(table, CSV_BOUNDARY_AUTO, look_for_escapes, &look);
	return look.escapes;
}

/* ---- comments ---- */

typedef struct CommentRow
{
	const CsvDialectOptions *dialect;
	uint32		nfields;
	int			nfiles;
	bool		at_beginning;	/* of the first file, where a comment may be the header ... */
	char	   *header;			/* ... which other files may have, too */
	char	   *line;
} CommentRow;

/* a LineFn */
static bool
find_comment_row(void *arg, const uint8_t *line, uint64 nbytes, bool is_first)
{
	CommentRow *row = arg;
	const bool	is_comment = csv_comment_at(row->dialect, line, 0, nbytes);
	uint64		ndelimiters = 0;

	row->nfiles += is_first;
	row->at_beginning &= is_comment && row->nfiles <= 1;
	if (!is_comment || (row->header != NULL && nbytes == strlen(row->header) &&
						memcmp(line, row->header, nbytes) == 0))
		return false;
	for (uint64 i = 0; i < nbytes; i++)
		ndelimiters += csv_delimiter_at(row->dialect, line, i, nbytes);
	if (ndelimiters + 1 != row->nfields)
		return false;
	*(row->at_beginning ? &row->header : &row->line) = pnstrdup((const char *) line, nbytes);
	return row->line != NULL;
}

char *
csv_look_for_comment_row(const CsvTable *table, CsvBoundary boundary, uint32 nfields)
{
	CommentRow	row = {
		.dialect = &table->reader.dialect,
		.nfields = nfields,
		.at_beginning = true
	};

	look_at_lines(table, boundary, find_comment_row, &row);
	return row.line;
}
