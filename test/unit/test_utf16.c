/*
 * test_utf16.c
 *		UTF-16 as UTF-8, compared with a converter that takes one character at a
 *		time, whole and in pieces.
 */
#include "unit.h"
#include "rounds.h"
#include "utf16.h"

#define MOST_UNITS	200
#define MOST_BYTES	(2 * MOST_UNITS + 1)

/* ---- the reference: code points, then UTF-8 of each by division ---- */

static size_t
put_reference(uint8_t *output, uint32_t character)
{
	if (character < 0x80)
	{
		output[0] = (uint8_t) character;
		return 1;
	}
	if (character < 0x800)
	{
		output[0] = (uint8_t) (0xC0 + character / 64);
		output[1] = (uint8_t) (0x80 + character % 64);
		return 2;
	}
	if (character < 0x10000)
	{
		output[0] = (uint8_t) (0xE0 + character / 4096);
		output[1] = (uint8_t) (0x80 + character / 64 % 64);
		output[2] = (uint8_t) (0x80 + character % 64);
		return 3;
	}
	output[0] = (uint8_t) (0xF0 + character / 262144);
	output[1] = (uint8_t) (0x80 + character / 4096 % 64);
	output[2] = (uint8_t) (0x80 + character / 64 % 64);
	output[3] = (uint8_t) (0x80 + character % 64);
	return 4;
}

static size_t
reference(const uint8_t *input, size_t nbytes, int big_endian, uint8_t *output)
{
	size_t		noutput = 0;
	uint32_t	high = 0;		/* one that waits for its other half */

	for (size_t i = 0; i + 1 < nbytes; i += 2)
	{
		uint32_t	unit = 256u * input[big_endian ? i : i + 1] +
			input[big_endian ? i + 1 : i];

		if (high != 0 && unit >= 0xDC00 && unit <= 0xDFFF)
		{
			noutput += put_reference(output + noutput,
									 (high - 0xD800) * 1024 + unit - 0xDC00 + 0x10000);
			high = 0;
			continue;
		}
		if (high != 0)
			noutput += put_reference(output + noutput, high);
		high = unit >= 0xD800 && unit <= 0xDBFF ? unit : 0;
		if (high == 0)
			noutput += put_reference(output + noutput, unit);
	}
	if (high != 0)
		noutput += put_reference(output + noutput, high);
	if (nbytes % 2 != 0)
		output[noutput++] = 0xFF;
	return noutput;
}

/* ---- random text ---- */

static uint32_t
random_unit(uint32_t kind)
{
	switch (kind == 0 ? random_below(6) : kind)
	{
		case 1:
			return random_below(0x80);
		case 2:
			return random_below(0x800);
		case 3:
			return 0xD800 + random_below(0x800);
		case 4:
			return random_below(0x10000);
		default:
			return "a,\"\n"[random_below(4)];
	}
}

static size_t
random_text(uint8_t *input, int big_endian)
{
	size_t		nunits = random_below(MOST_UNITS + 1);
	size_t		nbytes = 2 * nunits + one_in(4);
	uint32_t	kind = random_below(7);

	for (size_t i = 0; i < nunits; i++)
	{
		/* mostly of one kind, so that there are blocks of ASCII */
		uint32_t	unit = random_unit(one_in(20) ? 0 : kind);

		input[2 * i + (big_endian ? 0 : 1)] = (uint8_t) (unit >> 8);
		input[2 * i + (big_endian ? 1 : 0)] = (uint8_t) unit;
	}
	if (nbytes % 2 != 0)
		input[nbytes - 1] = (uint8_t) random_below(256);
	return nbytes;
}

/*
 * As a source does: pieces come one after the other, and what is left of one is
 * in front of the next.  All buffers are just as large as they must be, so that
 * sanitizers see a step beyond.
 */
static size_t
convert_pieces(const uint8_t *input, size_t nbytes, int big_endian,
			   size_t most, uint8_t *output)
{
	size_t		noutput = 0;
	size_t		start = 0;
	size_t		end = 0;
	int			at_end = 0;

	while (!at_end)
	{
		size_t		npiece = 1 + random_below((uint32_t) most);
		size_t		produced;
		size_t		consumed;
		uint8_t    *piece;
		uint8_t    *made;

		at_end = end == nbytes;
		end = npiece < nbytes - end ? end + npiece : nbytes;
		piece = malloc(end - start + 1);
		made = malloc(CSV_UTF16_GROWTH(end - start) + 1);
		memcpy(piece, input + start, end - start);
		consumed = csv_utf16_to_utf8(piece, end - start, big_endian, at_end,
									 made, &produced);
		assert_true(consumed <= end - start);
		assert_true(at_end ? consumed == end - start :
					end - start - consumed < 4);
		assert_true(produced <= CSV_UTF16_GROWTH(end - start));
		memcpy(output + noutput, made, produced);
		noutput += produced;
		start += consumed;
		free(piece);
		free(made);
	}
	return noutput;
}

TEST(random_text_becomes_what_the_reference_makes)
{
	for (uint64_t seed = first_seed(); seed < first_seed() + rounds(20000); seed++)
	{
		int			big_endian;
		uint8_t		input[MOST_BYTES];
		uint8_t		expected[CSV_UTF16_GROWTH(MOST_BYTES)];
		uint8_t		output[CSV_UTF16_GROWTH(MOST_BYTES)];
		size_t		nbytes;
		size_t		nexpected;
		size_t		noutput;

		start_seed(seed);
		big_endian = (int) random_below(2);
		nbytes = random_text(input, big_endian);
		nexpected = reference(input, nbytes, big_endian, expected);
		for (size_t most = 1; most <= 1000; most *= 10)
		{
			noutput = convert_pieces(input, nbytes, big_endian, most, output);
			assert_int_equal(noutput, nexpected);
			assert_memory_equal(output, expected, nexpected);
		}
	}
	end_seeds();
}

TEST(every_code_point_comes_out)
{
	for (uint32_t character = 0; character < 0x110000; character++)
	{
		uint8_t		input[4];
		uint8_t		expected[4];
		uint8_t		output[CSV_UTF16_GROWTH(4)];
		size_t		ninput = character < 0x10000 ? 2 : 4;
		size_t		nexpected = put_reference(expected, character);
		size_t		produced;
		uint32_t	first = character < 0x10000 ? character :
			0xD800 + (character - 0x10000) / 1024;
		uint32_t	second = 0xDC00 + character % 1024;

		input[0] = (uint8_t) first;
		input[1] = (uint8_t) (first >> 8);
		input[2] = (uint8_t) second;
		input[3] = (uint8_t) (second >> 8);
		assert_int_equal(csv_utf16_to_utf8(input, ninput, 0, 1, output, &produced), ninput);
		assert_int_equal(produced, nexpected);
		assert_memory_equal(output, expected, nexpected);
	}
}

static void
assert_becomes(const char *input, size_t ninput, const char *expected)
{
	uint8_t		output[100];
	size_t		produced;

	csv_utf16_to_utf8((const uint8_t *) input, ninput, 1, 1, output, &produced);
	assert_int_equal(produced, strlen(expected));
	assert_memory_equal(output, expected, produced);
}

TEST(what_is_no_text_becomes_no_text)
{
	assert_becomes("\xd8\x3d\xde\x00", 4, "\xf0\x9f\x98\x80");
	assert_becomes("\xd8\x3d", 2, "\xed\xa0\xbd");
	assert_becomes("\xde\x00\xd8\x3d", 4, "\xed\xb8\x80\xed\xa0\xbd");
	assert_becomes("\xd8\x3d\xd8\x3d\xde\x00", 6, "\xed\xa0\xbd\xf0\x9f\x98\x80");
	assert_becomes("\xd8\x3d\0a", 4, "\xed\xa0\xbd" "a");
	assert_becomes("\0a\n", 3, "a\xff");
	assert_becomes("\xd8\x3d\xde", 3, "\xed\xa0\xbd\xff");
	assert_becomes("\xfe\xff\0a", 4, "\xef\xbb\xbf" "a");
}
