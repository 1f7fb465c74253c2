/*
 * ending.c
 *		Records at a file's end that are no data: sums, notes, marks of the end.
 *
 * They stand below the last record that is surely of the table: one with as many fields,
 * whose cells fit the columns' types.  That a record there does not fit is not enough:
 * it may be data, or be cut off, and is left to be seen as such.  Something has to tell
 * that it is none: a blank line above it, a word such as "Source" or "Total", a column of
 * which it has the sum, or prose.
 */
#include "postgres.h"

#include <ctype.h>
#include <math.h>

#include "access/htup_details.h"
#include "miscadmin.h"

#include "import/cell.h"
#include "import/ending.h"
#include "import/grid.h"

/* lines at the end that are looked at */
#define TAIL_LINES	200

/* blanks in a text that is prose */
#define PROSE_BLANKS	3

/* records that tell whether prose is unusual */
#define PROSE_RECORDS	50

/* how far a sum may be from what its column's numbers are, which may all be rounded */
#define MOST_ROUNDING	0.002

/* what is needed to look at a record of the file's end */
typedef struct FileEnd
{
	const CsvTable *table;
	const CsvGrid *grid;		/* of the beginning, with the types */
	CsvSheet	sheet;			/* the end's records */
	const CsvSample *sample;
	bool		is_all;			/* the records are all there are */
	uint32		first;			/* record of data among these */
	uint32		last;			/* that is surely of the table */
	bool		prosaic;		/* prose is nothing unusual in the table */
} FileEnd;

/* a record's cells next to the columns' types */
typedef struct EndCells
{
	uint32		ncells;
	uint32		nfilled;
	uint32		nfit;
	uint32		nunfit;
	bool		first_unfit;	/* the first cell is filled and does not fit */
	char	   *text;			/* of the first that is filled */
} EndCells;

static EndCells
look_at(const FileEnd *end, uint32 number)
{
	EndCells	cells = {.text = ""};
	CsvDialect	dialect;
	CsvScan		scan;

	csv_dialect_compile(&dialect, &end->sheet.options);
	csv_sample_begin(&scan, end->sheet.records[number].start);
	if (csv_sample_next(&scan, &dialect, end->sample) && !scan.bad)
		cells.ncells = Min(scan.nfields, MaxHeapAttributeNumber);
	for (uint32 i = 0; i < cells.ncells; i++)
	{
		char	   *value;
		uint32		nbytes = csv_sample_value(&scan, &dialect, end->sample, i, &value, NULL);
		CsvCellKind kind = csv_cell_kind(value, nbytes);
		uint8		type = i < end->grid->ncolumns ? end->grid->types[i] : CSV_CELL_TEXT;
		bool		fits = csv_grid_fits(type, (uint8) kind);

		if (kind == CSV_CELL_EMPTY)
		{
			pfree(value);
			continue;
		}
		if (cells.nfilled++ == 0)
			cells.text = value + strspn(value, " \t");
		else
			pfree(value);
		if (type == CSV_CELL_TEXT)
			continue;
		cells.nfit += fits;
		cells.nunfit += !fits;
		cells.first_unfit |= i == 0 && !fits;
	}
	csv_sample_end(&scan);
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

/* a cell's number, and half of what its last digit counts; false if it is none */
static bool
number_of(const FileEnd *end, const CsvScan *scan, const CsvDialect *dialect,
		  uint32 column, double *number, double *half)
{
	const char *thousands = end->table->thousands_separator;
	char	   *value;
	char	   *point;
	char	   *rest;
	uint32		n = 0;

	if (column >= scan->nfields)
		return false;
	(void) csv_sample_value(scan, dialect, end->sample, column, &value, NULL);
	for (uint32 i = 0; value[i] != '\0'; i++)
		if (value[i] == end->table->decimal_separator)
			value[n++] = '.';
		else if (value[i] != ' ' && (thousands == NULL || value[i] != *thousands))
			value[n++] = value[i];
	value[n] = '\0';
	point = strchr(value, '.');
	*half = 0.5 * pow(10, point == NULL ? 0 : -(double) (strlen(point) - 1));
	*number = strtod(value, &rest);
	n = rest != value && *rest == '\0' && isfinite(*number);
	pfree(value);
	return n != 0;
}

/* is a cell of a record the sum, or mean, of the column's cells above? */
static bool
is_sum_of_column(const FileEnd *end, uint32 number, uint32 column, bool is_mean)
{
	CsvDialect	dialect;
	CsvScan		scan;
	double		sum = 0;
	double		cell;
	double		half;
	double		error = 0;
	uint32		n = 0;
	bool		found;

	csv_dialect_compile(&dialect, &end->sheet.options);
	csv_sample_begin(&scan, 0);
	for (uint32 i = end->first; i <= end->last; i++)
	{
		scan.next = end->sheet.records[i].start;
		if (!csv_is_row(&end->sheet.records[i], end->sheet.nfields) ||
			!csv_sample_next(&scan, &dialect, end->sample) ||
			!number_of(end, &scan, &dialect, column, &cell, &half))
			continue;
		sum += cell;
		error += half;
		n++;
	}
	scan.next = end->sheet.records[number].start;
	found = n >= 2 && csv_sample_next(&scan, &dialect, end->sample) &&
		number_of(end, &scan, &dialect, column, &cell, &half) &&
		fabs(cell * (is_mean ? n : 1) - sum) <=
		Min(error + half * (is_mean ? n : 1), fabs(sum) * MOST_ROUNDING) + fabs(sum) * 1e-9;
	csv_sample_end(&scan);
	return found;
}

static bool
has_sum(const FileEnd *end, uint32 number, bool is_mean)
{
	for (uint32 i = 0; end->is_all && i < end->grid->ncolumns; i++)
		if (end->grid->types[i] == CSV_CELL_NUMBER &&
			is_sum_of_column(end, number, i, is_mean))
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

	if (!csv_is_row(&end->sheet.records[number], end->sheet.nfields))
		return false;
	cells = look_at(end, number);
	return cells.nunfit == 0 && cells.nfilled * 2 >= end->grid->usually_filled &&
		!(cells.nfilled > 0 && is_sum(cells.text, &is_mean));
}

/* do the table's own records begin with what would be prose below it? */
static bool
begins_with_prose(const FileEnd *end)
{
	for (uint32 i = end->last + 1; i > end->first && i + PROSE_RECORDS > end->last; i--)
		if (csv_is_row(&end->sheet.records[i - 1], end->sheet.nfields) &&
			is_prose(look_at(end, i - 1).text))
			return true;
	return false;
}

/* a record that is not surely of the table: does something tell that it is none? */
static bool
is_footer(const FileEnd *end, uint32 number, bool after_blank)
{
	const CsvSampleRecord *record = &end->sheet.records[number];
	EndCells	cells;
	bool		is_mean;
	bool		told;

	if (record->bad)
		return after_blank;
	cells = look_at(end, number);
	if (is_sum(cells.text, &is_mean) &&
		(cells.first_unfit || after_blank || has_sum(end, number, is_mean)))
		return true;
	told = is_note(cells.text) || (is_prose(cells.text) && !end->prosaic);
	if (record->nfields == end->sheet.nfields)
		return cells.nfilled == 1 ? told || (after_blank && cells.nunfit > 0) :
			after_blank && cells.nunfit > 0 && cells.nunfit >= cells.nfit;
	if (cells.nfit > cells.nunfit)
		return false;
	return told || after_blank;
}

static uint32
count_footer(FileEnd *end, char **line)
{
	uint32		nrecords = end->sheet.nrecords;
	uint32		begin = nrecords;	/* of the footer */
	uint32		nlines = 0;
	bool		after_blank = false;

	end->last = nrecords;
	while (end->last > end->first && !is_sure(end, end->last - 1))
		end->last--;
	if (end->last == end->first)
		return 0;
	end->last--;
	end->prosaic = begins_with_prose(end);
	for (uint32 i = end->last + 1; i < nrecords; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (end->sheet.records[i].blank)
			after_blank = true;
		else if (is_footer(end, i, after_blank))
			begin = Min(begin, i);

		/* what follows a footer is part of it, unless it is like a record */
		else if (csv_is_row(&end->sheet.records[i], end->sheet.nfields))
			begin = nrecords;
	}
	if (begin == nrecords)
		return 0;
	*line = csv_sample_line(end->sample, end->sheet.records[begin].start);

	/* and so are blank records above it; blank lines do not count */
	while (end->sheet.records[begin - 1].blank)
		begin--;
	for (uint32 i = begin; i < nrecords; i++)
		nlines += end->sheet.records[i].blank && end->sheet.records[i].nfields == 1;
	return nrecords - begin - nlines;
}

/* the last lines of a sample */
static CsvSample
last_lines(const CsvSample *sample, uint8_t break_byte)
{
	CsvSample	lines = *sample;
	uint32		nlines = 0;

	for (uint64 i = sample->nbytes; i > 0 && nlines <= TAIL_LINES; i--)
		if (sample->bytes[i - 1] == break_byte)
		{
			lines.bytes = sample->bytes + i;
			lines.nbytes = sample->nbytes - i;
			nlines++;
		}
	return lines;
}

uint32
csv_find_footer(const CsvTable *table, const CsvSheet *sheet, const CsvSample *sample,
				uint32 first, char **line)
{
	FileEnd		end = {.table = table, .sheet = *sheet, .sample = sample, .first = first};
	CsvSample	lines;
	CsvGrid    *grid;
	uint32		n;

	if ((!sample->at_end && sample->ntail == 0) || !sheet->is_table ||
		sheet->nfields > MaxHeapAttributeNumber || first >= sheet->to)
		return 0;
	end.grid = grid = csv_grid_make(sheet, sample, sheet->nfields, first, sheet->to);
	csv_grid_type(grid);
	end.is_all = sample->at_end && sheet->nrecords < CSV_SAMPLE_RECORDS;
	if (!end.is_all)
	{
		CsvSample	tail = *sample;

		if (!sample->at_end)
		{
			tail.bytes = sample->tail;
			tail.nbytes = sample->ntail;
			tail.at_end = true;
		}
		lines = last_lines(&tail, sheet->options.boundary == CSV_BOUNDARY_CR ? '\r' : '\n');
		end.sample = &lines;
		end.first = 0;
		end.sheet = (CsvSheet) {.options = sheet->options, .nfields = sheet->nfields};
		csv_read_records(&end.sheet, &lines);
	}
	n = count_footer(&end, line);
	csv_grid_free(grid);
	return n;
}
