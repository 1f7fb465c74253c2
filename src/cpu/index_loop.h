/*
 * index_loop.h
 *		The loop over 64-byte blocks, compiled once per instruction set.
 *
 * A file that includes it must first define CSV_INDEX_FUNCTIONS (the name of its
 * CsvIndexFunctions) and
 *
 *	CsvIndexBlock			a loaded block
 *	block_load(p)		loads 64 bytes
 *	block_equal(b, c)	a bit per byte that equals c
 *	block_unplain(b)	does any byte have the value 0 or the high bit?
 *	prefix_xor(word)	bit i: exclusive-or of the bits 0 to i
 *	word_positions(word, base, positions)
 *						writes base + the number of each bit that is set, and up to
 *						15 more entries
 */
#include "index.h"

/* the dialect and the input, in local variables of the loop */
typedef struct CsvRules
{
	const uint8_t *bytes;
	uint64_t	nbytes;
	uint64_t	max_record_bytes;
	uint8_t		delimiter;
	uint8_t		delimiter_rest_length;
	uint8_t		quote;
	uint8_t		escape;
	uint8_t		break_byte;
	bool		is_text;
	bool		has_quote;
	bool		has_escape;
	bool		escape_separates;	/* the escape begins the delimiter, too */
	bool		strict;
	bool		multiline;
	bool		crlf_only;
	uint8_t		trim_crs;
	bool		blank_is_record;
	bool		has_comments;
	bool		trim;
	const CsvDialect *dialect;
	const CsvDialectOptions *opt;
} CsvRules;

static inline CsvRules
make_rules(const CsvIndex *index)
{
	const CsvDialect *dialect = index->dialect;
	const CsvDialectOptions *opt = &dialect->opt;

	return (CsvRules) {
		.bytes = index->input->bytes,
		.nbytes = index->input->nbytes,
		.max_record_bytes = index->input->max_record_bytes,
		.delimiter = opt->delimiter,
		.delimiter_rest_length = opt->delimiter_rest_length,
		.quote = opt->quote,
		.escape = opt->escape,
		.break_byte = dialect->break_byte,
		.is_text = opt->quoting == CSV_QUOTING_TEXT,
		.has_quote = opt->quote != 0,
		.has_escape = opt->quote != 0 && opt->escape != opt->quote,
		.escape_separates = opt->escape == opt->delimiter,
		.strict = opt->quoting == CSV_QUOTING_RFC4180,
		.multiline = opt->multiline,
		.crlf_only = opt->boundary == CSV_BOUNDARY_CRLF,
		.trim_crs = dialect->trim_crs,
		.blank_is_record = opt->blank_is_record,
		.has_comments = opt->comment_length > 0,
		.trim = opt->trim,
		.dialect = dialect,
		.opt = opt
	};
}

/* facts about the previous block that the next block needs */
typedef struct CsvCarries
{
	uint64_t	inside;			/* all bits are 1: the block ends inside quotes */
	uint64_t	separator;		/* bytes of the next block that are right behind a
								 * separator of this block */
	uint64_t	delimiter_end;	/* where the last delimiter of several bytes ends */
	uint64_t	blank;			/* the block ends with blanks behind a separator */
	uint64_t	close_blank;	/* it ends with blanks behind a closing quote */
	uint64_t	close;			/* its last byte is a closing quote */
	uint64_t	cr;				/* its last byte is a CR */
	uint64_t	escaped;		/* the next block's first byte is escaped */
} CsvCarries;

/* a bit per byte of a block */
typedef struct CsvBlockBits
{
	uint64_t	breaks;			/* also inside quotes */
	uint64_t	quotes;			/* and escapes */
	uint64_t	separators;		/* before the first irregular byte */
	uint64_t	irregular;
} CsvBlockBits;

/*
 * Find the delimiters of several bytes in a block.  `bits` has the bytes that equal
 * their first byte.  No delimiter begins inside another; the last delimiter before
 * these ends at `end`.  Not inlined, and by value, so that other dialects keep their
 * registers.
 */
static __attribute__((noinline)) uint64_t
whole_delimiters(const CsvDialectOptions *opt, const uint8_t *bytes, uint64_t nbytes,
				 uint64_t base, uint64_t bits, uint64_t end)
{
	for (uint64_t left = bits; left != 0; left &= left - 1)
	{
		uint64_t	pos = base + csv_lowest_bit(left);

		if (pos >= end && csv_delimiter_rest_at(opt, bytes, pos, nbytes))
			end = pos + csv_delimiter_length(opt);
		else
			bits &= ~CSV_BIT(pos);
	}
	return bits;
}

/* the bytes right behind separators */
static inline __attribute__((always_inline)) uint64_t
behind_separators(const CsvRules *rules, const CsvBlockBits *bits, CsvCarries *carries)
{
	const uint32_t nrest = rules->delimiter_rest_length;
	uint64_t	separators = bits->separators;
	uint64_t	behind = separators << 1 | carries->separator;

	carries->separator = separators >> 63;
	if (__builtin_expect(nrest > 0, 0))
	{
		uint64_t	delimiters = separators & ~bits->breaks;

		behind = (behind & ~(delimiters << 1)) | delimiters << (nrest + 1);
		carries->separator = (separators & bits->breaks) >> 63 |
			delimiters >> (63 - nrest);
	}
	return behind;
}

/*
 * The first byte from each byte of `from` on that is not a blank.  *carry: a run of
 * blanks continues in the next block.
 */
static inline __attribute__((always_inline)) uint64_t
past_blanks(uint64_t from, uint64_t blanks, uint64_t *carry)
{
	uint64_t	sum;

	/* the sum's carry runs through the blanks */
	from |= *carry;
	*carry = __builtin_add_overflow(blanks, from & blanks, &sum);
	return (from | sum) & ~blanks;
}

/* quotes where the dialect allows none, or bytes that may not follow a quote */
static inline __attribute__((always_inline)) uint64_t
stray_bits(const CsvRules *rules, uint64_t base, uint64_t valid,
		   const CsvBlockBits *bits, uint64_t delimiters, uint64_t blanks,
		   uint64_t inside, CsvCarries *carries)
{
	uint64_t	opening = bits->quotes & inside;
	uint64_t	closing = bits->quotes & ~inside;
	uint64_t	after_close = closing << 1 | carries->close;
	uint64_t	after_separator = behind_separators(rules, bits, carries);

	/* a doubled quote needs escape and quote to be the same */
	uint64_t	doubled = rules->has_escape ? 0 : after_close;
	uint64_t	stray = valid & after_close &
		~(delimiters | bits->breaks | (rules->has_escape ? 0 : bits->quotes));
	uint64_t	irregular;

	if (rules->trim)
	{
		after_separator = past_blanks(after_separator, blanks, &carries->blank);
		stray = (stray & ~blanks) |
			(past_blanks(after_close & blanks, blanks, &carries->close_blank) & valid &
			 ~(delimiters | bits->breaks));
	}
	irregular = opening & ~after_separator & ~doubled;
	while (stray != 0)
	{
		uint64_t	pos = base + csv_lowest_bit(stray);

		/* a CR that belongs to a line break may follow, too */
		if (!(rules->bytes[pos] == '\r' &&
			  csv_cr_in_break(rules->trim_crs, rules->bytes, pos, rules->nbytes)))
			return irregular | CSV_BIT(pos);
		stray &= stray - 1;
	}
	return irregular;
}

/* the bytes that escapes make data */
static inline uint64_t
escaped_bits(uint64_t escapes, uint64_t *carry)
{
	uint64_t	escaped = *carry;
	uint64_t	left = escapes & ~escaped;

	if (__builtin_expect((escapes | escaped) == 0, 1))
		return 0;
	*carry = 0;
	while (left != 0)
	{
		uint64_t	first = left & -left;

		*carry = first >> 63;
		escaped |= first << 1;
		left &= ~(first | first << 1);
	}
	return escaped;
}

/*
 * In text format, the bytes that are escaped.  If the CR of a CR LF is escaped, the LF
 * is not a break: the CR is irregular, so that the table reads it.
 */
static inline __attribute__((always_inline)) uint64_t
read_text_block(const CsvRules *rules, CsvIndexBlock block, uint64_t valid,
				CsvBlockBits *bits, CsvCarries *carries)
{
	uint64_t	escaped;

	bits->quotes = block_equal(block, rules->escape) & valid;
	escaped = escaped_bits(bits->quotes, &carries->escaped);
	if (rules->trim_crs > 0)
		bits->irregular = block_equal(block, '\r') & escaped & valid;
	return escaped;
}

static inline __attribute__((always_inline)) CsvBlockBits
read_block(const CsvRules *rules, CsvIndexBlock block, uint64_t base,
		   uint64_t valid, CsvCarries *carries)
{
	uint64_t	escaped = 0;
	uint64_t	delimiters = block_equal(block, rules->delimiter) & valid;
	CsvBlockBits bits = {
		.breaks = block_equal(block, rules->break_byte) & valid
	};

	if (rules->crlf_only)
	{
		uint64_t	crs = block_equal(block, '\r') & valid;

		bits.breaks &= crs << 1 | carries->cr;
		carries->cr = crs >> 63;
	}
	if (rules->is_text)
		escaped = read_text_block(rules, block, valid, &bits, carries);
	delimiters &= ~escaped;
	if (__builtin_expect(rules->delimiter_rest_length > 0, 0))
	{
		delimiters = whole_delimiters(rules->opt, rules->bytes, rules->nbytes, base,
									  delimiters, carries->delimiter_end);
		if (delimiters != 0)
			carries->delimiter_end = base + 63 - (uint64_t) __builtin_clzll(delimiters) +
				1 + rules->delimiter_rest_length;
	}
	bits.separators = delimiters | (bits.breaks & ~escaped);
	if (rules->has_quote)
	{
		uint64_t	blanks = 0;
		uint64_t	escapes = 0;
		uint64_t	inside;

		bits.quotes = block_equal(block, rules->quote) & valid;
		if (rules->has_escape)
		{
			escapes = block_equal(block, rules->escape) & valid;
			if (!rules->escape_separates)
				escaped = escaped_bits(escapes, &carries->escaped);
			bits.quotes &= ~escaped;
		}
		inside = prefix_xor(bits.quotes) ^ carries->inside;
		bits.separators &= ~inside;
		if (rules->trim)
			blanks = (block_equal(block, ' ') | block_equal(block, '\t')) & valid &
				~delimiters;
		if (rules->strict)
			bits.irregular = stray_bits(rules, base, valid, &bits, delimiters,
										blanks, inside, carries);
		/* outside of quotes, an escape has no meaning, but `escaped` gave it one */
		if (rules->has_escape)
			bits.irregular |= escapes & ~escaped &
				(rules->escape_separates ? inside : ~inside);
		if (!rules->multiline)
			bits.irregular |= bits.breaks & inside;

		carries->close = (bits.quotes & ~inside) >> 63;
		carries->inside = (uint64_t) ((int64_t) inside >> 63);
		bits.quotes |= escapes;
	}
	if (bits.irregular != 0)
		bits.separators &= CSV_BITS_BELOW(csv_lowest_bit(bits.irregular));
	return bits;
}

/* does a comment begin here, or may it begin, if the input ends too early to tell? */
static inline bool
may_be_comment(const CsvRules *rules, uint64_t start)
{
	return rules->has_comments &&
		csv_comment_begins_at(rules->opt, rules->bytes, start, rules->nbytes);
}

/* a record's start, and the counts before it */
typedef struct CsvIndexPlace
{
	uint64_t	start;
	uint64_t	nseparators;
	uint64_t	nlines;
} CsvIndexPlace;

/* may these few bytes before a line break be a blank line, or mark the end of data? */
static bool
may_be_no_record(const CsvRules *rules, uint64_t start, uint64_t length)
{
	const uint8_t *bytes = rules->bytes + start;
	uint64_t	ncrs = csv_crs_at_end(bytes, length);

	return (length == ncrs && !rules->blank_is_record) ||
		csv_says_end_of_data(rules->dialect, bytes, length - ncrs);
}

/*
 * Add the records that end in a block to the index.  *record is the current record, and
 * `before` has the counts before the block.  Returns CSV_END if a record cannot be
 * added.
 */
static inline __attribute__((always_inline)) CsvStatus
end_records(CsvIndex *index, const CsvRules *rules, uint64_t base,
			const CsvBlockBits *bits, CsvIndexPlace before, CsvIndexPlace *record)
{
	for (uint64_t ends = bits->separators & bits->breaks; ends != 0;
		 ends &= ends - 1)
	{
		uint32_t	bit = csv_lowest_bit(ends);
		uint64_t	up_to_end = CSV_BITS_BELOW(bit) | CSV_BIT(bit);
		uint64_t	length = base + bit - record->start;
		uint64_t	nseparators = before.nseparators +
			csv_popcount(bits->separators & up_to_end);

		/*
		 * It may be too long, a blank line, or the end of data; or have more fields
		 * than any layout, whose positions would take much memory.
		 */
		if (length > rules->max_record_bytes ||
			nseparators - record->nseparators > CSV_MAX_FIELDS ||
			(length <= 2 + CSV_BREAK_CRS &&
			 may_be_no_record(rules, record->start, length)))
			return CSV_END;
		if (index->nrecords + 1 >= index->record_capacity &&
			!csv_index_grow_records(index))
			return CSV_NO_MEMORY;
		index->records[index->nrecords].start = (uint32_t) record->start;
		index->records[index->nrecords].first_separator =
			(uint32_t) record->nseparators;
		index->records[index->nrecords].line = (uint32_t) record->nlines;
		index->nrecords++;
		record->start = base + bit + 1;
		record->nseparators = nseparators;
		record->nlines = before.nlines +
			csv_popcount_few(bits->breaks & up_to_end);
		if (may_be_comment(rules, record->start))
			return CSV_END;
	}
	return bits->irregular != 0 ? CSV_END : CSV_OK;
}

/* stop at the start of a record that was read up to `end`, but not added */
static void
stop_at(CsvIndex *index, const CsvIndexPlace *record, uint64_t end)
{
	csv_clear_between(index->separators, record->start, end);
	index->pos = record->start;
	index->nseparators = (uint32_t) record->nseparators;
	index->nlines = (uint32_t) record->nlines;
}

static CsvStatus
run_blocks(CsvIndex *index)
{
	const CsvRules rules = make_rules(index);
	CsvIndexPlace	record = {index->pos, index->nseparators, index->nlines};
	CsvIndexPlace	before = record;	/* before the block */
	uint64_t	ignore = CSV_BITS_BELOW(record.start);	/* for the first block */
	CsvCarries	carries = {.separator = CSV_BIT(record.start)};
	uint64_t	base;

	if (may_be_comment(&rules, record.start))
		return CSV_OK;
	for (base = record.start - record.start % 64; base < rules.nbytes;
		 base += 64)
	{
		CsvIndexBlock	block = block_load(rules.bytes + base);
		uint64_t	valid = ~ignore;
		uint64_t	word = CSV_WORD(base);
		CsvBlockBits bits;
		CsvStatus	status;

		if ((base & 0xFFFF) == 0 && csv_interrupted(index->input))
			return CSV_INTERRUPTED;

		if (rules.nbytes - base < 64)
			valid &= CSV_BITS_BELOW(rules.nbytes);
		index->unplain[word] = block_unplain(block);
		bits = read_block(&rules, block, base, valid, &carries);
		if (rules.has_quote || rules.is_text)
			index->quotes[word] = (index->quotes[word] & ignore) | bits.quotes;
		index->separators[word] = (index->separators[word] & ignore) |
			bits.separators;

		status = end_records(index, &rules, base, &bits, before, &record);
		if (status == CSV_END)
		{
			stop_at(index, &record, base + 64);
			return CSV_OK;
		}
		if (status != CSV_OK)
			return status;
		before.nseparators += csv_popcount(bits.separators);
		before.nlines += csv_popcount_few(bits.breaks);
		ignore = 0;
	}

	/* no record ends in the remaining bytes, and none of them is irregular */
	index->incomplete = !index->input->at_end && record.start < rules.nbytes &&
		rules.nbytes - record.start <= rules.max_record_bytes + CSV_BREAK_CRS;
	stop_at(index, &record, base);
	return CSV_OK;
}

static uint32_t *
list_positions(const CsvIndex *index, uint64_t start, uint64_t end,
			   uint32_t *positions)
{
	uint64_t	first = CSV_WORD(start);
	uint64_t	last = CSV_WORD(end - 1);

	for (uint64_t i = first; i <= last; i++)
	{
		uint64_t	word = index->separators[i];

		if (i == first)
			word &= ~CSV_BITS_BELOW(start);
		if (i == last)
			word &= CSV_BITS_BELOW(end - 1) | CSV_BIT(end - 1);
		word_positions(word, (uint32_t) (i * CSV_WORD_BITS), positions);
		positions += csv_popcount(word);
	}
	return positions;
}

const CsvIndexFunctions CSV_INDEX_FUNCTIONS = {
	.run = run_blocks,
	.list_positions = list_positions
};
