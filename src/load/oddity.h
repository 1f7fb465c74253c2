/*
 * oddity.h
 *		Does a file have something in it that COPY reads in its own way?
 */
#ifndef CSV_ODDITY_H
#define CSV_ODDITY_H

#include "commands/copy.h"

/*
 * That is a byte-order mark; line breaks of two kinds, in quotes or not; a line that
 * begins as the end of data did before PostgreSQL 18; a header with more to it than a
 * line, whose text COPY checks.  Or it cannot be read twice, or is shorter than so many
 * bytes.  NULL: none of these.  encoding: the file's.  By so many threads with this one.
 */
extern const char *csv_find_oddity(const char *filename,
								   const CopyFormatOptions *copy, int encoding,
								   int64 least_bytes, int nthreads);

#endif							/* CSV_ODDITY_H */
