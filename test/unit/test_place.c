/*
 * test_place.c
 *		Reading goes on at a place in a file, whoever has read what comes before.
 *
 * Random files are read by one reader, and again by two, of other engines: the
 * second one starts where the first has stopped.  A digest of all rows and errors,
 * with their places, must come out the same.
 */
#include "unit.h"
#include "place.h"
#include "reading.h"
#include "rounds.h"

/* ---- a file, and what is found in it ---- */

static ssize_t
read_source_at(void *arg, uint8_t *buffer, size_t nbytes, uint64_t offset)
{
	const ContentSource *source = arg;

	if (offset >= source->file->nbytes)
		return 0;
	if (nbytes > source->file->nbytes - offset)
		nbytes = source->file->nbytes - offset;
	memcpy(buffer, source->file->bytes + offset, nbytes);
	return (ssize_t) nbytes;
}

static void
seek_source(void *arg, uint64_t offset)
{
	((ContentSource *) arg)->position = offset;
}

typedef struct Found
{
	uint64_t	digest;
	uint64_t	nrecords;
	CsvFilePlace place;			/* where reading ended, */
	CsvDialect	dialect;		/* by this dialect */
} Found;

static void
add_to_digest(Found *found, const void *bytes, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		found->digest = (found->digest ^ ((const uint8_t *) bytes)[i]) *
			0x100000001b3;
}

static void
add_number(Found *found, uint64_t number)
{
	add_to_digest(found, &number, sizeof(number));
}

static void
take_row(Found *found, const CsvBatch *batch, const CsvLayout *layout,
		 const CsvDialect *dialect, uint32_t row)
{
	CsvScan		scan;

	memset(&scan, 0, sizeof(scan));
	assert_int_equal(CSV_OK, csv_scan_row(&scan, &csv_thread_memory, dialect, batch,
										  batch->row_offsets[row]));
	add_number(found, scan.lenient);
	add_number(found, batch->file_offset + scan.start);
	add_number(found, batch->file_lines + batch->row_lines[row]);
	add_to_digest(found, batch->bytes + scan.start, scan.end - scan.start);
	free(scan.separators);
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		/* whether a value is long depends on the others of its batch */
		uint8_t		status = batch->arrays[i].status[row];

		add_number(found, status == CSV_VALUE_LONG ? CSV_VALUE_OK : status);
	}
}

static void
take_batch(Found *found, const CsvBatch *batch, const CsvLayout *layout,
		   const CsvDialect *dialect)
{
	uint32_t	next_error = 0;

	assert_int_equal(batch->file_records, found->nrecords);
	for (uint32_t row = 0; row <= batch->nrows; row++)
	{
		for (; next_error < batch->nerrors &&
			 batch->errors[next_error].before_row == row; next_error++)
		{
			const CsvError *error = &batch->errors[next_error];

			add_number(found, error->code);
			add_number(found, error->where);
			add_number(found, batch->file_records + error->record);
			add_number(found, batch->file_lines + error->line);
			add_number(found, batch->file_offset + error->offset);
			/* that of a longer one depends on what was in the input */
			if (error->code != CSV_ERROR_RECORD_TOO_LONG)
				add_number(found, error->length);
		}
		if (row < batch->nrows)
			take_row(found, batch, layout, dialect, row);
	}
	found->nrecords += batch->nrecords;
}

/* ---- readers ---- */

/* who reads, and how */
typedef struct Way
{
	uint32_t	threads;		/* of the CPU engine */
	int			nthreads;		/* that may read ahead; 0: it is a stream */
	uint64_t	chunk_bytes;
} Way;

static Way
random_way(const Case *test_case)
{
	Way			way = {one_in(2) ? 0 : 3, one_in(2) ? 0 : 1,
	one_in(5) ? test_case->chunk_bytes : 1 + random_below(100)};

	return way;
}

/* up to most_batches more of them, from where *found is; is that the end? */
static bool
read_on(const Case *test_case, const Content *file, const Way *way,
		bool from_top, uint32_t most_batches, Found *found)
{
	CsvLayout	layout = case_layout(test_case);
	CsvReaderOptions options = {
		.dialect = test_case->dialect,
		.header_rows = test_case->header_rows,
		.max_record_bytes = test_case->max_record_bytes,
		.chunk_bytes = way->chunk_bytes
	};
	ContentSource		source = {file, 0};
	CsvReadAhead ahead = {read_source_at, seek_source, &source, file->nbytes};
	void	   *engine = csv_cpu_open(&csv_thread_memory, &(CsvCpuOptions) {
		.threads = way->threads
	});
	CsvReader  *reader = csv_reader_create(&csv_thread_memory, &options);
	CsvStatus	status = CSV_OK;
	CsvBatch	batch;

	layout.want_positions = true;
	csv_reader_set_engine(reader, &csv_cpu_engine, engine);
	if (from_top)
		assert_int_equal(csv_reader_open(reader, content_read, &source), CSV_OK);
	else
	{
		source.position = found->place.offset;
		csv_reader_open_at(reader, content_read, &source, &found->place,
						   &found->dialect);
	}
	if (way->nthreads > 0)
		csv_reader_read_ahead(reader, &ahead);
	assert_int_equal(csv_reader_set_layout(reader, &layout), CSV_OK);
	for (uint32_t n = 0; n < most_batches && status == CSV_OK; n++)
	{
		status = csv_reader_next(reader, &batch);
		if (status == CSV_OK)
			take_batch(found, &batch, &layout, csv_reader_dialect(reader));
	}
	assert_true(status == CSV_OK || status == CSV_END);
	found->place = *csv_reader_place(reader);
	found->dialect = *csv_reader_dialect(reader);
	csv_reader_free(reader);
	csv_cpu_engine.close(engine);
	return status == CSV_END;
}

/* ---- tests ---- */

/*
 * A random file, or some of them, one behind the other.  Mostly its top tells
 * nothing, so that it is not read at once.
 */
static void
make_file(Case *test_case, Content *file, Choices *choices)
{
	if (!one_in(4))
	{
		test_case->header_rows = 0;
		if (test_case->dialect.boundary == CSV_BOUNDARY_AUTO)
			test_case->dialect.boundary = CSV_BOUNDARY_LF;
	}
	for (uint32_t n = one_in(2) ? 1 : 1 + random_below(10); n > 0; n--)
	{
		Content		part = {NULL, 0, 0};

		content_make(&part, test_case, choices);
		content_put(file, part.bytes, part.nbytes);
		content_free(&part);
	}
}

TEST(another_reader_goes_on_where_one_has_stopped)
{
	static Case test_case;
	uint64_t	seed = first_seed();
	uint32_t	nsplit = 0;
	uint32_t	nalone = 0;
	uint32_t	nskip = 0;

	for (uint32_t n = rounds(1200); n > 0; n--, seed++)
	{
		Choices		choices = {.state = seed * UINT64_C(0x9E3779B97F4A7C15)};
		Content		file = {NULL, 0, 0};
		Found		whole = {.digest = 1};
		Found		parts = {.digest = 1};
		Way			way = {0, 0, 0};
		bool		at_end;

		start_seed(seed);
		do
			case_make(&test_case, &choices);
		while (test_case.layout.ncolumns > 50);
		make_file(&test_case, &file, &choices);
		assert_true(read_on(&test_case, &file, &way, true, UINT32_MAX, &whole));
		way = random_way(&test_case);
		at_end = read_on(&test_case, &file, &way, true, random_below(10),
						 &parts);
		while (!at_end)
		{
			nsplit++;
			nalone += parts.place.alone_until > 0;
			nskip += parts.place.skip_line;
			way = random_way(&test_case);
			at_end = read_on(&test_case, &file, &way, false,
							 one_in(4) ? UINT32_MAX : 1 + random_below(20),
							 &parts);
		}
		assert_int_equal(parts.nrecords, whole.nrecords);
		assert_int_equal(parts.digest, whole.digest);
		assert_int_equal(parts.place.offset, whole.place.offset);
		assert_int_equal(parts.place.lines, whole.place.lines);
		content_free(&file);
	}
	end_seeds();

	/* there were places of all kinds */
	if (rounds(1200) >= 1200)
		assert_true(nsplit > 0 && nalone > 0 && nskip > 0);
}

TEST(neither_mark_nor_header_nor_boundary_is_looked_for)
{
	static const CsvKind kinds[] = {CSV_KIND_TEXT};
	static Case test_case;
	Content		file = {NULL, 0, 0};
	Way			way = {0, 0, 0};
	Found		found = {
		.nrecords = 1, .place = {.offset = 7, .records = 1, .lines = 2}
	};

	/* by the first line, lone CRs are breaks */
	plain_case(&test_case, 1, kinds, 1);
	content_string(&file, "name\ra\r\xEF\xBB\xBF" "b\nc\rd");
	test_case.dialect.boundary = CSV_BOUNDARY_CR;
	csv_dialect_compile(&found.dialect, &test_case.dialect);
	test_case.dialect.boundary = CSV_BOUNDARY_AUTO;
	test_case.header_rows = 1;
	assert_true(read_on(&test_case, &file, &way, false, UINT32_MAX, &found));
	assert_int_equal(found.nrecords, 3);
	assert_int_equal(found.place.offset, file.nbytes);
	assert_int_equal(found.place.records, 3);
	assert_int_equal(found.place.lines, 3);
	assert_int_equal(found.dialect.opt.boundary, CSV_BOUNDARY_CR);
	content_free(&file);
}
