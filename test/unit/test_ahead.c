/*
 * test_ahead.c
 *		Threads that are ahead make no difference, whatever happens on the way.
 *
 * A file is read chunk by chunk, and again by threads that take pieces of it, with an
 * engine that can be told to fail, to be slow, or to leave some of its input.  A digest
 * of all rows and errors, with their places and bytes, must come out the same.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "unit.h"
#include "pieces.h"
#include "rounds.h"

#define FILE_BYTES	(3 * 1024 * 1024)
#define PIECE_BYTES	(64 * 1024)

/* ---- memory that is counted ---- */

static atomic_int nallocated;

static void *
counted_alloc(void *owner, size_t nbytes)
{
	void	   *memory = malloc(nbytes);

	(void) owner;
	if (memory != NULL)
	{
		memset(memory, 0xA5, nbytes);
		atomic_fetch_add(&nallocated, 1);
	}
	return memory;
}

static void
counted_free(void *owner, void *memory)
{
	(void) owner;
	assert_non_null(memory);
	atomic_fetch_sub(&nallocated, 1);
	free(memory);
}

static const CsvMemory counted_memory = {counted_alloc, counted_free, NULL};

/* ---- a file ---- */

typedef struct File
{
	const uint8_t *bytes;
	atomic_size_t nbytes;
	size_t		position;		/* of the CsvReadFn */
	size_t		bad_from;		/* read_at fails from here on; 0: never */
	bool		bad_for_all;	/* the CsvReadFn fails there, too */
	bool		failed;			/* and has */
	size_t		most;			/* bytes a call of read_at; 0: all */
	useconds_t	nap;			/* of a call of read_at */
	size_t		cut_at;			/* the file is cut here ... */
	atomic_int	calls_to_cut;	/* ... after so many calls of read_at */
} File;

static size_t
read_file(void *arg, uint8_t *buffer, size_t nbytes)
{
	File	   *file = arg;
	size_t		size = atomic_load(&file->nbytes);

	if (file->bad_for_all && file->position + nbytes > file->bad_from)
		nbytes = file->position < file->bad_from ?
			file->bad_from - file->position : 0;
	if (nbytes == 0)
	{
		file->failed = true;
		return 0;
	}
	if (file->position >= size)
		return 0;
	if (nbytes > size - file->position)
		nbytes = size - file->position;
	memcpy(buffer, file->bytes + file->position, nbytes);
	file->position += nbytes;
	return nbytes;
}

static ssize_t
read_file_at(void *arg, uint8_t *buffer, size_t nbytes, uint64_t offset)
{
	File	   *file = arg;
	sigset_t	blocked;
	size_t		size;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	if (!sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGALRM))
		abort();
	if (file->nap > 0)
		usleep(file->nap);
	if (atomic_load(&file->calls_to_cut) > 0 &&
		atomic_fetch_sub(&file->calls_to_cut, 1) == 1)
		atomic_store(&file->nbytes, file->cut_at);
	size = atomic_load(&file->nbytes);
	if (file->bad_from > 0 && offset + nbytes > file->bad_from)
	{
		if (offset >= file->bad_from)
		{
			errno = EIO;
			return -1;
		}
		nbytes = file->bad_from - offset;
	}
	if (offset >= size)
		return 0;
	if (nbytes > size - offset)
		nbytes = size - offset;
	if (file->most > 0 && nbytes > file->most)
		nbytes = file->most;
	memcpy(buffer, file->bytes + offset, nbytes);
	return (ssize_t) nbytes;
}

static void
seek_file(void *arg, uint64_t offset)
{
	((File *) arg)->position = offset;
}

/* ---- an engine for several threads ---- */

/* what happens to the engines of all threads together */
typedef struct Faults
{
	atomic_int	ncalls;
	int			fail_at;		/* the call that fails; 0: none */
	CsvStatus	fail_with;
	bool		partial;		/* leave half of the input */
	useconds_t	nap;
} Faults;

typedef struct Engine
{
	void	   *cpu;
	Faults	   *faults;
	uint32_t	nthreads;
} Engine;

static void *
open_engine(Faults *faults, uint32_t nthreads)
{
	Engine	   *engine = malloc(sizeof(Engine));

	assert_non_null(engine);
	engine->cpu = csv_cpu_open(&counted_memory,
							   &(CsvCpuOptions) {.isa = CSV_ISA_BEST});
	engine->faults = faults;
	engine->nthreads = nthreads;
	assert_non_null(engine->cpu);
	return engine;
}

static void
close_engine(void *state)
{
	csv_cpu_engine.close(((Engine *) state)->cpu);
	free(state);
}

static void *
another_engine(void *state)
{
	return open_engine(((Engine *) state)->faults, 0);
}

static uint32_t
engine_threads(void *state)
{
	return ((Engine *) state)->nthreads;
}

static CsvStatus
engine_configure(void *state, const CsvDialect *dialect,
				 const CsvLayout *layout)
{
	return csv_cpu_engine.configure(((Engine *) state)->cpu, dialect, layout);
}

static CsvStatus
engine_parse(void *state, const CsvInput *input, CsvBatch *batch)
{
	Engine	   *engine = state;
	Faults	   *faults = engine->faults;
	CsvInput	part = *input;
	CsvStatus	status;

	if (atomic_fetch_add(&faults->ncalls, 1) + 1 == faults->fail_at)
		return faults->fail_with;
	if (faults->nap > 0)
		usleep(faults->nap);
	if (faults->partial)
	{
		part.nbytes = (input->nbytes + 1) / 2;
		part.at_end = input->at_end && part.nbytes == input->nbytes;
	}
	status = csv_cpu_engine.parse(engine->cpu, &part, batch);
	if (status == CSV_OK && batch->consumed == 0)
		status = csv_cpu_engine.parse(engine->cpu, input, batch);
	return status;
}

static const CsvEngine threaded = {
	.name = "threaded",
	.configure = engine_configure,
	.parse = engine_parse,
	.close = close_engine,
	.default_chunk_bytes = 4 * PIECE_BYTES,
	.first_chunk_bytes = PIECE_BYTES,
	.another = another_engine,
	.nthreads = engine_threads
};

/* ---- reading ---- */

typedef struct Trial
{
	CsvReaderOptions options;
	File		file;
	Faults		faults;
	Engine	   *engine;
	int			nthreads;		/* below 2: chunk by chunk */
	int			stop_after;		/* batches; 0: all */
	int			settle_after;	/* batches; 0: never */
	bool		fall_back;		/* to the CPU engine, where this one fails */
	useconds_t	nap;			/* over each batch */

	/* what came */
	uint64_t	digest;
	uint64_t	nrecords;
	int			nbatches;
	int			nasked;
	int			ninterrupted;
	int			nfailed;
} Trial;

static void
add_to_digest(Trial *trial, const void *bytes, size_t nbytes)
{
	/* whole words: by bytes, a sanitized test would do little else */
	for (size_t i = 0; i < nbytes; i += 8)
	{
		uint64_t	word = 0;

		memcpy(&word, (const uint8_t *) bytes + i, nbytes - i < 8 ? nbytes - i : 8);
		trial->digest = (trial->digest ^ word) * 0x100000001b3;
	}
}

static void
add_number(Trial *trial, uint64_t number)
{
	add_to_digest(trial, &number, sizeof(number));
}

static void
take(Trial *trial, const CsvReader *reader, const CsvBatch *batch)
{
	uint32_t	next_error = 0;
	CsvScan		scan;

	memset(&scan, 0, sizeof(scan));
	trial->nbatches++;
	assert_int_equal(batch->nrecords, batch->nrows + batch->nerrors);
	assert_int_equal(batch->file_records, trial->nrecords);
	for (uint32_t row = 0; row <= batch->nrows; row++)
	{
		const CsvArray *array = &batch->arrays[0];
		uint64_t	offset;

		while (next_error < batch->nerrors &&
			   batch->errors[next_error].before_row == row)
		{
			const CsvError *error = &batch->errors[next_error++];

			add_number(trial, error->code);
			add_number(trial, error->where);
			add_number(trial, batch->file_records + error->record);
			add_number(trial, batch->file_lines + error->line);
			add_number(trial, batch->file_offset + error->offset);
			if (error->code == CSV_ERROR_RECORD_TOO_LONG)
				continue;		/* its length depends on what was in the input */
			add_number(trial, error->length);
			add_to_digest(trial, batch->bytes + error->offset, error->length);
		}
		if (row == batch->nrows)
			break;
		offset = batch->row_offsets[row];
		add_number(trial, batch->file_offset + offset);
		add_number(trial, batch->file_lines + batch->row_lines[row]);
		assert_int_equal(CSV_OK, csv_scan_record(&scan, &counted_memory,
									csv_reader_dialect(reader), CSV_NORMAL,
									batch->bytes, offset, batch->nbytes, true));
		add_to_digest(trial, batch->bytes + scan.start, scan.end - scan.start);

		/* whether a value is LONG depends on the others of its batch */
		if (array->status[row] == CSV_VALUE_OK)
		{
			const uint8_t *entry = array->values + (size_t) row * array->stride;
			uint32_t	header;
			CsvSpan		span = csv_scan_field(&scan, csv_reader_dialect(reader),
											  batch->bytes, batch->nbytes, 0);

			memcpy(&header, entry, 4);
			assert_true((header >> 2) - 4 <= span.length);
			if (span.length < 20)
				assert_memory_equal(entry + 4, batch->bytes + span.offset,
									(header >> 2) - 4);
		}
	}
	if (scan.separators != NULL)
		counted_memory.free(NULL, scan.separators);
	trial->nrecords += batch->nrecords;
}

static void
run(Trial *trial)
{
	CsvColumn	column = {.kind = CSV_KIND_TEXT, .max_chars = -1,
	.byte_width = -1, .type_chars = -1};
	CsvLayout	layout = {.nfields = 3, .decimal_separator = '.',
		.want_positions = true, .null_bytes = (const uint8_t *) "",
	.ncolumns = 1, .columns = &column};
	CsvReadAhead ahead = {read_file_at, seek_file, &trial->file,
	atomic_load(&trial->file.nbytes)};
	void	   *cpu = csv_cpu_open(&counted_memory,
												&(CsvCpuOptions) {.isa = CSV_ISA_BEST});
	CsvReader  *reader = csv_reader_create(&counted_memory, &trial->options);
	CsvBatch	batch;
	CsvStatus	status;

	trial->digest = 0xcbf29ce484222325;
	trial->nrecords = 0;
	trial->nbatches = 0;
	trial->ninterrupted = 0;
	trial->nfailed = 0;
	trial->file.position = 0;
	atomic_store(&trial->faults.ncalls, 0);
	trial->engine = open_engine(&trial->faults, (uint32_t) trial->nthreads);
	csv_reader_set_engine(reader, &threaded, trial->engine);
	assert_int_equal(csv_reader_open(reader, read_file, &trial->file), CSV_OK);
	if (trial->nthreads > 0)
		csv_reader_read_ahead(reader, &ahead);
	assert_int_equal(csv_reader_set_layout(reader, &layout), CSV_OK);
	while ((status = csv_reader_next(reader, &batch)) != CSV_END)
	{
		if (status == CSV_INTERRUPTED)
			trial->ninterrupted++;
		else if (status != CSV_OK)
		{
			assert_int_equal(status, trial->faults.fail_with);
			trial->nfailed++;
			if (trial->fall_back)
				csv_reader_set_engine(reader, &csv_cpu_engine, cpu);
		}
		else
		{
			take(trial, reader, &batch);
			if (trial->nap > 0)
			{
				usleep(trial->nap);
				assert_int_equal(batch.file_records + batch.nrecords,
								 trial->nrecords);
			}
			if (trial->nbatches == trial->stop_after)
				break;
			if (trial->settle_after > 0 && trial->nbatches >= trial->settle_after &&
				csv_reader_settle(reader))
				trial->settle_after = 0;
		}
	}
	if (status == CSV_END)
		assert_int_equal(csv_reader_next(reader, &batch), CSV_END);
	assert_true(csv_reader_read_seconds(reader) >= 0);
	csv_reader_free(reader);
	close_engine(trial->engine);
	csv_cpu_engine.close(cpu);
	assert_int_equal(atomic_load(&nallocated), 0);
}

/* ---- what is read ---- */

static uint8_t *content;

static uint32_t
any_number(void)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t) (seed >> 33);
}

static size_t
put(size_t at, const char *text)
{
	size_t		length = strlen(text);

	if (length > FILE_BYTES - at)
		length = FILE_BYTES - at;
	memcpy(content + at, text, length);
	return at + length;
}

/* records of all kinds; longer ones than a piece, too, but for `even` */
static void
make_content(bool even)
{
	size_t		at = 0;

	while (at < FILE_BYTES)
	{
		uint32_t	kind = any_number() % 1000;
		char		text[64];

		if (kind < 900 || even)
		{
			snprintf(text, sizeof(text), "%u,text of %u,%u\n", any_number() % 1000,
					 any_number(), any_number());
			at = put(at, text);
		}
		else if (kind < 920)
			at = put(at, "a,b\n");
		else if (kind < 940)
			at = put(at, "\r\n");
		else if (kind < 960)
			at = put(at, "q,\"a \"\"b\"\"\r\nc,d\",e\r\n");
		else if (kind < 970)
			at = put(at, "\"x\ny\"z,b,c\nr,s,t\n");
		else
		{
			size_t		length = kind < 985 ? any_number() % 300 :
				kind < 998 ? any_number() % (2 * PIECE_BYTES / 10) :
				any_number() % (3 * PIECE_BYTES);

			if (length > FILE_BYTES - at)
				length = FILE_BYTES - at;
			memset(content + at, 'a' + (int) (kind % 26), length);
			at += length;
			at = put(at, ",\"\n\",\n");
		}
	}
}

static void
trial_init(Trial *trial, int nthreads)
{
	memset(trial, 0, sizeof(*trial));
	trial->options.dialect.delimiter = ',';
	trial->options.dialect.quote = '"';
	trial->options.dialect.multiline = true;
	trial->options.max_record_bytes = 16 * 1024 * 1024;
	trial->options.chunk_bytes = PIECE_BYTES;
	trial->file.bytes = content;
	atomic_init(&trial->file.nbytes, FILE_BYTES);
	trial->nthreads = nthreads;
}

/* chunk by chunk */
static Trial
expected(const CsvReaderOptions *options)
{
	Trial		trial;

	trial_init(&trial, 0);
	if (options != NULL)
		trial.options = *options;
	run(&trial);
	return trial;
}

static void
expect_same(const Trial *trial, const Trial *other)
{
	assert_int_equal(trial->nrecords, other->nrecords);
	assert_int_equal(trial->digest, other->digest);
}

int
before_all(void **state)
{
	(void) state;
	content = malloc(FILE_BYTES);
	if (content == NULL)
		return -1;
	make_content(false);
	return 0;
}

int
after_all(void **state)
{
	(void) state;
	free(content);
	return 0;
}

/* ---- tests ---- */

/* of many trials, a sanitized test makes every third */
static int
stride(void)
{
	return rounds(10) < 10 ? 3 : 1;
}

TEST(the_same_whatever_the_threads_and_pieces)
{
	static const uint64_t chunks[] = {0, 16 * 1024, 50001,
		PIECE_BYTES, 1000003, FILE_BYTES, 2 * FILE_BYTES};
	Trial		trial;
	Trial		whole = expected(NULL);

	for (int nthreads = 1; nthreads <= 4; nthreads += stride())
		for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++)
			for (int partial = 0; partial < 2; partial++)
			{
				trial_init(&trial, nthreads);
				trial.options.chunk_bytes = chunks[i];
				trial.faults.partial = partial;
				trial.file.most = i % 2 == 0 ? 0 : 12345;
				run(&trial);
				expect_same(&trial, &whole);
			}
}

TEST(records_that_are_too_long_are_repaired_alike)
{
	static const uint64_t limits[] = {100, 3000, 20000, 100000};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
	{
		Trial		trial;
		Trial		whole;

		trial_init(&trial, 3);
		trial.options.max_record_bytes = limits[i];
		run(&trial);
		whole = expected(&trial.options);
		expect_same(&trial, &whole);
	}
}

TEST(a_quote_that_nobody_closes_costs_the_same)
{
	Trial		trial;
	Trial		whole;
	uint8_t		saved = content[FILE_BYTES / 2];

	content[FILE_BYTES / 2] = '"';
	trial_init(&trial, 3);
	trial.options.max_record_bytes = 300000;
	run(&trial);
	whole = expected(&trial.options);
	expect_same(&trial, &whole);
	content[FILE_BYTES / 2] = saved;
}

TEST(slow_or_fast_makes_no_difference)
{
	Trial		whole = expected(NULL);

	for (int who = 0; who < 3; who++)
	{
		Trial		trial;

		trial_init(&trial, 2);
		if (who == 0)
			trial.file.nap = 1000;
		else if (who == 1)
			trial.faults.nap = 1000;
		else
			trial.nap = 1000;
		run(&trial);
		expect_same(&trial, &whole);
	}
}

TEST(a_transient_read_error_is_read_over)
{
	Trial		whole = expected(NULL);

	for (size_t at = 1; at < FILE_BYTES; at += FILE_BYTES / 13)
	{
		Trial		trial;

		trial_init(&trial, 3);
		trial.file.bad_from = at;
		run(&trial);
		expect_same(&trial, &whole);
		assert_false(trial.file.failed);
	}
}

TEST(a_read_error_is_met_by_the_caller_in_its_place)
{
	for (size_t at = PIECE_BYTES; at < FILE_BYTES; at += FILE_BYTES / 13)
	{
		Trial		trial;
		Trial		whole;

		trial_init(&trial, 0);
		trial.file.bad_from = at;
		trial.file.bad_for_all = true;
		whole = trial;
		run(&whole);
		assert_true(whole.file.failed);
		trial.nthreads = 3;
		run(&trial);
		assert_true(trial.file.failed);
		expect_same(&trial, &whole);
	}
}

TEST(a_file_that_is_cut_meanwhile_ends_there)
{
	Trial		whole = expected(NULL);

	for (int calls = 1; calls < 40; calls += 3)
	{
		Trial		trial;

		trial_init(&trial, 3);
		trial.file.cut_at = FILE_BYTES / 3;
		atomic_init(&trial.file.calls_to_cut, calls);
		run(&trial);
		assert_true(trial.nrecords > 0);
		assert_true(trial.nrecords <= whole.nrecords + 1);
	}
}

/* not in the first chunk, which the calling thread reads */
static bool
now_and_then(void *arg)
{
	Trial	   *trial = arg;

	return trial->nbatches > 0 && ++trial->nasked % 3 == 0;
}

TEST(interruptions_lose_nothing)
{
	Trial		trial;
	Trial		whole;

	make_content(true);
	whole = expected(NULL);
	/* on a busy machine, threads may be so far ahead that nobody waits, and asks */
	for (int i = 0; i == 0 || (trial.ninterrupted == 0 && i < 20); i++)
	{
		trial_init(&trial, 2);
		trial.options.interrupted = now_and_then;
		trial.options.interrupted_arg = &trial;
		trial.faults.nap = 5000;
		run(&trial);
		expect_same(&trial, &whole);
	}
	assert_true(trial.ninterrupted > 0);
	make_content(false);
}

TEST(reading_can_end_anywhere)
{
	for (int after = 1; after < 30; after += stride())
	{
		Trial		trial;

		trial_init(&trial, 1 + after % 4);
		trial.stop_after = after;
		trial.file.nap = after % 3 == 0 ? 200 : 0;
		trial.faults.nap = after % 3 == 1 ? 200 : 0;
		run(&trial);
		assert_int_equal(trial.nbatches, after);
	}
}

TEST(threads_can_be_settled_anywhere)
{
	Trial		whole = expected(NULL);

	for (int after = 1; after < 30; after += 2 * stride())
	{
		Trial		trial;

		trial_init(&trial, 1 + after % 4);
		trial.settle_after = after;
		run(&trial);
		assert_int_equal(trial.settle_after, 0);
		expect_same(&trial, &whole);
	}
}

TEST(a_failure_comes_after_the_batches_before_it)
{
	Trial		whole = expected(NULL);

	for (int at = 1; at < 30; at += stride())
	{
		Trial		trial;

		trial_init(&trial, 2);
		trial.faults.fail_at = at;
		trial.faults.fail_with = at % 2 == 0 ? CSV_DEVICE_FAILED : CSV_NO_MEMORY;
		trial.fall_back = at % 4 < 2;
		run(&trial);
		assert_int_equal(trial.nfailed, 1);
		expect_same(&trial, &whole);
	}
}

TEST(even_records_take_no_other_way)
{
	Trial		trial;
	Trial		whole;

	/* the read function is asked for the first chunk only */
	make_content(true);
	trial_init(&trial, 2);
	trial.faults.nap = 1000;
	run(&trial);
	whole = expected(NULL);
	expect_same(&trial, &whole);
	assert_true(trial.file.position <= 2 * PIECE_BYTES);
	assert_true(whole.file.position == FILE_BYTES);
	make_content(false);
}
