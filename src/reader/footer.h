/*
 * footer.h
 *		Records at the end of a file that are not data.
 *
 * A file with a footer is read as if it ended where the footer begins.  Only the end of
 * the file tells where that is.  So a reader does not parse the last CSV_FOOTER_BYTES
 * of the bytes that it knows, until it knows the end of the file and has read all records
 * before these bytes.  Then it searches the rest for the footer.  From then on it has a
 * file that ends there (piece.c).
 *
 * Engines do not know of footers.
 */
#ifndef CSV_FOOTER_H
#define CSV_FOOTER_H

#include "reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Most bytes of a footer.  This many bytes at the end of a file are held back, and read
 * by one thread.
 */
#define CSV_FOOTER_BYTES	((uint64_t) 4 * 1024 * 1024)

/* most records of a footer: 400 bytes for each */
#define CSV_MAX_FOOTER_ROWS	10000

/* bytes at the end of a file that may be its footer */
static inline uint64_t
csv_footer_bytes(const CsvDialectOptions *dialect)
{
	return dialect->footer_rows > 0 ? CSV_FOOTER_BYTES : 0;
}

/*
 * A piece ends where a record begins near its nominal end (piece.c).  If the nominal end
 * is this far before the end of the file, the piece ends before the footer, except if a
 * record is very long.
 */
static inline uint64_t
csv_footer_margin(const CsvDialectOptions *dialect)
{
	return dialect->footer_rows > 0 ? CSV_FOOTER_BYTES + 128 * 1024 : 0;
}

/*
 * Find the footer in an input that reaches to the end of the file: *data_bytes is the
 * number of bytes before it.  has_all: the input has all records of the file.  Returns
 * CSV_OK; CSV_FOOTER_TOO_LONG if the footer is longer than CSV_FOOTER_BYTES, or may
 * begin before the input; CSV_NO_MEMORY; or CSV_INTERRUPTED.
 */
extern CsvStatus csv_footer_find(const CsvMemory *memory,
								 const CsvDialect *dialect,
								 const CsvInput *input, bool has_all,
								 uint64_t *data_bytes);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_FOOTER_H */
