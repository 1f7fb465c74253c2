/*
 * fill_text_avx2.c
 *		Fills arrays of text with vectors of AVX2.
 *
 * Text is copied a row at a time, 32 bytes with one load, and checked while it is in
 * the register.  If it has no quotes inside, no zero bytes, and no bytes beyond ASCII,
 * each character is a byte, and there is nothing to remove.
 */
#include "fill.h"

#if defined(__x86_64__)

#include "../reader/field.h"
#include "eight.h"

CSV_TARGET_BEGIN(CSV_TARGET_AVX2)

/* all that loops over text need, in local variables */
typedef struct CsvTextFill
{
	CsvFinder	finder;
	uint8_t    *values;
	uint8_t    *status;
	uint32_t	stride;
	uint32_t	most;			/* most bytes of a value, by all limits */
	uint32_t	pad_to;			/* bytes; 0: no padding */
	uint8_t		quote;			/* in text format the escape; 0: none */
	bool		has_escape;		/* a quoted value may have an escape */
	bool		empty_is_null;
	__m256i		null_lengths;	/* see take_nulls() */
} CsvTextFill;

static inline CsvTextFill
make_text_fill(const CsvFill *fill)
{
	const CsvColumn *column = fill->column;
	const CsvDialectOptions *dialect = &fill->dialect->opt;
	CsvTextFill text;

	text.finder = fill->finder;
	text.values = fill->values;
	text.status = fill->status;
	text.stride = fill->stride;
	text.most = fill->stride - 4;
	if (column->max_chars >= 0 && (uint32_t) column->max_chars < text.most)
		text.most = (uint32_t) column->max_chars;
	if (column->type_chars >= 0 && (uint32_t) column->type_chars < text.most)
		text.most = (uint32_t) column->type_chars;
	if (column->byte_width >= 0 && (uint32_t) column->byte_width < text.most)
		text.most = (uint32_t) column->byte_width;
	text.pad_to = column->pad_blanks ? (uint32_t) column->type_chars : 0;
	text.quote = csv_special_byte(dialect);
	text.has_escape = dialect->escape != dialect->quote;
	text.empty_is_null = fill->layout->null_length == 0 &&
		!column->force_not_null;
	text.null_lengths = _mm256_set1_epi32((int) csv_null_lengths(fill->layout, column));
	return text;
}

/* entries of eight bytes: a header, and up to four bytes of text */
static uint32_t
fill_narrow_text(CsvFill *fill, uint32_t from, uint32_t to, uint32_t *left)
{
	const __m256i zero = _mm256_setzero_si256();
	const __m256i one = _mm256_set1_epi32(1);
	CsvTextFill text = make_text_fill(fill);
	const __m256i quote = _mm256_set1_epi32(text.quote);
	const __m256i quotes = _mm256_set1_epi8((char) text.quote);
	const __m256i most = _mm256_set1_epi32((int) text.most);
	const __m256i pad_to = _mm256_set1_epi32((int) text.pad_to);
	uint32_t	nleft = 0;
	uint32_t	row = from;
	__m256i		any_null = zero;

	for (; to - row >= 8; row += 8)
	{
		CsvEight	eight = find_eight(&text.finder, row);
		__m256i		nulls = take_nulls(&eight, text.status + row,
									   text.null_lengths, text.empty_is_null);
		__m256i		value = gather4(eight.rows, text.finder.bytes, eight.start);
		__m256i		n = _mm256_sub_epi32(eight.end, eight.start);
		__m256i		quoted;
		__m256i		beyond;
		__m256i		special;
		__m256i		header;

		any_null = _mm256_or_si256(any_null, nulls);
		quoted = _mm256_cmpeq_epi32(_mm256_and_si256(value, _mm256_set1_epi32(0xFF)),
									quote);
		quoted = _mm256_and_si256(quoted, eight.rows);
		if (text.quote != 0 && !_mm256_testz_si256(quoted, quoted))
		{
			__m256i		back = gather4(quoted, text.finder.bytes,
									   _mm256_sub_epi32(eight.end, _mm256_set1_epi32(4)));
			__m256i		closed = _mm256_cmpeq_epi32(_mm256_srli_epi32(back, 24),
													quote);

			closed = _mm256_and_si256(closed, _mm256_cmpgt_epi32(n, one));
			if (text.has_escape)
				closed = zero;
			eight.rows = _mm256_andnot_si256(_mm256_andnot_si256(closed, quoted),
											 eight.rows);
			/* a true lane is -1 */
			value = gather4(eight.rows, text.finder.bytes,
							_mm256_sub_epi32(eight.start, quoted));
			n = _mm256_add_epi32(n, _mm256_add_epi32(quoted, quoted));
		}

		/* blanks behind the value; without padding, they have no meaning */
		beyond = _mm256_sllv_epi32(_mm256_set1_epi32(-1), _mm256_slli_epi32(n, 3));
		value = _mm256_blendv_epi8(value, _mm256_set1_epi8(' '), beyond);
		special = _mm256_or_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(1), value),
								  _mm256_cmpeq_epi8(value, quotes));
		eight.rows = _mm256_and_si256(eight.rows, _mm256_cmpeq_epi32(special, zero));
		eight.rows = _mm256_andnot_si256(_mm256_cmpgt_epi32(n, most), eight.rows);
		header = _mm256_max_epi32(n, pad_to);
		header = _mm256_slli_epi32(_mm256_add_epi32(header, _mm256_set1_epi32(4)), 2);
		store_words(text.values + (size_t) row * 8,
				   join_halves(_mm256_and_si256(header, eight.rows),
							   _mm256_and_si256(value, eight.rows)));
		nleft += leave_rows(row, mask_of(_mm256_or_si256(eight.rows, nulls)),
							left + nleft);
	}
	fill->any_not_ok |= !_mm256_testz_si256(any_null, any_null);
	return nleft + leave_rest(row, to, left + nleft);
}

/* the 32 bytes from ones_then_zeros + 32 - n on: n bytes 0xFF, then zeros */
static const uint8_t ones_then_zeros[64] = {
	255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255
};

/*
 * Copy n bytes of text, up to 32, and blanks behind them, 32 bytes in all.  The result
 * has a bit for each byte that is a quote, zero, or beyond ASCII.
 */
static inline __attribute__((always_inline)) uint32_t
copy_plain(uint8_t *to, const uint8_t *text, uint32_t n, uint8_t quote)
{
	__m256i		block = _mm256_loadu_si256((const __m256i *) text);
	__m256i		keep = _mm256_loadu_si256((const __m256i *) (ones_then_zeros + 32 - n));
	__m256i		special = _mm256_or_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(1), block),
										  _mm256_cmpeq_epi8(block, _mm256_set1_epi8((char) quote)));

	_mm256_storeu_si256((__m256i *) to,
						_mm256_blendv_epi8(_mm256_set1_epi8(' '), block, keep));
	return (uint32_t) _mm256_movemask_epi8(_mm256_and_si256(special, keep));
}

/*
 * Copy the bytes [from, n) of a text without its quotes, except the second of two side
 * by side, which was doubled.  The text is what is between two quotes.  Returns the end
 * of the value; 0 if it has bytes that are zero or beyond ASCII.  Up to 8 bytes behind
 * the n bytes are overwritten.
 */
static __attribute__((noinline)) uint32_t
copy_quoted(uint8_t *to, const uint8_t *text, uint32_t from, uint32_t n, uint8_t quote)
{
	const __m256i quotes = _mm256_set1_epi8((char) quote);
	const __m256i one = _mm256_set1_epi8(1);
	uint64_t	inside = UINT64_MAX;	/* as in index_loop.h */
	uint64_t	close = 0;
	uint64_t	unplain = 0;
	uint32_t	end = from;

	for (; from < n; from += 64)
	{
		__m256i		low = _mm256_loadu_si256((const __m256i *) (text + from));
		__m256i		high = _mm256_loadu_si256((const __m256i *) (text + from + 32));
		uint64_t	valid = n - from < 64 ? CSV_BITS_BELOW(n - from) : UINT64_MAX;
		uint64_t	found = valid & csv_mask_of_bytes(_mm256_cmpeq_epi8(low, quotes),
													  _mm256_cmpeq_epi8(high, quotes));
		uint64_t	closing;
		uint64_t	keep;

		unplain |= valid & csv_mask_of_bytes(_mm256_cmpgt_epi8(one, low),
											 _mm256_cmpgt_epi8(one, high));
		inside = csv_prefix_xor_pclmul(found) ^ inside;
		closing = found & ~inside;
		keep = valid & (~found | (inside & (closing << 1 | close)));
		close = closing >> 63;
		inside = (uint64_t) ((int64_t) inside >> 63);
		for (uint32_t i = 0; i < 64; i += 8)
		{
			uint64_t	kept = keep >> i & 0xFF;
			__m128i		bytes = _mm_loadl_epi64((const __m128i *) (text + from + i));
			__m128i		places = _mm_loadl_epi64((const __m128i *) &csv_bit_numbers[kept]);

			_mm_storel_epi64((__m128i *) (to + end), _mm_shuffle_epi8(bytes, places));
			end += csv_popcount(kept);
		}
	}
	return unplain == 0 ? end : 0;
}

/*
 * Entries with room for any number of bytes of text; for 32 at most, if `short_text`, a
 * constant, is true.
 */
static inline __attribute__((always_inline)) uint32_t
fill_wide_text(CsvFill *fill, uint32_t from, uint32_t to,
			   uint32_t *left, bool short_text)
{
	const CsvTextFill text = make_text_fill(fill);
	uint32_t	nleft = 0;
	uint32_t	row = from;
	__m256i		any_null = _mm256_setzero_si256();

	for (; to - row >= 8; row += 8)
	{
		CsvEight	eight = find_eight(&text.finder, row);
		__m256i		nulls = take_nulls(&eight, text.status + row,
									   text.null_lengths, text.empty_is_null);
		const uint32_t rows = mask_of(eight.rows);
		uint32_t	done = mask_of(nulls);
		uint8_t    *entry = text.values + (size_t) row * text.stride;
		uint32_t	start[8];
		uint32_t	end[8];

		any_null = _mm256_or_si256(any_null, nulls);
		_mm256_storeu_si256((__m256i *) start, eight.start);
		_mm256_storeu_si256((__m256i *) end, eight.end);
		for (uint32_t lane = 0; lane < 8; lane++, entry += text.stride)
		{
			const uint8_t *value = text.finder.bytes + start[lane];
			uint32_t	n = end[lane] - start[lane];
			uint32_t	special = 0;
			uint32_t	plain = 0;	/* bytes that were copied, before any special */
			uint32_t	nbytes;
			uint32_t	header;
			bool		opens = text.quote != 0 && *value == text.quote && n > 0;

			if ((rows & 1u << lane) == 0)
				continue;
			if (opens)
			{
				if (text.has_escape || n < 2 || value[n - 1] != text.quote)
					continue;
				value++;
				n -= 2;
			}
			nbytes = n < text.pad_to ? text.pad_to : n;
			if (n > text.most || nbytes > text.stride - 4 ||
				entry + 4 + (short_text ? 32 : nbytes + 32) > fill->limit)
				continue;
			if (short_text)
				special = copy_plain(entry + 4, value, n, text.quote);
			else
				for (uint32_t i = 0; i < nbytes && special == 0; i += 32)
				{
					/* read no more than 32 bytes behind the value's end */
					uint32_t	at = i < n ? i : n;
					uint32_t	rest = n - at;

					plain = i;
					special = copy_plain(entry + 4 + i, value + at,
										 rest < 32 ? rest : 32, text.quote);
				}
			if (special != 0 && opens && text.pad_to == 0 &&
				entry + 4 + n + 8 <= fill->limit)
			{
				nbytes = copy_quoted(entry + 4, value, plain, n, text.quote);
				special = nbytes == 0;
			}
			header = csv_varlena_header(nbytes);
			memcpy(entry, &header, 4);
			done |= (uint32_t) (special == 0) << lane;
		}
		nleft += leave_rows(row, done, left + nleft);
	}
	fill->any_not_ok |= !_mm256_testz_si256(any_null, any_null);
	return nleft + leave_rest(row, to, left + nleft);
}

uint32_t
csv_fill_text_avx2(CsvFill *fill, uint32_t from, uint32_t to, uint32_t *left)
{
	if (fill->stride == 8)
		return fill_narrow_text(fill, from, to, left);
	return fill->stride <= 4 + 32 ?
		fill_wide_text(fill, from, to, left, true) :
		fill_wide_text(fill, from, to, left, false);
}

CSV_TARGET_END

#endif
