/*
 * test_cuda_engine.c
 *		What the CUDA engine does where it is interrupted, or memory or the
 *		device fails.  What it reads is compared in test_engines.c, test_shapes.c
 *		and the differential tests.
 *
 * Skipped where there is no GPU.  CSV_TEST_NO_TRAP leaves out the last test, and
 * EFFORT below 1 asks for less (both for compute-sanitizer).
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"
#include "../inject/inject.h"
#include "cuda_device.h"
#include "rounds.h"

static const CsvKind kinds[] = {CSV_KIND_INT4, CSV_KIND_TEXT};

/* a case of a number and a text, and its file: a line, so many times */
static void *
take_pinned(size_t nbytes)
{
	CsvMemory	memory = csv_cuda_pinned(test_session());

	return memory.alloc(memory.owner, nbytes);
}

static void
give_back_pinned(void *bytes)
{
	CsvMemory	memory = csv_cuda_pinned(test_session());

	memory.free(memory.owner, bytes);
}

static void
make_case(Case *test_case, Content *file, const char *line, size_t times)
{
	plain_case(test_case, 2, kinds, 2);
	memset(file, 0, sizeof(*file));
	content_repeat(file, line, times);
}

/* an engine of these options must read it as the reference does */
static void
expect_to_read(const Case *test_case, const Content *file,
			   CsvCudaOptions options)
{
	TestEngine	engine = {.name = "cuda", .engine = &csv_cuda_engine};

	engine.state = open_cuda(options);
	expect_as_reference(test_case, file, &engine, 1);
	csv_cuda_engine.close(engine.state);
}

/* an engine must fail at it, and say something of this */
static void
expect_to_fail(const Case *test_case, const Content *file, void *cuda,
			   const char *about)
{
	Reading		reading;

	reading_init(&reading, 2);
	reading.options.dialect = test_case->dialect;
	reading.options.chunk_bytes = test_case->chunk_bytes;
	reading.layout.ncolumns = 2;
	reading.layout.columns = test_case->columns;
	reading.keep_text = false;
	reading.engine = &csv_cuda_engine;
	reading.engine_state = cuda;
	assert_int_equal(reading_try(&reading, file->bytes, file->nbytes),
					 CSV_DEVICE_FAILED);
	assert_non_null(strstr(csv_cuda_engine.message(cuda), about));
}

static bool
say_yes(void *arg)
{
	(void) arg;
	return true;
}

TEST(can_be_interrupted_and_called_again)
{
	static Case test_case;
	Content		file;
	CsvLayout	layout;
	CsvDialect	dialect;
	CsvInput	input;
	CsvBatch	batch;
	uint8_t    *bytes;
	void	   *cuda;

	NEED_DEVICE();
	make_case(&test_case, &file, "1,abc\n", 1000000);
	layout = case_layout(&test_case);
	csv_dialect_compile(&dialect, &test_case.dialect);
	cuda = open_cuda((CsvCudaOptions) {0});
	bytes = take_pinned(file.nbytes + 128);
	assert_non_null(bytes);
	memcpy(bytes + 64, file.bytes, file.nbytes);
	assert_int_equal(csv_cuda_engine.configure(cuda, &dialect, &layout),
					 CSV_OK);
	memset(&input, 0, sizeof(input));
	input.bytes = bytes + 64;
	input.nbytes = file.nbytes;
	input.at_end = true;
	input.max_record_bytes = 1000000;
	input.interrupted = say_yes;
	assert_int_equal(csv_cuda_engine.parse(cuda, &input, &batch),
					 CSV_INTERRUPTED);
	input.interrupted = NULL;
	assert_int_equal(csv_cuda_engine.parse(cuda, &input, &batch), CSV_OK);
	assert_int_equal(batch.nrows, 1000000);
	assert_int_equal(batch.consumed, file.nbytes);
	give_back_pinned(bytes);
	csv_cuda_engine.close(cuda);
	content_free(&file);
}

/* as another process would see it */
static const uint8_t *
map_again(const CsvCudaBlock *block)
{
	void	   *mapping = mmap(NULL, block->nbytes, PROT_READ, MAP_SHARED,
							   block->descriptor, 0);

	assert_ptr_not_equal(mapping, MAP_FAILED);
	return mapping;
}

/* these bytes of an engine's are in a block, which can be mapped by others */
static void
expect_to_be_shared(const void *bytes, size_t nbytes)
{
	CsvCudaBlock block;
	const uint8_t *mapping;
	size_t		offset;

	assert_true(csv_cuda_find_block(test_session(), bytes, nbytes, &block));
	assert_true(block.number > 0);
	offset = (size_t) ((const uint8_t *) bytes - block.bytes);
	assert_true(offset + nbytes <= block.nbytes);
	mapping = map_again(&block);
	assert_memory_equal(mapping + offset, bytes, nbytes);
	munmap((void *) (uintptr_t) mapping, block.nbytes);

	/* not what begins in it and ends behind it, and it stays as long as it is */
	assert_false(csv_cuda_find_block(test_session(), bytes,
									 block.nbytes - offset + 1, &block));
	assert_int_equal(ftruncate(block.descriptor, 0), -1);
	assert_int_equal(ftruncate(block.descriptor, (off_t) block.nbytes * 2), -1);
	assert_true(fcntl(block.descriptor, F_GETFD) & FD_CLOEXEC);
}

TEST(shares_its_memory)
{
	static Case test_case;
	Content		file;
	CsvLayout	layout;
	CsvDialect	dialect;
	CsvInput	input;
	CsvBatch	batch;
	CsvCudaBlock before;
	CsvCudaBlock after;
	const uint8_t *mapping;
	uint8_t    *bytes;
	uint8_t    *small;
	void	   *cuda;

	/* long enough for large pages; a bad record */
	NEED_DEVICE();
	make_case(&test_case, &file, "1,abc\n", 2000000);
	content_string(&file, "bad\n");
	layout = case_layout(&test_case);
	csv_dialect_compile(&dialect, &test_case.dialect);
	cuda = open_cuda((CsvCudaOptions) {0});
	bytes = take_pinned(file.nbytes + 128);
	small = take_pinned(100000);
	assert_non_null(bytes);
	assert_non_null(small);
	memset(small, 'x', 100000);
	expect_to_be_shared(small, 100000);
	memcpy(bytes + 64, file.bytes, file.nbytes);
	assert_int_equal(csv_cuda_engine.configure(cuda, &dialect, &layout),
					 CSV_OK);
	memset(&input, 0, sizeof(input));
	memset(&batch, 0, sizeof(batch));
	input.bytes = bytes + 64;
	input.nbytes = file.nbytes;
	input.at_end = true;
	input.max_record_bytes = 1000000;
	assert_int_equal(csv_cuda_engine.parse(cuda, &input, &batch), CSV_OK);
	assert_int_equal(batch.nrows, 2000000);
	assert_int_equal(batch.nerrors, 1);
	expect_to_be_shared(batch.bytes, batch.nbytes);
	expect_to_be_shared(batch.errors, sizeof(CsvError));
	expect_to_be_shared(batch.row_offsets, batch.nrows * sizeof(uint32_t));
	for (uint32_t i = 0; i < layout.ncolumns; i++)
		expect_to_be_shared(batch.arrays[i].values,
							(size_t) batch.nrows * batch.arrays[i].stride);
	assert_false(csv_cuda_find_block(test_session(), file.bytes, 1, &before));

	/* who has mapped it keeps it; one that is made anew has another number */
	assert_true(csv_cuda_find_block(test_session(), bytes, 1, &before));
	mapping = map_again(&before);
	give_back_pinned(bytes);
	give_back_pinned(small);
	csv_cuda_engine.close(cuda);
	test_forget_session();
	assert_false(csv_cuda_find_block(test_session(), bytes, 1, &after));
	assert_memory_equal(mapping + 64, file.bytes, file.nbytes);
	munmap((void *) (uintptr_t) mapping, before.nbytes);
	cuda = open_cuda((CsvCudaOptions) {0});
	bytes = take_pinned(file.nbytes + 128);
	assert_true(csv_cuda_find_block(test_session(), bytes, 1, &after));
	assert_true(after.number > before.number);
	give_back_pinned(bytes);
	csv_cuda_engine.close(cuda);
	content_free(&file);
}

TEST(keeps_to_a_memory_limit)
{
	static Case test_case;
	CsvCudaOptions options = {.memory_limit = 24 * 1024 * 1024};
	Content		file;
	void	   *cuda;

	NEED_DEVICE();
	test_forget_session();
	make_case(&test_case, &file, "12345678,some text in a field\n",
			  rounds(100) < 100 ? 300000 : 1000000);
	test_case.chunk_bytes = 1 << 26;
	expect_to_read(&test_case, &file, options);

	/* a record that is too much for it */
	file.nbytes = 0;
	content_string(&file, "1,\"");
	content_repeat(&file, "x", 15000000);
	content_string(&file, "\"\n");
	cuda = open_cuda(options);
	expect_to_fail(&test_case, &file, cuda, "limit");
	csv_cuda_engine.close(cuda);
	content_free(&file);
}

/* what the session holds on the device, in MB */
static size_t
held_megabytes(void)
{
	uint64_t	limit;

	return (size_t) (csv_cuda_memory(test_session(), 0, &limit) >> 20);
}

/* files were held, and one is in use, when the limit is lowered */
TEST(keeps_to_a_lower_limit)
{
	static Case test_case;
	const uint64_t high = UINT64_C(400) << 20;
	const uint64_t low = UINT64_C(48) << 20;
	CsvCudaFile *used;
	CsvCudaFile *unused;
	Content		file;
	Content		many;

	NEED_DEVICE();
	test_forget_session();
	make_case(&test_case, &file, "12345678,some text in a field\n", 300000);
	test_case.chunk_bytes = 1 << 26;
	expect_to_read(&test_case, &file, (CsvCudaOptions) {.memory_limit = high});
	used = csv_cuda_file_create(test_session(), UINT64_C(60) << 20, high);
	unused = csv_cuda_file_create(test_session(), UINT64_C(50) << 20, high);
	assert_non_null(used);
	assert_non_null(unused);
	csv_cuda_file_leave(unused);
	assert_true(csv_cuda_file_use(unused, high));
	csv_cuda_file_leave(unused);
	assert_true(held_megabytes() > 110);

	/* a scan goes on; whatever no scan uses goes */
	csv_cuda_trim(test_session(), low);
	assert_true(held_megabytes() >= 60 && held_megabytes() < 60 + 48);
	assert_false(csv_cuda_file_use(unused, high));
	expect_to_read(&test_case, &file, (CsvCudaOptions) {.memory_limit = low});
	assert_true(held_megabytes() < 60 + 48);

	/* it is at its end: the next one may not use so large a file */
	csv_cuda_file_leave(used);
	assert_false(csv_cuda_file_use(used, low));
	csv_cuda_trim(test_session(), low);
	assert_true(held_megabytes() <= 48);
	expect_to_read(&test_case, &file, (CsvCudaOptions) {.memory_limit = low});
	csv_cuda_file_free(used);
	csv_cuda_file_free(unused);

	/* a call with more input makes way for itself after one with more output */
	make_case(&test_case, &many, "1,abc\n", 1000000);
	content_repeat(&file, "12345678,some text in a field\n", 400000);
	test_case.chunk_bytes = 1 << 26;
	expect_to_read(&test_case, &many, (CsvCudaOptions) {.memory_limit = high});
	assert_true(held_megabytes() > 40);
	expect_to_read(&test_case, &file, (CsvCudaOptions) {.memory_limit = UINT64_C(64) << 20});
	assert_true(held_megabytes() <= 64);
	content_free(&many);
	content_free(&file);
}

TEST(lists_the_devices)
{
	CsvCudaDevice devices[16];
	char		reason[256];
	int			n;

	NEED_DEVICE();
	n = csv_cuda_list_devices(devices, 16);
	assert_true(n >= 1);
	assert_true(devices[0].usable);
	assert_true(devices[0].memory_total > 0);
	assert_true(devices[0].memory_free != 0);
	print_message("device 0: %s, %d.%d, %llu MB, %lld MB free\n",
				  devices[0].name, devices[0].capability_major,
				  devices[0].capability_minor,
				  (unsigned long long) devices[0].memory_total >> 20,
				  (long long) devices[0].memory_free >> 20);
	assert_null(csv_cuda_open(csv_cuda_session_create(77), &(CsvCudaOptions) {0},
							  &csv_thread_memory, reason, sizeof(reason)));
	print_message("device 77: %s\n", reason);
}

TEST(survives_running_out_of_memory)
{
	static Case test_case;
	Content		file;
	void	   *cuda;

	NEED_DEVICE();
	make_case(&test_case, &file, "1,abc\n", 1000);
	test_case.chunk_bytes = 1000;
	csv_injected.gpu_fault = -2;
	cuda = open_cuda((CsvCudaOptions) {0});
	csv_injected.gpu_fault = 0;
	expect_to_fail(&test_case, &file, cuda, "memory");
	csv_cuda_engine.close(cuda);
	expect_to_read(&test_case, &file, (CsvCudaOptions) {0});
	content_free(&file);
}

/* the last test: the context is gone after it */
TEST(says_why_after_a_trap)
{
	static Case test_case;
	Content		file;
	char		reason[256];
	void	   *cuda;

	NEED_DEVICE();
	if (getenv("CSV_TEST_NO_TRAP") != NULL)
		skip();
	make_case(&test_case, &file, "1,abc\n", 1000);
	test_case.chunk_bytes = 1000;
	csv_injected.gpu_fault = 2;
	cuda = open_cuda((CsvCudaOptions) {0});
	csv_injected.gpu_fault = 0;
	expect_to_fail(&test_case, &file, cuda, "");
	print_message("after a trap: %s\n", csv_cuda_engine.message(cuda));
	csv_cuda_engine.close(cuda);
	assert_null(csv_cuda_open(test_session(), &(CsvCudaOptions) {0},
							  &csv_thread_memory, reason,
							  sizeof(reason)));
	print_message("opened again: %s\n", reason);
	content_free(&file);
}
