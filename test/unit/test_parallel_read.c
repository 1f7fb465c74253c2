/*
 * test_parallel_read.c
 *		A file read by several threads is the file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parallel_read.h"

#define FILE_BYTES	(5 * CSV_PARALLEL_READ_BLOCK + 12345)

static int	fd = -1;
static uint8_t *content;
static uint8_t *buffer;

static int
make_file(void **state)
{
	char		name[] = "/tmp/test_parallel_read.XXXXXX";

	(void) state;
	content = malloc(FILE_BYTES);
	buffer = malloc(FILE_BYTES + CSV_PARALLEL_READ_BLOCK);
	fd = mkstemp(name);
	if (content == NULL || buffer == NULL || fd < 0)
		return -1;
	unlink(name);
	for (size_t i = 0; i < FILE_BYTES; i++)
		content[i] = (uint8_t) (i * 2654435761u >> 13);
	return write(fd, content, FILE_BYTES) == FILE_BYTES ? 0 : -1;
}

static int
close_file(void **state)
{
	(void) state;
	free(content);
	free(buffer);
	return close(fd);
}

static void
reads_the_same_with_any_number_of_threads(void **state)
{
	(void) state;
	for (int nthreads = 1; nthreads <= 9; nthreads++)
	{
		memset(buffer, 0, FILE_BYTES);
		assert_int_equal(csv_parallel_pread(fd, buffer, FILE_BYTES, 0,
											nthreads, NULL, NULL), FILE_BYTES);
		assert_memory_equal(buffer, content, FILE_BYTES);
	}
}

static void
stops_at_the_end_of_the_file(void **state)
{
	size_t		offset = 2 * CSV_PARALLEL_READ_BLOCK + 77;

	(void) state;
	assert_int_equal(csv_parallel_pread(fd, buffer, FILE_BYTES, (off_t) offset,
										4, NULL, NULL), FILE_BYTES - offset);
	assert_memory_equal(buffer, content + offset, FILE_BYTES - offset);
	assert_int_equal(csv_parallel_pread(fd, buffer, 100, FILE_BYTES, 4, NULL,
										NULL), 0);
}

static bool
after_two_blocks(void *arg)
{
	return ++*(int *) arg >= 2;
}

static void
returns_what_is_there_without_a_gap_when_interrupted(void **state)
{
	int			calls = 0;
	ssize_t		nread = csv_parallel_pread(fd, buffer, FILE_BYTES, 0, 2,
										   after_two_blocks, &calls);

	(void) state;
	assert_true(nread > 0);
	assert_memory_equal(buffer, content, (size_t) nread);
	calls = 0;
	nread = csv_parallel_pread(fd, buffer, FILE_BYTES, 0, 1, after_two_blocks,
							   &calls);
	assert_int_equal(nread, 2 * CSV_PARALLEL_READ_BLOCK);
}

static void
reports_a_failure(void **state)
{
	(void) state;
	assert_int_equal(csv_parallel_pread(-1, buffer, FILE_BYTES, 0, 3, NULL,
										NULL), -1);
	assert_int_equal(errno, EBADF);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_same_with_any_number_of_threads),
		cmocka_unit_test(stops_at_the_end_of_the_file),
		cmocka_unit_test(returns_what_is_there_without_a_gap_when_interrupted),
		cmocka_unit_test(reports_a_failure),
	};

	return cmocka_run_group_tests(tests, make_file, close_file);
}
