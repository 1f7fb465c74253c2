/*
 * formatted.h
 *		Reads values in the form that a table's options give: dates and timestamps
 *		by a pattern, numbers with thousands separators.
 */
#ifndef CSV_FORMATTED_H
#define CSV_FORMATTED_H

#include "table/option.h"

/*
 * Make a date, timestamp or timestamptz (the type's OID and typmod) from a text, as
 * to_date() and to_timestamp() do by the pattern.  A timestamp without zone has the
 * time of the text.  An epoch is in UTC.  If these functions refuse the text, or if it
 * goes on behind the pattern's end, that is an ERROR about the value.
 */
extern Datum csv_date_by_pattern(const CsvPattern *pattern, Oid type, int32 typmod,
								 const char *text);

/*
 * Returns a number's text without its thousands separators, in the current memory
 * context.  Returns NULL if they do not stand between groups of three digits.
 */
extern char *csv_without_thousands(const char *text, const char *separator);

#endif							/* CSV_FORMATTED_H */
