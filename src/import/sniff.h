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

#endif							/* CSV_SNIFF_H */
