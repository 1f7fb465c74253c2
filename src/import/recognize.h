/*
 * recognize.h
 *		The form of a value: reads its text once, in all forms that are usual anywhere.
 *
 * A value has exactly one form.  Some forms have several readings: 1.234 is a number
 * with a decimal point, or with a point between its thousands.  A column's evidence
 * counts forms (evidence.h), and all values together decide how to read them (types.h).
 */
#ifndef CSV_RECOGNIZE_H
#define CSV_RECOGNIZE_H

#include "import/form.h"
#include "table/option.h"

/* what a table's options say of values */
typedef struct CsvReadingRules
{
	bool		empty_is_null;	/* an empty value in quotes may be NULL */
	uint32		missing;		/* the words that may stand for missing values */
	const CsvPattern *date_pattern; /* NULL: none is given */
	const CsvPattern *timestamp_pattern;
	const char *thousands;		/* the separator that is given; NULL: any */
	size_t		nthousands;		/* its bytes */
} CsvReadingRules;

/* in the current memory context; they refer to the table */
extern void csv_reading_rules_init(CsvReadingRules *rules, const CsvTable *table);

typedef struct CsvReadValue
{
	uint8		form;			/* CsvForm */
	int8		missing;		/* number of a word for a missing value, or -1 */
	CsvFigures	figures;		/* all zero for a form that has none */
} CsvReadValue;

/* Read a value in the server's encoding.  Calls nothing of PostgreSQL. */
extern void csv_read_value(const CsvReadingRules *rules, const char *text, uint32 nbytes,
						   CsvReadValue *value);

/* the separators as text in UTF-8; NULL for CSV_SEPARATOR_GIVEN */
extern const char *const csv_separators[CSV_NUM_SEPARATORS];

/* ---- at a glance ---- */

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
 * The kind of a cell, in any form that is usual somewhere, in UTF-8 or an 8-bit
 * encoding: this tells data from the text around it, and one dialect from another.
 */
extern CsvCellKind csv_cell_kind(const char *text, uint32 nbytes);

/* ---- missing values ---- */

/*
 * The words for missing values; a set of them has bit i for the word i.  The words from
 * CSV_FIRST_MISSING_NUMBER on are numbers, too.
 */
#define CSV_FIRST_MISSING_NUMBER	24
#define CSV_MISSING_WORDS			31

extern const char *const csv_missing_words[CSV_MISSING_WORDS];

/* the number of the word that a text is, among the words of the rules; -1: it is not */
extern int8 csv_missing_word(const CsvReadingRules *rules, const char *text, uint32 nbytes);

#endif							/* CSV_RECOGNIZE_H */
