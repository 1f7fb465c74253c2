/*
 * conversion.h
 *		The bytes of a file in another encoding, as they are read: of UTF-16, and
 *		of encodings whose characters can hide ASCII bytes.
 */
#ifndef CSV_CONVERSION_H
#define CSV_CONVERSION_H

#include "reader/reader.h"

typedef struct CsvConversion CsvConversion;

/* in the current memory context: with the server's function; of UTF-16 to UTF-8 */
extern CsvConversion *csv_conversion_create(int from, int to);
extern CsvConversion *csv_conversion_create_utf16(void);

/* begin with a file; of UTF-16, in this byte order */
extern void csv_conversion_begin(CsvConversion *conversion, bool big_endian);

/*
 * Up to nbytes converted bytes of what `read` gives; 0 at the end.  What cannot
 * be converted becomes bytes that are no text (of zero bytes, one), so that
 * whoever takes the value finds it.
 */
extern size_t csv_conversion_read(CsvConversion *conversion,
								  CsvReadFn read, void *arg,
								  uint8_t *buffer, size_t nbytes);

#endif							/* CSV_CONVERSION_H */
