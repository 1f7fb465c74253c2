/*
 * test_convert.c
 *		convert.h against tables of edge cases, and at random against strtod,
 *		strtof, a calendar counted day by day and a slow numeric.
 */
#include "unit.h"
#include "../../src/query/operate.h"
#include "../../src/reader/convert.h"
#include "rounds.h"

/* ---- helpers ---- */

/* room for an entry of any kind, and some bytes after it */
typedef union Entry
{
	uint8_t		bytes[40];
	int16_t		int2;
	int32_t		int4;
	int64_t		int8;
	float		float4;
	double		float8;
} Entry;

/*
 * A copy of the text with nothing after it, so that the address sanitizer
 * sees a read beyond its end; free() it.
 */
static uint8_t *
bare_copy(const char *text, uint32_t *n)
{
	uint8_t    *copy;

	*n = (uint32_t) strlen(text);
	copy = malloc(*n == 0 ? 1 : *n);
	assert_non_null(copy);
	if (*n > 0)
		memcpy(copy, text, *n);
	return copy;
}

/*
 * Convert as the engines do, into *entry.  A doubtful
 * value leaves zeros; nothing is written after the entry.
 */
static bool
convert(CsvKind kind, int precision, int scale, uint8_t separator,
		const char *text, Entry *entry)
{
	CsvColumn	column;
	uint32_t	n;
	uint8_t    *copy = bare_copy(text, &n);
	uint32_t	stride;
	bool		ok;

	memset(&column, 0, sizeof(column));
	column.kind = (uint8_t) kind;
	column.precision = (int16_t) precision;
	column.scale = (int16_t) scale;
	stride = csv_value_stride(&column);
	assert_in_range(stride, 1, 28);
	memset(entry, 0xa5, sizeof(*entry));
	ok = csv_convert_value(&column, separator, copy, n, entry->bytes, stride);
	for (uint32_t i = stride; i < sizeof(*entry); i++)
		assert_int_equal(entry->bytes[i], 0xa5);
	for (uint32_t i = 0; i < stride && !ok; i++)
		assert_int_equal(entry->bytes[i], 0);
	free(copy);
	return ok;
}

/* none of these is taken */
#define EXPECT_DOUBTFUL(kind, ...) \
	expect_doubtful(kind, -1, (const char *const[]) {__VA_ARGS__, NULL})

static void
expect_doubtful(CsvKind kind, int precision, const char *const *texts)
{
	Entry		entry;

	for (; *texts != NULL; texts++)
		if (convert(kind, precision, 0, '.', *texts, &entry))
			fail_msg("\"%s\" was taken as kind %d", *texts, (int) kind);
}

/* n digits, and a NUL; returns where it stands */
static char *
random_digits(char *text, uint32_t n)
{
	uint32_t	style = random_below(8);

	for (uint32_t i = 0; i < n; i++)
	{
		/* runs of zeros and nines are where carries and groups end */
		if (style == 0 || (style == 1 && i > n / 2) || (style == 2 && i < n / 2))
			*text++ = '0';
		else if (style == 3 || (style == 4 && i > n / 3))
			*text++ = '9';
		else
			*text++ = (char) ('0' + random_below(10));
	}
	*text = '\0';
	return text;
}

static char *
random_sign(char *text)
{
	switch (random_below(4))
	{
		case 0:
			*text++ = '-';
			break;
		case 1:
			*text++ = '+';
			break;
	}
	*text = '\0';
	return text;
}

/* ---- integers ---- */

TEST(integers_at_their_limits)
{
	static const struct
	{
		CsvKind		kind;
		const char *text;
		bool		taken;
		int64_t		value;
	}			cases[] = {
		{CSV_KIND_INT2, "32767", true, 32767},
		{CSV_KIND_INT2, "32768", false, 0},
		{CSV_KIND_INT2, "-32768", true, -32768},
		{CSV_KIND_INT2, "-32769", false, 0},
		{CSV_KIND_INT2, "+0", true, 0},
		{CSV_KIND_INT2, "-0", true, 0},
		{CSV_KIND_INT4, "2147483647", true, INT32_MAX},
		{CSV_KIND_INT4, "2147483648", false, 0},
		{CSV_KIND_INT4, "-2147483648", true, INT32_MIN},
		{CSV_KIND_INT4, "-2147483649", false, 0},
		{CSV_KIND_INT4, "4294967296", false, 0},
		{CSV_KIND_INT4, "18446744073709551616", false, 0},
		{CSV_KIND_INT4, "0000000000000000000000000000000000000007", true, 7},
		{CSV_KIND_INT4, "-0000000000000000000000000000000000000007", true, -7},
		{CSV_KIND_INT8, "9223372036854775807", true, INT64_MAX},
		{CSV_KIND_INT8, "9223372036854775808", false, 0},
		{CSV_KIND_INT8, "-9223372036854775808", true, INT64_MIN},
		{CSV_KIND_INT8, "-9223372036854775809", false, 0},
		{CSV_KIND_INT8, "9999999999999999999", false, 0},
		{CSV_KIND_INT8, "18446744073709551615", false, 0},
		{CSV_KIND_INT8, "18446744073709551616", false, 0},
		{CSV_KIND_INT8, "00000000000000000000", true, 0},
		{CSV_KIND_INT8, "12345678", true, 12345678},
		{CSV_KIND_INT8, "123456789", true, 123456789},
		{CSV_KIND_INT8, "1234567890123456", true, 1234567890123456},
		{CSV_KIND_INT8, "12345678901234567", true, 12345678901234567},
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
	{
		Entry		entry;
		int64_t		value;
		bool		taken = convert(cases[i].kind, 0, 0, '.', cases[i].text,
									&entry);

		if (taken != cases[i].taken)
			fail_msg("%s: taken %d", cases[i].text, taken);
		if (!taken)
			continue;
		value = cases[i].kind == CSV_KIND_INT2 ? entry.int2 :
			cases[i].kind == CSV_KIND_INT4 ? entry.int4 :
			entry.int8;
		if (value != cases[i].value)
			fail_msg("%s: %lld", cases[i].text, (long long) value);
	}
}

TEST(what_is_no_integer_is_doubtful)
{
	static const char *const texts[] = {
		"", "+", "-", "- 1", "1 1", "1.0", "1e3", "--1", "+-1", "0x10", "1_000",
		"/", ":", "1234567:", "/2345678", "123456789/", "1234 678", "\xb1",
		"1234567\xb0", "12345678\xb1", "1\xa0", NULL
	};

	for (int kind = CSV_KIND_INT2; kind <= CSV_KIND_INT8; kind++)
		expect_doubtful((CsvKind) kind, 0, texts);
}

TEST(random_integers_equal_strtoll)
{
	for (uint32_t n = rounds(100000); n > 0; n--)
	{
		char		text[64];
		Entry		entry;
		int64_t		value = (int64_t) next_random() >> random_below(64);

		snprintf(text, sizeof(text), "%lld", (long long) value);
		assert_true(convert(CSV_KIND_INT8, 0, 0, '.', text, &entry));
		assert_int_equal(entry.int8, value);
		assert_int_equal(convert(CSV_KIND_INT4, 0, 0, '.', text, &entry),
						 value >= INT32_MIN && value <= INT32_MAX);
		assert_int_equal(convert(CSV_KIND_INT2, 0, 0, '.', text, &entry),
						 value >= INT16_MIN && value <= INT16_MAX);

		/* one byte that is no digit */
		text[random_below((uint32_t) strlen(text))] =
			"/:.x\x80\xff"[random_below(6)];
		assert_false(convert(CSV_KIND_INT8, 0, 0, '.', text, &entry));
	}
}

/* ---- boolean ---- */

TEST(booleans_in_their_spellings)
{
	static const char *const truths[] = {
		"t", "T", "true", "TRUE", "tRuE", "y", "Y", "yes", "Yes", "on", "ON",
		"1",
	};
	static const char *const lies[] = {
		"f", "F", "false", "FALSE", "n", "N", "no", "nO", "off", "OFF", "0",
	};
	Entry		entry;

	for (size_t i = 0; i < LENGTH(truths); i++)
	{
		assert_true(convert(CSV_KIND_BOOL, 0, 0, '.', truths[i], &entry));
		assert_int_equal(entry.bytes[0], 1);
	}
	for (size_t i = 0; i < LENGTH(lies); i++)
	{
		assert_true(convert(CSV_KIND_BOOL, 0, 0, '.', lies[i], &entry));
		assert_int_equal(entry.bytes[0], 0);
	}
	EXPECT_DOUBTFUL(CSV_KIND_BOOL,
					"", "2", "00", "01", "tru", "o", "t r", "truee", "\x11", "\x10",
					"\x14", "ye\x13", "falsee", "\xf4", "-1", "T\x01", "o\x0e");
}

/* ---- floating point ---- */

/*
 * Where taken, the bits are strtod's and strtof's.  Returns how many of the
 * two were.
 */
static int
check_float(const char *text)
{
	Entry		entry;
	int			taken = 0;

	if (convert(CSV_KIND_FLOAT8, 0, 0, '.', text, &entry))
	{
		char	   *end;
		double		expected = strtod(text, &end);

		if (*end != '\0' || memcmp(&entry, &expected, 8) != 0)
			fail_msg("%s: %a, not %a", text, entry.float8, expected);
		taken++;
	}
	if (convert(CSV_KIND_FLOAT4, 0, 0, '.', text, &entry))
	{
		char	   *end;
		float		expected = strtof(text, &end);

		if (*end != '\0' || memcmp(&entry, &expected, 4) != 0)
			fail_msg("%s: %a, not %a as float4", text, entry.float4,
					 expected);
		taken++;
	}
	return taken;
}

TEST(floats_of_real_files_are_taken)
{
	static const char *const texts[] = {
		"0", "-0", "+0", "0.0", "-0.0", "0e0", "0e999", "-0.000e-999", "1",
		"-1", "+1", "1.", ".5", "-.5", "1.5", "0.1", "0.2", "0.3", "1e5",
		"1E5", "1e+5", "1e-5", "1.5e0005", "12345678.9", "0.04", "173665.47",
		"9007199254740991", "9007199254740992", "9007199254740993",
		"9007199254740994", "9007199254740995", "4503599627370496.5",
		"4503599627370497.5", "3.141592653589793", "2.718281828459045235",
		"0.30000000000000004", "179769313486231570", "1e22", "1e23", "1e-22",
		"1e-23", "8.5e15", "16777216", "16777217", "16777218", "16777219",
		"16777217.0", "8388608.5", "8388609.5", "0.00000000000000000000000001",
		"0.0000000000000000000000000000012345", "33554434", "33554435",
		"33554438", "1e10", "1234567890123456789",
		"NaN", "nan", "inf", "Infinity", "-Infinity", "+inf", "-INF",
	};

	for (size_t i = 0; i < LENGTH(texts); i++)
		if (check_float(texts[i]) != 2)
			fail_msg("%s was not taken", texts[i]);
	/* the sign of zero */
	assert_int_equal(check_float("-0"), 2);
}

TEST(doubtful_floats_are_handed_back)
{
	static const char *const texts[] = {
		"", "+", "-", ".", "+.", "e5", "1e", "1e+", "1e5.", "1.2.3", "1,5",
		"1 1", "- 1", "0x10", "0x1p3", "1e400", "-1e400", "1e309", "1e-400",
		"5e-324", "2.2250738585072011e-308", "1e-310", "1.8e308", "1d5",
		"1e5e5", "--1", "+-1", "1e00005", "1_0", "-nan", "+nan", "nanx",
		"infinit", "infinityy", "in", "1\xb0", NULL
	};
	static const char *const texts4[] = {
		"3.4028236e38", "3.40282357e38", "1e39", "1e-38", "1.17549434e-38",
		"1e-45", "-1e39", "1.00000005960464477539062500000001", NULL
	};

	expect_doubtful(CSV_KIND_FLOAT8, 0, texts);
	expect_doubtful(CSV_KIND_FLOAT4, 0, texts);
	expect_doubtful(CSV_KIND_FLOAT4, 0, texts4);
}

TEST(float_borders_are_right)
{
	static const char *const texts[] = {
		"2.2250738585072014e-308", "2.2250738585072013e-308",
		"1.7976931348623157e308", "1.7976931348623158e308",
		"1.7976931348623159e308", "3.4028235e38", "3.40282346e38",
		"3.4028235677973366e38", "3.40282356e38", "1.1754944e-38",
		"1.17549435e-38", "1.00000005960464477539", "1.0000000596046448",
		"1.0000000596046447", "1.000000059604644775390625",
		"1.00000017881393432617187500000001", "7.2057594037927933e16",
		"72057594037927945", "9223372036854775807", "9999999999999999999",
		"12345678901234567890", "10000000000000000000000",
		"123456789012345678901234567890", "0.1000000000000000055511151231257827",
		"0.10000000000000000555111512312578270", "6.103515625e-05",
		"0.000000000000000000000000000000000000011754943508222875",
		"89255.0e-22", "104110013277974872254e-225", "123456789012345678e-350",
		"9007199254740993e0", "9007199254740993.0000000000000000000000001",
		"9007199254740992.9999999999999999999999999",
	};

	for (size_t i = 0; i < LENGTH(texts); i++)
		check_float(texts[i]);
	/* these need more than the first step */
	assert_int_equal(check_float("2.2250738585072014e-308"), 1);
	assert_int_equal(check_float("1.7976931348623157e308"), 1);
	assert_int_equal(check_float("3.4028235e38"), 2);
	assert_int_equal(check_float("1.1754944e-38"), 2);
	assert_int_equal(check_float("123456789012345678901234567890"), 2);
}

TEST(random_spellings_equal_strtod)
{
	long		ntexts = 0;
	long		ntaken = 0;

	for (uint32_t n = rounds(400000); n > 0; n--)
	{
		char		text[128];
		char	   *end = random_sign(text);

		end = random_digits(end, random_below(random_below(2) ? 6 : 21));
		if (random_below(4) != 0)
		{
			*end++ = '.';
			end = random_digits(end, random_below(random_below(2) ? 6 : 21));
		}
		if (random_below(2) != 0)
			sprintf(end, "e%d", (int) random_below(random_below(2) ? 30 : 640)
					- (random_below(2) ? 15 : 320));
		ntexts += 2;
		ntaken += check_float(text);
	}
	/* the rest overflow, are subnormal, or too close to call */
	assert_true(ntaken > ntexts / 2);
}

TEST(printed_numbers_are_read_back)
{
	long		ntexts = 0;
	long		ntaken = 0;

	for (uint32_t n = rounds(200000); n > 0; n--)
	{
		char		text[512];
		uint64_t	bits = next_random();
		uint32_t	bits4 = (uint32_t) next_random();
		double		value;
		float		value4;

		/* a normal number */
		if ((bits >> 52 & 0x7ff) - 1 < 0x7fe)
		{
			memcpy(&value, &bits, 8);
			snprintf(text, sizeof(text), "%.*g", 15 + (int) random_below(6),
					 value);
			ntexts++;
			ntaken += check_float(text) > 0;

			/* the decimal in the middle of two, cut at 19 and at all digits */
			bits &= ~(UINT64_C(0x7ff) << 52);
			bits |= (uint64_t) (1023 - 40 + random_below(100)) << 52;
			memcpy(&value, &bits, 8);
			snprintf(text, sizeof(text), "%.*Lg",
					 random_below(2) ? 19 : 25 + (int) random_below(60),
					 (long double) value +
					 ((long double) value * 0x1p-53L));
			check_float(text);
		}
		if ((bits4 >> 23 & 0xff) - 1 < 0xfe)
		{
			float		next;
			uint32_t	next_bits = bits4 + 1;

			memcpy(&value4, &bits4, 4);
			memcpy(&next, &next_bits, 4);
			snprintf(text, sizeof(text), "%.*g", 6 + (int) random_below(5),
					 (double) value4);
			check_float(text);
			/* a tie of two floats, and its neighbours */
			value = ((double) value4 + (double) next) / 2;
			snprintf(text, sizeof(text), "%.*g", 15 + (int) random_below(25),
					 value);
			check_float(text);
		}
	}
	assert_true(ntaken > ntexts / 100 * 99);
}

TEST(ties_of_integers_round_to_even)
{
	for (uint32_t n = rounds(100000); n > 0; n--)
	{
		char		text[64];
		uint64_t	odd = next_random() >> (10 + random_below(2)) | 1;

		/* 54 bits, the last of them set: halfway; and one beside it */
		snprintf(text, sizeof(text), "%llu",
				 (unsigned long long) odd + random_below(2));
		assert_int_equal(check_float(text), 2);
		/* the same of floats, as an integer and with a fraction */
		odd = next_random() >> 39 | 1;
		snprintf(text, sizeof(text), "%llu.%s", (unsigned long long) odd,
				 random_below(2) ? "0" : "00");
		assert_int_equal(check_float(text), 2);
		snprintf(text, sizeof(text), "%.4f", (double) odd / 16);
		assert_int_equal(check_float(text), 2);
	}
}

TEST(a_comma_may_be_the_decimal_separator)
{
	Entry		entry;

	assert_true(convert(CSV_KIND_FLOAT8, 0, 0, ',', "-1,25", &entry));
	assert_true(entry.float8 == -1.25);
	assert_true(convert(CSV_KIND_FLOAT4, 0, 0, ',', ",5e1", &entry));
	assert_true(entry.float4 == 5);
	assert_false(convert(CSV_KIND_FLOAT8, 0, 0, ',', "1.25", &entry));
	assert_false(convert(CSV_KIND_FLOAT8, 0, 0, ',', "1.234,5", &entry));
	assert_false(convert(CSV_KIND_FLOAT8, 0, 0, ',', "1,2,3", &entry));
	assert_true(convert(CSV_KIND_NUMERIC, 10, 2, ',', "1,25", &entry));
	assert_false(convert(CSV_KIND_NUMERIC, 10, 2, ',', "1.25", &entry));
}

/* ---- numeric ---- */

#define REFERENCE_DIGITS	400
#define REFERENCE_POINT		200 /* multiple of 4: the point stands before it */

/*
 * The numeric that PostgreSQL stores, by plain means: the digits as
 * characters around a fixed point.  Returns false where the value is no
 * number, or overflows; *length is in bytes, without the varlena header.
 */
static bool
reference_numeric(const char *text, int precision, int scale,
				  uint8_t *result, uint32_t *length)
{
	int			digits[REFERENCE_DIGITS] = {0};
	bool		negative = *text == '-';
	const char *point;
	const char *end;
	int			fraction;
	int			first;
	int			last;
	int			weight;
	uint16_t	header;

	if (*text == '-' || *text == '+')
		text++;
	if (strspn(text, "0123456789.") != strlen(text))
		return false;
	point = strchr(text, '.');
	end = text + strlen(text);
	if (point == NULL)
		point = end;
	else if (strchr(point + 1, '.') != NULL)
		return false;
	if (point == text && end <= point + 1)
		return false;
	for (const char *c = text; c < point; c++)
		digits[REFERENCE_POINT - (point - c)] = *c - '0';
	for (const char *c = point + 1; c < end; c++)
		digits[REFERENCE_POINT + (c - point - 1)] = *c - '0';
	fraction = end > point ? (int) (end - point - 1) : 0;

	if (precision >= 0)
	{
		int			cut = REFERENCE_POINT + scale;
		bool		up = digits[cut] >= 5;

		for (int i = cut; i < REFERENCE_DIGITS; i++)
			digits[i] = 0;
		for (int i = cut - 1; up; i--)
		{
			digits[i]++;
			up = digits[i] == 10;
			if (up)
				digits[i] = 0;
		}
		for (int i = 0; i < REFERENCE_POINT - (precision - scale); i++)
			if (digits[i] != 0)
				return false;
		fraction = scale;
	}
	if (fraction > 63)
		return false;

	/* groups of four, from the first to the last that is not zero */
	for (first = 0; first < REFERENCE_DIGITS && digits[first] == 0; first++)
		;
	for (last = REFERENCE_DIGITS - 1; last >= 0 && digits[last] == 0; last--)
		;
	weight = 0;
	*length = 2;
	if (last >= 0)
	{
		weight = first / 4 - REFERENCE_POINT / 4;
		weight = -weight - 1;
		for (int i = first / 4; i <= last / 4; i++)
		{
			uint16_t	group = (uint16_t) (digits[4 * i] * 1000 +
											digits[4 * i + 1] * 100 +
											digits[4 * i + 2] * 10 +
											digits[4 * i + 3]);

			memcpy(result + *length, &group, 2);
			*length += 2;
		}
	}
	else
		negative = false;
	header = (uint16_t) (0x8000 | (negative ? 0x2000 : 0) | fraction << 7 |
						 (weight < 0 ? 0x40 : 0) | (weight & 0x3f));
	memcpy(result, &header, 2);
	return true;
}

/*
 * Decimals take what numerics do, and are the same numbers.  entry: the
 * numeric's, or NULL where it was not taken.
 */
static void
check_decimals(const char *text, int precision, int scale, const Entry *numeric)
{
	for (int kind = CSV_KIND_DECIMAL64; kind <= CSV_KIND_DECIMAL128; kind++)
	{
		Entry		entry;
		CsvInt128	value;
		CsvInt128	expected = 0;

		if (precision > (kind == CSV_KIND_DECIMAL64 ? 18 : 38))
			continue;
		if (convert((CsvKind) kind, precision, scale, '.', text, &entry) !=
			(numeric != NULL))
			fail_msg("%s as decimal(%d,%d)", text, precision, scale);
		if (numeric == NULL)
			continue;
		assert_true(csv_decimal_from_numeric(numeric->bytes, scale, &expected));
		value = entry.int8;
		if (kind == CSV_KIND_DECIMAL128)
			memcpy(&value, &entry, 16);
		if (value != expected)
			fail_msg("%s is wrong as decimal(%d,%d)", text, precision, scale);
	}
}

/* so is one with its scale, unless it has too many digits; it takes no others */
static void
check_scaled(const char *text, const Entry *numeric)
{
	uint32_t	ndigits = 0;
	Entry		entry;
	bool		taken = convert(CSV_KIND_SCALED, -1, 0, '.', text, &entry);
	uint32_t	scale;
	CsvInt128	value;
	CsvInt128	expected;

	for (const char *p = text; *p != '\0'; p++)
		ndigits += *p >= '0' && *p <= '9';
	if (taken != (numeric != NULL && ndigits <= CSV_SCALED_DIGITS))
		fail_msg("%s as a scaled decimal", text);
	if (!taken)
		return;
	value = csv_load_scaled(entry.bytes, &scale);
	assert_int_equal(csv_entry_scale(CSV_KIND_SCALED, entry.bytes), scale);
	if (csv_entry_scale(CSV_KIND_NUMERIC, numeric->bytes) != scale ||
		!csv_decimal_from_numeric(numeric->bytes, (int32_t) scale, &expected) ||
		value != expected)
		fail_msg("%s is wrong as a scaled decimal", text);
}

/* is the numeric taken?  If so, it is the reference's, bit for bit */
static bool
check_numeric(const char *text, int precision, int scale)
{
	Entry		entry;
	bool		taken;
	uint8_t		expected[4 + REFERENCE_DIGITS] = {0};
	uint32_t	length = 0;
	uint32_t	header;
	uint32_t	stride = csv_numeric_stride(precision, scale);

	taken = convert(CSV_KIND_NUMERIC, precision, scale, '.', text, &entry);
	if (precision >= 0)
		check_decimals(text, precision, scale, taken ? &entry : NULL);
	else
		check_scaled(text, taken ? &entry : NULL);
	if (!taken)
		return false;
	if (!reference_numeric(text, precision, scale, expected + 4, &length))
		fail_msg("%s was taken as numeric(%d,%d)", text, precision, scale);
	header = (length + 4) << 2;
	memcpy(expected, &header, 4);
	/* the rest of the entry is zero */
	if (length + 4 > stride || memcmp(&entry, expected, stride) != 0)
		fail_msg("%s is wrong as numeric(%d,%d)", text, precision, scale);
	return true;
}

TEST(numeric_entries_are_postgresqls)
{
	static const struct
	{
		const char *text;
		int			precision;
		int			scale;
		uint16_t	words[6];	/* header and digits */
		uint32_t	nwords;
	}			cases[] = {
		{"0", -1, 0, {0x8000}, 1},
		{"-0", -1, 0, {0x8000}, 1},
		{"-0.00", -1, 0, {0x8100}, 1},
		{"0", 10, 2, {0x8100}, 1},
		{"1", -1, 0, {0x8000, 1}, 2},
		{"-1", -1, 0, {0xa000, 1}, 2},
		{"10000", -1, 0, {0x8001, 1}, 2},
		{"10001", -1, 0, {0x8001, 1, 1}, 3},
		{"12345.67", 15, 2, {0x8101, 1, 2345, 6700}, 4},
		{"00012345.670", -1, 0, {0x8181, 1, 2345, 6700}, 4},
		{"0.0001", -1, 0, {0x827f, 1}, 2},
		{"0.00001", -1, 0, {0x82fe, 1000}, 2},
		{".5", 10, 2, {0x817f, 5000}, 2},
		{"5.", 10, 2, {0x8100, 5}, 2},
		{"9.995", 10, 2, {0x8100, 10}, 2},
		{"9999.995", 10, 2, {0x8101, 1}, 2},
		{"-0.005", 10, 2, {0xa17f, 100}, 2},
		{"-0.0049", 10, 2, {0x8100}, 1},
		{"0.99995", 5, 4, {0x8200, 1}, 2},
		{"100000000", -1, 0, {0x8002, 1}, 2},
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
	{
		Entry		entry;
		uint32_t	header;

		if (!convert(CSV_KIND_NUMERIC, cases[i].precision, cases[i].scale, '.',
					 cases[i].text, &entry))
			fail_msg("%s was not taken", cases[i].text);
		memcpy(&header, &entry, 4);
		assert_int_equal(header, (4 + 2 * cases[i].nwords) << 2);
		if (memcmp(entry.bytes + 4, cases[i].words,
				   2 * cases[i].nwords) != 0)
			fail_msg("%s is wrong", cases[i].text);
		/* and of the reference, to test that one */
		assert_true(check_numeric(cases[i].text, cases[i].precision,
								  cases[i].scale));
	}
}

TEST(doubtful_numerics_are_handed_back)
{
	static const struct
	{
		const char *text;
		int			precision;
		int			scale;
	}			cases[] = {
		{"", -1, 0}, {".", -1, 0}, {"-", -1, 0}, {"+.", -1, 0},
		{"1.2.3", -1, 0}, {"1e5", -1, 0}, {"1 1", -1, 0}, {"- 1", -1, 0},
		{"1,5", -1, 0}, {"NaN", -1, 0}, {"Infinity", -1, 0}, {"0x1", -1, 0},
		{"1_000", -1, 0}, {"--1", -1, 0}, {"12345678/", -1, 0},
		{"0.0000000000000000000000000000000000000000000000000000000000000001",
		-1, 0},
		{"100000000.00", 10, 2}, {"99999999.995", 10, 2}, {"1", 2, 2},
		{"0.995", 2, 2}, {"99999", 4, 0}, {"9999.5", 4, 0},
		{"1234567890123456789012345678901234567890123456", -1, 0},
		{"123", 2, 0}, {"1", 100, 64},
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		if (check_numeric(cases[i].text, cases[i].precision, cases[i].scale))
			fail_msg("\"%s\" was taken", cases[i].text);
}

TEST(numerics_up_to_38_digits_fit)
{
	for (int whole = 0; whole <= 38; whole++)
	{
		char		text[64];

		memset(text, '9', sizeof(text));
		text[whole] = '.';
		text[39] = '\0';
		assert_true(check_numeric(text, -1, 0));
		assert_true(check_numeric(text, 38, 38 - whole));
		text[0] = text[0] == '.' ? '.' : '1';
		assert_true(check_numeric(text, -1, 0));
	}
	assert_int_equal(csv_numeric_stride(15, 2), 16);
	assert_int_equal(csv_numeric_stride(4, 0), 8);
	assert_int_equal(csv_numeric_stride(-1, 0), 28);
	assert_int_equal(csv_numeric_stride(1000, 0), 28);
}

TEST(random_numerics_equal_the_reference)
{
	long		ntaken = 0;

	for (int i = 0; i < 1000000; i++)
	{
		char		text[256];
		char	   *end = random_sign(text);
		int			precision = -1;
		int			scale = 0;
		uint8_t		ignored[REFERENCE_DIGITS];
		uint32_t	length;
		bool		taken;

		end = random_digits(end, random_below(random_below(2) ? 9 : 24));
		if (random_below(4) != 0)
		{
			*end++ = '.';
			end = random_digits(end, random_below(random_below(4) ? 9 : 24));
		}
		if (random_below(20) == 0)
			text[random_below((uint32_t) strlen(text) + 1)] = 'x';
		if (random_below(3) != 0)
		{
			precision = 1 + (int) random_below(40);
			scale = (int) random_below((uint32_t) precision + 1);
		}
		taken = check_numeric(text, precision, scale);
		ntaken += taken;
		/* what has up to 36 digits and is a number must be taken */
		if (!taken && strlen(text) <= 36 &&
			reference_numeric(text, precision, scale, ignored, &length))
			fail_msg("%s was not taken as numeric(%d,%d)", text, precision,
					 scale);
	}
	assert_true(ntaken > 300000);
}

/* ---- dates and times ---- */

TEST(every_day_of_the_years_1_to_9999)
{
	static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31,
	30, 31};
	int32_t		expected = -730119; /* 0001-01-01 */

	for (int year = 0; year <= 9999; year++)
	{
		bool		leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

		for (int month = 0; month <= 13; month++)
		{
			for (int day = 0; day <= 32; day++)
			{
				char		text[64];
				int32_t		days = 0;
				bool		valid;

				valid = year > 0 && month >= 1 && month <= 12 && day >= 1 &&
					day <= month_days[month - 1] + (month == 2 && leap);
				snprintf(text, sizeof(text), "%04d-%02d-%02d", year, month, day);
				assert_int_equal(csv_parse_date((const uint8_t *) text, 10,
												&days), valid);
				if (valid)
					assert_int_equal(days, expected++);
			}
		}
	}
	assert_int_equal(expected, 2921940);
}

TEST(other_dates_are_doubtful)
{
	EXPECT_DOUBTFUL(CSV_KIND_DATE,
					"", "2024-1-01", "2024-01-1", "2024/01/01", "20240101", "01-02-2024",
					"2024- 1-01", "12024-01-01", "2024-01-01 BC",
					"2024-Jan-01", "infinity", "2024-01-0a", "2024-01-a0", "2024-0a-01",
					"202a-01-01", "2024.01.01", "-024-01-01", "+024-01-01", "2024-01\xad\x30\x31",
					"\xb2\xb0\xb2\xb4-01-01", "2024-01-01x", "2024-0/-01", "2024-0:-01");
}

#define SECONDS(n)	((n) * INT64_C(1000000))
#define DAYS(n)		SECONDS((n) * INT64_C(86400))

TEST(timestamps_in_their_spellings)
{
	static const struct
	{
		const char *text;
		int			precision;
		int64_t		value;
	}			cases[] = {
		{"2000-01-01", -1, 0},
		{"2000-01-02", 0, DAYS(1)},
		{"1999-12-31", 6, -DAYS(1)},
		{"2000-01-01 00:00", -1, 0},
		{"2000-01-01T00:01", -1, SECONDS(60)},
		{"2000-01-01 01:02:03", 0, SECONDS(3723)},
		{"2000-01-01T23:59:59.999999", -1, DAYS(1) - 1},
		{"1999-12-31 23:59:59.999999", 6, -1},
		{"2000-01-01 00:00:00.5", 1, 500000},
		{"2000-01-01 00:00:00.05", 2, 50000},
		{"2000-01-01 00:00:00.005", 3, 5000},
		{"2000-01-01 00:00:00.0005", 4, 500},
		{"2000-01-01 00:00:00.00005", 5, 50},
		{"2000-01-01 00:00:00.000005", 6, 5},
		{"0001-01-01 00:00:00", -1, -DAYS(730119)},
		{"9999-12-31 23:59:59", -1, DAYS(2921940) - SECONDS(1)},
	};
	Entry		entry;

	for (size_t i = 0; i < LENGTH(cases); i++)
	{
		if (!convert(CSV_KIND_TIMESTAMP, cases[i].precision, 0, '.',
					 cases[i].text, &entry))
			fail_msg("%s was not taken", cases[i].text);
		assert_int_equal(entry.int8, cases[i].value);
	}
	EXPECT_DOUBTFUL(CSV_KIND_TIMESTAMP,
					"", "2000-01-01T", "2000-01-01 0:00", "2000-01-01 00",
					"2000-01-01 24:00", "2000-01-01 24:00:00", "2000-01-01 00:60",
					"2000-01-01 00:00:60", "2000-01-01 00:00:00.", "2000-01-01 00:00:00.1234567",
					"2000-01-01 00:00:00.12345678", "2000-01-01 00:00:", "2000-01-01 00:00:0",
					"2000-01-01_00:00", "2000-01-01t00:00", "2000-01-01 00:00:00Z",
					"2000-01-01 00:00:00+00", "2000-01-01 00:00 AM", "2000-02-30 00:00",
					"2000-01-01 00:00:00.12x", "2000-01-01 00:00:00,5", "2000-01-01  00:00",
					"2000-01-01 00.00", "2000-01-01 00:00.00", "2000-01-01 /0:00",
					"2000-01-01 0:00:00", "infinity", "now");
	assert_false(convert(CSV_KIND_TIMESTAMP, 0, 0, '.',
						 "2000-01-01 00:00:00.0", &entry));
	assert_false(convert(CSV_KIND_TIMESTAMP, 3, 0, '.',
						 "2000-01-01 00:00:00.1234", &entry));
}

typedef struct Moment
{
	const char *text;
	int64_t		value;
} Moment;

static void
expect_moments(CsvKind kind, const Moment *cases, size_t ncases)
{
	Entry		entry;

	for (size_t i = 0; i < ncases; i++)
	{
		if (!convert(kind, -1, 0, '.', cases[i].text, &entry))
			fail_msg("%s was not taken", cases[i].text);
		assert_int_equal(entry.int8, cases[i].value);
	}
}

TEST(times)
{
	static const Moment cases[] = {
		{"00:00", 0}, {"23:59", SECONDS(86340)}, {"01:02:03", SECONDS(3723)},
		{" 23:59:59.999999 ", SECONDS(86400) - 1}, {"00:00:00.5", 500000},
		{"12:34:56.000007", SECONDS(45296) + 7}
	};
	Entry		entry;

	expect_moments(CSV_KIND_TIME, cases, LENGTH(cases));
	EXPECT_DOUBTFUL(CSV_KIND_TIME,
					"", "1:00", "24:00", "24:00:00", "00:60", "00:00:60", "00:00:", "00:00:0",
					"00:00:00.", "00:00:00.1234567", "00:00.5", "0000", "000000", "00.00",
					"00:00 AM", "00:00Z", "00:00:00+01", "2000-01-01 00:00", "now", "allballs");
	assert_true(convert(CSV_KIND_TIME, 3, 0, '.', "00:00:00.123", &entry));
	assert_false(convert(CSV_KIND_TIME, 3, 0, '.', "00:00:00.1234", &entry));
}

TEST(timestamps_with_a_zone)
{
	static const Moment cases[] = {
		{"2000-01-01 00:00Z", 0},
		{"2000-01-01T00:00:00Z", 0},
		{"2000-01-01T00:00:00.000001Z", 1},
		{"2000-01-01 01:00:00+01", 0},
		{"2000-01-01 01:00+01", 0},
		{"1999-12-31 23:00:00-01", 0},
		{"1999-12-31 23:00:00 -01", 0},
		{"2000-01-01 05:30:00+0530", 0},
		{"2000-01-01 05:30:00.25+05:30", 250000},
		{"2000-01-01 00:00:00 +00:00", 0},
		{"2000-01-01 00:00:00-0000", 0},
		{"2000-01-01 15:59:00+15:59", 0},
		{"0001-01-01 00:00:00+15:59", -DAYS(730119) - SECONDS(57540)},
		{"9999-12-31 23:59:59-15:59", DAYS(2921940) + SECONDS(57539)},
	};

	expect_moments(CSV_KIND_TIMESTAMPTZ, cases, LENGTH(cases));
	EXPECT_DOUBTFUL(CSV_KIND_TIMESTAMPTZ,
					"2000-01-01", "2000-01-01Z", "2000-01-01+01", "2000-01-01 00:00",
					"2000-01-01 00:00:00", "2000-01-01 00:00:00+", "2000-01-01 00:00:00+1",
					"2000-01-01 00:00:00+16", "2000-01-01 00:00:00+20",
					"2000-01-01 00:00:00+01:60", "2000-01-01 00:00:00+010",
					"2000-01-01 00:00:00+01:0", "2000-01-01 00:00:00+01:000",
					"2000-01-01 00:00:00+01:00:00", "2000-01-01 00:00:00z",
					"2000-01-01 00:00:00 Z", "2000-01-01 00:00:00ZZ",
					"2000-01-01 00:00:00 UTC", "2000-01-01 00:00:00  +01",
					"2000-01-01 00:00:00 ", "2000-01-01 00:00:00 1", "2000-01-01 00:00:00+0a",
					"2000-01-01 00:00:00+a0", "2000-01-01 00:00:00+01.00",
					"2000-01-01 00:00:00+010000", "2000-01-01 00:00:60Z",
					"2000-01-01 00:00:00+01:a0", "2000-01-01 00:00:00+01:0a");
}

/* ---- uuid ---- */

TEST(uuids_with_and_without_hyphens)
{
	static const uint8_t expected[] = {0xa0, 0xee, 0xbc, 0x99, 0x9c, 0x0b, 0x4e,
		0xf8, 0xbb, 0x6d, 0x6b, 0xb9, 0xbd, 0x38, 0x0a, 0x11};
	static const char *const texts[] = {
		"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
		"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
		"a0EEbc999C0B4ef8bb6d6bb9BD380A11",
	};
	Entry		entry;

	for (size_t i = 0; i < LENGTH(texts); i++)
	{
		assert_true(convert(CSV_KIND_UUID, 0, 0, '.', texts[i], &entry));
		assert_memory_equal(&entry, expected, 16);
	}
	EXPECT_DOUBTFUL(CSV_KIND_UUID,
					"", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
					"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1",
					"a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
					"a0eebc99-9c0b-4ef8-bb6d6-bb9bd380a11");

	/* every byte in every place */
	for (int byte = 1; byte < 256; byte++)
	{
		for (int pos = 0; pos < 32; pos++)
		{
			char		text[33];
			const char *found;
			bool		taken;

			memset(text, '0', 32);
			text[32] = '\0';
			text[pos] = (char) byte;
			taken = convert(CSV_KIND_UUID, 0, 0, '.', text, &entry);
			found = strchr("0123456789abcdefABCDEF", byte);
			assert_int_equal(taken, found != NULL);
			if (taken)
			{
				char		digit[2] = {(char) byte, '\0'};
				unsigned long value = strtoul(digit, NULL, 16);

				assert_int_equal(entry.bytes[pos / 2],
								 pos % 2 == 0 ? value << 4 : value);
			}
		}
	}
}

/* ---- blanks around values ---- */

/*
 * With blanks around it, a text is taken where it is without them, for the same
 * value; by uuid's input function, never.
 */
TEST(blanks_around_a_value_change_nothing)
{
	static const char *const texts[] = {
		"", "1", "-1", "+7", "0", "12345678", "123456789012", "32768",
		"-9223372036854775808", "9223372036854775808", "00000000000000000000042",
		"t", "F", "true", "off", "yes", "truee", "o", "1.5", "-.25", "5.",
		"12345678.12345678", "123456789.125", "1e5", "1e-400", "nan", "-inf",
		"99999.995", "12345678901234567890.123", "2024-02-29", "2023-02-29",
		"2024-01-01 12:34", "2024-01-01T12:34:56.789", "2024-01-01 12:34:56Z",
		"2024-01-01 12:34:56.5 +05:30", "2024-01-01 12:34:60",
		"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc999c0b4ef8bb6d6bb9bd380a11",
		"1 2", "- 1", "x", "1\xa0", ("\x85" "1"), "1\x1f", "\b1", "1\x0e",
	};
	static const char blanks[] = " \t\n\v\f\r";
	int			ntaken = 0;

	for (int i = 0; i < 400000; i++)
	{
		const char *text = texts[random_below(LENGTH(texts))];
		uint32_t	before = random_below(2) * random_below(12);
		uint32_t	after = before == 0 ? 1 + random_below(12) :
			random_below(2) * random_below(12);
		CsvKind		kind = CSV_KIND_BOOL +
			random_below(CSV_NUM_KINDS - CSV_KIND_BOOL);
		int			scale = (int) random_below(4);
		char		padded[128];
		char	   *next = padded;
		Entry		bare_entry;
		Entry		entry;
		bool		taken;

		for (uint32_t k = 0; k < before; k++)
			*next++ = blanks[random_below(6)];
		next = stpcpy(next, text);
		for (uint32_t k = 0; k < after; k++)
			*next++ = blanks[random_below(6)];
		*next = '\0';
		taken = convert(kind, 12, scale, '.', padded, &entry);
		if (kind == CSV_KIND_UUID)
		{
			assert_false(taken);
			continue;
		}
		if (taken != convert(kind, 12, scale, '.', text, &bare_entry) ||
			memcmp(&entry, &bare_entry, sizeof(entry)) != 0)
			fail_msg("kind %d: \"%s\" is not as \"%s\"", (int) kind, padded, text);
		ntaken += taken;
	}
	assert_in_range(ntaken, 50000, 400000);
}

/* nor is a text so long that reading it would take a thread's time */
TEST(endless_texts_are_doubtful)
{
	static const char fillings[] = "0 \n1";
	char		text[CSV_MOST_SCALAR_BYTES + 2];
	Entry		entry;

	for (const char *filling = fillings; *filling != '\0'; filling++)
		for (int kind = CSV_KIND_BOOL; kind < CSV_NUM_KINDS; kind++)
		{
			memset(text, *filling, sizeof(text));
			text[CSV_MOST_SCALAR_BYTES] = '1';
			text[CSV_MOST_SCALAR_BYTES + 1] = '\0';
			assert_false(convert((CsvKind) kind, 12, 2, '.', text, &entry));
		}
	memset(text, '0', sizeof(text));
	text[CSV_MOST_SCALAR_BYTES - 1] = ' ';
	text[CSV_MOST_SCALAR_BYTES] = '\0';
	assert_true(convert(CSV_KIND_INT8, 0, 0, '.', text, &entry));
	assert_int_equal(entry.int8, 0);
}

/* ---- words ---- */

TEST(runs_of_digits_are_counted)
{
	for (uint32_t n = 0; n < 40; n++)
	{
		for (uint32_t stop = 0; stop <= n; stop++)
		{
			uint8_t    *text = malloc(n + 1);

			assert_non_null(text);
			memset(text, '7', n);
			for (int byte = 0; byte < 256; byte++)
			{
				if (stop < n)
					text[stop] = (uint8_t) byte;
				if (byte >= '0' && byte <= '9')
					assert_int_equal(csv_digit_run(text, n), n);
				else
					assert_int_equal(csv_digit_run(text, n), stop);
			}
			free(text);
		}
	}
}
