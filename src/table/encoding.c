/*
 * encoding.c
 *		The option "encoding": PostgreSQL's encodings and UTF-16, for which
 *		PostgreSQL has no name.  And byte-order marks.
 */
#include "postgres.h"

#include <ctype.h>
#include <fcntl.h>
#include <unistd.h>

#include "mb/pg_wchar.h"
#include "storage/fd.h"

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

/* ---- byte-order marks ---- */

CsvUtf16
csv_marked_utf16(const uint8_t *bytes, size_t nbytes)
{
	if (nbytes >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		return CSV_UTF16_NOT_BUT_UTF8;
	if (nbytes >= 2 && bytes[0] == 0xff && bytes[1] == 0xfe)
		return CSV_UTF16_LITTLE;
	if (nbytes >= 2 && bytes[0] == 0xfe && bytes[1] == 0xff)
		return CSV_UTF16_BIG;
	return CSV_UTF16_NO;
}

static bool
is_marked_utf32(const uint8_t *bytes, size_t nbytes)
{
	return nbytes >= 4 && (memcmp(bytes, "\xff\xfe\0\0", 4) == 0 ||
						   memcmp(bytes, "\0\0\xfe\xff", 4) == 0);
}

CsvUtf16
csv_file_marked_utf16(const CsvRights *rights, const char *name)
{
	uint8_t		bytes[3];
	ssize_t		nread;
	int			fd;

	fd = OpenTransientFile(name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return CSV_UTF16_NO;
	csv_check_file(rights, name, fd);
	nread = read(fd, bytes, sizeof(bytes));
	CloseTransientFile(fd);
	return csv_marked_utf16(bytes, (size_t) Max(nread, 0));
}

void
csv_check_mark(const CsvTable *table, const char *name, const uint8_t *bytes, size_t nbytes)
{
	CsvUtf16	marked = csv_marked_utf16(bytes, nbytes);

	/* in other encodings the other marks may be characters; rows are not written in UTF-8 */
	if (table->utf16 == CSV_UTF16_NO && table->file_encoding != PG_UTF8 &&
		(marked != CSV_UTF16_NOT_BUT_UTF8 || !table->writable))
		return;
	if (is_marked_utf32(bytes, nbytes))
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("\"%s\" is in UTF-32, which csv_gpu_fdw does not read",
						name),
				 errhint("Convert it to UTF-8.")));
	if (marked == CSV_UTF16_NOT_BUT_UTF8 ? table->utf16 < CSV_UTF16_ANY &&
		(table->file_encoding == PG_UTF8 || !table->writable) :
		marked == CSV_UTF16_NO || table->utf16 == CSV_UTF16_ANY ||
		table->utf16 == marked ||
		(table->utf16 == CSV_UTF16_BY_MARK && table->encoding == PG_UTF8))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 errmsg("\"%s\" is in %s, not in encoding \"%s\"",
					name, csv_utf16_name(marked),
					csv_encoding_name(table)),
			 errhint("Set the option \"encoding\" of the table to \"%s\".",
					 csv_utf16_name(Min(marked, CSV_UTF16_ANY)))));
}
