/*
 * separators.c
 *		How the numbers of a table are read.
 *
 * A table has one decimal separator, and one separator of thousands or none.  All
 * columns together decide which, after the whole file was read.  A value such as
 * 1.234,5 proves both; 1.234 may be either, and 601 234 567 may be a phone.  Where the
 * evidence is divided, a column is text, or a NOTICE tells the assumption.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "import/types.h"

/* whole numbers, and forms that are equal with any separators */
#define WHOLE_FORMS		(CSV_FORM_BIT(CSV_FORM_INTEGER) | CSV_FORM_BIT(CSV_FORM_DAYS))
#define COMMON_FORMS	(WHOLE_FORMS | CSV_FORMS(CSV_FORM_EXPONENT_SIGNED, CSV_FORM_NOT_FINITE))

/* numbers with thousands for which another number's decimals are proof */
#define LEAST_PROOF		50

/* how sure are numbers? */
typedef enum Proof
{
	PROOF_NONE,
	PROOF_LIKELY,				/* to be told */
	PROOF_SURE
} Proof;

/* a mark of one of two forms: with a point, or a comma */
static uint64
by_mark(CsvForm with_point, char mark)
{
	return CSV_FORM_BIT(with_point + (mark == ','));
}

/* forms that have the reading's decimal separator beyond doubt */
static uint64
decimal_forms(CsvNumberReading reading)
{
	uint64		forms = by_mark(CSV_FORM_DECIMAL, reading.decimal) |
		by_mark(CSV_FORM_EXPONENT, reading.decimal);

	if (reading.thousands != CSV_NO_SEPARATOR)
		forms |= CSV_FORM_BIT((reading.decimal == ',' ? CSV_FORM_GROUPED_DECIMAL_COMMA :
							   CSV_FORM_GROUPED_DECIMAL) + reading.thousands);
	return forms;
}

uint64
csv_grouped_forms(CsvNumberReading reading)
{
	uint64		forms = 0;

	if (reading.thousands == CSV_NO_SEPARATOR)
		return 0;
	if (reading.thousands == CSV_SEPARATOR_POINT)
		forms = CSV_FORM_BIT(CSV_FORM_EITHER);
	if (reading.thousands == CSV_SEPARATOR_COMMA)
		forms = CSV_FORM_BIT(CSV_FORM_EITHER_COMMA);
	return forms | CSV_FORM_BIT(CSV_FORM_GROUPED + reading.thousands) |
		CSV_FORM_BIT((reading.decimal == ',' ? CSV_FORM_GROUPED_DECIMAL_COMMA :
					  CSV_FORM_GROUPED_DECIMAL) + reading.thousands);
}

uint64
csv_number_forms(CsvNumberReading reading)
{
	return COMMON_FORMS | decimal_forms(reading) | csv_grouped_forms(reading) |
		by_mark(CSV_FORM_EITHER, reading.decimal);
}

/* do the digits between separators of a column's values make numbers? */
static Proof
prove_groups(const CsvFindings *findings, const CsvEvidence *evidence,
			 CsvNumberReading reading)
{
	const bool	is_mark = reading.thousands <= CSV_SEPARATOR_POINT;
	const uint32 most = csv_evidence_most(evidence, CSV_MOST_SEPARATORS);
	const uint32 least = csv_evidence_least(evidence, CSV_LEAST_SEPARATORS);
	const bool	varies = csv_evidence_least(evidence, CSV_LEAST_DIGITS) <
		csv_evidence_most(evidence, CSV_MOST_DIGITS);
	const bool	long_ungrouped = csv_evidence_fact(evidence, CSV_FACT_LONG_UNGROUPED);

	if (reading.thousands == CSV_SEPARATOR_GIVEN ||
		csv_evidence_fact(evidence, CSV_FACT_NEGATIVE_GROUP))
		return PROOF_SURE;

	/* a single 2,5 beside thousands of 1.234 proves little */
	if (csv_evidence_count(evidence, decimal_forms(reading)) > 0)
		return csv_evidence_count(evidence, decimal_forms(reading)) * LEAST_PROOF >=
			csv_evidence_count(evidence, csv_grouped_forms(reading)) ?
			PROOF_SURE : PROOF_LIKELY;

	/*
	 * Addresses, phones and versions have as many groups, register numbers as many digits,
	 * and three digits may be first in every value of a list.
	 */
	if (csv_evidence_least(evidence, CSV_LEAST_LEAD) >= 3)
		return PROOF_NONE;
	if (most > 1)
		return least == most || !varies ? PROOF_NONE :
			least > 0 || long_ungrouped ? PROOF_LIKELY : PROOF_SURE;
	if (long_ungrouped)
		return PROOF_NONE;
	if (is_mark)
		return reading.thousands == CSV_SEPARATOR_COMMA &&
			findings->table->reader.dialect.delimiter != ';' &&
			csv_evidence_count(evidence, csv_grouped_forms(reading)) >= 2 ?
			PROOF_LIKELY : PROOF_NONE;
	return varies ? PROOF_LIKELY : PROOF_NONE;
}

/* are all values numbers by the reading, and does one prove it? */
static bool
is_proof(const CsvFindings *findings, const CsvEvidence *evidence, CsvNumberReading reading)
{
	if (!csv_evidence_all(evidence, csv_number_forms(reading)))
		return false;
	if (csv_evidence_count(evidence, csv_grouped_forms(reading)) > 0)
		return prove_groups(findings, evidence, reading) != PROOF_NONE;
	return csv_evidence_count(evidence, decimal_forms(reading)) > 0;
}

/* all readings one after the other, from FIRST_READING on; false at the end */
#define FIRST_READING	{',', CSV_NO_SEPARATOR - 1}

static bool
next_reading(CsvNumberReading *reading)
{
	do
	{
		reading->thousands += reading->decimal == ',';
		reading->decimal = reading->decimal == ',' ? '.' : ',';
	} while (reading->thousands >= 0 && reading->thousands < CSV_SEPARATOR_GIVEN &&
			 *csv_separators[reading->thousands] == reading->decimal);
	return reading->thousands < CSV_NUM_SEPARATORS;
}

/* may the table have this reading? */
static bool
is_possible(const CsvTable *table, CsvNumberReading reading, CsvGiven given)
{
	const char *separator = reading.thousands == CSV_NO_SEPARATOR ? "" :
		reading.thousands == CSV_SEPARATOR_GIVEN ? table->thousands_separator :
		csv_separators[reading.thousands];

	if (given.thousands != (reading.thousands == CSV_SEPARATOR_GIVEN) ||
		(given.decimal && reading.decimal != table->decimal_separator))
		return false;
	if (given.thousands)
		return *separator != reading.decimal;
	return (*separator == '\0' || *separator != (char) table->reader.dialect.quote) &&
		(!IS_HIGHBIT_SET(*separator) || GetDatabaseEncoding() == PG_UTF8);
}

CsvNumberReading
csv_choose_reading(const CsvFindings *findings)
{
	const CsvGiven given = findings->given;
	CsvTable   *table = findings->table;
	CsvNumberReading best = {0, CSV_NO_SEPARATOR};
	CsvNumberReading reading = FIRST_READING;
	uint32		most = 0;

	while (next_reading(&reading))
	{
		uint32		n = 0;

		CHECK_FOR_INTERRUPTS();
		if (!is_possible(table, reading, given))
			continue;
		for (uint32 i = 0; i < findings->ncolumns; i++)
			n += is_proof(findings, findings->columns[i].evidence, reading);
		if (best.decimal != 0 && n <= most)
			continue;
		most = n;
		best = reading;
	}
	table->decimal_separator = best.decimal;
	if (best.thousands != CSV_NO_SEPARATOR && !given.thousands)
		table->thousands_separator = pstrdup(csv_separators[best.thousands]);
	return best;
}

bool
csv_are_codes(const CsvEvidence *evidence)
{
	const uint64 bare = CSV_FORM_BIT(CSV_FORM_EXPONENT_BARE);

	return csv_evidence_count(evidence, bare) > 0 &&
		csv_evidence_all(evidence, csv_evidence_fact(evidence, CSV_FACT_CAPITAL_E) ?
						 bare | WHOLE_FORMS : bare);
}

bool
csv_is_number_otherwise(const CsvFindings *findings, const CsvEvidence *evidence)
{
	CsvNumberReading reading = FIRST_READING;

	while (next_reading(&reading))
		if (reading.thousands != CSV_SEPARATOR_GIVEN && is_proof(findings, evidence, reading))
			return true;
	return false;
}

uint64
csv_likely_number_forms(const CsvEvidence *evidence)
{
	CsvNumberReading reading = FIRST_READING;
	uint64		best = 0;

	while (next_reading(&reading))
		if (csv_evidence_count(evidence, csv_number_forms(reading)) >
			csv_evidence_count(evidence, best))
			best = csv_number_forms(reading);
	return best;
}

/* ---- each column ---- */

/* the first column that proves this decimal separator; NULL: there is none */
static const CsvFoundColumn *
find_proof(const CsvFindings *findings, char decimal)
{
	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		const CsvEvidence *evidence = findings->columns[i].evidence;
		CsvNumberReading reading = FIRST_READING;

		while (next_reading(&reading))
			if (reading.decimal == decimal &&
				csv_evidence_count(evidence, decimal_forms(reading)) > 0 &&
				csv_evidence_all(evidence, csv_number_forms(reading)))
				return &findings->columns[i];
	}
	return NULL;
}

/* NOTICE of a column whose points (or commas) have no certain meaning */
static void
tell_undecided(const CsvFindings *findings, const CsvFoundColumn *column,
			   const CsvFoundColumn *other, char point)
{
	ereport(NOTICE,
			(errmsg("column \"%s\" of \"%s\" is text: each \"%c\" in it may be decimal or separate thousands",
					column->name, findings->table->filename, point),
			 other == NULL ? 0 :
			 errdetail("Column \"%s\" has \"%c\" as its decimal separator.",
					   other->name, point == '.' ? ',' : '.'),
			 other != NULL && point != findings->table->decimal_separator ?
			 errhint("If it separates thousands, add OPTIONS (thousands_separator '%c', decimal_separator '%c') to IMPORT FOREIGN SCHEMA.",
					 point, point == '.' ? ',' : '.') :
			 errhint("If it is decimal, add OPTIONS (decimal_separator '%c') to IMPORT FOREIGN SCHEMA; if it separates thousands, OPTIONS (thousands_separator '%c', decimal_separator '%c').",
					 point, point, point == '.' ? ',' : '.')));
}

/* NOTICE of an assumption about a column */
static void
tell_assumed(const CsvFindings *findings, const CsvFoundColumn *column, const char *separator,
			 bool is_decimal)
{
	if (is_decimal)
		ereport(NOTICE,
				(errmsg("assuming \"%s\" as decimal separator in column \"%s\" of \"%s\"",
						separator, column->name, findings->table->filename),
				 errhint("If it separates thousands, add OPTIONS (thousands_separator '%s', decimal_separator '%s') to IMPORT FOREIGN SCHEMA. If the values are not numbers, change the type of the column to text.",
						 separator, *separator == '.' ? "," : ".")));
	else
		ereport(NOTICE,
				(errmsg("assuming \"%s\" as thousands separator in column \"%s\" of \"%s\"",
						separator, column->name, findings->table->filename),
				 strcmp(separator, ",") == 0 ?
				 errhint("If it is decimal, add OPTIONS (decimal_separator '%s') to IMPORT FOREIGN SCHEMA.",
						 separator) :
				 errhint("If the values are not numbers, change the type of the column to text.")));
}

/* what all columns say of the reading */
typedef struct Settling
{
	const CsvFindings *findings;
	CsvNumberReading reading;
	const CsvFoundColumn *ours; /* proves the decimal separator; NULL: none */
	const CsvFoundColumn *other;	/* proves the other separator; NULL: none */
} Settling;

/*
 * All points of the column may be decimal, or separate thousands.  Programs write
 * decimals in a fixed number, or without zeros at their end.
 */
static bool
settle_decimals(const Settling *settling, const CsvFoundColumn *column)
{
	const CsvFindings *findings = settling->findings;
	const CsvEvidence *evidence = column->evidence;
	const char	point[] = {settling->reading.decimal, '\0'};
	const uint8_t delimiter = findings->table->reader.dialect.delimiter;
	const bool	surely = csv_evidence_fact(evidence, CSV_FACT_LONG_UNGROUPED);
	const bool	like_decimals = surely ||
		!csv_evidence_fact(evidence, CSV_FACT_ZERO_AT_END) ||
		csv_evidence_count(evidence, WHOLE_FORMS) == 0;

	if (settling->other == NULL && like_decimals && (*point == '.' || delimiter != ',') &&
		(surely || settling->ours != NULL ||
		 (delimiter == ',' && findings->ncolumns > 1)))
		return true;
	if (settling->other != NULL || !like_decimals || delimiter == ';')
	{
		tell_undecided(findings, column, settling->other, *point);
		return false;
	}
	tell_assumed(findings, column, point, true);
	return true;
}

/* the values have separators of thousands */
static bool
settle_groups(const Settling *settling, const CsvFoundColumn *column)
{
	const CsvFindings *findings = settling->findings;
	const int	thousands = settling->reading.thousands;
	const bool	one = csv_evidence_most(column->evidence, CSV_MOST_SEPARATORS) <= 1;
	Proof		proof = prove_groups(findings, column->evidence, settling->reading);

	if (proof == PROOF_SURE)
		return true;
	if (proof == PROOF_NONE && !one)
		return false;
	tell_assumed(findings, column, csv_separators[thousands], false);
	return true;
}

void
csv_settle_numbers(const CsvFindings *findings, CsvNumberReading reading, bool *are_numbers)
{
	const CsvGiven given = findings->given;
	const char	other = reading.decimal == '.' ? ',' : '.';
	const uint64 others = by_mark(CSV_FORM_EITHER, other);
	const uint64 either = by_mark(CSV_FORM_EITHER, reading.decimal);
	Settling	settling = {.findings = findings, .reading = reading};

	settling.ours = find_proof(findings, reading.decimal);
	settling.other = find_proof(findings, other);
	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		const CsvFoundColumn *column = &findings->columns[i];
		const CsvEvidence *evidence = column->evidence;

		CHECK_FOR_INTERRUPTS();
		are_numbers[i] = csv_evidence_all(evidence, csv_number_forms(reading));
		if (are_numbers[i] && csv_evidence_count(evidence, csv_grouped_forms(reading)) > 0)
			are_numbers[i] = settle_groups(&settling, column);
		else if (are_numbers[i] && !given.decimal &&
				 csv_evidence_count(evidence, either) > 0 &&
				 csv_evidence_count(evidence, decimal_forms(reading)) == 0)
			are_numbers[i] = settle_decimals(&settling, column);

		/* a list of two whole numbers looks so, too */
		else if (are_numbers[i] && !given.decimal && reading.decimal == ',' &&
				 findings->table->reader.dialect.delimiter == ',' && findings->ncolumns > 1 &&
				 csv_evidence_count(evidence, decimal_forms(reading)) > 0)
			tell_assumed(findings, column, ",", true);
		else if (!are_numbers[i] && !given.decimal && !given.thousands &&
				 csv_evidence_count(evidence, others) > 0 &&
				 csv_evidence_all(evidence, others | WHOLE_FORMS))
			tell_undecided(findings, column, settling.ours, other);
	}
}
