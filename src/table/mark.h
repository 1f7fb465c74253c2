/*
 * mark.h
 *		Byte-order marks.
 */
#ifndef CSV_MARK_H
#define CSV_MARK_H

#include "table/option.h"

/* what a mark at the beginning of bytes says; CSV_UTF16_NO: no mark */
extern CsvUtf16 csv_marked_utf16(const uint8_t *bytes, size_t nbytes);

/* ERROR if a mark at the beginning of a file contradicts the table's options */
extern void csv_check_mark(const CsvTable *table, const char *name, const uint8_t *bytes,
						   size_t nbytes);

/*
 * The same for a file, which need not be open.  CSV_UTF16_NO if the file cannot be read:
 * opening it will report that.
 */
extern CsvUtf16 csv_file_marked_utf16(const char *name);

#endif							/* CSV_MARK_H */
