/*
 * guess.c
 *		What a file's beginning and end tell of it.
 *
 *	1. CRs end records if there are some, and no LF, outside quotes.
 *	2. The usual dialects are tried (dialects.c).
 *	3. The header ends where rows fit the types of their columns (header.c).
 *	4. Records at the end may not be data (ending.c).
 *
 * A user who knows better says so by options.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "utils/memutils.h"

#include "import/guess.h"

/* ---- the number of fields ---- */

static int
compare_counts(const void *a, const void *b)
{
	uint32		left = *(const uint32 *) a;
	uint32		right = *(const uint32 *) b;

	return left < right ? -1 : left > right;
}

/*
 * The number of fields that most records from `first` on have.  Of equally frequent
 * numbers, the header's is taken if it is among them, otherwise the largest.  nheader is 0
 * if there is no header.
 */
static uint32
count_fields(const CsvGrid *grid, uint32 first, uint32 nheader, uint32 nfooter)
{
	uint32		counts[CSV_GRID_RECORDS];
	uint32		ncounts = 0;
	uint32		most = 0;
	uint32		nfields = nheader;
	uint32		last = grid->nrecords;

	/* the footer's fields do not count */
	while (grid->sample->at_end && nfooter > 0 && last > first)
		nfooter -= !grid->records[--last].blank;
	for (uint32 i = first; i < last; i++)
		if (!grid->records[i].bad && (grid->records[i].nfields > 1 || !grid->records[i].blank))
			counts[ncounts++] = grid->records[i].nfields;
	qsort(counts, ncounts, sizeof(uint32), compare_counts);
	for (uint32 i = 0, run = 0; i < ncounts; i++)
	{
		run = i > 0 && counts[i] == counts[i - 1] ? run + 1 : 1;
		if (run > most || (run == most && nfields != nheader))
		{
			most = run;
			nfields = counts[i];
		}
	}
	return nfields;
}

/* ---- all of it ---- */

/* have the table read in the dialect that was found, in the current memory context */
static void
take_dialect(CsvTable *table, const CsvGrid *grid, const CsvGiven *given)
{
	CsvDialectOptions *dialect = &table->reader.dialect;

	*dialect = grid->options;
	if (!given->delimiter)
	{
		table->delimiter = palloc(CSV_DELIMITER_BYTES + 1);
		csv_dialect_delimiter(dialect, table->delimiter);
	}
	if (dialect->quoting == CSV_QUOTING_TEXT && *table->null_string == '\0')
		table->null_string = "\\N";
	if (dialect->comment_length > 0 && table->comment == NULL)
		table->comment = pnstrdup((const char *) dialect->comment, dialect->comment_length);
}

/* the record of the grid that the table's header_rows end at, blank lines counted */
static uint32
pass_header_rows(const CsvTable *table, const CsvGrid *grid)
{
	uint32		rows = table->reader.header_rows;

	return Min(rows - Min(rows, grid->nblank), grid->nrecords);
}

CsvCells
csv_last_header_row(const CsvTable *table, const CsvSample *sample)
{
	CsvGrid    *grid = csv_grid_read(&table->reader.dialect, sample, NULL);
	uint32		first = pass_header_rows(table, grid);
	CsvCells	cells = csv_record_cells(grid, first > 0 ? &grid->records[first - 1] : NULL);

	csv_grid_free(grid);
	return cells;
}

/* nothing but punctuation, as below the names of a table that was printed */
static bool
is_line(const CsvGridRecord *record)
{
	for (uint32 i = 0; i < record->ncells; i++)
		if (strspn(record->cells[i].text, "-=:+ ") != record->cells[i].nbytes)
			return false;
	return !record->bad;
}

/* count the records above the data that do not belong to the header */
static void
count_above(const CsvGrid *grid, const CsvHeader *header, CsvGuess *guess)
{
	for (uint32 i = 0; i < Min(header->first, grid->nrecords); i++)
	{
		if (grid->records[i].blank || is_line(&grid->records[i]) ||
			(header->found && i >= header->top && i <= header->last))
			continue;
		if (guess->nabove++ == 0)
			guess->first_above = csv_sample_line(grid->sample, grid->records[i].start);
	}
}

/* does a value begin or end with a quote that is a part of it? */
static bool
has_quotes(const CsvGrid *grid)
{
	for (uint32 i = 0; i < grid->nrecords; i++)
		if (grid->records[i].opened || grid->records[i].closed)
			return true;
	return false;
}

/* the line on which a record begins, from 1 */
static uint64
line_of(const CsvGrid *grid, const CsvGridRecord *record)
{
	uint64		line = 1;

	for (uint64 pos = 0; pos < record->start; line++)
		pos = csv_sample_next_line(grid->sample, pos, csv_break_byte(&grid->options));
	return line;
}

/* the first line with a backslash before a quote outside of quotes; 0: there is none */
static uint64
find_escaped(const CsvGrid *grid)
{
	for (uint32 i = 0; i < grid->nrecords; i++)
		if (grid->records[i].escaped)
			return line_of(grid, &grid->records[i]);
	return 0;
}

/* the first line of a quote in an unquoted value, if other values are in quotes; else 0 */
static uint64
find_stray(const CsvGrid *grid)
{
	uint64		line = 0;
	bool		any_quoted = false;

	for (uint32 i = 0; i < grid->nrecords; i++)
	{
		any_quoted |= grid->records[i].nquoted > 0;
		if (grid->records[i].stray && line == 0)
			line = line_of(grid, &grid->records[i]);
	}
	return any_quoted ? line : 0;
}

/* must a writer of the file put a value in quotes? */
static bool
needs_quotes(const CsvCell *cell, const CsvDialectOptions *options)
{
	const char	special[] = {(char) options->delimiter, (char) options->quote, '\r', '\n', '\0'};

	return cell->kind == CSV_CELL_EMPTY || strpbrk(cell->text, special) != NULL ||
		csv_is_blank((uint8_t) cell->text[0]) ||
		csv_is_blank((uint8_t) cell->text[cell->nbytes - 1]);
}

/*
 * The first line with a text in quotes, if no value of the data needs its quotes, and
 * texts of the same column have none, or the quotes are apostrophes; else 0.
 */
static uint64
find_needless(const CsvGrid *grid, uint32 first)
{
	uint32		ncolumns = Min(grid->nfields, MaxHeapAttributeNumber);
	bool	   *any_plain = palloc0(ncolumns);
	const CsvGridRecord **quoted = palloc0(sizeof(CsvGridRecord *) * ncolumns);	/* the first */
	const CsvGridRecord *needless = NULL;

	for (uint32 i = Max(first, grid->from); i < grid->to; i++)
	{
		const CsvGridRecord *record = &grid->records[i];

		for (uint32 j = 0; csv_is_row(record, grid->nfields) && j < record->ncells; j++)
		{
			const CsvCell *cell = &record->cells[j];

			if (cell->quoted && needs_quotes(cell, &grid->options))
				return 0;
			if (cell->kind != CSV_CELL_TEXT)
				continue;
			if (!cell->quoted)
				any_plain[j] = true;
			else if (quoted[j] == NULL)
				quoted[j] = record;
		}
	}
	for (uint32 j = 0; j < ncolumns; j++)
		if (quoted[j] != NULL && (any_plain[j] || grid->options.quote == '\'') &&
			(needless == NULL || quoted[j] < needless))
			needless = quoted[j];
	return needless == NULL ? 0 : line_of(grid, needless);
}

/* has the first record blanks beside its delimiters? */
static bool
is_first_padded(const CsvGrid *grid)
{
	uint32		first = csv_grid_first(grid);
	char	   *line = csv_sample_line(grid->sample, first < grid->nrecords ?
									   grid->records[first].start : 0);
	bool		found = false;

	for (uint64 i = 0, nbytes = strlen(line); i < nbytes && !found; i++)
		found = csv_delimiter_at(&grid->options, (const uint8_t *) line, i, nbytes) &&
			(csv_is_blank((uint8_t) line[i + 1 + grid->options.delimiter_rest_length]) ||
			 (i > 0 && csv_is_blank((uint8_t) line[i - 1])));
	pfree(line);
	return found;
}

/* comments, except a single comment that is the header */
static void
note_comments(const CsvGrid *grid, bool is_header, CsvGuess *guess)
{
	uint64		first;

	if (csv_count_comments(grid, &first) > (is_header ? 1 : 0))
		guess->first_comment = csv_sample_line(grid->sample, first);
}

/* the boundary that readers must know of; *seen is what the file has */
static CsvBoundary
guess_boundary(const CsvSample *sample, uint8_t quote, CsvBoundary *seen)
{
	*seen = csv_find_boundary(sample, quote);

	/* an odd number of quotes */
	if (*seen == CSV_BOUNDARY_AUTO)
		*seen = csv_find_boundary(sample, 0);

	/* line feeds may all be in apostrophes */
	if (*seen == CSV_BOUNDARY_LF && csv_find_boundary(sample, '\'') == CSV_BOUNDARY_CR)
		*seen = CSV_BOUNDARY_CR;

	/* breaks of several kinds may mix, except lone CRs */
	return *seen == CSV_BOUNDARY_CR ? CSV_BOUNDARY_CR : CSV_BOUNDARY_AUTO;
}

void
csv_guess(CsvTable *table, const CsvGiven *given, const CsvSample *sample, CsvGuess *guess)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext scratch;
	CsvDialectOptions *dialect = &table->reader.dialect;
	CsvBoundary boundary = dialect->boundary;
	CsvGrid    *grid;
	CsvHeader	header = {0};

	memset(guess, 0, sizeof(*guess));
	guess->boundary = boundary;

	/* no record ends: all trials would find nothing, slowly */
	if (!sample->at_end && !csv_sample_has(sample, "\n") && !csv_sample_has(sample, "\r"))
		return;
	if (!given->boundary)
		boundary = guess_boundary(sample, dialect->quote, &guess->boundary);

	scratch = AllocSetContextCreate(outer, "csv_gpu_fdw guess", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(scratch);
	dialect->boundary = (uint8_t) boundary;
	grid = csv_find_dialect(dialect, table->null_string, given, sample);
	MemoryContextSwitchTo(outer);
	if (!given->header && grid->nrecords > 0)
	{
		header = csv_find_header(grid);
		table->reader.header_rows = grid->nblank + header.first;
	}
	else
	{
		header.first = pass_header_rows(table, grid);
		header.names = csv_record_cells(grid, header.first > 0 ?
										&grid->records[header.first - 1] : NULL);
	}
	guess->any_data = header.first < grid->nrecords;
	guess->assumed = header.assumed;
	guess->none_assumed = header.none_assumed;
	guess->shifted = header.shifted;
	if (!given->footer)
		guess->footer_rows = csv_find_footer(grid, header.first, &guess->first_below);
	guess->header = header.names.texts;
	guess->header_lengths = header.names.lengths;
	guess->nheader = header.nabove_fields > 0 ? header.nabove_fields : header.names.ncells;
	guess->nfields = count_fields(grid, header.first, guess->nheader, guess->footer_rows);
	if (!given->header)
		count_above(grid, &header, guess);
	if (grid->options.comment_length > 0 && !given->comment)
		note_comments(grid, header.in_comment, guess);
	guess->quotes_off = grid->options.quote == 0 && !given->quote &&
		grid->options.quoting != CSV_QUOTING_TEXT && has_quotes(grid);
	if (grid->options.quoting != CSV_QUOTING_TEXT && !given->escape && !given->quote)
		guess->escaped_line = find_escaped(grid);
	if (!given->quote)
	{
		guess->stray_line = find_stray(grid);
		guess->needless_line = find_needless(grid, header.first);
	}
	guess->trimmed = grid->options.trim && !given->trim &&
		!(header.found && is_first_padded(grid));
	guess->unusual = !given->delimiter && grid->is_table && header.names.texts == NULL &&
		strchr(" ^~", grid->options.delimiter) != NULL &&
		grid->options.delimiter_rest_length == 0;
	if (*grid->rival != '\0' && (!grid->rival_is_part || header.names.texts == NULL))
		guess->rival = MemoryContextStrdup(outer, grid->rival);
	take_dialect(table, grid, given);
	if (!given->boundary)
	{
		guess->boundary_found = boundary == CSV_BOUNDARY_CR &&
			csv_auto_finds_cr(dialect, sample);
		guess->odd_crs = csv_find_odd_crs(dialect, sample);
	}

	/* then shorter records are as good as others */
	if (table->pad && guess->header != NULL && guess->nheader > guess->nfields)
		guess->nfields = guess->nheader;
	MemoryContextDelete(scratch);
}
