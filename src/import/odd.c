/*
 * odd.c
 *		NOTICEs of columns that are text although most of their values, or all, look like
 *		a type.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "import/types.h"
#include "table/text.h"

/* most names of columns in a message */
#define MOST_NAMES		10

/* bytes of a value in a message */
#define SHOWN_BYTES		40

/* a column is text for a few odd values if one of ten values is odd, at most ... */
#define ODD_ONE_IN		10

/* ... or if they all stand in the first or in the last records, beside more values of a type */
#define EDGE_RECORDS	3
#define LEAST_OTHERS	3

#define BIT(form)		CSV_FORM_BIT(CSV_FORM_ ## form)
#define ODD_NUMBERS		CSV_FORMS(CSV_FIRST_ODD_NUMBER, CSV_NUM_FORMS - 1)
#define ALL_WHEN_FORMS	CSV_FORMS(CSV_FORM_DATE, CSV_LAST_WHEN)

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
		if (first < 0 || evidence->first[form].record < evidence->first[first].record)
			first = form;
		*last = Max(*last, evidence->seen[form].last);
	}
	return first;
}

/* the first value of a form, for a message */
static char *
shown(const CsvEvidence *evidence, int form)
{
	const CsvFirst *first = &evidence->first[form];

	return csv_quoted_text(pnstrdup(first->text,
									pg_mbcliplen(first->text, first->nbytes, SHOWN_BYTES)));
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
		return psprintf("%s %s", shown(evidence, odd), oddity_of(odd));
	if (csv_are_codes(evidence))
		return psprintf("%s may be a code or a number",
						shown(evidence, CSV_FORM_EXPONENT_BARE));
	if (csv_evidence_all(evidence, BIT(DATE) | BIT(TIMESTAMP) | BIT(TIMESTAMPTZ)) &&
		csv_evidence_count(evidence, BIT(TIMESTAMPTZ)) * ODD_ONE_IN > evidence->nvalues)
		return psprintf("%s has a time zone, and other values have none",
						shown(evidence, CSV_FORM_TIMESTAMPTZ));
	if (csv_evidence_all(evidence, CSV_WHEN_FORMS) &&
		csv_evidence_has(evidence, CSV_FORM_DAY_FIRST) &&
		csv_evidence_has(evidence, CSV_FORM_MONTH_FIRST))
		return psprintf("%s has the day first, and %s the month",
						shown(evidence, CSV_FORM_DAY_FIRST), shown(evidence, CSV_FORM_MONTH_FIRST));
	when = find_first(evidence, CSV_WHEN_FORMS | BIT(DAYS), &last);
	if (when >= 0 && csv_evidence_count(evidence, ALL_WHEN_FORMS) > 0 &&
		csv_evidence_all(evidence, ALL_WHEN_FORMS | BIT(DAYS)))
		return psprintf(csv_evidence_fact(evidence, CSV_FACT_SHORT_YEAR) ?
						"%s may be a date of several orders, or a version" :
						"%s has another form than other dates", shown(evidence, when));
	if (csv_evidence_all(evidence, CSV_NUMBER_FORMS) &&
		!csv_evidence_all(evidence, csv_likely_number_forms(evidence)))
		return psprintf("%s has other separators than other values",
						shown(evidence, find_first(evidence, ~csv_likely_number_forms(evidence),
												   &last)));
	if (!findings->given.decimal && !findings->given.thousands &&
		csv_evidence_count(evidence, CSV_FORMS(CSV_FORM_EITHER, CSV_FORM_EITHER_COMMA)) == 0 &&
		!csv_evidence_all(evidence, numbers) && csv_is_number_otherwise(findings, evidence))
		return psprintf("%s has other separators than numbers of the table",
						shown(evidence, find_first(evidence, ~numbers, &last)));
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
		  evidence->first[odd].record >= findings->nrecords - EDGE_RECORDS)) ? odd : -1;
}

void
csv_tell_odd(const CsvFindings *findings, CsvNumberReading reading)
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
		const CsvEvidence *evidence = &column->evidence;
		Type		type;
		int			first;
		int64		nodd;
		char	   *reason;

		CHECK_FOR_INTERRUPTS();
		if (column->type != TEXTOID || evidence->nvalues == 0)
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
							 shown(evidence, first));
	}
	if (nreasons > 0)
		ereport(NOTICE,
				(errmsg("using type text for columns of \"%s\" whose values look like numbers or dates",
						findings->table->filename),
				 errdetail_internal("%s", reasons.data),
				 errhint("Where an option such as \"date_format\" or \"decimal_separator\" says how to read them, add it to IMPORT FOREIGN SCHEMA. A view can convert other values.")));
	if (nodds > 0)
		ereport(NOTICE,
				(errmsg("columns of \"%s\" are text for a few of their values",
						findings->table->filename),
				 errdetail_internal("%s", odd.data),
				 errhint("To read such a value as NULL, add OPTIONS (null_values '...') to IMPORT FOREIGN SCHEMA. To skip such records, give the column its type by ALTER FOREIGN TABLE; with \"on_error\" 'set_null', they stay, with NULL. \"footer_rows\" leaves out records at the end.")));
}
