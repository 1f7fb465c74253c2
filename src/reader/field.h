/*
 * field.h
 *		One field of a good record: unquoting, checks, limits.
 *
 * Both engines use these functions, or faster functions with the same results.  A
 * field is given as its content: the bytes between two separators, without the CRs
 * of a line break, with its quotes and escapes.
 *
 * This header is C and CUDA C++.
 */
#ifndef CSV_FIELD_H
#define CSV_FIELD_H

#include "reader.h"

/*
 * Find the value of a field, if its bytes are contiguous in the input.
 *
 * Sets [*start, *end) to the value's bytes, relative to `field`, and *quoted.
 * Returns false if the value is not contiguous (it has escapes or, under
 * 'postgres', quotes in the middle): then *start and *end have no meaning.
 */
CSV_INLINE bool
csv_field_plain(const CsvDialect *dialect, const uint8_t *field,
				uint64_t length, uint64_t *start, uint64_t *end, bool *quoted)
{
	uint8_t		quote = dialect->opt.quote;
	uint8_t		escape = dialect->opt.escape;

	*start = 0;
	*end = length;
	*quoted = false;
	if (dialect->opt.quoting == CSV_QUOTING_TEXT)
	{
		for (uint64_t i = 0; i < length; i++)
			if (field[i] == escape)
				return false;
		return true;
	}
	if (quote == 0 || length == 0)
		return true;
	if (field[0] != quote)
	{
		if (dialect->opt.quoting == CSV_QUOTING_RFC4180)
			return true;
		for (uint64_t i = 1; i < length; i++)
			if (field[i] == quote)
			{
				*quoted = true;
				return false;
			}
		return true;
	}
	*quoted = true;
	*start = 1;
	*end = length - 1;
	if (length < 2 || field[length - 1] != quote)
		return false;			/* "a"b under 'postgres' */
	for (uint64_t i = 1; i < length - 1; i++)
		if (field[i] == quote || field[i] == escape)
			return false;
	return true;
}

/*
 * Iterates over the bytes of the value of a field, without quotes and escapes.  The
 * field is of a good record, of less than 4 GB.  Quotes and escapes have the meaning
 * that they have in the dialect's table: a quote opens at the start of the field
 * (anywhere, under 'postgres'), and an escape has a meaning only inside quotes and
 * before a quote or an escape.  In text format, an escape and the bytes behind it stand
 * for one byte, as in COPY.
 */
typedef struct CsvUnquoter
{
	const uint8_t *field;
	uint32_t	length;
	uint32_t	next;
	uint8_t		quote;
	uint8_t		escape;
	bool		anywhere;
	bool		inside;
	bool		quoted;			/* a quote has opened */
	bool		text;
	bool		is_odd;			/* see csv_unescape() */
} CsvUnquoter;

CSV_INLINE CsvUnquoter
csv_unquoter(const CsvDialect *dialect, const uint8_t *field, uint64_t length)
{
	CsvUnquoter unquoter;

	unquoter.field = field;
	unquoter.length = (uint32_t) length;
	unquoter.next = 0;
	unquoter.quote = dialect->opt.quote;
	unquoter.escape = dialect->opt.escape;
	unquoter.anywhere = dialect->opt.quoting == CSV_QUOTING_POSTGRES;
	unquoter.inside = false;
	unquoter.quoted = false;
	unquoter.text = dialect->opt.quoting == CSV_QUOTING_TEXT;
	unquoter.is_odd = false;
	return unquoter;
}

/* the value of a digit in base 8 or 16; -1 if the byte is not a digit */
CSV_INLINE int
csv_digit_value(uint8_t byte, int base)
{
	uint8_t		letter = byte | 0x20;
	int			value = byte >= '0' && byte <= '9' ? byte - '0' :
		letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : base;

	return value < base ? value : -1;
}

/*
 * The byte for an escape sequence in text format.  `sequence` has the `available` bytes
 * behind the escape, one at least; *nbytes is set to how many belong to the sequence.
 * *is_odd is set if a number stands for a zero byte or for a byte beyond ASCII.
 */
CSV_INLINE uint8_t
csv_unescape(const uint8_t *sequence, uint64_t available, uint32_t *nbytes,
			 bool *is_odd)
{
	bool		is_hex = sequence[0] == 'x';
	uint32_t	first = is_hex;
	uint32_t	most = 3;		/* bytes: three octal digits, or x and two */
	uint32_t	n = first;
	uint32_t	value = 0;

	while (n < most && n < available)
	{
		int			digit = csv_digit_value(sequence[n], is_hex ? 16 : 8);

		if (digit < 0)
			break;
		value = value * (is_hex ? 16 : 8) + (uint32_t) digit;
		n++;
	}
	if (n > first)
	{
		*nbytes = n;
		*is_odd |= (uint8_t) value == 0 || (uint8_t) value >= 0x80;
		return (uint8_t) value;
	}
	*nbytes = 1;
	switch (sequence[0])
	{
		case 'b':
			return '\b';
		case 'f':
			return '\f';
		case 'n':
			return '\n';
		case 'r':
			return '\r';
		case 't':
			return '\t';
		case 'v':
			return '\v';
		default:
			return sequence[0];
	}
}

/* the next byte, or -1 */
CSV_INLINE int
csv_unquoter_next(CsvUnquoter *unquoter)
{
	while (unquoter->next < unquoter->length)
	{
		uint32_t	i = unquoter->next++;
		uint8_t		byte = unquoter->field[i];

		if (unquoter->text)
		{
			uint32_t	nbytes;

			if (byte != unquoter->escape)
				return byte;
			if (i + 1 == unquoter->length)
				break;			/* it escapes nothing */
			byte = csv_unescape(unquoter->field + i + 1, unquoter->length - i - 1,
								&nbytes, &unquoter->is_odd);
			unquoter->next += nbytes;
			return byte;
		}
		if (!unquoter->inside)
		{
			if (unquoter->quote != 0 && byte == unquoter->quote &&
				(i == 0 || unquoter->anywhere))
			{
				unquoter->inside = true;
				unquoter->quoted = true;
				continue;
			}
		}
		else if (byte == unquoter->escape && i + 1 < unquoter->length &&
				 (unquoter->field[i + 1] == unquoter->quote ||
				  unquoter->field[i + 1] == unquoter->escape))
			byte = unquoter->field[unquoter->next++];
		else if (byte == unquoter->quote)
		{
			unquoter->inside = false;
			continue;
		}
		return byte;
	}
	return -1;
}

/* the bytes from here on; see csv_unquote() */
CSV_INLINE uint64_t
csv_unquoter_rest(CsvUnquoter *unquoter, uint8_t *value)
{
	uint64_t	nbytes = 0;
	int			byte;

	while ((byte = csv_unquoter_next(unquoter)) >= 0)
	{
		if (value != NULL)
			value[nbytes] = (uint8_t) byte;
		nbytes++;
	}
	return nbytes;
}

/*
 * Remove quotes and escapes.  If `value` is NULL, the bytes are only counted.
 * Otherwise it must have room for them, and must not overlap `field`.  Returns the
 * number of bytes of the value.
 */
CSV_INLINE uint64_t
csv_unquote(const CsvDialect *dialect, const uint8_t *field, uint64_t length,
			uint8_t *value, bool *quoted)
{
	CsvUnquoter unquoter = csv_unquoter(dialect, field, length);
	uint64_t	nbytes = csv_unquoter_rest(&unquoter, value);

	*quoted = unquoter.quoted;
	return nbytes;
}

/*
 * Length of the UTF-8 sequence at p, before the end of the `available` bytes; 0 if it
 * is not valid.  As in PostgreSQL, overlong forms, surrogates, and characters beyond
 * U+10FFFF are not valid.  A zero byte is valid here.
 */
CSV_INLINE uint32_t
csv_utf8_sequence(const uint8_t *p, uint64_t available)
{
	uint8_t		lead = p[0];
	uint8_t		low = 0x80;
	uint8_t		high = 0xBF;
	uint32_t	length;

	if (lead < 0x80)
		return 1;
	if (lead < 0xC2)
		return 0;
	if (lead < 0xE0)
		length = 2;
	else if (lead < 0xF0)
	{
		length = 3;
		if (lead == 0xE0)
			low = 0xA0;
		else if (lead == 0xED)
			high = 0x9F;
	}
	else if (lead < 0xF5)
	{
		length = 4;
		if (lead == 0xF0)
			low = 0x90;
		else if (lead == 0xF4)
			high = 0x8F;
	}
	else
		return 0;
	if (available < length || p[1] < low || p[1] > high)
		return 0;
	for (uint32_t i = 2; i < length; i++)
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	return length;
}

/* does this byte begin a character, in valid UTF-8? */
CSV_INLINE bool
csv_utf8_begins(uint8_t byte)
{
	return (byte & 0xC0) != 0x80;
}

/*
 * The facts about a field that the checks need.  They come from the field's raw bytes:
 * quotes and escapes are ASCII, so the value is valid if the field is valid.  Only in
 * text format, escape sequences may stand for invalid bytes: then field and value must
 * both be valid.
 */
typedef struct CsvMeasure
{
	uint64_t	nbytes;			/* of the value */
	uint64_t	nchars;			/* of the value, if it is valid UTF-8 */
	bool		has_nul;
	bool		invalid_utf8;
	bool		beyond_ascii;
	bool		quoted;
} CsvMeasure;

/* check a value in text format that has odd escapes, and count its characters */
CSV_INLINE void
csv_measure_unescaped(CsvUnquoter unquoter, CsvMeasure *measure)
{
	uint8_t		window[4];		/* as long as the longest sequence */
	uint32_t	n = 0;

	measure->nchars = 0;
	for (;;)
	{
		uint32_t	sequence;
		int			byte;

		while (n < sizeof(window) && (byte = csv_unquoter_next(&unquoter)) >= 0)
			window[n++] = (uint8_t) byte;
		if (n == 0)
			break;
		measure->has_nul |= window[0] == 0;
		measure->beyond_ascii |= window[0] >= 0x80;
		sequence = csv_utf8_sequence(window, n);
		if (sequence == 0)
		{
			measure->invalid_utf8 = true;
			sequence = 1;
		}
		measure->nchars++;
		n -= sequence;
		for (uint32_t i = 0; i < n; i++)
			window[i] = window[i + sequence];
	}
}

/* byte by byte, for a device and as the reference; otherwise use csv_fast_measure() */
CSV_INLINE void
csv_field_measure(const CsvDialect *dialect, const uint8_t *field,
				  uint64_t length, CsvMeasure *measure)
{
	CsvUnquoter unquoter = csv_unquoter(dialect, field, length);
	CsvUnquoter begun = unquoter;
	uint64_t	nchars = 0;
	uint64_t	i = 0;

	measure->has_nul = false;
	measure->invalid_utf8 = false;
	measure->beyond_ascii = false;
	while (i < length)
	{
		uint32_t	sequence = csv_utf8_sequence(field + i, length - i);

		if (field[i] == 0)
			measure->has_nul = true;
		if (field[i] >= 0x80)
			measure->beyond_ascii = true;
		if (sequence == 0)
		{
			measure->invalid_utf8 = true;
			sequence = 1;
		}
		nchars++;
		i += sequence;
	}
	measure->nbytes = csv_unquoter_rest(&unquoter, NULL);
	measure->quoted = unquoter.quoted;
	measure->nchars = nchars - (length - measure->nbytes);
	if (unquoter.is_odd)
		csv_measure_unescaped(begun, measure);
}

#define CSV_NEEDS_BLANKS(column, nchars) \
	((column)->type_chars >= 0 && (nchars) > (uint64_t) (column)->type_chars)

/* as csv_field_verdict(), without the layout's bad_is_doubtful */
CSV_INLINE int
csv_field_error(const CsvColumn *column, int encoding,
				const CsvMeasure *measure, bool blanks_beyond,
				bool *doubtful, uint64_t *cut_chars)
{
	*doubtful = false;
	*cut_chars = UINT64_MAX;
	if (measure->has_nul)
		return CSV_ERROR_NUL_BYTE;
	if (encoding != CSV_ENCODING_UTF8 && measure->beyond_ascii)
	{
		*doubtful = true;
		return CSV_ERROR_NONE;
	}
	if (measure->invalid_utf8)
		return CSV_ERROR_INVALID_UTF8;
	if (column->max_chars >= 0 && measure->nchars > (uint64_t) column->max_chars)
		return CSV_ERROR_TOO_MANY_CHARS;
	if (CSV_NEEDS_BLANKS(column, measure->nchars))
	{
		if (blanks_beyond)
			*cut_chars = (uint64_t) column->type_chars;
		else if (column->max_chars < 0)
			return CSV_ERROR_TOO_MANY_CHARS;
		else
			*doubtful = true;
	}
	if (column->byte_width >= 0 && measure->nbytes > (uint64_t) column->byte_width)
		return CSV_ERROR_TOO_MANY_BYTES;
	return CSV_ERROR_NONE;
}

/*
 * The verdict on a measured value that is not NULL: CSV_ERROR_NONE or the
 * first error, in the order of CsvErrorCode.
 *
 * *doubtful is set if the engine cannot check the limits: the value has bytes beyond
 * ASCII in an encoding other than UTF-8, or it is longer than the type allows, but
 * max_chars overrides the type's limit.  If the layout has bad_is_doubtful, *doubtful
 * is set also instead of an error.
 *
 * *cut_chars is the number of characters to keep (blanks beyond are cut), or
 * UINT64_MAX.  blanks_beyond tells whether all characters beyond type_chars are blanks;
 * it is used only if there are such characters (CSV_NEEDS_BLANKS).
 */
CSV_INLINE int
csv_field_verdict(const CsvColumn *column, const CsvLayout *layout,
				  const CsvMeasure *measure, bool blanks_beyond,
				  bool *doubtful, uint64_t *cut_chars)
{
	int			code = csv_field_error(column, layout->encoding, measure,
									   blanks_beyond, doubtful, cut_chars);

	if (code == CSV_ERROR_NONE || !layout->bad_is_doubtful)
		return code;
	*doubtful = true;
	return CSV_ERROR_NONE;
}

/* to compare an unquoted field with the null (or default) string */
CSV_INLINE bool
csv_bytes_equal(const uint8_t *a, uint64_t a_length, const uint8_t *b,
				uint64_t b_length)
{
	if (a_length != b_length)
		return false;
	for (uint64_t i = 0; i < a_length; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* is an unquoted field one of the column's null_values? */
CSV_INLINE bool
csv_is_null_value(const CsvLayout *layout, const CsvColumn *column,
				  const uint8_t *field, uint64_t length)
{
	uint32_t	i = column->nulls_from;

	while (i < column->nulls_to)
	{
		uint32_t	nbytes = layout->null_values[i];

		if (csv_bytes_equal(field, length, layout->null_values + i + 1, nbytes))
			return true;
		i += 1 + nbytes;
	}
	return false;
}

/*
 * Which lengths of fields may be NULL: bit n % 64 is set if a field of n bytes may be
 * NULL, unquoted and without force_not_null.
 */
CSV_INLINE uint64_t
csv_null_lengths(const CsvLayout *layout, const CsvColumn *column)
{
	uint64_t	lengths = UINT64_C(1) << (layout->null_length & 63);
	uint32_t	i = column->nulls_from;

	while (i < column->nulls_to)
	{
		lengths |= UINT64_C(1) << (layout->null_values[i] & 63);
		i += 1 + (uint32_t) layout->null_values[i];
	}
	return lengths;
}

CSV_INLINE bool
csv_has_null_length(uint64_t null_lengths, uint64_t length)
{
	return (null_lengths >> (length & 63) & 1) != 0;
}

/* is an unquoted field, or a quoted value, with these bytes NULL in the column? */
CSV_INLINE bool
csv_is_null(const CsvLayout *layout, const CsvColumn *column,
			const uint8_t *bytes, uint64_t length)
{
	return csv_bytes_equal(bytes, length, layout->null_bytes, layout->null_length) ||
		csv_is_null_value(layout, column, bytes, length);
}

/* the header of a varlena of nbytes bytes (little-endian, 4-byte header) */
CSV_INLINE uint32_t
csv_varlena_header(uint32_t nbytes)
{
	return (nbytes + 4) << 2;
}

#endif							/* CSV_FIELD_H */
