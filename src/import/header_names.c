/*
 * header_names.c
 *		Names of columns, from a header of one row or several.
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
#include "postgres.h"

#include <ctype.h>

#include "access/htup_details.h"
#include "utils/memutils.h"

#include "import/guess.h"

/* most rows of a header that names are made of */
#define HEADER_ROWS	4

/* of two columns, a unit is no longer than that: else the row above is a note */
#define UNIT_BYTES	6

CsvGridRecord *
csv_names_of(const CsvGrid *grid, const CsvGridRecord *record)
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
		grid->marker != NULL && strncmp(first->text, grid->marker, strlen(grid->marker)) == 0 ?
		strlen(grid->marker) : 0;
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

static uint32
count_filled(const CsvGridRecord *cells)
{
	uint32		n = 0;

	for (uint32 i = 0; i < cells->ncells; i++)
		n += !is_blank(cells, i);
	return n;
}

/* does a row belong to the header that has these names so far, right below it? */
static bool
belongs(const CsvGridRecord *row, const CsvGridRecord *names, bool *has_groups)
{
	uint32		filled = count_filled(row);
	uint32		last = 0;
	bool		completes = false;

	*has_groups = true;
	if (filled < 2 || row->ncells > names->ncells || row->ncells * 2 < names->ncells)
		return false;
	for (uint32 i = 0; i < row->ncells; i++)
		if (!is_blank(row, i))
		{
			last = i;
			completes |= is_blank(names, i);
		}
	if (completes)
		return true;
	if (row->ncells < names->ncells)
		return false;
	if (filled * 5 >= row->ncells * 4)
	{
		*has_groups = false;
		return row->ncells > 2 || (names->cells[0].nbytes <= UNIT_BYTES &&
								   names->cells[1].nbytes <= UNIT_BYTES);
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
		if (names->cells[i].nbytes == nbytes &&
			memcmp(names->cells[i].text, row->cells[above].text, nbytes) == 0)
			continue;
		name = palloc_extended((Size) nbytes + names->cells[i].nbytes + 2, MCXT_ALLOC_HUGE);
		memcpy(name, row->cells[above].text, nbytes);
		name[nbytes] = '_';
		memcpy(name + nbytes + 1, names->cells[i].text, names->cells[i].nbytes + 1);
		names->cells[i].text = name;
		names->cells[i].nbytes += nbytes + 1;
	}
}

/* may record `number` belong to the header right below it, by its form? */
static bool
may_be_row(const CsvGrid *grid, uint32 number)
{
	const CsvGridRecord *record = &grid->records[number];

	return !record->bad && !record->blank && record->nfields >= 2 &&
		record->comment == record[1].comment &&
		record->nfields <= MaxHeapAttributeNumber;
}

CsvGridRecord *
csv_header_names(const CsvGrid *grid, uint32 last, uint32 *top)
{
	uint32		number = last;
	CsvGridRecord *names = csv_names_of(grid, &grid->records[number]);

	*top = number;
	if (names == NULL || names->ncells < 2)
		return names;
	for (int nrows = 1; nrows < HEADER_ROWS && number > 0 &&
		 may_be_row(grid, number - 1); nrows++)
	{
		CsvGridRecord *row = csv_names_of(grid, &grid->records[--number]);
		bool		has_groups;

		if (!belongs(row, names, &has_groups))
			break;
		join(names, row, has_groups);
		*top = number;
	}
	return names;
}
