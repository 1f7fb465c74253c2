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

#include "import/separators.h"

/*
 * Decide type, typmod, pattern, missing, null_values and force_null of each column, and
 * the table's separators, null_values, date_format, timestamp_format.  In the current
 * memory context.
 */
extern void csv_decide_types(CsvFindings *findings, const CsvReadingRules *rules,
							 CsvGivenTypes given);

/*
 * The type whose input function reads all values so, without any option; text where
 * there is none, or no value.
 */
extern Oid	csv_plain_type(const CsvEvidence *evidence);

/* values of different families have no type in common but text */
typedef enum CsvFamily
{
	CSV_FAMILY_NONE,			/* no value */
	CSV_FAMILY_BOOLEAN,
	CSV_FAMILY_NUMBER,
	CSV_FAMILY_TIME,
	CSV_FAMILY_UUID,
	CSV_FAMILY_TEXT
} CsvFamily;

/*
 * NOTICEs of columns that are text although most of their values, or all, look like a type
 * (odd.c)
 */
extern void csv_tell_odd(const CsvFindings *findings, CsvNumberReading reading,
						 CsvGivenTypes given);

/* the family of the values, by whatever separators and patterns */
extern CsvFamily csv_family(const CsvEvidence *evidence);

#endif							/* CSV_TYPES_H */
