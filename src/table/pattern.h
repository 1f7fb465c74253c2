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
	const char *text;			/* as given */
	uint8_t		epoch;			/* CSV_STEP_EPOCH and so on; 0: not an epoch */
	bool		has_zone;
	uint8_t		steps[CSV_PATTERN_STEPS];	/* for engines; CSV_STEP_END first: none */
	int			nnodes;
	CsvPatternNode *nodes;
} CsvPattern;

/*
 * Parses an option's value as a pattern, in the current memory context.  If it is
 * not a pattern, or has an unsupported element, *wrong says so, and *hint may help;
 * otherwise both become NULL.
 */
extern CsvPattern *csv_pattern_parse(const char *text, const char **wrong,
									 const char **hint);

/*
 * to_timestamp() reads the text by the pattern: does it use all of the text, except
 * blanks at the end, and at least one character?
 */
extern bool csv_pattern_covers(const CsvPattern *pattern, const char *text);

#endif							/* CSV_PATTERN_H */
