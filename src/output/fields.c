/*
 * fields.c
 *		Records of output: fields with their quotes.
 *
 * COPY TO writes the same bytes (copyto.c in PostgreSQL).
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/namespace.h"
#include "mb/pg_wchar.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "compat.h"
#include "output/fields.h"
#include "reader/pair.h"

#define CSV_OUTPUT_PADDING	16

/* may the byte be in numbers, dates and the like? */
static bool
is_of_values(char byte)
{
	return isalnum((unsigned char) byte) || strchr("+-.:/ ", byte) != NULL;
}

/* ---- bytes that need more than to be copied ---- */

/* reasons to look for a byte: bits of CsvOutputFormat.special */
#define FOR_QUOTES		1		/* the field needs quotes */
#define FOR_ESCAPES		2		/* in quotes, the byte needs an escape */
#define FOR_BACKSLASHES	4		/* in text, the byte needs a backslash */

/* in text: the byte that follows a backslash; 0: the byte needs no backslash */
static char
after_backslash(const CsvOutputFormat *format, char byte)
{
	static const char controls[] = "\b\f\n\r\t\v";
	const char *control = byte != '\0' ? strchr(controls, byte) : NULL;

	if (control != NULL)
		return "bfnrtv"[control - controls];
	return byte == '\\' || byte == format->delimiter ? byte : 0;
}

static void
set_special(CsvOutputFormat *format)
{
	for (int i = 0; i < lengthof(format->special); i++)
	{
		char		byte = (char) i;
		bool		is_quote = byte == format->quote;

		format->special[i] = (uint8)
			((is_quote || byte == format->delimiter || byte == '\n' || byte == '\r' ?
			  FOR_QUOTES : 0) |
			 (is_quote || byte == format->escape ? FOR_ESCAPES : 0) |
			 (after_backslash(format, byte) != 0 ? FOR_BACKSLASHES : 0));
	}
}

static inline bool
is_found(const CsvOutputFormat *format, uint8 search, char byte)
{
	return (format->special[(unsigned char) byte] & search) != 0;
}

/* the next byte that is found, where characters may have ASCII in them */
static size_t
find_by_character(const CsvOutputFormat *format, uint8 search,
				  const char *bytes, size_t from, size_t n)
{
	while (from < n && !is_found(format, search, bytes[from]))
		from += IS_HIGHBIT_SET(bytes[from]) ?
			(size_t) pg_encoding_mblen(format->encoding, bytes + from) : 1;
	return Min(from, n);
}

/* candidates among 16 bytes, as bits */
static pg_attribute_always_inline uint32
find_candidates(const CsvOutputFormat *format, uint8 search,
				const char *bytes)
{
	CsvBytes	vector = (CsvBytes) csv_load_pair((const uint8 *) bytes);
	uint8		first = (uint8) (search == FOR_BACKSLASHES ? '\\' : format->quote);
	uint8		second = (uint8) (search == FOR_ESCAPES ? format->escape : format->delimiter);
	CsvPair		hits = (CsvPair) ((vector == first) | (vector == second));

	/* CR is the last of the control characters that count */
	if (search != FOR_ESCAPES)
		hits |= (CsvPair) (vector <= (uint8) '\r');
	return csv_pair_bits(hits);
}

/*
 * Returns the next byte that is found, or n.  is_padded: 16 bytes behind them can be
 * read, too.
 */
static pg_attribute_always_inline size_t
find(const CsvOutputFormat *format, uint8 search, const char *bytes,
	 size_t from, size_t n, bool is_padded)
{
	if (unlikely(format->embeds_ascii))
		return find_by_character(format, search, bytes, from, n);
	for (; is_padded ? from < n : n - from >= sizeof(CsvBytes); from += sizeof(CsvBytes))
	{
		uint32		mask = find_candidates(format, search, bytes + from);

		for (; mask != 0; mask &= mask - 1)
		{
			size_t		at = from + (size_t) pg_rightmost_one_pos32(mask);

			if (at >= n)
				return n;
			if (is_found(format, search, bytes[at]))
				return at;
		}
	}
	while (from < n && !is_found(format, search, bytes[from]))
		from++;
	return Min(from, n);
}

/* ---- fields ---- */

static bool
is_ascii(const char *bytes, size_t n)
{
	unsigned char all = 0;

	for (size_t i = 0; i < n; i++)
		all |= (unsigned char) bytes[i];
	return !IS_HIGHBIT_SET(all);
}

/* to the output's encoding; also checks what a database in SQL_ASCII has */
static const char *
convert(const CsvOutputFormat *format, const char *bytes, size_t *n)
{
	char	   *converted;

	if (is_ascii(bytes, *n) && !format->never_converts)
		return bytes;
	converted = pg_server_to_any(bytes, (int) *n, format->encoding);
	if (converted != bytes)
		*n = strlen(converted);
	return converted;
}

void
csv_output_format_finish(CsvOutputFormat *format)
{
	int			own = GetDatabaseEncoding();

	format->converts = format->encoding != own && format->encoding != PG_SQL_ASCII;
	format->never_converts = format->converts && own != PG_SQL_ASCII &&
		!OidIsValid(FindDefaultConversionProc(own, format->encoding));
	format->embeds_ascii = PG_ENCODING_IS_CLIENT_ONLY(format->encoding);
	format->any_byte = format->never_converts || is_of_values(format->delimiter) ||
		(!format->is_text && (is_of_values(format->quote) ||
							  is_of_values(format->escape)));
	set_special(format);
	format->null_bytes = format->null;
	format->nnull_bytes = format->null_length;
	if (format->converts)
		format->null_bytes = convert(format, format->null, &format->nnull_bytes);
}

void
csv_output_format_begin(CsvOutputFormat *format, const CopyFormatOptions *options,
						int nfields)
{
	format->is_text = !csv_copy_is_csv(options);
	format->delimiter = options->delim[0];
	if (csv_copy_is_csv(options))
	{
		format->quote = options->quote[0];
		format->escape = options->escape[0];
	}
	format->null = options->null_print;
	format->null_length = (size_t) options->null_print_len;
	format->encoding = options->file_encoding < 0 ? pg_get_client_encoding() :
		options->file_encoding;
	format->is_alone = nfields == 1;
	csv_output_format_finish(format);
}

void
csv_output_null(StringInfo output, const CsvOutputFormat *format)
{
	appendBinaryStringInfo(output, format->null_bytes, format->nnull_bytes);
}

/* bytes, with escapes in front of those that need them */
static pg_attribute_always_inline void
add_escaped(StringInfo output, const CsvOutputFormat *format, uint8 search,
			const char *bytes, size_t n)
{
	for (size_t from = 0, at; from < n; from = at + 1)
	{
		at = find(format, search, bytes, from, n, false);
		appendBinaryStringInfo(output, bytes + from, at - from);
		if (at == n)
			return;
		appendStringInfoChar(output, search == FOR_BACKSLASHES ? '\\' : format->escape);
		appendStringInfoChar(output, search == FOR_BACKSLASHES ?
							 after_backslash(format, bytes[at]) : bytes[at]);
	}
}

/* memcpy(), without a call for most fields */
static inline void
copy_short(char *to, const char *from, size_t n)
{
	uint64		first;
	uint64		last;

	if (n == 1)
		*to = *from;
	else if (n < sizeof(uint64) || n > 2 * sizeof(uint64))
		memcpy(to, from, n);
	else
	{
		memcpy(&first, from, sizeof(first));
		memcpy(&last, from + n - sizeof(last), sizeof(last));
		memcpy(to, &first, sizeof(first));
		memcpy(to + n - sizeof(last), &last, sizeof(last));
	}
}

void
csv_output_field(StringInfo output, const CsvOutputFormat *format,
				 const char *bytes, size_t n, bool force_quote)
{
	bool		quotes = force_quote ||
		(n == format->null_length && memcmp(bytes, format->null, n) == 0);
	char	   *at;
	size_t		found;

	if (format->converts)
		bytes = convert(format, bytes, &n);
	/* most fields are only copied; in the output they are padded */
	at = csv_output_room(output, n + CSV_OUTPUT_PADDING);
	copy_short(at, bytes, n);
	if (unlikely(format->is_bare))
		found = n;
	else if (format->is_text)
		found = find(format, FOR_BACKSLASHES, at, 0, n, true);
	/* alone on its line, \. would be the end of the data */
	else if (quotes || find(format, FOR_QUOTES, at, 0, n, true) < n ||
			 (format->is_alone && n == 2 && memcmp(bytes, "\\.", 2) == 0))
	{
		appendStringInfoChar(output, format->quote);
		add_escaped(output, format, FOR_ESCAPES, bytes, n);
		appendStringInfoChar(output, format->quote);
		return;
	}
	else
		found = n;
	output->len += found;
	if (found < n)
		add_escaped(output, format, FOR_BACKSLASHES, bytes + found, n - found);
}
