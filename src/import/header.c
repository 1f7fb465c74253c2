/*
 * header.c
 *		Where the data of a grid's table begins, and which records above it are its header.
 *
 *	1. Rows that fit the types of the columns are data; the header ends above the first of
 *	   them (header_rows.c).
 *	2. If the table's first row is data, records right above it may be data as well, in
 *	   spite of their number of fields or their quotes; above them there may be the header.
 *	3. If no column has a type, the first row is a header if it looks like names that do
 *	   not occur again.
 */
#include "postgres.h"

#include <ctype.h>

#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "import/guess.h"

/* most bytes of a field that may be a name */
#define NAME_BYTES		63

/* values whose form tells a name from them without a doubt */
#define LEAST_UNLIKE	5

/* ---- where data begins ---- */

/* the row at which data begins: rows before it are not of it, on the whole */
static uint32
find_data(const CsvGridRows *rows)
{
	int			best = 0;
	int			sum = 0;
	int			ndata = 0;
	int			nheaders = 0;
	uint32		first = 0;

	for (uint32 row = 0; row < Min(rows->nrows, CSV_HEADER_ROWS); row++)
	{
		int			verdict = csv_judge_row(rows, row);

		if (verdict == ROW_SURELY_OF_HEADER && nheaders > 0 && ndata > nheaders)
			verdict = ROW_OF_HEADER;
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
may_be_header(const CsvGrid *grid, uint32 number)
{
	const CsvGridRecord *record = &grid->records[number];

	return !record->bad && !record->blank && record->nfields >= 2 &&
		record->nfields * 2 >= grid->nfields &&
		record->nfields <= grid->nfields * 2;
}

/* is it an empty record as wide as the table, which is a row of NULLs below a header? */
static bool
is_empty_row(const CsvGrid *grid, uint32 number)
{
	return grid->records[number].blank && grid->records[number].nfields == grid->nfields;
}

/* do the cells of a record of another number of fields fit the types? */
static bool
looks_like_data(const CsvGridRows *rows, uint32 number)
{
	/* names may look like codes, and codes like names */
	CsvFit		fit = csv_count_fit(rows, &rows->grid->records[number], false);

	return may_be_header(rows->grid, number) && fit.nfit > fit.nunfit;
}

/* no row of the table is of a header: look at the records above it, as find_candidate() does */
static bool
look_above(const CsvGridRows *rows, CsvHeader *header)
{
	const CsvGrid *grid = rows->grid;
	const bool	text_only = rows->typed <= 0;
	uint32		above = header->first;

	/* empty records below a header are rows */
	while (above > 0 && is_empty_row(grid, above - 1))
		above--;
	if (above > 0 && may_be_header(grid, above - 1))
		header->first = header->last = above;
	above = header->first;
	while (above > 0 && !grid->records[above - 1].blank)
	{
		const CsvGridRecord *record = &grid->records[--above];

		if (record->bad || (!text_only && looks_like_data(rows, above)))
			header->first = header->last = above;
		else if (csv_is_row(record, grid->nfields))
		{
			/* if it is not a header either, it is data */
			header->first = header->last = above;
			return true;
		}
	}
	above = header->first;
	if (above == 0 || !may_be_header(grid, above - 1))
		return false;
	header->last = above - 1;
	return true;
}

/*
 * The header's last row is the last above `row` that is not nearly blank.  It may number the
 * columns, if no row above it has names.
 */
static uint32
find_header_above(const CsvGridRows *rows, uint32 row, uint32 otherwise)
{
	while (row-- > 0)
	{
		if (csv_row_is_sparse(rows, row))
			continue;
		otherwise = rows->records[row];
		if (!csv_numbers_columns(rows, row))
			break;
	}
	return otherwise;
}

/*
 * Does a record with codes, or values of a type, stand below an empty record, and that
 * below a full one?  Then the full one has the names, and the two others are rows.
 */
static bool
is_below_empty_row(const CsvGrid *grid, uint32 number)
{
	const CsvGridRecord *record = &grid->records[number];
	const CsvGridRecord *names;

	if (number < 2 || number >= grid->nrecords || !is_empty_row(grid, number - 1))
		return false;
	names = &grid->records[number - 2];
	if (!csv_is_row(names, grid->nfields) || names->nfilled < grid->nfields)
		return false;
	for (uint32 i = 0; i < record->ncells; i++)
		if (record->cells[i].kind >= CSV_CELL_CODE)
			return true;
	return false;
}

/*
 * Find the first record of data, and the header's last; they are the same if there is none.
 * Returns true if the latter may be a header, or not.
 */
static bool
find_candidate(const CsvGridRows *rows, CsvHeader *header)
{
	const CsvGrid *grid = rows->grid;
	const bool	text_only = rows->typed <= 0;	/* so the first row may be a header as well */
	uint32		row = text_only ? 0 : find_data(rows);
	bool		sure = true;
	bool		labels = false;
	bool		undecided;

	if (row > 0)
		row = csv_find_first_row(rows, row, &sure, &labels, &header->joins_words);
	if (row > 0)
	{
		header->first = row < rows->nrows ? rows->records[row] : grid->to;
		header->last = find_header_above(rows, row - labels, header->first);
		if (is_below_empty_row(grid, header->last))
		{
			header->first = header->last - 1;
			header->last -= 2;
		}
		if (!sure)
			header->first = header->last;
		return !sure;
	}
	while (text_only && row + 1 < rows->nrows && csv_row_is_sparse(rows, row))
		row++;
	header->first = header->last = rows->records[row];
	undecided = text_only || csv_judge_row(rows, row) == ROW_UNKNOWN;
	return (row == 0 && look_above(rows, header)) || undecided;
}

/* ---- does it look like a header? ---- */

/* what a text is like */
#define LIKE_NAME	1			/* a letter first, and nothing unusual */
#define LIKE_WORD	2			/* nothing but letters, and what stands between words */
#define ANY_LETTER	4			/* no longer than a name */

static uint32
look_at_text(const char *text, uint32 nbytes)
{
	uint32		like = nbytes == 0 ? 0 : nbytes <= NAME_BYTES ? LIKE_NAME | LIKE_WORD : LIKE_WORD;
	uint32		any = 0;

	for (uint32 i = 0; i < nbytes; i++)
	{
		const char	c = text[i];

		if (IS_HIGHBIT_SET(c) || isalpha((unsigned char) c))
		{
			any = nbytes <= NAME_BYTES ? ANY_LETTER : 0;
			continue;
		}
		if (c == '\0')
			return 0;
		if (strchr(" _-./", c) == NULL)
			like &= ~LIKE_WORD;
		if (i == 0 ? c != '_' :
			!isdigit((unsigned char) c) && strchr(" _-./:()[]#%&+*?$'\"@", c) == NULL)
			like &= ~LIKE_NAME;
	}
	return like | any;
}

/*
 * Are cells, above the records from `from` on, a header's?  *assumed: they only look like
 * names.
 */
static bool
are_names(const CsvGrid *grid, const CsvGridRecord *names, uint32 from,
		  bool *assumed)
{
	uint32		ncolumns = Min(grid->nfields, MaxHeapAttributeNumber);
	uint32		nnames = 0;
	uint32		nempty = 0;
	uint32		ntyped = 0;		/* columns that are not text ... */
	uint32		nstrange = 0;	/* ... and whose name is not a value of the type */
	bool		any_name = false;
	bool		any_odd = false;	/* a name that is like a code, or a word for NULL */
	bool		recurs = false;
	uint32		nunlike = 0;

	if (names == NULL)
		return false;
	for (uint32 i = 0; i < names->ncells; i++)
	{
		const char *name = names->cells[i].text;
		uint32		nbytes = names->cells[i].nbytes;
		uint32		like = look_at_text(name, nbytes);
		CsvCellKind kind;
		CsvBelow	below;

		CHECK_FOR_INTERRUPTS();
		nempty += nbytes == 0;
		if (nbytes == 0 || i >= ncolumns)
		{
			nnames += (like & LIKE_NAME) != 0;
			continue;
		}
		below = csv_look_below(grid, from, grid->nrecords, i, &names->cells[i]);
		kind = csv_cell_kind(name, nbytes);
		any_name |= (like & ANY_LETTER) != 0 || (i > 1 && below.unlike && kind >= CSV_CELL_CODE);
		nnames += (like & LIKE_NAME) != 0 ||
			(below.kind == CSV_CELL_EMPTY && kind >= CSV_CELL_CODE) ||
			(below.unlike && (kind >= CSV_CELL_CODE || (like & ANY_LETTER) != 0));
		recurs |= below.recurs;
		nunlike += below.unlike && (like & LIKE_WORD) != 0 && below.nvalues >= LEAST_UNLIKE;
		if (below.kind == CSV_CELL_EMPTY || below.kind == CSV_CELL_TEXT)
			continue;
		ntyped++;
		any_odd |= kind == CSV_CELL_EMPTY || (kind == CSV_CELL_CODE && (like & LIKE_NAME) == 0);
		nstrange += kind != below.kind;
	}
	*assumed = any_odd || (ntyped == 0 && nunlike * 2 < names->ncells);
	if (ntyped > 0)
		return nstrange == ntyped;
	return any_name && nnames + nempty == names->ncells && !recurs;
}

/* ---- names ----
 *
 * The last row of a header has most of the names, or has the units, with the names
 * above.  A row above it belongs to the header if
 *
 *	- both are full: names, units,
 *	- it fills blank cells of the last row,
 *	- it has names of groups all over the width.
 *
 * Otherwise it is a title or a note.  A group's name stands above its first column, and
 * goes on in the blank cells to its right that have names below.
 */

/* most rows of a header that names are made of */
#define HEADER_ROWS	4

/* of two columns, a unit that is not known is no longer: else the row above is a note */
#define UNIT_BYTES	6

CsvGridRecord *
csv_names_of(const CsvGridRecord *record, const char *marker)
{
	CsvGridRecord *names;
	CsvCell    *first;
	uint32		nbytes;

	if (record == NULL || record->ncells == 0 || record->ncells < record->nfields)
		return NULL;
	names = palloc(sizeof(CsvGridRecord));
	*names = *record;
	first = names->cells = palloc(sizeof(CsvCell) * record->ncells);
	memcpy(first, record->cells, sizeof(CsvCell) * record->ncells);

	/* a comment's mark does not belong to a name */
	nbytes = first->text[0] == '#' ? strspn(first->text, "#") :
		marker != NULL && strncmp(first->text, marker, strlen(marker)) == 0 ?
		strlen(marker) : 0;
	if (nbytes > 0)
		nbytes += strspn(first->text + nbytes, " \t");
	first->text += nbytes;
	first->nbytes -= nbytes;
	return names;
}

static bool
is_blank(const CsvGridRecord *cells, uint32 i)
{
	return i >= cells->ncells || strspn(cells->cells[i].text, " \t") == cells->cells[i].nbytes;
}

/* does a row belong to the header that has these names so far, from row `below` on? */
static bool
belongs(const CsvGridRecord *row, const CsvGridRecord *below, const CsvGridRecord *names,
		bool *has_groups)
{
	uint32		filled = 0;
	uint32		last = 0;
	bool		completes = false;

	*has_groups = true;
	for (uint32 i = 0; i < row->ncells; i++)
		if (!is_blank(row, i))
		{
			filled++;
			last = i;
			completes |= is_blank(names, i);
		}
	if (filled < 2 || row->ncells > names->ncells || row->ncells * 2 < names->ncells)
		return false;
	if (completes)
		return true;
	if (row->ncells < names->ncells)
		return false;
	if (filled * 5 >= row->ncells * 4)
	{
		*has_groups = false;
		return row->ncells > 2 ||
			(below->ncells > 1 && csv_is_unit(below->cells[0].text, below->cells[0].nbytes) &&
			 csv_is_unit(below->cells[1].text, below->cells[1].nbytes)) ||
			(names->cells[0].nbytes <= UNIT_BYTES && names->cells[1].nbytes <= UNIT_BYTES);
	}
	return last * 2 >= row->ncells && (filled >= 3 || is_blank(row, 0));
}

/* put a row's cells before the names below them */
static void
join(CsvGridRecord *names, const CsvGridRecord *row, bool has_groups)
{
	int64		group = -1;		/* the cell whose name goes on */

	for (uint32 i = 0; i < names->ncells; i++)
	{
		uint32		above = i;
		uint32		nbytes;
		char	   *name;

		if (!is_blank(row, i))
			group = is_blank(names, i) ? -1 : (int64) i;
		else if (!has_groups || group < 0 || is_blank(names, i))
		{
			group = -1;
			continue;
		}
		else
			above = (uint32) group;
		nbytes = row->cells[above].nbytes;
		if (is_blank(names, i))
		{
			names->cells[i].text = row->cells[above].text;
			names->cells[i].nbytes = nbytes;
			continue;
		}

		/* cells of a name that reaches over both rows */
		if (strcmp(names->cells[i].text, row->cells[above].text) == 0)
			continue;
		name = palloc_extended((Size) nbytes + names->cells[i].nbytes + 2, MCXT_ALLOC_HUGE);
		memcpy(name, row->cells[above].text, nbytes);
		name[nbytes] = '_';
		memcpy(name + nbytes + 1, names->cells[i].text, names->cells[i].nbytes + 1);
		names->cells[i].text = name;
		names->cells[i].nbytes += nbytes + 1;
	}
}

/*
 * The names in a header whose last row is record `last`; rows above it may be part of it,
 * from *top on
 */
static CsvGridRecord *
join_rows(const CsvGrid *grid, uint32 last, uint32 *top)
{
	uint32		number = last;
	CsvGridRecord *names = csv_names_of(&grid->records[number], grid->marker);

	*top = number;
	if (names == NULL || names->ncells < 2)
		return names;
	for (int nrows = 1; nrows < HEADER_ROWS && number > 0 &&
		 grid->records[number - 1].comment == grid->records[number].comment; nrows++)
	{
		CsvGridRecord *row = csv_names_of(&grid->records[--number], grid->marker);
		bool		has_groups;

		if (row == NULL || !belongs(row, &grid->records[number + 1], names, &has_groups))
			break;
		join(names, row, has_groups);
		*top = number;
	}
	return names;
}

/* ---- a header that lacks the first name ---- */

/*
 * Has the first column the names of rows, a value in each?  Then the last column has
 * values, too, and no record is as narrow as the header.
 */
static bool
has_row_names(const CsvGrid *grid, uint32 from)
{
	bool		any_last = false;
	uint32		n = 0;

	for (uint32 i = from; i < grid->nrecords; i++)
	{
		const CsvGridRecord *record = &grid->records[i];
		const CsvCell *cell = record->cells;

		if (record->nfields + 1 == grid->nfields && csv_is_counted(record))
			return false;
		if (!csv_is_row(record, grid->nfields))
			continue;
		if (cell->nbytes == 0)
			return false;
		any_last |= record->cells[grid->nfields - 1].nbytes > 0;
		n++;
	}
	return n > 0 && any_last;
}

/* R writes no name for the column of the rows' names */
static void
shift_names(const CsvGrid *grid, CsvHeader *header)
{
	CsvGridRecord *names = header->names;

	if (names == NULL || names->ncells + 1 != grid->nfields ||
		grid->nfields > MaxHeapAttributeNumber || header->top != header->last ||
		!has_row_names(grid, header->first))
		return;
	names->cells = repalloc(names->cells, sizeof(CsvCell) * grid->nfields);
	memmove(names->cells + 1, names->cells, sizeof(CsvCell) * names->ncells);
	names->cells[0] = (CsvCell) {.text = ""};
	header->nfields = ++names->ncells;
	header->shifted = true;
}

/* ---- all of it ---- */

/* the words of a record of one field, whose text others have, too */
static void
split_at_blanks(CsvGridRecord *names)
{
	char	   *rest;
	char	   *word = strtok_r(pstrdup(names->cells[0].text), " \t", &rest);

	names->cells = palloc(sizeof(CsvCell) * (names->cells[0].nbytes / 2 + 1));
	for (names->ncells = 0; word != NULL; word = strtok_r(NULL, " \t", &rest))
		names->cells[names->ncells++] = (CsvCell) {.text = word, .nbytes = (uint32) strlen(word)};
}

/*
 * Names in a comment above record `first`: in the last that has more than marks or, *told,
 * in the last "#Fields: ..." or "#fields ..." of a log; NULL: there are none
 */
static CsvGridRecord *
names_in_comment(const CsvGrid *grid, uint32 first, bool *told)
{
	uint64		start = first < grid->nrecords ? grid->records[first].start :
		grid->sample->nbytes;
	uint32		last = 0;
	CsvGridRecord *names;

	*told = false;
	for (uint32 i = 0; i < grid->ncomments && grid->comments[i].start < start; i++)
	{
		bool		tells = csv_names_fields(grid->sample, grid->comments[i].start);

		if (tells || (!*told && !csv_consists_of(&grid->comments[i], "#/-;% \t")))
			last = i + 1;
		*told |= tells;
	}
	names = csv_names_of(last > 0 ? &grid->comments[last - 1] : NULL, grid->marker);
	if (names == NULL)
		return NULL;

	/* names with blanks between them, above another delimiter */
	if (names->ncells == 1 && (*told ? grid->options.delimiter == '\t' : grid->nfields > 1))
		split_at_blanks(names);

	/* the word that logs have before the names, with a blank behind it, or as a field */
	if (*told)
	{
		names->cells[0].text += Min(names->cells[0].nbytes, strlen("fields"));
		names->cells[0].text += strspn(names->cells[0].text, ": ");
		names->cells[0].nbytes = strlen(names->cells[0].text);
	}
	if (names->cells[0].nbytes == 0 && (*told || names->ncells == grid->nfields + 1))
	{
		names->cells++;
		names->ncells--;
	}
	return names;
}

uint32
csv_told_fields(const CsvGrid *grid)
{
	bool		told;
	CsvGridRecord *names = names_in_comment(grid, csv_grid_first(grid), &told);

	return told && names != NULL ? names->ncells : 0;
}

/* have the header's names from a comment, if there are as many as fields */
static bool
find_names_in_comment(const CsvGrid *grid, CsvHeader *header)
{
	bool		told;
	CsvGridRecord *names = names_in_comment(grid, header->first, &told);

	if (told && names != NULL)
		header->nfields = names->ncells;
	if (names == NULL || names->ncells != grid->nfields ||
		!(told || are_names(grid, names, header->first, &header->assumed)))
		return false;
	header->names = names;
	header->nfields = names->ncells;
	header->in_comment = true;
	return true;
}

/* has a record a name above a column that has a type? */
static bool
names_typed(const CsvGridRows *rows, const CsvGridRecord *record)
{
	for (uint32 i = 0; i < Min(record->ncells, rows->ncolumns); i++)
		if (rows->types[i] > CSV_CELL_CODE &&
			!csv_kind_fits(rows->types[i], record->cells[i].kind) &&
			(look_at_text(record->cells[i].text, record->cells[i].nbytes) & LIKE_NAME) != 0)
			return true;
	return false;
}

/* ... numbers that may be names above columns of numbers? */
static CsvNumberNames
look_for_numbers(const CsvGridRows *rows, uint32 number)
{
	for (uint32 row = 0; row < rows->nrows; row++)
		if (rows->records[row] == number)
			return csv_number_names(rows, row);
	return NUMBERS_ARE_VALUES;
}

/* is the candidate a header? */
static void
decide(const CsvGridRows *rows, CsvHeader *header, bool undecided)
{
	const CsvGrid *grid = rows->grid;
	bool		found = header->last != header->first;
	CsvNumberNames numbers = look_for_numbers(rows, header->last);

	if (found && !undecided && numbers >= NUMBERS_ARE_ASSUMED)
		header->assumed = numbers == NUMBERS_ARE_ASSUMED;
	else if (found && !undecided && !names_typed(rows, &grid->records[header->last]))
		(void) are_names(grid, csv_names_of(&grid->records[header->last], grid->marker),
						 header->first, &header->assumed);
	while (undecided)
	{
		found = are_names(grid, csv_names_of(&grid->records[header->last], grid->marker),
						  header->last + 1, &header->assumed);

		/* if it is not the record above, it may be the first record */
		undecided = !found && rows->typed <= 0 && header->last != header->first;
		if (undecided)
			header->last = header->first;
	}
	header->found = found;
	header->assumed &= found;
	header->first += found && header->last == header->first;
}

/* without a header, records of NULLs may stand above the data, and names first in them */
static void
look_at_first(const CsvGridRows *rows, CsvHeader *header)
{
	const CsvGrid *grid = rows->grid;
	uint32		first = header->first;
	CsvGridRecord *names;
	uint32		ntimes = 0;		/* above words */
	bool		assumed;

	while (first > 0 && is_empty_row(grid, first - 1))
		first--;
	if (first == 0)
		header->first = 0;
	header->none_assumed = look_for_numbers(rows, header->first) >= NUMBERS_MAY_BE_NAMES;
	for (uint32 i = 0; i < rows->ncolumns; i++)
		if (rows->types[i] > CSV_CELL_CODE)
			return;
		else if (rows->types[i] == CSV_CELL_TEXT && i < grid->records[header->first].ncells)
			ntimes += grid->records[header->first].cells[i].kind == CSV_CELL_TIME;
	header->none_assumed |= ntimes > 1;
	names = csv_names_of(&grid->records[header->first], grid->marker);
	header->none_assumed |= names != NULL && names->ncells == grid->nfields &&
		are_names(grid, names, header->first + 1, &assumed);
}

static void
find_header(const CsvGrid *grid, CsvHeader *header)
{
	const CsvGridRows *rows = grid->rows;

	/* a table cannot have more columns */
	header->first = grid->from;
	if (grid->nfields > MaxHeapAttributeNumber || grid->from == grid->to)
		return;
	header->first = csv_grid_first(grid);
	if (grid->is_told && find_names_in_comment(grid, header))
		return;
	decide(rows, header, find_candidate(rows, header));
	header->top = header->last;
	if (header->found)
	{
		header->names = join_rows(grid, header->last, &header->top);
		header->nfields = grid->records[header->last].nfields;
		while (header->first > header->last + 1 && is_empty_row(grid, header->first - 1))
			header->first--;
		shift_names(grid, header);
	}
	else if (!find_names_in_comment(grid, header) && header->first > 0)
	{
		const CsvGridRecord *above = &grid->records[header->first - 1];

		if (csv_is_counted(above) && !above->bad && grid->is_table &&
			grid->to - grid->from > 1)
			header->nfields = above->nfields;
	}
	header->joins_words &= header->found && header->top < header->last;
	if (!header->found && !header->in_comment)
		look_at_first(rows, header);
}

const CsvHeader *
csv_find_header(CsvGrid *grid)
{
	MemoryContext outer = MemoryContextSwitchTo(grid->context);

	if (grid->header == NULL)
	{
		grid->header = palloc0(sizeof(CsvHeader));
		find_header(grid, grid->header);
	}
	MemoryContextSwitchTo(outer);
	return grid->header;
}
