/*
 * print_values.c
 *		What convert.h makes of a value, in the form of PostgreSQL's binary
 *		output, so that a test can compare it with the server's.
 *
 * Reads lines of a type name, a tab and the text of a value; prints the
 * hexadecimal digits that encode(TYPE_send(TEXT::TYPE), 'hex') gives, or ?
 * where the value is doubtful.  The types: bool, int2, int4, int8, float4,
 * float8, numeric, numeric(P,S), date, timestamp, timestamp(P), timestamptz,
 * timestamptz(P), uuid.
 */
#include <stdio.h>
#include <stdlib.h>

#include "convert.h"

static const struct
{
	const char *name;
	CsvKind		kind;
}			types[] = {
	{"bool", CSV_KIND_BOOL},
	{"int2", CSV_KIND_INT2},
	{"int4", CSV_KIND_INT4},
	{"int8", CSV_KIND_INT8},
	{"float4", CSV_KIND_FLOAT4},
	{"float8", CSV_KIND_FLOAT8},
	{"numeric", CSV_KIND_NUMERIC},
	{"date", CSV_KIND_DATE},
	{"timestamptz", CSV_KIND_TIMESTAMPTZ},
	{"timestamp", CSV_KIND_TIMESTAMP},
	{"uuid", CSV_KIND_UUID},
};

/* the column of a type's name, or false */
static bool
column_of_type(const char *type, CsvColumn *column)
{
	size_t		length = strcspn(type, "(");

	memset(column, 0, sizeof(*column));
	column->precision = -1;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
	{
		if (strlen(types[i].name) == length &&
			memcmp(types[i].name, type, length) == 0)
		{
			column->kind = types[i].kind;
			if (type[length] == '(')
			{
				char	   *end;

				column->precision = (int16_t) strtol(type + length + 1, &end, 10);
				if (*end == ',')
					column->scale = (int16_t) strtol(end + 1, NULL, 10);
			}
			return true;
		}
	}
	return false;
}

/* the nbytes of an integer, the highest first */
static void
print_number(uint64_t number, int nbytes)
{
	for (int i = nbytes - 1; i >= 0; i--)
		printf("%02x", (unsigned) (number >> (8 * i)) & 0xff);
}

/* numeric_send: number of digits, weight, sign, scale, digits */
static void
print_numeric(const uint8_t *entry)
{
	uint32_t	length;
	uint16_t	header;
	int			weight;

	memcpy(&length, entry, 4);
	memcpy(&header, entry + 4, 2);
	length >>= 2;
	weight = (header & 0x3f) - (header & 0x40);
	print_number((length - 6) / 2, 2);
	print_number((uint64_t) weight, 2);
	print_number((header & 0x2000) != 0 ? 0x4000 : 0, 2);
	print_number((header >> 7) & 0x3f, 2);
	for (uint32_t i = 6; i < length; i += 2)
		print_number(entry[i] | (unsigned) entry[i + 1] << 8, 2);
}

int
main(void)
{
	char	   *line = NULL;
	size_t		capacity = 0;
	ssize_t		length;

	while ((length = getline(&line, &capacity, stdin)) > 0)
	{
		CsvColumn	column;
		char	   *text;
		uint8_t    *copy;
		uint64_t	entry[8];
		uint32_t	stride;

		if (line[length - 1] == '\n')
			line[--length] = '\0';
		text = strchr(line, '\t');
		if (text == NULL)
			return 1;
		*text++ = '\0';
		if (!column_of_type(line, &column))
			return 1;
		length -= text - line;
		/* of its own, for the sanitizer to see reads beyond it */
		copy = malloc((size_t) length);
		if (copy == NULL && length > 0)
			return 1;
		if (length > 0)
			memcpy(copy, text, (size_t) length);
		stride = csv_value_stride(&column);
		if (!csv_convert_value(&column, '.', copy, (uint32_t) length,
							   (uint8_t *) entry, stride))
			printf("?");
		else if (column.kind == CSV_KIND_NUMERIC)
			print_numeric((const uint8_t *) entry);
		else if (column.kind == CSV_KIND_UUID)
		{
			for (int i = 0; i < 16; i++)
				printf("%02x", ((const uint8_t *) entry)[i]);
		}
		else
		{
			uint64_t	number = 0;

			memcpy(&number, entry, stride);
			print_number(number, (int) stride);
		}
		printf("\n");
		free(copy);
	}
	free(line);
	return 0;
}
