/*
 * sheet.c
 *		Where in a file the table is: what a dialect makes of the sample.
 *
 *	1. The records of the sample are counted by their fields.  For each number of
 *	   fields, the table is where records with it prevail: each counts 1, each other
 *	   one -1, and blank lines and comments nothing; it is the stretch of the largest
 *	   sum.
 *	2. Its first records make a grid of cells, and each cell is of a kind (cell.c).  A
 *	   column has a type if most of its cells, from some row on, are of one kind; that
 *	   row is chosen so that there is most of it.  Of several stretches, and dialects,
 *	   the best has many records, many typed columns, and cells that do not look as if
 *	   another delimiter was in them.
 *	3. The header ends where rows begin to fit the types, or above that (rows.c).  What
 *	   stands above it is a preamble.  If no column has a type, the first row that is not
 *	   nearly blank may be the header.
 *
 * Time and memory are linear in the sample, but for numbers of fields: there are few
 * of which more than a few records are.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"

#include "import/cell.h"
#include "import/grid.h"
#include "import/rows.h"
#include "import/sheet.h"

/* records above a table's that may be of it all the same */
#define MOST_ABOVE	20

/* records of a preamble that may look like a table, and what its quality counts then */
#define PREAMBLE_RECORDS	30
#define PREAMBLE_QUALITY	0.2

/* numbers of fields whose tables are compared */
#define CANDIDATES	4

/* of all records, that many must have the same number of fields to be a table */
#define LEAST_AGREEMENT	0.5

/* share of a table's cells that look like values */
#define LEAST_CLEAN	0.75

/* a stretch of records */
typedef struct TableRun
{
	uint32		nfields;
	uint32		from;
	uint32		to;
	int32		sum;
	double		quality;
	double		typed;
	bool		is_prose;		/* text, with cells that look like parts of sentences */
} TableRun;

/* ---- stretches ---- */

/* the stretch of this number of fields with the largest sum */
static TableRun
find_stretch(const CsvSheet *sheet, uint32 nfields)
{
	TableRun	best = {.nfields = nfields};
	int32		sum = 0;
	uint32		from = 0;

	for (uint32 i = 0; i < sheet->nrecords; i++)
	{
		const CsvSampleRecord *record = &sheet->records[i];

		if (csv_is_row(record, nfields))
			sum++;
		else if (!record->blank && !record->comment)
			sum--;
		if (sum <= 0)
		{
			sum = 0;
			from = i + 1;
		}
		else if (sum > best.sum)
		{
			best.sum = sum;
			best.from = from;
			best.to = i + 1;
		}
	}

	/* it begins with a row */
	while (best.from < best.to && !csv_is_row(&sheet->records[best.from], nfields))
		best.from++;
	return best;
}

/* ---- the table ---- */

static int
compare_stretches(const void *a, const void *b)
{
	const TableRun *left = a;
	const TableRun *right = b;

	if (left->quality != right->quality)
		return left->quality > right->quality ? -1 : 1;
	return left->nfields > right->nfields ? -1 : left->nfields < right->nfields;
}

/* the stretches that may be the table, in *stretches; how many */
static uint32
find_stretches(const CsvSheet *sheet, TableRun *stretches)
{
	uint32		nstretches = 0;

	for (uint32 i = 0; i < sheet->nrecords; i++)
	{
		uint32		nfields = sheet->records[i].nfields;
		uint32		known = 0;

		if (sheet->records[i].bad || sheet->records[i].blank || nfields < 2)
			continue;
		while (known < nstretches && stretches[known].nfields != nfields)
			known++;
		if (known < nstretches)
			continue;
		stretches[nstretches] = find_stretch(sheet, nfields);
		stretches[nstretches].quality = stretches[nstretches].sum * (1 - 1.0 / nfields);
		nstretches++;
	}
	qsort(stretches, nstretches, sizeof(TableRun), compare_stretches);
	return Min(nstretches, CANDIDATES);
}

/* is a stretch more than lines that happen to have so many fields? */
static bool
is_enough(const CsvSheet *sheet, const TableRun *stretch, double typed)
{
	uint32		nall = 0;
	uint32		nlater = 0;
	uint32		nrows = 0;
	uint32		nrows_later = 0;

	/* sentences, and their column's name */
	if (stretch->is_prose && stretch->from > 0 && sheet->records[stretch->from - 1].nfields == 1 &&
		!sheet->records[stretch->from - 1].blank)
		return false;
	for (uint32 i = 0; i < sheet->nrecords; i++)
	{
		const CsvSampleRecord *record = &sheet->records[i];
		bool		counts = !record->blank && !record->comment;
		bool		found = csv_is_row(record, stretch->nfields);

		nall += counts || found;
		nrows += found;
		nlater += i >= stretch->from && (counts || found);
		nrows_later += i >= stretch->from && found;
	}
	return nrows >= nall * LEAST_AGREEMENT ||
		(stretch->sum >= 3 && stretch->nfields >= 3 && typed >= 1) ||
		(nrows_later >= nlater * LEAST_AGREEMENT &&
		 ((typed >= 0.5 && nrows_later >= 2) ||
		  (nrows_later >= 3 && stretch->nfields >= 3) ||
		  (typed >= 1 && nrows_later == nlater && stretch->nfields >= 3 &&
		   stretch->from > 0 && sheet->records[stretch->from - 1].blank)));
}

/* is a stretch a few lines above a wider table, with a blank line between them? */
static bool
may_be_preamble(const CsvSheet *sheet, const TableRun *stretch, const TableRun *table)
{
	return stretch->nfields < table->nfields && stretch->to <= table->from &&
		stretch->to - stretch->from <= PREAMBLE_RECORDS &&
		table->typed >= 1 && table->sum >= 2 &&
		sheet->records[table->from - 1].blank;
}

static void
take_stretch(CsvSheet *sheet, const TableRun *stretch)
{
	sheet->nfields = stretch->nfields;
	sheet->from = stretch->from;
	sheet->to = stretch->to;
	sheet->quality = stretch->quality;
	sheet->typed = stretch->typed;
}

CsvSheet
csv_sheet_read(const CsvDialectOptions *options, const CsvSample *sample)
{
	CsvSheet	sheet = {.options = *options};
	TableRun   *stretches = palloc(sizeof(TableRun) * CSV_SAMPLE_RECORDS);
	TableRun	single;
	uint32		nstretches;
	uint32		start;

	csv_read_records(&sheet, sample);
	sheet.is_single = true;
	for (uint32 i = 0; i < sheet.nrecords; i++)
		sheet.is_single &= sheet.records[i].nfields == 1 && !sheet.records[i].bad;
	single = find_stretch(&sheet, 1);
	take_stretch(&sheet, &single);
	nstretches = find_stretches(&sheet, stretches);
	for (uint32 i = 0; i < nstretches; i++)
	{
		CsvGrid	   *grid = csv_grid_make(&sheet, sample, stretches[i].nfields,
										   stretches[i].from, stretches[i].to);

		csv_grid_type(grid);
		stretches[i].typed = grid->typed;
		stretches[i].is_prose = grid->typed <= 0 && grid->clean < LEAST_CLEAN;
		stretches[i].quality *= grid->clean * grid->clean * (1 + 2 * Min(grid->typed, 6));
		csv_grid_free(grid);
	}
	for (uint32 i = 0; i < nstretches; i++)
	{
		TableRun   *stretch = &stretches[i];

		for (uint32 j = 0; j < nstretches; j++)
			if (may_be_preamble(&sheet, stretch, &stretches[j]))
				stretch->quality *= PREAMBLE_QUALITY;
		if ((!sheet.is_table || stretch->quality > sheet.quality) &&
			is_enough(&sheet, stretch, stretch->typed))
		{
			take_stretch(&sheet, stretch);
			sheet.is_table = true;
		}
	}
	pfree(stretches);

	/* records with an error may be of the table */
	start = sheet.from;
	while (start > 0 && sheet.records[start - 1].bad)
		start--;
	for (uint32 i = start; i < sheet.nrecords; i++)
	{
		sheet.nlater += !sheet.records[i].blank;
		sheet.nbad += sheet.records[i].bad;
	}
	return sheet;
}

/* ---- the header ---- */

/* the last row of data; what looks like a header below it is a footer */
static uint32
find_last(const CsvGrid *grid)
{
	uint32		row = grid->nrows;

	while (row > 0 && csv_judge_row(grid, row - 1) <= 0)
		row--;
	return row;
}

/* the row at which data begins: rows before it are not of it, on the whole */
static uint32
find_data(const CsvSheet *sheet, const CsvGrid *grid)
{
	int			best = 0;
	int			sum = 0;
	int			ndata = 0;
	int			nheaders = 0;
	uint32		first = 0;
	uint32		last = find_last(grid);

	for (uint32 row = 0; row < Min(grid->nrows, CSV_GRID_HEADER_ROWS) &&
		 (ndata == 0 || row < last); row++)
	{
		int			verdict = csv_judge_row(grid, row);

		if (verdict == ROW_SURELY_OF_HEADER && ndata > 0)
		{
			uint32		record = grid->records[row];

			/* a header after a blank line: all above was a preamble that looked like data */
			if (record > 0 && sheet->records[record - 1].blank &&
				(nheaders == 0 || nheaders * 2 >= ndata))
				verdict -= ndata;
			else if (nheaders > 0 && ndata > nheaders)
				verdict = ROW_OF_HEADER;
		}
		if (verdict == ROW_OF_HEADER && ndata > 0 && grid->filled[row] == 0)
			verdict = ROW_UNKNOWN;
		sum -= verdict;
		ndata += verdict > 0;
		nheaders += verdict <= ROW_SURELY_OF_HEADER;
		if (sum > best)
		{
			best = sum;
			first = row + 1;
		}
	}
	return first;
}

/* may a record of another number of fields be the header of the table? */
static bool
may_be_header(const CsvSheet *sheet, uint32 number)
{
	const CsvSampleRecord *record = &sheet->records[number];

	return !record->bad && !record->blank && record->nfields >= 2 &&
		record->nfields * 2 >= sheet->nfields &&
		record->nfields <= sheet->nfields * 2;
}

/* do the cells of a record of another number of fields fit the types? */
static bool
looks_like_data(const CsvSheet *sheet, const CsvSample *sample, const CsvGrid *grid,
				uint32 number)
{
	CsvGrid	   *row;
	uint32		nfit = 0;
	uint32		nunfit = 0;

	if (!may_be_header(sheet, number))
		return false;
	row = csv_grid_make(sheet, sample, sheet->records[number].nfields, number, number + 1);
	for (uint32 column = 0; column < Min(row->ncolumns, grid->ncolumns); column++)
	{
		uint8		type = grid->types[column];

		/* names may look like codes, and codes like names */
		if (type == CSV_CELL_TEXT || type == CSV_CELL_CODE ||
			row->kinds[column] == CSV_CELL_EMPTY)
			continue;
		if (csv_grid_fits(type, row->kinds[column]))
			nfit++;
		else
			nunfit++;
	}
	csv_grid_free(row);
	return nfit > nunfit;
}

/*
 * No row of the table is of a header.  Records right above it may be data as well, but
 * for their number of fields or their quotes, and above them there may be a header.
 */
static void
look_above(const CsvSheet *sheet, const CsvSample *sample, const CsvGrid *grid,
		   CsvHeader *header)
{
	uint32		above = header->first;

	for (int i = 0; i < MOST_ABOVE && above > 0 && !sheet->records[above - 1].blank; i++)
	{
		const CsvSampleRecord *record = &sheet->records[--above];

		if (record->bad ||
			(!header->text_only && looks_like_data(sheet, sample, grid, above)))
			header->first = header->last_row = above;
		else if (csv_is_row(record, sheet->nfields))
		{
			/* if it is no header either, it is data */
			header->first = header->last_row = above;
			header->undecided = true;
			return;
		}
	}
	above = header->first;
	if (above > 0 && !sheet->records[above - 1].bad && may_be_header(sheet, above - 1))
	{
		header->last_row = above - 1;
		header->undecided = true;
	}
}

/* are there more rows above the table, and right above it some that are damaged? */
static bool
continues_above(const CsvSheet *sheet, const CsvSample *sample, const CsvGrid *grid)
{
	uint32		above = sheet->from;

	for (int i = 0; i < MOST_ABOVE && above > 0 && !sheet->records[above - 1].blank; i++)
	{
		above--;
		if (csv_is_row(&sheet->records[above], sheet->nfields))
			return i > 0;
		if (!looks_like_data(sheet, sample, grid, above))
			return false;
	}
	return false;
}

/* the header is the last row above `row` that is not nearly blank, right above it */
static uint32
find_header_above(const CsvGrid *grid, uint32 row, uint32 otherwise)
{
	while (row-- > 0)
		if (!csv_grid_is_sparse(grid, row))
			return grid->records[row];
	return otherwise;
}

void
csv_sheet_find_header(const CsvSheet *sheet, const CsvSample *sample,
					   CsvHeader *header)
{
	CsvGrid	   *grid;
	uint32		row;
	bool		sure = true;

	memset(header, 0, sizeof(*header));

	/* what no table can have is not looked at */
	if (sheet->nfields > MaxHeapAttributeNumber || sheet->from == sheet->to)
		return;
	grid = csv_grid_make(sheet, sample, sheet->nfields, sheet->from, sheet->to);
	csv_grid_type(grid);
	row = grid->typed > 0 ? find_data(sheet, grid) : 0;
	if (row > 0 && continues_above(sheet, sample, grid))
		row = 0;
	if (row > 0)
		row = csv_find_first_row(sheet, sample, grid, row, &sure);
	if (row > 0)
	{
		header->first = row < grid->nrows ? grid->records[row] : sheet->to;
		header->last_row = find_header_above(grid, row, header->first);
		if (!sure)
		{
			header->first = header->last_row;
			header->undecided = true;
		}
	}
	else
	{
		header->text_only = grid->typed <= 0;
		while (header->text_only && row + 1 < grid->nrows &&
			   csv_grid_is_sparse(grid, row))
			row++;
		header->first = grid->records[row];
		header->last_row = header->first;
		header->undecided = header->text_only;
		if (row == 0)
			look_above(sheet, sample, grid, header);
	}
	csv_grid_free(grid);
}
