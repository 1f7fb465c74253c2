/*
 * rows.c
 *		Which of the rows above a table's data are a header's.
 *
 * Rows that do not fit the types of those below them may be data all the same: values
 * that are missing, or odd.  So, of the rows above the first that does,
 *
 *	- those above a blank line, or nearly blank above the names, or keys and values
 *	  of which none fits, are a preamble,
 *	- the first one else has the names,
 *	- those below it are data, unless there is more to say of each: it has units, or
 *	  names below one of a group, or counts the columns, or all of it is strange to a
 *	  table that has no text at all.
 */
#include "postgres.h"

#include <ctype.h>

#include "import/cell.h"
#include "import/header.h"
#include "import/rows.h"

#define FIRST_YEAR	1800
#define LAST_YEAR	2100

/* strange cells, each of its own, that make names of a row */
#define LEAST_NAMES	3

/* rows of keys and values that make a preamble of them */
#define LEAST_KEYS	2

/* cells that one is compared with */
#define MOST_COMPARED	16

/* most bytes of a unit with a slash in it */
#define UNIT_BYTES	8

static const char *const units[] = {
	"%", "mm", "cm", "m", "km", "m2", "m3", "km2", "ha", "kg", "g", "mg", "t", "l", "ml",
	"s", "sec", "ms", "min", "h", "d", "C", "F", "K", "degC", "deg C", "Deg C", "degF", "V",
	"mV", "volts", "Volts", "A", "mA", "W", "kW", "MW", "kWh", "MWh", "Hz", "kHz", "MHz", "Pa",
	"hPa", "kPa", "bar", "mbar", "mb", "ppm", "ppb", "dB", "deg", "rad", "EUR", "USD", "GBP",
	"CHF", "unit", "units", "Unit", "Units", "Einheit"
};

/* what stands for values that are not known, and for no name */
static const char *const unknowns[] = {
	"unknown", "pending", "none", "missing", "maybe", "tbd", "tbc", "tba", "nil", "n.d.", "no data",
	"unbekannt", "offen", "inconnu"
};

/* ---- what a row says by its types ---- */

/* are the numbers of a row years, one after the other, and not so those of the rows below? */
static bool
has_years(const CsvGrid *grid, uint32 row, bool below)
{
	uint32		nyears = 0;
	int			direction = 0;
	uint16		last = 0;

	for (uint32 column = 0; column < grid->ncolumns; column++)
	{
		uint16		year = grid->numbers[row * (Size) grid->ncolumns + column];
		int			step;

		if (grid->types[column] != CSV_CELL_NUMBER ||
			csv_grid_kind(grid, row, column) != CSV_CELL_NUMBER)
			continue;
		if (year < FIRST_YEAR || year > LAST_YEAR)
			return false;
		step = last == 0 ? 0 : year > last ? 1 : year < last ? -1 : 2;
		if (step == 2 || (direction != 0 && step != direction))
			return false;
		direction = step;
		last = year;
		nyears++;
	}
	if (nyears < 2)
		return false;
	for (uint32 next = row + 1; !below && next < Min(row + 4, grid->nrows); next++)
		if (has_years(grid, next, true))
			return false;
	return true;
}

/*
 * Does a row count the columns, and is no row of data therefore: with numbers where
 * others have text, or with a corner that only this one leaves blank?
 */
static bool
has_ordinals(const CsvGrid *grid, uint32 row)
{
	const uint16 *numbers = grid->numbers + row * (Size) grid->ncolumns;
	const uint8 *kinds = grid->kinds + row * (Size) grid->ncolumns;
	bool		has_corner = kinds[0] == CSV_CELL_EMPTY;
	bool		among_text = has_corner;

	if (grid->ncolumns < 3 ||
		(has_corner && row + 1 < grid->nrows &&
		 kinds[grid->ncolumns] == CSV_CELL_EMPTY))
		return false;
	for (uint32 column = has_corner; column < grid->ncolumns; column++)
	{
		if (kinds[column] != CSV_CELL_NUMBER ||
			numbers[column] != column + !has_corner)
			return false;
		among_text |= grid->types[column] != CSV_CELL_NUMBER;
	}
	return among_text;
}

int
csv_judge_row(const CsvGrid *grid, uint32 row)
{
	const uint8 *kinds = grid->kinds + row * (Size) grid->ncolumns;
	const bool	is_sparse = csv_grid_is_sparse(grid, row);
	uint32		nfit = 0;
	uint32		nunfit = 0;
	uint32		nfit_codes = 0;
	uint32		nunfit_codes = 0;

	for (uint32 column = 0; column < grid->ncolumns; column++)
	{
		uint8		type = grid->types[column];
		bool		fit = csv_grid_fits(type, kinds[column]);

		if (type == CSV_CELL_TEXT || kinds[column] == CSV_CELL_EMPTY)
			continue;
		if (type == CSV_CELL_CODE)
			*(fit ? &nfit_codes : &nunfit_codes) += 1;
		else
			*(fit ? &nfit : &nunfit) += 1;
	}

	/* names may have digits, too, so codes tell only where there is nothing else */
	if (nfit + nunfit == 0)
	{
		nfit = nfit_codes;
		nunfit = nunfit_codes;
	}
	if (nfit + nunfit == 0)
		return is_sparse ? ROW_OF_HEADER : ROW_UNKNOWN;
	if (has_years(grid, row, false) || has_ordinals(grid, row))
		return ROW_SURELY_OF_HEADER;
	if (nunfit == 0)
		return is_sparse ? ROW_UNKNOWN : ROW_OF_DATA;
	return nfit > nunfit ? ROW_OF_DATA : nfit == nunfit ? ROW_UNKNOWN :
		nfit > 0 ? ROW_OF_HEADER : ROW_SURELY_OF_HEADER;
}

/* ---- what there is of a header in a row ---- */

static bool
is_text(uint8 type)
{
	return type == CSV_CELL_TEXT || type == CSV_CELL_CODE;
}

/* the row's cell has text in a column of another type */
static bool
is_strange(const CsvGrid *grid, uint32 row, uint32 column)
{
	uint8		type = grid->types[column];
	uint8		kind = csv_grid_kind(grid, row, column);

	return type != CSV_CELL_TEXT && (kind == CSV_CELL_TEXT || kind == CSV_CELL_CODE) &&
		!csv_grid_fits(type, kind);
}

static bool
is_empty(const CsvGrid *grid, uint32 row, uint32 column)
{
	return csv_grid_kind(grid, row, column) == CSV_CELL_EMPTY;
}

/* a name of a unit, in brackets or not, or the width of a column and its type */
static bool
is_unit(const char *text, uint32 nbytes)
{
	uint32		ndigits = (uint32) strspn(text, "0123456789");

	if (nbytes == 0)
		return false;
	for (size_t i = 0; i < lengthof(units); i++)
		if (strcmp(text, units[i]) == 0)
			return true;
	if ((text[0] == '(' && text[nbytes - 1] == ')') ||
		(text[0] == '[' && text[nbytes - 1] == ']'))
		return strpbrk(text, "0123456789") == NULL || isalpha((unsigned char) text[1]);

	if (nbytes <= UNIT_BYTES && !isdigit((unsigned char) *text) && strchr(text + 1, '/') != NULL)
		return true;

	/* a degree's sign, in UTF-8 or 8-bit encodings */
	if (((uint8) text[0] == 0xc2 && (uint8) text[1] == 0xb0 && nbytes <= 3) ||
		((uint8) text[0] == 0xb0 && nbytes <= 2))
		return true;
	return ndigits > 0 && ndigits + 1 == nbytes && strchr("snd", text[ndigits]) != NULL;
}

/* are all of its cells units, in some column that has a type? */
static bool
has_units(const CsvGrid *grid, uint32 row, const CsvCells *cells)
{
	bool		any = false;

	for (uint32 i = 0; i < Min(cells->ncells, grid->ncolumns); i++)
	{
		if (cells->lengths[i] == 0)
			continue;
		if (!is_unit(cells->texts[i], cells->lengths[i]))
			return false;
		any |= is_strange(grid, row, i);
	}
	return any;
}

/* nothing but a line below each name, or their numbers in brackets */
static bool
has_lines(const CsvCells *cells)
{
	uint32		nlines = 0;

	for (uint32 i = 0; i < cells->ncells; i++)
	{
		const char *text = cells->texts[i];
		uint32		nbytes = cells->lengths[i];
		char	   *end;

		if (nbytes == 0)
			continue;
		if ((*text == '(' || *text == '[') && strtoul(text + 1, &end, 10) == i + 1 &&
			end == text + nbytes - 1)
			nlines++;
		else if (nbytes >= 2 && strspn(text, "-=:+") == nbytes)
			nlines += nbytes >= 3;
		else
			return false;
	}
	return nlines > 0;
}

/*
 * Does it have names below those of groups: text where rows above it are blank, right of
 * a cell that is not, and in all columns with a type?
 */
static bool
has_subnames(const CsvGrid *grid, uint32 row, uint32 names)
{
	bool		completes = false;
	bool		in_group = false;

	for (uint32 column = 0; column < grid->ncolumns; column++)
	{
		bool		above = false;

		for (uint32 i = names; i < row; i++)
			above |= !is_empty(grid, i, column);
		in_group |= above;
		if (is_text(grid->types[column]))
			continue;
		if (is_strange(grid, row, column))
			completes |= in_group && !above;
		else if (!above || !is_empty(grid, row, column))
			return false;
	}
	return completes;
}

/* words, not a value in another form: without digits, or in a sentence */
static bool
is_in_words(const char *text, uint32 nbytes)
{
	const char *blank = strchr(text, ' ');

	return strcspn(text, "0123456789<>?*") == nbytes ||
		(blank != NULL && isalpha((unsigned char) text[0]) && strchr(blank + 1, ' ') != NULL);
}

static bool
is_unknown(const char *text)
{
	for (size_t i = 0; i < lengthof(unknowns); i++)
		if (pg_strcasecmp(text, unknowns[i]) == 0)
			return true;
	return false;
}

/*
 * How many words that are strange to their columns are different from all others?  None
 * if some stand for values.
 */
static uint32
count_strange(const CsvGrid *grid, uint32 row, const CsvCells *cells)
{
	uint32		n = 0;

	for (uint32 i = 0; i < Min(cells->ncells, grid->ncolumns); i++)
	{
		bool		known = !is_strange(grid, row, i);

		if (is_unknown(cells->texts[i]))
			return 0;
		for (uint32 j = 0; j < Min(i, MOST_COMPARED) && !known; j++)
			known = strcmp(cells->texts[i], cells->texts[j]) == 0;
		n += !known && is_in_words(cells->texts[i], cells->lengths[i]);
	}
	return n;
}

/* does no value fit its column, those in columns of text aside? */
static bool
fits_nowhere(const CsvGrid *grid, uint32 row)
{
	for (uint32 column = 0; column < grid->ncolumns; column++)
		if (grid->types[column] != CSV_CELL_TEXT && !is_empty(grid, row, column) &&
			csv_grid_fits(grid->types[column], csv_grid_kind(grid, row, column)))
			return false;
	return true;
}

/* does it have a value in a column of text? */
static bool
has_text(const CsvGrid *grid, uint32 row)
{
	for (uint32 column = 0; column < grid->ncolumns; column++)
		if (is_text(grid->types[column]) && !is_empty(grid, row, column))
			return true;
	return false;
}

/* what a row above the data looks like */
typedef struct RowLook
{
	bool		header;
	bool		key;			/* its first cell is a word, and those below it no text */
} RowLook;

static RowLook
look_at_row(const CsvSheet *sheet, const CsvSample *sample, const CsvGrid *grid,
			uint32 row, uint32 names)
{
	CsvCells	cells = csv_header_cells(sheet, sample, grid->records[row]);
	RowLook		look = {0};
	uint32		nstrange;

	if (cells.texts == NULL)
		return look;
	nstrange = fits_nowhere(grid, row) ? count_strange(grid, row, &cells) : 0;
	look.key = !has_text(grid, row) && !is_text(grid->types[0]) &&
		(is_empty(grid, row, 0) ? fits_nowhere(grid, row) :
		 is_strange(grid, row, 0) && is_in_words(cells.texts[0], cells.lengths[0]));
	look.header = nstrange >= LEAST_NAMES || (look.key && nstrange >= 2) ||
		has_units(grid, row, &cells) || has_lines(&cells) ||
		has_subnames(grid, row, names) || has_ordinals(grid, row) ||
		(is_empty(grid, row, 0) && has_years(grid, row, false));
	return look;
}

/* ---- the first row of data ---- */

/* is there a blank line right above the row? */
static bool
is_below_blank(const CsvSheet *sheet, const CsvGrid *grid, uint32 row)
{
	for (uint32 i = grid->records[row - 1] + 1; i < grid->records[row]; i++)
		if (sheet->records[i].blank)
			return true;
	return false;
}

static bool
has_strange(const CsvGrid *grid, uint32 row)
{
	for (uint32 column = 0; column < grid->ncolumns; column++)
		if (is_strange(grid, row, column))
			return true;
	return false;
}

/* the row behind a header, and the titles above it, that begin at row `from` */
static uint32
pass_header(const CsvSheet *sheet, const CsvSample *sample, const CsvGrid *grid,
			uint32 from, uint32 typed)
{
	uint32		names = from;
	uint32		first;
	uint32		nkeys = 0;		/* rows of a header that begin with a key */

	while (names < typed && csv_grid_is_sparse(grid, names))
		names++;
	if (names == typed)
	{
		for (names = from; names < typed && has_strange(grid, names);)
			names++;
		return names;
	}
	if (csv_judge_row(grid, names) >= ROW_UNKNOWN)
		return from;
	first = names + 1;
	for (uint32 row = first;
		 row < typed ||
		 (row < grid->nrows && nkeys > 1 && csv_judge_row(grid, row) == ROW_UNKNOWN);
		 row++)
	{
		RowLook		look = look_at_row(sheet, sample, grid, row, names);

		if (!look.header && !look.key)
			break;
		nkeys += look.header && look.key;
		if (look.header || (row == first && nkeys > (fits_nowhere(grid, row) ? 0 : 1)))
			first = row + 1;
	}
	return first;
}

/*
 * Has a row the names, and are all rows above it keys and values, padded to the table's
 * width?  Each begins with a word where the table has none, and the last column, that all
 * of them leave blank, has a name.
 */
static bool
is_below_keys(const CsvSheet *sheet, const CsvSample *sample, const CsvGrid *grid, uint32 names)
{
	for (uint32 row = 0; row <= names; row++)
	{
		CsvCells	cells = csv_header_cells(sheet, sample, grid->records[row]);

		if (cells.texts == NULL || !is_strange(grid, row, 0) || !fits_nowhere(grid, row) ||
			count_strange(grid, row, &cells) < (row < names ? 1 : 2) ||
			(row < names ? grid->filled[row] > 2 || !is_empty(grid, row, grid->ncolumns - 1) :
			 grid->filled[row] < grid->ncolumns))
			return false;
	}
	return names >= LEAST_KEYS;
}

uint32
csv_find_first_row(const CsvSheet *sheet, const CsvSample *sample, const CsvGrid *grid,
				   uint32 typed, bool *sure)
{
	uint32		from = typed - 1;
	uint32		nabove = 0;
	uint32		ndata = 0;
	uint32		first;

	for (uint32 row = typed; row < grid->nrows; row++)
		ndata += csv_judge_row(grid, row) > 0;
	if (!is_below_keys(sheet, sample, grid, from))
		while (from > 0 && !is_below_blank(sheet, grid, from))
			from--;
	for (uint32 row = 0; row < from; row++)
		nabove += !csv_grid_is_sparse(grid, row);
	first = pass_header(sheet, sample, grid, from, typed);

	/* else the blank line is among the data */
	if (nabove > 0 && (first < typed || ndata < nabove))
		first = pass_header(sheet, sample, grid, 0, typed);
	*sure = ndata + first >= typed || (first > 0 && has_years(grid, first - 1, false));
	return first;
}
