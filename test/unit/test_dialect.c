/*
 * test_dialect.c
 *		The dialect's table, by example.
 *
 * A trace has a word per byte and one for the end of input: what happens there
 * (s record starts, f field ends, r record ends, b it is bad), then the state
 * after it: Record start, Field start, Unquoted, Quoted, quote seen (C, as in
 * closed), Escape seen, sKip line.
 */
#include "unit.h"
#include "dialect.h"

static const CsvDialectOptions rfc4180 = {
	.delimiter = ',', .quote = '"', .multiline = true
};

static void
expect_trace_(const CsvDialectOptions *options, CsvMode mode,
			  const char *text, const char *expected, int line)
{
	CsvDialect	dialect;
	char		trace[512] = "";
	size_t		used = 0;
	size_t		nbytes = strlen(text);
	uint8_t		state = CSV_STATE_RECORD_START;

	csv_dialect_compile(&dialect, options);
	for (size_t pos = 0; pos <= nbytes; pos++)
	{
		int			class = csv_class_at(&dialect, (const uint8_t *) text, pos,
										 nbytes);
		uint8_t		entry = dialect.table[mode][state][class];

		state = entry & CSV_STATE_MASK;
		used += (size_t) snprintf(trace + used, sizeof(trace) - used,
								  "%s%s%s%s%s%c", pos > 0 ? " " : "",
								  entry & CSV_START ? "s" : "",
								  entry & CSV_FIELD ? "f" : "",
								  entry & CSV_RECORD ? "r" : "",
								  entry & CSV_BAD ? "b" : "",
								  "RFUQCEKMA1234567"[state]);
	}
	_assert_string_equal(trace, expected, __FILE__, line);
}

#define expect_trace(options, mode, text, expected) \
	expect_trace_(options, mode, text, expected, __LINE__)

TEST(delimiters_end_fields_and_breaks_end_records)
{
	expect_trace(&rfc4180, CSV_NORMAL, "a,b\n", "sU fF U frR R");
	expect_trace(&rfc4180, CSV_NORMAL, ",\n", "sfF frR R");
}

TEST(the_end_of_input_ends_a_record_without_boundary)
{
	expect_trace(&rfc4180, CSV_NORMAL, "a", "sU frR");
	expect_trace(&rfc4180, CSV_NORMAL, "a,", "sU fF frR");
	expect_trace(&rfc4180, CSV_NORMAL, "", "R");
}

TEST(quotes_hide_delimiters_and_breaks)
{
	expect_trace(&rfc4180, CSV_NORMAL, "\",\n\"\n", "sQ Q Q C frR R");
}

TEST(a_doubled_quote_stays_in_quotes)
{
	expect_trace(&rfc4180, CSV_NORMAL, "\"\"\"\"\n", "sQ C Q C frR R");
	expect_trace(&rfc4180, CSV_NORMAL, "\"\"\n", "sQ C frR R");
}

TEST(a_quote_inside_an_unquoted_field_is_data)
{
	expect_trace(&rfc4180, CSV_NORMAL, "5\" x,y\n",
				 "sU U U U fF U frR R");
}

TEST(text_after_a_closing_quote_skips_the_line)
{
	expect_trace(&rfc4180, CSV_NORMAL, "\"a\"b,\"\n",
				 "sQ Q C K K K frbR R");
}

TEST(an_open_quote_at_the_end_is_bad)
{
	expect_trace(&rfc4180, CSV_NORMAL, "\"a\n", "sQ Q Q frbR");
}

TEST(without_multiline_a_break_ends_the_record_in_quotes)
{
	CsvDialectOptions options = rfc4180;

	options.multiline = false;
	expect_trace(&options, CSV_NORMAL, "\"a\nb\n", "sQ Q frbR sU frR R");
}

TEST(alone_reads_one_line_and_no_quote_inside_a_field)
{
	expect_trace(&rfc4180, CSV_ALONE, "\"a\nb\n", "sQ Q frbR sU frR R");
	expect_trace(&rfc4180, CSV_ALONE, "a\"b\n", "sU K K frbR R");
	expect_trace(&rfc4180, CSV_ALONE, "\"a\",b\n", "sQ Q C fF U frR R");
}

TEST(blank_lines_are_records_only_where_asked)
{
	CsvDialectOptions options = rfc4180;

	expect_trace(&options, CSV_NORMAL, "\n\r\na\n", "R R R sU frR R");
	options.blank_is_record = true;
	expect_trace(&options, CSV_NORMAL, "\n\r\na\n", "sfrR sF frR sU frR R");
}

TEST(a_cr_belongs_to_the_lf_after_it)
{
	expect_trace(&rfc4180, CSV_NORMAL, "a\r\n", "sU U frR R");
	expect_trace(&rfc4180, CSV_NORMAL, "a,\r\n", "sU fF F frR R");
	expect_trace(&rfc4180, CSV_NORMAL, "\"a\"\r\n", "sQ Q C C frR R");
	expect_trace(&rfc4180, CSV_NORMAL, "a\r\r\n", "sU U U frR R");
	expect_trace(&rfc4180, CSV_NORMAL, "\"a\"\r\r\n", "sQ Q C C C frR R");
	expect_trace(&rfc4180, CSV_NORMAL, "\r\r\n", "R R R R");
	expect_trace(&rfc4180, CSV_NORMAL, "\r\r\r\n", "sU U U frR R");
	/* any other is data, after a closing quote it is text */
	expect_trace(&rfc4180, CSV_NORMAL, "\"a\"\r,", "sQ Q C K K frbR");
	expect_trace(&rfc4180, CSV_NORMAL, "\r", "sU frR");
}

TEST(boundary_lf_keeps_the_cr)
{
	CsvDialectOptions options = rfc4180;

	options.boundary = CSV_BOUNDARY_LF;
	expect_trace(&options, CSV_NORMAL, "\r\n", "sU frR R");
}

TEST(boundary_crlf_takes_a_lone_lf_as_data)
{
	CsvDialectOptions options = rfc4180;

	options.boundary = CSV_BOUNDARY_CRLF;
	expect_trace(&options, CSV_NORMAL, "a\nb\r\n", "sU U U U frR R");
	expect_trace(&options, CSV_NORMAL, "\n", "sU frR");
}

TEST(boundary_cr_takes_an_lf_as_data)
{
	CsvDialectOptions options = rfc4180;

	options.boundary = CSV_BOUNDARY_CR;
	expect_trace(&options, CSV_NORMAL, "a\nb\rc", "sU U U frR sU frR");
}

TEST(an_escape_counts_only_inside_quotes_and_before_quote_or_escape)
{
	CsvDialectOptions options = rfc4180;

	options.escape = '\\';
	expect_trace(&options, CSV_NORMAL, "\"\\\"\\\\\\a\"\n",
				 "sQ E Q E Q E Q C frR R");
	expect_trace(&options, CSV_NORMAL, "\\\"\n", "sU U frR R");
	/* two quotes are no escape then */
	expect_trace(&options, CSV_NORMAL, "\"\"\"\n", "sQ C K frbR R");
	expect_trace(&options, CSV_NORMAL, "\"\\", "sQ E frbR");
}

TEST(an_escape_equal_to_the_delimiter_delimits_outside_quotes)
{
	CsvDialectOptions options = rfc4180;

	options.escape = ',';
	expect_trace(&options, CSV_NORMAL, "a,\",\"\",b\n",
				 "sU fF Q E Q C fF U frR R");
}

TEST(postgres_quotes_open_and_close_anywhere)
{
	CsvDialectOptions options = rfc4180;

	options.quoting = CSV_QUOTING_POSTGRES;
	expect_trace(&options, CSV_NORMAL, "a\",\"b,\n", "sU Q Q C U fF frR R");
	expect_trace(&options, CSV_NORMAL, "\"a\"b\"c\"\n",
				 "sQ Q C U Q Q C frR R");
	expect_trace(&options, CSV_ALONE, "a\"b\"\n", "sU K K K frbR R");
}

TEST(the_simple_format_knows_no_quotes)
{
	CsvDialectOptions options = rfc4180;

	options.quote = 0;
	expect_trace(&options, CSV_NORMAL, "\"a,\n", "sU U fF frR R");
}

TEST(in_text_an_escape_makes_any_byte_data)
{
	CsvDialectOptions options = rfc4180;

	options.quoting = CSV_QUOTING_TEXT;
	options.delimiter = '\t';
	expect_trace(&options, CSV_NORMAL, "a\\\tb\t\\\\\t\"\n",
				 "sU E U U fF E U fF U frR R");
	expect_trace(&options, CSV_NORMAL, "\\\n\\\r\nb\r\n", "sE U E E U U U frR R");
	expect_trace(&options, CSV_NORMAL, "a\\", "sU E frR");
	expect_trace(&options, CSV_ALONE, "a\\\nb\\", "sU E frbR sU E frR");
}

TEST(a_delimiter_of_several_bytes_is_one_at_its_first)
{
	CsvDialectOptions options = rfc4180;

	options.delimiter = '|';
	options.delimiter_rest_length = 1;
	memcpy(options.delimiter_rest, "|", 1);
	expect_trace(&options, CSV_NORMAL, "|a|||b||||\n",
				 "sU U f1 F U U f1 F f1 F frR R");
	expect_trace(&options, CSV_NORMAL, "\"||\"||\"a\"\n", "sQ Q Q C f1 F Q Q C frR R");
	expect_trace(&options, CSV_NORMAL, "\"a\"|", "sQ Q C K frbR");
	expect_trace(&options, CSV_NORMAL, "a|", "sU U frR");
	options.delimiter_rest_length = 3;
	memcpy(options.delimiter_rest, "~|~", 3);
	expect_trace(&options, CSV_NORMAL, "|~|~|~|~", "sf3 2 1 F f3 2 1 F frR");
	options.quoting = CSV_QUOTING_TEXT;
	options.quote = 0;
	expect_trace(&options, CSV_NORMAL, "\\|~|~|~\n", "sE U U f3 2 1 F frR R");
}

TEST(blanks_around_values_are_none_of_them)
{
	CsvDialectOptions options = rfc4180;

	options.trim = true;
	expect_trace(&options, CSV_NORMAL, " \"a\" ,\t1 2\n", "sF Q Q C A fF F U U U frR R");
	expect_trace(&options, CSV_NORMAL, "\"a\" \"b\"\n", "sQ Q C A K K K frbR R");
	expect_trace(&options, CSV_NORMAL, "\"a\" \r\n", "sQ Q C A A frR R");
	expect_trace(&options, CSV_NORMAL, " \n", "sF frR R");
	options.delimiter = '\t';
	expect_trace(&options, CSV_NORMAL, "\"a\"\t \"b\"", "sQ Q C fF F Q Q C frR");
	options.quoting = CSV_QUOTING_POSTGRES;
	expect_trace(&options, CSV_NORMAL, " \"a\" \"b\"", "sF Q Q C U Q Q C frR");
}

static void
expect_trimmed(const CsvDialectOptions *options, const char *field, uint64_t from,
			   uint64_t to)
{
	uint64_t	start = 0;
	uint64_t	end = strlen(field);

	csv_trim(options, (const uint8_t *) field, &start, &end);
	assert_int_equal(start, from);
	assert_int_equal(end, to);
}

TEST(an_escaped_blank_of_text_stays)
{
	CsvDialectOptions options = {.escape = '\\', .quoting = CSV_QUOTING_TEXT, .trim = true};

	expect_trimmed(&options, "", 0, 0);
	expect_trimmed(&options, " \t", 2, 2);
	expect_trimmed(&options, " a \t", 1, 2);
	expect_trimmed(&options, " \\  ", 1, 3);
	expect_trimmed(&options, "\\\\  ", 0, 2);
	options.quoting = CSV_QUOTING_RFC4180;
	expect_trimmed(&options, " \\  ", 1, 2);
}

TEST(content_ends_before_the_cr_of_its_boundary)
{
	CsvDialectOptions options = rfc4180;
	CsvDialect	dialect;
	const uint8_t *bytes = (const uint8_t *) "a\r\n\r\n";

	csv_dialect_compile(&dialect, &rfc4180);
	assert_int_equal(csv_content_end(&dialect, bytes, 0, 2, 5), 1);
	assert_int_equal(csv_content_end(&dialect, bytes, 3, 4, 5), 3);
	/* not before the end of the input, nor before the field's start */
	assert_int_equal(csv_content_end(&dialect, bytes, 0, 2, 2), 2);
	assert_int_equal(csv_content_end(&dialect, bytes, 2, 2, 5), 2);

	bytes = (const uint8_t *) "\r\r\r\n";
	assert_int_equal(csv_content_end(&dialect, bytes, 0, 3, 4), 1);
	assert_int_equal(csv_content_end(&dialect, bytes, 2, 3, 4), 2);
	options.boundary = CSV_BOUNDARY_CRLF;
	csv_dialect_compile(&dialect, &options);
	assert_int_equal(csv_content_end(&dialect, bytes, 0, 3, 4), 2);
	options.boundary = CSV_BOUNDARY_LF;
	csv_dialect_compile(&dialect, &options);
	assert_int_equal(csv_content_end(&dialect, bytes, 0, 3, 4), 3);
}
