/*
 * cell.h
 *		What a cell of a table looks like, at a glance.
 */
#ifndef CSV_CELL_H
#define CSV_CELL_H

typedef enum CsvCellKind
{
	CSV_CELL_EMPTY,				/* or a word for a missing value */
	CSV_CELL_TEXT,
	CSV_CELL_CODE,				/* one word with a digit in it */
	CSV_CELL_BOOLEAN,
	CSV_CELL_NUMBER,
	CSV_CELL_TIME,				/* a date, a time, or both */
	CSV_NUM_CELL_KINDS
} CsvCellKind;

/*
 * In any form that is usual somewhere, whatever its type's input function takes:
 * this is to tell data from what is around it, and one dialect from another.
 */
extern CsvCellKind csv_cell_kind(const char *text, uint32 nbytes);

/*
 * The words for missing values; a set of them has bit i for the word i.  Those from
 * CSV_FIRST_MISSING_NUMBER on are numbers, too.
 */
#define CSV_FIRST_MISSING_NUMBER	24
#define CSV_MISSING_WORDS			31

extern const char *const csv_missing_words[CSV_MISSING_WORDS];

/* the number of a word for a missing value; -1: it is none */
extern int	csv_missing_word(const char *text, uint32 nbytes);

#endif							/* CSV_CELL_H */
