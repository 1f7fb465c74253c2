/*
 * oddity.h
 *		Finds data that COPY reads otherwise than the engines do.
 */
#ifndef CSV_ODDITY_H
#define CSV_ODDITY_H

#include "commands/copy.h"

/*
 * Returns what is odd in a file, or NULL.  Odd are
 *	- a byte-order mark;
 *	- line breaks of two kinds, in quotes or not;
 *	- a line that begins as the end of data did before PostgreSQL 18;
 *	- a header that is longer than a line, or whose text COPY checks, or that is
 *	  missing although it must match;
 *	- in text, an escaped line break, and the end of data before the last line;
 *	- a file that cannot be read twice.
 * encoding is the file's.  Uses nthreads threads including this one.
 */
extern const char *csv_find_oddity(const char *filename,
								   const CopyFormatOptions *copy, int encoding,
								   int nthreads);

/* bytes before a block that are looked at with it; so long a run of escapes is odd */
#define CSV_LOOK_BEHIND		64

/*
 * Look at data that come in blocks.  Uses the current memory context.  Before each
 * block, the caller must have the last nbefore bytes of the blocks before it:
 * CSV_LOOK_BEHIND bytes, or all of them if there are fewer.  If the first block does
 * not contain the whole header, it is odd.
 */
typedef struct CsvStreamLook CsvStreamLook;

extern CsvStreamLook *csv_stream_look_create(const CopyFormatOptions *copy,
											 int encoding);
extern const char *csv_find_oddity_in_block(CsvStreamLook *look, const char *block,
											size_t nbefore, size_t nbytes,
											bool is_last);

#endif							/* CSV_ODDITY_H */
