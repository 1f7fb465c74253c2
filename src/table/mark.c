/*
 * mark.c
 *		Byte-order marks.
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include "mb/pg_wchar.h"
#include "storage/fd.h"

#include "table/mark.h"
#include "table/text.h"

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
csv_file_marked_utf16(const char *name)
{
	uint8_t		bytes[3];
	ssize_t		nread;
	int			fd;

	fd = OpenTransientFile(name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return CSV_UTF16_NO;
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
