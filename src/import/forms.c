/*
 * forms.c
 *		Options for the forms that values have.
 *
 * Each column has seen all of its values by now (infer.c).  What is left to decide is
 * what one column's values do not tell: whether day or month comes first where both are
 * never above 12, whether eight digits are a date, and which words are NULL in the whole
 * table.
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "import/cell.h"
#include "import/forms.h"

/* that many values of eight digits are dates, whatever the column's name */
#define LEAST_DAYS	30

/* first of a month or not: to be seen in more values than a month that is counted has */
#define LEAST_MONTHS	13

/* ---- dates ---- */

/* is a date what the name speaks of? */
static bool
is_name_of_days(const char *name)
{
	static const char *const parts[] = {"date", "datum", "fecha", "yyyymmdd", "ymd"};
	static const char *const words[] = {"day", "dia", "jour", "tag", "data", "dato"};

	for (size_t i = 0; i < lengthof(parts); i++)
		if (strstr(name, parts[i]) != NULL)
			return true;
	for (size_t i = 0; i < lengthof(words); i++)
		if (strcmp(name, words[i]) == 0)
			return true;
	return false;
}

static void
find_days(const CsvTable *table, CsvFoundColumn *column)
{
	CsvInference *inference = &column->inference;

	inference->is_days = inference->family == CSV_FAMILY_NUMBER &&
		table->date_pattern == NULL && !inference->not_days && inference->any_finite &&
		inference->kept == 0 &&
		(inference->nvalues >= LEAST_DAYS || is_name_of_days(column->name));
}

static bool
is_of_two_orders(const CsvInference *inference)
{
	return inference->family == CSV_FAMILY_TIME && inference->not_iso &&
		inference->when.form == CSV_DATE_YEAR_LAST;
}

static bool
is_undecided(const CsvInference *inference)
{
	return is_of_two_orders(inference) && !inference->when.not_day_first &&
		!inference->when.not_month_first;
}

/* does the day come first, as far as usage tells? */
static bool
guess_day_first(const CsvTable *table, const CsvInference *inference)
{
	const CsvWhen *when = &inference->when;

	/* a value for each month, over more than a year */
	if (inference->nvalues >= LEAST_MONTHS && when->first_varies != when->second_varies)
	{
		if (when->first_varies && when->second == 1)
			return false;
		if (when->second_varies && when->first == 1)
			return true;
	}
	if (when->halves > 1)
		return false;
	return when->separator == '.' || when->separator == '-' ||
		table->reader.dialect.delimiter == ';' || table->decimal_separator == ',' ||
		DateOrder == DATEORDER_DMY;
}

static void
find_orders(CsvFindings *findings)
{
	bool		any_day_first = false;
	bool		any_month_first = false;

	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		const CsvInference *inference = &findings->columns[i].inference;

		any_day_first |= is_of_two_orders(inference) && inference->when.not_month_first;
		any_month_first |= is_of_two_orders(inference) && inference->when.not_day_first;
	}
	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		CsvFoundColumn *column = &findings->columns[i];
		CsvInference *inference = &column->inference;
		bool		day_first = !inference->when.not_day_first;

		CHECK_FOR_INTERRUPTS();
		if (!csv_inference_has_pattern(inference))
			continue;
		if (inference->is_days)
			column->pattern = "YYYYMMDD";
		else if (!is_undecided(inference))
			column->pattern = csv_when_pattern(&inference->when, day_first);
		else if (any_day_first != any_month_first)
			column->pattern = csv_when_pattern(&inference->when, any_day_first);
		else
		{
			day_first = guess_day_first(findings->table, inference);
			column->pattern = csv_when_pattern(&inference->when, day_first);
			ereport(NOTICE,
					(errmsg("that the %s comes first in column \"%s\" of \"%s\" is a guess: \"%s\"",
							day_first ? "day" : "month", column->name,
							findings->table->filename, column->pattern),
					 errhint("If it is wrong, set the option \"%s\".",
							 inference->when.any_time ? "timestamp_format" : "date_format")));
		}
	}
}

/* the pattern that all columns of a type have; NULL: there is none, or several */
static const char *
common_pattern(const CsvFindings *findings, Oid type)
{
	const char *common = NULL;

	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		const CsvFoundColumn *column = &findings->columns[i];
		int32		typmod;

		if (csv_inferred_type(&column->inference, &typmod) != type)
			continue;
		if (column->pattern == NULL ||
			(common != NULL && strcmp(common, column->pattern) != 0))
			return NULL;
		common = column->pattern;
	}
	return common;
}

/* ---- NULL ---- */

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
 * The words of all columns with a type are the table's.  A column of which one of them is
 * a value gets its own.
 */
static void
find_null_values(CsvFindings *findings)
{
	uint32		words = 0;

	for (uint32 i = 0; i < findings->ncolumns; i++)
		words |= csv_inference_missing(&findings->columns[i].inference);
	if (words == 0)
		return;
	findings->null_values = words_literal(words);
	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		CsvFoundColumn *column = &findings->columns[i];
		uint32		own = csv_inference_missing(&column->inference);

		CHECK_FOR_INTERRUPTS();
		column->force_null |= own != 0 && findings->any_quote;
		if ((csv_inference_kept(&column->inference) & words) != 0)
			column->null_values = words_literal(own);
		if (own >> CSV_FIRST_MISSING_NUMBER != 0)
			ereport(NOTICE,
					(errmsg("that numbers of column \"%s\" of \"%s\" stand for NULL is a guess: \"%s\"",
							column->name, findings->table->filename,
							words_literal(own >> CSV_FIRST_MISSING_NUMBER << CSV_FIRST_MISSING_NUMBER)),
					 errhint("If it is wrong, set the option \"null_values\".")));
	}
}

/* ---- all of them ---- */

void
csv_find_forms(CsvFindings *findings, CsvInferrer *inferrer)
{
	bool		any_grouped = false;
	int32		typmod;

	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		CsvFoundColumn *column = &findings->columns[i];
		CsvInference *inference = &column->inference;

		CHECK_FOR_INTERRUPTS();
		csv_infer_end(inferrer, inference);
		find_days(findings->table, column);
		column->force_null = csv_inference_forces_null(inference);
		any_grouped |= inference->ngrouped > 0 &&
			csv_inferred_type(inference, &typmod) != TEXTOID;
	}
	if (any_grouped)
		findings->thousands_separator = findings->table->thousands_separator;
	find_null_values(findings);
	find_orders(findings);
	findings->date_format = common_pattern(findings, DATEOID);
	findings->timestamp_format = common_pattern(findings, TIMESTAMPOID);
}
