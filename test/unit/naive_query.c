/*
 * naive_query.c
 *		A CsvQuery evaluated a row at a time: see naive_query.h.
 */
#include "naive_query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- exact numbers ---- */

static void
number_add_word(NaiveNumber *number, int place, uint64_t word, bool negative)
{
	if (negative)
	{
		for (int i = place; i < NAIVE_WORDS && word != 0; i++)
		{
			uint64_t	old = number->words[i];

			number->words[i] = (uint32_t) (old - (word & 0xffffffff));
			word = (word >> 32) + (old < (word & 0xffffffff));
		}
		return;
	}
	for (int i = place; i < NAIVE_WORDS && word != 0; i++)
	{
		uint64_t	sum = (uint64_t) number->words[i] + (word & 0xffffffff);

		number->words[i] = (uint32_t) sum;
		word = (word >> 32) + (sum >> 32);
	}
}

/* add +-magnitude x 2^exponent */
static void
number_add(NaiveNumber *number, unsigned __int128 magnitude, int exponent,
		   bool negative)
{
	int			bit = exponent - NAIVE_LOWEST;

	/* one bit after the other would do, too */
	for (; magnitude != 0; magnitude >>= 16, bit += 16)
		number_add_word(number, bit / 32,
						(uint64_t) (magnitude & 0xffff) << bit % 32, negative);
}

static void
number_add_double(NaiveNumber *number, double value)
{
	int			exponent;
	double		fraction = frexp(fabs(value), &exponent);

	number_add(number, (uint64_t) ldexp(fraction, 53), exponent - 53,
			   signbit(value));
}

static bool
number_is_negative(const NaiveNumber *number)
{
	return number->words[NAIVE_WORDS - 1] >> 31 != 0;
}

/* |exact - value| */
static NaiveNumber
number_distance(const NaiveNumber *exact, double value)
{
	NaiveNumber distance = *exact;

	number_add_double(&distance, -value);
	if (number_is_negative(&distance))
	{
		for (int i = 0; i < NAIVE_WORDS; i++)
			distance.words[i] = ~distance.words[i];
		number_add_word(&distance, 0, 1, false);
	}
	return distance;
}

static int
number_compare(const NaiveNumber *a, const NaiveNumber *b)
{
	for (int i = NAIVE_WORDS - 1; i >= 0; i--)
		if (a->words[i] != b->words[i])
			return a->words[i] < b->words[i] ? -1 : 1;
	return 0;
}

bool
naive_is_rounded(const NaiveNumber *exact, double rounded)
{
	NaiveNumber distance;

	if (isinf(rounded))
	{
		/* at least half a unit beyond the largest double */
		double		most = copysign(1, rounded) *
			1.7976931348623157e308;
		NaiveNumber limit;
		NaiveNumber half;

		memset(&half, 0, sizeof(half));
		number_add_double(&half, 0x1p970);
		limit = number_distance(exact, most);
		if (number_is_negative(exact) != (rounded < 0))
			return false;
		if (number_compare(&limit, &half) < 0)
			return false;

		/* and on the far side of it */
		distance = number_distance(exact, 0);
		memset(&half, 0, sizeof(half));
		number_add_double(&half, fabs(most));
		return number_compare(&distance, &half) > 0;
	}
	distance = number_distance(exact, rounded);
	for (int i = 0; i < 2; i++)
	{
		double		neighbour = nextafter(rounded, i == 0 ? HUGE_VAL :
										  -HUGE_VAL);
		NaiveNumber other;
		int			order;
		uint64_t	bits;

		if (isinf(neighbour))
			continue;
		other = number_distance(exact, neighbour);
		order = number_compare(&distance, &other);
		memcpy(&bits, &rounded, 8);
		if (order > 0 || (order == 0 && (bits & 1) != 0))
			return false;
	}
	return true;
}

/* ---- values ---- */

static CsvValue
make_bool(bool value)
{
	CsvValue	result;

	memset(&result, 0, sizeof(result));
	result.value.integer = value;
	return result;
}

static CsvValue
make_state(CsvLaneState state)
{
	CsvValue	result;

	memset(&result, 0, sizeof(result));
	result.state = (uint8_t) state;
	return result;
}

int
naive_compare(uint8_t lane, const CsvValue *a, const CsvValue *b)
{
	switch (lane)
	{
		case CSV_LANE_INT:
			return a->value.integer < b->value.integer ? -1 :
				a->value.integer > b->value.integer;
		case CSV_LANE_DECIMAL:
			return a->value.decimal < b->value.decimal ? -1 :
				a->value.decimal > b->value.decimal;
		case CSV_LANE_UUID:
			return a->value.uuid < b->value.uuid ? -1 :
				a->value.uuid > b->value.uuid;
		case CSV_LANE_FLOAT:
			if (isnan(a->value.real))
				return !isnan(b->value.real);
			if (isnan(b->value.real))
				return -1;
			return a->value.real < b->value.real ? -1 :
				a->value.real > b->value.real;
		default:
			for (uint32_t i = 0; i < a->length && i < b->length; i++)
				if (a->bytes[i] != b->bytes[i])
					return a->bytes[i] < b->bytes[i] ? -1 : 1;
			return a->length < b->length ? -1 : a->length > b->length;
	}
}

bool
naive_equal(uint8_t lane, const CsvValue *a, const CsvValue *b)
{
	if (a->state != b->state)
		return false;
	return a->state != CSV_LANE_VALUE || naive_compare(lane, a, b) == 0;
}

static const __int128 most_decimal =
(__int128) INT64_C(1000000000000000000) * INT64_C(1000000000000000000) * 100;

static CsvValue
check_decimal(__int128 value, bool overflow)
{
	CsvValue	result = make_bool(false);

	if (overflow || value >= most_decimal || value <= -most_decimal)
		return make_state(CSV_LANE_UNDECIDED);
	result.value.decimal = value;
	return result;
}

static CsvValue
naive_arithmetic(const CsvInstruction *instruction, uint8_t lane,
				 const CsvValue *a, const CsvValue *b)
{
	int			operation = instruction->operation;
	CsvValue	result = make_bool(false);

	if (lane == CSV_LANE_INT)
	{
		__int128	x = a->value.integer;
		__int128	y = b->value.integer;
		__int128	most = ((__int128) 1 << (instruction->bits - 1)) - 1;

		if (y == 0 && (operation == CSV_OP_DIVIDE || operation == CSV_OP_MODULO))
			return make_state(CSV_LANE_UNDECIDED);
		x = operation == CSV_OP_ADD ? x + y : operation == CSV_OP_SUBTRACT ?
			x - y : operation == CSV_OP_MULTIPLY ? x * y :
			operation == CSV_OP_DIVIDE ? x / y : operation == CSV_OP_MODULO ? x % y : -x;
		if (operation == CSV_OP_MODULO)
			most = INT64_MAX;
		if (x > most || x < -most - 1)
			return make_state(CSV_LANE_UNDECIDED);
		result.value.integer = (int64_t) x;
		return result;
	}
	if (lane == CSV_LANE_DECIMAL)
	{
		__int128	x = a->value.decimal;
		__int128	y = b->value.decimal;
		__int128	z = -x;
		bool		overflow = false;

		if (operation == CSV_OP_ADD)
			overflow = __builtin_add_overflow(x, y, &z);
		else if (operation == CSV_OP_SUBTRACT)
			overflow = __builtin_sub_overflow(x, y, &z);
		else if (operation == CSV_OP_MULTIPLY)
			overflow = __builtin_mul_overflow(x, y, &z);
		return check_decimal(z, overflow);
	}

	/* of float4s, a result rounded twice is the one rounded once */
	bool		single = instruction->bits == 32;
	double		x = single ? (float) a->value.real : a->value.real;
	double		y = single ? (float) b->value.real : b->value.real;
	volatile double z = operation == CSV_OP_ADD ? x + y :
		operation == CSV_OP_SUBTRACT ? x - y :
		operation == CSV_OP_MULTIPLY ? x * y : -x;

	if (single)
		z = (float) z;
	if (operation != CSV_OP_NEGATE &&
		((isinf(z) && !isinf(x) && !isinf(y)) ||
		 (operation == CSV_OP_MULTIPLY && z == 0 && x != 0 && y != 0)))
		return make_state(CSV_LANE_UNDECIDED);
	result.value.real = z;
	return result;
}

static const CsvInstruction *
writer_of(const CsvQuery *query, uint16_t number)
{
	for (uint32_t i = 0; i < query->ninstructions; i++)
		if (query->instructions[i].result == number)
			return &query->instructions[i];
	abort();
}

/* the lane of a register */
static uint8_t
lane_of(const CsvQuery *query, uint16_t number)
{
	const CsvInstruction *instruction = writer_of(query, number);

	switch (instruction->operation)
	{
		case CSV_OP_ADD:
		case CSV_OP_SUBTRACT:
		case CSV_OP_MULTIPLY:
		case CSV_OP_NEGATE:
			return lane_of(query, instruction->a);
		case CSV_OP_CHOOSE:
			return lane_of(query, instruction->b);
		case CSV_OP_COLUMN:
		case CSV_OP_CONSTANT:
			return instruction->lane;
		case CSV_OP_RESCALE:
		case CSV_OP_INT_TO_DECIMAL:
			return CSV_LANE_DECIMAL;
		case CSV_OP_INT_TO_FLOAT:
			return CSV_LANE_FLOAT;
		case CSV_OP_LOWER:
		case CSV_OP_UPPER:
			return CSV_LANE_TEXT;
		default:
			return CSV_LANE_INT;
	}
}

static CsvValue
constant_of(const CsvQuery *query, uint32_t number)
{
	const CsvConstant *constant = &query->constants[number];
	CsvValue	value = make_bool(false);

	if (constant->undecided)
		return make_state(CSV_LANE_UNDECIDED);
	if (constant->isnull)
		return make_state(CSV_LANE_NULL);
	if (constant->lane == CSV_LANE_TEXT)
	{
		value.bytes = query->text + constant->offset;
		value.length = constant->length;
	}
	else
		memcpy(&value.value, &constant->value, sizeof(value.value));
	return value;
}

/* from these bytes on, to the ends of both */
static bool
text_like(const CsvValue *text, uint32_t i, const CsvValue *pattern, uint32_t j)
{
	if (j == pattern->length)
		return i == text->length;
	if (pattern->bytes[j] == '%')
		return text_like(text, i, pattern, j + 1) ||
			(i < text->length && text_like(text, i + 1, pattern, j));
	return i < text->length && text->bytes[i] == pattern->bytes[j] &&
		text_like(text, i + 1, pattern, j + 1);
}

/* its bytes are never freed */
static CsvValue
fold_text(bool lower, CsvValue text)
{
	static struct Folded
	{
		struct Folded *next;
		uint8_t		bytes[];
	}		   *all_folded;
	struct Folded *folded = malloc(sizeof(*folded) + text.length);

	folded->next = all_folded;
	all_folded = folded;
	for (uint32_t i = 0; i < text.length; i++)
	{
		uint8_t		c = text.bytes[i];

		if (c >= 128)
			return make_state(CSV_LANE_UNDECIDED);
		folded->bytes[i] = lower && c >= 'A' && c <= 'Z' ? (uint8_t) (c + 32) :
			!lower && c >= 'a' && c <= 'z' ? (uint8_t) (c - 32) : c;
	}
	text.bytes = folded->bytes;
	return text;
}

static bool
text_matches(int operation, const CsvValue *text, const CsvValue *pattern)
{
	uint32_t	first = 0;
	uint32_t	last;

	if (operation == CSV_OP_LIKE)
		return text_like(text, 0, pattern, 0);
	if (pattern->length > text->length)
		return false;
	last = text->length - pattern->length;
	if (operation == CSV_OP_STARTS_WITH)
		last = 0;
	else if (operation == CSV_OP_ENDS_WITH)
		first = last;
	for (uint32_t i = first; i <= last; i++)
	{
		uint32_t	n = 0;

		while (n < pattern->length && text->bytes[i + n] == pattern->bytes[n])
			n++;
		if (n == pattern->length)
			return true;
	}
	return false;
}

/* by the C library's calendar */
static CsvValue
naive_date_part(int64_t date, int64_t part)
{
	CsvValue	result = make_bool(false);
	int64_t    *value = &result.value.integer;
	time_t		seconds;
	struct tm	parts;
	char		text[8];

	if (date < -2451545 || date >= 106751983)
		return make_state(CSV_LANE_UNDECIDED);
	seconds = (date + 10957) * 86400;
	gmtime_r(&seconds, &parts);
	strftime(text, sizeof(text), "%V", &parts);
	switch (part)
	{
		case CSV_PART_EPOCH:
			*value = seconds;
			return result;
		case CSV_PART_QUARTER:
			*value = parts.tm_mon / 3 + 1;
			return result;
		case CSV_PART_MONTH:
			*value = parts.tm_mon + 1;
			return result;
		case CSV_PART_DAY:
			*value = parts.tm_mday;
			return result;
		case CSV_PART_DAY_OF_YEAR:
			*value = parts.tm_yday + 1;
			return result;
		case CSV_PART_DAY_OF_WEEK:
			*value = parts.tm_wday;
			return result;
		case CSV_PART_ISO_DAY_OF_WEEK:
			*value = parts.tm_wday == 0 ? 7 : parts.tm_wday;
			return result;
		case CSV_PART_WEEK:
			*value = atoi(text);
			return result;
		case CSV_PART_YEAR:
		case CSV_PART_ISO_YEAR:
			*value = parts.tm_year + 1900;
			if (part == CSV_PART_ISO_YEAR && parts.tm_mon == 0 && atoi(text) > 50)
				(*value)--;
			if (part == CSV_PART_ISO_YEAR && parts.tm_mon == 11 && atoi(text) == 1)
				(*value)++;
			*value -= *value <= 0;
			return result;
		default:
			parts.tm_mon = parts.tm_mon / 3 * 3;
			parts.tm_mday = 1;
			*value = date - (timegm(&parts) / 86400 - 10957) + 1;
			return result;
	}
}

/* an operation of values that are neither NULL nor undecided */
static CsvValue
naive_operation(const CsvQuery *query, const CsvInstruction *instruction,
				uint8_t lane, CsvValue a, CsvValue b)
{
	int			operation = instruction->operation;
	CsvValue	result = make_bool(false);

	switch (operation)
	{
		case CSV_OP_ADD:
		case CSV_OP_SUBTRACT:
		case CSV_OP_MULTIPLY:
		case CSV_OP_DIVIDE:
		case CSV_OP_MODULO:
		case CSV_OP_NEGATE:
			return naive_arithmetic(instruction, lane, &a, &b);
		case CSV_OP_RESCALE:
			{
				__int128	value = a.value.decimal;

				for (uint32_t i = 0; i < instruction->operand; i++)
				{
					if (__builtin_mul_overflow(value, 10, &value))
						return make_state(CSV_LANE_UNDECIDED);
				}
				return check_decimal(value, false);
			}
		case CSV_OP_INT_TO_DECIMAL:
			result.value.decimal = a.value.integer;
			return result;
		case CSV_OP_INT_TO_FLOAT:
			if (instruction->bits == 32)
				result.value.real = (float) a.value.integer;
			else
				result.value.real = (double) a.value.integer;
			return result;
		case CSV_OP_DATE_TO_TIMESTAMP:
			if (a.value.integer == INT32_MIN)
				result.value.integer = INT64_MIN;
			else if (a.value.integer == INT32_MAX)
				result.value.integer = INT64_MAX;
			else if (a.value.integer >= 106751983 ||
					 a.value.integer < -2451545)
				return make_state(CSV_LANE_UNDECIDED);
			else
				result.value.integer = a.value.integer * 24 * 3600 * 1000000;
			return result;
		case CSV_OP_TIMESTAMP_TO_DATE:
			result.value.integer = a.value.integer == INT64_MIN ? INT32_MIN :
				a.value.integer == INT64_MAX ? INT32_MAX :
				(int64_t) floorl((long double) a.value.integer / 86400 / 1000000);
			return result;
		case CSV_OP_TIMESTAMP_TO_TIME:
			if (a.value.integer == INT64_MIN || a.value.integer == INT64_MAX)
				return make_state(CSV_LANE_UNDECIDED);
			result.value.integer = (a.value.integer % INT64_C(86400000000) +
									INT64_C(86400000000)) % INT64_C(86400000000);
			return result;
		case CSV_OP_DATE_PART:
			return naive_date_part(a.value.integer, b.value.integer);
		case CSV_OP_EQUAL:
			return make_bool(naive_compare(lane, &a, &b) == 0);
		case CSV_OP_NOT_EQUAL:
			return make_bool(naive_compare(lane, &a, &b) != 0);
		case CSV_OP_LESS:
			return make_bool(naive_compare(lane, &a, &b) < 0);
		case CSV_OP_LESS_EQUAL:
			return make_bool(naive_compare(lane, &a, &b) <= 0);
		case CSV_OP_GREATER:
			return make_bool(naive_compare(lane, &a, &b) > 0);
		case CSV_OP_GREATER_EQUAL:
			return make_bool(naive_compare(lane, &a, &b) >= 0);
		case CSV_OP_IN:
			for (uint32_t i = 0; i < instruction->count; i++)
			{
				b = constant_of(query, instruction->operand + i);
				if (naive_compare(lane, &a, &b) == 0)
					return make_bool(true);
			}
			return (instruction->flags & CSV_FLAG_LIST_NULL) != 0 ?
				make_state(CSV_LANE_NULL) : make_bool(false);
		case CSV_OP_STARTS_WITH:
		case CSV_OP_ENDS_WITH:
		case CSV_OP_CONTAINS:
		case CSV_OP_LIKE:
			return b.state != CSV_LANE_VALUE ? b :
				make_bool(text_matches(operation, &a, &b));
		case CSV_OP_LOWER:
		case CSV_OP_UPPER:
			return fold_text(operation == CSV_OP_LOWER, a);
		case CSV_OP_NOT:
			return make_bool(a.value.integer == 0);
		default:
			abort();
	}
}

CsvValue
naive_value(const CsvQuery *query, const NaiveTable *table, uint32_t row,
			uint16_t number)
{
	const CsvInstruction *instruction = writer_of(query, number);
	int			operation = instruction->operation;
	CsvValue	result = make_bool(false);
	CsvValue	a;
	CsvValue	b;
	uint8_t		lane;

	if (operation == CSV_OP_COLUMN)
	{
		result = table->values[(size_t) row * table->ncolumns +
							   instruction->operand];
		if (result.state == CSV_LANE_VALUE &&
			(instruction->flags & CSV_FLAG_TRIM) != 0)
			while (result.length > 0 && result.bytes[result.length - 1] == ' ')
				result.length--;
		if ((instruction->flags & CSV_FLAG_SHOWN) != 0)
			result.value.integer = result.length;
		return result;
	}
	if (operation == CSV_OP_CONSTANT)
		return constant_of(query, instruction->operand);

	a = naive_value(query, table, row, instruction->a);
	lane = lane_of(query, instruction->a);
	if (a.state == CSV_LANE_UNDECIDED)
		return a;
	switch (operation)
	{
		case CSV_OP_AND:
		case CSV_OP_OR:
			if (a.state == CSV_LANE_VALUE &&
				(a.value.integer != 0) == (operation == CSV_OP_OR))
				return a;
			b = naive_value(query, table, row, instruction->b);
			if (b.state == CSV_LANE_UNDECIDED ||
				(b.state == CSV_LANE_VALUE &&
				 (b.value.integer != 0) == (operation == CSV_OP_OR)))
				return b;
			return a.state == CSV_LANE_NULL ? a : b;
		case CSV_OP_CHOOSE:
			return naive_value(query, table, row,
							   a.state == CSV_LANE_VALUE &&
							   a.value.integer != 0 ? instruction->b :
							   instruction->c);
		case CSV_OP_IS_NULL:
			return make_bool(a.state == CSV_LANE_NULL);
		case CSV_OP_IS_NOT_NULL:
			return make_bool(a.state != CSV_LANE_NULL);
		case CSV_OP_IS_TRUE:
			return make_bool(a.state == CSV_LANE_VALUE && a.value.integer != 0);
		case CSV_OP_IS_FALSE:
			return make_bool(a.state == CSV_LANE_VALUE && a.value.integer == 0);
		case CSV_OP_ADD:
		case CSV_OP_SUBTRACT:
		case CSV_OP_MULTIPLY:
		case CSV_OP_DIVIDE:
		case CSV_OP_MODULO:
		case CSV_OP_DATE_PART:
		case CSV_OP_EQUAL:
		case CSV_OP_NOT_EQUAL:
		case CSV_OP_LESS:
		case CSV_OP_LESS_EQUAL:
		case CSV_OP_GREATER:
		case CSV_OP_GREATER_EQUAL:
			b = naive_value(query, table, row, instruction->b);
			if (b.state == CSV_LANE_UNDECIDED)
				return b;
			if (a.state == CSV_LANE_NULL || b.state == CSV_LANE_NULL)
				return make_state(CSV_LANE_NULL);
			break;
		case CSV_OP_STARTS_WITH:
		case CSV_OP_ENDS_WITH:
		case CSV_OP_CONTAINS:
		case CSV_OP_LIKE:
			b = constant_of(query, instruction->operand);
			if (b.state == CSV_LANE_UNDECIDED)
				return b;
			if (a.state == CSV_LANE_NULL)
				return a;
			break;
		default:
			b = a;
			if (a.state == CSV_LANE_NULL)
				return a;
			break;
	}
	return naive_operation(query, instruction, lane, a, b);
}

/* ---- rows and groups ---- */

static void
naive_aggregate(const CsvAggregate *aggregate, NaiveAggregate *kept,
				const CsvValue *value)
{
	int			order;

	switch (aggregate->kind)
	{
		case CSV_AGGREGATE_COUNT_DISTINCT:
			for (int64_t i = 0; i < kept->count; i++)
				if (naive_equal(aggregate->lane, &kept->distinct[i], value))
					return;
			kept->distinct = realloc(kept->distinct, (size_t) (kept->count + 1) *
									 sizeof(CsvValue));
			kept->distinct[kept->count] = *value;
			break;
		case CSV_AGGREGATE_SUM:
			if (aggregate->lane == CSV_LANE_FLOAT)
			{
				double		real = value->value.real;

				kept->only_minus_zeros = (kept->count == 0 ||
										  kept->only_minus_zeros) &&
					real == 0 && signbit(real);
				kept->nan |= isnan(real);
				if (isinf(real))
					kept->infinity[real < 0] = true;
				else if (!isnan(real))
					number_add_double(&kept->sum, real);
			}
			else
			{
				__int128	number = aggregate->lane == CSV_LANE_INT ?
					value->value.integer : value->value.decimal;

				number_add(&kept->sum, number < 0 ?
						   -(unsigned __int128) number :
						   (unsigned __int128) number, 0, number < 0);
			}
			break;
		case CSV_AGGREGATE_SUM_SQUARES:
			if (aggregate->lane == CSV_LANE_FLOAT)
			{
				int			exponent;
				uint64_t	digits;

				kept->nan |= isnan(value->value.real);
				kept->infinity[0] |= isinf(value->value.real);
				if (!isfinite(value->value.real))
					break;
				digits = (uint64_t) ldexp(frexp(fabs(value->value.real),
												&exponent), 53);
				number_add(&kept->sum, (unsigned __int128) digits * digits,
						   2 * (exponent - 53), false);
			}
			else
			{
				__int128	number = aggregate->lane == CSV_LANE_INT ?
					value->value.integer : value->value.decimal;

				number_add(&kept->sum, (unsigned __int128) (number * number),
						   0, false);
			}
			break;
		case CSV_AGGREGATE_MIN:
		case CSV_AGGREGATE_MAX:
			order = kept->count == 0 ? 0 :
				naive_compare(aggregate->lane, value, &kept->extreme);
			if (order == 0 || (order < 0) == (aggregate->kind ==
											  CSV_AGGREGATE_MIN))
				kept->extreme = *value;
			break;
		default:
			break;
	}
	kept->count++;
}

/* a square that CSV_AGGREGATE_SUM_SQUARES does not take */
static bool
square_is_undecided(const CsvAggregate *aggregate, const CsvValue *value)
{
	if (aggregate->kind != CSV_AGGREGATE_SUM_SQUARES)
		return false;
	if (aggregate->lane == CSV_LANE_DECIMAL)
		return value->value.decimal >= INT64_C(1000000000000000000) ||
			value->value.decimal <= -INT64_C(1000000000000000000);
	return aggregate->lane == CSV_LANE_FLOAT && isfinite(value->value.real) &&
		value->value.real != 0 && (fabs(value->value.real) >= 0x1p511 ||
								   fabs(value->value.real) < 0x1p-480);
}

NaiveFate
naive_row(const CsvQuery *query, const NaiveTable *table, uint32_t row,
		  NaiveGroups *groups)
{
	CsvValue	keys[CSV_MAX_KEYS];
	CsvValue	arguments[16];
	NaiveGroup *group = NULL;

	for (uint32_t i = 0; i < query->nfilters; i++)
	{
		CsvValue	value = naive_value(query, table, row, query->filters[i]);

		if (value.state == CSV_LANE_UNDECIDED)
			return NAIVE_CAREFUL;
		if (value.state == CSV_LANE_NULL || value.value.integer == 0)
			return NAIVE_DROPPED;
	}
	if (!query->aggregates)
		return NAIVE_PASSES;
	for (uint32_t i = 0; i < query->nkeys; i++)
	{
		keys[i] = naive_value(query, table, row, query->keys[i].value);
		if (keys[i].state == CSV_LANE_UNDECIDED)
			return NAIVE_CAREFUL;
	}
	for (uint32_t i = 0; i < query->naggregates; i++)
	{
		const CsvAggregate *aggregate = &query->aggregate[i];

		arguments[i] = make_bool(true);
		if (aggregate->filter != CSV_NO_REGISTER)
		{
			CsvValue	filter = naive_value(query, table, row,
											 aggregate->filter);

			if (filter.state == CSV_LANE_UNDECIDED)
				return NAIVE_CAREFUL;
			if (filter.state == CSV_LANE_NULL || filter.value.integer == 0)
			{
				arguments[i].state = CSV_LANE_NULL;
				continue;
			}
		}
		if (aggregate->kind == CSV_AGGREGATE_COUNT_ROWS)
			continue;
		arguments[i] = naive_value(query, table, row, aggregate->argument);
		if (arguments[i].state == CSV_LANE_UNDECIDED ||
			(arguments[i].state == CSV_LANE_VALUE &&
			 square_is_undecided(aggregate, &arguments[i])))
			return NAIVE_CAREFUL;
	}

	for (uint32_t g = 0; g < groups->ngroups && group == NULL; g++)
	{
		group = &groups->groups[g];
		for (uint32_t i = 0; i < query->nkeys; i++)
			if (!naive_equal(query->keys[i].lane, &keys[i], &group->keys[i]))
			{
				group = NULL;
				break;
			}
	}
	if (group == NULL)
	{
		if (groups->ngroups == groups->capacity)
		{
			groups->capacity = groups->capacity * 2 + 16;
			groups->groups = realloc(groups->groups, groups->capacity *
									 sizeof(NaiveGroup));
		}
		group = &groups->groups[groups->ngroups++];
		memset(group, 0, sizeof(*group));
		memcpy(group->keys, keys, query->nkeys * sizeof(CsvValue));
	}
	for (uint32_t i = 0; i < query->naggregates; i++)
		if (arguments[i].state == CSV_LANE_VALUE)
			naive_aggregate(&query->aggregate[i], &group->aggregates[i],
							&arguments[i]);
	return NAIVE_PASSES;
}

void
naive_free(const CsvQuery *query, NaiveGroups *groups)
{
	for (uint32_t g = 0; g < groups->ngroups; g++)
		for (uint32_t i = 0; i < query->naggregates; i++)
			free(groups->groups[g].aggregates[i].distinct);
	free(groups->groups);
	memset(groups, 0, sizeof(*groups));
}
