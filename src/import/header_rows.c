/*
 * header_rows.c
 *		Which of the rows above a table's data are a header's.
 *
 * Rows that do not fit the types of those below them may be data all the same: values
 * that are missing, or odd.  So, of the rows above the first that does,
 *
 *	- those above a blank line, or nearly blank above the names, or keys and values
 *	  that do not fit, are a preamble,
 *	- the first row below has the names,
 *	- rows below the names are data, except rows that have units, or names below the
 *	  name of a group, or count the columns, or are strange to a table without any text.
 */
#include "postgres.h"

#include <ctype.h>
#include <math.h>

#include "import/guess.h"

#define FIRST_YEAR	1800
#define LAST_YEAR	2100

/* strange cells, each of its own, that make names of a row */
#define LEAST_NAMES	3

/* rows of keys and values that make a preamble of them */
#define LEAST_KEYS	2

/* cells that one is compared with */
#define MOST_COMPARED	16

/* cells that must have a form in common to tell a name from them, and that are looked at */
#define LEAST_ALIKE	2
#define SURELY_ALIKE	5		/* ... in their length alone, if the name's is not far from that */
#define MOST_ALIKE	50

/* bytes of a shape (make_shape()), with a zero byte */
#define SHAPE_BYTES	32
#define MOST_READ	4096		/* of a cell, which may have many megabytes */

/* the kinds of characters that are letters */
#define LETTERS	3
#define DIGITS	4

/* most bytes of a unit with a slash in it */
#define UNIT_BYTES	8

static const char *const units[] = {
	"%", "mm", "cm", "m", "km", "m2", "m3", "km2", "ha", "kg", "g", "mg", "t", "l", "ml",
	"s", "sec", "ms", "min", "h", "d", "C", "F", "K", "degC", "deg C", "Deg C", "degF", "V",
	"mV", "volts", "Volts", "A", "mA", "W", "kW", "MW", "kWh", "MWh", "Hz", "kHz", "MHz", "Pa",
	"hPa", "kPa", "bar", "mbar", "mb", "ppm", "ppb", "dB", "deg", "rad", "EUR", "USD", "GBP",
	"CHF", "Anzahl", "count", "mean", "std", "median", "max", "sum", "unit", "units", "Unit", "Units", "Einheit", "m\xc2\xb2", "m\xc2\xb3", "km\xc2\xb2",
	"cm\xc2\xb2", "cm\xc2\xb3", "\xc2\xb5m", "\xe2\x82\xac", "$", "\xc2\xa3", "[1]", "(1)", "[-]",

	/* types of columns */
	"int", "integer", "bigint", "float", "double", "numeric", "decimal", "number", "real",
	"string", "str", "text", "varchar", "char", "bool", "boolean", "date", "datetime",
	"timestamp", "Int", "Integer", "Float", "Double", "String", "Text", "Date", "Boolean"
};

/* ---- forms ---- */

static bool
is_year(const CsvCell *cell)
{
	return cell->nbytes == 4 && strspn(cell->text, "0123456789") == 4 &&
		atoi(cell->text) >= FIRST_YEAR && atoi(cell->text) <= LAST_YEAR;
}

/* one letter for each run of characters of a kind; no more than fit */
static void
make_shape(const char *text, uint32 nbytes, char *shape)
{
	uint32		n = 0;

	for (uint32 i = 0; i < Min(nbytes, MOST_READ) && n + 1 < SHAPE_BYTES; i++)
	{
		unsigned char c = (unsigned char) text[i];
		char		kind = isdigit(c) ? '0' : isupper(c) ? 'A' :
			islower(c) || IS_HIGHBIT_SET(c) ? 'a' : (char) c;

		if (n == 0 || shape[n - 1] != kind || !isalnum((unsigned char) kind))
			shape[n++] = kind;
	}
	shape[n] = '\0';
}

/* a bit for small letters, capital letters, digits, and each punctuation of codes */
static uint32
kinds_in(const char *text, uint32 nbytes)
{
	static const char punctuation[] = "@/.-:;|";
	uint32		kinds = 0;

	for (uint32 i = 0; i < Min(nbytes, MOST_READ); i++)
	{
		const unsigned char c = (unsigned char) text[i];
		const char *found = c == 0 ? NULL : strchr(punctuation, c);

		kinds |= islower(c) ? 1 : isupper(c) ? 2 : isdigit(c) ? DIGITS :
			found != NULL ? UINT32_C(8) << (found - punctuation) : 0;
	}
	return kinds;
}

CsvBelow
csv_look_below(const CsvGrid *grid, uint32 from, uint32 to, uint32 column, const CsvCell *cell)
{
	CsvBelow	below = {.kind = CSV_CELL_EMPTY};
	char		shape[SHAPE_BYTES];
	char		first_shape[SHAPE_BYTES] = "";
	uint32		first_nbytes = 0;
	uint32		kinds = kinds_in(cell->text, cell->nbytes);
	uint32		any_kinds = 0;	/* that cells have ... */
	uint32		all_kinds = ~UINT32_C(0);	/* ... and that each of them has */
	bool		one_length = true;	/* all cells have the first one's ... */
	bool		one_begin = true;	/* ... kind of character at the beginning */
	bool		one_shape = true;

	for (uint32 i = from; i < to; i++)
	{
		const CsvGridRecord *record = &grid->records[i];
		const CsvCell *other;

		if (!csv_is_row(record, grid->nfields) ||
			record->cells[column].kind == CSV_CELL_EMPTY)
			continue;
		other = &record->cells[column];
		below.kind = below.kind == CSV_CELL_EMPTY || below.kind == other->kind ?
			other->kind : CSV_CELL_TEXT;
		below.any_year |= is_year(other);
		below.any_quoted |= other->quoted;
		below.recurs |= other->nbytes == cell->nbytes &&
			memcmp(other->text, cell->text, cell->nbytes) == 0;
		make_shape(other->text, other->nbytes, shape);
		if (below.nvalues++ == 0)
		{
			first_nbytes = other->nbytes;
			strlcpy(first_shape, shape, sizeof(first_shape));
		}
		any_kinds |= kinds_in(other->text, other->nbytes);
		all_kinds &= kinds_in(other->text, other->nbytes);
		one_length &= other->nbytes == first_nbytes;
		one_begin &= shape[0] == first_shape[0];
		one_shape &= strcmp(shape, first_shape) == 0;
	}
	if (below.kind == CSV_CELL_CODE)
		below.kind = CSV_CELL_TEXT;
	make_shape(cell->text, cell->nbytes, shape);
	below.unlike = below.nvalues >= LEAST_ALIKE &&
		((below.nvalues > LEAST_ALIKE &&
		  ((kinds & ~any_kinds & (cell->kind == CSV_CELL_TIME ? LETTERS | DIGITS : LETTERS)) != 0 ||
		   (all_kinds & ~kinds) != 0)) ||
		 (one_length && first_nbytes != cell->nbytes &&
		  (below.nvalues >= SURELY_ALIKE || first_nbytes >= 2 * cell->nbytes ||
		   cell->nbytes >= 2 * first_nbytes)) ||
		 (one_begin && first_shape[0] != shape[0]) ||
		 (one_shape && strcmp(first_shape, shape) != 0));
	return below;
}

static CsvBelow
look_below(const CsvGridRows *rows, uint32 row, uint32 column)
{
	uint32		last = Min(rows->nrows, row + MOST_ALIKE) - 1;

	return csv_look_below(rows->grid, rows->records[row] + 1, rows->records[last] + 1,
						  column, csv_row_cell(rows, row, column));
}

/* is a cell unlike the cells below it, and like a name? */
static bool
is_unlike(const CsvGridRows *rows, uint32 row, uint32 column)
{
	return isalpha((unsigned char) csv_row_cell(rows, row, column)->text[0]) &&
		look_below(rows, row, column).unlike;
}

/* ---- what a row says by its types ---- */

static bool
is_text(uint8 type)
{
	return type == CSV_CELL_TEXT || type == CSV_CELL_CODE;
}

static bool
is_empty(const CsvGridRows *rows, uint32 row, uint32 column)
{
	return csv_row_cell(rows, row, column)->kind == CSV_CELL_EMPTY;
}

static uint8
kind_of(const CsvGridRows *rows, uint32 row, uint32 column)
{
	return csv_row_cell(rows, row, column)->kind;
}

/* the row's cell has text in a column of another type */
static bool
is_strange(const CsvGridRows *rows, uint32 row, uint32 column)
{
	uint8		type = rows->types[column];
	uint8		kind = kind_of(rows, row, column);

	return type != CSV_CELL_TEXT && is_text(kind) && !csv_kind_fits(type, kind);
}

/* ---- numbers that are names ---- */

/* a number with either decimal separator; NAN for another cell */
static double
number_of(const CsvCell *cell)
{
	double		number;

	if (!csv_cell_number(cell, strchr(cell->text, ',') != NULL ? ',' : '.', &number))
		return NAN;
	return number;
}

/*
 * Does a row count the columns, with numbers where other rows have text, or with a corner
 * that only this row leaves blank?  Then it is not data, except below a header if it begins
 * as data does, and the next row counts on or too few rows tell that these columns have text.
 */
static bool
has_ordinals(const CsvGridRows *rows, uint32 row)
{
	bool		has_corner = is_empty(rows, row, 0);
	bool		among_text = has_corner;

	if (rows->ncolumns < 3 ||
		(has_corner && row + 1 < rows->nrows &&
		 is_empty(rows, row + 1, 0)) ||
		(row > 0 && rows->types[0] == CSV_CELL_NUMBER &&
		 (rows->ncolumns == 3 || row + 3 >= rows->nrows ||
		  number_of(csv_row_cell(rows, row + 1, 0)) == 2)))
		return false;
	for (uint32 column = has_corner; column < rows->ncolumns; column++)
	{
		if (kind_of(rows, row, column) != CSV_CELL_NUMBER ||
			number_of(csv_row_cell(rows, row, column)) != column + !has_corner)
			return false;
		among_text |= rows->types[column] != CSV_CELL_NUMBER;
	}
	return among_text;
}

/* how much do the steps between the numbers of a row tell that these are names? */
#define STEPS_UP	2			/* at least three, upwards */
#define STEPS_EVEN	3			/* at least two, all equal; or the first from 0 or 1 */
#define STEPS_OF_YEARS	4

static uint32
steps_of(const CsvGridRows *rows, uint32 row, double *step)
{
	bool		ordered = true;
	bool		even = true;
	bool		years = true;
	double		last = 0;
	uint32		n = 0;

	*step = 0;
	for (uint32 column = 0; column < rows->ncolumns; column++)
	{
		const CsvCell *cell = csv_row_cell(rows, row, column);
		double		number;

		if (cell->kind != CSV_CELL_NUMBER)
			continue;
		number = number_of(cell);
		if (n++ == 1)
			*step = number - last;
		years &= is_year(cell);
		ordered &= n == 1 || (number - last) * *step > 0;
		even &= n == 1 || fabs(number - last - *step) < fabs(*step) / 1000;
		last = number;
	}
	return !ordered || n < 2 ? 0 : years ? STEPS_OF_YEARS :
		even && (n >= 3 || (*step == 1 && last <= 2)) ? STEPS_EVEN :
		*step > 0 && n >= 4 ? STEPS_UP : 0;
}

CsvNumberNames
csv_number_names(const CsvGridRows *rows, uint32 row)
{
	uint32		steps;
	uint32		end = Min(row + 4, rows->nrows);
	uint32		nlike = 0;
	bool		differs = false;	/* a word, or a corner, from the rows below */
	bool		any_word = false;
	uint32		n = 0;			/* numbers, up to MOST_COMPARED ... */
	uint32		nodd = 0;		/* ... that differ from all of the column below */
	double		step;
	double		other_step;

	/* names do not stand right below another row, except a title */
	if (row > 0 && rows->records[row] == rows->records[row - 1] + 1 &&
		!csv_row_is_sparse(rows, row - 1))
		return NUMBERS_ARE_VALUES;
	for (uint32 column = 0; column < rows->ncolumns; column++)
	{
		const CsvCell *cell = csv_row_cell(rows, row, column);
		bool		is_number = cell->kind == CSV_CELL_NUMBER;
		CsvBelow	below;

		if (is_number && n == MOST_COMPARED)
			continue;
		below = look_below(rows, row, column);
		n += is_number;
		if (is_number)
			nodd += below.unlike || (below.nvalues > 0 &&
									 ((is_year(cell) && !below.any_year) ||
									  (cell->quoted && !below.any_quoted)));
		else if (cell->kind == CSV_CELL_EMPTY)
			differs |= column == 0 && cell->nbytes == 0 && below.nvalues > 0 &&
				!is_empty(rows, row + 1, 0) &&
				csv_row(rows, row)->nfilled + 1 == rows->ncolumns;
		else if (is_text(cell->kind) ? below.recurs : rows->types[column] == cell->kind)
			return NUMBERS_ARE_VALUES;
		else
		{
			any_word = true;
			differs |= is_strange(rows, row, column) || (column == 0 && below.unlike);
		}
	}
	steps = steps_of(rows, row, &step);
	if (n == 0 || (any_word && kind_of(rows, row, 0) == CSV_CELL_NUMBER && steps < STEPS_OF_YEARS))
		return NUMBERS_ARE_VALUES;
	for (uint32 i = row + 1; i < end && steps > 0; i++)
		nlike += steps_of(rows, i, &other_step) >= steps;
	if (steps == STEPS_OF_YEARS ? nlike > 0 : nlike > (any_word ? 1 : 0) && nlike == end - row - 1)
		steps = 0;
	if (steps == STEPS_EVEN && n == 3 && step != 1)
		steps = STEPS_UP;		/* a sum of each of three, or a price of each size */
	if ((steps == STEPS_OF_YEARS && end > row + 1) ||
		(differs && steps + (nodd * 2 > n) >= STEPS_EVEN))
		return NUMBERS_ARE_NAMES;
	if (steps >= STEPS_EVEN ? (any_word ? n >= 4 || nodd > 0 : nodd == n) :
		differs && (steps > 0 || nodd * 2 > n))
		return NUMBERS_ARE_ASSUMED;
	return differs || (steps + nodd > 0 && (nodd == n || steps > 0) && (any_word || n > 2)) ?
		NUMBERS_MAY_BE_NAMES : NUMBERS_ARE_VALUES;
}

int
csv_judge_row(const CsvGridRows *rows, uint32 row)
{
	const bool	is_sparse = csv_row_is_sparse(rows, row);
	CsvFit		fits[2] = {0};	/* of values, and of codes */
	CsvFit		fit;
	bool		any_word = false;

	if (csv_number_names(rows, row) >= NUMBERS_ARE_ASSUMED)
		return ROW_SURELY_OF_HEADER;
	for (uint32 column = 0; column < rows->ncolumns; column++)
	{
		uint8		type = rows->types[column];
		uint8		kind = kind_of(rows, row, column);
		bool		fits_type = csv_kind_fits(type, kind) &&
			!(type == CSV_CELL_CODE && kind == CSV_CELL_CODE && is_unlike(rows, row, column));
		CsvFit	   *counts = &fits[type == CSV_CELL_CODE];

		if (type == CSV_CELL_TEXT || kind == CSV_CELL_EMPTY)
			continue;
		*(fits_type ? &counts->nfit : &counts->nunfit) += 1;
		any_word |= !fits_type && kind < CSV_CELL_NUMBER;
	}

	/* names may have digits, too, so codes tell only where there is nothing else */
	fit = fits[fits[0].nfit + fits[0].nunfit == 0];
	if (fit.nfit + fit.nunfit == 0)
		return is_sparse ? ROW_OF_HEADER : ROW_UNKNOWN;
	if (has_ordinals(rows, row))
		return ROW_SURELY_OF_HEADER;
	if (fit.nunfit == 0)
		return is_sparse ? ROW_UNKNOWN : ROW_OF_DATA;

	/* values of another type are not names */
	if (!any_word)
		return ROW_UNKNOWN;
	return fit.nfit > fit.nunfit ? ROW_OF_DATA : fit.nfit == fit.nunfit ? ROW_UNKNOWN :
		fit.nfit > 0 ? ROW_OF_HEADER : ROW_SURELY_OF_HEADER;
}

/* ---- what there is of a header in a row ---- */

/* a name of a unit, in brackets or not, or the width of a column and its type */
bool
csv_is_unit(const char *text, uint32 nbytes)
{
	size_t		ndigits;

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
	ndigits = strspn(text, "0123456789");
	return ndigits > 0 && ndigits + 1 == nbytes && strchr("snd", text[ndigits]) != NULL;
}

/* are all of its cells units, in some column that has a type? */
static bool
has_units(const CsvGridRows *rows, uint32 row)
{
	bool		any = false;

	for (uint32 i = 0; i < rows->ncolumns; i++)
	{
		const CsvCell *cell = csv_row_cell(rows, row, i);

		if (cell->nbytes == 0)
			continue;
		if (!csv_is_unit(cell->text, cell->nbytes))
			return false;
		any |= is_strange(rows, row, i);
	}
	return any;
}

/* nothing but a line below each name, or their numbers in brackets */
static bool
has_lines(const CsvGridRows *rows, uint32 row)
{
	uint32		nlines = 0;

	for (uint32 i = 0; i < rows->ncolumns; i++)
	{
		const char *text = csv_row_cell(rows, row, i)->text;
		uint32		nbytes = csv_row_cell(rows, row, i)->nbytes;
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

bool
csv_numbers_columns(const CsvGridRows *rows, uint32 row)
{
	return has_lines(rows, row) || has_ordinals(rows, row);
}

/*
 * Does it have names below the names of groups: text where rows above it are blank, right
 * of a cell that is not, and in all columns with a type?
 */
static bool
has_subnames(const CsvGridRows *rows, uint32 row, uint32 names)
{
	bool		completes = false;
	bool		in_group = false;

	for (uint32 column = 0; column < rows->ncolumns; column++)
	{
		bool		above = false;

		for (uint32 i = names; i < row; i++)
			above |= !is_empty(rows, i, column);
		in_group |= above;
		if (is_text(rows->types[column]))
			continue;
		if (is_strange(rows, row, column))
			completes |= in_group && !above;
		else if (!above || !is_empty(rows, row, column))
			return false;
	}
	return completes;
}

/*
 * How many words that are strange to their columns are different from all others?  None
 * if some stand for values.
 */
static uint32
count_strange(const CsvGridRows *rows, uint32 row)
{
	uint32		n = 0;

	for (uint32 i = 0; i < rows->ncolumns; i++)
	{
		const CsvCell *cell = csv_row_cell(rows, row, i);
		bool		known = !is_strange(rows, row, i);

		if (!known && look_below(rows, row, i).recurs)
			return 0;
		for (uint32 j = 0; j < Min(i, MOST_COMPARED) && !known; j++)
			known = strcmp(cell->text, csv_row_cell(rows, row, j)->text) == 0;

		/* <5 is a value, too */
		n += !known && strchr("0123456789<>?*", *cell->text) == NULL;
	}
	return n;
}

/* does no value fit its column, those in columns of text aside? */
static bool
fits_nowhere(const CsvGridRows *rows, uint32 row)
{
	return csv_count_fit(rows, csv_row(rows, row), true).nfit == 0;
}

/*
 * Has a row labels of the columns: texts, some in several words, that differ from all
 * cells below, some by their types?
 */
static bool
has_labels(const CsvGridRows *rows, uint32 row)
{
	bool		any_words = false;

	for (uint32 i = 0; i < rows->ncolumns; i++)
	{
		if (!is_unlike(rows, row, i))
			return false;
		any_words |= strchr(csv_row_cell(rows, row, i)->text, ' ') != NULL;
	}
	return any_words && rows->ncolumns >= LEAST_NAMES && count_strange(rows, row) > 0;
}

/* what a row above the data looks like */
typedef struct RowLook
{
	bool		header;
	bool		sure;			/* by more than words that may be values */
	bool		key;			/* its first cell is a word, and those below it no text */
} RowLook;

static RowLook
look_at_row(const CsvGridRows *rows, uint32 row, uint32 names)
{
	RowLook		look = {0};
	uint32		nstrange = fits_nowhere(rows, row) ? count_strange(rows, row) : 0;
	bool		any_text = is_text(rows->types[0]);

	/* units do not recur, and rows of names do not stand below data */
	if (is_strange(rows, row, 0) && look_below(rows, row, 0).recurs)
		return look;
	for (uint32 below = row + 2; below < rows->nrows && nstrange >= LEAST_NAMES; below++)
		if (csv_judge_row(rows, below - 1) > 0 && fits_nowhere(rows, below) &&
			count_strange(rows, below) >= LEAST_NAMES)
			nstrange = 0;
	for (uint32 column = 0; column < rows->ncolumns; column++)
		any_text |= is_text(rows->types[column]) && !is_empty(rows, row, column);
	look.key = !any_text &&
		(is_empty(rows, row, 0) ? fits_nowhere(rows, row) :
		 is_strange(rows, row, 0));
	look.sure = has_units(rows, row) || csv_numbers_columns(rows, row) ||
		has_subnames(rows, row, names);
	look.header = nstrange >= LEAST_NAMES || (look.key && nstrange >= 2) || look.sure;
	return look;
}

/* ---- the first row of data ---- */

static bool
has_strange(const CsvGridRows *rows, uint32 row)
{
	for (uint32 column = 0; column < rows->ncolumns; column++)
		if (is_strange(rows, row, column))
			return true;
	return false;
}

/* the row behind a header, and the titles above it, that begin at row `from` */
static uint32
pass_header(const CsvGridRows *rows, uint32 from, uint32 typed, bool *any_words)
{
	uint32		names = from;
	uint32		first;
	uint32		nkeys = 0;		/* rows of a header that begin with a key */

	while (names < typed && csv_row_is_sparse(rows, names))
		names++;
	if (names == typed)
	{
		for (names = from; names < typed && has_strange(rows, names);)
			names++;
		return names;
	}
	if (csv_judge_row(rows, names) >= ROW_UNKNOWN)
		return from;
	first = names + 1;
	for (uint32 row = first;
		 row < typed ||
		 (row < rows->nrows && nkeys > 1 && csv_judge_row(rows, row) == ROW_UNKNOWN);
		 row++)
	{
		RowLook		look = look_at_row(rows, row, names);

		if (!look.header && !look.key)
			break;
		nkeys += look.header && look.key;
		if (!look.header && (row != first || nkeys <= (fits_nowhere(rows, row) ? 0 : 1)))
			continue;
		first = row + 1;
		*any_words |= !look.sure;
	}
	return first;
}

/*
 * Has a row the names, and are all rows above it keys and values, padded to the table's
 * width?  Each begins with a word where the table has none, and leaves the last column
 * blank, which has a name.
 */
static bool
is_below_keys(const CsvGridRows *rows, uint32 names)
{
	for (uint32 row = 0; row <= names; row++)
		if (!is_strange(rows, row, 0) || !fits_nowhere(rows, row) ||
			count_strange(rows, row) < (row < names ? 1 : 2) ||
			(row < names ? csv_row(rows, row)->nfilled > 2 ||
			 !is_empty(rows, row, rows->ncolumns - 1) :
			 csv_row(rows, row)->nfilled < rows->ncolumns))
			return false;
	return names >= LEAST_KEYS;
}

uint32
csv_find_first_row(const CsvGridRows *rows, uint32 typed, bool *sure, bool *labels,
				   bool *any_words)
{
	uint32		from = typed - 1;
	uint32		nabove = 0;
	uint32		ndata = 0;
	uint32		first;

	for (uint32 row = typed; row < rows->nrows; row++)
		ndata += csv_judge_row(rows, row) > 0;
	if (!is_below_keys(rows, from))
		while (from > 0 && !rows->grid->records[rows->records[from] - 1].blank)
			from--;
	for (uint32 row = 0; row < from; row++)
		nabove += !csv_row_is_sparse(rows, row);
	first = pass_header(rows, from, typed, any_words);

	/* else the blank line is among the data */
	if (nabove > 0 && (first < typed || ndata < nabove))
		first = pass_header(rows, 0, typed, any_words);
	*sure = ndata + first >= typed ||
		(first > 0 && csv_number_names(rows, first - 1) >= NUMBERS_ARE_ASSUMED);
	*labels = first > 0 && first < typed && has_labels(rows, first);
	return first + *labels;
}
