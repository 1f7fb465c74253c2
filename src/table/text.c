/*
 * text.c
 *		Bytes of files and directories as text that the database can hold.
 */
#include "postgres.h"

#include <ctype.h>
#include <limits.h>

#include "catalog/namespace.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "table/text.h"

/*
 * Converts a character from one encoding to another, with a zero byte behind it; false
 * if there is no function for this, or the other encoding does not have the character.
 */
static bool
convert_character(int from, int to, const char *character, int length, char *converted,
				  int room)
{
	Oid			proc = FindDefaultConversionProc(from, to);
	unsigned char copy[MAX_MULTIBYTE_CHAR_LEN];

	memcpy(copy, character, length);
	return OidIsValid(proc) &&
		pg_do_encoding_conversion_buf(proc, from, to, copy, length,
									  (unsigned char *) converted, room, true) == length;
}

/*
 * Converts the first character of nbytes bytes to the server's encoding, and stores it
 * in `shown`, with a zero byte behind it.  Returns its length in `bytes`, or 0 if text
 * cannot hold the character.
 */
static int
show_character(int encoding, const char *bytes, int nbytes, char *shown,
			   int room)
{
	int			to = GetDatabaseEncoding();
	int			length = 1;

	if (encoding == PG_SQL_ASCII)
		encoding = to;
	if (to == PG_SQL_ASCII)
		to = encoding;
	if (*bytes == '\0')
		return 0;
	if (IS_HIGHBIT_SET(*bytes))
		length = pg_encoding_verifymbchar(encoding, bytes, nbytes);
	if (length <= 0)
		return 0;
	if (encoding == to || !IS_HIGHBIT_SET(*bytes))
	{
		memcpy(shown, bytes, length);
		shown[length] = '\0';
		return length;
	}
	return convert_character(encoding, to, bytes, length, shown, room) ? length : 0;
}

char *
csv_valid_text(int encoding, const char *bytes, uint64 nbytes,
			   uint64 max_bytes)
{
	StringInfoData text;
	uint64		pos = 0;

	if (encoding == GetDatabaseEncoding() && nbytes <= Min(max_bytes, INT_MAX) &&
		pg_encoding_verifymbstr(encoding, bytes, (int) nbytes) == (int) nbytes)
		return pnstrdup(bytes, nbytes);
	initStringInfo(&text);
	while (pos < nbytes)
	{
		char		shown[MAX_CONVERSION_INPUT_LENGTH *
						  MAX_CONVERSION_GROWTH + 1];
		int			length =
			show_character(encoding, bytes + pos,
						   (int) Min(nbytes - pos, MAX_CONVERSION_INPUT_LENGTH),
						   shown, sizeof(shown));

		if (length == 0)
		{
			length = 1;
			snprintf(shown, sizeof(shown), "\\x%02x",
					 (unsigned char) bytes[pos]);
		}
		if (text.len + strlen(shown) > max_bytes)
			break;
		appendStringInfoString(&text, shown);
		pos += length;
	}
	return text.data;
}

/* ---- invisible characters ---- */

/* ranges of characters beyond ASCII, sorted */
static const struct
{
	uint32		from;
	uint32		to;
	CsvVisibility visibility;
}			unseen[] = {
	{0x80, 0x9f, CSV_CONTROL},
	{0xa0, 0xa0, CSV_BLANK}, {0xad, 0xad, CSV_ZERO_WIDTH}, {0x34f, 0x34f, CSV_ZERO_WIDTH},
	{0x61c, 0x61c, CSV_ZERO_WIDTH}, {0x115f, 0x1160, CSV_ZERO_WIDTH},
	{0x1680, 0x1680, CSV_BLANK}, {0x17b4, 0x17b5, CSV_ZERO_WIDTH},
	{0x180b, 0x180f, CSV_ZERO_WIDTH}, {0x2000, 0x200a, CSV_BLANK},
	{0x200b, 0x200f, CSV_ZERO_WIDTH}, {0x2028, 0x2029, CSV_CONTROL},
	{0x202a, 0x202e, CSV_ZERO_WIDTH}, {0x202f, 0x202f, CSV_BLANK},
	{0x205f, 0x205f, CSV_BLANK}, {0x2060, 0x206f, CSV_ZERO_WIDTH},
	{0x2800, 0x2800, CSV_BLANK}, {0x3000, 0x3000, CSV_BLANK},
	{0x3164, 0x3164, CSV_ZERO_WIDTH}, {0xfe00, 0xfe0f, CSV_ZERO_WIDTH},
	{0xfeff, 0xfeff, CSV_ZERO_WIDTH}, {0xffa0, 0xffa0, CSV_ZERO_WIDTH},
	{0xfff0, 0xfffb, CSV_ZERO_WIDTH}, {0x1d173, 0x1d17a, CSV_ZERO_WIDTH},
	{0xe0000, 0xe0fff, CSV_ZERO_WIDTH}
};

/* the code point of a character beyond ASCII; 0: none */
static uint32
code_point(const char *character, int length)
{
	int			encoding = GetDatabaseEncoding();
	char		utf8[MAX_MULTIBYTE_CHAR_LEN * MAX_CONVERSION_GROWTH + 1];

	if (encoding == PG_UTF8)
		return utf8_to_unicode((const unsigned char *) character);
	return encoding != PG_SQL_ASCII &&
		convert_character(encoding, PG_UTF8, character, length, utf8, sizeof(utf8)) ?
		utf8_to_unicode((const unsigned char *) utf8) : 0;
}

CsvVisibility
csv_visibility(const char *text, size_t nbytes, int *length, uint32 *code)
{
	*length = 1;
	*code = (unsigned char) *text;
	if (!IS_HIGHBIT_SET(*text))
		return *text == ' ' ? CSV_BLANK :
			*code < ' ' || *code == 0x7f ? CSV_CONTROL : CSV_VISIBLE;
	*length = Min(pg_mblen(text), (int) Min(nbytes, MAX_MULTIBYTE_CHAR_LEN));
	*code = code_point(text, *length);
	for (int i = 0; i < (int) lengthof(unseen) && unseen[i].from <= *code; i++)
		if (*code <= unseen[i].to)
			return unseen[i].visibility;
	return CSV_VISIBLE;
}

char *
csv_visible_text(const char *text, size_t nbytes, bool keep_lines)
{
	StringInfoData shown;
	int			length;

	initStringInfo(&shown);
	for (size_t i = 0; i < nbytes; i += (size_t) length)
	{
		uint32		code;
		CsvVisibility visibility = csv_visibility(text + i, nbytes - i, &length, &code);

		if (visibility == CSV_VISIBLE || visibility == CSV_BLANK ||
			(keep_lines && code == '\n'))
			appendBinaryStringInfo(&shown, text + i, length);
		else
			appendStringInfo(&shown, code < 0x80 ? "\\x%02x" : "\\u%04x", code);
	}
	return shown.data;
}

char *
csv_quoted_text(const char *text)
{
	return psprintf(strchr(text, '"') != NULL ? "%s" : "\"%s\"",
					csv_visible_text(text, strlen(text), false));
}

/* ---- names of files ---- */

static bool
is_valid(const char *filename)
{
	return pg_encoding_verifymbstr(GetDatabaseEncoding(), filename,
								   (int) strlen(filename)) ==
		(int) strlen(filename);
}

char *
csv_shown_filename(const char *filename)
{
	return is_valid(filename) ? unconstify(char *, filename) :
		csv_valid_text(GetDatabaseEncoding(), filename, strlen(filename),
					   MaxAllocSize);
}

bool
csv_check_filename(int elevel, const char *filename)
{
	if (is_valid(filename))
		return true;
	ereport(elevel,
			(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
			 errmsg("file \"%s\" was passed over: its name is not valid in encoding \"%s\"",
					csv_shown_filename(filename), GetDatabaseEncodingName()),
			 errhint("Rename it.")));
	return false;
}

Oid
csv_find_conversion(int from, int to)
{
	Oid			proc = FindDefaultConversionProc(from, to);

	if (!OidIsValid(proc))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("default conversion function for encoding \"%s\" to \"%s\" does not exist",
						pg_encoding_to_char(from), pg_encoding_to_char(to))));
	return proc;
}

/* ---- values in the directories of a file's path ---- */

static int
hex_digit(char c)
{
	if (isdigit((unsigned char) c))
		return c - '0';
	return isxdigit((unsigned char) c) ? (c | 0x20) - 'a' + 10 : -1;
}

char *
csv_decode_percent(const char *text, size_t length)
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
		decoded = csv_decode_percent(name, equals - name);
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
	return csv_decode_percent(found, length);
}

char *
csv_path_key(const char *name)
{
	return csv_decode_percent(name, strchr(name, '=') - name);
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

char *
csv_real_path(const char *filename)
{
	char	   *directory = csv_directory_of(filename);
	const char *slash = last_dir_separator(filename);
	char	   *real = realpath(filename, NULL);
	char	   *path;

	if (real != NULL)
		path = pstrdup(real);
	else
	{
		real = realpath(directory, NULL);
		path = psprintf("%s/%s", real != NULL ? real : directory,
						slash != NULL ? slash + 1 : filename);
	}
	free(real);
	pfree(directory);
	return path;
}
