/*
 * reading.h
 *		For the unit tests: reads a file and writes down what came, as text.
 *
 * One line per record, in record order:
 *
 *		<a><b>			a row: - NULL, ? DOUBTFUL, <text> (from the field's own
 *						bytes where it is LONG; numbers by their value)
 *		!code where record line offset length
 *						a bad record, by numbers from the top of the file
 */
#ifndef CSV_TEST_READING_H
#define CSV_TEST_READING_H

#include "../differential/compare.h"
#include "../differential/content.h"

typedef struct Reading
{
	CsvReaderOptions options;
	CsvLayout	layout;			/* ncolumns 0: a text column per field */
	const CsvEngine *engine;	/* NULL: the CPU engine of `isa` */
	void	   *engine_state;
	CsvIsa		isa;
	uint32_t	threads;		/* of that, which take pieces; 0: the caller's */
	uint32_t	part_bytes;		/* of that: rows are filled in such parts; 0: a row each */
	size_t		most_per_read;	/* the callback gives no more at once; 0: all */
	int			nthreads;		/* that may read ahead; 0: it is a stream */

	/* what came */
	uint64_t	nrows;
	uint64_t	nerrors;
	uint64_t	nbatches;
	uint64_t	nreads_to_open; /* calls of the callback before the first batch, */
	uint64_t	nbytes_to_open; /* and what they gave */
	CsvError	last_error;
	uint64_t	last_text_bytes;	/* of the last row's last column */
	char	   *text;			/* the lines, if keep_text; free() it */
	bool		keep_text;
	char		header[256];	/* fields of the header, as in a row */
} Reading;

/* defaults: comma, quote, rfc4180, auto, multiline, 16 MB, UTF-8, null '' */
extern void reading_init(Reading *reading, uint32_t nfields);

/* a column of a field, without limits */
extern CsvColumn column_of(CsvKind kind, uint32_t field);

/* read it all; what fails, fails the test */
extern void reading_run(Reading *reading, const uint8_t *file, size_t nbytes);

/* the same as far as csv_reader_next() goes: its last status */
extern CsvStatus reading_try(Reading *reading, const uint8_t *file,
							 size_t nbytes);

/* is there an engine for these instructions? */
extern bool reading_has_isa(CsvIsa isa);

/*
 * All engines there are, open until the program ends: of each instruction set,
 * of several threads, and of CUDA.  Returns their number.
 */
extern int	reading_engines(TestEngine **engines);

/*
 * A case of the usual dialect, with LF, and of columns of these kinds: one for
 * each field, then again from the first.
 */
extern void plain_case(Case *test_case, uint32_t nfields,
					   const CsvKind *kinds, uint32_t nkinds);

/* these engines must find in a file what the reference reader finds */
extern void expect_as_reference(const Case *test_case, const Content *file,
								TestEngine *engines, int nengines);

/*
 * Every engine, in chunks of 1, 2, 7, 64 bytes and any size, must give these
 * lines.
 */
extern void expect_reading_(const Reading *reading, const void *file,
							size_t nbytes, const char *lines,
							const char *source, int line);

#define expect_reading(reading, file, lines) \
	expect_reading_(reading, file, sizeof(file) - 1, lines, __FILE__, __LINE__)

#endif							/* CSV_TEST_READING_H */
