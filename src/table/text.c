/*
 * text.c
 *		Bytes of files and directories as text that the database can hold.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "table/text.h"

/*
 * The character at bytes in the server's encoding, with a zero byte behind it,
 * in `shown`.  Returns how many bytes it has of the nbytes that are there; 0 if
 * no text can hold it.
 */
static int
show_character(int encoding, const char *bytes, int nbytes, char *shown,
			   int room)
{
	int			to = GetDatabaseEncoding();
	int			length = 1;
	unsigned char character[MAX_MULTIBYTE_CHAR_LEN];
	Oid			proc;

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
	memcpy(character, bytes, length);
	proc = FindDefaultConversionProc(encoding, to);
	if (!OidIsValid(proc) ||
		pg_do_encoding_conversion_buf(proc, encoding, to, character, length,
									  (unsigned char *) shown, room,
									  true) != length)
		return 0;
	return length;
}

char *
csv_valid_text(int encoding, const char *bytes, uint64 nbytes,
			   uint64 max_bytes)
{
	StringInfoData text;
	uint64		pos = 0;

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

/* ---- names of files ---- */

static bool
is_valid(const char *filename)
{
	return pg_encoding_verifymbstr(GetDatabaseEncoding(), filename,
								   (int) strlen(filename)) ==
		(int) strlen(filename);
}

char *
csv_shown_filename(char *filename)
{
	return is_valid(filename) ? filename :
		csv_valid_text(GetDatabaseEncoding(), filename, strlen(filename),
					   MaxAllocSize);
}

bool
csv_check_filename(int elevel, char *filename)
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

bool
csv_is_ascii(const char *text, uint64 nbytes)
{
	for (uint64 i = 0; i < nbytes; i++)
		if (IS_HIGHBIT_SET(text[i]))
			return false;
	return true;
}
