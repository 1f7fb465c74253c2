/*
 * when.h
 *		Dates and times in other forms than ISO's: 31/12/2024, 12/31/2024 11:59 PM,
 *		31.12.2024, 31.12.24, 31-Dec-2024, 2024/12/31.
 */
#ifndef CSV_WHEN_H
#define CSV_WHEN_H

#include "import/form.h"

/*
 * The form of a value: CSV_FORM_DAY_FIRST to CSV_FORM_ORDERED, or text if it is not a
 * date, or not plausible.  to_date() and to_timestamp() take all these values by
 * csv_when_pattern().
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

#endif							/* CSV_WHEN_H */
