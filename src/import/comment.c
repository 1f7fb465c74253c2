/*
 * comment.c
 *		Comments in a sample: the strings that may begin them.
 *
 * A value may begin as a comment does, as "#ff0000" and "--" do.  So lines are comments
 * only if none of them has as many fields as the table and fits its columns.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "import/dialects.h"
#include "import/header.h"

static const char *const markers[] = {"#", "//", "--", ";", "%"};

/* above it, a line that begins with its first character is a header */
#define LONG_MARKER	"##"

const char *
csv_find_marker(const CsvSample *sample, uint8_t break_byte)
{
	uint32		counts[lengthof(markers)] = {0};
	uint32		nlong = 0;
	size_t		best = 0;

	for (uint64 pos = 0; pos < sample->nbytes;
		 pos = csv_sample_next_line(sample, pos, break_byte))
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < lengthof(markers); i++)
			counts[i] += csv_sample_has_at(sample, pos, markers[i]);
		nlong += csv_sample_has_at(sample, pos, LONG_MARKER);
	}
	for (size_t i = 1; i < lengthof(markers); i++)
		if (counts[i] > counts[best])
			best = i;
	if (best == 0 && nlong > 0 && nlong + 1 == counts[0])
		return LONG_MARKER;
	return counts[best] > 0 ? markers[best] : NULL;
}

bool
csv_are_comments(const CsvGrid *grid)
{
	const uint64 table = grid->records[grid->from].start;
	CsvGridRows *rows = csv_rows_make(grid, grid->nfields, grid->from, grid->to);
	uint32		nabove = 0;

	for (uint32 i = 0; i < grid->ncomments; i++)
	{
		const CsvGridRecord *comment = &grid->comments[i];
		CsvFit		fit;

		if (!csv_is_row(comment, rows->ncolumns))
			continue;

		/* all data may begin so, below a header */
		if (rows->nrows < 2 && comment->start > table)
			return false;
		fit = csv_count_fit(rows, comment, true);

		/* if nothing tells, a single comment above the table may be its header */
		if (fit.nfit + fit.nunfit == 0 && comment->start < table)
		{
			if (++nabove > 1)
				return false;
		}
		else if (fit.nfit >= fit.nunfit)
			return false;
		else if (comment->start < table)
			nabove++;
	}

	/* a single comment may be the header, if there is no other */
	return grid->ncomments > 1 || nabove == 0 || csv_find_header(grid).found;
}
