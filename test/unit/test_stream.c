/*
 * test_stream.c
 *		The reader of a file: byte-order mark, boundary, header, chunks.
 */
#include "unit.h"
#include "piece.h"
#include "reading.h"

/* ---- the top of a file ---- */

TEST(a_byte_order_mark_is_dropped_and_counts_as_bytes)
{
	Reading		reading;

	reading_init(&reading, 2);
	expect_reading(&reading, "\xEF\xBB\xBF" "a,b\nc\n",
				   "<a><b>\n!column_count 1 record 1 line 1 offset 7 length 1\n");
	expect_reading(&reading, "\xEF\xBB\xBF\"a\",b\n", "<a><b>\n");
	expect_reading(&reading, "\xEF\xBB\xBF", "");
}

TEST(only_a_whole_byte_order_mark_at_the_top_is_one)
{
	Reading		reading;

	reading_init(&reading, 1);
	expect_reading(&reading, "\xEF\xBB",
				   "!invalid_utf8 0 record 0 line 0 offset 0 length 2\n");
	expect_reading(&reading, "a\n\xEF\xBB\xBF" "b\n",
				   "<a>\n<\xEF\xBB\xBF" "b>\n");
}

TEST(an_empty_file_has_no_records)
{
	Reading		reading;

	reading_init(&reading, 1);
	expect_reading(&reading, "", "");
	reading.options.header_rows = 2;
	expect_reading(&reading, "", "");
}

TEST(auto_takes_lf_with_and_without_cr_in_one_file)
{
	Reading		reading;

	reading_init(&reading, 2);
	expect_reading(&reading, "a,b\r\nc,d\ne,f\r\ng,h",
				   "<a><b>\n<c><d>\n<e><f>\n<g><h>\n");
	/* two CRs belong to the break, a third does not, nor those at the end of the file */
	expect_reading(&reading, "x,y\na,b\r\r\nc,d\r\r\r\n\r\r\ne,f\r\r",
				   "<x><y>\n<a><b>\n<c><d\r>\n<e><f\r\r>\n");
	expect_reading(&reading, "a,b\r\r\nc,\"d\r\r\n\"\r\r\n",
				   "<a><b>\n<c><d\r\r\n>\n");
	/* lone CRs are data, whether they come first or not */
	expect_reading(&reading, "a\r,b\nc,d\re\n", "<a\r><b>\n<c><d\re>\n");
}

TEST(auto_takes_cr_where_there_is_no_lf)
{
	Reading		reading;

	reading_init(&reading, 2);
	expect_reading(&reading, "a,b\rc,d\re,f", "<a><b>\n<c><d>\n<e><f>\n");
	expect_reading(&reading, "a,b\r", "<a><b>\n");
	/* a LF at the end is no data, and decides nothing */
	expect_reading(&reading, "a,b\rc,d\n", "<a><b>\n<c><d>\n");
	expect_reading(&reading, "a,b\rc,d\r\n", "<a><b>\n<c><d>\n");
	/* nor one among CRs that cut the file into more records that are alike */
	expect_reading(&reading, "a,b\rc,d\re,f\rg,h\ni,j\r",
				   "<a><b>\n<c><d>\n<e><f>\n!column_count 3 record 3 line 3 offset 12 length 7\n");
	reading.options.header_rows = 1;
	expect_reading(&reading, "x,y\r\na,b\rc,d\re,f\r", "<a><b>\n<c><d>\n<e><f>\n");
	reading.options.header_rows = 0;
	/* a LF in quotes is data, whether these begin a record or end one */
	expect_reading(&reading, "a,b\r\"c\nd\",\"e\"\r\"\nf\",g\r",
				   "<a><b>\n<c\nd><e>\n<\nf><g>\n");
}

TEST(auto_looks_for_a_lf_in_the_first_megabyte)
{
	Reading		reading;
	size_t		nbytes = CSV_BOUNDARY_BYTES + 100;
	uint8_t    *file = malloc(nbytes);

	assert_non_null(file);
	reading_init(&reading, 1);
	reading.keep_text = false;
	for (int beyond = -1; beyond < 2; beyond++)
	{
		memset(file, 'x', nbytes);
		file[5] = '\r';
		file[CSV_BOUNDARY_BYTES + beyond] = '\n';
		reading_run(&reading, file, nbytes);
		assert_int_equal(reading.last_text_bytes, beyond < 0 ? 100 : nbytes - 6);

		/* the CR of a CR LF is no lone one, where that reaches beyond, either */
		file[5] = 'x';
		file[CSV_BOUNDARY_BYTES + beyond - 1] = '\r';
		reading_run(&reading, file, nbytes);
		assert_int_equal(reading.last_text_bytes, 99 - beyond);
	}
	free(file);
}

TEST(a_ctrl_z_alone_at_the_end_is_no_record)
{
	Reading		reading;

	reading_init(&reading, 1);
	expect_reading(&reading, "a\n\x1a", "<a>\n");
	expect_reading(&reading, "a\r\n\x1a\r\n", "<a>\n");
	expect_reading(&reading, "a\r\x1a\r", "<a>\n");
	expect_reading(&reading, "a\n\x1a\n\n\r\n", "<a>\n");
	expect_reading(&reading, "\x1a", "");
	/* anything else behind or beside it makes it data */
	expect_reading(&reading, "a\n\x1a\nb", "<a>\n<\x1a>\n<b>\n");
	expect_reading(&reading, "a\x1a", "<a\x1a>\n");
	expect_reading(&reading, "\x1a\x1a", "<\x1a\x1a>\n");
	expect_reading(&reading, "\"\x1a\"", "<\x1a>\n");
	reading.options.dialect.delimiter = 0x1a;
	reading.layout.pad = true;
	expect_reading(&reading, "a\n\x1a\n", "<a>\n-\n");
}

TEST(auto_looks_for_a_break_outside_quotes)
{
	Reading		reading;

	reading_init(&reading, 2);
	expect_reading(&reading, "\"a\rb\",c\nd,e\n", "<a\rb><c>\n<d><e>\n");
	expect_reading(&reading, "\"a\nb\",c\rd,e\r", "<a\nb><c>\n<d><e>\n");
}

TEST(the_boundary_is_found_however_far_down_it_is)
{
	Reading		reading;
	size_t		nbytes = 300000;
	uint8_t    *file = malloc(nbytes);

	assert_non_null(file);
	memset(file, 'x', nbytes);
	file[200000] = '\r';
	reading_init(&reading, 1);
	reading.keep_text = false;
	reading_run(&reading, file, nbytes);
	assert_int_equal(reading.nrows, 2);

	/* the CR is the last byte of a piece, its LF the first of the next */
	file[65535] = '\r';
	file[65536] = '\n';
	reading_run(&reading, file, nbytes);
	assert_int_equal(reading.nrows, 2);
	assert_int_equal(reading.last_text_bytes, nbytes - 65537);
	free(file);
}

/* ---- the header ---- */

/* a file of so many times a line, then a header, and more data than is read with it */
static uint8_t *
lines_above(const char *line, size_t nlines, size_t *nabove, size_t *nbytes)
{
	size_t		length = strlen(line);
	size_t		ndata = 400000;
	uint8_t    *file;

	*nabove = nlines * length;
	*nbytes = *nabove + 4 + ndata;
	file = malloc(*nbytes);
	assert_non_null(file);
	for (size_t i = 0; i < nlines; i++)
		memcpy(file + i * length, line, length);
	memcpy(file + *nabove, "a,b\n", 4);
	for (size_t i = 0; i < ndata; i += 4)
		memcpy(file + *nabove + 4 + i, "1,2\n", 4);
	return file;
}

/* many lines above the header: reads are as few as those of data, and no farther */
static void
expect_few_reads(Reading *reading, const char *line, size_t nlines)
{
	const size_t piece = 65536;
	size_t		nabove;
	size_t		nbytes;
	uint8_t    *file = lines_above(line, nlines, &nabove, &nbytes);

	for (size_t most = 0; most < 60000; most = most * 100 + 7)
	{
		reading->most_per_read = most;
		reading_run(reading, file, nbytes);
		assert_string_equal(reading->header, "<a><b>");
		assert_int_equal(reading->nrows, 100000);
		assert_in_range(reading->nbytes_to_open, nabove + 4, nabove + 3 * piece);
		assert_in_range(reading->nreads_to_open, 1,
						reading->nbytes_to_open / (most > 0 ? most : piece) + 3);
	}
	free(file);
}

TEST(lines_above_the_header_are_not_read_one_by_one)
{
	Reading		reading;

	reading_init(&reading, 2);
	reading.keep_text = false;
	reading.options.header_rows = 1;
	reading.options.dialect.comment[0] = '#';
	reading.options.dialect.comment_length = 1;
	expect_few_reads(&reading, "##\n", 300000);
	expect_few_reads(&reading, "# a line of some length, as a comment's is\n", 10000);
	reading.options.dialect.comment_length = 0;
	reading.options.header_rows = 300001;
	expect_few_reads(&reading, "\n", 300000);
	expect_few_reads(&reading, "\r\n", 300000);
	reading.options.dialect.boundary = CSV_BOUNDARY_LF;
	expect_few_reads(&reading, "x\n", 300000);
}

TEST(a_header_alone_is_read_at_once)
{
	Reading		reading;
	size_t		nabove;
	size_t		nbytes;
	uint8_t    *file = lines_above("", 0, &nabove, &nbytes);

	reading_init(&reading, 2);
	reading.keep_text = false;
	reading.options.header_rows = 1;
	reading_run(&reading, file, nbytes);
	assert_int_equal(reading.nrows, 100000);
	assert_int_equal(reading.nbytes_to_open, 65536);
	free(file);
}

TEST(header_rows_are_passed_over_and_not_counted_as_records)
{
	Reading		reading;

	reading_init(&reading, 2);
	reading.options.header_rows = 1;
	expect_reading(&reading, "x,y,z\n1,2\n3\n",
				   "<1><2>\n!column_count 1 record 1 line 2 offset 10 length 1\n");
	reading.options.header_rows = 3;
	expect_reading(&reading, "x\n\n\"y\nz\"\n1,2\n", "<1><2>\n");
	expect_reading(&reading, "x\ny\n", "");
}

TEST(the_last_header_row_holds_the_field_names)
{
	Reading		reading;
	const char	file[] = "title\r\nid,\"na,me\",\r\n1,2,3\r\n";

	reading_init(&reading, 3);
	reading.options.header_rows = 2;
	reading_run(&reading, (const uint8_t *) file, sizeof(file) - 1);
	assert_string_equal(reading.header, "<id><\"na,me\"><>");
	assert_string_equal(reading.text, "<1><2><3>\n");
	free(reading.text);

	/* a file that ends before it has no such row */
	reading_run(&reading, (const uint8_t *) file, 7);
	assert_string_equal(reading.header, "");
	free(reading.text);
}

TEST(a_quoting_error_in_the_header_costs_its_first_line_only)
{
	Reading		reading;

	reading_init(&reading, 2);
	reading.options.header_rows = 1;
	expect_reading(&reading, "\"x,y\n1,2\n3,4\n", "<1><2>\n<3><4>\n");
	reading.options.header_rows = 2;
	expect_reading(&reading, "\"x,y\n1,2\n3,4\n", "<3><4>\n");
}

TEST(lines_after_a_broken_header_are_read_alone)
{
	Reading		reading;

	reading_init(&reading, 2);
	reading.options.header_rows = 1;
	expect_reading(&reading, "\"x,y\n1\"z,2\n3,4\n",
				   "!text_after_quote 0 record 0 line 1 offset 5 length 5\n"
				   "<3><4>\n");
}

TEST(a_header_line_longer_than_a_record_may_be_is_passed_over)
{
	Reading		reading;
	size_t		nbytes = 200000;
	uint8_t    *file = malloc(nbytes + 16);

	assert_non_null(file);
	memset(file, 'x', nbytes);
	memcpy(file + nbytes, "\r\nsecond\r\n1\r\n2\r\n", 16);
	reading_init(&reading, 1);
	reading.options.max_record_bytes = 100;
	reading.options.header_rows = 2;
	reading_run(&reading, file, nbytes + 16);
	assert_string_equal(reading.header, "<second>");
	assert_string_equal(reading.text, "<1>\n<2>\n");
	free(reading.text);
	free(file);
}

/* ---- chunks ---- */

TEST(records_across_chunks_are_read_once_and_whole)
{
	Reading		reading;

	reading_init(&reading, 2);
	for (uint64_t chunk = 1; chunk < 40; chunk++)
	{
		reading.options.chunk_bytes = chunk;
		expect_reading(&reading,
					   "a,\"b\nc\"\r\n\r\n\"d\"\"\",e\r\nf,\"g\r\n\"\nlong enough,x",
					   "<a><b\nc>\n<d\"><e>\n<f><g\r\n>\n<long enough><x>\n");
	}
}

TEST(short_reads_make_no_difference)
{
	Reading		reading;

	reading_init(&reading, 2);
	for (size_t most = 1; most < 9; most++)
	{
		reading.most_per_read = most;
		expect_reading(&reading, "\xEF\xBB\xBF" "a,b\r\n\"c\r\nd\",e\r\n",
					   "<a><b>\n<c\r\nd><e>\n");
	}
}

TEST(the_buffer_grows_for_a_record_longer_than_a_chunk)
{
	Reading		reading;
	size_t		nbytes = 3000000;
	uint8_t    *file = malloc(nbytes);

	assert_non_null(file);
	memset(file, 'x', nbytes);
	file[nbytes - 3] = '\n';
	reading_init(&reading, 1);
	reading.options.chunk_bytes = 10;
	reading.keep_text = false;
	reading_run(&reading, file, nbytes);
	assert_int_equal(reading.nrows, 2);
	assert_int_equal(reading.nerrors, 0);
	free(file);
}

TEST(a_line_without_end_is_one_error_and_the_next_line_is_read)
{
	Reading		reading;
	size_t		nbytes = 100000;
	char	   *file = malloc(nbytes + 5);

	assert_non_null(file);
	memset(file, 'x', nbytes);
	memcpy(file + nbytes, "\r\n1\r\n", 5);
	for (uint64_t chunk = 1; chunk < 5000; chunk += chunk < 70 ? 1 : 977)
	{
		reading_init(&reading, 1);
		reading.options.max_record_bytes = 50;
		reading.options.chunk_bytes = chunk;
		reading_run(&reading, (const uint8_t *) file, nbytes + 5);
		assert_int_equal(reading.nerrors, 1);
		assert_int_equal(reading.last_error.code, CSV_ERROR_RECORD_TOO_LONG);
		assert_int_equal(reading.last_error.offset, 0);
		assert_true(reading.last_error.length > 50);
		assert_int_equal(reading.nrows, 1);
		assert_non_null(strstr(reading.text, "\n<1>\n"));
		free(reading.text);
	}
	free(file);
}

TEST(memory_stays_near_the_record_limit_whatever_the_line)
{
	Reading		reading;
	size_t		nbytes = 64 * 1024 * 1024;
	uint8_t    *file = malloc(nbytes);

	/* a quote that nobody closes, in a file of one line */
	assert_non_null(file);
	memset(file, 'x', nbytes);
	file[0] = '"';
	reading_init(&reading, 1);
	reading.options.max_record_bytes = 1000;
	reading.keep_text = false;
	reading_run(&reading, file, nbytes);
	assert_int_equal(reading.nrows, 0);
	assert_int_equal(reading.nerrors, 1);
	assert_true(reading.last_error.length <= CSV_BOUNDARY_BYTES + CSV_CLASS_BYTES);
	free(file);
}

/* ---- interruption and failure ---- */

typedef struct Stop
{
	uint32_t	calls;
	uint32_t	at;				/* the call that says stop */
} Stop;

static bool
stop_once(void *arg)
{
	Stop	   *stop = arg;

	return stop->calls++ == stop->at;
}

typedef struct Text
{
	const char *bytes;
	size_t		nbytes;
	int			nreads;			/* that returned bytes */
} Text;

static size_t
read_text(void *arg, uint8_t *buffer, size_t nbytes)
{
	Text	   *text = arg;

	if (nbytes > text->nbytes)
		nbytes = text->nbytes;
	memcpy(buffer, text->bytes, nbytes);
	text->bytes += nbytes;
	text->nbytes -= nbytes;
	text->nreads += nbytes > 0;
	return nbytes;
}

/* ---- a small file ---- */

static void *
alloc_and_count(void *owner, size_t nbytes)
{
	*(size_t *) owner += nbytes;
	return malloc(nbytes);
}

static void
free_counted(void *owner, void *memory)
{
	(void) owner;
	free(memory);
}

/* with or without a header; the last file is longer than expected */
TEST(a_small_file_is_read_at_once_into_memory_of_its_size)
{
	static const char file[] = "a,b\n\"c\",d\ne,f\n";

	for (uint32_t i = 0; i < 3; i++)
	{
		Reading		reading;
		Text		text = {file, sizeof(file) - 1, 0};
		size_t		allocated = 0;
		CsvMemory	memory = {alloc_and_count, free_counted, &allocated};
		CsvReader  *reader;
		CsvBatch	batch;
		void	   *engine = csv_cpu_open(&csv_thread_memory, &(CsvCpuOptions) {.isa = CSV_ISA_BEST});

		reading_init(&reading, 2);
		reading.options.header_rows = i % 2;
		reader = csv_reader_create(&memory, &reading.options);
		csv_reader_set_engine(reader, &csv_cpu_engine, engine);
		csv_reader_expect(reader, text.nbytes - (i == 2 ? 4 : 0), false);
		assert_int_equal(csv_reader_open(reader, read_text, &text), CSV_OK);
		csv_reader_set_layout(reader, &reading.layout);
		assert_int_equal(csv_reader_next(reader, &batch), CSV_OK);
		assert_int_equal(batch.nrows, 3 - i % 2);
		if (i < 2)
		{
			assert_int_equal(text.nreads, 1);
			assert_in_range(allocated, 1, 8 * 1024);
		}
		assert_int_equal(csv_reader_next(reader, &batch), CSV_END);
		csv_reader_free(reader);
		csv_cpu_engine.close(engine);
	}
}

TEST(after_an_interruption_the_same_batch_can_be_read)
{
	bool		any = false;

	for (uint32_t at = 0; at < 6; at++)
	{
		Reading		reading;
		Stop		stop = {0, at};
		Text		text = {"a\n\"b\nc\n", 7, 0};
		CsvColumn	column = {.max_chars = -1, .byte_width = -1, .type_chars = -1};
		CsvReader  *reader;
		CsvBatch	batch;
		CsvStatus	status;
		void	   *engine = csv_cpu_open(&csv_thread_memory, &(CsvCpuOptions) {.isa = CSV_ISA_BEST});
		int			interruptions = 0;

		reading_init(&reading, 1);
		reading.options.interrupted = stop_once;
		reading.options.interrupted_arg = &stop;
		reading.layout.columns = &column;
		reading.layout.ncolumns = 1;
		reader = csv_reader_create(&csv_thread_memory, &reading.options);
		csv_reader_set_engine(reader, &csv_cpu_engine, engine);
		assert_int_equal(csv_reader_open(reader, read_text, &text), CSV_OK);
		csv_reader_set_layout(reader, &reading.layout);
		while ((status = csv_reader_next(reader, &batch)) == CSV_INTERRUPTED)
			interruptions++;
		assert_int_equal(status, CSV_OK);
		assert_int_equal(batch.nrows, 2);
		assert_int_equal(batch.nerrors, 1);
		assert_true(interruptions <= 1);
		any |= interruptions == 1;
		assert_int_equal(csv_reader_next(reader, &batch), CSV_END);
		csv_reader_free(reader);
		csv_cpu_engine.close(engine);
	}
	assert_true(any);
}

/*
 * A header and a record of megabytes each, of bytes that are read one by one:
 * the callback is called all along, and giving up at any call loses nothing.
 */
TEST(a_long_record_can_be_interrupted_anywhere)
{
	static const char *const units[] = {",", "\"", "\"\"x", "\",\"", "x"};
	enum
	{
		MEGABYTES = 6
	};
	char	   *bytes = malloc(2 * (MEGABYTES << 20) + 16);

	assert_non_null(bytes);
	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++)
	{
		size_t		unit = strlen(units[u]);
		size_t		nbytes = 0;
		uint32_t	expected_fields = 0;
		uint32_t	ncalls = 0;
		uint32_t	nopen = 0;

		for (int record = 0; record < 2; record++)
		{
			size_t		end = nbytes + (MEGABYTES << 20);

			/* an even number of quotes between two others */
			bytes[nbytes++] = '"';
			for (size_t n = 0; n < 2 || nbytes + 2 * unit < end; n += 2)
				for (int twice = 0; twice < 2; twice++, nbytes += unit)
					memcpy(bytes + nbytes, units[u], unit);
			bytes[nbytes++] = '"';
			bytes[nbytes++] = '\n';
		}

		for (uint32_t at = UINT32_MAX;;)
		{
			Reading		reading;
			Stop		stop = {0, at};
			Text		text = {bytes, nbytes, 0};
			CsvReader  *reader;
			CsvRecord	header;
			CsvBatch	batch;
			CsvStatus	status;
			void	   *engine = csv_cpu_open(&csv_thread_memory, &(CsvCpuOptions) {.isa = CSV_ISA_BEST});
			int			interruptions = 0;

			reading_init(&reading, 1);
			reading.options.header_rows = 1;
			reading.options.max_record_bytes = 100 << 20;
			reading.options.interrupted = stop_once;
			reading.options.interrupted_arg = &stop;
			reader = csv_reader_create(&csv_thread_memory, &reading.options);
			csv_reader_set_engine(reader, &csv_cpu_engine, engine);
			while ((status = csv_reader_open(reader, read_text, &text)) == CSV_INTERRUPTED)
				interruptions++;
			assert_int_equal(status, CSV_OK);
			if (at == UINT32_MAX)
				nopen = stop.calls;
			assert_true(csv_reader_header(reader, &header));
			assert_int_equal(header.length, nbytes / 2 - 1);
			if (at == UINT32_MAX)
				expected_fields = header.nfields;
			assert_int_equal(header.nfields, expected_fields);
			csv_reader_set_layout(reader, &reading.layout);
			while ((status = csv_reader_next(reader, &batch)) == CSV_INTERRUPTED)
				interruptions++;
			assert_int_equal(status, CSV_OK);
			assert_int_equal(batch.nrecords, 1);
			assert_int_equal(batch.consumed, nbytes / 2);
			assert_int_equal(interruptions, at != UINT32_MAX);
			csv_reader_free(reader);
			csv_cpu_engine.close(engine);

			/* some of the calls, from the first to the last */
			if (at == UINT32_MAX)
			{
				ncalls = stop.calls;
				at = 0;
			}
			else
				at += ncalls / 8 + 1;
			if (at >= ncalls)
				break;
		}

		/* the header is looked through for its end, and for its fields */
		assert_in_range(nopen, 2 * (MEGABYTES - 1), UINT32_MAX);
		assert_in_range(ncalls - nopen, MEGABYTES - 1, UINT32_MAX);
	}
	free(bytes);
}

/* as pread(2), of bytes that are all the same */
static ssize_t
read_letters(void *arg, uint8_t *buffer, size_t nbytes, uint64_t offset)
{
	(void) arg;
	(void) offset;
	memset(buffer, 'x', nbytes);
	return (ssize_t) nbytes;
}

TEST(no_place_is_guessed_in_a_header_longer_than_a_piece)
{
	CsvPiece	piece = {.from = 100000, .to = 1000, .is_exact = true};
	CsvDialectOptions dialect_options;
	CsvDialect	dialect;
	CsvPieceReader reader = {
		.dialect = &dialect,
		.window = {
			.memory = csv_thread_memory, .read_at = read_letters, .end = 200000
		}
	};

	memset(&dialect_options, 0, sizeof(dialect_options));
	dialect_options.delimiter = ',';
	dialect_options.quote = '"';
	dialect_options.multiline = true;
	csv_dialect_compile(&dialect, &dialect_options);
	assert_int_equal(csv_piece_guess(&reader, &piece), CSV_OK);
	assert_true(piece.found);
	assert_int_equal(piece.end, piece.from);
	csv_window_release(&reader.window);
}

/* a record, which the file of read_records() has many times */
#define DOUBLED		"12,\"a\"\"b, \"\"\"\"c\"\",d\"\"\",\"\"\"e\"\n"

/* as pread(2) */
static ssize_t
read_records(void *arg, uint8_t *buffer, size_t nbytes, uint64_t offset)
{
	(void) arg;
	for (size_t i = 0; i < nbytes; i++)
		buffer[i] = (uint8_t) DOUBLED[(offset + i) % strlen(DOUBLED)];
	return (ssize_t) nbytes;
}

TEST(a_record_is_guessed_from_any_of_its_doubled_quotes)
{
	const uint64_t nbytes = strlen(DOUBLED);

	for (int quoting = CSV_QUOTING_RFC4180; quoting <= CSV_QUOTING_POSTGRES; quoting++)
	{
		CsvDialectOptions options = {
			.delimiter = ',', .quote = '"', .quoting = (uint8_t) quoting, .multiline = true
		};
		CsvDialect	dialect;
		CsvPieceReader reader = {
			.dialect = &dialect,
			.window = {
				.memory = csv_thread_memory, .read_at = read_records, .end = 1000000
			}
		};

		csv_dialect_compile(&dialect, &options);
		for (uint64_t from = 1000 * nbytes + 1; from <= 1001 * nbytes; from++)
		{
			CsvPiece	piece = {.from = from, .is_last = true};

			assert_int_equal(csv_piece_guess(&reader, &piece), CSV_OK);
			assert_true(piece.found);
			assert_int_equal(piece.begin.offset, 1001 * nbytes);
		}
		csv_window_release(&reader.window);
	}
}
