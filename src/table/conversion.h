/*
 * conversion.h
 *		Converts the bytes of a file as they are read: UTF-16, and encodings whose
 *		characters can hide ASCII bytes.
 */
#ifndef CSV_CONVERSION_H
#define CSV_CONVERSION_H

#include "reader/reader.h"

typedef struct CsvConversion CsvConversion;

/* in place of an encoding: from UTF-16 to UTF-8 */
#define CSV_FROM_UTF16	(-1)

/* in this memory context, for any number of files in turn */
extern CsvConversion *csv_conversion_create(MemoryContext context);

/*
 * Begins a file, by its name for messages: by the server's function, except from
 * UTF-16, which may be big_endian.  If the file grows, an incomplete character at
 * its end is not there yet.
 */
extern void csv_conversion_begin(CsvConversion *conversion, int from, int to,
								 const char *name, bool big_endian, bool grows);

/*
 * Reads bytes by `read`, and returns up to nbytes converted bytes; 0 at the end.
 * Characters that cannot be converted become bytes that are not valid text, and zero
 * characters become zero bytes, so that the code that takes the value detects them.  From
 * PG_UTF8 they are an ERROR: all bytes may be valid in the other encoding.
 */
extern size_t csv_conversion_read(CsvConversion *conversion,
								  CsvReadFn read, void *arg,
								  uint8_t *buffer, size_t nbytes);

#endif							/* CSV_CONVERSION_H */
