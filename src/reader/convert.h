/*
 * convert.h
 *		From the text of a field to the value of its type, without PostgreSQL.
 *
 * Each csv_parse_ function takes the text of a value, (p, n), without quotes and
 * escapes, and not NUL terminated.  It reads only bytes in [p, p + n).  It returns true
 * and stores the value only if the type's input function of PostgreSQL 15 to 18 returns
 * exactly this value for this text under any settings of the session.  Otherwise it
 * returns false and stores nothing: the value is doubtful, that is, an unusual spelling
 * or an error, and PostgreSQL's input function decides.
 *
 *	type			accepted texts
 *	int2/4/8		[+-] digits, any number of leading zeros, in range
 *	bool			t f y n 1 0 true false yes no on off, in any case
 *	float4/8		[+-] digits [point digits] [e [+-] digits], a digit on at
 *					least one side of the point; NaN, Inf, Infinity.  Not:
 *					overflow, subnormal results, and the rare numbers that
 *					128 bits of the power of five do not decide
 *	numeric			[+-] digits [point digits], a scale of up to 63; digits
 *					beyond the type's scale are rounded
 *	decimal			a numeric of up to 38 digits as an integer, times 10^scale;
 *					the same texts as numeric
 *	scaled			a numeric of up to 36 digits, with zeros at either end
 *	date			YYYY-MM-DD, years 0001 to 9999
 *	timestamp		a date, or a date, a blank or T, HH:MM[:SS[.f]] with f of
 *					one to six digits, no more than the type's precision
 *	time			HH:MM[:SS[.f]], as in a timestamp
 *	timestamptz		a timestamp with a time, then Z, or [blank] +-HH[[:]MM]
 *	uuid			32 hexadecimal digits, with hyphens as 8-4-4-4-12 or without
 *
 * These functions accept no blanks around a value.  csv_convert_value(), which
 * calls the function for the type, skips the whitespace that isspace() knows in
 * ASCII (blank, \t, \n, \v, \f, \r), as the input functions of all types except
 * uuid do.  It takes a text of more than CSV_MOST_SCALAR_BYTES bytes as doubtful.
 *
 * One exception to "under any settings": T and Z have the meaning of ISO 8601.
 * PostgreSQL looks for a time zone abbreviation first.  So it reads them otherwise
 * if the administrator has written a set of abbreviations that has a T or a Z, or
 * lacks Z (and PostgreSQL 18 also if TimeZone is like '<Z>5').
 *
 * Numbers, floating point, and dates and times have headers of their own.  This
 * header has the other types, and chooses the function for a column.  The same
 * code runs on the host and on the device: these headers are C and CUDA C++, and
 * include neither postgres.h nor CUDA's headers.
 */
#ifndef CSV_CONVERT_H
#define CSV_CONVERT_H

#include "dates.h"
#include "floats.h"
#include "numbers.h"
#include "words.h"

/* a longer text is doubtful: one thread reads all of it, which must not take long */
#define CSV_MOST_SCALAR_BYTES	1024

/* ---- boolean ---- */

CSV_INLINE bool
csv_parse_bool(const uint8_t *p, uint32_t n, bool *value)
{
	uint64_t	word;

	if (n == 0 || n > 5)
		return false;
	word = csv_load_some(p, n);
	if (n == 1 && (word == '0' || word == '1'))
	{
		*value = word == '1';
		return true;
	}
	/* make letters small: only a letter and its capital become that letter */
	word |= CSV_EACH_BYTE(0x20) >> (64 - 8 * n);
	switch (word)
	{
		case 't':
		case 'y':
		case 'o' | 'n' << 8:
		case 'y' | 'e' << 8 | 's' << 16:
		case 't' | 'r' << 8 | 'u' << 16 | 'e' << 24:
			*value = true;
			return true;
		case 'f':
		case 'n':
		case 'n' | 'o' << 8:
		case 'o' | 'f' << 8 | 'f' << 16:
		case 'f' | 'a' << 8 | 'l' << 16 | 's' << 24 | (uint64_t) 'e' << 32:
			*value = false;
			return true;
		default:
			return false;
	}
}

/* ---- uuid ---- */

/*
 * The four bytes of eight hexadecimal digits, the first in the lowest byte.  Bits are
 * set in *bad if a byte is not a hexadecimal digit.
 */
CSV_INLINE uint32_t
csv_eight_hex_digits(uint64_t word, uint64_t *bad)
{
	uint64_t	low7 = word & CSV_EACH_BYTE(0x7f);
	uint64_t	lower = low7 | CSV_EACH_BYTE(0x20);
	uint64_t	digits;			/* the top bit of bytes that are 0 to 9 */
	uint64_t	letters;		/* the same for A to F */
	uint64_t	nibbles;

	digits = (low7 + CSV_EACH_BYTE(0x80 - '0')) &
		~(low7 + CSV_EACH_BYTE(0x7f - '9'));
	letters = (lower + CSV_EACH_BYTE(0x80 - 'a')) &
		~(lower + CSV_EACH_BYTE(0x7f - 'f')) & CSV_EACH_BYTE(0x80);
	*bad |= (word | ~(digits | letters)) & CSV_EACH_BYTE(0x80);

	nibbles = (word & CSV_EACH_BYTE(0x0f)) + (letters >> 7) * 9;
	nibbles = (nibbles << 4 | nibbles >> 8) & UINT64_C(0x00ff00ff00ff00ff);
	nibbles = (nibbles | nibbles >> 8) & UINT64_C(0x0000ffff0000ffff);
	return (uint32_t) (nibbles | nibbles >> 16);
}

/* store 16 bytes, in the order of the text; `uuid` is aligned to 4 bytes */
CSV_INLINE bool
csv_parse_uuid(const uint8_t *p, uint32_t n, uint8_t *uuid)
{
	uint64_t	bad = 0;
	uint64_t	second;
	uint64_t	third;
	uint32_t	words[4];

	if (n == 36)
	{
		if (p[8] != '-' || p[13] != '-' || p[18] != '-' || p[23] != '-')
			return false;
		second = csv_load4(p + 9) | (uint64_t) csv_load4(p + 14) << 32;
		third = csv_load4(p + 19) | (uint64_t) csv_load4(p + 24) << 32;
	}
	else if (n == 32)
	{
		second = csv_load8(p + 8);
		third = csv_load8(p + 16);
	}
	else
		return false;
	words[0] = csv_eight_hex_digits(csv_load8(p), &bad);
	words[1] = csv_eight_hex_digits(second, &bad);
	words[2] = csv_eight_hex_digits(third, &bad);
	words[3] = csv_eight_hex_digits(csv_load8(p + n - 8), &bad);
	if (bad != 0)
		return false;
	memcpy(__builtin_assume_aligned(uuid, 4), words, 16);
	return true;
}

/* ---- by kind ---- */

/* isspace() for ASCII */
CSV_INLINE bool
csv_is_space(uint8_t byte)
{
	return byte == ' ' || (uint8_t) (byte - '\t') <= '\r' - '\t';
}

/* remove blanks around the text, which may become empty */
CSV_INLINE void
csv_trim_spaces(const uint8_t **p, uint32_t *n)
{
	while (*n > 0 && csv_is_space((*p)[*n - 1]))
		(*n)--;
	while (*n > 0 && csv_is_space((*p)[0]))
	{
		(*p)++;
		(*n)--;
	}
}

/*
 * Bytes of an array entry; 0 for TEXT and CSTRING, because their width depends on
 * the data.
 */
CSV_INLINE uint32_t
csv_value_stride(const CsvColumn *column)
{
	switch (column->kind)
	{
		case CSV_KIND_BOOL:
			return 1;
		case CSV_KIND_INT2:
			return 2;
		case CSV_KIND_INT4:
		case CSV_KIND_FLOAT4:
		case CSV_KIND_DATE:
			return 4;
		case CSV_KIND_INT8:
		case CSV_KIND_FLOAT8:
		case CSV_KIND_TIMESTAMP:
		case CSV_KIND_TIMESTAMPTZ:
		case CSV_KIND_TIME:
		case CSV_KIND_DECIMAL64:
			return 8;
		case CSV_KIND_UUID:
		case CSV_KIND_DECIMAL128:
		case CSV_KIND_SCALED:
			return 16;
		case CSV_KIND_NUMERIC:
			return csv_numeric_stride(column->precision, column->scale);
		default:
			return 0;
	}
}

/*
 * Convert the text of a value of any kind except TEXT and CSTRING, with blanks around
 * it if the type's input function accepts them.  `entry` has `stride` bytes, from
 * csv_value_stride(), and is aligned to its size, to 8 bytes at most; a numeric to 4.
 * Returns false if the value is doubtful; then the entry is zero.
 */
CSV_INLINE bool
csv_convert_value(const CsvColumn *column, uint8_t decimal_separator,
				  const uint8_t *p, uint32_t n, uint8_t *entry,
				  uint32_t stride)
{
	uint64_t	value8 = 0;
	uint32_t	value4 = 0;
	int64_t		integer = 0;
	bool		ok = false;

	if (n > CSV_MOST_SCALAR_BYTES)
		n = 0;
	if (column->kind != CSV_KIND_UUID)
		csv_trim_spaces(&p, &n);
	switch (column->kind)
	{
		case CSV_KIND_BOOL:
			{
				bool		value = false;

				ok = csv_parse_bool(p, n, &value);
				*entry = value;
				return ok;
			}
		case CSV_KIND_INT2:
			{
				int16_t		value2;

				ok = csv_parse_int(p, n, INT16_MIN, INT16_MAX, &integer);
				value2 = (int16_t) integer;
				memcpy(__builtin_assume_aligned(entry, 2), &value2, 2);
				return ok;
			}
		case CSV_KIND_INT4:
			ok = csv_parse_int(p, n, INT32_MIN, INT32_MAX, &integer);
			value4 = (uint32_t) integer;
			break;
		case CSV_KIND_INT8:
			ok = csv_parse_int(p, n, INT64_MIN, INT64_MAX, &integer);
			value8 = (uint64_t) integer;
			break;
		case CSV_KIND_FLOAT4:
			{
				float		value = 0;

				ok = csv_parse_float4(p, n, decimal_separator, &value);
				memcpy(&value4, &value, 4);
				break;
			}
		case CSV_KIND_FLOAT8:
			{
				double		value = 0;

				ok = csv_parse_float8(p, n, decimal_separator, &value);
				value8 = csv_double_bits(value);
				break;
			}
		case CSV_KIND_DATE:
			{
				int32_t		value = 0;

				ok = csv_parse_date(p, n, &value);
				value4 = (uint32_t) value;
				break;
			}
		case CSV_KIND_TIMESTAMP:
			ok = csv_parse_timestamp(p, n, column->precision, &integer);
			value8 = (uint64_t) integer;
			break;
		case CSV_KIND_TIMESTAMPTZ:
			ok = csv_parse_timestamptz(p, n, column->precision, &integer);
			value8 = (uint64_t) integer;
			break;
		case CSV_KIND_TIME:
			ok = n > 0 && csv_scan_time(p, n, column->precision, &integer) == n;
			value8 = ok ? (uint64_t) integer : 0;
			break;
		case CSV_KIND_UUID:
			ok = csv_parse_uuid(p, n, entry);
			break;
		case CSV_KIND_NUMERIC:
			ok = csv_parse_numeric(p, n, decimal_separator, column->precision,
								   column->scale, entry, stride);
			break;
		case CSV_KIND_DECIMAL64:
		case CSV_KIND_DECIMAL128:
			{
				__int128	value = 0;

				ok = csv_parse_decimal(p, n, decimal_separator,
									   column->precision, column->scale,
									   &value);
				value8 = (uint64_t) value;
				if (column->kind == CSV_KIND_DECIMAL128)
				{
					uint64_t	high8 = (uint64_t) (value >> 64);

					memcpy(__builtin_assume_aligned(entry, 8), &value8, 8);
					memcpy(__builtin_assume_aligned(entry + 8, 8), &high8, 8);
				}
				break;
			}
		case CSV_KIND_SCALED:
			ok = csv_parse_scaled(p, n, decimal_separator, entry);
			break;
		default:
			break;
	}

	if (stride == 4)
		csv_store4(entry, value4);
	else if (stride == 8 && column->kind != CSV_KIND_NUMERIC)
		memcpy(__builtin_assume_aligned(entry, 8), &value8, 8);
	else if (!ok && stride >= 8)
	{
		const uint32_t zeros[7] = {0, 0, 0, 0, 0, 0, 0};

		csv_store_words(entry, stride, zeros);
	}
	return ok;
}

#endif							/* CSV_CONVERT_H */
