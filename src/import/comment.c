/*
 * comment.c
 *		Lines that are no records: what they begin with.
 *
 * A value may begin as a comment does, as "#ff0000" and "--" do.  So lines are comments
 * only if none of them has as many fields as the table and fits its columns.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "import/cell.h"
#include "import/comment.h"
#include "import/grid.h"

static const char *const markers[] = {"#", "//", "--", ";", "%"};

/* longer than the one that it begins with, which then begins a header */
#define LONG_MARKER	"##"

static bool
begins_with(const CsvSample *sample, uint64 pos, const char *marker)
{
	size_t		nbytes = strlen(marker);

	return sample->nbytes - pos >= nbytes &&
		memcmp(sample->bytes + pos, marker, nbytes) == 0;
}

/* the beginning of the next line; the sample's end: there is none */
static uint64
next_line(const CsvSample *sample, uint64 pos, uint8_t break_byte)
{
	const uint8_t *found = memchr(sample->bytes + pos, break_byte, sample->nbytes - pos);

	return found == NULL ? sample->nbytes : (uint64) (found - sample->bytes) + 1;
}

const char *
csv_find_marker(const CsvSample *sample, uint8_t break_byte)
{
	uint32		counts[lengthof(markers)] = {0};
	uint32		nlong = 0;
	size_t		best = 0;

	for (uint64 pos = 0; pos < sample->nbytes; pos = next_line(sample, pos, break_byte))
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < lengthof(markers); i++)
			counts[i] += begins_with(sample, pos, markers[i]);
		nlong += begins_with(sample, pos, LONG_MARKER);
	}
	for (size_t i = 1; i < lengthof(markers); i++)
		if (counts[i] > counts[best])
			best = i;
	if (best == 0 && nlong > 0 && nlong + 1 == counts[0])
		return LONG_MARKER;
	return counts[best] > 0 ? markers[best] : NULL;
}

/* does the record have as many fields as the table; and how many fit their columns' types? */
static bool
compare_record(const CsvSample *sample, const CsvScan *scan, const CsvDialect *dialect,
			   const CsvGrid *grid, uint32 nfields, uint32 *nfit, uint32 *nunfit)
{
	*nfit = *nunfit = 0;
	if (scan->bad || scan->nfields != nfields)
		return false;
	for (uint32 i = 0; i < grid->ncolumns; i++)
	{
		char	   *value;
		uint32		nbytes = csv_sample_value(scan, dialect, sample, i, &value, NULL);
		CsvCellKind kind = csv_cell_kind(value, nbytes);

		pfree(value);
		if (kind == CSV_CELL_EMPTY || grid->types[i] == CSV_CELL_TEXT)
			continue;
		*(csv_grid_fits(grid->types[i], (uint8) kind) ? nfit : nunfit) += 1;
	}
	return true;
}

bool
csv_are_comments(const CsvSheet *sheet, const CsvSample *sample)
{
	CsvDialectOptions options = sheet->options;
	const uint64 table = sheet->records[sheet->from].start;
	CsvGrid    *grid = csv_grid_make(sheet, sample, sheet->nfields, sheet->from, sheet->to);
	CsvDialect	dialect;
	CsvScan		scan;
	CsvHeader	header;
	uint32		nabove = 0;
	uint32		nall = 0;
	bool		any_row = false;

	csv_grid_type(grid);
	csv_sheet_find_header(sheet, sample, &header);
	options.comment_length = 0;
	csv_dialect_compile(&dialect, &options);
	csv_sample_begin(&scan, 0);
	for (uint64 pos = 0, end; pos < sample->nbytes && !any_row; pos = end)
	{
		CsvSample	line = *sample;
		uint32		nfit;
		uint32		nunfit;

		end = next_line(sample, pos, dialect.break_byte);
		if (!csv_comment_at(&sheet->options, sample->bytes, pos, sample->nbytes))
			continue;
		nall++;
		scan.next = pos;
		line.nbytes = end;
		line.at_end = true;
		if (!csv_sample_next(&scan, &dialect, &line) ||
			!compare_record(&line, &scan, &dialect, grid, sheet->nfields, &nfit, &nunfit))
			continue;

		/* where nothing tells, one above the table may be its header */
		if (nfit + nunfit == 0 && pos < table)
			any_row = ++nabove > 1;
		else if (nfit >= nunfit)
			any_row = true;
		else if (pos < table)
			nabove++;
	}
	csv_sample_end(&scan);
	csv_grid_free(grid);

	/* one alone may be the header, if there is no other */
	return !any_row && (nall > 1 || nabove == 0 || header.last_row != header.first);
}

bool
csv_last_comment(const CsvSheet *sheet, const CsvSample *sample, uint64 before,
				 uint64 *start)
{
	CsvDialect	dialect;
	bool		found = false;

	csv_dialect_compile(&dialect, &sheet->options);
	for (uint64 pos = 0; pos < before; pos = next_line(sample, pos, dialect.break_byte))
	{
		uint64		end = next_line(sample, pos, dialect.break_byte);

		CHECK_FOR_INTERRUPTS();
		if (!csv_comment_at(&sheet->options, sample->bytes, pos, sample->nbytes))
			continue;
		for (uint64 i = pos + sheet->options.comment_length; i < end; i++)
			if (strchr("#/-;% \t\r\n", sample->bytes[i]) == NULL)
			{
				*start = pos;
				found = true;
				break;
			}
	}
	return found;
}

uint32
csv_count_comments(const CsvSheet *sheet, const CsvSample *sample, uint64 *first)
{
	CsvDialect	dialect;
	uint32		n = 0;

	csv_dialect_compile(&dialect, &sheet->options);
	for (uint64 pos = 0; pos < sample->nbytes; pos = next_line(sample, pos, dialect.break_byte))
	{
		CHECK_FOR_INTERRUPTS();
		if (csv_comment_at(&sheet->options, sample->bytes, pos, sample->nbytes) && n++ == 0)
			*first = pos;
	}
	return n;
}
