/*
 * encoding.h
 *		The option "encoding", and byte-order marks.
 */
#ifndef CSV_ENCODING_H
#define CSV_ENCODING_H

#include "table/table.h"

/*
 * Stores the value of the option "encoding" in the table; ERROR if it is not an
 * encoding's name.
 */
extern void csv_parse_encoding(const char *value, CsvTable *table);

/* the encoding of the table's files, as the option "encoding" spells it */
extern const char *csv_encoding_name(const CsvTable *table);

/* the name of a kind of UTF-16, which must not be CSV_UTF16_NO or CSV_UTF16_BY_MARK */
extern const char *csv_utf16_name(CsvUtf16 utf16);

/* what a mark at the beginning of bytes says; CSV_UTF16_NO: no mark */
extern CsvUtf16 csv_marked_utf16(const uint8_t *bytes, size_t nbytes);

/* ERROR if a mark at the beginning of a file contradicts the table's options */
extern void csv_check_mark(const CsvTable *table, const char *name, const uint8_t *bytes,
						   size_t nbytes);

/*
 * The same for a file, which need not be open.  CSV_UTF16_NO if the file cannot be read:
 * opening it will report that.
 */
extern CsvUtf16 csv_file_marked_utf16(const CsvRights *rights,
									  const char *name);

#endif							/* CSV_ENCODING_H */
