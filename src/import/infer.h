/*
 * infer.h
 *		The type of a column, from its values.
 *
 * A type is inferred only if its input function takes every one of the values
 * whatever the session's settings are, and loses nothing of what they say.
 */
#ifndef CSV_INFER_H
#define CSV_INFER_H

#include "import/when.h"
#include "scan/value.h"

/* values of different families have no type in common but text */
typedef enum CsvFamily
{
	CSV_FAMILY_NONE,			/* no value was seen that tells */
	CSV_FAMILY_BOOLEAN,
	CSV_FAMILY_NUMBER,
	CSV_FAMILY_TIME,
	CSV_FAMILY_UUID,
	CSV_FAMILY_TEXT
} CsvFamily;

/* what was seen of a column; all zero at first */
typedef struct CsvInference
{
	int64		nnulls;
	int64		nquoted_nulls;	/* values equal to the NULL marker, in quotes */
	int64		nvalues;		/* all others, less words for missing values ... */
	int64		nmissing;		/* ... and these, a value each in a column of text */
	int64		nmissing_numbers;	/* those that may be numbers */
	uint32		missing;		/* which of them there are (cell.h) */
	uint32		kept;			/* and those that are numbers after all */
	uint32		most_bytes;		/* of a value that is not NULL ... */
	uint32		most_chars;		/* ... and characters */
	uint8		family;			/* CsvFamily */

	/* text, but only for a few values that are of no such family as the others */
	uint8		former_family;	/* CSV_FAMILY_NONE: it was text from the start on */
	int64		nodd;
	char	   *first_odd;		/* NULL: none; cut where it is long */

	/* booleans */
	bool		any_true;
	bool		any_false;
	bool		any_spelt_out;	/* true or false itself */

	/* numbers */
	bool		any_finite;
	bool		any_beyond_int4;
	bool		any_long_integer;	/* of more digits than a double has */
	bool		any_beyond_int8;
	bool		any_point;
	bool		any_float;		/* an exponent, infinity or NaN */
	uint32		whole_digits;	/* most before the point */
	uint32		fraction_digits;	/* most after it */
	uint32		most_digits;	/* of one number */
	bool		any_ungrouped;	/* a point that cannot part thousands */
	int64		ngrouped;		/* with thousands separators ... */
	bool		surely_grouped; /* ... that are sure to be no points */
	bool		any_long_ungrouped; /* four digits without one */
	uint32		least_whole_digits; /* of a number, plus 1 */
	bool		any_below;		/* less than -99 */
	bool		not_days;		/* one is not of the form YYYYMMDD */
	bool		is_days;		/* somebody has decided that they are dates */

	/* the same values, were the other of the decimal separators theirs */
	bool		any_not_other;	/* one is no number then ... */
	bool		any_other;		/* ... or one is a number only then */

	/* dates and timestamps */
	bool		any_date;
	bool		any_timestamp;
	bool		any_timestamptz;
	bool		not_iso;		/* one is not as the type's input function takes it ... */
	bool		not_when;		/* ... or has no other form */
	CsvWhen		when;
} CsvInference;

/* what inferring needs; one for all columns of a table */
typedef struct CsvInferrer
{
	bool		empty_is_null;	/* a quoted one may be, see nquoted_nulls */
	char		decimal_separator;
	uint8_t		thousands;		/* 0: none */
	const char *wide_thousands; /* a character of several bytes for it; NULL: it is itself */
	uint32		missing;		/* words that may stand for missing values */
	const CsvPattern *date_pattern; /* NULL: as the type's input function reads it */
	const CsvPattern *timestamp_pattern;
	CsvValueInput float8;		/* for numbers that are doubtful */
	MemoryContext scratch;		/* reset now and then */
} CsvInferrer;

/* what stands for a thousands separator of several bytes, or beyond ASCII */
#define CSV_WIDE_THOUSANDS	0x1f

/* an inferrer for a table, in the current memory context */
extern void csv_inferrer_init(CsvInferrer *inferrer, const CsvTable *table);

/* have numbers parted by this character, which lives as long, in the values' encoding */
extern void csv_infer_thousands(CsvInferrer *inferrer, const char *separator);

/* take notice of a value, in the server's encoding */
extern void csv_infer_value(CsvInferrer *inferrer, CsvInference *inference,
							const char *text, uint32 nbytes);

/*
 * All values were seen: decide what numbers mean that may stand for missing values.
 */
extern void csv_infer_end(CsvInferrer *inferrer, CsvInference *inference);

/* the words that are NULL for the type to hold, and those that are values of it */
extern uint32 csv_inference_missing(const CsvInference *inference);
extern uint32 csv_inference_kept(const CsvInference *inference);

/* has it a type for which its values need a pattern? */
extern bool csv_inference_has_pattern(const CsvInference *inference);

/*
 * The type for all values that were seen: boolean, integer, bigint, numeric,
 * double precision, date, timestamp, timestamptz, uuid or text.
 */
extern Oid	csv_inferred_type(const CsvInference *inference, int32 *typmod);

/* its name, as SQL has it; in the current memory context */
extern char *csv_inferred_type_name(const CsvInference *inference);

/*
 * Are the values numbers with the other decimal separator, whatever parts their
 * thousands?
 */
extern bool csv_inference_is_other(const CsvInference *inference);

/*
 * Is it a number whose points all may as well part thousands?  Where other
 * columns have the other decimal separator, nobody can tell.
 */
extern bool csv_inference_is_ambiguous(const CsvInference *inference);

/*
 * Is it text, and would it be such a number with the other decimal separator?
 */
extern bool csv_inference_may_be_grouped(const CsvInference *inference);

/*
 * Is it text only for a few of its values, of which inference->first_odd is one?  Then
 * what all others are, in a few words.
 */
extern const char *csv_inference_but_for_odd(const CsvInference *inference);

/* is it a number whose points are sure to be decimal? */
extern bool csv_inference_is_decimal(const CsvInference *inference);

/*
 * Does the type hold only where quoted NULL markers are NULL, too (the option
 * force_null)?
 */
extern bool csv_inference_forces_null(const CsvInference *inference);

#endif							/* CSV_INFER_H */
