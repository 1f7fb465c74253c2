/*
 * test_operations.c
 *		What queries are made of: single operations, exact sums of floats, and
 *		the hash table.
 */
#include <float.h>
#include <math.h>

#include "unit.h"
#include "../../src/query/groups.h"
#include "../../src/query/operate.h"
#include "../../src/query/row.h"
#include "../../src/query/keyed.h"
#include "compare_query.h"
#include "reading.h"

/* ---- operations ---- */

TEST(integers_overflow_at_their_range)
{
	int64_t		result;

	assert_true(csv_int_add(32766, 1, 16, &result));
	assert_int_equal(result, 32767);
	assert_false(csv_int_add(32767, 1, 16, &result));
	assert_false(csv_int_subtract(-32768, 1, 16, &result));
	assert_false(csv_int_multiply(65536, 32768, 32, &result));
	assert_true(csv_int_multiply(-65536, 32768, 32, &result));
	assert_false(csv_int_add(INT64_MAX, 1, 64, &result));
	assert_false(csv_int_subtract(INT64_MIN, 1, 64, &result));
	assert_false(csv_int_multiply(INT64_MIN, -1, 64, &result));
	assert_true(csv_int_multiply(INT64_MIN, 1, 64, &result));
	assert_false(csv_int_negate(INT64_MIN, 64, &result));
	assert_false(csv_int_negate(-32768, 16, &result));
	assert_false(csv_int_divide(-32768, -1, 16, &result));
	assert_true(csv_int_divide(-32768, -1, 32, &result));
	assert_false(csv_int_divide(INT64_MIN, -1, 64, &result));
	assert_true(csv_int_modulo(INT64_MIN, -1, &result));
	assert_int_equal(result, 0);
	assert_false(csv_int_divide(7, 0, 32, &result));
	assert_false(csv_int_modulo(7, 0, &result));
	assert_true(csv_int_divide(-7, 2, 32, &result));
	assert_int_equal(result, -3);
	assert_true(csv_int_modulo(-7, 2, &result));
	assert_int_equal(result, -1);
	assert_true(csv_int_divide(INT64_MAX, 3, 64, &result));
	assert_int_equal(result, INT64_MAX / 3);
}

TEST(decimals_end_at_38_digits)
{
	CsvInt128	most = (CsvInt128) csv_power_of_ten(38) - 1;
	CsvInt128	result;

	assert_true(csv_decimal_add(most, 0, &result));
	assert_false(csv_decimal_add(most, 1, &result));
	assert_false(csv_decimal_subtract(-most, 1, &result));
	assert_true(csv_decimal_multiply((CsvInt128) csv_power_of_ten(19) - 1,
									 -(CsvInt128) csv_power_of_ten(19),
									 &result));
	assert_true(result == -((CsvInt128) csv_power_of_ten(38) -
							(CsvInt128) csv_power_of_ten(19)));
	assert_false(csv_decimal_multiply((CsvInt128) csv_power_of_ten(19),
									  (CsvInt128) csv_power_of_ten(19),
									  &result));
	assert_false(csv_decimal_multiply(most, most, &result));
	assert_true(csv_decimal_rescale(7, 37, &result));
	assert_false(csv_decimal_rescale(7, 38, &result));
	assert_false(csv_decimal_rescale(7, 1000, &result));
	assert_true(csv_decimal_rescale(0, 1000, &result));
}

TEST(letters_of_ascii_have_two_cases)
{
	for (uint32_t c = 0; c < 256; c++)
		for (uint32_t length = 1; length < 20; length++)
		{
			uint8_t		text[20];
			uint8_t		lower[24];
			uint8_t		upper[24];
			uint32_t	at = c % length;

			memset(text, 'm', length);
			text[at] = (uint8_t) c;
			assert_int_equal(csv_text_fold(true, text, length, lower), c < 128);
			assert_int_equal(csv_text_fold(false, text, length, upper), c < 128);
			if (c >= 128)
				continue;
			assert_int_equal(lower[at], c >= 'A' && c <= 'Z' ? c + 32 : c);
			assert_int_equal(upper[at], c >= 'a' && c <= 'z' ? c - 32 : c);
			for (uint32_t i = 0; i < length; i++)
				assert_true(i == at || (lower[i] == 'm' && upper[i] == 'M'));
		}
}

TEST(floats_raise_what_postgresqls_do)
{
	double		result;

	assert_false(csv_float_add(DBL_MAX, DBL_MAX, 64, &result));
	assert_true(csv_float_add(INFINITY, DBL_MAX, 64, &result));
	assert_true(csv_float_subtract(INFINITY, INFINITY, 64, &result));
	assert_true(isnan(result));
	assert_false(csv_float_multiply(1e-200, 1e-200, 64, &result));
	assert_true(csv_float_multiply(0, 1e-200, 64, &result));
	assert_false(csv_float_multiply(1e200, 1e200, 64, &result));
	assert_true(csv_float_multiply(INFINITY, 0, 64, &result));
	/* float4 */
	assert_false(csv_float_multiply(1e30f, 1e30f, 32, &result));
	assert_true(csv_float_add(16777216, 1, 32, &result));
	assert_true(result == 16777216);

	assert_int_equal(csv_float_compare(NAN, INFINITY), 1);
	assert_int_equal(csv_float_compare(NAN, -NAN), 0);
	assert_int_equal(csv_float_compare(-0.0, 0), 0);
	assert_int_equal(csv_float_compare(-1, NAN), -1);
}

TEST(decimals_keep_their_digits_or_are_undecided)
{
	static const struct
	{
		const char *text;
		int			scale;
		bool		fits;
		int64_t		expected;
	}			cases[] = {
		{"0", 0, true, 0}, {"0.000", 0, true, 0}, {"1.5", 2, true, 150},
		{"1.50000", 2, true, 150}, {"-1.505", 2, false, 0},
		{"1.505", 3, true, 1505}, {"0.0001", 3, false, 0},
		{"0.00010000", 4, true, 1}, {"0.00000001", 4, false, 0},
		{"12345678", 5, true, INT64_C(1234567800000)},
		{"-20000", 0, true, -20000}, {"0.000000001", 12, true, 1000},
		{"123456.7891", 4, true, 1234567891}, {"123456.7891", 3, false, 0},
		{"99999999999999999999999999999999999999", 1, false, 0}
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
	{
		_Alignas(8) uint8_t entry[64] = {0};
		CsvInt128	result = 0;

		assert_true(csv_parse_numeric((const uint8_t *) cases[i].text,
									  (uint32_t) strlen(cases[i].text), '.',
									  -1, 0, entry, sizeof(entry)));
		assert_int_equal(csv_decimal_from_scaled(entry, cases[i].scale,
												 &result), cases[i].fits);
		if (cases[i].fits)
			assert_true(result == cases[i].expected);
	}
}

TEST(dates_become_timestamps)
{
	int64_t		result;

	assert_true(csv_date_to_timestamp(INT32_MIN, &result));
	assert_true(result == INT64_MIN);
	assert_true(csv_date_to_timestamp(INT32_MAX, &result));
	assert_true(result == INT64_MAX);
	assert_true(csv_date_to_timestamp(106751982, &result));
	assert_true(result == INT64_C(106751982) * 86400000000);
	assert_false(csv_date_to_timestamp(106751983, &result));
}

/* ---- sums of floats ---- */

/* also in one call, and in the opposite order */
static double
sum_of(const double *values, uint32_t n, bool *overflow)
{
	static uint16_t rows[CSV_FLOAT_SUM_ROWS];
	int64_t		words[CSV_FLOAT_SUM_WORDS + 1];
	double		results[3];
	bool		overflows[3];

	for (int way = 0; way < 3; way++)
	{
		CsvFloatSum sum;
		CsvWideFloats wides = {&csv_thread_memory, NULL, 0, 0};

		memset(&sum, 0, sizeof(sum));
		for (uint32_t i = 0; i < n; i++)
		{
			uint32_t	row = way == 2 ? n - 1 - i : i;

			rows[i] = (uint16_t) row;
			if (way == 0)
				assert_true(csv_float_sum_add(&sum, &wides, values[row]));
		}
		if (way > 0)
			assert_true(csv_float_sum_add_rows(&sum, &wides, values, rows, n));
		memset(words, 0, sizeof(words));
		csv_float_sum_to_words(&sum, &wides, words);
		results[way] = csv_float_words_round(words, &overflows[way]);
		csv_wide_floats_free(&wides);
		assert_memory_equal(&results[way], &results[0], 8);
		assert_int_equal(overflows[way], overflows[0]);
	}
	*overflow = overflows[0];
	return results[0];
}

#define expect_sum(expected, ...) \
	do \
	{ \
		const double values_[] = {__VA_ARGS__}; \
		const double expected_ = (expected); \
		bool		overflow_; \
		const double sum_ = sum_of(values_, LENGTH(values_), &overflow_); \
 \
		assert_memory_equal(&sum_, &expected_, 8); \
		assert_false(overflow_); \
	} while (0)

TEST(sums_of_floats_are_rounded_once)
{
	const double huge[] = {DBL_MAX, 0x1p970, DBL_MAX, -DBL_MAX};
	bool		overflow;

	expect_sum(1, 1e300, 1, -1e300);
	expect_sum(0x1.0000000000001p0, 1, 0x1p-53, 0x1p-1074);
	expect_sum(1, 1, 0x1p-53, -0x1p-1074);
	expect_sum(1, 1, 0x1p-53);
	expect_sum(0x1.0000000000002p0, 0x1.0000000000001p0, 0x1p-53);
	expect_sum(DBL_MAX, DBL_MAX, DBL_MAX, -DBL_MAX, 1, -1);
	expect_sum(0x1p-1074, 0x1p-1074, 1e308, -1e308);
	expect_sum(0x1p-1022, 0x1p-1023, 0x1p-1023);
	expect_sum(0x0.fffffffffffffp-1022, 0x1p-1022, -0x1p-1074);
	expect_sum(-0.0, -0.0, -0.0);
	expect_sum(0.0, -0.0, 0.0);
	expect_sum(0.0, 1.5, -1.5);
	expect_sum(INFINITY, INFINITY, DBL_MAX, DBL_MAX);
	expect_sum(-INFINITY, 1, -INFINITY);

	assert_true(isinf(sum_of(huge, 3, &overflow)));
	assert_true(overflow);
	/* half a unit beyond the largest rounds up */
	assert_true(isinf(sum_of(huge, 2, &overflow)));
	assert_true(overflow);
	assert_true(sum_of(huge, 4, &overflow) == HUGE_VAL);
	assert_true(overflow);
}

TEST(random_sums_of_floats_are_exact)
{
	random_state = 77;
	for (int round = 0; round < 3000; round++)
	{
		double		values[64];
		uint32_t	n = random_below(64) + 1;
		int			base = (int) random_below(2000);
		int			range = (int) random_below(one_in(2) ? 2046 : 70) + 1;
		CsvQuery	query;
		CsvAggregate aggregate;
		NaiveTable	table;
		NaiveGroups groups = {NULL, 0, 0};
		CsvInstruction instruction;
		CsvValue	rows[64];
		CsvAggregateValue value;

		memset(&query, 0, sizeof(query));
		memset(&aggregate, 0, sizeof(aggregate));
		memset(&instruction, 0, sizeof(instruction));
		memset(rows, 0, sizeof(rows));
		memset(&value, 0, sizeof(value));
		aggregate.kind = CSV_AGGREGATE_SUM;
		aggregate.lane = CSV_LANE_FLOAT;
		aggregate.filter = CSV_NO_REGISTER;
		instruction.operation = CSV_OP_COLUMN;
		instruction.lane = CSV_LANE_FLOAT;
		query.ninstructions = 1;
		query.instructions = &instruction;
		query.aggregates = true;
		query.naggregates = 1;
		query.aggregate = &aggregate;
		table.nrows = n;
		table.ncolumns = 1;
		table.values = rows;
		for (uint32_t i = 0; i < n; i++)
		{
			uint64_t	exponent = (uint64_t) base + random_below((uint32_t) range);
			uint64_t	bits = (next_random() & ~(UINT64_C(0x7ff) << 52)) |
				(exponent > 2046 ? 2046 : exponent) << 52;

			if (one_in(3))
				bits &= UINT64_MAX << 40;
			if (i > 0 && one_in(3))
			{
				/* the opposite of another one */
				memcpy(&bits, &values[random_below(i)], 8);
				bits ^= UINT64_C(1) << 63;
			}
			memcpy(&values[i], &bits, 8);
			rows[i].value.real = values[i];
			naive_row(&query, &table, i, &groups);
		}
		value.count = n;
		value.real = sum_of(values, n, &value.overflow);
		expect_naive_aggregate(&aggregate, &value, &groups.groups[0].aggregates[0]);
		naive_free(&query, &groups);
	}
}

/* integers / 2^shift, for which 128 bits hold what is exact */
static double
spread_of(const CsvFloatSum *sum, const CsvFloatSum *squares, uint32_t count,
		  const CsvWideFloats *wides)
{
	int64_t		words[2][CSV_FLOAT_SUM_WORDS + 1];

	memset(words, 0, sizeof(words));
	csv_float_sum_to_words(sum, wides, words[0]);
	csv_float_sum_to_words(squares, wides, words[1]);
	return csv_float_words_spread(words[0], words[1], count);
}

TEST(spreads_are_rounded_once)
{
	random_state = 7;
	for (int round = 0; round < 2000; round++)
	{
		CsvWideFloats wides = {&csv_thread_memory, NULL, 0, 0};
		CsvFloatSum sum;
		CsvFloatSum squares;
		uint32_t	count = 1 + random_below(50);
		int			shift = (int) random_below(600) - 300;
		int			nbits = 1 + (int) random_below(40);
		int64_t		offset = one_in(2) ? 0 : INT64_C(1) << random_below(45);
		CsvInt128	total = 0;
		CsvInt128	total_squares = 0;
		CsvInt128	exact;
		double		spread;

		memset(&sum, 0, sizeof(sum));
		memset(&squares, 0, sizeof(squares));
		for (uint32_t i = 0; i < count; i++)
		{
			int64_t		value = offset +
				(int64_t) (next_random() >> (64 - nbits)) -
				(one_in(2) ? 0 : INT64_C(1) << nbits);
			double		real = ldexp((double) value, shift);
			double		high;
			double		low;

			total += value;
			total_squares += (CsvInt128) value * value;
			assert_true(csv_float_square(real, &high, &low));
			assert_true(csv_float_sum_add(&sum, &wides, real));
			assert_true(csv_float_sum_add(&squares, &wides, high));
			assert_true(csv_float_sum_add(&squares, &wides, low));
		}
		exact = total_squares * count - total * total;
		spread = spread_of(&sum, &squares, count, &wides);

		/*
		 * spread x count is exact / 2^(2 shift) but for rounding: half a unit in
		 * the last place of spread, times count.
		 */
		if (exact == 0)
			assert_true(spread == 0);
		else
		{
			CsvInt128	twice;
			CsvInt128	unit;
			int			exponent;
			double		digits = frexp(spread, &exponent);
			CsvInt128	whole = (CsvInt128) ldexp(digits, 53);

			/* spread = whole x 2^exponent, in units of 2^(2 shift) */
			exponent -= 53 + 2 * shift;
			if (exponent < 0)
			{
				/* compare x 2^-exponent, where that fits */
				if (-exponent > 20 || exact >> 100 != 0)
				{
					csv_wide_floats_free(&wides);
					continue;
				}
				exact <<= -exponent;
				unit = 1;
			}
			else
				unit = (CsvInt128) 1 << exponent;
			twice = 2 * (whole * unit * count - exact);
			assert_true((twice < 0 ? -twice : twice) <= unit * count);
		}
		csv_wide_floats_free(&wides);
	}
}

TEST(spreads_know_their_limits)
{
	static const double sets[][3] = {
		{1e150, -1e150, 0}, {0x1p-400, 0x1p-401, 0}, {NAN, 1, 2},
		{INFINITY, 1, 2}, {5, 5, 5}, {0x1p-480, 0, 0}
	};
	static const double expected[] = {
		2e300, (0x1p-800 + 0x1p-802) - 9.0 / 3 * 0x1p-802, NAN, NAN, 0,
		0x1p-960 - 0x1p-960 / 3
	};

	for (size_t i = 0; i < LENGTH(sets); i++)
	{
		CsvWideFloats wides = {&csv_thread_memory, NULL, 0, 0};
		CsvFloatSum sum;
		CsvFloatSum squares;
		double		spread;

		memset(&sum, 0, sizeof(sum));
		memset(&squares, 0, sizeof(squares));
		for (int k = 0; k < 3; k++)
		{
			double		high;
			double		low;

			assert_true(csv_float_square(sets[i][k], &high, &low));
			assert_true(csv_float_sum_add(&sum, &wides, sets[i][k]));
			assert_true(csv_float_sum_add(&squares, &wides, high));
			assert_true(csv_float_sum_add(&squares, &wides, low));
		}
		spread = spread_of(&sum, &squares, 3, &wides);
		if (isnan(expected[i]))
			assert_true(isnan(spread));
		else
			assert_true(fabs(spread - expected[i]) <= expected[i] * 1e-15);
		csv_wide_floats_free(&wides);
	}
}

/* ---- hashes ---- */

/*
 * Words that hash functions have as constants, what takes them away, and such
 * that products are known of, with all xors of two.
 */
enum
{
	BASIC_WORDS = 14,
	HASH_WORDS = BASIC_WORDS * BASIC_WORDS
};

static void
make_hash_words(uint64_t *words)
{
	static const uint64_t basic[BASIC_WORDS] = {
		0, 1, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 32,
		UINT64_C(0xffffffff), UINT64_C(0x5555555555555555),
		UINT64_C(0x0000ffff0000ffff), UINT64_C(0x9e3779b97f4a7c15),
		UINT64_C(0xe7037ed1a0b428db), UINT64_C(0xa0761d6478bd642f),
		CSV_BATCH_SEED, CSV_BATCH_SEED - 1, CSV_BATCH_SEED >> 1
	};

	for (uint32_t i = 0; i < BASIC_WORDS; i++)
		for (uint32_t j = 0; j < BASIC_WORDS; j++)
			words[i * BASIC_WORDS + j] = i == j ? basic[i] :
				i < j ? basic[i] ^ basic[j] : ~(basic[i] ^ basic[j]);
}

/* the hash before, made from the one after: by the inverse modulo 2^64 - 1 */
static uint64_t
hash_before(uint64_t seed, uint64_t hash, uint64_t word)
{
	CsvInt128	a = UINT64_MAX;
	CsvInt128	b = seed;
	CsvInt128	of_a = 0;
	CsvInt128	of_b = 1;

	while (b != 0)
	{
		CsvInt128	times = a / b;
		CsvInt128	rest = a - times * b;
		CsvInt128	of_rest = of_a - times * of_b;

		a = b;
		b = rest;
		of_a = of_b;
		of_b = of_rest;
	}
	assert_true(a == 1);
	if (of_a < 0)
		of_a += UINT64_MAX;
	hash ^= hash >> 32;
	if (hash != 0)
	{
		hash = (uint64_t) ((CsvUint128) hash * (CsvUint128) of_a % UINT64_MAX);
		hash = hash == 0 ? UINT64_MAX : hash;
	}
	return hash ^ word;
}

/* each hash comes from one hash alone, whatever the word and the seed */
TEST(no_word_makes_a_hash_forget)
{
	uint64_t	words[HASH_WORDS];

	make_hash_words(words);
	for (uint32_t s = 0; s < 2 * HASH_WORDS; s++)
	{
		uint64_t	seed = s < HASH_WORDS ? csv_hash_seed(words[s]) :
			csv_random_seed(words);

		for (uint32_t i = 0; i < HASH_WORDS; i++)
			for (uint32_t j = 0; j < HASH_WORDS; j += 5)
			{
				uint64_t	hash = words[j] ^ (s % 2 == 0 ? 0 : words[i]);

				assert_true(hash_before(seed, csv_hash_word(seed, hash,
															words[i]),
										words[i]) == hash);
			}
	}
}

/* what is in no file is in no two tables, either */
TEST(seeds_differ)
{
	uint64_t	first = csv_random_seed(state);

	for (int i = 0; i < 100; i++)
		assert_true(csv_random_seed(state) != first);
}

/* ---- keys that a file could hold to make their hashes meet ---- */

enum
{
	SPREAD_ROWS = 2048,
	SPREAD_KEYS = 24
};

typedef void (*MakeKeysFn) (uint32_t row, uint64_t word, CsvValue *keys);

/* columns of a number and of the word */
static void
make_integers(uint32_t row, uint64_t word, CsvValue *keys)
{
	keys[0].value.integer = row;
	keys[1].value.integer = (int64_t) word;
}

static void
make_uuids(uint32_t row, uint64_t word, CsvValue *keys)
{
	keys[0].value.uuid = (CsvUint128) word << 64 | row;
	keys[1].value.uuid = (CsvUint128) row << 64 | word;
}

static void
make_texts(uint32_t row, uint64_t word, CsvValue *keys)
{
	static uint64_t text[4];

	text[0] = text[2] = row;
	text[1] = text[3] = word;
	keys[0].bytes = (uint8_t *) text;
	keys[0].length = 32;
	keys[1].bytes = (uint8_t *) text;
	keys[1].length = 16;
}

/* each column is the word, or NULL */
static void
make_nulls(uint32_t row, uint64_t word, CsvValue *keys)
{
	for (uint32_t i = 0; i < SPREAD_KEYS; i++)
	{
		keys[i].value.integer = (int64_t) word;
		if ((row >> i & 1) != 0)
			keys[i].state = CSV_LANE_NULL;
	}
}

/* of each two columns, one has a number of two of the other's words */
static void
make_decimals(uint32_t row, uint64_t word, CsvValue *keys)
{
	uint64_t	part = word >> 2 | 1;

	for (uint32_t i = 0; i < SPREAD_KEYS; i++)
		keys[i].value.decimal = (row >> i / 2 & 1) == i % 2 ? part :
			(CsvInt128) part << 64 | part;
}

/* of each two columns, both have their top bit, or none */
static void
make_top_bits(uint32_t row, uint64_t word, CsvValue *keys)
{
	for (uint32_t i = 0; i < SPREAD_KEYS; i++)
		keys[i].value.integer = (int64_t)
			(word ^ (uint64_t) (row >> i / 2 & 1) << 63);
}

/* a row is looked for in few slots: by chance, 1.5 of them */
static void
check_spread(const CsvKeyed *table)
{
	uint64_t	passed = 0;

	for (uint32_t at = 0; at <= table->slot_mask; at++)
		if (table->slots[at].row != CSV_NO_ROW)
			passed += (at - csv_keyed_home(table, table->slots[at].tag)) &
				table->slot_mask;
	assert_in_range(passed, 0, SPREAD_ROWS * 8);
}

TEST(no_keys_meet_in_one_slot)
{
	static const struct
	{
		MakeKeysFn	make;
		uint8_t		lane;
		uint32_t	nkeys;
	}			cases[] = {
		{make_integers, CSV_LANE_INT, 2}, {make_uuids, CSV_LANE_UUID, 2},
		{make_texts, CSV_LANE_TEXT, 2}, {make_nulls, CSV_LANE_INT, SPREAD_KEYS},
		{make_decimals, CSV_LANE_DECIMAL, SPREAD_KEYS},
		{make_top_bits, CSV_LANE_INT, SPREAD_KEYS}
	};
	uint64_t	words[HASH_WORDS];
	uint8_t		lanes[SPREAD_KEYS];

	make_hash_words(words);
	for (uint32_t i = 0; i < LENGTH(cases) * HASH_WORDS; i++)
	{
		uint32_t	chosen = i % LENGTH(cases);
		CsvKeyed	table;
		uint32_t	offset;

		memset(lanes, cases[chosen].lane, sizeof(lanes));
		csv_keyed_init(&table, &csv_thread_memory, csv_random_seed(&table), lanes,
					   cases[chosen].nkeys, 0, &offset);
		for (uint32_t row = 0; row < SPREAD_ROWS; row++)
		{
			CsvValue	keys[SPREAD_KEYS];
			uint64_t	hash = table.seed;
			bool		made;

			memset(keys, 0, sizeof(keys));
			cases[chosen].make(row, words[i / LENGTH(cases)], keys);
			for (uint32_t key = 0; key < cases[chosen].nkeys; key++)
				hash = csv_keyed_hash(&table, hash, lanes[key], &keys[key]);
			assert_int_equal(csv_keyed_find(&table, hash, keys, &made), row);
		}
		check_spread(&table);
		csv_keyed_free(&table);
	}
}
