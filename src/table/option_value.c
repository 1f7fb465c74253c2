/*
 * option_value.c
 *		Values of single options.
 */
#include "postgres.h"

#include <ctype.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "parser/scansup.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"

#include "reader/reader.h"
#include "table/option_value.h"

/* the values are searched one after the other */
#define MAX_NULL_VALUES		100

void
csv_refuse_value(const char *option, const char *value, const char *detail,
				 const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for option \"%s\": \"%s\"", option, value),
			 detail != NULL ? errdetail_internal("%s", detail) : 0,
			 hint != NULL ? errhint("%s", hint) : 0));
}

/* One of the words, in any case.  The error message follows COPY's for ON_ERROR. */
int
csv_option_word(DefElem *def, const CsvWord *words)
{
	char	   *value = defGetString(def);
	const CsvWord *word;
	StringInfoData valid_words;

	for (word = words; word->name != NULL; word++)
	{
		if (pg_strcasecmp(word->name, value) == 0)
			return word->value;
	}

	initStringInfo(&valid_words);
	for (word = words; word->name != NULL; word++)
		appendStringInfo(&valid_words, "%s\"%s\"",
						 valid_words.len > 0 ? ", " : "", word->name);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s \"%s\" not recognized", def->defname, value),
			 errhint("Valid values are: %s.", valid_words.data)));
	return 0;
}

/*
 * A number without sign, fraction or unit.  parse_int() is too lenient for counts: it
 * rounds, and reads 010 as eight.
 */
bool
csv_option_digits(const char *value, int64 *result)
{
	int64		number = 0;

	if (*value == '\0')
		return false;
	for (; *value != '\0'; value++)
	{
		if (!isdigit((unsigned char) *value))
			return false;
		if (number > (PG_INT64_MAX - (*value - '0')) / 10)
			return false;
		number = number * 10 + (*value - '0');
	}
	*result = number;
	return true;
}

int64
csv_option_count(DefElem *def, int step, int64 min, int64 max)
{
	char	   *value = defGetString(def);
	int64		result;

	if (!csv_option_digits(value, &result) || result < min || result > max ||
		result % step != 0)
		csv_refuse_value(def->defname, value,
						 psprintf("The value must be %s between %lld and %lld.",
								  step == 1 ? "an integer" :
								  psprintf("a multiple of %d", step),
								  (long long) min, (long long) max), NULL);
	return result;
}

/* a number of bytes, with units as in postgresql.conf */
int64
csv_option_size(DefElem *def, int64 max)
{
	char	   *value = defGetString(def);
	const char *hint = NULL;
	double		result = 0;
	/* parse_int() would report its own limit as the cause */
	bool		is_size = parse_real(value, &result, GUC_UNIT_BYTE, &hint);

	if (!is_size && hint == NULL)
		hint = "Write a number of bytes, or a number with a unit, such as \"64MB\".";
	if (!is_size || (result = rint(result)) < 1 || result > (double) max)
		csv_refuse_value(def->defname, value,
						 psprintf("The value must be between 1 and %lld bytes.",
								  (long long) max), hint == NULL ? NULL : _(hint));
	return (int64) result;
}

/* ERROR if a value has a line break */
static void
refuse_breaks(DefElem *def, const char *value)
{
	if (strpbrk(value, "\r\n") != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s cannot be newline or carriage return",
						def->defname)));
}

/*
 * One ASCII character, except a line break.  A file is split into fields without
 * regard to its encoding, so the character must be ASCII.
 */
uint8_t
csv_option_character(DefElem *def)
{
	char	   *value = defGetString(def);

	if (strlen(value) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s must be a single one-byte character",
						def->defname)));
	if (IS_HIGHBIT_SET(value[0]))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s must be an ASCII character", def->defname)));
	refuse_breaks(def, value);
	return (uint8_t) value[0];
}

/* a string of 1 to `most` bytes without line breaks */
static char *
short_string(DefElem *def, int most)
{
	char	   *value = defGetString(def);

	if (*value == '\0' || strlen(value) > most || strpbrk(value, "\r\n") != NULL)
		csv_refuse_value(def->defname, value,
						 psprintf("The value must have 1 to %d bytes, and no line breaks.",
								  most), NULL);
	return value;
}

char *
csv_option_delimiter(DefElem *def)
{
	char	   *value = defGetString(def);

	refuse_breaks(def, value);
	if (strcmp(value, "\\t") == 0)
		csv_refuse_value(def->defname, value, NULL, "Write a tab as E'\\t'.");
	return short_string(def, CSV_DELIMITER_BYTES);
}

char *
csv_option_comment(DefElem *def)
{
	return *defGetString(def) == '\0' ? NULL : short_string(def, CSV_COMMENT_BYTES);
}

/* a string that means NULL or the column's default */
char *
csv_option_marker(DefElem *def)
{
	char	   *value = defGetString(def);

	if (strpbrk(value, "\r\n") != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s representation cannot use newline or carriage return",
						def->defname)));
	return value;
}

/* the strings of a text[] literal */
List *
csv_option_strings(DefElem *def)
{
	char	   *literal = defGetString(def);
	Datum		array;
	List	   *values = NIL;
	Datum	   *elements;
	bool	   *isnull;
	int			nelements;

	/* array_in() would not name the option */
	if (literal[strspn(literal, " ")] != '{')
		csv_refuse_value(def->defname, literal, "The value must be an array.",
						 "Write braces around it, such as {NA,n/a}.");
	array = OidInputFunctionCall(F_ARRAY_IN, literal, TEXTOID, -1);
	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT,
					  &elements, &isnull, &nelements);
	if (nelements > MAX_NULL_VALUES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" has more than %d values",
						def->defname, MAX_NULL_VALUES)));
	for (int i = 0; i < nelements; i++)
	{
		char	   *value = isnull[i] ? "" : TextDatumGetCString(elements[i]);

		if (isnull[i] || strpbrk(value, "\r\n") != NULL ||
			strlen(value) > CSV_MAX_NULL_VALUE_BYTES)
			csv_refuse_value(def->defname, literal,
							 psprintf("Its values must not be NULL, have line breaks, or be longer than %d bytes.",
									  CSV_MAX_NULL_VALUE_BYTES),
							 isnull[i] ? "Write the word itself in quotes: {\"NULL\"}." : NULL);
		values = lappend(values, value);
	}
	return values;
}

/* one character, of any number of bytes, that cannot be part of a number itself */
char *
csv_option_thousands(DefElem *def)
{
	char	   *value = defGetString(def);

	if (*value == '\0' || pg_mblen(value) != (int) strlen(value) ||
		(!IS_HIGHBIT_SET(*value) && isalnum((unsigned char) *value)) ||
		strchr("+-\r\n", *value) != NULL)
		csv_refuse_value(def->defname, value,
						 "The value must be one character that is no letter, digit, sign or line break.",
						 NULL);
	return value;
}

char *
csv_option_pattern(DefElem *def)
{
	char	   *value = defGetString(def);

	if (*value == '\0' || *value == '/')
		csv_refuse_value(def->defname, value,
						 "The value must be a pattern of files in the directory, such as \"*.csv\".",
						 NULL);
	return value;
}

char *
csv_option_identifier(DefElem *def)
{
	char	   *value = pstrdup(defGetString(def));

	if (*value == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" must not be empty", def->defname)));
	truncate_identifier(value, (int) strlen(value), true);
	return value;
}
