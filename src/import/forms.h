/*
 * forms.h
 *		The form of a value: reads its text once, in all forms that are usual anywhere.
 *
 * A value has exactly one form.  Some forms have several readings: 1.234 is a number
 * with a decimal point, or with a point between its thousands.  A column's evidence
 * counts forms (evidence.h), and all values together decide how to read them (types.h).
 */
#ifndef CSV_FORMS_H
#define CSV_FORMS_H

#include "table/option.h"

/* ---- forms ---- */

/* separators of thousands, in the order of the forms that have them */
typedef enum CsvSeparator
{
	CSV_SEPARATOR_COMMA,
	CSV_SEPARATOR_POINT,
	CSV_SEPARATOR_BLANK,
	CSV_SEPARATOR_APOSTROPHE,
	CSV_SEPARATOR_NO_BREAK,
	CSV_SEPARATOR_NARROW_NO_BREAK,
	CSV_SEPARATOR_THIN,
	CSV_SEPARATOR_TYPOGRAPHIC,	/* apostrophe */
	CSV_SEPARATOR_GIVEN,		/* by the option thousands_separator */
	CSV_NUM_SEPARATORS
} CsvSeparator;

typedef enum CsvForm
{
	CSV_FORM_TEXT,
	CSV_FORM_BOOLEAN,
	CSV_FORM_UUID,

	/* numbers; DECIMAL and EITHER are followed by the same with a comma */
	CSV_FORM_INTEGER,
	CSV_FORM_DAYS,				/* eight digits that are a date, YYYYMMDD, too */
	CSV_FORM_DECIMAL,			/* a point that cannot separate thousands */
	CSV_FORM_DECIMAL_COMMA,
	CSV_FORM_EITHER,			/* a point that may be decimal or separate thousands */
	CSV_FORM_EITHER_COMMA,
	CSV_FORM_EXPONENT,			/* 1.5e7 */
	CSV_FORM_EXPONENT_COMMA,
	CSV_FORM_EXPONENT_SIGNED,	/* 1e-7 */
	CSV_FORM_EXPONENT_BARE,		/* 12E5, which may be a code */
	CSV_FORM_NOT_FINITE,		/* infinity, NaN */
	CSV_FORM_GROUPED,			/* plus CsvSeparator: digits in groups ... */
	/* ... and a decimal point, or comma */
	CSV_FORM_GROUPED_DECIMAL = CSV_FORM_GROUPED + CSV_NUM_SEPARATORS,
	CSV_FORM_GROUPED_DECIMAL_COMMA = CSV_FORM_GROUPED_DECIMAL + CSV_NUM_SEPARATORS,

	/* dates and times; DATE to TIME_OF_DAY as their types' input functions read them */
	CSV_FORM_DATE = CSV_FORM_GROUPED_DECIMAL_COMMA + CSV_NUM_SEPARATORS,
	CSV_FORM_TIMESTAMP,
	CSV_FORM_TIMESTAMPTZ,
	CSV_FORM_TIME_OF_DAY,
	CSV_FORM_DAY_FIRST,			/* only the day can stand first */
	CSV_FORM_MONTH_FIRST,
	CSV_FORM_DAY_OR_MONTH_FIRST,
	CSV_FORM_ORDERED,			/* the year stands first, or the month is a name */
	CSV_FORM_ODD_DATE,			/* no date, but with the name of a month and a digit */

	/* what looks like a number, but has no input function that reads it */
	CSV_FORM_ZEROS,				/* leading zeros, or a plus sign: a code */
	CSV_FORM_MINUS_BEHIND,
	CSV_FORM_MINUS_SIGN,		/* U+2212 */
	CSV_FORM_PARENTHESES,
	CSV_FORM_CURRENCY,
	CSV_FORM_PERCENT,
	CSV_FORM_QUOTED,			/* an apostrophe in front */
	CSV_FORM_FORMULA,			/* ="02345" */
	CSV_NUM_FORMS
} CsvForm;

#define CSV_FIRST_NUMBER	CSV_FORM_INTEGER
#define CSV_LAST_NUMBER		(CSV_FORM_DATE - 1)
#define CSV_FIRST_WHEN		CSV_FORM_DAY_FIRST
#define CSV_LAST_WHEN		CSV_FORM_ORDERED
#define CSV_FIRST_ODD_NUMBER	CSV_FORM_MINUS_BEHIND

/* facts of a value, or of all values of a column: each is a bit */
typedef enum CsvFact
{
	/* booleans */
	CSV_FACT_TRUE = 1 << 0,
	CSV_FACT_FALSE = 1 << 1,
	CSV_FACT_SPELT_OUT = 1 << 2,	/* true or false itself */

	/* numbers, which no column has beside booleans */
	CSV_FACT_BEYOND_INT4 = 1 << 0,	/* of whole numbers */
	CSV_FACT_BEYOND_INT8 = 1 << 1,
	CSV_FACT_BELOW = 1 << 2,	/* less than -99 */
	CSV_FACT_NEGATIVE_GROUP = 1 << 3,	/* a sign, and sure separators of thousands */
	CSV_FACT_LONG_UNGROUPED = 1 << 4,	/* four digits of a whole number without these */
	CSV_FACT_ZERO_AT_END = 1 << 5,	/* of the decimals of an EITHER form */
	CSV_FACT_CAPITAL_E = 1 << 6,

	/* dates and timestamps in any form (when.c): one pattern reads one of each line */
	CSV_FACT_YEAR_LAST = 1 << 7, CSV_FACT_YEAR_FIRST = 1 << 8, CSV_FACT_MONTH_NAME = 1 << 9,
	CSV_FACT_NAME_FIRST = 1 << 10,	/* a month's name, and not behind the day */
	CSV_FACT_HYPHEN = 1 << 11, CSV_FACT_SLASH = 1 << 12, CSV_FACT_DOT = 1 << 13,
	CSV_FACT_BLANK = 1 << 14, CSV_FACT_TIGHT = 1 << 15,
	CSV_FACT_COMMA = 1 << 16,	/* a blank, then a comma and a blank */
	CSV_FACT_SHORT_YEAR = 1 << 17, CSV_FACT_LONG_YEAR = 1 << 18,	/* two digits, four */
	CSV_FACT_24_HOURS = 1 << 19, CSV_FACT_AM = 1 << 20, CSV_FACT_BLANK_AM = 1 << 21,
	CSV_FACT_FRACTION_POINT = 1 << 22, CSV_FACT_FRACTION_COMMA = 1 << 23,
	CSV_FACT_SHORT_NAME = 1 << 24, CSV_FACT_FULL_NAME = 1 << 25,	/* May is neither */
	CSV_FACT_DATE_ALONE = 1 << 26,
	CSV_FACT_SECONDS = 1 << 27,
	CSV_FACT_UNPADDED = 1 << 28,	/* a day or month of one digit */
	CSV_FACT_NOT_YEAR_FIRST = 1 << 29,	/* a year of two digits cannot be the first number */
	CSV_FACT_DISPUTED = 1 << 30,	/* a year of two digits may be of either century */
	CSV_FACT_T = CSV_FACT_AM | CSV_FACT_BLANK_AM	/* T before a time: no pattern has both */
} CsvFact;

/* numbers of a value; a column has the greatest of each, and the least as its complement */
typedef enum CsvMost
{
	CSV_MOST_BYTES,
	CSV_MOST_CHARS,
	CSV_MOST_WHOLE,				/* digits before the point, less a lone 0 */
	CSV_MOST_FRACTION,			/* digits behind it */
	CSV_MOST_EITHER_WHOLE,		/* digits before the mark of an EITHER form */
	CSV_MOST_SIGNIFICANT,		/* digits of any number ... */
	CSV_MOST_DIGITS,			/* ... and of a whole one */
	CSV_LEAST_DIGITS,
	CSV_LEAST_LEAD,				/* digits before the first separator, or of less than 1000 */
	CSV_MOST_SEPARATORS,		/* of thousands, in a whole number */
	CSV_LEAST_SEPARATORS,
	CSV_MOST_FIRST,				/* of a date: the first number, the second, the year */
	CSV_LEAST_FIRST,
	CSV_MOST_SECOND,
	CSV_LEAST_SECOND,
	CSV_MOST_YEAR,
	CSV_LEAST_YEAR,
	CSV_NUM_MOST
} CsvMost;

typedef struct CsvFigures
{
	uint32		facts;
	uint32		most[CSV_NUM_MOST];
} CsvFigures;

/* ---- values ---- */

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
	bool		decimal;
	bool		thousands;
} CsvGiven;

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

/* ---- dates ---- */

/*
 * Dates and times in other forms than ISO's (when.c): 31/12/2024, 12/31/2024 11:59 PM,
 * 31.12.2024, 31.12.24, 31-Dec-2024, 31DEC2024, December 31, 2024, 2024/12/31.
 */

/*
 * The form of a value: CSV_FORM_DAY_FIRST to CSV_FORM_ORDERED, which to_date() and
 * to_timestamp() take by csv_when_pattern(); or CSV_FORM_ODD_DATE or text, if it is not a date,
 * or not plausible.
 */
extern CsvForm csv_read_when(const uint8_t *text, uint32 nbytes, CsvFigures *figures);

/* does one pattern read all values with these facts, if days and months are in one order? */
extern bool csv_when_is_one(uint32 facts);

/*
 * May a year of two digits as well be the first number of all values, and the day be the
 * last one?
 */
extern bool csv_when_is_doubtful(const CsvFigures *figures);

/* have some a time? */
static inline bool
csv_when_has_time(uint32 facts)
{
	return (facts & (CSV_FACT_24_HOURS | CSV_FACT_AM | CSV_FACT_BLANK_AM)) != 0;
}

/* the pattern for the values, in the current memory context */
extern char *csv_when_pattern(uint32 facts, bool day_first);

/* is it YYYYMMDD, in a century that most data is of? */
extern bool csv_is_days(const uint8_t *text, uint32 nbytes);

#endif							/* CSV_FORMS_H */
