/*
 * keys.c
 *		Names of directories, KEY=VALUE, as Hive writes them.
 */
#include "postgres.h"

#include <ctype.h>

#include "mb/pg_wchar.h"

#include "output/keys.h"
#include "table/path.h"

/*
 * Hive's list.  Bytes beyond ASCII stand for themselves in UTF-8 only, because other
 * programs take names for UTF-8.
 */
static bool
needs_escape(unsigned char byte)
{
	if (!IS_HIGHBIT_SET(byte) && isalnum(byte))
		return false;
	return byte < ' ' || byte == 0x7f ||
		(IS_HIGHBIT_SET(byte) && GetDatabaseEncoding() != PG_UTF8) ||
		strchr("\"#%'*/:=?\\[]^{}", byte) != NULL;
}

static void
add_escape(CsvOutputBytes *output, unsigned char byte)
{
	static const char hex[] = "0123456789ABCDEF";

	csv_output_byte(output, '%');
	csv_output_byte(output, hex[byte >> 4]);
	csv_output_byte(output, hex[byte & 15]);
}

static void
add_escaped(CsvOutputBytes *output, const char *text)
{
	for (; *text != '\0'; text++)
		if (needs_escape((unsigned char) *text))
			add_escape(output, (unsigned char) *text);
		else
			csv_output_byte(output, *text);
}

void
csv_key_name(CsvOutputBytes *output, const char *name)
{
	add_escaped(output, name);
	csv_output_byte(output, '=');
	csv_output_byte(output, '\0');
}

void
csv_key_value(CsvOutputBytes *output, const char *value)
{
	if (value == NULL)
		csv_output_bytes(output, CSV_PATH_NULL, strlen(CSV_PATH_NULL));
	else if (strcmp(value, CSV_PATH_NULL) == 0)
	{
		/* not NULL */
		add_escape(output, (unsigned char) *value);
		add_escaped(output, value + 1);
	}
	else
		add_escaped(output, value);
}
