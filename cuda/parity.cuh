/*
 * parity.cuh
 *		The structure of well-formed input, by bits: what one thread does with
 *		its 64 bytes.
 *
 * Where quotes stand only at the ends of fields (or doubled inside of them), a
 * byte is inside of quotes where an odd number of quotes lies before it, and
 * that is all the state there is:
 *
 *	bytes		a,"b,c"$,"e""f"$		($ is the line break)
 *	delimiters	.1..1...1.......
 *	breaks		.......1.......1
 *	quotes		..1...1..1.11.1.
 *	inside		..1111...11.11..		running exclusive-or of quotes
 *	separators	.1.....11......1		(delimiters or breaks) and not inside
 *
 * Whether the input is like that shows at each quote, in its two neighbours: an
 * opening one stands behind a delimiter, a break or a closing one, a closing
 * one before a delimiter, a break or an opening one.  For such input this is
 * what the dialect's table finds; under 'postgres', where quotes open and
 * close wherever they are, it is so for all input.
 *
 * The bits come from a transposition: of 32 bytes, eight words that hold a bit
 * of each, in order.  A class of bytes is then one logical operation a word
 * for 32 bytes (Cameron, Herdy and Lin, "High performance XML parsing using
 * parallel bit stream technology", CASCON 2008).  That takes two integer
 * operations a byte, where comparing four bytes at a time takes as many for
 * each class.
 */
#ifndef CSV_CUDA_PARITY_CUH
#define CSV_CUDA_PARITY_CUH

#include "parse.cuh"

/* a where the mask is set, b elsewhere; written so that it is one operation */
static __device__ __forceinline__ uint32_t
csv_choose_bits(uint32_t mask, uint32_t a, uint32_t b)
{
	return ((a ^ b) & mask) ^ b;
}

/* bits of two words change places: those of `b` under mask << shift with `a`'s */
static __device__ __forceinline__ void
csv_exchange_bits(uint32_t &a, uint32_t &b, int shift, uint32_t mask)
{
	uint32_t	low = csv_choose_bits(mask, a, b << shift);

	b = csv_choose_bits(mask, a >> shift, b);
	a = low;
}

/*
 * words: 32 bytes.  planes: bit i of plane b is bit b of byte i.
 *
 * Of a bit's place, five binary digits say which byte it is of (three which
 * word w, two which byte k in it), three which bit b.  Each step exchanges a
 * digit of the word's number for one of the place in the word:
 *
 *		number		place
 *		w2 w1 w0	k1 k0 b2 b1 b0
 *		k1 k0 w0	w2 w1 b2 b1 b0		(bytes, by __byte_perm)
 *		k1 k0 b2	w2 w1 w0 b1 b0
 *		b1 k0 b2	w2 w1 w0 k1 b0
 *		b1 b0 b2	w2 w1 w0 k1 k0
 */
static __device__ __forceinline__ void
csv_transpose(const uint32_t words[8], uint32_t planes[8])
{
	uint32_t	a[8];
	uint32_t	b[8];

#pragma unroll
	for (int i = 0; i < 4; i++)
	{
		a[i] = __byte_perm(words[i], words[i + 4], 0x5410);
		a[i + 4] = __byte_perm(words[i], words[i + 4], 0x7632);
	}
#pragma unroll
	for (int i = 0; i < 8; i += 4)
		for (int j = i; j < i + 2; j++)
		{
			b[j] = __byte_perm(a[j], a[j + 2], 0x6240);
			b[j + 2] = __byte_perm(a[j], a[j + 2], 0x7351);
		}
#pragma unroll
	for (int i = 0; i < 8; i += 2)
		csv_exchange_bits(b[i], b[i + 1], 4, 0x0f0f0f0f);
#pragma unroll
	for (int i = 0; i < 4; i++)
		csv_exchange_bits(b[i], b[i + 4], 2, 0x33333333);
#pragma unroll
	for (int i = 0; i < 8; i += 4)
		for (int j = i; j < i + 2; j++)
			csv_exchange_bits(b[j], b[j + 2], 1, 0x55555555);
#pragma unroll
	for (int bit = 0; bit < 8; bit++)
		planes[bit] = b[(bit & 3) << 1 | bit >> 2];
}

/* where the 32 bytes equal one; pattern: its bits, as csv_parity_pattern's */
static __device__ __forceinline__ uint32_t
csv_equal_bytes(const uint32_t planes[8], const uint32_t pattern[8])
{
	uint32_t	equal = UINT32_MAX;

#pragma unroll
	for (int bit = 0; bit < 8; bit++)
		equal &= ~(planes[bit] ^ pattern[bit]);
	return equal;
}

/* bit i: exclusive-or of bits 0 to i */
static __device__ __forceinline__ uint64_t
csv_running_parity(uint64_t bits)
{
	bits ^= bits << 1;
	bits ^= bits << 2;
	bits ^= bits << 4;
	bits ^= bits << 8;
	bits ^= bits << 16;
	bits ^= bits << 32;
	return bits;
}

/*
 * What a thread knows of its 64 bytes, bit i for byte i.
 *
 * Whether a break ends a record, or is a blank line, depends on nothing but the
 * breaks before it: no quote lies between them, and so all of them are inside,
 * or none.  So the same bits do for both cases, less what is inside.
 */
struct CsvParityBits
{
	uint64_t	separators;		/* delimiters, and ends */
	uint64_t	ends;			/* breaks that end a record, where outside */
	uint64_t	starts;			/* what begins one, where outside before it */
	uint64_t	breaks;
	uint64_t	quotes;
	uint64_t	inside;			/* of quotes, behind the byte, if the thread's
								 * bytes begin outside */
	uint64_t	wrong_inside;	/* not well-formed, where inside */
	uint64_t	wrong_outside;
	bool		between;		/* begins between two records, if outside */
};

/*
 * words: the thread's bytes; `before` the four bytes before them, `after` the
 * four behind.  first: the input starts here.  nbytes: how many of the bytes
 * are of the input; 64 also where it ended long before.  at_end: where it ends,
 * so does a record that is not ended.
 *
 * A blank line is a record only where the dialect says so; so is one behind a
 * CR that belongs to the break.
 */
static __device__ __forceinline__ CsvParityBits
csv_parity_bits(const CsvParityRules &rules, const uint32_t words[16],
				uint32_t before, uint32_t after, bool first, uint32_t nbytes,
				bool at_end)
{
	CsvParityBits bits;
	uint64_t	delimiters = 0;
	uint64_t	crs = 0;
	uint64_t	lfs = 0;		/* or whatever byte ends a line */
	uint64_t	after_cr;
	uint64_t	passed;			/* CRs that belong to the break behind them */
	uint64_t	after_break;
	uint64_t	after_blank;	/* behind a break and such a CR */
	uint64_t	known;
	uint32_t	byte = before >> 24;
	uint32_t	byte2 = before >> 16 & 0xff;
	uint32_t	byte3 = before >> 8 & 0xff;
	bool		after_quote = rules.any_quotes != 0 && byte == rules.quote;
	bool		break1 = byte == rules.break_byte &&
		(rules.plain_breaks != 0 || byte2 == '\r');
	bool		break2 = byte2 == rules.break_byte &&
		(rules.plain_breaks != 0 || byte3 == '\r');

	bits.quotes = 0;
#pragma unroll
	for (int half = 0; half < 2; half++)
	{
		uint32_t	planes[8];
		uint32_t	high;
		uint32_t	lf;
		uint32_t	cr;

		csv_transpose(words + 8 * half, planes);
		high = ~(planes[7] | planes[6] | planes[5] | planes[4]) & planes[3];
		lf = high & ~planes[2] & planes[1] & ~planes[0];
		cr = high & planes[2] & ~planes[1] & planes[0];
		lf = csv_choose_bits(rules.cr_breaks, cr, lf);
		delimiters |= (uint64_t) csv_equal_bytes(planes,
												 rules.delimiter_bits) <<
			(32 * half);
		bits.quotes |= (uint64_t) (csv_equal_bytes(planes, rules.quote_bits) &
								   rules.any_quotes) << (32 * half);
		lfs |= (uint64_t) lf << (32 * half);
		crs |= (uint64_t) cr << (32 * half);
	}
	bits.inside = csv_running_parity(bits.quotes);

	after_cr = crs << 1 | (byte == '\r');
	passed = crs & (lfs >> 1 | (uint64_t) ((after & 0xff) == '\n') << 63) &
		rules.trim_cr;
	bits.breaks = lfs & (after_cr | rules.plain_breaks);

	after_break = bits.breaks << 1 | (break1 || first);
	after_blank = after_cr & rules.trim_cr & (after_break << 1 | break2);
	bits.between = ((after_break | (after_blank & lfs & ~rules.blank_is_record)) &
					1) != 0;
	bits.ends = bits.breaks & (~(after_break | after_blank) |
							   rules.blank_is_record);
	bits.starts = after_break & (~(bits.breaks | passed) |
								 rules.blank_is_record);
	bits.separators = delimiters | bits.ends;

	known = delimiters | bits.breaks | bits.quotes;
	bits.wrong_inside = (bits.quotes & rules.strict &
						 ~(known << 1 | (break1 || first || after_quote ||
										 byte == rules.delimiter))) |
		(bits.breaks & rules.one_line);
	bits.wrong_outside = (bits.quotes << 1 | after_quote) & rules.strict &
		~(known | passed);
	if (nbytes < CSV_TILE_THREAD_BYTES)
	{
		uint64_t	end = (uint64_t) 1 << nbytes;

		bits.starts &= end - 1;
		bits.wrong_outside &= end - 1;
		if (at_end)
		{
			bits.ends |= end & ~after_break;
			bits.separators |= end & ~after_break;
			bits.wrong_inside |= end;
		}
	}
	return bits;
}

#endif							/* CSV_CUDA_PARITY_CUH */
