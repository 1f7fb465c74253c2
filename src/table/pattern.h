/*
 * pattern.h
 *		Patterns of dates and timestamps: date_format and timestamp_format.
 */
#ifndef CSV_PATTERN_H
#define CSV_PATTERN_H

#include "reader/reader.h"

/* an element of a pattern, as to_timestamp() takes it */
typedef enum CsvPatternElement
{
	CSV_ELEMENT_SEPARATOR,		/* punctuation or a blank outside quotes */
	CSV_ELEMENT_TEXT,			/* any other character that stands for itself */
	CSV_ELEMENT_NUMBER,
	CSV_ELEMENT_SHORT_MONTH,
	CSV_ELEMENT_MONTH,
	CSV_ELEMENT_AM_PM,
	CSV_ELEMENT_AM_PM_DOTS,
	CSV_ELEMENT_ZONE_HOUR
} CsvPatternElement;

typedef struct CsvPatternNode
{
	uint8_t		element;		/* CsvPatternElement */
	uint8_t		most;			/* NUMBER, ZONE_HOUR: digits, if another follows */
	bool		digits_follow;
} CsvPatternNode;

typedef struct CsvPattern
{
	const char *text;			/* as it was given */
	uint8_t		epoch;			/* CSV_STEP_EPOCH and so on; 0: a pattern */
	bool		has_zone;
	uint8_t		steps[CSV_PATTERN_STEPS];	/* for engines; at once END: none */
	int			nnodes;
	CsvPatternNode *nodes;
} CsvPattern;

/*
 * The pattern that an option has for its value, in the current memory context.  ERROR
 * where it is none, or has an element that is not supported.
 */
extern CsvPattern *csv_pattern_parse(const char *option, const char *text);

/*
 * Has the text, which to_timestamp() reads by the pattern, nothing behind the pattern's
 * end but blanks, and something before it?
 */
extern bool csv_pattern_covers(const CsvPattern *pattern, const char *text);

#endif							/* CSV_PATTERN_H */
