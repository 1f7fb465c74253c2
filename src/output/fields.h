/*
 * fields.h
 *		Records of output: fields with their quotes.
 */
#ifndef CSV_FIELDS_H
#define CSV_FIELDS_H

#include "commands/copy.h"

/* bytes that wait to be written; grows, and lives in a memory context */
typedef struct CsvOutputBytes
{
	char	   *bytes;
	size_t		length;
	size_t		capacity;
} CsvOutputBytes;

/* how fields are written, as COPY TO writes them */
typedef struct CsvOutputFormat
{
	bool		is_text;		/* with backslashes, not with quotes ... */
	bool		is_bare;		/* ... or as they are */
	char		delimiter;		/* its first byte */
	char		quote;
	char		escape;
	const char *null;			/* in the database's encoding */
	size_t		null_length;
	int			encoding;		/* of the output */
	const char *null_bytes;		/* null, in that encoding */
	size_t		nnull_bytes;
	bool		converts;		/* from another encoding */
	bool		never_converts; /* there is no conversion: ERROR, even for ASCII */
	bool		embeds_ascii;	/* the encoding has ASCII in longer characters */
	bool		is_alone;		/* records have one field */
	bool		any_byte;		/* numbers and dates may need quotes, too */
} CsvOutputFormat;

/* set the options of COPY TO, and complete the format; nfields: of a record */
extern void csv_output_format_begin(CsvOutputFormat *format,
									const CopyFormatOptions *options, int nfields);

/*
 * Complete the format: encoding and all above it are set.  ERROR if NULL's text cannot
 * be converted.
 */
extern void csv_output_format_finish(CsvOutputFormat *format);

/* in the current memory context; capacity: at first, in bytes */
extern void csv_output_begin(CsvOutputBytes *output, size_t capacity);

/* make room for n more bytes; ERROR if that is too much memory */
extern void csv_output_grow(CsvOutputBytes *output, size_t n);

static inline char *
csv_output_room(CsvOutputBytes *output, size_t n)
{
	if (unlikely(output->capacity - output->length < n))
		csv_output_grow(output, n);
	return output->bytes + output->length;
}

static inline void
csv_output_byte(CsvOutputBytes *output, char byte)
{
	*csv_output_room(output, 1) = byte;
	output->length++;
}

static inline void
csv_output_bytes(CsvOutputBytes *output, const char *bytes, size_t n)
{
	memcpy(csv_output_room(output, n), bytes, n);
	output->length += n;
}

/* write NULL */
extern void csv_output_null(CsvOutputBytes *output,
							const CsvOutputFormat *format);

/*
 * Write a field, with quotes or backslashes where it needs them.  bytes: n bytes in the
 * database's encoding.  The current memory context must be short-lived.
 */
extern void csv_output_field(CsvOutputBytes *output,
							 const CsvOutputFormat *format, const char *bytes,
							 size_t n, bool force_quote);

/* for csv_output_plain(), if the field may need quotes */
extern void csv_output_quote_plain(CsvOutputBytes *output,
								   const CsvOutputFormat *format, size_t start,
								   bool force_quote);

/*
 * Complete a field of ASCII that begins at `start` in the output, where the caller has
 * written it: a number, a date and the like.
 */
static inline void
csv_output_plain(CsvOutputBytes *output, const CsvOutputFormat *format,
				 size_t start, bool force_quote)
{
	if (unlikely(force_quote || format->any_byte ||
				 output->length - start == format->null_length))
		csv_output_quote_plain(output, format, start, force_quote);
}

#endif							/* CSV_FIELDS_H */
