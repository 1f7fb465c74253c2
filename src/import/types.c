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
 * whether day or month comes first.
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/numeric.h"

#include "import/forms.h"
#include "import/given.h"
#include "import/types.h"
#include "table/text.h"

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

#define SHORT_DATE_BYTES	7	/* "24-Sept" lacks the year or the day */

/* first of a month or not: seen in more values than a month that is counted has */
#define LEAST_MONTHS	13

#define BIT(form)		CSV_FORM_BIT(CSV_FORM_ ## form)
#define ISO_FORMS		(BIT(DATE) | BIT(TIMESTAMP))
#define EXPONENT_FORMS	CSV_FORMS(CSV_FORM_EXPONENT, CSV_FORM_EXPONENT_BARE)
#define POINT_FORMS \
	(CSV_FORMS(CSV_FORM_DECIMAL, CSV_FORM_DECIMAL_COMMA) | \
	 CSV_FORMS(CSV_FORM_GROUPED_DECIMAL, CSV_LAST_NUMBER))

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

/* does a word of a name begin or end there?  Words end at an underscore, and before a capital. */
static bool
is_between_words(const char *name, const char *p)
{
	return p == name || !isalpha((unsigned char) p[-1]) || !isalpha((unsigned char) *p) ||
		(isupper((unsigned char) *p) && islower((unsigned char) p[-1]));
}

/* does the name of a column have a word of a list?  "*datum" stands for all that end so. */
static bool
has_word(const CsvFoundColumn *column, const char *const *words, size_t nwords)
{
	const char *name = column->header_name != NULL ? column->header_name : column->name;

	for (size_t i = 0; i < nwords; i++)
	{
		const bool	is_end = words[i][0] == '*';
		const char *word = words[i] + is_end;

		for (const char *p = name; (p = strcasestr(p, word)) != NULL; p++)
			if ((is_end || is_between_words(name, p)) && is_between_words(name, p + strlen(word)))
				return true;
	}
	return false;
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

/* NOTICE of what a column's pattern says */
static void
tell_pattern(const CsvFindings *findings, const CsvFoundColumn *column, const char *what,
			 const char *advice)
{
	ereport(NOTICE,
			(errmsg("assuming %s in column \"%s\" of \"%s\": \"%s\"",
					what, column->name, findings->table->filename, column->pattern),
			 errhint("If this is wrong, %s.", advice)));
}

static bool
are_days(const CsvFindings *findings, CsvFoundColumn *column)
{
	const CsvEvidence *evidence = column->evidence;

	if (findings->table->date_pattern != NULL || column->kept != 0 ||
		!csv_evidence_all(evidence, BIT(DAYS)) || is_name_of_codes(column) ||
		(evidence->nvalues < LEAST_DAYS && !is_name_of_dates(column)))
		return false;
	column->pattern = "YYYYMMDD";
	if (!is_name_of_dates(column))
		tell_pattern(findings, column, "dates",
					 "give the column the type integer, without the option \"date_format\"");
	return true;
}

/* the type whose input function reads all values, numbers aside; or text */
static Oid
input_type(const CsvEvidence *evidence)
{
	if (csv_evidence_all(evidence, BIT(BOOLEAN)) &&
		(csv_evidence_fact(evidence, CSV_FACT_SPELT_OUT) ||
		 (csv_evidence_fact(evidence, CSV_FACT_TRUE) &&
		  csv_evidence_fact(evidence, CSV_FACT_FALSE))))
		return BOOLOID;
	if (csv_evidence_all(evidence, BIT(UUID)))
		return UUIDOID;
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
	const CsvEvidence *evidence = column->evidence;
	const bool	is_doubtful = csv_when_is_doubtful(&evidence->figures);
	const bool	is_short = csv_evidence_fact(evidence, CSV_FACT_SHORT_YEAR);
	const bool	any_dot = csv_evidence_fact(evidence, CSV_FACT_DOT);

	if (is_name_of_dates(column))
		return is_doubtful && !(any_dot && is_short);
	return is_doubtful || ((is_short || any_dot) && is_name_of_codes(column)) ||
		(is_short && any_dot && csv_evidence_fact(evidence, CSV_FACT_UNPADDED));
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
	if (evidence->nvalues >= LEAST_MONTHS && first_varies != second_varies &&
		(first_varies ? second : first) == 1)
		return second_varies;
	if (csv_evidence_fact(evidence, CSV_FACT_AM) ||
		csv_evidence_fact(evidence, CSV_FACT_BLANK_AM))
		return false;
	return csv_evidence_fact(evidence, CSV_FACT_DOT) ||
		csv_evidence_fact(evidence, CSV_FACT_HYPHEN) ||
		table->reader.dialect.delimiter == ';' || table->decimal_separator == ',' ||
		(table->date_order >= 0 ? table->date_order : DateOrder) == DATEORDER_DMY;
}

static bool
has_dates(const CsvFoundColumn *column)
{
	return column->type == DATEOID || column->type == TIMESTAMPOID;
}

/* any_day_first: some dates of the table surely have the day first; any_month_first: the month */
static void
find_pattern(const CsvFindings *findings, CsvFoundColumn *column, bool any_day_first,
			 bool any_month_first)
{
	const CsvEvidence *evidence = column->evidence;
	const uint32 facts = evidence->figures.facts;
	const char *option = csv_when_has_time(facts) ? "timestamp_format" : "date_format";
	const char *without = psprintf("give the column the type text, without the option \"%s\"",
								   option);
	bool		day_first = !csv_evidence_has(evidence, CSV_FORM_MONTH_FIRST);
	bool		undecided = csv_evidence_has(evidence, CSV_FORM_DAY_OR_MONTH_FIRST) &&
		!csv_evidence_has(evidence, CSV_FORM_DAY_FIRST) && day_first;

	if (!has_dates(column) || !have_pattern(evidence))
		return;
	if (undecided)
		day_first = any_day_first != any_month_first && (facts & CSV_FACT_DOT) == 0 ?
			any_day_first : guess_day_first(findings->table, evidence);
	column->pattern = csv_when_pattern(facts, day_first);
	if (undecided)
		tell_pattern(findings, column, day_first ? "day-first dates" : "month-first dates",
					 psprintf("set the option \"%s\"", option));
	else if ((facts & CSV_FACT_SHORT_YEAR) != 0 && column->type == DATEOID &&
			 !is_name_of_dates(column))
		tell_pattern(findings, column, "dates", without);
	if ((facts & CSV_FACT_DISPUTED) != 0)
		tell_pattern(findings, column, "years from 1970 to 2069", without);
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
	CsvEvidence *evidence = column->evidence;
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
			csv_evidence_add(&none, evidence, &(CsvValuePlace) {0},
							 csv_missing_words[i],
							 (uint32) strlen(csv_missing_words[i]));
	evidence->nmissing -= evidence->nmissing_numbers;
	evidence->missing &= ~numbers;
	column->kept = numbers;
}

/* words as a text[] literal */
static char *
words_literal(uint32 words)
{
	Datum		elements[CSV_MISSING_WORDS];
	int			n = 0;

	for (int i = 0; i < CSV_MISSING_WORDS; i++)
		if ((words & (UINT32_C(1) << i)) != 0)
			elements[n++] = CStringGetTextDatum(csv_missing_words[i]);
	return OidOutputFunctionCall(F_ARRAY_OUT,
								 PointerGetDatum(construct_array(elements, n, TEXTOID, -1,
																 false, TYPALIGN_INT)));
}

/* A column with a type has its own words: in other columns, NA may be a value some day. */
static void
find_null_values(CsvFindings *findings)
{
	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		CsvFoundColumn *column = &findings->columns[i];
		const uint32 words = column->type == TEXTOID ? 0 : column->evidence->missing;

		CHECK_FOR_INTERRUPTS();
		column->force_null = column->type != TEXTOID && column->evidence->nquoted_nulls > 0;
		if (words == 0)
			continue;
		column->force_null |= findings->any_quote;
		column->null_values = words_literal(words);
		if ((words & MISSING_NUMBERS) != 0)
			ereport(NOTICE,
					(errmsg("assuming NULL for numbers of column \"%s\" of \"%s\": \"%s\"",
							column->name, findings->table->filename,
							words_literal(words & MISSING_NUMBERS)),
					 errhint("If this is wrong, set the option \"null_values\".")));
	}
}

/* ---- columns that nearly have a type ---- */

/* most names of columns in a message */
#define MOST_NAMES		10

/* bytes of a value in a message */
#define SHOWN_BYTES		40

/* a column is text for a few odd values if one of ten values is odd, at most ... */
#define ODD_ONE_IN		10

/* ... or if they all stand in the first or in the last records, beside more values of a type */
#define EDGE_RECORDS	3
#define LEAST_OTHERS	3

#define ODD_NUMBERS		CSV_FORMS(CSV_FIRST_ODD_NUMBER, CSV_NUM_FORMS - 1)
#define ALL_WHEN_FORMS	CSV_FORMS(CSV_FORM_DATE, CSV_FORM_ODD_DATE)

/* forms that one type has */
typedef struct Type
{
	uint64		forms;
	const char *plural;
} Type;

/* what most of the values are */
static Type
find_main_type(const CsvEvidence *evidence)
{
	const Type	types[] = {
		{csv_likely_number_forms(evidence), "numbers"},
		{BIT(DATE) | BIT(TIMESTAMP), "dates or times"},
		{BIT(TIMESTAMPTZ), "dates or times"},
		{BIT(TIME_OF_DAY), "dates or times"},
		{BIT(DAY_FIRST) | BIT(DAY_OR_MONTH_FIRST) | BIT(ORDERED), "dates or times"},
		{BIT(MONTH_FIRST) | BIT(DAY_OR_MONTH_FIRST), "dates or times"},
		{BIT(BOOLEAN), "truth values"},
		{BIT(UUID), "UUIDs"},
	};
	Type		best = types[0];

	for (size_t i = 1; i < lengthof(types); i++)
		if (csv_evidence_count(evidence, types[i].forms) >
			csv_evidence_count(evidence, best.forms))
			best = types[i];
	return best;
}

/* the form of the first value that has one of these, or -1; and the number of the last record */
static int
find_first(const CsvEvidence *evidence, uint64 forms, int64 *last)
{
	int			first = -1;

	*last = 0;
	for (int form = 0; form < CSV_NUM_FORMS; form++)
	{
		if ((forms & CSV_FORM_BIT(form)) == 0 || evidence->seen[form].count == 0)
			continue;
		if (first < 0 || evidence->first[form].place.record <
			evidence->first[first].place.record)
			first = form;
		*last = Max(*last, evidence->seen[form].last);
	}
	return first;
}

/* the first value of a form, and where it stands, for a message */
static char *
shown(const CsvFindings *findings, const CsvEvidence *evidence, int form)
{
	const CsvFirst *first = &evidence->first[form];
	const CsvValuePlace *place = &first->place;
	char	   *value =
		csv_quoted_text(pnstrdup(first->text, pg_mbcliplen(first->text,
														   first->nbytes,
														   SHOWN_BYTES)));

	/* a number that stands for a missing value was told from its kind only */
	return place->file == NULL ? value :
		strcmp(place->file, findings->table->filename) == 0 ?
		psprintf("%s (line %lld)", value, (long long) place->line) :
		psprintf("%s (line %lld of \"%s\")", value, (long long) place->line,
				 place->file);
}

/* why no input function takes a number of this form */
static const char *
oddity_of(int form)
{
	switch ((CsvForm) form)
	{
		case CSV_FORM_MINUS_BEHIND:
			return "has its sign behind the digits";
		case CSV_FORM_MINUS_SIGN:
			return "has another minus sign than \"-\"";
		case CSV_FORM_PARENTHESES:
			return "is in parentheses";
		case CSV_FORM_CURRENCY:
			return "has a currency sign";
		case CSV_FORM_PERCENT:
			return "has a percent sign";
		case CSV_FORM_QUOTED:
			return "begins with an apostrophe";
		default:
			return "is a formula of a spreadsheet";
	}
}

/* why is the column text although all values look like a type?  NULL if they do not */
static char *
find_reason(const CsvFindings *findings, const CsvEvidence *evidence, CsvNumberReading reading)
{
	const uint64 numbers = csv_number_forms(reading);
	int64		last;
	int			odd = find_first(evidence, ODD_NUMBERS, &last);
	int			when;

	if (odd >= 0 && csv_evidence_all(evidence, CSV_NUMBER_FORMS | ODD_NUMBERS))
		return psprintf("%s %s", shown(findings, evidence, odd),
						oddity_of(odd));
	if (csv_are_codes(evidence))
		return psprintf("%s may be a code or a number",
						shown(findings, evidence, CSV_FORM_EXPONENT_BARE));
	if (csv_evidence_all(evidence, BIT(DATE) | BIT(TIMESTAMP) | BIT(TIMESTAMPTZ)) &&
		csv_evidence_count(evidence, BIT(TIMESTAMPTZ)) * ODD_ONE_IN > evidence->nvalues)
		return psprintf("%s has a time zone, and other values have none",
						shown(findings, evidence, CSV_FORM_TIMESTAMPTZ));
	if (csv_evidence_all(evidence, CSV_WHEN_FORMS) &&
		csv_evidence_has(evidence, CSV_FORM_DAY_FIRST) &&
		csv_evidence_has(evidence, CSV_FORM_MONTH_FIRST))
		return psprintf("%s has the day first, and %s the month",
						shown(findings, evidence, CSV_FORM_DAY_FIRST),
						shown(findings, evidence, CSV_FORM_MONTH_FIRST));
	odd = find_first(evidence, BIT(ODD_DATE), &last);
	if (odd >= 0 && csv_evidence_all(evidence, ALL_WHEN_FORMS))
		return psprintf(evidence->first[odd].nbytes <= SHORT_DATE_BYTES ?
						"%s may be a month of a year, or a day of a month" :
						"%s has the name of a month, in a form that is not recognized",
						shown(findings, evidence, odd));
	when = find_first(evidence, CSV_WHEN_FORMS | BIT(DAYS), &last);
	if (when >= 0 && csv_evidence_count(evidence, ALL_WHEN_FORMS) > 0 &&
		csv_evidence_all(evidence, ALL_WHEN_FORMS | BIT(DAYS)))
		return psprintf(csv_evidence_fact(evidence, CSV_FACT_SHORT_YEAR) ?
						"%s may be a date of several orders, or a version" :
						"%s has another form than other dates",
						shown(findings, evidence, when));
	if (csv_evidence_all(evidence, CSV_NUMBER_FORMS) &&
		!csv_evidence_all(evidence, csv_likely_number_forms(evidence)))
		return psprintf("%s has other separators than other values",
						shown(findings, evidence,
							  find_first(evidence, ~csv_likely_number_forms(evidence),
										 &last)));
	if (!findings->given.decimal && !findings->given.thousands &&
		csv_evidence_count(evidence, CSV_FORMS(CSV_FORM_EITHER, CSV_FORM_EITHER_COMMA)) == 0 &&
		!csv_evidence_all(evidence, numbers) && csv_is_number_otherwise(findings, evidence))
		return psprintf("%s has other separators than numbers of the table",
						shown(findings, evidence,
							  find_first(evidence, ~numbers, &last)));
	return NULL;
}

/*
 * Is the column text for a few odd values?  Then the form of the first of them, and how
 * many there are; else -1.
 */
static int
find_odd(const CsvFindings *findings, const CsvEvidence *evidence, Type type, int64 *nodd)
{
	int64		last;
	const int	odd = find_first(evidence, ~type.forms, &last);
	const int64 nothers = csv_evidence_count(evidence, type.forms);

	*nodd = evidence->nvalues - nothers;
	if (odd < 0 || nothers < 2)
		return -1;
	return *nodd * ODD_ONE_IN <= evidence->nvalues ||
		(*nodd < nothers && nothers >= LEAST_OTHERS &&
		 (last < EDGE_RECORDS ||
		  evidence->first[odd].place.record >=
		  findings->nrecords - EDGE_RECORDS)) ? odd : -1;
}

/*
 * NOTICEs of columns that are text although most of their values, or all, look like a type
 */
static void
tell_odd(const CsvFindings *findings, CsvNumberReading reading)
{
	StringInfoData odd;
	StringInfoData reasons;
	uint32		nodds = 0;
	uint32		nreasons = 0;

	initStringInfo(&odd);
	initStringInfo(&reasons);
	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		const CsvFoundColumn *column = &findings->columns[i];
		const CsvEvidence *evidence = column->evidence;
		Type		type;
		int			first;
		int64		nodd;
		char	   *reason;

		CHECK_FOR_INTERRUPTS();
		if (column->type != TEXTOID || column->given != NULL ||
			evidence->nvalues == 0)
			continue;
		type = find_main_type(evidence);
		if ((reason = find_reason(findings, evidence, reading)) != NULL)
		{
			if (nreasons++ < MOST_NAMES)
				appendStringInfo(&reasons, "%sColumn \"%s\": %s.", nreasons > 1 ? "\n" : "",
								 column->name, reason);
		}
		else if ((first = find_odd(findings, evidence, type, &nodd)) >= 0 &&
				 nodds++ < MOST_NAMES)
			appendStringInfo(&odd, "%sColumn \"%s\": %lld of %lld values are %s, %s is not.",
							 nodds > 1 ? "\n" : "", column->name,
							 (long long) (evidence->nvalues - nodd),
							 (long long) evidence->nvalues, type.plural,
							 shown(findings, evidence, first));
	}
	if (nreasons > 0)
		ereport(NOTICE,
				(errmsg("using type text for columns of \"%s\" whose values look like numbers or dates",
						findings->table->filename),
				 errdetail_internal("%s", reasons.data),
				 errhint("Where an option such as \"date_format\" or \"decimal_separator\" says how to read them, add it to IMPORT FOREIGN SCHEMA, with the column's type in OPTIONS (types '...'). A view can convert other values.")));
	if (nodds > 0)
		ereport(NOTICE,
				(errmsg("columns of \"%s\" are text for a few of their values",
						findings->table->filename),
				 errdetail_internal("%s", odd.data),
				 errhint("To read such a value as NULL, add OPTIONS (null_values '...') to IMPORT FOREIGN SCHEMA. To skip such records, give the column its type by OPTIONS (types '...'); with \"on_error\" 'set_null', they stay, with NULL. \"header_rows\" and \"footer_rows\" leave out records at the top and at the end.")));
}

/* ---- all of them ---- */

static Oid
type_of(CsvFindings *findings, CsvFoundColumn *column, CsvNumberReading reading,
		bool is_number)
{
	const CsvEvidence *evidence = column->evidence;
	Oid			type = input_type(evidence);

	column->typmod = -1;
	if (is_number && are_days(findings, column))
		return DATEOID;
	if (is_number)
		return number_type(evidence, reading, &column->typmod);
	if (type != TEXTOID || !have_pattern(evidence) || is_doubtful(column))
		return type;
	return csv_when_has_time(evidence->figures.facts) ? TIMESTAMPOID : DATEOID;
}

void
csv_decide_types(CsvFindings *findings, const CsvReadingRules *rules,
				 bool all_text)
{
	bool	   *are_numbers = palloc(sizeof(bool) * findings->ncolumns);
	bool		any_grouped = false;
	bool		any_day_first = false;
	bool		any_month_first = false;
	CsvNumberReading reading;

	for (uint32 i = 0; i < findings->ncolumns; i++)
		settle_missing_numbers(rules, &findings->columns[i]);
	reading = csv_choose_reading(findings);
	csv_settle_numbers(findings, reading, are_numbers);
	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		CsvFoundColumn *column = &findings->columns[i];

		CHECK_FOR_INTERRUPTS();
		if (!all_text && column->given == NULL)
			column->type = type_of(findings, column, reading, are_numbers[i]);
		else if (column->given != NULL)
			column->type = column->given->type;
		any_day_first |= has_dates(column) &&
			csv_evidence_has(column->evidence, CSV_FORM_DAY_FIRST);
		any_month_first |= has_dates(column) &&
			csv_evidence_has(column->evidence, CSV_FORM_MONTH_FIRST);
		any_grouped |= column->type != TEXTOID && are_numbers[i] &&
			csv_evidence_count(column->evidence, csv_grouped_forms(reading)) > 0;
	}
	for (uint32 i = 0; i < findings->ncolumns; i++)
		find_pattern(findings, &findings->columns[i], any_day_first, any_month_first);
	find_null_values(findings);
	if (any_grouped)
		findings->thousands_separator = findings->table->thousands_separator;
	findings->date_format = common_pattern(findings, DATEOID);
	findings->timestamp_format = common_pattern(findings, TIMESTAMPOID);
	if (!all_text)
		tell_odd(findings, reading);
}

Oid
csv_plain_type(const CsvEvidence *evidence)
{
	CsvNumberReading reading = {'.', CSV_NO_SEPARATOR};
	int32		typmod;

	if (evidence->missing != 0)
		return TEXTOID;
	return csv_evidence_all(evidence, csv_number_forms(reading)) ?
		number_type(evidence, reading, &typmod) : input_type(evidence);
}
