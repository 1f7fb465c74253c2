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
#include "import/guess.h"

/* ---- the number of fields ---- */

static bool
has_fields(const CsvGridRecord *record)
{
	return !record->bad && (record->nfields > 1 || !record->blank);
}

/*
 * The number of fields that most records from `first` on have.  Of equally frequent
 * numbers, the header's is taken if it is among them, otherwise the largest.  nheader is 0
 * if there is no header.
 */
static uint32
count_fields(const CsvGrid *grid, uint32 first, uint32 nheader, uint32 nfooter)
{
	uint32		most = 0;
	uint32		nfields = nheader;
	uint32		last = grid->nrecords;

	/* the footer's fields do not count */
	while (grid->sample->at_end && nfooter > 0 && last > first)
		nfooter -= !grid->records[--last].blank;
	/* no other number beats a majority */
	for (uint32 i = first; i < last && most <= (last - first) / 2; i++)
	{
		uint32		candidate = grid->records[i].nfields;
		uint32		n = 0;

		if (!has_fields(&grid->records[i]))
			continue;
		for (uint32 j = first; j < last; j++)
			n += has_fields(&grid->records[j]) && grid->records[j].nfields == candidate;
		if (n > most || (n == most && nfields != nheader &&
						 (candidate == nheader || candidate > nfields)))
		{
			most = n;
			nfields = candidate;
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
		table->delimiter = pstrdup(grid->delimiter);
	if (dialect->quoting == CSV_QUOTING_TEXT && *table->null_string == '\0')
		table->null_string = "\\N";
	if (dialect->comment_length > 0 && table->comment == NULL)
		table->comment = pnstrdup((const char *) dialect->comment, dialect->comment_length);
}

/* count the records above the data that do not belong to the header */
static void
count_above(const CsvGrid *grid, CsvGuess *guess)
{
	const CsvHeader *header = &guess->header;

	for (uint32 i = 0; i < Min(header->first, grid->nrecords); i++)
	{
		/* punctuation stands below the names of a table that was printed */
		if (grid->records[i].blank || csv_consists_of(&grid->records[i], "-=:+ ") ||
			(header->found && i >= header->top && i <= header->last))
			continue;
		if (guess->nabove++ == 0)
			guess->first_above = csv_sample_line(grid->sample, grid->records[i].start);
	}
}

void
csv_guess(CsvTable *table, const CsvGiven *given, const CsvSample *sample, CsvGuess *guess)
{
	CsvDialectOptions *dialect = &table->reader.dialect;
	CsvBoundary boundary = dialect->boundary;
	const uint32 rows = table->reader.header_rows;
	CsvHeader  *header = &guess->header;
	CsvGrid    *grid;

	memset(guess, 0, sizeof(*guess));
	guess->boundary = boundary;

	/* no record ends: all trials would find nothing, slowly */
	if (!sample->at_end && !csv_sample_has(sample, "\n") && !csv_sample_has(sample, "\r"))
		return;
	if (!given->boundary)
	{
		guess->boundary = csv_find_boundary(sample, dialect->quote);

		/* breaks of several kinds may mix, except lone CRs */
		boundary = guess->boundary == CSV_BOUNDARY_CR ? CSV_BOUNDARY_CR : CSV_BOUNDARY_AUTO;
	}
	dialect->boundary = (uint8_t) boundary;
	grid = csv_find_dialect(dialect, table->null_string, given, sample);
	if (!given->boundary && boundary == CSV_BOUNDARY_AUTO &&
		csv_auto_finds_cr(&grid->options, sample))
	{
		guess->boundary = boundary = dialect->boundary = CSV_BOUNDARY_CR;
		grid = csv_find_dialect(dialect, table->null_string, given, sample);
	}
	if (!given->header && grid->nrecords > 0)
	{
		*header = *csv_find_header(grid);
		table->reader.header_rows = grid->nblank + header->first;
		count_above(grid, guess);
	}
	else if ((header->first = Min(rows - Min(rows, grid->nblank), grid->nrecords)) > 0)
	{
		header->names = csv_names_of(&grid->records[header->first - 1], grid->marker);
		header->nfields = grid->records[header->first - 1].nfields;
	}
	if (header->first > 0)
		guess->last_row = csv_names_of(&grid->records[header->first - 1], NULL);
	guess->grid = grid;
	guess->any_data = header->first < grid->nrecords;
	if (!given->footer)
		guess->footer_rows = csv_find_footer(grid, header->first, &guess->first_below);
	guess->nfields = count_fields(grid, header->first, header->nfields, guess->footer_rows);

	/* a single comment may be the header */
	if (grid->options.comment_length > 0 && !given->comment &&
		grid->ncomments > (header->in_comment ? 1 : 0))
		guess->first_comment = csv_sample_line(sample, grid->comments[0].start);
	take_dialect(table, grid, given);
	guess->boundary_found = !given->boundary && boundary == CSV_BOUNDARY_CR &&
		csv_auto_finds_cr(dialect, sample);

	/* then shorter records are as good as others */
	if (table->pad && header->names != NULL)
		guess->nfields = Max(guess->nfields, header->nfields);
}
