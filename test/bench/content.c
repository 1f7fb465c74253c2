/*
 * content.c
 *		See content.h.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "content.h"

size_t
csv_bench_read(void *arg, uint8_t *buffer, size_t nbytes)
{
	CsvBenchContent *content = arg;
	size_t		left = content->nbytes - content->position;

	if (nbytes > left)
		nbytes = left;
	memcpy(buffer, content->bytes + content->position, nbytes);
	content->position += nbytes;
	return nbytes;
}

bool
csv_bench_load(const char *filename, CsvBenchContent *content)
{
	FILE	   *file = fopen(filename, "rb");
	long		nbytes;
	bool		loaded = false;

	if (file == NULL)
		return false;
	if (fseek(file, 0, SEEK_END) == 0 && (nbytes = ftell(file)) >= 0)
	{
		rewind(file);
		content->nbytes = (size_t) nbytes;
		content->position = 0;
		content->bytes = malloc(content->nbytes + 1);
		loaded = content->bytes != NULL &&
			fread(content->bytes, 1, content->nbytes, file) == content->nbytes;
	}
	fclose(file);
	return loaded;
}

double
csv_bench_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

int
csv_bench_compare(const void *a, const void *b)
{
	double		left = *(const double *) a;
	double		right = *(const double *) b;

	return left < right ? -1 : left > right;
}
