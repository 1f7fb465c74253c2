/*
 * types.c
 *		The types of columns, by all evidence of a file.
 *
 *	boolean		true, false, yes, no, on, off, t, f, y, n; those other than true
 *				and false only if both truth values occur: a column of NO may
 *				be about Norway
 *	numbers		digits with a minus, a point, an exponent.  Not a plus, nor zeros
 *				in front: those are codes, and would be lost
 *	time		ISO 8601, or another form that one pattern reads; no mixture of
 *				timestamps with and without a zone
 *	uuid		8-4-4-4-12 only: 32 digits without hyphens may be anything
 *
 * Other columns may decide where one column leaves it open: the separators of numbers,
 * whether day or month comes first, which words are NULL in the whole table.
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "import/types.h"
#include "import/recognize.h"

/*
 * Programs write doubles with up to 17 significant digits.  No number with 17
 * digits and no exponent is too large for a double.
 */
#define DOUBLE_DIGITS	17

/* a whole number of more digits was not written as a double, and would be rounded */
#define DOUBLE_INTEGER_DIGITS	15

/* a number stands for a missing value if it occurs three times */
#define LEAST_MISSING_NUMBERS	3

/* the set of such numbers */
#define MISSING_NUMBERS	(~((UINT32_C(1) << CSV_FIRST_MISSING_NUMBER) - 1))

/* thirty values of eight digits that are all dates are so by no accident */
#define LEAST_DAYS	30

/* first of a month or not: seen in more values than a month that is counted has */
#define LEAST_MONTHS	13

#define BIT(form)		CSV_FORM_BIT(CSV_FORM_ ## form)
#define ISO_FORMS		(BIT(DATE) | BIT(TIMESTAMP))
#define EXPONENT_FORMS	CSV_FORMS(CSV_FORM_EXPONENT, CSV_FORM_EXPONENT_BARE)
#define POINT_FORMS \
	(CSV_FORMS(CSV_FORM_DECIMAL, CSV_FORM_DECIMAL_COMMA) | \
	 CSV_FORMS(CSV_FORM_GROUPED_DECIMAL, CSV_LAST_NUMBER))

static bool
are_truth_values(const CsvEvidence *evidence)
{
	return csv_evidence_fact(evidence, CSV_FACT_SPELT_OUT) ||
		(csv_evidence_fact(evidence, CSV_FACT_TRUE) &&
		 csv_evidence_fact(evidence, CSV_FACT_FALSE));
}

/* ---- numbers ---- */

static Oid
number_type(const CsvEvidence *evidence, CsvNumberReading reading, int32 *typmod)
{
	const CsvForm decimal = reading.decimal == ',' ? CSV_FORM_EITHER_COMMA : CSV_FORM_EITHER;
	const CsvForm grouped = reading.decimal == ',' ? CSV_FORM_EITHER : CSV_FORM_EITHER_COMMA;
	const uint32 either = csv_evidence_most(evidence, CSV_MOST_EITHER_WHOLE);
	uint32		whole = csv_evidence_most(evidence, CSV_MOST_WHOLE);
	uint32		fraction = csv_evidence_most(evidence, CSV_MOST_FRACTION);
	bool		any_point = csv_evidence_count(evidence, POINT_FORMS) > 0;

	/* words alone are not numbers */
	if (csv_evidence_all(evidence, BIT(NOT_FINITE)) || csv_are_codes(evidence))
		return TEXTOID;
	if (csv_evidence_count(evidence, EXPONENT_FORMS | BIT(NOT_FINITE)) > 0)
		return csv_evidence_most(evidence, CSV_MOST_SIGNIFICANT) <= DOUBLE_DIGITS &&
			csv_evidence_most(evidence, CSV_MOST_DIGITS) <= DOUBLE_INTEGER_DIGITS ?
			FLOAT8OID : TEXTOID;
	if (csv_evidence_has(evidence, decimal))
	{
		any_point = true;
		whole = Max(whole, either);
		fraction = Max(fraction, 3);
	}
	if (csv_evidence_has(evidence, grouped))
		whole = Max(whole, either + 3);
	if (!any_point && !csv_evidence_fact(evidence, CSV_FACT_BEYOND_INT8))
		return csv_evidence_fact(evidence, CSV_FACT_BEYOND_INT4) ? INT8OID : INT4OID;
	if (whole + fraction > NUMERIC_MAX_PRECISION)
		return TEXTOID;
	*typmod = (int32) ((Max(whole + fraction, 1) << 16 | fraction) + VARHDRSZ);
	return NUMERICOID;
}

/* ---- dates ---- */

/* does the name of a column have a word of a list?  "*datum" stands for all that end so. */
static bool
has_word(const CsvFoundColumn *column, const char *const *words, size_t nwords)
{
	char		word[NAMEDATALEN];
	size_t		n = 0;

	for (const char *p = column->header_name != NULL ? column->header_name : column->name;; p++)
	{
		const bool	is_part = isalpha((unsigned char) *p);

		/* words end at an underscore, and before a capital letter */
		if (n > 0 && (!is_part ||
					  (isupper((unsigned char) *p) && islower((unsigned char) p[-1]))))
		{
			word[n] = '\0';
			for (size_t i = 0; i < nwords; i++)
			{
				const size_t length = strlen(words[i]) - 1;

				if (strcmp(word, words[i]) == 0 ||
					(words[i][0] == '*' && n >= length &&
					 strcmp(word + n - length, words[i] + 1) == 0))
					return true;
			}
			n = 0;
		}
		if (is_part && n < sizeof(word) - 1)
			word[n++] = (char) tolower((unsigned char) *p);
		if (*p == '\0')
			return false;
	}
}

/* does the name speak of a date? */
static bool
is_name_of_dates(const CsvFoundColumn *column)
{
	static const char *const words[] = {
		"date", "dates", "day", "dt", "ymd", "yyyymmdd", "fecha", "jour", "dia", "tag",
		"dato", "dag", "birth", "birthday", "dob", "born", "geburtstag", "*datum",

		/* not "*date": candidates, mandates and updates are numbered */
		"*birthdate", "*startdate", "*enddate", "*duedate", "*orderdate", "*shipdate",
		"*saledate", "*postdate", "*tradedate", "*valuedate", "*paydate", "*invoicedate",
		"*receiptdate", "*commitdate", "*reportdate", "*entrydate", "*expirydate"
	};

	return has_word(column, words, lengthof(words)) || strcmp(column->name, "data") == 0;
}

/* does it speak of something that is numbered, or of a version? */
static bool
is_name_of_codes(const CsvFoundColumn *column)
{
	static const char *const words[] = {
		"id", "no", "nr", "num", "number", "nummer", "code", "key", "version", "release",
		"serial", "ref", "sku", "part"
	};

	return has_word(column, words, lengthof(words));
}

/* NOTICE of a column whose name does not tell that its values are dates */
static void
tell_dates(const CsvFindings *findings, const CsvFoundColumn *column, const char *other)
{
	if (!is_name_of_dates(column))
		ereport(NOTICE,
				(errmsg("assuming dates in column \"%s\" of \"%s\": \"%s\"",
						column->name, findings->table->filename, column->pattern),
				 errhint("If this is wrong, give the column the type %s, without the option \"date_format\".",
						 other)));
}

static bool
are_days(const CsvFindings *findings, CsvFoundColumn *column)
{
	const CsvEvidence *evidence = &column->evidence;

	if (findings->table->date_pattern != NULL || column->kept != 0 ||
		!csv_evidence_all(evidence, BIT(DAYS)) || is_name_of_codes(column) ||
		(evidence->nvalues < LEAST_DAYS && !is_name_of_dates(column)))
		return false;
	column->pattern = "YYYYMMDD";
	tell_dates(findings, column, "integer");
	return true;
}

/* the type of dates and times whose input function reads all values; or text */
static Oid
iso_type(const CsvEvidence *evidence)
{
	if (csv_evidence_all(evidence, BIT(TIME_OF_DAY)))
		return TIMEOID;
	if (csv_evidence_all(evidence, BIT(TIMESTAMPTZ)))
		return TIMESTAMPTZOID;
	if (csv_evidence_all(evidence, ISO_FORMS))
		return csv_evidence_has(evidence, CSV_FORM_TIMESTAMP) ? TIMESTAMPOID : DATEOID;
	return TEXTOID;
}

/* does one pattern read all values, and are some not in ISO 8601? */
static bool
have_pattern(const CsvEvidence *evidence)
{
	return csv_evidence_count(evidence, CSV_WHEN_FORMS) > 0 &&
		csv_evidence_all(evidence, CSV_WHEN_FORMS | ISO_FORMS) &&
		csv_when_is_one(evidence->figures.facts) &&
		!(csv_evidence_has(evidence, CSV_FORM_DAY_FIRST) &&
		  csv_evidence_has(evidence, CSV_FORM_MONTH_FIRST));
}

/* may dates with years of two digits be versions, or be of another order? */
static bool
is_doubtful(const CsvFoundColumn *column)
{
	const CsvEvidence *evidence = &column->evidence;
	const bool	is_doubtful = csv_when_is_doubtful(&evidence->figures);
	const bool	is_short = csv_evidence_fact(evidence, CSV_FACT_SHORT_YEAR);
	const bool	any_dot = csv_evidence_fact(evidence, CSV_FACT_DOT);

	if (is_name_of_dates(column))
		return is_doubtful && !(any_dot && is_short);
	return is_doubtful || ((is_short || any_dot) && is_name_of_codes(column)) ||
		(is_short && any_dot && csv_evidence_fact(evidence, CSV_FACT_UNPADDED));
}

static Oid
time_type(const CsvFoundColumn *column)
{
	Oid			type = iso_type(&column->evidence);

	if (type != TEXTOID || !have_pattern(&column->evidence) || is_doubtful(column))
		return type;
	return csv_when_has_time(column->evidence.figures.facts) ? TIMESTAMPOID : DATEOID;
}

/* does the day come first, as far as usage tells? */
static bool
guess_day_first(const CsvTable *table, const CsvEvidence *evidence)
{
	const uint32 first = csv_evidence_least(evidence, CSV_LEAST_FIRST);
	const uint32 second = csv_evidence_least(evidence, CSV_LEAST_SECOND);
	const bool	first_varies = first != csv_evidence_most(evidence, CSV_MOST_FIRST);
	const bool	second_varies = second != csv_evidence_most(evidence, CSV_MOST_SECOND);

	/* a value for each month, over more than a year */
	if (evidence->nvalues >= LEAST_MONTHS && first_varies != second_varies)
	{
		if (first_varies && second == 1)
			return false;
		if (second_varies && first == 1)
			return true;
	}
	if (csv_evidence_fact(evidence, CSV_FACT_AM) ||
		csv_evidence_fact(evidence, CSV_FACT_BLANK_AM))
		return false;
	return csv_evidence_fact(evidence, CSV_FACT_DOT) ||
		csv_evidence_fact(evidence, CSV_FACT_HYPHEN) ||
		table->reader.dialect.delimiter == ';' || table->decimal_separator == ',' ||
		DateOrder == DATEORDER_DMY;
}

/* have all such dates of the table the day, or the month, first? */
static void
find_orders(const CsvFindings *findings, bool *any_day_first, bool *any_month_first)
{
	*any_day_first = *any_month_first = false;
	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		const CsvFoundColumn *column = &findings->columns[i];

		if (column->type != DATEOID && column->type != TIMESTAMPOID)
			continue;
		*any_day_first |= csv_evidence_has(&column->evidence, CSV_FORM_DAY_FIRST);
		*any_month_first |= csv_evidence_has(&column->evidence, CSV_FORM_MONTH_FIRST);
	}
}

static void
find_pattern(const CsvFindings *findings, CsvFoundColumn *column, bool any_day_first,
			 bool any_month_first)
{
	const CsvEvidence *evidence = &column->evidence;
	const uint32 facts = evidence->figures.facts;
	bool		day_first = !csv_evidence_has(evidence, CSV_FORM_MONTH_FIRST);
	bool		undecided = csv_evidence_has(evidence, CSV_FORM_DAY_OR_MONTH_FIRST) &&
		!csv_evidence_has(evidence, CSV_FORM_DAY_FIRST) && day_first;

	if ((column->type != DATEOID && column->type != TIMESTAMPOID) ||
		!have_pattern(evidence))
		return;
	if (undecided)
		day_first = any_day_first != any_month_first && (facts & CSV_FACT_DOT) == 0 ?
			any_day_first : guess_day_first(findings->table, evidence);
	column->pattern = csv_when_pattern(facts, day_first);
	if (undecided)
		ereport(NOTICE,
				(errmsg("assuming %s-first dates in column \"%s\" of \"%s\": \"%s\"",
						day_first ? "day" : "month", column->name,
						findings->table->filename, column->pattern),
				 errhint("If this is wrong, set the option \"%s\".",
						 csv_when_has_time(facts) ? "timestamp_format" : "date_format")));
	else if ((facts & CSV_FACT_SHORT_YEAR) != 0 && column->type == DATEOID)
		tell_dates(findings, column, "text");
	if ((facts & CSV_FACT_DISPUTED) != 0)
		ereport(NOTICE,
				(errmsg("assuming years from 1970 to 2069 in column \"%s\" of \"%s\": \"%s\"",
						column->name, findings->table->filename, column->pattern),
				 errhint("If this is wrong, give the column the type text, without the option \"%s\".",
						 csv_when_has_time(facts) ? "timestamp_format" : "date_format")));
}

/*
 * The pattern that all columns of a type have; NULL: there is none, or several.  A pattern
 * of timestamps would also hold for timestamps with a zone.
 */
static const char *
common_pattern(const CsvFindings *findings, Oid type)
{
	const char *common = NULL;

	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		const CsvFoundColumn *column = &findings->columns[i];

		if (type == TIMESTAMPOID && column->type == TIMESTAMPTZOID)
			return NULL;
		if (column->type != type)
			continue;
		if (column->pattern == NULL ||
			(common != NULL && strcmp(common, column->pattern) != 0))
			return NULL;
		common = column->pattern;
	}
	return common;
}

/* ---- NULL ---- */

/*
 * In a column of numbers, -999 is a number, unless it occurs again and again and no other
 * number is anywhere near.
 */
static void
settle_missing_numbers(const CsvReadingRules *rules, CsvFoundColumn *column)
{
	CsvReadingRules none = *rules;
	CsvEvidence *evidence = &column->evidence;
	uint32		numbers = evidence->missing & MISSING_NUMBERS;

	if (numbers == 0 ||
		(evidence->nvalues > 0 && !csv_evidence_all(evidence, CSV_NUMBER_FORMS)) ||
		(evidence->nvalues >= evidence->nmissing_numbers &&
		 evidence->nmissing_numbers >= LEAST_MISSING_NUMBERS &&
		 !csv_evidence_fact(evidence, CSV_FACT_BELOW)))
		return;
	none.missing = 0;
	for (int i = CSV_FIRST_MISSING_NUMBER; i < CSV_MISSING_WORDS; i++)
		if ((numbers & (UINT32_C(1) << i)) != 0)
			csv_evidence_add(&none, evidence, 0, csv_missing_words[i],
							 (uint32) strlen(csv_missing_words[i]));
	evidence->nmissing -= evidence->nmissing_numbers;
	evidence->missing &= ~numbers;
	column->kept = numbers;
}

/* words as a text[] literal */
static char *
words_literal(uint32 words)
{
	StringInfoData literal;

	initStringInfo(&literal);
	appendStringInfoChar(&literal, '{');
	for (int i = 0; i < CSV_MISSING_WORDS; i++)
	{
		const char *word = csv_missing_words[i];

		if ((words & (UINT32_C(1) << i)) == 0)
			continue;
		if (literal.len > 1)
			appendStringInfoChar(&literal, ',');
		if (pg_strcasecmp(word, "null") == 0)
			appendStringInfo(&literal, "\"%s\"", word);
		else if (word[0] == '\\')
			appendStringInfo(&literal, "\"\\%s\"", word);
		else
			appendStringInfoString(&literal, word);
	}
	appendStringInfoChar(&literal, '}');
	return literal.data;
}

/*
 * The words of all columns with a type are the table's.  A column that has one of them as
 * a value gets its own.
 */
static void
find_null_values(CsvFindings *findings)
{
	uint32		words = 0;

	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		CsvFoundColumn *column = &findings->columns[i];

		column->missing = column->type == TEXTOID ? 0 : column->evidence.missing;
		column->kept |= column->evidence.missing & ~column->missing;
		column->force_null = column->type != TEXTOID && column->evidence.nquoted_nulls > 0;
		words |= column->missing;
	}
	if (words == 0)
		return;
	findings->null_values = words_literal(words);
	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		CsvFoundColumn *column = &findings->columns[i];
		uint32		numbers = column->missing & MISSING_NUMBERS;

		CHECK_FOR_INTERRUPTS();
		column->force_null |= column->missing != 0 && findings->any_quote;
		if ((column->kept & words) != 0)
			column->null_values = words_literal(column->missing);
		if (numbers != 0)
			ereport(NOTICE,
					(errmsg("assuming NULL for numbers of column \"%s\" of \"%s\": \"%s\"",
							column->name, findings->table->filename, words_literal(numbers)),
					 errhint("If this is wrong, set the option \"null_values\".")));
	}
}

/* ---- all of them ---- */

/* the type of values that are all truth values, or UUIDs; otherwise InvalidOid */
static Oid
word_type(const CsvEvidence *evidence)
{
	if (csv_evidence_all(evidence, BIT(BOOLEAN)))
		return are_truth_values(evidence) ? BOOLOID : TEXTOID;
	return csv_evidence_all(evidence, BIT(UUID)) ? UUIDOID : InvalidOid;
}

static Oid
type_of(CsvFindings *findings, CsvFoundColumn *column, CsvNumberReading reading,
		bool is_number)
{
	const CsvEvidence *evidence = &column->evidence;
	Oid			type = word_type(evidence);

	column->typmod = -1;
	if (OidIsValid(type))
		return type;
	if (is_number && are_days(findings, column))
		return DATEOID;
	return is_number ? number_type(evidence, reading, &column->typmod) : time_type(column);
}

void
csv_decide_types(CsvFindings *findings, const CsvReadingRules *rules)
{
	bool	   *are_numbers = palloc(sizeof(bool) * findings->ncolumns);
	bool		any_grouped = false;
	bool		any_day_first;
	bool		any_month_first;
	CsvNumberReading reading;

	for (uint32 i = 0; i < findings->ncolumns; i++)
		settle_missing_numbers(rules, &findings->columns[i]);
	reading = csv_choose_reading(findings);
	csv_settle_numbers(findings, reading, are_numbers);
	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		CsvFoundColumn *column = &findings->columns[i];

		CHECK_FOR_INTERRUPTS();
		column->type = type_of(findings, column, reading, are_numbers[i]);
		any_grouped |= column->type != TEXTOID && are_numbers[i] &&
			csv_evidence_count(&column->evidence, csv_grouped_forms(reading)) > 0;
	}
	find_orders(findings, &any_day_first, &any_month_first);
	for (uint32 i = 0; i < findings->ncolumns; i++)
		find_pattern(findings, &findings->columns[i], any_day_first, any_month_first);
	find_null_values(findings);
	if (any_grouped)
		findings->thousands_separator = findings->table->thousands_separator;
	findings->date_format = common_pattern(findings, DATEOID);
	findings->timestamp_format = common_pattern(findings, TIMESTAMPOID);
	csv_tell_odd(findings, reading);
}

Oid
csv_plain_type(const CsvEvidence *evidence)
{
	CsvNumberReading reading = {'.', CSV_NO_SEPARATOR};
	Oid			type = evidence->missing != 0 ? TEXTOID : word_type(evidence);
	int32		typmod;

	if (OidIsValid(type))
		return type;
	return csv_evidence_all(evidence, csv_number_forms(reading)) ?
		number_type(evidence, reading, &typmod) : iso_type(evidence);
}

CsvFamily
csv_family(const CsvEvidence *evidence)
{
	if (evidence->nvalues == 0)
		return CSV_FAMILY_NONE;
	if (csv_evidence_all(evidence, BIT(BOOLEAN)))
		return CSV_FAMILY_BOOLEAN;
	if (csv_evidence_all(evidence, CSV_NUMBER_FORMS))
		return CSV_FAMILY_NUMBER;
	if (csv_evidence_all(evidence, BIT(UUID)))
		return CSV_FAMILY_UUID;
	return iso_type(evidence) != TEXTOID || have_pattern(evidence) ?
		CSV_FAMILY_TIME : CSV_FAMILY_TEXT;
}
