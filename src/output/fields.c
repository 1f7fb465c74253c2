/*
 * fields.c
 *		Records of output: fields with their quotes.
 *
 * COPY TO writes the same bytes (copyto.c in PostgreSQL).
 */
#include "postgres.h"

#include <ctype.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "catalog/namespace.h"
#include "mb/pg_wchar.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "output/fields.h"

#define CSV_OUTPUT_PADDING	16

void
csv_output_begin(CsvOutputBytes *output, size_t capacity)
{
	output->length = 0;
	output->capacity = capacity;
	output->bytes = palloc(capacity);
}

void
csv_output_grow(CsvOutputBytes *output, size_t n)
{
	size_t		capacity = Max(output->capacity * 2, output->length + n);

	if (capacity > MaxAllocSize)
		capacity = output->length + n;
	/* a message to the frontend has no more bytes, either */
	if (capacity > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("out of memory"),
				 errdetail("Cannot enlarge string buffer containing %zu bytes by %zu more bytes.",
						   output->length, n)));
	output->bytes = repalloc(output->bytes, capacity);
	output->capacity = capacity;
}

/* may the byte be in numbers, dates and the like? */
static bool
is_of_values(char byte)
{
	return isalnum((unsigned char) byte) || strchr("+-.:/ ", byte) != NULL;
}

/* ---- bytes that need more than to be copied ---- */

/* in CSV: do these bytes need quotes? */
static inline bool
needs_quotes(const CsvOutputFormat *format, char byte)
{
	return byte == format->delimiter || byte == format->quote || byte == '\n' ||
		byte == '\r';
}

/* in quotes: does the byte need an escape? */
static inline bool
needs_escape(const CsvOutputFormat *format, char byte)
{
	return byte == format->quote || byte == format->escape;
}

/* in text: the byte that follows a backslash; 0: the byte needs no backslash */
static inline char
after_backslash(const CsvOutputFormat *format, char byte)
{
	switch (byte)
	{
		case '\b':
			return 'b';
		case '\f':
			return 'f';
		case '\n':
			return 'n';
		case '\r':
			return 'r';
		case '\t':
			return 't';
		case '\v':
			return 'v';
		default:
			return byte == '\\' || byte == format->delimiter ? byte : 0;
	}
}

typedef enum CsvSearch
{
	FOR_QUOTES,
	FOR_ESCAPES,
	FOR_BACKSLASHES
} CsvSearch;

static inline bool
is_found(const CsvOutputFormat *format, CsvSearch search, char byte)
{
	switch (search)
	{
		case FOR_QUOTES:
			return needs_quotes(format, byte);
		case FOR_ESCAPES:
			return needs_escape(format, byte);
		default:
			return after_backslash(format, byte) != 0;
	}
}

/* the next byte that is found, where characters may have ASCII in them */
static size_t
find_by_character(const CsvOutputFormat *format, CsvSearch search,
				  const char *bytes, size_t from, size_t n)
{
	while (from < n && !is_found(format, search, bytes[from]))
		from += IS_HIGHBIT_SET(bytes[from]) ?
			(size_t) pg_encoding_mblen(format->encoding, bytes + from) : 1;
	return Min(from, n);
}

#ifdef __SSE2__
/* candidates among 16 bytes, as bits */
static pg_attribute_always_inline uint32
find_candidates(const CsvOutputFormat *format, CsvSearch search,
				const char *bytes)
{
	/* CR is the last of the control characters that count */
	const __m128i last = _mm_set1_epi8('\r');
	__m128i		vector = _mm_loadu_si128((const __m128i *) bytes);
	__m128i		low = _mm_cmpeq_epi8(_mm_min_epu8(vector, last), vector);
	char		first = search == FOR_BACKSLASHES ? '\\' : format->quote;
	char		second = search == FOR_ESCAPES ? format->escape : format->delimiter;
	__m128i		hits = _mm_or_si128(_mm_cmpeq_epi8(vector, _mm_set1_epi8(first)),
									_mm_cmpeq_epi8(vector, _mm_set1_epi8(second)));

	if (search != FOR_ESCAPES)
		hits = _mm_or_si128(hits, low);
	return (uint32) _mm_movemask_epi8(hits);
}
#endif

/*
 * Returns the next byte that is found, or n.  is_padded: 16 bytes behind them can be
 * read, too.
 */
static pg_attribute_always_inline size_t
find(const CsvOutputFormat *format, CsvSearch search, const char *bytes,
	 size_t from, size_t n, bool is_padded)
{
	if (unlikely(format->embeds_ascii))
		return find_by_character(format, search, bytes, from, n);
#ifdef __SSE2__
	for (; is_padded ? from < n : n - from >= sizeof(__m128i);
		 from += sizeof(__m128i))
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
#endif
	while (from < n && !is_found(format, search, bytes[from]))
		from++;
	return Min(from, n);
}

/* ---- fields ---- */

static bool
is_ascii(const char *bytes, size_t n)
{
	const uint64 high = UINT64CONST(0x8080808080808080);
	uint64		word;

	for (; n >= sizeof(word); n -= sizeof(word), bytes += sizeof(word))
	{
		memcpy(&word, bytes, sizeof(word));
		if ((word & high) != 0)
			return false;
	}
	while (n > 0 && !IS_HIGHBIT_SET(bytes[n - 1]))
		n--;
	return n == 0;
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
	format->null_bytes = format->null;
	format->nnull_bytes = format->null_length;
	if (format->converts)
		format->null_bytes = convert(format, format->null, &format->nnull_bytes);
}

void
csv_output_format_begin(CsvOutputFormat *format, const CopyFormatOptions *options,
						int nfields)
{
	format->is_text = !options->csv_mode;
	format->delimiter = options->delim[0];
	if (options->csv_mode)
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
csv_output_null(CsvOutputBytes *output, const CsvOutputFormat *format)
{
	csv_output_bytes(output, format->null_bytes, format->nnull_bytes);
}

/* quotes, and escapes in them */
static void
add_quoted(CsvOutputBytes *output, const CsvOutputFormat *format,
		   const char *bytes, size_t n)
{
	size_t		from = 0;

	csv_output_byte(output, format->quote);
	while (from < n)
	{
		/* the byte after an escape is copied with the bytes that follow */
		size_t		at = find(format, FOR_ESCAPES, bytes, from, n, false);

		csv_output_bytes(output, bytes + from, at - from);
		if (at < n)
		{
			csv_output_byte(output, format->escape);
			csv_output_byte(output, bytes[at++]);
		}
		from = at;
	}
	csv_output_byte(output, format->quote);
}

/* with backslashes, from one on */
static void
add_text(CsvOutputBytes *output, const CsvOutputFormat *format,
		 const char *bytes, size_t n)
{
	for (size_t at = 0; at < n;)
	{
		size_t		from = at + 1;

		csv_output_byte(output, '\\');
		csv_output_byte(output, after_backslash(format, bytes[at]));
		at = find(format, FOR_BACKSLASHES, bytes, from, n, false);
		csv_output_bytes(output, bytes + from, at - from);
	}
}

static inline bool
is_null_text(const CsvOutputFormat *format, const char *bytes, size_t n)
{
	return n == format->null_length && memcmp(bytes, format->null, n) == 0;
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
csv_output_field(CsvOutputBytes *output, const CsvOutputFormat *format,
				 const char *bytes, size_t n, bool force_quote)
{
	bool		quotes = !format->is_text &&
		(force_quote || is_null_text(format, bytes, n));
	char	   *at;
	size_t		found;

	if (format->converts)
		bytes = convert(format, bytes, &n);
	/* most fields are only copied; in the output they are padded */
	at = csv_output_room(output, n + CSV_OUTPUT_PADDING);
	copy_short(at, bytes, n);
	if (unlikely(format->is_bare))
	{
		output->length += n;
		return;
	}
	found = format->is_text ? find(format, FOR_BACKSLASHES, at, 0, n, true) :
		quotes ? 0 : find(format, FOR_QUOTES, at, 0, n, true);
	if (format->is_text)
	{
		output->length += found;
		add_text(output, format, bytes + found, n - found);
	}
	/* alone on its line, \. would be the end of the data */
	else if (quotes || found < n ||
			 (format->is_alone && n == 2 && memcmp(bytes, "\\.", 2) == 0))
		add_quoted(output, format, bytes, n);
	else
		output->length += n;
}

void
csv_output_quote_plain(CsvOutputBytes *output, const CsvOutputFormat *format,
					   size_t start, bool force_quote)
{
	size_t		n = output->length - start;
	char	   *bytes;

	if (format->any_byte)
	{
		bytes = pnstrdup(output->bytes + start, n);
		output->length = start;
		csv_output_field(output, format, bytes, n, force_quote);
		return;
	}
	if (format->is_text ||
		!(force_quote || is_null_text(format, output->bytes + start, n)))
		return;
	(void) csv_output_room(output, 2);
	bytes = output->bytes + start;
	memmove(bytes + 1, bytes, n);
	bytes[0] = format->quote;
	bytes[n + 1] = format->quote;
	output->length += 2;
}
