/*
 * ending.c
 *		Records at a file's end that are no data: sums, notes, marks of the end.
 *
 * They stand below the last record that is surely of the table: one with as many fields,
 * whose cells fit the columns' types.  A record below is none of the table if its cells do
 * not fit, or if it is prose; and what is only short, as where a file was cut off, is left
 * to be seen as a bad record.  A row of a column that begins with "Total" is a sum only if
 * it is one.
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
	if (!csv_sample_next(&scan, &dialect, end->sample) || scan.bad)
		return cells;
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

	for (size_t i = 0; i < lengthof(sums) + lengthof(means); i++)
	{
		const char *word = i < lengthof(sums) ? sums[i] : means[i - lengthof(sums)];
		size_t		nbytes = strlen(word);

		*is_mean = i >= lengthof(sums);
		if (pg_strncasecmp(text, word, nbytes) == 0 &&
			!isalnum((unsigned char) text[nbytes]) && !IS_HIGHBIT_SET(text[nbytes]))
			return true;
	}
	return false;
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

static bool
is_prose(const char *text)
{
	uint32		nblanks = 0;

	for (const char *c = text; *c != '\0'; c++)
		nblanks += *c == ' ';
	return nblanks >= PROSE_BLANKS || strchr(text, ':') != NULL ||
		(*text != '\0' && strchr("(*_", *text) != NULL);
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

/* a record that is not surely of the table: is it none? */
static bool
is_footer(const FileEnd *end, uint32 number, bool after_blank)
{
	const CsvSampleRecord *record = &end->sheet.records[number];
	EndCells	cells;
	bool		is_mean;

	if (record->bad)
		return after_blank;
	cells = look_at(end, number);
	if (record->nfields == end->sheet.nfields)
	{
		if (is_sum(cells.text, &is_mean))
			return cells.first_unfit || after_blank || has_sum(end, number, is_mean);
		if (cells.nfilled == 1)
			return cells.nunfit > 0 || is_prose(cells.text);
		return after_blank && cells.nunfit > 0 && cells.nunfit >= cells.nfit;
	}
	if (cells.nfit > cells.nunfit)
		return false;
	return cells.nunfit > 0 || after_blank ||
		(cells.ncells == 1 && is_prose(cells.text));
}

static uint32
count_footer(FileEnd *end)
{
	uint32		nrecords = end->sheet.nrecords;
	uint32		stop = nrecords;
	uint32		nlines = 0;
	bool		any = false;

	end->last = nrecords;
	while (end->last > end->first && !is_sure(end, end->last - 1))
		end->last--;
	if (end->last == end->first)
		return 0;
	end->last--;
	while (stop > end->last + 1)
	{
		bool		after_blank = false;

		CHECK_FOR_INTERRUPTS();
		for (uint32 i = end->last + 1; i < stop - 1; i++)
			after_blank |= end->sheet.records[i].blank;
		if (!end->sheet.records[stop - 1].blank && !is_footer(end, stop - 1, after_blank))
			break;
		stop--;
	}

	/* blank lines do not count, nor do blank records where there is nothing else */
	for (uint32 i = stop; i < nrecords; i++)
	{
		const CsvSampleRecord *record = &end->sheet.records[i];

		nlines += record->blank && record->nfields == 1;
		any |= !record->blank;
	}
	return any ? nrecords - stop - nlines : 0;
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
				uint32 first)
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
	n = count_footer(&end);
	csv_grid_free(grid);
	return n;
}
