/*
 * separators.h
 *		How the numbers of a table are read: decimal and thousands separators.
 */
#ifndef CSV_SEPARATORS_H
#define CSV_SEPARATORS_H

#include "import/findings.h"

#define CSV_NO_SEPARATOR	(-1)

typedef struct CsvNumberReading
{
	char		decimal;		/* '.' or ',' */
	int			thousands;		/* CsvSeparator, or CSV_NO_SEPARATOR */
} CsvNumberReading;

/* what the options say */
typedef struct CsvGivenTypes
{
	bool		decimal;
	bool		thousands;
} CsvGivenTypes;

/* the set of forms that are numbers so, and those that have separators of thousands */
extern uint64 csv_number_forms(CsvNumberReading reading);
extern uint64 csv_grouped_forms(CsvNumberReading reading);

/*
 * The reading by which most columns are numbers, if some value proves it; or the reading
 * that options give.  Sets the table's separators.
 */
extern CsvNumberReading csv_choose_reading(const CsvFindings *findings, CsvGivenTypes given);

/*
 * Tell for each column whether its values are numbers by this reading.  NOTICE where
 * that is assumed, or left open.
 */
extern void csv_settle_numbers(const CsvFindings *findings, CsvNumberReading reading,
							   CsvGivenTypes given, bool *are_numbers);

/* are values such as 12E5 there, beside at most whole numbers? */
extern bool csv_are_codes(const CsvEvidence *evidence);

/* would the values be numbers with other separators, and is some value a proof of that? */
extern bool csv_is_number_otherwise(const CsvFindings *findings, const CsvEvidence *evidence);

/* the forms of the reading by which most values are numbers */
extern uint64 csv_likely_number_forms(const CsvEvidence *evidence);

#endif							/* CSV_SEPARATORS_H */
