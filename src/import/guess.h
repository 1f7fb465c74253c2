/*
 * guess.h
 *		The dialect of a file, from its beginning: delimiter, quote, escape,
 *		record boundary, header.
 */
#ifndef CSV_GUESS_H
#define CSV_GUESS_H

#include "import/dialects.h"
#include "import/header.h"

typedef struct CsvGuess
{
	CsvBoundary boundary;		/* as seen; CSV_BOUNDARY_AUTO: none was */
	bool		boundary_found;	/* as seen, and not given: 'auto' finds it, too */
	CsvOddCrs	odd_crs;
	uint32		nfields;		/* 0: there is no record */

	/* names in the header, in the sample's encoding; NULL without one */
	char	  **header;
	uint32	   *header_lengths;
	uint32		nheader;
	bool		any_data;		/* below the header */
	bool		assumed;		/* only the form of the names tells that it is a header */
	bool		none_assumed;	/* there is none, although the first record may be names */
	bool		shifted;		/* it lacks the first column's name */
	bool		quotes_off;		/* values begin or end with quotes that enclose nothing */
	uint64		stray_line;		/* the first with a quote in an unquoted value, where others
								 * are in quotes; 0: none */
	uint64		needless_line;	/* the first with quotes that need not be, where no quotes
								 * need be, and not all of the column have them; 0: none */
	bool		trimmed;		/* blanks beside values do not count, and the first record has none */
	bool		escapes;		/* the text format was found, and values have escapes of it */
	bool		unusual;		/* no header tells that the delimiter is a blank, ^ or ~ */
	const char *rival;			/* another delimiter that may be the right one; NULL: none */
	uint64		escaped_line;	/* the first with a backslash before a quote that stays; 0: none */

	/* parts that are left out without an option; first lines are in the sample's encoding */
	uint32		nabove;			/* records above the data, less the header */
	uint32		footer_rows;	/* those below it */
	char	   *first_above;
	char	   *first_below;
	char	   *first_comment;	/* NULL: there are none but the header */
} CsvGuess;

/*
 * Find out options that are not given: sets the dialect and header_rows of the
 * table's reader options, and *guess.  In the current memory context.
 */
extern void csv_guess(CsvTable *table, const CsvGiven *given,
					  const CsvSample *sample, CsvGuess *guess);

/*
 * The fields of the last of header_rows records, by which columns find theirs by_name; in
 * the current memory context.
 */
extern CsvCells csv_last_header_row(const CsvTable *table, const CsvSample *sample);

#endif							/* CSV_GUESS_H */
