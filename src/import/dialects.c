/*
 * dialects.c
 *		The dialect of a sample: tries the usual dialects.
 *
 *	1. For each delimiter, combinations of quotes, escapes and blanks are tried.  The best
 *	   leaves the fewest records unexplained; of equals the plainest is taken.
 *	2. Of the delimiters, the right one gives most records the same number of fields, with
 *	   types, and splits the header as it splits the records.  A delimiter that the first
 *	   record does not have loses to a delimiter that splits all records alike: it is
 *	   inside values.  In a log, a comment tells the number of fields.
 *	3. Lines that begin as comments may be left out, if that loses no row of the table.
 */
#include "postgres.h"

#include <ctype.h>

#include "access/htup_details.h"
#include "miscadmin.h"

#include "import/guess.h"

/* qualities of delimiters that are nearer than this are equal */
#define SAME_QUALITY	0.02

/* single blanks are tried where less of the records are a table by other delimiters */
#define LEAST_ROWS		0.8

/* columns that must have a type for them, and the most records of another number of fields */
#define LEAST_TYPED_BY_BLANKS	1.2
#define MOST_OTHERS		0.05

/* blanks, or other delimiters, beside values count if this share of the rows has them */
#define LEAST_PADDED	0.9

/* lines without a name that make a column of values, and those that are looked at */
#define LEAST_VALUES	0.5
#define LINES_OF_VALUES	50

/* lines of a record that must look like rows, where no column has a type */
#define LEAST_JOINED	3

/* one byte each, in order of preference, all else being equal */
static const uint8_t delimiters[] = {'\t', ';', ',', '|', '^', '~', '$', 0x01, 0x1f};

/* these, and delimiters of several characters */
#define MOST_TRIALS	(lengthof(delimiters) + CSV_WIDE_DELIMITERS)

/* a delimiter's quality next to the best, from which on it may be the right one */
#define RIVAL_QUALITY	0.5

/* a delimiter that makes a regular table */
typedef struct Trial
{
	char		delimiter[CSV_DELIMITER_BYTES + 1];
	uint64		from;			/* of the first record, in the sample */
	uint32		nrows;
	uint32		nfields;
	double		quality;
} Trial;

/* common to all dialects that are tried */
typedef struct Search
{
	CsvDialectOptions options;	/* as given */
	const char *null_string;
	const CsvGiven *given;
	const CsvSample *sample;
	const char *marker;			/* with which comments may begin */
	Trial		trials[MOST_TRIALS];
	uint32		ntrials;
	uint8_t		rejected;		/* a delimiter that may be inside the values of one column */
} Search;

static CsvGrid *
read_grid(const Search *search, const CsvDialectOptions *options)
{
	CsvGrid    *grid = csv_grid_read(options, search->sample, search->marker);

	csv_grid_place(grid, csv_told_fields(grid));
	return grid;
}

/* the better one of two, which is `challenger` if it wins; the other is freed */
static CsvGrid *
keep(CsvGrid *best, CsvGrid *challenger, bool wins)
{
	if (best == NULL)
		return challenger;
	csv_grid_free(wins ? best : challenger);
	return wins ? challenger : best;
}

/* ---- quotes, escapes, blanks ---- */

/*
 * The lines of a record whose quoted values hold line breaks, if each of them is a row of
 * the table that is there without quotes: then the quotes have joined rows.  Else 0.
 */
static uint32
count_joined(const CsvGrid *grid, uint32 number, const CsvGridRows *rows)
{
	const CsvGrid *plain = rows->grid;
	uint64		end = number + 1 < grid->nrecords ? grid->records[number + 1].start :
		grid->sample->nbytes;
	uint32		n = 0;

	for (uint32 i = 0; i < plain->nrecords && plain->records[i].start < end; i++)
	{
		CsvFit		fit = csv_count_fit(rows, &plain->records[i], true);

		if (plain->records[i].start < grid->records[number].start || plain->records[i].blank)
			continue;
		if (!csv_is_row(&plain->records[i], rows->ncolumns) ||
			(rows->typed > 0 && fit.nfit <= fit.nunfit))
			return 0;
		n++;
	}
	return rows->typed > 0 || n >= LEAST_JOINED ? n : 0;
}

/* the same number of fields without quotes; NULL: there is no such table */
static CsvGrid *
find_plain(const Search *search, const CsvGrid *grid)
{
	CsvDialectOptions options = grid->options;
	CsvGrid    *plain;

	options.quote = options.escape = 0;
	plain = read_grid(search, &options);
	if (plain->is_table && plain->nfields == grid->nfields &&
		plain->nfields <= MaxHeapAttributeNumber)
		return plain;
	csv_grid_free(plain);
	return NULL;
}

/*
 * Halves of records for which the dialect has no explanation: quoting errors, other
 * numbers of fields, quotes or blanks that are left around values, lines that quotes have
 * joined.  A quote on one side of a value may as well be a part of it: that is a half.
 */
static uint32
count_unexplained(const Search *search, const CsvGrid *grid)
{
	CsvGrid    *plain = NULL;
	uint32		n = 0;
	uint32		nrows = 0;
	uint32		npadded = 0;

	if ((grid->signs & CSV_SIGN_BROKEN) != 0)
		plain = find_plain(search, grid);
	for (uint32 i = 0; i < grid->nrecords; i++)
	{
		const CsvGridRecord *record = &grid->records[i];
		bool		is_row = csv_is_row(record, grid->nfields);

		if (!csv_is_counted(record))
			continue;
		n += !is_row || (record->signs & CSV_SIGN_ESCAPED) != 0 ? 2 :
			((record->signs & CSV_SIGN_OPENED) != 0) + ((record->signs & CSV_SIGN_CLOSED) != 0);

		/* the first may be a header, which may have no blanks */
		nrows += is_row && i > grid->from;
		npadded += is_row && i > grid->from && (record->signs & CSV_SIGN_PADDED) != 0;
		if (plain != NULL && (record->signs & CSV_SIGN_BROKEN) != 0)
			n += 2 * count_joined(grid, i, plain->rows);
	}
	if (plain != NULL)
		csv_grid_free(plain);
	return nrows >= 2 && npadded >= nrows * LEAST_PADDED ? n + 2 * npadded : n;
}

static bool
may_quote(const Search *search, const CsvDialectOptions *options, const char *delimiter)
{
	const uint8_t quote = options->quote;

	return quote == 0 || (strchr(delimiter, quote) == NULL && options->escape != quote &&
						  strchr(search->null_string, quote) == NULL &&
						  (options->comment_length == 0 || options->comment[0] != quote));
}

/* the delimiter of the options, with the quotes, escapes and blanks that go with it */
static CsvGrid *
try_delimiter(const Search *search, const CsvDialectOptions *options)
{
	const CsvGiven *given = search->given;
	CsvGrid    *best = read_grid(search, options);
	const uint8_t quotes[] = {options->quote, '\'', 0};
	const uint32 seen = best->signs;
	uint32		least;

	if (options->quoting == CSV_QUOTING_TEXT || best->nfields > CSV_MOST_FIELDS_TRIED)
		return best;
	least = count_unexplained(search, best);

	/* three kinds of quotes, without and with a backslash as escape, without and with trim */
	for (int i = 0; i < 12 && least > 0; i++)
	{
		CsvDialectOptions with = *options;
		bool		escaped = i / 3 % 2 == 1;
		CsvGrid    *grid;
		uint32		n;

		with.quote = quotes[i % 3];
		with.trim |= i >= 6;
		if (escaped)
			with.escape = '\\';

		/* where quotes protect delimiters, apostrophes are parts of values */
		if (i == 0 ||
			(escaped && (given->escape || with.quote == 0 ||
						 !csv_sample_has(search->sample, "\\"))) ||
			(i >= 6 && (given->trim || options->delimiter == ' ' ||
						(seen & (CSV_SIGN_PADDED | CSV_SIGN_BAD)) == 0)) ||
			(i % 3 != 0 && (given->quote || with.quote == options->quote)) ||
			(i % 3 == 1 && ((seen & CSV_SIGN_NEEDED) != 0 ||
							!csv_sample_has(search->sample, "'"))) ||
			(i % 3 == 2 && (given->escape ||
							(seen & (CSV_SIGN_BAD | CSV_SIGN_QUOTED)) == 0)) ||
			!may_quote(search, &with, best->delimiter))
			continue;
		grid = read_grid(search, &with);
		n = count_unexplained(search, grid);
		best = keep(best, grid, grid->is_table != best->is_table ?
					grid->is_table && n <= least : n < least);
		least = best == grid ? n : least;
	}
	return best;
}

/* ---- delimiters of one byte ---- */

/*
 * The first record of a grid's table, or its header that lacks the first name, or is the
 * last comment above
 */
static const CsvGridRecord *
first_of(const CsvGrid *grid)
{
	const CsvGridRecord *first = &grid->records[grid->from];
	uint32		last = grid->ncomments;

	while (last > 0 && grid->comments[last - 1].start > first->start)
		last--;
	if (last > 0 && csv_is_row(&grid->comments[last - 1], grid->nfields))
		return &grid->comments[last - 1];
	return grid->from > 0 && grid->nfields > 2 && csv_is_row(first - 1, grid->nfields - 1) ?
		first - 1 : first;
}

/* take note of a delimiter that may be the right one */
static void
add_trial(Search *search, const CsvGrid *grid)
{
	Trial	   *trial = &search->trials[search->ntrials];

	/* one price in each record is usual */
	if (!csv_grid_is_regular(grid) || (grid->options.delimiter == '$' && grid->nfields == 2))
		return;
	strlcpy(trial->delimiter, grid->delimiter, sizeof(trial->delimiter));
	trial->from = first_of(grid)->start;
	trial->nrows = grid->nrows;
	trial->nfields = grid->nfields;
	trial->quality = grid->quality;
	search->ntrials++;
}

/*
 * Has the grid's table another delimiter that splits nearly all of its rows alike, and
 * nearly as well, or is a tab, which is hardly in values?  A part of the delimiter does so,
 * and counts only where each row has just this one.
 */
static void
find_rival(const Search *search, CsvGrid *grid)
{
	double		least = grid->quality * RIVAL_QUALITY;

	if (!grid->is_table && grid->is_single)
		grid->rival[0] = (char) search->rejected;
	for (uint32 i = 0; grid->is_table && !grid->is_told && i < search->ntrials; i++)
	{
		const Trial *trial = &search->trials[i];
		bool		is_part = strstr(grid->delimiter, trial->delimiter) != NULL ||
			strstr(trial->delimiter, grid->delimiter) != NULL;

		if (strcmp(trial->delimiter, grid->delimiter) == 0 ||
			(trial->quality < least && trial->delimiter[0] != '\t') ||
			trial->nrows + trial->nrows * MOST_OTHERS < grid->nrows ||
			trial->from > grid->records[grid->from].start ||
			(is_part && Min(trial->nfields, grid->nfields) > 2))
			continue;
		least = Max(least, trial->quality);
		strlcpy(grid->rival, trial->delimiter, sizeof(grid->rival));
		grid->rival_is_part = is_part;
	}
}

/*
 * Does a grid's table begin above another's, or at the same record?  A line above the
 * other's and a blank line is a title.
 */
static bool
begins_above(const CsvGrid *grid, const CsvGrid *other, bool from_there)
{
	const CsvGridRecord *first = first_of(grid);
	uint64		of_other = other->records[other->from].start;
	bool		is_title = false;

	for (uint32 i = 0; i < grid->nrecords && grid->records[i].start < of_other; i++)
		is_title |= grid->records[i].start > first->start && grid->records[i].blank &&
			grid->records[i].nfields == 1;
	return first->start < of_other ? !is_title : from_there && first->start == of_other;
}

/*
 * Does a table split more records alike, or the header, too?  Then the other's delimiter
 * is inside of values.  Commas are in numbers and texts of all files, so that they lose
 * to more records in any case.
 */
static bool
outdoes(CsvGrid *grid, const CsvGrid *other)
{
	const bool	is_comma = grid->options.delimiter == ',';
	const CsvGridRecord *first = first_of(grid);
	uint32		nrows = grid->nrows + (first != &grid->records[grid->from]);
	uint32		nothers = grid->nothers;

	for (uint32 i = other->from; i < other->to; i++)
		nothers += other->records[i].start > grid->records[grid->to - 1].start;

	/* blanks are in all texts */
	if (grid->options.delimiter == ' ' || nrows < 2 ||
		nothers > grid->nrows * MOST_OTHERS ||
		!begins_above(grid, other, other->options.delimiter == ',' && !is_comma))
		return false;

	/* tabs are hardly in values, and commas in titles */
	if ((is_comma && other->options.delimiter == '\t') || nothers > other->nothers)
		return (first->signs & CSV_SIGN_PADDED) == 0 && csv_find_header(grid)->names != NULL &&
			first->start < other->records[other->from].start;
	return nrows > other->nrows;
}

/* is a table better than the best so far, whose delimiter comes first in preference? */
static bool
is_better(CsvGrid *grid, CsvGrid *best)
{
	if (outdoes(best, grid))
		return false;
	if (outdoes(grid, best))
		return true;
	if (grid->quality < best->quality * (1 - SAME_QUALITY))
		return false;
	if (grid->quality > best->quality * (1 + SAME_QUALITY))
		return true;
	return grid->nfields > best->nfields;
}

/* the delimiter of the line "sep=;" at the beginning; 0: there is none */
static uint8_t
told_delimiter(const CsvSample *sample)
{
	if (sample->nbytes < 6 || pg_strncasecmp((const char *) sample->bytes, "sep=", 4) != 0 ||
		(sample->bytes[5] != '\r' && sample->bytes[5] != '\n'))
		return 0;
	return sample->bytes[4];
}

/*
 * Does another delimiter stand before each tab of all rows?  Then the tab is a blank behind
 * it.
 */
static bool
has_delimiters_at_edges(const CsvGrid *grid)
{
	static const char usual[] = {'\t', ';', ',', '|', '^', '~'};

	for (uint32 i = grid->from; i < grid->to; i++)
	{
		const CsvGridRecord *record = &grid->records[i];

		for (uint32 j = 0; csv_is_row(record, grid->nfields) && j + 1 < record->ncells; j++)
		{
			const CsvCell *cell = &record->cells[j];

			if (cell->nbytes == 0 || cell->quoted ||
				memchr(usual, cell->text[cell->nbytes - 1], sizeof(usual)) == NULL)
				return false;
		}
	}
	return grid->nrows >= 2;
}

/* is a line one number, or one date and time, with blanks in it? */
static bool
is_one_value(const char *line, uint32 nbytes)
{
	const char *blank = strchr(line, ' ');
	CsvCellKind kind = csv_cell_kind(line, nbytes);

	if (kind == CSV_CELL_NUMBER)
		return true;
	if (kind != CSV_CELL_TIME || blank == NULL)
		return false;
	for (uint32 i = 0; i < nbytes; i++)
		if (isalpha((unsigned char) line[i]))
			return true;
	return strchr(blank + 1, ' ') == NULL &&
		csv_cell_kind(line, (uint32) (blank - line)) == CSV_CELL_TIME;
}

/* are most lines of a grid's table, and between commas the first, one value each? */
static bool
has_lines_of_values(const CsvGrid *grid)
{
	uint64		pos = grid->records[grid->from].start;
	uint32		nlines = 0;
	uint32		nvalues = 0;

	for (; pos < grid->sample->nbytes && nlines < LINES_OF_VALUES; nlines++)
	{
		char	   *line = csv_sample_line(grid->sample, pos);
		bool		is_value = is_one_value(line, (uint32) strlen(line));

		pfree(line);
		if (nlines == 0 && !is_value && grid->options.delimiter == ',')
			return false;
		nvalues += is_value;
		pos = csv_sample_next_line(grid->sample, pos, csv_break_byte(grid->options.boundary));
	}
	return nvalues >= nlines * LEAST_VALUES;
}

/*
 * Is the first record the name or the first value of a single column, whose values have
 * the delimiter in them?  Then it is one word right above rows that have no header of their
 * own, and all of whose values are of one kind; or each line is one value, as 1,5 and times
 * with a blank are.  (A table of several kinds below a title is a table.)
 */
static bool
is_one_column(const CsvGrid *grid)
{
	const uint32 first = csv_grid_first(grid);
	const CsvGridRecord *record = &grid->records[first];
	CsvCellKind kind = CSV_CELL_EMPTY;

	/* blanks are in times, and a comma is in numbers: below a name, if at all */
	if ((grid->options.delimiter == ' ' ||
		 (grid->options.delimiter == ',' && record->nfields < 2)) &&
		has_lines_of_values(grid))
		return true;
	if (first + 1 != grid->from || record->bad || record->nfields != 1 ||
		record->cells[0].kind != CSV_CELL_TEXT ||
		strpbrk(record->cells[0].text, " \t:;,|") != NULL)
		return false;
	for (uint32 i = grid->from; i < grid->to; i++)
		for (uint32 j = 0; csv_is_row(&grid->records[i], grid->nfields) &&
			 j < grid->records[i].ncells; j++)
		{
			CsvCellKind of_cell = grid->records[i].cells[j].kind;

			if (kind != CSV_CELL_EMPTY && of_cell != CSV_CELL_EMPTY && of_cell != kind)
				return false;
			kind = Max(kind, of_cell);
		}
	return true;
}

/* does "$" stand between the fields of all records, and not before prices? */
static bool
are_dollars_delimiters(const CsvGrid *grid)
{
	return grid->nothers == 0 && grid->from == csv_grid_first(grid) &&
		grid->records[grid->from].cells[0].nbytes > 0 &&
		grid->records[grid->to - 1].cells[0].nbytes > 0;
}

/* in texts there are single blanks, too: records must agree, and columns have types */
static bool
are_blanks_delimiters(const CsvGrid *grid)
{
	uint32		nothers;
	uint32		nrows = csv_count_rows(grid, grid->nfields, 0, grid->nrecords, &nothers);

	return grid->is_table && nothers <= 1 + nrows * MOST_OTHERS &&
		grid->rows->typed >= LEAST_TYPED_BY_BLANKS && !is_one_column(grid);
}

/* the better of the best and single blanks */
static CsvGrid *
try_blank(const Search *search, CsvDialectOptions with, CsvGrid *best)
{
	bool		is_covered = best != NULL && best->to - best->from >= best->nrecords * LEAST_ROWS;
	CsvGrid    *grid;
	bool		wins;

	if (is_covered && search->options.comment_length == 0 &&
		((best->signs & CSV_SIGN_QUOTED) != 0 || with.quote == 0 ||
		 memchr(search->sample->bytes, with.quote, search->sample->nbytes) == NULL))
		return best;
	with.delimiter = ' ';
	grid = try_delimiter(search, &with);

	/* a table of another delimiter may stand in quotes that begin behind blanks */
	wins = grid->is_told ||
		(are_blanks_delimiters(grid) && (best == NULL || is_better(grid, best)));
	if (wins || best != NULL)
		return keep(best, grid, wins);
	csv_grid_free(grid);
	return NULL;
}

/*
 * The best of the delimiters of one byte; except the quote, and characters of the
 * NULL marker.
 */
static CsvGrid *
try_delimiters(Search *search)
{
	CsvDialectOptions with = search->options;
	uint8_t		told = told_delimiter(search->sample);
	uint8_t		unused = 0;
	CsvGrid    *best = NULL;

	if (search->given->delimiter)
		return try_delimiter(search, &with);
	with.delimiter_rest_length = 0;
	for (size_t i = 0; i < lengthof(delimiters); i++)
	{
		CsvGrid    *grid;
		bool		is_single;

		with.delimiter = delimiters[i];
		if (with.delimiter == with.quote ||
			(with.comment_length > 0 && with.comment[0] == with.delimiter) ||
			strchr(search->null_string, with.delimiter) != NULL)
			continue;
		if (memchr(search->sample->bytes, with.delimiter, search->sample->nbytes) == NULL)
		{
			if (unused == 0 || with.delimiter == ',')
				unused = with.delimiter;
			continue;
		}
		grid = try_delimiter(search, &with);
		if (grid->nfields > CSV_MOST_FIELDS_TRIED ||
			(grid->is_table && (with.delimiter == told || grid->is_told ||
								(with.delimiter == '\t' && search->sample->prefers_tab))))
		{
			if (best != NULL)
				csv_grid_free(best);
			return grid;
		}
		is_single = grid->is_single;
		if (is_single && (unused == 0 || with.delimiter == ','))
			unused = with.delimiter;
		if (!grid->is_table || (with.delimiter == '\t' && has_delimiters_at_edges(grid)) ||
			(with.delimiter == '$' && !are_dollars_delimiters(grid)))
			csv_grid_free(grid);
		else if (is_one_column(grid) ||
				 (with.delimiter == '$' && grid->nfields == 2 &&
				  csv_find_header(grid)->names == NULL))
		{
			search->rejected = with.delimiter;
			csv_grid_free(grid);
		}
		else
		{
			add_trial(search, grid);
			best = keep(best, grid, best == NULL || is_better(grid, best));
		}
	}
	best = try_blank(search, with, best);
	if (best != NULL)
		return best;

	/* one field: a delimiter that does not occur in it */
	with.delimiter = unused != 0 ? unused : search->options.delimiter;
	return try_delimiter(search, &with);
}

/* ---- COPY's text format ---- */

static bool
has_empty_field(const CsvGrid *grid)
{
	for (uint32 i = 0; i < grid->nrecords; i++)
		for (uint32 j = 0; j < grid->records[i].ncells && grid->records[i].nfields > 1; j++)
			if (grid->records[i].cells[j].nbytes == 0)
				return true;
	return false;
}

/*
 * The sample in COPY's text format, if fields are written as COPY, pg_dump and MySQL do; NULL
 * if not.  Backslashes may as well be part of paths, and other programs write \N, but
 * leave fields empty, too, or have quotes.
 */
static CsvGrid *
try_text_format(const Search *search, const CsvGrid *grid)
{
	CsvDialectOptions with = grid->options;
	const bool	is_tab = with.delimiter == '\t';
	bool		any_empty;
	uint32		nothers;
	uint32		nrows;
	CsvGrid    *other;
	CsvEscapes	escapes = {0};

	if (!grid->is_table || !csv_sample_has(search->sample, "\\"))
		return NULL;
	csv_add_escapes(&escapes, &with, search->sample);
	any_empty = has_empty_field(grid);
	if (escapes.odd || (escapes.is_open && search->sample->at_end) ||
		((grid->signs & CSV_SIGN_QUOTED) != 0 && !(escapes.joins && is_tab)) ||
		(!escapes.joins &&
		 !(is_tab && (escapes.at_end ||
					  (escapes.nulls && (!any_empty || escapes.letters || escapes.doubled))))))
		return NULL;
	with.quote = with.escape = 0;
	with.quoting = CSV_QUOTING_TEXT;
	other = read_grid(search, &with);
	nrows = csv_count_rows(other, other->nfields, 0, other->nrecords, &nothers);
	if (!escapes.joins ||
		(nothers <= nrows * MOST_OTHERS && (!any_empty || is_tab) &&
		 (other->nfields == grid->nfields || !csv_grid_is_regular(grid))))
		return other;
	csv_grid_free(other);
	return NULL;
}

/* ---- delimiters of several characters ---- */

/* does all of a string repeat one character? */
static bool
is_repetition(const char *text)
{
	return strspn(text, (char[]) {*text, '\0'}) == strlen(text);
}

/*
 * A string that contains the best delimiter: the characters around it must not belong to
 * values, as percent signs do, and no row may be lost.
 */
static bool
may_contain(const CsvGrid *grid, const CsvGrid *best)
{
	const char *wide = grid->delimiter;

	return grid->nothers <= best->nothers && grid->from <= best->from &&
		(strspn(wide, "|~^;:") == strlen(wide) || wide[0] == wide[strlen(wide) - 1] ||
		 grid->nfields != best->nfields);
}

/* is a delimiter of several characters better than the best? */
static bool
is_better_wide(CsvGrid *grid, CsvGrid *best)
{
	if (!csv_grid_is_regular(grid) || is_one_column(grid))
		return false;
	if (!best->is_table)
		return true;
	if (outdoes(best, grid))
		return false;
	if (outdoes(grid, best))
		return true;

	/* the rest of a longer one belongs to values, where the shorter one has more fields */
	if (strstr(best->delimiter, grid->delimiter) != NULL)
		return !is_repetition(best->delimiter) && grid->nfields > best->nfields;
	if (strstr(grid->delimiter, best->delimiter) != NULL)
		return may_contain(grid, best) &&
			(!is_repetition(grid->delimiter) || best->nfields != 3 ||
			 csv_find_header(grid)->found);
	return grid->quality > best->quality;
}

/* the better of the best and the delimiters of several characters */
static CsvGrid *
try_wide_delimiters(Search *search, CsvGrid *best)
{
	CsvDialectOptions with = search->options;
	CsvWideDelimiter wide[CSV_WIDE_DELIMITERS];
	uint32		nwide = csv_find_wide_delimiters(search->sample,
												 csv_break_byte(with.boundary), with.quote, wide);

	for (uint32 i = 0; i < nwide; i++)
	{
		CsvGrid    *grid;

		if ((with.quote != 0 && strchr(wide[i], with.quote) != NULL) ||
			(*search->null_string != '\0' && strstr(search->null_string, wide[i]) != NULL))
			continue;
		csv_dialect_set_delimiter(&with, wide[i]);
		grid = try_delimiter(search, &with);
		add_trial(search, grid);
		best = keep(best, grid, is_better_wide(grid, best));
	}
	return best;
}

static CsvGrid *
try_all(Search *search)
{
	const CsvGiven *given = search->given;
	CsvGrid    *best;
	CsvGrid    *text = NULL;

	search->ntrials = 0;
	search->rejected = 0;
	best = try_delimiters(search);
	if (best->options.quoting == CSV_QUOTING_TEXT || best->nfields > CSV_MOST_FIELDS_TRIED)
		return best;
	if (!given->format && !given->quote && !given->escape)
		text = try_text_format(search, best);
	if (text != NULL)
		return keep(best, text, true);
	if (given->delimiter)
		return best;
	best = try_wide_delimiters(search, best);
	find_rival(search, best);
	return best;
}

/* ---- comments ---- */

/* strings that may begin comments */
static const char *const markers[] = {"#", "//", "--", ";", "%"};

/* above it, a line that begins with its first character is a header */
#define LONG_MARKER	"##"

/* that with which most lines of the sample begin; NULL: none begins with any */
static const char *
find_marker(const CsvSample *sample, uint8_t break_byte)
{
	uint32		counts[lengthof(markers)] = {0};
	uint32		nlong = 0;
	size_t		best = 0;

	for (uint64 pos = 0; pos < sample->nbytes;
		 pos = csv_sample_next_line(sample, pos, break_byte))
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < lengthof(markers); i++)
			counts[i] += csv_sample_has_at(sample, pos, markers[i]);
		nlong += csv_sample_has_at(sample, pos, LONG_MARKER);
	}
	for (size_t i = 1; i < lengthof(markers); i++)
		if (counts[i] > counts[best])
			best = i;
	if (best == 0 && nlong > 0 && nlong + 1 == counts[0])
		return LONG_MARKER;
	return counts[best] > 0 ? markers[best] : NULL;
}

/*
 * May lines that begin with the dialect's comment be left out of the table?  A value may
 * begin so, too, as "#ff0000" and "--" do: none of the lines may have as many fields as the
 * table and fit its columns.  The grid has all other lines.
 */
static bool
are_comments(CsvGrid *grid)
{
	const uint64 table = grid->records[grid->from].start;
	const CsvGridRows *rows = grid->rows;
	uint32		nabove = 0;

	for (uint32 i = 0; i < grid->ncomments; i++)
	{
		const CsvGridRecord *comment = &grid->comments[i];
		CsvFit		fit;

		if (!csv_is_row(comment, rows->ncolumns))
			continue;

		/* all data may begin so, below a header */
		if (rows->nrows < 2 && comment->start > table)
			return false;
		fit = csv_count_fit(rows, comment, true);

		/* if nothing tells, a single comment above the table may be its header */
		if (fit.nfit + fit.nunfit == 0 && comment->start < table)
		{
			if (++nabove > 1)
				return false;
		}
		else if (fit.nfit >= fit.nunfit)
			return false;
		else if (comment->start < table)
			nabove++;
	}

	/* a single comment may be the header, if there is no other */
	return grid->ncomments > 1 || nabove == 0 || csv_find_header(grid)->found;
}

/* the same without lines that begin with the marker, if they may be comments; else NULL */
static CsvGrid *
leave_out_comments(const Search *search, const CsvGrid *grid, const char *marker)
{
	Search		with = *search;
	CsvGrid    *without;
	with.marker = marker;
	with.options.comment_length = (uint8_t) strlen(marker);
	memcpy(with.options.comment, marker, with.options.comment_length);
	if ((search->given->delimiter && with.options.delimiter == with.options.comment[0]) ||
		with.options.quote == with.options.comment[0] ||
		with.options.escape == with.options.comment[0])
		return NULL;
	without = try_all(&with);
	if (without->is_told ||
		(without->from < without->to && without->is_table >= grid->is_table &&
		 without->nfields <= MaxHeapAttributeNumber &&
		 (without->quality >= grid->quality ||
		  (without->nfields == grid->nfields &&
		   without->options.delimiter == grid->options.delimiter)) && are_comments(without)))
		return without;
	csv_grid_free(without);
	return NULL;
}

CsvGrid *
csv_find_dialect(const CsvDialectOptions *options, const char *null_string,
				 const CsvGiven *given, const CsvSample *sample)
{
	Search		search = {
		.options = *options, .null_string = null_string, .given = given, .sample = sample
	};
	CsvGrid    *grid;
	CsvGrid    *without = NULL;
	bool		any = false;

	if (options->comment_length > 0 || !(given->further || given->comment))
		search.marker = find_marker(sample, csv_break_byte(options->boundary));
	if (given->further)
		return read_grid(&search, options);
	grid = try_all(&search);
	for (uint32 i = 0; i < grid->nrecords; i++)
		any |= grid->records[i].comment;
	if (search.marker == NULL || !any || options->comment_length > 0 ||
		grid->nfields > CSV_MOST_FIELDS_TRIED)
		return grid;

	without = leave_out_comments(&search, grid, search.marker);
	if (without != NULL)
		return keep(grid, without, true);
	grid->marker = NULL;
	grid->header = NULL;
	for (uint32 i = 0; i < grid->nrecords; i++)
		grid->records[i].comment = false;
	return grid;
}
