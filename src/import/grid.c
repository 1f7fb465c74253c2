/*
 * grid.c
 *		The records of a sample as one dialect reads them: a grid of cells.
 *
 * The sample is read once for each dialect that is tried, by the reader's own rules:
 * where a quoting error covers several lines, each further line is a record.  All that is
 * decided later looks at the cells.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "import/grid.h"
#include "reader/field.h"
#include "reader/lenient.h"
#include "table/interrupts.h"
#include "table/memory.h"

/* rows that tell the types of columns */
#define TYPED_ROWS	200

/*
 * What a cell counts that looks as if it had another delimiter in it: a comma in a file
 * of another delimiter; another delimiter; another delimiter in a file of commas
 */
#define SPOTTED_CELL	0.6
#define UNCLEAN_CELL	0.3
#define DIRTY_CELL		0.1

/* bytes of it that are looked at */
#define CLEAN_BYTES		200

/* the least share of a column's cells that are of one kind, for a type; for codes */
#define LEAST_TYPED	0.6
#define LEAST_CODED	0.9

/* ---- cells ---- */

static bool
is_quote(char c)
{
	return c == '"' || c == '\'';
}

static bool
has_escaped_quote(const CsvCell *cell)
{
	const char *found = cell->text;

	while ((found = memchr(found, '\\', (size_t) (cell->text + cell->nbytes - found))) != NULL)
		if (is_quote(*++found))
			return true;
	return false;
}

/* take note of what tells for a dialect, or for another */
static void
note_signs(CsvGridRecord *record, const CsvCell *cell, const CsvDialectOptions *options)
{
	const char	special[] = {(char) options->delimiter, '\r', '\n', '\0'};
	const char *text = cell->text;
	uint32		nbytes = cell->nbytes;
	uint32		before = (uint32) strspn(text, " \t");

	record->nfilled += cell->kind != CSV_CELL_EMPTY;
	if (cell->quoted)
	{
		record->signs |= CSV_SIGN_QUOTED |
			(strpbrk(text, special) != NULL ? CSV_SIGN_NEEDED : 0) |
			(strpbrk(text, "\r\n") != NULL ? CSV_SIGN_BROKEN : 0);
		return;
	}
	if (has_escaped_quote(cell))
		record->signs |= CSV_SIGN_ESCAPED;
	if (options->quote != 0 && memchr(text, options->quote, nbytes) != NULL)
		record->signs |= CSV_SIGN_STRAY;
	if (before == nbytes)
		return;
	while (csv_is_blank((uint8_t) text[nbytes - 1]))
		nbytes--;
	if (before > 0 || nbytes < cell->nbytes)
		record->signs |= CSV_SIGN_PADDED;

	/* a single quote is a ditto mark */
	if (is_quote(text[before]) && nbytes - before > 1)
		record->signs |= CSV_SIGN_OPENED;
	if (is_quote(text[nbytes - 1]) && nbytes - before > 1)
		record->signs |= CSV_SIGN_CLOSED;
}

static void
read_cells(CsvGridRecord *record, const CsvScan *scan, const CsvDialect *dialect,
		   const CsvSample *sample)
{
	CsvDialect	lenient;

	if (scan->lenient)
	{
		lenient = csv_lenient_dialect(dialect);
		dialect = &lenient;
	}
	record->ncells = Min(csv_scan_nkept(scan), MaxHeapAttributeNumber);
	record->cells = palloc_extended(sizeof(CsvCell) * record->ncells, MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < record->ncells; i++)
	{
		CsvCell    *cell = &record->cells[i];
		CsvSpan		span = csv_scan_field(scan, dialect, sample->bytes, sample->nbytes, i);

		cell->text = palloc_extended(span.length + 1, MCXT_ALLOC_HUGE);
		cell->nbytes = (uint32) csv_field_value(dialect, sample->bytes + span.offset,
												span.length, (uint8_t *) cell->text,
												span.length, &cell->quoted);
		cell->text[cell->nbytes] = '\0';
		cell->kind = (uint8) csv_cell_kind(cell->text, cell->nbytes);
		note_signs(record, cell, &dialect->opt);
	}
}

/* ---- records ---- */

bool
csv_consists_of(const CsvGridRecord *record, const char *characters)
{
	for (uint32 i = 0; i < record->ncells; i++)
		if (strspn(record->cells[i].text, characters) != record->cells[i].nbytes)
			return false;
	return !record->bad;
}

/* nothing but blanks in all cells? or Excel's line that tells the delimiter */
static bool
is_blank_record(const CsvGridRecord *record, const CsvScan *scan, const CsvSample *sample)
{
	if (scan->start == 0 && scan->end == 5 &&
		pg_strncasecmp((const char *) sample->bytes, "sep=", 4) == 0)
		return true;
	return record->nfields == record->ncells && csv_consists_of(record, " \t");
}

static void
begin_scan(CsvScan *scan, uint64 start)
{
	memset(scan, 0, sizeof(*scan));
	scan->interrupted = csv_process_interrupts;
	scan->next = start;
	scan->most = CSV_MAX_FIELDS;
}

static bool
next_record(CsvScan *scan, const CsvDialect *dialect, CsvMode mode, const CsvSample *sample)
{
	const CsvMemory memory = csv_context_memory(CurrentMemoryContext);

	CHECK_FOR_INTERRUPTS();
	csv_scan_record(scan, &memory, dialect, mode, sample->bytes,
					scan->next, sample->nbytes, sample->at_end);
	if (scan->complete && scan->bad && dialect->opt.lenient)
		csv_scan_lenient(scan, &memory, dialect, sample->bytes, scan->start,
						 sample->nbytes);
	return scan->complete && scan->is_record;
}

static void
read_record(CsvGridRecord *record, const CsvScan *scan, const CsvDialect *dialect,
			const CsvSample *sample)
{
	memset(record, 0, sizeof(*record));
	record->start = scan->start;
	record->nfields = scan->nfields;
	record->bad = scan->bad;
	record->signs = scan->bad ? CSV_SIGN_BAD : 0;
	if (!record->bad)
		read_cells(record, scan, dialect, sample);
}

static void
add_record(CsvGrid *grid, const CsvScan *scan, const CsvDialect *dialect)
{
	CsvGridRecord *record = &grid->records[grid->nrecords++];

	read_record(record, scan, dialect, grid->sample);
	record->blank = !record->bad && is_blank_record(record, scan, grid->sample);
	record->comment = !record->blank && grid->marker != NULL &&
		csv_sample_has_at(grid->sample, scan->start, grid->marker);
	grid->signs |= record->signs;
	grid->is_single &= record->nfields == 1 && !record->bad;
}

/* the lines of comments, read as records */
static void
read_comments(CsvGrid *grid)
{
	const CsvSample *sample = grid->sample;
	const uint8_t break_byte = csv_break_byte(grid->options.boundary);
	CsvDialectOptions options = grid->options;
	CsvDialect	dialect;
	CsvScan		scan;

	grid->comments = palloc(sizeof(CsvGridRecord) * CSV_GRID_RECORDS);
	options.blank_is_record = true;
	options.comment_length = 0;
	csv_dialect_compile(&dialect, &options);
	for (uint64 pos = 0; pos < sample->nbytes && grid->ncomments < CSV_GRID_RECORDS;
		 pos = csv_sample_next_line(sample, pos, break_byte))
	{
		CHECK_FOR_INTERRUPTS();
		if (!csv_comment_at(&grid->options, sample->bytes, pos, sample->nbytes))
			continue;
		begin_scan(&scan, pos);
		if (next_record(&scan, &dialect, CSV_NORMAL, sample))
			read_record(&grid->comments[grid->ncomments++], &scan, &dialect, sample);
	}
}

CsvGrid *
csv_grid_read(const CsvDialectOptions *options, const CsvSample *sample, const char *marker)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "csv_gpu_fdw grid",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext outer = MemoryContextSwitchTo(context);
	CsvGrid    *grid = palloc0(sizeof(CsvGrid));
	CsvDialectOptions with = *options;
	CsvDialect	dialect;
	CsvScan		scan;
	uint64		alone = 0;		/* lines before it are read alone */
	bool		any_record = false;

	grid->context = context;
	grid->options = *options;
	csv_dialect_delimiter(options, grid->delimiter);
	grid->sample = sample;
	grid->marker = marker;
	grid->is_single = true;
	grid->records = palloc(sizeof(CsvGridRecord) * CSV_GRID_RECORDS);
	with.blank_is_record = true;
	csv_dialect_compile(&dialect, &with);
	begin_scan(&scan, 0);
	while (grid->nrecords < CSV_GRID_RECORDS &&
		   next_record(&scan, &dialect, scan.next < alone ? CSV_ALONE : CSV_NORMAL, sample))
	{
		if (grid->nrecords == 0 && scan.start == scan.end)
		{
			grid->nblank++;
			continue;
		}
		add_record(grid, &scan, &dialect);
		any_record |= !grid->records[grid->nrecords - 1].blank;
		if (scan.bad && scan.nbreaks > 0 && scan.start >= alone)
		{
			alone = scan.next;
			scan.next = csv_sample_next_line(sample, scan.start, dialect.break_byte);
		}
	}

	if (options->comment_length > 0)
		read_comments(grid);

	/* if there is nothing else, lines with delimiters are records */
	for (uint32 i = 0; i < grid->nrecords && !any_record; i++)
		grid->records[i].blank = grid->records[i].nfields == 1;
	MemoryContextSwitchTo(outer);
	return grid;
}

void
csv_grid_free(CsvGrid *grid)
{
	MemoryContextDelete(grid->context);
}

uint32
csv_grid_first(const CsvGrid *grid)
{
	uint32		first = 0;

	while (first < grid->nrecords && !csv_is_counted(&grid->records[first]))
		first++;
	return first;
}

/* ---- rows ---- */

/*
 * How much does an unquoted cell look as if this delimiter was the right one?  Commas are
 * in texts and numbers, whatever delimits; other delimiters are hardly anywhere.
 */
static double
cleanness(const CsvCell *cell, uint8_t delimiter)
{
	const char *text = cell->text;
	double		clean = 1;

	if (cell->quoted || (cell->kind != CSV_CELL_TEXT && cell->kind != CSV_CELL_CODE))
		return 1;

	for (uint32 i = 0; i < Min(cell->nbytes, CLEAN_BYTES); i++)
	{
		bool		parts = i + 1 < cell->nbytes && text[i + 1] != ' ';

		if (text[i] == '\t' || text[i] == '|' || (text[i] == ';' && parts))
			return delimiter == ',' ? DIRTY_CELL : UNCLEAN_CELL;
		if (text[i] == ',' && parts)
			clean = SPOTTED_CELL;
	}
	return clean;
}

bool
csv_kind_fits(uint8 type, uint8 kind)
{
	return kind == type || (type == CSV_CELL_CODE && kind > CSV_CELL_CODE);
}

CsvFit
csv_count_fit(const CsvGridRows *rows, const CsvGridRecord *record, bool codes)
{
	CsvFit		fit = {0};

	for (uint32 i = 0; i < Min(record->ncells, rows->ncolumns); i++)
	{
		uint8		type = rows->types[i];
		uint8		kind = record->cells[i].kind;

		if (kind != CSV_CELL_EMPTY && type != CSV_CELL_TEXT &&
			(codes || type != CSV_CELL_CODE))
			*(csv_kind_fits(type, kind) ? &fit.nfit : &fit.nunfit) += 1;
	}
	return fit;
}

/* how sure is it that a column of these cells, in so many rows, has a type, and which? */
static double
type_of(const uint32 *counts, uint32 nrows, uint8 *type)
{
	uint32		ncells = 0;
	double		best = 0;

	*type = CSV_CELL_TEXT;
	for (int kind = CSV_CELL_TEXT; kind < CSV_NUM_CELL_KINDS; kind++)
		ncells += counts[kind];

	/* a single value may be the name of an empty column */
	if (ncells == 1 && nrows > 1)
		return 0;
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

static void
find_types(CsvGridRows *rows)
{
	uint32	   *counts = palloc0(sizeof(uint32) * CSV_NUM_CELL_KINDS * rows->ncolumns);
	uint8	   *types = palloc(rows->ncolumns);
	uint64		filled = 0;

	rows->typed = -1;
	for (uint32 row = rows->nrows; row-- > 0;)
	{
		double		typed = 0;

		filled += csv_row(rows, row)->nfilled;
		for (uint32 column = 0; column < rows->ncolumns; column++)
			counts[column * CSV_NUM_CELL_KINDS + csv_row_cell(rows, row, column)->kind]++;
		if (row >= CSV_HEADER_ROWS)
			continue;
		for (uint32 column = 0; column < rows->ncolumns; column++)
			typed += type_of(counts + column * CSV_NUM_CELL_KINDS,
							 rows->nrows - row, &types[column]);
		if (typed >= rows->typed)
		{
			rows->typed = typed;
			memcpy(rows->types, types, rows->ncolumns);
			rows->usually_filled = (double) filled / (rows->nrows - row);
		}
	}
	rows->typed = Max(rows->typed, 0);
	pfree(counts);
	pfree(types);
}

CsvGridRows *
csv_rows_make(const CsvGrid *grid, uint32 nfields, uint32 from, uint32 to)
{
	CsvGridRows *rows = palloc0(sizeof(CsvGridRows));
	double		nclean = 0;
	uint64		ncells = 0;

	rows->grid = grid;
	rows->ncolumns = Min(nfields, MaxHeapAttributeNumber);
	rows->records = palloc(sizeof(uint32) * TYPED_ROWS);
	rows->types = palloc0(rows->ncolumns);
	for (uint32 i = from; i < to && rows->nrows < TYPED_ROWS; i++)
	{
		const CsvGridRecord *record = &grid->records[i];

		if (!csv_is_row(record, nfields))
			continue;
		rows->records[rows->nrows++] = i;
		for (uint32 column = 0; column < rows->ncolumns; column++)
		{
			const CsvCell *cell = &record->cells[column];

			if (cell->kind == CSV_CELL_EMPTY)
				continue;
			nclean += cleanness(cell, grid->options.delimiter);
			ncells++;
		}
	}
	rows->clean = ncells > 0 ? nclean / ncells : 1;
	find_types(rows);
	return rows;
}

/* ---- where the table is ---- */

/*
 * For each number of fields, the table is where records with it prevail: each counts 1,
 * each other record -1, and blank lines and comments nothing; the table is the stretch of
 * the largest sum.  Of several stretches, and dialects, the best has many records, many
 * typed columns, and cells that do not look as if they had another delimiter in them.
 *
 * Time and memory are linear in the sample, except for numbers of fields: few of these
 * have more than a few records.
 */

/* numbers of fields whose tables are compared */
#define CANDIDATES	4

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
	const CsvGridRows *rows;
} GridStretch;

/* the stretch of this number of fields with the largest sum, which begins with a row */
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

uint32
csv_count_rows(const CsvGrid *grid, uint32 nfields, uint32 from, uint32 to, uint32 *nothers)
{
	uint32		nrows = 0;

	*nothers = 0;
	for (uint32 i = from; i < to; i++)
		if (csv_is_row(&grid->records[i], nfields))
			nrows++;
		else
			*nothers += csv_is_counted(&grid->records[i]);
	return nrows;
}

/* is a stretch more than lines that have this number of fields by chance? */
static bool
is_enough(const CsvGrid *grid, const GridStretch *stretch)
{
	uint32		nothers;
	uint32		nothers_later;
	uint32		nrows = csv_count_rows(grid, stretch->nfields, 0, grid->nrecords, &nothers);
	uint32		nrows_later = csv_count_rows(grid, stretch->nfields, stretch->from,
											 grid->nrecords, &nothers_later);

	return nrows >= nothers ||
		(stretch->sum >= 3 && stretch->nfields >= 3 && stretch->rows->typed >= 1) ||
		(nrows_later >= nothers_later &&
		 ((stretch->rows->typed >= 0.5 && nrows_later >= 2) ||
		  (nrows_later >= 3 && stretch->nfields >= 3) ||
		  (stretch->rows->typed >= 1 && nothers_later == 0 && stretch->nfields >= 3 &&
		   stretch->from > 0 && grid->records[stretch->from - 1].blank)));
}

static void
take_stretch(CsvGrid *grid, const GridStretch *stretch)
{
	grid->nfields = stretch->nfields;
	grid->from = stretch->from;
	grid->to = stretch->to;
	grid->quality = stretch->quality;
	grid->rows = stretch->rows;
}

static void
make_rows(const CsvGrid *grid, GridStretch *stretch)
{
	const CsvGridRows *rows = csv_rows_make(grid, stretch->nfields, stretch->from, stretch->to);

	stretch->rows = rows;
	stretch->quality *= rows->clean * rows->clean * (1 + 2 * Min(rows->typed, 6));
}

void
csv_grid_place(CsvGrid *grid, uint32 told)
{
	MemoryContext outer = MemoryContextSwitchTo(grid->context);
	GridStretch *stretches = palloc(sizeof(GridStretch) * CSV_GRID_RECORDS);
	GridStretch single = find_stretch(grid, 1);
	uint32		n = find_stretches(grid, stretches);

	make_rows(grid, &single);
	take_stretch(grid, &single);
	for (uint32 i = 0; i < n; i++)
	{
		make_rows(grid, &stretches[i]);
		if ((!grid->is_table || stretches[i].quality > grid->quality) &&
			is_enough(grid, &stretches[i]))
		{
			take_stretch(grid, &stretches[i]);
			grid->is_table = true;
		}
	}
	for (uint32 i = 0; grid->is_table && i < n; i++)
		if (stretches[i].nfields == told)
			take_stretch(grid, &stretches[i]);
	grid->is_told = grid->is_table && grid->nfields == told;
	grid->nrows = csv_count_rows(grid, grid->nfields, grid->from, grid->to, &grid->nothers);
	pfree(stretches);
	MemoryContextSwitchTo(outer);
}

bool
csv_grid_is_regular(const CsvGrid *grid)
{
	return grid->is_table && grid->nothers <= grid->nrows * MOST_OTHERS;
}
