/*
 * oddity.h
 *		Is there something in COPY's data that it reads in its own way?
 */
#ifndef CSV_ODDITY_H
#define CSV_ODDITY_H

#include "commands/copy.h"

/*
 * That is a byte-order mark; line breaks of two kinds, in quotes or not; a line that
 * begins as the end of data did before PostgreSQL 18; a header with more to it than a
 * line, whose text COPY checks, or none where it is to match.  In text an escaped line
 * break, and the end of data anywhere but in the last line.  Or it cannot be read twice.
 * NULL: none of these.  encoding: the file's.  By so many threads with this one.
 */
extern const char *csv_find_oddity(const char *filename,
								   const CopyFormatOptions *copy, int encoding,
								   int nthreads);

/* bytes before a block that are looked at with it: more escapes in a row are odd */
#define CSV_LOOK_BEHIND		64

/*
 * The same of what comes in blocks, in the current memory context.  Before each block,
 * the last bytes of those before it are there, CSV_LOOK_BEHIND of them if there were so
 * many.  The first block has the header, or else it is odd.
 */
typedef struct CsvStreamLook CsvStreamLook;

extern CsvStreamLook *csv_stream_look_create(const CopyFormatOptions *copy,
											 int encoding);
extern const char *csv_find_oddity_in_block(CsvStreamLook *look, const char *block,
											size_t nbefore, size_t nbytes,
											bool is_last);

#endif							/* CSV_ODDITY_H */
