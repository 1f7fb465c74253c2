/*
 * utf16.c
 *		Conversion of UTF-16 to UTF-8.
 *
 * Blocks of ASCII are converted 16 code units at a time, by loops that compilers
 * turn into vector instructions.
 */
#include <string.h>

#include "utf16.h"

#define BLOCK_UNITS		16

/* a code unit of ASCII, as the bytes are in memory, has none of these bits */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BEYOND_ASCII(big_endian)	((big_endian) ? 0xFF80 : 0x80FF)
#define SHIFT(big_endian)			((big_endian) ? 0 : 8)
#else
#define BEYOND_ASCII(big_endian)	((big_endian) ? 0x80FF : 0xFF80)
#define SHIFT(big_endian)			((big_endian) ? 8 : 0)
#endif

/* never part of UTF-8 */
#define INVALID_BYTE	0xFF

static inline bool
is_high_surrogate(uint32_t unit)
{
	return (unit & 0xFC00) == 0xD800;
}

static inline bool
is_low_surrogate(uint32_t unit)
{
	return (unit & 0xFC00) == 0xDC00;
}

static inline uint32_t
unit_at(const uint8_t *input, bool big_endian)
{
	return big_endian ? (uint32_t) input[0] << 8 | input[1] :
		(uint32_t) input[1] << 8 | input[0];
}

/* convert the blocks of ASCII that come next; returns their number of code units */
static inline size_t
convert_ascii(const uint8_t *input, size_t nunits, bool big_endian,
			  uint8_t *output)
{
	const uint16_t beyond = BEYOND_ASCII(big_endian);
	const int	shift = SHIFT(big_endian);
	size_t		done = 0;

	for (; nunits - done >= BLOCK_UNITS; done += BLOCK_UNITS)
	{
		uint16_t	units[BLOCK_UNITS];
		uint16_t	any = 0;

		memcpy(units, input + 2 * done, sizeof(units));
		for (int i = 0; i < BLOCK_UNITS; i++)
			any |= units[i];
		if ((any & beyond) != 0)
			break;
		for (int i = 0; i < BLOCK_UNITS; i++)
			output[done + i] = (uint8_t) (units[i] >> shift);
	}
	return done;
}

/* write one character; returns the position behind it */
static inline uint8_t *
put_character(uint8_t *output, uint32_t character)
{
	if (character < 0x80)
		*output++ = (uint8_t) character;
	else if (character < 0x800)
	{
		*output++ = (uint8_t) (0xC0 | character >> 6);
		*output++ = (uint8_t) (0x80 | (character & 0x3F));
	}
	else if (character < 0x10000)
	{
		*output++ = (uint8_t) (0xE0 | character >> 12);
		*output++ = (uint8_t) (0x80 | (character >> 6 & 0x3F));
		*output++ = (uint8_t) (0x80 | (character & 0x3F));
	}
	else
	{
		*output++ = (uint8_t) (0xF0 | character >> 18);
		*output++ = (uint8_t) (0x80 | (character >> 12 & 0x3F));
		*output++ = (uint8_t) (0x80 | (character >> 6 & 0x3F));
		*output++ = (uint8_t) (0x80 | (character & 0x3F));
	}
	return output;
}

/* as csv_utf16_to_utf8, for one byte order */
static inline size_t
convert(const uint8_t *input, size_t nbytes, bool big_endian, bool at_end,
		uint8_t *output, size_t *produced)
{
	const uint8_t *start = output;
	size_t		nunits = nbytes / 2;
	size_t		at = 0;

	while (at < nunits)
	{
		size_t		stop;
		size_t		nascii = convert_ascii(input + 2 * at, nunits - at,
										   big_endian, output);

		/* convert a block with other characters, then look for ASCII again */
		at += nascii;
		output += nascii;
		stop = nunits - at < BLOCK_UNITS ? nunits : at + BLOCK_UNITS;
		while (at < stop)
		{
			uint32_t	character = unit_at(input + 2 * at, big_endian);

			if (is_high_surrogate(character))
			{
				if (at + 1 == nunits && !at_end)
				{
					*produced = (size_t) (output - start);
					return 2 * at;
				}
				if (at + 1 < nunits &&
					is_low_surrogate(unit_at(input + 2 * at + 2, big_endian)))
				{
					character = 0x10000 + ((character & 0x3FF) << 10) +
						(unit_at(input + 2 * at + 2, big_endian) & 0x3FF);
					at++;
				}
			}
			output = put_character(output, character);
			at++;
		}
	}
	if (at_end && nbytes % 2 != 0)
		*output++ = INVALID_BYTE;
	*produced = (size_t) (output - start);
	return at_end ? nbytes : 2 * nunits;
}

size_t
csv_utf16_to_utf8(const uint8_t *input, size_t nbytes, bool big_endian,
				  bool at_end, uint8_t *output, size_t *produced)
{
	/* the byte order as a constant, so that the compiler can optimize */
	return big_endian ?
		convert(input, nbytes, true, at_end, output, produced) :
		convert(input, nbytes, false, at_end, output, produced);
}
