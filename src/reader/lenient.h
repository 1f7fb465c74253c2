/*
 * lenient.h
 *		A line with quotes as no dialect has them.
 *
 * With quoting 'lenient', a record with a quoting error is read once more: its first line,
 * by itself.  A quote at the start of a field opens a quoted one, which ends at the first
 * quote that a delimiter, the line's end, or blanks and one of these follow.  Other
 * quotes are data, doubled ones, too: whoever wrote the line has not doubled quotes.  If
 * no such quote follows, the one that opens is data as well.
 *
 *		line		"a "b", c" ,"5"", 6" pipe,"d
 *		fields		a "b	 c" 	5"	 6" pipe	"d
 *
 * (The first quote that a delimiter follows is the one behind b.)  An escape that is not
 * the quote keeps its meaning: with what it escapes it stands for that, and ends no field.
 *
 * No byte is looked at more than a few times: if no quote ends one field, none ends a
 * later one of the line.  This header is C and CUDA C++.
 */
#ifndef CSV_LENIENT_H
#define CSV_LENIENT_H

#include "dialect.h"

/* may a quoted field of a line that ends at `end` be over here, behind a quote? */
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

/* does an escape other than the quote stand here, and what it escapes? */
CSV_INLINE bool
csv_lenient_is_escaped(const CsvDialectOptions *opt, const uint8_t *bytes, size_t pos,
					   size_t end)
{
	return opt->escape != opt->quote && bytes[pos] == opt->escape && pos + 1 < end &&
		(bytes[pos + 1] == opt->quote || bytes[pos + 1] == opt->escape);
}

/*
 * Look for the quote that ends a quoted field from *pos on, which is behind the quote
 * that opens it, in bytes before `until` of a line that ends at `end`.  If there is one,
 * *pos is left behind it; else where to look on, which is `end` if there is none.
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
 * The dialect by which csv_field_value() has the values of such a line's fields.  A field
 * by itself is the same as in its line.
 */
CSV_INLINE CsvDialect
csv_lenient_dialect(const CsvDialect *dialect)
{
	CsvDialect	lenient = *dialect;

	lenient.opt.quoting = CSV_QUOTING_LENIENT;
	return lenient;
}

#endif							/* CSV_LENIENT_H */
