/*
 * test_cuda_session.c
 *		Files that engines of a session read, and the session's start in a thread.
 *		Skipped where there is no GPU.
 */
#include <pthread.h>
#include <unistd.h>

#include "unit.h"
#include "cuda_device.h"
#include "rounds.h"

#define FILE_BYTES	(24 * 1024 * 1024)

static uint8_t content[FILE_BYTES];
static size_t content_bytes;

/*
 * Records of all kinds; `wild` ones have errors that the CPU engine repairs,
 * and are now and then longer than a small chunk.
 */
static void
make_content(bool wild)
{
	size_t		at = 0;

	while (at < FILE_BYTES - 400000)
	{
		uint32_t	kind = random_below(20000);
		uint32_t	number = (uint32_t) next_random();
		char	   *out = (char *) content + at;

		if (kind < 200)
			at += (size_t) sprintf(out, "%u,too few\n", number);
		else if (kind < 400)
			at += (size_t) sprintf(out, "%u,\"a \"\"b\"\"\r\nc,d\",\r\n", number);
		else if (kind < 405 && wild)
			at += (size_t) sprintf(out, "\"x\ny\"z,b,c\nr,s,t\n");
		else if (kind < 410 && wild)
		{
			size_t		nbytes = random_below(300000);

			at += (size_t) sprintf(out, "%u,", number);
			memset(content + at, 'a' + (int) (kind % 26), nbytes);
			at += nbytes;
			at += (size_t) sprintf((char *) content + at, ",long\n");
		}
		else
			at += (size_t) sprintf(out, "%u,text of %u,%u\n", random_below(1000),
								   number, random_below(1 << 30));
	}
	content_bytes = at;
}

/* what the CPU engine reads, chunk by chunk */
static char *
expected_text(void)
{
	Reading		reading;

	reading_init(&reading, 3);
	reading_run(&reading, content, content_bytes);
	return reading.text;
}

static void
expect_text(uint64_t chunk_bytes, int nthreads, const char *text)
{
	Reading		reading;

	reading_init(&reading, 3);
	reading.options.chunk_bytes = chunk_bytes;
	reading.nthreads = nthreads;
	reading.engine = &csv_cuda_engine;
	reading.engine_state = open_cuda((CsvCudaOptions) {0});
	reading_run(&reading, content, content_bytes);
	csv_cuda_engine.close(reading.engine_state);
	if (strcmp(reading.text, text) != 0)
		fail_msg("differs in chunks of %llu bytes, %d threads",
				 (unsigned long long) chunk_bytes, nthreads);
	free(reading.text);
}

TEST(reads_what_the_cpu_engine_reads)
{
	static const uint64_t chunks[] = {0, 100000, 1 << 20, 5000000, 1 << 26};

	NEED_DEVICE();
	for (int wild = 0; wild < 2; wild++)
	{
		char	   *text;

		make_content(wild);
		text = expected_text();
		for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++)
			expect_text(chunks[i], i % 2 == 0 ? 4 : 1, text);
		free(text);
	}
}

static void *
run_reading(void *arg)
{
	Reading    *reading = arg;

	reading_run(reading, content, content_bytes);
	return NULL;
}

TEST(scans_at_once_take_turns)
{
	Reading		readings[3];
	pthread_t	threads[3];
	char	   *text;

	NEED_DEVICE();
	make_content(true);
	text = expected_text();
	for (int i = 0; i < 3; i++)
	{
		reading_init(&readings[i], 3);
		readings[i].options.chunk_bytes = (uint64_t) (i + 1) << 20;
		readings[i].nthreads = 2;
		readings[i].engine = &csv_cuda_engine;
		readings[i].engine_state = open_cuda((CsvCudaOptions) {0});
	}
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_reading,
										&readings[i]), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 3; i++)
	{
		assert_int_equal(strcmp(readings[i].text, text), 0);
		free(readings[i].text);
		csv_cuda_engine.close(readings[i].engine_state);
	}
	free(text);
}

/* nothing needs a device before somebody asks for one */
TEST(a_session_asleep_has_nothing)
{
	CsvSession *asleep = csv_cuda_session_create(-1);
	CsvCudaColumns *columns;
	uint64_t	output = 1;
	uint64_t	others = 1;
	char		reason[256];

	assert_non_null(asleep);
	assert_int_equal(csv_cuda_state(asleep), CSV_CUDA_ASLEEP);
	csv_cuda_memory_held(asleep, &output, &others);
	assert_int_equal(output + others, 0);
	assert_null(csv_cuda_open(asleep, &(CsvCudaOptions) {0},
							  &csv_thread_memory, reason, sizeof(reason)));
	assert_string_not_equal(reason, "");
	columns = csv_cuda_columns_create(asleep, 1, 10);
	assert_non_null(columns);
	assert_false(csv_cuda_columns_add(columns, CSV_CUDA_VALUES(0), 0, 1, NULL,
									  1, 10, 0, reason, sizeof(reason)));
	assert_string_equal(reason, "");
	assert_int_equal(csv_cuda_columns_filled(columns, CSV_CUDA_VALUES(0)), 0);
	csv_cuda_columns_free(columns);
}

TEST(starts_in_a_thread)
{
	char	   *text;

	NEED_DEVICE();
	make_content(false);
	text = expected_text();
	test_forget_session();
	assert_int_equal(csv_cuda_state(test_session()), CSV_CUDA_ASLEEP);
	assert_true(csv_cuda_start(test_session()));
	for (int i = 0;
		 i < 1000 && csv_cuda_state(test_session()) == CSV_CUDA_STARTING; i++)
		usleep(10000);
	assert_int_equal(csv_cuda_state(test_session()), CSV_CUDA_AWAKE);
	assert_false(csv_cuda_start(test_session()));
	expect_text(0, 2, text);

	/* whoever comes meanwhile waits */
	test_forget_session();
	assert_true(csv_cuda_start(test_session()));
	expect_text(0, 2, text);
	free(text);
}

TEST(a_start_without_such_a_device_comes_to_nothing)
{
	CsvSession *session = csv_cuda_session_create(777);
	char		reason[256];

	NEED_DEVICE();
	assert_true(csv_cuda_start(session));
	assert_false(csv_cuda_wake(session, reason, sizeof(reason)));
	assert_non_null(strstr(reason, "777"));
	assert_int_equal(csv_cuda_state(session), CSV_CUDA_ASLEEP);
}
