/*
 * comment.h
 *		Lines that are no records: what they begin with.
 */
#ifndef CSV_COMMENT_H
#define CSV_COMMENT_H

#include "import/sheet.h"

/*
 * The string with which most lines of the sample begin of those that may begin with
 * comments; NULL: none does.
 */
extern const char *csv_find_marker(const CsvSample *sample, uint8_t break_byte);

/*
 * Of lines that begin with the dialect's comment: are they none of the table, of which the
 * sheet has all others?
 */
extern bool csv_are_comments(const CsvSheet *sheet, const CsvSample *sample);

/*
 * The last comment in the sample's first `before` bytes that is more than its mark; false
 * if there is none.
 */
extern bool csv_last_comment(const CsvSheet *sheet, const CsvSample *sample,
							 uint64 before, uint64 *start);

/* how many comments there are, and where the first one is */
extern uint32 csv_count_comments(const CsvSheet *sheet, const CsvSample *sample,
								 uint64 *first);

#endif							/* CSV_COMMENT_H */
