/*
 * lanes.c
 *		Converts datums to values of lanes, and back.
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "compat.h"
#include "program/program.h"
#include "query/operate.h"
#include "reader/numbers.h"

bool
csv_decimal_of_numeric(Datum datum, int scale, CsvInt128 *value)
{
	const char *text =
		DatumGetCString(DirectFunctionCall1(numeric_out, datum));
	bool		negative = *text == '-';
	CsvInt128	beyond = negative ? -CSV_DECIMAL_BEYOND : CSV_DECIMAL_BEYOND;
	CsvInt128	sum = 0;
	int			nplaces = -1;	/* digits behind the point; -1: before it */
	bool		exact = true;

	text += negative;
	*value = beyond;
	if (!isdigit((unsigned char) *text))
		return false;			/* NaN, infinite */
	for (; *text != '\0' || nplaces < scale; text += *text != '\0')
	{
		int			digit = *text == '\0' ? 0 : *text - '0';

		if (*text == '.' || (*text == '\0' && nplaces < 0))
			nplaces = 0;
		else if (nplaces == scale)
			exact &= digit == 0;
		else
		{
			/* check first: a product beyond the limit may wrap */
			if (sum >= (CsvInt128) csv_power_of_ten(CSV_MAX_DECIMAL_DIGITS - 1))
				return false;
			sum = sum * 10 + digit;
			nplaces += nplaces >= 0;
		}
	}
	*value = !negative ? sum : exact ? -sum : -sum - 1;
	return exact;
}

static CsvUint128
uuid_lane(const unsigned char *bytes)
{
	CsvUint128	value = 0;

	for (int i = 0; i < UUID_LEN; i++)
		value = value << 8 | bytes[i];
	return value;
}

bool
csv_value_of_datum(const CsvRegister *reg, Datum datum, CsvValue *value)
{
	memset(value, 0, sizeof(*value));
	value->state = CSV_LANE_VALUE;
	switch (reg->type)
	{
		case BOOLOID:
			value->value.integer = DatumGetBool(datum);
			return true;
		case INT2OID:
			value->value.integer = DatumGetInt16(datum);
			return true;
		case INT4OID:
			value->value.integer = DatumGetInt32(datum);
			return true;
		case DATEOID:
			value->value.integer = DatumGetDateADT(datum);
			return true;
		case INT8OID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			value->value.integer = DatumGetInt64(datum);
			return true;
		case FLOAT4OID:
			value->value.real = DatumGetFloat4(datum);
			return true;
		case FLOAT8OID:
			value->value.real = DatumGetFloat8(datum);
			return true;
		case NUMERICOID:
			return csv_decimal_of_numeric(datum, reg->scale,
										  &value->value.decimal);
		case UUIDOID:
			value->value.uuid = uuid_lane(DatumGetUUIDP(datum)->data);
			return true;
		default:
			{
				struct varlena *text = PG_DETOAST_DATUM_PACKED(datum);

				value->bytes = (const uint8_t *) VARDATA_ANY(text);
				value->length = (uint32_t) VARSIZE_ANY_EXHDR(text);
				if (reg->type == BPCHAROID)
					while (value->length > 0 &&
						   value->bytes[value->length - 1] == ' ')
						value->length--;
				return true;
			}
	}
}

#define MOST_TWO_DIGITS			100000000

/* the header of a stored numeric, which ndigits digits follow */
static inline void
set_numeric_header(char *room, bool negative, int scale, int weight, int ndigits)
{
	uint16		header = (uint16) csv_numeric_header(negative, (uint32_t) scale,
													 weight);

	SET_VARSIZE(room, VARHDRSZ + sizeof(header) + ndigits * sizeof(int16));
	*(uint16 *) (room + VARHDRSZ) = header;
}

/* at most six digits of base 10000: the value moves by up to three decimal places */
Datum
csv_short_numeric(int64_t value, int scale, char *room)
{
	static const uint32_t powers[] = {1, 1000, 100, 10};
	int16	   *digits = (int16 *) (room + VARHDRSZ + sizeof(uint16));
	bool		negative = value < 0;
	uint64_t	magnitude = negative ? -(uint64_t) value : (uint64_t) value;
	int			weight = -1 - (scale + 3) / 4;
	CsvUint128	rest;
	int16		reversed[6];
	int			ndigits = 0;
	int			nzeros = 0;

	StaticAssertStmt(VARHDRSZ + sizeof(uint16) + sizeof(reversed) <=
					 CSV_SHORT_NUMERIC_BYTES, "there is room for it");

	/* most have at most one digit of base 10000 on each side of the point */
	if (scale <= 4 && magnitude < MOST_TWO_DIGITS)
	{
		uint64_t	both = magnitude * (scale == 0 ? 10000 : powers[scale % 4]);

		if (both < MOST_TWO_DIGITS)
		{
			uint32_t	whole = (uint32_t) both / 10000;
			uint32_t	fraction = (uint32_t) both % 10000;

			digits[0] = (int16) (whole != 0 ? whole : fraction);
			digits[1] = (int16) fraction;
			set_numeric_header(room, negative, scale,
							   whole == 0 && fraction != 0 ? -1 : 0,
							   (whole != 0) + (fraction != 0));
			return PointerGetDatum(room);
		}
	}

	rest = (CsvUint128) magnitude * powers[scale % 4];
	while (rest >> 64 != 0)
	{
		reversed[ndigits++] = (int16) (rest % 10000);
		rest /= 10000;
	}
	for (uint64_t word = (uint64_t) rest; word != 0; word /= 10000)
		reversed[ndigits++] = (int16) (word % 10000);
	weight += ndigits;
	while (nzeros < ndigits && reversed[nzeros] == 0)
		nzeros++;
	if (nzeros == ndigits)
		weight = 0;
	for (int i = nzeros; i < ndigits; i++)
		digits[ndigits - 1 - i] = reversed[i];
	set_numeric_header(room, negative, scale, weight, ndigits - nzeros);
	return PointerGetDatum(room);
}

Datum
csv_numeric_of_wide(CsvWideSum wide, int scale, void *room)
{
	bool		negative = wide.high < 0;
	char		text[80];
	char	   *next = text + sizeof(text);
	int			ndigits = 0;

	if ((CsvInt128) wide.low == (int64_t) wide.low &&
		wide.high == ((int64_t) wide.low < 0 ? -1 : 0) &&
		scale <= CSV_SHORT_NUMERIC_SCALE)
		return csv_short_numeric((int64_t) wide.low, scale, room != NULL ? room :
								 palloc(CSV_SHORT_NUMERIC_BYTES));
	if (negative)
		wide = csv_wide_sum_negate(wide);
	uint64_t	word[3] = {
		(uint64_t) wide.low, (uint64_t) (wide.low >> 64), (uint64_t) wide.high
	};

	*--next = '\0';
	while (word[0] != 0 || word[1] != 0 || word[2] != 0 || ndigits <= scale)
	{
		CsvUint128	rest = 0;

		if (ndigits == scale && scale > 0)
			*--next = '.';
		for (int i = 2; i >= 0; i--)
		{
			rest = rest << 64 | word[i];
			word[i] = (uint64_t) (rest / 10);
			rest %= 10;
		}
		*--next = (char) ('0' + (int) rest);
		ndigits++;
	}
	if (negative)
		*--next = '-';
	return DirectFunctionCall3(numeric_in, CStringGetDatum(next),
							   ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

Datum
csv_numeric_shown(Datum numeric, int scale, int shown)
{
	char	   *zero;

	if (shown <= scale)
		return shown == scale ? numeric :
			DirectFunctionCall2(numeric_round, numeric, Int32GetDatum(shown));

	/* numeric_round() has a limit of 2,000 digits */
	zero = psprintf("0.%0*d", shown, 0);
	return DirectFunctionCall2(numeric_add, numeric,
							   DirectFunctionCall3(numeric_in,
												   CStringGetDatum(zero),
												   ObjectIdGetDatum(InvalidOid),
												   Int32GetDatum(-1)));
}

Datum
csv_numeric_of_decimal(CsvInt128 decimal, int scale, void *room)
{
	return csv_numeric_of_wide(csv_wide_sum_of(decimal), scale, room);
}

static Datum
text_datum(const CsvRegister *reg, const CsvValue *value)
{
	int			nblanks = 0;
	struct varlena *text;

	if (reg->type == BPCHAROID && reg->typmod >= (int32) VARHDRSZ)
		nblanks = Max(reg->typmod - (int32) VARHDRSZ -
					  pg_mbstrlen_with_len((const char *) value->bytes,
										   (int) value->length), 0);
	text = palloc(VARHDRSZ + value->length + nblanks);
	SET_VARSIZE(text, VARHDRSZ + value->length + nblanks);
	memcpy(VARDATA(text), value->bytes, value->length);
	memset(VARDATA(text) + value->length, ' ', nblanks);
	return PointerGetDatum(text);
}

Datum
csv_datum_of_value(const CsvRegister *reg, const CsvValue *value)
{
	switch (reg->type)
	{
		case BOOLOID:
			return BoolGetDatum(value->value.integer != 0);
		case INT2OID:
			return Int16GetDatum((int16) value->value.integer);
		case INT4OID:
			return Int32GetDatum((int32) value->value.integer);
		case DATEOID:
			return DateADTGetDatum((DateADT) value->value.integer);
		case INT8OID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return Int64GetDatum(value->value.integer);
		case FLOAT4OID:
			return Float4GetDatum((float4) value->value.real);
		case FLOAT8OID:
			return Float8GetDatum(value->value.real);
		case NUMERICOID:
			return csv_numeric_of_decimal(value->value.decimal, reg->scale, NULL);
		case UUIDOID:
			{
				pg_uuid_t  *uuid = palloc(sizeof(pg_uuid_t));
				CsvUint128	rest = value->value.uuid;

				for (int i = UUID_LEN - 1; i >= 0; i--)
				{
					uuid->data[i] = (unsigned char) rest;
					rest >>= 8;
				}
				return UUIDPGetDatum(uuid);
			}
		default:
			return text_datum(reg, value);
	}
}
