/*
 * test_footer.c
 *		Records at the end of a file that are no data.
 *
 * Where a file ends, and with it its data, readers learn in many ways: some have a
 * buffer that reaches there, others are told how long the file is, and those of a
 * stream find out when a thread is far ahead.  So the files here are longer than a
 * footer can be, and pieces and chunks of many sizes end near it.
 */
#include "unit.h"
#include "footer.h"
#include "reading.h"
#include "rounds.h"

#define MEGABYTES	(1024 * 1024)

static Case test_case;
static Content file;

static void
put(const char *string)
{
	content_string(&file, string);
}

static void
start_case(void)
{
	static const CsvKind kinds[] = {CSV_KIND_INT4, CSV_KIND_TEXT};

	plain_case(&test_case, 2, kinds, 2);
	file.nbytes = 0;
}

/* records of some kinds, more often good ones, until the file has so many bytes */
static void
put_records_up_to(size_t nbytes)
{
	while (file.nbytes < nbytes)
	{
		char		text[100];
		uint32_t	length = random_below(60);

		switch (random_below(200))
		{
			case 0:
				put("\n\n");
				break;
			case 1:
				put("# a comment, \"that\" is none of the records\n");
				break;
			case 2:
				put("1,2,3\n");
				break;
			case 3:
				put("5,\"text\" behind a quote,\n6,\"and on\"\n");
				break;
			case 4:
				put("7,\"several\nlines, of\n\none\"\n");
				break;
			default:
				snprintf(text, sizeof(text), "%u,%.*s\n", random_below(100000),
						 (int) length,
						 "what is written in the second field of most of the records");
				put(text);
		}
	}
}

static void
check_case(void)
{
	static const uint64_t chunks[] = {0, 20000, 300000, 5 * MEGABYTES};
	TestEngine *engines;
	int			nengines = reading_engines(&engines);

	test_case.chunk_bytes = chunks[random_below(LENGTH(chunks))];
	expect_as_reference(&test_case, &file, engines, nengines);
}

/* ---- tests ---- */

TEST(the_last_records_are_no_data)
{
	Reading		reading;

	reading_init(&reading, 2);
	reading.options.dialect.footer_rows = 2;
	expect_reading(&reading, "a,b\nc,d\ne,f\ng,h\n", "<a><b>\n<c><d>\n");
	expect_reading(&reading, "a,b\nc,d\ne,f\ng,h", "<a><b>\n<c><d>\n");
	expect_reading(&reading, "a,b\ntotal\n\"x", "<a><b>\n");
	expect_reading(&reading, "a,b\n\ntotal\n\n\nof all\n\n", "<a><b>\n");
	expect_reading(&reading, "\"a\n\",b\ntotal\n\"of\nall\",\"\n\n\"\n",
				   "<a\n><b>\n");
	expect_reading(&reading, "a,b\nc,d\n", "");
	expect_reading(&reading, "a,b\n", "");
	expect_reading(&reading, "\n\n", "");
	expect_reading(&reading, "", "");
}

TEST(comments_are_no_records_of_a_footer)
{
	Reading		reading;

	reading_init(&reading, 2);
	reading.options.dialect.footer_rows = 1;
	reading.options.dialect.comment_length = 1;
	reading.options.dialect.comment[0] = '#';
	expect_reading(&reading, "a,b\n#1\nc,d\n#2\n\n#3\"\n", "<a><b>\n");
	expect_reading(&reading, "#1\n#2\n", "");
}

TEST(a_header_is_passed_first)
{
	Reading		reading;

	reading_init(&reading, 2);
	reading.options.header_rows = 1;
	reading.options.dialect.footer_rows = 1;
	expect_reading(&reading, "x,y\na,b\ntotal\n", "<a><b>\n");
	expect_reading(&reading, "x,y\ntotal\n", "");
	expect_reading(&reading, "x,y\n", "");
	expect_reading(&reading, "x,y", "");
	reading.options.dialect.footer_rows = CSV_MAX_FOOTER_ROWS;
	expect_reading(&reading, "x,y\na,b\ntotal\n", "");
}

/* a line of such a record that is read alone counts by itself */
TEST(bad_records_of_a_footer_are_no_errors)
{
	Reading		reading;

	reading_init(&reading, 2);
	reading.options.dialect.footer_rows = 2;
	expect_reading(&reading, "a,b\nc,d\ne,\"f\ng,h", "<a><b>\n<c><d>\n");
	reading.options.max_record_bytes = 5;
	expect_reading(&reading, "a,b\nc,d\n1234567890\n1234567890", "<a><b>\n<c><d>\n");
	expect_reading(&reading, "a,b\nc\n1234567890\n\"e\n",
				   "<a><b>\n!column_count 1 record 1 line 1 offset 4 length 1\n");
}

TEST(the_end_of_text_is_no_record_and_only_the_end)
{
	Reading		reading;

	reading_init(&reading, 1);
	reading.options.dialect.quoting = CSV_QUOTING_TEXT;
	reading.options.dialect.delimiter = '\t';
	reading.options.dialect.quote = 0;
	reading.options.dialect.footer_rows = 1;
	expect_reading(&reading, "a\nb\nc\n\\.\n", "<a>\n<b>\n");
	expect_reading(&reading, "a\nb\n\\.\nc\n", "<a>\n<b>\n<.>\n");
	expect_reading(&reading, "\\.\n", "");
	expect_reading(&reading, "\\.", "");
}

TEST(long_files_are_read_up_to_the_footer)
{
	uint64_t	seed = first_seed();

	for (uint32_t n = rounds(6); n > 0; n--, seed++)
	{
		start_seed(seed);
		start_case();
		test_case.dialect.comment_length = 1;
		test_case.dialect.comment[0] = '#';
		test_case.dialect.footer_rows = one_in(3) ? random_below(5000) :
			1 + random_below(3);
		if (one_in(2))
			test_case.max_read_bytes = 1 + random_below(100000);
		if (one_in(2))
			test_case.interruptions = 3;
		put_records_up_to(CSV_FOOTER_BYTES + random_below(2 * MEGABYTES));
		/* a record that is longer than pieces are, at its end or in it */
		if (one_in(2))
		{
			size_t		end = file.nbytes + random_below(2 * MEGABYTES);

			put("1,\"");
			while (file.nbytes < end)
				put("long and longer\n");
			put("\"\n");
			put_records_up_to(file.nbytes + random_below(100000));
		}
		if (one_in(2))
			put("sum of 1, 2 and \"3\"\n# and so on\ntotal\n\nby the \"author\n");
		check_case();
	}
	end_seeds();
}

/* what follows the data in its last lines makes no difference to these */
TEST(a_quote_that_nobody_closes_may_be_in_the_footer)
{
	start_case();
	test_case.dialect.footer_rows = 3;
	put_records_up_to(CSV_FOOTER_BYTES + MEGABYTES);
	put("1,\"open\n2,b\n3,c\n4,d\n");
	check_case();
	test_case.dialect.footer_rows = 4;
	check_case();
	test_case.dialect.footer_rows = 5;
	check_case();
}

static CsvStatus
try(Reading *reading, uint32_t threads, int nthreads)
{
	reading->threads = threads;
	reading->nthreads = nthreads;
	return reading_try(reading, file.bytes, file.nbytes);
}

TEST(a_footer_that_is_too_long_is_said_to_be)
{
	static const uint32_t blanks[] = {0, 1, 4, 8};

	for (size_t i = 0; i < LENGTH(blanks); i++)
		for (uint64_t chunk = 0; chunk <= 100000; chunk += 100000)
		{
			Reading		reading;
			size_t		end;

			reading_init(&reading, 2);
			reading.keep_text = false;
			reading.options.chunk_bytes = chunk;
			reading.options.dialect.footer_rows = 1;
			file.nbytes = 0;
			put_records_up_to(MEGABYTES);
			put("x");
			end = file.nbytes + CSV_FOOTER_BYTES - 2 -
				(blanks[i] == 0 ? 0 : blanks[i] * MEGABYTES / 2);
			while (file.nbytes < end)
				put("y");
			put("\n");
			assert_int_equal(try(&reading, 0, 0), CSV_END);
			for (uint32_t n = 0; n < blanks[i] * MEGABYTES; n++)
				put("\n");
			if (blanks[i] == 0)
				put("\n");
			assert_int_equal(try(&reading, 0, 0), CSV_FOOTER_TOO_LONG);
			assert_int_equal(try(&reading, 3, 0), CSV_FOOTER_TOO_LONG);
			assert_int_equal(try(&reading, 3, 1), CSV_FOOTER_TOO_LONG);

			/* with nothing else in the file, it has all there is */
			reading.options.dialect.footer_rows = CSV_MAX_FOOTER_ROWS;
			file.nbytes = 0;
			put("1,2\n3,4\n5,6");
			assert_int_equal(try(&reading, 3, 1), CSV_END);
			assert_int_equal(reading.nrows, 0);
		}
}
