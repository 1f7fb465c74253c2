/*
 * place.c
 *		Where in a grid the table is.
 *
 * For each number of fields, the table is where records with it prevail: each counts 1,
 * each other record -1, and blank lines and comments nothing; the table is the stretch of
 * the largest sum.  Of several stretches, and dialects, the best has many records, many
 * typed columns, and cells that do not look as if they had another delimiter in them.
 *
 * Time and memory are linear in the sample, except for numbers of fields: few of these
 * have more than a few records.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "import/grid.h"

/* numbers of fields whose tables are compared */
#define CANDIDATES	4

/* the least share of all records that have the same number of fields */
#define LEAST_AGREEMENT	0.5

/* the least share of a table's cells that look like values */
#define LEAST_CLEAN	0.75

/* most records of another number of fields, for each row of a regular table */
#define MOST_OTHERS	0.05

/* a stretch of records */
typedef struct GridStretch
{
	uint32		nfields;
	uint32		from;
	uint32		to;
	int32		sum;
	double		quality;
	double		typed;
	bool		is_prose;		/* text, with cells that look like parts of sentences */
} GridStretch;

/* the stretch of this number of fields with the largest sum */
static GridStretch
find_stretch(const CsvGrid *grid, uint32 nfields)
{
	GridStretch best = {.nfields = nfields};
	int32		sum = 0;
	uint32		from = 0;

	for (uint32 i = 0; i < grid->nrecords; i++)
	{
		const CsvGridRecord *record = &grid->records[i];

		if (csv_is_row(record, nfields))
			sum++;
		else if (csv_is_counted(record))
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
	while (best.from < best.to && !csv_is_row(&grid->records[best.from], nfields))
		best.from++;
	return best;
}

static int
compare_stretches(const void *a, const void *b)
{
	const GridStretch *left = a;
	const GridStretch *right = b;

	if (left->quality != right->quality)
		return left->quality > right->quality ? -1 : 1;
	return left->nfields > right->nfields ? -1 : left->nfields < right->nfields;
}

/* the stretches that may be the table, in *stretches; returns their number */
static uint32
find_stretches(const CsvGrid *grid, GridStretch *stretches)
{
	uint32		n = 0;

	for (uint32 i = 0; i < grid->nrecords; i++)
	{
		uint32		nfields = grid->records[i].nfields;
		uint32		known = 0;

		if (grid->records[i].bad || grid->records[i].blank || nfields < 2)
			continue;
		while (known < n && stretches[known].nfields != nfields)
			known++;
		if (known < n)
			continue;
		stretches[n] = find_stretch(grid, nfields);
		stretches[n].quality = stretches[n].sum * (1 - 1.0 / nfields);
		n++;
	}
	qsort(stretches, n, sizeof(GridStretch), compare_stretches);
	return Min(n, CANDIDATES);
}

/* is a stretch more than lines that have this number of fields by chance? */
static bool
is_enough(const CsvGrid *grid, const GridStretch *stretch)
{
	uint32		nall = 0;
	uint32		nlater = 0;
	uint32		nrows = 0;
	uint32		nrows_later = 0;

	/* sentences, and their column's name */
	if (stretch->is_prose && stretch->from > 0 && grid->records[stretch->from - 1].nfields == 1 &&
		!grid->records[stretch->from - 1].blank)
		return false;
	for (uint32 i = 0; i < grid->nrecords; i++)
	{
		bool		is_row = csv_is_row(&grid->records[i], stretch->nfields);
		bool		counts = csv_is_counted(&grid->records[i]) || is_row;

		nall += counts;
		nrows += is_row;
		nlater += i >= stretch->from && counts;
		nrows_later += i >= stretch->from && is_row;
	}
	return nrows >= nall * LEAST_AGREEMENT ||
		(stretch->sum >= 3 && stretch->nfields >= 3 && stretch->typed >= 1) ||
		(nrows_later >= nlater * LEAST_AGREEMENT &&
		 ((stretch->typed >= 0.5 && nrows_later >= 2) ||
		  (nrows_later >= 3 && stretch->nfields >= 3) ||
		  (stretch->typed >= 1 && nrows_later == nlater && stretch->nfields >= 3 &&
		   stretch->from > 0 && grid->records[stretch->from - 1].blank)));
}

static void
take_stretch(CsvGrid *grid, const GridStretch *stretch)
{
	grid->nfields = stretch->nfields;
	grid->from = stretch->from;
	grid->to = stretch->to;
	grid->quality = stretch->quality;
	grid->typed = stretch->typed;
}

/* in a context of its own, since all stretches have their rows */
static void
compare_stretches_by_rows(const CsvGrid *grid, GridStretch *stretches, uint32 n)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_fdw rows",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext outer = MemoryContextSwitchTo(scratch);

	for (uint32 i = 0; i < n; i++)
	{
		CsvGridRows *rows = csv_rows_make(grid, stretches[i].nfields, stretches[i].from,
										 stretches[i].to);

		stretches[i].typed = rows->typed;
		stretches[i].is_prose = rows->typed <= 0 && rows->clean < LEAST_CLEAN &&
			grid->options.delimiter == ',';
		stretches[i].quality *= rows->clean * rows->clean * (1 + 2 * Min(rows->typed, 6));
	}
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(scratch);
}

void
csv_grid_place(CsvGrid *grid)
{
	GridStretch *stretches = palloc(sizeof(GridStretch) * CSV_GRID_RECORDS);
	GridStretch single = find_stretch(grid, 1);
	uint32		n = find_stretches(grid, stretches);

	take_stretch(grid, &single);
	compare_stretches_by_rows(grid, stretches, n);
	for (uint32 i = 0; i < n; i++)
		if ((!grid->is_table || stretches[i].quality > grid->quality) &&
			is_enough(grid, &stretches[i]))
		{
			take_stretch(grid, &stretches[i]);
			grid->is_table = true;
		}
	pfree(stretches);
}

uint32
csv_count_rows(const CsvGrid *grid, uint32 from, uint32 to, uint32 *nothers)
{
	uint32		nrows = 0;

	*nothers = 0;
	for (uint32 i = from; i < to; i++)
		if (csv_is_row(&grid->records[i], grid->nfields))
			nrows++;
		else
			*nothers += csv_is_counted(&grid->records[i]);
	return nrows;
}

bool
csv_grid_is_regular(const CsvGrid *grid)
{
	uint32		nothers;
	uint32		nrows = csv_count_rows(grid, grid->from, grid->to, &nothers);

	return grid->is_table && nrows >= 2 && nothers <= nrows * MOST_OTHERS;
}
