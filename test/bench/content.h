/*
 * content.h
 *		What the benchmarks of the library read, and what they do with times.
 */
#ifndef CSV_BENCH_CONTENT_H
#define CSV_BENCH_CONTENT_H

#include "../../src/reader/reader.h"

/* a file's bytes, and how many of them were delivered */
typedef struct CsvBenchContent
{
	uint8_t    *bytes;
	size_t		nbytes;
	size_t		position;
} CsvBenchContent;

/* false, and a message in errno, if it cannot be had; bytes are malloc()ed */
extern bool csv_bench_load(const char *filename, CsvBenchContent *content);

/* a CsvReadFn over a CsvBenchContent */
extern size_t csv_bench_read(void *content, uint8_t *buffer, size_t nbytes);

extern double csv_bench_now(void);	/* seconds of a clock that runs evenly */

/* two doubles, for qsort() */
extern int	csv_bench_compare(const void *a, const void *b);

#endif							/* CSV_BENCH_CONTENT_H */
