/*
 * dialects.h
 *		The dialect of a sample: tries the usual dialects.
 */
#ifndef CSV_DIALECTS_H
#define CSV_DIALECTS_H

#include "import/grid.h"

/* what the user has given, so that it is not guessed */
typedef struct CsvGiven
{
	bool		format;
	bool		delimiter;
	bool		trim;
	bool		quote;
	bool		escape;
	bool		boundary;
	bool		comment;
	bool		footer;
	bool		header;			/* whether there is one, or header_rows */
	bool		further;		/* all except header and footer, by another file of the table */
} CsvGiven;

/*
 * The sample as the best dialect reads it; given options keep their values.  The
 * grid's marker is NULL, or with what comments may begin.  In the current memory context.
 */
extern CsvGrid *csv_find_dialect(const CsvDialectOptions *options, const char *null_string,
								 const CsvGiven *given, const CsvSample *sample);

/* ---- comments (comment.c) ---- */

/*
 * The marker of comments with which most lines of the sample begin; NULL: none begins with
 * any.
 */
extern const char *csv_find_marker(const CsvSample *sample, uint8_t break_byte);

/*
 * May lines that begin with the dialect's comment be left out of the table?  The grid has
 * all other lines.
 */
extern bool csv_are_comments(const CsvGrid *grid);

/* ---- delimiters of several characters (wide.c) ---- */

#define CSV_WIDE_DELIMITERS	4

typedef char CsvWideDelimiter[CSV_DELIMITER_BYTES + 1];

/*
 * Strings of several characters that may be the sample's delimiter, the likeliest first;
 * returns their number.
 */
extern uint32 csv_find_wide_delimiters(const CsvSample *sample, uint8_t break_byte,
									   uint8_t quote, CsvWideDelimiter *found);

#endif							/* CSV_DIALECTS_H */
