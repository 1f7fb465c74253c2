/*
 * types.h
 *		The types of columns, and the options that these need, by all evidence of a file.
 *
 * A column has a type only if the type's input function, with the options, takes each of
 * the values, whatever the session's settings are, and loses nothing of their meaning.
 * A NOTICE names the column where evidence is divided.
 */
#ifndef CSV_TYPES_H
#define CSV_TYPES_H

#include "import/findings.h"

/* ---- decimal and thousands separators (separators.c) ---- */

#define CSV_NO_SEPARATOR	(-1)

typedef struct CsvNumberReading
{
	char		decimal;		/* '.' or ',' */
	int			thousands;		/* CsvSeparator, or CSV_NO_SEPARATOR */
} CsvNumberReading;

/* the set of forms that are numbers so, and those that have separators of thousands */
extern uint64 csv_number_forms(CsvNumberReading reading);
extern uint64 csv_grouped_forms(CsvNumberReading reading);

/*
 * The reading by which most columns are numbers, if some value proves it; or the reading
 * that options give.  Sets the table's separators.
 */
extern CsvNumberReading csv_choose_reading(const CsvFindings *findings);

/*
 * Tell for each column whether its values are numbers by this reading.  NOTICE where
 * that is assumed, or left open.
 */
extern void csv_settle_numbers(const CsvFindings *findings, CsvNumberReading reading,
							   bool *are_numbers);

/* are values such as 12E5 there, beside at most whole numbers? */
extern bool csv_are_codes(const CsvEvidence *evidence);

/* would the values be numbers with other separators, and is some value a proof of that? */
extern bool csv_is_number_otherwise(const CsvFindings *findings, const CsvEvidence *evidence);

/* the forms of the reading by which most values are numbers */
extern uint64 csv_likely_number_forms(const CsvEvidence *evidence);

/* ---- types ---- */

/*
 * Decide type, typmod, pattern, missing, null_values and force_null of each column, and
 * the table's separators, null_values, date_format, timestamp_format.  In the current
 * memory context.
 */
extern void csv_decide_types(CsvFindings *findings,
							 const CsvReadingRules *rules,
							 bool all_text);

/*
 * The type whose input function reads all values so, without any option; text where
 * there is none, or no value.
 */
extern Oid	csv_plain_type(const CsvEvidence *evidence);

#endif							/* CSV_TYPES_H */
