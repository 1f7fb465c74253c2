/*
 * encoding.h
 *		The option "encoding".
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

#endif							/* CSV_ENCODING_H */
