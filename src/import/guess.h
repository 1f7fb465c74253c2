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
	uint32		nfields;		/* 0: there is no record */
	CsvHeader	header;
	bool		any_data;		/* below the header */
	List	   *notes;			/* on what may be wrong (tell.h) */

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
extern CsvGridRecord *csv_last_header_row(const CsvTable *table, const CsvSample *sample);

#endif							/* CSV_GUESS_H */
