/*
 * delimiter.h
 *		Delimiters of several characters, and blanks around values.
 */
#ifndef CSV_DELIMITER_H
#define CSV_DELIMITER_H

#include "import/sheet.h"

#define CSV_WIDE_BYTES		8
#define CSV_WIDE_DELIMITERS	4

typedef char CsvWideDelimiter[CSV_WIDE_BYTES + 1];

/*
 * Strings of several characters that may be the sample's delimiter, the likeliest first;
 * how many.
 */
extern uint32 csv_find_wide_delimiters(const CsvSample *sample, uint8_t break_byte,
									   CsvWideDelimiter *found);

/* a byte that is not in the sample; 0: there is none */
extern uint8_t csv_unused_byte(const CsvSample *sample);

/*
 * The sample, in the current memory context, with `stand_in` for the delimiter, and
 * without blanks around values if it is to be trimmed: as the dialect of the options has
 * it, but for its delimiter.
 */
extern CsvSample csv_sample_plain(const CsvSample *sample,
								  const CsvDialectOptions *options,
								  const char *delimiter, uint8_t stand_in, bool trim);

/* the blanks around values: quotes may hide which records are the table */
typedef struct CsvBlanks
{
	uint32		nquotes;		/* records with a delimiter, blanks and then a quote */
	uint32		nrows;			/* of the table */
	uint32		npadded;		/* rows with blanks, or delimiters, beside values */
} CsvBlanks;

extern CsvBlanks csv_count_blanks(const CsvSheet *sheet, const CsvSample *sample);

#endif							/* CSV_DELIMITER_H */
