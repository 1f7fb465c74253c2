/*
 * index.h
 *		The structural index of one input: which bytes separate fields, and
 *		where records start.
 *
 * The index is built 64 bytes at a time as bit-strings over the input:
 *
 *		bytes		a,"b,c"\nd,e\n
 *		quotes		0010001000000
 *		inside		0011110000000	from an opening quote to before its closing
 *		separators	0100000101010 1	delimiters and line breaks outside quotes
 *
 * (inside is the running exclusive-or of quotes.)  The dialect's table finds the same
 * if each opening quote is at the start of a field (or doubles the quote before it),
 * and each closing quote is before a separator (or another quote).  A block is
 * irregular if this does not hold, or if it has an escape outside of quotes, a blank
 * line, or a record that is too long.  Then that record is read through the table (repair.c),
 * and the blocks continue behind it.
 *
 * In text format, `quotes` has the escapes, and no byte is inside: a separator is data
 * if an escape is before it that is not escaped itself.
 *
 * One file per instruction set has the same functions; index_loop.h is their common
 * source.
 */
#ifndef CSV_INDEX_H
#define CSV_INDEX_H

#include "../reader/reader.h"
#include "bits.h"

/* interrupts are checked after this many bytes */
#define CSV_ASK_BYTES	(1024 * 1024)

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
	uint64_t   *quotes;			/* and escapes */
	uint8_t    *unplain;		/* a flag per 64-byte block: it has zero bytes
								 * or bytes beyond ASCII */
	uint64_t	nwords;			/* allocated words */

	CsvIndexRecord *records;	/* with a sentinel behind the nrecords records */
	uint32_t	nrecords;
	uint32_t	record_capacity;
	CsvError   *errors;			/* of structure */
	uint32_t	nerrors;
	uint32_t	error_capacity;
	uint32_t   *lenient;		/* numbers of the records that were read leniently */
	uint32_t	nlenient;
	uint32_t	lenient_capacity;

	/* the state of reading */
	uint64_t	pos;			/* the next record's start */
	uint32_t	nseparators;	/* separators of the records before pos */
	uint32_t	nlines;			/* line breaks before pos */
	uint64_t	alone_until;
	bool		skip_line;
	bool		incomplete;		/* the rest needs more bytes */
	uint64_t	asked;			/* where slow records last checked for interrupts */
	CsvScan		scan;
} CsvIndex;

/* functions that are compiled once per instruction set */
struct CsvIndexFunctions
{
	/*
	 * Read regular records from index->pos on.  On return, pos is at the start of an
	 * irregular or incomplete record (or blank line), or at the end of the input.
	 */
	CsvStatus	(*run) (CsvIndex *index);

	/*
	 * List the positions of the separators in [start, end), in order.  There must be
	 * room for 16 more positions.  Returns the end of the list.
	 */
	uint32_t   *(*list_positions) (const CsvIndex *index, uint64_t start,
								   uint64_t end, uint32_t *positions);
};

extern const CsvIndexFunctions csv_index_swar;
extern const CsvIndexFunctions csv_index_avx2;
extern const CsvIndexFunctions csv_index_avx512;
extern bool csv_index_has_avx2(void);
extern bool csv_index_has_avx512(void);

/* index.c: room for the input, and for one more entry of a list */
extern CsvStatus csv_index_reserve(CsvIndex *index);
extern void csv_index_free(CsvIndex *index);
extern bool csv_index_grow_records(CsvIndex *index);
extern bool csv_index_add_lenient(CsvIndex *index, uint32_t record);
extern bool csv_index_add_error(CsvIndex *index, CsvErrorCode code,
								CsvMode mode, uint64_t offset,
								uint64_t length, uint32_t line,
								uint32_t where);

/* repair.c */
extern CsvStatus csv_index_build(CsvIndex *index);

#endif							/* CSV_INDEX_H */
