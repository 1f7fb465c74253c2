/*
 * ending.c
 *		Records at a file's end that are not data: sums, notes, marks of the end.
 *
 * These records stand below the last record that is surely of the table, with as many
 * fields and cells that fit the columns' types.  A record that only does not fit may be
 * data, or be cut off, and stays.  A footer has a further sign: a blank line above it, a
 * word such as "Source" or "Total", the sum of a column, or prose.
 */
#include "postgres.h"

#include <ctype.h>
#include <math.h>

#include "access/htup_details.h"
#include "miscadmin.h"

#include "import/guess.h"

/* lines at the end that are looked at */
#define TAIL_LINES	200

/* blanks in a text that is prose */
#define PROSE_BLANKS	3

/* records that tell whether prose is unusual */
#define PROSE_RECORDS	50

/* most bytes of a number that is summed up */
#define NUMBER_BYTES	64

/* how far a sum may be from what its column's numbers are, which may all be rounded */
#define MOST_ROUNDING	0.002

/* the end of a file, next to the table's types */
typedef struct FileEnd
{
	const CsvGridRows *rows;		/* rows of the beginning, with the types */
	const CsvGrid *grid;		/* the records at the end */
	bool		is_all;			/* they are all records that there are */
	uint32		first;			/* record of data among them */
	uint32		last;			/* record that is surely of the table */
	bool		prosaic;		/* the table has prose, too */
	uint32		ntexts;			/* texts of a record of it that has only texts; 0: none */
} FileEnd;

/* a record's cells next to the columns' types */
typedef struct EndCells
{
	CsvFit		fit;
	bool		first_unfit;	/* the first cell is filled and does not fit */
	const char *text;			/* of the first cell that is filled */
} EndCells;

static EndCells
look_at(const FileEnd *end, uint32 number)
{
	const CsvGridRecord *record = &end->grid->records[number];
	EndCells	cells = {.fit = csv_count_fit(end->rows, record, true), .text = ""};
	uint32		i = 0;

	while (i < record->ncells && record->cells[i].kind == CSV_CELL_EMPTY)
		i++;
	if (i < record->ncells)
		cells.text = record->cells[i].text + strspn(record->cells[i].text, " \t");
	cells.first_unfit = i == 0 && record->ncells > 0 &&
		end->rows->types[0] != CSV_CELL_TEXT &&
		!csv_kind_fits(end->rows->types[0], record->cells[0].kind);
	return cells;
}

/* ---- sums ---- */

/* does a text begin with one of these words, and is there no more of the word? */
static bool
begins_with_word(const char *text, const char *const *words, size_t nwords)
{
	for (size_t i = 0; i < nwords; i++)
	{
		size_t		nbytes = strlen(words[i]);

		if (pg_strncasecmp(text, words[i], nbytes) == 0 &&
			!isalnum((unsigned char) text[nbytes]) && !IS_HIGHBIT_SET(text[nbytes]))
			return true;
	}
	return false;
}

/* does a text begin with a word for a sum or a mean? */
static bool
is_sum(const char *text, bool *is_mean)
{
	static const char *const sums[] = {
		"total", "totals", "totaal", "totale", "grand total", "sum", "summe", "gesamt",
		"gesamtsumme", "insgesamt", "somme", "suma", "summa", "soma"
	};
	static const char *const means[] = {
		"average", "avg", "mean", "mittel", "mittelwert", "moyenne", "media", "medio"
	};

	*is_mean = begins_with_word(text, means, lengthof(means));
	return *is_mean || begins_with_word(text, sums, lengthof(sums));
}

bool
csv_cell_number(const CsvCell *cell, char point, double *number)
{
	char		plain[NUMBER_BYTES + 1];
	char	   *rest;
	uint32		n = 0;

	for (uint32 i = 0; i < cell->nbytes; i++)
	{
		char		c = cell->text[i];

		if (n == NUMBER_BYTES)
			return false;
		if (c == point)
			plain[n++] = '.';
		else if (strchr(" .,'%", c) == NULL)
			plain[n++] = c;
	}
	plain[n] = '\0';
	*number = strtod(plain, &rest);
	return rest != plain && *rest == '\0' && isfinite(*number);
}

/* is a cell of a record the sum, or mean, of the column's cells above? */
static bool
is_sum_of_column(const FileEnd *end, uint32 number, uint32 column, char point, bool is_mean)
{
	double		sum = 0;
	double		cell;
	uint32		n = 0;

	for (uint32 i = end->first; i <= end->last; i++)
	{
		const CsvGridRecord *record = &end->grid->records[i];

		if (!csv_is_row(record, end->rows->ncolumns) ||
			!csv_cell_number(&record->cells[column], point, &cell))
			continue;
		sum += cell;
		n++;
	}
	return n >= 2 && column < end->grid->records[number].ncells &&
		csv_cell_number(&end->grid->records[number].cells[column], point, &cell) &&
		fabs(cell * (is_mean ? n : 1) - sum) <= fabs(sum) * MOST_ROUNDING;
}

/* ... with either decimal separator */
static bool
has_sum(const FileEnd *end, uint32 number, bool is_mean)
{
	for (uint32 i = 0; end->is_all && i < end->rows->ncolumns; i++)
		if (end->rows->types[i] == CSV_CELL_NUMBER &&
			(is_sum_of_column(end, number, i, '.', is_mean) ||
			 is_sum_of_column(end, number, i, ',', is_mean)))
			return true;
	return false;
}

/* ---- records ---- */

/* a note, or a mark of the end? */
static bool
is_note(const char *text)
{
	static const char *const words[] = {
		"source", "sources", "note", "notes", "footnote", "footnotes", "remark", "remarks",
		"disclaimer", "copyright", "\xc2\xa9", "last updated", "updated", "exported",
		"generated", "quelle", "quellen", "hinweis", "hinweise", "anmerkung", "anmerkungen",
		"fu\xc3\x9fnote", "stand", "erstellt", "remarque", "remarques", "fuente", "fuentes",
		"nota", "notas", "fonte", "fontes", "fonti", "bron", "kilde", "k\xc3\xa4lla",
		"end", "end of file", "end of data", "eof", "ende", "dateiende", "fin", "fine",
		"trailer", "trl"
	};

	return begins_with_word(text, words, lengthof(words));
}

/* ... or in words that no value is likely to have? */
static bool
is_prose(const char *text)
{
	const char *colon = strchr(text, ':');
	uint32		nblanks = 0;

	for (const char *c = text; *c != '\0'; c++)
		nblanks += *c == ' ';
	if (nblanks >= PROSE_BLANKS || strncmp(text, "--", 2) == 0 || strncmp(text, "==", 2) == 0)
		return true;

	/* a time has colons, too */
	if (colon != NULL && !isdigit((unsigned char) *text) &&
		(colon[1] == ' ' || colon[1] == '\0'))
		return true;
	return *text != '\0' && strchr("(*_", *text) != NULL;
}

/* surely a record of the table? */
static bool
is_sure(const FileEnd *end, uint32 number)
{
	EndCells	cells;
	bool		is_mean;

	if (!csv_is_row(&end->grid->records[number], end->rows->ncolumns))
		return false;
	cells = look_at(end, number);
	return cells.fit.nunfit == 0 &&
		end->grid->records[number].nfilled * 2 >= end->rows->usually_filled &&
		!is_sum(cells.text, &is_mean);
}

/* do the table's own records begin with prose, or have text that does not fit alone? */
static void
look_above(FileEnd *end)
{
	for (uint32 i = end->last + 1; i > end->first && i + PROSE_RECORDS > end->last; i--)
	{
		const CsvGridRecord *record = &end->grid->records[i - 1];
		EndCells	cells;

		if (!csv_is_row(record, end->rows->ncolumns))
			continue;
		cells = look_at(end, i - 1);
		end->prosaic |= is_prose(cells.text);
		if (cells.fit.nfit == 0 &&
			(cells.fit.nunfit > 0 || is_note(cells.text) || is_prose(cells.text)))
			end->ntexts = record->nfilled;
	}
}

/* has a record that is not surely of the table a sign of a footer? */
static bool
is_footer(const FileEnd *end, uint32 number, bool after_blank)
{
	const CsvGridRecord *record = &end->grid->records[number];
	EndCells	cells;
	bool		is_mean;
	bool		told;

	if (record->bad)
		return after_blank;
	cells = look_at(end, number);
	if (!after_blank && cells.fit.nfit == 0 && record->nfilled == end->ntexts &&
		record->nfields == end->rows->ncolumns)
		return false;
	if (is_sum(cells.text, &is_mean) &&
		(cells.first_unfit || after_blank || has_sum(end, number, is_mean)))
		return true;
	told = is_note(cells.text) || (is_prose(cells.text) && !end->prosaic);
	if (record->nfields == end->rows->ncolumns)
		return record->nfilled == 1 ? told || (after_blank && cells.fit.nunfit > 0) :
			after_blank && cells.fit.nunfit > 0 && cells.fit.nunfit >= cells.fit.nfit;
	if (cells.fit.nfit > cells.fit.nunfit)
		return false;
	return told || after_blank;
}

static uint32
count_footer(FileEnd *end, char **line)
{
	uint32		nrecords = end->grid->nrecords;
	uint32		begin = nrecords;	/* of the footer */
	uint32		nlines = 0;
	bool		after_blank = false;

	end->last = nrecords;
	while (end->last > end->first && !is_sure(end, end->last - 1))
		end->last--;
	if (end->last == end->first)
		return 0;
	end->last--;
	look_above(end);
	for (uint32 i = end->last + 1; i < nrecords; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (end->grid->records[i].blank)
			after_blank = true;
		else if (is_footer(end, i, after_blank))
			begin = Min(begin, i);
	}
	if (begin == nrecords)
		return 0;
	*line = csv_sample_line(end->grid->sample, end->grid->records[begin].start);

	/* and so are blank records above it; blank lines do not count */
	while (end->grid->records[begin - 1].blank)
		begin--;
	for (uint32 i = begin; i < nrecords; i++)
		nlines += end->grid->records[i].blank && end->grid->records[i].nfields == 1;
	return nrecords - begin - nlines;
}

/* the last lines of a file */
static CsvSample
last_lines(const CsvSample *sample, uint8_t break_byte)
{
	CsvSample	lines = *sample;
	uint64		begin = 0;
	uint32		nlines = 0;

	if (!sample->at_end)
	{
		lines.bytes = sample->tail;
		lines.nbytes = sample->ntail;
		lines.at_end = true;
	}

	/* from a line break on: the first line may be cut off */
	for (uint64 i = lines.nbytes; i > 0 && nlines <= TAIL_LINES; i--)
		if (lines.bytes[i - 1] == break_byte)
		{
			begin = i;
			nlines++;
		}
	lines.bytes += begin;
	lines.nbytes -= begin;
	return lines;
}

uint32
csv_find_footer(const CsvGrid *grid, uint32 first, char **line)
{
	FileEnd		end = {.grid = grid, .first = first};
	CsvSample	lines;

	if ((!grid->sample->at_end && grid->sample->ntail == 0) || !grid->is_table ||
		grid->nfields > MaxHeapAttributeNumber || first >= grid->to)
		return 0;
	end.rows = csv_rows_make(grid, grid->nfields, first, grid->to);
	end.is_all = grid->sample->at_end && grid->nrecords < CSV_GRID_RECORDS;
	if (!end.is_all)
	{
		lines = last_lines(grid->sample, csv_break_byte(grid->options.boundary));
		end.first = 0;
		end.grid = csv_grid_read(&grid->options, &lines, grid->marker);
	}
	return count_footer(&end, line);
}
