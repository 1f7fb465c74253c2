/*
 * conversion.c
 *		Converts the bytes of a file as they are read.
 *
 * Bytes go through `raw`, and the converted bytes through `converted`.  Bytes that may
 * be the first part of a character stay in `raw` until more arrive.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "reader/utf16.h"
#include "table/conversion.h"
#include "table/text.h"

/*
 * Input of one conversion.  The output, which may be MAX_CONVERSION_GROWTH times as
 * long, still fits in a second-level cache.
 */
#define RAW_BYTES		(64 * 1024)
#define CONVERTED_BYTES	(RAW_BYTES * MAX_CONVERSION_GROWTH)

StaticAssertDecl(CSV_UTF16_GROWTH(RAW_BYTES) <= CONVERTED_BYTES,
				 "converted UTF-16 fits");

/* invalid in each server encoding to which client-only encodings convert */
#define INVALID_BYTE	0xFF

struct CsvConversion
{
	const char *name;			/* of the file */
	bool		big_endian;
	bool		grows;			/* an incomplete character at the end is left out */
	Oid			function;		/* of the server; not for UTF-16 */
	int			from;
	int			to;
	size_t		raw_start;		/* raw bytes not converted yet */
	size_t		raw_end;
	bool		raw_at_end;		/* no more bytes will come */
	size_t		start;			/* converted bytes not delivered yet */
	size_t		end;
	unsigned char raw[RAW_BYTES];
	unsigned char converted[CONVERTED_BYTES + 1];	/* with a zero byte at the end */
};

CsvConversion *
csv_conversion_create(MemoryContext context)
{
	CsvConversion *conversion =
		MemoryContextAlloc(context, sizeof(CsvConversion));

	conversion->from = conversion->to = CSV_FROM_UTF16;
	return conversion;
}

void
csv_conversion_begin(CsvConversion *conversion, int from, int to,
					 const char *name, bool big_endian, bool grows)
{
	if (from != CSV_FROM_UTF16 &&
		(from != conversion->from || to != conversion->to))
		conversion->function = csv_find_conversion(from, to);
	conversion->from = from;
	conversion->to = to;
	conversion->name = name;
	conversion->big_endian = big_endian;
	conversion->grows = grows;
	conversion->raw_start = conversion->raw_end = 0;
	conversion->raw_at_end = false;
	conversion->start = conversion->end = 0;
}

/*
 * Replaces the character at raw_start, which the conversion function has rejected, by
 * one byte.
 */
static void
replace_character(CsvConversion *conversion)
{
	unsigned char *bad = conversion->raw + conversion->raw_start;
	int			length = 1;

	if (*bad == '\0')
	{
		/* the reader reports zero bytes */
		conversion->converted[conversion->end++] = '\0';
	}
	else if (conversion->from == PG_UTF8 &&
			 pg_encoding_verifymbchar(PG_UTF8, (char *) bad,
									  conversion->raw_end - conversion->raw_start) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
				 errmsg("\"%s\" begins with the byte-order mark of UTF8, but has bytes that are not valid in it",
						conversion->name),
				 errhint("Take the mark away if the file is in encoding \"%s\", or make a table of such files with the option \"encoding\" '%s'.",
						 pg_encoding_to_char(conversion->to), "UTF8")));
	else if (conversion->from == PG_UTF8)
		ereport(ERROR,
				(errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
				 errmsg("\"%s\" is in %s, and has characters that are not in encoding \"%s\"",
						conversion->name, "UTF8", pg_encoding_to_char(conversion->to)),
				 errhint("Make a table of such files with the option \"encoding\" '%s'.", "UTF8")));
	else
	{
		/*
		 * A valid character without equivalent in the server's encoding is replaced as
		 * a whole, because its last byte may look like a delimiter.  A byte that
		 * begins no character is replaced alone.
		 */
		length = pg_encoding_verifymbchar(conversion->from, (char *) bad,
										  conversion->raw_end -
										  conversion->raw_start);
		length = Max(length, 1);
		conversion->converted[conversion->end++] = INVALID_BYTE;
	}
	conversion->raw_start += length;
}

/* is the character at raw_start longer than the bytes that are there? */
static bool
has_incomplete_character(const CsvConversion *conversion)
{
	const char *bytes = (const char *) conversion->raw + conversion->raw_start;

	return pg_encoding_mblen(conversion->from, bytes) >
		conversion->raw_end - conversion->raw_start;
}

/*
 * Converts the bytes in `raw` by the server's function, except an incomplete character
 * at the end.  `converted` is empty and has room for all of it: the function's output
 * and the replacements are at most MAX_CONVERSION_GROWTH times as long.
 */
static void
convert_by_function(CsvConversion *conversion)
{
	conversion->start = conversion->end = 0;
	while (conversion->raw_start < conversion->raw_end)
	{
		unsigned char *out = conversion->converted + conversion->end;

		conversion->raw_start +=
			pg_do_encoding_conversion_buf(conversion->function,
										  conversion->from, conversion->to,
										  conversion->raw + conversion->raw_start,
										  conversion->raw_end - conversion->raw_start,
										  out,
										  CONVERTED_BYTES + 1 - conversion->end,
										  true);

		/* the function stops at a zero byte, so strlen() finds its output */
		conversion->end += strlen((char *) out);

		/* it may have stopped because the rest of a character is missing */
		if (!conversion->raw_at_end &&
			conversion->raw_end - conversion->raw_start <
			MAX_CONVERSION_INPUT_LENGTH)
			return;
		if (conversion->raw_start == conversion->raw_end)
			return;
		if (conversion->grows && has_incomplete_character(conversion))
			conversion->raw_end = conversion->raw_start;
		else
			replace_character(conversion);
	}
}

/* converts the bytes in `raw`, except an incomplete character at the end */
static void
convert(CsvConversion *conversion)
{
	size_t		produced;

	if (conversion->from != CSV_FROM_UTF16)
	{
		convert_by_function(conversion);
		return;
	}
	conversion->raw_start +=
		csv_utf16_to_utf8(conversion->raw + conversion->raw_start,
						  conversion->raw_end - conversion->raw_start,
						  conversion->big_endian,
						  conversion->raw_at_end && !conversion->grows,
						  conversion->converted, &produced);
	if (conversion->raw_at_end)
		conversion->raw_start = conversion->raw_end;
	conversion->start = 0;
	conversion->end = produced;
}

size_t
csv_conversion_read(CsvConversion *conversion, CsvReadFn read, void *arg,
					uint8_t *buffer, size_t nbytes)
{
	while (conversion->start == conversion->end)
	{
		size_t		rest = conversion->raw_end - conversion->raw_start;

		if (conversion->raw_at_end && rest == 0)
			return 0;
		memmove(conversion->raw, conversion->raw + conversion->raw_start, rest);
		conversion->raw_start = 0;
		conversion->raw_end = rest;
		if (!conversion->raw_at_end)
		{
			size_t		nread = read(arg, conversion->raw + rest,
									 RAW_BYTES - rest);

			conversion->raw_end += nread;
			conversion->raw_at_end = nread == 0;
		}
		convert(conversion);
	}

	nbytes = Min(nbytes, conversion->end - conversion->start);
	memcpy(buffer, conversion->converted + conversion->start, nbytes);
	conversion->start += nbytes;
	return nbytes;
}
