/*
 * test_shapes.c
 *		Every engine against the reference reader, for files of shapes and sizes
 *		that the files of the differential tests do not have.
 *
 * EFFORT and SEED as rounds.h has them (compute-sanitizer wants few random
 * inputs).
 */
#include "unit.h"
#include "reading.h"
#include "rounds.h"

/* a tile of the CUDA engine's one-pass kernel */
#define TILE	(16 * 1024)

static Case test_case;
static Content file;

/*
 * What takes several windows of the CUDA engine is a twentieth of it where there
 * is no such engine, or only few rounds are asked for.
 */
static size_t
large(size_t n)
{
	TestEngine *engines;
	int			nengines = reading_engines(&engines);

	if (rounds(100) < 100 || strcmp(engines[nengines - 1].name, "cuda") != 0)
		return n / 20;
	return n;
}

static void
put(const char *string)
{
	content_string(&file, string);
}

static void
start_case(uint32_t nfields, const CsvKind *kinds, uint32_t nkinds)
{
	plain_case(&test_case, nfields, kinds, nkinds);
	file.nbytes = 0;
}

static void
check_case(void)
{
	TestEngine *engines;
	int			nengines = reading_engines(&engines);

	expect_as_reference(&test_case, &file, engines, nengines);
}

/* ---- tests ---- */

TEST(reads_every_kind_of_value)
{
	static const CsvKind kinds[] = {
		CSV_KIND_BOOL, CSV_KIND_INT2, CSV_KIND_INT4, CSV_KIND_INT8,
		CSV_KIND_FLOAT4, CSV_KIND_FLOAT8, CSV_KIND_NUMERIC, CSV_KIND_DATE,
		CSV_KIND_TIMESTAMP, CSV_KIND_TIMESTAMPTZ, CSV_KIND_UUID,
		CSV_KIND_TEXT, CSV_KIND_CSTRING};

	start_case(13, kinds, 13);
	test_case.columns[6].precision = 12;
	test_case.columns[6].scale = 2;
	put("t,1,-2,3,1.5,-2.25e3,12.345,2024-02-29,2024-02-29 12:34:56.789,2024-02-29 12:34:56+02,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,text,cstring\n"
		"\"f\",\"1\",\"-2\",\"3\",\"1.5\",\"1e5\",\"7\",\"2000-01-01\",\"2000-01-01 00:00\",\"2000-01-01 00:00Z\",\"a0eebc999c0b4ef8bb6d6bb9bd380a11\",\"te\"\"xt\",\"c\"\n"
		",,,,,,,,,,,,\n"
		"x,99999,x,1e3,nan,inf,NaN,infinity,now,now,1,,\"\"\n"
		"yes, 1,1 ,0x10,1e-400,1e400,1e10,1999-2-3,epoch,today,{},\xc3\xa9,\xe2\x82\xac\n"
		"1,2\n"
		"t,1,2,3,4,5,6,2020-01-01,2020-01-01,2020-01-01,x,a\xff,b\n"
		"t,1,2,3,4,5,6,2020-01-01,2020-01-01,2020-01-01,x,b,c");
	check_case();
	test_case.layout.pad = true;
	check_case();
	test_case.layout.encoding = CSV_ENCODING_OTHER;
	test_case.layout.has_default = true;
	test_case.default_bytes[0] = '1';
	test_case.layout.default_length = 1;
	check_case();
}

TEST(keeps_to_limits_and_types)
{
	CsvColumn  *columns = test_case.columns;

	start_case(3, NULL, 0);
	test_case.layout.ncolumns = 6;
	columns[0] = column_of(CSV_KIND_TEXT, 0);
	columns[0].type_chars = 4;
	columns[0].pad_blanks = true;
	columns[1] = column_of(CSV_KIND_CSTRING, 0);
	columns[1].byte_width = 8;
	columns[2] = column_of(CSV_KIND_TEXT, 1);
	columns[2].type_chars = 3;
	columns[3] = column_of(CSV_KIND_INT4, 1);
	columns[3].max_chars = 5;
	columns[4] = column_of(CSV_KIND_TEXT, 2);
	columns[4].type_chars = 2;
	columns[4].max_chars = 4;
	columns[5] = column_of(CSV_KIND_TEXT, 2);
	columns[5].force_null = true;
	put("ab,12,xy\n"
		"abcd    ,123,xy  \n"
		"abcd     ,123,xy\n"
		"abcde,12,xy\n"
		"\xc3\xa9\xc3\xa9,\"1  \",xyz\n"
		"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9  ,1,xyzab\n"
		"a,000001,\"\"\n"
		"a,1234,a\n"
		"a,\"a\"\"b\",\"a \"\" \"\n"
		"\"\"\"\"\"\"\"\",\"\"\"\"\"\"\"\",\"\"\"\"\"\"\"\"\n");
	content_put(&file, "a\0b,1,2\n", 8);
	put("\xf0\x9f\x98\x80,1\xf0\x9f\x98,2\n");
	check_case();
}

/* random files, over and over up to a length; of one tile and of several */
TEST(agrees_on_random_longer_inputs)
{
	const uint32_t nrounds = rounds(100);

	for (uint32_t i = 0; i < nrounds; i++)
	{
		Content		pieces[3] = {{NULL, 0, 0}};
		uint32_t	npieces;
		uint32_t	until;
		size_t		total = 0;
		Choices		choices;

		start_seed(first_seed() + i);
		npieces = 1 + random_below(3);
		until = 1 + random_below(1 + random_below(100000));
		choices = (Choices) {.state = next_random()};
		case_make(&test_case, &choices);
		for (uint32_t k = 0; k < npieces; k++)
		{
			content_make(&pieces[k], &test_case, &choices);
			total += pieces[k].nbytes;
		}
		file.nbytes = 0;
		while (file.nbytes < until && total > 0)
		{
			const Content *piece = &pieces[random_below(npieces)];

			content_put(&file, piece->bytes, piece->nbytes);
		}
		test_case.chunk_bytes = random_below(2) ? 1 << 20 :
			1 + until / 20 + random_below(2 * until);
		check_case();
		for (uint32_t k = 0; k < npieces; k++)
			content_free(&pieces[k]);
	}
	end_seeds();
}

/* a field of some length in one of eight shapes */
static void
put_long_field(void)
{
	static const char *const pieces[] = {
		" ", "  ", "a", "b", "cde", "12", "3.5", "-7", "NULL", "t",
		"2024-01-31", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xff",
	"\xe2\x82"};
	uint32_t	length = random_below(3) ? random_below(20) :
		random_below(random_below(3) ? 2000 : 60000);
	uint32_t	shape = random_below(8);
	bool		quoted = random_below(2);
	size_t		until;

	if (quoted)
		put("\"");
	until = file.nbytes + length;
	while (file.nbytes < until)
	{
		uint32_t	r = random_below(1000);

		if (shape == 0)
			put("0");
		else if (shape == 1)
			put(" ");
		else if (shape == 2)
			put("\xe2\x82\xac");
		else if (shape == 3 && quoted)
			put("\"\"");
		else if (shape == 4 && quoted && r < 100)
			put(r < 50 ? "\\\"" : "\\\\");
		else if (r < 4)
			put(pieces[random_below(LENGTH(pieces))]);
		else if (r == 5 && one_in(20))
			content_byte(&file, 0);
		else if (r == 6 && one_in(20))
			put("\xed\xa0\x80");
		else
			put("x");
	}
	if (one_in(4))
		content_repeat(&file, " ", random_below(100));
	if (quoted)
		put("\"");
}

/* long fields in each of their shapes, measured in pieces */
TEST(agrees_on_long_fields)
{
	static const CsvKind kinds[] = {CSV_KIND_TEXT, CSV_KIND_TEXT,
	CSV_KIND_TEXT};
	const uint32_t nrounds = rounds(20);

	for (uint32_t i = 0; i < nrounds; i++)
	{
		start_seed(first_seed() + i);
		start_case(3, kinds, 3);
		test_case.dialect.quoting = random_below(3);
		if (one_in(3))
			test_case.dialect.escape = '\\';
		if (one_in(3))
			test_case.columns[0].type_chars =
				100 + (int32_t) random_below(60000);
		if (one_in(3))
			test_case.columns[1].max_chars =
				100 + (int32_t) random_below(60000);
		if (one_in(3))
			test_case.columns[2] = column_of(CSV_KIND_INT4, 2);
		else if (one_in(3))
			test_case.columns[2] = column_of(CSV_KIND_CSTRING, 2);
		if (one_in(3))
			test_case.layout.encoding = CSV_ENCODING_OTHER;
		for (uint32_t record = 0; record < 40; record++)
			for (uint32_t field = 0; field < 3; field++)
			{
				put_long_field();
				put(field < 2 ? "," : "\n");
			}
		test_case.chunk_bytes = random_below(2) ? 1 << 24 :
			1000 + random_below(300000);
		check_case();
	}
	end_seeds();
}

TEST(reads_one_giant_field_among_short_ones)
{
	static const CsvKind kinds[] = {CSV_KIND_INT4, CSV_KIND_TEXT};

	start_case(2, kinds, 2);
	content_repeat(&file, "17,short\n", 5000);
	put("18,\"");
	content_repeat(&file, "giant \"\"quoted\"\" \xc3\xa9\n", large(500000));
	put("\"\n");
	content_repeat(&file, "19,short\n", 5000);
	check_case();
}

TEST(reads_records_of_many_fields)
{
	static const CsvKind kinds[] = {CSV_KIND_INT4, CSV_KIND_TEXT,
	CSV_KIND_NUMERIC};

	start_case(3000, kinds, 3);
	test_case.columns[1].field = 1500;
	test_case.columns[2].field = 2999;
	for (uint32_t record = 0; record < 300; record++)
	{
		for (uint32_t field = 0; field < 3000; field++)
			content_format(&file, "%s%u", field > 0 ? "," : "",
						   random_below(100));
		put(record % 50 == 7 ? ",1\n" : "\n");
	}
	check_case();
}

/* a break as the dialect has it */
static const char *
some_break(void)
{
	switch (test_case.dialect.boundary)
	{
		case CSV_BOUNDARY_CR:
			return "\r";
		case CSV_BOUNDARY_CRLF:
			return "\r\n";
		case CSV_BOUNDARY_LF:
			return "\n";
		default:
			return random_below(2) ? "\n" : "\r\n";
	}
}

/* a well-formed field of some length; empty ones, and those of quotes alone too */
static void
put_well_formed_field(size_t length)
{
	bool		quoted = test_case.dialect.quote != 0 && random_below(2);
	size_t		until;

	if (quoted)
		put("\"");
	until = file.nbytes + length;
	while (file.nbytes < until)
	{
		uint32_t	r = random_below(200);

		if (quoted && r < 20)
			put("\"\"");
		else if (quoted && r < 40)
			put(",");
		else if (quoted && r < 50 && test_case.dialect.multiline)
			put(r < 42 ? "\r" : some_break());
		else
			put("x");
	}
	if (quoted)
		put("\"");
}

/*
 * What the one-pass kernel takes, over a few of its tiles, with all that may
 * stand at a tile's or a thread's edge; and what it nearly takes.
 */
TEST(reads_well_formed_input_over_several_tiles)
{
	static const CsvKind kinds[] = {CSV_KIND_TEXT, CSV_KIND_INT4};
	const uint32_t nrounds = rounds(150);

	for (uint32_t i = 0; i < nrounds; i++)
	{
		uint32_t	nfields;
		uint32_t	mean;
		size_t		until;

		start_seed(first_seed() + i);
		nfields = one_in(3) ? 1 : 2;
		mean = one_in(3) ? 2 : one_in(2) ? 30 : 3000;
		until = one_in(4) ? 1 + random_below(200) :
			TILE * (1 + random_below(4)) - 3 + random_below(6);
		start_case(nfields, kinds, nfields);
		test_case.dialect.boundary = random_below(4);
		test_case.dialect.quoting = random_below(2);
		test_case.dialect.multiline = !one_in(3);
		if (one_in(5))
			test_case.dialect.quote = 0;
		while (file.nbytes < until)
		{
			for (uint32_t field = 0; field < nfields; field++)
			{
				if (field > 0)
					put(",");
				put_well_formed_field(one_in(4) ? 0 :
									  random_below(2 * mean));
			}
			put(some_break());
			while (one_in(10))
				put(some_break());
			if (one_in(300))
				content_repeat(&file, some_break(), random_below(3 * TILE));
		}

		/* any byte may be the last, with a record or a quote left open */
		if (!one_in(4))
			file.nbytes = until;
		if (one_in(3))
		{
			static const char hostile[] = "\",\r\nx";

			file.bytes[random_below((uint32_t) file.nbytes)] =
				(uint8_t) hostile[random_below(5)];
		}
		test_case.max_record_bytes = one_in(8) ? 2000 : 1 << 24;
		test_case.chunk_bytes = one_in(3) ?
			TILE + random_below(3) - 1 : 1 << 24;
		check_case();
	}
	end_seeds();
}

/* the shortest fields and records there are: several windows to a chunk */
TEST(reads_very_short_records_in_windows)
{
	static const CsvKind kinds[] = {CSV_KIND_INT4};
	static const CsvKind two[] = {CSV_KIND_INT2, CSV_KIND_TEXT};
	const size_t million = large(1000000);

	start_case(1, kinds, 1);
	for (size_t i = 0; i < 3 * million; i++)
		put(i % 1000 == 7 ? "x\n" : i % 1001 == 3 ? "1,2\n" :
			i % 3 == 0 ? "\n" : "7\n");
	test_case.chunk_bytes = 1 << 26;
	check_case();

	start_case(2, two, 2);
	for (size_t i = 0; i < 2 * million; i++)
		put(i % 100000 == 70 ? "1,\xff\n" : i % 100001 == 3 ? "\n\n" :
			i % 4 ? ",\n" : "1,abc\n");
	test_case.chunk_bytes = 1 << 26;
	check_case();

	/* one record of commas alone */
	start_case(2, two, 2);
	content_repeat(&file, ",", 6 * million);
	put("\n1,b\n");
	test_case.chunk_bytes = 1 << 26;
	check_case();

	/* nothing but bad records */
	start_case(2, two, 2);
	content_repeat(&file, "\"x\"y\n1\n", 7 * million / 10);
	test_case.chunk_bytes = 1 << 26;
	check_case();

	/* nothing but blank lines */
	start_case(2, two, 2);
	content_repeat(&file, "\n", 3 * million);
	test_case.chunk_bytes = 1 << 22;
	check_case();
}

/* a quote gone astray in many a place: regular and irregular stretches */
TEST(reads_irregular_stretches_among_regular_ones)
{
	static const CsvKind kinds[] = {CSV_KIND_INT4, CSV_KIND_TEXT};
	size_t		n = large(200000);

	for (int i = 0; i < 2; i++)
	{
		start_case(2, kinds, 2);
		for (size_t record = 0; record < n; record++)
		{
			if (record % (n / 4) == n / 8)
				put("1,\"stray\n");
			else if (record % (n / 5) == 0)
				put("2,\"two\nlines\"\n");
			else if (record % 1000 == 1)
				put("3,\"text\" after\n");
			else
				put("4,regular\n");
		}
		test_case.max_record_bytes = i == 0 ? 16 * 1024 * 1024 : 1000;
		test_case.chunk_bytes = i == 0 ? 1 << 26 : 100000;
		check_case();
	}
}
