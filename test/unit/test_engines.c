/*
 * test_engines.c
 *		What every engine makes of files, by example: every error, every
 *		status, the repair rule, and shapes that are large in one way.
 *
 * All examples are read with every engine there is and several chunk sizes.
 */
#include <time.h>

#include "unit.h"
#include "reading.h"
#include "rounds.h"

#define MEGABYTE	((size_t) 1024 * 1024)

/* under sanitizers a tenth of the size shows as much */
#define LARGE		((rounds(10) < 10 ? 10 : 100) * MEGABYTE)

/* read some of the fields only, or as other types than text */
static void
use_columns(Reading *reading, const CsvColumn *columns, uint32_t ncolumns)
{
	reading->layout.columns = columns;
	reading->layout.ncolumns = ncolumns;
}

/* ---- structure ---- */

TEST(quotes_escapes_and_breaks_never_reach_a_value)
{
	Reading		reading;

	reading_init(&reading, 2);
	expect_reading(&reading, "\"a,b\",\"c\"\"d\"\r\n\"\"\"\",\"e\r\nf\"\r\n",
				   "<a,b><c\"d>\n<\"><e\r\nf>\n");
	reading.options.dialect.escape = '\\';
	expect_reading(&reading, "\"a\\\"b\\\\c\\d\",\\\\\n", "<a\"b\\c\\d><\\\\>\n");
}

TEST(a_quote_in_an_unquoted_field_is_data)
{
	Reading		reading;

	reading_init(&reading, 2);
	expect_reading(&reading, "5\" pipe,x\"\"\n y,\"z\"\n",
				   "<5\" pipe><x\"\">\n< y><z>\n");
}

TEST(postgres_quotes_open_and_close_anywhere)
{
	Reading		reading;

	reading_init(&reading, 2);
	reading.options.dialect.quoting = CSV_QUOTING_POSTGRES;
	expect_reading(&reading, "a\",\"b,\"c\"d\n\"e\"\"\"f,g\"\"\n",
				   "<a,b><cd>\n<e\"f><g>\n");
}

TEST(without_a_quote_character_quotes_are_data)
{
	Reading		reading;

	reading_init(&reading, 2);
	reading.options.dialect.quote = 0;
	expect_reading(&reading, "\"a,b\"\n\"\",\"\n", "<\"a><b\">\n<\"\"><\">\n");
}

TEST(blank_lines_are_no_records_of_several_fields)
{
	Reading		reading;

	reading_init(&reading, 2);
	expect_reading(&reading, "\na,b\n\r\n\n\nc,d,e\n\n",
				   "<a><b>\n!column_count 3 record 1 line 5 offset 9 length 5\n");
	reading_init(&reading, 1);
	expect_reading(&reading, "\na\n\r\n", "-\n<a>\n-\n");
}

TEST(the_last_record_may_lack_its_boundary)
{
	Reading		reading;

	reading_init(&reading, 2);
	expect_reading(&reading, "a,b\nc,", "<a><b>\n<c>-\n");
	expect_reading(&reading, "a,b\nc,\"d\"", "<a><b>\n<c><d>\n");
	expect_reading(&reading, ",", "--\n");
}

TEST(a_wrong_number_of_fields_is_column_count)
{
	Reading		reading;

	reading_init(&reading, 3);
	expect_reading(&reading, "1,2,3\n1,2,3,4\n1\n\"1\n\",2,3\n1,2\n",
				   "<1><2><3>\n"
				   "!column_count 4 record 1 line 1 offset 6 length 7\n"
				   "!column_count 1 record 2 line 2 offset 14 length 1\n"
				   "<1\n><2><3>\n"
				   "!column_count 2 record 4 line 5 offset 25 length 3\n");
}

TEST(ragged_pad_fills_up_with_nulls_and_drops_the_surplus)
{
	Reading		reading;

	reading_init(&reading, 3);
	reading.layout.pad = true;
	expect_reading(&reading, "1\n1,2,3,4\r\n1,2\r\n\n",
				   "<1>--\n<1><2><3>\n<1><2>-\n");
}

TEST(text_has_escapes_and_an_end)
{
	Reading		reading;

	reading_init(&reading, 2);
	reading.options.dialect.quoting = CSV_QUOTING_TEXT;
	reading.options.dialect.delimiter = '\t';
	expect_reading(&reading, "a\\\tb\\\\\t\\x41\\102\\q\n\"\t\\\n\\.\n",
				   "<a\tb\\><ABq>\n<\"><\n.>\n");
	expect_reading(&reading, "a\tb\n\\.\n", "<a><b>\n");
	expect_reading(&reading, "\\.\na\tb\r\n\\.\r\n",
				   "!column_count 1 record 0 line 0 offset 0 length 2\n<a><b>\n");
	expect_reading(&reading, "\\.", "");
	expect_reading(&reading, "a\t\\0\na\t\\xc3\n\\xc3\\xa9\tb\\",
				   "!nul_byte 1 record 0 line 0 offset 0 length 4\n"
				   "!invalid_utf8 1 record 1 line 1 offset 5 length 6\n"
				   "<\xc3\xa9><b>\n");
	reading.layout.null_bytes = (const uint8_t *) "\\N";
	reading.layout.null_length = 2;
	expect_reading(&reading, "\\N\t\\\\N\n\tN\n", "-<\\N>\n<><N>\n");
	reading.options.max_record_bytes = 5;
	expect_reading(&reading, "ab\\\ncd\\\nef\tg\nh\ti\n",
				   "!record_too_long 0 record 0 line 0 offset 0 length 3\n"
				   "!unterminated_quote 0 record 1 line 1 offset 4 length 3\n"
				   "<ef><g>\n<h><i>\n");
}

/* ---- errors of quoting and length, and the repair rule ---- */

TEST(text_after_quote_names_the_field)
{
	Reading		reading;

	reading_init(&reading, 3);
	expect_reading(&reading, "a,b,c\nd,\"e\"x,\"f\ng,h,i\n",
				   "<a><b><c>\n"
				   "!text_after_quote 1 record 1 line 1 offset 6 length 9\n"
				   "<g><h><i>\n");
	expect_reading(&reading, "a,b,\"c\" \r\n",
				   "!text_after_quote 2 record 0 line 0 offset 0 length 8\n");
}

TEST(an_unterminated_quote_costs_its_own_line)
{
	Reading		reading;

	reading_init(&reading, 2);
	expect_reading(&reading, "a,\"b\nc,d\ne,f\n",
				   "!unterminated_quote 1 record 0 line 0 offset 0 length 4\n"
				   "<c><d>\n<e><f>\n");
	expect_reading(&reading, "\"", "!unterminated_quote 0 record 0 line 0 offset 0 length 1\n");
}

TEST(a_stray_quote_costs_the_line_it_stands_in)
{
	Reading		reading;

	/* it ends in the third line, where text follows */
	reading_init(&reading, 2);
	expect_reading(&reading, "a,\"b\nc,d\n\"e\",f\ng,h\n",
				   "!text_after_quote 1 record 0 line 0 offset 0 length 4\n"
				   "<c><d>\n<e><f>\n<g><h>\n");
}

TEST(a_quote_inside_a_field_of_a_line_read_alone_is_an_error)
{
	Reading		reading;

	reading_init(&reading, 2);
	expect_reading(&reading, "a,\"b\nc\"x,d\ne,5\"f\n",
				   "!text_after_quote 1 record 0 line 0 offset 0 length 4\n"
				   "!text_after_quote 0 record 1 line 1 offset 5 length 5\n"
				   "<e><5\"f>\n");
	/* blank lines among them are none, counts are checked */
	expect_reading(&reading, "a,\"b\n\nc\n\"\"d,e\n",
				   "!unterminated_quote 1 record 0 line 0 offset 0 length 4\n"
				   "!column_count 1 record 1 line 2 offset 6 length 1\n"
				   "!text_after_quote 0 record 2 line 3 offset 8 length 5\n");
}

TEST(without_multiline_a_break_in_quotes_ends_the_record)
{
	Reading		reading;

	reading_init(&reading, 2);
	reading.options.dialect.multiline = false;
	expect_reading(&reading, "a,\"b\r\nc\",d\n",
				   "!unterminated_quote 1 record 0 line 0 offset 0 length 4\n"
				   "<c\"><d>\n");
}

TEST(a_record_of_just_the_limit_is_good_and_one_more_byte_is_not)
{
	Reading		reading;

	reading_init(&reading, 2);
	reading.options.max_record_bytes = 5;
	expect_reading(&reading, "ab,cd\r\nab,cde\nf,g\nab,cd",
				   "<ab><cd>\n"
				   "!record_too_long 0 record 1 line 1 offset 7 length 6\n"
				   "<f><g>\n<ab><cd>\n");
}

TEST(lines_in_the_window_of_a_long_record_are_read_alone)
{
	Reading		reading;

	/*
	 * The record would be all of the file.  Lines that begin within 10 bytes
	 * of its start are read alone, then reading goes on as before.
	 */
	reading_init(&reading, 2);
	reading.options.max_record_bytes = 10;
	expect_reading(&reading, "a,\"b\nc,d\ne\",f\n5\",g\nh,\"i\nj\"\n",
				   "!record_too_long 0 record 0 line 0 offset 0 length 4\n"
				   "<c><d>\n"
				   "!text_after_quote 0 record 2 line 2 offset 9 length 4\n"
				   "<5\"><g>\n<h><i\nj>\n");
}

TEST(lenient_lines_are_rows_if_their_fields_are_as_many)
{
	Reading		reading;

	/* ?: whoever takes the row finds its values */
	reading_init(&reading, 2);
	reading.options.dialect.lenient = true;
	expect_reading(&reading, "a,\"b\"\nc,\"d, \"e\"\n\"f\" \t,\"g\nh,5\"i\n\"j\"k\n",
				   "<a><b>\n??\n??\n<h><5\"i>\n"
				   "!text_after_quote 0 record 4 line 4 offset 31 length 4\n");
	/* the lines after it, too */
	expect_reading(&reading, "a,\"b\nc,5\"x\nd,e\n\"f\"g,h\nh,\"i\nj\"\n",
				   "??\n??\n<d><e>\n??\n<h><i\nj>\n");
	reading.layout.pad = true;
	expect_reading(&reading, "\"a\"b\n\"a\"b,\"c\",d\n", "?-\n??\n");
}

TEST(length_comes_before_quoting_and_quoting_before_the_count)
{
	Reading		reading;

	reading_init(&reading, 2);
	expect_reading(&reading, "\"a\"b\n",
				   "!text_after_quote 0 record 0 line 0 offset 0 length 4\n");
	reading.options.max_record_bytes = 3;
	expect_reading(&reading, "\"a\"b\n",
				   "!record_too_long 0 record 0 line 0 offset 0 length 4\n");
}

/* ---- errors of fields ---- */

TEST(a_zero_byte_in_a_wanted_field_is_nul_byte)
{
	Reading		reading;
	CsvColumn	column = column_of(CSV_KIND_TEXT, 1);

	reading_init(&reading, 2);
	expect_reading(&reading, "a,b\0c\nd,\"\0\"\ne,f\n",
				   "!nul_byte 1 record 0 line 0 offset 0 length 5\n"
				   "!nul_byte 1 record 1 line 1 offset 6 length 5\n"
				   "<e><f>\n");
	/* of a field that nobody wants nothing is checked but structure */
	use_columns(&reading, &column, 1);
	expect_reading(&reading, "\0\xFF,b\n", "<b>\n");
}

TEST(invalid_utf8_is_found_as_postgres_finds_it)
{
	static const char *invalid[] = {
		"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80",
		"\xE2\x82", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
		"\xFF"
	};
	Reading		reading;

	reading_init(&reading, 1);
	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
	{
		char		file[100];
		char		lines[200];
		int			n = snprintf(file, sizeof(file), "good\n%s\ngood\n",
								 invalid[i]);

		snprintf(lines, sizeof(lines),
				 "<good>\n!invalid_utf8 0 record 1 line 1 offset 5 length %d\n"
				 "<good>\n", (int) strlen(invalid[i]));
		expect_reading_(&reading, file, (size_t) n, lines, __FILE__, __LINE__);
	}
	expect_reading(&reading, "\xC2\x80\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF\n",
				   "<\xC2\x80\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF>\n");
}

TEST(limits_count_characters_and_bytes_of_the_value_alone)
{
	Reading		reading;
	CsvColumn	column = column_of(CSV_KIND_TEXT, 0);

	reading_init(&reading, 1);
	use_columns(&reading, &column, 1);
	column.max_chars = 3;
	expect_reading(&reading, "abc\n\"a\"\"c\"\n\xC3\xA9\xE2\x82\xAC\xC3\xA9\nabcd\n",
				   "<abc>\n<a\"c>\n<\xC3\xA9\xE2\x82\xAC\xC3\xA9>\n"
				   "!too_many_chars 0 record 3 line 3 offset 19 length 4\n");
	column.max_chars = -1;
	column.byte_width = 4;
	expect_reading(&reading, "abcd\n\"\"\"\"\"\"\"\"\"\"\nabcde\n\xC3\xA9\xC3\xA9\n\xC3\xA9\xC3\xA9x\n",
				   "<abcd>\n<\"\"\"\">\n"
				   "!too_many_bytes 0 record 2 line 2 offset 16 length 5\n"
				   "<\xC3\xA9\xC3\xA9>\n"
				   "!too_many_bytes 0 record 4 line 4 offset 27 length 5\n");
}

TEST(a_limit_holds_for_every_kind)
{
	Reading		reading;
	CsvColumn	column = column_of(CSV_KIND_INT4, 0);

	reading_init(&reading, 1);
	use_columns(&reading, &column, 1);
	column.max_chars = 2;
	expect_reading(&reading, "12\n123\n\xC3\xA9\n",
				   "<12>\n!too_many_chars 0 record 1 line 1 offset 3 length 3\n?\n");
}

TEST(varchar_cuts_blanks_and_nothing_else)
{
	Reading		reading;
	CsvColumn	column = column_of(CSV_KIND_TEXT, 0);

	reading_init(&reading, 1);
	use_columns(&reading, &column, 1);
	column.type_chars = 2;
	expect_reading(&reading, "ab  \n\xC3\xA9  \nabc\na b\n\"ab \"\n",
				   "<ab>\n<\xC3\xA9 >\n"
				   "!too_many_chars 0 record 2 line 2 offset 10 length 3\n"
				   "!too_many_chars 0 record 3 line 3 offset 14 length 3\n"
				   "<ab>\n");
	/* where max_chars is given the type's own limit is PostgreSQL's */
	column.max_chars = 3;
	expect_reading(&reading, "abc\nabcd\nab \n",
				   "?\n!too_many_chars 0 record 1 line 1 offset 4 length 4\n<ab>\n");
}

TEST(char_n_is_padded_with_blanks_in_characters)
{
	Reading		reading;
	CsvColumn	column = column_of(CSV_KIND_TEXT, 0);

	reading_init(&reading, 1);
	use_columns(&reading, &column, 1);
	column.type_chars = 3;
	column.pad_blanks = true;
	expect_reading(&reading, "a\n\xC3\xA9\nabc\nabc  \n\"\"\n\n",
				   "<a  >\n<\xC3\xA9  >\n<abc>\n<abc>\n<   >\n-\n");
}

TEST(one_error_is_reported_by_field_then_kind_then_column)
{
	Reading		reading;
	CsvColumn	columns[3] = {
		column_of(CSV_KIND_TEXT, 0), column_of(CSV_KIND_TEXT, 0),
		column_of(CSV_KIND_TEXT, 1)
	};

	reading_init(&reading, 2);
	use_columns(&reading, columns, 3);
	columns[0].byte_width = 4;
	columns[1].max_chars = 4;
	columns[1].byte_width = 4;
	/* the lower field, although the other's error comes first */
	expect_reading(&reading, "abcde,\0\n",
				   "!too_many_chars 1 record 0 line 0 offset 0 length 7\n");
	/* the same error in two columns */
	columns[1].max_chars = -1;
	expect_reading(&reading, "abcde,x\n",
				   "!too_many_bytes 0 record 0 line 0 offset 0 length 7\n");
	/* the count comes before all fields */
	expect_reading(&reading, "abcde\n",
				   "!column_count 1 record 0 line 0 offset 0 length 5\n");
	/* a zero byte before bad UTF-8 */
	expect_reading(&reading, "\xFF\0,x\n",
				   "!nul_byte 0 record 0 line 0 offset 0 length 4\n");
}

/* ---- statuses ---- */

TEST(null_is_an_unquoted_value_equal_to_the_null_string)
{
	Reading		reading;

	reading_init(&reading, 2);
	expect_reading(&reading, ",\"\"\n", "-<>\n");
	reading.layout.null_bytes = (const uint8_t *) "NULL";
	reading.layout.null_length = 4;
	expect_reading(&reading, "NULL,\"NULL\"\n,null\n", "-<NULL>\n<><null>\n");
}

TEST(force_null_and_force_not_null_are_as_in_copy)
{
	Reading		reading;
	CsvColumn	columns[3] = {
		column_of(CSV_KIND_TEXT, 0), column_of(CSV_KIND_TEXT, 1),
		column_of(CSV_KIND_TEXT, 2)
	};

	reading_init(&reading, 3);
	use_columns(&reading, columns, 3);
	columns[0].force_null = true;
	columns[1].force_not_null = true;
	columns[2].force_null = true;
	columns[2].force_not_null = true;
	expect_reading(&reading, ",,\n\"\",\"\",\"\"\n", "-<><>\n-<>-\n");
}

TEST(a_null_is_checked_for_nothing_else)
{
	Reading		reading;
	CsvColumn	column = column_of(CSV_KIND_TEXT, 0);

	reading_init(&reading, 1);
	use_columns(&reading, &column, 1);
	column.max_chars = 1;
	reading.layout.null_bytes = (const uint8_t *) "\xFF\xFF";
	reading.layout.null_length = 2;
	expect_reading(&reading, "\xFF\xFF\n\xFF\n",
				   "-\n!invalid_utf8 0 record 1 line 1 offset 3 length 1\n");
}

TEST(the_default_string_is_doubtful_unless_quoted)
{
	Reading		reading;

	reading_init(&reading, 1);
	reading.layout.has_default = true;
	reading.layout.default_bytes = (const uint8_t *) "\\D";
	reading.layout.default_length = 2;
	expect_reading(&reading, "\\D\n\"\\D\"\nD\n", "?\n<\\D>\n<D>\n");
}

TEST(bad_values_are_doubtful_if_the_layout_says_so)
{
	Reading		reading;
	CsvColumn	columns[3] = {
		column_of(CSV_KIND_TEXT, 0), column_of(CSV_KIND_INT4, 1),
		column_of(CSV_KIND_TEXT, 2)
	};

	reading_init(&reading, 3);
	use_columns(&reading, columns, 3);
	columns[0].max_chars = 3;
	columns[1].max_chars = 2;
	columns[2].byte_width = 4;
	reading.layout.bad_is_doubtful = true;
	expect_reading(&reading,
				   "abc,12,abcd\nabcd,123,abcde\n\xFF,1\0,\"\xC3\"\n\0,00001,a\n",
				   "<abc><12><abcd>\n???\n???\n?" "?<a>\n");
	/* errors of structure stay what they are */
	expect_reading(&reading, "abcd,1\n\"a\"b,1,x\n",
				   "!column_count 2 record 0 line 0 offset 0 length 6\n"
				   "!text_after_quote 0 record 1 line 1 offset 7 length 8\n");
}

TEST(numbers_are_converted_or_doubtful)
{
	Reading		reading;
	CsvColumn	columns[3] = {
		column_of(CSV_KIND_INT4, 0), column_of(CSV_KIND_BOOL, 1),
		column_of(CSV_KIND_DATE, 2)
	};

	reading_init(&reading, 3);
	use_columns(&reading, columns, 3);
	expect_reading(&reading,
				   "1,t,2000-01-02\n\"-7\",\"no\",\"1999-12-31\"\n,,\n"
				   "x,2,now\n 1,,\"\"\n\" 1\", t,2000-01-02 \n1 1,- t,\n",
				   "<1><1><1>\n<-7><0><-1>\n---\n???\n<1>-?\n<1><1><1>\n?" "?-\n");
}

TEST(beyond_ascii_in_another_encoding_is_doubtful)
{
	Reading		reading;
	CsvColumn	columns[2] = {
		column_of(CSV_KIND_TEXT, 0), column_of(CSV_KIND_INT4, 1)
	};

	reading_init(&reading, 2);
	use_columns(&reading, columns, 2);
	columns[0].max_chars = 1;
	reading.layout.encoding = CSV_ENCODING_OTHER;
	expect_reading(&reading, "\xE9\xE9\xE9,1\na,\xE9\n\xE9\0,1\nab,1\n",
				   "?<1>\n<a>?\n!nul_byte 0 record 2 line 2 offset 10 length 4\n"
				   "!too_many_chars 0 record 3 line 3 offset 15 length 4\n");
}

TEST(one_giant_value_among_short_ones_is_taken_from_the_input)
{
	Reading		reading;
	size_t		nbytes = 4 * MEGABYTE;
	uint8_t    *file = malloc(nbytes + 20001);
	size_t		used = 0;

	assert_non_null(file);
	for (int i = 0; i < 5000; i++)
	{
		file[used++] = 'a';
		file[used++] = '\n';
	}
	memset(file + used, 'b', nbytes);
	used += nbytes;
	file[used++] = '\n';
	for (int i = 0; i < 5000; i++)
	{
		file[used++] = 'c';
		file[used++] = '\n';
	}
	reading_init(&reading, 1);
	reading.options.chunk_bytes = 8 * MEGABYTE;
	reading_run(&reading, file, used);
	assert_int_equal(reading.nrows, 10001);
	assert_int_equal(reading.nbatches, 1);
	assert_int_equal(strlen(reading.text), 10000 * 4 + nbytes + 3);
	free(reading.text);
	free(file);
}

/* ---- large in one way ---- */

static double
seconds_to_read(Reading *reading, const uint8_t *file, size_t nbytes)
{
	struct timespec began;
	struct timespec ended;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
	reading_run(reading, file, nbytes);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
	return (double) (ended.tv_sec - began.tv_sec) +
		(double) (ended.tv_nsec - began.tv_nsec) * 1e-9;
}

static void
fill(uint8_t *file, size_t nbytes, const char *pattern)
{
	size_t		n = strlen(pattern);

	for (size_t i = 0; i < nbytes; i++)
		file[i] = (uint8_t) pattern[i % n];
}

/*
 * Each such line opens a quote that the next line's first closes: one record
 * of the whole file, open at its end, so repaired line by line.
 */
TEST(stray_quotes_in_every_line_are_read_in_linear_time)
{
	Reading		reading;
	size_t		nlines = LARGE / 30 / 8 * 8;	/* 16 MB, where LARGE is 100 */
	size_t		nbytes = nlines * 5;
	uint8_t    *file = malloc(nbytes);

	assert_non_null(file);
	for (int isa = CSV_ISA_SWAR; isa <= CSV_ISA_AVX512; isa++)
	{
		double		eighth;
		double		whole;

		if (!reading_has_isa((CsvIsa) isa))
			continue;
		reading_init(&reading, 2);
		reading.isa = (CsvIsa) isa;
		reading.keep_text = false;
		fill(file, nbytes, "x\",\"\n");
		eighth = seconds_to_read(&reading, file, nbytes / 8);
		whole = seconds_to_read(&reading, file, nbytes);
		assert_int_equal(reading.nrows, 0);
		assert_int_equal(reading.nerrors, nlines);
		if (whole > 8 * eighth * 4 + 0.2)
			fail_msg("%.3f s, an eighth of it %.3f s", whole, eighth);
	}
	free(file);
}

TEST(a_long_field_is_one_value)
{
	Reading		reading;
	uint8_t    *file = malloc(LARGE + 3);

	assert_non_null(file);
	memset(file, 'x', LARGE);
	file[LARGE] = ',';
	file[LARGE + 1] = 'y';
	file[LARGE + 2] = '\n';
	reading_init(&reading, 2);
	reading.options.max_record_bytes = 2 * LARGE;
	reading.keep_text = false;
	reading_run(&reading, file, LARGE + 3);
	assert_int_equal(reading.nrows, 1);
	assert_int_equal(reading.last_text_bytes, 1);
	/* and over the limit it is one error */
	reading.options.max_record_bytes = 16 * 1024;
	reading_run(&reading, file, LARGE + 3);
	assert_int_equal(reading.nrows, 0);
	assert_int_equal(reading.nerrors, 1);
	free(file);
}

TEST(a_field_with_a_million_line_breaks_is_one_value)
{
	Reading		reading;
	size_t		nbytes = 1000000;
	uint8_t    *file = malloc(nbytes + 6);

	assert_non_null(file);
	memset(file, '\n', nbytes + 6);
	file[0] = '"';
	memcpy(file + nbytes + 1, "\"\n\"a\n", 5);
	reading_init(&reading, 1);
	reading.keep_text = false;
	reading_run(&reading, file, nbytes + 5);
	assert_int_equal(reading.nrows, 1);
	assert_int_equal(reading.last_text_bytes, nbytes);
	assert_int_equal(reading.nerrors, 1);
	assert_int_equal(reading.last_error.line, nbytes + 1);
	free(file);
}

TEST(a_million_empty_fields_are_a_record)
{
	Reading		reading;
	CsvColumn	columns[2];
	uint32_t	nfields = 1000000;
	char	   *file = malloc(nfields + 1);

	assert_non_null(file);
	memset(file, ',', nfields);
	file[nfields - 1] = 'z';
	file[nfields] = '\n';
	columns[0] = column_of(CSV_KIND_TEXT, 0);
	columns[1] = column_of(CSV_KIND_TEXT, nfields - 1);
	reading_init(&reading, nfields);
	use_columns(&reading, columns, 2);
	reading.options.chunk_bytes = 1000;
	expect_reading_(&reading, file, nfields + 1, "-<z>\n", __FILE__, __LINE__);
	free(file);
}

TEST(sixteen_hundred_columns_are_read_in_order)
{
	Reading		reading;
	char	   *file = malloc(1600 * 12 * 3);
	char	   *lines = malloc(1600 * 12 * 3);
	size_t		nfile = 0;
	size_t		nlines = 0;

	assert_non_null(file);
	assert_non_null(lines);
	for (int row = 0; row < 3; row++)
	{
		for (int i = 0; i < 1600; i++)
		{
			nfile += (size_t) sprintf(file + nfile, "%s%d", i > 0 ? "," : "",
									  row * 1600 + i);
			nlines += (size_t) sprintf(lines + nlines, "<%d>", row * 1600 + i);
		}
		file[nfile++] = '\n';
		lines[nlines++] = '\n';
	}
	lines[nlines] = '\0';
	reading_init(&reading, 1600);
	reading.options.chunk_bytes = 1000;
	expect_reading_(&reading, file, nfile, lines, __FILE__, __LINE__);
	free(file);
	free(lines);
}

TEST(a_file_of_quotes_is_one_value_or_one_open_quote)
{
	Reading		reading;
	uint8_t    *file = malloc(MEGABYTE + 1);

	assert_non_null(file);
	memset(file, '"', MEGABYTE + 1);
	reading_init(&reading, 1);
	reading.keep_text = false;
	reading_run(&reading, file, MEGABYTE);
	assert_int_equal(reading.nrows, 1);
	assert_int_equal(reading.last_text_bytes, MEGABYTE / 2 - 1);
	reading_run(&reading, file, MEGABYTE + 1);
	assert_int_equal(reading.nrows, 0);
	assert_int_equal(reading.last_error.code, CSV_ERROR_UNTERMINATED_QUOTE);
	assert_int_equal(reading.last_error.length, MEGABYTE + 1);
	free(file);
}

TEST(a_file_of_delimiters_is_one_record)
{
	Reading		reading;
	uint8_t    *file = malloc(MEGABYTE);

	assert_non_null(file);
	memset(file, ',', MEGABYTE);
	reading_init(&reading, 2);
	reading.keep_text = false;
	reading_run(&reading, file, MEGABYTE);
	assert_int_equal(reading.nerrors, 1);
	assert_int_equal(reading.last_error.code, CSV_ERROR_COLUMN_COUNT);
	assert_int_equal(reading.last_error.where, MEGABYTE + 1);
	free(file);
}

TEST(a_file_of_zero_bytes_is_one_error)
{
	Reading		reading;
	uint8_t    *file = calloc(MEGABYTE, 1);

	assert_non_null(file);
	reading_init(&reading, 1);
	reading.keep_text = false;
	reading_run(&reading, file, MEGABYTE);
	assert_int_equal(reading.nrows, 0);
	assert_int_equal(reading.nerrors, 1);
	assert_int_equal(reading.last_error.code, CSV_ERROR_NUL_BYTE);
	assert_int_equal(reading.last_error.length, MEGABYTE);
	free(file);
}

TEST(a_file_of_line_breaks_has_no_records_of_several_fields)
{
	Reading		reading;
	uint8_t    *file = malloc(MEGABYTE);

	assert_non_null(file);
	memset(file, '\n', MEGABYTE);
	reading_init(&reading, 2);
	reading.keep_text = false;
	reading_run(&reading, file, MEGABYTE);
	assert_int_equal(reading.nrows + reading.nerrors, 0);
	reading.layout.nfields = 1;
	reading_run(&reading, file, MEGABYTE);
	assert_int_equal(reading.nrows, MEGABYTE);
	free(file);
}
