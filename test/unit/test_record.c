/*
 * test_record.c
 *		Records and values that record.c reads in long steps, against the
 *		dialect's table and field.h, which go byte by byte.
 */
#include "unit.h"
#include "field.h"
#include "random_query.h"
#include "reading.h"

#define MOST_BYTES	600
#define ROUNDS		40000

/* ---- random bytes ---- */

static void
random_dialect(CsvDialect *dialect)
{
	static const uint8_t quotes[] = {'"', '"', '"', '\'', 0};
	static const uint8_t delimiters[] = {',', ';'};
	CsvDialectOptions options = {
		.delimiter = delimiters[random_below(2)],
		.quote = quotes[random_below(5)],
		.quoting = (uint8_t) random_below(CSV_QUOTING_TEXT + 1),
		.boundary = (uint8_t) random_below(CSV_BOUNDARY_CR + 1),
		.multiline = random_below(4) > 0,
		.blank_is_record = random_below(4) == 0,
		.trim = random_below(4) == 0
	};

	if (options.quote != 0 && random_below(3) == 0)
		options.escape = random_below(4) == 0 ? options.delimiter : '\\';
	if (options.escape != options.delimiter && random_below(4) == 0)
	{
		options.delimiter_rest_length = (uint8_t) (1 + random_below(3));
		memset(options.delimiter_rest, options.delimiter, 3);
	}
	csv_dialect_compile(dialect, &options);
}

/* data of any length between two bytes that count, or nearly do */
static uint32_t
random_bytes(const CsvDialect *dialect, uint8_t *bytes)
{
	static const char *const data[] = {
		"plain data, of more than sixteen bytes at a time", "\xc3\xa9\xc3\xa9", "\xf0\x9f\x98\x80",
		"a", "", "\xed\xa0\x80", "\xc3", "\x80\xff", "jjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjj"
	};
	uint32_t	nbytes = 0;
	uint32_t	most = random_below(MOST_BYTES - 60);
	bool		only_data = random_below(4) == 0;

	while (nbytes < most)
	{
		const uint8_t special[] = {
			dialect->opt.delimiter, dialect->opt.quote, dialect->opt.quote,
			dialect->opt.escape, '\n', '\r', ' ', 0
		};
		const char *run = data[random_below(sizeof(data) / sizeof(*data))];
		size_t		length = strlen(run);

		length -= length < 5 ? 0 : random_below((uint32_t) length);
		memcpy(bytes + nbytes, run, length);
		nbytes += (uint32_t) length;
		if (!only_data || nbytes == 0)
			bytes[nbytes++] = special[random_below(random_below(9) == 0 ? 8 : 7)];
	}
	return nbytes;
}

/* ---- references ---- */

/* a record, as csv_scan_record() finds it; separators as often as they fit */
static void
walk_table(CsvScan *scan, uint32_t *separators, const CsvDialect *dialect,
		   CsvMode mode, const uint8_t *bytes, uint64_t nbytes, bool at_end)
{
	uint8_t		state = CSV_STATE_RECORD_START;

	memset(scan, 0, sizeof(*scan));
	scan->end = scan->next = nbytes;
	scan->separators = separators;
	for (uint64_t pos = 0; pos < nbytes + at_end; pos++)
	{
		int			class = csv_class_at(dialect, bytes, pos, nbytes);
		uint8_t		entry = dialect->table[mode][state][class];

		if (entry & CSV_START)
		{
			scan->is_record = true;
			scan->start = pos;
			scan->nbreaks = 0;
		}
		if (entry & CSV_FIELD)
			separators[scan->nfields++] = (uint32_t) (pos - scan->start);
		if (entry & CSV_RECORD)
		{
			uint64_t	last = scan->start +
				(scan->nfields < 2 ? 0 : separators[scan->nfields - 2] +
				 csv_delimiter_length(&dialect->opt));

			scan->complete = true;
			scan->bad = (entry & CSV_BAD) != 0;
			scan->last_state = state;
			scan->end = csv_content_end(dialect, bytes, last, pos, nbytes);
			scan->next = pos + (pos < nbytes);
			return;
		}
		scan->nbreaks += class == CSV_CLASS_BREAK;
		state = entry & CSV_STATE_MASK;
	}
	scan->last_state = state;
	scan->complete = at_end;
}

/* ---- tests ---- */

TEST(records_are_what_the_table_says)
{
	CsvScan		scan;
	uint32_t	ncomplete = 0;

	memset(&scan, 0, sizeof(scan));
	for (int round = 0; round < ROUNDS; round++)
	{
		uint8_t		bytes[MOST_BYTES];
		uint32_t	separators[MOST_BYTES + 1];
		CsvDialect	dialect;
		CsvScan		expected;
		uint32_t	nbytes;
		bool		at_end = random_below(2) == 0;
		CsvMode		mode = random_below(4) == 0 ? CSV_ALONE : CSV_NORMAL;
		uint8_t    *exact;

		random_dialect(&dialect);
		nbytes = random_bytes(&dialect, bytes);
		walk_table(&expected, separators, &dialect, mode, bytes, nbytes,
				   at_end);

		/* with nothing behind them that could be read */
		exact = malloc(nbytes + 1);
		memcpy(exact + 1, bytes, nbytes);
		scan.most = random_below(4);	/* 0: all are kept */
		assert_int_equal(CSV_OK, csv_scan_record(&scan, &csv_thread_memory, &dialect, mode,
									exact + 1, 0, nbytes, at_end));
		free(exact);
		ncomplete += scan.complete;
		assert_int_equal(scan.complete, expected.complete);
		assert_int_equal(scan.is_record, expected.is_record);
		assert_int_equal(scan.bad, expected.bad);
		assert_int_equal(scan.last_state, expected.last_state);
		assert_int_equal(scan.nbreaks, expected.nbreaks);
		assert_int_equal(scan.start, expected.start);
		assert_int_equal(scan.end, expected.end);
		assert_int_equal(scan.next, expected.next);
		assert_int_equal(scan.nfields, expected.nfields);
		if (scan.nfields > 0)
			assert_memory_equal(scan.separators, separators,
								csv_scan_nkept(&scan) * sizeof(*separators));
	}
	free(scan.separators);
	assert_true(ncomplete > ROUNDS / 4);
}

/* bytes that are passed in parts, each with only the bytes that its meaning depends on */
TEST(states_are_what_the_table_says)
{
	uint32_t	nbetween = 0;

	for (int round = 0; round < ROUNDS; round++)
	{
		uint8_t		bytes[MOST_BYTES];
		CsvDialect	dialect;
		uint32_t	nbytes;
		uint8_t		expected = CSV_STATE_RECORD_START;
		uint8_t		found = CSV_STATE_RECORD_START;

		random_dialect(&dialect);
		nbytes = random_bytes(&dialect, bytes);
		for (uint32_t pos = 0; pos < nbytes; pos++)
			expected = CSV_STATE_MASK &
				dialect.table[CSV_NORMAL][expected][csv_class_at(&dialect, bytes, pos, nbytes)];
		for (uint32_t pos = 0, until; pos < nbytes; pos = until)
		{
			uint32_t	start = pos > 0;
			uint32_t	end;
			uint8_t    *part;

			until = pos + 1 + random_below(nbytes - pos);
			end = until + CSV_CLASS_BYTES < nbytes ? until + CSV_CLASS_BYTES : nbytes;
			part = malloc(end - pos + start);
			memcpy(part, bytes + pos - start, end - pos + start);
			found = csv_pass_bytes(&dialect, found, part, start, until - pos + start,
								   end - pos + start);
			free(part);
		}
		assert_int_equal(found, expected);
		nbetween += found == CSV_STATE_RECORD_START;
	}
	assert_true(nbetween > ROUNDS / 50);
}

TEST(values_are_what_byte_by_byte_gives)
{
	uint32_t	nquoted = 0;
	uint32_t	nvalid = 0;

	for (int round = 0; round < ROUNDS; round++)
	{
		uint8_t		bytes[MOST_BYTES];
		uint8_t		value[MOST_BYTES];
		CsvDialect	dialect;
		CsvMeasure	measure;
		CsvMeasure	expected;
		uint32_t	nbytes;
		uint64_t	length;
		uint64_t	room;
		uint8_t    *field;
		uint8_t    *found;
		bool		quoted;
		bool		expected_quoted;

		random_dialect(&dialect);
		nbytes = random_bytes(&dialect, bytes);
		if (nbytes >= 2 && random_below(2) == 0)
			bytes[0] = bytes[nbytes - 1] = dialect.opt.quote;
		field = malloc(nbytes + 1);
		memcpy(field, bytes, nbytes);

		length = csv_unquote(&dialect, bytes, nbytes, value, &expected_quoted);
		room = length + random_below(2) * random_below((uint32_t) (nbytes - length) + 20);
		found = malloc(room + 1);
		memset(found, 0xEE, room + 1);
		assert_int_equal(csv_field_value(&dialect, field, nbytes, found,
										 room, &quoted), length);
		assert_memory_equal(found, value, length);
		assert_int_equal(found[room], 0xEE);
		assert_int_equal(quoted, expected_quoted);

		csv_field_measure(&dialect, bytes, nbytes, &expected);
		memset(found, 0xEE, room + 1);
		csv_fast_measure(&dialect, field, nbytes,
						 !expected.has_nul && !expected.beyond_ascii,
						 room >= nbytes ? found : NULL, &measure);
		if (room >= nbytes && length < nbytes)
			assert_memory_equal(found, value, length);
		assert_int_equal(found[room], 0xEE);
		assert_int_equal(measure.nbytes, expected.nbytes);
		assert_int_equal(measure.nchars, expected.nchars);
		assert_int_equal(measure.has_nul, expected.has_nul);
		assert_int_equal(measure.invalid_utf8, expected.invalid_utf8);
		assert_int_equal(measure.beyond_ascii, expected.beyond_ascii);
		assert_int_equal(measure.quoted, expected.quoted);
		nquoted += quoted;
		nvalid += !measure.invalid_utf8 && measure.beyond_ascii;
		free(field);
		free(found);
	}
	assert_true(nquoted > ROUNDS / 8);
	assert_true(nvalid > ROUNDS / 100);
}
