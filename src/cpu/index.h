/*
 * index.h
 *		The structural index of one input: which bytes separate fields, and
 *		where the records start.
 *
 * The index is built 64 bytes at a time as bit-strings over the input:
 *
 *		bytes		a,"b,c"\nd,e\n
 *		quotes		0010001000000
 *		inside		0011110000000	from an opening quote to before its closing
 *		separators	0100000101010 1	delimiters and line breaks outside quotes
 *
 * (inside is the running exclusive-or of quotes.)  That is what the dialect's
 * table finds wherever each opening quote stands at the start of a field (or
 * doubles the quote before it) and each closing one before a separator (or
 * another quote).  A block where that does not hold, or which holds an escape
 * inside quotes, a blank line, or a record that is too long, is irregular: the
 * record in question is read through the table (repair.c), and the blocks go
 * on behind it.
 *
 * Of text, `quotes` are the escapes, and nothing is inside: a separator is data where
 * an escape that is not escaped itself stands before it.
 *
 * One file per instruction set holds the same function; index_loop.h is their
 * common text.
 */
#ifndef CSV_INDEX_H
#define CSV_INDEX_H

#include "../reader/reader.h"
#include "bits.h"

/* work of so many bytes is done without a look for interrupts */
#define CSV_ASK_BYTES	(1024 * 1024)

/* such a look */
static inline bool
csv_interrupted(const CsvInput *input)
{
	return input->interrupted != NULL &&
		input->interrupted(input->interrupted_arg);
}

/* a record without an error of structure */
typedef struct CsvIndexRecord
{
	uint32_t	start;			/* first byte */
	uint32_t	first_separator;	/* rank of its first separator */
	uint32_t	line;			/* line breaks before it */
} CsvIndexRecord;

typedef struct CsvIndexFunctions CsvIndexFunctions;

typedef struct CsvIndex
{
	const CsvIndexFunctions *functions;
	const CsvMemory *memory;
	const CsvDialect *dialect;
	const CsvLayout *layout;
	const CsvInput *input;

	/* bit-strings over input->nbytes + 1 positions, rounded up to words */
	uint64_t   *separators;
	uint64_t   *quotes;			/* every quote byte, or escape of text */
	uint8_t    *unplain;		/* a flag per 64-byte block: it has zero bytes
								 * or bytes beyond ASCII */
	uint64_t	nwords;			/* that are allocated */

	CsvIndexRecord *records;	/* one more than nrecords: a sentinel */
	uint32_t	nrecords;
	uint32_t	record_capacity;
	CsvError   *errors;			/* of structure */
	uint32_t	nerrors;
	uint32_t	error_capacity;
	uint32_t   *lenient;		/* the numbers of records that were read so */
	uint32_t	nlenient;
	uint32_t	lenient_capacity;

	/* where reading stands */
	uint64_t	pos;			/* the next record's start */
	uint32_t	nseparators;	/* of the records so far */
	uint32_t	nlines;			/* line breaks before pos */
	uint64_t	alone_until;
	bool		skip_line;
	bool		incomplete;		/* the rest needs more bytes */
	uint64_t	asked;			/* where slow records last looked for interrupts */
	CsvScan		scan;
} CsvIndex;

/* what is compiled once per instruction set */
struct CsvIndexFunctions
{
	/*
	 * Read regular records from index->pos on.  Returns with pos at the start
	 * of a record (or blank line) that is irregular or not complete, or at the
	 * end of the input.
	 */
	CsvStatus	(*run) (CsvIndex *index);

	/*
	 * The positions of the separators in [start, end), in order; there must
	 * be room for 16 more than there are.  Returns the end of the list.
	 */
	uint32_t   *(*list_positions) (const CsvIndex *index, uint64_t start,
								   uint64_t end, uint32_t *positions);
};

extern const CsvIndexFunctions csv_index_swar;
extern const CsvIndexFunctions csv_index_avx2;
extern const CsvIndexFunctions csv_index_avx512;
extern bool csv_index_has_avx2(void);
extern bool csv_index_has_avx512(void);

/* index.c */
extern CsvStatus csv_index_build(CsvIndex *index);
extern void csv_index_free(CsvIndex *index);
extern bool csv_index_grow_records(CsvIndex *index);
extern bool csv_index_add_lenient(CsvIndex *index, uint32_t record);
extern bool csv_index_add_error(CsvIndex *index, CsvErrorCode code,
								CsvMode mode, uint64_t offset,
								uint64_t length, uint32_t line,
								uint32_t where);

/* repair.c */
extern CsvStatus csv_index_slow_record(CsvIndex *index);

#endif							/* CSV_INDEX_H */
