/*
 * longs.cu
 *		Long fields: warps measure them in pieces, so that one field of 10 MB does
 *		not hold up a million short fields.
 *
 * The pieces' findings are put together for the field's checks:
 *
 *	- zero bytes, bytes beyond ASCII: in any piece.
 *	- UTF-8: each byte is checked alone (csv_utf8_valid_at), with up to three
 *	  neighbours on either side, even in other pieces.
 *	- characters: bytes that begin a character.
 *	- quotes and escapes to remove: csv_unquote is a machine of three states.  A
 *	  stretch of bytes maps the state before it to the state after it and to the
 *	  number of bytes removed.  Such maps compose, as in structure.cuh.
 *	- blanks at the end: the end of the last byte that is not a blank.
 *
 * With CSV_QUOTING_TEXT, one thread measures a field with escapes.
 */
#include "field.cuh"
#include "../src/reader/patterns.h"

#define QUOTES_IDENTITY	(CSV_OUTSIDE | CSV_INSIDE << 2 | CSV_ESCAPED << 4)

static __device__ __forceinline__ uint32_t
leaves_in(uint32_t leaves, uint32_t state)
{
	return leaves >> (2 * state) & 3;
}

static __device__ __forceinline__ uint32_t
removed_from(const CsvQuoteMap &stretch, uint32_t state)
{
	return state == CSV_OUTSIDE ? stretch.removed[CSV_OUTSIDE] :
		state == CSV_INSIDE ? stretch.removed[CSV_INSIDE] :
		stretch.removed[CSV_ESCAPED];
}

/* first a, then b */
static __device__ __forceinline__ CsvQuoteMap
compose(const CsvQuoteMap &a, const CsvQuoteMap &b)
{
	CsvQuoteMap whole;

	whole.leaves = 0;
#pragma unroll
	for (int state = 0; state < CSV_NUM_QUOTE_STATES; state++)
	{
		uint32_t	middle = leaves_in(a.leaves, state);

		whole.leaves |= leaves_in(b.leaves, middle) << (2 * state);
		whole.removed[state] = a.removed[state] + removed_from(b, middle);
	}
	return whole;
}

/* one byte of csv_unquote's machine; i is its offset in the field */
static __device__ __forceinline__ uint32_t
quote_step(const CsvDialect &dialect, uint32_t state, uint8_t byte,
		   uint8_t next, uint32_t i, uint32_t length, uint32_t *removed)
{
	const uint8_t quote = dialect.opt.quote;
	const uint8_t escape = dialect.opt.escape;

	if (state == CSV_ESCAPED)
		return CSV_INSIDE;
	if (quote == 0)
		return state;
	if (state == CSV_OUTSIDE)
	{
		if (byte == quote &&
			(i == 0 || dialect.opt.quoting == CSV_QUOTING_POSTGRES))
		{
			(*removed)++;
			return CSV_INSIDE;
		}
		return CSV_OUTSIDE;
	}
	if (byte == escape && i + 1 < length && (next == quote || next == escape))
	{
		(*removed)++;
		return CSV_ESCAPED;
	}
	if (byte == quote)
	{
		(*removed)++;
		return CSV_OUTSIDE;
	}
	return CSV_INSIDE;
}

static __device__ void
measure_piece(const CsvView &view, CsvLongPiece *piece, uint32_t number)
{
	const CsvLong entry = view.longs[piece->owner];
	const CsvDialect &dialect = view.dialect;
	const bool	is_text = dialect.opt.quoting == CSV_QUOTING_TEXT;
	const uint8_t *field = view.bytes + entry.start;
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	from = (number - entry.first_piece) * CSV_PIECE_BYTES;
	uint32_t	until = min(from + CSV_PIECE_BYTES, entry.length);
	uint32_t	flags = 0;
	uint32_t	nbegins = 0;
	uint32_t	nonblank_end = 0;
	CsvQuoteMap whole = {QUOTES_IDENTITY, {0, 0, 0}};

	for (uint32_t base = from; base < until; base += CSV_WARP_BYTES)
	{
		uint32_t	mine = base + lane * CSV_LANE_BYTES;
		uint32_t	states[CSV_NUM_QUOTE_STATES] = {CSV_OUTSIDE, CSV_INSIDE,
		CSV_ESCAPED};
		CsvQuoteMap own = {0, {0, 0, 0}};

		for (uint32_t i = mine; i < mine + CSV_LANE_BYTES && i < until; i++)
		{
			uint8_t		byte = field[i];
			bool		at_edge = i == 0 || i + 1 == entry.length;

			if (byte == 0)
				flags |= CSV_PIECE_NUL;
			if (byte >= 0x80)
			{
				flags |= CSV_PIECE_HIGH;
				if (!csv_utf8_valid_at(field, i, entry.length))
					flags |= CSV_PIECE_INVALID;
			}
			nbegins += csv_utf8_begins(byte);
			if (byte != ' ' &&
				!(i + 1 == entry.length && byte == dialect.opt.quote))
				nonblank_end = i + 1;
			if (is_text ? byte == dialect.opt.escape :
				dialect.opt.quote != 0 && !at_edge &&
				(byte == dialect.opt.quote || byte == dialect.opt.escape))
				flags |= CSV_PIECE_SPECIAL;
#pragma unroll
			for (int state = 0; state < CSV_NUM_QUOTE_STATES; state++)
				states[state] = quote_step(dialect, states[state], byte,
										   field[i + 1], i, entry.length,
										   &own.removed[state]);
		}
		own.leaves = states[0] | states[1] << 2 | states[2] << 4;

		/* in order of the lanes; lane 0 gets the map of all */
		for (int step = 1; step < 32; step *= 2)
		{
			CsvQuoteMap other;

			other.leaves = __shfl_down_sync(UINT32_MAX, own.leaves, step);
			for (int state = 0; state < CSV_NUM_QUOTE_STATES; state++)
				other.removed[state] = __shfl_down_sync(UINT32_MAX,
														own.removed[state],
														step);
			own = compose(own, other);
		}
		whole = compose(whole, own);
	}
	for (int step = 16; step > 0; step /= 2)
	{
		flags |= __shfl_xor_sync(UINT32_MAX, flags, step);
		nbegins += __shfl_xor_sync(UINT32_MAX, nbegins, step);
		nonblank_end = max(nonblank_end,
						   __shfl_xor_sync(UINT32_MAX, nonblank_end, step));
	}
	if (lane == 0)
	{
		piece->flags = flags;
		piece->nbegins = nbegins;
		piece->nonblank_end = nonblank_end;
		piece->quotes = whole;
	}
}

static __global__ void __launch_bounds__(CSV_LONG_THREADS)
pieces_kernel(const __grid_constant__ CsvView view)
{
	uint32_t	npieces = min(view.counters->npieces, view.max_pieces);
	uint32_t	nwarps = gridDim.x * (CSV_LONG_THREADS / 32);

	for (uint32_t number = (blockIdx.x * CSV_LONG_THREADS + threadIdx.x) / 32;
		 number < npieces; number += nwarps)
		if (view.pieces[number].owner != UINT32_MAX)
			measure_piece(view, &view.pieces[number], number);
}

/* judge a field by its pieces, in one thread: a field has few pieces */
static __device__ CsvVerdict
judge_long(const CsvView &view, const CsvLong &entry,
		   const CsvDeviceColumn &device_column)
{
	const CsvColumn &column = device_column.column;
	const CsvDialect &dialect = view.dialect;
	const uint8_t *field = view.bytes + entry.start;
	const bool	text = column.kind == CSV_KIND_TEXT ||
		column.kind == CSV_KIND_CSTRING;
	uint32_t	npieces = (entry.length + CSV_PIECE_BYTES - 1) / CSV_PIECE_BYTES;
	uint32_t	flags = 0;
	uint32_t	nbegins = 0;
	uint32_t	nonblank_end = 0;
	uint32_t	state = CSV_OUTSIDE;
	uint32_t	removed = 0;
	int			plain_skip = -1;
	bool		escaped;		/* with CSV_QUOTING_TEXT */
	bool		between_quotes;
	bool		blanks_beyond = false;
	CsvMeasure	measure;

	for (uint32_t i = 0; i < npieces; i++)
	{
		const CsvLongPiece &piece = view.pieces[entry.first_piece + i];

		flags |= piece.flags;
		nbegins += piece.nbegins;
		nonblank_end = max(nonblank_end, piece.nonblank_end);
		removed += removed_from(piece.quotes, state);
		state = leaves_in(piece.quotes.leaves, state);
	}
	between_quotes = dialect.opt.quote != 0 && entry.length >= 2 &&
		field[0] == dialect.opt.quote &&
		field[entry.length - 1] == dialect.opt.quote;
	escaped = dialect.opt.quoting == CSV_QUOTING_TEXT &&
		(flags & CSV_PIECE_SPECIAL) != 0;
	if (removed == 0 && !escaped)
		plain_skip = 0;
	else if (removed == 2 && between_quotes)
		plain_skip = 1;

	measure.nbytes = entry.length - removed;
	measure.nchars = nbegins - removed;
	measure.has_nul = (flags & CSV_PIECE_NUL) != 0;
	measure.invalid_utf8 = (flags & CSV_PIECE_INVALID) != 0;
	measure.beyond_ascii = (flags & CSV_PIECE_HIGH) != 0;
	measure.quoted = removed > 0;
	if (escaped)
		csv_field_measure(&dialect, field, entry.length, &measure);
	if (column.force_null && measure.quoted &&
		csv_has_null_length(device_column.null_lengths, measure.nbytes) &&
		csv_value_is_null_string(view, column, field, entry.length))
		return csv_without_value(CSV_VALUE_NULL);

	if (!text)
	{
		/* as in csv_field_plain */
		bool		plain = escaped ? false : dialect.opt.quote == 0 ||
			(field[0] != dialect.opt.quote &&
			 dialect.opt.quoting == CSV_QUOTING_RFC4180) ||
			removed == 0 ||
			(between_quotes && (flags & CSV_PIECE_SPECIAL) == 0);
		bool		doubtful;
		CsvVerdict	verdict = csv_judge_scalar(view, entry.record,
											   entry.column, column, measure,
											   doubtful);

		if (verdict.status == CSV_VALUE_DOUBTFUL && plain && !doubtful &&
			csv_convert_any(&column, view.layout.decimal_separator,
							field + plain_skip,
							(uint32_t) measure.nbytes,
							device_column.values +
							((size_t) view.first_row + entry.row) *
							device_column.stride, device_column.stride))
			verdict.status = CSV_VALUE_OK;
		return verdict;
	}

	if (CSV_NEEDS_BLANKS(&column, measure.nchars) && !measure.invalid_utf8)
	{
		/*
		 * Blanks at the end are the value's blanks, except if a quote or an escape may
		 * be a blank, or if quotes may stand anywhere: then the end of the value is
		 * not known.
		 */
		if (plain_skip >= 0 ||
			(dialect.opt.quoting == CSV_QUOTING_RFC4180 &&
			 dialect.opt.quote != ' ' && dialect.opt.escape != ' '))
		{
			uint32_t	content_end = entry.length -
				(removed > 0 && between_quotes ? 1 : 0);
			uint32_t	nblanks;

			/* a last quote that does not close anything is data */
			if (content_end == entry.length &&
				field[content_end - 1] != ' ')
				nonblank_end = content_end;
			nblanks = content_end - min(content_end, nonblank_end);

			blanks_beyond = measure.nchars - (uint64_t) column.type_chars <=
				nblanks;
		}
		else
			blanks_beyond = csv_blanks_beyond(view, field, entry.length,
											  (uint32_t) column.type_chars);
	}
	return csv_judge_text(view, entry.record, entry.column, device_column,
						  measure, blanks_beyond, plain_skip);
}

/* judge a field and copy it if it fits; a warp per field */
static __device__ void
finish_long(const CsvView &view, const CsvLong &entry)
{
	const CsvDeviceColumn &device_column = view.columns[entry.column];
	const bool	text = device_column.column.kind == CSV_KIND_TEXT ||
		device_column.column.kind == CSV_KIND_CSTRING;
	size_t		place = (size_t) view.first_row + entry.row;
	uint8_t    *value = device_column.values + place * device_column.stride;
	const uint8_t *field = view.bytes + entry.start;
	uint32_t	lane = threadIdx.x % 32;
	CsvVerdict	verdict = csv_without_value(CSV_VALUE_OK);

	if (lane == 0)
	{
		verdict = judge_long(view, entry, device_column);

		/* one thread's work is limited */
		if (verdict.source == CSV_SOURCE_UNQUOTED &&
			entry.length > 4 * CSV_MAX_STRIDE)
			verdict = csv_without_value(CSV_VALUE_LONG);
		device_column.status[place] = verdict.status;
		if (verdict.status != CSV_VALUE_OK)
			atomicOr(&view.seen[entry.column], CSV_SEEN_NOT_OK |
					 (verdict.status == CSV_VALUE_NULL ? 0 : CSV_SEEN_SLOW));
		if (verdict.source == CSV_SOURCE_UNQUOTED)
			csv_write_unquoted(view, verdict, field, entry.length, value,
							   device_column.stride);
	}
	verdict.source = (uint8_t) __shfl_sync(UINT32_MAX, verdict.source, 0);
	verdict.skip = (uint8_t) __shfl_sync(UINT32_MAX, verdict.skip, 0);
	verdict.nbytes = __shfl_sync(UINT32_MAX, verdict.nbytes, 0);
	verdict.stored = __shfl_sync(UINT32_MAX, verdict.stored, 0);
	if (text && verdict.source == CSV_SOURCE_PLAIN)
		for (uint32_t k = lane; k < device_column.stride / 4; k += 32)
			((uint32_t *) value)[k] = csv_text_word(field, verdict, k);
}

static __global__ void __launch_bounds__(CSV_LONG_THREADS)
finish_longs_kernel(const __grid_constant__ CsvView view)
{
	uint32_t	nlongs = min(view.counters->nlongs, view.max_longs);
	uint32_t	nwarps = gridDim.x * (CSV_LONG_THREADS / 32);

	for (uint32_t number = (blockIdx.x * CSV_LONG_THREADS + threadIdx.x) / 32;
		 number < nlongs; number += nwarps)
	{
		CsvLong		entry = view.longs[number];

		if (entry.column != UINT32_MAX)
			finish_long(view, entry);
	}
}

void
csv_launch_longs(const CsvView *view, int multiprocessors,
				 cudaStream_t stream)
{
	int			nblocks = multiprocessors * CSV_LONG_BLOCKS_PER_SM;

	pieces_kernel<<<nblocks, CSV_LONG_THREADS, 0, stream>>>(*view);
	finish_longs_kernel<<<nblocks, CSV_LONG_THREADS, 0, stream>>>(*view);
}
