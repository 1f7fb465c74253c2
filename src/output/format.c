/*
 * format.c
 *		Values as text, as their types' output functions write them.
 *
 * Values of the types that engines convert are written straight into the output, without
 * memory of their own.  The functions that PostgreSQL's output functions use do so
 * where they can be called; a numeric's digits are written here.
 */
#include "postgres.h"

#include "common/shortest_dec.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "compat.h"
#include "output/format.h"

/* the bits of a numeric's header (numeric.c) */
#define NUMERIC_KIND		0xC000
#define NUMERIC_SHORT		0x8000
#define NUMERIC_SPECIAL		0xC000
#define NUMERIC_NEGATIVE	0x4000
#define NUMERIC_SHORT_NEGATIVE	0x2000

/* enough for all but texts and numerics */
#define CSV_VALUE_ROOM		(MAXDATELEN + 1)

/* by output functions, so that domains need nothing of their own */
static const struct
{
	Oid			function;
	CsvFormatWay way;
}			ways[] = {
	{F_TEXTOUT, CSV_FORMAT_TEXT},
	{F_VARCHAROUT, CSV_FORMAT_TEXT},
	{F_BPCHAROUT, CSV_FORMAT_TEXT},
	{F_JSON_OUT, CSV_FORMAT_TEXT},
	{F_NUMERIC_OUT, CSV_FORMAT_NUMERIC},
	{F_BOOLOUT, CSV_FORMAT_BOOL},
	{F_INT2OUT, CSV_FORMAT_INT2},
	{F_INT4OUT, CSV_FORMAT_INT4},
	{F_INT8OUT, CSV_FORMAT_INT8},
	{F_OIDOUT, CSV_FORMAT_OID},
	{F_FLOAT4OUT, CSV_FORMAT_FLOAT4},
	{F_FLOAT8OUT, CSV_FORMAT_FLOAT8},
	{F_UUID_OUT, CSV_FORMAT_UUID},
	{F_DATE_OUT, CSV_FORMAT_DATE},
	{F_TIMESTAMP_OUT, CSV_FORMAT_TIMESTAMP},
	{F_TIMESTAMPTZ_OUT, CSV_FORMAT_TIMESTAMPTZ}
};

void
csv_format_begin(CsvFormatted *column, Oid type)
{
	Oid			function;
	bool		is_varlena;

	getTypeOutputInfo(type, &function, &is_varlena);
	fmgr_info(function, &column->function);
	column->way = CSV_FORMAT_BY_FUNCTION;
	for (size_t i = 0; i < lengthof(ways); i++)
		if (ways[i].function == function)
			column->way = ways[i].way;
}

/* ---- digits ---- */

/* two digits of each number below 100 */
static const char pairs[] =
	"0001020304050607080910111213141516171819"
	"2021222324252627282930313233343536373839"
	"4041424344454647484950515253545556575859"
	"6061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

static inline char *
put_two(char *at, uint32 number)
{
	memcpy(at, pairs + 2 * number, 2);
	return at + 2;
}

/* digits of a number below 10000 */
static inline char *
put_four(char *at, uint32 number)
{
	at = put_two(at, number / 100);
	return put_two(at, number % 100);
}

/* without leading zeros */
static inline char *
put_first(char *at, uint32 number)
{
	char		digits[4];
	int			length = number >= 100 ? 3 + (number >= 1000) : 1 + (number >= 10);

	(void) put_four(digits, number);
	memcpy(at, digits + 4 - length, (size_t) length);
	return at + length;
}

/* only a toasted value costs a call */
static inline const struct varlena *
get_varlena(Datum value)
{
	struct varlena *varlena = (struct varlena *) DatumGetPointer(value);

	return VARATT_IS_COMPRESSED(varlena) || VARATT_IS_EXTERNAL(varlena) ?
		pg_detoast_datum_packed(varlena) : varlena;
}

/* ---- numerics ---- */

/* base-10000 digits of a numeric; weight: of the first digit */
typedef struct NumericDigits
{
	const char *digits;			/* of 2 bytes, perhaps not aligned */
	int			ndigits;
	int			weight;
	int			dscale;
	bool		negative;
} NumericDigits;

/* false for NaN and infinities */
static bool
get_digits(const struct varlena *value, NumericDigits *numeric)
{
	const char *data = VARDATA_ANY(value);
	int			length = (int) VARSIZE_ANY_EXHDR(value);
	uint16		header;
	int16		weight;

	memcpy(&header, data, sizeof(header));
	if ((header & NUMERIC_KIND) == NUMERIC_SPECIAL)
		return false;
	if ((header & NUMERIC_KIND) == NUMERIC_SHORT)
	{
		numeric->negative = (header & NUMERIC_SHORT_NEGATIVE) != 0;
		numeric->dscale = header >> 7 & 0x3f;
		numeric->weight = (header & 0x3f) - (header & 0x40);
		numeric->digits = data + sizeof(header);
	}
	else
	{
		memcpy(&weight, data + sizeof(header), sizeof(weight));
		numeric->negative = (header & NUMERIC_KIND) == NUMERIC_NEGATIVE;
		numeric->dscale = header & 0x3fff;
		numeric->weight = weight;
		numeric->digits = data + sizeof(header) + sizeof(weight);
	}
	numeric->ndigits = (int) ((data + length - numeric->digits) / sizeof(int16));
	return true;
}

/* the digit of a weight */
static inline uint32
digit_at(const NumericDigits *numeric, int weight)
{
	int			i = numeric->weight - weight;
	int16		digit = 0;

	if (i >= 0 && i < numeric->ndigits)
		memcpy(&digit, numeric->digits + (size_t) i * sizeof(digit), sizeof(digit));
	return (uint32) digit;
}

static bool
add_numeric(StringInfo output, Datum value)
{
	const struct varlena *varlena = get_varlena(value);
	NumericDigits numeric;
	char	   *at;

	if (!get_digits(varlena, &numeric))
		return false;
	at = csv_output_room(output, (size_t) Max(numeric.weight + 1, 1) * 4 +
						 (size_t) numeric.dscale + 8);
	if (numeric.negative)
		*at++ = '-';
	at = put_first(at, digit_at(&numeric, Max(numeric.weight, 0)));
	for (int weight = numeric.weight - 1; weight >= 0; weight--)
		at = put_four(at, digit_at(&numeric, weight));
	if (numeric.dscale > 0)
	{
		char	   *end = at + 1 + numeric.dscale;

		*at++ = '.';
		for (int weight = -1; at < end; weight--)
			at = put_four(at, digit_at(&numeric, weight));
		at = end;
	}
	output->len = (int) (at - output->data);
	return true;
}

/* ---- dates and times ---- */

static void
put_date(char *at, DateADT date)
{
	struct pg_tm tm;

	if (DATE_NOT_FINITE(date))
		EncodeSpecialDate(date, at);
	else
	{
		j2date(date + POSTGRES_EPOCH_JDATE, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
		EncodeDateOnly(&tm, DateStyle, at);
	}
}

/* false if it is out of range: the type's function raises the ERROR */
static bool
put_timestamp(char *at, Timestamp timestamp, bool with_zone)
{
	struct pg_tm tm;
	fsec_t		fsec;
	int			offset = 0;
	const char *zone = NULL;

	if (TIMESTAMP_NOT_FINITE(timestamp))
	{
		EncodeSpecialTimestamp(timestamp, at);
		return true;
	}
	if (timestamp2tm(timestamp, with_zone ? &offset : NULL, &tm, &fsec,
					 with_zone ? &zone : NULL, NULL) != 0)
		return false;
	EncodeDateTime(&tm, fsec, with_zone, offset, zone, DateStyle, at);
	return true;
}

/* ---- values ---- */

static size_t
put_uuid(char *at, const pg_uuid_t *uuid)
{
	static const char hex[] = "0123456789abcdef";
	char	   *start = at;

	for (int i = 0; i < UUID_LEN; i++)
	{
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*at++ = '-';
		*at++ = hex[uuid->data[i] >> 4];
		*at++ = hex[uuid->data[i] & 15];
	}
	return (size_t) (at - start);
}

/* write a value of ASCII, not as a field; false if only the type's function can */
static inline bool
add_plain(const CsvFormatted *column, Datum value, StringInfo output)
{
	char	   *at = csv_output_room(output, CSV_VALUE_ROOM);
	size_t		length;

	switch (column->way)
	{
		case CSV_FORMAT_NUMERIC:
			return add_numeric(output, value);
		case CSV_FORMAT_BOOL:
			*at = DatumGetBool(value) ? 't' : 'f';
			length = 1;
			break;
		case CSV_FORMAT_INT2:
			length = (size_t) pg_itoa(DatumGetInt16(value), at);
			break;
		case CSV_FORMAT_INT4:
			length = (size_t) pg_ltoa(DatumGetInt32(value), at);
			break;
		case CSV_FORMAT_INT8:
			length = (size_t) pg_lltoa(DatumGetInt64(value), at);
			break;
		case CSV_FORMAT_OID:
			length = (size_t) pg_ultoa_n(DatumGetObjectId(value), at);
			break;
		case CSV_FORMAT_FLOAT4:
			if (extra_float_digits <= 0)
				return false;
			length = (size_t) float_to_shortest_decimal_bufn(DatumGetFloat4(value), at);
			break;
		case CSV_FORMAT_FLOAT8:
			if (extra_float_digits <= 0)
				return false;
			length = (size_t) double_to_shortest_decimal_bufn(DatumGetFloat8(value), at);
			break;
		case CSV_FORMAT_UUID:
			length = put_uuid(at, DatumGetUUIDP(value));
			break;
		case CSV_FORMAT_DATE:
			put_date(at, DatumGetDateADT(value));
			length = strlen(at);
			break;
		case CSV_FORMAT_TIMESTAMP:
		case CSV_FORMAT_TIMESTAMPTZ:
			if (!put_timestamp(at, DatumGetTimestamp(value),
							   column->way == CSV_FORMAT_TIMESTAMPTZ))
				return false;
			length = strlen(at);
			break;
		default:
			return false;
	}
	output->len += length;
	return true;
}

/* write a value that is not NULL as a field */
static void
add_value(CsvFormatted *column, Datum value, StringInfo output,
		  const CsvOutputFormat *format)
{
	size_t		start = output->len;
	const char *bytes;

	if (column->way == CSV_FORMAT_TEXT)
	{
		const struct varlena *text = get_varlena(value);

		csv_output_field(output, format, VARDATA_ANY(text),
						 VARSIZE_ANY_EXHDR(text), column->force_quote);
	}
	else if (add_plain(column, value, output))
		csv_output_plain(output, format, start, column->force_quote);
	else
	{
		bytes = OutputFunctionCall(&column->function, value);
		csv_output_field(output, format, bytes, strlen(bytes), column->force_quote);
	}
}

void
csv_format_unquoted(CsvFormatted *column, Datum value, StringInfo output)
{
	if (column->way == CSV_FORMAT_TEXT)
	{
		const struct varlena *text = get_varlena(value);

		appendBinaryStringInfo(output, VARDATA_ANY(text), (int) VARSIZE_ANY_EXHDR(text));
	}
	else if (!add_plain(column, value, output))
		appendStringInfoString(output, OutputFunctionCall(&column->function, value));
}

void
csv_format_row(CsvFormatted *columns, int ncolumns, const Datum *values,
			   const bool *isnull, StringInfo output,
			   const CsvOutputFormat *format)
{
	for (int i = 0; i < ncolumns; i++)
	{
		CsvFormatted *column = &columns[i];

		if (i > 0)
			appendStringInfoCharMacro(output, format->delimiter);
		if (isnull[column->att])
			csv_output_null(output, format);
		else
			add_value(column, values[column->att], output, format);
	}
}

void
csv_format_header(const List *attnums, TupleDesc tupdesc, StringInfo output,
				  const CsvOutputFormat *format)
{
	ListCell   *cell;

	foreach(cell, attnums)
	{
		const char *name = NameStr(TupleDescAttr(tupdesc, lfirst_int(cell) - 1)->attname);

		if (foreach_current_index(cell) > 0)
			appendStringInfoCharMacro(output, format->delimiter);
		csv_output_field(output, format, name, strlen(name), false);
	}
}
