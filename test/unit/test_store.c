/*
 * test_store.c
 *		Converted columns in memory files (src/wire/store.c): what was written is
 *		read again, and what was not written so is refused, or stays within itself.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* memfd_create, F_ADD_SEALS */
#endif
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "../../src/wire/store.h"
#include "reading.h"
#include "rounds.h"

/* the name of those that are mapped, by which the mapping is found */
#define MAPPED_NAME		"csv_test_store"

#define MOST_FILE_BYTES	20000

/* ---- batches that outlive the engine's ---- */

typedef struct Copies
{
	CsvBatch   *batches;		/* those with records, all they point to copied */
	uint32_t	nbatches;
	uint64_t	nrows;
	bool		has_bad_values;
	CsvDialect	dialect;
	CsvLayout	layout;
} Copies;

static void *
copy_of(const void *bytes, size_t nbytes)
{
	void	   *copy;

	if (bytes == NULL)
		return NULL;
	copy = malloc(nbytes + 1);
	assert_non_null(copy);
	memcpy(copy, bytes, nbytes);
	return copy;
}

static void
add_copy(Copies *copies, const CsvBatch *batch)
{
	CsvBatch   *copy;

	if (batch->nrecords == 0)
		return;
	copies->batches = realloc(copies->batches,
							  sizeof(CsvBatch) * (copies->nbatches + 1));
	assert_non_null(copies->batches);
	copy = &copies->batches[copies->nbatches++];
	*copy = *batch;
	copy->arrays = copy_of(batch->arrays,
						   sizeof(CsvArray) * copies->layout.ncolumns);
	for (uint32_t i = 0; i < copies->layout.ncolumns; i++)
	{
		CsvArray   *array = &copy->arrays[i];

		array->values = copy_of(array->values,
								(size_t) batch->nrows * array->stride);
		array->status = copy_of(array->status, batch->nrows);
	}
	copy->errors = copy_of(batch->errors, sizeof(CsvError) * batch->nerrors);
	copy->row_offsets = copy_of(batch->row_offsets,
								sizeof(uint32_t) * batch->nrows);
	copy->row_lines = copy_of(batch->row_lines,
							  sizeof(uint32_t) * batch->nrows);
	copy->bytes = copy_of(batch->bytes, batch->consumed);
	copies->nrows += batch->nrows;
	for (uint32_t i = 0; i < batch->nerrors; i++)
		copies->has_bad_values |= batch->errors[i].code > CSV_ERROR_COLUMN_COUNT;
}

static void
free_copies(Copies *copies)
{
	for (uint32_t n = 0; n < copies->nbatches; n++)
	{
		CsvBatch   *copy = &copies->batches[n];

		for (uint32_t i = 0; i < copies->layout.ncolumns; i++)
		{
			free(copy->arrays[i].values);
			free(copy->arrays[i].status);
		}
		free(copy->arrays);
		free(copy->errors);
		free(copy->row_offsets);
		free(copy->row_lines);
		free((void *) copy->bytes);
	}
	free(copies->batches);
	memset(copies, 0, sizeof(*copies));
}

/* ---- from a CSV file to a memory file ---- */

/* what may_take() is told, and when it says no */
typedef struct Room
{
	uint64_t	nbytes;			/* of the last call */
	uint32_t	ncalls;
	uint32_t	refused;		/* the call that it refuses; 0: none */
} Room;

static bool
may_take(void *arg, uint64_t nbytes)
{
	Room	   *room = arg;

	assert_true(nbytes >= room->nbytes);
	room->nbytes = nbytes;
	return ++room->ncalls != room->refused;
}

static void
read_copies(Copies *copies, const Case *test_case, const Content *content)
{
	ContentSource		source = {content, 0};
	CsvReaderOptions options = {
		.dialect = test_case->dialect,.header_rows = test_case->header_rows,
		.max_record_bytes = test_case->max_record_bytes,
		.chunk_bytes = test_case->chunk_bytes
	};
	void	   *engine = csv_cpu_open(&csv_thread_memory,
									  &(CsvCpuOptions) {.part_bytes = 1});
	CsvReader  *reader = csv_reader_create(&csv_thread_memory, &options);
	CsvStatus	status;
	CsvBatch	batch;

	memset(copies, 0, sizeof(*copies));
	copies->layout = case_layout(test_case);
	assert_non_null(engine);
	assert_non_null(reader);
	assert_int_equal(csv_reader_set_engine(reader, &csv_cpu_engine, engine), CSV_OK);
	assert_int_equal(csv_reader_open(reader, content_read, &source), CSV_OK);
	assert_int_equal(csv_reader_set_layout(reader, &copies->layout), CSV_OK);
	while ((status = csv_reader_next(reader, &batch)) == CSV_OK)
		add_copy(copies, &batch);
	assert_int_equal(status, CSV_END);
	copies->dialect = *csv_reader_dialect(reader);
	csv_reader_leave(reader);
	csv_reader_free(reader);
	csv_cpu_engine.close(engine);
}

/* the options of the file that was written last */
static CsvDialectOptions written_as;

/* write them to a memory file of its own; -1: refused, or no memory */
static int
write_copies(const Copies *copies, const CsvMemory *memory, Room *room)
{
	int			file = csv_memory_file_create(MAPPED_NAME);
	CsvStoreWriter *writer = csv_store_begin(memory, file, &copies->dialect,
											 &copies->layout);
	CsvStoreSummary summary;
	uint64_t	consumed = 0;
	bool		good = writer != NULL;

	written_as = copies->dialect.opt;
	assert_true(file >= 0);
	for (uint32_t i = 0; good && i < copies->nbatches; i++)
	{
		good = csv_store_add(writer, &copies->batches[i], may_take, room);
		consumed += copies->batches[i].consumed;
		assert_int_equal(csv_store_bytes_read(writer), consumed);
	}
	good = good && csv_store_finish(writer, may_take, room, &summary);
	if (writer != NULL)
		csv_store_free(writer);
	if (!good)
	{
		close(file);
		return -1;
	}
	assert_int_equal(summary.nrows, copies->nrows);
	assert_int_equal(summary.ncolumns, copies->layout.ncolumns);
	assert_int_equal(summary.has_bad_values, copies->has_bad_values);
	assert_int_equal(csv_memory_file_size(file, true), room->nbytes);
	return file;
}

/* ---- is what is read what was written? ---- */

static void
expect_same_record(const Copies *copies, const CsvBatch *from, const CsvBatch *to,
				   uint32_t entry)
{
	CsvScan		a;
	CsvScan		b;

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	assert_int_equal(csv_scan_row(&a, &csv_thread_memory, &copies->dialect, from, entry),
					 CSV_OK);
	assert_int_equal(csv_scan_row(&b, &csv_thread_memory, &copies->dialect, to, entry),
					 CSV_OK);
	assert_int_equal(a.lenient, b.lenient);
	assert_int_equal(a.is_record, b.is_record);
	assert_int_equal(a.bad, b.bad);
	assert_int_equal(a.nfields, b.nfields);
	assert_int_equal(a.end - a.start, b.end - b.start);
	assert_memory_equal(from->bytes + a.start, to->bytes + b.start, a.end - a.start);
	if (a.nfields > 0)
		assert_memory_equal(a.separators, b.separators, sizeof(uint32_t) * a.nfields);
	free(a.separators);
	free(b.separators);
}

static void
expect_same_value(const CsvColumn *column, const CsvArray *a, const CsvArray *b,
				  uint32_t row)
{
	size_t		place = (size_t) row * a->stride;
	size_t		nbytes = a->stride;
	int			status = b->status == NULL ? CSV_VALUE_OK : b->status[row];
	uint32_t	header;

	assert_int_equal(a->status[row], status);
	if (status != CSV_VALUE_OK)
		return;
	if (column->kind == CSV_KIND_TEXT || column->kind == CSV_KIND_CSTRING ||
		column->kind == CSV_KIND_NUMERIC)
	{
		memcpy(&header, a->values + place, sizeof(header));
		nbytes = (header >> 2) + (column->kind == CSV_KIND_CSTRING);
	}
	assert_true(nbytes <= a->stride);
	assert_memory_equal(a->values + place, b->values + place, nbytes);
}

static void
expect_same_errors(const Copies *copies, const CsvBatch *from, const CsvBatch *to)
{
	for (uint32_t i = 0; i < from->nerrors; i++)
	{
		const CsvError *a = &from->errors[i];
		const CsvError *b = &to->errors[i];

		assert_int_equal(a->offset, b->offset);
		assert_int_equal(a->length, b->length);
		assert_int_equal(a->record, b->record);
		assert_int_equal(a->line, b->line);
		assert_int_equal(a->before_row, b->before_row);
		assert_int_equal(a->code, b->code);
		assert_int_equal(a->mode, b->mode);
		assert_int_equal(a->where, b->where);
		if (a->code > CSV_ERROR_COLUMN_COUNT)
			expect_same_record(copies, from, to, (uint32_t) a->offset);
	}
}

static void
expect_same_batch(const Copies *copies, const CsvBatch *from,
				  const CsvResidentBatch *resident)
{
	const CsvBatch *to = &resident->batch;

	assert_true(to->is_resident);
	assert_int_equal(from->nrows, to->nrows);
	assert_int_equal(from->nrecords, to->nrecords);
	assert_int_equal(from->nerrors, to->nerrors);
	assert_int_equal(from->nlines, to->nlines);
	assert_int_equal(from->file_offset, to->file_offset);
	assert_int_equal(from->file_records, to->file_records);
	assert_int_equal(from->file_lines, to->file_lines);
	if (from->row_offsets != NULL && from->nrows > 0)
	{
		assert_memory_equal(from->row_offsets, to->row_offsets,
							sizeof(uint32_t) * from->nrows);
		assert_memory_equal(from->row_lines, to->row_lines, sizeof(uint32_t) * from->nrows);
	}
	for (uint32_t row = 0; row < from->nrows; row++)
	{
		bool		is_slow = false;

		for (uint32_t i = 0; i < copies->layout.ncolumns; i++)
		{
			expect_same_value(&copies->layout.columns[i], &from->arrays[i],
							  &to->arrays[i], row);
			is_slow |= from->arrays[i].any_slow &&
				from->arrays[i].status[row] > CSV_VALUE_NULL;
		}
		if (is_slow)
			expect_same_record(copies, from, to, from->row_offsets[row]);
	}
	expect_same_errors(copies, from, to);
}

static void
expect_same(const Copies *copies, CsvStore *store)
{
	CsvArray   *arrays = malloc(sizeof(CsvArray) * copies->layout.ncolumns + 1);
	int64_t		nrows = 0;

	assert_int_equal(csv_store_nbatches(store), copies->nbatches);
	assert_int_equal(csv_store_nrows(store), copies->nrows);
	assert_memory_equal(csv_store_dialect(store), &copies->dialect, sizeof(CsvDialect));
	assert_int_equal(csv_store_layout(store)->nfields, copies->layout.nfields);
	assert_int_equal(csv_store_layout(store)->ncolumns, copies->layout.ncolumns);
	for (uint32_t i = 0; i < copies->layout.ncolumns; i++)
	{
		CsvColumn	column = copies->layout.columns[i];

		column.nulls_from = column.nulls_to = 0;
		assert_memory_equal(&csv_store_layout(store)->columns[i], &column, sizeof(column));
	}
	for (uint32_t n = 0; n < copies->nbatches; n++)
	{
		const CsvBatch *from = &copies->batches[n];
		CsvResidentBatch resident;

		assert_true(csv_store_batch(store, n, arrays, &resident));
		assert_int_equal(resident.first_row, nrows);
		assert_int_equal(resident.batch.read_bytes, from->consumed);
		for (uint32_t i = 0; i < copies->layout.ncolumns; i++)
		{
			assert_int_equal(from->arrays[i].stride, arrays[i].stride);
			assert_int_equal(from->arrays[i].all_ok, arrays[i].all_ok);
			assert_int_equal(from->arrays[i].any_slow && from->nrows > 0,
							 arrays[i].any_slow);
		}
		expect_same_batch(copies, from, &resident);
		nrows += from->nrows;
		if (one_in(4))
			csv_store_pass(store, random_below(copies->nbatches));
	}
	free(arrays);
}

/* ---- random files ---- */

/* false: one that takes too long */
static bool
random_copies(uint64_t seed, Copies *copies)
{
	static Case test_case;
	Choices		choices = {.state = seed};
	Content		content = {0};

	case_make(&test_case, &choices);
	content_make(&content, &test_case, &choices);
	if (test_case.layout.nfields > 100 || content.nbytes > MOST_FILE_BYTES)
	{
		content_free(&content);
		return false;
	}
	read_copies(copies, &test_case, &content);
	content_free(&content);
	return true;
}

TEST(what_was_written_is_read)
{
	uint32_t	nrounds = rounds(1500);
	uint64_t	first = first_seed();
	uint32_t	nslow = 0;
	uint32_t	nbad = 0;

	for (uint64_t seed = first; seed < first + nrounds; seed++)
	{
		Room		room = {0};
		Copies		copies;
		CsvStore   *store;
		int			file;

		start_seed(seed);
		if (!random_copies(seed, &copies))
			continue;
		file = write_copies(&copies, &csv_thread_memory, &room);
		assert_true(file >= 0);
		store = csv_store_open(&csv_thread_memory, file, &written_as);
		assert_non_null(store);
		close(file);
		expect_same(&copies, store);
		expect_same(&copies, store);	/* after csv_store_pass() */
		csv_store_close(store);
		for (uint32_t n = 0; n < copies.nbatches; n++)
			for (uint32_t i = 0; i < copies.layout.ncolumns; i++)
				nslow += copies.batches[n].arrays[i].any_slow;
		nbad += copies.has_bad_values;
		free_copies(&copies);
	}
	end_seeds();
	assert_true(nslow > nrounds / 10 && nbad > nrounds / 20);
}

/* refused, or without memory, at any point: nothing is left of it */
TEST(writing_may_fail_anywhere)
{
	uint32_t	nrounds = rounds(300);
	uint64_t	first = first_seed();

	for (uint64_t seed = first; seed < first + nrounds; seed++)
	{
		TestMemory	owner = {.choices = {.state = seed}};
		CsvMemory	memory = test_memory(&owner);
		Room		room = {0};
		Copies		copies;
		uint32_t	ncalls;
		int			file;

		start_seed(seed);
		if (!random_copies(seed, &copies))
			continue;
		file = write_copies(&copies, &memory, &room);
		assert_true(file >= 0);
		close(file);
		ncalls = room.ncalls;
		assert_int_equal(ncalls, copies.nbatches + 1);
		for (uint32_t i = 1; i <= ncalls; i += 1 + random_below(ncalls / 8 + 1))
		{
			room = (Room) {.refused = i};
			assert_int_equal(write_copies(&copies, &memory, &room), -1);
			assert_int_equal(room.ncalls, i);
		}
		assert_int_equal(owner.live, 0);
		for (uint32_t i = 0; i < 8; i++)
		{
			room = (Room) {0};
			owner.failures = 1;
			owner.countdown = random_below(8);
			file = write_copies(&copies, &memory, &room);
			if (file >= 0)
				close(file);
			assert_int_equal(owner.live, 0);
		}
		free_copies(&copies);
	}
	end_seeds();
}

/* a plain case, with positions, of a text and a number */
static void
plain_copies(Copies *copies, const char *text)
{
	static const CsvKind kinds[] = {CSV_KIND_TEXT, CSV_KIND_INT4};
	static Case test_case;
	Content		content = {0};

	plain_case(&test_case, 2, kinds, LENGTH(kinds));
	content_string(&content, text);
	read_copies(copies, &test_case, &content);
	content_free(&content);
}

static int
written(const char *text)
{
	Room		room = {0};
	Copies		copies;
	int			file;

	plain_copies(&copies, text);
	file = write_copies(&copies, &csv_thread_memory, &room);
	assert_true(file >= 0);
	free_copies(&copies);
	return file;
}

static void
expect_kept(const char *text, uint32_t nrecords)
{
	Room		room = {0};
	Copies		copies;
	CsvStore   *store;
	uint32_t	n = 0;
	int			file;

	plain_copies(&copies, text);
	for (uint32_t i = 0; i < copies.nbatches; i++)
		n += copies.batches[i].nrecords;
	assert_int_equal(n, nrecords);
	file = write_copies(&copies, &csv_thread_memory, &room);
	assert_true(file >= 0);
	store = csv_store_open(&csv_thread_memory, file, &written_as);
	assert_non_null(store);
	close(file);
	expect_same(&copies, store);
	csv_store_close(store);
	free_copies(&copies);
}

TEST(special_files)
{
	expect_kept("", 0);
	expect_kept("\n\n\n", 0);
	expect_kept("a,1\n", 1);
	expect_kept("a,1", 1);

	/* a bad value, and rows with positions of which none is slow */
	expect_kept("a,1\nb\xff,2\nc,3\n", 3);
	expect_kept("b\xff,2\n", 1);

	/* slow rows only, errors only, and both, the last one without boundary */
	expect_kept("a,?\nb,1e3", 2);
	expect_kept("a\nb,c,d\n\"", 3);
	expect_kept("\xff,1\na,?\n\"x\ny\",?\n\xff,?", 4);
}

/* ---- files that nobody can change ---- */

TEST(a_finished_file_cannot_be_changed)
{
	int			file = written("a,1\nb,?\n");
	struct stat before;
	struct stat after;

	assert_int_equal(fstat(file, &before), 0);
	assert_int_equal(pwrite(file, "x", 1, 0), -1);
	assert_int_equal(pwrite(file, "x", 1, before.st_size), -1);
	assert_int_equal(ftruncate(file, 0), -1);
	assert_int_equal(ftruncate(file, before.st_size + 1), -1);
	assert_int_equal(fallocate(file, 0, before.st_size, 100000), -1);
	assert_int_equal(fallocate(file, FALLOC_FL_KEEP_SIZE, before.st_size, 100000), -1);
	assert_int_equal(fallocate(file, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0,
							   4096), -1);
	assert_int_equal(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE), -1);
	assert_true(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) ==
				MAP_FAILED);
	assert_int_equal(fstat(file, &after), 0);
	assert_int_equal(before.st_size, after.st_size);
	assert_int_equal(before.st_blocks, after.st_blocks);
	close(file);
}

/* the bytes of a file in a memory file with these seals */
static int
copy_sealed(const uint8_t *bytes, size_t nbytes, int seals)
{
	int			file = csv_memory_file_create(MAPPED_NAME);

	assert_true(file >= 0);
	assert_int_equal(write(file, bytes, nbytes), nbytes);
	if (seals != 0)
		assert_int_equal(fcntl(file, F_ADD_SEALS, seals), 0);
	return file;
}

static uint8_t *
bytes_of(int file, size_t *nbytes)
{
	struct stat st;
	uint8_t    *bytes;

	assert_int_equal(fstat(file, &st), 0);
	*nbytes = (size_t) st.st_size;
	bytes = malloc(*nbytes);
	assert_non_null(bytes);
	assert_int_equal(pread(file, bytes, *nbytes, 0), *nbytes);
	return bytes;
}

static bool
opens(int file)
{
	CsvStore   *store = csv_store_open(&csv_thread_memory, file, &written_as);

	if (store != NULL)
		csv_store_close(store);
	return store != NULL;
}

TEST(files_that_can_change_are_refused)
{
	static const int seals[] = {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE, F_SEAL_SEAL};
	int			file = written("a,1\nb,?\n");
	char		path[64];
	FILE	   *regular = tmpfile();
	size_t		nbytes;
	uint8_t    *bytes = bytes_of(file, &nbytes);
	int			other;

	assert_true(opens(file));
	for (int mask = 0; mask < 16; mask++)
	{
		int			chosen = 0;

		for (int i = 0; i < 4; i++)
			chosen |= (mask >> i & 1) ? seals[i] : 0;
		other = copy_sealed(bytes, nbytes, chosen);
		assert_int_equal(opens(other), mask == 15);
		assert_int_equal(csv_memory_file_size(other, true), mask == 15 ? (int64_t) nbytes : -1);

		/* those that are to be written to: all but that seal */
		assert_int_equal(csv_memory_file_size(other, false),
						 mask == 11 ? (int64_t) nbytes : -1);
		assert_int_equal(csv_memory_file_held(other, false) >= (int64_t) nbytes, mask == 11);
		close(other);
	}

	/* what a process cannot map */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	other = open(path, O_WRONLY);
	assert_true(other < 0 || !opens(other));
	if (other >= 0)
		close(other);
	other = open(path, O_PATH);
	assert_true(other >= 0 && !opens(other));
	close(other);

	/* what is no memory file */
	assert_non_null(regular);
	assert_int_equal(write(fileno(regular), bytes, nbytes), nbytes);
	assert_false(opens(fileno(regular)));
	fclose(regular);
	assert_false(opens(-1));

	/* memory behind the end counts */
	other = csv_memory_file_create("held");
	assert_int_equal(fallocate(other, FALLOC_FL_KEEP_SIZE, 0, 1 << 20), 0);
	assert_true(csv_memory_file_seal(other, true));
	assert_int_equal(csv_memory_file_size(other, true), 0);
	assert_true(csv_memory_file_held(other, true) >= 1 << 20);
	close(other);
	free(bytes);
	close(file);
}

/* ---- files of anything ---- */

/* where the file is mapped, as it is only once */
static const uint8_t *
find_mapping(void)
{
	FILE	   *maps = fopen("/proc/self/maps", "r");
	const uint8_t *found = NULL;
	char		line[1024];

	assert_non_null(maps);
	while (found == NULL && fgets(line, sizeof(line), maps) != NULL)
		if (strstr(line, MAPPED_NAME) != NULL)
			found = (const uint8_t *) (uintptr_t) strtoull(line, NULL, 16);
	fclose(maps);
	assert_non_null(found);
	return found;
}

typedef struct Mapping
{
	const uint8_t *bytes;
	size_t		nbytes;
} Mapping;

static void
expect_inside(const Mapping *mapping, const void *at, uint64_t n, size_t size,
			  size_t alignment)
{
	const uint8_t *from = at;

	if (n == 0)
		return;
	assert_true(from >= mapping->bytes && from <= mapping->bytes + mapping->nbytes);
	assert_true(n <= (uint64_t) (mapping->bytes + mapping->nbytes - from) / size);
	assert_int_equal((uintptr_t) from % alignment, 0);
}

static void
walk_batch(const Mapping *mapping, const CsvStore *store,
		   const CsvResidentBatch *resident)
{
	const CsvLayout *layout = csv_store_layout(store);
	const CsvBatch *batch = &resident->batch;

	assert_true(resident->first_row >= 0 &&
				(uint64_t) resident->first_row + batch->nrows <= csv_store_nrows(store));
	assert_true(batch->is_resident && batch->answer == NULL && batch->note == NULL);
	expect_inside(mapping, batch->errors, batch->nerrors, sizeof(CsvError), 8);
	expect_inside(mapping, batch->records, batch->nkept, sizeof(CsvKeptRecord), 4);
	expect_inside(mapping, batch->bytes, batch->nbytes, 1, 1);
	assert_true(batch->consumed <= batch->nbytes);
	assert_int_equal(batch->row_offsets == NULL, batch->row_lines == NULL);
	if (batch->row_offsets != NULL)
	{
		expect_inside(mapping, batch->row_lines, batch->nrows, 4, 4);
		expect_inside(mapping, batch->row_offsets, batch->nrows, 4, 4);
	}
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		const CsvArray *array = &batch->arrays[i];

		expect_inside(mapping, array->values, batch->nrows, array->stride, 4);
		assert_true(array->status != NULL || batch->nrows == 0 ||
					(array->all_ok && !array->any_slow));
		if (array->status != NULL)
			expect_inside(mapping, array->status, batch->nrows, 1, 1);
		assert_true(!array->any_slow || batch->nrows == 0 ||
					batch->row_offsets != NULL);
	}
	assert_int_equal((uint64_t) batch->nrows + batch->nerrors, batch->nrecords);
	for (uint32_t i = 0; i < batch->nerrors; i++)
	{
		const CsvError *error = &batch->errors[i];

		assert_true(error->before_row <= batch->nrows);
		assert_true(error->code > CSV_ERROR_NONE && error->code < CSV_NUM_ERRORS);
		assert_true(error->mode < CSV_NUM_MODES);
		if (error->code > CSV_ERROR_COLUMN_COUNT)
			assert_true(error->where < layout->ncolumns);
	}
}

/* refused, or all that is handed out is inside; how many batches were */
static uint32_t
walk_bytes(const uint8_t *bytes, size_t nbytes)
{
	int			file = copy_sealed(bytes, nbytes, F_SEAL_SHRINK | F_SEAL_GROW |
								   F_SEAL_WRITE | F_SEAL_SEAL);
	CsvStore   *store = csv_store_open(&csv_thread_memory, file, &written_as);
	Mapping		mapping;
	const CsvLayout *layout;
	CsvArray   *arrays;
	uint32_t	n = 0;

	close(file);
	if (store == NULL)
		return 0;
	layout = csv_store_layout(store);
	mapping = (Mapping) {find_mapping(), nbytes};
	expect_inside(&mapping, layout->columns, layout->ncolumns, sizeof(CsvColumn), 8);
	for (uint32_t i = 0; i < layout->ncolumns; i++)
		assert_true(layout->columns[i].kind < CSV_NUM_KINDS &&
					(layout->columns[i].field < layout->nfields ||
					 layout->columns[i].field == CSV_ABSENT_FIELD));
	arrays = malloc(sizeof(CsvArray) * layout->ncolumns + 1);
	assert_non_null(arrays);
	for (uint32_t i = 0; i < csv_store_nbatches(store); i++)
	{
		CsvResidentBatch resident;

		csv_store_pass(store, i);
		if (!csv_store_batch(store, i, arrays, &resident))
			continue;
		walk_batch(&mapping, store, &resident);
		n++;
	}
	free(arrays);
	csv_store_close(store);
	return n;
}

TEST(damaged_files_stay_within_themselves)
{
	uint32_t	nrounds = rounds(150);
	uint64_t	first = first_seed();
	uint32_t	nbatches = 0;

	for (uint64_t seed = first; seed < first + nrounds; seed++)
	{
		Room		room = {0};
		Copies		copies;
		size_t		nbytes;
		uint8_t    *bytes;
		uint8_t    *copy;
		int			file;

		start_seed(seed);
		if (!random_copies(seed, &copies))
			continue;
		file = write_copies(&copies, &csv_thread_memory, &room);
		assert_true(file >= 0);
		bytes = bytes_of(file, &nbytes);
		close(file);
		assert_int_equal(walk_bytes(bytes, nbytes), copies.nbatches);
		for (int i = 0; i < 60; i++)
		{
			copy = copy_of(bytes, nbytes);
			for (uint32_t n = 1 + random_below(4); n > 0; n--)
				damage(copy, nbytes);
			nbatches += walk_bytes(copy, one_in(8) ? random_below((uint32_t) nbytes) : nbytes);
			free(copy);
		}
		free(bytes);
		free_copies(&copies);
	}
	end_seeds();
	assert_true(nbatches > nrounds);
}

/* any place where a good file ends too early */
TEST(truncated_files_are_refused)
{
	int			file = written("a,1\nb\xff,2\nc,?\n");
	size_t		nbytes;
	uint8_t    *bytes = bytes_of(file, &nbytes);

	for (size_t i = 0; i < nbytes; i++)
		assert_int_equal(walk_bytes(bytes, i), 0);
	assert_int_equal(walk_bytes(bytes, nbytes), 1);

	/* the second word of the file is its number of rows */
	memset(bytes + 8, 0xff, 8);
	assert_int_equal(walk_bytes(bytes, nbytes), 0);
	free(bytes);
	close(file);
}

/* ---- what has been passed ---- */

#define PASSED_ROWS		(3 << 20)	/* 24 MB a batch */
#define PASSED_BATCHES	5

static void
expect_number(const CsvStore *store, uint32_t number)
{
	CsvArray	array;
	CsvResidentBatch resident;
	int64_t		value;

	assert_true(csv_store_batch(store, number, &array, &resident));
	for (uint32_t i = 0; i < PASSED_ROWS; i += 499)
	{
		memcpy(&value, array.values + sizeof(value) * i, sizeof(value));
		assert_int_equal(value, (int64_t) number * PASSED_ROWS + i);
	}
}

/* more than csv_store_pass() lets go of at a time */
TEST(what_has_been_passed_comes_again)
{
	static const uint32_t order[] = {0, 1, 4, 3, 2, 0, 4, 4, 1, 0};
	CsvColumn	column = column_of(CSV_KIND_INT8, 0);
	CsvLayout	layout = {.nfields = 1,.ncolumns = 1,.columns = &column};
	CsvDialectOptions options = {.delimiter = ',',.boundary = CSV_BOUNDARY_LF};
	CsvDialect	dialect;
	int64_t    *values = malloc(sizeof(int64_t) * PASSED_ROWS);
	CsvArray	array = {(uint8_t *) values, NULL, sizeof(int64_t), true, false};
	CsvBatch	batch = {.nrows = PASSED_ROWS,.nrecords = PASSED_ROWS,.arrays = &array};
	int			file = csv_memory_file_create(MAPPED_NAME);
	CsvStoreWriter *writer;
	CsvStoreSummary summary;
	CsvStore   *store;
	Room		room = {0};

	assert_non_null(values);
	csv_dialect_compile(&dialect, &options);
	written_as = options;
	writer = csv_store_begin(&csv_thread_memory, file, &dialect, &layout);
	assert_non_null(writer);
	for (int64_t n = 0; n < PASSED_BATCHES; n++)
	{
		for (int64_t i = 0; i < PASSED_ROWS; i++)
			values[i] = n * PASSED_ROWS + i;
		assert_true(csv_store_add(writer, &batch, may_take, &room));
	}
	assert_true(csv_store_finish(writer, may_take, &room, &summary));
	csv_store_free(writer);
	free(values);
	store = csv_store_open(&csv_thread_memory, file, &written_as);
	assert_non_null(store);
	close(file);
	for (size_t i = 0; i < LENGTH(order); i++)
	{
		csv_store_pass(store, order[i]);
		expect_number(store, order[i]);
		expect_number(store, random_below(PASSED_BATCHES));
	}
	csv_store_close(store);
}

/*
 * Of a record that is refused for one value, another may have been slow; where there is
 * no row, there need be no offsets of rows.
 */
TEST(a_batch_may_have_no_rows)
{
	Room		room = {0};
	Copies		copies;
	CsvArray	arrays[2];
	CsvResidentBatch resident;
	CsvBatch   *batch;
	uint32_t   *offsets;
	CsvStore   *store;
	int			file;

	plain_copies(&copies, "a,1,2\n");
	batch = &copies.batches[0];
	assert_int_equal(batch->nrows, 0);
	batch->arrays[0].any_slow = true;
	offsets = batch->row_offsets;
	batch->row_offsets = NULL;
	file = write_copies(&copies, &csv_thread_memory, &room);
	assert_true(file >= 0);
	store = csv_store_open(&csv_thread_memory, file, &written_as);
	assert_non_null(store);
	close(file);
	assert_true(csv_store_batch(store, 0, arrays, &resident));
	assert_int_equal(resident.batch.nrows, 0);
	assert_int_equal(resident.batch.nerrors, 1);
	csv_store_close(store);
	batch->row_offsets = offsets;
	free_copies(&copies);
}
