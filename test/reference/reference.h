/*
 * reference.h
 *		The reference reader: CSV as the specification says it, one byte at a
 *		time over a whole file in memory.
 *
 * It is what the engines are compared with.  It shares with them the dialect's
 * table (dialect.c) and nothing else: values are put together while the machine
 * runs, and every check is written out again, for reading and not for speed.
 */
#ifndef CSV_REFERENCE_H
#define CSV_REFERENCE_H

#include "../../src/reader/reader.h"

typedef enum RefStatus
{
	REF_NULL,
	REF_VALUE,
	REF_DOUBTFUL				/* the engine must not decide */
} RefStatus;

/* a wanted column's value in one row */
typedef struct RefValue
{
	uint8_t		status;			/* RefStatus */
	bool		plain;			/* unquoted, or quoted as a whole with neither
								 * quote nor escape inside */
	const uint8_t *text;		/* without quotes and escapes */
	uint64_t	text_bytes;
	const uint8_t *stored;		/* of varchar(n), char(n): cut or padded */
	uint64_t	stored_bytes;
} RefValue;

typedef struct RefRow
{
	uint64_t	offset;			/* in the file */
	uint64_t	line;			/* line breaks before it in the file */
	RefValue   *values;			/* one per layout->columns */
} RefRow;

typedef struct RefResult
{
	CsvDialect	dialect;		/* boundary decided */

	bool		has_header;		/* the last of the header rows is there */
	const uint8_t *header;		/* its bytes, without the boundary */
	uint64_t	header_bytes;
	uint32_t	header_fields;
	uint64_t   *header_separators;	/* from the start of the header */

	RefRow	   *rows;
	uint64_t	nrows;
	CsvError   *errors;			/* offset, record, line, before_row count from
								 * the top of the file (after its header) */
	uint64_t	nerrors;
	uint64_t	nlines;			/* line breaks of the file */
	uint64_t	body_lines;		/* those before the first record's line */
	uint64_t	body_offset;	/* where the header ends */

	struct RefBlock *blocks;	/* all memory of the result */
} RefResult;

/*
 * Read a file of nbytes bytes.  The values point into `result` or into the
 * file.  Ends the process where there is no memory.
 */
extern void reference_read(RefResult *result, const CsvDialectOptions *dialect,
						   const CsvLayout *layout, uint32_t header_rows,
						   uint64_t max_record_bytes, const uint8_t *file,
						   uint64_t nbytes);
extern void reference_free(RefResult *result);

#endif							/* CSV_REFERENCE_H */
