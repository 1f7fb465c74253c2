/*
 * test_fill.c
 *		Every instruction set and any number of threads make the same arrays, of
 *		values that are as the fast ways expect them or nearly so.
 *
 * SWAR, which takes every value by itself, is what the others are compared
 * with; the differential test and test_convert.c compare that one with
 * references.
 */
#include "unit.h"
#include "reading.h"
#include "rounds.h"

#define ROUNDS	600

#define MAX_ROWS	300
#define MAX_BYTES	(MAX_ROWS * 20 * 300)

/* ---- values ---- */

static char *
add_digits(char *at, uint32_t most)
{
	uint32_t	n = random_below(most + 1);

	if (one_in(8))
		while (n-- > 0)
			*at++ = one_in(2) ? '0' : '9';
	else
		while (n-- > 0)
			*at++ = (char) ('0' + random_below(10));
	return at;
}

static char *
add_sign(char *at)
{
	if (one_in(6))
		*at++ = one_in(4) ? '+' : '-';
	return at;
}

static char *
add_date(char *at)
{
	static const int years[] = {0, 1, 1900, 1999, 2000, 2004, 2100, 9999};
	int			year = one_in(2) ? years[random_below(8)] :
		(int) random_below(10000);

	return at + sprintf(at, "%04d-%02d-%02d", year,
						one_in(3) ? 2 : (int) random_below(14),
						(int) (one_in(3) ? 28 + random_below(5) :
							   random_below(33)));
}

/* a date by the column's pattern */
static char *
add_by_pattern(char *at, const CsvColumn *column)
{
	static const char *const months[] = {
		"Jan", "feb", "MAR", "Apr", "may", "JUN", "Jul", "aug", "SEP", "Oct", "nov", "DEC", "Ja"
	};

	for (const uint8_t *step = column->pattern; *step != CSV_STEP_END; step++)
		switch (*step)
		{
			case CSV_STEP_YEAR:
				at += sprintf(at, "%04u", one_in(2) ? 1990 + random_below(20) : random_below(10000));
				break;
			case CSV_STEP_SHORT_YEAR:
				at += sprintf(at, "%02u", random_below(100));
				break;
			case CSV_STEP_MONTH:
				at += sprintf(at, "%0*u", one_in(20) ? 1 : 2, random_below(one_in(4) ? 14 : 12) + 1);
				break;
			case CSV_STEP_DAY:
				at += sprintf(at, "%0*u", one_in(20) ? 1 : 2, random_below(one_in(4) ? 33 : 28) + 1);
				break;
			case CSV_STEP_SHORT_MONTH_NAME:
				at = stpcpy(at, months[random_below(one_in(10) ? 13 : 12)]);
				break;
			default:
				*at++ = (char) (one_in(100) ? '+' : *step);
				break;
		}
	return at;
}

/* up to four groups of digits */
static char *
add_groups(char *at, char separator)
{
	if (!one_in(30))
		at += sprintf(at, "%u", random_below(one_in(10) ? 2000 : 1000));
	for (uint32_t n = random_below(one_in(4) ? 5 : 3); n > 0; n--)
		at += sprintf(at, "%c%0*u", one_in(50) ? '.' : separator, one_in(50) ? 2 : 3, random_below(1000));
	return at;
}

/* with the first nothers of the strings that are not plain ASCII */
static char *
add_text(char *at, uint32_t most, uint32_t nothers)
{
	static const char *others[] = {
		"\"\"", "\"", "'", "\xC3\xA4", "\xE6\x9D\xB1", "\xF0\x9F\x98\x80",
		"\xFF", "\xC3", "\\\\", "\\\"", "  ", "\x7F"
	};
	uint32_t	n = random_below(most + 1);
	uint32_t	every = 1 + random_below(20);

	for (uint32_t i = 0; i < n; i++)
	{
		if (nothers > 0 && one_in(every))
		{
			const char *other = others[random_below(nothers)];

			at = stpcpy(at, other);
		}
		else
			*at++ = (char) ('a' + random_below(26));
	}
	return at;
}

static char *
add_value(char *at, const CsvColumn *column, uint32_t most_text)
{
	char	   *start = at;
	char	   *end;
	uint32_t	how = random_below(100);
	uint32_t	nothers = one_in(2) ? 0 : one_in(3) ? 12 : 1 + one_in(4);
	bool		quoted = one_in(4);

	if (how < 4)
		return at;				/* perhaps NULL */
	if (how < 8)
		return stpcpy(at, how < 6 ? "12" : "\"\"");
	if (quoted)
		*at++ = '"';
	switch (column->kind)
	{
		case CSV_KIND_DATE:
			end = column->pattern[0] != CSV_STEP_END && !one_in(20) ?
				add_by_pattern(at, column) : add_date(at);
			break;
		case CSV_KIND_NUMERIC:
		case CSV_KIND_DECIMAL64:
		case CSV_KIND_SCALED:
			end = add_sign(at);
			end = column->thousands != 0 && !one_in(3) ?
				add_groups(end, (char) column->thousands) :
				add_digits(end, one_in(4) ? 12 : 6);
			if (!one_in(5))
			{
				*end++ = one_in(20) ? ',' : '.';
				end = one_in(3) ? add_digits(end, 5) :
					end + sprintf(end, "%0*u", column->scale == 0 ? 1 :
								  column->scale, random_below(10));
			}
			break;
		case CSV_KIND_TEXT:
			end = add_text(at, column->type_chars > 0 && !one_in(20) ?
						   (uint32_t) column->type_chars :
						   column->byte_width > 0 && !one_in(20) ?
						   (uint32_t) column->byte_width : most_text, nothers);
			break;
		default:
			end = add_sign(at);
			end = column->thousands != 0 && !one_in(3) ?
				add_groups(end, (char) column->thousands) :
				add_digits(end, one_in(4) ? 20 : 10);
			break;
	}
	/* a byte that does not belong, now and then */
	if (one_in(40) && end > at)
		at[random_below((uint32_t) (end - at))] =
			"+-.,:/ x\x80\x01;0"[random_below(12)];
	at = end;
	if (quoted)
		*at++ = '"';
	if (one_in(60))
		*at++ = one_in(2) ? ' ' : '"';
	/* a field's delimiters would make most records bad */
	for (char *p = start; p < at; p++)
		if (*p == ',' && !quoted)
			*p = ';';
	return at;
}

/* ---- layouts ---- */

/* a year, a month and a day in any order, with what may stand between them */
static void
random_pattern(CsvColumn *column)
{
	static const uint8_t orders[][3] = {{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {2, 0, 1}, {0, 2, 1}};
	const uint8_t elements[] = {
		CSV_STEP_DAY,
		one_in(3) ? CSV_STEP_SHORT_MONTH_NAME : CSV_STEP_MONTH,
		one_in(3) ? CSV_STEP_SHORT_YEAR : CSV_STEP_YEAR
	};
	const uint8_t *order = orders[random_below(5)];
	const uint8_t between = (uint8_t) "/-. /-"[random_below(6)];
	uint32_t	nbetween = one_in(4) ? random_below(4) : 1;
	uint8_t    *at = column->pattern;

	if (one_in(10))
		*at++ = between;
	for (uint32_t i = 0; i < 3; i++)
	{
		*at++ = elements[order[i]];
		for (uint32_t n = i < 2 ? nbetween : one_in(10); n > 0; n--)
			*at++ = between;
	}
	*at = CSV_STEP_END;
}

static CsvColumn
random_column(uint32_t field)
{
	static const CsvKind kinds[] = {
		CSV_KIND_TEXT, CSV_KIND_TEXT, CSV_KIND_INT2, CSV_KIND_INT4,
		CSV_KIND_INT8, CSV_KIND_NUMERIC, CSV_KIND_NUMERIC, CSV_KIND_DATE,
		CSV_KIND_DECIMAL64, CSV_KIND_DECIMAL64, CSV_KIND_SCALED, CSV_KIND_SCALED
	};
	static const int16_t precisions[] = {3, 5, 9, 10, 12, 15, 15, 20};
	static const int16_t scales[] = {2, 0, 1, 2, 3, 4, 2, 6};
	static const int32_t widths[] = {1, 1, 3, 4, 5, 10, 25, 80};
	CsvColumn	column = column_of(kinds[random_below(12)], field);
	uint32_t	pick = random_below(8);

	if (column.kind == CSV_KIND_NUMERIC && !one_in(8))
	{
		column.precision = precisions[pick];
		column.scale = scales[pick];
	}
	else if (column.kind == CSV_KIND_NUMERIC)
		column.scale = 0;
	if (column.kind == CSV_KIND_DECIMAL64)
	{
		column.precision = precisions[pick] < 18 ? precisions[pick] : 18;
		column.scale = scales[pick];
	}
	if (column.kind == CSV_KIND_DATE && !one_in(3))
		random_pattern(&column);
	else if (column.kind != CSV_KIND_TEXT && one_in(2))
		column.thousands = (uint8_t) "_' "[random_below(3)];
	if (column.kind == CSV_KIND_TEXT && !one_in(3))
	{
		column.type_chars = widths[pick];
		column.pad_blanks = one_in(2);
	}
	if (one_in(8))
		column.max_chars = (int32_t) random_below(30) + 1;
	if (one_in(8))
		column.byte_width = (int32_t) random_below(6) * 4 + 4;
	column.force_not_null = one_in(12);
	column.force_null = one_in(20);
	return column;
}

static void
compare_with_swar(Reading *reading, const char *file, size_t nbytes)
{
	static const struct
	{
		CsvIsa		isa;
		uint32_t	threads;	/* that take pieces of a stream, */
		int			nreaders;	/* or of a file, which so many may read */
	}			engines[] = {
		{CSV_ISA_AVX2, 1, 0}, {CSV_ISA_AVX512, 1, 0}, {CSV_ISA_SWAR, 3, 0},
		{CSV_ISA_BEST, 2, 0}, {CSV_ISA_BEST, 5, 0}, {CSV_ISA_BEST, 3, 2}
	};
	char	   *expected;

	reading->isa = CSV_ISA_SWAR;
	reading->threads = 1;
	reading->nthreads = 0;
	reading_run(reading, (const uint8_t *) file, nbytes);
	expected = reading->text;
	for (size_t e = 0; e < sizeof(engines) / sizeof(engines[0]); e++)
	{
		size_t		at = 0;

		if (!reading_has_isa(engines[e].isa))
			continue;
		reading->isa = engines[e].isa;
		/* vectors take eight rows of a part, and leave the rest */
		reading->part_bytes = one_in(4) ? 1 : 100 + random_below(20000);
		reading->threads = engines[e].threads;
		reading->nthreads = engines[e].nreaders;
		reading_run(reading, (const uint8_t *) file, nbytes);
		while (reading->text[at] != '\0' && reading->text[at] == expected[at])
			at++;
		if (reading->text[at] != expected[at])
			fail_msg("isa %d, %u threads, %d ahead, from character %zu on: \"%.100s\", not \"%.100s\"",
					 (int) reading->isa, reading->threads, reading->nthreads,
					 at,
					 reading->text + (at > 20 ? at - 20 : 0),
					 expected + (at > 20 ? at - 20 : 0));
		free(reading->text);
	}
	free(expected);
}

TEST(each_isa_fills_the_same_arrays)
{
	const uint32_t nrounds = rounds(ROUNDS);
	char	   *file = malloc(MAX_BYTES);

	assert_non_null(file);
	for (uint64_t seed = first_seed(); seed < first_seed() + nrounds; seed++)
	{
		Reading		reading;
		CsvColumn	columns[20];
		CsvColumn	wanted[20];
		uint32_t	nwanted = 0;
		uint32_t	nfields;
		uint32_t	nrows;
		uint32_t	most_text;
		bool		crlf;
		char	   *at = file;

		start_seed(seed);
		nfields = 1 + random_below(19);
		nrows = random_below(MAX_ROWS);
		most_text = one_in(2) ? 6 : one_in(2) ? 40 : 150;
		crlf = one_in(3);
		for (uint32_t i = 0; i < nfields; i++)
		{
			columns[i] = random_column(i);
			if (!one_in(6))
				wanted[nwanted++] = columns[i];
		}
		for (uint32_t row = 0; row < nrows; row++)
		{
			for (uint32_t i = 0; i < nfields; i++)
			{
				at = add_value(at, &columns[i], most_text);
				*at++ = ',';
			}
			at--;
			/* sometimes a field less or more */
			if (one_in(200))
				at = stpcpy(at, one_in(2) ? "\n1" : ",1");
			if (crlf && !one_in(10))
				*at++ = '\r';
			*at++ = '\n';
		}
		reading_init(&reading, nfields);
		reading.layout.columns = wanted;
		reading.layout.ncolumns = nwanted;
		reading.layout.pad = one_in(4);
		reading.layout.has_default = one_in(20);
		if (one_in(4))
		{
			reading.layout.null_bytes = (const uint8_t *) "12";
			reading.layout.null_length = 2;
		}
		if (one_in(4))
			reading.layout.decimal_separator = ',';
		if (one_in(5))
			reading.layout.encoding = CSV_ENCODING_OTHER;
		if (one_in(4))
			reading.options.dialect.quoting = CSV_QUOTING_POSTGRES;
		if (one_in(8))
			reading.options.dialect.escape = '\\';
		else if (one_in(8))
			reading.options.dialect.quote = '\0';
		reading.options.chunk_bytes = one_in(2) ? 0 : 100 + random_below(5000);
		compare_with_swar(&reading, file, (size_t) (at - file));
	}
	end_seeds();
	free(file);
}
