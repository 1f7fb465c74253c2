/*
 * operate.h
 *		The operations of a CsvQuery, on single values.
 *
 * Each operation gives the result of PostgreSQL's operator, or does not know the
 * result.  A function that returns bool returns false if PostgreSQL would raise an
 * ERROR (or, for DECIMAL, if the lane is too narrow for the result).  Then the value
 * is undecided; the stored result is within the lane's range, and has no meaning.
 *
 *	lane		as in PostgreSQL's
 *	INT			int2pl, int4mi, int8div, ...: undecided out of range, and if the
 *				divisor is zero
 *	DECIMAL		numeric_add, numeric_sub, numeric_mul: undecided beyond 38
 *				digits
 *	FLOAT		float8pl, float8mi, float8mul, or their float4 versions:
 *				undecided where finite operands give an infinity, or nonzero
 *				factors give zero
 *
 * The order of floats is btree's: NaN equals NaN and is greater than all
 * others, -0 equals 0.  Texts compare by bytes, then by length, as under
 * collation C.
 *
 * The same code runs on the host and on the device: C and CUDA C++.
 */
#ifndef CSV_OPERATE_H
#define CSV_OPERATE_H

#include "../reader/numbers.h"
#include "../reader/words.h"
#include "query.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- integers ---- */

/* does the value fit into `bits` (16, 32, 64) bits? */
CSV_INLINE bool
csv_int_fits(int64_t value, uint32_t bits)
{
	return bits == 16 ? value == (int16_t) value :
		bits == 32 ? value == (int32_t) value : true;
}

CSV_INLINE bool
csv_int_add(int64_t a, int64_t b, uint32_t bits, int64_t *result)
{
	*result = (int64_t) ((uint64_t) a + (uint64_t) b);
	/* out of range if the operands have the same sign, and the result has not */
	return ((a ^ *result) & (b ^ *result)) >= 0 && csv_int_fits(*result, bits);
}

CSV_INLINE bool
csv_int_subtract(int64_t a, int64_t b, uint32_t bits, int64_t *result)
{
	*result = (int64_t) ((uint64_t) a - (uint64_t) b);
	return ((a ^ b) & (a ^ *result)) >= 0 && csv_int_fits(*result, bits);
}

CSV_INLINE bool
csv_int_multiply(int64_t a, int64_t b, uint32_t bits, int64_t *result)
{
	CsvInt128	product = (CsvInt128) a * b;

	*result = (int64_t) product;
	return *result == product && csv_int_fits(*result, bits);
}

CSV_INLINE bool
csv_int_negate(int64_t a, uint32_t bits, int64_t *result)
{
	return csv_int_subtract(0, a, bits, result);
}

CSV_INLINE bool
csv_int_divide(int64_t a, int64_t b, uint32_t bits, int64_t *result)
{
	/* quotients of doubles are exact below 2^52, and much faster */
	uint64_t	bound = UINT64_C(1) << 51;
	uint64_t	beyond = ((uint64_t) a + bound) | ((uint64_t) b + bound);

	if (b == 0 || b == -1)
		return csv_int_negate(a, bits, result) && b != 0;
	*result = beyond >> 52 == 0 ? (int64_t) ((double) a / (double) b) : a / b;
	return csv_int_fits(*result, bits);
}

CSV_INLINE bool
csv_int_modulo(int64_t a, int64_t b, int64_t *result)
{
	*result = 0;
	if (b != -1 && csv_int_divide(a, b, 64, result))
		*result = a - *result * b;
	return b != 0;
}

/* ---- decimals ---- */

CSV_INLINE CsvUint128
csv_decimal_magnitude(CsvInt128 a)
{
	return a < 0 ? -(CsvUint128) a : (CsvUint128) a;
}

/* does a value fit into the lane, which has 38 digits? */
CSV_INLINE bool
csv_decimal_fits(CsvInt128 a)
{
	return csv_decimal_magnitude(a) < csv_power_of_ten(CSV_MAX_DECIMAL_DIGITS);
}

/* a sum of operands of 38 digits that does not fit into 128 bits wraps to 39 digits */
CSV_INLINE bool
csv_decimal_add(CsvInt128 a, CsvInt128 b, CsvInt128 *result)
{
	*result = (CsvInt128) ((CsvUint128) a + (CsvUint128) b);
	if (csv_decimal_fits(*result))
		return true;
	*result = 0;
	return false;
}

CSV_INLINE bool
csv_decimal_subtract(CsvInt128 a, CsvInt128 b, CsvInt128 *result)
{
	return csv_decimal_add(a, -b, result);
}

CSV_INLINE bool
csv_decimal_multiply(CsvInt128 a, CsvInt128 b, CsvInt128 *result)
{
	CsvUint128	left = csv_decimal_magnitude(a);
	CsvUint128	right = csv_decimal_magnitude(b);
	CsvUint128	product;
	CsvUint128	cross;

	*result = 0;
	if (left < right)
	{
		product = left;
		left = right;
		right = product;
	}
	/* the smaller factor has 64 bits, or the product is beyond 128 bits */
	if (right >> 64 != 0)
		return false;
	product = (CsvUint128) (uint64_t) left * (uint64_t) right;
	cross = (CsvUint128) (uint64_t) (left >> 64) * (uint64_t) right +
		(product >> 64);
	if (cross >> 64 != 0)
		return false;
	product = cross << 64 | (uint64_t) product;
	if (product >= csv_power_of_ten(CSV_MAX_DECIMAL_DIGITS))
		return false;
	*result = (a < 0) != (b < 0) ? -(CsvInt128) product : (CsvInt128) product;
	return true;
}

/* times 10^digits */
CSV_INLINE bool
csv_decimal_rescale(CsvInt128 a, uint32_t digits, CsvInt128 *result)
{
	if (digits >= CSV_MAX_DECIMAL_DIGITS)
	{
		*result = 0;
		return a == 0;
	}
	return csv_decimal_multiply(a, (CsvInt128) csv_power_of_ten(digits),
								result);
}

/*
 * An entry of a NUMERIC array (see csv_parse_numeric()), with the typmod's scale, as
 * an integer times 10^scale.  False beyond 38 digits.
 */
CSV_INLINE bool
csv_decimal_from_numeric(const uint8_t *entry, int32_t scale,
						 CsvInt128 *result)
{
	uint32_t	length;
	uint16_t	header;			/* 10, sign, dscale in 6 bits, weight in 7 */
	uint32_t	ndigits;
	int32_t		weight;
	CsvUint128	value = 0;

	memcpy(&length, entry, 4);
	memcpy(&header, entry + 4, 2);
	ndigits = ((length >> 2) - 6) / 2;
	weight = (int32_t) ((header & 0x7f) ^ 0x40) - 0x40;
	for (uint32_t i = 0; i < ndigits; i++)
	{
		/* a digit has four decimal places; those beyond the scale are zeros */
		int32_t		places = scale + 4 * (weight - (int32_t) i);
		uint32_t	kept = places >= 0 ? 4 : places > -4 ? 4 + places : 0;
		uint16_t	digit;

		memcpy(&digit, entry + 6 + 2 * i, 2);
		if (value >= csv_power_of_ten(CSV_MAX_DECIMAL_DIGITS - kept))
			return false;
		value = value * (uint64_t) csv_power_of_ten(kept) +
			digit / (uint32_t) csv_power_of_ten(4 - kept);
	}
	if (ndigits > 0)
	{
		int32_t		places = scale + 4 * (weight - (int32_t) ndigits + 1);

		if (places > 0)
		{
			if (places >= CSV_MAX_DECIMAL_DIGITS ||
				value >= csv_power_of_ten(CSV_MAX_DECIMAL_DIGITS -
										  (uint32_t) places))
				return false;
			value *= csv_power_of_ten((uint32_t) places);
		}
	}
	*result = (header & 0x2000) != 0 ? -(CsvInt128) value : (CsvInt128) value;
	return true;
}

/*
 * The same for an entry of any scale; false also if it has digits beyond `scale`.
 */
CSV_INLINE bool
csv_decimal_from_scaled(const uint8_t *entry, int32_t scale,
						CsvInt128 *result)
{
	uint32_t	length;
	uint16_t	header;
	uint32_t	ndigits;

	memcpy(&length, entry, 4);
	memcpy(&header, entry + 4, 2);
	ndigits = ((length >> 2) - 6) / 2;
	if (ndigits > 0)
	{
		/*
		 * scale places behind the last digit; below 0: digit places beyond the scale
		 */
		int32_t		weight = (int32_t) ((header & 0x7f) ^ 0x40) - 0x40;
		int32_t		places = scale + 4 * (weight - (int32_t) ndigits + 1);
		uint16_t	digit;

		memcpy(&digit, entry + 6 + 2 * (ndigits - 1), 2);
		if (places <= -4 ||
			(places < 0 &&
			 digit % (uint32_t) csv_power_of_ten((uint32_t) -places) != 0))
			return false;
	}
	return csv_decimal_from_numeric(entry, scale, result);
}

/* scale() of an entry of NUMERIC or SCALED */
CSV_INLINE int64_t
csv_entry_scale(uint8_t kind, const uint8_t *entry)
{
	uint32_t	scale;
	uint16_t	header;

	if (kind == CSV_KIND_SCALED)
	{
		csv_load_scaled(entry, &scale);
		return scale;
	}
	memcpy(&header, entry + 4, 2);
	return header >> 7 & 0x3f;
}

/* an entry of SCALED as a decimal of this scale; false if it does not fit */
CSV_INLINE bool
csv_decimal_of_scaled(const uint8_t *entry, int32_t scale, CsvInt128 *result)
{
	uint32_t	shown;
	CsvInt128	value = csv_load_scaled(entry, &shown);
	int32_t		places = scale - (int32_t) shown;
	CsvInt128	unit;

	if (places >= 0)
		return csv_decimal_rescale(value, (uint32_t) places, result);
	unit = (CsvInt128) csv_power_of_ten(places < -CSV_MAX_DECIMAL_DIGITS ?
										CSV_MAX_DECIMAL_DIGITS : -places);
	*result = value / unit;
	return value % unit == 0;
}

/* ---- sums of decimals ---- */

CSV_INLINE CsvWideSum
csv_wide_sum_of(CsvInt128 value)
{
	CsvWideSum	wide = {(CsvUint128) value, value < 0 ? -1 : 0};

	return wide;
}

CSV_INLINE CsvWideSum
csv_wide_sum_add(CsvWideSum a, CsvWideSum b)
{
	a.low += b.low;
	a.high = (int64_t) ((uint64_t) a.high + (uint64_t) b.high +
						(a.low < b.low));
	return a;
}

CSV_INLINE CsvWideSum
csv_wide_sum_negate(CsvWideSum a)
{
	a.low = -a.low;
	a.high = (int64_t) (~(uint64_t) a.high + (a.low == 0));
	return a;
}

/* a x 2^64 or 2^128 */
CSV_INLINE CsvWideSum
csv_wide_sum_shifted(CsvInt128 a, bool by_128)
{
	CsvWideSum	wide = {0, (int64_t) a};

	if (!by_128)
	{
		wide.low = (CsvUint128) a << 64;
		wide.high = (int64_t) (a >> 64);
	}
	return wide;
}

/* ---- floats ---- */

/* bits of a magnitude: no compiler option changes how they compare */
#define CSV_FLOAT_MAGNITUDE	UINT64_C(0x7fffffffffffffff)
#define CSV_FLOAT_INFINITY	UINT64_C(0x7ff0000000000000)

CSV_INLINE uint64_t
csv_float_magnitude(double a)
{
	return csv_double_bits(a) & CSV_FLOAT_MAGNITUDE;
}

CSV_INLINE bool
csv_float_is_nan(double a)
{
	return csv_float_magnitude(a) > CSV_FLOAT_INFINITY;
}

CSV_INLINE bool
csv_float_is_finite(double a)
{
	return csv_float_magnitude(a) < CSV_FLOAT_INFINITY;
}

/*
 * With bits 32, round to float4.  A double has more than twice the digits of a float4,
 * so that this second rounding gives the exact sum or product rounded once.
 */
CSV_INLINE double
csv_float_round(double a, uint32_t bits)
{
	return bits == 32 ? (double) (float) a : a;
}

CSV_INLINE bool
csv_float_add(double a, double b, uint32_t bits, double *result)
{
	*result = csv_float_round(a + b, bits);
	return csv_float_magnitude(*result) != CSV_FLOAT_INFINITY ||
		!csv_float_is_finite(a) || !csv_float_is_finite(b);
}

CSV_INLINE bool
csv_float_subtract(double a, double b, uint32_t bits, double *result)
{
	return csv_float_add(a, -b, bits, result);
}

CSV_INLINE bool
csv_float_multiply(double a, double b, uint32_t bits, double *result)
{
	uint64_t	magnitude;

	*result = csv_float_round(a * b, bits);
	magnitude = csv_float_magnitude(*result);
	if (magnitude == CSV_FLOAT_INFINITY)
		return !csv_float_is_finite(a) || !csv_float_is_finite(b);
	return magnitude != 0 || a == 0 || b == 0;
}

/* 2^exponent, for exponents of doubles: from -1074 to 1023 */
CSV_INLINE double
csv_power_of_two(int32_t exponent)
{
	return csv_bits_double(exponent >= -1022 ?
						   (uint64_t) (exponent + 1023) << 52 :
						   UINT64_C(1) << (exponent + 1074));
}

/*
 * The square as two doubles; their sum is the exact square.  False if it could
 * overflow or underflow.
 */
CSV_INLINE bool
csv_float_square(double a, double *high, double *low)
{
	uint64_t	magnitude = csv_float_magnitude(a);
	int32_t		exponent = (int32_t) (magnitude >> 52) - 1023;
	uint64_t	digits;
	CsvUint128	product;

	*high = a * a;
	*low = 0;
	if (magnitude == 0 || magnitude >= CSV_FLOAT_INFINITY)
		return true;
	if (exponent < -480 || exponent > 510)
	{
		*high = 0;
		return false;
	}
	digits = (magnitude & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
	product = (CsvUint128) digits * digits;

	/* 53 bits each, times the weight of the lowest bit */
	*low = (double) (int64_t) ((uint64_t) product &
							   ((UINT64_C(1) << 53) - 1)) *
		csv_power_of_two(2 * (exponent - 52));
	*high = (double) (int64_t) (product >> 53) *
		csv_power_of_two(2 * (exponent - 52) + 53);
	return true;
}

/* ---- between lanes ---- */

/* rounded once */
CSV_INLINE double
csv_int_to_float(int64_t a, uint32_t bits)
{
	return bits == 32 ? (double) (float) a : (double) a;
}

#define CSV_DAY_MICROSECONDS	INT64_C(86400000000)

/* dates that are timestamps, too: 4714-11-24 BC to 294276-12-31 */
#define CSV_IS_DAY(days)	((days) >= -2451545 && (days) < 106751983)

/*
 * Microseconds of a date, as date2timestamp().  Infinite dates become infinite
 * timestamps; days from 294277-01-01 on are out of range.
 */
CSV_INLINE bool
csv_date_to_timestamp(int64_t days, int64_t *microseconds)
{
	*microseconds = days == INT32_MIN ? INT64_MIN :
		days == INT32_MAX ? INT64_MAX : 0;
	if (*microseconds != 0)
		return true;
	if (!CSV_IS_DAY(days))
		return false;
	*microseconds = days * CSV_DAY_MICROSECONDS;
	return true;
}

/* false for infinite timestamps */
CSV_INLINE bool
csv_timestamp_to_time(int64_t microseconds, int64_t *time)
{
	*time = microseconds % CSV_DAY_MICROSECONDS;
	*time += *time < 0 ? CSV_DAY_MICROSECONDS : 0;
	return microseconds != INT64_MIN && microseconds != INT64_MAX;
}

CSV_INLINE bool
csv_timestamp_to_date(int64_t microseconds, int64_t *days)
{
	*days = microseconds == INT64_MIN ? INT32_MIN :
		microseconds == INT64_MAX ? INT32_MAX :
		microseconds / CSV_DAY_MICROSECONDS -
		(microseconds % CSV_DAY_MICROSECONDS < 0);
	return true;
}

/* false for dates that timestamps do not have, and for infinite dates */
CSV_INLINE bool
csv_date_part(int64_t date, int64_t part, int64_t *result)
{
	/* days since a 1st of March, of a year divisible by 400; since Monday */
	uint32_t	n = (uint32_t) date + 2483589;
	uint32_t	of_week = (n + 2) % 7;
	bool		is_iso = part == CSV_PART_WEEK || part == CSV_PART_ISO_YEAR;

	/* a week is of the year that has its Thursday */
	uint32_t	quarters = 4 * (is_iso ? n - of_week + 3 : n) + 3;
	uint32_t	of_century = quarters % 146097 | 3;
	uint32_t	of_year = of_century % 1461 / 4;
	uint32_t	month = (5 * of_year + 2) / 153;
	uint32_t	day = of_year - (153 * month + 2) / 5;
	bool		is_next = month >= 10;	/* January or February */
	uint32_t	year = quarters / 146097 * 100 + of_century / 1461 + is_next;
	uint32_t	is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	uint32_t	quarter;

	/* from here on from January, and all but the year from 0 */
	month = is_next ? month - 10 : month + 2;
	of_year = is_next ? of_year - 306 : of_year + 59 + is_leap;
	quarter = month / 3;
	*result = part == CSV_PART_DAY_OF_YEAR ? of_year + 1 :
		part == CSV_PART_DAY ? day + 1 :
		part == CSV_PART_DAY_OF_WEEK ? (of_week + 1) % 7 :
		part == CSV_PART_ISO_DAY_OF_WEEK ? of_week + 1 :
		part == CSV_PART_MONTH ? month + 1 :
		part == CSV_PART_QUARTER ? quarter + 1 :
		part == CSV_PART_WEEK ? of_year / 7 + 1 :
		part == CSV_PART_EPOCH ? ((int64_t) n - 2472632) * 86400 :
		part != CSV_PART_DAY_OF_QUARTER ?
		(int64_t) year - 4800 - (year <= 4800) :
		quarter == 0 ? of_year + 1 :
		of_year + 2 - 91 * quarter - is_leap - (quarter == 3);
	return CSV_IS_DAY(date);
}

/* ---- by operation, which is a constant where speed matters ---- */

CSV_INLINE bool
csv_int_operate(int operation, int64_t a, int64_t b, uint32_t bits,
				int64_t *result)
{
	switch (operation)
	{
		case CSV_OP_ADD:
			return csv_int_add(a, b, bits, result);
		case CSV_OP_SUBTRACT:
			return csv_int_subtract(a, b, bits, result);
		case CSV_OP_MULTIPLY:
			return csv_int_multiply(a, b, bits, result);
		case CSV_OP_DIVIDE:
			return csv_int_divide(a, b, bits, result);
		case CSV_OP_MODULO:
			return csv_int_modulo(a, b, result);
		case CSV_OP_DATE_PART:
			return csv_date_part(a, b, result);
		case CSV_OP_NEGATE:
			return csv_int_negate(a, bits, result);
		case CSV_OP_TIMESTAMP_TO_DATE:
			return csv_timestamp_to_date(a, result);
		case CSV_OP_TIMESTAMP_TO_TIME:
			return csv_timestamp_to_time(a, result);
		default:
			return csv_date_to_timestamp(a, result);
	}
}

CSV_INLINE bool
csv_float_operate(int operation, double a, double b, uint32_t bits,
				  double *result)
{
	switch (operation)
	{
		case CSV_OP_ADD:
			return csv_float_add(a, b, bits, result);
		case CSV_OP_SUBTRACT:
			return csv_float_subtract(a, b, bits, result);
		case CSV_OP_MULTIPLY:
			return csv_float_multiply(a, b, bits, result);
		default:
			*result = -a;
			return true;
	}
}

CSV_INLINE bool
csv_decimal_operate(int operation, CsvInt128 a, CsvInt128 b, uint32_t digits,
					CsvInt128 *result)
{
	switch (operation)
	{
		case CSV_OP_ADD:
			return csv_decimal_add(a, b, result);
		case CSV_OP_SUBTRACT:
			return csv_decimal_subtract(a, b, result);
		case CSV_OP_MULTIPLY:
			return csv_decimal_multiply(a, b, result);
		case CSV_OP_NEGATE:
			*result = -a;
			return true;
		default:
			return csv_decimal_rescale(a, digits, result);
	}
}

/* ---- comparisons: below, equal to or above zero ---- */

CSV_INLINE int
csv_int_compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

CSV_INLINE int
csv_decimal_compare(CsvInt128 a, CsvInt128 b)
{
	return (a > b) - (a < b);
}

CSV_INLINE int
csv_uuid_compare(CsvUint128 a, CsvUint128 b)
{
	return (a > b) - (a < b);
}

CSV_INLINE int
csv_float_compare(double a, double b)
{
	if (a < b)
		return -1;
	if (a > b)
		return 1;
	if (a == b)
		return 0;
	return (int) csv_float_is_nan(a) - (int) csv_float_is_nan(b);
}

CSV_INLINE int
csv_bytes_compare(const uint8_t *a, const uint8_t *b, uint32_t n)
{
#ifdef __CUDA_ARCH__
	for (uint32_t i = 0; i < n; i++)
	{
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	}
	return 0;
#else
	return n == 0 ? 0 : memcmp(a, b, n);
#endif
}

CSV_INLINE int
csv_text_compare(const uint8_t *a, uint32_t a_length,
				 const uint8_t *b, uint32_t b_length)
{
	int			order = csv_bytes_compare(a, b, a_length < b_length ?
										  a_length : b_length);

	return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

CSV_INLINE bool
csv_text_equal(const uint8_t *a, uint32_t a_length,
			   const uint8_t *b, uint32_t b_length)
{
	return a_length == b_length && csv_bytes_compare(a, b, a_length) == 0;
}

/* two values of a lane, neither of them NULL */
CSV_INLINE int
csv_value_compare(uint8_t lane, const CsvValue *a, const CsvValue *b)
{
	switch (lane)
	{
		case CSV_LANE_INT:
			return csv_int_compare(a->value.integer, b->value.integer);
		case CSV_LANE_DECIMAL:
			return csv_decimal_compare(a->value.decimal, b->value.decimal);
		case CSV_LANE_FLOAT:
			return csv_float_compare(a->value.real, b->value.real);
		case CSV_LANE_TEXT:
			return csv_text_compare(a->bytes, a->length, b->bytes, b->length);
		default:
			return csv_uuid_compare(a->value.uuid, b->value.uuid);
	}
}

/* does an order satisfy an operation, CSV_OP_EQUAL to CSV_OP_GREATER_EQUAL? */
CSV_INLINE bool
csv_order_satisfies(int order, int operation)
{
	switch (operation)
	{
		case CSV_OP_EQUAL:
			return order == 0;
		case CSV_OP_NOT_EQUAL:
			return order != 0;
		case CSV_OP_LESS:
			return order < 0;
		case CSV_OP_LESS_EQUAL:
			return order <= 0;
		case CSV_OP_GREATER:
			return order > 0;
		default:
			return order >= 0;
	}
}

/* ---- text ---- */

/* length without the blanks at the end */
CSV_INLINE uint32_t
csv_trimmed_length(const uint8_t *text, uint32_t length)
{
	while (length > 0 && text[length - 1] == ' ')
		length--;
	return length;
}

CSV_INLINE bool
csv_text_starts_with(const uint8_t *text, uint32_t length,
					 const uint8_t *pattern, uint32_t pattern_length)
{
	return length >= pattern_length &&
		csv_bytes_compare(text, pattern, pattern_length) == 0;
}

CSV_INLINE bool
csv_text_ends_with(const uint8_t *text, uint32_t length,
				   const uint8_t *pattern, uint32_t pattern_length)
{
	return length >= pattern_length &&
		csv_bytes_compare(text + (length - pattern_length), pattern,
						  pattern_length) == 0;
}

/* the first place of the pattern in the text; NULL: it is not there */
typedef const uint8_t *(*CsvFindFn) (const uint8_t *text, uint32_t length,
									 const uint8_t *pattern,
									 uint32_t pattern_length);

/*
 * Takes time in proportion to length x pattern_length at worst.  (The CPU's evaluation
 * uses memmem(), which is never that slow.)
 */
CSV_INLINE const uint8_t *
csv_text_find(const uint8_t *text, uint32_t length,
			  const uint8_t *pattern, uint32_t pattern_length)
{
	if (pattern_length == 0)
		return text;
	for (; length >= pattern_length; text++, length--)
	{
		if (text[0] == pattern[0] &&
			csv_bytes_compare(text, pattern, pattern_length) == 0)
			return text;
	}
	return NULL;
}

/*
 * % in the pattern stands for any bytes.  The part of the pattern before the first %
 * must be at the text's beginning, and the part behind the last % at its end.  A part
 * between two % is taken at its first place behind the part before.
 */
CSV_INLINE bool
csv_text_like(const uint8_t *text, uint32_t length,
			  const uint8_t *pattern, uint32_t pattern_length, CsvFindFn find)
{
	bool		first = true;

	for (;;)
	{
		const uint8_t *at = text;
		uint32_t	n = 0;

		while (n < pattern_length && pattern[n] != '%')
			n++;
		if (n == pattern_length)
			return (!first || length == n) &&
				csv_text_ends_with(text, length, pattern, n);
		if (!first)
			at = find(text, length, pattern, n);
		else if (!csv_text_starts_with(text, length, pattern, n))
			return false;
		if (at == NULL)
			return false;
		length -= (uint32_t) (at - text) + n;
		text = at + n;
		pattern += n + 1;
		pattern_length -= n + 1;
		first = false;
	}
}

/* room for a text in lower or upper case, which is written by 8 bytes */
CSV_INLINE size_t
csv_folded_bytes(size_t length)
{
	return (length + 7) / 8 * 8;
}

/* the text in lower (or upper) case; false: not all characters are ASCII */
CSV_INLINE bool
csv_text_fold(bool lower, const uint8_t *text, uint32_t length, uint8_t *folded)
{
	uint64_t	first = CSV_EACH_BYTE(1) * (0x80 - (lower ? 'A' : 'a'));
	uint64_t	all = 0;

	for (uint32_t pos = 0; pos < length; pos += 8)
	{
		uint64_t	word = length - pos >= 8 ? csv_load8(text + pos) :
			csv_load_some(text + pos, length - pos);
		uint64_t	low = word & CSV_EACH_BYTE(0x7f);
		uint64_t	letters = (low + first) & CSV_EACH_BYTE(0x80) &
			~(low + first - CSV_EACH_BYTE(26));

		all |= word;
		word ^= letters >> 2;	/* 0x20 of each letter */
		memcpy(folded + pos, &word, 8);
	}
	return (all & CSV_EACH_BYTE(0x80)) == 0;
}

/* ---- hashes: equal values have equal hashes ---- */

/*
 * A hash begins as the table's seed, which is secret, and takes a word at a time: h
 * becomes (h ^ word) x seed modulo M = 2^64 - 1, and its high half is xored into its
 * low half, which decides the slot.  So the seed decides what the words of a file do
 * to a hash, each word alone and all of them together:
 *
 * - For each word, this is a permutation of all 64-bit hashes.  Both xors are
 *	 permutations.  The product keeps 0.  The numbers 1 to M represent each class of
 *	 residues modulo M once, and so do their products, because the seed has no factor
 *	 in common with M.  So no word makes a hash forget the words before it.
 * - For the same reason, different words give different hashes.
 * - Rows with different keys have the same hash only if the differences of their
 *	 words, multiplied by a secret, cancel.  With a constant instead of the seed, a
 *	 file could choose such words; with a product modulo 2^64, too, because it keeps
 *	 the difference of the top bit.
 *
 * The words of a row can be told apart (a text's length is before its bytes), so that
 * rows with different keys never have the same words.
 */

/* the least number that can be a seed, from `random` on */
CSV_INLINE uint64_t
csv_hash_seed(uint64_t random)
{
	/* these are all factors of 2^64 - 1 */
	while (random % 3 == 0 || random % 5 == 0 || random % 17 == 0 ||
		   random % 257 == 0 || random % 641 == 0 || random % 65537 == 0 ||
		   random % 6700417 == 0)
		random++;
	return random;
}

/*
 * A seed that the writer of a file cannot know: otherwise the writer could choose keys
 * that all meet in one slot.  If the system has no random bytes, the seed is made of
 * the clock and of `place`, an address in the table.
 */
extern uint64_t csv_random_seed(const void *place);

CSV_INLINE uint64_t
csv_hash_word(uint64_t seed, uint64_t hash, uint64_t word)
{
	uint64_t	low;
	uint64_t	high = csv_multiply(hash ^ word, seed, &low);

	/* 2^64 is 1 modulo 2^64 - 1: a carry out of the sum adds 1 */
	low += high;
	low += low < high;
	return low ^ low >> 32;
}

/* the word for NULL comes from the seed, so that a value has it only by chance */
CSV_INLINE uint64_t
csv_hash_null(uint64_t seed, uint64_t hash)
{
	return csv_hash_word(seed, hash, seed >> 1);
}

CSV_INLINE uint64_t
csv_hash_wide(uint64_t seed, uint64_t hash, CsvUint128 value)
{
	return csv_hash_word(seed, csv_hash_word(seed, hash, (uint64_t) value),
						 (uint64_t) (value >> 64));
}

/* the same bits for equal doubles: 0 for -0, one NaN for all */
CSV_INLINE uint64_t
csv_float_representative(double a)
{
	return a == 0 ? 0 : csv_float_is_nan(a) ? UINT64_C(0x7ff8) << 48 :
		csv_double_bits(a);
}

CSV_INLINE uint64_t
csv_hash_text(uint64_t seed, uint64_t hash, const uint8_t *text,
			  uint32_t length)
{
	uint32_t	pos = 0;

	hash = csv_hash_word(seed, hash, length);
	for (; length - pos > 8; pos += 8)
		hash = csv_hash_word(seed, hash, csv_load8(text + pos));
	return csv_hash_word(seed, hash, csv_load_some(text + pos, length - pos));
}

#ifdef __cplusplus
}
#endif

#endif							/* CSV_OPERATE_H */
