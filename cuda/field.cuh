/*
 * field.cuh
 *		A field of a record on the device, and the checks of one thread.
 */
#ifndef CSV_CUDA_FIELD_CUH
#define CSV_CUDA_FIELD_CUH

#include "parse.cuh"
#include "../src/reader/field.h"

/*
 * Where the content of a field is.  False if the record has no such field
 * (ragged 'pad').
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
		view.separators[first + field - 1] + 1;
	*end = view.separators[first + field];
	if (field + 1 == nfields)
		*end = (uint32_t) csv_content_end(&view.dialect, view.bytes, *start,
										  *end, view.nbytes);
	return true;
}

static __device__ __forceinline__ bool
csv_is_null_string(const CsvView &view, uint32_t start, uint32_t end)
{
	return csv_bytes_equal(view.bytes + start, end - start,
						   view.layout.null_bytes, view.layout.null_length);
}

static __device__ __forceinline__ bool
csv_is_default_string(const CsvView &view, uint32_t start, uint32_t end)
{
	return view.layout.has_default &&
		csv_bytes_equal(view.bytes + start, end - start,
						view.layout.default_bytes, view.layout.default_length);
}

static __device__ __forceinline__ void
csv_report_error(const CsvView &view, uint32_t record, uint32_t column,
				 uint32_t code)
{
	atomicMin(&view.record_key[record],
			  CSV_MAKE_KEY(view.columns[column].group, code, column));
	view.counters->value_errors = 1;
}

/* ---- words of the input ---- */

/* the low n bytes of a word */
static __device__ __forceinline__ uint32_t
csv_low_bytes(uint32_t n)
{
	return n >= 4 ? UINT32_MAX : (1u << (8 * n)) - 1;
}

/* four bytes from any position; the three behind them may be read as well */
static __device__ __forceinline__ uint32_t
csv_load_word(const uint8_t *bytes, uint32_t position)
{
	const uint32_t *words = (const uint32_t *) bytes;
	uint32_t	word = position / 4;

	return __funnelshift_r(words[word], words[word + 1], 8 * (position % 4));
}

#define CSV_HAS_ZERO		1
#define CSV_HAS_HIGH		2
#define CSV_HAS_SPECIAL		4	/* quote or escape, where there is quoting */

/* which of these bytes are in [start, end), four at a time */
static __device__ __forceinline__ uint32_t
csv_look_for(const CsvView &view, uint32_t start, uint32_t end)
{
	const uint32_t *words = (const uint32_t *) view.bytes;
	const uint32_t quotes = view.dialect.opt.quote * 0x01010101u;
	const uint32_t escapes = view.dialect.opt.escape * 0x01010101u;
	uint32_t	zero = 0;
	uint32_t	high = 0;
	uint32_t	special = 0;

	if (start >= end)
		return 0;
	for (uint32_t word = start / 4; word <= (end - 1) / 4; word++)
	{
		uint32_t	four = words[word];
		uint32_t	in = UINT32_MAX;

		if (word == start / 4)
			in <<= 8 * (start % 4);
		if (word == (end - 1) / 4)
			in &= csv_low_bytes(end - 4 * word);
		high |= four & in;
		zero |= __vcmpeq4(four, 0) & in;
		special |= (__vcmpeq4(four, quotes) | __vcmpeq4(four, escapes)) & in;
	}
	if (view.dialect.opt.quote == 0)
		special = 0;
	return (zero != 0 ? CSV_HAS_ZERO : 0) |
		((high & 0x80808080u) != 0 ? CSV_HAS_HIGH : 0) |
		(special != 0 ? CSV_HAS_SPECIAL : 0);
}

/* ---- values byte by byte ---- */

/* yields what csv_unquote writes */
struct CsvUnquoter
{
	const uint8_t *field;
	uint32_t	length;
	uint32_t	next;
	uint8_t		quote;
	uint8_t		escape;
	bool		anywhere;
	bool		inside;

	__device__ __forceinline__
	CsvUnquoter(const CsvView &view, uint32_t start, uint32_t field_length)
	{
		field = view.bytes + start;
		length = field_length;
		next = 0;
		quote = view.dialect.opt.quote;
		escape = view.dialect.opt.escape;
		anywhere = view.dialect.opt.quoting == CSV_QUOTING_POSTGRES;
		inside = false;
	}

	/* the next byte, or -1 */
	__device__ __forceinline__ int
	get()
	{
		while (next < length)
		{
			uint32_t	i = next++;
			uint8_t		byte = field[i];

			if (!inside)
			{
				if (quote != 0 && byte == quote && (i == 0 || anywhere))
				{
					inside = true;
					continue;
				}
			}
			else if (byte == escape && i + 1 < length &&
					 (field[i + 1] == quote || field[i + 1] == escape))
				byte = field[next++];
			else if (byte == quote)
			{
				inside = false;
				continue;
			}
			return byte;
		}
		return -1;
	}
};

/* is the value, quotes and escapes removed, the null string? */
static __device__ __forceinline__ bool
csv_value_is_null_string(const CsvView &view, uint32_t start, uint32_t length)
{
	CsvUnquoter value(view, start, length);

	for (uint32_t i = 0; i < view.layout.null_length; i++)
		if (value.get() != view.layout.null_bytes[i])
			return false;
	return value.get() < 0;
}

/* is a value of valid text blank beyond its first nchars characters? */
static __device__ __forceinline__ bool
csv_blanks_beyond(const CsvView &view, uint32_t start, uint32_t length,
				  uint32_t nchars)
{
	CsvUnquoter value(view, start, length);
	uint32_t	seen = 0;
	int			byte;

	while ((byte = value.get()) >= 0)
	{
		if (csv_utf8_begins((uint8_t) byte))
			seen++;
		if (seen > nchars && byte != ' ')
			return false;
	}
	return true;
}

/* ---- what becomes of a field ---- */

/* how a field's value is to be had */
typedef enum CsvSource
{
	CSV_SOURCE_NONE,			/* the entry is zero */
	CSV_SOURCE_PLAIN,			/* bytes of the input as they stand */
	CSV_SOURCE_UNQUOTED			/* to be unquoted byte by byte */
} CsvSource;

typedef struct CsvVerdict
{
	uint8_t		status;			/* CsvValueStatus */
	uint8_t		source;			/* CsvSource, of text that is OK */
	uint32_t	start;			/* PLAIN: of the value; UNQUOTED: of the field */
	uint32_t	nbytes;			/* of the value that are kept */
	uint32_t	stored;			/* the same with padding */
} CsvVerdict;

static __device__ __forceinline__ CsvVerdict
csv_without_value(CsvValueStatus status)
{
	CsvVerdict	verdict;

	verdict.status = status;
	verdict.source = CSV_SOURCE_NONE;
	verdict.start = 0;
	verdict.nbytes = 0;
	verdict.stored = 0;
	return verdict;
}

/*
 * The last step for TEXT and CSTRING: limits, cutting, padding, and whether it
 * fits.  `measure` is the whole value; plain_start is where it stands, or
 * UINT32_MAX.
 */
static __device__ __forceinline__ CsvVerdict
csv_judge_text(const CsvView &view, uint32_t record, uint32_t number,
			   const CsvDeviceColumn &device_column, const CsvMeasure &measure,
			   bool blanks_beyond, uint32_t start, uint32_t plain_start)
{
	const CsvColumn &column = device_column.column;
	CsvVerdict	verdict = csv_without_value(CSV_VALUE_OK);
	bool		doubtful;
	uint64_t	cut_chars;
	int			code;

	code = csv_field_verdict(&column, view.layout.encoding, &measure,
							 blanks_beyond, &doubtful, &cut_chars);
	if (code != CSV_ERROR_NONE)
	{
		csv_report_error(view, record, number, code);
		return verdict;
	}
	if (doubtful)
		return csv_without_value(CSV_VALUE_DOUBTFUL);

	/* what is cut are blanks, one byte each */
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
	verdict.source = plain_start == UINT32_MAX ? CSV_SOURCE_UNQUOTED :
		CSV_SOURCE_PLAIN;
	verdict.start = plain_start == UINT32_MAX ? start : plain_start;
	return verdict;
}

/* the last step for a scalar that was not converted */
static __device__ __forceinline__ CsvVerdict
csv_judge_scalar(const CsvView &view, uint32_t record, uint32_t number,
				 const CsvColumn &column, const CsvMeasure &measure)
{
	bool		doubtful;
	uint64_t	cut_chars;
	int			code = csv_field_verdict(&column, view.layout.encoding,
										 &measure, true, &doubtful, &cut_chars);

	if (code == CSV_ERROR_NONE)
		return csv_without_value(CSV_VALUE_DOUBTFUL);
	csv_report_error(view, record, number, code);
	return csv_without_value(CSV_VALUE_OK);
}

/* word k of a text entry */
static __device__ __forceinline__ uint32_t
csv_text_word(const CsvView &view, const CsvVerdict &verdict, uint32_t k)
{
	uint32_t	word = 0;
	uint32_t	offset;

	if (verdict.source == CSV_SOURCE_NONE)
		return 0;
	if (k == 0)
		return csv_varlena_header(verdict.stored);
	offset = 4 * (k - 1);
	if (offset < verdict.nbytes)
		word = csv_load_word(view.bytes, verdict.start + offset) &
			csv_low_bytes(verdict.nbytes - offset);
	if (verdict.stored > verdict.nbytes && offset < verdict.stored)
	{
		uint32_t	value = verdict.nbytes > offset ?
			csv_low_bytes(verdict.nbytes - offset) : 0;

		if (offset + 4 > verdict.nbytes)
			word |= 0x20202020u & csv_low_bytes(verdict.stored - offset) &
				~value;
	}
	return word;
}

/* a whole text entry that is to be unquoted, by one thread */
static __device__ __forceinline__ void
csv_write_unquoted(const CsvView &view, const CsvVerdict &verdict,
				   uint32_t field_length, uint8_t *entry, uint32_t stride)
{
	CsvUnquoter value(view, verdict.start, field_length);
	uint32_t	offset = 0;

	*(uint32_t *) entry = csv_varlena_header(verdict.stored);
	for (uint32_t k = 1; k < stride / 4; k++)
	{
		uint32_t	word = 0;

		for (uint32_t i = 0; i < 4; i++, offset++)
		{
			uint32_t	byte = 0;

			if (offset < verdict.nbytes)
				byte = (uint32_t) value.get();
			else if (offset < verdict.stored)
				byte = ' ';
			word |= byte << (8 * i);
		}
		((uint32_t *) entry)[k] = word;
	}
}

/* ---- long fields ---- */

/*
 * Put a field on the list of those that warps measure.  False where the list
 * is full; the thread then does it alone.
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
