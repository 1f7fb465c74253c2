/*
 * try.h
 *		The dialect of a sample: tries those that are usual.
 */
#ifndef CSV_TRY_H
#define CSV_TRY_H

#include "import/sheet.h"

/*
 * With so many fields, what a table can have is out of reach, whatever other quotes or
 * comments would leave of them: all that is to come is an ERROR.
 */
#define CSV_MOST_FIELDS_TRIED	(100 * MaxHeapAttributeNumber)

/* what is known already, since somebody has said it */
typedef struct CsvGiven
{
	bool		format;
	bool		delimiter;
	bool		trim;
	bool		quote;
	bool		escape;
	bool		boundary;
	bool		decimal_separator;
	bool		comment;
	bool		footer;
	bool		header;			/* whether there is one, or header_rows */
	bool		further;		/* all but header and footer is, by another file of the table */
} CsvGiven;

/* by the first LF outside quotes, or CRs without one; 0: no quotes.  CSV_BOUNDARY_AUTO: none */
extern CsvBoundary csv_find_boundary(const CsvSample *sample, uint8_t quote);

/* the best dialect */
typedef struct CsvTrial
{
	CsvSheet	sheet;
	CsvSample	sample;			/* that the sheet is of, as may be its copy in other words */
	const char *delimiter;		/* NULL: the dialect's, else that of which this is in place */
	bool		trim;			/* blanks around values are gone */
} CsvTrial;

/* with what is given as in the options; in the current memory context */
extern CsvTrial csv_try_dialects(const CsvDialectOptions *options,
								 const char *null_string, const CsvGiven *given,
								 const CsvSample *sample);

#endif							/* CSV_TRY_H */
