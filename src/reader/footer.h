/*
 * footer.h
 *		Records at the end of a file that are no data.
 *
 * A file with a footer is read as if it ended where the footer begins, which only
 * its end tells.  So readers stay CSV_FOOTER_BYTES away from the end of what they
 * know of a file.  When that is the file's end, they have what is left looked
 * through for the footer, and let engines read up to it.
 *
 * Engines know nothing of all that, and whoever reads in pieces goes on doing so;
 * the last piece has to be long enough.
 */
#ifndef CSV_FOOTER_H
#define CSV_FOOTER_H

#include "reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A footer is no longer, whatever its records are: so much of a file is held
 * back, and read by one thread.
 */
#define CSV_FOOTER_BYTES	((uint64_t) 4 * 1024 * 1024)

/* most records of one: 400 bytes for each */
#define CSV_MAX_FOOTER_ROWS	10000

/*
 * A piece ends where a record begins near its nominal end (piece.c): so far before
 * the end of the file that is for sure before the footer.
 */
#define CSV_FOOTER_MARGIN	(CSV_FOOTER_BYTES + 128 * 1024)

/* how far a piece's nominal end is to stay from the end of the file; 0: anywhere */
static inline uint64_t
csv_footer_margin(const CsvDialectOptions *dialect)
{
	return dialect->footer_rows > 0 ? CSV_FOOTER_MARGIN : 0;
}

/*
 * Where the footer begins in an input that reaches to the file's end: so many bytes
 * of it are data.  CSV_OK; CSV_FOOTER_TOO_LONG: longer than CSV_FOOTER_BYTES, or it
 * may begin before the input, as not all records are in it; CSV_NO_MEMORY; or
 * CSV_INTERRUPTED.
 */
extern CsvStatus csv_footer_find(const CsvMemory *memory,
								 const CsvDialect *dialect,
								 const CsvInput *input, bool has_all,
								 uint64_t *data_bytes);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_FOOTER_H */
