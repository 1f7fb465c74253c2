/*
 * fields.h
 *		Records of output: fields with their quotes.
 */
#ifndef CSV_FIELDS_H
#define CSV_FIELDS_H

#include "commands/copy.h"
#include "lib/stringinfo.h"

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
	uint8		special[256];	/* of each byte: bits (fields.c) */
} CsvOutputFormat;

/* set the options of COPY TO, and complete the format; nfields: of a record */
extern void csv_output_format_begin(CsvOutputFormat *format,
									const CopyFormatOptions *options, int nfields);

/*
 * Complete the format: encoding and all above it are set.  ERROR if NULL's text cannot
 * be converted.
 */
extern void csv_output_format_finish(CsvOutputFormat *format);

/* make room for n more bytes behind the output, and return where they come */
static inline char *
csv_output_room(StringInfo output, size_t n)
{
	if (unlikely((size_t) (output->maxlen - output->len) <= n))
		enlargeStringInfo(output, (int) n);
	return output->data + output->len;
}

/* write NULL */
extern void csv_output_null(StringInfo output,
							const CsvOutputFormat *format);

/*
 * Write a field, with quotes or backslashes where it needs them.  bytes: n bytes in the
 * database's encoding.  The current memory context must be short-lived.
 */
extern void csv_output_field(StringInfo output,
							 const CsvOutputFormat *format, const char *bytes,
							 size_t n, bool force_quote);

/*
 * Complete a field of ASCII that begins at `start` in the output, where the caller has
 * written it: a number, a date and the like.
 */
static inline void
csv_output_plain(StringInfo output, const CsvOutputFormat *format,
				 size_t start, bool force_quote)
{
	size_t		n = output->len - start;

	if (unlikely(force_quote || format->any_byte || n == format->null_length))
	{
		output->len = (int) start;
		csv_output_field(output, format, pnstrdup(output->data + start, n), n,
						 force_quote);
	}
}

#endif							/* CSV_FIELDS_H */
