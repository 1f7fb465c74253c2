/*
 * index_loop.h
 *		The loop over 64-byte blocks, compiled once per instruction set.
 *
 * Before it is included, the file defines CSV_INDEX_FUNCTIONS (the name of the
 * CsvIndexFunctions to make) and
 *
 *	CsvBlock			a loaded block
 *	block_load(p)		loads 64 bytes
 *	block_equal(b, c)	a bit per byte that equals c
 *	block_unplain(b)	does any byte have the value 0 or the high bit?
 *	prefix_xor(word)	bit i: exclusive-or of the bits 0 to i
 *	word_positions(word, base, positions)
 *						writes base + the number of each bit set, and up to 15
 *						more entries
 */
#include "index.h"

static CsvStatus
run_blocks(CsvIndex *index)
{
	const CsvDialect *dialect = index->dialect;
	const CsvInput *input = index->input;
	const uint8_t *bytes = input->bytes;
	const uint64_t nbytes = index->limit;
	const uint8_t delimiter = dialect->opt.delimiter;
	const uint8_t quote = dialect->opt.quote;
	const uint8_t escape = dialect->opt.escape;
	const uint8_t break_byte = dialect->break_byte;
	const bool	has_quote = quote != 0;
	const bool	has_escape = has_quote && escape != quote;
	const bool	strict = dialect->opt.quoting == CSV_QUOTING_RFC4180;
	const bool	multiline = dialect->opt.multiline;
	const bool	crlf_only = dialect->opt.boundary == CSV_BOUNDARY_CRLF;
	const bool	trim_cr = dialect->trim_cr;
	const bool	blank_is_record = dialect->opt.blank_is_record;
	const uint64_t max_record_bytes = input->max_record_bytes;

	uint64_t	record_start = index->pos;
	uint64_t	nseparators = index->nseparators;
	uint64_t	record_separators = index->nseparators; /* before the record */
	uint64_t	nlines = index->nlines; /* before the block */
	uint64_t	record_line = index->nlines;
	uint64_t	inside_carry = 0;	/* all ones: the block starts in quotes */
	uint64_t	separator_carry;	/* a separator is right before it */
	uint64_t	close_carry = 0;	/* a closing quote is right before it */
	uint64_t	cr_carry = 0;
	uint64_t	ignore = CSV_BITS_BELOW(record_start);	/* of the first block */
	uint64_t	base;
	uint64_t	cleared;		/* up to here */

	separator_carry = CSV_BIT(record_start);	/* likewise */
	for (base = record_start - record_start % 64; base < nbytes;
		 base += 64)
	{
		CsvBlock	block = block_load(bytes + base);
		uint64_t	valid = ~ignore;
		uint64_t	delimiters;
		uint64_t	breaks;
		uint64_t	quotes = 0;
		uint64_t	inside = 0;
		uint64_t	separators;
		uint64_t	ends;
		uint64_t	irregular = 0;
		uint64_t	word = CSV_WORD(base);
		uint64_t   *separator_word = &index->separators[word];
		uint64_t   *quote_word = &index->quotes[word];

		if ((base & 0xFFFF) == 0 && csv_crew_interrupted(index->crew))
			return CSV_INTERRUPTED;

		if (nbytes - base < 64)
			valid &= CSV_BITS_BELOW(nbytes);
		delimiters = block_equal(block, delimiter) & valid;
		breaks = block_equal(block, break_byte) & valid;
		if (ignore != 0 && index->is_stretch)
		{
			/* the rest of these words is another stretch's */
			separator_word = &index->head_separators;
			quote_word = &index->head_quotes;
		}
		else
			index->unplain[word] = block_unplain(block);
		if (crlf_only)
		{
			uint64_t	crs = block_equal(block, '\r') & valid;

			breaks &= crs << 1 | cr_carry;
			cr_carry = crs >> 63;
		}

		if (has_quote)
		{
			uint64_t	opening;
			uint64_t	closing;

			quotes = block_equal(block, quote) & valid;
			inside = prefix_xor(quotes) ^ inside_carry;
			opening = quotes & inside;
			closing = quotes & ~inside;
			separators = (delimiters | breaks) & ~inside;
			if (strict)
			{
				uint64_t	after_close = closing << 1 | close_carry;
				uint64_t	after_separator = separators << 1 | separator_carry;

				/* a doubled quote needs escape and quote to be the same */
				uint64_t	doubled = has_escape ? 0 : after_close;
				uint64_t	stray = valid & after_close &
					~(delimiters | breaks | (has_escape ? 0 : quotes));

				irregular = opening & ~after_separator & ~doubled;
				while (stray != 0)
				{
					uint64_t	pos = base + csv_lowest_bit(stray);

					/* a CR that belongs to a line break may follow, too */
					if (!(trim_cr && bytes[pos] == '\r' &&
						  pos + 1 < nbytes && bytes[pos + 1] == '\n'))
					{
						irregular |= CSV_BIT(pos);
						break;
					}
					stray &= stray - 1;
				}
			}
			if (has_escape)
				irregular |= block_equal(block, escape) & valid & inside;
			if (!multiline)
				irregular |= breaks & inside;

			separator_carry = separators >> 63;
			close_carry = closing >> 63;
			inside_carry = (uint64_t) ((int64_t) inside >> 63);
			*quote_word = (*quote_word & ignore) | quotes;
		}
		else
			separators = delimiters | breaks;

		if (irregular != 0)
			separators &= CSV_BITS_BELOW(csv_lowest_bit(irregular));
		*separator_word = (*separator_word & ignore) | separators;

		ends = separators & breaks;
		while (ends != 0)
		{
			uint32_t	bit = csv_lowest_bit(ends);
			uint64_t	end = base + bit;
			uint64_t	below = CSV_BITS_BELOW(bit);
			uint64_t	length = end - record_start;

			/* a blank line, or perhaps a record that is too long */
			if (length > max_record_bytes ||
				(!blank_is_record &&
				 (length == 0 ||
				  (length == 1 && trim_cr && bytes[record_start] == '\r'))))
				goto stop;
			if (index->nrecords + 1 >= index->record_capacity &&
				!csv_index_grow_records(index))
				return CSV_NO_MEMORY;
			index->records[index->nrecords].start = (uint32_t) record_start;
			index->records[index->nrecords].first_separator =
				(uint32_t) record_separators;
			index->records[index->nrecords].line = (uint32_t) record_line;
			index->nrecords++;
			record_start = end + 1;
			record_separators = nseparators +
				csv_popcount(separators & (below | CSV_BIT(bit)));
			record_line = nlines +
				csv_popcount_few(breaks & (below | CSV_BIT(bit)));
			ends &= ends - 1;
		}
		if (irregular != 0)
			goto stop;
		nseparators += csv_popcount(separators);
		nlines += csv_popcount_few(breaks);
		ignore = 0;
	}

	/* not one record's end, nor anything irregular, in what is left */
	index->incomplete = nbytes == input->nbytes && !input->at_end &&
		record_start < nbytes && nbytes - record_start <= max_record_bytes + 1;
	base -= 64;

stop:
	/* separators of a record that did not join the index */
	cleared = record_start;
	if (index->is_stretch && CSV_WORD(cleared) == CSV_WORD(index->pos) &&
		index->pos % 64 != 0)
	{
		index->head_separators &= CSV_BITS_BELOW(cleared);
		cleared += 64 - cleared % 64;
	}
	csv_clear_between(index->separators, cleared, base + 64);
	index->pos = record_start;
	index->nseparators = (uint32_t) record_separators;
	index->nlines = (uint32_t) record_line;
	return CSV_OK;
}

static void
count_bytes(const CsvIndex *index, uint64_t from, uint64_t to,
			uint64_t *nquotes, uint64_t *nbreaks)
{
	const uint8_t *bytes = index->input->bytes;
	const uint8_t quote = index->dialect->opt.quote;
	const uint8_t break_byte = index->dialect->break_byte;
	uint64_t	quotes = 0;
	uint64_t	breaks = 0;

	for (uint64_t base = from; base < to; base += 64)
	{
		CsvBlock	block = block_load(bytes + base);
		uint64_t	valid = to - base < 64 ? CSV_BITS_BELOW(to) : UINT64_MAX;

		breaks += csv_popcount(block_equal(block, break_byte) & valid);
		if (quote != 0)
			quotes += csv_popcount(block_equal(block, quote) & valid);
	}
	*nquotes = quotes;
	*nbreaks = breaks;
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
	.list_positions = list_positions,
	.count = count_bytes
};
