/*
 * guess.h
 *		The dialect of a file, from its beginning: delimiter, quote, escape,
 *		record boundary, decimal separator, header.
 */
#ifndef CSV_GUESS_H
#define CSV_GUESS_H

#include "import/header.h"
#include "import/try.h"

typedef struct CsvGuess
{
	CsvBoundary boundary;		/* as seen; CSV_BOUNDARY_AUTO: none was */
	bool		boundary_found;	/* as seen, and not given: 'auto' finds it, too */
	uint64		lone_cr_line;	/* the first with a CR that is data; 0: there is none */
	uint64		doubled_cr_line;	/* the first with CR CR LF, if others have it not */
	uint32		nfields;		/* 0: there is no record */

	/* names in the header, in the sample's encoding; NULL without one */
	char	  **header;
	uint32	   *header_lengths;
	uint32		nheader;
	bool		any_data;		/* below the header */

	/* what is left out, if nobody has said so; first lines are in the sample's encoding */
	uint32		nabove;			/* records above the data that are no header */
	uint32		footer_rows;	/* those below it */
	char	   *first_above;
	char	   *first_below;
	char	   *first_comment;	/* NULL: there are none but the header */
} CsvGuess;

/*
 * Find out what is not given: sets the table's decimal separator, the dialect
 * and header_rows of its reader options, and *guess.  In the current memory context.
 */
extern void csv_guess(CsvTable *table, const CsvGiven *given,
					  const CsvSample *sample, CsvGuess *guess);

/*
 * The fields of the last of header_rows records, by which columns find theirs by_name; in
 * the current memory context.
 */
extern CsvCells csv_last_header_row(const CsvTable *table, const CsvSample *sample);

#endif							/* CSV_GUESS_H */
