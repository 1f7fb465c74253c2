/*
 * lenient.h
 *		A line whose quotes no dialect allows.
 *
 * With quoting 'lenient', the first line of a record with a quoting error is read once
 * more, by itself.  A quote at the start of a field opens a quoted field.  The field
 * ends at the first quote before a delimiter, before the line's end, or before blanks
 * and then one of these.  All other quotes are data, also doubled quotes: the program
 * that wrote the line did not double quotes.  If no quote ends the field, its first
 * quote is data, too.
 *
 *		line		"a "b", c" ,"5"", 6" pipe,"d
 *		fields		a "b	 c" 	5"	 6" pipe	"d
 *
 * (The quote behind b is the first quote before a delimiter.)  An escape that differs
 * from the quote keeps its meaning: it makes the quote or escape behind it data.
 *
 * Each byte is read only a few times, because if no quote ends one field, no quote ends
 * a later field of the line.  This header is C and CUDA C++.
 */
#ifndef CSV_LENIENT_H
#define CSV_LENIENT_H

#include "dialect.h"

/* may a quoted field end here, behind a quote, in a line that ends at `end`? */
CSV_INLINE bool
csv_lenient_is_over(const CsvDialectOptions *opt, const uint8_t *bytes, size_t pos,
					size_t end)
{
	while (pos < end && !csv_delimiter_at(opt, bytes, pos, end))
	{
		if (!csv_is_blank(bytes[pos]) || bytes[pos] == opt->quote)
			return false;
		pos++;
	}
	return true;
}

/* is there an escape here that differs from the quote, and escapes the next byte? */
CSV_INLINE bool
csv_lenient_is_escaped(const CsvDialectOptions *opt, const uint8_t *bytes, size_t pos,
					   size_t end)
{
	return opt->escape != opt->quote && bytes[pos] == opt->escape && pos + 1 < end &&
		(bytes[pos + 1] == opt->quote || bytes[pos + 1] == opt->escape);
}

/*
 * Look for the quote that ends a quoted field, from *pos on, in bytes before `until` of
 * a line that ends at `end`.  At first, *pos is behind the quote that opens the field.
 * Returns true and sets *pos behind the quote, if there is one.  Otherwise sets *pos to
 * where the search continues; that is `end` if the line has no such quote.
 */
CSV_INLINE bool
csv_lenient_close(const CsvDialectOptions *opt, const uint8_t *bytes, size_t *pos,
				  size_t until, size_t end)
{
	size_t		i = *pos;
	bool		found = false;

	while (i < until && !found)
		if (csv_lenient_is_escaped(opt, bytes, i, end))
			i += 2;
		else
		{
			found = bytes[i] == opt->quote &&
				csv_lenient_is_over(opt, bytes, i + 1, end);
			i++;
		}
	*pos = i;
	return found;
}

/*
 * The dialect with which csv_field_value() returns values of such a line.  (A field has
 * the same value by itself as in its line.)
 */
CSV_INLINE CsvDialect
csv_lenient_dialect(const CsvDialect *dialect)
{
	CsvDialect	lenient = *dialect;

	lenient.opt.quoting = CSV_QUOTING_LENIENT;
	return lenient;
}

#endif							/* CSV_LENIENT_H */
