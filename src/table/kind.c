/*
 * kind.c
 *		How the engines must convert a column, by its type.
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "table/option.h"

/*
 * Engines pad char(n) up to this n.  With a larger n, a batch would be mostly blanks,
 * so the input function pads value by value.
 */
#define MAX_PADDED_CHARS	256

/*
 * The input function of numeric allows any scale from -1000 to 1000.  The engines only
 * know scales from 0 to the precision.
 */
static CsvKind
numeric_kind(int32 typmod, CsvColumn *out)
{
	int			precision;
	int			scale;

	if (typmod < (int32) VARHDRSZ)
		return CSV_KIND_NUMERIC;

	/* as packed by numerictypmodin(): the scale is a signed number of 11 bits */
	precision = ((typmod - VARHDRSZ) >> 16) & 0xffff;
	scale = (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
	if (scale < 0 || scale > precision)
		return CSV_KIND_CSTRING;
	out->precision = precision;
	out->scale = scale;
	return CSV_KIND_NUMERIC;
}

static CsvKind
type_kind(Oid type, int32 typmod, CsvColumn *out)
{
	switch (type)
	{
		case BOOLOID:
			return CSV_KIND_BOOL;
		case INT2OID:
			return CSV_KIND_INT2;
		case INT4OID:
			return CSV_KIND_INT4;
		case INT8OID:
			return CSV_KIND_INT8;
		case FLOAT4OID:
			return CSV_KIND_FLOAT4;
		case FLOAT8OID:
			return CSV_KIND_FLOAT8;
		case NUMERICOID:
			return numeric_kind(typmod, out);
		case DATEOID:
			return CSV_KIND_DATE;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			out->precision = typmod;
			return type == TIMESTAMPOID ?
				CSV_KIND_TIMESTAMP : CSV_KIND_TIMESTAMPTZ;
		case UUIDOID:
			return CSV_KIND_UUID;
		case TEXTOID:
			return CSV_KIND_TEXT;
		case VARCHAROID:
			if (typmod >= (int32) VARHDRSZ)
				out->type_chars = typmod - VARHDRSZ;
			return CSV_KIND_TEXT;
		case BPCHAROID:
			if (typmod < (int32) VARHDRSZ)
				return CSV_KIND_TEXT;
			out->type_chars = typmod - VARHDRSZ;
			out->pad_blanks = true;
			return out->type_chars <= MAX_PADDED_CHARS ?
				CSV_KIND_TEXT : CSV_KIND_CSTRING;
		default:
			return CSV_KIND_CSTRING;
	}
}

bool
csv_table_is_number(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID ||
		type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID;
}

/* if engines do not know a pattern, PostgreSQL converts the values */
static CsvKind
pattern_kind(const CsvTableColumn *column, CsvColumn *out)
{
	const CsvPattern *pattern = column->pattern;

	/*
	 * a timestamp's pattern needs a zone exactly if its type has; an epoch fits both
	 */
	if (pattern->steps[0] == CSV_STEP_END ||
		(pattern->epoch == 0 && column->type != DATEOID &&
		 pattern->has_zone != (column->type == TIMESTAMPTZOID)))
	{
		out->precision = -1;
		return CSV_KIND_CSTRING;
	}
	memcpy(out->pattern, pattern->steps, sizeof(out->pattern));
	return out->kind;
}

CsvKind
csv_table_kind(const CsvTableColumn *column, CsvColumn *out)
{
	memset(out, 0, sizeof(*out));
	out->field = Max(column->field, 0);
	out->attnum = column->attnum;
	out->force_null = column->force_null;
	out->force_not_null = column->force_not_null;
	out->max_chars = column->max_chars;
	out->byte_width = column->byte_width;
	out->type_chars = -1;
	out->precision = -1;
	out->kind = type_kind(column->type, column->typmod, out);
	if (column->pattern != NULL)
		out->kind = pattern_kind(column, out);
	out->thousands = column->thousands;
	return out->kind;
}
