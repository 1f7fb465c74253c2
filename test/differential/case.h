/*
 * case.h
 *		A case of the differential tests: a dialect, a layout and the way the
 *		reader is driven.  Plain data; the file comes beside it.
 */
#ifndef CSV_TEST_CASE_H
#define CSV_TEST_CASE_H

#include <stdio.h>

#include "../../src/reader/reader.h"

#define CASE_MAX_COLUMNS	2000
#define CASE_MAX_STRING		8
#define CASE_MAX_NULL_VALUES	160

/*
 * Where choices come from: random numbers, or the bytes of a fuzzer's input,
 * then zeros.
 */
typedef struct Choices
{
	uint64_t	state;			/* of the random numbers */
	const uint8_t *bytes;		/* NULL: random */
	size_t		nbytes;
} Choices;

extern uint64_t choices_next(Choices *choices);
extern uint32_t choose(Choices *choices, uint32_t n);	/* 0 to n - 1 */
extern bool chance(Choices *choices, uint32_t n);	/* one in n */

#define PICK(choices, list) \
	((list)[choose(choices, sizeof(list) / sizeof((list)[0]))])

typedef struct Case
{
	CsvDialectOptions dialect;
	uint32_t	header_rows;
	uint64_t	max_record_bytes;
	uint64_t	chunk_bytes;	/* 0: the engine's choice */

	CsvLayout	layout;			/* less its pointers: see case_layout */
	CsvColumn	columns[CASE_MAX_COLUMNS];
	uint8_t		null_bytes[CASE_MAX_STRING];
	uint8_t		default_bytes[CASE_MAX_STRING];
	uint8_t		null_values[CASE_MAX_NULL_VALUES];

	/* how the reader is driven */
	uint64_t	seed;			/* of what follows */
	uint32_t	max_read_bytes; /* the read callback gives less than asked */
	uint32_t	interruptions;	/* so often the interrupt callback says true */
	uint32_t	failures;		/* so often an allocation fails */
	bool		switch_engines; /* between batches */
} Case;

extern void case_make(Case *test_case, Choices *choices);
extern CsvLayout case_layout(const Case *test_case);
extern void case_print(FILE *out, const Case *test_case);
extern void case_print_bytes(FILE *out, const uint8_t *bytes, size_t nbytes);

#endif							/* CSV_TEST_CASE_H */
