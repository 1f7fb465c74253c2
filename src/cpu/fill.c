/*
 * fill.c
 *		Fills a column's array from any fields, one by one.
 *
 * A value of a common spelling takes the fast path.  Any other value takes the careful
 * path, which knows all rules.
 */
#include "fill.h"

#include <string.h>

#include "../reader/field.h"
#include "../reader/patterns.h"
#include "fast.h"

/* text is copied in steps of this many bytes */
#define CSV_COPY_BYTES	32

#define likely_(x)		__builtin_expect((x) != 0, 1)
#define unlikely_(x)	__builtin_expect((x) != 0, 0)

/* ---- bad values ---- */

void
csv_fill_bad_row(CsvBadRows *bad_rows, uint32_t row, CsvErrorCode code,
				 uint32_t where)
{
	if (!bad_rows->any)
	{
		memset(bad_rows->codes + bad_rows->from, 0,
			   bad_rows->to - bad_rows->from);
		bad_rows->any = true;
	}
	bad_rows->codes[row] = (uint8_t) code;
	bad_rows->wheres[row] = where;
}

static void
set_row_error(CsvFill *fill, uint32_t row, CsvErrorCode code)
{
	const CsvBadRows *bad_rows = fill->bad_rows;

	/* columns come in order of field; within one field the code decides */
	if (bad_rows->any && bad_rows->codes[row] != CSV_ERROR_NONE)
	{
		const CsvColumn *other =
			&fill->layout->columns[bad_rows->wheres[row]];

		if (bad_rows->codes[row] <= CSV_ERROR_COLUMN_COUNT ||
			other->field != fill->column->field ||
			bad_rows->codes[row] <= code)
			return;
	}
	csv_fill_bad_row(fill->bad_rows, row, code, fill->number);
}

/* ---- the careful path, for any field ---- */

static void
set_status(CsvFill *fill, uint32_t row, CsvValueStatus status)
{
	fill->status[row] = (uint8_t) status;
	fill->any_not_ok = true;
	if (status == CSV_VALUE_DOUBTFUL || status == CSV_VALUE_LONG)
		fill->any_slow = true;
}

/* bytes of the first nchars characters of valid UTF-8 */
static uint64_t
bytes_of_chars(const uint8_t *value, uint64_t nbytes, uint64_t nchars)
{
	uint64_t	i = 0;

	while (i < nbytes && nchars > 0)
	{
		i += csv_utf8_sequence(value + i, nbytes - i);
		nchars--;
	}
	return i;
}

/*
 * Are all characters of the field's value beyond the first nchars blanks?  The value
 * must be valid UTF-8.
 */
static bool
is_blank_beyond(const CsvDialect *dialect, const uint8_t *field,
				uint64_t length, uint64_t nchars)
{
	CsvUnquoter unquoter = csv_unquoter(dialect, field, length);
	uint64_t	begun = 0;
	int			byte;

	while ((byte = csv_unquoter_next(&unquoter)) >= 0)
	{
		begun += csv_utf8_begins((uint8_t) byte);
		if (begun > nchars && byte != ' ')
			return false;
	}
	return true;
}

/* bytes of text that an entry has room for */
static uint64_t
text_room(const CsvFill *fill)
{
	return fill->stride - 4 - (fill->column->kind == CSV_KIND_CSTRING);
}

/* Write a text entry, whose value may be in its place already, or NULL: too long. */
static void
put_slow_text(CsvFill *fill, uint32_t row, const uint8_t *value,
			  const CsvMeasure *measure, uint64_t cut_chars)
{
	const CsvColumn *column = fill->column;
	uint8_t    *entry = fill->values + (size_t) row * fill->stride;
	uint64_t	nbytes = measure->nbytes;
	uint64_t	nblanks = 0;
	uint32_t	header;

	if (value != NULL && cut_chars != UINT64_MAX)
		nbytes = bytes_of_chars(value, nbytes, cut_chars);
	else if (column->pad_blanks && column->kind == CSV_KIND_TEXT &&
			 measure->nchars < (uint64_t) column->type_chars)
		nblanks = (uint64_t) column->type_chars - measure->nchars;
	if (value == NULL || nbytes + nblanks > text_room(fill))
	{
		set_status(fill, row, CSV_VALUE_LONG);
		return;
	}
	header = csv_varlena_header((uint32_t) (nbytes + nblanks));
	memcpy(entry, &header, 4);
	if (value != entry + 4)
		memcpy(entry + 4, value, nbytes);
	memset(entry + 4 + nbytes, ' ', nblanks);
	if (column->kind == CSV_KIND_CSTRING)
		entry[4 + nbytes + nblanks] = 0;
}

/* are all bytes of [start, end) in blocks of plain ASCII? */
static inline bool
is_plain(const uint8_t *unplain, uint64_t start, uint64_t end)
{
	uint64_t	block = start / 64;
	uint64_t	last = (end == start ? start : end - 1) / 64;

	if (unplain[block] | unplain[last])
		return false;
	while (unlikely_(++block < last))
		if (unplain[block])
			return false;
	return true;
}

static void
slow_value(CsvFill *fill, uint32_t row, uint64_t start, uint64_t end)
{
	const CsvLayout *layout = fill->layout;
	const CsvDialect *dialect = fill->dialect;
	const CsvColumn *column = fill->column;
	const uint8_t *field = fill->finder.bytes + start;
	uint64_t	length = end - start;
	uint8_t    *entry = fill->values + (size_t) row * fill->stride;
	const bool	is_text = column->kind == CSV_KIND_TEXT ||
		column->kind == CSV_KIND_CSTRING;
	CsvMeasure	measure;
	uint8_t		short_value[512];
	const bool	in_place = is_text && length <= text_room(fill);
	uint8_t    *buffer = in_place ? entry + 4 : short_value;
	uint64_t	room = in_place ? text_room(fill) : sizeof(short_value);
	uint8_t    *value = NULL;
	bool		blanks_beyond = false;
	bool		doubtful;
	bool		quoted;
	uint64_t	cut_chars;
	CsvErrorCode code;

	if (!column->force_not_null && csv_is_null(layout, column, field, length))
	{
		set_status(fill, row, CSV_VALUE_NULL);
		return;
	}
	if (layout->has_default &&
		csv_bytes_equal(field, length, layout->default_bytes,
						layout->default_length))
	{
		set_status(fill, row, CSV_VALUE_DOUBTFUL);
		return;
	}

	csv_fast_measure(dialect, field, length,
					 is_plain(fill->index->unplain, start, end),
					 length <= room ? buffer : NULL, &measure);

	/* the value without quotes and escapes, if its bytes are available */
	if (measure.nbytes == length)
		value = (uint8_t *) (uintptr_t) field;
	else if (measure.quoted && measure.nbytes == length - 2 &&
			 field[0] == dialect->opt.quote &&
			 field[length - 1] == dialect->opt.quote)
		value = (uint8_t *) (uintptr_t) field + 1;
	else if (measure.nbytes <= room)
	{
		value = buffer;
		if (length > room)
			csv_field_value(dialect, field, length, value, room, &quoted);
	}

	if (column->force_null && measure.quoted && value != NULL &&
		csv_is_null(layout, column, value, measure.nbytes))
	{
		set_status(fill, row, CSV_VALUE_NULL);
		return;
	}

	if (CSV_NEEDS_BLANKS(column, measure.nchars) && !measure.invalid_utf8)
		blanks_beyond = is_blank_beyond(dialect, field, length,
										(uint64_t) column->type_chars);
	code = csv_field_verdict(column, layout, &measure, blanks_beyond, &doubtful,
							 &cut_chars);
	if (code != CSV_ERROR_NONE)
	{
		set_row_error(fill, row, code);
		return;
	}
	if (doubtful)
	{
		set_status(fill, row, CSV_VALUE_DOUBTFUL);
		return;
	}

	if (!is_text)
	{
		uint64_t	plain_start;
		uint64_t	plain_end;

		if (!csv_field_plain(dialect, field, length, &plain_start, &plain_end,
							 &quoted) ||
			plain_end - plain_start > UINT32_MAX ||
			!csv_convert_any(column, layout->decimal_separator,
							 field + plain_start,
							 (uint32_t) (plain_end - plain_start),
							 entry, fill->stride))
			set_status(fill, row, CSV_VALUE_DOUBTFUL);
		return;
	}

	put_slow_text(fill, row, value, &measure, cut_chars);
}

/* ---- the fast path ---- */

/*
 * The commonest spellings of the commonest kinds; `kind` is a constant.  `thousands` is
 * the separator between groups of digits, or 0.
 */
static inline __attribute__((always_inline)) bool
fast_value(const CsvColumn *column, int kind, uint8_t decimal_separator,
		   uint8_t thousands, const uint8_t *p, uint32_t n, uint8_t *entry, uint32_t stride)
{
	int64_t		number;

	switch (kind)
	{
		case CSV_KIND_INT2:
			if (!csv_fast_int(p, n, thousands, &number) || number != (int16_t) number)
				return false;
			*(int16_t *) entry = (int16_t) number;
			return true;
		case CSV_KIND_INT4:
			if (!csv_fast_int(p, n, thousands, &number) || number != (int32_t) number)
				return false;
			*(int32_t *) entry = (int32_t) number;
			return true;
		case CSV_KIND_INT8:
			if (!csv_fast_int(p, n, thousands, &number))
				return false;
			*(int64_t *) entry = number;
			return true;
		case CSV_KIND_DATE:
			return thousands == 0 && csv_parse_date(p, n, (int32_t *) entry);
		case CSV_KIND_NUMERIC:
			return csv_fast_numeric(p, n, decimal_separator, thousands,
									column->precision, column->scale, entry,
									stride);
		case CSV_KIND_DECIMAL64:
			return csv_fast_decimal64(p, n, decimal_separator, thousands,
									  column->precision, column->scale,
									  (int64_t *) entry);
		case CSV_KIND_SCALED:
			return thousands == 0 &&
				csv_fast_scaled(p, n, decimal_separator, (int64_t *) entry);
		default:
			return false;
	}
}

/*
 * Numbers, dates and other scalars: parse the text in place; if that fails, take the
 * careful path.  `kind` and `uniform` are constants; uniform may be true only if
 * finder.uniform is.  There are `count` rows: those in `rows`, or, if that is NULL,
 * rows from `from` on.
 */
static inline __attribute__((always_inline)) void
scalar_loop(CsvFill *fill, int kind, bool uniform, const uint32_t *rows,
			uint32_t from, uint32_t count)
{
	const CsvLayout *layout = fill->layout;
	const CsvColumn *column = fill->column;
	const CsvColumn spec = *column;
	CsvFinder	finder = fill->finder;
	const uint8_t quote = fill->dialect->opt.quote;
	const uint8_t decimal_separator = layout->decimal_separator;
	const uint64_t null_lengths = csv_null_lengths(layout, column);
	const bool	careful = csv_fill_is_careful(fill);
	const bool	empty_is_null = !careful && layout->null_length == 0 &&
		!column->force_not_null;
	const bool	fast = csv_is_short(fill) && spec.pattern[0] == CSV_STEP_END;
	const uint32_t stride = fill->stride;
	uint8_t    *const values = fill->values;
	const uint64_t most_bytes = csv_most_scalar_bytes(column);

	if (uniform)
		finder.uniform = true;	/* a constant from here on */
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	row = rows != NULL ? rows[i] : from + i;
		uint8_t    *entry = values + (size_t) row * stride;
		uint64_t	start;
		uint64_t	end;
		const uint8_t *text;
		uint64_t	nbytes;

		if (!uniform && finder.bad != NULL && finder.bad[row] != 0)
		{
			fill->status[row] = CSV_VALUE_NULL;
			continue;
		}
		if (!csv_find_field(&finder, row, &start, &end) ||
			(end == start && empty_is_null))
		{
			memset(entry, 0, stride);
			set_status(fill, row, CSV_VALUE_NULL);
			continue;
		}
		text = finder.bytes + start;
		nbytes = end - start;
		if (likely_(!careful && (!csv_has_null_length(null_lengths, nbytes) ||
								 !csv_is_null(layout, column, text, nbytes))))
		{
			if (quote != 0 && *text == quote && nbytes >= 2 &&
				text[nbytes - 1] == quote)
			{
				text++;
				nbytes -= 2;
			}
			if (likely_(nbytes > 0 && nbytes <= most_bytes))
			{
				uint32_t	n = (uint32_t) nbytes;

				/* a blank behind a separator, or in front of the next separator */
				if (kind != CSV_KIND_UUID &&
					unlikely_(csv_is_space(*text) || csv_is_space(text[n - 1])))
					csv_trim_spaces(&text, &n);
				if ((fast && n > 0 &&
					 (fast_value(&spec, kind, decimal_separator, 0, text, n, entry,
								 stride) ||
					  (spec.thousands != 0 &&
					   fast_value(&spec, kind, decimal_separator, spec.thousands,
								  text, n, entry, stride)))) ||
					csv_convert_any(&spec, decimal_separator, text, n, entry,
									stride))
					continue;
			}
		}
		memset(entry, 0, stride);
		slow_value(fill, row, start, end);
	}
}

/* all that the loop over text needs, in local variables */
typedef struct CsvTextRules
{
	const uint8_t *bytes;
	const uint64_t *quotes;
	const uint8_t *unplain;
	const CsvLayout *layout;
	const CsvColumn *column;
	uint64_t	null_lengths;
	uint64_t	max_chars;
	uint64_t	max_bytes;
	uint64_t	pad_to;			/* characters; 0: no padding */
	uint8_t		quote;			/* in text format the escape; 0: none */
	bool		is_text;		/* text format */
	bool		anywhere;		/* quotes need not stand at a field's start */
	bool		utf8;
	bool		careful;
} CsvTextRules;

/* the smaller limit; a negative number means no limit */
static uint64_t
least_limit(int64_t a, int64_t b)
{
	uint64_t	limit = a < 0 ? UINT64_MAX : (uint64_t) a;

	return b < 0 || (uint64_t) b > limit ? limit : (uint64_t) b;
}

static CsvTextRules
make_text_rules(const CsvFill *fill)
{
	const CsvDialectOptions *opt = &fill->dialect->opt;
	const CsvColumn *column = fill->column;

	return (CsvTextRules) {
		.bytes = fill->finder.bytes,
		.quotes = fill->index->quotes,
		.unplain = fill->index->unplain,
		.layout = fill->layout,
		.column = column,
		.null_lengths = csv_null_lengths(fill->layout, column),
		.max_chars = least_limit(column->max_chars, column->type_chars),
		.max_bytes = least_limit(column->byte_width, -1),
		.pad_to = column->pad_blanks && column->kind == CSV_KIND_TEXT ?
			(uint64_t) column->type_chars : 0,
		.quote = csv_special_byte(opt),
		.is_text = opt->quoting == CSV_QUOTING_TEXT,
		.anywhere = opt->quoting != CSV_QUOTING_RFC4180,
		.utf8 = fill->layout->encoding == CSV_ENCODING_UTF8,
		.careful = csv_fill_is_careful(fill)
	};
}

/* a value whose bytes are in the input */
typedef struct CsvPlainText
{
	const uint8_t *value;
	uint64_t	nbytes;
	uint64_t	nchars;
} CsvPlainText;

/*
 * The value of the field at [start, end).  Returns false if the value may be NULL, if
 * quotes or escapes are part of it, or if it exceeds a limit.
 */
static inline __attribute__((always_inline)) bool
find_plain_text(const CsvTextRules *rules, uint64_t start, uint64_t end,
				CsvPlainText *text)
{
	text->value = rules->bytes + start;
	text->nbytes = end - start;
	if (rules->careful ||
		(csv_has_null_length(rules->null_lengths, text->nbytes) &&
		 csv_is_null(rules->layout, rules->column, text->value, text->nbytes)))
		return false;
	if (rules->quote != 0 && end > start)
	{
		bool		opens = *text->value == rules->quote;

		if (opens)
		{
			if (rules->is_text || text->nbytes < 2 ||
				text->value[text->nbytes - 1] != rules->quote)
				return false;
			start++;
			end--;
			text->value++;
			text->nbytes -= 2;
		}
		if ((opens || rules->anywhere) && csv_any_between(rules->quotes, start, end))
			return false;
	}
	text->nchars = text->nbytes;
	if (!is_plain(rules->unplain, start, end) &&
		(!csv_check_text(text->value, text->nbytes, &text->nchars) ||
		 (!rules->utf8 && text->nchars != text->nbytes)))
		return false;
	return likely_(text->nchars <= rules->max_chars &&
				   text->nbytes <= rules->max_bytes);
}

/*
 * Copy the value and nblanks blanks to an entry.  Only these bytes may be written at or
 * behind `limit`.
 */
static inline __attribute__((always_inline)) void
copy_plain_text(const CsvPlainText *text, uint64_t nblanks, uint8_t *to,
				const uint8_t *limit)
{
	static const uint8_t blanks[CSV_COPY_BYTES + 1] =
	"                                ";
	uint64_t	nbytes = text->nbytes;

	if (likely_(to + nbytes + nblanks + 2 * CSV_COPY_BYTES <= limit))
	{
		/*
		 * Copy in steps.  Surplus bytes are written to later entries, which will be
		 * filled, or to the margin of the array.  Surplus bytes that are read are in
		 * the margin of the input.
		 */
		for (uint64_t k = 0; k < nbytes; k += CSV_COPY_BYTES)
			memcpy(to + k, text->value + k, CSV_COPY_BYTES);
		for (uint64_t k = 0; k < nblanks; k += CSV_COPY_BYTES)
			memcpy(to + nbytes + k, blanks, CSV_COPY_BYTES);
	}
	else
	{
		memcpy(to, text->value, nbytes);
		memset(to + nbytes, ' ', nblanks);
	}
}

/* Text: copy the values.  Arguments are as in scalar_loop(). */
static inline __attribute__((always_inline)) void
text_loop(CsvFill *fill, bool uniform, const uint32_t *rows, uint32_t from,
		  uint32_t count)
{
	const CsvTextRules rules = make_text_rules(fill);
	const uint32_t cstring = fill->column->kind == CSV_KIND_CSTRING;
	const uint32_t stride = fill->stride;
	const uint64_t room = text_room(fill);
	uint8_t    *const values = fill->values;
	const uint8_t *const limit = fill->limit;
	CsvFinder	finder = fill->finder;

	if (uniform)
		finder.uniform = true;	/* a constant from here on */
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	row = rows != NULL ? rows[i] : from + i;
		uint8_t    *entry = values + (size_t) row * stride;
		uint64_t	start;
		uint64_t	end;
		uint64_t	nbytes;
		uint64_t	nblanks;
		uint32_t	header;
		CsvPlainText text;

		if (!uniform && finder.bad != NULL && finder.bad[row] != 0)
		{
			fill->status[row] = CSV_VALUE_NULL;
			continue;
		}
		if (!csv_find_field(&finder, row, &start, &end))
		{
			set_status(fill, row, CSV_VALUE_NULL);
			continue;
		}
		if (!find_plain_text(&rules, start, end, &text))
		{
			slow_value(fill, row, start, end);
			continue;
		}
		nblanks = text.nchars < rules.pad_to ? rules.pad_to - text.nchars : 0;
		nbytes = text.nbytes + nblanks;
		if (unlikely_(nbytes > room))
		{
			set_status(fill, row, CSV_VALUE_LONG);
			continue;
		}
		header = csv_varlena_header((uint32_t) nbytes);
		memcpy(entry, &header, 4);
		copy_plain_text(&text, nblanks, entry + 4, limit);
		if (cstring)
			entry[4 + nbytes] = 0;
	}
}

/* ---- a range of rows ---- */

/* fill `count` rows: those in `rows`, or, if that is NULL, rows from `from` on */
static void
fill_rows(CsvFill *fill, const uint32_t *rows, uint32_t from, uint32_t count)
{
	/* one loop per kind, compiled for that kind */
#define SCALAR_CASE(kind_) \
		case kind_: \
			if (fill->finder.uniform && rows == NULL) \
				scalar_loop(fill, kind_, true, NULL, from, count); \
			else \
				scalar_loop(fill, kind_, false, rows, from, count); \
			break;

	switch (fill->column->kind)
	{
		case CSV_KIND_TEXT:
		case CSV_KIND_CSTRING:
			if (fill->finder.uniform && rows == NULL)
				text_loop(fill, true, NULL, from, count);
			else
				text_loop(fill, false, rows, from, count);
			break;
			SCALAR_CASE(CSV_KIND_BOOL)
			SCALAR_CASE(CSV_KIND_INT2)
			SCALAR_CASE(CSV_KIND_INT4)
			SCALAR_CASE(CSV_KIND_INT8)
			SCALAR_CASE(CSV_KIND_FLOAT4)
			SCALAR_CASE(CSV_KIND_FLOAT8)
			SCALAR_CASE(CSV_KIND_NUMERIC)
			SCALAR_CASE(CSV_KIND_DECIMAL64)
			SCALAR_CASE(CSV_KIND_DECIMAL128)
			SCALAR_CASE(CSV_KIND_SCALED)
			SCALAR_CASE(CSV_KIND_DATE)
			SCALAR_CASE(CSV_KIND_TIMESTAMP)
			SCALAR_CASE(CSV_KIND_TIMESTAMPTZ)
			SCALAR_CASE(CSV_KIND_TIME)
			SCALAR_CASE(CSV_KIND_UUID)
		default:
			break;
	}
#undef SCALAR_CASE
}

bool
csv_date_pattern(const CsvColumn *column, CsvDatePattern *pattern)
{
	uint32_t	nbytes = 0;
	uint32_t	nelements = 0;

	memset(pattern, 0, sizeof(*pattern));
	memset(pattern->at, UINT8_MAX, sizeof(pattern->at));
	pattern->name_at = UINT8_MAX;
	for (const uint8_t *step = column->pattern; *step != CSV_STEP_END; step++)
	{
		uint32_t	first;		/* of YYYYMMDD */
		uint32_t	n = *step == CSV_STEP_YEAR ? 4 :
			*step == CSV_STEP_SHORT_MONTH_NAME ? 3 : *step >= ' ' ? 1 : 2;

		if (nbytes + n > CSV_MOST_DATE_BYTES)
			return false;
		nelements += *step < ' ';
		switch (*step)
		{
			case CSV_STEP_YEAR:
				first = 0;
				break;
			case CSV_STEP_SHORT_YEAR:
				pattern->short_year = true;
				first = 2;
				break;
			case CSV_STEP_MONTH:
				first = 4;
				break;
			case CSV_STEP_DAY:
				first = 6;
				break;
			case CSV_STEP_SHORT_MONTH_NAME:
				pattern->name_at = (uint8_t) nbytes;
				nbytes += n;
				continue;
			default:
				if (*step < ' ')
					return false;
				pattern->literals[nbytes] = *step;
				pattern->is_literal[nbytes++] = UINT8_MAX;
				continue;
		}
		for (; n > 0; n--)
			pattern->at[first++] = (uint8_t) nbytes++;
	}

	/* each element once; the blanks around a value must not belong to the pattern */
	pattern->nbytes = nbytes;
	return nbytes >= CSV_LEAST_DATE_BYTES && nelements == 3 &&
		pattern->literals[0] != ' ' && pattern->literals[nbytes - 1] != ' ' &&
		pattern->at[3] != UINT8_MAX && pattern->at[7] != UINT8_MAX &&
		(pattern->at[5] != UINT8_MAX || pattern->name_at != UINT8_MAX);
}

/*
 * May eight rows be converted at a time?  Values must be in the type's form, or dates
 * by a CsvDatePattern, and all strings for NULL must be shorter than 32 bytes.
 */
static bool
may_fill_by_eight(const CsvFill *fill)
{
	const CsvLayout *layout = fill->layout;
	const CsvColumn *column = fill->column;
	CsvDatePattern pattern;

	if (csv_fill_is_careful(fill) || !csv_is_short(fill) ||
		(column->pattern[0] != CSV_STEP_END &&
		 (column->kind != CSV_KIND_DATE || !csv_date_pattern(column, &pattern))))
		return false;
	for (uint32_t i = column->nulls_from; i < column->nulls_to;
		 i += 1 + (uint32_t) layout->null_values[i])
		if (layout->null_values[i] >= 32)
			return false;
	return layout->null_length < 32;
}

void
csv_fill(CsvFill *fill, const CsvFillFunctions *functions, uint32_t from,
		 uint32_t to, uint32_t nrows, uint32_t *left)
{
	CsvFillVectors vectors = functions->vectors[fill->column->kind];

	memset(fill->status + from, CSV_VALUE_OK, to - from);
	fill->any_not_ok = false;
	fill->any_slow = false;
	fill->limit = fill->values + (size_t) to * fill->stride;
	if (to == nrows)
		fill->limit += CSV_FILL_MARGIN;
	if (vectors != NULL && may_fill_by_eight(fill))
	{
		uint32_t	nleft = vectors(fill, from, to, left);

		/* entries behind these rows are filled already */
		fill->limit = NULL;
		fill_rows(fill, left, 0, nleft);
	}
	else
		fill_rows(fill, NULL, from, to - from);
}

static uint64_t
widest(const CsvFinder *finder, uint32_t from, uint32_t to)
{
	uint64_t	width = 0;

	for (uint32_t row = from; row < to; row++)
	{
		uint64_t	nbytes = csv_field_bytes(finder, row);

		width = nbytes > width ? nbytes : width;
	}
	return width;
}

const CsvFillFunctions csv_fill_plain = {
	.widest = widest
};
