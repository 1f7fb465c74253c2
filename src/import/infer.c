/*
 * infer.c
 *		The type of a column, from its values.
 *
 * A column's first value says which family of types it may have, and each
 * further one is looked at as one of that family only; the first that is none
 * makes the column text.  What is asked of a value is a subset of what the
 * types' input functions take:
 *
 *	boolean		true, false, yes, no, on, off, t, f, y, n; those other than true
 *				and false only if both truth values occur: a column of NO may
 *				be about Norway
 *	numbers		digits with a minus, a point, an exponent.  Not a plus, nor zeros
 *				in front: those are codes, and would be lost
 *	time		ISO 8601, as csv_parse_date() and its like read it; no mixture of
 *				timestamps with and without a zone
 *	uuid		8-4-4-4-12 only: 32 digits without hyphens may be anything
 *
 * Blanks around a value are passed over where the input function does so.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "import/cell.h"
#include "import/infer.h"
#include "reader/patterns.h"

/*
 * Programs write doubles with up to 17 digits.  No number of so few, without
 * an exponent, is too large for a double.
 */
#define DOUBLE_DIGITS	17

/* a whole number of more is none that a double was written as, but rounded */
#define DOUBLE_INTEGER_DIGITS	15

/* a column is text for a few odd values if there are so many others for each, and in all */
#define ODD_ONE_IN		10

/* bytes of an odd value that are kept */
#define ODD_BYTES		40

/* so often a number has to stand for a missing value before it is taken for that */
#define LEAST_MISSING_NUMBERS	3

typedef struct CsvNumberShape
{
	uint32		whole;			/* digits before the point, less a lone 0 */
	uint32		fraction;
	bool		point;
	bool		exponent;
	bool		finite;
} CsvNumberShape;

/* the words that may be NULL in a table: all but those that it gives another meaning */
static uint32
missing_words(const CsvTable *table)
{
	const CsvDialectOptions *dialect = &table->reader.dialect;
	uint32		words = 0;

	if (table->null_values != NIL || dialect->quoting == CSV_QUOTING_TEXT)
		return 0;
	for (int i = 0; i < CSV_MISSING_WORDS; i++)
	{
		const char *word = csv_missing_words[i];

		if (strchr(word, dialect->delimiter) == NULL &&
			(dialect->quote == 0 || strchr(word, dialect->quote) == NULL) &&
			(table->default_string == NULL || strcmp(word, table->default_string) != 0))
			words |= UINT32_C(1) << i;
	}
	return words;
}

void
csv_infer_thousands(CsvInferrer *inferrer, const char *separator)
{
	bool		is_wide = IS_HIGHBIT_SET(*separator);

	inferrer->thousands = is_wide ? CSV_WIDE_THOUSANDS : (uint8_t) *separator;
	inferrer->wide_thousands = is_wide ? separator : NULL;
}

/*
 * A value with one byte for each thousands separator, in *narrow, which has room for one
 * that may be a number; 0 if there is none, or no room.
 */
static uint32
narrow_thousands(const CsvInferrer *inferrer, const char *text, uint32 nbytes, char *narrow)
{
	size_t		length = strlen(inferrer->wide_thousands);
	uint32		n = 0;
	bool		any = false;

	for (uint32 i = 0; i < nbytes; n++)
	{
		bool		found = nbytes - i >= length &&
			memcmp(text + i, inferrer->wide_thousands, length) == 0;

		if (n == CSV_GROUPED_BYTES)
			return 0;
		narrow[n] = found ? CSV_WIDE_THOUSANDS : text[i];
		i += found ? (uint32) length : 1;
		any |= found;
	}
	return any ? n : 0;
}

void
csv_inferrer_init(CsvInferrer *inferrer, const CsvTable *table)
{
	CsvTableColumn *column = palloc0(sizeof(CsvTableColumn));

	memset(inferrer, 0, sizeof(*inferrer));
	inferrer->empty_is_null = table->null_string[0] == '\0';
	inferrer->decimal_separator = table->decimal_separator;
	if (table->thousands_separator != NULL)
		csv_infer_thousands(inferrer, table->thousands_separator);
	inferrer->missing = missing_words(table);
	inferrer->date_pattern = table->date_pattern;
	inferrer->timestamp_pattern = table->timestamp_pattern;
	inferrer->scratch = AllocSetContextCreate(CurrentMemoryContext,
											  "csv_gpu_fdw inference",
											  ALLOCSET_SMALL_SIZES);
	column->attnum = 1;
	column->name = "";
	column->type = FLOAT8OID;
	column->typmod = -1;
	column->max_chars = -1;
	column->byte_width = -1;
	csv_value_init(&inferrer->float8, table, column, CurrentMemoryContext);
}

/* ---- boolean ---- */

static bool
add_boolean(CsvInference *inference, const uint8_t *text, uint32 nbytes)
{
	bool		value;

	/* 0 and 1 are numbers */
	if (!csv_parse_bool(text, nbytes, &value) ||
		text[0] == '0' || text[0] == '1')
		return false;
	inference->any_true |= value;
	inference->any_false |= !value;
	inference->any_spelt_out |= nbytes >= 4;
	return true;
}

/* ---- numbers ---- */

static uint32
count_digits(const uint8_t *text, uint32 nbytes)
{
	uint32		n = 0;

	while (n < nbytes && text[n] >= '0' && text[n] <= '9')
		n++;
	return n;
}

/* is the text spelt so, in any case? */
static bool
is_word(const uint8_t *text, uint32 nbytes, const char *word)
{
	return nbytes == strlen(word) &&
		pg_strncasecmp((const char *) text, word, nbytes) == 0;
}

/* [-] digits [point digits] [e [+-] digits], or NaN or infinity */
static bool
number_shape(const uint8_t *text, uint32 nbytes, uint8_t separator,
			 CsvNumberShape *shape)
{
	uint32		pos = nbytes > 0 && text[0] == '-' ? 1 : 0;

	memset(shape, 0, sizeof(*shape));
	if (is_word(text, nbytes, "NaN") ||
		is_word(text + pos, nbytes - pos, "Infinity") ||
		is_word(text + pos, nbytes - pos, "Inf"))
		return true;
	shape->finite = true;
	shape->whole = count_digits(text + pos, nbytes - pos);
	if (shape->whole > 1 && text[pos] == '0')
		return false;			/* a code */
	pos += shape->whole;
	if (shape->whole == 1 && text[pos - 1] == '0')
		shape->whole = 0;
	else if (shape->whole == 0 && (pos >= nbytes || text[pos] != separator))
		return false;			/* no digit */
	if (pos < nbytes && text[pos] == separator)
	{
		bool		any_whole = pos > 0 && text[pos - 1] != '-';

		pos++;
		shape->point = true;
		shape->fraction = count_digits(text + pos, nbytes - pos);
		if (shape->fraction == 0 && !any_whole)
			return false;
		pos += shape->fraction;
	}
	if (pos < nbytes && (text[pos] == 'e' || text[pos] == 'E'))
	{
		uint32		digits;

		pos++;
		if (pos < nbytes && (text[pos] == '-' || text[pos] == '+'))
			pos++;
		digits = count_digits(text + pos, nbytes - pos);
		if (digits == 0)
			return false;
		pos += digits;
		shape->exponent = true;
	}
	return pos == nbytes;
}

/* does double precision take it? */
static bool
is_float8(CsvInferrer *inferrer, const uint8_t *text, uint32 nbytes)
{
	double		value;
	Datum		datum;
	CsvValueError error;
	char	   *string;
	bool		taken;
	MemoryContext outer;

	if (csv_parse_float8(text, nbytes, (uint8_t) inferrer->decimal_separator,
						 &value))
		return true;

	/* overflow, numbers next to zero: the input function has the word */
	outer = MemoryContextSwitchTo(inferrer->scratch);
	string = pnstrdup((const char *) text, nbytes);
	taken = csv_value_from_cstring(&inferrer->float8, string, &datum, &error);
	MemoryContextSwitchTo(outer);
	MemoryContextReset(inferrer->scratch);
	return taken;
}

/* may that many digits before and behind a point be a thousand and more? */
static bool
is_group(uint32 whole, uint32 fraction)
{
	return whole >= 1 && whole <= 3 && fraction == 3;
}

/*
 * A number with the other decimal separator?  It may have ours between its
 * thousands, and is a number only there if it has the other and that cannot
 * be between thousands itself.
 */
static void
look_at_other(const CsvInferrer *inferrer, CsvInference *inference,
			  const uint8_t *text, uint32 nbytes)
{
	uint8_t		ours = (uint8_t) inferrer->decimal_separator;
	uint8_t		other = ours == '.' ? ',' : '.';
	uint32		pos = nbytes > 0 && text[0] == '-' ? 1 : 0;
	uint32		whole = count_digits(text + pos, nbytes - pos);
	uint32		fraction = 0;
	bool		grouped = false;
	bool		zero = whole > 0 && text[pos] == '0';

	pos += whole;
	while (whole >= 1 && whole <= 3 && !zero && pos < nbytes &&
		   text[pos] == ours &&
		   count_digits(text + pos + 1, nbytes - pos - 1) == 3)
	{
		grouped = true;
		pos += 4;
	}
	if (pos < nbytes && text[pos] == other)
	{
		pos++;
		fraction = count_digits(text + pos, nbytes - pos);
		pos += fraction;
	}
	if (pos < nbytes || whole + fraction == 0 || (zero && whole > 1))
		inference->any_not_other = true;
	else if (fraction > 0)
		inference->any_other |= grouped || zero || !is_group(whole, fraction);
}

static bool
add_number(CsvInferrer *inferrer, CsvInference *inference,
		   const uint8_t *text, uint32 nbytes)
{
	CsvNumberShape shape;
	int64_t		integer;
	uint8_t		ungrouped[CSV_GROUPED_BYTES];
	uint32		nungrouped = inferrer->thousands == 0 || nbytes > CSV_GROUPED_BYTES ? 0 :
		csv_ungroup(text, nbytes, inferrer->thousands, ungrouped);

	if (nungrouped > 0)
	{
		inference->ngrouped++;
		inference->surely_grouped |= nbytes - nungrouped > 1 ||
			memchr(text, inferrer->decimal_separator, nbytes) != NULL;
		text = ungrouped;
		nbytes = nungrouped;
	}
	if (!number_shape(text, nbytes, (uint8_t) inferrer->decimal_separator,
					  &shape))
		return false;

	inference->not_days |= !csv_is_days(text, nbytes);

	/* a whole number is one with either separator */
	inference->any_not_other |= shape.exponent || !shape.finite;
	if (shape.point && !inference->any_not_other)
		look_at_other(inferrer, inference, text, nbytes);
	if (!shape.finite)
	{
		inference->any_float = true;
		return true;
	}
	if (shape.exponent && !is_float8(inferrer, text, nbytes))
		return false;
	inference->any_float |= shape.exponent;
	inference->any_finite = true;
	inference->most_digits = Max(inference->most_digits,
								 shape.whole + shape.fraction);
	if (shape.exponent)
		return true;
	inference->any_point |= shape.point;
	inference->any_ungrouped |= shape.point &&
		!is_group(shape.whole, shape.fraction);
	inference->any_long_integer |= !shape.point &&
		shape.whole > DOUBLE_INTEGER_DIGITS;
	inference->whole_digits = Max(inference->whole_digits, shape.whole);
	inference->any_long_ungrouped |= nungrouped == 0 && shape.whole > 3;
	inference->any_below |= shape.whole > 2 && text[0] == '-';
	if (inference->least_whole_digits == 0 || shape.whole + 1 < inference->least_whole_digits)
		inference->least_whole_digits = shape.whole + 1;
	inference->fraction_digits = Max(inference->fraction_digits,
									 shape.fraction);
	if (shape.point || shape.whole < 10)
		return true;
	if (!csv_parse_int(text, nbytes, PG_INT64_MIN, PG_INT64_MAX, &integer))
		inference->any_beyond_int8 = true;
	else if (integer < PG_INT32_MIN || integer > PG_INT32_MAX)
		inference->any_beyond_int4 = true;
	return true;
}

/* ---- dates, timestamps, uuid ---- */

/* is it in the form of a pattern that is no epoch, and that engines know? */
static bool
is_in_form(const CsvPattern *pattern, CsvKind kind, const uint8_t *text, uint32 nbytes)
{
	CsvColumn	column = {.kind = (uint8_t) kind, .precision = -1};
	int64_t		microseconds;

	if (pattern == NULL || pattern->epoch != 0 || pattern->steps[0] == CSV_STEP_END)
		return false;
	memcpy(column.pattern, pattern->steps, sizeof(column.pattern));
	return csv_parse_by_pattern(&column, text, nbytes, &microseconds);
}

/* as the types' input functions read it, or by patterns that somebody gave */
static bool
add_iso(const CsvInferrer *inferrer, CsvInference *inference,
		const uint8_t *text, uint32 nbytes)
{
	const CsvPattern *of_dates = inferrer->date_pattern;
	const CsvPattern *of_times = inferrer->timestamp_pattern;
	bool		may_be_iso = nbytes >= 10 && text[4] == '-';
	bool		may_be_iso_time = may_be_iso && of_times == NULL;
	int32_t		days;
	int64_t		microseconds;

	if (is_in_form(of_dates, CSV_KIND_DATE, text, nbytes) ||
		(of_dates == NULL && may_be_iso && csv_parse_date(text, nbytes, &days)))
		inference->any_date = true;
	else if (of_times != NULL && is_in_form(of_times, CSV_KIND_TIMESTAMPTZ, text, nbytes))
	{
		inference->any_timestamptz |= of_times->has_zone;
		inference->any_timestamp |= !of_times->has_zone;
	}
	else if (may_be_iso_time && csv_parse_timestamp(text, nbytes, -1, &microseconds))
		inference->any_timestamp = true;
	else if (may_be_iso_time && csv_parse_timestamptz(text, nbytes, -1, &microseconds))
		inference->any_timestamptz = true;
	else
		return false;

	/* what stands without a zone would be taken for the session's */
	return !inference->any_timestamptz ||
		!(inference->any_date || inference->any_timestamp);
}

/*
 * A column may be in both forms until one value is in one of them only.  What is in
 * none changes nothing.
 */
static bool
add_time(const CsvInferrer *inferrer, CsvInference *inference,
		 const uint8_t *text, uint32 nbytes)
{
	bool		may_guess = inferrer->date_pattern == NULL &&
		inferrer->timestamp_pattern == NULL;
	const bool	not_iso = inference->not_iso;
	const bool	not_when = inference->not_when;
	const CsvWhen when = inference->when;

	if (!inference->not_iso)
		inference->not_iso = !add_iso(inferrer, inference, text, nbytes);
	if (!inference->not_when)
		inference->not_when = !may_guess || !csv_when_add(&inference->when, text, nbytes);
	if (!inference->not_iso || !inference->not_when)
		return true;
	inference->not_iso = not_iso;
	inference->not_when = not_when;
	inference->when = when;
	return false;
}

static bool
is_uuid(const uint8_t *text, uint32 nbytes)
{
	uint8_t		uuid[16];

	return nbytes == 36 && csv_parse_uuid(text, nbytes, uuid);
}

/* ---- a value ---- */

static uint32
count_chars(const char *text, uint32 nbytes)
{
	uint32		nchars = 0;

	if (GetDatabaseEncoding() != PG_UTF8)
		return (uint32) pg_mbstrlen_with_len(text, (int) nbytes);
	for (uint32 i = 0; i < nbytes; i++)
		nchars += (text[i] & 0xc0) != 0x80;
	return nchars;
}

/* a value of the column's family; false if it is none */
static bool
add_value(CsvInferrer *inferrer, CsvInference *inference,
		  const uint8_t *text, uint32 nbytes)
{
	switch ((CsvFamily) inference->family)
	{
		case CSV_FAMILY_BOOLEAN:
			return add_boolean(inference, text, nbytes);
		case CSV_FAMILY_NUMBER:
			return add_number(inferrer, inference, text, nbytes);
		case CSV_FAMILY_TIME:
			return add_time(inferrer, inference, text, nbytes);
		case CSV_FAMILY_UUID:
			return is_uuid(text, nbytes);
		default:
			return true;
	}
}

/* the column is text from this value on */
static void
become_text(CsvInference *inference, const char *text, uint32 nbytes)
{
	inference->former_family = inference->family;
	inference->family = CSV_FAMILY_TEXT;
	inference->nodd = 1;
	inference->first_odd = pnstrdup(text, pg_mbcliplen(text, (int) nbytes, ODD_BYTES));
}

/* is a column of text still one of which most values may be of its former family? */
static bool
may_be_odd(const CsvInference *inference)
{
	return inference->former_family != CSV_FAMILY_NONE &&
		inference->nodd <= 1 + inference->nvalues / ODD_ONE_IN;
}

static void
count_odd(CsvInferrer *inferrer, CsvInference *inference, const uint8_t *text, uint32 nbytes)
{
	inference->family = inference->former_family;
	inference->nodd += !add_value(inferrer, inference, text, nbytes);
	inference->family = CSV_FAMILY_TEXT;
}

void
csv_infer_value(CsvInferrer *inferrer, CsvInference *inference,
				const char *text, uint32 nbytes)
{
	char		narrow[CSV_GROUPED_BYTES];
	const uint8_t *start = (const uint8_t *) text;
	uint32		length = nbytes;
	const uint32 full = nbytes;

	/* in quotes, any other marker is a value like all else */
	bool		is_marker = nbytes == 0 && inferrer->empty_is_null;
	int			missing = inferrer->missing == 0 ? -1 : csv_missing_word(text, nbytes);

	/* no value has more characters than bytes */
	inference->most_bytes = Max(inference->most_bytes, nbytes);
	if (nbytes > inference->most_chars)
		inference->most_chars = Max(inference->most_chars,
									count_chars(text, nbytes));
	if (is_marker)
	{
		inference->nquoted_nulls++;
		return;
	}
	if (missing >= 0 && (inferrer->missing & (UINT32_C(1) << missing)) != 0)
	{
		inference->nmissing++;
		inference->nmissing_numbers += missing >= CSV_FIRST_MISSING_NUMBER;
		inference->missing |= UINT32_C(1) << missing;
		return;
	}
	inference->nvalues++;
	if (inference->family == CSV_FAMILY_TEXT && inference->any_not_other &&
		!may_be_odd(inference))
		return;

	if (inferrer->wide_thousands != NULL &&
		(inference->family <= CSV_FAMILY_NUMBER ||
		 inference->former_family == CSV_FAMILY_NUMBER))
	{
		uint32		n = narrow_thousands(inferrer, text, nbytes, narrow);

		if (memchr(text, CSV_WIDE_THOUSANDS, nbytes) != NULL)
			inference->family = CSV_FAMILY_TEXT;
		else if (n > 0)
		{
			start = (const uint8_t *) narrow;
			nbytes = length = n;
		}
	}
	while (length > 0 && csv_is_blank(start[0]))
	{
		start++;
		length--;
	}
	while (length > 0 && csv_is_blank(start[length - 1]))
		length--;
	if (inference->family == CSV_FAMILY_TEXT)
	{
		if (may_be_odd(inference))
			count_odd(inferrer, inference, start, length);
	}
	else if (inference->family != CSV_FAMILY_NONE)
	{
		/* uuid's input function wants no blanks */
		if ((length < nbytes && inference->family == CSV_FAMILY_UUID) ||
			!add_value(inferrer, inference, start, length))
			become_text(inference, text, full);
	}
	else
	{
		/*
		 * The first value: the families one after the other, text at last; but what
		 * somebody gave a pattern for is no number.
		 */
		if (is_in_form(inferrer->date_pattern, CSV_KIND_DATE, start, length) ||
			is_in_form(inferrer->timestamp_pattern, CSV_KIND_TIMESTAMPTZ, start, length))
			inference->family = CSV_FAMILY_TIME - 1;
		do
		{
			inference->family++;
			inference->not_iso = inference->not_when = false;
		} while (!add_value(inferrer, inference, start, length) ||
			   (length < nbytes && inference->family == CSV_FAMILY_UUID));
	}

	/* add_number() has looked at numbers */
	if (inference->family != CSV_FAMILY_NUMBER && !inference->any_not_other)
		look_at_other(inferrer, inference, start, length);
}

/*
 * Of a column of numbers, -999 is one of them, unless it occurs again and again and no
 * other number is anywhere near.
 */
void
csv_infer_end(CsvInferrer *inferrer, CsvInference *inference)
{
	uint32		numbers = inference->missing >> CSV_FIRST_MISSING_NUMBER << CSV_FIRST_MISSING_NUMBER;
	uint32		all = inferrer->missing;

	if (numbers == 0 ||
		(inference->family != CSV_FAMILY_NUMBER && inference->family != CSV_FAMILY_NONE))
		return;
	if (inference->nvalues >= inference->nmissing_numbers &&
		inference->nmissing_numbers >= LEAST_MISSING_NUMBERS && !inference->any_below)
		return;
	inferrer->missing = 0;
	for (int i = CSV_FIRST_MISSING_NUMBER; i < CSV_MISSING_WORDS; i++)
		if ((numbers & (UINT32_C(1) << i)) != 0)
			csv_infer_value(inferrer, inference, csv_missing_words[i],
							(uint32) strlen(csv_missing_words[i]));
	inferrer->missing = all;
	inference->nmissing -= inference->nmissing_numbers;
	inference->missing &= ~numbers;
	inference->kept = numbers;
}

/* ---- the type ---- */

static Oid
number_type(const CsvInference *inference, int32 *typmod)
{
	uint32		precision = inference->whole_digits +
		inference->fraction_digits;

	/* words alone are no numbers */
	if (!inference->any_finite)
		return TEXTOID;
	if (inference->any_float)
		return inference->most_digits <= DOUBLE_DIGITS &&
			!inference->any_long_integer ? FLOAT8OID : TEXTOID;
	if (!inference->any_point && !inference->any_beyond_int8)
		return inference->any_beyond_int4 ? INT8OID : INT4OID;
	if (precision > NUMERIC_MAX_PRECISION)
		return TEXTOID;
	*typmod = (int32) ((Max(precision, 1) << 16 | inference->fraction_digits) +
					   VARHDRSZ);
	return NUMERICOID;
}

Oid
csv_inferred_type(const CsvInference *inference, int32 *typmod)
{
	*typmod = -1;
	switch ((CsvFamily) inference->family)
	{
		case CSV_FAMILY_BOOLEAN:
			return inference->any_spelt_out ||
				(inference->any_true && inference->any_false) ?
				BOOLOID : TEXTOID;
		case CSV_FAMILY_NUMBER:
			return inference->is_days ? DATEOID : number_type(inference, typmod);
		case CSV_FAMILY_TIME:
			if (inference->not_iso && csv_when_is_doubtful(&inference->when))
				return TEXTOID;
			if (inference->not_iso)
				return inference->when.any_time ? TIMESTAMPOID : DATEOID;
			return inference->any_timestamptz ? TIMESTAMPTZOID :
				inference->any_timestamp ? TIMESTAMPOID : DATEOID;
		case CSV_FAMILY_UUID:
			return UUIDOID;
		default:
			return TEXTOID;
	}
}

char *
csv_inferred_type_name(const CsvInference *inference)
{
	int32		typmod;
	Oid			type = csv_inferred_type(inference, &typmod);

	/* shorter than format_type() has them */
	return type == TIMESTAMPOID ? "timestamp" :
		type == TIMESTAMPTZOID ? "timestamptz" :
		format_type_with_typemod(type, typmod);
}

bool
csv_inference_is_other(const CsvInference *inference)
{
	return inference->any_other && !inference->any_not_other;
}

bool
csv_inference_is_ambiguous(const CsvInference *inference)
{
	return inference->family == CSV_FAMILY_NUMBER && inference->any_point &&
		!inference->any_ungrouped;
}

bool
csv_inference_may_be_grouped(const CsvInference *inference)
{
	return inference->family == CSV_FAMILY_TEXT && inference->nvalues > 0 &&
		!inference->any_not_other && !inference->any_other;
}

bool
csv_inference_is_decimal(const CsvInference *inference)
{
	return inference->family == CSV_FAMILY_NUMBER && inference->any_ungrouped;
}

const char *
csv_inference_but_for_odd(const CsvInference *inference)
{
	if (inference->former_family == CSV_FAMILY_NONE ||
		inference->nodd * ODD_ONE_IN > inference->nvalues)
		return NULL;
	switch ((CsvFamily) inference->former_family)
	{
		case CSV_FAMILY_BOOLEAN:
			return "truth values";
		case CSV_FAMILY_NUMBER:
			return "numbers";
		case CSV_FAMILY_TIME:
			return "dates or times";
		default:
			return "UUIDs";
	}
}

uint32
csv_inference_missing(const CsvInference *inference)
{
	int32		typmod;

	return csv_inferred_type(inference, &typmod) != TEXTOID ? inference->missing : 0;
}

uint32
csv_inference_kept(const CsvInference *inference)
{
	return inference->kept | (inference->missing & ~csv_inference_missing(inference));
}

bool
csv_inference_has_pattern(const CsvInference *inference)
{
	return (inference->family == CSV_FAMILY_TIME && inference->not_iso &&
			!csv_when_is_doubtful(&inference->when)) ||
		(inference->family == CSV_FAMILY_NUMBER && inference->is_days);
}

bool
csv_inference_forces_null(const CsvInference *inference)
{
	int32		typmod;

	return inference->nquoted_nulls > 0 &&
		csv_inferred_type(inference, &typmod) != TEXTOID;
}
