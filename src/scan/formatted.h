/*
 * formatted.h
 *		Values in the form that a table's options give: dates and timestamps by a
 *		pattern, numbers with thousands separators.
 */
#ifndef CSV_FORMATTED_H
#define CSV_FORMATTED_H

#include "table/option.h"

/*
 * A date, timestamp or timestamptz (the type's OID and typmod) as to_date() and
 * to_timestamp() read the text by the pattern; of a timestamp without zone the time
 * as it stands there.  An epoch is in UTC.  ERROR, about the value, where they
 * refuse it, or where there is text behind the pattern's end.
 */
extern Datum csv_date_by_pattern(const CsvPattern *pattern, Oid type, int32 typmod,
								 const char *text);

/*
 * A number's text without its thousands separators, in the current memory context.  NULL
 * where they do not stand between groups of three digits.
 */
extern char *csv_without_thousands(const char *text, const char *separator);

#endif							/* CSV_FORMATTED_H */
