/*
 * path.c
 *		Values in the directories of a file's path.
 */
#include "postgres.h"

#include <ctype.h>

#include "table/path.h"

static int
hex_digit(char c)
{
	if (isdigit((unsigned char) c))
		return c - '0';
	return isxdigit((unsigned char) c) ? (c | 0x20) - 'a' + 10 : -1;
}

/* replaces each %XX by its byte, except %00: Hive's strings contain no zero bytes */
static char *
decode(const char *text, size_t length)
{
	char	   *decoded = palloc(length + 1);
	size_t		n = 0;

	for (size_t i = 0; i < length; i++)
	{
		int			high = text[i] == '%' && i + 2 < length ?
			hex_digit(text[i + 1]) : -1;
		int			low = high >= 0 ? hex_digit(text[i + 2]) : -1;

		if (low < 0 || (high == 0 && low == 0))
		{
			decoded[n++] = text[i];
			continue;
		}
		decoded[n++] = (char) (high * 16 + low);
		i += 2;
	}
	decoded[n] = '\0';
	return decoded;
}

char *
csv_path_value(const char *path, const char *key)
{
	const char *found = NULL;
	size_t		length = 0;
	const char *end;

	for (const char *name = path; (end = strchr(name, '/')) != NULL;
		 name = end + 1)
	{
		const char *equals = memchr(name, '=', end - name);
		char	   *decoded;

		if (equals == NULL)
			continue;
		decoded = decode(name, equals - name);
		if (strcmp(decoded, key) == 0)
		{
			found = equals + 1;
			length = end - found;
		}
		pfree(decoded);
	}
	if (found == NULL || (length == strlen(CSV_PATH_NULL) &&
						  memcmp(found, CSV_PATH_NULL, length) == 0))
		return NULL;
	return decode(found, length);
}

char *
csv_path_key(const char *name)
{
	return decode(name, strchr(name, '=') - name);
}

bool
csv_is_path_key(const char *key)
{
	return *key != '\0' && strpbrk(key, "/=") == NULL;
}

char *
csv_directory_of(const char *path)
{
	char	   *directory = pstrdup(path);

	get_parent_directory(directory);
	return *directory != '\0' ? directory : pstrdup(".");
}
