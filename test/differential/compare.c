/*
 * compare.c
 *		An engine's batches against the reference's rows and errors.
 */
#include "compare.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/query/query.h"
#include "../../src/reader/lenient.h"
#include "../../src/reader/patterns.h"
#include "../../src/reader/place.h"

/* ---- memory ---- */

/*
 * Aligned to 8 bytes and to no more, and filled with what nobody expects.
 * Under AddressSanitizer the allocation stays as it is, for its borders.
 */
#ifdef __SANITIZE_ADDRESS__
#define MISALIGN	0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MISALIGN	0
#endif
#endif
#ifndef MISALIGN
#define MISALIGN	8
#endif

/* threads of an engine share its memory */
static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;

static void *
memory_alloc(void *owner, size_t nbytes)
{
	TestMemory *memory = owner;
	uint8_t    *bytes;
	bool		fails;

	pthread_mutex_lock(&memory_lock);
	fails = memory->failures > 0 && memory->countdown-- == 0;
	if (fails)
	{
		memory->failures--;
		memory->countdown = choose(&memory->choices, 20);
	}
	else
		memory->live++;
	pthread_mutex_unlock(&memory_lock);
	if (fails)
		return NULL;
	bytes = malloc(nbytes + MISALIGN);
	if (bytes == NULL)
		abort();
	memset(bytes, 0xA5, nbytes + MISALIGN < 8192 ? nbytes + MISALIGN : 8192);
	return bytes + MISALIGN;
}

static void
memory_free(void *owner, void *bytes)
{
	TestMemory *memory = owner;

	if (bytes == NULL)
		abort();
	pthread_mutex_lock(&memory_lock);
	memory->live--;
	pthread_mutex_unlock(&memory_lock);
	free((uint8_t *) bytes - MISALIGN);
}

CsvMemory
test_memory(TestMemory *memory)
{
	CsvMemory	result = {memory_alloc, memory_free, memory};

	return result;
}

/* ---- engines ---- */

#ifdef CSV_WITH_CUDA
static CsvSession *session;

CsvSession *
test_session(void)
{
	if (session == NULL)
		session = csv_cuda_session_create(0);
	if (session == NULL)
		abort();
	return session;
}

void
test_forget_session(void)
{
	if (session != NULL)
		csv_cuda_trim(session, 1);
	session = NULL;
}
#endif

/* ---- an engine that has the file's bytes itself ---- */

static const uint8_t *own_bytes;
static const CsvLayout *own_layout;
static CsvEngine own_engine;

/* the CPU engine, given them */
static CsvStatus
own_parse(void *state, const CsvInput *input, CsvBatch *batch)
{
	CsvInput	own = *input;
	CsvStatus	status;

	if (input->bytes == NULL)
		own.bytes = own_bytes + input->offset;
	status = csv_cpu_engine.parse(state, &own, batch);
	if (status == CSV_OK && input->bytes == NULL &&
		!csv_batch_needs_bytes(batch, own_layout))
		batch->bytes = NULL;
	return status;
}

static CsvStatus
own_configure(void *state, const CsvDialect *dialect, const CsvLayout *layout)
{
	own_layout = layout;
	return csv_cpu_engine.configure(state, dialect, layout);
}

static bool
engine_open(TestEngine *engine, char *reason, size_t reason_bytes)
{
	CsvMemory	memory = test_memory(&engine->memory);

	if (engine->state != NULL)
		return true;
	engine->uses = 0;
#ifdef CSV_WITH_CUDA
	if (engine->engine == &csv_cuda_engine)
	{
		CsvCudaOptions options;

		memset(&options, 0, sizeof(options));
		engine->state = csv_cuda_open(test_session(), &options, &memory,
									  reason, reason_bytes);
		return engine->state != NULL;
	}
#endif
	snprintf(reason, reason_bytes, "no memory, or no such instructions");
	engine->state = csv_cpu_open(&memory, &engine->options);
	return engine->state != NULL;
}

static bool
engine_close(TestEngine *engine)
{
	if (engine->state != NULL)
		engine->engine->close(engine->state);
	engine->state = NULL;
	return engine->memory.live == 0;
}

int
test_engines_open(TestEngine *engines, const char *which)
{
	static const struct
	{
		const char *name;
		CsvCpuOptions options;
	}			cpus[] = {
		{"swar", {CSV_ISA_SWAR, 1, 0}},
		{"avx2", {CSV_ISA_AVX2, 1, 0}},
		{"avx512", {CSV_ISA_AVX512, 1, 0}},
		/* however small */
		{"parts", {CSV_ISA_BEST, 1, 1}},
		/* threads that take a piece each, of a file or of a stream */
		{"pieces", {CSV_ISA_BEST, 3, 1}},
		{"stream", {CSV_ISA_BEST, 3, 1}},
		/* readers that go on where others have come to */
		{"places", {CSV_ISA_BEST, 3, 1}},
		/* one that has the file's bytes itself */
		{"own", {CSV_ISA_BEST, 1, 0}}
	};
	char		reason[256] = "";
	int			nengines = 0;

	memset(engines, 0, MAX_TEST_ENGINES * sizeof(TestEngine));
	own_engine = csv_cpu_engine;
	own_engine.another = NULL;
	own_engine.parse = own_parse;
	own_engine.configure = own_configure;
	if (strcmp(which, "cuda") != 0)
		for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++)
		{
			TestEngine *engine = &engines[nengines];

			engine->name = cpus[i].name;
			engine->engine = strcmp(engine->name, "own") == 0 ? &own_engine :
				&csv_cpu_engine;
			engine->options = cpus[i].options;
			if (engine_open(engine, reason, sizeof(reason)))
				nengines++;
		}
#ifdef CSV_WITH_CUDA
	if (strcmp(which, "cpu") != 0)
		for (int i = 0; i < 2; i++)
		{
			TestEngine *engine = &engines[nengines];

			engine->name = i == 0 ? "cuda" : "cuda own";
			engine->engine = &csv_cuda_engine;
			if (engine_open(engine, reason, sizeof(reason)))
				nengines++;
			else
				printf("no CUDA engine: %s\n", reason);
		}
#endif
	return nengines;
}

bool
test_engines_close(TestEngine *engines, int nengines)
{
	bool		clean = true;

	for (int i = 0; i < nengines; i++)
		clean &= engine_close(&engines[i]);
#ifdef CSV_WITH_CUDA
	test_forget_session();
#endif
	return clean;
}

/* ---- one run ---- */

typedef struct Run
{
	const Case *test_case;
	CsvLayout	layout;
	const uint8_t *file;
	size_t		nbytes;
	const RefResult *reference;
	TestEngine *engine;
	TestCounts *counts;
	char	   *message;
	size_t		message_bytes;
	CsvReaderOptions options;
	CsvMemory	memory;			/* of readers */

	/* the source and the interrupt callback */
	bool		has_own;		/* the engine has the file's bytes */
	size_t		read_bytes;
	Choices		choices;
	uint32_t	interruptions;	/* still to come */
	uint32_t	countdown;

	/* what has been seen */
	uint64_t	nrows;
	uint64_t	nerrors;
	uint64_t	next_offset;
	uint64_t	next_line;
	bool		any_batch;
	TestMemory	scan_memory;
	CsvScan		scan;			/* of slow values' records */
	uint8_t    *value;
	size_t		value_capacity;
} Run;

static bool differ(Run *run, const char *format, ...)
			__attribute__((format(printf, 2, 3)));

static bool
differ(Run *run, const char *format, ...)
{
	va_list		args;
	int			length;

	length = snprintf(run->message, run->message_bytes, "%s: ",
					  run->engine->name);
	va_start(args, format);
	vsnprintf(run->message + length, run->message_bytes - (size_t) length,
			  format, args);
	va_end(args);
	return false;
}

#define UL(x)	((unsigned long) (x))

static size_t
read_file(void *arg, uint8_t *buffer, size_t nbytes)
{
	Run		   *run = arg;
	size_t		n = run->nbytes - run->read_bytes;

	if (n > nbytes)
		n = nbytes;
	if (n > run->test_case->max_read_bytes)
		n = choose(&run->choices, run->test_case->max_read_bytes) + 1;
	if (n > 0)
		memcpy(buffer, run->file + run->read_bytes, n);
	run->read_bytes += n;
	return n;
}

static ssize_t
read_file_at(void *arg, uint8_t *buffer, size_t nbytes, uint64_t offset)
{
	const Run  *run = arg;

	if (offset >= run->nbytes)
		return 0;
	if (nbytes > run->nbytes - offset)
		nbytes = run->nbytes - offset;
	memcpy(buffer, run->file + offset, nbytes);
	return (ssize_t) nbytes;
}

static void
seek_file(void *arg, uint64_t offset)
{
	((Run *) arg)->read_bytes = offset;
}

static bool
interrupted(void *arg)
{
	Run		   *run = arg;

	if (run->interruptions == 0)
		return false;
	if (run->countdown-- > 0)
		return false;
	run->interruptions--;
	run->countdown = choose(&run->choices, 30);
	run->counts->interruptions++;
	return true;
}

/* for CsvOwnBytes */
static CsvStatus
await_bytes(void *arg, uint64_t offset, uint64_t *nbytes, bool *at_end)
{
	Run		   *run = arg;
	uint64_t	left = run->nbytes - offset;

	if (left > 0 && interrupted(run))
		return CSV_INTERRUPTED;
	*at_end = *nbytes >= left;
	if (*at_end)
		*nbytes = left;
	return CSV_OK;
}

/* may a call that ended like this be repeated? */
static bool
try_again(CsvStatus status, uint32_t *tries)
{
	return (status == CSV_INTERRUPTED || status == CSV_NO_MEMORY) &&
		++*tries < 100;
}

static bool
check_header(Run *run, CsvReader *reader)
{
	const RefResult *reference = run->reference;
	CsvRecord	header;
	bool		has_header = csv_reader_header(reader, &header);

	if (has_header != reference->has_header)
		return differ(run, "has a header: %d, expected %d", has_header,
					  reference->has_header);
	/* of a longer one there is only what fits into the reader's buffer */
	if (!has_header ||
		reference->header_bytes > run->test_case->max_record_bytes)
		return true;
	if (header.length != reference->header_bytes ||
		memcmp(header.bytes, reference->header, header.length) != 0)
		return differ(run, "other header bytes (%lu, expected %lu)",
					  UL(header.length), UL(reference->header_bytes));
	if (header.nfields != reference->header_fields)
		return differ(run, "header of %u fields, expected %u", header.nfields,
					  reference->header_fields);
	for (uint32_t i = 0; i < header.nfields; i++)
		if (header.separators[i] != reference->header_separators[i])
			return differ(run, "header field %u ends at %u, expected %lu", i,
						  header.separators[i],
						  UL(reference->header_separators[i]));
	return true;
}

/*
 * The value of a slow entry, by the field's own bytes in the batch, as whoever
 * takes the batch finds it.
 */
static bool
check_slow_value(Run *run, const CsvReader *reader, const CsvBatch *batch,
				 uint32_t row, uint32_t c, const RefValue *expected)
{
	CsvMemory	memory = test_memory(&run->scan_memory);
	const CsvDialect *dialect = csv_reader_dialect(reader);
	uint32_t	field = run->layout.columns[c].field;
	CsvDialect	lenient;
	CsvSpan		span;
	uint64_t	nbytes;
	bool		quoted;

	if (csv_scan_row(&run->scan, &memory, dialect, batch,
					 batch->row_offsets[row]) != CSV_OK)
		return differ(run, "csv_scan_row failed");
	if (field >= run->scan.nfields)
		return differ(run, "row %lu: csv_scan_row found %u fields",
					  UL(run->nrows), run->scan.nfields);
	if (run->scan.lenient)
	{
		lenient = csv_lenient_dialect(dialect);
		dialect = &lenient;
	}
	span = csv_scan_field(&run->scan, dialect, batch->bytes, batch->nbytes,
						  field);
	if (span.length + 1 > run->value_capacity)
	{
		free(run->value);
		run->value_capacity = 2 * span.length + 64;
		run->value = malloc(run->value_capacity);
		if (run->value == NULL)
			abort();
	}
	nbytes = csv_field_value(dialect, batch->bytes + span.offset, span.length,
							 run->value, span.length, &quoted);
	if (nbytes != expected->text_bytes ||
		memcmp(run->value, expected->text, nbytes) != 0)
		return differ(run, "row %lu column %u: other bytes by csv_field_value",
					  UL(run->nrows), c);
	return true;
}

/* the status and the entry that the reference's value asks for */
static bool
check_value(Run *run, const CsvReader *reader, const CsvBatch *batch,
			uint32_t row, uint32_t c, const RefValue *expected)
{
	static const char *names[] = {"OK", "NULL", "DOUBTFUL", "LONG"};
	const CsvColumn *column = &run->layout.columns[c];
	const CsvArray *array = &batch->arrays[c];
	const uint8_t *entry = array->values + (size_t) row * array->stride;
	bool		is_text = column->kind == CSV_KIND_TEXT ||
		column->kind == CSV_KIND_CSTRING;
	uint64_t	converted[64];
	uint32_t	header;
	int			status = array->status[row];
	int			wanted;

	if (status > CSV_VALUE_LONG)
		return differ(run, "row %lu column %u: status %d", UL(run->nrows), c,
					  status);
	run->counts->statuses[status]++;
	if (expected->status == REF_NULL)
		wanted = CSV_VALUE_NULL;
	else if (expected->status == REF_DOUBTFUL)
		wanted = CSV_VALUE_DOUBTFUL;
	else if (is_text)
		wanted = status == CSV_VALUE_LONG ? CSV_VALUE_LONG : CSV_VALUE_OK;
	else if (expected->plain && expected->text_bytes <= UINT32_MAX &&
			 csv_convert_any(column, run->layout.decimal_separator,
							 expected->text, (uint32_t) expected->text_bytes,
							 (uint8_t *) converted, csv_value_stride(column)))
		wanted = CSV_VALUE_OK;
	else
		wanted = CSV_VALUE_DOUBTFUL;

	if (status != wanted)
		return differ(run, "row %lu column %u: %s, expected %s", UL(run->nrows),
					  c, names[status], names[wanted]);
	if (status == CSV_VALUE_NULL)
		return !array->all_ok ||
			differ(run, "column %u is not all_ok", c);
	if (status != CSV_VALUE_OK)
	{
		if (array->all_ok || !array->any_slow)
			return differ(run, "column %u has slow values", c);
		if (batch->row_offsets == NULL || batch->row_lines == NULL)
			return differ(run, "slow values without positions");
		return check_slow_value(run, reader, batch, row, c, expected);
	}

	if (!is_text)
	{
		uint32_t	nbytes = csv_value_stride(column);

		if (array->stride != nbytes)
			return differ(run, "column %u: stride %u, expected %u", c,
						  array->stride, nbytes);
		if (column->kind == CSV_KIND_NUMERIC)
		{
			memcpy(&header, converted, 4);
			nbytes = header >> 2;
		}
		if (memcmp(entry, converted, nbytes) != 0)
			return differ(run, "row %lu column %u: another number",
						  UL(run->nrows), c);
		return true;
	}

	if (array->stride % 4 != 0)
		return differ(run, "column %u: stride %u", c, array->stride);
	memcpy(&header, entry, 4);
	if (header != (expected->stored_bytes + 4) << 2)
		return differ(run, "row %lu column %u: text of %u bytes, expected %lu",
					  UL(run->nrows), c, (header >> 2) - 4,
					  UL(expected->stored_bytes));
	if (4 + expected->stored_bytes + (column->kind == CSV_KIND_CSTRING) >
		array->stride)
		return differ(run, "row %lu column %u: wider than its stride",
					  UL(run->nrows), c);
	if (memcmp(entry + 4, expected->stored, expected->stored_bytes) != 0)
		return differ(run, "row %lu column %u: another text", UL(run->nrows),
					  c);
	if (column->kind == CSV_KIND_CSTRING &&
		entry[4 + expected->stored_bytes] != 0)
		return differ(run, "row %lu column %u: not ended by a zero byte",
					  UL(run->nrows), c);
	return true;
}

static bool
check_error(Run *run, const CsvBatch *batch, const CsvError *error,
			uint64_t rows_before)
{
	const CsvError *expected = &run->reference->errors[run->nerrors];
	uint64_t	offset = batch->file_offset + error->offset;
	uint64_t	record = batch->file_records + error->record;
	uint64_t	line = batch->file_lines + error->line;
	uint64_t	before_row = rows_before + error->before_row;

	if (run->nerrors >= run->reference->nerrors)
		return differ(run, "error %lu (code %d at %lu) is too many",
					  UL(run->nerrors), error->code, UL(offset));
	if (error->code != expected->code || offset != expected->offset)
		return differ(run, "error %lu: code %d at %lu, expected %d at %lu",
					  UL(run->nerrors), error->code, UL(offset), expected->code,
					  UL(expected->offset));
	if (record != expected->record || line != expected->line ||
		before_row != expected->before_row)
		return differ(run, "error %lu: record %lu line %lu before_row %lu,"
					  " expected %u %u %u", UL(run->nerrors), UL(record),
					  UL(line), UL(before_row), expected->record,
					  expected->line, expected->before_row);
	if (error->mode != expected->mode)
		return differ(run, "error %lu: mode %d, expected %d", UL(run->nerrors),
					  error->mode, expected->mode);
	if (error->where != expected->where)
		return differ(run, "error %lu: where %u, expected %u", UL(run->nerrors),
					  error->where, expected->where);

	/* of an endless line there is only as much as is in the input */
	if (error->length != expected->length &&
		!(error->code == CSV_ERROR_RECORD_TOO_LONG &&
		  error->length < expected->length &&
		  error->length > run->test_case->max_record_bytes &&
		  batch->nbytes - (error->offset + error->length) <= CSV_BREAK_CRS))
		return differ(run, "error %lu: length %lu, expected %lu",
					  UL(run->nerrors), UL(error->length),
					  UL(expected->length));
	run->counts->errors[error->code]++;
	return true;
}

static bool
check_batch(Run *run, const CsvReader *reader, const CsvBatch *batch)
{
	const RefResult *reference = run->reference;
	uint64_t	rows_before = run->nrows;
	bool		any_slow = false;

	run->counts->batches++;
	run->any_batch = true;
	if (batch->nrecords != batch->nrows + batch->nerrors)
		return differ(run, "%u records of %u rows and %u errors",
					  batch->nrecords, batch->nrows, batch->nerrors);
	if (batch->file_records != run->nrows + run->nerrors)
		return differ(run, "batch after %lu records, expected %lu",
					  UL(batch->file_records), UL(run->nrows + run->nerrors));
	if (batch->file_offset < run->next_offset ||
		batch->file_lines < run->next_line)
		return differ(run, "batch at %lu, line %lu is before the last one's end",
					  UL(batch->file_offset), UL(batch->file_lines));
	run->next_offset = batch->file_offset + batch->consumed;
	run->next_line = batch->file_lines + batch->nlines;
	if (run->next_offset > run->nbytes)
		return differ(run, "more consumed than there is");
	for (uint32_t c = 0; c < run->layout.ncolumns; c++)
		any_slow |= batch->arrays[c].any_slow;
	if (batch->bytes == NULL && batch->nbytes > 0 &&
		(!run->has_own || csv_batch_needs_bytes(batch, &run->layout)))
		return differ(run, "batch without its bytes");
	if (batch->bytes != NULL && batch->nbytes > 0 &&
		memcmp(batch->bytes, run->file + batch->file_offset,
			   batch->nbytes) != 0)
		return differ(run, "batch bytes are not the file's");

	if ((run->layout.want_positions || any_slow) &&
		(batch->row_offsets == NULL || batch->row_lines == NULL))
		return differ(run, "positions are missing");

	for (uint32_t row = 0; row < batch->nrows; row++, run->nrows++)
	{
		const RefRow *expected = &reference->rows[run->nrows];

		if (run->nrows >= reference->nrows)
			return differ(run, "row %lu is too many", UL(run->nrows));
		if (batch->row_offsets != NULL &&
			(CSV_ROW_OFFSET(batch->row_offsets[row]) + batch->file_offset !=
			 expected->offset ||
			 batch->row_lines[row] + batch->file_lines != expected->line))
			return differ(run, "row %lu at %lu, line %lu, expected %lu, %lu",
						  UL(run->nrows),
						  UL(CSV_ROW_OFFSET(batch->row_offsets[row]) +
							 batch->file_offset),
						  UL(batch->row_lines[row] + batch->file_lines),
						  UL(expected->offset), UL(expected->line));
		for (uint32_t c = 0; c < run->layout.ncolumns; c++)
			if (!check_value(run, reader, batch, row, c, &expected->values[c]))
				return false;
	}
	for (uint32_t i = 0; i < batch->nerrors; i++, run->nerrors++)
		if (!check_error(run, batch, &batch->errors[i], rows_before))
			return false;
	return true;
}

#ifdef CSV_WITH_CUDA
/* the file on the device; NULL: there is no room */
static CsvCudaFile *
copy_file(const Run *run)
{
	CsvCudaFile *file = csv_cuda_file_create(test_session(), run->nbytes, 0);
	CsvCudaCopier *copier = csv_cuda_copier_create(test_session());

	if (file == NULL || copier == NULL)
		abort();
	for (size_t done = 0; done < run->nbytes; done += CSV_CUDA_COPY_BYTES)
	{
		size_t		n = run->nbytes - done;

		if (n > CSV_CUDA_COPY_BYTES)
			n = CSV_CUDA_COPY_BYTES;
		memcpy(csv_cuda_copier_bytes(copier), run->file + done, n);
		if (!csv_cuda_copier_copy(copier, file, done, n))
			abort();
	}
	csv_cuda_copier_free(copier);
	return file;
}
#endif

/* have the engine have the file's bytes itself; returns what holds them */
static void *
give_own(Run *run, CsvReader *reader)
{
	CsvOwnBytes own = {await_bytes, run, false};
	uint8_t    *copy = NULL;

	run->has_own = run->nbytes > 0;
	if (!run->has_own)
		return NULL;
	csv_reader_use_own(reader, &own);
#ifdef CSV_WITH_CUDA
	if (run->engine->engine == &csv_cuda_engine)
	{
		CsvCudaFile *file = copy_file(run);

		csv_cuda_set_file(run->engine->state, file);
		return file;
	}
#endif
	copy = calloc(1, run->nbytes + 2 * CSV_MARGIN);
	if (copy == NULL)
		abort();
	memcpy(copy + CSV_MARGIN, run->file, run->nbytes);
	own_bytes = copy + CSV_MARGIN;
	return copy;
}

static void
take_own(const Run *run, const TestEngine *engine, void *held)
{
	if (!run->has_own)
		return;
#ifdef CSV_WITH_CUDA
	if (engine->engine == &csv_cuda_engine)
	{
		csv_cuda_set_file(engine->state, NULL);
		csv_cuda_file_leave(held);
		csv_cuda_file_free(held);
		return;
	}
#else
	(void) engine;
#endif
	free(held);
}

static bool
set_engine(Run *run, CsvReader *reader, uint32_t *tries)
{
	CsvStatus	status;

	do
		status = csv_reader_set_engine(reader, run->engine->engine,
									   run->engine->state);
	while (try_again(status, tries));
	return status == CSV_OK ||
		differ(run, "csv_reader_set_engine: status %d", status);
}

static bool
set_layout(Run *run, CsvReader *reader, uint32_t *tries)
{
	CsvStatus	status;

	do
		status = csv_reader_set_layout(reader, &run->layout);
	while (try_again(status, tries));
	return status == CSV_OK ||
		differ(run, "csv_reader_set_layout: status %d", status);
}

static CsvReader *
create_reader(Run *run, uint32_t *tries)
{
	CsvReader  *reader;

	do
		reader = csv_reader_create(&run->memory, &run->options);
	while (reader == NULL && ++*tries < 100);
	if (reader == NULL)
		differ(run, "no reader");
	return reader;
}

static void
read_pieces(Run *run, CsvReader *reader)
{
	CsvReadAhead ahead = {read_file_at, seek_file, run, run->nbytes};

	csv_reader_read_ahead(reader, &ahead);
}

/*
 * Another reader goes on where this one has come to, of the file or of a stream, and in
 * other chunks.
 */
static bool
go_on(Run *run, CsvReader **reader, uint32_t *tries)
{
	CsvFilePlace place = *csv_reader_place(*reader);
	CsvDialect	dialect = *csv_reader_dialect(*reader);

	csv_reader_free(*reader);
	run->counts->places++;
	run->counts->places_alone += place.alone_until > 0;
	run->counts->places_in_line += place.skip_line;
	run->options.chunk_bytes = chance(&run->choices, 5) ?
		run->test_case->chunk_bytes :
		1 + choose(&run->choices, 100) + run->nbytes / 20;
	*reader = create_reader(run, tries);
	if (*reader == NULL || !set_engine(run, *reader, tries))
		return false;
	run->read_bytes = place.offset;
	csv_reader_open_at(*reader, read_file, run, &place, &dialect);
	if (chance(&run->choices, 4))
		read_pieces(run, *reader);
	return set_layout(run, *reader, tries);
}

static bool
run_reader(Run *run, CsvReader **held, TestEngine *engines, int nengines,
		   void **own)
{
	CsvReader  *reader = *held;
	bool		goes_on = strcmp(run->engine->name, "places") == 0;
	CsvStatus	status;
	CsvBatch	batch;
	uint32_t	tries = 0;

	if (!set_engine(run, reader, &tries))
		return false;
	run->read_bytes = 0;
	do
		status = csv_reader_open(reader, read_file, run);
	while (try_again(status, &tries));
	if (status != CSV_OK)
		return differ(run, "csv_reader_open: status %d", status);
	if (!check_header(run, reader))
		return false;
	if (strcmp(run->engine->name, "pieces") == 0)
		read_pieces(run, reader);
	if (strstr(run->engine->name, "own") != NULL)
	{
		CsvReadAhead ahead = {
			.seek = seek_file, .arg = run, .file_bytes = run->nbytes
		};

		csv_reader_read_ahead(reader, &ahead);
		*own = give_own(run, reader);
	}
	if (!set_layout(run, reader, &tries))
		return false;
	if (csv_reader_dialect(reader)->opt.boundary !=
		run->reference->dialect.opt.boundary)
		return differ(run, "boundary %d, expected %d",
					  csv_reader_dialect(reader)->opt.boundary,
					  run->reference->dialect.opt.boundary);

	for (;;)
	{
		status = csv_reader_next(reader, &batch);
		if (try_again(status, &tries))
			continue;
		if (status == CSV_END)
			break;
		if (status != CSV_OK)
			return differ(run, "csv_reader_next: status %d %s", status,
						  csv_reader_message(reader));
		if (!check_batch(run, reader, &batch))
			return false;
		if (run->test_case->switch_engines && !run->has_own &&
			chance(&run->choices, 2))
		{
			run->engine = &engines[choose(&run->choices, (uint32_t) nengines)];
			if (!set_engine(run, reader, &tries))
				return false;
		}
		if (goes_on && chance(&run->choices, 3))
		{
			if (!go_on(run, held, &tries))
				return false;
			reader = *held;
		}
	}
	do
		status = csv_reader_next(reader, &batch);
	while (try_again(status, &tries));
	if (status != CSV_END)
		return differ(run, "there is something after the end");
	if (run->nrows != run->reference->nrows)
		return differ(run, "%lu rows, expected %lu", UL(run->nrows),
					  UL(run->reference->nrows));
	if (run->nerrors != run->reference->nerrors)
		return differ(run, "%lu errors, expected %lu", UL(run->nerrors),
					  UL(run->reference->nerrors));
	if (run->any_batch && run->next_line != run->reference->nlines)
		return differ(run, "%lu lines, expected %lu", UL(run->next_line),
					  UL(run->reference->nlines));
	return true;
}

bool
compare_case(const Case *test_case, const uint8_t *file, size_t nbytes,
			 TestEngine *engines, int nengines, TestCounts *counts,
			 char *message, size_t message_bytes)
{
	RefResult	reference;
	CsvReaderOptions options;
	CsvLayout	layout = case_layout(test_case);
	bool		same = true;

	reference_read(&reference, &test_case->dialect, &layout,
				   test_case->header_rows, test_case->max_record_bytes,
				   file, nbytes);
	memset(&options, 0, sizeof(options));
	options.dialect = test_case->dialect;
	options.header_rows = test_case->header_rows;
	options.max_record_bytes = test_case->max_record_bytes;
	options.chunk_bytes = test_case->chunk_bytes;
	options.interrupted = interrupted;

	for (int i = 0; i < nengines && same; i++)
	{
		TestEngine *engine = &engines[i];
		TestMemory	reader_memory;
		CsvReader  *reader;
		Run			run;
		void	   *own = NULL;
		uint32_t	tries = 0;

		memset(&run, 0, sizeof(run));
		run.test_case = test_case;
		run.layout = layout;
		run.file = file;
		run.nbytes = nbytes;
		run.reference = &reference;
		run.engine = engine;
		run.counts = counts;
		run.message = message;
		run.message_bytes = message_bytes;
		run.choices.state = test_case->seed;
		run.interruptions = test_case->interruptions;
		run.countdown = choose(&run.choices, 10);
		run.options = options;
		run.options.interrupted_arg = &run;

		/* new engines now and then, which must make their memory anew */
		for (int e = 0; e < nengines && same; e++)
		{
			TestMemory *engine_memory = &engines[e].memory;

			engine_memory->failures = 0;
			if ((engines[e].uses++ >= 60 || test_case->failures > 0) &&
				!engine_close(&engines[e]))
				same = differ(&run, "%lu allocations leaked",
							  UL(engine_memory->live));
			engine_memory->choices.state = test_case->seed + 1;
			engine_memory->countdown = choose(&engine_memory->choices, 20);
			engine_memory->failures = test_case->failures;
			while (!engine_open(&engines[e], message, message_bytes) &&
				   ++tries < 100)
				;
			same &= engines[e].state != NULL;
		}
		if (!same)
			break;

		memset(&reader_memory, 0, sizeof(reader_memory));
		reader_memory.failures = test_case->failures;
		reader_memory.choices.state = test_case->seed + 2;
		reader_memory.countdown = choose(&reader_memory.choices, 5);
		run.memory = test_memory(&reader_memory);
		reader = create_reader(&run, &tries);
		same = reader != NULL && run_reader(&run, &reader, engines, nengines, &own);
		if (reader != NULL)
			csv_reader_free(reader);
		take_own(&run, engine, own);
		counts->failures += test_case->failures - engine->memory.failures +
			test_case->failures - reader_memory.failures;
		free(run.value);
		if (run.scan.separators != NULL)
			memory_free(&run.scan_memory, run.scan.separators);
		if (same && reader_memory.live != 0)
			same = differ(&run, "the reader leaked %lu allocations",
						  UL(reader_memory.live));
	}

	/* what an engine was in when it failed does not matter to the next case */
	for (int i = 0; i < nengines; i++)
	{
		engines[i].memory.failures = 0;
		if (!same)
			engine_close(&engines[i]);
	}

	counts->files++;
	counts->rows += reference.nrows * (uint64_t) nengines;
	reference_free(&reference);
	return same;
}
