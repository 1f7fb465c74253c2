/*
 * test_bits.c
 *		Bit-strings against loops over single bits, and the structural index of
 *		each instruction set against a loop over single bytes.
 */
#include "unit.h"
#include "../../src/cpu/index.h"
#include "reading.h"
#include "rounds.h"

#define NWORDS	5					/* csv_any_between reads one more */
#define NBITS	(NWORDS * 64)

static bool
bit_at(const uint64_t *words, uint64_t pos)
{
	return (words[pos / 64] >> (pos % 64)) & 1;
}

/* all, none, few or half of the bits */
static void
random_bits(uint64_t *words, int density)
{
	for (int i = 0; i < NWORDS; i++)
	{
		words[i] = next_random();
		if (density == 0)
			words[i] = 0;
		else if (density == 1)
			words[i] &= next_random() & next_random() &
				next_random() & next_random();
		else if (density == 2)
			words[i] = UINT64_MAX;
	}
}

TEST(popcount_and_select_agree_with_counting)
{
	for (int round = 0; round < 2000; round++)
	{
		uint64_t	words[NWORDS + 1];
		uint32_t	count = 0;

		random_bits(words, round % 4);
		for (uint32_t bit = 0; bit < 64; bit++)
			if (bit_at(words, bit))
			{
				assert_int_equal(csv_select_in_word(words[0], count), bit);
				if (count == 0)
					assert_int_equal(csv_lowest_bit(words[0]), bit);
				count++;
			}
		assert_int_equal(csv_popcount(words[0]), count);
		assert_int_equal(csv_popcount_few(words[0]), count);
		assert_int_equal(csv_popcount_few(words[0] & CSV_BIT(round)),
						 words[0] >> round % 64 & 1);
	}
}

TEST(any_and_clear_agree_with_loops_between_any_two_positions)
{
	for (int round = 0; round < 8; round++)
	{
		uint64_t	words[NWORDS + 1];

		random_bits(words, round % 4);
		for (uint64_t from = 0; from < NBITS; from++)
			for (uint64_t to = from; to < NBITS; to++)
			{
				uint64_t	cleared[NWORDS + 1];
				uint64_t	words_without[NWORDS + 1];
				uint64_t	count = 0;

				memcpy(words_without, words, sizeof(words));
				memcpy(cleared, words, sizeof(words));
				csv_clear_between(cleared, from, to);
				for (uint64_t pos = from; pos < to; pos++)
				{
					count += bit_at(words, pos);
					words_without[CSV_WORD(pos)] &= ~CSV_BIT(pos);
				}
				if ((csv_any_between(words, from, to) != 0) != (count > 0))
					fail_msg("between %d and %d", (int) from, (int) to);
				if (memcmp(cleared, words_without, sizeof(cleared)) != 0)
					fail_msg("cleared %d to %d", (int) from, (int) to);
			}
	}
}

TEST(an_empty_or_reversed_range_has_no_bits)
{
	uint64_t	words[NWORDS + 1];

	memset(words, 0xFF, sizeof(words));
	assert_false(csv_any_between(words, 70, 60));
	csv_clear_between(words, 70, 60);
	for (uint32_t i = 0; i <= NWORDS; i++)
		assert_int_equal(words[i], UINT64_MAX);
}

TEST(select_finds_the_nth_bit_from_any_position)
{
	for (int round = 0; round < 12; round++)
	{
		uint64_t	words[NWORDS];

		random_bits(words, round % 4);
		for (uint64_t from = 0; from < NBITS; from++)
		{
			uint64_t	n = 0;

			for (uint64_t pos = from; pos < NBITS; pos++)
				if (bit_at(words, pos) &&
					csv_select_from(words, from, n++) != pos)
					fail_msg("from %d to %d", (int) from, (int) pos);
		}
	}
}

/* ---- blocks ---- */

static const struct
{
	const char *name;
	CsvIsa		isa;
	const CsvIndexFunctions *functions;
} runs[] = {
	{"swar", CSV_ISA_SWAR, &csv_index_swar},
	{"avx2", CSV_ISA_AVX2, &csv_index_avx2},
	{"avx512", CSV_ISA_AVX512, &csv_index_avx512},
};

static void
build_index(CsvIndex *index, CsvInput *input, const CsvDialect *dialect,
			const uint8_t *bytes, uint64_t nbytes,
			const CsvIndexFunctions *functions)
{
	memset(index, 0, sizeof(*index));
	memset(input, 0, sizeof(*input));
	input->bytes = bytes;
	input->nbytes = nbytes;
	input->max_record_bytes = 1 << 20;
	input->at_end = true;
	index->functions = functions;
	index->memory = &csv_thread_memory;
	index->dialect = dialect;
	index->input = input;
	assert_int_equal(csv_index_build(index), CSV_OK);
	assert_int_equal(index->pos, nbytes);
}

/*
 * In the simple format every delimiter and break separates: the masks are
 * those bytes, wherever they stand in a block, and whatever stands beside.
 */
TEST(each_isa_marks_delimiters_and_breaks_at_any_place_in_a_block)
{
	static uint8_t memory[64 + 1024 + 64];
	uint8_t    *bytes = memory + 64;
	CsvDialectOptions options = {.delimiter = ',', .blank_is_record = true};

	for (size_t r = 0; r < sizeof(runs) / sizeof(runs[0]); r++)
	{
		if (!reading_has_isa(runs[r].isa))
			continue;
		for (uint64_t nbytes = 1; nbytes < 1000; nbytes += nbytes < 200 ? 1 : 61)
		{
			CsvDialect	dialect;
			CsvIndex	index;
			CsvInput	input;

			/* bytes next to the delimiter in value, and all others */
			for (uint64_t i = 0; i < nbytes; i++)
			{
				static const uint8_t near[] = {',', ',' - 1, ',' + 1, ',' | 0x80,
				'\n', '\n' - 1, '\n' + 1, '\n' | 0x80, 0, 0xFF};
				uint64_t	choice = next_random();

				bytes[i] = choice % 3 == 0 ? (uint8_t) (choice >> 8) :
					near[(choice >> 8) % sizeof(near)];
				/* no line break of two bytes, nor another quote */
				if (bytes[i] == '\r')
					bytes[i] = 'r';
			}
			csv_dialect_compile(&dialect, &options);
			build_index(&index, &input, &dialect, bytes, nbytes, runs[r].functions);
			for (uint64_t pos = 0; pos < nbytes; pos++)
				if (bit_at(index.separators, pos) !=
					(bytes[pos] == ',' || bytes[pos] == '\n'))
					fail_msg("%s: byte %d of %d", runs[r].name, (int) pos,
							 (int) nbytes);
			/* the end of the input separates, where the last line is open */
			assert_int_equal(bit_at(index.separators, nbytes),
							 bytes[nbytes - 1] != '\n');
			for (uint64_t pos = 0; pos < nbytes; pos++)
				if ((bytes[pos] == 0 || bytes[pos] >= 0x80) &&
					!index.unplain[pos / 64])
					fail_msg("%s: byte %d is not plain", runs[r].name,
							 (int) pos);
			csv_index_free(&index);
		}
	}
}

TEST(each_isa_knows_a_block_of_plain_ascii)
{
	static uint8_t memory[64 + 256 + 64];
	uint8_t    *bytes = memory + 64;
	CsvDialectOptions options = {.delimiter = ',', .quote = '"'};
	CsvDialect	dialect;

	csv_dialect_compile(&dialect, &options);
	for (size_t r = 0; r < sizeof(runs) / sizeof(runs[0]); r++)
		for (int place = 0; place < 64; place++)
			for (int value = 0; value < 256; value++)
			{
				CsvIndex	index;
				CsvInput	input;

				if (!reading_has_isa(runs[r].isa) || value == '"' ||
					(place + value) % 7 != 0)
					continue;
				memset(bytes, 'a', 256);
				bytes[64 + place] = (uint8_t) value;
				bytes[191] = '\n';
				build_index(&index, &input, &dialect, bytes, 192, runs[r].functions);
				assert_int_equal(index.unplain[0], 0);
				assert_int_equal(index.unplain[1], value == 0 || value >= 0x80);
				assert_int_equal(index.unplain[2], 0);
				csv_index_free(&index);
			}
}

/*
 * Quoted fields that begin and end at any place in a block, with quotes and
 * separators in them: as the table finds it.
 */
TEST(each_isa_finds_the_separators_outside_quotes)
{
	static uint8_t memory[64 + 1024 + 64];
	uint8_t    *bytes = memory + 64;
	CsvDialectOptions options = {
		.delimiter = ',', .quote = '"', .multiline = true
	};
	CsvDialect	dialect;

	csv_dialect_compile(&dialect, &options);
	for (int round = 0; round < 300; round++)
	{
		uint64_t	nbytes = 0;

		while (nbytes < 600)
		{
			uint64_t	length = next_random() % 20;
			bool		quoted = next_random() % 2;

			if (quoted)
				bytes[nbytes++] = '"';
			for (uint64_t i = 0; i < length; i++)
			{
				uint8_t		byte = (uint8_t) ("abc,\n\""[next_random() % 6]);

				if (!quoted && (byte == ',' || byte == '\n' || byte == '"'))
					byte = 'x';
				if (byte == '"')
					bytes[nbytes++] = '"';
				bytes[nbytes++] = byte;
			}
			if (quoted)
				bytes[nbytes++] = '"';
			bytes[nbytes++] = ",,,\n"[next_random() % 4];
		}
		bytes[nbytes++] = 'x';
		bytes[nbytes++] = '\n';
		for (size_t r = 0; r < sizeof(runs) / sizeof(runs[0]); r++)
		{
			CsvIndex	index;
			CsvInput	input;
			uint8_t		table_state = CSV_STATE_RECORD_START;

			if (!reading_has_isa(runs[r].isa))
				continue;
			build_index(&index, &input, &dialect, bytes, nbytes, runs[r].functions);
			assert_int_equal(index.nerrors, 0);
			for (uint64_t pos = 0; pos < nbytes; pos++)
			{
				int			class = csv_class_at(&dialect, bytes, pos, nbytes);
				uint8_t		entry = dialect.table[CSV_NORMAL][table_state][class];

				if (bit_at(index.separators, pos) != ((entry & CSV_FIELD) != 0) ||
					bit_at(index.quotes, pos) != (bytes[pos] == '"'))
					fail_msg("%s: byte %d", runs[r].name, (int) pos);
				table_state = entry & CSV_STATE_MASK;
			}
			csv_index_free(&index);
		}
	}
}
