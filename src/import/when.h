/*
 * when.h
 *		Dates and times in other forms than ISO's: 31/12/2024, 12/31/2024 11:59 PM,
 *		31.12.2024, 31.12.24, 31-Dec-2024, 2024/12/31.
 */
#ifndef CSV_WHEN_H
#define CSV_WHEN_H

typedef enum CsvDateForm
{
	CSV_DATE_NONE,				/* no value was seen */
	CSV_DATE_YEAR_LAST,			/* of day and month, either may come first */
	CSV_DATE_YEAR_FIRST,
	CSV_DATE_MONTH_NAME			/* between day and year, of three letters */
} CsvDateForm;

/* what the values of a column have in common; all zero at first */
typedef struct CsvWhen
{
	uint8		form;			/* CsvDateForm */
	char		separator;
	uint8		year_digits;
	bool		not_day_first;	/* some first number is no day, or second no month ... */
	bool		not_month_first;	/* ... or the other way round */
	bool		not_year_first; /* of two digits: not if the first number is the year */
	uint8		least_first;	/* the same: the range of the first number, and of the year */
	uint8		most_first;
	uint8		least_year;
	uint8		most_year;
	uint8		first;			/* of the first value */
	uint8		second;
	bool		first_varies;
	bool		second_varies;
	bool		any_date;		/* without a time */
	bool		any_time;
	bool		any_seconds;
	char		fraction;		/* what stands before a fraction of a second; 0: none */
	uint8		halves;			/* of the day: 1 none has AM or PM, 2 all, 3 after a blank */
} CsvWhen;

/*
 * Take notice of a value; false if no pattern reads all so far.  Values are a subset of
 * what to_date() and to_timestamp() take by csv_when_pattern().
 */
extern bool csv_when_add(CsvWhen *when, const uint8_t *text, uint32 nbytes);

/*
 * May a year of two digits as well be the first number of all values, and the day be the
 * last one?
 */
extern bool csv_when_is_doubtful(const CsvWhen *when);

/* the pattern for the values, in the current memory context */
extern char *csv_when_pattern(const CsvWhen *when, bool day_first);

/* is it YYYYMMDD, in a century in which most data is? */
extern bool csv_is_days(const uint8_t *text, uint32 nbytes);

#endif							/* CSV_WHEN_H */
