/*
 * grid.c
 *		The cells of a table's first rows, and the types that its columns have.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"

#include "import/cell.h"
#include "import/grid.h"

/* rows of a grid */
#define GRID_ROWS	200

/*
 * What a cell counts that looks as if a delimiter was in it: a comma in other files,
 * another delimiter, that in a file of commas; likewise half a sentence
 */
#define SPOTTED_CELL	0.6
#define UNCLEAN_CELL	0.3
#define DIRTY_CELL		0.1

/* bytes of it that are looked at */
#define CLEAN_BYTES		200

/* share of a column's cells that must be of one kind for a type; of codes */
#define LEAST_TYPED	0.6
#define LEAST_CODED	0.9

/* ---- cells ---- */

/*
 * How much does an unquoted value look as if this delimiter was the right one?  Commas
 * are in texts and numbers, whatever delimits; other delimiters are hardly anywhere.
 */
static double
cleanness(const char *text, uint32 nbytes, uint8_t delimiter, CsvCellKind kind,
		  bool is_first)
{
	double		clean = 1;

	if (kind != CSV_CELL_TEXT && kind != CSV_CELL_CODE)
		return 1;

	/* prose, if its first half stands in the cell to the left */
	if (delimiter == ',' && !is_first && text[0] == ' ')
		return UNCLEAN_CELL;
	for (uint32 i = 0; i < Min(nbytes, CLEAN_BYTES); i++)
	{
		bool		parts = i + 1 < nbytes && text[i + 1] != ' ';

		if (text[i] == '\t' || text[i] == '|' || (text[i] == ';' && parts))
			return delimiter == ',' ? DIRTY_CELL : UNCLEAN_CELL;
		if (text[i] == ',' && parts)
			clean = SPOTTED_CELL;
	}
	return clean;
}

/* a small number, after which blanks may come; 0: it is none */
static uint16
small_number(const char *text)
{
	size_t		ndigits = strspn(text, "0123456789");

	return ndigits > 0 && ndigits <= 4 && text[ndigits + strspn(text + ndigits, " ")] == '\0' ?
		(uint16) atoi(text) : 0;
}

CsvGrid *
csv_grid_make(const CsvSheet *sheet, const CsvSample *sample, uint32 nfields,
			  uint32 from, uint32 to)
{
	CsvGrid	   *grid = palloc0(sizeof(CsvGrid));
	CsvDialect	dialect;
	CsvScan		scan;
	double		nclean = 0;
	uint64		ncells = 0;

	csv_dialect_compile(&dialect, &sheet->options);
	grid->ncolumns = Min(nfields, MaxHeapAttributeNumber);
	grid->records = palloc(sizeof(uint32) * GRID_ROWS);
	grid->filled = palloc0(sizeof(uint32) * GRID_ROWS);
	grid->kinds = palloc0(GRID_ROWS * (Size) grid->ncolumns);
	grid->numbers = palloc0(sizeof(uint16) * GRID_ROWS * (Size) grid->ncolumns);
	grid->types = palloc0(grid->ncolumns);
	csv_sample_begin(&scan, 0);
	for (uint32 i = from; i < to && grid->nrows < GRID_ROWS; i++)
	{
		uint32		row = grid->nrows;

		if (!csv_is_row(&sheet->records[i], nfields))
			continue;
		scan.next = sheet->records[i].start;
		if (!csv_sample_next(&scan, &dialect, sample))
			break;
		grid->records[grid->nrows++] = i;
		for (uint32 column = 0; column < Min(grid->ncolumns, scan.nfields); column++)
		{
			Size		cell = row * (Size) grid->ncolumns + column;
			char	   *value;
			bool		quoted;
			uint32		nbytes = csv_sample_value(&scan, &dialect, sample, column, &value,
													 &quoted);
			CsvCellKind kind = csv_cell_kind(value, nbytes);

			grid->kinds[cell] = (uint8) kind;
			grid->numbers[cell] = small_number(value);
			grid->filled[row] += kind != CSV_CELL_EMPTY;
			if (kind != CSV_CELL_EMPTY)
			{
				nclean += quoted ? 1 :
					cleanness(value, nbytes, sheet->options.delimiter, kind, column == 0);
				ncells++;
			}
			pfree(value);
		}
	}
	csv_sample_end(&scan);
	grid->clean = ncells > 0 ? nclean / ncells : 1;
	return grid;
}

void
csv_grid_free(CsvGrid *grid)
{
	pfree(grid->records);
	pfree(grid->filled);
	pfree(grid->kinds);
	pfree(grid->numbers);
	pfree(grid->types);
	pfree(grid);
}

/* ---- types of columns ---- */

bool
csv_grid_fits(uint8 type, uint8 kind)
{
	return kind == type || (type == CSV_CELL_CODE && kind > CSV_CELL_CODE);
}

/* how sure is it that a column of these cells has a type, and which? */
static double
type_of(const uint32 *counts, uint8 *type)
{
	uint32		ncells = 0;
	double		best = 0;

	*type = CSV_CELL_TEXT;
	for (int kind = CSV_CELL_TEXT; kind < CSV_NUM_CELL_KINDS; kind++)
		ncells += counts[kind];
	for (int kind = CSV_CELL_CODE; kind < CSV_NUM_CELL_KINDS; kind++)
	{
		bool		is_code = kind == CSV_CELL_CODE;
		uint32		n = is_code ? ncells - counts[CSV_CELL_TEXT] : counts[kind];
		double		share = ncells > 0 ? (double) n / ncells : 0;
		double		sure = share * share * share * share * ncells / (ncells + 1.0);

		if (counts[kind] == 0 || share < (is_code ? LEAST_CODED : LEAST_TYPED))
			continue;
		if (is_code)
			sure /= 4;			/* names may look like codes */
		if (sure > best)
		{
			best = sure;
			*type = (uint8) kind;
		}
	}
	return best;
}

void
csv_grid_type(CsvGrid *grid)
{
	uint32		ncolumns = grid->ncolumns;
	uint32	   *counts = palloc0(sizeof(uint32) * CSV_NUM_CELL_KINDS * ncolumns);
	uint8	   *types = palloc(ncolumns);
	uint64		filled = 0;

	grid->typed = -1;
	for (uint32 row = grid->nrows; row-- > 0;)
	{
		double		typed = 0;

		filled += grid->filled[row];
		for (uint32 column = 0; column < ncolumns; column++)
			counts[column * CSV_NUM_CELL_KINDS + csv_grid_kind(grid, row, column)]++;
		if (row >= CSV_GRID_HEADER_ROWS)
			continue;
		for (uint32 column = 0; column < ncolumns; column++)
			typed += type_of(counts + column * CSV_NUM_CELL_KINDS, &types[column]);
		if (typed >= grid->typed)
		{
			grid->typed = typed;
			memcpy(grid->types, types, ncolumns);
			grid->usually_filled = (double) filled / (grid->nrows - row);
		}
	}
	grid->typed = Max(grid->typed, 0);
	pfree(counts);
	pfree(types);
}
