/*
 * guess.h
 *		The dialect of a file, from its beginning: delimiter, quote, escape,
 *		record boundary, decimal separator, header.
 */
#ifndef CSV_GUESS_H
#define CSV_GUESS_H

#include "import/try.h"

typedef struct CsvGuess
{
	CsvBoundary boundary;		/* as seen; CSV_BOUNDARY_AUTO: none was */
	uint32		nfields;		/* 0: there is no record */

	/* names in the header, in the sample's encoding; NULL without one */
	char	  **header;
	uint32	   *header_lengths;
	uint32		nheader;
	uint32		footer_rows;
	char	   *delimiter;
	bool		trim;
} CsvGuess;

/*
 * Find out what is not given: sets the table's decimal separator, the dialect
 * and header_rows of its reader options, and *guess.  In the current memory context.
 */
extern void csv_guess(CsvTable *table, const CsvGiven *given,
					  const CsvSample *sample, CsvGuess *guess);

#endif							/* CSV_GUESS_H */
