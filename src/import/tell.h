/*
 * tell.h
 *		NOTICEs of what was found of a file where it may be wrong, or leaves something out.
 */
#ifndef CSV_TELL_H
#define CSV_TELL_H

#include "import/files.h"
#include "import/findings.h"

/* an encoding that nobody has said */
extern void csv_tell_encoding(const char *filename, const char *encoding);

/* CRs that not all lines have */
extern void csv_tell_odd_crs(const char *filename, const CsvGuess *guess);

/* names in the header that nothing has, or columns that have none */
extern void csv_tell_header(const char *filename, const CsvGuess *guess);

/*
 * What a NOTICE says of lines that are no data, and that nobody has said are none; NULL:
 * there are none.  In the current memory context.
 */
extern char *csv_left_out(const CsvFindings *findings, const CsvGuess *guess);

/* encodings, and headers, of a table's files that differ */
extern void csv_tell_marks(const CsvFindings *findings, const CsvFiles *files);
extern void csv_tell_names(const CsvFindings *findings, const CsvFiles *files);

/* commas that may as well be decimal: none has more than one part, or a fraction */
extern void csv_tell_thousands(const CsvFindings *findings);

/* columns that are text only for a few odd values */
extern void csv_tell_odd(const CsvFindings *findings);

/*
 * NOTICE of the records that are skipped, and of what follows from it; where a cause is
 * not likely, only if `any`
 */
extern void csv_found_errors(const CsvFindings *findings, const char *consequence,
							 bool any);

#endif							/* CSV_TELL_H */
