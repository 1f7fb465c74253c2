/*
 * encoding.h
 *		The option "encoding".
 */
#ifndef CSV_ENCODING_H
#define CSV_ENCODING_H

#include "table/option.h"

/* what the option says, into the table; ERROR where it is no encoding's name */
extern void csv_parse_encoding(DefElem *def, CsvTable *table);

/* the encoding of the table's files, as the option has it */
extern const char *csv_encoding_name(const CsvTable *table);

/* the option's name of UTF-16 of this kind: not CSV_UTF16_NO or BY_MARK */
extern const char *csv_utf16_name(CsvUtf16 utf16);

#endif							/* CSV_ENCODING_H */
