/*
 * tell.h
 *		NOTICEs of findings that may be wrong, or leave something out.
 */
#ifndef CSV_TELL_H
#define CSV_TELL_H

#include "import/guess.h"
#include "import/findings.h"

/* an encoding that no option gives: it is a guess, or a file of the table seems to be in UTF-8 */
extern void csv_tell_encoding(const CsvTable *table, const char *encoding, bool is_guess);

/* line breaks, a delimiter, quotes that may be wrong */
extern void csv_tell_dialect(const CsvFindings *findings, const CsvGuess *guess);

/* names in the header that nothing has, or columns that have none */
extern void csv_tell_header(const CsvFindings *findings, const CsvGuess *guess);

/* a line that is left out as a comment, but may be a record, or names other fields */
extern void csv_tell_comment(const CsvFindings *findings);

/* lines that are not data, and that no option leaves out */
extern void csv_tell_left_out(const CsvFindings *findings, const CsvGuess *guess);

/*
 * NOTICE of the records that are skipped, and of what follows from it; where a cause is
 * not likely, only if `any`
 */
extern void csv_found_errors(const CsvFindings *findings, const char *consequence,
							 bool any);

#endif							/* CSV_TELL_H */
