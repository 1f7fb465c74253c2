/*
 * sniff.h
 *		What a file holds: its dialect, its columns' names and types.
 */
#ifndef CSV_SNIFF_H
#define CSV_SNIFF_H

#include "import/findings.h"

/*
 * Read a file, or the files of a pattern, as options have it where they say so.
 * In the current memory context.  ERROR where it cannot be read, or makes no
 * table.  Does not look at privileges.
 */
extern CsvFindings *csv_sniff(const char *filename, List *server_options,
							  const CsvImportOptions *import);

/* most characters and bytes of a column's values; false if there are none */
extern bool csv_found_widths(const CsvFoundColumn *column, int32 *max_chars,
							 int32 *byte_width);

/* is an option of this name among them? */
extern bool csv_is_given(List *options, const char *name);

/* ERROR unless the user may read the server's files */
extern void csv_check_may_read_files(const char *what);

#endif							/* CSV_SNIFF_H */
