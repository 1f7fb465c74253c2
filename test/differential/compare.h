/*
 * compare.h
 *		Reads a file with an engine through a CsvReader and demands of every
 *		batch what the reference reader has found.
 */
#ifndef CSV_TEST_COMPARE_H
#define CSV_TEST_COMPARE_H

#include "../reference/reference.h"
#include "case.h"

#ifdef CSV_WITH_CUDA
#include "../../cuda/csv_cuda.h"

/* that of all engines, of which a process has one; made when it is asked for */
extern CsvSession *test_session(void);

/* give its device memory back; the next is another */
extern void test_forget_session(void);
#endif

/* an allocator that counts, and fails when it is told to */
typedef struct TestMemory
{
	uint64_t	live;			/* allocations not freed */
	uint32_t	failures;		/* still to come */
	uint32_t	countdown;		/* good allocations before the next failure */
	Choices		choices;
} TestMemory;

extern CsvMemory test_memory(TestMemory *memory);

#define MAX_TEST_ENGINES	10

typedef struct TestEngine
{
	const char *name;
	const CsvEngine *engine;
	CsvCpuOptions options;		/* of the CPU engine */
	void	   *state;			/* open, or NULL */
	TestMemory	memory;
	uint32_t	uses;
} TestEngine;

/* what was compared, over all files */
typedef struct TestCounts
{
	uint64_t	files;
	uint64_t	rows;
	uint64_t	batches;
	uint64_t	errors[CSV_NUM_ERRORS];
	uint64_t	statuses[4];	/* CsvValueStatus of the engines' values */
	uint64_t	interruptions;
	uint64_t	failures;
	uint64_t	places;			/* from which another reader went on, */
	uint64_t	places_alone;	/* of these, where lines are read alone, */
	uint64_t	places_in_line; /* and in a line that is passed over */
} TestCounts;

/*
 * The engines there are: "cpu", "cuda" or "all".  Returns their number, 0 if
 * there is none.
 */
extern int	test_engines_open(TestEngine *engines, const char *which);

/* false where memory has leaked */
extern bool test_engines_close(TestEngine *engines, int nengines);

/*
 * Compare all engines with the reference.  Where they differ the result is
 * false, and `message` says how.
 */
extern bool compare_case(const Case *test_case, const uint8_t *file,
						 size_t nbytes, TestEngine *engines, int nengines,
						 TestCounts *counts, char *message,
						 size_t message_bytes);

#endif							/* CSV_TEST_COMPARE_H */
