/*
 * columns.cu
 *		The arrays: all columns of a stretch of rows in one kernel.
 *
 * A warp takes 32 rows, one per lane, and a strip of them: columns that follow each
 * other in the file.  A row's part of the strip is a piece of the input without gaps.
 * The warp works in two steps:
 *
 *	1. It copies its rows' pieces, and the separators in them, to shared memory,
 *	   coalesced.  A piece without room is read from the input; the code that reads
 *	   it is the same.
 *	2. It goes through the columns.  All lanes do the same kind of conversion, and
 *	   their entries lie side by side.  The bytes come from shared memory, which
 *	   makes it cheap that lanes read at a distance of a record.
 *
 * Text entries are also put together in shared memory, some words of each at a time,
 * and then written as one run of words.  The whole warp looks at a text that is not
 * plain ASCII or has doubled quotes, so that its lane does not hold up the others.
 * Long fields are left to longs.cu.
 *
 * Rare cases are not inlined: the kernel already has many instructions, and those for
 * regular files should stay in the caches.
 */
#include <cuda_pipeline.h>

#include "field.cuh"
#include "../src/reader/patterns.h"

#define WARPS			(CSV_COLUMN_THREADS / 32)
#define ENTRY_WORDS		(CSV_NUMERIC_DIGITS / 2 + 2)
#define COPY_LANES		8		/* lanes that copy a row's piece, 16 bytes each */
#define PITCH			33		/* of words that lanes access by rows and by columns */

/* longer than any input */
#define CSV_NO_FIELD	0x80000000u

/* a warp's shared memory, besides its pieces of the input */
struct alignas(16) Stage
{
	/*
	 * The separator before the strip's first field, and the separator behind each
	 * field; UINT32_MAX if the record has no such field.
	 */
	uint32_t	bounds[CSV_STRIP_FIELDS + 1][PITCH];
	uint32_t	words[CSV_TEXT_WORDS][PITCH];	/* of text entries */
};

/* a field of a row */
struct Field
{
	const uint8_t *bytes;
	uint32_t	start;			/* position */
	uint32_t	length;			/* CSV_NO_FIELD or more: the record has no such
								 * field */
	uint32_t	row;			/* of the window */
	uint32_t	record;
};

/* text in the input */
struct TextSpan
{
	const uint8_t *bytes;
	uint32_t	length;
};

/* ---- step 1: copy to shared memory ---- */

/*
 * Copy the rows to shared memory.  Returns where the lane's row is, as an address to
 * which positions are added: in shared memory or, if there is no room, in the input.
 * Rows from nrows on have no bounds.
 */
static __device__ __forceinline__ const uint8_t *
stage_rows(const CsvView &view, const CsvStrip &strip, uint32_t record,
		   uint32_t nrows, Stage *stage, uint4 *room, uint32_t room_units)
{
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	first = 0;		/* number of the strip's first separator */
	uint32_t	nfields = 0;	/* fields of the strip that the record has */
	uint32_t	from = 0;
	uint32_t	until = 0;
	uint32_t	units = 0;		/* of 16 bytes, of the lane's piece */
	uint32_t	with_units;		/* rows with units */
	uint32_t	first_unit;
	uint32_t	nunits;
	const uint32_t delimiter_length = csv_delimiter_length(&view.dialect.opt);
	const uint8_t *bytes = view.bytes;

	if (lane < nrows)
	{
		first = view.record_first[record];
		nfields = view.record_first[record + 1] - first;
		first += strip.first_field;
		nfields -= min(nfields, strip.first_field);
		nfields = min(nfields, strip.nfields);
	}
	if (nfields > 0)
	{
		from = strip.first_field == 0 ? view.record_start[record] :
			view.separators[first - 1] + delimiter_length;
		/* with the separator, which tells whether a CR belongs to it */
		until = view.separators[first + nfields - 1] + 1;
		units = (until + 15) / 16 - from / 16;
		if (units > CSV_STAGE_ROW_BYTES / 16)
			units = 0;
	}

	/* mostly rows are close together, and the bytes between them fit, too */
	with_units = __ballot_sync(UINT32_MAX, units > 0);
	first_unit = __shfl_sync(UINT32_MAX, from / 16, __ffs(with_units) - 1);
	nunits = with_units == 0 ? 0 :
		__shfl_sync(UINT32_MAX, from / 16 + units, 31 - __clz(with_units)) -
		first_unit;
	if (nunits <= room_units)
	{
		const uint4 *source = (const uint4 *) view.bytes + first_unit;

		for (uint32_t unit = lane; unit < nunits; unit += 32)
			__pipeline_memcpy_async(room + unit, source + unit, 16);
		if (units > 0)
			bytes = (const uint8_t *) room - (size_t) first_unit * 16;
	}
	else
	{
		uint32_t	place = units;	/* the end of the piece, in `room` */

		for (int step = 1; step < 32; step *= 2)
		{
			uint32_t	before = __shfl_up_sync(UINT32_MAX, place, step);

			if (lane >= step)
				place += before;
		}
		if (place > room_units)
			units = 0;
		else if (units > 0)
			bytes = (const uint8_t *) (room + (place - units)) -
				from / 16 * 16;

		for (uint32_t base = 0; base < nrows; base += 32 / COPY_LANES)
		{
			uint32_t	row = base + lane / COPY_LANES;
			uint32_t	row_units = __shfl_sync(UINT32_MAX, units, row);
			uint32_t	row_place = __shfl_sync(UINT32_MAX, place, row);
			uint32_t	row_from = __shfl_sync(UINT32_MAX, from, row);
			uint4	   *target = room + (row_place - row_units);
			const uint4 *source = (const uint4 *) view.bytes + row_from / 16;

			for (uint32_t unit = lane % COPY_LANES; unit < row_units;
				 unit += COPY_LANES)
				__pipeline_memcpy_async(target + unit, source + unit, 16);
		}
	}
	stage->bounds[0][lane] = from - delimiter_length;
	for (uint32_t base = 0; base < nrows; base += 32 >> strip.lanes_log)
	{
		uint32_t	row = base + (lane >> strip.lanes_log);
		uint32_t	field = lane & ((1u << strip.lanes_log) - 1);
		uint32_t	row_first = __shfl_sync(UINT32_MAX, first, row);
		uint32_t	row_nfields = __shfl_sync(UINT32_MAX, nfields, row);

		if (field < row_nfields)
			__pipeline_memcpy_async(&stage->bounds[field + 1][row],
									&view.separators[row_first + field], 4);
		else if (field < strip.nfields)
			stage->bounds[field + 1][row] = UINT32_MAX;
	}
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncwarp();

	/* the last field of a record ends before the CRs of its boundary */
	if (view.dialect.trim_crs > 0 && nfields > 0)
	{
		uint32_t	before = stage->bounds[nfields - 1][lane];
		uint32_t	end = stage->bounds[nfields][lane];

		stage->bounds[nfields][lane] =
			(uint32_t) csv_content_end(&view.dialect, bytes,
									   before + delimiter_length, end,
									   view.nbytes);
	}
	return bytes;
}

/* drop the blanks around a field */
static __device__ __noinline__ void
trim_field(const CsvView &view, const uint8_t *bytes, Field *field)
{
	uint64_t	start = field->start;
	uint64_t	end = start + field->length;

	csv_trim(&view.dialect.opt, bytes, &start, &end);
	field->start = (uint32_t) start;
	field->length = (uint32_t) (end - start);
}

/* ---- step 2: numbers, dates and the like ---- */

/*
 * Is it certain that the field is not NULL (except by force_null), not the default,
 * not long, and has quotes only if it begins with a quote?  Mostly it is.  A missing
 * field has an endless length.  With CSV_QUOTING_TEXT it may have escapes; then it is
 * not a number.
 */
static __device__ __forceinline__ bool
is_ordinary(const CsvView &view, const CsvDeviceColumn &column, const Field &field)
{
	return field.length < view.ordinary_below &&
		!csv_has_null_length(column.null_lengths, field.length);
}

/* does the field stand between quotes, and are all quotes inside doubled? */
static __device__ __forceinline__ bool
is_doubled(const CsvView &view, const Field &field)
{
	const uint8_t quote = view.dialect.opt.quote;

	return quote != 0 && field.length >= 2 && field.bytes[0] == quote &&
		field.bytes[field.length - 1] == quote &&
		view.dialect.opt.escape == quote &&
		view.dialect.opt.quoting == CSV_QUOTING_RFC4180;
}

/*
 * Find the text of an ordinary field if it is plain: unquoted, or without quotes
 * except those around it.
 */
static __device__ __forceinline__ bool
find_plain_text(const CsvView &view, const CsvDeviceColumn &column,
				const Field &field, TextSpan *text)
{
	const uint8_t quote = view.dialect.opt.quote;

	text->bytes = field.bytes;
	text->length = field.length;
	if (!is_ordinary(view, column, field))
		return false;
	if (field.bytes[0] != quote)
		return true;
	if (!is_doubled(view, field) || column.column.force_null)
		return false;
	text->bytes++;
	text->length -= 2;
	return !csv_look_for(text->bytes, text->length, quote);
}

/* judge a value that was not converted */
static __device__ uint32_t
judge_doubtful(const CsvView &view, uint32_t number, const CsvColumn &column,
			   const Field &field)
{
	CsvMeasure	measure;
	bool		doubtful;

	csv_field_measure(&view.dialect, field.bytes, field.length, &measure);
	return csv_judge_scalar(view, field.record, number, column, measure,
							doubtful).status;
}

static __device__ __noinline__ uint32_t
judge_not_converted(const CsvView &view, uint32_t number, const Field &field)
{
	return judge_doubtful(view, number, view.columns[number].column, field);
}

/*
 * Find the text of any field.  CSV_VALUE_OK: convert it; otherwise the value's status.
 */
static __device__ __noinline__ uint32_t
find_text(const CsvView &view, uint32_t number, const Field &field,
		  TextSpan *text)
{
	const CsvColumn &column = view.columns[number].column;
	uint64_t	from;
	uint64_t	to;
	bool		quoted;
	bool		plain;

	if (field.length >= CSV_NO_FIELD)
		return CSV_VALUE_NULL;
	if (!column.force_not_null &&
		csv_is_null(&view.layout, &column, field.bytes, field.length))
		return CSV_VALUE_NULL;
	if (csv_is_default_string(view, field.bytes, field.length))
		return CSV_VALUE_DOUBTFUL;
	if (field.length > CSV_LONG_FIELD_BYTES &&
		csv_push_long(view, field.row, field.record, number, field.start,
					  field.length))
		return CSV_VALUE_DOUBTFUL;	/* longs.cu replaces it */

	plain = csv_field_plain(&view.dialect, field.bytes, field.length, &from,
							&to, &quoted);
	if (column.force_null && quoted &&
		csv_value_is_null_string(view, column, field.bytes, field.length))
		return CSV_VALUE_NULL;
	if (!plain)
		return judge_doubtful(view, number, column, field);
	text->bytes = field.bytes + from;
	text->length = (uint32_t) (to - from);
	return CSV_VALUE_OK;
}

/* store an entry in as few pieces as its alignment allows */
template <int kind>
static __device__ __forceinline__ void
store_entry(uint8_t *entry, uint32_t stride, const uint32_t *words)
{
	if (stride == 16)
		*(uint4 *) entry = make_uint4(words[0], words[1], words[2], words[3]);
	else if (kind == CSV_KIND_NUMERIC)
		csv_store_words(entry, stride, words);
	else if (stride == 8)
		*(uint2 *) entry = make_uint2(words[0], words[1]);
	else if (stride == 4)
		*(uint32_t *) entry = words[0];
	else if (stride == 2)
		*(uint16_t *) entry = (uint16_t) words[0];
	else
		*entry = (uint8_t) words[0];
}

/*
 * Convert a value, if it exists, and store its entry; false if it could not be
 * converted.
 */
template <int kind>
static __device__ __forceinline__ bool
convert(const CsvView &view, const CsvDeviceColumn &device_column,
		const TextSpan &text, bool exists)
{
	alignas(8) uint32_t words[ENTRY_WORDS] = {0, 0, 0, 0, 0, 0, 0};
	CsvColumn	column;
	uint32_t	stride;
	bool		ok = true;

	/* compiles csv_convert_value for this kind alone */
	column.kind = kind;
	column.precision = device_column.column.precision;
	column.scale = device_column.column.scale;
	stride = kind == CSV_KIND_NUMERIC ? device_column.stride :
		csv_value_stride(&column);
	if (exists)
		ok = csv_convert_value(&column, view.layout.decimal_separator,
							   text.bytes, text.length, (uint8_t *) words,
							   stride);
	store_entry<kind>(device_column.values + threadIdx.x * stride, stride,
					  words);
	return ok;
}

/* convert() for a column with a form of its own, instead of the type's form */
static __device__ __noinline__ bool
convert_form(const CsvView &view, const CsvDeviceColumn &device_column,
			 const TextSpan &text, bool exists)
{
	const CsvColumn &column = device_column.column;
	alignas(8) uint32_t words[ENTRY_WORDS] = {0, 0, 0, 0, 0, 0, 0};
	uint32_t	stride = device_column.stride;
	uint8_t    *entry = device_column.values + threadIdx.x * stride;
	bool		ok = exists &&
		csv_convert_form(&column, view.layout.decimal_separator, text.bytes,
						 text.length, (uint8_t *) words, stride);

	for (uint32_t i = 0; i < stride; i++)
		entry[i] = ((uint8_t *) words)[i];
	return ok;
}

#define CONVERT(kind_) \
	case kind_: \
		return convert<kind_>(view, column, text, exists)

static __device__ __forceinline__ bool
convert_by_kind(const CsvView &view, const CsvDeviceColumn &column,
				const TextSpan &text, bool exists)
{
	switch (column.column.kind)
	{
			CONVERT(CSV_KIND_BOOL);
			CONVERT(CSV_KIND_INT2);
			CONVERT(CSV_KIND_INT4);
			CONVERT(CSV_KIND_INT8);
			CONVERT(CSV_KIND_FLOAT4);
			CONVERT(CSV_KIND_FLOAT8);
			CONVERT(CSV_KIND_NUMERIC);
			CONVERT(CSV_KIND_DATE);
			CONVERT(CSV_KIND_TIMESTAMP);
			CONVERT(CSV_KIND_TIMESTAMPTZ);
			CONVERT(CSV_KIND_TIME);
			CONVERT(CSV_KIND_UUID);
			CONVERT(CSV_KIND_DECIMAL64);
			CONVERT(CSV_KIND_DECIMAL128);
			CONVERT(CSV_KIND_SCALED);
		default:
			return false;
	}
}

/*
 * Convert one value.  Returns its status, or CSV_VALUE_OK with an error reported; then
 * the row is left out.
 */
static __device__ __forceinline__ uint32_t
scalar_value(const CsvView &view, uint32_t number,
			 const CsvDeviceColumn &column, const Field &field)
{
	uint32_t	status = CSV_VALUE_OK;
	TextSpan	text;
	bool		ok = false;

	if (!find_plain_text(view, column, field, &text))
	{
		Field		copy = field;	/* the original stays in registers */
		TextSpan	found = text;

		status = find_text(view, number, copy, &found);
		text = found;
	}
	if (column.column.pattern[0] != CSV_STEP_END)
		ok = convert_form(view, column, text, status == CSV_VALUE_OK);
	else
		ok = convert_by_kind(view, column, text, status == CSV_VALUE_OK);
	if (!ok && column.column.thousands != 0)
		ok = convert_form(view, column, text, true);
	ok &= text.length < column.plain_below;
	if (!ok && status == CSV_VALUE_OK)
	{
		Field		copy = field;

		status = judge_not_converted(view, number, copy);
	}
	return status;
}

/* ---- step 2: text ---- */

/* the last checks of a text that was measured */
static __device__ CsvVerdict
judge_measured(const CsvView &view, uint32_t number, const Field &field,
			   const CsvMeasure &measure, int plain_skip)
{
	const CsvDeviceColumn &device_column = view.columns[number];
	const CsvColumn &column = device_column.column;
	bool		blanks_beyond = false;

	if (column.force_null && measure.quoted &&
		csv_value_is_null_string(view, column, field.bytes, field.length))
		return csv_without_value(CSV_VALUE_NULL);
	if (CSV_NEEDS_BLANKS(&column, measure.nchars) && !measure.invalid_utf8)
		blanks_beyond = csv_blanks_beyond(view, field.bytes, field.length,
										  (uint32_t) column.type_chars);
	return csv_judge_text(view, field.record, number, device_column, measure,
						  blanks_beyond, plain_skip);
}

/* judge any field of text, by its own lane */
static __device__ __noinline__ CsvVerdict
judge_any_text(const CsvView &view, uint32_t number, const Field &field)
{
	const uint8_t quote = view.dialect.opt.quote;
	int			plain_skip = -1;
	CsvMeasure	measure;

	if (field.length >= CSV_NO_FIELD)
		return csv_without_value(CSV_VALUE_NULL);
	if (!view.columns[number].column.force_not_null &&
		csv_is_null(&view.layout, &view.columns[number].column, field.bytes,
						   field.length))
		return csv_without_value(CSV_VALUE_NULL);
	if (csv_is_default_string(view, field.bytes, field.length))
		return csv_without_value(CSV_VALUE_DOUBTFUL);
	if (field.length > CSV_LONG_FIELD_BYTES &&
		csv_push_long(view, field.row, field.record, number, field.start,
					  field.length))
		return csv_without_value(CSV_VALUE_OK);	/* longs.cu replaces it */

	csv_field_measure(&view.dialect, field.bytes, field.length, &measure);
	if (measure.nbytes == field.length)
		plain_skip = 0;
	else if (measure.nbytes + 2 == field.length && quote != 0 &&
			 field.bytes[0] == quote && field.bytes[field.length - 1] == quote)
		plain_skip = 1;
	return judge_measured(view, number, field, measure, plain_skip);
}

/*
 * The whole warp judges the texts of lanes with to_measure, one text after the other;
 * each lane looks at a byte.  A text that is `quoted` stands between two quotes, and
 * quotes in it are doubled; in other texts quotes are data.
 */
static __device__ __noinline__ CsvVerdict
judge_measured_texts(const CsvView &view, uint32_t number, const Field &field,
					 bool quoted, bool to_measure)
{
	uint32_t	lane = threadIdx.x % 32;
	CsvMeasure	measure;

	for (uint32_t left = __ballot_sync(UINT32_MAX, to_measure); left != 0;
		 left &= left - 1)
	{
		uint32_t	owner = __ffs(left) - 1;
		bool		owner_quoted = __shfl_sync(UINT32_MAX, quoted, owner);
		const uint8_t *bytes = (const uint8_t *)
			__shfl_sync(UINT32_MAX, (unsigned long long) field.bytes, owner) +
			owner_quoted;
		uint32_t	length = __shfl_sync(UINT32_MAX, field.length, owner) -
			2 * owner_quoted;
		uint32_t	nbegins = 0;
		uint32_t	nquotes = 0;
		bool		nul = false;
		bool		high = false;
		bool		invalid = false;

#pragma unroll 1
		for (uint32_t base = 0; base < length; base += 32)
		{
			uint32_t	i = base + lane;
			uint8_t		byte = i < length ? bytes[i] : 0x80;

			nbegins += __popc(__ballot_sync(UINT32_MAX, csv_utf8_begins(byte)));
			if (owner_quoted)
				nquotes += __popc(__ballot_sync(UINT32_MAX, byte ==
												view.dialect.opt.quote));
			nul |= byte == 0;
			if (i < length && byte >= 0x80)
			{
				high = true;
				invalid |= !csv_utf8_valid_at(bytes, i, length);
			}
			__syncwarp();
		}
		nul = __any_sync(UINT32_MAX, nul);
		high = __any_sync(UINT32_MAX, high);
		invalid = __any_sync(UINT32_MAX, invalid);
		if (lane == owner)
		{
			measure.nbytes = length - nquotes / 2;
			measure.nchars = nbegins - nquotes / 2;
			measure.has_nul = nul;
			measure.invalid_utf8 = invalid;
			measure.beyond_ascii = high;
			measure.quoted = quoted;
		}
	}
	if (!to_measure)
		return csv_without_value(CSV_VALUE_OK);
	return judge_measured(view, number, field, measure,
						  !quoted ? 0 :
						  measure.nbytes + 2 == field.length ? 1 : -1);
}

/* judge the lanes' values of a text column; by a whole warp */
static __device__ __forceinline__ CsvVerdict
judge_texts(const CsvView &view, uint32_t number,
			const CsvDeviceColumn &device_column, const Field &field)
{
	const uint8_t quote = view.dialect.opt.quote;
	CsvVerdict	verdict = csv_without_value(CSV_VALUE_OK);
	TextSpan	text = {field.bytes, field.length};
	bool		quoted = false;
	bool		ordinary = is_ordinary(view, device_column, field);
	bool		to_measure = false;

	/* the warp's code does not know escapes */
	if (ordinary && view.dialect.opt.quoting == CSV_QUOTING_TEXT)
		ordinary = !csv_look_for(text.bytes, text.length, view.dialect.opt.escape);

	if (ordinary && field.length > 0 && quote != 0 && field.bytes[0] == quote)
	{
		quoted = true;
		text.bytes++;
		text.length -= 2;
		ordinary = is_doubled(view, field) &&
			!device_column.column.force_null;
	}
	if (!ordinary)
	{
		Field		copy = field;

		verdict = judge_any_text(view, number, copy);
	}
	else if (csv_look_for(text.bytes, text.length, quoted ? quote : 0) ||
			 text.length >= device_column.plain_below)
		to_measure = true;
	else
	{
		verdict.source = CSV_SOURCE_PLAIN;
		verdict.skip = quoted;
		verdict.nbytes = text.length;
		verdict.stored = max(text.length, device_column.pad_bytes);
	}
	__syncwarp();
	if (__any_sync(UINT32_MAX, to_measure))
	{
		Field		copy = field;
		CsvVerdict	measured = judge_measured_texts(view, number, copy, quoted,
													to_measure);

		if (to_measure)
			verdict = measured;
		__syncwarp();
	}
	return verdict;
}

/*
 * Write the entries of values that must be unquoted, by a whole warp.  If quotes are
 * doubled, the warp takes one value after the other, and each lane a byte.  The second
 * quote of a pair, with an odd number of quotes before it, is dropped.
 */
static __device__ __noinline__ void
write_unquoted(const CsvView &view, const CsvVerdict verdict,
			   const Field &field, uint8_t *entries, uint32_t stride)
{
	uint32_t	lane = threadIdx.x % 32;
	bool		unquoted = verdict.source == CSV_SOURCE_UNQUOTED;
	bool		doubled = unquoted && is_doubled(view, field);

	for (uint32_t left = __ballot_sync(UINT32_MAX, doubled); left != 0;
		 left &= left - 1)
	{
		uint32_t	owner = __ffs(left) - 1;
		const uint8_t *bytes = (const uint8_t *)
			__shfl_sync(UINT32_MAX, (unsigned long long) field.bytes, owner) +
			1;
		uint32_t	length = __shfl_sync(UINT32_MAX, field.length, owner) - 2;
		uint32_t	nbytes = __shfl_sync(UINT32_MAX, verdict.nbytes, owner);
		uint32_t	stored = __shfl_sync(UINT32_MAX, verdict.stored, owner);
		uint8_t    *entry = entries + owner * stride;
		uint8_t    *value = entry + 4;
		uint32_t	nquotes = 0;

		if (lane == 0)
			*(uint32_t *) entry = csv_varlena_header(stored);
#pragma unroll 1
		for (uint32_t base = 0; base < length; base += 32)
		{
			uint32_t	i = base + lane;
			uint8_t		byte = i < length ? bytes[i] : 0;
			bool		quote = i < length && byte == view.dialect.opt.quote;
			uint32_t	quotes = __ballot_sync(UINT32_MAX, quote);
			uint32_t	before = nquotes +
				__popc(quotes & ((1u << lane) - 1));

			if (i - before / 2 < nbytes && i < length &&
				!(quote && before % 2 == 1))
				value[i - before / 2] = byte;
			nquotes += __popc(quotes);
		}
		for (uint32_t i = nbytes + lane; i < stride - 4; i += 32)
			value[i] = i < stored ? ' ' : 0;
	}
	if (unquoted && !doubled)
		csv_write_unquoted(view, verdict, field.bytes, field.length,
						   entries + lane * stride, stride);
	__syncwarp();
}

/* write the values of nrows <= 32 rows, by a whole warp */
static __device__ __forceinline__ uint32_t
text_values(const CsvView &view, uint32_t number,
			const CsvDeviceColumn &column, const Field &field, uint32_t nrows,
			Stage *stage)
{
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	stride_words = column.stride / 4;
	uint32_t   *entries = (uint32_t *) column.values +
		(threadIdx.x - lane) * stride_words;
	CsvVerdict	verdict = judge_texts(view, number, column, field);
	const bool	plain = verdict.source == CSV_SOURCE_PLAIN;

	/* words of the input, and the value's offset in them */
	const uint8_t *value = plain ? field.bytes + verdict.skip :
		(const uint8_t *) stage;
	uint32_t	offset = (uint32_t) (uintptr_t) value & 3;
	const uint32_t *words = (const uint32_t *) (value - offset);
	uint32_t	last = (offset + max(verdict.nbytes, 1) - 1) / 4;

	/* bits left to write: of the value, and with padding */
	int32_t		left = plain ? 8 * (int32_t) verdict.nbytes : 0;
	int32_t		stored = plain ? 8 * (int32_t) verdict.stored : 0;
	uint32_t	next = words[0];

	if (!plain)
		last = 0;
	for (uint32_t base = 0; base < stride_words; base += CSV_TEXT_WORDS)
	{
		uint32_t	nwords = min(stride_words - base, CSV_TEXT_WORDS);
		uint32_t	i = 0;
		uint32_t	lanes_log = nwords > 8 ? 4 : nwords > 4 ? 3 :
			nwords > 2 ? 2 : nwords - 1;
		uint32_t	k = lane & ((1u << lanes_log) - 1);
		uint32_t	row = lane >> lanes_log;
		uint32_t   *out;

		if (base == 0)
		{
			stage->words[0][lane] = plain ? csv_varlena_header(verdict.stored) :
				0;
			i = 1;
		}
		for (; i < nwords; i++)
		{
			uint32_t	in = __funnelshift_lc(UINT32_MAX, 0, max(left, 0));
			uint32_t	word = next;

			next = words[min(base + i, last)];
			word = __funnelshift_r(word, next, 8 * offset) & in;
			word |= 0x20202020u & ~in &
				__funnelshift_lc(UINT32_MAX, 0, max(stored, 0));
			stage->words[i][lane] = word;
			left -= 32;
			stored -= 32;
		}
		__syncwarp();

		/* a power of two of lanes writes a row */
		out = entries + (size_t) row * stride_words + base + k;
		if (k < nwords)
#pragma unroll 2
			for (; row < nrows; row += 32 >> lanes_log)
			{
				*out = stage->words[k][row];
				out += stride_words << (5 - lanes_log);
			}
		__syncwarp();
	}
	if (__any_sync(UINT32_MAX, verdict.source == CSV_SOURCE_UNQUOTED))
	{
		Field		copy = field;

		write_unquoted(view, verdict, copy, (uint8_t *) entries,
					   column.stride);
	}
	return verdict.status;
}

/* ---- the kernel ---- */

static __global__ void
__launch_bounds__(CSV_COLUMN_THREADS, CSV_COLUMN_BLOCKS_PER_SM)
columns_kernel(const __grid_constant__ CsvView view, CsvStripList list,
			   uint32_t room_bytes)
{
	extern __shared__ uint4 shared[];
	__shared__ CsvDeviceColumn columns[CSV_STRIP_COLUMNS];
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	warp = threadIdx.x / 32;
	Stage	   *stage = (Stage *) shared + warp;
	uint4	   *room = (uint4 *) ((uint8_t *) shared + WARPS * sizeof(Stage) +
								  warp * room_bytes);
	uint32_t	nth = list.n == 1 ? blockIdx.x : blockIdx.x / list.n;
	const CsvStrip strip = list.strips[blockIdx.x - nth * list.n];
	uint32_t	first_row = (nth * WARPS + warp) * 32;
	uint32_t	nrows = view.counters->nrows;
	bool		active;
	const uint8_t *bytes;
	Field		field;

	nrows -= min(nrows, first_row);
	nrows = min(nrows, 32);
	active = lane < nrows;
	field.row = first_row + lane;
	field.record = active ? csv_row_record(view, field.row) : 0;
	if (threadIdx.x < strip.ncolumns)
	{
		/* as this block reads it: places begin at the block's first row and bounds */
		CsvDeviceColumn column = view.columns[strip.first_column + threadIdx.x];
		size_t		place = (size_t) view.first_row +
			nth * CSV_COLUMN_THREADS;

		column.column.field = (column.column.field - strip.first_field) * PITCH;
		column.values += place * column.stride;
		column.status += place;
		columns[threadIdx.x] = column;
	}
	/* the last unit is for words that are read but not used */
	bytes = stage_rows(view, strip, field.record, nrows, stage, room,
					   room_bytes / 16 - 1);
	__syncthreads();
	if (nrows == 0)
		return;

	for (uint32_t which = 0; which < strip.ncolumns; which++)
	{
		uint32_t	number = strip.first_column + which;
		const CsvDeviceColumn &column = columns[which];
		const uint32_t *bounds;
		uint32_t	status = CSV_VALUE_OK;
		uint32_t	not_ok;

		bounds = stage->bounds[0] + column.column.field + lane;
		field.start = bounds[0] + csv_delimiter_length(&view.dialect.opt);
		field.length = active ? bounds[PITCH] - field.start : CSV_NO_FIELD;
		if (view.dialect.opt.trim && field.length < CSV_NO_FIELD)
			trim_field(view, bytes, &field);
		field.bytes = bytes + field.start;
		if (column.column.kind == CSV_KIND_TEXT ||
			column.column.kind == CSV_KIND_CSTRING)
			status = text_values(view, number, column, field, nrows, stage);
		else if (active)
			status = scalar_value(view, number, column, field);
		__syncwarp();
		if (active)
			column.status[threadIdx.x] = (uint8_t) status;
		not_ok = __ballot_sync(UINT32_MAX, active && status != CSV_VALUE_OK);
		if (not_ok != 0)
		{
			uint32_t	seen = CSV_SEEN_NOT_OK;

			if (__any_sync(UINT32_MAX, active &&
						   (status == CSV_VALUE_DOUBTFUL ||
							status == CSV_VALUE_LONG)))
				seen |= CSV_SEEN_SLOW;
			/* new flags are rare, so look before the atomic operation */
			if (lane == 0 && (seen & ~view.seen[number]) != 0)
				atomicOr(&view.seen[number], seen);
		}
	}
}

void
csv_launch_columns(const CsvView *view, CsvStripList list,
				   uint32_t strip_bytes, size_t max_shared_bytes,
				   cudaStream_t stream)
{
	uint32_t	nblocks = (view->nrecords - 1) / CSV_COLUMN_THREADS + 1;

	/* a piece gets 15 bytes more for rounding, and a 12th more since pieces differ */
	uint64_t	room_bytes = 32 * ((uint64_t) strip_bytes + strip_bytes / 12 +
								   16) + 16;
	uint64_t	max_room_bytes = (max_shared_bytes - CSV_STRIP_COLUMNS *
								  sizeof(CsvDeviceColumn)) / WARPS -
		sizeof(Stage);
	uint64_t	shared_bytes;

	if (max_room_bytes > CSV_STAGE_MAX_BYTES)
		max_room_bytes = CSV_STAGE_MAX_BYTES;
	if (room_bytes > max_room_bytes)
		room_bytes = max_room_bytes;
	room_bytes = room_bytes / 16 * 16;
	shared_bytes = WARPS * (sizeof(Stage) + room_bytes);
	cudaFuncSetAttribute(columns_kernel,
						 cudaFuncAttributeMaxDynamicSharedMemorySize,
						 (int) shared_bytes);
	columns_kernel<<<nblocks * list.n, CSV_COLUMN_THREADS, shared_bytes,
		stream>>>(*view, list, (uint32_t) room_bytes);
}
