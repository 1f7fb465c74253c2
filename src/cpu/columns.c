/*
 * columns.c
 *		Fills the arrays of a batch from the structural index.
 */
#include "columns.h"

#include <string.h>

#include "../reader/field.h"
#include "fast.h"

/*
 * Arrays may be overrun by this much.  Most values are shorter, and copied
 * without a loop, whose length the processor could not foresee.
 */
#define CSV_COPY_BYTES	32

#define likely_(x)		__builtin_expect((x) != 0, 1)
#define unlikely_(x)	__builtin_expect((x) != 0, 0)

static bool
buffer_reserve(const CsvMemory *memory, CsvBuffer *buffer, size_t nbytes)
{
	nbytes += 4 * CSV_COPY_BYTES;
	if (nbytes <= buffer->nbytes)
		return true;
	if (buffer->bytes != NULL)
		memory->free(memory->owner, buffer->bytes);
	buffer->nbytes = 0;
	nbytes += nbytes / 4;		/* the next chunk may need a little more */
	buffer->bytes = memory->alloc(memory->owner, nbytes);
	if (buffer->bytes == NULL)
		return false;
	buffer->nbytes = nbytes;
	return true;
}

static void
buffer_free(const CsvMemory *memory, CsvBuffer *buffer)
{
	if (buffer->bytes != NULL)
		memory->free(memory->owner, buffer->bytes);
	buffer->bytes = NULL;
	buffer->nbytes = 0;
}

/* may this byte be part of a number, date or the like? */
static bool
is_value_byte(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
		(byte >= 'a' && byte <= 'z') || (byte != 0 && strchr("+-.,: ", byte));
}

CsvStatus
csv_columns_configure(CsvColumns *columns, const CsvDialect *dialect,
					  const CsvLayout *layout)
{
	const CsvMemory *memory = columns->memory;

	columns->dialect = dialect;
	columns->layout = layout;
	columns->quote_in_values = is_value_byte(dialect->opt.quote) ||
		is_value_byte(dialect->opt.escape);
	if (layout->ncolumns > columns->ncolumns)
	{
		size_t		n = layout->ncolumns;

		csv_columns_free(columns);
		columns->arrays = memory->alloc(memory->owner, n * sizeof(CsvArray));
		columns->values = memory->alloc(memory->owner, n * sizeof(CsvBuffer));
		columns->status = memory->alloc(memory->owner, n * sizeof(CsvBuffer));
		if (columns->arrays == NULL || columns->values == NULL ||
			columns->status == NULL)
		{
			columns->ncolumns = 0;
			return CSV_NO_MEMORY;
		}
		memset(columns->values, 0, n * sizeof(CsvBuffer));
		memset(columns->status, 0, n * sizeof(CsvBuffer));
		columns->ncolumns = layout->ncolumns;
	}
	return CSV_OK;
}

void
csv_columns_free(CsvColumns *columns)
{
	const CsvMemory *memory = columns->memory;

	for (uint32_t i = 0; i < columns->ncolumns; i++)
	{
		buffer_free(memory, &columns->values[i]);
		buffer_free(memory, &columns->status[i]);
	}
	if (columns->arrays != NULL)
		memory->free(memory->owner, columns->arrays);
	if (columns->values != NULL)
		memory->free(memory->owner, columns->values);
	if (columns->status != NULL)
		memory->free(memory->owner, columns->status);
	columns->arrays = NULL;
	columns->values = NULL;
	columns->status = NULL;
	columns->ncolumns = 0;
	buffer_free(memory, &columns->positions);
	buffer_free(memory, &columns->row_code);
	buffer_free(memory, &columns->row_where);
	buffer_free(memory, &columns->errors);
	buffer_free(memory, &columns->row_offsets);
	buffer_free(memory, &columns->row_lines);
}

/* ---- where fields are ---- */

typedef struct CsvColumnLoop
{
	CsvColumns *columns;
	const CsvColumn *column;
	uint32_t	number;			/* of the column in the layout */
	const CsvIndexRecord *records;
	const uint32_t *positions;
	const uint8_t *bytes;
	const uint8_t *bad;			/* row codes, or NULL while all are good */
	CsvArray   *array;
	bool		any_not_ok;
	bool		uniform;		/* no bad rows, and each record has
								 * layout->nfields fields */
} CsvColumnLoop;

/*
 * What it takes to find a column's field in each row.  Loops hold it (and
 * whatever else they use) in a variable of their own: a store through a pointer
 * to bytes may alias anything that is reached through another pointer, which
 * would then be loaded again for each value.
 */
typedef struct CsvFinder
{
	const CsvIndexRecord *records;
	const uint32_t *positions;
	const uint8_t *bytes;
	uint64_t	nbytes;
	uint32_t	nfields;
	uint32_t	field;
	bool		uniform;
	bool		trim_cr;
} CsvFinder;

static inline CsvFinder
make_finder(const CsvColumnLoop *loop)
{
	CsvFinder	finder;

	finder.records = loop->records;
	finder.positions = loop->positions;
	finder.bytes = loop->bytes;
	finder.nbytes = loop->columns->index->input->nbytes;
	finder.nfields = loop->columns->layout->nfields;
	finder.field = loop->column->field;
	finder.uniform = loop->uniform;
	finder.trim_cr = loop->columns->dialect->trim_cr;
	return finder;
}

/*
 * The content of the field in a row.  False if the record has no such field
 * (ragged 'pad').
 */
static inline __attribute__((always_inline)) bool
find_field(const CsvFinder *finder, uint32_t row, uint64_t *start,
		   uint64_t *end)
{
	const CsvIndexRecord *record = &finder->records[row];
	uint32_t	nfields = finder->nfields;
	uint32_t	field = finder->field;
	size_t		first = (size_t) row * nfields;

	if (!finder->uniform)
	{
		first = record->first_separator;
		nfields = record[1].first_separator - record->first_separator;
		if (unlikely_(field >= nfields))
			return false;
	}
	*start = field == 0 ? record->start :
		(uint64_t) finder->positions[first + field - 1] + 1;
	*end = finder->positions[first + field];

	/* as csv_content_end() */
	if (finder->trim_cr && field + 1 == nfields && *end > *start &&
		*end < finder->nbytes && finder->bytes[*end - 1] == '\r')
		(*end)--;
	return true;
}

/* ---- bad values ---- */

static void
set_row_error(CsvColumnLoop *loop, uint32_t row, CsvErrorCode code)
{
	CsvColumns *columns = loop->columns;
	uint8_t    *codes = columns->row_code.bytes;
	uint32_t   *wheres = (uint32_t *) columns->row_where.bytes;

	if (!columns->any_bad_row)
	{
		memset(codes, 0, columns->index->nrecords);
		columns->any_bad_row = true;
	}

	/* columns come in order of field; within one field the code decides */
	if (codes[row] != CSV_ERROR_NONE)
	{
		const CsvColumn *other = &columns->layout->columns[wheres[row]];

		if (codes[row] <= CSV_ERROR_COLUMN_COUNT ||
			other->field != loop->column->field || codes[row] <= code)
			return;
	}
	codes[row] = (uint8_t) code;
	wheres[row] = loop->number;
}

/* ---- the careful way, for any field ---- */

static void
set_status(CsvColumnLoop *loop, uint32_t row, CsvValueStatus status)
{
	loop->array->status[row] = (uint8_t) status;
	loop->any_not_ok = true;
	if (status == CSV_VALUE_DOUBTFUL || status == CSV_VALUE_LONG)
		loop->array->any_slow = true;
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
 * Write a text entry: nbytes of value, then nblanks blanks.  Where that is
 * wider than the array, the value is LONG.
 */
static void
put_text(CsvColumnLoop *loop, uint32_t row, const uint8_t *value,
		 uint64_t nbytes, uint64_t nblanks)
{
	CsvArray   *array = loop->array;
	uint8_t    *entry = array->values + (size_t) row * array->stride;
	uint64_t	room = array->stride - 4 -
		(loop->column->kind == CSV_KIND_CSTRING);
	uint32_t	header;

	if (nbytes + nblanks > room)
	{
		set_status(loop, row, CSV_VALUE_LONG);
		return;
	}
	header = csv_varlena_header((uint32_t) (nbytes + nblanks));
	memcpy(entry, &header, 4);
	memcpy(entry + 4, value, nbytes);
	memset(entry + 4 + nbytes, ' ', nblanks);
	if (loop->column->kind == CSV_KIND_CSTRING)
		entry[4 + nbytes + nblanks] = 0;
	array->status[row] = CSV_VALUE_OK;
}

static void
slow_value(CsvColumnLoop *loop, uint32_t row, uint64_t start, uint64_t end)
{
	CsvColumns *columns = loop->columns;
	const CsvLayout *layout = columns->layout;
	const CsvDialect *dialect = columns->dialect;
	const CsvColumn *column = loop->column;
	const uint8_t *field = loop->bytes + start;
	uint64_t	length = end - start;
	CsvMeasure	measure;
	uint8_t		short_value[512];
	uint8_t    *value = NULL;
	bool		blanks_beyond = false;
	bool		doubtful;
	bool		quoted;
	uint64_t	cut_chars;
	uint64_t	nbytes;
	uint64_t	nblanks = 0;
	CsvErrorCode code;

	if (!column->force_not_null &&
		csv_bytes_equal(field, length, layout->null_bytes, layout->null_length))
	{
		set_status(loop, row, CSV_VALUE_NULL);
		return;
	}
	if (layout->has_default &&
		csv_bytes_equal(field, length, layout->default_bytes,
						layout->default_length))
	{
		set_status(loop, row, CSV_VALUE_DOUBTFUL);
		return;
	}

	csv_field_measure(dialect, field, length, &measure);

	/* the value itself, where something must be known of it */
	if (measure.nbytes == length)
		value = (uint8_t *) (uintptr_t) field;
	else if (length >= 2 && measure.nbytes == length - 2 &&
			 field[0] == dialect->opt.quote &&
			 field[length - 1] == dialect->opt.quote)
		value = (uint8_t *) (uintptr_t) field + 1;
	else if (measure.nbytes <= sizeof(short_value))
	{
		value = short_value;
		csv_unquote(dialect, field, length, value, &quoted);
	}

	if (column->force_null && measure.quoted && value != NULL &&
		csv_bytes_equal(value, measure.nbytes, layout->null_bytes,
						layout->null_length))
	{
		set_status(loop, row, CSV_VALUE_NULL);
		return;
	}

	if (CSV_NEEDS_BLANKS(column, measure.nchars))
	{
		uint8_t    *whole = value;

		if (whole == NULL)
		{
			whole = columns->memory->alloc(columns->memory->owner,
										   measure.nbytes);
			if (whole == NULL)
			{
				columns->no_memory = true;
				return;
			}
			csv_unquote(dialect, field, length, whole, &quoted);
		}
		if (!measure.invalid_utf8)
		{
			uint64_t	i = bytes_of_chars(whole, measure.nbytes,
										   (uint64_t) column->type_chars);

			while (i < measure.nbytes && whole[i] == ' ')
				i++;
			blanks_beyond = i == measure.nbytes;
		}
		if (whole != value)
			columns->memory->free(columns->memory->owner, whole);
	}

	code = csv_field_verdict(column, layout->encoding, &measure, blanks_beyond,
							 &doubtful, &cut_chars);
	if (code != CSV_ERROR_NONE)
	{
		loop->array->status[row] = CSV_VALUE_OK;
		set_row_error(loop, row, code);
		return;
	}
	if (doubtful)
	{
		set_status(loop, row, CSV_VALUE_DOUBTFUL);
		return;
	}

	if (column->kind != CSV_KIND_TEXT && column->kind != CSV_KIND_CSTRING)
	{
		CsvArray   *array = loop->array;
		uint64_t	plain_start;
		uint64_t	plain_end;

		if (csv_field_plain(dialect, field, length, &plain_start, &plain_end,
							&quoted) &&
			plain_end - plain_start <= UINT32_MAX &&
			csv_convert_value(column, layout->decimal_separator,
							  field + plain_start,
							  (uint32_t) (plain_end - plain_start),
							  array->values + (size_t) row * array->stride,
							  array->stride))
			array->status[row] = CSV_VALUE_OK;
		else
			set_status(loop, row, CSV_VALUE_DOUBTFUL);
		return;
	}

	if (value == NULL)
	{
		/* more than fits into short_value, with escapes in it */
		CsvArray   *array = loop->array;
		uint8_t    *entry = array->values + (size_t) row * array->stride;
		uint64_t	room = array->stride - 4 -
			(column->kind == CSV_KIND_CSTRING);

		if (cut_chars != UINT64_MAX || measure.nbytes > room ||
			column->pad_blanks)
			set_status(loop, row, CSV_VALUE_LONG);
		else
		{
			uint32_t	header = csv_varlena_header((uint32_t) measure.nbytes);

			memcpy(entry, &header, 4);
			csv_unquote(dialect, field, length, entry + 4, &quoted);
			if (column->kind == CSV_KIND_CSTRING)
				entry[4 + measure.nbytes] = 0;
			array->status[row] = CSV_VALUE_OK;
		}
		return;
	}

	nbytes = measure.nbytes;
	if (cut_chars != UINT64_MAX)
		nbytes = bytes_of_chars(value, nbytes, cut_chars);
	else if (column->pad_blanks && column->kind == CSV_KIND_TEXT &&
			 measure.nchars < (uint64_t) column->type_chars)
		nblanks = (uint64_t) column->type_chars - measure.nchars;
	put_text(loop, row, value, nbytes, nblanks);
}

/* ---- the fast way ---- */

static inline bool
is_null_string(const uint8_t *field, uint64_t length,
			   const uint8_t *null_bytes, uint64_t null_length)
{
	return length == null_length &&
		(length == 0 || memcmp(field, null_bytes, length) == 0);
}

/*
 * The commonest spellings of the commonest kinds; `kind` is a constant.
 */
static inline __attribute__((always_inline)) bool
fast_value(const CsvColumn *column, int kind, uint8_t decimal_separator,
		   const uint8_t *p, uint32_t n, uint8_t *entry)
{
	int64_t		number;
	int32_t		days;

	switch (kind)
	{
		case CSV_KIND_INT2:
			if (!csv_fast_int(p, n, &number) || number != (int16_t) number)
				return false;
			*(int16_t *) entry = (int16_t) number;
			return true;
		case CSV_KIND_INT4:
			if (!csv_fast_int(p, n, &number) || number != (int32_t) number)
				return false;
			*(int32_t *) entry = (int32_t) number;
			return true;
		case CSV_KIND_INT8:
			if (!csv_fast_int(p, n, &number))
				return false;
			*(int64_t *) entry = number;
			return true;
		case CSV_KIND_DATE:
			if (!csv_fast_date(p, n, &days))
				return false;
			*(int32_t *) entry = days;
			return true;
		case CSV_KIND_NUMERIC:
			return csv_fast_numeric(p, n, decimal_separator,
									column->precision, column->scale, entry);
		case CSV_KIND_DECIMAL64:
			return csv_fast_decimal(p, n, decimal_separator, column->precision,
									column->scale, (int64_t *) entry);
		default:
			return false;
	}
}

/*
 * Numbers, dates and the like: parse what stands there; whatever that does not
 * take goes the careful way.  `kind` and `uniform` are constants.
 */
static inline __attribute__((always_inline)) void
scalar_loop(CsvColumnLoop *loop, uint32_t nrows, int kind, bool uniform)
{
	const CsvLayout *layout = loop->columns->layout;
	const CsvColumn *column = loop->column;
	const CsvColumn spec = *column;
	CsvFinder	finder = make_finder(loop);
	const uint8_t quote = loop->columns->dialect->opt.quote;
	const uint8_t decimal_separator = layout->decimal_separator;
	const uint8_t *const bytes = loop->bytes;
	const uint8_t *const bad = loop->bad;
	const uint8_t *const null_bytes = layout->null_bytes;
	const uint64_t null_length = layout->null_length;
	const bool	careful = loop->columns->quote_in_values ||
		layout->has_default || column->force_null;
	const bool	empty_is_null = !careful && null_length == 0 &&
		!column->force_not_null;
	const bool	fast = kind == CSV_KIND_DECIMAL64 ? column->scale <= 8 :
		kind != CSV_KIND_NUMERIC ||
		(column->precision >= 0 && column->scale <= 4 &&
		 loop->array->stride >= 12);
	const uint32_t stride = loop->array->stride;
	uint8_t    *entry = loop->array->values;
	uint8_t    *status = loop->array->status;
	uint64_t	most_bytes = 64;	/* what is longer is not worth a try */

	finder.uniform = uniform;	/* a constant from here on */

	/* what is taken here is ASCII: a character is a byte */
	if (column->max_chars >= 0 && (uint64_t) column->max_chars < most_bytes)
		most_bytes = (uint64_t) column->max_chars;
	if (column->byte_width >= 0 && (uint64_t) column->byte_width < most_bytes)
		most_bytes = (uint64_t) column->byte_width;

	for (uint32_t row = 0; row < nrows; row++, entry += stride)
	{
		uint64_t	start;
		uint64_t	end;
		uint64_t	from;
		uint64_t	to;

		if (!uniform && bad != NULL && bad[row] != 0)
		{
			status[row] = CSV_VALUE_NULL;
			continue;
		}
		if (!find_field(&finder, row, &start, &end) ||
			(end == start && empty_is_null))
		{
			memset(entry, 0, stride);
			set_status(loop, row, CSV_VALUE_NULL);
			continue;
		}
		from = start;
		to = end;
		if (quote != 0 && bytes[from] == quote && to - from >= 2 &&
			bytes[to - 1] == quote)
		{
			from++;
			to--;
		}
		if (likely_(to > from && to - from <= most_bytes) && !careful &&
			!is_null_string(bytes + start, end - start, null_bytes,
							null_length))
		{
			uint32_t	n = (uint32_t) (to - from);

			if ((fast && fast_value(&spec, kind, decimal_separator,
									bytes + from, n, entry)) ||
				csv_convert_value(&spec, decimal_separator, bytes + from, n,
								  entry, stride))
			{
				status[row] = CSV_VALUE_OK;
				continue;
			}
		}
		memset(entry, 0, stride);
		slow_value(loop, row, start, end);
	}
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

#define ONES	UINT64_C(0x0101010101010101)
#define HIGHS	UINT64_C(0x8080808080808080)

/*
 * Check text that has no quotes to remove: valid UTF-8 without zero bytes?
 * Counts the characters.
 */
static inline bool
check_text(const uint8_t *text, uint64_t nbytes, uint64_t *nchars)
{
	uint64_t	i = 0;
	uint64_t	count = 0;

	while (i < nbytes)
	{
		uint32_t	sequence;

		if (nbytes - i >= 8)
		{
			uint64_t	word;

			memcpy(&word, text + i, 8);
			/* no high bit, and none borrowed by a zero byte */
			if (((word | (word - ONES)) & HIGHS) == 0)
			{
				i += 8;
				count += 8;
				continue;
			}
		}
		if (text[i] == 0)
			return false;
		sequence = csv_utf8_sequence(text + i, nbytes - i);
		if (sequence == 0)
			return false;
		i += sequence;
		count++;
	}
	*nchars = count;
	return true;
}

/*
 * Copy text with doubled quotes, leaving out the second of each two.
 */
static void
copy_undoubled(const CsvIndex *index, uint64_t from, uint64_t nbytes,
			   uint8_t *to)
{
	const uint8_t *bytes = index->input->bytes;
	uint64_t	end = from + nbytes;

	while (csv_any_between(index->quotes, from, end))
	{
		uint64_t	quote = csv_select_from(index->quotes, from, 0);

		memcpy(to, bytes + from, quote + 1 - from);
		to += quote + 1 - from;
		from = quote + 2;
	}
	memcpy(to, bytes + from, end - from);
}

static inline __attribute__((always_inline)) void
text_loop(CsvColumnLoop *loop, uint32_t nrows, bool uniform)
{
	static const uint8_t blanks[CSV_COPY_BYTES + 1] =
	"                                ";
	const CsvLayout *layout = loop->columns->layout;
	const CsvIndex *index = loop->columns->index;
	const CsvDialect *dialect = loop->columns->dialect;
	const CsvColumn *column = loop->column;
	const uint8_t *const bytes = loop->bytes;
	const uint8_t *const bad = loop->bad;
	const uint64_t *const quotes = index->quotes;
	const uint8_t *const unplain = index->unplain;
	const uint8_t *const null_bytes = layout->null_bytes;
	const uint64_t null_length = layout->null_length;
	const uint8_t quote = dialect->opt.quote;
	const bool	has_quote = quote != 0;
	const bool	has_escape = has_quote && dialect->opt.escape != quote;
	const bool	anywhere = has_quote &&
		dialect->opt.quoting == CSV_QUOTING_POSTGRES;
	const bool	utf8 = layout->encoding == CSV_ENCODING_UTF8;
	const uint64_t max_chars = column->max_chars < 0 ? UINT64_MAX :
		(uint64_t) column->max_chars;
	const uint64_t type_chars = column->type_chars < 0 ? UINT64_MAX :
		(uint64_t) column->type_chars;
	const uint64_t max_bytes = column->byte_width < 0 ? UINT64_MAX :
		(uint64_t) column->byte_width;
	const bool	careful = column->force_null || layout->has_default;
	const bool	pad_blanks = column->pad_blanks &&
		column->kind == CSV_KIND_TEXT;
	const uint32_t cstring = column->kind == CSV_KIND_CSTRING;
	const uint32_t stride = loop->array->stride;
	const uint64_t room = stride - 4 - cstring;
	uint8_t    *entry = loop->array->values;
	uint8_t    *status = loop->array->status;
	CsvFinder	finder = make_finder(loop);

	finder.uniform = uniform;	/* a constant from here on */
	for (uint32_t row = 0; row < nrows; row++, entry += stride)
	{
		uint64_t	start;
		uint64_t	end;
		uint64_t	from;
		uint64_t	nbytes;
		uint64_t	nchars;
		uint64_t	ndoubled = 0;
		uint64_t	nblanks;
		uint32_t	header;
		const uint8_t *value;

		if (!uniform && bad != NULL && bad[row] != 0)
		{
			status[row] = CSV_VALUE_NULL;
			continue;
		}
		if (!find_field(&finder, row, &start, &end))
		{
			set_status(loop, row, CSV_VALUE_NULL);
			continue;
		}
		from = start;
		nbytes = end - start;
		value = bytes + start;
		if (careful || is_null_string(value, nbytes, null_bytes, null_length))
		{
			slow_value(loop, row, start, end);
			continue;
		}
		if (has_quote && nbytes > 0)
		{
			if (*value == quote)
			{
				if (has_escape || nbytes < 2 || value[nbytes - 1] != quote)
				{
					slow_value(loop, row, start, end);
					continue;
				}
				from++;
				value++;
				nbytes -= 2;
				if (csv_any_between(quotes, from, from + nbytes))
				{
					if (anywhere)
					{
						slow_value(loop, row, start, end);
						continue;
					}
					ndoubled = csv_rank_between(quotes, from,
												from + nbytes) / 2;
				}
			}
			else if (anywhere && csv_any_between(quotes, start, end))
			{
				slow_value(loop, row, start, end);
				continue;
			}
		}
		nchars = nbytes;
		if (!is_plain(unplain, from, from + nbytes) &&
			(!check_text(value, nbytes, &nchars) ||
			 (!utf8 && nchars != nbytes)))
		{
			slow_value(loop, row, start, end);
			continue;
		}
		nchars -= ndoubled;
		nblanks = pad_blanks && nchars < type_chars ? type_chars - nchars : 0;
		if (unlikely_(nchars > max_chars || nchars > type_chars ||
					  nbytes - ndoubled > max_bytes || nbytes + nblanks > room))
		{
			slow_value(loop, row, start, end);
			continue;
		}

		header = csv_varlena_header((uint32_t) (nbytes - ndoubled + nblanks));
		memcpy(entry, &header, 4);
		if (unlikely_(ndoubled > 0))
		{
			copy_undoubled(index, from, nbytes, entry + 4);
			nbytes -= ndoubled;
			memset(entry + 4 + nbytes, ' ', nblanks);
			if (cstring)
				entry[4 + nbytes] = 0;
			status[row] = CSV_VALUE_OK;
			continue;
		}

		/*
		 * Copied in steps: what is written too much is a later entry's, which
		 * is still to come, or the array's spare room; what is read too much
		 * is in the input's margin.
		 */
		for (uint64_t i = 0; i < nbytes; i += CSV_COPY_BYTES)
			memcpy(entry + 4 + i, value + i, CSV_COPY_BYTES);
		for (uint64_t i = 0; i < nblanks; i += CSV_COPY_BYTES)
			memcpy(entry + 4 + nbytes + i, blanks, CSV_COPY_BYTES);
		if (cstring)
			entry[4 + nbytes] = 0;
		status[row] = CSV_VALUE_OK;
	}
}

/* raw bytes of a row's field; 0 where it is not looked at */
static inline uint64_t
field_bytes(const CsvFinder *finder, const uint8_t *bad, uint32_t row)
{
	uint64_t	start;
	uint64_t	end;

	if ((bad != NULL && bad[row] != 0) ||
		!find_field(finder, row, &start, &end))
		return 0;
	return end - start;
}

/*
 * Where the widest value is no small one: the width with the least bytes in the
 * array and in the values that are LONG then.  Lengths are counted by powers of
 * two; the widest value and those are the candidates.
 */
static uint64_t
best_width(const CsvFinder *finder, const uint8_t *bad, uint32_t nrows,
		   uint64_t widest)
{
	uint64_t	count[64] = {0};
	uint64_t	total[64] = {0};
	uint64_t	best = widest;
	uint64_t	best_cost = widest * nrows;
	uint64_t	long_bytes = 0;
	uint64_t	long_count = 0;

	for (uint32_t row = 0; row < nrows; row++)
	{
		uint64_t	nbytes = field_bytes(finder, bad, row);
		int			bucket;

		if (nbytes <= 32)
			continue;			/* never worth being LONG */
		bucket = 64 - __builtin_clzll(nbytes - 1);
		count[bucket]++;
		total[bucket] += nbytes;
	}
	for (int bucket = 63; bucket >= 5; bucket--)
	{
		uint64_t	width = UINT64_C(1) << bucket;

		/* values of up to 2^bucket bytes fit; longer ones cost their own */
		if (width < widest)
		{
			uint64_t	cost = width * nrows + long_bytes + 64 * long_count;

			if (cost < best_cost)
			{
				best_cost = cost;
				best = width;
			}
		}
		long_bytes += total[bucket];
		long_count += count[bucket];
	}
	return best;
}

/*
 * The stride of a text array: wide enough for the widest value, unless a few
 * wide ones would make it cost more than to take them from the input.
 */
static uint32_t
text_stride(CsvColumnLoop *loop, uint32_t nrows)
{
	const CsvColumn *column = loop->column;
	const uint8_t *bad = loop->bad;
	const CsvFinder finder = make_finder(loop);
	uint64_t	width = 0;

	for (uint32_t row = 0; row < nrows; row++)
	{
		uint64_t	nbytes = field_bytes(&finder, bad, row);

		width = nbytes > width ? nbytes : width;
	}
	if (width > 64)
		width = best_width(&finder, bad, nrows, width);

	if (column->pad_blanks && column->kind == CSV_KIND_TEXT)
	{
		/* blanks come on top of what is longer than its characters */
		width += (uint64_t) column->type_chars;
		if (width > 4 * (uint64_t) column->type_chars)
			width = 4 * (uint64_t) column->type_chars;
	}
	if (column->byte_width >= 0 && width > (uint64_t) column->byte_width &&
		!column->pad_blanks)
		width = (uint64_t) column->byte_width;
	width += column->kind == CSV_KIND_CSTRING;
	return (uint32_t) (4 + (width + 3) / 4 * 4);
}

/* one loop per kind, so that each is compiled for its own */
#define SCALAR_CASE(kind_) \
	case kind_: \
		if (loop->uniform) \
			scalar_loop(loop, nrows, kind_, true); \
		else \
			scalar_loop(loop, nrows, kind_, false); \
		break;

static void
fill_array(CsvColumnLoop *loop, uint32_t nrows)
{
	switch (loop->column->kind)
	{
		case CSV_KIND_TEXT:
		case CSV_KIND_CSTRING:
			if (loop->uniform)
				text_loop(loop, nrows, true);
			else
				text_loop(loop, nrows, false);
			break;
			SCALAR_CASE(CSV_KIND_BOOL)
			SCALAR_CASE(CSV_KIND_INT2)
			SCALAR_CASE(CSV_KIND_INT4)
			SCALAR_CASE(CSV_KIND_INT8)
			SCALAR_CASE(CSV_KIND_FLOAT4)
			SCALAR_CASE(CSV_KIND_FLOAT8)
			SCALAR_CASE(CSV_KIND_NUMERIC)
			SCALAR_CASE(CSV_KIND_DATE)
			SCALAR_CASE(CSV_KIND_TIMESTAMP)
			SCALAR_CASE(CSV_KIND_TIMESTAMPTZ)
			SCALAR_CASE(CSV_KIND_UUID)
			SCALAR_CASE(CSV_KIND_DECIMAL64)
			SCALAR_CASE(CSV_KIND_DECIMAL128)
		default:
			break;
	}
}

/* ---- the batch ---- */

/*
 * Records with a wrong number of fields.
 */
static void
check_counts(CsvColumns *columns)
{
	const CsvIndex *index = columns->index;
	const CsvIndexRecord *records = index->records;
	uint32_t	expected = columns->layout->nfields;

	for (uint32_t row = 0; row < index->nrecords; row++)
	{
		uint32_t	nfields = records[row + 1].first_separator -
			records[row].first_separator;

		if (likely_(nfields == expected))
			continue;
		if (!columns->any_bad_row)
		{
			memset(columns->row_code.bytes, 0, index->nrecords);
			columns->any_bad_row = true;
		}
		columns->row_code.bytes[row] = CSV_ERROR_COLUMN_COUNT;
		((uint32_t *) columns->row_where.bytes)[row] = nfields;
	}
}

/*
 * Merge the errors of structure with those of the rows, in record order.
 */
static CsvStatus
list_errors(CsvColumns *columns, CsvBatch *batch)
{
	const CsvIndex *index = columns->index;
	const uint8_t *codes = columns->row_code.bytes;
	const uint32_t *wheres = (const uint32_t *) columns->row_where.bytes;
	const CsvIndexRecord *records = index->records;
	uint32_t	nerrors = index->nerrors;
	uint32_t	taken = 0;		/* errors of structure so far */
	uint32_t	good = 0;
	CsvError   *next;

	if (!columns->any_bad_row)
	{
		batch->errors = index->errors;
		batch->nerrors = index->nerrors;
		batch->nrows = index->nrecords;
		return CSV_OK;
	}

	for (uint32_t row = 0; row < index->nrecords; row++)
		nerrors += codes[row] != CSV_ERROR_NONE;
	if (!buffer_reserve(columns->memory, &columns->errors,
						nerrors * sizeof(CsvError)))
		return CSV_NO_MEMORY;
	next = (CsvError *) columns->errors.bytes;
	for (uint32_t row = 0; row <= index->nrecords; row++)
	{
		uint64_t	separator;

		while (taken < index->nerrors && index->errors[taken].before_row <= row)
		{
			*next = index->errors[taken++];
			next->before_row = good;
			next++;
		}
		if (row == index->nrecords)
			break;
		if (codes[row] == CSV_ERROR_NONE)
		{
			good++;
			continue;
		}
		separator = csv_select_from(index->separators, records[row].start,
									records[row + 1].first_separator -
									records[row].first_separator - 1);
		next->offset = records[row].start;
		next->length = csv_content_end(columns->dialect, index->input->bytes,
									   records[row].start, separator,
									   index->input->nbytes) -
			records[row].start;
		next->record = row + taken;
		next->line = records[row].line;
		next->before_row = good;
		next->code = codes[row];
		next->mode = CSV_NORMAL;
		next->where = wheres[row];
		next++;
	}
	batch->errors = (CsvError *) columns->errors.bytes;
	batch->nerrors = nerrors;
	batch->nrows = good;
	return CSV_OK;
}

/* close up the arrays where rows are bad */
static void
close_up(CsvColumns *columns)
{
	const uint8_t *codes = columns->row_code.bytes;

	for (uint32_t c = 0; c < columns->layout->ncolumns; c++)
	{
		CsvArray   *array = &columns->arrays[c];
		uint32_t	good = 0;

		for (uint32_t row = 0; row < columns->index->nrecords; row++)
		{
			if (codes[row] != CSV_ERROR_NONE)
				continue;
			if (good != row)
			{
				memcpy(array->values + (size_t) good * array->stride,
					   array->values + (size_t) row * array->stride,
					   array->stride);
				array->status[good] = array->status[row];
			}
			good++;
		}
	}
}

static CsvStatus
list_rows(CsvColumns *columns, CsvBatch *batch)
{
	const CsvIndex *index = columns->index;
	const uint8_t *codes = columns->row_code.bytes;
	uint32_t	good = 0;

	if (!buffer_reserve(columns->memory, &columns->row_offsets,
						batch->nrows * sizeof(uint32_t)) ||
		!buffer_reserve(columns->memory, &columns->row_lines,
						batch->nrows * sizeof(uint32_t)))
		return CSV_NO_MEMORY;
	batch->row_offsets = (uint32_t *) columns->row_offsets.bytes;
	batch->row_lines = (uint32_t *) columns->row_lines.bytes;
	for (uint32_t row = 0; row < index->nrecords; row++)
	{
		if (columns->any_bad_row && codes[row] != CSV_ERROR_NONE)
			continue;
		batch->row_offsets[good] = index->records[row].start;
		batch->row_lines[good] = index->records[row].line;
		good++;
	}
	return CSV_OK;
}

CsvStatus
csv_columns_build(CsvColumns *columns, const CsvIndex *index, CsvBatch *batch)
{
	const CsvLayout *layout = columns->layout;
	const CsvInput *input = index->input;
	const CsvMemory *memory = columns->memory;
	uint32_t	nrows = index->nrecords;
	bool		any_slow = false;
	CsvStatus	status;

	columns->index = index;
	columns->any_bad_row = false;
	columns->no_memory = false;
	if (!buffer_reserve(memory, &columns->row_code, nrows) ||
		!buffer_reserve(memory, &columns->row_where, nrows * sizeof(uint32_t)))
		return CSV_NO_MEMORY;

	if (!layout->pad)
		check_counts(columns);
	if (layout->ncolumns > 0)
	{
		if (!buffer_reserve(memory, &columns->positions,
							(index->nseparators + 8) * sizeof(uint32_t)))
			return CSV_NO_MEMORY;
		index->functions->list_positions(index, (uint32_t *)
										 columns->positions.bytes);
	}

	for (uint32_t c = 0; c < layout->ncolumns; c++)
	{
		const CsvColumn *column = &layout->columns[c];
		CsvArray   *array = &columns->arrays[c];
		CsvColumnLoop loop;

		if (input->interrupted != NULL &&
			input->interrupted(input->interrupted_arg))
			return CSV_INTERRUPTED;

		loop.columns = columns;
		loop.column = column;
		loop.number = c;
		loop.records = index->records;
		loop.positions = (const uint32_t *) columns->positions.bytes;
		loop.bytes = input->bytes;
		loop.bad = columns->any_bad_row ? columns->row_code.bytes : NULL;
		loop.array = array;
		loop.any_not_ok = false;
		loop.uniform = false;

		memset(array, 0, sizeof(*array));
		if (column->kind == CSV_KIND_TEXT || column->kind == CSV_KIND_CSTRING)
			array->stride = text_stride(&loop, nrows);
		else
			array->stride = csv_value_stride(column);
		if (!buffer_reserve(memory, &columns->values[c],
							(size_t) nrows * array->stride) ||
			!buffer_reserve(memory, &columns->status[c], nrows))
			return CSV_NO_MEMORY;
		array->values = columns->values[c].bytes;
		array->status = columns->status[c].bytes;

		/*
		 * A row that an earlier field has spoilt is not looked at any more,
		 * but another column of the same field may still have the error that
		 * comes first.
		 */
		if (c > 0 && layout->columns[c - 1].field == column->field &&
			columns->any_bad_row)
			loop.bad = NULL;
		loop.uniform = !layout->pad && !columns->any_bad_row;
		fill_array(&loop, nrows);
		if (columns->no_memory)
			return CSV_NO_MEMORY;
		array->all_ok = !loop.any_not_ok;
		any_slow |= array->any_slow;
	}

	status = list_errors(columns, batch);
	if (status != CSV_OK)
		return status;
	if (columns->any_bad_row)
		close_up(columns);
	if (layout->want_positions || any_slow)
	{
		status = list_rows(columns, batch);
		if (status != CSV_OK)
			return status;
	}
	batch->arrays = columns->arrays;
	batch->nrecords = batch->nrows + batch->nerrors;
	return CSV_OK;
}
