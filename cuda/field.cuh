/*
 * field.cuh
 *		A field of a record on the device, and checks by one thread.
 */
#ifndef CSV_CUDA_FIELD_CUH
#define CSV_CUDA_FIELD_CUH

#include "parse.cuh"
#include "../src/reader/field.h"
#include "../src/reader/words.h"

/* The record of a row.  If all records are good, there is no list of rows. */
static __device__ __forceinline__ uint32_t
csv_row_record(const CsvView &view, uint32_t row)
{
	return view.counters->nrows == view.nrecords ? row : view.rows[row];
}

/*
 * Find the content of a field.  False if the record has no such field (ragged 'pad').
 */
static __device__ __forceinline__ bool
csv_find_field(const CsvView &view, uint32_t record, uint32_t field,
			   uint32_t *start, uint32_t *end)
{
	uint32_t	first = view.record_first[record];
	uint32_t	nfields = view.record_first[record + 1] - first;

	if (field >= nfields)
		return false;
	*start = field == 0 ? view.record_start[record] :
		view.separators[first + field - 1] + csv_delimiter_length(&view.dialect.opt);
	*end = view.separators[first + field];
	if (field + 1 == nfields)
		*end = (uint32_t) csv_content_end(&view.dialect, view.bytes, *start,
										  *end, view.nbytes);
	if (view.dialect.opt.trim)
	{
		uint64_t	from = *start;
		uint64_t	to = *end;

		csv_trim(&view.dialect.opt, view.bytes, &from, &to);
		*start = (uint32_t) from;
		*end = (uint32_t) to;
	}
	return true;
}

/* are the field's raw bytes the column's default, which is unquoted? */
static __device__ __forceinline__ bool
csv_is_default_string(const CsvView &view, const uint8_t *field,
					  uint32_t length)
{
	return view.layout.has_default &&
		csv_bytes_equal(field, length, view.layout.default_bytes,
						view.layout.default_length);
}

static __device__ __forceinline__ void
csv_report_error(const CsvView &view, uint32_t record, uint32_t column,
				 uint32_t code)
{
	atomicMin(&view.record_key[record],
			  CSV_MAKE_KEY(view.columns[column].group, code, column));
	view.counters->any_bad = 1;
	view.counters->value_errors = 1;
}

/* ---- words of the input ---- */

/* the low n bytes of a word */
static __device__ __forceinline__ uint32_t
csv_low_bytes(uint32_t n)
{
	return __funnelshift_lc(UINT32_MAX, 0, 8 * min(n, 4));
}

/* the top bit of each zero byte, and perhaps of a byte of 1 above a zero byte */
static __device__ __forceinline__ uint32_t
csv_zero_bytes(uint32_t word)
{
	return (word - 0x01010101u) & ~word & 0x80808080u;
}

/*
 * Is there anything except plain ASCII text among the n bytes at p: zero bytes, bytes
 * beyond ASCII or, if quote is not 0, quotes?  Looks at four bytes at a time.
 * Sometimes true because of a neighbour's bytes: it is only a hint.
 */
static __device__ __forceinline__ bool
csv_look_for(const uint8_t *p, uint32_t n, uint8_t quote)
{
	uint32_t	offset = (uint32_t) (uintptr_t) p & 3;
	const uint32_t *words = (const uint32_t *) (p - offset);
	uint32_t	nwords = (offset + n + 3) / 4;
	uint32_t	seen = 0;

#pragma unroll 1
	for (uint32_t i = 0; i < nwords; i++)
	{
		uint32_t	four = words[i];

		seen |= four | csv_zero_bytes(four);
		if (quote != 0)
		{
			uint32_t	in = csv_low_bytes(offset + n - 4 * i);

			if (i == 0)
				in &= UINT32_MAX << (8 * offset);
			seen |= csv_zero_bytes(four ^ quote * 0x01010101u) & in;
		}
	}
	return (seen & 0x80808080u) != 0;
}

/*
 * Is the byte at i, which is beyond ASCII, right in valid UTF-8?  A text is valid if
 * every byte except continuations begins a valid sequence, and every continuation lies
 * within reach of one of the three bytes before it.
 */
static __device__ __forceinline__ bool
csv_utf8_valid_at(const uint8_t *text, uint32_t i, uint32_t length)
{
	if (csv_utf8_begins(text[i]))
		return csv_utf8_sequence(text + i, length - i) != 0;
	return (i >= 1 && text[i - 1] >= 0xC0) ||
		(i >= 2 && text[i - 2] >= 0xE0) ||
		(i >= 3 && text[i - 3] >= 0xF0);
}

/* ---- values byte by byte ---- */

/* are these bytes the value, without quotes and escapes? */
static __device__ __forceinline__ bool
csv_value_is(const CsvView &view, const uint8_t *field, uint32_t length,
			 const uint8_t *bytes, uint32_t nbytes)
{
	CsvUnquoter value = csv_unquoter(&view.dialect, field, length);

	for (uint32_t i = 0; i < nbytes; i++)
		if (csv_unquoter_next(&value) != bytes[i])
			return false;
	return csv_unquoter_next(&value) < 0;
}

/* does the value stand for NULL in the column? */
static __device__ __forceinline__ bool
csv_value_is_null_string(const CsvView &view, const CsvColumn &column,
						 const uint8_t *field, uint32_t length)
{
	const uint8_t *values = view.layout.null_values;

	if (csv_value_is(view, field, length, view.layout.null_bytes,
					 view.layout.null_length))
		return true;
	for (uint32_t i = column.nulls_from; i < column.nulls_to; i += 1 + values[i])
		if (csv_value_is(view, field, length, values + i + 1, values[i]))
			return true;
	return false;
}

/* is a value of valid text blank beyond its first nchars characters? */
static __device__ __forceinline__ bool
csv_blanks_beyond(const CsvView &view, const uint8_t *field, uint32_t length,
				  uint32_t nchars)
{
	CsvUnquoter value = csv_unquoter(&view.dialect, field, length);
	uint32_t	seen = 0;
	int			byte;

	while ((byte = csv_unquoter_next(&value)) >= 0)
	{
		if (csv_utf8_begins((uint8_t) byte))
			seen++;
		if (seen > nchars && byte != ' ')
			return false;
	}
	return true;
}

/* ---- verdicts on fields ---- */

/* how to get a field's value */
typedef enum CsvTextSource
{
	CSV_SOURCE_NONE,			/* the entry is zero */
	CSV_SOURCE_PLAIN,			/* bytes of the input as they stand */
	CSV_SOURCE_UNQUOTED			/* unquote it byte by byte */
} CsvTextSource;

typedef struct CsvVerdict
{
	uint8_t		status;			/* CsvValueStatus */
	uint8_t		source;			/* CsvTextSource, of text that is OK */
	uint8_t		skip;			/* PLAIN: bytes of the field before the value */
	uint32_t	nbytes;			/* of the value, after cutting */
	uint32_t	stored;			/* with padding */
} CsvVerdict;

static __device__ __forceinline__ CsvVerdict
csv_without_value(CsvValueStatus status)
{
	CsvVerdict	verdict;

	verdict.status = status;
	verdict.source = CSV_SOURCE_NONE;
	verdict.skip = 0;
	verdict.nbytes = 0;
	verdict.stored = 0;
	return verdict;
}

/*
 * The last step for TEXT and CSTRING: limits, cutting, padding, and whether the value
 * fits.  `measure` is of the whole value.  plain_skip is the number of bytes of the
 * field before the value, or -1 if the value is not plain.
 */
static __device__ __forceinline__ CsvVerdict
csv_judge_text(const CsvView &view, uint32_t record, uint32_t number,
			   const CsvDeviceColumn &device_column, const CsvMeasure &measure,
			   bool blanks_beyond, int plain_skip)
{
	const CsvColumn &column = device_column.column;
	CsvVerdict	verdict = csv_without_value(CSV_VALUE_OK);
	bool		doubtful;
	uint64_t	cut_chars;
	int			code;

	code = csv_field_verdict(&column, &view.layout, &measure, blanks_beyond,
							 &doubtful, &cut_chars);
	if (code != CSV_ERROR_NONE)
	{
		csv_report_error(view, record, number, code);
		return verdict;
	}
	if (doubtful)
		return csv_without_value(CSV_VALUE_DOUBTFUL);

	/* the cut characters are blanks of one byte */
	verdict.nbytes = (uint32_t) measure.nbytes;
	if (cut_chars != UINT64_MAX)
		verdict.nbytes -= (uint32_t) (measure.nchars - cut_chars);
	verdict.stored = verdict.nbytes;
	if (column.pad_blanks && column.kind == CSV_KIND_TEXT &&
		measure.nchars < (uint64_t) column.type_chars)
	{
		uint64_t	stored = verdict.stored +
			((uint64_t) column.type_chars - measure.nchars);

		if (stored > CSV_MAX_STRIDE)
			return csv_without_value(CSV_VALUE_LONG);
		verdict.stored = (uint32_t) stored;
	}
	if ((uint64_t) verdict.stored + 4 + (column.kind == CSV_KIND_CSTRING) >
		device_column.stride)
		return csv_without_value(CSV_VALUE_LONG);
	verdict.source = plain_skip < 0 ? CSV_SOURCE_UNQUOTED : CSV_SOURCE_PLAIN;
	verdict.skip = plain_skip < 0 ? 0 : (uint8_t) plain_skip;
	return verdict;
}

/*
 * The last step for a scalar that was not converted.  Sets doubtful if it must not be
 * converted.
 */
static __device__ __forceinline__ CsvVerdict
csv_judge_scalar(const CsvView &view, uint32_t record, uint32_t number,
				 const CsvColumn &column, const CsvMeasure &measure,
				 bool &doubtful)
{
	uint64_t	cut_chars;
	int			code = csv_field_verdict(&column, &view.layout, &measure, true,
										 &doubtful, &cut_chars);

	if (code == CSV_ERROR_NONE)
		return csv_without_value(CSV_VALUE_DOUBTFUL);
	csv_report_error(view, record, number, code);
	return csv_without_value(CSV_VALUE_OK);
}

/* word k of a text entry with a plain value */
static __device__ __forceinline__ uint32_t
csv_text_word(const uint8_t *field, const CsvVerdict &verdict, uint32_t k)
{
	uint32_t	word = 0;
	uint32_t	offset = 4 * (k - 1);
	uint32_t	in = 0;			/* bytes of the value */

	if (k == 0)
		return csv_varlena_header(verdict.stored);
	if (offset < verdict.nbytes)
	{
		in = csv_low_bytes(verdict.nbytes - offset);
		word = csv_load4(field + verdict.skip + offset) & in;
	}
	if (offset < verdict.stored)
		word |= 0x20202020u & csv_low_bytes(verdict.stored - offset) & ~in;
	return word;
}

/* unquote a whole text entry, by one thread */
static __device__ __forceinline__ void
csv_write_unquoted(const CsvView &view, const CsvVerdict &verdict,
				   const uint8_t *field, uint32_t field_length,
				   uint8_t *entry, uint32_t stride)
{
	CsvUnquoter value = csv_unquoter(&view.dialect, field, field_length);
	uint32_t	offset = 0;

	*(uint32_t *) entry = csv_varlena_header(verdict.stored);
	for (uint32_t k = 1; k < stride / 4; k++)
	{
		uint32_t	word = 0;

		for (uint32_t i = 0; i < 4; i++, offset++)
		{
			uint32_t	byte = 0;

			if (offset < verdict.nbytes)
				byte = (uint32_t) csv_unquoter_next(&value);
			else if (offset < verdict.stored)
				byte = ' ';
			word |= byte << (8 * i);
		}
		((uint32_t *) entry)[k] = word;
	}
}

/* ---- long fields ---- */

/*
 * Put a field on the list for warps to measure.  False if the list is full; then the
 * thread must measure it.
 */
static __device__ __forceinline__ bool
csv_push_long(const CsvView &view, uint32_t row, uint32_t record,
			  uint32_t column, uint32_t start, uint32_t length)
{
	uint32_t	npieces = (length + CSV_PIECE_BYTES - 1) / CSV_PIECE_BYTES;
	uint32_t	slot = atomicAdd(&view.counters->nlongs, 1);
	uint32_t	first;
	bool		fits;
	CsvLong		entry;

	if (slot >= view.max_longs)
		return false;
	first = atomicAdd(&view.counters->npieces, npieces);
	fits = first <= view.max_pieces && npieces <= view.max_pieces - first;
	for (uint32_t i = 0; i < npieces && first + i < view.max_pieces; i++)
		view.pieces[first + i].owner = fits ? slot : UINT32_MAX;
	entry.row = row;
	entry.record = record;
	entry.column = fits ? column : UINT32_MAX;
	entry.start = start;
	entry.length = length;
	entry.first_piece = first;
	view.longs[slot] = entry;
	return fits;
}

#endif							/* CSV_CUDA_FIELD_CUH */
