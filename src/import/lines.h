/*
 * lines.h
 *		All lines of a table's files, where the sample leaves a doubt.
 */
#ifndef CSV_LINES_H
#define CSV_LINES_H

#include "import/sample.h"

/* bytes beyond ASCII */
typedef struct CsvHighBytes
{
	uint64		nvalid;			/* characters of UTF-8 */
	uint64		ninvalid;		/* bytes of none */
	bool		not_win1252;	/* there are bytes that WIN1252 does not have */
} CsvHighBytes;

/* Add the bytes of a sample.  The last may be half of a character, unless it is at_end. */
extern void csv_count_high_bytes(const CsvSample *sample, CsvHighBytes *counts);

/* the encoding that they tell, if it is not UTF-8; otherwise NULL */
extern const char *csv_encoding_of(const CsvHighBytes *counts);

/* count them in all files of the table */
extern CsvHighBytes csv_look_for_high_bytes(const CsvTable *table);

/* backslashes in a table of format 'text' */
typedef struct CsvEscapes
{
	bool		odd;			/* COPY does not write one */
	bool		doubled;		/* one stands for itself, or in the line \., as COPY writes it */
	bool		letters;		/* some stand before letters: tabs, line breaks */
} CsvEscapes;

/* all are false but odd, if there is an odd one */
extern CsvEscapes csv_look_for_escapes(const CsvTable *table);

/*
 * The first line, in the current memory context, that begins as the
 * table's comments do and has as many delimiters as a row, comments at the beginning of a
 * file aside; NULL: there is none.
 */
extern char *csv_look_for_comment_row(const CsvTable *table, CsvBoundary boundary,
									  uint32 nfields);

#endif							/* CSV_LINES_H */
