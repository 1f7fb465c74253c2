/*
 * encoding.c
 *		The option "encoding": PostgreSQL's encodings and UTF-16, for which
 *		PostgreSQL has no name.
 */
#include "postgres.h"

#include <ctype.h>

#include "mb/pg_wchar.h"

#include "table/encoding.h"

static const char *const utf16_names[] = {
	[CSV_UTF16_NOT_BUT_UTF8] = "UTF8",
	[CSV_UTF16_ANY] = "UTF16",
	[CSV_UTF16_LITTLE] = "UTF16LE",
	[CSV_UTF16_BIG] = "UTF16BE"
};

/* only letters and digits count, as in PostgreSQL's names of encodings */
static bool
is_name(const char *value, const char *name)
{
	for (; *value != '\0'; value++)
	{
		if (!isalnum((unsigned char) *value))
			continue;
		if (pg_toupper((unsigned char) *value) != (unsigned char) *name)
			return false;
		name++;
	}
	return *name == '\0';
}

void
csv_parse_encoding(const char *value, CsvTable *table)
{
	table->utf16 = CSV_UTF16_NO;
	for (int i = CSV_UTF16_ANY; i < (int) lengthof(utf16_names); i++)
		if (is_name(value, utf16_names[i]))
			table->utf16 = i;
	table->file_encoding = table->utf16 != CSV_UTF16_NO ? PG_UTF8 :
		pg_char_to_encoding(value);
	if (table->file_encoding < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument to option \"%s\" must be a valid encoding name",
						"encoding"),
				 errhint("Names are those of PostgreSQL, such as UTF8, LATIN1 or WIN1252, and UTF16, UTF16LE and UTF16BE.")));
}

const char *
csv_utf16_name(CsvUtf16 utf16)
{
	return utf16_names[utf16];
}

const char *
csv_encoding_name(const CsvTable *table)
{
	return table->utf16 >= CSV_UTF16_ANY ? csv_utf16_name(table->utf16) :
		pg_encoding_to_char(table->file_encoding);
}
